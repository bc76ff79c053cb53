"""What the instructions of a program do to values, given the outcomes of draws: affine maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sim.moments.curvatures import Curvatures
from sim.moments.law import Law, Linear, Own, Shared, Value
from sim.moments.numbers import Array, Numbers, times
from sim.problems.linear_algebra import minimise


def owns(law: Law, values: Sequence[Value]) -> list[Own]:
    """Values as those of every client."""
    for value in values:
        if isinstance(value, Shared) and value.B.shape[1] > law.width:
            law.known(value)
    return [law.own(value) for value in values]


def sum_of(law: Law, factors: Sequence[Array], values: Sequence[Value], table: bool) -> Value:
    """sum_j factor_j value_j."""
    if not table and all(isinstance(v, Shared) for v in values) and all(c.shape == (1, 1) for c in factors):
        shared = [v.B for v in values if isinstance(v, Shared)]
        width = max(B.shape[1] for B in shared)
        total = law.numbers.zeros(len(shared[0]), width)
        for c, B in zip(factors, shared, strict=True):
            total[:, : B.shape[1]] = total[:, : B.shape[1]] + c[0, 0] * B
        return Shared(total)
    found = owns(law, values)
    if table:
        found = [as_table(law, one) for one in found]
    return law.combined(zip(factors, found, strict=True))


def as_table(law: Law, value: Own) -> Own:
    """A client's value, copied for every sample; a table as it is."""
    n, d = law.curvatures.samples, law.curvatures.dim
    if value.linear.rows == n * d:
        return value
    return by_rows(value, lambda x: np.tile(x, (1, 1, n, 1)))


def by_rows(value: Own, function: Callable[[Array], Array]) -> Own:
    """The same function of B and of every G, linear in their rows; of a value without pending parts."""
    assert not value.pending
    return Own(Linear(function(value.linear.B), {g: function(G) for g, G in value.linear.G.items()}))


def gradient(law: Law, value: Own, hessian: Array, linear: Array) -> Own:
    """H v - b, of arrays (1 or O, N, d, d) and (1 or O, N, d)."""
    out = law.mapped(hessian, value)
    B = out.linear.B.copy()
    B[..., 0] -= linear
    out.linear.B = B
    return out


def prox(law: Law, value: Own, t: Array) -> Own:
    """argmin over u of f_n(u) + norm2(u - v)/(2t).

    Raises:
        ValueError: where there is none, or more than one.
    """
    curvatures, numbers = law.curvatures, law.numbers
    if np.any(t <= 0):
        raise ValueError("prox with t outside (0, inf)")
    d, N = curvatures.dim, curvatures.clients
    shape = (t.shape[0], N)
    inverse = numbers.zeros(*shape, d, d)
    for o, n in np.ndindex(*shape):
        matrix = curvatures.hessian[n] + numbers.identity(d) / t[o, n % t.shape[1]]
        inverse[o, n] = inverted(matrix, numbers)
    out = law.mapped(inverse / t[:, :, None, None], value)
    B = out.linear.B.copy()
    B[..., 0] += times(inverse, curvatures.linear[None, :, :, None])[..., 0]
    out.linear.B = B
    return out


def inverted(matrix: Array, numbers: Numbers) -> Array:
    """The inverse of a positive definite matrix.

    Raises:
        ValueError: when it is not positive definite.
    """
    d = len(matrix)
    if not numbers.exact:
        if np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ValueError("prox of a function that has no unique minimiser: f_n(u) + norm2(u - v)/(2t)")
        return np.linalg.inv(matrix)
    if minimise_rank(matrix, numbers) < d:
        raise ValueError("prox of a function that has no unique minimiser: f_n(u) + norm2(u - v)/(2t)")
    a = np.concatenate([matrix, numbers.identity(d)], axis=1)
    for j in range(d):  # the pivots of a positive definite matrix are positive
        a[j] = a[j] / a[j, j]
        for i in range(d):
            if i != j and a[i, j] != 0:
                a[i] = a[i] - a[i, j] * a[j]
    return a[:, d:]


def minimise_rank(matrix: Array, numbers: Numbers) -> int:
    """The rank of a positive semidefinite exact matrix; -1 when it is not."""
    found = minimise(numbers.result(matrix), numbers.result(numbers.zeros(len(matrix)) + numbers.ratio(0, 1)))
    return -1 if found is None else found[1]


