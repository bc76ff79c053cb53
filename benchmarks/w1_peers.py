"""W1 written by others' means: a plain loop, NumPy, JAX, numba, torch.compile (the C++ is in `by_hand`).

Each is a function of the problem and the probabilities (N,) that returns a `Peer`. A peer draws with the generator that
its users would take, or is given the draws, so that all can be compared on the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sim.problems import Quadratic
from sim.streams import PROGRAM, Streams, thresholds

SNAPSHOTS, INNER, STEP, START = 5, 2, 0.01, 0.5
SEED = 0

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Draws:
    """Given draws.

    Attributes:
        present: (K, N, R) bool.
        picks: (K, J, N, R) samples of the J = S (M - 1) inner steps m >= 1; at m = 0 the sample has no effect.
    """

    present: Array
    picks: Array


Peer = Callable[[int, int, Draws | None], Array]
"""(runs, rounds, draws or None) -> (R, K+1) suboptimality. The squared gradient norm is computed as well."""


def engine_draws(problem: Quadratic, p: Array, runs: int, rounds: int) -> Draws:
    """Those of the program: its coins are its first draw, its samples the second."""
    streams, span, turns = Streams(SEED, np.arange(runs)), range(rounds), (SNAPSHOTS, INNER)
    words = streams.words(PROGRAM, np.zeros(1, dtype=np.int64), span, problem.clients).numpy()[:, :, 0]
    picks = streams.words(PROGRAM + 1, np.arange(problem.clients), span, SNAPSHOTS * INNER).numpy()
    picks = ((picks * problem.samples) >> 32).reshape(rounds, *turns, problem.clients, runs)
    return Draws(words < thresholds(p)[:, None], picks[:, :, 1:].reshape(rounds, -1, problem.clients, runs))


def plain_loop(problem: Quadratic, p: Array) -> Peer:
    """One run, client and step after another: Algorithm 1 as one writes it first."""
    q, y = _samples(problem)
    clients, samples, dim = q.shape

    def advance(runs: int, rounds: int, draws: Draws | None = None) -> Array:
        rng = np.random.default_rng(1)
        result = np.empty((runs, rounds + 1))
        for r in range(runs):
            theta = np.full(dim, START)
            result[r, 0] = problem.cost(theta) - problem.optimal_value
            for k in range(rounds):
                move = np.zeros(dim)
                for n in range(clients):
                    if not (draws.present[k, n, r] if draws else rng.random() < p[n]):
                        continue
                    snapshot, j = theta, 0
                    for _ in range(SNAPSHOTS):
                        full = 2 * q[n].T @ (q[n] @ snapshot - y[n]) / samples
                        w = snapshot
                        for m in range(INNER):
                            i = draws.picks[k, max(j - 1, 0), n, r] if draws else rng.integers(samples)
                            j += m < INNER - 1
                            w = w - STEP * (2 * q[n, i] * (q[n, i] @ (w - snapshot)) + full)
                        snapshot = w
                    move += (snapshot - theta) / p[n]
                theta = theta + move / clients
                gradient = problem.mean_hessian @ theta - problem.mean_linear
                result[r, k + 1] = (theta @ gradient - theta @ problem.mean_linear) / 2 + problem.mean_offset
                result[r, k + 1] -= problem.optimal_value
                float(gradient @ gradient)
        return result

    return advance


def numpy_batch(problem: Quadratic, p: Array) -> Peer:
    """All runs at once, (N, R, d), by the clients' matrices: competent NumPy."""
    q, _ = _samples(problem)
    clients, samples, dim = q.shape
    hessian, linear = problem.client_hessian, problem.client_linear[:, None, :]
    row = np.arange(clients)[:, None]

    def advance(runs: int, rounds: int, draws: Draws | None = None) -> Array:
        rng = np.random.default_rng(1)
        theta = np.full((runs, dim), START)
        result, norms = np.empty((runs, rounds + 1)), np.empty((runs, rounds + 1))

        def record(k: int) -> None:
            gap = theta - problem.minimiser
            gradient = gap @ problem.mean_hessian
            result[:, k] = (gap * gradient).sum(1) / 2
            norms[:, k] = (gradient**2).sum(1)

        record(0)
        for k in range(rounds):
            present = draws.present[k] if draws else rng.random((clients, runs)) < p[:, None]
            weight = present / (clients * p[:, None])
            snapshot, j = np.broadcast_to(theta, (clients, runs, dim)), 0
            for _ in range(SNAPSHOTS):
                full = snapshot @ hessian - linear
                move = -STEP * full
                for _ in range(INNER - 1):
                    picked = q[row, draws.picks[k, j] if draws else rng.integers(samples, size=(clients, runs))]
                    move = move - STEP * (2 * picked * (picked * move).sum(-1, keepdims=True) + full)
                    j += 1
                snapshot = snapshot + move
            theta = theta + (weight[:, :, None] * (snapshot - theta)).sum(0)
            record(k + 1)
        return result

    return advance


