"""Figures as data: what is drawn and said below it; drawing one writes the very numbers beside it, as CSV."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from validate.drawing import Axes, Cloud, Curve, HeatMap, Panel, draw_clouds, draw_curves, draw_heat_maps
from validate.experiment import Array, Drawing, write_csv


@dataclass(frozen=True)
class Figure(ABC):
    """A figure.

    Attributes:
        stem: of its files.
        title: short.
        caption: what is drawn, and what differs from the paper.
    """

    stem: str
    title: str
    caption: str

    def draw(self, folder: Path) -> Drawing:
        """Write the picture (SVG), and its numbers with the same stem (CSV)."""
        path = self.picture(folder / f"{self.stem}.svg")
        write_csv(path.with_suffix(".csv"), self.columns())
        return Drawing(path, self.title, self.caption)

    @abstractmethod
    def picture(self, path: Path) -> Path:
        """Draw it."""

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any] | Array]:
        """The numbers, by column."""


@dataclass(frozen=True)
class Curves(Figure):
    """Panels of curves.

    Attributes:
        panels: what is drawn.
        ylabel: of all rows of panels, or one each.
        axes: see `validate.drawing.Axes`.
        beside: panels that are in the CSV alone.
    """

    panels: Sequence[Panel]
    ylabel: str | Sequence[str]
    axes: Axes | None = None
    beside: Sequence[Panel] = ()

    def picture(self, path: Path) -> Path:
        return draw_curves(path, self.panels, self.ylabel, self.axes)

    def columns(self) -> Mapping[str, Sequence[Any] | Array]:
        """One row a point: panel, series, x, value, and where there are any its band and the exact value."""
        numbers = ("x", "value", "lower", "upper", "exact")
        found: dict[str, list[Any]] = {name: [] for name in ("panel", "series", *numbers)}
        for panel in (*self.panels, *self.beside):
            for curve in panel.curves:
                empty = np.full(len(curve.value), np.nan)
                band = (curve.value, empty, empty) if curve.band is None else curve.band
                exact = empty if curve.exact is None else np.asarray(curve.exact, dtype=float)
                at = np.arange(len(curve.value)) if curve.at is None else curve.at
                found["panel"] += [panel.title] * len(at)
                found["series"] += [curve.label] * len(at)
                for name, values in zip(numbers, (at, *band, exact), strict=True):
                    found[name] += np.asarray(values).tolist()
        return {name: values for name, values in found.items() if not _all_nan(values)}


@dataclass(frozen=True)
class Clouds(Figure):
    """Final iterates around their means."""

    clouds: Sequence[Cloud]

    def picture(self, path: Path) -> Path:
        return draw_clouds(path, self.clouds)

    def columns(self) -> Mapping[str, Sequence[Any] | Array]:
        """One row a run: panel, and its place in the plane."""
        panel = [c.title.splitlines()[0] for c in self.clouds for _ in c.many]
        points = np.concatenate([c.many for c in self.clouds])
        return {"panel": panel, "component1": points[:, 0], "component2": points[:, 1]}


@dataclass(frozen=True)
class Maps(Figure):
    """Matrices as heat maps: see `validate.drawing.draw_heat_maps`."""

    maps: Sequence[HeatMap]
    xlabel: str
    ylabel: str
    bar: str
    across: int | None = None

    def picture(self, path: Path) -> Path:
        return draw_heat_maps(path, self.maps, self.xlabel, self.ylabel, self.bar, columns=self.across)

    def columns(self) -> Mapping[str, Sequence[Any] | Array]:
        """One row a row of a matrix."""
        panel = [m.title for m in self.maps for _ in m.values]
        row = [i for m in self.maps for i in range(len(m.values))]
        values = np.concatenate([m.values for m in self.maps])
        return {"panel": panel, "row": row, **{f"column{j}": values[:, j] for j in range(values.shape[1])}}


def curve(label: str, band: Any, series: int, **more: Any) -> Curve:
    """A curve with its band (`validate.experiment.Band`); `more` as of `validate.drawing.Curve`."""
    return Curve(label, band.value, series, band=band, **more)


def _all_nan(values: list[Any]) -> bool:
    return all(isinstance(v, float) and np.isnan(v) for v in values)
