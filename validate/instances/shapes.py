"""Quadratic problems that satisfy a claim's assumptions by construction, made from the claim.

What a claim assumes of its functions says which Hessians are allowed (`Shape`); everything else is varied: dimension,
clients, samples, condition number, how far clients and samples disagree. All entries are short fractions, and
eigenvalues are squares, so that roots of constants stay rational.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from sim.problems import Quadratic
from theory import predicates as p
from theory.for_every import ForEvery
from theory.predicates import Predicate
from theory.program import work
from theory.sentence import index_of, text_of
from validate import satisfied

Level = Literal["any", "f", "f_n", "f_ni"]
LEVELS: tuple[Level, ...] = ("any", "f", "f_n", "f_ni")
F = Fraction
UNIT = F(1)
CURVATURES = (F(1), F(1, 4), F(4), F(1, 9), F(9, 4), F(1, 25), F(1, 100), F(4, 9))
EXTREMES = (F(1, 10_000), F(1, 900), F(1, 2500), F(100), F(400))
DISTANCES = (F(1), F(-1), F(1, 2), F(3), F(-2), F(0), F(10), F(1, 10), F(-1, 3))
OF_THEIR_OWN, LEAN = 0.5, 0.4
"""How often each client's Hessians have axes of their own, as those that share them commute; and how often, of these,
they are curved along one only, as the square of one sample's error is."""
ENTRIES = (F(1), F(-1), F(11, 10), F(0), F(1, 2), F(-2))
"""Of such a sample's row."""
# rational rotations of the plane (Pythagorean triples), as cosine and sine
ROTATIONS = ((F(3, 5), F(4, 5)), (F(5, 13), F(12, 13)), (F(1), F(0)), (F(0), F(1)), (F(8, 17), F(15, 17)))
MOST_TURNED, FEW_TURNED = 32, 8
"""Coordinates up to which all are turned; turns where there are more."""
PER_OPERATION = 10
"""Entries of products of matrices that take as much as an operation (`theory.program.work`)."""


@dataclass(frozen=True)
class Shape:
    """What assumptions ask of the Hessians.

    Attributes:
        convex: the smallest functions that are convex (``f_ni``: every sample's, and so all).
        strongly: those that are strongly convex.
        alike_samples: whether all samples of a client have the same Hessian.
        alike_clients: whether all clients have the same Hessian.
        flat: whether there is no curvature at all.
        same_minimiser: whether all functions of some level have the minimiser of f.
        bounded: whether f is bounded below.
        even: the smallest functions that have one curvature in all directions, as their constants of smoothness and of
            strong convexity are one number; any where there are none.
    """

    convex: Level
    strongly: Level
    alike_samples: bool
    alike_clients: bool
    flat: bool
    same_minimiser: bool
    bounded: bool
    even: Level = "any"


def shape_of(predicates: Iterable[Predicate], needs_minimiser: bool) -> Shape:
    """What a claim's assumptions ask.

    Args:
        predicates: its assumptions.
        needs_minimiser: whether its sentence speaks of a minimiser or of the infimum.
    """
    found = list(predicates)

    def deepest(*kinds: type[Predicate]) -> Level:
        named = {one.function for one in found if isinstance(one, kinds)}
        return max((level for level in LEVELS if level in named), key=LEVELS.index, default="any")

    strongly = deepest(p.StronglyConvex)
    convex = max(deepest(p.Convex), strongly, key=LEVELS.index)
    bounded = needs_minimiser or any(isinstance(one, p.BoundedBelow | p.PolyakLojasiewicz) for one in found)
    same = any(isinstance(one, p.SameMinimiser) for one in found)
    if (bounded or same) and convex == "any":
        convex = "f_ni" if same else "f"
    asked = [what for one in found if isinstance(one, ForEvery) for what in asked_by(one)]
    return Shape(
        convex=convex,
        strongly=strongly,
        alike_samples="alike_samples" in asked or any(isinstance(one, p.BoundedVariance) for one in found),
        alike_clients="alike_clients" in asked or any(isinstance(one, p.Dissimilar) and one.spread for one in found),
        flat="flat" in asked
        or any(isinstance(one, p.Lipschitz | p.BoundedGradients) and len(one.constants) == 1 for one in found),
        same_minimiser=same or "same_minimiser" in asked,
        bounded=bounded,
        even=_even(found),
    )


