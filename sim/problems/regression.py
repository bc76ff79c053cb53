"""What ridge regressions of labels share, logistic and softmax: the clients' data, and the minimisers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, real
from sim.problems.newton import minimise

Array = NDArray[Any]


class RidgeRegression(ABC):
    """f_n(theta) = (ridge/2) ||theta||^2 + the mean loss over the client's own n samples, strongly convex and smooth.

    Shapes: N clients, n samples each, d coordinates of theta.
    """

    features: Array
    labels: Array
    ridge: float

    @property
    def clients(self) -> int:
        """N."""
        return int(self.features.shape[0])

    @property
    def samples(self) -> int:
        """n, of every client."""
        return int(self.features.shape[1])

    @property
    @abstractmethod
    def dim(self) -> int:
        """d, the number of coordinates of theta."""

    @abstractmethod
    def loss(self, theta: Any) -> Array:
        """(N,), f_n(theta)."""

    @abstractmethod
    def gradient(self, theta: Any) -> Array:
        """(N, d), the gradients of f_n at theta."""

    @abstractmethod
    def _direction(self, points: Array, slopes: Array, clients: Array) -> Array:
        """(M, d), the Newton steps of these clients; see `sim.problems.newton.minimise`."""

    @property
    @abstractmethod
    def _pooled(self) -> RidgeRegression:
        """The average of the clients' functions, as that of one client with everybody's samples."""

    @cached_property
    def _minimisers(self) -> Array:
        tolerance = max(1e-12, 64 * float(np.finfo(float).eps) * float(np.max(np.linalg.norm(self.features, axis=2))))
        found = minimise(self.loss, self.gradient, self._direction, np.zeros((self.clients, self.dim)), tolerance)
        found.flags.writeable = False
        return found

    def minimisers(self) -> Array:
        """(N, d), x_n*, the minimiser of f_n: gradient norms below 1e-12 (64 eps max ||x_j||, where that is more)."""
        return self._minimisers

    @property
    def minimiser(self) -> Array:
        """(d,), x*, the minimiser of f = (1/N) sum_n f_n, as accurate as `minimisers`."""
        return self._pooled.minimisers()[0]

    @cached_property
    def optimal_value(self) -> float:
        """f*, the least value of the average f."""
        return float(self._pooled.loss(self.minimiser)[0])

    def radius(self) -> float:
        """r = max_n ||x_n*||."""
        return float(np.max(np.linalg.norm(self._minimisers, axis=1)))

    def _points(self, theta: Any) -> Array:
        """Points (d,) or (N, d) as float64."""
        points = np.asarray(theta, dtype=np.float64)
        if points.shape not in ((self.dim,), (self.clients, self.dim)):
            raise ValueError(f"theta has shape {points.shape}, not {(self.dim,)} or {(self.clients, self.dim)}")
        return points


def checked_features(values: Any) -> Array:
    """Features (N, n, d) as a read-only C-contiguous float64 copy."""
    features = np.ascontiguousarray(float_array("features", values))
    if features.ndim != 3 or 0 in features.shape:
        raise ValueError(f"features has shape {features.shape}, not (N, n, d) with N, n, d in [1, inf)")
    features.flags.writeable = False
    return features


def checked_ridge(ridge: Any) -> float:
    """The ridge, a number in (0, inf)."""
    value = real("ridge", ridge, "(0, inf)")
    if value <= 0:
        raise ValueError(f"ridge={value} is outside (0, inf)")
    return value


def checked_batch(batch: Any) -> int | None:
    """The size of a minibatch, >= 1, or None."""
    return None if batch is None else integer("batch", batch, 1)


def largest_second_moment(features: Array) -> float:
    """max_n lambda_max(X_n'X_n)/n, from the smaller of the two Gram matrices."""
    samples, dim = features.shape[1:]
    grams = (x.T @ x if dim < samples else x @ x.T for x in features)
    return max(float(np.linalg.eigvalsh(gram)[-1]) for gram in grams) / samples
