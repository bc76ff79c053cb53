"""Numbers that are linear in inner products of basis vectors and in values of functions, and least or greatest of such.

A sentence about a run, read with vectors as combinations of basis vectors (the start and the gradients that the run
meets), is such a number on either side; `theory.worst_case.assembly` makes a semidefinite program of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeAlias

MOST = 64
"""Forms among which the least or the greatest is taken."""


class NotLinearError(ValueError):
    """What is no linear form in inner products and values; it may be true all the same."""


@dataclass(frozen=True)
class Form:
    """``sum gram[i, j] <b_i, b_j> + sum values[v] F_v + constant``.

    Attributes:
        gram: coefficients of the inner products of basis vectors i <= j, flint rationals, none 0.
        values: of the values of functions, likewise.
        constant: a flint rational, or 0.
    """

    gram: Mapping[tuple[int, int], Any] = field(default_factory=dict)
    values: Mapping[int, Any] = field(default_factory=dict)
    constant: Any = 0

    def plus(self, other: Form, factor: Any = 1) -> Form:
        """``self + factor*other``."""
        gram = _sum(self.gram, other.gram, factor)
        return Form(gram, _sum(self.values, other.values, factor), self.constant + factor * other.constant)

    def times(self, factor: Any) -> Form:
        """``factor*self``."""
        return Form().plus(self, factor)

    @property
    def is_number(self) -> bool:
        return not self.gram and not self.values

    def __rmul__(self, factor: Any) -> Form:
        return self.times(factor)


@dataclass(frozen=True)
class Extreme:
    """The least, or the greatest, of forms."""

    how: Literal["min", "max"]
    forms: tuple[Form, ...]

    def __rmul__(self, factor: Any) -> Linear:
        return times(self, factor)


@dataclass(frozen=True)
class Root:
    """``factor*sqrt(form)``: a length, which counts where both sides of a relation can be squared.

    That of a least or greatest form is the least or greatest of several lengths.
    """

    factor: Any
    form: Linear

    @property
    def squared(self) -> Linear:
        """``factor**2*form``."""
        return times(self.form, self.factor * self.factor)

    def __rmul__(self, factor: Any) -> Root:
        return Root(factor * self.factor, self.form)


@dataclass(frozen=True)
class Lengths:
    """A sum of lengths, each with its factor."""

    parts: tuple[Root, ...]

    def __rmul__(self, factor: Any) -> Lengths:
        return Lengths(tuple(factor * part for part in self.parts))


Linear: TypeAlias = "Form | Extreme"


def _sum(one: Mapping[Any, Any], other: Mapping[Any, Any], factor: Any) -> dict[Any, Any]:
    total = dict(one)
    for key, c in other.items():
        new = total.get(key, 0) + factor * c
        if new:
            total[key] = new
        else:
            total.pop(key, None)
    return total


def dot(u: Sequence[Any], v: Sequence[Any]) -> Form:
    """The inner product of two combinations of basis vectors, dense sequences of flint rationals."""
    own = [(i, c) for i, c in enumerate(u) if c]
    others = [(j, c) for j, c in enumerate(v) if c]
    gram: dict[tuple[int, int], Any] = {}
    for i, a in own:
        for j, b in others:
            key = (i, j) if i <= j else (j, i)
            gram[key] = gram.get(key, 0) + a * b
    return Form({key: c for key, c in gram.items() if c})


def form_of(value: Any) -> Linear:
    """A form, or a number as one.

    Raises:
        NotLinearError: for a number that is not rational.
    """
    from flint import fmpq

    if isinstance(value, Form | Extreme):
        return value
    if not isinstance(value, fmpq | int):
        raise NotLinearError("a number that is not rational")
    return Form(constant=value)


def plus(one: Linear, other: Linear, factor: Any = 1) -> Linear:
    """``one + factor*other``."""
    if isinstance(other, Extreme) and factor != 1:
        return plus(one, times(other, factor))
    if isinstance(one, Form) and isinstance(other, Form):
        return one.plus(other, factor)
    if isinstance(one, Form):
        one, other = other, one
    assert isinstance(one, Extreme)
    if isinstance(other, Form):
        return Extreme(one.how, tuple(a.plus(other, factor) for a in one.forms))
    if one.how != other.how:
        raise NotLinearError("a least and a greatest together")
    return extreme(one.how, [a.plus(b) for a, b in product(one.forms, other.forms)])


def times(one: Linear, factor: Any) -> Linear:
    """``factor*one``."""
    if isinstance(one, Form):
        return one.times(factor)
    if not factor:
        return Form()
    how = one.how if factor > 0 else _OTHER[one.how]
    return Extreme(how, tuple(a.times(factor) for a in one.forms))


_OTHER: Mapping[str, Literal["min", "max"]] = {"min": "max", "max": "min"}


def extreme(how: Literal["min", "max"], values: Sequence[Linear]) -> Linear:
    """The least or the greatest of several.

    Raises:
        NotLinearError: for a least among greatest, or too many.
    """
    forms: list[Form] = []
    for value in values:
        if isinstance(value, Extreme) and value.how != how:
            raise NotLinearError("a least among greatest ones, or the other way round")
        forms += [value] if isinstance(value, Form) else value.forms
    if len(forms) > MOST:
        raise NotLinearError(f"the {how} of more than {MOST}")
    return forms[0] if len(forms) == 1 else Extreme(how, tuple(forms))


def squared_sides(left: Any, right: Any) -> tuple[Linear, Linear]:
    """Both sides of ``left <= right``, squared where one is a length and the other lengths or a number.

    The square of a sum of lengths is the least of what `_of_shares` says. Some of that is taken, so that the right side
    may be larger than what it stands for, and is no smaller.

    Raises:
        NotLinearError: where that is not so.
    """
    if not isinstance(left, Root | Lengths) and not isinstance(right, Root | Lengths):
        return form_of(left), form_of(right)
    small, large = list[Root](), list[Root]()
    for side, one, other in ((left, small, large), (right, large, small)):
        for part in _lengths(side):
            if part.factor:
                (one if part.factor > 0 else other).append(part if part.factor > 0 else -1 * part)
    if len(small) > 1:
        raise NotLinearError("a sum of lengths that is to be small")
    return small[0].squared if small else Form(), _of_shares(large)


def _lengths(side: Any) -> tuple[Root, ...]:
    """What is added up: lengths, and a number as one."""
    if isinstance(side, Root | Lengths):
        return side.parts if isinstance(side, Lengths) else (side,)
    found = form_of(side)
    if not isinstance(found, Form) or not found.is_number:
        raise NotLinearError("a length that is not squared, against what is neither a length nor a number")
    return (Root(found.constant, Form(constant=1)),)


def _square_of_one(value: Any) -> Linear:
    """Of a length, or a number, that is not below 0."""
    if not isinstance(value, Lengths) and _lengths(value)[0].factor >= 0:
        return _lengths(value)[0].squared
    raise NotLinearError("the least or greatest of sums of lengths, or with a negative factor")


def _of_shares(lengths: Sequence[Root]) -> Linear:
    """The least, over some shares t that add up to 1, of ``sum_i a_i**2/t_i``: of all it is ``(sum_i a_i)**2``."""
    if len(lengths) < 2:
        return lengths[0].squared if lengths else Form()
    squares, found = [one.squared for one in lengths], list[Linear]()
    for shares in _shares(len(squares)):
        total: Linear = Form()
        for square, share in zip(squares, shares, strict=True):
            total = plus(total, times(square, 1 / share))
        found.append(total)
    return found[0] if any(isinstance(one, Extreme) for one in found) else extreme("min", found)


MOST_SHARES = 4
"""Lengths of which other shares than equal ones are taken."""


def _shares(count: int) -> list[tuple[Any, ...]]:
    """Equal ones, and such as give one length more than all the others."""
    from flint import fmpq

    equal = (fmpq(1, count),) * count
    if count > MOST_SHARES:
        return [equal]
    rest = fmpq(1, 4) / (count - 1)
    return [equal, *(tuple(fmpq(3, 4) if j == i else rest for j in range(count)) for i in range(count))]


def lifted(numbers: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The operations on numbers, by name, on forms as well, and on lengths as far as these can be squared later.

    Args:
        numbers: the same on numbers.
    """

    def general(name: str, on_forms: Callable[..., Any] | None) -> Callable[..., Any]:
        def apply(*arguments: Any) -> Any:
            if any(isinstance(a, Root | Lengths) for a in arguments):
                return of_roots(name, arguments)
            if not any(isinstance(a, Form | Extreme) for a in arguments):
                return numbers[name](*arguments)
            if on_forms is None:
                raise NotLinearError(f"{name} of inner products or values of functions")
            return on_forms(*arguments)

        return apply

    def of_roots(name: str, arguments: tuple[Any, ...]) -> Any:
        from flint import fmpq

        if name in ("+", "-"):
            one, other = arguments
            return Lengths((*_lengths(one), *(-1 * part if name == "-" else part for part in _lengths(other))))
        one, other = (*arguments, fmpq(-1))[:2] if name == "neg" else arguments[:2]
        if isinstance(other, Root | Lengths):
            one, other = other, one
        if name in ("*", "neg") and isinstance(other, fmpq):
            return other * one
        if name == "/" and isinstance(other, fmpq) and one is arguments[0]:
            return numbers["/"](fmpq(1), other) * one
        if name == "**" and isinstance(one, Root) and one is arguments[0] and other == 2:
            return one.squared
        if name in ("min", "max"):
            return Root(fmpq(1), extreme(name, [_square_of_one(a) for a in arguments]))  # type: ignore[arg-type]
        raise NotLinearError("a length that is not squared")

    def product_of(a: Any, b: Any) -> Linear:
        for one, other in ((a, b), (b, a)):
            if isinstance(other, Form) and other.is_number:
                other = other.constant
            if not isinstance(other, Form | Extreme):
                form_of(other)
                return times(form_of(one), other)
        raise NotLinearError("a product of inner products or values of functions")

    def quotient(a: Any, b: Any) -> Linear:
        if isinstance(b, Form) and b.is_number:
            b = b.constant
        if isinstance(b, Form | Extreme):
            raise NotLinearError("a division by inner products or values of functions")
        form_of(b)
        return times(form_of(a), numbers["/"](form_of(1).constant + b * 0, b))  # type: ignore[union-attr]

    on_forms: dict[str, Callable[..., Any]] = {
        "+": lambda a, b: plus(form_of(a), form_of(b)),
        "-": lambda a, b: plus(form_of(a), form_of(b), -1),
        "neg": lambda a: times(form_of(a), -1),
        "*": product_of,
        "/": quotient,
        "min": lambda *values: extreme("min", [form_of(v) for v in values]),
        "max": lambda *values: extreme("max", [form_of(v) for v in values]),
    }
    return {name: general(name, on_forms.get(name)) for name in numbers}
