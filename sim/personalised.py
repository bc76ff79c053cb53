"""The simulator of personalised federated learning: localised FedAvg, perFedAvg, pFedMe and local training.

Arrays have the runs first: (R, N, d), a model for every client. Random numbers are those of `sim.streams`, purposes
`SAMPLING` in the rounds and `PERSONALISED` where the clients make their models from the server's: what is recorded, and
when, changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms.personalised import LocalTraining, PerFedAvg, Personalised, PFedMe
from sim.algorithms.schedule import checked_count, step_at
from sim.arguments import checked_metrics, float_array, integer
from sim.kernels.curvature import Curvature, curvature
from sim.kernels.pointwise import Pointwise, pointwise
from sim.streams import LIMIT, Streams, seed_key
from sim.trace import Trace

Array = NDArray[Any]

METRICS = (
    "cost",
    "squared_gradient_norm",
    "squared_iterate_norm",
    "squared_distance",
    "iterate",
    "global_iterate",
)

# Numbers of one temporary array: chunks of runs are as wide as this allows.
_ENTRIES = 2_000_000


def run_personalised(
    algorithm: Personalised,
    problem: Any,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    start: Any = None,
    metrics: Sequence[str] = ("squared_gradient_norm",),
    reference: Any = None,
    every: int = 1,
    first_run: int = 0,
    chunk: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """Simulate independent runs, in float64.

    Run r of a seed is the same to the last bit whatever `runs`, `first_run`, `chunk`, `every` and `metrics` are.

    Args:
        algorithm: `LocalTraining`, `LocalisedFedAvg`, `PerFedAvg` or `PFedMe`.
        problem: a `sim.problems.Quadratic` or `sim.problems.logistic.RidgeLogistic`, or an object with a method
            `pointwise()` (see `sim.kernels.pointwise`; for `PerFedAvg` of order 2 also `curvature()`).
        rounds: T >= 1, of communication.
        runs: R >= 1.
        seed: in [0, 2^64).
        start: (d,), where the server, or every client, starts; zeros by default.
        metrics: names among

            * "cost", "squared_gradient_norm": of f_i at the model of client i;
            * "squared_iterate_norm", "iterate": of that model;
            * "squared_distance": of that model from `reference`;
            * "global_iterate": the server's model; not of `LocalTraining`.
        reference: (d,) or (N, d), for "squared_distance".
        every: the metrics are those after 0, every, 2 every, ... rounds; T is a multiple of it.
        first_run: number of the first run; first_run + runs <= 2^32.
        chunk: runs advanced together.
        progress: a function of (run-rounds done, run-rounds in all), called after every chunk.

    Returns:
        A `Trace`, over the P = T/every + 1 rounds that are recorded: (R, P, N) for a metric that is a number,
        (R, P, N, d) for "iterate", (R, P, d) for "global_iterate"; `final` is (R, N, d), the clients' models after T
        rounds.

    Raises:
        ValueError: for an argument outside its domain.
    """
    if not isinstance(algorithm, Personalised):
        raise ValueError(f"algorithm={algorithm!r} is not a LocalTraining, LocalisedFedAvg, PerFedAvg or PFedMe")
    numbers = pointwise(problem)
    rounds, runs, every = (checked_count(v, n) for v, n in ((rounds, "rounds"), (runs, "runs"), (every, "every")))
    if rounds % every:
        raise ValueError(f"every={every} does not divide rounds={rounds}")
    seed_key(seed)
    if integer("first_run", first_run, 0) > LIMIT - runs:
        raise ValueError(f"first_run={first_run} is outside [0, 2^32 - runs]")
    step_at(algorithm.step, rounds - 1)
    clients, dim = len(numbers.counts), numbers.dim
    origin = float_array("start", np.zeros(dim) if start is None else start)
    if origin.shape != (dim,):
        raise ValueError(f"start has shape {origin.shape}, not {(dim,)}")
    world = _World(
        algorithm=algorithm,
        numbers=numbers,
        curvature=curvature(problem) if isinstance(algorithm, PerFedAvg) and algorithm.order == 2 else None,
        start=origin,
        reference=None if reference is None else _reference(reference, clients, dim),
        metrics=_checked_metrics(metrics, algorithm, reference),
        every=every,
    )
    widest = dim * (max(numbers.counts) if algorithm.batch is None else clients * algorithm.batch)
    size = max(1, _ENTRIES // widest) if chunk is None else checked_count(chunk, "chunk")
    parts = []
    for first in range(0, runs, size):
        last = min(first + size, runs)
        parts.append(_advance(world, seed, np.arange(first_run + first, first_run + last), rounds))
        if progress is not None:
            progress(last * rounds, runs * rounds)
    values = {name: np.concatenate([part[name] for part, _ in parts]) for name in world.metrics}
    return Trace(values, np.concatenate([last for _, last in parts]), seed=int(seed), first_run=int(first_run))


@dataclass(frozen=True)
class _World:
    """What all runs share. Shapes: start (d,), reference (N, d)."""

    algorithm: Personalised
    numbers: Pointwise
    curvature: Curvature | None
    start: Array
    reference: Array | None
    metrics: tuple[str, ...]
    every: int

    @property
    def counts(self) -> Array:
        return np.asarray(self.numbers.counts)

    def gradient(self, picks: Array | None, x: Array) -> Array:
        """Every client's stochastic gradient at its own point: picks (B, N, R) or None, x (R, N, d)."""
        everybody = np.arange(x.shape[1])
        if picks is None:
            return self.numbers.gradient(everybody, x)
        if len(picks) == 1:
            return self.numbers.sample_gradient(everybody, picks[0].T, x)
        single = self.numbers.sample_gradient(
            everybody[:, None], np.moveaxis(picks, 0, -1).swapaxes(0, 1), x[:, :, None]
        )
        return single.sum(axis=2) / len(picks)

    def product(self, picks: Array | None, x: Array, u: Array) -> Array:
        """Every client's Hessian of the minibatch at x, times u; shapes as in `gradient`."""
        assert self.curvature is not None
        if picks is None:
            return self.curvature.product(x, u)
        return self.curvature.sample_product(picks.transpose(2, 1, 0), x, u)


