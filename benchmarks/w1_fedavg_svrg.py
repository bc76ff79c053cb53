"""Workload W1: FedAvg-SVRG, least squares, N=18, 50 samples each, d=5, S=5, M=2, K=100, p_n ~ U(0.3, 0.9), step 0.01.

Compares the engine's back ends with a plain Python loop and with vectorised NumPy, in one process. A run-round is one
run advanced by one round, with its random draws and both metrics. Run:
``python -m benchmarks.w1_fedavg_svrg [--json FILE]``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sim.algorithms import FedAvgSVRG
from sim.engine import run
from sim.native.build import compiler
from sim.participation import Bernoulli
from sim.problems import Quadratic, least_squares

CLIENTS, SAMPLES, DIM, SNAPSHOTS, INNER, ROUNDS, STEP = 18, 50, 5, 5, 2, 100, 0.01


def workload() -> tuple[Quadratic, np.ndarray]:
    """The problem and the probabilities (N,) of W1."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((CLIENTS, SAMPLES, DIM))
    y = q @ rng.standard_normal(DIM) + 0.1 * rng.standard_normal((CLIENTS, SAMPLES))
    return least_squares(list(q), list(y)), rng.uniform(0.3, 0.9, CLIENTS)


def plain_loop(problem: Quadratic, p: np.ndarray, runs: int, rounds: int) -> np.ndarray:
    """One run, client and step after another: Algorithm 1 as one writes it first. Returns (R, K+1) suboptimality."""
    rng = np.random.default_rng(1)
    q, y = problem.features, problem.targets
    assert q is not None
    assert y is not None
    result = np.empty((runs, rounds + 1))
    for r in range(runs):
        theta = np.full(DIM, 0.5)
        result[r, 0] = problem.cost(theta) - problem.optimal_value
        for k in range(rounds):
            move = np.zeros(DIM)
            for n in range(CLIENTS):
                if rng.random() >= p[n]:
                    continue
                snapshot = theta
                for _ in range(SNAPSHOTS):
                    full = 2 * q[n].T @ (q[n] @ snapshot - y[n]) / SAMPLES
                    w = snapshot
                    for _ in range(INNER):
                        i = rng.integers(SAMPLES)
                        w = w - STEP * (2 * q[n, i] * (q[n, i] @ (w - snapshot)) + full)
                    snapshot = w
                move += (snapshot - theta) / p[n]
            theta = theta + move / CLIENTS
            gradient = problem.mean_hessian @ theta - problem.mean_linear
            result[r, k + 1] = (theta @ gradient - theta @ problem.mean_linear) / 2 + problem.mean_offset
            result[r, k + 1] -= problem.optimal_value
            float(gradient @ gradient)
    return result


def numpy_batch(problem: Quadratic, p: np.ndarray, runs: int, rounds: int) -> np.ndarray:
    """All runs at once, (N, R, d), by the clients' matrices: competent NumPy. Returns (R, K+1) suboptimality."""
    rng = np.random.default_rng(1)
    q, hessian, linear = problem.features, problem.client_hessian, problem.client_linear[:, None, :]
    assert q is not None
    theta = np.full((runs, DIM), 0.5)
    row = np.arange(CLIENTS)[:, None]
    result, norms = np.empty((runs, rounds + 1)), np.empty((runs, rounds + 1))

    def record(k: int) -> None:
        gap = theta - problem.minimiser
        gradient = gap @ problem.mean_hessian
        result[:, k] = (gap * gradient).sum(1) / 2
        norms[:, k] = (gradient**2).sum(1)

    record(0)
    for k in range(rounds):
        weight = (rng.random((CLIENTS, runs)) < p[:, None]) / (CLIENTS * p[:, None])
        snapshot = np.broadcast_to(theta, (CLIENTS, runs, DIM))
        for _ in range(SNAPSHOTS):
            full = snapshot @ hessian - linear
            move = -STEP * full
            for _ in range(INNER - 1):
                picked = q[row, rng.integers(SAMPLES, size=(CLIENTS, runs))]
                move = move - STEP * (2 * picked * (picked * move).sum(-1, keepdims=True) + full)
            snapshot = snapshot + move
        theta = theta + (weight[:, :, None] * (snapshot - theta)).sum(0)
        record(k + 1)
    return result


def measure(function: Callable[[], np.ndarray], work: int, repetitions: int) -> dict[str, float]:
    """Medians of the rate in run-rounds/s and of the CPU time in us a run-round, and the mean final suboptimality."""
    walls, cpus, value = [], [], 0.0
    for _ in range(repetitions):
        wall, cpu = time.perf_counter(), time.process_time()
        value = float(function()[:, -1].mean())
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "run_rounds_per_second": work / statistics.median(walls),
        "cpu_microseconds": 1e6 * statistics.median(cpus) / work,
        "final_suboptimality": value,
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--repetitions", type=int, default=5, help="at least 3; medians are shown")
    options = parser.parse_args(arguments)
    repetitions = max(3, options.repetitions)
    problem, p = workload()
    algorithm, presence = FedAvgSVRG(STEP, SNAPSHOTS, INNER), Bernoulli(p)

    def engine(runs: int, backend: str, threads: int) -> np.ndarray:
        options = {"rounds": ROUNDS, "runs": runs, "start": [0.5] * DIM, "backend": backend, "threads": threads}
        return run(algorithm, problem, presence, **options)["suboptimality"]

    backends = ["torch"] + ["native"] * (compiler() is not None)
    for backend in backends:
        engine(20, backend, 1)
    cases: list[tuple[str, int, int, Callable[[], np.ndarray]]] = [
        ("plain Python loop", 1, 20, partial(plain_loop, problem, p, 1, 20)),
    ]
    for runs in (20, 2000):
        cases.append(("NumPy, batched", runs, ROUNDS, partial(numpy_batch, problem, p, runs, ROUNDS)))
        for backend in backends:
            for threads in (1, 2):
                name = f"{backend}, threads={threads}"
                cases.append((name, runs, ROUNDS, partial(engine, runs, backend, threads)))
    rows = [
        {"name": name, "runs": runs, "rounds": rounds, **measure(function, runs * rounds, repetitions)}
        for name, runs, rounds, function in cases
    ]
    print(f"{'':24}{'runs':>6}{'rounds':>8}{'run-rounds/s':>15}{'CPU us each':>13}{'final f - f*':>14}")
    for row in rows:
        print(
            f"{row['name']:24}{row['runs']:6}{row['rounds']:8}{row['run_rounds_per_second']:15.3g}"
            f"{row['cpu_microseconds']:13.2f}{row['final_suboptimality']:14.3g}"
        )
    if options.json:
        report = {"workload": "W1", "repetitions": repetitions, "rows": rows}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
