"""Claims about numbers alone that are false at a point, or in a narrow part: no pool meets these, and z3 does."""

import pytest

from theory import claim
from theory.domain import REAL
from validate.breaking_numbers import breaking_numbers
from validate.examine import examine
from validate.instances.pool import drawn
from validate.instances.seen import measured

pytest.importorskip("z3")
ALL = {"a": REAL}
POINTS = {
    # false where a = 17, b = 23 only (b is an integer)
    "two-numbers": claim("two-numbers", "abs(a*b - 391) + abs(a - b + 6) >= 1/100"),
    # false from 6.9 to 7.1
    "kink": claim("kink", "a/a >= 1 + max(0, 1 - 10*abs(a - 7))", parameters=ALL),
    # false at K = 137 only
    "terms": claim("terms", "(K - 137)**2 > 0"),
    "terms-and-clients": claim("terms-and-clients", "abs(N - 37) + abs(K - 41) >= 1"),
    "equation": claim("equation", "max(0, 1 - 10**6*abs(a - 1/3)) == 0", parameters=ALL),
    "assumed": claim("assumed", "abs(a - c) >= 1/10**9", assuming=("a*c == 1", "a + c <= 2 + 1/10**12")),
    # true at (4/5, 3/5) and (3/5, 4/5) only, of which no pool has any
    "two-points": claim("two-points", "a <= 7/10", assuming=("a**2 + c**2 == 1", "a*c == 12/25")),
    # of the index k, so that there have to be as many rounds: slow
    "round": claim("round", "abs(k - 71) + abs(a - 1/7) > 0"),
}
IRRATIONAL = {"root": claim("root", "(a**2 - 2)**2 > 0"), "cubic": claim("cubic", "(a**3 - a - 1)**2 > 0")}
TRUE = {
    "no-integer": claim("no-integer", "(b**2 - 2)**2 > 0"),
    "young": claim("young", "a*c <= a**2/2 + c**2/2", parameters={"a": REAL, "c": REAL}),
    # the other root is negative, and a is not
    "outside": claim("outside", "(a + 2)**2 > 0"),
    "undefined": claim("undefined", "1/(a - 1)**2 > 0", parameters=ALL),
}
NOT_MET = claim("two-points-true", "a <= 4/5", assuming=("a**2 + c**2 == 1", "a*c == 12/25"))


def near(one):
    return next(s for s in (measured(one, d) for d in (drawn(one, seed) for seed in range(50)) if d) if s)


@pytest.mark.usefixtures("few_instances")
@pytest.mark.parametrize("label", [*list(POINTS)[:-1], pytest.param("round", marks=pytest.mark.slow)])
def test_numbers_that_break_a_claim_refute_it(label, tmp_path):
    result = examine(POINTS[label], quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.covered
    assert result.certificate is not None


@pytest.mark.parametrize("label", IRRATIONAL)
def test_numbers_that_are_no_fractions_leave_a_claim_undecided(label, tmp_path):
    result = examine(IRRATIONAL[label], quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    assert [e.origin for e in result.evidence if e.outcome == "fails"] == ["search"]


@pytest.mark.parametrize("label", TRUE)
def test_nothing_is_made_up_for_a_true_claim(label):
    assert breaking_numbers(TRUE[label], near(TRUE[label])) is None


def test_of_what_no_instance_was_met_nothing_is_made_up(tmp_path):
    assert breaking_numbers(NOT_MET, None) is None
    assert examine(NOT_MET, quick=True, out=tmp_path).verdict in ("undecided", "proved")


def test_other_claims_are_not_asked(tmp_path):
    assert breaking_numbers(claim("vectors", "norm2(u) >= 0", vectors=("u",)), None) is None
    lists = claim("lists", "(q_n - 3)**2 > 0")
    assert breaking_numbers(lists, near(lists)) is None
    assert examine(lists, quick=True, out=tmp_path).verdict == "refuted"  # at q_1 = 3; no other word says what N is
    sums = claim("sums", "sum_k((k - 3)**2) >= 0")
    assert breaking_numbers(sums, near(sums)) is None