def kept_excess(numbers: Numbers, d: int, m: int) -> Array:
    """(d, d), L with E[(Kv)(Kv)'] = (1 + L) E[vv'] entry by entry, K keeping m of d coordinates, times d/m."""
    beside = numbers.ratio(d * (m - 1), m * (d - 1)) if d > 1 else numbers.ratio(1, 1)
    out = numbers.zeros(d, d)
    out[...] = beside - numbers.ratio(1, 1)
    out[range(d), range(d)] = numbers.ratio(d, m) - numbers.ratio(1, 1)
    return out


def keep(law: Law, value: Own, m: int) -> Own:
    """Random coordinates of every client's value."""
    linear = value.linear
    X = law.second(linear.B, linear.B) + law.covariance(linear, linear)
    X = np.broadcast_to(X, (*X.shape[:2], law.curvatures.clients, *X.shape[3:]))
    g = law.add_noise(X * kept_excess(law.numbers, linear.rows, m))
    return Own(Linear(linear.B, {**linear.G, g: law.numbers.identity(linear.rows)[None, None]}))


def noise(law: Law, variance: Array) -> Own:
    """A vector of covariance variance/d times the identity, of every client."""
    d, N = law.curvatures.dim, law.curvatures.clients
    unit = law.numbers.identity(d)
    C = law.P[:, 0, 0][:, None, None, None, None] * variance[None, :, :, None, None] * unit / d
    C = np.broadcast_to(C, (len(law.P), variance.shape[0], N, d, d))
    g = law.add_noise(C)
    return Own(Linear(law.numbers.zeros(1, 1, d, law.local_width), {g: unit[None, None]}))


def over_samples(law: Law, table: Own, shares: Array) -> Own:
    """sum_i shares_i table_i, shares (1 or O, 1 or N, n)."""
    n, d = law.curvatures.samples, law.curvatures.dim

    def mean(x: Array) -> Array:
        flat = times(shares[:, :, None, :], x.reshape(*x.shape[:2], n, d * x.shape[3]))
        return flat.reshape(*flat.shape[:2], d, x.shape[3])

    return by_rows(table, mean)


def replaced(law: Law, table: Own, present: Array, value: Own) -> Own:
    """The table with the entries where `present`, (1 or O, 1 or N, n) of 0 and 1, is 1 replaced."""
    factor = np.repeat(present, law.curvatures.dim, axis=2)[..., None]
    one = law.numbers.ratio(1, 1)
    left = by_rows(table, lambda x: (one - factor) * x)
    right = by_rows(as_table(law, value), lambda x: factor * x)
    unit = law.numbers.identity(1)
    return law.combined([(unit, left), (unit, right)])


def summed(law: Law, value: Own, weights: Array) -> Shared:
    """The sum over all clients of weight v_n, of a value that is certain given z; weights (1, N)."""
    B = value.linear.B
    N, s, r = law.curvatures.clients, law.width, law.own_width
    weights = weights * law.curvatures.many
    B = np.broadcast_to(B[0], (N, *B.shape[2:]))
    shared = times(weights, B[..., :s].reshape(N, -1)).reshape(-1, s)
    if not r:
        return Shared(shared)
    owned = (weights[0][:, None, None] * B[..., s:]).transpose(1, 0, 2).reshape(-1, N * r)
    return Shared(np.concatenate([shared, owned], axis=1))


def is_certain(value: Own) -> bool:
    """Whether it is a function of z: no noise, no outcomes, nothing pending."""
    return value.linear.B.shape[0] == 1 and not value.linear.G and not value.pending


def sample_gradients(curvatures: Curvatures, shares: Array) -> tuple[Array, Array]:
    """H and b of the mean over a batch, (O, N, d, d) and (O, N, d), of shares (O, 1 or N, n)."""
    outcomes, N, n, d = len(shares), curvatures.clients, curvatures.samples, curvatures.dim
    weights: Any = np.broadcast_to(shares, (outcomes, N, n)).swapaxes(0, 1)
    hessian = times(weights, curvatures.sample_hessian.reshape(N, n, d * d)).swapaxes(0, 1).reshape(outcomes, N, d, d)
    return hessian, times(weights, curvatures.sample_linear).swapaxes(0, 1)
