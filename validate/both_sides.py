"""Both sides of a sentence on an instance, exactly: Fractions, or balls where there are roots.

    measured = sides(parse_sentence("E(norm2(x[k] - xstar)) <= R"), words_of(instance), instance, {"R": Fraction(2)})
    measured.broken, measured.holds

The free index k runs over every k >= 0 for which all indices of the sentence lie in the run, and n, i, h and j over all
that there are. What is random outside of E is looked at in every outcome, and the worst is kept. A sentence that speaks
of xstar where f has more than one minimiser is measured at several of them: one at which it is broken breaks it; that
it holds at all of them shows nothing for the others (`Measured.every_minimiser`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias

from theory.arithmetic import PRECISIONS, balls, to_element
from theory.formula import Apply, Name, Number, UndefinedError
from theory.operations import Element, UndecidedError, to_fraction
from theory.program import STACKS
from theory.sentence import (
    ALL_CLIENTS,
    INDICES,
    OVER,
    TURNS,
    At,
    Expression,
    Relation,
    Sentence,
    SentenceError,
    Vocabulary,
    applied,
    evaluate,
    everything,
    everything_meant,
    index_value,
    read,
    remembered,
    simplex_weights,
    text_of,
)
from validate.instances.instance import Instance
from validate.instances.scalars import Given, Schedule
from validate.instances.world import Still, few_terms
from validate.play import LIMIT, Item, Play

Status: TypeAlias = Literal["holds", "broken", "undefined", "undecided"]
Reading: TypeAlias = Literal["play", "moments"]
Outcome: TypeAlias = Mapping[Item, Any]
HIDDEN = ("*n", "*k")
"""Indices that a sentence leaves out where it says ``p``, of which each client, or each round, has its own."""
AGREED = 80
"""Bits to which the sides of an equation with roots are compared: that they are equal balls never tell."""
MOST_PRECISE = PRECISIONS[3]
"""Bits of the balls after which a comparison is left undecided."""


@dataclass(frozen=True)
class Row:
    """Both sides for one value of the free indices.

    Attributes:
        at: the indices.
        left: a Fraction or a ball (`flint.arb`); None where it is undefined.
        right: likewise.
        status: ``undefined`` says nothing: a side has no real value; ``undecided``: the balls do not tell.
        probability: of the outcome that is shown, the worst, where something is random outside of E; else None.
        minimiser: which of the minimisers that were looked at is meant, from 0.
        why: where it is undefined or undecided.
        agrees: whether it is an equation that balls cannot decide, and its sides agree to `AGREED` bits.
    """

    at: Mapping[str, int]
    left: Any
    right: Any
    status: Status
    probability: Any = None
    minimiser: int = 0
    why: str = ""
    agrees: bool = False


@dataclass(frozen=True)
class Measured:
    """A sentence on an instance.

    Attributes:
        rows: for every value of the free indices, and every minimiser that was looked at.
        silent: why the sentence does not speak of this instance at all; else empty.
        every_minimiser: whether all choices of xstar and xstar_n were looked at.
        by: how expectations were found: from all outcomes, or by moments where there are too many.
    """

    rows: tuple[Row, ...]
    silent: str = ""
    every_minimiser: bool = True
    by: Reading = "play"

    def _of(self, status: Status) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.status == status)

    @property
    def broken(self) -> tuple[Row, ...]:
        """The rows at which the relation does not hold: one breaks the sentence."""
        return self._of("broken")

    @property
    def undefined(self) -> tuple[Row, ...]:
        """The rows that say nothing."""
        return self._of("undefined")

    @property
    def undecided(self) -> tuple[Row, ...]:
        """The rows of which balls do not tell."""
        return self._of("undecided")

    @property
    def doubtful(self) -> tuple[Row, ...]:
        """The undecided rows but those of equations whose sides agree to `AGREED` bits."""
        return tuple(row for row in self.undecided if not row.agrees)

    @property
    def holds(self) -> bool:
        """Whether the relation holds in every row in which it says something, and there is one."""
        return bool(self._of("holds")) and not self.broken and not self.undecided


def words_of(
    instance: Instance, definitions: Mapping[str, Expression] | None = None, vectors: Iterable[str] = ()
) -> Vocabulary:
    """The names that a sentence on this instance may use: states, taps and parameters of its program, its vectors.

    Args:
        instance: which.
        definitions: names that stand for expressions.
        vectors: free vectors beside those of the instance.
    """
    program = instance.program
    return Vocabulary(
        states={} if program is None else {s.name: s.kind for s in program.state},
        taps={} if program is None else dict(program.taps),
        vectors=tuple(dict.fromkeys((*instance.vectors, *vectors))),
        definitions=definitions or {},
        numbers=() if program is None else program.parameters,
    )


@dataclass(frozen=True)
class Bound:
    """A tree with its indices put in: a value, or a function of what states and taps turn out to be.

    Attributes:
        value: where it hangs on no outcome.
        function: of an outcome; None where there is a value.
        items: the states and taps that it needs.
    """

    value: Any = None
    function: Callable[[Outcome], Any] | None = None
    items: frozenset[Item] = frozenset()

    def at(self, outcome: Outcome) -> Any:
        """The value in an outcome."""
        return self.value if self.function is None else self.function(outcome)


class World(Still):
    """An instance and its exact play, as `theory.sentence.worlds.evaluate` wants it.

    Args:
        instance: which.
        constants: as of `validate.instances.world.Still`.
        words: the names that sentences may use; `words_of` the instance by default.
        play: of the instance; a new one by default.
    """

    def __init__(
        self,
        instance: Instance,
        constants: Mapping[str, Given] | None = None,
        words: Vocabulary | None = None,
        play: Play | None = None,
    ) -> None:
        super().__init__(instance, constants, words or words_of(instance))
        self.play = play if play is not None or instance.program is None else Play(instance)
        self._expected: dict[Any, Any] = {}
        self._laws: dict[Any, tuple[Expression, Any]] = {}
        self._weights: dict[Any, tuple[Apply, Bound]] = {}
        self._by_round: bool | None = None

    # states and taps

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """A state, where it is not random: at the start."""
        return self._bound_value(name, indices, at).at({})

    def _bound_value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Bound:
        if self.play is None:
            raise SentenceError(f"{name}[...]: there is no run")
        state = name in self.words.states
        kind = self.words.states[name] if state else self.words.taps[name][0]
        own = {k: v for k, v in at.items() if k in ("n", "i")}
        if state and kind in STACKS:
            own["j"] = indices[1]
            indices = indices[:1]
        if state and indices == (0,):
            place = [s.name for s in self.play.program.state].index(name)
            return Bound(_part(name, kind, self.play.start[place], own))
        item = (name, indices)
        return Bound(None, lambda outcome: _part(name, kind, outcome[item], own), frozenset({item}))

    def turns(self, tap: str, k: int, outer: tuple[int, ...] = ()) -> int:
        """How many turns the loop around a tap has."""
        if self.play is None:
            raise SentenceError(f"{tap}[...]: there is no run")
        return self.play.turns(tap, k, outer)

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """The values of an index that is bound; of h and j the turns of the loops around the tap."""
        if index not in TURNS:
            return super().over(index, e, at)
        own = self._turning(e, index)
        if not own:
            return range(self.remembers(e, index))
        counts = set()
        for tap, place in own:
            k = index_value(tap.indices[0], self, at, self.words)
            outer = tuple(index_value(i, self, at, self.words) for i in tap.indices[1:place])
            counts.add(self.turns(tap.name, k, outer))
        if len(counts) > 1:
            raise SentenceError(f"what is summed over {index} has taps of loops with different numbers of turns")
        return range(counts.pop())

    def _turning(self, e: Expression, index: str) -> list[tuple[At, int]]:
        """The taps in a tree that have an index, and at which of their places."""

        def found() -> list[tuple[At, int]]:
            taps = [t for t in everything_meant(e, self.words) if isinstance(t, At) and t.name in self.words.taps]
            places = [[p for p, i in enumerate(t.indices) if Name(index) in everything(i)] for t in taps]
            return [(t, own[0]) for t, own in zip(taps, places, strict=True) if own]

        return self.words.kept.about(e, ("turning", index), found)

    # expectation

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """E of a tree: the sum over all outcomes, each piece of a sum over those of the rounds that it needs."""
        key = (id(e), tuple(sorted(at.items())), self.choice)
        if key not in self._expected:
            self._expected[key] = (e, self._expectation(e, at))  # e is kept, so that its id stays its own
        return self._expected[key][1]

    def _expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        vector = read(e, self.words).shape == "vector"
        plus = self.vector_functions["+"] if vector else self.scalar_functions["+"]
        total: Any = None

        def add(value: Any) -> None:
            nonlocal total
            total = value if total is None else plus(total, value)

        groups: dict[frozenset[Item], list[Bound]] = {}
        for piece in self._pieces(e, at):
            if piece.function is None:
                add(piece.value)
            else:
                groups.setdefault(piece.items, []).append(piece)
        for items, pieces in groups.items():
            assert self.play is not None
            for p, outcome in self.play.joint(items):
                for piece in pieces:
                    value = piece.at(outcome)
                    add(tuple([p * x for x in value]) if vector else p * value)
        return total

    def _pieces(self, e: Expression, at: Mapping[str, int]) -> Iterator[Bound]:
        """Trees whose sum is the tree: each needs fewer rounds, where one alone would need many."""
        whole = self.bind(e, at)
        if len({indices[0] for _, indices in whole.items}) < 2:
            yield whole
            return
        if isinstance(e, Name):
            yield from self._pieces(self.words.definitions[e.name], at)
            return
        assert isinstance(e, Apply)
        arguments: tuple[Expression, ...] = e.arguments
        if e.operation in ("+", "-", "neg"):
            yield from self._pieces(arguments[0], at) if e.operation != "neg" else self._scaled(e, arguments[0], at)
            if e.operation == "+":
                yield from self._pieces(arguments[1], at)
            elif e.operation == "-":
                yield from self._scaled(Apply("neg", (arguments[1],)), arguments[1], at)  # type: ignore[arg-type]
            return
        how, index = OVER.get(e.operation, ("", ""))
        if how in ("sum", "mean"):
            values = list(self.over(index, arguments[0], at))
            for value in values:
                for piece in self._pieces(arguments[0], {**at, index: value}):
                    yield piece if how == "sum" else self._divided(piece, len(values), arguments[0])
            return
        if e.operation in ("*", "/", "dot"):
            random = [self.bind(a, at).function is not None for a in arguments]
            if random == [True, False] or (random == [False, True] and e.operation != "/"):
                yield from self._scaled(e, arguments[random.index(True)], at)
                return
        yield whole

    def _scaled(self, e: Apply, inner: Expression, at: Mapping[str, int]) -> Iterator[Bound]:
        """The pieces of a tree that is linear in one of its arguments."""
        arguments: tuple[Expression, ...] = e.arguments
        place = next(i for i, a in enumerate(arguments) if a is inner)
        others = [None if i == place else self.bind(a, at).value for i, a in enumerate(arguments)]
        apply = self._operation(e)
        for piece in self._pieces(inner, at):
            if piece.function is None:
                yield Bound(apply(*[piece.value if i == place else o for i, o in enumerate(others)]))
                continue
            function = piece.function

            def scaled(outcome: Outcome, function: Callable[[Outcome], Any] = function) -> Any:
                return apply(*[function(outcome) if i == place else o for i, o in enumerate(others)])

            yield Bound(None, scaled, piece.items)

    def _divided(self, piece: Bound, count: int, e: Expression) -> Bound:
        divide = (self.vector_functions if read(e, self.words).shape == "vector" else self.scalar_functions)["/"]
        number = self.constant(Fraction(count))
        function = piece.function
        if function is None:
            return Bound(divide(piece.value, number))
        return Bound(None, lambda outcome: divide(function(outcome), number), piece.items)

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """The least number that a tree exceeds with probability at most 1 - q: one of its values in the outcomes."""
        free = read(e, self.words).free
        key = (id(e), tuple([(name, value) for name, value in sorted(at.items()) if name in free]), self.choice)
        if key not in self._laws:  # of the largest over a run there is one, asked for at every index of the sentence
            self._laws[key] = (e, self._law(e, at))  # e is kept, so that its id stays its own
        law = self._laws[key][1]
        return quantile(law, q) if isinstance(law, list) else law

    def _law(self, e: Expression, at: Mapping[str, int]) -> Any:
        """A tree's values in the outcomes with their chances; its value, where it hangs on none."""
        whole = self.bind(e, at)
        if whole.function is None:
            return whole.value
        assert self.play is not None
        return [(whole.at(outcome), p) for p, outcome in self.play.joint(whole.items)]

    # trees with their indices put in

    def _operation(self, e: Apply) -> Callable[..., Any]:
        """What an operation on arguments does, on values."""
        op = e.operation
        vectors = [read(a, self.words).shape == "vector" for a in e.arguments]
        if not any(vectors):
            return self.scalar_functions[op]
        function = self.vector_functions[op]
        return (lambda c, v: function(v, c)) if op == "*" and vectors[1] else function

    def bind(self, e: Expression, at: Mapping[str, int]) -> Bound:
        """A tree as a function of the outcome, with all that hangs on none worked out."""
        if not read(e, self.words).random:
            return Bound(evaluate(e, self, at, self.words))
        if isinstance(e, Name):
            return self.bind(self.words.definitions[e.name], at)
        if isinstance(e, At):
            return self._bound_value(e.name, tuple(index_value(i, self, at, self.words) for i in e.indices), at)
        assert isinstance(e, Apply)
        arguments: tuple[Expression, ...] = e.arguments
        if e.operation == "quantile":
            return Bound(evaluate(e, self, at, self.words))
        if e.operation in ALL_CLIENTS:
            return self._of_all_clients(e, at)
        if e.operation in OVER:
            how, index = OVER[e.operation]
            inner = arguments[0]
            if how == "first":
                return self.bind(inner, {**at, index: 0})
            parts = [self.bind(inner, {**at, index: value}) for value in self.over(index, inner, at)]
            return self._together(parts, self._fold(how, read(inner, self.words).shape == "vector"))
        parts = [self.bind(a, at) for a in arguments]
        function = e.operation.removeprefix("grad ")
        if function in ("f", "f_n", "f_ni"):
            own = dict(at)
            if e.operation == function:
                return self._together(parts, lambda v: self.function(function, v, own))
            return self._together(parts, lambda v: self.gradient(function, v, own))
        return self._together(parts, self._operation(e))

    def _of_all_clients(self, e: Apply, at: Mapping[str, int]) -> Bound:
        """Weights on the simplex are found once in an outcome for all clients."""
        others = tuple(sorted((index, value) for index, value in at.items() if index != "n"))
        key = (id(e), others, self.choice)
        if key not in self._weights:
            clients = list(self.over("n", e, at))
            parts, N = [self.bind(a, {**at, "n": n}) for a in e.arguments for n in clients], len(clients)

            def found(*numbers: Any) -> Any:
                if e.operation == "argmin_n":
                    return self.least(numbers[:N], *numbers[N : N + 1])
                return simplex_weights(numbers[:N], numbers[N:])

            self._weights[key] = (e, self._together(parts, found))  # e is kept, so that its id stays its own
            function = self._weights[key][1].function
            if function is not None:
                self._weights[key] = (e, Bound(None, _remembering(function), self._weights[key][1].items))
        whole = self._weights[key][1]
        if e.operation == "argmin_n":
            return whole
        place, function = at["n"], whole.function
        if function is None:
            return Bound(whole.value[place])
        return Bound(None, lambda outcome: function(outcome)[place], whole.items)

    def _fold(self, how: str, vector: bool) -> Callable[..., Any]:
        functions = self.vector_functions if vector else self.scalar_functions
        if how in ("max", "min"):
            function = functions[how]
            return lambda *values: values[0] if len(values) == 1 else function(*values)
        plus, divide = functions["+"], functions["/"]

        def fold(*values: Any) -> Any:
            total = values[0]
            for value in values[1:]:
                total = plus(total, value)
            return divide(total, self.constant(Fraction(len(values)))) if how == "mean" else total

        return fold

    def _together(self, parts: list[Bound], apply: Callable[..., Any]) -> Bound:
        if all(part.function is None for part in parts):
            return Bound(apply(*[part.value for part in parts]))
        items = frozenset[Item]().union(*(part.items for part in parts))
        if len(parts) == 1:
            one = parts[0].function
            assert one is not None
            return Bound(None, lambda outcome: apply(one(outcome)), items)
        pairs = [(part.function, part.value) for part in parts]
        return Bound(None, lambda outcome: apply(*[v if f is None else f(outcome) for f, v in pairs]), items)

    # the run

    def in_run(self, e: Expression, at: Mapping[str, int]) -> bool:
        """Whether all indices of a tree lie in the run."""
        if self._always_in_run(e):
            return True
        K = self.instance.rounds
        if isinstance(e, Name):
            if e.name in self.words.definitions:
                return self.in_run(self.words.definitions[e.name], at)
            value = self.given.get(e.name, self.given.get(e.name.removesuffix("_k")))
            if isinstance(value, Schedule):
                return at["k" if e.name.endswith("_k") else "*k"] < min(K, len(value.values))
            return True
        if isinstance(e, At):
            indices = [index_value(i, self, at, self.words) for i in e.indices]
            if not 0 <= indices[0] <= K - (e.name not in self.words.states):
                return False
            if e.name in self.words.states and len(indices) > 1:
                lengths = zip(self.instance.program.state, self.instance.lengths, strict=True)  # type: ignore[union-attr]
                return any(s.name == e.name and indices[1] in range(length or 0) for s, length in lengths)
            if e.name in self.words.states or len(indices) == 1:
                return True
            return all(
                0 <= t < self.turns(e.name, indices[0], tuple(indices[1:p])) for p, t in enumerate(indices[1:], 1)
            )
        if isinstance(e, Number):
            return True
        arguments: tuple[Expression, ...] = e.arguments
        if e.operation not in OVER:
            within = {**at, "n": 0} if e.operation in ALL_CLIENTS else at
            return all(self.in_run(a, within) for a in arguments)
        index, inner = OVER[e.operation][1], arguments[0]
        if index in "ni":  # which client it is makes no difference to what lies in the run
            return self.in_run(inner, {**at, index: 0})
        if index == "k":
            return all(self.in_run(inner, {**at, "k": k}) for k in self.over("k", inner, at))
        try:
            turns = self.over(index, inner, at)
        except ValueError:  # the round itself is not in the run
            return False
        return all(self.in_run(inner, {**at, index: turn}) for turn in turns)

    def _always_in_run(self, e: Expression) -> bool:
        """Whether nothing in a tree could lie outside of the run: no state, no tap, no turn, no number of a round."""
        if self._by_round is None:
            self._by_round = any(isinstance(value, Schedule) for value in self.given.values())
        if self._by_round:
            return False

        def found() -> bool:
            return not any(
                isinstance(part, At) or (isinstance(part, Apply) and OVER.get(part.operation, ("", ""))[1] in TURNS)
                for part in everything_meant(e, self.words)
            )

        return self.words.kept.about(e, "always", found)