def _advance(world: _World, seed: int, runs: Array, rounds: int) -> tuple[dict[str, Array], Array]:
    """The metrics and the final models of one chunk of runs."""
    streams = Streams(seed, runs, backend="numpy")
    clients = len(world.counts)
    # the server's model, repeated for every client; of LocalTraining: the clients' own
    state = np.broadcast_to(world.start, (len(runs), clients, world.numbers.dim))
    kept: dict[str, list[Array]] = {name: [] for name in world.metrics}

    def record(done: int) -> Array:
        models = _personal(world, streams, done, state)
        for name, values in kept.items():
            values.append(_measure(world, name, models, state))
        return models

    models = record(0)
    for r in range(rounds):
        state = _round(world, streams, r, state)
        if (r + 1) % world.every == 0:
            models = record(r + 1)
    return {name: np.stack(values, axis=1) for name, values in kept.items()}, np.array(models)


def _round(world: _World, streams: Streams, r: int, state: Array) -> Array:
    """One round of communication: (R, N, d) -> (R, N, d)."""
    algorithm, step = world.algorithm, float(step_at(world.algorithm.step, r))
    batch, steps = algorithm.batch, algorithm.local_steps
    of_each = 1 + algorithm.order if isinstance(algorithm, PerFedAvg) else 1
    indices = None
    if batch is not None:
        indices = streams.indices(world.counts, range(r, r + 1), of_each * steps * batch).numpy()[0]

    def picks(kind: int, m: int) -> Array | None:
        """(B, N, R), a minibatch of local step m."""
        first = (kind * steps + m) * (batch or 0)
        return None if indices is None else indices[first : first + (batch or 0)]

    local = state
    for m in range(steps):
        if isinstance(algorithm, PFedMe):
            near = _proximal(world, algorithm, [picks(0, m)] * algorithm.inner_steps, local)
            local = local - (step * float(algorithm.penalty)) * (local - near)
        elif isinstance(algorithm, PerFedAvg):
            inner = float(algorithm.inner_step)
            slope = world.gradient(picks(0, m), local - inner * world.gradient(picks(1, m), local))
            if algorithm.order == 2:
                slope = slope - inner * world.product(picks(2, m), local, slope)
            local = local - step * slope
        else:
            local = local - step * world.gradient(picks(0, m), local)
    if isinstance(algorithm, LocalTraining):
        return local
    mean = _mean(local)
    if isinstance(algorithm, PFedMe) and algorithm.server_step != 1:
        share = float(algorithm.server_step)
        mean = (1 - share) * state[:, :1] + share * mean
    return np.broadcast_to(mean, state.shape)


