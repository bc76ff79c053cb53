"""The search for an instance that breaks a claim: it knows the claim only, and its budget is work.

First the pool: instances made from the claim, each measured exactly. Then the tightest of them with one integer larger
and larger, and a climb from them: neighbours are kept if the claim is closer to breaking there. What breaks it is
confirmed as it was measured; then it is made smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import isqrt
from typing import Any, Literal

from theory.claim import Claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.program import LINEAR_GIVEN_DRAWS, work
from theory.sentence import At, Expression, SentenceError, everything
from validate.both_sides import Measured, Row, sides
from validate.expected import tapped, taps_of
from validate.instances import tried
from validate.instances.by_moments import MOST_TAPPED, breaks_in_floats, by_moments
from validate.instances.candidates import (
    Candidate,
    candidate_of,
    moved,
    of_rounds,
    realised,
    refitted,
    size,
    smaller,
)
from validate.instances.choices import has_length, roles_of, turns_of
from validate.instances.outside import rougher
from validate.instances.pool import Drawn, drawn, fitting_sizes, has_functions
from validate.instances.problems import Quadratics
from validate.instances.ridges import Ridges
from validate.instances.shapes import Size
from validate.instances.together import starts_at_minimiser, together, with_its_start, with_weighted_starts
from validate.on_instance import setting_of
from validate.play import Play
from validate.rounds import TooManyOutcomesError

Where = Literal["pool", "search"]
OUTCOMES = 500
"""Outcomes of one round that are played: an instance with more says nothing here."""
KEPT, KEPT_BENT = 12, 3
"""Instances from which the search climbs; beside the tightest, of functions of several variables that bend."""
CASES = 25
"""Values of the free indices on one instance that count as an evaluation of the search."""
POOL, EVERYBODY, SHARP, LARGER = "pool", "everybody takes part", "few numbers", "few numbers, made larger"
MOVED, BENT = "begun elsewhere, or in other units", "functions of several variables that bend"
AFAR, ALONG, CLIMB = "far out", "the tightest, made larger", "search"
"""Stages of a hunt."""
REFUSED = 8
"""Breaks that do not stand up to whoever else looks at them, after which no more are looked for."""


@dataclass(frozen=True)
class Seen:
    """An instance that was measured.

    Attributes:
        drawn: the instance.
        measured: both sides.
    """

    drawn: Drawn
    measured: Measured

    @property
    def score(self) -> float:
        """How close it comes to breaking the claim: (left - right)/(abs(left) + abs(right)) at its worst row.

        That both sides are the same at the start says nothing where later rounds are measured too.
        """
        rows = [row for row in self.measured.rows if row.left is not None]
        later = [row for row in rows if row.at.get("k") != 0 or row.left != row.right]
        return max(map(_gap, later or rows), default=-2.0)


def _gap(row: Row) -> float:
    if row.status == "broken":
        return 2.0
    exact = isinstance(row.left, Fraction) and isinstance(row.right, Fraction)
    left, right = (row.left, row.right) if exact else (_number(row.left), _number(row.right))
    total = abs(left) + abs(right)
    return -1.0 if total == 0 else float(-abs(left - right) / total)  # of fractions before they are rounded


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return 1e300 if value > 0 else -1e300


@dataclass
class Hunt:
    """What was tried, and what came of it.

    Attributes:
        seen: the instances on which the claim says something.
        none: seeds that led to no instance.
        silent: instances of which the claim does not speak, or where a side is undefined in every row.
        undefined: rows in which a side is undefined.
        undecided: instances of which balls do not tell.
        too_many: instances with too many outcomes.
        failed: other reasons for which an instance could not be measured, with their numbers.
        broken: the first instance that breaks the claim, made smaller; None where none did.
        origin: where that came from.
        evaluations: instances measured by the search, after the pool.
        far: instances with many clients, many turns or long runs, in floats.
        reached: by integer (K, N, d, samples, a parameter), how far the tightest instances were made longer along it.
        suspect: one of these that seems to break the claim, which fractions neither confirm nor clear.
        first: the same instance as it was found.
        stage: of the hunt, in which that was.
        tried: how many instances had been tried by then.
    """

    seen: list[Seen] = field(default_factory=list)
    none: int = 0
    silent: int = 0
    undefined: int = 0
    undecided: int = 0
    too_many: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    broken: Seen | None = None
    first: Seen | None = None
    origin: Where = "pool"
    stage: str = ""
    tried: int = 0
    evaluations: int = 0
    far: list[Drawn] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    suspect: Drawn | None = None


def hunt(
    claim: Claim,
    *,
    pool: int,
    evaluations: int,
    far: int = 0,
    seed: int = 0,
    tell: Callable[[str], None] = lambda _: None,
    accepted: Callable[[Seen], bool] = lambda _: True,
    stop: Callable[[], bool] = lambda: False,
    smallest: bool = True,
    operations: int | None = None,
) -> Hunt:
    """Try to break a claim.

    Args:
        claim: the claim.
        pool: instances of the pool.
        far: instances of the pool with many clients, many turns or long runs, in floats first.
        evaluations: of the search.
        seed: of everything that is drawn.
        tell: called with one line of text.
        accepted: whether a break stands up to whoever else looks at it. One that does not is what came of the hunt
            only if no other is found.
        stop: asked between instances; where it says so, what was seen so far is what came of it.
        smallest: whether a break is made smaller; it costs most of the time that a break takes.
        operations: a budget in operations (`theory.program.work`): each of pool, distance and search ends with its
            share of it, what is left going to the next, but none before `LEAST` instances, unless all of it is spent.
    """
    found = Hunt()
    budget = _Budget(operations)
    doubts = _Doubts(claim, found, accepted, smallest)
    small = fitting_sizes(claim)
    for i in range(pool):
        if stop():
            return found
        if budget.spent(1 if i >= LEAST else 3):
            break
        if i % 200 == 199:
            tell(f"{claim.id}: {i + 1} of {pool} instances")
        one = drawn(claim, seed + i, sizes=small)
        if one is not None and i % 2:
            one = rougher(claim, one) or one
        seen = None if one is None else measured(claim, one, found)
        if one is None:
            found.none += 1
        if seen is not None:
            if seen.measured.broken:
                if doubts.settled(seen, POOL):
                    return found
                continue
            found.seen.append(seen)
    broken = _in_the_plane(claim, found, pool, seed, stop)
    if broken is not None and doubts.settled(broken, BENT):
        return found
    broken = _of_everybody(claim, found, pool, seed, stop, budget)
    if broken is not None and doubts.settled(broken, EVERYBODY):
        return found
    for seen in chain(_from_weighted(claim, found), _in_other_units(claim, found)):
        if seen.measured.broken and doubts.settled(seen, MOVED):
            return found
    if far and claim.program is not None and has_functions(claim):
        tell(f"{claim.id}: instances with few numbers, made larger and larger")
        for broken, longer in _sharpened(claim, found, far, seed, stop, operations):
            if doubts.settled(broken, LARGER if longer else SHARP, short=True):
                return found
    if far:
        tell(f"{claim.id}: {far} instances with many clients, many turns, long runs")
        broken = _from_afar(claim, found, far, seed, stop, budget)
        if broken is not None and doubts.settled(broken, AFAR):
            return found
        broken = _along(claim, found, stop, budget)
        if broken is not None and doubts.settled(broken, ALONG, short=True):
            return found
    best = _tightest(found)
    rng = random.Random(f"{seed}:{claim.statement}")
    climbers = [(s.score, candidate_of(s.drawn)) for s in best]
    while climbers and found.evaluations < evaluations:
        tell(f"{claim.id}: {found.evaluations} of {evaluations} evaluations of the search")
        for i in range(len(climbers)):
            score, here = climbers[i]
            for _ in range(40):
                if found.evaluations >= evaluations:
                    break
                if stop() or (found.evaluations >= LEAST and budget.spent(3)):
                    return found
                found.evaluations += 1
                step = moved(here, claim, rng)
                if _too_large(step, claim):
                    continue
                one = realised(claim, step)
                seen = None if one is None else measured(claim, one, found)
                if seen is None:
                    continue
                found.evaluations += len(seen.measured.rows) // CASES
                if seen.measured.broken:
                    if doubts.settled(seen, CLIMB):
                        return found
                    continue
                if seen.score >= score:
                    score, here = seen.score, step
            climbers[i] = (score, here)
    return found


def _tightest(found: Hunt) -> list[Seen]:
    """The instances from which the search climbs, among them some of functions of several variables that bend."""
    ordered = sorted(found.seen, key=lambda s: -s.score)
    bent = [seen for seen in ordered[KEPT:] if isinstance(seen.drawn.instance.problem, Ridges)]
    return [*ordered[:KEPT], *bent[:KEPT_BENT]]


def _in_the_plane(claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool]) -> Seen | None:
    """The first instance of functions of several variables that are no quadratics that breaks a claim about points.

    Nothing is played, so that each takes little work; and what breaks such a claim there is often rare: curvature that
    changes between its points.
    """
    if claim.program is not None or not claim.vectors or not has_functions(claim):
        return None
    sizes = [size for size in fitting_sizes(claim) if size.dim > 1]
    if _speaks_of_f_alone(claim):
        sizes = [size for size in sizes if size.clients * size.samples == 1] or sizes
    for i in range(seeds if sizes else 0):
        if stop():
            return None
        one = drawn(claim, seed + 3 * 10**6 + i, sizes=sizes, bent=True)
        if one is None or not isinstance(one.instance.problem, Ridges):
            continue
        seen = measured(claim, one, found)
        if seen is None:
            continue
        if seen.measured.broken:
            return seen
        found.seen.append(seen)
    return None


def _speaks_of_f_alone(claim: Claim) -> bool:
    """Whether clients and samples are neither named nor indexed."""
    if any(one.function != "f" for one in claim.predicates) or any(name.endswith("_n") for name in claim.vectors):
        return False
    trees = [side for relation in claim.relations for side in (relation.left, relation.right)]
    said = [*_everything_said(claim), *(part for tree in trees for part in everything(tree))]
    names = {getattr(part, "name", getattr(part, "operation", "")) for part in said}
    return not any(name == "N" or name.endswith(("_n", "_i", "_ni")) for name in names)


def _of_everybody(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], budget: _Budget
) -> Seen | None:
    """The first instance with one outcome that breaks the claim of a random algorithm; such instances take little work.

    Every client has one sample and takes part. What draws of clients and samples hide shows there, such as drift.
    """
    if claim.program is None or not claim.program.random:
        return None
    sizes = [size for size in fitting_sizes(claim) if size.samples == 1]
    left, tries, solved = MOST_LONG, MOST_TRIES, has_length(claim)
    for i in range(seeds if sizes else 0):
        if stop() or tries < 0 or budget.spent(1.5 if i >= LEAST else 3):
            return None
        one = drawn(claim, seed + 2 * 10**6 + i, sizes=sizes, everybody=True)
        if one is None or one.instance.rounds > LONG_RUN:
            tries -= solved
        if one is None or _takes_long(one):
            continue
        if one.instance.rounds > LONG_RUN and (left := left - 1) < 0:
            return None
        seen = measured(claim, one, found)
        if seen is None:
            continue
        if seen.measured.broken:
            return seen
        found.seen.append(seen)
    return None


def _from_weighted(claim: Claim, found: Hunt) -> Iterator[Seen]:
    """The tightest instances with weights, begun where the weighted sum of the functions is least."""
    if claim.program is None:
        return
    for seen in sorted(found.seen, key=lambda s: -s.score)[:KEPT]:
        for c in with_weighted_starts(candidate_of(seen.drawn)):
            one = realised(claim, c)
            there = None if one is None else measured(claim, one, found)
            if there is not None:
                if not there.measured.broken:
                    found.seen.append(there)
                yield there


IN_UNITS, UNITS = (3, 6), (Fraction(1, 1000), Fraction(1000))
"""Instances that are taken in other units of length, of all and of those that begin at the minimiser; these units."""
MOST_UNITS = 4
"""Times that a unit is taken as long as an instance grows tighter."""


def _in_other_units(claim: Claim, found: Hunt) -> Iterator[Seen]:
    """The tightest instances, and the tightest that begin at the minimiser, in smaller and smaller units of length.

    Both sides of a claim are in the same units: a square too many shows where lengths are small, or large.
    """
    if claim.program is None:
        return
    ranked = [(seen, candidate_of(seen.drawn)) for seen in sorted(found.seen, key=lambda s: -s.score)]
    still = [pair for pair in ranked if starts_at_minimiser(pair[1])]
    for first, c in (*ranked[: IN_UNITS[0]], *still[: IN_UNITS[1]]):
        for unit in UNITS if c.hessian is not None else ():
            score, here = first.score, c
            for _ in range(MOST_UNITS):
                here = replace(here, linear=here.linear * unit, start=here.start * unit)
                one = realised(claim, here) or realised(claim, refitted(claim, here))
                seen = None if one is None else measured(claim, one, found)
                if seen is None:
                    break
                yield seen
                if seen.measured.broken or seen.score <= score:
                    break
                score = seen.score
                found.seen.append(seen)


MOST_LONG, MOST_TRIES = 30, 120
"""Long runs of one outcome that are played, and attempts at them where relations ask for their length."""
LONG_RUN, MOST_STEPS = 30, 3000
"""Rounds that only relations between K and other numbers ask for; of so many, steps of all clients and coordinates."""


def _takes_long(one: Drawn) -> bool:
    """Whether a run is so long that playing it in fractions takes more time than it is worth."""
    instance = one.instance
    assert instance.problem is not None
    turns = turns_of(instance.program, one.values)
    steps = instance.rounds * instance.problem.clients * instance.problem.dim * turns
    return instance.rounds > LONG_RUN and steps > MOST_STEPS


def _sharpened(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], operations: int | None
) -> Iterator[tuple[Seen, bool]]:
    """The instances at which the claim has little room that break it, and whether they were made longer.

    A break is found on one of them as it is, or on one with one of its integers larger (`validate.instances.race`).
    """
    from validate.instances.race import Entrant, polished, raced  # which measures as this module does
    from validate.instances.sharp import sharpest

    budget = _Budget(operations)
    closest: dict[Any, Entrant] = {}
    runs: list[Drawn] = []
    for i, (still, one) in enumerate(sharpest(claim, seeds, seed)):
        if stop() or (i >= LEAST_SHARP and budget.spent(0.4)):
            break
        if one is None:
            continue
        before = work.operations()
        score = _close_in_floats(claim, one) if one.instance.rounds > SHORT_RUN else None
        if score == 2:
            runs.append(one)
            continue
        if score is None:
            seen = measured(claim, one, found)
            if seen is not None and seen.measured.broken:
                yield seen, False
                continue
            if seen is not None:
                found.seen.append(seen)
            score = None if seen is None else seen.score
        if score is not None:
            place = (still, one.instance.problem)
            if place not in closest or closest[place].score < score:
                closest[place] = Entrant(score, one, still and _stays(one), work.operations() - before)
    for one in sorted(runs, key=lambda one: one.instance.rounds)[:SHORTEST]:
        seen = measured(claim, _shortened(claim, one), found)
        if seen is not None and seen.measured.broken:
            yield seen, True
    for place, entrant in closest.items():
        if stop() or budget.spent(1):
            break
        better = entrant if entrant.still or entrant.drawn.instance.rounds > SHORT_RUN else polished(claim, entrant)
        if isinstance(better, Seen):
            yield better, False
        else:
            closest[place] = better
    ladder = raced(
        claim, [*closest.values()], lambda: stop() or budget.spent(3), lambda one: _fits_moments(claim, one, 4)
    )
    for name, value in ladder.reached.items():
        found.reached[name] = max(value, found.reached.get(name, 0))
    found.suspect = found.suspect or ladder.suspect
    if ladder.broken is not None:
        yield ladder.broken, True


def _shortened(claim: Claim, one: Drawn) -> Drawn:
    """The same run with fewer rounds, and the best constants, if floats say that it breaks the claim all the same."""
    candidate, rounds = candidate_of(one), one.instance.rounds
    for parts in (3, 4, 5, 6):  # of eight
        shorter = realised(claim, of_rounds(candidate, claim, rounds * parts // 8))
        if shorter is not None and breaks_in_floats(claim, shorter):
            return shorter
    return one


def _stays(one: Drawn) -> bool:
    """Whether the first round leaves all states as they are, whatever is drawn."""
    try:
        play = Play(one.instance, OUTCOMES)
        law = play.law(1)
        return len(law) == 1 and law[0][1] == play.start
    except (UndecidedError, UndefinedError, ValueError, ZeroDivisionError):
        return False


LEAST_SHARP, SHORT_RUN, SHORTEST = 24, 3, 3
"""Instances at which a claim has little room that no budget cuts; rounds of which floats are not asked first; of longer
runs that break it in floats, how many are played."""


def _close_in_floats(claim: Claim, one: Drawn) -> float | None:
    """How close an instance comes to a break, in floats (`Seen.score`); None where moments do not tell."""
    from validate.instances.ladder import score_in_floats  # which measures as this module does

    assert claim.program is not None
    if not claim.program.operations <= LINEAR_GIVEN_DRAWS or not _fits_moments(claim, one, 4):
        return None
    return score_in_floats(claim, one)


def _along(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: _Budget) -> Seen | None:
    """The tightest instances, made longer along each of their integers, that break the claim."""
    from validate.instances.ladder import climbed  # which measures as this module does

    tightest = sorted(found.seen, key=lambda s: -s.score)[:KEPT]
    ladder = climbed(claim, tightest, lambda: stop() or budget.spent(2.5), lambda one: _fits_moments(claim, one))
    for name, value in ladder.reached.items():
        found.reached[name] = max(value, found.reached.get(name, 0))
    found.suspect = found.suspect or ladder.suspect
    return ladder.broken


LEAST, LEAST_FAR = 80, 12
"""Instances of the pool and evaluations of the search, and instances from afar, that no share of a budget cuts."""


class _Budget:
    """Operations that a hunt may take, in three shares: of the pool, from afar, of the search."""

    def __init__(self, operations: int | None) -> None:
        self.operations, self.start = operations, work.operations()

    def spent(self, shares: float) -> bool:
        """Whether so many shares are spent."""
        return self.operations is not None and work.operations() - self.start > self.operations * shares / 3


class _Doubts:
    """What becomes of the breaks of a hunt."""

    def __init__(self, claim: Claim, found: Hunt, accepted: Callable[[Seen], bool], smallest: bool) -> None:
        self.claim, self.found, self.accepted, self.smallest = claim, found, accepted, smallest
        self.refused, self.start = 0, tried.instances()

    def settled(self, seen: Seen, stage: str, short: bool = False) -> bool:
        """Whether the hunt ends with this break; else it is kept in case that no other is found.

        One that is `short` has been made smaller.
        """
        found, before = self.found, tried.instances() - self.start
        stands = self.accepted(seen)
        if not stands and not relations_hold(self.claim, seen.drawn):  # no instance of the claim, for all that is known
            found.undecided += 1
            return False
        if not stands and not _is_large(seen):
            for near in _with_squares(self.claim, seen):
                if near.measured.broken and self.accepted(near):
                    seen, stands = near, True
                    break
        if stands or found.broken is None:
            found.first, found.origin = seen, "search" if stage == CLIMB else "pool"
            found.stage, found.tried = stage, before
            found.broken = shrunk(self.claim, seen) if self.smallest and not short else seen
        self.refused += not stands
        return stands or self.refused >= REFUSED or (self.refused == 1 and self.accepted(found.broken))


def relations_hold(claim: Claim, one: Drawn) -> bool:
    """Whether all relations of a claim are true on an instance, exactly or by enclosures."""
    for relation in claim.relations:
        try:
            both = sides(relation, claim.vocabulary, one.instance, one.constants, limit=OUTCOMES)
        except (TooManyOutcomesError, UndecidedError, UndefinedError, SentenceError, ValueError, ZeroDivisionError):
            return False
        if not both.rows or any(row.status != "holds" for row in both.rows):
            return False
    return True


def _is_large(seen: Seen) -> bool:
    """Whether there are many clients: then it is these that stand in the way, and not a root."""
    return (seen.drawn.instance.clients or 1) >= MANY


def _with_squares(claim: Claim, seen: Seen) -> Iterator[Seen]:
    """The same problem with slightly worse constants whose roots are fractions, and parameters that are tied to them.

    A break is seldom so narrow that it depends on it, and what others have to compute exactly becomes exact.
    """
    candidate = candidate_of(seen.drawn)
    for parts in (12, 60, 1000):
        bound: dict[str, Fraction] = {}
        for name, direction in claim.constants.items():
            value = seen.drawn.values.get(name)
            if not isinstance(value, Fraction) or direction == "exact":
                continue
            below = isqrt(int(value * parts**2))  # the root of the value lies between it and the next one
            root = below + (direction == "up" and below * below < value * parts**2)
            if root:
                bound[name] = Fraction(root, parts) ** 2
        one = realised(claim, candidate, bound)
        tried = None if one is None else measured(claim, one)
        if tried is not None:
            yield tried


def measured(claim: Claim, one: Drawn, found: Hunt | None = None) -> Seen | None:
    """Both sides on an instance; None where the claim says nothing there, or it cannot be told (counted in `found`)."""
    count = Hunt() if found is None else found
    tried.count()
    try:
        both = sides(claim.sentence, claim.vocabulary, one.instance, one.constants, limit=_outcomes(claim, one))
    except TooManyOutcomesError:
        told = by_moments(claim, one)
        if told is None:
            count.too_many += 1
        return None if told is None else Seen(one, told)
    except (UndecidedError, UndefinedError):
        count.undecided += 1
        return None
    except (SentenceError, ValueError, ZeroDivisionError, OverflowError) as error:
        reason = str(error)[:120]
        count.failed[reason] = count.failed.get(reason, 0) + 1
        return None
    count.undefined += len(both.undefined)
    if both.silent or not any(row.status in ("holds", "broken") or row.agrees for row in both.rows):
        if both.undecided:
            count.undecided += 1
        else:
            count.silent += 1
        return None
    if both.doubtful and not both.broken:
        count.undecided += 1
        return None
    return Seen(one, both)


def _outcomes(claim: Claim, one: Drawn) -> int:
    """Outcomes of one round that are played: fewer where a claim looks at many taps of each."""
    if one.instance.program is None or not taps_of(claim):
        return OUTCOMES
    try:
        return min(OUTCOMES, max(OUTCOMES // 20, 2 * OUTCOMES // tapped(claim, setting_of(claim, one))))
    except ValueError:
        return OUTCOMES


def _from_afar(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], budget: _Budget
) -> Seen | None:
    """The first of many clients, many turns or long runs that breaks the claim: in floats, then in fractions.

    A break in floats that fractions neither confirm nor clear is kept in `found.suspect`.
    """
    if claim.program is None:
        return _extreme(claim, found, seeds if has_functions(claim) else 3 * seeds, seed, stop, budget)
    if not claim.program.operations <= LINEAR_GIVEN_DRAWS:
        return None
    large = [size for size in fitting_sizes(claim, large=True) if _fits(claim, size)]
    small = fitting_sizes(claim)
    for i in range(seeds):
        if stop() or (i >= LEAST_FAR and budget.spent(2)):
            return None
        turn, kind = divmod(i, len(FAR_KINDS))
        wide, turns, long = FAR_KINDS[kind]
        sizes = [large[turn % len(large)]] if wide and large else small
        one = drawn(claim, seed + 10**6 + i, large=turns, long=long, sizes=sizes)
        if one is None or not isinstance(one.instance.problem, Quadratics) or not _fits_moments(claim, one):
            continue
        breaks = breaks_in_floats(claim, one)
        if breaks is None:
            continue
        found.far.append(one)
        if not breaks:
            continue
        exact = measured(claim, one) or (None if found.suspect else _confirmed(claim, one))
        if exact is not None and exact.measured.broken:
            return exact
        if exact is None and found.suspect is None:
            found.suspect = one
    return None


def _confirmed(claim: Claim, one: Drawn) -> Seen | None:
    """A break in floats in fractions, made smaller in floats before, so that there are fewer and shorter numbers."""
    here = candidate_of(one)
    moves, left = smaller(here, claim), CHECKS_IN_FLOATS
    while left > 0 and (step := next(moves, None)) is not None:
        if size(step) >= size(here):
            continue
        left -= 1
        tried = realised(claim, step)
        if tried is not None and breaks_in_floats(claim, tried):
            one, here = tried, step
            moves = smaller(here, claim)
    told = by_moments(claim, one, MOST_TAPPED)
    return None if told is None else Seen(one, told)


CHECKS_IN_FLOATS = 200
"""Candidates of which floats tell whether they break a claim, before one is looked at in fractions."""


def _extreme(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], budget: _Budget
) -> Seen | None:
    """The first instance of a claim without an algorithm that breaks it, with many clients and extreme numbers."""
    large = [size for size in fitting_sizes(claim, large=True) if size.clients * size.samples * size.dim**2 <= 300]
    small = fitting_sizes(claim)
    for i in range(seeds):
        if stop() or (i >= LEAST and budget.spent(2)):
            return None
        sizes = large if i % 2 and large else small
        one = drawn(claim, seed + 10**6 + i, large=True, sizes=sizes)
        seen = None if one is None else measured(claim, one, found)
        if one is None or seen is None:
            continue
        if seen.measured.broken:
            return seen
        found.far.append(one)
    return None


FAR_KINDS = ((True, True, False), (False, True, True), (True, False, True), (False, False, True))
"""Many clients or samples, many turns, many rounds."""
MOST_NUMBERS, MOST_TERMS, MOST_TERMS_OF_TAPS = 80, 8000, 1200
MOST_AVERAGED = 100
"""Clients of an average over those whose coins fell so: pairs of them are gone through for every possible number."""


def _fits_moments(claim: Claim, one: Drawn, times: int = 1) -> bool:
    """Whether moments take little work: a matrix of all that clients remember, a term for each client and round.

    A sentence that speaks of the turns of a loop has a term for each of them, too.
    """
    instance = one.instance
    assert instance.program is not None
    assert instance.problem is not None
    N, d = instance.problem.clients, instance.problem.dim
    samples = max(instance.problem.samples(n) for n in range(N))
    if not _fits(claim, Size(N, samples, d)):
        return False
    turns, most = 1, MOST_TERMS
    if any(isinstance(part, At) and part.name in claim.vocabulary.taps for part in _everything_said(claim)):
        turns, most = turns_of(instance.program, one.values), MOST_TERMS_OF_TAPS
    return N * instance.rounds * (samples if instance.program.random else 1) * turns <= most * times


def _fits(claim: Claim, size: Size) -> bool:
    """Whether moments of the claim's algorithm take little work on problems of a size, for a few rounds."""
    program, N = claim.program, size.clients
    if program is None or ({"average", "coins"} <= program.operations and N > MOST_AVERAGED):
        return False
    of_kind = {"client": N, "client past": 3 * N, "table": N * size.samples}
    remembered = sum(of_kind.get(state.kind, 1) * size.dim for state in program.state)
    return remembered <= MOST_NUMBERS and N * (size.samples if program.random else 1) <= MOST_TERMS


