"""Least values of a quadratic in one or two unknowns, each of an interval whose ends may be missing, in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .scalars import ZERO

End = tuple[Fraction | None, Fraction | None]


def least_value(terms: Mapping[Any, Fraction], unknowns: Sequence[int], rest: Fraction, ends: Any) -> Fraction | None:
    """The least value in one or two unknowns of intervals; None where it is unbounded below."""
    last, end = unknowns[-1], ends[-1]
    p, q = terms.get((last, last), ZERO), terms.get((last,), ZERO)
    if len(unknowns) == 1:
        return bottom(p, q, rest, *end)
    first = unknowns[0]
    own, both = terms.get((first, first), ZERO), terms.get((first, last), ZERO)
    slope = terms.get((first,), ZERO)
    # of every value of the first unknown the least over the last: at an end of its interval, or where it is still
    found = []
    for bound, sign in zip(end, (-1, 1), strict=True):
        if bound is not None:
            height = (p * bound + q) * bound + rest
            found.append(bottom(own, both * bound + slope, height, *ends[0]))
        elif p < 0:
            return None
        elif p == 0:  # there it must not fall, whatever the first one is
            fall = bottom(ZERO, sign * both, sign * q, *ends[0])
            if fall is None or fall < 0:
                return None
    if p == 0 and not found:
        found.append(bottom(own, slope, rest, *ends[0]))
    if p > 0 and (inside := _where_still(p, q, both, end, ends[0])) is not None:
        bent, moved = own - both * both / (4 * p), slope - both * q / (2 * p)
        found.append(bottom(bent, moved, rest - q * q / (4 * p), *inside))
    return None if None in found else min(value for value in found if value is not None)


def _where_still(p: Fraction, q: Fraction, both: Fraction, end: End, of_first: End) -> End | None:
    """The values of the first unknown for which -(q + both*first)/(2 p) lies between the ends of the last."""
    low, high = of_first
    for bound, sign in zip(end, (1, -1), strict=True):
        if bound is None:
            continue
        # sign*(-(q + both*first)/(2 p) - bound) >= 0
        room, steep = -sign * (q / (2 * p) + bound), -sign * both / (2 * p)
        if steep == 0:
            if room < 0:
                return None
        elif steep > 0:
            low = -room / steep if low is None else max(low, -room / steep)
        else:
            high = -room / steep if high is None else min(high, -room / steep)
    return None if low is not None and high is not None and low > high else (low, high)


def bottom(p: Fraction, q: Fraction, r: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction | None:
    """The least value of p x^2 + q x + r on an interval; None where it is unbounded below."""
    if (low is None and (p < 0 or (p == 0 and q > 0))) or (high is None and (p < 0 or (p == 0 and q < 0))):
        return None
    places = [x for x in (low, high) if x is not None]
    if p > 0 and (low is None or low < -q / (2 * p)) and (high is None or -q / (2 * p) < high):
        places.append(-q / (2 * p))
    return min((p * x * x + q * x + r for x in places), default=r)
