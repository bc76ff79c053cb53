"""How often a sampled check is wrong, and how many runs it takes, beside a t-test that is repeated at every look.

1. Errors. The bound is the exact expectation, so that "fails" is an error; or it is less by a relative 1e-9, so that
   "holds" is one. The rate over many checks of up to 1,024 runs, with Clopper-Pearson limits of 99 percent, at three
   levels.
2. Power. Against a bound that is 5 percent too small, the share of checks that found it out by a budget, and the mean
   number of runs used; for "holds" a bound that is 5 percent too large.

Values come from the simulator on small quadratics, with the expectation of exact moments, and from laws that are
hard for a mean. The repeated t-test looks after 64, 192, 448, ... runs and stops when it is satisfied, as one does.

Run: ``python -m benchmarks.calibration [--checks 100000] [--quick] [--only NAME] [--json FILE] [--out FOLDER]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.calibration_laws import Law, laws
from benchmarks.measuring import RESULTS, machine, table
from validate.confidence_sequence import SHARES, asymptotic_upper, log_capital

Array = np.ndarray

LEVELS = (0.05, 0.01, 0.001)
RUNS = 1024  # of a check under the null
BUDGETS = tuple(64 * 4**i for i in range(5))  # 64 .. 16384
MARGIN, LITTLE = 0.05, 1e-9
VALUES = 400_000  # of a chunk
CONTROLS = 4  # checks of a chunk that are computed twice


# rules: (values, bound, law) -> for each level (checks,), the run at which it decides, infinite if it does not


Rule = Callable[[Array, float, Law], dict[float, Array]]


def betting_fails(x: Array, bound: float, law: Law) -> dict[float, Array]:
    """E X > bound, for every law."""
    return crossings(x, bound)


def betting_holds(x: Array, bound: float, law: Law) -> dict[float, Array]:
    """E X <= bound, from the known largest value."""
    return crossings(law.largest - x, law.largest - bound)


def asymptotic_holds(x: Array, bound: float, law: Law) -> dict[float, Array]:
    """E X <= bound, by the asymptotic confidence sequence."""
    return {level: first(asymptotic_upper(x, level) <= bound) for level in LEVELS}


def t_test_fails(x: Array, bound: float, law: Law) -> dict[float, Array]:
    """E X > bound, by a t-test at every look."""
    return looked(x, lambda mean, half: mean - half > bound)


def t_test_holds(x: Array, bound: float, law: Law) -> dict[float, Array]:
    """E X <= bound, by a t-test at every look."""
    return looked(x, lambda mean, half: mean + half <= bound)


def looked(x: Array, decided: Callable[[Array, Array], Array]) -> dict[float, Array]:
    """The looks of a repeated t-test."""
    from scipy.special import stdtrit

    found = {level: np.full(len(x), np.inf) for level in LEVELS}
    for look in reversed(looks(x.shape[1])):
        part = x[:, :look]
        mean, error = part.mean(axis=1), part.std(axis=1, ddof=1) / math.sqrt(look)
        for level in LEVELS:
            found[level][decided(mean, -float(stdtrit(look - 1, level)) * error)] = look
    return found


def looks(runs: int) -> list[int]:
    """Ends of batches of 64, 128, 256, ... runs."""
    ends, size = [], 64
    while not ends or ends[-1] < runs:
        ends.append(min((ends[-1] if ends else 0) + size, runs))
        size *= 2
    return ends


def crossings(x: Array, mean: float) -> dict[float, Array]:
    """The first run at which the capital is 1/level; by a compiled loop where there is numba.

    Some checks of each call are done by `log_capital` too.

    Raises:
        RuntimeError: when the two disagree.
    """
    loop = compiled()
    part = x if loop is None else x[:CONTROLS]
    found = {level: first(log_capital(part, mean) >= -math.log(level)) for level in LEVELS}
    if loop is None:
        return found
    fast = np.full((len(LEVELS), len(x)), np.inf)
    loop(np.ascontiguousarray(x), mean, SHARES, 1 / np.array(LEVELS), fast)
    if any((fast[i, :CONTROLS] != found[level]).any() for i, level in enumerate(LEVELS)):
        raise RuntimeError("the compiled loop and log_capital disagree")
    return dict(zip(LEVELS, fast, strict=True))


@cache
def compiled() -> Callable[..., None] | None:
    """The gambler's capital, run by run, in machine code; None without numba."""
    if importlib.util.find_spec("numba") is None:
        return None
    from numba import njit

    def loop(x: Array, mean: float, shares: Array, marks: Array, found: Array) -> None:
        capitals = np.empty_like(shares)
        for row in range(x.shape[0]):
            capitals[:] = 1 / len(shares)
            reached = 0
            for i in range(x.shape[1]):
                gain, total = x[row, i] / mean - 1, 0.0
                for c in range(len(shares)):
                    capitals[c] = min(capitals[c] * (1 + shares[c] * gain), 1e280)
                    total += capitals[c]
                while reached < len(marks) and total >= marks[reached]:
                    found[reached, row] = i + 1
                    reached += 1
                if reached == len(marks):
                    break

    made: Callable[..., None] = njit(loop, fastmath={"reassoc"})
    return made


