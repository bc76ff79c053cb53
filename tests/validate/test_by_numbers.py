"""A claim whose two sides are numbers is refuted by numbers, where its hypotheses are relations between numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from theory import claim
from validate import check
from validate.certificate import verify

SQUARE = claim("square", "a**2 <= a", assuming=("a <= 1",))


@pytest.mark.parametrize("statement", ["a**2 <= a/2", "a**2 < a", "a**2 == a", "a**2 >= a", "a**2 > 1/100"])
def test_a_false_relation_is_refuted(statement: str, tmp_path: Path) -> None:
    result = check(replace(SQUARE, statement=statement), quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.origin in ("search", "pool")
    assert verify(Path(result.certificate)).valid


def test_a_true_one_is_not(tmp_path: Path) -> None:
    assert check(SQUARE, quick=True, out=tmp_path).verdict == "proved"


def test_what_the_hypotheses_exclude_refutes_nothing(tmp_path: Path) -> None:
    assert check(replace(SQUARE, assuming=()), quick=True, out=tmp_path).verdict == "refuted"


@pytest.mark.slow
def test_a_root_breaks_it_or_leaves_it_undecided(tmp_path: Path) -> None:
    result = check(replace(SQUARE, statement="a**2 <= 1", assuming=("a**2 == 2",)), quick=True, out=tmp_path)
    assert result.verdict in ("refuted", "undecided")
