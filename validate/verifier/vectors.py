"""Vectors of fractions in formulas: entry by entry, and with numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction


class Vector:
    """A vector of fractions, for + - * / and ** with an integer exponent."""

    def __init__(self, entries: Sequence[Fraction]) -> None:
        self.entries = tuple(entries)

    def _with(self, other: Vector | Fraction | int, operation: Callable[[Fraction, Fraction], Fraction]) -> Vector:
        if isinstance(other, Vector):
            if len(other.entries) != len(self.entries):
                raise TypeError("vectors of different lengths")
            return Vector([operation(a, b) for a, b in zip(self.entries, other.entries, strict=True)])
        if not isinstance(other, Fraction | int):
            raise TypeError("a vector goes with fractions only")
        return Vector([operation(a, Fraction(other)) for a in self.entries])

    def __add__(self, other: Vector | Fraction | int) -> Vector:
        return self._with(other, operator.add)

    def __sub__(self, other: Vector | Fraction | int) -> Vector:
        return self._with(other, operator.sub)

    def __mul__(self, other: Vector | Fraction | int) -> Vector:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Vector | Fraction | int) -> Vector:
        return self._with(other, operator.truediv)

    def __rsub__(self, other: Fraction | int) -> Vector:
        return self._with(other, lambda a, b: b - a)

    def __rtruediv__(self, other: Fraction | int) -> Vector:
        return self._with(other, lambda a, b: b / a)

    def __neg__(self) -> Vector:
        return self * -1

    def __pow__(self, exponent: int) -> Vector:
        if not 0 <= exponent <= 100:
            raise TypeError("a power of a vector that is not in 0..100")
        return Vector([a**exponent for a in self.entries])

    __radd__, __rmul__ = __add__, __mul__

    @property
    def total(self) -> Fraction:
        return sum(self.entries, Fraction(0))

    @property
    def greatest(self) -> Fraction:
        return max(self.entries)

    @property
    def least(self) -> Fraction:
        return min(self.entries)
