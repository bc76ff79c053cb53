"""Semidefiniteness of rational matrices: by construction, against a witness, and at the boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory.psd import is_psd, is_psd_balls, is_psd_floats

ENTRY = rationals(-5, 5, 7)


def product(rows):
    """rows * rows', exactly."""
    return [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in rows] for u in rows]


def quadratic_form(matrix, x):
    return sum(a * matrix[i][j] * b for i, a in enumerate(x) for j, b in enumerate(x))


@st.composite
def rectangles(draw):
    n, rank = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return [[draw(ENTRY) for _ in range(rank)] for _ in range(n)]


@settings(max_examples=80, deadline=None)
@given(rectangles())
def test_gram_matrices_are_psd(rows):
    assert is_psd(product(rows))


@settings(max_examples=80, deadline=None)
@given(rectangles(), st.data(), st.fractions(min_value=Fraction(1, 10**9), max_value=3))
def test_a_matrix_with_a_witness_below_zero_is_never_called_psd(rows, data, depth):
    """Shift a Gram matrix along x x' so that x' A x = -depth exactly."""
    matrix = product(rows)
    n = len(matrix)
    x = [data.draw(ENTRY) for _ in range(n)]
    length = sum(a * a for a in x)
    if not length:
        x, length = [Fraction(1), *x[1:]], Fraction(1)
    shift = (quadratic_form(matrix, x) + depth) / length**2
    below = [[matrix[i][j] - shift * x[i] * x[j] for j in range(n)] for i in range(n)]
    assert quadratic_form(below, x) == -depth
    assert not is_psd(below)
    assert not is_psd_balls(below)


@settings(max_examples=60, deadline=None)
@given(rectangles(), st.fractions(min_value=Fraction(1, 1000), max_value=3))
def test_balls_prove_what_is_well_inside(rows, shift):
    matrix = product(rows)
    for i in range(len(matrix)):
        matrix[i][i] += shift
    assert is_psd_balls(matrix)
    assert is_psd(matrix)


def test_balls_do_not_prove_a_singular_matrix_and_exact_arithmetic_does():
    third = Fraction(1, 3)
    singular = [[third, 2 * third], [2 * third, 4 * third]]
    assert not is_psd_balls(singular, precision=53)
    assert is_psd(singular)


def test_low_precision_refuses_rather_than_errs():
    tiny = Fraction(1, 10**12)
    nearly = [[Fraction(1), Fraction(1)], [Fraction(1), 1 + tiny]]
    assert not is_psd_balls(nearly, precision=24)
    assert is_psd_balls(nearly, precision=128)
    assert not is_psd([[Fraction(1), Fraction(1)], [Fraction(1), 1 - tiny]])


def test_a_zero_pivot_needs_a_zero_row():
    assert is_psd([[Fraction(0), Fraction(0)], [Fraction(0), Fraction(1)]])
    assert not is_psd([[Fraction(0), Fraction(1, 10**9)], [Fraction(1, 10**9), Fraction(10**9)]])
    assert is_psd([])


@pytest.mark.parametrize("rows", [[[1, 2]], [[1, 2], [0, 1]]])
def test_other_shapes_are_refused(rows):
    matrix = [[Fraction(x) for x in row] for row in rows]
    with pytest.raises(ValueError, match=r"matrix.* is outside"):
        is_psd(matrix)


def test_precision_is_checked():
    with pytest.raises(ValueError, match=r"precision=1 is outside \[2, inf\)"):
        is_psd_balls([[Fraction(1)]], precision=1)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 4), st.data())
def test_floats_prove_what_is_true(n: int, data: st.DataObject) -> None:
    """Integers far beyond floats: what floats prove is so, and what is far from singular they prove."""
    root = [[data.draw(st.integers(-9, 9)) for _ in range(n)] for _ in range(n)]
    unit = 10 ** data.draw(st.integers(0, 40))
    for least in (-1, 0, 1):
        matrix = [
            [unit * sum(a * b for a, b in zip(u, v, strict=True)) + least * (i == j) for j, v in enumerate(root)]
            for i, u in enumerate(root)
        ]
        proved = is_psd_floats(matrix)
        assert not proved or is_psd([[Fraction(c) for c in row] for row in matrix])
    strong = [[c + unit * (i == j) for j, c in enumerate(row)] for i, row in enumerate(matrix)]
    assert is_psd_floats(strong)
    assert not is_psd_floats([[-c for c in row] for row in strong])
    assert is_psd_floats([])
    assert not is_psd_floats([[0]])


def test_a_factor_that_floats_do_not_have_proves_nothing(monkeypatch):
    def without(matrix):
        raise np.linalg.LinAlgError("Matrix is not positive definite")

    strong = [[2, 1], [1, 2]]
    assert is_psd_floats(strong)
    monkeypatch.setattr(np.linalg, "cholesky", without)
    assert not is_psd_floats(strong)
