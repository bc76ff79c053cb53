"""Functions given by points: finitely many x with gradient and value, and the class that the function is of.

A sample is ``{"points": [{"x": [..], "g": [..], "f": ..}, ...], "L": .., "mu": ..}``, in one dimension with numbers for
x and g. It stands for any function f, with f - mu/2 norm2 convex and L/2 norm2 - f convex, that has these values and
gradients. There is one exactly if every two points satisfy

    f_i >= f_j + <g_j, x_i - x_j> + (|g_i - g_j|^2/L + mu |x_i - x_j|^2 - 2 mu/L <g_j - g_i, x_j - x_i>)/(2 (1 - mu/L))

(Taylor, Hendrickx and Glineur, Mathematical Programming 161, 2017, Theorem 4). With negative mu it is their theorem of
f - mu/2 norm2, which is convex and (L - mu)-smooth. With mu = 0 and ``"G"`` all gradients of f have norm at most G: the
smallest function of the class with these points is the maximum over weights w >= 0 with sum 1 of

    sum_i w_i (f_i + <g_i, x - x_i> + |g_i|^2/(2 L)) - |sum_i w_i g_i|^2/(2 L),

whose gradients are means of the g_i; so it is enough that the g_i have norm at most G.

With mu <= 0 and without G a sample stands, where it matters, for the largest such function: f - mu/2 norm2 is then the
convex hull of the least of f_i + <g_i, x - x_i> + L/2 |x - x_i|^2 - mu/2 |x|^2. Its infimum is the least of
f_i - |g_i|^2/(2 L): this constant minus mu/2 norm2 is convex and below all of them, and at x_i - g_i/L one of them is
down to it. (For mu = -L see also Drori and Shamir, ICML 2020, Theorem 7.)

What is asked at any other point is undefined: it hangs on which function of the class is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from theory.arithmetic import to_element
from theory.operations import Element
from validate.instances.numbers import LARGEST_DIMENSION, entries, number, number_json
from validate.instances.problems import Vector

MOST_POINTS = 1000  # of a sample
Exact = tuple[Fraction, ...]


@dataclass(frozen=True)
class Point:
    """A point, the gradient there, (d,), and the value."""

    x: Exact
    g: Exact
    f: Fraction


@dataclass(frozen=True)
class PointFunction:
    """Any function of a class with these values and gradients; a point that is given twice counts once.

    Attributes:
        points: at least one, all of d coordinates.
        L: f has curvature at most L, and at least mu: -L <= mu < L.
        mu: positive, 0, or negative.
        G: a bound on the norm of all gradients, for mu = 0; None where there is none.

    Raises:
        ValueError: for a class that is none, or where no function of the class has these values and gradients.
    """

    points: tuple[Point, ...]
    L: Fraction
    mu: Fraction = Fraction(0)
    G: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("points is to have at least one point")
        object.__setattr__(self, "points", tuple(dict.fromkeys(self.points)))
        if self.L <= 0:
            raise ValueError(f"L={self.L} is outside (0, inf)")
        if not -self.L <= self.mu < self.L:
            raise ValueError(f"mu={self.mu} is outside [-L, L) = [{-self.L}, {self.L})")
        if self.G is not None and (self.mu != 0 or self.G < 0):
            raise ValueError(f"G={self.G} with mu={self.mu}: a bound G >= 0 on the gradients goes with mu = 0 only")
        sizes = {len(v) for p in self.points for v in (p.x, p.g)}
        if len(sizes) > 1:
            raise ValueError(f"points: x and g have different numbers of coordinates: {sorted(sizes)}")
        self._check()

    @property
    def dim(self) -> int:
        """d."""
        return len(self.points[0].x)

    @property
    def steepest(self) -> Fraction:
        """The Lipschitz constant of the gradient that the class tells: max(L, -mu), which is L."""
        return max(self.L, -self.mu)

    def in_units(self, length: Fraction, curvature: Fraction) -> PointFunction:
        """x -> curvature*length^2*f(x/length), both positive."""
        slope = length * curvature
        points = tuple(
            Point(tuple(length * x for x in p.x), tuple(slope * y for y in p.g), length * slope * p.f)
            for p in self.points
        )
        G = None if self.G is None else self.G * slope
        return PointFunction(points, self.L * curvature, self.mu * curvature, G)

    def _check(self) -> None:
        for i, p in enumerate(self.points):
            if self.G is not None and sum(y * y for y in p.g) > self.G**2:
                raise ValueError(f"points[{i}]: the gradient is longer than G={self.G}")
        rows = [(tuple(map(to_element, p.x)), tuple(map(to_element, p.g)), to_element(p.f)) for p in self.points]
        L, mu = to_element(self.L), to_element(self.mu)
        for i, (x, g, f) in enumerate(rows):
            for j in range(i):
                y, h, e = rows[j]
                # L/(2 (L - mu)) of |g - h|^2/L + mu |x - y|^2 - 2 mu/L <g - h, x - y>, alike for both of a pair
                curved: Any = 0
                there: Any = 0
                back: Any = 0
                for a, b, s, t in zip(x, y, g, h, strict=True):
                    curved += (s - t) ** 2 + L * mu * (a - b) ** 2 - 2 * mu * (s - t) * (a - b)
                    there += t * (a - b)
                    back += s * (b - a)
                curved = curved / (2 * (L - mu))
                for high, low, missing in ((i, j, f - e - there - curved), (j, i, e - f - back - curved)):
                    if missing < 0:
                        raise ValueError(
                            f"points[{high}] and points[{low}]: no function with curvature between mu={self.mu} and "
                            f"L={self.L} has both: the value at points[{high}] is too small by {short(-missing)}"
                        )

    @cached_property
    def elements(self) -> dict[Vector, tuple[Vector, Element]]:
        """By the point, gradient and value, in FLINT's rationals."""
        return {tuple(map(to_element, p.x)): (tuple(map(to_element, p.g)), to_element(p.f)) for p in self.points}

    @property
    def lowest(self) -> Fraction | None:
        """The infimum of the largest function with these points: min_i (f_i - |g_i|^2/(2 L)), for mu <= 0 without G."""
        if self.mu > 0 or self.G is not None:
            return None
        return min(p.f - sum((y * y for y in p.g), Fraction(0)) / (2 * self.L) for p in self.points)

    def to_json(self) -> dict[str, Any]:
        """``{"points", "L", "mu"}``, ``G`` where there is one; in one dimension x and g are numbers."""

        def vector(v: Exact) -> Any:
            return number_json(v[0]) if len(v) == 1 else list(map(number_json, v))

        points = [{"x": vector(p.x), "g": vector(p.g), "f": number_json(p.f)} for p in self.points]
        found = {"points": points, "L": number_json(self.L), "mu": number_json(self.mu)}
        return found if self.G is None else {**found, "G": number_json(self.G)}


