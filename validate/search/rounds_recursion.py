"""The scalar moments of local SGD and FedAvg-SVRG for many instances at once, in floats: the search's own, faster way.

A second implementation of what `sim.exact` computes, for one dimension and one structure. It proposes; what it finds is
decided by the oracle. Given theta^k, an inner iterate is s theta^k + g in the mean, with a variance; s and g are the
same in every round, and what is computed from them needs only E theta^k and E (theta^k)^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.exact_model import FAR, check_cancellation
from sim.exact_moments import DivergenceError, Moments
from sim.participation import Bernoulli
from sim.problems import Quadratic
from validate.once import once
from validate.scenario import Scenario

Floats = NDArray[np.float64]
FLAT = 1e-12
"""A curvature that is smaller than this share of the largest one is none: the minimiser would be nowhere near."""


@dataclass(frozen=True, eq=False)
class Batch:
    """B instances of one structure.

    Attributes:
        h, a: (B, N, n), f_{n,i}(x) = h/2 (x - a)^2.
        p: (B, N), the chances with which clients take part.
        step, start: (B,).
        snapshots, inner: S (1 for local SGD) and M, the steps of a snapshot.
        rounds: K.
        variance_reduced: whether the gradients are those of SVRG.
        normalised: whether the server averages over those who take part; where nobody does, the model is kept.
    """

    h: Floats
    a: Floats
    p: Floats
    step: Floats
    start: Floats
    snapshots: int
    inner: int
    rounds: int
    variance_reduced: bool
    normalised: bool

    def scenarios(self) -> list[Played]:
        """The instances, with moments that are computed for all of them when the first is asked for its own."""
        count, clients, samples = self.h.shape
        linear = (self.h * self.a)[..., None]
        offset = self.h * self.a**2 / 2
        rules: dict[str, Any] = {"aggregation": "normalised"} if self.normalised else {}
        made = []
        for i in range(count):
            step = float(self.step[i])
            algorithm: Any = FedAvg(step=step, local_steps=self.inner, **rules)
            if self.variance_reduced:
                algorithm = FedAvgSVRG(step=step, snapshots=self.snapshots, inner=self.inner, **rules)
            made.append(
                Played(
                    name="fedavg-svrg" if self.variance_reduced else "local-sgd",
                    algorithm=algorithm,
                    problem=Quadratic(
                        self.h[i][..., None, None], linear[i], offset[i], np.full(clients, samples, dtype=np.int64)
                    ),
                    participation=Bernoulli(self.p[i]),
                    rounds=self.rounds,
                    start=self.start[i : i + 1],
                    batch=self,
                    place=i,
                )
            )
        return made

    @cached_property
    def found(self) -> Mapping[str, Floats]:
        """The moments of all instances by their names in `Moments`, each (B, ...); inf or nan beyond the floats."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _moments(self)

    def moments(self, i: int) -> Moments:
        """Those of one instance; refused where the oracle's would be.

        Raises:
            DivergenceError, CancellationError: as `sim.exact.moments`.
        """
        own = {name: values[i] for name, values in self.found.items()}
        bounded, locally = own.pop("bounded"), own.pop("locally")
        if not all(np.isfinite(values).all() for name, values in own.items() if name != "local_suboptimality"):
            raise DivergenceError(f"the moments of {self.rounds} rounds leave the range of float64")
        if locally and not np.isfinite(own["local_suboptimality"]).all():
            raise DivergenceError(f"the moments of {self.rounds} rounds leave the range of float64")
        check_cancellation(own["squared_gradient_norm"])
        kept: dict[str, Any] = dict(own)
        if not bounded:
            kept["suboptimality"] = None
        if not locally:
            kept["local_suboptimality"] = None
        if self.normalised:
            kept["aggregate"] = None
        return Moments(**kept)


@dataclass(frozen=True, eq=False)
class Played(Scenario):
    """A scenario whose moments are those found for its batch."""

    batch: Batch
    place: int

    @once
    def moments(self) -> Moments:
        """Those found for its batch."""
        return self.batch.moments(self.place)


