"""One round of an algorithm, unfolded: states after it in terms of states before it and of its draws.

A value is a function of the client, so that means over clients have indices of their own. States at t + 1 and taps are
taken one round (one turn) back and no further; a loop hands on what its taps show. What is not read raises where it is
needed, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from theory.derivation.atoms import TAKEN, Binder, Index, atom, fresh
from theory.derivation.draws import expected
from theory.derivation.elementary import drawn, extremum, root
from theory.derivation.flow import hanging, names_of, taps_of
from theory.derivation.polynomials import Atom, Monomial, RejectedError
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, mapped, of_atom, total
from theory.derivation.reading import PLAIN, Place, Reader, number_of, parameter
from theory.derivation.telling import left_over
from theory.derivation.terms import as_vector, bind, coordinate, each, kept, mixed
from theory.formula import Formula, Name, Number, text_of
from theory.program import Instruction, Loop, Program
from theory.program.data import DRAWS, Carried, State, Step
from theory.sentence import TURNS, index_of

Value: TypeAlias = Callable[..., Quotient]
"""Of a client; of a table, of a client and one of its samples."""
OPERATIONS = ("project", "clip", "prox", "top", "sign", "mix")
"""Of which what they make is not taken apart."""
LONGEST_LOOP = 16
"""That is written out, where nothing shows what it hands on."""


def formula(reader: Reader, e: Formula, place: Place, values: Mapping[str, Value] | None = None) -> Quotient:
    """A number of the program: in its parameters, the round, turns, and draws.

    Raises:
        RejectedError: for what is not read.
    """
    if isinstance(e, Number):
        return constant(e.value)
    if isinstance(e, Name):
        if values is not None and e.name in values:
            return values[e.name](place.n)
        if e.name in ("N", "d"):
            return parameter(e.name)
        if e.name == "k":
            return place.k
        symbols = [s for s in reader.claim.symbols if index_of(s)[0] == e.name]
        if len(symbols) != 1 or e.name in reader.words.definitions:
            raise RejectedError(f"{e.name} is no one number of the program")
        return reader.named(symbols[0], place)
    of = [formula(reader, a, place, values) for a in e.arguments]
    match e.operation:
        case "+":
            return of[0] + of[1]
        case "-":
            return of[0] - of[1]
        case "neg":
            return -of[0]
        case "*":
            return of[0] * of[1]
        case "/":
            return of[0] / of[1]
        case "sqrt":
            return root(of[0])
        case "**" if of[1].number is not None and of[1].number.denominator == 1:
            return of[0].power(int(of[1].number))
    raise RejectedError(f"{text_of(e)} in the algorithm")


def _not_read(what: str) -> Value:
    def value(*_: Index) -> Quotient:
        raise RejectedError(f"{what} is not read")

    return value


class Draws(dict[str, Instruction]):
    """A program's draws by name; another name is no draw, as in a file whose program no algorithm has."""

    def __missing__(self, name: str) -> Instruction:
        raise RejectedError(f"{name!r} is no draw of the program")