def short(value: Any) -> str:
    """A number for a message."""
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _vector(name: str, value: Any) -> Exact:
    return tuple(entries(name, value)) if isinstance(value, list | tuple) else (number(name, value),)


def read_points(name: str, data: Any) -> tuple[Point, ...]:
    """The points of a sample.

    Raises:
        ValueError: for what are none, or are of different numbers of coordinates.
    """
    if not isinstance(data, Sequence) or isinstance(data, str) or not data:
        raise ValueError(f"{name}.points is to be a list of at least one point")
    if len(data) > MOST_POINTS:
        raise ValueError(f"{name} has {len(data)} points; the limit is {MOST_POINTS}")
    found: list[Point] = []
    for i, point in enumerate(data):
        where = f"{name}.points[{i}]"
        if not isinstance(point, Mapping) or set(point) != {"x", "g", "f"}:
            raise ValueError(f"{where} is to be a point: x, g and f")
        x, g = _vector(f"{where}.x", point["x"]), _vector(f"{where}.g", point["g"])
        if len(x) != len(g) or len(x) != len(found[0].x if found else x):
            raise ValueError(f"{where}: x has {len(x)} entries and g {len(g)}; all have as many, d")
        if len(x) > LARGEST_DIMENSION:
            raise ValueError(f"{where} has {len(x)} coordinates; the limit is {LARGEST_DIMENSION}")
        found.append(Point(x, g, number(f"{where}.f", point["f"])))
    return tuple(found)
