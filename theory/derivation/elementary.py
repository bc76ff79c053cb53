"""Roots, absolute values, extremes and powers of numbers, and draws of 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

from theory.derivation.atoms import atom
from theory.derivation.polynomials import Atom
from theory.derivation.quotients import ONE, ZERO, Quotient, constant, of_atom


def root(inside: Quotient) -> Quotient:
    """The square root: a rational square stands before it."""
    content, _ = inside.direction
    if not content:
        return ZERO
    outer = Fraction(1)
    for end, sign in ((abs(content.numerator), 1), (content.denominator, -1)):
        whole = 1
        for prime in range(2, 100):
            while end % (prime * prime) == 0:
                end, whole = end // (prime * prime), whole * prime
        if (exact := _exact_root(end)) is not None:
            whole *= exact
        outer *= Fraction(whole) if sign > 0 else Fraction(1, whole)
    inner = inside * constant(1 / outer**2)
    return constant(outer) if inner.number == 1 else constant(outer) * of_atom(atom("sqrt", inner))


def _exact_root(end: int) -> int | None:
    return isqrt(end) if isqrt(end) ** 2 == end else None


def absolute(inside: Quotient) -> Quotient:
    """The absolute value: a rational factor stands before it."""
    content, _ = inside.direction
    if not content:
        return ZERO
    inner = inside * constant(Fraction(1, content))
    if inner.number is not None:
        return constant(abs(Fraction(content)))
    return constant(abs(Fraction(content))) * of_atom(atom("abs", inner))


def extremum(op: str, of: Iterable[Quotient]) -> Quotient:
    """The greatest, or the least, of some numbers, whatever their order; that of such is that of all of them."""
    flat: dict[str, Quotient] = {}
    for q in of:
        inner = _only(q, op)
        flat |= {x.text: x for x in (inner.data[0] if inner is not None else (q,))}
    ordered = tuple(flat[t] for t in sorted(flat))
    return ordered[0] if len(ordered) == 1 else of_atom(atom(op, ordered))


def _only(q: Quotient, kind: str) -> Atom | None:
    """The one atom of this kind that a quotient is, or None."""
    if len(q.over) != 1 or q.under:
        return None
    ((m, c),) = q
    return m[0][0] if c == 1 and len(m) == 1 and m[0][1] == 1 and m[0][0].kind == kind else None


def drawn(*data: Any) -> Quotient:
    """A draw of 0 and 1, which is its own square: of an instruction, a round (and turn), and a client."""
    return of_atom(atom("draw", *data))


def power(base: Quotient, exponent: Quotient) -> Quotient:
    """A power whose exponent is a product of names of integers >= 0, as ``b**k``; 0**0 is 1."""
    if base.number == 1:
        return ONE
    if len(base.over) == 1 and not base.under:
        ((mono, c),) = base
        if c == 1 and len(mono) == 1 and mono[0][1] == 1 and mono[0][0].kind == "power":  # (b**h)**k is b**(h*k)
            inner, e = mono[0][0].data
            return of_atom(atom("power", inner, e * exponent))
    return of_atom(atom("power", base, exponent))