def quantile(law: list[tuple[Any, Any]], q: Any) -> Any:
    """The least of the values that is exceeded with probability at most 1 - q.

    Args:
        law: values with their probabilities, rational or balls. Of balls it is a ball around the quantile of the lower
            and of the upper ends, as it does not fall when a value rises.
        q: a probability.

    Raises:
        UndecidedError: where balls do not tell how much probability is left.
    """
    from flint import arb

    if not any(isinstance(value, arb) for value, _ in law):
        return _quantile(law, q)
    balls_ = [(arb(value), p) for value, p in law]
    lower, upper = (_quantile([(getattr(v, end)(), p) for v, p in balls_], q) for end in ("lower", "upper"))
    return lower.union(upper)


def _quantile(law: list[tuple[Any, Any]], q: Any) -> Any:
    """Of values that can be ordered."""
    so_far = q - q
    found = law[0][0]
    for found, p in sorted(law, key=lambda pair: _Ordered(pair[0])):
        so_far = so_far + p
        if so_far >= q:
            return found
        if not so_far < q:
            raise UndecidedError("whether the outcomes up to here have the probability of the quantile")
    return found


class _Ordered:
    """A number for `sorted`, which wants nothing but <."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Ordered) -> bool:
        return bool(self.value < other.value)


def _remembering(function: Callable[[Outcome], Any]) -> Callable[[Outcome], Any]:
    """The function, worked out once for an outcome that is asked for several times in a row."""
    last: list[Any] = [None, None]

    def remembered(outcome: Outcome) -> Any:
        if last[0] is not outcome:
            last[1] = function(outcome)
            last[0] = outcome
        return last[1]

    return remembered


def _part(name: str, kind: str, value: Any, at: Mapping[str, int]) -> Any:
    """A client's, or a sample's, part of a value."""
    if kind in ("client", "client past"):
        value = value[at["n"]]
    elif kind == "table":
        value = value[at["n"]][at["i"]]
    if kind in STACKS:
        value = value[at["j"]]
    if value is None:
        raise UndefinedError(f"{name} of client {at['n']} has no value in a turn in which the client is through")
    return value


# --- sentences -------------------------------------------------------------------------------------------------------


_COMPARED: Mapping[Relation, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "<=": (operator.le, operator.gt),
    "<": (operator.lt, operator.ge),
    ">=": (operator.ge, operator.lt),
    ">": (operator.gt, operator.le),
    "==": (operator.eq, operator.ne),
}
"""Each relation with its opposite; balls may deny both."""


def relation_holds(left: Element, relation: Relation, right: Element) -> bool:
    """Whether a relation holds between two numbers.

    Raises:
        UndecidedError: where they are balls that do not tell.
    """
    yes, no = _COMPARED[relation]
    if yes(left, right):
        return True
    if not no(left, right):
        raise UndecidedError(f"whether {left} {relation} {right}")
    return False


def _excess(left: Element, relation: Relation, right: Element) -> Element:
    """By how much a relation is missed, for choosing among outcomes."""
    gap = left - right if relation in ("<=", "<") else right - left
    return abs(gap) if relation == "==" else gap


def sides(
    sentence: Sentence,
    words: Vocabulary,
    instance: Instance,
    constants: Mapping[str, Given] | None = None,
    limit: int = LIMIT,
) -> Measured:
    """Both sides of a sentence for every value of its free indices.

    Args:
        sentence: what is to be measured.
        words: the names that it may use (`words_of` the instance).
        instance: on what; without a program for sentences about functions, vectors and numbers alone.
        constants: values of the names that are neither the algorithm's parameters nor the instance's: Fractions, tuples
            for one a client (``p_n`` under ``p`` or under ``p_n``), a `Schedule` for one a round.
        limit: on the outcomes of one round.

    Raises:
        TooManyOutcomesError: where there are more.
        SentenceError: where a name has no value, or an index is no integer.
    """
    measured = Measured(())
    for precision in PRECISIONS:
        if precision > MOST_PRECISE:
            break
        play = None if instance.program is None else Play(instance, limit, precision)
        with balls(precision):
            measured = _measured(sentence, World(instance, constants, words, play))
        if all(row.agrees for row in measured.undecided):
            break
    return measured


def _measured(sentence: Sentence, world: World) -> Measured:
    for side in (sentence.left, sentence.right):
        if read(side, world.words).shape != "scalar":
            raise SentenceError(
                f"{text_of(side)} is a vector: both sides are numbers; vectors are equal when norm2(u - v) <= 0"
            )
    named = {
        e.name
        for side in (sentence.left, sentence.right)
        for e in everything_meant(side, world.words)
        if isinstance(e, Name)
    }
    try:
        if "fstar" in named:
            world.parameter("fstar", {})
        choices, unique = _minimisers(world, named)
    except UndefinedError as error:  # no minimiser, unbounded below, or an infimum that is not known
        return Measured((), str(error))
    free = read(sentence.left, world.words).free | read(sentence.right, world.words).free
    hidden = {world.many(name) for name in named} - {""}
    found: list[Row] = []
    for choice in range(choices):
        world.choice = choice
        for at in indices_of(sentence, world, free | hidden):
            found.append(_row(sentence, world, at, choice))
    if not found:
        return Measured((), "no round and no turn of this run is one of which the sentence speaks")
    return Measured(tuple(found), "", unique)


def _minimisers(world: World, named: set[str]) -> tuple[int, bool]:
    """How many choices of minimisers there are to look at, and whether these are all."""
    sets = []
    if "xstar" in named:
        sets.append(world.minimisers())
    if "xstar_n" in named:
        sets += [world.minimisers(n) for n in range(world.problem.clients)]
    return max((len(s.points) for s in sets), default=1), all(s.unique for s in sets)


def indices_of(sentence: Sentence, world: World, free: frozenset[str]) -> Iterator[dict[str, int]]:
    """The values of the free indices for which all indices of the sentence lie in the run."""
    turns, words = 0, world.words
    if free & set(TURNS):
        taps = {
            e.name
            for side in (sentence.left, sentence.right)
            for e in everything_meant(side, world.words)
            if isinstance(e, At)
        }
        turns = max((_most_turns(world, tap) for tap in taps & set(world.words.taps)), default=0)
        both = applied("+", (sentence.left, sentence.right))
        lags = [world.remembers(both, i) for i in free & set(TURNS) if any(remembered(both, i, words))]
        turns = max(turns, *lags, 0)
    K = few_terms(world.instance.rounds) if free & {"k", "*k"} else world.instance.rounds
    ranges: dict[str, Iterable[int]] = {"k": range(K + 1), "*k": range(K), "h": range(turns), "j": range(turns)}
    clients = [name for name in ("n", "*n") if name in free]
    if clients or "i" in free:
        ranges |= {
            name: list(world.over("n", sentence.left, {})) for name in (*clients, *(["n"] if "i" in free else []))
        }
    names = [name for name in (*HIDDEN, *INDICES) if name in free or (name == "n" and "i" in free)]
    plain = [name for name in names if name != "i"]
    for values in product(*(ranges[name] for name in plain)):
        at = dict(zip(plain, values, strict=True))
        if not (
            world.in_run(sentence.left, {"n": 0, "i": 0, **at}) and world.in_run(sentence.right, {"n": 0, "i": 0, **at})
        ):
            continue
        if "i" not in free:
            yield at
            continue
        for i in range(world.problem.samples(at["n"])):
            yield {**at, "i": i}


def _most_turns(world: World, tap: str) -> int:
    """The largest number of turns of any loop around a tap, in any round."""
    loops = world.words.taps[tap][1]
    most = 0
    for k in range(world.instance.rounds):
        outers: list[tuple[int, ...]] = [()]
        for _ in range(loops):
            counts = [(outer, world.turns(tap, k, outer)) for outer in outers]
            most = max(most, *(count for _, count in counts))
            outers = [(*outer, t) for outer, count in counts for t in range(count)]
    return most


def _alike(left: Element, right: Element) -> bool:
    """Whether two sides of an equation with roots agree to so many bits; that they are equal balls never tell."""
    size = max(abs(float(left)), abs(float(right)))
    return size > 0 and bool(abs(left - right) <= to_element(Fraction(size) / 2**AGREED))


def _row(sentence: Sentence, world: World, at: Mapping[str, int], choice: int) -> Row:
    try:
        return _sides(sentence, world, at, choice)
    except UndefinedError as error:
        return Row(at, None, None, "undefined", minimiser=choice, why=str(error))
    except UndecidedError as error:
        return Row(at, None, None, "undecided", minimiser=choice, why=str(error))


def _sides(sentence: Sentence, world: World, at: Mapping[str, int], choice: int) -> Row:
    left, right, relation = world.bind(sentence.left, at), world.bind(sentence.right, at), sentence.relation
    items = left.items | right.items
    if not items:
        outcomes: list[tuple[Any, Outcome]] = [(None, {})]
    else:
        assert world.play is not None
        outcomes = list(world.play.joint(items))
    worst: Row | None = None
    most, excess = -1, None
    for p, outcome in outcomes:
        a, b, why = left.at(outcome), right.at(outcome), ""
        try:
            status: Status = "holds" if relation_holds(a, relation, b) else "broken"
        except UndecidedError as error:
            status, why = "undecided", str(error)
        bad, gap = ("holds", "undecided", "broken").index(status), _excess(a, relation, b)
        if bad > most or (bad == most and gap > excess):
            shown = None if p is None else to_fraction(p)
            alike = status == "undecided" and relation == "==" and _alike(a, b)
            worst, most, excess = Row(at, to_fraction(a), to_fraction(b), status, shown, choice, why, alike), bad, gap
    assert worst is not None
    return worst
