"""The C++ kernel of open systems: when it is chosen, and what it refuses. What it computes: `test_open_kernels.py`."""

from __future__ import annotations

import numpy as np
import pytest

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.kernels import open_native, open_numba
from sim.kernels.open_native import NativeWorker
from sim.kernels.open_task import OpenTask
from sim.native import build
from sim.open_engine import run_open
from sim.population import OpenPopulation
from sim.problems import RidgeSoftmax
from tests.sim.open_cases import ALGORITHMS, logistic, task

needs_compiler = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")


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
