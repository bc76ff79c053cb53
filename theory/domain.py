"""Domains of parameters: intervals of the real line, possibly of integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Domain:
    """An interval; ``Domain(0, None, lower_open=True)`` is (0, inf).

    Attributes:
        lower: lower end, or None for -inf.
        upper: upper end, or None for +inf.
        lower_open: whether the lower end is left out.
        upper_open: whether the upper end is left out.
        integer: whether only integers count.
    """

    lower: float | None = None
    upper: float | None = None
    lower_open: bool = False
    upper_open: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            if end is not None and not math.isfinite(end):
                raise ValueError(f"{name}={end!r} is not finite; an end that is not there is None")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError(f"lower={self.lower!r} is above upper={self.upper!r}: no value lies in the domain")

    def contains(self, value: Any) -> bool:
        """Whether every entry of `value` (a number or an array) is finite and lies in the interval."""
        if isinstance(value, Fraction):
            return self._holds_fraction(value)
        import numpy as np

        values = np.asarray(value)
        if values.dtype == object:
            return all(self._holds(v) for v in values.ravel())
        if not np.all(np.isfinite(values)):
            return False
        return bool(np.all(self._holds(values)))

    def _holds(self, value: Any) -> Any:
        # NaN differs from itself; infinities come this way in arrays of Python objects
        inside = (value == value) & (value != math.inf) & (value != -math.inf)
        if self.lower is not None:
            inside = inside & ((value > self.lower) if self.lower_open else (value >= self.lower))
        if self.upper is not None:
            inside = inside & ((value < self.upper) if self.upper_open else (value <= self.upper))
        if self.integer:
            inside = inside & (value % 1 == 0)
        return inside

    def _holds_fraction(self, value: Fraction) -> bool:
        numerator, denominator = value.numerator, value.denominator
        if self.lower is not None:  # in integers, which is quicker than Fraction's own comparison
            above, below = self.lower.as_integer_ratio()
            excess = numerator * below - above * denominator
            if excess < 0 or (self.lower_open and excess == 0):
                return False
        if self.upper is not None:
            above, below = self.upper.as_integer_ratio()
            excess = numerator * below - above * denominator
            if excess > 0 or (self.upper_open and excess == 0):
                return False
        return not self.integer or denominator == 1

    @property
    def membership(self) -> str:
        """What is said of a number in it.

        Example:
            >>> Domain(lower=1, integer=True).membership, Domain(lower=0, lower_open=True).membership
            ('among the integers in [1, inf)', 'in (0, inf)')
        """
        return f"{'among' if self.integer else 'in'} {self}"

    def __str__(self) -> str:
        left = "(-inf" if self.lower is None else f"{'(' if self.lower_open else '['}{float(self.lower):g}"
        right = "inf)" if self.upper is None else f"{float(self.upper):g}{')' if self.upper_open else ']'}"
        return f"{'the integers in ' if self.integer else ''}{left}, {right}"


REAL = Domain()
POSITIVE = Domain(0, None, lower_open=True)
NONNEGATIVE = Domain(0, None)
PROBABILITY = Domain(0, 1, lower_open=True)
OPEN_UNIT = Domain(0, 1, lower_open=True, upper_open=True)
COUNT = Domain(1, None, integer=True)
INDEX = Domain(0, None, integer=True)
AT_LEAST_ONE = Domain(1, None)
NAMED = {
    "REAL": REAL,
    "POSITIVE": POSITIVE,
    "NONNEGATIVE": NONNEGATIVE,
    "PROBABILITY": PROBABILITY,
    "OPEN_UNIT": OPEN_UNIT,
    "COUNT": COUNT,
    "INDEX": INDEX,
    "AT_LEAST_ONE": AT_LEAST_ONE,
}
"""The domains that have names, by these."""
