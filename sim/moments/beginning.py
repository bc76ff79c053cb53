"""How a draw comes to life in a law: by two moments, by its outcomes client by client, or a law for each outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.moments import draws as of_draws
from sim.moments.around import BY_CLIENT, LINEARLY, Around, DifferentError
from sim.moments.law import Law
from sim.moments.numbers import Array
from sim.moments.scalars import one, whole
from sim.moments.unrolled import Operation
from theory.program import Instruction, text_of


def begun(around: Around, op: Operation, law: Law) -> list[Law]:
    """The law with the draw alive, or one law for each of its outcomes."""
    step, draw, numbers, curvatures = op.step, op.to, around.numbers, around.curvatures
    assert isinstance(step, Instruction)
    number = around.number(op.scalars[0], law)
    if number.shape[0] > 1:
        raise ValueError(f"{op}: its {text_of(op.scalars[0].formula)} is drawn itself")
    single, N = around.single, curvatures.clients
    if step.op == "coin" and not single:
        p = _chance(op, number)
        if p.size > 1:
            raise ValueError(f"{op}: p is one number a client; a coin for all has one")
        return _split(law, draw, [(1 - p[0, 0], one(numbers, 0)), (p[0, 0], one(numbers, 1))])
    how = around.treatment.how.setdefault(draw, LINEARLY if step.op == "sample" else BY_CLIENT)
    size = None
    if step.op == "sample":
        size = whole(number, "sample's b")
        replace = bool(step.flag)
        if not replace and size > min(int(c) for c in curvatures.counts):
            raise ValueError(f"sample's b={size} is more than a client has, without replacement")
        if how == LINEARLY:
            law.scalars[draw] = _factor(around, size, replace)
            return [law]
        axis = of_draws.batches(draw, size, curvatures.counts, replace, curvatures.samples, numbers)
    elif step.op == "choose":
        if single:
            raise ValueError(f"{op}: one client that is visited chooses nobody")
        size = whole(number, "choose's S")
        axis = of_draws.choose(draw, size, curvatures.total, bool(step.flag), numbers)
    else:
        axis = of_draws.coins(draw, _chance(op, number), numbers)
    if how == BY_CLIENT:
        law.add_axis(axis)
        return [law]
    if curvatures.alike:
        raise DifferentError
    found = of_draws.joint_outcomes(axis, N, size if axis.pair is not None else None, bool(step.flag), numbers)
    outcomes: list[tuple[Any, Any]] = []
    for p, outcome in found:
        at = np.array(outcome)
        if axis.values is None:
            assert axis.shares is not None
            outcomes.append((p, axis.shares[at, 0][None]))
        else:
            values = np.broadcast_to(axis.values, (axis.size, N))
            outcomes.append((p, values[at, np.arange(N)][None]))
    return _split(law, draw, outcomes)


def _chance(op: Operation, p: Array) -> Array:
    if np.any(p <= 0) or np.any(p > 1):
        raise ValueError(f"{op}: a probability is outside (0, 1]")
    return p


def _factor(around: Around, size: int, replace: bool) -> Array:
    """(1, N): the variance of a mean over a batch, over that of one sample."""
    numbers = around.numbers
    values = [
        numbers.ratio(1, size) if replace or c == 1 else numbers.ratio(int(c) - size, size * (int(c) - 1))
        for c in around.curvatures.counts
    ]
    return np.array([values], dtype=numbers.dtype)


def _split(law: Law, draw: int, outcomes: Sequence[tuple[Any, Array]]) -> list[Law]:
    found = []
    for p, value in outcomes:
        if p == 0:
            continue
        part = law.copied()
        part.scaled(p)
        part.scalars[draw] = value
        part.given[draw] = tuple(value.ravel().tolist())
        found.append(part)
    return found
