"""Worst cases: ours against PEPit on the same problems, each in a process of its own.

A problem is an algorithm of the catalogue, what is measured at its end, against what, a class of functions, numbers and
sizes. Ours is an enclosure: what is proved, and what an instance attains, both checked exactly; it pays for reading the
claim, and PEPit does not. PEPit is told the same points, gradients and values, of every client and of every branch of
the draws: no client is merged with another, though who knows that eight are as bad as two may tell it less. It solves
with Clarabel on one thread; its value is a float, without a proof. Imports and first calls are not counted. PEPit is
optional: `pip install pepit`.

Run: ``python -m benchmarks.worst_case [--json FILE] [--only NAME] [--ours] [--limit SECONDS]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[1]
CONVEX = ("smooth(f, L)", "convex(f)")
STRONG = ("smooth(f_n, L)", "strongly_convex(f_n, mu)")
SAMPLES = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)")
GAP, DISTANCE = "f(x[k]) - fstar", "E(norm2(x[k] - xstar))"
START = "norm2(x0 - xstar)"
SPREAD = f"{START} + mean_n(norm2(grad(f_n, xstar)))/L**2"
OF_SAMPLES = f"{START} + mean_n(mean_i(norm2(grad(f_ni, xstar))))/L**2"
WEIGHTS = {"k": [str(Fraction(k, k + 3)) for k in range(20)]}
LIMIT = 900
"""Seconds of a call, after which it is given up."""


@dataclass(frozen=True)
class Problem:
    """A worst case to be computed.

    Attributes:
        algorithm: of the catalogue.
        left, right: the largest ratio of these is sought.
        assuming: the class.
        values: numbers for all names.
        sizes: clients, samples and rounds.
        known: its value in closed form; nan where there is none.
        faster: by how much ours is to be faster than PEPit.
    """

    algorithm: str
    left: str
    right: str
    assuming: tuple[str, ...]
    values: dict[str, Any]
    sizes: dict[str, int] = field(default_factory=dict)
    known: float = math.nan
    faster: int = 5


PROBLEMS = {
    "gradient descent, 10 steps": Problem(
        "gradient_descent", GAP, f"L*{START}", CONVEX, {"L": 1, "eta": 1}, {"rounds": 10}, 1 / 42
    ),
    "gradient descent, 40 steps": Problem(
        "gradient_descent", GAP, f"L*{START}", CONVEX, {"L": 1, "eta": 1}, {"rounds": 40}, 1 / 162
    ),
    "Nesterov, 20 steps": Problem(
        "nesterov", GAP, f"L*{START}", CONVEX, {"L": 1, "eta": 1, "beta": WEIGHTS}, {"rounds": 20}
    ),
    "heavy ball, 10 steps": Problem(
        "heavy_ball", DISTANCE, START, ("smooth(f, L)", "strongly_convex(f, mu)"),
        {"L": 1, "mu": "1/25", "alpha": "25/9", "beta": "4/9"}, {"rounds": 10},
    ),
    "FedAvg, 2 clients, 5 local steps, 2 rounds": Problem(
        "fedavg", DISTANCE, SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "eta": "0.1", "H": 5, "S": 2}, {"clients": 2, "rounds": 2},
    ),
    "FedAvg, 8 clients, 5 local steps, 2 rounds": Problem(
        "fedavg", DISTANCE, SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "eta": "0.1", "H": 5, "S": 8}, {"clients": 8, "rounds": 2}, faster=50,
    ),
    "SCAFFOLD, 2 of 4 clients, 2 local steps, 2 rounds": Problem(
        "scaffold", DISTANCE, SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "eta": "0.1", "eta_g": 1, "H": 2, "S": 2}, {"clients": 4, "rounds": 2}, faster=50,
    ),
    "ProxSkip, 2 clients, 4 rounds": Problem(
        "proxskip", f"mean_n({DISTANCE})", SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "gamma": 1, "p": "1/2"}, {"clients": 2, "rounds": 4}, faster=50,
    ),
    "SAGA, 3 samples, 3 steps": Problem(
        "saga", DISTANCE, OF_SAMPLES, SAMPLES, {"L": 1, "mu": "0.1", "eta": "0.3"}, {"samples": 3, "rounds": 3},
    ),
}  # fmt: skip


def claim_of(problem: Problem) -> Any:
    """The claim whose sides are compared."""
    from theory import claim
    from theory.papers import algorithms

    sentence = f"{problem.left} <= {problem.right}"
    return claim("largest", sentence, of=getattr(algorithms, problem.algorithm), assuming=problem.assuming)


def ours(problem: Problem) -> dict[str, Any]:
    """Our enclosure."""
    from validate.worst_case import worst_case_of

    found = worst_case_of(claim_of(problem), problem.values, room=400, **problem.sizes)
    lower, upper = (None if side is None else f"{float(side):.10g}" for side in (found.lower, found.upper))
    apart = None if found.lower is None or found.upper is None else float((found.upper - found.lower) / found.upper)
    return {"status": found.status, "value": found.value, "lower": lower, "upper": upper, "apart": apart}


def pepit(problem: Problem) -> dict[str, Any]:
    """PEPit's value: maximise the left side, the right side being at most 1."""
    from PEPit import PEP, Expression, Point, functions

    from theory.worst_case.assembly import fraction
    from validate.worst_case import numbers_of
    from validate.worst_case.reading import read_claim

    one = claim_of(problem)
    N, n = problem.sizes.get("clients", 1), problem.sizes.get("samples", 1)
    reading = read_claim(one, numbers_of(one, problem.values), (n,) * N, problem.sizes["rounds"], 400, at={})
    wall, cpu = time.perf_counter(), time.process_time()  # what is read off the claim is not PEPit's to pay for
    case, met, pep = reading.cases[0], reading.met, PEP()
    basis = [Point() * 0, *(Point() for _ in met.basis[1:])]  # the first is the minimiser
    values = {v: Expression() for v in range(met.values)}

    def vector(combination: Any) -> Any:
        parts = [float(fraction(c)) * b for c, b in zip(combination, basis, strict=False) if c]
        return sum(parts[1:], start=parts[0]) if parts else basis[0]

    def side(form: Any) -> Any:
        parts = [float(fraction(c)) * (basis[i] * basis[j]) for (i, j), c in form.gram.items()]
        parts += [float(fraction(c)) * values[v] for v, c in form.values.items()]
        return sum(parts[1:], start=parts[0])

    for key, points in met.functions.items():
        own = met.classes[key]
        if own.mu:
            f = pep.declare_function(functions.SmoothStronglyConvexFunction, mu=float(own.mu), L=float(own.L))
        else:
            f = pep.declare_function(functions.SmoothConvexFunction, L=float(own.L))
        for point in points:
            f.add_point((vector(point.x), vector(point.g), values[point.value]))
        pep.add_constraint(values[points[0].value] == 0)  # values are relative to the minimiser's
    pep.add_constraint(side(case.right) <= 1)
    pep.set_performance_metric(side(case.left))
    value = float(pep.solve(verbose=0, solver="CLARABEL", max_threads=1))
    times = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {"status": "float", "value": value, "lower": None, "upper": None, "apart": None, **times}


