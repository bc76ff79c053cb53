"""Linear conic programs in floats: Clarabel, called on blocks of rows.

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
from typing import Any, Literal

import numpy as np

Cone = Literal["zero", "nonnegative", "semidefinite"]
Block = tuple[Cone, Any, np.ndarray]
"""A cone, (rows, n) entries of A, sparse or not, and (rows,) of b: ``b - A x`` is in the cone."""

_ALONE = threading.Lock()


def minimised(cost: np.ndarray, blocks: Sequence[Block], *, tolerance: float = 1e-8, iterations: int = 200) -> Any:
    """Minimise ``cost @ x`` subject to ``b - A x`` in a cone, block by block.

    Args:
        cost: (n,).
        blocks: those without rows count for nothing.
        tolerance: of gap and feasibility.
        iterations: at most.

    Returns:
        Clarabel's own solution object (``status``, ``x``, ``z``, ``obj_val``); None where it panics.
    """
    import clarabel
    from scipy import sparse

    kept = [block for block in blocks if block[2].size]
    kinds = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "semidefinite": lambda rows: clarabel.PSDTriangleConeT((math.isqrt(8 * rows + 1) - 1) // 2),
    }
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.max_iter = iterations
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((cost.size, cost.size)),
        cost,
        sparse.vstack([sparse.csc_matrix(rows) for _, rows, _ in kept], format="csc"),
        np.concatenate([right for _, _, right in kept]),
        [kinds[cone](right.size) for cone, _, right in kept],
        settings,
    )
    return solved_by(solver)


def packed(matrices: np.ndarray) -> np.ndarray:
    """Symmetric matrices (K, n, n) as scaled upper triangles (K, n(n+1)/2)."""
    column, row = np.tril_indices(matrices.shape[-1])
    return matrices[:, row, column] * np.where(row == column, 1.0, np.sqrt(2.0))


def unpacked(triangle: np.ndarray, n: int) -> np.ndarray:
    """The symmetric (n, n) matrix of a scaled upper triangle."""
    column, row = np.tril_indices(n)
    matrix = np.zeros((n, n))
    matrix[row, column] = matrix[column, row] = triangle / np.where(row == column, 1.0, np.sqrt(2.0))
    return matrix


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
