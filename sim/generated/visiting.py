"""Clients one after another, in random order: a stretch in which every lane has a client of its own."""

from __future__ import annotations

from sim.generated.reading import NotGenerated, values_in
from sim.generated.scalars import APART, Text
from sim.generated.writing import Writer
from sim.streams import VISITS
from theory.program import Formula, Instruction, Loop, flat

_NOT_THERE = frozenset({"prox", "get", "put", "combine", "coins", "coin", "choose", "mean", "sum", "average", "mix"})


class Visitor(Writer):
    """Writes the turns of a visit; arguments as of `Writer`."""

    stream_client = "0"
    client_name = APART

    def number(self, formula: Formula) -> Text:
        """A scalar; what is one number a client is looked up where it is used."""
        return self.scalars.text(formula, self._look, self.client_name)

    def visit(self, loop: Loop, base: str) -> list[str]:
        """The lines of a visit; `base` is the number of its first word."""
        outside, carried = self._prepared(loop)
        first = [self.memory.load(c.first) for c in loop.carried]
        orders = self.memory.picks("visits")
        self._turn(loop)
        head = [
            *self.setup,
            f"{orders}.resize(clients * kLanes);",
            "for (int64_t g = 0; g < groups; g++) {",
            "const Some at = all_of(g);",
            f"{{ Stream order(at.run, 0, k, {VISITS}, {base}, clients, key);",
            f"smallest_samples(order, clients, clients, clients, keys, {orders}.data()); }}",
            *(f"Point v{name} = {text};" for name, text in zip(carried, first, strict=True)),
            *(f"Point v{name};" for name in outside),
            "for (int64_t visit = 0; visit < clients; visit++) {",
            "Clients n;",
            f"std::memcpy(n.at, {orders}.data() + visit * kLanes, sizeof n.at);",
        ]
        stores = [self.memory.store(name, f"v{name}") for name in outside]
        return [*head, *(self._first_word(line) for line in (*self.before, *self.lines)), "}", *stores, "}"]

    def _prepared(self, loop: Loop) -> tuple[list[str], list[str]]:
        """What is read after a visit, and what is handed on in it; refuses what cannot be written."""
        for step in flat(loop.body):
            if isinstance(step, Loop):
                if step.op != "repeat" or (step.count is not None and values_in(step.count)):
                    raise NotGenerated("clients one after another, with passes or drawn numbers of turns")
            elif step.op in _NOT_THERE or (step.op == "sample" and not step.flag):
                raise NotGenerated(f"clients one after another, with {step.op}")
        outside = [name for name in loop.defines if self._leaves(loop, name)]
        carried = [c.name for c in loop.carried]
        if set(outside) & set(carried) or any(self.facts.kinds[name] != "server" for name in (*outside, *carried)):
            raise NotGenerated("clients one after another, of which each leaves something")
        self._outside |= set(outside)
        self._there |= {name: f"v{name}" for name in carried}
        return outside, carried

    def _first_word(self, line: str) -> str:
        """A line with the first words of this turn's draws in it."""
        for step in self.facts.made.values():
            if isinstance(step, Instruction) and step.to in self.words:
                line = line.replace(f"@{step.to}@", f"visit * ({self.words[step.to]})")
        return line
