"""Both sides of a worst case, proved: multipliers that bound it from above, and an instance that attains a value.

Everything is re-checked in exact rationals, but for the sign of a residual, which is settled by balls or by exact
elimination (`theory.inequality.psd`). Nothing of the solver is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.inequality import psd
from theory.worst_case.program import Family, Program, rational
from theory.worst_case.solver import Solved

BITS = 53  # multipliers are rounded to multiples of 2^-BITS: no more than floats hold near 1


@dataclass(frozen=True)
class UpperBound:
    """A proof that no instance exceeds `bound`.

    With multipliers y >= 0 of the conditions `level_k <= 0` (of any sign where they are equations),
    objective = bound + sum_k y_k level_k - <residual, G> is an identity, and the residual is positive semidefinite.

    Attributes:
        bound: in the units of the program.
        multipliers: (condition, multiplier) pairs, without those that are zero.
    """

    bound: Fraction
    multipliers: tuple[tuple[int, Fraction], ...]

    def check(self, program: Program) -> bool:
        """Whether the proof holds, from nothing but the program and the multipliers."""
        places = [k for k, _ in self.multipliers]
        if len(set(places)) != len(places) or any(not 0 <= k < program.conditions for k in places):
            return False
        if any(y < 0 and not program.equations[k] for k, y in self.multipliers):
            return False
        if any(_imbalance(program, self.multipliers)) or self.bound != _constant(program, self.multipliers):
            return False
        return all(_is_psd(block) for block in residual(program, self.multipliers))

    def to_json(self) -> dict[str, Any]:
        """As plain data, fractions as text."""
        return {"bound": str(self.bound), "multipliers": [[k, str(y)] for k, y in self.multipliers]}


@dataclass(frozen=True)
class Instance:
    """An instance of the class on which the method does as badly as `value`: explicit vectors and function values.

    Each block of the Gram matrix is given by coordinates of its basis vectors, so it is positive semidefinite by
    construction; and the conditions are sufficient, so the functions exist.

    Attributes:
        value: of the objective, in the units of the program.
        vectors: for each block, for each basis vector, its coordinates.
        values: of the functions, above their value at the minimiser.
    """

    value: Fraction
    vectors: tuple[tuple[tuple[Fraction, ...], ...], ...]
    values: tuple[Fraction, ...]

    @property
    def dimension(self) -> int:
        """Coordinates that the instance uses, over all blocks."""
        return sum(len(block[0]) if block else 0 for block in self.vectors)

    def check(self, program: Program) -> bool:
        """Whether all conditions hold and the objective has the value, exactly."""
        if tuple(map(len, self.vectors)) != tuple(map(len, program.blocks)) or len(self.values) != program.values:
            return False
        if any(len({len(v) for v in block}) > 1 for block in self.vectors):
            return False
        inner, values = _inner_products(program, self.vectors), _exact_values(self.values)
        for family in program.families:
            if any(level > 0 or (family.equal and level) for level in _levels(family, inner, values)):
                return False
        return next(_levels(program.objective, inner, values)) == rational(self.value)

    def to_json(self) -> dict[str, Any]:
        """As plain data, fractions as text."""
        vectors = [[[str(c) for c in vector] for vector in block] for block in self.vectors]
        return {"value": str(self.value), "vectors": vectors, "values": [str(v) for v in self.values]}


def certify(program: Program, solved: Solved) -> UpperBound | None:
    """A proved upper bound near the solver's dual solution, or None.

    The multipliers are rounded and cut off at zero. The function values must cancel exactly; what is left over for
    one is absorbed by adding to the multiplier of a condition that has this value alone, with the sign wanted (a pair
    with the minimiser), or, where there is none, by an exact solution for as many of the largest multipliers. Both
    disturb the residual by no more than the solver's error, and the margin of the solve covers it.
    """
    multipliers = {
        int(k): Fraction(round(float(solved.multipliers[k]) * 2**BITS), 2**BITS)
        for k in np.flatnonzero(
            np.where(program.equations, np.abs(solved.multipliers), solved.multipliers) > 2.0**-BITS
        )
    }
    lone: dict[tuple[int, bool], tuple[int, Fraction]] = {}
    start = 0
    for family in program.families:
        known = family.values >= 0
        for k in np.flatnonzero(known.sum(axis=1) == 1):
            column = int(np.flatnonzero(known[k])[0])
            slope = family.slopes[column]
            lone.setdefault((int(family.values[k, column]), slope > 0), (start + int(k), slope))
        start += len(family)
    excesses = _imbalance(program, tuple(multipliers.items()))
    if all(not excess or (value, excess < 0) in lone for value, excess in enumerate(excesses)):
        for value, excess in enumerate(excesses):
            if excess:
                place, slope = lone[value, excess < 0]
                multipliers[place] = multipliers.get(place, Fraction(0)) - excess / slope
    else:
        _rebalance(program, multipliers, excesses)
    chosen = tuple(sorted(multipliers.items()))
    proof = UpperBound(_constant(program, chosen), chosen)
    return proof if proof.check(program) else None


def _rebalance(program: Program, multipliers: dict[int, Fraction], excesses: list[Fraction]) -> None:
    """Changes multipliers, the ones with the most room first, so that the function values cancel exactly."""
    import flint
    from scipy.linalg import qr

    places = list(multipliers)
    located = [program.located(k) for k in places]
    parts = np.array([program.value_parts(family, np.array([k]))[0] for family, k in located]).reshape(
        -1, program.values
    )
    weights = np.array([float(multipliers[k]) for k in places])
    order = qr(parts.T * weights, mode="r", pivoting=True)[1][: program.values]
    if len(order) < program.values:
        return
    matrix = flint.fmpq_mat(program.values, program.values)
    for column, index in enumerate(order):
        family, k = located[index]
        for slope, value in zip(family.slopes, family.values[k].tolist(), strict=True):
            if value >= 0:
                matrix[value, column] = matrix[value, column] + rational(slope)
    try:
        change = matrix.solve(flint.fmpq_mat(program.values, 1, [rational(-e) for e in excesses]))
    except ZeroDivisionError:
        return
    for column, index in enumerate(order):
        multipliers[places[index]] += _fraction(change[column, 0])


def evaluate(
    program: Program, vectors: tuple[tuple[tuple[Fraction, ...], ...], ...], values: tuple[Fraction, ...]
) -> Instance:
    """Vectors and values with the objective that they have; whether the conditions hold is left to `check`."""
    rows = sorted(set(program.objective.supports[0].tolist()))
    objective = next(_levels(program.objective, _inner_products(program, vectors, rows), _exact_values(values)))
    return Instance(_fraction(objective), vectors, values)


def residual(program: Program, multipliers: tuple[tuple[int, Fraction], ...]) -> list[Any]:
    """The blocks of sum_k y_k A_k - C, each a flint `fmpq_mat`, exact."""
    import flint

    sums: dict[tuple[int, int], Any] = {}

    def add(family: Family, k: int, y: Any) -> None:
        support = family.supports[k].tolist()
        for a, b, c in family.terms:
            key = support[a], support[b]
            sums[key] = sums.get(key, 0) + y * c

    for k, y in multipliers:
        family, place = program.located(k)
        add(family, place, rational(y))
    add(program.objective, 0, flint.fmpq(-1))
    table = program.exact_table
    middle = flint.fmpq_mat(table.nrows(), table.nrows())
    for (i, j), c in sums.items():
        middle[i, j] = c
    whole = table.transpose() * middle * table
    rows = whole.tolist()
    return [[row[s] for row in rows[s]] for s in program.slices]


def _is_psd(block: list[list[Any]]) -> bool:
    """A block of the residual, by balls, and exactly where it is small and the balls could not tell.

    Rows and columns of zeros are left out: they change nothing, and balls cannot see that they are no obstacle.
    """
    kept = [i for i, row in enumerate(block) if any(row)]
    matrix = [[block[i][j] for j in kept] for i in kept]
    return psd.is_psd_balls(matrix) or (len(matrix) <= 30 and psd.is_psd(matrix))


def _imbalance(program: Program, multipliers: tuple[tuple[int, Fraction], ...]) -> list[Fraction]:
    """sum_k y_k a_k - c, for each function value."""
    total = [rational(Fraction(0))] * (program.values + 1)
    for k, y in [*multipliers, (-1, Fraction(-1))]:
        family, place = program.located(k) if k >= 0 else (program.objective, 0)
        exact = rational(y)
        for slope, value in zip(family.exact_slopes, family.values[place].tolist(), strict=True):
            total[value] += exact * slope
    return [_fraction(one) for one in total[: program.values]]


def _constant(program: Program, multipliers: tuple[tuple[int, Fraction], ...]) -> Fraction:
    """The bound, c0 - sum_k y_k r_k."""
    return program.objective.constant - sum(
        (y * own for k, y in multipliers if (own := program.located(k)[0].constant)), start=Fraction(0)
    )


def _inner_products(
    program: Program, vectors: tuple[tuple[tuple[Fraction, ...], ...], ...], rows: Sequence[int] | None = None
) -> Mapping[int, Mapping[int, Any]]:
    """The inner products of some rows, or of all, exact, by their places."""
    import flint

    table = program.exact_table
    whole = rows is None and len(program.blocks) == 1
    listed = [] if whole else table.tolist()
    places = range(table.nrows()) if rows is None else rows
    total = flint.fmpq_mat(len(places), len(places))
    for block, place in zip(vectors, program.slices, strict=True):
        if not block or not block[0]:
            continue
        exact = flint.fmpq_mat([[rational(c) for c in vector] for vector in block])
        coordinates = (table if whole else flint.fmpq_mat([listed[i][place] for i in places])) * exact
        total = total + coordinates * coordinates.transpose()
    return {i: dict(zip(places, row, strict=True)) for i, row in zip(places, total.tolist(), strict=True)}


def _exact_values(values: tuple[Fraction, ...]) -> list[Any]:
    return [*[rational(v) for v in values], rational(Fraction(0))]


def _levels(family: Family, inner: Mapping[int, Mapping[int, Any]], values: list[Any]) -> Iterator[Any]:
    """The left-hand sides of a family's conditions, exact."""
    terms, slopes, constant = family.terms, family.exact_slopes, rational(family.constant)
    for support, places in zip(family.supports.tolist(), family.values.tolist(), strict=True):
        level = constant
        for a, b, c in terms:
            level += c * inner[support[a]][support[b]]
        for slope, place in zip(slopes, places, strict=True):
            level += slope * values[place]
        yield level


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))
