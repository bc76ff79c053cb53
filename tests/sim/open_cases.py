"""Open systems to be computed by the compiled kernels, and a plain loop that computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.algorithms.open import LocalAdam, LocalSGD, OpenAlgorithm
from sim.kernels.open_task import OpenTask
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic
from sim.streams import SAMPLING, Streams

Array = np.ndarray[Any, Any]

ALGORITHMS: dict[str, OpenAlgorithm] = {
    "sgd": LocalSGD(0.1, 3, 5),
    "sgd, one sample": LocalSGD([0.1 / (k + 1) for k in range(40)], 2, 1),
    "sgd, minibatches of more than a block": LocalSGD(0.1, 2, 37),
    "sgd, full batch": LocalSGD(0.1, 3),
    "adam": LocalAdam(0.02, 3, 6),
    "adam, full batch": LocalAdam(0.02, 2, beta1=0.5, beta2=0.9, eps=1e-3),
    "adam, reset": LocalAdam(0.02, 3, 6, reset=True),
}


def logistic(clients: int, samples: int, dim: int, scale: float = 1.0, ridge: float = 0.05) -> RidgeLogistic:
    rng = np.random.default_rng(clients + 10 * samples + 100 * dim)
    labels = 2.0 * rng.integers(0, 2, (clients, samples)) - 1
    x = scale * (rng.standard_normal((clients, samples, dim)) + 0.5 * labels[:, :, None])
    return RidgeLogistic(x, labels, ridge)


def task(
    problem: RidgeLogistic,
    algorithm: OpenAlgorithm,
    *,
    rounds: int = 12,
    runs: int = 5,
    first_run: int = 0,
    seed: int = 2**40 + 7,
    **population: Any,
) -> OpenTask:
    settings = {"pool": problem.clients, "initial": min(6, problem.clients), "leave": 0.6, "join": 0.7} | population
    schedule = OpenPopulation(**settings).presence(rounds, runs, seed, first_run)
    steps = np.broadcast_to(np.asarray(algorithm.step, dtype=float), rounds) if np.ndim(algorithm.step) == 0 else None
    steps = np.array(algorithm.step[:rounds] if steps is None else steps, dtype=float)
    return OpenTask(problem, algorithm, steps, schedule, np.linspace(-0.3, 0.3, problem.dim), seed, first_run)


def plain(job: OpenTask) -> Array:
    """(K, R, d): one run, round, client and step after another."""
    problem, algorithm, schedule = job.problem, job.algorithm, job.schedule
    path = np.empty((schedule.rounds, schedule.runs, problem.dim))
    for r in range(schedule.runs):
        theta, states = job.start, {}
        streams = Streams(job.seed, np.array([job.first_run + r]))
        for k in range(schedule.rounds):
            models = []
            for client, uploads in zip(schedule.clients[k, r], schedule.uploads[k, r], strict=True):
                if client < 0:
                    continue
                w = theta
                fresh = np.zeros(problem.dim), np.zeros(problem.dim)
                h, vhat = fresh if getattr(algorithm, "reset", False) else states.get(client, fresh)
                words = streams.words(SAMPLING, np.array([client]), range(k, k + 1), algorithm.draws)[0, :, 0, 0]
                drawn = (words.numpy() * problem.samples) >> 32
                for m in range(algorithm.local_steps):
                    batch = algorithm.batch
                    picked = np.arange(problem.samples) if batch is None else drawn[m * batch : (m + 1) * batch]
                    x, y = problem.features[client, picked], problem.labels[client, picked]
                    g = problem.ridge * w - x.T @ (y / (1 + np.exp(y * (x @ w)))) / len(y)
                    if isinstance(algorithm, LocalSGD):
                        w = w - job.steps[k] * g
                    else:
                        h = algorithm.beta1 * h + (1 - algorithm.beta1) * g
                        vhat = np.maximum(vhat, algorithm.beta2 * vhat + (1 - algorithm.beta2) * g**2)
                        w = w - job.steps[k] * h / np.sqrt(algorithm.eps + vhat)
                states[client] = h, vhat
                if uploads:
                    models.append(w)
            theta = np.mean(models, axis=0) if models else theta
            path[k, r] = theta
    return path


def close(found: Array, expected: Array, tolerance: float = 1e-12) -> None:
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected)) <= tolerance * np.max(np.abs(expected))
