"""Clients' gradients at points of one's own: what a simulator needs whose models move from client to client.

Every operation is elementwise over runs and models, and sums over coordinates and clients are taken in a fixed order,
so that the results of a run do not depend, to the last bit, on which others are computed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.arguments import to_float
from sim.problems.logistic import RidgeLogistic
from sim.problems.quadratic import Quadratic

Array = NDArray[Any]

# Numbers of one temporary array.
_ENTRIES = 4_000_000


class Pointwise(Protocol):
    """A problem of N clients in d dimensions. The leading axes of all arguments, written ..., broadcast."""

    dim: int
    counts: Any
    """(N,) samples of each client."""

    def gradient(self, client: Array, x: Array) -> Array:
        """grad f_c(x): (...,) clients and (..., d) -> (..., d)."""

    def sample_gradient(self, client: Array, sample: Array, x: Array) -> Array:
        """grad f_{c,i}(x): (...,) clients, (...,) samples and (..., d) -> (..., d)."""

    def cost(self, client: Array, x: Array) -> Array:
        """f_c(x): (...,) clients and (..., d) -> (...,)."""


class PointwiseQuadratic:
    """The gradients of a `Quadratic`, in float64."""

    def __init__(self, problem: Quadratic) -> None:
        self.dim = problem.dim
        self.counts = problem.counts
        # columns first: a gradient is the sum over columns, each gathered at the clients and samples in question
        self._sample_columns = np.ascontiguousarray(np.moveaxis(to_float(problem.hessian), -1, 0))
        self._sample_linear = to_float(problem.linear)
        self._columns = np.ascontiguousarray(np.moveaxis(to_float(problem.client_hessian), -1, 0))
        self._linear = to_float(problem.client_linear)
        self._offset = to_float(problem.client_offset)

    def gradient(self, client: Array, x: Array) -> Array:
        """See `Pointwise`."""
        return _product(self._columns, (client,), x) - self._linear[client]

    def sample_gradient(self, client: Array, sample: Array, x: Array) -> Array:
        """See `Pointwise`."""
        return _product(self._sample_columns, (client, sample), x) - self._sample_linear[client, sample]

    def cost(self, client: Array, x: Array) -> Array:
        """See `Pointwise`."""
        half = 0.5 * _product(self._columns, (client,), x) - self._linear[client]
        return (half * x).sum(axis=-1) + self._offset[client]


class PointwiseLogistic:
    """The gradients of a `RidgeLogistic`; those of a sample include the ridge."""

    def __init__(self, problem: RidgeLogistic) -> None:
        self.dim = problem.dim
        self.counts = np.full(problem.clients, problem.samples)
        self._features, self._labels, self._ridge = problem.features, problem.labels, problem.ridge

    def gradient(self, client: Array, x: Array) -> Array:
        """See `Pointwise`."""
        return self._by_client(client, x, self._gradient_rows, x.shape[-1:])

    def sample_gradient(self, client: Array, sample: Array, x: Array) -> Array:
        """See `Pointwise`."""
        features, labels = self._features[client, sample], self._labels[client, sample]
        slope = _slope(labels, (features * x).sum(axis=-1))
        return self._ridge * x + slope[..., None] * features

    def cost(self, client: Array, x: Array) -> Array:
        """See `Pointwise`."""
        return self._by_client(client, x, self._cost_rows, ())

    def _by_client(self, client: Array, x: Array, rows: Callable[[int, Array], Array], tail: tuple[int, ...]) -> Array:
        """A function of one client and (B, d) points, applied to all of them client by client."""
        shape = np.broadcast_shapes(np.shape(client), x.shape[:-1])
        owners = np.broadcast_to(client, shape).ravel()
        points = np.broadcast_to(x, (*shape, self.dim)).reshape(-1, self.dim)
        out = np.empty((len(points), *tail))
        width = max(1, _ENTRIES // self._features[0].size)
        for c in np.unique(owners).tolist():
            own = np.flatnonzero(owners == c)
            for first in range(0, len(own), width):
                part = own[first : first + width]
                out[part] = rows(c, points[part])
        return out.reshape(*shape, *tail)

    def _gradient_rows(self, c: int, points: Array) -> Array:
        slope = _slope(self._labels[c], self._scores(c, points))
        return self._ridge * points + (slope[:, :, None] * self._features[c]).sum(axis=1) / len(self._labels[c])

    def _cost_rows(self, c: int, points: Array) -> Array:
        losses = np.logaddexp(0.0, -self._labels[c] * self._scores(c, points))
        return 0.5 * self._ridge * np.square(points).sum(axis=-1) + losses.sum(axis=-1) / len(self._labels[c])

    def _scores(self, c: int, points: Array) -> Array:
        # not a matrix product, whose rounding depends on how many points there are
        return (points[:, None, :] * self._features[c]).sum(axis=-1)


def _slope(labels: Array, scores: Array) -> Array:
    """The derivative of log(1 + exp(-y t)) by t."""
    return -labels * np.exp(-np.logaddexp(0.0, labels * scores))


def pointwise(problem: Any) -> Pointwise:
    """The gradients of a problem: those that it brings along, or those of a known kind.

    Args:
        problem: a `sim.problems.Quadratic` or `sim.problems.logistic.RidgeLogistic`, or an object with a method
            `pointwise()` that returns a `Pointwise`.

    Raises:
        ValueError: for anything else.
    """
    own = getattr(problem, "pointwise", None)
    if own is not None:
        return own()
    if isinstance(problem, Quadratic):
        return PointwiseQuadratic(problem)
    if isinstance(problem, RidgeLogistic):
        return PointwiseLogistic(problem)
    raise ValueError(f"problem={problem!r} is no Quadratic, no RidgeLogistic, and has no method pointwise()")


def _product(columns: Array, index: tuple[Array, ...], x: Array) -> Array:
    """sum_j columns[j][index] x_j, (..., d)."""
    total = columns[0][index] * x[..., :1]
    for j in range(1, len(columns)):
        total = total + columns[j][index] * x[..., j : j + 1]
    return total
