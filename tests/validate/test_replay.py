"""Proofs replayed: the first false line is named, a line made false is caught where it stands, bad input is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from typer.testing import CliRunner

from tests.rationals import rationals
from theory import claim, paper
from theory.claim import Claim, Inference, Paper, Quantity, Step, Use, VectorLine
from theory.inequality.prover import Refutation
from theory.inequality.vectors import square
from validate.commands import proof
from validate.replay.inference import counterexample, infer
from validate.replay.proof import Line, Replay, encoded, evidence, replay
from validate.report import render
from validate.verdict import Coverage, Evidence, Result, decide

PAPER = "perm"
# the lines of these proofs are checked by themselves: none is a claim of the paper with a verdict of its own
WITH_PROOF = [c for name in ("perm",) for c in paper(name) if c.steps and not encoded(c)]
BROKEN = {
    "perm/lemma-4": ("T2", "T2, smooth"),
    "perm/proposition-1": ("two steps", "two steps"),
    "perm/lemma-7": ("two clients", "two clients"),
    "perm/lemma-12": ("powers of L", "powers of L"),
    "perm/proposition-4-eq15": ("noise", "noise"),
}
# false lines on which the conclusion does not depend
IDLE = {
    "perm/lemma-2": "triangle",
    "perm/proposition-2": "one factor",
    "perm/lemma-10": "number of terms",
    "perm/lemma-11a": "constant of the gradient",
    "perm/theorem-2-step": "cross terms",
}


@cache
def replayed(id: str) -> Replay:
    return replay(claim(id), results={})


def label(line: Line | None) -> str | None:
    return None if line is None else line.step.label


@pytest.mark.parametrize("id", BROKEN)
def test_where_a_proof_breaks(id: str) -> None:
    found = replayed(id)
    assert (label(found.first_false), label(found.first_break)) == BROKEN[id]
    assert found.first_break is not None
    assert found.first_break.counterexample is not None
    assert found.first_break.step.label in found.dependencies
    assert evidence(found).outcome == "undecided"
    assert f"it breaks at {label(found.first_break)}" in evidence(found).detail


@pytest.mark.parametrize("id", IDLE)
def test_a_false_line_on_which_the_conclusion_does_not_depend_is_no_break(id: str) -> None:
    found = replayed(id)
    assert (label(found.first_false), found.first_break) == (IDLE[id], None)
    assert IDLE[id] not in found.dependencies
    assert f"the first false line is {IDLE[id]}, on which the conclusion does not depend" in evidence(found).detail


def test_what_a_chain_has_reached_may_be_true_where_a_link_is_false() -> None:
    """T2 is false as printed, and its whole chain up to there is not: so a later line is the break."""
    found = replayed("perm/lemma-4")
    line = found.line("T2")
    assert line.false
    assert line.reached is not None
    assert line.reached.outcome == "holds"
    assert line.by_itself
    assert found.line("T2, smooth").reached is not None
    refutation = Refutation.from_json(line.counterexample["refutation"])  # type: ignore[index]
    assert refutation.check()
    assert refutation.excess > 0


def test_the_repairs_have_no_false_line() -> None:
    repairs = [c.id for c in WITH_PROOF if "corrected" in c.id]
    assert len(repairs) >= 15
    for id in repairs:
        found = replayed(id)
        assert found.first_false is None, id
        assert ("its last line is not the claim" in evidence(found).detail) != found.reaches


def test_every_line_has_an_outcome_and_is_plain_data() -> None:
    for c in WITH_PROOF:
        found = replayed(c.id)
        assert [line.step for line in found.lines] == list(c.steps)
        assert all(line.outcome in ("proved", "holds", "refuted", "undecided", "cited") for line in found.lines)
        assert all(line.counterexample["text"] for line in found.lines if line.false)  # type: ignore[index]
        written = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert written["id"] == c.id
        assert len(written["lines"]) == len(c.steps)


# --- a line made false is caught where it stands ---------------------------------------------------------------------


def weakened(line: VectorLine) -> VectorLine:
    """The line with a hundredth of a vector's square added to its left side."""

    def build(values: Mapping[str, Fraction]) -> tuple[Any, Any, Any]:
        space, condition, assumed = line.build(values)
        form = condition.form + Fraction(1, 100) * square(space.vectors_of()[0])
        return space, form.equals(0) if condition.relation == "==" else form <= 0, assumed

    return VectorLine(build, line.settings, line.scope)


