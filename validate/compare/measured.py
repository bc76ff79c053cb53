"""What an algorithm does where a claim promises something: the bounded quantity on the problems, at the same step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.program import LINEAR_GIVEN_DRAWS
from theory.sentence import text_of
from validate.compare.numbers import Case, Numbers, cases
from validate.compare.promised import Promise
from validate.expected import NoPolynomialError, side_of, tapped, world_of
from validate.instances.by_runs import left_by_runs, why_not_from_above
from validate.instances.setting import Setting

RUNS, SEED = 100, 20
"""Of a simulation, where moments do not tell, or are too many."""
ERRORS = 6.0
"""Standard errors below the mean of runs that nobody doubts."""
MOST_VALUES, MOST_PRODUCTS = 6_000, 20_000
"""Values of a run that are gone through by moments; products of them, all of which the mean of random iterates has."""


@dataclass(frozen=True)
class Measured:
    """A quantity where a claim promises something of it.

    Attributes:
        values: by the problem's name; of runs the mean.
        sure: what it is at least: the value itself, of runs `ERRORS` standard errors less.
    """

    values: Mapping[str, float]
    sure: Mapping[str, float]


def measured(promise: Promise, numbers: Numbers) -> Measured | None:
    """The quantity on each problem that the promise speaks of.

    By moments in floats where the algorithm is linear given its draws and the run is short, else by runs. Problems on
    which gradients are larger than the reader grants are left out.

    Returns:
        None where the claim leaves a parameter of its algorithm open, or nothing measures it.
    """
    program = promise.bounded.claim.program
    assert program is not None
    if not set(program.parameters) <= set(promise.parameters):
        return None
    found: dict[str, tuple[float, float]] = {}
    for case in cases(numbers.known):
        if case.name in promise.by_case:
            value = _on(promise, case, numbers.rounds)
            if value is None:
                return None
            if math.isfinite(value[0]):
                found[case.name] = value
    if not found:
        return None
    return Measured(
        {name: value for name, (value, _) in found.items()}, {name: sure for name, (_, sure) in found.items()}
    )


def _on(promise: Promise, case: Case, rounds: int) -> tuple[float, float] | None:
    tree = promise.quantity.tree
    spoken = " + ".join(text_of(one) for one in (tree, *(one for one, _ in promise.asserted)))
    claim = replace(promise.bounded.claim, statement=f"{spoken} <= 1", parameters={}, assuming=())
    values: dict[str, Any] = {name: _whole(value) for name, value in promise.parameters.items()}
    setting = Setting(case.problem, case.start, values, rounds, claim)
    assert claim.program is not None
    if claim.program.operations <= LINEAR_GIVEN_DRAWS and _affordable(promise, claim, setting):
        try:
            world = world_of(claim, case.problem, setting)
            if any(float(side_of(one, world, {})) > most for one, most in promise.asserted):
                return math.nan, math.nan
            value = float(side_of(tree, world, {}))
            return value, value
        except NoPolynomialError:
            pass
    if promise.asserted or why_not_from_above(claim) is not None:
        return None
    runs = left_by_runs(claim, setting, RUNS, SEED)[-1][1]
    mean = float(np.mean(runs))
    return mean, mean - ERRORS * float(np.std(runs, ddof=1)) / RUNS**0.5


def _affordable(promise: Promise, claim: Claim, setting: Setting) -> bool:
    """Whether moments of all values are few."""
    try:
        values = setting.rounds * max(1, tapped(claim, setting)) * (setting.clients if promise.asserted else 1)
    except NoPolynomialError:
        return True
    if promise.quantity.where == "last" and not promise.asserted:
        return True
    products = promise.quantity.where == "average" and claim.program is not None and claim.program.random
    return values <= MOST_VALUES and (not products or values * values <= MOST_PRODUCTS)


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)
