"""Independent tasks over processes, each with a pipe of its own: a death is one process's and one task's."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.reduction import ForkingPickler
from typing import Any

from validate.memory import collect_seldom

LEAVING = 2.0
"""How long a process that is asked to leave has for it, in seconds; it may be in the middle of a long call."""
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


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_processes(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    processes: int | None = None,
    done: Callable[[int, Any], None] | None = None,
    heard: Callable[[Any], None] | None = None,
    lost: Callable[[int, str], Any] | None = None,
) -> list[Any]:
    """``[function(*task) for task in tasks]``, several at the same time, begun in their order.

    When a task fails no further task is begun; those that are running end first. When the program is interrupted they
    are ended, and what they have finished and kept stays.

    Args:
        function: of a module, with arguments and results that can be pickled when there are several processes.
        tasks: their arguments.
        processes: at most as many, >= 1; None for one a core, or in a task of another call as many as that call leaves
            idle, and one. With one, everything happens in this process.
        done: called with the index of each task that is finished, and its result.
        heard: called, in this process, with what the tasks `tell`, in each task's order.
        lost: called with the index of a task whose process ended over it, killed or crashed, and with how; it gives the
            task's result. Without it such a task has failed.

    Raises:
        ValueError: when processes < 1.
        ChildProcessError: when a process ended over its task, and there is no `lost`.
    """
    most = (_cores or cores()) if processes is None else processes
    if most < 1:
        raise ValueError(f"processes={processes} is outside the integers in [1, inf)")
    number = min(most, len(tasks))
    if number <= 1:
        return _here(function, tasks, done, heard)
    results: list[Any] = [None] * len(tasks)
    waiting = deque(range(len(tasks)))
    failed: Exception | None = None
    workers: list[_Worker] = []
    inbox: deque[tuple[_Worker, int, str, Any]] = deque()

    def listen(worker: _Worker) -> None:
        """Take one thing that a process has sent: of a task the last is its result, or how it ended."""
        assert worker.at is not None
        with interrupts_held():  # half a message would be none
            inbox.append((worker, worker.at, *worker.received()))
        read()

    def read() -> None:
        nonlocal failed
        while inbox:  # what an interrupt comes into is read again
            worker, at, kind, what = inbox[0]
            if kind == ENDED and worker.ready and lost is not None:
                kind, what = DONE, lost(at, what)
            if kind == TOLD and heard:
                heard(what)
            elif kind == DONE:
                results[at] = what
                if done:
                    done(at, what)
            elif kind in (FAILED, ENDED):
                failed = failed or (what if kind == FAILED else ChildProcessError(f"a process {what}"))
            if kind in LAST:
                worker.at = None
            inbox.popleft()

    try:
        with one_thread_each():
            while True:
                while waiting and failed is None:
                    idle = next((worker for worker in workers if worker.at is None), None)
                    if idle is None and len(workers) == number:
                        break
                    if idle is None:
                        workers.append(idle := _Worker(function, most - number + 1))
                    idle.take(at := waiting.popleft(), tasks[at])
                busy = {worker.pipe: worker for worker in workers if worker.at is not None}
                if not busy:
                    break
                for pipe in connection.wait([*busy]):
                    listen(busy[pipe])  # type: ignore[index]
                for worker in [worker for worker in workers if worker.at is None and (worker.gone or not waiting)]:
                    worker.leave()
                    workers.remove(worker)
    except BaseException as error:  # an interrupt, of this process or from the one that began it; or nobody listens
        try:
            if isinstance(error, KeyboardInterrupt):  # what has been finished by now is not lost
                read()
                for worker in workers:
                    while worker.at is not None and worker.pipe.poll():
                        listen(worker)
        finally:
            for worker in workers:
                worker.process.terminate()
            for worker in workers:
                worker.leave()
        raise
    if failed is not None:
        raise failed
    return results


READY, TOLD, DONE, FAILED, ENDED = "ready", "told", "done", "failed", "ended"
LAST = (DONE, FAILED, ENDED)
"""What comes from a process: it has begun, its task tells something, a result, an error; and that it is no more."""


class _Worker:
    """A process, and the index of the task that it is at work on."""

    def __init__(self, function: Callable[..., Any], cores: int) -> None:
        context = get_context("spawn")  # fresh: torch's threads do not survive a fork
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, function, cores))
        self.at: int | None = None
        self.ready = self.gone = False
        with interrupts_held():
            self.process.start()
        theirs.close()

    def take(self, at: int, task: tuple[Any, ...]) -> None:
        """Hand it a task; a process that is no more is noticed when its answer is awaited."""
        self.at = at
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(task)

    def received(self) -> tuple[str, Any]:
        """What it has sent; to be called when there is something, or the pipe has ended."""
        try:
            kind, what = self.pipe.recv()
            self.ready = True
            return kind, what
        except (EOFError, ConnectionResetError):
            self.gone = True
            self.process.join(LEAVING)
            code = self.process.exitcode or 0
            return ENDED, f"ended by signal {-code}" if code < 0 else f"ended with status {code}"

    def leave(self) -> None:
        """Let it end, and wait until it has."""
        self.pipe.close()
        self.process.join(LEAVING)
        if self.process.is_alive():  # in the middle of a long call
            self.process.kill()
            self.process.join()


def _work(pipe: connection.Connection, function: Callable[..., Any], cores: int) -> None:
    """The life of a process: one task after the other, until there are no more."""
    begin(lambda message: pipe.send((TOLD, message)), cores)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # nobody listens any more
        pipe.send((READY, None))
        while True:
            task = pipe.recv()
            try:
                answer = ForkingPickler.dumps((DONE, function(*task)))
            except Exception as error:
                answer = ForkingPickler.dumps((FAILED, _portable(error)))
            pipe.send_bytes(answer)


def _portable(error: Exception) -> Exception:
    """An error that another process can read, with where it came from."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class makes of it
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _here(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int, Any], None] | None,
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
                done(at, results[-1])
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


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes begun here hold interrupts back until `begin`, so that none dies of one as it starts.

    So does this thread meanwhile. Where there are others, one of them may take the interrupt.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the first process would begin it, and with that take interrupts again
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
