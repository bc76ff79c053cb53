"""Hypotheses on numbers and on functions, asked together."""

from __future__ import annotations

from dataclasses import replace

from tests.theory.toys import in_numbers
from theory.claim import claim
from theory.feasible import Limits, compatible, feasible, function_conflicts

EVERYWHERE = claim(
    "everywhere",
    "f(x0) - fstar <= x",
    assuming=("strongly_convex(f_n, mu)", "bounded_gradients(f_ni, sigma)", "x < 1/2"),
)


def test_compatible_asks_of_numbers_and_of_functions() -> None:
    numbers = in_numbers(EVERYWHERE)
    assert feasible(numbers, limits=Limits(boxes=64)).outcome == "feasible"  # the numbers alone can hold together
    found = compatible(EVERYWHERE, limits=Limits(boxes=64))
    assert (found.outcome, found.witness) == ("empty", None)
    assert (found.numbers.outcome, found.conflicts) == ("feasible", function_conflicts(EVERYWHERE))
    data = found.to_json()
    assert (data["outcome"], data["witness"], data["proof"]) == ("empty", None, None)
    assert [conflict["first"] for conflict in data["conflicts"]] == ["strongly_convex(f_n, mu)"]


def test_where_functions_do_not_conflict_numbers_decide() -> None:
    bounded = replace(EVERYWHERE, assuming=EVERYWHERE.assuming[1:])
    numbers = in_numbers(bounded)
    along = compatible(bounded, ["x > 1/4"])
    assert along.outcome == "feasible"
    assert along.witness == along.numbers.witness == feasible(numbers, ["x > 1/4"]).witness
    assert compatible(EVERYWHERE, ["x > 1/4"]).outcome == "empty"
    assert compatible(bounded, fixed={"x": "2/3"}).outcome == "empty"
    assert compatible(bounded, fixed={"x": "1/3"}).to_json() == {
        **feasible(numbers, fixed={"x": "1/3"}).to_json(),
        "conflicts": [],
    }
