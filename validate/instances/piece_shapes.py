"""Problems of piecewise quadratics that satisfy a claim's assumptions by construction, made from the claim.

As `shapes`, in one dimension: what is asked of Hessians is asked of the slopes of derivatives. These are often the
extreme ones in turn, where worst cases of smooth and strongly convex functions are; knots lie around the minimiser.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction

from theory.claim import Claim
from theory.predicates import Convex, PolyakLojasiewicz, Predicate, Quadratic, StronglyConvex
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.shapes import DISTANCES, UNIT, Shape, Size

F = Fraction
STEEPEST = (F(1), F(4), F(1, 4), F(25), F(9, 4), F(100))
RATIOS = (F(1, 25), F(1, 4), F(1, 9), F(1, 100), F(1, 16), F(4, 9))
EXTREME_RATIOS = (F(1, 900), F(1, 2500), F(1, 10_000))
BETWEEN = (F(1, 4), F(1, 9), F(4, 9), F(9, 16))
OFFSETS = (F(-1), F(1), F(0), F(1, 2), F(-1, 2), F(-2), F(2), F(-3))
GAPS = (F(1), F(1), F(1, 2), F(2), F(1, 3), F(3))
Outer = tuple[Fraction, Fraction]
"""The slopes of a derivative far to the left and far to the right."""


def allows_pieces(claim: Claim) -> bool:
    """Whether a claim may speak of functions that are no quadratics."""
    return not any(isinstance(one, Quadratic) for one in claim.predicates)


def assumes_convex(predicates: Iterable[Predicate]) -> bool:
    """Whether assumptions say that f is convex."""
    return any(isinstance(one, Convex | StronglyConvex) for one in predicates)


def made_pieces(
    shape: Shape, size: Size, rng: random.Random, extreme: bool = False, convex: bool = True, unit: Fraction = UNIT
) -> Pieces:
    """A problem of that shape and size, in one dimension.

    Args:
        shape: what its slopes are to be; ``flat`` here asks for bounded derivatives.
        size: of the problem, with d = 1.
        rng: draws everything else.
        extreme: whether condition numbers go up to 10^4.
        convex: whether f is to be convex where the shape asks for a bounded f: quadratics have to be, pieces have not.
        unit: of curvature.
    """
    maker = _Maker(shape, size, rng, extreme, convex or shape.same_minimiser)
    made = Pieces(maker.made())
    if shape.bounded and made.mean.least is None:  # it goes down far away: where it bends down, and not up before
        maker.wavy = False
        made = Pieces(maker.made())
    if unit == UNIT:
        return made
    return Pieces(tuple(tuple(_times(one, unit) for one in own) for own in made.functions))


def _times(one: Piecewise, factor: Fraction) -> Piecewise:
    return Piecewise(one.knots, tuple(factor * slope for slope in one.slopes), factor * one.b, factor * one.c)


def may_bend(shape: Shape, predicates: Iterable[Predicate]) -> bool:
    """Whether functions need not be convex, nor have bounded derivatives or a common minimiser."""
    found = tuple(predicates)
    tame = any(isinstance(one, PolyakLojasiewicz) for one in found)
    return not (assumes_convex(found) or tame or shape.flat or shape.same_minimiser)


def wells(size: Size, rng: random.Random) -> Pieces:
    """Every function is convex far away, and as concave around a point: runs leave it slowly and end up steep."""
    most = rng.choice(STEEPEST)
    width, centre = rng.choice(GAPS), rng.choice(DISTANCES)
    one = Piecewise((-width, width), (most, -most, most)).still_at(F(0))
    functions = [[_moved(one, centre) for _ in range(size.samples)] for _ in range(size.clients)]
    if size.clients > 1 and rng.random() < 0.5:  # clients pull to both sides
        tilt = Piecewise((), (F(0),), rng.choice(DISTANCES) * width)
        functions[0] = [f.plus(tilt) for f in functions[0]]
        functions[1] = [f.plus(tilt, F(-1)) for f in functions[1]]
    return Pieces(tuple(map(tuple, functions)))


def _moved(f: Piecewise, by: Fraction) -> Piecewise:
    return Piecewise(tuple(t + by for t in f.knots), f.slopes).still_at(by)


class _Maker:
    """One problem: the range of its slopes is drawn first."""

    def __init__(self, shape: Shape, size: Size, rng: random.Random, extreme: bool, convex: bool) -> None:
        self.shape, self.size, self.rng = shape, size, rng
        self.wavy = not convex and rng.random() < 0.7
        self.most = rng.choice(STEEPEST)
        self.least = self.most * rng.choice((*RATIOS, *EXTREME_RATIOS) if extreme else RATIOS)
        if shape.strongly == "any" and rng.random() < 0.5:
            self.least = F(0)
        self.scale = rng.choice((F(1), F(1), F(1, 10), F(10)))

    def made(self) -> tuple[tuple[Piecewise, ...], ...]:
        shape, size, rng = self.shape, self.size, self.rng
        N, n = size.clients, size.samples
        flavour = "same" if shape.same_minimiser else rng.choice(("same", "clients", "samples", "both", "both"))
        common, alike = rng.choice(DISTANCES), rng.random() < 0.3
        outer = self._outer()
        one = self._drawn(outer)
        found: list[list[Piecewise]] = []
        for _ in range(N):
            if not shape.alike_clients:
                outer = self._outer()
            own = one if alike else self._drawn(outer)
            point = rng.choice(DISTANCES) * self.scale if flavour in ("clients", "both") else common
            found.append([])
            for _ in range(n):
                at = point + (rng.choice(DISTANCES) if flavour in ("samples", "both") and n > 1 else 0)
                varied = n > 1 and not alike and rng.random() < 0.6
                free = not (shape.alike_samples or shape.alike_clients)
                f = self._drawn(self._outer() if free else outer) if varied else own
                found[-1].append(_around(f, at))
        self._bend(found)
        return tuple(map(tuple, found))

    def _bend(self, found: list[list[Piecewise]]) -> None:
        """What one function has more another has less, where not each of them is to be convex; in place."""
        shape, rng = self.shape, self.rng
        if len(found[0]) > 1 and shape.convex != "f_ni" and rng.random() < 0.6:
            for own in found:
                away = self._away(shape.alike_samples)
                own[0], own[1] = own[0].plus(away), own[1].plus(away, F(-1))
        if len(found) > 1 and shape.convex in ("any", "f") and rng.random() < 0.6:
            away = self._away(shape.alike_clients)
            found[0] = [f.plus(away) for f in found[0]]
            found[1] = [f.plus(away, F(-1)) for f in found[1]]
        if shape.convex == "any" and rng.random() < 0.4:
            away = self._away(False)
            for own in found:
                own[:] = [f.plus(away, F(-1)) for f in own]
        if not shape.bounded and not shape.same_minimiser and rng.random() < 0.2:
            tilt = Piecewise((), (F(0),), rng.choice(DISTANCES))
            for own in found[: rng.choice((1, len(found)))]:
                own[:] = [f.plus(tilt) for f in own]

    def _away(self, alike: bool) -> Piecewise:
        """A convex function; without slopes far away where these are to stay."""
        return _around(
            self._drawn((F(0), F(0)) if alike or self.shape.flat else self._outer()), self.rng.choice(DISTANCES)
        )

    def _outer(self) -> Outer:
        if self.shape.flat:
            return F(0), F(0)
        one = self._slope()
        if self.rng.random() < 0.3:
            return (self.most, self.least) if one == self.most else (self.least, self.most)
        return one, one if self.rng.random() < 0.5 else self._slope()

    def _slope(self) -> Fraction:
        kind = self.rng.random()
        if kind < 0.8:
            return self.most if kind < 0.4 else self.least
        return max(self.least, self.most * self.rng.choice(BETWEEN))

    def _drawn(self, outer: Outer) -> Piecewise:
        """A function with knots around 0 and these slopes far away, convex where that is asked for."""
        rng = self.rng
        between = rng.choice((0, 1, 1, 2))
        if outer == (0, 0) and between == 0:
            between = 1
        slopes = [outer[0], *(self._slope() for _ in range(between)), outer[1]]
        if rng.random() < 0.5:  # the extreme slopes in turn
            first = slopes[0] == self.most
            slopes[1:-1] = [self.least if first == (j % 2 == 0) else self.most for j in range(between)]
        if self.wavy:  # f goes down again, or its growth slows down, and it is bounded below all the same
            for j in range(1, between + 1):
                if rng.random() < 0.6:
                    slopes[j] = -slopes[j] * rng.choice((F(1), F(1), F(1, 4), F(1, 9)))
        knots = [rng.choice(OFFSETS)]
        for _ in range(between):
            knots.append(knots[-1] + rng.choice(GAPS))
        return Piecewise(tuple(knots), tuple(slopes))


def _around(f: Piecewise, centre: Fraction) -> Piecewise:
    """The function moved so that its knots lie around a point, and stationary there; where f is flat there, near it."""
    moved = Piecewise(tuple(t + centre for t in f.knots), f.slopes)
    slope = next(s for (s, _, _), (_, end) in moved.stretches() if end is None or centre < end)
    if slope == 0:
        for (s, _, _), (start, end) in moved.stretches():
            if s != 0 and start is not None and end is not None:
                return moved.still_at((start + end) / 2)
    return moved.still_at(centre)
