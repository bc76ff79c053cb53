"""What is compared: a number a run, the less the better, of methods that met the same data and the same draws.

Values are (R, M): R runs of M methods, data set by data set (`validate.ranking`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from validate.experiment import Array, Band
from validate.experiments.sentences import judged
from validate.ranking import Ranks, differences, ranks, student_band


def _same(values: Array) -> Array:
    return np.asarray(values)


class Outcome(NamedTuple):
    """A number a run.

    Attributes:
        name: in words.
        digits: of a number as reported, such as "#.3g".
        shown: from the scale on which runs are compared to that of the report: powers make ratios of differences.
        blocks: how many data sets the runs come in.
    """

    name: str
    digits: str
    shown: Callable[[Array], Array] = _same
    blocks: int = 1

    def on_scale(self, band: Band) -> Band:
        """A mean or a difference on the scale of the report."""
        value, *ends = (self.shown(part) for part in band)
        return Band(value, np.minimum(*ends), np.maximum(*ends))

    def mean(self, values: Array) -> Band:
        """Of runs (R,), with its 99% interval."""
        return self.on_scale(student_band(values, blocks=self.blocks))

    def against(self, values: Array, reference: int = -1) -> Band:
        """Every method against one of them (M,), with simultaneous 99% intervals: differences, or ratios."""
        return self.on_scale(differences(values, reference % values.shape[1], blocks=self.blocks))

    def ranks(self, values: Array) -> Ranks:
        """With a 99% confidence set for all of them together."""
        return ranks(values, blocks=self.blocks)

    def text(self, band: Band, at: int | tuple[()] = ()) -> str:
        """A mean or a difference with its interval."""
        value, low, high = (format(float(np.asarray(part)[at]), self.digits) for part in band)
        return f"{value} [{low}, {high}]"


def best(held: Ranks, at: int) -> str:
    """Whether a method is the best, as far as its confidence set says."""
    return judged(held.highest[at] == 1, held.lowest[at] > 1)


def rank_text(held: Ranks, at: int) -> str:
    """A rank with its confidence set."""
    low, high = held.lowest[at], held.highest[at]
    return f"{held.rank[at]}" if low == high else f"{held.rank[at]} [{low}-{high}]"
