"""Clarabel, called: against what duality says of an answer, and where it panics."""

from __future__ import annotations

import os

import numpy as np
import pytest

from theory.conic import Block, minimised, packed, solved_by, unpacked


def test_packed_triangles_have_the_inner_products_of_their_matrices() -> None:
    ours, theirs = np.random.default_rng(0).standard_normal((2, 5, 5))
    ours, theirs = ours + ours.T, theirs + theirs.T
    assert packed(ours[None])[0] @ packed(theirs[None])[0] == pytest.approx(np.sum(ours * theirs), rel=1e-12)
    assert np.allclose(unpacked(packed(ours[None])[0], 5), ours, rtol=1e-15)


def test_an_answer_is_feasible_on_both_sides_with_the_same_value_on_both() -> None:
    """The largest eigenvalue of a matrix C: minimise t with t I - C semidefinite; and t >= -100, and x = 3."""
    root = np.random.default_rng(1).standard_normal((4, 4))
    C = root + root.T
    identity = packed(np.eye(4)[None])[0]
    blocks: list[Block] = [
        ("zero", np.array([[0.0, 1.0]]), np.array([3.0])),
        ("nonnegative", np.array([[-1.0, 0.0]]), np.array([100.0])),
        ("nonnegative", np.zeros((0, 2)), np.zeros(0)),
        ("semidefinite", np.stack([-identity, 0 * identity], axis=1), -packed(C[None])[0]),
    ]
    answer = minimised(np.array([1.0, 1.0]), blocks, tolerance=1e-9)
    assert str(answer.status) == "Solved"
    assert answer.obj_val == pytest.approx(3 + np.linalg.eigvalsh(C)[-1], abs=1e-7)
    assert np.array(answer.x) == pytest.approx([np.linalg.eigvalsh(C)[-1], 3], abs=1e-7)
    free, sign, *triangle = np.array(answer.z)
    dual = unpacked(np.array(triangle), 4)
    assert free == pytest.approx(-1, abs=1e-7)
    assert sign == pytest.approx(0, abs=1e-7)
    assert np.linalg.eigvalsh(dual)[0] > -1e-7
    assert np.trace(dual) == pytest.approx(1, abs=1e-7)
    assert np.sum(dual * C) == pytest.approx(np.linalg.eigvalsh(C)[-1], abs=1e-7)


def test_one_that_is_stopped_early_does_not_call_itself_solved() -> None:
    block: Block = ("nonnegative", np.array([[-1.0, 0.0], [0.0, -1.0]]), np.array([-1.0, 1.0]))
    answer = minimised(np.array([1.0, 2.0]), [block], iterations=1)
    assert str(answer.status) == "MaxIterations"


class PanicException(BaseException):
    """Named as the panics of Rust are."""


class Solver:
    """One that says something on the standard error stream, and then gives an answer or an error."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def solve(self) -> object:
        os.write(2, b"thread panicked")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def test_a_panic_of_the_solver_is_no_solution_and_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert solved_by(Solver(PanicException("Eigval error"))) is None
    assert capfd.readouterr().err == ""


def test_what_the_solver_prints_otherwise_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert solved_by(Solver(3)) == 3
    assert capfd.readouterr().err == "thread panicked"
    with pytest.raises(KeyboardInterrupt):
        solved_by(Solver(KeyboardInterrupt()))
    assert capfd.readouterr().err == "thread panicked"
