"""What goes from round to round, and from turn to turn: values copied to where a state lies, vectors remembered."""

from __future__ import annotations

from collections.abc import Iterator

from sim.generated.memory import Memory
from sim.generated.reading import Facts, NotGenerated, reads
from sim.generated.stretches import items_of
from theory.program import Instruction, State


class Handing:
    """Copies between values.

    Args:
        facts: of the program.
        memory: where the values lie.
    """

    def __init__(self, facts: Facts, memory: Memory) -> None:
        self.facts, self.memory = facts, memory

    def _states(self) -> Iterator[tuple[str, str, State]]:
        program = self.facts.program
        return zip(program.inputs, program.result, program.state, strict=True)

    def copied(self, source: str, target: str, kept: str = "") -> list[str]:
        """One value's memory, or the member in which it is kept meanwhile, to another's."""
        if self.facts.types[target] != "point":
            raise NotGenerated("a table or remembered vectors that a loop hands on")
        one, many = self.facts.of_clients(source), self.facts.of_clients(target)
        return self._copies(kept or self.memory.place(source), self.memory.place(target), one, many)

    def _copies(self, a: str, b: str, one: bool, many: bool) -> list[str]:
        """One member to another; whether the first, and the second, has a value for every client."""
        if not many:
            return [f"for (int64_t g = 0; g < groups; g++) {b}[g] = {a}[g];"]
        index = "g * clients + n"
        return [
            "for (int64_t g = 0; g < groups; g++) for (int64_t n = 0; n < clients; n++) "
            f"{b}[{index}] = {a}[{index if one else 'g'}];"
        ]

    def handed(self, pairs: list[tuple[str, str]]) -> list[str]:
        """Several values at once to the memory of others."""
        lines, targets = [], {target for _, target in pairs}
        sources = []
        for source, target in pairs:
            if source in targets - {target}:
                kept, of_clients = f"m{target}_next", self.facts.of_clients(source)
                self.memory.member(kept, "Point", "clients" if of_clients else "1")
                lines += self._kept(self.memory.place(source), kept, of_clients)
                sources.append((kept, source, target))
            else:
                sources.append(("", source, target))
        for kept, source, target in sources:
            if source == target or self.memory.replaced.get(source) == target:
                continue
            lines += self.copied(source, target, kept)
        return lines

    def _kept(self, a: str, kept: str, of_clients: bool) -> list[str]:
        """A member to the one in which it is kept meanwhile."""
        return [f"for (int64_t g = 0; g < groups{' * clients' * of_clients}; g++) {kept}[g] = {a}[g];"]

    def shifted(self) -> list[str]:
        """Put a vector before those that are remembered."""
        lines: list[str] = []
        for name, result, state in zip(
            self.facts.program.inputs, self.facts.program.result, self.facts.program.state, strict=True
        ):
            if state.kind not in ("past", "client past") or result == name:
                continue
            step = self.facts.made.get(result)
            if step is None or step.op != "shift" or step.of[0] != name or self.facts.uses[result] > 1:
                raise NotGenerated("remembered vectors that are more than shifted once a round")
            lines += self._shift(name, step.of[1], "clients" if state.kind == "client past" else "1")
        return lines

    def _shift(self, name: str, new: str, per: str) -> list[str]:
        """A value before the remembered ones, of which there are so many for each time."""
        length = f"(int64_t){self.memory.length(name)}"
        one = "g * clients + c" if self.facts.of_clients(new) else "g"
        return [
            f"for (int64_t g = 0; g < groups; g++) for (int64_t c = 0; c < {per}; c++) {{",
            f"Point* past = m{name} + g * {per} * {length} + c;",
            f"for (int64_t j = {length} - 1; j > 0; j--) past[j * {per}] = past[(j - 1) * {per}];",
            f"past[0] = {self.memory.place(new)}[{one}];", "}",
        ]  # fmt: skip

    def check_tables(self) -> None:
        """A table is written where it lies: nobody may want what was there, or read it afterwards."""
        for name, result, state in zip(
            self.facts.program.inputs, self.facts.program.result, self.facts.program.state, strict=True
        ):
            if state.kind != "table" or result == name:
                continue
            step = self.facts.made.get(result)
            if step is None or step.op != "put" or step.of[0] != name or self.facts.uses[result] > 1:
                raise NotGenerated("a table that is more than written to once a round")
            levels = {i.step: i.level for i in items_of(self.facts, self.facts.body) if isinstance(i.step, Instruction)}
            if step not in levels or any(
                name in reads(i.step) and i.level > levels[step] for i in items_of(self.facts, self.facts.body)
            ):
                raise NotGenerated("a table that is read after it was written to")
