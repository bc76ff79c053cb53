"""What is compared in FedMIM's experiments: a number a run, the less the better, and what the runs say of a method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from validate.experiment import Band
from validate.experiments.inertia.runs import Found, Job, Result
from validate.experiments.inertia.setting import CONFIDENCE, Cell, Size, methods
from validate.ranking import Ranks, differences, ranks, student_band

Array = np.ndarray


class Outcome(NamedTuple):
    """What is compared.

    Attributes:
        name: in words.
        of: a number a run (R,), the less the better.
        shown: back on the scale on which it is reported: differences become ratios where logarithms are taken.
        digits: of a number as reported, such as "#.3g".
    """

    name: str
    of: Callable[[Result], Array]
    shown: Callable[[Array], Array]
    digits: str


def _power(values: Array) -> Array:
    return np.asarray(10.0**values)


def _percent(values: Array) -> Array:
    return -100 * np.asarray(values)


EXCESS = Outcome("excess", lambda r: np.log10(r.excess[:, -1]), _power, "#.3g")
ACCURACY = Outcome("accuracy", lambda r: -r.accuracy[:, -1], _percent, "z.2f")
CONSISTENCY = Outcome(
    "local consistency",
    lambda r: np.log10(r.consistency[:, r.consistency.shape[1] // 2 :].mean(axis=1)),
    _power,
    "#.3g",
)


def keys() -> list[str]:
    """Of the methods, FedMIM last."""
    return list(methods())


def values(found: Found, jobs: Sequence[Job], outcome: Outcome) -> Array:
    """(R, M)."""
    return np.stack([outcome.of(found[job]) for job in jobs], axis=1)


def in_cell(cell: Cell, step: float | None = None) -> list[Job]:
    """All methods in a cell."""
    return [Job(cell, key, step=step) for key in keys()]


def mean(found: Found, job: Job, outcome: Outcome, size: Size) -> Band:
    """The mean of an outcome on the scale of the report, with its 99% interval; geometric for logarithms."""
    return on_scale(student_band(outcome.of(found[job]), CONFIDENCE, size.sets), outcome)


def against(found: Found, jobs: Sequence[Job], outcome: Outcome, size: Size, reference: int = -1) -> Band:
    """Every job against one of them (M,), paired by run, with simultaneous 99% intervals: ratios, or differences."""
    band = differences(values(found, jobs, outcome), reference % len(jobs), CONFIDENCE, size.sets)
    return on_scale(band, outcome)


def ranking(found: Found, jobs: Sequence[Job], outcome: Outcome, size: Size) -> Ranks:
    """The ranks, with a 99% confidence set for all of them together."""
    return ranks(values(found, jobs, outcome), CONFIDENCE, size.sets)


def drop(found: Found, first: Cell, second: Cell, outcome: Outcome) -> Array:
    """(R, M), by how much every method is worse in the second cell than in the first; runs have the same numbers."""
    return values(found, in_cell(second), outcome) - values(found, in_cell(first), outcome)


def rounds_to(result: Result, excess: float) -> Array:
    """(R,), the first recorded round at which f(x_t) - f* is at most `excess`; inf for a run that never gets there."""
    reached = result.excess <= excess
    return np.where(reached.any(axis=1), result.rounds[reached.argmax(axis=1)], np.inf)


def on_sets(found: Found, job: Job, rival: Job, outcome: Outcome, size: Size) -> int:
    """On how many data sets the mean of the job is better than the rival's."""
    gaps = outcome.of(found[rival]) - outcome.of(found[job])
    return int((gaps.reshape(size.sets, -1).mean(axis=1) > 0).sum())


def judged(held: Ranks, at: int) -> str:
    """Whether a method is the best, as far as its confidence set says."""
    if held.highest[at] == 1:
        return "supported"
    return "not borne out" if held.lowest[at] > 1 else "not settled"


def text(band: Band, outcome: Outcome, at: int | tuple[()] = ()) -> str:
    """A mean or a difference with its interval."""
    value, low, high = (format(float(np.asarray(part)[at]), outcome.digits) for part in band)
    return f"{value} [{low}, {high}]"


def rank_text(held: Ranks, at: int) -> str:
    """A rank with its confidence set."""
    low, high = held.lowest[at], held.highest[at]
    return f"{held.rank[at]}" if low == high else f"{held.rank[at]} [{low}-{high}]"


def on_scale(band: Band, outcome: Outcome) -> Band:
    """A mean or a difference on the scale of the report."""
    value, *ends = (outcome.shown(part) for part in band)
    return Band(value, np.minimum(*ends), np.maximum(*ends))
