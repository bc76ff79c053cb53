"""Local steps of softmax and logistic regression, in the Python that numba compiles.

One run and one slot at a time: the model, its gradient and a minibatch stay in the first-level cache. A minibatch is
gathered with the samples as the innermost axis, over which the loops become vectors; it is filled up to whole vectors
with samples that are 0, which add nothing to a gradient. A run shares nothing with other runs, hence its result does
not depend on them.

Shapes: M samples of all clients, F features, C classes (1: logistic regression, with labels -1 and 1), S slots, R runs,
d = C F coordinates, B samples of a minibatch, V = B filled up. numba is imported by `compiled` alone, which compiles
the functions in `EXACT` operation by operation, and those in `SUMS` with sums in an order that suits the vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sim.kernels.logistic_steps import exponential

VECTOR = 4  # numbers in a vector


def gather(features: Any, labels: Any, rows: Any, x: Any, y: Any) -> None:
    """x[:, j] = features[rows[j]] and y[j] = labels[rows[j]]. rows and y (B,), x (F, V)."""
    for j in range(len(rows)):
        row = rows[j]
        y[j] = labels[row]
        for i in range(len(x)):
            x[i, j] = features[row, i]


def logits(w: Any, x: Any, z: Any) -> None:
    """z = W x. w (C F,), x (F, V), z (C, V)."""
    inputs, width = x.shape
    for c in range(len(z)):
        zc = z[c]
        for j in range(width):
            zc[j] = 0.0
        for i in range(inputs):
            wi, xi = w[c * inputs + i], x[i]
            for j in range(width):
                zc[j] += wi * xi[j]


def softmax_errors(z: Any, y: Any, top: Any, total: Any) -> None:
    """z becomes softmax(z) - e_y. z (C, V), y (B,); top and total (V,) are overwritten."""
    width = len(top)
    for j in range(width):
        top[j] = z[0, j]
        total[j] = 0.0
    for c in range(1, len(z)):
        zc = z[c]
        for j in range(width):
            top[j] = zc[j] if zc[j] > top[j] else top[j]
    for c in range(len(z)):
        zc = z[c]
        for j in range(width):
            zc[j] = exponential(zc[j] - top[j])
            total[j] += zc[j]
    for j in range(width):
        total[j] = 1.0 / total[j]
    for c in range(len(z)):
        zc = z[c]
        for j in range(width):
            zc[j] *= total[j]
    for j in range(len(y)):
        z[y[j], j] -= 1.0


def logistic_errors(z: Any, y: Any) -> None:
    """z becomes -y / (1 + exp(y z)), y = -1 or 1. z (1, V), y (B,)."""
    zc = z[0]
    for j in range(len(y)):
        u = y[j] * zc[j]
        e = exponential(-abs(u))
        zc[j] = -y[j] * (e if u >= 0 else 1.0) / (1.0 + e)


def add_up(z: Any, x: Any, g: Any) -> None:
    """g = sum_j z_j x_j'. z (C, V), x (F, V), g (C F,)."""
    inputs, width = x.shape
    for c in range(len(z)):
        zc = z[c]
        for i in range(inputs):
            xi, total = x[i], 0.0
            for j in range(width):
                total += zc[j] * xi[j]
            g[c * inputs + i] = total


def squared_norm(g: Any) -> float:
    """||g||^2."""
    result = 0.0
    for i in range(len(g)):
        result += g[i] * g[i]
    return result


def mean_gradient(w: Any, ridge: float, minibatch: Any, g: Any, space: Any) -> None:
    """g = ridge w + the mean gradient of the losses at w. w and g (C F,); space: arrays (C, V), (V,), (V,)."""
    x, y = minibatch
    z, top, total = space
    logits(w, x, z)
    if len(z) == 1:
        logistic_errors(z, y)
    else:
        softmax_errors(z, y, top, total)
    add_up(z, x, g)
    share = 1.0 / len(y)
    for i in range(len(g)):
        g[i] = share * g[i] + ridge * w[i]


def take(data: Any, picked: Any, numbers: Any, shift: Any, ahead: Any, models: Any, live: int) -> None:
    """The steps of a `sim.kernels.local_steps.LocalSteps`, in place.

    Args:
        data: features (M, F), labels (M,), ridge, C.
        picked: (J, S, R), samples in 0..M-1; those of step m are m batch, ..., m batch + batch - 1 of the J.
        numbers: steps, batch, scale, decay, radius.
        shift, ahead: (S, d, R), (1, d, R), or (0, 0, 0) for none.
        models: (S, d, R); those of the first `live` runs are updated.
        live: in 1..R.
    """
    features, labels, ridge, classes = data
    steps, batch, scale, decay, radius = numbers
    slots, dim, _ = models.shape
    width = (batch + VECTOR - 1) // VECTOR * VECTOR
    x, y, rows = np.zeros((features.shape[1], width)), np.empty(batch, np.int64), np.empty(batch, np.int64)
    space = (np.empty((classes, width)), np.empty(width), np.empty(width))
    w, point, g = np.empty(dim), np.empty(dim), np.empty(dim)
    pull, look = np.zeros(dim), np.zeros(dim)
    for s in range(slots):
        for r in range(live):
            for i in range(dim):
                w[i] = models[s, i, r]
            if len(shift) > 0:
                for i in range(dim):
                    pull[i] = shift[min(s, len(shift) - 1), i, r]
            if len(ahead) > 0:
                for i in range(dim):
                    look[i] = ahead[min(s, len(ahead) - 1), i, r]
            for m in range(steps):
                for b in range(batch):
                    rows[b] = picked[m * batch + b, s, r]
                gather(features, labels, rows, x, y)
                for i in range(dim):
                    point[i] = w[i] - look[i]
                if radius > 0:
                    mean_gradient(point, ridge, (x, y), g, space)
                    # where all of g is 0, g over the smallest normal number is 0 too
                    length = max(np.sqrt(squared_norm(g)), 2.0**-1022)
                    for i in range(dim):
                        point[i] += radius * (g[i] / length)
                mean_gradient(point, ridge, (x, y), g, space)
                for i in range(dim):
                    w[i] = decay * w[i] + pull[i] - scale * g[i]
            for i in range(dim):
                models[s, i, r] = w[i]


EXACT: tuple[Callable[..., Any], ...] = (exponential, gather, logits, softmax_errors, logistic_errors, mean_gradient)
SUMS: tuple[Callable[..., Any], ...] = (add_up, squared_norm)


@lru_cache(maxsize=1)
def compiled() -> Callable[..., None]:
    """`take` as machine code: read from numba's cache on disk, or compiled (seconds) and kept there.

    Raises:
        ImportError: when numba is missing.
    """
    from numba import njit, types
    from numba.extending import register_jitable

    def array(kind: Any, axes: int, readonly: bool = True) -> Any:
        return types.Array(kind, axes, "C", readonly=readonly)

    for function in EXACT:
        register_jitable(fastmath={"contract"}, error_model="numpy")(function)
    for function in SUMS:
        # sums may be reordered, once and for all when they are compiled; nan and inf keep their meaning
        register_jitable(fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")(function)
    real, integer = types.float64, types.int64
    data = types.Tuple((array(real, 2), array(integer, 1), real, integer))
    numbers = types.Tuple((integer, integer, real, real, real))
    pull = array(real, 3)
    signature = types.void(data, array(integer, 3), numbers, pull, pull, array(real, 3, False), integer)
    options = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
    try:
        return njit(signature, cache=True, **options)(take)
    except RuntimeError:  # there is no directory that the cache could be written to
        return njit(signature, **options)(take)