TIGHT = {
    "perm/lemma-2": (0, 1, 2, 3, 5),
    "perm/theorem-2-step/corrected": (0, 1, 2),
    "perm/lemma-4/corrected": (1, 2, 3, 4),
}
"""Lines between vectors with equality for some of them."""
VECTOR_LINES = [(id, place) for id, places in TIGHT.items() for place in places]


@pytest.mark.parametrize(("id", "place"), VECTOR_LINES)
def test_a_coefficient_changed_in_one_line_is_caught_there(id: str, place: int) -> None:
    steps = list(claim(id).steps)
    step = steps[place]
    assert step.vectors is not None
    steps[place] = replace(step, vectors=weakened(step.vectors))
    found = replay(replace(claim(id), steps=tuple(steps)), results={})
    assert label(found.first_false) == step.label
    assert not any(line.false for line in found.lines[:place])
    assert found.first_false is not None
    assert Refutation.from_json(found.first_false.counterexample["refutation"]).check()  # type: ignore[index]


@pytest.mark.parametrize(
    ("id", "place", "right"),
    [
        ("perm/proposition-4-eq15/corrected", 1, "gamma*L*delta2/(3*mu*M)"),
        ("perm/lemma-12/corrected", 0, "9/10*q*L"),
        ("perm/lemma-12/corrected", 1, "8*s**4*L**2"),
        ("perm/lemma-10/corrected-2", 0, "(part+rest/2)*G - part*G/9"),
        ("perm/lemma-11a/corrected", 3, "127"),
    ],
)
def test_a_coefficient_changed_in_a_scalar_line_is_caught_there(id: str, place: int, right: str) -> None:
    steps = list(claim(id).steps)
    assert steps[place].identity is not None
    steps[place] = replace(steps[place], identity=(steps[place].identity[0], right))  # type: ignore[index]
    found = replay(replace(claim(id), steps=tuple(steps)), results={})
    assert label(found.first_false) == steps[place].label
    assert found.first_false is not None
    assert found.first_false.counterexample is not None
    assert "values" in found.first_false.counterexample


def test_a_line_is_as_good_as_the_claim_that_it_names() -> None:
    steps = (Step("(1)", "x", "<=", "y", "inequality", claim="perm/lemma-9"),)
    one = replace(toy("y", "a"), steps=steps)
    for verdict, outcome in (("refuted", "refuted"), ("supported", "holds"), ("undecided", "undecided")):
        told = Evidence("certificate", "refuted" if verdict == "refuted" else "holds", "told here", origin="pool")
        known = {"perm/lemma-9": Result("perm/lemma-9", verdict, None, (told,))}  # type: ignore[arg-type]
        found = replay(one, results=known)
        assert found.lines[0].outcome == outcome
        assert (label(found.first_break) == "(1)") == (outcome == "refuted")


# --- slips -----------------------------------------------------------------------------------------------------------

# x = y is printed and false; the line after it says x = 2 y again, and uses the repaired form
SLIP = (
    Step("(1)", "x", "=", "y", "identity", claim="toy/a", slip="toy/a/corrected"),
    Step("(2)", "x", "=", "2 y", "substitution", claim="toy/b", uses=("(1)",), inference=Inference((Use("(1)"),))),
)