def _everything_said(claim: Claim) -> Iterator[Expression]:
    for tree in (claim.sentence.left, claim.sentence.right, *claim.definitions.values()):
        yield from everything(tree)


def _too_large(c: Candidate, claim: Claim) -> bool:
    """Whether there are so many rounds, or numbers so long, that playing takes more time than it is worth."""
    digits, random_ = size(c)[3], claim.program is not None and claim.program.random
    return digits > 1000 or c.rounds > (3 if random_ else 40) or (c.rounds > 12 and c.rounds * digits > 6000)


CHECKS = 1500
"""Candidates that a reduction measures."""


def shrunk(claim: Claim, seen: Seen, checks: int = CHECKS) -> Seen:
    """The smallest instance that breaks the claim too, among those that single moves lead to.

    Args:
        claim: the claim.
        seen: an instance that breaks it.
        checks: how many candidates are measured.
    """
    here = candidate_of(seen.drawn)
    bound = {name: seen.drawn.values[name] for name in claim.constants if name in seen.drawn.values}
    kept: dict[str, Fraction] | None = None
    again = realised(claim, here)
    current = None if again is None else measured(claim, again)
    if current is None or not current.measured.broken:  # it breaks with worse constants than the best ones only
        kept, again = bound, realised(claim, here, bound)
        current = None if again is None else measured(claim, again)
        if current is None or not current.measured.broken:
            return _fewer_rounds(claim, seen, here, bound)
    best = current
    left = checks
    moves = _moves(claim, here)
    while left > 0:
        step = next(moves, None)
        if step is None:
            break
        if size(step) >= size(here):
            continue
        left -= 1
        one = realised(claim, step, kept)
        tried = None if one is None or not _may_break(claim, one) else measured(claim, one)
        if tried is not None and tried.measured.broken:
            best, here = tried, step
            moves = _moves(claim, here)
    return best


