"""Piecewise quadratics of one variable in the search in batches: sums of hinges, so that no comparison is needed.

Around a point c, phi(y) = f(c + y) has phi'(y) = s_0 y - b + sum_j (s_j - s_{j-1}) h(y; t_j), with knots t_1 <= ... <=
t_m, slopes s_0, ..., s_m and h(y; t) = max(y - t, 0) - max(-t, 0), which is max(y - max(t, 0), 0) - min(max(-y, 0),
max(-t, 0)): so nothing cancels near c. It is one straight-line program wherever its points lie, and so a population
goes from one stretch to another; only minimisers that are not known, and means of several functions in a prox, hang on
an order, which is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from theory.arithmetic import to_element
from theory.operations import operations, rational_type
from validate.batch.recorded import Array, Recorded, UntracedError
from validate.instances.pieces import Piecewise
from validate.instances.problems import Minimisers, Vector
from validate.instances.ridge_functions import RidgeFunction
from validate.instances.scalars import LONGEST_RATIONAL

SLACK = 1e-12


def shares(which: Array, function: str) -> Array:
    """Of each function that a name stands for, how much of each of the different ones is in it, (functions, F).

    Args:
        which: (N, n), of each sample, which of the different functions it is.
        function: ``f``, ``f_n`` or ``f_ni``.
    """
    return _shares(which.tobytes(), which.shape, function)


@lru_cache(maxsize=1000)
def _shares(which: bytes, shape: tuple[int, ...], function: str) -> Array:
    places = np.frombuffer(which, int).reshape(shape)
    one = np.eye(places.max() + 1)[places]
    if function == "f":
        return np.asarray(one.mean(axis=(0, 1))[None])
    if function == "f_n":
        return np.unique(one.mean(axis=1), axis=0)
    return np.eye(places.max() + 1)


# --- with numbers that record ---------------------------------------------------------------------------------------


class Hinged:
    """A problem (`validate.instances.problems.Problem`) of functions whose numbers record.

    Args:
        knots: (F, m), of the different functions, from the centre.
        slopes: (F, m + 1).
        linear: (F,), minus their derivatives at the centre.
        which: (N, n), of each sample, which of them it is.
        centre: where the origin of all this is, along the first coordinate.
        least: whether it is the minimiser of f.
        dim: d, as of `embedded`.
    """

    def __init__(
        self, knots: Array, slopes: Array, linear: Array, which: Array, centre: Any, least: bool, dim: int = 1
    ) -> None:
        self.knots, self.slopes, self.linear, self.which = knots, slopes, linear, which
        self.centre, self.least, self.dim = centre, least, dim
        self.clients = len(which)
        self._max, self._min = (operations(LONGEST_RATIONAL, False)[name] for name in ("max", "min"))

    def samples(self, n: int) -> int:
        """n."""
        return int(self.which.shape[1])

    def _parts(self, which: tuple[int, ...]) -> list[tuple[Any, int]]:
        """The different functions in a mean, each with its share."""
        own = self.which[which].ravel() if which else self.which.ravel()
        kinds, counts = np.unique(own, return_counts=True)
        return [(rational_type()(int(c), len(own)), int(k)) for k, c in zip(kinds, counts, strict=True)]

    def _above(self, y: Any) -> Any:
        return self._max(y, rational_type()(0))

    def _jumps(self, f: int) -> list[tuple[Any, Any]]:
        slopes = self.slopes[f]
        return [(t, two - one) for t, one, two in zip(self.knots[f], slopes, slopes[1:], strict=False)]

    def _linear(self, which: tuple[int, ...]) -> Any:
        """Minus the derivative at the centre, which is 0 where f is least."""
        parts: list[tuple[Any, int]] = self._parts(which)
        if self.least and parts == self._parts(()):
            return rational_type()(0)
        return sum((share * self.linear[f] for share, f in parts), rational_type()(0))

    def _steep(self, y: Any, which: tuple[int, ...]) -> Any:
        """The derivative at a point, from the centre."""
        total = 0 - self._linear(which)
        for share, f in self._parts(which):
            own = self.slopes[f][0] * y
            for t, jump in self._jumps(f):
                own = own + jump * (self._above(y - self._above(t)) - self._min(self._above(-y), self._above(-t)))
            total = total + share * own
        return total

    def value(self, v: Vector, *which: int) -> Any:
        """The function's value, that at the centre being 0."""
        y, half = v[0] - self.centre, rational_type()(1, 2)
        total = 0 - self._linear(which) * y
        for share, f in self._parts(which):
            own = self.slopes[f][0] * y * y * half
            for t, jump in self._jumps(f):
                over, back = self._above(y - self._above(t)), self._above(-y)
                part = self._min(back, self._above(-t))
                own = own + jump * (over * over * half + part * (back - part * half))
            total = total + share * own
        for x in v[1:]:
            total = total + self._aside(which) * x * x * half
        return total

    def _aside(self, which: tuple[int, ...]) -> Any:
        """The curvature in the other coordinates."""
        return sum((share * self.slopes[f][-1] for share, f in self._parts(which)), rational_type()(0))

    def gradient(self, v: Vector, *which: int) -> Vector:
        return (self._steep(v[0] - self.centre, which), *(self._aside(which) * x for x in v[1:]))

    def _turns(self, which: tuple[int, ...], more: Any) -> tuple[list[Any], list[Any]]:
        """Knots in their order, as recorded, and the slopes between them, more of it being added."""
        parts = self._parts(which)
        turns = [(t, share * jump) for share, f in parts for t, jump in self._jumps(f)]
        if len(parts) > 1:
            turns.sort(key=lambda turn: turn[0])
        slopes = [sum((share * self.slopes[f][0] for share, f in parts), more)]
        for _, jump in turns:
            slopes.append(slopes[-1] + jump)
        return [t for t, _ in turns], slopes

    def prox(self, v: Vector, t: Any, n: int) -> Vector:
        """u with f_n'(u) + u/t = v/t: the inverse of a function of positive slopes is a sum of hinges, too."""
        inverse = 1 / t
        knots, slopes = self._turns((n,), inverse)
        if not all(slope > 0 for slope in slopes):
            raise UntracedError("a prox that is not unique")
        target = (v[0] - self.centre) * inverse
        there = [self._steep(knot, (n,)) + knot * inverse for knot in knots]
        found = knots[0] + (target - there[0]) / slopes[0]
        for value, one, two in zip(there, slopes, slopes[1:], strict=False):
            found = found + (1 / two - 1 / one) * self._above(target - value)
        return (found + self.centre, *(x * inverse / (self._aside((n,)) + inverse) for x in v[1:]))

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """The centre, or the minimiser of a client's function in the stretch where it is."""
        aside = (rational_type()(0),) * (self.dim - 1)
        if self.least and not isinstance(self._linear(which), Recorded):
            return Minimisers(((self.centre, *aside),), True)
        knots, slopes = self._turns(which, rational_type()(0))
        place = next((j for j, t in enumerate(knots) if self._steep(t, which) >= 0), len(knots))
        if not slopes[place] > 0:
            raise UntracedError("a function has no minimiser, or more than one")
        beside = knots[min(place, len(knots) - 1)]
        return Minimisers(((self.centre + beside - self._steep(beside, which) / slopes[place], *aside),), True)

    def infimum(self, *which: int) -> Any:
        """The value at the minimiser."""
        return self.value(self.minimisers((), *which).points[0], *which)

    def weighted(self, weights: Any) -> Hinged:
        """None that record."""
        raise UntracedError("the minimiser of a weighted sum is not recorded")


