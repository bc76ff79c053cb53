"""Means, variances, ratios and medians over runs, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from validate.experiment import Array, Band, Estimate


def quantile(confidence: float) -> float:
    """The two-sided standard normal quantile, such as 2.576 for 0.99.

    Raises:
        ValueError: unless 0 < confidence < 1.
    """
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is outside (0, 1)")
    return -float(ndtri((1 - confidence) / 2))


def mean_band(values: Array, confidence: float = 0.99) -> Band:
    """The mean over runs with its pointwise normal band. values: shape (R, ...)."""
    mean = values.mean(axis=0)
    half = quantile(confidence) * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return Band(mean, mean - half, mean + half)


def variance_band(values: Array, confidence: float = 0.99) -> Band:
    """The variance over runs with its pointwise band, by the delta method for log s^2. values: shape (R, ...).

    Var(s^2) is (m4 - s^4)/R to first order; taking logarithms keeps the band positive. A variance of 0 has the band
    [0, 0].
    """
    centred = values - values.mean(axis=0)
    variance = (centred**2).sum(axis=0) / (len(values) - 1)
    positive = np.where(variance > 0, variance, 1.0)
    kurtosis = ((centred / np.sqrt(positive)) ** 4).mean(axis=0)
    half = quantile(confidence) * np.sqrt(np.maximum(kurtosis - 1, 0) / len(values))
    return Band(variance, variance * np.exp(-half), variance * np.exp(half))


def ratio(numerator: Band, denominator: Band, at: int) -> Estimate:
    """The ratio of two independent positive estimates at one round; the interval by the delta method for the log.

    The half-widths of the logarithms are taken from the bands' upper ends, and add in squares.
    """
    value = float(numerator.value[at] / denominator.value[at])
    widths = [math.log(b.upper[at] / b.value[at]) for b in (numerator, denominator)]
    half = math.hypot(*widths)
    return Estimate(value, value * math.exp(-half), value * math.exp(half))


def distances_from_mean(final: Array) -> Array:
    """Distance of each final iterate from their mean, shape (R, d) -> (R,)."""
    return np.asarray(np.linalg.norm(final - final.mean(axis=0), axis=1))


def circular_error(final: Array) -> float:
    """CEP as the paper defines it: the median distance of the final iterates from their mean, in all d coordinates."""
    return float(np.median(distances_from_mean(final)))


def median_interval(values: Sequence[float] | Array, confidence: float = 0.99) -> Estimate:
    """The median with the distribution-free interval between two order statistics.

    The number of values below the true median is Binomial(R, 1/2), so the coverage is at least `confidence` for any
    continuous distribution.

    Raises:
        ValueError: when there are too few values for an interval of that confidence.
    """
    from scipy.stats import binom

    quantile(confidence)
    ordered = np.sort(np.asarray(values, dtype=float))
    count = len(ordered)
    below = int(binom.ppf((1 - confidence) / 2, count, 0.5)) - 1
    # ppf gives the least j with P(X <= j) >= q: one less has P(X <= j) < q, and the interval starts above it
    if below < 0:
        raise ValueError(f"values has {count} entries, too few for a median interval of confidence {confidence}")
    return Estimate(float(np.median(ordered)), float(ordered[below]), float(ordered[count - 1 - below]))


def group_spread(final: Array, size: int, share: float = 0.9) -> Estimate:
    """What the CEP from only `size` runs can be: the median and the central `share` over disjoint groups of runs.

    Raises:
        ValueError: when there are fewer than two groups.
    """
    groups = len(final) // size
    if groups < 2:
        raise ValueError(f"size={size} leaves fewer than two groups of {len(final)} runs")
    radii = [circular_error(final[g * size : (g + 1) * size]) for g in range(groups)]
    low, middle, high = np.quantile(radii, [(1 - share) / 2, 0.5, (1 + share) / 2])
    return Estimate(float(middle), float(low), float(high))


def principal_plane(*clouds: Array) -> tuple[Array, ...]:
    """Every cloud of points, shape (R, d), in the first two principal components of them all, centred on its own mean.

    With d = 1 the second coordinate is 0. The signs are fixed, so that the picture is the same on every machine.
    """
    pooled = np.concatenate([cloud - cloud.mean(axis=0) for cloud in clouds])
    _, _, axes = np.linalg.svd(pooled, full_matrices=False)
    axes = axes[:2] * np.sign(axes[:2][np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    flat = [(cloud - cloud.mean(axis=0)) @ axes.T for cloud in clouds]
    return tuple(np.pad(f, ((0, 0), (0, 2 - f.shape[1]))) for f in flat)


def largest_deviation(values: Array, exact: Array) -> tuple[float, int]:
    """How far a Monte Carlo mean is from the exact expectation: (standard errors, round) where it is worst.

    Rounds without spread (the start) are left out. values: shape (R, K+1); exact: shape (K+1,).

    Raises:
        ValueError: when the shapes disagree, or nothing has spread.
    """
    if values.shape[1:] != np.shape(exact):
        raise ValueError(f"exact has shape {np.shape(exact)}, the runs have {values.shape[1:]}")
    error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    spread = error > 1e-14 * np.abs(exact)
    if not spread.any():
        raise ValueError("values has no spread at any round")
    z = np.zeros(len(error))
    z[spread] = (values.mean(axis=0) - np.asarray(exact, dtype=float))[spread] / error[spread]
    worst = int(np.abs(z).argmax())
    return float(z[worst]), worst


def change(band: Band, early: int, late: int) -> Estimate:
    """The ratio of a band at two rounds, which are far enough apart to count as independent."""
    return ratio(Band(*(part[late:] for part in band)), Band(*(part[early:] for part in band)), 0)


def rounds_above(one: Band, other: Band) -> list[int]:
    """The rounds from 1 on at which one is above the other, with the whole interval of the ratio."""
    return [k for k in range(1, len(one.value)) if ratio(other, one, k).upper < 1]


def rounds_in_words(rounds: list[int]) -> str:
    """Rounds as "round 3", "rounds 1 to 4", or how many of them lie between the first and the last."""
    if len(rounds) == 1:
        return f"round {rounds[0]}"
    if rounds[-1] - rounds[0] + 1 == len(rounds):
        return f"rounds {rounds[0]} to {rounds[-1]}"
    return f"{len(rounds)} rounds between {rounds[0]} and {rounds[-1]}"
