"""What is known to be true of functions that are sums of piecewise quadratics along directions (`ridges`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .pieces import Ends, Piece, between, gaps
from .quadratics import semidefinite
from .reading import Uncheckable
from .ridges import Ridge, Ridges, along, axes_of, mean_of
from .scalars import ONE, ZERO, Work, square
from .stretches import bottom

MOST_CORNERS = 4_096


def _smooth(problem: Ridges, f: Ridge, L: Fraction) -> bool:
    above = [[-x for x in row] for row in f.bounded_by(True, -L)]
    return semidefinite(above) and semidefinite(f.bounded_by(False, L))


def _strongly_convex(problem: Ridges, f: Ridge, mu: Fraction) -> bool:
    return mu > 0 and semidefinite(f.bounded_by(False, -mu))


def _bounded(problem: Ridges, f: Ridge, G: Fraction) -> bool:
    """Along orthogonal axes each derivative by itself; else the gradient is in the hull of the corners of their box."""
    axes = axes_of([f])
    if axes is not None:
        lines = [along(f, a) for a in axes]
        if G < 0 or any(line.slopes[0] != 0 or line.slopes[-1] != 0 for line in lines):
            return False
        steepest = [max(steep * steep for _, _, steep in line.places) for line in lines]
        return sum((square(a) * most for a, most in zip(axes, steepest, strict=True)), ZERO) <= G**2
    corners: list[Sequence[Fraction]] = [[-y for y in f.b]]
    for a, phi in f.terms.items():
        if phi.slopes[0] != 0 or phi.slopes[-1] != 0 or 2 * len(corners) > MOST_CORNERS:
            return False
        steep = [steep for _, _, steep in phi.places]
        problem.work.spend(2 * len(corners) * len(a))
        corners = [
            [g + end * y for g, y in zip(at, a, strict=True)] for at in corners for end in (min(steep), max(steep))
        ]
    return G >= 0 and all(square(tuple(at)) <= G**2 for at in corners)


def _pl(problem: Ridges, f: Ridge, mu: Fraction) -> bool:
    """Strongly convex, or true along each axis: norm2 of the gradient is the sum of |a|^2 phi'^2."""
    if _strongly_convex(problem, f, mu):
        return True
    axes = axes_of([f])
    return axes is not None and all(_grows(along(f, a), mu / square(a), problem.work) for a in axes)


def _grows(line: Piece, mu: Fraction, work: Work) -> bool:
    """Whether phi'^2 >= 2*mu*(phi - its least value) everywhere."""
    work.spend(10 * len(line.slopes))
    found = line.minima()
    if mu <= 0 or found is None:
        return False
    for (low, high), (p, q, r) in line.segments():  # (2 p x + q)^2 - 2 mu (p x^2 + q x + r - least)
        room = bottom(4 * p * p - 2 * mu * p, 4 * p * q - 2 * mu * q, q * q - 2 * mu * (r - found[0]), low, high)
        if room is None or room < 0:
            return False
    return True


def _bounded_below(problem: Ridges, f: Ridge) -> bool:
    try:
        return problem.least(f) is not None
    except Uncheckable:
        return False


def _same_minimiser(problem: Ridges, f: Ridge) -> bool:
    """All functions that f stands for are looked at: along common axes, or all convex, with a common minimiser.

    If z minimises each, and all are convex, then whatever else minimises their mean minimises each.
    """
    if f is problem.mean:
        return True
    level = problem.own if any(f is own for own in problem.own) else [g for own in problem.samples for g in own]
    axes = axes_of([problem.mean, *level])
    if axes is not None:
        means = [along(problem.mean, a).minima() for a in axes]
        if any(mean is None for mean in means):
            return True
        owns = [along(f, a).minima() for a in axes]
        return all(
            mean is not None and own is not None and all(any(_inside(one, two) for two in own[1]) for one in mean[1])
            for mean, own in zip(means, owns, strict=True)
        )
    least = problem.least(problem.mean)
    if least is None:
        return True
    return all(g.convex and not any(g.gradient(least[0])) for g in level)


