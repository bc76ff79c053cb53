"""Tests of an expectation that may be looked at after every run, and stopped at any: confidence sequences.

Two of three sides are rigorous, for every number of runs and every law:

- E X > m, for X >= 0. A gambler stakes the share c of the capital on X being above m: the capital
  prod_i (1 + c (X_i/m - 1)) is non-negative for c in [0, 1], and a supermartingale as long as E X <= m. So is the mean
  over a fixed set of c. By Ville's inequality it ever reaches 1/level with probability at most `level`: no variance
  needs to exist, and nobody needs to say beforehand when to look.
- E X <= m, for X in [0, B] with a known B: the same game on B - X against B - m.

Where no B is known, nothing rigorous can be said about E X <= m (Bahadur and Savage, 1956: a law may hide any
expectation in an event too rare to be seen). `asymptotic_upper` is the time-uniform counterpart of the central limit
theorem. It is a weaker statement, and one that heavy tails make false: the runs of a second moment that diverges look
harmless until the rare run comes that does not. Figures: docs/calibration.md.

Sources: J. Ville, Etude critique de la notion de collectif (1939); I. Waudby-Smith and A. Ramdas, Estimating means of
bounded random variables by betting (JRSS B, 2024); H. Robbins, Statistical methods related to the law of the iterated
logarithm (1970), for the mixture; I. Waudby-Smith, D. Arbour, R. Sinha, E. Kennedy and A. Ramdas, Time-uniform central
limit theory and asymptotic confidence sequences (Annals of Statistics, 2024), for its use with estimated variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The shares of the capital that are staked; equal parts of the capital go to each. A share c suits a relative excess e
# of the mean when c is about e over the squared coefficient of variation; between neighbours (a factor of 1.36) at most
# 3 percent of the growth are lost. A share below 1 leaves every capital positive.
SHARES: Array = np.geomspace(1 / 1024, 63 / 64, 24)
# The first run at which the asymptotic limit is looked at, and the number of runs for which it is narrowest.
LEAST, NARROWEST = 256, 2048
# Runs multiplied before a logarithm is taken: (1/64)^64 is far inside the range of floats.
_BLOCK = 64
_LARGEST = 1e280

Guarantee = Literal["anytime", "asymptotic"]


@dataclass(frozen=True)
class Decision:
    """What was decided about E X <= m for all of C means at once, and when.

    Attributes:
        outcome: "fails" (one expectation is above its m), "holds" (none is), or None.
        runs: how many were used, in order; all of them when nothing was decided.
        case: the first of the means that is above its m; None unless it fails.
        guarantee: "anytime" for every law and every number of runs; "asymptotic"; None when nothing was decided.
    """

    outcome: Literal["fails", "holds"] | None
    runs: int
    case: int | None
    guarantee: Guarantee | None


def log_capital(values: ArrayLike, mean: float) -> Array:
    """Logarithm of the gambler's capital after each run, from a capital of 1; see the top of this module.

    It is a non-negative supermartingale (before the logarithm) if the runs are independent with E X <= `mean`, or have
    such conditional expectations. It does not depend on where a batch of runs ends, is invariant under scaling of
    values and mean together, falls as `mean` grows, and is infinite once E X <= mean is impossible (mean = 0 and a
    positive value, or mean < 0).

    Args:
        values: (..., n), non-negative and finite; each row a sequence of its own.
        mean: m, finite.

    Returns:
        (..., n).

    Raises:
        ValueError: naming the argument that is outside its domain.
    """
    x = _values(values)
    if not math.isfinite(mean):
        raise ValueError(f"mean={mean} is outside (-inf, inf)")
    if mean <= 0:
        impossible = np.logical_or.accumulate(x > 0, axis=-1) | (mean < 0)
        return np.where(impossible, np.inf, 0.0)
    # Whole blocks, filled up with runs that change nothing: then sums are in one order, however many runs there are.
    length = -(-x.shape[-1] // _BLOCK) * _BLOCK
    ratios = np.ones((*x.shape[:-1], length))
    with np.errstate(over="ignore"):
        ratios[..., : x.shape[-1]] = np.minimum(x / mean, _LARGEST)
    path = np.empty(ratios.shape)
    logs = np.zeros((*x.shape[:-1], len(SHARES)))  # of the capitals, one a share
    for first in range(0, length, _BLOCK):
        block = slice(first, first + _BLOCK)
        top = logs.max(axis=-1, keepdims=True)
        capitals = (ratios[..., None, block] - 1) * SHARES[:, None] + 1
        capitals[..., 0] *= np.exp(logs - top)
        with np.errstate(over="ignore", divide="ignore"):  # a capital may be nothing beside the largest one
            np.multiply.accumulate(capitals, axis=-1, out=capitals)
            path[..., block] = top + np.log(capitals.mean(axis=-2))
            logs = top + np.log(np.minimum(capitals[..., -1], _LARGEST))
    return path[..., : x.shape[-1]]


def lower_limit(values: ArrayLike, level: float) -> float:
    """The largest m that the runs refute: E X >= it, with probability at least 1 - level for all numbers of runs at
    once.

    Args:
        values: (n,), n >= 1, non-negative and finite, independent.
        level: in (0, 1).

    Returns:
        The m at which the capital is 1/level, from below to a relative 1e-9; 0 when no positive m is refuted.

    Raises:
        ValueError: naming the argument that is outside its domain.
    """
    x, wanted = _values(values), -math.log(_level(level))
    if x.ndim != 1:
        raise ValueError(f"values has shape {x.shape}, not (n,)")
    above = float(x.mean())  # at the sample mean, by concavity of the logarithm, no capital is above 1

    def refuted(m: float) -> bool:
        return bool(log_capital(x, m)[-1] >= wanted)

    below = above
    while below > 0 and not refuted(below):
        above, below = below, below / 4
        if below < float(x.mean()) * 1e-12:  # such a limit says no more than 0
            return 0.0
    while below > 0 and above > below * (1 + 1e-9):
        middle = math.sqrt(above) * math.sqrt(below)
        if not below < middle < above:
            break
        above, below = (above, middle) if refuted(middle) else (middle, below)
    return below


def asymptotic_upper(values: ArrayLike, level: float, *, least: int = LEAST) -> Array:
    """Upper limits of the expectation after each run, valid together in the limit of a large `least`.

    mean + sd sqrt(2 (n r^2 + 1)/(n^2 r^2) log(1 + sqrt(n r^2 + 1)/(2 level))), with the sample mean and standard
    deviation of n runs: Robbins' mixture over positive drifts, in one-sided form, with the variance estimated. r makes
    it narrowest near n = `NARROWEST`. It needs a finite variance, and enough runs for the central limit theorem to be
    felt: with rare large values no number that is fixed beforehand is enough.

    Args:
        values: (..., n), finite.
        level: in (0, 1).
        least: the limits before this number of runs are infinite; at least 2.

    Returns:
        (..., n).

    Raises:
        ValueError: naming the argument that is outside its domain.
    """
    x, level = _values(values, signed=True), _level(level)
    if isinstance(least, bool) or not isinstance(least, int) or least < 2:
        raise ValueError(f"least={least!r} is not an integer in [2, inf)")
    n = np.arange(1, x.shape[-1] + 1)
    limits = np.full(x.shape, np.inf)
    if x.shape[-1] < least:
        return limits
    shift = x[..., :1]
    sums, squares = np.cumsum(x - shift, axis=-1), np.cumsum((x - shift) ** 2, axis=-1)
    late, n = slice(least - 1, None), n[least - 1 :]
    means = sums[..., late] / n
    variances = np.maximum(squares[..., late] / n - means**2, 0) * n / (n - 1)
    limits[..., late] = shift + means + np.sqrt(variances) * _width(n, level)
    return limits


def _width(n: NDArray[np.int64], level: float) -> Array:
    """In standard deviations. The mixture 2 Phi(u) e^(u^2/2)/sqrt(v) exceeds 1/level where e^(u^2/2) is at least
    1 + sqrt(v)/(2 level), as (1 - Phi(u)) e^(u^2/2) <= 1/2 for u >= 0; v = n r^2 + 1."""
    twice = -2 * math.log(min(2 * level, 0.5))
    square = (twice + math.log(twice) + 1) / NARROWEST
    v = n * square + 1
    return np.sqrt(2 * v / (n.astype(float) ** 2 * square) * np.log(1 + np.sqrt(v) / (2 * level)))


def decide(
    values: ArrayLike,
    fails_above: ArrayLike,
    holds_below: ArrayLike,
    level: float,
    *,
    largest: ArrayLike | None = None,
    budget: int | None = None,
) -> Decision:
    """Decide from a sequence of runs whether C expectations are all at most their bounds.

    "fails" is wrong with probability at most `level`, whatever the law (each mean is tested at level/C). "holds" means
    that each of them is; as it takes a wrong decision about one of those that are not, it needs no such division. It is
    wrong with probability at most `level` where `largest` is known and decides, guarantee "anytime"; otherwise by
    `asymptotic_upper`, guarantee "asymptotic". Where both are tried each has level/2.

    An asymptotic "holds" is put off to the end of the budget where the rigorous one, at the speed at which its capital
    has grown so far, comes within the budget.

    The decision, and the number of runs that it takes, depend on the sequence alone and not on how much of it is
    given beyond that number, apart from a budget that is said to end with what is given (`budget` None).

    Args:
        values: (n,) or (n, C), non-negative and finite; row i is run i.
        fails_above: (C,) or a number, the m of "E X > m".
        holds_below: (C,) or a number, the m of "E X <= m". The same, but for what rounding may have done to the values.
        level: in (0, 1).
        largest: (C,) or a number, with values known (not: observed) to be in [0, largest]; infinite where it is not.
        budget: the number of runs that can be had; by default n.

    Raises:
        ValueError: naming the argument that is outside its domain.
    """
    x, level = _values(values), _level(level)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2:
        raise ValueError(f"values has shape {x.shape}, not (n,) or (n, C)")
    count, width = x.shape
    budget = count if budget is None else budget
    above, below = (np.broadcast_to(np.asarray(m, dtype=float), (width,)) for m in (fails_above, holds_below))
    bounds = np.broadcast_to(np.inf if largest is None else np.asarray(largest, dtype=float), (width,))
    fails, case, rigorous, soft, wait = math.inf, None, 0.0, 0.0, False
    for c in range(width):
        own = x[:, c]
        first = _first(log_capital(own, float(above[c])) >= -math.log(level / width))
        if first < fails:
            fails, case = first, c
        known = bool(np.isfinite(bounds[c]))
        share = level / 2 if known else level
        sure = math.inf
        capital: Array | None = None
        if known:
            capital = log_capital(bounds[c] - _bounded(own, float(bounds[c])), float(bounds[c] - below[c]))
            sure = _first(capital >= -math.log(share))
        likely = _first(asymptotic_upper(own, share) <= below[c])
        if likely < sure and capital is not None and math.isfinite(likely):
            grown = float(capital[int(likely) - 1])
            wait |= grown > 0 and likely * -math.log(share) / grown <= budget
        rigorous, soft = max(rigorous, sure), max(soft, min(sure, likely))
    held = rigorous if wait and soft < rigorous else soft
    if fails <= min(held, count):
        return Decision("fails", int(fails), case, "anytime")
    if held <= count:
        return Decision("holds", int(held), None, "anytime" if rigorous <= held else "asymptotic")
    if soft <= count and count >= budget:
        return Decision("holds", count, None, "asymptotic")
    return Decision(None, count, None, None)


def _first(reached: NDArray[np.bool_]) -> float:
    """The number of the first run, from 1, at which it is; infinite when it is not."""
    at = int(np.argmax(reached))
    return at + 1 if reached[at] else math.inf


def _bounded(x: Array, largest: float) -> Array:
    if not (math.isfinite(largest) and largest >= 0):
        raise ValueError(f"largest={largest} is outside [0, inf)")
    if x.max() > largest:
        raise ValueError(f"values reach {x.max():.6g}, outside [0, largest={largest:.6g}]")
    return x


def _level(level: float) -> float:
    if isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is outside (0, 1)")
    return float(level)


def _values(data: ArrayLike, *, signed: bool = False) -> Array:
    x = np.asarray(data, dtype=np.float64)
    if x.ndim < 1 or x.size == 0:
        raise ValueError(f"values has shape {x.shape}; it needs at least one run")
    bad = ~np.isfinite(x) if signed else ~(np.isfinite(x) & (x >= 0))
    if bad.any():
        raise ValueError(f"values has the entry {x[bad][0]}, outside {'(-inf, inf)' if signed else '[0, inf)'}")
    return x
