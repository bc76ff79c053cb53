"""Workload W1: FedAvg-SVRG, least squares, N=18, 50 samples each, d=5, S=5, M=2, K=100, p_n ~ U(0.3, 0.9), step 0.01.

Compares the program of the catalogue, run by the back ends of `sim.simulate`, with a plain Python loop, NumPy, JAX,
numba, torch.compile and C++ by hand, in one process, in turn, after checking that all give the same when they are given
the same draws. A run-round is one run advanced by one round, with its random draws and both metrics; compiling is not
counted. Run: ``python -m benchmarks.w1_fedavg_svrg [--quick] [--markdown] [--json FILE]``, or with ``--scaling [--out
FOLDER]``; best on an idle machine (the load is printed).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import by_hand as written
from benchmarks import w1_peers as peers
from benchmarks.measuring import Axis, Case, installed, machine, measure, number, options, scaling, table
from sim.native.build import compiler
from sim.problems import Quadratic, least_squares
from sim.simulate import simulate
from theory.papers.algorithms import fedavg_svrg

CLIENTS, SAMPLES, DIM, ROUNDS = 18, 50, 5, 100
CHEAPER = "C++ by hand, -ffast-math, xoshiro256++"  # what promises about draws and bits cost: its draws are its own
# Of the mean final f - f* of two competitors with other draws, in standard errors of their difference: a correct pair
# is told apart once in 1.7 million.
APART = 5.0

Array = np.ndarray[Any, Any]


def workload(clients: int = CLIENTS, dim: int = DIM) -> tuple[Quadratic, Array]:
    """The problem and the probabilities (N,) of W1, or of another size."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((clients, SAMPLES, dim))
    y = q @ rng.standard_normal(dim) + 0.1 * rng.standard_normal((clients, SAMPLES))
    return least_squares(list(q), list(y)), rng.uniform(0.3, 0.9, clients)


def engine(problem: Quadratic, p: Array, backend: Any, threads: int = 1) -> peers.Peer:
    """The program, as a peer; its draws are its own."""
    given = {"delta": peers.STEP, "p_n": p, "S": peers.SNAPSHOTS, "M": peers.INNER}
    start, metrics = [peers.START] * problem.dim, ("suboptimality", "squared_gradient_norm")

    def advance(runs: int, rounds: int, draws: peers.Draws | None = None) -> Array:
        found = simulate(
            fedavg_svrg, problem, given, start, rounds, runs, peers.SEED, record=(), metrics=metrics, backend=backend,
            threads=threads,
        )  # fmt: skip
        return np.asarray(found.values["suboptimality"])

    return advance


def cpp(problem: Quadratic, p: Array, threads: int = 1, *flags: str) -> peers.Peer | None:
    """reference/w1.cpp; its draws are the engine's, and given ones are ignored. None without a compiler."""
    more = written.w1(problem, p, peers.STEP, (peers.SNAPSHOTS, peers.INNER))
    found = written.by_hand("w1", problem, peers.START, peers.SEED, threads, more, *flags)
    return None if found is None else lambda runs, rounds, draws=None: found(runs, rounds)


def competitors(problem: Quadratic, p: Array, quick: bool) -> dict[str, peers.Peer]:
    """By name, those that can be had here."""
    found: dict[str, peers.Peer] = {
        "plain Python loop": peers.plain_loop(problem, p),
        "NumPy, batched": peers.numpy_batch(problem, p),
    }
    if installed("jax"):
        found["JAX, vmap and scan, all cores"] = peers.jax_batch(problem, p)
    threads = sorted({1, min(2, os.cpu_count() or 1)})
    if installed("numba"):
        found |= {f"numba loops, {t} thread(s)": peers.numba_loop(problem, p, t) for t in threads}
    if not quick:
        found[f"torch.compile, {threads[-1]} thread(s)"] = peers.torch_compiled(problem, p, threads[-1])
    found |= scaled(problem, p, threads)
    cheaper = cpp(problem, p, 1, "-DCHEAP=1", "-ffast-math")
    if cheaper is not None:
        found[f"{CHEAPER}, 1 thread(s)"] = cheaper
    if quick:  # slow, above all on busy cores
        found.pop("engine, torch, 2 thread(s)", None)
    return found


def scaled(problem: Quadratic, p: Array, threads: list[int]) -> dict[str, peers.Peer]:
    """The engine's back ends and the C++, on so many threads."""
    found: dict[str, peers.Peer] = {f"engine, torch, {t} thread(s)": engine(problem, p, "torch", t) for t in threads}
    if compiler() is not None:
        found |= {f"engine, native, {t} thread(s)": engine(problem, p, "native", t) for t in threads}
        for t in threads:
            by_hand = cpp(problem, p, t)
            if by_hand is not None:
                found[f"C++ by hand, {t} thread(s)"] = by_hand
    return found


def check(problem: Quadratic, p: Array, found: dict[str, peers.Peer]) -> float:
    """The largest relative difference of f - f* on given draws, 20 runs and 5 rounds; refuses more than 1e-9."""
    draws = peers.engine_draws(problem, p, 20, 5)
    values = {name: peer(20, 5, draws) for name, peer in found.items() if not name.startswith(CHEAPER)}
    expected = values["NumPy, batched"]
    worst = 0.0
    for name, value in values.items():
        apart = float(np.max(np.abs(value - expected)) / np.max(np.abs(expected)))
        if not apart <= 1e-9:
            raise SystemExit(f"{name} differs by {apart:.2g} from NumPy on the same draws")
        worst = max(worst, apart)
    return worst


