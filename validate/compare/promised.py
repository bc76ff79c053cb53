"""What a claim promises at a reader's numbers: its right side on the problems that have them, at the best step.

What the right side takes is read off the claim: constants by the assumptions that bind them, sizes and numbers of turns
by what the program does with them, and expressions (``f(x0) - fstar``) by their value on the problems, where the
largest right side counts. What is left (steps, probabilities, numbers of Young's inequality) is free, and chosen within
the conditions so that the right side is least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from theory.claim import Claim
from theory.predicates import PolyakLojasiewicz, StronglyConvex
from theory.program import NAME
from theory.quantity import Bounded, Quantity
from theory.sentence import Expression, parse_expression, text_of
from validate.compare.asked import Asked
from validate.compare.least import least
from validate.compare.numbers import Numbers, cases
from validate.compare.right import SLACK

MOST_FREE = 4


@dataclass(frozen=True)
class Promise:
    """What a claim promises.

    Attributes:
        claim: as it is written.
        bounded: its quantity, and what bounds it.
        value: the largest right side, over the problems that satisfy what it assumes.
        parameters: values of the numbers by name, of the free ones the best.
        tuned: the names of the free ones.
        steps: what is chosen, and what the claim fixes of its algorithm, by name.
        by_case: the right side on each problem, by the problem's name.
        asserted: what the reader bounds of the run, with the bound.
    """

    claim: Claim
    bounded: Bounded
    value: float
    parameters: Mapping[str, float]
    tuned: tuple[str, ...]
    steps: Mapping[str, float]
    by_case: Mapping[str, float]
    asserted: tuple[tuple[Expression, float], ...] = ()

    @property
    def quantity(self) -> Quantity:
        """What it bounds."""
        return self.bounded.quantity


class LackingError(ValueError):
    """Why a claim promises nothing: it `needs` numbers that are not given, or they `cannot` satisfy what it assumes.

    Attributes:
        kind: which of the two.
        what: names of numbers (those of `Numbers`, or of the claim), or the assumption.
    """

    def __init__(self, kind: Literal["needs", "cannot"], *what: str) -> None:
        super().__init__(f"{kind} {', '.join(what)}")
        self.kind, self.what = kind, what


def promise(claim: Claim, bounded: Bounded, numbers: Numbers, given: Mapping[str, float] | None = None) -> Promise:
    """What a claim promises of one of its quantities.

    Args:
        claim: as it is written.
        bounded: one of `theory.quantity.bounded` of it.
        numbers: the reader's.
        given: values of its own names, or of expressions of its right side, by their text.

    Raises:
        LackingError: where it promises nothing.
    """
    own = {written(name): value for name, value in (given or {}).items()}
    here = {case.name: Asked(bounded, numbers.known, case, own) for case in cases(numbers.known)}
    fitting = {name: told for name, told in here.items() if told.unmet is None}
    if not fitting:
        raise LackingError("cannot", str(next(iter(here.values())).unmet))
    first = next(iter(fitting.values()))
    needed = dict.fromkeys(first.needed)
    for name, other in numbers.otherwise():  # what is not given may change nothing
        changed = [Asked(bounded, other, case, own) for case in cases(other)[:1]]
        if any(t.unmet is not None or (not t.needed and _differ(t, first)) for t in changed):
            needed[name] = None
    if needed:
        raise LackingError("needs", *needed)
    if numbers.mu == 0 and any(isinstance(p, StronglyConvex | PolyakLojasiewicz) for p in bounded.claim.predicates):
        raise LackingError("cannot", "strong convexity, as mu is 0")
    different = list({told.key: told for told in fitting.values()}.values())
    free = {p.name: p.domain for p in first.free}
    if len(free) > MOST_FREE:
        raise LackingError("needs", *free)
    fixed: dict[str, float] = {}

    def worst(values: Mapping[str, Any]) -> Any:
        found = [told.right.at({**fixed, **values}) for told in different]
        return np.maximum.reduce(np.broadcast_arrays(*found))

    for name in list(free):  # an equation that has one of them alone
        root = first.right.solved(name, free)
        if root is not None:
            fixed[name] = root
            del free[name]
    best, value = least(worst, free)
    if not math.isfinite(value):
        raise LackingError("cannot", first.right.violated(fixed, free) or "its conditions together")
    if value < 0:
        raise LackingError("cannot", "a right side that is not negative")
    chosen = {**fixed, **best}
    parameters = {**{n: v for n, v in first.values.items() if np.ndim(v) == 0}, **chosen, **first.right.terms(chosen)}
    for name, wanted in first.sizes.items():
        if name in parameters and abs(parameters[name] - wanted) > SLACK * wanted:
            raise LackingError("cannot", f"{name} == {parameters[name]:g}")
    for name in first.roles_fixed:
        if abs(parameters[name] - round(parameters[name])) > 1e-9:
            raise LackingError("cannot", f"{name} == {parameters[name]:g}, which is no integer")
    by_case = {name: float(np.max(told.right.at(chosen))) for name, told in fitting.items()}
    asserted = tuple((tree, float(numbers.G2 or 0)) for tree in first.asserted)
    of = () if claim.of is None else claim.of.parameters
    fixed_by_claim = [name for name in of if name in first.right.terms(chosen) or name in first.ties]
    steps = {name: parameters[name] for name in dict.fromkeys((*chosen, *fixed_by_claim))}
    return Promise(claim, bounded, value, parameters, tuple(chosen), steps, by_case, asserted)


def written(name: str) -> str:
    """The name of a number, or of an expression, its text as trees are written."""
    return name if NAME.match(name) else text_of(parse_expression(name))


def _differ(one: Asked, two: Asked) -> bool:
    """Whether a number that is known in both is another one, and not by rounding."""
    pairs = [(value, two.values[name]) for name, value in one.values.items() if name in two.values]
    return any(
        not np.allclose(u, v, rtol=SLACK, atol=SLACK**2) for u, v in [(one.right.begins, two.right.begins), *pairs]
    )
