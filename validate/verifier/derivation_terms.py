"""Terms of derivations: polynomials over atoms, exact, with sums over clients, samples, rounds, turns, and E.

A polynomial is a dict from monomials to fractions; a monomial is a tuple of (atom, exponent) in the order of their
texts. Atoms are interned: two are the same if and only if they are one object. A vector is a polynomial each of whose
monomials has exactly one vector among its atoms. Sums and means are atoms ``B``, each a connected product of factors
under the binders of the indices that connect them; expectations are atoms ``E`` of a product of random factors.

Bound indices have names with ``@`` and the depth of their binder, always more than that of binders inside, so that no
index is captured; among the orders of the binders of one kind the least text is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd, isqrt
from typing import Any

from .reading import Uncheckable

Mono = tuple[tuple["Atom", int], ...]
Poly = dict[Mono, Fraction]

MOST_WORK = 2_500_000
MOST_TERMS = 8_000
MOST_BITS = 20_000
MOST_TEXT = 200_000
MOST_POWER = 60
ONE = Fraction(1)
UNIT: Poly = {(): ONE}
RANDOM = ("x", "tap", "draw", "noise", "keep", "drawn")
SQUARED = ("sqrt", "abs")
ZERO_OR_ONE = ("coin", "coins", "choose")
CERTAIN = ("E", "quantile")
"""Numbers that are not drawn, whatever stands in them."""
FIRST = "first"
"""The index of the first client, which nothing binds."""


class Atom:
    """One name, or an operation on others.

    Attributes:
        frees: the free indices. rand: whether it is drawn. dr: (draw, client) of the round's draws in it.
        leaves: the states and taps in it. level: the depth of binders. vec: whether it is a vector.
    """

    __slots__ = ("dr", "frees", "leaves", "level", "parts", "rand", "special", "tag", "text", "vec")

    def __init__(self, tag: str, parts: tuple[Any, ...], text: str, vec: bool, level: int, certain: bool) -> None:
        self.tag, self.parts, self.text, self.vec = tag, parts, text, vec
        inner = list(atoms_of(parts))
        self.level: int = max([level, *(a.level for a in inner)])
        self.frees: frozenset[str] = frozenset().union(*(a.frees for a in inner))
        drawn = tag in RANDOM and not (certain and tag in ("x", "tap"))
        self.rand: bool = drawn or (tag not in CERTAIN and any(a.rand for a in inner))
        self.dr: frozenset[tuple[int, str]] = frozenset()
        self.leaves: frozenset[Atom] = frozenset()
        if tag not in CERTAIN:
            self.dr = self.dr.union(*(a.dr for a in inner))
            self.leaves = self.leaves.union(*(a.leaves for a in inner))
        if tag == "v" and "@" not in parts[0] and parts[0] != FIRST:
            self.frees = frozenset(parts)
        if tag in ("draw", "noise", "keep", "drawn"):
            self.dr |= {(parts[1], parts[2].parts[0] if isinstance(parts[2], Atom) else "")}
        if tag in ("x", "tap"):
            self.leaves |= {self}
        self.special = tag in SQUARED or (tag == "draw" and parts[0] in ZERO_OR_ONE)

    def __repr__(self) -> str:
        return self.text


def atoms_of(parts: Iterable[Any]) -> Iterator[Atom]:
    """The atoms directly in parts, which may be atoms, names, numbers, and tuples of them."""
    for part in parts:
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, tuple):
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


def _text(part: Any) -> str:
    if isinstance(part, Atom):
        return part.text
    if isinstance(part, tuple):
        return "(" + ",".join(map(_text, part)) + ")"
    return str(part)


class Polynomials:
    """Makes atoms and polynomials, and counts the work.

    Attributes:
        certain: whether states and taps are certain, because the algorithm draws nothing.
    """

    def __init__(self) -> None:
        self.known: dict[str, Atom] = {}
        self.certain = False
        self.work = MOST_WORK
        self.count = 0

    def spend(self, amount: int = 1) -> None:
        """Counts work.

        Raises:
            Uncheckable: when it is too much.
        """
        self.work -= amount
        if self.work < 0:
            raise Uncheckable("it takes too much work to be checked")

    # atoms and monomials

    def atom(self, tag: str, *parts: Any, vec: bool = False, level: int = 0) -> Atom:
        """The one atom with this tag and these parts."""
        text = tag + _text(parts)
        found = self.known.get(text)
        if found is None:
            self.spend(1 + len(text) // 20)
            if len(text) > MOST_TEXT:
                raise Uncheckable("an expression is too long to be checked")
            found = self.known[text] = Atom(tag, parts, text, vec, level, self.certain)
        return found

    def var(self, name: str) -> Atom:
        """An index."""
        return self.atom("v", name)

    def fresh(self, kind: str) -> str:
        """A name that no index has."""
        self.count += 1
        return f"{kind}#{self.count}"

    def of(self, atom: Atom, exponent: int = 1) -> Poly:
        """An atom as a polynomial."""
        return {((atom, exponent),): ONE}

    def frozen(self, p: Poly) -> Atom:
        """A polynomial as an atom, to stand inside of others."""
        items = sorted(((_text(m), m, c) for m, c in p.items()), key=lambda item: item[0])
        return self.atom("P", *((m, c) for _, m, c in items))

    def thawed(self, atom: Atom) -> Poly:
        """The polynomial that was made an atom."""
        return dict(atom.parts)

    def factors(self, pairs: Iterable[tuple[Atom, int]]) -> Poly:
        """The product of powers of atoms."""
        powers: dict[Atom, int] = {}
        for a, e in pairs:
            powers[a] = powers.get(a, 0) + e
        extra: Poly | None = None
        for a in [a for a, e in powers.items() if a.special and not 0 <= e <= 1]:
            if a.tag == "draw":
                if powers[a] < 0:
                    raise Uncheckable("a division by a number that is drawn")
                powers[a] = 1
                continue
            half, powers[a] = divmod(powers[a], 2)
            extra = self.mul(extra or UNIT, self.power(self.square_of(a), half))
        mono = tuple(sorted(((a, e) for a, e in powers.items() if e), key=lambda pair: pair[0].text))
        return {mono: ONE} if extra is None else self.mul({mono: ONE}, extra)

    def square_of(self, a: Atom) -> Poly:
        """The square of a root or an absolute value."""
        inside = self.thawed(a.parts[0])
        return self.mul(inside, inside) if a.tag == "abs" else inside

    def root(self, p: Poly) -> Poly:
        """The square root: of a rational square without a root, else with rational squares taken out."""
        if not p:
            return {}
        content = self.content(p)
        outside = ONE
        for prime in (2, 3, 5, 7, 11, 13):
            for power, sign in ((content.numerator, 1), (content.denominator, -1)):
                while power % prime**2 == 0:
                    power //= prime**2
                    outside *= Fraction(prime) ** sign
        left = content / outside**2
        top, bottom = isqrt(left.numerator), isqrt(left.denominator)
        if top**2 == left.numerator and bottom**2 == left.denominator:
            outside *= Fraction(top, bottom)
        rest = self.scale(p, 1 / outside**2)
        return {(): outside} if rest == UNIT else self.scale(self.of(self.atom("sqrt", self.frozen(rest))), outside)

    def absolute(self, p: Poly) -> Poly:
        """The absolute value: its content and its sign taken out."""
        if set(p) <= {()}:
            return {m: abs(c) for m, c in p.items()}
        content = self.content(p) * (-1 if p[min(p, key=_text)] < 0 else 1)
        return self.scale(self.of(self.atom("abs", self.frozen(self.scale(p, 1 / content)))), abs(content))

    def applied(self, function: str, p: Poly) -> Poly:
        """The exponential or the logarithm: exp(0) is 1, log(1) is 0."""
        if (function == "exp" and not p) or (function == "log" and p == UNIT):
            return UNIT if not p else {}
        return self.of(self.atom(function, self.frozen(p)))

    # polynomials

    def add(self, *terms: Poly) -> Poly:
        """The sum."""
        total = dict(terms[0])
        for term in terms[1:]:
            self.spend(len(term))
            for m, c in term.items():
                new = total.get(m, 0) + c
                if new:
                    total[m] = new
                else:
                    total.pop(m, None)
        return self.limited(total)

    def limited(self, p: Poly) -> Poly:
        """The polynomial, if it is not too large."""
        if len(p) > MOST_TERMS:
            raise Uncheckable("an expression has too many terms to be checked")
        return p

    def scale(self, p: Poly, c: Fraction | int) -> Poly:
        """A rational multiple."""
        if not c:
            return {}
        found = {m: x * c for m, x in p.items()}
        self.spend(len(found))
        for x in found.values():
            if max(x.numerator.bit_length(), x.denominator.bit_length()) > MOST_BITS:
                raise Uncheckable("a number is too long to be checked")
        return found

    def sub(self, p: Poly, q: Poly) -> Poly:
        """The difference."""
        return self.add(p, self.scale(q, -1))

    def mul(self, p: Poly, q: Poly) -> Poly:
        """The product."""
        self.spend(2 * len(p) * len(q))
        total: Poly = {}
        for m1, c1 in p.items():
            for m2, c2 in q.items():
                c = c1 * c2
                for m, x in self.factors((*m1, *m2)).items() if m1 and m2 else (((m1 or m2), ONE),):
                    new = total.get(m, 0) + c * x
                    if new:
                        total[m] = new
                    else:
                        total.pop(m, None)
        return self.scale(self.limited(total), 1)

    def power(self, p: Poly, e: int) -> Poly:
        """An integer power.

        Raises:
            Uncheckable: for a large one.
        """
        if abs(e) > MOST_POWER:
            raise Uncheckable(f"the power {e} is too large to be written out")
        if e < 0:
            return self.power(self.inverse(p), -e)
        found: Poly = UNIT
        for _ in range(e):
            found = self.mul(found, p)
        return found

    def content(self, p: Poly) -> Fraction:
        """The positive rational that makes all coefficients coprime integers when it is divided out."""
        top, bottom = 0, 1
        for c in p.values():
            top = gcd(top, c.numerator)
            bottom = bottom * c.denominator // gcd(bottom, c.denominator)
        return Fraction(top or 1, bottom)

    def primitive(self, p: Poly) -> Poly:
        """Divided by its content."""
        return self.scale(p, 1 / self.content(p))

    def inverse(self, p: Poly) -> Poly:
        """One over a polynomial: a monomial, or an atom ``inv`` of what remains without content."""
        if not p:
            raise Uncheckable("a division by 0")
        for a in sorted({a for m in p for a, _ in m if a.tag == "inv"}, key=lambda a: a.text):
            den = self.thawed(a.parts[0])
            most = max(dict(m).get(a, 0) for m in p)
            return self.mul(self.power(den, most), self.inverse(self.cleared(p, a, most)))
        common: dict[Atom, int] = {}
        for a in sorted({a for m in p for a, _ in m}, key=lambda a: a.text):
            common[a] = min(dict(m).get(a, 0) for m in p)
        shift = tuple((a, -e) for a, e in common.items() if e)
        rest = self.mul(p, self.factors(shift)) if shift else p
        content = self.content(rest)
        if rest[min(rest, key=_text)] < 0:
            content = -content
        rest = self.scale(rest, 1 / content)
        found: Poly = {(): 1 / content}
        if set(rest) != {()}:
            found = self.scale(self.of(self.atom("inv", self.frozen(rest))), 1 / content)
        return self.mul(found, self.factors(shift)) if shift else found

    def cleared(self, p: Poly, inv: Atom, most: int) -> Poly:
        """p times the denominator to the power `most`, in which no negative power of it is left."""
        den = self.thawed(inv.parts[0])
        by: dict[int, Poly] = {}
        for m, c in p.items():
            e = dict(m).get(inv, 0)
            rest = tuple(pair for pair in m if pair[0] is not inv)
            by.setdefault(most - e, {})[rest] = c
        return self.add({}, *(self.mul(part, self.power(den, e)) for e, part in by.items()))

    def is_zero(self, p: Poly) -> bool:
        """Whether it is 0 as a rational function of its atoms."""
        while p:
            inv = next((a for m in p for a, _ in m if a.tag == "inv"), None)
            if inv is None:
                return False
            p = self.cleared(p, inv, max(dict(m).get(inv, 0) for m in p))
        return True
