"""Extreme eigenvalues of symmetric operators that are given by their products with vectors, from inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def ritz_extremes(
    product: Callable[[Array], Array], dim: int, steps: int, random: np.random.Generator
) -> tuple[float, float]:
    """The least and the largest Ritz value of a symmetric operator on a Krylov space (Lanczos, all directions kept).

    Ritz values are Rayleigh quotients, so they lie between the extreme eigenvalues, up to rounding: the largest is at
    most the largest eigenvalue, the least at least the least. With steps >= dim they are these.

    Args:
        product: v (d,) -> A v (d,).
        dim: d.
        steps: of the iteration, at least 1.
        random: for the first direction, and for a new one where the Krylov space ends.
    """
    size = min(dim, steps)
    basis, images = np.zeros((dim, size)), np.zeros((dim, size))
    direction = random.standard_normal(dim)
    for j in range(size):
        for _ in range(20):
            length = float(np.linalg.norm(direction))
            for _ in range(2):  # twice is enough for orthogonality to rounding
                direction = direction - basis[:, :j] @ (basis[:, :j].T @ direction)
            if np.linalg.norm(direction) > 1e-10 * length > 0:
                break
            direction = random.standard_normal(dim)
        basis[:, j] = direction / np.linalg.norm(direction)
        images[:, j] = product(basis[:, j])
        direction = images[:, j]
    small = basis.T @ images
    values = np.linalg.eigvalsh((small + small.T) / 2)
    return float(values[0]), float(values[-1])


def points_in_ball(centre: Array, radius: float, count: int, random: np.random.Generator) -> Array:
    """(count, d): the centre, then points uniform in the ball."""
    d = len(centre)
    ways = random.standard_normal((max(0, count - 1), d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    lengths = radius * random.uniform(size=(len(ways), 1)) ** (1 / d)
    return np.concatenate([centre[None], centre + lengths * ways])
