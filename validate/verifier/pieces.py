"""Functions of one variable with a continuous, piecewise linear derivative, in fractions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .quadratics import read_vector
from .reading import FormatError, Uncheckable, fields, list_of, number
from .scalars import ONE, ZERO, Number, Vector, Work, below, divided, sure

MOST_KNOTS = 100  # of a sample
MOST_KNOTS_IN_ALL = 2_000

Ends = tuple[Fraction | None, Fraction | None]  # a closed interval; None for an end that is infinite
Parabola = tuple[Fraction, Fraction, Fraction]  # p, q, r of p x^2 + q x + r


class Piece:
    """f with f' continuous, of slope s_0 left of the first knot, s_1 between the first two, and so on.

    Attributes:
        knots, slopes: as they are given.
        places: of each segment a point in it, with f and f' there.
    """

    def __init__(self, knots: Sequence[Fraction], slopes: Sequence[Fraction], b: Fraction, c: Fraction) -> None:
        self.knots, self.slopes, self.b, self.c = tuple(knots), tuple(slopes), b, c
        middle = bisect_left(self.knots, 0)
        self.places: list[tuple[Fraction, Fraction, Fraction]] = [(ZERO, c, -b)] * len(self.slopes)
        for j in range(middle + 1, len(self.slopes)):
            self.places[j] = self._carried(j - 1, self.knots[j - 1])
        for j in range(middle - 1, -1, -1):
            self.places[j] = self._carried(j + 1, self.knots[j])

    def _carried(self, j: int, x: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        at, value, steep = self.places[j]
        y = x - at
        return x, value + steep * y + self.slopes[j] * y * y / 2, steep + self.slopes[j] * y

    def segment(self, x: Number) -> int:
        """In which segment a point is; on a knot both are right.

        Raises:
            Uncheckable: where an interval does not tell.
        """
        if isinstance(x, Fraction):
            return bisect_right(self.knots, x)
        for j, knot in enumerate(self.knots):
            if sure(x, "<=", knot):
                return j
            if not sure(knot, "<=", x):
                raise Uncheckable("an interval does not tell on which side of a knot a point is")
        return len(self.knots)

    def gradient(self, v: Vector) -> Vector:
        """f'."""
        (x,) = v
        j = self.segment(x)
        at, _, steep = self.places[j]
        return (steep + self.slopes[j] * (x - at),)

    def value(self, v: Vector) -> Number:
        """f."""
        (x,) = v
        j = self.segment(x)
        at, value, steep = self.places[j]
        y = x - at
        return value + y * (steep + self.slopes[j] * y / 2)

    def segments(self) -> Iterator[tuple[Ends, Parabola]]:
        """Where each segment lies, and f there."""
        for low, high, slope, (at, value, steep) in zip(
            (None, *self.knots), (*self.knots, None), self.slopes, self.places, strict=True
        ):
            yield (low, high), (slope / 2, steep - slope * at, value - steep * at + slope * at * at / 2)

    def minima(self) -> tuple[Fraction, list[Ends]] | None:
        """The least value, and the intervals where it is taken; None where the function is unbounded below."""
        still: list[tuple[Fraction, Ends]] = []
        for (low, high), (p, q, r) in self.segments():
            if low is None and (p < 0 or (p == 0 and q > 0)):
                return None
            if high is None and (p < 0 or (p == 0 and q < 0)):
                return None
            if p == 0 and q == 0:
                still.append((r, (low, high)))
            elif p != 0:
                x = -q / (2 * p)
                if (low is None or low <= x) and (high is None or x <= high):
                    still.append((r + q * x / 2, (x, x)))
        least = min(value for value, _ in still)
        found: list[Ends] = []
        for value, (low, high) in still:
            if value == least:
                if found and found[-1][1] is not None and found[-1][1] == low:
                    low = found.pop()[0]
                found.append((low, high))
        return least, found

    def proximal(self, t: Number) -> Number:
        """1/t, which with each slope must be positive.

        Raises:
            Uncheckable: where it is not.
        """
        inverse = divided(ONE, t)
        for slope in self.slopes:
            if not below(ZERO, inverse + slope):
                raise Uncheckable("a proximal point that does not exist, or is not the only one")
        return inverse

    def prox(self, v: Number, t: Number) -> Number:
        """The u with f'(u) + u/t = v/t."""
        inverse = self.proximal(t)
        target = v * inverse
        j = 0
        while j < len(self.knots) and below(self.gradient((self.knots[j],))[0] + self.knots[j] * inverse, target):
            j += 1
        at, _, steep = self.places[j]
        return divided(target - steep + self.slopes[j] * at, self.slopes[j] + inverse)


def mean_of(functions: Sequence[Piece], work: Work) -> Piece:
    """The mean of functions."""
    if len(functions) == 1:
        return functions[0]
    knots = sorted({t for f in functions for t in f.knots})
    work.spend(3 * len(functions) * (len(knots) + 1))
    inside = [x for (low, high) in gaps(knots) for x in [between(low, high)]]
    slopes = [sum((f.slopes[f.segment(x)] for f in functions), ZERO) / len(functions) for x in inside]
    b, c = (sum(values, ZERO) / len(functions) for values in zip(*((f.b, f.c) for f in functions), strict=True))
    return Piece(knots, slopes, b, c)


def gaps(knots: Sequence[Fraction]) -> Iterator[Ends]:
    """The intervals between knots."""
    yield from zip((None, *knots), (*knots, None), strict=True)


def between(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A point inside."""
    if low is None:
        return ZERO if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def read_piece(data: Any, name: str) -> Piece:
    """``{"knots", "slopes", "b"}``, with or without ``c``; or a quadratic ``{"H", "b"}`` in one dimension."""
    if not isinstance(data, dict) or "knots" not in data:
        fields(data, name, "H b", "c")
        rows = list_of(data["H"], f"H of {name}")
        if len(rows) != 1 or len(read_vector(rows[0], name)) != 1 or len(read_vector(data["b"], name)) != 1:
            raise FormatError(f"{name} has more than one coordinate, and others have knots")
        return Piece((), read_vector(rows[0], name), read_vector(data["b"], name)[0], number(data.get("c", 0), name))
    fields(data, name, "knots slopes b", "c")
    knots, slopes = read_shape(data, name)
    return Piece(knots, slopes, number(data["b"], f"b of {name}"), number(data.get("c", 0), f"c of {name}"))


def read_shape(data: Any, name: str) -> tuple[list[Fraction], list[Fraction]]:
    """Knots that increase, and one slope more."""
    if len(list_of(data["knots"], f"knots of {name}")) > MOST_KNOTS:
        raise FormatError(f"{name} has more than {MOST_KNOTS} knots")
    if len(list_of(data["slopes"], f"slopes of {name}")) != len(data["knots"]) + 1:
        raise FormatError(f"{name} has not one slope more than knots")
    knots = [number(t, f"a knot of {name}") for t in data["knots"]]
    if any(one >= two for one, two in pairwise(knots)):
        raise FormatError(f"the knots of {name} do not increase")
    slopes = [number(s, f"a slope of {name}") for s in data["slopes"]]
    return knots, slopes
