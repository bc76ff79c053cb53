"""Parameters of a claim that satisfy its relations on a problem: bounds are read off the relations and solved for.

A relation with one open name gives the value at which it turns (`eta <= 1/(2*L)`: 1/(2L), `alpha == ...`: that
alone); values are taken there, within, and far within. Names that the assumptions bind get the best constants of the
problem, or worse ones. What an algorithm does with a parameter (how often a loop turns, how many clients are chosen, a
chance, a matrix) says what it may be.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.formula import Apply, Name, UndefinedError
from theory.operations import to_fraction
from theory.predicates import Connected, Direction, base_of, value_of_base
from theory.sentence import (
    Expression,
    Sentence,
    Vocabulary,
    evaluate,
    index_of,
    parts,
    read,
)
from validate import satisfied
from validate.instances import along
from validate.instances.constants import as_fraction, between, outward
from validate.instances.relations import (
    Memos,
    has_length,
    holds_surely,
    may_hold,
    occurrences,
    relation_satisfied,
    rounded,
    with_name,
)
from validate.instances.roles import Roles, roles_in
from validate.instances.setting import F, Setting, Values, number
from validate.instances.settled import compiled

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
EACH_ROUND = frozenset({"k", "*k"})
SMALL = F(1, 10**6)
"""A constant that every positive number is."""
TRIES = 6
ROOM = (F(1, 10), F(10), F(1, 100), F(100), F(1000), F(1, 1000))
"""Factors by which a number is changed to leave room for another."""


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
    patient: bool = False,
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
        patient: whether numbers that leave no room for another are changed (`Search`).

    Returns:
        Values by name without index (lists for one a client, rows for a matrix), and the world in which all holds,
        with its K.
    """
    roles = roles_in(claim)
    for attempt in range(TRIES):
        more = (vectors or {}, counts or {}, attempt, everybody, sharp, patient)
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
        more = (vectors or {}, counts or {}, attempt, everybody, sharp, patient)
        found = OpenLength(most_rounds, claim, problem, start, rounds, rng, roles, large, *more).run()
        if found is not None:
            return found
    return None


class Search:
    """One attempt: names are given values in an order in which their bounds are known.

    A sharp one takes constants that may be 0, where all positive numbers are constants, to be 0, and others small;
    weights of what is remembered are 0 half of the time, and numbers are at the ends of their relations more often. A
    patient one makes an earlier number smaller or larger where it leaves no room for a later one.
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
        patient: bool = False,
    ) -> None:
        self.claim, self.problem, self.rng, self.roles, self.large = claim, problem, rng, roles, large
        self.attempt, self.sharp, self.patient = attempt, sharp, patient
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
            if not self._choose(name) and not (self.patient and self._makes_room(name)):
                return False
            open_.remove(name)
        return True

    def _makes_room(self, name: str) -> bool:
        """Whether a name has a value once another number of its relations is changed by a factor, the least first."""
        together = {other for names in self.needs.values() if name in names for other in names}
        numbers = [other for other in sorted(together & set(self.values)) if self._moves(other)]
        self.rng.shuffle(numbers)
        for factor in ROOM:
            for other in numbers:
                before = self.values[other]
                self.values[other] = before * factor
                if self._stands(other) and self._choose(name):
                    return True
                self.values[other] = before
        return False

    def _moves(self, name: str) -> bool:
        """Whether the value of a name is a number that no assumption binds and that may be any fraction."""
        free = name not in self.claim.constants and name not in self.roles.counts
        return free and not self.claim.domains[name].integer and isinstance(self.values[name], Fraction)

    def _stands(self, name: str) -> bool:
        """Whether a value is in its domain, and all relations that are known hold with it."""
        known = [r for r, names in self.needs.items() if name in names and names <= set(self.values)]
        if not self.claim.domains[name].contains(self.values[name]) or self._clearly_false(known):
            return False
        return all(self.satisfied(relation) for relation in known)

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
            if satisfied.true(one, self.problem, [as_fraction(v) for v in numbers], network) is not True:
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
                self.values[name] = [value * as_fraction(right) / left for value in self.values[name]]
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
        of_all = [relation for relation in known if not self._is_of_each_round(relation)]
        same = [end for relation in of_all for end in self._ends(name, relation)]  # in every round
        solved: list[Any] = []
        for k in range(rounds):
            self.round = k
            ends = same + [end for r in known if r not in of_all for end in self._ends(name, r)]
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

    def _is_of_each_round(self, relation: Sentence) -> bool:
        """Whether a relation says something of every round, and not of all of them together."""
        return bool(
            frozenset().union(*(read(s, self.words).free for s in (relation.left, relation.right))) & EACH_ROUND
        )

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
            if occurrences(side, name, self.words) != 1 or occurrences(other, name, self.words):
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
        place = next((i for i, part in enumerate(inner) if occurrences(part, name, self.words)), None)
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
            with_name(side, name, self.words, changing)
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


def _bare(e: Expression) -> str | None:
    return index_of(e.name)[0] if isinstance(e, Name) else None


def fractions_near(value: float) -> tuple[Fraction, ...]:
    """Fractions close to a float: the nearest short one, and one on either side of what it may stand for."""
    near = F(value).limit_denominator(10**9)
    away = abs(near) / 10**6
    return (near, *(F(near + side).limit_denominator(10**9) for side in (-away, away))) if near else (near,)


def network(clients: int, rng: random.Random) -> list[list[Fraction]]:
    """A symmetric, doubly stochastic matrix of rationals whose second eigenvalue is rational and below 1."""
    share = rng.choice((F(1, 2), F(3, 4), F(1, 4), F(1, 10), F(9, 10)))
    if clients == 4 and rng.random() < 0.5:  # a ring
        return [
            [1 - share if i == j else share / 2 if (i - j) % 4 in (1, 3) else F(0) for j in range(4)] for i in range(4)
        ]
    return [[(1 - share if i == j else F(0)) + share / clients for j in range(clients)] for i in range(clients)]
