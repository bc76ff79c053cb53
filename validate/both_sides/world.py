"""An instance and its exact play as a sentence sees it: trees become values in every outcome, and expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from theory.formula import Apply, Name, UndefinedError
from theory.program import STACKS, work
from theory.program.findings import Findings
from theory.sentence import (
    ALL_CLIENTS,
    FUNCTION_NAMES,
    OVER,
    TURNS,
    At,
    Expression,
    SentenceError,
    Vocabulary,
    evaluate,
    everything,
    everything_meant,
    index_value,
    read,
    simplex_weights,
)
from validate.both_sides.outcomes import OfOutcome, quantile, remembering, together
from validate.both_sides.pieces import pieces
from validate.instances.instance import Instance
from validate.instances.scalars import Given, Schedule
from validate.instances.world import Still
from validate.play import Item, Play


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


HIDDEN = ("*n", "*k")
"""Indices that a sentence leaves out where it says ``p``, of which each client, or each round, has its own."""


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
        self._play = play if play is not None or instance.program is None else Play(instance)
        self._found = Findings()

    @property
    def play(self) -> Play:
        """The exact play.

        Raises:
            SentenceError: where there is none.
        """
        if self._play is None:
            raise SentenceError("the sentence speaks of a run, and there is no run")
        return self._play

    @cached_property
    def by_round(self) -> bool:
        """Whether a number has a value for each round."""
        return any(isinstance(value, Schedule) for value in self.given.values())

    # states and taps

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """A state, where it is not random: at the start."""
        return self._state_or_tap(name, indices, at).at({})

    def _state_or_tap(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> OfOutcome:
        play, state = self.play, name in self.words.states
        kind = self.words.states[name] if state else self.words.taps[name][0]
        own = {k: v for k, v in at.items() if k in ("n", "i")}
        if state and kind in STACKS:
            own["j"] = indices[1]
            indices = indices[:1]
        if state and indices == (0,):
            place = [s.name for s in play.program.state].index(name)
            return OfOutcome(_part(name, kind, play.start[place], own))
        item = (name, indices)
        return OfOutcome(None, lambda outcome: _part(name, kind, outcome[item], own), frozenset({item}))

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
            counts.add(self.play.turns(tap.name, k, outer))
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

    # what hangs on all outcomes

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """E of a tree: the sum over all outcomes, each piece of a sum over those of the rounds that it needs."""
        key = ("E", tuple(sorted(at.items())), self.choice)
        return self._found.about(e, key, lambda: self._expectation(e, at))

    def _expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        vector = read(e, self.words).shape == "vector"
        plus = self.vector_functions["+"] if vector else self.scalar_functions["+"]
        total: Any = None

        def add(value: Any) -> None:
            nonlocal total
            total = value if total is None else plus(total, value)

        groups: dict[frozenset[Item], list[OfOutcome]] = {}
        for piece in pieces(self, e, at):
            if piece.function is None:
                add(piece.value)
            else:
                groups.setdefault(piece.items, []).append(piece)
        for items, group in groups.items():
            for p, outcome in self.play.joint(items):
                for piece in group:
                    value = piece.at(outcome)
                    add(tuple([p * x for x in value]) if vector else p * value)
        return total

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """The least number that a tree exceeds with probability at most 1 - q: one of its values in the outcomes."""
        if q <= 0 or q > 1:  # every number, or none, is such
            raise UndefinedError("a quantile whose level is not in (0, 1]")
        free = read(e, self.words).free
        # of the largest over a run there is one law, asked for at every index of the sentence
        key = ("law", tuple([(name, value) for name, value in sorted(at.items()) if name in free]), self.choice)
        law = self._found.about(e, key, lambda: self._law(e, at))
        return quantile(law, q) if isinstance(law, list) else law

    def _law(self, e: Expression, at: Mapping[str, int]) -> Any:
        """A tree's values in the outcomes with their chances; its value, where it hangs on none."""
        whole = self.bind(e, at)
        if whole.function is None:
            return whole.value
        return [(whole.at(outcome), p) for p, outcome in self.play.joint(whole.items)]

    def side(self, e: Expression, at: Mapping[str, int]) -> OfOutcome:
        """A side as a function of the outcome; worked out once for all values of an index that is not in it.

        That is counted as work all the same, as if it were worked out again.
        """
        reading = read(e, self.words)
        own = [index for index in at if index in reading.free or index in HIDDEN]
        if reading.random or len(own) == len(at):
            return self.bind(e, at)

        def found() -> tuple[OfOutcome, int]:
            before = work.operations()
            return self.bind(e, at), work.operations() - before

        before = work.operations()
        bound, taken = self._found.about(e, ("side", self.choice, *[(index, at[index]) for index in own]), found)
        work.count(taken - (work.operations() - before))
        return bound

    # trees with their indices put in

    def operation(self, e: Apply) -> Callable[..., Any]:
        """What an operation on arguments does, on values."""
        op = e.operation
        vectors = [read(a, self.words).shape == "vector" for a in e.arguments]
        if not any(vectors):
            return self.scalar_functions[op]
        function = self.vector_functions[op]
        return (lambda c, v: function(v, c)) if op == "*" and vectors[1] else function

    def bind(self, e: Expression, at: Mapping[str, int]) -> OfOutcome:
        """A tree as a function of the outcome, with all that hangs on none worked out."""
        if not read(e, self.words).random:
            return OfOutcome(evaluate(e, self, at, self.words))
        if isinstance(e, Name):
            return self.bind(self.words.definitions[e.name], at)
        if isinstance(e, At):
            return self._state_or_tap(e.name, tuple(index_value(i, self, at, self.words) for i in e.indices), at)
        assert isinstance(e, Apply)
        arguments: tuple[Expression, ...] = e.arguments
        if e.operation == "quantile":
            return OfOutcome(evaluate(e, self, at, self.words))
        if e.operation in ALL_CLIENTS:
            return self._of_all_clients(e, at)
        if e.operation in OVER:
            how, index = OVER[e.operation]
            inner = arguments[0]
            if how == "first":
                return self.bind(inner, {**at, index: 0})
            over = [self.bind(inner, {**at, index: value}) for value in self.over(index, inner, at)]
            return together(over, self._fold(how, read(inner, self.words).shape == "vector"))
        parts = [self.bind(a, at) for a in arguments]
        function = e.operation.removeprefix("grad ")
        if function in FUNCTION_NAMES:
            own, of = dict(at), self.function if e.operation == function else self.gradient
            return together(parts, lambda v: of(function, v, own))
        return together(parts, self.operation(e))

    def _of_all_clients(self, e: Apply, at: Mapping[str, int]) -> OfOutcome:
        """Weights on the simplex are found once in an outcome for all clients."""

        def worked_out() -> OfOutcome:
            clients = list(self.over("n", e, at))
            parts, N = [self.bind(a, {**at, "n": n}) for a in e.arguments for n in clients], len(clients)

            def weights(*numbers: Any) -> Any:
                if e.operation == "argmin_n":
                    return self.least(numbers[:N], *numbers[N : N + 1])
                return simplex_weights(numbers[:N], numbers[N:])

            whole = together(parts, weights)
            return whole if whole.function is None else OfOutcome(None, remembering(whole.function), whole.items)

        others = tuple(sorted((index, value) for index, value in at.items() if index != "n"))
        whole = self._found.about(e, ("all clients", others, self.choice), worked_out)
        if e.operation == "argmin_n":
            return whole
        place, function = at["n"], whole.function
        if function is None:
            return OfOutcome(whole.value[place])
        return OfOutcome(None, lambda outcome: function(outcome)[place], whole.items)

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


def _part(name: str, kind: str, value: Any, at: Mapping[str, int]) -> Any:
    """A client's, or a sample's, part of a value."""
    if kind in ("client", "client past"):
        value = value[at["n"]]
    elif kind == "table":
        value = value[at["n"]][at["i"]]
    if kind in STACKS:
        value = value[at["j"]]
    if value is None:
        raise UndefinedError(f"{name} of client {at['n'] + 1} has no value in a turn in which the client is through")
    return value
