"""From the floats of a semidefinite program to rational multipliers that prove an inequality.

`exact_proof` looks for multipliers of the homogenised program in three ways, simplest first:

1. small denominators, tried on several solutions (a textbook proof has multipliers such as 1/2);
2. where the multipliers have room, the middle of them, rounded finely;
3. where the residual is singular for every proof (a claim that holds with equality somewhere): its kernel is guessed
   in rationals, the equations ``residual * kernel = 0`` are solved exactly, and there is room in what remains.

Nothing is trusted: each attempt ends in exact arithmetic.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from theory.inequality.conic import STATUSES, Program, packed_identity, run_clarabel, unpacked
from theory.inequality.gram import BITS, Certificate, mended, mobility, proved, recentre, solved_exactly
from theory.inequality.homogeneous import Homogeneous, homogeneous
from theory.inequality.vectors import Condition, Form

logger = logging.getLogger(__name__)

DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 30, 36, 48, 60, 72, 90, 100, 120, 180, 240, 360, 420, 720, 840, 1000)
ROOM = 1e-9  # the least depth that counts
LARGE = 3000  # size of G times number of conditions, above which few denominators are tried
KERNEL_DENOMINATORS = (4, 12, 60, 420, 5000, 10**6)
KERNEL_ERROR = 1e-4  # between a kernel vector and its rational guess
THRESHOLDS = (1e-5, 1e-4, 1e-3, 1e-6, 1e-7)  # relative; what counts as a zero eigenvalue or multiplier


def exact_proof(claim: Form, given: Sequence[Condition], start: np.ndarray | None = None) -> Certificate | None:
    """Rational multipliers that prove ``claim <= 0``, or None.

    Args:
        claim: the form.
        given: p hypotheses.
        start: (p + 1,) multipliers in floats, of the homogenised program (from `worst`), or None.
    """
    problem = homogeneous(claim, given)
    if not problem.inhomogeneous:  # nothing may be said about the number 1: its multiplier is zero
        last = len(given)
        problem = replace(problem, conditions=problem.conditions[:last], form_units=problem.form_units[: last + 1])
        start = None if start is None else start[:last]
    program = Program.of(problem.space, problem.claim, problem.conditions)
    for multipliers in attempts(problem, program, start):
        found = proved(problem.claim, problem.conditions, multipliers)
        if found is not None:
            return proved(claim, given, problem.old_multipliers(found.multipliers)[: len(given)])
    return None


def attempts(problem: Homogeneous, program: Program, start: np.ndarray | None) -> Iterator[list[Fraction]]:
    """Rational multipliers that are worth an exact check: simple ones first, or where those are dear, the safest."""
    middle, depth, gram = recentre(program, np.inf)
    if depth > ROOM and program.n * middle.size > LARGE:
        yield from finely(problem, middle, depth)
    least = sparsest(program)
    for floats in (least, start, middle if depth > ROOM else None):
        if floats is not None:
            yield from simple(problem, program, floats)
    if depth > ROOM:
        yield from finely(problem, middle, depth)
    yield from on_face(problem, program, [f for f in (start, middle, least) if f is not None], gram)


def finely(problem: Homogeneous, middle: np.ndarray, depth: float) -> Iterator[list[Fraction]]:
    """Multipliers with room on all sides, rounded to much less than the room."""
    fine = int(-np.log2(depth)) + BITS
    guess = [Fraction(round(y * 2**fine), 2**fine) for y in middle.tolist()]
    rounded = mended(problem.claim, problem.conditions, guess)
    if rounded is not None:
        yield rounded


def simple(problem: Homogeneous, program: Program, floats: np.ndarray) -> Iterator[list[Fraction]]:
    """Multipliers of small denominators near the given ones."""
    if not np.all(np.isfinite(floats)):
        return
    seen: set[tuple[Fraction, ...]] = set()
    exact = [Fraction(float(y)) for y in floats]
    for denominator in DENOMINATORS if program.n * floats.size < LARGE else DENOMINATORS[:6]:
        guesses = [
            problem.new_multipliers([y.limit_denominator(denominator) for y in problem.old_multipliers(exact)]),
            [y.limit_denominator(denominator) for y in exact],
            # a common denominator keeps sums exact where single continued fractions would not
            [Fraction(round(y * denominator), denominator) for y in exact],
        ]
        for guess in guesses:
            rounded = mended(problem.claim, problem.conditions, guess)
            if rounded is None or tuple(rounded) in seen:
                continue
            seen.add(tuple(rounded))
            slack = program.slack(np.array([float(y) for y in rounded]))
            if slack.size == 0 or np.linalg.eigvalsh(slack)[0] > -1e-9 * max(1.0, float(np.abs(slack).max())):
                yield rounded


def sparsest(program: Program) -> np.ndarray | None:
    """Multipliers of least sum (plus the trace of the residual), (p,); they tend to be few and simple."""
    if not program.equality.size:
        return None
    cost = 1e-3 * np.asarray(program.forms @ packed_identity(program.n)).ravel() + ~program.equality
    raw = run_clarabel(cost, program.blocks(), tolerance=1e-10)
    found = np.array(raw.x)
    return found if STATUSES.get(str(raw.status), "").startswith("optimal") and np.all(np.isfinite(found)) else None


def on_face(
    problem: Homogeneous, program: Program, candidates: Sequence[np.ndarray], gram: np.ndarray
) -> Iterator[list[Fraction]]:
    """Multipliers whose residual has a given kernel exactly, for several guesses of the kernel.

    Args:
        problem, program: the claim and its data.
        candidates: (p,) multipliers in floats, whose residual is nearly singular.
        gram: (n, n), from `recentre`; by complementarity its range lies in the kernel of every residual.
    """
    seen: set[tuple[bytes, bytes, int]] = set()
    weights, vectors = eigen(gram)
    for floats, small in product(candidates, THRESHOLDS):
        if not np.all(np.isfinite(floats)):
            continue
        size = max(1.0, float(np.abs(floats).max(initial=0)))
        kept = program.equality | (floats > small * size)
        eigenvalues, eigenvectors = eigen(program.slack(floats))
        kernels = (
            eigenvectors[:, eigenvalues < small * size],
            vectors[:, weights > small * weights.max(initial=1e-300)],
        )
        for kernel, denominator, given_units in product(kernels, KERNEL_DENOMINATORS, (False, True)):
            rational = guessed_kernel(problem, kernel, denominator, given_units=given_units)
            if rational is None:
                continue
            key = (np.array([float(x) for v in rational for x in v]).tobytes(), kept.tobytes(), len(rational))
            if key in seen:
                continue
            seen.add(key)
            rounded = in_face(problem, program, rational, kept)
            if rounded is not None:
                yield rounded


def eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n,) and eigenvectors (n, n) of a symmetric matrix; none where n = 0."""
    return np.linalg.eigh(matrix) if matrix.size else (np.zeros(0), np.zeros((0, 0)))


