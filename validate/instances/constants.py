"""The best constants of a claim's assumptions on a problem, as fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.domain import Domain
from theory.for_every import ForEvery
from theory.formula import Name
from theory.predicates import Direction, Predicate, base_of, value_of_base
from theory.sentence import Expression, evaluate, index_of, read, text_of
from validate import satisfied
from validate.instances.setting import F, Setting


def between(ends: Iterable[tuple[Direction, Fraction]]) -> tuple[Fraction, ...]:
    """Positive numbers that are constants of several assumptions at once, the ends of their range; none if it is empty.

    Args:
        ends: of each assumption its direction and its best constant.
    """
    listed = list(ends)
    lower = max((value for direction, value in listed if direction == "up"), default=F(0))
    upper = min((value for direction, value in listed if direction == "down"), default=None)
    found = tuple(dict.fromkeys(end for end in (lower, upper) if end is not None and end > 0))
    return found if upper is None or lower <= upper else ()


def best_constants(claim: Claim, bests: Iterable[tuple[Predicate, Sequence[Any]]]) -> dict[str, Any]:
    """The best constants of a claim's assumptions on a problem, by name; 0 where every positive number is one.

    They are fractions, or lists of them, one a client.

    A name of several assumptions is one number: the best that is a constant of all. Where they point different ways
    and there is none, it is the least that those upwards allow, and the others are false with it.

    Args:
        claim: the claim.
        bests: assumptions, with the best constants of each (`validate.satisfied.best`).
    """
    ends: dict[str, list[tuple[Direction, Any]]] = {}
    for one, values in bests:
        for constant, value, direction in zip(one.constants, values, one.directions, strict=True):
            base = base_of(constant)
            if base is not None and base[0] in one.binds:
                name = index_of(base[0])[0]
                ends.setdefault(name, []).append((direction, root_of(value, base[1], direction, claim.domains[name])))
    return {name: _of_all(listed, claim.constants[name] == "exact") for name, listed in ends.items()}


def _of_all(ends: Sequence[tuple[Direction, Any]], exact: bool) -> Any:
    """The number that is the best constant of several assumptions; of each client, where there is one for each."""
    if isinstance(ends[0][1], list):
        of_each = zip(*(value for _, value in ends), strict=True)
        ways = [way for way, _ in ends]
        return [_of_all(list(zip(ways, values, strict=True)), exact) for values in of_each]
    least, most = ([value for way, value in ends if (way == "up") == up] for up in (True, False))
    if exact and least:
        fitting = between(ends)
        return fitting[0] if fitting else max(least)
    return max(least) if least else min(most)


def root_of(value: Any, power: int, direction: Direction, domain: Domain) -> Any:
    """The fraction, on the safe side, whose power is a best constant; a list of them of a list, one a client."""
    if isinstance(value, list):
        return [root_of(one, power, direction, domain) for one in value]
    return outward(value_of_base(value, power), direction == "up", domain.integer)


def outward(value: Any, up: bool, integer: bool = False) -> Fraction:
    """A fraction that is at least (up) or at most the value, and close to it; the value itself where it is exact.

    With `integer` the next integer.
    """
    if integer:
        return F((math.ceil if up else math.floor)(outward(value, up)))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | np.integer):
        return F(int(value))
    number_ = float(value)
    near = F(number_).limit_denominator(1000)
    if abs(float(near) - number_) <= 1e-12 * abs(number_):  # a short fraction, up to rounding: `true` decides
        return near
    return F(number_ + abs(number_) * (1e-9 if up else -1e-9)).limit_denominator(10**12)


def as_fraction(value: Any) -> Any:
    """A number as a Fraction; a list of them, one a client, as a list."""
    if isinstance(value, list):
        return [as_fraction(one) for one in value]
    return value if isinstance(value, Fraction) else F(value)


def values_in(one: Predicate, world: Setting, value: Callable[[Expression, int], Any]) -> list[Any]:
    """The constants of an assumption as `validate.satisfied.true` takes them.

    Args:
        one: the assumption.
        world: the claim's names.
        value: what a tree is worth at a client.
    """
    found: list[Any] = []
    for constant in one.constants:
        base, index = index_of(constant.name) if isinstance(constant, Name) else ("", "")
        own = world.values.get(base)
        if isinstance(own, list) and (isinstance(one, ForEvery) or index == "n"):
            found.append(own)
        elif "n" in read(constant, world.claim.vocabulary).free:
            found.append([value(constant, n) for n in range(world.clients)])
        else:
            found.append(value(constant, 0))
    return found


def bests_of(one: Predicate, world: Setting) -> Sequence[Any] | None:
    """The best constants of an assumption, beside the numbers in it that it does not bind."""
    if not isinstance(one, ForEvery) or len(one.binds) == len(one.constants):
        return satisfied.best(one, world.problem)

    def value(e: Expression, n: int) -> Any:
        words = world.claim.vocabulary
        try:
            return None if text_of(e) in one.binds else evaluate(e, world, {"n": n, "i": 0, "k": 0}, words)
        except (ValueError, KeyError, IndexError, ZeroDivisionError):
            return None

    given = zip(one.constants, values_in(one, world, value), strict=True)
    known = {index_of(text_of(c))[0]: v for c, v in given if v is not None and text_of(c) not in one.binds}
    return satisfied.best(one, world.problem, known)
