"""Exact moments of programs: how long they take.

Each line is the least of some runs, of 100 rounds in float64 on one process.

    python -m benchmarks.moments [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sim.moments import moments_of
from sim.problems import Quadratic
from theory.papers.algorithms import diana, fedavg_svrg, fedmim, lsvrg, proxskip, scaffold

ROUNDS = 100


def problem(clients: int, samples: int, dim: int) -> Quadratic:
    """Convex samples, each with curvatures of its own."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((clients, samples, dim, dim))
    hessian = A @ A.swapaxes(-1, -2) / dim + 0.1 * np.eye(dim)
    linear = rng.standard_normal((clients, samples, dim))
    return Quadratic(hessian, linear, np.zeros((clients, samples)), np.full(clients, samples))


def least(work: Callable[[], Any], runs: int) -> float:
    """The least time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def line(name: str, q: Quadratic, work: Callable[[], Any], runs: int) -> None:
    size = f"({q.clients}, {q.samples}, {q.dim})"
    print(f"{name:12} {size:14} {least(work, runs) * 1000:9.1f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the small problems")
    quick = parser.parse_args().quick
    for sizes, runs in [((18, 50, 5), 20), ((18, 50, 20), 2), ((100, 50, 10), 1)]:
        if quick and runs < 20:
            continue
        q, p = problem(*sizes), np.linspace(0.3, 1, sizes[0])
        start, given = np.ones(sizes[2]), {"delta": 0.01, "p": list(p), "S": 5, "M": 2}
        line(
            "fedavg-svrg",
            q,
            lambda q=q, start=start, given=given: moments_of(fedavg_svrg.program, q, given, start=start, rounds=ROUNDS),
            runs,
        )
    q, start = problem(8, 10, 3), np.ones(3)
    inertia = {"eta_l": 0.01, "H": 5, "S": 3, "A": 0.5, "alpha": [0.25, 0.25], "beta": [0.3, 0]}
    line(
        "fedmim",
        q,
        lambda: moments_of(fedmim.program, q, inertia, start=start, rounds=ROUNDS),
        5,
    )
    for one, given in [
        (scaffold, {"eta": 0.01, "eta_g": 1, "H": 5, "S": 3}),
        (proxskip, {"gamma": 0.01, "p": 0.3}),
        (lsvrg, {"eta": 0.01, "p": 0.3}),
        (diana, {"eta": 0.01, "alpha": 0.5, "m": 1}),
    ]:
        work = lambda one=one, given=given: moments_of(one.program, q, given, start=start, rounds=ROUNDS)  # noqa: E731
        line(one.name, q, work, 5)


if __name__ == "__main__":
    main()
