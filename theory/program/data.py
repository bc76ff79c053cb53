"""Programs as data: instructions, loops, state, and what can be read off them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from theory.formula import Apply, Formula, Name, Number, names_in, text_of
from theory.program.findings import Findings

Kind = Literal["server", "client", "table", "past", "client past", "number", "numbers", "sample"]
VECTORS: tuple[Kind, ...] = ("server", "client", "table")
STACKS: tuple[Kind, ...] = ("past", "client past")
RESERVED = frozenset({"k", "K", "E", "f", "f_n", "f_ni", "x0", "xstar", "xstar_n", "fstar", "h", "j", "n", "i"})
TAKEN = "taken are the indices n, i, k, h, j, and K, E, f, f_n, f_ni, x0, xstar, xstar_n, fstar"
"""`RESERVED` in words, for messages."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
VALUE = re.compile(r"_[0-9]+\Z")


class ProgramError(ValueError):
    """An algorithm that cannot be traced, with its line and what to write instead."""


@dataclass(frozen=True)
class Instruction:
    """``to = op(of; numbers)``.

    Attributes:
        op: one of `OPERATIONS`.
        to: name of the value (``_7``); empty for a tap.
        kind: of the value.
        of: names of the values that it reads, in order.
        numbers: its scalars, as formulas: the coefficients of ``linear`` (one for each of `of`), the m of ``keep``, ...
        label: a name that goes with it: a tap's, the matrix of ``mix``, the weights of ``combine``.
        flag: ``with replacement`` of a draw, or None where there is no such choice.
        hint: what the author called the value; only for people.
        line: of the author's file; only for people.
    """

    op: str
    to: str
    kind: Kind
    of: tuple[str, ...] = ()
    numbers: tuple[Formula, ...] = ()
    label: str = ""
    flag: bool | None = None
    hint: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that are there after it."""
        return (self.to,) if self.to else ()


@dataclass(frozen=True)
class Carried:
    """A value that a loop hands on: `first` in its first turn, in every later turn what `following` was in the last.

    After the loop it is what it was in the last turn, as all values of the body are.
    """

    name: str
    kind: Kind
    first: str
    following: str
    hint: str = field(default="", compare=False)


@dataclass(frozen=True)
class Loop:
    """A loop: ``repeat`` so many turns, ``visit`` the clients in random order, ``pass`` over every client's samples.

    Attributes:
        op: which.
        index: the name of the turn's number (``repeat``), of the sample (``pass``), empty for ``visit``.
        count: the number of turns of ``repeat``, at least 1; else None.
        carried: what it hands on from turn to turn.
        body: its instructions. In a ``visit`` they are those of one client: a client's value is that client's.
    """

    op: Literal["repeat", "visit", "pass"]
    index: str
    count: Formula | None
    carried: tuple[Carried, ...]
    body: tuple[Step, ...]
    line: int = field(default=0, compare=False)

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that are there after it: what it carries, then the values of its body in its last turn."""
        inside = tuple(name for step in self.body for name in step.defines)
        return (*(c.name for c in self.carried), *inside)


Step: TypeAlias = Instruction | Loop


def names_made(step: Step) -> Iterator[str]:
    """The names that a step gives to values, in order: of loops also the samples of passes."""
    if isinstance(step, Instruction):
        yield from step.defines
        return
    yield from (c.name for c in step.carried)
    if step.op == "pass":
        yield step.index
    for inner in step.body:
        yield from names_made(inner)


@dataclass(frozen=True)
class State:
    """A state variable.

    Attributes:
        name: as claims write it.
        kind: server, client, table, past or client past.
        initial: a vector formula in x0 (``0``, ``x0``, ``grad(f_n, x0)``), without the word for its kind.
        length: of a past, the formula for the number of remembered vectors; else None.
    """

    name: str
    kind: Kind
    initial: str
    length: Formula | None = None

    @property
    def text(self) -> str:
        """As in the decorator."""
        word = {"server": "", "client": "each ", "table": "table ", "past": "", "client past": "each "}[self.kind]
        times = "" if self.length is None else f"{text_of(self.length)} times "
        return f"{word}{times}{self.initial}"


