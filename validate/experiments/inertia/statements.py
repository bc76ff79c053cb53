"""What the FedMIM paper says of its experiments, put to the test, and what else a reader must know."""

from __future__ import annotations

import numpy as np

from validate.experiment import Band, Table
from validate.experiments.inertia.outcomes import (
    ACCURACY,
    CONSISTENCY,
    EXCESS,
    Outcome,
    against,
    drop,
    in_cell,
    judged,
    keys,
    on_scale,
    rank_text,
    ranking,
    text,
    values,
)
from validate.experiments.inertia.runs import SHORT, Found, lag_job
from validate.experiments.inertia.setting import (
    BASE,
    CONFIDENCE,
    DIVERGED,
    HETEROGENEITY,
    LAGS,
    STATED_STEP,
    Lags,
    Size,
    methods,
)
from validate.experiments.inertia.tables import at_edge, paired
from validate.ranking import Ranks, ranks, student_band

# better by the paper, worse by the paper, and what it says
PAIRS: tuple[tuple[Lags, Lags, str], ...] = (
    (LAGS[1], LAGS[0], "an inertial step is better than none"),
    (LAGS[4], LAGS[1], "two lags are better than one"),
    (LAGS[1], LAGS[2], "a large α is better"),
    (LAGS[4], LAGS[5], "the adjacent increment is the most important, in α"),
    (LAGS[6], LAGS[4], "a proper β is better than none"),
    (LAGS[6], LAGS[7], "β on long history is not a good selection"),
    (LAGS[7], LAGS[8], "β on long history is not a good selection"),
)
Judgement = tuple[str, str]


def statement_table(found: Found, size: Size) -> Table:
    """The paper's statements, each by the training objective and by accuracy."""
    rows = []
    for cell in size.cells:
        said = [_best(ranking(found, in_cell(cell), outcome, size)) for outcome in (ACCURACY, EXCESS)]
        rows.append((f"FedMIM is the best of the seven: {cell.label}", *said[0], *said[1]))
    first, last = HETEROGENEITY[0], HETEROGENEITY[-1]
    if {first, last} <= set(size.cells):
        said = [
            _best(ranks(drop(found, first, last, outcome), CONFIDENCE, size.sets)) for outcome in (ACCURACY, EXCESS)
        ]
        rows.append((f"FedMIM loses least from {first.data} to {last.data} clients", *said[0], *said[1]))
    pairs = [pair for pair in PAIRS if {pair[0], pair[1]} <= set(size.lags)]
    for better, worse, words in pairs:
        said = [_pair(found, better, worse, outcome, size, len(pairs)) for outcome in (ACCURACY, EXCESS)]
        rows.append((f"{words}: {better.label} before {worse.label}", *said[0], *said[1]))
    for name, step in (("tuned steps", None), (f"step {STATED_STEP:g} for all", STATED_STEP)):
        said = [_best(ranking(found, in_cell(BASE, step), CONSISTENCY, size))]
        rows.append((f"FedMIM has the best local consistency: {BASE.label}, {name}", *said[0], "", ""))
    return Table(
        "What the paper says of its experiments",
        ("the paper", "by accuracy", "borne out", "by excess", "borne out"),
        tuple(rows),
        "The paper's statements are on images and neural networks and by accuracy; here they are put to a strongly "
        "convex problem, which can neither confirm nor refute them there. A rank comes with its 99% confidence set; "
        "'supported' and 'not borne out' only where that set, or the interval, leaves no other possibility. Losses "
        "from one data set to another: accuracy in points, excess as a ratio. The intervals of the comparisons of lags "
        f"are simultaneous. The last two rows are by local consistency itself. {paired(size)}",
    )


def _best(held: Ranks) -> Judgement:
    at = keys().index("fedmim")
    first = methods()[keys()[int(np.argmin(held.rank))]].label
    ahead = "" if held.rank[at] == 1 else f"; first: {first}"
    return f"rank {rank_text(held, at)}{ahead}", judged(held, at)


def _pair(found: Found, better: Lags, worse: Lags, outcome: Outcome, size: Size, pairs: int) -> Judgement:
    """The paired difference, with intervals that are simultaneous over all pairs."""
    both = values(found, [lag_job(better), lag_job(worse)], outcome)
    band = student_band(both[:, 0] - both[:, 1], 1 - (1 - CONFIDENCE) / pairs, size.sets)
    word = "supported" if band.upper < 0 else "not borne out" if band.lower > 0 else "not settled"
    unit = "points" if outcome is ACCURACY else "times the excess"
    return f"{text(on_scale(band, outcome), outcome)} {unit}", word


def findings(found: Found, size: Size) -> tuple[str, ...]:
    """What a reader must know beside the tables."""
    said = []
    by_excess = {cell: ranking(found, in_cell(cell), EXCESS, size) for cell in size.cells}
    at = keys().index("fedmim")
    behind = [cell for cell, held in by_excess.items() if held.lowest[at] > 1]
    if behind:
        first = {cell: methods()[keys()[int(np.argmin(by_excess[cell].rank))]].label for cell in behind}
        leaders = ", ".join(
            f"{name} ({sum(v == name for v in first.values())})" for name in sorted(set(first.values()))
        )
        said.append(
            f"In {len(behind)} of {len(size.cells)} settings FedMIM is for certain not the best by the training "
            f"objective; the least excess there has, by number of settings: {leaders}. SCAFFOLD and FedDyn keep a "
            "correction for each client, FedMIM keeps none."
        )
    said.append(_beside(found, size, "fedcm", "FedCM, which is FedMIM with one lag and no β, both tuned"))
    said.append(_beside(found, size, "fedavg", "FedAvg, both tuned"))
    stated = in_cell(BASE, STATED_STEP)
    ratio = against(found, [*stated[:-1], SHORT, stated[-1]], CONSISTENCY, size)
    plain, short = (text(Band(*(part[[i]] for part in ratio)), CONSISTENCY, 0) for i in (0, len(stated) - 1))
    said.append(
        f"Local consistency measures the length of the local steps before all else. What the clients of a round do not "
        f"have in common is A η times their gradients. With the paper's step FedAvg's is {plain} times FedMIM's, and "
        f"FedAvg's with the step A η = {SHORT.step:g} is {short} times FedMIM's."
    )
    edges = [job for job, result in found.items() if job.lags is None and result.tuned and at_edge(result, 0)]
    if edges:
        said.append(
            f"The tuned step is at an edge of its grid in {len(edges)} of {len(size.cells) * len(keys())} cases, which "
            f"a wider grid might improve: {'; '.join(job.label for job in edges)}."
        )
    lost = [(job, int((result.excess[:, -1] >= DIVERGED).sum())) for job, result in found.items()]
    for job, count in lost:
        if count:
            said.append(f"{count} runs of {job.label} diverged; they count with an excess of {DIVERGED:g}.")
    return tuple(said)


def _beside(found: Found, size: Size, key: str, words: str) -> str:
    """FedMIM against another method, cell by cell."""
    parts, lower, higher = [], 0, 0
    for cell in size.cells:
        jobs = in_cell(cell)
        band = against(found, jobs, EXCESS, size)
        at = keys().index(key)
        lower, higher = lower + int(band.lower[at] > 1), higher + int(band.upper[at] < 1)
        parts.append(f"{text(band, EXCESS, at)} ({cell.label})")
    return (
        f"Beside {words}: FedMIM's excess is for certain the smaller in {lower} of {len(size.cells)} settings, and the "
        f"larger in {higher}. The other's excess over FedMIM's: {'; '.join(parts)}."
    )
