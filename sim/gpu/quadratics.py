"""Quadratics for kernels, in Triton: f_ni(x) = x'Hx/2 - b'x; with FEATURES f_ni(x) = (q'x - y)^2.

Read as `sim.gpu.points` is. ``functions`` are the arrays that `sim.generated.functions` hands over (H_n, b_n, H, b, x*,
f*, and the samples'), then the number of samples.
"""

# mypy: ignore-errors
# ruff: noqa: RUF005 (Triton has no unpacking)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import triton.language as tl

    from sim.gpu.points import dot, minus, plus_scaled

    D: Any = None
    FEATURES: Any = None


def affine(h, b, x):
    found = ()
    for i in tl.static_range(D):
        total = -tl.load(b + i)
        for j in tl.static_range(D):
            total = tl.fma(x[j], tl.load(h + (i * D + j)), total)
        found = found + (total,)
    return found


def times(h, x):
    found = ()
    for i in tl.static_range(D):
        total = x[0] * tl.load(h + i * D)
        for j in tl.static_range(1, D):
            total = tl.fma(x[j], tl.load(h + (i * D + j)), total)
        found = found + (total,)
    return found


def gradient(functions, n, x):
    return affine(functions[0] + n * (D * D), functions[1] + n * D, x)


def full_gradient(functions, x):
    return affine(functions[2], functions[3], x)


def row(functions, n, index):
    width = (D + 2) // 2 * 2
    at = functions[6] + (n * functions[8] + index) * width
    q = ()
    for i in tl.static_range(D):
        q = q + (tl.load(at + i),)
    return q, tl.load(at + D)


def plus_sample_gradient(functions, total, c, n, index, x):
    if FEATURES:
        q, y = row(functions, n, index)
        found = plus_scaled(total, q, (dot(q, x) - y) * (2.0 * c))
    else:
        place = n * functions[8] + index
        slope = times(functions[6] + place * (D * D), x)
        moved = ()
        for i in tl.static_range(D):
            moved = moved + (slope[i] - tl.load(functions[7] + place * D + i),)
        found = plus_scaled(total, moved, c)
    return found


def plus_sample_difference(functions, total, c, n, index, a, b):
    if FEATURES:
        q, _y = row(functions, n, index)
        found = plus_scaled(total, q, dot(q, minus(a, b)) * (2.0 * c))
    else:
        found = plus_scaled(total, times(functions[6] + (n * functions[8] + index) * (D * D), minus(a, b)), c)
    return found


def prox(functions, n, inverse, weight, v):
    """(H_n + weight I)^-1 (b_n + weight v)."""
    right = ()
    for i in tl.static_range(D):
        right = right + (tl.fma(v[i], weight, tl.load(functions[1] + n * D + i)),)
    return times(inverse + n * (D * D), right)


def away(functions, x):
    found = ()
    for i in tl.static_range(D):
        found = found + (x[i] - tl.load(functions[4] + i),)
    return found


def suboptimality(functions, x):  # (x - x*)'H(x - x*)/2 keeps its digits near x*
    gap = away(functions, x)
    return dot(times(functions[2], gap), gap) * 0.5


def cost(functions, x):
    return suboptimality(functions, x) + tl.load(functions[5])


def squared_gradient_norm(functions, x):
    slope = full_gradient(functions, x)
    return dot(slope, slope)


def squared_distance(functions, x):
    gap = away(functions, x)
    return dot(gap, gap)


def squared_iterate_norm(functions, x):
    return dot(x, x)
