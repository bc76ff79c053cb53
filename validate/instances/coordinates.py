"""Few functions in more and more coordinates, begun away from the minimiser, with all counts at their least.

What treats coordinates one by one, or keeps few of many, hangs on how many there are; a problem that is drawn has few,
and one at whose minimiser a run begins does not move, and is as tight as can be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from theory.formula import Name
from theory.sentence import everything
from validate.instances.affordable import everything_said
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.ladder import Climb, Ladder
from validate.instances.longer import COORDINATES, ROUNDS, Way, counts, in_step, is_several, ways
from validate.instances.parameters import choose
from validate.instances.pool import Drawn, fits, instance_of_values, needs_minimiser
from validate.instances.seen import measured
from validate.instances.shapes import Size, shape_of

F = Fraction
BY_COORDINATE = {"keep", "top", "sign", "times", "over", "larger", "sqrt", "ones"}
"""Operations of a program that see coordinates."""
MOST, SEEDS = 128, 3
"""Coordinates; parameters of one problem."""
MOST_TOGETHER = 64
"""Coordinates and rounds together."""
STRAIGHT = MOST_TOGETHER**3
"""Rounds times numbers of an instance that is played in fractions: these take tenths of a second."""
NEAR = F(1, 10)
"""A start in every coordinate that is near to the minimiser, as steps are."""
FEWEST = 3
"""Coordinates that a claim may ask for at least."""


def in_more_coordinates(claim: Claim, stop: Callable[[], bool]) -> Ladder:
    """What comes of more and more coordinates, of a claim whose algorithm sees them or that counts them."""
    found = Ladder()
    if claim.program is None or not (claim.program.operations & BY_COORDINATE or _counts_coordinates(claim)):
        return found
    for one in _instances(claim):
        seen = None if one is None or stop() else measured(claim, one)
        if seen is None or seen.measured.broken:
            continue
        base = candidate_of(seen.drawn)
        for way in _in_coordinates(claim, base):
            climb = Climb(claim, base, way, found, stop, lambda _: False, STRAIGHT)
            broken = climb.first_break(seen.score, to_the_end=True)
            if broken is not None and climb.confirmed(broken):
                return found
    return found


def _in_coordinates(claim: Claim, base: Candidate) -> Iterator[Way]:
    """More coordinates, and as many rounds as these: after so many what keeps one of them has come to each."""
    every = [*ways(claim, base)]
    way = next((way for way in every if counts(way, COORDINATES)), None)
    if way is None:
        return
    way = replace(way, most=MOST)
    yield way
    rounds = next((other for other in every if other.name == ROUNDS), None)
    if rounds is not None and not is_several(way):
        yield in_step(replace(way, most=MOST_TOGETHER), rounds)


def _counts_coordinates(claim: Claim) -> bool:
    sides = (side for relation in claim.relations for side in relation.sides)
    said = (*everything_said(claim), *(part for side in sides for part in everything(side)))
    return any(isinstance(part, Name) and part.name == COORDINATES for part in said)


def _instances(claim: Claim) -> Iterator[Drawn | None]:
    """One client with one sample, curved alike in all coordinates or a slope, for one round, begun at ones, or so near
    to the minimiser that a step goes far beyond it; in as few coordinates as the claim speaks of.
    """
    dim = next((dim for dim in range(1, FEWEST + 1) if fits(claim, Size(1, 1, dim))), None)
    if dim is None:
        return
    least = needs_minimiser(claim)
    flat = shape_of(claim.predicates, least).flat
    zero = np.full((1, 1), F(0), dtype=object)
    for curvature in (*(() if flat else (F(1), F(2))), *(() if least else (F(0),))):
        hessian = np.array([[[[curvature * (i == j) for j in range(dim)] for i in range(dim)]]], dtype=object)
        slope = np.full((1, 1, dim), F(0) if curvature else F(-1), dtype=object)
        problem = Quadratic(hessian, slope, zero, np.full(1, 1))
        for first in (F(1), NEAR) if curvature == 1 else (F(1),):
            start = np.full(dim, first, dtype=object)
            for seed in range(SEEDS if curvature == 1 else 1):
                rng = random.Random(f"{seed} in coordinates, {claim.spelling}")
                made = choose(claim, problem, start, 1, rng, sharp=True)
                if made is not None:
                    yield instance_of_values(claim, problem, start, 1, made[0], {})
