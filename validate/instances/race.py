"""Many instances with one integer larger and larger: those that near a break at the least work go on.

At first work is taken to grow as left over right is to. From two values of left over right a power law says where the
sides meet; who is to get there with the least work goes on next, and leaves the race where they no longer approach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from math import ceil, log2
from typing import TypeAlias

from theory.claim import Claim
from theory.program import work
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.ladder import TIGHTER, Climb, Ladder, Told, moved, ratio_of
from validate.instances.longer import CLIENTS, COORDINATES, ROUNDS, SAMPLES, Way, longer, ways
from validate.instances.pool import Drawn
from validate.instances.roles import turns_of
from validate.instances.seen import Seen, measured

LEAP, STEADY, HOPEFUL = 3, 0.1, 0.3
"""Doublings at once where the exponent changes by this share of it at most; exponents that may become 1."""
OF_THE_STILL = 25
"""Operations for each round of a run that stays where it is."""
MOST_STEPS = 3000
"""Steps of all clients in a run that is played where floats do not tell."""
LEAST_GROWTH = 0.05
"""Exponent of left over right in the integer below which nobody waits for a break."""
LONG_WAY = 16
"""Times the work of the last value that a break has to be away for other numbers to be moved first."""
TURNS, NEARER = 2, 1.2
"""How often another integer goes on; how many times as near an instance has to be for it."""
COPIED = (CLIENTS, SAMPLES, COORDINATES)
OF_EACH = {CLIENTS: "visit", SAMPLES: "pass"}
"""Operations of a program by what they go over."""
MOST_ROUNDS = 5000
"""Rounds to which a run is made longer: the verifier plays no more."""


Place: TypeAlias = tuple[float, int, int]
"""How close an instance comes, which of its integers, and the value of that: two that agree are the same."""


@dataclass(frozen=True)
class Entrant:
    """An instance before the race.

    Attributes:
        score: how close it comes to a break (`validate.instances.seen.Seen.score`).
        drawn: the instance.
        still: whether no round moves it, so that long runs of it are played at once.
        cost: operations that its score took.
    """

    score: float
    drawn: Drawn
    still: bool
    cost: int = 1000


@dataclass
class _Runner:
    """One integer of one instance.

    Attributes:
        base: the instance as it is.
        way: its integer.
        still: whether no round moves it.
        last: the value of the integer that was measured last.
        ratio: left over right there.
        exponent: of the power law through the last two values.
        steady: whether it was the same through the two before.
        cost: operations that the last value took.
        polished: the value at which its other numbers were moved last.
        turn: how many integers were made larger before this one.
        first: left over right at the first value.
    """

    base: Candidate
    way: Way
    still: bool
    last: int
    ratio: float
    exponent: float = 1.0
    steady: bool = False
    cost: int = 0
    polished: float = 0.5
    turn: int = 0

    def __post_init__(self) -> None:
        self.first = self.ratio

    @property
    def left(self) -> float:
        """Doublings up to a break, if it goes on as before, or in proportion while that is not known."""
        rising = not self.steady and self.exponent >= HOPEFUL
        return log2(1 / self.ratio) / (max(self.exponent, 1.0) if rising else self.exponent)

    @property
    def work(self) -> float:
        """Operations that the value takes at which it breaks, if work grows as the value does."""
        return self.cost * 2 ** min(self.left, 60.0)

    @property
    def far(self) -> bool:
        """Whether a break is so far away that other numbers are moved first."""
        return self.last > self.way.now and LONG_WAY * self.cost <= self.work

    @property
    def next(self) -> int:
        """The value that is measured next: twice the last, or at the break if it goes on as before and that is near."""
        if self.last == self.way.now:
            return 2 * self.last or 1
        ahead = 2 ** min(self.left, LEAP if self.steady else 1)
        return min(ceil(self.last * ahead * 1.05) + 1, self.way.most)


def raced(
    claim: Claim,
    ones: Sequence[Entrant],
    spent: Callable[[], bool],
    fits: Callable[[Drawn], bool],
    going_on: Callable[[], bool] | None = None,
) -> Ladder:
    """The first break that an integer leads to.

    Args:
        claim: the claim.
        ones: the instances.
        spent: whether the budget is.
        fits: whether moments of an instance take little work.
        going_on: whether the budget is spent of those that came nearer: these have their numbers moved when all have
            left the race, and go on along other integers. Without it none does.
    """
    found, order, known, left = Ladder(), count(), set[Place](), list[_Runner]()
    waiting: list[tuple[float, int, _Runner]] = []

    def enters(runner: _Runner, work: float) -> None:
        heappush(waiting, (work, next(order), runner))

    for one in sorted(ones, key=lambda one: -one.score):  # the closest first
        for runner in _started(claim, one, known):
            enters(runner, runner.cost / runner.ratio)
    while waiting and not spent():
        runner = heappop(waiting)[2]
        if _a_step(claim, runner, found, spent, fits):
            return found
        if _in_race(runner):
            enters(runner, runner.work)
        elif _comes_nearer(runner):
            left.append(runner)
    if going_on is None or spent():
        return found
    for runner in left:
        enters(runner, runner.cost / runner.ratio)
    while waiting and not going_on():
        runner = heappop(waiting)[2]
        if _in_race(runner) and _a_step(claim, runner, found, going_on, fits):
            return found
        if not _in_race(runner) and _comes_nearer(runner) and runner.polished < runner.last:
            before = runner.ratio
            if _polished(claim, runner, found, going_on, fits):
                return found
            if runner.ratio > TIGHTER * before:
                runner.exponent, runner.steady = 1.0, False
        if _in_race(runner):
            enters(runner, runner.work)
        elif _comes_nearer(runner):
            for following in _handed_on(claim, runner, known):
                enters(following, following.cost / following.ratio)
    return found


def _a_step(
    claim: Claim, runner: _Runner, found: Ladder, spent: Callable[[], bool], fits: Callable[[Drawn], bool]
) -> bool:
    """One larger value, or other numbers where a break is far away; whether that leads to one."""
    if runner.far and runner.last >= 4 * runner.polished:
        return _polished(claim, runner, found, spent, fits)
    return _ahead(claim, runner, found, spent, fits)


def _started(claim: Claim, one: Entrant, known: set[Place], turn: int = 0) -> Iterator[_Runner]:
    """All integers of an instance, unless they are known from one that comes equally close.

    Args:
        claim: the claim.
        one: the instance.
        known: what is known; those that are new are added.
        turn: how many of its integers were made larger before.
    """
    here = ratio_of(one.score)
    if not 0 < here < 1:
        return
    base, copied = candidate_of(one.drawn), set[str]()
    operations = frozenset[str]() if claim.program is None else claim.program.operations
    for number, way in enumerate(ways(claim, base)):
        if one.still and way.name != ROUNDS:  # it rests as it is, and not otherwise
            continue
        if way.now < 1:  # twice as much is no more
            continue
        if way.name in COPIED and (way.name != CLIENTS or way.now > 1) and way.name not in copied:
            copied.add(way.name)  # copies of all of them: what changes is said by copies of the last, if there are
            if OF_EACH.get(way.name) not in operations:  # unless a run goes over them one by one
                continue
        if way.name == ROUNDS:
            way = replace(way, most=max(way.most, MOST_ROUNDS))
        place = (round(one.score, 6), number, way.now)
        if place not in known:
            known.add(place)
            cost = OF_THE_STILL if one.still else one.cost
            yield _Runner(base, way, one.still, way.now, here, cost=cost, turn=turn)


def _comes_nearer(runner: _Runner) -> bool:
    """Whether an instance came nearer as its integer grew, so that something else may break it there."""
    return not runner.still and runner.last > runner.way.now and runner.ratio >= NEARER * runner.first


def _handed_on(claim: Claim, runner: _Runner, known: set[Place]) -> Iterator[_Runner]:
    """The other integers, from where one has brought an instance nearer and goes on in vain: many turns of a loop after
    many rounds. None after `TURNS`."""
    if runner.turn == TURNS:
        return
    one = longer(claim, runner.base, runner.way, runner.last)
    if one is not None:
        entrant = Entrant((runner.ratio - 1) / (runner.ratio + 1), one, False, runner.cost)
        every = _started(claim, entrant, known, runner.turn + 1)
        yield from (other for other in every if other.way.name != runner.way.name)


def _in_race(runner: _Runner) -> bool:
    if not 0 < runner.ratio < 1 or runner.exponent < LEAST_GROWTH or runner.last >= runner.way.most:
        return False
    return runner.last * 2 ** min(runner.left, 60.0) <= 2 * runner.way.most


def _ahead(
    claim: Claim,
    runner: _Runner,
    found: Ladder,
    spent: Callable[[], bool],
    fits: Callable[[Drawn], bool],
) -> bool:
    """Whether a larger value leads to a break that fractions confirm; else the runner is at that value."""
    climb = Climb(claim, runner.base, runner.way, found, spent, fits)
    value, before = runner.next, work.operations()
    told, played = None if runner.still else climb.told(runner.base, value), None
    if told is None:
        played = _played(claim, climb, value, runner.still)
        told = None if played is None else Told(played.score, bool(played.measured.broken))
    runner.cost = OF_THE_STILL * value if runner.still else work.operations() - before
    if told is None:
        runner.exponent = 0.0
        return False
    if told.broken:
        runner.exponent = 0.0
        if played is not None:  # in fractions already
            found.broken = played
            return True
        value = climb.bisected(runner.base, max(runner.last, value - value // 4), value)
        return _confirmed(claim, climb, value)
    ratio = ratio_of(told.score)
    steady = runner.exponent
    if ratio <= 0:
        runner.exponent = 0.0
    elif runner.last > 0:  # no power law goes through 0
        runner.exponent = log2(ratio / runner.ratio) / log2(value / runner.last)
    runner.steady = runner.last > runner.way.now and abs(runner.exponent - steady) <= STEADY * steady
    runner.last, runner.ratio = value, ratio
    return False


def polished(claim: Claim, one: Entrant) -> Entrant | Seen:
    """The instance with its numbers moved one after another as long as it gets tighter; a break, if there is one."""
    base = candidate_of(one.drawn)
    for name in sorted(base.values):
        for new in moved(claim, base, name):
            drawn = realised(claim, new)
            before = work.operations()  # as of others, what it takes to measure it
            seen = None if drawn is None else measured(claim, drawn)
            if seen is None:
                continue
            if seen.measured.broken:
                return seen
            cost = work.operations() - before
            if ratio_of(seen.score) * one.cost > TIGHTER * ratio_of(one.score) * max(cost, one.cost):
                base, one = new, Entrant(seen.score, seen.drawn, False, cost)
    return one


def _polished(
    claim: Claim, runner: _Runner, found: Ladder, spent: Callable[[], bool], fits: Callable[[Drawn], bool]
) -> bool:
    """As `polished`, where a runner is now; returns whether that leads to a break that fractions confirm."""
    runner.polished = runner.last
    if runner.still:  # it rests for these numbers only
        return False
    climb = Climb(claim, runner.base, runner.way, found, spent, fits)
    told = climb.nearer(runner.last, runner.ratio)
    if told.broken:
        return _confirmed(claim, climb, runner.last)
    runner.base, runner.ratio = climb.base, told.ratio
    return False


def _played(claim: Claim, climb: Climb, value: int, still: bool) -> Seen | None:
    """The instance measured by exact play, where there are few steps, or no round moves the run."""
    climb.found.rungs += 1
    one = longer(claim, climb.base, climb.way, value)
    if one is None:
        return None
    assert one.instance.problem is not None
    steps = one.instance.rounds * one.instance.problem.clients * turns_of(claim.program, one.values)
    seen = measured(claim, one) if still or steps <= MOST_STEPS else None
    if seen is None:
        return None
    climb.found.reached.add(claim, climb.base, one)
    return seen


def _confirmed(claim: Claim, climb: Climb, value: int) -> bool:
    """Whether a break stands in fractions, on the instance as it is: it is simple already."""
    one = longer(claim, climb.base, climb.way, value)
    exact = None if one is None else measured(claim, one)
    if exact is not None and exact.measured.broken:
        climb.found.broken = exact
        return True
    return exact is None and climb.confirmed(value)
