"""What piecewise quadratics satisfy: exactly, by their slopes and knots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sim.problems.linear_algebra import root
from theory import predicates as p
from validate.instances.pieces import Pieces, Piecewise, largest_sum
from validate.satisfied.on_ball import piecewise_at_most
from validate.satisfied.rules import Numbers, Rules


def _steepest(f: Piecewise) -> Fraction:
    return max(map(abs, f.slopes))


def _is_smooth(predicate: p.Smooth, problem: Pieces, constants: Numbers) -> bool:
    return all(_steepest(f) <= constants[0] for f in problem.named(predicate.function))


def _best_smooth(predicate: p.Smooth, problem: Pieces) -> Numbers | None:
    return (max(map(_steepest, problem.named(predicate.function))),)


def _is_convex(predicate: p.Convex, problem: Pieces, constants: Numbers) -> bool:
    return all(min(f.slopes) >= 0 for f in problem.named(predicate.function))


def _is_strongly_convex(predicate: p.StronglyConvex, problem: Pieces, constants: Numbers) -> bool:
    mu = constants[0]
    return bool(mu > 0) and all(min(f.slopes) >= mu for f in problem.named(predicate.function))


def _best_strongly_convex(predicate: p.StronglyConvex, problem: Pieces) -> Numbers | None:
    least = min(min(f.slopes) for f in problem.named(predicate.function))
    return (least,) if least > 0 else None


def _steepness(predicate: p.Predicate, problem: Pieces) -> Fraction | None:
    """The largest absolute value of a derivative; None where it is unbounded."""
    bounds = [f.gradient_bound for f in problem.named(predicate.function)]
    found = [bound for bound in bounds if bound is not None]
    return max(found) if len(found) == len(bounds) else None


def _bounded_steepness(predicate: p.Predicate, problem: Pieces, constants: Numbers) -> bool:
    if len(constants) == 2:
        functions = problem.named(predicate.function)
        return all(piecewise_at_most([f], 0, 1, constants[0] ** 2, constants[1]) for f in functions)
    found = _steepness(predicate, problem)
    return found is not None and bool(found <= constants[0])


def _least_steepness(predicate: p.Predicate, problem: Pieces) -> Numbers | None:
    found = _steepness(predicate, problem)
    return None if found is None else (found,)


def _is_stable(predicate: p.Stable, problem: Pieces, constants: Numbers) -> bool:
    step, radius = constants
    if predicate.function == "f_ni":
        groups = [list(own) for own in problem.functions]
    else:
        groups = [[f] for f in problem.named(predicate.function)]
    return all(piecewise_at_most(group, 1, step, radius**2, radius) for group in groups)


def _is_quadratic(predicate: p.Quadratic, problem: Pieces, constants: Numbers) -> bool:
    return not any(f.knots for f in problem.named(predicate.function))


def _is_bounded_below(predicate: p.BoundedBelow, problem: Pieces, constants: Numbers) -> bool:
    return all(f.least is not None for f in problem.named(predicate.function))


def _growth(predicate: p.Predicate, problem: Pieces) -> Fraction | None:
    """The largest mu of pl: 0 where no positive number is one, None where all are."""
    functions = problem.named(predicate.function)
    if any(f.least is None for f in functions):
        return Fraction(0)
    return min((mu for f in functions if (mu := f.growth) is not None), default=None)


def _is_polyak_lojasiewicz(predicate: p.PolyakLojasiewicz, problem: Pieces, constants: Numbers) -> bool:
    found = _growth(predicate, problem)
    return bool(constants[0] > 0) and (found is None or bool(constants[0] <= found))


def _best_polyak_lojasiewicz(predicate: p.PolyakLojasiewicz, problem: Pieces) -> Numbers | None:
    found = _growth(predicate, problem)
    if found == 0:
        return None
    return (Fraction(1),) if found is None else (found,)  # of a constant function, every mu is one


def _is_same_minimiser(predicate: p.SameMinimiser, problem: Pieces, constants: Numbers) -> bool:
    least = problem.mean.least
    if least is None:
        return True
    return all(f.minimised_in(interval) for f in problem.named(predicate.function) for interval in least[1])


def _largest_distance(functions: Sequence[Piecewise], mean: Piecewise) -> Fraction | None:
    """sup over x of the mean of (f'(x) - mean'(x))^2; None where it is infinite."""
    share = Fraction(1, len(functions))
    return largest_sum([(share, f.plus(mean, Fraction(-1))) for f in functions])


def _worst_variance(problem: Pieces) -> Fraction | None:
    found = [_largest_distance(own, mean) for own, mean in zip(problem.functions, problem.own, strict=True)]
    bounds = [bound for bound in found if bound is not None]
    return max(bounds) if len(bounds) == len(found) else None


def _is_bounded_variance(predicate: p.BoundedVariance, problem: Pieces, constants: Numbers) -> bool:
    found = _worst_variance(problem)
    return found is not None and bool(found <= constants[0])


def _best_bounded_variance(predicate: p.BoundedVariance, problem: Pieces) -> Numbers | None:
    found = _worst_variance(problem)
    return None if found is None else (found,)


def _missing(problem: Pieces, B: Fraction) -> Fraction | None:
    """sup over x of mean_n f_n'(x)^2 - B^2 f'(x)^2: what G^2 has to be; None where it is infinite."""
    share = Fraction(1, problem.clients)
    return largest_sum([*((share, f) for f in problem.own), (-(B**2), problem.mean)])


def _is_dissimilar(predicate: p.Dissimilar, problem: Pieces, constants: Numbers) -> bool:
    if predicate.spread:
        found = _largest_distance(problem.own, problem.mean)
    else:
        found = _missing(problem, Fraction(constants[1]))
    return found is not None and bool(found <= Fraction(constants[0]) ** 2)


def _best_dissimilar(predicate: p.Dissimilar, problem: Pieces) -> Numbers | None:
    if predicate.spread:
        found = _largest_distance(problem.own, problem.mean)
        return None if found is None else (root(found),)
    # B is ruled by what is far away, on either side; the least may need an infinite G
    B: Any = Fraction(1)
    for side in (0, -1):
        slope = problem.mean.slopes[side]
        if slope != 0:
            B = max(B, root(sum(f.slopes[side] ** 2 for f in problem.own) / problem.clients / slope**2))
    for slack in (1, 1 + 1e-6, 2):
        larger = Fraction(B) if slack == 1 else Fraction(float(B) * slack).limit_denominator(10**9)
        found = _missing(problem, larger)
        if found is not None:
            return (root(max(found, Fraction(0))), larger)
    return None


RULES = Rules(
    true={
        p.Smooth: _is_smooth,
        p.Convex: _is_convex,
        p.StronglyConvex: _is_strongly_convex,
        p.Stable: _is_stable,
        p.Quadratic: _is_quadratic,
        p.BoundedBelow: _is_bounded_below,
        p.PolyakLojasiewicz: _is_polyak_lojasiewicz,
        p.SameMinimiser: _is_same_minimiser,
        p.BoundedVariance: _is_bounded_variance,
        p.Dissimilar: _is_dissimilar,
        p.Lipschitz: _bounded_steepness,
        p.BoundedGradients: _bounded_steepness,
    },
    best={
        p.Smooth: _best_smooth,
        p.StronglyConvex: _best_strongly_convex,
        p.PolyakLojasiewicz: _best_polyak_lojasiewicz,
        p.BoundedVariance: _best_bounded_variance,
        p.Dissimilar: _best_dissimilar,
        p.Lipschitz: _least_steepness,
        p.BoundedGradients: _least_steepness,
    },
)
