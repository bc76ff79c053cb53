"""One round in its first two moments: instructions in a good order, draws summed out as soon as nobody reads them.

Instructions that go client by client are done first; those where clients meet wait until nothing else can be done, and
are then done together. How a draw is treated is tried from the cheapest way on:

    its first two moments   a sample that only enters linearly
    its outcomes, by client what a client draws for itself, or which clients are chosen, while no clients meet
    all outcomes together   if they are few; a coin for all

A draw that is read again after clients met is of the last kind.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sim.moments import draws as of_draws
from sim.moments import operations as do
from sim.moments.curvatures import Curvatures
from sim.moments.law import AliveError, Law, Linear, Own, Shared, Value
from sim.moments.meeting import Meeting, Output, meet
from sim.moments.numbers import Array, Numbers
from sim.moments.scalars import Parameters, evaluate, one, whole
from sim.moments.unrolled import Operation, Scalar
from theory.program import LINEAR_GIVEN_DRAWS, Instruction, Loop, text_of

LINEARLY, BY_CLIENT, TOGETHER = range(3)
DRAWN = ("sample", "choose", "coins", "coin")
MEETINGS = ("mean", "sum", "average", "mix", "keep", "visit")
MOST_MODES = 4096
"""Largest number of laws, each given the outcomes of some draws, that are carried at once."""


@dataclass
class Treatment:
    """How draws are treated, by their number; what was found out stays for the next round."""

    how: dict[int, int] = field(default_factory=dict)


@dataclass
class Around:
    """What a round, or a turn of a loop over clients or samples, is in.

    Attributes:
        curvatures: the clients that take part in it.
        parameters: their values.
        k: the round.
        clients: which of all clients these are.
        single: whether a server's value is that of the one client that is visited.
        treatment: of draws.
        mean: (d, d), (d,) and N of f, the mean of all clients.
        turning: whether clients go through their samples, each for itself.
    """

    curvatures: Curvatures
    parameters: Parameters
    k: int
    clients: tuple[int, ...]
    single: bool
    treatment: Treatment
    mean: tuple[Array, Array, int]
    turning: bool = False

    @property
    def numbers(self) -> Numbers:
        """The arithmetic."""
        return self.curvatures.numbers


class Execution:
    """Operations carried out on laws: one for each outcome of what is taken together."""

    def __init__(self, around: Around, operations: Sequence[Operation], law: Law, wanted: Sequence[int]) -> None:
        needed = set(wanted)
        kept = []
        for op in reversed(operations):
            if op.to in needed:
                needed |= op.reads
                kept.append(op)
        operations = kept[::-1]
        self.around, self.operations, self.laws = around, operations, [law]
        self.held: set[int] = set()
        self.drawn: dict[int, Operation] = {}
        self.readers: dict[int, int] = {}
        for op in operations:
            if isinstance(op.step, Instruction) and op.step.op in DRAWN:
                self.drawn[op.to] = op
            for name in op.reads:
                self.readers[name] = self.readers.get(name, 0) + 1
        for name in wanted:
            self.readers[name] = self.readers.get(name, 0) + 1
        self.touched: set[int] = set()

    # order

    def run(self) -> None:
        """Carry the operations out; the wanted values are there afterwards.

        Raises:
            AliveError: when a draw has to be treated in another way.
        """
        made = {op.to for op in self.operations}
        missing = [len(op.reads & made) for op in self.operations]
        users: dict[int, list[int]] = {}
        for i, op in enumerate(self.operations):
            for name in op.reads & made:
                users.setdefault(name, []).append(i)
        ready = [i for i, count in enumerate(missing) if count == 0]
        heapq.heapify(ready)
        waiting: list[int] = []

        def done(i: int) -> None:
            for user in users.get(self.operations[i].to, ()):
                missing[user] -= 1
                if missing[user] == 0:
                    heapq.heappush(ready, user)

        while ready or waiting:
            # where clients are to meet, no further draw comes to life before they did: outcomes multiply
            meeting = any(not isinstance(self.operations[i].step, Loop) for i in waiting)
            if ready and not (meeting and self.begins(self.operations[ready[0]])):
                i = heapq.heappop(ready)
                op = self.operations[i]
                if op.to in self.drawn:
                    done(i)
                    continue
                self.touch(op)
                if self.meets(op):
                    waiting.append(i)
                    continue
                for law in self.laws:
                    value = self.value(op, law)
                    if value is not None:
                        law.values[op.to] = value
                self.read(op)
                done(i)
                continue
            loops = [i for i in waiting if isinstance(self.operations[i].step, Loop)]
            now = [i for i in waiting if i not in loops]
            if not now:
                now, loops = loops[:1], loops[1:]
            waiting = loops
            self.meet([self.operations[i] for i in now])
            for i in now:
                done(i)

    def read(self, op: Operation) -> None:
        """One reader less of what it read; forget what nobody reads."""
        for name in op.reads:
            self.readers[name] -= 1
            if self.readers[name] == 0:
                for law in self.laws:
                    law.values.pop(name, None)
        dead = [draw for draw in self.touched if self.readers[draw] == 0]
        for draw in dead:
            self.touched.discard(draw)
            for law in self.laws:
                self.sum_out(law, draw)

    def sum_out(self, law: Law, draw: int) -> None:
        """A draw is read no more: tell its outcomes apart no more, where that can be done client by client."""
        for axis in law.axes:
            if axis.draw == draw and axis.pair is None and draw not in self.held:
                pending = {d for v in law.values.values() if isinstance(v, Own) for d in v.pending}
                if any(self.readers.get(d, 0) > 0 for d in pending):
                    return  # until clients meet
                self.settled(law)
                law.merge(axis)
                return

    def settled(self, law: Law, value: Own | None = None) -> None:
        """Settle all pending parts, or those of one value; their draws must be read no more."""
        values = [v for v in law.values.values() if isinstance(v, Own)] if value is None else [value]
        names = {draw for v in values for draw in v.pending}
        if not names:
            return
        for draw in sorted(names):
            if self.readers.get(draw, 0) > 0 or draw not in self.drawn:
                raise AliveError(draw)
        law.settle(sorted(names))

    # draws

    def begins(self, op: Operation) -> bool:
        """Whether it reads a draw that nothing has read before."""
        return bool((op.reads & self.drawn.keys()) - self.touched)

    def touch(self, op: Operation) -> None:
        """Bring the draws to life that are read for the first time."""
        for draw in sorted(op.reads & self.drawn.keys()):
            if draw in self.touched:
                continue
            self.touched.add(draw)
            self.laws = [made for law in self.laws for made in self.begun(law, draw)]
            if len(self.laws) > MOST_MODES:
                raise ValueError(f"{self.drawn[draw]}: more than {MOST_MODES} outcomes of draws are alive together")

    def begun(self, law: Law, draw: int) -> list[Law]:
        """The law with the draw alive, or one law for each of its outcomes."""
        op, numbers, curvatures = self.drawn[draw], self.around.numbers, self.around.curvatures
        step = op.step
        assert isinstance(step, Instruction)
        number = self.number(op.scalars[0], law)
        if number.shape[0] > 1:
            raise ValueError(f"{op}: its {text_of(op.scalars[0].formula)} is drawn itself")
        single, N = self.around.single, curvatures.clients
        if step.op == "coin" and not single:
            p = self.chance(op, number)
            if p.size > 1:
                raise ValueError(f"{op}: p is one number a client; a coin for all has one")
            return self.split(law, draw, [(1 - p[0, 0], one(numbers, 0)), (p[0, 0], one(numbers, 1))])
        how = self.around.treatment.how.setdefault(draw, LINEARLY if step.op == "sample" else BY_CLIENT)
        size = None
        if step.op == "sample":
            size = whole(number, "sample's b")
            replace = bool(step.flag)
            if not replace and size > min(int(c) for c in curvatures.counts):
                raise ValueError(f"sample's b={size} is more than a client has, without replacement")
            if how == LINEARLY:
                law.scalars[draw] = self.factor(size, replace)
                return [law]
            axis = of_draws.batches(draw, size, curvatures.counts, replace, curvatures.samples, numbers)
        elif step.op == "choose":
            if single:
                raise ValueError(f"{op}: one client that is visited chooses nobody")
            size = whole(number, "choose's S")
            axis = of_draws.choose(draw, size, N, bool(step.flag), numbers)
        else:
            axis = of_draws.coins(draw, self.chance(op, number), numbers)
        if how == BY_CLIENT:
            law.add_axis(axis)
            return [law]
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
        return self.split(law, draw, outcomes)

    def chance(self, op: Operation, p: Array) -> Array:
        if np.any(p <= 0) or np.any(p > 1):
            raise ValueError(f"{op}: a probability is outside (0, 1]")
        return p

    def factor(self, size: int, replace: bool) -> Array:
        """(1, N): the variance of a mean over a batch, over that of one sample."""
        numbers = self.around.numbers
        values = [
            numbers.ratio(1, size) if replace or c == 1 else numbers.ratio(int(c) - size, size * (int(c) - 1))
            for c in self.around.curvatures.counts
        ]
        return np.array([values], dtype=numbers.dtype)

    def split(self, law: Law, draw: int, outcomes: Sequence[tuple[Any, Array]]) -> list[Law]:
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

    # scalars

    def number(self, scalar: Scalar, law: Law) -> Array:
        """(1 or O, 1 or N)."""
        around = self.around

        def lookup(name: str) -> Array:
            if name in scalar.turns:
                return one(around.numbers, scalar.turns[name])
            if name in scalar.values:
                draw = scalar.values[name]
                for axis in law.axes:
                    if axis.draw == draw:
                        if axis.values is None:
                            raise ValueError(f"{name} is a sample, not a number")
                        return law.along(axis, axis.values)
                if draw not in law.scalars:
                    raise ValueError(f"the number {name} in {text_of(scalar.formula)} is not linear in the state")
                return law.scalars[draw]
            if name == "k":
                return one(around.numbers, around.k)
            found = around.parameters.scalar(name, around.k)
            return found if found.shape[1] == 1 else found[:, list(around.clients)]

        return evaluate(scalar.formula, around.numbers, lookup)

    def shares(self, law: Law, draw: int) -> Array:
        """(1 or O, 1 or N, n), the part of each sample in the batch.

        Raises:
            AliveError: where only two moments of the sample are carried.
        """
        for axis in law.axes:
            if axis.draw == draw:
                assert axis.shares is not None
                return law.along(axis, axis.shares)
        found = law.scalars[draw]
        if found.ndim != 3:
            raise AliveError(draw)
        return found

    # instructions

    def meets(self, op: Operation) -> bool:
        """Whether clients meet in it, or what they met before has to be in the base."""
        name = op.step.op
        if name not in MEETINGS or (name == "keep" and self.around.single):
            return False
        if name in ("visit", "mix"):
            if self.around.turning or self.around.single:
                raise ValueError(f"{op}: clients meet inside a loop over clients or samples")
            return True
        for law in self.laws:
            value = law.values[op.of[0]]
            if isinstance(op.step, Instruction) and name == "keep":
                return op.step.kind == "server"
            if self.around.turning and isinstance(value, Own):
                raise ValueError(f"{op}: clients meet while they go through their samples")
            if name in ("mean", "sum"):
                if isinstance(value, Own) and not do.is_certain(value):
                    return True
            elif not do.is_certain(law.own(value)) or self.number(op.scalars[0], law).shape[0] > 1:
                return True
        return False

    def value(self, op: Operation, law: Law) -> Value | None:
        """What an instruction gives where clients do not meet."""
        step, numbers, curvatures = op.step, self.around.numbers, self.around.curvatures
        name = step.op
        if isinstance(step, Loop):
            from sim.moments.turns import passed

            return passed(self, op, law)
        if name not in LINEAR_GIVEN_DRAWS:
            raise ValueError(
                f"{op} is not linear in the state: moments are of programs that are linear given the draws"
            )
        values = [law.values[v] for v in op.of if v in law.values]
        scalars = [self.number(s, law) for s in op.scalars]
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
            return self.full_gradient(law, values[0])
        if name in ("mean", "sum", "average"):
            return self.over_clients(op, law, values[0], scalars)
        if name == "shift":
            return self.shifted(law, *values)
        if name == "combine":
            return self.combined_past(op, law, values[0])
        (first, *rest) = do.owns(law, values)
        if name == "each":
            return first
        if name == "gradient" and len(op.of) == 2 and self.linearly(law, op.of[1]):
            self.settled(law, first)
            whole_gradient = do.gradient(law, first, curvatures.hessian[None], curvatures.linear[None])
            if curvatures.samples > 1:
                whole_gradient.pending[op.of[1]] = (unit, first.linear)
            return whole_gradient
        for one_value in (first, *rest):
            if one_value.pending:
                self.settled(law, one_value)
        if name == "gradient":
            if len(op.of) == 1:
                return do.gradient(law, first, curvatures.hessian[None], curvatures.linear[None])
            return do.gradient(law, first, *do.sample_gradients(curvatures, self.shares(law, op.of[1])))
        if name == "prox":
            return do.prox(law, first, scalars[0])
        if name == "keep":
            m = whole(scalars[0], "keep's m")
            if m > curvatures.dim:
                raise ValueError(f"{op}: m={m} is outside [1, d={curvatures.dim}]")
            return do.keep(law, first, m)
        if name == "get":
            shares = (
                (curvatures.own * curvatures.weight[:, None])[None] if len(op.of) == 1 else self.shares(law, op.of[1])
            )
            return do.over_samples(law, first, shares)
        if name == "put":
            shares = self.shares(law, op.of[1])
            present = numbers.zeros(*shares.shape)
            present[shares != 0] = numbers.ratio(1, 1)
            return do.replaced(law, first, present, rest[0])
        raise ValueError(f"{op}: moments do not know this instruction")

    def linearly(self, law: Law, draw: int) -> bool:
        """Whether only two moments of a sample are carried."""
        if any(axis.draw == draw for axis in law.axes):
            return False
        return bool(law.scalars[draw].ndim == 2)

    def full_gradient(self, law: Law, value: Value) -> Value:
        mean = self.around.mean
        if isinstance(value, Own):
            if value.pending:
                self.settled(law, value)
            return do.gradient(law, value, mean[0][None, None], mean[1][None, None])
        B = mean[0] @ value.B
        B[:, 0] = B[:, 0] - mean[1]
        return Shared(B)

    def over_clients(self, op: Operation, law: Law, value: Value, scalars: Sequence[Array]) -> Value:
        numbers, N = self.around.numbers, self.around.curvatures.clients
        name = op.step.op
        if self.around.single:
            if isinstance(value, Own) and name != "average":
                count = self.around.mean[2]
                return value if name == "mean" else law.combined([(one(numbers, count), value)])
            raise ValueError(f"{op}: one client that is visited does not know the others")
        if name == "average":
            weights = np.broadcast_to(scalars[0], (1, N))
            total = weights.sum()
            weights = weights / total if total != 0 else weights * 0
            return do.summed(law, law.own(value), weights)
        if isinstance(value, Shared):
            return value if name == "mean" else Shared(value.B * one(numbers, N)[0, 0])
        weights = numbers.zeros(1, N) + numbers.ratio(1, N if name == "mean" else 1)
        return do.summed(law, value, weights)

    def shifted(self, law: Law, past: Value, new: Value) -> Value:
        d, numbers = self.around.curvatures.dim, self.around.numbers
        if isinstance(past, Shared) and isinstance(new, Shared):
            width = max(past.B.shape[1], new.B.shape[1])
            out = numbers.zeros(len(past.B), width)
            out[:d, : new.B.shape[1]] = new.B
            out[d:, : past.B.shape[1]] = past.B[:-d]
            return Shared(out)
        old, front = do.owns(law, [past, new])
        for value in (old, front):
            if value.pending:
                self.settled(law, value)
        rows = old.linear.rows
        down, top = numbers.zeros(rows, rows), numbers.zeros(rows, d)
        down[range(d, rows), range(rows - d)] = 1
        top[range(d), range(d)] = 1
        unit = numbers.identity(1)
        return law.combined([(unit, law.mapped(down[None, None], old)), (unit, law.mapped(top[None, None], front))])

    def combined_past(self, op: Operation, law: Law, past: Value) -> Value:
        step, d, numbers = op.step, self.around.curvatures.dim, self.around.numbers
        assert isinstance(step, Instruction)
        rows = len(past.B) if isinstance(past, Shared) else past.linear.rows
        alpha = self.around.parameters.array(step.label, self.around.k, (rows // d,))
        matrix = numbers.zeros(d, rows)
        for j in range(rows // d):
            matrix[range(d), range(j * d, (j + 1) * d)] = alpha[j]
        if isinstance(past, Shared):
            return Shared(matrix @ past.B)
        if past.pending:
            self.settled(law, past)
        return law.mapped(matrix[None, None], past)

    # meetings

    def meet(self, operations: Sequence[Operation]) -> None:
        """Carry out instructions where clients meet; all that is alive becomes the new base."""
        for op in operations:
            if isinstance(op.step, Loop):
                continue
            for law in self.laws:
                self.prepare(op, law)
        if isinstance(operations[0].step, Loop):
            (op,) = operations
            self.rebase(())
            from sim.moments.turns import visited

            self.laws = [visited(self, op, law) for law in self.laws]
            self.read(op)
            return
        self.held = {d for op in operations if op.step.op == "average" for d in op.scalars[0].values.values()}
        for op in operations:
            self.read(op)
        self.rebase(operations)
        self.held = set()

    def prepare(self, op: Operation, law: Law) -> None:
        """Put what is summed over the clients where the sum is to be."""
        if op.step.op == "keep":
            law.values[op.to] = law.values[op.of[0]]
            return
        value = law.own(law.values[op.of[0]])
        if op.step.op == "average":
            value = law.combined([(self.number(op.scalars[0], law), value)])
            # a draw is summed out once nobody reads it, and then nothing is known of the sum that divides
            law.scalars[op.to] = self.number(op.scalars[0], law)
        law.values[op.to] = value

    def rebase(self, meeting: Sequence[Operation]) -> None:
        by_number = {op.to: op for op in meeting}
        found: dict[Any, list[tuple[Law, Meeting]]] = {}
        reference: Array | None = None
        for law in self.laws:
            names = [name for name, value in law.values.items() if self.readers.get(name, 0) > 0]
            outputs = [self.output(by_number.get(name), name, law) for name in names]
            if self.around.turning:
                raise ValueError("clients meet while they go through their samples")
            made, reference = self.met(law, outputs, meeting, reference)
            key = tuple(sorted((d, v) for d, v in law.given.items() if self.readers.get(d, 0) > 0))
            found.setdefault(key, []).append((law, made))
        self.laws = [self.begun_again(parts) for parts in found.values()]

    def finish(self, outputs: Sequence[Output], reference: Array | None) -> Meeting:
        """The base of these outputs, all laws together; `reference` as for `meet`."""
        total: Any = 0
        for law in self.laws:
            made, _ = self.met(law, [replace(out) for out in outputs], (), reference)
            reference, total = made.reference, total + made.second
        return replace(made, second=total)

    def output(self, op: Operation | None, name: int, law: Law) -> Output:
        value = law.values[name]
        out = Output(name, value)
        if op is None:
            return out
        numbers, N = self.around.numbers, self.around.curvatures.clients
        if op.step.op == "keep":
            (m,) = (whole(self.number(s, law), "keep's m") for s in op.scalars)
            if m > self.around.curvatures.dim:
                raise ValueError(f"{op}: m={m} is outside [1, d={self.around.curvatures.dim}]")
            out.kept = do.kept_excess(numbers, self.around.curvatures.dim, m)
        elif op.step.op == "mix":
            assert isinstance(op.step, Instruction)
            out.weights = self.around.parameters.array(op.step.label, self.around.k, (N, N))
        else:
            out.weights = numbers.zeros(1, N) + numbers.ratio(1, N if op.step.op == "mean" else 1)
        return out

    def met(
        self, law: Law, outputs: list[Output], meeting: Sequence[Operation], reference: Array | None
    ) -> tuple[Meeting, Array]:
        """The new base of one law; averages are divided by what they are averages over."""
        self.settled(law)
        for axis in law.axes:
            if self.readers.get(axis.draw, 0) > 0:
                raise AliveError(axis.draw)
        numbers, N = self.around.numbers, self.around.curvatures.clients
        divided: list[Array] = []
        by_number = {out.number: out for out in outputs}
        counted: set[int] = set()
        for op in meeting:
            if op.step.op != "average" or op.to not in by_number:
                continue
            out = by_number[op.to]
            active = law.scalars.pop(op.to)
            drawn = [axis for axis in law.axes if axis.draw in op.scalars[0].values.values()]
            total = self.certain_total(law, active, drawn)
            if total is None:
                for axis in drawn:
                    if axis.pair is not None:
                        raise AliveError(axis.draw)
                counted |= {axis.draw for axis in drawn}
                out.divisor = len(divided)
                divided.append(active)
            else:
                assert out.weights is not None
                out.weights = out.weights / total if total != 0 else out.weights * 0
        for axis in list(law.axes):
            if axis.pair is None and axis.draw not in counted:
                # what an average divides by does not depend on it
                kept = divided
                law.scalars |= {-1 - t: terms for t, terms in enumerate(kept)}
                law.merge(axis)
                divided = [law.scalars.pop(-1 - t) for t in range(len(kept))]
        values = [law.values[out.number] for out in outputs]
        copies = [value for out, value in zip(outputs, values, strict=True) if out.each]
        for value in copies:
            if isinstance(value, Shared) and value.B.shape[1] > law.width:
                law.known(value)
        for out, value in zip(outputs, values, strict=True):
            out.value = law.own(value) if out.each else value
        if not law.axes:
            made = meet(law, outputs, reference=reference)
            return made, made.reference
        if divided and any(axis.pair is not None for axis in law.axes):
            raise AliveError(next(axis.draw for axis in law.axes if axis.pair is not None))
        probability = self.joint([axis.probability for axis in law.axes])
        if not divided:
            pairs = law.axes[0].pair
            for axis in law.axes[1:]:
                assert pairs is not None
                assert axis.pair is not None
                pairs = np.kron(pairs, axis.pair)
            made = meet(law, outputs, probability, pairs, reference)
            return made, made.reference
        outcomes = law.outcomes
        probability = np.broadcast_to(probability, (N, outcomes))
        terms = np.stack([np.broadcast_to(a, (outcomes, N)).T for a in divided])
        total_second: Any = 0
        weights = {out.number: out.weights for out in outputs}
        for given in of_draws.given_sums(probability, terms, numbers):
            for out in outputs:
                if out.divisor is not None:
                    before, by = weights[out.number], given.sums[out.divisor]
                    assert before is not None
                    out.weights = before / by if by != 0 else before * 0
            made = meet(law, outputs, given.probability, given.excess, reference)
            reference = made.reference
            total_second = total_second + made.second * given.chance
        assert reference is not None
        return Meeting(made.outputs, made.width, made.own_width, reference, total_second), reference

    def joint(self, parts: Sequence[Array]) -> Array:
        """(1 or N, O), of independent draws together."""
        found = parts[0]
        for part in parts[1:]:
            found = (found[:, :, None] * part[:, None, :]).reshape(max(len(found), len(part)), -1)
        return found

    def certain_total(self, law: Law, active: Array, drawn: Sequence[of_draws.Axis]) -> Any:
        """What sum_n active_n is, where it is always the same; None where it is not."""
        N = self.around.curvatures.clients
        if active.shape[0] == 1:
            return np.broadcast_to(active, (1, N)).sum()
        if len(drawn) != 1 or drawn[0].pair is None or active.shape[1] > 1:
            return None
        (axis,) = drawn
        assert axis.values is not None
        # as a function of how often a client was chosen
        table: dict[int, Any] = {}
        for o, value in enumerate(self.per_outcome(law, active, axis)):
            table[o] = value
        step = table[1] - table[0] if len(table) > 1 else 0
        if any(table[o] - table[0] != o * step for o in table):
            return None
        scalar = self.drawn[axis.draw].scalars[0]
        size = whole(self.number(scalar, law), "choose's S")
        return N * table[0] + size * step

    def per_outcome(self, law: Law, active: Array, axis: of_draws.Axis) -> list[Any]:
        """The values of a scalar that depends on one axis alone, by its outcomes."""
        place = law.along(axis, np.arange(axis.size).reshape(-1, 1))[:, 0]
        return [active[int(np.argmax(place == o)), 0] for o in range(axis.size)]

    def begun_again(self, parts: Sequence[tuple[Law, Meeting]]) -> Law:
        """A law on the new base: the sum of those that are no longer told apart."""
        old, made = parts[0]
        numbers, N = self.around.numbers, self.around.curvatures.clients
        second = made.second
        weight = old.weight
        for law, other in parts[1:]:
            second = second + other.second
            weight = weight + law.weight
        law = Law(self.around.curvatures, second, made.width, made.own_width)
        law.weight = weight
        law.given = {d: v for d, v in old.given.items() if self.readers.get(d, 0) > 0}
        law.scalars = {d: c for d, c in old.scalars.items() if self.readers.get(d, 0) > 0}
        own = made.reference[made.width :].reshape(N, made.own_width)
        for out in made.outputs:
            rows = range(out.rows)
            if out.of_clients:
                B = numbers.zeros(1, N, out.rows, law.local_width)
                B[0, :, :, 0] = own[:, out.place : out.place + out.rows]
                B[:, :, rows, range(made.width + out.place, made.width + out.place + out.rows)] = numbers.ratio(1, 1)
                law.values[out.number] = Own(Linear(B, {}))
            else:
                B = numbers.zeros(out.rows, made.width)
                B[:, 0] = made.reference[out.place : out.place + out.rows]
                B[rows, range(out.place, out.place + out.rows)] = numbers.ratio(1, 1)
                law.values[out.number] = Shared(B)
        return law


def executed(around: Around, operations: Sequence[Operation], law: Law, wanted: Sequence[int]) -> Execution:
    """Carry operations out, treating the draws as cheaply as can be.

    Args:
        around: what they are in.
        operations: a round, or a turn.
        law: before it; left as it is.
        wanted: the values that are needed afterwards.

    Raises:
        ValueError: naming the instruction that moments do not follow, and why.
    """
    while True:
        execution = Execution(around, operations, law.copied(), wanted)
        try:
            execution.run()
            return execution
        except AliveError as error:
            op = execution.drawn.get(error.draw)
            if op is None:
                raise
            how = around.treatment.how
            if how.get(error.draw, TOGETHER) == TOGETHER:
                raise ValueError(f"{op}: the draw is read in a way that moments do not follow") from None
            how[error.draw] += 1
        except of_draws.TooManyError as error:
            raise ValueError(
                f"the outcomes of a draw that is read again after clients met, or does not enter linearly, have to be"
                f" gone through together, and there are too many: {error}"
            ) from None
