"""The arguments of a program's operations: what they may be. Outside of it there is no instance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .intervals import Interval
from .quadratics import Problem
from .reading import Uncheckable
from .scalars import ONE, ZERO, Number, sure
from .steps import Loop, Scalar, Step

MOST_TURNS = 10_000
CHECKED = frozenset(
    ["repeat", "choose", "sample", "keep", "top", "coin", "coins", "noise", "project", "clip", "before", "prox"]
)
"""The operations whose arguments have a domain."""
ONE_FOR_ALL = ("repeat", "choose", "coin")


class OutsideRun(Uncheckable):
    """An index that is not in the run."""


def whole(value: Number, what: str, low: int, high: int) -> int:
    """An integer in [low, high]."""
    if isinstance(value, Interval) and value.low == value.high:
        value = value.ends[0]
    if not isinstance(value, Fraction) or value.denominator != 1 or not low <= value <= high:
        raise Uncheckable(f"{what} is not an integer in [{low}, {high}]")
    return int(value)


def check(problem: Problem, step: Step | Loop, scalar: Scalar, position: int, value: Number, n: int) -> None:
    """That an argument is in the domain of its operation.

    Raises:
        Uncheckable: where it is not.
    """
    op, what = step.op, f"{scalar.text} of {step.op}"
    replace = isinstance(step, Step) and step.replace
    if op == "repeat":
        whole(value, what, 1, MOST_TURNS)
    elif op == "choose":
        whole(value, what, 1, 10_000 if replace else problem.N)
    elif op == "sample":
        whole(value, what, 1, 10_000 if replace or value == 1 else len(problem.samples[n]))
    elif op in ("keep", "top"):
        whole(value, what, 1, problem.d)
    elif op in ("coin", "coins"):
        if not (sure(ZERO, "<", value) and sure(value, "<=", ONE)):
            raise Uncheckable(f"{what} is not in (0, 1]")
    elif op in ("noise", "project", "clip"):
        if not sure(ZERO, "<=", value):
            raise Uncheckable(f"{what} is negative")
    elif op == "before" and position == 1:
        whole(value, what, 0, 10**9)
    elif op == "prox":
        problem.proximal(n, value)


def nothing(name: str) -> Any:
    """What looks up values where there are none."""
    raise Uncheckable(f"{name} has no value here")
