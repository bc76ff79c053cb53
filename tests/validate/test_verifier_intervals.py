"""Interval arithmetic against exact fractions: what goes in stays in."""

import operator
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from validate.verifier import FormatError
from validate.verifier.intervals import LARGEST, PRECISION, UNIT, Interval, certainly, greatest, least, root

F = Fraction
numbers = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**9)
parts = st.fractions(min_value=0, max_value=1, max_denominator=1000)


@st.composite
def inside(draw: st.DrawFn) -> tuple[Interval, Fraction]:
    """An interval, and a number in it."""
    one, two = sorted([draw(numbers), draw(numbers)])
    if draw(st.booleans()):
        two = one
    return Interval(Interval.of(one).low, Interval.of(two).high), one + draw(parts) * (two - one)


def contains(interval: Interval, number: Fraction) -> bool:
    low, high = interval.ends
    return low <= number <= high


@given(inside(), inside(), st.integers(-5, 6))
@settings(max_examples=120, deadline=None)
@example((Interval(-UNIT, UNIT), F(0)), (Interval(0, 0), F(0)), 2)
def test_exact_results_lie_in_the_intervals(
    one: tuple[Interval, Fraction], two: tuple[Interval, Fraction], n: int
) -> None:
    (X, x), (Y, y) = one, two
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        try:
            assert contains(operation(X, Y), operation(x, y))
            assert contains(operation(x, Y), operation(x, y))
            assert contains(operation(X, y), operation(x, y))
        except ZeroDivisionError:
            assert operation is operator.truediv
            assert contains(Y, F(0))
    assert contains(-X, -x)
    assert contains(abs(X), abs(x))
    assert contains(least([X, Y, F(1, 3)]), min(x, y, F(1, 3)))
    assert contains(greatest([X, Y, F(1, 3)]), max(x, y, F(1, 3)))
    try:
        assert contains(X**n, x**n)
        assert n % 2 or n < 0 or (X**n).low >= 0
    except ZeroDivisionError:
        assert n < 0
        assert contains(X, F(0)) or abs(x) ** abs(n) > 2**300
    if X.low >= 0:
        low, high = X.sqrt().ends
        assert low >= 0
        assert low**2 <= x <= high**2


@given(numbers.filter(lambda x: x >= 0))
@settings(max_examples=100, deadline=None)
@example(F(0))
@example(F(2))
@example(F(4, 9))
def test_roots_are_certified_and_narrow(x: Fraction) -> None:
    found = root(x)
    low, high = found.ends if isinstance(found, Interval) else (found, found)
    assert low**2 <= x <= high**2
    assert high - low <= F(1, 2 ** (PRECISION // 2 - 1))
    assert root(x * x) == x


@given(inside(), inside())
@settings(max_examples=100, deadline=None)
def test_certain_relations_hold_for_every_member(
    one: tuple[Interval, Fraction], two: tuple[Interval, Fraction]
) -> None:
    (X, x), (Y, y) = one, two
    for sign, compare in {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}.items():
        for left, right in ((X, Y), (x, Y), (X, y), (x, y)):
            if certainly(left, sign, right):
                assert compare(x, y)
        assert certainly(x, sign, y) == compare(x, y)
    assert certainly(x, "=", y) == (x == y)
    if certainly(X, "=", Y):
        assert x == y


@pytest.mark.parametrize(
    "grow", [lambda x: x + 1, lambda x: x * 2, lambda x: x**2, lambda x: x / F(1, 2), lambda x: -x - 1]
)
def test_what_grows_too_large_is_refused(grow: Callable[[Interval], Interval]) -> None:
    huge = Interval(LARGEST, LARGEST)
    with pytest.raises(FormatError, match="too large"):
        grow(huge)
