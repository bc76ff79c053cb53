"""What measuring a sentence on an instance gives: both sides for every value of its free indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["holds", "broken", "undefined", "undecided"]
Reading: TypeAlias = Literal["play", "moments", "intervals"]
AGREED = 80
"""Bits to which the sides of an equation with roots are compared: that they are equal balls never tell."""


@dataclass(frozen=True)
class Row:
    """Both sides for one value of the free indices.

    Attributes:
        at: the indices.
        left: a Fraction or a ball (`flint.arb`); None where it is undefined.
        right: likewise.
        status: ``undefined`` says nothing: a side has no real value; ``undecided``: the balls do not tell.
        probability: of the outcome that is shown, the worst, where something is random outside of E; else None.
        minimiser: which of the minimisers that were looked at is meant, from 0.
        why: where it is undefined or undecided.
        agrees: whether it is an equation that balls cannot decide, and its sides agree to `AGREED` bits.
    """

    at: Mapping[str, int]
    left: Any
    right: Any
    status: Status
    probability: Any = None
    minimiser: int = 0
    why: str = ""
    agrees: bool = False

    @property
    def ratio(self) -> float | None:
        """left / right; None unless the right side is positive, and for what float64 does not have."""
        if self.left is None or self.right is None or not self.right > 0:
            return None
        try:
            if isinstance(self.left, Fraction) and isinstance(self.right, Fraction):
                return float(self.left / self.right)
            return float(self.left) / float(self.right)
        except (OverflowError, ZeroDivisionError):
            return None


def as_printed(at: Mapping[str, int]) -> dict[str, int]:
    """Indices for people: clients and samples are counted from 1, as papers do; rounds and turns from 0."""
    named = {name.lstrip("*"): value for name, value in at.items()}
    return {name: value + (name in ("n", "i")) for name, value in named.items()}


@dataclass(frozen=True)
class Measured:
    """A sentence on an instance.

    Attributes:
        rows: for every value of the free indices, and every minimiser that was looked at.
        silent: why the sentence does not speak of this instance at all; else empty.
        every_minimiser: whether all choices of xstar and xstar_n were looked at.
        by: how expectations were found: from all outcomes, or by moments where there are too many; "intervals" is from
            all outcomes with balls in the place of numbers that grow long.
    """

    rows: tuple[Row, ...]
    silent: str = ""
    every_minimiser: bool = True
    by: Reading = "play"

    def _of(self, status: Status) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.status == status)

    @property
    def broken(self) -> tuple[Row, ...]:
        """The rows at which the relation does not hold: one breaks the sentence."""
        return self._of("broken")

    @property
    def undefined(self) -> tuple[Row, ...]:
        """The rows that say nothing."""
        return self._of("undefined")

    @property
    def undecided(self) -> tuple[Row, ...]:
        """The rows of which balls do not tell."""
        return self._of("undecided")

    @property
    def doubtful(self) -> tuple[Row, ...]:
        """The undecided rows but those of equations whose sides agree to `AGREED` bits."""
        return tuple(row for row in self.undecided if not row.agrees)

    @property
    def holds(self) -> bool:
        """Whether the relation holds in every row in which it says something, and there is one."""
        return bool(self._of("holds")) and not self.broken and not self.undecided
