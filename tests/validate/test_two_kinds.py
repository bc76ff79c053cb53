"""Shares of two kinds of clients: the simplest fractions between two, and what they break."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import claim
from validate.examine import examine
from validate.instances.hunt import TWO_KINDS, hunt
from validate.instances.seen import Hunt
from validate.instances.two_kinds import _simplest, of_two_kinds

SHARES = st.fractions(0, 1, max_denominator=200)
THIRD = claim("third", "mean_n((p_n - mean_n(p_n))**3) <= 9622/100000*(max_n(p_n) - min_n(p_n))**3")


@given(SHARES, SHARES)
def test_the_simplest_fraction_between_two(one: Fraction, two: Fraction) -> None:
    low, high = sorted((one, two))
    if low == high:
        return
    found = _simplest(low, high)
    assert low < found < high
    for denominator in range(1, found.denominator):
        first = low.numerator * denominator // low.denominator + 1  # the least that is larger
        assert Fraction(first, denominator) >= high


def test_four_of_nineteen_break_what_one_of_five_does_not() -> None:
    found = hunt(THIRD, pool=60, evaluations=100, far=20, operations=100_000)
    assert found.broken is not None
    assert found.stage == TWO_KINDS
    (p,) = [v for v in found.broken.drawn.values.values() if isinstance(v, list)]
    assert len(set(p)) == 2


def test_nothing_is_tried_of_what_has_no_clients() -> None:
    assert list(of_two_kinds(claim("alone", "a**2 >= 0"), Hunt(), lambda: False)) == []
    assert list(of_two_kinds(THIRD, Hunt(), lambda: False)) == [], "nor where nothing was seen"


def test_it_ends_where_it_is_told_to() -> None:
    found = hunt(THIRD, pool=60, evaluations=0)
    assert list(of_two_kinds(THIRD, found, lambda: True)) == []


@pytest.mark.slow
def test_a_check_refutes_it(tmp_path: Path) -> None:
    assert examine(THIRD, quick=True, out=tmp_path).verdict == "refuted"
