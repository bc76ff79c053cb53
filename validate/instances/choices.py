"""Parameters of a claim that satisfy its relations on a problem: bounds are read off the relations and solved for.

A relation with one open name gives the value at which it turns (`eta <= 1/(2*L)`: 1/(2L), `alpha == ...`: that
alone); values are taken there, within, and far within. Names that the assumptions bind get the best constants of the
problem, or worse ones. What an algorithm does with a parameter (how often a loop turns, how many clients are chosen, a
chance, a matrix) says what it may be.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name, UndefinedError
from theory.operations import to_fraction
from theory.predicates import Connected, Direction, Predicate, base_of, value_of_base
from theory.program import Instruction, Loop, Program, names_in, work
from theory.sentence import (
    Expression,
    Sentence,
    Vocabulary,
    evaluate,
    everything,
    index_of,
    parts,
    read,
    remembered,
)
from validate import satisfied
from validate.instances import along
from validate.instances.pieces import Pieces
from validate.instances.points import Points
from validate.instances.problems import weighted_quadratic
from validate.instances.ridges import Ridges
from validate.instances.settled import Code, compiled
from validate.instances.world import which

F = Fraction
Values = dict[str, Any]
LIMIT_BITS, SHORT = 4096, 2**64


@dataclass(frozen=True)
class Setting:
    """A problem, a start and parameters as a sentence without states sees them: a `theory.sentence.World`.

    Numbers are Fractions as long as they are rational, else floats.

    Attributes:
        problem: `sim.problems.Quadratic`, `Pieces`, `Points` or `Ridges`; None for a claim without functions.
        start: x0, (d,).
        values: parameters by name without index: a number, or a list (one a client, or one a round).
        rounds: K.
        claim: whose names these are.
        free: the free vectors, (d,), or of ``a_n`` a list of N of them.
    """

    problem: Any
    start: Any
    values: Mapping[str, Any]
    rounds: int
    claim: Claim
    free: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schedules(self) -> frozenset[str]:
        """The names that are one number a round (``eta_k``)."""
        return schedules_of(self.claim)

    @property
    def clients(self) -> int:
        """N; 1 where nothing says it."""
        if self.problem is not None:
            return int(self.problem.clients)
        return next((len(v) for v in self.free.values() if isinstance(v, list)), int(self.values.get("N", 1)))

    @property
    def dim(self) -> int:
        """d; 1 where nothing says it."""
        if self.problem is not None:
            return int(self.problem.dim)
        sizes = (len(v[0] if isinstance(v, list) else v) for v in self.free.values())
        return next(sizes, int(self.values.get("d", 1)))

    def constant(self, value: Fraction) -> Any:
        """As `World`."""
        return value

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if name == "N":
            return F(self.clients)
        if name == "d":
            return F(self.dim)
        if name == "K":
            return F(self.rounds)
        if name == "fstar":
            return self.problem.optimal_value
        base, index = index_of(name)
        value = self.values[base] if base in self.values else self.values[name]
        if isinstance(value, list):
            return value[at[index or ("k" if base in self.schedules else "n")]]
        return value

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if name in self.free:
            found = self.free[name]
            return found[at["n"]] if isinstance(found, list) else found
        if name == "x0":
            return self.start
        if name == "xstar":
            return self.problem.minimiser
        points = self.problem.client_minimisers
        if points is None:
            raise UndefinedError("a client has no minimiser, or more than one")
        return points[at["n"]]

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """As `World`: there are no states."""
        raise UndefinedError(f"{name} is not known before the algorithm runs")

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if isinstance(self.problem, Pieces):
            return self.problem.function(*which(name, at)).value(v[0])
        if isinstance(self.problem, Points | Ridges):
            return self.problem.at(v, *which(name, at))[1]
        if name == "f":
            return self.problem.cost(v)
        p, n = self.problem, at["n"]
        if name == "f_n":
            h, b, c = p.client_hessian[n], p.client_linear[n], p.client_offset[n]
        else:
            h, b, c = p.hessian[n, at["i"]], p.linear[n, at["i"]], p.offset[n, at["i"]]
        return (v @ h @ v) / 2 - b @ v + c

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if isinstance(self.problem, Pieces):
            return np.array([self.problem.function(*which(name, at)).derivative(v[0])], dtype=object)
        if isinstance(self.problem, Points | Ridges):
            return self.problem.at(v, *which(name, at))[0]
        if name == "f":
            return self.problem.gradient(v)
        if name == "f_n":
            return self.problem.client_hessian[at["n"]] @ v - self.problem.client_linear[at["n"]]
        return self.problem.hessian[at["n"], at["i"]] @ v - self.problem.linear[at["n"], at["i"]]

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        return number(operation, arguments)

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        one = arguments[0]
        if operation == "norm2":
            return (one * one).sum()
        if operation == "norm":
            return number("sqrt", ((one * one).sum(),))
        if operation == "dot":
            return (one * arguments[1]).sum()
        if operation == "neg":
            return -one
        two = arguments[1]
        if operation == "/":
            if two == 0:
                raise UndefinedError("division by 0")
            return one / two
        return {"+": lambda: one + two, "-": lambda: one - two, "*": lambda: one * two}[operation]()

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """As `World`."""
        if index == "n":
            return range(self.clients)
        if index == "i":
            return range(int(self.problem.counts[at["n"]]))
        if index == "k":
            return range(self.rounds)
        lists = (self.values.get(name) for name in remembered(e, index, self.claim.vocabulary)[1])
        sizes = {len(value) for value in lists if isinstance(value, list)}
        if len(sizes) != 1:
            raise UndefinedError("turns of a loop are not known before the algorithm runs")
        return range(sizes.pop())

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """As `World`: nothing is random before the algorithm runs."""
        return evaluate(e, self, at, self.claim.vocabulary)

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return evaluate(e, self, at, self.claim.vocabulary)

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """As `World`."""
        other = isinstance(self.problem, Pieces | Points | Ridges)
        weighted = self.problem.weighted(weights) if other else weighted_quadratic(self.problem, weights)
        point = weighted.minimiser
        if radius is None or (point * point).sum() <= radius * radius:
            return point
        if len(point) > 1:
            raise UndefinedError("the minimiser over a ball that binds, in several dimensions")
        return np.array([radius if point[0] > 0 else -radius], dtype=point.dtype)


def schedules_of(claim: Claim) -> frozenset[str]:
    """The names, without index, of which a claim has one number a round."""
    return claim.by_round


def number(operation: str, arguments: Sequence[Any]) -> Any:
    """An operation on numbers: on Fractions exactly where the result is rational, else in floats.

    Raises:
        UndefinedError: where there is no real value, or none that a float can be.
    """
    if all(isinstance(a, (Fraction, int)) for a in arguments):
        if operation in ("min", "max"):
            return (min if operation == "min" else max)(arguments)
        found = _rational(operation, arguments)
        if found is not None:
            return found
    return in_floats(operation, arguments)


def in_floats(operation: str, arguments: Sequence[Any]) -> float:
    """An operation on numbers in floats. Errors as of `number`."""
    values = [float(a) for a in arguments]
    try:
        result = _FLOATS[operation](*values)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise UndefinedError(f"{operation} has no real value: {error}") from None
    if isinstance(result, complex) or not math.isfinite(result):
        raise UndefinedError(f"{operation} has no real value")
    return result


def _rational(operation: str, arguments: Sequence[Fraction | int]) -> Fraction | None:
    """An operation on rationals; None where the result is none, or too long. Short ones need no other arithmetic."""
    short = operation in ("+", "-", "*", "neg", "abs")
    if short and all(-SHORT < a.numerator < SHORT and a.denominator < SHORT for a in arguments):
        found: Fraction = _FLOATS[operation](*arguments)
        return F(found)
    from theory.arithmetic import rational

    return rational(operation, [F(a) for a in arguments], LIMIT_BITS)


_FLOATS: Mapping[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "abs": abs,
    "min": min,
    "max": max,
}


# --- what an algorithm does with its parameters ----------------------------------------------------------------------


@dataclass(frozen=True)
class Roles:
    """What the parameters of a program are for, by name.

    Attributes:
        turns: how often a loop turns.
        clients: how many clients are chosen (at most N, but for draws with replacement).
        coordinates: how many coordinates are kept (at most d).
        batch: how many samples are drawn.
        chances: probabilities.
        matrices: W of ``mix``.
        weights: J numbers for remembered vectors.
        steps: numbers of local steps that clients take (``before``).
        lengths: numbers of remembered vectors.
    """

    turns: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()
    coordinates: frozenset[str] = frozenset()
    batch: frozenset[str] = frozenset()
    chances: frozenset[str] = frozenset()
    matrices: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    lengths: frozenset[str] = frozenset()

    @property
    def counts(self) -> frozenset[str]:
        """All that are integers, at least 1."""
        return self.turns | self.clients | self.coordinates | self.batch | self.lengths


def roles_of(program: Program | None) -> Roles:
    """What the parameters of a program are for, read off its instructions."""
    if program is None:
        return Roles()
    if "roles" not in program.kept:
        program.kept["roles"] = _roles_of(program)
    roles: Roles = program.kept["roles"]
    return roles


def _roles_of(program: Program) -> Roles:
    found: dict[str, set[str]] = {name: set() for name in Roles.__dataclass_fields__}
    kinds = {"choose": "clients", "keep": "coordinates", "top": "coordinates", "sample": "batch"}
    for step in program.steps:
        if isinstance(step, Loop):
            if step.count is not None:
                found["turns"] |= names_in(step.count)
            continue
        assert isinstance(step, Instruction)
        if step.op in kinds:
            found[kinds[step.op]] |= names_in(step.numbers[0])
        elif step.op in ("coin", "coins"):
            found["chances"] |= names_in(step.numbers[0])
        elif step.op == "before":
            found["steps"] |= names_in(step.numbers[1])
        elif step.op == "mix":
            found["matrices"].add(step.label)
        elif step.op == "combine":
            found["weights"].add(step.label)
    for state in program.state:
        if state.length is not None:
            found["lengths"] |= names_in(state.length)
    own = set(program.parameters)
    return Roles(**{name: frozenset(names & own) for name, names in found.items()})


def turns_of(program: Program | None, values: Mapping[str, Any]) -> int:
    """The turns of all loops of a round multiplied; of one number a client the largest counts.

    Args:
        program: whose loops.
        values: of its parameters.
    """
    turns = 1
    for name in roles_of(program).turns:
        value = values[name]
        turns *= max(map(int, value)) if isinstance(value, list) else int(value)
    return turns


# --- choosing --------------------------------------------------------------------------------------------------------

FREE = (F(1), F(1, 2), F(2), F(1, 10), F(3), F(1, 4), F(10), F(1, 100), F(3, 4), F(9, 10))
CHANCES = (F(1, 2), F(1), F(1, 4), F(9, 10), F(1, 10), F(3, 4))
TURNS = (1, 2, 3, 5, 2)
LARGE_TURNS = (10, 20, 50)
SHARP_TURNS = (1, 2, 5, 8)
ONE_OF_SEVERAL: Mapping[bool, tuple[int, ...]] = {False: (8, 1), True: (1, 2, 5)}
APART = 2
"""Exponents of two that are tried for a value at which a relation turns are so far apart."""
MOST_TURNS = 200
"""Of a loop whose number of turns a relation bounds from below."""
EXTREMES = (*(F(10) ** k for k in (-9, -6, -4, -3, 3, 4, 6, 9)), F(2) ** 200, F(1, 2**200))
LARGE_INTEGERS = tuple(map(F, (20, 50, 100, 1000, 10**4, 10**6)))
"""Numbers of a claim without functions, beyond those of `FREE`."""
BELOW_AN_END = (F(1, 10**9), F(1, 10**3))
"""How far below the open end of a domain a number is taken."""
SHARES = (F(1), F(1), F(1), F(1, 2), F(9, 10), F(1, 10), F(1, 10), F(1, 100), F(2))
SHARP_SHARES = (F(1), F(1, 20), F(1), F(1, 2), F(1, 100), F(1))
"""Of the value at which a relation turns."""
SMALL = F(1, 10**6)
"""A constant that every positive number is."""
TRIES = 6


def choose(
    claim: Claim,
    problem: Any,
    start: Any,
    rounds: int,
    rng: random.Random,
    large: bool = False,
    vectors: Mapping[str, Any] | None = None,
    counts: Mapping[str, Fraction] | None = None,
    everybody: bool = False,
    most_rounds: int | None = None,
    sharp: bool = False,
) -> tuple[Values, Setting] | None:
    """Values of all parameters of a claim on a problem, with all its relations satisfied; or None.

    Where there are none for this K, and relations have K, it is one of the unknowns (`run_length`).

    Args:
        claim: the claim.
        problem: in fractions; None for a claim without functions.
        start: x0, (d,).
        rounds: K.
        rng: decides.
        large: whether loops turn often.
        vectors: the free vectors.
        counts: N and d, of a claim about numbers alone.
        everybody: whether all clients take part, all coordinates are kept, and what may happen happens.
        most_rounds: the largest K that is solved for; None where it stays as it is.
        sharp: whether numbers are where the claim has the least room (`Search`).

    Returns:
        Values by name without index (lists for one a client, rows for a matrix), and the world in which all holds,
        with its K.
    """
    roles = roles_of(claim.program)
    for attempt in range(TRIES):
        more = (vectors or {}, counts or {}, attempt, everybody, sharp)
        search = Search(claim, problem, start, rounds, rng, roles, large, *more)
        found = search.run()
        if found is not None:
            return found
        if problem is not None and along.too_large(search.world, claim):
            return None
    if most_rounds is None or not has_length(claim):
        return None
    from validate.instances.run_length import OpenLength  # which searches as this module does

    for attempt in range(TRIES):
        more = (vectors or {}, counts or {}, attempt, everybody, sharp)
        found = OpenLength(most_rounds, claim, problem, start, rounds, rng, roles, large, *more).run()
        if found is not None:
            return found
    return None


def has_length(claim: Claim) -> bool:
    """Whether a relation of a claim has K in it, the length of the run."""
    return any(of_length(relation, claim.vocabulary) for relation in claim.relations)


def of_length(relation: Sentence, words: Vocabulary) -> bool:
    """Whether K is in a relation, through definitions too; one that speaks of the run is played, and K stays."""
    has_it = any(_count(side, "K", words) for side in (relation.left, relation.right))
    return has_it and not along.speaks_of_run(relation, words)


class Search:
    """One attempt: names are given values in an order in which their bounds are known.

    A sharp one takes constants that may be 0, where all positive numbers are constants, to be 0, and others small;
    weights of what is remembered are 0 half of the time, and numbers are at the ends of their relations more often.
    """

    def __init__(
        self,
        claim: Claim,
        problem: Any,
        start: Any,
        rounds: int,
        rng: random.Random,
        roles: Roles,
        large: bool,
        vectors: Mapping[str, Any],
        counts: Mapping[str, Fraction],
        attempt: int,
        everybody: bool,
        sharp: bool = False,
    ) -> None:
        self.claim, self.problem, self.rng, self.roles, self.large = claim, problem, rng, roles, large
        self.attempt, self.sharp = attempt, sharp
        self.values: Values = dict(counts)
        self.world = Setting(problem, start, self.values, rounds, claim, vectors)
        self.words: Vocabulary = claim.vocabulary
        self.symbols = {index_of(s)[0]: index_of(s)[1] for s in claim.symbols if s != "K"}
        self.needs = {relation: self._names(relation) for relation in claim.relations}
        self.round = 0
        numbers = {name for name in self.symbols if not claim.domains[name].integer}
        tied = any(names & roles.turns and names & numbers for names in self.needs.values())
        self.counts_last = tied and attempt < TRIES - 1
        self.everybody = everybody

    def run(self) -> tuple[Values, Setting] | None:
        """Values with which everything that the claim assumes holds, and the world; None where none were found."""
        return self._complete() if self._constants() and self._names_chosen() else None

    def _names_chosen(self) -> bool:
        """Whether all names that assumptions do not bind have been given values."""
        open_ = [name for name in self.symbols if name not in self.values]
        while open_:
            name = min(open_, key=lambda n: (len(self._waits_for(n, open_)), self._late(n), n))
            if not self._choose(name):
                return False
            open_.remove(name)
        return True

    def _complete(self) -> tuple[Values, Setting] | None:
        """The values, if all relations and assumptions hold with them."""
        for relation in self.claim.relations:
            if not self.satisfied(relation):
                return None
        for one in self.claim.predicates:
            network = self._network(one)
            numbers = [self._value(c) for c in one.constants]
            if any(v is None for v in numbers):
                return None
            if satisfied.true(one, self.problem, [_exact(v) for v in numbers], network) is not True:
                return None
        return self.values, self.world

    # names and relations

    def _names(self, relation: Sentence) -> frozenset[str]:
        """Names without index of the parameters that a relation speaks of, through definitions too."""
        names: set[str] = set()
        for side in (relation.left, relation.right):
            names |= {index_of(n)[0] for n in read(side, self.words).parameters}
        if self.claim.of is not None and along.speaks_of_run(relation, self.words):  # it is played first
            names |= set(self.claim.of.parameters)
        return frozenset(names - {"K", "N", "d"}) & frozenset(self.symbols)

    def _waits_for(self, name: str, open_: list[str]) -> set[str]:
        """Open names in terms of which a relation bounds this one alone on a side."""
        waiting: set[str] = set()
        for relation, names in self.needs.items():
            if name in names and name in (_bare(relation.left), _bare(relation.right)):
                others = names - {name}
                waiting |= others & set(open_)
        return waiting

    def _late(self, name: str) -> int:
        """Counts come first, then chances, then the rest: steps are bounded in terms of these.

        Where a relation ties turns of a loop to other numbers, counts come last, but for the last attempt: so many
        turns are solved for.
        """
        if name in self.roles.counts:
            return 3 if self.counts_last else 0
        return 1 if name in self.roles.chances | self.roles.matrices | self.roles.weights | self.roles.steps else 2

    def satisfied(self, relation: Sentence) -> bool:
        """Whether a relation holds for the values so far."""
        return relation_satisfied(relation, self.world, self.claim, holds_surely)

    def _value(self, e: Expression) -> Any:
        at, code = {"n": 0, "i": 0, "k": self.round}, compiled(e, self.words, once=False)
        try:
            return evaluate(e, self.world, at, self.words) if code is None else to_fraction(code(self.world, at, {}))
        except (ValueError, KeyError, IndexError, ZeroDivisionError):
            return None

    # the constants of assumptions

    def _constants(self) -> bool:
        rng = self.rng
        tied: dict[str, list[tuple[Direction, Fraction]]] = {}
        for one in self.claim.predicates:
            if isinstance(one, Connected):
                if not self._choose_network(one):
                    return False
                continue
            if not one.binds:
                continue
            bests = satisfied.best(one, self.problem)
            if bests is None:
                return False
            worse = rng.random() < 0.25
            for constant, value, direction in zip(one.constants, bests, one.directions, strict=True):
                base = base_of(constant)
                if base is None:
                    continue
                name = base[0]
                exact = outward(value_of_base(value, base[1]), up=direction == "up")
                if self.claim.constants[name] == "exact":
                    tied.setdefault(name, []).append((direction, exact))
                    continue
                if self.sharp and exact <= 0 and direction == "up":
                    self.values[name] = max(self._least(name), self.values.get(name, F(0)))
                    continue
                allowed = self.claim.domains[name].contains(exact)
                if exact <= 0 and (worse or not allowed):
                    exact = rng.choice((F(1), F(1, 10), F(1, 100))) if direction == "up" else exact
                if exact <= 0 and not allowed:
                    return False
                if worse:
                    exact = (
                        exact * rng.choice((F(2), F(10))) if direction == "up" else exact / rng.choice((F(2), F(10)))
                    )
                if name in self.values:
                    exact = max(exact, self.values[name]) if direction == "up" else min(exact, self.values[name])
                self.values[name] = exact
        for name, ends in tied.items():
            fitting = between(ends)
            if not fitting:
                return False
            self.values[name] = rng.choice(fitting)
        return True

    def _least(self, name: str) -> Fraction:
        """A constant where every positive number is one: 0 where it may be that."""
        return F(0) if self.claim.domains[name].contains(F(0)) else SMALL

    def _network(self, one: Any) -> Any:
        return self.values.get(one.matrix) if isinstance(one, Connected) else None

    def _choose_network(self, one: Connected) -> bool:
        self.values[one.matrix] = network(self.world.clients, self.rng)
        rho = satisfied.second_eigenvalue(self.values[one.matrix])
        if "rho" in self.symbols:
            if rho == 0 and "rho" not in self.claim.parameters:
                return False
            self.values["rho"] = rho
        return True

    # one name

    def _choose(self, name: str) -> bool:
        rng = self.rng
        if name in self.roles.matrices:
            self.values[name] = network(self.world.clients, rng)
            return True
        if name in self.roles.weights:
            return self._choose_weights(name)
        candidates = self._candidates(name)
        if self.symbols[name] == "k":
            return self._choose_schedule(name, candidates)
        if self.symbols[name] == "n" or (name in self.roles.steps and rng.random() < 0.5):
            return self._choose_list(name, candidates)
        known = [r for r, names in self.needs.items() if name in names and names <= {*self.values, name}]
        ends = [end for relation in known for end in self._ends(name, relation)]
        domain = self.claim.domains[name]
        if domain.integer:
            # an integer at the end that a relation allows, and one beside it
            most = MOST_TURNS if name in self.roles.turns else 10**6
            beside = [F(math.floor(e) + k) for e in ends if abs(e) < most for k in (0, 1)]
            if name in self.roles.turns:
                beside += [F(math.floor(2 * e) + 1) for e in ends if abs(2 * e) < most]
            ends = [e for e in beside if domain.contains(e)]
        tried: list[Any] = []
        if ends and domain.integer:
            tried = [*ends, *candidates]
            rng.shuffle(tried)
        elif ends:
            share = self._share()
            rng.shuffle(ends)
            tried = [share * e for e in ends] + ends + [s * e for e in ends for s in (F(1, 2), F(2), F(1, 10), F(10))]
        tried += candidates
        for value in tried:
            if not domain.contains(value) or (name in self.roles.counts and value.denominator != 1):
                continue
            self.values[name] = value
            if not self._clearly_false(known) and all(self.satisfied(relation) for relation in known):
                return True
        self.values.pop(name, None)
        return False

    def _clearly_false(self, relations: Sequence[Sentence]) -> bool:
        """Whether floats tell that one of the relations is false: what fractions take long to say."""
        rough = replace(self.world, values=rounded(self.values))
        here = [r for r in relations if not along.speaks_of_run(r, self.words)]
        return any(not relation_satisfied(relation, rough, self.claim, may_hold) for relation in here)

    def _share(self) -> Fraction:
        """Of the value at which a relation turns; a sharp attempt after the first takes one after another."""
        if not self.sharp:
            return self.rng.choice(SHARES)
        return SHARP_SHARES[self.attempt % len(SHARP_SHARES)] if self.attempt else self.rng.choice(SHARP_SHARES)

    def _candidates(self, name: str) -> list[Any]:
        rng, problem, roles = self.rng, self.problem, self.roles
        if name in roles.turns:
            numbers: tuple[int, ...] = LARGE_TURNS if self.large else SHARP_TURNS if self.sharp else TURNS
            if len(roles.turns) > 1 or self.everybody:  # many turns of one loop while another has few
                numbers += ONE_OF_SEVERAL[self.large]
            found = [F(x) for x in numbers]
        elif self.everybody and name in roles.chances | roles.clients | roles.coordinates:
            found = [F(1) if name in roles.chances else F(problem.clients if name in roles.clients else problem.dim)]
        elif name in roles.clients:
            found = [F(x) for x in range(1, min(problem.clients, 6) + 1)] + [F(problem.clients)]
        elif name in roles.coordinates:
            found = [F(x) for x in range(1, problem.dim + 1)]
        elif name in roles.batch:
            found = [F(x) for x in range(1, int(min(problem.counts)) + 1)]
        elif name in roles.lengths or name in roles.steps:
            found = [F(1), F(2), F(3)]
        elif name in roles.chances:
            found = list(CHANCES)
        else:
            found = list(FREE)
            integer = self.claim.domains[name].integer
            if integer:
                found = [F(0), F(1), F(2), F(3), F(5), F(10)]
            end = self.claim.domains[name]
            if end.upper is not None and end.upper_open and not integer:  # a probability near 1 makes log(1/p) small
                near = [F(end.upper) - gap for gap in BELOW_AN_END]
                found = [*near, F(end.upper) / 2] if self.sharp else found + near
            if self.large and problem is None:
                found += LARGE_INTEGERS if integer else EXTREMES
            tied = any(name in names for names in self.needs.values())
            if not integer and problem is not None and end.upper is None and not tied:
                found = self._in_units(found)
        rng.shuffle(found)
        return found

    def _in_units(self, numbers: list[Any]) -> list[Any]:
        """Numbers, or multiples of the inverse of a constant: such as a step that no relation ties to curvature is."""
        constants = [
            value for value in map(self.values.get, self.claim.constants) if isinstance(value, Fraction) and value
        ]
        if not constants or self.rng.random() < 0.3:
            return numbers
        unit = self.rng.choice(constants)
        return [number / unit for number in numbers]

    def _choose_list(self, name: str, candidates: list[Any]) -> bool:
        rng, N = self.rng, self.world.clients
        domain = self.claim.domains[name]
        fitting = [value for value in candidates if domain.contains(value)]
        if not fitting:
            return False
        alike = rng.random() < 0.3
        values = [fitting[0] if alike else rng.choice(fitting) for _ in range(N)]
        self.values[name] = values
        known = [r for r, names in self.needs.items() if name in names and names <= {*self.values, name}]
        for relation in known:
            if self.satisfied(relation):
                continue
            if relation.relation == "==":  # such as sum_n(q_n) == 1: scaled
                left, right = self._value(relation.left), self._value(relation.right)
                if left is None or right is None or left == 0 or isinstance(left, float):
                    return False
                self.values[name] = [value * _exact(right) / left for value in self.values[name]]
                continue
            for value in sorted(fitting):
                self.values[name] = [value] * N
                if self.satisfied(relation):
                    break
        return all(self.satisfied(relation) for relation in known)

    def _choose_schedule(self, name: str, candidates: list[Any]) -> bool:
        """One number a round: at the end of what the relations allow in each, or falling, or the same."""
        rng, rounds = self.rng, max(self.world.rounds, 1)
        known = [r for r, names in self.needs.items() if name in names and names <= {*self.values, name}]
        share = rng.choice((F(1), F(1), F(1, 2), F(1, 10)))
        solved: list[Any] = []
        for k in range(rounds):
            self.round = k
            ends = [end for relation in known for end in self._ends(name, relation)]
            solved.append(share * min(ends) if ends else None)
        self.round = 0
        first = candidates[0]
        tries = [[s if s is not None else first for s in solved]]
        tries += [[s / share if s is not None else first for s in solved]]
        tries += [[value / (k + 1) for k in range(rounds)] for value in candidates]
        tries += [[value] * rounds for value in candidates]
        domain = self.claim.domains[name]
        for values in tries:
            if all(domain.contains(value) for value in values):
                self.values[name] = values
                if all(self.satisfied(relation) for relation in known):
                    return True
        self.values.pop(name, None)
        return False

    def _choose_weights(self, name: str) -> bool:
        assert self.claim.program is not None
        lengths = [s.length for s in self.claim.program.state if s.length is not None]
        others = [v for v in (self.values.get(other) for other in self.roles.weights) if isinstance(v, list)]
        size = self._value(lengths[0]) if lengths else F(1)
        if size is None:  # no name of the claim: the weights say it
            size = F(len(others[0])) if others else F(self.rng.choice((1, 2, 3)))
        if self.sharp and self.attempt % 2 == 0:
            self.values[name] = [F(0)] * int(size)
            return True
        shares = [self.rng.choice((F(1, 2), F(1, 4), F(1, 10), F(3, 10), F(0))) for _ in range(int(size))]
        total = sum(shares)
        self.values[name] = [s * F(9, 10) / total for s in shares] if total >= 1 else shares
        return True

    def _ends(self, name: str, relation: Sentence) -> Iterator[Any]:
        """Values of a name at which a relation turns, in fractions."""
        for side, other in ((relation.left, relation.right), (relation.right, relation.left)):
            if _count(side, name, self.words) != 1 or _count(other, name, self.words):
                continue
            target = self._target(relation, side, other)
            found = None if target is None else self._inverted(side, name, target)
            if found is None:
                continue
            yield from (found,) if isinstance(found, Fraction) else fractions_near(found)
            return
        yield from self._turning_point(name, relation)

    def _target(self, relation: Sentence, side: Expression, other: Expression) -> Any:
        """What a side is worth where a relation turns; of what speaks of the run, the worst of it."""
        if not along.speaks_of_run(relation, self.words):
            return self._value(other)
        above = (relation.relation in ("<=", "<")) == (side is relation.right)
        return along.worst(other, "largest" if above else "smallest", self.world, self.claim)

    def _inverted(self, e: Expression, name: str, target: Any) -> Any:
        """The value of a name that occurs once in a tree, for the tree to be worth `target`."""
        if isinstance(e, Name):
            if index_of(e.name)[0] == name:
                return target
            return self._inverted(self.words.definitions[e.name], name, target)
        if not isinstance(e, Apply):
            return None
        inner = parts(e)
        place = next((i for i, part in enumerate(inner) if _count(part, name, self.words)), None)
        if place is None:
            return None
        op, here = e.operation, inner[place]
        try:
            if op == "neg":
                return self._inverted(here, name, number("neg", (target,)))
            if op == "sqrt":
                return self._inverted(here, name, number("*", (target, target)))
            if op in ("log", "exp"):
                return self._inverted(here, name, number("exp" if op == "log" else "log", (target,)))
            if op not in ("+", "-", "*", "/", "**"):
                return None
            beside = self._value(inner[1 - place])
            if beside is None:
                return None
            if op == "**":
                if place == 1 or beside == 0:
                    return None
                power = number("/", (F(1), beside))
                return self._inverted(
                    here, name, number("sqrt", (target,)) if beside == 2 else number("**", (target, power))
                )
            undo = {
                ("+", 0): lambda: number("-", (target, beside)),
                ("+", 1): lambda: number("-", (target, beside)),
                ("-", 0): lambda: number("+", (target, beside)),
                ("-", 1): lambda: number("-", (beside, target)),
                ("*", 0): lambda: number("/", (target, beside)),
                ("*", 1): lambda: number("/", (target, beside)),
                ("/", 0): lambda: number("*", (target, beside)),
                ("/", 1): lambda: number("/", (beside, target)),
            }
            return self._inverted(here, name, undo[op, place]())
        except (UndefinedError, KeyError):
            return None

    def _turning_point(self, name: str, relation: Sentence) -> Iterator[Any]:
        """The largest power of two, refined, up to which an inequality holds; by bisection."""
        if relation.relation == "==" or along.speaks_of_run(relation, self.words):
            return

        changing: set[int] = set()
        for side in (relation.left, relation.right):
            _with_name(side, name, self.words, changing)
        memos: Memos = {}
        rough = rounded(self.values)  # whoever takes the value looks again, in fractions
        world = replace(self.world, values=rough)

        def fits(value: Fraction) -> bool:
            rough[name] = float(value)
            for memo in memos.values():  # what does not have the name is worked out once
                for tree in changing:
                    memo.pop(tree, None)
            return relation_satisfied(relation, world, self.claim, holds_surely, memos)

        tried = range(-30, 21, APART)
        exponents = [k for k in tried if fits(F(2) ** k)]
        if exponents and len(exponents) < len(tried):
            low, high = F(2) ** exponents[-1], F(2) ** (exponents[-1] + APART)
            if exponents[-1] == tried[-1]:  # it holds from some value on
                high, low = F(2) ** exponents[0], F(2) ** (exponents[0] - APART)
                for _ in range(30):
                    middle = (low + high) / 2
                    low, high = (low, middle) if fits(middle) else (middle, high)
                yield high
            else:
                for _ in range(30):
                    middle = (low + high) / 2
                    low, high = (middle, high) if fits(middle) else (low, middle)
                yield low


Compare = Callable[[Any, str, Any], bool]
Memos = dict[tuple[int, int], dict[int, Any]]
"""Values of trees by their ids, by round and client."""


def relation_satisfied(
    relation: Sentence, world: Setting, claim: Claim, compare: Compare | None = None, memos: Memos | None = None
) -> bool:
    """Whether a relation holds in a setting, for every client where it speaks of one a client.

    False where a side is undefined, or a name has no value yet.

    Args:
        relation: which.
        world: the setting.
        claim: whose relation it is.
        compare: `holds`, which is meant without; `holds_surely`, `may_hold`.
        memos: values that are known already; new ones are added.
    """
    compare = holds if compare is None else compare
    memos = {} if memos is None else memos
    words = claim.vocabulary
    if along.speaks_of_run(relation, words):
        return along.holds_along(relation, world, claim)
    names, of_clients, of_rounds, left_code, right_code = _asked(relation, words)
    # as they are written: p is meant for every client, p_n only where no sum over the clients has it
    lists = {name for name in names if isinstance(world.values.get(name), list)}
    a_client = of_clients or bool(lists - world.schedules)
    a_round = of_rounds or bool(lists & world.schedules)
    try:
        for k in range(max(world.rounds, 1)) if a_round else (0,):
            for n in range(world.clients) if a_client else (0,):
                at = {"n": n, "i": 0, "k": k}
                memo = memos.setdefault((k, n), {})
                if left_code is None or right_code is None:
                    left, right = (_once(side, world, at, words, memo) for side in (relation.left, relation.right))
                else:
                    left, right = left_code(world, at, memo), right_code(world, at, memo)
                    if isinstance(left, float) or isinstance(right, float):
                        left, right = to_fraction(left), to_fraction(right)
                if not compare(left, relation.relation, right):
                    return False
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return False
    return True


def _asked(relation: Sentence, words: Vocabulary) -> tuple[frozenset[str], bool, bool, Code | None, Code | None]:
    """Parameters as a relation writes them, whether n and k are free in it, and both its sides compiled."""
    key = ("asked", id(relation))
    if key not in words.kept:
        readings = [read(side, words) for side in (relation.left, relation.right)]
        names = frozenset(name for one in readings for name in one.parameters)
        free = frozenset(index for one in readings for index in one.free)
        codes = [compiled(side, words, once=True) for side in (relation.left, relation.right)]
        words.kept[key] = (relation, (names, "n" in free, "k" in free, *codes))  # kept, so that its id stays its own
    found: tuple[frozenset[str], bool, bool, Code | None, Code | None] = words.kept[key][1]
    return found


def _once(e: Expression, world: Setting, at: Mapping[str, int], words: Vocabulary, memo: dict[int, Any]) -> Any:
    """`evaluate`, with each tree of numbers that occurs several times, as definitions do, worked out once."""
    if isinstance(e, Name) and e.name in words.definitions:
        return _once(words.definitions[e.name], world, at, words, memo)
    if not isinstance(e, Apply) or e.operation not in _FLOATS:
        return evaluate(e, world, at, words)
    if id(e) not in memo:
        work.count(1)
        values = tuple([_once(part, world, at, words, memo) for part in parts(e)])
        vectors = any(isinstance(value, np.ndarray) for value in values)
        memo[id(e)] = evaluate(e, world, at, words) if vectors else world.numbers(e.operation, values)
    return memo[id(e)]


def _with_name(e: Expression, name: str, words: Vocabulary, found: set[int]) -> bool:
    """Whether a name, without index, is in a tree, through definitions too; the ids of all trees that have it."""
    if isinstance(e, Name) and e.name in words.definitions:
        has_it = _with_name(words.definitions[e.name], name, words, found)
    elif isinstance(e, Name):
        has_it = index_of(e.name)[0] == name
    else:
        has_it = sum(_with_name(part, name, words, found) for part in parts(e)) > 0 if isinstance(e, Apply) else False
    if has_it:
        found.add(id(e))
    return has_it


def evaluate_alone(e: Expression, world: Setting) -> Any:
    """The value of a tree without free indices; None where it has none."""
    words, at = world.claim.vocabulary, {"n": 0, "i": 0, "k": 0}
    code = compiled(e, words, once=True)
    try:
        return _once(e, world, at, words, {}) if code is None else to_fraction(code(world, at, {}))
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return None


def _bare(e: Expression) -> str | None:
    return index_of(e.name)[0] if isinstance(e, Name) else None


def _count(e: Expression, name: str, words: Vocabulary) -> int:
    """How often a name occurs in a tree, through definitions."""
    key = ("count", id(e), name)
    if key not in words.kept:
        total = 0
        for part in everything(e):
            if isinstance(part, Name):
                if part.name in words.definitions:
                    total += _count(words.definitions[part.name], name, words)
                elif index_of(part.name)[0] == name:
                    total += 1
        words.kept[key] = (e, total)  # e is kept, so that its id stays its own
    found: int = words.kept[key][1]
    return found


_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


def holds(left: Any, relation: str, right: Any) -> bool:
    """Whether a relation holds between numbers; between floats up to rounding, and not if strict and they agree."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        slack = 1e-12 * max(abs(left), abs(right))
        return {
            "<=": left <= right + slack,
            "<": left < right - slack,
            ">=": left >= right - slack,
            ">": left > right + slack,
            "==": abs(left - right) <= slack,
        }[relation]
    return bool(_COMPARED[relation](left, right))


