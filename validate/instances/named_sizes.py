"""Integers that the text of a claim names, as sizes of an instance: a bound that changes at 37 may break at 37 only.

An instance is made longer along each of its integers (`validate.instances.longer`) to each number that stands in the
sentence, in definitions or in relations, and to one more. Doubling steps over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from theory.claim import Claim
from theory.formula import Number
from theory.program import work
from theory.sentence import everything
from validate.instances.affordable import fits_moments
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.ladder import Climb, Ladder
from validate.instances.longer import MOST, ways
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, Seen
from validate.instances.together import with_its_start

if TYPE_CHECKING:
    from validate.instances.stages import Budget

LEAST = 3
"""Of the integers that are tried: the pool has smaller ones."""
INSTANCES, TRIES = 6, 60
"""Instances that are made longer, the tightest and others; how often, all together."""


def named(claim: Claim) -> list[int]:
    """The integers that the claim's text names, and one more than each, in order."""
    trees = [*claim.sentence.sides, *claim.definitions.values()]
    trees += [side for relation in claim.relations for side in relation.sides]
    numbers = {int(p.value) for tree in trees for p in everything(tree) if isinstance(p, Number) and p.value % 1 == 0}
    return sorted({v for n in numbers if LEAST <= n < MOST for v in (n, n + 1)})


def at_named(claim: Claim, seen: list[Seen], spent: Callable[[], bool], fits: Callable[[Drawn], bool]) -> Ladder:
    """What instances with these integers say; the first that breaks the claim ends it.

    Args:
        claim: the claim.
        seen: instances on which it holds.
        spent: whether the budget is.
        fits: whether moments of an instance take little work.
    """
    found, values = Ladder(), named(claim)
    if not values or not seen:
        return found
    for base in _bases(claim, seen):
        for way in ways(claim, base):
            for value in values:
                if not way.now < value <= way.most:
                    continue
                if found.rungs >= TRIES or spent():
                    return found
                climb = Climb(claim, base, way, found, spent, fits)
                told = climb.told(base, value)
                if told is not None and told.broken and climb.confirmed(value):
                    return found
    return found


def _bases(claim: Claim, seen: list[Seen]) -> Iterator[Candidate]:
    """The tightest of them, others, and one that begins where f is least, in turn."""
    ordered = sorted(seen, key=lambda one: -one.score)
    tightest = candidate_of(ordered[0].drawn)
    yield tightest
    if tightest.has_functions and claim.program is not None:
        still = with_its_start(tightest)
        if still is not None:
            yield still
    for one in ordered[1 :: max(1, len(ordered) // INSTANCES)][:INSTANCES]:
        yield candidate_of(one.drawn)


def with_named_sizes(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Seen | None:
    """The first instance with integers of the claim's own text that breaks it; its work is not of the budget."""
    before = work.operations()
    ladder = at_named(claim, found.seen, lambda: stop() or budget.took(before), lambda one: fits_moments(claim, one))
    budget.leave_out(before)
    for name, value in ladder.reached.items():
        found.reached[name] = max(value, found.reached.get(name, 0))
    found.suspect = found.suspect or ladder.suspect
    return ladder.broken


__all__ = ["at_named", "named", "with_named_sizes"]
