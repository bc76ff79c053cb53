"""What generated rounds need of a problem: a header in C++, and the numbers that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import to_float
from sim.problems.logistic import RidgeLogistic
from sim.problems.quadratic import Quadratic
from sim.problems.softmax import RidgeSoftmax
from theory.program import Program

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NativeFunctions:
    """A problem for generated rounds.

    Attributes:
        header: in sim/native, which defines `Functions`.
        defines: macros for it.
        arrays: what it reads, in the order in which its constructor takes them.
        sizes: integers for it.
        counts: (N,) each client's samples.
        dim: d.
        metrics: those that it knows.
        inverses: of weights (N,) the (N, d, d) inverses of H_n + weight_n I, for `prox`; None where there are none.
        work: about how many multiplications a gradient takes.
        pairs: whether every lane may have a client of its own.
    """

    header: str
    defines: tuple[str, ...]
    arrays: tuple[Array, ...]
    sizes: tuple[int, ...]
    counts: NDArray[np.int64]
    dim: int
    metrics: frozenset[str]
    inverses: Callable[[Array], Array] | None
    work: int
    pairs: bool = False


def native_functions(problem: Any, metrics: Sequence[str] = (), present: bool = False) -> NativeFunctions | str:
    """A problem for generated rounds, or why there is none.

    Args:
        problem: as `sim.simulate.functions_of` takes it.
        metrics: names of those that are wanted.
        present: whether the clients are those of an open population.

    Raises:
        ValueError: where the problem has no minimiser, which a metric needs.
    """
    if type(problem) is Quadratic and not present:
        return _quadratic(problem, metrics)
    if isinstance(problem, RidgeLogistic | RidgeSoftmax):
        from sim.generated.regressions import regression

        return regression(problem, metrics, present)
    where = " in an open population" if present else ""
    return f"there is no C++ for a problem of type {type(problem).__name__}{where}"


def _quadratic(problem: Quadratic, metrics: Sequence[str]) -> NativeFunctions:
    features = problem.features is not None
    minimiser, optimal = np.zeros(problem.dim), 0.0
    if {"suboptimality", "cost", "squared_distance"} & set(metrics):
        from sim.problems.quadratic import some_minimiser

        minimiser = some_minimiser(problem)
    if "cost" in metrics:
        optimal = float(problem.optimal_value)
    hessian = to_float(problem.client_hessian)
    samples = (problem.rows, [0.0]) if features else (problem.hessian, problem.linear)
    arrays = (
        hessian, problem.client_linear, problem.mean_hessian, problem.mean_linear, minimiser, [optimal], *samples,
    )  # fmt: skip

    def inverses(weights: Array) -> Array:
        shifted = hessian + weights[:, None, None] * np.eye(problem.dim)
        if not np.all(np.linalg.eigvalsh(shifted) > 0):
            raise ValueError("prox: f_n(u) + norm2(u - v)/(2t) has no unique minimiser; t is too large")
        return np.asarray(np.linalg.inv(shifted), dtype=np.float64)

    return NativeFunctions(
        header="quadratic_functions.h",
        defines=(f"DIM={problem.dim}", f"FEATURES={int(features)}"),
        arrays=tuple(np.ascontiguousarray(to_float(np.asarray(a)), dtype=np.float64) for a in arrays),
        sizes=(problem.samples,),
        counts=np.asarray(problem.counts, dtype=np.int64),
        dim=problem.dim,
        metrics=frozenset(
            ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")
        ),
        inverses=inverses,
        work=problem.dim * (problem.dim + 8),
    )


def lacking(program: Program, functions: NativeFunctions, metrics: Sequence[str], language: str) -> str:
    """What of a program or its metrics these functions do not have, as one clause; empty where they have all."""
    unknown = sorted(set(metrics) - functions.metrics)
    if unknown:
        return f"the metric {unknown[0]} is not there in {language}"
    if functions.inverses is None and "prox" in program.operations:
        return "prox is there for quadratics alone"
    return ""
