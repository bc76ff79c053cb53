"""Shorter numbers near a number, and other samples, for making an instance smaller."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeVar

F = Fraction
T = TypeVar("T")


def with_one(rows: tuple[tuple[T, ...], ...], n: int, i: int, other: T) -> tuple[tuple[T, ...], ...]:
    """The samples of each client, with another sample i of client n."""
    own = rows[n]
    return (*rows[:n], (*own[:i], other, *own[i + 1 :]), *rows[n + 1 :])


def simpler(value: Fraction, integer: bool = False) -> Iterator[Fraction]:
    """Shorter numbers, the shortest first."""
    value = F(value)
    tried: list[Fraction] = [F(1)] if integer else [F(0), F(1), F(-1), F(1, 2), F(2), F(1, 4), F(1, 10)]
    if integer:
        tried += [F(int(value) // 2), value - 1]
    else:
        tried += [F(round(value)), *(value.limit_denominator(m) for m in (2, 4, 10, 100))]
    seen = {value}
    for simple in tried:
        shorter = len(str(simple)) < len(str(value)) or (integer and simple < value) or (simple == 0 != value)
        if simple not in seen and shorter and not (integer and simple < 1):
            seen.add(simple)
            yield simple
