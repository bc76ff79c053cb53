"""Coefficients: rational functions of numbers' atoms (``eta``, ``N``, ``(1 - eta*mu)**k``), as elements of a field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt, lcm
from operator import add
from typing import Any, TypeAlias

import numpy as np

Element: TypeAlias = Any
"""Of sympy's field of fractions over Q."""


@dataclass(frozen=True)
class Field:
    """Q(atoms).

    Attributes:
        atoms: texts of formulas that stand for its generators; distinct.
    """

    atoms: tuple[str, ...]

    @cached_property
    def inner(self) -> Any:
        """Sympy's field."""
        from sympy import QQ, symbols
        from sympy.polys.fields import FracField
        from sympy.polys.orderings import lex

        return FracField(symbols(f"a0:{max(1, len(self.atoms))}"), QQ, lex)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each atom."""
        return {text: i for i, text in enumerate(self.atoms)}

    @cached_property
    def elements(self) -> dict[str, Element]:
        """Elements that were made, by the text of the number in normal form."""
        return {}

    def atom(self, text: str) -> Element:
        """The generator that a formula stands for."""
        return self.inner.gens[self.places[text]]

    def number(self, value: Fraction | int) -> Element:
        """A rational number."""
        from sympy import QQ

        value = Fraction(value)
        above, below = QQ(value.numerator), QQ(value.denominator)  # in lowest terms: nothing is to be cancelled
        return self.inner.raw_new(self.inner.ring.ground_new(above), self.inner.ring.ground_new(below))

    def polynomial(self, terms: Mapping[tuple[int, ...], Fraction]) -> Element:
        """From exponents of the atoms, which may be negative, to coefficients."""
        from sympy import QQ

        terms = {m: c for m, c in terms.items() if c}
        if not terms:
            return self.inner.zero
        ring = self.inner.ring
        rest = (0,) * (len(self.inner.gens) - len(next(iter(terms))))
        below = tuple(max(0, *(-n for n in column)) for column in zip(*terms, strict=True))
        made = {(*map(add, m, below), *rest): QQ(c.numerator, c.denominator) for m, c in terms.items()}
        found = self.inner.field_new(ring.from_dict(made))  # in lowest terms, and so it is over the atoms below
        if not any(below):
            return found
        return self.inner.raw_new(found.numer, found.denom * ring.from_dict({(*below, *rest): QQ(1)}))

    def put(self, e: Element, at: int, value: Element) -> Element:
        """With the atom in one place replaced by an element."""
        context = _context(len(self.inner.gens))
        a, b = (_in_flint(p, context) for p in (value.numer, value.denom))
        powers = {0: (context.constant(1), context.constant(1))}

        def power(n: int) -> tuple[Any, Any]:
            if n not in powers:
                x, y = power(n - 1)
                powers[n] = x * a, y * b
            return powers[n]

        def of(p: Any) -> tuple[Any, int]:
            """Times the denominator to the highest power of the atom, and that."""
            most = max(m[at] for m in p)
            some: dict[int, dict[Any, Any]] = {}
            for m, c in p.terms():
                some.setdefault(m[at], {})[(*m[:at], 0, *m[at + 1 :])] = c
            whole = context.constant(0)
            for n, terms in some.items():
                whole += _of_terms(terms.items(), context) * power(n)[0] * power(most - n)[1]
            return whole, most

        if not e:
            return e
        (above, n), (below, m) = of(e.numer), of(e.denom)
        least = min(n, m)
        return self._cancelled(above * power(m - least)[1], below * power(n - least)[1])

    def _cancelled(self, above: Any, below: Any) -> Element:
        """A quotient of FLINT's polynomials in lowest terms, as sympy has it: whole numbers, the lower leading one > 0.

        Raises:
            ZeroDivisionError: where the denominator is 0.
        """
        if not below:
            raise ZeroDivisionError("a denominator is 0")
        if not above:
            return self.inner.zero
        common = above.gcd(below)
        above, below = above / common, below / common
        coefficients = [c for p in (above, below) for c in p.coeffs()]
        by = lcm(*(int(c.q) for c in coefficients))
        whole = Fraction(by, gcd(*(int(c.p) * (by // int(c.q)) for c in coefficients)))
        whole = -whole if below.leading_coefficient() < 0 else whole
        return self.inner.raw_new(*(_in_sympy(p * _in_rationals(whole), self.inner.ring) for p in (above, below)))

    # --- reading ---

    def value(self, e: Element, at: Sequence[float]) -> float:
        """In floats, the atoms having these values."""
        return float(_total(self._terms(e.numer), at) / _total(self._terms(e.denom), at))

    def _terms(self, p: Any) -> list[tuple[float, list[tuple[int, int]]]]:
        """Of a polynomial each coefficient, with the places and powers of its atoms; worked out once."""
        known = self._known.get(id(p))
        if known is None:
            terms = [(float(_fraction(c)), [(i, n) for i, n in enumerate(m) if n]) for m, c in p.terms()]
            known = self._known[id(p)] = p, terms  # the polynomial is kept, so that its id stays its own
        return known[1]

    @cached_property
    def _known(self) -> dict[int, tuple[Any, list[tuple[float, list[tuple[int, int]]]]]]:
        return {}

    def exact(self, e: Element, at: Sequence[Fraction]) -> Fraction:
        """The same in fractions."""
        return Fraction(_worth(e.numer, at)) / Fraction(_worth(e.denom, at))

    def text(self, e: Element, like: Sequence[Sequence[float]] | None = None) -> str:
        """As a formula, in factors; each factor with the sign that it has at the settings `like`."""
        above, below = self.factors(e.numer, like), self.factors(e.denom, like)
        number = above[0] / below[0]
        top = [_power(self.sum_text(f), n) for f, n in above[1]]
        low = [_power(self.sum_text(f), n) for f, n in below[1]]
        if abs(number.numerator) != 1 or not top:
            top.insert(0, str(abs(number.numerator)))
        if number.denominator != 1:
            low.insert(0, str(number.denominator))
        text = "*".join(top)
        if low:
            text += "/" + (low[0] if len(low) == 1 else f"({'*'.join(low)})")
        return f"-{text}" if number < 0 else text

    def factors(self, p: Any, like: Sequence[Sequence[float]] | None = None) -> tuple[Fraction, list[tuple[Any, int]]]:
        """A polynomial's rational content and its irreducible factors, of whole coefficients."""
        if not p:
            return Fraction(0), []
        number, found = p.factor_list() if len(p) <= _SMALL else _factored(p)
        content, out = _fraction(number), []
        for f, n in found:
            c, f = f.primitive()
            c = _fraction(c)
            denominators = [_fraction(v).denominator for v in f.values()]
            m = int(np.lcm.reduce(denominators)) if max(denominators) > 1 else 1
            f = f * m
            content *= (c / m) ** n
            sign = sum(_worth(f, s) for s in like) if like is not None else float(_fraction(f.LC))
            if sign < 0:
                f, content = -f, content * (-1) ** n
            out.append((f, n))
        return content, out

    def root(self, e: Element, like: Sequence[Sequence[float]] | None = None) -> Element | None:
        """An element whose square is one, its factors with the signs that they have at `like`; None where none is."""
        (a, above), (b, below) = self.factors(e.numer, like), self.factors(e.denom, like)
        content = a / b
        ends = isqrt(max(0, content.numerator)), isqrt(content.denominator)
        if any(n % 2 for _, n in (*above, *below)) or Fraction(ends[0] ** 2, ends[1] ** 2) != content:
            return None
        halves = [(f, sign * n // 2) for some, sign in ((above, 1), (below, -1)) for f, n in some]
        return product([self.inner.field_new(f) ** n for f, n in halves], self.number(Fraction(*ends)))

    def sum_text(self, p: Any) -> str:
        """A polynomial as a sum, in parentheses where it needs them."""
        pieces: list[str] = []
        terms = sorted(p.terms(), key=lambda t: (_fraction(t[1]) < 0, sum(t[0]), [-m for m in t[0]]))
        for m, c in terms:
            value = _fraction(c)
            parts = [_power(_bracket(self.atoms[i]), n) for i, n in enumerate(m) if n]
            if abs(value) != 1 or not parts:
                parts.insert(0, str(abs(value.numerator)))
            text = "*".join(parts) + (f"/{value.denominator}" if value.denominator != 1 else "")
            pieces.append(("-" if value < 0 else "") + text if not pieces else f" {'-' if value < 0 else '+'} {text}")
        text = "".join(pieces) or "0"
        return text if len(pieces) == 1 and not text.startswith("-") and "/" not in text else f"({text})"


_SMALL = 12
"""Terms of a polynomial up to which sympy factors it; FLINT, which is far faster, has the larger ones."""


def _factored(p: Any) -> tuple[Any, list[tuple[Any, int]]]:
    """A polynomial's content and factors."""
    number, found = _in_flint(p, _context(len(p.ring.gens))).factor()
    content = p.ring.domain(int(number.p), int(number.q))
    return content, [(_in_sympy(q, p.ring), int(n)) for q, n in found]


def _context(atoms: int) -> Any:
    """FLINT's ring of polynomials in so many atoms."""
    from flint import Ordering, fmpq_mpoly_ctx

    return fmpq_mpoly_ctx.get(tuple(f"a{i}" for i in range(atoms)), Ordering.lex)


def _in_rationals(value: Any) -> Any:
    from flint import fmpq

    return fmpq(int(value.numerator), int(value.denominator))


def _of_terms(terms: Iterable[tuple[tuple[int, ...], Any]], context: Any) -> Any:
    return context.from_dict({m: _in_rationals(c) for m, c in terms})


def _in_flint(p: Any, context: Any) -> Any:
    return _of_terms(p.terms(), context)


def _in_sympy(p: Any, ring: Any) -> Any:
    return ring.from_dict({tuple(map(int, m)): ring.domain(int(c.p), int(c.q)) for m, c in p.to_dict().items()})


def _bracket(atom: str) -> str:
    return atom if atom.replace("_", "").isalnum() or (atom.endswith(")") and _one_call(atom)) else f"({atom})"


def _one_call(text: str) -> bool:
    head, _, rest = text.partition("(")
    if not head.isidentifier():
        return False
    depth = 1
    for i, c in enumerate(rest):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(rest) - 1
    return False


def _power(text: str, n: int) -> str:
    return text if n == 1 else f"{text}**{n}"


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


def _worth(p: Any, at: Sequence[Any]) -> Any:
    total: Any = 0
    for m, c in p.terms():
        term: Any = _fraction(c) if not at or isinstance(at[0], Fraction) else float(_fraction(c))
        for i, n in enumerate(m):
            if n:
                term *= at[i] ** n
        total += term
    return total


def _total(terms: Sequence[tuple[float, list[tuple[int, int]]]], at: Sequence[float]) -> float:
    total = 0.0
    for c, powers in terms:
        term = c
        for i, n in powers:
            term *= at[i] ** n
        total += term
    return total


def product(values: Iterable[Element], one: Element) -> Element:
    """Of elements of a field."""
    for v in values:
        one = one * v
    return one
