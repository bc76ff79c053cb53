"""Local SGD and local Adam of an open system on ridge logistic regression, compiled by the system's C++ compiler.

What is compiled is `sim/native/open_logistic.cpp`, which computes what `sim.kernels.logistic_steps` does. Each thread
takes a run through all rounds of a stretch before it begins another, and copies what it uses of those present into
memory of its own, as much as their data at most. A run is computed by one thread and shares nothing with other runs,
hence its result does not depend on them, nor on the number of threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.kernels.open_task import OpenTask, share_runs
from sim.native import build
from sim.problems import RidgeLogistic
from sim.streams import seed_key

_SOURCE = "open_logistic.cpp"
_LANES = 8
# Features that a call reads, about 0.1 s: an interrupt is noticed between calls.
_CALL = 1 << 29
# Losses of clients that a call computes at most: it keeps 16 bytes for each.
_LOSSES = 1 << 20
# Pieces of work for each thread that computes losses: few, for a client's features are read once in each.
_LOSS_PIECES = 2

_Array = ctypes.c_void_p


class _Task(ctypes.Structure):
    """The structure of the same name in the source, which says what the fields are."""

    _fields_ = [
        ("features", _Array),
        ("labels", _Array),
        ("pool", ctypes.c_int64),
        ("samples", ctypes.c_int64),
        ("dim", ctypes.c_int64),
        ("ridge", ctypes.c_double),
        ("clients", _Array),
        ("uploads", _Array),
        ("rounds", ctypes.c_int64),
        ("runs", ctypes.c_int64),
        ("slots", ctypes.c_int64),
        ("steps", _Array),
        ("local_steps", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("adam", ctypes.c_int64),
        ("reset", ctypes.c_int64),
        ("beta1", ctypes.c_double),
        ("beta2", ctypes.c_double),
        ("eps", ctypes.c_double),
        ("key", ctypes.c_uint64 * 2),
        ("first_run", ctypes.c_uint64),
        ("theta", _Array),
        ("h", _Array),
        ("vhat", _Array),
    ]


def supports(problem: Any, algorithm: Any) -> bool:
    """Whether this back end knows the problem and the algorithm; a compiler may be missing (`usable`)."""
    return isinstance(problem, RidgeLogistic) and isinstance(algorithm, LocalSGD | LocalAdam)


def usable() -> bool:
    """Whether the rounds can be compiled here, which they are at need; if not, the reason is logged once."""
    return build.usable(_SOURCE)


class NativeWorker:
    """The `OpenWorker` of this back end; `sim.kernels.open_task` says what it computes."""

    def __init__(self, task: OpenTask, threads: int) -> None:
        """Begin at theta^0.

        Args:
            task: whose problem and algorithm are supported.
            threads: at most so many work at once, >= 1.

        Raises:
            ImportError: without a compiler, or when it fails.
            ValueError: when the problem or the algorithm is not supported.
        """
        if not supports(task.problem, task.algorithm):
            raise ValueError(f"backend='native' does not know {task.algorithm!r} on {task.problem!r}; take 'torch'")
        self.task, self.threads = task, threads
        self._library = build.library(_SOURCE)
        problem, schedule, algorithm = task.problem, task.schedule, task.algorithm
        # the kernel reads rows eight numbers at a time: what is narrower is filled up with zeros, which change nothing
        self._dim = max(problem.dim, _LANES)
        self._missing = self._dim - problem.dim
        features = np.pad(problem.features, ((0, 0), (0, 0), (0, self._missing))) if self._missing else problem.features
        self._theta = np.tile(np.pad(task.start, (0, self._missing)), (schedule.runs, 1))
        self._kept: list[NDArray[Any]] = [self._theta]  # arrays to which the task points
        self._slabs: list[NDArray[np.float64]] = []  # of threads that have finished a piece; for the next one
        adam = algorithm if isinstance(algorithm, LocalAdam) else None
        state = np.zeros((2, schedule.runs, schedule.slots, -(-self._dim // _LANES) * _LANES) if adam else (2, 0))
        self._task = _Task(
            features=self._at(features),
            labels=self._at(problem.labels),
            pool=problem.clients,
            samples=problem.samples,
            dim=self._dim,
            ridge=problem.ridge,
            clients=self._at(schedule.clients, np.int32),
            uploads=self._at(schedule.uploads, np.bool_),
            rounds=schedule.rounds,
            runs=schedule.runs,
            slots=schedule.slots,
            steps=self._at(task.steps),
            local_steps=algorithm.local_steps,
            batch=algorithm.batch or 0,
            adam=adam is not None,
            reset=adam.reset if adam else False,
            beta1=adam.beta1 if adam else 0.0,
            beta2=adam.beta2 if adam else 0.0,
            eps=adam.eps if adam else 1.0,
            key=(ctypes.c_uint64 * 2)(*seed_key(task.seed)),
            first_run=task.first_run,
            theta=self._theta.ctypes.data,
            h=self._at(state[0]),
            vhat=self._at(state[1]),
        )

    def _at(self, values: Any, dtype: Any = np.float64) -> int:
        """The address of a contiguous array, a copy where it is not one, which lives as long as this object."""
        self._kept.append(np.ascontiguousarray(values, dtype=dtype))
        return self._kept[-1].ctypes.data

    def advance(self, rounds: range) -> NDArray[np.float64]:
        """(B, R, d), theta^{k+1} for the B consecutive rounds k, which continue those of the last call."""
        path = np.empty((len(rounds), *self._theta.shape))
        algorithm = self.task.algorithm
        samples = algorithm.local_steps * (self.task.problem.samples if algorithm.batch is None else algorithm.batch)

        def work(first: int, last: int) -> Iterator[None]:
            stretch = self._stretch(samples * (last - first))
            try:
                slab = self._slabs.pop()
            except IndexError:  # the first piece of work of a thread
                slab = self._slab()
            for k in range(rounds.start, rounds.stop, stretch):
                stop = min(k + stretch, rounds.stop)
                self._call("open_advance", first, last, k, stop, path[k - rounds.start :], slab)
                yield
            self._slabs.append(slab)

        share_runs(work, len(self._theta), self.threads)
        return path[:, :, : self.task.problem.dim]

    def global_loss(self, rounds: range, models: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B, R), the mean of f_n(models[b, r]) over the clients present in round rounds[b]; nan where nobody is.

        Args:
            rounds: B consecutive rounds in 0..K.
            models: (B, R, d).
        """
        filled = np.pad(models, ((0, 0), (0, 0), (0, self._missing))) if self._missing else np.ascontiguousarray(models)
        result = np.empty(models.shape[:2])

        def work(first: int, last: int) -> Iterator[None]:
            runs = last - first
            most = max(1, _LOSSES // (runs * self.task.schedule.slots))
            stretch = min(most, self._stretch(self.task.problem.samples * runs))
            for b in range(0, len(rounds), stretch):
                part = slice(b, b + stretch)
                count = len(filled[part])
                self._call("open_losses", first, last, rounds.start + b, count, filled[part], result[part])
                yield

        share_runs(work, len(self._theta), self.threads, _LOSS_PIECES)
        return result

    def _slab(self) -> NDArray[np.float64]:
        """Memory for the rows of those present, (S, n, d filled up to whole vectors), at a multiple of 64 bytes."""
        width = -(-self._dim // _LANES) * _LANES
        memory = np.empty(self.task.schedule.slots * self.task.problem.samples * width + _LANES)
        return memory[-(memory.ctypes.data // 8) % _LANES :]

    def _stretch(self, samples: int) -> int:
        """Rounds of a call in which every client takes so many samples a round."""
        return max(1, _CALL // (samples * self.task.schedule.slots * self._dim))

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a function of the library with the task, numbers and arrays."""
        given = (
            ctypes.c_void_p(argument.ctypes.data) if isinstance(argument, np.ndarray) else ctypes.c_int64(argument)
            for argument in arguments
        )
        if self._library[name](ctypes.byref(self._task), *given):
            raise MemoryError("not enough memory for a run")
