"""Problems whose samples are given by points (`validate.instances.point_functions`).

What is asked at any other point is undefined: it hangs on which function of the class is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from theory.arithmetic import to_element
from theory.formula import UndefinedError
from theory.operations import Element, to_fraction
from validate.instances.numbers import number
from validate.instances.point_functions import Exact, Point, PointFunction, read_points, short
from validate.instances.problems import Minimisers, Vector
from validate.instances.sampled import Sampled

MOST_COMPARED = 20_000_000  # pairs of points of a sample, times coordinates, in all samples together

__all__ = ["Exact", "Point", "PointFunction", "Points"]


@dataclass(frozen=True)
class Points(Sampled[PointFunction]):
    """A problem whose samples are given by points."""

    FORMS: ClassVar = (frozenset({"points", "L", "mu"}), frozenset({"points", "L", "mu", "G"}))
    LACKING = UndefinedError

    # the JSON form

    @classmethod
    def reads(cls, sample: Mapping[str, Any]) -> bool:
        return frozenset(sample) in cls.FORMS

    @classmethod
    def read(cls, clients: Sequence[Sequence[Mapping[str, Any]]]) -> Points:
        """The problem with these samples.

        Raises:
            ValueError: for what is no number, has the wrong shape, or where no function has these points.
        """
        room = MOST_COMPARED
        found = []
        for n, own in enumerate(clients):
            functions = []
            for i, sample in enumerate(own):
                name = f"clients[{n}][{i}]"
                points = read_points(name, sample["points"])
                room -= len(points) ** 2 // 2 * len(points[0].x)
                if room < 0:
                    raise ValueError(f"problem: the samples have more points than are compared, at {name}")
                numbers = {key: number(f"{name}.{key}", sample[key]) for key in ("L", "mu", "G") if key in sample}
                try:
                    functions.append(PointFunction(points, **numbers))
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from None
            found.append(tuple(functions))
        return cls(tuple(found))

    # what the classes tell

    def parts(self, *which: int) -> tuple[tuple[Fraction, PointFunction], ...]:
        """The samples of f, f_n or f_ni, with their weights in the mean."""
        if len(which) == 2:
            return ((Fraction(1), self.functions[which[0]][which[1]]),)
        if which:
            own = self.functions[which[0]]
            return tuple((Fraction(1, len(own)), f) for f in own)
        return tuple((weight / self.clients, f) for n in range(self.clients) for weight, f in self.parts(n))

    def named(self, name: str) -> tuple[tuple[int, ...], ...]:
        """The indices of all functions that ``f``, ``f_n`` or ``f_ni`` stands for."""
        if name == "f":
            return ((),)
        clients = range(self.clients)
        return (
            tuple((n,) for n in clients)
            if name == "f_n"
            else tuple((n, i) for n in clients for i in range(self.samples(n)))
        )

    def curvature(self, *which: int) -> tuple[Fraction, Fraction]:
        """(mu, L) of a mean: the means of those of its samples."""
        parts = self.parts(*which)
        return sum((w * f.mu for w, f in parts), Fraction(0)), sum((w * f.L for w, f in parts), Fraction(0))

    def steepness(self, *which: int) -> Fraction | None:
        """A bound on the norm of all gradients of a mean; None where a sample has none."""
        bounds = [(w, f.G) for w, f in self.parts(*which)]
        return (
            None if any(G is None for _, G in bounds) else sum((w * G for w, G in bounds if G is not None), Fraction(0))
        )

    # values

    def _at(self, v: Vector, which: tuple[int, ...]) -> list[tuple[Fraction, tuple[Vector, Element]]]:
        found = []
        for weight, f in self.parts(*which):
            here = f.elements.get(v) if _rational(v) else None
            if here is None:
                point = f"({', '.join(map(short, v))})"
                raise UndefinedError(f"{point} is not among the points of {_called(which)}: nothing is known there")
            found.append((weight, here))
        return found

    def value(self, v: Vector, *which: int) -> Element:
        """The function's value at a point that is listed for all its samples.

        Raises:
            UndefinedError: at any other.
        """
        total: Any = 0
        for weight, (_, f) in self._at(v, which):
            total = total + to_element(weight) * f
        return total

    def gradient(self, v: Vector, *which: int) -> Vector:
        """Its gradient there. Errors as of `value`."""
        total: list[Any] = [0] * self.dim
        for weight, (g, _) in self._at(v, which):
            w = to_element(weight)
            total = [t + w * y for t, y in zip(total, g, strict=True)]
        return tuple(total)

    def at(self, v: Sequence[Any], *which: int) -> tuple[Any, Fraction]:
        """Gradient, (d,), and value at a point given by numbers of Python, in Fractions. Errors as of `value`."""
        if any(isinstance(x, float) for x in v):
            raise UndefinedError("a point is known in floats only, and nothing is known between the points")
        here = tuple(to_element(Fraction(x)) for x in v)
        return np.array(list(map(to_fraction, self.gradient(here, *which))), dtype=object), to_fraction(
            self.value(here, *which)
        )

    # minima

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """The minimiser of f_n(u) + norm2(u - v)/(2t): a point u that is listed, with u + t grad f_n(u) = v.

        Raises:
            UndefinedError: where none is listed.
            ValueError: where the class does not tell that there is exactly one.
        """
        if not _rational((*v, t)):
            raise UndefinedError(f"a prox of client {n + 1} of what is known in intervals only is not among its points")
        if t == 0 or not to_element(self.curvature(n)[0]) + 1 / t > 0:
            raise ValueError(f"prox with t={t} of client {n + 1} need not be unique: mu + 1/t is not positive")
        for u in self._common(n):
            if all(x + t * g == y for x, g, y in zip(u, self.gradient(u, n), v, strict=True)):
                return u
        raise UndefinedError(f"the prox of client {n + 1} at ({', '.join(map(short, v))}) is not among its points")

    def _common(self, *which: int) -> list[Vector]:
        """The points that are listed for all samples of a function."""
        first, *others = (f.elements for _, f in self.parts(*which))
        return [v for v in first if all(v in other for other in others)]

    @cached_property
    def _still(self) -> dict[tuple[int, ...], tuple[tuple[Vector, ...], Element | None]]:
        return {}

    def least(self, *which: int) -> tuple[tuple[Vector, ...], Element | None]:
        """The minimisers that are listed, and the infimum; None for it where nothing tells it."""
        if which not in self._still:
            still = [v for v in self._common(*which) if not any(x != 0 for x in self.gradient(v, *which))]
            parts = self.parts(*which)
            lowest = parts[0][1].lowest if len(parts) == 1 else None
            least: Element | None = None
            if self.curvature(*which)[0] >= 0 and still:
                least = self.value(still[0], *which)
            elif lowest is not None:
                least = to_element(lowest)
                still = [v for v in still if self.value(v, *which) == least]
            else:
                still = []
            self._still[which] = tuple(still), least
        return self._still[which]

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """Minimisers that are listed, the nearest to `near` first; there may be more that are not."""
        points = self.least(*which)[0]
        if not points:
            return Minimisers((), False, f"no minimiser of {_called(which)} is among the points")

        def away(v: Vector) -> Any:
            return sum([(x - y) ** 2 for x, y in zip(v, near, strict=True)][1:], (v[0] - near[0]) ** 2)

        ordered = sorted(points, key=lambda v: to_fraction(away(v))) if _rational(near) else points
        return Minimisers(tuple(ordered), self.curvature(*which)[0] > 0)

    def weighted(self, weights: Sequence[Fraction]) -> Points:
        """Of weighted sums nothing is told.

        Raises:
            UndefinedError: always.
        """
        raise UndefinedError("a weighted sum of functions that are given by points")

    def infimum(self, *which: int) -> Element | None:
        """The infimum.

        Raises:
            UndefinedError: where nothing tells it.
        """
        least = self.least(*which)[1]
        if least is None:
            raise UndefinedError(f"no minimiser of {_called(which)} is among the points, so its infimum is not known")
        return least

    def only(self, *which: int) -> Sequence[Fraction] | None:
        """(d,), the minimiser of f, f_n or f_ni that is listed, where there is just one."""
        points = self.least(*which)[0]
        return list(map(to_fraction, points[0])) if len(points) == 1 else None


def _called(which: tuple[int, ...]) -> str:
    return ("f", "client {}", "sample {1} of client {0}")[len(which)].format(*(one + 1 for one in which))


def _rational(v: Sequence[Element]) -> bool:
    from flint import fmpq

    return all(type(x) is fmpq for x in v)
