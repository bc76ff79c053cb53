"""The cells of a sweep on a Dask cluster.

Dask itself computes a cell again when its worker dies, and gives a cell up after a few deaths (the scheduler's setting
`distributed.scheduler.allowed-failures`). Since that counts every cell that was on the worker, a cell that was given up
gets a last chance with nothing beside it.

A cell that is longer than the limit is ended by restarting its worker, which needs a nanny. What else was on that
worker is computed again.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections import deque
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from validate.parallel import cores
from validate.sweep.executors import (
    Finished,
    Flight,
    Function,
    Stopped,
    compute,
    crashed,
    described,
    needed,
    timed_out,
)

# Seconds between two looks at how many workers there are.
LOOKING = 5.0
# Seconds that a restarted worker has to come back.
RETURNING = 30.0
# Cells in flight for each thread of the cluster, and at least: enough that no worker waits for this process. What a
# worker does not need yet stays with the scheduler.
AHEAD, LEAST = 8, 16


def announced(function: Function, text: str, topic: str, name: str) -> tuple[str, float, str, str]:
    """`compute`, on a worker that says first which cell it begins."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(topic, {"name": name, "worker": worker.address})
    return compute(function, text)


class Cluster:
    """A Dask cluster that is running, or one of this machine that ends with the sweep."""

    def __init__(
        self, function: Function, address: str | None = None, workers: int | None = None, limit: float | None = None
    ) -> None:
        """Connect.

        Args:
            function: what computes a cell; workers must be able to import it.
            address: of the scheduler; None for a cluster of processes of this machine.
            workers: how many of these; not with an address.
            limit: seconds for a cell.

        Raises:
            ValueError: when Dask is not installed, or a limit is asked of workers that cannot be restarted.
            OSError: when no scheduler answers.
        """
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise needed("dask.distributed", "cluster") from None
        if address is not None and workers is not None:
            raise ValueError(f"workers={workers} cannot be given with an address: the cluster has the workers it has")
        self._function, self._limit = function, limit
        # what workers begin, and answers, for `wait`; futures that are done, for the thread that fetches answers
        self._said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: list[Flight] = []
        self._topic = f"fedproof-{uuid.uuid4().hex}"
        self._flying: dict[str, tuple[Any, Flight]] = {}
        self._begun: dict[str, tuple[float, str]] = {}
        self._suspects: deque[Flight] = deque()
        self._alone: Flight | None = None
        self._number, self._threads, self._looked = 0, 0, 0.0
        self._own: Any = None
        if address is None:
            number = cores() if workers is None else workers
            self._own = LocalCluster(n_workers=number, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        self.address = address or self._own.scheduler_address
        try:
            self._client = Client(self.address, set_as_default=False, name="fedproof-sweep")
        except OSError as error:  # also when it does not answer in time
            self._end_own()
            raise OSError(f"no Dask scheduler answers at {self.address} ({described(error)})") from error
        try:
            if limit is not None:
                self._client.subscribe_topic(self._topic, lambda event: self._said.put((event[1], None)))
                self._check_nannies(limit)
            self._look()
        except BaseException:
            self.close(False)
            raise
        threading.Thread(target=self._fetch, name="fedproof-sweep", daemon=True).start()

    def _check_nannies(self, limit: float) -> None:
        # of a large cluster a few workers; a restart sees to the others
        workers = self._client.scheduler_info()["workers"]
        bare = sorted(address for address, about in workers.items() if not about.get("nanny"))
        if bare:
            raise ValueError(
                f"limit={limit:g} needs workers that can be restarted, and {bare[0]} has no nanny; "
                "begin them with --nanny, or leave the limit out"
            )

    def _look(self) -> None:
        """Count the cluster's threads, now and then."""
        now = time.monotonic()
        if self._looked and now - self._looked < LOOKING:
            return
        self._looked = now
        try:
            self._threads = sum(self._client.nthreads().values())
        except OSError as error:
            raise self._lost() from error

    @property
    def message(self) -> str:
        return "" if self._threads else f"no worker is connected to {self.address}; waiting for one"

    def room(self) -> int:
        if self._suspects or self._alone is not None:
            return 0
        return max(LEAST, AHEAD * self._threads) - len(self._flying) - len(self._waiting)

    def submit(self, key: str, text: str, group: str) -> None:
        self._waiting.append(Flight(key, text))

    def _send(self) -> None:
        """Submit what waits, all at once."""
        cells, self._waiting = self._waiting, []
        if not cells:
            return
        names = [f"{self._topic}-{self._number + at}" for at in range(len(cells))]
        self._number += len(cells)
        functions, texts = [self._function] * len(cells), [cell.text for cell in cells]
        try:
            if self._limit is None:
                futures = self._client.map(compute, functions, texts, key=names, pure=False)
            else:
                topics = [self._topic] * len(cells)
                futures = self._client.map(announced, functions, texts, topics, names, key=names, pure=False)
        except Exception as error:  # a client without its scheduler raises one thing or another
            raise self._lost() from error
        for name, future, cell in zip(names, futures, cells, strict=True):
            self._flying[name] = (future, cell)
            future.add_done_callback(self._ended.put)

    def _fetch(self) -> None:
        """In a thread of its own: bring answers here, several at a time where there are several.

        A worker may be gone before its answer is fetched; this waits until the cell is computed again, `wait` does not.
        """
        while (future := self._ended.get()) is not None:
            futures = [future]
            with suppress(queue.Empty):
                while (future := self._ended.get_nowait()) is not None:
                    futures.append(future)
            try:
                if any(done.status != "finished" for done in futures):
                    raise LookupError("one by one")
                answers = self._client.gather(futures)
            except (Exception, CancelledError):
                answers = list(map(_answer, futures))
            for done, answer in zip(futures, answers, strict=True):
                self._said.put((done.key, answer))
            if future is None:
                return

    def wait(self, seconds: float, begin: bool = True) -> list[Finished]:
        self._look()
        if self._suspects and not self._flying and not self._waiting:
            self._alone = self._suspects.popleft()
            self._waiting.append(self._alone)
        self._send()
        finished: list[Finished] = []
        patience = self._patience(seconds)
        while True:
            try:
                name, answer = self._said.get(timeout=patience) if patience > 0 else self._said.get_nowait()
            except queue.Empty:
                break
            patience = 0.0
            if isinstance(name, dict):
                self._begun[name["name"]] = (time.monotonic(), name["worker"])
            elif name in self._flying:  # else it was ended, and its answer comes too late
                finished.extend(self._answered(name, answer))
        if self._client.status not in ("running", "connecting"):
            raise self._lost()
        return finished + self._overdue()

    def _patience(self, seconds: float) -> float:
        if self._limit is None:
            return seconds
        now = time.monotonic()
        left = [self._begun[name][0] + self._limit - now for name in self._flying if name in self._begun]
        return max(0.01, min([seconds, *left]))

    def _answered(self, name: str, answer: Any) -> list[Finished]:
        from distributed import KilledWorker

        _, cell = self._flying.pop(name)
        self._begun.pop(name, None)
        alone, self._alone = cell is self._alone, None if cell is self._alone else self._alone
        if isinstance(answer, tuple):
            return [Finished(cell.key, answer[0], answer[1], cell.deaths + 1, *answer[2:])]
        if isinstance(answer, KilledWorker):
            cell.deaths += 1
            if alone:
                return [crashed(cell)]
            self._suspects.append(cell)
            return []
        if isinstance(answer, CancelledError | OSError):
            raise self._lost() from answer
        # the cell cannot have raised it: it did not get to the worker, or its answer did not get here
        raise Stopped(f"the workers of {self.address} cannot compute cells ({described(answer)})") from answer

    def _overdue(self) -> list[Finished]:
        """End the cells that are longer than the limit, with their workers."""
        if self._limit is None:
            return []
        now = time.monotonic()
        late = [name for name, (since, _) in self._begun.items() if now - since > self._limit and name in self._flying]
        if not late:
            return []
        finished, workers = [], set()
        for name in late:
            future, cell = self._flying.pop(name)
            workers.add(self._begun.pop(name)[1])
            self._alone = None if cell is self._alone else self._alone
            future.cancel()
            finished.append(timed_out(cell, self._limit))
        try:
            self._client.restart_workers(sorted(workers), timeout=RETURNING, raise_for_error=False)
        except ValueError as error:  # it came without a nanny after we looked
            raise Stopped(f"the worker of a cell that is too long cannot be restarted ({described(error)})") from error
        except Exception as error:
            if self._client.status != "running":
                raise self._lost() from error
            # a worker that does not come back in time is missed, not waited for
        return finished

    def _lost(self) -> Stopped:
        return Stopped(f"the Dask scheduler at {self.address} is lost")

    def close(self, finished: bool) -> None:
        self._ended.put(None)
        with suppress(Exception):
            if not finished and self._client.status == "running":
                self._client.cancel([future for future, _ in self._flying.values()])
        self._flying.clear()
        with suppress(Exception):
            self._client.close(timeout=5)
        self._end_own()

    def _end_own(self) -> None:
        if self._own is not None:
            with suppress(Exception):
                self._own.close(timeout=10)


def _answer(future: Any) -> Any:
    """The answer of a future that is done, or its error."""
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return error
