"""Programs of the catalogue on W1's problem: C++ generated from them beside torch, and of three beside C++ by hand.

2,000 runs on one thread, f - f* and the squared gradient norm after every round; torch does 8 rounds, C++ 100. By CPU
time, all in turn, compiling not counted. Run:
``python -m benchmarks.programs [--quick] [--markdown] [--json FILE]``.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import by_hand as written
from benchmarks import w1_peers as peers
from benchmarks.measuring import Case, machine, measure, number, options, table
from benchmarks.w1_fedavg_svrg import workload
from sim.problems import Quadratic
from sim.simulate import simulate
from theory.papers import algorithms

METRICS = ("suboptimality", "squared_gradient_norm")
SEED = 7
LAGS = {"alpha": [0.2, 0.1], "beta": [0.5, 0.1]}
LOCAL = {"eta": 0.01, "H": 5, "S": 9}
ADAM = {**LOCAL, "eta_g": 0.1, "beta1": 0.5, "beta2": 0.9, "tau": 0.1}
PROGRAMS: list[tuple[Any, dict[str, Any]]] = [
    (algorithms.heavy_ball, {"alpha": 0.01, "beta": 0.5}),
    (algorithms.saga, {"eta": 0.01}),
    (algorithms.random_reshuffling, {"eta": 0.001}),
    (algorithms.reshuffled_clients, {"eta": 0.01}),
    (algorithms.fedavg, LOCAL),
    (algorithms.scaffold, {**LOCAL, "eta_g": 1.0}),
    (algorithms.fedmim, {"eta_l": 0.01, "H": 5, "S": 9, "A": 0.7, **LAGS}),
    (algorithms.proxskip, {"gamma": 0.02, "p": 0.3}),
    (algorithms.diana, {"eta": 0.01, "alpha": 0.3, "m": 2}),
    (algorithms.fedadam, ADAM),
    (algorithms.feddyn, {"alpha": 0.5, "S": 9}),
]


def advance(problem: Quadratic, one: Any, given: dict[str, Any], runs: int, rounds: int, backend: str) -> Any:
    """One call."""
    start = [peers.START] * problem.dim
    return simulate(one, problem, given, start, rounds, runs, SEED, metrics=METRICS, record=(), backend=backend).values


def by_hand(problem: Quadratic, name: str, given: dict[str, Any]) -> written.ByHand | None:
    """The program in C++ by hand, where somebody wrote it."""
    if name == "fedavg_svrg":
        more = written.w1(problem, given["p"], given["delta"], (given["S"], given["M"]))
        return written.by_hand("w1", problem, peers.START, SEED, 1, more)
    if name not in ("scaffold", "proxskip"):
        return None
    return written.by_hand(name, problem, peers.START, SEED, 1, getattr(written, name)(**given))


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    chosen = options(__doc__).parse_args(arguments)
    print(machine())
    problem, p = workload()
    programs = [(algorithms.fedavg_svrg, {"delta": 0.01, "p": p, "S": 5, "M": 2}), *PROGRAMS]
    runs, rows, kept = 200 if chosen.quick else 2000, [], []
    for one, given in programs:
        few = [np.asarray(advance(problem, one, given, 24, 8, b)[METRICS[0]]) for b in ("torch", "native")]
        hand = by_hand(problem, one.name, given)
        if not all(
            np.allclose(few[0], found, rtol=1e-9, atol=1e-9) for found in (few[1], *([hand(24, 8)] if hand else []))
        ):
            raise SystemExit(f"{one.name}: the results differ on the same draws")
        cases = [
            Case(name, runs, rounds, partial(advance, problem, one, given, runs, rounds, name))
            for name, rounds in {"torch": 8, "native": 100}.items()
        ]
        cases += [Case("by hand", runs, 100, partial(hand, runs, 100))] if hand else []
        slow, fast, *other = (f.cpu_microseconds for f in measure(cases, max(5, chosen.repetitions)))
        shown = [number(other[0]), f"{other[0] / fast:.2f}"] if other else ["", ""]
        rows.append([one.name, number(slow), number(fast), f"{slow / fast:.0f}", *shown])
        kept.append({"program": one.name, "torch": slow, "native": fast, "by_hand": other[0] if other else None})
    head = ["program", "torch, CPU us a run-round", "generated C++", "faster", "C++ by hand", "faster"]
    print(table(head, rows, chosen.markdown))
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": machine(), "rows": kept}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
