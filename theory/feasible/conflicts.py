"""Assumptions on functions that cannot hold together.

Such conflicts are not seen in the relations between numbers: gradients that are bounded on all of R^d and strong
convexity exclude each other whatever the constants are.
"""

from __future__ import annotations

from dataclasses import dataclass

from theory import predicates
from theory.claim import Claim


@dataclass(frozen=True)
class Conflict:
    """Two assumptions that no functions satisfy together.

    Attributes:
        first: an assumption, as the claim has it.
        second: another.
        proof: why, in a line.
    """

    first: str
    second: str
    proof: str


def function_conflicts(claim: Claim) -> tuple[Conflict, ...]:
    """Pairs of a claim's assumptions on functions that cannot hold together.

    Of strongly convex f_n or f_ni the mean is strongly convex, of bounded gradients the mean is bounded.
    """
    if claim.over:  # asked at some x only
        return ()
    return tuple(
        Conflict(one.text, other.text, "gradients of a strongly convex f grow without a bound")
        for one in claim.predicates
        if isinstance(one, predicates.StronglyConvex)
        for other in claim.predicates
        if isinstance(other, predicates.Lipschitz | predicates.BoundedGradients) and len(other.constants) == 1
    )
