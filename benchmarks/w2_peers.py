"""W2 written by others' means: a plain loop, NumPy, JAX, and C++ (reference/w2.cpp).

All are told who is present. A `Sampler` says which samples; NumPy's and the plain loop's is numpy's generator, or the
engine's draws when they are compared; JAX has its own generator, or given picks; the C++ has the engine's draws.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_int64
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measuring import reference, structure
from sim.population import PresenceSchedule
from sim.problems import RidgeLogistic
from sim.streams import PROGRAM, Streams, seed_key

Array = np.ndarray[Any, Any]
Sampler = Callable[[int, Array, Array], Array]
"""(round, numbers of P runs, P pool indices) -> (P, local steps, batch) samples."""


@dataclass(frozen=True)
class LocalSGD:
    """W2's algorithm; batch None for all samples."""

    step: float
    local_steps: int
    batch: int | None


def by_generator(problem: RidgeLogistic, algorithm: LocalSGD, seed: int) -> Sampler:
    """What a user would take: numpy's generator."""
    rng = np.random.default_rng(seed)
    size = (algorithm.local_steps, algorithm.batch or 0)
    return lambda _, runs, __: rng.integers(problem.samples, size=(len(runs), *size))


def by_streams(problem: RidgeLogistic, algorithm: LocalSGD, seed: int) -> Sampler:
    """The engine's draws, one pair after another (slow)."""

    draws = algorithm.local_steps * (algorithm.batch or 0)

    def draw(k: int, runs: Array, clients: Array) -> Array:
        words = [
            Streams(seed, np.array([r])).words(PROGRAM, np.array([c]), range(k, k + 1), draws)[0, :, 0, 0]
            for r, c in zip(runs, clients, strict=True)
        ]
        drawn = (np.array([w.numpy() for w in words]) * problem.samples) >> 32
        return drawn.reshape(len(runs), algorithm.local_steps, algorithm.batch or 0)

    return draw


def remaining(schedule: PresenceSchedule) -> Array:
    """(K, R, S), who takes part in each round."""
    return np.stack([schedule.remains(k) for k in range(schedule.rounds)])


def plain_loop(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, sampler: Sampler, with_loss: bool
) -> Array:
    """One run, round, client and step after another, as one writes it first. Returns the final models (R, d)."""
    final, ridge, step = np.empty((schedule.runs, problem.dim)), problem.ridge, algorithm.step
    for r in range(schedule.runs):
        theta = np.zeros(problem.dim)
        for k in range(schedule.rounds):
            models, losses = [], []
            for s, client in enumerate(schedule.clients[k, r]):
                if client < 0:
                    continue
                x, y = problem.features[client], problem.labels[client]
                if with_loss:
                    losses.append(ridge / 2 * theta @ theta + np.logaddexp(0, -y * (x @ theta)).mean())
                if not schedule.remains(k)[r, s]:
                    continue
                w = theta
                picked = None if algorithm.batch is None else sampler(k, np.array([r]), np.array([client]))[0]
                for m in range(algorithm.local_steps):
                    a, b = (x, y) if picked is None else (x[picked[m]], y[picked[m]])
                    w = w - step * (ridge * w - (b / (1 + np.exp(b * (a @ w)))) @ a / len(b))
                models.append(w)
            theta = np.mean(models, axis=0) if models else theta
            theta @ theta, np.mean(losses) if losses else 0.0
        final[r] = theta
    return final


def numpy_batch(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, sampler: Sampler, with_loss: bool
) -> Array:
    """All pairs of a run and a client at once, by batched products: competent NumPy. Returns final models (R, d)."""
    features, labels, ridge = problem.features, problem.labels, problem.ridge
    theta = np.zeros((schedule.runs, problem.dim))

    def gradient(x: Array, y: Array, w: Array) -> Array:
        margins = y * (x @ w[:, :, None])[:, :, 0]
        weights = y / (1 + np.exp(margins))
        return ridge * w - (weights[:, None, :] @ x)[:, 0] / y.shape[1]

    for k in range(schedule.rounds):
        if with_loss:
            rows, slots = np.nonzero(schedule.clients[k] >= 0)
            clients, total = schedule.clients[k, rows, slots], np.zeros(schedule.runs)
            for i in range(0, len(rows), 100):  # by parts that stay in the cache
                part = slice(i, i + 100)
                margins = labels[clients[part]] * (features[clients[part]] @ theta[rows[part], :, None])[:, :, 0]
                np.add.at(total, rows[part], np.logaddexp(0, -margins).mean(1))
            ridge / 2 * (theta**2).sum(1) + total / np.bincount(rows, minlength=schedule.runs)
        rows, slots = np.nonzero(schedule.remains(k))
        clients = schedule.clients[k, rows, slots]
        w = theta[rows]
        picked = None if algorithm.batch is None else sampler(k, rows, clients)
        if picked is not None:
            for m in range(algorithm.local_steps):
                x, y = features[clients[:, None], picked[:, m]], labels[clients[:, None], picked[:, m]]
                w -= algorithm.step * gradient(x, y, w)
        else:
            for i in range(0, len(rows), 10):  # a client's data stay in the cache for all of its local steps
                part = slice(i, i + 10)
                x, y = features[clients[part]], labels[clients[part]]
                for _ in range(algorithm.local_steps):
                    w[part] -= algorithm.step * gradient(x, y, w[part])
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        counts = np.diff(starts, append=len(rows))
        theta[rows[starts]] = np.add.reduceat(w, starts, axis=0) / counts[:, None]
        (theta**2).sum(1)
    return theta


