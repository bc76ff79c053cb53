"""Replacing atoms of derivations, also inside of others: what is made of them then is put in order again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .derivation_binders import Binding, Swap
from .derivation_coordinates import each, entry
from .derivation_terms import ONE, UNIT, Atom, Poly
from .reading import Uncheckable

BINDERS = ("O", "weight", "least", "mixed")
"""Atoms that bind an index of theirs, which is named by the level that they have."""


class Algebra(Binding):
    """Polynomials with binders, in which atoms are replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.swaps: dict[tuple[tuple[str, str], ...], Swap] = {}

    def rename(self, a: Atom, names: dict[str, str]) -> Atom:
        return self.one(a, self.names_in(a, names))

    def renamed(self, p: Poly, names: dict[str, str]) -> Poly:
        """A polynomial with other free indices."""
        return self.swapped(p, self.names(names))

    def putting(self, new: Mapping[str, Poly]) -> Swap:
        """Puts polynomials for free indices."""
        return Swap(lambda a: not a.frees.isdisjoint(new), lambda a: new.get(a.parts[0]) if a.tag == "v" else None)

    def names_in(self, a: Atom, names: dict[str, str]) -> Swap:
        return self.names({name: new for name, new in names.items() if name in a.frees})

    def names(self, names: dict[str, str]) -> Swap:
        """Other names for free indices."""
        known = tuple(names.items())
        found = self.swaps.get(known)
        if found is None:
            own = dict(names)
            found = Swap(lambda a: not a.frees.isdisjoint(own), lambda a: self.named(a, own))
            self.swaps[known] = found
        return found

    def swapped(self, p: Poly, swap: Swap) -> Poly:
        """A polynomial in which atoms are replaced, also inside of others."""
        total: Poly = {}
        for m, c in p.items():
            some = [pair for pair in m if swap.touches(pair[0])]
            rest = tuple([pair for pair in m if pair not in some]) if some else m
            term: Poly = {rest: ONE} if rest else UNIT
            for a, e in some:
                term = self.mul(term, self.power(self.replaced(a, swap), e))
            self.into(total, term, c)
        return self.limited(total)

    def replaced(self, a: Atom, swap: Swap) -> Poly:
        """What an atom becomes."""
        if not swap.touches(a):
            return self.of(a)
        found = swap.made.get(a)
        if found is None:
            self.spend(3)
            mark, found = self.count, swap.at(a)
            found = swap.made[a] = self.done(self._inside(a, swap), mark) if found is None else found
        return found

    def _inside(self, a: Atom, swap: Swap) -> Poly:
        if a.tag == "B":
            binders, body = self.opened(a)
            binders = [(kind, name, self.one(more, swap) if more else "") for kind, name, more in binders]
            term: Poly = UNIT
            for x, e in body:
                term = self.mul(term, self.power(self.replaced(x, swap), e))
            return self.under(binders, term)
        if a.tag == "E":
            return self.expect(self.swapped({a.parts[0]: ONE}, swap))
        if a.tag == "dot":
            return self.dot(*(self.replaced(part, swap) for part in a.parts))
        if a.tag == "sqrt":
            return self.root(self.thawed(self.one(a.parts[0], swap)))
        if a.tag == "abs":
            return self.absolute(self.thawed(self.one(a.parts[0], swap)))
        if a.tag in ("exp", "log"):
            return self.applied(a.tag, self.thawed(self.one(a.parts[0], swap)))
        if a.tag == "inv":
            return self.inverse(self.thawed(self.one(a.parts[0], swap)))
        if a.tag == "keep":
            kind, draw, client, number = (self._part(part, swap) for part in a.parts[:4])
            return self.keep(kind, draw, client, number, self.replaced(a.parts[4], swap))
        if a.tag == "entry":
            return entry(self, self.replaced(a.parts[0], swap), self.one(a.parts[1], swap))
        if a.tag == "each":
            name = self.fresh("c")
            closed, index = a.parts
            return each(self, self.swapped(self.unclosed(closed, index, name), swap), name)
        if a.tag == "hess":
            name, vector, *where = a.parts
            return self.hess(name, self.replaced(vector, swap), [self.one(x, swap) for x in where])
        parts = [self._part(part, swap) for part in a.parts]
        if a.tag in ("max", "min"):
            return self.extreme(a.tag, parts)
        return self.of(self.atom(a.tag, *parts, vec=a.vec, level=a.level if a.tag in BINDERS else 0))

    def one(self, a: Atom, swap: Swap) -> Atom:
        if not swap.touches(a):
            return a
        if a.tag == "P":
            return self.frozen(self.swapped(self.thawed(a), swap))
        found, sign = self.signed(a, swap)
        if sign > 0:
            return found
        if a.tag != "inv":
            raise Uncheckable("an index is replaced by what is none")
        return self.atom("inv", self.one(a.parts[0], swap))  # the same, whatever its sign

    def signed(self, a: Atom, swap: Swap) -> tuple[Atom, int]:
        """An atom, and 1 or -1, whose product an atom becomes.

        Raises:
            Uncheckable: where it becomes something else.
        """
        found = self.replaced(a, swap)
        ((mono, c),) = found.items() if len(found) == 1 else (((), 0),)
        if len(mono) != 1 or mono[0][1] != 1 or abs(c) != 1:
            raise Uncheckable("an index is replaced by what is none")
        return mono[0][0], int(c)

    def _part(self, part: Any, swap: Swap) -> Any:
        return self.one(part, swap) if isinstance(part, Atom) else part
