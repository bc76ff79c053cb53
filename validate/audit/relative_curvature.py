"""How far the gradients of quadratic clients are apart: (1/N) sum_n ||grad f_n(x)||^2 <= G^2 + B^2 ||grad f(x)||^2.

With grad f_n(x) = H_n x - b_n the condition says that a quadratic form in (1, x) is positive semidefinite. B^2 and G^2
are a trade-off: B^2 is at least the largest relative curvature, and each larger B^2 has a least G^2. Sizes: N clients,
d dimensions. Fractions are decided exactly; float64 up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.problems import Quadratic

Array = np.ndarray

# Float64 entries that should cancel leave this much of their size.
ROUNDING = 1e-9


def least_relative(problem: Quadratic) -> Any:
    """The infimum of the B^2 with which the condition holds for some G; None when there is no B.

    A Fraction for exact problems in one dimension, else a float. It may itself have no G: see `least_constant`.
    """
    hessian, second = problem.mean_hessian, _second(problem)
    if not (problem.hessian != 0).any():
        return 0 * problem.smoothness
    if problem.dim == 1:
        return second[0, 0] / hessian[0, 0] ** 2 if hessian[0, 0] != 0 else None
    values, vectors = np.linalg.eigh(hessian.astype(float))
    if np.min(np.abs(values)) <= ROUNDING * np.max(np.abs(values)):
        return None  # a direction in which f is flat, and its clients need not be
    root = vectors / np.abs(values)
    return float(np.linalg.eigvalsh(root.T @ second.astype(float) @ root)[-1])


def least_constant(problem: Quadratic, b2: Any) -> Any:
    """The least G^2 with which the condition holds, given B^2; None when there is none, or f is flat in a direction.

    Args:
        problem: the clients.
        b2: B^2, at least 0.

    Returns:
        A Fraction for exact problems in one dimension, else a float.
    """
    hessian, linear, second = problem.mean_hessian, problem.mean_linear, _second(problem)
    square = (problem.client_linear * problem.client_linear).sum() / problem.clients
    if not (problem.hessian != 0).any():
        return max(square - b2 * (linear @ linear), 0 * square)
    if problem.dim > 1:
        hessian, linear, second = (part.astype(float) for part in (hessian, linear, second))
        b2 = float(b2)
        values = np.linalg.eigvalsh(hessian)
        if np.min(np.abs(values)) <= ROUNDING * np.max(np.abs(values)):
            return None
        point = np.linalg.solve(hessian, linear)
    elif hessian[0, 0] == 0:
        return None
    else:
        point = linear / hessian[0, 0]
    # about the stationary point of f: residual gradients r_n there, of mean 0
    residual = problem.client_hessian @ point - problem.client_linear
    edge = np.einsum("nij,nj->i", problem.client_hessian, residual) / problem.clients
    at_point = (residual * residual).sum() / problem.clients
    inner = b2 * (hessian @ hessian) - second
    if problem.dim == 1:
        floor = 0 if problem.exact else ROUNDING * second[0, 0]
        if inner[0, 0] > floor:
            return at_point + edge[0] ** 2 / inner[0, 0]
        level = edge[0] == 0 if problem.exact else _small(edge, residual, problem)
        return at_point if inner[0, 0] >= -floor and level else None
    values, vectors = np.linalg.eigh(inner)
    floor = ROUNDING * np.trace(second)
    if values[0] < -floor:
        return None
    turned = vectors.T @ edge
    if not _small(turned[values <= floor], residual, problem):
        return None
    kept = values > floor
    return float(at_point + (turned[kept] ** 2 / values[kept]).sum())


def _small(edge: Array, residual: Array, problem: Quadratic) -> bool:
    """Whether the mean of H_n r_n is nothing but rounding."""
    size = float(np.max(np.abs(problem.client_hessian))) * float(np.max(np.abs(residual), initial=0.0))
    return bool(np.max(np.abs(edge.astype(float)), initial=0.0) <= ROUNDING * size)


def _second(problem: Quadratic) -> Array:
    """(d, d), the clients' mean of H_n^2."""
    return (problem.client_hessian @ problem.client_hessian).sum(axis=0) / problem.clients
