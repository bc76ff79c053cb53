"""The compiled rounds on quadratics: the torch engine's results, and the same runs in every batch and thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim.engine
from sim.algorithms import FedAvg, FedAvgSVRG
from sim.engine import run
from sim.native import build
from sim.participation import Bernoulli, UniformChoice
from sim.problems import from_samples, least_squares
from sim.streams import Streams, thresholds

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler on this machine")

METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm", "iterate")
DIMS = (1, 3, 16)  # each is compiled when it is first wanted, in 2 s


def problem(rng, clients, dim, features):
    """Clients with 1 to 5 samples, Hessians of norm about 1; at least one sample mean is well conditioned."""
    counts = rng.integers(1, 6, clients)
    h, b = [], []
    for count in counts:
        q = rng.standard_normal((count, dim)) / dim**0.5
        y = rng.standard_normal(count)
        h.append((q, y) if features else np.einsum("ni,nj->nij", q, q) + 0.3 * np.eye(dim))
        b.append(q * y[:, None])
    if features:
        wide = (np.eye(dim), np.ones(dim))  # so that f has one minimiser
        rows = [*h, wide]
        return least_squares([q for q, _ in rows], [y for _, y in rows])
    return from_samples(h, b)


@st.composite
def cases(draw):
    """Keyword arguments of `run`, apart from the back end."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    made = problem(rng, draw(st.integers(1, 7)), draw(st.sampled_from(DIMS)), draw(st.booleans()))
    rounds, clients = draw(st.integers(1, 6)), made.clients
    step = draw(st.sampled_from([0.1, tuple(rng.uniform(0.05, 0.2, rounds).tolist())]))
    rules = {
        "aggregation": draw(st.sampled_from(["unbiased", "normalised"])),
        "empty": draw(st.sampled_from(["keep", "zero", "condition"])),
    }
    one, other = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    if draw(st.booleans()):
        algorithm = FedAvgSVRG(step, one, other, **rules)
    else:
        algorithm = FedAvg(step, one, **rules, batch=other)
    shape = draw(st.sampled_from([(), (clients,), (rounds, clients)]))
    p = rng.uniform(0.2, 1, shape) if draw(st.booleans()) else np.ones(shape)
    size = draw(st.integers(1, clients))
    return {
        "algorithm": algorithm,
        "problem": made,
        "participation": draw(st.sampled_from([None, Bernoulli(p), UniformChoice(size)])),
        "rounds": rounds,
        "runs": draw(st.integers(1, 40)),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "first_run": draw(st.sampled_from([0, 5, 2**32 - 40])),
        "start": rng.standard_normal(made.dim),
    }


@settings(max_examples=120, deadline=None)
@given(cases())
def test_equals_the_torch_back_end(case):
    torch, native = (run(metrics=METRICS, backend=backend, **case) for backend in ("torch", "native"))
    assert np.allclose(native.final, torch.final, rtol=1e-11, atol=1e-12)
    for name in METRICS:
        assert native[name].shape == torch[name].shape
        assert np.allclose(native[name], torch[name], rtol=1e-9, atol=1e-11), name
    assert np.array_equal(native["iterate"][:, -1], native.final)


@settings(max_examples=60, deadline=None)
@given(cases(), st.data())
def test_a_run_does_not_depend_on_its_batch(case, data):
    whole = run(metrics=METRICS, backend="native", **case)
    chunk = data.draw(st.one_of(st.none(), st.integers(1, 50)))
    threads = data.draw(st.integers(1, 3))
    first = data.draw(st.integers(0, case["runs"] - 1))
    last = data.draw(st.integers(first + 1, case["runs"]))
    part = {**case, "first_run": case["first_run"] + first, "runs": last - first}
    some = run(metrics=METRICS[::-1], backend="native", chunk=chunk, threads=threads, **part)
    assert np.array_equal(some.final, whole.final[first:last])
    for name in METRICS:
        assert np.array_equal(some[name], whole[name][first:last]), name


def test_many_runs_on_threads_and_in_stretches(monkeypatch):
    """More than one block of 256, several stretches of rounds, and all that is told of them."""
    made = problem(np.random.default_rng(3), 4, 3, True)
    common = {"rounds": 11, "runs": 600, "seed": 8, "metrics": METRICS, "backend": "native"}
    algorithm, participation = FedAvgSVRG(0.1, 2, 3, empty="condition"), Bernoulli(0.2)
    whole = run(algorithm, made, participation, **common)
    torch = run(algorithm, made, participation, **{**common, "backend": "torch"})
    monkeypatch.setattr("sim.kernels.quadratic_native._CALL", 1)
    for threads in (1, 2):
        told = {}
        trace = run(algorithm, made, participation, threads=threads, progress=told.__setitem__, **common)
        assert told[6600] == 6600
        for name in METRICS:
            assert np.array_equal(trace[name], whole[name])
            assert np.allclose(trace[name], torch[name], rtol=1e-9, atol=1e-11)


