"""Where the values of a kernel lie: the server's in registers, the clients' in global memory, lanes last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sim.generated.handing import Handing
from sim.generated.memory import Memory
from sim.generated.reading import Facts
from sim.gpu.language import TRITON
from sim.gpu.scalars import LaneScalars
from theory.program import Formula, Number


@dataclass(frozen=True)
class Room:
    """Global memory of a kernel, (sizes..., d or 1, runs).

    Attributes:
        name: of the pointer in the kernel.
        kind: vectors, numbers, or integers.
        sizes: names of its axes but the last two, as `LaneMemory.sizes` and the problem know them.
    """

    name: str
    kind: Literal["Point", "Doubles", "int"]
    sizes: tuple[str, ...]


class LaneMemory(Memory):
    """As `Memory`: `members` are what registers begin with.

    Attributes:
        rooms: global memory by name.
        counted: formulas of sizes; number j of them is ``size<j>``, its largest value over all rounds.
    """

    scalars: LaneScalars

    def __init__(self, facts: Facts, scalars: LaneScalars) -> None:
        self.rooms: dict[str, Room] = {}
        self.counted: list[Formula] = []
        super().__init__(facts, scalars)

    def member(self, name: str, kind: str, per_group: str) -> str:
        """As `Memory`: registers where there is one of it a run, else global memory."""
        if per_group == "1":
            self.members[name] = TRITON.declared(name, lanes=kind == "Doubles")
        else:
            self.members[name] = ""
            assert kind in ("Point", "Doubles")
            self.rooms[name] = Room(name, "Point" if kind == "Point" else "Doubles", tuple(per_group.split(" * ")))
        return name

    def counter(self, name: str) -> str:
        """As `Memory`."""
        self.members[name] = f"{name} = tl.cast(0, tl.int64)"
        return name

    def vectors(self, name: str) -> str:
        """As `Memory`: sizes with a sign of multiplication between them."""
        state = self._states.get(name)
        if state is None or state.length is None:
            return super().vectors(name)
        super().length(name)
        return f"{self._size(state.length)} * {'clients' if state.kind == 'client past' else '1'}"

    def length(self, name: str) -> str:
        """As `Memory`, an integer of the kernel."""
        super().length(name)
        length = self._states[name].length
        assert length is not None
        return str(int(length.value)) if isinstance(length, Number) else TRITON.whole(self.scalars.round_number(length))

    def _size(self, formula: Formula) -> str:
        if formula not in self.counted:
            self.counted.append(formula)
        return f"size{self.counted.index(formula)}"

    def load(self, name: str) -> str:
        """As `Memory`."""
        super().load(name)
        place = self.place(name)
        if not self.facts.of_clients(name):
            return place
        return f"{'load' if self.facts.types[name] == 'point' else 'load_number'}({place}, n, lanes)"

    def store(self, name: str, text: str, some: bool = False) -> str:
        """As `Memory`; for `some` only in the runs in which the client takes part."""
        place = self.place(name)
        if not self.facts.of_clients(name):
            return TRITON.let(place, text)
        what = "store" if self.facts.types[name] == "point" else "store_number"
        return f"{what}_some({place}, n, lanes, {text}, present)" if some else f"{what}({place}, n, lanes, {text})"

    def batch(self, name: str, size: Formula | None) -> str:
        """Room for the samples that an instruction draws, or for all of a client's."""
        sizes = ("samples",) if size is None else (self._size(size),)
        self.rooms[f"p{name}"] = Room(f"p{name}", "int", sizes)
        return f"p{name}"

    def keys(self) -> str:
        """Room for the words of all clients, or samples, of which the smallest are looked for."""
        self.rooms["keys"] = Room("keys", "int", ("most",))
        return "keys"

    def past(self, name: str) -> tuple[str, str]:
        """As `Memory`."""
        index = "j * clients + n" if self.facts.of_clients(name) else "j"
        return self.length(name), f"load(m{name}, {index}, lanes)"


class LaneHanding(Handing):
    """As `Handing`."""

    def _copies(self, a: str, b: str, one: bool, many: bool) -> list[str]:
        if not many:
            return [TRITON.let(b, a)]
        value = f"load({a}, n, lanes)" if one else a
        return ["for n in range(0, clients):", f"store({b}, n, lanes, {value})", "}"]

    def _kept(self, a: str, kept: str, of_clients: bool) -> list[str]:
        return self._copies(a, kept, of_clients, of_clients)

    def _shift(self, name: str, new: str, per: str) -> list[str]:
        length, place = self.memory.length(name), self.memory.place(new)
        first = f"load({place}, n, lanes)" if self.facts.of_clients(new) else place
        return [
            f"for n in range(0, {per}):", f"for j in range(1, {length}):",
            f"at = {length} - j",  # the oldest first
            f"store(m{name}, at * {per} + n, lanes, load(m{name}, (at - 1) * {per} + n, lanes))", "}",
            f"store(m{name}, n, lanes, {first})", "}",
        ]  # fmt: skip
