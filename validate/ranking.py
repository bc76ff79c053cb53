"""Methods compared run by run: simultaneous intervals for paired differences, and which ranks a method can have.

Values are (R, M): R runs, in each of which all M methods met the same data and the same random numbers. Runs that come
in D blocks of equal size (one a data set, say) are independent within each block; the intervals are then for the mean
over these D blocks, and say nothing of others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from validate.experiment import Band

Array = np.ndarray


class Ranks(NamedTuple):
    """The ranks of M methods, 1 the best (the least mean), each (M,).

    Attributes:
        rank: by the means.
        lowest: the best rank that the confidence set holds.
        highest: the worst.
    """

    rank: Array
    lowest: Array
    highest: Array


def differences(values: Array, reference: int, confidence: float = 0.99, blocks: int = 1) -> Band:
    """Mean differences of every method to one of them, with simultaneous Student intervals (Bonferroni).

    Args:
        values: (R, M), R >= 2, finite.
        reference: the column that is subtracted; its own difference is 0 with the interval [0, 0].
        confidence: of all M - 1 intervals together.
        blocks: D, a divisor of R below it.

    Raises:
        ValueError: for other shapes or values, or a confidence outside (0, 1).
    """
    checked = _checked(values, confidence)
    gaps = checked - checked[:, [reference]]
    return _student(gaps, (1 - confidence) / max(1, checked.shape[1] - 1), blocks)


def ranks(values: Array, confidence: float = 0.99, blocks: int = 1) -> Ranks:
    """The ranks by the mean, and a confidence set for all the ranks together.

    All M (M - 1)/2 mean differences get simultaneous Student intervals (Bonferroni). Where they all hold, a method
    ranks behind every one that is better for certain, and before every one that is worse for certain.

    Source: Mogstad, Romano, Shaikh, Wilhelm, "Inference for Ranks with Applications to Mobility across Neighbourhoods
    and Academic Achievement across Countries" (2024), the simultaneous sets of section 3, with Bonferroni's critical
    value in place of the bootstrap's.

    Args:
        values: (R, M), R >= 2, finite; less is better.
        confidence: that every method's true rank lies in its set.
        blocks: as in `differences`.

    Raises:
        ValueError: as `differences`.
    """
    checked = _checked(values, confidence)
    number = checked.shape[1]
    gaps = checked[:, :, None] - checked[:, None, :]
    band = _student(gaps, (1 - confidence) / max(1, number * (number - 1) // 2), blocks)
    order = np.argsort(checked.mean(axis=0), kind="stable")
    rank = np.empty(number, dtype=int)
    rank[order] = np.arange(1, number + 1)
    return Ranks(rank, 1 + (band.lower > 0).sum(axis=1), number - (band.upper < 0).sum(axis=1))


def student_band(values: Array, confidence: float = 0.99, blocks: int = 1) -> Band:
    """The mean over runs with its pointwise Student band. values: (R, ...); blocks: as in `differences`.

    Raises:
        ValueError: as `differences`.
    """
    return _student(np.asarray(values, dtype=float), 1 - confidence, blocks)


def _student(values: Array, error: float, blocks: int) -> Band:
    """Means over the first axis with intervals that miss with the two-sided probability `error`, each.

    The variance is that within blocks, with R - D degrees of freedom.
    """
    from scipy.stats import t

    count = len(values)
    if not 1 <= blocks < count or count % blocks:
        raise ValueError(f"blocks={blocks} is not a divisor of the {count} runs below them")
    parts = values.reshape(blocks, count // blocks, *values.shape[1:])
    squares = np.square(parts - parts.mean(axis=1, keepdims=True)).sum(axis=(0, 1))
    mean = values.mean(axis=0)
    half = float(t.isf(error / 2, count - blocks)) * np.sqrt(squares / (count - blocks) / count)
    return Band(mean, mean - half, mean + half)


def _checked(values: Array, confidence: float) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim != 2 or len(array) < 2 or array.shape[1] < 1:
        raise ValueError(f"values has shape {array.shape}, not (R, M) with R >= 2 and M >= 1")
    if not np.isfinite(array).all():
        raise ValueError("values has entries outside the finite numbers")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is outside (0, 1)")
    return array
