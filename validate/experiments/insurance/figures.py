"""The experiments of section VI of Rostami and Kia, on real medical-insurance data: figures 3 to 9 and the CEP radii.

What the paper states is kept: 18 agents of 50 people, 5 features, f_{n,i} = (q theta - y)^2, theta^0 = 0.5 in every
entry, K = 100 rounds, step 1/sqrt(100), (S, M) = (5, 2) and (10, 5), 20 runs. What it leaves open is chosen here, and
every caption or setting says how.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from validate import experiment as ex
from validate.drawing import Cloud, Curve, Panel, draw_clouds, draw_curves
from validate.experiment import Band, Contender, Drawing, Experiment, Progress, Runs
from validate.experiments.insurance import tables
from validate.experiments.insurance.setting import (
    CASES,
    CONFIDENCE,
    FEW,
    MANY,
    MANY_QUICK,
    ROUNDS,
    contenders,
    expected,
    scaled_to_unit,
    settings,
)

OURS, THEIRS = 0, 1  # which colour and dash


def reproduce(*, out: Path | str, quick: bool = False, progress: Progress | None = None, seed: int = 0) -> Experiment:
    """Run the experiments of section VI, or read what is finished, and draw figures 3 to 9.

    Args:
        out: folder; figures go to ``figures/``, finished simulations to ``data/``.
        quick: 200 runs in place of 2,000 (the paper's 20 are the first 20 in both cases).
        progress: called with one line of text.
        seed: of all simulations. The participation probabilities have a seed of their own and stay.
    """
    out = Path(out)
    many = MANY_QUICK if quick else MANY
    from sim.problems import rand_hie

    standard = rand_hie()
    problem = scaled_to_unit(standard)
    start = np.full(problem.dim, 0.5)
    field = contenders()
    keys = [key for key in field if key != "uniform-10-5"]  # figure 9 is for the first case only

    def simulated(contender: Contender, on: Any) -> Runs:
        return ex.simulate(
            contender, on, rounds=ROUNDS, runs=many, start=start, folder=out / "data", seed=seed, progress=progress
        )

    runs = {key: simulated(field[key], problem) for key in keys}
    rough = simulated(replace(field["svrg-5-2"], key="svrg-5-2-standardised", seed=20), standard)
    typical = float(np.median(rough.suboptimality[:, -1]))
    if progress:
        progress("exact expectations")
    exact = {key: expected(field[key], problem, start) for key in keys}
    if progress:
        progress("drawing figures 3 to 9")
    figures, data = draw(out / "figures", field, runs, exact)
    found = (
        tables.section_vi_table(runs),
        tables.cep_table(runs),
        tables.oracle_table(runs, exact),
        tables.scale_table(field, standard, problem, start, (typical, many)),
    )
    return Experiment(
        paper="fedavg-svrg",
        title="Section VI on the RAND Health Insurance data",
        settings=settings(problem, many),
        figures=tuple(figures),
        tables=found,
        data=tuple(data),
        findings=tables.findings(runs, field, standard, problem, start),
    )


def draw(
    folder: Path, field: dict[str, Contender], runs: dict[str, Runs], exact: dict[str, np.ndarray]
) -> tuple[list[Drawing], list[Path]]:
    """Figures 3 to 9 as SVG in `folder`, with the numbers behind each as CSV of the same stem."""
    figures: list[Drawing] = []
    data: list[Path] = []
    number = len(next(iter(runs.values())).final)
    for at, (snapshots, inner) in enumerate(CASES):
        keys = (f"svrg-{snapshots}-{inner}", f"fedavg-{snapshots}-{inner}")
        case = f"S = {snapshots}, M = {inner}"
        first = 3 + 3 * at
        figures.append(_error_figure(folder, first, case, keys, field, runs, exact, data))
        figures.append(_variance_figure(folder, first + 1, case, keys, field, runs, data))
        figures.append(_cep_figure(folder, first + 2, case, keys, field, runs, data))
    three = ("svrg-5-2", "fedavg-5-2", "uniform-5-2")
    last = _error_figure(folder, 9, "S = 5, M = 2", three, field, runs, exact, data)
    caption = (
        f"Figure 9 redrawn: error of the cost of three algorithms. Left: the paper's 20 runs. Right: {number:,} runs "
        "with the pointwise 99% band of the mean; circles are the exact expectation, computed without sampling. "
        "Differs from the paper: other data, logarithmic axis, and the error in place of the cost. The paper does not "
        "say with which step or how many local steps it ran [4]; here 0.1 and 10, as the others."
    )
    figures.append(last._replace(title="Figure 9: three algorithms", caption=caption))
    return figures, data


def _error_figure(
    folder: Path,
    number: int,
    case: str,
    keys: tuple[str, ...],
    field: dict[str, Contender],
    runs: dict[str, Runs],
    exact: dict[str, np.ndarray],
    data: list[Path],
) -> Drawing:
    few, many, columns = [], [], {"round": np.arange(ROUNDS + 1)}
    for series, key in enumerate(keys):
        values = runs[key].suboptimality
        band = ex.mean_band(values, CONFIDENCE)
        mean = values[:FEW].mean(axis=0)
        few.append(Curve(field[key].label, mean, series, threads=values[:FEW]))
        many.append(Curve(field[key].label, band.value, series, band=band, exact=exact[key]))
        columns |= {f"{key}-mean-{FEW}": mean} | _band_columns(f"{key}-mean-{len(values)}", band)
        columns[f"{key}-exact"] = exact[key]
    panels = (Panel(f"{FEW} runs, as in the paper", tuple(few)), Panel(f"{len(values):,} runs", tuple(many)))
    path = draw_curves(folder / f"figure-{number}.svg", panels, "error of the cost  f(θᵏ) − f*")
    data.append(ex.write_csv(path.with_suffix(".csv"), columns))
    return Drawing(
        path,
        f"Figure {number}: error of the cost, {case}",
        f"Figure {number} redrawn: f(θᵏ) − f* for {case}. Left: the paper's {FEW} runs, thick line their mean. Right: "
        f"mean of {len(values):,} runs with its pointwise 99% band; circles are the exact expectation, computed "
        "without sampling. Differs from the paper: other data, other p_n (not stated there), logarithmic axis.",
    )


def _variance_figure(
    folder: Path,
    number: int,
    case: str,
    keys: tuple[str, ...],
    field: dict[str, Contender],
    runs: dict[str, Runs],
    data: list[Path],
) -> Drawing:
    few, many, columns = [], [], {"round": np.arange(ROUNDS + 1)}
    for series, key in enumerate(keys):
        values = runs[key].suboptimality
        band = ex.variance_band(values, CONFIDENCE)
        small = values[:FEW].var(axis=0, ddof=1)
        few.append(Curve(field[key].label, small, series))
        many.append(Curve(field[key].label, band.value, series, band=band))
        columns |= {f"{key}-variance-{FEW}": small} | _band_columns(f"{key}-variance-{len(values)}", band)
    panels = (
        Panel(f"{FEW} runs, as in the paper", tuple(few), skip=1),
        Panel(f"{len(values):,} runs", tuple(many), skip=1),
    )
    path = draw_curves(folder / f"figure-{number}.svg", panels, "variance over runs of  f(θᵏ)")
    data.append(ex.write_csv(path.with_suffix(".csv"), columns))
    return Drawing(
        path,
        f"Figure {number}: variance of the cost, {case}",
        f"Figure {number} redrawn: variance of f(θᵏ) over the runs for {case}, logarithmic as in the paper, from round "
        f"1 on (at round 0 it is 0). Left: {FEW} runs. Right: {len(values):,} runs with the pointwise 99% band (delta "
        "method for the logarithm). Differs from the paper: other data, other p_n; the paper also draws single runs, "
        "which have no variance.",
    )


def _cep_figure(
    folder: Path,
    number: int,
    case: str,
    keys: tuple[str, str],
    field: dict[str, Contender],
    runs: dict[str, Runs],
    data: list[Path],
) -> Drawing:
    ours, theirs = (runs[key].final for key in keys)
    planes = ex.principal_plane(theirs, ours)
    clouds = []
    for final, plane, key, series in zip((theirs, ours), planes, keys[::-1], (THEIRS, OURS), strict=True):
        radius = ex.circular_error(final)
        small = ex.circular_error(final[:FEW])
        title = f"{field[key].label}\nCEP {small:.4f} ({FEW} runs), {radius:.4f} ({len(final):,})"
        clouds.append(Cloud(title, plane[:FEW], plane, small, radius, series))
    path = draw_clouds(folder / f"figure-{number}.svg", clouds)
    columns: dict[str, Any] = {"algorithm": [keys[1]] * len(theirs) + [keys[0]] * len(ours)}
    both = np.concatenate([theirs, ours])
    columns |= {f"theta{j}": both[:, j] for j in range(both.shape[1])}
    columns |= {f"component{j + 1}": np.concatenate(planes)[:, j] for j in range(2)}
    data.append(ex.write_csv(path.with_suffix(".csv"), columns))
    return Drawing(
        path,
        f"Figure {number}: circular error probable, {case}",
        f"Figure {number} redrawn: final iterates θ¹⁰⁰ around their mean for {case}, [15] left and FedAvg-SVRG right "
        "as in the paper, on the same scale. The radius is the median distance from the mean in all 5 coordinates; the "
        "plane shows the first two principal components of all iterates, so more than half of the points lie inside. "
        "Differs from the paper: other data, other p_n, and the paper does not say which two coordinates it draws.",
    )


def _band_columns(name: str, band: Band) -> dict[str, np.ndarray]:
    return {name: band.value, f"{name}-lower": band.lower, f"{name}-upper": band.upper}
