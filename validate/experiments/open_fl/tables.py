"""What the experiments of the open-fl paper come to: tables, and the paper's statements put to the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Estimate, Table
from validate.experiments import former as ex
from validate.experiments.open_fl.radii import Constants, Radii, Replay
from validate.experiments.open_fl.setting import CONFIDENCE, LABELS, STEPS, Case
from validate.report.readable import number

Array = np.ndarray
Found = Mapping[Case, Mapping[str, Array]]
Family = Mapping[str, Case]

# A norm counts as stable when its mean over the last fifth of the rounds is within 2% of that over the fifth before.
STABLE = 0.02
# It has settled from the round on after which it is never clearly more than 5% off its mean over the last fifth.
SETTLED = 0.05
# Settings that settle within so many rounds of each other settle alike.
SAME = 2
FEW, MANY = 4, 10


class Ordering(NamedTuple):
    """Pairs of neighbours, as (larger by the paper, smaller by the paper), sorted by what the intervals say."""

    agree: tuple[tuple[str, str], ...]
    against: tuple[tuple[str, str], ...]
    open: tuple[tuple[str, str], ...]


def stationary(values: Array) -> Array:
    """The mean over the last fifth of the rounds, of each run: (R, K+1) -> (R,)."""
    return np.asarray(values[:, -_fifth(values) :].mean(axis=1))


def estimate(values: Array) -> Estimate:
    """The mean of independent values (R,) with its 99% interval (normal)."""
    return Estimate(*(float(part) for part in ex.mean_band(values, CONFIDENCE)))


def change(values: Array) -> Estimate:
    """The last fifth of the rounds over the fifth before, minus 1."""
    size = _fifth(values)
    before, after = values[:, -2 * size : -size].mean(axis=1), stationary(values)
    return Estimate(*(part / float(before.mean()) for part in estimate(after - before)))


def stability(values: Array) -> str:
    """Whether the norm has a stable value: "yes", "no", or "not decided" where the interval of `change` is too wide."""
    found = change(values)
    if found.lower > -STABLE and found.upper < STABLE:
        return "yes"
    return "no" if found.upper < -STABLE or found.lower > STABLE else "not decided"


def settled(values: Array) -> int | None:
    """The round from which the mean over runs stays near its value in the end; None where that value is not stable."""
    band, end = ex.mean_band(values, CONFIDENCE), float(stationary(values).mean())
    away = np.flatnonzero((band.lower > (1 + SETTLED) * end) | (band.upper < (1 - SETTLED) * end))
    first = int(away[-1]) + 1 if len(away) else 0
    return first if stability(values) != "no" and first <= values.shape[1] - _fifth(values) else None


def ordering(names: Sequence[str], values: Sequence[Array]) -> Ordering:
    """Which neighbours differ as claimed, the first being the largest by the paper; runs are paired."""
    sorted_: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for i, pair in enumerate(pairwise(names)):
        found = estimate(values[i] - values[i + 1])
        sorted_[0 if found.lower > 0 else 1 if found.upper < 0 else 2].append(pair)
    return Ordering(*(tuple(part) for part in sorted_))


def verdict(found: Ordering) -> str:
    """Whether an ordering is borne out, in words."""
    if found.against:
        pairs = ", ".join(f"{small} is above {large}" for large, small in found.against)
        return f"{'not everywhere' if found.agree else 'no'}: {pairs}"
    return "not decided" if found.open else "yes"


def norms_table(families: Mapping[str, Mapping[str, Family]], found: Found) -> Table:
    """The stationary norms behind figures 2 to 4."""
    rows = []
    for figure, kinds in families.items():
        for kind, family in kinds.items():
            for label, case in family.items():
                norm = found[case]["norm"]
                moved, at = change(norm), settled(norm)
                rows.append(
                    (
                        figure,
                        LABELS[kind],
                        label,
                        interval(estimate(stationary(norm))),
                        number(float(stationary(norm).std(ddof=1))),
                        _percent(moved),
                        "–" if at is None else str(at),
                    )
                )
    rounds = next(iter(found.values()))["norm"].shape[1] - 1
    return Table(
        "Norm of the global iterate in the end",
        ("figure", "algorithm", "setting", "norm, last fifth", "sd between runs", "last fifth over the fifth before",
         "settled at round"),
        tuple(rows),
        f"Mean over the last fifth of {rounds} rounds and over the runs, with 99% intervals; the standard deviation is "
        f"that of the runs' time averages. Settled: from there on the 99% interval of the mean over runs "
        f"always meets the range within {SETTLED:.0%} of this norm; a dash where the last fifth differs from the one "
        f"before by more than {STABLE:.0%}, with its interval. All of it is for one draw of the pool's data: the "
        "intervals are about runs, not about other data.",
    )  # fmt: skip


def statements_table(families: Mapping[str, Mapping[str, Family]], found: Found) -> Table:
    """What section IV says of its figures, and whether it is so here."""
    rows = []
    claimed = {
        "2": ("the norm is higher when λ is smaller", False),
        "3": ("the norm is larger when p is closer to 1", True),
        "4": ("the norm is larger when the data's variance is high", True),
    }
    for figure, kinds in families.items():
        for kind, family in kinds.items():
            names, norms = list(family), [found[case]["norm"] for case in family.values()]
            ends = [stationary(norm) for norm in norms]
            told = [stability(norm) for norm in norms]
            unstable = [f"{name} ({answer})" for name, answer in zip(names, told, strict=True) if answer != "yes"]
            steady = "yes" if not unstable else "not everywhere" if "no" in told else "not decided everywhere"
            changes = "; ".join(f"{name}: {_percent(change(n))}" for name, n in zip(names, norms, strict=True))
            rows.append((figure, LABELS[kind], "the norm converges to a stable value", changes, steady))
            if figure == "2":
                rows.append((figure, LABELS[kind], "faster when λ is larger", *_faster(names, norms)))
            text, up = claimed[figure]
            levels = ", ".join(f"{number(float(end.mean()))} ({name})" for name, end in zip(names, ends, strict=True))
            order = (names[::-1], ends[::-1]) if up else (names, ends)
            rows.append((figure, LABELS[kind], text, levels, verdict(ordering(*order))))
            if figure == "3":
                least = [ordering((name, names[0]), (end, ends[0])) for name, end in zip(names, ends, strict=True)][1:]
                merged = Ordering(*(tuple(pair for one in least for pair in one[i]) for i in range(3)))
                rows.append((figure, LABELS[kind], "the smallest norm is that of p = 0", levels, verdict(merged)))
    return Table(
        "What section IV says of figures 2 to 4",
        ("figure", "algorithm", "the paper", "measured", "borne out"),
        tuple(rows),
        "That the norm is higher when λ is smaller is said in the supplement (figure 5, 'similar to the synthetic "
        "setting'). Orders are tested between neighbouring settings by the paired differences of the runs' time "
        "averages, with pointwise 99% intervals. Rounds of settling are compared when they differ by more than "
        f"{SAME}.",
    )


def _faster(names: Sequence[str], norms: Sequence[Array]) -> tuple[str, str]:
    """Settling rounds of figure 2, smallest lambda first, and the verdict."""
    times = [settled(norm) for norm in norms]
    text = ", ".join(f"{'not settled' if t is None else t} ({n})" for n, t in zip(names, times, strict=True))
    late = [float("inf") if t is None else float(t) for t in times]
    slower = [
        f"{b} settles later than {a}" for (a, s), (b, t) in pairwise(zip(names, late, strict=True)) if t > s + SAME
    ]
    answer = f"not everywhere: {', '.join(slower)}" if slower else "yes"
    return f"settled at round {text}", "not decided" if times.count(None) > 1 else answer


def presence_table(kinds: Mapping[str, Family], found: Found) -> Table:
    """Why p matters: how many are present, and what the norm is when they are few."""
    rows = []
    for kind, family in kinds.items():
        for label, case in family.items():
            norm, present = found[case]["norm"], found[case]["present"]
            size = _fifth(norm)
            norm, present = norm[:, -size:], present[:, -size:]
            low, high = np.quantile(present, [0.05, 0.95])
            groups = [norm[chosen] for chosen in (present <= FEW, present >= MANY)]
            rows.append(
                (
                    label,
                    LABELS[kind],
                    f"{low:.0f} to {high:.0f}",
                    f"{float((present <= FEW).mean()):.1%}",
                    number(float(norm.mean(axis=1).std(ddof=1))),
                    number(float(norm.std(axis=1).mean())),
                    *("–" if not group.size else number(float(group.mean())) for group in groups),
                )
            )
    return Table(
        "How many clients are present, and the norm (figure 3)",
        ("p", "algorithm", "present, 90%", f"at most {FEW}", "sd between runs", "sd within a run",
         f"norm, at most {FEW} present", f"norm, {MANY} or more present"),
        tuple(rows),
        "Over the last fifth of the rounds. At p = 0 and p = 1 ten are present throughout; in between, leaving and "
        "joining are independent coins and the number walks at random, down to one.",
    )  # fmt: skip


def sweep_table(pairs: Mapping[tuple[str, int, int | None], tuple[Case, Case]], found: Found) -> Table:
    """The choices that the paper leaves open. pairs: (kind, local steps, batch) -> the cases of p = 0 and p = 1."""
    rows = []
    for (kind, steps, batch), cases in pairs.items():
        ends = [stationary(found[case]["norm"]) for case in cases]
        rows.append(
            (
                LABELS[kind],
                str(steps),
                "all samples" if batch is None else f"{batch} of 100",
                *(interval(estimate(end)) for end in ends),
                interval(estimate(ends[1] - ends[0])),
            )
        )
    return Table(
        "What the paper does not say: local steps and minibatches",
        ("algorithm", "local steps", "gradient from", "norm, p = 0", "norm, p = 1", "difference, paired"),
        tuple(rows),
        "λ = 0.01, σ = 2, the last fifth of the rounds, 99% intervals. The first line of each algorithm is what the "
        "figures use.",
    )


def theorem_2_table(rows_of: Sequence[tuple[Constants, Radii, Array, Array]]) -> Table:
    """Theorem 2 where it applies. rows_of: constants, radii, and norms (R, K+1) from 0 and from the radius."""
    rows = []
    for c, radius, inside, edge in rows_of:
        largest, last = (np.sqrt(np.mean(norm**2, axis=0)) for norm in (inside, edge))
        rows.append(
            (
                f"{c.mu:g}", number(c.L), number(c.kappa), number(c.r), number(c.sigma), number(1 / c.L),
                *(number(value) for value in radius),
                number(float(largest.max())), f"{number(float(last[0]))} to {number(float(last[-1]))}",
                "yes" if max(largest.max(), last.max()) <= radius.uniform * (1 + 1e-9) else "no",
            )
        )  # fmt: skip
    return Table(
        "Theorem 2 where it applies: local SGD with η = 1/L",
        ("μ = λ", "L", "κ", "r", "σ", "η", "R printed", "R least", "R for all time", "largest norm from 0",
         "norm from the radius", "inside"),
        tuple(rows),
        "L, r = max ‖xₙ*‖ and σ (minibatches of 10) are computed from the data of the pool. Norms are root mean "
        "squares over the runs. R least: the least radius of Definition 1 for the class; R for all time: the repair "
        "open-fl/theorem-2/corrected-2.",
    )  # fmt: skip


def theorem_3_table(c: Constants, played: Replay, applicability: Any, repaired: float) -> Table:
    """The conditions of Theorem 3 at the settings of the figures."""
    words = {True: "yes", False: "no", None: "no value"}
    rows = [(each.name, words[each.holds]) for each in applicability.conditions]
    factor = applicability.terms["kappa"] * applicability.terms["C1"]
    return Table(
        "Theorem 3 at the paper's settings",
        ("condition", "holds"),
        tuple(rows),
        f"μ = {number(c.mu)}, L = {number(c.L)}, η = {number(STEPS['adam'])}, β₁ = 0.9, β₂ = 0.999, ε = 0.001, "
        f"d = 100, r = {number(c.r)}, and σ = {number(float(played.largest.max()))}, the largest norm of a sample's "
        f"gradient along the first {len(played.largest)} of the runs of figure 2. Then κC₁ = {number(factor)}, "
        "where the theorem needs less than 1, and (5) has no real value. What holds along these runs is the repair "
        f"r + σ/μ + ησ/√ε = {number(repaired)}; their largest norm is {number(float(played.norm.max()))}.",
    )


def digits_table(families: Mapping[str, Mapping[str, Family]], found: Found) -> Table:
    """Norm and loss of the digits in the end. families: figure -> algorithm -> label -> case."""
    rows = []
    for figure, kinds in families.items():
        for kind, family in kinds.items():
            for label, case in family.items():
                norm, loss = found[case]["norm"], found[case]["loss"]
                values = (interval(estimate(stationary(v))) for v in (norm, loss))
                rows.append((figure, LABELS[kind], label, *values, _percent(change(norm)), stability(norm)))
    return Table(
        "Digits: norm and loss in the end",
        ("figure", "algorithm", "setting", "norm, last fifth", "global loss, last fifth", "norm over the fifth before",
         "stable"),
        tuple(rows),
        "As the table of figures 2 to 4. The loss is the mean over the clients present.",
    )  # fmt: skip


def interval(found: Estimate) -> str:
    """A value and its interval, with digits for the interval's width."""
    half = (found.upper - found.lower) / 2
    digits = 3 if half <= 0 else int(np.clip(1 - np.floor(np.log10(half)), 0, 4))
    return f"{found.value:.{digits}f} [{found.lower:.{digits}f}, {found.upper:.{digits}f}]".replace("-", "−")


def _percent(found: Estimate) -> str:
    return f"{found.value:+.1%} [{found.lower:+.1%}, {found.upper:+.1%}]".replace("-", "−")


def _fifth(values: Array) -> int:
    return max(1, (values.shape[1] - 1) // 5)
