"""A sweep on a Dask cluster: a real scheduler and real workers, some of which are killed."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.validate.sweep.clusters import Programs, programs
from tests.validate.sweep.functions import dies, grid, misbehaves, plain, slow, stays
from validate.sweep.coordinator import Snapshot, Summary, sweep

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals"),
    # sockets and event loops of a client whose scheduler was killed are closed by the collector
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    """A scheduler and two workers for the tests that leave the scheduler alive."""
    with programs(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def dask(cluster: Programs, *arguments: Any, **options: Any) -> Summary:
    """A sweep there."""
    return sweep(*arguments, engine="dask", address=cluster.address, **options)


def test_the_results_are_those_of_processes_also_when_a_worker_is_killed(cluster: Programs, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(now: Snapshot) -> None:
        traces = sorted(tmp_path.glob("[0-9]*"), key=lambda path: path.stat().st_mtime)
        if now.finished >= 6 and not killed and traces:
            killed.append(int(traces[-1].read_text(encoding="utf-8")))
            os.kill(killed[0], signal.SIGKILL)

    specification = grid(40, seconds=0.1, folder=str(tmp_path))
    done = dask(cluster, specification, tmp_path / "s", function=slow, progress=kill)
    assert len(killed) == 1
    assert (done.computed, done.outcomes) == (40, {"holds": 40})
    assert done.digest == sweep(specification, tmp_path / "t", function=plain, workers=1).digest


def test_whatever_cells_return_or_raise(cluster: Programs, tmp_path: Path) -> None:
    done = dask(cluster, grid(14), tmp_path / "s", function=misbehaves)
    assert done.digest == sweep(grid(14), tmp_path / "t", function=misbehaves, workers=1).digest


def test_a_cell_that_never_ends(cluster: Programs, tmp_path: Path) -> None:
    specification = grid(6, folder=str(tmp_path))
    done = dask(cluster, specification, tmp_path / "s", function=stays, limit=3.0)
    assert done.outcomes == {"holds": 5, "timeout": 1}
    assert done.digest == sweep(specification, tmp_path / "t", function=stays, limit=3.0, workers=1).digest
    assert dask(cluster, specification, tmp_path / "s", function=plain, retry=True).outcomes == {"holds": 6}


@pytest.mark.slow
def test_a_cell_that_kills_every_worker(cluster: Programs, tmp_path: Path) -> None:
    done = dask(cluster, grid(8), tmp_path / "s", function=dies)
    assert done.outcomes == {"holds": 7, "crashed": 1}
    assert done.digest == sweep(grid(8), tmp_path / "t", function=dies, workers=1).digest


def test_a_scheduler_that_is_lost(tmp_path: Path) -> None:
    specification = grid(30, seconds=0.1, folder=str(tmp_path))
    with programs(tmp_path, workers=1) as cluster:

        def kill() -> None:
            for _ in range(600):
                if len(list(tmp_path.glob("[0-9]*"))) > 5:
                    break
                time.sleep(0.05)
            os.killpg(cluster.scheduler.pid, signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        with pytest.raises(OSError, match=r"scheduler at tcp.* is lost; \d+ of 30 cells are kept; go on with --resume"):
            dask(cluster, specification, tmp_path / "s", function=slow)
    done = sweep(specification, tmp_path / "s", function=plain, workers=1, resume=True)
    assert 0 < done.computed < 30
    assert done.digest == sweep(specification, tmp_path / "t", function=plain, workers=1).digest


def test_no_scheduler_and_workers_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask as configured

    with (
        configured.config.set({"distributed.comm.timeouts.connect": "0.5s"}),
        pytest.raises(OSError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
    ):
        sweep(grid(1), tmp_path / "s", function=plain, engine="dask", address="tcp://127.0.0.1:9")
    with pytest.raises(ValueError, match="workers=2 cannot be given with an address"):
        sweep(grid(1), tmp_path / "t", function=plain, engine="dask", address="tcp://127.0.0.1:9", workers=2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'fedproof\[cluster\]'"):
        sweep(grid(1), tmp_path / "u", function=plain, engine="dask")


@pytest.mark.slow
def test_a_cluster_of_this_machine(tmp_path: Path) -> None:
    done = sweep(grid(20), tmp_path / "s", function=plain, engine="dask", workers=2)
    assert done.digest == sweep(grid(20), tmp_path / "t", function=plain, workers=1).digest


@pytest.mark.slow
def test_a_limit_needs_a_nanny(tmp_path: Path) -> None:
    with programs(tmp_path, 1, "--no-nanny") as cluster:
        assert dask(cluster, grid(4), tmp_path / "s", function=plain).outcomes == {"holds": 4}
        with pytest.raises(ValueError, match="has no nanny"):
            dask(cluster, grid(4), tmp_path / "t", function=plain, limit=1.0)
