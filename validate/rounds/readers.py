"""Which clients' values of a round are read: what nobody reads is not computed, and not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from theory.formula import Formula, names_in
from theory.program import VALUE, Instruction, Kind, Loop, Program, Step

Guard: TypeAlias = "tuple[Formula, bool]"
"""A formula, and whether it is to be other than 0."""
PER_CLIENT: frozenset[Kind] = frozenset({"client", "table", "client past", "numbers", "sample"})


def kinds_of(program: Program) -> dict[str, Kind]:
    """The kind of every value, the samples of ``w.pass_over`` among them."""

    def found() -> dict[str, Kind]:
        passes: dict[str, Kind] = {s.index: "sample" for s in program.steps if isinstance(s, Loop) and s.op == "pass"}
        return {**program.kinds, **passes}

    return program.kept.once("kinds", found)


def readers_of(program: Program, taps: frozenset[str]) -> Readers:
    """`Readers`, once for a program and taps."""
    return program.kept.once(("readers", taps), lambda: Readers(program, taps))


class Readers:
    """For every value of the clients, under which conditions that of a client is read at all.

    Args:
        program: whose round it is.
        taps: those that are wanted.

    Attributes:
        guards: by the value's name. The value of client n is read only if all conditions hold for n; None: nobody reads
            it. A condition is one that is there before the value is.
    """

    def __init__(self, program: Program, taps: frozenset[str]) -> None:
        self.guards: dict[str, frozenset[Guard] | None] = {}
        self._taps = taps
        self._kinds = kinds_of(program)
        self._position = {name: i for i, name in enumerate(program.inputs)}
        self._scope: dict[str, tuple[int, ...]] = dict.fromkeys(program.inputs, ())
        self._loops: dict[int, tuple[int, ...]] = {}
        self._place(program.body, ())
        while True:  # from "nobody reads it" on, until nothing is added
            self._found: dict[str, frozenset[Guard] | None] = dict.fromkeys(self._position)
            self._read(program.result, frozenset())
            self._collect(program.body, False)
            if self._found == self.guards:
                return
            self.guards = self._found

    def _place(self, steps: Sequence[Step], scope: tuple[int, ...]) -> None:
        """When, and inside which loops, each value is made."""
        for step in steps:
            if isinstance(step, Instruction):
                if step.to:
                    self._position[step.to], self._scope[step.to] = len(self._position), scope
                continue
            inside = (*scope, id(step))
            self._loops[id(step)] = inside
            for name in (*(c.name for c in step.carried), *((step.index,) if step.op == "pass" else ())):
                self._position[name], self._scope[name] = len(self._position), inside
            self._place(step.body, inside)

    def _read(self, names: Sequence[str], guards: frozenset[Guard]) -> None:
        """Note that the values are read under these conditions, as far as these are known when the values are made."""
        for name in names:
            known = frozenset(g for g in guards if self._kinds[name] in PER_CLIENT and self._known(g, name))
            before = self._found[name]
            self._found[name] = known if before is None else before & known

    def _known(self, guard: Guard, name: str) -> bool:
        needed = names_in(guard[0])
        return not any(_is_turn(n) for n in needed) and all(
            self._position[n] < self._position[name] and self._scope[name][: len(self._scope[n])] == self._scope[n]
            for n in needed
            if VALUE.match(n)
        )

    def _outside(self, guards: frozenset[Guard], loop: tuple[int, ...]) -> frozenset[Guard]:
        """The conditions that are the same in all turns of a loop."""
        return frozenset(
            g for g in guards if all(self._scope[n][: len(loop)] != loop for n in names_in(g[0]) if VALUE.match(n))
        )

    def _numbers(self, formulas: Sequence[Formula]) -> None:
        for formula in formulas:
            self._read(sorted(n for n in names_in(formula) if VALUE.match(n)), frozenset())

    def _collect(self, steps: Sequence[Step], visited: bool) -> None:
        for step in steps:
            if isinstance(step, Instruction):
                self._instruction(step, visited)
                continue
            inside = self._loops[id(step)]
            if step.count is not None:
                self._numbers((step.count,))
            for c in step.carried:
                own = self.guards.get(c.name)
                if own is not None:
                    self._read((c.first, c.following), frozenset() if visited else self._outside(own, inside))
            self._collect(step.body, visited or step.op == "visit")

    def _instruction(self, step: Instruction, visited: bool) -> None:
        if step.op == "tap":
            own = frozenset[Guard]() if step.label in self._taps else None
        else:
            own = self.guards.get(step.to)
        if own is None:
            return
        self._numbers(step.numbers)
        if visited or step.op in ("tap", "mix") or step.kind not in PER_CLIENT:
            own = frozenset()
        for place, name in enumerate(step.of):
            more: frozenset[Guard] = frozenset()
            if step.op == "average":
                more = frozenset({(step.numbers[0], True)})
            elif step.op == "where":
                more = frozenset({(step.numbers[0], place == 0)})
            elif step.op == "linear" and any(VALUE.match(n) for n in names_in(step.numbers[place])):
                more = frozenset({(step.numbers[place], True)})
            self._read((name,), frozenset() if visited else own | more)


def _is_turn(name: str) -> bool:
    return name[:1] == "h" and (name == "h" or name[1:].isdigit())
