"""The local steps of regressions in C++: the other back ends' results, and the same runs in every batch and thread."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim.engine
from sim.algorithms import FedAdam, FedAvg, FedAvgSVRG, FedDyn, FedMIM, FedSAM, Scaffold, fedcm
from sim.engine import run
from sim.kernels import regression_native
from sim.native import build
from sim.participation import Bernoulli, UniformChoice
from sim.problems import RidgeLogistic, RidgeSoftmax

needs_compiler = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")
OTHERS = ["torch", *(["numba"] if importlib.util.find_spec("numba") else [])]
METRICS = ("iterate", "local_consistency")


def problem(rng, clients, samples, inputs, classes):
    """Softmax regression, or logistic regression with one class."""
    features = rng.standard_normal((clients, samples, inputs))
    if classes > 1:
        return RidgeSoftmax(features, rng.integers(0, classes, (clients, samples)), classes, 0.1)
    return RidgeLogistic(features, rng.choice([-1.0, 1.0], (clients, samples)), 0.1)


ALGORITHMS = {
    "fedavg": lambda step, K, batch: FedAvg(step, K, aggregation="normalised", empty="condition", batch=batch),
    "unbiased": lambda step, K, batch: FedAvg(step, K, empty="zero", batch=batch),
    "fedcm": lambda step, K, batch: fedcm(step, K, 0.25, batch=batch),
    "fedmim": lambda step, K, batch: FedMIM(step, K, alpha=(0.5, 0.2), beta=(0.9,), batch=batch),
    "scaffold": lambda step, K, batch: Scaffold(step, K, server_step=0.7, batch=batch),
    "feddyn": lambda step, K, batch: FedDyn(step, K, weight=0.4, batch=batch),
    "fedsam": lambda step, K, batch: FedSAM(step, K, radius=0.3, batch=batch),
    "fedadam": lambda step, K, batch: FedAdam(step, K, batch=batch),
}


@st.composite
def cases(draw, name):
    """Keyword arguments of `run`, apart from the back end. Sizes around whole vectors and blocks come up often."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    clients, rounds = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    inputs = draw(st.one_of(st.integers(1, 12), st.sampled_from([16, 17, 70])))
    made = problem(rng, clients, draw(st.integers(1, 9)), inputs, draw(st.integers(1, 12)))
    step = draw(st.sampled_from([0.1, tuple(rng.uniform(0.05, 0.2, rounds).tolist())]))
    batch = draw(st.one_of(st.integers(1, 9), st.sampled_from([25, 26, 60])))
    size, p = draw(st.integers(1, clients)), rng.uniform(0.2, 1, clients)
    return {
        "algorithm": ALGORITHMS[name](step, draw(st.integers(1, 3)), batch),
        "problem": made,
        "participation": draw(st.sampled_from([None, Bernoulli(p), UniformChoice(size)])),
        "rounds": rounds,
        "runs": draw(st.integers(1, 20)),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "first_run": draw(st.sampled_from([0, 5, 2**32 - 20])),
        "start": rng.standard_normal(made.dim),
    }


def close(found, expected):
    """To 1e-12 of the largest number of each run."""
    scale = np.abs(expected).reshape(len(expected), -1).max(1)
    assert np.all(np.abs(found - expected).reshape(len(expected), -1).max(1) <= 1e-12 * scale)


@needs_compiler
@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_equals_the_other_back_ends(name, data):
    case = data.draw(cases(name))
    native, *others = (run(metrics=METRICS, backend=backend, **case) for backend in ("native", *OTHERS))
    for other in others:
        close(native["iterate"], other["iterate"])
        assert np.allclose(native["local_consistency"], other["local_consistency"], rtol=1e-10, atol=1e-20)
    assert np.array_equal(native["iterate"][:, -1], native.final)


@needs_compiler
@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_run_does_not_depend_on_its_batch(name, data):
    case = data.draw(cases(name))
    whole = run(metrics=METRICS, backend="native", **case)
    chunk = data.draw(st.one_of(st.none(), st.integers(1, 25)))
    first = data.draw(st.integers(0, case["runs"] - 1))
    last = data.draw(st.integers(first + 1, case["runs"]))
    part = {**case, "first_run": case["first_run"] + first, "runs": last - first}
    threads = data.draw(st.integers(1, 3))
    some = run(metrics=METRICS[::-1], backend="native", chunk=chunk, threads=threads, **part)
    for metric in METRICS:
        assert np.array_equal(some[metric], whole[metric][first:last]), metric


