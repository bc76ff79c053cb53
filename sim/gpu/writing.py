"""Instructions as Triton, where they are written otherwise than in C++: draws, batches, tables."""

from __future__ import annotations

from sim.generated.language import Language
from sim.generated.visiting import Visitor
from sim.generated.writing import Writer
from sim.gpu.language import TRITON
from sim.gpu.memory import LaneMemory
from sim.streams import VISITS
from theory.program import Instruction, Loop


class LaneWriter(Writer):
    """Writes one stretch; arguments as of `Instructions`.

    Attributes:
        masked: whether the client takes part in some of the runs only, and is computed in all.
    """

    say: Language = TRITON
    own_count = "tl.load(counts + n)"
    masked = False

    @property
    def room(self) -> LaneMemory:
        """The memory, by its type."""
        assert isinstance(self.memory, LaneMemory)
        return self.memory

    def added(self, total: str, text: str, lanes: bool = False) -> str:
        """As `Instructions`."""
        if not self.masked:
            return f"{total} = {f'{total} + {text}' if lanes else f'plus({total}, {text})'}"
        return f"{total} = {'counted' if lanes else 'plus'}_some({total}, {text}, present)"

    def stored(self, name: str) -> str:
        """As `Instructions`."""
        return self.room.store(name, self.value(name), self.masked)

    # --- draws

    def _stream_of(self, drawn: str, each: str, own: bool = True) -> str:
        """A stream as it is between two draws: ``words``, ``at``, ``first``, ``source``; the answer is all of them."""
        source = self.drawing(drawn)
        if drawn not in self.words:
            self.words[drawn] = self._taken(each)
            self.own += [
                f"source{drawn} = counter(run, {self.stream_client if own else '0'}, k, {source.purpose})",
                f"first{drawn} = {TRITON.whole(source.base)}",
                TRITON.let(f"at{drawn}", f"first{drawn}"),
                f"words{drawn} = no_words(run)",
            ]
        return f"words{drawn}, at{drawn}, first{drawn}, source{drawn}, key"

    def _sample(self, step: Instruction) -> None:
        name, b = step.to, self.integer(step.numbers[0])
        if not step.flag:
            stream = self._stream_of(name, "samples")
            self._there[name] = self._ordered(name, stream, self.room.batch(name, step.numbers[0]), b)
            return
        stream = self._stream_of(name, b)
        take = f"w{name}, words{name}, at{name} = take({stream})"
        drawn = f"sample_of(w{name}, {self.own_count})"
        if self._one(step):
            self.lines += [take, f"v{name} = {drawn}"]
            self._there[name] = f"v{name}"
            return
        picks = self.room.batch(name, step.numbers[0])
        self.lines += [f"for b in range(0, {b}):", take, f"store_pick({picks}, b, lanes, {drawn})", "}"]
        self._there[name] = picks

    def _ordered(self, name: str, stream: str, picks: str, most: str) -> str:
        """The first of a client's samples in the order of their words."""
        keys = self.room.keys()
        self.lines.append(
            f"words{name}, at{name} = ordered({picks}, {keys}, samples, {self.own_count}, {most}, lanes, {stream})"
        )
        return picks

    def _order(self, samples: str) -> None:
        picks = self.room.batch(samples, None)
        self._ordered(samples, self._stream_of(samples, "samples"), picks, self.own_count)

    def _sample_of_turn(self, samples: str, turn: str) -> str:
        return f"v{samples} = pick(p{samples}, {turn}, lanes)"

    def _noise(self, step: Instruction) -> None:
        name, stream = step.to, self._stream_of(step.to, "D + D % 2")
        c = self.number(step.numbers[0])
        self.lines.append(f"g{name}, words{name}, at{name} = normal({stream})")
        self._let(name, f"scaled(g{name}, square_root(none + {c.text} / D))")

    def _expression(self, step: Instruction) -> str:
        if step.op == "ones":
            return "everywhere(none + 1.0)"
        if step.op != "keep":
            return super()._expression(step)
        name, stream = step.to, self._stream_of(step.to, "D", own=self.clients)
        v, most = self.value(step.of[0]), self.integer(step.numbers[0])
        self.lines.append(f"g{name}, words{name}, at{name} = kept({v}, {most}, {stream})")
        return f"g{name}"

    # --- batches and memory

    def _of_batch(self, total: str, sample: str, c: str, what: str, at: str, b: str) -> str:
        name = f"s{len(self.lines)}_{len(self.before)}"
        index = f"pick({self.value(sample)}, b, lanes)"
        each = self.say.functions(f"plus_sample_{what}", f"{name}, {c} / {TRITON.real(b)}, n, {index}, {at}")
        self.lines += [TRITON.let(name, total or self.say.nothing), f"for b in range(0, {b}):", f"{name} = {each}", "}"]
        return name

    def _index(self, sample: str) -> str:
        """Number ``b`` of a batch."""
        step, index = self.facts.made.get(sample), self.value(sample)
        return index if step is None or self._one(step) else f"pick({index}, b, lanes)"

    def _get(self, step: Instruction) -> None:
        table, name = self.room.table(step.of[0]), step.to
        if len(step.of) == 2:
            index, count = f"n * samples + {self._index(step.of[1])}", self._batch(step.of[1])
        else:
            index, count = "n * samples + b", self.own_count
        self.lines += [
            TRITON.declared(f"w{name}", lanes=False), f"for b in range(0, {count}):",
            f"w{name} = plus(w{name}, load({table}, {index}, lanes))", "}",
        ]  # fmt: skip
        self._let(name, f"divided(w{name}, {TRITON.real(count)})")

    def _put(self, step: Instruction) -> None:
        table, sample, v = step.of
        target, index = self.room.table(table), f"n * samples + {self._index(sample)}"
        put = f"({target}, {index}, lanes, {self.value(v)}"
        self.after += [
            f"for b in range(0, {self._batch(sample)}):",
            f"store_some{put}, present)" if self.masked else f"store{put})", "}",
        ]  # fmt: skip

    def _combine(self, step: Instruction) -> None:
        place = self.scalars.tables.place("weights", step.label)
        length, entry = self.memory.past(step.of[0])
        self.lines += [
            TRITON.declared(f"w{step.to}", lanes=False), f"for j in range(0, {length}):",
            f"w{step.to} = plus_scaled(w{step.to}, {entry}, {self.say.entry(place, 'j')})", "}",
        ]  # fmt: skip
        self._let(step.to, f"w{step.to}")


class LaneVisitor(LaneWriter, Visitor):
    """Writes the turns of a visit, in which every lane has a client of its own; arguments as of `Writer`."""

    def visit(self, loop: Loop, base: str) -> list[str]:
        """As `Visitor`."""
        outside, carried = self._prepared(loop)
        first = [self.memory.load(c.first) for c in loop.carried]
        self._turn(loop)
        keys = self.room.keys()
        head = [
            *self.setup,
            f"write_keys({keys}, clients, clients, lanes, no_words(run), {TRITON.whole(base)}, {TRITON.whole(base)}, "
            f"counter(run, 0, k, {VISITS}), key)",
            f"sort({keys}, clients, lanes)",
            *(TRITON.let(f"v{name}", text) for name, text in zip(carried, first, strict=True)),
            *(TRITON.declared(f"v{name}", lanes=False) for name in outside),
            "for visit in range(0, clients):",
            f"n = position(pick({keys}, visit, lanes))",
        ]
        stores = [self.memory.store(name, f"v{name}") for name in outside]
        return [*head, *(self._first_word(line) for line in (*self.before, *self.lines)), "}", *stores]


__all__ = ["LaneVisitor", "LaneWriter"]
