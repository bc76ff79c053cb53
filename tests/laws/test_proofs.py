"""Law: a proof proves its claim. Move the right side of a proved claim, turn or
sharpen its relation, drop a hypothesis that its proof uses, or change a definition: it is proved no longer."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from theory import catalog, claim
from theory.claim import Claim
from theory.sentence import read, text_of
from validate import proving

ROOT = Path(__file__).parents[2]


def outcomes(c: Claim) -> set[str]:
    return {e.outcome for e in proving.evidence(c)}


def proof(c: Claim) -> dict:
    return next(e.data for e in proving.evidence(c) if e.outcome == "proved")


PROVED = [c for c in catalog.claims() if "proved" in outcomes(c)]
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
        assert "proved" not in outcomes(proving.without(c, text)), text


@pytest.mark.parametrize("c", [c for c in PROVED if c.where], ids=lambda c: c.id)
def test_a_corrupted_definition_is_not_proved(c: Claim) -> None:
    """Each by itself, in a direction in which the claim gets false."""
    for name, text in c.where.items():
        vector = read(c.definitions[name], c.vocabulary).shape == "vector"
        left, relation, right = sides(c)  # of a right side smaller ones say more, unless it is taken off there
        shrinks = relation == "<=" and name in right and name not in left and f"- {name}" not in right
        new = f"2*({text})" if vector else f"({text})/1000" if shrinks else f"2*({text}) + 1"
        assert "proved" not in outcomes(replace(c, where={**c.where, name: new})), name


@pytest.mark.parametrize("c", [c for c in PROVED if isinstance(c.proof, Mapping)], ids=lambda c: c.id)
def test_without_its_multipliers_or_with_others_it_is_not_proved(c: Claim) -> None:
    multipliers = c.proof["multipliers"]
    for name, factor in multipliers.items():
        assert "proved" not in outcomes(replace(c, proof={**c.proof, "multipliers": {**multipliers, name: "0"}}))
        other = {**multipliers, name: f"-({factor})"}
        assert "proved" not in outcomes(replace(c, proof={**c.proof, "multipliers": other}))


def test_only_one_module_says_proved() -> None:
    """The word as an outcome of evidence stands in `validate.proving` alone."""
    found = set()
    for path in (ROOT / "validate").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            made = isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Evidence"
            if made and any(isinstance(n, ast.Constant) and n.value == "proved" for n in ast.walk(node)):
                found.add(path.name)
            # nor by way of a variable
            if isinstance(node, ast.AnnAssign) and "Outcome" in ast.unparse(node.annotation):
                name = ast.unparse(node.annotation)
                values = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                if "proved" in values and "LineOutcome" not in name and path.name != "verdict.py":
                    found.add(path.name)
    assert found == {"proving.py"}


# --- what a reader may write -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("(1-delta*mu)**2 <= 1-delta*mu", True),
        ("(1-delta*mu)**2 < 1-delta*mu", False),  # delta == 1/mu
        ("1-delta*mu >= (1-delta*mu)**2", True),
        ("1-delta*mu > (1-delta*mu)**2", False),
        ("delta < delta", False),
        ("delta <= delta", True),
        ("delta < delta + mu", True),
        ("delta > delta + mu", False),
        ("delta*mu <= 1", True),
        ("delta*mu <= 1/2", False),
        ("exp(delta) >= 1", False),  # true, and beyond the method: silent
    ],
)
def test_claims_about_numbers(statement: str, expected: bool) -> None:
    one = claim("a", statement, assuming=("delta <= 1/mu",))
    assert ("proved" in outcomes(one)) is expected


def test_a_number_s_hypothesis_is_used_and_needed() -> None:
    one = claim("a", "delta*mu <= 1", assuming=("delta <= 1/mu",))
    assert proof(one)["sentence"]["hypotheses"] == ["delta <= 1/mu"]
    assert "proved" not in outcomes(replace(one, assuming=()))


def test_a_geometric_sum_is_proved_by_induction_over_its_own_right_side() -> None:
    c = claim("fedavg-svrg/lemma-v1-eq13")
    left = "sum_k(alpha**k)"
    assert c.statement == f"{left} == (1 - alpha**K)/(1 - alpha)"
    assert "proved" in outcomes(c)
    for right in ("(1-alpha**K)/(1-alpha) + 10**6", "(1-alpha**(K+1))/(1-alpha)", "K", "1/(1-alpha)"):
        assert "proved" not in outcomes(replace(c, statement=f"{left} == {right}"))
    assert "proved" in outcomes(replace(c, statement=f"{left} == 1/(1-alpha) - alpha**K/(1-alpha)"))
    assert "proved" not in outcomes(replace(c, assuming=()))


def test_a_reader_s_file_is_not_proved_by_contradiction(tmp_path: Path) -> None:
    """From the command line, as a new user would."""
    text = """
from theory import Paper, claim

FLAT = claim("a", "norm2(x) <= -7", vectors=("x",), assuming=("norm2(x) <= -8",), kind="lemma")
PAPER = Paper("mine", "t", "a", (FLAT,))
"""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", "from validate.cli import main; main()", "check", "mine.py", "--quick", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert '"verdict": "vacuous"' in ran.stdout, ran.stdout + ran.stderr
