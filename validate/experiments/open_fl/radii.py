"""The theorems' radii at the settings of the experiments, and whether what they assume holds there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Band, Progress
from validate.experiments import former as ex
from validate.experiments.open_fl.setting import (
    BATCH,
    BETA1,
    BETA2,
    CONFIDENCE,
    DATA_SEED,
    DIM,
    EPS,
    SAMPLES,
    SPREAD,
    STEPS,
    Case,
    Size,
    problem,
)


class Constants(NamedTuple):
    """Of the pool's functions: mu, L, r = max ||x_n*||, and sigma, of minibatch gradients about their mean."""

    mu: float
    L: float
    r: float
    sigma: float

    @property
    def kappa(self) -> float:
        """L/mu."""
        return self.L / self.mu


class Radii(NamedTuple):
    """Of local SGD with eta = 1/L: as printed, the least one of Definition 1, and the repaired one for all time."""

    printed: float
    least: float
    uniform: float


class Replay(NamedTuple):
    """Runs of local Adam, once more: ||theta^k||, (m, K+1), and the largest norm of a sampled gradient, (m,)."""

    norm: np.ndarray
    largest: np.ndarray


def constants(ridge: float, size: Size, folder: Path, progress: Progress | None = None) -> Constants:
    """The constants of the synthetic data at the paper's spread, or those kept in `folder`."""
    settings = {"pool": size.pool, "samples": SAMPLES, "dim": DIM, "spread": SPREAD, "ridge": ridge, "seed": DATA_SEED}

    def compute() -> Mapping[str, np.ndarray]:
        data = problem(SPREAD, ridge, size.pool)
        with _one_blas_thread():
            values = (data.strong_convexity, data.smoothness, data.radius(), np.sqrt(data.variance_bound(BATCH)))
        return {"constants": np.array(values, dtype=float)}

    found = ex.stored(
        folder / f"constants-ridge{ridge:g}-{size.pool}.npz",
        json.dumps(settings | {"batch": BATCH}, sort_keys=True),
        compute,
        what=f"constants and minimisers of {size.pool} clients, λ = {ridge:g}",
        progress=progress,
    )
    return Constants(*map(float, found["constants"]))


def _one_blas_thread() -> AbstractContextManager[Any]:
    """Thousands of small factorisations: on busy cores several BLAS threads wait for each other, 20 times as long."""
    try:
        return import_module("threadpoolctl").threadpool_limits(1, user_api="blas")  # comes with scikit-learn
    except ImportError:
        return nullcontext()


def radii(c: Constants) -> Radii:
    """The radii at eta = 1/L."""
    from theory.catalog import claim
    from theory.stability import exact_radius, uniform_radius

    given = {"mu": c.mu, "L": c.L, "r": c.r, "sigma": c.sigma}
    printed = float(claim("open-fl/theorem-2").bound(**given))
    return Radii(printed, float(exact_radius(c.mu, c.L, c.r, c.sigma)), float(uniform_radius(c.mu, c.L, c.r, c.sigma)))


def repaired_adam(c: Constants, gradient: float) -> float:
    """The radius of open-fl/theorem-3/corrected at the paper's step and eps, all sampled gradients <= `gradient`."""
    from theory.catalog import claim

    given = {"mu": c.mu, "eta": STEPS["adam"], "eps": EPS, "sigma": gradient, "r": c.r}
    return float(claim("open-fl/theorem-3/corrected").bound(**given))


def theorem_3(c: Constants, gradient: float) -> Any:
    """`theory.stability.adam_region.Applicability` at the paper's settings."""
    from theory.stability.adam_region import applicable

    return applicable(
        mu=repr(c.mu),
        L=repr(c.L),
        eta=repr(STEPS["adam"]),
        beta1=repr(BETA1),
        beta2=repr(BETA2),
        eps=repr(EPS),
        sigma=repr(gradient),
        d=DIM,
        r=repr(c.r),
    )


