"""Exact moments of FedMIM on quadratics with finite sampling: computed, not estimated.

The state of a round is z = (1, x_t - centre, delta_t, ..., delta_{t-J+1}); everything is linear in P = E[zz']. A client
is pulled by fixed linear functions of z, so that its iterate is x_{i,k} = B_k z + e given z, where e is the noise of
the samples, with mean 0 and a covariance that obeys a recursion over the local steps and is linear in P. The clients
are independent of one another given z; with c_n = 1_n/S and the inclusion probabilities of one client and of two,

    E[m m'] = sum_{n,l} E[c_n c_l] D_n P D_l' + sum_n E[c_n^2] C_n,    m = x_{t+1} - x_t,  D_n = B_K - B_0,

and the next state is linear in z and m. Numbers: float64, or rationals throughout when the problem is exact.

Source: Liu, Sun, Ding, Shen, Liu, Tao: "Enhance Local Consistency in Federated Learning: A Multi-Step Inertial Momentum
Approach", Algorithm 1 and the sequence u_t of its (15).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.algorithms.momentum import FedMIM
from sim.exact_inertial_moments import InertialMoments
from sim.exact_model import (
    affine_gradient,
    centre_of,
    check_cancellation,
    checked_rounds,
    checked_start,
    checked_steps,
    model_moments,
)
from sim.exact_moments import DivergenceError
from sim.exact_numbers import FLOATS, Array, Numbers, checked, rationals
from sim.participation import UniformChoice, WeightMoments, weight_moments
from sim.problems.linear_algebra import minimise
from sim.problems.quadratic import Quadratic


def inertial_moments(
    algorithm: FedMIM,
    problem: Quadratic,
    participation: UniformChoice | None = None,
    *,
    rounds: int,
    start: Any,
) -> InertialMoments:
    """The exact first and second moments of T rounds from a fixed start, with x_{-s} = x_0.

    Args:
        algorithm: `FedMIM` with batches of one sample; a step given one a round must have T entries.
        problem: `Quadratic`; exact (Fractions) iff ``problem.exact``, and then step, weights and start must be
            rational.
        participation: S of the N clients; None: everybody.
        rounds: T >= 0.
        start: (d,), x_0.

    Raises:
        ValueError: an argument outside its domain, of the wrong shape, not finite, or not rational in exact mode; or
            iterates that diverge beyond the range of float64.
    """
    if not isinstance(algorithm, FedMIM):
        raise ValueError(f"algorithm={algorithm!r} is not a FedMIM")
    if algorithm.batch != 1:
        raise ValueError(f"batch={algorithm.batch} is outside {{1}}: exact moments are those of one sample a step")
    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is not a Quadratic: exact moments exist for quadratics only")
    if participation is not None and not isinstance(participation, UniformChoice):
        raise ValueError(f"participation={participation!r} is neither None nor a UniformChoice")
    rounds = checked_rounds(rounds)
    numbers = rationals() if problem.exact else FLOATS
    steps = checked_steps(algorithm.step, rounds, numbers)
    begin = checked_start(start, problem.dim, numbers)
    best = minimise(problem.mean_hessian, problem.mean_linear)
    centre = centre_of(problem, numbers, begin, best)
    plan = _plan(algorithm, problem, participation, numbers, centre)
    state = plan.numbers.zeros(plan.size)
    state[:1], state[1 : 1 + problem.dim] = plan.numbers.identity(1)[0], begin - centre
    with np.errstate(over="ignore", invalid="ignore"):
        seconds, tables = _run(plan, np.outer(state, state), steps)
        result = _moments(plan, problem, centre, best, seconds, tables)
    if not numbers.exact:
        _check_finite(result, algorithm)
    return result


@dataclass(frozen=True)
class _Plan:
    """A run in working numbers, with m = 1 + d (1 + max(J, 1)) the length of z.

    Attributes:
        numbers: the arithmetic.
        hessian, linear: (N, d, d) and (N, d), grad f_n = H_n (x - centre) - linear_n.
        spread: (N, n, d, 1 + d), g - grad f_n = spread_{n,i} (1, x - centre); 0 on padding. None when every client has
            one sample.
        sample_weight: (N, 1, 1), 1 / number of samples.
        weights: moments of the c_n.
        gradient_weight: A.
        local_steps: K.
        shift, ahead: (d, m), sum_j alpha_j delta_{t-j} and sum_j beta_j delta_{t-j} as functions of z.
        auxiliary: (d, m), u_t - centre.
        gradient: (d, m), grad f(u_t).
    """

    numbers: Numbers
    hessian: Array
    linear: Array
    spread: Array | None
    sample_weight: Array
    weights: WeightMoments
    gradient_weight: Any
    local_steps: int
    shift: Array
    ahead: Array
    auxiliary: Array
    gradient: Array

    @property
    def dim(self) -> int:
        """d."""
        return len(self.shift)

    @property
    def size(self) -> int:
        """m."""
        return int(self.shift.shape[1])

    @property
    def model(self) -> Array:
        """(d, m), x_t - centre."""
        return self.numbers.identity(self.size)[1 : 1 + self.dim]


def _plan(
    algorithm: FedMIM, problem: Quadratic, participation: UniformChoice | None, numbers: Numbers, centre: Array
) -> _Plan:
    d, lags = problem.dim, max(algorithm.lags, 1)
    alpha = [numbers.load(checked(a, f"alpha[{j}]", exact=numbers.exact)) for j, a in enumerate(algorithm.alpha)]
    beta = [numbers.load(checked(b, f"beta[{j}]", exact=numbers.exact)) for j, b in enumerate(algorithm.beta)]
    one = numbers.ratio(1, 1)
    gradient_weight = one - sum(alpha)
    increments = numbers.identity(1 + d * (1 + lags))[1 + d :].reshape(lags, d, -1)

    def combined(weights: list[Any]) -> Array:
        return sum((w * increments[j] for j, w in enumerate(weights)), 0 * increments[0])

    model = numbers.identity(1 + d * (1 + lags))[1 : 1 + d]
    tails = [sum(alpha[j:]) * algorithm.local_steps / gradient_weight for j in range(len(alpha))]
    auxiliary = model - combined(tails)
    gradient = affine_gradient(numbers.array(problem.mean_hessian), numbers.array(problem.mean_linear), centre)
    constant = numbers.identity(1 + d * (1 + lags))[:1]
    hessian, linear = numbers.array(problem.client_hessian), numbers.array(problem.client_linear)
    spread = None
    if problem.samples > 1:
        own = np.arange(problem.samples) < problem.counts[:, None]
        curved = (numbers.array(problem.hessian) - hessian[:, None]) * own[..., None, None]
        flat = (numbers.array(problem.linear) - linear[:, None]) * own[..., None] - curved @ centre
        spread = np.concatenate([-flat[..., None], curved], axis=-1)
    choice = UniformChoice(problem.clients) if participation is None else participation
    law = weight_moments(choice, problem.clients, 0, "normalised", exact=numbers.exact)
    return _Plan(
        numbers=numbers,
        hessian=hessian,
        linear=linear - hessian @ centre,
        spread=spread,
        sample_weight=numbers.array([numbers.ratio(1, int(count)) for count in problem.counts])[:, None, None],
        weights=WeightMoments(numbers.array(law.mean), numbers.array(law.second), law.empty),
        gradient_weight=gradient_weight,
        local_steps=algorithm.local_steps,
        shift=combined(alpha),
        ahead=combined(beta),
        auxiliary=auxiliary,
        gradient=gradient @ np.concatenate([constant, auxiliary]),
    )


@dataclass(frozen=True)
class _Path:
    """What does not depend on P in a round with a given step.

    Attributes:
        points: (K+1, N, d, m), E[x_{i,k} - centre | z].
        gradients: (K, N, d, m), E[grad f_i(y_{i,k,2}) | z].
        carriers: (K, N, 1 + d, m), E[(1, y_{i,k,2} - centre) | z].
        contraction: (N, d, d), what a local step does to the noise.
    """

    points: Array
    gradients: Array
    carriers: Array
    contraction: Array


def _path(plan: _Plan, step: Any) -> _Path:
    numbers = plan.numbers
    count, d, m = len(plan.linear), plan.dim, plan.size
    length = plan.gradient_weight * step
    points, gradients, carriers = [numbers.zeros(count, d, m) + plan.model], [], []
    for _ in range(plan.local_steps):
        carrier = numbers.zeros(count, 1 + d, m)
        carrier[:, 0, 0] = 1
        carrier[:, 1:] = points[-1] - plan.ahead
        gradient = plan.hessian @ carrier[:, 1:]
        gradient[..., 0] -= plan.linear
        points.append(points[-1] - plan.shift - length * gradient)
        gradients.append(gradient)
        carriers.append(carrier)
    return _Path(np.stack(points), np.stack(gradients), np.stack(carriers), numbers.identity(d) - length * plan.hessian)


def _run(plan: _Plan, start: Array, steps: list[Any]) -> tuple[Array, dict[str, Array]]:
    """E[zz'] of every round, (T+1, m, m), and the tables of the rounds by name."""
    rounds, count, local = len(steps), len(plan.linear), plan.local_steps
    shapes = {
        "squared_average_step": (rounds,),
        "inner_product": (rounds,),
        "displacement": (rounds, count, local + 1),
        "local_gradient": (rounds, count, local),
        "noise": (rounds, count, local),
        "mean_gradient": (rounds, local),
        "selected_gradient": (rounds, local),
    }
    everybody = plan.numbers.zeros(count, count) + plan.numbers.ratio(1, count * count)
    tables = {name: plan.numbers.zeros(*shape) for name, shape in shapes.items()}
    paths: dict[Any, _Path] = {}
    seconds = [start]
    keep, add = _transition(plan)
    squares = plan.hessian @ plan.hessian
    for t, step in enumerate(steps):
        if step not in paths:
            paths[step] = _path(plan, step)
        path, now = paths[step], seconds[-1]
        covariance, noise = _covariance(plan, path, now, plan.gradient_weight * step)
        away = path.points - path.points[0]
        tables["displacement"][t] = (_square(away, now) + _trace(covariance)).T
        spread = (squares * covariance[:-1]).sum(axis=(-2, -1))
        tables["local_gradient"][t] = (_square(path.gradients, now) + spread).T
        tables["mean_gradient"][t] = _pooled(everybody, path.gradients, spread, now)
        tables["selected_gradient"][t] = _pooled(plan.weights.second, path.gradients, spread, now)
        tables["noise"][t] = noise.T
        # dtilde = -(1/(KA)) sum_n c_n (x_{n,K} - x + K sum_j alpha_j delta_{t-j})
        factor = plan.numbers.ratio(-1, local) / plan.gradient_weight
        sums = away[-1] + local * plan.shift
        mean_sum = np.tensordot(plan.weights.mean, sums, axes=1)
        tables["squared_average_step"][t] = factor * factor * np.trace(_server(plan, sums, covariance[-1], now))
        tables["inner_product"][t] = factor * np.trace(plan.gradient @ now @ mean_sum.T)
        mean = np.tensordot(plan.weights.mean, away[-1], axes=1)
        cross = add @ mean @ now @ keep.T
        following = keep @ now @ keep.T + cross + cross.T + add @ _server(plan, away[-1], covariance[-1], now) @ add.T
        seconds.append(following)
    return np.stack(seconds), tables


def _covariance(plan: _Plan, path: _Path, now: Array, length: Any) -> tuple[Array, Array]:
    """Covariance of x_{i,k} given z, (K+1, N, d, d), and E||g_{i,k} - grad f_i||^2, (K, N)."""
    count, d, local = len(plan.linear), plan.dim, plan.local_steps
    covariance, noise = plan.numbers.zeros(local + 1, count, d, d), plan.numbers.zeros(local, count)
    if plan.spread is None:
        return covariance, noise
    for k in range(local):
        second = path.carriers[k] @ now @ path.carriers[k].swapaxes(-1, -2)
        second[:, 1:, 1:] += covariance[k]
        fresh = (plan.spread @ second[:, None] @ plan.spread.swapaxes(-1, -2)).sum(axis=1) * plan.sample_weight
        noise[k] = _trace(fresh)
        covariance[k + 1] = path.contraction @ covariance[k] @ path.contraction + length * length * fresh
    return covariance, noise


def _transition(plan: _Plan) -> tuple[Array, Array]:
    """(m, m) and (m, d): z+ = keep z + add (x_{t+1} - x_t)."""
    numbers, d = plan.numbers, plan.dim
    keep, add = numbers.zeros(plan.size, plan.size), numbers.zeros(plan.size, d)
    keep[: 1 + d, : 1 + d] = numbers.identity(1 + d)
    keep[1 + 2 * d :, 1 + d : plan.size - d] = numbers.identity(plan.size - 1 - 2 * d)
    add[1 : 1 + d] = numbers.identity(d)
    add[1 + d : 1 + 2 * d] = numbers.ratio(-1, plan.local_steps) * numbers.identity(d)
    return keep, add


def _server(plan: _Plan, maps: Array, covariance: Array, now: Array) -> Array:
    """(d, d), E[ss'] of s = sum_n c_n (maps_n z + e_n), from maps (N, d, m) and the covariance of e_n (N, d, d)."""
    mixed = np.tensordot(plan.weights.second, maps, axes=1)
    total = (mixed @ now @ maps.swapaxes(-1, -2)).sum(axis=0)
    return total + np.tensordot(np.diagonal(plan.weights.second), covariance, axes=1)


def _pooled(weights: Array, maps: Array, variance: Array, now: Array) -> Array:
    """(K,), E||s||^2 of s = sum_n c_n (maps_n z + e_n), E[c_n c_l] = weights; maps (K, N, d, m), E||e_n||^2 (K, N)."""
    mixed = (weights @ maps.reshape(*maps.shape[:2], -1)).reshape(maps.shape)
    return (mixed @ now * maps).sum(axis=(1, 2, 3)) + variance @ np.diagonal(weights)


def _square(maps: Array, now: Array) -> Array:
    """E||maps z||^2: (..., d, m) -> (...)."""
    return (maps @ now * maps).sum(axis=(-2, -1))


def _trace(matrices: Array) -> Array:
    """Trace over the last two axes."""
    return np.trace(matrices, axis1=-2, axis2=-1)


def _moments(
    plan: _Plan,
    problem: Quadratic,
    centre: Array,
    best: tuple[Array, int] | None,
    seconds: Array,
    tables: dict[str, Array],
) -> InertialMoments:
    numbers, d = plan.numbers, plan.dim
    auxiliary = np.concatenate([numbers.identity(plan.size)[:1], plan.auxiliary])
    lifted = auxiliary @ seconds @ auxiliary.T
    model = model_moments(problem, numbers, centre, seconds[:, : 1 + d, : 1 + d], best)
    other = model_moments(problem, numbers, centre, lifted, best)
    recent = slice(1 + d, 1 + 2 * d)
    return InertialMoments(
        **model,
        auxiliary_mean=other["mean"],
        auxiliary_squared_gradient_norm=other["squared_gradient_norm"],
        auxiliary_suboptimality=other["suboptimality"],
        squared_increment=numbers.result(_trace(seconds[:, recent, recent])),
        **{name: numbers.result(values) for name, values in tables.items()},
    )


def _check_finite(result: InertialMoments, algorithm: FedMIM) -> None:
    """Refuse a run that left the range of float64, rather than hand on inf and nan."""
    finite = np.isfinite(result.squared_iterate_norm) & np.isfinite(result.cost)
    tables = (result.squared_average_step, result.displacement, result.local_gradient, result.noise)
    if not (finite.all() and all(np.isfinite(table).all() for table in tables)):
        raise DivergenceError(
            f"step={algorithm.step} is outside the steps for which the moments of {result.rounds} rounds stay in the"
            " range of float64: the iterates diverge"
        )
    check_cancellation(result.squared_gradient_norm)
