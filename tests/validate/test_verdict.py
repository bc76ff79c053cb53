"""How evidence joins into a verdict."""

from __future__ import annotations

import itertools
import json

import pytest

from validate.verdict import MEANING, Evidence, decide


def evidence(*outcomes: str, kind: str = "exact", tightness: float | None = None) -> list[Evidence]:
    return [Evidence(kind, outcome, "a detail", tightness) for outcome in outcomes]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((), "undecided"),
        (("undecided",), "undecided"),
        (("holds",), "supported"),
        (("holds", "undecided"), "supported"),
        (("proved",), "proved"),
        (("proved", "holds", "undecided"), "proved"),
        (("refuted",), "refuted"),
        (("refuted", "fails", "holds"), "refuted"),
        (("fails",), "undecided"),
        (("fails", "holds"), "undecided"),
        (("fails", "proved"), "undecided"),
        (("fails", "vacuous"), "undecided"),
        (("proved", "refuted"), "undecided"),
        (("vacuous",), "vacuous"),
        (("vacuous", "proved"), "vacuous"),
        (("vacuous", "holds"), "vacuous"),
        (("vacuous", "refuted"), "refuted"),
    ],
)
def test_verdicts(outcomes: tuple[str, ...], verdict: str) -> None:
    for order in itertools.permutations(outcomes):
        assert decide("paper/label", evidence(*order)).verdict == verdict


@pytest.mark.parametrize("kind", ["exact", "sampled", "search", "order"])
def test_measurements_support(kind: str) -> None:
    assert decide("paper/label", evidence("holds", kind=kind)).verdict == "supported"


@pytest.mark.parametrize("kind", ["algebra", "hypotheses", "certificate"])
def test_satisfiable_hypotheses_or_some_right_steps_are_not_support(kind: str) -> None:
    assert decide("paper/label", evidence("holds", kind=kind)).verdict == "undecided"


def test_statistics_never_refute() -> None:
    sampled = [Evidence("sampled", "fails", "mean above the bound", 1.5, 1e-6)]
    assert decide("paper/label", [*sampled, *evidence("holds")]).verdict == "undecided"


def test_a_verdict_adds_up_its_evidence_and_is_json() -> None:
    parts = [
        Evidence("exact", "holds", "first", 0.25),
        Evidence("sampled", "holds", "second", 0.75, 1e-6, {"runs": 20}),
        Evidence("algebra", "undecided", "third"),
    ]
    result = decide("paper/label", parts, "certificates/paper.label.json")
    assert result.tightness == 0.75
    assert result.evidence == tuple(parts)
    content = json.loads(json.dumps(result.to_json()))
    assert set(content) == {"id", "verdict", "tightness", "evidence", "certificate"}
    assert (content["id"], content["verdict"]) == ("paper/label", "supported")
    assert content["certificate"] == "certificates/paper.label.json"
    assert content["evidence"][1] == {
        "kind": "sampled",
        "outcome": "holds",
        "detail": "second",
        "tightness": 0.75,
        "error_probability": 1e-6,
        "data": {"runs": 20},
    }
    assert "data" not in content["evidence"][2]


def test_tightness_is_absent_without_ratios_and_zero_counts() -> None:
    assert decide("paper/label", evidence("holds")).tightness is None
    assert decide("paper/label", evidence("holds", tightness=0.0)).tightness == 0.0


def test_every_verdict_has_a_meaning() -> None:
    assert set(MEANING) == {"proved", "supported", "refuted", "vacuous", "undecided"}
