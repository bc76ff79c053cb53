"""The search for the nearest claim that stands: candidates by distance, instances that are known, a hunt, the check.

    repair("saga/lemma-3").best.words

A candidate has to get past what its units say, the instances that break the printed claim or broke other candidates,
and a short hunt of its own. Only then `validate.check` is asked, and only its word counts.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from tempfile import TemporaryDirectory
from typing import Any

from theory.claim import Claim
from theory.sentence import everything
from validate.examine import EVALUATIONS, FAR, OPERATIONS, POOL, GivenUpError
from validate.in_words import described
from validate.instances.hunt import hunt
from validate.instances.pool import Drawn
from validate.instances.seen import Seen, measured, relations_missed
from validate.measurement import claim_of
from validate.proving import evidence, work_of
from validate.repairs.candidates import COST, Candidate, Edit, alone, applies, conflicts, said, texts
from validate.repairs.conditions import conditions, only_at_equality
from validate.repairs.edits import edited
from validate.repairs.factors import Table, table_of
from validate.repairs.growth import in_long_runs
from validate.repairs.known import FEW, FIRST, Known, hunted, known_of, shaken
from validate.repairs.monomials import OF_ROUNDS
from validate.repairs.repaired import Repair, Repaired
from validate.verdict import Result

HUNT = 3.0
"""Process seconds of a candidate's own hunt, at most: the check makes a longer one."""
STANDS = ("proved", "supported")
NEAREST = 12
"""Candidates that came nearest, to which a second edit is made."""
BANDS = (0.5, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4, 4.5)
"""Distances: all that is nearer is tried before what is farther."""
TO_PROVE, EACH, PROVING = 5, 0.07, 0.2
"""Candidates for which a derivation is looked for before anything else, and for what part of the time, each and all."""
LONGER, DEEPER = 12.0, 10
"""Process seconds of the hunt for what breaks a claim that the check calls supported, at most, and how much larger its
budget is."""
SHAKEN = 3
"""Known instances whose numbers are changed, one at a time, to break a candidate."""
BESIDE = 0.3
"""By how much farther other repairs are looked for when there is one."""
NEAR, AHEAD = 0.125, 0.4
"""By how much farther than a band its claims may be, and one that is taken before them because it is proved."""
ENOUGH = 5
"""Instances that break a claim at an equality that it assumes, before it is thought that only these do."""
NARROWER = {"strictness", "condition", "hypothesis", "on samples"}
"""Edits after which a claim need not speak of instances that broke the printed one."""
Suggested = tuple[float, Candidate]
TIMES = {False: 3, True: 6}
"""Times that a constant is made larger, or a condition's smaller, for an instance that broke a candidate; then it is
thought to do so without end."""
MIDDLING = 0.5
"""The room of conditions, which is not measured."""
TABLES = 4
"""Claims at one edit whose constants and conditions are tried, too."""
LEARNING = 0.02
"""Part of the time, in which the terms of a claim are measured, the instance that was learnt last first."""
RUNNING = 0.025
"""Part of the time, in which runs of one length are looked for, where a constant is held against longer and longer."""
LEAST = 1
"""Distance of the nearest second edit."""
LATE = 0.3
"""Part of the time, after which no other repair is looked for where there is one."""
MOST = 3
"""Repairs that are told."""


