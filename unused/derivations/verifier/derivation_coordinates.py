"""Coordinates of vectors in derivations: a number with the index c, and vectors that are made coordinate by coordinate.

An ``entry`` is the coordinate c of a vector's atom, an ``each`` the vector whose coordinates are a product with the
index c. Both are linear: the vector of the coordinates of a vector is that vector. The sum over c of a product of just
two entries is an inner product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .derivation_terms import ONE, Atom, Mono, Poly

if TYPE_CHECKING:
    from .derivation_binders import Binder, Binding

COORDINATE = "c"
"""The index of a line that speaks of any coordinate."""


def binder(al: Binding, name: str) -> Binder:
    """The sum over all coordinates."""
    return "c", name, al.frozen(al.of(al.atom("p", "d")))


def entry(al: Binding, v: Poly, c: Atom) -> Poly:
    """The coordinate c, an index, of a vector."""
    total: Poly = {}
    for m, k in v.items():
        binders, pairs = al.spread(m, lambda a: a.vec)
        vector = next(a for a, _ in pairs if a.vec)
        term = al.mul(al.factors(pair for pair in pairs if not pair[0].vec), of_atom(al, vector, c))
        for b in sorted(binders, key=lambda b: b[0] == "i", reverse=True):
            term = al.bind(term, b)
        total = al.add(total, al.scale(term, k))
    return total


def of_atom(al: Binding, vector: Atom, c: Atom) -> Poly:
    """A coordinate of an atom: of an expectation that of the coordinate."""
    if vector.tag == "each":
        closed, name = vector.parts
        return al.unclosed(closed, name, c.parts[0])
    if vector.tag == "E":
        (mono,) = vector.parts
        (inner,) = [a for a, _ in mono if a.vec]
        return al.expect(al.mul({tuple(p for p in mono if not p[0].vec): ONE}, of_atom(al, inner, c)))
    return al.of(al.atom("entry", vector, c))


def each(al: Binding, q: Poly, name: str) -> Poly:
    """The vector with these coordinates, in which `name` is the index of the coordinate."""
    total: Poly = {}
    for m, k in q.items():
        binders, pairs = al.spread(m, lambda a: name in a.frees)
        own = al.factors(pair for pair in pairs if name in pair[0].frees)
        rest = [pair for pair in pairs if name not in pair[0].frees]
        for mono, x in own.items():
            vector = made(al, mono, name)
            total = al.add(total, al.scale(al.close(binders, [*rest, (vector, 1)]), k * x))
    return total


def made(al: Binding, mono: Mono, name: str) -> Atom:
    """The vector whose coordinates are a product."""
    if len(mono) == 1 and mono[0][1] == 1 and mono[0][0].tag == "entry":
        vector: Atom = mono[0][0].parts[0]
        return vector
    inside = al.frozen({mono: ONE})
    level = 1 + inside.level
    closed = f"{COORDINATE}@{level}.0"
    return al.atom("each", al.rename(inside, {name: closed}), closed, vec=True, level=level)


def contracted(al: Binding, mono: Mono, name: str) -> tuple[Mono, Poly] | None:
    """A product summed over a coordinate, as what does not hang on it, and an inner product; None where it is none."""
    own = [(a, e) for a, e in mono if name in a.frees]
    rest = tuple((a, e) for a, e in mono if name not in a.frees)
    if len(own) == 1 and own[0][1] == 1 and own[0][0].tag == "E":
        found = contracted(al, own[0][0].parts[0], name)
        return None if found is None else (rest, al.expect(al.mul({found[0]: ONE}, found[1])))
    vectors = [a.parts[0] for a, e in own for _ in range(e) if a.tag == "entry" and e > 0]
    if len(vectors) != 2 or any(a.tag != "entry" for a, _ in own):
        return None
    return rest, al.inner(*vectors)
