"""What the steps of a round share: where its values are, which of them are read, and how many outcomes there may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from theory.formula import Formula, text_of
from theory.program import Instruction, Loop, Program, Step
from validate.instances.domains import CHECKS, check
from validate.instances.instance import Instance
from validate.instances.problems import KnowsEqualSamples, Problem
from validate.instances.scalars import Scalar
from validate.primitives import nonzero
from validate.rounds.readers import PER_CLIENT, kinds_of, readers_of

State: TypeAlias = "tuple[Any, ...]"
Environment: TypeAlias = "list[Any]"
Branches: TypeAlias = "list[tuple[Any, Environment]]"
Effect: TypeAlias = "Callable[[Environment], None]"
"""A step that no draw is in."""
Onward: TypeAlias = "Callable[[Branches], Branches]"
"""A step that may make more branches of one."""

CLIENT, TAPS = 0, 1
"""Where an environment has the client whose turn it is in ``w.visit``, and what was tapped so far."""


class TooManyOutcomesError(ValueError):
    """A round has more outcomes than are to be played."""


def too_many(k: int, limit: int, count: int) -> TooManyOutcomesError:
    """The error for a round with at least so many outcomes."""
    return TooManyOutcomesError(
        f"round {k} has more than limit={limit} outcomes, at least {count}: take fewer clients, samples, coordinates "
        "or turns, fewer rounds, or a larger limit"
    )


@dataclass(frozen=True, slots=True)
class Where:
    """Where in a round a step stands.

    Attributes:
        made: in ``w.visit``, the values that were made in it, which are those of one client; else None.
        loops: where the environment counts the turns of the loops around.
    """

    made: frozenset[str] | None = None
    loops: tuple[int, ...] = ()

    def after(self, *names: str) -> Where:
        """Behind steps that made these values."""
        return self if self.made is None else replace(self, made=self.made.union(names))


class Frame:
    """A round's program on an instance, before its steps are compiled.

    Args:
        program: whose round it is.
        instance: on what.
        taps: which are wanted.

    Attributes:
        slots: where an environment has each value.
        room: how many outcomes there may be, from the state at hand.
        limit: how many there may be in the whole round, for the message.
        turns: the round and the turns of the loops around the draw at hand.
        idle: where the environment has which clients are through with their samples.
        tables: whether the program keeps something of each sample, so that none is like another.
    """

    def __init__(self, program: Program, instance: Instance, taps: frozenset[str]) -> None:
        assert instance.problem is not None
        self.program = program
        self.instance = instance
        self.problem: Problem = instance.problem
        self.taps = taps
        self.clients = self.problem.clients
        self.scalars = instance.scalars()
        self.readers = readers_of(program, taps)
        self.kinds = kinds_of(program)
        self.size = TAPS + 1
        self.room = self.limit = 0
        self.turns: tuple[int, ...] = ()
        self.idle: list[int] = []
        counted = [step.index for step in program.steps if isinstance(step, Loop) and step.index]
        self.slots = {name: self.place() for name in dict.fromkeys((*self.kinds, *counted))}
        self.tables = "table" in self.kinds.values()
        self.many = frozenset(name for name, kind in self.kinds.items() if kind == "numbers")

    def place(self) -> int:
        """One more place in the environment."""
        self.size += 1
        return self.size - 1

    def fit(self, count: int) -> None:
        """Refuse so many outcomes, or more, where there is no room for them.

        Raises:
            TooManyOutcomesError: saying how many the round has at least.
        """
        if count > self.room:
            raise too_many(self.scalars.k, self.limit, self.limit - self.room + count)

    def of_each(self, name: str, where: Where) -> bool:
        """Whether a value has a part for each client, from which that of the client at hand is to be taken."""
        return self.kinds[name] in PER_CLIENT and (where.made is None or name not in where.made)

    def operands(self, step: Instruction, where: Where) -> tuple[list[tuple[int, bool]], list[Scalar]]:
        """The places of an instruction's operands, with whether they have a part for each client; its numbers."""
        of = [(self.slots[name], self.of_each(name, where)) for name in step.of]
        return of, [self.scalar(step, f, i, where) for i, f in enumerate(step.numbers)]

    def scalar(self, step: Step, formula: Formula, position: int, where: Where) -> Scalar:
        """A number of a step, with the check of its domain where that could not be made before."""
        outer = self.many if where.made is None else self.many - where.made
        one = self.scalars.compiled(formula, self.slots, outer, None if where.made is None else CLIENT)
        checks = CHECKS.get(step.op, ())
        if one.fixed or position >= len(checks) or checks[position] is None:
            return one
        inner, text = one.value, text_of(formula)

        def checked(env: Sequence[Any]) -> Any:
            value = inner(env)
            check(step, position, text, value, one.per_client, self.problem)
            return value

        return Scalar(checked, one.per_client, False, one.by_round)

    def samples(self, n: int) -> tuple[list[int], tuple[int, ...]]:
        """The first of each kind of samples of client n that are alike for this program, and how many there are."""
        problem = self.problem
        if self.tables or not isinstance(problem, KnowsEqualSamples):
            return list(range(problem.samples(n))), (1,) * problem.samples(n)
        times = Counter(problem.alike[n])
        return list(times), tuple(times.values())

    def needed(self, name: str, where: Where) -> Callable[[Environment], Sequence[bool]] | None:
        """Which clients' values are read; None for all of them."""
        guards, idle = self.readers.guards[name] or frozenset(), tuple(self.idle)
        if not (guards or idle) or where.made is not None or self.kinds[name] not in PER_CLIENT:
            return None
        tests = [
            (self.scalars.compiled(f, self.slots, self.many), positive) for f, positive in sorted(guards, key=repr)
        ]

        def needed(env: Environment) -> list[bool]:
            found = [True] * self.clients
            for scalar, positive in tests:
                value = scalar.value(env)
                for n in range(self.clients):
                    if nonzero(value[n] if scalar.per_client else value) != positive:
                        found[n] = False
            for slot in idle:
                found = [wanted and not through for wanted, through in zip(found, env[slot], strict=True)]
            return found

        return needed