def repair(
    target: Claim | str,
    *,
    seconds: float = 60.0,
    tell: Callable[[str], None] = lambda _: None,
) -> Repair:
    """The nearest claim to a refuted one that stands.

    Args:
        target: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        seconds: of this process's time for the search; the check of a candidate that is at hand is ended, though.
        tell: called with one line of text.

    Returns:
        What was found: `Repair.best` is None where no candidate stands. On an interrupt, the best so far.

    Raises:
        ValueError: for an unknown claim, one that is no sentence, or one with names in words; for seconds that are not
            positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds={seconds} is not positive")
    claim = claim_of(target)
    if not claim.has_sentence:
        raise ValueError(f"{claim.id} is no sentence, so that it has no repair")
    if claim.in_words:
        raise ValueError(f"{claim.id} speaks of what no formula says ({', '.join(claim.in_words)}): it has no repair")
    search = _Search(claim, seconds, tell)
    try:
        search.run()
    except KeyboardInterrupt:
        search.interrupted = True
    return search.result()


@dataclass
class Near:
    """A claim at one edit that does not stand as it is.

    Attributes:
        candidate: the claim.
        asked: whether the units ask for the edit.
        left: of the first known instances, how many break it still.
        rank: how far it came: 0 for no farther than those, more for what only a hunt, or a check, ended.
        next: what a second edit makes of it; None where that was not worked out.
    """

    candidate: Candidate
    asked: bool
    left: int
    rank: int = 0
    next: list[Candidate] | None = None

    @property
    def order(self) -> tuple[bool, int, int, float]:
        """What is edited first."""
        return (not self.asked, -self.rank, self.left, self.candidate.distance)


class _Search:
    def __init__(self, claim: Claim, seconds: float, tell: Callable[[str], None]) -> None:
        self.printed, self.tell = claim, tell
        self.begun, self.seconds = time.process_time(), seconds
        self.end = self.begun + seconds
        self.claim = alone(claim)
        self.known = Known(self.claim)
        self.conflicts, self.units = conflicts(self.claim), True
        self.found: list[Repaired] = []
        self.seen = {said(self.claim)}
        self.near: list[Near] = []
        self.proved: dict[Any, bool] = {}
        self.base: dict[Any, Claim] = {}
        self.proving = 0.0
        self.tables: dict[Any, Table] = {}
        self.failed: Counter[str] = Counter()
        self.stands = self.growing = False
        self.over_rounds = self.claim.of is None or _adds_rounds_up(self.claim)
        self.hunts = self.checks = self.dropped = 0
        self.interrupted = False
        self.nearest = (0, "")

    def over(self) -> bool:
        return time.process_time() > self.end

    def run(self) -> None:
        share = self.begun + FIRST * self.seconds
        self.known, broken = known_of(self.claim, share, self.tell, self.end, self._is_proved)
        if broken is None:
            self.stands = not self.over()
            return
        self._bands()
        if self.conflicts and self.known.tried == 0:  # no edit mends them: then they say nothing of what is wrong
            self.conflicts, self.units = 0, False
            self.seen, self.near, self.dropped, self.tables = {said(self.claim)}, [], 0, {}
            self._bands()

    def _bands(self) -> None:
        """Everything up to a distance before what is farther."""
        first = Candidate(self.claim, ())
        left, waiting = [*self._next(first), *self._in_units(first)], list[Suggested]()
        for band in BANDS:
            now, left = _split(left, band)
            for some, bases in self._batches(first, now, band):
                if self.over() or self._enough() or (self.found and band > self.found[0].distance + BESIDE):
                    return
                kept, waiting = _split_suggested([*waiting, *self._kept(some)], band)
                self._try(kept, bases, band)

    def _batches(
        self, first: Candidate, now: list[Candidate], band: float
    ) -> Iterator[tuple[list[Candidate], list[Candidate]]]:
        """The claims up to a distance that are tried together, with those whose constants are tried, too."""
        near = self._nearest()[:TABLES]
        yield now, [first, *(one.candidate for one in near if one.candidate.distance + LEAST <= band)]
        for one in self._nearest():  # what came nearest first, those among them that the first batch left
            yield self._second(one, band), []

    def _try(self, kept: list[Suggested], bases: list[Candidate], band: float) -> None:
        """Claims up to a distance, those with another constant, factor or condition of some bases among them."""
        while not self.over() and len(self.found) < MOST:
            some = sorted([*kept, *self._suggested(bases, band)], key=_order)
            if not some or some[0][1].distance > band + NEAR:
                return
            if self._enough() and some[0][1].distance > self.found[0].distance + NEAR:
                return
            best = self._first(some)
            kept = [one for one in kept if one is not best]
            self.seen.add(said(best[1].claim))
            self._judge(best[1])

    def _is_proved(self) -> bool:
        """Whether the printed claim has a derivation, or a search that knows nothing beside it finds one."""
        until = time.process_time() + EACH * self.seconds
        return _proved(self.printed, 0) or _proved(self.claim, work_of(self.claim), until)

    def _first(self, some: list[Suggested]) -> Suggested:
        """The nearest claim; one that is hardly farther, where a short search proves it and not that one."""
        near = [one for one in some[:TO_PROVE] if one[1].distance <= some[0][1].distance + AHEAD]
        for one in near if len(near) > 1 else ():  # the check looks for a derivation, too
            key, now = said(one[1].claim), time.process_time()
            if key not in self.proved and self.proving < PROVING * self.seconds:
                self.proved[key] = _proved(one[1].claim, work_of(one[1].claim), now + EACH * self.seconds)
                self.proving += time.process_time() - now
            if self.proved.get(key):
                return one
        return some[0]

    def _enough(self) -> bool:
        """Whether no other repair is looked for: there are some, or one that took a good part of the time."""
        late = time.process_time() > self.begun + LATE * self.seconds
        return len(self.found) >= MOST or (bool(self.found) and late)

    def _nearest(self) -> list[Near]:
        return sorted(self.near, key=lambda one: one.order)[:NEAREST]

    def _second(self, one: Near, band: float) -> list[Candidate]:
        """The claims at one more edit than one that came near, up to a distance."""
        if self.over() or one.candidate.distance + LEAST > band:
            return []
        if one.next is None:
            one.next = [*self._next(one.candidate), *self._in_units(one.candidate)]
        now, one.next = _split(one.next, band)
        return now

    def _in_units(self, base: Candidate) -> Iterator[Candidate]:
        """A claim whose units contradict each other, with the factors that they ask for."""
        for one in table_of(base, self.units).in_units():
            if said(one.claim) not in self.seen:
                self.seen.add(said(one.claim))
                yield one

    def _suggested(self, bases: list[Candidate], band: float) -> list[Suggested]:
        """The claims with another constant, factor or condition that all known instances allow."""
        some: list[Suggested] = []
        for base in bases:
            if self.over():
                break
            table = self.tables.setdefault(said(base.claim), table_of(base, self.units))
            most = band + NEAR + AHEAD * (not base.edits)
            if base.distance + COST["units" if table.contradict else "constant"] > most:
                continue
            table.learn(self.known, time.process_time() + LEARNING * self.seconds)
            made = [*table.candidates(most)]
            made += [(MIDDLING, one) for one in conditions(base, self.known)] if not table.contradict else []
            some += [pair for pair in made if pair[1].distance <= most]
        return [
            pair for pair in some
            if self.failed[pair[1].edits[-1].about] < TIMES[pair[1].edits[-1].kind == "condition"]
            and said(pair[1].claim) not in self.seen
        ]  # fmt: skip

    def _kept(self, level: list[Candidate]) -> list[Suggested]:
        """Of candidates, those that no known instance breaks, with their distance and room."""
        kept = []
        for one in level:
            if self.over():
                break
            kinds = {edit.kind for edit in one.edits}
            same = one.claim.statement == self.claim.statement
            if same and "strictness" in kinds and not only_at_equality(one.claim, self.known):
                continue
            room = self.known.room(one.claim, not kinds & NARROWER)
            if room is not None:
                slip = one.edits[-1].kind in ("sign", "function")
                if slip and self.known.looser(
                    one.claim, self.base[said(one.claim)]
                ):  # it only promises less, as another term does
                    one = replace(one, edits=(*one.edits[:-1], Edit("term", one.edits[-1].words)))
                kept.append((room, one))
            elif len(one.edits) == 1:
                self._came_near(one, one.edits[-1].kind == "units")
        return kept

    def _came_near(self, one: Candidate, asked: bool, rank: int = 0) -> None:
        """Keep a claim for a second edit, where fewer instances break it than break the printed one."""
        if one.edits[-1].kind == "strictness":
            return
        left = self.known.left_broken(one.claim)
        if asked or left < len(self.known.first):
            self.near.append(Near(one, asked, left, rank))

    def _next(self, candidate: Candidate) -> Iterator[Candidate]:
        """The candidates at one more edit whose units fit, each once."""
        before = conflicts(candidate.claim) if self.units else 0
        for one in edited(candidate):
            if self.over():
                return
            key = said(one.claim)
            if key in self.seen:
                continue
            self.seen.add(key)
            self.base[key] = candidate.claim
            try:
                left = conflicts(one.claim) if self.units else 0
            except (ValueError, KeyError, AssertionError):
                continue
            if left < before and one.edits[-1].kind in ("name", "part exchanged", "part replaced", "factor"):
                one = replace(one, edits=(*one.edits[:-1], Edit("units", one.edits[-1].words)))
            if left:  # true in one unit at most; with another edit it may be in all
                self.dropped += 1
                if left <= self.conflicts and len(one.edits) == 1 and self.conflicts:
                    self.near.append(Near(one, left < self.conflicts, FEW))
                continue
            yield one

    def _judge(self, one: Candidate) -> None:
        if self.known.breaks(one.claim):
            return
        about = one.edits[-1].about
        self.failed[about] += bool(about)
        self.tell(f"{self.printed.id}: {one.words}")
        self.hunts += 1
        found = hunted(one.claim, min(self.end, time.process_time() + HUNT), self.known.searched)
        if found.broken is not None:
            self._broken(1, one, f"broken by {described(found.broken.drawn)}", found.broken.drawn)
            return
        if not found.seen:
            return
        for near in self._near(one.claim):
            self._broken(1, one, f"broken by {described(near)}", near)
            return
        first = self.growing or self.over_rounds  # where constants are likely to grow, before a check
        if first and self._grows(one):
            return
        self.checks += 1
        from validate.checking import check_one

        self.tell(f"{self.printed.id}: checking {one.claim.statement}")
        try:
            with TemporaryDirectory() as folder:
                result = check_one(
                    one.claim, quick=True, out=folder, given_up=self.over, met=partial(_ended, one.claim), twice=False
                )
        except _BrokenError as error:
            self._broken(2, one, f"broken by {described(error.seen.drawn)}", error.seen.drawn)
            return
        except GivenUpError:
            self._broken(3, one, "whose check did not end in the time")
            return
        supported = result.verdict == "supported"
        longer = self._longer(one) if supported else None
        stays = longer is not None and longer.broken is None
        if result.verdict == "proved" or (stays and (first or not self._grows(one))):
            self.found.append(Repaired(one, result, None if longer is None else longer.ended))
            self.failed[about] = 0 if one.edits[-1].kind == "constant" else max(TIMES.values())
        elif result.verdict not in STANDS:
            why = "without a verdict" if result.break_found is None else f"broken: {result.break_found.detail}"
            self._broken(2, one, why, self._instance(one.claim, result))

    def _grows(self, one: Candidate) -> bool:
        """Whether a constant that was read off the known instances will not do in longer runs."""
        about = one.edits[-1].about
        if not about or any(log in about for log in OF_ROUNDS):
            return False
        longer, seen = in_long_runs(one.claim, RUNNING * self.seconds)
        if seen is not None:
            self._broken(1, one, f"broken by {described(seen.drawn)}", seen.drawn)
        elif longer:  # with no constant there
            self.failed[about], self.growing = max(TIMES.values()), True
            self._broken(1, one, "which comes nearer to a break with each doubling of K")
        return longer or seen is not None

    def _broken(self, rank: int, one: Candidate, why: str, by: Drawn | None = None) -> None:
        """A candidate that came so far, and what ended it: it is told where nothing stands, and edited once more."""
        if rank > self.nearest[0]:
            self.nearest = rank, f"{one.words}, {why}"
        if by is not None:
            self.known.learn(by)
        if len(one.edits) == 1:
            self._came_near(one, False, rank)
        if one.extreme is not None and self.failed[one.edits[-1].about] == 1 and not self.over():
            far = hunted(one.extreme, min(self.end, time.process_time() + HUNT), self.known.searched).broken
            if far is not None:  # no constant will do
                self.failed[one.edits[-1].about] = max(TIMES.values())
                self.known.learn(far.drawn)

    def _longer(self, one: Candidate) -> _Longer:
        """Another hunt for what breaks a claim that nothing has broken: a long one, or half as long at the end."""
        self.tell(f"{self.printed.id}: a longer hunt for an instance that breaks it")
        now = time.process_time()
        end = min(max(self.end, now + LONGER / 2), now + LONGER)
        found = hunt(
            one.claim, pool=POOL[False], evaluations=EVALUATIONS[False], far=FAR[False], seed=1, smallest=False,
            operations=DEEPER * OPERATIONS[True], stop=lambda: time.process_time() > end,
        )  # fmt: skip
        if found.broken is not None:
            why = f"supported by a quick check, broken by {described(found.broken.drawn)}"
            self._broken(2, one, why, found.broken.drawn)
        return _Longer(found.broken, end - now if time.process_time() > end else None)

    def _near(self, claim: Claim) -> Iterator[Drawn]:
        """Instances beside those that are known, which break a candidate."""
        end = time.process_time() + HUNT
        for known in self.known.against[:SHAKEN]:
            for near in shaken(claim, known):
                if time.process_time() > end:
                    return
                seen = measured(claim, near)
                if seen is not None and seen.measured.broken:
                    yield near

    def _instance(self, claim: Claim, result: Result) -> Drawn | None:
        """The instance with which a check broke a candidate."""
        from validate.instances.occasion import occasion

        data = {} if result.break_found is None else result.break_found.data or {}
        if "instance" in data:
            form = {**data["instance"], "constants": data.get("constants", {})}
            with suppress(ValueError, KeyError, TypeError):
                return occasion(claim, form).drawn
        return None

    def result(self) -> Repair:
        order = {"proved": 0, "supported": 1}
        found = sorted(self.found, key=lambda one: (one.distance, order[one.verdict], -(one.tightness or 0)))
        return Repair(
            self.printed, tuple(found), self.stands, self.known.tried, self.known.killed, self.dropped, self.hunts,
            self.checks, time.process_time() - self.begun, self.over(), self.interrupted, self.nearest[1],
        )  # fmt: skip


def _adds_rounds_up(claim: Claim) -> bool:
    """Whether it speaks of a sum over rounds, which may hide a logarithm."""
    trees = (part for _, tree in texts(claim) for part in everything(tree))
    return any(applies(part, "sum_k") for part in trees)


@dataclass(frozen=True)
class _Longer:
    """What came of another hunt: what breaks the claim, and the process seconds that ended it, if they did."""

    broken: Seen | None
    ended: float | None


class _BrokenError(GivenUpError):
    """A check that ended with a break: a candidate needs no certificate of it."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(f"broken by {described(seen.drawn)}")
        self.seen = seen


def _ended(claim: Claim, seen: Seen) -> None:
    """End the check with this break, unless the instance may be none of the claim."""
    if not any(True for _ in relations_missed(claim, seen.drawn)):
        raise _BrokenError(seen)


def _proved(claim: Claim, units: int, until: float = inf) -> bool:
    return any(item.outcome == "proved" for item in evidence(claim, units, until))


def _order(one: Suggested) -> tuple[int, bool, float]:
    """What is tried first: what is nearer, then what promises most."""
    return (round(4 * one[1].distance), one[1].edits[-1].kind == "index", one[0])


def _split(some: Sequence[Candidate], band: float) -> tuple[list[Candidate], list[Candidate]]:
    """Those up to a distance, and those beyond it."""
    return [one for one in some if one.distance <= band], [one for one in some if one.distance > band]


def _split_suggested(some: Sequence[Suggested], band: float) -> tuple[list[Suggested], list[Suggested]]:
    return [one for one in some if one[1].distance <= band], [one for one in some if one[1].distance > band]
