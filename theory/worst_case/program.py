"""A performance estimation problem as data: rows, families of conditions, an objective; all exact.

Maximise a linear form in a Gram matrix G (block diagonal, positive semidefinite) and in function values F, subject to
conditions `form <= 0`. A condition is a small quadratic form in a few rows, a row being a vector written in the basis
of G (an iterate, a gradient). The residual of a choice of multipliers is then V' M V with V the table of rows and M
sparse, which is cheap in floats and in exact rationals alike.

Sources: Drori and Teboulle, "Performance of first-order methods for smooth convex minimization: a novel approach",
Math. Program. 145 (2014); Taylor, Hendrickx and Glineur, "Smooth strongly convex interpolation and exact worst-case
performance of first-order methods", Math. Program. 161 (2017), Theorem 4.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

Array = np.ndarray
Row = Mapping[int, Fraction]  # basis vector -> coefficient
Quadratic = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, eq=False)
class Family:
    """C conditions of one shape, sum_ab form[a][b] <row s_a, row s_b> + sum_c slopes[c] F[v_c] + constant <= 0.

    Where `equal` is set, == 0: their multipliers may have either sign.

    Attributes:
        name: what they say.
        form: s x s, symmetric.
        supports: (C, s) the rows of each condition.
        slopes: v coefficients of function values.
        values: (C, v) the function values of each condition; -1 is the value 0 at the minimiser.
        constant: a number.
        first: (C,) whether a condition is in the first relaxation that is solved; all where they are equations.
        equal: whether they are equations.
    """

    name: str
    form: Quadratic
    supports: Array
    slopes: tuple[Fraction, ...]
    values: Array
    constant: Fraction
    first: Array
    equal: bool = False

    def __len__(self) -> int:
        return len(self.supports)

    @cached_property
    def integers(self) -> tuple[tuple[tuple[int, int, int], ...], tuple[int, ...], int, int]:
        """The form as a, b and a coefficient, a <= b, the slopes and the constant as integers; their denominator."""
        entries = [(a, b, c) for a, row in enumerate(self.form) for b, c in enumerate(row[a:], a) if c]
        others = [*self.slopes, self.constant]
        unit = math.lcm(*[c.denominator for _, _, c in entries], *[c.denominator for c in others])
        form = [(a, b, (1 if a == b else 2) * c.numerator * (unit // c.denominator)) for a, b, c in entries]
        *slopes, constant = [c.numerator * (unit // c.denominator) for c in others]
        return tuple(form), tuple(slopes), constant, unit

    @cached_property
    def floats(self) -> Array:
        """The form, (s, s)."""
        return np.array([[float(c) if c else 0.0 for c in row] for row in self.form])


@dataclass(frozen=True)
class Point:
    """A point where a function is known: the rows of the point and of its gradient, and the index of its value."""

    x: int
    g: int
    value: int


@dataclass(frozen=True, eq=False)
class Alike:
    """What linear maps of the basis leave as it is, in floats: for solving, and no part of any proof.

    Attributes:
        conditions: (C,) the number of each condition's orbit.
        values: (values,) of each value's.
        actions: maps that generate the group, (n, n) with the image of basis vector j in column j.
    """

    conditions: Array
    values: Array
    actions: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """Maximise `objective` (a family of one) subject to `families`.

    Attributes:
        blocks: names of the basis vectors of each diagonal block of G.
        rows: each a sparse vector of the basis, the blocks' vectors counted through.
        values: number of function values.
        families: the conditions; a multiplier is addressed by its place in their concatenation.
        objective: maximised.
        alike: what need not be told apart in solving; None where nothing is known of it.
    """

    blocks: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]
    values: int
    families: tuple[Family, ...]
    objective: Family
    alike: Alike | None = None

    @cached_property
    def size(self) -> int:
        """Basis vectors."""
        return sum(len(b) for b in self.blocks)

    @cached_property
    def conditions(self) -> int:
        """Conditions of all families."""
        return sum(len(f) for f in self.families)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The place of each block among the basis vectors."""
        ends = np.cumsum([0, *[len(b) for b in self.blocks]])
        return tuple([slice(int(a), int(b)) for a, b in itertools.pairwise(ends)])

    @cached_property
    def table(self) -> Array:
        """The rows as floats, (rows, basis)."""
        table = np.zeros((len(self.rows), self.size))
        for i, row in enumerate(self.rows):
            for j, c in row.items():
                table[i, j] = float(c)
        return table

    @cached_property
    def integers(self) -> tuple[Array, Array, int]:
        """Where each row is among the basis vectors and other rows after them; these as integers; their denominator."""
        unit = math.lcm(*[c.denominator for row in self.rows for c in row.values()])
        others: dict[tuple[tuple[int, Fraction], ...], int] = {}
        places = np.zeros(len(self.rows), dtype=int)
        for i, row in enumerate(self.rows):
            if len(row) == 1 and 1 in row.values():
                (places[i],) = row
            else:
                places[i] = others.setdefault(tuple(row.items()), self.size + len(others))
        table = np.zeros((len(others), self.size), dtype=object)
        for i, other in enumerate(others):
            for j, c in other:
                table[i, j] = c.numerator * (unit // c.denominator)
        return places, table, unit

    def first(self) -> Array:
        """(C,) the conditions of the first relaxation."""
        return np.concatenate([f.first for f in self.families])

    def matrices(self, family: Family, which: Array) -> list[Array]:
        """The forms of some conditions as matrices, a (len(which), n_b, n_b) array for each block."""
        return matrices(self.table, self.slices, family, which)

    @cached_property
    def equations(self) -> Array:
        """(C,) which conditions are equations."""
        return np.concatenate([np.full(len(f), f.equal) for f in self.families])

    def value_parts(self, family: Family, which: Array) -> Array:
        """Coefficients of the function values in some conditions, (len(which), values)."""
        parts = np.zeros((len(which), self.values + 1))  # the last column collects the value 0 at the minimiser
        for slope, column in zip(family.slopes, family.values[which].T, strict=True):
            np.add.at(parts, (np.arange(len(which)), column), float(slope))
        return parts[:, : self.values]

    def levels(self, gram: Sequence[Array], values: Array) -> Array:
        """The left-hand sides of all conditions in floats, (C,): an instance has none above zero."""
        inner = sum(self.table[:, s] @ g @ self.table[:, s].T for s, g in zip(self.slices, gram, strict=True))
        padded = np.append(values, 0.0)
        parts = []
        for family in self.families:
            s = family.supports
            level = np.einsum("ab,kab->k", family.floats, inner[s[:, :, None], s[:, None, :]])
            slopes = np.array([float(c) for c in family.slopes])
            parts.append(level + padded[family.values] @ slopes + float(family.constant))
        return np.concatenate(parts)

    def located(self, place: int) -> tuple[Family, int]:
        """The family of a condition, and the condition's place in it."""
        if not 0 <= place < self.starts[-1]:
            raise IndexError(place)
        at = bisect.bisect_right(self.starts, place) - 1
        return self.families[at], place - self.starts[at]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The place of each family's first condition, and the number of all of them."""
        return tuple(itertools.accumulate(map(len, self.families), initial=0))


def matrices(table: Array, slices: Sequence[slice], family: Family, which: Array) -> list[Array]:
    """The forms of some conditions as matrices in each block of columns of a table of rows."""
    rows = table[family.supports[which]]
    result = []
    for block in slices:
        part = rows[:, :, block]
        result.append(np.matmul(part.transpose(0, 2, 1), np.matmul(family.floats, part)))
    return result


def single(
    name: str,
    form: Mapping[tuple[int, int], Fraction],
    values: Mapping[int, Fraction] | None = None,
    constant: Fraction = Fraction(0),
) -> Family:
    """One condition (or an objective) as a family, from its coefficients of <row i, row j> and of function values."""
    places = sorted({i for pair in form for i in pair}) or [0]
    where = {row: a for a, row in enumerate(places)}
    matrix = [[Fraction(0)] * len(places) for _ in places]
    for (i, j), c in form.items():
        a, b = where[i], where[j]
        half = c if a == b else c / 2
        matrix[a][b] = half + matrix[a][b] if matrix[a][b] else half
        if a != b:
            matrix[b][a] = matrix[a][b]
    values = values or {}
    return Family(
        name,
        tuple([tuple(row) for row in matrix]),
        np.array([places], dtype=int).reshape(1, len(places)),
        tuple(values.values()),
        np.array([list(values)], dtype=int).reshape(1, len(values)),
        constant,
        np.array([True]),
    )


def interpolation(name: str, points: Sequence[Point], star: Point, mu: Fraction, L: Fraction) -> Family:
    """The conditions under which points, gradients and values belong to a mu-strongly convex, L-smooth function.

    For all ordered pairs i != j, with c = 1/(2 (1 - mu/L)),
    f_i >= f_j + <g_j, x_i - x_j> + c (|g_i - g_j|^2/L + mu |x_i - x_j|^2 - 2 mu/L <g_j - g_i, x_j - x_i>).
    Necessary and sufficient (Taylor, Hendrickx and Glineur 2017, Theorem 4). Consecutive points and the pairs with
    the minimiser are tried first; they are often enough.

    Args:
        points: in the order in which the method meets them.
        star: the minimiser of the sum.
        mu: in [0, L).
        L: above 0.
    """
    c = 1 / (2 * (1 - mu / L))
    form = [[Fraction(0)] * 4 for _ in range(4)]  # of x_i, g_i, x_j, g_j

    def add(a: int, b: int, coefficient: Fraction) -> None:
        form[a][b] += coefficient / 2
        form[b][a] += coefficient / 2

    add(3, 0, Fraction(1))
    add(3, 2, Fraction(-1))
    for sign, a, b in ((1, 1, 1), (1, 3, 3), (-2, 1, 3)):
        add(a, b, sign * c / L)
    for sign, a, b in ((1, 0, 0), (1, 2, 2), (-2, 0, 2)):
        add(a, b, sign * c * mu)
    for sign, a, b in ((1, 3, 2), (-1, 3, 0), (-1, 1, 2), (1, 1, 0)):
        add(a, b, -2 * sign * c * mu / L)
    everything = [*points, star]
    last = len(points)
    pairs = [(i, j) for i in range(last + 1) for j in range(last + 1) if i != j]
    return Family(
        name,
        tuple([tuple(row) for row in form]),
        np.array([[everything[i].x, everything[i].g, everything[j].x, everything[j].g] for i, j in pairs]),
        (Fraction(-1), Fraction(1)),
        np.array([[everything[i].value, everything[j].value] for i, j in pairs]),
        Fraction(0),
        np.array([abs(i - j) == 1 or last in (i, j) for i, j in pairs]),
    )
