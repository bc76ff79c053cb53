"""Instances that are known: those that break a claim, those at which it has little room; they decide first.

A candidate is held against all of them, and what breaks it is remembered for the next. Nothing here says that a
candidate is true.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Any

from theory.claim import Claim
from theory.sentence import index_of
from validate.breaks import accepted
from validate.falsified import APART
from validate.instances.candidates import candidate_of, realised
from validate.instances.hunt import hunt
from validate.instances.pool import Drawn, drawn, fitting_sizes
from validate.instances.refitting import refitted
from validate.instances.seen import Hunt, Seen, measured, player
from validate.play import Play

POOL, TIGHT = 120, 24
"""Instances of the printed claim's pool that are measured, and how many are kept that do not break it."""
BROKEN = 40
"""Kept of those that do."""
BY = tuple(map(Fraction, ("1/4", "1/2", "99/100", "101/100", "2", "4")))
"""By which a number of an instance is changed."""
FEW = 10
"""Of them, at which it is counted how many a candidate leaves broken."""
MEASURED = 6
"""Of either, on which the room of a candidate is measured."""
LEAST = 3
"""Instances that do not break the printed claim, at which a candidate has to say something."""
LOOKED_FOR = 60
"""Of all instances at which the printed claim holds, about so many are asked where a candidate assumes more."""
FIRST = 0.12
"""Of the time, for the instances of the printed claim."""
SEARCHED, SEARCHING = 500_000, 0.5
"""Operations of the first hunt for one that breaks it, where the pool has none; of the time that is left, after which
no other hunt begins."""


