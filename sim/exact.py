"""Exact moments of FedAvg-SVRG and local SGD on quadratics with finite sampling: computed, not estimated.

With y = (1, theta), everything that the algorithms do to a quadratic problem is linear in P = E[yy'] of the round's
start, because the clients are independent of one another given theta, and every step is affine in the state with
coefficients that are drawn independently of it. `sim.exact_clients` gives, for each client, the affine map
E[w_n - theta | theta] = B_n y and the covariance C_n(P) of w_n given theta; with the weight moments E c_n, E c_n c_m of
`sim.participation` the server's update theta+ = theta + sum_n c_n (w_n - theta) has

    E[(theta+ - theta)(theta+ - theta)'] = sum_{n,m} E[c_n c_m] B_n P B_m' + sum_n E[c_n^2] C_n(P).

The clients' part is worked out once a step size, on a basis of the symmetric matrices, whenever that is cheaper than
doing it afresh every round.

Numbers: float64, or rationals throughout when the problem is exact. In floats the coordinates are centred at the
minimiser of f, unless that is far away (`sim.exact_model.centre_of`), so that what converges to 0 does so to relative
accuracy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.exact_clients import Clients, LocalRound, local_round
from sim.exact_model import (
    affine_gradient,
    centre_of,
    check_cancellation,
    checked_rounds,
    checked_start,
    checked_steps,
    model_moments,
    symmetric_basis,
)
from sim.exact_moments import DivergenceError, Moments
from sim.exact_numbers import FLOATS, Array, Numbers, rationals
from sim.participation import (
    Bernoulli,
    Participation,
    WeightMoments,
    full,
    round_probabilities,
    weight_moments,
)
from sim.problems.linear_algebra import minimise
from sim.problems.quadratic import Quadratic

Algorithm = FedAvg | FedAvgSVRG

TABLES = ("estimator", "inner_product", "displacement", "local_suboptimality")
BASIS_LIMIT = 4_000_000
"""Largest number of entries of a table over inner steps, clients, basis matrices and d x d that is worth its memory."""


def moments(
    algorithm: Algorithm,
    problem: Quadratic,
    participation: Participation | None = None,
    *,
    rounds: int,
    start: Any,
) -> Moments:
    """The exact first and second moments of K rounds from a fixed start.

    Args:
        algorithm: `FedAvgSVRG` or `FedAvg`; a step given one a round must have K entries.
        problem: `Quadratic`; exact (Fractions) iff ``problem.exact``.
        participation: `Bernoulli` (None: everybody, always) or `UniformChoice`; a schedule p must have K rows.
        rounds: K >= 0.
        start: (d,), theta^0.

    Returns:
        `Moments`, of Fractions iff the problem is exact. Then step, p and start must be rational: a float is refused
        rather than taken at its binary value.

    Raises:
        ValueError: an argument outside its domain, of the wrong shape, not finite, or not rational in exact mode; or
            iterates that diverge beyond the range of float64.
    """
    rounds = checked_rounds(rounds)
    _check_kinds(algorithm, problem)
    numbers = rationals() if problem.exact else FLOATS
    steps = checked_steps(algorithm.step, rounds, numbers)
    theta = checked_start(start, problem.dim, numbers)
    participation = full() if participation is None else participation
    probability = _checked_probabilities(participation, problem, rounds)

    best = minimise(problem.mean_hessian, problem.mean_linear)
    centre = centre_of(problem, numbers, theta, best)
    plan = _Plan(
        clients=_clients(problem, numbers, centre),
        steps=steps,
        snapshots=algorithm.snapshots if isinstance(algorithm, FedAvgSVRG) else 1,
        inner=algorithm.inner if isinstance(algorithm, FedAvgSVRG) else algorithm.local_steps,
        variance_reduced=isinstance(algorithm, FedAvgSVRG),
        weights=_weights(algorithm, participation, problem, rounds, numbers),
        origin=-centre if algorithm.empty == "zero" else None,
    )
    unbiased = isinstance(participation, Bernoulli) and algorithm.aggregation == "unbiased"
    with np.errstate(over="ignore", invalid="ignore"):
        history = _run(plan, theta - centre)
        local = None if plan.clients.minimiser is None else numbers.result(history.tables["local_suboptimality"])
        result = Moments(
            **model_moments(problem, numbers, centre, history.seconds, best),
            estimator=numbers.result(history.tables["estimator"]),
            inner_product=numbers.result(history.tables["inner_product"]),
            displacement=numbers.result(history.tables["displacement"]),
            local_suboptimality=local,
            aggregate=numbers.result(history.squared_moves * problem.clients**2) if unbiased else None,
            participation=probability,
        )
    if not numbers.exact:
        _check_finite(result, algorithm)
    return result


@dataclass(frozen=True)
class _Plan:
    """A run in working numbers; `weights` has one entry a round, or one for all rounds."""

    clients: Clients
    steps: list[Any]
    snapshots: int
    inner: int
    variance_reduced: bool
    weights: list[WeightMoments]
    origin: Array | None


@dataclass(frozen=True)
class _History:
    """E[yy'], (K+1, 1 + d, 1 + d); `Moments`' tables; E||sum_n c_n (w_n - theta)||^2 / step^2, (K,)."""

    seconds: Array
    tables: dict[str, Array]
    squared_moves: Array


def _run(plan: _Plan, start: Array) -> _History:
    """Carry E[yy'] through all rounds, from y = (1, start)."""
    numbers = plan.clients.numbers
    size = len(start) + 1
    y = np.concatenate([numbers.identity(1)[0], start])
    basis, upper = symmetric_basis(numbers, size), np.triu_indices(size)
    repeats = Counter(plan.steps)
    entries = plan.clients.hessian.size * plan.snapshots * plan.inner
    local_cache: dict[Any, LocalRound] = {}
    server_cache: dict[Any, tuple[Array, Array]] = {}
    seconds, squared_moves = [np.outer(y, y)], []
    rows: dict[str, list[Array]] = {name: [] for name in TABLES}
    for k, step in enumerate(plan.steps):
        # What is worked out for the basis serves every round with this step; else only the P of this round is needed.
        shared = len(basis) <= min(repeats[step], BASIS_LIMIT / entries)
        starts = basis if shared else seconds[-1][None]
        coordinates = seconds[-1][upper] if shared else numbers.identity(1)[0]
        local = local_cache.get(step) or local_round(
            plan.clients,
            starts,
            step=step,
            snapshots=plan.snapshots,
            inner=plan.inner,
            variance_reduced=plan.variance_reduced,
        )
        law = k if len(plan.weights) > 1 else 0
        moved = server_cache.get((step, law)) or _server(numbers, local, starts, plan.weights[law], plan.origin)
        if shared:
            local_cache[step], server_cache[step, law] = local, moved
        for name in TABLES:
            values = getattr(local, name)
            if values is not None:
                rows[name].append((values @ coordinates).T)
        following, squared_move = moved
        squared_moves.append((squared_move @ coordinates) / (step * step))
        seconds.append((coordinates @ following.reshape(len(starts), -1)).reshape(size, size))
    shape = (len(plan.steps), len(plan.clients.linear), plan.snapshots, plan.inner)
    tables = {
        name: np.array(values, dtype=numbers.dtype).reshape(shape)
        for name, values in rows.items()
        if name != "local_suboptimality" or plan.clients.minimiser is not None
    }
    return _History(np.stack(seconds), tables, np.array(squared_moves, dtype=numbers.dtype))


def _server(
    numbers: Numbers, local: LocalRound, starts: Array, weights: WeightMoments, origin: Array | None
) -> tuple[Array, Array]:
    """E[y+ y+'], (B, 1 + d, 1 + d), and E||sum_n c_n (w_n - theta)||^2, (B,), for each start matrix.

    Args:
        numbers: the arithmetic.
        local: the clients' round from these start matrices.
        starts: (B, 1 + d, 1 + d).
        weights: moments of the aggregation weights, in the arithmetic of `numbers`.
        origin: (d,), where an empty round leads to; None when it leaves the model where it is.
    """
    deviation = local.deviation
    mean = np.tensordot(weights.mean, deviation, axes=1)
    mixed = np.tensordot(weights.second, deviation, axes=1)
    # c = 0 in an empty round, so these hold whatever an empty round does.
    move = (mixed[:, None] @ starts @ deviation.swapaxes(-1, -2)[:, None]).sum(axis=0)
    move = move + np.tensordot(np.diagonal(weights.second), local.covariance, axes=1)
    following = starts.copy()
    if origin is not None:
        zeroed = np.concatenate([numbers.identity(1)[0], origin])
        following = (1 - weights.empty) * starts + weights.empty * starts[:, :1, :1] * np.outer(zeroed, zeroed)
    shift = mean @ starts
    following[:, 1:, :] += shift
    following[:, :, 1:] += shift.swapaxes(-1, -2)
    following[:, 1:, 1:] += move
    return following, np.trace(move, axis1=-2, axis2=-1)


def _clients(problem: Quadratic, numbers: Numbers, centre: Array) -> Clients:
    """The problem in the coordinates theta - centre, in the arithmetic of `numbers`."""
    hessian, linear = numbers.array(problem.client_hessian), numbers.array(problem.client_linear)
    own = np.arange(problem.samples) < problem.counts[:, None]
    hessian_noise = (numbers.array(problem.hessian) - hessian[:, None]) * own[..., None, None]
    linear_noise = (numbers.array(problem.linear) - linear[:, None]) * own[..., None]
    found = [minimise(h, b) for h, b in zip(problem.client_hessian, problem.client_linear, strict=True)]
    points = [numbers.array(f[0]) for f in found if f is not None]
    return Clients(
        numbers=numbers,
        hessian=hessian,
        linear=linear - hessian @ centre,
        minimiser=np.stack(points) - centre if len(points) == len(found) else None,
        hessian_noise=hessian_noise,
        linear_noise=linear_noise - hessian_noise @ centre,
        sample_weight=numbers.array([numbers.ratio(1, int(count)) for count in problem.counts]),
        gradient=affine_gradient(numbers.array(problem.mean_hessian), numbers.array(problem.mean_linear), centre),
    )


def _weights(
    algorithm: Algorithm, participation: Participation, problem: Quadratic, rounds: int, numbers: Numbers
) -> list[WeightMoments]:
    """Weight moments in working numbers: of every round when p is a schedule, else of all rounds at once."""
    scheduled = isinstance(participation, Bernoulli) and participation.p.ndim == 2
    found = [
        weight_moments(participation, problem.clients, k, algorithm.aggregation, algorithm.empty, exact=numbers.exact)
        for k in range(rounds if scheduled else 1)
    ]
    return [WeightMoments(numbers.array(w.mean), numbers.array(w.second), numbers.array(w.empty)[()]) for w in found]


def _check_kinds(algorithm: Any, problem: Any) -> None:
    if not isinstance(algorithm, FedAvg | FedAvgSVRG):
        raise ValueError(f"algorithm={algorithm!r} is neither FedAvgSVRG nor FedAvg")
    if isinstance(algorithm, FedAvg) and algorithm.batch != 1:
        raise ValueError(f"batch={algorithm.batch} is outside {{1}}: exact moments are of batches of one sample")
    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is not a Quadratic: exact moments exist for quadratics only")


def _checked_probabilities(participation: Any, problem: Quadratic, rounds: int) -> Array:
    """(K, N), Fractions in exact mode and float64 otherwise."""
    if isinstance(participation, Bernoulli):
        if problem.exact and not participation.exact:
            raise ValueError(f"p={participation.p} is not rational: an exact problem needs integers or Fractions")
        if participation.p.ndim == 2 and len(participation.p) != rounds:
            raise ValueError(f"p has {len(participation.p)} rows, not rounds={rounds}")
    rows = [round_probabilities(participation, problem.clients, 0)]
    if isinstance(participation, Bernoulli) and participation.p.ndim == 2:
        rows = [round_probabilities(participation, problem.clients, k) for k in range(rounds)]
    elif rounds != 1:
        rows = rows * rounds
    out = np.array(rows, dtype=object).reshape(rounds, problem.clients)
    return out if problem.exact else out.astype(np.float64)


def _check_finite(result: Moments, algorithm: Algorithm) -> None:
    """Refuse a run that left the range of float64, rather than hand on inf and nan."""
    finite = np.isfinite(result.squared_iterate_norm) & np.isfinite(result.cost)
    tables = (result.estimator, result.inner_product, result.displacement, result.local_suboptimality)
    if not (finite.all() and all(t is None or np.isfinite(t).all() for t in tables)):
        raise DivergenceError(
            f"step={algorithm.step} is outside the steps for which the moments of {len(finite) - 1} rounds stay in the"
            " range of float64: the iterates diverge"
        )
    check_cancellation(result.squared_gradient_norm)
