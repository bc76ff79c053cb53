"""Figures of comparisons: curves with confidence bands and levels, and circles of probable error.

Colours are Okabe and Ito's (black last), safe for the colour blind, and every series also has its own dash. The roles
of the colours (`THEME`) let the report recolour the same file for a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from validate.experiment import Band

INK, GROUND, GRID = "#1c2024", "#ffffff", "#d8dce0"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#111111")
DASHES = ("-", "--", ":", "-.", (0, (7, 2)), (0, (1, 2, 4, 2)), (0, (10, 1)))
MANY = 1e4
"""Ratio of an axis's ends from which the powers of ten alone are marked on it."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
THEME = {
    INK: "currentColor",
    GROUND: "var(--figure-ground, transparent)",
    GRID: "var(--line)",
    **{colour: f"var(--series-{i}, {colour})" for i, colour in enumerate(SERIES)},
}

STYLE: Any = {
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
    """A series over rounds 0..K, or over other values.

    Attributes:
        label: for the legend.
        value: shape (K+1,), the thick line.
        series: which colour and dash.
        band: confidence band, or None.
        threads: single runs drawn thin, shape (r, K+1), or None.
        exact: an exact curve drawn as sparse marks on top, shape (K+1,), or None.
        at: (K+1,), the values on the x axis; None for the rounds.
    """

    label: str
    value: np.ndarray
    series: int
    band: Band | None = None
    threads: np.ndarray | None = None
    exact: np.ndarray | None = None
    at: np.ndarray | None = None


@dataclass(frozen=True)
class Level:
    """A horizontal line across a panel, with its label at the right end, above the line or below it."""

    label: str
    value: float
    below: bool = False


@dataclass(frozen=True)
class Mark:
    """A point with a label to its left."""

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class Panel:
    """Curves that share axes. `skip` rounds are left out at the start (a variance is 0 there, a transient is large)."""

    title: str
    curves: tuple[Curve, ...]
    skip: int = 0
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Axes:
    """How the axes of `draw_curves` are drawn.

    Attributes:
        xlabel: below each panel.
        log_x: whether x is logarithmic.
        log_y: whether y is; else it starts at 0 (at the least value where rounds are left out).
        columns: panels in a row; None for all of them. The panels of a row share their y axis.
    """

    xlabel: str = "round k"
    log_x: bool = False
    log_y: bool = True
    columns: int | None = None


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


def written(figure: Any, to: Path | TextIO) -> None:
    """Write a matplotlib figure as SVG, the same bytes at every time."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    layout = figure.get_layout_engine()
    if layout is not None:  # now, as `savefig` would draw the whole figure once more for it
        layout.execute(figure)
        figure.set_layout_engine("none")
    figure.savefig(to, format="svg", metadata={"Date": None}, dpi=200)


def save(figure: Any, path: Path) -> Path:
    """`written` to a file; its folder is made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written(figure, path)
    return path


def draw_curves(path: Path, panels: Sequence[Panel], ylabel: str | Sequence[str], axes: Axes | None = None) -> Path:
    """Draw panels side by side, or in rows (then `ylabel` may be one for each), and save them as `path`.

    The y axis of a row spans its thick lines, levels and marks; single runs may leave it.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    axes = axes or Axes()
    columns = axes.columns or len(panels)
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 1.2 + 3 * len(rows)), layout=ConstrainedLayoutEngine(wspace=0.05))
        grid = figure.subplots(len(rows), columns, sharey="row", squeeze=False)
        handles: dict[str, Any] = {}
        names = [ylabel] * len(rows) if isinstance(ylabel, str) else ylabel
        for places, row, name in zip(grid, rows, names, strict=True):
            for place, panel in zip(places, row, strict=False):
                _draw_panel(place, panel, axes, handles)
            for place in places[len(row) :]:
                place.set_visible(False)
            places[0].set_ylabel(name)
            places[0].set_ylim(*_reach(row, axes))
            for place in places:
                _without_small_ticks(place)
        order = sorted(handles, key=lambda name: name in ("one run", "99% band", "exact expectation"))
        drawn = [handles[name] for name in order]
        figure.legend(drawn, order, loc="outside lower center", ncols=_legend_columns(order))
        return save(figure, path)


def _draw_panel(axis: Any, panel: Panel, axes: Axes, handles: dict[str, Any]) -> None:
    """One panel; `handles` receives what its legend needs."""
    shown = _positive if axes.log_y else np.asarray
    rounds = np.arange(0.0)
    for curve in panel.curves:
        rounds = np.arange(len(curve.value)) if curve.at is None else np.asarray(curve.at)
        rounds = rounds[panel.skip :]
        colour = SERIES[curve.series]
        if curve.threads is not None:
            for thread in curve.threads:
                axis.plot(rounds, shown(thread[panel.skip :]), color=colour, lw=0.6, alpha=0.3)
            handles["one run"] = axis.plot([], [], color=INK, lw=0.7, alpha=0.5)[0]
        if curve.band is not None:
            lower = curve.band.lower[panel.skip :]
            if axes.log_y:
                lower = _positive(np.maximum(lower, curve.value[panel.skip :] / 1e3))
            axis.fill_between(rounds, lower, curve.band.upper[panel.skip :], color=colour, alpha=0.28, lw=0)
            handles["99% band"] = axis.fill_between([], [], [], color=INK, alpha=0.28, lw=0)
        line = axis.plot(
            rounds, shown(curve.value[panel.skip :]), color=colour, lw=2.2, ls=DASHES[curve.series], zorder=3
        )
        handles[curve.label] = line[0]
        if curve.exact is not None:
            exact = np.asarray(curve.exact, dtype=float)[panel.skip :][4::8]
            style: Any = {"color": INK, "ls": "none", "marker": "o", "ms": 4.2, "mfc": "none", "mew": 1, "zorder": 4}
            handles["exact expectation"] = axis.plot(rounds[4::8], exact, **style)[0]
    for level in panel.levels:
        axis.axhline(level.value, color=INK, lw=1.1, ls=(0, (4, 3)), zorder=2)
        side, offset = ("top", -4) if level.below else ("bottom", 2)
        at = {"xy": (1, level.value), "xycoords": axis.get_yaxis_transform(), "xytext": (-3, offset)}
        axis.annotate(level.label, **at, textcoords="offset points", ha="right", va=side, fontsize=8.5)
    for mark in panel.marks:
        axis.plot([mark.x], [mark.y], ls="none", marker="X", ms=9, color=INK, zorder=4)
        style = {"textcoords": "offset points", "xytext": (-9, 0), "ha": "right", "va": "center", "fontsize": 8.5}
        axis.annotate(mark.label, (mark.x, mark.y), **style)
    axis.set_title(panel.title)
    axis.set_xlabel(axes.xlabel)
    axis.set_xscale("log" if axes.log_x else "linear")
    axis.set_yscale("log" if axes.log_y else "linear")
    if len(rounds):
        first = rounds[0] if panel.skip > 1 or panel.curves[-1].at is not None else 0
        axis.set_xlim(first, rounds[-1])


def _without_small_ticks(place: Any) -> None:
    """No ticks between powers of ten where there are many powers: they say little, and take half of the time."""
    from matplotlib.ticker import NullLocator

    for axis in (place.xaxis, place.yaxis):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high >= MANY * low > 0:
            axis.set_minor_locator(NullLocator())


def _reach(panels: Sequence[Panel], axes: Axes) -> tuple[float, float]:
    """The limits of the y axis."""
    drawn = [np.asarray(curve.value, dtype=float)[p.skip :] for p in panels for curve in p.curves]
    values = np.concatenate([*drawn, *([level.value for level in p.levels] for p in panels)])
    values = np.concatenate([values, *([mark.y for mark in p.marks] for p in panels)])
    values = values[np.isfinite(values)]
    if axes.log_y:
        return float(values[values > 0].min()) / 3, float(values.max()) * 3
    low = float(values.min()) if any(p.skip > 1 for p in panels) else 0.0
    high = float(values.max())
    margin = 0.08 * (high - low)
    return (low - margin if low else 0.0), high + margin


def _legend_columns(names: Sequence[str]) -> int:
    """Short names in more columns."""
    return min(len(names), 6 if max(map(len, names)) < 16 else 3)


def draw_clouds(path: Path, clouds: Sequence[Cloud]) -> Path:
    """Draw final iterates around their means side by side on the same scale, with the circles, and save as `path`."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.patches import Circle

    with matplotlib.rc_context(STYLE):
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
        return save(figure, path)


def _positive(values: np.ndarray) -> np.ndarray:
    """Values for a logarithmic axis; what is not positive is left out."""
    return np.where(values > 0, values, np.nan)


class HeatMap(NamedTuple):
    """A matrix, shape (N, N) with entries in [0, inf), and its title."""

    title: str
    values: np.ndarray


def draw_heat_maps(
    path: Path, maps: Sequence[HeatMap], xlabel: str, ylabel: str, bar: str, *, columns: int | None = None
) -> Path:
    """Draw the matrices in rows of `columns` and save them as `path`; entries that are 0 stay blank.

    The colours (cividis, safe for the colour blind) are logarithmic from 1/1000 of the largest entry.
    """
    import matplotlib
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    across = columns or len(maps)
    down = -(-len(maps) // across)
    largest = max(float(m.values.max()) for m in maps)
    colours = matplotlib.colormaps["cividis_r"].with_extremes(bad=(0, 0, 0, 0))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 0.4 + 2.7 * down), layout=ConstrainedLayoutEngine(wspace=0.04, hspace=0.06))
        grid = figure.subplots(down, across, squeeze=False)
        for place, drawn in zip(grid.flat, maps, strict=False):
            shown = np.ma.masked_less_equal(drawn.values, 0)
            scale = LogNorm(largest / 1e3, largest, clip=True)
            image = place.imshow(shown, cmap=colours, norm=scale, interpolation="nearest", rasterized=True)
            place.set_title(drawn.title)
            place.set_xlabel(xlabel)
            place.grid(False)
            for side in place.spines.values():
                side.set(visible=True, color=INK, linewidth=0.6)
        for row in grid:
            row[0].set_ylabel(ylabel)
        for place in grid.flat[len(maps) :]:
            place.set_visible(False)
        figure.colorbar(image, ax=list(grid.flat), label=bar, shrink=0.9)
        return save(figure, path)
