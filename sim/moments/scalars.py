"""Scalars of a program: parameters as they are given, and formulas as arrays over outcomes and clients.

A scalar is an array of shape (1 or O, 1 or N): O outcomes of the draws that are still alive, N clients.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers, to_fraction
from theory.program import Apply, Formula, Name, Number, text_of

PLAIN: Mapping[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "abs": abs,
    "min": lambda *parts: reduce(np.minimum, parts),
    "max": lambda *parts: reduce(np.maximum, parts),
}
"""Operations that are the same for floats and rationals."""


@dataclass(frozen=True)
class Schedule:
    """A parameter that changes from round to round: ``values[k]`` in round k, a number or one a client each."""

    values: tuple[Any, ...]


class Parameters:
    """The parameters of an instance.

    Args:
        given: by name a number, N numbers (one a client), a `Schedule`, or what `mix` and `combine` take: (N, N), (J,).
        numbers: the arithmetic.
        clients: N.
        dim: d.
        rounds: K; a schedule has at least K entries.

    Raises:
        ValueError: for what is no finite number, or not rational where the problem is exact, and for wrong lengths.
    """

    def __init__(self, given: Mapping[str, Any], numbers: Numbers, clients: int, dim: int, rounds: int) -> None:
        self.numbers, self.clients = numbers, clients
        self._values: dict[str, list[Array] | Array] = {}
        for name, value in given.items():
            if isinstance(value, Schedule):
                if len(value.values) < rounds:
                    raise ValueError(f"{name} is a schedule of {len(value.values)} entries, fewer than rounds={rounds}")
                self._values[name] = [self._array(f"{name}[{k}]", v) for k, v in enumerate(value.values)]
            else:
                self._values[name] = self._array(name, value)
        self._values.setdefault("N", self._array("N", clients))
        self._values.setdefault("d", self._array("d", dim))

    def _array(self, name: str, value: Any) -> Array:
        try:
            entries = np.asarray(value, dtype=object)
        except ValueError:
            entries = np.empty(0)
        if entries.ndim > 2 or entries.size == 0:
            raise ValueError(f"{name}={value!r} is neither a number, nor a list, nor a matrix")
        out = np.empty(entries.shape, dtype=object)
        for at, entry in np.ndenumerate(entries):
            out[at] = self.numbers.checked(entry, name)
        return self.numbers.array(out)

    def _find(self, name: str, k: int) -> Array:
        if name not in self._values:
            raise ValueError(f"parameters has no {name!r}; there are {', '.join(self._values)}")
        found = self._values[name]
        return found[k] if isinstance(found, list) else found

    def scalar(self, name: str, k: int) -> Array:
        """(1, 1), or (1, N) of a parameter with one number a client."""
        found = self._find(name, k)
        if found.ndim == 0:
            return found.reshape(1, 1)
        if found.shape != (self.clients,):
            raise ValueError(
                f"{name} has shape {found.shape}: a number, or one for each of the N={self.clients} clients"
            )
        return found.reshape(1, -1)

    def array(self, name: str, k: int, shape: tuple[int, ...]) -> Array:
        """A matrix, or a list of weights.

        Raises:
            ValueError: when it has another shape.
        """
        found = self._find(name, k)
        if found.shape != shape:
            raise ValueError(f"{name} has shape {found.shape}, not {shape}")
        return found

    def of_clients(self) -> list[Array]:
        """All that is one number, or one row, a client: arrays (N, ...)."""
        every = [each for value in self._values.values() for each in (value if isinstance(value, list) else [value])]
        return [each for each in every if each.ndim and len(each) == self.clients]

    def changes(self, name: str) -> bool:
        """Whether it is a schedule."""
        return isinstance(self._values.get(name), list)


def evaluate(formula: Formula, numbers: Numbers, lookup: Callable[[str], Array]) -> Array:
    """The value of a formula.

    Raises:
        ValueError: where there is none: a division by 0, the root of what is no square in exact numbers, ...
    """
    if isinstance(formula, Number):
        return one(numbers, formula.value)
    if isinstance(formula, Name):
        return lookup(formula.name)
    parts = [evaluate(part, numbers, lookup) for part in formula.arguments]
    try:
        return _applied(formula, parts, numbers)
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"{text_of(formula)} has no value: {error}") from None


def one(numbers: Numbers, value: Any) -> Array:
    """A number as a scalar, (1, 1)."""
    if not numbers.exact:
        return np.array([[float(value)]])
    out = np.empty((1, 1), dtype=object)
    out[0, 0] = numbers.load(Fraction(value))
    return out


def _applied(formula: Apply, parts: list[Array], numbers: Numbers) -> Array:
    op = formula.operation
    if op == "/" and np.any(parts[1] == 0):
        raise ZeroDivisionError("a division by 0")
    if op in PLAIN:
        return np.asarray(PLAIN[op](*parts))
    functions: dict[str, Callable[..., Any]] = {
        "**": lambda base, exponent: _power(base, exponent, numbers),
        "sqrt": lambda value: _root(value, numbers),
    }
    if not numbers.exact:
        functions |= {"log": math.log, "exp": math.exp}
    if op not in functions:
        raise ValueError(f"{text_of(formula)} is not rational")
    try:
        out = np.frompyfunc(functions[op], len(parts), 1)(*parts)
    except ValueError as error:
        raise ValueError(f"{text_of(formula)} has no value: {error}") from None
    return np.asarray(out, dtype=numbers.dtype)


def _power(base: Any, exponent: Any, numbers: Numbers) -> Any:
    if not numbers.exact:
        if base == 0 and exponent < 0:
            raise ZeroDivisionError("0 to a negative power")
        value = float(base) ** float(exponent)
        if isinstance(value, complex):
            raise ZeroDivisionError("a root of a negative number")
        return value
    power = to_fraction(exponent)
    if power.denominator != 1:
        if power.denominator == 2:
            return _power(_root(base, numbers), numbers.load(Fraction(power.numerator)), numbers)
        raise ValueError(f"a number to the power {power} is not rational")
    known: Any = base if isinstance(base, numbers.others) else to_fraction(base)
    return numbers.load(known ** int(power))


def _root(value: Any, numbers: Numbers) -> Any:
    if value < 0:
        raise ZeroDivisionError("the root of a negative number")
    if not numbers.exact:
        return math.sqrt(value)
    square = to_fraction(value)
    above, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if above * above != square.numerator or below * below != square.denominator:
        raise ValueError(f"sqrt({square}) is not rational")
    return numbers.load(Fraction(above, below))


def whole(value: Array, name: str, least: int = 1) -> int:
    """A scalar that is an integer.

    Raises:
        ValueError: when it is none, or below `least`, or differs between clients or outcomes.
    """
    if value.size == 1:
        number = to_fraction(value.ravel()[0])
        if number.denominator == 1 and number >= least:
            return int(number)
        raise ValueError(f"{name}={number} is outside the integers in [{least}, inf)")
    raise ValueError(f"{name} is one number a client; it is to be one integer for all")
