"""Numbers in which moments are computed: float64 arrays, or object arrays of rationals.

Rationals are worked on as python-flint's ``fmpq`` where that is installed (ten times faster than `fractions.Fraction`
on long numbers) and as `fractions.Fraction` where it is not. What goes in and what comes out are Fractions either way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import real
from theory.program import work

Array = NDArray[Any]
SMALL = 100
"""Products of entries in a product of two matrices below which these are multiplied entry by entry."""
ENTRIES = 20
"""Rationals that are read for a product, so many of which take as long as an operation of `theory.program.work`."""
PRODUCTS = 12
"""Products of two rationals, likewise."""
FEW_ROWS = 16
"""Rows of a matrix with a single entry up to which they are multiplied like others."""


def times(one: Array, two: Array) -> Array:
    """one @ two, for entries on which an operation may raise.

    There numpy's own product of objects gives one of them back once too often, and the interpreter crashes later.
    """
    if (one.dtype != object and two.dtype != object) or one.shape[-1] != two.shape[-min(two.ndim, 2)]:
        return one @ two
    left, right = one[None] if one.ndim == 1 else one, two[:, None] if two.ndim == 1 else two
    found = np.einsum("...ij,...jk->...ik", left, right)
    found = found[..., 0, :] if one.ndim == 1 else found
    return found[..., 0] if two.ndim == 1 else found


@dataclass(frozen=True)
class Numbers:
    """The arithmetic in which a computation is carried out.

    Attributes:
        exact: whether the entries are rationals.
        dtype: float64, or object.
        load: one number -> one entry of the working arrays.
        unload: one entry -> float or Fraction.
        matrix: rows, columns and a list of entries -> a matrix of FLINT's; None where there is none.
        others: numbers that stand for rationals, and are taken as they are.
    """

    exact: bool
    dtype: Any
    load: Callable[[Any], Any]
    unload: Callable[[Any], Any]
    matrix: Callable[..., Any] | None = None
    others: tuple[type, ...] = ()

    def checked(self, value: Any, name: str) -> Any:
        """A finite number; in exact arithmetic a rational one (a float is refused, not taken as its binary value).

        Raises:
            ValueError: when `value` is not such a number.
        """
        if isinstance(value, self.others):
            return value
        if self.exact:
            if not isinstance(value, Rational) or isinstance(value, bool):
                raise ValueError(f"{name}={value!r} is not rational: an exact problem needs an int or a Fraction")
            return Fraction(int(value.numerator), int(value.denominator))
        return real(name, value, "(-inf, inf)")

    def array(self, values: Any) -> Array:
        """A working copy of an array of numbers (any shape)."""
        values = np.asarray(values)
        if not self.exact:
            return values.astype(np.float64)
        out = np.empty(values.shape, dtype=object)
        out.ravel()[:] = [self.load(value) for value in values.ravel().tolist()]
        return out

    def result(self, values: Array) -> Array:
        """A working array as float64 or as an object array of Fractions."""
        if not self.exact:
            return values
        out = np.empty(values.shape, dtype=object)
        out.ravel()[:] = [self.unload(value) for value in values.ravel().tolist()]
        return out

    def zeros(self, *shape: int) -> Array:
        """Zeros (the integer 0 in object arrays: it mixes with every kind of rational)."""
        return np.zeros(shape, dtype=self.dtype)

    def identity(self, size: int) -> Array:
        """The identity matrix, of shape (size, size)."""
        out = self.zeros(size, size)
        out.reshape(-1)[:: size + 1] = 1
        return out

    def product(self, one: Array, two: Array) -> Array:
        """one @ two, of two or more axes each, those before the last two broadcast.

        FLINT multiplies matrices of rationals over their common denominators, many times faster than entry by entry.
        """
        matrix = self.matrix
        rows, inner, columns = one.shape[-2], one.shape[-1], two.shape[-1]
        if self.exact:
            many = math.prod(one.shape[:-2] or two.shape[:-2])
            work.count(many * inner * (rows + columns) // ENTRIES + many * rows * inner * columns // PRODUCTS)
        if matrix is None or rows * inner * columns < SMALL or 0 in one.shape + two.shape or inner != two.shape[-2]:
            return times(one, two)
        shape = np.broadcast_shapes(one.shape[:-2], two.shape[:-2])
        lefts, rights = _matrices(matrix, one, shape), _matrices(matrix, two, shape)
        out = np.empty((len(lefts), rows * columns), dtype=object)
        made: dict[tuple[int, int], Any] = {}
        for at, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            key = (id(left), id(right))
            if key not in made:
                made[key] = (left * right).entries()
            out[at] = made[key]
        return out.reshape(*shape, rows, columns)

    def congruent(self, matrix: Array, P: Array) -> Array:
        """matrix @ P @ matrix.T, P (b, D, D); rows of the matrix with a single entry are not multiplied."""
        many = (matrix != 0).sum(axis=1)
        single, rest = np.flatnonzero(many == 1), np.flatnonzero(many != 1)
        if len(single) < FEW_ROWS:
            return self.product(self.product(matrix, P), matrix.T)
        at = (matrix[single] != 0).argmax(axis=1)
        factor = matrix[single, at]
        half = np.empty((len(P), len(matrix), P.shape[-1]), dtype=self.dtype)
        half[:, single] = factor[:, None] * P[:, at]
        half[:, rest] = self.product(matrix[rest], P)
        out = np.empty((len(P), len(matrix), len(matrix)), dtype=self.dtype)
        out[:, :, single] = half[:, :, at] * factor
        out[:, :, rest] = self.product(half, matrix[rest].T)
        return out

    def ratio(self, numerator: int, denominator: int) -> Any:
        """numerator / denominator, in this arithmetic."""
        return numerator / denominator if not self.exact else self.load(Fraction(numerator, denominator))


FLOATS = Numbers(exact=False, dtype=np.float64, load=float, unload=float)


def rationals() -> Numbers:
    """Rational arithmetic: python-flint's if it can be imported, the standard library's if not."""
    try:
        from flint import fmpq, fmpq_mat
    except ImportError:
        return Numbers(exact=True, dtype=object, load=Fraction, unload=Fraction)

    def load(value: Any) -> Any:
        return fmpq(int(value.numerator), int(value.denominator))

    def unload(value: Any) -> Fraction:
        # Sums that never met a rational are still the Python integer that they began with.
        return Fraction(value) if isinstance(value, int) else Fraction(int(value.p), int(value.q))

    return Numbers(exact=True, dtype=object, load=load, unload=unload, matrix=fmpq_mat)


def recording(numbers: Numbers, kind: type) -> Numbers:
    """The same for numbers of another kind among the rationals, which record what is done with them."""

    others = (kind, type(numbers.load(Fraction(0))))

    def load(value: Any) -> Any:
        return value if isinstance(value, others) else numbers.load(value)

    return replace(numbers, load=load, unload=lambda value: value, matrix=None, others=others)


def to_fraction(value: Any) -> Fraction:
    """A rational number of any kind as a Fraction; a finite float as its binary value.

    Raises:
        ValueError: for one that records, and may be any.
    """
    if isinstance(value, int | float | Fraction):
        return Fraction(value)
    if not hasattr(value, "p"):
        raise ValueError(f"{value!r} is not known")
    return Fraction(int(value.p), int(value.q))


def in_balls(numbers: Numbers) -> Numbers:
    """The same, its results being balls of python-flint."""
    from flint import arb

    return replace(numbers, unload=arb, matrix=None)


def powers_in_balls(row: Array, step: Array, times: int) -> list[Array]:
    """row, row step, row step^2, ... as balls, of rationals; at the precision of ``flint.ctx``."""
    from flint import arb_mat

    size = len(row)
    matrix = arb_mat(size, size, step.ravel().tolist())
    found = [arb_mat(1, size, row.tolist())]
    for _ in range(times):
        found.append(found[-1] * matrix)
    return [np.array(one.entries(), dtype=object) for one in found]


def _matrices(matrix: Callable[..., Any], stack: Array, shape: tuple[int, ...]) -> list[Any]:
    """The matrices of a stack as FLINT's, one for each place of the shape that it is broadcast to."""
    rows, columns = stack.shape[-2:]
    flat = stack.reshape(-1, rows * columns).tolist()
    own = [matrix(rows, columns, entries) for entries in flat]
    places = np.broadcast_to(np.arange(len(own)).reshape(stack.shape[:-2]), shape)
    return [own[at] for at in places.ravel()]


def checked_start(start: Any, dim: int, numbers: Numbers) -> Array:
    """(d,), in working numbers.

    Raises:
        ValueError: for another shape, or an entry that is not finite, or not rational in exact mode.
    """
    try:
        values = np.asarray(start, dtype=object)
    except ValueError:
        raise ValueError(f"start={start!r} is not an array of shape ({dim},)") from None
    if values.shape != (dim,):
        raise ValueError(f"start={start!r} has shape {values.shape}, not ({dim},)")
    finite = [numbers.checked(value, f"start[{i}]") for i, value in enumerate(values)]
    return numbers.array(np.array(finite, dtype=object))
