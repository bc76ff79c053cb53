"""Ridge logistic and softmax regression for kernels, in Triton: CLASSES = 1 (labels -1 and 1), or C (labels 0..C-1).

f_n(x) = ridge/2 |x|^2 + the mean over the client's samples (q, y) of log(1 + exp(-y x'q)), or of
log sum_c exp(x_c'q) - x_y'q with x row by row. Read as `sim.gpu.points` is. ``functions`` are the arrays that
`sim.generated.regressions` hands over (features, labels, x*, f* and the ridge), then how many clients and samples.
"""

# mypy: ignore-errors
# ruff: noqa: RUF005 (Triton has no unpacking)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import triton.language as tl

    from sim.gpu.points import divided, dot, everywhere, minus, plus_scaled

    D: Any = None
    CLASSES: Any = None


def logits(features, place, x):
    """The features of a sample, and by class their product with x."""
    width: tl.constexpr = D // CLASSES
    q = ()
    for i in tl.static_range(width):
        q = q + (tl.load(features + place * width + i),)
    found = ()
    for c in tl.static_range(CLASSES):
        total = x[c * width] * q[0]
        for i in tl.static_range(1, width):
            total = tl.fma(x[c * width + i], q[i], total)
        found = found + (total,)
    return q, found


def exponentials(z):
    """exp(z_c - max), the largest and the sum."""
    top = z[0]
    for c in tl.static_range(1, CLASSES):
        top = tl.where(z[c] > top, z[c], top)
    found = ()
    for c in tl.static_range(CLASSES):
        found = found + (tl.exp(z[c] - top),)
    total = found[0]
    for c in tl.static_range(1, CLASSES):
        total = total + found[c]
    return found, top, total


def errors(z, y):
    """The slopes of a sample's loss in its logits: softmax(z) - e_y, or -y/(1 + exp(y z))."""
    slopes = ()
    if CLASSES == 1:
        e = tl.exp(-tl.abs(z[0]))
        slopes = (-y * tl.where(y * z[0] >= 0, e, 1.0) / (1.0 + e),)
    else:
        e, _top, total = exponentials(z)
        scale = 1.0 / total
        for c in tl.static_range(CLASSES):
            slopes = slopes + (tl.fma(e[c], scale, tl.where(y == c, -1.0, 0.0).to(tl.float64)),)
    return slopes


def plus_loss_gradient(functions, total, place, x):
    """Total + the gradient of a sample's loss, without the ridge."""
    q, z = logits(functions[0], place, x)
    slopes = errors(z, tl.load(functions[1] + place))
    width: tl.constexpr = D // CLASSES
    found = ()
    for c in tl.static_range(CLASSES):
        for i in tl.static_range(width):
            found = found + (tl.fma(slopes[c], q[i], total[c * width + i]),)
    return found


def of_mean(functions, total, c, slope, x):
    """Total + c (ridge x + the slope)."""
    ridge = tl.load(functions[3] + 1)
    found = ()
    for i in tl.static_range(D):
        found = found + (tl.fma(tl.fma(x[i], ridge, slope[i]), c, total[i]),)
    return found


def plus_gradient(functions, total, n, x):
    slope = everywhere(x[0] * 0.0)
    for j in range(functions[5]):
        slope = plus_loss_gradient(functions, slope, n * functions[5] + j, x)
    return of_mean(functions, total, 1.0, divided(slope, tl.cast(functions[5], tl.float64)), x)


def gradient(functions, n, x):
    return plus_gradient(functions, everywhere(x[0] * 0.0), n, x)


def full_gradient(functions, x):
    total = everywhere(x[0] * 0.0)
    for n in range(functions[4]):
        total = plus_gradient(functions, total, n, x)
    return divided(total, tl.cast(functions[4], tl.float64))


def plus_sample_gradient(functions, total, c, n, index, x):
    slope = plus_loss_gradient(functions, everywhere(x[0] * 0.0), n * functions[5] + index, x)
    return of_mean(functions, total, c, slope, x)


def plus_sample_difference(functions, total, c, n, index, a, b):
    place = n * functions[5] + index
    none = everywhere(a[0] * 0.0)
    one = of_mean(functions, none, 1.0, plus_loss_gradient(functions, none, place, a), a)
    other = of_mean(functions, none, 1.0, plus_loss_gradient(functions, none, place, b), b)
    return plus_scaled(total, minus(one, other), c)


def log_of_one_plus(e):
    """log(1 + e) for e in [0, 1], to rounding: what is lost of e in the sum is put back by e over what is left."""
    more = 1.0 + e
    return tl.where(more == 1.0, e, tl.log(more) * (e / tl.where(more == 1.0, 1.0, more - 1.0)))


def loss(functions, place, x):
    _q, z = logits(functions[0], place, x)
    y = tl.load(functions[1] + place)
    if CLASSES == 1:
        u = y * z[0]
        found = tl.where(u < 0, -u, 0.0) + log_of_one_plus(tl.exp(-tl.abs(u)))
    else:
        _e, top, total = exponentials(z)
        own = z[0] * 0.0
        for c in tl.static_range(CLASSES):
            own = own + tl.where(y == c, z[c] - top, 0.0)
        found = tl.log(total) - own
    return found


def cost(functions, x):
    total = x[0] * 0.0
    for n in range(functions[4]):
        of_client = x[0] * 0.0
        for j in range(functions[5]):
            of_client = of_client + loss(functions, n * functions[5] + j, x)
        total = total + of_client / tl.cast(functions[5], tl.float64)
    return tl.fma(dot(x, x), tl.load(functions[3] + 1) / 2.0, total / tl.cast(functions[4], tl.float64))


def suboptimality(functions, x):
    return cost(functions, x) - tl.load(functions[3])


def squared_gradient_norm(functions, x):
    slope = full_gradient(functions, x)
    return dot(slope, slope)


def squared_distance(functions, x):
    total = x[0] * 0.0
    for i in tl.static_range(D):
        away = x[i] - tl.load(functions[2] + i)
        total = tl.fma(away, away, total)
    return total


def squared_iterate_norm(functions, x):
    return dot(x, x)
