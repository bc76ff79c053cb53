"""Free vectors of an instance: alike, opposite, orthogonal, of all lengths; a frame where equations speak of them."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import cycle
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Name
from theory.sentence import everything
from validate.instances.shapes import DISTANCES, ROTATIONS, Size

F = Fraction
FRAMED = 1 / 2
"""Of instances of a claim with equations between vectors, the share in which these are orthogonal and of length 1."""


OF_ONE_LENGTH, SUMS = 1 / 3, 60
"""The share of these in which each client's has the same length, in any direction; tries until their sum is 0."""


def free_vectors(claim: Claim, size: Size, rng: random.Random, near: bool = False) -> dict[str, Any]:
    """Free vectors: alike, opposite, orthogonal, 0, and of all lengths; or all of them near to one point."""
    base = [_vector(size.dim, rng) for _ in range(2)]
    if near:
        unit, steps = rng.choice((F(1), F(1), F(1, 10), F(10))), (F(0), F(1), F(-1), F(1), F(-1), F(2), F(1, 2))

        def beside() -> Any:
            return base[0] + unit * np.array([rng.choice(steps) for _ in range(size.dim)], dtype=object)

        return {
            name: [beside() for _ in range(size.clients)] if name.endswith("_n") else beside() for name in claim.vectors
        }
    alike = rng.random() < 0.2

    def one() -> Any:
        kind = rng.randrange(6)
        if alike or kind == 0:
            return base[0]
        if kind == 1:
            return -base[0]
        if kind == 2:
            return base[0] * rng.choice(DISTANCES)
        return base[1] if kind == 3 else _vector(size.dim, rng)

    return {name: [one() for _ in range(size.clients)] if name.endswith("_n") else one() for name in claim.vectors}


def tied_vectors(claim: Claim) -> frozenset[str]:
    """The free vectors of whose lengths and angles an equation speaks."""

    def found() -> frozenset[str]:
        names = {
            part.name
            for relation in claim.relations
            if relation.relation == "=="
            for side in relation.sides
            for part in everything(side)
            if isinstance(part, Name)
        }
        return frozenset(names & set(claim.vectors))

    return claim.vocabulary.kept.once("tied vectors", found)


def frame(claim: Claim, size: Size, rng: random.Random) -> dict[str, Any]:
    """The vectors of which equations speak, each along another axis and of length 1, as far as there are axes.

    Or those of all clients have one length and any directions, and the sum 0 where that is met.
    """
    axes = np.array([[F(int(i == j)) for j in range(size.dim)] for i in range(size.dim)], dtype=object)
    if size.dim > 1:
        cosine, sine = rng.choice(ROTATIONS)
        one, two = rng.sample(range(size.dim), 2)
        axes[one], axes[two] = cosine * axes[one] + sine * axes[two], cosine * axes[two] - sine * axes[one]
    order = list(range(size.dim))
    rng.shuffle(order)
    turn = cycle(rng.choice((1, -1)) * axes[i] for i in order)
    names = [name for name in claim.vectors if name in tied_vectors(claim)]
    if size.clients > 1 and rng.random() < OF_ONE_LENGTH:
        return {name: _of_one_length(size, rng) if name.endswith("_n") else next(turn) for name in names}
    return {name: [next(turn) for _ in range(size.clients)] if name.endswith("_n") else next(turn) for name in names}


def _of_one_length(size: Size, rng: random.Random) -> list[Any]:
    """The entries of one vector in other orders, with other signs; the last makes the sum 0 if it can."""
    entries = [F(1)] * size.dim if rng.random() < 1 / 2 else [F(rng.choice((0, 1, 1, 2))) for _ in range(size.dim)]
    found: list[Any] = []
    for _ in range(SUMS):
        found = [_of_entries(entries, rng) for _ in range(size.clients - 1)]
        last = -sum(found, np.full(size.dim, F(0), dtype=object))
        if sorted(map(abs, last)) == sorted(entries):
            return [*found, last]
    return [*found, _of_entries(entries, rng)]


def _of_entries(entries: list[Fraction], rng: random.Random) -> Any:
    return np.array([rng.choice((1, -1)) * x for x in rng.sample(entries, len(entries))], dtype=object)


def _vector(dim: int, rng: random.Random) -> Any:
    scale = rng.choice((F(1), F(1), F(1, 10), F(10), F(0)))
    return np.array([rng.choice(DISTANCES) * scale for _ in range(dim)], dtype=object)
