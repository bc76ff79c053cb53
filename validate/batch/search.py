"""The search in batches: populations of instances in floats climb towards a break, and fractions decide.

For each size among the instances that were measured, one is played and recorded (`validate.batch.tracing`), and a
population of its like climbs (`validate.batch.population`); where that comes nearer to a break than others its integers
are made larger, and it climbs on. What breaks the claim in floats becomes short fractions and is measured exactly, and
so do the nearest of what does not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, takewhile, zip_longest
from operator import itemgetter
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply
from theory.predicates import PolyakLojasiewicz, Smooth, StronglyConvex
from theory.sentence import everything
from validate.batch.layout import NO, networks_of
from validate.batch.population import NONE, SCATTERED, Population
from validate.batch.recorded import Array
from validate.batch.starts import lean, starts
from validate.batch.tracing import Traced, traced
from validate.instances.candidates import Candidate, candidate_of, each_row
from validate.instances.growth import Rungs
from validate.instances.ladder import ratio_of
from validate.instances.longer import CLIENTS, LONGER, ROUNDS, SAMPLES, longer, named, ways
from validate.instances.pool import Drawn
from validate.instances.refitting import fitting
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt, Seen, is_telling, measured

SHAPES, MOST_NUMBERS, MOST_STEPS = 10, 40, 6000
"""Sizes of which populations are made; free numbers of one, and operations of its sides."""
TO_RECORD = 0.3
"""Part of the budget after which no more sizes of instances that were seen are recorded."""
STEPS = 30
"""Generations."""
GROWN, NEAR = 10, 64
"""Generations of what was made larger and has as many free numbers as before; of what it was made of so many begin."""
CLOSE = -0.05
"""A score below which nothing is tried again that came no nearer the second time."""
ONCE = 2
"""Free numbers up to which a population goes everywhere: other seeds come to the same."""
FEW, EACH, DOUBLED, BETTER = 12, 8, 8, 0.98
"""Free numbers of what is made larger; clients or samples up to which there are as many as there may be; how often an
integer is doubled; what is left to a break is to be so much of what it was, or less."""
SHORT = 10
"""Rounds of a run of which many populations can be made."""
LONG_RUNS, LONGEST = (16, 64), (300,)
"""Rounds that there are to be in any case where nothing is drawn, as what is unstable shows late; and if these come
nearer."""
MOST_GROWN = 120_000
"""Operations times free numbers of what was made larger."""
COPIED = (CLIENTS, SAMPLES, LONGER)
DENOMINATORS = (4, 10, 60, 1000, 10**5, 10**9)
"""Of the fractions that are tried near to floats."""
CONFIRMED, EXACT = 3, 3
"""Breaks of a population that are looked at in fractions; the nearest of one that breaks nothing."""


def searched(
    claim: Claim, found: Hunt, most: int, seed: int, stop: Callable[[], bool], spent: Callable[[float], bool]
) -> Iterator[Seen]:
    """Instances that break a claim; the nearest of what does not are measured exactly, too, and added to `found`.

    Args:
        claim: the claim.
        found: instances that were measured, from which sizes are taken.
        most: instances that are measured exactly.
        seed: of what is drawn.
        stop: asked between populations, and between what they are made of.
        spent: whether so large a part of the budget is.
    """
    rng = np.random.default_rng(random.Random(f"{seed} in batches, {claim.spelling}").getrandbits(64))

    def over() -> bool:
        return stop() or spent(1) or found.evaluations >= most

    made = () if over() else _shapes(claim, found, lambda: stop() or spent(TO_RECORD), stop)
    shapes = [*takewhile(lambda _: not stop(), made)]
    nearest: list[float] = []
    while shapes and not over():  # a budget that is larger has populations from other seeds
        nearest.append(NONE)
        for seen, score in _pass(claim, found, shapes, rng, over):
            if seen is not None:
                yield seen
            nearest[-1] = max(nearest[-1], score)
        if all(here.layout.size <= ONCE for here, _ in shapes):
            return
        if len(nearest) > 1 and nearest[-1] < CLOSE and nearest[-1] < BETTER * max(nearest[:-1]):
            return


def _pass(
    claim: Claim,
    found: Hunt,
    shapes: list[tuple[Traced, Array]],
    rng: np.random.Generator,
    over: Callable[[], bool],
) -> Iterator[tuple[Seen | None, float]]:
    """A population of each size, then those that come nearest with each of their integers larger.

    What breaks the claim, with the score of the population; None where nothing of it does.
    """
    climbed: list[_Climbed] = []
    for here, first in shapes:
        if over():
            return
        one = _Climbed(here, Population(here, first, rng))
        yield from ((seen, one.population.best) for seen in one.climb(claim, found, STEPS))
        yield None, one.population.best
        climbed.append(one)
    kinds = [[one for one in climbed if bool(one.here.layout.knots.size) == pieces] for pieces in (False, True)]
    in_turn = zip_longest(*(_growing(claim, alike) for alike in kinds))
    growing = [integer for some in in_turn for integer in some if integer is not None]
    known = {one.here.key for one in climbed}
    while growing and not over():
        integer = growing.pop(0)
        larger = integer.next(claim, rng, known)
        if larger is not None:
            steps = STEPS if integer.of.free < larger.free else GROWN
            yield from ((seen, larger.population.best) for seen in larger.climb(claim, found, steps))
            yield None, larger.population.best
        if integer.goes_on(larger):
            growing.append(integer)
        else:
            found.reached.rungs += integer.told
    found.reached.rungs += [told for integer in growing for told in integer.told]


def _growing(claim: Claim, climbed: list[_Climbed]) -> Iterator[_Integer]:
    """Each integer of what is nearest, in each way in which it can be larger."""
    told, known = named(claim), set[str]()
    certain = claim.program is not None and not claim.program.random
    curved = [one for one in climbed if one.here.layout.dim > 1] if _bounds_curvature(claim) else []
    least = {min(some, key=lambda one: one.free).free for some in (climbed, curved) if some}
    for one in (one for one in climbed if one.free in least and certain):
        for at, way in enumerate(ways(claim, one.here.base)):
            if way.name == ROUNDS:
                rungs = [(way.now, one.ratio)]
                yield _Integer(one, way.name, at, rungs, [v for v in LONG_RUNS if v > way.now], [*LONGEST])
    few = [one for one in climbed if one.here.layout.size <= FEW] or climbed
    for one in sorted(few, key=lambda one: -one.population.best):
        names = set[str]()
        for at, way in enumerate(ways(claim, one.here.base)):
            copied = way.name in (CLIENTS, SAMPLES)
            two = copied and any(one.counts[way.name] > 1 for one in few)
            if way.name in known or way.now < (2 if two else 1):
                continue
            names.add(way.name)
            each = range(way.now + 1, EACH + 1) if copied else ()
            doubled = (way.now * 2**i for i in range(1, DOUBLED + 1))
            later = [value for value in doubled if value not in each]
            sure = dict.fromkeys(v for v in (*each, *told) if v > way.now)
            yield _Integer(one, way.name, at, [(way.now, one.ratio)], [*sure], [v for v in later if v not in sure])
        known |= names


def _bounds_curvature(claim: Claim) -> bool:
    """Whether assumptions bound curvature from both sides, which is one number where there is one coordinate."""
    below = any(isinstance(one, StronglyConvex | PolyakLojasiewicz) for one in claim.predicates)
    return below and any(isinstance(one, Smooth) for one in claim.predicates)


@dataclass
class _Integer:
    """One integer of a population, in one way.

    Attributes:
        of: the population.
        name: of the integer.
        at: which of its ways it is.
        rungs: its values, from the first, and left over right on the tightest of each population.
        values: what it is to be in any case.
        later: what it is to be then, for as long as that brings a break nearer.
        best: the score of what came nearest.
        last: the latest population.
        value: the latest.
    """

    of: _Climbed
    name: str
    at: int
    rungs: list[tuple[int, float]]
    values: list[int]
    later: list[int]
    best: float = NONE
    last: _Climbed | None = None
    value: int = 0

    def next(self, claim: Claim, rng: np.random.Generator, known: set[Any]) -> _Climbed | None:
        """A population with the next value; None where there is none, or it is the same as one that is known."""
        value = self.value = self.values.pop(0) if self.values else self.later.pop(0)
        here = self.of.larger(claim, self.at, value)
        if here is None or here.key in known:
            return None
        known.add(here.key)
        first = np.array([[float(x)] for x in here.layout.numbers(here.base)])
        of = self.of.population
        before = [of.tightest(NEAR), of.first]
        if self.last is not None and self.last.free == self.of.free:
            before.append(self.last.population.tightest(NEAR))
        near = np.concatenate(before, axis=1)
        if len(near) == len(first):
            first = np.concatenate([first, near[:, here.fits(near)[1]]], axis=1)
        return _Climbed(here, Population(here, first, rng, SCATTERED if len(near) < len(first) else 1))

    @property
    def told(self) -> list[tuple[str, Rungs]]:
        """How near its populations came, of rounds: of other integers that hangs on luck more than on them."""
        return [(self.name, tuple(self.rungs))] if self.name == ROUNDS else []

    def goes_on(self, larger: _Climbed | None) -> bool:
        """Whether there is more to come."""
        if larger is not None:
            self.rungs.append((self.value, larger.ratio))
        best = NONE if larger is None else larger.population.best
        nearer = best > BETTER * self.best
        self.best, self.last = max(best, self.best), larger or self.last
        if larger is not None and nearer and self.name not in COPIED:
            self.of = larger
        return bool(self.values) or (bool(self.later) and nearer)


def _shapes(
    claim: Claim, found: Hunt, enough: Callable[[], bool], stop: Callable[[], bool]
) -> Iterator[tuple[Traced, Array]]:
    """One size after another, what takes least first: what is recorded, and the free numbers of instances of it.

    Nothing more is recorded of instances that were seen once there is `enough` of it, if there is any.
    """
    sizes: dict[Any, list[tuple[float, Drawn, Candidate]]] = {}
    for seen in [one for one in found.seen if is_telling(one)] or found.seen:
        c = candidate_of(seen.drawn)
        if c.functions is None:
            sizes.setdefault(_size(claim, c), []).append((-seen.score, seen.drawn, c))
    recorded: dict[Any, tuple[Traced, list[Array]]] = {}
    for own in sorted(sizes.values(), key=lambda own: _steps(own[0][2])):
        if recorded and enough():
            break
        own.sort(key=lambda one: one[0])
        here = traced(claim, own[0][1])
        if here is None or here.layout.size > MOST_NUMBERS or len(here.rows) > MOST_STEPS:
            continue
        numbers = [_floats(here, c) for _, _, c in own]
        if fitting := [column for column in numbers if column is not None]:
            recorded.setdefault(here.key, (here, []))[1].extend(fitting)  # rounds may be counted and not matter
    if recorded and not any(here.layout.dim == 1 for here, _ in recorded.values()):
        nearest = min((own[0] for own in sizes.values()), key=lambda one: one[0])
        for here, column in _along_one(claim, nearest[2]):
            recorded.setdefault(here.key, (here, []))[1].append(column)
    smallest = sorted(recorded.values(), key=lambda one: len(one[0].rows) * one[0].layout.size)
    shapes = {_counts_of(claim, here.base): (here, columns) for here, columns in reversed(smallest)}
    one_each = [*reversed(shapes.values())][:SHAPES]
    known, least = {here.key for here, _ in one_each}, min((here.layout.size for here, _ in smallest), default=0)
    others = [one for one in smallest if one[0].layout.size == least and one[0].key not in known]
    # the smallest with every network, others with one
    known_ones = [(here, np.array(columns).T) for here, columns in (*one_each, *others[:SHAPES])]
    made = (
        (here, first)
        for here, first in chain(starts(claim, stop), lean(claim, stop))
        if here.layout.size <= MOST_NUMBERS and len(here.rows) <= MOST_STEPS
    )
    # where every run is long, what was seen may take all of the budget
    long = all(here.base.rounds > SHORT for here, _ in known_ones)
    yield from chain(made, known_ones) if long else chain(known_ones, made)


def _along_one(claim: Claim, c: Candidate) -> Iterator[tuple[Traced, Array]]:
    """What is recorded of quadratics along each of their coordinates alone."""
    for j in range(c.dim) if c.hessian is not None else ():
        c_j = replace(c, hessian=c.hessian[..., [j], :][..., [j]], linear=c.linear[..., [j]], start=c.start[[j]])
        c_j = replace(c_j, vectors=each_row(c.vectors, itemgetter([j])))
        one = fitting(claim, c_j)
        here = None if one is None else traced(claim, one)
        column = None if here is None or one is None else _floats(here, candidate_of(one))
        if here is not None and column is not None and here.layout.size <= MOST_NUMBERS:
            yield here, column


def _steps(c: Candidate) -> int:
    """About as many steps of clients as are played."""
    return c.clients * c.samples * c.dim * max(1, c.rounds)


def _size(claim: Claim, c: Candidate) -> Any:
    """What has the same free numbers; networks stay as they are, but for their second eigenvalue where it is free."""
    fixed = {name: c.values.get(name) for name in roles_in(claim).matrices}
    return _counts_of(claim, c), *(repr(entries) for _, entries in sorted({**fixed, **networks_of(claim, c)}.items()))


def _counts_of(claim: Claim, c: Candidate) -> Any:
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

    @property
    def ratio(self) -> float:
        """Left over right on the tightest."""
        return ratio_of(min(float(self.population.gaps.max()), 0.0))

    @property
    def free(self) -> int:
        """How many numbers are free."""
        return self.here.layout.size

    @property
    def counts(self) -> dict[str, int]:
        """How many clients and samples there are."""
        return {CLIENTS: self.here.base.clients, SAMPLES: self.here.base.samples}

    def climb(self, claim: Claim, found: Hunt, steps: int) -> Iterator[Seen]:
        """So many generations; what it comes to is measured."""
        self.population.climb(steps)
        breaking = self.population.breaking()
        for i in range(min(CONFIRMED, breaking.shape[1])):
            yield from self.measured(claim, breaking[:, i], found, True)
        if not breaking.shape[1]:
            near = self.population.tightest(EXACT)
            for i in range(near.shape[1]):
                yield from self.measured(claim, near[:, i], found, False)

    def measured(self, claim: Claim, column: Array, found: Hunt, breaks: bool) -> Iterator[Seen]:
        """An instance in fractions that are as short as they may be, exactly; of a break all that break the claim."""
        roots = breaks and _takes_roots(claim)
        for most in DENOMINATORS if breaks else DENOMINATORS[3:]:
            seen = self._tried(claim, self.candidate(column, most, squares=True), found) if roots else None
            if seen is None or not seen.measured.broken:
                seen = self._tried(claim, self.candidate(column, most), found) or seen
            if seen is None:
                continue
            if seen.measured.broken:
                yield seen
                return
            found.seen.append(seen)
            if not breaks:
                return

    def _tried(self, claim: Claim, c: Candidate, found: Hunt) -> Seen | None:
        one = fitting(claim, c)
        found.evaluations += one is not None
        return None if one is None else measured(claim, one, found)

    def candidate(self, column: Array, most: int, squares: bool = False) -> Candidate:
        """The instance in fractions with denominators up to `most`, or numerators where numbers are small.

        Of Hessians without entries beside their diagonal the entries are squares of such, if asked for.
        """
        layout = self.here.layout
        numbers = [_near(float(x), most) for x in column]
        diagonal = np.eye(layout.dim, dtype=bool)
        if squares and layout.hessian.size and (layout.hessian[..., ~diagonal] < 0).all():
            for place in {*layout.hessian[..., diagonal].ravel().tolist()} - {NO}:
                numbers[place] = _near(math.sqrt(abs(column[place])), most) ** 2 * (1 if column[place] > 0 else -1)
        return layout.candidate(self.here.base, numbers)

    def larger(self, claim: Claim, at: int, value: int) -> Traced | None:
        """What is recorded of the nearest with a larger integer; what is the same there stays the same."""
        c = self.candidate(self.population.tightest(1)[:, 0], 1000)
        one = fitting(claim, c)
        c = self.here.base if one is None else candidate_of(one)
        way = next((way for i, way in enumerate(ways(claim, c)) if i == at), None)
        if way is None or not way.now < value <= way.most:
            return None
        grown = longer(claim, c, way, value)
        here = None if grown is None else traced(claim, grown, kinds=True)
        if here is None or here.layout.size > MOST_NUMBERS or len(here.rows) * here.layout.size > MOST_GROWN:
            return None
        return here


def _takes_roots(claim: Claim) -> bool:
    """Whether a relation has the root of something, such as of a curvature, which is then to be a fraction."""
    sides = [side for relation in claim.relations for side in relation.sides]
    return any(isinstance(p, Apply) and p.operation == "sqrt" for side in sides for p in everything(side))


def _near(x: float, most: int) -> Fraction:
    if abs(x) >= 1 or x == 0:
        return Fraction(x).limit_denominator(most)
    inverse = Fraction(1 / x)
    return 1 / inverse.limit_denominator(most) if abs(inverse) < 10**30 else Fraction(0)


__all__ = ["searched"]
