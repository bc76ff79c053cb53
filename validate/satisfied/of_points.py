"""What is true of every function that a problem given by points may stand for: assumptions that its classes imply.

Nothing is looked for beyond the classes and the minimisers that are listed, so an assumption may well be true of some
functions, or of all, without being told here. All that is told is true of one choice of functions at once: of any, but
that `bounded_below` may need the largest function of a class with mu <= 0 (`validate.instances.point_functions`).
"""

from __future__ import annotations

from fractions import Fraction

from theory import predicates as p
from validate.instances.points import Points
from validate.satisfied.rules import Numbers, Rules


def _implied(predicate: p.Predicate, problem: Points, constants: Numbers) -> bool | None:
    """Whether an assumption is true with these constants.

    Returns:
        True where the classes imply it; None where they do not tell.
    """
    if isinstance(predicate, p.Dissimilar) and not predicate.spread:
        G, B = constants
        bound = _longest(problem)
        apart = problem.clients == 1 and B >= 1
        return True if G >= 0 and (apart or (bound is not None and bound <= G)) else None
    rule = RULES.best.get(type(predicate))
    best = None if rule is None else rule(predicate, problem)
    if best is None:
        return None
    if isinstance(predicate, p.BoundedGradients) and predicate.on_ball:  # what is true everywhere is true there
        return True if constants[0] >= best[0] else None
    within = zip(predicate.directions, constants, best, strict=True)
    return True if all(0 < c <= b if way == "down" else c >= b for way, c, b in within) else None


# --- one function -----------------------------------------------------------------------------------------------------


def _smooth(predicate: p.Smooth, problem: Points) -> Numbers | None:
    """The mean of functions with curvature between mu_i and L_i has curvature between the means of these."""
    bounds = [problem.curvature(*which) for which in problem.named(predicate.function)]
    return (max(max(L, -mu) for mu, L in bounds),)


def _flattest(problem: Points, name: str) -> Fraction:
    return min(problem.curvature(*which)[0] for which in problem.named(name))


def _convex(predicate: p.Convex, problem: Points) -> Numbers | None:
    return () if _flattest(problem, predicate.function) >= 0 else None


def _strongly_convex(predicate: p.Predicate, problem: Points) -> Numbers | None:
    """Of `PolyakLojasiewicz` too: a strongly convex function satisfies it with the same constant."""
    mu = _flattest(problem, predicate.function)
    return (mu,) if mu > 0 else None


def _steepness(predicate: p.Predicate, problem: Points) -> Numbers | None:
    bounds = [problem.steepness(*which) for which in problem.named(predicate.function)]
    found = [bound for bound in bounds if bound is not None]
    return (max(found),) if len(found) == len(bounds) else None


def _bounded_below(predicate: p.BoundedBelow, problem: Points) -> Numbers | None:
    return () if all(_has_floor(problem, which) for which in problem.named(predicate.function)) else None


def _has_floor(problem: Points, which: tuple[int, ...]) -> bool:
    """Strongly convex, or known to have a minimiser, or the mean of functions that are each bounded below."""
    if problem.curvature(*which)[0] > 0 or problem.least(*which)[1] is not None:
        return True
    parts = [(n, i) for n, i in problem.named("f_ni") if (n, i)[: len(which)] == which]
    return len(which) < 2 and all(_has_floor(problem, part) for part in parts)


def _same_minimiser(predicate: p.SameMinimiser, problem: Points) -> Numbers | None:
    """All convex, with a common minimiser z: f is least at y only if f_i(y) - f_i(z) >= 0, with mean 0, are all 0."""
    functions = problem.named(predicate.function)
    if len(functions) == 1:
        return ()  # it is f itself
    if _flattest(problem, predicate.function) < 0:
        return None
    common = (z for z in problem.least()[0] if all(not any(problem.gradient(z, *which)) for which in functions))
    return () if next(common, None) is not None else None


# --- all clients ------------------------------------------------------------------------------------------------------


def _longest(problem: Points) -> Fraction | None:
    """A bound on the norms of all gradients of clients."""
    bounds = [problem.steepness(n) for n in range(problem.clients)]
    found = [bound for bound in bounds if bound is not None]
    return max(found) if len(found) == len(bounds) else None


def _variance(predicate: p.BoundedVariance, problem: Points) -> Numbers | None:
    """Nothing varies with one sample; else the variance is at most the mean square."""
    worst = Fraction(0)
    for own in problem.functions:
        if len(own) > 1:
            squares = [f.G**2 for f in own if f.G is not None]
            if len(squares) < len(own):
                return None
            worst = max(worst, sum(squares, Fraction(0)) / len(own))
    return (worst,)


def _dissimilar(predicate: p.Dissimilar, problem: Points) -> Numbers | None:
    """One client is its own mean; else the distances from the mean, and the norms, are at most the longest gradient."""
    if problem.clients == 1:
        return (Fraction(0),) if predicate.spread else (Fraction(0), Fraction(1))
    bound = _longest(problem)
    if bound is None:
        return None
    return (bound,) if predicate.spread else (bound, Fraction(0))


RULES = Rules(
    true=dict.fromkeys(p.PREDICATES.values(), _implied),
    best={
        p.Smooth: _smooth,
        p.Convex: _convex,
        p.StronglyConvex: _strongly_convex,
        p.PolyakLojasiewicz: _strongly_convex,
        p.Lipschitz: _steepness,
        p.BoundedGradients: _steepness,
        p.BoundedBelow: _bounded_below,
        p.SameMinimiser: _same_minimiser,
        p.BoundedVariance: _variance,
        p.Dissimilar: _dissimilar,
    },
)
"""The best constants are those that the classes imply; of other assumptions nothing is known."""
