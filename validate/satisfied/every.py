"""Is a sentence for every point true of a problem, and what are its best constants? Exactly, for fractions.

A constant that enters linearly, or as its square or inverse, moves the conditions (`validate.satisfied.forms`) along a
line, on which they hold from one end on: where only their constant term moves the end is a quotient, else bisection
and the simplest fraction between its last two values find every end of a short denominator.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sim.problems.linear_algebra import root
from theory.for_every import ForEvery
from theory.operations import UndecidedError, to_fraction
from theory.sentence import index_of
from validate.satisfied.conditions import Condition
from validate.satisfied.forms import conditions
from validate.satisfied.rules import ROUNDING, Numbers

F = Fraction
DOUBLINGS, HALVINGS = 60, 45
"""Of a constant, from 1 to the largest that is looked at; of the interval in which the best one is."""
NEAR = F(1, 2**20)
"""Relative distance from a best constant that is no short fraction to one that is."""
ROOM = F(5, 4)
"""By which a constant is larger than its best where another one, of the best, is more than so much as beside it."""
MORE = 4


def is_true(one: ForEvery, problem: Any, constants: Numbers) -> bool:
    """Whether it is true with these constants, in its order; errors as of `conditions`."""
    names = [index_of(c.name)[0] for c in one.constants]  # type: ignore[union-attr]
    values = dict(zip(names, constants, strict=True))
    return _hold(*_read(one, problem, values))


def _read(one: ForEvery, problem: Any, values: Mapping[str, Any]) -> tuple[Sequence[Condition], Mapping[str, Any]]:
    """The conditions, in letters where they can be, and what these are worth."""
    letters = {name: value for name, value in values.items() if name in one.binds and not isinstance(value, list)}
    rest = {name: value for name, value in values.items() if name not in letters}
    try:
        return _known(one, problem, rest), letters
    except UndecidedError:
        return conditions(one, problem, values), {}


KEPT = 16
_conditions: OrderedDict[tuple[int, ForEvery, str], tuple[Any, Sequence[Condition]]] = OrderedDict()
"""Conditions that were asked for last, with their problems, so that ids stay theirs."""


def _known(one: ForEvery, problem: Any, values: Mapping[str, Any]) -> Sequence[Condition]:
    key = (id(problem), one, repr(values))
    if key not in _conditions:
        _conditions[key] = (problem, conditions(one, problem, values))
        if len(_conditions) > KEPT:
            _conditions.popitem(last=False)
    return _conditions[key][1]


def _hold(found: Sequence[Condition], values: Mapping[str, Any]) -> bool:
    for condition in found:
        least = condition.at(values)
        if least is None or least < (-ROUNDING * max(1.0, abs(least)) if isinstance(least, float) else 0):
            return False
    return True


def best(one: ForEvery, problem: Any, known: Mapping[str, Any]) -> Numbers | None:
    """Its best constants, in its order, where some have these values.

    The constants by which more than the constant term moves are found first, with the others large, the others last.

    Returns:
        None where it is true with none, or a number that it does not bind is not known. Errors as of `conditions`.
    """
    names = [index_of(c.name)[0] for c in one.constants]  # type: ignore[union-attr]
    if any(name not in known and name not in one.binds for name in names):
        return None
    values = {name: known[name] for name in names if name in known}
    open_ = [name for name in names if name not in known]
    large = {name: F(2) ** (40 if one.binds[name] == "up" else -40) for name in open_}
    large |= {name: -(F(2) ** 40) for name in open_ if name in one.signed and one.binds[name] == "down"}
    found, letters = _read(one, problem, {**large, **values})
    if letters:
        open_.sort(key=lambda name: all(c.lifted(name, letters) is not None for c in found))
    chosen = _filled(one, problem, values, open_, large)
    return None if chosen is None else tuple(chosen[name] for name in names)


def _filled(
    one: ForEvery, problem: Any, values: dict[str, Any], open_: Sequence[str], large: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The values with best ones for open names, each the best beside large values of the later ones, or near it."""
    if not open_:
        return values
    name, *later = open_
    up = one.binds[name] == "up"
    end = _end(one, problem, {**values, **{other: large[other] for other in later}}, name, up)
    if end is None or not later:
        return None if end is None else {**values, name: end}
    first, second = (
        _filled(one, problem, {**values, name: value}, later, large)
        for value in (end, end * ROOM if up else end / ROOM)
    )
    if first is None or second is None:
        return first or second
    worse = any(first[o] > MORE * second[o] if one.binds[o] == "up" else MORE * first[o] < second[o] for o in later)
    return second if worse else first


def _end(one: ForEvery, problem: Any, values: Mapping[str, Any], name: str, up: bool) -> Any:
    """The least (up) or largest constant with which it is true: 0 for all positive ones; None for none.

    Of those that may be negative 0, or one below it, stands for all.
    """
    found, letters = _read(one, problem, {**values, name: F(1)})
    if name in letters:
        powers = frozenset[int]().union(*(c.exponents(name) for c in found))
        lifts = [c.lifted(name, letters) for c in found]
        if (up or name in one.signed) and powers in ({1}, {2}) and None not in lifts:
            return _quotient(found, lifts, {**letters, name: F(0)}, max(powers), up, name in one.signed)

    def holds(c: Fraction) -> bool:
        return _hold(*((found, {**letters, name: c}) if name in letters else _read(one, problem, {**values, name: c})))

    if name not in one.signed:
        return _bisected(holds, up)
    there = holds(F(0))
    below = there == up
    end = _bisected(lambda c: holds(-c), not up) if below else _bisected(holds, up)
    if end is None:
        return F(0) if there else None
    return -end if below else end


def _quotient(
    found: Sequence[Condition], lifts: Sequence[Any], without: Mapping[str, Any], power: int, up: bool, signed: bool
) -> Any:
    """The constant whose power lifts what is least without it to 0."""
    needed: Any = None if signed else F(0)
    for condition, lift in zip(found, lifts, strict=True):
        least = condition.at(without)
        if least is None or (least < 0 and (lift <= 0 if up else lift >= 0)):
            return None
        if lift != 0 and (signed or least < 0):
            quotient = -least / lift
            quotient = quotient if isinstance(quotient, float) else to_fraction(quotient)
            needed = quotient if needed is None else (max if up else min)(needed, quotient)
    needed = F(0) if needed is None else needed
    return needed if power == 1 else root(needed)


def _bisected(holds: Callable[[Fraction], bool], up: bool) -> Fraction | None:
    step = F(2) if up else F(1, 2)
    good, bad = F(1), None
    if holds(good):
        for _ in range(DOUBLINGS):
            if not holds(good / step):
                bad = good / step
                break
            good /= step
        else:
            return F(0) if up else F(1)
    else:
        for _ in range(DOUBLINGS):
            bad, good = good, good * step
            if holds(good):
                break
        else:
            return None
    assert bad is not None
    for _ in range(HALVINGS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    short = simplest(min(good, bad), max(good, bad))
    if holds(short):
        return short
    return simplest(good, good * (1 + NEAR)) if up else simplest(good * (1 - NEAR), good)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in an interval of positive numbers."""
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return F(whole)
    below = whole - 1
    return below + 1 / simplest(1 / (high - below), 1 / (low - below))


__all__ = ["best", "is_true", "simplest"]
