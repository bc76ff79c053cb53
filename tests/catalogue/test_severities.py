"""What is kept of how much refutations matter: about claims that are refuted, as they read now, in words that exist."""

import json
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.severities import refuted, summary, table
from tests.validate.command_line import call
from theory import catalog
from validate.severity import KEPT, MEANING, Kept, Severity, kept, severity_of

ROWS = json.loads(KEPT.read_text(encoding="utf-8"))
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_severity_is_of_a_refuted_claim_as_it_reads(row: dict[str, object]) -> None:
    one = severity_of(catalog.claim(str(row["id"])))
    assert one == Kept(**row)  # type: ignore[arg-type]
    assert one is not None
    assert one.id in refuted()
    assert one.severity is None or one.severity in get_args(Severity)
    assert (one.severity is None) == (not one.instead) == (not one.word)
    assert one.word in ("proved", "supported", "")


def test_every_severity_has_a_meaning_and_some_are_known() -> None:
    assert set(MEANING) == set(get_args(Severity))
    assert len(kept()) == len(ROWS) > 5
    assert list(kept()) == [id for id in refuted() if id in kept()]


def test_another_text_has_no_severity() -> None:
    one = catalog.claim("saga/lemma-3")
    assert severity_of(one) is not None
    other = one.__class__(one.label, one.statement.replace("beta", "2*beta"), vectors=one.vectors, where=one.where)
    assert severity_of(other) is None


def test_it_is_shown_with_the_charitable_reading() -> None:
    shown = call("show", "saga/lemma-3")
    assert "misprint: one slip: what is meant stands; instead: gamma for -gamma, on the left (proved)" in shown.stdout
    assert json.loads(call("show", "saga/lemma-3", "--json").stdout)["refuted"]["severity"] == "misprint"
    assert json.loads(call("show", "saga/theorem-1", "--json").stdout)["refuted"] is None


def test_the_pages_have_what_is_kept() -> None:
    assert f"\n{summary()}.\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in (ROOT / "docs" / "found.md").read_text(encoding="utf-8")
