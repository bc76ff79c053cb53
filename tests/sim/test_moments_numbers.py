"""The arithmetic of moments: products of rationals are NumPy's, averages over random numbers those of enumeration."""

from __future__ import annotations

import contextlib
import gc
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest

from sim.moments.classes import AT_ONCE, classes_of
from sim.moments.draws import choose, divided
from sim.moments.numbers import FLOATS, SMALL, Numbers, rationals, times

SHAPES = [
    ((2, 3), (3, 2)),
    ((7, 9), (9, 8)),
    ((1, 5, 2, 6, 6), (3, 1, 2, 6, 4)),
    ((2, 1, 3, 8), (1, 8, 7)),
    ((4, 6, 5), (5, 6)),
    ((0, 6, 5), (5, 6)),
]


def random_array(numbers: Numbers, shape: tuple[int, ...], rng: random.Random) -> np.ndarray:
    entries = np.empty(shape, dtype=object)
    entries.ravel()[:] = [Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(entries.size)]
    found = numbers.array(entries)
    if found.size:
        found.ravel()[0] = 0  # zeros of working arrays are Python's
    return found


class Raising:
    """A number whose operations raise when so many were made; `held` has each result six times."""

    def __init__(self, left: list[int], held: list[list[Raising]]) -> None:
        self.left, self.held = left, held

    def operate(self, _: object) -> Raising:
        if not self.left[0]:
            raise ValueError("too many")
        self.left[0] -= 1
        self.held.append([Raising(self.left, self.held)] * 6)
        return self.held[-1][0]

    __mul__ = __add__ = __radd__ = operate


def test_a_product_that_raises_gives_nothing_back_twice() -> None:
    """numpy's does, and the interpreter would crash when it is next cleared up."""
    for many in range(12):
        left, held = [many], list[list[Raising]]()
        one, two = (np.array([[Raising(left, held)] * 2] * 2, dtype=object) for _ in range(2))
        with contextlib.suppress(ValueError):
            times(one, two)
        del one, two
        gc.collect()
        assert all(sys.getrefcount(six[0]) == 7 for six in held), many


@pytest.mark.parametrize(("one", "two"), [((3, 2), (2,)), ((2,), (2, 3)), ((4, 3, 2), (2,)), *SHAPES])
def test_a_product_of_objects_is_that_of_numpy(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    rng = random.Random(2)
    a, b = (random_array(rationals(), shape, rng) for shape in (one, two))
    assert times(a, b).shape == (a @ b).shape
    assert (times(a, b) == a @ b).all()


@pytest.mark.parametrize(("one", "two"), SHAPES)
def test_a_product_is_that_of_numpy(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    rng = random.Random(1)
    for numbers in (rationals(), FLOATS):
        left, right = random_array(numbers, one, rng), random_array(numbers, two, rng)
        found, expected = numbers.product(left, right), left @ right
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert (found == expected).all()


def test_some_are_large_enough_to_be_flints() -> None:
    assert any(one[-2] * one[-1] * two[-1] >= SMALL for one, two in SHAPES)
    assert any(one[-2] * one[-1] * two[-1] < SMALL for one, two in SHAPES)


def test_shapes_that_do_not_fit_are_refused() -> None:
    numbers = rationals()
    with pytest.raises(ValueError, match="mismatch"):
        numbers.product(numbers.identity(12), numbers.identity(13))


@pytest.mark.parametrize("size", [3, 40])
def test_rows_with_one_entry_are_multiplied_like_others(size: int) -> None:
    rng = random.Random(size)
    for numbers in (rationals(), FLOATS):
        matrix = random_array(numbers, (size, 5), rng)
        matrix[1:-1, 1:] = 0
        matrix[::4] = numbers.zeros(5)
        P = random_array(numbers, (2, 5, 5), rng)
        assert np.allclose((numbers.congruent(matrix, P) - matrix @ P @ matrix.T).astype(float), 0, atol=1e-12)


def enumerated(chance: Any, terms: Any, clients: Sequence[int], factors: tuple[int, int], seen: dict[int, int]) -> Any:
    """E of two factors, and of these clients' outcomes being these; every client by its number among `clients`."""
    total = Fraction(0)
    for outcome in product(range(len(chance[0])), repeat=len(clients)):
        if any(outcome[n] != o for n, o in seen.items()):
            continue
        p = Fraction(1)
        for n, o in zip(clients, outcome, strict=True):
            p *= chance[n][o]
        for t in factors:
            whole = sum(terms[t - 1][n][o] for n, o in zip(clients, outcome, strict=True)) if t else Fraction(1)
            p *= 1 / Fraction(whole) if whole else 0
        total += p
    return total


TERMS = {
    "counts": [[[0, 1], [0, 1], [0, 2]]],
    "fractions": [[[Fraction(0), Fraction(1, 3)], [Fraction(0), Fraction(1, 3)], [Fraction(-1, 2), Fraction(2)]]],
    "two": [[[0, 1], [0, 1], [0, 1]], [[1, 0], [1, 0], [0, 3]]],
}


@pytest.mark.parametrize("name", TERMS)
def test_averages_over_random_numbers_are_those_of_enumeration(name: str) -> None:
    terms, many = TERMS[name], [2, 1, 1]
    chance = [[Fraction(1, 3), Fraction(2, 3)]] * 2 + [[Fraction(1, 4), Fraction(3, 4)]]
    clients = [0, 0, 1, 2]  # the first class has two
    for numbers in (rationals(), FLOATS):
        found = divided(numbers.array(chance), numbers.array(np.array(terms, dtype=object)), many, numbers)
        mean, same, pair = (numbers.result(np.asarray(x)) for x in (found.mean, found.same, found.pair))
        for s, t in product(range(len(terms) + 1), repeat=2):
            for (a, n), (b, m) in product([(0, 0), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3)]):
                for o, q in product(range(2), repeat=2):
                    assert mean[s, a, o] == pytest.approx(enumerated(chance, terms, clients, (s, 0), {n: o}))
                    if n == m:
                        wanted = enumerated(chance, terms, clients, (s, t), {n: o})
                        assert same[s, t, a, o] == pytest.approx(wanted)
                        continue
                    both = enumerated(chance, terms, clients, (s, t), {n: o, m: q})
                    kinds = found.kind[a], found.kind[b]
                    excess = both - mean[s, a, o] * mean[t, b, q]
                    assert pair[s, t, kinds[0], o, kinds[1], q] == pytest.approx(excess, abs=1e-14)


def test_clients_are_of_one_class_where_all_their_rows_are() -> None:
    rng = np.random.default_rng(0)
    for kinds in (1, 3, 3 * AT_ONCE):
        of = rng.integers(0, kinds, 60)
        values = rng.standard_normal((kinds, 2, 3))
        for dtype in (float, object):
            found = classes_of([values[of].astype(dtype), of % 2])
            assert len(set(found)) == len(set(of))
            assert ((found[:, None] == found) == (of[:, None] == of)).all()


@pytest.mark.parametrize(("size", "clients"), [(200, 5), (150, 2)])
def test_chances_of_a_pair_of_many_choices_are_the_multinomial_ones(size: int, clients: int) -> None:
    pair = choose(0, size, clients, True, FLOATS).pair
    assert pair is not None
    for a, b in ((0, 0), (3, 7), (size // clients, size // clients), (size - 1, 1), (size, 0), (60, 100)):
        ways = comb(size, a) * comb(max(size - a, 0), b) if a + b <= size else 0
        exact = Fraction(ways * (clients - 2) ** max(size - a - b, 0), clients**size)
        assert pair[a, b] == pytest.approx(float(exact), rel=1e-12, abs=0)
