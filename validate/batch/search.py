"""The search in batches: populations of instances in floats climb towards a break, and fractions decide.

For each size among the instances that were measured, one is played and recorded (`validate.batch.tracing`), and a
population of its like climbs (`validate.batch.population`); where that comes nearer to a break than others its integers
are made larger, and it climbs on. What breaks the claim in floats becomes short fractions and is measured exactly, and
so do the nearest of what does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.batch.population import Population
from validate.batch.recorded import Array
from validate.batch.starts import starts
from validate.batch.tracing import Traced, traced
from validate.instances.candidates import Candidate, candidate_of, realised, refitted
from validate.instances.longer import ROUNDS, longer, ways
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, Seen, measured

SHAPES, MOST_NUMBERS, MOST_STEPS = 10, 40, 6000
"""Sizes of which populations are made; free numbers of one, and operations of its sides."""
STEPS = 30
"""Generations."""
FEW, DOUBLED, BETTER = 12, 4, 0.98
"""Free numbers of what is made larger; how often it is; the third time and later only where what is left to a break is
so much of what it was, or less."""
DENOMINATORS = (4, 10, 60, 1000, 10**5, 10**9)
"""Of the fractions that are tried near to floats."""
CONFIRMED, EXACT = 3, 3
"""Breaks of a population that are looked at in fractions; the nearest of one that breaks nothing."""


def searched(
    claim: Claim, found: Hunt, most: int, seed: int, stop: Callable[[], bool], spent: Callable[[], bool]
) -> Iterator[Seen]:
    """Instances that break a claim; the nearest of what does not are measured exactly, too, and added to `found`.

    Args:
        claim: the claim.
        found: instances that were measured, from which sizes are taken.
        most: instances that are measured exactly.
        seed: of what is drawn.
        stop: asked between populations.
        spent: whether the budget is.
    """
    rng = np.random.default_rng(random.Random(f"{seed} in batches, {claim.statement}").getrandbits(64))

    def over() -> bool:
        return stop() or spent() or found.evaluations >= most

    shapes = [] if over() else list(_shapes(claim, found))
    while shapes and not over():  # a budget that is larger has populations from other seeds
        yield from _pass(claim, found, shapes, rng, over)


def _pass(
    claim: Claim, found: Hunt, shapes: list[tuple[Traced, Array]], rng: np.random.Generator, over: Callable[[], bool]
) -> Iterator[Seen]:
    """A population of each size, then those that come nearest with each of their integers larger."""
    climbed: list[_Climbed] = []
    for here, first in shapes:
        if over():
            return
        one = _Climbed(here, Population(here, first, rng))
        yield from one.climb(claim, found)
        climbed.append(one)
    names = dict.fromkeys(way.name for one in climbed for way in ways(claim, one.here.base))
    for name, pieces in product(names, (False, True)):
        alike = [one for one in climbed if bool(one.here.layout.knots.size) == pieces]
        small = [one for one in alike if one.here.layout.size <= FEW] or alike
        if not small:
            continue
        best = max(small, key=lambda one: one.population.best)
        for turn in range(DOUBLED):
            larger = best.larger(claim, name)
            if larger is None or over():
                break
            numbers = np.array([[float(x)] for x in larger.layout.numbers(larger.base)])
            one = _Climbed(larger, Population(larger, numbers, rng))
            yield from one.climb(claim, found)
            if turn and one.population.best < BETTER * best.population.best:
                break
            best = one


def _shapes(claim: Claim, found: Hunt) -> Iterator[tuple[Traced, Array]]:
    """One size after another, what takes least first: what is recorded, and the free numbers of instances of it."""
    sizes: dict[Any, list[tuple[float, Drawn, Candidate]]] = {}
    for seen in found.seen:
        c = candidate_of(seen.drawn)
        if c.functions is None:
            sizes.setdefault(_size(claim, c), []).append((-seen.score, seen.drawn, c))
    recorded: list[tuple[int, int, Traced, Array]] = []
    for i, own in enumerate(sizes.values()):
        own.sort(key=lambda one: one[0])
        here = traced(claim, own[0][1])
        if here is None or here.layout.size > MOST_NUMBERS or len(here.rows) > MOST_STEPS:
            continue
        numbers = [_floats(here, c) for _, _, c in own]
        fitting = [column for column in numbers if column is not None]
        if fitting:
            recorded.append((len(here.rows) * here.layout.size, i, here, np.array(fitting).T))
    recorded = sorted(recorded, key=lambda one: one[:2])[:SHAPES]
    for here, first in starts(claim):
        if here.layout.size <= MOST_NUMBERS and len(here.rows) <= MOST_STEPS:
            recorded.append((len(here.rows) * here.layout.size, len(recorded) + SHAPES, here, first))
    for _, _, here, first in sorted(recorded, key=lambda one: one[:2]):
        yield here, first


def _size(claim: Claim, c: Candidate) -> Any:
    counts = [(name, repr(v)) for name, v in c.values.items() if name in claim.domains and claim.domains[name].integer]
    many = [(name, len(v)) for name, v in c.values.items() if isinstance(v, list)]
    rounds = c.rounds if claim.program is not None or ROUNDS in claim.symbols else 0
    return c.clients, c.samples, c.dim, rounds, *counts, *many


def _floats(here: Traced, c: Candidate) -> Array | None:
    """The free numbers of a candidate; None where it is none of these."""
    try:
        column = np.array([float(x) for x in here.layout.numbers(c)])
    except (ValueError, IndexError, KeyError, OverflowError, TypeError):
        return None
    return column if here.fits(column[:, None])[1][0] else None


@dataclass
class _Climbed:
    """A population, and of what it is."""

    here: Traced
    population: Population

    def climb(self, claim: Claim, found: Hunt) -> Iterator[Seen]:
        """Climb, and measure what it comes to."""
        self.population.climb(STEPS)
        breaking = self.population.breaking()
        for i in range(min(CONFIRMED, breaking.shape[1])):
            yield from self.measured(claim, breaking[:, i], found, True)
        if not breaking.shape[1]:
            near = self.population.tightest(EXACT)
            for i in range(near.shape[1]):
                yield from self.measured(claim, near[:, i], found, False)

    def measured(self, claim: Claim, column: Array, found: Hunt, breaks: bool) -> Iterator[Seen]:
        """An instance in fractions that are as short as they may be, exactly; of a break all that break the claim."""
        for most in DENOMINATORS if breaks else DENOMINATORS[3:]:
            c = self.candidate(column, most)
            one = realised(claim, c) or realised(claim, refitted(claim, c))
            seen = None if one is None else measured(claim, one, found)
            found.evaluations += one is not None
            if seen is None:
                continue
            if seen.measured.broken:
                yield seen
                return
            found.seen.append(seen)
            if not breaks:
                return

    def candidate(self, column: Array, most: int) -> Candidate:
        """The instance in fractions with denominators up to `most`, or numerators where numbers are small."""
        return self.here.layout.candidate(self.here.base, [_near(float(x), most) for x in column])

    def larger(self, claim: Claim, name: str) -> Traced | None:
        """What is recorded of the nearest with an integer twice as large."""
        c = self.candidate(self.population.tightest(1)[:, 0], 1000)
        one = realised(claim, c) or realised(claim, refitted(claim, c))
        c = self.here.base if one is None else candidate_of(one)
        for way in ways(claim, c):
            grown = longer(claim, c, way, 2 * way.now) if way.name == name and 2 * way.now <= way.most else None
            here = None if grown is None else traced(claim, grown)
            if here is not None and here.layout.size <= MOST_NUMBERS and len(here.rows) <= MOST_STEPS:
                return here
        return None


def _near(x: float, most: int) -> Fraction:
    if abs(x) >= 1 or x == 0:
        return Fraction(x).limit_denominator(most)
    inverse = Fraction(1 / x)
    return 1 / inverse.limit_denominator(most) if abs(inverse) < 10**30 else Fraction(0)


__all__ = ["searched"]