def of_slips(repaired: str = "2*y", after: str = "2*y", repair: Any = "supported") -> Replay:
    known = {
        "toy/a": toy("y", "a", "="),
        "toy/a/corrected": toy(repaired, "a/corrected", "="),
        "toy/b": toy(after, "b", "="),
    }
    told = (Evidence("certificate", "refuted", "an instance", origin="pool"),)
    results = {
        "toy/a": Result("toy/a", "refuted", None, told),
        "toy/a/corrected": Result("toy/a/corrected", repair, None, ()),
        "toy/b": Result("toy/b", "supported", None, ()),
    }
    return replay(replace(known["toy/b"], steps=SLIP), results=results, find=known.__getitem__)


def test_a_false_line_is_a_slip_where_the_lines_after_it_use_its_repair() -> None:
    found = of_slips()
    assert [line.step.label for line in found.slips] == ["(1)"]
    assert "(2) uses the repaired form" in found.slips[0].slip
    assert (found.first_false, found.first_break) == (None, None)
    follows = found.line("(2)").follows
    assert follows is not None
    assert follows.answer == "does not follow"
    assert "from the repaired (1) it follows" in follows.detail
    assert "slips: (1)" in evidence(found).detail


def test_a_slip_is_one_only_if_its_repair_is_supported() -> None:
    found = of_slips(repair="undecided")
    assert found.slips == ()
    assert label(found.first_false) == label(found.first_break) == "(1)"


@pytest.mark.parametrize("repaired", ["3*y", "y"])
def test_a_slip_is_one_only_if_the_lines_after_it_follow_from_the_repair(repaired: str) -> None:
    assert of_slips(repaired=repaired).slips == ()


def test_a_line_that_the_next_one_uses_as_printed_is_no_slip() -> None:
    found = of_slips(after="y")
    assert label(found.first_false) == "(1)"
    assert found.slips == ()


# --- inferences ------------------------------------------------------------------------------------------------------


def toy(right: str, name: str, relation: str = "<=") -> Claim:
    quantity = Quantity("x", "x", "x")
    return Claim(f"toy/{name}", "lemma", "", "", "", "", quantity, "", right=right, relation=relation)


@given(rationals(0, 5, 9), rationals(0, 5, 9))
@settings(max_examples=30, deadline=None)
def test_a_larger_multiple_follows_and_a_smaller_one_does_not(weaker, stronger):
    step = Step("b", "x", "<=", "c y", "substitution", uses=("a",), inference=Inference((Use("a"),)))
    found = infer(step, {"a": toy(f"{stronger}*y", "a"), "b": toy(f"{weaker}*y", "b")}, {})
    assert found.answer == ("follows" if weaker >= stronger else "does not follow")
    assert (found.answer == "follows") == (not found.values)


def test_an_inequality_times_a_negative_number_shows_nothing():
    parts = Inference((Use("a", factor="-1"),))
    step = Step("b", "x", "<=", "y", "substitution", uses=("a",), inference=parts)
    assert infer(step, {"a": toy("y", "a"), "b": toy("y", "b")}, {}).answer == "not shown"
    turned = {"a": toy("y", "a", "="), "b": toy("y", "b", ">=")}
    assert infer(replace(step, relation=">="), turned, {}).answer == "follows"


def test_a_counterexample_breaks_the_line_and_true_lines_have_none():
    step = Step("a", "", "<=", "", "inequality", identity=("2*x*y", "x**2 + 99/100*y**2"))
    values, left, right = counterexample(step, {})
    x, y = Fraction(values["x"]), Fraction(values["y"])
    assert (Fraction(left), Fraction(right)) == (2 * x * y, x**2 + Fraction(99, 100) * y**2)
    assert Fraction(left) > Fraction(right)
    assert counterexample(replace(step, identity=("2*x*y", "x**2 + y**2")), {}) is None


# --- input and output ------------------------------------------------------------------------------------------------


