"""What every client does in one round, in the first two moments: the inner recursions of the exact oracle.

Let y = (1, x), x = theta - centre, be the round's start and P = E[yy']. On quadratics a client's inner iterate is,
given theta, w = B y + e: an affine map B of the start (the same for every P) plus sampling noise e of conditional
mean 0. So

    E[ww'] = B P B' + C,    C = E[ee'] linear in P,

and both obey a recursion over the inner steps. Splitting off the affine path keeps the matrices d x d and loses no
digits where the noise is small. `local_round` runs the recursion for a stack of B start matrices P at once: one
actual P, or a basis of the symmetric matrices, on which everything is then linear.

Shapes: T = S M inner steps in the order in which they are made, N clients, B start matrices, d dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.exact_numbers import Array, Numbers

DENSE_NOISE_LIMIT = 12
"""Largest d for which the map C -> mean_i D_i C D_i' is kept as one d^2 x d^2 matrix a client."""


@dataclass(frozen=True)
class Clients:
    """A quadratic problem in the coordinates x = theta - centre.

    Attributes:
        numbers: the arithmetic of every array here.
        hessian: (N, d, d), each client's mean Hessian H_n.
        linear: (N, d), grad f_n = H_n x - linear_n.
        minimiser: (N, d), a minimiser of each f_n, in x; None when some f_n has none.
        hessian_noise: (N, n, d, d), H_{n,i} - H_n; 0 on padding.
        linear_noise: (N, n, d), linear_{n,i} - linear_n; 0 on padding.
        sample_weight: (N,), 1 / number of samples.
        gradient: (d, 1 + d), grad f = gradient @ y.
    """

    numbers: Numbers
    hessian: Array
    linear: Array
    minimiser: Array | None
    hessian_noise: Array
    linear_noise: Array
    sample_weight: Array
    gradient: Array


@dataclass(frozen=True)
class LocalRound:
    """One round of all clients, as functions of the start matrices.

    Attributes:
        estimator: (T, N, B), E||v||^2.
        inner_product: (T, N, B), E<grad f(theta), grad f_n(w)>.
        displacement: (T, N, B), E||w - theta||^2.
        local_suboptimality: (T, N, B), E f_n(w) - min f_n; None when some f_n has no minimum.
        deviation: (N, d, 1 + d), E[w_n - theta | theta] = deviation_n y at the end of the round.
        covariance: (N, B, d, d), of w_n given theta, averaged over theta, at the end of the round.
    """

    estimator: Array
    inner_product: Array
    displacement: Array
    local_suboptimality: Array | None
    deviation: Array
    covariance: Array


class _Noise:
    """The map C -> mean_i D_i C D_i' of each client, (N, B, e, e) -> (N, B, d, d), with D of shape (N, n, d, e)."""

    def __init__(self, spread: Array, weight: Array) -> None:
        clients, samples, d, e = spread.shape
        self.spread, self.weight, self.dim, self.matrix = spread, weight, d, None
        if e <= DENSE_NOISE_LIMIT + 1:
            flat = spread.reshape(clients, samples, d * e)
            outer = (flat.swapaxes(1, 2) @ flat).reshape(clients, d, e, d, e)
            # (C's row b, column c) -> (row a, column f): sum_i D_ab D_fc, transposed to act on rows from the right.
            matrix = outer.transpose(0, 2, 4, 1, 3).reshape(clients, e * e, d * d)
            self.matrix = matrix * weight[:, None, None]

    def __call__(self, second: Array) -> Array:
        clients, starts = second.shape[:2]
        if self.matrix is not None:
            return (second.reshape(clients, starts, -1) @ self.matrix).reshape(clients, starts, self.dim, self.dim)
        total: Any = 0
        for i in range(self.spread.shape[1]):
            factor = self.spread[:, i, None]
            total = total + factor @ second @ factor.swapaxes(-1, -2)
        return total * self.weight[:, None, None, None]


