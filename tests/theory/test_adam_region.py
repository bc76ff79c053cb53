"""The region in which Theorem 3 of the open-fl paper can be applied, against its formula, brute force and z3."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theory.calculator import in_numbers
from theory.catalog import claim
from theory.evaluate import exact_terms
from theory.stability.adam_region import applicable, largest_condition_number

WITNESS = {
    "mu": "1",
    "L": "1",
    "eta": "1/4",
    "beta1": "0",
    "beta2": "1/4",
    "eps": "16/25",
    "sigma": "3/5",
    "d": "1",
    "r": "0",
}
# With momentum and noise to spare: kappa = 101/100, beta1 = 1/20
SECOND = {
    "mu": "100/101",
    "L": "1",
    "eta": "1/5",
    "beta1": "1/20",
    "beta2": "1/10",
    "eps": "16/25",
    "sigma": "3/5",
    "d": "1",
    "r": "0",
}
PAPER = {
    "mu": "1/100",
    "L": "16",
    "eta": "1/10",
    "beta1": "9/10",
    "beta2": "999/1000",
    "eps": "1/1000",
    "sigma": "28",
    "d": "100",
    "r": "0",
}
FACTORS = st.tuples(st.floats(0, 0.95), st.floats(0.01, 0.99)).map(lambda p: (p[0], p[0] ** 2 + (1 - p[0] ** 2) * p[1]))


def required_ratio(kappa: Any, beta1: Any, beta2: Any, d: int, tau: Any, theta: Any) -> Any:
    """rho = (mu R/sigma)^2 of Theorem 3 with r = 0; inf where 1 - kappa C1 <= 0, so that no radius exists."""
    left = 1 - np.asarray(kappa) + kappa * tau
    momentum = ((d + tau * d * beta1 + beta1 * (2 - tau)) / np.sqrt(theta) - d) / (1 - beta1)
    value = tau**2 * kappa * d * growth(beta1, beta2) / (4 * (1 - theta)) + tau * momentum
    return np.where(left > 0, value / np.where(left > 0, left, 1.0), np.inf)


def growth(beta1: float, beta2: float) -> float:
    return (1 + beta1) / ((1 - beta1) * (1 - beta2) * (1 - beta1**2 / beta2))


@given(FACTORS, st.floats(1, 3), st.integers(1, 50), st.floats(0.01, 1), st.floats(0.01, 0.99), st.floats(0.1, 10))
@settings(max_examples=150)
def test_the_ratio_is_that_of_the_printed_radius(
    factors: tuple[float, float], kappa: float, d: int, tau: float, theta: float, size: float
) -> None:
    """(mu R/sigma)^2 by (5), whatever the units: `size` is s, mu is anything."""
    assume(1 - kappa + kappa * tau > 1e-3)
    beta1, beta2 = factors
    mu = 0.3
    given_ = {
        "mu": mu,
        "L": kappa * mu,
        "eta": tau * size / (2 * mu),
        "beta1": beta1,
        "beta2": beta2,
        "eps": theta * size**2,
        "sigma": math.sqrt(1 - theta) * size,
        "d": d,
        "r": 0,
    }
    radius = claim("open-fl/theorem-3").bound(**given_)
    expected = (mu * float(radius) / given_["sigma"]) ** 2
    assert float(required_ratio(kappa, beta1, beta2, d, tau, theta)) == pytest.approx(expected, rel=1e-7)


@given(FACTORS, st.integers(1, 20), st.integers(0, 10**6))
@settings(max_examples=40)
def test_no_search_beats_the_largest_condition_number(factors: tuple[float, float], d: int, seed: int) -> None:
    beta1, beta2 = factors
    rng = np.random.default_rng(seed)
    tau, theta = 10 ** rng.uniform(-6, 0, 4000), 1 - 10 ** rng.uniform(-6, -1e-3, 4000)
    largest = float(largest_condition_number(beta1, beta2, d))
    if beta1 >= 1 / 3:
        assert math.isnan(largest)
        for kappa in (1.0, 1.5):
            assert (required_ratio(kappa, beta1, beta2, d, tau, theta) > 1).all()
        return
    assert largest >= 1
    for factor in (1 + 1e-6, 1.001, 1.1):
        assert (required_ratio(factor * largest, beta1, beta2, d, tau, theta) > 1).all()
    assert largest <= d * growth(beta1, beta2) / (d * growth(beta1, beta2) - 1)


@pytest.mark.parametrize(("beta1", "beta2", "d"), [(0.0, 0.25, 1), (0.0, 0.999, 1), (0.2, 0.5, 3), (0.3, 0.999, 2)])
def test_the_largest_condition_number_is_attained(beta1: float, beta2: float, d: int) -> None:
    """By an optimiser of its own: the best ratio just below the boundary is at most 1, just above it more."""
    from scipy.optimize import differential_evolution

    excess = float(largest_condition_number(beta1, beta2, d)) - 1
    assert excess > 0
    tau = 2 / (d * growth(beta1, beta2))  # its order

    def worst(kappa: float) -> float:
        def ratio(point: np.ndarray) -> float:
            at = min(1.0, tau * math.exp(point[0]))
            value = float(required_ratio(kappa, beta1, beta2, d, at, 1 - math.exp(point[1])))
            return value if math.isfinite(value) else 1e9

        bounds = [(-12.0, 3.0), (-14.0, -0.05)]
        return float(differential_evolution(ratio, bounds, seed=1, tol=1e-12, maxiter=300).fun)

    assert worst(1 + 0.999 * excess) <= 1
    assert worst(1 + 1.001 * excess) > 1


def test_vectorised_over_everything() -> None:
    found = largest_condition_number([[0.0], [0.1]], [0.3, 0.5, 0.7], 2)
    assert found.shape == (2, 3)
    assert found[1, 2] == largest_condition_number(0.1, 0.7, 2)


@pytest.mark.parametrize(
    ("arguments", "name"), [((1.0, 0.5, 1), "beta1"), ((0.5, 0.25, 1), "beta2"), ((0.1, 0.5, 1.5), "d")]
)
def test_bad_arguments_are_refused(arguments: tuple[float, ...], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}="):
        largest_condition_number(*arguments)


@pytest.mark.parametrize("witness", [WITNESS, SECOND])
def test_a_witness_satisfies_every_hypothesis(witness: dict[str, str]) -> None:
    """Exactly, C1..C5 in fractions; f = mu x^2/2 has |f'| <= sigma on B(0, R)."""
    theorem = claim("open-fl/theorem-3/on-the-ball")
    assert theorem.violated(**witness) == ()
    found = applicable(**witness)
    assert found.holds
    assert found.failed == ()
    numbers, given = in_numbers(claim("open-fl/theorem-3"), witness)
    without_radius = {name: text for name, text in numbers.definitions.items() if name != numbers.right}
    terms = exact_terms(replace(numbers, hypotheses=(), standing=(), definitions=without_radius, right="0"), given)
    assert found.terms["C2"] == pytest.approx(float(terms["C2"]))
    assert Fraction(witness["mu"]) * Fraction(theorem.enclose(**witness).upper) <= Fraction(witness["sigma"])


def test_the_papers_settings_fail_by_name() -> None:
    """Section IV-A: no radius exists, and the step is longer than 1/L."""
    found = applicable(**PAPER)
    assert not found.holds
    assert math.isnan(found.radius)
    failed = {condition.name: condition.holds for condition in found.failed}
    assert failed["eta <= 1/L"] is False
    assert failed["one_minus_kappa_C1 > 0"] is False
    assert failed["beta1 < 1/3"] is False
    assert failed["mu*R <= sigma"] is False  # R has no value
    assert found.terms["C1"] == pytest.approx(1 - 2 * 0.01 * 0.1 / math.sqrt(1e-3 + 28**2))
    assert found.terms["kappa"] * found.terms["C1"] > 1500
