"""Proofs replayed: the first false line is named, a line made false is caught where it stands, bad input is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
import typer
from hypothesis import given, settings
from typer.testing import CliRunner

from tests.rationals import rationals
from theory import claim, paper
from theory.claim import Claim, Inference, Quantity, Step, Use, VectorLine
from theory.inequality.prover import Refutation
from theory.papers.fedavg_svrg import lines
from validate import checking as ordinary
from validate.commands import proof
from validate.mutate.tables import computed
from validate.papers import fedavg_svrg as module
from validate.replay.inference import counterexample, infer
from validate.replay.proof import Line, Replay, evidence, replay
from validate.report import render
from validate.survey import Pool
from validate.verdict import Coverage, Result, decide

PAPER = "fedavg-svrg"
THEOREM = f"{PAPER}/theorem-v1-eq7"
LEMMA = f"{PAPER}/lemma-v1"
WITH_PROOF = [c for c in paper(PAPER) if c.steps]


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Every sixth of the quick instances, those of one client with S = 2 or few steps, and the scenarios in several
    dimensions, without which no repair is supported: enough for every verdict."""
    specs = list(module.instances(True))
    chosen = [
        s for i, s in enumerate(specs) if i % 6 == 0 or (s["K"] == 2 and s["S"] * s["M"] in (2, 40)) or s["S"] == 8
    ]
    return Pool(tuple(computed(chosen)), tuple(s for s in module.scenarios(True) if s.stays_finite()))


@pytest.fixture(scope="module")
def results(pool, tmp_path_factory) -> dict[str, Result]:
    """The ordinary verdicts on every claim of the paper, over that pool."""
    out = tmp_path_factory.mktemp("replay")
    return {c.id: ordinary.check_claim(c, module, pool, (), out) for c in paper(PAPER)}


@pytest.fixture(scope="module")
def replays(results) -> dict[str, Replay]:
    """The replay of every proof of the paper."""
    return {c.id: replay(c, results=results) for c in WITH_PROOF}


def label(line: Line | None) -> str | None:
    return None if line is None else line.step.label


def test_the_proof_of_theorem_v1_breaks_at_lemma_a2(replays):
    found = replays[THEOREM]
    assert label(found.first_false) == label(found.first_break) == "(A.17)"
    assert found.first_false.step.claim == f"{PAPER}/lemma-a2"
    assert found.first_false.counterexample["kind"] == "instance"
    assert {"spec", "left", "right"} <= set(found.first_false.counterexample)
    before = {line.step.label: line.outcome for line in found.lines[:6]}
    assert before == {
        "(A.18)": "holds",
        "(A.19)": "holds",
        "(A.20)": "holds",
        "(A.16)": "refuted",
        "(A.21)": "holds",
        "(A.22)": "holds",
    }


def test_the_missing_factor_of_a16_is_a_slip_because_a21_has_it(replays):
    found = replays[THEOREM]
    assert [line.step.label for line in found.slips] == ["(A.16)"]
    assert "(A.21) uses the repaired form" in found.slips[0].slip
    assert found.line("(A.21)").follows.answer == "does not follow"
    assert "from the repaired (A.16) it follows" in found.line("(A.21)").follows.detail


def test_a_slip_is_one_only_if_its_repair_is_supported(results):
    doubtful = {**results, f"{PAPER}/lemma-a1/corrected": Result(f"{PAPER}/lemma-a1/corrected", "undecided", None, ())}
    found = replay(claim(THEOREM), results=doubtful)
    assert found.slips == ()
    assert label(found.first_false) == label(found.first_break) == "(A.16)"


@pytest.mark.parametrize("factor", ["2", "1/2"])
def test_a_slip_is_one_only_if_the_lines_after_it_follow_from_the_repair(results, factor):
    right = f"{factor}*delta**2*L*S*M/(2*N)*weighted_round"
    other = replace(claim(f"{PAPER}/lemma-a1/corrected"), right=right)
    found = replay(claim(THEOREM), results=results, find=lambda id: other if id == other.id else claim(id))
    assert bool(found.slips) == (factor == "1/2")


def test_a_line_that_the_next_one_uses_as_printed_is_no_slip(results):
    steps = list(claim(THEOREM).steps)
    place = next(i for i, step in enumerate(steps) if step.label == "(A.21)")
    steps[place] = replace(steps[place], inference=Inference(remains=("0", "weighted_round")))
    found = replay(replace(claim(THEOREM), steps=tuple(steps)), results=results)
    assert label(found.first_false) == "(A.16)"


