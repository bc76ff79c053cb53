"""One model in the exact oracle: what E[yy'], y = (1, theta - centre), says of theta; the arguments of every run."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from sim.exact_moments import CancellationError
from sim.exact_numbers import Array, Numbers, checked
from sim.problems.quadratic import Quadratic


def model_moments(
    problem: Quadratic, numbers: Numbers, centre: Array, seconds: Array, best: tuple[Array, int] | None
) -> dict[str, Any]:
    """The moments that speak of the model alone, by their names in `sim.exact_moments.Moments`.

    Args:
        problem: f.
        numbers: the arithmetic.
        centre: (d,), in the arithmetic of `numbers`: `centre_of`.
        seconds: (K+1, 1 + d, 1 + d), E[yy'] of every round.
        best: a minimiser of f and the rank of its Hessian (`sim.problems.linear_algebra.minimise`); None when f is
            unbounded below.
    """
    hessian, linear = numbers.array(problem.mean_hessian), numbers.array(problem.mean_linear)
    half = numbers.ratio(1, 2)

    def expect(form: Array) -> Array:
        return seconds.reshape(len(seconds), -1) @ form.ravel()

    shifted = affine_difference(numbers, -centre)  # theta = shifted @ y
    gradient = affine_gradient(hessian, linear, centre)
    second = shifted @ seconds @ shifted.T
    second = half * (second + second.swapaxes(-1, -2))  # it is symmetric but for rounding
    if best is None:
        cost_form = half * shifted.T @ hessian @ shifted
        cost_form[0] -= linear @ shifted
        cost_form[0, 0] += numbers.array(problem.mean_offset)[()]
        suboptimality, cost = None, numbers.result(expect(cost_form))
    else:
        gap = affine_difference(numbers, numbers.array(best[0]) - centre)
        suboptimality = numbers.result(expect(half * gap.T @ hessian @ gap))
        cost = suboptimality + problem.optimal_value
    return {
        "mean": numbers.result(seconds[:, 0, :] @ shifted.T),
        "second_moment": numbers.result(second),
        "squared_gradient_norm": numbers.result(expect(gradient.T @ gradient)),
        "suboptimality": suboptimality,
        "cost": cost,
        "squared_iterate_norm": numbers.result(np.trace(second, axis1=-2, axis2=-1)),
    }


FAR = 1e5
"""How many times as far as the start and the clients' own scale a minimiser of f may lie to be the origin of floats:
squares of iterates then keep six digits or more."""


def centre_of(problem: Quadratic, numbers: Numbers, start: Array, best: tuple[Array, int] | None) -> Array:
    """(d,), where the coordinates begin: in floats at a minimiser, so that what converges to 0 keeps its digits.

    Where the curvatures of clients all but cancel, the minimiser is so far that the iterates would lose theirs; they do
    not come near it in any number of rounds, and the coordinates begin at 0, as in exact numbers.

    Args:
        problem: f.
        numbers: the arithmetic.
        start: (d,), in working numbers.
        best: as for `model_moments`.
    """
    if best is None or numbers.exact:
        return numbers.zeros(problem.dim)
    point = numbers.array(best[0])
    curvature = np.abs(problem.client_hessian).max(axis=(1, 2))
    forces = np.abs(problem.client_linear).max(axis=1)
    own = np.divide(forces, curvature, out=np.zeros_like(forces), where=curvature > 0)
    scale = max(float(np.abs(start).max()), float(own.max()))
    return point if float(np.abs(point).max()) <= FAR * scale else numbers.zeros(problem.dim)


def affine_difference(numbers: Numbers, point: Array) -> Array:
    """(d, 1 + d), x - point = the result @ (1, x)."""
    return np.concatenate([-point[:, None], numbers.identity(len(point))], axis=1)


def affine_gradient(hessian: Array, linear: Array, centre: Array) -> Array:
    """(d, 1 + d), grad f(theta) = the result @ (1, theta - centre)."""
    return np.concatenate([(hessian @ centre - linear)[:, None], hessian], axis=1)


def symmetric_basis(numbers: Numbers, size: int) -> Array:
    """(size (size+1)/2, size, size): a symmetric matrix P is the sum of P[upper triangle, row by row] times these."""
    rows, columns = np.triu_indices(size)
    basis = numbers.zeros(len(rows), size, size)
    basis[range(len(rows)), rows, columns] = 1
    basis[range(len(rows)), columns, rows] = 1
    return basis


def checked_rounds(rounds: Any, name: str = "rounds") -> int:
    """An integer >= 0.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, Integral) or rounds < 0:
        raise ValueError(f"{name}={rounds!r} is outside the integers in [0, inf)")
    return int(rounds)


def checked_steps(step: Any, rounds: int, numbers: Numbers, name: str = "rounds") -> list[Any]:
    """The step size of every round, in working numbers.

    Args:
        step: as `sim.algorithms.schedule.checked_step` returns it.
        rounds: K.
        numbers: the arithmetic.
        name: of K, for the error.

    Raises:
        ValueError: for a number that is not rational in exact mode, or a schedule that has not K entries.
    """
    if not isinstance(step, tuple):
        return [numbers.load(checked(step, "step", exact=numbers.exact))] * rounds
    if len(step) != rounds:
        raise ValueError(f"step has {len(step)} entries, not {name}={rounds}")
    return [numbers.load(checked(value, f"step[{k}]", exact=numbers.exact)) for k, value in enumerate(step)]


def checked_start(start: Any, dim: int, numbers: Numbers) -> Array:
    """(d,), in working numbers.

    Raises:
        ValueError: for another shape, or an entry that is not finite, or not rational in exact mode.
    """
    try:
        values = np.asarray(start, dtype=object)
    except ValueError:
        raise ValueError(f"start={start!r} is not an array of shape ({dim},)") from None
    if values.shape != (dim,):
        raise ValueError(f"start={start!r} has shape {values.shape}, not ({dim},)")
    finite = [checked(value, f"start[{i}]", exact=numbers.exact) for i, value in enumerate(values)]
    return numbers.array(np.array(finite, dtype=object))


# A fall from a peak far above the start to less than this fraction of it is within reach of float64's 1e-16, once the
# dozen digits' worth of operations in between are counted. A plain decay from the start is not: it keeps its digits.
FALL = 1e-11
RISE = 1e6


def check_cancellation(squared_gradient_norm: Array) -> None:
    """Refuse moments that were flung out and came back: in floats, what is left may be nothing but rounding.

    Args:
        squared_gradient_norm: (K+1,), E||grad f(theta^k)||^2 in float64.

    Raises:
        CancellationError: when they did.
    """
    size = np.abs(squared_gradient_norm)
    peak = np.maximum.accumulate(size)
    lost = (size < FALL * peak) & (peak > RISE * size[0])
    if lost.any():
        k = int(np.argmax(lost))
        raise CancellationError(
            f"E||grad f||^2 rises to {peak[k]:.3g} and is back at {size[k]:.3g} in round {k}: float64 keeps too few"
            " digits for that; use an exact problem, or steps that do not fling the iterates out"
        )
