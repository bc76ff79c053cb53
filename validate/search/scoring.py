"""The scores of many instances of one structure at once: their cases are put together and evaluated as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.floats import Floats
from validate.bounds import Cases

NEGLIGIBLE = 1e-9
"""A case that is so much smaller than the largest of its run is rounding, or 0 against 0."""
INFEASIBLE = -1.5
"""The score of an instance that hardly violates a hypothesis; those of feasible instances are at least -1."""


def scores(claim: Claim, found: Sequence[Cases]) -> np.ndarray:
    """The largest (left - right)/(|left| + |right|) over each instance's cases; for lower bounds of right - left.

    Only cases at which the hypotheses that are relations hold are counted.

    Args:
        claim: a claim with a right side.
        found: the cases of B instances in floats, at least one of each; the vectors among the parameters have the same
            lengths in all.

    Returns:
        (B,): at least -1, and positive iff the instance breaks the claim; `INFEASIBLE` less the violation where a
        hypothesis fails at every case; twice `INFEASIBLE` where a parameter is outside its domain, or a side undefined.
    """
    if not found:
        return np.zeros(0)
    lengths = [len(cases) for cases in found]
    names = {p.name: p.shape == "vector" for p in claim.parameters}
    values = {
        name: np.concatenate([_rows(cases.parameters[name], len(cases), vector) for cases in found])
        for name, vector in names.items()
    }
    try:
        floats = Floats(claim, values)
        right = np.broadcast_to(floats.right(), (sum(lengths),))
        violation = _violation(claim, floats, sum(lengths))
    except ValueError:  # of one of them a parameter is outside its domain, or the right side is undefined
        if len(found) == 1:
            return np.array([2 * INFEASIBLE])
        half = len(found) // 2
        return np.concatenate([scores(claim, found[:half]), scores(claim, found[half:])])
    left = np.concatenate([np.asarray(cases.left, dtype=np.float64) for cases in found])
    starts = np.cumsum([0, *lengths[:-1]])
    size = np.abs(left) + np.abs(right)
    size = np.where(np.isfinite(size), size, 0.0)
    value = gaps(claim, left, right, np.repeat(np.maximum.reduceat(size, starts), lengths))
    return np.maximum.reduceat(np.where(violation > 0, INFEASIBLE - violation, value), starts)


def gaps(claim: Claim, left: np.ndarray, right: np.ndarray, largest: Any) -> np.ndarray:
    """(left - right)/(|left| + |right|) of each case, the sides exchanged where the claim is a lower bound.

    -1 where the case is negligible beside `largest`, the |left| + |right| of its run; twice `INFEASIBLE` where a side
    is no number, which says nothing.
    """
    size = np.abs(left) + np.abs(right)
    small = ~(size > NEGLIGIBLE * largest)
    with np.errstate(invalid="ignore"):
        gap = np.abs(left - right) if claim.relation == "=" else left - right
        gap = -gap if claim.relation in (">=", ">") else gap
        value = np.where(small, -1.0, gap / np.where(small, 1.0, size))
    return np.where(np.isfinite(size), value, 2 * INFEASIBLE)


def _rows(value: Any, length: int, vector: bool) -> np.ndarray:
    array = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(array, (length, array.shape[-1]) if vector else (length,))


def _violation(claim: Claim, floats: Floats, length: int) -> np.ndarray:
    """(C,), by how much the hypotheses that are relations fail; 0 where all hold."""
    total = np.zeros(length)
    for i, relation in enumerate(claim.formulas.relations):
        if relation is None:
            continue
        sides = floats.sides(i)
        for a, b, operator in zip(sides, sides[1:], relation.operators, strict=False):
            gap, strict = {
                "<": (a - b, True),
                "<=": (a - b, False),
                ">": (b - a, True),
                ">=": (b - a, False),
                "==": (np.abs(a - b), False),
            }[operator]
            fails = ~((gap < 0) if strict else (gap <= 0))
            amount = np.log1p(np.clip(np.nan_to_num(gap, nan=1e9), 0.0, 1e9))
            total = total + np.where(fails, np.maximum(amount, 1e-12), 0.0)
    return total
