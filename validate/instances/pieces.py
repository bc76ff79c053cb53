"""Functions of one variable whose derivative is continuous and piecewise linear, and problems of them.

Between two knots such a function is a quadratic, and quadratics are those without knots. Everything is exact: values,
minimisers, proximal points, means, and the constants of the assumptions that claims make.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from theory.arithmetic import to_element
from theory.operations import Element, UndecidedError, to_fraction
from validate.instances.numbers import entries, number, number_json
from validate.instances.problems import Minimisers, Vector, read_sample
from validate.instances.sampled import Averaged

MOST_KNOTS = 1000  # of a sample
Interval: TypeAlias = "tuple[Fraction | None, Fraction | None]"
"""Closed; None for an end that is infinite."""
Segment: TypeAlias = "tuple[Any, Any, Any]"


@dataclass(frozen=True)
class Piecewise:
    """f with f' continuous, of slope s_j between the knots t_j and t_{j+1}, f'(0) = -b and f(0) = c.

    A knot at which the slope does not change is left out.

    Attributes:
        knots: t_1 < ... < t_m.
        slopes: s_0, ..., s_m.
        b: minus the derivative at 0.
        c: the value at 0.

    Raises:
        ValueError: where there is not one slope more than knots, or the knots do not increase.
    """

    knots: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    b: Fraction = Fraction(0)
    c: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if len(self.slopes) != len(self.knots) + 1:
            raise ValueError(
                f"there are {len(self.slopes)} slopes and {len(self.knots)} knots; slopes are one more than knots"
            )
        if any(one >= two for one, two in pairwise(self.knots)):
            raise ValueError(f"the knots {', '.join(map(str, self.knots))} do not increase")
        turns = [j for j in range(len(self.knots)) if self.slopes[j] != self.slopes[j + 1]]
        if len(turns) < len(self.knots):
            object.__setattr__(self, "slopes", (self.slopes[0], *(self.slopes[j + 1] for j in turns)))
            object.__setattr__(self, "knots", tuple(self.knots[j] for j in turns))

    @property
    def dim(self) -> int:
        """d, which is 1."""
        return 1

    def to_json(self) -> dict[str, Any]:
        """As ``{"knots", "slopes", "b"}``, ``c`` only where it is needed."""
        numbers = {"b": number_json(self.b)} | ({"c": number_json(self.c)} if self.c != 0 else {})
        return {"knots": list(map(number_json, self.knots)), "slopes": list(map(number_json, self.slopes)), **numbers}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """(s, b, c) of each segment: there f(x) = s x^2/2 - b x + c."""
        first = bisect_right(self.knots, 0)
        b = c = Fraction(0)
        found: list[Segment] = [(self.slopes[0], b, c)]
        for t, one, two in zip(self.knots, self.slopes, self.slopes[1:], strict=False):
            b, c = b + (two - one) * t, c + (two - one) * t * t / 2
            found.append((two, b, c))
        _, low, base = found[first]
        return tuple((s, b - low + self.b, c - base + self.c) for s, b, c in found)

    @cached_property
    def elements(self) -> tuple[tuple[Element, ...], tuple[Segment, ...]]:
        """Knots and segments in FLINT's rationals."""
        return (
            tuple(map(to_element, self.knots)),
            tuple((to_element(s), to_element(b), to_element(c)) for s, b, c in self.segments),
        )

    def value(self, x: Fraction) -> Fraction:
        """f(x)."""
        s, b, c = self.segments[bisect_right(self.knots, x)]
        return (s * x / 2 - b) * x + c

    def derivative(self, x: Fraction) -> Fraction:
        """f'(x)."""
        s, b, _ = self.segments[bisect_right(self.knots, x)]
        return s * x - b

    def stretches(self) -> Iterable[tuple[Segment, Interval]]:
        """Each segment with where it lies."""
        return zip(self.segments, zip((None, *self.knots), (*self.knots, None), strict=True), strict=True)

    def still_at(self, x: Fraction) -> Piecewise:
        """The function with another linear term, of which x is a stationary point."""
        return Piecewise(self.knots, self.slopes, self.b + self.derivative(x), self.c)

    def in_units(self, length: Fraction, curvature: Fraction) -> Piecewise:
        """x -> curvature*length^2*f(x/length), both positive."""
        knots, slopes = tuple(t * length for t in self.knots), tuple(s * curvature for s in self.slopes)
        return Piecewise(knots, slopes, self.b * curvature * length, self.c * curvature * length**2)

    def plus(self, other: Piecewise, factor: Fraction = Fraction(1)) -> Piecewise:
        """self + factor*other."""
        return combined(((Fraction(1), self), (factor, other)))

    # minima

    @cached_property
    def least(self) -> tuple[Fraction, tuple[Interval, ...]] | None:
        """The infimum and where it is attained, which it is; None where the function is unbounded below."""
        (left, low, _), (right, high, _) = self.segments[0], self.segments[-1]
        if left < 0 or right < 0 or (left == 0 and low < 0) or (right == 0 and high > 0):
            return None
        still: list[tuple[Fraction, Interval]] = []
        for (s, b, c), (start, end) in self.stretches():
            if s == 0 and b == 0:
                still.append((c, (start, end)))
            elif s > 0 and (start is None or start <= b / s) and (end is None or b / s <= end):
                still.append((c - b * b / (2 * s), (b / s, b / s)))
        infimum = min(value for value, _ in still)
        found: list[Interval] = []
        for start, end in (interval for value, interval in still if value == infimum):
            if found and found[-1][1] == start:
                start, _ = found.pop()
            found.append((start, end))
        return infimum, tuple(found)

    def minimised_in(self, interval: Interval) -> bool:
        """Whether every point of an interval is a minimiser."""
        found = () if self.least is None else self.least[1]
        start, end = interval
        return any(
            (low is None or (start is not None and low <= start))
            and (high is None or (end is not None and end <= high))
            for low, high in found
        )

    # constants

    @cached_property
    def gradient_bound(self) -> Fraction | None:
        """The largest absolute value of f'; None where it is unbounded."""
        if self.slopes[0] != 0 or self.slopes[-1] != 0:
            return None
        return max(abs(self.derivative(t)) for t in self.knots or (Fraction(0),))

    @cached_property
    def growth(self) -> Fraction | None:
        """The largest mu >= 0 with f'^2 >= 2 mu (f - inf f) everywhere; None where every mu is one.

        Raises:
            ValueError: where f is unbounded below.
        """
        if self.least is None:
            raise ValueError("the function is unbounded below")
        infimum = self.least[0]
        found: list[Fraction] = []
        for (s, b, c), (start, end) in self.stretches():
            if start is None or end is None:
                # f'^2 = 2 s (f - inf f) + a constant on a segment: the ratio goes to s where f goes to infinity
                if s != 0:
                    found.append(s)
                elif b == 0 and c > infimum:
                    found.append(Fraction(0))
                elif b != 0:
                    found.append(Fraction(0))  # f grows without end, and f' does not
            inside = s != 0 and (start is None or start < b / s) and (end is None or b / s < end)
            ends = [x for x in (start, end, b / s if inside else None) if x is not None]
            for x in ends:  # the ratio is monotone in f - inf f, which is largest and least at one of these
                above = (s * x / 2 - b) * x + c - infimum
                if above > 0:
                    found.append((s * x - b) ** 2 / (2 * above))
                elif s != 0:
                    found.append(s)  # its limit there
        return min(found, default=None)


