"""Neighbours of problems of piecewise quadratics, and simpler ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from validate.instances.nearby import simpler, with_one
from validate.instances.pieces import Piecewise, mean_of

Functions: TypeAlias = "tuple[tuple[Piecewise, ...], ...]"


def moved_alone(f: Piecewise, by: Fraction) -> Piecewise:
    """x -> f(x - by) - f(-by)."""
    knots = tuple(t + by for t in f.knots)
    return Piecewise(knots, f.slopes, -f.derivative(-by))


def simplified(functions: Functions) -> Iterator[Functions]:
    """The samples of a client as one, which is their mean; one knot less; shorter slopes, knots and linear terms."""
    if any(len(own) > 1 for own in functions):
        yield tuple((mean_of(own),) for own in functions)
    places = [(n, i, f) for n, own in enumerate(functions) for i, f in enumerate(own)]
    for n, i, f in places:
        for less in of_fewer_knots(f):
            yield with_one(functions, n, i, less)
    for n, i, f in places:
        for shorter in of_shorter_numbers(f):
            yield with_one(functions, n, i, shorter)
        for simple in simpler(f.b):
            yield with_one(functions, n, i, Piecewise(f.knots, f.slopes, simple, f.c))
        if f.c != 0:
            yield with_one(functions, n, i, Piecewise(f.knots, f.slopes, f.b))


def of_fewer_knots(f: Piecewise) -> Iterator[Piecewise]:
    """One knot less, the slope on either side of it staying."""
    for j in range(len(f.knots)):
        for gone in (j, j + 1):
            knots, slopes = list(f.knots), list(f.slopes)
            del knots[j], slopes[gone]
            yield Piecewise(tuple(knots), tuple(slopes), f.b, f.c)


def of_shorter_numbers(f: Piecewise) -> Iterator[Piecewise]:
    """Shorter slopes and knots."""
    for j, slope in enumerate(f.slopes):
        for simple in simpler(slope):
            slopes = list(f.slopes)
            slopes[j] = simple
            yield Piecewise(f.knots, tuple(slopes), f.b, f.c)
    for j, knot in enumerate(f.knots):
        for simple in simpler(knot):
            knots = list(f.knots)
            knots[j] = simple
            if knots == sorted(set(knots)):
                yield Piecewise(tuple(knots), f.slopes, f.b, f.c)


def translated(functions: Functions) -> Iterator[tuple[Fraction, Functions]]:
    """All functions moved so that a minimiser of one of them, or a knot, comes to 0; and by how much."""
    points: dict[Fraction, None] = {}
    for f in (f for own in functions for f in own):
        ends = [x for interval in (f.least[1] if f.least is not None else ()) for x in interval]
        points |= dict.fromkeys(x for x in (*ends, *f.knots) if x)
    for x in points:
        yield -x, tuple(tuple(moved_alone(f, -x) for f in own) for own in functions)


def numbers_of(functions: Functions) -> list[Fraction]:
    """All numbers that say what the functions are."""
    return [x for own in functions for f in own for x in (*f.knots, *f.slopes, f.b)]
