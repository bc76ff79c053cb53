"""Runs whose length the relations of a claim decide, such as ``K >= 3*L/mu`` or ``eta >= 1/(mu*K)``: K is an unknown.

The other names are chosen first, by the relations without K. Then K is the least that the relations with K allow from
the drawn one on, or the largest below it. Where that is too many rounds, the names in these relations are moved within
what the others allow, for as long as the run gets shorter.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from theory.claim import Claim
from theory.sentence import Sentence
from validate.instances.offered import Manner
from validate.instances.relations import of_length
from validate.instances.setting import Setting, Values, schedules_of
from validate.instances.solving import Search

F = Fraction
LONGEST = 10**7
"""K that is solved for, before names are moved to make it shorter."""
FACTORS = (F(1), F(2), F(1, 2), F(4, 3), F(3, 4), F(8), F(1, 8))
SWEEPS = 12
"""How often names are moved."""
SHORTER = F(9, 10)
"""Share of a run's length that a move is to leave at most."""
STEP = 4
"""From one attempt to the next, how many times longer a run is on whose length other names depend by an equation."""
SHORT = 1000
"""Denominators from here on are long; there are some three digits beside an end that has one."""


def beside(end: Fraction) -> tuple[Fraction, Fraction]:
    """A short fraction below a number that is not 0, and one above, each within a share of 1/`SHORT` or so."""
    scale = F(SHORT)
    while abs(end) * scale < SHORT:
        scale *= 10
    return F(math.floor(end * scale)) / scale, F(math.ceil(end * scale)) / scale


class OpenLength(Search):
    """One attempt at values of all names and K.

    Args:
        most: the largest K.
        claim, world, values, manner, rng: as of `Search`; the world's rounds are the K that is preferred.
    """

    def __init__(
        self, most: int, claim: Claim, world: Setting, values: Values, manner: Manner, rng: random.Random
    ) -> None:
        super().__init__(claim, world, values, manner, rng)
        self.most = most
        self.relations = tuple(r for r in self.claim.relations if of_length(r, self.words))
        self.names = {relation: self.needs[relation] for relation in self.relations}
        self.preferred = self.world.rounds

    def run(self) -> tuple[Values, Setting] | None:
        """As `Search.run`."""
        if not self._constants() or not self._long_enough():
            return None
        if any(relation.relation == "==" for relation in self.relations):
            self._set(min(self.most, self.world.rounds * STEP**self.manner.attempt))
            return self._complete() if self._names_chosen() else None
        self.needs = {relation: names for relation, names in self.needs.items() if relation not in self.relations}
        if not self._names_chosen():
            return None
        rounds = self._shortened()
        if rounds is None or rounds > self.most:
            return None
        self._set(rounds)
        return self._complete()

    def _long_enough(self) -> bool:
        """Whether K can be what the relations ask of it that have no other name but constants; it is set to that."""
        known = [relation for relation, names in self.names.items() if names <= set(self.values)]
        rounds = self._length(known)
        if rounds is None or rounds > self.most:
            return False
        self._set(rounds)
        return True

    def _set(self, rounds: int) -> None:
        """Gives K a value; one number a round is cut, or goes on as it ended."""
        self.world = replace(self.world, rounds=rounds)
        for name in schedules_of(self.claim) & set(self.values):
            values = self.values[name]
            self.values[name] = (values + [values[-1]] * rounds)[:rounds]

    def _length(self, relations: Sequence[Sentence]) -> int | None:
        """The least K from the preferred one on with which relations hold, or the largest below; None if there is none.

        K is tried where one of the relations turns, and beside.
        """
        here = self.world

        def fits(rounds: int) -> bool:
            self.world = replace(here, rounds=rounds)
            return all(self.satisfied(relation) for relation in relations)

        ends = {math.floor(end) + beside for r in relations for end in self._ends("K", r) for beside in (0, 1)}
        tried = sorted(end for end in {self.preferred, 1, *ends} if 1 <= end <= LONGEST)
        ordered = [*(K for K in tried if self.preferred <= K), *(K for K in tried[::-1] if self.preferred > K)]
        found = next((rounds for rounds in ordered if fits(rounds)), None)
        self.world = here
        return found

    def _ends(self, name: str, relation: Sentence) -> Iterator[Any]:
        """As of any run; of inequalities short fractions on either side, as their powers get long in many rounds."""
        for end in super()._ends(name, relation):
            if name == "K" or relation.relation == "==" or not isinstance(end, Fraction) or end.denominator < SHORT:
                yield end
            else:
                yield from beside(end)

    def _turning_point(self, name: str, relation: Sentence) -> Iterator[Any]:
        """As of any name; of K between powers of two."""
        if name != "K":
            yield from super()._turning_point(name, relation)
            return
        here = self.world

        def fits(rounds: int) -> bool:
            self.world = replace(here, rounds=rounds)
            return self.satisfied(relation)

        powers = [2**k for k in range(LONGEST.bit_length())]
        told = [fits(power) for power in powers]
        for low, high, before, after in zip(powers, powers[1:], told, told[1:], strict=False):
            while before != after and high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if fits(middle) == before else (low, middle)
            if before != after:
                yield F(low)
        self.world = here

    # names that make a run shorter

    def _shortened(self) -> int | None:
        """The length of the run, of which names are moved while it is too long; None if no length satisfies all."""
        best = self._length(self.relations)
        names = sorted(name for name in frozenset().union(*self.names.values()) if self._moves(name))
        for _ in range(SWEEPS):
            if best is None or best <= self.preferred:
                break
            shorter = self._one_shorter(names, best)
            if shorter is None:
                break
            best = shorter
        return best

    def _one_shorter(self, names: Sequence[str], length: int) -> int | None:
        """The best of the moves of one name, or of two at once, that leave a shorter run; it is made."""
        values: Values = {name: self.values[name] for name in names}
        best, made = length, values
        others = [r for r, needs in self.needs.items() if needs & set(names)]
        for first, second in combinations_with_replacement(names, 2):
            for one, two in product(FACTORS, FACTORS if first != second else (F(1),)):
                moved = values | {first: values[first] * one}
                moved[second] *= two
                if moved == values or not all(self.claim.domains[n].contains(v) for n, v in moved.items()):
                    continue
                self.values.update(moved)
                if not all(self.satisfied(relation) for relation in others):
                    continue
                found = self._length(self.relations)
                if found is not None and found <= SHORTER * best:
                    best, made = found, moved
        self.values.update(made)
        return best if best < length else None