def combined(terms: Iterable[tuple[Fraction, Piecewise]]) -> Piecewise:
    """sum of factor*function; at least one term."""
    jumps: dict[Fraction, Fraction] = {}
    slope = b = c = Fraction(0)
    for factor, f in terms:
        slope, b, c = slope + factor * f.slopes[0], b + factor * f.b, c + factor * f.c
        for t, one, two in zip(f.knots, f.slopes, f.slopes[1:], strict=False):
            jumps[t] = jumps.get(t, Fraction(0)) + factor * (two - one)
    knots = sorted(jumps)
    slopes = [slope]
    for t in knots:
        slopes.append(slopes[-1] + jumps[t])
    return Piecewise(tuple(knots), tuple(slopes), b, c)


def mean_of(functions: Sequence[Piecewise]) -> Piecewise:
    return combined((Fraction(1, len(functions)), f) for f in functions)


def largest_sum(terms: Sequence[tuple[Fraction, Piecewise]]) -> Fraction | None:
    """sup over x of the sum of factor*f'(x)^2; None where it is infinite."""
    every = sorted({t for _, f in terms for t in f.knots})
    knots: list[Any] = list(map(to_element, every))
    given = [(to_element(factor), *f.elements) for factor, f in terms]
    zero = to_element(Fraction(0))
    found: list[Any] = []
    for start, end in zip([None, *knots], [*knots, None], strict=True):
        inner = end - 1 if start is None and end is not None else start + 1 if start is not None and end is None else 0
        at = inner + zero if start is None or end is None else (start + end) / 2
        a = h = e = zero  # the sum is a x^2 - 2 h x + e on this stretch
        for factor, own, segments in given:
            s, b, _ = segments[bisect_right(own, at)]
            a, h, e = a + factor * s * s, h + factor * s * b, e + factor * b * b
        if (start is None or end is None) and (
            a > 0 or (a == 0 and ((h > 0 and start is None) or (h < 0 and end is None)))
        ):
            return None
        ends = [x for x in (start, end) if x is not None]
        if a < 0 and (start is None or start < h / a) and (end is None or h / a < end):
            ends.append(h / a)
        found += [a * x * x - 2 * h * x + e for x in ends or [at]]
    largest: Fraction = to_fraction(max(found))
    return largest


