"""PERM's claims as sentences, in one file: the same claims in the same order, with the same bounds; verdicts."""

import json
from pathlib import Path

import pytest

from theory import paper
from theory.papers import perm as perm_sentences
from theory.papers.perm import PAPER
from validate.contradiction import contradictions
from validate.examine import _given, examine

HERE = Path(__file__)
CLAIMS = {c.label: c for c in PAPER}
RECORDED = json.loads(HERE.with_name("perm_bounds.json").read_text())


def test_the_same_claims_in_the_same_order():
    assert [c.id for c in PAPER] == [c.id for c in paper("perm")]
    assert [c.amended for c in PAPER] == [c.amends for c in paper("perm")]
    assert [c.source for c in PAPER] == [c.source for c in paper("perm")]
    assert len(Path(perm_sentences.__file__).read_text().splitlines()) <= 2000


@pytest.mark.parametrize("label", RECORDED)
def test_a_bound_is_what_it_was(label):
    row = RECORDED[label]
    values = {name: text.split(",") if "," in text else text for name, text in row["values"].items()}
    assert float(CLAIMS[label].bound(**values)) == pytest.approx(float(row["value"]), rel=1e-13)


@pytest.mark.parametrize("label", ["theorem-2-step", "theorem-2-unrolled", "theorem-2", "theorem-3-explicit"])
def test_conditions_that_exclude_each_other(label):
    (found,) = contradictions(CLAIMS[label])
    assert found.outcome == "vacuous", found.detail


@pytest.mark.parametrize("label", [c.label for c in PAPER if c.given])
def test_what_is_given_breaks_its_claim(label, tmp_path):
    ((evidence, path),) = _given(CLAIMS[label], tmp_path, True)
    assert evidence.outcome == "refuted"
    assert path.exists()


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        ("gen", "undecided"),
        ("theorem-1", "refuted"),
        ("theorem-1-alpha-rate", "refuted"),
        ("lemma-14-alpha-rate", "refuted"),
        ("lemma-1", "proved"),
        ("lemma-3", "refuted"),
        ("lemma-4", "refuted"),
        ("proposition-1", "refuted"),
        ("lemma-7", "refuted"),
        ("proposition-2", "refuted"),
        ("lemma-10", "refuted"),
        ("lemma-10/unnormalised", "refuted"),
        ("theorem-2-step/unnormalised", "refuted"),
        ("proposition-4-eq15", "refuted"),
        ("lemma-14", "refuted"),
        ("lemma-15", "refuted"),
    ],
)
def test_verdicts_that_the_machine_finds_at_once(label, verdict, tmp_path):
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict == verdict
    if verdict == "refuted":
        assert next(e.origin for e in result.evidence if e.outcome == "refuted") in ("pool", "search")


@pytest.mark.parametrize("label", ["lemma-2", "lemma-2/unnormalised"])
def test_lemma_2_is_proved(label):
    from validate.proving import evidence

    assert [e.outcome for e in evidence(CLAIMS[label])] == ["proved"]
