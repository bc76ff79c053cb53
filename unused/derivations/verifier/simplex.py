"""The point of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least: of fractions exactly, else in intervals.

It is max(0, nu - c_n)/(2*q_n) with the level nu at which these sum to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .intervals import Interval, Number
from .reading import Uncheckable

CLOSEST, FARTHEST = 300, 20
"""The level is enclosed within 2^-300 where numbers allow it, and given up beyond 2^-20."""


def simplex(costs: Sequence[Number], curvatures: Sequence[Number]) -> list[Number]:
    """The weights.

    Args:
        costs: c_n, one a client.
        curvatures: q_n, positive.

    Raises:
        Uncheckable: where a curvature is not, or may not be, positive; where intervals are too wide for the level.
    """
    exact_costs = [c for c in costs if isinstance(c, Fraction)]
    exact_curvatures = [q for q in curvatures if isinstance(q, Fraction)]
    if min(_low(q) for q in curvatures) <= 0:
        raise Uncheckable("simplex_n of curvatures that are not positive")
    if len(exact_costs) == len(costs) and len(exact_curvatures) == len(curvatures):
        level = _level(exact_costs, exact_curvatures)
        return [max(Fraction(0), level - c) / (2 * q) for c, q in zip(exact_costs, exact_curvatures, strict=True)]
    enclosed = _enclosed(costs, curvatures)
    return [_above_zero(enclosed - c) / (2 * Interval.of(q)) for c, q in zip(costs, curvatures, strict=True)]


def _level(costs: Sequence[Fraction], curvatures: Sequence[Fraction]) -> Fraction:
    """Of those that take part with the costs up to any one of them, nu is least for the right ones."""
    levels = []
    share = spent = Fraction(0)
    for n in sorted(range(len(costs)), key=lambda n: costs[n]):
        share, spent = share + 1 / (2 * curvatures[n]), spent + costs[n] / (2 * curvatures[n])
        levels.append((1 + spent) / share)
    return min(levels)


def _enclosed(costs: Sequence[Number], curvatures: Sequence[Number]) -> Interval:
    """An interval around nu: the weights grow with it, and sum to at most 1 below and to at least 1 above."""
    middle = _level([_middle(c) for c in costs], [_middle(q) for q in curvatures])
    both = list(zip(costs, curvatures, strict=True))
    for exponent in range(CLOSEST, FARTHEST, -20):
        below, above = middle - Fraction(1, 2**exponent), middle + Fraction(1, 2**exponent)
        most = sum(max(Fraction(0), below - _low(c)) / (2 * _low(q)) for c, q in both)
        fewest = sum(max(Fraction(0), above - _high(c)) / (2 * _high(q)) for c, q in both)
        if most <= 1 <= fewest:
            return Interval(Interval.of(below).low, Interval.of(above).high)
    raise Uncheckable("simplex_n of numbers that are not known well enough")


def _above_zero(x: Interval) -> Interval:
    return Interval(max(x.low, 0), max(x.high, 0))


def _low(x: Number) -> Fraction:
    return x.ends[0] if isinstance(x, Interval) else x


def _high(x: Number) -> Fraction:
    return x.ends[1] if isinstance(x, Interval) else x


def _middle(x: Number) -> Fraction:
    return (_low(x) + _high(x)) / 2
