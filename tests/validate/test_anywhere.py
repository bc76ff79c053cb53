"""Functions and starts moved, and whether a claim is the same elsewhere."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.rounds import descent
from theory import claim
from validate.instances.anywhere import anywhere, moved
from validate.instances.candidates import candidate_of, minimiser_of, realised
from validate.instances.pool import drawn
from validate.instances.seen import measured

CONTRACTS = claim(
    "contracts",
    "norm2(x[k] - xstar) <= (1 - eta*mu)**k*norm2(x0 - xstar)",
    of=descent,
    assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
)
BY = (Fraction(3, 2), Fraction(-1, 3), Fraction(2), Fraction(5), Fraction(1, 7), Fraction(1), Fraction(-2), Fraction(4))


def at_zero(one, point):
    return replace(one, assuming=(*one.assuming, f"norm2({point}) <= 0"))


def test_functions_of_every_kind_are_moved():
    """grad f(x - by) is that of the moved functions at x, and the minimiser and the start go with them."""
    kinds = set()
    for seed in range(80):
        one = drawn(CONTRACTS, seed)
        if one is None:
            continue
        c = candidate_of(one)
        by = np.array(BY[: len(c.start)], dtype=object)
        there = moved(c, by, False)
        assert all(there.start == c.start + by)
        least = minimiser_of(c)
        if least is not None:
            assert all(minimiser_of(there) == np.array(least, dtype=object) + by)
        again = realised(CONTRACTS, there, {name: one.values[name] for name in CONTRACTS.constants})
        assert again is not None
        kinds.add(type(one.instance.problem).__name__)
        rows, others = (measured(CONTRACTS, two).measured.rows for two in (one, again))
        assert [(row.left, row.right) for row in rows] == [(row.left, row.right) for row in others]
    assert len(kinds) > 2


@pytest.mark.parametrize("point", ["x0", "xstar"])
def test_what_compares_points_is_the_same_elsewhere(point):
    found = anywhere(at_zero(CONTRACTS, point))
    assert found is not None
    assert found.free == CONTRACTS
    assert found.point == point
    one = next(o for seed in range(40) if (o := drawn(CONTRACTS, seed)) is not None and any(o.instance.start))
    there = found.moved(measured(CONTRACTS, one))
    zero = there.drawn.instance.start if point == "x0" else minimiser_of(candidate_of(there.drawn))
    assert not any(zero)


def test_lengths_of_points_are_not():
    one = claim("length", "norm2(x[k]) <= 4*norm2(xstar)", of=descent, assuming=CONTRACTS.assuming)
    assert anywhere(at_zero(one, "x0")) is None
    assert anywhere(CONTRACTS) is None, "it puts nothing at 0"
    kept = replace(CONTRACTS, assuming=(*CONTRACTS.assuming, "norm2(x0) <= r**2"))
    assert anywhere(kept) is None, "a ball of any size is no point"


def test_what_is_assumed_of_every_point_is_kept():
    every = "for every x: norm(grad(f, x)) <= G"
    one = at_zero(replace(CONTRACTS, assuming=(*CONTRACTS.assuming, every)), "x0")
    found = anywhere(one)
    assert found is None or every in found.free.assuming


def test_free_points_are_moved_and_directions_are_not():
    """y is a point in f(y), and u a direction in dot(grad(f, xstar), u)."""
    points = claim("points", "f(y) - fstar >= 2*norm2(y - xstar)", vectors=("y",), assuming=("smooth(f, L)",))
    found = anywhere(at_zero(points, "xstar"))
    assert found is not None
    assert found.vectors
    along = claim("along", "dot(grad(f, xstar), u) <= norm2(u) - 1", vectors=("u",), assuming=("smooth(f, L)",))
    found = anywhere(at_zero(along, "xstar"))
    assert found is not None
    assert not found.vectors
