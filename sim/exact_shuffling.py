"""Exact moments of shuffling local SGD on quadratics: the expectation over all orders by a recursion over subsets.

With y = (1, v - centre), K local steps at client c are linear in P = E[yy']: one sampled step is y -> D_i y, so that
T_c : P -> (mean over i of P -> D_i P D_i')^K, whatever came before, because the samples are drawn independently of v.
An epoch in the order s makes T_{s(N-1)} ... T_{s(0)} P of P; `sim.exact_orders` takes its expectation over all N!
orders without listing them. The expected epoch is one linear map; with many epochs it is worked out once, on a basis.

`shuffling_moments` does this, for N <= `MOST_CLIENTS`. `sampled_shuffling_moments` draws orders instead, and keeps the
sampling of gradients exact: an estimate, with its standard error. Both are of the algorithm without projection:
with P_W the map is not linear.

Source: Algorithm 4 of Deng, Kamani, Mahdavinia, Mahdavi ("Distributed Personalized Empirical Risk Minimization").
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sim.algorithms.schedule import checked_count
from sim.algorithms.shuffling import ShufflingSGD
from sim.arguments import to_float
from sim.exact_model import (
    affine_difference,
    centre_of,
    check_cancellation,
    checked_rounds,
    checked_start,
    checked_steps,
    model_moments,
    symmetric_basis,
)
from sim.exact_moments import DivergenceError
from sim.exact_numbers import FLOATS, Array, Numbers, checked, rationals
from sim.exact_orders import expected_product
from sim.problems.linear_algebra import minimise
from sim.problems.quadratic import Quadratic

MOST_CLIENTS = 16
"""Largest N of the recursion over subsets: 2^N states."""

SHARED_LIMIT = 30_000_000
"""Largest number of entries of one size of subsets for which an epoch is worked out on a basis."""


@dataclass(frozen=True, eq=False)
class ShufflingMoments:
    """Moments of v^r after r = 0..R epochs; arrays of float64, or of Fractions when the problem is exact.

    Phi = sum_c alpha_c f_c. For the paper's (3), Phi = (1/N) sum_c alpha_c f_c, see `scaled`.

    Attributes:
        mean: (R+1, d), E v^r.
        second_moment: (R+1, d, d), E v^r v^r'.
        squared_gradient_norm: (R+1,), E||grad Phi(v^r)||^2.
        suboptimality: (R+1,), E Phi(v^r) - Phi*; None when Phi is unbounded below.
        cost: (R+1,), E Phi(v^r).
        squared_iterate_norm: (R+1,), E||v^r||^2.
        squared_distance: (R+1,), E||v^r - v*||^2; None unless Phi has exactly one minimiser v*.
    """

    mean: Array
    second_moment: Array
    squared_gradient_norm: Array
    suboptimality: Array | None
    cost: Array
    squared_iterate_norm: Array
    squared_distance: Array | None

    @property
    def epochs(self) -> int:
        """R."""
        return len(self.mean) - 1

    def scaled(self, factor: Any) -> ShufflingMoments:
        """The same moments when the objective is factor Phi: the iterates do not change.

        Args:
            factor: > 0, such as Fraction(1, N) for the paper's (3).
        """
        return replace(
            self,
            squared_gradient_norm=self.squared_gradient_norm * (factor * factor),
            suboptimality=None if self.suboptimality is None else self.suboptimality * factor,
            cost=self.cost * factor,
        )


@dataclass(frozen=True, eq=False)
class SampledMoments:
    """An estimate of `ShufflingMoments` from independent runs over random orders.

    Attributes:
        estimate: unbiased, means over the runs.
        standard_error: of each entry of `estimate`.
        runs: how many there were, each with R orders of its own.
    """

    estimate: ShufflingMoments
    standard_error: ShufflingMoments
    runs: int


def shuffling_moments(algorithm: ShufflingSGD, problem: Quadratic, *, epochs: int, start: Any) -> ShufflingMoments:
    """The exact first and second moments of R epochs from a fixed start, over all orders and all samples.

    Args:
        algorithm: of one model, `ShufflingSGD` with N weights; a step given one an epoch must have R entries.
        problem: `Quadratic` of N <= 16 clients; exact (Fractions) iff ``problem.exact``, and then step, weights and
            start must be rational.
        epochs: R >= 0.
        start: (d,), v^0.

    Raises:
        ValueError: an argument outside its domain, of the wrong shape, not finite, or not rational in exact mode; too
            many clients (see `sampled_shuffling_moments`); or iterates that diverge beyond the range of float64.
    """
    plan = _plan(algorithm, problem, epochs, start, rationals() if _is_exact(problem) else FLOATS)
    if problem.clients > MOST_CLIENTS:
        raise ValueError(
            f"problem has {problem.clients} clients, outside [1, {MOST_CLIENTS}]: the recursion takes 2^N states;"
            " sampled_shuffling_moments estimates, with a standard error"
        )
    size = len(plan.start)
    upper = np.triu_indices(size)
    rows = [np.outer(plan.start, plan.start)[upper]]
    repeats, visits, epoch_maps = Counter(plan.steps), {}, {}
    identity = plan.numbers.identity(len(rows[0]))
    widest = math.comb(problem.clients, problem.clients // 2)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in plan.steps:
            if step not in visits:
                visits[step] = _visits(plan, step)
            if len(identity) <= min(repeats[step], SHARED_LIMIT / (widest * len(identity))):
                if step not in epoch_maps:
                    epoch_maps[step] = expected_product(plan.numbers, visits[step], identity)
                rows.append(rows[-1] @ epoch_maps[step])
            else:
                rows.append(expected_product(plan.numbers, visits[step], rows[-1][None])[0])
        result = _moments(plan, _matrices(np.stack(rows), size))
    if not plan.numbers.exact:
        _check_finite(result, algorithm)
    return result


def sampled_shuffling_moments(
    algorithm: ShufflingSGD, problem: Quadratic, *, epochs: int, start: Any, runs: int, seed: int = 0
) -> SampledMoments:
    """An estimate of `shuffling_moments` for any number of clients, in float64.

    Each run draws R orders, the same as run r of that seed in the simulator, and carries E[yy'] given the orders
    through them exactly. The entries of the standard error are sample standard deviations over sqrt(runs); they are 0
    to rounding where the order does not matter.

    Args:
        algorithm: as in `shuffling_moments`.
        problem: `Quadratic`; an exact one is computed in float64.
        epochs: R >= 0.
        start: (d,), v^0.
        runs: >= 2.
        seed: in [0, 2^64).

    Raises:
        ValueError: as in `shuffling_moments`.
    """
    from sim.streams import Streams

    if checked_count(runs, "runs") < 2:
        raise ValueError(f"runs={runs} is outside [2, inf): one run has no standard error")
    plan = _plan(algorithm, problem, epochs, start, FLOATS)
    size = len(plan.start)
    streams = Streams(seed, np.arange(runs), backend="numpy")
    begin = np.outer(plan.start, plan.start)[np.triu_indices(size)]
    rows = [np.broadcast_to(begin, (runs, len(begin)))]
    visits: dict[Any, Array] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for r, step in enumerate(plan.steps):
            if step not in visits:
                visits[step] = _visits(plan, step)
            now = rows[-1].copy()
            for here in streams.permutations(problem.clients, range(r, r + 1)).numpy()[0]:
                for c in range(problem.clients):
                    at_c = here == c
                    now[at_c] = now[at_c] @ visits[step][c]
            rows.append(now)
        matrices = _matrices(np.stack(rows, axis=1).reshape(-1, len(begin)), size)
        found = _moments(plan, matrices)
    values: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for field in fields(ShufflingMoments):
        entry = getattr(found, field.name)
        if entry is not None:
            entry = entry.reshape(runs, -1, *entry.shape[1:])
        values[field.name] = None if entry is None else entry.mean(axis=0)
        errors[field.name] = None if entry is None else entry.std(axis=0, ddof=1) / math.sqrt(runs)
    estimate = ShufflingMoments(**values)
    _check_finite(estimate, algorithm)
    return SampledMoments(estimate, ShufflingMoments(**errors), runs)


def weighted_problem(problem: Quadratic, weights: Any, exact: bool | None = None) -> Quadratic:
    """The problem of the clients N alpha_c f_c: its f is Phi = sum_c alpha_c f_c.

    A plain step of its client c is shuffling local SGD's.

    Args:
        problem: the f_c.
        weights: (N,) alpha, rational where the result is exact.
        exact: whether the result is exact; as `problem` is by default.
    """
    hessian, linear, offset = (problem.hessian, problem.linear, problem.offset)
    if exact is False:
        hessian, linear, offset = to_float(hessian), to_float(linear), to_float(offset)
    factor = problem.clients * np.array(weights, dtype=hessian.dtype)
    return Quadratic(
        hessian=hessian * factor[:, None, None, None],
        linear=linear * factor[:, None, None],
        offset=offset * factor[:, None],
        counts=problem.counts,
    )


@dataclass(frozen=True)
class _Plan:
    """A run in working numbers.

    Attributes:
        numbers: the arithmetic.
        problem: the clients' N alpha_c f_c, whose mean is Phi.
        best: a minimiser of Phi and the rank of its Hessian, or None.
        centre: (d,), the origin of the coordinates.
        start: (1 + d,), y at the start.
        steps: of each epoch.
        local_steps: K.
    """

    numbers: Numbers
    problem: Quadratic
    best: tuple[Array, int] | None
    centre: Array
    start: Array
    steps: list[Any]
    local_steps: int


def _is_exact(problem: Any) -> bool:
    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is not a Quadratic: exact moments exist for quadratics only")
    return problem.exact


def _plan(algorithm: Any, problem: Any, epochs: Any, start: Any, numbers: Numbers) -> _Plan:
    _is_exact(problem)
    if not isinstance(algorithm, ShufflingSGD) or isinstance(algorithm.weights[0], tuple):
        raise ValueError(f"algorithm={algorithm!r} is not a ShufflingSGD of one model")
    if algorithm.clients != problem.clients:
        raise ValueError(f"weights has {algorithm.clients} entries, not N={problem.clients}")
    weights = [checked(w, f"weights[{c}]", exact=numbers.exact) for c, w in enumerate(algorithm.weights)]
    steps = checked_steps(algorithm.step, checked_rounds(epochs, "epochs"), numbers, "epochs")
    begin = checked_start(start, problem.dim, numbers)
    scaled = weighted_problem(problem, weights, numbers.exact)
    best = minimise(scaled.mean_hessian, scaled.mean_linear)
    centre = centre_of(problem, numbers, begin, best)
    return _Plan(
        numbers=numbers,
        problem=scaled,
        best=best,
        centre=centre,
        start=np.concatenate([numbers.identity(1)[0], begin - centre]),
        steps=steps,
        local_steps=algorithm.local_steps,
    )


def _visits(plan: _Plan, step: Any) -> Array:
    """(N, m, m), T_c on the upper triangle of P as a row, m = (1+d)(2+d)/2: row @ T_c is the row of the image."""
    numbers, problem = plan.numbers, plan.problem
    size = problem.dim + 1
    basis, upper = symmetric_basis(numbers, size), np.triu_indices(size)
    out = []
    for c in range(problem.clients):
        count = int(problem.counts[c])
        hessian, linear = numbers.array(problem.hessian[c, :count]), numbers.array(problem.linear[c, :count])
        moves = numbers.zeros(count, size, size)
        moves[:] = numbers.identity(size)
        moves[:, 1:, 1:] -= step * hessian
        moves[:, 1:, 0] += step * (linear - hessian @ plan.centre)
        images = (moves[:, None] @ basis @ moves[:, None].swapaxes(-1, -2)).sum(axis=0) * numbers.ratio(1, count)
        out.append(np.linalg.matrix_power(images[:, upper[0], upper[1]], plan.local_steps))
    return np.stack(out)


def _matrices(rows: Array, size: int) -> Array:
    """(..., m) upper triangles -> (..., size, size) symmetric matrices."""
    i, j = np.triu_indices(size)
    out = np.empty((*rows.shape[:-1], size, size), dtype=rows.dtype)
    out[..., i, j] = rows
    out[..., j, i] = rows
    return out


def _moments(plan: _Plan, seconds: Array) -> ShufflingMoments:
    """From E[yy'] of every epoch, (R+1, 1 + d, 1 + d)."""
    distance = None
    if plan.best is not None and plan.best[1] == plan.problem.dim:
        gap = affine_difference(plan.numbers, plan.numbers.array(plan.best[0]) - plan.centre)
        distance = plan.numbers.result(seconds.reshape(len(seconds), -1) @ (gap.T @ gap).ravel())
    found = model_moments(plan.problem, plan.numbers, plan.centre, seconds, plan.best)
    return ShufflingMoments(**found, squared_distance=distance)


def _check_finite(result: ShufflingMoments, algorithm: ShufflingSGD) -> None:
    """Refuse a run that left the range of float64, rather than hand on inf and nan."""
    if not (np.isfinite(result.squared_iterate_norm) & np.isfinite(result.cost)).all():
        raise DivergenceError(
            f"step={algorithm.step} is outside the steps for which the moments of {result.epochs} epochs stay in the"
            " range of float64: the iterates diverge"
        )
    check_cancellation(result.squared_gradient_norm)
