"""Functions of one variable at their extremes, for a claim about points or a run: what a pool meets by chance alone.

A sentence that is linear in a function's curvature is worst for the least or the most of it on either side of a few
places; one about functions with bounded gradients for the steepest, up or down. Here the free vectors are a few places
on a line, and curvature or steepness changes at the points at which the claim asks for its functions, or halfway
between two of them. A run begins at a distance that so many steps along the steep part take it to the kink.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, pairwise, permutations, product
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name
from theory.predicates import Smooth
from theory.sentence import FUNCTION_NAMES, Expression, evaluate, everything, parts
from validate.instances.affordable import everything_said, takes_long
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.parameters import choose
from validate.instances.piece_shapes import allows_pieces, assumes_convex
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import Drawn, fits, has_functions, instance_of_values, needs_minimiser
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.setting import Setting
from validate.instances.shapes import Size, shape_of

F = Fraction
PLACES: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3), (1, 0, 3, 7))
"""Of the free vectors, in every order; unevenly spaced ones last."""
LEAST = (F(1, 25), F(1, 4))
"""Of a strongly convex function's curvature, where the most is 1."""
WIDTHS = (F(1, 10_000), F(1, 4))
"""Within which a steepness changes, as a part of the least distance of two points; the larger where it is smooth."""
MOST_PATTERNS, MOST_PLACES, MOST_TURNS = 120, 12, 7
"""Functions for one choice of places, those that change least often first; choices of places; changes of a function."""
ROUNDS_OF_KINKS = (1, 2, 5, 10)
"""Of a run; the first two of a random one."""
KEPT = 4
"""Instances that go to later stages, of different tightness: the others would crowd out those of several variables."""