def jax_batch(problem: Quadratic, p: Array) -> Peer:
    """One client's steps, mapped over clients and runs by vmap, over rounds by scan; compiled; on all cores."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    q = jnp.asarray(_samples(problem)[0])
    clients, samples, dim = q.shape
    hessian, linear, weight = (jnp.asarray(a) for a in (problem.client_hessian, problem.client_linear, 1 / clients / p))
    bend, minimiser = jnp.asarray(problem.mean_hessian), jnp.asarray(problem.minimiser)
    count = SNAPSHOTS * (INNER - 1)

    def client(theta: Any, rows: Any, h: Any, b: Any, picks: Any) -> Any:
        snapshot, j = theta, 0
        for _ in range(SNAPSHOTS):
            first = move = -STEP * (h @ snapshot - b)
            for _ in range(INNER - 1):
                x = rows[picks[j]]
                move, j = move + first - 2 * STEP * x * (x @ move), j + 1
            snapshot = snapshot + move
        return snapshot - theta

    def measured(theta: Any) -> Any:
        gap = theta - minimiser
        gradient = bend @ gap
        return gap @ gradient / 2, gradient @ gradient

    def one_round(theta: Any, present: Any, picks: Any) -> Any:
        moves = jax.vmap(client, (None, 0, 0, 0, 1))(theta, q, hessian, linear, picks)
        theta = theta + (present * weight) @ moves
        return theta, measured(theta)

    def given(theta: Any, drawn: Any) -> Any:
        return one_round(theta, *drawn)

    def drawing(theta: Any, key: Any) -> Any:
        tosses, choices = jax.random.split(key)
        present = jax.random.uniform(tosses, (clients,)) < jnp.asarray(p)
        return one_round(theta, present, jax.random.randint(choices, (count, clients), 0, samples))

    def one_run(body: Any, drawn: Any) -> Any:
        start = jnp.full(dim, START)
        _, path = jax.lax.scan(body, start, drawn)
        return tuple(jnp.concatenate([first[None], rest]) for first, rest in zip(measured(start), path, strict=True))

    by_draws = jax.jit(jax.vmap(partial(one_run, given), in_axes=2))

    def by_key(key: Any, runs: int, rounds: int) -> Any:
        return jax.vmap(lambda k: one_run(drawing, jax.random.split(k, rounds)))(jax.random.split(key, runs))

    compiled = jax.jit(by_key, static_argnums=(1, 2))

    def advance(runs: int, rounds: int, draws: Draws | None = None) -> Array:
        if draws is None:
            return np.asarray(jax.block_until_ready(compiled(jax.random.key(1), runs, rounds))[0])
        arrays = jnp.asarray(draws.present), jnp.moveaxis(jnp.asarray(draws.picks), 3, 2)
        return np.asarray(by_draws(arrays)[0])

    return advance


def numba_loop(problem: Quadratic, p: Array, threads: int = 1) -> Peer:
    """One run after another on each thread, in loops over scalars, compiled; numba's own generator."""
    import numba

    q, _ = _samples(problem)
    clients, samples, dim = q.shape

    @numba.njit(parallel=True, cache=False)
    def advance_runs(
        q: Array, hessian: Array, linear: Array, bend: Array, minimiser: Array, p: Array, rounds: int,
        given: bool, present: Array, picks: Array, result: Array, norms: Array,
    ) -> None:  # fmt: skip
        for r in numba.prange(len(result)):
            theta, total = np.full(dim, START), np.empty(dim)
            w, first, move = np.empty(dim), np.empty(dim), np.empty(dim)
            for k in range(rounds + 1):
                value = norm = 0.0
                for i in range(dim):
                    gradient = 0.0
                    for j in range(dim):
                        gradient += bend[i, j] * (theta[j] - minimiser[j])
                    value += gradient * (theta[i] - minimiser[i]) / 2
                    norm += gradient * gradient
                result[r, k], norms[r, k] = value, norm
                if k == rounds:
                    break
                total[:] = 0.0
                for n in range(clients):
                    if not (present[k, n, r] if given else np.random.random() < p[n]):  # noqa: NPY002
                        continue
                    w[:] = theta
                    for s in range(SNAPSHOTS):
                        for i in range(dim):
                            value = linear[n, i]
                            for j in range(dim):
                                value -= hessian[n, i, j] * w[j]
                            first[i] = move[i] = STEP * value
                        for m in range(INNER - 1):
                            pick = picks[k, s * (INNER - 1) + m, n, r] if given else np.random.randint(samples)  # noqa: NPY002
                            x = q[n, pick]
                            value = 0.0
                            for i in range(dim):
                                value += x[i] * move[i]
                            for i in range(dim):
                                move[i] += first[i] - 2 * STEP * value * x[i]
                        for i in range(dim):
                            w[i] += move[i]
                    for i in range(dim):
                        total[i] += (w[i] - theta[i]) / (clients * p[n])
                for i in range(dim):
                    theta[i] += total[i]

    nothing = np.empty((0, 0, 0), bool), np.empty((0, 0, 0, 0), np.int64)

    def advance(runs: int, rounds: int, draws: Draws | None = None) -> Array:
        given = nothing if draws is None else tuple(np.ascontiguousarray(a) for a in (draws.present, draws.picks))
        result, norms = np.empty((2, runs, rounds + 1))
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, before))
        try:
            advance_runs(
                q, problem.client_hessian, problem.client_linear, problem.mean_hessian, problem.minimiser, p, rounds,
                draws is not None, *given, result, norms,
            )  # fmt: skip
        finally:
            numba.set_num_threads(before)
        return result

    return advance


