"""The data of a Gram-form program in floats, and Clarabel called on blocks of rows.

Symmetric matrices travel as scaled upper triangles, column by column, the entries off the diagonal times sqrt 2, so
that the product of two triangles is the inner product of the matrices (Clarabel's convention).
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from theory.inequality.vectors import Condition, Form, Space

STATUSES = {
    "Solved": "optimal",
    "AlmostSolved": "optimal_inaccurate",
    "PrimalInfeasible": "unbounded",  # of the dual, which is what Clarabel is given
    "AlmostPrimalInfeasible": "unbounded_inaccurate",
    "DualInfeasible": "infeasible",
    "AlmostDualInfeasible": "infeasible_inaccurate",
}


@dataclass(frozen=True)
class Program:
    """The data in floats, matrices as scaled upper triangles (column by column, off the diagonal times sqrt 2).

    Attributes:
        n: size of G.
        forms: (p, n(n+1)/2) sparse rows C_i.
        values: (p, m) rows c_i.
        constants: (p,) k_i.
        equality: (p,) whether condition i is an equality.
        objective: (n(n+1)/2,), objective_values (m,), objective_constant: those of the objective.
    """

    n: int
    forms: Any
    values: np.ndarray
    constants: np.ndarray
    equality: np.ndarray
    objective: np.ndarray
    objective_values: np.ndarray
    objective_constant: float

    @staticmethod
    def of(space: Space, objective: Form, conditions: Sequence[Condition]) -> Program:
        """From forms.

        Raises:
            ValueError: a form belongs to another space.
        """
        from scipy import sparse

        for form in (objective, *[c.form for c in conditions]):
            if form.space is not space and form.space != space:
                raise ValueError(f"space={space!r} is outside the space of a form, {form.space!r}")
        n, m, p = len(space.vectors), len(space.values), len(conditions)
        size = n * (n + 1) // 2
        rows: list[int] = []
        places: list[int] = []
        entries: list[float] = []
        values = np.zeros((p + 1, m))
        constants = np.zeros(p + 1)
        for i, form in enumerate([*[c.form for c in conditions], objective]):
            for (a, b), c in form.gram.items():
                rows.append(i)
                places.append(b * (b + 1) // 2 + a)
                entries.append(float(c) if a == b else float(c) / np.sqrt(2))
            for j, c in form.values.items():
                values[i, j] = float(c)
            constants[i] = float(form.constant)
        forms = sparse.csr_matrix((entries, (rows, places)), shape=(p + 1, size))
        equality = np.array([c.relation == "==" for c in conditions], dtype=bool)
        return Program(
            n, forms[:p], values[:p], constants[:p], equality, forms[p].toarray()[0], values[p], float(constants[p])
        )

    def blocks(self) -> list[tuple[Any, np.ndarray, Any]]:
        """What the multipliers obey, for `run_clarabel`: values cancel, signs, residual positive semidefinite."""
        import clarabel
        from scipy import sparse

        p, m = self.values.shape
        inequality = np.flatnonzero(~self.equality)
        signs = -sparse.eye(p, format="csr")[inequality]
        return [
            (sparse.csc_matrix(self.values.T), self.objective_values, clarabel.ZeroConeT(m)),
            (signs, np.zeros(inequality.size), clarabel.NonnegativeConeT(inequality.size)),
            (-self.forms.T, -self.objective, clarabel.PSDTriangleConeT(self.n)),
        ]

    def slack(self, multipliers: np.ndarray) -> np.ndarray:
        """R as an (n, n) matrix."""
        return unpacked(np.asarray(self.forms.T @ multipliers) - self.objective, self.n)


def packed_identity(n: int) -> np.ndarray:
    """The scaled upper triangle of the identity, (n(n+1)/2,)."""
    triangle = np.zeros(n * (n + 1) // 2)
    triangle[np.cumsum(np.arange(1, n + 1)) - 1] = 1
    return triangle


def unpacked(triangle: np.ndarray, n: int) -> np.ndarray:
    """The symmetric (n, n) matrix of a scaled upper triangle."""
    matrix = np.zeros((n, n))
    columns, rows = np.tril_indices(n)  # the upper triangle, column by column
    matrix[rows, columns] = matrix[columns, rows] = triangle * np.where(rows == columns, 1, np.sqrt(0.5))
    return matrix


def run_clarabel(
    cost: np.ndarray, blocks: Sequence[tuple[Any, np.ndarray, Any]], *, tolerance: float, iterations: int = 200
) -> Any:
    """Minimise cost.x subject to ``b - A x`` in a cone, block by block; Clarabel's own solution object.

    Where it panics, that is one of NaN, and its status `PANICKED`.
    """
    import clarabel
    from scipy import sparse

    kept = [block for block in blocks if block[1].size]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = iterations
    settings.max_threads = 1
    settings.chordal_decomposition_enable = False  # our matrices are dense, and Clarabel 0.11 can panic in there
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((cost.size, cost.size)),
        cost,
        sparse.csc_matrix(sparse.vstack([block[0] for block in kept])),
        np.concatenate([block[1] for block in kept]),
        [block[2] for block in kept],
        settings,
    )
    answer = solved_by(solver)
    if answer is None:
        nothing = np.full(cost.size, np.nan), np.full(sum(block[1].size for block in kept), np.nan)
        return SimpleNamespace(status=PANICKED, x=nothing[0], z=nothing[1], iterations=0, obj_val=math.nan)
    return answer


PANICKED = "Panicked"
"""The status of a program at which Clarabel stopped with an error of its own: nothing is known of it."""
_ALONE = threading.Lock()


def solved_by(solver: Any) -> Any:
    """Clarabel's solution of a program; None where it panics, as 0.11 does where it meets a matrix that is no number.

    What Rust says of the panic is not printed. Of several threads that solve at once, one alone is quiet.
    """
    quiet = _ALONE.acquire(blocking=False)
    try:
        with _panics_unsaid() if quiet else nullcontext():
            return solver.solve()
    except BaseException as error:  # a panic is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return None
    finally:
        if quiet:
            _ALONE.release()


@contextmanager
def _panics_unsaid() -> Iterator[None]:
    """What is written to the standard error stream meanwhile is written at the end, but for what a panic says."""
    try:
        sys.stderr.flush()
        stream = os.dup(2)
    except (AttributeError, OSError, ValueError):  # there is no such stream
        yield
        return
    panicked = False
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        except BaseException as error:
            panicked = type(error).__name__ == "PanicException"
            raise
        finally:
            os.dup2(stream, 2)
            os.close(stream)
            said.seek(0)
            text = b"" if panicked else said.read()
            if text:
                os.write(2, text)
