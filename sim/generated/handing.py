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

    def copied(self, source: str, target: str) -> list[str]:
        """One value's memory to another's."""
        if self.facts.types[target] != "point":
            raise NotGenerated("a table or remembered vectors that a loop hands on")
        one, many = self.facts.of_clients(source), self.facts.of_clients(target)
        a, b = self.memory.place(source), self.memory.place(target)
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
                kept = f"{target}_next"
                self.memory.member(f"m{kept}", "Point", "clients" if self.facts.of_clients(source) else "1")
                size = "groups * clients" if self.facts.of_clients(source) else "groups"
                lines.append(f"for (int64_t g = 0; g < {size}; g++) m{kept}[g] = {self.memory.place(source)}[g];")
                sources.append((kept, source, target))
            else:
                sources.append(("", source, target))
        for kept, source, target in sources:
            if source == target or self.memory.replaced.get(source) == target:
                continue
            copied = self.copied(source, target)
            if kept:
                copied = [line.replace(f"= {self.memory.place(source)}[", f"= m{kept}[") for line in copied]
            lines += copied
        return lines

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
            length, new = f"(int64_t){self.memory.length(name)}", self.memory.place(step.of[1])
            per = "clients" if state.kind == "client past" else "1"
            one = "g * clients + c" if self.facts.of_clients(step.of[1]) else "g"
            lines += [
                f"for (int64_t g = 0; g < groups; g++) for (int64_t c = 0; c < {per}; c++) {{",
                f"Point* past = m{name} + g * {per} * {length} + c;",
                f"for (int64_t j = {length} - 1; j > 0; j--) past[j * {per}] = past[(j - 1) * {per}];",
                f"past[0] = {new}[{one}];", "}",
            ]  # fmt: skip
        return lines

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
