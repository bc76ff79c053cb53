"""The last instances of a hunt for a claim without an algorithm: the corners of a simplex, and where floats lead to.

What is free is moved downhill in floats, towards where both sides meet; then short fractions near to where that ends
are tried. A claim that fails in a point, or along a line, is met there, and seldom by numbers that are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.pool import fits
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.shapes import Size

F = Fraction
STARTS, MOST_FREE, STEPS = 3, 12, 60
"""Instances that are moved downhill; numbers that are free in one; steps for each of these numbers."""
DENOMINATORS = (1, 10, 100, 1000, 10**4, 10**6, 10**9)
"""Of the fractions that are tried near to a float, as large as this or smaller."""
REFUSED = 1e9
"""What an instance of which the claim does not speak is worth."""
LEAST_CURVED = 20
"""How many times a curvature is halved before it is taken that no relation keeps it from being small."""


def descended(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """The instances of a claim without an algorithm that break it: corners of a simplex, and the ends of descents."""
    if claim.program is not None or not found.seen:
        return
    ranked = [seen for seen in sorted(found.seen, key=lambda s: -s.score) if seen.drawn.instance.rounds <= 10]
    for c in _simplices(claim, ranked):
        one = realised(claim, c)
        seen = None if one is None else measured(claim, one)
        if seen is not None and seen.measured.broken:
            yield seen
    for c in (*_uneven(claim, ranked), *_starts(claim, ranked)):
        if stop():
            return
        yield from _ends(claim, c)


def _simplices(claim: Claim, ranked: list[Seen]) -> Iterator[Candidate]:
    """Free vectors at the corners of a regular simplex around 0: all angles between them are as wide as can be."""
    count = sum(not name.endswith("_n") for name in claim.vectors)
    if count < 3 or any(seen.drawn.instance.problem is not None for seen in ranked[:1]):
        return
    for seen in ranked[:1]:
        c = candidate_of(seen.drawn)
        corners = iter(np.array([[F(count * (i == j) - 1) for j in range(count)] for i in range(count)], dtype=object))
        zero = np.full(count, F(0), dtype=object)
        vectors = {name: [zero for _ in v] if isinstance(v, list) else next(corners) for name, v in c.vectors.items()}
        yield replace(c, vectors=vectors, values={n: F(count) if n == "d" else v for n, v in c.values.items()})


def _starts(claim: Claim, ranked: list[Seen]) -> Iterator[Candidate]:
    """The tightest instances with few numbers, of different tightness, at which descents begin."""
    chosen: dict[Any, Candidate] = {}
    for seen in ranked:
        c = candidate_of(seen.drawn)
        free = len(_real(claim, c)) + sum(len(row) for v in c.vectors.values() for row in _rows(v))
        if 0 < free <= MOST_FREE and not c.has_functions:
            chosen.setdefault((round(seen.score, 3), *(() if claim.vectors else (len(chosen),))), c)
        if len(chosen) == STARTS:
            break
    yield from chosen.values()


def _uneven(claim: Claim, ranked: list[Seen]) -> Iterator[Candidate]:
    """One quadratic of two variables whose curvatures are as far apart as the relations allow, and vectors across."""
    if not claim.vectors or not any(seen.drawn.instance.problem is not None for seen in ranked[:1]):
        return
    if not fits(claim, Size(1, 1, 2)):
        return
    for seen in ranked[:1]:
        c = candidate_of(seen.drawn)
        across = (np.array([F(2 * i), F(3 * i * i)], dtype=object) for i in range(len(claim.vectors)))
        vectors = {name: [next(across)] if isinstance(v, list) else next(across) for name, v in c.vectors.items()}
        values = {name: v[:1] if isinstance(v, list) else v for name, v in c.values.items()}
        values = {name: {"N": F(1), "d": F(2)}.get(name, v) for name, v in values.items()}
        flat = np.full((1, 1, 2), F(0), dtype=object)
        base = Candidate(None, flat, flat[0, 0], 1, values, vectors)

        def curved(less: Fraction, base: Candidate = base) -> Candidate:
            hessian = np.full((1, 1, 2, 2), F(0), dtype=object)
            hessian[0, 0, 0, 0], hessian[0, 0, 1, 1] = F(1), less
            return replace(base, hessian=hessian)

        least = _least(lambda less: realised(claim, curved(less)) is not None)
        if least is not None:
            yield curved(least)


def _least(fits: Callable[[Fraction], bool]) -> Fraction | None:
    """The least positive number up to 1 that fits, a short fraction where that fits; None where there is no least."""
    if not fits(F(1)):
        return None
    low, high = F(0), F(1)
    for _ in range(LEAST_CURVED):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    if low == 0:
        return None
    short = [high.limit_denominator(q) for q in (10, 100, 1000)]
    return next((s for s in short if s and abs(s - high) <= 2 * (high - low) and fits(s)), high)


# --- downhill ---------------------------------------------------------------------------------------------------------


def _numbers(claim: Claim, c: Candidate) -> list[float]:
    """All numbers that are free: real parameters, then the coordinates of the vectors."""
    found = [float(c.values[name]) for name in _real(claim, c)]
    for v in c.vectors.values():
        for row in _rows(v):
            found += map(float, row)
    return found


def _rows(v: Any) -> list[Any]:
    return v if isinstance(v, list) else [v]


def _real(claim: Claim, c: Candidate) -> list[str]:
    return [
        name
        for name, v in c.values.items()
        if isinstance(v, Fraction) and name in claim.domains and name not in claim.constants
        if name not in ("N", "d", "K") and not claim.domains[name].integer
    ]


def _with(claim: Claim, c: Candidate, numbers: list[Fraction]) -> Candidate:
    """The candidate with other numbers, in the order of `_numbers`."""
    left = iter(numbers)
    values = {**c.values, **{name: next(left) for name in _real(claim, c)}}

    def other(v: Any) -> Any:
        return np.array([next(left) for _ in v], dtype=object)

    vectors = {n: [other(row) for row in v] if isinstance(v, list) else other(v) for n, v in c.vectors.items()}
    return replace(c, values=values, vectors=vectors)


def _ends(claim: Claim, c: Candidate) -> Iterator[Seen]:
    """What breaks the claim where descents end: of the gap as it is, and of its share of both sides."""
    from scipy.optimize import minimize

    try:
        start = _numbers(claim, c)
    except OverflowError:
        return
    if not 0 < len(start) <= MOST_FREE:
        return
    for share in (True, False) if c.vectors else (False, True):

        def gap(point: Any, share: bool = share) -> float:
            if not np.all(np.isfinite(point)):
                return REFUSED
            one = realised(claim, _with(claim, c, [F(float(v)).limit_denominator(10**12) for v in point]))
            seen = None if one is None else measured(claim, one)
            return REFUSED if seen is None else _gap(seen, share)

        options = {"maxfev": STEPS * len(start), "xatol": 1e-9, "fatol": 1e-17}
        end = minimize(gap, start, method="Nelder-Mead", options=options).x
        for q in DENOMINATORS:
            one = realised(claim, _with(claim, c, [F(float(v)).limit_denominator(q) for v in end]))
            seen = None if one is None else measured(claim, one)
            if seen is not None and seen.measured.broken:
                yield seen
                return


def _gap(seen: Seen, share: bool) -> float:
    """How far an instance is from a break; below 0 where it is one."""
    if share:
        return -seen.score
    rows = [row for row in seen.measured.rows if row.left is not None]
    if any(row.status == "broken" for row in rows):
        return -1.0
    return min((_between(row.left, row.right) for row in rows), default=REFUSED)


def _between(left: Any, right: Any) -> float:
    """How far apart two numbers are, as a float; of fractions before they are rounded."""
    try:
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return abs(float(left - right))
        return abs(float(left) - float(right))
    except OverflowError:
        return REFUSED
