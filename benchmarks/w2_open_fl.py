"""Workload W2: open local SGD, ridge logistic regression, a pool of 1,000 clients of whom 10 are present (in each round
one leaves and one joins), d=100, 100 samples each, 5 local steps, minibatches of 10 or the full batch, 200 rounds, 100
runs, in float64.

Compares the engine's back ends with a plain Python loop and with vectorised NumPy, in one process, after checking that
all of them give the same models when they are given the same draws. A run-round is one run advanced by one round with
its random draws. Who is present is drawn by the engine within its time; the two others are given it. Run:
``python -m benchmarks.w2_open_fl [--quick] [--json FILE]``; best on an idle machine (the load is printed).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sim.algorithms import LocalSGD
from sim.kernels import logistic_steps, open_native, open_numba
from sim.open_engine import run_open
from sim.population import OpenPopulation, PresenceSchedule
from sim.problems import RidgeLogistic, ridge_logistic
from sim.streams import SAMPLING, Streams

CLIENTS, PRESENT, SAMPLES, DIM, ROUNDS, RUNS = 1000, 10, 100, 100, 200, 100
STEP, LOCAL_STEPS, BATCH, SPREAD, RIDGE = 0.01, 5, 10, 2.0, 0.01
METRICS = ("squared_iterate_norm", "global_loss")

Array = np.ndarray[Any, Any]
Sampler = Callable[[int, Array, Array], Array]
"""(round, numbers of P runs, P pool indices) -> (P, local steps, batch) samples."""


def by_generator(algorithm: LocalSGD, seed: int) -> Sampler:
    """What a user would take: numpy's generator."""
    rng = np.random.default_rng(seed)
    return lambda _, runs, __: rng.integers(SAMPLES, size=(len(runs), algorithm.local_steps, algorithm.batch or 0))


def by_streams(algorithm: LocalSGD, seed: int) -> Sampler:
    """The engine's draws, one pair after another (slow)."""

    def draw(k: int, runs: Array, clients: Array) -> Array:
        words = [
            Streams(seed, np.array([r])).words(SAMPLING, np.array([c]), range(k, k + 1), algorithm.draws)[0, :, 0, 0]
            for r, c in zip(runs, clients, strict=True)
        ]
        drawn = (np.array([w.numpy() for w in words]) * SAMPLES) >> 32
        return drawn.reshape(len(runs), algorithm.local_steps, algorithm.batch or 0)

    return draw


def plain_loop(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, sampler: Sampler, with_loss: bool
) -> Array:
    """One run, round, client and step after another, as one writes it first. Returns the final models (R, d)."""
    final = np.empty((schedule.runs, DIM))
    for r in range(schedule.runs):
        theta = np.zeros(DIM)
        for k in range(schedule.rounds):
            models, losses = [], []
            for s, client in enumerate(schedule.clients[k, r]):
                if client < 0:
                    continue
                x, y = problem.features[client], problem.labels[client]
                if with_loss:
                    losses.append(RIDGE / 2 * theta @ theta + np.logaddexp(0, -y * (x @ theta)).mean())
                if not schedule.uploads[k, r, s]:
                    continue
                w = theta
                picked = None if algorithm.batch is None else sampler(k, np.array([r]), np.array([client]))[0]
                for m in range(algorithm.local_steps):
                    a, b = (x, y) if picked is None else (x[picked[m]], y[picked[m]])
                    w = w - STEP * (RIDGE * w - (b / (1 + np.exp(b * (a @ w)))) @ a / len(b))
                models.append(w)
            theta = np.mean(models, axis=0) if models else theta
            theta @ theta, np.mean(losses) if losses else 0.0
        final[r] = theta
    return final


def numpy_batch(
    problem: RidgeLogistic, algorithm: LocalSGD, schedule: PresenceSchedule, sampler: Sampler, with_loss: bool
) -> Array:
    """All pairs of a run and a client at once, by batched products: competent NumPy. Returns final models (R, d)."""
    features, labels = problem.features, problem.labels
    theta = np.zeros((schedule.runs, DIM))
    for k in range(schedule.rounds):
        if with_loss:
            rows, slots = np.nonzero(schedule.clients[k] >= 0)
            clients, total = schedule.clients[k, rows, slots], np.zeros(schedule.runs)
            for i in range(0, len(rows), 100):  # by parts that stay in the cache
                part = slice(i, i + 100)
                margins = labels[clients[part]] * (features[clients[part]] @ theta[rows[part], :, None])[:, :, 0]
                np.add.at(total, rows[part], np.logaddexp(0, -margins).mean(1))
            RIDGE / 2 * (theta**2).sum(1) + total / np.bincount(rows, minlength=schedule.runs)
        rows, slots = np.nonzero(schedule.uploads[k])
        clients = schedule.clients[k, rows, slots]
        w = theta[rows]
        picked = None if algorithm.batch is None else sampler(k, rows, clients)
        if picked is not None:
            for m in range(algorithm.local_steps):
                x, y = features[clients[:, None], picked[:, m]], labels[clients[:, None], picked[:, m]]
                w -= STEP * _gradient(x, y, w)
        else:
            for i in range(0, len(rows), 10):  # a client's data stay in the cache for all of its local steps
                part = slice(i, i + 10)
                x, y = features[clients[part]], labels[clients[part]]
                for _ in range(algorithm.local_steps):
                    w[part] -= STEP * _gradient(x, y, w[part])
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        counts = np.diff(starts, append=len(rows))
        theta[rows[starts]] = np.add.reduceat(w, starts, axis=0) / counts[:, None]
        (theta**2).sum(1)
    return theta