def guessed_kernel(
    problem: Homogeneous, kernel: np.ndarray, denominator: int, *, given_units: bool
) -> list[list[Fraction]] | None:
    """`rational_basis` of a kernel, in the scaled units or in the given ones."""
    if not given_units:
        return rational_basis(kernel, denominator)
    if all(unit == 1 for unit in problem.vector_units):
        return None
    units = np.array([float(u) for u in problem.vector_units])
    found = rational_basis(kernel * units[:, None], denominator)
    if found is None:
        return None
    return [[x / u for x, u in zip(row, problem.vector_units, strict=True)] for row in found]


def in_face(
    problem: Homogeneous, program: Program, kernel: Sequence[Sequence[Fraction]], kept: np.ndarray
) -> list[Fraction] | None:
    """Rational multipliers, zero outside `kept`, with ``residual * kernel = 0`` exactly; None if there are none."""
    import clarabel
    from scipy import sparse
    from scipy.linalg import null_space

    n, places = program.n, np.flatnonzero(kept)
    if not places.size:
        return None
    forms = program.forms[places].toarray()
    dense = np.array([unpacked(row, n) for row in forms]).reshape(len(places), n, n)
    target = unpacked(program.objective, n)
    null = np.array([[float(x) for x in v] for v in kernel]).reshape(len(kernel), n).T
    complement = null_space(null.T) if kernel else np.eye(n)
    k, inequality = complement.shape[1], np.flatnonzero(~program.equality[places])
    columns, rows = np.tril_indices(k)
    scale = np.where(rows == columns, 1, np.sqrt(2))

    def packed(matrix: np.ndarray) -> np.ndarray:
        return (complement.T @ matrix @ complement)[rows, columns] * scale

    images = [np.array([c @ v for c in dense]).reshape(-1, n).T for v in null.T]
    equations = np.vstack([program.values[places].T, *images])
    right = np.concatenate([program.objective_values, *[target @ v for v in null.T]])
    shrunk = np.array([packed(c) for c in dense]).reshape(len(places), -1).T
    room = np.zeros((1, len(places) + 1))
    room[0, -1] = 1
    signs = np.hstack([-np.eye(len(places))[inequality], np.ones((inequality.size, 1))])
    blocks = [
        (np.hstack([equations, np.zeros((right.size, 1))]), right, clarabel.ZeroConeT(right.size)),
        (signs, np.zeros(inequality.size), clarabel.NonnegativeConeT(inequality.size)),
        (room, np.ones(1), clarabel.NonnegativeConeT(1)),
        (np.hstack([-shrunk, packed_identity(k)[:, None]]), -packed(target), clarabel.PSDTriangleConeT(k)),
    ]
    cost = np.zeros(len(places) + 1)
    cost[-1] = -1
    raw = run_clarabel(cost, [(sparse.csc_matrix(a), b, cone) for a, b, cone in blocks], tolerance=1e-10)
    point = np.array(raw.x)
    if STATUSES.get(str(raw.status), "").startswith(("unbounded", "infeasible")) or not np.all(np.isfinite(point)):
        return None
    if point[-1] < ROOM:
        return None
    chosen = [problem.conditions[i] for i in places]
    for denominator in (*DENOMINATORS, 2**BITS):
        start = [Fraction(round(y * denominator), denominator) for y in point[:-1].tolist()]
        solution = solved_exactly(*exact_equations(problem.claim, chosen, kernel), start, mobility(chosen, start))
        if solution is None:
            return None
        if all(y >= 0 or c.relation == "==" for y, c in zip(solution, chosen, strict=True)):
            result = [Fraction(0)] * len(problem.conditions)
            for i, y in zip(places.tolist(), solution, strict=True):
                result[i] = y
            slack = program.slack(np.array([float(y) for y in result]))
            if denominator == 2**BITS or not n or np.linalg.eigvalsh(slack)[0] > -1e-9:
                return result
    return None


