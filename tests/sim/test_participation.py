"""Who takes part: probabilities, schedules, bad inputs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sim.participation import Bernoulli, UniformChoice, full, probabilities, round_probabilities


def test_exactness_follows_p():
    assert Bernoulli(1).exact
    assert Bernoulli([Fraction(1, 2), 1]).exact
    assert Bernoulli(np.array(["1/2"])).p[0] == Fraction(1, 2)
    assert not Bernoulli([0.5, 1]).exact
    assert not Bernoulli(np.array([1.0])).exact


def test_schedule_uses_the_row_of_the_round():
    schedule = Bernoulli([["1/2", "1/3"], ["1", "1/5"]])
    assert round_probabilities(schedule, 2, 1).tolist() == [1, Fraction(1, 5)]


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
        (lambda: round_probabilities(UniformChoice(4), 3, 0), r"size=4 is outside the integers in \[1, 3\]"),
        (lambda: round_probabilities(Bernoulli([0.5, 0.5]), 3, 0), r"p has shape \(2,\), which does not fit clients=3"),
        (lambda: round_probabilities(Bernoulli([[0.5, 0.5]]), 2, 1), r"round=1 is outside the integers in \[0, 0\]"),
        (lambda: round_probabilities(full(), 2, -1), "round=-1 is outside the integers"),
        (lambda: round_probabilities(full(), 0, 0), r"clients=0 is outside the integers in \[1, inf\)"),
        (lambda: round_probabilities("all", 2, 0), "participation='all' is neither"),
        (lambda: probabilities(Bernoulli([[0.5, 0.5]]), 2, 2), r"rounds=2 is outside the integers in \[0, 1\]"),
        (lambda: probabilities(full(), 2, -1), "rounds=-1 is outside the integers"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
