"""Scalar lines: identities and inequalities, true, false and beyond the method."""

import pytest

from theory import claim, papers
from theory.claim import Step
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


FALSE_LINES = {("fedavg-svrg/lemma-v1", "before (9), second")}
ELSEWHERE = ("perm", "fedmim")  # their false lines are listed in tests/theory/test_perm.py and test_fedmim.py


def test_every_scalar_line_is_proved_but_for_the_known_false_ones():
    lines = [(c, s) for p in papers() if p.name not in ELSEWHERE for c in p for s in c.steps if s.identity is not None]
    answers = {(c.id, s.label): holds(s, {p.name: p.domain for p in c.parameters}) for c, s in lines}
    assert {key for key, answer in answers.items() if answer is False} == FALSE_LINES
    assert None not in answers.values()


def test_a_line_without_a_formula_is_refused():
    with pytest.raises(ValueError, match="no scalar formula"):
        holds(claim("fedavg-svrg/theorem-v1-eq7").steps[0], {})


def test_same():
    assert same("(x**2 - 1)/(x - 1)", "x + 1")
    assert not same("x", "x + y - y*2")
