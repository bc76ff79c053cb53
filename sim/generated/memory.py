"""Where the values of a block of runs lie: members of the rounds' object in C++."""

from __future__ import annotations

from sim.generated.reading import Facts, NotGenerated
from sim.generated.scalars import Scalars


class Memory:
    """Members for states and for values that outlive the stretch in which they are made.

    Args:
        facts: of the program.
        scalars: numbers as C++.

    Attributes:
        members: declarations.
        replaced: values that lie where a state lies.
    """

    def __init__(self, facts: Facts, scalars: Scalars) -> None:
        self.facts, self.scalars = facts, scalars
        self.members: dict[str, str] = {}
        self.replaced: dict[str, str] = {}
        self._states = dict(zip(facts.program.inputs, facts.program.state, strict=True))
        for name, state in self._states.items():
            self.member(f"m{name}", "Point", self.vectors(name))
            if state.kind == "table":
                self.replaced |= {s.to: name for s in facts.made.values() if s.op == "put" and s.of[0] == name}

    def member(self, name: str, kind: str, per_group: str) -> str:
        """Memory under this name, so much for each group of runs."""
        self.members[name] = f"{kind}* const {name} = room<{kind}>(groups * ({per_group}));"
        return name

    def counter(self, name: str) -> str:
        """An integer under this name, 0 at the beginning of each round."""
        self.members[name] = f"int64_t {name} = 0;"
        return name

    def vectors(self, name: str) -> str:
        """How many vectors of a run a value has, in C++."""
        kind = self.facts.kinds[name]
        each = {"server": "1", "client": "clients", "table": "clients * samples", "past": "1", "client past": "clients"}
        state = self._states.get(name)
        if state is None or state.length is None:
            return each[kind]
        return f"{each[kind]} * (int64_t){self.length(name)}"

    def length(self, name: str) -> str:
        """How many vectors are remembered, a single number."""
        state = self._states.get(name)
        if state is None or state.length is None:
            raise NotGenerated("what is remembered is changed twice in a round, or within a loop")
        return self.scalars.constant(state.length)

    def place(self, name: str) -> str:
        """The member that holds a value."""
        name = self.replaced.get(name, name)
        if f"m{name}" not in self.members:
            kind = {"point": "Point", "lanes": "Doubles"}.get(self.facts.types[name])
            if kind is None:
                raise NotGenerated("samples, or a table, that are read where they are not made")
            self.member(f"m{name}", kind, "clients" if self.facts.of_clients(name) else "1")
        return f"m{name}"

    def _at(self, name: str) -> str:
        clients = self.facts.of_clients(name)
        return f"{self.place(name)}, {'clients, n' if clients else '1, 0'}"

    def load(self, name: str) -> str:
        """A value that is there, in C++."""
        if self.facts.types[name] not in ("point", "lanes"):
            raise NotGenerated("samples, or a table, that are read where they are not made")
        return f"at.load({self._at(name)})"

    def store(self, name: str, text: str) -> str:
        """A statement that keeps a value."""
        return f"at.store({self._at(name)}, {text});"

    def picks(self, name: str) -> str:
        """Room for the samples of an instruction."""
        self.members[f"p{name}"] = f"std::vector<int64_t> p{name};"
        return f"p{name}"

    def drawn(self, name: str) -> str:
        """Room for the samples of a client and of the next one."""
        self.members[f"q{name}"] = f"Picks q{name};"
        return f"q{name}"

    def double_picks(self) -> None:
        """Room for the samples of either of two vectors of runs."""
        for name, text in list(self.members.items()):
            if name.startswith("p_") and not name.endswith(("_a", "_b")):
                self.members |= {f"{name}_{which}": text.replace(name, f"{name}_{which}") for which in "ab"}

    def table(self, name: str) -> str:
        """The member that holds a table."""
        if name not in self._states:
            raise NotGenerated("a table that is changed twice in a round, or within a loop, or read after its change")
        return f"m{name}"

    def past(self, name: str) -> tuple[str, str]:
        """How many vectors are remembered, and the j-th of them."""
        length = f"(int64_t){self.length(name)}"
        if self.facts.of_clients(name):
            return length, f"at.load(m{name}, clients * {length}, j * clients + n)"
        return length, f"at.load(m{name}, {length}, j)"
