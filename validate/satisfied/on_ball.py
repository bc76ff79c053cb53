"""Is the mean of squared affine maps at most a bound everywhere on a ball around 0? Exactly, for fractions.

The maximum of a convex function over a ball is on its edge. In one dimension these are two points, and for piecewise
affine maps the knots beside them. In more dimensions a multiplier shows it: bound - q(x) - lam (R^2 - |x|^2) is a sum
of squares (the S-lemma, which is exact here). The multiplier is looked for in floats, and checked as a fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from theory.mixing import maximise
from theory.psd import is_psd
from validate.instances.pieces import Piecewise

F = Fraction
PARTS = 10**6
"""Denominator of a multiplier."""


def squares_at_most(maps: Sequence[tuple[Any, Any]], bound: Any, radius: Any) -> bool:
    """Whether mean |A x + c|^2 <= bound wherever |x| <= radius.

    Args:
        maps: matrices A (d, d) and vectors c (d,), in fractions.
        bound, radius: fractions, not negative.

    Returns:
        False too where it is true with next to no room to spare, in two or more dimensions.
    """
    count = len(maps)
    form = sum(a.T @ a for a, _ in maps) / F(count)
    linear = sum(a.T @ c for a, c in maps) / F(count)
    rest = bound - sum((c * c).sum() for _, c in maps) / F(count)
    d = len(linear)
    if radius < 0:
        return True
    if d == 1:
        return all(form[0, 0] * x * x + 2 * linear[0] * x <= rest for x in (radius, -radius))
    if all(form[i, j] == (form[0, 0] if i == j else 0) for i in range(d) for j in range(d)):
        room = rest - form[0, 0] * radius**2
        return bool(room >= 0 and 4 * radius**2 * (linear * linear).sum() <= room**2)
    if radius == 0:
        return bool(rest >= 0)
    doubled = 2 * form.astype(float)
    found = maximise((doubled + doubled.T) / 2, 2 * linear.astype(float), 0.0, float(radius)).sigma / 2
    for lam in dict.fromkeys(F(round(found * PARTS) + extra, PARTS) for extra in (0, 1, 10, 1000)):
        matrix = [[(lam if i == j else F(0)) - form[i, j] for j in range(d)] + [-linear[i]] for i in range(d)]
        matrix.append([*(-linear), rest - lam * radius**2])
        if is_psd([[F(x) for x in row] for row in matrix]):
            return True
    return False


def piecewise_at_most(functions: Sequence[Piecewise], keep: Any, scale: Any, bound: Any, radius: Any) -> bool:
    """Whether mean (keep*x - scale*f'(x))^2 <= bound wherever |x| <= radius: between knots it is convex."""
    places = {-radius, radius, *(t for f in functions for t in f.knots if abs(t) < radius)}
    return all(
        sum((keep * x - scale * f.derivative(x)) ** 2 for f in functions) <= bound * len(functions) for x in places
    )
