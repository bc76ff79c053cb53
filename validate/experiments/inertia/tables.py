"""What FedMIM's experiments come to: comparisons, ranks, the lags of table III, local consistency, and the tuning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from validate.experiment import Table
from validate.experiments.inertia import setting
from validate.experiments.inertia.outcomes import (
    ACCURACY,
    CONSISTENCY,
    EXCESS,
    Outcome,
    against,
    in_cell,
    keys,
    mean,
    on_sets,
    rank_text,
    ranking,
    rounds_to,
    text,
)
from validate.experiments.inertia.runs import SHORT, Found, Result, lag_job
from validate.experiments.inertia.setting import BASE, STATED_STEP, Cell, Size, methods
from validate.report.readable import number

TARGET = 0.05  # an excess, for the rounds until it is reached


def paired(size: Size) -> str:
    """How many runs there are."""
    return f"{size.sets * size.runs} paired runs, 99% intervals."


def comparison_table(title: str, cells: Sequence[Cell], found: Found, size: Size) -> Table:
    """Every method in some cells, and its paired difference from FedMIM."""
    rows = []
    for cell in cells:
        jobs = in_cell(cell)
        excess, accuracy = (against(found, jobs, outcome, size) for outcome in (EXCESS, ACCURACY))
        for at, job in enumerate(jobs):
            ours = job.key == "fedmim"
            better = on_sets(found, jobs[-1], job, EXCESS, size)
            median = float(np.median(rounds_to(found[job], TARGET)))
            rows.append(
                (
                    cell.label,
                    job.method.label,
                    text(mean(found, job, EXCESS, size), EXCESS),
                    "" if ours else text(excess, EXCESS, at),
                    "" if ours else f"{better} of {size.sets}",
                    f"{median:g}" if np.isfinite(median) else "never",
                    text(mean(found, job, ACCURACY, size), ACCURACY),
                    "" if ours else text(accuracy, ACCURACY, at),
                )
            )
    return Table(
        title,
        (
            "setting",
            "method",
            "excess",
            "over FedMIM's",
            "FedMIM less on",
            f"rounds to {TARGET:g}",
            "accuracy, %",
            "above FedMIM's, points",
        ),
        tuple(rows),
        f"After {size.rounds} rounds: excess f(x) - f* of the training objective, its geometric mean, and the ratio of "
        "geometric means; accuracy on the balanced test set, and differences in percentage points. FedMIM less on: "
        f"data sets on which its geometric mean excess is the smaller. Rounds: the median until the excess is "
        f"{TARGET:g}, looked at every {size.every} rounds. {paired(size)}",
    )


def ranking_table(outcome: Outcome, found: Found, size: Size) -> Table:
    """The rank of every method in every cell, with the confidence set."""
    held = [ranking(found, in_cell(cell), outcome, size) for cell in size.cells]
    rows = [(methods()[key].label, *(rank_text(h, at) for h in held)) for at, key in enumerate(keys())]
    return Table(
        f"Ranks by {outcome.name}",
        ("method", *(cell.label for cell in size.cells)),
        tuple(rows),
        "1 is the best. In brackets the ranks that cannot be excluded: all true ranks of a cell lie in their sets with "
        f"probability 99%, from simultaneous intervals for all pairs of methods. {paired(size)}",
    )


def lag_table(found: Found, size: Size) -> Table:
    """Table III: FedMIM with the paper's lags."""
    jobs = [lag_job(lags) for lags in size.lags]
    reference = size.lags.index(setting.Lags(*setting.STATED_LAGS))
    ranks = [ranking(found, jobs, outcome, size) for outcome in (EXCESS, ACCURACY)]
    gaps = [against(found, jobs, outcome, size, reference) for outcome in (EXCESS, ACCURACY)]
    rows = []
    for at, (lags, job) in enumerate(zip(size.lags, jobs, strict=True)):
        best = at == reference
        rows.append(
            (
                lags.label,
                f"{found[job].choice[0]:.3g}",
                text(mean(found, job, EXCESS, size), EXCESS),
                "" if best else text(gaps[0], EXCESS, at),
                rank_text(ranks[0], at),
                text(mean(found, job, ACCURACY, size), ACCURACY),
                "" if best else text(gaps[1], ACCURACY, at),
                rank_text(ranks[1], at),
                f"{setting.PRINTED[lags]:.2f}",
            )
        )
    label = size.lags[reference].label
    return Table(
        f"Table III: the lags, {BASE.label}",
        (
            "α₁ α₂ | β₁ β₂",
            "step",
            "excess",
            f"over that of {label}",
            "rank",
            "accuracy, %",
            f"above that of {label}, points",
            "rank",
            "accuracy in the paper, %",
        ),
        tuple(rows),
        f"The step is tuned for every row, with as many trials as the methods have. The paper's accuracies are on "
        f"CIFAR-10. {paired(size)}",
    )


