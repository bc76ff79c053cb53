"""Rounds of FedAvg-SVRG and of FedAvg on quadratics, compiled: who takes part, local steps, the server, the metrics.

What is compiled is `sim/native/quadratic_rounds.cpp`, once for each number of coordinates. Runs are computed in blocks;
the arithmetic of a run is the same in every block and on every thread, so its results do not depend on either.

Clients that are absent are not computed at all. In torch they are, with the weight 0: there, and only there, the steps
of an absent client that overflow spoil the model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.base import Algorithm
from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.arguments import to_float
from sim.kernels.clients import Kernel
from sim.kernels.presence import Presence
from sim.kernels.quadratic import UNROLLED, QuadraticKernel
from sim.native import build
from sim.problems.quadratic import some_minimiser
from sim.streams import seed_key

_SOURCE = "quadratic_rounds.cpp"
_METRICS = (
    "suboptimality",
    "cost",
    "squared_gradient_norm",
    "squared_distance",
    "squared_iterate_norm",
    "iterate",
)
_EMPTY = ("keep", "zero", "condition")
_LANES = 8
# Multiplications of a call, about 0.1 s: an interrupt is noticed, and progress is told, between calls.
_CALL = 1 << 30
# What is worth another thread: two milliseconds or so, and runs that fill two vectors when some are absent.
_WORTH_A_THREAD = 1 << 25
_RUNS_A_THREAD = 16

_Numbers = ctypes.c_void_p


class _Task(ctypes.Structure):
    """The structure of the same name in the source, which says what the fields are."""

    _fields_ = [
        ("clients", ctypes.c_int64),
        ("samples", ctypes.c_int64),
        ("counts", _Numbers),
        ("hessian", _Numbers),
        ("linear", _Numbers),
        ("curvature", _Numbers),
        ("slope", _Numbers),
        ("features", ctypes.c_int64),
        ("reduces_variance", ctypes.c_int64),
        ("outer", ctypes.c_int64),
        ("inner", ctypes.c_int64),
        ("steps", _Numbers),
        ("size", ctypes.c_int64),
        ("thresholds", _Numbers),
        ("scale", _Numbers),
        ("per_round", ctypes.c_int64),
        ("divides", ctypes.c_int64),
        ("empty", ctypes.c_int64),
        ("key", ctypes.c_uint64 * 2),
        ("first_run", ctypes.c_uint64),
        ("mean_hessian", _Numbers),
        ("mean_linear", _Numbers),
        ("minimiser", _Numbers),
        ("optimal_value", ctypes.c_double),
        *((name, _Numbers) for name in _METRICS),
        ("columns", ctypes.c_int64),
        ("theta", _Numbers),
    ]


def supports(algorithm: Algorithm, kernel: Any, metrics: Sequence[str]) -> bool:
    """Whether this back end knows the algorithm, the problem and all the metrics."""
    return (
        type(algorithm) in (FedAvg, FedAvgSVRG)
        and type(kernel) is QuadraticKernel
        and kernel.dim <= UNROLLED
        and set(metrics) <= set(_METRICS)
    )


def usable(kernel: Kernel) -> bool:
    """Whether the rounds can be compiled here, which they are at need; if not, the reason is logged once."""
    return build.usable(_SOURCE, f"DIM={kernel.dim}")


def local_steps(algorithm: Algorithm) -> int:
    """Sample gradients of a client in a round."""
    assert isinstance(algorithm, FedAvg | FedAvgSVRG)
    return int(np.prod(loops(algorithm)))


class NativeRounds:
    """Some runs of an algorithm on a quadratic, from the first round to the last."""

    def __init__(
        self,
        algorithm: Algorithm,
        kernel: Kernel,
        presence: Presence,
        steps: Sequence[float],
        seed: int,
        first_run: int,
    ) -> None:
        """Arguments as in `sim.engine`; those that `supports` accepts.

        Raises:
            ImportError: without a compiler, or when it fails.
        """
        assert isinstance(algorithm, FedAvg | FedAvgSVRG)
        assert isinstance(kernel, QuadraticKernel)
        self._library = build.library(_SOURCE, f"DIM={kernel.dim}")
        self._library.quadratic_block_size.restype = ctypes.c_int64
        self._block = int(self._library.quadratic_block_size())
        self._kept: list[NDArray[Any]] = []  # arrays to which the task points
        self._rounds, self._problem = len(steps), kernel.problem
        problem = kernel.problem
        outer, inner = loops(algorithm)
        self._work = problem.clients * outer * inner * kernel.dim * (kernel.dim + 8)
        features = problem.features is not None
        self._task = _Task(
            clients=problem.clients,
            samples=problem.samples,
            counts=self._at(problem.counts, np.int64),
            hessian=self._at(problem.client_hessian),
            linear=self._at(problem.client_linear),
            curvature=self._at(problem.features if features else problem.hessian),
            slope=self._at(problem.targets if features else problem.linear),
            features=features,
            reduces_variance=isinstance(algorithm, FedAvgSVRG),
            outer=outer,
            inner=inner,
            steps=self._at(steps),
            size=presence.size or 0,
            thresholds=self._at(presence.thresholds, np.uint64),
            scale=self._at(presence.scale),
            per_round=not presence.constant,
            divides=algorithm.aggregation == "normalised",
            empty=_EMPTY.index(algorithm.empty),
            key=(ctypes.c_uint64 * 2)(*seed_key(seed)),
            first_run=first_run,
            mean_hessian=self._at(problem.mean_hessian),
            mean_linear=self._at(problem.mean_linear),
            columns=self._rounds + 1,
        )

    def _at(self, values: Any, dtype: Any = np.float64) -> int:
        """The address of a contiguous copy, which lives as long as this object."""
        array = np.asarray(values)
        array = to_float(array) if array.dtype == object else array
        self._kept.append(np.ascontiguousarray(array, dtype=dtype))
        return self._kept[-1].ctypes.data

    def simulate(
        self,
        theta: NDArray[np.float64],
        values: Mapping[str, NDArray[np.float64]],
        chunk: int | None,
        threads: int,
        report: Callable[[int], None],
    ) -> None:
        """Take all runs through all rounds.

        Args:
            theta: (R, d) the models, theta^0 before and theta^K after.
            values: by metric (R, K + 1), for "iterate" (R, K + 1, d); written.
            chunk: runs of a block at most; by default as many as suit the cache.
            threads: at most so many share the blocks, >= 1; fewer where there is little to do.
            report: is told the run-rounds of each stretch of rounds.
        """
        self._kept += [theta, *values.values()]  # for the threads, which outlive this call when interrupted again
        self._task.theta = theta.ctypes.data
        for name, array in values.items():
            setattr(self._task, name, array.ctypes.data)
        if {"suboptimality", "cost", "squared_distance"} & set(values):
            self._task.minimiser = self._at(some_minimiser(self._problem))
        if "cost" in values:
            self._task.optimal_value = float(self._problem.optimal_value)
        runs = len(theta)
        threads = max(1, min(threads, runs // _RUNS_A_THREAD, self._work * runs * self._rounds // _WORTH_A_THREAD))
        blocks = self._blocks(runs, chunk, threads)
        stretch = max(1, _CALL // (self._work * max(last - first for first, last in blocks)))
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        try:
            for k in range(0, self._rounds, stretch):
                span = range(k, min(k + stretch, self._rounds))
                calls = (map if pool is None else pool.map)(partial(self._advance, span), blocks)
                for (first, last), _ in zip(blocks, calls, strict=True):
                    report((last - first) * len(span))
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def _blocks(self, runs: int, chunk: int | None, threads: int) -> list[tuple[int, int]]:
        """First and last run of each block: about as many for each thread, of whole vectors."""
        most = min(self._block, chunk or self._block)
        count = threads * -(-runs // (most * threads))
        width = min(most, -(-runs // (count * _LANES)) * _LANES)
        return [(first, min(first + width, runs)) for first in range(0, runs, width)]

    def _advance(self, span: range, block: tuple[int, int]) -> None:
        first, last, start, stop = map(ctypes.c_int64, (*block, span.start, span.stop))
        if self._library.quadratic_advance(ctypes.byref(self._task), first, last, start, stop):
            raise MemoryError("not enough memory for a block of runs")


def loops(algorithm: FedAvg | FedAvgSVRG) -> tuple[int, int]:
    """Snapshots and inner steps, or local steps and samples of a minibatch."""
    if isinstance(algorithm, FedAvgSVRG):
        return algorithm.snapshots, algorithm.inner
    return algorithm.local_steps, algorithm.batch
