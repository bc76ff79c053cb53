"""Semidefinite programs in Gram form: maximise a form in (G, F) over G >= 0 subject to conditions, with proofs.

The dual is assembled by hand in Clarabel's format, without a modelling layer. With C_i, c_i, k_i the matrix, the value
part and the constant of condition i (``<C_i, G> + c_i.F + k_i <= 0``) and O, o, k those of the objective, it reads

    minimise k - sum_i y_i k_i   over y_i >= 0 (free where condition i is an equality)
    subject to   sum_i y_i c_i = o   and   R = sum_i y_i C_i - O positive semidefinite,

because then ``objective + <R, G> - sum_i y_i (condition i) = k - sum_i y_i k_i`` for all G and F. Rational multipliers
y with the equation exactly true and R certainly positive semidefinite prove the bound; that is `certify`.

Reference: Drori, Teboulle, Performance of first-order methods for smooth convex minimization, Math. Program. 145
(2014); Taylor, Hendrickx, Glineur, Smooth strongly convex interpolation and exact worst-case performance of
first-order methods, Math. Program. 161 (2017).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.inequality.conic import STATUSES, Program, packed_identity, run_clarabel, unpacked
from theory.inequality.psd import prove_psd
from theory.inequality.vectors import (
    Condition,
    Exact,
    Form,
    Space,
    Vector,
    combination,
    distribution,
    exact,
    expectation,
    inner,
    mean,
    square,
)

__all__ = [
    "Certificate",
    "Condition",
    "Exact",
    "Form",
    "Solution",
    "Space",
    "Vector",
    "certify",
    "combination",
    "distribution",
    "exact",
    "expectation",
    "inner",
    "mean",
    "residual",
    "solve",
    "square",
]

logger = logging.getLogger(__name__)

MARGINS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # relative; what certify gives away, in this order
BITS = 44  # of the multipliers after the point


@dataclass(frozen=True)
class Certificate:
    """A proved upper bound of a form under conditions.

    Attributes:
        objective: what is bounded.
        conditions: p conditions.
        multipliers: p Fractions, non-negative where the condition is an inequality.
        bound: objective <= bound wherever the conditions hold and G >= 0.
        method: how the residual was proved positive semidefinite, "exact" or "balls".
    """

    objective: Form
    conditions: tuple[Condition, ...]
    multipliers: tuple[Fraction, ...]
    bound: Fraction
    method: str

    def check(self) -> bool:
        """Whether it is a proof, computed afresh in exact rationals (and balls for a large residual)."""
        if len(self.multipliers) != len(self.conditions):
            return False
        if any(y < 0 for y, c in zip(self.multipliers, self.conditions, strict=True) if c.relation == "<="):
            return False
        matrix, values, constant = residual(self.objective, self.conditions, self.multipliers)
        return not any(values) and self.bound + constant >= 0 and prove_psd(matrix) is not None


@dataclass(frozen=True)
class Solution:
    """What the solver says, in floats: nothing is proved by it, except `upper`.

    Attributes:
        status: "optimal", "optimal_inaccurate", "unbounded", "infeasible", or the solver's own word.
        value: the optimum (nan without one).
        multipliers: (p,).
        residual: (n, n).
        gram: (n, n), primal.
        values: (m,), primal.
        iterations: of the solver.
        upper: a proved bound, once `certify` has found one.
    """

    status: str
    value: float
    multipliers: np.ndarray
    residual: np.ndarray
    gram: np.ndarray
    values: np.ndarray
    iterations: int = 0
    upper: Certificate | None = None


def solve(
    space: Space, objective: Form, conditions: Sequence[Condition], *, tolerance: float = 1e-9, iterations: int = 200
) -> Solution:
    """Maximise a form over Gram matrices and values, subject to conditions.

    Args:
        space: n vectors, m values.
        objective: the form to be maximised.
        conditions: p >= 1 of them.
        tolerance: of gap and feasibility, in (0, 1).
        iterations: the most that the solver may take.

    Raises:
        ValueError: no condition, or a form of another space.
    """
    if not conditions:
        raise ValueError("conditions=[] is outside the non-empty lists")
    program = Program.of(space, objective, conditions)
    n, m = program.n, program.values.shape[1]
    inequalities = int(np.sum(~program.equality))
    raw = run_clarabel(-program.constants, program.blocks(), tolerance=tolerance, iterations=iterations)
    multipliers, dual = np.array(raw.x), np.array(raw.z)
    status = STATUSES.get(str(raw.status), str(raw.status))
    logger.debug("Gram program n=%d p=%d: %s in %d iterations", n, len(conditions), status, raw.iterations)
    solved = status.startswith("optimal")
    return Solution(
        status=status,
        value=program.objective_constant - float(program.constants @ multipliers) if solved else float("nan"),
        multipliers=multipliers,
        residual=program.slack(multipliers),
        gram=unpacked(dual[m + inequalities :], n),
        values=-dual[:m],
        iterations=int(raw.iterations),
    )


def certify(
    space: Space,
    objective: Form,
    conditions: Sequence[Condition],
    solution: Solution,
    *,
    margin: Exact | None = None,
    bits: int = BITS,
) -> Certificate | None:
    """A proved upper bound of the objective, slightly above the solver's optimum.

    The multipliers are moved to the middle of those that give ``value + margin`` (a second solve, which maximises the
    least eigenvalue of the residual), rounded to multiples of 2^-bits, and mended so that the equations of the
    function values hold exactly; what remains is the residual, whose sign is proved.

    Args:
        space, objective, conditions: the program.
        solution: what `solve` gave; only its value and status are used.
        margin: what may be given away, absolute, > 0; by default the smallest of `MARGINS` (relative) that succeeds.
        bits: fineness of the multipliers.

    Returns:
        The certificate, checked; None if none was found, or if the program has no optimum.

    Raises:
        ValueError: a margin or a number of bits that is not positive.
    """
    if margin is not None and exact(margin, "margin") <= 0:
        raise ValueError(f"margin={margin!r} is outside (0, inf)")
    if bits < 1:
        raise ValueError(f"bits={bits!r} is outside [1, inf)")
    if not np.isfinite(solution.value):
        return None
    program = Program.of(space, objective, conditions)
    scale = max(1.0, abs(solution.value))
    margins = [float(exact(margin))] if margin is not None else [scale * m for m in MARGINS]
    for allowed in margins:
        multipliers, depth, _ = recentre(program, solution.value + allowed)
        if depth <= 0:
            continue
        finer = max(bits, int(-np.log2(max(depth, 1e-12))) + 16)
        rounded = mended(objective, conditions, [Fraction(round(y * 2**finer), 2**finer) for y in multipliers.tolist()])
        found = None if rounded is None else proved(objective, conditions, rounded)
        if found is not None:
            logger.debug("certified %.3e above the optimum", float(found.bound) - solution.value)
            return found
    return certified_on_face(objective, conditions, solution, margins[-1])


def certified_on_face(
    objective: Form, conditions: Sequence[Condition], solution: Solution, margin: float
) -> Certificate | None:
    """As `certify`, where every residual is singular (some Gram matrix of the feasible set may grow without bound)."""
    from theory.inequality.exact_dual import exact_proof  # which is built on this module

    bound = Fraction(solution.value + margin)
    found = exact_proof(objective - bound, conditions)
    return None if found is None else proved(objective, conditions, found.multipliers)


def recentre(program: Program, bound: float, *, tolerance: float = 1e-10) -> tuple[np.ndarray, float, np.ndarray]:
    """Multipliers in the middle of those that give a bound, and their depth t.

    Maximises t <= 1 such that R - t I is positive semidefinite and every multiplier of an inequality is at least t.

    Args:
        program: the data.
        bound: the objective's upper bound that they are to give, or inf to leave it open.

    Returns:
        (p,) multipliers; t, -inf where there is none; the Gram matrix (n, n) that keeps t from growing.
    """
    import clarabel
    from scipy import sparse

    p = program.constants.size
    # the last unknown is t: it enters the signs and the residual
    columns = [np.zeros(program.values.shape[1]), np.ones(int(np.sum(~program.equality))), packed_identity(program.n)]
    blocks = [
        (sparse.hstack([rows, sparse.csr_matrix(column[:, None])]), right, cone)
        for (rows, right, cone), column in zip(program.blocks(), columns, strict=True)
    ]
    last = sparse.csr_matrix(([1.0], ([0], [p])), shape=(1, p + 1))
    blocks.append((last, np.ones(1), clarabel.NonnegativeConeT(1)))
    if np.isfinite(bound):
        row = sparse.csr_matrix(np.concatenate([-program.constants, [0.0]])[None, :])
        blocks.append((row, np.array([bound - program.objective_constant]), clarabel.NonnegativeConeT(1)))
    cost = np.zeros(p + 1)
    cost[p] = -1
    raw = run_clarabel(cost, blocks, tolerance=tolerance)
    point = np.array(raw.x)
    if STATUSES.get(str(raw.status), "").startswith(("unbounded", "infeasible")) or not np.all(np.isfinite(point)):
        return point[:p], -np.inf, np.zeros((program.n, program.n))
    before = sum(column.size for column in columns[:2])
    gram = unpacked(np.array(raw.z)[before : before + columns[2].size], program.n)
    return point[:p], float(point[p]), gram


def mended(objective: Form, conditions: Sequence[Condition], multipliers: Sequence[Fraction]) -> list[Fraction] | None:
    """Multipliers near the given ones, for which the function values cancel exactly; None if that is impossible.

    Only as many multipliers move as there are independent equations: those whose relative change is least.
    """
    rows = [
        [(i, c.form.values[j]) for i, c in enumerate(conditions) if j in c.form.values]
        for j in range(len(objective.space.values))
    ]
    targets = [objective.values.get(j, Fraction(0)) for j in range(len(rows))]
    return solved_exactly(rows, targets, multipliers, mobility(conditions, multipliers))


def mobility(conditions: Sequence[Condition], multipliers: Sequence[Fraction]) -> np.ndarray:
    """How readily each multiplier may be moved: by its size, and freely for equalities, (p,)."""
    sizes = np.array([abs(float(y)) for y in multipliers])
    largest = max(1e-12, *sizes) if sizes.size else 1.0
    equality = np.array([c.relation == "==" for c in conditions], dtype=bool)
    return np.where(equality, largest, np.maximum(sizes, 1e-9 * largest))


def solved_exactly(
    rows: Sequence[Sequence[tuple[int, Fraction]]],
    targets: Sequence[Fraction],
    start: Sequence[Fraction],
    weights: np.ndarray,
) -> list[Fraction] | None:
    """A solution of sparse linear equations near `start`; None if there is none.

    Args:
        rows: one list of (unknown, coefficient) an equation.
        targets: the right sides.
        start: the unknowns to be mended.
        weights: one number > 0 an unknown; those of large weight are moved first.
    """
    import flint
    from scipy.linalg import qr

    missing = [t - sum((c * start[i] for i, c in row), Fraction(0)) for row, t in zip(rows, targets, strict=True)]
    if not any(missing):
        return list(start)
    used = sorted({i for row in rows for i, _ in row})
    if not used:
        return None
    place = {i: k for k, i in enumerate(used)}
    dense = np.zeros((len(rows), len(used)))
    for r, row in enumerate(rows):
        for i, c in row:
            dense[r, place[i]] += float(c)
    _, triangle, order = qr(dense * weights[used], mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.sum(sizes > 1e-13 * max(sizes[0], 1e-300)))
    chosen = [used[k] for k in order[:rank]]
    column = {i: k for k, i in enumerate(chosen)}
    augmented = flint.fmpq_mat(len(rows), rank + 1)
    for r, row in enumerate(rows):
        for i, c in row:
            if i in column:
                augmented[r, column[i]] = augmented[r, column[i]] + flint.fmpq(c.numerator, c.denominator)
        augmented[r, rank] = flint.fmpq(missing[r].numerator, missing[r].denominator)
    reduced, independent = augmented.rref()
    result = list(start)
    for r in range(independent):
        pivot = next(k for k in range(rank + 1) if reduced[r, k] != 0)
        if pivot == rank:
            return None  # the equations contradict each other
        shift = reduced[r, rank]
        result[chosen[pivot]] += Fraction(int(shift.p), int(shift.q))
    return result


def proved(objective: Form, conditions: Sequence[Condition], multipliers: Sequence[Fraction]) -> Certificate | None:
    """The certificate that exact multipliers give, or None if they prove nothing."""
    if any(y < 0 and c.relation == "<=" for y, c in zip(multipliers, conditions, strict=True)):
        return None
    matrix, values, constant = residual(objective, conditions, multipliers)
    method = None if any(values) else prove_psd(matrix)
    return method and Certificate(objective, tuple(conditions), tuple(multipliers), -constant, method)  # type: ignore[return-value]


def residual(
    objective: Form, conditions: Sequence[Condition], multipliers: Sequence[Fraction]
) -> tuple[list[list[Fraction]], list[Fraction], Fraction]:
    """sum_i y_i (condition i) - objective, exactly: its matrix (n x n), its value part (m), its constant."""
    import flint

    rational: Callable[[Fraction], Any] = lambda c: flint.fmpq(c.numerator, c.denominator)  # noqa: E731
    n, m = objective.space.dimension, len(objective.space.values)
    gram: dict[tuple[int, int], Any] = {}
    values: list[Any] = [flint.fmpq(0)] * m
    constant = flint.fmpq(0)
    for y, form in [(Fraction(-1), objective), *zip(multipliers, [c.form for c in conditions], strict=True)]:
        if not y:
            continue
        factor = rational(y)
        for place, c in form.gram.items():
            gram[place] = gram.get(place, 0) + factor * rational(c)
        for j, c in form.values.items():
            values[j] += factor * rational(c)
        constant += factor * rational(form.constant)
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for (i, j), c in gram.items():
        entry = Fraction(int(c.p), int(c.q))
        matrix[i][j] = matrix[j][i] = entry if i == j else entry / 2
    return matrix, [Fraction(int(c.p), int(c.q)) for c in values], Fraction(int(constant.p), int(constant.q))
