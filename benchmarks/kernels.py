"""Kernels in Triton: what the compiler says of them for an H100, and how fast W1's is where there is a GPU.

Registers and stack are of a thread, read off the machine code; for that no GPU is needed, but Triton. A run-round is
one run advanced by one round, with its random draws and both metrics; the first call, which compiles, is not counted.
Run: ``python -m benchmarks.kernels [--markdown] [--json FILE]``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import w1_peers as peers
from benchmarks.measuring import machine, number, options, table
from benchmarks.programs import METRICS, PROGRAMS
from benchmarks.w1_fedavg_svrg import ROUNDS, workload
from sim.gpu import kernel
from sim.gpu.compiling import compiled, taken
from sim.problems import Quadratic
from sim.simulate import simulate
from sim.simulate.parameters import Parameters
from theory.papers.algorithms import fedavg_svrg

RUNS = (2_000, 200_000, 2_000_000)


def what_it_takes(one: Any, parameters: dict[str, Any], problem: Quadratic) -> dict[str, Any]:
    """Registers and stack of a program's kernel, and the seconds that it took to compile."""
    named = {*parameters, *(name.removesuffix("_n") for name in parameters)}
    defaults = {name: float(value) for name, value in one.defaults.items() if name not in named}
    numbers = Parameters(one.program, {**defaults, **parameters}, problem.clients, problem.dim, ROUNDS)
    found = kernel(one.program, problem, numbers, METRICS)
    if isinstance(found, str):
        return {"program": one.name, "why not": found}
    began = time.perf_counter()
    used = taken(compiled(*found))
    return {
        "program": one.name, "registers": used.registers, "stack": used.stack, "seconds": time.perf_counter() - began,
    }  # fmt: skip


def speed(given: dict[str, Any], problem: Quadratic, runs: int, backend: str) -> float:
    """Run-rounds of W1 a second on the GPU, of the better of two calls after a first one."""
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        simulate(
            fedavg_svrg, problem, given, [peers.START] * problem.dim, ROUNDS, runs, peers.SEED, record=(),
            metrics=METRICS, backend=backend, device="cuda", memory=1 << 35,
        )  # fmt: skip
        best = min(best, time.perf_counter() - began)
    return runs * ROUNDS / best


def main() -> None:
    """Print tables."""
    chosen = options(__doc__).parse_args()
    problem, p = workload()
    given = {"delta": peers.STEP, "p_n": p, "S": peers.SNAPSHOTS, "M": peers.INNER}
    rows = [what_it_takes(fedavg_svrg, given, problem)]
    rows += [what_it_takes(one, parameters, problem) for one, parameters in PROGRAMS if one.name != fedavg_svrg.name]
    shown = [[str(row[name]) for name in ("program", "registers", "stack")] for row in rows if "registers" in row]
    print(machine())
    print(table(["program", "registers", "stack"], shown, chosen.markdown))
    speeds = []
    if torch.cuda.is_available():
        speeds = [(b, runs, speed(given, problem, runs, b)) for runs in RUNS for b in ("auto", "torch")]
        cells = [[b, f"{runs:,}", number(rate)] for b, runs, rate in speeds]
        print(table(["back end", "runs", "run-rounds/s"], cells, chosen.markdown))
    if chosen.json:
        chosen.json.write_text(json.dumps({"kernels": rows, "speeds": speeds}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
