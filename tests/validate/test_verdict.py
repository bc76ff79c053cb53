"""How evidence joins into a verdict."""

import itertools
import json
import math
from typing import get_args

import pytest

from validate.commands import output
from validate.report import readable
from validate.verdict import BEYOND, MEANING, NOTHING_COVERED, ORIGINS, Coverage, Evidence, Origin, Result, decide

KEYS = ("id", "verdict", "covered", "tightness", "severity", "evidence", "certificate", "proof")
EARNED = Coverage(True, "3 scenarios")
CERTIFICATE = "certificates/label.json"


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
        assert decide("paper/label", evidence(*order), CERTIFICATE, EARNED).verdict == verdict


def test_nothing_is_refuted_without_a_certificate() -> None:
    found = decide("paper/label", evidence("refuted", "holds"), coverage=EARNED)
    assert (found.verdict, found.said, found.broken) == ("undecided", "undecided: broken", True)
    assert found.telling == "broken, no certificate: a detail"


@pytest.mark.parametrize("kind", ["exact", "search"])
def test_measurements_support(kind: str) -> None:
    held = evidence("holds", kind=kind)
    assert decide("paper/label", held, coverage=EARNED).verdict == "supported"
    for unearned in (NOTHING_COVERED, Coverage(False, "one scenario")):
        found = decide("paper/label", held, coverage=unearned)
        assert (found.verdict, found.covered) == ("undecided", unearned.detail)


@pytest.mark.parametrize("kind", ["algebra", "hypotheses", "certificate"])
def test_satisfiable_hypotheses_or_some_right_steps_are_not_support(kind: str) -> None:
    assert decide("paper/label", evidence("holds", kind=kind), coverage=EARNED).verdict == "undecided"


def test_a_verdict_adds_up_its_evidence_and_is_json() -> None:
    parts = [
        Evidence("exact", "holds", "first", 0.25),
        Evidence("search", "holds", "second", 0.125, 1e-6, {"runs": 20}),
        Evidence("algebra", "undecided", "third"),
    ]
    result = decide("paper/label", parts, "certificates/paper.label.json", EARNED, quick=True)
    assert result.tightness == 0.25
    assert result.evidence == tuple(parts)
    content = json.loads(json.dumps(result.to_json()))
    assert list(content) == [*KEYS, "quick", "sure"]
    assert (content["id"], content["verdict"], content["covered"]) == ("paper/label", "supported", "3 scenarios")
    assert all(
        content[name] == getattr(result, name) for name in content if name not in ("evidence", "severity", "sure")
    )
    assert content["sure"] is None
    assert content["severity"] is None
    assert content["certificate"] == "certificates/paper.label.json"
    assert content["evidence"][1] == {
        "kind": "search",
        "outcome": "holds",
        "detail": "second",
        "origin": "given",
        "tightness": 0.125,
        "error_probability": 1e-6,
        "data": {"runs": 20},
    }
    assert "data" not in content["evidence"][2]


def said(*parts: Evidence, quick: bool = False) -> Result:
    """The verdict on evidence that was earned."""
    refuted = any(part.outcome == "refuted" for part in parts)
    return decide("paper/label", parts, CERTIFICATE if refuted else None, EARNED, quick)


def test_the_search_that_did_not_break_a_claim_stands_beside_the_word() -> None:
    pool, search = Evidence("exact", "holds", "on the pool"), Evidence("search", "holds", "by search")
    assert said(pool, quick=True).said == said(pool).said == "supported (no search)"
    assert said(pool, search).said == "supported (full search)"
    assert said(pool, search, quick=True).said == "supported (quick search)"


def test_a_break_without_a_certificate_is_said_first() -> None:
    first = "broken, no certificate: it breaks"
    found = said(Evidence("search", "holds", "never broken"), Evidence("exact", "fails", "it breaks", origin="pool"))
    assert (found.verdict, found.said, found.telling) == ("undecided", "undecided: broken", first)
    assert found.break_found is found.evidence[0]
    assert found.broken
    assert found.origin is None


def test_a_refutation_of_what_is_proved_is_said_to_contradict_it() -> None:
    both = [Evidence("algebra", "proved", "all lines"), Evidence("certificate", "refuted", "an instance")]
    assert said(*both).telling == "broken, with a certificate, and proved: a contradiction: an instance"


def test_what_is_told_is_the_evidence_of_the_verdict() -> None:
    held = Evidence("exact", "holds", "so far", 0.5)
    seen = Evidence("exact", "fails", "in floats", 3.0, origin="search")
    found = said(seen, held, Evidence("certificate", "refuted", "an instance", 2.0, origin="pool"))
    assert (found.said, found.telling, found.origin) == ("refuted", "an instance", "pool")
    found = said(Evidence("hypotheses", "holds", "they hold"), held, Evidence("exact", "holds", "tightest", 0.75))
    assert found.telling == "tightest"
    assert Result("paper/label", "undecided", None, ()).telling == ""


def test_every_origin_has_a_meaning() -> None:
    assert set(ORIGINS) == set(get_args(Origin))


def test_a_check_that_does_not_tell_has_no_tightness() -> None:
    both = [*evidence("undecided", kind="search", tightness=0.9), *evidence("fails", "refuted", tightness=1.5)]
    assert decide("paper/label", both[:1]).tightness is None
    assert decide("paper/label", both).tightness == 1.5


def test_tightness_is_absent_without_ratios_and_zero_counts() -> None:
    assert decide("paper/label", evidence("holds")).tightness is None
    assert decide("paper/label", evidence("holds", tightness=0.0)).tightness == 0.0


def test_a_ratio_beyond_a_million_is_shown_as_that() -> None:
    """Everywhere but in the evidence and in JSON."""
    assert decide("paper/label", evidence("fails", tightness=1e26)).to_json()["tightness"] == 1e26
    for told in (output.ratio, readable.ratio):
        assert told(1e26) == told(2 * BEYOND) != told(BEYOND)
        assert told(1e26).startswith("> ")
    assert (output.ratio(math.inf), readable.ratio(math.inf)) == ("inf", "∞")
    assert (output.ratio(None), output.ratio(0.25), output.ratio(1e26)) == ("", "0.25", "> 1e+06")
    assert (readable.ratio(None), readable.ratio(0.25)) == (readable.number(None), readable.number(0.25))


def test_every_verdict_has_a_meaning() -> None:
    assert set(MEANING) == {"proved", "supported", "refuted", "vacuous", "undecided"}
