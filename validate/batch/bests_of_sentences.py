"""The best constants of a sentence for every point on many problems at once, in floats.

The sentence is read as `validate.satisfied.forms` reads it, on spaces of arrays: of quadratics, and of piecewise
quadratics of one variable, stretch by stretch. What a form comes to, and which constant makes it nowhere negative, is
asked of all of them at once; of what breaks a claim fractions are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.for_every import ForEvery
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.predicates import Predicate
from theory.program import work
from theory.sentence import text_of
from validate.batch.hinges import Hinges
from validate.batch.recorded import Array
from validate.batch.spaces import Arrays, ManyQuadratics, Stretches, Where, is_the_same_elsewhere
from validate.satisfied.conditions import Terms
from validate.satisfied.forms import gaps

if TYPE_CHECKING:
    from validate.batch.bests import Problems

Best: TypeAlias = "tuple[tuple[Array, ...], Array]"
ROUNDED = 1e-12
"""Part of its numbers by which a form may be negative."""
RANGE, HALVINGS = 40.0, 44
"""Powers of 2 between which, and between whose inverses, constants are; how often that is halved."""
CALLS, ENTRIES = 3, 2000
"""What a row of forms counts as work, and so many of their entries."""
ROOM, MORE = 1.25, 4.0
"""As of `validate.satisfied.every`."""


# --- what forms come to -----------------------------------------------------------------------------------------------


def _least(form: Array, where: Where) -> tuple[Array, Array]:
    """The infimum of each form, minus infinity being NaN, and the size of its numbers."""
    work.count(CALLS * form.shape[-1] + form.size // ENTRIES)
    if where is None:
        return _least_anywhere(form)
    a, b, c = form[..., 0, 0], form[..., 0, 1], form[..., 1, 1]
    low, high = where
    still = np.clip(np.where(a > 0, -b / a, np.where((a < 0) | (b > 0), low, high)), low, high)
    still = np.where((a == 0) & (b == 0), np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0)), still)
    both = np.where(a < 0, np.where(np.isfinite(high), high, np.inf), still)  # of concave ones both ends
    length = np.max([np.where(np.isfinite(x), np.abs(x), 0).max(axis=1) for x in where], axis=0)
    found: Any = np.inf
    size = np.abs(c) + (np.abs(a).max(axis=1) * length**2)[:, None]
    for x in (still, both):
        value = np.where(np.isfinite(x), (a * x + 2 * b) * x + c, np.nan)
        found = np.minimum(found, value)
        size = np.maximum(size, np.where(np.isfinite(x), np.abs(a) * x**2 + np.abs(2 * b * x), 0))
    worst = np.where(np.isnan(found).any(axis=1), 0, np.argmin(found - ROUNDED * size, axis=1))[:, None]
    none = np.isnan(found).any(axis=1)
    return np.where(none, np.nan, np.take_along_axis(found, worst, 1)[:, 0]), np.take_along_axis(size, worst, 1)[:, 0]


def _least_anywhere(form: Array) -> tuple[Array, Array]:
    rows, last = form.copy(), form.shape[-1] - 1
    block = np.abs(form[:, :last, :last]).max(axis=(1, 2))
    slopes, size = np.abs(form[:, :last, last]).max(axis=1), np.abs(form[:, last, last])
    none = np.zeros(len(form), bool)
    for k in range(last):
        pivot, rest = rows[:, k, k], rows[:, k, k + 1 :]
        flat = np.abs(pivot) <= ROUNDED * block
        beside = np.abs(rest[:, : last - k - 1]).max(axis=1, initial=0)
        none |= (pivot < -ROUNDED * block) | (flat & (beside > 1e-6 * block))
        none |= flat & (np.abs(rest[:, -1]) > 1e-9 * np.maximum(slopes, np.sqrt(block * np.abs(form[:, last, last]))))
        ratio = np.where(flat[:, None], 0.0, rest / np.where(flat, 1.0, pivot)[:, None])
        size = size + np.abs(ratio[:, -1] * rest[:, -1])
        rows[:, k + 1 :, k + 1 :] -= ratio[:, :, None] * rest[:, None, :]
    return np.where(none, np.nan, rows[:, last, last]), size


@dataclass(frozen=True)
class _Condition:
    """That forms, whose coefficients are polynomials in constants, are nowhere negative."""

    terms: Terms
    where: Where

    def form(self, values: Mapping[str, Any]) -> Array:
        total: Any = 0.0
        for monomial, coefficient in self.terms.items():
            factor: Any = 1.0
            for name, power in monomial:
                value = values[name]
                factor = (
                    factor * (value.reshape(-1, *[1] * (coefficient.ndim - 1)) if np.ndim(value) else value) ** power
                )
            total = total + coefficient * factor
        return np.asarray(total)

    def holds(self, values: Mapping[str, Any]) -> Array:
        least, size = _least(self.form(values), self.where)
        return np.asarray(least >= -ROUNDED * size)

    def exponents(self, name: str) -> frozenset[int]:
        return frozenset(power for monomial in self.terms for other, power in monomial if other == name)

    def lifted(self, name: str, values: Mapping[str, Any]) -> Array | None:
        """By how much c**power moves its constant term, (B,), where it moves nothing else."""
        own = _Condition({m: v for m, v in self.terms.items() if name in dict(m)}, None)
        if not own.terms:
            return np.zeros(())
        form = own.form({**values, name: 1.0})
        if form[..., :-1, :].any():
            return None
        corner = form[..., -1, -1]
        return corner if corner.ndim == 1 else corner[:, 0]


# --- constants --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sentence:
    one: ForEvery
    conditions: Sequence[_Condition]
    count: int

    def filled(self, values: dict[str, Any], open_: Sequence[str]) -> dict[str, Any]:
        """As `validate.satisfied.every.best` does it; NaN where there are none."""
        if not open_:
            return values
        name, *later = open_
        up = self.one.binds[name] == "up"
        end = self.end({**values, **{other: self.large(other) for other in later}}, name, up)
        if not later:
            return {**values, name: end}
        first, second = (
            self.filled({**values, name: value}, later) for value in (end, end * ROOM if up else end / ROOM)
        )
        worse = np.isnan(first[later[0]])
        for other in later:
            less, more = (first, second) if self.one.binds[other] == "up" else (second, first)
            worse = worse | (less[other] > MORE * more[other])
        return {key: np.where(worse, second[key], first[key]) for key in first}

    def large(self, name: str) -> float:
        down = self.one.binds[name] == "down"
        return -(2.0**RANGE) if down and name in self.one.signed else 2.0 ** (-RANGE if down else RANGE)

    def end(self, values: Mapping[str, Any], name: str, up: bool) -> Array:
        """The least (up) or largest constant, (B,)."""
        signed = name in self.one.signed
        powers = frozenset[int]().union(*(c.exponents(name) for c in self.conditions))
        lifts = [c.lifted(name, values) for c in self.conditions]
        if (up or signed) and powers in ({1}, {2}) and not any(lift is None for lift in lifts):
            return self._quotient([np.asarray(lift) for lift in lifts], {**values, name: 0.0}, max(powers), up, signed)
        if not signed:
            return self._bisected(lambda c: self.hold({**values, name: c}), up)
        there = self.hold({**values, name: np.zeros(self.count)})
        above = self._bisected(lambda c: self.hold({**values, name: c}), up)
        below = -self._bisected(lambda c: self.hold({**values, name: -c}), not up)
        found = np.where(there == up, below, above)
        return np.where(np.isnan(found) & there, 0.0, found)

    def hold(self, values: Mapping[str, Any]) -> Array:
        return np.logical_and.reduce([c.holds(values) for c in self.conditions])

    def _quotient(
        self, lifts: Sequence[Array], without: Mapping[str, Any], power: int, up: bool, signed: bool
    ) -> Array:
        needed = np.full(self.count, (-np.inf if up else np.inf) if signed else 0.0)
        for condition, lift in zip(self.conditions, lifts, strict=True):
            least, size = _least(condition.form(without), condition.where)
            moves = np.broadcast_to(lift != 0, least.shape)
            asked = np.where(moves, -least / np.where(moves, lift, 1.0), needed)
            if not signed:
                asked = np.where(least >= -ROUNDED * size, np.minimum(asked, 0.0), asked)
            needed = (np.maximum if up else np.minimum)(needed, asked)  # NaN stays
            needed = np.where(np.isnan(least) | (~moves & (least < -ROUNDED * size)), np.nan, needed)
        needed = np.where(np.isinf(needed), 0.0, needed)
        return np.asarray(needed if power == 1 else np.sqrt(needed))

    def _bisected(self, holds: Callable[[Array], Array], up: bool) -> Array:
        good, bad = (np.full(self.count, RANGE if up == larger else -RANGE) for larger in (True, False))
        possible, always = holds(2.0**good), holds(2.0**bad)
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            there = holds(2.0**middle)
            good, bad = np.where(there, middle, good), np.where(there, bad, middle)
        found = np.where(always, 0.0 if up else 1.0, 2.0**good)
        return np.where(possible, found, np.nan)


def best(one: Predicate, of: Problems | Hinges) -> Best:
    """The best value of each constant, (B,), and where there are any. Errors as of `validate.satisfied.forms`."""
    assert isinstance(one, ForEvery)
    space: Arrays = Stretches(of) if isinstance(of, Hinges) else ManyQuadratics(one, of)
    where = space.where if isinstance(space, Stretches) else None
    with np.errstate(all="ignore"):
        conditions = []
        for gap in gaps(one, space.problem, {}):
            terms = {m: np.asarray(form) for m, form in gap(space).items()}
            conditions.append(_Condition(terms, where))
        said = _Sentence(one, conditions, len(of))
        names = [text_of(c) for c in one.constants]
        if not names:
            return (), said.hold({})
        ones = dict.fromkeys(names, 1.0)
        order = sorted(names, key=lambda name: all(c.lifted(name, ones) is not None for c in conditions))
        found = said.filled({}, order)
    numbers = tuple(found[name] for name in names)
    true = np.logical_and.reduce([np.isfinite(number) for number in numbers])
    return tuple(np.where(true, number, 1.0) for number in numbers), true


@lru_cache(maxsize=256)
def knows(one: ForEvery, pieces: bool) -> bool:
    """Whether the best constants of a sentence can be told so: tried on one small problem."""
    from validate.batch.bests import Problems

    if len(one.binds) < len(one.constants) or (pieces and len(one.points) > 1):
        return False
    try:
        if pieces:
            best(one, Hinges(np.ones((1, 1, 1)), np.ones((1, 1, 2)), np.zeros((1, 1)), np.zeros((1, 1), int), True))
            return is_the_same_elsewhere(one)  # knots are counted from the minimiser
        else:
            best(one, Problems(np.ones((1, 1, 1, 1, 1)), np.ones((1, 1, 1, 1))))
    except (UndecidedError, UndefinedError, ValueError, ZeroDivisionError):
        return False
    return True


__all__ = ["best", "knows"]
