"""What a mixing matrix satisfies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from validate.satisfied.rules import ROUNDING


def second_eigenvalue(network: Any) -> Any:
    """The largest absolute value of the eigenvalues of W but the one 1; exact for W = a I + b ones."""
    matrix = np.asarray(network, dtype=object)
    n = len(matrix)
    if n == 1:
        return Fraction(0)
    diagonal, beside = matrix[0][0], matrix[0][1]
    alike = all(matrix[i][j] == (diagonal if i == j else beside) for i in range(n) for j in range(n))
    if alike:
        return abs(diagonal - beside)
    values = np.sort(np.abs(np.linalg.eigvalsh(matrix.astype(float))))
    return float(values[-2])


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
    return bool(value < 1 and (rho is None or abs(float(value) - float(rho)) <= ROUNDING))