def test_what_cannot_be_replayed_is_refused():
    with pytest.raises(ValueError, match="toy/bare' has no proof lines"):
        replay(toy("y", "bare"))
    strange = replace(toy("y", "a"), steps=(Step("(1)", "x", "<=", "y", "inequality", claim="perm/eq-99"),))
    with pytest.raises(ValueError, match="eq-99"):
        replay(strange)
    lost = Step("(2)", "x", "<=", "y", "inequality", uses=("(1)",), inference=Inference((Use("(1)"),)))
    with pytest.raises(ValueError, match="no claim with a right side"):
        replay(replace(toy("y", "a"), steps=(Step("(1)", "x", "<=", "y", "inequality"), lost)))


def test_malformed_steps_are_refused():
    with pytest.raises(ValueError, match="not lines before it"):
        replace(toy("y", "a"), steps=(Step("(1)", "x", "<=", "y", "inequality", uses=("(2)",)),))
    with pytest.raises(ValueError, match="the line has none"):
        Step("(1)", "x", "<=", "y", "inequality", slip="toy/a")
    with pytest.raises(ValueError, match="not among uses"):
        Step("(1)", "x", "<=", "y", "inequality", inference=Inference((Use("(0)"),)))
    with pytest.raises(ValueError, match="one or the other"):
        Inference()
    with pytest.raises(ValueError, match="one or the other"):
        Inference((Use("(0)"),), remains=("x", "y"))
    with pytest.raises(ValueError, match=r"label='\(9\)' is not one of"):
        Replay("toy/a", ()).line("(9)")


def test_lines_without_a_check_are_cited_or_undecided():
    steps = (Step("(1)", "x", "<=", "y", "cited"), Step("(2)", "x", "<=", "y", "inequality", uses=("(1)",)))
    found = replay(replace(toy("y", "a"), steps=steps))
    assert [line.outcome for line in found.lines] == ["cited", "undecided"]
    assert evidence(found).outcome == "undecided"
    unchecked = Step("(1)", "x", "<=", "y", "inequality", claim="perm/theorem-2-step")
    assert replay(replace(toy("y", "a"), steps=(unchecked,)), results={}).lines[0].outcome == "undecided"


def test_the_evidence_of_a_replay_changes_no_verdict() -> None:
    for id in (*BROKEN, *IDLE, *(c.id for c in WITH_PROOF if "corrected" in c.id)):
        found = evidence(replayed(id))
        assert (found.kind, found.outcome != "refuted") == ("algebra", True)
        holds = Evidence("exact", "holds", "It holds.")
        for before, earned in (((), Coverage(False, "")), ((holds,), Coverage(True, "all of it"))):
            same = decide(id, list(before), None, earned).verdict
            assert decide(id, [*before, found], None, earned).verdict == same, id


def test_the_report_marks_the_first_false_line(tmp_path: Path) -> None:
    chosen = ("perm/lemma-4", "perm/proposition-2", "perm/lemma-12")
    shown = Paper(PAPER, "a title", "authors", tuple(claim(id) for id in chosen))
    results = [Result(id, "undecided", None, (evidence(replayed(id)),)) for id in chosen]
    render(results, [], tmp_path / "a", papers=[shown], replays={id: replayed(id) for id in chosen})
    text = (tmp_path / "a" / f"{PAPER}.html").read_text("utf-8")
    # beside the claim, and among the lines of its proof
    assert text.count("the first false line; here the proof breaks") == 2
    assert "the first false line; the conclusion does not depend on it" in text
    assert "breaks at T2, smooth" in text
    assert "The chain so far" in text
    render(results, [], tmp_path / "b", papers=[shown])
    without = (tmp_path / "b" / f"{PAPER}.html").read_text("utf-8")
    assert "the first false line;" not in without
    assert "Proof, line by line (6 lines)" in without


def called(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(proof.replay)
    return CliRunner().invoke(app, list(arguments))


def test_the_command() -> None:
    found = called("perm/lemma-4", "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["first_break"] == "T2, smooth"
    table = called("perm/lemma-7")
    assert "the proof breaks at: two clients" in table.stdout
    assert "counterexample: " in table.stdout
    assert isinstance(called("open-fl/eq6").exception, ValueError)
