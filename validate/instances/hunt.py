"""The search for an instance that breaks a claim: it knows the claim only, and its budget is work.

First instances made from the claim, each measured exactly: the pool, functions on a line, vectors at the corners of
simplices and polygons, few numbers with their integers made larger. Then the search in batches (`validate.batch`).
What comes after it meets what floats do not come to: closed ends of domains (`altered`), one outcome of many
(`outliers`), every small pair of integers (`small_pairs`), more outcomes than are recorded (`from_afar`, `rare`,
`outcomes`), a million terms and one of hundreds (`made_longer`), hundreds of rounds that turn
(`validate.batch.turning`) or swing (`validate.batch.swinging`), 48 coordinates (`coordinates`); and enough for support
(`further`). What breaks the claim is confirmed as it was measured; then it is made smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from theory.claim import Claim
from theory.program import work
from validate.batch import searched, swung, turned
from validate.instances import tried
from validate.instances.affordable import MANY
from validate.instances.altered import with_altered_numbers
from validate.instances.arriving import at_a_knee
from validate.instances.candidates import (
    candidate_of,
    realised,
)
from validate.instances.coordinates import in_more_coordinates
from validate.instances.every_size import far_out, of_every_size
from validate.instances.few_kept import with_few_kept
from validate.instances.further import further
from validate.instances.in_floats import in_floats
from validate.instances.let_through import LetThrough
from validate.instances.on_a_line import on_a_line
from validate.instances.outcomes import with_more_outcomes
from validate.instances.outliers import with_one_far_away
from validate.instances.outside import rougher
from validate.instances.pool import drawn, fitting_sizes, has_functions
from validate.instances.positions import in_position
from validate.instances.rare import with_rare_chances
from validate.instances.seen import Hunt, Seen, breaks_by_far, is_telling, measured, relations_missed
from validate.instances.shapes import MOST_TURNED, Size
from validate.instances.shrinking import shrunk
from validate.instances.small_pairs import with_small_pairs
from validate.instances.stages import (
    LEAST,
    Budget,
    confirmed,
    from_afar,
    leapt_far,
    made_longer,
    sharpened,
)
from validate.instances.two_kinds import of_two_kinds
from validate.instances.without_loss import General, without_loss

POOL, SHARP, LARGER = "pool", "few numbers", "few numbers, made larger"
ALTERED = "numbers at ends of their domains, beside chances, weights of both signs, uneven schedules"
LINE = "functions of one variable at their extremes"
POSITIONS = "vectors at the corners of simplices and polygons"
FAR_AWAY = "one rare outcome of many, beside the level of a quantile"
PAIRS = "small pairs of integers that a relation binds"
AFAR, ALONG, LEAPT = "far out", "the tightest, made larger", "others with room, at once far out"
SEARCH = "search in batches"
SIZES, FAR_OUT = "every size up to 64", "numbers far out"
TWO_KINDS = "shares of two kinds of clients"
TURNING, SWINGING = "long runs that turn", "long runs with momentum, on a line"
KNEE = "long runs that come near a knee at the end"
RARE = "chances of a hundredth and less"
OUTCOMES = "thousands of outcomes"
FEW_KEPT = "long runs that keep one coordinate"
FURTHER = "the pool, with numbers that make room"
COORDINATES = "more and more coordinates"
"""Stages of a hunt."""
SHORT = (FAR_AWAY, LARGER, ALONG, LEAPT, RARE, OUTCOMES, COORDINATES, KNEE, TURNING, SWINGING, SIZES)
"""Those of whose breaks there is nothing to make smaller."""
FIRST, ALONE, IN_BATCHES = 0.5, 0.3, 7
"""Shares of the budget: of the pool before anything else, and alone; of the search in batches."""
BEFORE = 12
"""Instances of the pool before anything else that no share of the budget cuts."""
AGAIN, SILENT = 20, 4
"""Seeds of the pool after which it is asked again at which sizes a claim says something; instances of a size that say
nothing before it is left out."""
REFUSED = 8
"""Breaks that do not stand up to whoever else looks at them, after which no more are looked for."""


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
    last: str = COORDINATES,
    begun: Hunt | None = None,
    again: bool = False,
) -> Hunt:
    """Try to break a claim.

    Args:
        claim: the claim.
        pool: instances of the pool.
        far: instances of the pool with many clients, many turns or long runs, in floats first.
        evaluations: instances of the search in batches that are measured exactly; without any there is none.
        seed: of everything that is drawn.
        tell: called with one line of text.
        accepted: whether a break stands up to whoever else looks at it. One that does not is what came of the hunt
            only if no other is found.
        stop: asked between instances; where it says so, what was seen so far is what came of it.
        smallest: whether a break is made smaller; it costs most of the time that a break takes.
        operations: a budget in operations (`theory.program.work`): pool and distance end with their shares of it, what
            is left going to the next, but none before `LEAST` instances, unless all of it is spent; few numbers and the
            search have shares of their own.
        last: the stage after which it ends: `POOL`, `LARGER`, or no earlier one.
        begun: a hunt for the same claim from the same seed that broke nothing, which goes on.
        again: whether a hunt from another seed broke nothing: stages that draw nothing from the seed are left out.
    """
    found = Hunt() if begun is None else begun
    doubts = _Doubts(claim, found, accepted, smallest)
    means = _Means(pool, evaluations, far, seed, tell, stop, operations, last, again)
    for seen, stage in _breaks(claim, found, means):
        if doubts.settled(seen, stage):
            return found
    found.tried = found.tried if found.broken is not None else doubts.tried
    return found


@dataclass(frozen=True)
class _Means:
    """The arguments of a hunt; what they are is told in `hunt`."""

    pool: int
    evaluations: int
    far: int
    seed: int
    tell: Callable[[str], None]
    stop: Callable[[], bool]
    operations: int | None
    last: str
    again: bool


def _breaks(claim: Claim, found: Hunt, means: _Means) -> Iterator[tuple[Seen, str]]:
    """What breaks the claim, with the stage in which it was met."""
    far, seed, stop = means.far, means.seed, means.stop
    budget = Budget(means.operations, found.taken)
    seeds = iter(range(found.drawn, means.pool))

    def some(shares: float, least: int) -> Iterator[tuple[Seen, str]]:
        def spent() -> bool:
            return budget.spent(shares if found.drawn >= least else 3)

        return ((seen, POOL) for seen in _of_pool(claim, found, seeds, seed, stop, spent))

    if not found.few:
        yield from some(ALONE if means.last == POOL else FIRST, BEFORE)
        if means.last == POOL:
            return
        yield from _of_few_numbers(claim, found, means)
        found.few, found.taken = True, budget.taken
    if means.last == LARGER:
        return
    before = work.operations()
    free = without_loss(claim)
    if free is not None and not (isinstance(free, LetThrough) and free.all_the_same):
        means.tell(f"{claim.id}: {free.told}")
        yield from _moved(free, _breaks(free.free, Hunt(), means))
    if means.evaluations:
        means.tell(f"{claim.id}: a search in batches, of which {means.evaluations} instances are measured exactly")
    in_batches = work.operations()
    for seen in searched(
        claim, found, means.evaluations, seed, stop, lambda part: budget.took(in_batches, part * IN_BATCHES)
    ):
        yield seen, SEARCH
    budget.leave_out(before)
    means.tell(f"{claim.id}: more of {means.pool} instances")
    yield from some(1, LEAST)
    for seen in with_altered_numbers(claim, found, stop, budget):
        if seen.measured.broken:
            yield seen, ALTERED
    if not far:
        return
    if not means.again:
        yield from _of_stage(with_one_far_away(claim, stop, budget), FAR_AWAY)
        yield from _of_stage(with_small_pairs(claim, stop, budget), PAIRS)
    means.tell(f"{claim.id}: {far} instances with many clients, many turns, long runs")
    yield from _staged(from_afar(claim, found, far, seed, stop, budget), AFAR)
    yield from _staged(made_longer(claim, found, stop, budget), ALONG)
    yield from _staged(leapt_far(claim, found, stop, budget), LEAPT)
    yield from _staged(of_every_size(claim, found, stop, budget), SIZES)
    yield from _of_stage(of_two_kinds(claim, found, stop), TWO_KINDS)
    for seen in far_out(claim, found, seed, stop):
        yield seen, FAR_OUT
    for seen in in_floats(claim, found, stop):
        yield seen, FAR_OUT
    for rare in with_rare_chances(claim, found, stop, budget):
        yield from _staged(confirmed(claim, rare), RARE)
    for seen in with_few_kept(claim, found, stop, budget):
        yield from _staged(seen, FEW_KEPT)
    for seen in with_more_outcomes(claim, found, stop, budget):
        yield from _staged(seen, OUTCOMES)
    if not means.again:
        yield from _of_stage(at_a_knee(claim, found, stop) if found.seen else iter(()), KNEE)
        yield from ((seen, TURNING) for seen in turned(claim, found, stop))
        yield from ((seen, SWINGING) for seen in swung(claim, found, stop))
    yield from _staged(further(claim, found, means.pool, seed, stop), FURTHER)
    if means.again:
        return
    ladder = in_more_coordinates(claim, stop)
    found.reached.join(claim, ladder.reached)
    yield from _staged(ladder.broken, COORDINATES)


def _of_few_numbers(claim: Claim, found: Hunt, means: _Means) -> Iterator[tuple[Seen, str]]:
    """Breaks among functions on a line, vectors at the corners of what is regular, and few numbers, made larger."""
    if not means.again:
        yield from ((seen, LINE) for seen in on_a_line(claim, found, means.stop))
        yield from ((seen, POSITIONS) for seen in in_position(claim, found, means.stop))
    if means.far and claim.program is not None and has_functions(claim):
        means.tell(f"{claim.id}: instances with few numbers, made larger and larger")
        for seen, longer in sharpened(claim, found, means.far, means.seed, means.stop, means.operations):
            yield seen, LARGER if longer else SHARP


def _moved(free: General, some: Iterator[tuple[Seen, str]]) -> Iterator[tuple[Seen, str]]:
    """Breaks elsewhere that are breaks there, too; few that are none end it."""
    lost = 0
    for seen, stage in some:
        there = free.moved(seen)
        if there is not None and there.measured.broken:
            yield there, stage
        else:
            lost += 1
        if lost == REFUSED:
            return


def _staged(seen: Seen | None, stage: str) -> Iterator[tuple[Seen, str]]:
    """A break with its stage; nothing where it is none."""
    if seen is not None and seen.measured.broken:
        yield seen, stage


def _of_stage(some: Iterator[Seen], stage: str) -> Iterator[tuple[Seen, str]]:
    """Those that break the claim, with their stage."""
    yield from ((seen, stage) for seen in some if seen.measured.broken)


def _of_pool(
    claim: Claim, found: Hunt, seeds: Iterator[int], seed: int, stop: Callable[[], bool], spent: Callable[[], bool]
) -> Iterator[Seen]:
    """The instances of the pool that break a claim; none of sizes at which both its sides are always 0."""
    every = sizes = fitting_sizes(claim)
    while not (stop() or spent()):
        if found.drawn % AGAIN == 0:
            sizes = _telling(every, found)
        i = next(seeds, None)
        if i is None:
            return
        found.drawn = i + 1
        one = drawn(claim, seed + i, sizes=sizes)
        if one is not None and i % 2:
            one = rougher(claim, one) or one
        seen = None if one is None else measured(claim, one, found)
        if one is None:
            found.none += 1
        if seen is not None and seen.measured.broken:
            yield seen
        elif seen is not None:
            found.seen.append(seen)


def _telling(sizes: list[Size], found: Hunt) -> list[Size]:
    """The sizes, without those at which both sides were 0 on every instance, if they are not so everywhere."""
    told: dict[tuple[int | None, int | None], list[bool]] = {}
    for seen in found.seen:
        told.setdefault((seen.drawn.instance.clients, seen.drawn.instance.dim), []).append(is_telling(seen))
    if not any(map(any, told.values())):
        return sizes
    silent = {size for size, ones in told.items() if len(ones) >= SILENT and not any(ones)}
    return [size for size in sizes if (size.clients, size.dim) not in silent] or sizes


class _Doubts:
    """What becomes of the breaks of a hunt."""

    def __init__(self, claim: Claim, found: Hunt, accepted: Callable[[Seen], bool], smallest: bool) -> None:
        self.claim, self.found, self.accepted, self.smallest = claim, found, accepted, smallest
        self.refused, self.start = 0, tried.instances() - found.tried

    @property
    def tried(self) -> int:
        """Instances so far."""
        return tried.instances() - self.start

    def settled(self, seen: Seen, stage: str) -> bool:
        """Whether the hunt ends with this break; else it is kept in case that no other is found."""
        found, before = self.found, self.tried
        stands = self.accepted(seen)
        missed = [] if stands else [*relations_missed(self.claim, seen.drawn)]
        if missed:  # no instance of the claim, for all that is known
            found.undecided += 1
            of_equations = all(relation.relation == "==" for relation in missed)
            found.near = found.near or (seen if of_equations and breaks_by_far(seen) else None)
            return False
        if not stands and not _is_large(seen):
            for near in _with_squares(self.claim, seen):
                if near.measured.broken and self.accepted(near):
                    seen, stands = near, True
                    break
        if stands or found.broken is None:
            found.first, found.origin = seen, "search" if stage in (SEARCH, TURNING, SWINGING) else "pool"
            found.stage, found.tried = stage, before
            wide = (seen.drawn.instance.dim or 1) > MOST_TURNED  # each move would take seconds
            found.broken = shrunk(self.claim, seen) if self.smallest and not wide and stage not in SHORT else seen
        self.refused += not stands
        return stands or self.refused >= REFUSED or (self.refused == 1 and self.accepted(found.broken))


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
