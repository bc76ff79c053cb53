"""Programs of the catalogue on W1's problem: C++ generated from them beside torch.

2,000 runs on one thread, f - f* and the squared gradient norm after every round; torch does 8 rounds, the generated C++
100. By CPU time, both in turn, compiling not counted. Run:
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

from benchmarks import w1_peers as peers
from benchmarks.measuring import Case, machine, measure, number, options, table
from benchmarks.w1_fedavg_svrg import workload
from sim.problems import Quadratic
from sim.simulate import simulate
from theory.papers import algorithms

METRICS = ("suboptimality", "squared_gradient_norm")
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
    return simulate(one, problem, given, start, rounds, runs, 7, metrics=METRICS, record=(), backend=backend).values


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    chosen = options(__doc__).parse_args(arguments)
    print(machine())
    problem, p = workload()
    programs = [(algorithms.fedavg_svrg, {"delta": 0.01, "p": p, "S": 5, "M": 2}), *PROGRAMS]
    runs, rows, kept = 200 if chosen.quick else 2000, [], []
    for one, given in programs:
        few = [np.asarray(advance(problem, one, given, 24, 8, b)[METRICS[0]]) for b in ("torch", "native")]
        if not np.allclose(*few, rtol=1e-9, atol=1e-9):
            raise SystemExit(f"{one.name}: the back ends differ on the same draws")
        sizes = {"torch": 8, "native": 100}
        cases = [
            Case(name, runs, rounds, partial(advance, problem, one, given, runs, rounds, name))
            for name, rounds in sizes.items()
        ]
        slow, fast = (f.cpu_microseconds for f in measure(cases, max(3, chosen.repetitions)))
        rows.append([one.name, number(slow), number(fast), f"{slow / fast:.0f}"])
        kept.append({"program": one.name, "torch": slow, "native": fast})
    print(table(["program", "torch, CPU us a run-round", "generated C++", "faster"], rows, chosen.markdown))
    if chosen.json:
        chosen.json.write_text(json.dumps({"machine": machine(), "rows": kept}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
