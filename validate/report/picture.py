"""The charts' pictures: axes, curves, marks and a legend as SVG, as wide as a page or a telephone has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from validate.report.axis import Axis, tick_labels

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


def key(entries: Sequence[tuple[str, str, str]], layout: Layout) -> Markup:
    """Above the plot."""
    parts = []
    for at, (words, style, dash) in enumerate(entries):
        x, y = LEFT + 190 * (at % layout.across), 14 + ROW * (at // layout.across)
        if dash == "dots":
            parts.append(marks(np.array([x + 5.0, x + 12.0, x + 19.0]), np.full(3, y - 4.0), style, 4.5, 3))
        else:
            more = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
            parts.append(Markup('<path d="M{0} {1}h24" style="{2}"{3}/>').format(x, y - 4, style, more))
        parts.append(Markup('<text x="{0}" y="{1}" fill="currentColor">{2}</text>').format(x + 30, y, escape(words)))
    return Markup("").join(parts)
