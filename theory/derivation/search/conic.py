"""Multipliers in floats: the smallest cost at which a sum of instances and squares is a given form.

Variables are multipliers (not negative, or free) and one positive semidefinite matrix for each block of squares; the
constraints are linear equations, one for each term. Nothing here is a proof: it says where to look for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.conic import Block, minimised, packed, unpacked

SOLVED, STUCK = ("Solved", "AlmostSolved"), ("NumericalError", "InsufficientProgress", "MaxIterations")
"""What a solver says: where rounding is in its way, which on another processor it may not be, it may be there all the
same, if not at the least cost."""
NEARLY = 1e-6
"""By how much equations and cones are missed there at most."""


@dataclass(frozen=True)
class Floats:
    """A problem at one setting of the parameters: ``columns @ multipliers + squares = goal``.

    Attributes:
        goal: shape (terms,).
        columns: shape (terms, multipliers).
        free: which multipliers may have any sign, shape (multipliers,), bool.
        squares: for each block its size n and the terms' coefficients of the matrix' entries, shape (terms, n, n),
            symmetric in the last two.
    """

    goal: np.ndarray
    columns: np.ndarray
    free: np.ndarray
    squares: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Solution:
    """Multipliers, shape (multipliers,), and the blocks' matrices."""

    multipliers: np.ndarray
    matrices: tuple[np.ndarray, ...]
    cost: float


def solve(
    problem: Floats,
    cost: Sequence[float] | np.ndarray,
    *,
    use: Sequence[bool] | None = None,
    rows: Sequence[Sequence[bool]] | None = None,
    fixed: Mapping[int, float] | None = None,
    trace: float = 0.0,
) -> Solution | None:
    """The multipliers of least cost; None where a solver finds none.

    Args:
        problem: which.
        cost: of each multiplier (of the absolute value of a free one).
        use: which multipliers may be other than 0; all.
        rows: for each block, which of its vectors may occur; all.
        fixed: multipliers that are given.
        trace: cost of the traces of the matrices.
    """
    from scipy import sparse

    fixed = dict(fixed or {})
    count = problem.columns.shape[1]
    kept = [j for j in range(count) if (use is None or use[j]) and j not in fixed]
    goal = problem.goal - sum((v * problem.columns[:, j] for j, v in fixed.items()), np.zeros(len(problem.goal)))
    picked = [[i for i in range(s.shape[1]) if rows is None or rows[b][i]] for b, s in enumerate(problem.squares)]
    parts, q = [problem.columns[:, kept]], [float(cost[j]) if not problem.free[j] else 0.0 for j in kept]
    for some, entries in zip(picked, problem.squares, strict=True):
        parts.append(packed(entries[:, some][:, :, some]))
        q += list(packed(trace * np.eye(len(some))[None])[0])
    matrix = np.hstack(parts)
    scale = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), np.abs(goal))
    if not np.isfinite(scale).all():  # beyond floats
        return None
    live = scale > 0
    if not matrix.shape[1]:
        return (
            Solution(_spread(count, [], [], fixed), tuple(map(_none, problem.squares)), 0.0) if not live.any() else None
        )
    matrix, goal = matrix[live] / scale[live, None], goal[live] / scale[live]
    if len(goal) == 0:
        matrix, goal = np.zeros((1, matrix.shape[1])), np.zeros(1)
    matrix, goal = _independent(matrix, goal)
    if matrix is None:
        return None
    bounds = [i for i, j in enumerate(kept) if not problem.free[j]]
    total = matrix.shape[1]
    inside = sparse.identity(total, format="csr")
    blocks: list[Block] = [("zero", matrix, goal), ("nonnegative", -inside[bounds], np.zeros(len(bounds)))]
    at, places = len(kept), []
    for some in picked:
        places.append(slice(at, at + len(some) * (len(some) + 1) // 2))
        blocks.append(("semidefinite", -inside[places[-1]], np.zeros(places[-1].stop - at)))
        at = places[-1].stop
    found = minimised(np.array(q), blocks, iterations=100)
    if found is None or str(found.status) not in (*SOLVED, *STUCK):
        return None
    x = np.array(found.x)
    stuck = str(found.status) in STUCK
    slack = (NEARLY if stuck else 1e-5) * max(1.0, np.abs(x).max(initial=0.0))
    if np.abs(matrix @ x - goal).max(initial=0.0) > slack:
        return None
    if stuck and not _inside(
        x, bounds, [(place, len(some)) for place, some in zip(places, picked, strict=True)], slack
    ):
        return None
    matrices = []
    for some, entries, place in zip(picked, problem.squares, places, strict=True):
        full = np.zeros(entries.shape[1:])
        full[np.ix_(some, some)] = unpacked(x[place], len(some))
        matrices.append(full)
    return Solution(_spread(count, kept, x, fixed), tuple(matrices), float(found.obj_val))


def _independent(matrix: np.ndarray, goal: np.ndarray) -> tuple[Any, Any]:
    """Equations that do not hang on one another, which solvers want; None where they contradict one another."""
    from scipy.linalg import qr

    both = np.hstack([matrix, goal[:, None]])
    _, r, order = qr(matrix.T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int((diagonal > 1e-9 * max(1.0, diagonal.max(initial=0.0))).sum())
    if rank == len(goal):
        return matrix, goal
    keep = np.sort(order[:rank])
    x = np.linalg.lstsq(matrix, goal, rcond=None)[0]
    if np.abs(matrix @ x - goal).max(initial=0.0) > 1e-7 * max(1.0, np.abs(x).max(initial=0.0)):
        return None, None
    return both[keep, :-1], both[keep, -1]


def _inside(x: np.ndarray, bounds: Sequence[int], places: Sequence[tuple[slice, int]], slack: float) -> bool:
    """Whether multipliers that may not be negative are not, nor the eigenvalues of the blocks' matrices."""
    ends = [x[bounds].min(initial=0.0)]
    ends += [np.linalg.eigvalsh(unpacked(x[place], n))[0] for place, n in places if n]
    return bool(min(ends) >= -slack)


def _spread(count: int, kept: Sequence[int], x: Any, fixed: Mapping[int, float]) -> np.ndarray:
    found = np.zeros(count)
    for place, j in enumerate(kept):
        found[j] = x[place]
    for j, value in fixed.items():
        found[j] = value
    return found


def _none(entries: np.ndarray) -> np.ndarray:
    return np.zeros(entries.shape[1:])