def _inside(one: Ends, two: Ends) -> bool:
    (a, b), (low, high) = one, two
    left = low is None or (a is not None and low <= a)
    return left and (high is None or (b is not None and b <= high))


DECIDE: Mapping[str, Callable[..., bool]] = {
    "smooth": _smooth,
    "convex": lambda problem, f: f.convex,
    "strongly_convex": _strongly_convex,
    "lipschitz": _bounded,
    "bounded_gradients": _bounded,
    "quadratic": lambda problem, f: all(len(set(phi.slopes)) == 1 for phi in f.terms.values()),
    "pl": _pl,
    "bounded_below": _bounded_below,
    "same_minimiser": _same_minimiser,
}
"""Whether an assumption is known to be true of a function: of the problem, the function, the constants."""


# --- how far apart gradients are --------------------------------------------------------------------------------------


def _largest(problem: Ridges, terms: Sequence[tuple[Fraction, Piece]]) -> Fraction | None:
    """The supremum of the sum of factor*f'^2; None where it is infinite."""
    knots = sorted({t for _, f in terms for t in f.knots})
    problem.work.spend(8 * len(terms) * (len(knots) + 1))
    found: list[Fraction] = []
    for low, high in gaps(knots):
        inside = between(low, high)
        p = q = r = ZERO  # the sum is p x^2 + q x + r there
        for factor, f in terms:
            j = f.segment(inside)
            at, _, steep = f.places[j]
            slope, height = f.slopes[j], steep - f.slopes[j] * at
            p, q, r = p + factor * slope * slope, q + 2 * factor * slope * height, r + factor * height * height
        if (low is None or high is None) and p > 0:
            return None
        if p == 0 and ((low is None and q < 0) or (high is None and q > 0)):
            return None
        places = [x for x in (low, high) if x is not None]
        if p < 0:
            top = -q / (2 * p)
            if (low is None or low < top) and (high is None or top < high):
                places.append(top)
        found += [p * x * x + q * x + r for x in places or [inside]]
    return max(found)


def _never_more(problem: Any, terms: Sequence[tuple[Fraction, Ridge]], bound: Fraction) -> bool:
    """Whether everywhere the sum of factor*norm2(gradient) is at most the bound.

    It is a sum over axes, each of its own variable; the largest values of its parts are taken together.
    """
    axes = axes_of([f for _, f in terms])
    if axes is None:
        raise Uncheckable("how far apart gradients are, where directions are not orthogonal")
    total = ZERO
    for a in axes:
        most = _largest(problem, [(factor, along(f, a)) for factor, f in terms])
        if most is None:
            return False
        total += square(a) * most
    return total <= bound


def _apart(problem: Any, functions: Sequence[Ridge], mean: Ridge, bound: Fraction) -> bool:
    share = Fraction(1, len(functions))
    # twice the mean of two, one of them negative, is the difference
    away = [mean_of([f, mean], problem.work, (Fraction(2), Fraction(-2))) for f in functions]
    return _never_more(problem, [(share, f) for f in away], bound)


def variance(problem: Any, n: int, sigma2: Fraction) -> bool:
    """Whether mean_i norm2(grad f_ni - grad f_n) <= sigma2 everywhere."""
    return _apart(problem, problem.samples[n], problem.own[n], sigma2)


def dissimilar(problem: Any, constants: Sequence[Fraction]) -> bool:
    """Whether the clients' gradients are as near to their mean as the one or two constants say."""
    if any(c < 0 for c in constants):
        return False
    if problem.N == 1 and (len(constants) == 1 or constants[1] >= ONE):
        return True
    if len(constants) == 1:
        return _apart(problem, problem.own, problem.mean, constants[0] ** 2)
    share = Fraction(1, problem.N)
    terms = [*((share, f) for f in problem.own), (-(constants[1] ** 2), problem.mean)]
    return _never_more(problem, terms, constants[0] ** 2)
