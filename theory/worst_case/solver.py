"""The dual of a performance estimation problem, solved in floats. Nothing here is proved.

The dual of "maximise <C, G> + c.F + c0 subject to <A_k, G> + a_k.F + r_k <= 0, G >= 0" is
"minimise c0 - sum_k y_k r_k subject to sum_k y_k A_k - C >= 0, sum_k y_k a_k = c, y >= 0". A method of our
own is asked first, whose points lie inside of what is feasible (`theory.worst_case.interior`). Where it finds none, and
where there are equations, Clarabel solves both sides a little inside of their feasible sets, in one solve: the residual
is to be at least `Effort.residual` times the identity, and every condition is to hold with `Effort.slack` to spare. The
bound then loses residual * trace G, the instance slack * sum y, and errors of the order of the solver's tolerance can
no longer spoil either. The first can be paid in every direction when each basis vector is bounded over the class (else
the dual has no interior, and no finite bound is found this way); the second, when the class has an instance that
satisfies all conditions strictly.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theory.conic import Block, minimised, packed, unpacked
from theory.worst_case import interior
from theory.worst_case.program import Array, Program
from theory.worst_case.reduced import Reduced, reduced

log = logging.getLogger(__name__)

ALL_AT_ONCE = 200  # conditions up to which no relaxation is tried first,
ALL_INSIDE = 120  # and where they are taken in on the way
RELAXATIONS = 8  # solved before all conditions are taken together
MORE = 20  # conditions that are taken in at once, at least
INSIDE = "Inside"  # the word of the method of our own
ASTRAY = 1e-6  # what a condition that was left out may be violated by in its solution


@dataclass(frozen=True)
class Effort:
    """What one solve asks for.

    Attributes:
        residual: least eigenvalue of the residual.
        slack: what is to spare in each condition.
        tolerance: of the solver.
        scale: the objective is multiplied by this, so that a small or large optimum is found to the same digits.
        width: relative distance of both values at which `theory.worst_case.interior` ends, which is asked first and
            needs nothing to spare; 0 where it is not asked.
    """

    residual: float
    slack: float
    tolerance: float
    scale: float = 1.0
    width: float = 0.0


# The later ones are for problems on which the solver is less accurate.
EFFORTS = (
    Effort(1e-8, 1e-9, 1e-9, width=2e-7),
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
        blocks: the small blocks of which the Gram matrices are made (`theory.worst_case.reduced`).
        by_orbit: the function values, one for each orbit.
    """

    status: str
    value: float
    multipliers: Array
    gram: tuple[Array, ...]
    values: Array
    blocks: tuple[Array, ...]
    by_orbit: Array


