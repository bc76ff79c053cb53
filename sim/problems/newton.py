"""Newton's method for many strongly convex functions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Newton steps, and halvings of one step, after which something is wrong: damped Newton needs far fewer.
_STEPS = 200
_HALVINGS = 60


def minimise(
    loss: Callable[[Array], Array],
    gradient: Callable[[Array], Array],
    direction: Callable[[Array, Array, Array], Array],
    start: Array,
    tolerance: float,
) -> Array:
    """The minimisers of N smooth, strongly convex functions by damped Newton steps.

    A step is halved until the function falls by 1/4 of what its gradient promises, unless the gradient is so small
    that the function's own rounding hides the fall: then the step is accepted when the gradient does not grow.

    Args:
        loss: (N, d) points, one a function -> (N,).
        gradient: (N, d) -> (N, d).
        direction: points (N, d), gradients (N, d) and the numbers (M,) of functions -> (M, d), the steps H^-1 g of
            these functions (or near them: any descent direction will do).
        start: (N, d).
        tolerance: for the Euclidean norm of each gradient.

    Returns:
        (N, d).

    Raises:
        ValueError: when the tolerance is not reached (it is below what float64 can do for these functions).
    """
    points = start.copy()
    values, slopes = loss(points), gradient(points)
    norms = np.linalg.norm(slopes, axis=1)
    for _ in range(_STEPS):
        todo = np.flatnonzero(norms > tolerance)
        if not len(todo):
            return points
        steps = direction(points, slopes, todo)
        promised = np.einsum("md,md->m", slopes[todo], steps)
        scale = np.ones(len(todo))
        waiting = np.ones(len(todo), dtype=bool)
        for _ in range(_HALVINGS):
            trial = points.copy()
            trial[todo] -= np.where(waiting, scale, 0.0)[:, None] * steps
            new_values, new_slopes = loss(trial), gradient(trial)
            new_norms = np.linalg.norm(new_slopes, axis=1)
            fell = new_values[todo] <= values[todo] - scale * promised / 4
            hidden = promised <= 1e-12 * np.maximum(1.0, np.abs(values[todo]))
            accepted = waiting & (fell | (hidden & (new_norms[todo] < norms[todo])))
            done = todo[accepted]
            points[done], values[done], slopes[done] = trial[done], new_values[done], new_slopes[done]
            norms[done] = new_norms[done]
            waiting &= ~accepted
            if not waiting.any():
                break
            scale = np.where(waiting, scale / 2, scale)
        if waiting.all():
            break
    if np.all(norms <= tolerance):
        return points
    raise ValueError(f"tolerance={tolerance:.3g} is not reached: the largest gradient norm is {norms.max():.3g}")


def conjugate_gradients(product: Callable[[Array], Array], right: Array, relative: float, steps: int) -> Array:
    """Approximate solutions of M positive definite systems.

    Args:
        product: (M, d) -> (M, d), each system's matrix times its vector.
        right: (M, d).
        relative: residual norm, relative to that of the right side, at which a system is done.
        steps: at most as many steps.

    Returns:
        (M, d); each is a descent direction of x'Ax/2 - b'x from 0, also when it has not converged.
    """
    solution = np.zeros_like(right)
    residual, search = right.copy(), right.copy()
    size = np.einsum("md,md->m", residual, residual)
    goal = relative**2 * size
    for _ in range(steps):
        active = size > goal
        if not active.any():
            break
        image = product(search)
        curvature = np.einsum("md,md->m", search, image)
        length = np.divide(size, curvature, out=np.zeros_like(size), where=active & (curvature > 0))
        solution += length[:, None] * search
        residual -= length[:, None] * image
        new_size = np.einsum("md,md->m", residual, residual)
        search = residual + np.divide(new_size, size, out=np.zeros_like(size), where=active)[:, None] * search
        size = np.where(active, new_size, size)
    return solution
