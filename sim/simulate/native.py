"""Simulation by generated C++: whether it is taken, and how the states go in and out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.generated import NativeFunctions, Source, generated
from sim.native import build
from sim.simulate.parameters import Parameters
from sim.simulate.presence import OF_CLIENTS, PresentFunctions
from theory.program import Program

if TYPE_CHECKING:
    from sim.population import OpenPopulation, PresenceSchedule
    from sim.simulate.run import _Job

BACKENDS = ("auto", "torch", "native")
# Multiplications of one run from which on "auto" compiles: with fewer, a compiler (2 to 5 s, once on a machine) takes
# longer than torch. It is one run's number, for the choice may not depend on how many runs there are: back ends agree
# to rounding only.
_WORTH_COMPILING = 500_000
Array = NDArray[np.float64]
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
    population: OpenPopulation | None = None,
) -> Chosen | str:
    """The generated rounds, or why there are none, as one clause.

    Args:
        program, problem, parameters, metrics: what is to be run.
        device: where.
        torch_only: arguments by name that only torch serves; those that are there say no.
        population: the open population, if there is one.
    """
    if device != "cpu":
        return f"device={device!r} is not the CPU"
    for name, value in (torch_only or {}).items():
        if value:
            return f"{name} is served by torch alone"
    if population is not None:
        for s in program.state:
            if s.kind not in OF_CLIENTS and (s.kind != "server" or s.text not in ("x0", "0")):
                return f"in an open population the server's {s.name} begins with {s.text}"
    return generated(program, problem, parameters, metrics, population is not None)


def chosen(
    backend: str,
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...],
    span: range,
    device: str,
    torch_only: Mapping[str, Any],
    population: OpenPopulation | None = None,
) -> Chosen | None:
    """The generated rounds where they are to be taken, or None for torch.

    Raises:
        ValueError: for a back end that does not exist, or does not know the case.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r} is not one of {BACKENDS}")
    if backend == "torch" or (backend == "auto" and build.compiler() is None):
        return None
    found = why_not(program, problem, parameters, metrics, device, torch_only, population)
    if isinstance(found, str):
        if backend == "native":
            raise ValueError(f"backend='native': {found}; 'auto' or 'torch' serve")
        return None
    if backend == "auto":
        from sim.generated.task import library_of, turns

        clients = parameters.clients if population is None else population.initial
        work = len(span) * clients * turns(program, parameters) * found[1].work
        if work < _WORTH_COMPILING:
            return None
        try:
            library_of(*found)
        except ImportError as error:
            if str(error) not in _said:
                _said.add(str(error))
                log.warning("%s; torch is taken", error)
            return None
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
    fresh = _fresh(job)
    rounds = NativeRounds(
        job.program, source, functions, job.parameters, job.span, job.seed, job.first_run, job.schedule, fresh
    )
    states = _beginning(job) if job.schedule is None else _present(job, job.schedule, fresh)
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


def _beginning(job: _Job) -> list[Any]:
    """By state (R, ...), contiguous: the values before the first round."""
    from sim.simulate.run import natural

    if job.resume is not None:
        return [np.array(job.resume.final[s.name]) for s in job.program.state]
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
    if same:
        states = [np.repeat(a, job.runs, axis=0) for a in states]
    return [np.ascontiguousarray(a) for a in states]


def _fresh(job: _Job) -> list[Array | None]:
    """By state what clients begin with, (pool, ...); None for the server's. Empty without a population."""
    import torch

    from sim.simulate.initial import initial

    if not isinstance(job.functions, PresentFunctions):
        return []
    x0 = torch.from_numpy(job.start[:1].T[None].copy())
    return [
        initial(s, job.functions.inner, x0, job.number)[..., 0].numpy() if s.kind in OF_CLIENTS else None
        for s in job.program.state
    ]


def _present(job: _Job, schedule: PresenceSchedule, fresh: list[Array | None]) -> list[Array]:
    """The values before the first round in an open population, nan in the slots where nobody is."""
    found = []
    who = schedule.clients[job.span.start]
    for s, own in zip(job.program.state, fresh, strict=True):
        if job.resume is not None:
            value = np.array(job.resume.final[s.name])
            if own is not None:
                value = np.pad(value, [(0, 0), (0, schedule.slots - value.shape[1]), *[(0, 0)] * (value.ndim - 2)])
        elif own is not None:
            value = np.where((who >= 0)[(..., *[None] * (own.ndim - 1))], own[who], np.nan)
        else:
            value = np.broadcast_to(job.start if s.text == "x0" else 0.0, (job.runs, job.functions.dim))
        found.append(np.ascontiguousarray(value))
    return found
