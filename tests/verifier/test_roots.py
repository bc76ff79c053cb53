"""Roots of fractions that are fractions: the verifier has them exactly, as the check has."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.claim import Claim, claim
from validate.examine import examine
from validate.verifier.intervals import Interval
from validate.verifier.scalars import power

POSITIVE = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@given(POSITIVE, st.integers(2, 64), st.integers(-5, 5))
def test_a_root_that_is_a_fraction_is_one(root: Fraction, degree: int, times: int) -> None:
    assert power(root**degree, Fraction(times, degree)) == root ** Fraction(times, 1)


@given(st.integers(2, 10**12), st.integers(3, 64))
def test_another_is_between_two_fractions(number: int, degree: int) -> None:
    found = power(Fraction(number), Fraction(1, degree))
    if isinstance(found, Interval):
        low, high = found.ends
        assert low**degree <= number <= high**degree
    else:
        assert found**degree == number


TIED = {
    "a cube": claim("cube", "K <= 1", assuming=("K == q**3", "q == K**(1/3)")),
    "roots of roots": claim("roots", "eta <= 1/2", assuming=("eta == sqrt(a/K)", "a == K**(1/3)")),
    "a step": claim("step", "R/(eta*K) <= R/K", assuming=("eta == K**(-1/3)",)),
}


@pytest.mark.parametrize("name", TIED)
def test_what_is_tied_by_a_root_is_refuted_where_it_is_a_fraction(name: str, tmp_path) -> None:
    one: Claim = TIED[name]
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"
