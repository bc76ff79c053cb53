"""`fedproof prove` and `replay` on claims that say what they mean: what is written, and what the prover says of it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.language import vectors
from tests.validate.command_line import call, printed
from theory import Paper, catalog
from validate import proving
from validate.replay import derivation
from validate.verdict import Evidence

PROOF = {"multipliers": {"convex f (x, y)": "1", "convex f (y, x)": "1"}, "points": {"z": "x - y"}}
WRITTEN = replace(vectors.YOUNG, proof=PROOF)
Patch = pytest.MonkeyPatch


def says(patch: Patch, *found: Evidence) -> None:
    patch.setattr(proving, "evidence", lambda claim, units=0: list(found))
    patch.setattr(proving, "searched", lambda claim, units=0, lemmas=True: (list(found), False))


PROVED = Evidence(
    "algebra", "proved", "by a sum of squares; it rests on: c > 0", origin="search",
    data={"sentence": {"hypotheses": ["c > 0"]}, "proof": {"squares": ["c*norm2(a - b/c)"]}},
)  # fmt: skip


def test_a_proof_that_the_prover_accepts(monkeypatch: Patch) -> None:
    says(monkeypatch, PROVED)
    found = derivation(WRITTEN)
    assert found is not None
    assert (found.outcome, found.written, found.reaches, found.hypotheses) == ("proved", True, True, ("c > 0",))
    assert [(p.label, p.rule, p.text) for p in found.pieces] == [
        ("convex f (x, y)", "multipliers", "1"), ("convex f (y, x)", "multipliers", "1"), ("z", "points", "x - y")
    ]  # fmt: skip
    document = found.to_json()
    assert set(document) == {"id", "reaches", "lines"}
    assert document["lines"][-1]["text"] == vectors.YOUNG.statement
    assert document["reaches"] is True


@pytest.mark.usefixtures("without_search")
def test_the_commands(monkeypatch: Patch) -> None:
    with catalog.forgetting():
        catalog.add(
            Paper(
                "written", "proofs as data", "a test", (replace(WRITTEN, paper=""), replace(vectors.JENSEN, paper=""))
            )
        )
        says(monkeypatch, PROVED)
        assert printed("replay", "written/young")["reaches"]
        assert "proved: norm2(a + b) <= " in call("replay", "written/young").stdout
        answer: dict[str, Any] = printed("prove", "written/young")
        known = {"id", "outcome", "detail", "sentence", "proof", "derivation", "way", "tried", "seconds", "refused"}
        assert set(answer) == known
        assert answer["outcome"] == "proved"
        says(monkeypatch)
        assert printed("replay", "written/young", status=1)["reaches"] is False
        assert printed("prove", "written/young", status=1)["outcome"] == "undecided"
        result = call("replay", "written/jensen")
        assert result.exit_code == 2
        assert "others of its paper have, such as written/young" in result.stderr


def test_the_prover_itself() -> None:
    """What it proves is the claim's own sentence: with another right side it is proved no longer."""
    found = derivation(vectors.YOUNG)
    assert found is not None
    assert found.reaches
    false = derivation(replace(WRITTEN, statement="norm2(a + b) <= norm2(a) + norm2(b)"))
    assert false is not None
    assert not false.reaches
    assert derivation(vectors.WRONG_WAY) is None
