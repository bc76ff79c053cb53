"""The best constants of a claim's assumptions on a problem, as fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
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


def best_constants(claim: Claim, bests: Iterable[tuple[Predicate, Sequence[Any]]]) -> dict[str, Fraction]:
    """The best constants of a claim's assumptions on a problem, by name; 0 where every positive number is one.

    A name of several assumptions is one number: the best that is a constant of all. Where they point different ways
    and there is none, it is the least that those upwards allow, and the others are false with it.

    Args:
        claim: the claim.
        bests: assumptions, with the best constants of each (`validate.satisfied.best`).
    """
    ends: dict[str, list[tuple[Direction, Fraction]]] = {}
    for one, values in bests:
        for constant, value, direction in zip(one.constants, values, one.directions, strict=True):
            base = base_of(constant)
            if base is not None and base[0] in one.binds:
                end = outward(value_of_base(value, base[1]), direction == "up", claim.domains[base[0]].integer)
                ends.setdefault(base[0], []).append((direction, end))
    found = {}
    for name, listed in ends.items():
        least, most = ([value for way, value in listed if (way == "up") == up] for up in (True, False))
        if claim.constants[name] == "exact" and least:
            fitting = between(listed)
            found[name] = fitting[0] if fitting else max(least)
        else:
            found[name] = max(least) if least else min(most)
    return found


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
        own = world.values.get(index_of(constant.name)[0]) if isinstance(constant, Name) else None
        if isinstance(one, ForEvery) and isinstance(own, list):
            found.append(own)
        elif isinstance(one, ForEvery) and "n" in read(constant, world.claim.vocabulary).free:
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
