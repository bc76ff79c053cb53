"""What is known to be true of functions with a continuous, piecewise linear derivative (`pieces`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from .pieces import Ends, Parabola, Piece, Pieces


def never_negative(parabola: Parabola, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether p x^2 + q x + r >= 0 for every x of an interval."""
    p, q, r = parabola
    if any(p * x * x + q * x + r < 0 for x in (low, high) if x is not None):
        return False
    if low is None or high is None:
        if p < 0 or (p == 0 and ((high is None and q < 0) or (low is None and q > 0))):
            return False
        if p == 0 and q == 0 and r < 0:
            return False
    if p > 0:
        x = -q / (2 * p)
        if (low is None or low < x) and (high is None or x < high):
            return r + q * x / 2 >= 0
    return True


def _bounded(problem: Pieces, f: Piece, G: Fraction) -> bool:
    if G < 0 or f.slopes[0] != 0 or f.slopes[-1] != 0:
        return False
    return all(abs(steep) <= G for _, _, steep in f.places)  # the places are all knots, and 0


def _pl(problem: Pieces, f: Piece, mu: Fraction) -> bool:
    found = problem.minima(f)
    if mu <= 0 or found is None:
        return False
    for (low, high), (p, q, r) in f.segments():  # (2 p x + q)^2 - 2 mu (p x^2 + q x + r - least)
        excess = (4 * p * p - 2 * mu * p, 4 * p * q - 2 * mu * q, q * q - 2 * mu * (r - found[0]))
        if not never_negative(excess, low, high):
            return False
    return True


def _same_minimiser(problem: Pieces, f: Piece) -> bool:
    mean, own = problem.minima(problem.mean), problem.minima(f)
    if mean is None:
        return True
    return own is not None and all(any(inside(one, two) for two in own[1]) for one in mean[1])


def inside(one: Ends, two: Ends) -> bool:
    """Whether an interval lies in another."""
    (a, b), (low, high) = one, two
    left = low is None or (a is not None and low <= a)
    return left and (high is None or (b is not None and b <= high))


DECIDE: Mapping[str, Callable[..., bool]] = {
    "smooth": lambda problem, f, L: min(f.slopes) >= -L and max(f.slopes) <= L,
    "convex": lambda problem, f: min(f.slopes) >= 0,
    "strongly_convex": lambda problem, f, mu: 0 < mu <= min(f.slopes),
    "lipschitz": _bounded,
    "bounded_gradients": _bounded,
    "quadratic": lambda problem, f: len(set(f.slopes)) == 1,
    "pl": _pl,
    "bounded_below": lambda problem, f: problem.minima(f) is not None,
    "same_minimiser": _same_minimiser,
}
"""Whether an assumption is true of a function: of the problem, the function, the constants."""