def relaxations(program: Program, effort: Effort) -> Iterator[Solved]:
    """Solve with the conditions that matter: those first named, and then whichever are found violated.

    Each relaxation gives an upper bound; the last one has a solution that satisfies all conditions.
    """
    small = reduced(program)
    chosen = np.zeros(len(small.sizes), dtype=bool)
    chosen[small.conditions[program.first()]] = True
    if effort.width:
        one = _inside(small, chosen | (len(chosen) <= ALL_INSIDE), effort)
        if one is not None:
            yield one
            return
    if len(chosen) <= ALL_AT_ONCE:
        chosen[:] = True
    for attempt in range(RELAXATIONS + 1):
        if attempt == RELAXATIONS:
            chosen[:] = True
        solved = _solve(small, chosen, effort)
        log.debug("relaxation %d: %d conditions, %s, %.9g", attempt, chosen.sum(), solved.status, solved.value)
        yield solved
        if chosen.all() or not solved.gram:
            return
        levels = levels_of(small, solved.gram, solved.values)
        wrong = np.flatnonzero((levels > -effort.slack / 2) & ~chosen)
        if not len(wrong):  # equations are all chosen
            return
        worst = wrong[np.argsort(-levels[wrong])]
        chosen[worst[: max(50, chosen.sum() // 2)]] = True


def levels_of(small: Reduced, gram: Sequence[Array], values: Array) -> Array:
    """The left-hand side of each orbit, the largest in it."""
    levels = np.full(len(small.sizes), -np.inf)
    np.maximum.at(levels, small.conditions, small.program.levels(gram, values))
    return levels


def _inside(small: Reduced, chosen: Array, effort: Effort) -> Solved | None:
    """A solution inside of all conditions of the dual (`theory.worst_case.interior`), or None.

    Args:
        small: what is solved.
        chosen: the orbits of conditions with which it begins.
        effort: with a width.
    """
    sizes, weights = [s.stop - s.start for s in small.slices], np.array(small.weights)[:, None, None]
    goal, m, orbits = small.objective(), max(sizes), np.flatnonzero(chosen)

    def stacked(parts: Sequence[Array]) -> Array:
        whole = np.zeros((len(sizes), len(parts[0]), m, m))
        for own, part, n in zip(whole, parts, sizes, strict=True):
            own[:, :n, :n] = part
        return whole / weights[:, None]

    def conditions(which: Array) -> tuple[Array, Array, Array]:
        forms = small.forms(which)
        return stacked(forms.blocks), forms.values, -forms.constants

    def blocks(X: Array) -> list[Array]:
        return [own[:n, :n] for own, n in zip(X / weights, sizes, strict=True)]

    def violated(X: Array, F: Array, least: float = 0.0) -> tuple[Array, Array, Array] | None:
        nonlocal orbits
        levels = levels_of(small, small.gram(blocks(X)), F[small.values])
        levels[orbits] = -np.inf
        wrong = np.flatnonzero(levels > least)
        if not len(wrong):
            return None
        more = np.sort(wrong[np.argsort(-levels[wrong])][: max(MORE, len(orbits) // 2)])
        orbits = np.append(orbits, more)
        return conditions(more)

    aim = effort.scale * stacked(goal.blocks)[:, 0]
    for own, n in zip(aim, sizes, strict=True):
        own[range(n, m), range(n, m)] = -1
    while not small.equations.any():
        forms, slopes, right = conditions(orbits)
        data = interior.Data(forms, aim, slopes, effort.scale * goal.values[0], right)
        found = interior.solve(data, effort.width, violated)
        if found is None:
            return None
        if violated(found.X, found.F, ASTRAY) is None:
            break
        orbits = np.sort(orbits)
    else:
        return None
    shares = np.zeros(len(chosen))
    shares[orbits] = found.y / effort.scale / small.sizes[orbits]
    gram = blocks(found.X)
    value = float((aim * found.X).sum() + effort.scale * goal.values[0] @ found.F) / effort.scale
    value += float(small.program.objective.constant)
    return Solved(
        INSIDE, value, shares[small.conditions], small.gram(gram), found.F[small.values], tuple(gram), found.F
    )


def _solve(small: Reduced, chosen: Array, effort: Effort) -> Solved:
    """One solve with the conditions of some orbits. A multiplier here is the sum over its orbit."""
    from scipy import sparse

    program, orbits = small.program, np.flatnonzero(chosen)
    forms, goal = small.forms(orbits), small.objective()
    count, values = len(orbits), forms.values.shape[1]
    signed = np.flatnonzero(~small.equations[orbits])
    blocks: list[Block] = [
        ("zero", forms.values.T, effort.scale * goal.values[0]),
        ("nonnegative", -sparse.identity(count, format="csr")[signed], np.zeros(len(signed))),
    ]
    sizes = [s.stop - s.start for s in small.slices]
    for form, aim, size, weight in zip(forms.blocks, goal.blocks, sizes, small.weights, strict=True):
        inside = packed(effort.scale * aim / weight + effort.residual * np.eye(size))[0]
        blocks.append(("semidefinite", -packed(form).T / weight, -inside))
    cost = -forms.constants - effort.slack * ~small.equations[orbits]
    answer = minimised(cost, blocks, tolerance=effort.tolerance)
    status = "Panicked" if answer is None else str(answer.status)
    if answer is None or "Infeasible" in status:
        nothing = np.zeros(program.conditions)
        return Solved(status, np.nan, nothing, (), np.zeros(program.values), (), np.zeros(values))
    shares = np.zeros(len(chosen))
    shares[orbits] = np.array(answer.x) / effort.scale / small.sizes[orbits]
    dual = np.array(answer.z)
    matrices, at = [], values + len(signed)
    for size, weight in zip(sizes, small.weights, strict=True):
        length = size * (size + 1) // 2
        matrices.append(unpacked(dual[at : at + length], size) / weight)
        at += length
    value = float(answer.obj_val) / effort.scale + float(program.objective.constant)
    own = -dual[:values]
    multipliers = shares[small.conditions]
    return Solved(status, value, multipliers, small.gram(matrices), own[small.values], tuple(matrices), own)
