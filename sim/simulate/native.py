"""Simulation by generated code: whether C++ or a kernel is taken, and how the states go in and out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.generated import NativeFunctions, Source, generated
from sim.gpu.rounds import KernelText
from sim.native import build
from sim.simulate.initial import initial, without_gradients
from sim.simulate.kernels import why_no_kernel, why_not_here
from sim.simulate.parameters import Parameters
from sim.simulate.presence import OF_CLIENTS, PresentFunctions
from theory.program import Program

if TYPE_CHECKING:
    from sim.population import OpenPopulation, PresenceSchedule
    from sim.simulate.job import Job

BACKENDS = ("auto", "torch", "native", "triton")
# Multiplications of one run from which on "auto" compiles: with fewer, a compiler (2 to 5 s, once on a machine) takes
# longer than torch. It is one run's number, for the choice may not depend on how many runs there are: back ends agree
# to rounding only.
WORTH_COMPILING = 500_000
Array = NDArray[np.float64]
Chosen = tuple[Source | KernelText, NativeFunctions]
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
) -> tuple[Source, NativeFunctions] | str:
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
            if s.kind not in OF_CLIENTS and "grad" in s.initial:
                return f"in an open population the server's {s.name} begins with {s.text}"
    return generated(program, problem, parameters, metrics, population is not None)


def decided(
    backend: str,
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...],
    span: range,
    device: str,
    torch_only: Mapping[str, Any],
    population: OpenPopulation | None = None,
) -> Chosen | str:
    """The generated rounds, or the kernel, where they are to be taken, or why torch is, as one clause.

    Raises:
        ImportError: for backend="triton" without Triton.
        ValueError: for a back end that does not exist, or does not know the case.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r} is not one of {BACKENDS}")
    if backend == "torch":
        return "it is asked for"
    if backend == "triton" or (backend == "auto" and device.startswith("cuda")):
        return _kernel(backend, program, problem, parameters, metrics, device, torch_only, population)
    if backend == "auto" and build.compiler() is None:
        return "there is no C++ compiler"
    found = why_not(program, problem, parameters, metrics, device, torch_only, population)
    if isinstance(found, str):
        if backend == "native":
            raise ValueError(f"backend='native': {found}; 'auto' or 'torch' serve")
        return found
    if backend == "auto":
        from sim.generated.task import library_of, turns

        clients = parameters.clients if population is None else population.initial
        work = len(span) * clients * turns(program, parameters) * found[1].work
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


def _kernel(
    backend: str,
    program: Program,
    problem: Any,
    parameters: Parameters,
    metrics: tuple[str, ...],
    device: str,
    torch_only: Mapping[str, Any],
    population: OpenPopulation | None,
) -> Chosen | str:
    """The kernel, or why torch is taken."""
    asked = backend == "triton"
    if why := why_not_here(device):
        if asked:
            raise (ValueError if why.startswith("device") else ImportError)(f"backend='triton': {why}")
        return why
    found = why_no_kernel(program, problem, parameters, metrics, torch_only, population)
    if isinstance(found, str) and asked:
        raise ValueError(f"backend='triton': {found}; 'auto' or 'torch' serve")
    return found


def advance(
    job: Job,
    native: Chosen,
    metrics: tuple[str, ...],
    chunk: int | None,
    memory: int,
    threads: int,
    report: Callable[[int], None],
) -> None:
    """All runs of a job, into its results."""
    source, functions = native
    samples = int(functions.counts.max())
    fresh = _fresh(job, samples)
    rounds = _rounds(job, source, functions, fresh, memory)
    states = _beginning(job, samples) if job.schedule is None else _present(job, job.schedule, fresh)
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


def _rounds(
    job: Job, source: Source | KernelText, functions: NativeFunctions, fresh: list[Array | None], memory: int
) -> Any:
    """Runs of the job, from round to round, on its device."""
    given = (job.program, source, functions, job.parameters, job.span, job.seed, job.first_run)
    if isinstance(source, KernelText):
        from sim.gpu.running import KernelRounds

        return KernelRounds(*given, job.device, memory)  # type: ignore[arg-type]
    from sim.generated.task import NativeRounds

    return NativeRounds(*given, job.schedule, fresh)  # type: ignore[arg-type]


def _beginning(job: Job, samples: int) -> list[Any]:
    """By state (R, ...), contiguous: the values before the first round."""
    if job.resume is not None:
        return [np.array(job.resume.final[s.name]) for s in job.program.state]
    shape = (job.runs, job.parameters.clients, samples, job.start.shape[1])
    found = [without_gradients(s, job.start, shape, job.number) for s in job.program.state]
    if any(value is None for value in found):
        of_gradients = _with_gradients(job)
        return [other if value is None else value for value, other in zip(found, of_gradients, strict=True)]
    return found


def _with_gradients(job: Job) -> list[Any]:
    """By state (R, ...), as torch has it."""
    from sim.simulate.kept import natural

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


def _fresh(job: Job, samples: int) -> list[Array | None]:
    """By state what clients begin with, (pool, ...); None for the server's. Empty without a population."""
    import torch

    if job.schedule is None:
        return []
    shape = (1, job.parameters.clients, samples, job.start.shape[1])
    x0 = torch.from_numpy(job.start[:1].T[None].copy())
    found: list[Array | None] = []
    for s in job.program.state:
        value = without_gradients(s, job.start[:1], shape, job.number) if s.kind in OF_CLIENTS else None
        if s.kind in OF_CLIENTS and value is None:
            assert isinstance(job.functions, PresentFunctions)
            value = initial(s, job.functions.inner, x0, job.number)[..., 0].numpy()[None]
        found.append(None if value is None else value[0])
    return found


def _present(job: Job, schedule: PresenceSchedule, fresh: list[Array | None]) -> list[Array]:
    """The values before the first round in an open population, nan in the slots where nobody is."""
    found = []
    who = schedule.clients[job.span.start]
    for s, own in zip(job.program.state, fresh, strict=True):
        value: Array | None
        if job.resume is not None:
            value = np.array(job.resume.final[s.name])
            if own is not None:
                value = np.pad(value, [(0, 0), (0, schedule.slots - value.shape[1]), *[(0, 0)] * (value.ndim - 2)])
        elif own is not None:
            value = np.where((who >= 0)[(..., *[None] * (own.ndim - 1))], own[who], np.nan)
        else:
            value = without_gradients(s, job.start, (job.runs, 0, 0, job.start.shape[1]), job.number)
        found.append(np.ascontiguousarray(value))
    return found
