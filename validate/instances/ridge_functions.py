"""Functions of several variables that are no quadratics: sums of piecewise quadratics along rational directions.

f(x) = sum_j phi_j(<a_j, x>) - <b, x> + c, each phi_j with a continuous, piecewise linear derivative. All is exact:
values, gradients, proximal points, minima. Between any two points the Hessian is a mean of matrices sum_j s_j a_j a_j'
with slopes s_j of the phi_j, and so between the sums of the least and of the largest slopes; where the directions with
knots are linearly independent, both are Hessians of f. Where all directions are orthogonal, f is a sum of functions of
one variable each, and what is true of these says what is true of f.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np

from sim.problems.linear_algebra import minimise
from theory.arithmetic import to_element
from theory.operations import Element, UndecidedError, to_fraction
from theory.psd import is_psd
from validate.instances.numbers import LARGEST_DIMENSION, entries, number, number_json
from validate.instances.pieces import Piecewise, combined, read_shape, segment_of
from validate.instances.problems import Vector, null_space

Exact: TypeAlias = "tuple[Fraction, ...]"
Term: TypeAlias = "tuple[Exact, Piecewise]"
MOST_TERMS = 100  # of a sample
MOST_STEPS = 60
"""Steps of Newton's method to a minimiser; the right piece is met after a few."""
SHORT = 64
"""Largest denominator of such a step that does not end there."""
NONE = Piecewise((), (Fraction(0),))


