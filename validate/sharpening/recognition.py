"""A formula in a few names that takes given values: small ones are listed, larger ones put together of two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import TypeAlias

import numpy as np

from theory.formula import Apply, Name, Number
from theory.sentence import Expression, applied, text_of

Values: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Known: TypeAlias = "tuple[Expression, Values]"
LARGEST, DIGITS = 3, 9
"""Names and numbers in a formula that is listed, and the digits by which two of them are told apart."""
ONE = Number(Fraction(1))
NUMBERS = (1, 2, 4)
MOST = 6000
"""Formulas that are listed."""
LEAST_OF_A_MAXIMUM = 0.15
"""Of the values, that one part of a maximum takes, at least."""


def recognised(values: Values, names: Mapping[str, Values], tolerance: float) -> Expression | None:
    """The plainest formula in names that takes all values, of those that are tried; None where none does.

    None, too, where not all values are positive.

    Args:
        values: one for each of the points at which names have values.
        names: what each is there; one called ``k`` may be an exponent.
        tolerance: relative, of the values.
    """
    listed = _listed(names)
    square, rounds = Number(Fraction(2)), names.get("k")
    if not (values > 0).all():
        return None
    wrapped: list[tuple[Values, str, tuple[Expression, ...]]] = [
        (values, "", ()),
        (1 / values, "1/", ()),
        (np.sqrt(values), "**", (square,)),
    ]
    if rounds is not None and (rounds > 0).all() and np.ptp(rounds) > 0:
        wrapped.append((values ** (1 / rounds), "**", (Name("k"),)))
        wrapped.append((values ** (0.5 / rounds), "**", (applied("*", (square, Name("k"))),)))
    found = [
        e if not op else applied("/", (ONE, e)) if op == "1/" else applied(op, (e, *power))
        for wanted, op, power in wrapped
        for e in _made(wanted, listed, tolerance)
    ]
    return min(found, key=_plain, default=None)


def _plain(e: Expression) -> tuple[int, int, str]:
    """Formulas with few fractions come first, of these the short ones."""
    text = text_of(e)
    return text.count("/"), len(text), text


def _listed(names: Mapping[str, Values]) -> list[Known]:
    """Small formulas, each value once, by size."""
    count = len(next(iter(names.values())))
    seen: set[tuple[float, ...]] = set()
    sizes: list[list[Known]] = [[]]

    def add(some: list[Known], e: Expression, v: Values) -> None:
        key = tuple(float(f"{x:.{DIGITS}g}") for x in v)
        if np.isfinite(v).all() and np.abs(v).max() > 0 and key not in seen and len(seen) < MOST:
            seen.add(key)
            some.append((e, v))

    first: list[Known] = []
    for name, v in names.items():
        add(first, Name(name), v)
    for c in NUMBERS:
        add(first, Number(Fraction(c)), np.full(count, float(c)))
    sizes.append(first)
    for size in range(2, LARGEST + 1):
        some: list[Known] = []
        for left in range(1, size):
            for (a, u), (b, v) in product(sizes[left], sizes[size - left]):
                with np.errstate(all="ignore"):
                    for op, w in (("*", u * v), ("-", u - v), ("/", u / v), ("+", u + v)):
                        add(some, applied(op, (a, b)), w)
        sizes.append(some)
    return [one for some in sizes for one in some]


def _made(wanted: Values, listed: list[Known], tolerance: float) -> Iterator[Expression]:
    """Formulas that take the wanted values: one that is listed, or the simplest made of two."""
    table = np.array([v for _, v in listed])
    order = np.argsort(table[:, 0])
    first = table[order, 0]

    def those(v: Values) -> Iterator[int]:
        near = tolerance * max(abs(v[0]), abs(wanted[0]))
        low, high = np.searchsorted(first, [v[0] - near, v[0] + near])
        for place in order[low:high]:
            if (np.abs(table[place] - v) <= tolerance * np.maximum(np.abs(v), np.abs(wanted))).all():
                yield int(place)

    alone = [listed[i][0] for i in those(wanted)]
    if alone:
        yield alone[0]
        return
    made: list[Apply] = []
    with np.errstate(all="ignore"):
        for a, u in listed:
            for op, v in (("*", wanted / u), ("/", u / wanted), ("+", wanted - u), ("-", u - wanted)):
                if np.isfinite(v).all():
                    made += [applied(op, (a, listed[i][0])) for i in those(v)]
    yield from sorted(made, key=_plain)[:1]
    yield from _largest(wanted, listed, tolerance)


def _largest(wanted: Values, listed: list[Known], tolerance: float) -> Iterator[Expression]:
    """The greater of two, each of which is nowhere more, and in some places that much."""
    below = []
    for e, v in listed:
        if (v <= wanted * (1 + tolerance)).all():
            there = np.abs(v - wanted) <= tolerance * wanted
            if there.mean() >= LEAST_OF_A_MAXIMUM:
                below.append((e, there))
    for i, (a, here) in enumerate(below):
        for b, there in below[:i]:
            if (here | there).all():
                yield applied("max", (b, a))
                return
