"""The strategy of `tests.rationals` draws what Hypothesis's own does."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals

DOMAINS = ((-3, 3, 6), (Fraction(1, 6), 1, 6), (0, Fraction(2, 5), 10), ("1/9", 9, 9), (Fraction(1, 50), 2, 50))


@pytest.mark.parametrize(("low", "high", "most"), DOMAINS)
def test_the_domain_is_that_of_fractions(low: Fraction, high: Fraction, most: int) -> None:
    """Every branch is a list: their union is the domain, counted here by brute force; and it holds all draws."""
    drawn = {x for branch in rationals(low, high, most).original_strategies for x in branch.elements}  # type: ignore[attr-defined]
    low, high = Fraction(low), Fraction(high)
    known = {Fraction(p, q) for q in range(1, most + 1) for p in range(-9 * q, 9 * q + 1)}
    assert drawn == {x for x in known if low <= x <= high}

    @settings(max_examples=50, database=None)
    @given(st.fractions(low, high, max_denominator=most))
    def inner(value: Fraction) -> None:
        assert value in drawn

    inner()


def test_the_simplest_comes_first() -> None:
    drawn: list[Fraction] = []

    @settings(max_examples=1, database=None)
    @given(rationals(-3, 3, 6))
    def inner(value: Fraction) -> None:
        drawn.append(value)

    inner()
    assert drawn == [0]
