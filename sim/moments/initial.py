"""The state before the first round, as `sim.moments` has it; `theory.program.Beginning` reads the formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers, times
from sim.problems.quadratic import Quadratic
from theory.program import Beginning, State


def initial(state: State, problem: Quadratic, start: Array, numbers: Numbers, scalar: Any) -> Array:
    """A state variable before the first round.

    Args:
        state: which.
        problem: the functions in its formula.
        start: (d,), x0 in working numbers.
        numbers: the arithmetic.
        scalar: of a formula in parameters, its number.

    Returns:
        (d,) of the server, (N, d) of the clients, (N, n, d) of a table (0 in the padding).

    Raises:
        ValueError: for a formula that is none.
    """
    shape: tuple[int, ...] = {"server": (), "past": (), "client": (1,), "client past": (1,), "table": (2,)}[state.kind]
    N, n, d = problem.clients, problem.samples, problem.dim
    full = {(): (d,), (1,): (N, d), (2,): (N, n, d)}[shape]
    functions = {
        "f": (problem.mean_hessian, problem.mean_linear),
        "f_n": (problem.client_hessian, problem.client_linear),
        "f_ni": (problem.hessian, problem.linear),
    }

    def gradient(which: str, at: Array) -> Array | None:
        hessian, linear = functions[which]
        if linear.ndim < at.ndim:
            return None
        return times(numbers.array(hessian), _ranked(at, linear.ndim)[..., None])[..., 0] - numbers.array(linear)

    def together(one: Array, two: Array) -> tuple[Array, Array]:
        rank = max(one.ndim, two.ndim)
        return _ranked(one, rank), _ranked(two, rank)

    # what a formula leaves out (clients, samples) is alike for all of them
    value = Beginning(start, numbers.zeros(d), gradient, scalar, together).of(state)
    if value.ndim > len(full):
        raise ValueError(
            f"the state {state.name} is of kind {state.kind}, and {state.initial!r} is one value a client or sample"
        )
    out = numbers.zeros(*full)
    out[...] = _ranked(value, len(full))
    if state.kind == "table":
        out[np.arange(n) >= problem.counts[:, None]] = 0
    return out


def _ranked(value: Array, rank: int) -> Array:
    """(d,), (N, d) or (N, n, d) with axes of length 1 before the coordinates, up to that rank."""
    return value.reshape(value.shape[:-1] + (1,) * (rank - value.ndim) + value.shape[-1:])
