"""An instance in small numbers: a solution of a performance estimation problem of low rank, with few digits.

The solver's own solution lies on the border of the conditions, where rounding leaves them. So the problem is solved
again and again with less to spare, until one attains a positive value; each is turned so that the first vectors have
few coordinates, and rounded to as few bits as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from theory.worst_case.certificate import Instance, evaluate
from theory.worst_case.program import Array, Program
from theory.worst_case.reduced import Forms, reduced
from theory.worst_case.solver import Effort, Solved, relaxations

SPARE = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
"""What is left to spare in every condition, the start having length 1: the larger, the shorter the numbers."""
LEAST = 1e-6
"""Objectives below this, with coefficients near 1, are errors of the solver."""
_RANKS = (1e-2, 1e-3, 1e-4, 1e-6, 0.0)
"""Relative sizes below which an eigenvalue of the Gram matrix is dropped."""
WIDEST, NARROWEST = 1e-3, 1e-7  # radii of the trust regions
LINEAR_PROGRAMS = 14
LARGEST_LINEAR = 500_000  # entries of a dense linear program
PULL = 1e-4  # cost of a unit of length
GAIN = 1e-3  # of the linearised objective per radius, from which the same radius may gain again
NEAR = 1e3  # conditions with more than this times the radius to spare are left out
POLISHED = 1e-12  # what is left to spare in every condition: above rounding and the square of the last radius
_BITS = (2, 3, 4, 6, 8, 11, 15, 20, 26, 34, 44)


def scale_of(program: Program) -> float:
    """What an objective is multiplied by to have coefficients near 1."""
    goal = program.objective
    most = max([abs(float(c)) for row in goal.form for c in row] + [abs(float(c)) for c in goal.slopes], default=1.0)
    return float(2.0 ** -round(np.log2(most))) if most > 0 else 1.0


def size_of(program: Program) -> int:
    """Roughly what a solution costs, in operations as `theory.program.work` counts them."""
    return 200 + program.size**2 * program.conditions // 4


def solved(program: Program, spare: float, scale: float) -> Solved | None:
    """A solution with something to spare; None where the solver has none."""
    last = None
    for one in relaxations(program, Effort(1e-9, spare, 1e-9, scale)):
        last = one
    return last if last is not None and last.gram and np.isfinite(last.value) else None


def breaking(program: Program, rank: int | None = None) -> Iterator[Instance]:
    """Instances with a positive objective, each found with less to spare than the one before.

    Args:
        program: with one block; its constraint on the length of the start makes it bounded.
        rank: the number of coordinates, where it is prescribed; the solution is improved from there.
    """
    scale = scale_of(program)
    best = solved(program, SPARE[-1], scale)
    if best is None or best.value * scale < LEAST:
        return
    for spare in SPARE:
        found = best if spare == SPARE[-1] else solved(program, spare, scale)
        if found is None or found.value <= 0:
            continue
        instance = simplest(program, found) if rank is None else _of_rank(program, found, rank)
        if instance is not None:
            yield instance


def simplest(program: Program, found: Solved) -> Instance | None:
    """A solution with a positive objective, of the lowest rank and the fewest bits that stand the exact check."""
    (gram,) = found.gram
    weights, axes = np.linalg.eigh((gram + gram.T) / 2)
    seen = set()
    for cut in _RANKS:
        keep = weights > cut * weights[-1]
        if int(keep.sum()) in seen:
            continue
        seen.add(int(keep.sum()))
        vectors = _turned(axes[:, keep] * np.sqrt(weights[keep]))
        for bits in _BITS:
            one = _rounded(program, vectors, found.values, bits)
            if one is not None:
                return one
    return None


def _of_rank(program: Program, found: Solved, rank: int) -> Instance | None:
    """The nearest solution in so many coordinates, improved, in few bits."""
    (gram,) = found.gram
    weights, axes = np.linalg.eigh((gram + gram.T) / 2)
    start = axes[:, -rank:] * np.sqrt(np.maximum(weights[-rank:], 0))
    for (vectors,), values in (polish(program, [start], found.values), ([start], found.values)):
        for bits in _BITS:
            one = _rounded(program, _turned(vectors), values, bits)
            if one is not None:
                return one
    return None


def _turned(vectors: Array) -> Array:
    """The same vectors, (n, r), turned so that each of the first ones has one coordinate more than those before."""
    return np.linalg.qr(vectors.T)[1].T


def _rounded(program: Program, vectors: Array, values: Array, bits: int) -> Instance | None:
    unit = 2.0**bits
    block, known = np.round(vectors * unit) / unit, np.round(values * unit) / unit
    if program.levels([block @ block.T], known).max() > 1e-9:
        return None
    exact = tuple([tuple([Fraction(float(c)) for c in v]) for v in block])
    instance = evaluate(program, (exact,), tuple([Fraction(float(v)) for v in known]))
    return instance if instance.value > 0 and instance.check(program) else None


def polish(program: Program, factors: list[Array], values: Array) -> tuple[list[Array], Array]:
    """Improve a factored solution by linear programs in ever smaller trust regions, down to rounding.

    Each maximises the objective linearised at the present coordinates, subject to the conditions linearised there.
    What is neglected is of second order in the step, and the next, smaller one repairs it; so a step that gains
    hardly anything is not worth its length (`PULL`).

    Args:
        program: which; where things in it are alike, they stay so.
        factors: (m_b, r_b) of each small block (`theory.worst_case.reduced`); the block is their product.
        values: (V,) function values, one for each orbit.

    Returns:
        New coordinates and values, to be checked by the caller like any others; the same ones for a large program.
    """
    from scipy.optimize import linprog

    small = reduced(program)
    if (sum(f.size for f in factors) + len(values)) * len(small.sizes) > LARGEST_LINEAR:
        return factors, values
    forms, aim = small.every, small.objective()
    radius = WIDEST
    for _ in range(LINEAR_PROGRAMS):
        levels = forms.levels(factors, values)
        near = np.flatnonzero(levels > -NEAR * radius)
        close = Forms([m[near] for m in forms.blocks], forms.values[near], forms.constants[near])
        table, goal = close.slopes(factors), aim.slopes(factors)[0]
        spare = (-levels[near] - POLISHED) / radius
        costs = np.concatenate([PULL - goal, PULL + goal])  # of the step's positive and negative part
        found = linprog(costs, A_ub=np.hstack([table, -table]), b_ub=spare, bounds=(0, 1), method="highs")
        if found.x is None:  # what is to be repaired is out of reach
            radius *= 5
            continue
        step = found.x[: len(goal)] - found.x[len(goal) :]
        pieces = np.split(radius * step, np.cumsum([f.size for f in factors]))
        factors = [f + p.reshape(f.shape) for f, p in zip(factors, pieces, strict=False)]
        values = values + pieces[-1]
        if radius <= NARROWEST:
            break
        gain = goal @ step > GAIN and np.abs(step).max() > 0.99
        radius = radius / 2 if gain else max(radius / 30, NARROWEST)
    return factors, values
