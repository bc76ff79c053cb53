"""Scalar lines: identities and inequalities, true, false and beyond the method."""

import pytest

from theory import claim, papers
from theory.claim import Claim, Step
from theory.domain import COUNT, POSITIVE
from validate.algebra import holds, same


def line(left, relation, right):
    return Step("line", "", relation, "", "identity", identity=(left, right))


@pytest.mark.parametrize(
    ("left", "relation", "right", "expected"),
    [
        ("(a+b)**2", "=", "a**2 + 2*a*b + b**2", True),
        ("(a+b)**2", "=", "a**2 + b**2", False),
        ("n*(n-1)/2", "<=", "(n-1)*n", True),
        ("n*(n-1)/2", ">=", "(n-1)*n", None),
        ("1/(1+a)", "<=", "1", True),
        ("1", ">=", "1/(1+a)", True),
        ("1/(1+a)", "<=", "1/2", None),
        ("2*a*b", "<=", "a**2 + b**2", None),  # true, but not by the signs of coefficients: no answer, not a wrong one
        ("a", "<=", "a", True),
    ],
)
def test_lines(left, relation, right, expected):
    assert holds(line(left, relation, right), {"n": COUNT, "a": POSITIVE, "b": POSITIVE}) is expected


ELSEWHERE = ("perm",)  # its false lines are listed in tests/theory/test_perm.py


def test_every_scalar_line_is_proved():
    older = [c for p in papers() if p.name not in ELSEWHERE for c in p if isinstance(c, Claim)]
    answers = {
        (c.id, s.label): holds(s, {p.name: p.domain for p in c.parameters})
        for c in older
        for s in c.steps
        if s.identity is not None
    }
    assert len(answers) > 20
    assert {key for key, answer in answers.items() if answer is not True} == set()


def test_a_false_line_of_a_proof_is_false():
    """Rostami, Kia, before (9): 2E||X-EX||^2 = 2E||X||^2 - E||X||^2, where 2||EX||^2 is to be taken off."""
    variance = "2*(second_moment - squared_mean)"
    assert holds(line(variance, "=", "2*second_moment - second_moment"), {}) is False
    assert holds(line(variance, "=", "2*second_moment - 2*squared_mean"), {}) is True


def test_a_line_without_a_formula_is_refused():
    with pytest.raises(ValueError, match="no scalar formula"):
        holds(next(s for s in claim("open-fl/lemma-5").steps if s.identity is None), {})


def test_same():
    assert same("(x**2 - 1)/(x - 1)", "x + 1")
    assert not same("x", "x + y - y*2")
