"""Terms of derivations: means and sums over indices, expectations, inner products, and replacing atoms in all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial
from typing import Any

from .derivation_coordinates import binder as all_coordinates
from .derivation_coordinates import contracted, each, entry, of_atom
from .derivation_terms import ONE, UNIT, Atom, Mono, Poly, Polynomials
from .reading import Uncheckable

Binder = tuple[str, str, Any]
"""Kind of the index (n, i, k, h, j), its name, and the client of i (an atom), or the upper end of k, h and j (a
polynomial as an atom); nothing for n."""
MOST_ORDERS = 800


class Swap:
    """What is to be replaced: `at` gives what an atom becomes, or None; `touches` says whether to look inside of it."""

    def __init__(self, touches: Callable[[Atom], bool], at: Callable[[Atom], Poly | None]) -> None:
        self.touches, self.at = touches, at


class Algebra(Polynomials):
    """Polynomials with binders."""

    # putting factors under binders

    def close(self, binders: Sequence[Binder], factors: Iterable[tuple[Atom, int]]) -> Poly:
        """The product of the factors under these binders (a mean for n and i, a sum for k, h and j)."""
        total: Poly = {}
        for mono, c in self.factors(factors).items():
            total = self.add(total, self.scale(self._close(list(binders), mono), c))
        return total

    def _close(self, binders: list[Binder], mono: Mono) -> Poly:
        count: Poly = UNIT
        while True:
            used = frozenset[str]().union(*(a.frees for a, _ in mono), *(b[2].frees for b in binders if b[2]))
            idle = next((b for b in binders if b[1] not in used), None)
            if idle is None:
                break
            binders = [b for b in binders if b is not idle]
            if idle[0] in "khjc":
                count = self.mul(count, self.thawed(idle[2]))
        for b in binders:
            summed = contracted(self, mono, b[1]) if b[0] == "c" else None
            if summed is not None:
                product: Poly = {}
                others = [other for other in binders if other is not b]
                for m, x in summed[1].items():
                    every, pairs = self.joined(others, m)
                    product = self.add(product, self.scale(self.close(every, [*summed[0], *pairs]), x))
                return self.mul(count, product)
        if not binders:
            return self.mul(count, {mono: ONE})
        groups: list[tuple[set[str], list[Binder], list[tuple[Atom, int]]]] = []
        bound = {b[1] for b in binders}
        items: list[tuple[set[str], list[Binder], list[tuple[Atom, int]]]] = []
        items += [({b[1]} | (set(b[2].frees) & bound if b[2] else set()), [b], []) for b in binders]
        items += [(set(a.frees) & bound, [], [(a, e)]) for a, e in mono]
        outside: list[tuple[Atom, int]] = []
        for names, bs, pairs in items:
            if not names:
                outside += pairs
                continue
            for group in [g for g in groups if g[0] & names]:
                names, bs, pairs = names | group[0], group[1] + bs, group[2] + pairs
                groups.remove(group)
            groups.append((names, bs, pairs))
        for _, bs, pairs in groups:
            outside.append((self._component(bs, pairs), 1))
        return self.mul(count, self.factors(outside))

    def _component(self, binders: list[Binder], pairs: list[tuple[Atom, int]]) -> Atom:
        """Connected factors as an atom: the least text over the orders of binders of one kind."""
        level = 1 + max(a.level for a, _ in pairs)

        def marked(b: Binder) -> str:
            names = {other[1]: f"{other[0]}@other" for other in binders} | {b[1]: f"{b[0]}@this"}
            texts = sorted(f"{self.rename(a, names).text}^{e}" for a, e in pairs)
            return "|".join([str(self.rename(b[2], names)) if b[2] else "", *texts])

        kinds: list[list[list[Binder]]] = []
        for kind in "khjcni":
            ties: dict[str, list[Binder]] = {}
            own = [b for b in binders if b[0] == kind]
            for b in own:
                ties.setdefault(marked(b) if len(own) > 1 else "", []).append(b)
            kinds += [[ties[key]] for key in sorted(ties)]
        orders = 1
        for (tied,) in kinds:
            orders *= factorial(len(tied))
        if orders > MOST_ORDERS:
            raise Uncheckable("a product has too many indices to be checked")
        best: tuple[str, list[Binder], Mono] | None = None
        for choice in product(*(permutations(tied) for (tied,) in kinds)):
            order = [b for part in choice for b in part]
            names = {b[1]: f"{b[0]}@{level}.{place}" for place, b in enumerate(order)}
            new = [(b[0], names[b[1]], self.rename(b[2], names) if b[2] else "") for b in order]
            body = tuple(sorted(((self.rename(a, names), e) for a, e in pairs), key=lambda pair: pair[0].text))
            text = str([(b[0], str(b[2])) for b in new]) + str([(a.text, e) for a, e in body])
            if best is None or text < best[0]:
                best = text, new, body
        assert best is not None
        vec = any(a.vec for a, _ in pairs)
        return self.atom("B", tuple(best[1]), best[2], vec=vec, level=level)

    def opened(self, a: Atom) -> tuple[list[Binder], list[tuple[Atom, int]]]:
        """Binders and factors of a closed product, under names that nothing else has."""
        binders, body = a.parts
        names = {b[1]: self.fresh(b[0]) for b in binders}
        bound = Swap(lambda x: any(name in x.text for name in names), lambda x: self._bound(x, names))
        new = [(b[0], names[b[1]], self.one(b[2], bound) if b[2] else "") for b in binders]
        return new, [(self.one(x, bound), e) for x, e in body]

    def unclosed(self, closed: Atom, name: str, new: str) -> Poly:
        """What was made an atom with an index of its own, which is now another one."""
        bound = Swap(lambda x: name in x.text, lambda x: self._bound(x, {name: new}))
        return self.thawed(self.one(closed, bound))

    def _bound(self, a: Atom, names: dict[str, str]) -> Poly | None:
        return self.of(self.var(names[a.parts[0]])) if a.tag == "v" and a.parts[0] in names else None

    def bind(self, p: Poly, binder: Binder) -> Poly:
        """The mean or sum over an index of a polynomial."""
        name = binder[1]
        total: Poly = {}
        for m, c in p.items():
            inside: list[tuple[Atom, int]] = []
            binders: list[Binder] = [binder]
            for a, e in m:
                if a.tag == "B" and e > 0 and name in a.frees:
                    for _ in range(e):
                        more, factors = self.opened(a)
                        binders += more
                        inside += factors
                else:
                    inside.append((a, e))
            total = self.add(total, self.scale(self.close(binders, inside), c))
        return total

    def spread(self, m: Mono, which: Callable[[Atom], bool]) -> tuple[list[Binder], list[tuple[Atom, int]]]:
        """A monomial with those closed products opened of which `which` is true."""
        binders: list[Binder] = []
        pairs: list[tuple[Atom, int]] = []
        for a, e in m:
            if a.tag == "B" and e > 0 and which(a):
                for _ in range(e):
                    more, factors = self.opened(a)
                    binders += more
                    pairs += factors
            else:
                pairs.append((a, e))
        return binders, pairs

    def joined(self, binders: Sequence[Binder], m: Mono) -> tuple[list[Binder], list[tuple[Atom, int]]]:
        """Binders and those of the closed products that hang on them, and all factors."""
        names = {b[1] for b in binders}
        more, pairs = self.spread(m, lambda a: not a.frees.isdisjoint(names))
        return [*binders, *more], pairs

    def expect(self, p: Poly) -> Poly:
        """E of a polynomial: what is not random is let out, products of what is stay together."""
        total: Poly = {}
        for m, c in p.items():
            if not any(a.rand for a, _ in m):
                total = self.add(total, {m: c})
                continue
            binders, pairs = self.spread(m, lambda a: a.rand)
            for mono, x in self.factors(pairs).items():
                random = tuple(pair for pair in mono if pair[0].rand)
                rest = [pair for pair in mono if not pair[0].rand]
                if random:
                    rest.append((self.atom("E", random, vec=any(a.vec for a, _ in random)), 1))
                total = self.add(total, self.scale(self.close(binders, rest), c * x))
        return total

    # vectors

    def dot(self, u: Poly, v: Poly) -> Poly:
        """The inner product."""
        total: Poly = {}
        for m1, c1 in u.items():
            for m2, c2 in v.items():
                b1, pairs1 = self.spread(m1, lambda a: a.vec)
                b2, pairs2 = self.spread(m2, lambda a: a.vec)
                one, two = (next(a for a, _ in pairs if a.vec) for pairs in (pairs1, pairs2))
                rest = [pair for pair in (*pairs1, *pairs2) if not pair[0].vec]
                for m, x in self.inner(one, two).items():
                    every, pairs = self.joined([*b1, *b2], m)
                    total = self.add(total, self.scale(self.close(every, [*pairs, *rest]), c1 * c2 * x))
        return total

    def inner(self, one: Atom, two: Atom) -> Poly:
        for a, b in ((one, two), (two, one)):
            if a.tag == "E" and not b.rand:
                (mono,) = a.parts
                (vector,) = [x for x, _ in mono if x.vec]
                rest = {tuple(pair for pair in mono if not pair[0].vec): ONE}
                return self.expect(self.mul(rest, self.inner(vector, b)))
        if "each" in (one.tag, two.tag):
            name = self.fresh("c")
            both = [of_atom(self, a, self.var(name)) for a in (one, two)]
            return self.bind(self.mul(*both), all_coordinates(self, name))
        if one.text > two.text:
            one, two = two, one
        return self.of(self.atom("dot", one, two))

    def extreme(self, tag: str, parts: Iterable[Atom]) -> Poly:
        """max or min of polynomials as atoms: flattened, each once, in the order of texts."""
        flat: dict[Atom, None] = {}
        for part in parts:
            p = self.thawed(part)
            ((mono, c),) = p.items() if len(p) == 1 else (((), Fraction(0)),)
            inner = mono[0][0] if c == 1 and len(mono) == 1 and mono[0][1] == 1 else None
            for item in inner.parts if inner is not None and inner.tag == tag else (part,):
                flat[item] = None
        if len(flat) == 1:
            return self.thawed(next(iter(flat)))
        return self.of(self.atom(tag, *sorted(flat, key=lambda a: a.text)))

    # replacing

    def rename(self, a: Atom, names: dict[str, str]) -> Atom:
        """An atom with other free indices."""
        return self.one(a, self._names(names))

    def renamed(self, p: Poly, names: dict[str, str]) -> Poly:
        """A polynomial with other free indices."""
        return self.swapped(p, self._names(names))

    def putting(self, new: Mapping[str, Poly]) -> Swap:
        """Puts polynomials for free indices."""
        return Swap(lambda a: not a.frees.isdisjoint(new), lambda a: new.get(a.parts[0]) if a.tag == "v" else None)

    def _names(self, names: dict[str, str]) -> Swap:
        return Swap(lambda a: not a.frees.isdisjoint(names), lambda a: self._bound(a, names))

    def swapped(self, p: Poly, swap: Swap) -> Poly:
        """A polynomial in which atoms are replaced, also inside of others."""
        total: Poly = {}
        for m, c in p.items():
            if not any(swap.touches(a) for a, _ in m):
                total = self.add(total, {m: c})
                continue
            term: Poly = {(): c}
            for a, e in m:
                term = self.mul(term, self.power(self.replaced(a, swap), e) if swap.touches(a) else self.of(a, e))
            total = self.add(total, term)
        return total

    def replaced(self, a: Atom, swap: Swap) -> Poly:
        """What an atom becomes."""
        if not swap.touches(a):
            return self.of(a)
        self.spend(3)
        found = swap.at(a)
        if found is not None:
            return found
        if a.tag == "B":
            binders, body = self.opened(a)
            binders = [(kind, name, self.one(more, swap) if more else "") for kind, name, more in binders]
            term: Poly = UNIT
            for x, e in body:
                term = self.mul(term, self.power(self.replaced(x, swap), e))
            total: Poly = {}
            for m, c in term.items():
                opened, pairs = self.spread(m, lambda x: any(b[1] in x.frees for b in binders))
                total = self.add(total, self.scale(self.close([*binders, *opened], pairs), c))
            return total
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
        return self.of(self.atom(a.tag, *parts, vec=a.vec, level=a.level if a.tag in ("O", "weight", "least") else 0))

    def one(self, a: Atom, swap: Swap) -> Atom:
        """What an atom becomes that stays one atom (an index, or a polynomial as an atom)."""
        if not swap.touches(a):
            return a
        if a.tag == "P":
            return self.frozen(self.swapped(self.thawed(a), swap))
        found = self.replaced(a, swap)
        ((mono, c),) = found.items() if len(found) == 1 else (((), Fraction(0)),)
        if len(mono) != 1 or mono[0][1] != 1 or c != 1:
            raise Uncheckable("an index is replaced by what is none")
        return mono[0][0]

    def _part(self, part: Any, swap: Swap) -> Any:
        return self.one(part, swap) if isinstance(part, Atom) else part

    def keep(self, kind: Any, draw: Any, client: Any, number: Any, v: Poly) -> Poly:
        """Coordinates drawn and scaled, of a vector: linear in it."""
        return self.linear(v, lambda a: self.atom("keep", kind, draw, client, number, a, vec=True))

    def hess(self, name: str, v: Poly, where: Sequence[Atom]) -> Poly:
        """The gradient of a quadratic at a vector less that at 0: linear in it."""
        return self.linear(v, lambda a: self.atom("hess", name, a, *where, vec=True))

    def linear(self, v: Poly, of: Callable[[Atom], Atom]) -> Poly:
        """A linear map of a vector, given what it makes of each of its atoms."""
        total: Poly = {}
        for m, c in v.items():
            binders, pairs = self.spread(m, lambda a: a.vec)
            vector = next(a for a, _ in pairs if a.vec)
            rest = [pair for pair in pairs if not pair[0].vec]
            total = self.add(total, self.scale(self.close(binders, [*rest, (of(vector), 1)]), c))
        return total