def local_round(
    clients: Clients, starts: Array, *, step: Any, snapshots: int, inner: int, variance_reduced: bool
) -> LocalRound:
    """Run the inner recursion of every client from each start matrix.

    Args:
        clients: the problem.
        starts: (B, 1 + d, 1 + d), symmetric; E[yy'] or a basis of such matrices.
        step: step size, in the arithmetic of `clients`.
        snapshots: S >= 1 (1 for local SGD).
        inner: M >= 1, inner steps a snapshot.
        variance_reduced: the SVRG estimator (Rostami and Kia, Algorithm 1), or the plain stochastic gradient.
    """
    numbers = clients.numbers
    count, d = clients.linear.shape
    steps = snapshots * inner
    contraction = numbers.identity(d) - step * clients.hessian
    path = _mean_path(clients, contraction, step, steps)
    before = path[:steps]
    if variance_reduced:
        noise_map = _Noise(clients.hessian_noise, clients.sample_weight)
        # The snapshot's mean path is the path itself, at the step where the snapshot was taken.
        carrier = before - path[:steps:inner].repeat(inner, axis=0)
    else:
        spread = np.concatenate([-clients.linear_noise[..., None], clients.hessian_noise], axis=-1)
        noise_map = _Noise(spread, clients.sample_weight)
        carrier = numbers.zeros(steps, count, 1 + d, 1 + d)
        carrier[..., 0, 0] = 1
        carrier[..., 1:, :] = before
    carried = carrier[:, :, None] @ starts @ carrier[:, :, None].swapaxes(-1, -2)
    recursion = _svrg_covariance if variance_reduced else _sgd_covariance
    covariance, noise = recursion(numbers, noise_map, carried, contraction[:, None], step, inner)
    spread_before = covariance[:steps]

    gradient = clients.hessian @ before
    gradient[..., 0] -= clients.linear
    deviation = path - path[0]
    local_suboptimality = None
    if clients.minimiser is not None:
        gap = before.copy()
        gap[..., 0] -= clients.minimiser
        local_suboptimality = numbers.ratio(1, 2) * (
            _expect(gap, clients.hessian @ gap, starts) + _contract(clients.hessian, spread_before)
        )
    return LocalRound(
        estimator=_expect(gradient, gradient, starts)
        + _contract(clients.hessian @ clients.hessian, spread_before)
        + _trace(noise),
        inner_product=_expect(np.broadcast_to(clients.gradient, gradient.shape), gradient, starts),
        displacement=_expect(deviation[:steps], deviation[:steps], starts) + _trace(spread_before),
        local_suboptimality=local_suboptimality,
        deviation=deviation[steps],
        covariance=covariance[steps],
    )


def _mean_path(clients: Clients, contraction: Array, step: Any, steps: int) -> Array:
    """B of E[w | theta] = B y before each step and after the last: (T + 1, N, d, 1 + d).

    Both estimators are unbiased, so it is gradient descent on f_n from theta, snapshots or not.
    """
    count, d = clients.linear.shape
    path = clients.numbers.zeros(steps + 1, count, d, 1 + d)
    path[0, ..., 1:] = clients.numbers.identity(d)
    drift = step * clients.linear
    for t in range(steps):
        path[t + 1] = contraction @ path[t]
        path[t + 1, ..., 0] += drift
    return path


def _svrg_covariance(
    numbers: Numbers, noise_map: _Noise, carried: Array, contraction: Array, step: Any, inner: int
) -> tuple[Array, Array]:
    """Covariance of w given theta, (T + 1, N, B, d, d), and of v given the past, (T, N, B, d, d).

    v - E[v | past] = (H_{n,i} - H_n)(w - snapshot), so it needs the covariance of w, of the snapshot, and between them.
    """
    steps = carried.shape[0]
    covariance = numbers.zeros(steps + 1, *carried.shape[1:])
    noise = numbers.zeros(*carried.shape)
    transposed = contraction.swapaxes(-1, -2)
    snapshot = cross = covariance[0]
    for t in range(steps):
        now = covariance[t]
        if t % inner == 0:
            snapshot = cross = now
        noise[t] = noise_map(carried[t] + now + snapshot - cross - cross.swapaxes(-1, -2))
        cross = cross @ transposed  # E[snapshot w'], noise parts: fresh noise is independent of the snapshot
        covariance[t + 1] = contraction @ now @ transposed + step * step * noise[t]
    return covariance, noise


def _sgd_covariance(
    numbers: Numbers, noise_map: _Noise, carried: Array, contraction: Array, step: Any, inner: int
) -> tuple[Array, Array]:
    """As `_svrg_covariance`, for the plain stochastic gradient: v - E[v | past] acts on (1, w)."""
    steps, count, starts, extended, _ = carried.shape
    d = extended - 1
    covariance = numbers.zeros(steps + 1, count, starts, d, d)
    noise = numbers.zeros(steps, count, starts, d, d)
    transposed = contraction.swapaxes(-1, -2)
    for t in range(steps):
        now = covariance[t]
        second = carried[t].copy()
        second[..., 1:, 1:] += now
        noise[t] = noise_map(second)
        covariance[t + 1] = contraction @ now @ transposed + step * step * noise[t]
    return covariance, noise


def _expect(left: Array, right: Array, starts: Array) -> Array:
    """E<left y, right y> for each start matrix: (T, N, d, 1 + d) twice and (B, 1 + d, 1 + d) -> (T, N, B)."""
    form = left.swapaxes(-1, -2) @ right
    flat = form.reshape(*form.shape[:-2], -1)
    return flat @ starts.reshape(starts.shape[0], -1).T


def _contract(form: Array, covariance: Array) -> Array:
    """tr(form_n C): (N, d, d) symmetric and (T, N, B, d, d) -> (T, N, B)."""
    flat = covariance.reshape(*covariance.shape[:-2], -1)
    return (flat @ form.reshape(form.shape[0], -1, 1))[..., 0]


def _trace(matrices: Array) -> Array:
    """Trace over the last two axes."""
    return np.trace(matrices, axis1=-2, axis2=-1)