@lru_cache(256)
def asked_by(one: ForEvery) -> tuple[str, ...]:
    """What `Shape` has to say for a sentence for every point to be true with some constants: tried on a small problem.

    The first of these that does; nothing where none does.
    """
    for what in PROBED:
        hessians = np.array([[[[F(h)]] for h in own] for own in ((2, 5), (3, 8))], dtype=object)
        points = np.array([[[F(1)], [F(3)]], [[F(-2)], [F(4)]]], dtype=object)
        if "alike_samples" in what:
            hessians[:] = hessians[:, :1]
        if "alike_clients" in what:
            hessians[:] = hessians[:1]
        if "flat" in what:
            hessians[:] = F(0)
        if "same_minimiser" in what:
            points[:] = F(1)
        linear = points.copy() if "flat" in what else hessians[..., 0] * points
        problem = Quadratic(hessians, linear, np.full((2, 2), F(0), dtype=object), np.array([2, 2]))
        numbers = {index_of(text_of(c)): F(1) for c in one.constants if text_of(c) not in one.binds}
        known = {name: [value / 2] * 2 if index else value for (name, index), value in numbers.items()}
        if satisfied.best(one, problem, known) is not None:
            return what
    return ()


PROBED = (
    (),
    ("alike_samples",),
    ("alike_clients",),
    ("same_minimiser",),
    ("alike_samples", "alike_clients"),
    ("alike_samples", "alike_clients", "same_minimiser"),
    ("flat",),
)


def _even(predicates: Iterable[Predicate]) -> Level:
    """The functions between whose curvatures there is no room: a constant bounds them from both sides."""
    above, below = (
        [(constant, one.function) for one in predicates if isinstance(one, kinds) for constant in one.constants]
        for kinds in (p.Smooth, p.StronglyConvex | p.PolyakLojasiewicz)
    )
    tied = {
        level
        for constant, function in above
        for other, less in below
        if constant == other
        for level in (function, less)
    }
    return max((level for level in LEVELS if level in tied), key=LEVELS.index, default="any")


@dataclass(frozen=True)
class Size:
    """Clients, samples of each, dimensions."""

    clients: int
    samples: int
    dim: int


