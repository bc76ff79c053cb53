"""Orders of bounds along a schedule, against slopes of their values and hand-worked exponents."""

import pytest
import sympy

from tests.theory.toys import bounded
from theory import claim
from theory.calculator import added, calculator
from theory.evaluate import bound
from theory.order import best_exponent, exponents

EPS = sympy.Symbol("eps", positive=True)
OPTIMISATION = "2*f0_gap/(delta*K*S*M)"
DRIFT = "delta**2*L**2*(M - 1)**2*G2"
NOISE = "delta*L*S*M*G2*mean_inv_p"


@pytest.fixture
def eq8():
    return claim("fedavg-svrg/theorem-v1-eq8")


def test_terms_of_eq8_along_a_power_of_K(eq8):
    found = exponents(eq8, {"delta": "K**(-eps)"})
    assert found == {OPTIMISATION: EPS - 1, DRIFT: -2 * EPS, NOISE: -EPS}


def test_best_exponent_of_eq8_is_one_half(eq8):
    found = exponents(eq8, {"delta": "K**(-eps)"})
    assert best_exponent(found) == (sympy.Rational(1, 2), -sympy.Rational(1, 2))


def test_without_the_noise_term_it_would_be_one_third(eq8):
    found = exponents(eq8, {"delta": "K**(-eps)"})
    del found[NOISE]
    assert best_exponent(found) == (sympy.Rational(1, 3), -sympy.Rational(2, 3))


def test_a_constant_step_leaves_constant_terms(eq8):
    assert exponents(eq8, {}) == {OPTIMISATION: -1, DRIFT: 0, NOISE: 0}


def test_terms_of_a_sentence_have_their_signs_and_their_definitions_put_in():
    one = claim("one", "E(norm2(x0 - xstar)) <= c*(1 - rho)/K - rho**2 + 3", where={"rho": "eta*mu"})
    found = exponents(one, {"eta": "K**(-eps)"})
    assert found == {"c*(1 - rho)/K": -1, "-rho**2": -2 * EPS, "3": 0}
    assert added(calculator(one).bound) == tuple(found)


@pytest.mark.parametrize("eps", ["1/3", "1/2", "1"])
def test_exponents_agree_with_slopes_of_the_values(eq8, eps):
    found = exponents(eq8, {"delta": f"K**(-{eps})"})
    low, high = 10**8, 10**10
    rate = float(sympy.Rational(eps))
    values = [
        {"delta": k**-rate, "L": 2, "K": k, "S": 3, "M": 4, "G2": 5, "f0_gap": 1, "mean_inv_p": 2} for k in (low, high)
    ]
    total = [0.0, 0.0]
    for text, exponent in found.items():
        term = bounded(text, scalars={p.name: p.domain for p in calculator(eq8).bound.parameters})
        first, last = (bound(term, given) for given in values)
        total = [total[0] + first, total[1] + last]
        slope = sympy.log(last / first) / sympy.log(high / low)
        assert float(slope) == pytest.approx(float(exponent), abs=1e-9)
    assert total == pytest.approx([eq8.bound(**given) for given in values])


def test_a_schedule_for_an_unknown_parameter_is_refused(eq8):
    with pytest.raises(ValueError, match="stepsize"):
        exponents(eq8, {"stepsize": "1/K"})


def test_exponents_that_are_not_affine_are_refused():
    with pytest.raises(ValueError, match="not affine"):
        best_exponent({"term": EPS**2})
