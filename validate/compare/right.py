"""The right side of a bound on one problem: in floats, at values of its free parameters, which may be arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from theory.bound import Bound
from theory.calculator import calculator
from theory.floats import Floats
from theory.quantity import Bounded

MOST_CARRIED = 2000
"""Rounds over which a bound of one round that hangs on the round is carried."""
SLACK = 1e-9
"""What rounding may amount to, relative to the numbers."""


class Right:
    """A right side, and the conditions of its claim.

    Args:
        bounded: what bounds the quantity.
        rounds: K.

    Attributes:
        bounds: in numbers: of the claim, and of one round where it is carried.
        texts: of their parameters that stand for an expression, what they stand for.
        values: of the parameters that are not free, by name.
        begins: what is carried, before the first round.
    """

    def __init__(self, bounded: Bounded, rounds: int) -> None:
        self.bounded, self.rounds, self.begins = bounded, rounds, 0.0
        claims = [bounded.claim, *([bounded.step] if bounded.step is not None else [])]
        found = [calculator(one, all_relations=True) for one in claims]
        self.bounds: tuple[Bound, ...] = tuple(one.bound for one in found)
        self.texts: dict[str, str] = {name: text for one in found for name, text in one.texts.items()}
        self.values: dict[str, Any] = {}

    @property
    def names(self) -> frozenset[str]:
        """The numbers that it takes, by name; those that stand for an expression, by its text."""
        every = (self.texts.get(p.name, p.name) for bound in self.bounds for p in bound.parameters)
        return frozenset(every) - {self.bounded.carried}

    def floats(self, at: int, values: Mapping[str, Any]) -> Floats:
        bound = self.bounds[at]
        every = {**self.values, **values}
        return Floats(bound, {p.name: every[p.name] for p in bound.parameters})

    def at(self, values: Mapping[str, Any]) -> Any:
        """The right side at values of the free parameters, infinite where a condition is violated."""
        with np.errstate(all="ignore"):
            carried = {} if self.bounded.step is None else {self.bounded.carried: self._carried(values)}
            floats = self.floats(0, {**values, **carried})
            shape = np.broadcast_shapes(floats.shape, *(np.shape(v) for v in values.values()))
            found = np.broadcast_to(np.asarray(floats.right(), dtype=float), shape).copy()
            for i, relation in enumerate(floats.claim.formulas.relations):
                if relation is None:
                    continue
                used = floats.claim.formulas.names_used(relation.sides)
                free = bool(used & set(values))  # chosen within, and not up to rounding
                found[~np.broadcast_to(_holds(floats.sides(i), relation.operators, free), shape)] = np.inf
        found[np.isnan(found)] = np.inf
        return found

    @np.errstate(all="ignore")
    def _carried(self, values: Mapping[str, Any]) -> Any:
        """The number of a claim about one round, after all rounds."""
        name, many = self.bounded.carried, self.rounds - self.bounded.last + 1
        bound = self.bounds[1]

        def after(before: Any, k: int | None = None) -> Any:
            more = {} if k is None else {"k": k}
            return np.asarray(self.floats(1, {**values, name: before, **more}).right(), dtype=float)

        if any(p.name == "k" for p in bound.parameters):
            if many > MOST_CARRIED:
                return np.inf
            value: Any = np.asarray(self.begins)
            for k in range(many):
                value = np.nan_to_num(np.maximum(after(value, k), 0.0), nan=1e300, posinf=1e300)
            return value
        rest, one, two = after(0.0), after(1.0), after(2.0)
        rate = np.maximum(one - rest, 0.0)
        linear = np.abs(two - 2 * one + rest) <= 1e-6 * (np.abs(two) + np.abs(rest) + 1e-300)
        power = rate**many
        total = np.where(np.abs(1 - rate) < 1e-12, many, (1 - power) / np.where(rate == 1, 1.0, 1 - rate))
        found = np.where(linear, power * self.begins + np.maximum(rest, 0.0) * total, np.inf)
        return np.nan_to_num(found, nan=1e300, posinf=1e300)

    def terms(self, chosen: Mapping[str, float]) -> dict[str, float]:
        """The definitions of the right side that are numbers."""
        carried = {} if self.bounded.step is None else {self.bounded.carried: self._carried(chosen)}
        floats = self.floats(0, {**chosen, **carried})
        names = list(floats.claim.formulas.definitions)
        found = zip(names, floats.definitions(), strict=True)
        return {name: float(value) for name, value in found if np.ndim(value) == 0}

    def solved(self, name: str, free: Mapping[str, Any]) -> float | None:
        """The number that an equation gives which has this one of the free parameters alone."""
        bound = self.bounds[0]
        for i, relation in enumerate(bound.formulas.relations):
            if (
                relation is None
                or relation.operators != ("==",)
                or bound.formulas.names_used(relation.sides) & set(free) != {name}
            ):
                continue
            rest = dict.fromkeys(free, 1.0)
            grid = np.geomspace(1e-12, 1e12, 481)

            def difference(value: Any, i: int = i, rest: dict[str, Any] = rest) -> Any:
                left, right = self.floats(0, {**rest, name: value, **self._any_carried()}).sides(i)
                return np.broadcast_to(left - right, np.shape(value))

            signs = np.sign(difference(grid))
            turns = np.nonzero(signs[1:] * signs[:-1] <= 0)[0]
            if len(turns):
                from scipy.optimize import brentq

                low, high = float(grid[turns[0]]), float(grid[turns[0] + 1])
                return float(brentq(lambda v: float(difference(np.array([v]))[0]), low, high, xtol=1e-15 * high))
        return None

    def _any_carried(self) -> dict[str, float]:
        return {} if self.bounded.step is None else {self.bounded.carried: 1.0}

    def violated(self, fixed: Mapping[str, float], free: Mapping[str, Any]) -> str | None:
        """A condition without free parameters that is false."""
        rest = {**dict.fromkeys(free, 1.0), **fixed, **self._any_carried()}
        try:
            floats = self.floats(0, rest)
        except ValueError as error:
            return str(error)
        for i, relation in enumerate(floats.claim.formulas.relations):
            if relation is None or floats.claim.formulas.names_used(relation.sides) & set(free):
                continue
            if not np.all(_holds(floats.sides(i), relation.operators)):
                return floats.claim.conditions[i].name
        return None


def _holds(sides: Sequence[Any], operators: Sequence[str], exactly: bool = False) -> Any:
    """A chain of relations between floats, up to rounding where they are not strict; `exactly`: equations alone."""
    found: Any = True
    for (left, right), operator in zip(pairwise(sides), operators, strict=True):
        slack = SLACK * np.maximum(np.abs(left), np.abs(right))
        room = 0.0 if exactly else slack
        if operator == "==":
            found = found & (np.abs(left - right) <= slack)
        elif operator in ("<", "<="):
            found = found & ((left < right) if operator == "<" else (left <= right + room))
        else:
            found = found & ((left > right) if operator == ">" else (left + room >= right))
    return found
