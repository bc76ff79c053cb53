"""Problems in one dimension of functions with a continuous, piecewise linear derivative, in fractions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .quadratics import MOST_CLIENTS, MOST_DATA_BITS, MOST_NUMBERS, Problem, read_problem, read_vector
from .reading import FormatError, Uncheckable, bits, fields, list_of, number, shown
from .scalars import ONE, ZERO, Number, Vector, Work, below, divided, sure

MOST_KNOTS = 100  # of a sample
MOST_KNOTS_IN_ALL = 2_000
MOST_SHOWN = 20  # samples
MEANING = "of each sample, f' is continuous, of the given slopes between the given knots, f'(0) = -b and f(0) = c"

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


class Pieces(Problem):
    """A problem in one dimension whose functions are pieces; as `Problem`."""

    def __init__(self, samples: list[list[Piece]], work: Work) -> None:
        self.samples, self.N, self.d, self.work = samples, len(samples), 1, work
        self.own = [mean_of(functions, work) for functions in samples]
        self.mean = mean_of(self.own, work)
        self._weighted: dict[tuple[Fraction, ...], Piece] = {}
        self._minima: dict[int, tuple[Fraction, list[Ends]] | None] = {}

    def weighted(self, weights: tuple[Fraction, ...]) -> Piece:
        """sum_n(q_n*f_n)."""
        if weights not in self._weighted:
            many = zip(self.own, weights, strict=True)
            scaled = [
                Piece(f.knots, [self.N * q * s for s in f.slopes], self.N * q * f.b, self.N * q * f.c) for f, q in many
            ]
            self._weighted[weights] = mean_of(scaled, self.work)
        return self._weighted[weights]

    def minima(self, function: Piece) -> tuple[Fraction, list[Ends]] | None:
        """The least value of a function and where it is taken."""
        if id(function) not in self._minima:
            self.work.spend(10 * len(function.slopes))
            self._minima[id(function)] = function.minima()
        return self._minima[id(function)]

    def minimum(self, function: Any) -> tuple[tuple[Fraction, ...], bool] | None:
        """A minimiser, and whether it is the only one; None where the function is unbounded below."""
        found = self.minima(function)
        if found is None:
            return None
        (low, high), more = found[1][0], len(found[1]) > 1
        point = low if low is not None else high if high is not None else ZERO
        return (point,), not more and low is not None and low == high

    def minimises(self, function: Any, point: Vector) -> bool:
        """Whether a function is least at a point."""
        found = self.minima(function)
        return found is not None and function.value(point) == found[0]

    def proximal(self, n: int, t: Number) -> Any:
        """1/t, which with each slope of f_n' must be positive.

        Raises:
            Uncheckable: where it is not.
        """
        inverse = divided(ONE, t)
        for slope in self.own[n].slopes:
            if not below(ZERO, inverse + slope):
                raise Uncheckable("a proximal point that does not exist, or is not the only one")
        return inverse

    def prox(self, n: int, v: Vector, t: Number) -> Vector:
        """The u with f_n'(u) + u/t = v/t."""
        f, inverse = self.own[n], self.proximal(n, t)
        self.work.spend(2 * len(f.slopes))
        target = v[0] * inverse
        j = 0
        while j < len(f.knots) and below(f.gradient((f.knots[j],))[0] + f.knots[j] * inverse, target):
            j += 1
        at, _, steep = f.places[j]
        return (divided(target - steep + f.slopes[j] * at, f.slopes[j] + inverse),)


def read_pieces(data: Any, work: Work) -> Problem:
    """A problem of quadratics; or, where a sample has knots, of pieces: ``{"knots", "slopes", "b"}``, with or without
    ``c``, or a quadratic ``{"H", "b"}`` in one dimension.
    """
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    if not any(isinstance(s, dict) and "knots" in s for own in clients if isinstance(own, list) for s in own):
        return read_problem(data, work)
    if not 1 <= len(clients) <= MOST_CLIENTS:
        raise FormatError(f"the problem has not between 1 and {MOST_CLIENTS} clients")
    count = knots = size = 0
    samples: list[list[Piece]] = []
    for n, own in enumerate(clients):
        if not list_of(own, f"client {n}"):
            raise FormatError(f"client {n + 1} has no samples")
        samples.append([])
        for sample in own:
            f = _read(sample, f"a sample of client {n + 1}")
            numbers = (*f.knots, *f.slopes, f.b, f.c)
            count, knots, size = count + len(numbers), knots + len(f.knots), size + sum(map(bits, numbers))
            if count > MOST_NUMBERS or knots > MOST_KNOTS_IN_ALL or size > MOST_DATA_BITS:
                raise FormatError("the problem has too many or too long numbers to be checked")
            samples[-1].append(f)
    work.spend(5 * count)
    return Pieces(samples, work)


def _read(data: Any, name: str) -> Piece:
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


def described(problem: Pieces) -> Iterator[str]:
    """The functions, for the reader."""
    yield MEANING
    places = [(n, i, f) for n, own in enumerate(problem.samples) for i, f in enumerate(own)]
    for n, i, f in places[:MOST_SHOWN]:
        knots, slopes = (", ".join(map(shown, values)) for values in (f.knots, f.slopes))
        yield f"client {n + 1}, sample {i + 1}: knots ({knots}), slopes ({slopes}), b = {shown(f.b)}, c = {shown(f.c)}"
    if len(places) > MOST_SHOWN:
        yield f"and {len(places) - MOST_SHOWN} more"
