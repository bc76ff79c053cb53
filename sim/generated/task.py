"""Generated rounds over ctypes: the numbers that they read, blocks of runs, threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.generated.checks import checked, values_of
from sim.generated.functions import NativeFunctions
from sim.generated.rounds import METRICS, Source
from sim.native import build
from sim.population import PresenceSchedule
from sim.simulate.parameters import Parameters
from sim.streams import LIMIT, seed_key
from theory.program import Instruction, Program

Array = NDArray[np.float64]

LANES = 8
_CACHE = 400_000  # bytes of a block's values, for the second-level cache
_MOST = 256  # runs of a block
_NEAR = 16_000  # bytes of the states of runs that go through their rounds without others, for the first-level cache
# Multiplications of a call, about 0.1 s: an interrupt is noticed, and progress is told, between calls.
_CALL = 1 << 30
# What is worth another thread: two milliseconds or so, and runs that fill two vectors.
_WORTH_A_THREAD = 1 << 25
_RUNS_A_THREAD = 16
_PIECES = 8  # for each thread
_HEAD = '#include "lanes.h"\n#include "philox.h"\n#include "program.h"\n#include "{header}"\n'

_Numbers = ctypes.c_void_p


class _Task(ctypes.Structure):
    """The structure of the same name in sim/native/program.h, which says what the fields are."""

    _fields_ = [
        ("clients", ctypes.c_int64),
        ("samples", ctypes.c_int64),
        ("runs", ctypes.c_int64),
        ("counts", _Numbers),
        ("key", ctypes.c_uint64 * 2),
        ("first_run", ctypes.c_uint64),
        ("functions", _Numbers),
        ("sizes", _Numbers),
        ("numbers", _Numbers),
        ("tables", _Numbers),
        ("states", _Numbers),
        ("record", _Numbers),
        ("records", _Numbers),
        ("records_length", ctypes.c_int64),
        ("metrics", _Numbers),
        ("columns", ctypes.c_int64),
        ("first_column", ctypes.c_int64),
        ("pool", ctypes.c_int64),
        ("present", _Numbers),
        ("fresh", _Numbers),
    ]


def library_of(source: Source, functions: NativeFunctions) -> ctypes.CDLL:
    """The compiled rounds.

    Raises:
        ImportError: without a compiler, or when it fails.
    """
    text = _HEAD.format(header=functions.header) + source.text
    return build.library_of("program", text, *functions.defines)


class NativeRounds:
    """Runs of a program, from round to round.

    Args:
        program: what is run.
        source: its rounds in C++.
        functions: of the problem.
        parameters: the program's.
        span: the rounds to be done.
        seed, first_run: of the streams.
        schedule: of an open population.
        fresh: of that, by state what a client's begins with, (pool, ...); None for the server's.

    Raises:
        ImportError: without a compiler, or when it fails.
        ValueError: for a number outside its domain, and where the program has no instance here.
    """

    def __init__(
        self,
        program: Program,
        source: Source,
        functions: NativeFunctions,
        parameters: Parameters,
        span: range,
        seed: int,
        first_run: int,
        schedule: PresenceSchedule | None = None,
        fresh: Sequence[Array | None] = (),
    ) -> None:
        self.span, self._dim, self._clients = span, functions.dim, len(functions.counts)
        checked(program, parameters, functions, span)
        self._library, self._gathers = library_of(source, functions), source.gathers
        self._kept: list[Any] = []  # arrays to which the task points
        made = {s.to: s for s in program.steps if isinstance(s, Instruction)}
        lists = source.tables.lists
        tables = [self._table(what, list_of(what, key, made, parameters, functions, span)) for what, key in lists]
        self._open, slots = schedule is not None, self._clients if schedule is None else schedule.slots
        self._turns = turns(program, parameters, int(functions.counts.max()) if self._open else 1)
        self._work = slots * self._turns * functions.work
        self._task = _Task(
            clients=slots,
            samples=int(functions.counts.max()),
            counts=self._at(functions.counts, np.int64),
            key=(ctypes.c_uint64 * 2)(*seed_key(seed)),
            first_run=first_run,
            functions=self._pointers([self._at(a) for a in functions.arrays]),
            sizes=self._at(functions.sizes, np.int64),
            numbers=self._at([parameters.constants[name] for name in source.tables.numbers]),
            tables=self._pointers(tables),
            pool=self._clients,
            present=0 if schedule is None else self._at(schedule.clients, np.int32),
            fresh=self._pointers([0 if a is None else self._at(a) for a in fresh]),
        )

    def _table(self, what: str, values: Any) -> int:
        return self._at(values, np.uint64 if what == "thresholds" else np.float64)

    def _at(self, values: Any, dtype: Any = np.float64) -> int:
        """The address of a contiguous copy, which lives as long as this object."""
        array = np.ascontiguousarray(np.asarray(values), dtype=dtype)
        self._kept.append(array)
        return array.ctypes.data

    def _pointers(self, addresses: Sequence[int]) -> int:
        return self._at(np.array([*addresses, 0], dtype=np.uint64), np.uint64)

    def simulate(
        self,
        states: Sequence[Array],
        records: Sequence[Array | None],
        recorded: Mapping[int, int],
        metrics: Mapping[str, Array],
        chunk: int | None,
        threads: int,
        report: Callable[[int], None],
    ) -> None:
        """Take all runs through all rounds.

        Args:
            states: by state (R, ...), before the first round; afterwards those after the last.
            records: by state (R, C, ...), written; None for what is not kept.
            recorded: of numbers of rounds, the column in `records`.
            metrics: by name (R, rounds + 1), written.
            chunk: runs of a block at most; by default as many as suit the cache.
            threads: at most so many share the blocks, >= 1; fewer where there is little to do.
            report: is told the run-rounds of each stretch of rounds.
        """
        span, runs = self.span, len(states[0])
        self._kept += [
            *states,
            *(a for a in records if a is not None),
            *metrics.values(),
        ]  # threads outlive this call when interrupted again
        column = np.full(span.stop + 1, -1, dtype=np.int64)
        for k, place in recorded.items():
            column[k] = place
        task = self._task
        task.runs = runs
        task.states = self._pointers([a.ctypes.data for a in states])
        task.record = self._at(column, np.int64)
        task.records = self._pointers([0 if a is None else a.ctypes.data for a in records])
        task.records_length = max(1, len(recorded))
        task.metrics = self._pointers([metrics[m].ctypes.data if m in metrics else 0 for m in METRICS])
        task.columns, task.first_column = len(span) + 1, span.start
        size = 8 * sum(a[0].size for a in states)
        most = runs if self._open else runs // _RUNS_A_THREAD
        threads = max(1, min(threads, most, self._work * runs * len(span) // _WORTH_A_THREAD))
        blocks = _pieces(runs, chunk, threads) if self._open else self._blocks(runs, chunk, threads, size)
        width = _MOST if self._gathers else max(LANES, min(_MOST, _NEAR // size // LANES * LANES))
        stretch = max(1, _CALL // (self._work * max(last - first for first, last in blocks)))
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        try:
            for k in range(span.start, span.stop, stretch):
                part = range(k, min(k + stretch, span.stop))
                calls = (map if pool is None else pool.map)(partial(self._advance, part, width), blocks)
                for (first, last), _ in zip(blocks, calls, strict=True):
                    report((last - first) * len(part))
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    @staticmethod
    def _blocks(runs: int, chunk: int | None, threads: int, size: int) -> list[tuple[int, int]]:
        """First and last run of each block: about as many for each thread, of whole vectors."""
        most = max(LANES, min(_MOST, chunk or _MOST, _CACHE // size // LANES * LANES))
        count = threads * -(-runs // (most * threads))
        width = min(most, -(-runs // (count * LANES)) * LANES)
        return [(first, min(first + width, runs)) for first in range(0, runs, width)]

    def _advance(self, span: range, width: int, block: tuple[int, int]) -> None:
        if self._library.program_advance(
            ctypes.byref(self._task), *map(ctypes.c_int64, (*block, width, span.start, span.stop))
        ):
            raise MemoryError("not enough memory for a block of runs")


def _pieces(runs: int, chunk: int | None, threads: int) -> list[tuple[int, int]]:
    """The same for runs that are computed one after another: when one thread has no more the others are nearly done."""
    width = min(chunk or runs, -(-runs // (threads * _PIECES if threads > 1 else 1)))
    return [(first, min(first + width, runs)) for first in range(0, runs, width)]


def list_of(
    what: str,
    key: str,
    made: Mapping[str, Instruction],
    parameters: Parameters,
    functions: NativeFunctions,
    span: range,
) -> Any:
    """A list of numbers that generated rounds read, as `sim.generated.scalars.Tables` names it.

    Args:
        what, key: which.
        made: the program's instructions by their value.
        parameters: the program's.
        functions: of the problem.
        span: the rounds; a list with a row a round begins with round 0.

    Returns:
        Something of which numpy makes an array; thresholds are integers in [1, 2^32].
    """
    if what == "each":
        return parameters.each[key]
    if what == "schedule":
        return parameters.schedules[key]
    if what in ("weights", "mix"):
        return parameters.labels[key]
    formula = made[key].numbers[0]
    rows = [values_of(parameters, formula, k) for k in _rounds(parameters, formula, span)]
    if what == "thresholds":
        clients = 1 if made[key].op == "coin" else parameters.clients
        return [np.maximum(np.round(np.broadcast_to(row, clients) * float(LIMIT)), 1) for row in rows]
    weights = [1 / np.broadcast_to(row, parameters.clients) for row in rows]
    if what == "weight":
        return weights
    assert functions.inverses is not None
    return [functions.inverses(row) for row in weights]


def _rounds(parameters: Parameters, formula: Any, span: range) -> range:
    from sim.generated.checks import changes

    return range(span.stop) if changes(parameters, formula) else range(1)


def turns(program: Program, parameters: Parameters, whole: int = 1) -> int:
    """About how many gradients a client takes in a round; that of all samples counts as so many."""
    from sim.generated.checks import values_of
    from theory.program import Loop, Step

    def inside(steps: Sequence[Step]) -> int:
        found = 0
        for step in steps:
            if isinstance(step, Loop):
                of_clients = parameters.clients if step.op == "visit" else 1
                many = of_clients if step.count is None else int(values_of(parameters, step.count, 0))
                found += inside(step.body) * many
            else:
                found += (whole if len(step.of) == 1 else 1) if step.op in ("gradient", "prox") else 0
        return found

    return max(1, inside(program.body))
