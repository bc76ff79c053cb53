"""Algorithm objects, and what the algorithms do where it is known."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from sim.algorithms import FedAvg, FedAvgSVRG, step_at
from sim.engine import run
from sim.participation import Bernoulli
from sim.problems import from_samples, least_squares, quadratic

SVRG = {"step": 0.1, "snapshots": 2, "inner": 3}
SGD = {"step": 0.1, "local_steps": 3}


def test_frozen_and_normalised():
    algorithm = FedAvgSVRG(step=[Fraction(1, 2), 0.25], snapshots=np.int64(2), inner=1)
    assert algorithm.step == (Fraction(1, 2), 0.25)
    assert algorithm.name == "fedavg-svrg"
    assert type(algorithm.snapshots) is int
    assert hash(algorithm) == hash(FedAvgSVRG(step=(Fraction(1, 2), 0.25), snapshots=2, inner=1))
    with pytest.raises(AttributeError):
        algorithm.inner = 2
    assert FedAvg(step=np.array([0.1, 0.2]), local_steps=1).step == (0.1, 0.2)
    assert FedAvg(**SGD).name == "local-sgd"
    assert step_at(algorithm.step, 1) == 0.25
    assert step_at(0.3, 99) == 0.3


def test_import_needs_no_torch():
    code = "import sys, sim.algorithms; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", [FedAvgSVRG, FedAvg])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": -1}, r"step=-1 is outside \(0, inf\)"),
        ({"step": 0}, "step=0 "),
        ({"step": math.nan}, "step=nan"),
        ({"step": math.inf}, "step=inf"),
        ({"step": "0.1"}, "step='0.1'"),
        ({"step": True}, "step=True"),
        ({"step": None}, "step=None"),
        ({"step": ()}, r"step=\(\)"),
        ({"step": (0.1, -0.1)}, r"step\[1\]=-0.1"),
        ({"aggregation": "mean"}, "aggregation='mean'"),
        ({"empty": "skip"}, "empty='skip'"),
    ],
)
def test_bad_step_and_rules(kind, change, message):
    with pytest.raises(ValueError, match=message):
        kind(**{**(SVRG if kind is FedAvgSVRG else SGD), **change})


@pytest.mark.parametrize("value", [0, -3, 1.5, True, "2", None])
@pytest.mark.parametrize("name", ["snapshots", "inner", "local_steps"])
def test_bad_counts(name, value):
    with pytest.raises(ValueError, match=name):
        FedAvg(0.1, value) if name == "local_steps" else FedAvgSVRG(**{**SVRG, name: value})


def test_schedule_too_short():
    with pytest.raises(ValueError, match="round=2"):
        step_at((0.1, 0.2), 2)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return least_squares(list(rng.standard_normal((4, 6, 3))), list(rng.standard_normal((4, 6))))


def descend(problem, theta, step, local, rounds):
    """Full participation with `local` exact gradient steps."""
    for _ in range(rounds):
        w = np.tile(theta, (problem.clients, 1))
        for _ in range(local):
            w = w - step * (np.einsum("nij,nj->ni", problem.client_hessian, w) - problem.client_linear)
        theta = theta + (w - theta).mean(axis=0)
    return theta


def test_one_snapshot_one_step_is_gradient_descent(problem):
    trace = run(FedAvgSVRG(0.05, 1, 1), problem, rounds=20, runs=3, start=[1, -1, 2])
    assert np.allclose(trace.final, descend(problem, np.array([1.0, -1, 2]), 0.05, 1, 20), rtol=1e-12, atol=1e-14)


def test_without_inner_steps_snapshots_are_local_gradient_steps(problem):
    trace = run(FedAvgSVRG(0.05, 4, 1), problem, rounds=7, runs=2)
    assert np.allclose(trace.final, descend(problem, np.zeros(3), 0.05, 4, 7), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("algorithm", [FedAvgSVRG(0.05, 2, 3), FedAvg(0.05, 6)])
def test_identical_samples_leave_nothing_to_chance(problem, algorithm):
    one = from_samples([[h] * 5 for h in problem.client_hessian], [[b] * 5 for b in problem.client_linear])
    trace = run(algorithm, one, rounds=6, runs=4)
    assert np.ptp(trace.final, axis=0).max() == 0
    assert np.allclose(trace.final[0], descend(one, np.zeros(3), 0.05, 6, 6), rtol=1e-12, atol=1e-14)


def test_copying_every_client_changes_nothing():
    base = quadratic(3, 2, 0.5, 2.0, 1.0, seed=1)
    h, b = list(base.hessian), list(base.linear)
    for algorithm in (FedAvgSVRG(0.1, 2, 2), FedAvg(0.1, 4)):
        once = run(algorithm, from_samples(h, b), rounds=5, runs=2)
        twice = run(algorithm, from_samples(h + h, b + b), rounds=5, runs=2)
        assert np.allclose(once.final, twice.final, rtol=1e-12)


@pytest.mark.parametrize("algorithm", [FedAvgSVRG(0.05, 2, 3), FedAvg(0.05, 4, aggregation="normalised")])
def test_rescaling(problem, algorithm):
    """x -> c x and f -> c^2 f keep the Hessians; so does the path, times c. f -> a f with step/a keeps the path."""
    p = Bernoulli([0.4, 0.5, 0.9, 1.0])
    h, b = list(problem.hessian), list(problem.linear)
    base = run(algorithm, from_samples(h, b), p, rounds=6, runs=5, seed=3, start=[1, 2, 3])
    moved = run(algorithm, from_samples(h, list(4 * problem.linear)), p, rounds=6, runs=5, seed=3, start=[4, 8, 12])
    assert np.array_equal(4 * base.final, moved.final)  # powers of two are exact
    stretched = from_samples(list(8 * problem.hessian), list(8 * problem.linear))
    shorter = type(algorithm)(**{**vars(algorithm), "step": algorithm.step / 8})
    same = run(shorter, stretched, p, rounds=6, runs=5, seed=3, start=[1, 2, 3])
    assert np.allclose(same.final, base.final, rtol=1e-12)


def test_permuted_coordinates(problem):
    order = [2, 0, 1]
    q = [problem.features[n][:, order] for n in range(4)]
    base = run(FedAvgSVRG(0.05, 2, 3), problem, rounds=5, runs=4)
    moved = run(FedAvgSVRG(0.05, 2, 3), least_squares(q, list(problem.targets)), rounds=5, runs=4)
    assert np.allclose(base.final[:, order], moved.final, rtol=1e-11)
