"""Kernels on a device: the numbers that they read, chunks of runs, and how the results come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import integer
from sim.generated.checks import changes, checked, values_of
from sim.generated.functions import NativeFunctions
from sim.generated.task import list_of, turns
from sim.gpu import FUNCTIONS, INTEGERS
from sim.gpu.loading import BLOCK, OPTIONS, kernel_of, source_of
from sim.gpu.memory import Room
from sim.gpu.rounds import KernelText
from sim.simulate.parameters import Parameters
from sim.streams import seed_key
from theory.program import Formula, Instruction, Program

if TYPE_CHECKING:
    import torch

Array = NDArray[np.float64]

_LAUNCH = 1 << 40
"""Multiplications of a launch, some seconds: an interrupt is noticed, and progress is told, between launches."""


class KernelRounds:
    """Runs of a program on a device, from round to round.

    Args:
        program: what is run.
        text: its kernel.
        functions: of the problem.
        parameters: the program's.
        span: the rounds to be done.
        seed, first_run: of the streams.
        device: where; the CPU where Triton interprets.
        memory: bytes that a chunk of runs may take, roughly.

    Raises:
        ValueError: for a number outside its domain, and where the program has no instance here.
    """

    def __init__(
        self,
        program: Program,
        text: KernelText,
        functions: NativeFunctions,
        parameters: Parameters,
        span: range,
        seed: int,
        first_run: int,
        device: torch.device,
        memory: int,
    ) -> None:
        checked(program, parameters, functions, span)
        self._program, self._text, self._functions = program, text, functions
        self._parameters, self._span, self._device, self._memory = parameters, span, device, memory
        self._key, self._first_run = seed_key(seed), first_run
        self._clients, self._samples = len(functions.counts), int(functions.counts.max())
        self._work = self._clients * turns(program, parameters) * functions.work

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
        """Take all runs through all rounds; arguments as of `sim.generated.task.NativeRounds.simulate`.

        Args:
            chunk: runs of a launch at most; by default as many as suit the memory.
            threads: not used.
        """
        runs, each = len(states[0]), self._chunk(chunk)
        for begin in range(0, runs, each):
            rows = slice(begin, min(begin + each, runs))
            self._advance(rows, states, records, recorded, metrics, report)

    def _chunk(self, chunk: int | None) -> int:
        metrics = len(self._text.metrics) * (len(self._span) + 1)
        size = 8 * (metrics + sum(self._vectors(room) for room in self._text.rooms) + self._functions.dim)
        if chunk is not None:
            return integer("chunk", chunk, 1)
        return max(BLOCK, integer("memory", self._memory, 1) // size // BLOCK * BLOCK)

    def _advance(
        self,
        rows: slice,
        states: Sequence[Array],
        records: Sequence[Array | None],
        recorded: Mapping[int, int],
        metrics: Mapping[str, Array],
        report: Callable[[int], None],
    ) -> None:
        """One chunk of runs through all rounds."""
        import torch

        count, span = rows.stop - rows.start, self._span
        width = -(-count // BLOCK) * BLOCK  # lanes beyond the last run compute it again, unread
        ids = self._first_run + rows.start + np.minimum(np.arange(width), count - 1)
        names = [f"m{name}" for name in self._program.inputs]
        there = {name: self._lanes_last(state[rows], width) for name, state in zip(names, states, strict=True)}
        rooms = {r.name: there[r.name] if r.name in there else self._empty(r, width) for r in self._text.rooms}
        measured = torch.zeros((len(metrics), len(span) + 1, width), dtype=torch.float64, device=self._device)
        own = [there[name] for name in names if name not in rooms]
        held = [*self._lists, self._numbers, self._counts, self._tensor(ids, np.int64), measured, *rooms.values(), *own]
        for k, last in self._launches(recorded, count):
            if last > k:
                self._launch(held, range(k, last), width)
            for place in [recorded[last]] if last in recorded else []:
                for name, record in zip(names, records, strict=True):
                    if record is not None:
                        record[rows, place] = self._runs_first(there[name], record[rows, place])
            report(count * (last - k))
        for name, state in zip(names, states, strict=True):
            state[rows] = self._runs_first(there[name], state[rows])
        for j, name in enumerate(self._text.metrics):
            metrics[name][rows] = measured[j, :, :count].T.cpu().numpy()

    def _launches(self, recorded: Mapping[int, int], count: int) -> Iterator[tuple[int, int]]:
        """First and last round of each launch; the first may have none, where the beginning is recorded."""
        span = self._span
        if span.start in recorded:
            yield span.start, span.start
        most = max(1, _LAUNCH // (self._work * count))
        k = span.start
        while k < span.stop:
            last = min(k + most, *(j for j in (*recorded, span.stop) if j > k))
            yield k, last
            k = last

    def _launch(self, held: Sequence[Any], rounds: range, width: int) -> None:
        span = self._span
        numbers = {
            "begin": rounds.start, "end": rounds.stop, "first": span.start, "columns": len(span) + 1, "stride": width,
            "clients": self._clients, "samples": self._samples, "low": self._key[0], "high": self._key[1],
            "measured": int(rounds.stop == span.stop),
        }  # fmt: skip
        arguments = (*self._arrays, *self._functions.sizes, *held, *(numbers[name] for name in INTEGERS))
        self._call(width // BLOCK, arguments)

    def _call(self, blocks: int, arguments: Sequence[Any]) -> None:
        import torch

        kernel = kernel_of(source_of(self._text.text, FUNCTIONS[self._functions.header], self._functions.defines))
        with torch.cuda.device(self._device) if self._device.type == "cuda" else nullcontext():
            kernel[(blocks,)](*arguments, BLOCK=BLOCK, **OPTIONS)
            if self._device.type == "cuda":
                torch.cuda.synchronize()  # progress is told of what is done

    # --- what it reads

    def _tensor(self, values: Any, dtype: Any = np.float64) -> torch.Tensor:
        import torch

        array = np.array(values, dtype=dtype)  # a copy: torch would warn of one that may not be written to
        return torch.from_numpy(array.reshape(-1) if array.size else np.zeros(1, dtype=dtype)).to(self._device)

    @cached_property
    def _arrays(self) -> list[torch.Tensor]:
        return [self._tensor(a) for a in self._functions.arrays]

    @cached_property
    def _counts(self) -> torch.Tensor:
        return self._tensor(self._functions.counts, np.int64)

    @cached_property
    def _numbers(self) -> torch.Tensor:
        """(rounds, numbers of a round)."""
        return self._tensor(np.array([self._values(formula) for formula in self._text.numbers]).T)

    def _values(self, formula: Formula) -> Array:
        """(rounds,) a number of a whole round."""
        if changes(self._parameters, formula):
            return np.array([values_of(self._parameters, formula, k) for k in self._span])
        return np.full(len(self._span), values_of(self._parameters, formula, self._span.start))

    @cached_property
    def _lists(self) -> list[torch.Tensor]:
        made = {s.to: s for s in self._program.steps if isinstance(s, Instruction)}
        found = []
        for what, key in self._text.tables.lists:
            values = list_of(what, key, made, self._parameters, self._functions, self._span)
            found.append(self._tensor(values, np.int64 if what == "thresholds" else np.float64))
        return found

    # --- memory

    @cached_property
    def _sizes(self) -> dict[str, int]:
        found = {"1": 1, "clients": self._clients, "samples": self._samples, "most": max(self._clients, self._samples)}
        for j, formula in enumerate(self._text.sizes):
            found[f"size{j}"] = int(self._values(formula).max())
        return found

    def _vectors(self, room: Room) -> int:
        """Numbers that a run has there."""
        count = int(np.prod([self._sizes[name] for name in room.sizes]))
        return count * (self._functions.dim if room.kind == "Point" else 1)

    def _empty(self, room: Room, width: int) -> torch.Tensor:
        import torch

        dtype = torch.int64 if room.kind == "int" else torch.float64
        return torch.zeros((self._vectors(room), width), dtype=dtype, device=self._device)

    def _lanes_last(self, values: Array, width: int) -> torch.Tensor:
        """(R, ...) -> (..., width), flat but for the runs."""
        rows = values.reshape(len(values), -1)
        found = np.empty((rows.shape[1], width))
        found[:, : len(rows)] = rows.T
        found[:, len(rows) :] = rows[-1][:, None]
        return self._tensor(found).reshape(found.shape)

    def _runs_first(self, values: torch.Tensor, like: Array) -> Array:
        """The other way round."""
        return values[:, : len(like)].T.cpu().numpy().reshape(like.shape)


__all__ = ["KernelRounds"]
