"""The exact oracle: known values, laws that must hold, and bad inputs."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.exact import moments
from sim.exact_moments import CancellationError
from sim.participation import Bernoulli, UniformChoice
from sim.problems.generators import from_samples, quadratic, scalar
from sim.problems.quadratic import Quadratic

SUMS = ("drift_sum", "weighted_sum", "lexicographic_drift_sum")


def test_eq7_is_false_at_its_known_instance() -> None:
    """f = t^2/2, one client, S = 8, M = 1, delta = 1/2, K = 1: left side 1, right side 30037/32768."""
    delta = F(1, 2)
    found = moments(FedAvgSVRG(delta, 8, 1), scalar([[1]], [[0]], exact=True), rounds=1, start=[1])
    assert found.suboptimality is not None
    right = 2 * found.suboptimality[0] / (delta * 8) + delta * found.weighted_sum()
    assert found.mean_squared_gradient_norm() == 1
    assert found.drift_sum() == 0
    assert right == F(30037, 32768)
    repaired = right + delta**2 / 8 * found.lexicographic_drift_sum()
    assert repaired >= 1


def test_two_clients_keep_a_floor() -> None:
    """h = (1, 1/2), a = (1, -1), p = 1, delta = 1/8, M = 100: the squared gradient norm settles at 0.0622."""
    problem = scalar([[1], [F(1, 2)]], [[1], [-1]], exact=True)
    found = moments(FedAvgSVRG(F(1, 8), 1, 100), problem, rounds=3, start=[1])
    assert float(found.squared_gradient_norm[3]) == pytest.approx(0.0622, abs=5e-5)
    fixed = moments(FedAvgSVRG(1 / 8, 1, 100), scalar([[1], [0.5]], [[1], [-1]]), rounds=200, start=[1])
    # both clients' maps contract to their own minimisers: theta* = (1 - c1 - (1 - c2))/(2 - c1 - c2), c = (1 - h/8)^100
    first, second = (1 - 1 / 8) ** 100, (1 - 1 / 16) ** 100
    theta = (second - first) / (2 - first - second)
    gradient = ((theta - 1) + (theta + 1) / 2) / 2
    assert fixed.squared_gradient_norm[-1] == pytest.approx(gradient**2, rel=1e-12)


def test_gradient_descent_is_gradient_descent() -> None:
    """One client of one sample that always takes part: theta^k = a + (1 - delta h)^(k S M) (theta^0 - a)."""
    problem = scalar([[2]], [[3]], exact=True)
    found = moments(FedAvgSVRG(F(1, 10), 2, 3), problem, rounds=4, start=[F(-1)])
    expected = [3 - 4 * F(4, 5) ** (6 * k) for k in range(5)]
    assert found.mean[:, 0].tolist() == expected
    assert found.second_moment[:, 0, 0].tolist() == [x * x for x in expected]
    assert found.squared_gradient_norm.tolist() == [4 * (x - 3) ** 2 for x in expected]


def test_convergence_keeps_its_relative_accuracy() -> None:
    """With one minimiser common to all samples the error goes to 0 geometrically, far below rounding of theta^2."""
    problem = scalar([[1.0, 2.0], [0.5]], [[0.7, 0.7], [0.7]])
    found = moments(FedAvgSVRG(0.25, 2, 3), problem, Bernoulli(0.5), rounds=60, start=[3.0])
    exact = moments(
        FedAvgSVRG(F(1, 4), 2, 3),
        scalar([[1, 2], [F(1, 2)]], [[F(7, 10)] * 2, [F(7, 10)]], exact=True),
        Bernoulli(F(1, 2)),
        rounds=60,
        start=[3],
    )
    assert exact.squared_gradient_norm[-1] < 1e-12
    np.testing.assert_allclose(found.squared_gradient_norm, exact.squared_gradient_norm.astype(float), rtol=1e-10)


def test_second_moments_are_covariances() -> None:
    problem = quadratic(4, 3, 0.1, 1.0, 1.0, seed=3, samples=3, sample_spread=0.7)
    found = moments(FedAvgSVRG(0.2, 2, 2), problem, Bernoulli(0.4), rounds=30, start=np.zeros(3))
    covariance = found.second_moment - found.mean[:, :, None] * found.mean[:, None, :]
    assert np.array_equal(found.second_moment, found.second_moment.swapaxes(1, 2))
    assert np.linalg.eigvalsh(covariance).min() > -1e-12
    assert np.linalg.eigvalsh(covariance[1:]).max() > 1e-3
    assert found.suboptimality is not None
    assert np.allclose(found.cost, found.suboptimality + problem.optimal_value, rtol=1e-14, atol=0)


def test_copying_every_client_twice_changes_nothing_but_the_server_noise() -> None:
    """Metamorphic: with p = 1 and one sample a client the duplicated problem is the same one."""
    h, a = [[1], [F(1, 2)]], [[1], [-1]]
    algorithm = FedAvgSVRG(F(1, 4), 2, 2)
    once = moments(algorithm, scalar(h, a, exact=True), rounds=3, start=[2])
    twice = moments(algorithm, scalar(h * 2, a * 2, exact=True), rounds=3, start=[2])
    assert np.array_equal(once.second_moment, twice.second_moment)
    assert twice.drift_sum() == 2 * once.drift_sum()


def test_no_rounds() -> None:
    for exact in (False, True):
        problem = scalar([[1, 2], [3]], [[1, 0], [2]], exact=exact)
        found = moments(FedAvgSVRG(F(1, 2), 2, 3), problem, Bernoulli(F(1, 2)), rounds=0, start=[2])
        assert found.rounds == 0
        assert found.mean.tolist() == [[2]]
        assert found.second_moment.tolist() == [[[4]]]
        assert found.estimator.shape == (0, 2, 2, 3)
        assert found.participation.shape == (0, 2)
        assert found.aggregate is not None
        assert found.aggregate.shape == (0,)
        for name in SUMS:
            assert getattr(found, name)() == 0
        with pytest.raises(ValueError, match=r"rounds=0 is outside \[1, inf\)"):
            found.mean_squared_gradient_norm()


def test_functions_without_a_minimum() -> None:
    """The second client is unbounded below, f is not; then f is not either."""
    partly = moments(FedAvgSVRG(F(1, 9), 1, 2), scalar([[2], [-1]], [[1], [1]], exact=True), rounds=1, start=[2])
    assert partly.local_suboptimality is None
    assert partly.suboptimality is not None
    for exact in (False, True):
        problem = scalar([[2], [-4]], [[1], [3]], exact=exact)
        nowhere = moments(FedAvg(F(1, 8), 2), problem, rounds=1, start=[2])
        assert nowhere.suboptimality is None
        # f_n = (t - 1)^2 and -2 (t - 3)^2, from t = 2 to (1 - 1/4)^2 + 1 = 25/16 and 3 - (3/2)^2 = 3/4
        theta = (F(25, 16) + F(3, 4)) / 2
        assert nowhere.mean[:, 0].tolist() == [2, theta]
        assert nowhere.cost.tolist() == [((t - 1) ** 2 - 2 * (t - 3) ** 2) / 2 for t in (F(2), theta)]


SCALAR = scalar([[1.0], [2.0]], [[0.0], [1.0]])
RATIONAL = scalar([[1], [2]], [[0], [1]], exact=True)
SVRG = FedAvgSVRG(F(1, 4), 1, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": -1}, r"rounds=-1 is outside the integers in \[0, inf\)"),
        ({"rounds": 1.5}, r"rounds=1\.5 is outside the integers in \[0, inf\)"),
        ({"rounds": True}, r"rounds=True is outside the integers in \[0, inf\)"),
        ({"rounds": "2"}, r"rounds='2' is outside the integers in \[0, inf\)"),
        ({"start": [0.0, 1.0]}, r"start=\[0\.0, 1\.0\] has shape \(2,\), not \(1,\)"),
        ({"start": 0.0}, r"start=0\.0 has shape \(\), not \(1,\)"),
        ({"start": None}, r"start=None has shape \(\), not \(1,\)"),
        ({"start": [math.nan]}, r"start\[0\]=nan is outside \(-inf, inf\)"),
        ({"start": [math.inf]}, r"start\[0\]=inf is outside \(-inf, inf\)"),
        ({"start": ["3"]}, r"start\[0\]='3' is not a number in \(-inf, inf\)"),
        ({"start": [1j]}, r"start\[0\]=1j is not a number in \(-inf, inf\)"),
        ({"start": [[0.0], [1.0, 2.0]]}, r"start=\[\[0\.0\], \[1\.0, 2\.0\]\] "),
        ({"algorithm": "fedavg-svrg"}, "algorithm='fedavg-svrg' is neither FedAvgSVRG nor FedAvg"),
        ({"problem": None}, "problem=None is not a Quadratic"),
        ({"participation": 0.5}, r"participation=0\.5 is neither Bernoulli nor UniformChoice"),
        ({"participation": Bernoulli([0.5] * 3)}, r"p has shape \(3,\), which does not fit clients=2"),
        ({"participation": Bernoulli([[0.5] * 2] * 3)}, "p has 3 rows, not rounds=2"),
        ({"participation": Bernoulli([[0.5] * 2])}, "p has 1 rows, not rounds=2"),
        ({"participation": UniformChoice(3)}, r"size=3 is outside the integers in \[1, 2\]"),
        ({"algorithm": FedAvgSVRG((0.1, 0.2, 0.3), 1, 1)}, "step has 3 entries, not rounds=2"),
        ({"algorithm": FedAvgSVRG(0.25, 1, 1), "problem": RATIONAL, "start": [1]}, r"step=0\.25 is not rational"),
        (
            {"algorithm": FedAvg((F(1, 2), 0.25), 1), "problem": RATIONAL, "start": [1]},
            r"step\[1\]=0\.25 is not rational",
        ),
        ({"problem": RATIONAL}, r"start\[0\]=1\.0 is not rational"),
        ({"problem": RATIONAL, "start": [math.nan]}, r"start\[0\]=nan is not rational"),
        ({"problem": RATIONAL, "start": [1], "participation": Bernoulli(0.5)}, r"p=0\.5 is not rational"),
        ({"algorithm": FedAvg(1e6, 40), "rounds": 3}, r"step=1000000\.0 is outside .*float64.*diverge"),
    ],
)
def test_bad_inputs_are_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "algorithm": SVRG,
        "problem": SCALAR,
        "participation": Bernoulli(F(1, 2)),
        "rounds": 2,
        "start": [1.0],
        **changes,
    }
    with pytest.raises(ValueError, match=message):
        moments(**arguments)


def test_numpy_arguments_are_welcome() -> None:
    problem: Quadratic = scalar([[1.0], [2.0]], [[0.0], [1.0]])
    found = moments(SVRG, problem, rounds=np.int64(2), start=np.array([1], dtype=np.int32))
    plain = moments(SVRG, problem, Bernoulli(1.0), rounds=2, start=[1.0])
    assert np.array_equal(found.second_moment, plain.second_moment)


def test_iterates_that_are_flung_out_and_come_back_are_refused_in_floats() -> None:
    """Two coordinates: one grows by 1e30 and is then killed, which leaves rounding in the other."""
    problem = from_samples([[[[1, 0.3], [0.3, 0.9]]]], [[[1.0, 0.0]]])
    steps = (1e15, 1e15, *(0.5,) * 300)
    with pytest.raises(CancellationError, match="rises to"):
        moments(FedAvg(step=steps, local_steps=1), problem, rounds=302, start=[1.0, 2.0])
    # a plain decay from the start is not refused, however far it goes
    found = moments(FedAvg(step=0.5, local_steps=1), problem, rounds=300, start=[1.0, 2.0])
    assert abs(found.squared_gradient_norm[-1]) < 1e-30
