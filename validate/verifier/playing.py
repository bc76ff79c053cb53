"""Plays a program on a problem: every outcome of its draws with its probability.

A round is run again and again from the same state, each time with other draws, until all have been seen. States that
are equal after a round are merged.

``noise`` stands for every law with its mean and second moment. Here it is one of them: a coordinate uniformly at
random, and along it one of two values of opposite signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

from .arguments import CHECKED, MOST_TURNS, ONE_FOR_ALL, OutsideRun, check, nothing, whole
from .draws import Draws
from .parameters import Given, Schedule
from .quadratics import Problem
from .reading import FormatError, Uncheckable
from .running import Outcome, Run
from .scalars import ONE, OPERATIONS, ZERO, Number, Work
from .sentences import Node, names_in
from .steps import Loop, Program, Step
from .still import Item

MOST_OUTCOMES = 100_000  # of a round
MOST_KEPT = 20_000  # outcomes with taps: a sentence asks for the taps of a round one by one


@dataclass
class Game:
    """A program on a problem.

    Attributes:
        program, problem: which.
        parameters: by name.
        rounds: K.
        work: what may still be computed.
        begin: the state before the first round; set by whoever reads the formulas of initial values.
    """

    program: Program
    problem: Problem
    parameters: Mapping[str, Given]
    rounds: int
    work: Work
    begin: tuple[Any, ...] = ()
    laws: list[dict[Any, Number]] = field(default_factory=list)
    fixed: dict[Any, Number] = field(default_factory=dict)
    played: dict[Any, list[Outcome]] = field(default_factory=dict)
    room: int = MOST_KEPT

    @property
    def weights(self) -> frozenset[str]:
        """The parameters that are one number for each remembered vector."""
        return frozenset(s.label for s in _all_steps(self.program.body) if isinstance(s, Step) and s.op == "combine")

    def kinds(self, n: int) -> tuple[int, ...]:
        """For each sample of client n the first that does the same, where the program keeps nothing of each sample."""
        if "table" in self.program.kinds.values():
            return tuple(range(len(self.problem.samples[n])))
        return self.problem.kinds(n)

    def number(self, tree: Node, k: int, n: int | None, turns: Mapping[str, int], look: Callable[[str], Any]) -> Number:
        """The value of a formula of the program, for client n where it has one for each client."""
        if tree.op == "number":
            return tree.value
        if tree.op == "name":
            return self.named(tree.name, k, n, turns, look)
        return OPERATIONS[tree.op](*[self.number(a, k, n, turns, look) for a in tree.args])

    def named(self, name: str, k: int, n: int | None, turns: Mapping[str, int], look: Callable[[str], Any]) -> Number:
        if name.startswith("_"):
            found: Number = look(name)
            return found
        if name in turns:
            return Fraction(turns[name])
        if name == "k":
            return Fraction(k)
        if name in ("N", "d"):
            return Fraction(self.problem.N if name == "N" else self.problem.d)
        value = self.parameters[name]
        if isinstance(value, Schedule):
            return value.values[k]
        if isinstance(value, tuple):
            if n is None or len(value) != self.problem.N or isinstance(value[0], tuple):
                raise Uncheckable(f"{name} is one number a client, or a list, where one number is needed")
            return value[n]
        return value

    # laws

    def law(self, k: int) -> dict[Any, Number]:
        """The states that k rounds can leave, with their probabilities."""
        if not self.laws:
            self.laws.append({self.begin: ONE})
        while len(self.laws) <= k:
            found: dict[Any, Number] = {}
            last, before = self.laws[-1], self.work.left
            for count, (state, p) in enumerate(last.items()):
                for outcome in self.outcomes(state, len(self.laws) - 1, frozenset(), len(last) - count):
                    found[outcome.state] = found.get(outcome.state, ZERO) + p * outcome.probability
                    if len(found) > MOST_OUTCOMES:
                        raise FormatError(f"a round has more than {MOST_OUTCOMES} outcomes")
            self.laws.append(found)
            if found == last and self.alike():  # so it stays
                self.laws += [last] * (self.rounds + 1 - len(self.laws))
            elif (before - self.work.left) * (
                k - len(self.laws) + 1
            ) > 2 * self.work.left:  # a round costs no less later
                raise FormatError(f"{k} rounds have too many outcomes to be checked, {len(found)} after the first few")
        return self.laws[k]

    def alike(self) -> bool:
        """Whether every round does the same: none of its numbers is that of a round."""
        steps = list(_all_steps(self.program.body))
        scalars = [s for step in steps for s in (step.numbers if isinstance(step, Step) else (step.count,)) if s]
        schedules = any(isinstance(value, Schedule) for value in self.parameters.values())
        return not schedules and not any("k" in names_in(scalar.tree) for scalar in scalars)

    def joint(self, items: frozenset[Item]) -> list[tuple[Number, dict[Item, Any]]]:
        """The joint law of states and taps of any rounds."""
        place = {s.name: i for i, s in enumerate(self.program.state)}
        if not items:
            return [(ONE, {})]
        wanted: dict[int, list[Item]] = {}
        for item in sorted(items):
            wanted.setdefault(item[1][0], []).append(item)
        first, last = min(wanted), max(wanted)
        law: dict[Any, Number] = {(state, ()): p for state, p in self.law(first).items()}
        for k in range(first, last + 1):
            states = [item for item in wanted.get(k, []) if item[0] in place]
            tapped = [item for item in wanted.get(k, []) if item[0] not in place]
            found: dict[Any, Number] = {}
            for (state, kept), p in law.items():
                key = (state, (*kept, *((item, state[place[item[0]]]) for item in states)))
                found[key] = found.get(key, ZERO) + p
            law = found
            if k < last or tapped:
                law = self._onward(law, k, tapped, k < last)
        merged: dict[Any, Number] = {}
        for (_, kept), p in law.items():
            merged[kept] = merged.get(kept, ZERO) + p
        return [(p, dict(kept)) for kept, p in merged.items()]

    def _onward(self, law: Mapping[Any, Number], k: int, tapped: Sequence[Item], on: bool) -> dict[Any, Number]:
        """A round further, with what was kept and what is tapped in it."""
        groups: dict[Any, list[tuple[Number, Any]]] = {}
        for (state, kept), p in law.items():
            groups.setdefault(state, []).append((p, kept))
        found: dict[Any, Number] = {}
        names = frozenset(name for name, _ in tapped)
        for count, (state, pasts) in enumerate(groups.items()):
            for outcome in self.outcomes(state, k, names, len(groups) - count):
                news = []
                for name, indices in tapped:
                    if (name, indices[1:]) not in outcome.taps:
                        raise OutsideRun(f"{name}[{', '.join(map(str, indices))}] is not in the run")
                    news.append(((name, indices), outcome.taps[name, indices[1:]]))
                after = outcome.state if on else ()
                self.work.spend(5 * len(pasts))
                for p, kept in pasts:
                    key = (after, (*kept, *news))
                    found[key] = found.get(key, ZERO) + p * outcome.probability
                if len(found) > MOST_OUTCOMES:
                    raise FormatError(f"there are more than {MOST_OUTCOMES} paths")
        return found

    def outcomes(self, state: tuple[Any, ...], k: int, taps: frozenset[str], states: int) -> Iterator[Outcome]:
        """All outcomes of round k from a state; `states` are still to be played from."""
        key = (k, taps, state)
        if key in self.played:
            yield from self.played[key]
            return
        kept: list[Outcome] | None = [] if taps else None
        for outcome in self.each_outcome(state, k, taps, states):
            if kept is not None:
                kept.append(outcome)
                kept = kept if len(kept) <= self.room else None
            yield outcome
        if kept is not None:
            self.room -= len(kept)
            self.played[key] = kept

    def each_outcome(self, state: tuple[Any, ...], k: int, taps: frozenset[str], states: int) -> Iterator[Outcome]:
        """As `outcomes`, played."""
        told: list[int] | None = []
        first = True
        while told is not None:
            before = self.work.left
            draws = Draws(told)
            run = Run(self, k, draws, taps)
            outcome = run.outcome(state)
            if first:
                ways = prod(count for _, count in draws.taken)
                if ways > MOST_OUTCOMES or (before - self.work.left) * ways * states // 4 > before:
                    raise FormatError(f"a round has too many outcomes to be checked, about {ways} from each state")
            first = False
            yield outcome
            told = draws.next()

    def turns(self, tap: str, k: int, outer: Sequence[int]) -> int:
        """How many turns the loop has that is around a tap, inside the given turns of the loops outside of it."""
        loops = self.program.taps[tap][1]
        if len(outer) >= len(loops):
            raise Uncheckable(f"{tap} has no such loop")
        loop = loops[len(outer)]
        if loop.op == "visit":
            return self.problem.N
        if loop.op == "pass":
            return max(map(len, self.problem.samples))
        assert loop.count is not None
        if loop.count.values:
            raise Uncheckable(f"how many turns {tap} has hangs on a draw")
        around = {one.index: turn for one, turn in zip(loops, outer, strict=False) if one.op == "repeat"}
        return whole(self.number(loop.count.tree, k, None, around, nothing), "the number of turns", 1, MOST_TURNS)

    # arguments

    def check_arguments(self) -> None:
        """That all arguments that hang on no draw and no turn are in their domains, in every round.

        Raises:
            Uncheckable: where one is not: there is no such instance.
        """
        for step in _all_steps(self.program.body):
            scalars = step.numbers if isinstance(step, Step) else () if step.count is None else (step.count,)
            for scalar in scalars:
                if not scalar.fixed or step.op not in CHECKED:
                    continue
                for k in range(self.rounds if "k" in names_in(scalar.tree) or self._by_round(scalar.tree) else 1):
                    self.work.spend(10 * self.problem.N)
                    for n in range(self.problem.N):
                        one = None if step.op in ONE_FOR_ALL else n
                        value = self.number(scalar.tree, k, one, {}, nothing)
                        check(
                            self.problem,
                            step,
                            scalar,
                            step.numbers.index(scalar) if isinstance(step, Step) else 0,
                            value,
                            n,
                        )
            if isinstance(step, Step) and step.op in ("mix", "combine"):
                self._check_list(step)

    def _by_round(self, tree: Node) -> bool:
        return any(isinstance(self.parameters.get(name), Schedule) for name in names_in(tree))

    def _check_list(self, step: Step) -> None:
        value, N = self.parameters[step.label], self.problem.N
        if not isinstance(value, tuple):
            raise Uncheckable(f"{step.label} is no list")
        square = len(value) == N and all(isinstance(row, tuple) and len(row) == N for row in value)
        if step.op == "mix" and not square:
            raise Uncheckable(f"{step.label} is no matrix with a row and a column for each client")
        if step.op == "combine" and any(isinstance(row, tuple) for row in value):
            raise Uncheckable(f"{step.label} is no list of weights")


def _all_steps(steps: Sequence[Step | Loop]) -> Iterator[Step | Loop]:
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from _all_steps(step.body)
