"""Polynomials over the rational numbers, in atoms: products, common factors, division.

An atom is a text that knows what it is: two atoms are the same when their texts are. A polynomial is a dictionary from
monomials, which are sorted, to their coefficients, none of them 0: integers, or fractions where they are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd
from operator import add, sub
from typing import Any, TypeAlias, TypeVar

MOST_TERMS = 20_000
REMEMBERED = 1 << 15
"""How many results of a function that is asked the same again and again are kept."""
_REMEMBERING: list[Any] = []
F = TypeVar("F", bound=Callable[..., Any])


class RejectedError(ValueError):
    """What is not read here, or not accepted; it may be true all the same."""


def remembered(function: F) -> F:
    """A function whose results hang on its arguments alone, and are kept until `forget`."""
    keeping = lru_cache(REMEMBERED)(function)
    _REMEMBERING.append(keeping)
    return keeping  # type: ignore[return-value]


def forget() -> None:
    """Keep no result of a function that is `remembered`: each derivation begins with none."""
    for one in _REMEMBERING:
        one.cache_clear()


class Atom(str):
    """A symbol of the normal form, which is its text; `theory.derivation.atoms.atom` makes them.

    Whatever is known of it hangs on its text alone, so that atoms of different claims may be remembered together.

    Attributes:
        kind: what it is.
        data: of what: names, indices, other atoms, monomials and quotients.
        free: the indices that are free in it.
        random: whether it is random.
        moments: the states and taps in it, with their indices.
        draws: the draws in it.
        reducible: whether its square is written as something else, as that of a root.
        height: the greatest number of an index that is bound in it; 0 where none is.
    """

    __slots__ = ("data", "draws", "free", "height", "kind", "moments", "random", "reducible")

    kind: str
    data: tuple[Any, ...]
    free: frozenset[str]
    random: bool
    moments: frozenset[Any]
    draws: frozenset[Any]
    reducible: bool
    height: int

    @property
    def text(self) -> str:
        """Which tells it from all others."""
        return self


Rational: TypeAlias = int | Fraction
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]
Polynomial: TypeAlias = Mapping[Monomial, Rational]
Frozen: TypeAlias = tuple[tuple[Monomial, Rational], ...]
"""A polynomial as a tuple, its terms sorted."""


def exact(c: Rational) -> Rational:
    """An integer where it is one."""
    return c if type(c) is int or c.denominator != 1 else c.numerator


def times(one: Monomial, other: Monomial) -> tuple[Monomial, bool]:
    """The product of two monomials, and whether it has a power of a root that is to be written as what is under it.

    They have no such power themselves.
    """
    if not one or not other:
        return one or other, False
    powers = dict(one)
    both = [(a, e) for a, e in other if a in powers]
    if not both:
        return tuple(sorted(one + other)), False
    for a, e in other:
        powers[a] = powers.get(a, 0) + e
    return tuple(sorted((a, e) for a, e in powers.items() if e)), any(a.reducible for a, _ in both)


def added(one: Polynomial, other: Polynomial) -> Polynomial:
    """The sum."""
    if len(one) < len(other):
        one, other = other, one
    found = dict(one)
    for m, c in other.items():
        total = found.get(m, 0) + c
        if total:
            found[m] = exact(total)
        else:
            del found[m]
    return found


def primitive(p: Polynomial | Frozen) -> tuple[Rational, Frozen]:
    """A polynomial as a rational number times one with integer coefficients without common divisor, the first > 0."""
    items = tuple(sorted(p if isinstance(p, tuple) else p.items()))
    over, under = 0, 1
    for _, c in items:
        over = gcd(over, c.numerator)
        under = under * c.denominator // gcd(under, c.denominator)
    content = exact(Fraction(over if items[0][1] > 0 else -over, under))
    return content, items if content == 1 else tuple((m, exact(Fraction(c, content))) for m, c in items)


def text_of(p: Polynomial) -> str:
    """Which is the same for equal polynomials."""
    return "+".join(
        "*".join([str(c), *(a if e == 1 else f"{a}^{e}" for a, e in m)]) for m, c in sorted(p.items())
    ) or "0"  # fmt: skip


def shared(p: Frozen) -> Monomial:
    """The monomial that all terms share, so that the rest has no negative powers, and no atom in all terms."""
    least: dict[Atom, int] = {}
    for a in {a for m, _ in p for a, _ in m}:
        if not a.reducible:
            least[a] = min(dict(m).get(a, 0) for m, _ in p)
    return tuple(sorted((a, e) for a, e in least.items() if e))


def divided(over: Polynomial, by: Polynomial) -> Polynomial | None:
    """The polynomial by which another one is a multiple of `by`; None where it is none."""
    if any(a.reducible for p in (by, over) for m in p for a, _ in m):
        return None
    own = {a for m in by for a, _ in m}
    groups: dict[Monomial, dict[Monomial, Rational]] = {}  # by what has nothing of the divisor
    for m, c in over.items():
        outside = tuple((a, e) for a, e in m if a not in own)
        groups.setdefault(outside, {})[tuple((a, e) for a, e in m if a in own)] = c
    found: dict[Monomial, Rational] = {}
    for outside, part in sorted(groups.items(), key=lambda group: len(group[1])):
        whole = _divided_there(part, by, sorted(own))
        if whole is None:
            return None
        found |= {times(outside, m)[0]: c for m, c in whole.items()}
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
    found: dict[tuple[int, ...], Rational] = {}
    for _ in range(len(over) * 8 + 8):
        if not left:
            return {tuple((a, e) for a, e in zip(atoms, m, strict=True) if e): c for m, c in found.items()}
        top = max(left)
        step, c = tuple(map(sub, top, head)), exact(Fraction(left[top], divisor[head]))
        found[step] = c
        for m, b in divisor.items():
            at = tuple(map(add, step, m))
            total = left.get(at, 0) - c * b
            if total:
                left[at] = total
            else:
                left.pop(at, None)
        if left and max(left) < last:
            return None
    return None
