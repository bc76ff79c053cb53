"""Rational numbers of a domain, and vectors for inequalities between vectors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from theory.domain import REAL, Domain

Vector = tuple[Fraction, ...]

# Integers without an upper end are drawn up to this much above the lower one, or above 0.
LARGEST_COUNT = 1000
_PART = 64


def numbers(domain: Domain = REAL) -> st.SearchStrategy[Any]:
    """Rational numbers of a domain: simple ones, its closed ends, and ones very near to and far from an end.

    Args:
        domain: an interval, possibly of integers.

    Returns:
        Of ints for a domain of integers, at most 1000 above its lower end (above 0, where it has none) unless it ends
        earlier; else of Fractions. An unbounded domain of reals is drawn up to 64000 in size, 1/64000 near to its end.

    Raises:
        ValueError: when the domain is empty.
    """
    if domain.integer:
        return _integers(domain)
    if domain.lower is None and domain.upper is None:
        return st.one_of(st.just(Fraction(0)), _sizes(), _sizes().map(lambda size: -size))
    if domain.lower is None or domain.upper is None:
        end, sign, left_out = (
            (domain.lower, 1, domain.lower_open) if domain.lower is not None else (domain.upper, -1, domain.upper_open)
        )
        start = Fraction(end)  # type: ignore[arg-type]  # one of the two is a number
        away = _sizes().map(lambda size: start + sign * size)
        return away if left_out else st.one_of(away, st.just(start))
    lower, upper = Fraction(domain.lower), Fraction(domain.upper)
    ends = [end for end, out in ((lower, domain.lower_open), (upper, domain.upper_open)) if not out]
    if lower > upper or (lower == upper and len(ends) < 2):
        raise ValueError(f"domain={domain} is empty")
    if lower == upper:
        return st.just(lower)
    inside = st.one_of(
        st.just(Fraction(1, 2)),
        st.integers(2, _PART).flatmap(
            lambda below: st.integers(1, below - 1).map(lambda above: Fraction(above, below))
        ),
        st.sampled_from([Fraction(1, 1000), Fraction(999, 1000), Fraction(1, 10**6), 1 - Fraction(1, 10**6)]),
    ).map(lambda part: lower + (upper - lower) * part)
    return st.one_of(inside, st.sampled_from(ends)) if ends else inside


def _integers(domain: Domain) -> st.SearchStrategy[int]:
    low = None if domain.lower is None else math.ceil(domain.lower)
    if low is not None and domain.lower_open and low == domain.lower:
        low += 1
    high = None if domain.upper is None else math.floor(domain.upper)
    if high is not None and domain.upper_open and high == domain.upper:
        high -= 1
    if low is None:
        low = -LARGEST_COUNT if high is None else high - LARGEST_COUNT
    if high is None:
        high = max(low, 0) + LARGEST_COUNT
    if low > high:
        raise ValueError(f"domain={domain} is empty")
    return st.one_of(st.integers(low, min(high, low + 10)), st.integers(low, high))


def _sizes() -> st.SearchStrategy[Fraction]:
    """Positive rationals from 1/64000 to 64000; 1 is the simplest."""
    plain = st.builds(Fraction, st.integers(1, _PART), st.integers(1, _PART))
    return st.one_of(plain, st.builds(lambda x, y: x * Fraction(10) ** y, plain, st.integers(-3, 3)))


def vectors(n: int, dim: int, entries: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[tuple[Vector, ...]]:
    """n rational vectors of R^dim, for inequalities between vectors.

    Random entries hardly ever give the vectors on which such an inequality is tight. So each vector, but the first, may
    also be an earlier one again, its negative, a multiple of it, or near to it; and any may be 0 or a unit vector, very
    small or very large.

    Args:
        n: how many, at least 1.
        dim: of the space, at least 1.
        entries: of vectors that are drawn freely; by default `numbers()`.

    Raises:
        ValueError: for n or dim outside the integers in [1, inf).
    """
    for name, value in (("n", n), ("dim", dim)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}={value!r} is outside the integers in [1, inf)")
    return _vectors(n, dim, st.tuples(*[numbers() if entries is None else entries] * dim))


@st.composite
def _vectors(draw: st.DrawFn, n: int, dim: int, free: st.SearchStrategy[tuple[Any, ...]]) -> tuple[Vector, ...]:
    found: list[Vector] = []
    for i in range(n):
        kind = draw(st.sampled_from(("zero", "unit", "free") + ("same", "opposite", "multiple", "near") * (i > 0)))
        if kind == "zero":
            vector = (Fraction(0),) * dim
        elif kind == "unit":
            place = draw(st.integers(0, dim - 1))
            vector = tuple(Fraction(int(j == place)) for j in range(dim))
        elif kind == "free":
            size = draw(st.sampled_from([Fraction(1), Fraction(1, 10**6), Fraction(10**6)]))
            vector = tuple(size * Fraction(entry) for entry in draw(free))
        else:
            earlier = found[draw(st.integers(0, i - 1))]
            if kind == "near":
                small = Fraction(1, draw(st.sampled_from([10, 10**6])))
                vector = tuple(x + small * Fraction(y) for x, y in zip(earlier, draw(free), strict=True))
            else:
                factor = {"same": Fraction(1), "opposite": Fraction(-1)}.get(kind)
                factor = draw(numbers()) if factor is None else factor
                vector = tuple(factor * x for x in earlier)
        found.append(vector)
    return tuple(found)
