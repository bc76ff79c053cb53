"""The speed of bounds and enclosures on one core, next to what one would write by hand for the same right side.

Prints how many a second, by processor time, in the median of some repetitions: fedproof's vectorised `bound` beside
sympy's `lambdify` (the function made before the clock starts), and its `enclose` beside mpmath's intervals of 128 bits,
sympy's `evalf` and plain floats. The others compute the right side alone from numbers that were read before; `bound`
and `enclose` also read and check the values, and `enclose` tells every definition, in decimals. Claims with vectors
have no form in sympy. Run: ``python -m benchmarks.bounds [--json FILE]``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import theory
from theory.bound import Bound
from theory.calculator import in_numbers
from theory.claim import Claim
from theory.expression import right_side

SIZE = 100_000  # entries of the arrays
CALLS = 200  # single evaluations in a repetition

SVRG = {"delta": "1/100", "L": 2, "K": 100, "S": 5, "M": 2, "f0_gap": 7}
CLAIMS: dict[str, dict[str, Any]] = {
    "fedavg-svrg/theorem-v1-eq7": {**SVRG, "N": 10, "drift_sum": "31/7", "weighted_sum": "5/3"},
    "fedavg-svrg/theorem-v1-eq8": {**SVRG, "G2": 3, "mean_inv_p": "13/3"},
    "open-fl/theorem-2": {"mu": "1/10", "L": 1, "r": 1, "sigma": "1/2"},
    "perm/proposition-4-eq16": {"mu": 1, "L": 2, "gamma": "3/2", "delta2": "1/2", "M": 4, "T": 30, "F_gap": "5/4"},
    "fedmim/theorem-iv1-eq7": {
        "alpha": ("1/4", "1/8"),
        "beta": ("1/4", "1/8"),
        "K": 5,
        "L": 1,
        "eta_l": "1/100",
        "S": 10,
        "G": 1,
        "B": "3/2",
        "sigma2": "1/10",
        "C": 100,
        "T": 1000,
        "f0_gap": 2,
        "lam": "1/4",
    },
}


def rate(task: Callable[[], object], each: int, calls: int, repetitions: int) -> float:
    """How many of the `each` evaluations of a call there are in a second of processor time; the median."""
    task()
    found = []
    for _ in range(repetitions):
        start = time.process_time()
        for _ in range(calls):
            task()
        found.append(each * calls / (time.process_time() - start))
    return statistics.median(found)


def others(claim: Bound, values: dict[str, Any], arrays: dict[str, Any]) -> dict[str, tuple[Callable[[], object], int]]:
    """The same by other means: what is timed, and how many bounds it computes."""
    import mpmath
    import sympy

    def largest(*numbers: Any) -> Any:
        intervals = [mpmath.iv.mpf(number) for number in numbers]
        return mpmath.iv.mpf([max(i.a for i in intervals), max(i.b for i in intervals)])

    expression = right_side(claim)
    symbols = [p.symbol for p in claim.parameters]
    function = sympy.lambdify(symbols, expression, "numpy")
    on_floats = sympy.lambdify(symbols, expression, "math")
    on_intervals = sympy.lambdify(symbols, expression, [{"sqrt": mpmath.iv.sqrt, "Max": largest}, "math"])
    mpmath.iv.prec = 128
    fractions = [Fraction(values[p.name]) for p in claim.parameters]
    floats = [float(f) for f in fractions]
    numbers = {s: sympy.Rational(f.numerator, f.denominator) for s, f in zip(symbols, fractions, strict=True)}

    def by_intervals() -> object:
        return on_intervals(*[mpmath.iv.mpf(f.numerator) / f.denominator for f in fractions])

    return {
        "sympy lambdify, arrays": (lambda: function(*arrays.values()), SIZE),
        "plain Python floats": (lambda: on_floats(*floats), 1),
        "mpmath.iv": (by_intervals, 1),
        "sympy evalf": (lambda: expression.subs(numbers).evalf(30), 1),
    }


def measured(claim: Claim, values: dict[str, Any], repetitions: int) -> dict[str, float]:
    """Evaluations a second, by what makes them; the others compute its right side in numbers."""
    random = np.random.default_rng(0)
    right, values = in_numbers(claim, values)
    scalars = [p for p in right.parameters if p.shape == "scalar"]
    arrays = {p.name: np.full(SIZE, float(Fraction(values[p.name]))) for p in scalars}
    for name in ("L", "f0_gap", "F_gap", "r"):
        if name in arrays:
            arrays[name] *= 1 + random.random(SIZE)
    tasks: dict[str, tuple[Callable[[], object], int]] = {
        "bound, arrays": (lambda: claim.bound(**{**values, **arrays}), SIZE),
        "bound": (lambda: claim.bound(**values), 1),
        "enclose": (lambda: claim.enclose(**values), 1),
        "violated": (lambda: claim.violated(**values), 1),
    }
    if len(scalars) == len(right.parameters):
        tasks |= others(right, values, arrays)
    return {name: rate(task, each, 5 if each > 1 else CALLS, repetitions) for name, (task, each) in tasks.items()}


def main() -> None:
    """Time every claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="where to write how many there are in a second")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    found = {}
    for name, values in CLAIMS.items():
        found[name] = measured(theory.claim(name), values, arguments.repeat)
        print(name)
        for way, speed in found[name].items():
            print(f"  {way:26s} {speed:14,.0f} /s")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
