"""Linear equations over a field of rational functions, solved exactly; and squares of a semidefinite matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Unknown: TypeAlias = Any
"""Anything that is hashable."""


@dataclass(frozen=True)
class Family:
    """All solutions: each unknown is a constant plus multiples of the ones left free.

    Attributes:
        values: of every unknown, its constant and the factors of the free ones.
        free: those left free.
    """

    values: Mapping[Unknown, tuple[Any, Mapping[Unknown, Any]]]
    free: tuple[Unknown, ...]


def solutions(
    equations: Iterable[tuple[Mapping[Unknown, Any], Any]], unknowns: Sequence[Unknown], keep: Sequence[Unknown] = ()
) -> Family | None:
    """What solves ``sum of factor*unknown = right`` for all equations; None where nothing does.

    Args:
        equations: factors by unknown, and the right side.
        unknowns: all of them.
        keep: unknowns that are solved for last, so that they are the free ones where there is a choice.
    """
    late = set(keep)
    rows = [({u: c for u, c in left.items() if c}, right) for left, right in equations]
    solved: dict[Unknown, tuple[dict[Unknown, Any], Any]] = {}
    while rows:
        rows = [row for row in rows if row[0] or row[1]]
        if any(not left for left, _ in rows):
            return None
        if not rows:
            break
        at = min(
            range(len(rows)), key=lambda i: (all(u in late for u in rows[i][0]), len(rows[i][0]), _size(rows[i][0]))
        )
        left, right = rows.pop(at)
        pivot = min(left, key=lambda u: (u in late, _terms(left[u]), str(u)))
        factor = left[pivot]
        own = {u: c / factor for u, c in left.items() if u != pivot}
        value = right / factor
        solved[pivot] = (own, value)
        rows = [_put(row, pivot, own, value) for row in rows]
        for other, row in list(solved.items()):
            if other != pivot and pivot in row[0]:
                mine, worth = row
                c = mine[pivot]
                rest = {u: v for u, v in mine.items() if u != pivot}
                for u, v in own.items():
                    rest[u] = rest.get(u, 0) - c * v
                solved[other] = ({u: v for u, v in rest.items() if v}, worth - c * value)
    free = tuple(u for u in unknowns if u not in solved)
    values = {u: (worth, {v: -c for v, c in own.items()}) for u, (own, worth) in solved.items()}
    return Family(values, free)


def _put(
    row: tuple[dict[Unknown, Any], Any], pivot: Unknown, own: Mapping[Unknown, Any], value: Any
) -> tuple[dict[Unknown, Any], Any]:
    left, right = row
    c = left.get(pivot)
    if not c:
        return row
    found = {u: v for u, v in left.items() if u != pivot}
    for u, v in own.items():
        found[u] = found.get(u, 0) - c * v
    return {u: v for u, v in found.items() if v}, right - c * value


def _terms(e: Any) -> int:
    return len(e.numer) + len(e.denom)


def _size(left: Mapping[Unknown, Any]) -> int:
    return sum(_terms(c) for c in left.values())


def squares(
    matrix: Sequence[Sequence[Any]], good: Any, positive: Any, zero: Any
) -> list[tuple[Any, dict[int, Any]]] | None:
    """A symmetric matrix as a sum of multiples of squares: (factor, coefficients of the vector), by pivots.

    Args:
        matrix: entries in the field.
        good: says whether an element is believed not to be negative anywhere.
        positive: says whether an element may stand below a line.
        zero: the field's 0.

    Returns:
        None where no order of the pivots gives factors that are not negative.
    """
    left = [i for i in range(len(matrix)) if any(matrix[i][j] for j in range(len(matrix)))]
    return _squares([list(row) for row in matrix], left, good, positive, zero)


def _squares(
    m: list[list[Any]], left: list[int], good: Any, positive: Any, zero: Any
) -> list[tuple[Any, dict[int, Any]]] | None:
    left = [i for i in left if any(m[i][j] for j in left)]
    if not left:
        return []
    for i in sorted((i for i in left if m[i][i]), key=lambda i: (_terms(m[i][i]), i)):
        pivot = m[i][i]
        ratios = {j: m[i][j] / pivot for j in left if m[i][j]}
        if not good(pivot) or not all(positive(r) for r in ratios.values()):
            continue
        rest = [j for j in left if j != i]
        lower = [list(row) for row in m]
        for a in rest:
            for b in rest:
                if m[i][a] and m[i][b]:
                    lower[a][b] = m[a][b] - ratios[a] * m[i][b]
        found = _squares(lower, rest, good, positive, zero)
        if found is not None:
            return [(pivot, ratios), *found]
        if len(left) > 4:
            return None
    return None