def test_a_problem_without_a_unique_minimiser():
    """Suboptimality exists, the distance to the minimiser does not; where f is unbounded below neither does."""
    flat = from_samples([[np.diag([1.0, 0.0, 2.0])]] * 2, [[np.array([1.0, 0.0, 1.0])], [np.array([0.0, 0.0, 2.0])]])
    common = {"rounds": 3, "runs": 5, "start": np.ones(3)}
    native, torch = (run(FedAvg(0.1, 2), flat, Bernoulli(0.5), backend=b, **common) for b in ("native", "torch"))
    assert np.allclose(native["suboptimality"], torch["suboptimality"], rtol=1e-12)
    with pytest.raises(ValueError, match="no unique minimiser"):
        run(FedAvg(0.1, 2), flat, metrics=["squared_distance"], backend="native", **common)
    unbounded = from_samples([[np.diag([1.0, 0.0, 2.0])]], [[np.ones(3)]])
    trace = run(FedAvg(0.1, 2), unbounded, metrics=["squared_gradient_norm"], backend="native", **common)
    expected = run(FedAvg(0.1, 2), unbounded, metrics=["squared_gradient_norm"], backend="torch", **common)
    assert np.allclose(trace["squared_gradient_norm"], expected["squared_gradient_norm"], rtol=1e-12)


def test_an_absent_client_whose_steps_would_overflow_changes_nothing():
    clients = from_samples([[[[1e200]]], [[[1.0]]]], [[[1.0]], [[1.0]]])
    trace = run(
        FedAvg(1.0, 3), clients, Bernoulli([0.3, 1.0]), rounds=1, runs=40, seed=2, metrics=["iterate"], backend="native"
    )
    words = Streams(2, np.arange(40)).participation(2, range(1)).numpy()
    present = words[0, 0] < thresholds(0.3)
    assert 0 < present.sum() < 40
    assert np.array_equal(np.isfinite(trace.final[:, 0]), ~present)


@dataclass(frozen=True)
class Own(FedAvg):
    """An algorithm that changes what its base does."""


def test_what_it_does_not_know_is_refused():
    made = problem(np.random.default_rng(0), 3, 3, True)
    wide = least_squares([np.eye(17)], [np.ones(17)])
    for arguments, options in (
        ((Own(0.1, 2), made), {}),
        ((FedAvg(0.1, 2), wide), {}),
        ((FedAvg(0.1, 2), made), {"metrics": ["local_consistency"]}),
    ):
        with pytest.raises(ValueError, match="backend='native' does not know"):
            run(*arguments, rounds=2, runs=2, backend="native", **options)
        run(*arguments, rounds=2, runs=2, **options)


def test_auto_takes_it_where_a_run_is_long_enough(monkeypatch):
    made = problem(np.random.default_rng(0), 3, 3, True)
    chosen = []
    choose = sim.engine.chosen_backend
    monkeypatch.setattr("sim.engine.chosen_backend", lambda *args: chosen.append(choose(*args)) or chosen[-1])
    for rounds, runs in ((1, 1), (1, 4000), (250, 1), (250, 2)):
        run(FedAvg(0.1, 2), made, rounds=rounds, runs=runs)
    run(FedAvg(0.1, 2), made, rounds=250, runs=1, metrics=["local_consistency"])
    assert chosen == ["torch", "torch", "native", "native", "torch"]


def test_threads_are_taken_where_there_is_work_for_them(monkeypatch):
    """20 runs are one thread's, however long; so are few rounds of many."""
    made, taken = problem(np.random.default_rng(3), 4, 3, True), []
    real = sim.kernels.quadratic_native.ThreadPoolExecutor
    monkeypatch.setattr(
        sim.kernels.quadratic_native, "ThreadPoolExecutor", lambda threads: taken.append(threads) or real(threads)
    )
    for runs, rounds, expected in ((20, 3000, []), (600, 2, []), (600, 500, [3]), (40, 3000, [2])):
        taken.clear()
        run(FedAvgSVRG(0.1, 8, 8), made, rounds=rounds, runs=runs, threads=3, backend="native")
        assert taken == expected
