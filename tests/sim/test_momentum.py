"""FedMIM and the algorithms it is compared with: against plain code, and against one another where they coincide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, FedMIM
from sim.engine import run
from sim.participation import UniformChoice
from sim.problems import from_samples, least_squares, quadratic
from tests.sim import _plain_averaged as plain

SEED = 2**33 + 5
LAGS = FedMIM((0.1, 0.2, 0.05, 0.1, 0.3), 3, alpha=(0.6, 0.3), beta=(0.9, 0.1))
THREE = FedMIM(0.1, 2, alpha=(0.3, 0, Fraction(1, 2)), beta=(0.25,))
KINDS = {
    "two lags": (LAGS, plain.MIM),
    "three": (THREE, plain.MIM),
}


def ragged(dim, features=False):
    """Five clients with 1 to 6 samples."""
    rng = np.random.default_rng(dim)
    counts = [6, 1, 3, 4, 2]
    q = [rng.standard_normal((c, dim)) / dim**0.5 for c in counts]
    y = [rng.standard_normal(c) for c in counts]
    if features:
        return least_squares(q, y)
    h = [[2 * np.outer(v, v) + 0.3 * np.eye(dim) for v in rows] for rows in q]
    return from_samples(h, [2 * v * t[:, None] for v, t in zip(q, y, strict=True)])


def path(algorithm, problem, size, rounds=5, runs=3, **options):
    options = {"seed": SEED, "metrics": ["iterate"], **options}
    return run(algorithm, problem, UniformChoice(size), rounds=rounds, runs=runs, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "features", "size"), [(1, False, 2), (3, True, 1), (3, False, 5), (20, True, 3)])
def test_equals_the_plain_algorithm(kind, dim, features, size):
    algorithm, reference = KINDS[kind]
    problem, start = ragged(dim, features), np.arange(dim) - 0.5
    trace = path(algorithm, problem, size, start=start, metrics=["iterate", "local_consistency"], chunk=2)
    for r in range(3):
        expected, consistency = reference(algorithm, problem, r, SEED, start, size).path(5)
        assert np.allclose(trace["iterate"][r], expected, rtol=1e-10, atol=1e-11)
        assert np.allclose(trace["local_consistency"][r], consistency, rtol=1e-9, atol=1e-12)


def same(first, second):
    return np.array_equal(first["iterate"], second["iterate"])


@pytest.mark.parametrize("dim", [1, 4])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_without_momentum_it_is_fedavg_to_the_last_bit(dim, size):
    problem = ragged(dim)
    expected = path(FedAvg(0.1, 3, aggregation="normalised"), problem, size)
    assert np.ptp(expected["iterate"]) > 0
    for algorithm in (FedMIM(0.1, 3), FedMIM(0.1, 3, alpha=(0, 0), beta=(0.0,))):
        assert same(path(algorithm, problem, size), expected)


def test_the_first_round_knows_no_past():
    """Increments are 0 at first: FedMIM takes A times the step of FedAvg."""
    problem = ragged(3)
    first = path(FedAvg(0.125, 1, aggregation="normalised"), problem, 2, rounds=1)
    for alpha in ((0.5,), (0.25, 0.25), (0, 0.5)):
        algorithm = FedMIM(0.25, 1, alpha=alpha, beta=(0.9,))
        assert same(path(algorithm, problem, 2, rounds=1), first)  # 0.5 of 0.25


@settings(max_examples=20, deadline=None)
@given(
    alpha=st.lists(st.floats(0, 0.3), max_size=3),
    beta=st.lists(st.floats(0, 1), max_size=3),
    local_steps=st.integers(1, 3),
)
def test_lemmas_5_and_6_hold_on_the_path(alpha, beta, local_steps):
    """(16) and (19), with dtilde from its definition (18): everybody takes part, one sample each."""
    problem, step = quadratic(5, 2, 0.5, 1.5, 1.0, seed=1), 0.2
    algorithm = FedMIM(step, local_steps, alpha=tuple(alpha), beta=tuple(beta))
    x = path(algorithm, problem, 5, start=[1.0, 2.0], rounds=6, runs=1)["iterate"][0]
    a, b = np.array(algorithm.alpha, dtype=float), np.array(algorithm.beta, dtype=float)
    weight = 1 - a.sum()

    def increment(t):
        return (x[t - 1] - x[t]) / local_steps if t >= 1 else np.zeros(2)

    def pull(weights, t):
        return sum((w * increment(t - j) for j, w in enumerate(weights)), np.zeros(2))

    def auxiliary(t):
        return x[t] - local_steps / weight * pull([a[j:].sum() for j in range(len(a))], t)

    for t in range(6):
        local, total = np.tile(x[t], (5, 1)), np.zeros(2)
        for _ in range(local_steps):
            g = np.einsum("nij,nj->ni", problem.client_hessian, local - pull(b, t)) - problem.client_linear
            local = local - pull(a, t) - weight * step * g
            total += g.sum(axis=0)
        average_step = step / (5 * local_steps) * total
        assert np.allclose(increment(t + 1), weight * average_step + pull(a, t), rtol=1e-9, atol=1e-11)
        assert np.allclose(auxiliary(t + 1), auxiliary(t) - local_steps * average_step, rtol=1e-9, atol=1e-10)


def test_a_run_is_the_same_to_the_last_bit_in_every_batch():
    problem = ragged(4)
    for algorithm, _ in KINDS.values():
        names = ["iterate", "local_consistency"]
        whole = path(algorithm, problem, 2, runs=70, metrics=names)
        parts = path(algorithm, problem, 2, runs=70, metrics=names, chunk=11)
        alone = path(algorithm, problem, 2, runs=1, first_run=42, metrics=names)
        for name in names:
            assert np.array_equal(whole[name], parts[name])
            assert np.array_equal(whole[name][42], alone[name][0])


def test_local_consistency_of_fedavg_with_everybody():
    """One gradient step each, from 0: w_n = step b_n, so the metric is step^2 times the spread of the b_n."""
    problem = quadratic(6, 3, 0.5, 2.0, 1.0, seed=2)
    trace = run(FedAvg(0.25, 1), problem, rounds=1, runs=2, metrics=["local_consistency"])
    b = problem.client_linear
    spread = ((b - b.mean(axis=0)) ** 2).sum(axis=1).mean() / 16
    assert np.allclose(trace["local_consistency"], [[0, spread]] * 2, rtol=1e-12)


def test_frozen_and_normalised():
    algorithm = FedMIM(np.float64(0.5), 2, alpha=[0.5], beta=np.array([0.1, 0.2]))
    assert (algorithm.alpha, algorithm.beta, algorithm.lags) == ((0.5, 0), (0.1, 0.2), 2)
    assert (algorithm.aggregation, algorithm.empty, algorithm.name) == ("normalised", "condition", "fedmim")
    assert FedMIM(0.5, 2, alpha=(Fraction(1, 3),)).gradient_weight == Fraction(2, 3)
    assert hash(algorithm) == hash(FedMIM(0.5, 2, alpha=(0.5,), beta=(0.1, 0.2)))
    with pytest.raises(AttributeError):
        algorithm.alpha = ()
    with pytest.raises(TypeError):
        FedMIM(0.1, 2, aggregation="unbiased")


BAD = [
    (lambda: FedMIM(0, 1), "step=0"),
    (lambda: FedMIM(0.1, 0), "local_steps=0"),
    (lambda: FedMIM(0.1, 1, alpha=(0.5, 0.5)), "alpha=.* outside \\[0, 1\\)"),
    (lambda: FedMIM(0.1, 1, alpha=(-0.1,)), "alpha\\[0\\]=-0.1"),
    (lambda: FedMIM(0.1, 1, beta=(0, math.nan)), "beta\\[1\\]=nan"),
    (lambda: FedMIM(0.1, 1, beta=(math.inf,)), "beta\\[0\\]=inf"),
    (lambda: FedMIM(0.1, 1, alpha=0.5), "alpha=0.5 is not a sequence"),
    (lambda: FedMIM(0.1, 1, alpha=("1/2",)), "alpha\\[0\\]='1/2'"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_what_is_outside_its_domain_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
