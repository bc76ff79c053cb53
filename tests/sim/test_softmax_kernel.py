"""Softmax and logistic regression in the engine of rounds: against plain loops, and the problems' own methods."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from sim.algorithms import FedAdam, FedAvg, FedAvgSVRG, FedDyn, FedMIM, FedSAM, Scaffold, fedcm
from sim.engine import run
from sim.kernels import regression_native, regression_steps
from sim.kernels.local_steps import LocalSteps
from sim.native import build
from sim.participation import Bernoulli, UniformChoice
from sim.problems import RidgeLogistic, RidgeSoftmax, scalar
from tests.sim import _plain_averaged as plain

SEED = 2**34 + 9
CPU = torch.device("cpu")
BACKENDS = ["torch", "numba", "native"]


def needs(backend):
    if backend == "numba":
        pytest.importorskip("numba")
    if backend == "native" and build.compiler() is None:
        pytest.skip("no C++ compiler on this machine")


def problem_of(kind, clients=4, samples=5, inputs=3, classes=4, scale=1.0, seed=1):
    rng = np.random.default_rng(seed)
    features = scale * rng.standard_normal((clients, samples, inputs))
    if kind == "softmax":
        return RidgeSoftmax(features, rng.integers(0, classes, (clients, samples)), classes, 0.1)
    return RidgeLogistic(features, rng.choice([-1.0, 1.0], (clients, samples)), 0.1)


def sample_gradient(problem, n, i, theta):
    """The gradient of one sample's function in plain Python."""
    x, y = problem.features[n, i], problem.labels[n, i]
    result = [problem.ridge * t for t in theta]
    if isinstance(problem, RidgeLogistic):
        factor = -y / (1 + math.exp(y * sum(a * b for a, b in zip(x, theta, strict=True))))
        return np.array([t + factor * a for t, a in zip(result, x, strict=True)])
    z = [sum(theta[c * len(x) + k] * x[k] for k in range(len(x))) for c in range(problem.classes)]
    powers = [math.exp(value) for value in z]
    for c, k in itertools.product(range(problem.classes), range(len(x))):
        result[c * len(x) + k] += (powers[c] / sum(powers) - (c == y)) * x[k]
    return np.array(result)


class Batches(plain.Plain):
    """A mixin: the mean gradient of a minibatch of a regression."""

    def gradient(self, t, n, k):
        batch, problem = self.algorithm.batch, self.problem
        picks = [plain.plain.pick(self.seed, self.run, n, t, k * batch + b, problem.samples) for b in range(batch)]
        return lambda theta: sum(sample_gradient(problem, n, i, theta) for i in picks) / batch