def first(reached: Array) -> Array:
    """(checks,), from 1; infinite where it is never reached."""
    at = reached.argmax(axis=1)
    return np.where(np.take_along_axis(reached, at[:, None], axis=1)[:, 0], at + 1.0, np.inf)


RULES: dict[str, dict[str, Rule]] = {
    "fails": {"betting": betting_fails, "repeated t-test": t_test_fails},
    "holds": {
        "betting": betting_holds,
        "asymptotic": asymptotic_holds,
        "repeated t-test": t_test_holds,
    },
}


def clopper_pearson(count: int, checks: int, confidence: float = 0.99) -> tuple[float, float]:
    """Two-sided limits of a probability."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, checks - count + 1, tail))
    high = 1.0 if count == checks else float(betaincinv(count + 1, checks - count, 1 - tail))
    return low, high


@cache
def _started() -> float:
    return time.process_time()


Bounded = dict[tuple[str, str], tuple[Rule, float]]


def stops(law: Law, rules: Bounded, checks: int, runs: int, what: str) -> dict[tuple[str, str], dict[float, Array]]:
    """By outcome and name of a rule, and by level, the (checks,) runs at which it decides; all on the same values."""
    rows = max(VALUES // runs, 1)
    parts: dict[tuple[str, str], dict[float, list[Array]]] = {key: {level: [] for level in LEVELS} for key in rules}
    said = 0
    for begin in range(0, checks, rows):
        x = law.checks(begin, min(rows, checks - begin), runs)
        for key, (rule, bound) in rules.items():
            for level, found in rule(x, bound, law).items():
                parts[key][level].append(found)
        done = min(begin + rows, checks)
        if done * 4 // checks > said:
            said = done * 4 // checks
            spent = time.process_time() - _started()
            print(f"  {law.name}: {what}, {done:,} checks, {spent:.0f} s", file=sys.stderr)
    return {key: {level: np.concatenate(found) for level, found in of.items()} for key, of in parts.items()}


def bounded(law: Law, fails: float, holds: float) -> Bounded:
    """The rules with their bounds, without the one that needs a largest value where none is known."""
    bounds = {"fails": fails * law.mean, "holds": holds * law.mean}
    known = math.isfinite(law.largest)
    return {
        (outcome, name): (rule, bounds[outcome])
        for outcome, of in RULES.items()
        for name, rule in of.items()
        if known or rule is not betting_holds
    }


def errors(law: Law, checks: int) -> list[dict[str, Any]]:
    """Rates of false "fails" and false "holds", when the bound is the expectation, or a little less."""
    found = []
    rules = bounded(law, 1, 1 - LITTLE)
    for (outcome, name), of in stops(law, rules, checks, RUNS, "errors").items():
        for level, at in of.items():
            count = int(np.isfinite(at).sum())
            low, high = clopper_pearson(count, checks)
            found.append(
                {"law": law.name, "outcome": outcome, "rule": name, "level": level, "checks": checks,
                 "wrong": count, "rate": count / checks, "lower": low, "upper": high}
            )  # fmt: skip
    return found


def power(law: Law, checks: int) -> list[dict[str, Any]]:
    """Shares of decisions, when the bound is off by 5 percent, and mean numbers of runs."""
    found = []
    rules = bounded(law, 1 - MARGIN, 1 + MARGIN)
    for (outcome, name), of in stops(law, rules, checks, BUDGETS[-1], "power").items():
        for level, at in of.items():
            for budget in BUDGETS:
                found.append(
                    {"law": law.name, "outcome": outcome, "rule": name, "level": level, "checks": checks,
                     "budget": budget, "share": float((at <= budget).mean()),
                     "runs": float(np.minimum(at, budget).mean())}
                )  # fmt: skip
    return found


def error_table(found: Sequence[dict[str, Any]]) -> str:
    """A row a law and rule, a column a level."""
    rows: dict[tuple[str, str, str], dict[float, str]] = {}
    for entry in found:
        mark = " **!**" if entry["lower"] > entry["level"] else ""
        text = f"{entry['rate']:.5f} [{entry['lower']:.5f}, {entry['upper']:.5f}]{mark}"
        rows.setdefault((entry["outcome"], entry["rule"], entry["law"]), {})[entry["level"]] = text
    head = ["law", "error", "rule", *(f"level {level:g}" for level in LEVELS)]
    return table(head, [[law, f"false {o}", rule, *row.values()] for (o, rule, law), row in sorted(rows.items())], True)


def power_table(found: Sequence[dict[str, Any]], level: float) -> str:
    """A row a law and rule, a column a budget: share decided, and mean number of runs used."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for entry in found:
        if entry["level"] == level:
            text = f"{entry['share']:.3f} ({entry['runs']:,.0f})"
            rows.setdefault((entry["outcome"], entry["rule"], entry["law"]), []).append(text)
    head = ["law", "finds", "rule", *(f"{budget:,} runs" for budget in BUDGETS)]
    return table(head, [[law, o, rule, *row] for (o, rule, law), row in sorted(rows.items())], True)


