"""Exact arithmetic on programs: integers over one denominator, in arrays of whole families of conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.worst_case.program import Array, Family, Program

Vectors = tuple[tuple[tuple[Fraction, ...], ...], ...]
"""For each block, for each basis vector, its coordinates."""
Multipliers = tuple[tuple[int, Fraction], ...]
"""Places of conditions, and numbers."""


@dataclass(frozen=True, eq=False)
class Products:
    """Inner products of rows and values of functions.

    Attributes:
        places: of the program's rows.
        inner: integers by two of these places; 0 where nobody asked.
        values: (values + 1,) integers, the last one 0.
        denominator: of all of them.
    """

    places: Array
    inner: Array
    values: Array
    denominator: int

    def levels(self, family: Family) -> tuple[Array, int]:
        """The left-hand sides of a family's conditions: (C,) integers, and their denominator."""
        form, slopes, constant, own = family.integers
        supports = self.places[family.supports]
        total = np.full(len(family), constant * self.denominator, dtype=object)
        for a, b, c in form:
            total += c * self.inner[supports[:, a], supports[:, b]]
        for column, c in enumerate(slopes):
            total += c * self.values[family.values[:, column]]
        return total, own * self.denominator


def products(
    program: Program, vectors: Vectors, values: Sequence[Fraction], rows: Sequence[int] | None = None
) -> Products:
    """Of some rows, or of all.

    Args:
        program: which.
        vectors: of its basis.
        values: of the functions.
        rows: the places of the former.
    """
    import flint

    places, table, scale = program.integers
    size = program.size + len(table)
    wanted = np.arange(size) if rows is None else np.unique(places[np.array(rows, dtype=int)])
    every = np.concatenate([scale * np.eye(program.size, dtype=int).astype(object), table])[wanted]
    unit = math.lcm(*[c.denominator for block in vectors for v in block for c in v])
    square = (scale * unit) ** 2
    denominator = math.lcm(square, *[c.denominator for c in values])
    total = flint.fmpz_mat(len(wanted), len(wanted))
    for block, place in zip(vectors, program.slices, strict=True):
        if block and block[0]:
            exact = flint.fmpz_mat([[c.numerator * (unit // c.denominator) for c in vector] for vector in block])
            coordinates = _matrix(every[:, place]) * exact
            total += coordinates * coordinates.transpose()
    numbers = np.empty(len(wanted) ** 2, dtype=object)
    numbers[:] = (total if denominator == square else total * (denominator // square)).entries()
    inner = np.zeros((size, size), dtype=object)
    inner[np.ix_(wanted, wanted)] = numbers.reshape(len(wanted), len(wanted))
    known = [c.numerator * (denominator // c.denominator) for c in values]
    return Products(places, inner, np.array([*known, 0], dtype=object), denominator)


def residual(program: Program, multipliers: Multipliers) -> list[Any]:
    """The blocks of sum_k y_k A_k - C, all times one positive integer, as flint's matrices of integers."""
    places, table, scale = program.integers
    size = program.size
    above = np.zeros((size + len(table),) * 2, dtype=object)  # with its transpose, twice the sum
    for family, which, numbers in _by_family(program, multipliers):
        supports = places[family.supports[which]]
        for a, b, c in family.integers[0]:
            np.add.at(above, (supports[:, a], supports[:, b]), c * numbers)
    others = _matrix(above[size:, size:])
    mixed = above[size:, :size] + above[:size, size:].T
    blocks = []
    for place in program.slices:
        own = _matrix(table[:, place])
        half = own.transpose() * (others * own + _matrix(mixed[:, place]) * scale)
        half += _matrix(above[place, place]) * scale**2
        blocks.append(half + half.transpose())
    return blocks


def imbalance(program: Program, multipliers: Multipliers) -> list[Fraction]:
    """sum_k y_k a_k - c, for each function value."""
    total = np.zeros(program.values + 1, dtype=object)
    for family, which, numbers in _by_family(program, multipliers):
        for column, c in enumerate(family.integers[1]):
            np.add.at(total, family.values[which, column], c * numbers)
    unit = _unit(program, multipliers)
    return [Fraction(one, unit) for one in total[: program.values]]


def _unit(program: Program, multipliers: Multipliers) -> int:
    """A denominator of all multipliers and of all coefficients."""
    families = math.lcm(*[family.integers[3] for family in (*program.families, program.objective)])
    return families * math.lcm(*[y.denominator for _, y in multipliers])


def _by_family(program: Program, multipliers: Multipliers) -> Iterator[tuple[Family, Array, Array]]:
    """Each family, the places in it that have multipliers, and these times `_unit` over its own denominator.

    The objective comes last, with the multiplier -1.
    """
    unit = _unit(program, multipliers)
    places = np.array([k for k, _ in multipliers], dtype=int)
    for family, start in zip(program.families, program.starts, strict=False):
        own = np.flatnonzero((places >= start) & (places < start + len(family)))
        if len(own):
            share = unit // family.integers[3]
            given = [multipliers[k][1] for k in own.tolist()]
            numbers = np.empty(len(own), dtype=object)
            numbers[:] = [y.numerator * (share // y.denominator) for y in given]
            yield family, places[own] - start, numbers
    goal = program.objective
    yield goal, np.array([0]), np.array([-unit // goal.integers[3]], dtype=object)


def _matrix(numbers: Array) -> Any:
    """Integers as a flint matrix."""
    import flint

    return flint.fmpz_mat(*numbers.shape, numbers.ravel().tolist())
