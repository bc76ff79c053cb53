"""Orders of bounds along a schedule, against slopes of their values and hand-worked exponents."""

import pytest
import sympy

from theory import claim
from theory.order import best_exponent, exponents, order_holds

EPS = sympy.Symbol("eps", positive=True)


def test_terms_of_eq8_along_a_power_of_K():
    found = exponents(claim("fedavg-svrg/theorem-v1-eq8"), {"delta": "K**(-eps)"})
    assert found == {"optimisation_term": EPS - 1, "drift_term": -2 * EPS, "noise_term": -EPS}


def test_best_exponent_of_eq8_is_one_half():
    found = exponents(claim("fedavg-svrg/theorem-v1-eq8"), {"delta": "K**(-eps)"})
    assert best_exponent(found) == (sympy.Rational(1, 2), -sympy.Rational(1, 2))


def test_without_the_noise_term_it_would_be_one_third():
    found = exponents(claim("fedavg-svrg/theorem-v1-eq8"), {"delta": "K**(-eps)"})
    del found["noise_term"]
    assert best_exponent(found) == (sympy.Rational(1, 3), -sympy.Rational(2, 3))


def test_a_constant_step_leaves_constant_terms():
    found = exponents(claim("fedavg-svrg/theorem-v1-eq8"), {})
    assert found == {"optimisation_term": -1, "drift_term": 0, "noise_term": 0}


@pytest.mark.parametrize("eps", ["1/3", "1/2", "1"])
def test_exponents_agree_with_slopes_of_the_values(eps):
    eq8 = claim("fedavg-svrg/theorem-v1-eq8")
    found = exponents(eq8, {"delta": f"K**(-{eps})"})
    low, high = 10**8, 10**10
    rate = float(sympy.Rational(eps))
    values = [eq8.terms(delta=k**-rate, L=2, K=k, S=3, M=4, G2=5, f0_gap=1, mean_inv_p=2) for k in (low, high)]
    for name, exponent in found.items():
        slope = sympy.log(values[1][name] / values[0][name]) / sympy.log(high / low)
        assert float(slope) == pytest.approx(float(exponent), abs=1e-9)


def test_a_schedule_for_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="stepsize"):
        exponents(claim("fedavg-svrg/theorem-v1-eq8"), {"stepsize": "1/K"})


def test_exponents_that_are_not_affine_are_refused():
    with pytest.raises(ValueError, match="not affine"):
        best_exponent({"term": EPS**2})


@pytest.mark.parametrize(
    ("eps", "claimed", "expected"), [("1/3", "-2/3", False), ("1/3", "-1/3", True), ("1/2", "-1/2", True)]
)
def test_a_claimed_order_is_checked(eps, claimed, expected):
    assert order_holds(claim("fedavg-svrg/theorem-v1-eq8"), {"delta": f"K**(-{eps})"}, claimed) is expected


def test_an_open_exponent_is_refused():
    with pytest.raises(ValueError, match="open"):
        order_holds(claim("fedavg-svrg/theorem-v1-eq8"), {"delta": "K**(-eps)"}, 0)
