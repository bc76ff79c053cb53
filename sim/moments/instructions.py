"""What an instruction gives where clients do not meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.moments import operations as do
from sim.moments.around import Around, linearly, shares_of
from sim.moments.law import Law, Own, Shared, Value
from sim.moments.numbers import Array, times
from sim.moments.reads import Reads
from sim.moments.scalars import one, whole
from sim.moments.unrolled import Operation
from theory.program import LINEAR_GIVEN_DRAWS, Instruction


def value_of(around: Around, reads: Reads, op: Operation, law: Law) -> Value | None:
    """What an instruction gives where clients do not meet."""
    step, numbers, curvatures = op.step, around.numbers, around.curvatures
    name = step.op
    assert isinstance(step, Instruction)
    if name not in LINEAR_GIVEN_DRAWS:
        raise ValueError(f"{op} is not linear in the state: moments are of programs that are linear given the draws")
    values = [law.values[v] for v in op.of if v in law.values]
    scalars = [around.number(s, law) for s in op.scalars]
    unit = numbers.identity(1)
    if name == "linear":
        return do.sum_of(law, scalars, values, step.kind == "table")
    if name == "where":
        mask = numbers.zeros(*scalars[0].shape)
        mask[scalars[0] != 0] = numbers.ratio(1, 1)
        return do.sum_of(law, [mask, 1 - mask], values, step.kind == "table")
    if name == "ones":
        B = numbers.zeros(curvatures.dim, law.width)
        B[:, 0] = numbers.ratio(1, 1)
        return Shared(B)
    if name == "before":
        if scalars[0].shape[0] > 1 or scalars[1].shape[0] > 1:
            raise ValueError(f"{op}: what it compares is drawn")
        found = numbers.zeros(1, max(s.shape[1] for s in scalars))
        found[np.broadcast_to(scalars[0] < scalars[1], found.shape)] = numbers.ratio(1, 1)
        law.scalars[op.to] = found
        return None
    if name == "noise":
        if np.any(scalars[0] < 0):
            raise ValueError(f"{op}: its variance is negative")
        return do.noise(law, scalars[0])
    if name == "full gradient":
        return _full_gradient(around, reads, law, values[0])
    if name in ("mean", "sum", "average"):
        return _over_clients(around, op, law, values[0], scalars)
    if name == "shift":
        return _shifted(reads, law, *values)
    if name == "combine":
        return _combined_past(around, reads, op, law, values[0])
    (first, *rest) = do.owns(law, values)
    if name == "each":
        return first
    if name == "gradient" and len(op.of) == 2 and linearly(law, op.of[1]):
        reads.settle(law, first)
        whole_gradient = do.gradient(law, first, curvatures.hessian[None], curvatures.linear[None])
        if curvatures.samples > 1:
            whole_gradient.pending[op.of[1]] = (unit, first.linear)
        return whole_gradient
    for one_value in (first, *rest):
        reads.settle(law, one_value)
    if name == "gradient":
        if len(op.of) == 1:
            return do.gradient(law, first, curvatures.hessian[None], curvatures.linear[None])
        return do.gradient(law, first, *do.sample_gradients(curvatures, shares_of(law, op.of[1])))
    if name == "prox":
        return do.prox(law, first, scalars[0])
    if name == "keep":
        m = whole(scalars[0], "keep's m")
        if m > curvatures.dim:
            raise ValueError(f"{op}: m={m} is outside [1, d={curvatures.dim}]")
        return do.keep(law, first, m)
    if name == "get":
        shares = (curvatures.own * curvatures.weight[:, None])[None] if len(op.of) == 1 else shares_of(law, op.of[1])
        return do.over_samples(law, first, shares)
    if name == "put":
        shares = shares_of(law, op.of[1])
        present = numbers.zeros(*shares.shape)
        present[shares != 0] = numbers.ratio(1, 1)
        return do.replaced(law, first, present, rest[0])
    raise ValueError(f"{op}: moments do not know this instruction")


def _full_gradient(around: Around, reads: Reads, law: Law, value: Value) -> Value:
    if isinstance(value, Own):
        reads.settle(law, value)
        return do.gradient(law, value, around.mean[0][None, None], around.mean[1][None, None])
    B = times(around.mean[0], value.B)
    B[:, 0] = B[:, 0] - around.mean[1]
    return Shared(B)


def _over_clients(around: Around, op: Operation, law: Law, value: Value, scalars: Sequence[Array]) -> Value:
    numbers, N = around.numbers, around.curvatures.clients
    name = op.step.op
    if around.single:
        if isinstance(value, Own) and name != "average":
            count = around.mean[2]
            return value if name == "mean" else law.combined([(one(numbers, count), value)])
        raise ValueError(f"{op}: one client that is visited does not know the others")
    if name == "average":
        weights = np.broadcast_to(scalars[0], (1, N))
        total = (weights * around.curvatures.many).sum()
        weights = weights / total if total != 0 else weights * 0
        return do.summed(law, law.own(value), weights)
    if isinstance(value, Shared):
        return value if name == "mean" else Shared(value.B * one(numbers, around.curvatures.total)[0, 0])
    weights = numbers.zeros(1, N) + numbers.ratio(1, around.curvatures.total if name == "mean" else 1)
    return do.summed(law, value, weights)


def _shifted(reads: Reads, law: Law, past: Value, new: Value) -> Value:
    numbers = law.numbers
    rows, d = (value.rows for value in (past, new))
    down, top = numbers.zeros(rows, rows), numbers.zeros(rows, d)
    down[range(d, rows), range(rows - d)] = 1
    top[range(d), range(d)] = 1
    unit = numbers.identity(1)
    return do.sum_of(law, [unit, unit], [_mapped(reads, law, down, past), _mapped(reads, law, top, new)], False)


def _combined_past(around: Around, reads: Reads, op: Operation, law: Law, past: Value) -> Value:
    assert isinstance(op.step, Instruction)
    d = around.curvatures.dim
    alpha = around.parameters.array(op.step.label, around.k, (past.rows // d,))
    return _mapped(reads, law, np.concatenate([a * law.numbers.identity(d) for a in alpha], axis=1), past)


def _mapped(reads: Reads, law: Law, matrix: Array, value: Value) -> Value:
    """A matrix times a value of the server, or of every client."""
    if isinstance(value, Shared):
        return Shared(times(matrix, value.B))
    reads.settle(law, value)
    return law.mapped(matrix[None, None], value)
