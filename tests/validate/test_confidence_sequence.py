"""Tests by betting against exact enumeration, numerical integration, and many simulated checks."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom, norm

from benchmarks.calibration import (
    LEVELS,
    LITTLE,
    RUNS,
    betting_fails,
    betting_holds,
    laws,
    stops,
)
from tests.rationals import rationals
from validate.confidence_sequence import (
    LEAST,
    NARROWEST,
    SHARES,
    _width,
    asymptotic_upper,
    decide,
    log_capital,
    lower_limit,
)

WEIGHTS = st.integers(1, 20)
VALUES = rationals(0, 50, 20)
LAWS = st.lists(st.tuples(VALUES, WEIGHTS), min_size=1, max_size=4)
SEQUENCES = st.lists(st.floats(0, 1e6), min_size=1, max_size=150)


def _capital(values: list[Fraction], mean: Fraction) -> Fraction:
    """The gambler's capital by its definition, exactly."""
    shares = [Fraction(float(c)) for c in SHARES]
    return sum((math.prod(1 + c * (x / mean - 1) for x in values) for c in shares), Fraction(0)) / len(shares)


@given(LAWS, rationals(0, 10, 10), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_capital_is_a_supermartingale_of_every_finite_law(law, more, steps) -> None:
    total = sum(weight for _, weight in law)
    mean = sum((x * weight for x, weight in law), Fraction(0)) / total + more
    if mean == 0:
        return
    exactly, in_floats = Fraction(0), 0.0
    for outcome in product(law, repeat=steps if len(law) < 4 else 1):
        chance = math.prod((Fraction(weight, total) for _, weight in outcome), start=Fraction(1))
        values = [x for x, _ in outcome]
        capital = _capital(values, mean)
        assert capital > 0
        exactly += chance * capital
        found = log_capital([float(x) for x in values], float(mean))[-1]
        assert math.exp(found) == pytest.approx(float(capital), rel=1e-10)
        in_floats += float(chance) * math.exp(found)
    assert exactly <= 1
    assert in_floats <= 1 + 1e-9
    if more == 0:
        assert exactly == 1  # a fair game: nothing is given away at the boundary


@given(SEQUENCES, st.floats(1e-3, 1e3), st.floats(1e-6, 1e6))
@settings(max_examples=60, deadline=None)
def test_the_capital_depends_on_ratios_alone_and_falls_with_the_mean(values, mean, scale) -> None:
    x = np.array(values)
    path = log_capital(x, mean)
    np.testing.assert_allclose(log_capital(scale * x, scale * mean), path, rtol=1e-9, atol=1e-9)
    assert (log_capital(x, 1.01 * mean) <= path + 1e-9).all()


@given(SEQUENCES, st.floats(1e-3, 1e3), st.data())
@settings(max_examples=60, deadline=None)
def test_the_capital_of_the_first_runs_does_not_depend_on_later_ones(values, mean, data) -> None:
    x = np.array(values)
    cut = data.draw(st.integers(1, len(x)))
    path = log_capital(x, mean)
    assert (log_capital(x[:cut], mean) == path[:cut]).all()
    assert (log_capital(np.stack([x, x[::-1]]), mean)[0] == path).all()


def test_values_beyond_the_range_of_floats_do_not_spoil_the_capital() -> None:
    path = log_capital([0.0] * 5000 + [1e308] * 200 + [0.0] * 5000, 1e-200)
    assert not np.isnan(path).any()
    assert path[4999] < -1
    assert path[5100] > 1000
    exact = _capital([Fraction(0)] * 10 + [Fraction(10**9)] * 3, Fraction(1))
    assert math.exp(log_capital([0.0] * 10 + [1e9] * 3, 1.0)[-1]) == pytest.approx(float(exact), rel=1e-9)


def test_an_impossible_mean_is_refuted_at_once() -> None:
    assert log_capital([0.0, 0.0], 0.0).tolist() == [0.0, 0.0]
    assert log_capital([0.0, 1e-300, 0.0], 0.0).tolist() == [0.0, math.inf, math.inf]
    assert log_capital([0.0], -1.0).tolist() == [math.inf]


@given(SEQUENCES, st.floats(1e-9, 0.5))
@settings(max_examples=40, deadline=None)
def test_the_lower_limit_is_where_the_capital_reaches_its_mark(values, level) -> None:
    x = np.array(values)
    limit = lower_limit(x, level)
    assert 0 <= limit <= x.mean()
    if limit > 0:
        assert log_capital(x, limit)[-1] >= -math.log(level)
        assert log_capital(x, limit * (1 + 1e-6))[-1] < -math.log(level)
    else:
        assert not x.mean() > 0 or log_capital(x, x.mean() * 1e-11)[-1] < -math.log(level)


@given(st.integers(2, 400), st.floats(1e-6, 0.4), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_asymptotic_limit_uses_mean_and_deviation_of_the_runs_so_far(least, level, seed) -> None:
    x = np.random.default_rng(seed).exponential(size=500)
    limits, unit = asymptotic_upper(x, level, least=least), asymptotic_upper(_alternating(500), level, least=2)
    assert np.isinf(limits[: least - 1]).all()
    for n in (least, 450, 500):
        even = n - n % 2  # where the alternating sequence has mean 0 and a known deviation
        if even >= least and even >= 2:
            width = float(_width(np.array([even]), level)[0])
            assert unit[even - 1] == pytest.approx(width * math.sqrt(even / (even - 1)), rel=1e-9)
            own = x[:even]
            assert limits[even - 1] == pytest.approx(own.mean() + width * own.std(ddof=1), rel=1e-9)


def _alternating(n: int) -> np.ndarray:
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


@pytest.mark.parametrize("level", [0.3, 0.05, 1e-3, 1e-8])
@pytest.mark.parametrize("runs", [2, 256, 2048, 100_000])
def test_the_asymptotic_width_is_outside_the_boundary_of_a_mixture_of_drifts(level, runs) -> None:
    """Of a Brownian motion at time n: the martingale int 2 phi_r(d) exp(d S - d^2 n/2) dd over d > 0 is >= 1/level."""
    width = float(_width(np.array([runs]), level)[0])
    twice = -2 * math.log(min(2 * level, 0.5))
    r = math.sqrt((twice + math.log(twice) + 1) / NARROWEST)
    S, v = runs * width, runs * r * r + 1
    centre, spread = S * r * r / v, r / math.sqrt(v)
    top = r * r * S * S / (2 * v)
    ends = (max(0.0, centre - 30 * spread), centre + 30 * spread)
    part = quad(lambda d: 2 * norm.pdf(d, scale=r) * math.exp(d * S - d * d * runs / 2 - top), *ends, limit=200)[0]
    assert top + math.log(part) >= -math.log(level) - 1e-6
    assert top + math.log(part) <= -math.log(level) + 1.1  # and not far outside: at most a factor of 3


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.name)
def test_false_alarms_are_as_rare_as_promised(law) -> None:
    """4,000 checks at level 0.05, looked at after every run; error probability 1e-6 for each law and side."""
    checks = 4_000
    most = int(binom.isf(1e-6, checks, LEVELS[0]))
    rules = {("fails", "betting"): (betting_fails, law.mean)}
    if math.isfinite(law.largest):
        rules["holds", "betting"] = (betting_holds, law.mean * (1 - LITTLE))
    for found in stops(law, rules, checks, 256, "test").values():
        assert np.isfinite(found[LEVELS[0]]).sum() <= most


def test_the_asymptotic_side_is_right_for_normal_values() -> None:
    """4,000 checks of up to 1,024 runs at level 0.05; error probability 1e-6."""
    x = np.random.default_rng(7).normal(5, 1, size=(4_000, RUNS))
    wrong = (asymptotic_upper(x, 0.05) < 5).any(axis=1).sum()
    assert 0 < wrong <= binom.isf(1e-6, 4_000, 0.05)


@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.9, 1.0, 1.2, 2.0]), st.sampled_from([None, 4.0]))
@settings(max_examples=60, deadline=None)
def test_a_decision_needs_the_runs_that_it_names_and_no_others(seed, bound, largest) -> None:
    x = 4 * np.random.default_rng(seed).beta(1, 3, size=(1500, 3))
    found = decide(x, bound, bound, 1e-3, largest=largest, budget=1500)
    if found.outcome is None:
        assert found.runs == 1500
        return
    for more in (found.runs, min(found.runs + 37, 1500)):
        assert decide(x[:more], bound, bound, 1e-3, largest=largest, budget=1500) == found
    if found.runs > 1:
        before = decide(x[: found.runs - 1], bound, bound, 1e-3, largest=largest, budget=1500)
        assert before.outcome is None


