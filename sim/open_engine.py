"""The simulator of open federated learning: clients join and leave between the rounds of local SGD or local Adam."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from sim.algorithms.open import LocalAdam, LocalSGD, OpenAlgorithm
from sim.algorithms.schedule import checked_count, step_at
from sim.arguments import checked_metrics
from sim.kernels import open_native, open_numba
from sim.kernels.open_models import open_model
from sim.kernels.open_task import OpenTask, OpenWorker
from sim.kernels.open_torch import TorchWorker
from sim.population import OpenPopulation
from sim.running import Progress, checked_device, checked_first_run, checked_start, reporter, torch_threads
from sim.streams import seed_key
from sim.trace import Trace

log = logging.getLogger(__name__)

Backend = Literal["auto", "native", "torch", "numba"]
# Sample gradients of a run from which on "auto" takes the C++ compiler: with fewer, waiting for it (2 s, once on a
# machine) is not worth it. It is one run's number, for the choice may not depend on how many runs there are.
_WORTH_COMPILING = 2000
METRICS = ("squared_iterate_norm", "global_loss", "present", "eligible", "iterate")

# Bytes of a chunk of runs: its schedule, the models of its clients and their optimisers' states.
_CHUNK_BYTES = 256_000_000
# Elements of the stretch of a chunk's path that is kept before it is measured.
_PATH = 1 << 23
# Run-rounds that torch is asked for at once: an interrupt is noticed in between. The compiled kernels take a run
# through all the rounds of a call, and notice interrupts themselves.
_STRIDE = 1 << 12
# Runs of a chunk for the compiled kernels: enough for the threads to share, and few enough to show progress.
_RUNS_A_THREAD = 64


def run_open(
    algorithm: OpenAlgorithm,
    problem: Any,
    population: OpenPopulation,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    first_run: int = 0,
    start: Any = None,
    metrics: Sequence[str] = ("squared_iterate_norm", "global_loss"),
    chunk: int | None = None,
    device: str | torch.device = "cpu",
    backend: Backend = "auto",
    threads: int | None = None,
    progress: Progress = False,
) -> Trace:
    """Simulate independent runs of an open federated system in float64; `sim.population` says what a round is.

    Run r of a seed draws the same random numbers whatever the other arguments are (see `sim.streams`). On the CPU its
    results are also the same to the last bit for all `runs`, `first_run`, `chunk` and `threads`; between back ends and
    devices they agree to rounding.

    Args:
        algorithm: `LocalSGD` or `LocalAdam` of `sim.algorithms`.
        problem: `RidgeLogistic` or `RidgeSoftmax` of `sim.problems`; its clients are the pool.
        population: who is present, with as many clients in the pool as the problem has.
        rounds: K >= 1.
        runs: R >= 1.
        seed: in [0, 2^64).
        first_run: number of the first run; first_run + runs <= 2^32.
        start: (d,) theta^0; zeros by default.
        metrics: names among "squared_iterate_norm", "global_loss" (the mean of f_n(theta^k) over the clients present
            when theta^k is broadcast, newcomers included; nan where nobody is), "present" (how many those are),
            "eligible" (how many models were averaged into theta^k; for k = 0 how many received theta^0), "iterate".
            "global_loss" takes every sample of every client present in every round, which costs more than a round of
            minibatches.
        chunk: runs advanced together; by default as many as suit the memory.
        device: "cpu" or "cuda".
        backend: "torch"; "native" (CPU, `RidgeLogistic` only), C++ that the system's compiler compiles when it is first
            wanted; "numba" (the same; extra `fast`). "auto" takes "native" where it knows the problem, can be had, and
            a run has enough steps to be worth it, else "numba", else "torch".
        threads: on the CPU; by default 1 for torch, and for the others the cores that this process may use.
        progress: True for a bar, or a function of (run-rounds done, run-rounds in all), called now and then.

    Returns:
        A `Trace`: (R, K+1) arrays ((R, K+1, d) for "iterate"), and the final models.

    Raises:
        ValueError: for an argument outside its domain.
        ImportError: for backend="numba" without numba, and for "native" without a compiler, or when it fails.
    """
    if not isinstance(algorithm, LocalSGD | LocalAdam):
        raise ValueError(f"algorithm={algorithm!r} is not one of ('LocalSGD', 'LocalAdam')")
    if not isinstance(population, OpenPopulation):
        raise ValueError(f"population={population!r} is not an OpenPopulation")
    rounds, runs = checked_count(rounds, "rounds"), checked_count(runs, "runs")
    seed_key(seed)
    first_run = checked_first_run(first_run, runs)
    place = checked_device(device)
    names = checked_metrics(metrics, METRICS)
    samples = int(getattr(problem, "samples", 1) if algorithm.batch is None else algorithm.batch)
    work = rounds * population.initial * algorithm.local_steps * samples
    chosen = _checked_backend(backend, problem, algorithm, place, work)
    threads = _default_threads(chosen) if threads is None else checked_count(threads, "threads")
    model = open_model(problem, place) if chosen == "torch" else None
    point = checked_start(start, problem.dim)
    if population.pool != problem.clients:
        raise ValueError(f"population.pool={population.pool} is not the problem's number of clients, {problem.clients}")
    steps = np.array([float(step_at(algorithm.step, k)) for k in range(rounds)])
    size = _chunk(chunk, population, rounds, runs, problem.dim)
    if chosen != "torch" and chunk is None:
        size = min(size, _RUNS_A_THREAD * threads)
    final = np.empty((runs, problem.dim))
    values = {name: np.empty((runs, rounds + 1, *((problem.dim,) if name == "iterate" else ()))) for name in names}
    log.debug("%d runs in chunks of %d, back end %s, %d threads", runs, size, chosen, threads)
    with torch_threads(threads), torch.inference_mode(), reporter(progress, runs * rounds) as report:
        for first in range(0, runs, size):
            rows = slice(first, min(runs, first + size))
            schedule = population.presence(rounds, rows.stop - first, seed, first_run + first)
            task = OpenTask(problem, algorithm, steps, schedule, point, seed, first_run + first)
            worker = TorchWorker(task, model) if model else _COMPILED[chosen](task, threads)
            stride = rounds if model is None else max(1, _STRIDE // schedule.runs)
            _advance(task, worker, stride, {name: value[rows] for name, value in values.items()}, final[rows], report)
    return Trace(values=values, final=final, seed=int(seed), first_run=first_run)


_COMPILED: dict[str, Callable[[OpenTask, int], OpenWorker]] = {
    "native": open_native.NativeWorker,
    "numba": open_numba.NumbaWorker,
}


def _advance(
    task: OpenTask,
    worker: OpenWorker,
    stride: int,
    values: dict[str, NDArray[np.float64]],
    final: NDArray[np.float64],
    report: Callable[[int], None],
) -> None:
    """Run one chunk from start to end, `stride` rounds a call; fills `values` (R, K+1, ...) and `final` (R, d)."""
    rounds, runs = task.schedule.rounds, task.schedule.runs
    for name in ("present", "eligible"):
        if name in values:
            values[name][...] = getattr(task.schedule, name)
    theta = np.tile(task.start, (runs, 1))
    _measure(worker, range(1), theta[None], values)
    for stretch in _stretches(rounds, max(1, _PATH // theta.size)):
        path = np.empty((len(stretch), *theta.shape))
        for part in _stretches(len(stretch), stride):
            path[part.start : part.stop] = worker.advance(range(stretch[0] + part.start, stretch[0] + part.stop))
            report(runs * len(part))
        _measure(worker, range(stretch.start + 1, stretch.stop + 1), path, values)
        theta = path[-1]
    final[...] = theta


def _measure(
    worker: OpenWorker, indices: range, models: NDArray[np.float64], values: dict[str, NDArray[np.float64]]
) -> None:
    """Record theta^k (B, R, d) for these k."""
    columns = slice(indices.start, indices.stop)
    if "squared_iterate_norm" in values:
        values["squared_iterate_norm"][:, columns] = np.sum(models * models, axis=2).T
    if "iterate" in values:
        values["iterate"][:, columns] = models.swapaxes(0, 1)
    if "global_loss" in values:
        values["global_loss"][:, columns] = worker.global_loss(indices, models).T


def _stretches(count: int, size: int) -> Iterator[range]:
    for first in range(0, count, size):
        yield range(first, min(count, first + size))


def _chunk(chunk: int | None, population: OpenPopulation, rounds: int, runs: int, dim: int) -> int:
    """How many runs to advance together."""
    if chunk is not None:
        return min(checked_count(chunk, "chunk"), runs)
    # newcomers less leavers, and four standard deviations of their number
    grown = rounds * max(0.0, population.join - population.leave) + 4 * math.sqrt(rounds * population.join)
    slots = min(population.pool, population.initial + math.ceil(grown))
    each = 32 * population.pool + 5 * slots * (rounds + 1) + 8 * dim * (4 * slots + 4)
    most = max(1, _CHUNK_BYTES // each)
    return -(-runs // -(-runs // most))  # chunks of equal size


def _checked_backend(
    backend: Any, problem: Any, algorithm: OpenAlgorithm, device: torch.device, work: int
) -> Literal["native", "torch", "numba"]:
    """Which back end computes; `work`: sample gradients of a run."""
    if backend not in get_args(Backend):
        raise ValueError(f"backend={backend!r} is not one of {get_args(Backend)}")
    known = device.type == "cpu" and open_numba.supports(problem, algorithm)
    if backend != "auto":
        if backend != "torch" and not known:
            raise ValueError(f"backend={backend!r} does not know {problem!r} on device={str(device)!r}: use 'torch'")
        return backend
    if known and work >= _WORTH_COMPILING and open_native.usable():
        return "native"
    return "numba" if known and open_numba.installed() else "torch"


def _default_threads(backend: str) -> int:
    if backend == "torch":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