# --- in arrays ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Hinges:
    """Many problems, in floats.

    Attributes:
        knots: (B, F, m), from the centre.
        slopes: (B, F, m + 1).
        linear: (B, F), minus the derivatives at the centre.
        which: (N, n), as of `Hinged`.
        least: whether the centre is to be a minimiser of f.
    """

    knots: Array
    slopes: Array
    linear: Array
    which: Array
    least: bool
    _known: dict[str, tuple[Array, Array, Array]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.knots)

    @property
    def clients(self) -> int:
        """N."""
        return len(self.which)

    def alone(self, n: int) -> Hinges:
        """Those of client n alone, whose minimiser may be anywhere."""
        return replace(self, which=self.which[n : n + 1], least=False)

    @cached_property
    def at(self) -> Array:
        """(B, M), all knots in their order."""
        return np.sort(self.knots.reshape(len(self), -1), axis=1)

    @cached_property
    def _shown(self) -> tuple[Array, Array, Array]:
        """Of the different functions: slopes left of all knots and right of each, derivatives and values there."""
        at, t, jump = self.at[:, None, :, None], self.knots[:, :, None, :], np.diff(self.slopes)[:, :, None, :]
        first = self.slopes[:, :, :1]
        curved = first + (jump * (t <= at)).sum(axis=3)
        over, back = np.maximum(at - np.maximum(t, 0), 0), np.maximum(-at, 0)
        part = np.minimum(back, np.maximum(-t, 0))
        y, b = self.at[:, None], self.linear[:, :, None]
        steep = first * y - b + (jump * (over - part)).sum(axis=3)
        value = first * y**2 / 2 - b * y + (jump * (over**2 / 2 + part * (back - part / 2))).sum(axis=3)
        curved = np.concatenate([first, curved], axis=2)
        largest = np.abs(self.slopes).max(axis=(1, 2), keepdims=True)
        return np.where(np.abs(curved) <= SLACK * largest, 0.0, curved), steep, value

    def shown(self, function: str) -> tuple[Array, Array, Array]:
        """Of each function of a name: slopes, (B, g, M + 1); derivatives and values at knots, (B, g, M)."""
        if function not in self._known:
            self._known[function] = self.combined(shares(self.which, function))
        return self._known[function]

    def combined(self, share: Array) -> tuple[Array, Array, Array]:
        """As `shown`, of functions of which it is told how much of each of the different ones is in them, (g, F)."""
        curved, steep, value = (np.einsum("gf,bfm->bgm", share, one) for one in self._shown)
        curved[np.abs(curved) <= SLACK * np.abs(self.slopes).max(axis=(1, 2), keepdims=True)] = 0.0
        return curved, steep, value

    @cached_property
    def true(self) -> Array:
        """(B,), where knots are in their order and the centre is where it is to be."""
        found = (np.diff(self.knots) >= 0).all(axis=(1, 2))
        if self.least:
            infimum, _, _, bounded = self.lowest("f")
            largest = np.abs(self.slopes).max(axis=(1, 2)) * np.abs(self.at).max(axis=1) ** 2
            found &= bounded[:, 0] & (infimum[:, 0] >= -SLACK * largest)
        return np.asarray(found)

    def lowest(self, function: str) -> tuple[Array, Array, Array, Array]:
        """Of each function its infimum, (B, g), the values at stationary points between knots and whether these are
        minima, (B, g, M + 1), and whether it is bounded below."""
        curved, steep, value = self.shown(function)
        # of each stretch the knot at its side: the first one's is the right one, of the others the left one
        beside, there = np.concatenate([steep[..., :1], steep], -1), np.concatenate([value[..., :1], value], -1)
        width = np.concatenate([np.diff(self.at), np.full((len(self), 1), np.inf)], axis=1)[:, None]
        with np.errstate(all="ignore"):
            away = -beside / curved
            inside = np.concatenate([away[..., :1] < 0, (away[..., 1:] > 0) & (away[..., 1:] < width)], axis=-1)
            still = np.where(inside & (curved != 0), there - beside**2 / (2 * curved), np.nan)
        infimum = np.fmin(value.min(axis=2), np.where(np.isnan(still), np.inf, still).min(axis=2))
        left = (curved[..., 0] > 0) | ((curved[..., 0] == 0) & (steep[..., 0] <= 0))
        right = (curved[..., -1] > 0) | ((curved[..., -1] == 0) & (steep[..., -1] >= 0))
        return infimum, still, curved, left & right


