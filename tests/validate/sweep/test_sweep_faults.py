"""What may befall a sweep: no cell is lost or counted twice, and the results are the same in the end."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.shares import share
from tests.validate.sweep.functions import Grid, dies, dies_once, grid, plain, slow, stays
from validate.sweep.coordinator import Snapshot, Summary, sweep
from validate.sweep.store import Store

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")

# A coordinator, which may be run again and again: folder for traces, store, cells, seconds each, the largest file.
PROGRAM = """
import resource, sys
from tests.validate.sweep.functions import grid, slow
from validate.sweep.coordinator import sweep
if __name__ == "__main__":
    folder, path, cells, seconds, size = sys.argv[1:]
    if size != "0":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    specification = grid(int(cells), seconds=float(seconds), folder=folder)
    say = lambda now: print(now.finished, now.message, flush=True)
    print(sweep(specification, path, function=slow, workers=2, resume=True, progress=say).digest)
"""


def calm(specification: Grid, path: Path, **options: bool) -> Summary:
    """The same cells with nothing happening to them, in a thread of this process."""
    with ThreadPoolExecutor(1) as executor:
        return sweep(specification, path, function=plain, executor=executor, **options)


class Coordinator:
    """A sweep of slow cells in a process of its own."""

    def __init__(self, folder: Path, cells: int, seconds: float, size: int = 0) -> None:
        self.traces, self.path = folder / "traces", folder / "store"
        self.traces.mkdir(exist_ok=True)
        self.specification = grid(cells, seconds=seconds, folder=str(self.traces))
        arguments = [str(self.traces), str(self.path), str(cells), str(seconds), str(size)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def begun(self, number: int) -> list[int]:
        """Wait until so many cells were begun; the processes that did."""
        until(lambda: len(list(self.traces.glob("[0-9]*"))) >= number or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()
        return [int(path.read_text(encoding="utf-8")) for path in self.traces.glob("[0-9]*")]

    def undisturbed(self) -> str:
        """The digest of the same cells when nothing happens to them."""
        return calm(self.specification, self.path.with_name("undisturbed")).digest

    def finished(self) -> str:
        """The digest after a sweep that goes on."""
        done = sweep(self.specification, self.path, function=slow, workers=2, resume=True)
        assert done.outcomes == {"holds": len(self.specification.cells)}
        return done.digest


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def gone(process: int) -> bool:
    """Whether a process is no more, but for its name in the list."""
    stat = Path(f"/proc/{process}/stat")
    try:
        os.kill(process, 0)
        return stat.exists() and ") Z " in stat.read_text(encoding="utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_a_worker_that_is_killed_in_the_middle_of_a_cell(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(now: Snapshot) -> None:
        traces = sorted(tmp_path.glob("traces/[0-9]*"), key=lambda path: path.stat().st_mtime)
        if now.finished > 3 * len(killed) and len(killed) < 2 and traces:
            killed.append(int(traces[-1].read_text(encoding="utf-8")))
            os.kill(killed[-1], signal.SIGKILL)

    (tmp_path / "traces").mkdir()
    specification = grid(16, seconds=0.15, folder=str(tmp_path / "traces"))
    done = sweep(specification, tmp_path / "s", function=slow, workers=2, progress=kill)
    assert len(set(killed)) == 2
    assert done.digest == calm(specification, tmp_path / "t").digest
    assert done.computed == 16
    assert all(gone(process) for process in killed)


def test_cells_that_kill_their_worker_once_or_every_time(tmp_path: Path) -> None:
    specification = grid(8, folder=str(tmp_path))
    done = sweep(specification, tmp_path / "s", function=dies_once, workers=2)
    assert done.digest == calm(specification, tmp_path / "t").digest
    with Store.read(tmp_path / "s") as store:
        attempts = [row.work.attempts for row in store.rows() if row.work]
    assert attempts == [1, 1, 2, 1, 1, 1, 1, 2]
    given_up = sweep(specification, tmp_path / "u", function=dies, workers=2)
    assert given_up.outcomes == {"holds": 7, "crashed": 1}
    again = calm(specification, tmp_path / "u", retry=True)
    assert (again.computed, again.digest) == (1, done.digest)


def test_a_cell_that_never_ends(tmp_path: Path) -> None:
    specification = grid(8, folder=str(tmp_path))
    done = sweep(specification, tmp_path / "s", function=stays, workers=2, limit=3.0)
    assert done.outcomes == {"holds": 7, "timeout": 1}
    assert gone(int((tmp_path / "1").read_text(encoding="utf-8")))
    with Store.read(tmp_path / "s") as store:
        row = list(store.rows())[1]
    assert row.result == {"outcome": "timeout", "detail": "longer than 3 s"}
    again = calm(specification, tmp_path / "s", retry=True)
    assert again.digest == calm(specification, tmp_path / "t").digest


@pytest.mark.parametrize("number", share(["SIGKILL", "SIGINT", "SIGTERM"], 3))
def test_a_coordinator_that_is_ended(tmp_path: Path, number: str) -> None:
    running = Coordinator(tmp_path, 16, 0.1)
    workers = running.begun(7)
    if number == "SIGINT":  # from a terminal it comes to all processes
        os.killpg(running.process.pid, signal.SIGINT)
    else:
        running.process.send_signal(getattr(signal, number))
    _, said = running.process.communicate(timeout=60)
    if number == "SIGINT":
        assert "KeyboardInterrupt" in said.splitlines()[-1]
        assert said.count("Traceback") == 1, said
    until(lambda: all(gone(worker) for worker in workers))
    with Store.read(running.path) as store:
        kept = store.counts().finished
    assert 1 <= kept < 16
    assert running.finished() == running.undisturbed()


def test_two_coordinators(tmp_path: Path) -> None:
    running = Coordinator(tmp_path, 12, 0.2)
    running.begun(2)
    with pytest.raises(ValueError, match=f"being written by process {running.process.pid} on "):
        sweep(running.specification, running.path, function=slow, resume=True)
    with Store.read(running.path) as store:
        assert store.counts().cells == 12
    said, _ = running.process.communicate(timeout=60)
    assert said.splitlines()[-1] == running.undisturbed()


def test_a_store_that_stays_locked(tmp_path: Path) -> None:
    running = Coordinator(tmp_path, 20, 0.1)
    running.begun(3)
    foreign = sqlite3.connect(running.path, isolation_level=None, timeout=30)
    foreign.execute("BEGIN IMMEDIATE")
    assert running.process.stdout is not None
    for line in running.process.stdout:
        if "is locked by another program" in line:
            break
    begun = len(running.begun(1))
    time.sleep(1.0)
    assert len(running.begun(1)) <= begun + 4, "those that were in flight"
    running.process.send_signal(signal.SIGINT)
    running.process.communicate(timeout=60)
    foreign.execute("ROLLBACK")
    foreign.close()
    assert running.finished() == running.undisturbed()


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specification = grid(400)
    with Store.create(tmp_path / "s", specification.text, specification.cells) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    original = Store.keep

    def keep(store: Store, entries: list[tuple[str, dict[str, object], object]]) -> None:
        store._connection.execute(f"PRAGMA max_page_count={pages + 12}")
        original(store, entries)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep", keep)
        with pytest.raises(OSError, match=r"full.*make room on the disk; \d+ of 400 cells are kept; .* --resume"):
            calm(specification, tmp_path / "s", resume=True)
    with Store.read(tmp_path / "s") as store:
        assert 0 < store.counts().finished < 400
    done = calm(specification, tmp_path / "s", resume=True)
    assert done.digest == calm(specification, tmp_path / "t").digest


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    running = Coordinator(tmp_path, 120, 0.0, size=120_000)
    _, said = running.process.communicate(timeout=60)
    assert "cannot be written" in said.splitlines()[-1]
    assert "of 120 cells are kept; go on with --resume" in said.splitlines()[-1]
    with Store.read(running.path) as store:
        assert 0 < store.counts().finished < 120
    assert running.finished() == running.undisturbed()


def test_a_store_that_was_damaged(tmp_path: Path) -> None:
    calm(grid(50), tmp_path / "s")
    content = (tmp_path / "s").read_bytes()
    (tmp_path / "s").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"s is damaged"):
        calm(grid(50), tmp_path / "s", resume=True)


def test_workers_that_cannot_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    with pytest.raises(OSError, match=r"end before they begin .*; 0 of 3 cells are kept"):
        sweep(grid(3), tmp_path / "s", function=plain, workers=1)


@pytest.mark.slow
def test_whatever_happens_in_whatever_order(tmp_path: Path) -> None:
    """Workers and coordinators killed at random times, seeded; the results are those of an undisturbed sweep."""
    draw = random.Random(20)
    while True:
        running = Coordinator(tmp_path, 120, 0.05)
        timer = threading.Timer(draw.uniform(1.0, 3.5), running.process.kill)
        timer.start()
        while running.process.poll() is None:
            time.sleep(draw.uniform(0.1, 0.6))
            traces = sorted(running.traces.glob("[0-9]*"), key=lambda path: path.stat().st_mtime)
            if traces:
                worker = int(traces[-1].read_text(encoding="utf-8"))
                if not gone(worker):
                    os.kill(worker, signal.SIGKILL)
        timer.cancel()
        said, _ = running.process.communicate()
        if running.process.returncode == 0:
            break
    assert said.splitlines()[-1] == running.undisturbed()
    with Store.read(running.path) as store:
        assert store.counts().finished == 120
