"""Hypotheses on numbers and on functions, asked together."""

from __future__ import annotations

import pytest

from tests.theory.toys import toy
from theory.assumptions import BoundedEstimatorSecondMoment, StronglyConvex
from theory.catalog import claim
from theory.domain import OPEN_UNIT, POSITIVE
from theory.feasible import Limits, compatible, feasible, function_conflicts

EQ14 = "fedavg-svrg/lemma-v1-eq14"


def test_compatible_asks_of_numbers_and_of_functions() -> None:
    everywhere = claim("open-fl/theorem-3/everywhere")
    assert feasible(everywhere, limits=Limits(boxes=64)).outcome == "feasible"  # the numbers alone can hold together
    found = compatible(everywhere, limits=Limits(boxes=64))
    assert (found.outcome, found.witness) == ("empty", None)
    assert (found.numbers.outcome, found.conflicts) == ("feasible", function_conflicts(everywhere))
    data = found.to_json()
    assert (data["outcome"], data["witness"], data["proof"]) == ("empty", None, None)
    assert [conflict["first"] for conflict in data["conflicts"]] == ["strongly convex clients"]

    strong = next(h for h in claim(EQ14).hypotheses if isinstance(h.assumption, StronglyConvex))
    bounded = toy(("x < 1/2",), {"x": OPEN_UNIT, "mu": POSITIVE}, assumptions=(BoundedEstimatorSecondMoment(),))
    along = compatible(bounded, [strong, "x > 1/4"])
    assert along.outcome == "feasible"
    assert along.witness == along.numbers.witness == feasible(bounded, [strong, "x > 1/4"]).witness
    assert compatible(bounded, [strong], reading="literal").outcome == "empty"
    assert compatible(bounded, fixed={"x": "2/3"}).outcome == "empty"
    assert compatible(bounded, fixed={"x": "1/3"}).to_json() == along.to_json() | {
        **feasible(bounded, fixed={"x": "1/3"}).to_json(),
        "conflicts": [],
    }
    with pytest.raises(ValueError, match="reading='printed' is neither"):
        compatible(bounded, reading="printed")  # type: ignore[arg-type]
