"""The scalar moments of FedMIM for many instances at once, in floats: the search's own, faster way to them.

A second implementation of what `sim.exact_inertial` computes, for one dimension, one structure (N, S, K, T, J) and
sampling noise that does not depend on x. It proposes; what it finds is decided by the oracle.

The state z = (1, x_t - centre, delta_t, ..., delta_{t-J+1}) of a round has the second moments P = E[zz']. A round is
linear in P, so that it is one matrix on the entries of P, and every quantity of the round is a quadratic form of P.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.algorithms import FedMIM
from sim.exact_inertial_moments import InertialMoments
from sim.exact_model import check_cancellation
from sim.exact_moments import DivergenceError
from sim.participation import UniformChoice
from sim.problems import Quadratic
from validate.assumptions import equal_curvatures
from validate.inertial_scenario import ALGORITHM, InertialScenario
from validate.once import once

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """B instances of one structure: N clients, S of them a round, K local steps, T rounds, J lags.

    Attributes:
        h, b: (B, N), f_n(x) = h_n/2 x^2 - b_n x.
        spread: (B, N), the samples' slopes are b + spread and b - spread, so that a sampled gradient has the variance
            spread^2 at every x.
        step: (B,), eta_l.
        alpha, beta: (B, J).
        start: (B,), x_0.
        selected: S.
        local_steps: K.
        rounds: T.
    """

    h: Floats
    b: Floats
    spread: Floats
    step: Floats
    alpha: Floats
    beta: Floats
    start: Floats
    selected: int
    local_steps: int
    rounds: int

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, eq=False)
class Played(InertialScenario):
    """A scenario whose moments are those found here; refused where the oracle's would be."""

    found: InertialMoments

    @once
    def moments(self) -> InertialMoments:
        """Those found here."""
        values = (self.found.squared_iterate_norm, self.found.cost, self.found.displacement, self.found.local_gradient)
        if not all(np.isfinite(array).all() for array in values):
            raise DivergenceError(f"the moments of {self.rounds} rounds leave the range of float64")
        check_cancellation(self.found.squared_gradient_norm)
        return self.found


def scenarios(batch: Batch) -> list[Played]:
    """The instances as scenarios with moments."""
    noisy = bool(batch.spread.any())
    signs = np.array([1.0, -1.0]) if noisy else np.zeros(1)
    count, clients = batch.h.shape
    shape = (count, clients, len(signs))
    hessian = np.broadcast_to(batch.h[:, :, None], shape)[..., None, None]
    linear = (batch.b[:, :, None] + batch.spread[:, :, None] * signs)[..., None]
    return [
        Played(
            name=ALGORITHM,
            algorithm=FedMIM(
                step=float(batch.step[i]),
                local_steps=batch.local_steps,
                alpha=tuple(batch.alpha[i].tolist()),
                beta=tuple(batch.beta[i].tolist()),
            ),
            problem=Quadratic(hessian[i], linear[i], np.zeros(shape[1:]), np.full(clients, len(signs))),
            participation=UniformChoice(batch.selected),
            rounds=batch.rounds,
            start=batch.start[i : i + 1],
            found=found,
        )
        for i, found in enumerate(moments(batch))
    ]


def replayed(scenario: InertialScenario) -> InertialScenario:
    """A scalar scenario in floats with the moments found here, or as it is where this module does not know them."""
    problem, algorithm = scenario.problem, scenario.algorithm
    varies = isinstance(algorithm.step, tuple) or not equal_curvatures(problem)
    if scenario.exact or problem.dim != 1 or scenario.rounds < 1 or varies:
        return scenario
    batch = Batch(
        h=problem.client_hessian[None, :, 0, 0],
        b=problem.client_linear[None, :, 0],
        spread=np.sqrt(problem.sampling_noise(np.zeros(1)))[None],
        step=np.array([algorithm.step], dtype=np.float64),
        alpha=np.array([algorithm.alpha], dtype=np.float64),
        beta=np.array([algorithm.beta], dtype=np.float64),
        start=np.array(scenario.start, dtype=np.float64),
        selected=scenario.participation.size,
        local_steps=algorithm.local_steps,
        rounds=scenario.rounds,
    )
    own = {
        name: getattr(scenario, name) for name in ("name", "algorithm", "problem", "participation", "rounds", "start")
    }
    return Played(**own, found=moments(batch)[0])


