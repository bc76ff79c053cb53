"""Exact play: what an algorithm does on an instance, every outcome of its draws with its probability.

A program (`theory.program`) is compiled once for an instance; then a round is played from each state that the rounds
before can leave, and equal states are merged. Numbers are rationals, and Arb balls (enclosures, rounded outwards) after
a root that is irrational. What is played is the whole law, so costs grow with the number of outcomes of a round; a draw
that nobody reads (the samples of clients that were not chosen) is not drawn.

``w.noise(sigma2)`` stands for every law with that mean and second moment. Play takes one of them: a coordinate
uniformly at random, and along it one of two values of opposite sign, a with probability b/(a + b) and -b with
probability a/(a + b), a*b = sigma2; a = b where the root of sigma2 is rational, else a is a fraction near to it. So
play shows that a claim is wrong for one law, and never that it is right for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from theory.arithmetic import balls, to_element
from theory.formula import Name, names_in, text_of
from theory.operations import to_fraction
from theory.program import VALUE, Program, loops_around
from theory.sentence import Expression, Vocabulary, evaluate, everything, parse_expression, read
from validate.instances.domains import check
from validate.instances.instance import PRECISION, Instance
from validate.instances.problems import Problem, Vector
from validate.instances.scalars import Schedule
from validate.instances.world import Still
from validate.primitives import LONGEST
from validate.rounds import Outcome, Round, State, too_many

Item: TypeAlias = "tuple[str, tuple[int, ...]]"
"""A state or a tap at its indices, the round first."""

LIMIT, ENCLOSED = 200_000, 2000
KEPT = 50_000
"""Outcomes of joint laws that are kept."""


class Play:
    """The exact law of a run.

    A state is a tuple with a value for each state variable: a vector (a tuple of d numbers) of the server, N of them,
    for a table a tuple of vectors for each client, for remembered vectors J of them (of the clients, N times J). `law`
    and `joint` give numbers of FLINT (fmpq and arb), in which it is computed; `distribution` and `rounds` Fractions in
    the place of fmpq.

    Args:
        instance: with a program.
        limit: on the outcomes of one round, over all states in which it begins.
        precision: bits of the balls.
        longest: bits that a number of a state may have.
        enclosed: whether numbers that have more than `ENCLOSED` bits after a round go on as balls around them.

    Raises:
        ValueError: where there is no program, or the start of a state variable is no vector.
    """

    def __init__(
        self,
        instance: Instance,
        limit: int = LIMIT,
        precision: int = PRECISION,
        longest: int = LONGEST,
        enclosed: bool = False,
    ) -> None:
        if instance.program is None or instance.problem is None:
            raise ValueError("the instance has no program that could be played")
        if limit < 1:
            raise ValueError(f"limit={limit} is outside the integers in [1, inf)")
        self.instance = instance
        self.program: Program = instance.program
        self.problem: Problem = instance.problem
        self.limit = limit
        self.precision = precision
        self.longest = longest
        self.enclosed = ENCLOSED if enclosed else 0
        self._rounds: dict[frozenset[str], Round] = {}
        self._turns: dict[tuple[str, int, tuple[int, ...]], int] = {}
        self._laws: list[list[tuple[Any, State]]] = []
        self._tapped: dict[tuple[int, int, frozenset[str]], tuple[State, list[Outcome]]] = {}
        self._joint: dict[frozenset[Item], list[tuple[Any, dict[Item, Any]]]] = {}
        self._kept = 0

    @cached_property
    def start(self) -> State:
        """The state before the first round."""
        with balls(self.precision):
            return _start(self.instance)

    def law(self, k: int) -> list[tuple[Any, State]]:
        """The states that k rounds can leave, each once, with their probabilities.

        Raises:
            TooManyOutcomesError: saying how many.
            UndefinedError: where the program divides by 0, or takes the root of a negative number.
            UndecidedError: where the program compares balls that overlap.
            ValueError: where an argument leaves its domain on the way.
        """
        if not 0 <= k <= self.instance.rounds:
            raise ValueError(f"k={k} is outside the integers in [0, K={self.instance.rounds}]")
        if not self._laws:
            self._laws.append([(to_element(Fraction(1)), self.start)])
        while len(self._laws) <= k:
            last = len(self._laws) - 1
            found = _Merged()
            for p, outcomes in self._played(self._laws[last], last, ()):
                for outcome in outcomes:
                    found.add(p * outcome.probability, outcome.state)
            self._laws.append(found.law())
            if self._alike and _key(tuple(self._laws[last])) == _key(tuple(self._laws[-1])):  # so it stays
                self._laws += [self._laws[last]] * (self.instance.rounds - last - 1)
                self._laws[last + 1] = self._laws[last]
        return self._laws[k]

    @cached_property
    def _alike(self) -> bool:
        """Whether every round does the same: none of its numbers is that of a round."""
        if any(isinstance(value, Schedule) for value in self.instance.parameters.values()):
            return False
        return not self.program.counts_rounds

    def outcomes(self, state: State, k: int, taps: Sequence[str] = ()) -> list[Outcome]:
        """All outcomes of round k from a state, not merged. Errors as of `law`."""
        return next(self._played([(to_element(Fraction(1)), state)], k, taps))[1]

    def _played(
        self, law: Sequence[tuple[Any, State]], k: int, taps: Sequence[str]
    ) -> Iterator[tuple[Any, list[Outcome]]]:
        """The outcomes of round k from each of the states."""
        wanted = frozenset(taps)
        if wanted not in self._rounds:
            self._rounds[wanted] = Round(self.program, self.instance, wanted)
        one = self._rounds[wanted]
        count = 0
        for p, state in law:
            key = id(state), k, wanted  # what is kept holds the state, so no other has its id
            if key in self._tapped:
                outcomes = self._tapped[key][1]
                if len(outcomes) > self.limit - count:
                    raise too_many(k, self.limit, count + len(outcomes))
            else:
                with balls(self.precision):
                    outcomes = one.play(state, k, self.limit - count, self.limit, self.longest, self.enclosed)
                if wanted:  # a sentence asks for the taps of a round once for every turn
                    self._tapped[key] = state, outcomes
            count += len(outcomes)
            yield p, outcomes

    def joint(self, items: frozenset[Item]) -> list[tuple[Any, dict[Item, Any]]]:
        """The joint law of states and taps, of any rounds; not merged after the last one. Errors as of `law`.

        Args:
            items: each a name and its indices: ``("x", (k,))``, ``("y", (k, h))``.
        """
        if items in self._joint:
            return self._joint[items]
        law = self._law_of(items)
        self._kept += len(law)
        if self._kept <= KEPT:  # several parts of a sentence, and of others on the same instance, ask for the same
            self._joint[items] = law
        return law

    def _law_of(self, items: frozenset[Item]) -> list[tuple[Any, dict[Item, Any]]]:
        states = {s.name: i for i, s in enumerate(self.program.state)}
        for name, indices in items:
            if not 0 <= indices[0] <= self.instance.rounds - (name not in states):
                raise ValueError(f"{name}[{indices[0]}] is not in a run of K={self.instance.rounds} rounds")
        if not self.program.random:
            return [(to_element(Fraction(1)), {item: self._certain(item) for item in items})]
        first = min((indices[0] for _, indices in items), default=0)
        at: dict[int, list[Item]] = {}
        for item in sorted(items):
            at.setdefault(item[1][0], []).append(item)
        end = max(at, default=0)
        law: list[tuple[Any, State, tuple[tuple[Item, Any], ...]]] = [(p, s, ()) for p, s in self.law(first)]
        for k in range(first, end + 1):
            own = [item for item in at.get(k, []) if item[0] in states]
            law = [(p, s, (*kept, *((item, s[states[item[0]]]) for item in own))) for p, s, kept in law] if own else law
            tapped = [item for item in at.get(k, []) if item[0] not in states]
            if k == end and not tapped:
                break
            law = self._onward(law, k, tapped, k == end)
        return [(p, dict(kept)) for p, _, kept in law]

    def _certain(self, item: Item) -> Any:
        """A state or a tap of a program that draws nothing."""
        name, (k, *_) = item
        ((_, state),) = self.law(k)
        place = next((i for i, s in enumerate(self.program.state) if s.name == name), None)
        if place is not None:
            return state[place]
        (outcome,) = self.outcomes(state, k, (name,))
        return _tapped(outcome, item)

    def _onward(
        self, law: list[tuple[Any, State, tuple[tuple[Item, Any], ...]]], k: int, tapped: list[Item], last: bool
    ) -> list[tuple[Any, State, tuple[tuple[Item, Any], ...]]]:
        """A round further, with what was kept so far and what is tapped now."""
        groups: dict[int, tuple[State, list[tuple[Any, tuple[tuple[Item, Any], ...]]]]] = {}
        for p, state, kept in law:  # states are one object where they are equal
            groups.setdefault(id(state), (state, []))[1].append((p, kept))
        merged = _Merged()
        found: list[tuple[Any, State, tuple[tuple[Item, Any], ...]]] = []
        one = to_element(Fraction(1))
        taps = sorted({name for name, _ in tapped})
        played = self._played([(one, state) for state, _ in groups.values()], k, taps)
        states = _Merged()
        for (_, pasts), (_, outcomes) in zip(groups.values(), played, strict=True):
            if len(found) + len(outcomes) * len(pasts) > self.limit:
                raise too_many(k, self.limit, len(found) + len(outcomes) * len(pasts))
            for outcome in outcomes:
                news = tuple((item, _tapped(outcome, item)) for item in tapped)
                for p, kept in pasts:
                    entry = (p * outcome.probability, outcome.state, (*kept, *news))
                    found.append(entry)
        if last:
            return found
        for p, state, kept in found:
            merged.add(p, (states.same(state), kept))
        return [(p, state, kept) for p, (state, kept) in merged.law()]

    def turns(self, tap: str, k: int, outer: tuple[int, ...] = ()) -> int:
        """How many turns the loop around a tap has in round k, in the given turns of the loops outside of it.

        Raises:
            ValueError: for what is no tap, or has no such loop, or where the number hangs on a draw.
        """
        key = (tap, k, outer)
        if key not in self._turns:
            self._turns[key] = self._count(tap, k, outer)
        return self._turns[key]

    def _count(self, tap: str, k: int, outer: tuple[int, ...]) -> int:
        loops = loops_around(self.program.body, tap)
        if loops is None or len(outer) >= len(loops):
            raise ValueError(f"{tap} is no tap inside {len(outer) + 1} loops")
        loop = loops[len(outer)]
        if loop.op == "visit":
            return self.problem.clients
        if loop.op == "pass":
            return max(map(self.problem.samples, range(self.problem.clients)))
        assert loop.count is not None
        if any(VALUE.match(name) for name in names_in(loop.count)):
            raise ValueError(f"how many turns {tap} has hangs on a draw")
        with balls(self.precision):
            scalars = self.instance.scalars()
            scalars.k = k
            slots = {around.index: i for i, around in enumerate(loops[: len(outer)])}
            compiled = scalars.compiled(loop.count, slots)
            value = compiled.value(outer)
            check(loop, 0, text_of(loop.count), value, compiled.per_client, self.problem)
            return int(value)

    def distribution(self, k: int) -> list[tuple[Any, State]]:
        """`law` with Fractions in the place of FLINT's rationals."""
        return [(to_fraction(p), _out(state)) for p, state in self.law(k)]

    def rounds(self, k: int) -> list[tuple[Any, State, Mapping[Any, Any], State]]:
        """Round k in 0..K-1: probability, state before, taps, state after, of every outcome, with Fractions."""
        if not 0 <= k < self.instance.rounds:
            raise ValueError(f"k={k} is outside the integers in [0, K={self.instance.rounds})")
        law = self.law(k)
        return [
            (to_fraction(p * o.probability), _out(state), {key: _out(v) for key, v in o.taps.items()}, _out(o.state))
            for (_, state), (p, outcomes) in zip(law, self._played(law, k, tuple(self.program.taps)), strict=True)
            for o in outcomes
        ]


