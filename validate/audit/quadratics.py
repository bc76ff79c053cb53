"""The constants of quadratics, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import array
from sim.problems import Quadratic
from sim.problems.linear_algebra import eigenvalues, minimise
from validate.audit.ball import checked_ball, largest
from validate.audit.record import Audit, Measured
from validate.audit.relative_curvature import least_constant, least_relative

Array = NDArray[Any]

CLOSED = "closed form"
EIGEN = "eigenvalues of the Hessians, which are the same everywhere"
_DENOMINATORS = (1, 10**2, 10**4, 10**6)


def audit_quadratic(problem: Quadratic, start: Any, ball: Any, relative: Any) -> Audit:
    """The constants of a `Quadratic`; arguments as of `validate.audit.audit`."""
    found: list[Measured] = []
    omitted: list[tuple[str, str]] = []
    samples = [problem.hessian[n, : int(count)] for n, count in enumerate(problem.counts)]
    groups = {"": problem.mean_hessian[None], "_client": problem.client_hessian, "_sample": np.concatenate(samples)}
    for suffix, matrices in groups.items():
        each = matrices[:, None] if suffix == "_client" else samples if suffix == "_sample" else None
        least = None if each is None else tuple(extremes(own)[0] for own in each)
        size = None if each is None else tuple(_norm(own) for own in each)
        found.append(_exact(f"mu{suffix}", extremes(matrices)[0], EIGEN, least))
        found.append(_exact(f"L{suffix}", _norm(matrices), EIGEN, size))
    found += _minima(problem)
    best = _minimiser(problem)
    if best is None:
        omitted += [(f"{symbol}_min", "f has no unique minimiser") for symbol in ("sigma2", "zeta2", "heterogeneity")]
    else:
        found += _at(problem, best)
    found += _everywhere(problem)
    if ball is None:
        omitted += [(f"{symbol}_ball", "no ball is given") for symbol in ("sigma2", "zeta2")]
    else:
        found += _in_ball(problem, *checked_ball(ball, problem.dim, best, problem.exact))
    found += _relative(problem, relative)
    if start is None:
        omitted += [(symbol, "no start is given") for symbol in ("f0_gap", "distance2")]
    else:
        found += _start(problem, start, best)
    return Audit(repr(problem), tuple(found), tuple(omitted))


def extremes(matrices: Array) -> tuple[Any, Any]:
    """The least and the largest eigenvalue of symmetric matrices (M, d, d).

    A rational extreme of matrices of Fractions is found as one, up to denominators of 10^6: a number at which A - x I
    is singular and semidefinite, by exact elimination, is the extreme eigenvalue of A.
    """
    values = eigenvalues(matrices)
    found: list[Any] = [np.min(values), np.max(values)]
    if matrices.dtype != object:
        return float(found[0]), float(found[1])
    for i, sign in enumerate((1, -1)):
        if not isinstance(found[i], Fraction):
            found[i] = next((x for x in _near(found[i]) if _extreme(sign * matrices, sign * x)), float(found[i]))
    return found[0], found[1]


def _near(value: float) -> list[Fraction]:
    exact = Fraction(float(value))
    return list(dict.fromkeys(exact.limit_denominator(most) for most in _DENOMINATORS))


def _extreme(matrices: Array, value: Fraction) -> bool:
    """Whether it is the least eigenvalue of all."""
    d = matrices.shape[-1]
    zero, shift = np.full(d, Fraction(0), dtype=object), np.diag(np.full(d, value, dtype=object))
    found = [minimise(matrix - shift, zero) for matrix in matrices]
    return all(f is not None for f in found) and any(f is not None and f[1] < d for f in found)


def _norm(matrices: Array) -> Any:
    low, high = extremes(matrices)
    return max(abs(low), abs(high))


def _exact(
    symbol: str, value: Any, how: str, each: Sequence[Any] | None = None, source: str = CLOSED, ball: str = ""
) -> Measured:
    own = None if each is None else tuple(each)
    return Measured(symbol, "exact", how, source, value=value, each=own, ball=ball)


def _minimiser(problem: Quadratic) -> Array | None:
    try:
        return problem.minimiser
    except ValueError:
        return None


def _minima(problem: Quadratic) -> list[Measured]:
    below, domination = minimise(problem.mean_hessian, problem.mean_linear), None
    if below is not None:
        rank = below[1]
        domination = eigenvalues(problem.mean_hessian)[problem.dim - rank] if rank else float("inf")
    if domination is not None and problem.exact and not isinstance(domination, Fraction):
        least = extremes(problem.mean_hessian[None])[0]
        domination = least if least > 0 else domination
    how = "there is none: f is not bounded below" if below is None else "the least curvature of f that is not 0"
    least = problem.optimal_value if below is not None else -np.inf
    minima = tuple(problem.client_minima)
    return [
        _exact("PL", domination, how, source="Karimi, Nutini, Schmidt 2016, section 2.3"),
        _exact("f_min", least, "f where its gradient is 0"),
        _exact("f_n_min", sum(minima) / len(minima), "each as for f", minima),
    ]


def _at(problem: Quadratic, best: Array) -> list[Measured]:
    gradients = problem.client_gradient(best)
    noise = tuple(problem.sampling_noise(best))
    squares = tuple((gradients * gradients).sum(axis=-1))
    where = "at the minimiser x* of f"
    return [
        _exact("sigma2_min", max(noise), where, noise),
        _exact("zeta2_min", max(squares), where, squares),
        _exact("heterogeneity_min", sum(squares) / problem.clients, where, squares),
    ]


def _everywhere(problem: Quadratic) -> list[Measured]:
    zero = np.full(problem.dim, 0, dtype=problem.hessian.dtype)
    noise: Any = float("inf")
    how = "a client's samples differ in their Hessians, so it grows without bound"
    if equal_curvatures(problem):
        noise = problem.sampling_noise(zero).max()
        how = "a client's samples have one Hessian, so it is the same everywhere"
    apart: Any = float("inf")
    why = "the clients differ in their Hessians, so it grows without bound"
    if bool((problem.client_hessian == problem.client_hessian[:1]).all()):
        gaps = problem.client_gradient(zero) - problem.gradient(zero)
        apart, why = (gaps * gaps).sum(axis=-1).max(), "the clients have one Hessian, so it is the same everywhere"
    return [_exact("sigma2_all", noise, how), _exact("zeta2_all", apart, why)]


def _in_ball(problem: Quadratic, centre: Array, radius: Any) -> list[Measured]:
    variances, gaps = [], []
    for n, count in enumerate(int(c) for c in problem.counts):
        own = problem.hessian[n, :count] - problem.client_hessian[n]
        off = own @ centre - (problem.linear[n, :count] - problem.client_linear[n])
        variances.append(_largest(own, off, count, radius))
        apart = problem.client_hessian[n] - problem.mean_hessian
        off = problem.client_gradient(centre)[n] - problem.gradient(centre)
        gaps.append(_largest(apart[None], off[None], 1, radius))
    ball = f"the ball of radius {radius}"
    return [_interval("sigma2_ball", variances, ball), _interval("zeta2_ball", gaps, ball)]


def _largest(matrices: Array, vectors: Array, count: int, radius: Any) -> tuple[Any, Any, bool]:
    """The maximum over ||e|| <= r of the mean of ||A_i e + v_i||^2."""
    form = (matrices @ matrices).sum(axis=0) / count
    linear = (matrices @ vectors[..., None])[..., 0].sum(axis=0) / count
    return largest(form, linear, (vectors * vectors).sum() / count, radius)


def _interval(symbol: str, ends: list[tuple[Any, Any, bool]], ball: str) -> Measured:
    lower, upper = max(low for low, _, _ in ends), max(high for _, high, _ in ends)
    if all(closed for _, _, closed in ends):
        how = "at an end of the interval, or the same everywhere"
        return _exact(symbol, upper, how, [high for _, high, _ in ends], ball=ball)
    how = "below, its value at a point of the ball; above, a Lagrange multiplier of ||x - centre|| <= radius"
    source = "the S-lemma: Boyd and Vandenberghe, Convex Optimization, appendix B"
    return Measured(symbol, "bound", how, source, interval=(lower, upper), ball=ball)


def _relative(problem: Quadratic, relative: Any) -> list[Measured]:
    least = least_relative(problem)
    source = "Assumption 4 of Liu et al., as a quadratic form in (1, x)"
    if least is None:
        why = "there is none: f is flat in a direction in which its clients need not be"
        return [_exact("B2", None, why, source=source)]
    square = 2 * least if relative is None else relative * relative
    constant = least_constant(problem, square)
    chosen = f"B^2 = {square}" + (" (twice the infimum)" if relative is None else "")
    how = chosen if constant is not None else f"there is none for {chosen}"
    return [
        _exact("B2", least, "the largest relative curvature", source=source),
        _exact("G2", constant, how, source=source),
    ]


def _start(problem: Quadratic, start: Any, best: Array | None) -> list[Measured]:
    point = array("start", start, problem.exact)
    if point.shape != (problem.dim,):
        raise ValueError(f"start has shape {point.shape}, not {(problem.dim,)}")
    found = []
    if minimise(problem.mean_hessian, problem.mean_linear) is not None:
        found.append(_exact("f0_gap", problem.suboptimality(point), "the quadratic form at the gap"))
    if best is not None:
        gap = point - best
        found.append(_exact("distance2", (gap * gap).sum(), "the minimiser of f"))
    return found


def equal_curvatures(problem: Quadratic) -> bool:
    """Whether the samples of each client have the same Hessian."""
    clients = zip(problem.hessian, problem.counts, strict=True)
    return all(bool((samples[: int(count)] == samples[0]).all()) for samples, count in clients)
