"""What grows with an integer where that is largest need not be bounded, and is not supported."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rounds import descent
from theory import claim
from validate.examine import examine
from validate.instances.growth import grows_beyond, limit, still_growing
from validate.instances.hunt import hunt

PARTS = st.floats(0.05, 0.8)
ENDS = st.floats(0.1, 3)


def doubled(of, most=12):
    return tuple((2**j, of(j)) for j in range(most))


@given(part=PARTS, end=ENDS, share=st.floats(0.1, 1))
def test_a_geometric_sum_goes_to_its_end(part, end, share):
    assert limit(doubled(lambda j: end * (1 - share * part**j), 6)[-3:]) == pytest.approx(end, rel=0.1)


@given(factor=st.floats(1e-6, 1e-3), power=st.floats(0.05, 2))
def test_powers_and_logarithms_have_no_limit(factor, power):
    for of in (lambda j: factor * 2 ** (power * j), lambda j: factor * j):
        assert limit(doubled(of)[-3:]) == math.inf
        assert grows_beyond(doubled(of))
    assert grows_beyond(doubled(lambda j: math.log(j + 2) / 5, 40))


@given(end=st.floats(0.1, 1), c=st.floats(0.1, 100), uneven=st.lists(st.integers(1, 10**4), min_size=4, unique=True))
def test_a_hyperbola_goes_to_its_end(end, c, uneven):
    """N/(N + c), as of bounds that lack a constant in the denominator: it is below 1 to the end."""
    assert not grows_beyond(tuple((N, end * N / (N + c)) for N in sorted(uneven)))


@given(beyond=st.floats(1e-4, 0.009), c=st.floats(1, 20))
def test_a_hyperbola_that_four_rungs_are_on_is_told_to_go_just_beyond(beyond, c):
    """(N - 2)/(N - 1), of two clients among N, against a constant that is a little below its end."""
    assert grows_beyond(doubled(lambda j: (1 + beyond) * 2**j / (2**j + c), 9))
    assert not grows_beyond(doubled(lambda j: (1 - beyond) * 2**j / (2**j + c), 9))
    assert not grows_beyond(doubled(lambda j: 2**j / (2**j + c), 9))


def test_growth_that_slows_down_is_of_a_power_in_rounds_alone():
    """Of 10/K**1.5 where the rate is 1/K; of clients such numbers may be those of a population that came less far."""
    rate = ((1, 0.0153), (16, 0.095), (64, 0.188), (300, 0.3473))
    assert grows_beyond(rate, powers=True)
    assert not grows_beyond(rate)


@given(ratios=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_what_was_as_near_before_does_not_grow(ratios):
    assert not grows_beyond(tuple((2**j, ratio) for j, ratio in enumerate([max(ratios), *ratios])))


def test_each_integer_is_told_once():
    rungs = doubled(lambda j: j / 100)
    assert [*still_growing([("K", rungs), ("N", ((1, 0.5),)), ("K", rungs)], "K")] == [
        "left over right grows with K, to 0.11 at 2,048, and need not stay below 1"
    ]


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("sum_k(1/(k+1)) <= 15", "undecided"),
        ("sum_k((k+1)**(-101/100)) <= 50", "undecided"),
        ("log(log(K+2)) <= 4", "undecided"),
        ("sum_k(1/(k+1)**2) <= 1645/1000", "supported"),
    ],
)
def test_a_sum_without_an_end_is_not_supported(statement, verdict, tmp_path):
    found = examine(claim("one", statement), quick=True, out=tmp_path)
    assert found.verdict == verdict
    assert ("need not stay below 1" in found.covered) == (verdict == "undecided")


@pytest.mark.slow
@pytest.mark.parametrize(("power", "verdict"), [("3/2", "undecided"), ("1/2", "supported")])
def test_a_rate_with_too_large_a_power_is_not_supported(power, verdict, tmp_path):
    """The rate is 1/K, and no run of 40,000 rounds is tried."""
    one = claim(
        "one",
        f"f(x[K]) - fstar <= 100*L*norm2(x0 - xstar)/K**({power})",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "eta == 1/L"),
    )
    assert examine(one, quick=True, out=tmp_path).verdict == verdict


def test_an_integer_that_a_relation_bounds_does_not_grow():
    """k goes up to K, so that there are no runs of more than two rounds; a sum over any number of rounds has them."""
    bounded = hunt(claim("bounded", "K <= 2", assuming=("k <= 2",)), pool=40, far=40, evaluations=0)
    assert not bounded.reached.rungs
    assert hunt(claim("free", "K <= K + 1"), pool=40, far=40, evaluations=0).reached.rungs


def test_what_goes_just_beyond_one_is_told_however_little_is_left():
    e = 2.718281828459045

    def towards(limit):
        return tuple((2**j, (1 + 2.0**-j) ** (2**j) / limit) for j in range(4, 11))

    assert grows_beyond(towards(2.718))
    assert not grows_beyond(towards(e))
    assert not grows_beyond(towards(2.72))


def test_what_was_cut_is_told_by_few_rungs():
    told = ((6, 0.3), (8, 0.4), (12, 0.6), (16, 0.8))
    (said,) = still_growing([], "K", [("N", told)])
    assert said.startswith("left over right grows with N, to 0.8 at 16")
    assert not [*still_growing([("N", told)], "K")]  # where more could be played it takes more to tell
    assert not [*still_growing([], "K", [("N", ((4, 0.3), (6, 0.4)))])]
