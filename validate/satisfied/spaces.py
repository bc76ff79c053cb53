"""Problems with unknown points: vectors are affine in the unknowns, and functions quadratics around them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product, starmap
from typing import Any

import numpy as np

from sim.problems import Quadratic
from sim.problems.linear_algebra import minimise
from theory.arithmetic import to_element
from theory.for_every import ForEvery
from theory.formula import Name, UndefinedError
from theory.operations import UndecidedError, to_fraction
from theory.sentence import everything
from validate.instances.pieces import Interval, Piecewise
from validate.instances.problems import null_space, which_of
from validate.instances.ridge_functions import RidgeFunction
from validate.instances.ridges import Ridges

F = Fraction
_elements = np.frompyfunc(to_element, 1, 1)


class Space(ABC):
    """Vectors of `dim` coordinates that are affine in `size` unknowns: arrays (dim, size + 1).

    Attributes:
        problem: whose clients and samples there are.
        dim, size: of vectors, of unknowns.
        weight: of the inner product.
        exact: fractions, not floats.
    """

    problem: Any
    dim: int
    size: int
    weight: Any = 1
    exact = True

    def zeros(self, *shape: int) -> Any:
        """Of its numbers."""
        return np.full(shape, to_element(F(0)), dtype=object) if self.exact else np.zeros(shape)

    def element(self, value: Any) -> Any:
        """One of its numbers."""
        return to_element(value) if self.exact else float(value)

    def unknown(self, place: int) -> Any:
        """The vector whose coordinates are unknowns from a place on."""
        found = self.zeros(self.dim, self.size + 1)
        for j in range(self.dim):
            found[j, place + j] = self.element(F(1))
        return found

    def difference(self, one: Any, two: Any) -> Any:
        """Of two vectors."""
        return one - two

    @abstractmethod
    def point(self, name: str, n: int) -> Any:
        """A point of the sentence, or a minimiser."""

    @abstractmethod
    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        """H, b and c of a function x'Hx/2 - b'x + c, around v."""

    @property
    @abstractmethod
    def infimum(self) -> Any:
        """Of f."""


class Quadratics(Space):
    def __init__(self, one: ForEvery, problem: Quadratic) -> None:
        self.problem, self.dim, self.exact = problem, problem.dim, problem.exact
        self.functions: dict[tuple[int, ...], tuple[Any, Any, Any]] = {}
        spoken = {part.name for side in one.sentence.sides for part in everything(side) if isinstance(part, Name)}
        minimised = [("xstar", problem.mean_hessian, problem.mean_linear)] if "xstar" in spoken else []
        if "xstar_n" in spoken:
            each = zip(problem.client_hessian, problem.client_linear, strict=True)
            minimised += [(f"xstar_n {n}", h, b) for n, (h, b) in enumerate(each)]
        self.places = {name: j * self.dim for j, name in enumerate(one.points)}
        self.size = len(one.points) * self.dim
        self.minima: dict[str, tuple[Any, list[Any], int]] = {}
        for name, h, b in minimised:
            found = minimise(h, b)
            if found is None:
                raise UndefinedError("there is no minimiser")
            flat: list[Any] = []
            if found[1] < self.dim:
                if not problem.exact:
                    raise UndecidedError("more than one minimiser, in floats")
                rows = [[to_element(x) for x in row] for row in h]
                flat = null_space(rows)
            self.minima[name] = (_elements(found[0]) if self.exact else found[0], flat, self.size)
            self.size += len(flat)

    def point(self, name: str, n: int) -> Any:
        if name in self.places:
            return self.unknown(self.places[name])
        middle, flat, place = self.minima[name if name == "xstar" else f"{name} {n}"]
        found = self.zeros(self.dim, self.size + 1)
        found[:, -1] = middle
        for j, v in enumerate(flat):
            found[:, place + j] = v
        return found

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        which = which_of(name, at)
        if which not in self.functions:
            p = self.problem
            if name == "f":
                H, b, c = p.mean_hessian, p.mean_linear, p.mean_offset
            elif name == "f_n":
                H, b, c = p.client_hessian[which], p.client_linear[which], p.client_offset[which]
            else:
                H, b, c = p.hessian[which], p.linear[which], p.offset[which]
            self.functions[which] = (_elements(H), _elements(b), to_element(c)) if self.exact else (H, b, float(c))
        return self.functions[which]

    @property
    def infimum(self) -> Any:
        try:
            return self.problem.optimal_value
        except ValueError:
            raise UndefinedError("f is unbounded below") from None


class Axis(Space):
    """Along an axis a, where t = <a, x> lies in a stretch between knots: of a vector u*a/|a|^2 the coordinate is u.

    Of each point of the sentence there is a stretch, by a number that lies inside.
    """

    dim = 1

    def __init__(self, problem: Ridges, axis: tuple[Fraction, ...], inside: Mapping[str, Fraction]) -> None:
        self.problem, self.axis, self.inside = problem, axis, inside
        self.size, self.places = len(inside), {name: place for place, name in enumerate(inside)}
        self.square = to_element(sum((x * x for x in axis), F(0)))
        self.weight = 1 / self.square

    def named(self, name: str, at: Mapping[str, int]) -> Piecewise:
        """The function of t."""
        f: RidgeFunction = self.problem.function(*which_of(name, at))
        return f.along(self.axis)

    def point(self, name: str, n: int) -> Any:
        if name in self.places:
            return self.unknown(self.places[name])
        least = self.named("f" if name == "xstar" else "f_n", {"n": n}).least
        if least is None:
            raise UndefinedError("there is no minimiser")
        (start, end), *more = least[1]
        if more or start is None or start != end:
            raise UndecidedError("more than one minimiser")
        return _elements(np.array([[*[F(0)] * self.size, start]], dtype=object))

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        *parts, still = v[0]
        moving = [place for place, part in enumerate(parts) if part != 0]
        if moving and (len(moving) > 1 or parts[moving[0]] != 1 or still != 0):
            raise UndecidedError("a function at another point than those of the sentence")
        f, t = self.named(name, at), [*self.inside.values()][moving[0]] if moving else to_fraction(still)
        s, b, c = map(to_element, f.segments[sum(knot <= t for knot in f.knots)])
        # its gradient is |a|^2 times the derivative, in these coordinates, and inner products have the weight 1/|a|^2
        return np.array([[s * self.square]], dtype=object), np.array([b * self.square], dtype=object), c

    @property
    def infimum(self) -> Any:
        least = self.named("f", {}).least
        if least is None:
            raise UndefinedError("f is unbounded below")
        return least[0]


MOST_CELLS = 400


def stretches(
    problem: Ridges, axis: tuple[Fraction, ...], points: Sequence[str]
) -> Iterator[tuple[Axis, tuple[Interval, ...]]]:
    """Each choice of stretches, one a point.

    Raises:
        UndecidedError: where these are too many.
    """
    every = sorted({t for own in problem.functions for f in own for t in f.along(axis).knots})
    own = list(pairwise([None, *every, None]))
    if len(own) ** len(points) > MOST_CELLS and len(points) > 1:
        raise UndecidedError("several points of functions with many knots")
    for where in product(own, repeat=len(points)):
        yield Axis(problem, axis, dict(zip(points, starmap(_between, where), strict=True))), where


def _between(start: Fraction | None, end: Fraction | None) -> Fraction:
    low = start if start is not None else end - 2 if end is not None else F(0)
    return (low + (end if end is not None else low + 2)) / 2


class Constants(Space):
    """No coordinates at all: what is left of a sentence besides its axes; `without` the values of functions at 0."""

    dim = size = 0

    def __init__(self, problem: Ridges, offsets: bool = True) -> None:
        self.problem, self.offsets = problem, offsets

    @property
    def without(self) -> Constants:
        """The same where these are 0."""
        return Constants(self.problem, False)

    def point(self, name: str, n: int) -> Any:
        return self.zeros(0, 1)

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        offset = self.problem.function(*which_of(name, at)).c if self.offsets else F(0)
        return self.zeros(0, 0), self.zeros(0), to_element(offset)

    @property
    def infimum(self) -> Any:
        return self.problem.mean.c if self.offsets else F(0)


__all__ = ["Constants", "Quadratics", "Space", "stretches"]
