"""Exact moments of programs beside what else gives them: E norm2(x[100] - xstar) after 100 rounds, in float64.

Beside the moments stand, by CPU time on one thread, all in one process:

- by hand: the recursion that one derives for local SGD alone, in NumPy. E[zz'] of z = (1, x) goes through a step of a
  client by the mean of A (x) A over its samples, A the step's matrix, and the clients are independent given x;
- runs: the generated C++ simulator until the mean over the runs has a standard error of a thousandth. So many runs as
  are measured have another one; the time is scaled by its square.

Of clients that are the same there are 2, 1,000 and 10^6. Run: ``python -m benchmarks.moments [--quick] [--markdown]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import machine, options, table
from sim.moments import Point, moments_of
from sim.problems import Quadratic
from sim.simulate import simulate
from theory.papers.algorithms import diana, fedavg_svrg, fedmim, local_sgd, lsvrg, proxskip, scaffold

ROUNDS, RUNS, ACCURACY = 100, 2000, 1e-3
INERTIA = {"eta_l": 0.01, "H": 5, "S": 3, "A": 0.5, "alpha": [0.25, 0.25], "beta": [0.3, 0.0]}


def problem(clients: int, samples: int, dim: int, same: bool = False) -> Quadratic:
    """Convex samples, each with curvatures of its own; `same`: every client has those of the first."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((1 if same else clients, samples, dim, dim))
    hessian = A @ A.swapaxes(-1, -2) / dim + 0.1 * np.eye(dim)
    of = np.zeros(clients, dtype=int) if same else np.arange(clients)
    linear = rng.standard_normal((len(A), samples, dim))
    return Quadratic(hessian[of], linear[of], np.zeros((clients, samples)), np.full(clients, samples))


def least(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least CPU time of some calls, in seconds, and what the last gave."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        result = work()
        found.append(time.process_time() - begin)
    return min(found), result


def exactly(one: Any, q: Quadratic, given: dict[str, Any]) -> float:
    """By moments."""
    found = moments_of(one.program, q, given, start=np.ones(q.dim), rounds=ROUNDS)
    n = None if one.program.state[0].kind == "server" else 0
    return float(found.norm2({Point("x", ROUNDS, n=n): 1, None: -q.minimiser}))


def by_hand(q: Quadratic, eta: float, H: int) -> float:
    """Local SGD: the recursion written out."""
    N, n, d = q.linear.shape
    e = 1 + d
    step = np.zeros((N, n, e, e))
    step[..., 0, 0] = 1
    step[..., 1:, 0] = eta * q.linear
    step[..., 1:, 1:] = np.eye(d) - eta * q.hessian
    noise, mean = np.zeros((e * e, e * e)), np.zeros((e, e))
    for client in step:
        flat = client.reshape(n, e * e)
        pairs = (flat.T @ flat / n).reshape(e, e, e, e).transpose(0, 2, 1, 3).reshape(e * e, e * e)
        own = np.linalg.matrix_power(client.mean(axis=0), H)
        noise += (np.linalg.matrix_power(pairs, H) - np.kron(own, own)) / N**2
        mean += own / N
    round_ = np.kron(mean, mean) + noise
    z = np.ones(e)
    P = np.outer(z, z).ravel()
    for _ in range(ROUNDS):
        P = round_ @ P
    gap = np.concatenate([-q.minimiser[:, None], np.eye(d)], axis=1)
    return float(np.trace(gap @ P.reshape(e, e) @ gap.T))


def by_runs(one: Any, q: Quadratic, given: dict[str, Any], runs: int, exact: float) -> float:
    """CPU seconds until the standard error is `ACCURACY` of the mean.

    Raises:
        SystemExit: where the runs are more than six standard errors from the moments (chance 2e-9).
    """

    def some(count: int) -> Any:
        metric = ("squared_distance",)
        return simulate(one, q, given, np.ones(q.dim), ROUNDS, count, 1, metrics=metric, record=()).values[metric[0]]

    some(8)  # compiles
    seconds, values = least(lambda: np.asarray(some(runs)), 1)
    last = values[:, -1]
    error = last.std() / np.sqrt(runs)
    if abs(last.mean() - exact) > 6 * error:
        raise SystemExit(f"{one.name}: runs say {last.mean()} +- {error}, and moments {exact}")
    return seconds * float(error / last.mean() / ACCURACY) ** 2


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print tables."""
    chosen = options(__doc__).parse_args(arguments)
    print(machine())
    large = [(100, 50, 10), (1000, 20, 5), (18, 50, 20)]
    rows, local = [], {"eta": 0.01, "H": 5}
    cases: list[tuple[Any, tuple[int, int, int], dict[str, Any]]] = [
        *((local_sgd, sizes, local) for sizes in large),
        *((fedavg_svrg, s, {"delta": 0.01, "p": list(np.linspace(0.3, 1, s[0])), "S": 5, "M": 2}) for s in large),
        (scaffold, (20, 50, 5), {"eta": 0.01, "eta_g": 1.0, "H": 5, "S": 5}),
        (scaffold, (8, 10, 3), {"eta": 0.01, "eta_g": 1.0, "H": 5, "S": 3}),
        (fedmim, (8, 10, 3), INERTIA),
        (proxskip, (8, 10, 3), {"gamma": 0.01, "p": 0.3}),
        (lsvrg, (8, 10, 3), {"eta": 0.01, "p": 0.3}),
        (diana, (8, 10, 3), {"eta": 0.01, "alpha": 0.5, "m": 1}),
    ]
    for one, sizes, given in cases:
        if chosen.quick and sizes[0] > 20:
            continue
        q = problem(*sizes)
        seconds, exact = least(partial(exactly, one, q, given), 3)
        hand = ""
        if one is local_sgd:
            taken, value = least(partial(by_hand, q, 0.01, 5), 1)
            if not np.isclose(value, exact, rtol=1e-9):
                raise SystemExit(f"by hand it is {value}, and moments say {exact}")
            hand = f"{taken:.2f}"
        runs = ""
        if one.program.state[0].kind == "server":
            runs = f"{by_runs(one, q, given, 200 if chosen.quick or sizes[0] > 100 else RUNS, exact):.2g}"
        rows.append([one.name, str(sizes), f"{seconds:.3f}", hand, runs])
    print(table(["program", "(N, n, d)", "moments, CPU s", "by hand", "runs, 3 digits"], rows, chosen.markdown))
    rows = []
    for one, given in [(local_sgd, local), (scaffold, {"eta": 0.01, "eta_g": 1.0, "H": 5, "S": 2})]:
        row = [one.name]
        for clients in (2, 1000) if chosen.quick else (2, 1000, 10**6):
            q = problem(clients, 4, 3, same=True)
            exactly(one, q, given)  # what the problem keeps, a minimiser, is not counted
            row.append(f"{least(partial(exactly, one, q, given), 3)[0]:.3f}")
        rows.append(row)
    print(table(["clients that are the same, CPU s", "2", "1,000", "10^6"][: len(rows[0])], rows, chosen.markdown))


if __name__ == "__main__":
    main()
