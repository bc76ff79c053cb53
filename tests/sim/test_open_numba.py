"""The numba kernel of open systems: its draws, its exponential, what it refuses. Its runs: `test_open_kernels.py`."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.kernels import logistic_steps, open_numba
from sim.kernels.open_numba import NumbaWorker
from sim.kernels.open_task import OpenTask
from sim.problems import Quadratic, RidgeSoftmax
from sim.streams import SAMPLING, Streams, seed_key
from tests.sim.open_cases import logistic, task


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
