"""What a mixing matrix satisfies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from theory.arithmetic import to_element
from theory.psd import is_psd
from validate.satisfied.rules import ROUNDING

MOST = 10**6
"""Denominators up to which an eigenvalue is a short fraction."""


def second_eigenvalue(network: Any) -> Any:
    """The largest absolute value of the eigenvalues of W but the one 1: exact where it is a short fraction."""
    from flint import fmpq_mat

    matrix = np.asarray(network, dtype=object)
    n = len(matrix)
    if n == 1:
        return Fraction(0)
    diagonal, beside = matrix[0][0], matrix[0][1]
    alike = all(matrix[i][j] == (diagonal if i == j else beside) for i in range(n) for j in range(n))
    if alike:
        return abs(diagonal - beside)
    about = float(np.sort(np.abs(np.linalg.eigvalsh(matrix.astype(float))))[-2])
    near = Fraction(about).limit_denominator(MOST)
    if abs(near - about) > ROUNDING or not all(isinstance(x, Fraction | int) for x in matrix.ravel()):
        return about
    rest = matrix - Fraction(1, n)
    both = [[[sign * x + near * (i == j) for j, x in enumerate(row)] for i, row in enumerate(rest)] for sign in (1, -1)]
    # all eigenvalues of W - ones/N are at most `near` in absolute value, and one is not less
    known = all(map(is_psd, both)) and any(
        fmpq_mat(n, n, [to_element(Fraction(x)) for row in one for x in row]).det() == 0 for one in both
    )
    return near if known else about


def connected(network: Any, rho: Any) -> bool:
    """Whether W is symmetric, doubly stochastic, not negative, and its second eigenvalue rho, where that is given."""
    matrix = np.asarray(network, dtype=object)
    n = len(matrix)
    if matrix.shape != (n, n):
        return False
    exact = all(isinstance(x, Fraction | int) for x in matrix.ravel())
    close = (lambda a, b: a == b) if exact else (lambda a, b: abs(a - b) <= ROUNDING)
    if not all(close(matrix[i][j], matrix[j][i]) for i in range(n) for j in range(n)):
        return False
    if not all(close(sum(row), 1) for row in matrix) or any(x < 0 for x in matrix.ravel()):
        return False
    value = second_eigenvalue(matrix)
    if isinstance(value, float) and exact and value > 1 - 1e-6:
        return False
    if value >= 1 or rho is None:
        return bool(value < 1)
    if isinstance(value, Fraction) and isinstance(rho, Fraction | int):
        return value == rho
    return bool(abs(float(value) - float(rho)) <= ROUNDING * float(value))
