"""Runs that keep the largest coordinate of several: where no two are alike, and for tens of rounds.

Which one is kept changes from round to round, and what is not kept is as old as it comes. No moments tell of it, and a
run of a few rounds, or of equal coordinates, is as if all were kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from theory.claim import Claim
from theory.program import work
from validate.instances.free_vectors import free_vectors
from validate.instances.parameters import choose
from validate.instances.pool import fits, instance_of_values, needs_minimiser
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shapes import Size, made, shape_of

if TYPE_CHECKING:
    from validate.instances.stages import Budget

F = Fraction
SIZES = (Size(1, 1, 3), Size(1, 1, 2), Size(2, 1, 3))
ROUNDS = (20, 3, 40)
TRIES, SHARE, EVEN = 150, 1.0, 1 / 2
"""Instances; shares of the budget, which is left out of it; how often all directions are curved alike."""


def with_few_kept(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances of which one coordinate is kept, which are to be looked at.

    Args:
        claim: with an algorithm that keeps the largest coordinates; there are none for another.
        found: what was seen before.
        stop: asked between instances.
        budget: of the hunt.
    """
    program = claim.program
    if program is None or "top" not in program.operations or program.random:
        return
    sizes = [size for size in SIZES if fits(claim, size)]
    before = work.operations()
    for seed in range(TRIES if sizes else 0):
        if stop() or budget.took(before, SHARE):
            break
        seen = _one(claim, sizes[seed % len(sizes)], seed, found)
        if seen is not None:
            yield seen
    budget.leave_out(before)


def _one(claim: Claim, size: Size, seed: int, found: Hunt) -> Seen | None:
    """The instance of a seed, measured."""
    rng = random.Random(f"{seed}, few kept, {claim.spelling}")
    problem = made(shape_of(claim.predicates, needs_minimiser(claim)), size, rng, even=EVEN)
    start = np.array([F(rng.randrange(-9, 10)) for _ in range(size.dim)], dtype=object)
    vectors = free_vectors(claim, size, rng)
    kept = {name: F(1) for name in roles_in(claim).coordinates if claim.domains[name].contains(F(1))}
    rounds = ROUNDS[seed // len(SIZES) % len(ROUNDS)]
    chosen = choose(claim, problem, start, rounds, rng, vectors=vectors, counts=kept, sharp=seed % 4 == 0)
    if chosen is None:
        return None
    one = instance_of_values(claim, problem, start, chosen[1].rounds, chosen[0], vectors)
    return None if one is None else measured(claim, one, found)


__all__ = ["with_few_kept"]
