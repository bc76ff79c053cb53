"""Worst cases: ours against PEPit on the same problems, each in a process of its own.

For each problem the value, what is proved about it, the seconds of the call and of the processor, and the peak memory
of the process. PEPit is optional: `pip install pepit`. Its value is a float of the solver, without a proof.

Run: ``python -m benchmarks.worst_case [--json FILE] [--only NAME] [--ours]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[1]
# name: (kind, sizes, what is known: a closed form, or a value from elsewhere)
PROBLEMS: dict[str, tuple[str, dict[str, int], float]] = {
    "gradient descent, 10 steps": ("descent", {"steps": 10}, 1 / 42),
    "gradient descent, 40 steps": ("descent", {"steps": 40}, 1 / 162),
    "FedAvg, 2 clients, 5 local steps, 2 rounds": ("fedavg", {"clients": 2}, 0.8385414),
    "FedAvg, 8 clients, 5 local steps, 2 rounds": ("fedavg", {"clients": 8}, 0.8385414),
}
# of the catalogue: algorithm, left and right side, assumptions, numbers, sizes
CONVEX = ("smooth(f, L)", "convex(f)")
STRONG = ("smooth(f_n, L)", "strongly_convex(f_n, mu)")
GAP, DISTANCE = "f(x[k]) - fstar", "E(norm2(x[k] - xstar))"
SPREAD = "norm2(x0 - xstar) + mean_n(norm2(grad(f_n, xstar)))/L**2"
SAMPLES = "norm2(x0 - xstar) + mean_n(mean_i(norm2(grad(f_ni, xstar))))/L**2"
CATALOGUE: dict[str, tuple[str, str, str, tuple[str, ...], dict[str, Any], dict[str, int]]] = {
    "catalogue: gradient descent, 40 steps": (
        "gradient_descent", GAP, "L*norm2(x0 - xstar)", CONVEX, {"L": 1, "eta": 1}, {"rounds": 40},
    ),
    "catalogue: Nesterov, 20 steps": (
        "nesterov", GAP, "L*norm2(x0 - xstar)", CONVEX,
        {"L": 1, "eta": 1, "beta": {"k": [str(Fraction(k, k + 3)) for k in range(20)]}}, {"rounds": 20},
    ),
    "catalogue: heavy ball, 10 steps": (
        "heavy_ball", DISTANCE, "norm2(x0 - xstar)", ("smooth(f, L)", "strongly_convex(f, mu)"),
        {"L": 1, "mu": "1/25", "alpha": "25/9", "beta": "4/9"}, {"rounds": 10},
    ),
    "catalogue: FedAvg, 8 clients, 5 local steps, 2 rounds": (
        "fedavg", DISTANCE, SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "eta": "0.1", "H": 5, "S": 8}, {"clients": 8, "rounds": 2},
    ),
    "catalogue: SCAFFOLD, 2 of 4 clients, 2 local steps, 2 rounds": (
        "scaffold", DISTANCE, SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "eta": "0.1", "eta_g": 1, "H": 2, "S": 2}, {"clients": 4, "rounds": 2},
    ),
    "catalogue: ProxSkip, 2 clients, 4 rounds": (
        "proxskip", f"mean_n({DISTANCE})", SPREAD, STRONG,
        {"L": 1, "mu": "0.1", "gamma": 1, "p": "1/2"}, {"clients": 2, "rounds": 4},
    ),
    "catalogue: SAGA, 3 samples, 3 steps": (
        "saga", DISTANCE, SAMPLES, ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)"),
        {"L": 1, "mu": "0.1", "eta": "0.3"}, {"samples": 3, "rounds": 3},
    ),
}  # fmt: skip
PROBLEMS |= {name: ("catalogue", {}, math.nan) for name in CATALOGUE}


def of_catalogue(name: str) -> dict[str, Any]:
    """Our enclosure of the largest ratio of two sides, for an algorithm of the catalogue."""
    from theory import claim
    from theory.papers import algorithms
    from validate.worst_case import worst_case_of

    algorithm, left, right, assuming, values, sizes = CATALOGUE[name]
    one = claim("largest", f"{left} <= {right}", of=getattr(algorithms, algorithm), assuming=assuming)
    found = worst_case_of(one, values, room=200, **sizes)
    lower, upper = (None if side is None else f"{float(side):.9f}" for side in (found.lower, found.upper))
    return {"status": found.status, "value": found.value, "lower": lower, "upper": upper}


def ours(kind: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Our enclosure of a problem's worst case."""
    from theory.worst_case.bound import FedAvg, GradientDescent, worst_case

    if kind == "descent":
        case = worst_case(GradientDescent(sizes["steps"], 1), L=1, distance=1, metric="suboptimality")
    else:
        method = FedAvg(sizes["clients"], rounds=2, local_steps=5, step="0.1")
        case = worst_case(method, L=1, mu="0.1", distance=1, heterogeneity=1)
    lower, upper = case.decimals(10)
    return {"status": case.status, "value": case.value, "lower": lower, "upper": upper}


