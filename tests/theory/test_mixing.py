"""The mixing-weight solver against exact fractions, all faces of the simplex, and cvxpy."""

import math
import re
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from theory.mixing import exact_objective, exact_weights, heterogeneous_cost, mixing_weights, model


def best_face(z: list[Fraction], n: list[Fraction], lam: Fraction) -> tuple[tuple[Fraction, ...], Fraction]:
    """The minimiser and the minimum, by solving the equations of every face of the simplex."""
    found = []
    for size in range(1, len(z) + 1):
        for face in combinations(range(len(z)), size):
            level = (2 * lam + sum(n[j] * z[j] for j in face)) / sum(n[j] for j in face)
            weights = [n[j] * (level - z[j]) / (2 * lam) if j in face else Fraction(0) for j in range(len(z))]
            if min(weights) >= 0:
                found.append((exact_objective(weights, z, n, lam), tuple(weights)))
    value, weights_ = min(found)
    return weights_, value


def distance(floats: np.ndarray, exact: tuple[Fraction, ...]) -> float:
    """The 1-norm of the error, computed exactly."""
    return float(sum(abs(Fraction(float(a)) - b) for a, b in zip(floats, exact, strict=True)))


def test_the_exact_solver_against_all_faces() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        size = int(random.integers(1, 6))
        z = [Fraction(int(k), 4) for k in random.integers(-8, 9, size)]
        n = [Fraction(int(k)) for k in random.integers(1, 9, size)]
        lam = Fraction(int(random.integers(1, 33)), 8)
        solution = exact_weights(z, n, lam)
        assert (solution.weights, solution.objective) == best_face(z, n, lam)
        assert solution.active == tuple(j for j in range(size) if z[j] < solution.multiplier)


def test_badly_scaled_programs_keep_every_digit() -> None:
    """The error is a few roundings, whatever the offset, the ratios of the n_j and lam."""
    random = np.random.default_rng(1)
    for _ in range(500):
        size = int(random.choice([1, 2, 3, 5, 8, 13]))
        scale, offset = 10 ** random.uniform(-12, 6), random.choice([0, 0, 1e6, -1e12, 1e15])
        kinds = random.integers(0, 4, size)
        spread = np.choose(kinds, [0.0, 1.0, random.random(size), 1 + 1e-9 * random.random(size)])
        z = offset + scale * spread
        n = 10 ** random.uniform(0, random.choice([0, 3, 12]), size)
        lam = 10 ** random.uniform(-12, 12) * random.choice([1, 1, 1e-150, 1e100])
        solution, exact = mixing_weights(z, n, lam), exact_weights(z, n, lam)
        assert distance(solution.weights, exact.weights) <= 4e-15
        assert solution.kkt_residual <= 4e-15
        assert math.isclose(solution.multiplier, exact.multiplier, rel_tol=4e-15)
        assert math.isclose(solution.objective, exact.objective, rel_tol=4e-15, abs_tol=1e-15 * float(np.abs(z).max()))


def test_many_clients_and_many_lam_are_the_single_programs() -> None:
    random = np.random.default_rng(3)
    z, n, lam = random.normal(size=(4, 6)), random.integers(1, 20, 6), np.array([[0.1, 1.0], [30.0, 1e6]])
    solution = mixing_weights(z, n, lam)
    assert solution.weights.shape == (2, 2, 4, 6)
    assert solution.multiplier.shape == solution.objective.shape == solution.kkt_residual.shape == (2, 2, 4)
    for row, column, client in np.ndindex(2, 2, 4):
        single, one = mixing_weights(z[client], n, lam[row, column]), solution[row, column, client]
        np.testing.assert_allclose(one.weights, single.weights, rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(one.multiplier, single.multiplier, rtol=1e-14)
        np.testing.assert_allclose(one.objective, single.objective, rtol=1e-14)


def test_a_client_at_the_threshold_gets_no_negative_weight() -> None:
    """The sum of the other weights rounds to more than one here."""
    z = [0.17559382080318986, 0.2638309596260918, 0.6294858846878145]
    solution = mixing_weights(z, [333.2649903839761, 30.636172640946, 40.91078767659738], 81.23430085853781)
    assert solution.weights[2] == 0


def test_the_heterogeneous_version_adds_to_the_costs() -> None:
    z, n, vc = [0.0, 0.3, 0.1], [4, 16, 25], [4.0, 9.0, 0.0]
    np.testing.assert_allclose(heterogeneous_cost(z, n, vc), [1.0, 1.05, 0.1], rtol=1e-15)
    ours = mixing_weights(z, n, 2.0, vc=vc)
    np.testing.assert_array_equal(ours.weights, mixing_weights([1.0, 1.05, 0.1], n, 2.0).weights)


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (2, 1), (10, 2), (100, 3), (1000, 4)])
def test_cvxpy_agrees(size: int, seed: int) -> None:
    """Primal, dual and value of an interior-point method, which is accurate to about 1e-8."""
    random = np.random.default_rng(seed)
    z, n = random.exponential(size=size), random.integers(1, 1000, size)
    lam = 0.05 * n.sum()
    solution, problem = mixing_weights(z, n, lam), model(z, n, lam)
    problem.solve(solver="CLARABEL")
    (weights,) = problem.variables()
    assert math.isclose(problem.value, solution.objective, rel_tol=1e-6)
    np.testing.assert_allclose(weights.value, solution.weights, atol=1e-5)
    assert math.isclose(-float(problem.constraints[0].dual_value), solution.multiplier, rel_tol=1e-5)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"z": []}, "z is empty"),
    ({"z": 1.0}, "z has shape"),
    ({"z": [0.0, math.nan, 1.0]}, "z[1]=nan"),
    ({"z": [0.0, 1.0, math.inf]}, "z[2]=inf"),
    ({"z": [0.0, 1j, 1.0]}, "z is not an array of real numbers"),
    ({"z": [[0.0, 1.0, 2.0], [0.0, 1.0]]}, "z is not an array"),
    ({"n": [1, 2]}, "n has 2 entries"),
    ({"n": [1, 2, 0]}, "n[2]=0 is outside (0, inf)"),
    ({"n": [1, -2, 3]}, "n[1]=-2 is outside (0, inf)"),
    ({"n": [1, math.inf, 3]}, "n[1]=inf"),
    ({"n": [1e-300, 1e300, 3]}, "n: the ratio"),
    ({"n": [[1, 2, 3]]}, "n has shape (1, 3)"),
    ({"lam": 0.0}, "lam=0 is outside (0, inf)"),
    ({"lam": [1.0, -2.0]}, "lam=-2 is outside (0, inf)"),
    ({"lam": math.nan}, "lam[0]=nan"),
    ({"lam": "many"}, "lam is not an array"),
    ({"vc": [1.0]}, "vc has shape (1,)"),
    ({"vc": [1.0, -1.0, 0.0]}, "vc[1]=-1 is outside [0, inf)"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused(changes: dict[str, Any], message: str) -> None:
    arguments = {"z": [0.0, 1.0, 2.0], "n": [1, 2, 3], "lam": 1.0, **changes}
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        mixing_weights(**arguments)


@pytest.mark.parametrize(
    ("z", "n", "lam", "message"),
    [
        ([], [], 1, "z is empty"),
        ([0], [1, 2], 1, "n has 2"),
        ([0, 1], [1, 0], 1, r"n\[1\]=0"),
        ([0], [1], 0, "lam=0"),
        ([math.nan], [1], 1, "rational"),
    ],
)
def test_bad_input_of_the_exact_solver_is_refused(z: list[float], n: list[float], lam: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact_weights(z, n, lam)