def test_the_proof_of_lemma_v1(replays):
    found = replays[LEMMA]
    assert label(found.first_false) == "before (9), second"
    assert found.first_false.counterexample["text"].startswith("at second_moment=")
    assert "before (9), second" not in found.dependencies
    assert found.line("before (9), third").by_itself
    assert label(found.first_break) == "before (9), fourth"
    assert [h.name for h in found.first_break.needs] == ["smooth samples", "convex samples"]
    assert found.line("(13)").outcome == "proved"
    assert found.line("(12)").follows.answer == "follows"
    assert found.line("(14)").follows.answer == "does not follow"


def test_the_false_line_inside_lemma_a2_forgets_the_earlier_snapshots(replays):
    found = replays[f"{PAPER}/lemma-a2"]
    assert label(found.first_false) == label(found.first_break) == "line 7"
    assert r"\theta^k-w_{n,s,m}^k" in found.first_false.step.left
    refutation = Refutation.from_json(found.first_false.counterexample["refutation"])
    assert refutation.check()
    assert refutation.excess > 0
    assert all(line.outcome == line.reached.outcome == "holds" for line in found.lines[:6])  # at settings
    assert [line.outcome for line in found.lines[7:]] == ["holds", "holds"]
    assert {line.reached.outcome for line in found.lines[6:]} == {"refuted"}


def test_lemma_a1_holds_without_its_factor(replays):
    found = replays[f"{PAPER}/lemma-a1"]
    assert label(found.first_break) == "(A.16)"
    assert all(line.outcome == line.reached.outcome == "holds" for line in found.lines[:-1])


def test_theorem_v1_eq8_rests_on_eq7(replays):
    assert label(replays[f"{PAPER}/theorem-v1-eq8"].first_break) == "(7)"


def test_the_remark_s_orders(replays):
    found = replays[f"{PAPER}/remark-rate"]
    assert label(found.first_false) == "orders of the terms"
    assert list(found.first_false.counterexample["terms"]) == ["noise_term"]
    assert found.lines[1].counterexample["best"]["true"] == ["1/2", "-1/2"]


def test_the_repairs_have_no_false_line(replays):
    repairs = [r for id, r in replays.items() if "corrected" in id]
    assert len(repairs) == 4
    assert all(r.first_false is None for r in repairs)
    said = {r.id: evidence(r) for r in repairs}
    for r in repairs:
        assert (said[r.id].outcome == "holds") == r.reaches
        assert ("its last line is not the claim" in said[r.id].detail) != r.reaches


def test_every_line_has_an_outcome_and_is_plain_data(replays):
    for c in WITH_PROOF:
        found = replays[c.id]
        assert [line.step for line in found.lines] == list(c.steps)
        assert all(line.outcome in ("proved", "holds", "refuted") for line in found.lines)
        assert all(line.counterexample["text"] for line in found.lines if line.false)
        written = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert written["id"] == c.id
        assert len(written["lines"]) == len(c.steps)


# --- a line made false is caught where it stands ---------------------------------------------------------------------


def weakened(expressions: Callable, i: int, relation: str) -> Callable:
    """The line from expression i to i + 1, with the right side a hundredth smaller."""

    def build(values):
        space, forms, conditions = expressions(values)
        gap = forms[i] - Fraction(99, 100) * forms[i + 1]
        return space, (gap.equals(0) if relation == "=" else gap <= 0), conditions

    return build


@pytest.mark.parametrize(
    ("name", "expressions", "place"),
    [("lemma-a1", lines._aggregates, i) for i in range(5)] + [("lemma-a2", lines._inner_products, i) for i in range(6)],
)
def test_a_coefficient_changed_in_one_line_is_caught_there(name, expressions, place):
    steps = list(claim(f"{PAPER}/{name}").steps)
    step = steps[place]
    steps[place] = replace(
        step, vectors=VectorLine(weakened(expressions, place, step.relation), step.vectors.settings, step.vectors.scope)
    )
    found = replay(replace(claim(f"{PAPER}/{name}"), steps=tuple(steps)), results={})
    assert label(found.first_false) == step.label
    assert all(line.outcome == "holds" for line in found.lines[:place])
    assert Refutation.from_json(found.first_false.counterexample["refutation"]).check()


