"""Only the clients that take part are computed: the same numbers as when all are, for every algorithm and problem."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM
from sim.engine import run
from sim.kernels.clients import Memories
from sim.participation import Bernoulli, UniformChoice
from sim.problems import from_samples, least_squares
from sim.streams import Streams
from tests.sim import _plain_averaged as plain

SEED = 2**35 + 3
METRICS = ("iterate", "local_consistency")
ALGORITHMS = {
    "fedavg": lambda batch: FedAvg((0.1, 0.2, 0.05, 0.1), 3, batch=batch),
    "fedmim": lambda batch: FedMIM(0.1, 3, alpha=(0.5, 0.2), beta=(0.9,), batch=batch),
}


def ragged(dim, features):
    """Six clients with 1 to 6 samples."""
    rng = np.random.default_rng(dim)
    counts = [6, 1, 3, 4, 2, 5]
    q = [rng.standard_normal((c, dim)) / dim**0.5 for c in counts]
    y = [rng.standard_normal(c) for c in counts]
    if features:
        return least_squares(q, y)
    h = [[2 * np.outer(v, v) + 0.3 * np.eye(dim) for v in rows] for rows in q]
    return from_samples(h, [2 * v * t[:, None] for v, t in zip(q, y, strict=True)])


PROBLEMS = {
    "least squares": lambda: ragged(3, True),
    "quadratics": lambda: ragged(2, False),
    "wide quadratics": lambda: ragged(18, False),
}


def everybody(monkeypatch):
    """Compute all clients, as under any other participation."""
    for kind in (FedAvg, FedMIM):
        monkeypatch.setattr(kind, "selects", False)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_selected_are_as_among_all(name, kind, batch, monkeypatch):
    problem, algorithm = PROBLEMS[kind](), ALGORITHMS[name](batch)
    options = {"rounds": 4, "runs": 5, "seed": SEED, "start": np.linspace(-1, 1, problem.dim), "metrics": METRICS}
    for size in (1, 2, 5):
        part = run(algorithm, problem, UniformChoice(size), backend="torch", **options)
        with monkeypatch.context() as patch:
            everybody(patch)
            whole = run(algorithm, problem, UniformChoice(size), backend="torch", **options)
        assert np.ptp(whole["iterate"][:, -1], axis=0).max() > 1e-3  # the runs differ, so who takes part matters
        for metric in METRICS:
            assert np.allclose(part[metric], whole[metric], rtol=1e-10, atol=1e-12)


class Batches(plain.Plain):
    """A mixin: the mean gradient of a minibatch."""

    def gradient(self, t, n, k):
        batch, count = self.algorithm.batch, int(self.problem.counts[n])
        picks = [plain.plain.pick(self.seed, self.run, n, t, k * batch + b, count) for b in range(batch)]
        h, linear = self.problem.hessian[n][picks].mean(0), self.problem.linear[n][picks].mean(0)
        return lambda x: h @ x - linear


REFERENCES = {
    "fedavg": plain.Plain,
    "fedmim": plain.MIM,
}


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_minibatches_equal_the_plain_ones(name, features):
    problem, algorithm, start = ragged(3, features), ALGORITHMS[name](4), np.arange(3) - 0.5
    reference = type("Reference", (Batches, REFERENCES[name]), {})
    for size in (2, 6):
        trace = run(algorithm, problem, UniformChoice(size), rounds=4, runs=2, seed=SEED, start=start, metrics=METRICS)
        for r in range(2):
            expected, consistency = reference(algorithm, problem, r, SEED, start, size).path(4)
            assert np.allclose(trace["iterate"][r], expected, rtol=1e-10, atol=1e-11)
            assert np.allclose(trace["local_consistency"][r], consistency, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_is_the_same_to_the_last_bit_in_every_batch(name):
    problem, algorithm = PROBLEMS["quadratics"](), ALGORITHMS[name](2)

    def simulate(**arguments):
        options = {"rounds": 4, "seed": 5, "metrics": METRICS, "backend": "torch", **arguments}
        return run(algorithm, problem, UniformChoice(3), **options)

    base = simulate(runs=120, chunk=120)
    for first, runs, chunk in [(0, 120, 50), (119, 1, None), (37, 60, 7)]:
        other = simulate(runs=runs, first_run=first, chunk=chunk)
        assert all(np.array_equal(other[m], base[m][first : first + runs]) for m in METRICS)


def test_bernoulli_and_fedavg_svrg_are_computed_for_all(monkeypatch):
    """Their results stay what they were: neither asks for those chosen."""
    problem = ragged(3, True)
    options = {"rounds": 4, "runs": 5, "seed": SEED, "metrics": METRICS}
    expected = run(FedAvgSVRG(0.1, 2, 3), problem, UniformChoice(2), **options)
    monkeypatch.setattr("sim.kernels.presence.Presence.chosen", None)
    again = run(FedAvgSVRG(0.1, 2, 3), problem, UniformChoice(2), **options)
    assert all(np.array_equal(expected[m], again[m]) for m in METRICS)
    assert np.ptp(run(FedAvg(0.1, 2), problem, Bernoulli(0.5), **options)["iterate"]) > 0
    with pytest.raises(TypeError):
        run(FedAvg(0.1, 2), problem, UniformChoice(2), **options)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), clients=st.integers(2, 7), runs=st.integers(1, 5), data=st.data())
def test_samples_of_the_chosen_are_those_of_all(seed, clients, runs, data):
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=clients, max_size=clients)))
    size = data.draw(st.integers(1, clients))
    streams = Streams(seed, np.arange(runs) + 3)
    rng = np.random.default_rng(seed)
    chosen = np.array([[rng.permutation(clients)[:size] for _ in range(runs)] for _ in range(2)]).swapaxes(1, 2)
    whole = streams.indices(counts, range(4, 6), 5).numpy().copy()
    part = streams.indices(counts, range(4, 6), 5, chosen=chosen).numpy()
    assert np.array_equal(part, np.take_along_axis(whole, chosen[:, None], axis=2))


def test_memories_are_kept_for_those_who_left_their_slot():
    clients = Memories(4, 2, 1, 2, torch.device("cpu"))
    rng = np.random.default_rng(0)
    kept = np.zeros((4, 2))
    for t in range(20):
        chosen = np.array([np.sort(rng.permutation(4)[:2]) for _ in range(2)]).T
        clients.begin(torch.from_numpy(chosen))
        slots = clients.memory("count")
        assert np.array_equal(slots[:, 0].numpy(), np.take_along_axis(kept, chosen, axis=0))
        slots.add_(t)
        clients.end()
        np.put_along_axis(kept, chosen, np.take_along_axis(kept, chosen, axis=0) + t, axis=0)
    assert len(np.unique(kept)) > 4


@pytest.mark.parametrize("make", [lambda b: FedAvg(0.1, 1, batch=b), lambda b: FedMIM(0.1, 1, batch=b)])
def test_a_batch_outside_its_domain_is_refused(make):
    assert make(np.int64(3)).batch == 3
    assert make(3).draws == 3
    for bad in (0, 1.5, True, None):
        with pytest.raises(ValueError, match="batch="):
            make(bad)
