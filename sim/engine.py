"""The batched simulator: many runs at once, in chunks that suit the cache, on the cores of a CPU or on a GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import checked_count, step_at
from sim.arguments import checked_metrics
from sim.backends import Backend, Precision, chosen_backend
from sim.kernels import quadratic_native, quadratic_triton
from sim.kernels.clients import Kernel, kernel
from sim.kernels.presence import Presence
from sim.kernels.spread import Spread
from sim.running import Progress, checked_device, checked_first_run, checked_start, reporter, torch_threads
from sim.streams import WORDS, Streams, seed_key
from sim.trace import Trace

log = logging.getLogger(__name__)

# Widths are padded to a multiple of this: whole vectors of any processor (16 doubles) and whole tiles of the matrix
# products (24 columns), so that no run is summed by the code for left-over columns, which may round differently.
PAD = 48

# Bytes of one (S, d, R) tensor for each thread, S the clients that are computed. On the CPU wider chunks leave the
# caches, narrower ones spend their time on calls. Chunks on Python threads gain nothing: they wait for the
# interpreter's lock at each of 200 calls a round.
_CHUNK_BYTES = 730_000
_CHUNK_BYTES_GPU = 256_000_000

# The metric of a round rather than of a model, and those of a model that need no problem.
SPREAD = "local_consistency"
_OWN: dict[str, Callable[[Tensor], Tensor]] = {
    "squared_iterate_norm": lambda theta: theta.square().sum(1),
    "iterate": lambda theta: theta,
}

# Random words drawn at once: several rounds' when there are few in a round, to amortise the calls.
_BATCH = 1 << 15
# Elements of the stretch of a chunk's path that is kept before it is measured.
_PATH = 1 << 17


def run(
    algorithm: Algorithm,
    problem: Any,
    participation: Any = None,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    start: Any = None,
    first_run: int = 0,
    metrics: Sequence[str] = ("suboptimality", "squared_gradient_norm"),
    chunk: int | None = None,
    device: str | torch.device = "cpu",
    backend: Backend = "auto",
    dtype: Precision = "float64",
    threads: int | None = None,
    progress: Progress = False,
) -> Trace:
    """Simulate independent runs of an algorithm, in float64 unless `dtype` says otherwise.

    Run r of a seed draws the same random numbers whatever `runs`, `first_run`, `chunk`, `threads`, `device` and
    `backend` are (see `sim.streams`). On the CPU its models are the same to the last bit too, on quadratics with
    d <= 16, and so are their metrics; where matrix products come in, and between devices and back ends, results agree
    to rounding.

    When S of N clients take part (`UniformChoice`), only they are computed, by the algorithms that allow it
    (`Algorithm.selects`).

    Args:
        algorithm: such as `sim.algorithms.FedAvg`.
        problem: a `sim.problems.Quadratic` (an exact one is computed in float64), or an object with a method
            ``kernel(device)`` (see `sim.kernels.clients`).
        participation: `Bernoulli` or `UniformChoice` of `sim.participation`; None for everybody.
        rounds: K >= 1.
        runs: R >= 1.
        seed: in [0, 2^64).
        start: (d,) theta^0; zeros by default.
        first_run: number of the first run; first_run + runs <= 2^32.
        metrics: names among "suboptimality" (f(theta^k) - f*), "cost", "squared_gradient_norm",
            "squared_iterate_norm", "squared_distance" (to x*), "iterate"; and "local_consistency", at k the mean of
            ||w_n - theta^k||^2 over the clients of the round that led to theta^k, w_n their final models (0 at k = 0).
        chunk: runs advanced together; by default as many as suit the cache.
        device: "cpu" or "cuda".
        backend: what computes: "torch"; "native", C++ that the system's compiler compiles when it is first wanted
            (2 to 5 s, then kept in the user's cache), on the CPU: `FedAvg`, also with reduced variance, on quadratics
            with d <= 16, all metrics but "local_consistency"; or "triton", the same on a GPU (extra `gpu`; not yet run
            on one) unless clients are chosen or rounds that may be empty do not keep the model, with d <= 8 where
            samples have no features; with TRITON_INTERPRET=1 in the environment also on the CPU, slowly, for tests.
            "auto" takes "native" or "triton", where it knows the case, can be had, and a run has enough steps to be
            worth it, otherwise "torch"; it does not interpret.
        dtype: "float64", or "float32" with the back end "triton": the models then have about 7 digits. The draws are
            the same, and the metrics of these models are computed in float64.
        threads: threads on the CPU, 1 by default. With "native" on quadratics they share the runs. Elsewhere they are
            inside each operation, where more help wide chunks on idle cores (1.3 times with 2); where other processes
            want the cores the threads wait for each other and are far slower, so to fill a machine rather run several
            processes of one thread, each with its own `first_run`. This is torch's own number, which belongs to the
            process; it is put back afterwards.
        progress: True for a bar, or a function of (run-rounds done, run-rounds in all), called now and then.

    Returns:
        A `Trace`: (R, K+1) arrays, and the final models.

    Raises:
        ValueError: for an argument outside its domain.
        ImportError: for backend="triton" without triton, and for "native" without a compiler, or when it fails.
    """
    if not isinstance(algorithm, Algorithm):
        raise ValueError(f"algorithm={algorithm!r} is not an Algorithm")
    rounds, runs = checked_count(rounds, "rounds"), checked_count(runs, "runs")
    seed_key(seed)
    first_run = checked_first_run(first_run, runs)
    place = checked_device(device)
    numbers = kernel(problem, place)
    threads = 1 if threads is None else checked_count(threads, "threads")
    presence = Presence(participation, len(numbers.counts), rounds, algorithm.aggregation, algorithm.empty, place)
    slots = presence.size if algorithm.selects and presence.size != len(numbers.counts) else None
    computed = len(numbers.counts) if slots is None else slots
    chunk = None if chunk is None else checked_count(chunk, "chunk")
    names = checked_metrics(metrics, [*numbers.metrics, *_OWN, SPREAD])
    chosen = chosen_backend(backend, algorithm, numbers, presence, names, rounds * computed)
    width, chunks = _chunks(chunk, runs, threads, computed * numbers.dim, place)
    if dtype not in get_args(Precision):
        raise ValueError(f"dtype={dtype!r} is not one of {get_args(Precision)}")
    if dtype != "float64" and chosen != "triton":
        raise ValueError(f"dtype={dtype!r} needs backend='triton', not {chosen!r}: use 'float64'")
    job = _Job(
        algorithm=algorithm,
        numbers=numbers,
        presence=presence,
        slots=slots,
        steps=[float(step_at(algorithm.step, k)) for k in range(rounds)],
        seed=int(seed),
        start=torch.from_numpy(checked_start(start, numbers.dim)).to(place),
        first_run=first_run,
        width=width,
        device=place,
        final=np.empty((runs, numbers.dim)),
        values={name: np.empty((runs, rounds + 1, *((numbers.dim,) if name == "iterate" else ()))) for name in names},
    )
    job.measure(0, job.start[None, :, None], slice(0, 1))  # a metric that does not exist here refuses before the work
    with reporter(progress, runs * rounds) as report:
        if chosen == "native":
            job.final[:] = job.start.numpy()
            native = quadratic_native.NativeRounds(algorithm, numbers, presence, job.steps, job.seed, first_run)
            native.simulate(job.final, job.values, chunk, threads, report)
        elif chosen == "triton":
            precision = torch.float64 if dtype == "float64" else torch.float32
            fused = quadratic_triton.TritonRounds(algorithm, numbers, presence, job.steps, job.seed, precision)
            with torch.inference_mode():
                for rows in chunks:
                    _advance_fused(job, fused, rows, report)
        else:
            log.debug("%d runs in %d chunks of %d, %d threads", runs, len(chunks), width, threads)
            with torch_threads(threads), torch.inference_mode():
                for rows in chunks:
                    _advance(job, rows, report)
    return Trace(values=job.values, final=job.final, seed=job.seed, first_run=job.first_run)


@dataclass
class _Job:
    """What the chunks of a simulation share. Each writes its own rows of `final` and `values`."""

    algorithm: Algorithm
    numbers: Kernel
    presence: Presence
    slots: int | None
    steps: list[float]
    seed: int
    start: Tensor
    first_run: int
    width: int
    device: torch.device
    final: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]

    def measure(self, first: int, path: Tensor, rows: slice) -> None:
        """Record the models (B, d, R) of rounds first..first+B-1; columns beyond the rows are padding."""
        count = rows.stop - rows.start
        known = [name for name in self.values if name in self.numbers.metrics]
        found = dict(self.numbers.measure(known, path, count))
        found.update({name: function(path) for name, function in _OWN.items() if name in self.values})
        for name, value in found.items():
            kept = value[..., :count].movedim(-1, 0)
            self.values[name][rows, first : first + len(path)] = kept.cpu().numpy()


def _advance(job: _Job, rows: slice, report: Callable[[int], None]) -> None:
    """Run one chunk from start to end; `report` is told the run-rounds of each round."""
    rounds, width, dim = len(job.steps), job.width, job.numbers.dim
    ids = job.first_run + rows.start + np.arange(width, dtype=np.int64)
    ids[rows.stop - rows.start :] = ids[0]  # padding: any run does
    streams = Streams(job.seed, ids, device=job.device)
    clients = job.numbers.clients(width, job.slots, rows.stop - rows.start)
    w = clients.buffer("server model")
    theta = job.start[:, None].expand(dim, width).clone()
    move = torch.empty_like(theta)
    path = torch.empty((min(rounds + 1, max(1, _PATH // (dim * width))), dim, width)).to(theta)
    path[0] = theta
    spread = Spread(w, len(job.steps)) if SPREAD in job.values else None
    kept_from, kept = 0, 1
    draws = _draws(job, streams) if job.slots is None else _draws_of_chosen(job, streams, job.slots)
    for k, (step, draw) in enumerate(zip(job.steps, draws, strict=True)):
        clients.begin(draw.chosen)
        if draw.indices is not None:
            clients.pick(draw.indices)
        w.copy_(theta)
        local = job.algorithm.local_update(clients, w, step)
        local.sub_(theta)
        job.algorithm.client_memory(clients, local, draw.weight, step)
        clients.end()
        if spread is not None:
            spread.before(theta, local)
        local.mul_(draw.weight)
        torch.sum(local, 0, out=move)
        job.algorithm.server_update(clients, theta, move)
        if draw.survives is not None:
            theta.mul_(draw.survives)
        if spread is not None:
            spread.after(k, theta, draw.weight)
        if kept == len(path):
            job.measure(kept_from, path, rows)
            kept_from, kept = k + 1, 0
        path[kept] = theta
        kept += 1
        report(rows.stop - rows.start)
    job.measure(kept_from, path[:kept], rows)
    if spread is not None:
        job.values[SPREAD][rows, 0] = 0
        job.values[SPREAD][rows, 1:] = spread.values[:, : rows.stop - rows.start].T.cpu().numpy()
    job.final[rows] = theta[:, : rows.stop - rows.start].T.cpu().numpy()


def _advance_fused(job: _Job, fused: quadratic_triton.TritonRounds, rows: slice, report: Callable[[int], None]) -> None:
    """As `_advance`, by a kernel that takes the runs through many rounds at once."""
    count = rows.stop - rows.start
    for first, path in fused.paths(job.start, job.first_run + rows.start, count):
        job.measure(first, path, rows)
        report(count * (len(path) - (first == 0)))
    job.final[rows] = path[-1].T.cpu().numpy()


@dataclass(frozen=True)
class _Draw:
    """What is drawn for a round: weights (S, 1, R) or (S, 1, 1); under "zero", whether somebody takes part (1, R); the
    clients in the slots (S, R), None when all N have their own; and the samples picked (J, S, R), overwritten later."""

    weight: Tensor
    survives: Tensor | None
    chosen: Tensor | None
    indices: Tensor | None


def _draws(job: _Job, streams: Streams) -> Iterator[_Draw]:
    """Round by round, for all clients."""
    indices = _indices(job, streams) if job.algorithm.draws else None
    for rounds in _batches(len(job.steps), job.width * -(-len(job.numbers.counts) // WORDS)):
        weights, survives = job.presence.weights(streams, rounds)
        for i in range(len(rounds)):
            kept = None if survives is None else survives[i]
            yield _Draw(weights[i][:, None, :], kept, None, None if indices is None else next(indices))


def _indices(job: _Job, streams: Streams) -> Iterator[Tensor]:
    """Round by round, the samples picked (J, N, R); overwritten later."""
    draws, number = job.algorithm.draws, len(job.numbers.counts)
    buffer = None
    for rounds in _batches(len(job.steps), job.width * number * draws):
        if buffer is None:
            buffer = streams.work.empty((len(rounds), draws, number, job.width))
        yield from streams.indices(job.numbers.counts, rounds, draws, out=buffer[: len(rounds)])


def _draws_of_chosen(job: _Job, streams: Streams, slots: int) -> Iterator[_Draw]:
    """Round by round, for the S clients that take part, each with the weight 1/S."""
    draws, counts = job.algorithm.draws, job.numbers.counts
    weight = torch.full((slots, 1, 1), 1 / slots, dtype=torch.float64, device=job.device)
    buffer = None
    for rounds in _batches(len(job.steps), job.width * max(slots * draws, -(-len(counts) // WORDS))):
        if buffer is None:
            buffer = streams.work.empty((len(rounds), draws, slots, job.width))
        chosen = job.presence.chosen(streams, rounds)
        indices = None
        if draws:
            out = buffer[: len(rounds)]
            indices = streams.indices(counts, rounds, draws, out=out, chosen=chosen.cpu().numpy())
        for i in range(len(rounds)):
            yield _Draw(weight, None, chosen[i], None if indices is None else indices[i])


def _batches(rounds: int, size: int) -> Iterator[range]:
    """Stretches of rounds that need about `_BATCH` numbers, at `size` a round."""
    batch = max(1, _BATCH // size)
    for first in range(0, rounds, batch):
        yield range(first, min(rounds, first + batch))


def _chunks(chunk: int | None, runs: int, threads: int, size: int, device: torch.device) -> tuple[int, list[slice]]:
    """The width of the chunks, a multiple of `PAD`, and their rows; a run has tensors of `size` elements."""
    if chunk is None:
        room = _CHUNK_BYTES * threads if device.type == "cpu" else _CHUNK_BYTES_GPU
        most = max(PAD, room // (8 * size))
        chunk = -(-runs // -(-runs // most))  # chunks of equal width
    else:
        chunk = min(chunk, runs)
    width = -(-chunk // PAD) * PAD
    return width, [slice(r, min(runs, r + chunk)) for r in range(0, runs, chunk)]