def root_mean_square(norm: np.ndarray) -> Band:
    """sqrt(mean of ||theta^k||^2 over the runs) with its band. norm: (R, K+1)."""
    return Band(*(np.sqrt(np.maximum(part, 0)) for part in ex.mean_band(norm**2, CONFIDENCE)))


def replay(case: Case, size: Size, folder: Path, seed: int, progress: Progress | None = None) -> Replay:
    """Runs 0..m-1 of a case of local Adam again, every gradient that could be sampled at a point visited measured.

    The simulator records no gradients. Here the same runs are played with the same random draws by separate code, so
    the norms of the iterates must agree with the simulator's.
    """
    runs, rounds = size.replayed, size.rounds
    settings = {"case": case, "algorithm": case.algorithm, "population": case.population(size.pool), "dim": DIM}
    settings |= {"rounds": rounds, "runs": runs, "seed": seed, "data": DATA_SEED, "samples": SAMPLES}

    def compute() -> Mapping[str, np.ndarray]:
        data = problem(case.spread, case.ridge, size.pool)
        schedule = case.population(size.pool).presence(rounds, runs, seed)
        found = [_replay(case.algorithm, data, schedule, run, seed) for run in range(runs)]
        return {"norm": np.array([f[0] for f in found]), "largest": np.array([f[1] for f in found])}

    found = ex.stored(
        folder / f"gradients-{case.key}-{runs}.npz",
        json.dumps(ex.plain(settings), sort_keys=True),
        compute,
        what=f"gradients along {runs} runs of {case.key}",
        progress=progress,
    )
    return Replay(found["norm"], found["largest"])


def _replay(algorithm: Any, data: Any, schedule: Any, run: int, seed: int) -> tuple[np.ndarray, float]:
    """Norms of the iterates (K+1,) of one run, and the largest norm of a sample's gradient at a local iterate."""
    from sim.streams import SAMPLING, Streams

    streams = Streams(seed, np.array([run]))
    h, vhat = np.zeros((2, schedule.slots, data.dim))
    theta, norms, largest = np.zeros(data.dim), [0.0], 0.0
    shape = (algorithm.local_steps, algorithm.batch, -1)
    for k in range(schedule.rounds):
        fresh = schedule.enters(k)[run]
        h[fresh], vhat[fresh] = 0, 0
        slots = np.flatnonzero(schedule.uploads[k, run])
        clients = schedule.clients[k, run, slots]
        signed = data.labels[clients][:, :, None] * data.features[clients]  # (M, n, d)
        lengths = np.sum(signed**2, axis=2)
        words = streams.words(SAMPLING, clients, range(k, k + 1), algorithm.draws)[0, :, :, 0].numpy()
        chosen = ((words * data.samples) >> 32).reshape(shape)  # (local steps, batch, M)
        w = np.tile(theta, (len(slots), 1))
        for picked in chosen:
            margins = (signed @ w[:, :, None])[:, :, 0]
            slopes = np.exp(-np.logaddexp(0, margins))  # a sample's gradient is ridge w - slope times its signed x
            squares = slopes**2 * lengths - 2 * data.ridge * slopes * margins
            largest = max(largest, float(np.max(squares + data.ridge**2 * np.sum(w * w, axis=1)[:, None])))
            rows = np.arange(len(slots))[:, None]
            pulled = slopes[rows, picked.T][:, :, None] * signed[rows, picked.T]
            g = data.ridge * w - pulled.mean(axis=1)
            h[slots] = algorithm.beta1 * h[slots] + (1 - algorithm.beta1) * g
            vhat[slots] = np.maximum(vhat[slots], algorithm.beta2 * vhat[slots] + (1 - algorithm.beta2) * g * g)
            w -= float(algorithm.step) * h[slots] / np.sqrt(algorithm.eps + vhat[slots])
        theta = w.mean(axis=0) if len(slots) else theta
        norms.append(float(np.linalg.norm(theta)))
    return np.array(norms), float(np.sqrt(largest))
