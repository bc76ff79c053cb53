"""Axes of small charts: which values they show, where their ticks are, and what is written at them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from validate.report.readable import SUPERSCRIPTS

Array = np.ndarray

SPAN = 30.0
"""Positive values whose largest is more than this many times their smallest go on a logarithmic axis."""
NARROW = 1e-6
"""Values that differ by less, relative to the largest, are drawn as constant."""


@dataclass(frozen=True)
class Axis:
    """A range of values on a range of pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, values: Array) -> Array:
        """Pixels; not a number for what is not finite, and for what a logarithmic axis does not have."""
        with np.errstate(all="ignore"):
            shown = np.log10(np.where(values > 0, values, np.nan)) if self.log else np.asarray(values, dtype=float)
            low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
            share = np.clip((shown - low) / (high - low), 0.0, 1.0)
        return np.where(np.isfinite(values), self.start + share * (self.end - self.start), np.nan)

    def ticks(self, most: int) -> list[float]:
        """Round values on it, at most `most` of them and at least one."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, math.ceil((last - first + 1) / most))
            first = math.ceil(first / step) * step
            return [float(f"1e{power}") for power in range(first, last + 1, step)]
        raw = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(raw))
        apart = next((m * unit for m in (1, 2, 5, 10) if m * unit >= raw * (1 - 1e-9)), 10 * unit)
        found = np.arange(math.ceil(self.low / apart - 1e-9), math.floor(self.high / apart + 1e-9) + 1) * apart
        return [float(f"{value:.12g}") for value in found]


def axis(values: Array, start: float, end: float, *, log: bool | None = None, whole: bool = False) -> Axis:
    """The axis on which the finite values fit.

    Args:
        values: any shape; what is not finite is left out.
        start: pixel of the least value.
        end: pixel of the largest.
        log: logarithmic or not; without, where all values but zeros are positive and span more than `SPAN`.
        whole: the values are shown from edge to edge, without a margin.
    """
    known = np.unique(values[np.isfinite(values)])
    positive = known[known > 0]
    if log is None:
        log = bool(len(positive) > 1 and known.min() >= 0 and positive[-1] / SPAN > positive[0])
    if log and len(positive):
        low, high = float(positive[0]), float(positive[-1])
        # a decade at least, so that there is a tick
        spare = 0.0 if whole else 0.04 * max(math.log10(high) - math.log10(low), 1.0)
        low, high = max(low / 10**spare, 5e-324), min(high * 10**spare, 1.7e308)
        return Axis(low, high, start, end, True) if high > low else Axis(low / 2, high * 2, start, end, True)
    # a picture of numbers near the largest that there are needs no margin that they have not
    low, high = (max(float(known[0]), -1e300), min(float(known[-1]), 1e300)) if len(known) else (0.0, 1.0)
    if high - low <= NARROW * max(abs(low), abs(high)):  # constant, up to rounding
        low, high = (min(low, 0.0), max(high, 0.0)) if low or high else (0.0, 1.0)
    elif not whole and 0 < low < high / 2:
        low = 0.0
    spare = 0.0 if whole else 0.05 * (high - low)
    return Axis(low - spare if low else 0.0, high + spare if high else 0.0, start, end, False)


def tick_labels(ticks: Sequence[float], log: bool) -> tuple[list[str], str]:
    """The labels of an axis, and the power of ten that they are all multiples of, if there is one ("×10⁻⁴").

    On a logarithmic axis a number that is not short is a power of ten itself.
    """
    if log:
        powers = [round(math.log10(tick)) for tick in ticks]
        short = all(-3 <= power <= 3 for power in powers)
        return [f"{t:g}" if short or p in (0, 1) else f"10{_raised(p)}" for t, p in zip(ticks, powers, strict=True)], ""
    largest = max((abs(tick) for tick in ticks), default=0.0)
    power = math.floor(math.log10(largest)) if largest else 0
    if -3 <= power <= 4:
        return [f"{tick:.7g}".replace("-", "−") for tick in ticks], ""
    return [f"{tick / 10.0**power:.7g}".replace("-", "−") for tick in ticks], f"×10{_raised(power)}"


def _raised(power: int) -> str:
    return str(power).translate(SUPERSCRIPTS)
