"""A program's rounds as one kernel of Triton: many rounds a launch, a block of runs for each of its programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sim.generated.handing import Handing
from sim.generated.instructions import Drawing
from sim.generated.language import Language
from sim.generated.memory import Memory
from sim.generated.reading import NotGenerated
from sim.generated.rounds import Lines, Rounds
from sim.generated.scalars import Tables
from sim.generated.visiting import Visitor
from sim.generated.writing import Writer
from sim.gpu.language import TRITON, indented
from sim.gpu.memory import LaneHanding, LaneMemory, Room
from sim.gpu.scalars import LaneScalars
from sim.gpu.writing import LaneVisitor, LaneWriter
from sim.simulate.parameters import Parameters
from theory.program import Formula, Instruction, Program, Step, names_in, text_of

INTEGERS = ("begin", "end", "first", "columns", "stride", "clients", "samples", "low", "high", "measured")
"""The kernel's arguments that are integers: the rounds begin..end - 1 are done, of those from `first` on; `stride` runs
lie side by side; key (low, high); whether the point after the last round is measured."""


@dataclass(frozen=True)
class KernelText:
    """The text of a kernel, and what it reads.

    Attributes:
        text: the function ``advance``, but for what `sim.gpu.loading` puts before it.
        arguments: types of its arguments by name, in order, but for the constant ``BLOCK``.
        tables: lists of numbers, ``list_0``, ...
        numbers: formulas that are one number for a whole round: ``numbers`` is (rounds, at least 1 column).
        rooms: global memory by name.
        sizes: formulas of ``size0``, ...: the largest value counts.
        metrics: in the order in which they are written.
    """

    text: str
    arguments: dict[str, str]
    tables: Tables
    numbers: tuple[Formula, ...]
    rooms: tuple[Room, ...]
    sizes: tuple[Formula, ...]
    metrics: tuple[str, ...]


def kernel_text(
    program: Program, parameters: Parameters, arrays: int, sizes: int, metrics: Sequence[str]
) -> KernelText:
    """The rounds of a program as a kernel.

    Args:
        program: what is run.
        parameters: which of them are one number, one a client, one a round: the text depends on no more of them.
        arrays, sizes: how many the problem's functions read.
        metrics: what is measured after every round.

    Raises:
        NotGenerated: where there is none; says why.
    """
    return LaneRounds(program, LaneScalars(parameters, Tables())).kernel(arrays, sizes, tuple(metrics))


class LaneRounds(Rounds):
    """As `Rounds`; all clients are computed in all runs, and what absent ones would leave is masked."""

    say: Language = TRITON
    scalars: LaneScalars
    memory: LaneMemory

    def __init__(self, program: Program, scalars: LaneScalars) -> None:
        super().__init__(program, scalars, pairs=False, present=False)

    def _memory(self) -> Memory:
        return LaneMemory(self.facts, self.scalars)

    def _handing(self) -> Handing:
        return LaneHanding(self.facts, self.memory)

    def _writer(self, clients: bool, ones: frozenset[str], later: frozenset[str], masked: bool = False) -> Writer:
        writer = LaneWriter(self.facts, self.scalars, self.memory, self._drawing, clients, ones, later)
        writer.masked = masked
        writer.turns += self._around
        return writer

    def _visitor(self, drawing: Callable[[str], Drawing], later: frozenset[str]) -> Visitor:
        visitor = LaneVisitor(self.facts, self.scalars, self.memory, drawing, True, frozenset(), later)
        visitor.turns += self._around
        return visitor

    # --- what is written otherwise than in C++

    def _of_clients(self, writer: Writer, mask: str | None, sums: list[str]) -> Lines:
        body = [*writer.client, *writer.own, *writer.lines, *writer.after]
        if mask is not None:
            present = f"present = load_number({self.memory.place(mask)}, n, lanes) != 0"
            body = [present, "if some_of(present):", *(body or ["pass"]), "}"]
        each = ["for n in range(0, clients):", *(body or ["pass"]), "}"]
        return Lines([*writer.setup, *writer.shared, *sums, *each], after=self._counted(writer))

    def _draw(self, step: Instruction) -> list[str]:
        name, drawing = step.to, self._drawing(step.to)
        p = self.scalars.parameters
        if not set().union(*map(names_in, step.numbers)) <= {*p.constants, *p.each, *p.schedules, "k"}:
            raise NotGenerated(f"{step.op} with {text_of(step.numbers[0])}, which changes within a round")
        m, first = self.memory.place(name), TRITON.whole(drawing.base)
        source = f"counter(run, 0, k, {drawing.purpose})"
        if step.op == "choose":
            S = TRITON.whole(self.scalars.round_number(step.numbers[0]))
            how = ("chosen_often", "") if step.flag else ("chosen", f"{self.memory.keys()}, ")
            return [f"{how[0]}({m}, {how[1]}clients, {S}, lanes, {first}, {source}, key)"]
        row = "k" if self.scalars.changes(step.numbers[0]) else "0"
        limits = TRITON.entries(self.scalars.tables.place("thresholds", name))
        if step.op == "coin":
            return [f"{m} = flip({limits} + {row}, {first}, {source}, key)"]
        return [f"c{name} = tossed({m}, {limits} + {row} * clients, clients, lanes, {first}, {source}, key)"]

    def _mix(self, step: Step) -> list[str]:
        assert isinstance(step, Instruction)
        source, target = self.memory.place(step.of[0]), self.memory.place(step.to)
        one = f"load({source}, m, lanes)" if self.facts.of_clients(step.of[0]) else source
        weight = self.say.entry(self.scalars.tables.place("mix", step.label), "n * clients + m")
        return [
            "for n in range(0, clients):", "total = nothing", "for m in range(0, clients):",
            f"total = plus_scaled(total, {one}, {weight})", "}", f"store({target}, n, lanes, total)", "}",
        ]  # fmt: skip

    # --- all of it

    def kernel(self, arrays: int, sizes: int, metrics: tuple[str, ...]) -> KernelText:
        """The kernel around the round."""
        body = self.body()
        rooms, numbers = self.memory.rooms, self.scalars.rounds
        own = [name for name in self.program.inputs if f"m{name}" not in rooms]
        functions = {f"f{j}": "*fp64" for j in range(arrays)} | {f"z{j}": "i64" for j in range(sizes)}
        arguments = functions | self._pointers(own) | dict.fromkeys(INTEGERS, "i64")
        integers = [name for name, what in arguments.items() if what == "i64"]
        given = [f"{name}: tl.int64" if what == "i64" else name for name, what in arguments.items()]
        lines = [
            f"@triton.jit(do_not_specialize={integers})",  # one kernel for all sizes: the same bits in every batch
            f"def advance({', '.join(given)}, BLOCK: tl.constexpr):",
            "lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)",
            f"functions = ({', '.join(functions)},)",
            "lanes = (lane, stride)",
            "run = tl.load(runs + lane).to(tl.uint32)",
            "key = (tl.cast(low, tl.uint32), tl.cast(high, tl.uint32))",
            "none = tl.cast(lane & 0, tl.float64)",
            "nothing = everywhere(none)",
            *(line for line in self.memory.members.values() if line and not line.startswith("base")),
            *(f"m{name} = load(state{name}, 0, lanes)" for name in own),
            "for k in range(begin, end):",
            *self._measured("k", metrics),
            *(f"u{j} = tl.load(numbers + (k - first) * {len(numbers)} + {j})" for j in range(len(numbers))),
            *(line for line in self.memory.members.values() if line.startswith("base")),
            *body,
            "}",
            *(f"store(state{name}, 0, lanes, m{name})" for name in own),
            *(["if measured:", *self._measured("end", metrics), "}"] if metrics else []),
            "}",
        ]
        return KernelText(
            "\n".join(indented(lines, 0)) + "\n", arguments, self.scalars.tables, tuple(numbers),
            tuple(rooms.values()), tuple(self.memory.counted), metrics,
        )  # fmt: skip

    def _pointers(self, own: Sequence[str]) -> dict[str, str]:
        """What a kernel reads and writes besides the problem's functions; `own` are the states in registers."""
        lists = enumerate(self.scalars.tables.lists)
        found = {f"list_{j}": "*i64" if what == "thresholds" else "*fp64" for j, (what, _) in lists}
        found |= {"numbers": "*fp64", "counts": "*i64", "runs": "*i64", "metrics": "*fp64"}
        found |= {name: "*i64" if room.kind == "int" else "*fp64" for name, room in self.memory.rooms.items()}
        return found | {f"state{name}": "*fp64" for name in own}

    def _measured(self, k: str, metrics: tuple[str, ...]) -> Iterator[str]:
        """The metrics of the first state, of the clients' of their mean, (metrics, columns, runs)."""
        if not metrics:
            return
        name = self.program.inputs[0]
        if self.facts.kinds[name] == "client":
            yield from ("point = nothing", "for n in range(0, clients):")
            yield from (
                f"point = plus(point, load(m{name}, n, lanes))",
                "}",
                "point = divided(point, tl.cast(clients, tl.float64))",
            )
        else:
            yield TRITON.let("point", f"m{name}")
        for j, metric in enumerate(metrics):
            yield f"store_number(metrics, {j} * columns + {k} - first, lanes, {metric}(functions, point))"
