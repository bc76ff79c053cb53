"""Sums that come to be too large beyond every number of terms that is tried: where they go shows before."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import claim
from validate.examine import examine
from validate.instances.growth import end_of
from validate.instances.series import series

MILLION = 10**6
LATE = {  # false from the number of terms on that stands beside it
    "roots": "sum_k(1/sqrt(k+1)) >= 2*sqrt(K) - 146/100",  # 2 million: zeta(1/2) = -1.46035
    "harmonic": "sum_k(1/(k+1)) >= log(K) + 577216/1000000",  # 1.5 million: gamma = 0.57721566
    "squares": "sum_k(1/(k+1)**2) <= 16449340668/10**10",  # 2*10^10: pi^2/6 = 1.644934066848
    "three halves": "sum_k(1/(k+1)**(3/2)) <= 2612/1000",  # 28 million: zeta(3/2) = 2.6123753
}
TRUE = {
    "roots": "sum_k(1/sqrt(k+1)) >= 2*sqrt(K) - 147/100",
    "harmonic": "sum_k(1/(k+1)) >= log(K) + 577215/1000000",
    "squares": "sum_k(1/(k+1)**2) <= 16449340669/10**10",
    "three halves": "sum_k(1/(k+1)**(3/2)) <= 26124/10000",
    "slow": "sum_k(1/(k+1)**(11/10)) <= 11",  # zeta(1.1) = 10.584
}


def end(statement):
    both = series(claim("late", statement), {}, MILLION)
    assert both is not None
    assert both.breaks == []
    return both.end


@pytest.mark.parametrize("name", LATE)
def test_what_a_sum_comes_to_be_missed_by(name):
    assert end(LATE[name]) > 0


@pytest.mark.parametrize("name", TRUE)
def test_one_that_is_right_stays_below(name):
    assert end(TRUE[name]) < 0


@pytest.mark.parametrize("statement", ["sum_k(1/(k+1)) <= 15", "sum_k(1/((k+2)*log(k+2)**2)) <= 215/100"])
def test_what_does_not_show_is_not_told(statement):
    assert end(statement) is None


def test_numbers_that_an_equation_gives_for_every_round():
    one = claim("steps", "sum_k(eta_k**2) <= 1644934/1000000*a**2", assuming=("eta_k == a/(k+1)",))
    both = series(one, {"a": Fraction(1), "eta": []}, MILLION)
    assert both is not None
    assert both.end > 0


def test_equations_that_give_numbers_by_one_another_end_nothing():
    one = claim("round", "sum_k(a*b/(k+1)) <= K*c", assuming=("a == b + c", "b == a - c"))
    assert series(one, {}, 1000) is None


@settings(max_examples=60, deadline=None)
@given(st.floats(-3, 3), st.floats(0.2, 3), st.floats(0.2, 2), st.floats(-4, 4), st.floats(0.3, 4))
def test_powers_that_go_to_0_are_taken_off(limit, power, more, factor, other):
    """Two powers of the integer, so apart that floats tell them."""
    values = [limit + factor * 2.0 ** (-power * j) + other * 2.0 ** (-(power + more) * j) for j in range(20)]
    found = end_of(values)
    assert found is None or math.isclose(found, limit, rel_tol=0.02, abs_tol=1e-9)


@pytest.mark.parametrize("values", [[1.0] * 20, [float(j) for j in range(20)], [2.0**j for j in range(20)], [1.0, 2.0]])
def test_what_stays_or_has_no_limit_has_no_end_that_shows(values):
    assert end_of(values) is None


@pytest.mark.parametrize("name", ["harmonic", "three halves"])
def test_a_check_does_not_support_it(name, tmp_path):
    result = examine(claim("late", LATE[name]), quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    assert "in the end, as K grows" in result.covered
