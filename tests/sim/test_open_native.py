"""The C++ kernel of open systems, against a plain loop, the other back ends, and itself in other batches."""

from __future__ import annotations

import importlib.util
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.kernels import open_native, open_numba
from sim.kernels.open_native import NativeWorker
from sim.kernels.open_task import OpenTask
from sim.native import build
from sim.open_engine import run_open
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic, RidgeSoftmax

spec = importlib.util.spec_from_file_location("open_numba_cases", Path(__file__).with_name("test_open_numba.py"))
assert spec is not None
assert spec.loader is not None
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
ALGORITHMS, close, logistic, plain, task = cases.ALGORITHMS, cases.close, cases.logistic, cases.plain, cases.task

needs_compiler = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")

Array = np.ndarray[Any, Any]


def advanced(job: OpenTask, threads: int = 1, cuts: tuple[int, ...] = ()) -> Array:
    """(K, R, d) by the kernel, in calls that end at these rounds."""
    worker, ends = NativeWorker(job, threads), (0, *cuts, job.schedule.rounds)
    return np.concatenate([worker.advance(range(i, j)) for i, j in pairwise(ends)])


@needs_compiler
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("select", [None, 2])
def test_a_plain_loop_gives_the_same_path(name: str, select: int | None) -> None:
    job = task(logistic(30, 21, 13), ALGORITHMS[name], select=select)
    close(advanced(job), plain(job))


@needs_compiler
@pytest.mark.parametrize("samples", [1, 2, 7, 8, 9, 16, 17, 33, 100])
@pytest.mark.parametrize("dim", [1, 3, 7, 8, 9, 16, 100])
def test_any_size_of_data(samples: int, dim: int) -> None:
    for algorithm in (LocalSGD(0.05, 2, 3), LocalAdam(0.05, 2)):
        job = task(logistic(9, samples, dim), algorithm, rounds=4, runs=2, first_run=2**32 - 2)
        path = advanced(job)
        close(path, plain(job))
        expected = [[np.mean(job.problem.loss(path[k, r])[present[present >= 0]])
                     for r, present in enumerate(job.schedule.clients[k + 1])] for k in range(4)]  # fmt: skip
        np.testing.assert_allclose(NativeWorker(job, 1).global_loss(range(1, 5), path), expected, rtol=1e-12)


@needs_compiler
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 3))
@settings(max_examples=25, deadline=None)
def test_any_minibatch_and_number_of_steps(batch: int, steps: int, seed: int, first_run: int) -> None:
    job = task(logistic(9, 12, 10), LocalSGD(0.05, steps, batch), rounds=3, runs=2, first_run=first_run, seed=seed)
    close(advanced(job), plain(job))


@needs_compiler
def test_nobody_present_keeps_the_model() -> None:
    """One slot, too: the rows of who comes take the place of those of who leaves."""
    job = task(logistic(4, 5, 3), LocalSGD(0.1, 1, 2), initial=2, leave=1, join=0.2, last="leaves", rounds=20)
    present = job.schedule.present.T > 0
    assert not present.all()
    path = advanced(job)
    close(path, plain(job))
    losses = NativeWorker(job, 1).global_loss(range(1, 21), path)
    assert np.array_equal(np.isnan(losses), ~present[1:])
    for algorithm in (LocalSGD(0.1, 2, 2), LocalSGD(0.1, 2), LocalAdam(0.1, 2, 2)):
        job = task(logistic(30, 5, 3), algorithm, initial=1, leave=0.5, join=0.5, last="leaves", rounds=30)
        close(advanced(job), plain(job))


@needs_compiler
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_is_the_same_to_the_last_bit_in_any_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, algorithm = logistic(40, 21, 13), ALGORITHMS[name]
    whole = task(problem, algorithm, runs=19)
    path = advanced(whole)
    losses = NativeWorker(whole, 1).global_loss(range(1, 13), path)
    for threads in (2, 3, 8):
        assert np.array_equal(advanced(whole, threads), path)
        assert np.array_equal(NativeWorker(whole, threads).global_loss(range(1, 13), path), losses)
    assert np.array_equal(advanced(whole, 2, cuts=(1, 4, 9)), path)
    for first in (0, 7, 18):
        part = task(problem, algorithm, runs=1, first_run=first)
        assert np.array_equal(advanced(part)[:, 0], path[:, first])
        one = NativeWorker(part, 1).global_loss(range(1, 13), path[:, first : first + 1])
        assert np.array_equal(one[:, 0], losses[:, first])
    worker = NativeWorker(whole, 1)  # a client's losses are taken several at a time: with others, the same bits
    for i, j in ((0, 1), (1, 3), (3, 12)):
        assert np.array_equal(worker.global_loss(range(i + 1, j + 1), path[i:j]), losses[i:j])
    monkeypatch.setattr(open_native, "_LOSSES", 100)  # calls of a few rounds
    assert np.array_equal(NativeWorker(whole, 1).global_loss(range(1, 13), path), losses)
    monkeypatch.setattr(open_native, "_CALL", 1)  # calls of one round
    assert np.array_equal(advanced(whole), path)
    assert np.array_equal(NativeWorker(whole, 2).global_loss(range(1, 13), path), losses)


