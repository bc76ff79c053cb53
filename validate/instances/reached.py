"""How far the instances of a claim were made longer: the integers of each, and the run with most rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from theory.claim import Claim
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.growth import Rungs
from validate.instances.longer import sizes_of
from validate.instances.pool import Drawn
from validate.instances.roles import roles_in


@dataclass
class Reached:
    """How far.

    Attributes:
        sizes: by integer (K, N, d, samples, a parameter) the largest value, of those that were made larger.
        longest: of the runs with most rounds one whose chances are the smallest; None where no run was made longer.
        rungs: by integer, how left over right went where it was made larger, of each instance.
        cut: those of them that ended as nothing larger could be measured.
        ends: by integer, by how much the side that is to be less comes to be larger than the other, as it grows.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    longest: Drawn | None = None
    rungs: list[tuple[str, Rungs]] = field(default_factory=list)
    cut: list[tuple[str, Rungs]] = field(default_factory=list)
    ends: list[tuple[str, float]] = field(default_factory=list)

    def add(self, claim: Claim, base: Candidate, one: Drawn) -> None:
        """An instance that was measured, and what it was made of."""
        before = sizes_of(claim, base)
        larger = {name: v for name, v in sizes_of(claim, candidate_of(one)).items() if v > before.get(name, 0)}
        self.join(claim, Reached(larger, one if one.instance.rounds > base.rounds else None))

    def join(self, claim: Claim, other: Reached) -> None:
        """What was reached elsewhere."""
        for name, value in other.sizes.items():
            self.sizes[name] = max(value, self.sizes.get(name, 0))
        runs = [one for one in (self.longest, other.longest) if one is not None]
        self.longest = longest(claim, runs) if runs else None
        self.rungs += other.rungs
        self.cut += other.cut
        self.ends += other.ends


def longest(claim: Claim, instances: Sequence[Drawn]) -> Drawn:
    """Of those with most rounds one whose chances are the smallest."""
    names = chances_in(claim)

    def rarest(one: Drawn) -> Fraction:
        return min((chance for name in names for chance in chances_of(name, [one])), default=Fraction(1))

    return max(instances, key=lambda one: (one.instance.rounds, -rarest(one)))


def chances_in(claim: Claim) -> list[str]:
    """The parameters that are chances."""
    return sorted(roles_in(claim).chances & claim.domains.keys())


def chances_of(name: str, instances: Sequence[Drawn]) -> list[Fraction]:
    """The values of a chance on instances, of every client where there are several."""
    values = [one.values[name] for one in instances]
    return [chance for value in values for chance in (value if isinstance(value, list) else [value])]


__all__ = ["Reached", "chances_in", "chances_of", "longest"]
