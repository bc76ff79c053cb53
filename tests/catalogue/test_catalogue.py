"""Law of the catalogue: every claim says what is written down of it in the tables beside, whoever's paper it is of.

`claims.json` has of each claim, in the papers' order: its verdict, what it amends, the numbers that its right side
takes (with * the vectors), and rows of values, the right side there (null where it has no value) and the conditions
that are violated. Right sides were worked out by hand from the papers, or recorded from an earlier program that had the
formulas and no sentences; where there were too few such rows, they were recorded. `refuted.json` has a certificate of
each claim that is refuted. What is proved is the law of tests/laws/test_proofs.py.

A claim that is new, or said otherwise, has new rows: by hand where they can be, else as `fedproof bound ID --set ...
--json` prints them; its certificate is what `fedproof check ID --quick` writes.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.laws.all_papers import PAPERS, SIZES, checked
from tests.laws.proved_claims import proved
from tests.shares import share
from theory import catalog
from theory.calculator import calculator
from theory.claim import Claim
from validate.breaks import certificate_of_break
from validate.certificate import differences
from validate.contradiction import contradictions
from validate.instances.occasion import occasion
from validate.verifier import verify

HERE = Path(__file__).parent
CLAIMS: list[dict[str, Any]] = json.loads((HERE / "claims.json").read_text(encoding="utf-8"))
REFUTED: list[dict[str, Any]] = json.loads((HERE / "refuted.json").read_text(encoding="utf-8"))
VERDICTS = {row["id"]: row["verdict"] for row in CLAIMS}
UNSAID = "fedmim/remark-iv3"  # no sentence of the language says it


def of_verdict(verdict: str) -> list[str]:
    return [id for id, found in VERDICTS.items() if found == verdict]


def test_the_claims_are_these_in_this_order() -> None:
    assert [(c.id, c.amends) for c in catalog.claims()] == [(row["id"], row["amends"]) for row in CLAIMS]
    for c in catalog.claims():
        assert c.title
        assert c.source
        assert c.remarks or c.amends is None, c.id
        assert (c.id == UNSAID) is not c.has_sentence


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row["id"])
def test_right_sides_and_conditions_at_numbers(row: dict[str, Any]) -> None:
    one = catalog.claim(row["id"])
    if row["takes"] is None:
        assert not one.has_bound
        return
    takes = [f"{p.name}{'*' * (p.shape == 'vector')}" for p in calculator(one).bound.parameters]
    assert takes == row["takes"].split()
    assert row["rows"] or not takes
    for values, right, violated in row["rows"]:
        assert list(one.violated(**values)) == violated
        if right is None:
            with pytest.raises(ValueError, match="undefined"):
                one.bound(**values)
        else:
            assert float(one.bound(**values)) == pytest.approx(float(Fraction(right)), rel=1e-12, abs=1e-300)


def test_what_is_proved_has_a_derivation() -> None:
    assert set(proved()) == set(of_verdict("proved"))


@pytest.mark.parametrize("made", share(REFUTED, 3), ids=lambda made: made["claim"])
def test_what_is_refuted_is_broken_where_it_was(made: dict[str, Any]) -> None:
    assert not differences(made, catalog.claim(made["claim"]))
    assert verify(made).valid


def test_a_certificate_is_kept_of_each_that_is_refuted() -> None:
    assert sorted(made["claim"] for made in REFUTED) == sorted(of_verdict("refuted"))


@pytest.mark.parametrize("id", share((row["id"] for row in CLAIMS if row["id"] != UNSAID), 3, *of_verdict("vacuous")))
def test_assumptions_exclude_each_other_where_it_is_vacuous(id: str) -> None:
    outcomes = [item.outcome for item in contradictions(catalog.claim(id), quick=True)]
    assert ("vacuous" in outcomes) is (VERDICTS[id] == "vacuous")


@pytest.mark.parametrize("size", SIZES)
def test_verdicts(size: str) -> None:
    found = {result.id: result.verdict for result in checked(size)[0]}
    assert found == {id: VERDICTS[id] for id in found}
    assert size == "few" or set(found) == {id for id in VERDICTS if id.split("/")[0] in PAPERS}


@pytest.mark.parametrize("one", [c for c in catalog.claims() if c.given], ids=lambda c: c.id)
def test_what_is_given_breaks_its_claim(one: Claim) -> None:
    assert VERDICTS[one.id] == "refuted"
    for data in one.given:
        put = occasion(one, data)
        assert put.unmet == ()
        assert verify(certificate_of_break(put)).valid
