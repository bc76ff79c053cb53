"""The stages of a hunt between the pool and the search: each makes instances of one kind and measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from theory.claim import Claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.program import LINEAR_GIVEN_DRAWS, work
from validate.instances.affordable import (
    fits,
    fits_moments,
)
from validate.instances.by_moments import MOST_TAPPED, breaks_in_floats, by_moments
from validate.instances.candidates import (
    candidate_of,
    of_rounds,
    realised,
    size,
    smaller,
)
from validate.instances.ladder import climbed, leapt, ratio_of, score_in_floats
from validate.instances.longer import sizes_of, tied
from validate.instances.pool import Drawn, drawn, fitting_sizes, has_functions
from validate.instances.problems import Quadratics
from validate.instances.race import Entrant, polished, raced
from validate.instances.seen import OUTCOMES, Hunt, Seen, is_telling, measured
from validate.instances.sharp import led_away, moved_by_draws, sharpest
from validate.instances.uneven import uneven
from validate.play import Play

GOING_ON = 1.2
"""Shares of the budget for runs that begin where the mean is least; and for a race that goes on."""
KEPT = 12
"""The tightest instances, which are made longer."""


def sharpened(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], operations: int | None
) -> Iterator[tuple[Seen, bool]]:
    """The instances at which the claim has little room that break it, and whether they were made longer.

    A break is found on one of them as it is, or on one with one of its integers larger (`validate.instances.race`).
    """
    budget = Budget(operations)
    closest: dict[Any, Entrant] = {}
    runs: list[Drawn] = []
    first = moved_by_draws(claim, seed)
    for i, (still, one) in enumerate(chain(first, sharpest(claim, seeds, seed)), -len(first)):
        if stop() or (i >= LEAST_SHARP and budget.spent(0.9)):
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
        if stop() or budget.spent(2.4):
            break
        better = entrant if entrant.still or entrant.drawn.instance.rounds > SHORT_RUN else polished(claim, entrant)
        if isinstance(better, Seen):
            yield better, False
        else:
            closest[place] = better
    goes_on = _GoesOn(stop, budget)
    ladder = raced(
        claim,
        [*closest.values()],
        lambda: stop() or budget.spent(7.2),
        lambda one: fits_moments(claim, one, 4),
        goes_on.spent,
    )
    goes_on.leave_out()
    found.reached.join(claim, ladder.reached)
    found.suspect = found.suspect or ladder.suspect
    if ladder.broken is not None:
        yield ladder.broken, True
        return
    before = work.operations()
    yield from ((seen, True) for seen in _led_away(claim, found, seed, lambda: stop() or budget.took(before, GOING_ON)))


class _GoesOn:
    """What a race may take that goes on when all have left it; that is not of the budget.

    Args:
        stop: asked first.
        budget: of which it may take a share.
    """

    def __init__(self, stop: Callable[[], bool], budget: Budget) -> None:
        self.stop, self.budget = stop, budget
        self.start: int | None = None

    def spent(self) -> bool:
        """Whether it is spent, since that was first asked."""
        if self.start is None:
            self.start = work.operations()
        return self.stop() or self.budget.took(self.start, GOING_ON)

    def leave_out(self) -> None:
        """The budget is what it would be without it."""
        if self.start is not None:
            self.budget.leave_out(self.start)


def _led_away(claim: Claim, found: Hunt, seed: int, spent: Callable[[], bool]) -> Iterator[Seen]:
    """A break that a run leads to which begins where the mean is least, as functions pull to different places."""
    ones = list[Entrant]()
    for one in led_away(claim, seed):
        if spent():
            break
        before = work.operations()
        seen = measured(claim, one, found)
        if seen is None:
            continue
        if seen.measured.broken:
            yield seen
            return
        ones.append(Entrant(seen.score, one, False, work.operations() - before))
    for entrant in [] if spent() else [*ones]:
        better = polished(claim, entrant)
        if isinstance(better, Seen):
            yield better
            return
        if better is not entrant:  # what is best for a few samples may be in the way of many
            ones.append(better)
    ladder = raced(claim, ones, spent, lambda one: fits_moments(claim, one, 4), spent)
    found.reached.join(claim, ladder.reached)
    found.suspect = found.suspect or ladder.suspect
    if ladder.broken is not None:
        yield ladder.broken


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
    assert claim.program is not None
    if not claim.program.operations <= LINEAR_GIVEN_DRAWS or not fits_moments(claim, one, 4):
        return None
    return score_in_floats(claim, one)


def made_longer(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Seen | None:
    """The tightest instances, made longer along each of their integers, that break the claim."""
    tightest = sorted(found.seen, key=lambda s: -s.score)[:KEPT]
    before = work.operations()

    def spent() -> bool:
        return stop() or (budget.spent(2) and budget.took(before, LONGER))

    ladder = climbed(claim, tightest, spent, lambda one: fits_moments(claim, one), _largest(claim, found.seen))
    if ladder.broken is None and ladder.suspect is None:
        for far in uneven(claim, tightest):
            broken = far if far.measured.broken else climbed(claim, [far], spent, lambda _: True).broken
            if broken is not None:
                return broken
    found.reached.join(claim, ladder.reached)
    found.suspect = found.suspect or ladder.suspect
    return ladder.broken


def _largest(claim: Claim, some: list[Seen]) -> list[Seen]:
    """The tightest of each of the largest sizes at which relations tie integers to each other, the largest first.

    Over all sizes the tightest are often such as any size leaves as they are.
    """
    names = tied(claim)
    best: dict[int, Seen] = {}
    for seen in some if names else ():
        at = sizes_of(claim, candidate_of(seen.drawn))[names[0][0]]
        if at not in best or seen.score > best[at].score:
            best[at] = seen
    return [best[at] for at in sorted(best, reverse=True)[:LARGEST] if at > 1]


LARGEST = 3
"""Of sizes at which integers are tied to each other, of which the tightest instance is made larger."""
LONGER = 2
"""Of the budget, for instances that are made longer, whatever was spent before."""
ROOM, LEAPS = (0.9, 0.6, 0.3, 0.1), 2
"""Left over right below which the tightest quadratics are tried far out; their share of the budget."""


def leapt_far(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Seen | None:
    """Instances of which moments tell, with room, that break the claim at once far out along one of their integers.

    The tightest are often such as make a sentence an equation, at any size: these say nothing of the others.
    """
    if claim.program is None or not claim.program.operations <= LINEAR_GIVEN_DRAWS:
        return None
    told = [seen for seen in found.seen if is_telling(seen) and isinstance(seen.drawn.instance.problem, Quadratics)]
    told.sort(key=lambda seen: (-round(seen.score, 6), size(candidate_of(seen.drawn))))
    with_room = (next((seen for seen in told if ratio_of(seen.score) < most), None) for most in ROOM)
    some = {id(seen): seen for seen in with_room if seen is not None}
    before = work.operations()
    ladder = leapt(
        claim,
        [*some.values()],
        lambda: stop() or budget.took(before, LEAPS),
        lambda one: fits_moments(claim, one),
    )
    budget.leave_out(before)
    found.reached.join(claim, ladder.reached)
    found.suspect = found.suspect or ladder.suspect
    return ladder.broken


LEAST, LEAST_FAR = 80, 12
"""Instances of the pool and evaluations of the search, and instances from afar, that no share of a budget cuts."""


class Budget:
    """Operations that a hunt may take, in three shares: of the pool, from afar, of the search.

    Args:
        operations: how many; None for any number.
        taken: how many were taken before.
    """

    def __init__(self, operations: int | None, taken: int = 0) -> None:
        self.operations, self.start = operations, work.operations() - taken

    @property
    def taken(self) -> int:
        """How many were taken."""
        return work.operations() - self.start

    def spent(self, shares: float) -> bool:
        """Whether so many shares are spent."""
        return self.operations is not None and self.taken > self.operations * shares / 3

    def took(self, since: int, shares: float = 1 / 3) -> bool:
        """Whether so many shares were spent since the work was as it was then."""
        return self.operations is not None and work.operations() - since > self.operations * shares / 3

    def leave_out(self, since: int) -> None:
        """What was spent since then is not of the budget."""
        self.start += work.operations() - since


def from_afar(
    claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], budget: Budget
) -> Seen | None:
    """The first of many clients, many turns or long runs that breaks the claim: in floats, then in fractions.

    A break in floats that fractions neither confirm nor clear is kept in `found.suspect`.
    """
    if claim.program is None:
        return _extreme(claim, found, seeds if has_functions(claim) else 3 * seeds, seed, stop, budget)
    if not claim.program.operations <= LINEAR_GIVEN_DRAWS:
        return None
    large = [size for size in fitting_sizes(claim, large=True) if fits(claim, size)]
    small = fitting_sizes(claim)
    for i in range(seeds):
        if stop() or (i >= LEAST_FAR and budget.spent(1.5)):
            return None
        turn, kind = divmod(i, len(FAR_KINDS))
        wide, turns, long = FAR_KINDS[kind]
        sizes = [large[turn % len(large)]] if wide and large else small
        one = drawn(claim, seed + 10**6 + i, large=turns, long=long, sizes=sizes)
        if one is None or not isinstance(one.instance.problem, Quadratics) or not fits_moments(claim, one):
            continue
        breaks = breaks_in_floats(claim, one)
        if breaks is None:
            continue
        found.far.append(one)
        if not breaks:
            continue
        exact = measured(claim, one) or (None if found.suspect else confirmed(claim, one))
        if exact is not None and exact.measured.broken:
            return exact
        if exact is None and found.suspect is None:
            found.suspect = one
    return None


def confirmed(claim: Claim, one: Drawn) -> Seen | None:
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


def _extreme(claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool], budget: Budget) -> Seen | None:
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
