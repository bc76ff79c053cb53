"""What the benchmarks of the simulators share: interleaved medians with CPU time and load, tables, the machine's name,
a reference in C++ compiled on the spot, and speed against size with a picture.

A run-round is one run advanced by one round, with its random draws and metrics.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Case:
    """Something to time.

    Attributes:
        name: of the competitor, with its threads.
        runs, rounds: their product is the work of one call, in run-rounds.
        function: does it, and returns what it computed.
    """

    name: str
    runs: int
    rounds: int
    function: Callable[[], Any]


@dataclass(frozen=True)
class Figures:
    """Medians: run-rounds/s by the clock, the CPU time of a run-round (all threads), the load average meanwhile."""

    rate: float
    cpu_microseconds: float
    load: float
    result: Any


def measure(cases: Sequence[Case], repetitions: int) -> list[Figures]:
    """Time all cases in turn, as often as said, after one call of each that is not counted."""
    results = [case.function() for case in cases]
    walls: list[list[float]] = [[] for _ in cases]
    cpus: list[list[float]] = [[] for _ in cases]
    loads: list[list[float]] = [[] for _ in cases]
    for _ in range(repetitions):
        for i, case in enumerate(cases):
            wall, cpu = time.perf_counter(), time.process_time()
            results[i] = case.function()
            walls[i].append(time.perf_counter() - wall)
            cpus[i].append(time.process_time() - cpu)
            loads[i].append(os.getloadavg()[0])
    found = []
    for case, wall_, cpu_, load, result in zip(cases, walls, cpus, loads, results, strict=True):
        work = case.runs * case.rounds
        figures = (work / statistics.median(wall_), 1e6 * statistics.median(cpu_) / work, statistics.median(load))
        found.append(Figures(*figures, result))
    return found


def installed(package: str) -> bool:
    """Whether an optional competitor is there; says so if not."""
    found = importlib.util.find_spec(package) is not None
    if not found:
        print(f"{package} is not installed, and is left out (pip install {package})")
    return found


@cache
def reference(name: str, *flags: str) -> Any:
    """The function of that name in benchmarks/reference/, compiled now; None, and a line, without a compiler.

    -ffast-math is for the compiler only: given to the linker too, it would switch off subnormal numbers for the whole
    process.
    """
    command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or shutil.which("c++") or ""]
    if not shutil.which(command[0]):
        print("there is no C++ compiler, and the C++ reference is left out")
        return None
    source = Path(__file__).resolve().parent / "reference" / f"{name}.cpp"
    options = ["-O3", "-march=native", "-std=c++17", "-fPIC", "-pthread", *flags]
    if "avx512f" in _processor():  # worth 1.2 times on both workloads where it was tried
        options.append("-mprefer-vector-width=512")
    with tempfile.TemporaryDirectory() as place:
        made, linked = Path(place, f"{name}.o"), Path(place, f"{name}.so")
        subprocess.run([*command, *options, "-c", str(source), "-o", str(made)], check=True)
        subprocess.run([*command, "-shared", "-pthread", str(made), "-o", str(linked)], check=True)
        function = getattr(ctypes.CDLL(str(linked)), name)
    function.restype = None
    return function


def structure(**fields: Any) -> ctypes.Structure:
    """A C structure of these fields in this order: arrays (as pointers; they are kept), integers, floats, None."""
    kinds: list[tuple[str, Any]] = []
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            kinds.append((name, ctypes.c_void_p))
            values[name] = value.ctypes.data
        elif isinstance(value, tuple):
            kinds.append((name, ctypes.c_uint64 * len(value)))
            values[name] = kinds[-1][1](*value)
        else:
            kinds.append((name, {int: ctypes.c_int64, float: ctypes.c_double}.get(type(value), ctypes.c_void_p)))
            values[name] = value
    made = type("Job", (ctypes.Structure,), {"_fields_": kinds})(**values)
    made.kept = list(fields.values())
    return made


def machine() -> str:
    """One line: processor, cores, load now, and the versions that matter."""
    names = (line.split(":", 1)[1].strip() for line in _processor().splitlines() if line.startswith("model name"))
    model = next(names, platform.processor() or platform.machine())
    packages = [name for name in ("numpy", "torch", "numba", "jax") if importlib.util.find_spec(name)]
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}; {versions}"


def _processor() -> str:
    """What Linux says of the processors; nothing elsewhere."""
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that the benchmarks have in common."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="smaller work, and without what takes long to compile")
    parser.add_argument("--repetitions", type=int, default=5, help="at least 5; medians are shown")
    parser.add_argument("--markdown", action="store_true", help="print tables for docs/performance.md")
    parser.add_argument("--scaling", action="store_true", help="speed against sizes and threads instead")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the picture and the figures of --scaling")
    return parser


def table(head: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """Text in columns, the first to the left and the others to the right; or a table of Markdown."""
    if markdown:
        ruler = ["---", *("---:" for _ in head[1:])]
        return "\n".join("| " + " | ".join(row) + " |" for row in (head, ruler, *rows))
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        row[0].ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in (head, *rows)
    )


def number(value: float) -> str:
    """Three significant digits, large ones with separators."""
    if value < 1000:
        return f"{value:.3g}"
    digits = int(f"{value:.0e}".split("e")[1]) - 2
    return f"{round(value, -digits):,.0f}"


@dataclass(frozen=True)
class Axis:
    """One size that varies while the others stay.

    Attributes:
        name: such as "runs".
        sizes: its values.
        cases: for each value the competitors, by name; those that cannot be had at a value are left out there.
    """

    name: str
    sizes: Sequence[int]
    cases: Sequence[Sequence[Case]]


def scaling(workload: str, axes: Sequence[Axis], repetitions: int, markdown: bool, out: Path) -> None:
    """Time every axis, print its table, and write OUT/<workload>-scaling.{json,svg,png}.

    By CPU time of all threads, which other jobs change less than the clock.
    """
    out.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {}
    for axis in axes:
        flat = [case for cases in axis.cases for case in cases]
        figures = iter(measure(flat, repetitions))
        rates = [{case.name: 1e6 / next(figures).cpu_microseconds for case in cases} for cases in axis.cases]
        names = list(dict.fromkeys(case.name for case in flat))
        points = list(zip(axis.sizes, rates, strict=True))
        rows = [[f"{size:,}", *(number(at[name]) if name in at else "" for name in names)] for size, at in points]
        print(
            "\n" + table([f"{workload}, run-rounds per CPU second by {axis.name}", *names], rows, markdown), flush=True
        )
        kept[axis.name] = {
            name: {"sizes": [size for size, at in points if name in at],
                   "run_rounds_per_cpu_second": [at[name] for _, at in points if name in at]}
            for name in names
        }  # fmt: skip
    report = {"workload": workload, "machine": machine(), "repetitions": repetitions, "axes": kept}
    (out / f"{workload}-scaling.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    _draw(workload, kept, out)
    print(f"\nwritten to {out}")


def _draw(workload: str, axes: dict[str, Any], out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from validate.drawing import DASHES, MARKERS, SERIES, STYLE

    with pyplot.rc_context(STYLE):
        size = (3.3 * len(axes), 4.6)
        figure, panels = pyplot.subplots(1, len(axes), figsize=size, sharey=True, squeeze=False, layout="constrained")
        shown: list[str] = []
        for panel, (axis, found) in zip(panels[0], axes.items(), strict=True):
            names = list(found)
            for i, name in enumerate(names):
                line, style = found[name], i % len(SERIES)
                panel.plot(
                    line["sizes"], line["run_rounds_per_cpu_second"], label=name, color=SERIES[style],
                    linestyle=DASHES[style], marker=MARKERS[style], markersize=4,
                )  # fmt: skip
            sizes = sorted({value for line in found.values() for value in line["sizes"]})
            panel.set(xscale="log", yscale="log", xlabel=axis, xticks=sizes, xticklabels=[f"{s:,}" for s in sizes])
            panel.minorticks_off()
            if names != shown:  # the panels to the right of it with the same competitors share its legend
                panel.legend(loc="upper left", bbox_to_anchor=(0, -0.16))
                shown = names
        panels[0][0].set_ylabel("run-rounds per CPU second")
        figure.suptitle(f"{workload}: speed by size", x=0.02, ha="left", fontsize=11)
        for ending in ("svg", "png"):
            figure.savefig(out / f"{workload}-scaling.{ending}", dpi=150)
        pyplot.close(figure)
