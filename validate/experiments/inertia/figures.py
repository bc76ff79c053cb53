"""The experiments of section V of the FedMIM paper on a strongly convex problem with prescribed label skew.

What the paper states is kept, what it leaves open is chosen in `setting`, and every caption or setting says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from validate.drawing import Axes, Curve, Panel, draw_curves
from validate.experiment import Band, Drawing, Experiment, Progress
from validate.experiments import former as ex
from validate.experiments.inertia import runs, sentences, setting, statements, tables
from validate.experiments.inertia.outcomes import in_cell
from validate.experiments.inertia.runs import Found, Job
from validate.experiments.inertia.setting import BASE, CONFIDENCE, STATED_STEP, Cell, Size
from validate.ranking import student_band

FILES = {"heterogeneity": "figure-heterogeneity", "participation": "figure-2a", "local epochs": "figure-epochs"}
TITLES = {
    "heterogeneity": "Convergence by heterogeneity (the paper: table I)",
    "participation": "Figure 2a: convergence by participation",
    "local epochs": "Convergence by local epochs (the paper: table II)",
}


def reproduce(*, out: Path | str, quick: bool = False, progress: Progress | None = None, seed: int = 0) -> Experiment:
    """Run the experiments of section V on synthetic data, or read what is finished, and draw them.

    A C++ compiler, or else numba (the extra ``fast``), makes the simulations many times as fast.

    Args:
        out: folder; figures go to ``figures/``, finished simulations to ``data/``.
        quick: fewer settings, data sets, runs and rounds, one process.
        progress: called with one line of text.
        seed: of all simulations; the data sets have seeds of their own and stay.
    """
    out, size = Path(out), setting.QUICK if quick else setting.FULL
    found = runs.run_all(size, out / "data", seed, progress)
    if progress:
        progress("drawing")
    folder = out / "figures"
    figures = [_convergence(folder, name, cells, found, size) for name, cells in tables.families(size)]
    figures.append(_consistency(folder, found, size))
    return Experiment(
        paper="fedmim",
        title="Section V on a strongly convex problem with label skew",
        settings=sentences.settings(size, quick),
        figures=tuple(figures),
        tables=(statements.statement_table(found, size), *tables.all_tables(found, size)),
        data=tuple(figure.path.with_suffix(".csv") for figure in figures),
        findings=statements.findings(found, size),
    )


def _convergence(folder: Path, name: str, cells: Sequence[Cell], found: Found, size: Size) -> Drawing:
    panels, columns = [], _columns(("method", "round", "excess", "accuracy"))
    for cell in cells:
        curves = []
        for job in in_cell(cell):
            result = found[job]
            band = geometric(result.excess, size)
            curves.append(Curve(job.method.label, band.value, job.method.series, band=band, at=result.rounds))
            accuracy = student_band(result.accuracy, CONFIDENCE, size.sets)
            _append(columns, job, result.rounds, {"excess": band, "accuracy": accuracy})
        panels.append(Panel(cell.label, tuple(curves)))
    axes = Axes(xlabel="round t", columns=2 if len(panels) in (2, 4) else 3)
    path = draw_curves(folder / f"{FILES[name]}.svg", panels, "excess  f(x) - f*", axes)
    ex.write_csv(path.with_suffix(".csv"), columns)
    return Drawing(
        path,
        TITLES[name],
        f"Geometric mean of the training objective's excess over {size.sets * size.runs} runs, with its pointwise 99% "
        "band. Every method has the step and the own parameter that were the best for it in that setting on other "
        "data. Differs from the paper: a strongly convex problem on synthetic data, the training objective in place of "
        "the test accuracy (which is in the tables), all steps tuned.",
    )


def _consistency(folder: Path, found: Found, size: Size) -> Drawing:
    panels, columns = [], _columns(("method", "round", "steps", "consistency"))
    rounds = np.arange(1, size.rounds + 1)
    for title, step in (("tuned steps", None), (f"step {STATED_STEP:g} for all", STATED_STEP)):
        curves = []
        for job in in_cell(BASE, step):
            band = geometric(found[job].consistency[:, 1:], size)
            curves.append(Curve(job.method.label, band.value, job.method.series, band=band, at=rounds))
            _append(columns, job, rounds, {"consistency": band})
            columns["steps"] += [title] * len(rounds)
        panels.append(Panel(f"{BASE.label}: {title}", tuple(curves)))
    path = draw_curves(folder / "figure-2b.svg", panels, "(1/S) Σ ||x_iK - x||²", Axes(xlabel="round t", columns=2))
    ex.write_csv(path.with_suffix(".csv"), columns)
    return Drawing(
        path,
        "Figure 2b: local consistency",
        f"Geometric mean over {size.sets * size.runs} runs with its pointwise 99% band; the smaller, the closer the "
        "clients of a round are to the server's next model. Left with the steps that were tuned for the objective, "
        "right with the paper's step and parameters for all, as in its figure. Differs from the paper: synthetic data.",
    )


def geometric(values: np.ndarray, size: Size) -> Band:
    """The geometric mean over runs with its pointwise 99% band. values: (R, P), positive."""
    return Band(*(10**part for part in student_band(np.log10(values), CONFIDENCE, size.sets)))


def _columns(names: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"setting": []}
    for name in names:
        numbers = name in ("excess", "accuracy", "consistency")
        found |= {f"{name}{part}": [] for part in (("", "-lower", "-upper") if numbers else ("",))}
    return found


def _append(columns: dict[str, list[Any]], job: Job, rounds: np.ndarray, bands: dict[str, Band]) -> None:
    columns["setting"] += [job.cell.key] * len(rounds)
    columns["method"] += [job.key] * len(rounds)
    columns["round"] += rounds.tolist()
    for name, band in bands.items():
        for part, values in zip(("", "-lower", "-upper"), band, strict=True):
            columns[f"{name}{part}"] += values.tolist()
