"""What a back end of the open simulator is given: one chunk of runs, whose presence is already decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.open import LocalAdam, OpenAlgorithm
from sim.population import PresenceSchedule

# Pieces of work for each thread, of some runs each: when one thread runs out of them the others are nearly done.
_PIECES = 8


@dataclass(frozen=True, eq=False)
class OpenTask:
    """R runs of an open system.

    Attributes:
        problem: `RidgeLogistic` or `RidgeSoftmax` of `sim.problems`.
        algorithm: `LocalSGD` or `LocalAdam`.
        steps: (K,) step sizes, one a round.
        schedule: the presence of these R runs in K rounds.
        start: (d,) theta^0.
        seed: in [0, 2^64).
        first_run: number of the first of these runs, the counter's run word.
    """

    problem: Any
    algorithm: OpenAlgorithm
    steps: NDArray[np.float64]
    schedule: PresenceSchedule
    start: NDArray[np.float64]
    seed: int
    first_run: int

    @property
    def remembers(self) -> bool:
        """Whether clients keep an optimiser state from round to round."""
        return isinstance(self.algorithm, LocalAdam) and not self.algorithm.reset

    def works(self, round: int) -> NDArray[np.bool_]:
        """(R, S), whose local work in this round has an effect.

        The work of a client that leaves has none; that of one that is not selected has one only on its own state.
        """
        return self.schedule.remains(round) if self.remembers else self.schedule.uploads[round]


class OpenWorker(Protocol):
    """A back end at work on an `OpenTask`; it keeps the models and the optimisers' states between calls."""

    def advance(self, rounds: range) -> NDArray[np.float64]:
        """(B, R, d), theta^{k+1} for the B consecutive rounds k, which continue those of the last call."""
        ...

    def global_loss(self, rounds: range, models: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B, R), the mean of f_n(models[b, r]) over those present when theta^k is broadcast; nan where nobody is.

        Args:
            rounds: B consecutive k in 0..K.
            models: (B, R, d).
        """
        ...


def share_runs(work: Callable[[int, int], Iterator[None]], runs: int, threads: int, pieces: int = _PIECES) -> None:
    """Do work(first, last) for ranges of runs that make up all runs, `pieces` for each of so many threads.

    The work is an iterator: it yields when it has come some way, and goes no further after an interrupt or an error.
    """
    ends = np.unique(np.linspace(0, runs, min(runs, pieces * threads) + 1).astype(int)).tolist()
    threads = min(threads, len(ends) - 1)
    stopped = Event()

    def do(first: int, last: int) -> None:
        for _ in work(first, last):
            if stopped.is_set():
                return

    if threads == 1:
        for first, last in pairwise(ends):
            do(first, last)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for future in [pool.submit(do, first, last) for first, last in pairwise(ends)]:
            future.result()
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