@pytest.mark.parametrize(
    ("name", "place", "right"),
    [
        ("theorem-v1-eq8", 1, "2/5*delta**2*L**2*(M-1)**2*G2"),
        ("theorem-v1-eq8", 2, "2*delta*L*S*M*G2*mean_inv_p"),
        ("theorem-v1-eq8/corrected-2", 1, "3/5*(1-1/(1+a))"),
    ],
)
def test_a_coefficient_changed_in_a_scalar_line_is_caught_there(results, name, place, right):
    steps = list(claim(f"{PAPER}/{name}").steps)
    steps[place] = replace(steps[place], identity=(steps[place].identity[0], right))
    good = {id: replace(r, verdict="supported") for id, r in results.items()}
    found = replay(replace(claim(f"{PAPER}/{name}"), steps=tuple(steps)), results=good)
    assert label(found.first_false) == steps[place].label
    assert found.first_false.counterexample["values"]


def test_a_coefficient_changed_in_a_claim_is_caught_at_its_line(pool):
    true = claim(f"{PAPER}/eq-a20")
    false = replace(true, right=true.right.replace("2*N**2", "3*N**2"))
    assert false.right != true.right
    shorter = replace(claim(THEOREM), steps=claim(THEOREM).steps[:3])
    found = replay(shorter, module=module, pool=pool, find=lambda id: false if id == false.id else claim(id))
    assert label(found.first_false) == label(found.first_break) == "(A.20)"
    assert replay(shorter, module=module, pool=pool).first_false is None


def test_an_order_changed_is_caught_there():
    whole = claim(f"{PAPER}/remark-rate/corrected")
    step = whole.steps[1]
    wrong = replace(step, order=replace(step.order, best=("1/2", "-1/3")))
    found = replay(replace(whole, steps=(whole.steps[0], wrong)), results={})
    assert label(found.first_false) == "best exponent"


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
    strange = replace(toy("y", "a"), steps=(Step("(1)", "x", "<=", "y", "inequality", claim="fedavg-svrg/eq-99"),))
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
    unchecked = Step("(1)", "x", "<=", "y", "inequality", claim=THEOREM)
    assert replay(replace(toy("y", "a"), steps=(unchecked,)), results={}).lines[0].outcome == "undecided"


def test_the_evidence_names_the_break_and_changes_no_verdict(replays, results):
    found = evidence(replays[THEOREM])
    assert (found.kind, found.outcome) == ("algebra", "undecided")
    assert "breaks at (A.17)" in found.detail
    assert "slips: (A.16)" in found.detail
    for id, r in replays.items():
        before = results[id]
        earned = Coverage(before.verdict == "supported", before.covered)
        assert decide(id, [*before.evidence, evidence(r)], before.certificate, earned).verdict == before.verdict, id


def test_the_report_marks_the_first_false_line(replays, results, tmp_path):
    shown = paper(PAPER)
    render(list(results.values()), [], tmp_path / "a", papers=[shown], replays=replays)
    text = (tmp_path / "a" / f"{PAPER}.html").read_text("utf-8")
    # beside the claim, and among the lines of its proof
    assert text.count("the first false line; here the proof breaks") == 2 * 5
    assert "the first false line; the conclusion does not depend on it" in text
    assert "breaks at (A.17)" in text
    assert "slip: (A.21) uses the repaired form" in text
    assert "The chain so far" in text
    render(list(results.values()), [], tmp_path / "b", papers=[shown])
    without = (tmp_path / "b" / f"{PAPER}.html").read_text("utf-8")
    assert "the first false line" not in without
    assert "Proof, line by line (11 lines)" in without


def called(*arguments: str):
    app = typer.Typer()
    app.command()(proof.replay)
    return CliRunner().invoke(app, list(arguments))


def test_the_command():
    found = called(f"{PAPER}/lemma-a2", "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["first_break"] == "line 7"
    table = called(f"{PAPER}/lemma-a1")
    assert "the proof breaks at: (A.16)" in table.stdout
    assert "counterexample: N=1" in table.stdout
    assert called(f"{PAPER}/remark-rate/corrected").exit_code == 0
    assert isinstance(called(f"{PAPER}/eq-a19").exception, ValueError)
