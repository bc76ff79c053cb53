"""The pool goes on where too little was seen for support: numbers that leave no room for others are changed.

Hypotheses may hold so seldom for numbers that are drawn that a pool ends with a handful of instances. Here a number
that leaves no room for a later one is made smaller or larger (`validate.instances.solving.Search`), and instances of a
random algorithm may have one outcome, so that the long runs for which relations ask can be played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from theory.claim import Claim
from validate.instances.affordable import takes_long
from validate.instances.covered import closed, few_tell, is_earned
from validate.instances.pool import drawn, fitting_sizes
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shapes import Size
from validate.instances.stages import Budget

FIRST = 4 * 10**6
"""Added to the seed."""
EACH, MORE = 5, 10
"""Instances after which it is asked again whether support is earned; of many, this part."""
OPERATIONS = 4_000_000
"""That further instances may take, quick and full, beside what a hunt may: so many instances are wanted of either."""


def further(claim: Claim, found: Hunt, seeds: int, seed: int, stop: Callable[[], bool]) -> Seen | None:
    """The first further instance that breaks the claim; none are made once what was seen would earn support, or where
    nothing would.

    Args:
        claim: the claim.
        found: what was seen before; instances are added to it.
        seeds: of further instances.
        seed: the first.
        stop: asked between instances.
    """
    budget, kinds = Budget(OPERATIONS), [] if closed(claim) else _kinds(claim)
    asked = -EACH
    for i in range(seeds if kinds else 0):
        if len(found.seen) >= asked + max(EACH, asked // MORE):
            asked = len(found.seen)
            if not few_tell(found) and is_earned(claim, found):
                return None
        if stop() or budget.spent(3):
            return None
        kind = max(kinds, key=lambda one: one.share)
        kind.tries += 1
        one = drawn(claim, seed + FIRST + i, sizes=kind.sizes, everybody=kind.everybody, patient=True)
        if one is None or (claim.program is not None and takes_long(one)):
            continue
        seen = measured(claim, one, found)
        if seen is None:
            continue
        if seen.measured.broken:
            return seen
        kind.told += 1
        found.seen.append(seen)
    return None


@dataclass
class _Kind:
    """Instances of one kind: the sizes to choose from, whether everybody takes part; how many were tried, and told."""

    sizes: list[Size]
    everybody: bool
    tries: int = 0
    told: int = 0

    @property
    def share(self) -> float:
        """Of those that tell, before any was tried 1/2; the kind that tells most often comes next."""
        return (self.told + 1) / (self.tries + 2)


def _kinds(claim: Claim) -> list[_Kind]:
    sizes = fitting_sizes(claim)
    alone = [size for size in sizes if size.samples == 1]
    random_ = claim.program is not None and claim.program.random
    return [_Kind(alone, True)] * bool(random_ and alone) + [_Kind(sizes, False)] * bool(sizes)
