"""E over the draws of a round: all are independent of one another and of what was before, and taken one at a time."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from .derivation_binders import Binder, Swap
from .derivation_terms import ONE, UNIT, Atom, Mono, Number, Poly, all_atoms
from .derivation_turning import Stays, Turning
from .reading import Uncheckable

if TYPE_CHECKING:
    from .derivation_rounds import Round

Pairs = list[tuple[Atom, int]]
Part = tuple[list[Binder], Poly]
"""A polynomial, and the binders that came with it."""
HERE, ENTRY = "n$", "i$"
"""The client whose part of a value is meant, until it is known; the sample of whom it is, in a table."""


class Expectation:
    """Takes E over the draws of a round."""

    def __init__(self, of: Round) -> None:
        self.round, self.algebra = of, of.algebra

    def drawn(self, p: Poly) -> bool:
        """Whether draws of the round stand in it."""
        return any(a.dr for m in p for a, _ in m)

    def of(self, p: Poly) -> Poly:
        """E over the draws; what hangs on earlier rounds stays as it is.

        Raises:
            Uncheckable: for products of draws that are not read.
        """
        al = self.algebra
        total: Poly = {}
        for m, c in p.items():
            if not any(a.dr for a, _ in m):
                total = al.add(total, {m: c})
                continue
            mark = al.count
            binders, pairs = al.spread(m, lambda a: bool(a.dr) or a.rand)
            total = al.add(total, al.scale(al.done(self._term(binders, pairs, frozenset()), mark), c))
        return total

    def _term(self, binders: list[Binder], pairs: Pairs, stuck: frozenset[int]) -> Poly:
        al = self.algebra
        draws = {draw for a, _ in pairs for draw, _ in a.dr} - stuck
        if not draws:
            return al.close(binders, pairs)
        turning = {draw for draw in draws if self.round.depth[draw] < 0}
        implied = frozenset[int]().union(*(self._implied(a) for a, _ in pairs))
        if implied & (draws - turning):
            raise Uncheckable("a product of a draw and of what hangs on it in another way")
        draw = max(draws)
        involved = [(a, e) for a, e in pairs if any(d == draw for d, _ in a.dr)]
        clients = sorted({client for a, _ in involved for d, client in a.dr if d == draw})
        try:
            if draw in turning:
                parts = Turning(self, binders, pairs, draw).parts()
            else:
                parts = self.over(binders, pairs, draw, clients)
        except Stays:
            return self._term(binders, pairs, stuck | {draw})
        except Nested:
            if len(involved) == 1 and involved[0][1] == 1:
                return self._term(binders, pairs, stuck | {draw})  # E of a function of it stays as it is
            raise
        total: Poly = {}
        for more, p in parts:
            for m, c in p.items():
                opened, found = al.spread(m, lambda a: a.rand or bool(a.frees))
                total = al.add(total, al.scale(self._term([*more, *opened], found, stuck), c))
        return total

    # which draws hang on which

    def _implied(self, a: Atom) -> frozenset[int]:
        """The draws of the round on which states and taps in an atom hang."""
        return frozenset[int]().union(*(self.round.hangs(leaf) for leaf in a.leaves))

    # one draw

    def over(self, binders: list[Binder], pairs: Pairs, draw: int, clients: list[str]) -> list[Part]:
        """E over one draw of every client: of one client, or of two, who may be the same."""
        al = self.algebra
        if any("@" in client for client in clients):
            raise Nested("a draw of all clients in a function, times another")
        p = al.factors(pairs)
        if len(clients) == 1:
            return self._checked(self._each(binders, p, draw, clients), draw)
        bound = [c for c in clients if ("n", c, "") in binders]
        if len(clients) != 2 or not bound:
            raise Nested("a product of draws of three clients, or of two that are not summed over")
        m = bound[-1]
        (n,) = [c for c in clients if c != m]

        def merged(part: Part) -> Part:
            rest = [b for b in part[0] if b[1] != m]
            return [(k, name, al.rename(e, {m: n}) if e else "") for k, name, e in rest], al.renamed(part[1], {m: n})

        apart = self._checked(self._each(binders, p, draw, [n, m]), draw)
        same = self._checked(self._each(*merged((binders, p)), draw, [n]), draw)
        share = al.inverse(al.of(al.atom("p", "N")))
        less = al.scale(share, -1)
        return [
            *apart,
            *((b, al.mul(q, share)) for b, q in same),
            *((b, al.mul(q, less)) for b, q in map(merged, apart)),
        ]

    def _checked(self, parts: list[Part], draw: int) -> list[Part]:
        if any(d == draw for _, p in parts for m in p for a, _ in m for d, _ in a.dr):
            raise Nested("a draw in a function, times another")
        return parts

    def _each(self, binders: list[Binder], p: Poly, draw: int, clients: list[str]) -> list[Part]:
        """E over the draws of these clients, who are different ones."""
        kind, number, *_ = self.round.kinds[draw]
        al = self.algebra
        if kind == "share":
            return [(binders, al.add({}, *(self._shared(number, m, c, draw) for m, c in p.items())))]
        if kind == "choose":
            return [(binders, self._chosen(number, p, draw, clients))]
        if kind == "counts":
            return [(binders, al.add({}, *(self._counted(number, m, c, draw) for m, c in p.items())))]
        parts = [(binders, p)]
        for client in clients:
            own = al.renamed(number, {HERE: client}) if client else number
            done: list[Part] = []
            for bs, q in parts:
                if kind in ("coin", "coins"):
                    one, none = (self._tossed(q, draw, client, x) for x in (1, 0))
                    done.append((bs, al.add(al.mul(own, one), al.mul(al.sub(UNIT, own), none))))
                elif kind == "sample" and own == UNIT:
                    done += self._sampled(bs, q, draw, client)
                else:
                    for m, c in q.items():
                        done += [(b, al.scale(x, c)) for b, x in self._moment(kind, own, bs, m, draw, client)]
            parts = done
        return parts

    def _tossed(self, p: Poly, draw: int, client: str, value: int) -> Poly:
        """With the value of a coin, also inside of functions."""

        def at(a: Atom) -> Poly | None:
            hit = a.tag == "draw" and a.parts[1] == draw and (draw, client) in a.dr
            return (UNIT if value else {}) if hit else None

        return self.algebra.swapped(p, Swap(lambda a: (draw, client) in a.dr, at))

    def _sampled(self, binders: list[Binder], p: Poly, draw: int, client: str) -> list[Part]:
        """Over one sample: as if it replaced no entry of a table, and, one in m times, as it is for that entry."""
        al, i = self.algebra, self.algebra.fresh("i")
        hits = {a for a in all_atoms(p) if a.tag == "draw" and a.parts[0] == "hit" and (draw, client) in a.dr}
        entries = {a.parts[3] for a in hits}
        none = self._tossed(p, draw, client, 0)
        found: list[Part] = [([*binders, ("i", i, al.var(client))], self.indexed(none, draw, client, i))]
        if not hits:
            return found
        (entry, *others) = entries
        if others or entry.tag != "v" or not entry.frees:
            raise Nested("two entries of a table that are replaced, or one that a mean in a function is over")
        here, chance = entry.parts[0], al.inverse(al.of(al.atom("count", al.var(client))))
        one = self._tossed(p, draw, client, 1)
        for q, sign in ((one, 1), (none, -1)):
            found.append((binders, al.scale(al.mul(chance, self.indexed(q, draw, client, here)), sign)))
        return found

    def indexed(self, p: Poly, draw: int, client: str, index: str) -> Poly:
        """With an index in the place of the sample of a client, also inside of functions."""

        def at(a: Atom) -> Poly | None:
            return self.algebra.of(self.algebra.var(index)) if a.tag == "drawn" else None

        def touches(a: Atom) -> bool:
            return (draw, client) in a.dr

        return self.algebra.swapped(p, Swap(touches, at))

    def _chosen(self, size: Poly, p: Poly, draw: int, clients: list[str]) -> Poly:
        """S of N clients: over whether one client, or each of two different ones, is among them."""
        al, N = self.algebra, self.algebra.of(self.algebra.atom("p", "N"))
        share = al.mul(size, al.inverse(N))
        both = al.mul(share, al.mul(al.sub(size, UNIT), al.inverse(al.sub(N, UNIT))))
        total: Poly = {}
        for values in product((1, 0), repeat=len(clients)):
            taken = sum(values)
            if len(clients) == 1:
                chance = share if taken else al.sub(UNIT, share)
            elif taken == 1:
                chance = al.sub(share, both)
            else:
                chance = both if taken else al.add(UNIT, al.scale(share, -2), both)
            q = p
            for client, value in zip(clients, values, strict=True):
                q = self._tossed(q, draw, client, value)
            total = al.add(total, al.mul(chance, q))
        return total

    def _counted(self, size: Poly, mono: Mono, c: Number, draw: int) -> Poly:
        """How often clients are chosen that are drawn S times: the mean of one count, its square, or of two counts."""
        al = self.algebra
        own = [(a, e) for a, e in mono if a.tag == "draw" and a.parts[1] == draw]
        rest = tuple(pair for pair in mono if pair not in own)
        every = al.inverse(al.of(al.atom("p", "N")))
        share, powers = al.mul(size, every), [e for _, e in own]
        both = al.mul(share, al.mul(al.sub(size, UNIT), every))
        factors = {(): UNIT, (1,): share, (2,): al.add(share, both), (1, 1): both}
        if tuple(powers) not in factors:
            raise Uncheckable("a product of three draws of clients")
        return al.scale(al.mul(factors[tuple(powers)], {rest: ONE}), c)

    def _shared(self, share: Poly, mono: Mono, c: Number, draw: int) -> Poly:
        """The mean of the weight of a client in an average."""
        own = [(a, e) for a, e in mono if a.tag == "draw" and a.parts[1] == draw]
        if any(e != 1 for _, e in own) or len(own) > 1:
            raise Uncheckable("a product of two weights of clients in an average")
        rest = {tuple(pair for pair in mono if pair not in own): ONE}
        return self.algebra.scale(self.algebra.mul(share, rest) if own else rest, c)

    def _moment(self, kind: str, number: Poly, binders: list[Binder], mono: Mono, draw: int, client: str) -> list[Part]:
        """Of a drawn vector the mean, or of an inner product of two the mean."""
        al = self.algebra
        tag = {"batch": "grad", "sample": "grad"}.get(kind, kind)
        count, factors = occurrences(mono, tag, draw, client)
        rest: Poly = {tuple(pair for pair in mono if pair not in factors): ONE}
        if any((draw, client) in a.dr for m in rest for a, _ in m):
            raise Nested("a drawn vector in a function, times another")
        if count == 0:
            return [(binders, {mono: ONE})]
        if count > 2 or any(e != 1 for _, e in factors):
            raise Uncheckable("a product of three drawn vectors, or a square of an inner product with one")
        others = [x for a, _ in factors for x in a.parts if a.tag == "dot" and not is_drawn(x, tag, draw, client)]
        if any((draw, client) in x.dr for x in others):
            raise Nested("a drawn vector, times what is made of it and is not linear in it")
        if kind == "noise":
            if count == 1:
                return []
            if len(factors) == 2:
                raise Uncheckable("a product of two inner products with noise")
            return [(binders, al.mul(number, rest))]
        if kind == "keep":
            if count == 2 and len(factors) == 2:
                raise Uncheckable("a product of two inner products with the same coordinates drawn")
            whole = al.mul(rest, self._kept(factors[0][0], draw, client))
            scale = al.mul(al.of(al.atom("p", "d")), al.inverse(number)) if count == 2 else UNIT
            return [(binders, al.mul(scale, whole))]
        return self._batch(number, binders, rest, [a for a, _ in factors], draw, client, count)

    def _kept(self, a: Atom, draw: int, client: str) -> Poly:
        """A vector or inner product with all coordinates in the place of those that are drawn."""
        al = self.algebra
        parts = a.parts if a.tag == "dot" else (a,)
        whole = [x.parts[4] if is_drawn(x, "keep", draw, client) else x for x in parts]
        if any((draw, client) in x.dr for x in whole):
            raise Nested("coordinates drawn twice with one draw")
        return al.dot(al.of(whole[0]), al.of(whole[1])) if len(whole) == 2 else al.of(whole[0])

    def _batch(
        self, size: Poly, binders: list[Binder], rest: Poly, factors: list[Atom], draw: int, client: str, count: int
    ) -> list[Part]:
        """A mean over a batch with replacement: its samples are independent."""
        al = self.algebra
        if not self.round.kinds[draw][2] or any(
            (draw, client) in part.parts[1].dr
            for a in factors
            for part in (a.parts if a.tag == "dot" else (a,))
            if part.tag in ("grad", "hess")
        ):
            raise Nested("a batch without replacement, or in a function")
        names = [al.fresh("i") for _ in range(count)]
        found: list[Part] = []
        both = al.inverse(size)
        for used, weight in ((names, al.sub(UNIT, both)), (names[:1] * 2, both)):
            p, left = rest, list(used)
            for a in factors:
                vectors = []
                for part in a.parts if a.tag == "dot" else (a,):
                    v = al.of(part)
                    if is_drawn(part, "grad", draw, client):
                        v = self.indexed(v, draw, client, left.pop(0))
                    vectors.append(v)
                p = al.mul(p, al.dot(*vectors) if len(vectors) == 2 else vectors[0])
            more: list[Binder] = [("i", name, al.var(client)) for name in dict.fromkeys(used)]
            if count == 1:
                return [([*binders, *more], p)]
            found.append(([*binders, *more], al.mul(p, weight)))
        return found


class Nested(Uncheckable):
    """A draw stands in a function that is no polynomial."""


def occurrences(mono: Mono, tag: str, draw: int, client: str) -> tuple[int, list[tuple[Atom, int]]]:
    """How often a drawn vector stands in a monomial, by itself or in inner products; and those factors."""
    count, factors = 0, []
    for a, e in mono:
        parts = a.parts if a.tag == "dot" else (a,)
        inside = sum(is_drawn(x, tag, draw, client) for x in parts)
        if inside:
            count += inside * e
            factors.append((a, e))
    return count, factors


def is_drawn(a: Atom, tag: str, draw: int, client: str) -> bool:
    """Whether a vector is this drawn one."""
    if a.tag != tag and (a.tag, tag) != ("hess", "grad"):
        return False
    if tag == "grad":
        return any(x.tag == "drawn" and (draw, client) in x.dr for x in a.parts if isinstance(x, Atom))
    return a.parts[1] == draw and (draw, client) in a.dr
