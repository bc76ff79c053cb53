"""Problems of ridges that satisfy a claim's assumptions by construction, made from the claim.

Along each of some directions stands a problem of piecewise quadratics of the shape (`piece_shapes`). Orthogonal
directions of length 1 keep all that is asked of it, with the same constants. Sums along others stay smooth, convex,
strongly convex and of bounded gradients; what clients share, and what is the same for all, stays with common ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from theory.predicates import Dissimilar, PolyakLojasiewicz, Predicate, SameMinimiser
from validate.instances.piece_moves import moved_alone
from validate.instances.piece_shapes import made_pieces, wells
from validate.instances.ridge_functions import Exact, RidgeFunction, Term
from validate.instances.ridges import Ridges
from validate.instances.shapes import UNIT, Shape, Size, rotation

F = Fraction
SLANTED = (F(0), F(1), F(1), F(-1), F(2), F(-2))
"""Integers of directions."""


def may_slant(predicates: Iterable[Predicate]) -> bool:
    """Whether what is assumed is seen where directions are not orthogonal, too."""
    return not any(isinstance(one, PolyakLojasiewicz | Dissimilar | SameMinimiser) for one in predicates)


def made_ridges(
    shape: Shape,
    size: Size,
    rng: random.Random,
    *,
    slanted: bool,
    bent: bool = False,
    extreme: bool = False,
    convex: bool = True,
    unit: Fraction = UNIT,
    points: Sequence[Exact] = (),
) -> Ridges:
    """A problem of that shape and size, in two or more dimensions.

    Args:
        shape: what its curvatures are to be; ``flat`` here asks for bounded gradients.
        size: of the problem.
        rng: draws everything else.
        slanted: whether directions may be other than orthogonal, and other ones for each client.
        bent: whether every function may be concave somewhere.
        extreme: whether condition numbers go up to 10^4.
        convex: whether f is to be convex where the shape asks for a bounded f.
        unit: of curvature.
        points: at which the curvature changes along some directions, where these are the same for all clients.
    """
    line, d = Size(size.clients, size.samples, 1), size.dim
    slanted = slanted and (convex or not shape.bounded) and not bent
    apart = slanted and shape.convex in ("any", "f_n", "f_ni") and not shape.alike_clients and rng.random() < 0.3
    common = _slanted(d, rng) if slanted and rng.random() < 0.3 else _axes(d, rng)
    axes = [_axes(d, rng) if apart else common for _ in range(size.clients)]
    terms: list[list[list[Term]]] = [[[] for _ in range(size.samples)] for _ in range(size.clients)]
    for j in range(d):
        along = wells(line, rng) if bent else made_pieces(shape, line, rng, extreme=extreme, convex=convex, unit=unit)
        knots = [t for own in along.functions for phi in own for t in phi.knots]
        by = F(0)
        if points and knots and not apart and rng.random() < 0.85:
            by = sum((y * x for y, x in zip(common[j], rng.choice(points), strict=True)), F(0)) - rng.choice(knots)
        for n, own in enumerate(along.functions):
            for i, phi in enumerate(own):
                terms[n][i].append((axes[n][j], moved_alone(phi, by)))
    if slanted and rng.random() < 0.3:  # the same for all, in a direction of its own, and convex
        plain = replace(shape, convex="f_ni", strongly="any", bounded=True)
        phi = made_pieces(plain, Size(1, 1, 1), rng, unit=unit).functions[0][0]
        (a, *_) = _slanted(d, rng)
        for own_terms in (one for client in terms for one in client):
            own_terms.append((a, phi))
    zero = (F(0),) * d
    return Ridges(tuple(tuple(RidgeFunction(tuple(one), zero) for one in client) for client in terms))


def _axes(d: int, rng: random.Random) -> tuple[Exact, ...]:
    """Orthogonal directions of one length."""
    if d == 2 and rng.random() < 0.3:
        return ((F(1), F(1)), (F(1), F(-1)))
    return tuple(tuple(row) for row in rotation(d, rng))


def _slanted(d: int, rng: random.Random) -> tuple[Exact, ...]:
    """Directions of small integers."""
    found: list[Exact] = []
    while len(found) < d:
        a = tuple(rng.choice(SLANTED) for _ in range(d))
        if any(a):
            found.append(a)
    return tuple(found)
