"""What is called proved is accepted by the kernel and by the stand-alone verifier, which reads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.language import vectors
from theory.claim import Claim
from validate import proving, replay, verifier
from validate.derived import derived
from validate.examine import examine
from validate.proved_files import agreed, with_file
from validate.verdict import Evidence
from validate.verifier import FormatError, Report


def rejects(data: Any) -> Report:
    """A verifier that accepts nothing."""
    return Report(False, ("FAIL  line all: it does not follow",), ("said",))


def reads_nothing(data: Any) -> Report:
    """A verifier that reads nothing."""
    raise FormatError("by='all' is no rule")


def proofs(claim: Claim) -> list[Evidence]:
    found = proving.evidence(claim)
    assert [item.outcome for item in found] == ["proved"]
    return found


def test_what_both_accept_is_proved_and_written(tmp_path: Path) -> None:
    (item,), path = with_file(proofs(vectors.YOUNG), tmp_path)
    assert item.outcome == "proved"
    assert path is not None
    assert Path(path).is_file()
    assert examine(vectors.YOUNG, quick=True, out=tmp_path).verdict == "proved"


REFUSED = [(rejects, "kernel accepts it: line all"), (reads_nothing, "does not read it: by='all'")]


@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize(("other", "why"), REFUSED)
def test_what_the_verifier_does_not_accept_or_read_is_not_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: Callable[[Any], Report], why: str
) -> None:
    evidence = proofs(vectors.YOUNG)
    monkeypatch.setattr(verifier, "verify", other)
    (item,), path = with_file(evidence, tmp_path)
    assert (item.outcome, path) == ("undecided", None)
    assert why in item.detail
    assert not list(tmp_path.glob("derivations/*.json"))
    found = derived(vectors.YOUNG, tmp_path, proving.UNITS)
    assert (found.proved, found.path) == (False, None)
    assert any(why in text for text in found.tried)
    shown = replay.derivation(vectors.YOUNG)
    assert shown is None or not shown.reaches


@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize(("other", "why"), REFUSED)
def test_a_check_does_not_call_it_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: Callable[[Any], Report], why: str
) -> None:
    monkeypatch.setattr(verifier, "verify", other)
    result = examine(vectors.YOUNG, quick=True, out=tmp_path)
    assert (result.verdict, result.proof) == ("supported", None)


def test_other_evidence_stays_as_it_is() -> None:
    held = Evidence("exact", "holds", "not broken")
    assert agreed(held) is held
