"""Where the cells of a sweep are computed: processes of this machine, any `concurrent.futures.Executor`, Dask.

An engine takes documents and gives back results. It answers for everything that can happen to a worker: a cell whose
worker died is computed again, the last time with nothing beside it, and is `crashed` when that does not help; a cell
that takes longer than the limit is `timeout`. Only text travels back, so that no answer of a cell can break an engine.

All times are differences of `time.monotonic`.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import platform
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from validate.sweep.records import checked

Function = Callable[[dict[str, Any]], dict[str, Any]]

# So often a worker has to die over a cell with nothing beside it, before the death is put down to the cell.
ATTEMPTS = 3
# A worker that is busy does not read: a longer document is sent only to one that waits for it.
AHEAD = 16_000
CRASHED = {"outcome": "crashed", "detail": "its worker died each time, at last with nothing beside it"}


class Stopped(OSError):
    """The sweep cannot go on; what is kept stays, and the sweep may be resumed."""


@dataclass(frozen=True)
class Finished:
    """A cell that is done with.

    Attributes:
        key: of the cell.
        result: as canonical JSON.
        seconds: the worker's time; None when there is no answer.
        attempts: how often it was begun.
        worker: host and process, or "" when not known.
        versions: of fedproof, Python and numpy there.
    """

    key: str
    result: str
    seconds: float | None = None
    attempts: int = 1
    worker: str = ""
    versions: str = ""


class Engine(Protocol):
    """Computes cells; used by one thread."""

    def room(self) -> int:
        """How many more cells may be submitted now."""

    def submit(self, key: str, text: str, group: str) -> None:
        """Begin a cell, now or soon: its key, and its document as canonical JSON.

        Cells of the same group have work in common, which a worker that gets them one after the other does once.
        """

    def wait(self, seconds: float, begin: bool = True) -> list[Finished]:
        """What is finished: at once when there is something, else after at most so long.

        Unless `begin`, cells that were submitted and have not been handed on wait as well.

        Raises:
            Stopped: when the engine has lost its workers for good.
        """

    def close(self, finished: bool) -> None:
        """End all workers; at once unless everything is finished."""

    @property
    def message(self) -> str:
        """What the user should know now; "" for nothing."""


@dataclass(eq=False)
class Flight:
    """A cell in flight, how often its worker has died, and how often of these with nothing beside it."""

    key: str
    text: str
    group: str = ""
    deaths: int = 0
    alone: int = 0


def failed(outcome: str, detail: str) -> str:
    """The result of a cell without an answer."""
    return checked({"outcome": outcome, "detail": detail})


def described(error: BaseException) -> str:
    """An error in one line that is the same on every machine: its type and first line, without addresses."""
    first = next(iter(str(error).splitlines()), "")
    text = re.sub(r"0x[0-9a-fA-F]+", "0x...", f"{type(error).__name__}: {first}")[:300]
    return text.encode("ascii", "backslashreplace").decode()[:300]


def compute(function: Function, text: str) -> tuple[str, float, str, str]:
    """Call `function` on a document, in a worker: result, seconds, worker, versions.

    Whatever the function raises or returns becomes a result; the interpreter's own end is not for a cell to decide.
    """
    began = time.monotonic()
    try:
        result = checked(function(json.loads(text)))
    except BaseException as error:
        result = failed("error", described(error))
    return result, time.monotonic() - began, f"{socket.gethostname()}:{os.getpid()}", versions()


@cache
def versions() -> str:
    """What computes, for the record."""
    from importlib.metadata import version

    return f"fedproof {version('fedproof')}, Python {platform.python_version()}, numpy {version('numpy')}"


def crashed(cell: Flight) -> Finished:
    """A cell over which every worker has died."""
    return Finished(cell.key, checked(CRASHED), attempts=cell.deaths)


def timed_out(cell: Flight, limit: float) -> Finished:
    """A cell that was ended."""
    return Finished(cell.key, failed("timeout", f"longer than {limit:g} s"), limit, cell.deaths + 1)


class Pool:
    """Any executor. Which cell broke it cannot be told, so all that were in flight are computed again one by one.

    An executor that is given is the caller's and is not ended here; without a factory, a broken one ends the sweep.
    """

    message = ""

    def __init__(self, function: Function, executor: Any, workers: int | None = None) -> None:
        self._function = function
        self._factory = None if hasattr(executor, "submit") else executor
        self._executor = executor if self._factory is None else executor()
        self._workers = workers or getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1
        self._flying: dict[concurrent.futures.Future[Any], Flight] = {}
        self._suspects: deque[Flight] = deque()

    def room(self) -> int:
        return 0 if self._suspects else 2 * self._workers - len(self._flying)

    def submit(self, key: str, text: str, group: str) -> None:
        self._begin(Flight(key, text))

    def _begin(self, cell: Flight) -> None:
        try:
            self._flying[self._executor.submit(compute, self._function, cell.text)] = cell
        except concurrent.futures.BrokenExecutor as error:
            self._suspects.append(cell)
            self._remake(error)
        except RuntimeError as error:  # it was shut down
            raise Stopped(f"the executor takes no more cells ({described(error)})") from error

    def wait(self, seconds: float, begin: bool = True) -> list[Finished]:
        if self._suspects and not self._flying:
            self._begin(self._suspects.popleft())
        done = concurrent.futures.wait(self._flying, seconds, concurrent.futures.FIRST_COMPLETED).done
        finished: list[Finished] = []
        broken: BaseException | None = None
        for future in done:
            cell = self._flying.pop(future)
            error = concurrent.futures.CancelledError() if future.cancelled() else future.exception()
            if error is None:
                answer = future.result()
                finished.append(Finished(cell.key, answer[0], answer[1], cell.deaths + 1, *answer[2:]))
            elif isinstance(error, concurrent.futures.BrokenExecutor):
                broken = error
                self._suspects.append(cell)
            else:  # the cell cannot have raised it: it did not get there, or its answer did not get here
                raise Stopped(f"the executor cannot compute cells ({described(error)})") from error
        if broken is not None:
            alone = len(self._suspects) == 1 and not self._flying
            self._suspects.extend(self._flying.values())
            self._flying.clear()
            if alone:
                cell = self._suspects.popleft()
                cell.deaths += 1
                cell.alone += 1
                if cell.alone >= ATTEMPTS:
                    finished.append(crashed(cell))
                else:
                    self._suspects.appendleft(cell)
            self._remake(broken)
        return finished

    def _remake(self, error: BaseException) -> None:
        if self._factory is None:
            raise Stopped(f"the executor is broken ({described(error)})") from error
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._factory()

    def close(self, finished: bool) -> None:
        for future in self._flying:
            future.cancel()
        if self._factory is not None:
            self._executor.shutdown(wait=finished, cancel_futures=True)


def needed(package: str, extra: str) -> ValueError:
    """What to say when an optional package is missing."""
    return ValueError(f"{package} is not installed; pip install 'fedproof[{extra}]'")
