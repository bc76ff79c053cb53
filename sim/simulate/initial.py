"""The state before the first round, as the simulator has it; `theory.program.Beginning` reads the formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.simulate.functions import Functions, Sample, tensor_of
from theory.program import Beginning, Formula, State

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor


def initial(state: State, functions: Functions, start: Tensor, number: Callable[[Formula], float]) -> Any:
    """A state variable before the first round.

    Args:
        state: which.
        functions: the problem's.
        start: (1, d, R), x0.
        number: of a formula in parameters.

    Returns:
        (1, d, R) of the server, (N, d, R) of the clients, (N, n, d, R) of a table; of remembered vectors a tuple.

    Raises:
        ValueError: for a formula that is none, and for a number of remembered vectors that is no integer >= 1.
    """

    def gradient(which: str, v: Tensor) -> Tensor | None:
        if v.ndim != 3 or (which == "f" and v.shape[0] != 1):
            return None
        if which == "f_ni":
            return _of_samples(functions, v)
        return functions.full_gradient(v) if which == "f" else functions.gradient(v)

    def together(one: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
        rank = max(one.ndim, two.ndim)
        return one if one.ndim == rank else one[:, None], two if two.ndim == rank else two[:, None]

    value = Beginning(start, start * 0, gradient, number, together).of(state)
    clients, most = functions.clients, int(functions.counts.max())
    if state.kind in ("server", "past"):
        shape: tuple[int, ...] = (1, *start.shape[1:])
    elif state.kind == "table":
        value = value if value.ndim == 4 else value[:, None]
        shape = (clients, most, *start.shape[1:])
    else:
        shape = (clients, *start.shape[1:])
    if value.ndim > len(shape) or any(a not in (1, b) for a, b in zip(value.shape, shape, strict=True)):
        raise ValueError(f"the state {state.name} begins with {state.text!r}: that is one value a client, or a sample")
    value = value.expand(shape).contiguous()
    return value if state.length is None else (value,) * remembered(state, number)


def remembered(state: State, number: Callable[[Formula], float]) -> int:
    """How many vectors a state remembers.

    Raises:
        ValueError: where that is no integer >= 1.
    """
    assert state.length is not None
    count = number(state.length)
    if count != int(count) or count < 1:
        raise ValueError(f"the state {state.name} remembers {count:g} vectors: that is outside the integers from 1 on")
    return int(count)


def without_gradients(
    state: State, start: NDArray[np.float64], shape: tuple[int, int, int, int], number: Callable[[Formula], float]
) -> NDArray[np.float64] | None:
    """A state variable before the first round in the caller's layout; None where its formula has gradients.

    Args:
        state: which.
        start: (R or 1, d), x0.
        shape: R, N, n, d.
        number: of a formula in parameters.

    Raises:
        ValueError: as `initial`.
    """
    if "grad" in state.initial:
        return None
    value = Beginning(start, start * 0, lambda which, v: None, number).of(state)
    runs, clients, samples, dim = shape
    lead: tuple[int, ...] = {"client": (clients,), "client past": (clients,), "table": (clients, samples)}.get(
        state.kind, ()
    )
    if state.length is not None:
        lead = (remembered(state, number), *lead)
    value = value.reshape(-1, *(1,) * len(lead), dim)
    return np.array(np.broadcast_to(value, (runs, *lead, dim)), order="C")  # rounds write to it


def _of_samples(functions: Functions, v: Tensor) -> Tensor:
    """(N, n, d, R), grad f_ni at v; where a client has fewer samples, that of its last one again."""
    import torch

    last = tensor_of(functions.counts - 1, v.device)
    found = []
    for i in range(int(functions.counts.max())):
        index = last.clamp(max=i)[None, :, None].expand(1, functions.clients, v.shape[2])
        found.append(functions.sample_gradient(v, Sample(index)))
    return torch.stack(found, 1)
