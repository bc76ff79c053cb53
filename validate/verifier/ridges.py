"""Problems of sums of piecewise quadratics along directions, in fractions: f(x) = sum_j phi_j(<a_j, x>) - <b, x> + c.

All Hessians lie between the sum of a_j a_j' with the least slopes and that with the largest, in the order of symmetric
matrices: an assumption on curvature is shown by these two. Norms of gradients are largest at a corner of the box of the
derivatives of the phi_j. Where all directions are orthogonal, f is a sum of functions of one variable each, along axes
of a basis, and minima, proximal points and distances of gradients are taken along each. Elsewhere a convex function is
least where its gradient is 0, and such a point is found by solving for one piece after another. What none of this shows
is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from .pieces import MOST_KNOTS_IN_ALL, Piece, read_piece, read_shape
from .pieces import mean_of as mean_of_pieces
from .quadratics import (
    Problem,
    definiteness,
    read_samples,
    read_vector,
    semidefinite,
    solve,
)
from .reading import FormatError, Uncheckable, fields, list_of, number, shown, shown_vector
from .scalars import ONE, ZERO, Number, Vector, Work, divided, square

MOST_SHOWN = 10  # samples, and directions of one
MOST_SHOWN_ALONE = 20  # samples in one dimension
MOST_PIECES = 5_000  # through which a minimiser is looked for
MEANING = (
    "each sample is the sum of phi(<a, x>) over its directions a, less <b, x>, plus c; phi' is continuous, of the "
    "given slopes between the given knots, and phi and phi' are 0 at 0"
)

MEANING_ALONE = "of each sample, f' is continuous, of the given slopes between the given knots, f'(0) = -b and f(0) = c"

Exact = tuple[Fraction, ...]
LINE = (ONE,)
"""The direction of functions of one variable."""


class Ridge:
    """f(x) = sum_j phi_j(<a_j, x>) - <b, x> + c, with different directions."""

    def __init__(self, terms: Mapping[Exact, Piece], b: Exact, c: Fraction) -> None:
        self.terms, self.b, self.c, self.d = dict(terms), b, c, len(b)

    def numbers(self) -> list[Fraction]:
        """All that it is given by."""
        return [*self.b, self.c, *(x for a, phi in self.terms.items() for x in (*a, *phi.knots, *phi.slopes))]

    def what(self) -> Any:
        """What it is: functions of which it is equal are the same."""
        return frozenset((a, phi.knots, phi.slopes, phi.b, phi.c) for a, phi in self.terms.items()), self.b, self.c

    def gradient(self, v: Vector) -> Vector:
        """The gradient at v."""
        found: list[Number] = [-y for y in self.b]
        for a, phi in self.terms.items():
            (steep,) = phi.gradient((_dot(a, v),))
            found = [g + y * steep if y else g for g, y in zip(found, a, strict=True)]
        return tuple(found)

    def value(self, v: Vector) -> Number:
        """The value at v."""
        total = self.c - _dot(self.b, v)
        for a, phi in self.terms.items():
            total = total + phi.value((_dot(a, v),))
        return total

    def bounded_by(self, largest: bool, shift: Fraction = ZERO) -> list[list[Fraction]]:
        """The bound on Hessians from above or below, plus shift*identity."""
        return _hessian(
            [(a, max(phi.slopes) if largest else min(phi.slopes)) for a, phi in self.terms.items()], len(self.b), shift
        )

    @property
    def convex(self) -> bool:
        """Whether it is known to be."""
        return semidefinite(self.bounded_by(False))


def _dot(a: Exact, v: Vector) -> Number:
    total: Number = ZERO
    for y, x in zip(a, v, strict=True):
        if y:
            total = total + y * x
    return total


def _hessian(parts: Sequence[tuple[Exact, Fraction]], d: int, shift: Fraction) -> list[list[Fraction]]:
    total = [[shift if i == j else ZERO for j in range(d)] for i in range(d)]
    for a, slope in parts:
        for i, x in enumerate(a):
            for j, y in enumerate(a):
                total[i][j] += slope * x * y
    return total


def mean_of(functions: Sequence[Ridge], work: Work, factors: Sequence[Fraction] = ()) -> Ridge:
    """The mean of functions, each times a factor where some are given."""
    if len(functions) == 1 and not factors:
        return functions[0]
    scale = [q / len(functions) for q in factors or [ONE] * len(functions)]
    along: dict[Exact, list[Piece]] = {}
    for f, q in zip(functions, scale, strict=True):
        for a, phi in f.terms.items():
            along.setdefault(a, []).append(Piece(phi.knots, [q * s for s in phi.slopes], q * phi.b, q * phi.c))
    terms = {}
    for a, many in along.items():
        mean = mean_of_pieces(many, work)
        if any(mean.slopes):
            terms[a] = Piece(mean.knots, [len(many) * s for s in mean.slopes], len(many) * mean.b, len(many) * mean.c)
    b = tuple(
        sum((q * f.b[i] for f, q in zip(functions, scale, strict=True)), ZERO) for i in range(len(functions[0].b))
    )
    return Ridge(terms, b, sum((q * f.c for f, q in zip(functions, scale, strict=True)), ZERO))


def axes_of(functions: Sequence[Ridge]) -> list[Exact] | None:
    """An orthogonal basis that has all directions of functions; None where there is none."""
    axes = list(dict.fromkeys(a for f in functions for a in f.terms))
    if any(_dot(a, e) for i, a in enumerate(axes) for e in axes[:i]):
        return None
    d = len(functions[0].b)
    for i in range(d):
        rest = [Fraction(int(i == j)) for j in range(d)]
        for a in axes:
            rest = [x - a[i] / square(a) * y for x, y in zip(rest, a, strict=True)]
        if any(rest):
            axes.append(tuple(rest))
    return axes


def along(f: Ridge, a: Exact) -> Piece:
    """What f is along an axis, as a function of <a, x>, but for c."""
    phi = f.terms.get(a)
    linear = sum((x * y for x, y in zip(f.b, a, strict=True)), ZERO) / square(a)
    return Piece((), (ZERO,), linear, ZERO) if phi is None else Piece(phi.knots, phi.slopes, phi.b + linear, phi.c)


class Ridges(Problem):
    """A problem of such functions; as `Problem`."""

    def __init__(self, samples: list[list[Ridge]], d: int, work: Work) -> None:
        self.samples, self.N, self.d, self.work = samples, len(samples), d, work
        self.own = [mean_of(functions, work) for functions in samples]
        self.mean = mean_of(self.own, work)
        self._weighted: dict[tuple[Fraction, ...], Ridge] = {}
        self._least: dict[int, tuple[Exact, bool, Fraction] | None] = {}
        self._kept: list[Ridge] = []  # what is known by its id stays

    @property
    def bent(self) -> bool:
        """Whether a function has knots."""
        return any(phi.knots for own in self.samples for f in own for phi in f.terms.values())

    def weighted(self, weights: tuple[Fraction, ...]) -> Ridge:
        if weights not in self._weighted:
            self._weighted[weights] = mean_of(self.own, self.work, [self.N * q for q in weights])
        return self._weighted[weights]

    def least(self, function: Ridge) -> tuple[Exact, bool, Fraction] | None:
        """A minimiser, whether it is the only one, and the least value; None where f is unbounded below.

        Raises:
            Uncheckable: where none is known.
        """
        if id(function) not in self._least:
            self._kept.append(function)
            axes = axes_of([function])
            self._least[id(function)] = self._by_pieces(function) if axes is None else self._by_axes(function, axes)
        return self._least[id(function)]

    def _by_axes(self, f: Ridge, axes: Sequence[Exact]) -> tuple[Exact, bool, Fraction] | None:
        point, only, least = (ZERO,) * self.d, True, f.c
        for a in axes:
            line = along(f, a)
            self.work.spend(10 * len(line.slopes) + self.d)
            found = line.minima()
            if found is None:
                return None
            low, high = found[1][0]
            t = low if low is not None else high if high is not None else ZERO
            only = only and len(found[1]) == 1 and low is not None and low == high
            point = tuple(x + t / square(a) * y for x, y in zip(point, a, strict=True))
            least += found[0]
        return point, only, least

    def _by_pieces(self, f: Ridge) -> tuple[Exact, bool, Fraction]:
        """A point without gradient, of a convex function."""
        if not f.convex:
            raise Uncheckable("where a function is least that is not known to be convex")
        for point in self._solved(f, ZERO, (ZERO,) * self.d):
            if not any(f.gradient(point)):
                value = f.value(point)
                assert isinstance(value, Fraction)
                beside = [(a, min(_slopes_at(phi, _dot(a, point)))) for a, phi in f.terms.items()]
                return point, definiteness(_hessian(beside, self.d, ZERO)) == (True, self.d), value
        raise Uncheckable("where a function is least that has no minimiser, or a flat of them")

    def _solved(self, f: Ridge, shift: Fraction, right: Exact) -> Iterator[Exact]:
        """Of every piece, where its quadratic plus shift*norm2/2 - <right, x> has no gradient."""
        count = 1
        for phi in f.terms.values():
            count *= len(phi.slopes)
        if count > MOST_PIECES:
            raise Uncheckable("a minimiser of a function of too many pieces")
        directions = list(f.terms)
        for places in product(*(range(len(phi.slopes)) for phi in f.terms.values())):
            self.work.spend(4 * self.d**3 + len(places) * self.d**2)
            parts, linear = [], [x + y for x, y in zip(f.b, right, strict=True)]
            for a, phi, j in zip(directions, f.terms.values(), places, strict=True):
                at, _, steep = phi.places[j]
                parts.append((a, phi.slopes[j]))
                linear = [x - (steep - phi.slopes[j] * at) * y for x, y in zip(linear, a, strict=True)]
            point = solve(_hessian(parts, self.d, shift), linear)
            if point is not None:
                yield point

    def minimum(self, function: Any) -> tuple[Exact, bool] | None:
        found = self.least(function)
        return None if found is None else found[:2]

    def infimum(self, function: Any) -> Number:
        """The infimum of a function.

        Raises:
            Uncheckable: where it is unbounded below, or not known.
        """
        found = self.least(function)
        if found is None:
            raise Uncheckable("f is unbounded below, of which the claim does not speak")
        return found[2]

    def minimises(self, function: Any, point: Vector) -> bool:
        found = self.least(function)
        return found is not None and function.value(point) == found[2]

    def proximal(self, n: int, t: Number) -> Any:
        """1/t, which must make a positive definite matrix with the least slopes of f_n.

        Raises:
            Uncheckable: where it does not.
        """
        inverse, axes = divided(ONE, t), axes_of([self.own[n]])
        for a in axes or ():
            along(self.own[n], a).proximal(t * square(a))
        if axes is None:
            if not isinstance(inverse, Fraction):
                raise Uncheckable("a proximal point that is known in intervals only")
            if definiteness(self.own[n].bounded_by(False, inverse)) != (True, self.d):
                raise Uncheckable("a proximal point that does not exist, or is not the only one")
        return inverse

    def prox(self, n: int, v: Vector, t: Number) -> Vector:
        f, inverse = self.own[n], self.proximal(n, t)
        axes = axes_of([f])
        if axes is None:
            right = tuple(inverse * x for x in v if isinstance(x, Fraction))
            for point in self._solved(f, inverse, right) if len(right) == self.d else ():
                if all(g + inverse * (x - y) == 0 for g, x, y in zip(f.gradient(point), point, v, strict=True)):
                    return point
            raise Uncheckable("a proximal point that is not known")
        found: list[Number] = [ZERO] * self.d
        for a in axes:
            line = along(f, a)
            self.work.spend(2 * len(line.slopes))
            s = line.prox(_dot(a, v), t * square(a))
            found = [x + s * (y / square(a)) for x, y in zip(found, a, strict=True)]
        return tuple(found)


def _slopes_at(phi: Piece, t: Number) -> list[Fraction]:
    """The slopes on both sides of a point."""
    assert isinstance(t, Fraction)
    return [
        s
        for low, high, s in zip((None, *phi.knots), (*phi.knots, None), phi.slopes, strict=True)
        if (low is None or low <= t) and (high is None or t <= high)
    ]


# --- reading ----------------------------------------------------------------------------------------------------------


def read_ridges(data: Any, work: Work, alone: bool = False) -> Ridges:
    """``{"clients": [[{"ridges": [{"a", "knots", "slopes"}, ...], "b"} or with "c", ...], ...]}``.

    In one dimension, `alone`: ``{"knots", "slopes", "b"}``, with or without ``c``, or a quadratic ``{"H", "b"}``.
    """
    samples, count = read_samples(
        data,
        _read_alone if alone else _read,
        lambda f: sum(len(phi.knots) for phi in f.terms.values()),
        MOST_KNOTS_IN_ALL,
    )
    work.spend(5 * count)
    return Ridges(samples, samples[0][0].d, work)


def _read(data: Any, name: str, d: int) -> Ridge:
    fields(data, name, "ridges b", "c")
    b = read_vector(data["b"], f"b of {name}")
    terms: dict[Exact, Piece] = {}
    for ridge in list_of(data["ridges"], f"ridges of {name}"):
        fields(ridge, f"a ridge of {name}", "a knots slopes")
        a = read_vector(ridge["a"], f"a direction of {name}")
        if len(a) != len(b) or (d and len(b) != d):
            raise FormatError(f"{name} has directions or a linear term of other numbers of coordinates")
        if not any(a) or a in terms:
            raise FormatError(f"{name} has a direction that is 0, or is there twice")
        knots, slopes = read_shape(ridge, name)
        terms[a] = Piece(knots, slopes, ZERO, ZERO)
    if d and len(b) != d:
        raise FormatError(f"{name} has {len(b)} coordinates, not {d}")
    return Ridge(terms, b, number(data.get("c", 0), f"c of {name}"))


def _read_alone(data: Any, name: str, _: int) -> Ridge:
    f = read_piece(data, name)
    return Ridge({LINE: Piece(f.knots, f.slopes, ZERO, ZERO)}, (f.b,), f.c)


def described(problem: Ridges) -> Iterator[str]:
    """The functions, for the reader."""
    places = [(n, i, f) for n, own in enumerate(problem.samples) for i, f in enumerate(own)]
    alone = all(set(f.terms) == {LINE} for _, _, f in places)
    most = MOST_SHOWN_ALONE if alone else MOST_SHOWN
    yield MEANING_ALONE if alone else MEANING
    for n, i, f in places[:most]:
        turns = [
            (a, *(", ".join(map(shown, values)) for values in (phi.knots, phi.slopes)))
            for a, phi in list(f.terms.items())[:MOST_SHOWN]
        ]
        which = f"client {n + 1}, sample {i + 1}"
        if alone:
            ((_, knots, slopes),) = turns
            yield f"{which}: knots ({knots}), slopes ({slopes}), b = {shown(f.b[0])}, c = {shown(f.c)}"
            continue
        yield f"{which}: b = {shown_vector(f.b)}, c = {shown(f.c)}, {len(f.terms)} direction(s)"
        for a, knots, slopes in turns:
            yield f"a = {shown_vector(a)}: knots ({knots}), slopes ({slopes})"
    if len(places) > most:
        yield f"and {len(places) - most} more"
