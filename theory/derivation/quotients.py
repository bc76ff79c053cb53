"""Quotients of polynomials over the rational numbers, in atoms: the numbers of the normal form.

A monomial may have negative powers; a denominator is a product of polynomials of two terms or more, primitive, the
first coefficient positive. Zero is the quotient whose numerator has no terms, and two quotients are equal when their
difference is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from theory.derivation.polynomials import (
    MOST_TERMS,
    Atom,
    Frozen,
    Monomial,
    Polynomial,
    Rational,
    RejectedError,
    added,
    divided,
    exact,
    primitive,
    remembered,
    shared,
    text_of,
    times,
)

HIGHEST_POWER = 64


class Quotient:
    """``over / product of under``; never changed.

    Args:
        over: the numerator's terms, none of them 0.
        under: the denominator's factors with their powers.
    """

    def __init__(self, over: Polynomial, under: Mapping[Frozen, int]) -> None:
        self.over, self.under = over, under

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Quotient) and self.text == other.text)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.text)

    def __add__(self, other: Quotient) -> Quotient:
        if not self.over:
            return other
        if not other.over:
            return self
        if self.under == other.under:
            return _made(added(self.over, other.over), self.under)
        common = {p: max(self.under.get(p, 0), other.under.get(p, 0)) for p in (*self.under, *other.under)}
        one, two = (_lifted(q, common) for q in (self, other))
        return _made(added(one, two), common)

    def __neg__(self) -> Quotient:
        return Quotient({m: -c for m, c in self.over.items()}, self.under)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + -other

    def __mul__(self, other: Quotient) -> Quotient:
        if not self.over or not other.over:
            return ZERO
        product = _product(self.over, other.over)
        if not self.under and not other.under and not product.under:
            return product
        under = _joined(_joined(self.under, other.under), product.under)
        return _made(product.over, under)

    def __truediv__(self, other: Quotient) -> Quotient:
        return self * other.inverse()

    @property
    def zero(self) -> bool:
        """Whether it is 0."""
        return not self.over

    def inverse(self) -> Quotient:
        """1 over it.

        Raises:
            RejectedError: where it is 0.
        """
        if not self.over:
            raise RejectedError("a division by 0")
        result = ONE
        for p, power in self.under.items():
            for _ in range(power):
                result = result * Quotient(dict(p), {})
        if len(self.over) == 1:
            ((mono, c),) = self.over.items()
            return result * monomial(tuple((a, -power) for a, power in mono), exact(Fraction(1, c)))
        content, p = primitive(self.over)
        common = shared(p)
        if common:
            turned = tuple((a, -power) for a, power in common)
            rest = {times(m, turned)[0]: c for m, c in p}
            sign, q = primitive(rest)
            return result * monomial(turned, exact(Fraction(1, content * sign))) * Quotient(ONE.over, {q: 1})
        return result * Quotient({(): exact(Fraction(1, content))}, {p: 1})

    def power(self, e: int) -> Quotient:
        """To an integer power; its 0th is 1.

        Raises:
            RejectedError: for powers beyond `HIGHEST_POWER`, and negative ones of 0.
        """
        if abs(e) > HIGHEST_POWER:
            raise RejectedError(f"the power {e} is too high")
        if not e:
            return ONE
        base = result = self if e >= 0 else self.inverse()
        for _ in range(abs(e) - 1):
            result = result * base
        return result

    @cached_property
    def number(self) -> Rational | None:
        """The rational number that it is, or None."""
        if not self.over:
            return 0
        return self.over.get(()) if not self.under and set(self.over) == {()} else None

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        """The atoms that occur."""
        polynomials = [self.over, *(dict(p) for p in self.under)]
        return frozenset(a for p in polynomials for m in p for a, _ in m)

    @cached_property
    def free(self) -> frozenset[str]:
        """The indices that are free in it."""
        return frozenset().union(*(a.free for a in self.atoms))

    @cached_property
    def height(self) -> int:
        """The greatest number of an index that is bound in it; 0 where none is."""
        return max((a.height for a in self.atoms), default=0)

    @cached_property
    def random(self) -> bool:
        """Whether something in it is random."""
        return any(a.random for a in self.atoms)

    @cached_property
    def draws(self) -> frozenset[Any]:
        return frozenset().union(*(a.draws for a in self.atoms))

    @cached_property
    def moments(self) -> frozenset[Any]:
        """The states and taps in it."""
        return frozenset().union(*(a.moments for a in self.atoms))

    @cached_property
    def text(self) -> str:
        """Which is the same for the same numerator and denominator."""
        under = "".join(f"/({text_of(dict(p))})^{power}" for p, power in sorted(self.under.items()))
        return f"{text_of(self.over)}{under}"

    @cached_property
    def direction(self) -> tuple[Rational, str]:
        """It as a rational number times what the text stands for; equal texts, and it is a multiple. 0 has ""."""
        if not self.over:
            return 0, ""
        content, p = primitive(self.over)
        return content, Quotient(dict(p), self.under).text

    def __iter__(self) -> Iterator[tuple[Monomial, Rational]]:
        return iter(self.over.items())


def _product(one: Polynomial, other: Polynomial) -> Quotient:
    for p, q in ((one, other), (other, one)):
        if len(p) == 1 and () in p and len(q) <= MOST_TERMS:
            c = p[()]
            return Quotient(q if c == 1 else {m: exact(b * c) for m, b in q.items()}, {})
    if len(one) * len(other) > MOST_TERMS * 50:
        raise RejectedError("a product of too many terms")
    found: dict[Monomial, Rational] = {}
    rest = ZERO
    for m, c in one.items():
        for n, b in other.items():
            product, reducible = times(m, n)
            if reducible:
                rest = rest + _reduced(product, c * b)
                continue
            found[product] = found.get(product, 0) + c * b
    found = {m: exact(c) for m, c in found.items() if c}
    if len(found) > MOST_TERMS:
        raise RejectedError("too many terms")
    made = Quotient(found, {})
    return made + rest if rest.over else made


def _reduced(m: Monomial, c: Rational) -> Quotient:
    """A monomial in which even powers of roots are written as powers of what is under them."""
    result = Quotient({tuple((a, e) for a, e in m if not a.reducible): c}, {})
    for a, e in m:
        if a.reducible:
            if e < 0 and a.kind == "draw":
                raise RejectedError("a division by what is drawn")
            if e % 2:
                result = result * Quotient({((a, 1),): 1}, {})
            result = result * _square(a).power((e - e % 2) // 2)
    return result


def _square(a: Atom) -> Quotient:
    """What is under a root, or the square of an absolute value; what is drawn of 0 and 1 is its own square."""
    if a.kind == "draw":
        return Quotient({((a, 1),): 1}, {})
    inside: Quotient = a.data[0]
    return inside if a.kind == "sqrt" else inside * inside


def _joined(one: Mapping[Frozen, int], other: Mapping[Frozen, int]) -> Mapping[Frozen, int]:
    if not one or not other:
        return one or other
    return {p: one.get(p, 0) + other.get(p, 0) for p in (*one, *other)}


def _lifted(q: Quotient, common: Mapping[Frozen, int]) -> Polynomial:
    """The numerator of q over a common denominator.

    Raises:
        RejectedError: where a root in it brings a denominator of its own.
    """
    over: Polynomial = q.over
    for p, power in common.items():
        for _ in range(power - q.under.get(p, 0)):
            product = _product(over, dict(p))
            if product.under:
                raise RejectedError("a quotient under a root in a denominator")
            over = product.over
    return over


def _made(over: Polynomial, under: Mapping[Frozen, int]) -> Quotient:
    """A quotient, with factors of the denominator that divide the numerator taken out."""
    if not over:
        return ZERO
    left = dict(under)
    for p in under:
        while left.get(p):
            whole = divided(over, dict(p))
            if whole is None:
                break
            over = whole
            left[p] -= 1
    return Quotient(over, {p: e for p, e in left.items() if e})


def monomial(m: Monomial, c: Rational = 1) -> Quotient:
    """A monomial as a quotient."""
    if any(a.reducible and e not in (0, 1) for a, e in m):
        return _reduced(m, c)
    return Quotient({m: exact(c)}, {}) if c else ZERO


def constant(value: Rational) -> Quotient:
    """A rational number."""
    return Quotient({(): exact(value)}, {}) if value else ZERO


@remembered
def of_atom(atom: Atom, power: int = 1) -> Quotient:
    """A power of an atom."""
    return monomial(((atom, power),))


def total(items: Iterable[Quotient]) -> Quotient:
    """The sum."""
    found = ZERO
    for item in items:
        found = found + item
    return found


def mapped(q: Quotient, new: Callable[[Atom], Quotient]) -> Quotient:
    """With every atom replaced."""
    made: dict[Atom, Quotient] = {}

    def replaced(a: Atom) -> bool:
        if a not in made:
            made[a] = new(a)
        return made[a] is not of_atom(a)

    def of(p: Polynomial) -> Quotient:
        found: dict[Monomial, Rational] = {}
        changed = ZERO
        for m, c in p.items():
            some = [replaced(a) for a, _ in m]
            if not any(some):
                found[m] = c
                continue
            product = Quotient({tuple(pair for pair, other in zip(m, some, strict=True) if not other): c}, {})
            for (a, e), other in zip(m, some, strict=True):
                if other:
                    product = product * made[a].power(e)
            changed = changed + product
        return Quotient(found, {}) + changed if found else changed

    result = of(q.over)
    for p, power in q.under.items():
        result = result / of(dict(p)).power(power)
    return result


ZERO = Quotient({}, {})
ONE = constant(1)
