"""Conditions that quadratic forms are nowhere negative, their coefficients being polynomials in constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems.linear_algebra import rounding_floor
from theory.arithmetic import to_element
from validate.instances.pieces import Interval

Box = tuple[Interval, ...]
"""Where the unknowns lie, an interval each."""
EVERYWHERE: Box = ()
"""No bounds, of any number of unknowns."""
Monomial = tuple[tuple[str, int], ...]
"""A product of powers of constants, by name; the powers may be negative."""
ONE: Monomial = ()
Terms = dict[Monomial, Any]
"""A polynomial in the constants: FLINT's rationals, or forms of them; floats on problems in floats."""


@dataclass(frozen=True)
class Condition:
    """The sum over axes of the least value, over the parts of each, of a form, plus a number is not negative.

    Attributes:
        axes: of each axis its parts: a form (m+1, m+1) in m unknowns and 1, the last, and where they are: anywhere, or
            one or two of them in intervals.
        beside: the number.
    """

    axes: tuple[tuple[tuple[Terms, Box], ...], ...]
    beside: Terms

    def at(self, values: Mapping[str, Any]) -> Any:
        """The least value where constants have these values; None for minus infinity."""
        total = _worth(self.beside, values)
        for parts in self.axes:
            found = [least_of(_worth(form, values), where) for form, where in parts]
            if None in found:
                return None
            total = total + min(found)
        return total

    def exponents(self, name: str) -> frozenset[int]:
        """The powers of a constant in it, 0 left out."""
        terms = [self.beside, *(form for parts in self.axes for form, _ in parts)]
        return frozenset(power for one in terms for monomial in one for n, power in monomial if n == name)

    def lifted(self, name: str, values: Mapping[str, Any]) -> Any:
        """By how much c**power moves it, where only its constant term is moved by a constant c; else None."""
        try:
            return self._lifted(name, {**values, name: 1})
        except ZeroDivisionError:  # another constant is 0 there, and the sentence divides by it
            return None

    def _lifted(self, name: str, values: Mapping[str, Any]) -> Any:
        found = []
        for form, _ in (part for parts in self.axes for part in parts):
            own = [_worth({m: v}, values) for m, v in form.items() if name in dict(m)]
            if any(np.any(one[:-1] != 0) for one in own):
                return None
            found.append(sum(one[-1, -1] for one in own))
        beside = {m: v for m, v in self.beside.items() if name in dict(m)}
        each = [len(parts) for parts in self.axes]
        starts = [sum(each[:j]) for j in range(len(each))]
        alike = all(len({found[s + k] for k in range(c)}) == 1 for s, c in zip(starts, each, strict=True))
        return sum(found[s] for s in starts) + _worth(beside, values) if alike else None


def _worth(terms: Terms, values: Mapping[str, Any]) -> Any:
    total: Any = 0
    for monomial, coefficient in terms.items():
        factor: Any = 1
        for name, power in monomial:
            factor = factor * _as_number(values[name], coefficient) ** power
        total = total + coefficient * factor
    return total


def _as_number(value: Any, like: Any) -> Any:
    """A number that goes with a coefficient, or with the entries of one."""
    in_floats = like.dtype != object if isinstance(like, np.ndarray) else isinstance(like, float)
    return float(value) if in_floats else to_element(Fraction(value))


def least_of(form: Any, where: Box) -> Any:
    """The infimum of a form; None for minus infinity."""
    if where == EVERYWHERE:
        return _least_in_floats(form) if form.dtype != object else _least(form.tolist())
    ends = [(None if s is None else to_element(s), None if e is None else to_element(e)) for s, e in where]
    rows = form.tolist()
    return _on_interval(rows, *ends[0]) if len(ends) == 1 else _on_rectangle(rows, *ends)


def _on_interval(rows: list[list[Any]], start: Any, end: Any) -> Any:
    (a, b), (_, rest) = rows
    if (start is None or end is None) and (a < 0 or (a == 0 and (b > 0 if start is None else b < 0))):
        return None
    if (start is None and end is None) and a == 0 and b != 0:
        return None
    places = [x for x in (start, end) if x is not None]
    if a > 0 and (start is None or start < -b / a) and (end is None or -b / a < end):
        places.append(-b / a)
    return min(((a * x + 2 * b) * x + rest for x in places), default=rest)


def _on_rectangle(rows: list[list[Any]], x: Any, y: Any) -> Any:
    """Over the first unknown for each value of the second, and then over that: at an end, or where it is stationary."""
    (a, h, p), (_, b, q), (_, _, c) = rows
    for end, sign in zip(x, (-1, 1), strict=True):  # to where it may go without an end it must not fall
        if end is None and (a < 0 or (a == 0 and _on_interval([[0 * a, sign * h / 2], [0, sign * p]], *y) is None)):
            return None
        if end is None and a == 0 and _on_interval([[0 * a, sign * h / 2], [0, sign * p]], *y) < 0:
            return None
    still = [t for t in x if t is not None] or ([0 * a] if a == 0 else [])
    found = [_on_interval([[b, h * t + q], [0, (a * t + 2 * p) * t + c]], *y) for t in still]
    if a > 0:
        # stationary at t = -(p + h*y)/a, for the y for which that lies between the ends
        between: Any = y
        if h == 0:
            inside = all(t is None or sign * (-p / a - t) >= 0 for t, sign in zip(x, (1, -1), strict=True))
            between = y if inside else None
        else:
            ends = [None if t is None else -(p + a * t) / h for t in x]
            low, high = ends if h < 0 else ends[::-1]
            low, high = _later(low, y[0], max), _later(high, y[1], min)
            between = None if low is not None and high is not None and low > high else (low, high)
        if between is not None:
            found.append(_on_interval([[b - h * h / a, q - h * p / a], [0, c - p * p / a]], *between))
    return None if None in found else min(found)


def _later(one: Any, two: Any, pick: Any) -> Any:
    """The end of an intersection."""
    return two if one is None else one if two is None else pick(one, two)


def _least(rows: list[list[Any]]) -> Any:
    for k in range(len(rows) - 1):
        pivot, rest = rows[k][k], [i for i in range(k + 1, len(rows)) if rows[k][i] != 0]
        if pivot < 0 or (pivot == 0 and rest):
            return None
        for i in rest:
            ratio = rows[k][i] / pivot
            for j in rest:
                if j >= i:
                    rows[i][j] = rows[i][j] - ratio * rows[k][j]
    return rows[-1][-1]


def _least_in_floats(form: Any) -> Any:
    """Up to rounding."""
    values, vectors = np.linalg.eigh(form[:-1, :-1])
    floor = rounding_floor(form)
    slopes, kept = vectors.T @ form[:-1, -1], values > floor
    if np.any(values < -floor) or np.any(np.abs(slopes[~kept]) > 1e-10 * max(1e-300, float(np.max(np.abs(form))))):
        return None
    return float(form[-1, -1] - (slopes[kept] ** 2 / values[kept]).sum())
