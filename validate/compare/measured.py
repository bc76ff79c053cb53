"""What an algorithm does where a claim promises something: the bounded quantity on the problems, at the same step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from theory.program import LINEAR_GIVEN_DRAWS
from theory.sentence import text_of
from validate.compare.numbers import Case, Numbers, cases
from validate.compare.promised import Promise
from validate.expected import NoPolynomialError, side_of, world_of
from validate.instances.by_runs import left_by_runs, why_not_from_above
from validate.instances.setting import Setting

RUNS, SEED = 200, 20
"""Of a simulation, where moments do not tell."""
MOST_GRADIENTS = 10_000
"""Gradients of a run that are held against what the reader grants."""


def measured(promise: Promise, numbers: Numbers) -> Mapping[str, float] | None:
    """The quantity on each problem that the promise speaks of, by its name.

    By exact moments in floats where the algorithm is linear given its draws, else the mean of `RUNS` runs.

    Returns:
        None where the claim leaves a parameter of its algorithm open, or nothing measures it.
    """
    program = promise.bounded.claim.program
    assert program is not None
    if not set(program.parameters) <= set(promise.parameters):
        return None
    found = {}
    for case in cases(numbers.known):
        if case.name in promise.by_case:
            value = _on(promise, case, numbers)
            if value is None:
                return None
            if math.isfinite(value):
                found[case.name] = value
    return found or None


def _on(promise: Promise, case: Case, numbers: Numbers) -> float | None:
    rounds = numbers.rounds
    tree, plain = promise.quantity.tree, promise.bounded.claim
    claim = replace(plain, statement=f"{text_of(tree)} <= 1", parameters={}, assuming=())
    values: dict[str, Any] = {name: _whole(value) for name, value in promise.parameters.items()}
    setting = Setting(case.problem, case.start, values, rounds, claim)
    assert claim.program is not None
    if claim.program.operations <= LINEAR_GIVEN_DRAWS:
        try:
            world = world_of(plain, case.problem, setting)
            if promise.asserted and rounds * case.problem.clients * (numbers.H or 1) > MOST_GRADIENTS:
                return None
            if any(float(side_of(one, world, {})) > most for one, most in promise.asserted):
                return math.nan  # larger gradients than the reader grants
            return float(side_of(tree, world, {}))
        except NoPolynomialError:
            pass
    if promise.asserted or why_not_from_above(claim) is not None:
        return None
    runs = left_by_runs(claim, setting, RUNS, SEED)
    return float(np.mean(runs[-1][1]))


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)
