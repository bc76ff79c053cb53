"""Numbers of many instances at once: an operand that is an array, so that one play is a play of all of them.

Beside its values a sum of products keeps the sum of their absolute values, in which it is small or large: that an inner
product is 1e-9 says nothing, that it is so small a part of what is summed says that the vectors are orthogonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from theory.operations import Operand
from validate.batch.recorded import FUNCTIONS, Array, UntracedError


class Many(Operand):
    """A number of each of many instances.

    Attributes:
        values: (B,).
        terms: of a sum of products the sum of their absolute values, (B,); else None.
    """

    __slots__ = ("terms", "values")

    def __init__(self, values: Array, terms: Array | None = None) -> None:
        self.values, self.terms = values, terms

    @property
    def size(self) -> Array:
        """In what it is measured, (B,)."""
        return np.abs(self.values) if self.terms is None else self.terms

    def operate(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name in ("min", "max"):
            return Many(reduce(FUNCTIONS[name], map(values_of, arguments)))
        if name in _EXACTLY:
            return _EXACTLY[name](*arguments)
        return Many(FUNCTIONS[name](*map(values_of, arguments)))

    def __add__(self, other: Any) -> Many:
        return _sum(np.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Many:
        return _sum(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Many:
        return _sum(np.subtract, other, self)

    def __mul__(self, other: Any) -> Many:
        return _product(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Many:
        return _quotient(self, other)

    def __rtruediv__(self, other: Any) -> Many:
        return _quotient(other, self)

    def __neg__(self) -> Many:
        return Many(-self.values, self.terms)

    def __abs__(self) -> Many:
        return Many(np.abs(self.values), self.terms)

    def __lt__(self, other: Any) -> bool:
        raise UntracedError("which number is larger hangs on the instance")

    __gt__ = __le__ = __ge__ = __lt__


def values_of(number: Any) -> Any:
    """The values of a number, (B,), or the only one."""
    return number.values if isinstance(number, Many) else float(number)


def size_of(number: Any) -> Any:
    """In what a number is measured, (B,), or the only one."""
    return number.size if isinstance(number, Many) else abs(float(number))


def _is_sum(number: Any) -> bool:
    return isinstance(number, Many) and number.terms is not None


def _sum(how: Any, a: Any, b: Any) -> Many:
    terms = size_of(a) + size_of(b) if _is_sum(a) or _is_sum(b) else None
    return Many(how(values_of(a), values_of(b)), terms)


def _product(a: Any, b: Any) -> Many:
    two = isinstance(a, Many) and isinstance(b, Many)
    terms = size_of(a) * size_of(b) if two or _is_sum(a) or _is_sum(b) else None
    return Many(values_of(a) * values_of(b), terms)


def _quotient(a: Any, b: Any) -> Many:
    divisor = values_of(b)
    return Many(values_of(a) / divisor, size_of(a) / np.abs(divisor) if _is_sum(a) else None)


def _power(base: Any, exponent: Any) -> Many:
    whole = not isinstance(exponent, Many) and exponent == 2
    return _product(base, base) if whole else Many(np.power(values_of(base), values_of(exponent)))


_EXACTLY: Mapping[str, Callable[..., Many]] = {
    "+": lambda a, b: _sum(np.add, a, b),
    "-": lambda a, b: _sum(np.subtract, a, b),
    "*": _product,
    "/": _quotient,
    "**": _power,
    "neg": lambda a: -a,
    "abs": abs,
}
