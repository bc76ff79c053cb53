"""Relations that the other assumptions deny, and neighbours of them that some instance satisfies."""

from dataclasses import replace

import pytest

from tests.rounds import descent
from theory import claim
from validate import certificate as certificates
from validate.denied import denied, met
from validate.derived import derived
from validate.examine import examine

SMOOTH, STRONG, SHORT = "smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"
NEARER = "norm2(x[K] - xstar) <= 1"
AT_X, AT_XY = ("x",), ("x", "y")


def run(*assuming):
    return claim("run", NEARER, of=descent, assuming=assuming)


def points(vectors, *assuming):
    return claim("points", "norm2(x) <= 1", vectors=vectors, assuming=assuming)


EXCLUDED = {
    "ascent": run("convex(f)", SMOOTH, SHORT, "f(x[k+1]) > f(x[k])"),
    "farther": run(STRONG, SMOOTH, SHORT, "norm2(x[K] - xstar) > norm2(x0 - xstar)"),
    "steeper": run(SMOOTH, "f(x0) - fstar > L*norm2(x0 - xstar)"),
    "above": points(AT_XY, SMOOTH, "f(y) > f(x) + dot(grad(f, x), y - x) + L*norm2(y - x)"),
    "flatter": points(AT_X, STRONG, SMOOTH, "2*mu*(f(x) - fstar) > norm2(grad(f, x))"),
    "far-apart": points(AT_XY, "norm2(x - y) > 2*norm2(x) + 2*norm2(y)"),
    "even-weights": claim("w", "max_n(p_n) <= 2/N", assuming=("sum_n(p_n) == 1", "sum_n(p_n**2) < 1/N")),
    "squares": claim("s", "max_n(b_n) <= 1", assuming=("sum_n(b_n**2) > sum_n(b_n)*max_n(b_n)",)),
    "an-equation": run(SMOOTH, "f(x0) - fstar == L*norm2(x0 - xstar) + 1"),
}
SATISFIED = {
    "ascent": run("convex(f)", SMOOTH, "eta <= 3/L", "f(x[k+1]) > f(x[k])"),
    "farther": run(STRONG, SMOOTH, "norm2(x[K] - xstar) > norm2(x0 - xstar)"),
    "steeper": run(SMOOTH, "f(x0) - fstar > L/4*norm2(x0 - xstar)"),
    "above": points(AT_XY, SMOOTH, "f(y) > f(x) + dot(grad(f, x), y - x) + L/4*norm2(y - x)"),
    "flatter": points(AT_X, STRONG, SMOOTH, "3*mu*(f(x) - fstar) > norm2(grad(f, x))"),
    "far-apart": points(AT_XY, "norm2(x - y) > norm2(x) + norm2(y)"),
    "even-weights": claim("w", "max_n(p_n) <= 2/N", assuming=("sum_n(p_n) == 1", "sum_n(p_n**2) <= 2/N")),
    "squares": claim("s", "max_n(b_n) <= 1", assuming=("sum_n(b_n**2) > sum_n(b_n)*max_n(b_n)/2",)),
    "in-two-rounds": run("f(x[k+2]) > f(x[k+2]) + 1"),
}


@pytest.mark.parametrize("name", EXCLUDED)
def test_a_derivation_of_the_opposite_says_that_nothing_is_spoken_of(name, tmp_path):
    one = EXCLUDED[name]
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == "vacuous"
    assert "a derivation of" in result.telling
    made = result.evidence[0].data["derivation"]
    assert certificates.verified(made).valid
    false = {**made, "statement": "norm2(x0) <= -1"} if "statement" in made else {**made, "lines": made["lines"][:-1]}
    assert not certificates.verified(false).valid
    assert derived(one, tmp_path, 100).verdict == "vacuous"


@pytest.mark.parametrize("name", SATISFIED)
def test_what_can_hold_is_not_denied(name):
    assert denied(SATISFIED[name]) == []


@pytest.mark.parametrize("name", sorted(EXCLUDED.keys() & SATISFIED.keys()))
def test_an_instance_is_met_where_the_relation_can_hold(name):
    assert met(SATISFIED[name])
    assert not met(EXCLUDED[name])


def test_a_relation_beside_itself_is_no_contradiction():
    """Two texts that say the same, and the opposite of one under the other is false."""
    twice = points(AT_XY, "norm2(x) >= norm2(y)", "norm2(y) <= norm2(x)")
    assert denied(twice) == []
    assert denied(replace(twice, assuming=(*twice.assuming, "norm2(x) < norm2(y)")))
