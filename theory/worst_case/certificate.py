"""Both sides of a worst case, proved: multipliers that bound it from above, and an instance that attains a value.

Everything is re-checked in exact rationals, but for the sign of a residual, which is settled by balls or by exact
elimination (`theory.psd`). Nothing of the solver is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory import psd
from theory.arithmetic import to_element
from theory.operations import to_fraction
from theory.worst_case.exactly import Products, Vectors, imbalance, products, residual
from theory.worst_case.program import Program
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
        if any(imbalance(program, self.multipliers)) or self.bound != _constant(program, self.multipliers):
            return False
        return all(_is_psd(block) for block in residual(program, self.multipliers))


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
    vectors: Vectors
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
        known = products(program, self.vectors, self.values)
        return _holds(program, known) and _objective(program, known) == self.value


def certify(program: Program, solved: Solved) -> UpperBound | None:
    """A proved upper bound near the solver's dual solution, or None.

    The multipliers are rounded and cut off at zero. The function values must cancel exactly; what is left over for
    one is absorbed by adding to the multiplier of a condition that has this value alone, with the sign wanted (a pair
    with the minimiser), or, where there is none, by an exact solution for as many of the largest multipliers. Both
    disturb the residual by no more than the solver's error, and the margin of the solve covers it.
    """
    sizes = np.where(program.equations, np.abs(solved.multipliers), solved.multipliers)
    rounded = np.rint(solved.multipliers * 2.0**BITS) / 2.0**BITS
    multipliers = {k: Fraction(float(rounded[k])) for k in np.flatnonzero(sizes > 2.0**-BITS).tolist()}
    lone: dict[tuple[int, bool], tuple[int, Fraction]] = {}
    start = 0
    for family in program.families:
        known = family.values >= 0
        for k in np.flatnonzero(known.sum(axis=1) == 1):
            column = int(np.flatnonzero(known[k])[0])
            slope = family.slopes[column]
            lone.setdefault((int(family.values[k, column]), slope > 0), (start + int(k), slope))
        start += len(family)
    excesses = imbalance(program, tuple(multipliers.items()))
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
                matrix[value, column] = matrix[value, column] + to_element(slope)
    try:
        change = matrix.solve(flint.fmpq_mat(program.values, 1, [to_element(-e) for e in excesses]))
    except ZeroDivisionError:
        return
    for column, index in enumerate(order):
        multipliers[places[index]] += to_fraction(change[column, 0])


def evaluate(program: Program, vectors: Vectors, values: tuple[Fraction, ...]) -> Instance:
    """Vectors and values with the objective that they have; whether the conditions hold is left to `check`."""
    rows = sorted(set(program.objective.supports[0].tolist()))
    return Instance(_objective(program, products(program, vectors, values, rows)), vectors, values)


def checked(program: Program, vectors: Vectors, values: tuple[Fraction, ...]) -> Instance | None:
    """The same where all conditions hold, exactly; else None."""
    known = products(program, vectors, values)
    return Instance(_objective(program, known), vectors, values) if _holds(program, known) else None


def _holds(program: Program, known: Products) -> bool:
    for family in program.families:
        levels, _ = known.levels(family)
        if (levels > 0).any() or (family.equal and levels.any()):
            return False
    return True


def _objective(program: Program, known: Products) -> Fraction:
    (level,), unit = known.levels(program.objective)
    return Fraction(int(level), unit)


def _is_psd(block: Any) -> bool:
    """A block of the residual, by floats and what is left of it, or exactly where it is small and they could not tell.

    Rows and columns of zeros are left out: they change nothing, and floats cannot see that they are no obstacle.
    """
    rows = block.tolist()
    kept = [i for i, row in enumerate(rows) if any(row)]
    matrix = [[rows[i][j] for j in kept] for i in kept]
    return psd.is_psd_floats(matrix) or psd.is_psd_balls(matrix) or (len(matrix) <= 30 and psd.is_psd(matrix))


def _constant(program: Program, multipliers: tuple[tuple[int, Fraction], ...]) -> Fraction:
    """The bound, c0 - sum_k y_k r_k."""
    total = program.objective.constant
    for family, start in zip(program.families, program.starts, strict=False):
        if family.constant:
            total -= family.constant * sum((y for k, y in multipliers if 0 <= k - start < len(family)), Fraction(0))
    return total
