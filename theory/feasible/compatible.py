"""Whether a claim's hypotheses are compatible: what they say of numbers, and of functions.

Conflicts between functions are not seen in the relations between numbers: gradients that are bounded on all of R^d and
strong convexity exclude each other whatever the constants are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from theory import predicates
from theory.calculator import calculator
from theory.claim import Claim
from theory.feasible.decide import Entry, Feasibility, Outcome, feasible
from theory.feasible.limits import ANY, Limits


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


@dataclass(frozen=True)
class Compatibility:
    """What is known of hypotheses together.

    Attributes:
        numbers: whether they can hold together as far as they compare numbers.
        conflicts: pairs on functions that exclude each other, whatever the numbers are.
    """

    numbers: Feasibility
    conflicts: tuple[Conflict, ...]

    @property
    def outcome(self) -> Outcome:
        """``"empty"`` where there is a conflict; else that of the numbers."""
        return "empty" if self.conflicts else self.numbers.outcome

    @property
    def witness(self) -> Mapping[str, Entry] | None:
        """That of the numbers; None where there is a conflict."""
        return None if self.conflicts else self.numbers.witness

    def to_json(self) -> dict[str, Any]:
        """Plain data: that of the numbers, with the joint outcome and the conflicts."""
        found = self.numbers.to_json() | {"conflicts": [asdict(conflict) for conflict in self.conflicts]}
        return found | ({"outcome": "empty", "witness": None} if self.conflicts else {})


def compatible(
    claim: Claim,
    extra: Sequence[str] = (),
    fixed: Mapping[str, Any] | None = None,
    *,
    limits: Limits = ANY,
) -> Compatibility:
    """Whether a claim's hypotheses can hold together: `feasible` and `function_conflicts` in one.

    Args:
        claim: the claim; the numbers are those of `theory.calculator`.
        extra: further relations as text (``"M <= 8"``).
        fixed: values of parameters that are to be kept, as in `theory.values.read`.
        limits: when to give up.

    Raises:
        ValueError: as `feasible`.
    """
    numbers = calculator(claim, all_relations=True).bound
    return Compatibility(feasible(numbers, extra, fixed, limits=limits), function_conflicts(claim))
