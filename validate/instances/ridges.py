"""Problems of functions of several variables that are no quadratics (`validate.instances.ridge_functions`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from theory.arithmetic import to_element
from theory.formula import UndefinedError
from theory.operations import Element, UndecidedError, to_fraction
from theory.psd import is_psd
from validate.instances.pieces import Pieces, nearest_of
from validate.instances.problems import Minimisers, Vector
from validate.instances.ridge_functions import Exact, RidgeFunction, lowest, mean_of, read_ridge, summed
from validate.instances.sampled import Averaged

__all__ = ["RidgeFunction", "Ridges", "least_of"]

MOST_NEAR = 6
"""Minimisers that are told where there are more than one."""


@dataclass(frozen=True)
class Ridges(Averaged[RidgeFunction]):
    """A problem whose samples are sums of piecewise quadratics along directions."""

    FORMS: ClassVar = (frozenset({"ridges", "b"}),)

    read_sample = staticmethod(read_ridge)
    mean_of = staticmethod(mean_of)
    summed = staticmethod(summed)

    # values

    def value(self, v: Vector, *which: int) -> Element:
        """The function's value at v."""
        return self.function(*which).value(v)

    def gradient(self, v: Vector, *which: int) -> Vector:
        return self.function(*which).gradient(v)

    def at(self, v: Sequence[Any], *which: int) -> tuple[Any, Any]:
        """Gradient, (d,), and value at a point in numbers of Python."""
        return self.function(*which).at(v)

    # minima

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """The minimiser of f_n(u) + norm2(u - v)/(2t).

        Raises:
            ValueError: where the least slopes of f_n and 1/t make no positive definite matrix.
            UndecidedError: where f_n has directions that are not orthogonal, and v or t is no fraction.
        """
        from flint import fmpq

        f = self.own[n]
        if f.lines is not None:  # along each axis: phi(s) + (s - <a, v>)^2/(2 t |a|^2)
            total: list[Any] = [fmpq(0)] * self.dim
            for axis, phi in f.lines:
                a = tuple(map(to_element, axis))
                size = sum([y * y for y in a], fmpq(0))
                along = sum([y * x for y, x in zip(a, v, strict=True)], fmpq(0))
                (s,) = Pieces(((phi,),)).prox((along,), t * size, 0)
                total = [x + s / size * y for x, y in zip(total, a, strict=True)]
            return tuple(total)
        if not all(type(x) is fmpq for x in (*v, t)):
            raise UndecidedError("a prox of a sum of ridges at what is known in intervals only")
        inverse = None if t == 0 else 1 / to_fraction(t)
        matrix = [[x + (inverse or 0) * (i == j) for j, x in enumerate(r)] for i, r in enumerate(f.bound(False))]
        if inverse is None or not is_psd(matrix) or _singular(matrix):
            raise ValueError(f"prox with t={t} of client {n + 1} has no unique value: Hessian plus 1/t is not positive")
        found = lowest(f, inverse, tuple(map(to_fraction, v)))
        assert found is not None  # it is strongly convex
        return tuple(map(to_element, found))

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """A minimiser, the nearest to `near` where all directions are orthogonal, and others where there are some."""
        f = self.function(*which)
        if f.lines is not None:
            return _along_lines(f, near)
        if not f.convex:
            return Minimisers((), False, "it is not known to be convex, and its directions are not orthogonal")
        still = f.still
        if still is None:
            return Minimisers((), False)
        return Minimisers((tuple(map(to_element, still)),), _only(f, still))

    def infimum(self, *which: int) -> Element | None:
        """The infimum; None where the function is unbounded below.

        Raises:
            UndefinedError: where it is not known.
        """
        found = least_of(self.function(*which))
        return None if found is None else to_element(found)

    def only(self, *which: int) -> Sequence[Fraction] | None:
        try:
            found = self.minimisers((to_element(Fraction(0)),) * self.dim, *which)
        except UndecidedError:
            return None
        return list(map(to_fraction, found.points[0])) if found.unique else None


def least_of(f: RidgeFunction) -> Fraction | None:
    """The infimum of a function; None where it is unbounded below.

    Raises:
        UndefinedError: where it is not known.
    """
    if f.lines is not None:
        least = [phi.least for _, phi in f.lines]
        return f.c + sum((one[0] for one in least if one is not None), Fraction(0)) if None not in least else None
    if not f.convex:
        raise UndefinedError("the infimum of a sum of ridges that is not known to be convex")
    still = f.still
    return None if still is None else Fraction(f.at(still)[1])


def _along_lines(f: RidgeFunction, near: Vector) -> Minimisers:
    """The point nearest to `near` in the product of what is least along each axis, and neighbours of it."""
    assert f.lines is not None
    shares: list[tuple[list[Fraction], Exact]] = []
    here = tuple(map(to_fraction, near))
    for a, phi in f.lines:
        if phi.least is None:
            return Minimisers((), False)
        t = sum((y * x for y, x in zip(a, here, strict=True)), Fraction(0))
        shares.append((nearest_of(phi.least[1], t), a))
    points = [[ts[0] for ts, _ in shares]]
    for j, (ts, _) in enumerate(shares):
        points += [[*points[0][:j], t, *points[0][j + 1 :]] for t in ts[1:]]
    vectors = []
    for point in points[: MOST_NEAR + 1]:
        total = [Fraction(0)] * f.dim
        for t, (_, a) in zip(point, shares, strict=True):
            size = sum((y * y for y in a), Fraction(0))
            total = [x + t * y / size for x, y in zip(total, a, strict=True)]
        vectors.append(tuple(map(to_element, total)))
    return Minimisers(tuple(vectors), len(points) == 1)


def _only(f: RidgeFunction, still: Exact) -> bool:
    """Whether a minimiser of a convex function is known to be the only one: there is curvature around it."""
    total = [[Fraction(0)] * f.dim for _ in still]
    for a, phi in f.terms:
        t = sum((y * x for y, x in zip(a, still, strict=True)), Fraction(0))
        beside = [
            s for (s, _, _), (low, high) in phi.stretches() if (low is None or low <= t) and (high is None or t <= high)
        ]
        for i, x in enumerate(a):
            for j, y in enumerate(a):
                total[i][j] += min(beside) * x * y
    return not _singular(total) and is_psd(total)


def _singular(matrix: Sequence[Sequence[Fraction]]) -> bool:
    from flint import fmpq_mat

    return fmpq_mat([list(map(to_element, row)) for row in matrix]).rank() < len(matrix)
