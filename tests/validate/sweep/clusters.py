"""A real Dask scheduler and real workers on 127.0.0.1, for the tests."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WAITING = 60.0


class Programs:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._begin("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.address = str(json.loads(self._told())["address"])

    def _told(self) -> str:
        until = time.monotonic() + WAITING
        while time.monotonic() < until:
            if self._file.exists() and self._file.read_text(encoding="utf-8").rstrip().endswith("}"):
                return self._file.read_text(encoding="utf-8")
            time.sleep(0.05)
        raise TimeoutError("the scheduler did not begin")

    def add_worker(self, *options: str) -> None:
        """Begin a worker with one thread."""
        place = str(self._folder / f"worker-{len(self.workers)}")
        self.workers.append(
            self._begin("worker", self.address, "--nthreads", "1", "--local-directory", place, *options)
        )

    def _begin(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options, "--host", "127.0.0.1",
                   "--no-dashboard"]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        log = (self._folder / f"{role}.log").open("ab")
        with log:
            return subprocess.Popen(
                command, cwd=self._folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def end(self) -> None:
        """End all of them, with what they began."""
        for process in (*self.workers, self.scheduler):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()


@contextmanager
def programs(folder: Path, workers: int = 2, *options: str) -> Iterator[Programs]:
    """A scheduler with so many workers, ended afterwards."""
    made = Programs(folder)
    try:
        for _ in range(workers):
            made.add_worker(*options)
        yield made
    finally:
        made.end()
