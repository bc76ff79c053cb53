"""The state before the first round: vector formulas in x0, as the decorator of an algorithm has them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim.simulate.functions import Functions, Sample, tensor_of
from theory.program import Formula, State, names_in, parse

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
    try:
        tree = ast.parse(state.initial.strip(), mode="eval").body
    except SyntaxError:
        raise _refused(state) from None
    value = _vector(tree, state, functions, start, number)
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
    if state.length is None:
        return value
    count = number(state.length)
    if count != int(count) or count < 1:
        raise ValueError(f"the state {state.name} remembers {count:g} vectors: that is outside the integers from 1 on")
    return (value,) * int(count)


def _refused(state: State) -> ValueError:
    return ValueError(f"the state {state.name} begins with {state.initial!r}, which is no vector formula in x0")


def _vector(
    node: ast.expr, state: State, functions: Functions, start: Tensor, number: Callable[[Formula], float]
) -> Tensor:
    """(N or 1, d, R), or (N, n, d, R) where it has one value a sample."""

    def inner(part: ast.expr) -> Tensor:
        return _vector(part, state, functions, start, number)

    def scalar(part: ast.expr) -> float | None:
        try:
            formula = parse(ast.unparse(part))
        except ValueError:
            return None
        return None if "x0" in names_in(formula) else number(formula)

    match node:
        case ast.Name(id="x0"):
            return start
        case ast.Constant(value=0):
            return start * 0
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -inner(part)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            one, two = inner(left), inner(right)
            one, two = (v[:, None] if v.ndim < max(one.ndim, two.ndim) else v for v in (one, two))
            return one + two if isinstance(op, ast.Add) else one - two
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            factor = scalar(left)
            if factor is not None:
                return factor * inner(right)
            factor = scalar(right)
            if factor is not None:
                return factor * inner(left)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            factor = scalar(right)
            if factor:
                return inner(left) / factor
        case ast.Call(func=ast.Name(id="grad"), args=[ast.Name(id="f" | "f_n" | "f_ni" as which), point]):
            v = inner(point)
            if which == "f" and v.ndim == 3 and v.shape[0] == 1:
                return functions.full_gradient(v)
            if which == "f_n" and v.ndim == 3:
                return functions.gradient(v)
            if which == "f_ni" and v.ndim == 3:
                return _of_samples(functions, v)
    raise _refused(state)


def _of_samples(functions: Functions, v: Tensor) -> Tensor:
    """(N, n, d, R), grad f_ni at v; where a client has fewer samples, that of its last one again."""
    import torch

    last = tensor_of(functions.counts - 1, v.device)
    found = []
    for i in range(int(functions.counts.max())):
        index = last.clamp(max=i)[None, :, None].expand(1, functions.clients, v.shape[2])
        found.append(functions.sample_gradient(v, Sample(index)))
    return torch.stack(found, 1)
