"""What a search knows: the claim, its forms, the lines at hand, and how much may still be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from theory.claim import Claim
from theory.derivation.search.forms import Form, Forms
from theory.derivation.search.problem import Work
from theory.derivation.search.settings import Settings
from theory.sentence import Expression, replaced

if TYPE_CHECKING:
    from theory.derivation.search.operations import Operations

Line = dict[str, Any]
"""Of a derivation, as plain data."""
CHOICE = 0.41
"""What it costs to use what a largest number is at least."""


@dataclass(frozen=True)
class Known:
    """A line at hand, or a hypothesis, by its name.

    Attributes:
        name: of the line.
        sentence: what it says.
        line: its fields, where it has yet to be written before it is used.
        cost: how little it is liked.
        put: what its k, h or K stand for where it is used.
        over: what it is taken over; None for the indices that the sentence to be shown has not.
        factor: what it is multiplied by inside of these; empty for 1.
        after: a line that has to stand before it; empty for none.
        aside: whether it only stands before others.
    """

    name: str
    sentence: str
    line: Mapping[str, Any] | None = None
    cost: float = 0.5
    put: Mapping[str, str] | None = None
    over: tuple[str, ...] | None = None
    factor: str = ""
    after: str = ""
    aside: bool = False


@dataclass
class Context:
    """A claim that is to be derived.

    Attributes:
        claim: which.
        forms: its normal forms.
        work: how much may be done.
        settings: numbers for its parameters.
        known: lines and hypotheses that any combination may use.
        supposed: relations between numbers that a case supposes.
        used: how many names were given.
        stage: how far candidates are looked for: 0 the conditions of interpolation, 1 what follows from them too,
            2 at steps along gradients too.
        plain: whether to do with what each assumption says by itself, which has simpler multipliers.
        lean: whether to do with lines at hand, signs, convexity at means over rounds and what ends a sum, no round
            unfolded.
        only: whether to do with lines at hand and signs alone.
        signs: whether a relation between numbers is only to be seen from the sign of right - left.
        summed: whether squares are summed over the rounds, too.
    """

    claim: Claim
    forms: Forms
    work: Work
    settings: Settings
    known: list[Known] = field(default_factory=list)
    supposed: list[str] = field(default_factory=list)
    used: int = 0
    stage: int = 2
    plain: bool = False
    lean: bool = False
    only: bool = False
    signs: bool = False
    summed: bool = False

    @cached_property
    def operations(self) -> Operations:
        """What its program's operations make."""
        from theory.derivation.search.operations import Operations

        return Operations(self.forms)

    @property
    def first(self) -> bool:
        """Whether it is the first time round: what is about numbers alone hangs on no stage."""
        return self.plain and self.stage == 1

    def name(self, stem: str) -> str:
        """A name for a line that no other has."""
        self.used += 1
        return f"{stem} {self.used}"


def at_most(claim: Claim) -> tuple[Expression, Expression] | None:
    """What is at most what, with definitions put in; None of a strict sentence, or an equation."""
    said = claim.sentence
    if said.relation not in ("<=", ">="):
        return None
    left, right = (replaced(side, claim.definitions) for side in said.sides)
    return (left, right) if said.relation == "<=" else (right, left)


def once(lines: Sequence[Line], before: Sequence[Line] = ()) -> list[Line]:
    """Lines without those that stand before them already, in the blocks of inductions and cases too.

    Args:
        lines: of a derivation, or a block of it.
        before: those in sight of the block.
    """
    found: list[Line] = []
    for line in lines:
        if line in found or line in before:
            continue
        seen = [*before, *found]
        found.append({key: once(value, seen) if key in _BLOCKS else value for key, value in line.items()})
    return found


_BLOCKS = ("base", "step", "first", "second")


@dataclass(frozen=True)
class Raw:
    """A line that may be used, times `factor`; what it says as a form, bound by `over`: as written, after a round."""

    words: str
    of: Any
    cost: float
    free: bool
    over: tuple[str, ...]
    whole: Form
    form: Form
    factor: str = ""
