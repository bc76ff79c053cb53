"""Figures of comparisons: curves over rounds with confidence bands, and circles of probable error.

Colours are Okabe and Ito's, safe for the colour blind, and every series also has its own dash. The roles of the
colours (`THEME`) let the report recolour the same file for a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from validate.experiment import Band

INK, GROUND, GRID = "#1c2024", "#ffffff", "#d8dce0"
SERIES = ("#0072b2", "#d55e00", "#009e73")
DASHES = ("-", "--", ":")
MARKERS = ("o", "s", "^")
THEME = {
    INK: "currentColor",
    GROUND: "var(--figure-ground, transparent)",
    GRID: "var(--line)",
    **{colour: f"var(--series-{i}, {colour})" for i, colour in enumerate(SERIES)},
}

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": GROUND,
    "axes.facecolor": GROUND,
    "savefig.facecolor": GROUND,
    "svg.fonttype": "path",
    "svg.hashsalt": "fedproof",
}


@dataclass(frozen=True)
class Curve:
    """A series over rounds 0..K.

    Attributes:
        label: for the legend.
        value: shape (K+1,), the thick line.
        series: which colour and dash.
        band: confidence band, or None.
        threads: single runs drawn thin, shape (r, K+1), or None.
        exact: an exact curve drawn as sparse marks on top, shape (K+1,), or None.
    """

    label: str
    value: np.ndarray
    series: int
    band: Band | None = None
    threads: np.ndarray | None = None
    exact: np.ndarray | None = None


@dataclass(frozen=True)
class Panel:
    """Curves that share axes. `skip` rounds are left out at the start (a variance is 0 there)."""

    title: str
    curves: tuple[Curve, ...]
    skip: int = 0


@dataclass(frozen=True)
class Cloud:
    """Final iterates around their mean, in a plane.

    Attributes:
        title: of the panel.
        few: shape (r, 2), the paper's number of runs.
        many: shape (R, 2).
        radius_few: CEP of the few.
        radius_many: CEP of the many.
        series: which colour.
    """

    title: str
    few: np.ndarray
    many: np.ndarray
    radius_few: float
    radius_many: float
    series: int


def _save(figure: Any, path: Path) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, dpi=200)
    return path


def draw_curves(path: Path, panels: Sequence[Panel], ylabel: str) -> Path:
    """Draw panels side by side with shared axes, logarithmic in y, and save them as `path`.

    The y axis spans the thick lines; single runs may leave it.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(9.6, 4.2), layout=ConstrainedLayoutEngine(wspace=0.05))
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        low, high = [], []
        handles: dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=True):
            for curve in panel.curves:
                rounds = np.arange(len(curve.value))[panel.skip :]
                colour = SERIES[curve.series]
                if curve.threads is not None:
                    for thread in curve.threads:
                        axis.plot(rounds, _positive(thread[panel.skip :]), color=colour, lw=0.6, alpha=0.3)
                    handles["one run"] = axis.plot([], [], color=INK, lw=0.7, alpha=0.5)[0]
                if curve.band is not None:
                    lower = np.maximum(curve.band.lower[panel.skip :], curve.value[panel.skip :] / 1e3)
                    axis.fill_between(
                        rounds, _positive(lower), curve.band.upper[panel.skip :], color=colour, alpha=0.28, lw=0
                    )
                    handles["99% band"] = axis.fill_between([], [], [], color=INK, alpha=0.28, lw=0)
                line = axis.plot(
                    rounds,
                    _positive(curve.value[panel.skip :]),
                    color=colour,
                    lw=2.2,
                    ls=DASHES[curve.series],
                    zorder=3,
                )
                handles[curve.label] = line[0]
                if curve.exact is not None:
                    marks = axis.plot(
                        rounds[4::8],
                        np.asarray(curve.exact, dtype=float)[panel.skip :][4::8],
                        color=INK,
                        ls="none",
                        marker="o",
                        ms=4.2,
                        mfc="none",
                        mew=1,
                        zorder=4,
                    )
                    handles["exact expectation"] = marks[0]
                shown = curve.value[panel.skip :]
                low.append(float(shown[shown > 0].min()))
                high.append(float(shown.max()))
            axis.set_title(panel.title)
            axis.set_xlabel("round k")
            axis.set_yscale("log")
        axes[0].set_ylabel(ylabel)
        axes[0].set_ylim(min(low) / 3, max(high) * 3)
        axes[0].set_xlim(0, max(len(c.value) for p in panels for c in p.curves) - 1)
        order = sorted(handles, key=lambda name: name in ("one run", "99% band", "exact expectation"))
        figure.legend([handles[name] for name in order], order, loc="outside lower center", ncols=min(len(order), 3))
        return _save(figure, path)


def draw_clouds(path: Path, clouds: Sequence[Cloud]) -> Path:
    """Draw final iterates around their means side by side on the same scale, with the circles, and save as `path`."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.patches import Circle

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(9.6, 5.7), layout=ConstrainedLayoutEngine(h_pad=0.14, wspace=0.04))
        axes = figure.subplots(1, len(clouds), sharex=True, sharey=True, squeeze=False)[0]
        reach = max(float(np.quantile(np.abs(c.many), 0.995)) for c in clouds)
        reach = 1.08 * max(reach, *(float(np.abs(c.few).max()) for c in clouds), *(c.radius_many for c in clouds))
        handles: dict[str, Any] = {}
        for axis, cloud in zip(axes, clouds, strict=True):
            colour = SERIES[cloud.series]
            axis.scatter(*cloud.many.T, s=5, color=colour, alpha=0.16, lw=0, rasterized=True)
            axis.scatter(*cloud.few.T, s=34, color=colour, marker=MARKERS[cloud.series], ec=INK, lw=0.8, zorder=3)
            centre = (float(cloud.few[:, 0].mean()), float(cloud.few[:, 1].mean()))
            circles = (((0.0, 0.0), cloud.radius_many, "-", 2.0), (centre, cloud.radius_few, "--", 1.4))
            for middle, radius, style, width in circles:
                axis.add_patch(Circle(middle, radius, fill=False, ec=INK, ls=style, lw=width, zorder=4))
            axis.plot([0], [0], marker="+", color=INK, ms=9, mew=1.5, zorder=5)
            axis.set_title(cloud.title)
            axis.set_aspect("equal")
            axis.set_xlabel("first principal component of θ − mean")
            axis.set_xlim(-reach, reach)
            axis.set_ylim(-reach, reach)
        number, few = len(clouds[0].many), len(clouds[0].few)
        blank = axes[0]
        handles[f"CEP of {number:,} runs"] = blank.plot([], [], color=INK, lw=2)[0]
        handles[f"CEP of {few} runs"] = blank.plot([], [], color=INK, lw=1.4, ls="--")[0]
        handles[f"the first {few} runs"] = blank.plot([], [], color=INK, ls="none", marker="o", ms=6, mfc="none")[0]
        handles[f"all {number:,} runs"] = blank.plot([], [], color=INK, ls="none", marker=".", ms=4, alpha=0.5)[0]
        axes[0].set_ylabel("second principal component")
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
        return _save(figure, path)


def _positive(values: np.ndarray) -> np.ndarray:
    """Values for a logarithmic axis; what is not positive is left out."""
    return np.where(values > 0, values, np.nan)