def test_decisions_of_each_kind() -> None:
    rng = np.random.default_rng(3)
    x = 2 * rng.random((1000, 2))  # mean 1
    assert decide(x, 1.5, 1.5, 1e-6).outcome == "holds"
    assert decide(x, 1.5, 1.5, 1e-6).guarantee == "asymptotic"
    assert decide(x, 1.5, 1.5, 1e-6).runs == LEAST
    sure = decide(x, 1.5, 1.5, 1e-6, largest=2.0)
    assert (sure.outcome, sure.guarantee) == ("holds", "anytime")
    assert sure.runs < LEAST
    failing = decide(x, [1.5, 0.7], [1.5, 0.7], 1e-6)
    assert (failing.outcome, failing.case, failing.guarantee) == ("fails", 1, "anytime")
    assert decide(x, [1.5, 1.0], [1.5, 1.0], 1e-6).outcome is None
    assert decide(np.ones(5), 3.0, 3.0, 1e-6, largest=2.0).runs == 1  # nothing can exceed 2


def test_an_asymptotic_decision_waits_for_a_rigorous_one_that_is_in_reach() -> None:
    x = 2 * np.random.default_rng(5).random(4000)
    far, near = decide(x, 1.1, 1.1, 1e-6, budget=300), decide(x, 1.1, 1.1, 1e-6, largest=4.0, budget=4000)
    assert far.guarantee in (None, "asymptotic")
    assert (near.outcome, near.guarantee) == ("holds", "anytime")
    soft = decide(x, 1.1, 1.1, 1e-6 / 2, budget=4000)
    assert soft.guarantee == "asymptotic"
    assert soft.runs < near.runs
    hopeless = decide(x, 1.1, 1.1, 1e-6, largest=4000.0, budget=4000)
    assert (hopeless.outcome, hopeless.guarantee, hopeless.runs) == ("holds", "asymptotic", soft.runs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_capital([-1.0], 1.0), r"values has the entry -1\.0, outside \[0, inf\)"),
        (lambda: log_capital([math.inf], 1.0), r"values has the entry inf"),
        (lambda: log_capital([], 1.0), r"values has shape \(0,\)"),
        (lambda: log_capital([1.0], math.nan), r"mean=nan is outside \(-inf, inf\)"),
        (lambda: lower_limit([1.0], 0.0), r"level=0\.0 is outside \(0, 1\)"),
        (lambda: lower_limit([[1.0]], 0.1), r"values has shape \(1, 1\), not \(n,\)"),
        (lambda: asymptotic_upper([1.0], 0.1, least=1), r"least=1 is not an integer in \[2, inf\)"),
        (lambda: decide(np.ones((2, 2, 2)), 1, 1, 0.1), r"values has shape \(2, 2, 2\)"),
    ],
)
def test_errors_name_what_is_wrong(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
