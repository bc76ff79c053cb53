"""Ridge logistic and softmax regression for generated rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.generated.functions import NativeFunctions
from sim.problems.logistic import RidgeLogistic
from sim.problems.softmax import RidgeSoftmax

_EXPONENTIAL = 20  # multiplications that one takes as long as


def regression(problem: RidgeLogistic | RidgeSoftmax, metrics: Sequence[str], present: bool) -> NativeFunctions:
    """A regression for generated rounds; see `sim.generated.functions.native_functions`."""
    classes = problem.classes if isinstance(problem, RidgeSoftmax) else 1
    minimiser, optimal = np.zeros(problem.dim), 0.0
    if "squared_distance" in metrics:
        minimiser = problem.minimiser
    if "suboptimality" in metrics:
        optimal = problem.optimal_value
    arrays = problem.features, problem.labels, minimiser, [optimal, problem.ridge]
    return NativeFunctions(
        header="along_regressions.h" if present else "regression_functions.h",
        defines=(f"DIM={problem.dim}", f"CLASSES={classes}"),
        arrays=tuple(np.ascontiguousarray(np.asarray(a), dtype=np.float64) for a in arrays),
        sizes=(problem.clients, problem.samples),
        counts=np.full(problem.clients, problem.samples, dtype=np.int64),
        dim=problem.dim,
        metrics=frozenset(
            ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")
        ),
        inverses=None,
        pairs=not present,
        work=4 * problem.dim + _EXPONENTIAL * classes,
    )
