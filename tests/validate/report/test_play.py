"""Claims as data for the page's sliders, and the values at which these start."""

import json
import math
from dataclasses import replace

import pytest

from tests.validate.report.playing import CLAIMS, data_of, made, page_of, starts
from theory import catalog
from theory.bound import Parameter
from theory.calculator import calculator
from theory.domain import Domain
from theory.evaluate import bound, violated
from validate.report.play import play
from validate.report.start import start_values

# Their hypotheses exclude each other, or nearly (`fedproof feasible`), so no start satisfies them.
NO_START = {
    "open-fl/theorem-3/papers-settings",
    "sizes/v1",
    "sizes/v2",
    "perm/theorem-2",
    "perm/theorem-2-step",
    "perm/theorem-2-unrolled",
    "perm/theorem-3-explicit",
}


def test_data_of_every_claim_is_json_and_starts_where_its_hypotheses_hold() -> None:
    for claim in CLAIMS:
        data = data_of(claim.id)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        values = starts(data)
        assert list(values) == [p.name for p in claim.parameters]
        exact = {name: str(v) if not isinstance(v, list) else tuple(map(str, v)) for name, v in values.items()}
        tied = {p["name"]: p["tie"]["formula"] for p in data["parameters"] if "tie" in p}
        failing = violated(claim, exact | tied)
        assert bool(failing) == (claim.id in NO_START), (claim.id, values, failing)
        assert math.isfinite(bound(claim, values)), claim.id
        assert [h["relation"] for h in data["hypotheses"]] == [h.relation for h in claim.conditions if h.relation]
        for p in data["parameters"]:
            if p.get("vector"):
                continue
            domain = claim.parameter(p["name"]).domain
            assert p["from"] <= p["to"], (claim.id, p)
            assert domain.contains(float(p["from"])), (claim.id, p)
            assert domain.contains(float(p["to"])), (claim.id, p)


def test_no_data_without_a_bound() -> None:
    assert play(replace(CLAIMS[0], right=None, definitions={})) is None
    assert play(made("1e400*a")) is None  # a number beyond float64


def test_given_starts_are_kept_where_they_can_be() -> None:
    claim = calculator(catalog.claim("fedmim/theorem-iv2-eq9/with-lambda")).bound
    given_values = {"K": 7, "L": 0.3, "S": 2.5, "mu": -1.0, "T": None, "alpha": [0.1, 0.2], "G": [1.0], "other": 3}
    found = start_values(claim, given_values)
    assert found["K"] == 7
    assert found["L"] == 0.3
    assert found["alpha"] == [0.1, 0.2]
    assert len(found["beta"]) == 2  # as long as the vector that is given
    assert found["S"] == int(found["S"])
    assert found["mu"] > 0
    assert isinstance(found["G"], int | float)
    assert "other" not in found
    assert violated(claim, found) == ()


@pytest.mark.parametrize(
    ("domain", "scale"),
    [
        (Domain(0, None, lower_open=True), "log"),
        (Domain(0, None), "log"),
        (Domain(1, None), "log"),
        (Domain(1, None, integer=True), "log"),
        (Domain(0, 1, lower_open=True, upper_open=True), "linear"),
        (Domain(2, 5, integer=True), "linear"),
        (Domain(0, 5000, integer=True), "linear"),
        (Domain(), "linear"),
        (Domain(None, 3), "linear"),
        (Domain(-2, None), "linear"),
        (Domain(None, None, integer=True), "linear"),
    ],
)
def test_ranges_of_sliders(domain: Domain, scale: str) -> None:
    claim = replace(made("a"), parameters=(Parameter("a", domain, ""), *made("a").parameters[1:]))
    data = play(claim)
    assert data is not None
    p = data["parameters"][0]
    assert p["scale"] == scale
    assert p["from"] <= p["start"] <= p["to"]
    assert domain.contains(float(p["from"]))
    assert domain.contains(float(p["to"]))
    assert p.get("zero", False) == (scale == "log" and domain.contains(0.0))
    if domain.integer and scale == "linear":
        assert ((p["to"] - p["from"]) / p["steps"]).is_integer()


def test_text_of_a_claim_cannot_end_its_data() -> None:
    claim = made("a")
    evil = "</script><!-- <script> ' \" & \u2028 </details>"
    claim = replace(claim, hypotheses=(replace(claim.hypotheses[0], statement=evil),))
    html = page_of([claim])
    block = html.split('<script type="application/json">', 1)[1].split("</script>", 1)[0]
    assert json.loads(block) == play(claim)
    assert "<!--" not in html
    assert "fedproof bound made/one --set" in html.split("<noscript>", 1)[1].split("</noscript>", 1)[0]
