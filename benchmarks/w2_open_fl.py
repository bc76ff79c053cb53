"""Workload W2: open local SGD, ridge logistic regression, a pool of 1,000 clients of whom 10 are present (in each round
one leaves and one joins), d=100, 100 samples each, 5 local steps, minibatches of 10 or the full batch, 200 rounds, 100
runs, in float64.

Compares the engine's back ends with a plain Python loop, NumPy, JAX and C++ by hand, in one process, in turn, after
checking that all of them give the same models when they are given the same draws. A run-round is one run advanced by
one round with its random draws; compiling is not counted. Who is present is drawn by the engine within its time; the
others are given it. Run: ``python -m benchmarks.w2_open_fl [--quick] [--markdown] [--json FILE]``, or with
``--scaling [--out FOLDER]``; best on an idle machine (the load is printed).
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

from benchmarks import w2_peers as peers
from benchmarks.measuring import Axis, Case, installed, machine, measure, number, options, scaling, table
from benchmarks.w2_peers import LocalSGD
from sim.native import build
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic, ridge_logistic
from sim.simulate import simulate
from theory.papers.open_fl import rounds_of_sgd, rounds_of_whole_sgd

CLIENTS, PRESENT, SAMPLES, DIM, ROUNDS, RUNS = 1000, 10, 100, 100, 200, 100
STEP, LOCAL_STEPS, BATCH, SPREAD, RIDGE, SEED = 0.01, 5, 10, 2.0, 0.01, 1
METRICS = ("squared_iterate_norm", "cost")

Array = np.ndarray[Any, Any]


def population(present: int = PRESENT) -> OpenPopulation:
    """That of W2, or another number of clients present."""
    return OpenPopulation(CLIENTS, present, leave=1, join=1)


def engine(
    problem: RidgeLogistic, algorithm: LocalSGD, backend: Any, threads: int, runs: int, rounds: int, metrics: Any,
    present: int = PRESENT,
) -> Array:  # fmt: skip
    """The final models (R, d)."""
    given = {"eta": algorithm.step, "H": algorithm.local_steps}
    program = rounds_of_whole_sgd
    if algorithm.batch is not None:
        program, given = rounds_of_sgd, {**given, "b": algorithm.batch}
    return simulate(
        program, problem, given, rounds=rounds, runs=runs, seed=SEED, metrics=metrics, backend=backend, threads=threads,
        population=population(present),
    ).final["x"]  # fmt: skip


def backends() -> list[str]:
    """Those that can be had here."""
    return ["torch", *(["native"] if build.compiler() else [])]


def threads() -> list[int]:
    """1, and 2 where there are two cores."""
    return sorted({1, min(2, os.cpu_count() or 1)})


def check(problem: RidgeLogistic, algorithm: LocalSGD, with_jax: bool) -> float:
    """The largest relative difference of the final models of 3 runs after 12 rounds; refuses more than 1e-9."""
    schedule = population().presence(12, 3, SEED)
    sampler = peers.by_streams(problem, algorithm, SEED)
    expected = peers.plain_loop(problem, algorithm, schedule, sampler, True)
    others = {"NumPy": peers.numpy_batch(problem, algorithm, schedule, sampler, True)}
    if with_jax:
        others["JAX"] = peers.jax_batch(problem, algorithm, schedule, sampler, True)()
    for t in threads():
        by_hand = peers.cpp(problem, algorithm, schedule, True, t, SEED)
        others |= {} if by_hand is None else {f"C++, threads={t}": by_hand()}
        for name in backends():
            others[f"{name}, threads={t}"] = engine(problem, algorithm, name, t, 3, 12, METRICS)
    worst = 0.0
    for name, other in others.items():
        apart = float(np.max(np.abs(other - expected)) / np.max(np.abs(expected)))
        if not apart <= 1e-9:
            raise SystemExit(f"{name}: the models differ by {apart:.2g} from those of the plain loop")
        worst = max(worst, apart)
    return worst


def cases(
    problem: RidgeLogistic, algorithm: LocalSGD, quick: bool, metrics: tuple[str, ...], with_jax: bool
) -> list[Case]:
    """What to time; fewer rounds for the slow ones (the rate hardly depends on them)."""
    shrink = 10 if quick else 1
    sampler = peers.by_generator(problem, algorithm, 2)
    with_loss = "cost" in metrics
    few = max(1, (5 if algorithm.batch is None else 20) // shrink)
    found: list[Case] = []

    def add(name: str, runs: int, rounds: int, function: Callable[[], Array] | None) -> None:
        found.extend([] if function is None else [Case(name, runs, rounds, function)])

    schedule = population().presence(50 // shrink, 2, SEED)
    work: Callable[[], Array] | None = partial(peers.plain_loop, problem, algorithm, schedule, sampler, with_loss)
    add("plain Python loop", 2, 50 // shrink, work)
    schedule = population().presence(few, RUNS, SEED)
    work = partial(peers.numpy_batch, problem, algorithm, schedule, sampler, with_loss)
    add("NumPy, batched over runs", RUNS, few, work)
    if with_jax:
        work = peers.jax_batch(problem, algorithm, schedule, None, with_loss)
        add("JAX, vmap and scan, all cores", RUNS, few, work)
    rounds = ROUNDS // shrink
    for name in backends():
        for t in threads()[: 1 if quick and name == "torch" else None]:  # slow, above all on busy cores
            span = few if name == "torch" else rounds
            work = partial(engine, problem, algorithm, name, t, RUNS, span, metrics)
            add(f"engine, {name}, {t} thread(s)", RUNS, span, work)
    schedule = population().presence(rounds, RUNS, SEED)
    for t in threads():
        work = peers.cpp(problem, algorithm, schedule, with_loss, t, SEED)
        add(f"C++ by hand, {t} thread(s)", RUNS, rounds, work)
    return found


def compare(quick: bool, repetitions: int, markdown: bool) -> dict[str, Any]:
    """Print a table for minibatches and one for the full batch."""
    problem = ridge_logistic(CLIENTS, SAMPLES, DIM, SPREAD, RIDGE, 0)
    with_jax = installed("jax")
    kept = []
    for label, batch in (("minibatches of 10", BATCH), ("full batch", None)):
        algorithm = LocalSGD(STEP, LOCAL_STEPS, batch)
        print(f"\n{label}: on the same draws the final models agree to {check(problem, algorithm, with_jax):.1g}")
        bare, whole = (cases(problem, algorithm, quick, metrics, with_jax) for metrics in (METRICS[:1], METRICS))
        figures = measure([*bare, *whole], repetitions)
        rows = []
        for case, norms, losses in zip(bare, figures[: len(bare)], figures[len(bare) :], strict=True):
            cells = [number(x) for found in (norms, losses) for x in (found.rate, found.cpu_microseconds)]
            rows.append([case.name, f"{case.runs}", f"{case.rounds}", *cells, f"{max(norms.load, losses.load):.1f}"])
            same = {"workload": label, "name": case.name, "runs": case.runs, "rounds": case.rounds}
            for metrics, found in (("norms", norms), ("norms and global loss", losses)):
                timed = {"run_rounds_per_second": found.rate, "cpu_microseconds": found.cpu_microseconds}
                kept.append({**same, "metrics": metrics, **timed, "load": found.load})
        head = [f"W2, {label}", "runs", "rounds", "run-rounds/s", "CPU us", "with global loss", "CPU us", "load"]
        print(table(head, rows, markdown), flush=True)
    return {"workload": "W2", "machine": machine(), "repetitions": repetitions, "rows": kept}


def axes(quick: bool) -> list[Axis]:
    """Speed of minibatches, without the loss, by each size while the others are those of W2 (half its rounds); by
    threads, strong and weak. Of the engine's compiled back ends the best that can be had here."""
    algorithm = LocalSGD(STEP, LOCAL_STEPS, BATCH)
    rounds = 20 if quick else ROUNDS // 2
    best = [name for name in backends() if name != "torch"][-1:]
    problems = {d: ridge_logistic(CLIENTS, SAMPLES, d, SPREAD, RIDGE, 0) for d in (25, DIM, 200)}

    def by(t: int, kind: str, runs: int, rounds: int, present: int = PRESENT, dim: int = DIM) -> list[Case]:
        problem, schedule = problems[dim], population(present).presence(rounds, runs, SEED)
        found = [
            Case(f"engine, {name}, {kind}", runs, rounds,
                 partial(engine, problem, algorithm, name, t, runs, rounds, METRICS[:1], present))
            for name in best
        ]  # fmt: skip
        by_hand = peers.cpp(problem, algorithm, schedule, False, t, SEED)
        return found + ([] if by_hand is None else [Case(f"C++ by hand, {kind}", runs, rounds, by_hand)])

    def each(*sizes: int) -> list[Case]:
        return [case for t in threads() for case in by(t, f"{t} thread(s)", *sizes)]

    runs_, spans = ((10, 100), (20,)) if quick else ((10, 100, 400), (20, 100, 500))
    clients, dims = (5, 10, 20, 40), tuple(problems)
    cores = os.cpu_count() or 1
    counts = sorted({1, *(2**i for i in range(1, 8) if 2**i <= cores), cores})
    return [
        Axis("runs", runs_, [each(r, rounds) for r in runs_]),
        Axis("clients present", clients, [each(RUNS, rounds, n) for n in clients]),
        Axis("coordinates", dims, [each(RUNS, rounds, PRESENT, d) for d in dims]),
        Axis("rounds", spans, [each(RUNS, k) for k in spans]),
        Axis(
            "threads",
            counts,
            [by(t, "the same runs", RUNS, rounds) + by(t, "100 runs a thread", RUNS * t, rounds) for t in counts],
        ),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print its tables."""
    chosen = options(__doc__).parse_args(arguments)
    repetitions = max(5, chosen.repetitions)
    print(machine())
    if chosen.scaling:
        scaling("W2", axes(chosen.quick), repetitions, chosen.markdown, chosen.out)
        return
    report = compare(chosen.quick, repetitions, chosen.markdown)
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
