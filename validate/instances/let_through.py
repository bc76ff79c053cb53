"""Claims whose algorithm holds back what is large: searched with one that lets everything through.

A clip, a projection on a ball and a step over c + norm(g) do nothing to what is short, and all coordinates are the
largest of so many. Close to a minimiser such an algorithm is another one, whose worst functions a program in inner
products has; scaled down, they are instances of the claim, and count for what they are there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from theory.claim import Claim
from theory.program.altering import algorithm_of, let_through
from validate.instances.any_units import multiplied
from validate.instances.candidates import candidate_of, of_units, realised
from validate.instances.seen import Seen, measured

SHORT = tuple(Fraction(1, 10**digits) for digits in (0, 3, 6, 12))
"""By what all distances of an instance are multiplied."""


@dataclass(frozen=True)
class LetThrough:
    """A claim with an algorithm that holds nothing back.

    Attributes:
        claim: the claim.
        free: with the other algorithm.
    """

    claim: Claim
    free: Claim
    told: str = "the same with nothing held back, scaled down"

    @property
    def all_the_same(self) -> bool:
        """Whether it is this algorithm on what is short, so that a hunt meets the same; then its worst functions do."""
        assert self.claim.program is not None
        return "norm" not in self.claim.program.operations

    def moved(self, seen: Seen) -> Seen | None:
        """The instance of the claim, made as short as it has to be to break it; else as it is, if it is one."""
        c, first = candidate_of(seen.drawn), None
        for length in SHORT:
            there = replace(
                of_units(c, length, Fraction(1)), vectors={n: multiplied(v, length) for n, v in c.vectors.items()}
            )
            one = realised(self.claim, there)
            found = None if one is None else measured(self.claim, one)
            if found is not None and found.measured.broken:
                return found
            first = first or found
        return first


def with_all_let_through(claim: Claim) -> LetThrough | None:
    """The claim with nothing held back; None where its algorithm holds nothing back."""
    program = None if claim.of is None else let_through(claim.of.program)
    if program is None or claim.of is None:
        return None
    return LetThrough(claim, replace(claim, of=algorithm_of(program, claim.of.defaults), proof=None, given=()))