def torch_compiled(problem: Quadratic, p: Array, threads: int = 1) -> Peer:
    """A round, (N, d, R), runs last, drawn by torch's generator, as one graph of torch.compile.

    (With the coordinates unrolled as well, the graph takes minutes to compile.)
    """
    import torch

    from sim.running import torch_threads

    features = _samples(problem)[0]
    clients, samples, dim = features.shape
    h, b, bend, minimiser = (
        torch.tensor(np.ascontiguousarray(a))
        for a in (problem.client_hessian, problem.client_linear, problem.mean_hessian, problem.minimiser)
    )
    odds, rows = torch.tensor(p)[:, None], torch.tensor(features.transpose(0, 2, 1).copy())  # (N, d, n)
    count = SNAPSHOTS * (INNER - 1)

    def one_round(theta: Any, present: Any, picks: Any) -> Any:
        w, j = theta.expand(clients, -1, -1), 0
        for _ in range(SNAPSHOTS):
            first = move = STEP * (b[:, :, None] - (h[:, :, :, None] * w[:, None]).sum(2))
            for _ in range(INNER - 1):
                x = torch.gather(rows, 2, picks[j][:, None].expand(-1, dim, -1))
                move, j = move + first - 2 * STEP * x * (x * move).sum(1, keepdim=True), j + 1
            w = w + move
        theta = theta + ((present / (clients * odds))[:, None] * (w - theta)).sum(0)
        return theta, *measured(theta)

    def measured(theta: Any) -> Any:
        gap = theta - minimiser[:, None]
        gradient = bend @ gap
        return (gap * gradient).sum(0) / 2, gradient.square().sum(0)

    def drawing(theta: Any) -> Any:
        runs = theta.shape[1]
        present = torch.rand(clients, runs, dtype=torch.float64) < odds
        return one_round(theta, present, torch.randint(samples, (count, clients, runs)))

    compiled = torch.compile(drawing, dynamic=False)

    def advance(runs: int, rounds: int, draws: Draws | None = None) -> Array:
        with torch_threads(threads), torch.inference_mode():
            theta = torch.full((dim, runs), START, dtype=torch.float64)
            result, norms = torch.empty((2, rounds + 1, runs), dtype=torch.float64)
            result[0], norms[0] = measured(theta)
            for k in range(rounds):
                if draws is None:
                    theta, result[k + 1], norms[k + 1] = compiled(theta)
                else:
                    drawn = torch.from_numpy(draws.present[k]), torch.from_numpy(draws.picks[k])
                    theta, result[k + 1], norms[k + 1] = one_round(theta, *drawn)
            return result.T.numpy()

    return advance


def _samples(problem: Quadratic) -> tuple[Array, Array]:
    """Features (N, n, d) and targets (N, n)."""
    assert problem.features is not None
    assert problem.targets is not None
    return np.ascontiguousarray(problem.features, np.float64), np.asarray(problem.targets, np.float64)