def recorded_problem(
    knots: Array, slopes: Array, linear: Array, which: Array, centre: Any, least: bool, dim: int
) -> Hinged:
    """`Hinged`, with known numbers as FLINT's rationals."""
    lifted = np.vectorize(_element, otypes=[object])
    return Hinged(lifted(knots), lifted(slopes), lifted(linear), which, _element(centre), least, dim)


def _element(number: Any) -> Any:
    return number if isinstance(number, Recorded | rational_type()) else to_element(number)


def embedded(f: Piecewise, dim: int) -> Piecewise | RidgeFunction:
    """f of the first coordinate, and of each other one the quadratic that f is far to the right, least at 0."""
    if dim == 1:
        return f
    aside = Piecewise((), f.slopes[-1:])
    axes = [tuple(Fraction(int(i == j)) for j in range(dim)) for i in range(dim)]
    return RidgeFunction(tuple((a, aside if i else f) for i, a in enumerate(axes)), (Fraction(0),) * dim)


def line_of(f: Piecewise | RidgeFunction) -> Piecewise:
    """What was embedded.

    Raises:
        ValueError: where it is another function of several variables.
    """
    if isinstance(f, Piecewise):
        return f
    one = f.along(tuple(Fraction(int(not j)) for j in range(f.dim)))
    if embedded(one, f.dim) != f:
        raise ValueError("the function is none of the first coordinate")
    return one


def kinds_of(functions: Sequence[Sequence[Any]]) -> Array:
    """(N, n), which of the different functions each sample is, in the order in which they occur.

    Raises:
        ValueError: where clients have different numbers of samples.
    """
    if len({len(own) for own in functions}) > 1:
        raise ValueError("clients have different numbers of samples")
    order: dict[Any, int] = {}
    return np.array([[order.setdefault(f, len(order)) for f in own] for own in functions])