def picture(wrong: Sequence[dict[str, Any]], shares: Sequence[dict[str, Any]], out: Path) -> None:
    """Error rates against the level they should not exceed, and power by budget; OUT/calibration.{svg,png}."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from validate.drawing import DASHES, MARKERS, SERIES, STYLE

    names = list(dict.fromkeys(entry["law"] for entry in wrong))
    panels = [("fails", "betting"), ("fails", "repeated t-test"), ("holds", "betting"), ("holds", "asymptotic")]
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(2, 3, figsize=(10.5, 6.6), layout="constrained")
        flat = [axes[0][0], axes[0][1], axes[1][0], axes[1][1]]
        for axis, (outcome, rule) in zip(flat, panels, strict=True):
            axis.plot([5e-4, 0.1], [5e-4, 0.1], color="0.6", linewidth=1)
            for i, name in enumerate(names):
                own = [e for e in wrong if (e["law"], e["outcome"], e["rule"]) == (name, outcome, rule)]
                if own:
                    rates = [max(e["rate"], 5e-6) for e in own]
                    style = i % len(SERIES)
                    axis.plot(
                        [e["level"] for e in own], rates, label=name, color=SERIES[style], marker=MARKERS[style],
                        linestyle=DASHES[style], markersize=4, fillstyle="full" if i < len(SERIES) else "none",
                    )  # fmt: skip
            axis.set(xscale="log", yscale="log", ylim=(4e-6, 1.3), title=f"false {outcome}, {rule}")
            axis.set(xlabel="level", ylabel="rate (none seen: bottom)")
        for axis, outcome in ((axes[0][2], "fails"), (axes[1][2], "holds")):
            for i, name in enumerate(names):
                own = [e for e in shares if (e["law"], e["outcome"]) == (name, outcome) and e["level"] == LEVELS[-1]]
                rule = "betting" if any(e["rule"] == "betting" for e in own) else "asymptotic"
                own = [e for e in own if e["rule"] == rule]
                style = i % len(SERIES)
                axis.plot(
                    [e["budget"] for e in own], [e["share"] for e in own], color=SERIES[style], marker=MARKERS[style],
                    linestyle=DASHES[style], markersize=4, fillstyle="full" if i < len(SERIES) else "none",
                )  # fmt: skip
            rule = "betting" if outcome == "fails" else "where B is known betting"
            axis.set(xscale="log", xlabel="runs", ylabel=f"share of {outcome}", ylim=(-0.03, 1.03))
            axis.set(title=f"power: {rule}", xticks=BUDGETS, xticklabels=[f"{b:,}" for b in BUDGETS])
            axis.minorticks_off()
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        out.mkdir(parents=True, exist_ok=True)
        for ending in ("svg", "png"):
            figure.savefig(out / f"calibration.{ending}", dpi=130)
        pyplot.close(figure)


def main() -> None:
    """Measure, print the tables, write the figures and the picture; Ctrl-C keeps the laws that are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checks", type=int, default=100_000, help="under the null, of each law; power uses 1/100")
    parser.add_argument("--quick", action="store_true", help="4,000 checks")
    parser.add_argument("--only", help="laws whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the picture")
    given = parser.parse_args()
    checks = min(given.checks, 4_000) if given.quick else given.checks
    if checks < 100:
        parser.error(f"--checks {checks} is outside the integers in [100, inf)")
    _started()
    wrong: list[dict[str, Any]] = []
    shares: list[dict[str, Any]] = []
    try:
        for law in laws():
            if given.only is None or given.only in law.name:
                wrong += errors(law, checks)
                shares += power(law, max(checks // 100, 1))
    except KeyboardInterrupt:
        print("interrupted: what follows is what was done", file=sys.stderr)
    if not wrong:
        parser.error(f"--only {given.only}: no law has been measured")
    print(machine())
    print(f"{checks:,} checks of up to {RUNS:,} runs; {time.process_time() - _started():.0f} s of CPU\n")
    print(error_table(wrong) + "\n")
    for level in LEVELS:
        print(f"power at level {level:g}: share (mean runs used)\n\n{power_table(shares, level)}\n")
    if given.json:
        given.json.write_text(json.dumps({"machine": machine(), "errors": wrong, "power": shares}, indent=1) + "\n")
    picture(wrong, shares, given.out)


if __name__ == "__main__":
    main()