@needs_compiler
def test_many_runs_and_calls_of_eight_pairs(monkeypatch):
    """Several chunks, several calls a round, and all that is told of them."""
    made = problem(np.random.default_rng(3), 12, 7, 11, 10)
    algorithm, common = FedMIM(0.3, 2, alpha=(0.5, 0.2), beta=(0.9,), batch=5), {"rounds": 5, "seed": 8}
    options = {"metrics": METRICS, "backend": "native", **common}
    whole = run(algorithm, made, UniformChoice(5), runs=230, **options)
    monkeypatch.setattr("sim.kernels.regression_native._CALL", 1)
    told = {}
    trace = run(algorithm, made, UniformChoice(5), runs=230, chunk=37, progress=told.__setitem__, **options)
    assert told[1150] == 1150
    for metric in METRICS:
        assert np.array_equal(trace[metric], whole[metric])
    other = run(algorithm, made, UniformChoice(5), runs=230, metrics=METRICS, backend="torch", **common)
    close(whole["iterate"], other["iterate"])


@needs_compiler
@pytest.mark.parametrize("classes", [1, 3])
def test_what_diverges_stays_not_finite(classes):
    made = problem(np.random.default_rng(4), 3, 4, 5, classes)
    wild = type(made)(1e160 * made.features, made.labels, *([classes] if classes > 1 else []), ridge=3.0)
    for step in (1e160, 1e-300):
        options = {"rounds": 3, "runs": 9, "metrics": ["iterate"]}
        native, torch = (run(FedAvg(step, 2, batch=2), wild, backend=b, **options) for b in ("native", "torch"))
        assert np.array_equal(np.isfinite(native["iterate"]), np.isfinite(torch["iterate"]))
        assert np.isfinite(native["iterate"]).all() == (step < 1)


@dataclass(frozen=True)
class Own(FedAvg):
    """An algorithm that asks its clients for more than local steps."""

    def local_update(self, clients, w, step):
        """See `Algorithm.local_update`."""
        return clients.add_batch_gradient(range(self.draws), w.clone(), -step, out=w)


def test_what_it_does_not_know_is_refused():
    made = problem(np.random.default_rng(0), 3, 4, 2, 3)
    for algorithm in (Own(0.1, 2), FedAvgSVRG(0.1, 1, 2)):
        with pytest.raises(ValueError, match="backend='native' does not know"):
            run(algorithm, made, rounds=2, runs=2, backend="native")
        run(algorithm, made, rounds=2, runs=2, metrics=["iterate"])


@needs_compiler
def test_auto_takes_it_where_a_run_is_long_enough(monkeypatch):
    made, chosen = problem(np.random.default_rng(0), 4, 5, 3, 4), []
    choose = sim.engine.chosen_backend
    monkeypatch.setattr("sim.engine.chosen_backend", lambda *args: chosen.append(choose(*args)) or chosen[-1])
    for rounds, runs in ((1, 300), (25, 1), (25, 2), (24, 100)):
        run(FedAvg(0.1, 4, batch=10), made, UniformChoice(2), rounds=rounds, runs=runs, metrics=["iterate"])
    assert chosen == ["torch", "native", "native", "torch"]


def test_without_a_compiler_the_others_serve(monkeypatch):
    made, chosen = problem(np.random.default_rng(0), 4, 5, 3, 4), []

    def missing(*_):
        raise ImportError("no C++ compiler")

    monkeypatch.setattr(build, "library", missing)
    choose = sim.engine.chosen_backend
    monkeypatch.setattr("sim.engine.chosen_backend", lambda *args: chosen.append(choose(*args)) or chosen[-1])
    options = {"rounds": 25, "runs": 2, "metrics": ["iterate"]}
    run(FedAvg(0.1, 4, batch=10), made, UniformChoice(2), **options)
    assert chosen == [OTHERS[-1]]
    with pytest.raises(ImportError, match="compiler"):
        run(FedAvg(0.1, 4, batch=10), made, UniformChoice(2), backend="native", **options)
    assert not regression_native.usable()
