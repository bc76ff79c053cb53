"""From the clients' gradients to mixing weights: z_ij = |g_i - g_j|^2 (Deng et al., Definition 2, equation (2))."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.mixing.inputs import FloatArray, finite, index

BLOCK = 2**23
"""Numbers that a block of temporary arrays holds: 64 MB."""

CANCELLED = 1e-3
"""Below this fraction of |g_i|^2 + |g_j|^2 the Gram formula has lost three digits, and differences are taken."""


def discrepancies(gradients: ArrayLike, client: int | None = None) -> FloatArray:
    """The squared distances z_ij = |g_i - g_j|^2 between the rows of `gradients`.

    Products of matrices give |g_i|^2 + |g_j|^2 - 2 g_i'g_j of the rows less their mean, block by block; the pairs for
    which that cancels are computed again from their difference. Relative errors stay near d roundings / CANCELLED.

    Args:
        gradients: shape (N, d).
        client: whose distances to all are wanted; None for everybody's.

    Returns:
        Shape (N, N), symmetric with a zero diagonal; for one client shape (N,), from differences alone.

    Raises:
        ValueError: `gradients` is no matrix of finite numbers, `client` none of its rows, or a distance overflows.
    """
    rows = finite("gradients", gradients, 2)
    one = None if client is None else index("client", client, len(rows))
    largest = float(np.abs(rows).max())
    if largest == 0:
        return np.zeros(len(rows) if one is not None else (len(rows), len(rows)))
    exponent = math.frexp(largest)[1]  # a power of two scales without rounding, and keeps squares in range
    rows = np.ldexp(rows, -exponent)
    scaled = _from_one(rows, one, slice(0, len(rows))) if one is not None else _from_all(rows)
    with np.errstate(over="ignore"):
        result = np.ldexp(scaled, 2 * exponent)
    if not np.isfinite(result).all():
        raise ValueError(f"gradients: the square of an entry as large as {largest:g} is beyond float64")
    return np.asarray(result)


def _from_one(rows: FloatArray, i: int, others: slice) -> FloatArray:
    """The squared distances of row i to `others`, from differences, block by block."""
    chosen = rows[others]
    result = np.empty(len(chosen))
    size = max(1, BLOCK // rows.shape[1])
    for start in range(0, len(chosen), size):
        difference = chosen[start : start + size] - rows[i]
        result[start : start + size] = np.einsum("jk,jk->j", difference, difference)
    return result


def _from_all(rows: FloatArray) -> FloatArray:
    """All squared distances."""
    centred = rows - rows.mean(axis=0)
    norms = np.einsum("jk,jk->j", centred, centred)
    count = len(rows)
    result = np.empty((count, count))
    size = max(1, BLOCK // count)
    for start in range(0, count, size):
        block = slice(start, start + size)
        scale = norms[block, None] + norms
        np.subtract(scale, 2 * (centred[block] @ centred.T), out=result[block])
        cancelled = result[block] < CANCELLED * scale
        for i, row in enumerate(cancelled, start):
            again = np.flatnonzero(row[i + 1 :]) + i + 1
            for part in range(0, len(again), max(1, BLOCK // rows.shape[1])):
                chosen = again[part : part + max(1, BLOCK // rows.shape[1])]
                difference = rows[chosen] - rows[i]
                result[i, chosen] = np.einsum("jk,jk->j", difference, difference)
    upper = np.triu(result, 1)
    return upper + upper.T