def _tapped(outcome: Outcome, item: Item) -> Any:
    name, indices = item
    if (name, indices[1:]) not in outcome.taps:
        raise ValueError(f"{name}[{', '.join(map(str, indices))}] is not there: its loop has fewer turns")
    return outcome.taps[name, indices[1:]]


def _out(value: Any) -> Any:
    return tuple(map(_out, value)) if isinstance(value, tuple) else to_fraction(value)


# --- equal states ----------------------------------------------------------------------------------------------------


def _key(value: Any) -> Any:
    """Something to look a nest of numbers up by: equal for equal numbers; for balls, alike only if they are."""
    from flint import arb, fmpq

    def key(value: Any) -> Any:
        kind = type(value)
        if kind is tuple:  # of many zeros, where functions are not known
            return tuple([((v.p, v.q) if v else 0) if type(v) is fmpq else key(v) for v in value])
        if kind is fmpq:
            return (value.p, value.q) if value else 0
        if kind is arb:
            return value.mid().man_exp(), value.rad().man_exp()
        return value

    return key(value)


class _Merged:
    """States with their probabilities, equal ones once."""

    def __init__(self) -> None:
        self._found: dict[Any, list[Any]] = {}

    def add(self, p: Any, state: Any) -> None:
        entry = self._found.setdefault(_key(state), [None, state])
        entry[0] = p if entry[0] is None else entry[0] + p

    def same(self, state: Any) -> Any:
        """The first state that is equal to this one."""
        return self._found.setdefault(_key(state), [None, state])[1]

    def law(self) -> list[tuple[Any, Any]]:
        return [(p, state) for p, state in self._found.values()]