def holds_surely(left: Any, relation: str, right: Any) -> bool:
    """As `holds`, but that an inequality between floats is to hold by more than rounding."""
    if relation != "==" and (isinstance(left, float) or isinstance(right, float)):
        low, high = (left, right) if relation in ("<=", "<") else (right, left)
        return float(low) < float(high) - 1e-12 * max(abs(float(low)), abs(float(high)))
    return holds(left, relation, right)


def may_hold(left: Any, relation: str, right: Any) -> bool:
    """As `holds`, but that floats may be wrong by a millionth of the larger one."""
    left, right = float(left), float(right)
    slack = 1e-6 * max(abs(left), abs(right))
    if relation == "==":
        return abs(left - right) <= slack
    low, high = (left, right) if relation in ("<=", "<") else (right, left)
    return low <= high + slack


def rounded(values: Mapping[str, Any]) -> Values:
    """Values in floats; what no float can be stays as it is."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        try:
            return float(value)
        except OverflowError:
            return value

    return {name: one(value) for name, value in values.items()}


def fractions_near(value: float) -> tuple[Fraction, ...]:
    """Fractions close to a float: the nearest short one, and one on either side of what it may stand for."""
    near = F(value).limit_denominator(10**9)
    away = abs(near) / 10**6
    return (near, *(F(near + side).limit_denominator(10**9) for side in (-away, away))) if near else (near,)


def between(ends: Iterable[tuple[Direction, Fraction]]) -> tuple[Fraction, ...]:
    """Positive numbers that are constants of several assumptions at once, the ends of their range; none if it is empty.

    Args:
        ends: of each assumption its direction and its best constant.
    """
    listed = list(ends)
    lower = max((value for direction, value in listed if direction == "up"), default=F(0))
    upper = min((value for direction, value in listed if direction == "down"), default=None)
    found = tuple(dict.fromkeys(end for end in (lower, upper) if end is not None and end > 0))
    return found if upper is None or lower <= upper else ()


def best_constants(claim: Claim, bests: Iterable[tuple[Predicate, Sequence[Any]]]) -> dict[str, Fraction]:
    """The best constants of a claim's assumptions on a problem, by name; 0 where every positive number is one.

    A name of several assumptions is one number: the best that is a constant of all. Where they point different ways
    and there is none, it is the least that those upwards allow, and the others are false with it.

    Args:
        claim: the claim.
        bests: assumptions, with the best constants of each (`validate.satisfied.best`).
    """
    ends: dict[str, list[tuple[Direction, Fraction]]] = {}
    for one, values in bests:
        for constant, value, direction in zip(one.constants, values, one.directions, strict=True):
            base = base_of(constant)
            if base is not None:
                end = outward(value_of_base(value, base[1]), up=direction == "up")
                ends.setdefault(base[0], []).append((direction, end))
    found = {}
    for name, listed in ends.items():
        least, most = ([value for way, value in listed if (way == "up") == up] for up in (True, False))
        if claim.constants[name] == "exact" and least:
            fitting = between(listed)
            found[name] = fitting[0] if fitting else max(least)
        else:
            found[name] = max(least) if least else min(most)
    return found


def outward(value: Any, up: bool) -> Fraction:
    """A fraction that is at least (up) or at most the value, and close to it; the value itself where it is exact."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | np.integer):
        return F(int(value))
    number_ = float(value)
    near = F(number_).limit_denominator(1000)
    if abs(float(near) - number_) <= 1e-12 * abs(number_):  # a short fraction, up to rounding: `true` decides
        return near
    return F(number_ * (1 + 1e-9 if up else 1 - 1e-9)).limit_denominator(10**12)


def _exact(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else F(value)


def network(clients: int, rng: random.Random) -> list[list[Fraction]]:
    """A symmetric, doubly stochastic matrix of rationals whose second eigenvalue is rational and below 1."""
    share = rng.choice((F(1, 2), F(3, 4), F(1, 4), F(1, 10), F(9, 10)))
    if clients == 4 and rng.random() < 0.5:  # a ring
        return [
            [1 - share if i == j else share / 2 if (i - j) % 4 in (1, 3) else F(0) for j in range(4)] for i in range(4)
        ]
    return [[(1 - share if i == j else F(0)) + share / clients for j in range(clients)] for i in range(clients)]
