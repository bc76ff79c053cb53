"""A derivation that its author wrote, and that is refused, is told wherever the claim is: at which line, and why."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import call, printed
from theory import Paper, catalog, claim
from theory.derivation import combined, lines
from validate import proving, verifier
from validate.derived import derived
from validate.examine import examine
from validate.report import render
from validate.verifier import Report

YOUNG = "norm2(a + b) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)"
SPLIT = combined("split", "2*dot(a, b) <= c*norm2(a) + norm2(b)/c", (), "c*a - b times 1/c")
RIGHT = claim("young", YOUNG, vectors=("a", "b"), proof=(SPLIT, combined("all", None, "split")))
WRONG = replace(RIGHT, proof=(SPLIT, combined("all", None, "split times 2")))
TOLD = (
    "the derivation written for it is refused at line 2, 'all': "
    "left over: 2*dot(a, b) - c*norm2(a) - norm2(b)/c"
)  # fmt: skip
FOUND = TOLD + "; the search found another, which proves it"


def test_a_check_tells_it_beside_what_the_search_proves(tmp_path: Path) -> None:
    result = examine(WRONG, quick=True, out=tmp_path)
    assert (result.verdict, result.refused) == ("proved", FOUND)
    assert result.proof is not None
    own = next(item for item in result.to_json()["evidence"] if item["origin"] == "given")
    assert (own["kind"], own["outcome"], own["detail"]) == ("algebra", "undecided", TOLD)
    assert own["data"]["refused"] == {
        "by": "kernel",
        "line": "all",
        "where": "line 2",
        "sentence": "",
        "why": "left over: 2*dot(a, b) - c*norm2(a) - norm2(b)/c",
    }


def test_a_verdict_is_no_weaker_for_a_derivation_that_is_refused(tmp_path: Path) -> None:
    """Of a true claim and of a false one it is that of the claim without a derivation."""
    assert examine(replace(RIGHT, proof=None), quick=True, out=tmp_path).verdict == "proved"
    false = replace(WRONG, statement="norm2(a + b) <= norm2(a) + norm2(b)")
    result = examine(false, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.refused.startswith("the derivation written for it is refused at line 1, 'split'")


def test_a_claim_of_which_nothing_is_proved_says_so() -> None:
    (item,) = proving.evidence(replace(RIGHT, over="norm(x) <= 1"), 0)
    why = "a claim in words, or about a part of the space, is not proved here"
    assert item.detail == f"the derivation written for it is refused: {why}"


@pytest.mark.parametrize("proof", ["words", {"lines": 1}, (), (3,), ({"by": "combination"},), 7])
def test_what_is_no_derivation_is_told_too(proof: Any, tmp_path: Path) -> None:
    (item,) = proving.evidence(replace(RIGHT, proof=proof), 0)
    assert item.outcome == "undecided"
    assert item.detail.startswith(
        ("the derivation written for it is refused at ", "the derivation written for it is refused: ")
    )


@pytest.mark.usefixtures("without_search")
def test_what_the_verifier_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "verify", lambda data: Report(False, ("FAIL  line all: no",), ("said",)))
    result = examine(RIGHT, quick=True, out=tmp_path)
    assert result.verdict == "supported"
    assert (
        result.refused
        == "its derivation is refused by the stand-alone verifier, while the kernel accepts it: line all: no"
    )
    assert derived(RIGHT, tmp_path, 50).refused == result.refused


def test_the_commands_tell_it(tmp_path: Path) -> None:
    with catalog.forgetting():
        catalog.add(Paper("wrong", "a derivation that is refused", "a test", (replace(WRONG, paper=""),)))
        out = ("--out", tmp_path)
        result = call("check", "wrong", "--quick", *out)
        assert result.exit_code == 0  # the verdict decides
        assert f"wrong/young: {FOUND}" in result.stdout.splitlines()
        (entry,) = printed("check", "wrong", "--quick", *out)
        assert TOLD in [item["detail"] for item in entry["evidence"]]
        result = call("prove", "wrong/young", *out)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[0] == f"wrong/young: {TOLD}"
        assert result.stdout.splitlines()[1].startswith("wrong/young: proved: ")
        assert printed("prove", "wrong/young", *out, status=1)["refused"] == TOLD
        result = call("replay", "wrong/young")
        assert result.exit_code == 1
        assert result.stdout.splitlines()[-1] == TOLD


def test_the_page_of_the_claim_tells_it(tmp_path: Path) -> None:
    paper = Paper("wrong", "a derivation that is refused", "a test", (replace(WRONG, paper=""),))
    with catalog.forgetting():
        catalog.add(paper)
        result = examine(paper.claims[0], quick=True, out=tmp_path)
        page = render([result], [], tmp_path, papers=[paper], quick=True).with_name("wrong.html").read_text("utf-8")
    assert "its derivation is refused" in page
    assert "at line 2" in page


def test_a_line_that_is_written_out_is_of_the_line_that_names_it() -> None:
    value = claim(
        "value",
        "norm2(grad(f, x)) <= 2*L*(f(x) - fstar)",
        vectors=("x",),
        assuming=("smooth(f, L)",),
        proof=(combined("all", None, "above f (x, x - grad(f, x)/L) times 2*L; infimum (x) times 2*L"),),
    )
    (item,) = proving.evidence(value, 0)
    assert "refused at line 1, 'all': left over: " in item.detail
    assert len(lines(value, value.proof)) == 3