def exact_equations(
    claim: Form, conditions: Sequence[Condition], kernel: Sequence[Sequence[Fraction]]
) -> tuple[list[list[tuple[int, Fraction]]], list[Fraction]]:
    """Values cancel and the residual annuls the kernel: rows and right sides for `solved_exactly`."""
    n, m = claim.space.dimension, len(claim.space.values)
    rows: list[list[tuple[int, Fraction]]] = [[] for _ in range(m + n * len(kernel))]
    targets = [claim.values.get(j, Fraction(0)) for j in range(m)]
    for i, condition in enumerate(conditions):
        for j, c in condition.form.values.items():
            rows[j].append((i, c))
        for r, image in enumerate(images(condition.form, kernel)):
            if image:
                rows[m + r].append((i, image))
    return rows, targets + images(claim, kernel)


def images(form: Form, kernel: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The products of a form's matrix with vectors, one after the other."""
    n = form.space.dimension
    result = [Fraction(0)] * (n * len(kernel))
    for k, v in enumerate(kernel):
        for (i, j), c in form.gram.items():
            if i == j:
                result[k * n + i] += c * v[i]
            else:
                result[k * n + i] += c * v[j] / 2
                result[k * n + j] += c * v[i] / 2
    return result


def rational_basis(basis: np.ndarray, denominator: int, error: float = KERNEL_ERROR) -> list[list[Fraction]] | None:
    """A rational basis of the span of the columns, or None if none of that denominator is near.

    Args:
        basis: (n, k), linearly independent columns.
        denominator: the largest that is tried.
        error: the largest difference of an entry in reduced echelon form.
    """
    work = basis.T.copy()
    for r in range(len(work)):
        rows, columns = np.unravel_index(np.argmax(np.abs(work[r:])), work[r:].shape)
        row, column = int(rows) + r, int(columns)
        if abs(work[row, column]) < 1e-8:
            return None
        work[[r, row]] = work[[row, r]]
        work[r] /= work[r, column]
        for other in range(len(work)):
            if other != r:
                work[other] -= work[other, column] * work[r]
    rational = [[Fraction(float(x)).limit_denominator(denominator) for x in row] for row in work]
    if any(
        abs(float(x) - y) > error
        for near, far in zip(rational, work.tolist(), strict=True)
        for x, y in zip(near, far, strict=True)
    ):
        return None
    return rational
