"""Independent tasks over processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any


def over_processes(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    processes: int | None = None,
    done: Callable[[int], None] | None = None,
) -> list[Any]:
    """``[function(*task) for task in tasks]``, several at the same time.

    When a task fails, or the program is interrupted, no further task is begun; those that are running end first.

    Args:
        function: of a module, with arguments and results that can be pickled when there are several processes.
        tasks: their arguments.
        processes: at most as many, >= 1; None for one a core. With one, everything happens in this process.
        done: called with the index of each task that is finished.

    Raises:
        ValueError: when processes < 1.
    """
    number = (os.cpu_count() or 1) if processes is None else processes
    if number < 1:
        raise ValueError(f"processes={processes} is outside the integers in [1, inf)")
    results: list[Any] = [None] * len(tasks)
    if min(number, len(tasks)) <= 1:
        for at, task in enumerate(tasks):
            results[at] = function(*task)
            if done:
                done(at)
        return results
    # fresh processes: torch's threads do not survive a fork
    pool = ProcessPoolExecutor(min(number, len(tasks)), mp_context=get_context("spawn"))
    try:
        waiting = list(enumerate(tasks))[::-1]
        running: dict[Future[Any], int] = {}
        while waiting or running:
            # no more than can run: what a pool has queued for its processes cannot be called back
            while waiting and len(running) < number:
                at, task = waiting.pop()
                running[pool.submit(function, *task)] = at
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                at = running.pop(future)
                results[at] = future.result()
                if done:
                    done(at)
        return results
    finally:
        pool.shutdown(cancel_futures=True)
