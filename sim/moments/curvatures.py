"""A quadratic problem as the moments see it: curvatures, the spread of the samples, in one arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers
from sim.problems.quadratic import Quadratic

_upper = cache(np.triu_indices)

LARGEST_TABLE = 30_000_000
"""Entries of the map C -> mean_i D_i C D_i' of all clients, up to which it is kept as matrices."""


class Curvatures:
    """Clients of a problem.

    Attributes:
        numbers: the arithmetic.
        clients, samples, dim: N, n, d.
        sample_hessian, sample_linear: (N, n, d, d) and (N, n, d); grad f_ni(x) = H x - b.
        hessian, linear: (N, d, d) and (N, d), of f_n.
        counts: (N,).
        point: (d,), where the spread of the gradients is taken; in floats a minimiser of f, for samples that agree
            there are then told apart from samples that nearly do.
    """

    def __init__(self, numbers: Numbers, arrays: tuple[Array, ...], counts: Array, point: Array) -> None:
        self.numbers, self.counts, self.point = numbers, counts, point
        self.sample_hessian, self.sample_linear, self.hessian, self.linear = arrays
        self.clients, self.samples, self.dim = self.sample_linear.shape
        self._parts: dict[tuple[int, ...], Curvatures] = {}

    @classmethod
    def of(cls, problem: Quadratic, numbers: Numbers, point: Array) -> Curvatures:
        """That of all clients."""
        load = numbers.array
        arrays = (
            load(problem.hessian),
            load(problem.linear),
            load(problem.client_hessian),
            load(problem.client_linear),
        )
        return cls(numbers, arrays, problem.counts, point)

    def part(self, clients: Sequence[int]) -> Curvatures:
        """That of some of the clients."""
        key = tuple(clients)
        if key not in self._parts:
            at = list(key)
            arrays = (self.sample_hessian[at], self.sample_linear[at], self.hessian[at], self.linear[at])
            self._parts[key] = Curvatures(self.numbers, arrays, self.counts[at], self.point)
        return self._parts[key]

    @cached_property
    def own(self) -> Array:
        """(N, n), 1 for the clients' own samples, 0 for padding."""
        out = self.numbers.zeros(self.clients, self.samples)
        out[np.arange(self.samples) < self.counts[:, None]] = self.numbers.ratio(1, 1)
        return out

    @cached_property
    def weight(self) -> Array:
        """(N,), 1 / number of samples."""
        return self.numbers.array([self.numbers.ratio(1, int(c)) for c in self.counts])

    @cached_property
    def spread(self) -> Array:
        """(N, n, d, 1 + d): grad f_ni - grad f_n = spread (1, x - point); 0 on padding."""
        curved = (self.sample_hessian - self.hessian[:, None]) * self.own[..., None, None]
        linear = (self.sample_linear - self.linear[:, None]) * self.own[..., None]
        return np.concatenate([(curved @ self.point - linear)[..., None], curved], axis=-1)

    @cached_property
    def _symmetric(self) -> dict[int, Any]:
        return {}

    def noise(self, second: Array, affine: bool) -> Array:
        """mean_i D_i X D_i' for every client, D the spread.

        Args:
            second: (b, O, N, e, e), symmetric, X; e = 1 + d, or d where X has nothing to do with the 1.
            affine: whether e = 1 + d.

        Returns:
            (b, O, N, d, d).
        """
        spread = self.spread if affine else self.spread[..., 1:]
        e, d, N = spread.shape[-1], self.dim, self.clients
        rows, columns = _upper(e)
        if N * len(rows) * d * d > LARGEST_TABLE or len(rows) > 4 * self.samples * e:
            return self.mixed_noise(second, affine, affine)
        if e not in self._symmetric:
            flat = spread.reshape(N, self.samples, d * e)
            outer = (flat.swapaxes(1, 2) @ flat).reshape(N, d, e, d, e).transpose(0, 2, 4, 1, 3)
            outer = outer * self.weight[:, None, None, None, None]
            folded = outer[:, rows, columns] + outer[:, columns, rows]
            folded[:, rows == columns] = outer[:, rows[rows == columns], columns[rows == columns]]
            up = _upper(d)
            self._symmetric[e] = folded[:, :, up[0], up[1]]
        table = self._symmetric[e]
        b, outcomes = second.shape[:2]
        up = _upper(d)
        flat = second[..., rows, columns].reshape(b * outcomes, N, -1).swapaxes(0, 1)
        found = (flat @ table).swapaxes(0, 1).reshape(b, outcomes, N, -1)
        out = np.empty((b, outcomes, N, d, d), dtype=second.dtype)
        out[..., up[0], up[1]] = found
        out[..., up[1], up[0]] = found
        return out

    def mixed_noise(self, second: Array, left: bool, right: bool) -> Array:
        """mean_i D_i X D_i', X (b, O, N, e, e') not symmetric; `left`, `right`: whether e and e' are 1 + d."""
        one = self.spread if left else self.spread[..., 1:]
        two = self.spread if right else self.spread[..., 1:]
        total: Any = 0
        for i in range(self.samples):
            total = total + one[:, i] @ second @ two[:, i].swapaxes(-1, -2)
        return total * self.weight[:, None, None]