@dataclass
class Known:
    """What is known of a printed claim.

    Attributes:
        claim: the claim.
        against: instances that break it, or broke a candidate; the one that did so last comes first.
        others: instances at which it holds, the tightest first.
        rest: all instances at which it holds.
        first: some of those of `against` that were known first, small and large.
        searched: whether no instance of the pool breaks it.
        tried: candidates that were held against these.
        killed: of these, that one of the instances breaks.
    """

    claim: Claim
    against: list[Drawn] = field(default_factory=list)
    others: list[Drawn] = field(default_factory=list)
    rest: list[Drawn] = field(default_factory=list)
    first: list[Drawn] = field(default_factory=list)
    searched: bool = False
    tried: int = 0
    killed: int = 0
    players: dict[int, tuple[Drawn, Play | None]] = field(default_factory=dict)
    _last: tuple[Claim | None, dict[int, tuple[Drawn, Seen | None]]] = (None, {})

    def on(self, candidate: Claim, one: Drawn) -> Seen | None:
        """A candidate on an instance; what the last one was measured on is kept."""
        if self._last[0] is not candidate:
            self._last = candidate, {}
        if id(one) not in self._last[1]:
            self._last[1][id(one)] = one, self.measure(candidate, one)
        return self._last[1][id(one)][1]

    def measure(self, candidate: Claim, one: Drawn) -> Seen | None:
        """A candidate on an instance."""
        if id(one) not in self.players:
            self.players[id(one)] = one, player(one)
        return on(candidate, self.claim, one, self.players[id(one)][1])

    @property
    def all(self) -> list[Drawn]:
        """All of them."""
        return [*self.against, *self.others]

    def breaks(self, candidate: Claim) -> bool:
        """Whether one of the instances breaks a candidate."""
        self.tried += 1
        for i, one in enumerate(self.against):
            seen = self.on(candidate, one)
            if seen is not None and seen.measured.broken:
                self.against.insert(0, self.against.pop(i))
                self.killed += 1
                return True
        return False

    def room(self, candidate: Claim, of_all: bool) -> float | None:
        """How far a candidate is from being broken, on average, from 0 to 2; None where one instance breaks it.

        Also None where it says something at too few instances, or, unless it assumes more, at none that broke another.

        Args:
            candidate: the claim.
            of_all: whether its assumptions leave no instance out.
        """
        if self.breaks(candidate):
            return None
        gaps, said, met = [], 0, False
        for i, one in enumerate([*self.against[:MEASURED], *self.others[:MEASURED]]):
            seen = self.on(candidate, one)
            if seen is None:
                continue
            if seen.measured.broken:
                self.killed += 1
                return None
            met = met or i < len(self.against[:MEASURED])
            said += 1
            gaps += [gap(row.left, row.right) for row in seen.measured.rows if row.left is not None]
        for one in self.rest[:: max(1, len(self.rest) // LOOKED_FOR)] if not of_all else ():
            if said >= LEAST:  # the tightest may all be left out by what is assumed more
                break
            seen = self.on(candidate, one)
            if seen is not None and not seen.measured.broken:
                said += 1
                gaps += [gap(row.left, row.right) for row in seen.measured.rows if row.left is not None]
        if (of_all and not met) or said < min(LEAST, len(self.others)) or not gaps:
            return None
        return sum(gaps) / len(gaps)

    def learn(self, one: Drawn) -> None:
        """An instance that broke a candidate."""
        self.against.insert(0, one)
        del self.against[2 * BROKEN :]

    def left_broken(self, candidate: Claim) -> int:
        """How many of the first instances that break the printed claim break a candidate, too."""
        some = (self.on(candidate, one) for one in self.first)
        return sum(seen is not None and bool(seen.measured.broken) for seen in some)

    def looser(self, candidate: Claim, base: Claim) -> bool:
        """Whether a candidate's right side promises less at every known instance than that of the claim it came of."""
        relation, said = self.claim.sentence.relation, False
        for one in self.all[:MEASURED]:
            two = self.measure(base, one), self.measure(candidate, one)
            if two[0] is None or two[1] is None:
                continue
            for a, b in zip(two[0].measured.rows, two[1].measured.rows, strict=False):
                if a.right is None or b.right is None or float(a.right) == float(b.right):
                    continue
                if (float(b.right) < float(a.right)) == (relation in ("<=", "<")):
                    return False
                said = True
        return said


def shaken(candidate: Claim, one: Drawn) -> Iterator[Drawn]:
    """An instance with one of its numbers made larger or smaller, where the claim still speaks of it."""
    start = candidate_of(one)
    names = [n for n in (*candidate.symbols, *candidate.constants) if isinstance(start.values.get(n), Fraction)]
    for name in dict.fromkeys(names):
        whole = name in candidate.domains and candidate.domains[name].integer
        for by in BY:
            value = start.values[name] * by
            if name in ("N", "d", "K") or (whole and value.denominator != 1):
                continue
            values = {**start.values, name: value}
            bound = {n: values[n] for n in candidate.constants if n in values}
            try:
                again = realised(candidate, replace(start, values=values), bound)
            except (ValueError, KeyError, ZeroDivisionError, ArithmeticError):
                continue
            if again is not None:
                yield again


def gap(left: Any, right: Any) -> float:
    """The distance of two sides over the sum of both."""
    try:
        a, b = float(left), float(right)
    except OverflowError:
        return 1.0
    return abs(a - b) / (abs(a) + abs(b)) if a or b else 0.0


def on(candidate: Claim, printed: Claim, one: Drawn, played: Play | None = None) -> Seen | None:
    """A candidate on an instance of the printed claim, or of another candidate; None where it says nothing there.

    Numbers that the other had not are put where the candidate's relations allow them.

    Args:
        played: what was played there.
    """
    lost = [n for n in candidate.symbols if index_of(n)[0] not in one.values and n not in ("N", "d", "K")]
    same = (candidate.assuming, candidate.standing) == (printed.assuming, printed.standing)
    if lost or not (same and candidate.of is printed.of and one.instance.program is candidate.program):
        constants = {name: one.values[name] for name in candidate.constants if name in one.values}
        try:
            start = candidate_of(one)
            if lost:
                start = refitted(candidate, replace(start, values={**start.values, **dict.fromkeys(lost, Fraction(1))}))
            again = realised(candidate, start, constants)
        except (ValueError, KeyError, ZeroDivisionError, ArithmeticError):
            return None
        if again is None:
            return None
        one, played = again, played if again.instance == one.instance else None
    return measured(candidate, one, played=played)


def known_of(
    claim: Claim,
    end: float,
    tell: Callable[[str], None],
    last: float = inf,
    proved: Callable[[], bool] = lambda: False,
) -> tuple[Known, Seen | None]:
    """The instances of a printed claim, and one that breaks it; None where none does.

    Args:
        claim: the claim.
        end: process time at which this ends, where an instance of the pool breaks it.
        tell: called with one line of text.
        last: process time at which this ends.
        proved: asked where no instance of the pool breaks it, before more are looked for.
    """
    known = Known(claim)
    seen: list[Seen] = []
    sizes = fitting_sizes(claim)
    for seed in range(POOL):
        if time.process_time() > end:
            break
        one = drawn(claim, seed, sizes=sizes)
        now = None if one is None else measured(claim, one)
        if now is not None:
            seen.append(now)
    broken = [one for one in seen if one.measured.broken]
    if not broken and proved():
        return known, None
    if not broken:
        tell(f"{claim.id}: a search for an instance that breaks it")
        found = _searched(claim, Hunt(drawn=POOL, seen=seen), last)
        seen = [*{id(one): one for one in (*seen, *found.seen)}.values()]
        if found.broken is None:
            return known, None
        broken, known.searched = [found.broken], True
    broken.sort(key=_digits)
    known.against = [one.drawn for one in broken[:BROKEN]]
    for start in broken[:3]:
        for near in shaken(claim, start.drawn) if len(known.against) < BROKEN and time.process_time() < end else ():
            again = measured(claim, near)
            if again is not None and again.measured.broken:
                known.against.append(near)
            elif again is not None:
                seen.append(again)
    del known.against[BROKEN:]
    known.first = known.against[:: max(1, len(known.against) // FEW)][:FEW]
    rest = sorted((now for now in seen if not now.measured.broken), key=lambda now: -now.score)
    known.rest = [now.drawn for now in rest]
    spread = rest[TIGHT // 2 :: max(1, 2 * len(rest) // TIGHT)]
    known.others = [now.drawn for now in (*rest[: TIGHT // 2], *spread)][:TIGHT]
    return known, broken[0]


def _searched(claim: Claim, begun: Hunt, last: float) -> Hunt:
    """Hunts from other seeds, with twice the budget each, until one breaks the claim or a part of the time is over."""
    operations, seed = SEARCHED, 0
    end = time.process_time() + SEARCHING * (last - time.process_time())
    while True:
        found = hunt(
            claim, pool=400, evaluations=600, far=240, operations=operations, smallest=False, seed=seed, again=seed > 0,
            accepted=lambda one: accepted(claim, one, True), begun=begun if not seed else None,
            stop=lambda: time.process_time() > last,
        )  # fmt: skip
        if found.broken is not None or not found.seen or not time.process_time() < end < inf:
            return found
        operations, seed = 2 * operations, seed + APART


def _digits(seen: Seen) -> int:
    """Small instances first: they take least to measure."""
    return len(str(seen.drawn.instance.to_json()))


def hunted(claim: Claim, end: float, searched: bool) -> Hunt:
    """A short hunt for an instance that breaks a candidate; the check makes a long one.

    Args:
        claim: the candidate.
        end: process time at which it ends.
        searched: whether more than the pool is tried.
    """
    return hunt(
        claim, pool=80, evaluations=300 * searched, operations=300_000 if searched else 150_000, smallest=False,
        stop=lambda: time.process_time() > end,
    )  # fmt: skip


def numbers(one: Drawn, names: Sequence[str]) -> dict[str, Fraction]:
    """The values of those names that are one number there."""
    found = {}
    for name in names:
        value = one.values.get(name)
        if isinstance(value, Fraction):
            found[name] = value
    return found
