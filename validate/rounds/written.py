"""Stretches of a round that no draw is in, written out as Python for the clients and coordinates at hand.

Most of what exact play does is sums of vectors and gradients, for each client and coordinate alike; a loop over them
costs more than the arithmetic. What is written here holds places and numbers of constants only, nothing that was read.
Each instruction does what `validate.rounds.instructions` makes it do, in the same order, and those that are not written
out are called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

from theory.program import Instruction
from validate.instances.problems import Quadratics, Vector
from validate.instances.scalars import Scalar
from validate.primitives import mean_of, terms_of
from validate.rounds.frame import Effect, Environment, Frame, Where
from validate.rounds.readers import PER_CLIENT

MOST = 24
"""Clients times coordinates up to which they are written out."""
WRITTEN = ("linear", "gradient", "each", "mean", "sum")
PLAIN = {"server", "client", "sample"}


@dataclass(frozen=True)
class Written:
    """An instruction that is written out.

    Attributes:
        step: the instruction.
        to: where its value goes.
        of: the places of its operands, with whether each has a part for each client.
        numbers: its factors, which are always the same.
        needed: which clients' values are read; None for all of them.
        guards: what that hangs on: instructions one after the other that share it ask once.
    """

    step: Instruction
    to: int
    of: Sequence[tuple[int, bool]]
    numbers: Sequence[Scalar]
    needed: Callable[[Environment], Sequence[bool]] | None
    guards: Any


def written(frame: Frame, step: Instruction, where: Where) -> Written | None:
    """An instruction as one that is written out; None where it is not."""
    if step.op not in WRITTEN or where.made is not None or frame.clients * frame.problem.dim > MOST:
        return None
    if not {frame.kinds[name] for name in (*step.of, step.to)} <= PLAIN:
        return None
    if step.op == "gradient" and len(step.of) > 1 and step.kind not in PER_CLIENT:
        return None
    of, numbers = frame.operands(step, where)
    if any(not c.fixed or c.by_round for c in numbers):
        return None
    guards = frame.readers.guards[step.to], tuple(frame.idle)
    return Written(step, frame.slots[step.to], of, numbers, frame.needed(step.to, where), guards)


def stretch(frame: Frame, steps: Sequence[Written | Effect]) -> Effect:
    """Instructions one after the other as one function of an environment, which is written when it is first wanted."""
    made: list[Effect] = []

    def run(env: Environment) -> None:
        if not made:
            made.append(_Writer(frame).function(steps, env))
        made[0](env)

    return run


class _Writer:
    """The lines of a function, and the constants that stand in them by name."""

    def __init__(self, frame: Frame) -> None:
        self.problem, self.N, self.dim = frame.problem, frame.clients, frame.problem.dim
        self.lines: list[str] = []
        self.constants: list[Any] = []
        self.known: set[int] = set()
        self.asked: dict[Any, str] = {}

    def function(self, steps: Sequence[Written | Effect], env: Environment) -> Effect:
        """The function; `env` is one that it will be called with, of which its factors do not depend."""
        for step in steps:
            if isinstance(step, Written):
                self._write(step, env)
            else:
                self.lines.append(f"{self._constant(step)}(env)")
                self.known.clear()  # it may have written anywhere
                self.asked.clear()
        names = ", ".join(f"c{i}" for i in range(len(self.constants)))
        text = "\n".join([f"def make({names}):", " def run(env):", *(f"  {x}" for x in self.lines), " return run"])
        namespace: dict[str, Any] = {}
        exec(_code(text), namespace)
        make: Callable[..., Effect] = namespace["make"]
        return make(*self.constants)

    def _constant(self, value: Any) -> str:
        """The name under which the function has a constant."""
        self.constants.append(value)
        return f"c{len(self.constants) - 1}"

    def _value(self, slot: int) -> str:
        """The name under which the function has what stands at a place."""
        if slot not in self.known:
            self.lines.append(f"v{slot} = env[{slot}]")
            self.known.add(slot)
        return f"v{slot}"

    def _write(self, one: Written, env: Environment) -> None:
        step, to = one.step, one.to
        values = [(self._value(slot), own) for slot, own in one.of]
        if step.op in ("mean", "sum"):
            made = self._over_clients(*values[0], step.op == "mean")
        elif step.kind not in PER_CLIENT:
            made = self._of_one(one, env, values, 0)
        elif one.needed is None:
            made = f"({''.join(f'{self._of_one(one, env, values, n)}, ' for n in range(self.N))})"
        else:  # a client that is through with its samples stays as it was
            w = self.asked.get(one.guards)
            if w is None:
                w = self.asked[one.guards] = f"w{len(self.constants)}"
                self.lines.append(f"{w} = {self._constant(one.needed)}(env)")
            self.lines.append(f"b = env[{to}] or {(None,) * self.N}")
            each = (f"{self._of_one(one, env, values, n)} if {w}[{n}] else b[{n}], " for n in range(self.N))
            made = f"({''.join(each)})"
        self.lines.append(f"v{to} = env[{to}] = {made}")
        self.known.add(to)

    def _of_one(self, one: Written, env: Environment, values: Sequence[tuple[str, bool]], n: int) -> str:
        """The value of a client, or the server's."""
        operands = [f"{value}[{n}]" if own else value for value, own in values]
        if one.step.op == "each":
            return operands[0]
        if one.step.op == "gradient":
            return self._gradient(operands, n)
        factors = [c.value(env) for c in one.numbers]
        return self._sum([v[n] if c.per_client else v for v, c in zip(factors, one.numbers, strict=True)], operands)

    def _sum(self, factors: Sequence[Any], operands: Sequence[str]) -> str:
        """sum c v, coordinate by coordinate; a vector whose factor is 0 is not looked at."""
        from flint import fmpq

        terms = terms_of(factors)
        if not terms:
            return self._constant((fmpq(0),) * self.dim)
        if len(terms) == 1 and terms[0][1] > 0:
            return operands[terms[0][0]]
        signed = [
            (" - " if sign < 0 else " + ", operands[at] if sign else f"{self._constant(c)}*{operands[at]}")
            for at, sign, c in terms
        ]
        first = ("-" if signed[0][0] == " - " else "") + signed[0][1]
        coordinates = [
            f"{first}[{j}]" + "".join(f"{sign}{term}[{j}]" for sign, term in signed[1:]) for j in range(self.dim)
        ]
        return _tuple(coordinates)

    def _gradient(self, operands: Sequence[str], n: int) -> str:
        v = operands[0]
        if len(operands) > 1:
            return f"{self._constant(self._sampled)}({v}, {n}, {operands[1]})"
        if type(self.problem) is not Quadratics:
            return f"{self._constant(self.problem.gradient)}({v}, {n})"
        rows, linear, _ = self.problem._function((n,))
        coordinates = []
        for row, b in zip(rows, linear, strict=True):
            terms = [f"{self._constant(h)}*{v}[{j}]" for j, h in row]
            coordinates.append(" + ".join(terms if terms and not b else [f"-{self._constant(b)}", *terms]))
        return _tuple(coordinates)

    def _sampled(self, v: Vector, n: int, batch: Sequence[int]) -> Vector:
        """The mean of the gradients of some of a client's samples."""
        return mean_of([self.problem.gradient(v, n, i) for i in batch])

    def _over_clients(self, value: str, own: bool, mean: bool) -> str:
        parts = (
            " + ".join(f"{value}[{n}][{j}]" if own else f"{value}[{j}]" for n in range(self.N)) for j in range(self.dim)
        )
        return _tuple([f"({part})/{self.N}" if mean else part for part in parts])


def _tuple(coordinates: Sequence[str]) -> str:
    return f"({''.join(f'{x}, ' for x in coordinates)})"


@cache
def _code(text: str) -> CodeType:
    """Rounds of the same form have the same text."""
    return compile(text, "<round>", "exec")
