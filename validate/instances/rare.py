"""Runs in which what has a chance seldom happens: once in twenty rounds, or a thousand, and the run is long.

The pool draws chances of a tenth and more. What is remembered from long ago, a table or an anchor that a coin renews,
is as old as it can be where the coin is rare.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theory.claim import Claim
from theory.program import LINEAR_GIVEN_DRAWS, work
from validate.instances.affordable import fits_moments
from validate.instances.by_moments import breaks_in_floats
from validate.instances.candidates import candidate_of, of_rounds
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.refitting import fitting
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt

if TYPE_CHECKING:
    from validate.instances.stages import Budget

CHANCES = ((Fraction(1, 20), 200), (Fraction(1, 100), 600), (Fraction(1, 1000), 100))
"""With the rounds of a run: so many that what is renewed that seldom is as old as it comes, or hardly ever renewed."""
INSTANCES = 40
"""Of which the chances are made rare."""


def with_rare_chances(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Drawn]:
    """Instances with rare chances that break a claim in floats; what they take is not of the budget.

    Args:
        claim: with an algorithm that is linear given its draws, and has chances; there are none for another.
        found: what was seen before.
        stop: asked between instances.
        budget: of the hunt.
    """
    program, names = claim.program, roles_in(claim).chances
    if program is None or not program.random or not names or not program.operations <= LINEAR_GIVEN_DRAWS:
        return
    before = work.operations()
    for one in _rare(claim, found, names):
        if stop() or budget.took(before):
            break
        if isinstance(one.instance.problem, Quadratics) and fits_moments(claim, one) and breaks_in_floats(claim, one):
            yield one
    budget.leave_out(before)


def _rare(claim: Claim, found: Hunt, names: frozenset[str]) -> Iterator[Drawn]:
    quadratic = [seen for seen in found.seen if isinstance(seen.drawn.instance.problem, Quadratics)]
    rng = random.Random(f"rare, {claim.statement}")
    # of all scores, as the tightest may hardly move; and at random, as sizes come round in turn
    for seen in rng.sample(quadratic, min(len(quadratic), INSTANCES)):
        for chance, rounds in CHANCES:
            candidate = of_rounds(candidate_of(seen.drawn), claim, rounds)
            rare = {name: _put(candidate.values[name], chance) for name in names if name in candidate.values}
            changed = replace(candidate, values={**candidate.values, **rare})
            one = fitting(claim, changed)
            if one is not None:
                yield one


def _put(value: Any, chance: Fraction) -> Any:
    return [chance] * len(value) if isinstance(value, list) else chance


__all__ = ["with_rare_chances"]
