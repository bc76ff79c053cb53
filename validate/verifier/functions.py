"""Quotients of polynomials in j, and a proof that one is never negative for j >= j0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .reading import FormatError

MAX_DEGREE = 2_000  # of a polynomial in j


class Function:
    """A quotient of two polynomials in j, each the list of its coefficients, constant first."""

    def __init__(self, top: Sequence[Fraction], bottom: Sequence[Fraction] = (Fraction(1),)) -> None:
        common = 0  # powers of j that cancel
        while common < min(len(top), len(bottom)) - 1 and not top[common] and not bottom[common]:
            common += 1
        self.top, self.bottom = list(top[common:]), list(bottom[common:])

    @staticmethod
    def of(value: Function | Fraction | int) -> Function:
        return value if isinstance(value, Function) else Function([Fraction(value)])

    @staticmethod
    def times(x: Sequence[Fraction], y: Sequence[Fraction]) -> list[Fraction]:
        if len(x) + len(y) > MAX_DEGREE:
            raise FormatError("a polynomial of too high a degree")
        result = [Fraction(0)] * (len(x) + len(y) - 1)
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                if a and b:
                    result[i + j] += a * b
        return result

    def __add__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        x, y = Function.times(self.top, other.bottom), Function.times(other.top, self.bottom)
        size = max(len(x), len(y))
        zeros = [Fraction(0)] * size
        pairs = zip((x + zeros)[:size], (y + zeros)[:size], strict=True)
        return Function([a + b for a, b in pairs], Function.times(self.bottom, other.bottom))

    def __neg__(self) -> Function:
        return Function([-a for a in self.top], self.bottom)

    def __mul__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        return Function(Function.times(self.top, other.top), Function.times(self.bottom, other.bottom))

    def __truediv__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        if not any(other.top):
            raise ZeroDivisionError
        return self * Function(other.bottom, other.top)

    def __sub__(self, other: Function | Fraction | int) -> Function:
        return self + -Function.of(other)

    def __rsub__(self, other: Fraction | int) -> Function:
        return -self + other

    def __rtruediv__(self, other: Fraction | int) -> Function:
        return Function.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> Function:
        result = Function([Fraction(1)])
        for _ in range(abs(exponent)):
            result = result * self
        return result if exponent >= 0 else 1 / result

    def at(self, j: int) -> Fraction:
        """The value at an integer where the denominator is not 0."""
        return shift(self.top, j)[0] / shift(self.bottom, j)[0]

    def never_negative(self, j0: int, strictly: bool = False) -> bool:
        """Proves that it is >= 0 (or > 0) for all j >= j0; False means only that this proof does not work.

        In x = j - j0 a polynomial without negative coefficients is never negative for x >= 0.
        """
        top, bottom = (shift(part, j0) for part in (self.top, self.bottom))
        if next((a for a in reversed(bottom) if a), Fraction(1)) < 0:
            top, bottom = [-a for a in top], [-a for a in bottom]
        known = min(bottom) >= 0 and bottom[0] > 0 and min(top) >= 0
        return known and (top[0] > 0 or not strictly)


def shift(polynomial: Sequence[Fraction], by: int) -> list[Fraction]:
    """Coefficients of polynomial(x + by)."""
    result = [Fraction(0)]
    for a in reversed(polynomial):
        result = Function.times(result, [Fraction(by), Fraction(1)])
        result[0] += a
    return result
