"""Is a symmetric matrix of rationals positive semidefinite? By elimination, or by a Cholesky in Arb balls or floats.

`is_psd` decides. `is_psd_balls` and `is_psd_floats` only ever prove: True is certain, False means that they could not
tell (a singular matrix is never proved by them). The exact one costs O(n^3) operations on numbers that grow; the balls
are for n above about thirty; floats are fast, and see eigenvalues above 1e-13 of the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Matrix = Sequence[Sequence[Fraction]]
_BITS = 50  # of a factor in floats whose entries are at most 1


def is_psd(matrix: Matrix) -> bool:
    """Whether a symmetric matrix of Fractions is positive semidefinite: decided exactly.

    Raises:
        ValueError: it is not square and symmetric.
    """
    work = _rational_rows(matrix)
    n = len(work)
    for k in range(n):
        pivot = work[k][k]
        rest = [i for i in range(k + 1, n) if work[i][k] != 0]
        if pivot < 0 or (pivot == 0 and rest):  # [[0, c], [c, d]] has determinant -c^2
            return False
        for place, i in enumerate(rest):
            ratio = work[i][k] / pivot
            for j in rest[: place + 1]:
                work[i][j] = work[i][j] - ratio * work[j][k]
    return True


def is_psd_balls(matrix: Matrix, precision: int = 128) -> bool:
    """Whether a Cholesky factorisation in balls proves a symmetric matrix of Fractions positive definite.

    Every pivot of the elimination is enclosed; all are certainly positive if and only if True is returned.

    Args:
        matrix: n x n, symmetric.
        precision: bits of the balls, at least 2.

    Raises:
        ValueError: it is not square and symmetric, or the precision is below 2.
    """
    import flint

    if precision < 2:
        raise ValueError(f"precision={precision!r} is outside [2, inf)")
    rows = _rational_rows(matrix)
    n = len(rows)
    with flint.ctx.workprec(precision):
        work = [[flint.arb(rows[i][j]) for j in range(i + 1)] for i in range(n)]
        for k in range(n):
            pivot = work[k][k]
            if not pivot > 0:
                return False
            column = [work[i][k] for i in range(k + 1, n)]
            for i in range(k + 1, n):
                if column[i - k - 1].is_zero():
                    continue
                ratio, row = column[i - k - 1] / pivot, work[i]
                for j in range(k + 1, i + 1):
                    row[j] = row[j] - ratio * column[j - k - 1]
    return True


def is_psd_floats(matrix: Sequence[Sequence[Any]]) -> bool:
    """Whether a float Cholesky factor proves a symmetric matrix of integers positive definite.

    With L the factor of the matrix less half of its least eigenvalue, rounded to integers over a power of 2, the matrix
    less L L' is computed exactly. Where it is diagonally dominant, both are positive semidefinite.

    Args:
        matrix: n x n, symmetric, integers of flint or of Python.
    """
    import flint
    import numpy as np

    n = len(matrix)
    entries = [int(c) for row in matrix for c in row]
    size = max(max(entries, default=0), -min(entries, default=0)).bit_length()
    if not n or not 0 < size < 1000:
        return not n
    exact = flint.fmpz_mat(n, n, entries)
    floats = np.array(entries, dtype=float).reshape(n, n) / 2.0**size
    least = float(np.linalg.eigvalsh(floats)[0])
    if least <= 0:
        return False
    try:
        lower = np.linalg.cholesky(floats - least / 2 * np.eye(n))
    except np.linalg.LinAlgError:  # the least eigenvalue is rounded, too
        return False
    factor = np.rint(lower * 2.0**_BITS).astype(np.int64)
    root = flint.fmpz_mat(n, n, factor.ravel().tolist())
    left = exact * 2 ** max(2 * _BITS - size, 0) - root * root.transpose() * 2 ** max(size - 2 * _BITS, 0)
    return all(2 * row[i] >= sum(map(abs, row)) for i, row in enumerate(left.tolist()))


def _rational_rows(matrix: Matrix) -> list[list[Any]]:
    """The rows as flint rationals, which are several times faster than Fractions."""
    import flint

    n = len(matrix)
    if any(len(row) != n for row in matrix):
        raise ValueError(f"matrix of row lengths {[len(row) for row in matrix]!r} is outside the square matrices")
    exact = flint.fmpq
    rows = [[e if type(e) is exact else exact(e.numerator, e.denominator) for e in row] for row in matrix]
    for i in range(n):
        for j in range(i):
            if rows[i][j] != rows[j][i]:
                raise ValueError(f"matrix[{i}][{j}]={matrix[i][j]} is outside {{matrix[{j}][{i}]={matrix[j][i]}}}")
    return rows
