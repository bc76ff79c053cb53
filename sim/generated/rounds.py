"""A round of a program as C++: its stretches in order, draws at the server, loops whose turns meet there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sim.generated.handing import Handing
from sim.generated.language import CPP, Language
from sim.generated.memory import Memory
from sim.generated.reading import OF_ALL, Facts, NotGenerated, reads, values_in
from sim.generated.scalars import Scalars, Tables
from sim.generated.stretches import Item, items_of, mask_of, read_by, segments_of
from sim.generated.text import FRAME, OPEN_FRAME, measured_point
from sim.generated.vectors import one_client, twice
from sim.generated.visiting import Visitor
from sim.generated.writing import Drawing, Writer
from sim.simulate.draws import purposes
from sim.simulate.parameters import Parameters
from sim.streams import PASSES
from theory.program import Instruction, Loop, Name, Program, Step, flat, names_in, text_of

METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")


@dataclass(frozen=True)
class Source:
    """The generated text, and what it reads.

    Attributes:
        text: in C++, but for the includes.
        tables: lists and numbers.
        gathers: whether the runs in which a client takes part are brought together, for which many have to be there.
    """

    text: str
    tables: Tables
    gathers: bool


def source(program: Program, parameters: Parameters, pairs: bool = False, present: bool = False) -> Source:
    """The rounds of a program as C++.

    Args:
        program: what is run.
        parameters: which of them are one number, one a client, one a round: the text depends on no more of them.
        pairs: whether, of clients of whom some take part, eight pairs of a client and a run are computed at a time in
            place of eight runs of a client.
        present: whether the clients are those of an open population, one run after another (`sim/native/along.h`).

    Raises:
        NotGenerated: where there is none; says why.
    """
    tables = Tables()
    rounds = Rounds(program, Scalars(parameters, tables, "pool" if present else "clients"), pairs, present)
    return Source(rounds.text(), tables, rounds.gathers)


@dataclass(frozen=True)
class Lines:
    """What a segment becomes: before all groups of runs, in each group, after all; another's groups may be joined."""

    before: list[str]
    each: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    def text(self, say: Language) -> list[str]:
        """All of them."""
        if not self.each:
            return [*self.before, *self.after]
        return [*self.before, *say.groups, *self.each, say.end, *self.after]

    def joined(self, other: Lines) -> Lines:
        """Both, one after the other."""
        return Lines(self.before + other.before, self.each + other.each, self.after + other.after)


