"""Simple numbers of an interval, and its middle and width on the scale t = x/(1+|x|), on which the line is bounded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from theory.domain import Domain
from theory.feasible.intervals import INF, Interval

LARGEST_WITNESS = 2.0**60


def simple_numbers(interval: Interval, domain: Domain) -> Iterator[Fraction]:
    """Simple numbers in an interval, preferably away from its ends."""
    low, high = max(interval[0], -LARGEST_WITNESS), min(interval[1], LARGEST_WITNESS)
    if low > high:
        return
    if domain.integer:
        first, last = math.ceil(low), math.floor(high)
        if first <= last:
            guesses = [min(max(first, 0), last), first, last, math.floor(middle(low, high))]
            if last - first > 8:
                guesses.insert(0, min(max(first, 1), last))
            yield from dict.fromkeys(Fraction(min(max(g, first), last)) for g in guesses)
        return
    guesses_: list[Fraction] = []
    for part in (4.0, 64.0, INF):
        t_low, t_high = scaled(low), scaled(high)
        margin = (t_high - t_low) / part
        if t_low + margin < t_high - margin:
            inside = unscaled(t_low + margin), unscaled(t_high - margin)
            if low < inside[0] <= inside[1] < high:
                guesses_.append(simplest(Fraction(inside[0]), Fraction(inside[1])))
    guesses_.append(simplest(Fraction(low), Fraction(high)))
    if low < 1 < high and guesses_[0] != 1 and (low == 0 or high == INF):
        guesses_.insert(0, Fraction(1))
    yield from (g for g in dict.fromkeys(guesses_) if domain.contains(g))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The rational of the smallest denominator, then numerator, in [low, high] (Stern and Brocot).

    Raises:
        ValueError: when low > high.
    """
    if low > high:
        raise ValueError(f"low={low} is outside (-inf, high={high}]")
    if low == high:  # the walk down the continued fraction of a float is long
        return low
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    # p/q, p0/q0 are the last two convergents of the continued fraction that the ends share
    p, q, p0, q0 = 1, 0, 0, 1
    while True:
        whole = math.floor(low)
        if whole == low or whole + 1 <= high:
            digit = whole if whole == low else whole + 1
            return Fraction(digit * p + p0, digit * q + q0)
        p, q, p0, q0 = whole * p + p0, whole * q + q0, p, q
        low, high = 1 / (high - whole), 1 / (low - whole)


def middle(low: float, high: float) -> float:
    """The middle in t; that of x where the ends are near each other."""
    if math.isfinite(low) and math.isfinite(high) and high - low < 1e-3 * (1 + abs(low)):
        return low + (high - low) / 2
    found = unscaled((scaled(low) + scaled(high)) / 2)
    return min(max(found, -LARGEST_WITNESS), LARGEST_WITNESS)


def scaled(x: float) -> float:
    """t = x/(1+|x|)."""
    return math.copysign(1.0, x) if math.isinf(x) else x / (1 + abs(x))


def unscaled(t: float) -> float:
    """x, from t."""
    return t / (1 - abs(t)) if abs(t) < 1 else math.copysign(INF, t)


def width(interval: Interval) -> float:
    """Of an interval, in t: at most 2."""
    return scaled(interval[1]) - scaled(interval[0])
