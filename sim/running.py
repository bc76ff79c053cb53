"""What every simulation takes: a device, a start, a number of torch's threads, and somebody to tell how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sim.streams import LIMIT

Progress = bool | Callable[[int, int], None]


def checked_device(device: str | torch.device) -> torch.device:
    """The CPU or a GPU that is there.

    Raises:
        ValueError: for any other device.
    """
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device={device!r} is not a device of torch; use 'cpu' or 'cuda'") from error
    gpus = torch.cuda.device_count() if place.type == "cuda" and torch.cuda.is_available() else 0
    if place.type != "cpu" and not (place.index or 0) < gpus:
        raise ValueError(f"device={str(device)!r} is not available here: use 'cpu', or 'cuda' where there is a GPU")
    return place


def checked_start(start: Any, dim: int) -> NDArray[np.float64]:
    """(d,) float64, theta^0; zeros for None.

    Raises:
        ValueError: unless it is a vector of d finite numbers.
    """
    if start is None:
        return np.zeros(dim)
    try:
        point = np.array(start, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"start={start!r} is not a vector of numbers") from error
    if point.shape != (dim,):
        raise ValueError(f"start has shape {point.shape}, not {(dim,)}")
    if not np.all(np.isfinite(point)):
        raise ValueError(f"start={start!r} is outside the finite numbers")
    return point


def checked_first_run(first_run: Any, runs: int) -> int:
    """The number of the first of `runs` runs.

    Raises:
        ValueError: unless all their numbers are in [0, 2^32).
    """
    if isinstance(first_run, bool) or not hasattr(first_run, "__index__") or not 0 <= first_run <= LIMIT - runs:
        raise ValueError(f"first_run={first_run!r} is not an integer in [0, 2^32 - runs]")
    return int(first_run)


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Set torch's number of threads, which belongs to the process, and put it back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def reporter(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """A function that counts run-rounds and passes the count on, ten times a second at most and at the end.

    Args:
        progress: True for a bar, or a function of (done, total).
        total: run-rounds in all.
    """
    if callable(progress):
        yield _Counter(lambda done: progress(done, total), total)
    elif progress:
        from rich.progress import Progress

        with Progress() as bar:
            task = bar.add_task("run-rounds", total=total)
            yield _Counter(lambda done: bar.update(task, completed=done), total)
    else:
        yield lambda done: None


@dataclass
class _Counter:
    tell: Callable[[int], None]
    total: int
    done: int = 0
    told: float = -1.0

    def __call__(self, more: int) -> None:
        self.done += more
        now = time.monotonic()
        if now - self.told >= 0.1 or self.done == self.total:
            self.told = now
            self.tell(self.done)
