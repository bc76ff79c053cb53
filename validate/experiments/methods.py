"""The methods of a comparison: what is run, and the grid on which each of them is tuned, alike for all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from validate.experiment import Table
from validate.experiments.declared import shown
from validate.report.readable import number

NONE = "none"
Choice = tuple[float, float]


@dataclass(frozen=True)
class Method:
    """One of the methods compared.

    Attributes:
        key: short ASCII name.
        label: for legends and tables.
        make: (step, own parameter, ...) -> what is run.
        steps: what is tried for the step; a small size takes the last of them.
        own: what the method's own parameter is, or `NONE`.
        values: what is tried for it; a small size takes the first of them.
        filled: without an own parameter, as many steps as the others have pairs are tried, in the same range.
    """

    key: str
    label: str
    make: Callable[..., Any]
    steps: tuple[float, ...]
    own: str = NONE
    values: tuple[float, ...] = (0.0,)
    filled: bool = False

    def grid(self, steps: int, values: int) -> list[Choice]:
        """The pairs (step, own parameter) that are tried."""
        tried = self.steps[-steps:]
        if self.own == NONE and self.filled:
            return [(float(step), 0.0) for step in np.geomspace(tried[0], tried[-1], steps * values)]
        return list(itertools.product(tried, self.values[:values]))

    def chosen(self, choice: Choice) -> str:
        """In words."""
        return f"step {choice[0]:g}" + ("" if self.own == NONE else f", {self.own} {choice[1]:g}")

    def tried(self, values: int) -> str:
        """Its own parameter's values in words; empty without one."""
        return "" if self.own == NONE else f"{self.own} {shown(sorted(self.values[:values]))} of {self.label}"


@dataclass(frozen=True)
class Tuned:
    """What tuning gave: a score for every choice, the less the better."""

    scores: Mapping[Choice, float]

    @property
    def best(self) -> Choice:
        """The choice with the least score."""
        return min(self.scores, key=lambda choice: self.scores[choice])

    def at_edge(self, parameter: int) -> bool:
        """Whether the step (0) or the own parameter (1) that was chosen is the least or the largest of several."""
        tried = {choice[parameter] for choice in self.scores}
        return len(tried) > 1 and self.best[parameter] in (min(tried), max(tried))


def tuned(grid: Iterable[Choice], score: Callable[[Choice], float]) -> Tuned:
    """Try every choice; one whose score is not finite is never the best of several."""
    scores = {choice: score(choice) for choice in grid}
    return Tuned({choice: value if np.isfinite(value) else float("inf") for choice, value in scores.items()})


def tuning_table(tried: Iterable[tuple[str, Method, Tuned]], measure: str, note: str) -> Table:
    """What tuning gave, by setting and method."""
    rows = []
    for where, method, found in tried:
        edges = [name for at, name in enumerate(("step", method.own)) if found.at_edge(at)]
        scores = list(found.scores.values())
        own = "" if method.own == NONE else f"{method.own} {found.best[1]:g}"
        cells = f"{found.best[0]:.3g}", own, number(min(scores)), number(max(scores)), ", ".join(edges) or "no"
        rows.append((where, method.label, str(len(scores)), *cells))
    header = ("setting", "method", "pairs tried", "step", "own parameter", measure, "of the worst",
              "at an edge of the grid")  # fmt: skip
    return Table("Tuning", header, tuple(rows), note)