def pepit(kind: str, sizes: dict[str, int]) -> dict[str, Any]:
    """PEPit's value of the same problem."""
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction, SmoothStronglyConvexFunction

    problem = PEP()
    if kind == "descent":
        f = problem.declare_function(SmoothConvexFunction, L=1.0)
        star = f.stationary_point()
        x0 = problem.set_initial_point()
        problem.set_initial_condition((x0 - star) ** 2 <= 1)
        x = x0
        for _ in range(sizes["steps"]):
            x = x - f.gradient(x)
        problem.set_performance_metric(f(x) - f(star))
    else:
        n = sizes["clients"]
        fs = [problem.declare_function(SmoothStronglyConvexFunction, L=1.0, mu=0.1) for _ in range(n)]
        mean = sum(fs[1:], start=fs[0]) / n
        star = mean.stationary_point()
        x0 = problem.set_initial_point()
        problem.set_initial_condition((x0 - star) ** 2 <= 1)
        problem.add_constraint(sum([f.gradient(star) ** 2 for f in fs[1:]], start=fs[0].gradient(star) ** 2) / n <= 1)
        x = x0
        for _ in range(2):
            ends = []
            for f in fs:
                y = x
                for _ in range(5):
                    y = y - 0.1 * f.gradient(y)
                ends.append(y)
            x = sum(ends[1:], start=ends[0]) / n
        problem.set_performance_metric((x - star) ** 2)
    return {"status": "float", "value": float(problem.solve(verbose=0)), "lower": None, "upper": None}


def measured(tool: str, name: str) -> dict[str, Any]:
    """One tool on one problem in this process, the imports not counted."""
    import resource

    kind, sizes, known = PROBLEMS[name]
    if tool == "ours":
        import clarabel  # noqa: F401
        import flint  # noqa: F401
        import scipy.optimize
        import scipy.sparse  # noqa: F401
    else:
        import PEPit  # noqa: F401
    wall, cpu = time.perf_counter(), time.process_time()
    result = of_catalogue(name) if kind == "catalogue" else (ours if tool == "ours" else pepit)(kind, sizes)
    result.update(seconds=time.perf_counter() - wall, cpu=time.process_time() - cpu)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return {"problem": name, "tool": tool, "known": known, **result}


def main() -> None:
    """Runs the benchmark and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--ours", action="store_true", help="leave PEPit out")
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
    print(f"{'problem':62}{'tool':7}{'value':>14}{'proved, at most':>18}{'attained':>16}{'s':>8}{'cpu s':>8}{'MB':>7}")
    results = []
    for name in names:
        for tool in tools if PROBLEMS[name][0] != "catalogue" else tools[:1]:
            command = [sys.executable, "-m", "benchmarks.worst_case", "--one", tool, name]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            r = json.loads(done.stdout.splitlines()[-1])
            results.append(r)
            print(
                f"{name:62}{tool:7}{r['value']:14.9f}{r['upper'] or '-':>18}{r['lower'] or '-':>16}"
                f"{r['seconds']:8.2f}{r['cpu']:8.2f}{r['megabytes']:7.0f}",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
