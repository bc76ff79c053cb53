"""Local SGD and local Adam of an open system on ridge logistic regression, compiled by numba.

What is compiled is `sim.kernels.logistic_steps`. Each thread takes a run through all rounds of a stretch before it
begins another: hardly anybody joins or leaves from one round to the next, so the data of those present stay in the
processor's cache, whereas all runs together would read most of the pool in each round. A run is computed by one thread
and shares nothing with other runs, hence its result does not depend on them, nor on the number of threads.

numba is optional and is imported when the first worker is made. Its machine code is kept on disk, beside the sources or
in the user's cache directory, where one of them can be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.open import LocalAdam, LocalSGD, OpenAlgorithm
from sim.kernels import logistic_steps
from sim.kernels.open_task import OpenTask, share_runs
from sim.problems import RidgeLogistic
from sim.streams import seed_key

# Features that a call reads, about 0.1 s: an interrupt is noticed between calls.
_CALL = 1 << 28


def installed() -> bool:
    """Whether numba is there; it is not imported."""
    return find_spec("numba") is not None


def supports(problem: Any, algorithm: Any) -> bool:
    """Whether this back end knows the problem and the algorithm; numba itself may be missing (`installed`)."""
    return isinstance(problem, RidgeLogistic) and isinstance(algorithm, LocalSGD | LocalAdam)


class NumbaWorker:
    """The `OpenWorker` of this back end; `sim.kernels.open_task` says what it computes."""

    def __init__(self, task: OpenTask, threads: int) -> None:
        """Begin at theta^0.

        Args:
            task: whose problem and algorithm are supported.
            threads: at most so many work at once, >= 1.

        Raises:
            ImportError: when numba is missing.
            ValueError: when the problem or the algorithm is not supported.
        """
        if not supports(task.problem, task.algorithm):
            raise ValueError(f"backend='numba' does not know {task.algorithm!r} on {task.problem!r}; take 'torch'")
        self.task, self.threads = task, threads
        if not installed():
            raise ImportError("numba is not installed: pip install 'fedproof[fast]', or take backend='torch'")
        self._advance, self._losses = logistic_steps.compiled()
        runs, slots, dim = task.schedule.runs, task.schedule.slots, task.problem.dim
        state = (runs, slots, dim) if isinstance(task.algorithm, LocalAdam) else (0, 0, dim)
        self._theta = np.tile(task.start, (runs, 1))
        self._h, self._vhat = np.zeros(state), np.zeros(state)

    def advance(self, rounds: range) -> NDArray[np.float64]:
        """(B, R, d), theta^{k+1} for the B consecutive rounds k, which continue those of the last call."""
        task, problem = self.task, self.task.problem
        path = np.empty((len(rounds), *self._theta.shape))
        low, high = seed_key(task.seed)
        arguments = (
            (problem.features, problem.labels, float(problem.ridge)),
            (task.schedule.clients, task.schedule.uploads, np.uint64(task.first_run)),
            (np.uint64(low), np.uint64(high)),
            _constants(task.algorithm),
            task.steps,
        )
        state = (self._theta, self._h, self._vhat)
        samples = problem.samples if task.algorithm.batch is None else task.algorithm.batch

        def work(first: int, last: int) -> Iterator[None]:
            stretch = self._stretch(samples * task.algorithm.local_steps * (last - first))
            for k in range(rounds.start, rounds.stop, stretch):
                span = (k, min(k + stretch, rounds.stop), first, last)
                self._advance(*arguments, span, state, path[k - rounds.start :])
                yield

        share_runs(work, len(self._theta), self.threads)
        return path

    def global_loss(self, rounds: range, models: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B, R), the mean of f_n(models[b, r]) over the clients present in round rounds[b]; nan where nobody is.

        Args:
            rounds: B consecutive rounds in 0..K.
            models: (B, R, d).
        """
        problem, models, result = self.task.problem, np.ascontiguousarray(models), np.empty(models.shape[:2])
        data = (problem.features, problem.labels, float(problem.ridge))
        clients = self.task.schedule.clients

        def work(first: int, last: int) -> Iterator[None]:
            stretch = self._stretch(problem.samples * (last - first))
            for b in range(0, len(rounds), stretch):
                part = slice(b, b + stretch)
                self._losses(data, clients, rounds.start + b, (first, last), models[part], result[part])
                yield

        share_runs(work, len(self._theta), self.threads)
        return result

    def _stretch(self, samples: int) -> int:
        """Rounds of a call in which every client takes so many samples a round."""
        return max(1, _CALL // (samples * self.task.schedule.slots * self.task.problem.dim))


def _constants(algorithm: OpenAlgorithm) -> tuple[int, int, bool, bool, float, float, float]:
    """Local steps, batch (0: full), whether Adam, whether its state is reset at each broadcast; beta1, beta2, eps."""
    batch = 0 if algorithm.batch is None else algorithm.batch
    if isinstance(algorithm, LocalAdam):
        tail = (True, algorithm.reset, algorithm.beta1, algorithm.beta2, algorithm.eps)
    else:
        tail = (False, False, 0.0, 0.0, 1.0)
    return (algorithm.local_steps, batch, *tail)
