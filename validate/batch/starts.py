"""Where populations start: functions of few stretches, as extreme as assumptions let them be, and lean quadratics.

Between as few clients as the claim allows there are one or two different functions; their slopes are the most and the
least in turn, their knots lie at and between the points that are known, the others being at random. Quadratics of
clients with one sample each, in two and three coordinates, are curved along their samples' rows, which are anywhere.
From there on a population goes by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from validate.batch.hinges import embedded
from validate.batch.recorded import Array
from validate.batch.tracing import Traced, traced
from validate.instances.free_vectors import free_vectors
from validate.instances.longer import longer, ways
from validate.instances.parameters import choose
from validate.instances.piece_shapes import allows_pieces, assumes_convex
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.pool import Drawn, fits, has_functions, instance_of_values, needs_minimiser
from validate.instances.refitting import fitting
from validate.instances.ridges import Ridges
from validate.instances.roles import roles_in
from validate.instances.shapes import Shape, Size, shape_of

F = Fraction
COUNT = 3000
"""Numbers of which those that fit are the start of a population."""
TRIES = 6
"""Choices of parameters for one size."""
PLACES = (0.0, 1.0, 0.5, 1 / 3, 2 / 3, 0.25, 0.75, 0.1, 0.02, -0.02, -0.1, -0.5, -1.0, 2.0)
"""Of knots, as parts of a length."""
MOST_CLIENTS, MOST_COORDINATES = 12, 5
MOST_ROUNDS = 300
"""Of a claim whose relations say how many there are."""


def starts(claim: Claim, stop: Callable[[], bool] = lambda: False) -> Iterator[tuple[Traced, Array]]:
    """What is recorded of piecewise quadratics, for each number of different ones, and free numbers of some of them.

    Args:
        claim: the claim.
        stop: asked before each is made.
    """
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if not has_functions(claim) or not allows_pieces(claim) or shape.even != "any":
        return
    rng = random.Random(f"pieces, {claim.spelling}")
    for size, different in _sizes(claim):
        here = next(
            filter(None, (_recorded(claim, shape, size, different, rng) for _ in range(TRIES) if not stop())), None
        )
        if here is not None:
            yield here, _numbers(claim, shape, here, np.random.default_rng(rng.getrandbits(64)))


MANY = 3
LEAN, LEAN_SAMPLES = (Size(MANY, 1, 2), Size(MANY, 1, 3)), (Size(1, MANY, 2),)
"""Of quadratics that are curved along one row a client, or a sample."""
ACROSS = 1 / 100
"""What is curved across it as a part: fractions near floats are convex then, too."""
BRANCHES = 8
"""Instances whose comparisons are looked at, where one coordinate is kept."""
TURNS = 4
"""Of a loop of clients that are curved along one row."""
ROWS = (1.0, -1.0, 1.1, 0.5, -2.0)


def lean(claim: Claim, stop: Callable[[], bool] = lambda: False) -> Iterator[tuple[Traced, Array]]:
    """What is recorded of quadratics that are curved along one row each, and free numbers of some; as `starts`."""
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if not has_functions(claim) or shape.flat or shape.alike_clients or shape.even != "any":
        return
    drawn = claim.program is not None and {"sample", "pass"} & claim.program.operations
    sizes = (*LEAN, *(LEAN_SAMPLES if drawn and not shape.alike_samples else ()))
    rng, aside = random.Random(f"lean, {claim.spelling}"), random.Random(f"lean in turns, {claim.spelling}")
    for size in (size for size in sizes if fits(claim, size)):
        here = next(filter(None, (_recorded_lean(claim, shape, size, rng) for _ in range(TRIES) if not stop())), None)
        if here is None or not here.layout.hessian.size:
            continue
        yield here, _lean_numbers(here, np.random.default_rng(rng.getrandbits(64)))
        turning = _with_turns(claim, here) if size == LEAN[0] else None
        others = [turning] if turning is not None else []
        others += _with_one_coordinate(claim, shape, size, aside) if size == LEAN[0] else []
        for other in others:
            yield other, _lean_numbers(other, np.random.default_rng(aside.getrandbits(64)))


def _with_turns(claim: Claim, here: Traced) -> Traced | None:
    """The same with loops of several turns: local steps of clients that are curved along different rows."""
    turns = roles_in(claim).turns
    way = next((w for w in ways(claim, here.base) if w.name in turns and w.now < TURNS), None)
    one = None if way is None else longer(claim, here.base, way, TURNS)
    turning = None if one is None else traced(claim, one)
    return turning if turning is not None and turning.layout.hessian.size else None


def _with_one_coordinate(claim: Claim, shape: Shape, size: Size, rng: random.Random) -> list[Traced]:
    """Such in which one coordinate is kept, and not all: a few that are kept for different comparisons."""
    names = roles_in(claim).coordinates & claim.domains.keys()
    found: dict[Any, Traced] = {}
    for _ in range(BRANCHES if names else 0):
        here = _recorded_lean(claim, shape, size, rng)
        if here is None or not here.layout.hessian.size:
            continue
        fewer = replace(here.base, values={**here.base.values, **dict.fromkeys(names, F(1))})
        one = fitting(claim, fewer)
        kept = None if one is None else traced(claim, one)
        if kept is not None and kept.layout.hessian.size:
            found.setdefault(kept.key, kept)
    return [*found.values()][:MANY]


def _recorded_lean(claim: Claim, shape: Shape, size: Size, rng: random.Random) -> Traced | None:
    N, n, d = size.clients, size.samples, size.dim
    rows = [np.array([F(rng.choice((1, -1, 2, -2, 3))) for _ in range(d)], dtype=object) for _ in range(MANY)]
    if d == 3:  # each the one before, moved on by a place
        rows = [np.roll(np.array([F(3), F(rng.choice((-2, 2))), F(-2)], dtype=object), i) for i in range(MANY)]
    along = [np.outer(row, row) / (row @ row) + np.diag([F(1, 100)] * d) for row in rows]
    hessian = np.array(along, dtype=object).reshape(N, n, d, d)
    apart = np.array([F(rng.choice((1, -1, 2, 0))) for _ in range(MANY * d)], dtype=object)
    linear = (0 if shape.same_minimiser else 1) * apart.reshape(N, n, d)
    problem = Quadratic(hessian, linear, np.full((N, n), F(0), dtype=object), np.full(N, n))
    start = np.array([F(1) if d == 3 else F(rng.choice((1, 2, -1))) for _ in range(d)], dtype=object)
    return _of_problem(claim, problem, start, size, rng)


def _lean_numbers(here: Traced, rng: np.random.Generator) -> Array:
    """Numbers of instances, (size, B), of which the claim speaks."""
    layout = here.layout
    base = np.array([[float(x)] for x in layout.numbers(here.base)])
    found = np.repeat(base, COUNT, axis=1)
    d = layout.dim
    rows = np.where(rng.random(COUNT) < 0.5, rng.choice(ROWS, (MANY, d, COUNT)), rng.normal(size=(MANY, d, COUNT)))
    turned = np.stack([np.roll(rows[0], i, axis=0) for i in range(MANY)])
    rows = np.where(rng.random(COUNT) < 0.4, turned, rows)
    rows = np.where((rng.random(COUNT) < 0.3) & (np.arange(MANY)[:, None, None] == 1), rows[:1], rows)
    most = float(max(map(abs, here.base.hessian.ravel())))
    curved = most * np.where(rng.random((MANY, COUNT)) < 0.7, 1.0, rng.random((MANY, COUNT)))
    for which, places in enumerate(layout.hessian.reshape(MANY, d, d)):
        along = rows[which] / np.sqrt((rows[which] ** 2).sum(axis=0))
        for i in range(d):
            for j in range(i + 1):
                found[places[i, j]] = curved[which] * (along[i] * along[j] + ACROSS * (i == j))
    for places in (layout.start, *layout.vectors.values(), layout.linear[layout.linear >= 0]):
        shape = (places.size, COUNT)
        found[places.ravel()] = np.where(rng.random(COUNT) < 0.5, rng.choice(ROWS, shape), rng.normal(size=shape))
    for place in layout.values:
        found[place] *= 10 ** (rng.uniform(-2, 2, COUNT) * (rng.random(COUNT) < 0.5))
    _, true = here.fits(found)
    return np.concatenate([base, found[:, true]], axis=1)


def _sizes(claim: Claim) -> Iterator[tuple[Size, int]]:
    """The least numbers of coordinates, clients and samples, and how many of the functions are different."""
    sizes = [Size(n, 1, d) for d in range(1, MOST_COORDINATES + 1) for n in range(1, MOST_CLIENTS + 1)]
    least = next((size for size in sizes if fits(claim, size)), None)
    if least is None:
        return
    yield least, 1
    several = next((size for size in sizes if size.clients > 1 and size.dim == least.dim and fits(claim, size)), None)
    if several is not None:
        yield several, 2
    if claim.program is not None and claim.program.random:
        yield Size(least.clients, 2, least.dim), 2


def _recorded(claim: Claim, shape: Shape, size: Size, different: int, rng: random.Random) -> Traced | None:
    knots = 3 if claim.program is None and different == 1 else 2
    made = []
    for turn in range(different):
        slopes = [F(1), F(1, 2), F(1, 4), F(1, 8)][: knots + 1]
        if shape.flat:
            slopes[0] = slopes[-1] = F(0)
        f = Piecewise(tuple(F(j + 1, knots + 2 + turn) for j in range(knots)), tuple(slopes))
        made.append(f.still_at(F(1, 3 + (0 if shape.same_minimiser else turn))))
    own = [made[min(i, different - 1)] for i in range(size.samples)]
    functions = tuple(tuple(own) if size.samples > 1 else (made[min(n, different - 1)],) for n in range(size.clients))
    start = np.array([F(rng.choice((1, 1, 2, -1))), *[F(0)] * (size.dim - 1)], dtype=object)
    problem: Any = Pieces(functions)
    if size.dim > 1:
        problem = Ridges(tuple(tuple(embedded(f, size.dim) for f in own) for own in functions))  # type: ignore[misc]
    return _of_problem(claim, problem, start, size, rng)


def _of_problem(claim: Claim, problem: Any, start: Array, size: Size, rng: random.Random) -> Traced | None:
    """What is recorded of a problem at parameters that are drawn for it; None where there are none."""
    vectors = free_vectors(claim, size, rng)
    found = choose(claim, problem, start, 1, rng, vectors=vectors, most_rounds=MOST_ROUNDS)
    if found is None:
        return None
    one: Drawn | None = instance_of_values(claim, problem, start, found[1].rounds, found[0], vectors)
    return None if one is None else traced(claim, one)


def _numbers(claim: Claim, shape: Shape, here: Traced, rng: np.random.Generator) -> Array:
    """Numbers of instances, (size, B), of which the claim speaks."""
    layout = here.layout
    base = np.array([[float(x)] for x in layout.numbers(here.base)])
    found = np.repeat(base, COUNT, axis=1)
    lengths = [*layout.start, *(place for places in layout.vectors.values() for place in places.ravel())]
    for place in lengths[1:] if len(layout.start) else lengths:
        found[place] = rng.choice([0.0, 1.0, -1.0, 2.0, 3.0, 0.5], size=COUNT) * rng.choice([1.0, 0.9], size=COUNT)
    known = np.concatenate([found[lengths], np.ones((1, COUNT))])
    columns = np.arange(COUNT)
    for places in layout.knots:
        at = known[rng.integers(len(known), size=(len(places), COUNT)), columns]
        part = rng.choice(PLACES, size=(len(places), COUNT))
        part = np.where(rng.random(part.shape) < 0.3, rng.normal(size=part.shape), part)
        found[places] = np.sort(at * part, axis=0)
    least = rng.choice([0.5, 0.1, 0.01, 0.0], size=COUNT)
    signed = not assumes_convex(claim.predicates)
    unit = rng.choice([1.0, 10.0, 100.0], size=COUNT) if shape.flat else 1.0
    for places in layout.slopes:
        own = places[places >= 0]
        kind = rng.random((len(own), COUNT))
        slopes = np.where(kind < 0.45, 1.0, np.where(kind < 0.9, least, rng.random(kind.shape)))
        found[own] = slopes * unit * (np.where(rng.random(kind.shape) < 0.3, -1.0, 1.0) if signed else 1.0)
    tilted = np.unique(layout.linear[layout.linear >= 0])
    if len(tilted):
        found[tilted] = rng.normal(size=(len(tilted), COUNT)) * rng.choice([0.0, 0.3, 1.0], size=COUNT)
    _, true = here.fits(found)
    return np.concatenate([base, found[:, true]], axis=1)
