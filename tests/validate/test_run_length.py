"""Runs whose length the relations of a claim decide: K is solved for, and nothing changes where no relation has K."""

import random
from fractions import Fraction

import numpy as np
import pytest

from sim.problems import Quadratic
from tests.rounds import descent as gd
from theory.claim import claim
from validate.instances import pool
from validate.instances.hunt import hunt
from validate.instances.parameters import choose
from validate.instances.pool import MOST_CERTAIN, drawn
from validate.instances.relations import has_length

F = Fraction


def of(statement, *assuming):
    return claim("made-up", statement, of=gd, assuming=("smooth(f, L)", "strongly_convex(f, mu)", *assuming))


CONTRACTS = "norm2(x[K] - xstar) <= norm2(x0 - xstar)"


def line(*curvatures):
    """f_n = h x^2/2 - x for each h."""
    h = np.array([[[[F(c)]]] for c in curvatures], dtype=object)
    ones = np.full((len(curvatures), 1), F(1), dtype=object)
    return Quadratic(h, ones[:, :, None], 0 * ones, np.ones(len(curvatures), dtype=int))


def solved(one, rounds, most=1000, seed=0, problem=None):
    start = np.array([F(3)], dtype=object)
    return choose(one, problem or line(2), start, rounds, random.Random(seed), most_rounds=most)


@pytest.mark.parametrize(
    ("relation", "drawn_rounds", "expected"),
    [
        ("K >= 30*L/mu", 3, 30),
        ("K > 30*L/mu", 3, 31),
        ("K >= 30*L/mu", 50, 50),
        ("K <= 8*L/mu", 20, 8),
        ("K*mu >= sqrt(1000)*L", 3, 32),
        ("K/(1 + log(K)) >= 10*L/mu", 3, None),
    ],
)
def test_the_least_length_that_a_relation_of_constants_allows(relation, drawn_rounds, expected):
    lengths = {}
    for seed in range(8):  # constants are sometimes worse than the best: the least factor is 1
        found = solved(of(CONTRACTS, relation, "eta <= 1/L"), drawn_rounds, seed=seed)
        assert found is not None
        values, world = found
        kappa = values["L"] / values["mu"]
        lengths[kappa] = world.rounds
    if expected is not None:
        assert lengths[1] == expected
    else:  # K is in it twice: between powers of two, and the one before does not satisfy it
        K = lengths[1]
        assert K / (1 + np.log(K)) >= 10 > (K - 1) / (1 + np.log(K - 1))


def test_steps_move_where_the_run_would_be_too_long():
    """With eta at its end 1/(50 L), the length is 50 kappa: shares of it ask for more, and have to be moved back."""
    one = of(CONTRACTS, "eta >= 1/(mu*K)", "eta <= 1/(50*L)")
    for seed in range(8):
        found = solved(one, 2, most=60, seed=seed)
        if found is not None:
            values, world = found
            assert 50 <= world.rounds <= 60
            assert F(1) / (values["mu"] * world.rounds) <= values["eta"] <= 1 / (50 * values["L"])
            return
    pytest.fail("no length was found")


def test_a_length_beyond_the_limit_is_refused():
    assert solved(of(CONTRACTS, "K >= 300*L/mu", "eta <= 1/L"), 2, most=100) is None


def test_steps_that_hang_on_the_length_by_an_equation():
    """eta is given by K, and asks for a long run: K grows from one attempt to the next."""
    one = of(CONTRACTS, "eta == 1/(mu*K)", "eta <= 1/(20*L)")
    found = solved(one, 2)
    assert found is not None
    assert found[1].rounds >= 20
    assert found[0]["eta"] * found[0]["mu"] * found[1].rounds == 1


def test_a_true_claim_of_long_runs_is_tried_and_a_false_one_is_broken():
    """After K >= 20 L/mu steps 1/L, |x - x*|^2 is at most exp(-20) times what it was, and not at least exp(-5)."""
    assuming = ("K >= 20*L/mu", "eta == 1/L")
    true = of("norm2(x[K] - xstar) <= exp(-20)*norm2(x0 - xstar)", *assuming)
    found = hunt(true, pool=40, evaluations=0)
    assert found.broken is None
    assert len(found.seen) >= 20
    assert all(20 * one.drawn.values["L"] / one.drawn.values["mu"] <= one.drawn.instance.rounds for one in found.seen)
    assert max(one.drawn.instance.rounds for one in found.seen) <= MOST_CERTAIN
    false = of("norm2(x[K] - xstar) >= 1/100000*norm2(x0 - xstar)", "K >= 20*L/mu", "eta == 1/(2*L)")
    broken = hunt(false, pool=40, evaluations=0, smallest=False).broken
    assert broken is not None
    assert broken.drawn.instance.rounds >= 20


def test_pools_are_as_they_were_where_no_relation_has_the_length(monkeypatch):
    one = of(CONTRACTS, "eta <= 2/(mu + L)")
    other = of(CONTRACTS, "eta <= 1/(L*K)")
    assert not has_length(one)
    assert has_length(other)
    now = [[drawn(c, seed) for seed in range(25)] for c in (one, other)]
    monkeypatch.setattr(pool, "has_length", lambda c: False)
    monkeypatch.setattr("validate.instances.parameters.has_length", lambda c: False)
    for with_length, without in zip(now, [[drawn(c, seed) for seed in range(25)] for c in (one, other)], strict=True):
        for a, b in zip(with_length, without, strict=True):
            if b is not None:  # an instance with the length as drawn stays
                assert a is not None
                assert (a.values, a.instance.rounds) == (b.values, b.instance.rounds)
    assert [a is None for a in now[0]] == [drawn(one, seed) is None for seed in range(25)]
