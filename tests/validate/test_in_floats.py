"""Claims about numbers alone, in floats first: what floats call broken is an instance that fractions break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import claim
from theory.domain import COUNT
from validate.instances.covered import coverage
from validate.instances.hunt import hunt
from validate.instances.in_floats import between_integers, in_floats


def broken_by(one):
    found = hunt(one, pool=12, evaluations=0, smallest=False)
    assert found.broken is None
    return [*in_floats(one, found, lambda: False)], found


@settings(max_examples=20, deadline=None)
@given(st.integers(3600, 3678))
def test_an_integer_is_doubled_along_a_ridge(sharp):
    """K*p*(1 - p)**K goes to 1/e where p is 1/(K + 1), from below."""
    seen, _ = broken_by(claim("ridge", f"K*p*(1 - p)**K <= {sharp}/10000", assuming=("p < 1",)))
    assert all(one.measured.broken for one in seen)
    assert seen


def test_what_is_true_is_not_broken_and_how_it_grows_is_kept():
    seen, found = broken_by(claim("ridge", "K*p*(1 - p)**K <= 0.36788", assuming=("p < 1",)))
    assert seen == []
    along = [rungs for name, rungs in found.reached.rungs if name == "K"]
    assert along
    assert all(ratio < 1 for rungs in along for _, ratio in rungs)
    assert max(ratio for rungs in along for _, ratio in rungs) > 0.999


def test_numbers_that_an_equation_gives_follow():
    seen, _ = broken_by(claim("ridge", "K*p*q**K <= 0.3678", assuming=("p < 1", "q == 1 - p")))
    assert seen
    assert seen[0].drawn.values["q"] == 1 - seen[0].drawn.values["p"]


@pytest.mark.parametrize(("square", "one"), [(19, (170, 39)), (13, (649, 180))])
def test_every_pair_of_integers_is_met(square, one):
    seen, _ = broken_by(claim("pell", f"abs(m**2 - {square}*b**2 - 1) >= 1", assuming=("m >= 2",)))
    assert one in [(int(some.drawn.values["m"]), int(some.drawn.values["b"])) for some in seen]


@pytest.mark.parametrize(
    "one",
    [
        claim("sums", "sum_k(1/(k+1)) <= 15"),
        claim("equation", "a == b"),
        claim("round", "k*a <= k*a + 1"),
        claim("tied", "a*b <= 1/4", assuming=("a + b == a*b + 1/4",)),
    ],
)
def test_other_claims_are_left_alone(one):
    found = hunt(one, pool=12, evaluations=0, smallest=False)
    assert [*in_floats(one, found, lambda: False)] == []


@pytest.mark.parametrize(
    ("statement", "assuming"),
    [
        ("K*(1 - p)**q <= 3*K + (2*p)**q", ()),
        ("exp(p*K) >= 1 + p*K", ()),
        ("K/(p - 1)**2 >= 0", ("p >= 1/K",)),
        ("log(p)*K <= p**2*K", ("p < 10",)),
    ],
)
def test_what_is_undefined_or_too_large_ends_nothing(statement, assuming):
    seen, _ = broken_by(claim("odd", statement, assuming=assuming))
    assert all(one.measured.broken for one in seen)


def of_counts(statement, assuming):
    """A claim whose m, and b if it has one, are integers."""
    return claim("whole", statement, assuming=assuming, parameters={n: COUNT for n in ("m", "b") if n in statement})


@pytest.mark.parametrize(
    ("statement", "assuming"),
    [
        ("abs(m**2 - 61*b**2 - 1) >= 1", ("m >= 2",)),  # false at m = 1766319049, b = 226153980
        ("abs(m**2 - 2*b**2) >= 1", ()),  # true, and no sample tells so
        ("(m - 3)*(m - 4) >= 0", ()),
    ],
)
def test_what_is_false_between_integers_is_not_supported(statement, assuming):
    one = of_counts(statement, assuming)
    found = hunt(one, pool=40, evaluations=0)
    assert found.broken is None
    assert between_integers(one, found) is not None
    assert "between integers it is false" in coverage(one, found, quick=True).detail


@pytest.mark.parametrize(
    ("statement", "assuming"),
    [
        ("m/(m - 1) <= 2", ("m > 1",)),  # false at 3/2, which is between integers only one of which is larger than 1
        ("m/(m - b) <= m", ("m > b",)),
        ("m + b <= 2*m*b", ()),
        ("m*q + (1 - q)*b <= m + b", ("q == 1/m",)),
        ("(1 - 1/m)**m <= exp(-1)", ("m >= 2",)),  # where rounding is larger than what is left
    ],
)
def test_what_is_true_between_integers_too_may_be(statement, assuming):
    one = of_counts(statement, assuming)
    assert between_integers(one, hunt(one, pool=40, evaluations=0)) is None
