"""The simulator of models that move from client to client: shuffling local SGD.

Arrays have the runs first: (R, M, d) for M models, model i at client s((i+j) mod N) in communication round j of an
epoch. Random numbers are those of `sim.streams`, purposes `PERMUTATION` and `SAMPLING`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.schedule import checked_count, step_at
from sim.algorithms.shuffling import ShufflingSGD
from sim.arguments import checked_metrics, float_array, integer
from sim.kernels.pointwise import Pointwise, pointwise
from sim.projections import Ball
from sim.streams import LIMIT, Streams, seed_key
from sim.trace import Trace

Array = NDArray[Any]

METRICS = (
    "cost",
    "squared_gradient_norm",
    "squared_iterate_norm",
    "squared_distance",
    "iterate",
)

# Numbers of one temporary array: chunks of runs are as wide as this allows.
_ENTRIES = 2_000_000


def run_shuffling(
    algorithm: ShufflingSGD,
    problem: Any,
    *,
    epochs: int,
    runs: int,
    seed: int = 0,
    start: Any = None,
    ball: Ball | None = None,
    metrics: Sequence[str] = ("squared_gradient_norm",),
    reference: Any = None,
    first_run: int = 0,
    chunk: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """Simulate independent runs, in float64.

    Run r of a seed is the same to the last bit whatever `runs`, `first_run` and `chunk` are.

    Args:
        algorithm: of one model or several.
        problem: a `sim.problems.Quadratic`, or an object with a method `pointwise()` (see `sim.kernels.pointwise`).
        epochs: R' >= 1.
        runs: R >= 1.
        seed: in [0, 2^64).
        start: (d,), where every model starts; zeros by default.
        ball: W; None for no projection.
        metrics: names among

            * "cost", "squared_gradient_norm": of Phi = sum_j alpha(j) f_j at the model, alpha its weights;
            * "squared_iterate_norm", "iterate": of the model;
            * "squared_distance": of the model from `reference`.
        reference: (d,) or (M, d), for "squared_distance".
        first_run: number of the first run; first_run + runs <= 2^32.
        chunk: runs advanced together.
        progress: a function of (run-epochs done, run-epochs in all), called after every chunk.

    Returns:
        A `Trace`, over epochs 0..R': (R, R'+1, M) for a metric that is a number, (R, R'+1, M, d) for "iterate",
        `final` is (R, M, d). The axis M is left out for one model.

    Raises:
        ValueError: for an argument outside its domain.
    """
    if not isinstance(algorithm, ShufflingSGD):
        raise ValueError(f"algorithm={algorithm!r} is not a ShufflingSGD")
    numbers = pointwise(problem)
    clients = len(numbers.counts)
    epochs, runs = checked_count(epochs, "epochs"), checked_count(runs, "runs")
    seed_key(seed)
    if integer("first_run", first_run, 0) > LIMIT - runs:
        raise ValueError(f"first_run={first_run} is outside [0, 2^32 - runs]")
    weights = _start_weights(algorithm, clients)
    models = len(weights)
    world = _World(
        algorithm=algorithm,
        numbers=numbers,
        ball=ball,
        start=_point("start", np.zeros(numbers.dim) if start is None else start, (numbers.dim,)),
        weights=weights,
        reference=None if reference is None else _reference(reference, models, numbers.dim),
        metrics=_checked_metrics(metrics, reference),
    )
    world.check_schedules(epochs)
    widest = clients * max(models * numbers.dim, clients * algorithm.local_steps)
    size = max(1, _ENTRIES // widest) if chunk is None else checked_count(chunk, "chunk")
    parts = []
    for first in range(0, runs, size):
        last = min(first + size, runs)
        parts.append(_advance(world, seed, np.arange(first_run + first, first_run + last), epochs))
        if progress is not None:
            progress(last * epochs, runs * epochs)
    single = not isinstance(algorithm.weights[0], tuple)
    values = {name: np.concatenate([part[name] for part, _ in parts]) for name in world.metrics}
    final = np.concatenate([last for _, last in parts])
    if single:
        values, final = {name: value[:, :, 0] for name, value in values.items()}, final[:, 0]
    return Trace(values=values, final=final, seed=int(seed), first_run=int(first_run))


@dataclass(frozen=True)
class _World:
    """What all runs share. Shapes: start (d,), weights (M, N), reference (M, d)."""

    algorithm: ShufflingSGD
    numbers: Pointwise
    ball: Ball | None
    start: Array
    weights: Array
    reference: Array | None
    metrics: tuple[str, ...]

    @property
    def clients(self) -> int:
        return len(self.numbers.counts)

    def project(self, x: Array) -> Array:
        """P_W."""
        return x if self.ball is None else self.ball.project(x)

    def check_schedules(self, epochs: int) -> None:
        """Refuse a schedule of steps that is too short."""
        step_at(self.algorithm.step, epochs - 1)


def _advance(world: _World, seed: int, runs: Array, epochs: int) -> tuple[dict[str, Array], Array]:
    """The metrics and final models of one chunk of runs."""
    numbers = world.numbers
    streams = Streams(seed, runs, backend="numpy")
    models = np.broadcast_to(world.start, (len(runs), len(world.weights), numbers.dim))
    weights = np.broadcast_to(world.weights, (len(runs), *world.weights.shape))
    kept: dict[str, list[Array]] = {name: [] for name in world.metrics}

    def record() -> None:
        for name, values in kept.items():
            values.append(_measure(world, name, models, weights))

    record()
    for r in range(epochs):
        indices = _samples(world, streams, r)
        models = _epoch(world, streams, indices, r, float(step_at(world.algorithm.step, r)), models, weights)
        record()
    return {name: np.stack(values, axis=1) for name, values in kept.items()}, np.array(models)


def _samples(world: _World, streams: Streams, epoch: int) -> Array | None:
    """(J, N, R) indices of the samples of an epoch; None when every client has only one."""
    if max(world.numbers.counts) == 1:
        return None
    draws = world.clients * world.algorithm.local_steps
    return streams.indices(world.numbers.counts, range(epoch, epoch + 1), draws).numpy()[0]


def _epoch(
    world: _World, streams: Streams, indices: Array | None, epoch: int, step: float, models: Array, weights: Array
) -> Array:
    """Algorithm 1: every model visits every client. Shapes: indices (J, N, R), models (R, M, d), weights (R, M, N)."""
    clients, local_steps = world.clients, world.algorithm.local_steps
    order = streams.permutations(clients, range(epoch, epoch + 1)).numpy()[0]
    run = np.arange(models.shape[0])[:, None]
    model = np.arange(models.shape[1])
    for j in range(clients):
        here = np.ascontiguousarray(order[(model + j) % clients].T)
        rate = (step * clients) * np.take_along_axis(weights, here[..., None], axis=-1)
        for m in range(local_steps):
            picked = _ZERO if indices is None else indices[j * local_steps + m, here, run]
            models = models - rate * world.numbers.sample_gradient(here, picked, models)
    return world.project(models)


_ZERO = np.zeros((), dtype=np.int64)


def _objective_gradient(world: _World, models: Array, weights: Array) -> Array:
    """sum_j alpha(j) grad f_j at each model: (R, M, d), (R, M, N) -> (R, M, d)."""
    total: Any = 0.0
    for c in range(world.clients):
        total = total + weights[..., c, None] * world.numbers.gradient(np.array(c), models)
    return total


def _measure(world: _World, name: str, models: Array, weights: Array) -> Array:
    """One metric: (R, M), or with an axis more."""
    if name == "iterate":
        return models
    if name == "squared_iterate_norm":
        return np.square(models).sum(axis=-1)
    if name == "squared_distance":
        return np.square(models - world.reference).sum(axis=-1)
    if name == "squared_gradient_norm":
        return np.square(_objective_gradient(world, models, weights)).sum(axis=-1)
    costs = [weights[..., c] * world.numbers.cost(np.array(c), models) for c in range(world.clients)]
    return sum(costs[1:], costs[0])


def _start_weights(algorithm: ShufflingSGD, clients: int) -> Array:
    """(M, N)."""
    if algorithm.clients != clients:
        raise ValueError(f"weights has {algorithm.clients} entries for each model, not N={clients}")
    return np.atleast_2d(float_array("weights", algorithm.weights))


def _point(name: str, values: Any, shape: tuple[int, ...]) -> Array:
    point = float_array(name, values)
    if point.shape != shape:
        raise ValueError(f"{name} has shape {point.shape}, not {shape}")
    return point


def _reference(values: Any, models: int, dim: int) -> Array:
    points = float_array("reference", values)
    if points.shape == (dim,):
        points = np.broadcast_to(points, (models, dim))
    return _point("reference", points, (models, dim))


def _checked_metrics(metrics: Any, reference: Any) -> tuple[str, ...]:
    names = checked_metrics(metrics, METRICS)
    for name in names:
        if name == "squared_distance" and reference is None:
            raise ValueError("metrics has 'squared_distance', which needs a reference")
    return names
