"""What is assumed on a ball around 0 only."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .intervals import Interval
from .points import Points
from .reading import Uncheckable, shown
from .ridges import Ridge, Ridges
from .ridges_assumed import DECIDE as DECIDE_OF_RIDGES
from .scalars import ZERO, square
from .spoken import World


def on_ball(assumption: Any, world: World, constants: Sequence[Fraction]) -> bool:
    """Whether the mean of the squared norms of keep*x - factor*grad(x) is at most a bound on the ball around 0.

    Gradients are (keep, factor) = (0, 1), a step of size s is (1, s). In one dimension the mean is convex between knots
    and so largest at the ends of the ball or at a knot; else where it is a multiple of norm2 and a linear part.

    Raises:
        Uncheckable: for other functions of two or more coordinates, and for a step or radius that is no fraction.
    """
    problem, (first, radius) = world.given_problem(), constants
    moved = assumption.name == "stable"
    if radius < 0 or (not moved and first < 0):
        return False
    if moved and any(isinstance(world.value(tree, {}, None), Interval) for tree in assumption.constants):
        raise Uncheckable(f"a constant of {shown(assumption.text)} is no fraction")
    if isinstance(problem, Points):
        if moved:
            raise Uncheckable("where a step takes functions that are known at points only")
        return all(f.G is not None and first >= f.G for f, _ in problem.all_named(assumption.function))
    if isinstance(problem, Ridges) and problem.d > 1:
        everywhere = not moved and all(
            DECIDE_OF_RIDGES["bounded_gradients"](problem, f, first) for f, _ in problem.all_named(assumption.function)
        )
        if not everywhere:
            raise Uncheckable("whether it holds on a ball, of functions of several variables that are no quadratics")
        return True
    keep, factor, bound = (Fraction(1), first, radius**2) if moved else (ZERO, Fraction(1), first**2)
    groups: list[list[Any]] = [[f] for f, _ in problem.all_named(assumption.function)]
    if moved and assumption.function == "f_ni":
        groups = [list(own) for own in problem.samples]
    return all(_on_ball(group, keep, factor, bound, radius) for group in groups)


def _on_ball(group: Sequence[Any], keep: Fraction, factor: Fraction, bound: Fraction, radius: Fraction) -> bool:
    d = group[0].d
    if d == 1:
        knots = {t / a for f in group if isinstance(f, Ridge) for (a,), phi in f.terms.items() for t in phi.knots}
        places = {-radius, radius, *(t for t in knots if -radius < t < radius)}
        totals = [sum((keep * x - factor * f.gradient((x,))[0]) ** 2 for f in group) for x in places]
        return all(total <= bound * len(group) for total in totals)
    slope, linear, rest = ZERO, [ZERO] * d, bound * len(group)
    for f in group:
        s = keep - factor * f.H[0][0]
        if any(f.H[i][j] != (f.H[0][0] if i == j else 0) for i in range(d) for j in range(d)):
            raise Uncheckable("whether it holds on a ball, where curvatures differ")
        slope, rest = slope + s * s, rest - factor**2 * square(f.b)
        linear = [a + s * factor * b for a, b in zip(linear, f.b, strict=True)]
    room = rest - slope * radius**2
    return room >= 0 and 4 * radius**2 * square(tuple(linear)) <= room**2
