"""Names of a claim are given values one after another, in an order in which their bounds are known."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Name
from theory.predicates import Connected, Direction, base_of
from theory.program import work
from theory.sentence import (
    Expression,
    Sentence,
    index_of,
    read,
    text_of,
)
from validate import satisfied
from validate.instances import along
from validate.instances.constants import as_fraction, bests_of, between, root_of, values_in
from validate.instances.offered import Manner, any_matrix, closed_ends, network, offered, swapping
from validate.instances.relations import may_hold, of_length, relation_satisfied, rounded
from validate.instances.roles import roles_in
from validate.instances.setting import F, Setting, Values
from validate.instances.turning_points import Solver

MOST_BALANCED = 40
"""Values of an integer of one client, at which an equation of all clients may hold."""
MOST_TURNS = 200
"""Of a loop whose number of turns a relation bounds from below."""
SHARES = (F(1), F(1), F(1), F(1, 2), F(9, 10), F(1, 10), F(1, 10), F(1, 100), F(2))
SHARP_SHARES = (F(1), F(1, 20), F(1), F(1, 2), F(1, 100), F(1))
"""Of the value at which a relation turns."""
EACH_ROUND, EACH_CLIENT = frozenset({"k", "*k"}), frozenset({"n"})
LEADING, FINE = 1 / 4, 1000
"""How often one client's number is as large as an equation of all allows; the parts of their sum that it may be."""
SOLVED_FOR_EACH, AT_THE_END = 1 / 2, 1 / 2
"""How often numbers of each client are solved for where a relation bounds each; how often they are at that end then."""
BESIDE = (F(99, 100), F(9, 10), F(101, 100), F(11, 10))
"""Of a value at which a relation turns that is none itself, where it was to be taken: beta < 1."""
PARTS = (F(1, 2), F(1, 10), F(9, 10))
"""Of the way from one end of a number's relations to the next."""
SMALL = F(1, 10**6)
"""A constant that every positive number is."""
AT_AN_END, ALONE = 1 / 8, 0.2
"""Of the times that a number whose domain has a closed end is chosen, the share in which it is tried there first; of
those that weights of remembered vectors are, that in which one of them has all of it."""
TRIES = 6
ATTEMPT = 200
"""Of `theory.program.work`: what an attempt takes beside the sides of relations."""
ROOM = (F(1, 10), F(10), F(1, 100), F(100), F(1000), F(1, 1000))
"""Factors by which a number is changed to leave room for another."""


SWAPPING = 4 / 5
"""How often two clients change places, where there are several matrices."""


