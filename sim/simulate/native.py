"""Simulation by generated C++: whether it is taken, and how the states go in and out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.generated import NativeFunctions, Source, generated
from sim.native import build
from sim.simulate.initial import without_gradients
from sim.simulate.parameters import Parameters
from theory.program import Program

if TYPE_CHECKING:
    from sim.simulate.run import _Job

BACKENDS = ("auto", "torch", "native")
# Multiplications of one run from which on "auto" compiles: with fewer, a compiler (2 to 5 s, once on a machine) takes
# longer than torch. It is one run's number, for the choice may not depend on how many runs there are: back ends agree
# to rounding only.
WORTH_COMPILING = 500_000
Chosen = tuple[Source, NativeFunctions]
log = logging.getLogger(__name__)
_said: set[str] = set()  # why there is no C++


def why_not(
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...] = (),
    device: str = "cpu",
    torch_only: Mapping[str, Any] | None = None,
) -> Chosen | str:
    """The generated rounds, or why there are none, as one clause.

    Args:
        program, problem, parameters, metrics: what is to be run.
        device: where.
        torch_only: arguments by name that only torch serves; those that are there say no.
    """
    if device != "cpu":
        return f"device={device!r} is not the CPU"
    for name, value in (torch_only or {}).items():
        if value:
            return f"{name} is served by torch alone"
    return generated(program, problem, parameters, metrics)


def decided(
    backend: str,
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...],
    span: range,
    device: str,
    torch_only: Mapping[str, Any],
) -> Chosen | str:
    """The generated rounds where they are to be taken, or why torch is, as one clause.

    Raises:
        ValueError: for a back end that does not exist, or does not know the case.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r} is not one of {BACKENDS}")
    if backend == "torch":
        return "it is asked for"
    if backend == "auto" and build.compiler() is None:
        return "there is no C++ compiler"
    found = why_not(program, problem, parameters, metrics, device, torch_only)
    if isinstance(found, str):
        if backend == "native":
            raise ValueError(f"backend='native': {found}; 'auto' or 'torch' serve")
        return found
    if backend == "auto":
        from sim.generated.task import library_of, turns

        work = len(span) * parameters.clients * turns(program, parameters) * found[1].work
        if work < WORTH_COMPILING:
            return f"a run takes {work:,} multiplications, and a compiler is worth its time from {WORTH_COMPILING:,} on"
        try:
            library_of(*found)
        except ImportError as error:
            if str(error) not in _said:
                _said.add(str(error))
                log.warning("%s; torch is taken", error)
            return str(error)
    return found


def advance(
    job: _Job,
    native: Chosen,
    metrics: tuple[str, ...],
    chunk: int | None,
    memory: int,
    threads: int,
    report: Callable[[int], None],
) -> None:
    """All runs of a job, into its results."""
    from sim.generated.task import NativeRounds

    source, functions = native
    rounds = NativeRounds(job.program, source, functions, job.parameters, job.span, job.seed, job.first_run)
    states = _beginning(job, int(functions.counts.max()))
    recorded = sorted(set(job.recorded))
    records = [
        np.empty((job.runs, len(recorded), *a.shape[1:])) if s.name in job.keep else None
        for s, a in zip(job.program.state, states, strict=True)
    ]
    values = {name: np.empty((job.runs, len(job.span) + 1)) for name in metrics}
    columns = {k: j for j, k in enumerate(recorded)}
    rounds.simulate(states, records, columns, values, chunk, threads, report)
    order = [columns[k] for k in job.recorded]
    for s, state, record in zip(job.program.state, states, records, strict=True):
        job.final[s.name] = state
        if order and record is not None:
            job.states[s.name] = record if order == sorted(set(order)) else record[:, order]
    job.values.update(values)


def _beginning(job: _Job, samples: int) -> list[Any]:
    """By state (R, ...), contiguous: the values before the first round."""
    if job.resume is not None:
        return [np.array(job.resume.final[s.name]) for s in job.program.state]
    shape = (job.runs, job.parameters.clients, samples, job.start.shape[1])
    found = [without_gradients(s, job.start, shape, job.number) for s in job.program.state]
    if any(value is None for value in found):
        of_gradients = _with_gradients(job)
        return [other if value is None else value for value, other in zip(found, of_gradients, strict=True)]
    return found


def _with_gradients(job: _Job) -> list[Any]:
    """By state (R, ...), as torch has it."""
    from sim.simulate.run import natural

    same = len(job.start) == 1
    many = 1 if same else job.runs
    pad = job.functions.pad
    each = max(1, 480 // pad) * pad
    parts: list[list[Any]] = []
    for first in range(0, many, each):
        rows = slice(first, min(first + each, many))
        count = rows.stop - rows.start
        width = -(-count // pad) * pad
        found = job.beginning(rows, width)
        parts.append([natural(v, s.kind)[:count].cpu().numpy() for v, s in zip(found, job.program.state, strict=True)])
    states = [np.concatenate([part[j] for part in parts]) for j in range(len(parts[0]))]
    return [np.ascontiguousarray(np.repeat(a, job.runs, axis=0) if same else a) for a in states]