@dataclass(frozen=True, eq=False)
class _Forms:
    """Linear forms of z, (B, ..., m): of a round, in the names of `sim.exact_inertial`."""

    points: Floats  # (B, K+1, N, m)
    gradients: Floats  # (B, K, N, m)
    covariance: Floats  # (B, K+1, N), of x_{n,k} given z
    shift: Floats  # (B, m)
    auxiliary: Floats  # (B, m), u_t - centre


def moments(batch: Batch) -> list[InertialMoments]:
    """What `sim.exact_inertial.inertial_moments` finds on each instance; inf or nan where it leaves the floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _moments(batch)


def _moments(batch: Batch) -> list[InertialMoments]:
    count, clients = batch.h.shape
    curvature, linear = batch.h.mean(1), batch.b.mean(1)
    curved = np.abs(curvature) > 1e-6 * np.maximum(np.abs(batch.h).max(1), 1e-300)
    # Coordinates around the stationary point of f, so that what converges keeps its digits.
    centre = np.where(curved, linear / np.where(curved, curvature, 1.0), 0.0)
    forms = _forms(batch, centre)
    m = forms.shift.shape[-1]
    keep, add = _transition(m, batch.local_steps)
    own, pair = _chances(clients, batch.selected)
    away = forms.points - forms.points[:, :1]
    moved = keep + add[:, None] * away[:, -1][:, :, None, :]  # (B, N, m, m): z+ if n alone took part
    total = moved.sum(1)
    each = np.einsum("bnij,bnkl->bikjl", moved, moved).reshape(count, m * m, m * m)
    both = np.einsum("bij,bkl->bikjl", total, total).reshape(count, m * m, m * m)
    step = pair * both + (own - pair) * each
    step[:, :, 0] += own * forms.covariance[:, -1].sum(1)[:, None] * np.outer(add, add).ravel()
    first = np.zeros((count, m))
    first[:, 0], first[:, 1] = 1.0, batch.start - centre
    rows = np.empty((count, batch.rounds + 1, m * m))
    rows[:, 0] = (first[:, :, None] * first[:, None, :]).reshape(count, -1)
    for t in range(batch.rounds):
        rows[:, t + 1] = (step @ rows[:, t, :, None])[:, :, 0]
    return _read(batch, forms, rows, centre, curvature, linear)


def _forms(batch: Batch, centre: Floats) -> _Forms:
    count, clients = batch.h.shape
    variance = batch.spread**2
    lags = batch.alpha.shape[1]
    m = 2 + max(lags, 1)
    weight = 1 - batch.alpha.sum(1)
    length = weight * batch.step
    shift, ahead, auxiliary = np.zeros((3, count, m))
    shift[:, 2 : 2 + lags], ahead[:, 2 : 2 + lags] = batch.alpha, batch.beta
    tails = np.cumsum(batch.alpha[:, ::-1], axis=1)[:, ::-1]
    auxiliary[:, 1] = 1.0
    auxiliary[:, 2 : 2 + lags] = -batch.local_steps / weight[:, None] * tails
    offset = batch.b - batch.h * centre[:, None]
    points = np.zeros((count, batch.local_steps + 1, clients, m))
    points[:, 0, :, 1] = 1.0
    gradients = np.empty((count, batch.local_steps, clients, m))
    covariance = np.zeros((count, batch.local_steps + 1, clients))
    contraction = 1 - length[:, None] * batch.h
    for k in range(batch.local_steps):
        gradients[:, k] = batch.h[..., None] * (points[:, k] - ahead[:, None])
        gradients[:, k, :, 0] -= offset
        points[:, k + 1] = points[:, k] - shift[:, None] - length[:, None, None] * gradients[:, k]
        covariance[:, k + 1] = contraction**2 * covariance[:, k] + length[:, None] ** 2 * variance
    return _Forms(points, gradients, covariance, shift, auxiliary)


def _transition(m: int, local_steps: int) -> tuple[Floats, Floats]:
    """(m, m) and (m,): z+ = keep z + add (x_{t+1} - x_t)."""
    keep, add = np.zeros((m, m)), np.zeros(m)
    keep[0, 0] = keep[1, 1] = 1.0
    keep[range(3, m), range(2, m - 1)] = 1.0
    add[1], add[2] = 1.0, -1.0 / local_steps
    return keep, add


def _chances(clients: int, selected: int) -> tuple[float, float]:
    """E c_n^2 and E c_n c_l of c_n = 1_n/S."""
    own = 1 / (selected * clients)
    return own, own * (selected - 1) / max(clients - 1, 1)


def _pooled(maps: Floats, variance: Floats, rows: Floats, selected: int) -> Floats:
    """E(sum_n c_n (maps_n z + e_n))^2, (B, T, ...), from maps (B, ..., N, m) and the variances (B, ..., N) of e_n."""
    own, pair = _chances(maps.shape[-2], selected)
    total = maps.sum(-2)
    pooled = pair * _expect(total, total, rows) + (own - pair) * _expect(maps, maps, rows).sum(-1)
    return pooled + own * variance.sum(-1)[:, None]


def _expect(forms: Floats, others: Floats, rows: Floats) -> Floats:
    """E[(form z)(other z)] in every round: (B, ..., m) twice and (B, T, m^2) -> (B, T, ...)."""
    count, m = len(forms), forms.shape[-1]
    products = (forms[..., :, None] * others[..., None, :]).reshape(count, -1, m * m)
    return (rows @ products.swapaxes(1, 2)).reshape(count, rows.shape[1], *forms.shape[1:-1])


def _read(
    batch: Batch, forms: _Forms, rows: Floats, centre: Floats, curvature: Floats, linear: Floats
) -> list[InertialMoments]:
    """The moments by name, from the second moments of z."""
    count, clients = batch.h.shape
    m = forms.shift.shape[-1]
    before = rows[:, :-1]
    factor = -1 / (batch.local_steps * (1 - batch.alpha.sum(1)))
    sums = forms.points[:, -1] - forms.points[:, 0] + batch.local_steps * forms.shift[:, None]
    average = _pooled(sums, forms.covariance[:, -1], before, batch.selected)
    unit = np.eye(m)
    model = np.broadcast_to(unit[1], (count, m))
    slope = curvature[:, None] * forms.auxiliary
    slope[:, 0] += curvature * centre - linear
    displaced = forms.points - forms.points[:, :1]
    covariance = forms.covariance
    spread = batch.h[:, None] ** 2 * covariance[:, :-1]
    gradients = forms.gradients
    tables = {
        "squared_average_step": factor[:, None] ** 2 * average,
        "inner_product": factor[:, None] * _expect(slope, sums.mean(1), before),
        "displacement": (_expect(displaced, displaced, before) + covariance[:, None]).swapaxes(2, 3),
        "local_gradient": (_expect(gradients, gradients, before) + spread[:, None]).swapaxes(2, 3),
        "mean_gradient": _pooled(gradients, spread, before, clients),
        "selected_gradient": _pooled(gradients, spread, before, batch.selected),
        "squared_increment": rows[:, :, 2 * m + 2],
    }
    own_moments = _of_model(model, rows, centre, curvature, linear)
    other = _of_model(forms.auxiliary, rows, centre, curvature, linear)
    bounded = (curvature > 1e-12 * np.abs(batch.h).max(1)) | ((curvature == 0) & (linear == 0))
    found = []
    for i in range(count):
        mine = {name: values[i] for name, values in own_moments.items()}
        theirs = {name: values[i] for name, values in other.items()}
        found.append(
            InertialMoments(
                mean=mine["mean"][:, None],
                second_moment=mine["square"][:, None, None],
                squared_gradient_norm=mine["gradient"],
                suboptimality=mine["gap"] if bounded[i] else None,
                cost=mine["cost"],
                squared_iterate_norm=mine["square"],
                auxiliary_mean=theirs["mean"][:, None],
                auxiliary_squared_gradient_norm=theirs["gradient"],
                auxiliary_suboptimality=theirs["gap"] if bounded[i] else None,
                noise=np.broadcast_to(batch.spread[i][:, None] ** 2, (batch.rounds, clients, batch.local_steps)),
                **{name: table[i] for name, table in tables.items()},
            )
        )
    return found


def _of_model(form: Floats, rows: Floats, centre: Floats, curvature: Floats, linear: Floats) -> dict[str, Floats]:
    """Moments of the point centre + form z, each (B, T+1)."""
    one = np.zeros_like(form)
    one[:, 0] = 1.0
    first, second = _expect(form, one, rows), _expect(form, form, rows)
    centre, curvature, linear = centre[:, None], curvature[:, None], linear[:, None]
    residual = curvature * centre - linear  # f' at the centre: 0 where f has a stationary point
    gap = curvature / 2 * second + residual * first
    return {
        "mean": centre + first,
        "square": second + 2 * centre * first + centre**2,
        "gradient": curvature**2 * second + 2 * curvature * residual * first + residual**2,
        "gap": gap,
        "cost": gap + curvature / 2 * centre**2 - linear * centre,
    }
