"""The batched simulator: many runs at once, in chunks that suit the cache, on the cores of a CPU or on a GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import checked_count, step_at
from sim.arguments import checked_metrics
from sim.kernels.clients import Kernel, kernel
from sim.kernels.presence import Presence
from sim.running import Progress, checked_device, checked_first_run, checked_start, reporter, torch_threads
from sim.streams import WORDS, Streams, seed_key
from sim.trace import Trace

log = logging.getLogger(__name__)

# Widths are padded to a multiple of this: whole vectors of any processor (16 doubles) and whole tiles of the matrix
# products (24 columns), so that no run is summed by the code for left-over columns, which may round differently.
PAD = 48

# Bytes of one (N, d, R) tensor for each thread. On the CPU wider chunks leave the caches, narrower ones spend their
# time on calls. Chunks on Python threads gain nothing: they wait for the interpreter's lock at each of 200 calls a
# round.
_CHUNK_BYTES = 730_000
_CHUNK_BYTES_GPU = 256_000_000

# The metric of a round rather than of a model.
SPREAD = "local_consistency"

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
    threads: int | None = None,
    progress: Progress = False,
) -> Trace:
    """Simulate independent runs of an algorithm in float64.

    Run r of a seed draws the same random numbers whatever `runs`, `first_run`, `chunk`, `threads` and `device` are
    (see `sim.streams`). On the CPU its results are the same to the last bit too, for d <= 16; for larger d, where
    matrix products come in, and between devices, they agree to rounding.

    Args:
        algorithm: such as `sim.algorithms.FedAvgSVRG` or `FedAvg`.
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
        threads: threads inside each operation on the CPU, 1 by default. More help wide chunks on idle cores (1.3 times
            with 2); where other processes want the cores the threads wait for each other and are far slower, so to
            fill a machine rather run several processes of one thread, each with its own `first_run`. This is torch's
            own number, which belongs to the process; it is put back afterwards.
        progress: True for a bar, or a function of (run-rounds done, run-rounds in all), called now and then.

    Returns:
        A `Trace`: (R, K+1) arrays, and the final models.

    Raises:
        ValueError: for an argument outside its domain.
    """
    if not isinstance(algorithm, Algorithm):
        raise ValueError(f"algorithm={algorithm!r} is not an Algorithm")
    rounds, runs = checked_count(rounds, "rounds"), checked_count(runs, "runs")
    seed_key(seed)
    first_run = checked_first_run(first_run, runs)
    place = checked_device(device)
    numbers = kernel(problem, place)
    threads = 1 if threads is None else checked_count(threads, "threads")
    width, chunks = _chunks(chunk, runs, threads, numbers, place)
    job = _Job(
        algorithm=algorithm,
        numbers=numbers,
        presence=Presence(participation, len(numbers.counts), rounds, algorithm.aggregation, algorithm.empty, place),
        steps=[float(step_at(algorithm.step, k)) for k in range(rounds)],
        seed=int(seed),
        start=torch.from_numpy(checked_start(start, numbers.dim)).to(place),
        first_run=first_run,
        measures=_measures(metrics, numbers),
        spread=SPREAD in metrics,
        width=width,
        device=place,
        final=np.empty((runs, numbers.dim)),
        values={name: np.empty((runs, rounds + 1, *((numbers.dim,) if name == "iterate" else ()))) for name in metrics},
    )
    job.measure(0, job.start[None, :, None], slice(0, 1))  # a metric that does not exist here refuses before the work
    log.debug("%d runs in %d chunks of %d, %d threads", runs, len(chunks), width, threads)
    with torch_threads(threads), torch.inference_mode(), reporter(progress, runs * rounds) as report:
        for rows in chunks:
            _advance(job, rows, report)
    return Trace(values=job.values, final=job.final, seed=job.seed, first_run=job.first_run)


@dataclass
class _Job:
    """What the chunks of a simulation share. Each writes its own rows of `final` and `values`."""

    algorithm: Algorithm
    numbers: Kernel
    presence: Presence
    steps: list[float]
    seed: int
    start: Tensor
    first_run: int
    measures: dict[str, Callable[[Tensor], Tensor]]
    spread: bool
    width: int
    device: torch.device
    final: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]

    def measure(self, first: int, path: Tensor, rows: slice) -> None:
        """Record the models (B, d, R) of rounds first..first+B-1; columns beyond the rows are padding."""
        count = rows.stop - rows.start
        for name, function in self.measures.items():
            value = function(path)[..., :count]
            self.values[name][rows, first : first + len(path)] = value.movedim(-1, 0).cpu().numpy()


def _advance(job: _Job, rows: slice, report: Callable[[int], None]) -> None:
    """Run one chunk from start to end; `report` is told the run-rounds of each round."""
    rounds, width, dim = len(job.steps), job.width, job.numbers.dim
    ids = job.first_run + rows.start + np.arange(width, dtype=np.int64)
    ids[rows.stop - rows.start :] = ids[0]  # padding: any run does
    streams = Streams(job.seed, ids, device=job.device)
    clients = job.numbers.clients(width)
    draws = job.algorithm.draws
    w = clients.buffer("server model")
    theta = job.start[:, None].expand(dim, width).clone()
    move = torch.empty_like(theta)
    path = torch.empty((min(rounds + 1, max(1, _PATH // (dim * width))), dim, width)).to(theta)
    path[0] = theta
    spread = _Spread(job.numbers, width, len(job.steps), theta) if job.spread else None
    kept_from, kept = 0, 1
    weights, indices = _weights(job, streams), _indices(job, streams)
    for k, step in enumerate(job.steps):
        weight, survives = next(weights)
        if draws:
            clients.pick(next(indices))
        w.copy_(theta)
        local = job.algorithm.local_update(clients, w, step)
        local.sub_(theta)
        job.algorithm.client_memory(clients, local, weight, step)
        if spread is not None:
            spread.before(theta, local)
        local.mul_(weight)
        torch.sum(local, 0, out=move)
        job.algorithm.server_update(clients, theta, move)
        if survives is not None:
            theta.mul_(survives)
        if spread is not None:
            spread.after(k, theta, weight)
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


class _Spread:
    """The mean squared distance of the clients' final models from the server's next one, round by round."""

    def __init__(self, numbers: Kernel, width: int, rounds: int, like: Tensor) -> None:
        self.values = torch.empty((rounds, width)).to(like)
        self._gap = torch.empty((len(numbers.counts), numbers.dim, width)).to(like)
        self._old = torch.empty_like(like)

    def before(self, theta: Tensor, moves: Tensor) -> None:
        """Remember theta (d, R) and w_n - theta (N, d, R)."""
        self._old.copy_(theta)
        self._gap.copy_(moves)

    def after(self, k: int, theta: Tensor, weight: Tensor) -> None:
        """Record round k, which led to theta (d, R), with weights (N, 1, R) or (N, 1, 1)."""
        present = (weight > 0).to(theta)
        squares = self._gap.sub_(theta - self._old).square_().sum(1, keepdim=True)
        self.values[k] = (squares * present).sum(0)[0] / present.sum(0)[0].clamp_(min=1)


def _weights(job: _Job, streams: Streams) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Round by round, the weights (N, 1, R) and, under "zero", whether somebody takes part (1, R)."""
    for rounds in _batches(len(job.steps), job.width * -(-len(job.numbers.counts) // WORDS)):
        weights, survives = job.presence.weights(streams, rounds)
        for i in range(len(rounds)):
            yield weights[i][:, None, :], None if survives is None else survives[i]


def _indices(job: _Job, streams: Streams) -> Iterator[Tensor]:
    """Round by round, the samples picked (J, N, R); overwritten later."""
    draws, number = job.algorithm.draws, len(job.numbers.counts)
    buffer = None
    for rounds in _batches(len(job.steps), job.width * number * draws):
        if buffer is None:
            buffer = streams.work.empty((len(rounds), draws, number, job.width))
        yield from streams.indices(job.numbers.counts, rounds, draws, out=buffer[: len(rounds)])


def _batches(rounds: int, size: int) -> Iterator[range]:
    """Stretches of rounds that need about `_BATCH` numbers, at `size` a round."""
    batch = max(1, _BATCH // size)
    for first in range(0, rounds, batch):
        yield range(first, min(rounds, first + batch))


def _chunks(
    chunk: int | None, runs: int, threads: int, numbers: Kernel, device: torch.device
) -> tuple[int, list[slice]]:
    """The padded width of the chunks, and their rows."""
    if chunk is None:
        size = _CHUNK_BYTES * threads if device.type == "cpu" else _CHUNK_BYTES_GPU
        most = max(PAD, size // (8 * len(numbers.counts) * numbers.dim))
        chunk = -(-runs // -(-runs // most))  # chunks of equal width
    else:
        chunk = min(checked_count(chunk, "chunk"), runs)
    width = -(-chunk // PAD) * PAD
    return width, [slice(r, min(runs, r + chunk)) for r in range(0, runs, chunk)]


def _measures(metrics: Sequence[str], numbers: Kernel) -> dict[str, Callable[[Tensor], Tensor]]:
    """The functions (B, d, R) -> (B, R), or (B, d, R) for "iterate", of the metrics asked for."""
    known: dict[str, Callable[[Tensor], Tensor]] = {
        **numbers.measures(),
        "squared_iterate_norm": lambda theta: theta.square().sum(1),
        "iterate": lambda theta: theta,
    }
    return {name: known[name] for name in checked_metrics(metrics, [*known, SPREAD]) if name != SPREAD}
