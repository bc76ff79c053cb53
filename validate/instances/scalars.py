"""The scalars of a program on an instance: each formula compiled once into a function of the values at hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from theory.arithmetic import to_element
from theory.formula import Apply, Formula, Name, Number
from theory.operations import Element, operations, rational_type

LONGEST_RATIONAL = 2**20
"""Bits of numerator or denominator above which formulas go on with balls."""
Given: TypeAlias = "Fraction | tuple[Fraction, ...] | tuple[tuple[Fraction, ...], ...] | Schedule"
Environment: TypeAlias = "Sequence[Any]"


@dataclass(frozen=True)
class Schedule:
    """A parameter that depends on the round: its value in round 0, 1, ..."""

    values: tuple[Fraction, ...]


@dataclass(frozen=True)
class Scalar:
    """A compiled formula.

    Attributes:
        value: of the environment (a sequence of values), a number, or where it is one a client a tuple of N.
        per_client: whether it is one a client.
        fixed: whether it depends on nothing but parameters and the round.
        by_round: whether it depends on the round.
    """

    value: Callable[[Environment], Any]
    per_client: bool
    fixed: bool
    by_round: bool


class Scalars:
    """The compiler of an instance's scalars.

    Args:
        parameters: the algorithm's; a tuple of numbers is one a client.
        clients: N.
        dim: d.

    Attributes:
        k: the round, which whoever plays sets.
    """

    def __init__(self, parameters: Mapping[str, Given], clients: int, dim: int) -> None:
        from flint import fmpq

        self.parameters = parameters
        self.clients = clients
        self.k = 0
        self._sizes = {"N": fmpq(clients), "d": fmpq(dim)}
        self._operations = operations(LONGEST_RATIONAL, False)

    def compiled(
        self, formula: Formula, slots: Mapping[str, int], per_client: Collection[str] = (), client: int | None = None
    ) -> Scalar:
        """A formula as a function of an environment.

        Args:
            formula: in parameters, k, N, d and the names in `slots`.
            slots: where the environment has the values of draws and of turns.
            per_client: those of them that are one a client.
            client: where the environment has the one client for which the formula is wanted; None for all clients.

        Raises:
            ValueError: for a name that is not there, or that is no number.
        """
        value, many, fixed, by_round = self._compiled(formula, slots, per_client)
        if fixed:
            value = self._kept(value, by_round)
        if many and client is not None:
            inner = value
            return Scalar(lambda env: inner(env)[env[client]], False, False, by_round)
        return Scalar(value, many, fixed, by_round)

    def _kept(self, value: Callable[[Environment], Any], by_round: bool) -> Callable[[Environment], Any]:
        found: dict[int, Any] = {}

        def kept(env: Environment) -> Any:
            k = self.k if by_round else 0
            if k not in found:
                found.clear()
                found[k] = value(env)
            return found[k]

        return kept

    def _compiled(
        self, formula: Formula, slots: Mapping[str, int], per_client: Collection[str]
    ) -> tuple[Callable[[Environment], Any], bool, bool, bool]:
        """The function, whether it is one a client, fixed, by the round."""
        if isinstance(formula, Number):
            constant = to_element(formula.value)
            return lambda env: constant, False, True, False
        if isinstance(formula, Name):
            return self._named(formula.name, slots, per_client)
        assert isinstance(formula, Apply)
        parts = [self._compiled(a, slots, per_client) for a in formula.arguments]
        apply = self._operations[formula.operation]
        functions = [p[0] for p in parts]
        many = [p[1] for p in parts]
        fixed, by_round = all(p[2] for p in parts), any(p[3] for p in parts)
        if not any(many):
            if len(functions) == 2:
                one, two = functions
                return lambda env: apply(one(env), two(env)), False, fixed, by_round
            return lambda env: apply(*[f(env) for f in functions]), False, fixed, by_round

        def clientwise(env: Environment) -> tuple[Element, ...]:
            values = [f(env) for f in functions]
            return tuple(
                [apply(*[v[n] if m else v for v, m in zip(values, many, strict=True)]) for n in range(self.clients)]
            )

        return clientwise, True, fixed, by_round

    def _named(
        self, name: str, slots: Mapping[str, int], per_client: Collection[str]
    ) -> tuple[Callable[[Environment], Any], bool, bool, bool]:
        fmpq = rational_type()
        if name in slots:
            slot = slots[name]
            if not name.startswith("_"):  # the turn of a loop is counted in Python's integers
                return lambda env: fmpq(env[slot]), False, False, False
            return lambda env: env[slot], name in per_client, False, False
        if name == "k":
            return lambda env: fmpq(self.k), False, True, True
        if name in self._sizes and name not in self.parameters:
            size = self._sizes[name]
            return lambda env: size, False, True, False
        if name not in self.parameters:
            raise ValueError(f"the program speaks of {name}, which is no parameter")
        given = self.parameters[name]
        if isinstance(given, Schedule):
            values = tuple(map(to_element, given.values))
            return lambda env: values[self.k], False, True, True
        if isinstance(given, tuple):
            if given and isinstance(given[0], tuple):
                raise ValueError(f"{name} is a matrix where a number is needed")
            each = tuple(map(to_element, given))
            if len(each) != self.clients:
                raise ValueError(
                    f"{name} has {len(each)} numbers, one a client, and there are N={self.clients} clients"
                )
            return lambda env: each, True, True, False
        constant = to_element(given)
        return lambda env: constant, False, True, False
