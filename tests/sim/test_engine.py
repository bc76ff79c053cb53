"""The engine against a plain re-implementation, and the same runs in every batch."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.stats import binom, chi2

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.algorithms.base import Algorithm
from sim.engine import run
from sim.participation import Bernoulli, UniformChoice
from sim.problems import from_samples, least_squares, quadratic, scalar
from tests.sim import _plain as plain

SEED = 2**40 + 17
P = np.array([0.3, 0.9, 0.5, 1.0, 0.7])


def ragged(dim, features=True, seed=0):
    """Five clients with 1 to 6 samples."""
    rng = np.random.default_rng(seed)
    counts = [6, 1, 3, 4, 2]
    q = [rng.standard_normal((c, dim)) / dim**0.5 for c in counts]
    y = [rng.standard_normal(c) for c in counts]
    if features:
        return least_squares(q, y)
    h = [[2 * np.outer(v, v) + 0.3 * np.eye(dim) for v in rows] for rows in q]
    return from_samples(h, [2 * v * t[:, None] for v, t in zip(q, y, strict=True)])


def agree(algorithm, problem, rounds=6, p=None, size=None, start=None, runs=(0, 1, 61)):
    participation = Bernoulli(p) if p is not None else None if size is None else UniformChoice(size)
    common = {"rounds": rounds, "seed": SEED, "start": start}
    trace = run(algorithm, problem, participation, runs=max(runs) + 1, metrics=["iterate"], **common)
    for r in runs:
        expected = plain.simulate(algorithm, problem, rounds, r, SEED, start, p, size)
        assert np.allclose(trace["iterate"][r], expected, rtol=1e-12, atol=1e-12)
        assert np.array_equal(trace["iterate"][r, -1], trace.final[r])
    return trace


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("dim", [1, 3, 20])
@pytest.mark.parametrize(
    "algorithm", [FedAvgSVRG(0.1, 2, 4), FedAvgSVRG((0.1, 0.2, 0.05), 1, 2), FedAvg(0.1, 5), FedAvg(0.1, 1)]
)
def test_equals_the_plain_algorithm(algorithm, dim, features):
    agree(algorithm, ragged(dim, features), rounds=3, p=P, start=np.arange(dim) - 0.5)


@pytest.mark.parametrize("aggregation", ["unbiased", "normalised"])
@pytest.mark.parametrize("empty", ["keep", "zero", "condition"])
@pytest.mark.parametrize("kind", ["rare", "per round", "choice", "full"])
def test_participation_equals_the_plain_one(aggregation, empty, kind):
    p, size = {
        "rare": (np.full(5, 0.15), None),  # a round is empty with probability 0.44
        "per round": (np.random.default_rng(1).uniform(0.1, 1, (6, 5)), None),
        "choice": (None, 2),
        "full": (None, None),
    }[kind]
    algorithm = FedAvg(0.1, 2, aggregation=aggregation, empty=empty)
    agree(algorithm, ragged(2), p=p, size=size, start=[1, 2], runs=(0, 1, 2, 3, 50))


def test_exact_problem_is_computed_in_floats():
    exact = scalar([["1/3", "2"], ["1"]], [["1", "-1/7"], ["3"]], exact=True)
    rough = scalar([[1 / 3, 2], [1]], [[1, -1 / 7], [3]])
    arguments = {"rounds": 5, "runs": 9, "start": [Fraction(1, 2)]}
    half = Bernoulli(Fraction(1, 2))
    a = run(FedAvgSVRG(Fraction(1, 8), 2, 2), exact, half, **arguments)
    b = run(FedAvgSVRG(0.125, 2, 2), rough, Bernoulli(0.5), **arguments)
    assert np.allclose(a.final, b.final, rtol=1e-13)


ALL = ("suboptimality", "cost", "squared_gradient_norm", "squared_iterate_norm", "squared_distance", "iterate")


def test_metrics():
    problem = ragged(3)
    trace = run(FedAvgSVRG(0.1, 2, 2), problem, Bernoulli(P), rounds=7, runs=5, metrics=ALL)
    x = trace["iterate"]
    assert x.shape == (5, 8, 3)
    assert trace.metrics == ALL
    assert trace.runs == 5
    assert np.allclose(trace["cost"], problem.cost(x), rtol=1e-12)
    assert np.allclose(trace["suboptimality"], problem.cost(x) - problem.optimal_value, rtol=1e-9)
    gradient = (problem.gradient(x) ** 2).sum(-1)
    assert np.allclose(trace["squared_gradient_norm"], gradient, rtol=1e-11)
    assert np.allclose(trace["squared_iterate_norm"], (x**2).sum(-1), rtol=1e-14)
    assert np.allclose(trace["squared_distance"], ((x - problem.minimiser) ** 2).sum(-1), rtol=1e-12)
    assert np.allclose(trace["mean_squared_gradient_norm"], gradient[:, :7].mean(1), rtol=1e-11)
    assert "mean_cost" in trace
    assert "variance" not in trace
    with pytest.raises(ValueError, match="variance"):
        trace["variance"]


def test_a_long_path_is_measured_in_stretches(monkeypatch):
    problem, arguments = ragged(2), {"rounds": 20, "runs": 3, "metrics": ALL}
    whole = run(FedAvg(0.05, 2), problem, **arguments)
    for size in (1, 300, 700):
        monkeypatch.setattr("sim.engine._PATH", size)
        parts = run(FedAvg(0.05, 2), problem, **arguments)
        assert all(np.array_equal(whole[m], parts[m]) for m in ALL)


@pytest.mark.parametrize("algorithm", [FedAvgSVRG(0.02, 3, 2), FedAvg(0.02, 3, aggregation="normalised", empty="zero")])
@pytest.mark.parametrize("dim", [1, 5, 16])
def test_a_run_is_the_same_to_the_last_bit_in_every_batch(algorithm, dim):
    rng = np.random.default_rng(3)
    problem = least_squares(list(rng.standard_normal((13, 7, dim))), list(rng.standard_normal((13, 7))))
    p = Bernoulli(rng.uniform(0.02, 0.6, 13))

    def simulate(**arguments):
        return run(algorithm, problem, p, rounds=4, seed=5, start=np.ones(dim), **arguments)

    base = simulate(runs=600, chunk=600, threads=1)
    for first, runs, chunk, threads in [
        (0, 600, 600, 2),
        (0, 600, 500, 3),
        (0, 600, 77, 1),
        (0, 600, None, None),
        (599, 1, None, 1),
        (101, 55, 7, 2),
        (13, 20, 1, 1),
    ]:
        other = simulate(runs=runs, first_run=first, chunk=chunk, threads=threads)
        rows = slice(first, first + runs)
        assert np.array_equal(other.final, base.final[rows])
        assert all(np.array_equal(other[m], base[m][rows]) for m in base.metrics)


def test_large_dimension_agrees_to_rounding():
    problem = quadratic(5, 40, 0.1, 1.0, 1.0, seed=0, samples=3, sample_spread=0.02)
    base = run(FedAvgSVRG(0.2, 2, 2), problem, Bernoulli(0.5), rounds=5, runs=300, chunk=300)
    other = run(FedAvgSVRG(0.2, 2, 2), problem, Bernoulli(0.5), rounds=5, runs=200, first_run=100, chunk=31, threads=2)
    assert np.allclose(base.final[100:], other.final, rtol=1e-12, atol=1e-13)


def test_back_ends_of_the_streams_give_the_same_runs(monkeypatch):
    from sim import streams

    base = run(FedAvgSVRG(0.1, 2, 3), ragged(3), Bernoulli(P), rounds=4, runs=30)
    original = streams.Workspace.__init__
    in_torch = lambda self, device="cpu", backend="": original(self, device, "torch")  # noqa: E731
    monkeypatch.setattr(streams.Workspace, "__init__", in_torch)
    other = run(FedAvgSVRG(0.1, 2, 3), ragged(3), Bernoulli(P), rounds=4, runs=30)
    assert np.array_equal(base.final, other.final)
    rare = FedAvg(0.1, 2, empty="condition")
    assert np.allclose(
        run(rare, ragged(3), Bernoulli(0.1), rounds=4, runs=30, seed=SEED).final[7],
        plain.simulate(rare, ragged(3), 4, 7, SEED, p=np.full(5, 0.1))[-1],
        rtol=1e-12,
    )


@dataclass(frozen=True)
class Presences(Algorithm):
    """Every client moves by its own unit vector, so the final model counts in how many rounds it was there."""

    step: float = 1.0
    aggregation: str = "normalised"
    empty: str = "keep"
    draws: int = 0

    def local_update(self, clients, w, step):
        return w.add_(step * torch.eye(w.shape[0], dtype=w.dtype)[:, :, None])


def test_a_new_algorithm_needs_no_change_to_the_engine_and_choices_are_uniform():
    clients, size, runs = 6, 2, 3000
    problem = quadratic(clients, clients, 1.0, 2.0, 1.0, seed=0)
    trace = run(Presences(), problem, UniformChoice(size), rounds=1, runs=runs, seed=11)
    there = trace.final > 0
    assert np.all(there.sum(1) == size)
    pairs = np.bincount((there @ 2 ** np.arange(clients)).astype(int))
    seen = pairs[pairs > 0]
    assert len(seen) == 15
    assert chi2.sf(((seen - runs / 15) ** 2 / (runs / 15)).sum(), 14) > 1e-6  # error, were the seed random


def test_bernoulli_frequencies_and_conditioning():
    clients, runs = 3, 4000
    problem = quadratic(clients, clients, 1.0, 2.0, 1.0, seed=0)
    p = np.array([0.1, 0.2, 0.4])
    there = run(Presences(), problem, Bernoulli(p), rounds=1, runs=runs, seed=12).final > 0
    given = run(Presences(empty="condition"), problem, Bernoulli(p), rounds=1, runs=runs, seed=12).final > 0
    assert np.all(given.any(1))
    assert np.array_equal(given[there.any(1)], there[there.any(1)])
    for n in range(clients):
        for found, chance in ((there, p[n]), (given, p[n] / (1 - np.prod(1 - p)))):
            count = found[:, n].sum()
            # two-sided, error 1e-7 for each of six
            assert binom.cdf(count, runs, chance) > 5e-8
            assert binom.sf(count - 1, runs, chance) > 5e-8


def test_threads_are_put_back_and_progress_is_told():
    before = torch.get_num_threads()
    told = []
    run(FedAvg(0.1, 1), ragged(1), rounds=3, runs=5, chunk=2, threads=2, progress=lambda *now: told.append(now))
    assert told[-1] == (15, 15)
    assert torch.get_num_threads() == before

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FedAvg(0.1, 1), ragged(1), rounds=3, runs=5, threads=2, progress=interrupt)
    assert torch.get_num_threads() == before


def test_progress_bar(capsys):
    run(FedAvg(0.1, 1), ragged(1), rounds=3, runs=5, progress=True)
    assert "run-rounds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, r"rounds=0 is outside \[1, inf\)"),
        ({"rounds": -2}, "rounds=-2"),
        ({"rounds": 2.0}, "rounds=2.0"),
        ({"runs": 0}, "runs=0"),
        ({"runs": True}, "runs=True"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 0.5}, "seed=0.5"),
        ({"first_run": -1}, "first_run=-1"),
        ({"first_run": 2**32 - 1}, "first_run=4294967295"),
        ({"first_run": 1.0}, "first_run=1.0"),
        ({"start": [1.0]}, r"start has shape \(1,\), not \(2,\)"),
        ({"start": [1.0, np.nan]}, "start="),
        ({"start": "ab"}, "start='ab'"),
        ({"metrics": ["loss"]}, "'loss'"),
        ({"metrics": "cost"}, "metrics='cost'"),
        ({"chunk": 0}, "chunk=0"),
        ({"threads": 0}, "threads=0"),
        ({"device": "abacus"}, "device='abacus'"),
        ({"device": "meta"}, "device='meta'"),
        ({"participation": 0.5}, "participation=0.5"),
        ({"participation": Bernoulli([0.5, 0.5])}, "p has shape"),
        ({"participation": Bernoulli(np.full((2, 5), 0.5))}, "rounds=3"),
        ({"participation": UniformChoice(6)}, "size=6"),
        ({"algorithm": FedAvg((0.1, 0.1), 1)}, "round=2"),
        ({"algorithm": "svrg"}, "algorithm='svrg'"),
        ({"problem": 3}, "problem=3"),
        ({"algorithm": FedAvg(0.1, 1, empty="condition"), "participation": Bernoulli(1e-9)}, "empty='condition'"),
    ],
)
def test_bad_input(change, message):
    arguments = {"algorithm": FedAvg(0.1, 1), "problem": ragged(2), "rounds": 3, "runs": 2, **change}
    with pytest.raises(ValueError, match=message):
        run(arguments.pop("algorithm"), arguments.pop("problem"), **arguments)


def test_metrics_that_do_not_exist_refuse_before_the_work():
    flat = from_samples([[np.diag([1.0, 0.0])]], [[np.array([1.0, 0.0])]])
    trace = run(FedAvg(0.5, 1), flat, rounds=2, runs=1, start=[0, 3], metrics=["suboptimality"])
    assert np.allclose(trace["suboptimality"], [[0.5, 0.125, 0.03125]])
    with pytest.raises(ValueError, match="minimiser"):
        run(FedAvg(0.5, 1), flat, rounds=2, runs=1, metrics=["squared_distance"])
    unbounded = from_samples([[np.zeros((1, 1))]], [[np.ones(1)]])
    with pytest.raises(ValueError, match=r"unbounded|minimiser"):
        run(FedAvg(0.5, 1), unbounded, rounds=2, runs=1)
