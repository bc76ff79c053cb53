"""A round without ``repeat``: every value has a number of its own, and it is known who reads it.

The loops over clients and over samples stay: their order is drawn, and their moments follow a recursion over subsets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from theory.program import VALUE, Formula, Instruction, Loop, Program, Step, names_in

MOST_OPERATIONS = 200_000
"""Longest round, unrolled."""


@dataclass(frozen=True)
class Scalar:
    """A formula, with what its names mean where it stands: turns of loops are numbers, draws are numbered values."""

    formula: Formula
    turns: Mapping[str, int]
    values: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Operation:
    """An instruction, or a loop over clients or samples, at its place in the unrolled round.

    Attributes:
        step: it.
        to: the number of its value; -1 where it has none.
        of: the values that it reads, in order; of a loop all that its body reads from outside.
        scalars: its numbers.
        reads: all values that it reads, draws in `scalars` included.
        body: of a loop.
    """

    step: Instruction | Loop
    to: int
    of: tuple[int, ...]
    scalars: tuple[Scalar, ...] = ()
    reads: frozenset[int] = frozenset()
    body: Body | None = None

    def __str__(self) -> str:
        line = f" (line {self.step.line})" if self.step.line else ""
        return f"{self.step.op}{line}"


@dataclass(frozen=True, eq=False)
class Body:
    """The body of a loop over clients or samples: what it hands on is `inner` before a turn, and `after` after it."""

    inner: int
    after: int
    index: int
    operations: tuple[Operation, ...]


@dataclass(frozen=True, eq=False)
class Unrolled:
    """A round.

    Attributes:
        operations: in the program's order.
        inputs: the state's values before the round.
        results: after it.
        taps: by label and turns, the value.
    """

    operations: tuple[Operation, ...]
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    taps: Mapping[tuple[str, tuple[int, ...]], int]


@dataclass
class _Unroller:
    count: Callable[[Formula, Mapping[str, int]], int]
    operations: list[list[Operation]] = field(default_factory=lambda: [[]])
    taps: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    used: int = 0
    total: int = 0

    def fresh(self) -> int:
        self.used += 1
        return self.used - 1

    def read(self, name: str, names: Mapping[str, int]) -> int:
        if name not in names:
            raise ValueError(
                f"{name}, of the last turn of a loop over clients or samples, is read after it; moments keep only what"
                " the loop hands on"
            )
        return names[name]

    def walk(
        self, steps: Sequence[Step], names: dict[str, int], turns: dict[str, int], around: tuple[int, ...]
    ) -> None:
        for step in steps:
            self.total += 1
            if self.total > MOST_OPERATIONS:
                raise ValueError(f"a round has more than {MOST_OPERATIONS} operations: its loops have too many turns")
            if isinstance(step, Instruction):
                if step.op == "tap":
                    self.taps[step.label, around] = self.read(step.of[0], names)
                    continue
                scalars = tuple(self.scalar(f, names, turns) for f in step.numbers)
                of = tuple(self.read(name, names) for name in step.of)
                to = self.fresh()
                names[step.to] = to
                reads = frozenset(of).union(*(s.values.values() for s in scalars))
                self.operations[-1].append(Operation(step, to, of, scalars, reads))
            elif step.op == "repeat":
                assert step.count is not None
                for turn in range(self.count(step.count, turns)):
                    handed = {c.name: self.read(c.first if turn == 0 else c.following, names) for c in step.carried}
                    names.update(handed)
                    turns[step.index] = turn
                    self.walk(step.body, names, turns, (*around, turn))
                turns.pop(step.index, None)
            else:
                self.loop(step, names, turns, around)

    def loop(self, step: Loop, names: dict[str, int], turns: dict[str, int], around: tuple[int, ...]) -> None:
        (carried,) = step.carried
        first = self.read(carried.first, names)
        inside = dict(names)
        before = self.used
        inner, index = self.fresh(), self.fresh()
        inside[carried.name] = inner
        if step.index:
            inside[step.index] = index
        self.operations.append([])
        taps = dict(self.taps)
        self.walk(step.body, inside, turns, around)
        self.taps = taps  # the turns of such a loop are in random order: nothing is known of one by its number
        body = Body(inner, inside[carried.following], index, tuple(self.operations.pop()))
        outside = {i for op in body.operations for i in op.reads if i < before} | {first}
        if body.after < before:
            outside.add(body.after)
        to = self.fresh()
        of = (first, *sorted(outside - {first}))
        names[carried.following] = to
        self.operations[-1].append(Operation(step, to, of, (), frozenset(of), body))

    def scalar(self, formula: Formula, names: Mapping[str, int], turns: Mapping[str, int]) -> Scalar:
        used = names_in(formula)
        values = {name: self.read(name, names) for name in used if VALUE.match(name)}
        return Scalar(formula, {name: turns[name] for name in used if name in turns}, values)


def unrolled(program: Program, count: Callable[[Formula, Mapping[str, int]], int]) -> Unrolled:
    """A round of the program.

    Args:
        program: what to unroll.
        count: the number of turns of a loop, from its formula and the turns of the loops around.

    Raises:
        ValueError: when it is too long.
    """
    worker = _Unroller(count)
    names = {name: worker.fresh() for name in program.inputs}
    worker.walk(program.body, names, {}, ())
    inputs = tuple(range(len(program.inputs)))
    return Unrolled(
        tuple(worker.operations[0]), inputs, tuple(worker.read(r, names) for r in program.result), worker.taps
    )