@dataclass(frozen=True)
class Program:
    """One round of an algorithm.

    Attributes:
        name: of the algorithm.
        state: its variables, as they stand before the first round.
        parameters: names, in the author's order.
        body: what a round does. The state's values are there under the names `inputs`.
        result: the values that are the state after the round, one for each variable.
        source: where it is defined, for messages; not compared.
        about: the first line of its docstring; not compared.
    """

    name: str = field(compare=False)
    state: tuple[State, ...]
    parameters: tuple[str, ...]
    body: tuple[Step, ...]
    result: tuple[str, ...]
    source: str = field(default="", compare=False)
    about: str = field(default="", compare=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the values that the state has at the beginning of a round."""
        return tuple(f"_{i}" for i in range(len(self.state)))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All instructions and loops, those inside loops after their loop."""
        return tuple(flat(self.body))

    @cached_property
    def unchanged(self) -> frozenset[str]:
        """Names of the state that no round changes."""
        handed = zip(self.state, self.inputs, self.result, strict=True)
        return frozenset(s.name for s, before, after in handed if before == after)

    @cached_property
    def counts_rounds(self) -> bool:
        """Whether one of its numbers hangs on the round k."""
        formulas = [f for s in self.steps for f in ((s.count,) if isinstance(s, Loop) else s.numbers) if f]
        return any("k" in names_in(f) for f in formulas)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of every value."""
        found: dict[str, Kind] = {name: s.kind for name, s in zip(self.inputs, self.state, strict=True)}
        for step in self.steps:
            if isinstance(step, Loop):
                found |= {c.name: c.kind for c in step.carried}
                if step.op == "pass":
                    found[step.index] = "sample"
            elif step.to:
                found[step.to] = step.kind
        return found

    @cached_property
    def taps(self) -> Mapping[str, tuple[Kind, int]]:
        """Of each tap, the kind of its value and how many loops are around it."""
        return dict(_taps(self.body, 0))

    @cached_property
    def operations(self) -> frozenset[str]:
        """The operations that occur."""
        return frozenset(step.op for step in self.steps)

    @cached_property
    def kept(self) -> Findings:
        """What readings find out about the program alone, each by keys of its own."""
        return Findings()

    @cached_property
    def weights(self) -> frozenset[str]:
        """The parameters that are one number for each remembered vector: what `combine` takes."""
        return frozenset(step.label for step in self.steps if isinstance(step, Instruction) and step.op == "combine")

    @property
    def random(self) -> bool:
        """Whether a round draws anything."""
        return bool(self.operations & DRAWS)

    def to_json(self) -> dict[str, Any]:
        """As plain data; `from_json` reads it."""
        return {
            "name": self.name,
            "state": [{"name": s.name, "initial": s.text} for s in self.state],
            "parameters": list(self.parameters),
            "round": [step_json(step) for step in self.body],
            "result": list(self.result),
        }

    def __str__(self) -> str:
        from theory.program.pseudo_code import pseudo_code

        return pseudo_code(self)


def flat(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from flat(step.body)


def loops_around(steps: Sequence[Step], tap: str) -> tuple[Loop, ...] | None:
    """The loops around a tap, the outermost first; None where there is no such tap."""
    for step in steps:
        if isinstance(step, Loop):
            inside = loops_around(step.body, tap)
            if inside is not None:
                return (step, *inside)
        elif step.op == "tap" and step.label == tap:
            return ()
    return None


def _taps(steps: Sequence[Step], depth: int) -> Iterator[tuple[str, tuple[Kind, int]]]:
    for step in steps:
        if isinstance(step, Loop):
            yield from _taps(step.body, depth + 1)
        elif step.op == "tap":
            yield step.label, (step.kind, depth)


DRAWS = frozenset({"sample", "noise", "choose", "coins", "coin", "keep", "visit", "pass"})
"""The operations that draw."""
LINEAR = frozenset(
    {"linear", "gradient", "full gradient", "each", "mean", "sum", "before", "average", "where", "mix", "prox", "ones"}
)
_MEMORY = frozenset({"shift", "combine", "get", "put", "tap", "repeat"})
_NONLINEAR = frozenset({"top", "project", "times", "over", "larger", "sqrt", "sign", "clip", "norm"})
OPERATIONS = DRAWS | LINEAR | _MEMORY | _NONLINEAR
LINEAR_GIVEN_DRAWS = DRAWS | LINEAR | _MEMORY
"""The operations that are affine in the state, on quadratics and given the draws."""


def uses(body: Sequence[Step], result: Sequence[str]) -> dict[str, int]:
    """How often each value is read."""
    found: dict[str, int] = {}

    def count(name: str) -> None:
        if VALUE.match(name):
            found[name] = found.get(name, 0) + 1

    for name in result:
        count(name)
    for step in flat(body):
        if isinstance(step, Loop):
            for c in step.carried:
                count(c.first)
                count(c.following)
            for name in names_in(step.count) if step.count is not None else ():
                count(name)
            continue
        for name in step.of:
            count(name)
        for formula in step.numbers:
            for name in names_in(formula):
                count(name)
    return found


def renamed(formula: Formula, new: Callable[[str], str]) -> Formula:
    """A formula with other names."""
    if isinstance(formula, Name):
        return Name(new(formula.name))
    if isinstance(formula, Apply):
        return Apply(formula.operation, tuple(renamed(a, new) for a in formula.arguments))
    return formula


def opposite(formula: Formula) -> Formula:
    """A formula as an author writes it with the other sign."""
    if isinstance(formula, Number):
        return Number(-formula.value)
    if isinstance(formula, Apply) and formula.operation == "neg":
        return formula.arguments[0]
    return Apply("neg", (formula,))


def step_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Loop):
        found: dict[str, Any] = {"do": step.op}
        if step.index:
            found["index"] = step.index
        if step.count is not None:
            found["count"] = text_of(step.count)
        found["carry"] = [{"name": c.name, "kind": c.kind, "first": c.first, "next": c.following} for c in step.carried]
        return {**found, "body": [step_json(inner) for inner in step.body]}
    found = {"do": step.op, "to": step.to, "kind": step.kind, "of": list(step.of)}
    found["numbers"] = [text_of(f) for f in step.numbers]
    if step.label:
        found["label"] = step.label
    if step.flag is not None:
        found["replace"] = step.flag
    return found
