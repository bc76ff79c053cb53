"""Clients' gradients at points of one's own: what a simulator needs whose models move from client to client.

Every operation is elementwise over runs and models, and sums over coordinates and clients are taken in a fixed order,
so that the results of a run do not depend, to the last bit, on which others are computed with it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.arguments import to_float
from sim.problems.quadratic import Quadratic

Array = NDArray[Any]


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


def pointwise(problem: Any) -> Pointwise:
    """The gradients of a problem: those that it brings along, or those of a known kind.

    Args:
        problem: a `sim.problems.Quadratic`, or an object with a method `pointwise()` that returns a `Pointwise`.

    Raises:
        ValueError: for anything else.
    """
    own = getattr(problem, "pointwise", None)
    if own is not None:
        return own()
    if isinstance(problem, Quadratic):
        return PointwiseQuadratic(problem)
    raise ValueError(f"problem={problem!r} is no Quadratic and has no method pointwise()")


def _product(columns: Array, index: tuple[Array, ...], x: Array) -> Array:
    """sum_j columns[j][index] x_j, (..., d)."""
    total = columns[0][index] * x[..., :1]
    for j in range(1, len(columns)):
        total = total + columns[j][index] * x[..., j : j + 1]
    return total
