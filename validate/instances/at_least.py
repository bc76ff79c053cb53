"""Claims about large sizes alone: searched at all sizes, and what breaks them is made as large as they want it.

``K >= 5``, ``N >= 10`` or ``d >= 3``. Small instances are many and quick; as many of everything again change a mean not
at all, and rounds that come later nothing of those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from theory.claim import Claim
from theory.for_every import assumption
from theory.formula import Name, Number
from theory.sentence import Sentence
from validate.instances.anywhere import without
from validate.instances.candidates import Candidate, candidate_of, of_rounds, realised
from validate.instances.longer import (
    CLIENTS,
    COORDINATES,
    ROUNDS,
    STRUCTURE,
    sizes_of,
    with_clients,
    with_coordinates,
    with_still_coordinates,
)
from validate.instances.outcomes import measured_at_length
from validate.instances.refitting import fitting
from validate.instances.seen import Seen

FROM, MOST = 3, 64
"""Sizes: smaller ones are met anyway, larger ones by nothing."""


@dataclass(frozen=True)
class AtLeast:
    """A claim without bounds on its sizes from below.

    Attributes:
        claim: the claim with them.
        free: without them.
        least: the bounds, of K, N and d.
    """

    claim: Claim
    free: Claim
    least: Mapping[str, int]

    @property
    def told(self) -> str:
        """In words, how it is searched."""
        return f"the same of all sizes, made {' and '.join(f'{n} = {v}' for n, v in self.least.items())} or more"

    def moved(self, seen: Seen) -> Seen | None:
        """The instance made as large as the claim wants it, where it breaks the claim; else None."""
        c = candidate_of(seen.drawn)
        constants = {name: seen.drawn.values[name] for name in self.claim.constants if name in seen.drawn.values}
        for larger in self._larger(c):
            try:
                there = realised(self.claim, larger, constants) or fitting(self.claim, larger)
            except (ValueError, KeyError, ZeroDivisionError, ArithmeticError):
                continue
            now = None if there is None else measured_at_length(self.claim, there)
            if now is not None and now.measured.broken:
                return now
        return None

    def _larger(self, c: Candidate) -> Iterator[Candidate]:
        """As large as the claim wants it: each coordinate as often again, or others in which nothing happens."""
        now = sizes_of(self.free, c)
        if any(now[name] == 0 for name in self.least):
            return
        times = {name: max(1, -(-size // now[name])) for name, size in self.least.items()}
        if times.get(CLIENTS, 1) > 1:
            c = with_clients(c, self.claim, times[CLIENTS] * now[CLIENTS], False)
        if times.get(ROUNDS, 1) > 1:
            c = of_rounds(c, self.claim, self.least[ROUNDS])
        if times.get(COORDINATES, 1) == 1:
            yield c
        else:
            yield with_coordinates(c, times[COORDINATES] * c.dim, False)
            yield with_still_coordinates(c, self.least[COORDINATES])


def of_all_sizes(claim: Claim) -> AtLeast | None:
    """The claim without bounds on its sizes from below; None where it has none."""
    bounds = {text: found for text in (*claim.assuming, *claim.standing) if (found := _bound(text)) is not None}
    if not bounds:
        return None
    least: dict[str, int] = {}
    for name, size in bounds.values():
        least[name] = max(size, least.get(name, 0))
    return AtLeast(claim, without(claim, bounds), least)


def _bound(text: str) -> tuple[str, int] | None:
    """The size that is bounded, and its least value."""
    sentence = assumption(text)
    if not isinstance(sentence, Sentence) or sentence.relation not in ("<=", "<", ">=", ">"):
        return None
    name, number = sentence.sides if sentence.relation in (">=", ">") else sentence.sides[::-1]
    if not isinstance(name, Name) or name.name not in STRUCTURE or not isinstance(number, Number):
        return None
    least = int(number.value // 1) + 1 if sentence.relation in ("<", ">") else -int(-number.value // 1)
    return (name.name, least) if FROM <= least <= MOST else None
