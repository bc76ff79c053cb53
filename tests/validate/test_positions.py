"""Vectors in positions where sentences about angles and distances are tight."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import claim
from validate.examine import examine
from validate.instances.hunt import POSITIONS, hunt
from validate.instances.positions import positions

NAMES = ("a", "b", "c", "e", "g", "q", "s", "t")


def products(names, pairs=combinations):
    return [f"dot({u}, {v})" for u, v in (pairs(names, 2) if pairs is combinations else pairs(names))]


def lengths(names):
    return ", ".join(f"norm2({name})" for name in names)


@given(count=st.integers(2, 12))
def test_the_corners_of_a_simplex_are_as_far_from_each_other(count):
    simplex, axes, cross, *_ = positions(count)
    assert sum(simplex) @ sum(simplex) == 0
    assert {u @ v for u, v in combinations(simplex, 2)} == ({-simplex[0] @ simplex[0] / (count - 1)})
    assert all(u @ v == 0 for u, v in combinations(axes, 2))
    assert {u @ v for u, v in combinations(cross, 2)} <= {0, -1}


@given(count=st.integers(2, 12))
def test_the_corners_of_a_polygon_have_length_1_and_one_angle(count):
    polygons = [some for some in positions(count) if len(some[0]) == 2][1 if count < 5 else 0 :]
    for corners in polygons:
        assert all(v @ v == 1 for v in corners)
        turns = [float(u @ v) for u, v in pairwise(corners)]
        assert np.allclose(turns, turns[0], atol=1e-3)


@pytest.mark.parametrize(
    ("names", "statement", "assuming"),
    [
        (NAMES[:6], "max({products}) >= -19/100*min({lengths})", ()),
        (NAMES, "max({products}) >= 0", ()),
        (NAMES[:5], "max({products}) >= 8/25*min({lengths})", ("d == 2",)),
    ],
)
def test_a_lemma_on_many_vectors_is_refuted(names, statement, assuming, tmp_path):
    text = statement.format(products=", ".join(products(names)), lengths=lengths(names))
    assert examine(claim("one", text, vectors=names, assuming=assuming), quick=True, out=tmp_path).verdict == "refuted"


def test_a_cycle_is_tried_with_every_stride():
    names = NAMES[:7]
    cycle = "*".join([*products(names, pairwise), f"dot({names[0]}, {names[-1]})"])
    one = claim("one", f"{cycle} >= -47/100*{'*'.join(f'norm2({name})' for name in names)}", vectors=names)
    assert hunt(one, pool=40, evaluations=0, smallest=False).stage == POSITIONS


def test_those_of_clients_satisfy_equations():
    assumed = ("norm2(a_n) == c", "norm2(sum_n(a_n)) <= 0", "N == 4")
    one = claim("one", "min_n(dot(first_n(a_n), a_n)) <= -c", vectors=("a_n",), assuming=assumed)
    assert hunt(one, pool=40, evaluations=0, smallest=False).stage == POSITIONS
