"""Where an error enters a paper, what falls with it and what does not; and the picture that shows it."""

import re
from pathlib import Path

import pytest

from tests.validate.test_report import claim
from theory.claim import Paper
from validate.report.formula import Typesetter
from validate.report.page import _environment
from validate.report.resting import Edge, Error, errors, pictures, proofs
from validate.report.views import paper_view
from validate.verdict import Result

CHAIN = [Edge("a", "c"), Edge("b", "c"), Edge("c", "d"), Edge("d", "e"), Edge("d", "f"), Edge("f", "g")]
VERDICTS = {"a": "refuted", "b": "proved", "c": "refuted", "d": "refuted", "e": "refuted", "f": "proved", "g": "proved"}


def test_one_false_line_fells_a_result_and_not_another() -> None:
    assert proofs(CHAIN, VERDICTS) == {
        "a": "enters", "c": "falls", "b": "derived", "d": "falls", "e": "falls", "f": "falls", "g": "derived",
    }  # fmt: skip
    assert errors(CHAIN, VERDICTS) == [Error("a", ("c", "d", "e"), ("f",))]  # g rests on f, which is proved
    assert errors(CHAIN, {**VERDICTS, "c": "undecided"}) == [Error("a", (), ("c",)), Error("d", ("e",), ("f",))]


def test_what_goes_in_a_circle_ends() -> None:
    circle = [Edge("a", "b"), Edge("b", "a"), Edge("c", "a")]
    assert errors(circle, dict.fromkeys("abc", "refuted")) == [Error("c", ("a", "b"), ())]


PAPER = Paper(
    "toy", "A toy paper", "Nobody", tuple(claim(name) for name in ("one", "two", "three", "alone")),
    rests_on={"two": "one", "three": "one two"},
)  # fmt: skip


def test_a_paper_says_what_rests_on_what() -> None:
    assert {c.label: c.bases for c in PAPER} == {
        "one": (), "two": ("toy/one",), "three": ("toy/one", "toy/two"), "alone": (),
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"paper 'toy': rests_on has 'four', which is no label of the paper"):
        Paper("toy", "A toy paper", "Nobody", (claim("one"),), rests_on={"one": "four"})


def test_boxes_have_the_verdict_and_what_is_known_of_the_proof(tmp_path: Path) -> None:
    words = {"one": "refuted", "two": "refuted", "three": "proved"}
    found = {f"toy/{label}": Result(f"toy/{label}", word, None, ()) for label, word in words.items()}  # type: ignore[arg-type]
    (picture,) = pictures([paper_view(PAPER, "toy.html", found, (), Typesetter(), tmp_path)])
    boxes = dict(re.findall(r'<a href="#([^"]+)" class="([^"]+)"', picture.drawing))
    assert boxes == {"toy-one": "refuted enters", "toy-two": "refuted falls", "toy-three": "proved falls"}
    assert picture.drawing.count('class="tip"') == 3
    (((error,), fells, spares),) = picture.errors
    assert [error.claim.label, *(c.claim.label for c in (*fells, *spares))] == ["one", "two", "three"]
    assert len(set(re.findall(r'<rect x="\d+" y="(\d+)"', picture.drawing))) == 3  # a chain runs downwards


def test_errors_that_fell_the_same_are_told_together_and_each_picture_has_its_name(tmp_path: Path) -> None:
    two = Paper(
        "toy", "A toy paper", "Nobody", tuple(claim(name) for name in ("one", "two", "three", "four", "five")),
        rests_on={"three": "one two", "five": "four"},
    )  # fmt: skip
    found = {c.id: Result(c.id, "refuted", None, ()) for c in two}
    drawn = pictures([paper_view(two, "toy.html", found, (), Typesetter(), tmp_path)])
    assert [[c.claim.label for c in at] for one in drawn for at, _, _ in one.errors] == [["one", "two"], ["four"]]
    html = _environment(order=[]).get_template("families.html").module.map(drawn)
    assert "and at" in html
    assert "With each falls" in html
    assert "With it falls" in html
    assert re.findall(r'aria-label="What rests on what: ([^"]*)"', html) == ["A toy paper, 1", "A toy paper, 2"]
