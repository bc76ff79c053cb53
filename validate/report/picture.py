"""The charts' pictures: axes, curves, marks and a legend as SVG, as wide as a page or a telephone has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from validate.predicted import Predicted
from validate.report.axis import Axis, axis, tick_labels

Array = np.ndarray


@dataclass(frozen=True)
class Layout:
    """How a picture is laid out.

    Attributes:
        name: class of the SVG, by which the style sheet chooses.
        width: of the picture, in pixels where it is shown as it is.
        columns: so many points are drawn; of a longer curve, the least and the largest value in each of half as many
            columns.
        across: entries of the legend in a row.
        ticks: below, at most about as many.
        apart: distance of their labels, at least.
    """

    name: str
    width: int
    columns: int
    across: int
    ticks: int
    apart: int


WIDE, NARROW = Layout("page", 440, 100, 2, 7, 30), Layout("phone", 320, 60, 1, 5, 38)
LEFT, MARGIN, PLOT, ROW = 58, 10, 200, 18
"""Edge and margin of the plot, its height, and the height of a row of the legend."""
CHARACTER, GAP = 9, 5
"""Width of a digit in a label, at most, and room between labels."""
MARKED = 40
"""With at most so many points each of them is marked."""
LEAST_RATIO = 1e-9
"""Scenarios with a smaller ratio are far from breaking; a zero is rounded to one."""
UNJOINED = ("n",)
"""Indices of clients, which have no order."""
AGREE = 1e-9
"""Sides are as good as equal, relative to each other."""

PREDICTED = "stroke:var(--series-0,#0072b2);color:var(--series-0,#0072b2)"
MEASURED = "stroke:var(--series-1,#d55e00);color:var(--series-1,#d55e00)"
SAMPLED = "stroke:var(--series-2,#009e73);color:var(--series-2,#009e73)"
BROKEN = "stroke:var(--refuted,#b3261e);color:var(--refuted,#b3261e)"


@dataclass(frozen=True)
class Place:
    """The plot's edges, below a legend of so many entries."""

    layout: Layout
    entries: int

    @property
    def right(self) -> int:
        """The edge; the picture's is `MARGIN` further."""
        return self.layout.width - MARGIN

    @property
    def top(self) -> int:
        """Below two rows of the legend, or more."""
        return 10 + ROW * max(2, -(-self.entries // self.layout.across))

    @property
    def bottom(self) -> int:
        """The lower edge."""
        return self.top + PLOT

    @property
    def height(self) -> int:
        """Of the picture, with the labels below the plot."""
        return self.bottom + 44


def shown(predicted: Predicted) -> Array:
    """(C,): the scenarios whose ratio is shown: those with one above `LEAST_RATIO`, where they are not too few."""
    with np.errstate(all="ignore"):
        positive = np.asarray(predicted.left / predicted.right > LEAST_RATIO)
    below = predicted.relation in ("<=", "<") and positive.sum() >= max(2, len(predicted) / 4)
    return positive if below else np.ones(len(predicted), dtype=bool)


def agree(predicted: Predicted) -> bool:
    """Whether both sides are as good as equal everywhere."""
    scale = np.maximum(np.abs(predicted.left), np.abs(predicted.right))
    return bool((np.abs(predicted.left - predicted.right) <= AGREE * scale).all())


def curves(predicted: Predicted, layout: Layout) -> tuple[list[Markup], int]:
    """Both sides over the index, and the height of the picture."""
    at, left, right = predicted.at, predicted.left, predicted.right
    spread = at[0] > 0 and at[-1] > 10 * at[0] and predicted.over == "rounds"
    sides = [left, right, *(predicted.band or ())]
    dots = predicted.index in UNJOINED
    legend = [
        ("right side, predicted", PREDICTED, "dots" if dots else "7 4"),
        ("left side, exact", MEASURED, "dots" if dots else ""),
    ]
    if predicted.band is not None:
        legend.append((f"mean of {predicted.runs:,} runs", SAMPLED, "dots"))
    if predicted.broken.any():
        legend.append(("broken", BROKEN, "cross"))
    place = Place(layout, len(legend))
    x = axis(at, LEFT + 8, place.right - 8, log=bool(spread), whole=True)
    y = axis(np.concatenate(sides), place.bottom, place.top)
    parts = [frame(x, y, predicted.index, at, place)]
    if predicted.band is not None:
        lower, upper = (y(each) for each in predicted.band[1:])
        lower = np.where(np.isfinite(lower), lower, place.bottom)  # below what a logarithmic axis shows
        kept = _thinned(x(at), upper, layout.columns)
        edge = [(x(at)[i], upper[i]) for i in kept] + [(x(at)[i], lower[i]) for i in reversed(kept)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in edge)
        parts.append(
            Markup('<polygon points="{}" style="{};stroke:none;fill:currentColor;opacity:.25"/>').format(
                points, SAMPLED
            )
        )
    if dots:
        parts.append(marks(x(at), y(left), MEASURED, 6.0, layout.columns))
        parts.append(marks(x(at), y(right), PREDICTED, 4.5, layout.columns, "square"))
    else:
        parts.append(polyline(x(at), y(left), MEASURED, "", 6.0, layout.columns))
        parts.append(polyline(x(at), y(right), PREDICTED, "7 4", 4.5, layout.columns, "square"))
    if predicted.band is not None:
        parts.append(marks(x(at), y(predicted.band.value), SAMPLED, 4.5, layout.columns))
    if predicted.broken.any():
        parts.append(_crosses(x(at[predicted.broken]), y(left[predicted.broken]), layout.columns))
    return [*parts, key(legend, layout)], place.height


def ratios(predicted: Predicted, layout: Layout) -> tuple[list[Markup], int]:
    """left / right on every scenario, sorted, the line that the claim says they do not cross, and the height."""
    with np.errstate(all="ignore"):
        found = np.where(shown(predicted), predicted.left / predicted.right, np.nan)
    legend = [("left / right", MEASURED, "dots"), ("equal sides", PREDICTED, "7 4")]
    if predicted.broken.any():
        legend.append(("broken", BROKEN, "cross"))
    place = Place(layout, len(legend))
    x = axis(predicted.at, LEFT + 8, place.right - 8, log=False, whole=True)
    y = axis(np.append(found, 1.0), place.bottom, place.top)
    one = float(y(np.array([1.0]))[0])
    parts = [frame(x, y, "scenarios, sorted", predicted.at, place)]
    parts.append(
        Markup('<path d="M{0} {1:.1f}H{2}" style="{3}" stroke-dasharray="7 4"/>').format(
            LEFT, one, place.right, PREDICTED
        )
    )
    kept = _thinned(x(predicted.at), y(found), layout.columns)
    for mask, style in ((~predicted.broken, MEASURED), (predicted.broken, BROKEN)):
        chosen = [i for i in kept if mask[i]]
        if chosen and style is MEASURED:
            parts.append(marks(x(predicted.at[chosen]), y(found[chosen]), style, 4.5, layout.columns))
        elif chosen:
            parts.append(_crosses(x(predicted.at[chosen]), y(found[chosen]), layout.columns))
    return [*parts, key(legend, layout)], place.height


def frame(x: Axis, y: Axis, index: str, at: Array, place: Place) -> Markup:
    """Axes, grid lines, ticks and the name of the index."""
    levels = y.ticks(5)
    top, bottom, right = place.top, place.bottom, place.right
    steps = [float(v) for v in at] if 2 <= len(at) <= 7 and not x.log else _steps(x, at, place.layout.ticks)
    grid = "".join(f"M{LEFT} {float(y(np.array([v]))[0]):.1f}H{right}" for v in levels)
    parts = [Markup('<path d="{}" style="stroke:var(--line,#d8dce0);stroke-width:1"/>').format(grid)]
    parts.append(
        Markup('<path d="M{0} {1}V{2}H{3}" stroke="currentColor" stroke-width="1"/>').format(LEFT, top, bottom, right)
    )
    labels, factor = tick_labels(levels, y.log)
    text = [
        _text(LEFT - 6, float(y(np.array([v]))[0]) + 4.5, label, "end") for v, label in zip(levels, labels, strict=True)
    ]
    text.append(_text(LEFT - 6, top - 10, factor, "end"))
    below, factor = tick_labels(steps, False)
    taken = -1e9
    for value, label in zip(steps, below, strict=True):
        here, half = float(x(np.array([value]))[0]), CHARACTER * len(label) / 2
        if here - max(half, place.layout.apart / 2) >= taken and LEFT - 1 <= here <= right + 1:
            text.append(_text(min(here, place.layout.width - half), bottom + 19, label, "middle"))
            taken = here + max(half + GAP, place.layout.apart / 2)
    index = f"{index} ({factor})" if factor else index
    text.append(_text((LEFT + right) / 2, bottom + 37, index, "middle"))
    return Markup("").join([*parts, Markup('<g fill="currentColor">{}</g>').format(Markup("").join(text))])


def _steps(x: Axis, at: Array, most: int) -> list[float]:
    """Ticks below: on a logarithmic axis the values themselves, which are few; whole numbers where all values are."""
    if x.log:
        return [float(value) for value in at]
    found = x.ticks(most)
    whole = bool((at == np.round(at)).all())
    return [value for value in found if not whole or value.is_integer()]


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text x="{0:.1f}" y="{1:.1f}" text-anchor="{2}">{3}</text>').format(x, y, anchor, words)


def _thinned(x: Array, y: Array, columns: int) -> list[int]:
    """Which points to draw: all that can be seen; of very many, the least and the largest in each column of pixels."""
    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(seen) <= columns:
        return [int(i) for i in seen]
    kept = {int(seen[0]), int(seen[-1])}
    for column in np.array_split(seen, columns // 2):
        kept |= {int(column[np.argmin(y[column])]), int(column[np.argmax(y[column])])}
    return sorted(kept)


def polyline(x: Array, y: Array, style: str, dash: str, size: float, columns: int, shape: str = "round") -> Markup:
    """A polyline, broken where there is no value, with marks where the points are few."""
    kept = _thinned(x, y, columns)
    runs: list[list[int]] = []
    for i in kept:
        gap = runs and not np.isfinite(y[runs[-1][-1] : i]).all()
        if not runs or gap:
            runs.append([])
        runs[-1].append(i)
    path = "".join("M" + "L".join(f"{x[i]:.1f} {y[i]:.1f}" for i in run) for run in runs)
    line = Markup('<path d="{0}" style="{1}"{2}/>').format(
        path, style, Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    )
    return line + (marks(x[kept], y[kept], style, size, columns, shape) if len(x) <= MARKED else Markup(""))


def marks(x: Array, y: Array, style: str, size: float, columns: int, shape: str = "round") -> Markup:
    """Points, as strokes without length: a path is the shortest way to write many."""
    path = "".join(f"M{x[i]:.1f} {y[i]:.1f}h0" for i in _thinned(x, y, columns))
    return Markup('<path d="{0}" style="{1}" stroke-width="{2}" stroke-linecap="{3}"/>').format(
        path, style, size, shape
    )


def _crosses(x: Array, y: Array, columns: int) -> Markup:
    """Marks of points that break the claim."""
    kept = _thinned(x, y, columns)
    path = "".join(f"M{x[i] - 5:.1f} {y[i] - 5:.1f}l10 10m-10 0l10-10" for i in kept)
    return Markup('<path d="{0}" style="{1}"/>').format(path, BROKEN)


def key(entries: Sequence[tuple[str, str, str]], layout: Layout) -> Markup:
    """Above the plot."""
    parts = []
    for at, (words, style, dash) in enumerate(entries):
        x, y = LEFT + 190 * (at % layout.across), 14 + ROW * (at // layout.across)
        if dash == "cross":
            parts.append(_crosses(np.array([x + 12.0]), np.array([y - 4.0]), 1))
        elif dash == "dots":
            parts.append(marks(np.array([x + 5.0, x + 12.0, x + 19.0]), np.full(3, y - 4.0), style, 4.5, 3))
        else:
            more = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
            parts.append(Markup('<path d="M{0} {1}h24" style="{2}"{3}/>').format(x, y - 4, style, more))
        parts.append(Markup('<text x="{0}" y="{1}" fill="currentColor">{2}</text>').format(x + 30, y, escape(words)))
    return Markup("").join(parts)
