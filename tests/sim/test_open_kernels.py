"""The compiled kernels of open systems, C++ and numba, against a plain loop, and themselves in other batches."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.kernels import open_native, open_numba
from sim.kernels.open_native import NativeWorker
from sim.kernels.open_numba import NumbaWorker
from sim.kernels.open_task import OpenTask
from sim.native import build
from sim.open_engine import run_open
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic
from tests.sim.open_cases import ALGORITHMS, Array, close, logistic, plain, task

Worker: TypeAlias = type[NativeWorker] | type[NumbaWorker]

needs_compiler = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")
needs_numba = pytest.mark.skipif(not open_numba.installed(), reason="numba is not installed (extra: fast)")


every_kernel = pytest.mark.parametrize(
    "worker",
    [
        pytest.param(NativeWorker, marks=needs_compiler, id="native"),
        pytest.param(NumbaWorker, marks=needs_numba, id="numba"),
    ],
)


def advanced(worker: Worker, job: OpenTask, threads: int = 1, cuts: tuple[int, ...] = ()) -> Array:
    """(K, R, d) by the kernel, in calls that end at these rounds."""
    one, ends = worker(job, threads), (0, *cuts, job.schedule.rounds)
    return np.concatenate([one.advance(range(i, j)) for i, j in pairwise(ends)])


@every_kernel
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("select", [None, 2])
def test_a_plain_loop_gives_the_same_path(worker: Worker, name: str, select: int | None) -> None:
    job = task(logistic(30, 21, 13), ALGORITHMS[name], select=select)
    close(advanced(worker, job), plain(job))


@every_kernel
@pytest.mark.parametrize("samples", [1, 2, 7, 8, 9, 16, 17, 33, 100])
@pytest.mark.parametrize("dim", [1, 3, 7, 8, 9, 16, 100])
def test_any_size_of_data(worker: Worker, samples: int, dim: int) -> None:
    for algorithm in (LocalSGD(0.05, 2, 3), LocalAdam(0.05, 2)):
        job = task(logistic(9, samples, dim), algorithm, rounds=4, runs=2, first_run=2**32 - 2)
        path = advanced(worker, job)
        close(path, plain(job))
        expected = [[np.mean(job.problem.loss(path[k, r])[present[present >= 0]])
                     for r, present in enumerate(job.schedule.clients[k + 1])] for k in range(4)]  # fmt: skip
        np.testing.assert_allclose(worker(job, 1).global_loss(range(1, 5), path), expected, rtol=1e-12)


@every_kernel
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 3))
@settings(max_examples=25, deadline=None)
def test_any_minibatch_and_number_of_steps(worker: Worker, batch: int, steps: int, seed: int, first_run: int) -> None:
    job = task(logistic(9, 12, 10), LocalSGD(0.05, steps, batch), rounds=3, runs=2, first_run=first_run, seed=seed)
    close(advanced(worker, job), plain(job))


@every_kernel
def test_nobody_present_keeps_the_model(worker: Worker) -> None:
    """One slot, too: the rows of who comes take the place of those of who leaves."""
    job = task(logistic(4, 5, 3), LocalSGD(0.1, 1, 2), initial=2, leave=1, join=0.2, last="leaves", rounds=20)
    present = job.schedule.present.T > 0
    assert not present.all()
    path = advanced(worker, job)
    close(path, plain(job))
    losses = worker(job, 1).global_loss(range(1, 21), path)
    assert np.array_equal(np.isnan(losses), ~present[1:])
    for algorithm in (LocalSGD(0.1, 2, 2), LocalSGD(0.1, 2), LocalAdam(0.1, 2, 2)):
        job = task(logistic(30, 5, 3), algorithm, initial=1, leave=0.5, join=0.5, last="leaves", rounds=30)
        close(advanced(worker, job), plain(job))


@every_kernel
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_is_the_same_to_the_last_bit_in_any_batch(worker: Worker, name: str) -> None:
    problem, algorithm = logistic(40, 21, 13), ALGORITHMS[name]
    whole = task(problem, algorithm, runs=19)
    path = advanced(worker, whole)
    losses = worker(whole, 1).global_loss(range(1, 13), path)
    for threads in (2, 3, 8):
        assert np.array_equal(advanced(worker, whole, threads), path)
        assert np.array_equal(worker(whole, threads).global_loss(range(1, 13), path), losses)
    assert np.array_equal(advanced(worker, whole, 2, cuts=(1, 4, 9)), path)
    for first in (0, 7, 18):
        part = task(problem, algorithm, runs=1, first_run=first)
        assert np.array_equal(advanced(worker, part)[:, 0], path[:, first])
        one = worker(part, 1).global_loss(range(1, 13), path[:, first : first + 1])
        assert np.array_equal(one[:, 0], losses[:, first])
    other = worker(whole, 1)  # losses are taken several at a time: with others, the same bits
    for i, j in ((0, 1), (1, 3), (3, 12)):
        assert np.array_equal(other.global_loss(range(i + 1, j + 1), path[i:j]), losses[i:j])


@every_kernel
def test_calls_may_be_short(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = task(logistic(40, 21, 13), ALGORITHMS["adam"], runs=19)
    path = advanced(worker, whole)
    losses = worker(whole, 1).global_loss(range(1, 13), path)
    if worker is NativeWorker:
        monkeypatch.setattr(open_native, "_LOSSES", 100)  # a few rounds
        assert np.array_equal(worker(whole, 1).global_loss(range(1, 13), path), losses)
    monkeypatch.setattr(f"{worker.__module__}._CALL", 1)  # one round
    assert np.array_equal(advanced(worker, whole), path)
    assert np.array_equal(worker(whole, 2).global_loss(range(1, 13), path), losses)


@every_kernel
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3, 1e200])
def test_the_global_loss(worker: Worker, scale: float) -> None:
    problem = logistic(30, 21, 7)
    job = task(problem, LocalSGD(0.1, 1))
    models = scale * np.random.default_rng(3).standard_normal((13, 5, 7))
    found = worker(job, 1).global_loss(range(13), models)
    with np.errstate(over="ignore"):  # the squared norm, at the last scale, on both sides
        for k in range(13):
            for r in range(5):
                present = job.schedule.clients[k, r]
                expected = np.mean(problem.loss(models[k, r])[present[present >= 0]])
                assert found[k, r] == pytest.approx(expected, rel=1e-13)


@every_kernel
def test_the_global_loss_of_many_samples_and_of_tiny_losses(worker: Worker) -> None:
    """10,001 samples are more factors than a double holds; losses far below the rounding of 1 keep their digits."""
    wide = logistic(2, 10_001, 1)
    job = task(wide, LocalSGD(0.1, 1), rounds=1, runs=1, initial=2)
    zero = worker(job, 1).global_loss(range(1), np.zeros((1, 1, 1)))
    assert zero[0, 0] == pytest.approx(math.log(2), rel=1e-13)
    certain = RidgeLogistic(np.ones((1, 50, 1)), np.ones((1, 50)), 1e-300)
    job = task(certain, LocalSGD(0.1, 1), rounds=1, runs=1)
    for w in (50.0, 300.0, 700.0):
        found = worker(job, 1).global_loss(range(1), np.full((1, 1, 1), w))[0, 0]
        assert found == pytest.approx(math.exp(-w), rel=1e-12)


@every_kernel
def test_what_diverges_stays_not_finite(worker: Worker) -> None:
    job = task(logistic(5, 6, 4, ridge=3.0), LocalSGD(1e200, 2), rounds=4)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(np.isfinite(advanced(worker, job)), np.isfinite(plain(job)))
    models = np.full((1, 5, 4), np.nan)
    assert np.isnan(worker(job, 1).global_loss(range(1), models)).all()


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize(
    "backend", [pytest.param("native", marks=needs_compiler), pytest.param("numba", marks=needs_numba)]
)
def test_the_torch_back_end_agrees(backend: str, name: str) -> None:
    problem, algorithm = logistic(30, 21, 13), ALGORITHMS[name]
    population, told = OpenPopulation(30, 6, leave=0.6, join=0.7, select=4), []
    common = {"rounds": 15, "runs": 6, "seed": 5, "first_run": 3, "chunk": 4}
    one = run_open(algorithm, problem, population, backend=backend, **common, progress=lambda *d: told.append(d))
    two = run_open(algorithm, problem, population, backend="torch", **common)
    for metric in one.metrics:
        close(one[metric], two[metric])
    close(one.final, two.final)
    assert told[-1] == (90, 90)