@dataclass(frozen=True)
class Pieces(Averaged[Piecewise]):
    """A problem in one dimension whose samples are `Piecewise`, convex or not."""

    FORMS: ClassVar = (frozenset({"knots", "slopes", "b"}),)

    # the JSON form

    @classmethod
    def reads(cls, sample: Mapping[str, Any]) -> bool:
        """Whether a sample is written in the form of this kind, or as a quadratic."""
        keys = frozenset(sample) - {"c"}
        return keys in cls.FORMS or keys in (frozenset({"h", "b"}), frozenset({"h", "a"}), frozenset({"H", "b"}))

    @staticmethod
    def read_sample(name: str, sample: Mapping[str, Any]) -> Piecewise:
        """A sample, from the form of this kind or of a quadratic."""
        return _read(name, sample)

    mean_of = staticmethod(mean_of)
    summed = staticmethod(combined)

    # values

    def value(self, v: Vector, *which: int) -> Element:
        """The function's value at v."""
        (x,) = v
        s, b, c = segment_of(self.function(*which), x)
        return (s * x / 2 - b) * x + c

    def gradient(self, v: Vector, *which: int) -> Vector:
        (x,) = v
        s, b, _ = segment_of(self.function(*which), x)
        return (s * x - b,)

    # minima

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """The minimiser of f_n(u) + (u - v)^2/(2t): f_n'(u) + u/t = v/t.

        Raises:
            ValueError: where a slope of f_n' plus 1/t is not positive.
        """
        if not _certain(t != 0, t == 0, t):
            raise ValueError(f"prox with t=0 of client {n + 1} does not exist: t is outside the numbers but 0")
        knots, segments = self.own[n].elements
        inverse = 1 / t
        for s, _, _ in segments:
            if not _certain(s + inverse > 0, s + inverse <= 0, t):
                raise ValueError(
                    f"prox with t={t} of client {n + 1} has no unique value: a slope of its derivative plus 1/t is not"
                    " positive"
                )
        target, place = v[0] * inverse, 0
        for knot, (s, b, _) in zip(knots, segments, strict=False):
            there = (s + inverse) * knot - b
            if _certain(there >= target, there < target, target):
                break
            place += 1
        s, b, _ = segments[place]
        return ((target + b) / (s + inverse),)

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """The minimisers nearest to `near`, with the ends of all intervals of them."""
        least = self.function(*which).least
        if least is None:
            return Minimisers((), False)
        points = nearest_of(least[1], to_fraction(near[0]))
        return Minimisers(tuple((to_element(x),) for x in points), len(points) == 1)

    def infimum(self, *which: int) -> Element | None:
        least = self.function(*which).least
        return None if least is None else to_element(least[0])

    def only(self, *which: int) -> Sequence[Fraction] | None:
        """(1,), the minimiser of f, f_n or f_ni, where there is exactly one."""
        least = self.function(*which).least
        if least is None or len(least[1]) > 1 or least[1][0][0] is None or least[1][0][0] != least[1][0][1]:
            return None
        return [least[1][0][0]]


def nearest_of(intervals: Sequence[Interval], here: Fraction) -> list[Fraction]:
    """The nearest point of intervals first, then their ends, and a point 1 beyond where there is none."""
    points: list[Fraction] = []
    for low, high in intervals:
        nearest = here if low is None or here > low else low
        nearest = nearest if high is None or nearest < high else high
        points += [nearest, nearest - 1 if low is None else low, nearest + 1 if high is None else high]
    return sorted(dict.fromkeys(points), key=lambda x: abs(x - here))


def segment_of(f: Piecewise, x: Element) -> Segment:
    """The segment in which a point lies, in FLINT's numbers."""
    from flint import fmpq

    knots, segments = f.elements
    if type(x) is fmpq:
        return segments[bisect_right(knots, x)]
    place = 0
    for knot in knots:
        if _certain(x <= knot, x > knot, x):
            break
        place += 1
    return segments[place]


def _certain(yes: bool, no: bool, what: Element) -> bool:
    """Whether it is so, where balls may deny both."""
    if not yes and not no:
        raise UndecidedError(f"on which side of a knot {what} is")
    return yes


def _read(name: str, sample: Mapping[str, Any]) -> Piecewise:
    if "knots" not in sample:
        h, b, c = read_sample(name, sample)
        if len(b) != 1:
            raise ValueError(f"{name} has {len(b)} coordinates; beside piecewise quadratics there is one")
        return Piecewise((), (h[0][0],), b[0], c)
    knots, slopes = read_shape(name, sample)
    try:
        return Piecewise(knots, slopes, number(f"{name}.b", sample["b"]), number(f"{name}.c", sample.get("c", 0)))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def read_shape(name: str, data: Mapping[str, Any]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Knots and slopes from ``{"knots", "slopes", ...}``.

    Raises:
        ValueError: for what are no numbers, or too many.
    """
    given = data["knots"]
    knots = () if isinstance(given, list | tuple) and not given else entries(f"{name}.knots", given)
    if len(knots) > MOST_KNOTS:
        raise ValueError(f"{name} has {len(knots)} knots; the limit is {MOST_KNOTS}")
    return tuple(knots), tuple(entries(f"{name}.slopes", data["slopes"]))
