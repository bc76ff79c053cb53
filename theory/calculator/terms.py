"""Sums and products taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from theory.formula import Apply, Formula, Number
from theory.sentence import Expression, applied, parts

ONE = Number(Fraction(1))


def terms_of(e: Expression, sign: int = 1) -> Iterator[tuple[int, Expression]]:
    """The terms of a sum, with their signs."""
    if isinstance(e, Apply) and e.operation in ("+", "-"):
        first, second = parts(e)
        yield from terms_of(first, sign)
        yield from terms_of(second, sign if e.operation == "+" else -sign)
    else:
        yield sign, e


def sum_of(terms: Sequence[tuple[int, Formula]]) -> Formula:
    first = next((i for i, (sign, _) in enumerate(terms) if sign > 0), 0)
    sign, total = terms[first]
    if sign < 0:
        total = Apply("neg", (total,))
    for i, (sign, term) in enumerate(terms):
        if i != first:
            total = Apply("+" if sign > 0 else "-", (total, term))
    return total


def times(first: Formula, second: Formula) -> Formula:
    if first == ONE or second == ONE:
        return second if first == ONE else first
    return Apply("*", (first, second))


def product(first: Expression, second: Expression) -> Expression:
    if first == ONE or second == ONE:
        return second if first == ONE else first
    return applied("*", (first, second))