def _personal(world: _World, streams: Streams, done: int, state: Array) -> Array:
    """The clients' models after so many rounds: (R, N, d) -> (R, N, d)."""
    algorithm = world.algorithm
    if isinstance(algorithm, LocalTraining) or algorithm.tuning_steps == 0:
        return state
    batch, minibatches = algorithm.batch, [None] * algorithm.tuning_steps
    if batch is not None:
        words = streams.personal_indices(world.counts, range(done, done + 1), algorithm.tuning_steps * batch)
        indices = words.numpy()[0]
        minibatches = [indices[m * batch : (m + 1) * batch] for m in range(algorithm.tuning_steps)]
    if isinstance(algorithm, PFedMe):
        return _proximal(world, algorithm, minibatches, state)
    step = float(algorithm.inner_step if isinstance(algorithm, PerFedAvg) else algorithm.tuning_step)
    models = state
    for picked in minibatches:
        models = models - step * world.gradient(picked, models)
    return models


def _proximal(world: _World, algorithm: PFedMe, minibatches: Sequence[Array | None], centre: Array) -> Array:
    """Gradient steps on f~(t) + (penalty/2)||t - centre||^2 from t = centre, one a minibatch."""
    step, penalty = float(algorithm.inner_step), float(algorithm.penalty)
    near = centre
    for picked in minibatches:
        near = near - step * (world.gradient(picked, near) + penalty * (near - centre))
    return near


def _mean(models: Array) -> Array:
    """The mean over clients, added one after another: (R, N, d) -> (R, 1, d)."""
    total = models[:, 0]
    for c in range(1, models.shape[1]):
        total = total + models[:, c]
    return (total / models.shape[1])[:, None]


def _measure(world: _World, name: str, models: Array, state: Array) -> Array:
    """One metric: (R, N), or with an axis more; (R, d) for the server's model."""
    if name == "iterate":
        return np.array(models)
    if name == "global_iterate":
        return np.array(state[:, 0])
    if name == "squared_iterate_norm":
        return np.square(models).sum(axis=-1)
    if name == "squared_distance":
        return np.square(models - world.reference).sum(axis=-1)
    everybody = np.arange(models.shape[1])
    if name == "cost":
        return world.numbers.cost(everybody, models)
    return np.square(world.numbers.gradient(everybody, models)).sum(axis=-1)


def _reference(values: Any, clients: int, dim: int) -> Array:
    points = float_array("reference", values)
    if points.shape not in ((dim,), (clients, dim)):
        raise ValueError(f"reference has shape {points.shape}, not {(dim,)} or {(clients, dim)}")
    return np.broadcast_to(points, (clients, dim))


def _checked_metrics(metrics: Any, algorithm: Personalised, reference: Any) -> tuple[str, ...]:
    names = checked_metrics(metrics, METRICS)
    for name in names:
        if name == "squared_distance" and reference is None:
            raise ValueError("metrics has 'squared_distance', which needs a reference")
        if name == "global_iterate" and isinstance(algorithm, LocalTraining):
            raise ValueError("metrics has 'global_iterate', which LocalTraining does not have")
    return names
