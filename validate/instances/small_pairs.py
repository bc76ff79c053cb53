"""Every small pair of integers that a relation binds: S of N clients, m of d coordinates, up to 6 of each.

The pool draws sizes, and then the numbers that relations have beside them, so that many a pair is never met, such as
all coordinates but one of four. Vectors have equal entries, functions one curvature, so that which are left out makes
no difference: how many are is all that counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from theory.formula import Name
from theory.program import limits, work
from theory.sentence import Sentence, everything
from validate.instances.candidates import each_row, worth
from validate.instances.free_vectors import free_vectors
from validate.instances.longer import CLIENTS, COORDINATES, ROUNDS, has_rounds
from validate.instances.parameters import choose
from validate.instances.pool import (
    Drawn,
    counts_of_numbers,
    fits,
    fitting_sizes,
    has_functions,
    instance_of_values,
    needs_minimiser,
)
from validate.instances.relations import holds
from validate.instances.roles import roles_in
from validate.instances.seen import Seen, measured
from validate.instances.setting import Setting
from validate.instances.shapes import Size, made, shape_of

if TYPE_CHECKING:
    from validate.instances.stages import Budget

F = Fraction
MOST, MOST_PAIRS = 6, 4
"""Of each integer; pairs of a claim that are gone through."""
ALIKE, PULLED, ANY = "alike", "pulled", "any"
"""Functions of all clients alike, or each with a minimiser of its own, from equal entries; or any of one curvature."""
SHARE = 0.5
"""Of the budget, which is left out of it."""
NOTHING = np.array([], dtype=object)


def with_small_pairs(claim: Claim, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances with all small values of two integers that a relation binds, measured.

    What they take is not of the budget, and they draw from a generator of their own.

    Args:
        claim: there are none for one in which no relation, and no draw, binds two integers.
        stop: asked between instances.
        budget: of the hunt.
    """
    before = work.operations()
    for counts in small_pairs(claim):
        for manner in (ALIKE, PULLED, ANY):
            if stop() or budget.took(before, SHARE):
                budget.leave_out(before)
                return
            one = _one(claim, counts, manner)
            seen = None if one is None else measured(claim, one)
            if seen is not None:
                yield seen
    budget.leave_out(before)


def small_pairs(claim: Claim) -> Iterator[Mapping[str, int]]:
    """Values of two integers that a relation binds, those first that are near to its end, of each size."""
    for relation, names in _bound(claim)[:MOST_PAIRS]:
        for first, second in sorted(product(range(1, MOST + 1), repeat=2), key=lambda pair: (max(pair), -min(pair))):
            counts = dict(zip(names, (first, second), strict=True))
            if _true(relation, counts, claim):
                yield counts


def _bound(claim: Claim) -> list[tuple[Sentence, tuple[str, str]]]:
    """Relations of two integers that are no equations, and what can be drawn at most, one of each two."""
    drawn = [] if claim.program is None else [Sentence(of, "<=", most) for _, of, most in limits(claim.program)]
    found: dict[tuple[str, str], Sentence] = {}
    for relation in (*drawn, *claim.relations):
        names = sorted({part.name for side in relation.sides for part in everything(side) if isinstance(part, Name)})
        if relation.relation != "==" and len(names) == 2 and all(_is_integer(claim, name) for name in names):
            found.setdefault((names[0], names[1]), relation)
    return [(relation, names) for names, relation in found.items()]


def _is_integer(claim: Claim, name: str) -> bool:
    """Whether a name is a size, or a parameter that is an integer."""
    if name in (CLIENTS, COORDINATES):
        return True
    if name == ROUNDS:
        return has_rounds(claim)
    integer = name in claim.domains and claim.domains[name].integer
    return name not in claim.constants and (integer or name in roles_in(claim).counts)


def _true(relation: Sentence, counts: Mapping[str, int], claim: Claim) -> bool:
    """Whether a relation holds of these integers."""
    world = Setting(None, NOTHING, {name: F(value) for name, value in counts.items()}, counts.get(ROUNDS, 1), claim)
    low, high = (worth(side, world, claim) for side in relation.sides)
    return low is not None and high is not None and bool(holds(low, relation.relation, high))


def _one(claim: Claim, counts: Mapping[str, int], manner: str) -> Drawn | None:
    """The instance of these integers; None where the claim does not speak of it."""
    rng = random.Random(f"{sorted(counts.items())}, {manner}, {claim.spelling}")
    functions = has_functions(claim)
    size = _size(claim, counts) if functions or claim.vectors else Size(1, 1, 1)
    if size is None or (manner == PULLED and (not functions or size.clients == 1)):
        return None
    rounds = counts.get(ROUNDS, rng.choice((1, 2)))
    problem = _problem(claim, size, manner, rng) if functions else None
    start = _start(problem, manner) if functions else NOTHING
    vectors = free_vectors(claim, size, rng)
    if manner != ANY:
        vectors = each_row(vectors, lambda row: row * 0 + 1)
    given = {} if functions else counts_of_numbers(claim, vectors, rng, large=False)
    given |= {n: F(v) for n, v in counts.items() if n in given or n not in (ROUNDS, CLIENTS, COORDINATES)}
    chosen = choose(claim, problem, start, rounds, rng, vectors=vectors, counts=given, sharp=manner == ALIKE)
    if chosen is None:
        return None
    return instance_of_values(claim, problem, start, chosen[1].rounds, chosen[0], vectors)


def _size(claim: Claim, counts: Mapping[str, int]) -> Size | None:
    """The least size that the claim allows, with so many clients and coordinates."""
    sizes = fitting_sizes(claim)
    if not sizes:
        return None
    least = min(sizes, key=lambda size: (size.dim, size.clients, size.samples))
    size = Size(counts.get(CLIENTS, least.clients), least.samples, counts.get(COORDINATES, least.dim))
    return size if fits(claim, size) else None


def _problem(claim: Claim, size: Size, manner: str, rng: random.Random) -> Quadratic:
    """Quadratics that satisfy the claim's assumptions, most of them of curvature 1."""
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if manner == ANY:
        return made(shape, size, rng, even=1 / 2)
    identity = np.array([[F(int(i == j)) for j in range(size.dim)] for i in range(size.dim)], dtype=object)
    own = np.full((size.clients, size.samples), F(0), dtype=object)
    if manner == PULLED and not shape.same_minimiser:  # one against all others
        own[1:], own[0] = F(-1), F(size.clients - 1)
    curved = F(0) * own + int(not shape.flat)
    linear = np.full((*own.shape, size.dim), F(0), dtype=object) + own[..., None] - int(shape.flat)
    return Quadratic(curved[..., None, None] * identity, linear, F(0) * own, np.full(size.clients, size.samples))


def _start(problem: Any, manner: str) -> Any:
    """Equal entries; at the minimiser where clients pull to both sides."""
    start = np.full(problem.dim, F(1), dtype=object)
    return F(0) * start if manner == PULLED else start


__all__ = ["small_pairs", "with_small_pairs"]
