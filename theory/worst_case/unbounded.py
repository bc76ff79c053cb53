"""Smooth convex functions whose start is bounded by f(x0) - f* alone: the minimiser may be arbitrarily far away.

The vector x0 - x* then has no bound, and the program's dual no interior. What is bounded is solved instead: x0 - x*
and the conditions f* >= f_i + <g_i, x* - x_i> + |g_i|^2/(2 L), the only ones that contain it, are left out. Fewer
conditions still give an upper bound, proved in the whole program with multipliers zero for what was left out. And an
instance of the rest that satisfies all conditions strictly is nearly one of the whole: take a new direction e
orthogonal to everything, add a e to every gradient (which adds the order of a^2 to the conditions) and put
x0 - x* = t e with a t large, so that the conditions left out hold too. What comes out is checked in the whole program
like any instance.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from theory.worst_case.certificate import Instance, UpperBound, evaluate
from theory.worst_case.program import Array, Family, Program

START = 0  # the place of x0 - x* in the basis
_TILTS = tuple([Fraction(1, 2**k) for k in (24, 22, 26, 20, 28)])  # sizes of a
_REACHES = (Fraction(4), Fraction(256))  # values of a t


def without_start(program: Program) -> tuple[Program, Array]:
    """The program without its first basis vector and the conditions that contain it, and the places of the others."""
    starts: Array = np.not_equal(program.table[:, START], 0)
    families, places, begin = [], [], 0
    for family in program.families:
        kept = np.flatnonzero(~_contains(family, starts, np.any(program.table, axis=1)))
        families.append(
            replace(family, supports=family.supports[kept], values=family.values[kept], first=family.first[kept])
        )
        places.append(begin + kept)
        begin += len(family)
    rows = tuple([{j - 1: c for j, c in row.items() if j != START} for row in program.rows])
    blocks = (program.blocks[0][1:], *program.blocks[1:])
    small = Program(blocks, rows, program.values, tuple(families), program.objective)
    return small, np.concatenate(places)


def _contains(family: Family, starts: Array, some: Array) -> Array:
    """(C,) whether a condition contains x0 - x*, which the rows of `starts` have, with coefficient one.

    Args:
        starts: (rows,) whether a row contains it.
        some: (rows,) whether a row is not zero.
    """
    partners = starts[family.supports].astype(float) @ family.floats  # (C, s) coefficients of <x0 - x*, row>
    return (np.abs(partners * some[family.supports]) > 1e-12).any(axis=1)


def widened(proof: UpperBound, places: Array) -> UpperBound:
    """A proof for the smaller program as one for the whole."""
    return UpperBound(proof.bound, tuple([(int(places[k]), y) for k, y in proof.multipliers]))


def lifted(program: Program, instance: Instance) -> Instance | None:
    """An instance of the smaller program as one of the whole, or None."""
    first, rest = instance.vectors[0], instance.vectors[1:]
    width = len(first[0]) if first else 0
    names = program.blocks[0][1:]
    for tilt in _TILTS:
        for reach in _REACHES:
            start = (*[Fraction(0)] * width, reach / tilt)
            others = [
                (*v, Fraction(0) if name.startswith("noise") else tilt) for name, v in zip(names, first, strict=True)
            ]
            found = evaluate(program, ((start, *others), *rest), instance.values)
            if found.check(program):
                return found
    return None
