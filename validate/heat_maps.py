"""Matrices of non-negative numbers as pictures, side by side on one colour scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from validate.drawing import INK, STYLE, save


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
