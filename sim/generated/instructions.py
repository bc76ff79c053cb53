"""Instructions as C++: the body of a stretch, for one client or for the server, eight runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.generated.language import CPP, Language
from sim.generated.reading import Difference, Facts, NotGenerated, Slope, Term
from sim.generated.scalars import Scalars, Text
from theory.program import Formula, Instruction, Number, names_in, text_of

if TYPE_CHECKING:
    from sim.generated.memory import Memory

_ONE_OF_ONE = {"sqrt": "root_of", "sign": "sign_of"}
_ONE_OF_TWO = {"times": "product", "over": "quotient", "larger": "larger_of"}


@dataclass(frozen=True)
class Drawing:
    """Where the words of an instruction come from.

    Attributes:
        purpose: of `sim.streams`.
        base: the number of the first word in this stretch, in C++.
    """

    purpose: int
    base: str


class Instructions:
    """What a stretch of instructions becomes.

    Args:
        facts: of the program.
        scalars: numbers as C++.
        memory: where values that are not made here are.
        drawing: of each value that is drawn.
        clients: whether it is clients' work; else the server's.
        ones: draws that are 1 here, because only those who take part are computed.
        read_later: what is read after the stretch.
        present: whether the clients are those of an open population.
    """

    say: Language = CPP

    def __init__(
        self,
        facts: Facts,
        scalars: Scalars,
        memory: Memory,
        drawing: Callable[[str], Drawing],
        clients: bool,
        ones: frozenset[str],
        read_later: frozenset[str],
        present: bool = False,
    ) -> None:
        self.facts, self.scalars, self.memory, self.drawing = facts, scalars, memory, drawing
        self.clients, self.ones, self.read_later, self.present = clients, ones, read_later, present
        self.setup: list[str] = []  # before all clients
        self.ahead: list[str] = []  # for the next client, before one is at work
        self.shared: list[str] = []  # what is loaded at the beginning, the same for all clients of a run
        self.own: list[str] = []  # what is loaded and set up for each client
        self.lines: list[str] = []
        self.after: list[str] = []
        self.words: dict[str, str] = {}  # words that the stretch takes of the purpose of each draw
        self._there: dict[str, str] = {}  # values by their names in C++
        self._same: dict[str, str] = {}  # values that are another value
        self._outside: set[str] = set()  # values declared before the loop in which they are made
        self.turns: list[str] = []  # of the loops around
        self._counts: list[str] = []
        self._once: dict[str, str] = {}

    stream_client = "n"
    """The client word of a client's own draws."""
    client_name = "n"
    """The client by whose number its entry in a list is found."""

    @property
    def before(self) -> list[str]:
        """What is loaded and set up at the beginning."""
        return [*self.shared, *self.own]

    def added(self, total: str, text: str, lanes: bool = False) -> str:
        """A statement that adds a vector, or a number in every lane, to what is summed over the clients."""
        return f"at.add({total}, {text});"

    def stored(self, name: str) -> str:
        """A statement that keeps a value."""
        return self.memory.store(name, self.value(name))

    # --- values

    def value(self, name: str) -> str:
        """A value by its name in C++, loaded if need be."""
        while name in self._same:
            name = self._same[name]
        if name not in self._there:
            into = self.own if self.facts.of_clients(name) else self.shared
            into.append(self.say.let(f"v{name}", self.memory.load(name)))
            self._there[name] = f"v{name}"
        return self._there[name]

    def same(self, name: str) -> str:
        """The value that this one is, by the program's name."""
        while name in self._same:
            name = self._same[name]
        return name

    def number(self, formula: Formula) -> Text:
        """A scalar in C++."""
        found = self.scalars.text(formula, self._look, self.client_name if self.clients else None)
        if (
            found.lanes
            or not names_in(formula)
            or self.scalars.fixed(formula)
            or any(t in found.text for t in self.turns)
        ):
            return found
        if found.text not in self._once:  # the same for all runs and turns
            self._once[found.text] = f"e{len(self._once)}"
        return Text(self._once[found.text])

    @property
    def client(self) -> list[str]:
        """What is the same for all runs of a client."""
        return [self.say.number(name, text) for text, name in self._once.items()]

    def _look(self, name: str) -> Text | None:
        if name in self.turns:
            return Text(self.say.real(name))
        if name in self.ones:
            return Text("1.0")
        if name not in self.facts.types:
            return None
        if self.facts.types[name] == "double":
            a, b = (self.number(f) for f in self.facts.made[name].numbers)
            return Text(f"below({a.text}, {b.text})")
        return Text(self.value(name), True)

    def integer(self, formula: Formula) -> str:
        """A number of samples, of turns, of coordinates."""
        if isinstance(formula, Number):
            return str(int(formula.value))
        return self.say.whole(self.scalars.round_number(formula))

    # --- steps

    def _let(self, name: str, text: str) -> None:
        if name in self._outside:
            self.lines.append(self.say.set(f"v{name}", text))
        else:
            self.lines.append(self.say.let(f"v{name}", text))
        self._there[name] = f"v{name}"

    def _instruction(self, step: Instruction) -> None:
        if self.facts.types[step.to] == "double":
            return
        if step.op == "each":
            if step.to in self._outside:
                self._let(step.to, self.value(step.of[0]))
            else:
                self._same[step.to] = step.of[0]
            return
        write: Mapping[str, Callable[[Instruction], None]] = {
            "linear": self._linear,
            "gradient": self._gradient,
            "sample": self._sample,
            "noise": self._noise,
            "where": self._where,
            "get": self._get,
            "put": self._put,
            "combine": self._combine,
        }
        if step.op in write:
            write[step.op](step)
        else:
            self._let(step.to, self._expression(step))

    def _expression(self, step: Instruction) -> str:
        of = [self.value(name) for name in step.of]
        if step.op == "full gradient":
            what, of_whom = ("mean_gradient", "taking, ") if self.present else ("full_gradient", "")
            return self.say.functions(what, f"{of_whom}{of[0]}")
        if step.op == "prox":
            t = step.numbers[0]
            if names_in(t) & set(self.facts.types) or names_in(t) & set(self.turns):
                raise NotGenerated(f"prox with t = {text_of(t)}, which is drawn or changes within a round")
            tables, row = self.scalars.tables, f"k * {self.scalars.pool}" if self.scalars.changes(t) else "0"
            inverse = f"{self.say.entries(tables.place('inverse', step.to))} + {row} * D * D"
            weight = self.say.entry(tables.place("weight", step.to), f"{row} + n")
            return self.say.functions("prox", f"n, {inverse}, {weight}, {of[0]}")
        if step.op in _ONE_OF_ONE:
            return f"{_ONE_OF_ONE[step.op]}({of[0]})"
        if step.op in _ONE_OF_TWO:
            return f"{_ONE_OF_TWO[step.op]}({of[0]}, {of[1]})"
        if step.op in ("project", "clip"):
            return f"into_ball({of[0]}, {self.number(step.numbers[0]).text})"
        if step.op == "norm":
            return f"norm({of[0]})"
        if step.op == "ones":
            return "everywhere_one()"
        if step.op == "before":
            a, b = (self.number(f).text for f in step.numbers)
            return self.say.everywhere(f"below({a}, {b})")
        if step.op == "top":
            return f"largest({of[0]}, {self.integer(step.numbers[0])})"
        if step.op == "keep":
            stream = self._stream(step, "D", own=self.clients)
            return f"kept({of[0]}, {stream}, {self.integer(step.numbers[0])})"
        raise NotGenerated(f"the operation {step.op!r}")

    def _linear(self, step: Instruction) -> None:
        total = ""
        for term in sorted(self.facts.terms[step.to], key=self._late):
            total = self._plus(total, term)
        self._let(step.to, total or self.say.nothing)

    def _late(self, term: Term | Slope | Difference) -> int:
        """Values as they are come first, so that everything else is added to them by one instruction."""
        if not isinstance(term, Term):
            return 2
        return 0 if not names_in(term.coefficient) and self._plain(term.coefficient) == 1 else 1

    def _plus(self, total: str, term: Term | Slope | Difference) -> str:
        c = self.number(term.coefficient).text
        if isinstance(term, Difference):
            a, b = self.same(term.a), self.same(term.b)
            if a == b:
                return total
            return self._sampled(total, term.sample, c, "difference", f"{self.value(a)}, {self.value(b)}")
        if isinstance(term, Slope):
            return self._sampled(total, term.sample, c, "gradient", self.value(term.at))
        v = self.value(term.value)
        plain = None if names_in(term.coefficient) else float(self._plain(term.coefficient))
        if plain == 0:
            return total
        if not total:
            return v if plain == 1 else f"negative({v})" if plain == -1 else f"scaled({v}, {c})"
        if plain in (1, -1):
            return f"{'plus' if plain == 1 else 'minus'}({total}, {v})"
        return f"plus_scaled({total}, {v}, {c})"

    def _plain(self, formula: Formula) -> float:
        from sim.simulate.parameters import evaluate

        return float(evaluate(formula, lambda name: 0.0))

    def _sampled(self, total: str, sample: str, c: str, what: str, at: str) -> str:
        """Total + c times the mean over a batch."""
        step = self.facts.made.get(sample)
        index = self.value(sample)
        if step is None or self._one(step):  # no instruction makes the sample of a pass
            return self.say.functions(f"plus_sample_{what}", f"{total or self.say.nothing}, {c}, n, {index}, {at}")
        return self._of_batch(total, sample, c, what, at, self.integer(step.numbers[0]))

    def _of_batch(self, total: str, sample: str, c: str, what: str, at: str, b: str) -> str:
        """The same over more samples than one."""
        index, name = self.value(sample), f"s{len(self.lines)}_{len(self.before)}"
        if what == "gradient":
            return f"functions.plus_batch_gradient({total or 'Point{}'}, {c}, n, {index}, {b}, {at})"
        self.lines.append(f"Point {name} = {total or 'Point{}'};")
        self.lines.append(
            f"for (int64_t b = 0; b < {b}; b++) {name} = "
            f"functions.plus_sample_{what}({name}, {c} / (double)({b}), n, {index} + b * kLanes, {at});"
        )
        return name

    @staticmethod
    def _one(step: Instruction) -> bool:
        number = step.numbers[0]
        return isinstance(number, Number) and number.value == 1 and step.flag is True

    def _gradient(self, step: Instruction) -> None:
        if len(step.of) == 1:
            self._let(step.to, self.say.functions("gradient", f"n, {self.value(step.of[0])}"))
        else:
            self._let(step.to, self._sampled("", step.of[1], "1.0", "gradient", self.value(step.of[0])))

    def _where(self, step: Instruction) -> None:
        a, b = (self.value(name) for name in step.of)
        if self.facts.types[step.to] != "point":
            raise NotGenerated("a choice between tables")
        condition = self.number(step.numbers[0]).text
        self._let(step.to, a if condition == "1.0" else f"choice({condition}, {a}, {b})")

    # --- draws

    def _taken(self, each: str) -> str:
        return " * ".join([*(f"{c}" for c in self._counts), f"({each})"])

    def _stream(self, step: Instruction, each: str, own: bool = True) -> str:
        return self._stream_of(step.to, each, own)

    def _stream_of(self, drawn: str, each: str, own: bool = True) -> str:
        name, source = f"d{drawn}", self.drawing(drawn)
        if drawn not in self.words:
            self.words[drawn] = self._taken(each)
            self.own.append(
                f"Stream {name}(at.run, {self.stream_client if own else '0'}, k, {source.purpose}, {source.base}, "
                f"{self.words[drawn]}, key);"
            )
        return name

    def _sample(self, step: Instruction) -> None:
        name, source = f"d{step.to}", self.drawing(step.to)
        b = self.integer(step.numbers[0])
        self._there[step.to] = f"v{step.to}"
        picks = self.memory.picks(step.to)
        if step.flag:
            if step.to not in self.words:
                words = self.words[step.to] = self._taken(b)
                head = f"{self.stream_client}, k, {source.purpose}, {source.base}, {words}"
                if self.present:
                    drawn = f"{self.memory.drawn(step.to)}.draw(which, run[0], {head}, count(n), key)"
                    self.ahead.append(f"functions.fetch(n, {drawn}, {words});")
                    self.own.append(f"const int64_t* {name} = {self.memory.drawn(step.to)}.at[which];")
                else:
                    self.setup.append(f"{picks}.resize(({words} + 6) * kLanes);")
                    self.own.append(
                        f"const int64_t* {name} = drawn_samples({picks}.data(), at.run, {head}, counts(n), key);"
                    )
            if self._read(step.to):
                self.lines.append(f"const int64_t* v{step.to} = {name};")
            self.lines.append(f"{name} += {b} * kLanes;")
            return
        stream = self._stream(step, "samples")
        self.lines.append(f"if ({picks}.size() < (size_t)({b} * kLanes)) {picks}.resize({b} * kLanes);")
        self.lines.append(f"smallest_samples({stream}, samples, count(n), {b}, keys, {picks}.data());")
        self.lines.append(f"const int64_t* v{step.to} = {picks}.data();")

    def _read(self, sample: str) -> bool:
        """Whether a sample is looked at in this turn, and not only where what is looked up cancels."""
        for name, step in self.facts.made.items():
            if step.op == "linear":
                for term in self.facts.terms[name]:
                    if isinstance(term, Term) or term.sample != sample:
                        continue
                    if isinstance(term, Slope) or self.same(term.a) != self.same(term.b):
                        return True
            elif sample in step.of and name not in self.facts.absorbed:
                return True
        return False

    def _noise(self, step: Instruction) -> None:
        stream = self._stream(step, "D + D % 2")
        c = self.number(step.numbers[0])
        self._let(step.to, f"scaled(normal({stream}), square_root({c.text} / (double)D))")

    # --- memory

    def _get(self, step: Instruction) -> None:
        table, samples = self.memory.table(step.of[0]), "clients * samples"
        if len(step.of) == 2:
            index, b = self.value(step.of[1]), self._batch(step.of[1])
            one = f"at.load_each({table}, {samples}, n * samples, {index} + b * kLanes)"
            count = b
        else:
            one, count = f"at.load({table}, {samples}, n * samples + b)", "task.counts[n]"
        self.lines.append(f"Point w{step.to} = {{}};")
        self.lines.append(f"for (int64_t b = 0; b < {count}; b++) w{step.to} = plus(w{step.to}, {one});")
        self._let(step.to, f"divided(w{step.to}, (double)({count}))")

    def _put(self, step: Instruction) -> None:
        table, sample, v = step.of
        b, target = self._batch(sample), self.memory.table(table)
        self.after.append(
            f"for (int64_t b = 0; b < {b}; b++) at.store_each({target}, clients * samples, n * samples, "
            f"{self.value(sample)} + b * kLanes, {self.value(v)});"
        )

    def _batch(self, sample: str) -> str:
        draw = self.facts.made.get(sample)
        return "1" if draw is None else self.integer(draw.numbers[0])

    def _combine(self, step: Instruction) -> None:
        weights = self.say.entries(self.scalars.tables.place("weights", step.label))
        length, entry = self.memory.past(step.of[0])
        self.lines.append(f"Point w{step.to} = {{}};")
        self.lines.append(
            f"for (int64_t j = 0; j < {length}; j++) w{step.to} = plus_scaled(w{step.to}, {entry}, {weights}[j]);"
        )
        self._let(step.to, f"w{step.to}")
