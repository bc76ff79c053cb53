"""Instances with more outcomes than the pool plays: longer random runs, more samples and more clients, exactly.

The fourth power of a length, the largest over the rounds, or a sentence outside of E is beyond moments: all outcomes
have to be gone through. The tightest instances of several sizes have their rounds, samples and clients made
more for as long as that is possible and brings it nearer to a break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from theory.claim import Claim
from theory.program import work
from validate.instances.by_moments import MOST_TAPPED, by_moments
from validate.instances.candidates import candidate_of
from validate.instances.ladder import GROWS, score_in_floats
from validate.instances.longer import CLIENTS, ROUNDS, SAMPLES, Way, longer, ways
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, Seen, is_telling, measured

if TYPE_CHECKING:
    from validate.instances.stages import Budget

MOST = 20_000
"""Outcomes; the verifier keeps as many."""
SIZES, SHARE = 6, 2.0
"""Sizes of which the tightest instance is grown; shares of the budget, which is left out of it."""


def measured_at_length(claim: Claim, one: Drawn) -> Seen | None:
    """An instance measured with as many outcomes as there may be, or else by moments, where these tell."""
    now = measured(claim, one, outcomes=MOST)
    told = by_moments(claim, one, MOST_TAPPED) if now is None else None
    return now if told is None else Seen(one, told)


def with_more_outcomes(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances with many outcomes, of which those that break the claim are to be picked.

    Args:
        claim: with an algorithm that draws; there are none for another, nor where moments tell.
        found: what was seen before.
        stop: asked between instances.
        budget: of the hunt.
    """
    program = claim.program
    if program is None or not program.random or "noise" in program.operations:
        return
    before = work.operations()

    def spent() -> bool:
        return stop() or budget.took(before, SHARE)

    for seen in _tightest(found):
        if spent():
            break
        if score_in_floats(claim, seen.drawn) is not None:
            continue
        for way in ways(claim, candidate_of(seen.drawn)):
            if way.name in (ROUNDS, SAMPLES, CLIENTS):
                yield from _grown(claim, found, seen, way, spent)
    budget.leave_out(before)


def _tightest(found: Hunt) -> list[Seen]:
    """The tightest instance of each size, the tightest first, and of those that are as tight the smallest."""
    best: dict[tuple[Any, ...], Seen] = {}
    for seen in sorted(filter(is_telling, found.seen), key=lambda seen: -seen.score):
        problem = seen.drawn.instance.problem
        if problem is not None:
            counts = [problem.samples(n) for n in range(problem.clients)]
            best.setdefault((sum(counts), problem.clients, problem.dim, type(problem).__name__), seen)
    return [best[size] for size in sorted(best, key=lambda size: (-round(best[size].score, 6), size))[:SIZES]]


def _grown(claim: Claim, found: Hunt, seen: Seen, way: Way, spent: Callable[[], bool]) -> Iterator[Seen]:
    """The instance with more of one integer, half as many more each time; at last as many as have not too many."""
    base, last, beyond, best = candidate_of(seen.drawn), way.now, way.most + 1, seen.score
    while beyond - last > 1 and not spent():
        value = min(last + max(1, last // 2), (last + beyond) // 2)
        one = longer(claim, base, way, value)
        more = None if one is None else measured(claim, one, outcomes=MOST)
        if one is None or more is None:
            beyond = value
            continue
        yield more
        if more.score <= best + GROWS:
            return
        last, best = value, more.score
        found.reached.add(claim, base, one)


__all__ = ["with_more_outcomes"]
