"""Algorithms that hold back what is large, with nothing held back; and instances scaled down to where that is so."""

from fractions import Fraction

import pytest

from tests.rounds import descent
from theory import algorithm, claim
from theory.program.altering import let_through
from theory.program.same import renaming
from validate.instances.let_through import with_all_let_through
from validate.instances.pool import drawn
from validate.instances.seen import measured


@algorithm
def clipped(w, x, *, eta, r):
    return x - eta * w.clip(w.full_gradient(x), r)


@algorithm
def projected(w, x, *, eta, r):
    return w.project(x - eta * w.full_gradient(x), r)


@algorithm
def topped(w, x, *, eta, m):
    return x - eta * w.top(w.full_gradient(x), m)


@algorithm
def in_turns(w, x, *, eta, r, H):
    y = x
    for _ in w.repeat(H):
        y = y - eta * w.clip(w.full_gradient(y), r)
    return y


@algorithm
def turns(w, x, *, eta, H):
    y = x
    for _ in w.repeat(H):
        y = y - eta * w.full_gradient(y)
    return y


@algorithm
def damped(w, x, *, eta):
    g = w.full_gradient(x)
    return x - eta / (1 + w.norm(g)) * g


@pytest.mark.parametrize(
    ("one", "free"), [(clipped, descent), (projected, descent), (topped, descent), (in_turns, turns)]
)
def test_nothing_is_held_back(one, free):
    assert renaming(let_through(one.program), free.program) is not None


def test_lengths_are_nothing():
    free = let_through(damped.program)
    assert free is not None
    assert free.operations == descent.program.operations


@pytest.mark.parametrize("one", [descent, turns])
def test_what_holds_nothing_back_stays(one):
    assert let_through(one.program) is None
    assert with_all_let_through(claim("one", "norm2(x[k]) >= 0", of=one)) is None


def test_an_instance_is_made_as_short_as_it_has_to_be():
    """One step with eta = 1/L goes to the minimiser of a quadratic in one dimension, unless it is clipped."""
    one = claim(
        "one", "norm2(x[1] - xstar) >= norm2(x0 - xstar)/4", of=clipped,
        assuming=("smooth(f, L)", "strongly_convex(f, L/2)", "eta == 1/L", "r == 1/100"),
    )  # fmt: skip
    general = with_all_let_through(one)
    assert general is not None
    met = 0
    for seed in range(60):
        free = drawn(general.free, seed)
        seen = None if free is None else measured(general.free, free)
        if free is None or seen is None or not seen.measured.broken:
            continue
        there = general.moved(seen)
        assert there is not None
        assert there.measured.broken
        assert there.drawn.instance.parameters["r"] == Fraction(1, 100)
        met += 1
    assert met
