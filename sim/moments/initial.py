"""The state before the first round: vector formulas in x0, as the decorator of an algorithm has them."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from sim.exact_numbers import Array, Numbers
from sim.problems.quadratic import Quadratic
from theory.program import State, parse


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
    reader = _Reader(state, problem, start, numbers, scalar)
    try:
        tree = ast.parse(state.initial.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"the state {state.name} begins with {state.initial!r}, which cannot be read") from None
    value = reader.vector(tree)
    # what a formula leaves out (clients, samples) is alike for all of them
    value = value.reshape(value.shape[:-1] + (1,) * (len(full) - value.ndim) + value.shape[-1:])
    if value.ndim > len(full):
        raise ValueError(
            f"the state {state.name} is of kind {state.kind}, and {state.initial!r} is one value a client or sample"
        )
    out = numbers.zeros(*full)
    out[...] = value
    if state.kind == "table":
        out[np.arange(n) >= problem.counts[:, None]] = 0
    return out


class _Reader:
    def __init__(self, state: State, problem: Quadratic, start: Array, numbers: Numbers, scalar: Any) -> None:
        self.state, self.problem, self.start, self.numbers, self.scalar = state, problem, start, numbers, scalar

    def refuse(self) -> ValueError:
        return ValueError(f"the state {self.state.name} begins with {self.state.initial!r}, which is no vector in x0")

    def vector(self, node: ast.expr) -> Array:
        """(d,), (N, d) or (N, n, d)."""
        if isinstance(node, ast.Name) and node.id == "x0":
            return self.start
        if isinstance(node, ast.Constant) and node.value == 0:
            return self.numbers.zeros(self.problem.dim)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self.vector(node.operand)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            left, right = self.vector(node.left), self.vector(node.right)
            rank = max(left.ndim, right.ndim)
            left, right = (v.reshape(v.shape[:-1] + (1,) * (rank - v.ndim) + v.shape[-1:]) for v in (left, right))
            return left + right if isinstance(node.op, ast.Add) else left - right
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            if isinstance(node.op, ast.Mult) and self._is_number(node.left):
                return self.vector(node.right) * self._number(node.left)
            factor = self._number(node.right)
            return self.vector(node.left) * factor if isinstance(node.op, ast.Mult) else self.vector(node.left) / factor
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "grad"
            and len(node.args) == 2
        ):
            which = node.args[0]
            if isinstance(which, ast.Name) and which.id in ("f", "f_n", "f_ni"):
                return self._gradient(which.id, self.vector(node.args[1]))
        raise self.refuse()

    def _gradient(self, which: str, at: Array) -> Array:
        load, problem = self.numbers.array, self.problem
        hessian, linear = {
            "f": (problem.mean_hessian, problem.mean_linear),
            "f_n": (problem.client_hessian, problem.client_linear),
            "f_ni": (problem.hessian, problem.linear),
        }[which]
        rank = max(linear.ndim, at.ndim)
        at = at.reshape(at.shape[:-1] + (1,) * (rank - at.ndim) + at.shape[-1:])
        if linear.ndim < rank:
            raise self.refuse()
        return (load(hessian) @ at[..., None])[..., 0] - load(linear)

    def _is_number(self, node: ast.expr) -> bool:
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        return not names & {"x0", "grad"} and not (isinstance(node, ast.Constant) and node.value == 0)

    def _number(self, node: ast.expr) -> Any:
        if not self._is_number(node):
            raise self.refuse()
        return self.scalar(parse(ast.unparse(node)))