def on_a_line(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """The instances of functions at their extremes that break a claim; the tightest of the others are added to `found`.

    Args:
        claim: the claim.
        found: what was seen before.
        stop: asked between instances.
    """
    held: dict[float, Seen] = {}
    for one in extremes(claim) if claim.program is None else kinks(claim):
        if stop():
            return
        seen = measured(claim, one)
        if seen is not None and seen.measured.broken:
            yield seen
        elif seen is not None:
            held.setdefault(round(seen.score, 6), seen)
    found.seen += [held[score] for score in sorted(held, reverse=True)[:KEPT]]


def extremes(claim: Claim) -> Iterator[Drawn]:
    """Instances of a claim without an algorithm: one function of one variable, with vectors at a few places.

    Args:
        claim: about functions and free vectors; there are none for another.
    """
    if claim.program is not None or not claim.vectors or not has_functions(claim):
        return
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if not fits(claim, Size(1, 1, 1)) or not allows_pieces(claim) or shape.even != "any":
        return
    rng = random.Random(claim.spelling)
    for places in _places(len(claim.vectors)):
        vectors: dict[str, Any] = {
            name: [_vector(place)] if name.endswith("_n") else _vector(place)
            for name, place in zip(claim.vectors, places, strict=True)
        }
        asked = _asked(claim, vectors)
        if len(asked) < 2:
            continue
        made = _steep(claim, asked) if shape.flat else _curved(claim, asked)
        for function in islice(made, MOST_PATTERNS):
            one = _instance(claim, function, vectors, rng)
            if one is not None:
                yield one


def kinks(claim: Claim) -> Iterator[Drawn]:
    """Instances of a claim with an algorithm: one client, whose function is steep on one side or both of a kink at 0.

    Args:
        claim: about a run; there are none where it assumes that f is a quadratic, or that all curvatures are one.
    """
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if claim.program is None or not fits(claim, Size(1, 1, 1)) or not allows_pieces(claim) or shape.even != "any":
        return
    rng = random.Random(claim.spelling)
    low = F(0) if shape.strongly == "any" else LEAST[0]
    rounds = ROUNDS_OF_KINKS[:2] if claim.program.random else ROUNDS_OF_KINKS
    for left, width, K, start in product((F(-1), F(0)), WIDTHS, rounds, (F(1), F(2))):
        f = with_steepness([F(0)], (left, F(1)), width)
        problem = Pieces(((f.plus(Piecewise((), (low,))),),))
        begin = np.array([start], dtype=object)
        found = choose(claim, problem, begin, K, rng)
        if found is None or found[1].rounds != K:
            continue
        values, numbers = found[0], [name for name in found[0] if _is_free(claim, name, found[0][name])]
        for name, value in [("", F(0)), *product(numbers, dict.fromkeys((F(1), F(1, K))))]:
            changed = {**values, name: value} if name else values
            one = realised(claim, Candidate(None, None, begin, K, changed, {}, problem.functions))
            if one is not None and not takes_long(one):
                yield one


def _is_free(claim: Claim, name: str, value: Any) -> bool:
    """Whether a name is a real number that no assumption binds."""
    number = isinstance(value, Fraction) and name in claim.domains and not claim.domains[name].integer
    return number and name not in claim.constants


def _vector(place: int) -> Any:
    return np.array([F(place)], dtype=object)


def _places(vectors: int) -> Iterator[tuple[int, ...]]:
    """Where the vectors are: up to four of them in different places, the others at the origin."""
    count = min(vectors, len(PLACES[0]))
    rest = (0,) * (vectors - count)
    chosen = [order for places in PLACES for order in permutations(places[:count])]
    for order in chosen[:MOST_PLACES]:
        yield (*order, *rest)


def _asked(claim: Claim, vectors: dict[str, Any]) -> list[Fraction]:
    """The points at which the claim asks for its functions, as far as vectors alone say where they are."""
    world = Setting(None, np.array([F(0)], dtype=object), {}, 1, claim, vectors)
    found = set()
    for e in everything_said(claim):
        if not isinstance(e, Apply) or not (e.operation in FUNCTION_NAMES or e.operation.startswith("grad ")):
            continue
        argument = parts(e)[0]
        if {p.name for p in everything(argument) if isinstance(p, Name)} <= set(vectors) and _is_plain(argument):
            found.add(evaluate(argument, world, {"n": 0, "i": 0, "k": 0}, claim.vocabulary)[0])
    return sorted(found)


def _is_plain(e: Expression) -> bool:
    """Whether nothing in a tree of vectors is asked of functions."""
    return all(not isinstance(p, Apply) or p.operation in ("+", "-", "*", "/", "neg") for p in everything(e))


def _instance(claim: Claim, f: Piecewise, vectors: dict[str, Any], rng: random.Random) -> Drawn | None:
    """The function with parameters that fit, and the best constants where these fit."""
    problem = Pieces(((f,),))
    start = np.array([F(0)], dtype=object)
    found = choose(claim, problem, start, 1, rng, vectors=vectors)
    if found is None:
        return None
    one = instance_of_values(claim, problem, start, found[1].rounds, found[0], vectors)
    return None if one is None else realised(claim, candidate_of(one)) or one


def _turns(asked: list[Fraction]) -> list[Fraction]:
    """Where a function may change: at the points, and halfway between two that are next to each other."""
    return sorted({*asked, *((one + two) / 2 for one, two in pairwise(asked))})


def _patterns(levels: tuple[Fraction, ...], count: int) -> Iterator[tuple[Fraction, ...]]:
    """Levels one after another, not all the same; those that change least often first."""

    def changes(pattern: tuple[Fraction, ...]) -> int:
        return sum(one != two for one, two in pairwise(pattern))

    yield from sorted((p for p in product(levels, repeat=count) if changes(p)), key=changes)


def _curved(claim: Claim, asked: list[Fraction]) -> Iterator[Piecewise]:
    """The most curvature and the least in turn; stationary at the first point, in the middle, at the last."""
    turns = _turns(asked)[:MOST_TURNS]
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    lowest = LEAST if shape.strongly != "any" else (F(0),) if shape.convex != "any" else (F(-1), F(0))
    for low in lowest:
        for slopes in _patterns((low, F(1)), len(turns) + 1):
            for still in dict.fromkeys((asked[0], turns[len(turns) // 2], asked[-1])):
                yield Piecewise(tuple(turns), slopes).still_at(still)


def _steep(claim: Claim, asked: list[Fraction]) -> Iterator[Piecewise]:
    """The steepest up and down in turn; up after down only where it is convex, and then level in between as well."""
    turns = _turns(asked)[:MOST_TURNS]
    convex = assumes_convex(claim.predicates)
    smooth = any(isinstance(one, Smooth) for one in claim.predicates)
    levels = (F(-1), F(0), F(1)) if convex else (F(-1), F(1))
    gap = min(two - one for one, two in pairwise(turns))
    for width in WIDTHS if smooth else WIDTHS[:1]:
        for steepness in _patterns(levels, len(turns) + 1):
            if not convex or list(steepness) == sorted(steepness):
                yield with_steepness(turns, steepness, width * gap)


def with_steepness(turns: list[Fraction], steepness: tuple[Fraction, ...], width: Fraction) -> Piecewise:
    """The function of these derivatives, each of which becomes the next within a width around a place."""
    knots, slopes = list[Fraction](), [F(0)]
    for at, one, two in zip(turns, steepness, steepness[1:], strict=False):
        knots += [at - width / 2, at + width / 2]
        slopes += [(two - one) / width, F(0)]
    shape = Piecewise(tuple(knots), tuple(slopes))
    far = turns[0] - width
    return Piecewise(shape.knots, shape.slopes, shape.derivative(far) - steepness[0])


__all__ = ["extremes", "kinks", "on_a_line", "with_steepness"]