def made(
    shape: Shape, size: Size, rng: random.Random, extreme: bool = False, even: float = 0.1, unit: Fraction = UNIT
) -> Quadratic:
    """A problem of that shape and size, in fractions.

    Args:
        shape: what its Hessians are to be.
        size: of the problem.
        rng: draws everything else.
        extreme: whether condition numbers go up to 10^4 and beyond.
        even: the probability that there is one curvature everywhere, with which many bounds are attained.
        unit: of curvature.
    """
    if size.dim > MOST_TURNED:
        work.count(size.clients * size.samples * size.dim**3 // PER_OPERATION)
    axes = rotation(size.dim, rng)
    curvatures = tuple(unit * value for value in ((*CURVATURES, *EXTREMES) if extreme else CURVATURES))
    if shape.even != "any" or (even and rng.random() < even and not shape.flat):
        hessians = np.full((size.clients, size.samples, size.dim, size.dim), F(0), dtype=object)
        hessians += rng.choice(curvatures) * _identity(size.dim)
        _spread_smaller(shape, hessians, rng, axes)
    else:
        hessians = _hessians(shape, size, rng, axes, curvatures)
    linear = _linear(shape, size, rng, hessians)
    counts = np.full(size.clients, size.samples)
    zero = np.full((size.clients, size.samples), F(0), dtype=object)
    return Quadratic(hessians, linear, zero, counts)


def rotation(dim: int, rng: random.Random) -> Any:
    """A rational orthogonal matrix, (d, d)."""
    return _identity(dim) if dim == 1 or rng.random() < 0.4 else turned_axes(dim, rng)


def turned_axes(dim: int, rng: random.Random) -> Any:
    """A product of rotations of two coordinates each; of a few where there are many, as fractions grow with each."""
    matrix = _identity(dim)
    for first in range(dim - 1 if dim <= MOST_TURNED else FEW_TURNED):
        c, s = rng.choice(ROTATIONS)
        one, two = matrix[:, first].copy(), matrix[:, first + 1].copy()
        matrix[:, first], matrix[:, first + 1] = c * one + s * two, c * two - s * one
    return matrix


def _identity(dim: int) -> Any:
    return np.array([[F(int(i == j)) for j in range(dim)] for i in range(dim)], dtype=object)


def _matrix(values: Iterable[Fraction], rotation: Any) -> Any:
    return (rotation * np.array(list(values), dtype=object)) @ rotation.T


def _hessians(shape: Shape, size: Size, rng: random.Random, rotation: Any, curvatures: tuple[Fraction, ...]) -> Any:
    """(N, n, d, d)."""
    N, n, d = size.clients, size.samples, size.dim
    found = np.full((N, n, d, d), F(0), dtype=object)
    if shape.flat:
        return found
    floor = rng.choice(curvatures)
    one = _spectrum(d, rng, curvatures, floor if shape.strongly != "any" else None)
    alike = rng.random() < 0.3
    turned = d > 1 and not shape.alike_clients and rng.random() < OF_THEIR_OWN
    lean = turned and shape.strongly == "any" and rng.random() < LEAN
    aside = random.Random(f"{size}: {one}")  # so that all else is drawn as it would be without
    apart = turned and n > 1 and not shape.alike_samples and aside.random() < 0.5
    rows = _rows(N * n if apart else N, d, aside if apart else rng) if lean else None
    for client in range(N):
        fresh = _spectrum(d, rng, curvatures, floor if shape.strongly != "any" else None)
        own = turned_axes(d, rng) if turned else rotation
        spectrum = one if shape.alike_clients or alike else fresh
        for sample in range(n):
            if rows is None:
                found[client, sample] = _matrix(spectrum, own)
            else:
                row = rows[client * n + sample if apart else client]
                found[client, sample] = max(spectrum) * np.outer(row, row) / (row @ row)
        if n > 1 and rows is None and not shape.alike_samples and rng.random() < 0.7:
            across = turned_axes(d, aside) if apart else None
            _spread(found[client], shape.convex == "f_ni", shape.strongly == "f_ni", floor, rng, own, across)
    if N > 1 and not shape.alike_clients and shape.convex in ("any", "f") and rng.random() < 0.6:
        # clients that are not convex: what one has more another has less
        away = _matrix([rng.choice((F(0), F(1, 2), F(2), F(5))) for _ in range(d)], rotation)
        found[0] = found[0] + away
        found[1] = found[1] - away
    if shape.convex == "any" and rng.random() < 0.4:
        found = -found if rng.random() < 0.3 else found - _matrix([rng.choice((F(0), F(1), F(2)))] * d, rotation)
    return found


def _rows(N: int, d: int, rng: random.Random) -> list[Any]:
    """A sample's row for each client: at random, or each the one before, moved on by a place."""
    found = [np.array([rng.choice(ENTRIES) for _ in range(d)], dtype=object) for _ in range(N)]
    found = [row if any(row) else row + 1 for row in found]
    return [np.roll(found[0], n) for n in range(N)] if rng.random() < 0.5 else found


def _spectrum(d: int, rng: random.Random, curvatures: tuple[Fraction, ...], floor: Fraction | None) -> list[Fraction]:
    values = [rng.choice(curvatures) for _ in range(d)]
    if floor is None:
        return [value if rng.random() < 0.75 else F(0) for value in values]
    return [max(value, floor) for value in values]


def _spread(
    samples: Any, convex: bool, strongly: bool, floor: Fraction, rng: random.Random, rotation: Any, across: Any = None
) -> None:
    """Samples of a client with Hessians of their own, of the same mean; in place.

    Args:
        samples: (n, d, d), all the same.
        convex: whether each has to stay convex.
        strongly: whether each has to be curved as much as the floor.
        floor: least curvature.
        rng: decides.
        rotation: their axes.
        across: the axes along which they differ, if others.
    """
    n, d = samples.shape[0], samples.shape[1]
    diagonal = rotation.T @ samples[0] @ rotation
    share = rng.choice((F(1), F(1, 2), F(3, 4)))
    room = []
    for j in range(d):
        least = floor if strongly else F(0)
        limit = max(diagonal[j, j] - least, F(0)) if convex else rng.choice((F(1), F(3), diagonal[j, j]))
        room.append(share * limit)
    if across is not None:  # the least that there is room for anywhere
        room = [min(room) if j == 0 else F(0) for j in range(d)]
    away = _matrix(room, rotation if across is None else across)
    if rng.random() < 0.5:  # one sample has much, the others little
        samples[0] = samples[0] + (n - 1) * away
        for i in range(1, n):
            samples[i] = samples[i] - away
    else:
        samples[0] = samples[0] + away
        samples[1] = samples[1] - away


def _spread_smaller(shape: Shape, hessians: Any, rng: random.Random, rotation: Any) -> None:
    """Clients and samples below an even level differ, and their mean is even; in place."""
    N, n, d = hessians.shape[:3]
    if shape.even in ("any", "f_ni"):
        return
    away = _matrix((hessians[0, 0, 0, 0] * rng.choice((F(0), F(1, 2), F(3, 4))) for _ in range(d)), rotation)
    if shape.even == "f" and N > 1 and not shape.alike_clients:
        hessians[0] = hessians[0] + away
        hessians[1] = hessians[1] - away
    elif n > 1 and not shape.alike_samples:
        hessians[:, 0] = hessians[:, 0] + away
        hessians[:, 1] = hessians[:, 1] - away


def _linear(shape: Shape, size: Size, rng: random.Random, hessians: Any) -> Any:
    """(N, n, d)."""
    N, n, d = size.clients, size.samples, size.dim
    found = np.full((N, n, d), F(0), dtype=object)
    common = np.array([rng.choice(DISTANCES) for _ in range(d)], dtype=object)
    flavour = "same" if shape.same_minimiser else rng.choice(("same", "clients", "samples", "both", "both"))
    scale = rng.choice((F(1), F(1), F(1, 10), F(10)))
    for client in range(N):
        # minimisers of their own where there is curvature, and any linear term where a function may be unbounded
        own = np.array([rng.choice(DISTANCES) * scale for _ in range(d)], dtype=object)
        point = own if flavour in ("clients", "both") else common
        for sample in range(n):
            at = point
            if flavour in ("samples", "both") and n > 1:
                at = point + np.array([rng.choice(DISTANCES) for _ in range(d)], dtype=object)
            found[client, sample] = hessians[client, sample] @ at
            if shape.flat or (not shape.bounded and rng.random() < 0.2):
                found[client, sample] = found[client, sample] + own + (at - point)
    if shape.alike_samples and n > 1 and flavour in ("samples", "both"):
        away = np.array([rng.choice(DISTANCES) for _ in range(d)], dtype=object)
        for client in range(N):
            found[client, 0] = found[client, 0] + away
            found[client, 1] = found[client, 1] - away
    return found


SIZES = (
    Size(1, 1, 1), Size(1, 2, 1), Size(2, 1, 1), Size(2, 2, 1), Size(3, 1, 1), Size(1, 1, 2), Size(2, 1, 2),
    Size(3, 2, 2), Size(4, 1, 1), Size(1, 3, 1), Size(2, 2, 2), Size(3, 1, 3), Size(5, 1, 2), Size(1, 3, 3),
    Size(1, 1, 3), Size(4, 2, 1), Size(6, 2, 1), Size(8, 1, 1),
)  # fmt: skip
LARGE = (
    Size(1, 20, 1),
    Size(2, 12, 1),
    Size(1, 50, 1),
    Size(20, 1, 2),
    Size(100, 2, 1),
    Size(10, 5, 3),
    Size(1, 50, 2),
    Size(1000, 1, 1),
    Size(300, 1, 1),
    Size(20, 2, 1),
    Size(40, 2, 1),
)
