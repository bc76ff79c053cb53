"""Independent tasks over processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Any

from validate.collecting import collect_seldom

# How often what the tasks tell is passed on, and how long a process that is asked to leave has for it, in seconds.
LISTENING, LEAVING = 0.1, 10.0
# Several processes share the cores: each of them keeps to one thread, unless the user says otherwise.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# of the task that this process is at work on
_heard: Callable[[Any], None] | None = None
_cores: int | None = None


def tell(message: Any) -> None:
    """Hand a message of a task to whoever asked `over_processes` for it; nothing where nobody listens.

    Args:
        message: anything that can be pickled.
    """
    if _heard is not None:
        _heard(message)


def over_processes(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    processes: int | None = None,
    done: Callable[[int], None] | None = None,
    heard: Callable[[Any], None] | None = None,
) -> list[Any]:
    """``[function(*task) for task in tasks]``, several at the same time.

    When a task fails no further task is begun; those that are running end first. When the program is interrupted they
    are ended, and what they have finished and kept stays.

    Args:
        function: of a module, with arguments and results that can be pickled when there are several processes.
        tasks: their arguments.
        processes: at most as many, >= 1; None for one a core, or in a task of another call as many as that call leaves
            idle, and one. With one, everything happens in this process.
        done: called with the index of each task that is finished.
        heard: called, in this process, with what the tasks `tell`, in each task's order.

    Raises:
        ValueError: when processes < 1.
    """
    most = (_cores or os.cpu_count() or 1) if processes is None else processes
    if most < 1:
        raise ValueError(f"processes={processes} is outside the integers in [1, inf)")
    number = min(most, len(tasks))
    if number <= 1:
        return _here(function, tasks, done, heard)
    # fresh processes: torch's threads do not survive a fork
    context = get_context("spawn")
    said = context.SimpleQueue()

    def listen() -> None:
        while not said.empty():
            message = said.get()
            if heard:
                heard(message)

    results: list[Any] = [None] * len(tasks)
    others = set(active_children())
    pool = ProcessPoolExecutor(number, mp_context=context, initializer=begin, initargs=(said.put, most - number + 1))
    failed: Exception | None = None
    try:
        with one_thread_each():
            waiting = list(enumerate(tasks))[::-1]
            running: dict[Future[Any], int] = {}
            while running or (waiting and failed is None):
                # no more than can run: what a pool has queued for its processes cannot be called back
                while waiting and failed is None and len(running) < number:
                    at, task = waiting.pop()
                    with interrupts_held():
                        running[pool.submit(function, *task)] = at
                finished = wait(running, LISTENING, return_when=FIRST_COMPLETED).done
                listen()
                for future in finished:
                    at = running.pop(future)
                    try:
                        results[at] = future.result()
                    except Exception as error:
                        failed = failed or error
                        continue
                    if done:
                        done(at)
    except BaseException:  # an interrupt, of this process or from the one that began it; or nobody reads what is said
        _end(pool, [process for process in active_children() if process not in others])
        raise
    pool.shutdown()
    if failed is not None:
        raise failed
    return results


def _here(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int], None] | None,
    heard: Callable[[Any], None] | None,
) -> list[Any]:
    """The tasks one after the other in this process; without a listener, that of the task that they are part of."""
    global _heard
    before = _heard
    _heard = heard or before
    try:
        results = []
        for at, task in enumerate(tasks):
            results.append(function(*task))
            if done:
                done(at)
        return results
    finally:
        _heard = before


def begin(say: Callable[[Any], None], cores: int) -> None:
    """What a fresh process does first: leave interrupts to the process that began it, and end with it.

    Args:
        say: what `tell` calls.
        cores: how many processes a task may use.
    """
    global _heard, _cores
    _heard, _cores = say, cores
    collect_seldom()
    # an interrupt comes to all processes of a terminal: the first of them ends the others, whose files are then whole
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """Leave when the process that began this one is gone, whatever ended it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(pool: ProcessPoolExecutor, processes: Sequence[Any]) -> None:
    """End a pool's processes, and those that they began."""
    for process in processes:
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.join(LEAVING)
        if process.is_alive():  # in the middle of a long call
            process.kill()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes begun here hold interrupts back until `begin`, so that none dies of one as it starts.

    So does this thread meanwhile. Where there are others, one of them may take the interrupt.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Fresh processes take these settings over when they begin."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)