class Search(Solver):
    """One attempt: names are given values in an order in which their bounds are known.

    A sharp one takes constants that may be 0, where all positive numbers are constants, to be 0, and others small;
    weights of what is remembered are 0 half of the time, and numbers are at the ends of their relations more often. A
    patient one makes an earlier number smaller or larger where it leaves no room for a later one.

    Attributes:
        stuck: the name for which no value was left, after `run`.
    """

    def __init__(self, claim: Claim, world: Setting, values: Values, manner: Manner, rng: random.Random) -> None:
        super().__init__(claim, world, values)
        self.problem, self.manner, self.rng, self.roles = world.problem, manner, rng, roles_in(claim)
        self.symbols = {index_of(s)[0]: index_of(s)[1] for s in claim.symbols if s != "K"}
        self.needs = {relation: self._names(relation) for relation in claim.relations}
        numbers = {name for name in self.symbols if not claim.domains[name].integer}
        tied = any(names & self.roles.turns and names & numbers for names in self.needs.values())
        self.counts_last = tied and manner.attempt < TRIES - 1
        self.stuck: str | None = None
        self.best: dict[str, Fraction] = {}

    def run(self) -> tuple[Values, Setting] | None:
        """Values with which everything that the claim assumes holds, and the world; None where none were found."""
        work.count(ATTEMPT)
        return self._complete() if self._constants() and self._names_chosen() else None

    def _names_chosen(self) -> bool:
        """Whether all names that assumptions do not bind have been given values."""
        open_ = [name for name in self.symbols if name not in self.values]
        first = [name for name in self.manner.first if name in open_]
        while open_:
            if first:
                name = first.pop()
            else:
                name = min(open_, key=lambda n: (len(self._waits_for(n, open_)), self._late(n), n))
            if not self._choose(name) and not (self.manner.patient and self._makes_room(name)):
                self.stuck = name
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
        if not self.claim.domains[name].contains(self.values[name]) or self._clearly_false(self._known(name)):
            return False
        return self._agrees(name)

    def _known(self, name: str) -> list[Sentence]:
        """The relations of a name that speak of no open one."""
        return [r for r, names in self.needs.items() if name in names and names <= set(self.values)]

    def _agrees(self, name: str) -> bool:
        """Whether these relations hold."""
        return all(self.satisfied(relation) for relation in self._known(name))

    def _complete(self) -> tuple[Values, Setting] | None:
        """The values, if all relations and assumptions hold with them."""
        for relation in self.claim.relations:
            if not self.satisfied(relation):
                return None
        for one in self.claim.predicates:
            network = self._network(one)
            numbers = values_in(one, self.world, lambda c, n: self._value(c, n))
            if any(v is None for value in numbers for v in (value if isinstance(value, list) else [value])):
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
            for name in (text_of(c) for c in one.constants if isinstance(one, ForEvery)):
                number = index_of(name)[0]
                if name not in one.binds and number in self.symbols and number not in self.values:
                    self._choose(number)
            bests = bests_of(one, self.world)
            if bests is None:
                return False
            worse = rng.random() < 0.25
            for constant, value, direction in zip(one.constants, bests, one.directions, strict=True):
                base = base_of(constant)
                if base is None or base[0] not in one.binds:
                    continue
                name = index_of(base[0])[0]
                exact = root_of(value, base[1], direction, self.claim.domains[name])
                if self.claim.constants[name] == "exact":
                    tied.setdefault(name, []).append((direction, exact))
                    continue
                chosen = self._bound(name, exact, direction, worse)
                if chosen is None:
                    return False
                self.values[name] = chosen
        for name, ends in tied.items():
            fitting = self._fitting(ends)
            if fitting is None:
                return False
            self.values[name] = fitting
        return self._constants_related()

    def _fitting(self, ends: list[tuple[Direction, Any]]) -> Any:
        """A constant of several assumptions that point different ways, or a list of them; None where there is none."""
        if not isinstance(ends[0][1], list):
            fitting = between(ends)
            return self.rng.choice(fitting) if fitting else None
        ways = [way for way, _ in ends]
        of_each = [self._fitting(list(zip(ways, own, strict=True))) for own in zip(*(v for _, v in ends), strict=True)]
        return None if None in of_each else of_each

    def _bound(self, name: str, exact: Any, direction: Direction, worse: bool) -> Any:
        """A constant of one more assumption, or a list of them, one a client; None where there is none.

        Args:
            name: without an index.
            exact: the best constant of this assumption, a fraction, or a list of them.
            direction: which way it may be worse.
            worse: whether it is to be.
        """
        before = self.values.get(name)
        if not isinstance(exact, list):
            chosen, best = self._one_bound(name, exact, direction, worse, before)
            if best is not None:
                known = self.best.get(name, best)
                self.best[name] = max(best, known) if direction == "up" else min(best, known)
            return chosen
        earlier = before if isinstance(before, list) else [None] * len(exact)
        found = [self._one_bound(name, one, direction, worse, b)[0] for one, b in zip(exact, earlier, strict=True)]
        return None if None in found else found

    def _one_bound(
        self, name: str, exact: Fraction, direction: Direction, worse: bool, before: Any
    ) -> tuple[Fraction | None, Fraction | None]:
        """A constant, None where there is none, and the best one where it is worth to know it."""
        rng, up, domain = self.rng, direction == "up", self.claim.domains[name]
        if domain.contains(F(-1)):
            exact += F(rng.choice((0, 0, 0, 1, 10))) * (1 if up else -1)
            return _outermost(exact, before, up), None
        if self.manner.sharp and exact <= 0 and up:
            return max(self._least(name), before or F(0)), None
        allowed = domain.contains(exact)
        if exact <= 0 and (worse or not allowed):
            exact = rng.choice((F(1), F(1, 10), F(1, 100))) if up else exact
        if exact <= 0 and not allowed:
            return None, None
        best = exact
        if worse:
            exact = exact * rng.choice((F(2), F(10))) if up else exact / rng.choice((F(2), F(10)))
        return _outermost(exact, before, up), best

    def _constants_related(self) -> bool:
        """Whether relations between constants of assumptions hold, or do with one that is worse: L == 3*mu.

        Those with K are left to the length of the run.
        """
        known = set(self.values) & set(self.claim.constants)
        for relation, names in self.needs.items():
            if not names or not names <= known or of_length(relation, self.words) or self.satisfied(relation):
                continue
            ways = [
                name
                for name in sorted(names)
                if self.claim.constants[name] != "exact" and isinstance(self.values[name], Fraction)
            ]
            self.rng.shuffle(ways)
            if not any(self._worse(name, relation) for name in ways):
                return False
        return True

    def _worse(self, name: str, relation: Sentence) -> bool:
        """Whether a relation holds with a constant that is no better than the best, which it then has."""
        before, up = self.values[name], self.claim.constants[name] == "up"
        best = self.best.get(name, before)
        for end in self._ends(name, relation):
            worse = end >= best if up else end <= best
            if worse and isinstance(end, Fraction) and self.claim.domains[name].contains(end):
                self.values[name] = end
                if self.satisfied(relation):
                    return True
        self.values[name] = before
        return False

    def _least(self, name: str) -> Fraction:
        """A constant where every positive number is one: 0 where it may be that."""
        return F(0) if self.claim.domains[name].contains(F(0)) else SMALL

    def _network(self, one: Any) -> Any:
        return self.values.get(one.matrix) if isinstance(one, Connected) else None

    def _network_of_clients(self, name: str) -> list[list[Fraction]]:
        """Any matrix of clients where nothing is assumed of it; of several often such as do not commute."""
        N, rng = self.world.clients, self.rng
        if not any(isinstance(one, Connected) and one.matrix == name for one in self.claim.predicates):
            return any_matrix(N, rng)
        several = len(self.roles.matrices) > 1 and rng.random() < SWAPPING
        return (swapping if several else network)(N, rng)

    def _choose_network(self, one: Connected) -> bool:
        self.values[one.matrix] = self._network_of_clients(one.matrix)
        rho = satisfied.second_eigenvalue(self.values[one.matrix])
        if "rho" in self.symbols:
            if not self.claim.domains["rho"].contains(rho) or (rho == 0 and "rho" not in self.claim.parameters):
                return False
            self.values["rho"] = rho
        return True

    # one name

    def _choose(self, name: str) -> bool:
        rng = self.rng
        if name in self.roles.matrices:
            self.values[name] = self._network_of_clients(name)
            return True
        if name in self.roles.weights:
            return self._choose_weights(name)
        tied = any(name in names for names in self.needs.values())
        candidates = offered(name, self, self.manner, self.roles, tied, rng)
        domain = self.claim.domains[name]
        at_end = [] if domain.integer else closed_ends(domain)
        seldom = bool(at_end) and not self.manner.sharp and rng.random() < AT_AN_END
        at_end = [rng.choice(at_end)] if seldom else []
        if self.symbols[name] == "k":
            return self._choose_schedule(name, candidates, at_end)
        if self.symbols[name] == "n" or (name in self.roles.steps and rng.random() < 0.5):
            return self._choose_list(name, candidates)
        known = [r for r, names in self.needs.items() if name in names and names <= {*self.values, name}]
        ends = [end for relation in known for end in self._ends(name, relation)]
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
            tried = [share * e for e in ends] + (self._beside(name, ends) if share == 1 else ends)
            tried += [s * e for e in ends for s in (F(1, 2), F(2), F(1, 10), F(10))]
        tried += candidates
        inside = [] if domain.integer else self._inside(name, ends)
        for value in [*at_end, *tried, *inside]:
            if not domain.contains(value) or (name in self.roles.counts and value.denominator != 1):
                continue
            self.values[name] = value
            if not self._clearly_false(known) and all(self.satisfied(relation) for relation in known):
                return True
        self.values.pop(name, None)
        return False

    def _beside(self, name: str, ends: Sequence[Fraction]) -> list[Fraction]:
        """Values close to those at which relations turn."""
        near = list(BESIDE)
        random.Random(f"{name} beside {ends}: {self.values}").shuffle(near)  # so that all else is drawn as without
        return [part * e for e in ends for part in near]

    def _inside(self, name: str, ends: Sequence[Fraction]) -> list[Fraction]:
        """Values between the ends of relations and of the domain, where nothing else is left: such as 9/10 < a < 1."""
        domain = self.claim.domains[name]
        closed = [F(end) for end in (domain.lower, domain.upper) if end is not None]
        every = sorted({*map(F, ends), *closed})
        aside = random.Random(f"{name} between {every}: {self.values}")  # so that all else is drawn as without
        found = [low + (high - low) * part for low, high in pairwise(every) for part in PARTS]
        aside.shuffle(found)
        return found

    def _clearly_false(self, relations: Sequence[Sentence]) -> bool:
        """Whether floats tell that one of the relations is false: what fractions take long to say."""
        rough = replace(self.world, values=rounded(self.values))
        here = [r for r in relations if not along.speaks_of_run(r, self.words)]
        return any(not relation_satisfied(relation, rough, self.claim, may_hold) for relation in here)

    def _share(self) -> Fraction:
        """Of the value at which a relation turns; a sharp attempt after the first takes one after another."""
        attempt, sharp = self.manner.attempt, self.manner.sharp
        if sharp and attempt:
            return SHARP_SHARES[attempt % len(SHARP_SHARES)]
        return self.rng.choice(SHARP_SHARES if sharp else SHARES)

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
        if not known:
            return True
        aside = random.Random(f"{name} of each client: {self.values}")  # so that all else is drawn as without
        for relation in known:
            of_each = self._is_over(relation, EACH_CLIENT) and (
                relation.relation == "==" or aside.random() < SOLVED_FOR_EACH
            )
            if of_each and self._solved_for_each(name, relation, aside):
                continue
            if self.satisfied(relation):
                continue
            if relation.relation == "==" and (domain.integer or name in self.roles.steps):
                if not self._balanced(name, relation, aside):
                    return False
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
        held = all(self.satisfied(relation) for relation in known)
        whole = domain.integer or name in self.roles.steps
        bounded = {relation.relation == "==" for relation in known} == {True, False}
        if N > 1 and not whole and bounded and aside.random() < LEADING:
            return self._led(name, known) or held
        return held

    def _led(self, name: str, known: Sequence[Sentence]) -> bool:
        """Whether relations hold with one client's number as large as they allow, and all others the same.

        The others are what an equation leaves them, such as sum_n(q_n) == 1. As before where they hold with none.
        """
        before, domain, N = self.values[name], self.claim.domains[name], self.world.clients
        equation = next(relation for relation in known if relation.relation == "==")
        even = self._of_others(name, equation, [])
        fewest, too_many, part = 0, FINE + 1, FINE // N  # all the same at first: what the least allow, too
        kept = None
        while even is not None and too_many - fewest > 1:
            first = even * N * F(part, FINE)
            rest = self._of_others(name, equation, [first])
            if rest is not None and domain.contains(rest) and domain.contains(first):
                self.values[name] = [first] + [rest] * (N - 1)
                if all(self.satisfied(relation) for relation in known):
                    fewest, kept = part, self.values[name]
            if fewest < part:
                too_many = part
            part = (fewest + too_many) // 2
        self.values[name] = before if kept is None else kept
        return kept is not None

    def _of_others(self, name: str, equation: Sentence, given: list[Fraction]) -> Fraction | None:
        """What an equation leaves each of the other clients; None where that is not one number."""
        gaps = []
        for other in (F(0), F(1)):
            self.values[name] = given + [other] * (self.world.clients - len(given))
            left, right = self._value(equation.left), self._value(equation.right)
            gaps += [left - right] if isinstance(left, Fraction) and isinstance(right, Fraction) else []
        return gaps[0] / (gaps[0] - gaps[1]) if len(gaps) == 2 and gaps[0] != gaps[1] else None

    def _balanced(self, name: str, relation: Sentence, rng: random.Random) -> bool:
        """Whether an equation holds with integers of the clients, small ones but for one, such as mean_n(t_n) == 2."""
        N, least = self.world.clients, max(1, int(self.claim.domains[name].lower or 0))
        for small in ([F(least)] * N, [F(least + rng.randrange(3)) for _ in range(N)]):
            one = rng.randrange(N)
            for value in range(least, least + MOST_BALANCED):
                self.values[name] = [F(value) if n == one else small[n] for n in range(N)]
                if self.satisfied(relation):
                    return True
        return False

    def _solved_for_each(self, name: str, relation: Sentence, rng: random.Random) -> bool:
        """Whether a relation of each client holds with numbers at what it allows each, or a share of that."""
        before, solved, domain = self.values[name], [], self.claim.domains[name]
        exact = relation.relation == "=="
        share = F(1) if exact or rng.random() < AT_THE_END else rng.choice(SHARES)
        for n in range(self.world.clients):
            self.client = n
            ends = [end for end in self._ends(name, relation) if domain.contains(share * end)]
            solved.append(share * (min(ends) if ends and not exact else ends[0]) if ends else None)
        self.client = 0
        if None not in solved:
            self.values[name] = solved
            if self.satisfied(relation):
                return True
        self.values[name] = before
        return False

    def _choose_schedule(self, name: str, candidates: list[Any], at_end: list[Fraction]) -> bool:
        """One number a round: at the end of what the relations allow in each, or falling, or the same."""
        rng, rounds = self.rng, max(self.world.rounds, 1)
        known = [r for r, names in self.needs.items() if name in names and names <= {*self.values, name}]
        share = rng.choice((F(1), F(1), F(1, 2), F(1, 10)))
        of_all = [relation for relation in known if not self._is_over(relation, EACH_ROUND)]
        same = [end for relation in of_all for end in self._ends(name, relation)]  # in every round
        solved: list[Any] = []
        for k in range(rounds):
            self.round = k
            ends = same + [end for r in known if r not in of_all for end in self._ends(name, r)]
            solved.append(share * min(ends) if ends else None)
        self.round = 0
        first = candidates[0]
        tries = [[end] * rounds for end in at_end]
        tries += [[s if s is not None else first for s in solved]]
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

    def _is_over(self, relation: Sentence, indices: frozenset[str]) -> bool:
        """Whether a relation says something for all values of an index, and not of all of them together."""
        return bool(frozenset().union(*(read(s, self.words).free for s in (relation.left, relation.right))) & indices)

    def _choose_weights(self, name: str) -> bool:
        assert self.claim.program is not None
        lengths = [s.length for s in self.claim.program.state if s.length is not None]
        others = [v for v in (self.values.get(other) for other in self.roles.weights) if isinstance(v, list)]
        size = self._value(lengths[0]) if lengths else F(1)
        if size is None:  # no name of the claim: the weights say it
            size = F(len(others[0])) if others else F(self.rng.choice((1, 2, 3)))
        if self.manner.sharp and self.manner.attempt % 2 == 0:
            self.values[name] = [F(0)] * int(size)
            return True
        aside = random.Random(f"{name}: {self.values}")  # so that all else is drawn as it would be without
        alone = aside.randrange(int(size))
        if aside.random() < ALONE:
            self.values[name] = [F(int(j == alone)) for j in range(int(size))]
            if self._agrees(name):
                return True
        shares = [self.rng.choice((F(1, 2), F(1, 4), F(1, 10), F(3, 10), F(0))) for _ in range(int(size))]
        total = sum(shares)
        self.values[name] = [s * F(9, 10) / total for s in shares] if total >= 1 else shares
        if self._agrees(name):
            return True
        all_of_it = self.rng.randrange(len(shares))
        tries = [[s / total for s in shares]] if total else []
        tries += [[F(int(j == all_of_it)) for j in range(len(shares))], [s / 8 for s in shares]]
        for values in tries:
            self.values[name] = values
            if self._agrees(name):
                return True
        return False


def _bare(e: Expression) -> str | None:
    return index_of(e.name)[0] if isinstance(e, Name) else None


def _outermost(value: Fraction, before: Fraction | None, up: bool) -> Fraction:
    """The constant of both: the larger one, or the smaller one of such as may be smaller."""
    if before is None:
        return value
    return max(value, before) if up else min(value, before)