@dataclass(frozen=True)
class RidgeFunction:
    """f(x) = sum_j phi_j(<a_j, x>) - <b, x> + c.

    It is kept in one form: directions have coprime integers, the first that is not 0 positive, and are increasing and
    different; phi_j and its derivative are 0 at 0; none is 0 everywhere.

    Attributes:
        terms: the directions a_j, (d,), with phi_j; there may be none.
        b: minus the gradient at 0, (d,).
        c: the value at 0.

    Raises:
        ValueError: for a direction that is 0 or not of d coordinates.
    """

    terms: tuple[Term, ...]
    b: Exact
    c: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        d = len(self.b)
        linear, constant = list(self.b), self.c
        along: dict[Exact, list[tuple[Fraction, Piecewise]]] = {}
        for a, phi in self.terms:
            if len(a) != d or not any(a):
                raise ValueError(f"the direction ({', '.join(map(str, a))}) is 0, or has not d={d} coordinates")
            scale = _scale(a)
            if phi.b != 0:  # minus its derivative at 0
                linear = [x + y * phi.b for x, y in zip(linear, a, strict=True)]
            constant += phi.c
            if scale != 1:
                a, phi = tuple(x / scale for x in a), stretched(phi, scale)
            elif phi.b != 0 or phi.c != 0:
                phi = Piecewise(phi.knots, phi.slopes)
            along.setdefault(a, []).append((Fraction(1), phi))
        terms = [(a, parts[0][1] if len(parts) == 1 else combined(parts)) for a, parts in sorted(along.items())]
        object.__setattr__(self, "terms", tuple((a, phi) for a, phi in terms if phi.slopes != (0,)))
        object.__setattr__(self, "b", tuple(linear))
        object.__setattr__(self, "c", constant)

    @property
    def dim(self) -> int:
        """d."""
        return len(self.b)

    @cached_property
    def elements(self) -> tuple[tuple[tuple[Vector, Piecewise], ...], Vector, Element]:
        """Terms, b and c, numbers in FLINT's rationals."""
        terms = tuple((tuple(map(to_element, a)), phi) for a, phi in self.terms)
        return terms, tuple(map(to_element, self.b)), to_element(self.c)

    def value(self, v: Vector) -> Element:
        """f(v)."""
        terms, b, total = self.elements
        for y, x in zip(b, v, strict=True):
            total = total - y * x
        for a, phi in terms:
            t = _dot(a, v)
            s, low, base = segment_of(phi, t)
            total = total + (s * t / 2 - low) * t + base
        return total

    def gradient(self, v: Vector) -> Vector:
        if set(map(type, v)) == _rational():
            return self._of_rationals(v)
        terms, b, _ = self.elements
        found = [-y for y in b]
        for a, phi in terms:
            t = _dot(a, v)
            s, low, _ = segment_of(phi, t)
            steep = s * t - low
            found = [g + steep * y if y != 0 else g for g, y in zip(found, a, strict=True)]
        return tuple(found)

    @cached_property
    def _of_rationals(self) -> Callable[[Vector], Vector]:
        """The gradient at a point in FLINT's rationals, written out: all outcomes of a run ask for it."""
        terms, b, _ = self.elements
        known: dict[str, Any] = {"bisect": bisect_right}
        lines, sums = [], [[f"b{j}"] if y else [] for j, y in enumerate(b)]
        known |= {f"b{j}": -y for j, y in enumerate(b)}
        for i, (a, phi) in enumerate(terms):
            known[f"knots{i}"], known[f"segments{i}"] = phi.elements
            known |= {f"a{i}_{j}": y for j, y in enumerate(a)}
            along = " + ".join(f"v{j}" if a[j] == 1 else f"a{i}_{j}*v{j}" for j, y in enumerate(a) if y)
            lines += [f"t = {along}", f"s, low, _ = segments{i}[bisect(knots{i}, t)]", f"g{i} = s*t - low"]
            for j, y in enumerate(a):
                sums[j] += [f"g{i}" if y == 1 else f"a{i}_{j}*g{i}"] if y else []
        every = ", ".join(f"v{j}" for j in range(self.dim))
        made = ", ".join(" + ".join(some) or f"b{j}" for j, some in enumerate(sums))
        body = "".join(f"    {line}\n" for line in (f"({every},) = v", *lines, f"return ({made},)"))
        exec(f"def gradient(v):\n{body}", known)  # of what is written above, and nothing else
        return known["gradient"]

    def at(self, v: Sequence[Any]) -> tuple[Any, Any]:
        """Gradient, (d,), and value at a point in numbers of Python: Fractions, or floats."""
        gradient, value = [-y for y in self.b], self.c - sum(y * x for y, x in zip(self.b, v, strict=True))
        for a, phi in self.terms:
            t = sum(y * x for y, x in zip(a, v, strict=True))
            value = value + phi.value(t)
            gradient = [g + phi.derivative(t) * y for g, y in zip(gradient, a, strict=True)]
        return np.array(gradient, dtype=object), value

    # curvature

    def bound(self, largest: bool) -> list[list[Fraction]]:
        """The sum of a_j a_j' with the largest, or the least, slope of each phi_j: a bound on all Hessians."""
        return self._most if largest else self._least

    @cached_property
    def _most(self) -> list[list[Fraction]]:
        return self._bound(max)

    @cached_property
    def _least(self) -> list[list[Fraction]]:
        return self._bound(min)

    def _bound(self, end: Callable[[tuple[Fraction, ...]], Fraction]) -> list[list[Fraction]]:
        total = [[Fraction(0)] * self.dim for _ in self.b]
        for a, phi in self.terms:
            slope = end(phi.slopes)
            some = [(i, x) for i, x in enumerate(a) if x]
            for i, x in some:
                for j, y in some:
                    total[i][j] += slope * x * y
        return total

    @cached_property
    def free(self) -> bool:
        """Whether the directions with knots are linearly independent, so that slopes along them go together freely."""
        from flint import fmpq_mat

        rows = [list(map(to_element, a)) for a, phi in self.terms if phi.knots]
        return not rows or fmpq_mat(rows).rank() == len(rows)

    @cached_property
    def convex(self) -> bool:
        """Whether it is known to be convex; where it is `free`, whether it is."""
        return is_psd(self.bound(False))

    def steepest(self, most: int) -> Fraction | None:
        """A bound on norm2 of all gradients, the least one where f is `free`; None where none is known.

        Args:
            most: terms that are not orthogonal; corners of the box of their derivatives are gone through.
        """
        if self.lines is not None:
            total = Fraction(0)
            for a, phi in self.lines:
                if phi.gradient_bound is None:
                    return None
                total += _dot(a, a) * phi.gradient_bound**2
            return total
        if len(self.terms) > most:
            return None
        corners: list[list[Fraction]] = [[-y for y in self.b]]
        for a, phi in self.terms:
            if phi.slopes[0] != 0 or phi.slopes[-1] != 0:
                return None
            steep = [phi.derivative(t) for t in phi.knots]
            ends = dict.fromkeys((min(steep), max(steep)))
            corners = [[g + end * y for g, y in zip(at, a, strict=True)] for at in corners for end in ends]
        return max(sum((g * g for g in at), Fraction(0)) for at in corners)

    # as functions of one variable each

    @cached_property
    def lines(self) -> tuple[Term, ...] | None:
        """The function of one variable along each axis of an orthogonal basis, whose sum it is, but for c.

        None where no basis has all directions.
        """
        return None if self.axes is None else tuple((a, self.along(a)) for a in self.axes)

    @cached_property
    def axes(self) -> tuple[Exact, ...] | None:
        """An orthogonal basis that has all directions; None where there is none."""
        return axes_of([self])

    def along(self, a: Exact) -> Piecewise:
        """The function of t = <a, x>, for an axis to which all other directions are orthogonal."""
        phi = dict(self.terms).get(a, NONE)
        return Piecewise(phi.knots, phi.slopes, _dot(self.b, a) / _dot(a, a))

    def in_units(self, length: Fraction, curvature: Fraction) -> RidgeFunction:
        """x -> curvature*length^2*f(x/length), both positive."""
        terms = tuple((a, phi.in_units(length, curvature)) for a, phi in self.terms)
        b = tuple(y * curvature * length for y in self.b)
        return RidgeFunction(terms, b, self.c * curvature * length**2)

    # minima

    @cached_property
    def still(self) -> Exact | None:
        """A minimiser of a function that is convex; None where it is unbounded below.

        Raises:
            UndecidedError: where neither is told.
        """
        return lowest(self)

    def to_json(self) -> dict[str, Any]:
        """``{"ridges": [{"a", "knots", "slopes"}, ...], "b"}``, ``c`` only where it is needed."""
        terms = [
            {
                "a": list(map(number_json, a)),
                "knots": list(map(number_json, phi.knots)),
                "slopes": list(map(number_json, phi.slopes)),
            }
            for a, phi in self.terms
        ]
        found = {"ridges": terms, "b": list(map(number_json, self.b))}
        return found if self.c == 0 else {**found, "c": number_json(self.c)}