ALGORITHMS = {
    "fedavg": (lambda b: FedAvg((0.1, 0.2, 0.3), 2, aggregation="normalised", batch=b), plain.Plain),
    "fedmim": (lambda b: FedMIM(0.3, 2, alpha=(0.5, 0.2), beta=(0.9,), batch=b), plain.MIM),
    "fedcm": (lambda b: fedcm(0.2, 2, 0.25, batch=b), plain.CM),
    "scaffold": (lambda b: Scaffold(0.2, 2, server_step=0.7, batch=b), plain.Controlled),
    "fedadam": (lambda b: FedAdam(0.1, 2, batch=b), plain.Adam),
    "feddyn": (lambda b: FedDyn(0.2, 2, weight=0.4, batch=b), plain.Dynamic),
    "fedsam": (lambda b: FedSAM(0.2, 2, radius=0.3, batch=b), plain.Sharp),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["softmax", "logistic"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_equals_the_plain_algorithm(name, kind, backend):
    needs(backend)
    make, reference = ALGORITHMS[name]
    problem = problem_of(kind)
    start = np.linspace(-1, 1, problem.dim)
    for batch, size in ((1, 4), (3, 2), (6, 1)):
        algorithm = make(batch)
        options = {"start": start, "metrics": ["iterate", "local_consistency"], "seed": SEED, "backend": backend}
        trace = run(algorithm, problem, UniformChoice(size), rounds=3, runs=2, **options)
        kind_of_run = type("Reference", (Batches, reference), {})
        expected, consistency = kind_of_run(algorithm, problem, 1, SEED, start, size).path(3)
        assert np.allclose(trace["iterate"][1], expected, rtol=1e-10, atol=1e-11)
        assert np.allclose(trace["local_consistency"][1], consistency, rtol=1e-9, atol=1e-12)


def clients_of(problem, width=30):
    made = problem.kernel(CPU).clients(width)
    made.begin(None)
    points = torch.from_numpy(np.random.default_rng(3).standard_normal((problem.clients, problem.dim, width)))
    return made, points


@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_gradients_are_those_of_the_problem(kind):
    problem = problem_of(kind)
    clients, w = clients_of(problem)
    found = clients.gradient(w, -2.0, clients.buffer("out")).numpy()
    expected = np.stack([problem.gradient(w[:, :, r].numpy()) for r in range(30)], axis=2)
    assert np.allclose(found, -2 * expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_the_mean_over_all_minibatches_is_the_gradient(kind):
    """Run r has minibatch r of all 25 pairs of samples, at the same point in all runs."""
    problem = problem_of(kind)
    clients, w = clients_of(problem, 25)
    w[...] = w[:, :, :1].clone()
    pairs = torch.tensor(list(itertools.product(range(5), repeat=2))).T[:, None, :]
    clients.pick(pairs.expand(2, problem.clients, 25))
    found = clients.add_batch_gradient(range(2), w, 3.0, clients.buffer("out")).mean(2).numpy()
    assert np.allclose(found, 3 * problem.gradient(w[:, :, 0].numpy()), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_fedavg_svrg_and_bernoulli(kind):
    problem, step, start = problem_of(kind, clients=2), 0.3, 0.5
    options = {"rounds": 1, "runs": 2, "seed": SEED, "start": np.full(problem.dim, start), "metrics": ["iterate"]}
    found = run(FedAvgSVRG(step, 1, 2), problem, Bernoulli(1), **options)["iterate"]
    theta = np.full(problem.dim, start)
    for r in range(2):
        ends = []
        for n in range(2):
            i = plain.plain.pick(SEED, r, n, 0, 0, problem.samples)
            full = problem.gradient(theta)[n]
            w = theta - step * full
            ends.append(w - step * (sample_gradient(problem, n, i, w) - sample_gradient(problem, n, i, theta) + full))
        assert np.allclose(found[r, 1], np.mean(ends, axis=0), rtol=1e-12, atol=1e-13)


METRICS = ("cost", "suboptimality", "squared_gradient_norm", "squared_distance", "accuracy", "iterate")


@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_metrics(kind, monkeypatch):
    problem = problem_of(kind)
    monkeypatch.setattr("sim.kernels.regression._LOGITS", 2000)  # several pieces
    trace = run(FedAvg(0.3, 2, batch=2), problem, UniformChoice(2), rounds=4, runs=50, metrics=METRICS)
    for r, k in itertools.product((0, 1, 49), range(5)):
        theta = trace["iterate"][r, k]
        cost, gradient = problem.loss(theta).mean(), problem.gradient(theta).mean(0)
        assert np.isclose(trace["cost"][r, k], cost, rtol=1e-12)
        assert np.isclose(trace["suboptimality"][r, k], cost - problem.optimal_value, rtol=1e-9)
        assert np.isclose(trace["squared_gradient_norm"][r, k], (gradient**2).sum(), rtol=1e-10)
        assert np.isclose(trace["squared_distance"][r, k], ((theta - problem.minimiser) ** 2).sum(), rtol=1e-12)
        if k > 0:
            if kind == "softmax":
                predicted = np.argmax(problem.features @ theta.reshape(4, 3).T, axis=2)
            else:
                predicted = np.sign(problem.features @ theta)
            assert np.isclose(trace["accuracy"][r, k], (predicted == problem.labels).mean(), rtol=1e-14)
    assert np.allclose(trace["accuracy"][:, 0], 0.25 if kind == "softmax" else 0.5)  # all logits are 0: a guess
    alone = run(FedAvg(0.3, 2, batch=2), problem, UniformChoice(2), rounds=4, runs=50, metrics=["suboptimality"])
    assert np.array_equal(alone["suboptimality"], trace["suboptimality"])


@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_the_minimiser_of_the_average(kind):
    problem = problem_of(kind)
    assert np.linalg.norm(problem.gradient(problem.minimiser).mean(0)) < 1e-12
    found = minimize(lambda t: problem.loss(t).mean(), np.zeros(problem.dim), method="BFGS", options={"gtol": 1e-7})
    assert np.allclose(found.x, problem.minimiser, atol=1e-5)
    assert found.fun >= problem.optimal_value - 1e-15
    trace = run(FedAvg(0.3, 2), problem, rounds=1, runs=1, start=problem.minimiser, metrics=["suboptimality"])
    assert abs(trace["suboptimality"][0, 0]) < 1e-14


@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("kind", ["softmax", "logistic"])
def test_large_logits_stay_finite_and_the_back_ends_agree(kind, backend):
    needs(backend)
    problem = problem_of(kind, scale=300.0)
    options = {"rounds": 3, "runs": 3, "metrics": ("iterate", "cost", "squared_gradient_norm"), "start": None}
    both = [run(FedAvg(0.1, 3, batch=2), problem, UniformChoice(2), backend=b, **options) for b in ("torch", backend)]
    for name in options["metrics"]:
        assert np.all(np.isfinite(both[0][name]))
        assert np.allclose(both[0][name], both[1][name], rtol=1e-9, atol=1e-9)
    assert np.abs(both[0]["iterate"]).max() > 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_sam_stays_where_the_gradient_is_zero(backend):
    needs(backend)
    problem = RidgeSoftmax(np.zeros((2, 3, 2)), np.zeros((2, 3), dtype=int), 3, 0.5)
    trace = run(FedSAM(0.1, 3, radius=1), problem, rounds=2, runs=1, metrics=["iterate"], backend=backend)
    assert np.array_equal(trace["iterate"], np.zeros((1, 3, 6)))


def test_only_live_runs_are_compiled():
    pytest.importorskip("numba")
    problem = problem_of("softmax")
    clients = problem.kernel(CPU).clients(10, 2, live=3, compiled=True)
    clients.begin(torch.zeros((2, 10), dtype=torch.int64))
    clients.pick(torch.zeros((2, 2, 10), dtype=torch.int64))
    w = torch.ones((2, problem.dim, 10), dtype=torch.float64)
    clients.steps(LocalSteps(1, 2, 0.1), w)
    assert torch.all(w[:, :, 3:] == 1)
    assert torch.all((w[:, :, :3] != 1).any(1))


def test_the_back_end_does_not_depend_on_the_number_of_runs(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(regression_native, "usable", lambda: False)
    calls, original = [], regression_steps.compiled
    monkeypatch.setattr(regression_steps, "compiled", lambda: calls.append(1) or original())
    problem = problem_of("softmax")
    for rounds, runs, compiled in ((1, 300, 0), (25, 1, 1), (25, 2, 1), (24, 100, 0)):
        calls.clear()
        run(FedAvg(0.1, 4, batch=10), problem, UniformChoice(2), rounds=rounds, runs=runs, chunk=100)
        assert bool(calls) == compiled


def test_a_back_end_that_does_not_fit_is_refused(monkeypatch):
    quadratic, softmax = scalar([[1.0]], [[1.0]]), problem_of("softmax")
    with pytest.raises(ValueError, match="backend='numba' does not know"):
        run(FedAvg(0.1, 1), quadratic, rounds=1, runs=1, backend="numba")
    with pytest.raises(ValueError, match="backend='cuda' is not one of"):
        run(FedAvg(0.1, 1), softmax, rounds=1, runs=1, backend="cuda")
    monkeypatch.setattr("sim.backends.find_spec", lambda name: None)
    monkeypatch.setattr(regression_native, "usable", lambda: False)
    with pytest.raises(ImportError, match="numba is not installed"):
        run(FedAvg(0.1, 1), softmax, rounds=1, runs=1, backend="numba")
    big = {"rounds": 30, "runs": 1, "metrics": ["iterate"]}
    without = run(FedAvg(0.1, 4, batch=10), softmax, UniformChoice(2), **big)
    expected = run(FedAvg(0.1, 4, batch=10), softmax, UniformChoice(2), backend="torch", **big)
    assert np.array_equal(without["iterate"], expected["iterate"])


def test_a_small_job_does_not_import_numba():
    code = (
        "import sys, numpy as np; from sim import run; from sim.algorithms import FedAvg; "
        "from sim.problems import RidgeSoftmax; "
        "p = RidgeSoftmax(np.ones((2, 3, 2)), np.zeros((2, 3), int), 2, 0.1); "
        "run(FedAvg(0.1, 2), p, rounds=2, runs=2); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
