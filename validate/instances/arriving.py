"""Long runs that come near a knee of their function at the end: where a rate is decided, and only for its own length.

A run that goes down a slope and would come to the knee after about twice its rounds is the worst for gradient descent
on convex functions (Drori, Teboulle, Mathematical Programming 145 (2014)), and the knee is another one for each length:
one instance made longer does not tell whether a rate has the right power of the rounds. What the sides come to at
several lengths does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from validate.instances.candidates import candidate_of, realised
from validate.instances.growth import Rungs, grows_beyond
from validate.instances.ladder import ratio_of
from validate.instances.longer import ROUNDS, has_rounds
from validate.instances.on_a_line import with_steepness
from validate.instances.parameters import choose
from validate.instances.piece_shapes import allows_pieces
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import Drawn, fits, instance_of_values, needs_minimiser
from validate.instances.roles import turns_of
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shapes import Size, shape_of
from validate.play import Play
from validate.rounds import TooManyOutcomesError

F = Fraction
CUBES, SQUARES = (8, 64, 512, 4096), (16, 64, 256, 1024, 4096)
"""Rounds of which a step may be a root, and the way with it, without rounding: that would look like growth."""
BETWEEN = {CUBES: 1728, SQUARES: 2025}
"""One more, where what comes nearer and nearer to a break may just have arrived: its growth then ends between the last
two, which an eighth of the rounds does not show."""
WAYS: tuple[tuple[Callable[[int], int], tuple[int, ...]], ...] = (
    (lambda K: K, CUBES),
    (lambda K: round(K ** (2 / 3)), CUBES),
    (isqrt, SQUARES),
)
"""Steps of 1/L that are as long as all of a run, with a step of 1/L, or one that is tuned to its length."""
TURNS = 3
"""Of the loops of a round, at most."""
LEFT = (F(-1), F(0))
"""Steepness on the other side of the knee."""
DRAWS = 8
"""Of numbers, those with which the first round goes farthest being taken: shorter steps do not arrive."""


def at_a_knee(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """The instances that break a claim; how near the others come at each length is added to `found`.

    Args:
        claim: about a run without draws; there are none for another.
        found: what was seen before.
        stop: asked between instances.
    """
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    program = claim.program
    if program is None or program.random or not has_rounds(claim) or shape.even != "any" or shape.strongly != "any":
        return
    if not fits(claim, Size(1, 1, 1)) or not allows_pieces(claim):
        return
    draw = _farthest(claim)
    for left, (way, lengths) in product(LEFT, WAYS):
        rungs: dict[int, float] = {}
        for rounds in (*lengths, BETWEEN[lengths]):
            if stop():
                return
            if rounds == BETWEEN[lengths] and not grows_beyond(_sorted(rungs), powers=True):
                break
            one = _instance(claim, left, way(rounds), rounds, draw)
            seen = None if one is None else measured(claim, one)
            if seen is None:
                continue
            if seen.measured.broken:
                yield seen
                continue
            last, rungs[rounds] = max(rungs.values(), default=0.0), ratio_of(seen.score)
            if rungs[rounds] <= last:  # longer ones, which take most of the time, would hardly come nearer
                break
        found.reached.rungs.append((ROUNDS, _sorted(rungs)))


def _sorted(rungs: dict[int, float]) -> Rungs:
    return tuple(sorted(rungs.items()))


def _farthest(claim: Claim) -> int:
    """The draw of numbers with which a run goes farthest in its first round."""
    rounds, found = CUBES[0], dict[int, Any]()
    for draw in range(DRAWS):
        one = _instance(claim, LEFT[-1], rounds, rounds, draw)
        with suppress(UndefinedError, UndecidedError, TooManyOutcomesError, ValueError):
            if one is not None:
                play = Play(one.instance)
                found[draw] = abs(_first(play.law(1)[0][1]) - _first(play.start))
    return max(found, key=lambda draw: found[draw], default=0)


def _first(state: Any) -> Any:
    """The first number of a state."""
    return _first(state[0]) if isinstance(state, tuple) else state


def _instance(claim: Claim, left: Fraction, way: int, rounds: int, draw: int) -> Drawn | None:
    """A run of that length from 1, with a knee at 0 that is half as wide as the way to it is long, in so many parts.

    Args:
        claim: the claim.
        left: the steepness on the other side, where it is 1 on this one.
        way: how many steps of 1/L would lead to the middle of the knee.
        rounds: of the run.
        draw: of its numbers.
    """
    f: Piecewise = with_steepness([F(0)], (left, F(1)), F(2, 2 * way + 1))
    start = np.array([F(1)], dtype=object)
    for scale, sharp in product((1 / max(f.slopes), F(1)), (True, False)):  # with a curvature of 1, where that may be
        problem = Pieces(((f.in_units(F(1), scale),),))
        values = choose(claim, problem, start, rounds, random.Random(f"knee, {draw}, {claim.spelling}"), sharp=sharp)
        if values is not None and values[1].rounds == rounds:
            one = instance_of_values(claim, problem, start, rounds, values[0], {})
            made: Any = None if one is None else realised(claim, candidate_of(one)) or one
            return made if made is not None and turns_of(made.instance.program, made.values) <= TURNS else None
    return None


__all__ = ["at_a_knee"]
