"""Few curved functions in more and more coordinates, begun away from the minimiser, with all counts at their least.

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
from validate.instances.candidates import candidate_of
from validate.instances.ladder import Climb, Ladder
from validate.instances.longer import COORDINATES, counts, ways
from validate.instances.parameters import choose
from validate.instances.pool import Drawn, fits, instance_of_values, needs_minimiser
from validate.instances.seen import measured
from validate.instances.shapes import Size, shape_of

F = Fraction
BY_COORDINATE = {"keep", "top", "sign", "times", "over", "larger", "sqrt", "ones"}
"""Operations of a program that see coordinates."""
MOST, SEEDS = 128, 3
"""Coordinates; parameters of one problem."""


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
        way = next((way for way in ways(claim, base) if counts(way, COORDINATES)), None)
        if way is None:
            continue
        climb = Climb(claim, base, replace(way, most=MOST), found, stop, lambda _: False)
        broken = climb.first_break(seen.score, to_the_end=True)
        if broken is not None and climb.confirmed(broken):
            return found
    return found


def _counts_coordinates(claim: Claim) -> bool:
    sides = (side for relation in claim.relations for side in relation.sides)
    said = (*everything_said(claim), *(part for side in sides for part in everything(side)))
    return any(isinstance(part, Name) and part.name == COORDINATES for part in said)


def _instances(claim: Claim) -> Iterator[Drawn | None]:
    """One client with one sample in one dimension, curved, begun at 1, for one round."""
    if shape_of(claim.predicates, needs_minimiser(claim)).flat or not fits(claim, Size(1, 1, 1)):
        return
    zero = np.full((1, 1), F(0), dtype=object)
    for curvature in (F(1), F(2)):
        hessian = np.full((1, 1, 1, 1), curvature, dtype=object)
        problem = Quadratic(hessian, np.full((1, 1, 1), F(0), dtype=object), zero, np.full(1, 1))
        start = np.array([F(1)], dtype=object)
        for seed in range(SEEDS if curvature == 1 else 1):
            rng = random.Random(f"{seed} in coordinates, {claim.spelling}")
            made = choose(claim, problem, start, 1, rng, sharp=True)
            if made is not None:
                yield instance_of_values(claim, problem, start, 1, made[0], {})