class Rounds:
    """What a claim's algorithm does in a round.

    Args:
        reader: of the claim.

    Attributes:
        undefined: the rounds in which something was made, for the line that is looked at, that may have no value.
        weights: whether averages are left with the weights of clients, of which only is known what rule `average` uses.
        named: whether what an operation makes is left as the tap that shows it.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader, self.alone = reader, False
        self.weights = self.named = False
        self.undefined: list[Quotient] = []
        self.program = reader.claim.program if isinstance(reader.claim.program, Program) else None
        steps = () if self.program is None else self.program.steps
        taps = [step for step in steps if isinstance(step, Instruction) and step.op == "tap"]
        labels = [step.label for step in taps]
        self.shown = {step.label: step.of[0] for step in taps}
        self.labels = {value: label for label, value in self.shown.items()}
        self.twice = frozenset(label for label in labels if labels.count(label) > 1)
        self.draws = Draws((s.to, s) for s in steps if isinstance(s, Instruction) and s.op in DRAWS)
        self.taps = {} if self.program is None else taps_of(self.program)

    def value(self, name: str, indices: tuple[Quotient, ...], place: Place) -> Quotient | None:
        """A state at t + 1, or a tap, as made in its round; None where it is left as it is."""
        assert self.program is not None
        if self.twice:
            raise RejectedError(f"two taps are called {min(self.twice)}")
        t, *turns = indices
        if name in self.reader.words.states:
            if name in self.reader.pasts:
                if self.reader.index(t)[1] < 1 or not turns[0].zero:
                    return None
                return self.round(t - ONE)[0][self.reader.pasts[name]](place.n)
            if self.reader.index(t)[1] < 1:
                return None
            values, _ = self.round(t - ONE)
            position = [s.name for s in self.program.state].index(name)
            after = values[self.program.result[position]]
            return after(place.n, place.i) if self.program.state[position].kind == "table" else after(place.n)
        if not turns:
            _, taps = self.round(t)
            return taps[name](place.n)
        made = self._shown_at(self._repeated(name), self.shown[name], t, *turns)
        return None if made is None else made(place.n)

    def expected(self, m: Monomial, prefix: list[Binder]) -> Quotient:
        """E of a product with draws in it."""
        return expected(self, m, prefix)

    def carries(self, rounds: Sequence[Quotient]) -> dict[str, int]:
        """How far what was made in these rounds carries where it may have no value after the run.

        Raises:
            RejectedError: where one of them need not be a round of the run.
        """
        reach = 0
        for t in rounds:
            base, c = self.reader.index(t)
            if base == "number(k)":
                reach = max(reach, c + 1)
            elif not (base == "" and c == 0) and not (base == "parameter(K)" and c < 0):
                of = left_over(t, self.reader.claim)
                raise RejectedError(f"round {of}, where something may have no value, need not be one of the run")
        return {"k": reach} if reach else {}

    # --- a round ---

    def round(self, t: Quotient) -> tuple[dict[str, Value], dict[str, Value]]:
        """The values, and the taps outside of loops, of the round that begins with the states at t."""
        assert self.program is not None
        values: dict[str, Value] = {}
        taps: dict[str, Value] = {}
        for name, state in zip(self.program.inputs, self.program.state, strict=True):
            values[name] = self._begun(state, t)
        self._play(self.program.body, values, taps, t)
        return values, taps

    def _state(self, name: str, indices: tuple[Quotient, ...]) -> Value:
        return lambda n: self.reader.state(name, indices, replace(PLAIN, n=n, owner=n))

    def _begun(self, state: State, t: Quotient) -> Value:
        """A state as the round begins; a table's value asks for a sample, too."""
        if state.length is not None:
            return _not_read("a remembered vector")
        if state.kind == "table":
            return lambda n, i: self.reader.state(state.name, (t,), replace(PLAIN, n=n, i=i, owner=n))
        return self._state(state.name, (t,))

    def _play(
        self,
        steps: Sequence[Step],
        values: dict[str, Value],
        taps: dict[str, Value],
        *when: Quotient,
    ) -> None:
        """Play some steps, in a round, and in a turn of each loop that is around."""
        for step in steps:
            if isinstance(step, Loop):
                self._after(step, values, *when)
            elif step.op == "tap":
                taps[step.label] = values[step.of[0]]
            else:
                values[step.to] = self._made(step, dict(values), *when)

    def _made(self, step: Instruction, values: Mapping[str, Value], t: Quotient, *turns: Quotient) -> Value:
        of = [values[name] for name in step.of]
        draw = (step.to, t, *turns)

        def at(n: Index) -> Place:
            return replace(PLAIN, n=n, owner=n, k=t)

        def number(j: int, n: Index) -> Quotient:
            return formula(self.reader, step.numbers[j], at(n), values)

        if step.kind == "table" and (step.op != "put" or turns):
            return _not_read(f"{step.op} of tables, or in a loop,")
        if self.named and step.op in OPERATIONS and step.to in self.labels:
            return self._state(self.labels[step.to], (t, *turns))
        match step.op:
            case "linear":
                return lambda n: total(number(j, n) * v(n) for j, v in enumerate(of))
            case "each":
                return of[0]
            case "mean":
                return lambda n: _mean(of[0])
            case "sum":
                return lambda n: parameter("N") * _mean(of[0])
            case "combine" if (past := self._remembered(step.of[0])) is not None:
                return lambda n: self.reader.combined(step.label, past, at(n))
            case "gradient" if len(of) == 1:
                return lambda n: self.reader.function("f_n", self._point(of[0](n)), at(n), True)
            case "gradient":
                return lambda n: self.reader.gradient("sampled", (_draw_of(of[1](n)), n), self._point(of[0](n)))
            case "full gradient":
                return lambda n: self.reader.function("f", self._point(of[0](n)), at(n), True)
            case "sample":
                return lambda n: of_atom(atom("sample", draw))
            case "get" if len(of) == 1:

                def mean_of_all(n: Index) -> Quotient:
                    i = fresh("i")
                    return bind(Binder("i", i, n), of[0](n, i))

                return mean_of_all
            case "get" if not turns and (table := self._kept_table(step.of[0], t)) is not None:
                return lambda n: as_vector(atom("taken", _draw_of(of[1](n)), n, (table, (t,), n, TAKEN)))
            case "put":

                def replaced(n: Index, i: Index) -> Quotient:
                    hit = of_atom(atom("hit", _draw_of(of[1](n)), n, i))
                    return hit * of[2](n) + (ONE - hit) * of[0](n, i)

                return replaced
            case "coin":
                return lambda n: drawn(draw)
            case "choose" if step.flag:
                return lambda n: of_atom(atom("count", draw, n))
            case "coins" | "choose":
                return lambda n: drawn(draw, n)
            case "project" | "clip":
                return lambda n: as_vector(atom("projected", number(0, n), of[0](n)))
            case "top":
                return lambda n: as_vector(atom("largest", number(0, n), of[0](n)))
            case "sign":
                return lambda n: as_vector(atom("signs", of[0](n)))
            case "mix":

                def in_row(n: Index) -> Quotient:
                    here = fresh("n")
                    return mixed(step.label, here, of[0](here), n)

                return in_row
            case "prox" if not turns:

                def nearest(n: Index) -> Quotient:
                    self.undefined.append(t)  # there need not be one after the run
                    return as_vector(atom("proximal", number(0, n), of[0](n), n))

                return nearest
            case "noise":
                return lambda n: as_vector(atom("noise", draw, n))
            case "keep":
                of_client = step.kind == "client"
                return lambda n: kept(draw, (n,) if of_client else (), number(0, n), of[0](n))
            case "where" if self._mask(step, "coin", "coins", "choose"):
                return lambda n: number(0, n) * of[0](n) + (ONE - number(0, n)) * of[1](n)
            case "ones":
                return lambda n: _by_coordinates(lambda: ONE)
            case "times":
                return lambda n: _by_coordinates(lambda a, b: a * b, of[0](n), of[1](n))
            case "larger":
                return lambda n: _by_coordinates(lambda *both: extremum("max", both), of[0](n), of[1](n))
            case "over" | "sqrt" if not turns:

                def partial(n: Index) -> Quotient:
                    self.undefined.append(t)
                    made = (lambda a, b: a / b) if step.op == "over" else root
                    return _by_coordinates(made, *(v(n) for v in of))

                return partial
            case "average" if self.weights and self._mask(step, "choose", "coins", counted=True):

                def weighted(n: Index) -> Quotient:
                    here = fresh("n")
                    weight = of_atom(atom("share", _draw_of(number(0, here)), here))
                    return parameter("N") * bind(Binder("n", here), weight * of[0](here))

                return weighted
            case "average" if self._mask(step, "choose", counted=True):
                active = self.draws[step.numbers[0].name]  # type: ignore[union-attr]

                def average(n: Index) -> Quotient:
                    here = fresh("n")
                    chosen = bind(Binder("n", here), number(0, here) * of[0](here))
                    return parameter("N") * chosen / formula(self.reader, active.numbers[0], at(n))

                return average
        return _not_read(f"{step.op}, or what it is applied to,")

    def _point(self, v: Quotient) -> Quotient:
        if v.draws and not self.reader.affine:
            raise RejectedError("a gradient at a point that is drawn in the same round")
        return v

    def _remembered(self, name: str) -> str | None:
        """The state that a value is, if that remembers vectors and the algorithm has not shifted them before."""
        assert self.program is not None
        states = dict(zip(self.program.inputs, self.program.state, strict=True))
        return states[name].name if name in states and states[name].name in self.reader.pasts else None

    def _kept_table(self, name: str, t: Quotient) -> str | None:
        """The table that a value is, if it is one that the round began with, and not the first."""
        assert self.program is not None
        states = dict(zip(self.program.inputs, self.program.state, strict=True))
        return states[name].name if name in states and not t.zero else None

    def _mask(self, step: Instruction, *ops: str, counted: bool = False) -> bool:
        """Whether its first number is one draw of 0 and 1 (or a count) itself."""
        e = step.numbers[0]
        draw = self.draws.get(e.name) if isinstance(e, Name) else None
        return draw is not None and draw.op in ops and (counted or not (draw.op == "choose" and draw.flag))

    def is_sample(self, draw: Any) -> bool:
        """Whether a draw is one sample of every client."""
        step = self.draws.get(draw[0])
        return step is not None and step.op == "sample" and formula(self.reader, step.numbers[0], PLAIN).number == 1

    def totals(self, q: Quotient) -> Quotient:
        """A normal form in which as many clients are chosen as are."""

        def new(a: Atom) -> Quotient:
            if a.kind == "bind" and len(a.data[0]) == len(a.data[1]) == 1 and a.data[0][0].kind == "n":
                one, power = a.data[1][0]
                step = self.draws.get(one.data[0][0]) if one.kind in ("draw", "count") and power == 1 else None
                if step is not None and step.op == "choose":
                    t = one.data[0][1]
                    return formula(self.reader, step.numbers[0], replace(PLAIN, k=t)) / parameter("N")
            return of_atom(a)

        return mapped(q, new)

    # --- loops ---

    def loops_around(self, name: str) -> tuple[Loop, ...]:
        """The loops around a tap, or around the instruction that makes a value, the outermost first."""

        def around(steps: Sequence[Step]) -> tuple[Loop, ...] | None:
            for step in steps:
                if isinstance(step, Instruction):
                    if name == (step.label if step.op == "tap" else step.to):
                        return ()
                elif (inside := around(step.body)) is not None:
                    return (step, *inside)
            return None

        return (None if self.program is None else around(self.program.body)) or ()

    def _repeated(self, tap: str) -> tuple[Loop, ...]:
        """The loops around a tap.

        Raises:
            RejectedError: where one is no repeat, or there are more than two.
        """
        loops = self.loops_around(tap)
        if not 1 <= len(loops) <= len(TURNS) or any(loop.op != "repeat" for loop in loops):
            raise RejectedError(f"the tap {tap}, in a loop that is not read")
        return loops

    def _shown_at(self, loops: Sequence[Loop], shown: str, t: Quotient, *turns: Quotient) -> Value | None:
        """What a loop has under a name in a turn, as made of what was before; None where nothing says of what."""
        *outer, loop = loops
        carried = next((c for c in loop.carried if c.name == shown), None)
        if carried is None:
            return self._turn(loops, t, *turns)[shown]
        if self.reader.index(turns[-1])[1] >= 1:
            return self._turn(loops, t, *turns[:-1], turns[-1] - ONE)[carried.following]
        if not turns[-1].zero:
            return None
        return self._shown_at(outer, carried.first, t, *turns[:-1]) if outer else self.round(t)[0][carried.first]

    def _taps_of(self, loop: Loop, carried: Carried) -> list[tuple[str, tuple[Quotient, ...]]]:
        """The taps that show what a loop carries at the beginning of each turn, and at which turn of a loop inside."""
        found: list[tuple[str, tuple[Quotient, ...]]] = []
        for step in loop.body:
            if isinstance(step, Instruction) and step.op == "tap" and step.of[0] == carried.name:
                found.append((step.label, ()))
        for step in loop.body:
            for c in step.carried if isinstance(step, Loop) and step.op == "repeat" else ():
                if c.first == carried.name and c.kind == carried.kind:
                    found += [(tap, (ZERO,)) for tap, more in self._taps_of(step, c) if not more]  # type: ignore[arg-type]
        return found

    def _turn(self, loops: Sequence[Loop], t: Quotient, *turns: Quotient) -> dict[str, Value]:
        """The values of a turn, in terms of what the taps show at its beginning, and at that of the turn around it."""
        values, _ = self.round(t)
        for depth, (loop, turn) in enumerate(zip(loops, turns, strict=True), 1):
            for c in loop.carried:
                taps = self._taps_of(loop, c)
                if turn.zero:
                    values[c.name] = values[c.first]
                elif taps:
                    tap, more = taps[0]
                    values[c.name] = self._state(tap, (t, *turns[:depth], *more))
                else:
                    values[c.name] = _not_read("a loop without a tap")
            values[loop.index] = lambda n, turn=turn: turn
            self._play(loop.body, values, {}, t, *turns[:depth])
        return values

    def _after(self, loop: Loop, values: dict[str, Value], t: Quotient, *turns: Quotient) -> None:
        """What a loop hands on after its last turn."""
        before = dict(values)
        values |= {name: _not_read("a value of a loop's last turn") for name in loop.defines}
        if loop.op != "repeat" or loop.count is None:
            return
        taps = {c.following: self._taps_of(loop, c) for c in loop.carried}
        if not all(taps.values()) and isinstance(loop.count, Number) and loop.count.value <= LONGEST_LOOP:
            self._written_out(loop, int(loop.count.value), before, values, t, *turns)
            return
        for c in loop.carried:
            for tap, more in taps[c.following][:1]:
                values[c.following] = self._last(loop, tap, more, t, *turns)
            if not taps[c.following] and not turns and (step := _adding(loop, c)) is not None:
                values[c.following] = self._added_up(loop, c, step, before[c.first], t)

    def _last(self, loop: Loop, tap: str, more: tuple[Quotient, ...], *when: Quotient) -> Value:
        place = replace(PLAIN, unfold=True)
        return lambda n: self.reader.state(tap, (*when, self.reader.count(loop), *more), replace(place, n=n, owner=n))

    def _added_up(self, loop: Loop, carried: Carried, step: Instruction, first: Value, t: Quotient) -> Value:
        """After its last turn, what a loop hands on that only grows by what a turn makes without it."""

        def value(n: Index) -> Quotient:
            here, upper = fresh("h"), self.reader.count(loop)
            if upper.number is not None:
                raise RejectedError("a loop of so many turns without a tap")
            turn = number_of(here)
            values = self._turn((loop,), t, turn)
            place = replace(PLAIN, n=n, owner=n, k=t)
            terms = zip(step.of, step.numbers, strict=True)
            grown = (formula(self.reader, c, place, values) * values[v](n) for v, c in terms if v != carried.name)
            return first(n) + bind(Binder("h", here, None, upper), total(grown))

        return value

    def _written_out(
        self, loop: Loop, count: int, before: Mapping[str, Value], values: dict[str, Value], *when: Quotient
    ) -> None:
        now = {**before, **{c.name: before[c.first] for c in loop.carried}}
        for turn in range(count):
            number = constant(turn)
            now[loop.index] = lambda n, number=number: number
            self._play(loop.body, now, {}, *when, number)
            after = {c.name: now[c.following] for c in loop.carried}
            values |= {c.following: now[c.following] for c in loop.carried}
            now |= after


def _adding(loop: Loop, carried: Carried) -> Instruction | None:
    """The step that adds something to what a loop hands on, which has no say in that; None where there is none."""
    steps = (s for s in loop.body if isinstance(s, Instruction) and s.to == carried.following and s.op == "linear")
    step = next(steps, None)
    if step is None or [c for v, c in zip(step.of, step.numbers, strict=True) if v == carried.name] != [
        Number(Fraction(1))
    ]:
        return None
    others = {*(v for v in step.of if v != carried.name), *names_of(step.numbers)}
    return None if others & hanging(loop.body, carried.name) else step


def _by_coordinates(make: Callable[..., Quotient], *of: Quotient) -> Quotient:
    """A vector made of others coordinate by coordinate."""
    here = fresh("c")
    return each(here, make(*(coordinate(v, here) for v in of)))


def _mean(v: Value) -> Quotient:
    here = fresh("n")
    return bind(Binder("n", here), v(here))


def _draw_of(q: Quotient) -> Any:
    """The draw that a value which is one draw is."""
    ((m, _),) = q
    return m[0][0].data[0]
