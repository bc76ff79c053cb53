"""The synthetic experiment of the PERM paper: figures 1, 3 and 6, and the orders of theorems 1 and 2.

What the paper states is kept, what it leaves open is chosen in `setting`, and every caption or setting says how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from validate.drawing import Axes, Curve, Level, Panel, draw_curves
from validate.experiment import Band, Drawing, Experiment, Progress
from validate.experiments import former as ex
from validate.experiments.two_populations import rates, statements, tables, weights
from validate.experiments.two_populations.setting import (
    DATA_SEED,
    DIM,
    FULL,
    PROXIMAL_STEPS,
    QUICK,
    SPLIT,
    Data,
    Method,
    Result,
    Size,
    band,
    best,
    measure,
    methods,
    problems,
    run_method,
    settings,
    tune,
)
from validate.experiments.two_populations.tables import Reference, Runs, curves, leads
from validate.heat_maps import HeatMap, draw_heat_maps

SWEPT = (Data(0, ridge=1e-2), Data(0, ridge=1e-4), Data(0, deviation=0.1))
SWEPT_METHODS = ("perm", "local")


def reproduce(*, out: Path | str, quick: bool = False, progress: Progress | None = None, seed: int = 0) -> Experiment:
    """Run the synthetic experiment of section 4, or read what is finished, and draw figures 1 and 6.

    Args:
        out: folder; figures go to ``figures/``, finished simulations to ``data/``.
        quick: fewer clients, epochs, data sets and settings.
        progress: called with one line of text.
        seed: of all simulations; the data sets have seeds of their own and stay.
    """
    out, size = Path(out), QUICK if quick else FULL
    folder, figures = out / "data", out / "figures"
    field = methods()
    tuned = {key: tune(method, size, folder, seed, progress) for key, method in field.items()}
    choices = {key: best(found) for key, found in tuned.items()}

    def runs_of(key: str, data: Data, count: int, points: int | None = None, choice: Any = None) -> list[Result]:
        return [
            run_method(
                field[key],
                choice or choices[key],
                data._replace(seed=DATA_SEED + s),
                size,
                folder,
                seed,
                points=points,
                progress=progress,
            )
            for s in range(count)
        ]

    # local training has nothing to tune when it is recorded, and is recorded as often as PERM
    runs = {key: runs_of(key, Data(0), size.seeds, size.epochs if key == "local" else None) for key in field}
    swept = {data: {key: runs_of(key, data, size.swept, 1) for key in SWEPT_METHODS} for data in SWEPT}
    step = choices["perm"][0]
    by_share = {share: runs_of("perm", Data(0), size.swept, choice=(step, share)) for share in weights.SHARES}
    reference = references(size, folder, progress)
    learned = weights.learned(size, folder, progress)
    found, rate_figure, rate_table, rate_data = rates.rates(size, folder, figures / "figure-rates.svg", seed, progress)
    if progress:
        progress("measuring run times, drawing figures")
    times = tables.measure_times(size, field, choices)
    comparison, numbers = _comparison(figures, runs, field, reference, size)
    paired, paired_numbers = _leads(figures, runs, field, size)
    heat, heat_data = _heat_maps(figures, learned, size)
    return Experiment(
        paper="perm",
        title="Section 4 on synthetic data of two populations",
        settings=settings(size, quick),
        figures=(comparison, paired, heat, rate_figure),
        tables=(
            tables.ranking_table(runs, field, choices, reference),
            statements.statement_table(runs, field, learned, times, size),
            tables.time_table(times, field, size),
            tables.tuning_table(tuned, field, size),
            tables.sweep_table({Data(0): runs, **swept}, size),
            tables.lam_table(by_share, learned),
            weights.sparsity_table(learned),
            rate_table,
        ),
        data=(numbers, paired_numbers, heat_data, rate_data),
        findings=(*statements.findings(runs, learned, reference, swept, size), *rates.findings(found)),
    )


def references(size: Size, folder: Path, progress: Progress | None = None) -> Reference:
    """Test accuracy and loss of exact minimisers, on every data set, or those kept in `folder`."""
    settings = {"clients": size.clients, "seeds": size.seeds, "data": Data(DATA_SEED)._asdict()}
    settings |= {"dim": DIM, "split": SPLIT}

    def compute() -> Mapping[str, np.ndarray]:
        rows = [_minimised(*problems(Data(DATA_SEED + s), size.clients)[::2]) for s in range(size.seeds)]
        return dict(zip(Reference._fields, np.array(rows).T, strict=True))

    found = ex.stored(
        folder / f"references-{size.clients}-{size.seeds}.npz",
        json.dumps(settings, sort_keys=True),
        compute,
        what="exact minimisers, of own data, of the population's, of all",
        progress=progress,
    )
    return Reference(**found)


def _minimised(training: Any, test: Any) -> tuple[float, ...]:
    """The fields of `Reference` on one data set."""
    from sim.problems import RidgeLogistic

    def pooled(members: slice) -> np.ndarray:
        x, y = training.features[members], training.labels[members]
        one = RidgeLogistic(x.reshape(1, -1, training.dim), y.reshape(1, -1), training.ridge)
        return np.repeat(one.minimisers(), len(x), axis=0)

    half = training.clients // 2
    populations = np.concatenate([pooled(slice(0, half)), pooled(slice(half, None))])
    models = np.stack([training.minimisers(), populations, pooled(slice(None))])
    accuracy, loss = measure(test, models)
    return accuracy[0], loss[0], accuracy[1], loss[1], accuracy[2]


def _comparison(
    folder: Path, runs: Runs, field: dict[str, Method], reference: Reference, size: Size
) -> tuple[Drawing, Path]:
    """Figure 1: error rate and loss against rounds of communication."""
    columns: dict[str, list[Any]] = {"method": [], "round": []}
    error: list[Curve] = []
    loss: list[Curve] = []
    for series, (key, method) in enumerate(field.items()):
        at = runs[key][0].rounds
        bands = band(1 - curves(runs[key], "accuracy")), band(curves(runs[key], "loss"))
        for kept, found, name in zip((error, loss), bands, ("error", "loss"), strict=True):
            kept.append(Curve(method.label, found.value, series, band=found, at=at))
            _append(columns, name, found)
        columns["method"] += [key] * len(at)
        columns["round"] += at.tolist()
    levels = (
        Level("minimiser on the population's data", float(1 - reference.pooled_accuracy.mean()), below=True),
        Level("", float(reference.pooled_loss.mean())),
    )
    panels = (
        Panel("personalised error rate, 1 − accuracy", tuple(error), levels=levels[:1]),
        Panel("personalised loss", tuple(loss), levels=levels[1:]),
    )
    axes = Axes(xlabel="round of communication", columns=1)
    path = draw_curves(folder / "figure-1.svg", panels, ("error rate", "logistic loss"), axes)
    return (
        Drawing(
            path,
            "Figure 1: personalised accuracy and loss",
            f"Figure 1 redrawn, on test samples: means over {size.seeds} data sets with pointwise 99% Student bands, "
            "which are wide because the data sets differ (see the next figure). PERM is recorded after every epoch, "
            f"which is {size.clients} rounds of communication; its first has equal weights. The baselines tune locally "
            f"(up to {PROXIMAL_STEPS} steps) each time they are recorded, at round 0 from the start. Differs from the "
            "paper: the error rate on a logarithmic axis in place of the accuracy, bands, local training added, all "
            "steps tuned, and what the paper does not state was chosen.",
        ),
        ex.write_csv(path.with_suffix(".csv"), columns),
    )


def _leads(folder: Path, runs: Runs, field: dict[str, Method], size: Size) -> tuple[Drawing, Path]:
    """By how much PERM is better than each of the others, paired by data set, from the end of its second epoch on."""
    columns: dict[str, list[Any]] = {"method": [], "round": []}
    drawn: dict[str, list[Curve]] = {"accuracy": [], "loss": []}
    for series, (key, method) in enumerate(field.items()):
        if key == "perm":
            continue
        for what, kept in drawn.items():
            at, gaps = leads(runs, what, key)
            found = band(gaps)
            kept.append(Curve(method.label, found.value, series, band=found, at=at))
            _append(columns, what, found)
        columns["method"] += [key] * len(at)
        columns["round"] += at.tolist()
    titles = ("accuracy of PERM above that of", "loss of PERM below that of")
    panels = [
        Panel(title, tuple(kept), skip=2, levels=(Level("as good", 0.0),))
        for title, kept in zip(titles, drawn.values(), strict=True)
    ]
    axes = Axes(xlabel="round of communication", log_y=False, columns=1)
    path = draw_curves(folder / "figure-1-paired.svg", panels, ("lead in accuracy", "lead in loss"), axes)
    return (
        Drawing(
            path,
            "Figure 1, paired: PERM's lead over each method",
            f"The differences behind figure 1, paired by data set: means over {size.seeds} data sets, pointwise 99% "
            "Student bands, at the ends of PERM's epochs from the second on, against what the other method had when it "
            "was last recorded. Not a figure of the paper.",
        ),
        ex.write_csv(path.with_suffix(".csv"), columns),
    )


def _append(columns: dict[str, list[Any]], name: str, found: Band) -> None:
    for part, values in zip(("", "-lower", "-upper"), found, strict=True):
        columns.setdefault(f"{name}{part}", []).extend(values.tolist())


def _heat_maps(folder: Path, learned: dict[str, Any], size: Size) -> tuple[Drawing, Path]:
    """Figure 6, and the same of the two populations."""
    at = weights.SHARES.index(weights.DRAWN)
    maps = [HeatMap(federation.title, found[at]) for federation, _, found in learned.values()]
    path = draw_heat_maps(
        folder / "figure-6.svg", maps, "client j", "client i", "weight α_i(j), of client j for client i", columns=3
    )
    columns: dict[str, Any] = {"data": [], "client": []}
    columns |= {f"weight{j}": [] for j in range(size.clients)}
    for key, (_, _, found) in learned.items():
        columns["data"] += [key] * size.clients
        columns["client"] += list(range(size.clients))
        for j in range(size.clients):
            columns[f"weight{j}"] += found[at][:, j].tolist()
    digits = "the second row on scikit-learn's 8 × 8 digits with softmax regression " if len(maps) > 3 else ""
    missing = "" if digits else " The maps of digits are left out: they need scikit-learn, and a full run."
    return (
        Drawing(
            path,
            "Figure 6: learned mixing weights",
            f"Figure 6 redrawn: the weights that solve (2) at Algorithm 3's global model, λ/n = {weights.DRAWN:g}; "
            "blank where a weight is 0. Homogeneous: the same samples dealt at random; one class a client: dealt out "
            f"sorted by label. First row on the synthetic data, {digits}(the paper: MNIST and a 2-layer network). "
            f"Clients are in the order of their labels or populations.{missing}",
        ),
        ex.write_csv(path.with_suffix(".csv"), columns),
    )
