"""Quotients of polynomials over the rational numbers, in atoms: the numbers of the normal form.

An atom is anything with a text: two atoms are the same when their texts are. A monomial may have negative powers; a
denominator is a product of polynomials of two terms or more, primitive, the first coefficient positive. Zero is the
quotient whose numerator has no terms, and two quotients are equal when their difference is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from operator import add, sub
from typing import Any, TypeAlias

MOST_TERMS = 20_000
HIGHEST_POWER = 64


class RejectedError(ValueError):
    """What is not read here, or not accepted; it may be true all the same."""


@dataclass(frozen=True, eq=False)
class Atom:
    """A symbol of the normal form; `theory.derivation.terms` makes them.

    Attributes:
        kind: what it is.
        data: of what: names, indices, other atoms, monomials and quotients.
        text: which tells it from all others.
        free: the indices that are free in it.
        random: whether it is random.
        moments: the states and taps in it, with their indices.
        draws: the draws in it.
        square: of a root, or an absolute value, what its square is.
    """

    kind: str
    data: tuple[Any, ...]
    text: str
    free: frozenset[str] = frozenset()
    random: bool = False
    moments: frozenset[Any] = frozenset()
    draws: frozenset[Any] = frozenset()
    square: Quotient | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __lt__(self, other: Atom) -> bool:
        return self.text < other.text


Monomial: TypeAlias = tuple[tuple[Atom, int], ...]
Polynomial: TypeAlias = Mapping[Monomial, Fraction]
Frozen: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
"""A polynomial as a tuple, its terms sorted."""


def times(one: Monomial, other: Monomial) -> Monomial:
    """The product of two monomials."""
    if not one or not other:
        return one or other
    powers = dict(one)
    for atom, power in other:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((a, p) for a, p in powers.items() if p))


def _frozen(p: Polynomial) -> Frozen:
    return tuple(sorted(p.items()))


def _primitive(p: Polynomial) -> tuple[Fraction, Frozen]:
    """A polynomial as a rational number times one with integer coefficients without common divisor, the first > 0."""
    items = _frozen(p)
    over, under = 0, 1
    for _, c in items:
        over = gcd(over, c.numerator)
        under = under * c.denominator // gcd(under, c.denominator)
    content = Fraction(over, under) if items[0][1] > 0 else -Fraction(over, under)
    return content, tuple((m, c / content) for m, c in items)


@dataclass(frozen=True, eq=False)
class Quotient:
    """``over / product of under``.

    Attributes:
        over: the numerator's terms, none of them 0.
        under: the denominator's factors with their powers.
    """

    over: Polynomial
    under: Mapping[Frozen, int]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quotient) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __add__(self, other: Quotient) -> Quotient:
        if not self.over:
            return other
        if not other.over:
            return self
        if self.under == other.under:
            return _made(_sum(self.over, other.over), self.under)
        common = {p: max(self.under.get(p, 0), other.under.get(p, 0)) for p in (*self.under, *other.under)}
        one, two = (_lifted(q, common) for q in (self, other))
        return _made(_sum(one, two), common)

    def __neg__(self) -> Quotient:
        return Quotient({m: -c for m, c in self.over.items()}, self.under)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + -other

    def __mul__(self, other: Quotient) -> Quotient:
        if not self.over or not other.over:
            return ZERO
        under = dict(self.under)
        for p, power in other.under.items():
            under[p] = under.get(p, 0) + power
        product = _product(self.over, other.over)
        return _made(product.over, _joined(under, product.under))

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
        result = Quotient({(): Fraction(1)}, {})
        for p, power in self.under.items():
            for _ in range(power):
                result = result * Quotient(dict(p), {})
        if len(self.over) == 1:
            ((mono, c),) = self.over.items()
            return result * monomial(tuple((a, -power) for a, power in mono), 1 / c)
        content, p = _primitive(self.over)
        common = _shared(p)
        if common:
            turned = tuple((a, -power) for a, power in common)
            rest = {times(m, turned): c for m, c in p}
            sign, q = _primitive(rest)
            return result * monomial(turned, 1 / (content * sign)) * Quotient({(): Fraction(1)}, {q: 1})
        return result * Quotient({(): 1 / content}, {p: 1})

    def power(self, e: int) -> Quotient:
        """To an integer power; its 0th is 1.

        Raises:
            RejectedError: for powers beyond `HIGHEST_POWER`, and negative ones of 0.
        """
        if abs(e) > HIGHEST_POWER:
            raise RejectedError(f"the power {e} is too high")
        base, result = (self if e >= 0 else self.inverse()), ONE
        for _ in range(abs(e)):
            result = result * base
        return result

    @cached_property
    def number(self) -> Fraction | None:
        """The rational number that it is, or None."""
        if not self.over:
            return Fraction(0)
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
    def random(self) -> bool:
        """Whether something in it is random."""
        return any(a.random for a in self.atoms)

    @cached_property
    def draws(self) -> frozenset[Any]:
        """The draws in it."""
        return frozenset().union(*(a.draws for a in self.atoms))

    @cached_property
    def moments(self) -> frozenset[Any]:
        """The states and taps in it."""
        return frozenset().union(*(a.moments for a in self.atoms))

    @cached_property
    def text(self) -> str:
        """Which is the same for the same numerator and denominator."""
        under = "".join(f"/({_text(dict(p))})^{power}" for p, power in sorted(self.under.items()))
        return f"{_text(self.over)}{under}"

    @cached_property
    def direction(self) -> tuple[Fraction, str]:
        """It as a rational number times what the text stands for; equal texts, and it is a multiple. 0 has ""."""
        if not self.over:
            return Fraction(0), ""
        content, p = _primitive(self.over)
        return content, Quotient(dict(p), self.under).text

    def __iter__(self) -> Iterator[tuple[Monomial, Fraction]]:
        return iter(self.over.items())


def _text(p: Polynomial) -> str:
    return "+".join(
        "*".join([str(c), *(a.text if e == 1 else f"{a.text}^{e}" for a, e in m)]) for m, c in sorted(p.items())
    ) or "0"  # fmt: skip


def _sum(one: Polynomial, other: Polynomial) -> dict[Monomial, Fraction]:
    found = dict(one)
    for m, c in other.items():
        total = found.get(m, 0) + c
        if total:
            found[m] = total
        else:
            del found[m]
    return found


def _product(one: Polynomial, other: Polynomial) -> Quotient:
    if len(one) * len(other) > MOST_TERMS * 50:
        raise RejectedError("a product of too many terms")
    found: dict[Monomial, Fraction] = {}
    rest = ZERO
    for m, c in one.items():
        for n, b in other.items():
            product = times(m, n)
            if any(a.square is not None and e not in (0, 1) for a, e in product):
                rest = rest + _reduced(product, c * b)
                continue
            found[product] = found.get(product, Fraction(0)) + c * b
    found = {m: c for m, c in found.items() if c}
    if len(found) > MOST_TERMS:
        raise RejectedError("too many terms")
    return Quotient(found, {}) + rest


def _reduced(m: Monomial, c: Fraction) -> Quotient:
    """A monomial in which even powers of roots are written as powers of what is under them."""
    result = Quotient({tuple((a, e) for a, e in m if a.square is None): c}, {})
    for a, e in m:
        if a.square is not None:
            if e < 0 and a.kind == "draw":
                raise RejectedError("a division by what is drawn")
            if e % 2:
                result = result * Quotient({((a, 1),): Fraction(1)}, {})
            result = result * a.square.power((e - e % 2) // 2)
    return result


def _shared(p: Frozen) -> Monomial:
    """The monomial that all terms share, so that the rest has no negative powers, and no atom in all terms."""
    least: dict[Atom, int] = {}
    for a in {a for m, _ in p for a, _ in m}:
        if a.square is None:
            least[a] = min(dict(m).get(a, 0) for m, _ in p)
    return tuple(sorted((a, e) for a, e in least.items() if e))


def _joined(one: Mapping[Frozen, int], other: Mapping[Frozen, int]) -> dict[Frozen, int]:
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
            whole = _divided(over, dict(p))
            if whole is None:
                break
            over = whole
            left[p] -= 1
    return Quotient(over, {p: e for p, e in left.items() if e})


def _divided(over: Polynomial, by: Polynomial) -> Polynomial | None:
    """The polynomial by which another one is a multiple of `by`; None where it is none."""
    if any(a.square is not None for p in (by, over) for m in p for a, _ in m):
        return None
    own = {a for m in by for a, _ in m}
    groups: dict[Monomial, dict[Monomial, Fraction]] = {}  # by what has nothing of the divisor
    for m, c in over.items():
        outside = tuple((a, e) for a, e in m if a not in own)
        groups.setdefault(outside, {})[tuple((a, e) for a, e in m if a in own)] = c
    found: dict[Monomial, Fraction] = {}
    for outside, part in sorted(groups.items(), key=lambda group: len(group[1])):
        whole = _divided_there(part, by, sorted(own))
        if whole is None:
            return None
        found |= {times(outside, m): c for m, c in whole.items()}
    return found


def _divided_there(over: Polynomial, by: Polynomial, atoms: Sequence[Atom]) -> Polynomial | None:
    """The same of polynomials in these atoms."""
    places = {a: i for i, a in enumerate(atoms)}

    def powers(m: Monomial) -> tuple[int, ...]:
        own = [0] * len(atoms)
        for a, e in m:
            own[places[a]] = e
        return tuple(own)

    left, divisor = ({powers(m): c for m, c in p.items()} for p in (over, by))
    head, last = max(divisor), min(left)
    found: dict[tuple[int, ...], Fraction] = {}
    for _ in range(len(over) * 8 + 8):
        if not left:
            return {tuple((a, e) for a, e in zip(atoms, m, strict=True) if e): c for m, c in found.items()}
        top = max(left)
        step, c = tuple(map(sub, top, head)), left[top] / divisor[head]
        found[step] = c
        for m, b in divisor.items():
            at = tuple(map(add, step, m))
            total = left.get(at, Fraction(0)) - c * b
            if total:
                left[at] = total
            else:
                left.pop(at, None)
        if left and max(left) < last:
            return None
    return None


def monomial(m: Monomial, c: Fraction | int = 1) -> Quotient:
    """A monomial as a quotient."""
    if any(a.square is not None and e not in (0, 1) for a, e in m):
        return _reduced(m, Fraction(c))
    return Quotient({m: Fraction(c)}, {}) if c else ZERO


def constant(value: Fraction | int) -> Quotient:
    """A rational number."""
    return Quotient({(): Fraction(value)}, {}) if value else ZERO


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

    def of(p: Polynomial) -> Quotient:
        found = ZERO
        for m, c in p.items():
            product = constant(c)
            for a, e in m:
                product = product * new(a).power(e)
            found = found + product
        return found

    result = of(q.over)
    for p, power in q.under.items():
        result = result / of(dict(p)).power(power)
    return result


ZERO = Quotient({}, {})
ONE = constant(1)