def _scale(a: Exact) -> Fraction:
    """What a direction is divided by to have coprime integers, the first that is not 0 positive."""
    parts = lcm(*(x.denominator for x in a))
    scale = Fraction(gcd(*(int(x * parts) for x in a)), parts)
    return scale if next(x for x in a if x) > 0 else -scale


def stretched(phi: Piecewise, by: Fraction, at: Fraction = Fraction(0)) -> Piecewise:
    """s -> phi(at + by*s) - phi(at), without its linear part at s = 0; by is not 0."""
    knots, slopes = [(t - at) / by for t in phi.knots], [by * by * s for s in phi.slopes]
    if by < 0:
        knots, slopes = knots[::-1], slopes[::-1]
    return Piecewise(tuple(knots), tuple(slopes))


def summed(parts: Iterable[tuple[Fraction, RidgeFunction]]) -> RidgeFunction:
    """sum of factor*function; at least one."""
    listed = list(parts)
    terms = [
        (a, Piecewise(phi.knots, tuple(factor * s for s in phi.slopes))) for factor, f in listed for a, phi in f.terms
    ]
    b = [sum((factor * f.b[i] for factor, f in listed), Fraction(0)) for i in range(listed[0][1].dim)]
    return RidgeFunction(tuple(terms), tuple(b), sum((factor * f.c for factor, f in listed), Fraction(0)))


def mean_of(functions: Sequence[RidgeFunction]) -> RidgeFunction:
    if len(functions) == 1:
        return functions[0]
    return summed((Fraction(1, len(functions)), f) for f in functions)


def quadratics_of(functions: Sequence[Sequence[RidgeFunction]], largest: bool) -> tuple[Any, Any]:
    """Hessians, (N, n, d, d), and linear terms, (N, n, d), with the largest or the least slope everywhere.

    Where no function has knots this is what they are, but for constants.
    """
    hessian = np.array([[f.bound(largest) for f in own] for own in functions], dtype=object)
    return hessian, np.array([[list(f.b) for f in own] for own in functions], dtype=object)


def axes_of(functions: Iterable[RidgeFunction]) -> tuple[Exact, ...] | None:
    """An orthogonal basis that has all directions of functions; None where there is none."""
    listed = list(functions)
    axes = sorted({a for f in listed for a, _ in f.terms})
    if any(_dot(a, e) != 0 for i, a in enumerate(axes) for e in axes[:i]):
        return None
    d = listed[0].dim
    for i in range(d):
        rest = [Fraction(int(i == j)) for j in range(d)]
        for a in axes:
            share = a[i] / _dot(a, a)
            rest = [x - share * y for x, y in zip(rest, a, strict=True)]
        if any(rest) and len(axes) < d:
            scale = _scale(tuple(rest))
            axes.append(tuple(x / scale for x in rest))
    return tuple(axes)


