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
from dataclasses import replace
from typing import Any

from sim.moments import draws as of_draws
from sim.moments import operations as do
from sim.moments.around import TOGETHER, Around
from sim.moments.bases import begun_again, met, output_of
from sim.moments.beginning import begun
from sim.moments.instructions import value_of
from sim.moments.law import AliveError, Law, Own, Value
from sim.moments.meeting import Meeting, Output
from sim.moments.numbers import Array
from sim.moments.reads import Reads
from sim.moments.turns import passed, visited
from sim.moments.unrolled import Operation
from theory.program import Instruction, Loop

MEETINGS = ("mean", "sum", "average", "mix", "keep", "visit")
MOST_MODES = 4096
"""Largest number of laws, each given the outcomes of some draws, that are carried at once."""


class Execution:
    """Operations carried out on laws: one for each outcome of what is taken together.

    Args:
        around: what they are in.
        operations: of a round, or of a turn.
        law: before them; it is changed.
        wanted: the values that are needed afterwards.

    Attributes:
        laws: one for each outcome of what is taken together.
        reads: who still reads what.
    """

    def __init__(self, around: Around, operations: Sequence[Operation], law: Law, wanted: Sequence[int]) -> None:
        needed = set(wanted)
        kept = []
        for op in reversed(operations):
            if op.to in needed:
                needed |= op.reads
                kept.append(op)
        self.around, self.operations, self.laws = around, kept[::-1], [law]
        self.reads = Reads(self.operations, wanted)
        self._held: set[int] = set()  # draws that what clients meet in is divided by
        self._touched: set[int] = set()

    def within(self, around: Around, operations: Sequence[Operation], law: Law, wanted: Sequence[int]) -> Execution:
        """What is inside of a loop over clients or samples, carried out; arguments as of `executed`."""
        return executed(around, operations, law, wanted)

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
            if ready and not (meeting and self._begins(self.operations[ready[0]])):
                i = heapq.heappop(ready)
                op = self.operations[i]
                if op.to in self.reads.drawn:
                    done(i)
                    continue
                self._touch(op)
                if self._meets(op):
                    waiting.append(i)
                    continue
                for law in self.laws:
                    value = self._value(op, law)
                    if value is not None:
                        law.values[op.to] = value
                self._read(op)
                done(i)
                continue
            loops = [i for i in waiting if isinstance(self.operations[i].step, Loop)]
            now = [i for i in waiting if i not in loops]
            if not now:
                now, loops = loops[:1], loops[1:]
            waiting = loops
            self._meet([self.operations[i] for i in now])
            for i in now:
                done(i)

    def _read(self, op: Operation) -> None:
        """One reader less of what it read; forget what nobody reads."""
        for name in self.reads.done(op):
            for law in self.laws:
                law.values.pop(name, None)
        for draw in [draw for draw in self._touched if not self.reads.open(draw)]:
            self._touched.discard(draw)
            for law in self.laws:
                self._sum_out(law, draw)

    def _sum_out(self, law: Law, draw: int) -> None:
        """A draw is read no more: tell its outcomes apart no more, where that can be done client by client."""
        for axis in law.axes:
            if axis.draw == draw and axis.pair is None and draw not in self._held:
                pending = {d for v in law.values.values() if isinstance(v, Own) for d in v.pending}
                if any(map(self.reads.open, pending)):
                    return  # until clients meet
                self.reads.settle(law, tidy=False)
                law.merge(axis)
                return

    # draws

    def _begins(self, op: Operation) -> bool:
        """Whether it reads a draw that nothing has read before."""
        return bool((op.reads & self.reads.drawn.keys()) - self._touched)

    def _touch(self, op: Operation) -> None:
        """Bring the draws to life that are read for the first time."""
        for draw in sorted(op.reads & self.reads.drawn.keys()):
            if draw in self._touched:
                continue
            self._touched.add(draw)
            for law in self.laws:  # before outcomes are told apart: what is settled then is so for each of them
                pending = {d for v in law.values.values() if isinstance(v, Own) for d in v.pending}
                closed = sorted(d for d in pending if d in self.reads.drawn and not self.reads.open(d))
                if closed:
                    law.settle(closed)
            self.laws = [made for law in self.laws for made in begun(self.around, self.reads.drawn[draw], law)]
            if len(self.laws) > MOST_MODES:
                raise ValueError(
                    f"{self.reads.drawn[draw]}: more than {MOST_MODES} outcomes of draws are alive together"
                )

    # instructions

    def _meets(self, op: Operation) -> bool:
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
            elif not do.is_certain(law.own(value)) or self.around.number(op.scalars[0], law).shape[0] > 1:
                return True
        return False

    def _value(self, op: Operation, law: Law) -> Value | None:
        """What it gives where clients do not meet."""
        return passed(self, op, law) if isinstance(op.step, Loop) else value_of(self.around, self.reads, op, law)

    # meetings

    def _meet(self, operations: Sequence[Operation]) -> None:
        """Carry out instructions where clients meet; all that is alive becomes the new base."""
        for op in operations:
            if isinstance(op.step, Loop):
                continue
            for law in self.laws:
                self._prepare(op, law)
        if isinstance(operations[0].step, Loop):
            (op,) = operations
            self._rebase(())
            self.laws = [visited(self, op, law) for law in self.laws]
            self._read(op)
            return
        self._held = {d for op in operations if op.step.op == "average" for d in op.scalars[0].values.values()}
        for op in operations:
            self._read(op)
        self._rebase(operations)
        self._held = set()

    def _prepare(self, op: Operation, law: Law) -> None:
        """Put what is summed over the clients where the sum is to be."""
        if op.step.op == "keep":
            law.values[op.to] = law.values[op.of[0]]
            return
        value = law.own(law.values[op.of[0]])
        if op.step.op == "average":
            value = law.combined([(self.around.number(op.scalars[0], law), value)])
            # a draw is summed out once nobody reads it, and then nothing is known of the sum that divides
            law.scalars[op.to] = self.around.number(op.scalars[0], law)
        law.values[op.to] = value

    def _rebase(self, meeting: Sequence[Operation]) -> None:
        by_number = {op.to: op for op in meeting}
        found: dict[Any, list[tuple[Law, Meeting]]] = {}
        reference: Array | None = None
        for law in self.laws:
            names = [name for name, value in law.values.items() if self.reads.open(name)]
            outputs = [output_of(self.around, by_number.get(name), name, law) for name in names]
            if self.around.turning:
                raise ValueError("clients meet while they go through their samples")
            made = met(self.around, self.reads, law, outputs, meeting, reference)
            reference = made.reference
            key = tuple(sorted((d, v) for d, v in law.given.items() if self.reads.open(d)))
            found.setdefault(key, []).append((law, made))
        self.laws = [begun_again(self.around, self.reads, parts) for parts in found.values()]

    def finish(self, outputs: Sequence[Output], reference: Array | None) -> Meeting:
        """The base of these outputs, all laws together; `reference` as for `meet`."""
        found: Meeting | None = None
        for law in self.laws:
            made = met(self.around, self.reads, law, [replace(out) for out in outputs], (), reference)
            reference, found = made.reference, made if found is None else found.plus(made)
        assert found is not None
        return found


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
            op = execution.reads.drawn.get(error.draw)
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
