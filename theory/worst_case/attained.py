"""An instance near a solution: of the lowest rank that comes near enough, moved to where all conditions hold.

The solver's solution lies on the border of the conditions, or a little outside. Vectors and values are moved by the
least that takes them inside of all conditions, linearised (Lawson and Hanson, "Solving Least Squares Problems" (1974),
chapter 23: least distance programming, by non-negative least squares); what is neglected is of second order in a step
that is as small as the solver's error. Only the exact check counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from theory.worst_case.certificate import Instance, checked
from theory.worst_case.program import Array, Program
from theory.worst_case.reduced import Reduced, reduced
from theory.worst_case.solver import Solved, levels_of

ASTRAY = 1e-4  # what a condition may be violated by in a solution from which an instance is made
BITS = 53  # coordinates are rounded to multiples of 2^-BITS: no more than floats hold near 1
SPARE = 1e-12  # what is left to spare in every condition: above rounding and the square of a step
NEAR = 1e3  # conditions with more than this times the step to spare are left out
FARTHEST = 1e-3  # a step that is taken, at most
MOVES = 3
ROUNDING = 1e-12  # of the least distance program
LARGEST = 2_000_000  # entries of a least distance program
_RANKS = (*(10.0**-e for e in range(3, 10)), 0.0)  # relative sizes of eigenvalues below which they are dropped


def attain(program: Program, solved: Solved, enough: Fraction | None = None) -> Instance | None:
    """An instance near the solver's primal solution, of the lowest rank that reaches what is wanted, or None.

    Args:
        program: which.
        solved: the solution; there is no instance where it is far from conditions of which the solver was not told.
        enough: a value that is wanted, and nothing above it; the solver's by default.
    """
    small = reduced(program)
    if levels_of(small, solved.gram, solved.values)[~small.equations].max() > ASTRAY:
        return None
    wanted = Fraction(solved.value) if enough is None else enough
    best: Instance | None = None
    for factors in _factors(solved):
        moved = _inside(small, factors, solved.by_orbit)
        if moved is None:
            continue
        instance = _instance(program, small.factors(moved[0]), moved[1][small.values])
        if instance is not None and (best is None or instance.value > best.value):
            best = instance
        if best is not None and best.value >= wanted:
            return best
    return best


def _factors(solved: Solved) -> Iterator[list[Array]]:
    """Of the small blocks, (m_b, r_b) each, of growing rank."""
    spectra = [np.linalg.eigh(g) for g in solved.blocks]
    largest = max(float(weights[-1]) for weights, _ in spectra)
    seen = set()
    for cut in _RANKS:
        keep = [weights > cut * largest for weights, _ in spectra]
        ranks = tuple([int(k.sum()) for k in keep])
        if ranks not in seen:
            seen.add(ranks)
            yield [axes[:, k] * np.sqrt(weights[k]) for (weights, axes), k in zip(spectra, keep, strict=True)]


def _inside(small: Reduced, factors: list[Array], values: Array) -> tuple[list[Array], Array] | None:
    """The nearest coordinates and values inside of all conditions, or None."""
    for _ in range(MOVES):
        levels = levels_of(small, small.gram([f @ f.T for f in factors]), values[small.values])
        worst = float(levels.max())
        if worst < -SPARE / 2:
            return factors, values
        if worst > FARTHEST:
            return None
        near = np.flatnonzero(levels > -NEAR * max(worst, SPARE))
        if (sum(f.size for f in factors) + len(values)) * len(near) > LARGEST:
            return None
        step = _least(small.forms(near).slopes(factors), -levels[near] - SPARE)
        if step is None or np.abs(step).max() > FARTHEST:
            return None
        pieces = np.split(step, np.cumsum([f.size for f in factors]))
        factors = [f + p.reshape(f.shape) for f, p in zip(factors, pieces, strict=False)]
        values = values + pieces[-1]
    return None


def _least(table: Array, room: Array) -> Array | None:
    """The shortest d with table d <= room; None where there is none."""
    from scipy.optimize import nnls

    unit = max(float(-room.min()), SPARE)
    whole, aim = np.vstack([-table.T, -room / unit]), np.zeros(table.shape[1] + 1)
    aim[-1] = 1.0
    parts = (whole, aim)
    if whole.shape[0] > whole.shape[1]:
        orthogonal, root = np.linalg.qr(whole)
        parts = (root, orthogonal[-1])
    try:
        multipliers, _ = nnls(*parts)
    except RuntimeError:  # too many steps
        return None
    left = whole @ multipliers - aim
    return None if left[-1] > -ROUNDING else -left[:-1] / left[-1] * unit


def _instance(program: Program, blocks: list[Array], values: Array) -> Instance | None:
    """Floats as an instance, if it stands the exact check."""
    blocks = [np.round(b * 2.0**BITS) / 2.0**BITS for b in blocks]
    values = np.round(values * 2.0**BITS) / 2.0**BITS
    if not all(np.isfinite(b).all() for b in (*blocks, values)):
        return None
    if program.levels([b @ b.T for b in blocks], values)[~program.equations].max(initial=-1.0) >= 0:
        return None
    vectors = tuple([tuple([tuple([Fraction(float(c)) for c in v]) for v in block]) for block in blocks])
    return checked(program, vectors, tuple([Fraction(float(v)) for v in values]))
