"""Law: a proof proves its claim, for claims that say what they mean. Move the right side of a proved claim, turn or
sharpen its relation, drop a hypothesis that its proof uses, or change a definition: it is proved no longer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theory import catalog
from theory.sentence import read, text_of
from theory.written import Claim
from validate import proving


def outcomes(c: Claim) -> set[str]:
    return {e.outcome for e in proving.evidence(c)}


def proof(c: Claim) -> dict:
    return next(e.data for e in proving.evidence(c) if e.outcome == "proved")


PROVED = [c for c in catalog.claims() if isinstance(c, Claim) and "proved" in outcomes(c)]
IDS = [c.id for c in PROVED]


def sides(c: Claim) -> tuple[str, str, str]:
    relation = c.sentence.relation
    left, _, right = c.statement.partition(f" {relation} ")
    return left, relation, right


def with_sides(c: Claim, left: str, relation: str, right: str) -> Claim:
    return replace(c, statement=f"{left} {relation} {right}")


def test_enough_claims_are_proved() -> None:
    assert len(PROVED) >= 31


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_the_evidence_carries_the_sentence_that_was_proved(c: Claim) -> None:
    said = proof(c)["sentence"]
    assert said["left"] == text_of(c.sentence.left)
    assert said["right"] == text_of(c.sentence.right)
    assert said["relation"] == c.sentence.relation
    assert said["definitions"] == dict(c.where)
    assert set(said["hypotheses"]) <= {*c.assuming, *c.standing}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_a_moved_right_side_is_not_proved(c: Claim, place: int) -> None:
    left, relation, right = sides(c)
    if relation in (">=", ">"):
        moved = (f"1000*({right}) + 1", f"({right}) + 1", "10**9")
    else:
        moved = (f"({right})/1000", f"({right}) + 1" if relation == "==" else f"({right}) - 1", "-1")
    if right == "0" and place == 0 and relation != ">=":
        return  # a share of 0 is no other right side
    assert "proved" not in outcomes(with_sides(c, left, relation, moved[place]))


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_the_relation_turned_round_or_sharpened_is_not_proved(c: Claim) -> None:
    left, relation, right = sides(c)
    others = {"<=": (">=", "<", "=="), ">=": ("<=", ">", "=="), "==": ("<", ">")}[relation]
    if right == "0" and left.startswith("norm2("):  # what is 0 is at least 0, and equal to it
        others = ("<", ">")
    for other in others:
        assert "proved" not in outcomes(with_sides(c, left, other, right)), other


@pytest.mark.parametrize("c", PROVED, ids=IDS)
def test_each_hypothesis_that_a_proof_uses_is_needed(c: Claim) -> None:
    for text in proof(c)["sentence"]["hypotheses"]:
        assert "proved" not in outcomes(proving.without_text(c, text)), text


@pytest.mark.parametrize("c", [c for c in PROVED if c.where], ids=lambda c: c.id)
def test_a_corrupted_definition_is_not_proved(c: Claim) -> None:
    """Each by itself, in a direction in which the claim gets false."""
    for name, text in c.where.items():
        vector = read(c.definitions[name], c.vocabulary).shape == "vector"
        shrinks = name in ("sigma2", "spread")  # of the right side: smaller ones say more
        new = f"2*({text})" if vector else f"({text})/2" if shrinks else f"2*({text}) + 1"
        assert "proved" not in outcomes(replace(c, where={**c.where, name: new})), name


@pytest.mark.parametrize("c", [c for c in PROVED if c.proof], ids=lambda c: c.id)
def test_without_its_multipliers_or_with_others_it_is_not_proved(c: Claim) -> None:
    multipliers = c.proof["multipliers"]
    for name, factor in multipliers.items():
        assert "proved" not in outcomes(replace(c, proof={**c.proof, "multipliers": {**multipliers, name: "0"}}))
        other = {**multipliers, name: f"-({factor})"}
        assert "proved" not in outcomes(replace(c, proof={**c.proof, "multipliers": other}))
