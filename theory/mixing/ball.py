"""The largest value of a quadratic function on a Euclidean ball, with a proof that there is none larger.

q(w) = w'Hw/2 + b'w + c on |w| <= r, H symmetric of any signs. For every sigma >= 0 with sigma I - H positive
semidefinite and b in its range,

    q(w) <= c + b'(sigma I - H)^+ b/2 + sigma r^2/2     on the ball

and by the S-lemma the best such sigma attains the maximum. With H = V diag(h) V', the maximiser is
w = V diag(1/(sigma - h)) V'b with |w| = r (or sigma = 0 and |w| <= r), one equation in sigma. In the hard case, when b
has no part in the top eigenspace and w is too short there, sigma = h_max and a top eigenvector makes up the length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.mixing.inputs import FloatArray, finite, positive


@dataclass(frozen=True)
class BallMaximum:
    """The maximum of a quadratic function on a ball, between two bounds that agree up to rounding.

    Attributes:
        lower: the value at `point`.
        upper: the dual value at `sigma`, and a margin for its rounding.
        point: shape (d,), in the ball.
        sigma: the multiplier of |w|^2 <= r^2, times two; at least max(0, the largest eigenvalue of H).
        hard: whether a top eigenvector had to make up the length.
    """

    lower: float
    upper: float
    point: FloatArray
    sigma: float
    hard: bool


def maximise(H: ArrayLike, b: ArrayLike, c: float, radius: float) -> BallMaximum:
    """The maximum of w'Hw/2 + b'w + c over |w| <= radius.

    Args:
        H: shape (d, d), symmetric.
        b: shape (d,).
        c: a number.
        radius: positive.

    Raises:
        ValueError: an argument has another shape, or an entry outside its domain.
    """
    matrix, linear, bound = finite("H", H, 2), finite("b", b, 1), positive("radius", radius)
    constant = float(finite("c", [c], 1)[0])
    size = len(linear)
    if matrix.shape != (size, size) or not np.array_equal(matrix, matrix.T):
        raise ValueError(f"H is no symmetric {size} x {size} matrix")
    values, vectors = np.linalg.eigh(matrix)
    beta = vectors.T @ linear
    lowest = max(0.0, float(values[-1]))  # of sigma
    gaps = lowest - values  # sigma - h = gaps + theta, theta >= 0
    theta = _theta(gaps, beta, bound)
    shifted = gaps + theta
    free = shifted == 0
    coordinates = np.divide(beta, shifted, out=np.zeros(size), where=~free)
    missing = bound**2 - float(coordinates @ coordinates)
    # with sigma > 0 the length must be r; theta = 0 says that b alone does not reach it
    hard = bool(theta == 0 and lowest > 0 and missing > 0 and free.any())
    if hard:
        coordinates[int(np.flatnonzero(free)[-1])] = math.sqrt(missing)
    length = float(np.linalg.norm(coordinates))
    if length > bound:
        coordinates *= bound / length
    point = vectors @ coordinates
    length = float(np.linalg.norm(point))
    if length > bound:
        point *= bound / length
    sigma = lowest + theta
    squares = np.divide(beta**2, shifted, out=np.zeros(size), where=~free)
    value = float(point @ matrix @ point / 2 + linear @ point + constant)
    dual = constant + float(np.sum(squares)) / 2 + sigma * bound**2 / 2
    scale = abs(constant) + float(np.abs(values).max()) * bound**2 + float(np.linalg.norm(linear)) * bound
    margin = 8 * (size + 8) * np.finfo(float).eps * scale
    return BallMaximum(value, max(dual, value) + margin, point, sigma, hard)


def _theta(gaps: FloatArray, beta: FloatArray, radius: float) -> float:
    """The theta >= 0 for which the length |beta/(gaps + theta)| is `radius`, or 0 where it is below already.

    The length decreases in theta and is at most `radius` at theta = |beta|/radius: bisection, to the last bit.
    """

    def too_long(theta: float) -> bool:
        shifted = gaps + theta
        if ((shifted == 0) & (beta != 0)).any():
            return True
        with np.errstate(over="ignore"):
            steps = np.divide(beta, shifted, out=np.zeros(len(beta)), where=shifted != 0)
            return bool(np.linalg.norm(steps) > radius)

    if not too_long(0.0):
        return 0.0
    low, high = 0.0, float(np.linalg.norm(beta)) / radius
    while too_long(high):  # by rounding only
        high *= 2
    for _ in range(200):
        middle = math.sqrt(low * high) if low > 0 else high / 1024
        if not low < middle < high:
            break
        low, high = (middle, high) if too_long(middle) else (low, middle)
    return high
