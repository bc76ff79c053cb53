"""What a sentence for every point comes to on a problem: conditions that quadratic forms are nowhere negative.

On quadratics, points being unknown, a number that is linear in values, inner products and squared norms is a quadratic
form in the unknowns and 1. A minimiser that is not the only one is an unknown, too: the sentence holds for each. Sums
of piecewise quadratics along orthogonal axes are a sum of such numbers, each of one unknown a point, on the stretches
between knots. Constants stay letters, so that a problem is gone through once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.for_every import ForEvery
from theory.formula import UndefinedError
from theory.operations import UndecidedError, to_fraction
from theory.sentence import Expression, Sentence, Vocabulary, evaluate, index_of, read
from validate.instances.ridge_functions import axes_of
from validate.instances.setting import number
from validate.satisfied.conditions import EVERYWHERE, ONE, Box, Condition, Terms
from validate.satisfied.spaces import Constants, Quadratics, Space, stretches

F = Fraction


def conditions(one: ForEvery, problem: Any, values: Mapping[str, Any]) -> list[Condition]:
    """What has to hold, all of it, in terms of the parameters that have no value here.

    Args:
        one: the assumption.
        problem: quadratics, or sums of ridges.
        values: numbers by name without index; a list for one a client.

    Raises:
        UndecidedError: where it comes to no forms.
        UndefinedError: where something is not defined, such as a minimiser.
    """
    spaces: list[list[tuple[Space, Box]]]
    if isinstance(problem, Quadratic):
        spaces, constant = [[(Quadratics(one, problem), EVERYWHERE)]], None
    else:
        if len(one.points) > 2:
            raise UndecidedError("three points of functions that are no quadratics")
        axes = axes_of([f for own in problem.functions for f in own])
        if axes is None:
            raise UndecidedError("directions that are not orthogonal")
        spaces, constant = [list(stretches(problem, a, one.points)) for a in axes], Constants(problem)
    found = []
    for gap in gaps(one, problem, values):
        parts = [[(gap(s), where) for s, where in own] for own in spaces]
        beside: Terms = {}
        if constant is not None:
            whole, plain = map(gap, (constant, constant.without))
            beside = {m: form[-1, -1] for m, form in whole.items()}
            for m, form in plain.items():
                beside[m] = beside.get(m, 0) - len(spaces) * form[-1, -1]
        found.append(Condition(tuple(tuple(own) for own in parts), beside))
    return found


def gaps(one: ForEvery, problem: Any, values: Mapping[str, Any]) -> Iterator[Callable[[Space], Terms]]:
    """What is not to be negative, as forms of a space: for every client and sample, and for an equation both ways."""
    words = Vocabulary(vectors=one.points)
    free = frozenset[str]().union(*(read(side, words).free for side in one.sentence.sides))
    for at in _indices(free, problem):
        for sides in _not_negative(one.sentence):
            yield partial(_gap, sides, values, at, words, one.signed)


def _not_negative(sentence: Sentence) -> Iterator[tuple[Expression, Expression]]:
    """The sides whose differences are not to be negative."""
    if sentence.relation in (">=", "=="):
        yield sentence.left, sentence.right
    if sentence.relation in ("<=", "=="):
        yield sentence.right, sentence.left


def _gap(
    sides: tuple[Expression, Expression],
    values: Mapping[str, Any],
    at: Mapping[str, int],
    words: Vocabulary,
    signed: Collection[str],
    space: Space,
) -> Terms:
    world = _Forms(space, values, signed)
    large, small = (evaluate(side, world, at, words) for side in sides)
    if isinstance(small, _Length) or isinstance(large, _Length):
        large, small = (world.squared(side) for side in (large, small))
    return _sum(world.form(large).terms, world.form(small).terms, -1)


def _sum(one: Terms, two: Terms, sign: int) -> Terms:
    found = dict(one)
    for monomial, value in two.items():
        found[monomial] = found[monomial] + sign * value if monomial in found else sign * value
    return found


def _product(one: Terms, two: Terms) -> Terms:
    found: Terms = {}
    for m, a in one.items():
        for k, b in two.items():
            powers = dict(m)
            for name, power in k:
                powers[name] = powers.get(name, 0) + power
            monomial = tuple(sorted((name, power) for name, power in powers.items() if power))
            found[monomial] = found[monomial] + a * b if monomial in found else a * b
    return found


def _indices(free: frozenset[str], problem: Any) -> Iterator[dict[str, int]]:
    for n in range(problem.clients) if free & {"n", "i"} else (0,):
        for i in range(int(problem.counts[n])) if "i" in free else (0,):
            yield {"n": n, "i": i}


# --- numbers that are forms -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Number:
    """A number that hangs on no unknown."""

    terms: Terms


@dataclass(frozen=True)
class _Form:
    """A quadratic form in the unknowns and 1."""

    terms: Terms


@dataclass(frozen=True)
class _Length:
    """A norm, or one times a number that is not negative: the root of a form."""

    square: _Form


class _Forms:
    """A `theory.sentence.World` whose numbers are `_Number`, `_Form` and `_Length`; vectors are affine, (d, m+1)."""

    def __init__(self, space: Space, values: Mapping[str, Any], signed: Collection[str]) -> None:
        self.space, self.values, self.signed = space, values, signed

    def form(self, value: _Number | _Form) -> _Form:
        """A number as a form."""
        if isinstance(value, _Form):
            return value
        found: Terms = {}
        for monomial, coefficient in value.terms.items():
            found[monomial] = self.space.zeros(self.space.size + 1, self.space.size + 1)
            found[monomial][..., -1:, -1:] = coefficient
        return _Form(found)

    def squared(self, value: Any) -> Any:
        """The square of a number that is not negative, letters being positive but for the signed ones.

        Raises:
            UndecidedError: for others.
        """
        if isinstance(value, _Length):
            return value.square
        if isinstance(value, _Form) or any(
            coefficient < 0 or any(name in self.signed for name, _ in letters)
            for letters, coefficient in value.terms.items()
        ):
            raise UndecidedError("a norm beside what is no norm")
        return _Number(_product(value.terms, value.terms))

    def constant(self, value: Fraction) -> Any:
        """As `World`."""
        return _Number({ONE: self.space.element(value)})

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if name in ("N", "d"):
            return self.constant(F(self.space.problem.clients if name == "N" else self.space.problem.dim))
        if name == "fstar":
            return self.form(self.constant(self.space.infimum))
        base, index = index_of(name)
        if base not in self.values:
            if index:
                raise UndecidedError(f"{name} is one number a client")
            return _Number({((base, 1),): self.space.element(F(1))})
        value = self.values[base]
        if isinstance(value, list | tuple):
            if index != "n":
                raise UndecidedError(f"{name} is one number a client, and is to be written {name}_n")
            value = value[at["n"]]
        if self.space.exact and not isinstance(value, Fraction | int):
            raise UndecidedError(f"{name} is no fraction")
        return self.constant(value)

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return self.space.point(name, at.get("n", 0))

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """As `World`."""
        raise UndecidedError(f"{name} is of a run")

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        H, b, c = self.space.function(name, at, v)
        form, slope = self.space.zeros(1, 1), 0
        if v.shape[-2]:
            form = np.swapaxes(v, -1, -2) @ H @ v * self.space.weight / 2
            slope = (b[..., None, :] @ v)[..., 0, :] * self.space.weight / 2
        form[..., -1, :] -= slope
        form[..., :, -1] -= slope
        form[..., -1, -1] += c
        return _Form({ONE: form})

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        H, b, _ = self.space.function(name, at, v)
        found = H @ v if v.shape[-2] else v.copy()
        found[..., -1] -= b
        return found

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        one, two = arguments[0], arguments[-1]
        plain = not any(isinstance(a, _Form | _Length) for a in arguments)
        if operation in ("+", "-", "neg") and not any(isinstance(a, _Length) for a in arguments):
            if operation == "neg":
                return type(one)(_sum({}, one.terms, -1))
            kind = _Number if plain else _Form
            one, two = (one, two) if plain else map(self.form, arguments)
            return kind(_sum(one.terms, two.terms, 1 if operation == "+" else -1))
        if operation in ("*", "/") and (plain or isinstance(two, _Number) or operation == "*"):
            if not isinstance(two, _Number):
                one, two = two, one
            if isinstance(two, _Number):
                factor = _inverse(two) if operation == "/" else two
                if isinstance(one, _Length):
                    return _Length(_Form(_product(self.squared(factor).terms, one.square.terms)))
                return type(one)(_product(one.terms, factor.terms))
        if (
            operation == "**"
            and isinstance(two, _Number)
            and set(two.terms) == {ONE}
            and two.terms[ONE] in range(-8, 9)
        ):
            if isinstance(one, _Length) and two.terms[ONE] == 2:
                return one.square
            if plain:
                power, found = int(two.terms[ONE]), self.constant(F(1))
                for _ in range(abs(power)):
                    found = _Number(_product(found.terms, one.terms))
                return _inverse(found) if power < 0 else found
        if plain and all(set(a.terms) <= {ONE} for a in arguments):
            worth = number(operation, [_plain(a.terms.get(ONE, F(0))) for a in arguments])
            if not self.space.exact or not isinstance(worth, float):
                return self.constant(worth)
        raise UndecidedError(f"{operation} of a number that is no quadratic form, or makes none")

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        one, two = arguments[0], arguments[-1]
        if operation in ("norm2", "norm", "dot"):
            product = self.space.zeros(1, 1)
            if one.shape[-2]:
                product = np.swapaxes(one, -1, -2) @ two * self.space.weight
            form = _Form({ONE: (product + np.swapaxes(product, -1, -2)) / 2})
            return _Length(form) if operation == "norm" else form
        if operation == "neg":
            return -one
        if operation in ("+", "-"):
            return one + two if operation == "+" else self.space.difference(one, two)
        if not isinstance(two, _Number) or set(two.terms) != {ONE}:
            raise UndecidedError("a vector times what is no number here")
        return one * (two if operation == "*" else _inverse(two)).terms[ONE]

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """As `World`."""
        return range(self.space.problem.clients if index == "n" else int(self.space.problem.counts[at["n"]]))

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """As `World`."""
        raise UndecidedError("an expectation")

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        raise UndecidedError("a quantile")

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """As `World`."""
        raise UndecidedError("the minimiser of other functions")


def _plain(value: Any) -> Any:
    return value if isinstance(value, float) else to_fraction(value)


def _inverse(value: _Number) -> _Number:
    if len(value.terms) != 1:
        raise UndecidedError("a division by a sum with constants")
    ((monomial, coefficient),) = value.terms.items()
    if coefficient == 0:
        raise UndefinedError("division by 0")
    return _Number({tuple((name, -power) for name, power in monomial): 1 / coefficient})


__all__ = ["conditions", "gaps"]
