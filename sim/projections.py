"""Euclidean projections onto a ball and onto the simplex; mixing weights by projected gradient steps on the simplex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.schedule import checked_count
from sim.arguments import float_array, real

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ball:
    """W = {x : ||x - centre|| <= radius}, of diameter 2 radius.

    Attributes:
        radius: in (0, inf).
        centre: (d,); 0 by default.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    radius: float
    centre: Any = None

    def __post_init__(self) -> None:
        radius = real("radius", self.radius, "(0, inf)")
        if radius <= 0:
            raise ValueError(f"radius={radius} is outside (0, inf)")
        object.__setattr__(self, "radius", radius)
        centre = float_array("centre", 0.0 if self.centre is None else self.centre)
        if centre.ndim > 1:
            raise ValueError(f"centre has shape {centre.shape}, not (d,)")
        object.__setattr__(self, "centre", centre)

    def project(self, x: Array) -> Array:
        """P_W, (..., d) -> (..., d); what lies in W is returned as it is, to the last bit."""
        away = x - self.centre
        norm = np.sqrt(np.square(away).sum(axis=-1, keepdims=True))
        inside = norm <= self.radius
        return np.where(inside, x, self.centre + away * (self.radius / np.where(inside, 1.0, norm)))


def project_simplex(x: Array) -> Array:
    """The nearest points of {a >= 0, sum_j a_j = 1}, (..., N) -> (..., N).

    The projection is max(x - t, 0) with the t that makes it sum to 1. With x sorted downwards, t = (x_1 + ... + x_k -
    1)/k for the largest k with x_k > t (Held, Wolfe, Crowder: "Validation of subgradient optimization", 1974).
    """
    x = x - x.max(axis=-1, keepdims=True)  # the answer is the same, and 1 is not lost against large numbers
    falling = -np.sort(-x, axis=-1)
    count = np.arange(1, x.shape[-1] + 1)
    level = (np.cumsum(falling, axis=-1) - 1.0) / count
    support = (falling > level).sum(axis=-1, keepdims=True)
    return np.maximum(x - np.take_along_axis(level, support - 1, axis=-1), 0.0)


def simplex_descent(samples: Any, lam: Any, steps: int, step: Any = None) -> Callable[[Any, Any], Any]:
    """Mixing weights by T_a projected gradient steps on g_i(alpha) = sum_j alpha_j z_ij + lam sum_j alpha_j^2/n_j.

    A step is alpha <- P(alpha - step (z_i + 2 lam alpha/n)), P the projection onto the simplex. The default step,
    n_min/(2 lam), is one over the largest eigenvalue of the Hessian, diag(2 lam/n).

    Args:
        samples: (N,) n_j > 0.
        lam: > 0.
        steps: T_a >= 1.
        step: > 0.

    Returns:
        A function of z and alpha, both (..., N), to the new alpha.

    Source: eq. (2) and Algorithm 3 of Deng et al. ("Distributed Personalized Empirical Risk Minimization").

    Raises:
        ValueError: for an argument outside its domain.
    """
    n, ridge = float_array("samples", samples, "(0, inf)"), real("lam", lam, "(0, inf)")
    if n.ndim != 1 or not n.size or n.min() <= 0:
        raise ValueError(f"samples={samples!r} is not a vector of numbers in (0, inf)")
    if ridge <= 0:
        raise ValueError(f"lam={ridge} is outside (0, inf)")
    rate = float(n.min()) / (2 * ridge) if step is None else real("step", step, "(0, inf)")
    if rate <= 0:
        raise ValueError(f"step={rate} is outside (0, inf)")
    steps = checked_count(steps, "steps")
    curvature = 2 * ridge / n

    def descend(z: Array, alpha: Array) -> Array:
        for _ in range(steps):
            alpha = project_simplex(alpha - rate * (z + curvature * alpha))
        return alpha

    return descend