@cache
def _rational() -> set[type]:
    from flint import fmpq

    return {fmpq}


def _dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    total: Any = u[0] * v[0]
    for x, y in zip(u[1:], v[1:], strict=True):
        total = total + x * y
    return total


def lowest(f: RidgeFunction, curvature: Fraction = Fraction(0), centre: Exact = ()) -> Exact | None:
    """A minimiser of f(x) + curvature*norm2(x - centre)/2, which is convex; None where it is unbounded below.

    Newton's method, exact where the piece is the right one, else with a short step down.

    Raises:
        UndecidedError: where it does not end.
    """
    d = f.dim
    at = centre or (Fraction(0),) * d
    centre = at
    for _ in range(MOST_STEPS):
        gradient = [g + curvature * (x - y) for g, x, y in zip(f.at(at)[0], at, centre, strict=True)]
        if not any(gradient):
            return at
        hessian = np.array([[curvature if i == j else Fraction(0) for j in range(d)] for i in range(d)], dtype=object)
        for a, phi in f.terms:
            slope, _, _ = phi.segments[_place(phi, _dot(a, at))]
            hessian = hessian + slope * np.outer(np.array(a, dtype=object), np.array(a, dtype=object))
        newton = minimise(hessian, np.array([-g for g in gradient], dtype=object))
        way = list(newton[0]) if newton is not None else _flat(hessian, gradient)
        there = tuple(x + y for x, y in zip(at, way, strict=True))
        if newton is not None and not any(
            g + curvature * (x - y) for g, x, y in zip(f.at(there)[0], there, centre, strict=True)
        ):
            return there
        line = [(Fraction(1), stretched(phi, rate, _dot(a, at))) for a, phi in f.terms if (rate := _dot(a, way)) != 0]
        line.append((Fraction(1), Piecewise((), (curvature * _dot(way, way),), -_dot(gradient, way))))
        least = combined(line).least
        if least is None:
            return None
        ends = [end for end in least[1][0] if end is not None]
        exact = min(ends, key=abs)
        short = exact.limit_denominator(SHORT)
        step = short if short > 0 and combined(line).value(short) < 0 else exact
        at = tuple(x + step * y for x, y in zip(at, way, strict=True))
    raise UndecidedError("the minimiser of a sum of ridges was not reached")


def _place(phi: Piecewise, t: Fraction) -> int:
    return sum(knot <= t for knot in phi.knots)


def _flat(hessian: Any, gradient: Sequence[Fraction]) -> list[Fraction]:
    """Down where there is no curvature: minus the gradient's part in the null space of the Hessian."""
    from flint import fmpq

    basis = [list(v) for v in null_space([[to_element(Fraction(x)) for x in row] for row in hessian])]
    down = [to_element(-g) for g in gradient]
    for i, v in enumerate(basis):  # Gram and Schmidt
        for u in basis[:i]:
            v[:] = [x - _dot(u, v) / _dot(u, u) * y for x, y in zip(v, u, strict=True)]
    total = [fmpq(0)] * len(gradient)
    for v in basis:
        share = _dot(v, down) / _dot(v, v)
        total = [x + share * y for x, y in zip(total, v, strict=True)]
    return list(map(to_fraction, total))


def read_ridge(name: str, sample: Mapping[str, Any]) -> RidgeFunction:
    """A sample as `RidgeFunction.to_json` writes it.

    Raises:
        ValueError: for what is no such function.
    """
    b = tuple(entries(f"{name}.b", sample["b"]))
    if len(b) > LARGEST_DIMENSION:
        raise ValueError(f"{name} has {len(b)} coordinates; the limit is {LARGEST_DIMENSION}")
    given = sample["ridges"]
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_TERMS:
        raise ValueError(f"{name}.ridges is to be a list of at most {MOST_TERMS} ridges")
    terms = []
    for j, ridge in enumerate(given):
        where = f"{name}.ridges[{j}]"
        if not isinstance(ridge, Mapping) or set(ridge) != {"a", "knots", "slopes"}:
            raise ValueError(f"{where} is to be a ridge: a, knots and slopes")
        knots, slopes = read_shape(where, ridge)
        try:
            terms.append((tuple(entries(f"{where}.a", ridge["a"])), Piecewise(knots, slopes)))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    try:
        return RidgeFunction(tuple(terms), b, number(f"{name}.c", sample.get("c", 0)))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
