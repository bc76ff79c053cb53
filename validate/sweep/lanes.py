"""Processes of this machine that compute cells: one pipe each, so that a death is one process's and one cell's.

The first cell that a process has not answered is the one that it is at work on; a second one lies ready in its pipe.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as pipes
from multiprocessing import get_context
from typing import Any

from validate.parallel import LEAVING, begin, interrupts_held, one_thread_each
from validate.sweep.executors import ATTEMPTS, Finished, Flight, Function, Stopped, compute, crashed, timed_out

# Cells that wait here, so that a process can be given those that have work in common with what it has just done.
WINDOW = 64
# A worker that is busy does not read: a longer document is sent only to one that waits for it.
AHEAD = 16_000


def _work(pipe: Any, function: Function) -> None:
    """The life of a lane's process: say that it is ready, then answer one document after the other."""
    begin(lambda message: None, 1)
    # a cell must not turn this signal into a result, as it could an exception
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # stdout is the command's own; what a cell prints goes where messages go
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        pipe.send(None)
        while True:
            pipe.send(compute(function, pipe.recv()))
    except (EOFError, OSError):  # nobody listens any more
        os._exit(0)


@dataclass
class Lane:
    """One process and the cells that are on their way to it; the first of them is what it is at work on."""

    process: Any
    pipe: Any
    ready: bool = False
    since: float = 0.0
    group: str = ""  # of the last cell that was sent to it
    cells: deque[Flight] = field(default_factory=deque)


class Lanes:
    """Processes of this machine, each with a pipe of its own, so that a death is one process's and one cell's."""

    message = ""

    def __init__(self, function: Function, workers: int, limit: float | None = None) -> None:
        self._function, self._limit = function, limit
        self._waiting: deque[Flight] = deque()
        self._suspects: deque[Flight] = deque()  # to be computed with nothing beside them
        self._alone: Flight | None = None  # the one of them that is being computed
        self._unborn = 0  # how many processes in a row have ended before they were ready
        self._done: list[Finished] = []
        self._lanes: list[Lane] = []
        try:
            for _ in range(workers):
                self._lanes.append(self._begun())
        except BaseException:
            self.close(False)
            raise

    def _begun(self) -> Lane:
        context = get_context("spawn")  # torch's threads do not survive a fork
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self._function), name="fedproof-sweep")
        with one_thread_each(), interrupts_held():
            process.start()
        theirs.close()
        return Lane(process, ours)

    def room(self) -> int:
        flying = sum(len(lane.cells) for lane in self._lanes)
        aside = self._suspects or self._alone is not None
        return 0 if aside else 2 * len(self._lanes) + WINDOW - flying - len(self._waiting)

    def submit(self, key: str, text: str, group: str) -> None:
        self._waiting.append(Flight(key, text, group))

    def _feed(self) -> None:
        if self._suspects:
            if not any(lane.cells for lane in self._lanes):
                self._alone = self._suspects.popleft()
                self._send(next((lane for lane in self._lanes if lane.ready), self._lanes[0]), self._alone)
            return
        if self._alone is not None:
            return
        for most in (1, 2):
            for lane in self._lanes:
                if self._waiting and len(lane.cells) < most:
                    at = self._fitting(lane)
                    if most == 1 or len(self._waiting[at].text) < AHEAD:
                        cell = self._waiting[at]
                        del self._waiting[at]
                        self._send(lane, cell)

    def _fitting(self, lane: Lane) -> int:
        """Which waiting cell a lane is to have: of the group that it is at, else of one that no other lane is at."""
        others = {other.group for other in self._lanes if other is not lane and other.cells}
        fresh = 0
        for at, cell in enumerate(self._waiting):
            if cell.group == lane.group:
                return at
            if self._waiting[fresh].group in others and cell.group not in others:
                fresh = at
        return fresh

    def _send(self, lane: Lane, cell: Flight) -> None:
        if not lane.cells:
            lane.since = time.monotonic()
        lane.cells.append(cell)
        lane.group = cell.group
        with suppress(OSError):  # the process is gone, which `wait` will notice
            lane.pipe.send(cell.text)

    def wait(self, seconds: float, begin: bool = True) -> list[Finished]:
        if begin:
            self._feed()
        if not self._done:
            sources = [source for lane in self._lanes for source in (lane.pipe, lane.process.sentinel)]
            pipes.wait(sources, self._patience(seconds))
        for lane in self._lanes:
            self._listen(lane)
        for at, lane in enumerate(self._lanes):
            self._look_after(at, lane)
        if begin:
            self._feed()
        done, self._done = self._done, []
        return done

    def _patience(self, seconds: float) -> float:
        if self._limit is None:
            return seconds
        now = time.monotonic()
        left = [lane.since + self._limit - now for lane in self._lanes if lane.ready and lane.cells]
        return max(0.0, min([seconds, *left]))

    def _listen(self, lane: Lane) -> None:
        """Take what a lane has said, also one that is dead by now."""
        try:
            while lane.pipe.poll():
                answer = lane.pipe.recv()
                lane.since = time.monotonic()
                if not lane.ready:
                    lane.ready, self._unborn = True, 0
                    continue
                cell = lane.cells.popleft()
                self._finish(cell, Finished(cell.key, answer[0], answer[1], cell.deaths + 1, *answer[2:]))
        except (EOFError, OSError):
            lane.process.join(LEAVING)

    def _finish(self, cell: Flight, finished: Finished) -> None:
        if cell is self._alone:
            self._alone = None
        self._done.append(finished)

    def _look_after(self, at: int, lane: Lane) -> None:
        """Begin a lane anew when its process is dead, or has to be."""
        if not lane.process.is_alive():
            self._listen(lane)
            if lane.ready and lane.cells:
                self._blame(lane.cells.popleft())
            elif not lane.ready:
                self._unborn += 1
        elif self._limit is not None and lane.ready and lane.cells and time.monotonic() - lane.since > self._limit:
            _killed(lane)
            self._listen(lane)  # it may have been about to answer
            if lane.cells:
                cell = lane.cells.popleft()
                self._finish(cell, timed_out(cell, self._limit))
        else:
            return
        if self._alone is not None and self._alone in lane.cells:  # the process died before it was ready for it
            self._suspects.append(self._alone)
            self._alone = None
        else:
            self._waiting.extendleft(reversed(lane.cells))
        lane.cells.clear()
        lane.pipe.close()
        if self._unborn >= ATTEMPTS * len(self._lanes):
            raise Stopped(
                f"the worker processes end before they begin (exit code {lane.process.exitcode}); "
                "what they say is above this line"
            )
        self._lanes[at] = self._begun()

    def _blame(self, cell: Flight) -> None:
        """A process died over a cell, of itself or of something else: later again, then with nothing beside it."""
        cell.deaths += 1
        if cell is self._alone:
            self._alone = None
            cell.alone += 1
        if cell.alone >= ATTEMPTS:
            self._finish(cell, crashed(cell))
        elif cell.deaths > 1:
            self._suspects.append(cell)
        else:
            self._waiting.append(cell)

    def close(self, finished: bool) -> None:
        for lane in self._lanes:
            _killed(lane)
            lane.pipe.close()
        self._lanes = []


def _killed(lane: Lane) -> None:
    lane.process.kill()
    lane.process.join(LEAVING)
