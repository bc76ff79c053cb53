"""Simulated runs of a program: chunks that suit the memory, what is kept of them, and where to go on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.arguments import checked_metrics
from sim.arguments import integer as checked_integer
from sim.simulate.functions import functions_of
from sim.simulate.job import Job
from sim.simulate.kept import Array, Measure, Simulated, Watch
from sim.simulate.parameters import Parameters
from sim.simulate.presence import OF_CLIENTS
from sim.streams import seed_key
from theory.program import Algorithm, Program

if TYPE_CHECKING:
    import torch

    from sim.population import OpenPopulation
    from sim.running import Progress

    Tensor = torch.Tensor

log = logging.getLogger(__name__)

_CACHE = 730_000
_CACHE_GPU = 256_000_000


def simulate(
    program: Program | Algorithm,
    problem: Any,
    parameters: Mapping[str, Any],
    start: Any = None,
    rounds: int = 1,
    runs: int = 1,
    seed: int = 0,
    *,
    first_run: int = 0,
    record: Sequence[int] | None = None,
    keep: Sequence[str] | None = None,
    taps: Sequence[str] = (),
    measure: Measure | None = None,
    resume: Simulated | None = None,
    chunk: int | None = None,
    memory: int = 1 << 30,
    device: str | torch.device = "cpu",
    threads: int = 1,
    progress: Progress = False,
    watch: Watch | None = None,
    metrics: Sequence[str] = (),
    backend: str = "auto",
    population: OpenPopulation | None = None,
) -> Simulated:
    """Independent runs of a program, in float64.

    Run r of a seed draws the same numbers whatever `runs`, `first_run`, `chunk`, `memory`, `threads` and `device` are;
    `sim.streams` says which. With one thread on the CPU its states are the same to the last bit too, on quadratics with
    d <= 16 and N <= 16 wherever clients are mixed; where longer matrix products come in, and between devices, results
    agree to rounding. `noise` is normal. A value that floats do not have (a division by 0, the root of a negative
    number) becomes inf or NaN in its run alone.

    Args:
        program: an algorithm (a decorated function), or its program; an algorithm's defaults are used.
        problem: see `functions_of`.
        parameters: by name; see `Parameters`.
        start: (d,) x0, or (R, d), one a run; zeros by default.
        rounds: K >= 1.
        runs: R >= 1.
        seed: in [0, 2^64).
        first_run: number of the first run; first_run + R <= 2^32.
        record: numbers of rounds in 0..K (of the whole run, where it is resumed) after which the states are kept; by
            default the last one.
        keep: names of the states that `record` keeps; all by default.
        taps: names of those whose values are kept, round by round.
        measure: called on every chunk with a `Moment` after k = 0, ..., K rounds; gives tensors or arrays by name whose
            first axis are the chunk's runs. So memory stays bounded however long the run is.
        resume: go on from here: the same program, problem and parameters; `start`, `runs`, `seed` and `first_run` are
            those of the first call, and what they are here is not used. Then `rounds` is the number of further rounds.
        chunk: runs advanced together; by default as many as suit the cache and `memory`.
        memory: bytes that a chunk's values may take, roughly; the smallest chunk is taken even where it needs more (48
            runs on quadratics, else one).
        device: "cpu" or "cuda".
        threads: torch's threads on the CPU; more help only where chunks are wide and cores idle.
        progress: True for a bar, or a function of (run-rounds done, run-rounds in all), called now and then.
        watch: told of every draw as (k, operation, value), in the order of the program: `sample` a `Sample`, `choose`,
            `coins` and `coin` (N or 1, 1, R), `noise` and `keep` (N or 1, d, R) what came of them, `visit` (N, R) and
            `pass` (n, N, R) the orders. One chunk, in torch.
        metrics: what is measured after every round, among `sim.generated.METRICS`: of the first state, of the clients'
            their mean.
        backend: "torch", "native" (generated C++, CPU), "triton" (a generated kernel, on a GPU), or "auto": "native"
            where it knows the case and one run is worth compiling; on a GPU "triton" where it knows the case.
        population: an open one: in every round the program's clients are those of the problem's that take part, as
            `sim.population` says. A value of the clients has a place for each slot, nan where nobody is; a client's
            states begin afresh when it comes; `choose` takes all where fewer than S take part; N is the pool's size.
            Metrics are of a server's value, costs and gradients means over those present, or nan where nobody is.

    Raises:
        ValueError: for an argument outside its domain, and where the program has no instance here (S > N, m > d, ...).
        ImportError: for backend="native" without a compiler, for "triton" without Triton.
    """
    import torch

    from sim.running import checked_device, checked_first_run, reporter, torch_threads
    from sim.simulate.metrics import METRICS, measuring
    from sim.simulate.native import advance, decided
    from sim.simulate.presence import refused

    if isinstance(program, Algorithm):
        named = {*parameters, *(name.removesuffix(index) for name in parameters for index in ("_n", "_k"))}
        defaults = {name: float(value) for name, value in program.defaults.items() if name not in named}
        parameters = {**defaults, **parameters}
        program = program.program
    if not isinstance(program, Program):
        raise ValueError(f"program={program!r} is neither a Program nor a function decorated with @algorithm")
    rounds, threads = checked_integer("rounds", rounds, 1), checked_integer("threads", threads, 1)
    done = 0
    if resume is not None:
        if resume.program != program:
            raise ValueError(f"resume is of {resume.program.name}, another program than {program.name}")
        if resume.population != population:
            raise ValueError(f"resume is of population={resume.population!r}, not of {population!r}")
        done, runs, seed, first_run = resume.rounds, resume.runs, resume.seed, resume.first_run
    runs = checked_integer("runs", runs, 1)
    seed_key(seed)
    first_run = checked_first_run(first_run, runs)
    place = checked_device(device)
    sized = problem if hasattr(problem, "clients") and hasattr(problem, "dim") else functions_of(problem, place)
    last = done + rounds
    unknown = sorted(set(taps) - set(program.taps))
    if unknown:
        raise ValueError(f"taps has {unknown[0]!r}; the program has {', '.join(program.taps) or 'none'}")
    measured = checked_metrics(metrics, METRICS)
    recorded = (last,) if record is None else tuple(record)
    if any(not isinstance(k, int | np.integer) or not done <= k <= last for k in recorded):
        raise ValueError(f"record={recorded} is outside the integers in [{done}, {last}]")
    names = tuple(s.name for s in program.state)
    kept = names if keep is None else tuple(keep)
    if set(kept) - set(names):
        raise ValueError(f"keep has {min(set(kept) - set(names))!r}; the program has {', '.join(names)}")
    numbers = Parameters(program, parameters, sized.clients, sized.dim, last)
    starts = _starts(start, runs, sized.dim) if resume is None or resume.start is None else resume.start
    schedule, several = None, False
    if population is not None:
        several = len(starts) > 1 and any(s.kind in OF_CLIENTS for s in program.state)
        refused(population, program, sized.clients, measured)
        schedule = population.presence(last, runs, seed, first_run)
    native = decided(
        backend,
        program,
        problem,
        numbers,
        measured,
        range(done, last),
        str(place),
        torch_only={"measure": measure, "watch": watch, "taps": taps, "a start of each run": several},
        population=population,
    )
    job = Job(
        program=program,
        problem=problem,
        parameters=numbers,
        start=starts,
        resume=resume,
        span=range(done, last),
        runs=runs,
        seed=int(seed),
        first_run=first_run,
        recorded=recorded,
        keep=frozenset(kept),
        taps=tuple(dict.fromkeys(taps)),
        measure=measure,
        device=place,
        watch=watch,
        schedule=schedule,
    )
    if not isinstance(native, str):
        with reporter(progress, runs * rounds) as report:
            advance(job, native, measured, chunk, memory, threads, report)
        return job.simulated(population)
    if measured:
        job.measure = measuring(problem, job.functions, program, measured, measure)
    chunks = _chunks(job, chunk, memory, threads)
    if watch is not None and len(chunks) > 1:
        raise ValueError(f"watch sees one chunk, and these are {len(chunks)}: take fewer runs, or chunk=runs")
    log.debug("torch, for %s: %d runs in %d chunks, %d threads", native, runs, len(chunks), threads)
    with reporter(progress, runs * rounds) as report, torch_threads(threads), torch.no_grad():
        for rows in chunks:
            job.advance(rows, report)
    return job.simulated(population)


def _starts(start: Any, runs: int, dim: int) -> Array:
    """(R or 1, d)."""
    from sim.running import checked_start

    many = np.asarray(start, dtype=object) if start is not None else None
    if many is None or many.ndim < 2:
        return checked_start(start, dim)[None]
    if many.shape != (runs, dim):
        raise ValueError(f"start has shape {many.shape}, neither {(dim,)} nor {(runs, dim)}")
    return np.stack([checked_start(row, dim) for row in many])


def _chunks(job: Job, chunk: int | None, memory: int, threads: int) -> list[slice]:
    """The rows of the chunks, all but the last equally many."""
    runs = job.runs
    if chunk is None:
        f = job.functions
        room = _CACHE * threads if job.device.type == "cpu" else _CACHE_GPU
        memory = checked_integer("memory", memory, 1)
        most = max(f.pad, min(room // (8 * f.clients * f.dim), memory // (8 * job.size)) // f.pad * f.pad)
        each = -(-runs // -(-runs // most))
    else:
        each = min(checked_integer("chunk", chunk, 1), runs)
    return [slice(r, min(runs, r + each)) for r in range(0, runs, each)]
