"""The compiled kernel of open systems, against a plain loop, the torch back end, and itself in other batches."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sim.algorithms.open import LocalAdam, LocalSGD, OpenAlgorithm
from sim.kernels import logistic_steps, open_numba
from sim.kernels.open_numba import NumbaWorker
from sim.kernels.open_task import OpenTask
from sim.population import OpenPopulation
from sim.problems import Quadratic, RidgeLogistic, RidgeSoftmax
from sim.streams import SAMPLING, Streams, seed_key

needs_numba = pytest.mark.skipif(not open_numba.installed(), reason="numba is not installed (extra: fast)")

Array = np.ndarray[Any, Any]

ALGORITHMS: dict[str, OpenAlgorithm] = {
    "sgd": LocalSGD(0.1, 3, 5),
    "sgd, one sample": LocalSGD([0.1 / (k + 1) for k in range(40)], 2, 1),
    "sgd, minibatches of more than a block": LocalSGD(0.1, 2, 37),
    "sgd, full batch": LocalSGD(0.1, 3),
    "adam": LocalAdam(0.02, 3, 6),
    "adam, full batch": LocalAdam(0.02, 2, beta1=0.5, beta2=0.9, eps=1e-3),
    "adam, reset": LocalAdam(0.02, 3, 6, reset=True),
}


def logistic(clients: int, samples: int, dim: int, scale: float = 1.0, ridge: float = 0.05) -> RidgeLogistic:
    rng = np.random.default_rng(clients + 10 * samples + 100 * dim)
    labels = 2.0 * rng.integers(0, 2, (clients, samples)) - 1
    x = scale * (rng.standard_normal((clients, samples, dim)) + 0.5 * labels[:, :, None])
    return RidgeLogistic(x, labels, ridge)


def task(
    problem: RidgeLogistic,
    algorithm: OpenAlgorithm,
    *,
    rounds: int = 12,
    runs: int = 5,
    first_run: int = 0,
    seed: int = 2**40 + 7,
    **population: Any,
) -> OpenTask:
    settings = {"pool": problem.clients, "initial": min(6, problem.clients), "leave": 0.6, "join": 0.7} | population
    schedule = OpenPopulation(**settings).presence(rounds, runs, seed, first_run)
    steps = np.broadcast_to(np.asarray(algorithm.step, dtype=float), rounds) if np.ndim(algorithm.step) == 0 else None
    steps = np.array(algorithm.step[:rounds] if steps is None else steps, dtype=float)
    return OpenTask(problem, algorithm, steps, schedule, np.linspace(-0.3, 0.3, problem.dim), seed, first_run)


def plain(job: OpenTask) -> Array:
    """(K, R, d): one run, round, client and step after another."""
    problem, algorithm, schedule = job.problem, job.algorithm, job.schedule
    path = np.empty((schedule.rounds, schedule.runs, problem.dim))
    for r in range(schedule.runs):
        theta, states = job.start, {}
        streams = Streams(job.seed, np.array([job.first_run + r]))
        for k in range(schedule.rounds):
            models = []
            for client, uploads in zip(schedule.clients[k, r], schedule.uploads[k, r], strict=True):
                if client < 0:
                    continue
                w = theta
                fresh = np.zeros(problem.dim), np.zeros(problem.dim)
                h, vhat = fresh if getattr(algorithm, "reset", False) else states.get(client, fresh)
                words = streams.words(SAMPLING, np.array([client]), range(k, k + 1), algorithm.draws)[0, :, 0, 0]
                drawn = (words.numpy() * problem.samples) >> 32
                for m in range(algorithm.local_steps):
                    batch = algorithm.batch
                    picked = np.arange(problem.samples) if batch is None else drawn[m * batch : (m + 1) * batch]
                    x, y = problem.features[client, picked], problem.labels[client, picked]
                    g = problem.ridge * w - x.T @ (y / (1 + np.exp(y * (x @ w)))) / len(y)
                    if isinstance(algorithm, LocalSGD):
                        w = w - job.steps[k] * g
                    else:
                        h = algorithm.beta1 * h + (1 - algorithm.beta1) * g
                        vhat = np.maximum(vhat, algorithm.beta2 * vhat + (1 - algorithm.beta2) * g**2)
                        w = w - job.steps[k] * h / np.sqrt(algorithm.eps + vhat)
                states[client] = h, vhat
                if uploads:
                    models.append(w)
            theta = np.mean(models, axis=0) if models else theta
            path[k, r] = theta
    return path


def advanced(job: OpenTask, threads: int = 1, cuts: tuple[int, ...] = ()) -> Array:
    """(K, R, d) by the kernel, in calls that end at these rounds."""
    worker, ends = NumbaWorker(job, threads), (0, *cuts, job.schedule.rounds)
    return np.concatenate([worker.advance(range(i, j)) for i, j in pairwise(ends)])


def close(found: Array, expected: Array, tolerance: float = 1e-12) -> None:
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected)) <= tolerance * np.max(np.abs(expected))


@needs_numba
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("select", [None, 2])
def test_a_plain_loop_gives_the_same_path(name: str, select: int | None) -> None:
    job = task(logistic(30, 21, 13), ALGORITHMS[name], select=select)
    close(advanced(job), plain(job))


@needs_numba
@pytest.mark.parametrize(("samples", "dim"), [(1, 1), (2, 3), (16, 1), (33, 8), (100, 100)])
def test_any_size_of_data(samples: int, dim: int) -> None:
    for algorithm in (LocalSGD(0.05, 2, 3), LocalAdam(0.05, 2)):
        job = task(logistic(9, samples, dim), algorithm, rounds=6, runs=2, first_run=2**32 - 2)
        close(advanced(job), plain(job))


@needs_numba
def test_nobody_present_keeps_the_model() -> None:
    job = task(logistic(4, 5, 3), LocalSGD(0.1, 1, 2), initial=2, leave=1, join=0.2, last="leaves", rounds=20)
    present = job.schedule.present.T > 0
    assert not present.all()
    path = advanced(job)
    close(path, plain(job))
    losses = NumbaWorker(job, 1).global_loss(range(1, 21), path)
    assert np.array_equal(np.isnan(losses), ~present[1:])


@needs_numba
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_is_the_same_to_the_last_bit_in_any_batch(name: str) -> None:
    problem, algorithm = logistic(40, 21, 13), ALGORITHMS[name]
    whole = task(problem, algorithm, runs=19)
    path = advanced(whole)
    losses = NumbaWorker(whole, 1).global_loss(range(1, 13), path)
    for threads in (2, 3, 8):
        assert np.array_equal(advanced(whole, threads), path)
        assert np.array_equal(NumbaWorker(whole, threads).global_loss(range(1, 13), path), losses)
    assert np.array_equal(advanced(whole, 2, cuts=(1, 4, 9)), path)
    for first in (0, 7, 18):
        part = task(problem, algorithm, runs=1, first_run=first)
        assert np.array_equal(advanced(part)[:, 0], path[:, first])
    worker = NumbaWorker(whole, 1)  # rounds are taken four at a time: other fours, the same bits
    for i, j in ((0, 1), (1, 3), (3, 12)):
        assert np.array_equal(worker.global_loss(range(i + 1, j + 1), path[i:j]), losses[i:j])


@needs_numba
def test_native_calls_may_be_short(monkeypatch: pytest.MonkeyPatch) -> None:
    job = task(logistic(40, 21, 13), ALGORITHMS["adam"], runs=19)
    path = advanced(job)
    losses = NumbaWorker(job, 1).global_loss(range(1, 13), path)
    monkeypatch.setattr(open_numba, "_CALL", 1)
    assert np.array_equal(advanced(job), path)
    assert np.array_equal(NumbaWorker(job, 2).global_loss(range(1, 13), path), losses)


@needs_numba
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3, 1e200])
def test_the_global_loss(scale: float) -> None:
    problem = logistic(30, 21, 7)
    job = task(problem, LocalSGD(0.1, 1))
    models = scale * np.random.default_rng(3).standard_normal((13, 5, 7))
    found = NumbaWorker(job, 1).global_loss(range(13), models)
    with np.errstate(over="ignore"):  # the squared norm, at the last scale, on both sides
        for k in range(13):
            for r in range(5):
                present = job.schedule.clients[k, r]
                expected = np.mean(problem.loss(models[k, r])[present[present >= 0]])
                assert found[k, r] == pytest.approx(expected, rel=1e-13)


@needs_numba
def test_the_global_loss_of_many_samples_and_of_tiny_losses() -> None:
    """10,000 samples are more factors than a double holds; losses far below the rounding of 1 keep their digits."""
    wide = logistic(2, 10_001, 1)
    job = task(wide, LocalSGD(0.1, 1), rounds=1, runs=1, initial=2)
    zero = NumbaWorker(job, 1).global_loss(range(1), np.zeros((1, 1, 1)))
    assert zero[0, 0] == pytest.approx(math.log(2), rel=1e-13)
    certain = RidgeLogistic(np.ones((1, 50, 1)), np.ones((1, 50)), 1e-300)
    job = task(certain, LocalSGD(0.1, 1), rounds=1, runs=1)
    for w in (50.0, 300.0, 700.0):
        found = NumbaWorker(job, 1).global_loss(range(1), np.full((1, 1, 1), w))[0, 0]
        assert found == pytest.approx(math.exp(-w), rel=1e-12)


@needs_numba
def test_what_diverges_stays_not_finite() -> None:
    job = task(logistic(5, 6, 4, ridge=3.0), LocalSGD(1e200, 2), rounds=4)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(np.isfinite(advanced(job)), np.isfinite(plain(job)))
    models = np.full((1, 5, 4), np.nan)
    assert np.isnan(NumbaWorker(job, 1).global_loss(range(1), models)).all()


@needs_numba
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_torch_back_end_agrees(name: str) -> None:
    from sim.open_engine import run_open

    problem, algorithm = logistic(30, 21, 13), ALGORITHMS[name]
    population = OpenPopulation(30, 6, leave=0.6, join=0.7, select=4)
    traces = [
        run_open(algorithm, problem, population, rounds=15, runs=6, seed=5, first_run=3, backend=backend)
        for backend in ("numba", "torch")
    ]
    for metric in traces[0].metrics:
        close(traces[0][metric], traces[1][metric])
    close(traces[0].final, traces[1].final)


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(1, 2**31 - 1),
    st.integers(1, 40),
)
@settings(max_examples=40, deadline=None)
def test_the_samples_are_those_of_the_streams(
    seed: int, run: int, client: int, round: int, samples: int, draws: int
) -> None:
    rows = np.empty(-(-draws // 4) * 4, dtype=np.int64)
    words = [np.uint64(value) for value in (run, client, round, *seed_key(seed), samples)]
    logistic_steps.draw(*words[:3], tuple(words[3:5]), words[5], rows)
    drawn = Streams(seed, np.array([run])).words(SAMPLING, np.array([client]), range(round, round + 1), draws)
    assert np.array_equal(rows[:draws], (drawn[0, :, 0, 0].numpy() * samples) >> 32)


@given(st.floats(-800, 0))
@example(0.0)
@example(-708.0)
@example(-0.5 * math.log(2))
@example(-math.inf)
def test_the_exponential(x: float) -> None:
    found, expected = logistic_steps.exponential(x), math.exp(max(x, -708.0))
    assert abs(found - expected) <= 2 * math.ulp(expected)
    assert math.isnan(logistic_steps.exponential(math.nan))


def test_what_it_does_not_know_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, algorithm = logistic(6, 5, 3), LocalSGD(0.1, 1)
    assert open_numba.supports(problem, algorithm)
    assert open_numba.supports(problem, LocalAdam(0.1, 1))
    softmax = RidgeSoftmax(problem.features, np.zeros((6, 5), dtype=np.int64), 2, 0.1)
    for other in (softmax, Quadratic.__new__(Quadratic)):
        assert not open_numba.supports(other, algorithm)
    assert not open_numba.supports(problem, object())
    job = task(problem, algorithm)
    wrong = OpenTask(softmax, algorithm, job.steps, job.schedule, np.zeros(6), 0, 0)
    with pytest.raises(ValueError, match="does not know"):
        NumbaWorker(wrong, 1)
    monkeypatch.setattr(open_numba, "installed", lambda: False)
    with pytest.raises(ImportError, match="fedproof"):
        NumbaWorker(job, 1)


def test_importing_the_back_end_does_not_import_numba() -> None:
    code = "import sys, sim.kernels.open_numba; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])
