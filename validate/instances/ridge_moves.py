"""Neighbours of problems of ridges, and simpler ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from validate.instances.nearby import simpler, with_one
from validate.instances.piece_moves import of_fewer_knots, of_shorter_numbers
from validate.instances.pieces import Piecewise
from validate.instances.ridge_functions import Exact, RidgeFunction, Term, mean_of, stretched, summed

Sums: TypeAlias = "tuple[tuple[RidgeFunction, ...], ...]"


def replaced(functions: Sums, one: Exact, other_one: Exact) -> Sums:
    """Every sample's function along one direction along another."""
    return tuple(
        tuple(_of(f, tuple((other_one if a == one else a, phi) for a, phi in f.terms)) for f in own)
        for own in functions
    )


def _of(f: RidgeFunction, terms: Sequence[Term], b: Exact | None = None) -> RidgeFunction:
    return RidgeFunction(tuple(terms), f.b if b is None else b, f.c)


def moved_by(functions: Sums, by: Exact) -> Sums:
    """x -> f(x - by) - f(-by)."""

    def moved(f: RidgeFunction) -> RidgeFunction:
        back = tuple(-x for x in by)
        terms = tuple(
            (a, stretched(phi, Fraction(1), sum((y * x for y, x in zip(a, back, strict=True)), Fraction(0))))
            for a, phi in f.terms
        )
        return RidgeFunction(terms, tuple(-g for g in f.at(back)[0]))

    return tuple(tuple(map(moved, own)) for own in functions)


def projected_ridges(functions: Sums, keep: Sequence[int]) -> Sums:
    """The functions where all other coordinates are 0."""

    def cut(v: Exact) -> Exact:
        return tuple(v[j] for j in keep)

    return tuple(
        tuple(RidgeFunction(tuple((cut(a), phi) for a, phi in f.terms if any(cut(a))), cut(f.b), f.c) for f in own)
        for own in functions
    )


def copied_along(functions: Sums, of: Sequence[int], blocks: Sequence[int]) -> Sums:
    """More coordinates, each a copy of an old one; every direction once in each block of them."""

    def copied(f: RidgeFunction) -> RidgeFunction:
        terms: list[Term] = []
        for block in dict.fromkeys(blocks):
            for a, phi in f.terms:
                new = tuple(a[j] if b == block else Fraction(0) for j, b in zip(of, blocks, strict=True))
                terms += [(new, phi)] if any(new) else []
        return RidgeFunction(tuple(terms), tuple(f.b[j] for j in of), f.c)

    return tuple(tuple(map(copied, own)) for own in functions)


def padded(functions: Sums, more: int) -> Sums:
    """More coordinates, along which nothing changes."""
    nothing = (Fraction(0),) * more
    return tuple(
        tuple(RidgeFunction(tuple(((*a, *nothing), phi) for a, phi in f.terms), (*f.b, *nothing), f.c) for f in own)
        for own in functions
    )


def ridges_of(functions: tuple[tuple[Piecewise, ...], ...]) -> Sums:
    """Functions of one variable as such sums."""
    along = (Fraction(1),)
    return tuple(
        tuple(RidgeFunction(((along, Piecewise(f.knots, f.slopes)),), (f.b,), f.c) for f in own) for own in functions
    )


def pieces_of(functions: Sums) -> tuple[tuple[Piecewise, ...], ...]:
    """The same functions of one coordinate."""
    return tuple(tuple(_piece_of(f) for f in own) for own in functions)


def _piece_of(f: RidgeFunction) -> Piecewise:
    phi = f.terms[0][1] if f.terms else Piecewise((), (Fraction(0),))
    return Piecewise(phi.knots, phi.slopes, f.b[0], f.c)


def simplified_ridges(functions: Sums) -> Iterator[Sums]:
    """The samples of a client as one; a direction less, or a simpler one; fewer knots; shorter numbers."""
    if any(len(own) > 1 for own in functions):
        yield tuple((mean_of(own),) for own in functions)
    slopes = {abs(s) for own in functions for f in own for _, phi in f.terms for s in phi.slopes} - {Fraction(0)}
    for unit in sorted({max(slopes, default=Fraction(1)), min(slopes, default=Fraction(1))} - {Fraction(1)}):
        yield tuple(tuple(summed([(1 / unit, f)]) for f in own) for own in functions)
    d = functions[0][0].dim
    directions = sorted({a for own in functions for f in own for a, _ in f.terms})
    for a in directions:
        yield tuple(tuple(_of(f, [t for t in f.terms if t[0] != a]) for f in own) for own in functions)
    for a in directions:
        for simple in _simpler_directions(a):
            yield replaced(functions, a, simple)
    places = [(n, i, f) for n, own in enumerate(functions) for i, f in enumerate(own)]
    for n, i, f in places:
        for j, (a, phi) in enumerate(f.terms):
            rest = (*f.terms[:j], *f.terms[j + 1 :])
            yield with_one(functions, n, i, _of(f, rest))
            for new in of_fewer_knots(phi):
                yield with_one(functions, n, i, _of(f, (*rest, (a, new))))
    for n, i, f in places:
        for j, (a, phi) in enumerate(f.terms):
            for new in of_shorter_numbers(phi):
                yield with_one(functions, n, i, _of(f, (*f.terms[:j], (a, new), *f.terms[j + 1 :])))
        for j in range(d):
            for short in simpler(f.b[j]):
                yield with_one(functions, n, i, _of(f, f.terms, (*f.b[:j], short, *f.b[j + 1 :])))
        if f.c != 0:
            yield with_one(functions, n, i, RidgeFunction(f.terms, f.b))


def _simpler_directions(a: Exact) -> Iterator[Exact]:
    """A coordinate alone; signs alone; one integer nearer to 0."""
    size = len(a)
    signs = tuple(Fraction((x > 0) - (x < 0)) for x in a)
    alone = [tuple(Fraction(int(i == j)) for i in range(size)) for j in range(size) if a[j]]
    nearer = [(*a[:j], a[j] - signs[j], *a[j + 1 :]) for j in range(size) if a[j]]
    for simple in dict.fromkeys((*alone, signs, *nearer)):
        if any(simple) and sum(map(abs, simple)) < sum(map(abs, a)):
            yield simple


def numbers_of_ridges(functions: Sums) -> list[Fraction]:
    """All numbers that say what the functions are."""
    every = [f for own in functions for f in own]
    shapes = [x for f in every for a, phi in f.terms for x in (*a, *phi.knots, *phi.slopes)]
    return shapes + [x for f in every for x in f.b]