def jax_batch(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, sampler: Sampler | None, with_loss: bool
) -> Callable[[], Array]:
    """One client's steps, mapped over slots and runs by vmap (for the full batch the runs one after another, or the
    data of all would be copied), over rounds by scan; compiled; on all cores. Calling it gives final models (R, d).

    sampler: None for JAX's own generator.
    """
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    features, labels = jnp.asarray(problem.features), jnp.asarray(problem.labels)
    ridge, step, batch = problem.ridge, algorithm.step, algorithm.batch
    size = (algorithm.local_steps, batch or 0)

    def client(theta: Any, n: Any, picks: Any) -> Any:
        w, x, y = theta, features[n], labels[n]
        for m in range(algorithm.local_steps):
            if batch is not None:
                x, y = features[n, picks[m]], labels[n, picks[m]]
            w = w - step * (ridge * w - (y * jax.nn.sigmoid(-y * (x @ w))) @ x / y.shape[0])
        return w

    def loss(theta: Any, n: Any) -> Any:
        return jax.nn.softplus(-labels[n] * (features[n] @ theta)).mean()

    def one_round(theta: Any, drawn: Any) -> Any:
        clients, uploads, source = drawn
        picks = source if sampler else jax.random.randint(source, (len(clients), *size), 0, problem.samples)
        models = jax.vmap(client, (None, 0, 0))(theta, clients, picks)
        number, present = uploads.sum(), clients >= 0
        norm = theta @ theta
        losses = jax.vmap(loss, (None, 0))(theta, clients) if with_loss else jnp.zeros(len(clients))
        measured = norm, ridge / 2 * norm + (losses * present).sum() / present.sum()
        return jnp.where(number > 0, uploads @ models / jnp.maximum(number, 1), theta), measured

    def one_run(drawn: Any) -> Any:
        return jax.lax.scan(one_round, jnp.zeros(problem.dim), drawn)

    if sampler is None:
        source = jax.random.split(jax.random.key(1), (schedule.runs, schedule.rounds))
    else:
        picks = np.zeros((schedule.runs, schedule.rounds, schedule.slots, *size), np.int64)
        for k in range(schedule.rounds if batch else 0):
            rows, slots = np.nonzero(schedule.remains(k))
            picks[rows, k, slots] = sampler(k, rows, schedule.clients[k, rows, slots])
        source = jnp.asarray(picks)
    clients, uploads = schedule.clients[:-1].transpose(1, 0, 2), remaining(schedule).transpose(1, 0, 2)
    drawn = jnp.asarray(clients), jnp.asarray(uploads, jnp.float64), source
    every_run = jax.jit(jax.vmap(one_run) if batch else lambda all_runs: jax.lax.map(one_run, all_runs))
    return lambda: np.asarray(jax.block_until_ready(every_run(drawn))[0])


def cpp(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, with_loss: bool, threads: int, seed: int
) -> Callable[[], Array] | None:
    """reference/w2.cpp, with the engine's draws. Calling it gives the final models (R, d). None without a compiler."""
    function = reference("w2", "-ffast-math")
    if function is None:
        return None
    uploads, clients = np.ascontiguousarray(remaining(schedule), np.uint8), np.ascontiguousarray(schedule.clients)
    features, labels = (np.ascontiguousarray(a, np.float64) for a in (problem.features, problem.labels))

    def advance() -> Array:
        final = np.empty((schedule.runs, problem.dim))
        norm, loss = np.empty((2, schedule.runs, schedule.rounds + 1))
        job = structure(
            features=features, labels=labels, samples=problem.samples, dim=problem.dim, ridge=float(problem.ridge),
            step=float(algorithm.step), clients=clients, uploads=uploads, rounds=schedule.rounds, runs=schedule.runs,
            slots=schedule.slots, local_steps=algorithm.local_steps, batch=algorithm.batch or 0, key=seed_key(seed),
            final=final, norm=norm, loss=loss if with_loss else None,
        )  # fmt: skip
        function(byref(job), c_int64(threads))
        return final

    return advance
