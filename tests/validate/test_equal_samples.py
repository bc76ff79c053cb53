"""Samples of a client that are the same function are drawn as one: the law stays what it is, with fewer outcomes."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.validate.test_play import F, instance, law, sums
from theory.program import Algorithm, algorithm
from validate.instances.pieces import Pieces, Piecewise
from validate.play import Play
from validate.primitives import batches, count_batches
from validate.rounds import TooManyOutcomesError
from validate.verifier import draws

KINDS = st.lists(st.integers(0, 3), min_size=1, max_size=5)
"""Of each sample what it is."""


@algorithm
def batch(w, x, *, b):
    return w.mean(w.gradient(x, w.sample(b)))


@algorithm
def batch_without(w, x, *, b):
    return w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def epoch(w, x):
    return w.mean(w.pass_over(w.each(x), lambda v, i: v - w.gradient(v, i) / 4))


@algorithm(x="x0", table="table x0")
def remembering(w, x, table):
    i = w.sample()
    new = w.put(table, i, w.gradient(x, i))
    return x - w.mean(w.gradient(x, i) - w.get(table, i)), new


def as_kinds(choices: Any, kinds: list[int], ordered: bool) -> dict[tuple[int, ...], Fraction]:
    """Which kinds are drawn, in order or as a multiset, with their probabilities."""
    assert all(p > 0 for p, _ in choices)
    drawn = [(p, [kinds[i] for i in which]) for p, which in choices]
    return sums(*((tuple(those if ordered else sorted(those)), p) for p, those in drawn))


def first(kinds: list[int]) -> tuple[int, ...]:
    return tuple(kinds.index(kind) for kind in kinds)


@given(KINDS, st.integers(1, 4), st.booleans())
def test_batches_of_kinds_are_batches_of_all_samples(kinds: list[int], size: int, replace: bool) -> None:
    size = size if replace else min(size, len(kinds))
    every = product(range(len(kinds)), repeat=size) if replace else permutations(range(len(kinds)), size)
    each = [*every]
    expected = as_kinds([(F(1, len(each)), which) for which in each], kinds, False)
    times = Counter(kinds)
    ours = batches(tuple(times.values()), size, replace)
    assert len(ours) == count_batches(tuple(times.values()), size, replace) == len(expected)
    named = [*times]
    assert {tuple(sorted(named[i] for i in w)): F(int(p.p), int(p.q)) for p, w in ours} == expected
    theirs = draws.batches_of_kinds(first(kinds), size, replace)
    assert as_kinds(theirs, kinds, False) == expected
    assert len(theirs) == len(expected)


@given(KINDS)
def test_orders_of_kinds_are_orders_of_all_samples(kinds: list[int]) -> None:
    each = [*permutations(range(len(kinds)))]
    expected = as_kinds([(F(1, len(each)), which) for which in each], kinds, True)
    theirs = draws.orders(first(kinds))
    assert as_kinds(theirs, kinds, True) == expected
    assert len(theirs) == len(expected)


@given(KINDS, st.sampled_from([batch, batch_without]), st.integers(1, 3))
def test_the_law_of_a_batch_is_that_of_its_indices(kinds: list[int], one: Algorithm, b: int) -> None:
    b = min(b, len(kinds))
    clients = [[{"h": 0, "b": -(4**kind)} for kind in kinds]]
    each = product(kinds, repeat=b) if one is batch else permutations(kinds, b)
    ends = [F(sum(4**kind for kind in which), b) for which in each]
    assert law(one, clients, 0, b=b) == sums(*((end, F(1, len(ends))) for end in ends))


@given(KINDS)
def test_the_law_of_a_pass_is_that_of_its_indices(kinds: list[int]) -> None:
    clients = [[{"h": kind, "a": kind} for kind in kinds]]
    ends = []
    for order in permutations(kinds):
        x = F(5)
        for kind in order:
            x -= F(kind, 4) * (x - kind)
        ends.append((x, F(1, math.factorial(len(kinds)))))
    assert law(epoch, clients, 5) == sums(*ends)


def test_what_is_kept_of_each_sample_tells_equal_ones_apart() -> None:
    same = [{"h": 2, "a": 0}] * 2
    states = law(remembering, [same], 4, rounds=1)
    assert sum(states.values()) == 1
    assert len(states) == 2  # either place of the table may have the gradient


def test_equal_samples_do_not_fill_a_round() -> None:
    clients = [[{"h": 1, "a": 0}] * 11 + [{"h": 2, "a": 0}]]
    one = instance(epoch, clients, 1)
    assert len(Play(one, limit=12).law(1)) == 1  # the order does not matter where all have one minimiser
    apart = [[{"h": 1, "a": i} for i in range(12)]]
    with pytest.raises(TooManyOutcomesError):
        Play(instance(epoch, apart, 1), limit=10**4).law(1)


def test_functions_are_compared_as_a_whole() -> None:
    one, other, moved = (Piecewise((), (F(1),), F(b), Fraction(c)) for b, c in ((0, 0), (1, 0), (0, 1)))
    problem = Pieces(((one, other, one, moved), (moved, moved)))
    assert problem.alike == ((0, 1, 0, 3), (0, 0))


def test_many_of_nearly_all_samples_are_few_batches() -> None:
    """Of 40 million multisets of 14 among 15 kinds, 106 take no sample twice that is there once."""
    times, kinds = (2, *[1] * 14), (0, 0, *range(2, 16))
    assert len(batches(times, 14, False)) == count_batches(times, 14, False) == 106
    assert len(draws.batches_of_kinds(kinds, 14, False)) == 106
