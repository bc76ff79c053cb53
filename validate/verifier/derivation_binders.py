"""Terms of derivations: means and sums over indices, expectations, inner products, and replacing atoms in all of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from math import factorial
from typing import Any

from .derivation_atoms import by_number, of_pair
from .derivation_coordinates import binder as all_coordinates
from .derivation_coordinates import contracted, of_atom
from .derivation_terms import ONE, UNIT, Atom, Mono, Poly, Polynomials, atoms_of
from .reading import Uncheckable

Binder = tuple[str, str, Any]
"""Kind of the index (n, i, k, h, j), its name, and the client of i (an atom), or the upper end of k, h and j (a
polynomial as an atom); nothing for n."""
Pairs = list[tuple[Atom, int]]
MOST_ORDERS = 800


class Swap:
    """What is to be replaced: `at` gives what an atom becomes, or None; `touches` says whether to look inside of it.

    Both always say the same of an atom. Attributes: made, what atoms became.
    """

    def __init__(self, touches: Callable[[Atom], bool], at: Callable[[Atom], Poly | None]) -> None:
        self.touches, self.at = touches, at
        self.made: dict[Atom, Poly] = {}


def holding(meant: Callable[[Atom], bool]) -> Callable[[Atom], bool]:
    """Whether an atom is one of those that are meant, or one stands in it."""
    known: dict[Atom, bool] = {}

    def touches(a: Atom) -> bool:
        if a not in known:
            known[a] = meant(a) or any(touches(x) for x in atoms_of(a.parts))
        return known[a]

    return touches


class Binding(Polynomials, ABC):
    """Polynomials with binders. What hangs on nothing but atoms is made once."""

    def __init__(self) -> None:
        super().__init__()
        self.openings: dict[tuple[Atom, int], tuple[list[Binder], Pairs]] = {}
        self.components: dict[tuple[tuple[Binder, ...], Mono], Poly] = {}
        self.bounds: dict[tuple[Mono, Binder], Poly] = {}
        self.expected: dict[Mono, Poly] = {}
        self.products: dict[tuple[Mono, Mono], Poly] = {}

    @abstractmethod
    def names_in(self, a: Atom, names: dict[str, str]) -> Swap:
        """Other names for those free indices that an atom has."""

    @abstractmethod
    def rename(self, a: Atom, names: dict[str, str]) -> Atom:
        """An atom with other free indices."""

    @abstractmethod
    def one(self, a: Atom, swap: Swap) -> Atom:
        """What an atom becomes that stays one atom (an index, or a polynomial as an atom)."""

    @abstractmethod
    def signed(self, a: Atom, swap: Swap) -> tuple[Atom, int]:
        """An atom, and 1 or -1, whose product an atom becomes."""

    # putting factors under binders

    def close(self, binders: Sequence[Binder], factors: Iterable[tuple[Atom, int]]) -> Poly:
        """The product of the factors under these binders (a mean for n and i, a sum for k, h and j)."""
        total: Poly = {}
        for mono, c in self.factors(factors).items():
            self.into(total, self._close(list(binders), mono), c)
        return self.limited(total)

    def _close(self, binders: list[Binder], mono: Mono) -> Poly:
        count: Poly = UNIT
        while True:
            used = frozenset[str]().union(*[a.frees for a, _ in mono], *[b[2].frees for b in binders if b[2]])
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
                    self.into(product, self.close(every, [*summed[0], *pairs]), x)
                return self.mul(count, product)
        if not binders:
            return self.mul(count, {mono: ONE})
        groups: list[tuple[set[str], list[Binder], Pairs]] = []
        bound = {b[1] for b in binders}
        items: list[tuple[set[str], list[Binder], Pairs]] = []
        items += [({b[1]} | (set(b[2].frees) & bound if b[2] else set()), [b], []) for b in binders]
        items += [(set(a.frees) & bound, [], [(a, e)]) for a, e in mono]
        outside: Pairs = []
        for names, bs, pairs in items:
            if not names:
                outside += pairs
                continue
            for group in [g for g in groups if g[0] & names]:
                names, bs, pairs = names | group[0], group[1] + bs, group[2] + pairs
                groups.remove(group)
            groups.append((names, bs, pairs))
        found = self.mul(count, self.factors(outside))
        for _, bs, pairs in groups:
            found = self.mul(found, self._component(bs, tuple(sorted(pairs, key=of_pair))))
        return found

    def _component(self, binders: list[Binder], pairs: Mono) -> Poly:
        """Connected factors as an atom: the least over the orders of binders of one kind."""
        known = tuple(binders), pairs
        if known in self.components:
            return self.components[known]
        level = 1 + max(a.level for a, _ in pairs)

        def marked(b: Binder) -> tuple[object, ...]:
            names = {other[1]: f"{other[0]}@other" for other in binders} | {b[1]: f"{b[0]}@this"}
            found = sorted((self.rename(a, names).number, e) for a, e in pairs)
            return (self.rename(b[2], names).number if b[2] else -1), *found

        kinds: list[list[Binder]] = []
        for kind in "khjcni":
            ties: dict[Any, list[Binder]] = {}
            alike = [b for b in binders if b[0] == kind]
            for b in alike:
                ties.setdefault(marked(b) if len(alike) > 1 else (), []).append(b)
            kinds += [ties[key] for key in sorted(ties)]
        orders = 1
        for tied in kinds:
            orders *= factorial(len(tied))
        if orders > MOST_ORDERS:
            raise Uncheckable("a product has too many indices to be checked")
        best: tuple[tuple[int, ...], tuple[Binder, ...], Mono, int] | None = None
        for choice in product(*(permutations(tied) for tied in kinds)):
            order = [b for part in choice for b in part]
            names = {b[1]: f"{b[0]}@{level}.{at}" for at, b in enumerate(order)}
            ends = [self.rename(b[2], names) if b[2] else None for b in order]
            sign, powers = 1, dict[Atom, int]()
            for a, e in pairs:
                x, own = self.signed(a, self.names_in(a, names))
                sign *= own ** abs(e)
                powers[x] = powers.get(x, 0) + e
            body = tuple(sorted(powers.items(), key=of_pair))
            place = *(-1 if end is None else end.number for end in ends), *(x for a, e in body for x in (a.number, e))
            if best is None or place < best[0]:
                new = tuple((b[0], names[b[1]], end or "") for b, end in zip(order, ends, strict=True))
                best = place, new, body, sign
        assert best is not None
        _, new, body, sign = best
        atom = self.atom("B", new, body, vec=any(a.vec for a, _ in pairs), level=level)
        found = self.components[known] = {((atom, 1),): sign}
        return found

    def opened(self, a: Atom) -> tuple[list[Binder], Pairs]:
        """Binders and factors of a closed product, under names that nothing else has."""
        known = a, self.count
        if known not in self.openings:
            binders, body = a.parts
            names = {b[1]: self.fresh(b[0]) for b in binders}
            bound = Swap(lambda x: not x.bound.isdisjoint(names), lambda x: self.named(x, names))
            new = [(b[0], names[b[1]], self.one(b[2], bound) if b[2] else "") for b in binders]
            self.openings[known] = new, [(self.one(x, bound), e) for x, e in body]
        found = self.openings[known]
        self.count = known[1] + len(found[0])
        return found

    def unclosed(self, closed: Atom, name: str, new: str) -> Poly:
        """What was made an atom with an index of its own, which is now another one."""
        bound = Swap(lambda x: name in x.bound, lambda x: self.named(x, {name: new}))
        return self.thawed(self.one(closed, bound))

    def named(self, a: Atom, names: dict[str, str]) -> Poly | None:
        """What an index is in other names."""
        return self.of(self.var(names[a.parts[0]])) if a.tag == "v" and a.parts[0] in names else None

    def bind(self, p: Poly, binder: Binder) -> Poly:
        """The mean or sum over an index of a polynomial."""
        total, name = Poly(), binder[1]
        for m, c in p.items():
            if (m, binder) not in self.bounds:
                mark = self.count
                more, inside = self.spread(m, lambda a: name in a.frees)
                self.bounds[m, binder] = self.done(self.close([binder, *more], inside), mark)
            self.into(total, self.bounds[m, binder], c)
        return self.limited(total)

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

    def under(self, binders: Sequence[Binder], p: Poly) -> Poly:
        """A polynomial under binders, with those closed products opened that hang on what is bound."""
        bound, total = {b[1] for b in binders}, Poly()
        for m, c in p.items():
            opened, pairs = self.spread(m, lambda a: not bound.isdisjoint(a.frees))
            self.into(total, self.close([*binders, *opened], pairs), c)
        return self.limited(total)

    def expect(self, p: Poly) -> Poly:
        """E of a polynomial: what is not random is let out, products of what is stay together."""
        total: Poly = {}
        for m, c in p.items():
            if m not in self.expected:
                self.expected[m] = self._expected(m) if any(a.rand for a, _ in m) else {m: ONE}
            self.into(total, self.expected[m], c)
        return self.limited(total)

    def _expected(self, m: Mono) -> Poly:
        total, mark = Poly(), self.count
        binders, pairs = self.spread(m, lambda a: a.rand)
        for mono, x in self.factors(pairs).items():
            random = tuple(pair for pair in mono if pair[0].rand)
            rest = [pair for pair in mono if not pair[0].rand]
            if random:
                rest.append((self.atom("E", random, vec=any(a.vec for a, _ in random)), 1))
            self.into(total, self.close(binders, rest), x)
        return self.done(total, mark)

    # vectors

    def dot(self, u: Poly, v: Poly) -> Poly:
        """The inner product."""
        total: Poly = {}
        for m1, c1 in u.items():
            for m2, c2 in v.items():
                if (m1, m2) not in self.products:
                    self.products[m1, m2] = self._dot(m1, m2)
                self.into(total, self.products[m1, m2], c1 * c2)
        return self.limited(total)

    def _dot(self, m1: Mono, m2: Mono) -> Poly:
        total, mark = Poly(), self.count
        b1, pairs1 = self.spread(m1, lambda a: a.vec)
        b2, pairs2 = self.spread(m2, lambda a: a.vec)
        one, two = (next(a for a, _ in pairs if a.vec) for pairs in (pairs1, pairs2))
        rest = [pair for pair in (*pairs1, *pairs2) if not pair[0].vec]
        for m, x in self.inner(one, two).items():
            every, pairs = self.joined([*b1, *b2], m)
            self.into(total, self.close(every, [*pairs, *rest]), x)
        return self.done(total, mark)

    def inner(self, one: Atom, two: Atom) -> Poly:
        for a, b in ((one, two), (two, one)):
            if a.tag == "E" and not b.rand:
                (mono,) = a.parts
                (vector,) = [x for x, _ in mono if x.vec]
                rest = {tuple(pair for pair in mono if not pair[0].vec): ONE}
                return self.expect(self.mul(rest, self.inner(vector, b)))
        if "each" in (one.tag, two.tag):
            mark, name = self.count, self.fresh("c")
            both = [of_atom(self, a, self.var(name)) for a in (one, two)]
            return self.done(self.bind(self.mul(*both), all_coordinates(self, name)), mark)
        if one.number > two.number:
            one, two = two, one
        return self.of(self.atom("dot", one, two))

    def extreme(self, tag: str, parts: Iterable[Atom]) -> Poly:
        """max or min of polynomials as atoms: flattened, each once, in order."""
        flat: dict[Atom, None] = {}
        for part in parts:
            p = self.thawed(part)
            ((mono, c),) = p.items() if len(p) == 1 else (((), 0),)
            inner = mono[0][0] if c == 1 and len(mono) == 1 and mono[0][1] == 1 else None
            for item in inner.parts if inner is not None and inner.tag == tag else (part,):
                flat[item] = None
        if len(flat) == 1:
            return self.thawed(next(iter(flat)))
        return self.of(self.atom(tag, *sorted(flat, key=by_number)))

    # linear maps

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
            mark = self.count
            binders, pairs = self.spread(m, lambda a: a.vec)
            vector = next(a for a, _ in pairs if a.vec)
            rest = [pair for pair in pairs if not pair[0].vec]
            self.into(total, self.done(self.close(binders, [*rest, (of(vector), 1)]), mark), c)
        return self.limited(total)
