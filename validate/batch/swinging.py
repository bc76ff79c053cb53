"""Long runs with momentum on functions of one variable, where what is true on quadratics may be false after 20 rounds.

Momentum that comes to another curvature in each swing is a switched linear system, which may grow where each of its
parts shrinks. A population of functions with many stretches (`validate.batch.stretches`) climbs in floats, in more and
more rounds; what breaks the claim becomes short fractions and is measured exactly.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from theory import predicates as p
from theory.claim import Claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.sentence import SentenceError
from validate.batch.stretches import OnALine
from validate.batch.turning import FIRST, KNOWN, SIZE, at_numbers, confirmed, improved
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import fits, has_functions, needs_minimiser
from validate.instances.seen import Hunt, Seen
from validate.instances.shapes import Size, shape_of

log = logging.getLogger(__name__)
F = Fraction
LEVELS = ((12, 20), (24, 60), (40, 60))
"""Rounds and generations."""
DRAWS, BASES = 6, 2
"""Choices of numbers that are drawn, and of those that differ, how many are searched."""
PARTS = (F(1, 4), F(1, 16))
"""Of the largest curvature the least one, where functions are strongly convex."""


def swung(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances that break a claim about runs with memory of a program that draws nothing.

    Args:
        claim: the claim.
        found: where it is counted what was measured.
        stop: asked between populations.
    """
    for runs in _bases(claim):
        if stop():
            return
        try:
            yield from _climbed(runs, found, stop)
        except (UndefinedError, UndecidedError, SentenceError, ValueError, ZeroDivisionError, OverflowError):
            log.debug("%s: its runs are not played in floats", claim.id, exc_info=True)


def _bases(claim: Claim) -> Iterator[OnALine]:
    """The claim at some numbers."""
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    program = claim.program
    if program is None or program.random or len(program.state) < 2 or not has_functions(claim):
        return
    if claim.sentence.relation == "==" or shape.even != "any":
        return
    kinds = [type(one) for one in claim.predicates]
    if p.Smooth not in kinds or not all(issubclass(kind, KNOWN) for kind in kinds):
        return
    size = next((size for n in range(1, 4) if fits(claim, size := Size(n, 1, 1))), None)
    if size is None:
        return
    strongly = any(isinstance(one, p.StronglyConvex) for one in claim.predicates)
    for part in PARTS if strongly else (F(0),):
        rng = random.Random(f"{part} that swing, {claim.spelling}")
        drawn = filter(None, (_base(claim, size, part, rng, bool(i % 2)) for i in range(DRAWS)))
        different = {str(one.base.values): one for one in drawn}
        yield from [*different.values()][:BASES]


def _base(claim: Claim, size: Size, part: Fraction, rng: random.Random, sharp: bool) -> OnALine | None:
    """Numbers that satisfy the claim's relations on one such function."""
    problem = Pieces(((Piecewise((F(1, 2),), (part, F(1))),),) * size.clients)
    found = at_numbers(claim, problem, size, np.array([F(1)], dtype=object), LEVELS[0][0], rng, sharp)
    return None if found is None else OnALine(claim, *found)


def _climbed(runs: OnALine, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """A population that climbs, in more and more rounds."""
    rng = np.random.default_rng(random.Random(f"that swing, {runs.claim.spelling}").getrandbits(64))
    numbers = runs.drawn(FIRST * SIZE)
    for many, often in LEVELS:
        if stop():
            return
        rounds = many + runs.apart
        numbers, gaps, ks = improved(runs, numbers, rounds, 1.0, often, rng)
        yield from confirmed(runs, numbers, gaps, ks, rounds, found)