class Rounds:
    """Writes a program's rounds; arguments as of `source`."""

    say: Language = CPP

    def __init__(self, program: Program, scalars: Scalars, pairs: bool, present: bool) -> None:
        self.program, self.scalars, self.pairs, self.present = program, scalars, pairs, present
        self.facts = Facts(program)
        self.memory = self._memory()
        self.handing = self._handing()
        self.purposes = purposes(program)
        self._flags: set[str] = set()
        self._many: set[str] = set()
        self._around: list[str] = []  # the turns of the loops around, whose bodies are blocks

    def _memory(self) -> Memory:
        return Memory(self.facts, self.scalars)

    def _handing(self) -> Handing:
        return Handing(self.facts, self.memory)

    @property
    def gathers(self) -> bool:
        """Whether some clients are left out."""
        return bool(self._flags)

    # --- a block

    def block(self, steps: Sequence[Step], read_outside: frozenset[str]) -> list[str]:
        """The lines of a block; `read_outside` is what is read after it."""
        segments = list(segments_of(items := items_of(self.facts, steps)))
        read_in = [frozenset().union(*map(read_by, segment)) for segment in segments]
        if not self._around:
            self._find_places(segments, read_in)
        parts: list[Lines] = []
        shifted = frozenset().union(*(reads(i.step) for i in items if i.what == "shift"))
        for j, segment in enumerate(segments):
            later = read_outside | shifted | frozenset().union(*read_in[:j], *read_in[j + 1 :])
            what = segment[0].what
            if what == "visit":
                part = Lines(self._visit(segment[0].step, later))
            elif what == "loop":
                part = Lines(self._loop(segment[0].step))
            elif what == "mix":
                part = Lines(self._mix(segment[0].step))
            elif segment[0].level % 2:
                part = self._clients(segment, later)
            else:
                part = self._server(segment, later)
            if part.each and parts and parts[-1].each:  # a group's values are in the cache still
                part = parts.pop().joined(part)
            parts.append(part)
        return [line for part in parts for line in part.text(self.say)]

    def _find_places(self, segments: list[list[Item]], read_in: list[frozenset[str]]) -> None:
        """The results of a round that may be written where their state lies."""
        program = self.program
        for name, result in zip(program.inputs, program.result, strict=True):
            if program.result.count(result) > 1 or name in program.result or self.facts.kinds[result] != "client":
                continue
            for j, segment in enumerate(segments):
                mine = any(i.what == "clients" and result in i.step.defines for i in segment)
                if mine and not any(name in r for r in read_in[j + 1 :]) and self.facts.kinds[name] == "client":
                    self.memory.replaced[result] = name

    def _visit(self, loop: Step, later: frozenset[str]) -> list[str]:
        assert isinstance(loop, Loop)
        if sum(isinstance(s, Loop) and s.op == "visit" for s in flat(self.facts.body)) > 1:
            raise NotGenerated("two visits of all clients")

        def drawing(name: str) -> Drawing:
            found = self._drawing(name)
            return Drawing(found.purpose, f"{found.base} + @{name}@")

        base = self._base("visits")
        visitor = self._visitor(drawing, later)
        lines = visitor.visit(loop, base)
        if self._around:
            lines += ["basevisits += clients;"]
            lines += [f"base{name} += clients * {words};" for name, words in visitor.words.items()]
        return lines

    def _visitor(self, drawing: Callable[[str], Drawing], later: frozenset[str]) -> Visitor:
        visitor = Visitor(self.facts, self.scalars, self.memory, drawing, True, frozenset(), later)
        visitor.turns += self._around
        return visitor

    def _base(self, name: str) -> str:
        if not self._around:
            return "0"
        return self.memory.counter(f"base{name}")

    def _drawing(self, name: str) -> Drawing:
        if name in self.facts.passes:
            if len(self.facts.passes) > 1:
                raise NotGenerated("more than one pass over the samples")
            return Drawing(PASSES, self._base(name))
        return Drawing(self.purposes[name], self._base(name))

    def _writer(self, clients: bool, ones: frozenset[str], later: frozenset[str], masked: bool = False) -> Writer:
        writer = Writer(self.facts, self.scalars, self.memory, self._drawing, clients, ones, later, self.present)
        writer.turns += self._around
        return writer

    def _counted(self, writer: Writer) -> list[str]:
        """In a loop, what was drawn is not drawn again."""
        return [f"base{name} += {words};" for name, words in writer.words.items()] if self._around else []

    # --- the server

    def _server(self, segment: list[Item], later: frozenset[str]) -> Lines:
        writer = self._writer(False, frozenset(), later)
        drawn, draws = [], list[str]()
        for item in segment:
            step = item.step
            assert isinstance(step, Instruction)
            if item.what == "share":
                writer._let(step.to, self._share(step, writer))
            elif step.op in OF_ALL:
                draws += self._draw(step)
                drawn.append(step.to)
            else:
                writer.write([step])
        made = [item.step.to for item in segment if isinstance(item.step, Instruction)]
        for name in made:
            if name in later and name not in drawn and self.facts.types[name] != "double":
                writer.lines.append(self.memory.store(name, writer.value(name)))
        after = self._counted(writer)
        if self._around:
            after += [f"base{name} += {self._words(self.facts.made[name])};" for name in drawn]
        return Lines([], ["{", *draws, *writer.before, *writer.lines, "}"], after)

    def _words(self, step: Instruction) -> str:
        if step.op == "choose" and step.flag:
            return self.say.whole(self.scalars.round_number(step.numbers[0]))
        return "1" if step.op == "coin" or self.present else "clients"

    def _share(self, step: Instruction, writer: Writer) -> str:
        total = self.say.here(f"s{step.to}")
        if step.op == "sum":
            return total
        if step.op == "mean":
            return f"divided({total}, {self.say.real('taking.size()' if self.present else 'clients')})"
        return f"share({total}, {self._number_active(step)})"

    def _number_active(self, step: Instruction) -> str:
        """How many an average is of, at the server."""
        active = step.numbers[0]
        draw = self.facts.made.get(active.name) if isinstance(active, Name) else None
        if draw is not None and draw.op == "choose" and not self.present:
            return self.say.everywhere(self.scalars.round_number(draw.numbers[0]))
        if draw is not None and draw.op in ("coins", "choose"):
            self._many.add(draw.to)
            return self.say.here(f"c{draw.to}")
        return self.say.here(f"a{step.to}")

    def _draw(self, step: Instruction) -> list[str]:
        """Who is there, or which way a coin fell."""
        name, source = step.to, self._drawing(step.to)
        p = self.scalars.parameters
        if not set().union(*map(names_in, step.numbers)) <= {*p.constants, *p.each, *p.schedules, "k"}:
            raise NotGenerated(f"{step.op} with {text_of(step.numbers[0])}, which changes within a round")
        key = f"@{name}@"  # what is kept of it is known when all is written
        head = f"k, {source.purpose}, {source.base}"
        if step.op == "choose":
            S = f"(int64_t){self.scalars.round_number(step.numbers[0])}"
            function = "choose_often" if step.flag else "choose"
            return [f"{function}(g, {head}, {S}, {key}{f', @many{name}@' if self.present else ''});"]
        row = "k" if self.scalars.changes(step.numbers[0]) else "0"
        place = self.scalars.tables.place("thresholds", name)
        if step.op == "coin":
            self.memory.place(name)
            return [f"m{name}[g] = flip(g, {head}, list<uint64_t>({place})[{row}]);"]
        return [f"toss(g, {head}, list<uint64_t>({place}) + {row} * {self.scalars.pool}, {key}, @many{name}@);"]

    # --- the clients

    def _clients(self, segment: list[Item], later: frozenset[str]) -> Lines:
        mask = mask_of(self.facts, self.memory.replaced, segment, later)
        ones = frozenset() if mask is None or self.facts.made[mask].flag else frozenset({mask})
        writer = self._writer(
            True, ones, later | frozenset().union(*(self._added(i) for i in segment)), mask is not None
        )
        for item in segment:
            if item.what == "clients":
                writer.write([item.step])
        sums = []
        for item in segment:
            if item.what == "add":
                assert isinstance(item.step, Instruction)
                sums += self._add(item.step, writer, ones)
        for item in segment:
            if item.what != "clients":
                continue
            for name in item.step.defines:
                if name in later and self.facts.types[name] in ("point", "lanes"):
                    writer.after.append(writer.stored(name))
                elif name in later and self.facts.types[name] == "sample":
                    raise NotGenerated("samples that are used again after the clients have met")
        return self._of_clients(writer, mask, sums)

    def _of_clients(self, writer: Writer, mask: str | None, sums: list[str]) -> Lines:
        """The loop over the clients around what was written for one; `sums` begin what is added up."""
        body = [*writer.own, *writer.lines, *writer.after]
        if mask is None and not self.present:
            each = ["for (int64_t n = 0; n < clients; n++) {", *writer.client, *body, "}"]
            return Lines(writer.setup, ["{", *writer.shared, *sums, *each, "}"], self._counted(writer))
        body = [*writer.shared, *body]
        self._flags |= set() if mask is None else {mask}
        lines = [f"for (int64_t g = 0; g < groups; g++) {{ {' '.join(sums)} }}"] if sums else []
        inner = "__attribute__((always_inline)) {"
        if self.present:
            flags, which = "nullptr" if mask is None else f"f{mask}", f"(const Slot& n, int64_t which) {inner}"
            lines += [
                *writer.setup,
                f"each_present({flags}, [&]{which} (void)n, (void)which;",
                *writer.ahead,
                f"}}, [&]{which} (void)which;",
                "const Whole at{0, run[0]}; (void)at;",
                *writer.client,
                *body,
                "});",
            ]
        elif self.pairs and not any(one_client(line) for line in (*writer.client, *body)):
            lines += [
                *writer.setup,
                f"pairs_present(f{mask}, [&](const Some& at, const Clients& n) {inner}",
                *writer.client,
                *body,
                "});",
            ]
        else:
            lines += [*twice(writer.setup), "for (int64_t n = 0; n < clients; n++) {", *writer.client]
            head = f"those_present(f{mask}, n, [&](const Some& at_a, const Some& at_b) {inner}"
            self.memory.double_picks()
            lines += [head, *twice(body), "});", "}"]
        return Lines(lines, after=self._counted(writer))

    @staticmethod
    def _added(item: Item) -> frozenset[str]:
        return reads(item.step) if item.what == "add" else frozenset()

    def _add(self, step: Instruction, writer: Writer, ones: frozenset[str]) -> list[str]:
        """Add what is summed over the clients; gives the statements that begin the sums."""
        total = self.memory.member(f"s{step.to}", "Point", "1")
        v, begin = writer.value(step.of[0]), [self.say.set(self.say.here(total), self.say.nothing)]
        if step.op == "average":
            active = writer.number(step.numbers[0])
            v = v if active.text == "1.0" else f"scaled({v}, {active.text})"
            counted = self.say.here(f"a{step.to}")
            if self._number_active(step) == counted:
                self.memory.member(f"a{step.to}", "Doubles", "1")
                writer.after.append(writer.added(f"a{step.to}", self.say.everywhere(active.text), lanes=True))
                begin.append(self.say.set(counted, self.say.none))
        writer.after.append(writer.added(total, v))
        return begin

    # --- what is neither

    def _mix(self, step: Step) -> list[str]:
        assert isinstance(step, Instruction)
        source, target = self.memory.place(step.of[0]), self.memory.place(step.to)
        of_clients = self.facts.of_clients(step.of[0])
        one = "g * clients + m" if of_clients else "g"
        weights = f"list<double>({self.scalars.tables.place('mix', step.label)})"
        return [
            "for (int64_t g = 0; g < groups; g++) for (int64_t n = 0; n < clients; n++) {",
            "Point total = {};",
            "for (int64_t m = 0; m < clients; m++) "
            f"total = plus_scaled(total, {source}[{one}], {weights}[n * clients + m]);",
            f"{target}[g * clients + n] = total;", "}",
        ]  # fmt: skip

    def _loop(self, loop: Step) -> list[str]:
        assert isinstance(loop, Loop)
        assert loop.count is not None
        if any(values_in(f) for f in (loop.count,)):
            raise NotGenerated(f"{text_of(loop.count)} turns")
        count = self.say.whole(self.scalars.round_number(loop.count))
        lines = []
        for c in loop.carried:
            lines += self.handing.copied(c.first, c.name)
        lines.append(self.say.turns(loop.index, 0, count))
        read = self._read_outside(loop) | {c.following for c in loop.carried} | {c.name for c in loop.carried}
        if any(c.name in self._read_outside(loop) for c in loop.carried):
            raise NotGenerated("what a loop hands on is read after the loop, as it was in the last turn")
        self._around.append(loop.index)
        lines += self.block(loop.body, frozenset(read))
        self._around.pop()
        lines += self.handing.handed([(c.following, c.name) for c in loop.carried])
        return [*lines, self.say.end]

    def _read_outside(self, loop: Loop) -> frozenset[str]:
        defined = set(loop.defines)

        def look(steps: Sequence[Step]) -> Iterator[str]:
            for step in steps:
                if step is loop:
                    continue
                if isinstance(step, Loop):
                    yield from (n for c in step.carried for n in (c.first, c.following))
                    yield from look(step.body)
                else:
                    yield from reads(step)

        return frozenset(defined & {*look(self.facts.body), *self.program.result})

    # --- all of it

    def body(self) -> list[str]:
        """The lines of a round."""
        program = self.program
        simple = [
            (result, name)
            for name, result, s in zip(program.inputs, program.result, program.state, strict=True)
            if s.kind not in ("past", "client past", "table")
        ]
        body = self.block(self.facts.body, frozenset(program.result))
        body += self.handing.shifted()
        body += self.handing.handed(simple)
        self.handing.check_tables()
        return body

    def text(self) -> str:
        """All of it, in the frame."""
        text = "\n".join(self.body())
        for name, step in self.facts.made.items():
            if step.op in ("choose", "coins"):
                text = self._settled(text, name)
        each, at = (" {each},", ", k") if self.present else ("", "")
        frame = OPEN_FRAME if self.present else FRAME
        return frame.format(
            members="\n  ".join(self.memory.members.values()),
            hoisted="\n    ".join(f"u[{j}] = {one};" for j, one in enumerate(self.scalars.hoisted)),
            count=max(1, len(self.scalars.hoisted)),
            bases="\n    ".join(f"{m} = 0;" for m in self.memory.members if m.startswith("base")),
            body=text,
            loads="\n    ".join(self._state("load(task.states[{j}], m{name}, {vectors});")),
            saves="\n    ".join(self._state(f"save(m{{name}}, task.states[{{j}}], {{vectors}},{each} 1, 0{at});")),
            fresh="\n        ".join(self._fresh()) if self.present else "",
            records="\n      ".join(
                self._state(
                    "if (task.records[{j}]) "
                    f"save(m{{name}}, task.records[{{j}}], {{vectors}},{each} task.records_length, task.record[k]{at});"
                )
            ),
            point=measured_point(self.program.state[0].kind),
        )

    def _settled(self, text: str, name: str) -> str:
        """Where a draw is kept: as flags for those who skip, as numbers for who reads them."""
        numbers, flags = f"m{name}" in self.memory.members, name in self._flags
        if self.facts.made[name].op == "choose" and self.facts.made[name].flag:
            self.memory.place(name)
            numbers = True
        if flags:
            self.memory.member(f"f{name}", "Flags", "clients")
        if name in self._many:
            self.memory.member(f"c{name}", "Doubles", "1")
        kept = f"{f'f{name}' if flags else '(Flags*)nullptr'}, {f'm{name}' if numbers else '(Doubles*)nullptr'}"
        many = f"c{name}" if name in self._many else "(Doubles*)nullptr"
        return text.replace(f"@{name}@", kept).replace(f"@many{name}@", many)

    def _state(self, line: str) -> Iterator[str]:
        for j, name in enumerate(self.program.inputs):
            each = {"client": "1", "table": "samples"}.get(self.facts.kinds[name], "0")
            yield line.format(j=j, name=name, vectors=self.memory.vectors(name), each=each)

    def _fresh(self) -> Iterator[str]:
        """What the states of a client begin with, when it comes."""
        for j, (name, state) in enumerate(zip(self.program.inputs, self.program.state, strict=True)):
            if state.kind == "client past":
                raise NotGenerated("vectors that the clients of an open population remember")
            if state.kind in ("client", "table"):
                yield f"fresh(task.fresh[{j}], m{name}, n, {'1' if state.kind == 'client' else 'samples'});"
