"""Who is present: against plain Python, the rules of joining and leaving, and the laws of the draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from sim.population import OpenPopulation
from sim.problems import ridge_logistic
from tests.sim import _plain_open as plain

PROBABILITIES = st.sampled_from([0, 0.2, 0.5, 0.9, 1])


@st.composite
def populations(draw):
    pool = draw(st.integers(1, 12))
    return OpenPopulation(
        pool,
        draw(st.integers(1, pool)),
        draw(PROBABILITIES),
        draw(PROBABILITIES),
        draw(st.sampled_from(["stays", "leaves"])),
    )


@settings(max_examples=25)
@given(populations(), st.integers(0, 2**64 - 1))
def test_equals_plain_python(population, seed):
    rounds, runs = 8, 4
    schedule = population.presence(rounds, runs, seed)
    problem = ridge_logistic(population.pool, 2, 1, 1, 1, 0)
    for r in range(runs):
        expected = plain.simulate(plain.Local(1, 1, 1), problem, population, rounds, r, seed)
        assert schedule.present[r].tolist() == expected["present"]
        assert [int(schedule.remains(k)[r].sum()) for k in range(rounds)] == expected["taking part"]
        for k in range(rounds + 1):
            assert [int(c) for c in schedule.clients[k, r] if c >= 0] == expected["members"][k]


@settings(max_examples=100)
@given(populations(), st.integers(0, 2**64 - 1))
def test_rules(population, seed):
    rounds, runs = 15, 20
    schedule = population.presence(rounds, runs, seed)
    clients = schedule.clients
    assert clients.shape == (rounds + 1, runs, schedule.slots)
    assert np.all(schedule.present[:, 0] == population.initial)
    for r in range(runs):
        seen: list[int] = []
        before: set[int] = set()
        for k in range(rounds + 1):
            row = clients[k, r]
            now = [int(c) for c in row if c >= 0]
            assert len(set(now)) == len(now)
            newcomers = set(now) - before
            assert {int(c) for c in row[schedule.enters(k)[r]]} == newcomers
            assert not newcomers & set(seen)  # nobody returns
            if k:
                assert len(newcomers) <= 1
                assert len(before - set(now)) <= 1
            seen += newcomers
            before = set(now)
        assert set(seen) <= set(range(population.pool))
    for k in range(rounds):
        assert np.array_equal(schedule.remains(k), (clients[k] >= 0) & (clients[k] == clients[k + 1]))
        if population.last == "stays":
            assert np.all(schedule.remains(k).any(axis=1))


@settings(max_examples=25)
@given(populations(), st.integers(0, 20), st.integers(1, 9))
def test_a_run_is_the_same_in_every_batch(population, first, runs):
    whole = population.presence(10, 30, 5)
    part = population.presence(10, runs, 5, first_run=first)
    chosen = slice(first, first + runs)
    assert np.array_equal(part.clients, whole.clients[:, chosen, : part.slots])
    assert np.all(whole.clients[:, chosen, part.slots :] == -1)


def test_many_rounds_are_drawn_in_parts(monkeypatch):
    population = OpenPopulation(30, 5, 0.5, 0.5)
    whole = population.presence(40, 7, 1)
    monkeypatch.setattr("sim.population._BATCH", 21)
    assert np.array_equal(population.presence(40, 7, 1).clients, whole.clients)


def test_one_in_one_out_keeps_the_number():
    schedule = OpenPopulation(200, 10, 1, 1).presence(190, 30, 0)
    assert np.all(schedule.present == 10)
    assert all(np.all(schedule.remains(k).sum(axis=1) == 9) for k in range(190))
    assert schedule.slots == 10


def test_nobody_moves_when_the_probabilities_are_zero():
    schedule = OpenPopulation(9, 4, 0, 0).presence(50, 30, 0)
    assert np.all(schedule.clients == schedule.clients[0])


def test_the_pool_is_exhausted():
    schedule = OpenPopulation(12, 10, 0, 1).presence(5, 9, 0)
    assert np.all(schedule.present == [10, 11, 12, 12, 12, 12])
    empty = OpenPopulation(12, 10, 1, 1).presence(20, 9, 0)
    assert np.all(empty.present == [10, 10, 10, *range(9, 0, -1), *[1] * 9])
    gone = OpenPopulation(12, 10, 1, 1, last="leaves").presence(20, 9, 0)
    assert np.all(gone.present[:, -9:] == 0)


def test_coins_have_their_probabilities():
    # numbers of leavers and of newcomers, far from the ends of the pool; two-sided error 1e-7 each
    rounds, runs = 20, 4000
    schedule = OpenPopulation(100, 40, 0.3, 0.7).presence(rounds, runs, 4)
    joined = sum(int(schedule.enters(k).sum()) for k in range(1, rounds + 1))
    left = sum(int(((schedule.clients[k] >= 0) & ~schedule.remains(k)).sum()) for k in range(rounds))
    for seen, p in [(joined, 0.7), (left, 0.3)]:
        low, high = binom.ppf([5e-8, 1 - 5e-8], rounds * runs, p)
        assert low <= seen <= high


def uniform(counts):
    """Whether a chi-squared test (error 1e-6) finds nothing against equal probabilities."""
    expected = counts.sum() / counts.size
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1) > 1e-6


def test_choices_are_uniform():
    runs = 20_000
    schedule = OpenPopulation(6, 5, 1, 0).presence(1, runs, 8)
    assert uniform(np.bincount(schedule.clients[0, :, 0], minlength=6))
    left = (schedule.clients[0] >= 0) & ~schedule.remains(0)
    assert uniform(left.sum(axis=0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OpenPopulation(0, 1, 0, 0), r"pool=0 is outside the integers in \[1, inf\)"),
        (lambda: OpenPopulation(2**31, 1, 0, 0), "pool=2147483648 is outside"),
        (lambda: OpenPopulation(5, 6, 0, 0), r"initial=6 is outside the integers in \[1, 5\]"),
        (lambda: OpenPopulation(5, 0, 0, 0), "initial=0"),
        (lambda: OpenPopulation(5, 5, 1.1, 0), r"leave=1.1 is outside \[0, 1\]"),
        (lambda: OpenPopulation(5, 5, 0, -0.1), r"join=-0.1 is outside \[0, 1\]"),
        (lambda: OpenPopulation(5, 5, 0, float("nan")), "join=nan"),
        (lambda: OpenPopulation(5, 5, 0, 0, last="goes"), "last='goes' is not one of"),
        (lambda: OpenPopulation(5, 5, 0, 0).presence(-1, 1, 0), "rounds=-1"),
        (lambda: OpenPopulation(5, 5, 0, 0).presence(1, 0, 0), "runs=0"),
        (lambda: OpenPopulation(5, 5, 0, 0).presence(1, 1, -1), "seed=-1"),
        (lambda: OpenPopulation(5, 5, 0, 0).presence(1, 2, 0, first_run=2**32 - 1), "first_run=4294967295"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
