"""The constants of ridge logistic and softmax regressions: closed forms, proved bounds, and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.problems import RidgeLogistic, RidgeSoftmax
from validate.audit.ball import checked_ball
from validate.audit.record import Audit, Measured, Side
from validate.audit.spectrum import points_in_ball, ritz_extremes

Array = NDArray[Any]
Regression = RidgeLogistic | RidgeSoftmax
Product = Callable[[Array], Array]

_LANCZOS = 40
RIDGE = "without the ridge the curvature is at least 0, and its infimum is 0: along a ray, or where classes move alike"


def audit_regression(problem: Regression, start: Any, seed: int, samples: int, ball: Any, relative: Any) -> Audit:
    """The constants of a regression; arguments as of `validate.audit.audit`."""
    best = problem.minimiser
    found = [*_curvature(problem), *_minima(problem, best), *_at(problem, best), *_everywhere(problem, relative)]
    omitted: list[tuple[str, str]] = []
    if ball is None:
        symbols = ("sigma2", "zeta2", "mu_client", "L_client", "mu", "L")
        omitted += [(f"{symbol}_ball", "no ball is given") for symbol in symbols]
    else:
        centre, radius = checked_ball(ball, problem.dim, best, False)
        found += _in_ball(problem, centre, radius)
        found += _seen(problem, points_in_ball(centre, radius, samples, np.random.default_rng(seed)), seed)
    if start is None:
        omitted += [(symbol, "no start is given") for symbol in ("f0_gap", "distance2")]
    else:
        found += _start(problem, start, best)
    return Audit(repr(problem), tuple(found), tuple(omitted))


def _curvature(problem: Regression) -> list[Measured]:
    features, ridge = problem.features, problem.ridge
    top, centre, source, how = _peak(problem)
    pooled = features.reshape(1, -1, features.shape[-1])
    groups = {"": pooled, "_client": features, "_sample": features.reshape(-1, 1, features.shape[-1])}
    found = []
    for suffix, group in groups.items():
        found.append(Measured(f"mu{suffix}", "exact", RIDGE, _doc(problem), value=ridge))
        if suffix == "_sample":
            moments = np.sum(group * group, axis=(1, 2))
        else:
            moments = np.array([np.linalg.eigvalsh(x.T @ x)[-1] / len(x) for x in group])
        symbol = f"L{suffix}"
        ends = [ridge + share * moments for share in (centre, top)]
        each = tuple(map(float, ends[1])) if suffix == "_client" and centre == top else None
        # one sample alone can be given any probabilities; several have to share the model
        if centre == top or suffix == "_sample":
            found.append(Measured(symbol, "exact", how, source, value=float(ends[1].max()), each=each))
        else:
            both = f"above, {how}; below, the Hessian at 0, where every class has probability 1/{round(1 / centre)}"
            interval = (float(ends[0].max()), float(ends[1].max()))
            found.append(Measured(symbol, "bound", both, source, interval=interval))
    return found


def _peak(problem: Regression) -> tuple[float, float, str, str]:
    """The largest curvature of the loss in the logits, that at the model 0, the source, and a word on it."""
    if isinstance(problem, RidgeLogistic):
        return 1 / 4, 1 / 4, _doc(problem), "the logistic curvature is at most 1/4, and 1/4 at the model 0"
    how = "the Hessian diag(p) - pp' in the logits is at most I/2, for which two classes share the probability"
    return 1 / 2, 1 / problem.classes, _doc(problem), how


def _doc(problem: Regression) -> str:
    return f"sim.problems.{type(problem).__name__}"


def _minima(problem: Regression, best: Array) -> list[Measured]:
    ridge = problem.ridge
    how = "above, f at the end of Newton's method; below, that less ||grad f||^2/(2 ridge)"
    source = "strong convexity with the modulus ridge"
    slope = problem.gradient(best).mean(axis=0)
    value = float(problem.loss(best).mean())
    f_min = Measured("f_min", "bound", how, source, interval=(value - float(slope @ slope) / 2 / ridge, value))
    points = problem.minimisers()
    values, slopes = problem.loss(points), np.sum(problem.gradient(points) ** 2, axis=1) / (2 * ridge)
    how = how.replace("f at", "f_n at").replace("grad f|", "grad f_n|")
    ends = (float((values - slopes).mean()), float(values.mean()))
    f_n_min = Measured("f_n_min", "bound", how, source, interval=ends, each=tuple(map(float, values)))
    least = _least_curvature(problem, _of_mean(hessian_product(problem, best)))
    how = "below, the ridge; above, a Rayleigh quotient of the Hessian of f at its minimiser, near the least"
    source = "Karimi, Nutini, Schmidt 2016, theorem 2: the inequality implies quadratic growth"
    interval = (ridge, max(ridge, least))
    return [Measured("PL", "bound", how, source, interval=interval), f_min, f_n_min]


def _at(problem: Regression, best: Array) -> list[Measured]:
    size = float(np.linalg.norm(problem.gradient(best).mean(axis=0)))
    how = f"evaluated at the end of Newton's method, where ||grad f|| = {size:.2g}"
    noise, slopes = problem.variance_at(best, 1), problem.gradient(best)
    gaps, squares = np.sum((slopes - slopes.mean(axis=0)) ** 2, axis=1), np.sum(slopes**2, axis=1)
    rows = [
        ("sigma2_min", noise.max(), noise),
        ("zeta2_min", gaps.max(), gaps),
        ("heterogeneity_min", squares.mean(), squares),
    ]
    return [
        Measured(symbol, "exact", how, _doc(problem), value=float(value), each=tuple(map(float, each)))
        for symbol, value, each in rows
    ]


def _reach(problem: Regression) -> Array:
    """(N,): a bound on the norm of the gradient of f_n without its ridge, at every point."""
    lengths = np.linalg.norm(problem.features, axis=2).mean(axis=1)
    return np.asarray(lengths * (1.0 if isinstance(problem, RidgeLogistic) else np.sqrt(2.0)))


def _everywhere(problem: Regression, relative: Any) -> list[Measured]:
    reach, best = _reach(problem), problem.minimiser
    noise = float(problem.variance_at(best, 1).max())
    slopes = problem.gradient(best)
    gaps = np.sum((slopes - slopes.mean(axis=0)) ** 2, axis=1)
    source = "without its ridge, a sample's gradient has at most the norm of its features (softmax: sqrt(2) times that)"
    how = "below, at the minimiser of f; above, from the largest norms of gradients without the ridge"
    ends = (float(gaps.max()), float(np.max(reach + reach.mean()) ** 2))
    found = [
        _variance(problem, "sigma2_all", noise, "at the minimiser of f"),
        Measured("zeta2_all", "bound", how, source, interval=ends),
    ]
    square = 1.0 if relative is None else float(relative) ** 2
    if square >= 1:
        # mean ||g_n||^2 = ||g||^2 + mean ||g_n - g||^2, and a variance is at most a second moment
        how = f"B^2 = {square}; above, the mean square of the largest norms of gradients without the ridge"
        found.append(Measured("G2", "bound", how, source, interval=(float(gaps.mean()), float(np.mean(reach**2)))))
    return found


def _variance(problem: Regression, symbol: str, lower: float, where: str, ball: str = "") -> Measured:
    how, source = f"below, {where}; above, a bound for every model", f"{_doc(problem)}.variance_bound"
    return Measured(symbol, "bound", how, source, interval=(lower, problem.variance_bound(1)), ball=ball)


def _in_ball(problem: Regression, centre: Array, radius: float) -> list[Measured]:
    top, _, _, _ = _peak(problem)
    slopes, features = problem.gradient(centre), problem.features
    gaps = np.linalg.norm(slopes - slopes.mean(axis=0), axis=1)
    own = np.array([np.linalg.eigvalsh(x.T @ x)[-1] / len(x) for x in features])
    pooled = features.reshape(-1, features.shape[-1])
    together = float(np.linalg.eigvalsh(pooled.T @ pooled)[-1]) / len(pooled)
    steep = top * np.maximum(own, together)  # the Hessians, without the ridge, are between 0 and this
    reach = _reach(problem)
    upper = np.minimum(gaps + radius * steep, reach + reach.mean()) ** 2
    ball = f"the ball of radius {radius}"
    how = "below, at the centre; above, that and the largest change of the difference on the way"
    ends = (float(gaps.max() ** 2), float(upper.max()))
    found = [
        Measured("zeta2_ball", "bound", how, "smoothness of f_n - f", interval=ends, ball=ball),
        _variance(problem, "sigma2_ball", float(problem.variance_at(centre, 1).max()), "at the centre", ball),
    ]
    products = (hessian_product(problem, centre, n) for n in range(problem.clients))
    least = min(_least_curvature(problem, _of_mean(product)) for product in products)
    lower = problem.ridge
    if isinstance(problem, RidgeLogistic):
        lower = problem.strong_convexity_on(float(np.linalg.norm(centre)) + radius)
    how = "below, from the largest margins in the ball, or the ridge; above, Rayleigh quotients at the centre"
    ends = (lower, max(lower, least))
    return [*found, Measured("mu_client_ball", "bound", how, _doc(problem), interval=ends, ball=ball)]


def hessian_product(problem: Regression, point: Array, client: int | None = None) -> Product:
    """v (d,) -> (N, d), the Hessians of the f_n at a point times v; (1, d), that of one client only."""
    x = problem.features if client is None else problem.features[client : client + 1]
    n, ridge = problem.samples, problem.ridge
    if isinstance(problem, RidgeLogistic):
        margins = x @ point
        curvature = np.exp(-np.logaddexp(0, margins) - np.logaddexp(0, -margins))

        def logistic(v: Array) -> Array:
            return np.einsum("nj,njd->nd", curvature * (x @ v), x) / n + ridge * v

        return logistic
    logits = x @ point.reshape(problem.classes, -1).T
    powers = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = powers / powers.sum(axis=2, keepdims=True)

    def softmax(v: Array) -> Array:
        u = x @ v.reshape(problem.classes, -1).T
        image = p * (u - np.sum(p * u, axis=2, keepdims=True))
        return np.einsum("njc,njd->ncd", image, x).reshape(len(x), -1) / n + ridge * v

    return softmax


def _least_curvature(problem: Regression, product: Product) -> float:
    """A Rayleigh quotient of a Hessian near its least: no smaller than that, and equal in at most 40 dimensions."""
    return ritz_extremes(product, problem.dim, _LANCZOS, np.random.default_rng(0))[0]


def _seen(problem: Regression, points: Array, seed: int) -> list[Measured]:
    """What is seen at these points: of suprema from below, of infima from above."""
    random = np.random.default_rng([seed, 1])
    low, high = {"": np.inf, "_client": np.inf}, {"": -np.inf, "_client": -np.inf}
    noise = apart = -np.inf
    for point in points:
        slopes = problem.gradient(point)
        noise = max(noise, float(problem.variance_at(point, 1).max()))
        apart = max(apart, float(np.sum((slopes - slopes.mean(axis=0)) ** 2, axis=1).max()))
        products = [("", hessian_product(problem, point))]
        products += [("_client", hessian_product(problem, point, n)) for n in range(problem.clients)]
        for suffix, product in products:
            least, most = ritz_extremes(_of_mean(product), problem.dim, _LANCZOS, random)
            low[suffix], high[suffix] = min(low[suffix], least), max(high[suffix], most)
    where = f"at {len(points)} points of the ball"
    quotients = f"Rayleigh quotients of the Hessians {where}, by Lanczos' method"
    rows: list[tuple[str, str, float, Side]] = []
    for suffix in ("", "_client"):
        rows.append((f"mu{suffix}_ball", quotients, low[suffix], "at most"))
        rows.append((f"L{suffix}_ball", quotients, high[suffix], "at least"))
    rows.append(("sigma2_ball", f"evaluated {where}", noise, "at least"))
    rows.append(("zeta2_ball", f"evaluated {where}", apart, "at least"))
    return [Measured(symbol, "sample", how, "", value=value, side=side) for symbol, how, value, side in rows]


def _of_mean(product: Product) -> Product:
    return lambda v: product(v).mean(axis=0)


def _start(problem: Regression, start: Any, best: Array) -> list[Measured]:
    point = np.asarray(start, dtype=np.float64)
    if point.shape != (problem.dim,):
        raise ValueError(f"start has shape {point.shape}, not {(problem.dim,)}")
    rows = (
        ("f0_gap", float(problem.loss(point).mean() - problem.loss(best).mean())),
        ("distance2", float(np.sum((point - best) ** 2))),
    )
    how = "to the end of Newton's method"
    return [Measured(symbol, "exact", how, _doc(problem), value=value) for symbol, value in rows]
