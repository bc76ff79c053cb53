"""Workload W1 written in the language and run by `sim.simulate`, beside the engine's torch back end.

FedAvg-SVRG, least squares, N=18, 50 samples each, d=5, S=5 snapshots of M=2 steps, K=100, p_n ~ U(0.3, 0.9), step 0.01;
a run-round is one run advanced by one round, with its random draws, f - f* and the squared gradient norm. One process,
one thread, both in turn. Run: ``python -m benchmarks.simulate [--quick] [--markdown] [--json FILE]``.
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
from benchmarks.w1_fedavg_svrg import APART, ROUNDS, engine, workload
from sim.problems import Quadratic
from sim.simulate import Moment, simulate
from theory.papers.algorithms import fedavg_svrg

Array = np.ndarray[Any, Any]


def language(problem: Quadratic, p: Array) -> peers.Peer:
    """The program of the catalogue, as a peer; its draws are its own."""
    import torch

    minimiser, hessian = torch.tensor(problem.minimiser), torch.tensor(problem.mean_hessian)
    parameters = {"delta": peers.STEP, "p_n": p, "S": peers.SNAPSHOTS, "M": peers.INNER}

    def measured(moment: Moment) -> dict[str, Any]:
        gap = moment.states["x"] - minimiser
        slope = gap @ hessian
        return {"suboptimality": (slope * gap).sum(1) / 2, "squared_gradient_norm": slope.square().sum(1)}

    def advance(runs: int, rounds: int, draws: peers.Draws | None = None) -> Array:
        start = [peers.START] * problem.dim
        found = simulate(fedavg_svrg, problem, parameters, start, rounds, runs, peers.SEED, measure=measured)
        return np.asarray(found.values["suboptimality"])

    return advance


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and print a table."""
    chosen = options(__doc__).parse_args(arguments)
    print(machine())
    problem, p = workload()
    found = {"sim.simulate": language(problem, p), "engine, torch": engine(problem, p, "torch", 1)}
    cases = [
        Case(name, runs, ROUNDS, partial(peer, runs, ROUNDS, None))
        for runs in (20, 200 if chosen.quick else 2000)
        for name, peer in found.items()
    ]
    figures = measure(cases, max(5, chosen.repetitions))
    finals = [figure.result[:, -1] for figure in figures]
    for i in range(0, len(cases), len(found)):
        one, two = finals[i : i + 2]
        error = float(np.sqrt(one.var(ddof=1) / one.size + two.var(ddof=1) / two.size))
        if not abs(one.mean() - two.mean()) <= APART * error:
            raise SystemExit(f"the mean final f - f* is {one.mean():.4g} and {two.mean():.4g}")
    head = ["W1", "runs", "run-rounds/s", "CPU us each", "final f - f*", "load"]
    rows = [
        [c.name, f"{c.runs:,}", number(f.rate), number(f.cpu_microseconds), f"{final.mean():.3g}", f"{f.load:.1f}"]
        for c, f, final in zip(cases, figures, finals, strict=True)
    ]
    print(table(head, rows, chosen.markdown))
    if chosen.json:
        kept = [
            {"name": c.name, "runs": c.runs, "run_rounds_per_second": f.rate, "cpu_microseconds": f.cpu_microseconds}
            for c, f in zip(cases, figures, strict=True)
        ]
        chosen.json.write_text(json.dumps({"workload": "W1", "machine": machine(), "rows": kept}, indent=2) + "\n")


if __name__ == "__main__":
    main()
