"""Vectors in the positions where sentences about their angles and distances are tight, each measured exactly.

Axes, the corners of a simplex seen from its middle, the axes and their opposites, the corners of polygons in the order
of a walk with any stride: a search in floats comes to few of these where there are more vectors than it moves at once.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from theory.claim import Claim
from validate.instances.any_units import of_length_one
from validate.instances.parameters import choose
from validate.instances.pool import Drawn, counts_of_numbers, fits, has_functions, instance_of_values
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shapes import Size

F = Fraction
Vectors: TypeAlias = "list[Any]"
LEAST, MOST = 3, 12
"""Vectors, of all names and clients together."""
TRIES = 4
"""Choices of numbers beside each position."""


def in_position(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """The instances in such positions that break a claim; the others are added to `found`.

    Args:
        claim: about free vectors and numbers; there are none for another.
        found: what was seen before.
        stop: asked between instances.
    """
    for one in _instances(claim):
        if stop():
            return
        seen = measured(claim, one)
        if seen is not None and seen.measured.broken:
            yield seen
        elif seen is not None:
            found.seen.append(seen)


def _instances(claim: Claim) -> Iterator[Drawn]:
    if claim.of is not None or has_functions(claim) or not claim.vectors:
        return
    each = [name for name in claim.vectors if name.endswith("_n")]
    alone = [name for name in claim.vectors if name not in each]
    rng = random.Random(f"positions, {claim.spelling}")
    for N in range(1, MOST + 1) if each else (1,):
        count = len(alone) + N * len(each)
        for vectors in positions(count) if LEAST <= count <= MOST else ():
            if not fits(claim, Size(N, 1, len(vectors[0]))):
                continue
            rest = iter(vectors)
            given = {name: [next(rest) for _ in range(N)] if name in each else next(rest) for name in claim.vectors}
            for _ in range(TRIES):
                counts = counts_of_numbers(claim, given, rng, False)
                chosen = choose(claim, None, np.array([], dtype=object), 1, rng, vectors=given, counts=counts)
                one = None if chosen is None else instance_of_values(claim, None, (), 1, chosen[0], given)
                if one is not None:
                    yield one
                if not claim.symbols:
                    break


def positions(count: int) -> Iterator[Vectors]:
    """So many vectors, at least 2: in count coordinates, in half as many, and in two."""
    axes = [*np.array([[F(int(i == j)) for j in range(count)] for i in range(count)], dtype=object)]
    middle = sum(axes) / count
    yield [axis - middle for axis in axes]
    yield axes
    half = [axis[: (count + 1) // 2] for axis in axes[: (count + 1) // 2]]
    yield [sign * axis for axis in half for sign in (1, -1)][:count]
    for stride in range(1, count // 2 + 1):
        yield [_on_a_circle(2 * math.pi * stride * i / count) for i in range(count)]
    yield [_on_a_circle(math.pi * i / (count - 1)) for i in range(count)]


def _on_a_circle(angle: float) -> Any:
    return np.array(of_length_one([math.cos(angle), math.sin(angle)]), dtype=object)


__all__ = ["in_position", "positions"]
