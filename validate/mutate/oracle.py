"""The other party in a trial of mutants: instances that the check does not have.

They are drawn at random, and then moved towards those that come nearest to breaking a claim, that need most of one of
its terms, or that come nearest to breaking one of its mutants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.claim import Claim
from validate.falsify import CasesOf
from validate.mutate import probe
from validate.mutate.mutants import Place, scaled, terms
from validate.mutate.tables import Instance, Record, Suspect, Table, attained, computed, recorded, signed, tabulated

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, Any]

BEYOND = 0.05  # how far beyond what an instance attains a term is scaled
MOST_SUSPECTS = 10  # of a table
_EQUAL = 1e-12  # relative: two right sides that differ by rounding
_BROKEN = 1e-6  # relative: a break that is certainly not rounding


@dataclass(frozen=True)
class Effort:
    """How hard the oracle looks.

    Attributes:
        random: instances drawn at random for all claims of a paper.
        rounds: of moving instances towards what breaks the claim, and again towards what breaks its mutants.
        parents: at most so many instances are moved in a round.
        children: instances made of each.
        mutants: at most so many a claim (None: all).
    """

    random: int
    rounds: int
    parents: int
    children: int
    mutants: int | None


FULL = Effort(random=1500, rounds=8, parents=24, children=4, mutants=None)
QUICK = Effort(random=200, rounds=2, parents=8, children=2, mutants=24)


class Oracle:
    """The instances for one claim, in one table a round.

    Attributes:
        records: the claim on all instances to which it applies.
        tables: those that satisfy its hypotheses; the first holds the random ones.
    """

    def __init__(
        self,
        claim: Claim,
        instances: Sequence[Instance],
        cases_of: CasesOf,
        effort: Effort,
        rng: np.random.Generator,
    ) -> None:
        self.claim, self._cases_of, self._effort, self._rng = claim, cases_of, effort, rng
        self.records: list[Record] = []
        self.tables: list[Table] = []
        self._add(instances)
        parts = terms(claim) if claim.relation != "=" else []
        rests = [(place, scaled(claim, place, Fraction(0))) for place in parts]
        needs: list[list[tuple[Array, int]]] = [[] for _ in rests]
        excess: list[Array] = []
        for _ in range(effort.rounds):
            for table in self.tables[len(excess) :]:
                excess.append(table.excess(claim))
                for need, (_, rest) in zip(needs, rests, strict=True):
                    need.append(attained(claim, table, rest))
            objectives = [np.concatenate(excess)]
            for need in needs:
                if _one_sign(need):
                    parts_of_it = [sign * f if sign else np.full(len(f), -np.inf) for f, sign in need]
                    objectives.append(np.concatenate(parts_of_it))
            self._move(objectives, best=4)
        self._needs = [(place, [attained(claim, table, rest) for table in self.tables]) for place, rest in rests]

    def below_attained(self) -> list[tuple[Place, Fraction]]:
        """Terms, each with a factor that is a little less than some instance needs (or more than it bears)."""
        found = []
        for place, need in self._needs:
            sign = _one_sign(need)
            if not sign:
                continue
            limit = sign * max(float((sign * factors).max()) for factors, s in need if s)
            if not np.isfinite(limit):
                continue
            factor = Fraction(limit * (1 - BEYOND) if sign > 0 else limit / (1 - BEYOND)).limit_denominator(1000)
            if 0 < factor < 1 if sign > 0 else factor > 1:
                found.append((place, factor))
        return found

    def hunt(self, claims: Sequence[Claim]) -> None:
        """Look for instances that break those claims, in the same parameters, that nothing breaks yet."""
        open_ones = {i: _Open() for i in range(len(claims))}
        for _ in range(self._effort.rounds):
            for i, state in list(open_ones.items()):
                for table in self.tables[len(state.excess) :]:
                    state.excess.append(table.excess(claims[i]))
                    state.weaker = state.weaker and weaker(claims[i], self.claim, table)
                if any(len(e) and e.max() > _BROKEN for e in state.excess):
                    del open_ones[i]
            chased = [np.concatenate(state.excess) for state in open_ones.values() if not state.weaker]
            if not chased:
                return
            self._move(chased, best=2)

    def suspects(self, claim: Claim) -> list[Suspect]:
        """Instances that break a claim in floats: of each table those that break it by most."""
        return [s for table in self.tables for s in table.suspects(claim, MOST_SUSPECTS, clearest=True)]

    def _add(self, instances: Sequence[Instance]) -> None:
        fresh = recorded(self.claim, instances, self._cases_of)
        self.records += fresh
        self.tables.append(tabulated(fresh))

    def _move(self, objectives: Sequence[Array], best: int) -> None:
        """Add instances near those with the largest objectives, as far as effort allows in turn for each objective."""
        specs = [s for table in self.tables for s in table.specs]
        orders = [np.argsort(-objective, kind="stable")[:best] for objective in objectives]
        chosen: dict[int, None] = {}
        for rank in range(best):
            for objective, order in zip(objectives, orders, strict=True):
                if len(order) > rank and np.isfinite(objective[order[rank]]):
                    chosen[int(order[rank])] = None
        parents = [specs[i] for i in list(chosen)[: self._effort.parents]]
        self._add(computed(probe.varied(s, self._rng) for s in parents for _ in range(self._effort.children)))


class _Open:
    """What is known of a mutant that nothing breaks yet."""

    def __init__(self) -> None:
        self.excess: list[Array] = []  # table by table
        self.weaker = True


def _one_sign(need: Sequence[tuple[Array, int]]) -> int:
    """+1 or -1 when all tables that say anything of a term agree on it, else 0."""
    signs = {sign for factors, sign in need if len(factors) and sign}
    return signs.pop() if len(signs) == 1 else 0


def weaker(mutant: Claim, claim: Claim, table: Table) -> bool:
    """Whether the mutant follows from the claim on every case of the table."""
    if claim.relation == "=":
        return False
    right, moved = table.right(claim), table.right(mutant)
    defined = np.isfinite(right) & np.isfinite(moved)
    right, moved = right[defined], moved[defined]
    allowed = _EQUAL * np.maximum(np.abs(right), np.abs(moved))
    return bool((signed(claim, moved - right) >= -allowed).all())
