"""Long runs that turn: convex functions of hinges in slanted directions, on which a run goes from one flat to another.

On quadratics, and along a line, descent hardly turns. On other convex functions its direction may come to be the
opposite of what it was, after as many rounds as its steps are short. A population of them (`validate.batch.slanted`)
climbs in floats: first where functions are steeper than the claim's steps allow, so that few rounds are as good as
many, then, less and less steep, in more and more rounds. What breaks the claim becomes short fractions and is measured
exactly.
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
from validate.batch.recorded import Array
from validate.batch.slanted import DIM, SHORT, Runs
from validate.instances.constants import values_in
from validate.instances.free_vectors import free_vectors
from validate.instances.parameters import choose
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import Drawn, fits, has_functions, instance_of_values, needs_minimiser
from validate.instances.refitting import fitting
from validate.instances.ridge_functions import RidgeFunction
from validate.instances.ridges import Ridges
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.setting import Setting
from validate.instances.shapes import Size, shape_of

log = logging.getLogger(__name__)
F = Fraction
KNOWN = (p.Smooth, p.Convex, p.StronglyConvex, p.BoundedBelow, p.SameMinimiser)
"""Assumptions that are true of such functions by construction."""
SIZE, FIRST = 256, 4
"""Instances of a population; how often so many are drawn at first, of which the best stay."""
LEVELS = ((SHORT, 60), (96, 20), (384, 8), (1536, 5))
"""Rounds and generations; functions are less steep by as much as there are more rounds."""
MOST_ROUNDS, LONGEST = 2000, 384
"""Rounds at most; and where no function is steeper than the claim's steps allow."""
BROKEN = 1e-9
"""A gap that is no rounding."""
BASES = 8
"""Choices of numbers, of which those with the longest steps stay."""
DENOMINATORS = (2, 4, 10, 60, 1000, 10**6)
CONFIRMED, MOST_DIGITS = 4, 6_000_000
"""Of a population, how many are measured exactly; squares of the digits that they may come to, all together."""
LEAST_PARTS = (F(1, 2048), F(1, 32))
"""Of the largest curvature, the least one."""


