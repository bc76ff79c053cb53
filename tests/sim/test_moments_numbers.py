"""Products of matrices of rationals: FLINT's are those of NumPy, entry by entry, whatever the shapes."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from sim.moments.numbers import FLOATS, SMALL, Numbers, rationals

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
