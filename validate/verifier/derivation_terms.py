"""Terms of derivations: polynomials over atoms, exact, with sums over clients, samples, rounds, turns, and E.

A vector is a polynomial each of whose monomials has exactly one vector among its atoms. Sums and means are atoms ``B``,
each a connected product of factors under the binders of the indices that connect them; expectations are atoms ``E`` of
a product of random factors.

Bound indices have names with ``@`` and the depth of their binder, always more than that of binders inside, so that no
index is captured; among the orders of the binders of one kind the least is taken. Names that are made up have ``#`` and
a number; they are given again once nothing is left in which they are free. Nobody changes a polynomial that is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, isqrt
from typing import Any

from .derivation_atoms import FIRST, Atom, Mono, Number, Poly, all_atoms, atoms_of, by_number, of_mono, of_pair
from .reading import Uncheckable

__all__ = ["FIRST", "ONE", "UNIT", "Atom", "Mono", "Number", "Poly", "Polynomials", "all_atoms", "atoms_of", "exact"]

MOST_WORK = 2_500_000
MOST_TERMS = 8_000
MOST_BITS = 20_000
MOST_SIZE = 500_000
MOST_POWER = 60
LARGEST = 1 << MOST_BITS
ONE: Number = 1
UNIT: Poly = {(): 1}


def exact(x: Number) -> Number:
    """The number, as an integer where it is one."""
    return x if x.__class__ is int else x.numerator if x.denominator == 1 else x


class Polynomials:
    """Makes atoms and polynomials, and counts the work.

    Attributes:
        certain: whether states and taps are certain, because the algorithm draws nothing.
        count: of the names that are made up.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[str, tuple[Any, ...]], Atom] = {}
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
        key = tag, parts
        found = self.known.get(key)
        if found is None:
            found = Atom(len(self.known), tag, parts, vec, level, self.certain)
            self.spend(1 + found.size // 4)
            if found.size > MOST_SIZE:
                raise Uncheckable("an expression is too long to be checked")
            self.known[key] = found
        return found

    def var(self, name: str) -> Atom:
        """An index."""
        return self.atom("v", name)

    def fresh(self, kind: str) -> str:
        """A name that no index has."""
        self.count += 1
        return f"{kind}#{self.count}"

    def done(self, p: Poly, mark: int) -> Poly:
        """A polynomial that is made with names that are given again now: `mark` is how many there were before.

        Raises:
            Uncheckable: where one of them is free in it.
        """
        for m in p:
            for a, _ in m:
                if a.fresh > mark:
                    raise Uncheckable("an index that nothing binds")
        self.count = mark
        return p

    def of(self, atom: Atom, exponent: int = 1) -> Poly:
        """An atom as a polynomial."""
        return {((atom, exponent),): 1}

    def frozen(self, p: Poly) -> Atom:
        """A polynomial as an atom, to stand inside of others."""
        return self.atom("P", *(sorted(p.items(), key=lambda item: of_mono(item[0])) if len(p) > 1 else p.items()))

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
        mono = tuple(sorted([pair for pair in powers.items() if pair[1]], key=of_pair))
        found: Poly = {mono: 1} if mono else UNIT
        return found if extra is None else self.mul(found, extra)

    def square_of(self, a: Atom) -> Poly:
        """The square of a root or an absolute value."""
        inside = self.thawed(a.parts[0])
        return self.mul(inside, inside) if a.tag == "abs" else inside

    def root(self, p: Poly) -> Poly:
        """The square root: of a rational square without a root, else with rational squares taken out."""
        if not p:
            return {}
        p = self.together(p)
        content = self.content(p)
        outside = Fraction(1)
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
        return self.scale(UNIT if rest == UNIT else self.of(self.atom("sqrt", self.frozen(rest))), outside)

    def absolute(self, p: Poly) -> Poly:
        """The absolute value: its content and its sign taken out."""
        p = self.together(p)
        if set(p) <= {()}:
            return {m: c if c > 0 else -c for m, c in p.items()}
        content = self.content(p)
        inside = self.scale(p, self.sign(p) / content)
        return self.scale(self.of(self.atom("abs", self.frozen(inside))), content)

    def applied(self, function: str, p: Poly) -> Poly:
        """The exponential or the logarithm: exp(0) is 1, log(1) is 0."""
        p = self.together(p)
        if (function == "exp" and not p) or (function == "log" and p == UNIT):
            return UNIT if not p else {}
        return self.of(self.atom(function, self.frozen(p)))

    # polynomials

    def add(self, *terms: Poly) -> Poly:
        """The sum."""
        total = dict(terms[0])
        for term in terms[1:]:
            self.into(total, term)
        return self.limited(total)

    def into(self, total: Poly, p: Poly, c: Number = 1) -> None:
        """Adds c*p to a sum that is being made."""
        self.spend(len(p))
        for m, x in p.items():
            if c != 1:
                x = c * x
                if x.__class__ is not int and x.denominator == 1:
                    x = x.numerator
            if m not in total:
                total[m] = x
            elif new := total[m] + x:
                total[m] = new
            else:
                del total[m]

    def limited(self, p: Poly) -> Poly:
        """The polynomial, if it is not too large.

        Raises:
            Uncheckable: where it is.
        """
        if len(p) > MOST_TERMS:
            raise Uncheckable("an expression has too many terms to be checked")
        for x in p.values():
            if not (-LARGEST < x.numerator < LARGEST and x.denominator < LARGEST):
                raise Uncheckable("a number is too long to be checked")
        return p

    def scale(self, p: Poly, c: Number) -> Poly:
        """A rational multiple."""
        total: Poly = {}
        if c:
            self.into(total, p, c)
        return self.limited(total)

    def sub(self, p: Poly, q: Poly) -> Poly:
        """The difference."""
        total = dict(p)
        self.into(total, q, -1)
        return self.limited(total)

    def mul(self, p: Poly, q: Poly) -> Poly:
        """The product."""
        self.spend(2 * len(p) * len(q))
        if p is UNIT or q is UNIT:
            return q if p is UNIT else p
        total: Poly = {}
        for m1, c1 in p.items():
            for m2, c2 in q.items():
                c = exact(c1 * c2)
                if m1 and m2:
                    found = self.times(m1, m2)
                    if found.__class__ is dict:
                        self.into(total, found, c)
                        continue
                    m: Any = found
                else:
                    m = m1 or m2
                new = total.get(m, 0) + c
                if new:
                    total[m] = new
                else:
                    del total[m]
        return self.limited(total)

    def times(self, m1: Mono, m2: Mono) -> Mono | Poly:
        """The product of two monomials: one, or a polynomial where a root is squared."""
        powers = dict(m1)
        for a, e in m2:
            if a not in powers:
                powers[a] = e
            elif a.special:
                return self.factors((*m1, *m2))
            elif new := powers[a] + e:
                powers[a] = new
            else:
                del powers[a]
        return tuple(sorted(powers.items(), key=of_pair))

    def power(self, p: Poly, e: int) -> Poly:
        """An integer power.

        Raises:
            Uncheckable: for a large one.
        """
        if abs(e) > MOST_POWER:
            raise Uncheckable(f"the power {e} is too large to be written out")
        if e < 0:
            return self.power(self.inverse(p), -e)
        found: Poly = p if e else UNIT
        for _ in range(e - 1):
            found = self.mul(found, p)
        return found

    def content(self, p: Poly) -> Fraction:
        """The positive rational that makes all coefficients coprime integers when it is divided out."""
        top, bottom = 0, 1
        for c in p.values():
            top = gcd(top, c.numerator)
            bottom = bottom * c.denominator // gcd(bottom, c.denominator)
        return Fraction(top or 1, bottom)

    def sign(self, p: Poly) -> int:
        """The sign of one of its coefficients, always of the same."""
        return -1 if p[min(p, key=of_mono)] < 0 else 1

    def primitive(self, p: Poly) -> Poly:
        """Divided by its content."""
        content = self.content(p)
        return p if content == 1 else self.scale(p, 1 / content)

    def inverse(self, p: Poly) -> Poly:
        """One over a polynomial: a monomial, or an atom ``inv`` of what remains without content."""
        if not p:
            raise Uncheckable("a division by 0")
        for a in sorted({a for m in p for a, _ in m if a.tag == "inv"}, key=by_number):
            den = self.thawed(a.parts[0])
            most = max(dict(m).get(a, 0) for m in p)
            return self.mul(self.power(den, most), self.inverse(self.cleared(p, a, most)))
        common: dict[Atom, int] = {}
        for a in sorted({a for m in p for a, _ in m}, key=by_number):
            common[a] = min(dict(m).get(a, 0) for m in p)
        shift = tuple((a, -e) for a, e in common.items() if e)
        rest = self.lowered(p, common) if shift else p
        by = self.sign(rest) / self.content(rest)
        rest = self.scale(rest, by)
        found = UNIT if set(rest) == {()} else self.of(self.atom("inv", self.frozen(rest)))
        found = self.scale(found, by)
        return self.mul(found, self.factors(shift)) if shift else found

    def lowered(self, p: Poly, common: dict[Atom, int]) -> Poly:
        """Each monomial without common powers; a root times one over it would not become 1, nor its square over it."""
        found: Poly = {}
        for m, c in p.items():
            powers = dict(m)
            for a, e in common.items():
                powers[a] = powers.get(a, 0) - e
            found[tuple(sorted([pair for pair in powers.items() if pair[1]], key=of_pair))] = c
        self.spend(len(p))
        return found

    def together(self, p: Poly) -> Poly:
        """A polynomial over its common denominator, so that sums of quotients inside of others are written alike."""
        for inv in sorted({a for m in p for a, _ in m if a.tag == "inv"}, key=by_number):
            exponents = {dict(m).get(inv, 0) for m in p}
            if len(exponents) > 1:
                p = self.mul(self.cleared(p, inv, max(exponents)), self.of(inv, max(exponents)))
        return p

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
