"""Atoms of derivations: one name, or an operation on others; and what is told of them once for all.

Atoms are interned: two are the same if and only if they are one object, and each has a number, by which they are put in
order. A polynomial is a dict from monomials to fractions (integers where they are whole); a monomial is a tuple of
(atom, exponent) in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

Number = Fraction | int
Mono = tuple[tuple["Atom", int], ...]
Poly = dict[Mono, Number]

RANDOM = ("x", "tap", "draw", "noise", "keep", "drawn")
SQUARED = ("sqrt", "abs")
ZERO_OR_ONE = ("coin", "coins", "choose", "hit")
CERTAIN = ("E", "quantile")
"""Numbers that are not drawn, whatever stands in them."""
FIRST = "first"
"""The index of the first client, which nothing binds."""
NOTHING: frozenset[Any] = frozenset()


class Atom:
    """One name, or an operation on others.

    Attributes:
        number: their order. size: of its text, about.
        frees: the free indices. fresh: the last of those that were made up, by its number; 0 if none is in it.
        bound: the names of bound indices. level: the depth of binders. vec: whether it is a vector.
        rand: whether it is drawn. dr: (draw, client) of the round's draws in it. leaves: the states and taps in it.
        special: whether powers of it are other things.
    """

    __slots__ = (
        "bound", "dr", "frees", "fresh", "leaves", "level", "number", "parts", "rand", "size", "special", "tag", "vec",
    )  # fmt: skip

    size: int
    level: int
    fresh: int
    rand: bool

    def __init__(self, number: int, tag: str, parts: tuple[Any, ...], vec: bool, level: int, certain: bool) -> None:
        self.number, self.tag, self.parts, self.vec = number, tag, parts, vec
        hidden = tag in CERTAIN
        rand = tag in RANDOM and not (certain and tag in ("x", "tap"))
        frees, bound, dr, leaves = NOTHING, NOTHING, NOTHING, NOTHING
        size, fresh = 2 + len(parts), 0
        for a in atoms_of(parts):
            size += a.size
            if a.level > level:
                level = a.level
            if a.fresh > fresh:
                fresh = a.fresh
            if a.frees and not a.frees <= frees:
                frees |= a.frees
            if a.bound and not a.bound <= bound:
                bound |= a.bound
            if hidden:
                continue
            rand = rand or a.rand
            if a.dr and not a.dr <= dr:
                dr |= a.dr
            if a.leaves and not a.leaves <= leaves:
                leaves |= a.leaves
        if tag == "v" and "@" in parts[0]:
            bound = frozenset(parts)
        elif tag == "v" and parts[0] != FIRST:
            frees = frozenset(parts)
            fresh = int(parts[0].split("#")[1]) if "#" in parts[0] else 0
        if tag in ("draw", "noise", "keep", "drawn"):
            dr |= {(parts[1], parts[2].parts[0] if isinstance(parts[2], Atom) else "")}
        if tag in ("x", "tap"):
            leaves |= {self}
        self.frees: frozenset[str] = frees
        self.bound: frozenset[str] = bound
        self.dr: frozenset[tuple[int, str]] = dr
        self.leaves: frozenset[Atom] = leaves
        self.rand, self.level, self.fresh, self.size = rand, level, fresh, size
        self.special = tag in SQUARED or (tag == "draw" and parts[0] in ZERO_OR_ONE)

    def __repr__(self) -> str:
        return self.tag + _text(self.parts)


def by_number(a: Atom) -> int:
    """The order of atoms."""
    return a.number


def of_pair(pair: tuple[Atom, int]) -> int:
    """The order of factors in a monomial."""
    return pair[0].number


def of_mono(m: Mono) -> tuple[int, ...]:
    """The order of monomials."""
    return tuple([x for a, e in m for x in (a.number, e)])


def atoms_of(parts: Iterable[Any]) -> Iterator[Atom]:
    """The atoms directly in parts, which may be atoms, names, numbers, and tuples of them."""
    for part in parts:
        if part.__class__ is Atom:
            yield part
        elif part.__class__ is tuple:
            yield from atoms_of(part)


def all_atoms(p: Poly) -> Iterator[Atom]:
    """All atoms in a polynomial, also inside of others, each once."""
    seen: set[Atom] = set()
    left = [a for m in p for a, _ in m]
    while left:
        a = left.pop()
        if a not in seen:
            seen.add(a)
            yield a
            left += atoms_of(a.parts)


def frees_of(p: Poly) -> frozenset[str]:
    """The free indices of a polynomial."""
    return NOTHING.union(*(a.frees for m in p for a, _ in m))


def _text(part: Any) -> str:
    if isinstance(part, tuple):
        return "(" + ",".join(map(_text, part)) + ")"
    return str(part)
