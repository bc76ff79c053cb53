"""Curves that are to reach a stable value: whether they do, when, and in what order they end.

Curves are (R, K+1): R runs, of rounds 0..K. The end is the last fifth of the rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Array, Estimate
from validate.experiments.sentences import BORNE_OUT, NOT_BORNE_OUT, OPEN, judged
from validate.experiments.statistics import mean_band

STABLE = 0.02
"""A curve counts as stable when its mean over the last fifth is within so much of that over the fifth before."""
SETTLED = 0.05
"""It has settled from the round on after which it is never clearly more than so much off its end."""
SAME = 2
"""Curves that settle within so many rounds of each other settle alike."""
NOT_EVERYWHERE = f"{NOT_BORNE_OUT} everywhere"


class Ordering(NamedTuple):
    """Pairs, as (larger by the paper, smaller by the paper), sorted by what the intervals say."""

    agree: tuple[tuple[str, str], ...] = ()
    against: tuple[tuple[str, str], ...] = ()
    open: tuple[tuple[str, str], ...] = ()


def tail(values: Array) -> Array:
    """(R, P), the last fifth of the rounds."""
    return values[:, -_fifth(values) :]


def stationary(values: Array) -> Array:
    """(R,), the mean over it, of each run."""
    return np.asarray(tail(values).mean(axis=1))


def estimate(values: Array) -> Estimate:
    """The mean of independent values (R,) with its 99% interval (normal)."""
    return Estimate(*(float(part) for part in mean_band(values)))


def change(values: Array) -> Estimate:
    """The last fifth of the rounds over the fifth before, minus 1."""
    size = _fifth(values)
    before, after = values[:, -2 * size : -size].mean(axis=1), stationary(values)
    return Estimate(*(part / float(before.mean()) for part in estimate(after - before)))


def stability(values: Array) -> str:
    """Whether a curve has a stable value; not settled where the interval of `change` is too wide."""
    found = change(values)
    return judged(found.lower > -STABLE and found.upper < STABLE, found.upper < -STABLE or found.lower > STABLE)


def settled(values: Array) -> int | None:
    """The round from which the mean over runs stays near its end; None where that is not stable."""
    band, end = mean_band(values), float(stationary(values).mean())
    away = np.flatnonzero((band.lower > (1 + SETTLED) * end) | (band.upper < (1 - SETTLED) * end))
    first = int(away[-1]) + 1 if len(away) else 0
    return first if stability(values) != NOT_BORNE_OUT and first <= values.shape[1] - _fifth(values) else None


def ordering(pairs: Iterable[tuple[str, str]], ends: dict[str, Array]) -> Ordering:
    """Which pairs differ as claimed, by paired differences of their ends (R,)."""
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for large, small in pairs:
        gap = estimate(ends[large] - ends[small])
        found[0 if gap.lower > 0 else 1 if gap.upper < 0 else 2].append((large, small))
    return Ordering(*map(tuple, found))


def neighbours(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each with the next."""
    return list(pairwise(names))


def ordered(found: Ordering) -> str:
    """Whether an ordering is borne out, in words."""
    if found.against:
        pairs = ", ".join(f"{small} is above {large}" for large, small in found.against)
        return f"{NOT_EVERYWHERE if found.agree else NOT_BORNE_OUT}: {pairs}"
    return OPEN if found.open else BORNE_OUT


def faster(names: Sequence[str], curves: Sequence[Array]) -> tuple[str, str]:
    """The rounds at which curves settle, and whether each settles no later than the one before it."""
    times = [settled(values) for values in curves]
    told = ", ".join(f"{'not settled' if t is None else t} ({n})" for n, t in zip(names, times, strict=True))
    late = [float("inf") if t is None else float(t) for t in times]
    slower = [
        f"{b} settles later than {a}" for (a, s), (b, t) in pairwise(zip(names, late, strict=True)) if t > s + SAME
    ]
    answer = f"{NOT_EVERYWHERE}: {', '.join(slower)}" if slower else BORNE_OUT
    return f"settled at round {told}", OPEN if times.count(None) > 1 else answer


def _fifth(values: Array) -> int:
    return max(1, (values.shape[1] - 1) // 5)
