"""The new base where clients meet: of what it is made, averages divided by what they are averages over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from sim.moments import draws as of_draws
from sim.moments import operations as do
from sim.moments.around import Around
from sim.moments.law import AliveError, Law, Shared
from sim.moments.meeting import Meeting, Output, meet
from sim.moments.numbers import Array
from sim.moments.reads import Reads
from sim.moments.scalars import whole
from sim.moments.unrolled import Operation
from theory.program import Instruction


def output_of(around: Around, op: Operation | None, name: int, law: Law) -> Output:
    value = law.values[name]
    out = Output(name, value)
    if op is None:
        return out
    numbers, N, many = around.numbers, around.curvatures.clients, around.curvatures.many
    if op.step.op == "keep":
        (m,) = (whole(around.number(s, law), "keep's m") for s in op.scalars)
        if m > around.curvatures.dim:
            raise ValueError(f"{op}: m={m} is outside [1, d={around.curvatures.dim}]")
        out.kept = do.kept_excess(numbers, around.curvatures.dim, m)
    elif op.step.op == "mix":
        assert isinstance(op.step, Instruction)
        out.weights = around.parameters.array(op.step.label, around.k, (N, N))
    else:
        out.weights = many[None] * numbers.ratio(1, around.curvatures.total if op.step.op == "mean" else 1)
    return out


def met(
    around: Around,
    reads: Reads,
    law: Law,
    outputs: list[Output],
    meeting: Sequence[Operation],
    reference: Array | None,
) -> Meeting:
    """The new base of one law; averages are divided by what they are averages over.

    Raises:
        AliveError: for a draw that has to be treated in another way.
    """
    reads.settle(law)
    for axis in law.axes:
        if reads.open(axis.draw):
            raise AliveError(axis.draw)
    divided = _divided(around, reads, law, outputs, meeting)
    values = [law.values[out.number] for out in outputs]
    for out, value in zip(outputs, values, strict=True):
        if out.each and isinstance(value, Shared) and value.B.shape[1] > law.width:
            law.known(value)
    for out, value in zip(outputs, values, strict=True):
        out.value = law.own(value) if out.each else value
    if not law.axes:
        return meet(law, outputs, reference=reference)
    if divided and any(axis.pair is not None for axis in law.axes):
        raise AliveError(next(axis.draw for axis in law.axes if axis.pair is not None))
    probability = _joint([axis.probability for axis in law.axes])
    N, outcomes = around.curvatures.clients, law.outcomes
    if divided:
        terms = np.stack([np.broadcast_to(a, (outcomes, N)).T for a in divided])
        every = np.broadcast_to(probability, (N, outcomes))
        many = [int(m) for m in around.numbers.result(around.curvatures.many)]
        return meet(law, outputs, of_draws.divided(every, terms, many, around.numbers), reference)
    pairs = law.axes[0].pair
    for axis in law.axes[1:]:
        assert pairs is not None
        assert axis.pair is not None
        pairs = np.kron(pairs, axis.pair)
    return meet(law, outputs, of_draws.Chances.of(probability, pairs, N), reference)


def _divided(
    around: Around, reads: Reads, law: Law, outputs: Sequence[Output], meeting: Sequence[Operation]
) -> list[Array]:
    """What averages are over where that is random; the other averages are divided, and other draws summed out."""
    divided: list[Array] = []
    by_number = {out.number: out for out in outputs}
    counted: set[int] = set()
    for op in meeting:
        if op.step.op != "average" or op.to not in by_number:
            continue
        out = by_number[op.to]
        active = law.scalars.pop(op.to)
        drawn = [axis for axis in law.axes if axis.draw in op.scalars[0].values.values()]
        total = _certain_total(around, reads, law, active, drawn)
        if total is None:
            for axis in drawn:
                if axis.pair is not None:
                    raise AliveError(axis.draw)
            counted |= {axis.draw for axis in drawn}
            divided.append(active)
            out.factor = len(divided)
        else:
            assert out.weights is not None
            out.weights = out.weights / total if total != 0 else out.weights * 0
    for axis in list(law.axes):
        if axis.pair is None and axis.draw not in counted:
            # what an average divides by does not depend on it
            law.scalars |= {-1 - t: terms for t, terms in enumerate(divided)}
            law.merge(axis)
            divided = [law.scalars.pop(-1 - t) for t in range(len(divided))]
    return divided


def _joint(parts: Sequence[Array]) -> Array:
    """(1 or N, O), of independent draws together."""
    found = parts[0]
    for part in parts[1:]:
        found = (found[:, :, None] * part[:, None, :]).reshape(max(len(found), len(part)), -1)
    return found


def _certain_total(around: Around, reads: Reads, law: Law, active: Array, drawn: Sequence[of_draws.Axis]) -> Any:
    """What sum_n active_n is, where it is always the same; None where it is not."""
    many = around.curvatures.many
    if active.shape[0] == 1:
        return (active * many).sum()
    if len(drawn) != 1 or drawn[0].pair is None or active.shape[1] > 1:
        return None
    (axis,) = drawn
    assert axis.values is not None
    # by its outcomes, which are how often a client was chosen
    place = law.along(axis, np.arange(axis.size).reshape(-1, 1))[:, 0]
    values = [active[int(np.argmax(place == o)), 0] for o in range(axis.size)]
    step = values[1] - values[0] if len(values) > 1 else 0
    if any(value - values[0] != o * step for o, value in enumerate(values)):
        return None
    size = whole(around.number(reads.drawn[axis.draw].scalars[0], law), "choose's S")
    return around.curvatures.total * values[0] + size * step


def begun_again(around: Around, reads: Reads, parts: Sequence[tuple[Law, Meeting]]) -> Law:
    """A law on the new base: the sum of those that are no longer told apart."""
    old, made = parts[0][0], reduce(Meeting.plus, (each for _, each in parts))
    law = made.law(around.curvatures)
    law.given = {d: v for d, v in old.given.items() if reads.open(d)}
    law.scalars = {d: c for d, c in old.scalars.items() if reads.open(d)}
    for out in made.outputs:
        law.values[out.number] = law.coordinates(made.reference, out.place, out.rows, out.of_clients)
    return law