def consistency_table(found: Found, size: Size) -> Table:
    """Local consistency with tuned steps, and with the paper's step for all."""
    tuned, stated = in_cell(BASE), [*in_cell(BASE, STATED_STEP)[:-1], SHORT, in_cell(BASE, STATED_STEP)[-1]]
    ratios, stated_ratios = (against(found, jobs, CONSISTENCY, size) for jobs in (tuned, stated))
    excess, accuracy = (against(found, stated, outcome, size) for outcome in (EXCESS, ACCURACY))
    rows = []
    for at, job in enumerate(stated):
        ours = job.key == "fedmim"
        own = tuned[keys().index(job.key)]
        extra = job == SHORT
        rows.append(
            (
                f"{job.method.label}, step {job.step:g}" if extra else job.method.label,
                "" if extra else text(mean(found, own, CONSISTENCY, size), CONSISTENCY),
                "" if ours or extra else text(ratios, CONSISTENCY, keys().index(job.key)),
                text(mean(found, job, CONSISTENCY, size), CONSISTENCY),
                "" if ours else text(stated_ratios, CONSISTENCY, at),
                text(mean(found, job, EXCESS, size), EXCESS),
                "" if ours else text(excess, EXCESS, at),
                "" if ours else text(accuracy, ACCURACY, at),
            )
        )
    return Table(
        f"Local consistency, {BASE.label}",
        (
            "method",
            "tuned",
            "over FedMIM's",
            f"step {STATED_STEP:g} for all",
            "over FedMIM's",
            "excess there",
            "over FedMIM's",
            "accuracy there above FedMIM's, points",
        ),
        tuple(rows),
        "(1/S) Σ ||x_iK - x||² over the clients of a round, x the server's next model; mean over the second half of "
        "the rounds, geometric mean over runs. On the right every method has the paper's step and parameters (FedSAM's "
        f"radius is not stated), and FedAvg once more the step {SHORT.step:g}, which is A times the paper's. "
        f"{paired(size)}",
    )


def tuning_table(found: Found) -> Table:
    """What tuning gave."""
    rows = []
    for job, result in found.items():
        if result.tuned is None:
            continue
        method, tuned = job.method, result.tuned
        edges = [name for name, at in (("step", 0), (method.own, 1)) if at_edge(result, at)]
        own = "" if method.own == "none" else f"{method.own} {result.choice[1]:g}"
        rows.append(
            (
                job.cell.label,
                method.label,
                str(len(tuned.tried)),
                f"{result.choice[0]:.3g}",
                own,
                number(float(tuned.excess.min())),
                number(float(tuned.excess.max())),
                ", ".join(edges) or "no",
            )
        )
    return Table(
        "Tuning",
        (
            "setting",
            "method",
            "pairs tried",
            "step",
            "own parameter",
            "excess",
            "of the worst",
            "at an edge of the grid",
        ),
        tuple(rows),
        "Geometric mean excess after all rounds, on data and with random numbers that the comparison does not use. The "
        f"step is that of round 0, times {setting.DECAY:g} in each round.",
    )


def at_edge(result: Result, parameter: int) -> bool:
    """Whether the step (0) or the own parameter (1) that was chosen is the least or the largest of several."""
    if result.tuned is None:
        return False
    tried = result.tuned.tried[:, parameter]
    return len(set(tried)) > 1 and result.choice[parameter] in (tried.min(), tried.max())


def families(size: Size) -> list[tuple[str, list[Cell]]]:
    """The paper's comparisons that have at least two cells."""
    kinds = (
        ("heterogeneity", setting.HETEROGENEITY),
        ("participation", setting.PARTICIPATION),
        ("local epochs", setting.EPOCHS),
    )
    found = [(name, [cell for cell in cells if cell in size.cells]) for name, cells in kinds]
    return [(name, cells) for name, cells in found if len(cells) > 1]


def all_tables(found: Found, size: Size) -> list[Table]:
    """Every table but that of the statements."""
    compared = [comparison_table(f"Comparison: {name}", cells, found, size) for name, cells in families(size)]
    ranked = [ranking_table(outcome, found, size) for outcome in (EXCESS, ACCURACY)]
    return [*ranked, *compared, lag_table(found, size), consistency_table(found, size), tuning_table(found)]
