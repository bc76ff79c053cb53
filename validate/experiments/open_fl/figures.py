"""The experiments of the open-fl paper: figures 2 to 4, the theorems' radii, and the supplement's figures on digits.

What the paper states is kept; what it leaves open is chosen in `setting`, and every caption or setting says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from validate.drawing import Axes, Curve, Level, Mark, Panel, draw_curves
from validate.experiment import Drawing, Experiment, Progress
from validate.experiments import former as ex
from validate.experiments.open_fl import findings, radii, setting, tables
from validate.experiments.open_fl.setting import CONFIDENCE, FULL, LABELS, QUICK, RIDGE, Case, Size
from validate.experiments.open_fl.tables import Family, Found
from validate.report.readable import number

KINDS = ("sgd", "adam")
THREADS = 3
APPLIES = (0.01, 1.0)  # the lambda of the figure with eta = 1/L
NORM, LOSS, RMS = "norm of the iterate  ‖θᵏ‖", "global loss", "root mean square  ‖θᵏ‖"
OPEN = "Differs from the paper: local steps, minibatches, the start and the number of rounds, which it does not state."


def reproduce(*, out: Path | str, quick: bool = False, progress: Progress | None = None, seed: int = 0) -> Experiment:
    """Run the experiments of section IV and of the supplement's digits, or read what is finished, and draw them.

    Args:
        out: folder; figures go to ``figures/``, finished simulations to ``data/``.
        quick: a smaller pool, fewer rounds and runs.
        progress: called with one line of text.
        seed: of all simulations. The data have a seed of their own and stay.
    """
    out, size = Path(out), QUICK if quick else FULL
    families = setting.families()
    sweep = setting.sweep(size)
    found: dict[Case, Mapping[str, np.ndarray]] = {}

    def run(cases: Sequence[Case]) -> None:
        for case in sorted(cases, key=lambda c: (c.spread or 0, c.ridge)):  # the same data in succession
            if case not in found:
                found[case] = setting.simulate(case, size, out / "data", seed, progress)

    run([c for kinds in families.values() for family in kinds.values() for c in family.values()])
    run([case for pair in sweep.values() for case in pair])
    played = radii.replay(Case("adam"), size, out / "data", seed, progress)
    constants, short = {}, []
    for ridge in APPLIES:
        constants[ridge] = radii.constants(ridge, size, out / "data", progress)
        short.append(_short_steps(constants[ridge]))
        run(short[-1])
    digits = setting.digit_families()
    missing = setting.missing_digits()
    if not missing:
        run([c for families in digits.values() for kinds in families.values() for c in kinds.values()])
    if progress:
        progress("drawing")
    folder = out / "figures"
    adam = radii.repaired_adam(constants[RIDGE], float(played.largest.max()))
    beside = [(constants[ridge], pair) for ridge, pair in zip(APPLIES, short, strict=True)]
    figures = [_norm_figure(folder, name, kinds, found, size) for name, kinds in families.items()]
    figures += [
        _radii_figure(folder, beside, found, played, adam),
        _ratio_figure(folder),
        _region_figure(folder, constants[RIDGE].kappa),
    ]
    if not missing:
        figures += [_digits_figure(folder, name, kinds, found) for name, kinds in digits.items()]
    applies = radii.theorem_3(constants[RIDGE], float(played.largest.max()))
    rows = [(c, radii.radii(c), found[zero]["norm"], found[edge]["norm"]) for c, (zero, edge) in beside]
    made = [
        tables.statements_table(families, found),
        tables.norms_table(families, found),
        tables.presence_table(families["3"], found),
        tables.sweep_table(sweep, found),
        tables.theorem_2_table(rows),
        tables.theorem_3_table(constants[RIDGE], played, applies, adam),
    ]
    if not missing:
        made.append(tables.digits_table(digits, found))
    return Experiment(
        paper="open-fl",
        title="Section IV on synthetic data, and the supplement's softmax regression on digits",
        settings=setting.sentences(size, constants[RIDGE].L),
        figures=tuple(figures),
        tables=tuple(made),
        data=tuple(figure.path.with_suffix(".csv") for figure in figures),
        findings=findings.findings(families, found, rows, applies, sweep, digits, missing),
    )


def _short_steps(c: radii.Constants) -> tuple[Case, Case]:
    """Local SGD with eta = 1/L, from 0 and from the edge of the ball of the repaired radius."""
    zero = Case("sgd", ridge=c.mu, step=1 / c.L)
    return zero, replace(zero, radius=radii.radii(c).uniform)


def _curve(label: str, values: np.ndarray, series: int) -> Curve:
    band = ex.mean_band(values, CONFIDENCE)
    return Curve(label, band.value, series, band=band, threads=values[:THREADS])


def _columns(name: str, band: ex.Band) -> dict[str, np.ndarray]:
    return {f"{name}-mean": band.value, f"{name}-lower": band.lower, f"{name}-upper": band.upper}


def _norm_figure(folder: Path, name: str, kinds: Mapping[str, Family], found: Found, size: Size) -> Drawing:
    curves = {
        kind: tuple(_curve(label, found[case]["norm"], i) for i, (label, case) in enumerate(family.items()))
        for kind, family in kinds.items()
    }
    late = size.rounds // 3
    panels = [Panel(LABELS[kind], curves[kind]) for kind in kinds]
    panels += [Panel(f"{LABELS[kind]}, from round {late}", curves[kind], skip=late) for kind in kinds]
    path = draw_curves(folder / f"figure-{name}.svg", panels, NORM, Axes(log_y=False, columns=2))
    columns: dict[str, Any] = {"round": np.arange(size.rounds + 1)}
    for family in kinds.values():
        for case in family.values():
            columns |= _columns(case.key, ex.mean_band(found[case]["norm"], CONFIDENCE))
    ex.write_csv(path.with_suffix(".csv"), columns)
    what, fixed = setting.FIGURES[name]
    return Drawing(
        path,
        f"Figure {name}: norm of the global iterate for different {what}",
        f"Figure {name} redrawn: mean of ‖θᵏ‖ over {size.runs} runs with its pointwise 99% band; thin lines are "
        f"{THREADS} single runs. {fixed} Below: the same from round {late} on, on another scale. No radius is drawn: "
        f"no theorem of the paper applies at these settings (see the tables). {OPEN}",
    )


def _radii_figure(
    folder: Path,
    beside: Sequence[tuple[radii.Constants, tuple[Case, Case]]],
    found: Found,
    played: radii.Replay,
    adam: float,
) -> Drawing:
    panels, columns = [], {"round": np.arange(played.norm.shape[1])}
    for c, cases in beside:
        value = radii.radii(c)
        curves = []
        for series, (label, case) in enumerate(zip(("from 0", "from the radius"), cases, strict=True)):
            band = radii.root_mean_square(found[case]["norm"])
            curves.append(Curve(label, band.value, series, band=band, threads=found[case]["norm"][:THREADS]))
            columns |= _columns(case.key, band)
        levels = (
            Level(f"printed R = {number(value.printed)}", value.printed),
            Level(f"R for all time = {number(value.uniform)}", value.uniform),
            Level(f"r = {number(c.r)}", c.r, below=True),
        )
        panels.append(Panel(f"local SGD, η = 1/L, λ = {c.mu:g}", tuple(curves), levels=levels))
    mean = np.sqrt(np.mean(played.norm**2, axis=0))
    curve = Curve("from 0", mean, 0, threads=played.norm)
    panels.append(
        Panel("local Adam, λ = 0.01", (curve,), skip=1, levels=(Level(f"repaired R = {number(adam)}", adam),))
    )
    columns |= {"adam-replayed": mean}
    path = draw_curves(folder / "radii.svg", panels, RMS)
    ex.write_csv(path.with_suffix(".csv"), columns)
    return Drawing(
        path,
        "The radii, where they apply",
        "Not in the paper. Left and middle: local SGD as in figure 2 but with η = 1/L, so that Theorem 2 applies; "
        "‖θᵏ‖ in root mean square with the pointwise 99% band, from 0 and from the edge of the ball that the repaired "
        "theorem keeps for all time, and the radius as printed. Right: local Adam at the paper's settings, "
        f"{len(played.norm)} runs along which every sampled gradient was measured, under the repaired radius "
        "r + σ/μ + ησ/√ε; Theorem 3 as printed has no radius there.",
    )


def _ratio_figure(folder: Path) -> Drawing:
    from theory.catalog import claim
    from theory.stability import exact_radius

    kappa = np.geomspace(1, 1000, 121)
    curves, columns = [], {"kappa": kappa}
    for series, noise in enumerate((0.0, 0.1, 1.0)):
        given = {"mu": 1 / kappa, "L": 1.0, "r": 1.0, "sigma": noise}
        ratio = np.asarray(claim("open-fl/theorem-2").bound(**given)) / exact_radius(1 / kappa, 1.0, 1.0, noise)
        curves.append(Curve(f"σ/L = {noise:g}", ratio, series, at=kappa))
        columns[f"noise-{noise:g}"] = ratio
    title = "printed radius of Theorem 2 over the least radius, r = 1"
    panel = Panel(title, tuple(curves), levels=(Level("exact", 1.0),))
    axes = Axes("condition number κ", log_x=True, log_y=False)
    path = draw_curves(folder / "radius-ratio.svg", [panel], "ratio", axes)
    ex.write_csv(path.with_suffix(".csv"), columns)
    return Drawing(
        path,
        "How loose Theorem 2 is",
        "Not in the paper. The printed radius over the least radius at which Definition 1 holds for every function of "
        "the class, at η = 1/L and in two or more dimensions. The curves of σ/L = 0 and 0.1 almost coincide.",
    )


def _region_figure(folder: Path, kappa: float) -> Drawing:
    from theory.stability.adam_region import largest_condition_number

    beta1 = np.linspace(0, 1, 151)
    inside = (beta1 > 0) & (beta1 < 1 / 3)
    curves, columns = [], {"beta1": beta1}
    for series, (d, beta2) in enumerate(((1, None), (1, setting.BETA2), (100, None), (100, setting.BETA2))):
        excess = np.full(len(beta1), np.nan)
        # beta2 enters through (1-beta2)(1-beta1^2/beta2) alone, which is largest at beta2 = beta1
        factors = beta1[inside] if beta2 is None else np.full(int(inside.sum()), beta2)
        excess[inside] = largest_condition_number(beta1[inside], factors, d) - 1
        excess[inside & (excess < 1e-12)] = np.nan  # lost to rounding
        label = f"d = {d}, β₂ = {'β₁, the best' if beta2 is None else beta2}"
        curves.append(Curve(label, excess, series, at=beta1))
        columns[f"d{d}-beta2-{beta2 or 'best'}"] = excess + 1
    mark = Mark(f"the paper: β₁ = 0.9, κ = {number(kappa)}", setting.BETA1, kappa - 1)
    path = draw_curves(
        folder / "theorem-3-region.svg",
        [Panel("Theorem 3 can be applied below the curves", tuple(curves), marks=(mark,))],
        "κ − 1",
        Axes("β₁"),
    )
    ex.write_csv(path.with_suffix(".csv"), columns)
    return Drawing(
        path,
        "Where Theorem 3 can be applied",
        "Not in the paper. The largest condition number at which some μ, L, η, ε, σ satisfy the conditions of Theorem "
        "3, with its gradient bound holding on the ball of which it speaks, for r = 0. From β₁ = 1/3 on there is none, "
        "at any κ. The cross is the setting of figures 2 and 3, also with d = 100 and β₂ = 0.999.",
    )


def _digits_figure(folder: Path, name: str, kinds: Mapping[str, Family], found: Found) -> Drawing:
    panels = []
    columns: dict[str, Any] = {}
    for metric in ("norm", "loss"):
        for kind in KINDS:
            items = enumerate(kinds[kind].items())
            curves = tuple(_curve(label, found[case][metric], i) for i, (label, case) in items)
            panels.append(Panel(LABELS[kind], curves))
            columns |= {"round": np.arange(len(curves[0].value))}
            for case in kinds[kind].values():
                columns |= _columns(f"{case.key}-{metric}", ex.mean_band(found[case][metric], CONFIDENCE))
    path = draw_curves(folder / f"figure-{name}.svg", panels, (NORM, LOSS), Axes(log_y=False, columns=2))
    ex.write_csv(path.with_suffix(".csv"), columns)
    runs = len(found[next(iter(kinds["sgd"].values()))]["norm"])
    what, fixed = setting.FIGURES[name]
    return Drawing(
        path,
        f"Figure {name}: digits, norm and loss for different {what}",
        f"Figure {name} redrawn with scikit-learn's digits (8 × 8 pixels) in place of MNIST: mean over {runs} runs "
        f"with the pointwise 99% band, thin lines {THREADS} single runs. {fixed} {OPEN}",
    )