def measured(tool: str, name: str) -> dict[str, Any]:
    """One tool on one problem in this process, after a small one: imports are not counted."""
    import resource

    problem = PROBLEMS[name]
    from scipy import optimize

    optimize.linprog([1.0], bounds=(0, 1), method="highs")
    tools = {"ours": ours, "PEPit": pepit}
    tools[tool](replace(PROBLEMS["gradient descent, 10 steps"], sizes={"rounds": 1}))  # what is imported when called
    tools[tool](replace(PROBLEMS["SAGA, 3 samples, 3 steps"], sizes={"samples": 2, "rounds": 1}))
    wall, cpu = time.perf_counter(), time.process_time()
    result = tools[tool](problem)
    result = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, **result}
    unit = 2**20 if sys.platform == "darwin" else 2**10
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    known = None if math.isnan(problem.known) else problem.known
    return {"problem": name, "tool": tool, "known": known, **result}


def in_a_process(tool: str, name: str, limit: float) -> dict[str, Any] | None:
    """The same in a process of its own; None where it takes longer than so many seconds."""
    command = [sys.executable, "-m", "benchmarks.worst_case", "--one", tool, name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def line(name: str, tool: str, r: dict[str, Any] | None, limit: float, other: dict[str, Any] | None) -> str:
    """A row of the table; of PEPit's, by how much ours was faster, in processor time."""
    if r is None:
        ratio = "" if other is None else f"{limit / other['cpu']:9.0f}+"
        return f"{name:52}{tool:7}{'given up after':>14}{limit:6.0f} s{ratio:>57}"
    text = (
        f"{name:52}{tool:7}{r['value']:14.9f}{r['upper'] or '-':>16}{r['lower'] or '-':>16}"
        f"{r['seconds']:9.3f}{r['cpu']:9.3f}{r['megabytes']:7.0f}"
    )
    return text if other is None else f"{text}{r['cpu'] / other['cpu']:9.1f}"


def main() -> None:
    """Runs the benchmark and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--ours", action="store_true", help="leave PEPit out")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a call (default %(default)s)")
    parser.add_argument("--one", nargs=2, metavar=("TOOL", "PROBLEM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        json.dump(measured(*arguments.one), sys.stdout)
        return
    tools = ["ours"]
    if importlib.util.find_spec("PEPit") is not None and not arguments.ours:
        tools.append("PEPit")
    elif not arguments.ours:
        print("PEPit is not installed, so ours is alone here; `pip install pepit` brings the comparison.\n")
    names = [name for name in PROBLEMS if arguments.only in name]
    if not names:
        parser.error(f"--only {arguments.only!r} fits none of {', '.join(PROBLEMS)}")
    head = f"{'problem':52}{'tool':7}{'value':>14}{'proved <=':>16}{'attained >=':>16}{'s':>9}{'cpu s':>9}{'MB':>7}"
    print(f"{head}{'faster':>9}")
    results = []
    for name in names:
        first: dict[str, Any] | None = None
        for tool in tools:
            r = in_a_process(tool, name, arguments.limit)
            results.append(r or {"problem": name, "tool": tool, "seconds": None})
            print(line(name, tool, r, arguments.limit, first), flush=True)
            first = r
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