def check_means(results: dict[str, Array]) -> None:
    """Refuse competitors whose mean final f - f* (R,) differs from NumPy's by more than chance."""
    expected = results["NumPy, batched"]
    for name, value in results.items():
        error = float(np.sqrt(value.var(ddof=1) / value.size + expected.var(ddof=1) / expected.size))
        if not abs(value.mean() - expected.mean()) <= APART * error:
            raise SystemExit(f"{name}: the mean final f - f* is {value.mean():.4g}, with NumPy {expected.mean():.4g}")


def compare(quick: bool, repetitions: int, markdown: bool) -> dict[str, Any]:
    """Print the table of all competitors."""
    problem, p = workload()
    found = competitors(problem, p, quick)
    print(f"on the same draws f - f* agrees to {check(problem, p, found):.1g}")
    cases: list[Case] = []
    for runs in (20, 500 if quick else 2000):
        for name, peer in found.items():
            if name != "plain Python loop":
                cases.append(Case(name, runs, ROUNDS, partial(peer, runs, ROUNDS, None)))
            elif runs == 20:
                cases.append(Case(name, 1, 20, partial(peer, 1, 20, None)))
    figures = measure(cases, repetitions)
    finals = [figure.result[:, -1] for figure in figures]
    check_means({c.name: final for c, final in zip(cases, finals, strict=True) if c.runs == cases[-1].runs})
    rows = [
        [c.name, f"{c.runs:,}", f"{c.rounds}", number(f.rate), number(f.cpu_microseconds), f"{final.mean():.3g}",
         f"{f.load:.1f}"]
        for c, f, final in zip(cases, figures, finals, strict=True)
    ]  # fmt: skip
    head = ["W1", "runs", "rounds", "run-rounds/s", "CPU us each", "final f - f*", "load"]
    print(table(head, rows, markdown))
    kept = [
        {"name": c.name, "runs": c.runs, "rounds": c.rounds, "run_rounds_per_second": f.rate,
         "cpu_microseconds": f.cpu_microseconds, "load": f.load, "final_suboptimality": float(final.mean())}
        for c, f, final in zip(cases, figures, finals, strict=True)
    ]  # fmt: skip
    return {"workload": "W1", "machine": machine(), "repetitions": repetitions, "rows": kept}


def axes(quick: bool) -> list[Axis]:
    """Speed by each size while the others are those of W1 with 2,000 runs; by threads, strong and weak."""
    runs, rounds = (200, 20) if quick else (2000, ROUNDS)
    cores = os.cpu_count() or 1
    threads = sorted({1, min(2, cores)})

    def cases(clients: int, dim: int, runs: int, rounds: int) -> list[Case]:
        named = scaled(*workload(clients, dim), threads)
        named.pop("engine, torch, 2 thread(s)", None)
        return [one(name, runs, rounds, peer) for name, peer in named.items()]

    def one(name: str, runs: int, rounds: int, peer: peers.Peer) -> Case:
        rounds = min(rounds, 10) if "torch" in name and runs * rounds > 20 * ROUNDS else rounds  # its rounds cost alike
        return Case(name, runs, rounds, partial(peer, runs, rounds, None))

    def by_threads(t: int, runs: int, kind: str) -> list[Case]:
        problem, p = workload()
        named: dict[str, Callable[..., Array]] = {}
        if compiler() is not None:
            by_hand = cpp(problem, p, t)
            named |= {"engine, native": engine(problem, p, "native", t)}
            named |= {} if by_hand is None else {"C++ by hand": by_hand}
        return [one(f"{name}, {kind}", runs, rounds, peer) for name, peer in named.items()]

    number_of_runs = (20, 200) if quick else (20, 200, 2000, 5000)
    clients, dims, spans = (6, 18, 54, 162), (2, 5, 10, 16, 32), (10, 100, 1000)
    some = max(20, runs // 10)  # of more clients, coordinates or rounds: a tenth of the runs
    counts = sorted({1, *(2**i for i in range(1, 8) if 2**i <= cores), cores})
    return [
        Axis("runs", number_of_runs, [cases(CLIENTS, DIM, r, rounds) for r in number_of_runs]),
        Axis("clients", clients, [cases(n, DIM, some, rounds) for n in clients]),
        Axis("coordinates", dims, [cases(CLIENTS, d, some, rounds) for d in dims]),
        Axis("rounds", spans[: 2 if quick else 3], [cases(CLIENTS, DIM, some, k) for k in spans[: 2 if quick else 3]]),
        Axis(
            "threads",
            counts,
            [by_threads(t, runs, "the same runs") + by_threads(t, runs * t, f"{runs:,} runs a thread") for t in counts],
        ),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    chosen = options(__doc__).parse_args(arguments)
    repetitions = max(3 if chosen.scaling else 5, chosen.repetitions)
    print(machine())
    if chosen.scaling:
        scaling("W1", axes(chosen.quick), repetitions, chosen.markdown, chosen.out)
        return
    report = compare(chosen.quick, repetitions, chosen.markdown)
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
