"""Runs in which something seldom happens: a coin falls once in twenty rounds, or one of twenty clients is chosen.

The pool draws chances of a tenth and more, and few clients. What is remembered from long ago, a table or an anchor that
is renewed, is as old as it can be where that is rare and the run is long.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from theory.claim import Claim
from theory.program import LINEAR_GIVEN_DRAWS, work
from validate.instances.affordable import fits_moments
from validate.instances.altered import filled
from validate.instances.by_moments import breaks_in_floats
from validate.instances.candidates import Candidate, candidate_of, of_rounds
from validate.instances.longer import CLIENTS, COORDINATES, ways
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.refitting import fitting
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt
from validate.instances.together import signs

if TYPE_CHECKING:
    from validate.instances.stages import Budget

CHANCES = ((Fraction(1, 20), 200), (Fraction(1, 100), 600), (Fraction(1, 1000), 100))
"""With the rounds of a run: so many that what is renewed that seldom is as old as it comes, or hardly ever renewed."""
ONE_OF, ROUNDS, LONG = 20, 200, 400
"""Clients, coordinates or samples of which one is chosen; rounds of such a run, and of one in which one sample counts:
the mean is curved so little that a step shows later."""
TIGHTEST, OTHERS, EVEN, SHARE = 20, 20, 4, 4.0
"""Instances that are changed so: those with the least room, and others, as the tightest may hardly move; and the first
few with linear terms of one size. Shares of the budget, which is left out of it."""


def with_rare_chances(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Drawn]:
    """Instances with rare chances that break a claim in floats; what they take is not of the budget.

    Args:
        claim: with an algorithm that is linear given its draws; there are none for another.
        found: what was seen before.
        stop: asked between instances.
        budget: of the hunt.
    """
    program = claim.program
    if program is None or not program.random or not program.operations <= LINEAR_GIVEN_DRAWS:
        return
    before = work.operations()
    for one in _rare(claim, found):
        if stop() or budget.took(before, SHARE):
            break
        if isinstance(one.instance.problem, Quadratics) and fits_moments(claim, one) and breaks_in_floats(claim, one):
            yield one
    budget.leave_out(before)


def _rare(claim: Claim, found: Hunt) -> Iterator[Drawn]:
    quadratic = [seen for seen in found.seen if isinstance(seen.drawn.instance.problem, Quadratics)]
    quadratic.sort(key=lambda seen: -seen.score)
    rng = random.Random(f"rare, {claim.spelling}")
    others = quadratic[TIGHTEST:]
    chosen = quadratic[:TIGHTEST] + rng.sample(others, min(len(others), OTHERS))
    candidates = [candidate_of(seen.drawn) for seen in chosen]
    even = [c for c in map(_even, candidates[:EVEN]) if c is not None]
    in_turn = zip_longest(*(_seldom(claim, c) for c in (*even, *candidates)))  # what is checked most easily first
    for changed in (changed for some in in_turn for changed in some if changed is not None):
        one = fitting(claim, changed)
        if one is not None:
            yield one


def _even(c: Candidate) -> Candidate | None:
    """The candidate with linear terms of one size; None where they are, or its clients' samples are not as many."""
    even = None if c.linear is None else signs(c.linear)
    return None if even is None or (abs(c.linear) == abs(even)).all() else replace(c, linear=even)


def _seldom(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    """The candidate with rare chances, and with many clients or coordinates of which one is chosen."""
    roles = roles_in(claim)
    chances = roles.chances & c.values.keys()
    for chance, rounds in CHANCES if chances else ():
        rare = {name: filled(c.values[name], chance) for name in chances}
        yield of_rounds(replace(c, values={**c.values, **rare}), claim, rounds)
    chosen = {CLIENTS: roles.clients & c.values.keys(), COORDINATES: roles.coordinates & c.values.keys()}
    for kind, names in chosen.items():
        alone = replace(c, values={**c.values, **dict.fromkeys(names, Fraction(1))})
        way = next((way for way in ways(claim, alone) if way.name == kind), None)
        if names and way is not None and way.now < ONE_OF:
            for rounds in (ROUNDS,) if "k" in claim.free else (ONE_OF, ROUNDS):  # of the last round alone, or of each
                yield of_rounds(way.grown(alone, ONE_OF), claim, rounds)
    one_sample = _with_one_sample(c) if claim.program is not None and "sample" in claim.program.operations else None
    if one_sample is not None:
        for rounds in (LONG,) if "k" in claim.free else (ONE_OF, LONG):
            yield of_rounds(one_sample, claim, rounds)


def _with_one_sample(c: Candidate) -> Candidate | None:
    """The candidate of clients with `ONE_OF` samples, of which all but the first are 0; None without quadratics."""
    if c.hessian is None or c.linear is None:
        return None
    hessian, linear = (np.repeat(one[:, :1], ONE_OF, axis=1) for one in (c.hessian, c.linear))
    hessian[:, 1:], linear[:, 1:] = Fraction(0), Fraction(0)
    return replace(c, hessian=hessian, linear=linear)


__all__ = ["with_rare_chances"]
