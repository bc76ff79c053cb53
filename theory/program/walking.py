"""Walking through a program: what all interpreters that run it step by step share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from theory.formula import Formula
from theory.program.data import Instruction, Loop, Step


class Machine(Protocol):
    """What an interpreter that runs a program step by step has to know; `walk` knows the loops."""

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        """The value of a scalar; `env` has the values of the names of draws and of turns."""

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        """The number of turns of a loop.

        Raises:
            ValueError: where it is no integer, or below 1.
        """

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """The value of an instruction; of a tap, nothing."""

    def visits(self) -> Iterator[None]:
        """Become one client after another, in random order; in between, instructions are those of that client."""

    def passes(self) -> Iterator[Any]:
        """The samples of each turn in which every client goes once through its own."""

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        """`after`, but `before` for the clients that `passes` gave no sample in this turn."""


def walk(steps: Sequence[Step], env: dict[str, Any], machine: Machine) -> None:
    """Run steps: afterwards `env` has the values that they define. It begins with the inputs and with ``k``."""
    for step in steps:
        if isinstance(step, Instruction):
            numbers = [machine.number(f, env) for f in step.numbers]
            value = machine.apply(step, [env[name] for name in step.of], numbers)
            if step.to:
                env[step.to] = value
            continue
        if step.op == "repeat":
            assert step.count is not None
            for turn in range(machine.count(step.count, env)):
                env[step.index] = turn
                _hand_on(step, env, turn == 0)
                walk(step.body, env, machine)
            continue
        first = True
        for samples in machine.visits() if step.op == "visit" else machine.passes():
            _hand_on(step, env, first)
            first = False
            if step.op == "pass":
                env[step.index] = samples
            walk(step.body, env, machine)
            if step.op == "pass":
                for c in step.carried:
                    env[c.following] = machine.kept(samples, env[c.name], env[c.following])


def _hand_on(loop: Loop, env: dict[str, Any], first: bool) -> None:
    env.update({c.name: env[c.first if first else c.following] for c in loop.carried})
