"""A quadratic problem as the moments see it: curvatures, the spread of the samples, in one arithmetic.

Clients that are the same, functions and parameters, are one *class*: what is here of a client is of each in its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers, times
from sim.problems.quadratic import Quadratic

LARGEST_TABLE = 30_000_000
"""Entries of the map C -> mean_i D_i C D_i' of all clients, up to which it is kept as matrices."""


class Curvatures:
    """Clients of a problem, one of each class.

    Attributes:
        numbers: the arithmetic.
        clients, samples, dim: N, the number of classes, n, d.
        many: (N,), how many clients each class has.
        sample_hessian, sample_linear: (N, n, d, d) and (N, n, d); grad f_ni(x) = H x - b.
        hessian, linear: (N, d, d) and (N, d), of f_n.
        counts: (N,).
        point: (d,), where the spread of the gradients is taken; in floats a minimiser of f, for samples that agree
            there are then told apart from samples that nearly do.
    """

    def __init__(self, numbers: Numbers, arrays: tuple[Array, ...], counts: Array, point: Array, many: Array) -> None:
        self.numbers, self.counts, self.point, self.many = numbers, counts, point, many
        self.sample_hessian, self.sample_linear, self.hessian, self.linear = arrays
        self.clients, self.samples, self.dim = self.sample_linear.shape
        self._parts: dict[tuple[int, ...], Curvatures] = {}

    @classmethod
    def of(cls, problem: Quadratic, numbers: Numbers, point: Array, clients: Sequence[int], many: Array) -> Curvatures:
        """That of all clients, given one of each class."""
        at = list(clients)
        each = (problem.hessian, problem.linear, problem.client_hessian, problem.client_linear)
        arrays = tuple(numbers.array(values[at]) for values in each)
        return cls(numbers, arrays, problem.counts[at], point, numbers.array(many))

    def part(self, clients: Sequence[int]) -> Curvatures:
        """That of some of the clients."""
        key = tuple(clients)
        if key not in self._parts:
            at = list(key)
            arrays = (self.sample_hessian[at], self.sample_linear[at], self.hessian[at], self.linear[at])
            self._parts[key] = Curvatures(self.numbers, arrays, self.counts[at], self.point, self.many[at])
        return self._parts[key]

    @cached_property
    def total(self) -> int:
        """The number of clients, of all classes."""
        return int(sum(int(numbers) for numbers in self.numbers.result(self.many)))

    @cached_property
    def alike(self) -> bool:
        """Whether some class has more than one client."""
        return self.total > self.clients

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
        return np.concatenate([(times(curved, self.point) - linear)[..., None], curved], axis=-1)

    @cached_property
    def _tables(self) -> dict[int, Array]:
        return {}

    def noise(self, second: Array, affine: bool) -> Array:
        """mean_i D_i X D_i' for every client, D the spread.

        Args:
            second: (b, O, N, e, e), symmetric, X; e = 1 + d, or d where X has nothing to do with the 1.
            affine: whether e = 1 + d.

        Returns:
            (b, O, N, d, d).
        """
        e, d, N = self.dim + affine, self.dim, self.clients
        upper = upper_of(e)
        if N * len(upper) * d * d > LARGEST_TABLE or len(upper) > 4 * self.samples * e:
            return self.mixed_noise(second, affine, affine)
        table = self._table(e)
        b, outcomes = second.shape[:2]
        flat = second.reshape(b * outcomes, N, e * e).swapaxes(0, 1)
        found = self.numbers.product(flat.take(upper, axis=2), table).swapaxes(0, 1)
        return found.take(unfolded_of(d), axis=2).reshape(b, outcomes, N, d, d)

    def _table(self, e: int) -> Array:
        """(N, e (e+1)/2, d (d+1)/2), X -> mean_i D_i X D_i' of upper triangles."""
        if e not in self._tables:
            d, N = self.dim, self.clients
            rows, columns = np.triu_indices(e)
            flat = self.spread[..., -e:].reshape(N, self.samples, d * e)
            outer = self.numbers.product(flat.swapaxes(1, 2), flat).reshape(N, d, e, d, e).transpose(0, 2, 4, 1, 3)
            outer = outer * self.weight[:, None, None, None, None]
            folded = outer[:, rows, columns] + outer[:, columns, rows]
            folded[:, rows == columns] = outer[:, rows[rows == columns], columns[rows == columns]]
            up = np.triu_indices(d)
            self._tables[e] = np.ascontiguousarray(folded[:, :, up[0], up[1]])
        return self._tables[e]

    def mixed_noise(self, second: Array, left: bool, right: bool) -> Array:
        """mean_i D_i X D_i', X (b, O, N, e, e') not symmetric; `left`, `right`: whether e and e' are 1 + d."""
        one = self.spread if left else self.spread[..., 1:]
        two = self.spread if right else self.spread[..., 1:]
        N, n, d, e = one.shape
        batch, wide = second.shape[:2], two.shape[-1]
        step = max(1, LARGEST_TABLE // (int(np.prod(batch)) * N * d * wide))
        product = self.numbers.product
        total: Any = 0
        for i in range(0, n, step):  # samples together
            part = min(step, n - i)
            half = product(one[:, i : i + part].reshape(N, part * d, e), second).reshape(*batch, N, part, d, wide)
            half = half.swapaxes(-3, -2).reshape(*batch, N, d, part * wide)
            total = total + product(half, two[:, i : i + part].swapaxes(-2, -1).reshape(N, part * wide, d))
        return total * self.weight[:, None, None]


@cache
def upper_of(size: int) -> Array:
    """The places of the upper triangle, row by row, in a matrix as one row."""
    rows, columns = np.triu_indices(size)
    return rows * size + columns


@cache
def unfolded_of(size: int) -> Array:
    """(size**2,), the place of every entry of a symmetric matrix in its upper triangle, row by row."""
    place = np.empty((size, size), dtype=int)
    place.ravel()[upper_of(size)] = np.arange(len(upper_of(size)))
    return np.maximum(np.triu(place), np.triu(place).T).ravel()
