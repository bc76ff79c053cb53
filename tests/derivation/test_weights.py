"""Weights on the simplex, what holds of the first client, and numbers that no outcome exceeds."""

from typing import Any

import pytest

from tests.derivation.both import accepted as by_both
from tests.rounds import noisy
from tests.rounds import sgd as sampled
from theory import claim
from theory.claim import Claim
from theory.derivation import assumed, axiom, combined, lines
from theory.domain import NONNEGATIVE, REAL

LEVEL = "sum_n(a_n*(c_n + 2*q_n*a_n)) <= c_n + 2*q_n*a_n"


def weights(statement: str, *assuming: str, **more: Any) -> Claim:
    more = {"where": {"a_n": "simplex_n(c_n, q_n)"}, "parameters": {"c_n": REAL}, **more}
    return claim("weights", statement, assuming=assuming, **more)


def accepted(c: Claim, *written: Any) -> bool:
    return by_both(c, lines(c, written))


def test_weights_solve_their_program() -> None:
    least = "sum_n(c_n*a_n + q_n*a_n**2) <= sum_n(c_n*b_n + q_n*b_n**2)"
    written = (
        axiom("level", LEVEL, "simplex", "c_n", "q_n"),
        combined(
            "all",
            None,
            [
                {"line": "level", "over": ["sum_n"], "times": "b_n"},
                {"line": "sum_n(b_n) == 1", "times": "-sum_n(a_n*(c_n + 2*q_n*a_n))"},
            ],
            {"sum_n: a_n - b_n": "q_n"},
        ),
    )
    one, some = "sum_n(b_n) == 1", {"c_n": REAL, "b_n": NONNEGATIVE}
    assert accepted(weights(least, one, parameters=some), *written)
    assert not accepted(weights(least, "sum_n(b_n) == 2", parameters=some), *written)
    assert not accepted(weights(least, one, parameters={"c_n": REAL, "b_n": REAL}), *written)
    assert not accepted(weights(least.replace("<=", ">="), one, parameters=some), *written)
    other = {"a_n": "simplex_n(c_n, 2*q_n)"}
    assert not accepted(weights(least, one, where=other, parameters=some), *written)


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("0 <= a_n", True),
        ("sum_n(a_n) == 1", True),
        ("sum_n(simplex_n(c_n, q_n)) == 1", True),
        (LEVEL, True),
        ("mean_n(a_n) == 1", False),
        ("0 < a_n", False),
        ("a_n <= 0", False),
        ("sum_n(a_n*(c_n + 2*q_n*a_n)) == c_n + 2*q_n*a_n", False),
        ("sum_n(a_n*(c_n + q_n*a_n)) <= c_n + q_n*a_n", False),
        ("sum_n(a_n*(c_n + 2*q_n*a_n)) <= first_n(c_n) + 2*q_n*a_n", False),
    ],
)
def test_what_the_axiom_says_of_weights(statement: str, true: bool) -> None:
    assert accepted(weights(statement), axiom("all", None, "simplex", "c_n", "q_n")) is true


def test_weights_have_a_value_where_every_curvature_is_positive() -> None:
    for curvature, true in (("q_n", True), ("q_n - 1", False), ("q_n**2", True), ("q_n*c_n", False)):
        c = weights("sum_n(a_n) == 1", where={"a_n": f"simplex_n(c_n, {curvature})"})
        assert accepted(c, axiom("all", None, "simplex", "c_n", curvature)) is true


def test_a_weight_is_its_clients() -> None:
    assert accepted(weights("mean_n(a_n) == mean_n(simplex_n(c_n, q_n))"), combined("all"))
    assert not accepted(weights("first_n(a_n) == mean_n(a_n)"), combined("all"))
    assert not accepted(weights("first_n(a_n) == a_n"), combined("all"))
    assert not accepted(weights("first_n(a_n) == simplex_n(first_n(c_n), q_n)"), combined("all"))


def test_what_holds_for_every_client_holds_for_the_first() -> None:
    c = claim(
        "first",
        "norm2(first_n(grad(f_n, x)) - first_n(grad(f_n, y))) <= L**2*norm2(x - y)",
        vectors=("x", "y"),
        assuming=("smooth(f_n, L)",),
    )
    one = assumed("one", None, ["smooth(f_n, L)"], "lipschitz-gradient", x="x", y="y")
    first = {"line": "one", "over": ["first_n"]}
    assert accepted(c, one, combined("all", None, [first]))
    assert not accepted(c, one, combined("all", None, [{"line": "one"}]))
    assert not accepted(c, one, combined("all", None, [{"line": "one", "over": ["mean_n"]}]))
    assert not accepted(c, one, combined("all", None, [{"line": "one", "over": ["first_n", "mean_n"]}]))
    assert not accepted(c, one, combined("all", None, [{"line": "one", "over": ["max_n"]}]))


def test_the_first_client_does_not_speak_for_all() -> None:
    c = claim("first", "sum_n(b_n) <= N*b_0", assuming=("first_n(b_n) <= b_0",))
    assert not accepted(c, combined("all", None, [{"line": "first_n(b_n) <= b_0", "over": ["sum_n"]}]))
    assert not accepted(c, combined("all", None, [{"line": "first_n(b_n) <= b_0", "times": "N"}]))


def test_no_outcome_exceeds_the_quantile_of_1() -> None:
    statement = "norm2(x[k]) <= quantile(norm2(x[k]), 1)"
    line = axiom("all", None, "quantile", "norm2(x[k])")
    assert accepted(claim("q", statement, of=sampled), line)
    assert not accepted(claim("q", statement, of=noisy), line)
    assert not accepted(claim("q", statement.replace(", 1", ", 1/2"), of=sampled), line)
    assert not accepted(claim("q", "quantile(norm2(x[k]), 1) <= norm2(x[k])", of=sampled), line)
    assert not accepted(claim("q", "norm2(x[k+1]) <= quantile(norm2(x[k]), 1)", of=sampled), line)
