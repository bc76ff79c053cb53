"""Hypotheses on numbers and on functions, asked together."""

from __future__ import annotations

from tests.theory.toys import toy
from theory.assumptions import BoundedStochasticGradient, StronglyConvex
from theory.catalog import claim
from theory.claim import Hypothesis
from theory.domain import OPEN_UNIT, POSITIVE
from theory.feasible import Limits, compatible, feasible, function_conflicts


def test_compatible_asks_of_numbers_and_of_functions() -> None:
    everywhere = claim("open-fl/theorem-3/everywhere")
    assert feasible(everywhere, limits=Limits(boxes=64)).outcome == "feasible"  # the numbers alone can hold together
    found = compatible(everywhere, limits=Limits(boxes=64))
    assert (found.outcome, found.witness) == ("empty", None)
    assert (found.numbers.outcome, found.conflicts) == ("feasible", function_conflicts(everywhere))
    data = found.to_json()
    assert (data["outcome"], data["witness"], data["proof"]) == ("empty", None, None)
    assert [conflict["first"] for conflict in data["conflicts"]] == ["strongly convex clients"]

    strong = Hypothesis("strongly convex clients", "s", assumption=StronglyConvex("mu"))
    domains = {"x": OPEN_UNIT, "mu": POSITIVE, "sigma": POSITIVE}
    bounded = toy(("x < 1/2",), domains, assumptions=(BoundedStochasticGradient("sigma"),))
    along = compatible(bounded, [strong, "x > 1/4"])
    assert along.outcome == "feasible"
    assert along.witness == along.numbers.witness == feasible(bounded, [strong, "x > 1/4"]).witness
    allover = toy(("x < 1/2",), domains, assumptions=(BoundedStochasticGradient("sigma", at="everywhere"),))
    assert compatible(allover, [strong]).outcome == "empty"
    assert compatible(bounded, fixed={"x": "2/3"}).outcome == "empty"
    assert compatible(bounded, fixed={"x": "1/3"}).to_json() == along.to_json() | {
        **feasible(bounded, fixed={"x": "1/3"}).to_json(),
        "conflicts": [],
    }
