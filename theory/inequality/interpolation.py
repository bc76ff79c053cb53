"""Function classes as conditions on finitely many points: when does a function of the class pass through them?

A point is (x, g, f): a position, a (sub)gradient there, the value there. For smooth and strongly convex functions the
conditions are necessary and sufficient, so a Gram matrix that satisfies them is a true function, and a claim that they
imply is a theorem about the class.

References: Taylor, Hendrickx, Glineur, Smooth strongly convex interpolation and exact worst-case performance of
first-order methods, Math. Program. 161 (2017), Theorem 4; the same, Exact worst-case performance of first-order
methods for composite convex optimization, SIAM J. Optim. 27 (2017), Theorem 3.10 (non-convex smooth) and 3.5 (bounded
subgradients); Bauschke, Combettes, Convex Analysis and Monotone Operator Theory (2017), for operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from theory.inequality.vectors import Condition, Exact, Form, Space, Vector, exact, inner, square, vanishes

Point: TypeAlias = "tuple[Vector, Vector, Form]"


@dataclass(frozen=True)
class Interpolated:
    """A function known at points, and the class that it belongs to.

    Attributes:
        name: of the function.
        points: (x, g, f) each.
        lower: f - lower/2 |x|^2 is convex (mu > 0, 0 for convex, -L for smooth without convexity).
        upper: upper/2 |x|^2 - f is convex; None where f need not be smooth.
        lipschitz: bound of the norm of its subgradients, or None.
    """

    name: str
    points: tuple[Point, ...]
    lower: Fraction
    upper: Fraction | None = None
    lipschitz: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError(f"points={self.points!r} is outside the non-empty lists")
        if self.upper is not None and not self.lower <= self.upper:
            raise ValueError(f"lower={self.lower} is outside (-inf, {self.upper}], up to the smoothness")
        if self.lipschitz is not None and self.lipschitz < 0:
            raise ValueError(f"lipschitz={self.lipschitz} is outside [0, inf)")

    def conditions(self) -> list[Condition]:
        """One inequality an ordered pair of points, and one a point where the gradients are bounded."""
        made = [
            Condition(f"{self.name}({i},{j})", self._pair(one, other), "<=")
            for i, one in enumerate(self.points)
            for j, other in enumerate(self.points)
            if i != j
        ]
        if self.upper is not None and self.lower == self.upper:  # a quadratic: the gradient is affine
            x0, g0, _ = self.points[0]
            for i, (x, g, _) in enumerate(self.points[1:], start=1):
                made += vanishes(g - g0 - (x - x0) * self.lower, f"{self.name} gradient({i})")
        if self.lipschitz is not None:
            made += [
                Condition(f"{self.name} bounded({i})", square(g) - self.lipschitz**2, "<=")
                for i, (_, g, _) in enumerate(self.points)
            ]
        return made

    def _pair(self, one: Point, other: Point) -> Form:
        """f_j + <g_j, x_i - x_j> + (what the class adds) - f_i <= 0.

        With mu = lower and L = upper, the class adds
        |g_i-g_j|^2/(2L) + (mu/(2(1-mu/L))) |x_i-x_j-(g_i-g_j)/L|^2, which is symmetric in i and j.
        """
        (x, g, f), (y, h, e) = one, other
        if not self.lower and self.upper is None:
            return e - f + inner(h, x - y)
        if self.upper is None or self.upper == self.lower:
            return e - f + inner(h, x - y) + square(x - y) * (self.lower / 2)
        mu, smooth = self.lower, self.upper
        # multiplied out, which holds for L of either sign: (|dg|^2 + mu L |dx|^2 - 2 mu <dg, dx>) / (2 (L - mu))
        dx, dg = x - y, g - h
        added = square(dg) - 2 * mu * inner(dg, dx)
        if mu and smooth:
            added = added + mu * smooth * square(dx)
        return e - f + inner(h, dx) + added / (2 * (smooth - mu))


def smooth_strongly_convex(
    space: Space, points: Sequence[Point], mu: Exact, L: Exact, name: str = "f"
) -> list[Condition]:
    """mu-strongly convex with an L-Lipschitz gradient, 0 <= mu <= L (necessary and sufficient, Theorem 4 of 2017).

    Args:
        space: of the points.
        points: at least one, each a point x, the gradient there and the value there.
        mu: in [0, L].
        L: in (0, inf).
        name: of the function; begins the names of the conditions.

    Returns:
        What the points, gradients and values of such a function satisfy, and nothing else.

    Raises:
        ValueError: mu or L outside its domain, no point, or a point of another space.
    """
    return _smooth(space, points, _at_least_zero(mu, "mu"), _positive(L, "L"), name).conditions()


def smooth_convex(space: Space, points: Sequence[Point], L: Exact, name: str = "f") -> list[Condition]:
    """Convex with an L-Lipschitz gradient (necessary and sufficient).

    Raises:
        ValueError: as `smooth_strongly_convex`.
    """
    return smooth_strongly_convex(space, points, 0, L, name)


def smooth(space: Space, points: Sequence[Point], L: Exact, name: str = "f") -> list[Condition]:
    """An L-Lipschitz gradient, convex or not (necessary and sufficient).

    Raises:
        ValueError: as `smooth_strongly_convex`.
    """
    bound = _positive(L, "L")
    return _smooth(space, points, -bound, bound, name).conditions()


def convex(
    space: Space, points: Sequence[Point], mu: Exact = 0, lipschitz: Exact | None = None, name: str = "f"
) -> list[Condition]:
    """Convex (mu-strongly), with subgradients bounded by `lipschitz` where given (sufficient too where mu = 0).

    Raises:
        ValueError: as `smooth_strongly_convex`, or `lipschitz` is negative.
    """
    _inside(space, points)
    bound = None if lipschitz is None else _at_least_zero(lipschitz, "lipschitz")
    return Interpolated(name, tuple(points), _at_least_zero(mu, "mu"), None, bound).conditions()


def _smooth(space: Space, points: Sequence[Point], mu: Fraction, bound: Fraction, name: str) -> Interpolated:
    _inside(space, points)
    if mu > bound:
        raise ValueError(f"mu={mu} is outside [0, {bound}], up to the smoothness")
    return Interpolated(name, tuple(points), mu, bound)


def bounded_gradients(gradients: Sequence[Vector], bound: Exact, name: str = "g") -> list[Condition]:
    """|g_i| <= bound, which is >= 0.

    Raises:
        ValueError: the bound is negative.
    """
    G = _at_least_zero(bound, "bound")
    return [Condition(f"{name} bounded({i})", square(g) - G**2, "<=") for i, g in enumerate(gradients)]


def lipschitz_map(pairs: Sequence[tuple[Vector, Vector]], L: Exact, name: str = "T") -> list[Condition]:
    """|T x_i - T x_j| <= L |x_i - x_j| for pairs (x, T x): necessary and sufficient (Kirszbraun).

    Raises:
        ValueError: L is negative.
    """
    bound = _at_least_zero(L, "L") ** 2
    return [
        Condition(f"{name}({i},{j})", square(u - v) - bound * square(x - y), "<=")
        for i, (x, u) in enumerate(pairs)
        for j, (y, v) in enumerate(pairs[:i])
    ]


def monotone(pairs: Sequence[tuple[Vector, Vector]], mu: Exact = 0, name: str = "T") -> list[Condition]:
    """<T x_i - T x_j, x_i - x_j> >= mu |x_i - x_j|^2: necessary and sufficient for a (strongly) monotone operator.

    Raises:
        ValueError: mu is negative.
    """
    modulus = _at_least_zero(mu, "mu")
    return [
        Condition(f"{name}({i},{j})", modulus * square(x - y) - inner(u - v, x - y), "<=")
        for i, (x, u) in enumerate(pairs)
        for j, (y, v) in enumerate(pairs[:i])
    ]


def cocoercive(pairs: Sequence[tuple[Vector, Vector]], beta: Exact, name: str = "T") -> list[Condition]:
    """<T x_i - T x_j, x_i - x_j> >= beta |T x_i - T x_j|^2: necessary and sufficient for a cocoercive operator.

    Raises:
        ValueError: beta is not positive.
    """
    modulus = _positive(beta, "beta")
    return [
        Condition(f"{name}({i},{j})", modulus * square(u - v) - inner(u - v, x - y), "<=")
        for i, (x, u) in enumerate(pairs)
        for j, (y, v) in enumerate(pairs[:i])
    ]


def _inside(space: Space, points: Sequence[Point]) -> None:
    for x, g, f in points:
        for part in (x, g, f):
            if part.space is not space and part.space != space:
                raise ValueError(f"points in {part.space!r} are outside space={space!r}")


def _positive(number: Exact, name: str) -> Fraction:
    value = exact(number, name)
    if value <= 0:
        raise ValueError(f"{name}={number!r} is outside (0, inf)")
    return value


def _at_least_zero(number: Exact, name: str) -> Fraction:
    value = exact(number, name)
    if value < 0:
        raise ValueError(f"{name}={number!r} is outside [0, inf)")
    return value