def turned(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances that break a claim about long runs of a program that draws nothing.

    Args:
        claim: the claim.
        found: where it is counted what could not be measured.
        stop: asked between populations.
    """
    for some in _bases(claim):
        if stop():
            return
        try:
            yield from _climbed(min(some, key=lambda one: one.slow), found, stop)
        except (UndefinedError, UndecidedError, SentenceError, ValueError, ZeroDivisionError, OverflowError):
            log.debug("%s: its runs are not played in floats", claim.id, exc_info=True)


def _bases(claim: Claim) -> Iterator[list[Runs]]:
    """The claim at some numbers, for one client and for two, and for curvatures that are more and less apart."""
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if claim.program is None or claim.program.random or claim.sentence.relation == "==" or not has_functions(claim):
        return
    if shape.even != "any" or not all(isinstance(one, KNOWN) for one in claim.predicates):
        return
    sizes = [size for n in range(1, 4) if fits(claim, size := Size(n, 1, DIM))]
    several = any(one.function != "f" for one in claim.predicates)
    parts = LEAST_PARTS if any(isinstance(one, p.StronglyConvex) for one in claim.predicates) else (F(0),)
    for size in sizes[: 1 + several]:
        for part in parts:
            rng = random.Random(f"{size}, {part} that turn, {claim.spelling}")
            drawn = filter(None, (_base(claim, size, part, rng, bool(i % 2)) for i in range(BASES)))
            some = {str(one.base.values): one for one in drawn}
            if some:
                yield [*some.values()]


def _base(claim: Claim, size: Size, part: Fraction, rng: random.Random, sharp: bool) -> Runs | None:
    """Numbers that satisfy the claim's relations on one such function."""
    ridge = Piecewise((F(-1),), (F(0), 1 - part))
    axes = [tuple(F(int(i == j)) for j in range(DIM)) for i in range(DIM)]
    terms = ((axes[0], ridge), *((a, Piecewise((), (part,))) for a in axes if part))
    problem = Ridges(((RidgeFunction(terms, (F(0),) * DIM),),) * size.clients)
    start = np.array([F(1), F(1, 2)], dtype=object)
    found = at_numbers(claim, problem, size, start, SHORT, rng, sharp)
    return None if found is None else Runs(claim, *found)


def at_numbers(
    claim: Claim, problem: Pieces | Ridges, size: Size, start: Array, rounds: int, rng: random.Random, sharp: bool
) -> tuple[Drawn, float, float] | None:
    """An instance on a problem with numbers that satisfy a claim's relations, and `curvatures` at these."""
    vectors = free_vectors(claim, size, rng)
    found = choose(claim, problem, start, rounds, rng, vectors=vectors, sharp=sharp)
    if found is None:
        return None
    one = instance_of_values(claim, problem, start, found[1].rounds, found[0], vectors)
    return None if one is None else (one, *curvatures(claim, found[1]))


def curvatures(claim: Claim, setting: Setting) -> tuple[float, float]:
    """The largest curvature that a function of the claim may have, at its numbers, and the least."""
    ends: dict[type, float] = {}
    for predicate in claim.predicates:
        if isinstance(predicate, p.Smooth | p.StronglyConvex):
            (value,) = values_in(predicate, setting, lambda c, n: setting.expectation(c, {"n": n, "i": 0, "k": 0}))
            least = min(value) if isinstance(value, list) else value
            ends[type(predicate)] = min(ends.get(type(predicate), 1e300), float(least))
    return ends.get(p.Smooth, 1.0), ends.get(p.StronglyConvex, 0.0)


def _climbed(runs: Runs, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """A population that climbs, in more and more rounds."""
    rng = np.random.default_rng(random.Random(f"that turn, {runs.claim.spelling}").getrandbits(64))
    first = numbers = runs.drawn(FIRST * SIZE)
    slow = min(runs.slow, LEVELS[-1][0] / SHORT)
    longest = max(LONGEST, int(slow) * SHORT)
    for level, generations in LEVELS:
        many = min(level, longest)
        rounds = many + runs.apart
        if stop() or rounds > MOST_ROUNDS or 4 * many <= level:
            return
        steeper = max(1.0, slow * SHORT / many)
        if many > SHORT:
            numbers = np.concatenate([numbers, first[:, :SIZE]], axis=1)
        numbers, gaps, ks = improved(runs, numbers, rounds, steeper, generations, rng)
        breaks = bool(np.nanmax(gaps, initial=0.0) > BROKEN)
        if not breaks and many > SHORT:
            return
        if steeper == 1.0:
            yield from confirmed(runs, numbers, gaps, ks, rounds, found)


def improved(
    runs: Runs, numbers: Array, rounds: int, steeper: float, generations: int, rng: np.random.Generator
) -> tuple[Array, Array, list[int]]:
    """What became of a population, the best first; its gaps, (rows, B), and the rounds of these."""
    gaps, ks, _ = runs.gaps(numbers, rounds, steeper)
    silent = np.isnan(gaps).all(axis=1, keepdims=True)
    units = np.nanmedian(np.abs(np.where(silent, 1.0, gaps)), axis=1)

    def scores(gaps: Array) -> Array:
        found = np.where(np.isnan(gaps), -np.inf, gaps / units[:, None]).max(axis=0)
        return np.asarray(found)

    kept = np.argsort(-scores(gaps))[:SIZE]
    numbers, gaps = numbers[:, kept], gaps[:, kept]
    score = scores(gaps)
    for _ in range(generations):
        children = _children(numbers, score, rng)
        there, _, _ = runs.gaps(children, rounds, steeper)
        own = scores(there)
        better = own > score
        numbers[:, better], gaps[:, better], score[better] = children[:, better], there[:, better], own[better]
    order = np.argsort(-score)
    return numbers[:, order], gaps[:, order], ks


def _children(old: Array, score: Array, rng: np.random.Generator) -> Array:
    """One child of each: towards one of the best and along what two others differ by, or some numbers scaled."""
    size, count = old.shape
    one, two = rng.integers(count, size=(2, count))
    best = np.argsort(-score)[rng.integers(max(1, count // 8), size=count)]
    rate = rng.choice([0.4, 0.8, 1.0], size=count)
    crossed = rng.random((size, count)) < rng.choice([0.2, 0.6, 1.0], size=count)
    found = np.where(crossed, old + rate * (old[:, best] - old) + rate * (old[:, one] - old[:, two]), old)
    alone = rng.random(count) < 0.3
    factor = np.exp(rng.normal(size=old.shape) * rng.choice([0.02, 0.2, 1.0], size=count))
    return np.where(alone, old * np.where(rng.random(old.shape) < 0.3, factor, 1.0), found)


def confirmed(runs: Runs, numbers: Array, gaps: Array, ks: list[int], rounds: int, found: Hunt) -> Iterator[Seen]:
    """The best of what breaks the claim in floats, in fractions that are as short as they may be."""
    claim, kept = runs.claim, {name: runs.base.values[name] for name in runs.scaled}
    broken = np.nan_to_num(gaps, nan=-1.0) > BROKEN
    digits = 0
    for i in np.flatnonzero(broken.any(axis=0))[:CONFIRMED]:
        last = min(rounds, ks[int(np.argmax(np.nan_to_num(gaps[:, i], nan=-1.0)))] + runs.apart + 2)
        for most in DENOMINATORS:
            grown = (last * len(str(most - 1))) ** 2  # each round multiplies by numbers of so many digits
            if digits + grown > MOST_DIGITS:
                break
            digits += grown
            c = runs.candidate(numbers[:, i], last, most)
            one = fitting(claim, c, kept)
            seen = None if one is None else measured(claim, one, found)
            found.evaluations += one is not None
            if seen is not None and seen.measured.broken:
                yield seen
                break
