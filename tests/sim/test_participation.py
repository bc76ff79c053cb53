"""Weight moments against enumeration of all subsets, in fractions; schedules; bad inputs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.participation import (
    Bernoulli,
    UniformChoice,
    full,
    probabilities,
    round_probabilities,
    weight_moments,
)
from tests.rationals import rationals

AGGREGATIONS = ("unbiased", "normalised")
EMPTIES = ("keep", "zero", "condition")

fractions = rationals(Fraction(1, 50), 1, 50)


def enumerated(laws, aggregation, marginals, empty):
    """E[c_n], E[c_n c_m], P(empty) from a list of (subset, probability)."""
    clients = len(marginals)
    missing = sum((q for subset, q in laws if not subset), Fraction(0))
    mean = [Fraction(0)] * clients
    second = [[Fraction(0)] * clients for _ in range(clients)]
    for subset, q in laws:
        if empty == "condition":
            q = Fraction(0) if not subset else q / (1 - missing)
        weight = {
            n: 1 / (clients * marginals[n]) if aggregation == "unbiased" else Fraction(1, len(subset)) for n in subset
        }
        for n in subset:
            mean[n] += q * weight[n]
            for m in subset:
                second[n][m] += q * weight[n] * weight[m]
    return mean, second, Fraction(0) if empty == "condition" else missing


def bernoulli_laws(p):
    for present in itertools.product((False, True), repeat=len(p)):
        yield (
            tuple(n for n, here in enumerate(present) if here),
            math.prod(q if here else 1 - q for q, here in zip(p, present, strict=True)),
        )


@settings(max_examples=40, deadline=None)
@given(st.lists(fractions, min_size=1, max_size=5), st.sampled_from(AGGREGATIONS), st.sampled_from(EMPTIES))
def test_bernoulli_moments_equal_enumeration(p, aggregation, empty):
    moments = weight_moments(Bernoulli(p), len(p), 0, aggregation, empty)
    mean, second, missing = enumerated(list(bernoulli_laws(p)), aggregation, p, empty)
    assert moments.mean.tolist() == mean
    assert moments.second.tolist() == second
    assert moments.empty == missing
    assert all(isinstance(c, Fraction) for c in [*moments.mean, *moments.second.ravel(), moments.empty])


@pytest.mark.parametrize("clients", [1, 2, 5])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("empty", EMPTIES)
def test_uniform_choice_moments_equal_enumeration(clients, aggregation, empty):
    for size in range(1, clients + 1):
        subsets = list(itertools.combinations(range(clients), size))
        laws = [(s, Fraction(1, len(subsets))) for s in subsets]
        moments = weight_moments(UniformChoice(size), clients, 0, aggregation, empty)
        mean, second, missing = enumerated(laws, aggregation, [Fraction(size, clients)] * clients, empty)
        assert moments.mean.tolist() == mean
        assert moments.second.tolist() == second
        assert moments.empty == missing == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=7), st.sampled_from(AGGREGATIONS), st.sampled_from(EMPTIES))
def test_floats_agree_with_fractions(p, aggregation, empty):
    moments = weight_moments(Bernoulli(np.array(p)), len(p), 0, aggregation, empty)
    exact = weight_moments(Bernoulli(np.array(p)), len(p), 0, aggregation, empty, exact=True)
    assert moments.mean.dtype == moments.second.dtype == np.float64
    np.testing.assert_allclose(moments.mean, exact.mean.astype(float), rtol=1e-13)
    np.testing.assert_allclose(moments.second, exact.second.astype(float), rtol=1e-13)
    np.testing.assert_allclose(moments.empty, float(exact.empty), rtol=1e-12)


@pytest.mark.parametrize("p", [[0.5, 1e-9, 1.0], [1e-100, 1e-100], [1.0, 1.0], [0.999999999, 0.3]])
def test_extreme_probabilities_keep_their_digits(p):
    for empty in EMPTIES:
        moments = weight_moments(Bernoulli(p), len(p), 0, "normalised", empty)
        exact = weight_moments(Bernoulli(p), len(p), 0, "normalised", empty, exact=True)
        np.testing.assert_allclose(moments.mean, exact.mean.astype(float), rtol=1e-13)
        np.testing.assert_allclose(moments.second, exact.second.astype(float), rtol=1e-13)


@pytest.mark.parametrize(("low", "high"), [(0.001, 1.0), (1e-6, 1e-5), (0.95, 1.0)])
def test_thousand_clients_normalised_weights_add_up(low, high):
    # the weights of a non-empty round add up to 1, so sum E[c_n] = sum E[c_n c_m] = 1 - P(empty), row by row E[c_n]
    p = np.random.default_rng(1).uniform(low, high, 1000)
    moments = weight_moments(Bernoulli(p), 1000, 0, "normalised", "keep")
    np.testing.assert_allclose(moments.mean.sum() + moments.empty, 1, rtol=1e-12)
    np.testing.assert_allclose(moments.second.sum(axis=1), moments.mean, rtol=1e-11)
    np.testing.assert_allclose(moments.second, moments.second.T, rtol=0, atol=0)


def test_equal_probabilities_in_fractions_for_many_clients():
    clients = 40
    moments = weight_moments(Bernoulli("1/3"), clients, 0, "normalised", "condition")
    assert set(moments.mean) == {Fraction(1, clients)}
    assert moments.second.sum() == 1


def test_moments_of_a_simulation():
    # 200,000 rounds; 25 second moments, each within 6 standard errors: error probability < 25 * 2e-9
    p = np.array([0.9, 0.1, 0.5, 0.3, 0.05])
    rounds = 200_000
    present = np.random.Generator(np.random.PCG64(5)).random((rounds, 5)) < p
    size = present.sum(axis=1, keepdims=True)
    weights = np.divide(present, size, where=size > 0, out=np.zeros(present.shape))
    products = weights[:, :, None] * weights[:, None, :]
    moments = weight_moments(Bernoulli(p), 5, 0, "normalised", "zero")
    error = products.std(axis=0) / math.sqrt(rounds)
    assert np.all(np.abs(products.mean(axis=0) - moments.second) < 6 * error)


def test_schedule_uses_the_row_of_the_round():
    schedule = Bernoulli([["1/2", "1/3"], ["1", "1/5"]])
    for k in range(2):
        of_round = weight_moments(schedule, 2, k, "normalised", "keep")
        alone = weight_moments(Bernoulli(schedule.p[k]), 2, 0, "normalised", "keep")
        assert of_round.second.tolist() == alone.second.tolist()
        assert of_round.empty == alone.empty
    assert round_probabilities(schedule, 2, 1).tolist() == [1, Fraction(1, 5)]


def test_exactness_follows_p():
    assert Bernoulli(1).exact
    assert Bernoulli([Fraction(1, 2), 1]).exact
    assert Bernoulli(np.array(["1/2"])).p[0] == Fraction(1, 2)
    assert not Bernoulli([0.5, 1]).exact
    assert not Bernoulli(np.array([1.0])).exact
    assert weight_moments(full(), 2, 0).second.tolist() == [[Fraction(1, 4)] * 2] * 2
    assert weight_moments(full(), 2, 0, exact=False).second.dtype == np.float64
    assert weight_moments(UniformChoice(1), 2, 0, exact=False).second.dtype == np.float64


def test_probabilities_of_all_rounds():
    schedule = np.array([[0.5, 0.25], [1.0, 0.75], [0.1, 0.2]])
    np.testing.assert_array_equal(probabilities(Bernoulli(schedule), 2, 3), schedule)
    np.testing.assert_array_equal(probabilities(Bernoulli(schedule), 2, 2), schedule[:2])
    np.testing.assert_array_equal(probabilities(Bernoulli(["1/2", 1]), 2, 2), [[0.5, 1], [0.5, 1]])
    np.testing.assert_array_equal(probabilities(Bernoulli(0.25), 3, 1), [[0.25] * 3])
    np.testing.assert_array_equal(probabilities(UniformChoice(2), 5, 2), np.full((2, 5), 0.4))
    assert probabilities(full(), 3, 0).shape == (0, 3)
    assert probabilities(full(), 3, 2).dtype == np.float64


def test_p_is_copied_and_read_only():
    p = np.array([0.5, 0.25])
    participation = Bernoulli(p)
    p[0] = 0.125
    assert participation.p[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        participation.p[0] = 1
    round_probabilities(participation, 2, 0)[0] = 1
    assert participation.p[0] == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(0), r"p=0 is outside \(0, 1\]"),
        (lambda: Bernoulli([0.5, 1.5]), r"p\[1\]=1.5 is outside \(0, 1\]"),
        (lambda: Bernoulli([[1, 1], [1, "-1/2"]]), r"p\[1, 1\]=-1/2 is outside \(0, 1\]"),
        (lambda: Bernoulli([0.5, math.nan]), r"p\[1\]=nan is outside \(0, 1\]"),
        (lambda: Bernoulli(math.inf), r"p=inf is outside \(0, 1\]"),
        (lambda: Bernoulli("half"), r"p='half' is outside \(0, 1\]"),
        (lambda: Bernoulli(True), r"p=True is outside \(0, 1\]"),
        (lambda: Bernoulli(None), r"p=None is outside \(0, 1\]"),
        (lambda: Bernoulli([]), r"p has shape \(0,\), not"),
        (lambda: Bernoulli(np.ones((1, 1, 1))), r"p has shape \(1, 1, 1\), not"),
        (lambda: Bernoulli([[1, 1], [1]]), "different lengths"),
        (lambda: UniformChoice(0), r"size=0 is outside the integers in \[1, inf\)"),
        (lambda: UniformChoice(1.5), "size=1.5 is outside the integers"),
        (lambda: UniformChoice(True), "size=True is outside the integers"),
        (lambda: weight_moments(UniformChoice(4), 3, 0), r"size=4 is outside the integers in \[1, 3\]"),
        (lambda: weight_moments(Bernoulli([0.5, 0.5]), 3, 0), r"p has shape \(2,\), which does not fit clients=3"),
        (lambda: weight_moments(Bernoulli([[0.5, 0.5]]), 2, 1), r"round=1 is outside the integers in \[0, 0\]"),
        (lambda: weight_moments(full(), 2, -1), "round=-1 is outside the integers"),
        (lambda: weight_moments(full(), 0, 0), r"clients=0 is outside the integers in \[1, inf\)"),
        (lambda: weight_moments(full(), 2, 0, "mean"), "aggregation='mean' is outside {unbiased, normalised}"),
        (lambda: weight_moments(full(), 2, 0, empty="skip"), "empty='skip' is outside {keep, zero, condition}"),
        (lambda: weight_moments("all", 2, 0), "participation='all' is neither"),
        (lambda: probabilities(Bernoulli([[0.5, 0.5]]), 2, 2), r"rounds=2 is outside the integers in \[0, 1\]"),
        (lambda: probabilities(full(), 2, -1), "rounds=-1 is outside the integers"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