# --- the start -------------------------------------------------------------------------------------------------------


def _start(instance: Instance) -> State:
    """The state that the decorator speaks of."""
    from flint import fmpq

    assert instance.program is not None
    assert instance.problem is not None
    world, problem = Still(instance), instance.problem
    N, d = problem.clients, problem.dim
    found: list[Any] = []
    for s, length in zip(instance.program.state, instance.lengths, strict=True):
        e, words = parse_expression(s.initial), Vocabulary()
        if read(e, words).free - {"client": {"n"}, "client past": {"n"}, "table": {"n", "i"}}.get(s.kind, set()):
            raise ValueError(f"{s.name} begins at {s.text}, which speaks of clients, or of samples, that are not there")
        named = {part.name for part in everything(e) if isinstance(part, Name)}
        points: list[tuple[int, ...]] = [()] if "xstar" in named else []
        points += [(n,) for n in range(N)] if "xstar_n" in named else []
        if any(not world.minimisers(*point).unique for point in points):
            raise ValueError(f"{s.name} begins at {s.text}, and there is more than one minimiser")

        def value(at: Mapping[str, int], e: Expression = e, words: Vocabulary = words, s: Any = s) -> Vector:
            if read(e, words).shape == "vector":
                return evaluate(e, world, at, words)
            if evaluate(e, world, at, words) != 0:
                raise ValueError(f"{s.name} begins at {s.text}, which is a number and no vector")
            return (fmpq(0),) * d

        if s.kind == "server":
            found.append(value({}))
        elif s.kind == "client":
            found.append(tuple([value({"n": n}) for n in range(N)]))
        elif s.kind == "table":
            found.append(tuple([tuple([value({"n": n, "i": i}) for i in range(problem.samples(n))]) for n in range(N)]))
        elif s.kind == "past":
            found.append((value({}),) * (length or 0))
        else:
            found.append(tuple([(value({"n": n}),) * (length or 0) for n in range(N)]))
    return tuple(found)
