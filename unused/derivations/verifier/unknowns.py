"""Polynomials of degree 2 at most in unknown numbers, in fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .reading import Uncheckable
from .scalars import ZERO


class Unknown:
    """A polynomial of degree 2 at most: coefficients by sorted numbers of unknowns."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[tuple[int, ...], Fraction]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}

    def __add__(self, other: Any) -> Unknown:
        found = dict(self.terms)
        for m, c in of(other).terms.items():
            found[m] = found.get(m, ZERO) + c
        return Unknown(found)

    __radd__ = __add__

    def __neg__(self) -> Unknown:
        return Unknown({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Any) -> Unknown:
        return self + -of(other)

    def __rsub__(self, other: Any) -> Unknown:
        return -self + other

    def __mul__(self, other: Any) -> Unknown:
        found: dict[tuple[int, ...], Fraction] = {}
        for m, a in self.terms.items():
            for k, b in of(other).terms.items():
                both = tuple(sorted((*m, *k)))
                if len(both) > 2:
                    raise Uncheckable("a sentence for every point that is no quadratic")
                found[both] = found.get(both, ZERO) + a * b
        return Unknown(found)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Unknown:
        divisor = certain(of(other))
        if divisor is None or divisor == 0:
            raise Uncheckable("a division by 0, or by an unknown number")
        return Unknown({m: c / divisor for m, c in self.terms.items()})


def of(value: Any) -> Unknown:
    """A number as a polynomial."""
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, Fraction | int):
        raise Uncheckable("a number in a sentence for every point is irrational")
    return Unknown({(): Fraction(value)})


def certain(value: Unknown) -> Fraction | None:
    """The number that a polynomial is; None for another."""
    return value.terms.get((), ZERO) if set(value.terms) <= {()} else None