@needs_compiler
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3, 1e200])
def test_the_global_loss(scale: float) -> None:
    problem = logistic(30, 21, 7)
    job = task(problem, LocalSGD(0.1, 1))
    models = scale * np.random.default_rng(3).standard_normal((13, 5, 7))
    found = NativeWorker(job, 1).global_loss(range(13), models)
    with np.errstate(over="ignore"):  # the squared norm, at the last scale, on both sides
        for k in range(13):
            for r in range(5):
                present = job.schedule.clients[k, r]
                expected = np.mean(problem.loss(models[k, r])[present[present >= 0]])
                assert found[k, r] == pytest.approx(expected, rel=1e-13)


@needs_compiler
def test_the_global_loss_of_many_samples_and_of_tiny_losses() -> None:
    """10,001 samples are more factors than a double holds; losses far below the rounding of 1 keep their digits."""
    wide = logistic(2, 10_001, 1)
    job = task(wide, LocalSGD(0.1, 1), rounds=1, runs=1, initial=2)
    zero = NativeWorker(job, 1).global_loss(range(1), np.zeros((1, 1, 1)))
    assert zero[0, 0] == pytest.approx(math.log(2), rel=1e-13)
    certain = RidgeLogistic(np.ones((1, 50, 1)), np.ones((1, 50)), 1e-300)
    job = task(certain, LocalSGD(0.1, 1), rounds=1, runs=1)
    for w in (50.0, 300.0, 700.0):
        found = NativeWorker(job, 1).global_loss(range(1), np.full((1, 1, 1), w))[0, 0]
        assert found == pytest.approx(math.exp(-w), rel=1e-12)


@needs_compiler
def test_what_diverges_stays_not_finite() -> None:
    job = task(logistic(5, 6, 4, ridge=3.0), LocalSGD(1e200, 2), rounds=4)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(np.isfinite(advanced(job)), np.isfinite(plain(job)))
    models = np.full((1, 5, 4), np.nan)
    assert np.isnan(NativeWorker(job, 1).global_loss(range(1), models)).all()


@needs_compiler
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("other", ["torch", *(["numba"] if open_numba.installed() else [])])
def test_the_other_back_ends_agree(name: str, other: str) -> None:
    problem, algorithm = logistic(30, 21, 13), ALGORITHMS[name]
    population, told = OpenPopulation(30, 6, leave=0.6, join=0.7, select=4), []
    common = {"rounds": 15, "runs": 6, "seed": 5, "first_run": 3, "chunk": 4}
    one = run_open(algorithm, problem, population, backend="native", **common, progress=lambda *d: told.append(d))
    two = run_open(algorithm, problem, population, backend=other, **common)
    for metric in one.metrics:
        close(one[metric], two[metric])
    close(one.final, two.final)
    assert told[-1] == (90, 90)


@needs_compiler
def test_automatic_is_native_when_a_run_is_long() -> None:
    """By the work of one run: 20 rounds of six clients and 3 x 6 samples are worth compiling, two rounds are not."""
    problem, algorithm = logistic(30, 21, 13), ALGORITHMS["adam"]
    population = OpenPopulation(30, 6, leave=0.6, join=0.7)
    for rounds, expected in ((20, "native"), (2, "numba" if open_numba.installed() else "torch")):
        for runs in (1, 3):
            finals = [
                run_open(algorithm, problem, population, rounds=rounds, runs=runs, backend=backend, seed=8).final
                for backend in ("auto", expected)
            ]
            assert np.array_equal(*finals)


def test_what_it_does_not_know_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, algorithm = logistic(6, 5, 3), LocalSGD(0.1, 1)
    assert open_native.supports(problem, LocalAdam(0.1, 1))
    assert not open_native.supports(problem, object())
    softmax = RidgeSoftmax(problem.features, np.zeros((6, 5), dtype=np.int64), 2, 0.1)
    job = task(problem, algorithm)
    with pytest.raises(ValueError, match="does not know"):
        NativeWorker(OpenTask(softmax, algorithm, job.steps, job.schedule, np.zeros(6), 0, 0), 1)
    population = OpenPopulation(6, 3, 0, 0)
    with pytest.raises(ValueError, match="does not know"):
        run_open(algorithm, softmax, population, rounds=1, runs=1, backend="native")

    def missing(*_: str) -> None:
        raise ImportError("no C++ compiler")

    monkeypatch.setattr(build, "library", missing)
    with pytest.raises(ImportError, match="compiler"):
        run_open(algorithm, problem, population, rounds=1, runs=1, backend="native")
    run_open(algorithm, problem, population, rounds=200, runs=1)  # the others serve
