"""What the engines of sweeps cost a cell: cells that do nothing, beside the executors that the engines could have been.

    python -m benchmarks.sweeps [--cells 2000] [--repetitions 5] [--workers 2]

A sweep checks documents, keeps every result on disk and knows whom a worker's death is due to; the others do neither.
Each figure is the median, over the repetitions, of the difference between a long and a short list of cells over their
number, so that what begins workers does not count. The load average tells how far a figure can be trusted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.measuring import installed, machine, table

SHORT = 100


@dataclass(frozen=True)
class Numbered:
    """A specification with so many cells."""

    cells: int
    text: str = ""
    name: str = ""

    def documents(self) -> Iterable[Mapping[str, Any]]:
        """The documents."""
        return ({"at": at} for at in range(self.cells))


def nothing(document: dict[str, Any]) -> dict[str, Any]:
    """A cell without work."""
    return {"outcome": "holds", "detail": ""}


def processes(cells: int, workers: int) -> None:
    """The standard library's pool, one call a task."""
    from benchmarks.sweeps import nothing

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        assert len(list(pool.map(nothing, Numbered(cells).documents()))) == cells


def swept(cells: int, workers: int, **options: Any) -> None:
    """A sweep into a new store."""
    from benchmarks.sweeps import nothing
    from validate.sweep.coordinator import sweep

    with tempfile.TemporaryDirectory() as folder:
        given = options or {"workers": workers}
        done = sweep(Numbered(cells), Path(folder, "store"), function=nothing, **given)
        assert done.outcomes == {"holds": cells}


def mapped(cells: int, client: Any) -> None:
    """Dask's own map."""
    from benchmarks.sweeps import nothing

    futures = client.map(nothing, list(Numbered(cells).documents()), pure=False)
    assert len(client.gather(futures)) == cells


def a_cell(function: Callable[[int], None], cells: int) -> float:
    """Seconds for one of many cells."""
    times = []
    for number in (SHORT, SHORT + cells):
        began = time.perf_counter()
        function(number)
        times.append(time.perf_counter() - began)
    return (times[1] - times[0]) / cells


def measured(cases: Mapping[str, Callable[[int], None]], cells: int, repetitions: int) -> list[list[str]]:
    """Rows of the table: median, least and most milliseconds a cell, and the load meanwhile."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    loads: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repetitions):
        for name, function in cases.items():
            found[name].append(1e3 * a_cell(function, cells))
            loads[name].append(os.getloadavg()[0])
    return [
        [name, *(f"{figure:.2f}" for figure in (statistics.median(times), min(times), max(times))),
         f"{statistics.median(loads[name]):.1f}"]
        for name, times in found.items()
    ]  # fmt: skip


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--markdown", action="store_true", help="print a table for the documentation")
    given = parser.parse_args()
    print(machine())
    cases: dict[str, Callable[[int], None]] = {
        "ProcessPoolExecutor.map": lambda cells: processes(cells, given.workers),
        "sweep, local": lambda cells: swept(cells, given.workers),
    }
    rows = measured(cases, given.cells, given.repetitions)
    if installed("distributed"):
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            cases = {
                "Client.map": lambda cells: mapped(cells, client),
                "sweep, dask": lambda cells: swept(
                    cells, given.workers, engine="dask", address=cluster.scheduler_address
                ),
            }
            rows += measured(cases, given.cells, given.repetitions)
    head = [f"ms a cell, {given.workers} workers", "median", "least", "most", "load"]
    print(table(head, rows, given.markdown))


if __name__ == "__main__":
    main()
