"""Linear algebra that stays rational: elimination, definiteness, eigenvalues, the minimum of a quadratic.

Arrays of dtype object hold `fractions.Fraction` and are treated exactly; float64 arrays go to LAPACK.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import to_float

Array = NDArray[Any]


def _is_diagonal(matrices: Array) -> bool:
    d = matrices.shape[-1]
    return d == 1 or not np.any(matrices[..., ~np.eye(d, dtype=bool)] != 0)


def eigenvalues(matrices: Array) -> Array:
    """Eigenvalues of symmetric matrices.

    Args:
        matrices: (..., d, d), float64 or fractions.

    Returns:
        (..., d), ascending. Fractions when the matrices hold fractions and are diagonal (always so for d = 1);
        else float64.
    """
    if matrices.dtype == object and _is_diagonal(matrices):
        return np.sort(np.diagonal(matrices, axis1=-2, axis2=-1), axis=-1)
    return np.linalg.eigvalsh(to_float(matrices))


def spectral_norm(matrices: Array) -> Any:
    """The largest absolute eigenvalue over all the symmetric matrices (..., d, d)."""
    return np.max(np.abs(eigenvalues(matrices)))


def rounding_floor(matrix: Array) -> float:
    """Size below which an eigenvalue of a float64 symmetric matrix (d, d) is taken to be zero."""
    return 8 * matrix.shape[-1] * float(np.finfo(np.float64).eps) * float(np.max(np.abs(matrix), initial=0.0))


def minimise(matrix: Array, vector: Array) -> tuple[Array, int] | None:
    """A minimiser of x'Ax/2 - b'x.

    Args:
        matrix: A, (d, d), symmetric; float64 or fractions.
        vector: b, (d,).

    Returns:
        The minimiser of least norm (float64), or one minimiser (fractions), and the rank of A; None when the function
        is unbounded below: A has a negative eigenvalue, or b has a part in its null space. In float64, eigenvalues
        under 8 d eps max|A| count as zero.
    """
    return _minimise_exactly(matrix, vector) if matrix.dtype == object else _minimise_in_floats(matrix, vector)


def _minimise_in_floats(matrix: Array, vector: Array) -> tuple[Array, int] | None:
    floor = rounding_floor(matrix)
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -floor:
        return None
    kept = values > floor
    rotated = vectors.T @ vector
    # b may miss the range of A by its own rounding, never by more
    if np.any(np.abs(rotated[~kept]) > 1e-10 * max(float(np.max(np.abs(vector))), floor)):
        return None
    if bool(np.all(kept)):
        return np.linalg.solve(matrix, vector), len(vector)
    return vectors[:, kept] @ (rotated[kept] / values[kept]), int(np.sum(kept))


def _minimise_exactly(matrix: Array, vector: Array) -> tuple[Array, int] | None:
    # symmetric elimination: A is positive semidefinite iff every pivot is >= 0 and a zero pivot has a zero row
    d = len(vector)
    a, b = matrix.copy(), vector.copy()
    pivots = []
    for j in range(d):
        if a[j, j] < 0:
            return None
        if a[j, j] == 0:
            if np.any(a[j, j:] != 0) or b[j] != 0:
                return None
            continue
        pivots.append(j)
        for i in range(j + 1, d):
            factor = a[i, j] / a[j, j]
            if factor != 0:
                a[i, j:] = a[i, j:] - factor * a[j, j:]
                b[i] = b[i] - factor * b[j]
    x = np.full(d, Fraction(0), dtype=object)
    for j in reversed(pivots):
        x[j] = (b[j] - a[j, j + 1 :] @ x[j + 1 :]) / a[j, j] if j + 1 < d else b[j] / a[j, j]
    return x, len(pivots)


def root(value: Any) -> Any:
    """Square root; a Fraction where the argument is the square of one, else a float."""
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above * above == value.numerator and below * below == value.denominator:
            return Fraction(above, below)
    return math.sqrt(value)