def _moments(batch: Batch) -> dict[str, Floats]:
    h = batch.h.mean(-1)  # (B, N)
    mean = h.mean(-1)
    linear = (batch.h * batch.a).mean(-1)
    slope = linear.mean(-1)
    largest = np.maximum(np.abs(h).max(-1), 1e-300)
    curved = mean > FLAT * largest
    best = np.where(curved, slope / np.where(curved, mean, 1.0), 0.0)
    size = np.maximum(np.abs(batch.start), (np.abs(linear) / np.maximum(np.abs(h), 1e-300)).max(-1))
    # Coordinates around the minimiser of f, unless it is far away, so that what converges keeps its digits.
    centre = np.where(curved & (np.abs(best) <= FAR * size), best, 0.0)
    bounded = curved | ((np.abs(mean) <= FLAT * largest) & (np.abs(slope) <= 1e-10 * np.abs(linear).max(-1)))
    least = slope - mean * centre  # of f, around the centre: mean t - least
    local = _local_round(batch, h, linear, centre)
    s, g = local.slope, local.shift  # (B, N, T + 1), T = S M
    chances = _weights(batch)
    clients, T = h.shape[1], s.shape[-1] - 1
    first, second = batch.start - centre, (batch.start - centre) ** 2
    b = (linear - h * centre[:, None])[..., None]
    H = h[..., None]
    rows: dict[str, list[Floats]] = {
        key: [] for key in ("estimator", "inner_product", "displacement", "local_suboptimality", "aggregate")
    }
    firsts, seconds = [first], [second]
    positive = h > FLAT * largest[:, None]
    own_best = (b[..., 0] / np.where(positive, h, 1.0))[..., None]
    locally = (positive | ((np.abs(h) <= FLAT * largest[:, None]) & (np.abs(linear) <= 1e-300))).all(-1)
    for _ in range(batch.rounds):
        m1, m2 = first[:, None, None], second[:, None, None]

        def square(u: Floats, v: Floats, m1: Floats = m1, m2: Floats = m2) -> Floats:
            """E (u t + v)^2."""
            return u * u * m2 + 2 * u * v * m1 + v * v

        noise, covariance = local.noise(first, second)
        before, ahead, here = s[..., :-1], g[..., :-1], covariance[..., :-1]
        rows["estimator"].append(square(H * before, H * ahead - b) + H * H * here + noise)
        residual = H * ahead - b
        top, low = mean[:, None, None], least[:, None, None]
        rows["inner_product"].append(top * H * before * m2 + (top * residual - low * H * before) * m1 - low * residual)
        rows["displacement"].append(square(before - 1, ahead) + here)
        rows["local_suboptimality"].append(
            H / 2 * np.where(positive[..., None], square(before, ahead - own_best) + here, 0)
        )
        dg, dc = s[..., -1] - 1, g[..., -1]
        together = np.einsum("bnm,bn,bm->b", chances.second, dg, dg) * second
        together += 2 * np.einsum("bnm,bn,bm->b", chances.second, dg, dc) * first
        together += np.einsum("bnm,bn,bm->b", chances.second, dc, dc)
        move = together + (np.einsum("bnn->bn", chances.second) * covariance[..., -1]).sum(-1)
        rows["aggregate"].append(move * clients**2 / batch.step**2)
        drift_g, drift_c = (chances.mean * dg).sum(-1), (chances.mean * dc).sum(-1)
        first, second = (
            first + drift_g * first + drift_c,
            second + 2 * (drift_g * second + drift_c * first) + move,
        )
        firsts.append(first)
        seconds.append(second)
    m1, m2 = np.stack(firsts, 1), np.stack(seconds, 1)  # (B, K + 1)
    shape = (len(h), batch.rounds, clients, batch.snapshots, T // batch.snapshots)
    tables = {name: np.stack(values, 1) for name, values in rows.items()}
    aggregate = tables.pop("aggregate")
    c, top, low = centre[:, None], mean[:, None], least[:, None]
    away = (best - centre)[:, None]
    squares = m2 + 2 * c * m1 + c * c
    gap = top / 2 * (m2 - 2 * away * m1 + away * away)
    offset = (batch.h * batch.a**2 / 2).mean((-1, -2))
    optimum = np.where(curved, offset - slope * best / 2, offset)[:, None]
    cost = np.where(bounded[:, None], gap + optimum, top / 2 * squares - slope[:, None] * (m1 + c) + offset[:, None])
    return {
        "mean": (m1 + c)[..., None],
        "second_moment": squares[..., None, None],
        "squared_gradient_norm": top * top * m2 - 2 * top * low * m1 + low * low,
        "suboptimality": gap,
        "cost": cost,
        "squared_iterate_norm": squares,
        **{name: values.reshape(shape) for name, values in tables.items()},
        "aggregate": aggregate,
        "participation": np.repeat(batch.p[:, None], batch.rounds, axis=1),
        "bounded": bounded,
        "locally": locally,
    }


@dataclass(frozen=True, eq=False)
class _Local:
    """A client's round: E[w_t | theta] = slope theta + shift, (B, N, T + 1), in the coordinates of the centre."""

    slope: Floats
    shift: Floats
    contraction: Floats  # (B, N), 1 - step h
    squares: Floats  # (B, N), mean over the samples of dh^2, and so on: dh w - db is a sample's deviation at w
    cross: Floats
    constant: Floats
    step: Floats
    inner: int
    variance_reduced: bool

    def noise(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """E of the variance of the sampled gradient (B, N, T), and of w_t given theta, (B, N, T + 1)."""
        T = self.slope.shape[-1] - 1
        now = at_snapshot = across = np.zeros_like(self.contraction)
        noises, covariances = [], [now]
        m1, m2 = first[:, None], second[:, None]
        for t in range(T):
            u, v = self.slope[..., t], self.shift[..., t]
            if self.variance_reduced:
                if t % self.inner == 0:
                    at_snapshot = across = now
                    su, sv = u, v
                du, dv = u - su, v - sv
                away = du * du * m2 + 2 * du * dv * m1 + dv * dv
                variance = self.squares * (away + now + at_snapshot - 2 * across)
            else:
                size = u * u * m2 + 2 * u * v * m1 + v * v + now
                variance = self.squares * size - 2 * self.cross * (u * m1 + v) + self.constant
            noises.append(variance)
            across = self.contraction * across
            now = self.contraction**2 * now + self.step[:, None] ** 2 * variance
            covariances.append(now)
        return np.stack(noises, -1), np.stack(covariances, -1)


def _local_round(batch: Batch, h: Floats, linear: Floats, centre: Floats) -> _Local:
    contraction = 1 - batch.step[:, None] * h
    pull = batch.step[:, None] * (linear - h * centre[:, None])
    slopes, shifts = [np.ones_like(h)], [np.zeros_like(h)]
    for _ in range(batch.snapshots * batch.inner):
        slopes.append(contraction * slopes[-1])
        shifts.append(contraction * shifts[-1] + pull)
    dh = batch.h - h[..., None]
    db = batch.h * batch.a - linear[..., None] - dh * centre[:, None, None]
    return _Local(
        np.stack(slopes, -1),
        np.stack(shifts, -1),
        contraction,
        (dh * dh).mean(-1),
        (dh * db).mean(-1),
        (db * db).mean(-1),
        batch.step,
        batch.inner,
        batch.variance_reduced,
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """E c_n, (B, N), and E c_n c_m, (B, N, N), of the weights with which the server adds up what clients send."""

    mean: Floats
    second: Floats


def _weights(batch: Batch) -> _Weights:
    count, clients = batch.p.shape
    if not batch.normalised:
        second = np.full((count, clients, clients), 1 / clients**2)
        second[:, range(clients), range(clients)] /= batch.p
        return _Weights(np.full((count, clients), 1 / clients), second)
    mean, second = np.zeros((count, clients)), np.zeros((count, clients, clients))
    for present in product((0.0, 1.0), repeat=clients):
        who = np.array(present)
        if who.any():
            chance = np.where(who > 0, batch.p, 1 - batch.p).prod(-1)
            share = who / who.sum()
            mean += chance[:, None] * share
            second += chance[:, None, None] * np.outer(share, share)
    return _Weights(mean, second)
