"""Hessian-vector products of the clients' functions, each client at a point of its own.

As in `sim.kernels.pointwise`, a run's numbers do not depend, to the last bit, on which others are computed with it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.arguments import to_float
from sim.problems.logistic import RidgeLogistic
from sim.problems.quadratic import Quadratic

Array = NDArray[Any]


class Curvature(Protocol):
    """A problem of N clients in d dimensions; point [..., c, :] is client c's."""

    def product(self, x: Array, u: Array) -> Array:
        """H_c(x) u of f_c: (R, N, d) twice -> (R, N, d)."""

    def sample_product(self, sample: Array, x: Array, u: Array) -> Array:
        """The mean over b of H(x) u of the samples [..., c, b] of client c: (R, N, B) and (R, N, d) twice."""


class CurvatureQuadratic:
    """The Hessians of a `Quadratic`, in float64."""

    def __init__(self, problem: Quadratic) -> None:
        self._samples, self._clients = to_float(problem.hessian), to_float(problem.client_hessian)
        self._everybody = np.arange(problem.clients)[:, None]

    def product(self, x: Array, u: Array) -> Array:
        """See `Curvature`."""
        return (self._clients * u[..., None, :]).sum(axis=-1)

    def sample_product(self, sample: Array, x: Array, u: Array) -> Array:
        """See `Curvature`."""
        rows = (self._samples[self._everybody, sample] * u[..., None, None, :]).sum(axis=-1)
        return rows.sum(axis=-2) / sample.shape[-1]


class CurvatureLogistic:
    """The Hessians of a `RidgeLogistic`, ridge + s(t) s(-t) x x' for each sample, t = w.x."""

    def __init__(self, problem: RidgeLogistic) -> None:
        self._features, self._ridge = problem.features, problem.ridge
        self._everybody = np.arange(problem.clients)[:, None]

    def product(self, x: Array, u: Array) -> Array:
        """See `Curvature`."""
        columns = [self._mean(self._features[c], x[:, c], u[:, c]) for c in range(len(self._features))]
        return self._ridge * u + np.stack(columns, axis=1)

    def sample_product(self, sample: Array, x: Array, u: Array) -> Array:
        """See `Curvature`."""
        return self._ridge * u + self._mean(self._features[self._everybody, sample], x, u)

    @staticmethod
    def _mean(features: Array, x: Array, u: Array) -> Array:
        """The mean over samples of s(t) s(-t) (x_j.u) x_j: features (..., n, d), the points (..., d)."""
        t = (features * x[..., None, :]).sum(axis=-1)
        bend = np.exp(-np.logaddexp(0.0, t) - np.logaddexp(0.0, -t)) * (features * u[..., None, :]).sum(axis=-1)
        return (bend[..., None] * features).sum(axis=-2) / features.shape[-2]


def curvature(problem: Any) -> Curvature:
    """The Hessian-vector products of a problem: those that it brings along, or those of a known kind.

    Args:
        problem: a `sim.problems.Quadratic` or `sim.problems.logistic.RidgeLogistic`, or an object with a method
            `curvature()` that returns a `Curvature`.

    Raises:
        ValueError: for anything else.
    """
    own = getattr(problem, "curvature", None)
    if own is not None:
        return own()
    if isinstance(problem, Quadratic):
        return CurvatureQuadratic(problem)
    if isinstance(problem, RidgeLogistic):
        return CurvatureLogistic(problem)
    raise ValueError(f"problem={problem!r} is no Quadratic, no RidgeLogistic, and has no method curvature()")
