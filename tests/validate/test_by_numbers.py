"""A claim whose two sides are numbers is refuted by numbers, where its hypotheses are relations between numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from theory.claim import Claim, Hypothesis, Parameter, Quantity
from theory.domain import POSITIVE
from validate import check
from validate.certificate import verify

SHORT = Hypothesis("short", "a <= 1", relation="a <= 1")
SQUARE = Claim(
    id="mine/square",
    kind="lemma",
    title="a square",
    equation="",
    statement="a^2 <= a for a <= 1",
    latex="",
    quantity=Quantity("square", "a^2", "a^2", formula="a**2"),
    source="",
    parameters=(Parameter("a", POSITIVE, "a number"),),
    hypotheses=(SHORT,),
    right="a",
    relation="<=",
)


@pytest.mark.parametrize(("relation", "right"), [("<=", "a/2"), ("<", "a"), ("=", "a"), (">=", "a"), (">", "1/100")])
def test_a_false_relation_is_refuted(relation: str, right: str, tmp_path: Path) -> None:
    result = check(replace(SQUARE, relation=relation, right=right), quick=True, out=tmp_path)
    assert (result.verdict, result.origin) == ("refuted", "search")
    assert verify(Path(result.certificate)).valid


def test_a_true_one_is_not(tmp_path: Path) -> None:
    assert check(SQUARE, quick=True, out=tmp_path).verdict == "proved"


def test_what_the_hypotheses_exclude_refutes_nothing(tmp_path: Path) -> None:
    assert check(replace(SQUARE, hypotheses=()), quick=True, out=tmp_path).verdict == "refuted"
    in_words = Hypothesis("short", "a is no longer than the others")
    assert check(replace(SQUARE, hypotheses=(in_words,)), quick=True, out=tmp_path).verdict == "undecided"


def test_a_root_leaves_a_break_without_a_certificate(tmp_path: Path) -> None:
    two = Hypothesis("two", "a is the root of 2", relation="a**2 == 2")
    result = check(replace(SQUARE, hypotheses=(two,), right="1"), quick=True, out=tmp_path)
    assert result.verdict in ("refuted", "undecided")
    assert result.broken
