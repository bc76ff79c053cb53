"""What can be seen of losses that are given as torch functions: samples only, never bounds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, real
from validate.audit.record import Audit, Measured
from validate.audit.spectrum import points_in_ball, ritz_extremes

Array = NDArray[Any]
Loss = Callable[[Any], Any]

# A decrease of f below this, relative to its size, is rounding, and says nothing about the PL constant.
_GAP = 1e-9
_HOW = "largest of Rayleigh quotients of the Hessians (double backward, Lanczos' method) and of difference quotients"


def audit_torch(
    losses: Sequence[Any] | Callable[[int, Any], Any],
    dim: int,
    clients: int | None = None,
    *,
    centre: Any = None,
    radius: Any = 1.0,
    points: int = 20,
    seed: int = 0,
    lanczos: int = 40,
    relative: Any = 1.0,
) -> Audit:
    """What is seen of the constants of torch losses at points of a ball. Every entry has the status "sample".

    The largest curvature that is seen is at most L, and the smallest at least mu: a sample bounds L from below and mu
    from above, and never the other way round. The same holds for the variance and the dissimilarity (from below), the
    minima and the PL constant (from above). What the losses do between the points is not known.

    Curvatures come from Hessian-vector products, for losses that torch can differentiate twice, and from differences of
    gradients between points, which also see kinks. f is the plain mean of the clients' losses.

    Args:
        losses: one a client: a function w -> scalar tensor, or a sequence of such functions, its samples, whose mean it
            is. Or one function (client, w) -> scalar tensor; `clients` is then needed. w is a float64 tensor (d,).
        dim: d, at least 1.
        clients: N.
        centre: (d,), of the ball; 0 by default.
        radius: of the ball, in [0, inf).
        points: how many are looked at, at least 1; the first is the centre, the others are uniform in the ball.
        seed: of the points and of the first directions of Lanczos' method.
        lanczos: its steps; with at least d of them it finds the extreme eigenvalues at a point.
        relative: B in [0, inf), for the G^2 of (G, B)-dissimilarity.

    Raises:
        ValueError: an argument outside its domain, a loss that is not a scalar that depends on w by operations that
            torch can differentiate, or one that is not finite at a point.
    """
    dim, points, steps = integer("dim", dim, 1), integer("points", points, 1), integer("lanczos", lanczos, 1)
    reach, ratio = real("radius", radius, "[0, inf)"), real("relative", relative, "[0, inf)")
    for name, value in (("radius", reach), ("relative", ratio)):
        if value < 0:
            raise ValueError(f"{name}={value} is outside [0, inf)")
    middle = np.zeros(dim) if centre is None else float_array("centre", centre)
    if middle.shape != (dim,):
        raise ValueError(f"centre has shape {middle.shape}, not {(dim,)}")
    functions, sampled = _functions(losses, clients)
    random = np.random.default_rng(integer("seed", seed, 0))
    places = points_in_ball(middle, reach, points, random)
    groups: dict[str, list[Loss]] = {"": [_mean(functions)], "_client": functions}
    if sampled is not None:
        groups["_sample"] = [loss for own in sampled for loss in own]
    curvature = {suffix: _curvature(group, places, steps, random) for suffix, group in groups.items()}
    slopes = np.stack([np.stack([_gradient(loss, w)[1] for loss in functions]) for w in places])
    found = []
    where = f"{len(places)} points of the ball of radius {reach:g}"
    for suffix, (low, high) in curvature.items():
        how, least = f"{_HOW}, at {where}", _HOW.replace("largest", "least", 1) + f", at {where}"
        found.append(_seen(f"mu{suffix}", low, "at most", least))
        found.append(_seen(f"L{suffix}", high, "at least", how))
    found += _minima(functions, groups[""][0], places, where)
    mean = slopes.mean(axis=1)
    gaps = np.sum((slopes - mean[:, None]) ** 2, axis=2)
    found.append(_seen("zeta2_ball", float(gaps.max()), "at least", f"evaluated at {where}"))
    excess = np.mean(np.sum(slopes**2, axis=2), axis=1) - ratio**2 * np.sum(mean**2, axis=1)
    how = f"B^2 = {ratio**2:g}; mean ||grad f_n||^2 - B^2 ||grad f||^2 at {where}"
    found.append(_seen("G2", max(0.0, float(excess.max())), "at least", how))
    omitted = []
    if sampled is None:
        omitted = [(symbol, "no losses of samples are given") for symbol in ("sigma2_ball", "L_sample", "mu_sample")]
    else:
        noise = max(_variance(own, w) for own in sampled for w in places)
        found.append(_seen("sigma2_ball", noise, "at least", f"evaluated at {where}"))
    return Audit(f"torch losses(clients={len(functions)}, dim={dim})", tuple(found), tuple(omitted))


def _seen(symbol: str, value: float, side: Any, how: str, each: tuple[Any, ...] | None = None) -> Measured:
    return Measured(symbol, "sample", how, "autograd", value=value, side=side, each=each)


def _functions(losses: Any, clients: int | None) -> tuple[list[Loss], list[list[Loss]] | None]:
    """The clients' losses, and their samples' where all clients have them."""
    if callable(losses):
        if clients is None:
            raise ValueError("clients is missing: how many clients does losses(client, w) have?")
        return [_of_client(losses, n) for n in range(integer("clients", clients, 1))], None
    rows = list(losses)
    if not rows or (clients is not None and len(rows) != integer("clients", clients, 1)):
        raise ValueError(f"losses has {len(rows)} entries; it needs one a client, clients={clients or 'at least 1'}")
    nested = [not callable(row) for row in rows]
    if any(nested) and not all(nested):
        raise ValueError("losses has functions and sequences of functions; it needs the one or the other")
    if not any(nested):
        return rows, None
    samples = [list(row) for row in rows]
    if not all(own and all(map(callable, own)) for own in samples):
        raise ValueError("losses has a client without samples, or a sample that is no function")
    return [_mean(own) for own in samples], samples


def _of_client(losses: Callable[[int, Any], Any], n: int) -> Loss:
    return lambda w: losses(n, w)


def _mean(losses: Sequence[Loss]) -> Loss:
    return lambda w: sum(loss(w) for loss in losses) / len(losses)


def _value(loss: Loss, w: Any) -> Any:
    import torch

    value = loss(w)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
        raise ValueError(f"losses gives {shape} at a point, not a scalar tensor")
    if not math.isfinite(float(value.detach())):
        raise ValueError(f"losses gives {float(value.detach())} at a point of the ball; a smaller radius may help")
    return value.reshape(())


def _differentiated(loss: Loss, point: Array) -> tuple[float, Any, Any]:
    """The value, the point and the gradient as tensors, the latter with a graph where it depends on the point."""
    import torch

    w = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    value = _value(loss, w)
    if not value.requires_grad:
        raise ValueError("losses gives a value that does not depend on w, or is cut off from it (detach, no_grad)")
    (slope,) = torch.autograd.grad(value, w, create_graph=True)
    if not bool(torch.isfinite(slope).all()):
        raise ValueError("losses has a gradient that is not finite at a point of the ball")
    return float(value.detach()), w, slope


def _gradient(loss: Loss, point: Array) -> tuple[float, Array]:
    value, _, slope = _differentiated(loss, point)
    return value, slope.numpy(force=True).copy()


def _curvature(losses: Sequence[Loss], places: Array, steps: int, random: np.random.Generator) -> tuple[float, float]:
    """The least curvature that is seen of any of the losses, and the largest |curvature|."""
    import torch

    low, high = math.inf, 0.0
    for loss in losses:
        slopes = []
        for place in places:
            _, w, slope = _differentiated(loss, place)
            slopes.append(slope.numpy(force=True).copy())

            def product(v: Array, w: Any = w, slope: Any = slope) -> Array:
                if not slope.requires_grad:  # a linear loss
                    return np.zeros(len(v))
                (image,) = torch.autograd.grad(slope, w, torch.from_numpy(v), retain_graph=True, allow_unused=True)
                return np.zeros(len(v)) if image is None else image.numpy(force=True).copy()

            least, most = ritz_extremes(product, len(place), steps, random)
            low, high = min(low, least), max(high, abs(least), abs(most))
        for i in range(1, len(places)):
            way, change = places[i] - places[i - 1], slopes[i] - slopes[i - 1]
            square = float(way @ way)
            if square > 0:
                low, high = (
                    min(low, float(change @ way) / square),
                    max(high, math.sqrt(float(change @ change) / square)),
                )
    return low, high


def _minima(functions: Sequence[Loss], f: Loss, places: Array, where: str) -> list[Measured]:
    how = "the least value that L-BFGS from the centre, and the points, gave"
    best = _least(f, places)
    minima = tuple(_least(loss, places) for loss in functions)
    mean = sum(minima) / len(minima)
    found = [_seen("f_min", best, "at most", how), _seen("f_n_min", mean, "at most", how, minima)]
    ratios = []
    for place in places:
        value, slope = _gradient(f, place)
        if value - best > _GAP * max(abs(value), abs(best), 1e-300):
            ratios.append(float(slope @ slope) / (2 * (value - best)))
    if ratios:
        how = f"least ||grad f||^2/(2 (f - least value seen)) at {where}"
        found.append(_seen("PL", min(ratios), "at most", how))
    return found


def _least(loss: Loss, places: Array) -> float:
    """The least value at the places and on the way of L-BFGS from the first of them."""
    from scipy.optimize import minimize

    seen = [_gradient(loss, place)[0] for place in places]

    def fall(point: Array) -> tuple[float, Array]:
        value, slope = _gradient(loss, point)
        seen.append(value)
        return value, slope

    # a way to where the loss is not finite ends there: what was seen before counts
    with contextlib.suppress(ValueError):
        minimize(fall, places[0], jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-15, "gtol": 1e-10})
    return min(seen)


def _variance(samples: Sequence[Loss], place: Array) -> float:
    slopes = np.stack([_gradient(loss, place)[1] for loss in samples])
    return float(np.mean(np.sum((slopes - slopes.mean(axis=0)) ** 2, axis=1)))