MANY = 16
"""Clients times samples, or turns, beyond which a round is looked at in floats first."""


def _may_break(claim: Claim, one: Drawn) -> bool:
    """False where floats tell that an instance with many outcomes does not break a claim."""
    problem, program = one.instance.problem, one.instance.program
    if program is None or not isinstance(problem, Quadratics) or not program.operations <= LINEAR_GIVEN_DRAWS:
        return True
    turns = max((int(one.values[name]) for name in roles_of(program).turns), default=1)
    if max(problem.clients * max(map(problem.samples, range(problem.clients))), turns) < MANY:
        return True
    return breaks_in_floats(claim, one) is not False


def _moves(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    """Simpler candidates; a start at the minimiser follows it, and steps their bounds, where they cannot stay."""
    anchored = starts_at_minimiser(c)
    for step in together(c, claim.program):
        yield step
        moved_start = with_its_start(step) if anchored else None
        if moved_start is not None:
            yield moved_start
        yield refitted(claim, moved_start or step)
    for step in smaller(c, claim):
        yield step
        if anchored and step.hessian is not None:
            moved_start = with_its_start(step)
            if moved_start is not None:
                yield moved_start


def _fewer_rounds(claim: Claim, seen: Seen, c: Candidate, bound: dict[str, Fraction]) -> Seen:
    for rounds in range(1, c.rounds):
        one = realised(claim, of_rounds(c, claim, rounds), bound)
        tried = None if one is None else measured(claim, one)
        if tried is not None and tried.measured.broken:
            return tried
    return seen


__all__ = ["Hunt", "Seen", "has_functions", "hunt", "measured", "shrunk"]
