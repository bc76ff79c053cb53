"""Simple rationals: the simplest near a float, and those simpler than a rational."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isfinite

from theory.feasible.points import simplest

# Half-widths of the intervals in which the simplest rational is taken, from coarse to fine.
TOLERANCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6, 1e-9)
SMALL = 9
"""All rationals p/q with |p| + q up to this are tried in place of each number."""


def simplest_near(
    value: float, tolerance: float, least: Fraction | None = None, most: Fraction | None = None
) -> Fraction:
    """The simplest rational within `tolerance` of a float, and within [least, most].

    Raises:
        ValueError: for a value that is not finite, or a negative tolerance.
    """
    if not isfinite(value):
        raise ValueError(f"value={value!r} is not a finite number")
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r} is outside [0, inf)")
    low, high = Fraction(value) - Fraction(tolerance), Fraction(value) + Fraction(tolerance)
    low = low if least is None else min(max(low, least), most if most is not None else max(low, least))
    high = high if most is None else max(min(high, most), low)
    return simplest(low, max(low, high))


def height(value: Fraction) -> int:
    """|p| + q of p/q in lowest terms."""
    return abs(value.numerator) + value.denominator


def simpler(value: Fraction) -> list[Fraction]:
    """The simplest first: all of height up to `SMALL`, then those on the way to the value, and its absolute value."""
    small = [
        Fraction(sign * p, total - p)
        for total in range(1, SMALL + 1)
        for p in range(total)
        if gcd(p, total - p) == 1
        for sign in ((1, -1) if p else (1,))
    ]
    near = [simplest_near(float(value), tolerance) for tolerance in TOLERANCES]
    own = height(value)
    found = {v for v in (*small, *near, abs(value)) if height(v) < own or 0 < -value == v}
    return sorted(found, key=lambda v: (height(v), abs(v - value), v))
