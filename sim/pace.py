"""How many threads torch's operations use: as many as help at the time."""

from __future__ import annotations

import time

import torch

# Rounds between two trials of the slower way, at first and at most.
_PATIENCE = 16
_MOST_PATIENCE = 512
# Rounds of a trial: the first one pays for waking up.
_TRIAL = 2


class Pace:
    """Chooses between one thread and all of them, by timing rounds.

    Threads inside an operation wait for each other at its end, some 200 times a round. On idle cores that is worth it;
    where other processes want the cores, one thread may be ten times as fast as two. The results are the same to the
    last bit, so the choice may follow the clock: both ways are tried, the faster one is kept, and the other one is tried
    again after 16 rounds, then after 32, 64, ... as long as it loses.
    """

    def __init__(self, most: int, fixed: bool) -> None:
        """Args: most: the number of threads. fixed: whether to use that number whatever the clock says."""
        self.most = most
        self.fixed = fixed
        self.threads = most
        self._times: dict[int, float] = {}
        self._started: float | None = None
        self._left = _TRIAL
        self._patience = _PATIENCE
        self._trial = True
        torch.set_num_threads(most)

    def tick(self) -> None:
        """A round begins."""
        if self.fixed:
            return
        now = time.perf_counter()
        if self._started is not None:
            # the fastest round of a trial, and of the stretch since: what the way can do at the moment
            self._times[self.threads] = min(self._times.get(self.threads, float("inf")), now - self._started)
            self._left -= 1
        self._started = now
        if self._left <= 0:
            self._next()

    def _next(self) -> None:
        other = 1 if self.threads == self.most else self.most
        if other not in self._times:
            self._use(other, _TRIAL, trial=True)
            return
        best = min(self._times, key=self._times.__getitem__)
        if self._trial:
            # a trial has just ended: keep the faster way for a while
            self._patience = min(2 * self._patience, _MOST_PATIENCE) if best != self.threads else _PATIENCE
            self._use(best, self._patience, trial=False)
        else:
            self._use(other, _TRIAL, trial=True)

    def _use(self, threads: int, rounds: int, trial: bool) -> None:
        self.threads, self._left, self._trial = threads, rounds, trial
        self._times.pop(threads, None)
        torch.set_num_threads(threads)
