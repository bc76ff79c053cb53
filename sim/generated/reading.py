"""What is read off a program before C++ is made of it: what is alive, what is a vector, what belongs to a client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from theory.program import (
    VALUE,
    Formula,
    Instruction,
    Loop,
    Name,
    Number,
    Program,
    Step,
    flat,
    names_in,
    opposite,
    uses,
)

_ONE = Number(Fraction(1))
REDUCTIONS = frozenset({"mean", "sum", "average"})
OF_ALL = frozenset({"choose", "coins", "coin"})
Type = Literal["point", "lanes", "double", "sample", "table", "past"]


class NotGenerated(ValueError):
    """No C++ is made of this program; the message says why."""


def values_in(formula: Formula) -> frozenset[str]:
    """The values of the program that a scalar reads."""
    return frozenset(name for name in names_in(formula) if VALUE.match(name))


def reads(step: Step) -> frozenset[str]:
    """What a step reads of what was there before it."""
    if isinstance(step, Instruction):
        return frozenset(name for name in step.of if VALUE.match(name)).union(*map(values_in, step.numbers))
    inside = frozenset().union(*(reads(s) for s in step.body), *((c.first, c.following) for c in step.carried))
    if step.count is not None:
        inside |= values_in(step.count)
    return inside - frozenset(step.defines)


def alive(body: Sequence[Step], result: Sequence[str]) -> tuple[Step, ...]:
    """The steps on which the result depends."""
    wanted = {name for name in result if VALUE.match(name)}
    size = -1
    while size != len(wanted):
        size = len(wanted)
        for step in flat(body):
            if isinstance(step, Instruction):
                if step.to in wanted:
                    wanted |= reads(step)
                continue
            for c in step.carried:
                if c.name in wanted:
                    wanted |= {c.first, c.following}
            if wanted & set(step.defines) and step.count is not None:
                wanted |= values_in(step.count)

    def kept(steps: Sequence[Step]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Instruction):
                if step.to in wanted:
                    yield step
            elif wanted & set(step.defines):
                carried = tuple(c for c in step.carried if c.name in wanted)
                yield replace(step, carried=carried, body=tuple(kept(step.body)))

    return tuple(kept(body))


def without_copies(body: Sequence[Step], result: Sequence[str]) -> tuple[Step, ...]:
    """The steps with the server's value itself wherever each client's copy of it is read."""
    of = {s.to: s.of[0] for s in flat(body) if isinstance(s, Instruction) and s.op == "each" and s.to not in result}

    def named(name: str) -> str:
        while name in of:
            name = of[name]
        return name

    def kept(steps: Sequence[Step]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Loop):
                carried = (replace(c, first=named(c.first), following=named(c.following)) for c in step.carried)
                yield replace(step, carried=tuple(carried), body=tuple(kept(step.body)))
            elif step.to not in of:
                yield replace(step, of=tuple(map(named, step.of)))

    return tuple(kept(body))


@dataclass(frozen=True)
class Difference:
    """grad f_ni(a) - grad f_ni(b) for the same samples, in the place of two terms of a sum."""

    sample: str
    a: str
    b: str
    coefficient: Formula


@dataclass(frozen=True)
class Slope:
    """grad f_ni at a point, in the place of one term of a sum."""

    sample: str
    at: str
    coefficient: Formula


@dataclass(frozen=True)
class Term:
    """A value times a number."""

    value: str
    coefficient: Formula


class Facts:
    """What is known of a program's round.

    Args:
        program: whose round it is.

    Attributes:
        body: the live steps.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.body = without_copies(alive(program.body, program.result), program.result)
        self.kinds = program.kinds
        self.made: dict[str, Instruction] = {s.to: s for s in flat(self.body) if isinstance(s, Instruction) and s.to}
        self.uses = uses(self.body, program.result)

    @cached_property
    def types(self) -> dict[str, Type]:
        """The C++ type of every value."""
        by_kind: dict[str, Type] = {
            "server": "point", "client": "point", "sample": "sample", "table": "table", "past": "past",
            "client past": "past", "number": "lanes", "numbers": "lanes",
        }  # fmt: skip
        found: dict[str, Type] = {name: by_kind[kind] for name, kind in self.kinds.items()}
        for name, step in self.made.items():
            if step.op == "before" and all(found[v] == "double" for f in step.numbers for v in values_in(f)):
                found[name] = "double"
        return found

    def of_clients(self, name: str) -> bool:
        """Whether there is one value a client."""
        return self.kinds[name] in ("client", "numbers", "sample", "table", "client past")

    def pure(self, loop: Loop) -> bool:
        """Whether a loop does nothing but clients' work, each client by itself, so that it fits inside a stretch."""
        if loop.op == "visit" or values_in(loop.count or _ONE):
            return False
        instructions = [s for s in flat(loop.body) if isinstance(s, Instruction)]
        apart = all(
            s.op not in REDUCTIONS | OF_ALL | {"mix", "shift", "put"} and not (s.op == "keep" and s.kind == "server")
            for s in instructions
        )
        loops = [s for s in flat(loop.body) if isinstance(s, Loop)]
        some = any(self.of_clients(s.to) for s in instructions)
        return apart and some and all(s.op != "visit" and not values_in(s.count or _ONE) for s in loops)

    @cached_property
    def terms(self) -> dict[str, tuple[Term | Slope | Difference, ...]]:
        """Of every sum, its terms, the gradients of samples that are read nowhere else put in."""
        return {name: self._terms(step) for name, step in self.made.items() if step.op == "linear"}

    @cached_property
    def absorbed(self) -> frozenset[str]:
        """Gradients that only stand inside of sums."""
        parts = [t for terms in self.terms.values() for t in terms]
        seen = {t.value for t in parts if isinstance(t, Term)}
        once = {n for n, s in self.made.items() if self._sampled(n) and self.uses.get(n) == 1}
        return frozenset(n for n in once if n not in seen and self._reader(n) == "linear")

    @cached_property
    def passes(self) -> tuple[str, ...]:
        """The samples of the passes over the clients' samples."""
        return tuple(s.index for s in flat(self.body) if isinstance(s, Loop) and s.op == "pass")

    def _reader(self, name: str) -> str:
        return next((s.op for s in self.made.values() if name in reads(s)), "")

    def _sampled(self, name: str) -> bool:
        step = self.made.get(name)
        return step is not None and step.op == "gradient" and len(step.of) == 2

    def _terms(self, step: Instruction) -> tuple[Term | Slope | Difference, ...]:
        left = list(zip(step.of, step.numbers, strict=True))
        found: list[Term | Slope | Difference] = []
        if step.kind == "table":
            raise NotGenerated("a sum of tables")
        around = self._place
        while left:
            name, c = left.pop(0)
            alone = self._sampled(name) and self.uses[name] == 1 and around[name] == around[step.to]
            if not alone:
                found.append(Term(name, c))
                continue
            at, sample = self.made[name].of
            for j, (other, d) in enumerate(left):
                if (
                    self._sampled(other) and self.uses[other] == 1 and around[other] == around[step.to]
                    and self.made[other].of[1] == sample and (c == opposite(d) or d == opposite(c))
                ):  # fmt: skip
                    left.pop(j)
                    found.append(Difference(sample, at, self.made[other].of[0], c))
                    break
            else:
                found.append(Slope(sample, at, c))
        return tuple(found)

    @cached_property
    def _place(self) -> dict[str, int]:
        """The loop in which a value is made."""
        found: dict[str, int] = {}

        def look(steps: Sequence[Step], place: int) -> None:
            for step in steps:
                if isinstance(step, Loop):
                    look(step.body, id(step))
                else:
                    found[step.to] = place

        look(self.body, 0)
        return found


def vanishes(formula: Formula, mask: str) -> bool:
    """Whether a number is 0, as written, where `mask` is."""
    if isinstance(formula, Number):
        return formula.value == 0
    if isinstance(formula, Name):
        return formula.name == mask
    parts = [vanishes(a, mask) for a in formula.arguments]
    if formula.operation == "*":
        return any(parts)
    if formula.operation == "/":
        return parts[0]
    return formula.operation in ("+", "-", "neg") and all(parts)
