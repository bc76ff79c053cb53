"""Explicit vectors and values, and changes of the basis in which they are sought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.inequality.vectors import Condition, Form, Space, Vector, inner

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Configuration:
    """Explicit vectors and values.

    Attributes:
        coordinates: n rows of d rationals.
        weights: d rationals > 0; coordinate k is meant in units of sqrt(weights[k]).
        values: m rationals.
    """

    coordinates: Rows
    weights: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    def gram(self) -> list[list[Fraction]]:
        """The exact Gram matrix, n x n."""
        scaled = [[w * x for w, x in zip(self.weights, row, strict=True)] for row in self.coordinates]
        return [
            [sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in self.coordinates] for u in scaled
        ]

    def at(self, vector: Vector) -> tuple[Fraction, ...]:
        """The coordinates of a combination of basis vectors."""
        total = [Fraction(0)] * len(self.weights)
        for i, c in vector.coefficients.items():
            total = [t + c * x for t, x in zip(total, self.coordinates[i], strict=True)]
        return tuple(total)

    def breaks(self, claim: Form, given: Sequence[Condition]) -> bool:
        """Whether every hypothesis holds exactly and ``claim <= 0`` does not."""
        gram = self.gram()
        return claim.at(gram, self.values) > 0 and all(c.holds(gram, self.values) for c in given)


@dataclass(frozen=True)
class Substitution:
    """Old basis vectors as combinations of new ones, old values as forms over there.

    Attributes:
        space: the new space.
        vectors: one Vector of the new space an old basis vector.
        values: one Form of the new space an old value.
    """

    space: Space
    vectors: tuple[Vector, ...]
    values: tuple[Form, ...]

    def vector(self, vector: Vector) -> Vector:
        """A vector, over there."""
        total = self.space.zero()
        for i, c in vector.coefficients.items():
            total = total + self.vectors[i] * c
        return total

    def form(self, form: Form) -> Form:
        """A form, over there."""
        total = self.space.constant(form.constant)
        for (i, j), c in form.gram.items():
            total = total + inner(self.vectors[i], self.vectors[j]) * c
        for j, c in form.values.items():
            total = total + self.values[j] * c
        return total

    def conditions(self, given: Sequence[Condition]) -> list[Condition]:
        """Conditions, over there, without those that have become trivial."""
        made = [Condition(c.name, self.form(c.form), c.relation) for c in given]
        return [c for c in made if c.form.gram or c.form.values or not c.holds([], [])]

    def back(self, point: Configuration) -> Configuration:
        """A point of the new space as one of the old."""
        gram = point.gram()
        return Configuration(
            tuple([point.at(v) for v in self.vectors]),
            point.weights,
            tuple([Fraction(f.at(gram, point.values)) for f in self.values]),
        )


def null_space(rows: Sequence[Mapping[int, Fraction]], size: int) -> list[list[Fraction]]:
    """A basis of the rational solutions of homogeneous linear equations in `size` unknowns."""
    import flint

    if not rows:
        return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    matrix = flint.fmpq_mat(len(rows), size)
    for r, row in enumerate(rows):
        for i, c in row.items():
            matrix[r, i] = flint.fmpq(c.numerator, c.denominator)
    reduced, rank = matrix.rref()
    pivots = [next(j for j in range(size) if reduced[r, j] != 0) for r in range(rank)]
    basis = []
    for free in (j for j in range(size) if j not in pivots):
        vector = [Fraction(0)] * size
        vector[free] = Fraction(1)
        for r, pivot in enumerate(pivots):
            c = reduced[r, free]
            vector[pivot] = -Fraction(int(c.p), int(c.q))
        basis.append(vector)
    return basis
