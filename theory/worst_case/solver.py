"""The dual of a performance estimation problem, assembled by hand and given to Clarabel. Nothing here is proved.

The dual of "maximise <C, G> + c.F + c0 subject to <A_k, G> + a_k.F + r_k <= 0, G >= 0" is
"minimise c0 - sum_k y_k r_k subject to sum_k y_k A_k - C >= 0, sum_k y_k a_k = c, y >= 0". Both sides are solved a
little inside of their feasible sets, in one solve: the residual is to be at least `Effort.residual` times the
identity, and every condition is to hold with `Effort.slack` to spare. The bound then loses residual * trace G, the
instance slack * sum y, and errors of the order of the solver's tolerance can no longer spoil either. The first can be
paid in every direction when each basis vector is bounded over the class (else the dual has no interior, and no finite
bound is found this way); the second, when the class has an instance that satisfies all conditions strictly. Of the
loss in slack most is won back: `polish` improves a factored solution by linear programs in small trust regions.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.worst_case.program import Array, Family, Program, matrices
from theory.worst_case.reduced import reduced

log = logging.getLogger(__name__)

ALL_AT_ONCE = 200  # conditions up to which no relaxation is tried first
RELAXATIONS = 8  # solved before all conditions are taken together
WIDEST, NARROWEST = 1e-3, 1e-7  # radii of the trust regions
LINEAR_PROGRAMS = 14
LARGEST_LINEAR = 500_000  # entries of a dense linear program
PULL = 1e-4  # cost of a unit of length
GAIN = 1e-3  # of the linearised objective per radius, from which the same radius may gain again
NEAR = 1e3  # conditions with more than this times the radius to spare are left out
POLISHED = 1e-12  # what is left to spare in every condition: above rounding and the square of the last radius
_ROOT2 = float(np.sqrt(2.0))


@dataclass(frozen=True)
class Effort:
    """What one solve asks for.

    Attributes:
        residual: least eigenvalue of the residual.
        slack: what is to spare in each condition.
        tolerance: of the solver.
        scale: the objective is multiplied by this, so that a small or large optimum is found to the same digits.
    """

    residual: float
    slack: float
    tolerance: float
    scale: float = 1.0


# The later ones are for problems on which the solver is less accurate.
EFFORTS = (
    Effort(1e-8, 1e-9, 1e-9),
    Effort(1e-8, 1e-8, 1e-9),
    Effort(1e-8, 1e-7, 1e-9),
    Effort(1e-7, 1e-7, 1e-8),
    Effort(1e-6, 1e-6, 1e-8),
)


@dataclass(frozen=True)
class Solved:
    """Floats of a solver.

    Attributes:
        status: the solver's word.
        value: its optimum.
        multipliers: (C,), zero for conditions that were left out.
        gram: a matrix for each block.
        values: (values,) function values.
    """

    status: str
    value: float
    multipliers: Array
    gram: tuple[Array, ...]
    values: Array


def relaxations(program: Program, effort: Effort) -> Iterator[Solved]:
    """Solve with the conditions that matter: those first named, and then whichever are found violated.

    Each relaxation gives an upper bound; the last one has a solution that satisfies all conditions.
    """
    chosen = program.first()
    if program.conditions <= ALL_AT_ONCE:
        chosen = np.ones(program.conditions, dtype=bool)
    chosen = _with_orbits(program, chosen)
    for attempt in range(RELAXATIONS + 1):
        if attempt == RELAXATIONS:
            chosen = np.ones(program.conditions, dtype=bool)
        solved = _solve(program, chosen, effort)
        log.debug("relaxation %d: %d conditions, %s, %.9g", attempt, chosen.sum(), solved.status, solved.value)
        yield solved
        if chosen.all() or not solved.gram:
            return
        levels = program.levels(solved.gram, solved.values)
        wrong = np.flatnonzero((levels > -effort.slack / 2) & ~chosen)  # equations are all chosen
        if not len(wrong):
            return
        worst = wrong[np.argsort(-levels[wrong])]
        chosen[worst[: max(50, chosen.sum() // 2)]] = True
        chosen = _with_orbits(program, chosen)


def _with_orbits(program: Program, chosen: Array) -> Array:
    """Conditions with all that are alike."""
    if program.alike is None:
        return chosen
    some = np.zeros(program.alike.conditions.max() + 1, dtype=bool)
    some[program.alike.conditions[chosen]] = True
    with_all: Array = some[program.alike.conditions]
    return with_all


def polish(program: Program, blocks: list[Array], values: Array) -> tuple[list[Array], Array]:
    """Improve a factored solution by linear programs in ever smaller trust regions, down to rounding.

    Each maximises the objective linearised at the present coordinates, subject to the conditions linearised there.
    What is neglected is of second order in the step, and the next, smaller one repairs it; so a step that gains
    hardly anything is not worth its length (`PULL`).

    Args:
        blocks: (n_b, r_b) coordinates of each block's basis vectors; the Gram matrix is their product.
        values: (values,) function values.

    Returns:
        New coordinates and values, to be checked by the caller like any others; the same ones for a large program.
    """
    from scipy.optimize import linprog

    if (sum(b.size for b in blocks) + len(values)) * program.conditions > LARGEST_LINEAR:
        return blocks, values
    radius = WIDEST
    for _ in range(LINEAR_PROGRAMS):
        levels = program.levels([b @ b.T for b in blocks], values)
        near = np.flatnonzero(levels > -NEAR * radius)
        rows, start = [], 0
        for family in program.families:
            rows.append(_slopes(program, family, near[(near >= start) & (near < start + len(family))] - start, blocks))
            start += len(family)
        goal = _slopes(program, program.objective, np.array([0]), blocks)[0]
        spare = (-levels[near] - POLISHED) / radius
        table = np.concatenate(rows)
        costs = np.concatenate([PULL - goal, PULL + goal])  # of the step's positive and negative part
        found = linprog(costs, A_ub=np.hstack([table, -table]), b_ub=spare, bounds=(0, 1), method="highs")
        if found.x is None:  # what is to be repaired is out of reach
            radius *= 5
            continue
        step = found.x[: len(goal)] - found.x[len(goal) :]
        pieces = np.split(radius * step, np.cumsum([b.size for b in blocks]))
        blocks = [b + p.reshape(b.shape) for b, p in zip(blocks, pieces, strict=False)]
        values = values + pieces[-1]
        if radius <= NARROWEST:
            break
        gain = goal @ step > GAIN and np.abs(step).max() > 0.99
        radius = radius / 2 if gain else max(radius / 30, NARROWEST)
    return blocks, values


def _slopes(program: Program, family: Family, which: Array, blocks: list[Array]) -> Array:
    """Derivatives of some conditions in the coordinates and the values, (len(which), coordinates + values)."""
    parts = [2 * np.matmul(m, b) for m, b in zip(program.matrices(family, which), blocks, strict=True)]
    parts.append(program.value_parts(family, which))
    return np.concatenate([p.reshape(len(which), math.prod(p.shape[1:])) for p in parts], axis=1)


def _solve(program: Program, chosen: Array, effort: Effort) -> Solved:
    """One solve with some of the conditions."""
    import clarabel
    from scipy import sparse

    small = reduced(program)
    places = np.flatnonzero(chosen)
    _, at, sizes = np.unique(small.conditions[places], return_inverse=True, return_counts=True)
    count = len(sizes)
    by_orbit = sparse.csr_matrix((np.ones(len(places)), (at, np.arange(len(places)))), (count, len(places)))
    by_value = sparse.csr_matrix((np.ones(program.values), (np.arange(program.values), small.values)))
    parts, forms, constants, start = [], [], [], 0
    for family in program.families:
        which = places[(places >= start) & (places < start + len(family))] - start
        start += len(family)
        parts.append(program.value_parts(family, which))
        forms.append(matrices(small.table, small.slices, family, which))
        constants.append(np.full(len(which), float(family.constant)))
    goal, only = program.objective, np.array([0])
    equal = np.zeros(count, dtype=bool)
    equal[at] = program.equations[places]
    signed = np.flatnonzero(~equal)
    values = by_value.shape[1]
    pieces = [(by_orbit @ np.concatenate(parts) @ by_value).T, -sparse.identity(count, format="csr")[signed]]
    pieces[0] = sparse.csc_matrix(pieces[0])
    right = [effort.scale * (program.value_parts(goal, only) @ by_value)[0], np.zeros(len(signed))]
    cones: list[Any] = [clarabel.ZeroConeT(values), clarabel.NonnegativeConeT(len(signed))]
    goal_matrices = matrices(small.table, small.slices, goal, only)
    lengths = [s.stop - s.start for s in small.slices]
    for b, size in enumerate(lengths):
        columns = by_orbit @ np.concatenate([_packed(m[b]) for m in forms])
        pieces.append(sparse.csc_matrix(-columns.T))
        right.append(-_packed(effort.scale * goal_matrices[b] + effort.residual * np.eye(size))[0])
        cones.append(clarabel.PSDTriangleConeT(size))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = effort.tolerance
    cost = -(by_orbit @ (np.concatenate(constants) + effort.slack * ~program.equations[places]))
    everything = sparse.vstack(pieces, format="csc")
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((count, count)), cost, everything, np.concatenate(right), cones, settings
    )
    try:
        answer = solver.solve()
    except BaseException as error:  # clarabel's panics are no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise ArithmeticError(f"clarabel gave up: {error}") from None
    status = str(answer.status)
    if "Infeasible" in status:
        return Solved(status, np.nan, np.zeros(program.conditions), (), np.zeros(program.values))
    multipliers = np.zeros(program.conditions)
    multipliers[places] = np.array(answer.x)[at] / effort.scale
    dual = np.array(answer.z)
    blocks, start = [], values + len(signed)
    for size in lengths:
        length = size * (size + 1) // 2
        blocks.append(_unpacked(dual[start : start + length], size))
        start += length
    value = float(answer.obj_val) / effort.scale + float(goal.constant)
    return Solved(status, value, multipliers, small.gram(blocks), -dual[:values][small.values])


def _packed(matrices: Array) -> Array:
    """Upper triangles (K, n, n) -> (K, n(n+1)/2), column after column, off the diagonal times sqrt 2."""
    n = matrices.shape[-1]
    column, row = np.tril_indices(n)
    return matrices[:, row, column] * np.where(row == column, 1.0, _ROOT2)


def _unpacked(vector: Array, n: int) -> Array:
    """The inverse of `_packed` for one matrix."""
    column, row = np.tril_indices(n)
    matrix = np.zeros((n, n))
    matrix[row, column] = vector / np.where(row == column, 1.0, _ROOT2)
    return np.triu(matrix) + np.triu(matrix, 1).T
