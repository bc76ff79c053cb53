"""The state before the first round: a vector formula in x0, read for whoever carries moments or simulates."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from theory.formula import Formula, parse
from theory.program.data import State

V = TypeVar("V")


@dataclass(frozen=True)
class Beginning(Generic[V]):
    """What a formula for the first state is made of; `V` are vectors that can be added and multiplied by numbers.

    Attributes:
        start: x0.
        zero: the vector 0.
        gradient: of ``f``, ``f_n`` or ``f_ni`` at a vector; None where that is no vector of this kind.
        number: the value of a formula in parameters.
        together: two vectors in shapes that can be added, where one is a client's (a sample's) and the other is not.
    """

    start: V
    zero: V
    gradient: Callable[[str, V], V | None]
    number: Callable[[Formula], Any]
    together: Callable[[V, V], tuple[V, V]] = lambda one, two: (one, two)

    def of(self, state: State) -> V:
        """The vector that a state begins with; of remembered vectors each.

        Raises:
            ValueError: for a formula that is no vector in x0.
        """
        try:
            tree = ast.parse(state.initial.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise ValueError(f"the state {state.name} begins with {state.initial!r}, which cannot be read") from None
        found = self._vector(tree)
        if found is None:
            raise ValueError(f"the state {state.name} begins with {state.initial!r}, which is no vector formula in x0")
        return found

    def _vector(self, node: ast.expr) -> V | None:
        found: Any
        match node:
            case ast.Name(id="x0"):
                return self.start
            case ast.Constant(value=0):
                return self.zero
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=part):
                found = self._vector(part)
                return found if found is None or isinstance(sign, ast.UAdd) else -found
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                one, two = self._vector(left), self._vector(right)
                if one is None or two is None:
                    return None
                summands: Any = self.together(one, two)
                return summands[0] + summands[1] if isinstance(op, ast.Add) else summands[0] - summands[1]
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                vector, factor = (right, left) if _is_number(left) else (left, right)
                found = self._vector(vector) if _is_number(factor) else None
                return None if found is None else found * self._number(factor)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                found = self._vector(left) if _is_number(right) else None
                divisor = None if found is None else self._number(right)
                return found / divisor if divisor else None
            case ast.Call(func=ast.Name(id="grad"), args=[ast.Name(id="f" | "f_n" | "f_ni" as which), point]):
                at = self._vector(point)
                return None if at is None else self.gradient(which, at)
        return None

    def _number(self, node: ast.expr) -> Any:
        return self.number(parse(ast.unparse(node)))


def _is_number(node: ast.expr) -> bool:
    """Whether a formula has neither x0 nor a gradient."""
    return not any(isinstance(part, ast.Name) and part.id in ("x0", "grad") for part in ast.walk(node))
