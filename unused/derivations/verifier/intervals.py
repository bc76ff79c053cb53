"""Outward-rounded intervals: the exact result of every operation lies in the interval that is computed for it.

End points are integers in units of 2^-320. Lower ones are rounded down, upper ones up; a square root is Python's exact
integer square root, exponentials and logarithms are series with a bound on what is left out. So a comparison of
intervals that do not overlap is a comparison of the exact numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from .reading import FormatError

PRECISION = 320
UNIT = 1 << PRECISION
LARGEST = UNIT << PRECISION  # 2^320, in units
LARGEST_EXPONENT = 10_000
EXP_TERMS, LOG_TERMS = 64, 110  # of the series: 2^-64/64! and 3^-220 are below 2^-320


class OutsideDomain(Exception):
    """A function at a number where it has no real value, or may have none."""


class NegativeRoot(OutsideDomain):
    """A square root of what is negative, or may be."""


def floor(top: int, bottom: int) -> int:
    return top // bottom


def ceiling(top: int, bottom: int) -> int:
    return -(-top // bottom)


@dataclass(frozen=True, repr=False)
class Interval:
    """All numbers from low to high, both in units of 2^-320."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if max(abs(self.low), abs(self.high)) > LARGEST:
            raise FormatError("the numbers in an interval grow too large")

    @staticmethod
    def of(value: Interval | Fraction | int) -> Interval:
        """The narrowest interval around a fraction."""
        if isinstance(value, Interval):
            return value
        scaled = Fraction(value) * UNIT
        return Interval(
            floor(scaled.numerator, scaled.denominator),
            ceiling(scaled.numerator, scaled.denominator),
        )

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The end points as fractions."""
        return Fraction(self.low, UNIT), Fraction(self.high, UNIT)

    def __repr__(self) -> str:
        return f"{float(Fraction(self.low + self.high, 2 * UNIT)):.12g} (an interval)"

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __abs__(self) -> Interval:
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Interval(0, max(-self.low, self.high))

    def __add__(self, other: Interval | Fraction | int) -> Interval:
        other = Interval.of(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval | Fraction | int) -> Interval:
        return self + -Interval.of(other)

    def __rsub__(self, other: Fraction | int) -> Interval:
        return Interval.of(other) - self

    def __mul__(self, other: Interval | Fraction | int) -> Interval:
        other = Interval.of(other)
        products = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(floor(min(products), UNIT), ceiling(max(products), UNIT))

    def __truediv__(self, other: Interval | Fraction | int) -> Interval:
        other = Interval.of(other)
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        pairs = [(x * UNIT, y) for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(min(floor(x, y) for x, y in pairs), max(ceiling(x, y) for x, y in pairs))

    def __rtruediv__(self, other: Fraction | int) -> Interval:
        return Interval.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> Interval:
        base = self if exponent % 2 else abs(self)  # an even power is never negative
        result = Interval.of(1)
        for _ in range(abs(exponent)):
            result = result * base
        return result if exponent >= 0 else 1 / result

    def sqrt(self) -> Interval:
        """The square root, of an interval without negative numbers."""
        if self.low < 0:
            raise NegativeRoot("the square root of a number that may be negative")
        # the root of m units is the root of m*UNIT, in units
        high = self.high * UNIT
        return Interval(isqrt(self.low * UNIT), isqrt(high - 1) + 1 if high else 0)

    def exp(self) -> Interval:
        """The exponential."""
        if max(abs(self.low), abs(self.high)) > LARGEST_EXPONENT * UNIT:
            raise FormatError("the exponent of an exponential is too large")
        return Interval(_exp(self.low).low, _exp(self.high).high)

    def log(self) -> Interval:
        """The natural logarithm, of an interval of positive numbers."""
        if self.low <= 0:
            raise OutsideDomain("the logarithm of a number that may not be positive")
        return Interval(_log(self.low).low, _log(self.high).high)


@lru_cache(maxsize=64)  # formulas repeat exp(1)
def _exp(units: int) -> Interval:
    """exp(x): 2^m-th powers of exp(r), r = x/2^m of absolute value at most 1/2, whose series is cut off."""
    halvings = max(0, abs(units).bit_length() - PRECISION + 1)
    r = Interval(units, units) / (1 << halvings)
    total = term = Interval.of(1)
    for n in range(1, EXP_TERMS + 1):
        term = term * r / n
        total = total + term
    rest = abs(term).high + 1  # the terms left out are less than half, a quarter, ... of the last one
    value = Interval(max(total.low - rest, 0), total.high + rest)
    for _ in range(halvings):
        value = value * value
    return value


@lru_cache(maxsize=64)
def _log(units: int) -> Interval:
    """log(y) = k log 2 + log(m), y = 2^k m with m in [1, 2)."""
    k = units.bit_length() - 1 - PRECISION
    m = Interval(units, units) / Fraction(2) ** k
    return k * _twice_artanh(Interval.of(Fraction(1, 3))) + _twice_artanh((m - 1) / (m + 1))


def _twice_artanh(z: Interval) -> Interval:
    """2 artanh(z) = log((1+z)/(1-z)) = 2 (z + z^3/3 + z^5/5 + ...) for |z| <= 1/3, whose series is cut off."""
    total, power, square = Interval.of(0), z, z * z
    for n in range(LOG_TERMS):
        total = total + power / (2 * n + 1)
        power = power * square
    rest = 2 * abs(power).high  # the terms left out, less than the next power and its ninths
    return 2 * Interval(total.low - rest, total.high + rest)


Number = Interval | Fraction


def least(values: list[Number]) -> Interval:
    parts = [Interval.of(v) for v in values]
    return Interval(min(p.low for p in parts), min(p.high for p in parts))


def greatest(values: list[Number]) -> Interval:
    parts = [Interval.of(v) for v in values]
    return Interval(max(p.low for p in parts), max(p.high for p in parts))


def root(value: Number) -> Number:
    """The square root: a fraction where it is one, an interval otherwise.

    Raises:
        NegativeRoot: for a number that is negative, or may be.
    """
    if isinstance(value, Interval):
        return value.sqrt()
    if value < 0:
        raise NegativeRoot("the square root of a negative number")
    exact = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return exact if exact**2 == value else Interval.of(value).sqrt()


def exponential(value: Number) -> Interval:
    """The exponential, in an interval.

    Raises:
        FormatError: for an exponent beyond +-10,000, or a result beyond 2^320.
    """
    return Interval.of(value).exp()


def logarithm(value: Number) -> Interval:
    """The natural logarithm, in an interval.

    Raises:
        OutsideDomain: for a number that is not positive, or may not be.
    """
    return Interval.of(value).log()


def certainly(left: Number, relation: str, right: Number) -> bool:
    """Whether ``left relation right`` holds for all numbers of the two intervals."""
    if relation in (">=", ">"):
        return certainly(right, relation.replace(">", "<"), left)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return {"<=": left <= right, "<": left < right, "=": left == right}[relation]
    x, y = Interval.of(left), Interval.of(right)
    return {"<=": x.high <= y.low, "<": x.high < y.low, "=": x.low == x.high == y.low == y.high}[relation]