def _gradient(x: Array, y: Array, w: Array) -> Array:
    margins = y * (x @ w[:, :, None])[:, :, 0]
    weights = y / (1 + np.exp(margins))
    return RIDGE * w - (weights[:, None, :] @ x)[:, 0] / y.shape[1]


def engine(
    problem: RidgeLogistic, algorithm: LocalSGD, backend: Any, threads: int, runs: int, rounds: int, metrics: Any
) -> Array:
    """The final models (R, d)."""
    population = OpenPopulation(CLIENTS, PRESENT, leave=1, join=1)
    return run_open(
        algorithm, problem, population, rounds=rounds, runs=runs, seed=1, metrics=metrics, backend=backend,
        threads=threads,
    ).final  # fmt: skip


def check(problem: RidgeLogistic, algorithm: LocalSGD) -> float:
    """The largest relative difference of the final models of 3 runs after 12 rounds; refuses more than 1e-9."""
    schedule = OpenPopulation(CLIENTS, PRESENT, leave=1, join=1).presence(12, 3, 1)
    sampler = by_streams(algorithm, 1)
    expected = plain_loop(problem, algorithm, schedule, sampler, True)
    others = [numpy_batch(problem, algorithm, schedule, sampler, True)]
    for backend in backends():
        others += [engine(problem, algorithm, backend, threads, 3, 12, METRICS) for threads in (1, 2)]
    worst = max(float(np.max(np.abs(other - expected)) / np.max(np.abs(expected))) for other in others)
    if not worst <= 1e-9:
        raise SystemExit(f"the competitors' models differ by {worst:.2g}")
    return worst


def backends() -> list[str]:
    """Those that can be had here."""
    compiled = [("numba", open_numba.installed()), ("native", open_native.usable())]
    return ["torch", *(name for name, there in compiled if there)]


def measure(function: Callable[[], Array], work: int, repetitions: int) -> tuple[float, float]:
    """Medians of the rate in run-rounds/s and of the CPU time in us a run-round, after one call that is not counted."""
    function()
    walls, cpus = [], []
    for _ in range(repetitions):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return work / statistics.median(walls), 1e6 * statistics.median(cpus) / work


def cases(
    problem: RidgeLogistic, algorithm: LocalSGD, quick: bool, metrics: tuple[str, ...]
) -> list[tuple[str, int, int, Callable[[], Array]]]:
    """Name, runs, rounds (fewer for the slow ones; the rate hardly depends on them) and what to time."""
    shrink = 5 if quick else 1
    population, sampler = OpenPopulation(CLIENTS, PRESENT, leave=1, join=1), by_generator(algorithm, 2)
    with_loss = "global_loss" in metrics
    full = algorithm.batch is None
    found: list[tuple[str, int, int, Callable[[], Array]]] = []
    for name, function, runs, rounds in (
        ("plain Python loop", plain_loop, 2, 50 // shrink),
        ("NumPy, batched over runs", numpy_batch, RUNS, (5 if full else 20) // shrink),
    ):
        schedule = population.presence(rounds, runs, 1)
        found.append((name, runs, rounds, partial(function, problem, algorithm, schedule, sampler, with_loss)))
    for backend in backends():
        rounds = ((5 if full else 20) if backend == "torch" else ROUNDS) // shrink
        for threads in (1, 2):
            work = partial(engine, problem, algorithm, backend, threads, RUNS, rounds, metrics)
            found.append((f"engine, {backend}, threads={threads}", RUNS, rounds, work))
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    parser.add_argument("--repetitions", type=int, default=5, help="at least 5; medians are shown")
    options = parser.parse_args(arguments)
    repetitions = max(5, options.repetitions)
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if open_numba.installed():
        start = time.perf_counter()
        logistic_steps.compiled()
        print(f"compiling, or reading the compiled kernel from the disk: {time.perf_counter() - start:.2f} s")
    problem = ridge_logistic(CLIENTS, SAMPLES, DIM, SPREAD, RIDGE, 0)
    rows = []
    for label, batch in (("minibatches of 10", BATCH), ("full batch", None)):
        algorithm = LocalSGD(STEP, LOCAL_STEPS, batch)
        print(f"\n{label}; the final models agree to {check(problem, algorithm):.1g}")
        print(f"{'':28}{'':6}{'':8}{'norms':>23}{'norms, global loss':>23}")
        print(f"{'':28}{'runs':>6}{'rounds':>8}" + 2 * f"{'run-rounds/s':>13}{'CPU us':>10}" + f"{'load':>7}")
        chosen = [cases(problem, algorithm, options.quick, metrics) for metrics in (METRICS[:1], METRICS)]
        for (name, runs, rounds, bare), (*_, whole) in zip(*chosen, strict=True):
            figures = [measure(function, runs * rounds, repetitions) for function in (bare, whole)]
            load = os.getloadavg()[0]
            columns = "".join(f"{rate:13.3g}{cpu:10.1f}" for rate, cpu in figures)
            print(f"{name:28}{runs:6}{rounds:8}{columns}{load:7.2f}", flush=True)
            case = {"workload": label, "name": name, "runs": runs, "rounds": rounds, "load": load}
            for (rate, cpu), metrics in zip(figures, ("norms", "norms and global loss"), strict=True):
                rows.append({**case, "metrics": metrics, "run_rounds_per_second": rate, "cpu_microseconds": cpu})
    if options.json:
        report = {"workload": "W2", "repetitions": repetitions, "rows": rows}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
