"""A sheet says what a refutation means for the paper, and is the same in Markdown and in LaTeX."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.rounds import batched
from tests.validate.report.test_written_page import CERTIFICATE, LOST, REPAIR
from theory.claim import Claim, Paper
from theory.domain import REAL
from validate.checking import check_one
from validate.report import sheet as of_sheets
from validate.report.readable import called
from validate.report.sheet import escaped, latex, markdown, sheet
from validate.severity import Kept
from validate.verdict import Evidence, Result
from validate.worked import LONGEST_RUN, worked

BASE, USER, SPARED = (replace(LOST, label=label, title=label, paper="", equation=f"({label})") for label in "abc")
CLAIMS = (replace(LOST, paper="", proof=None), replace(REPAIR, paper=""), BASE, USER, SPARED)
PAPER = Paper("noise-ball", "A paper", "me", CLAIMS, rests_on={"lost-factor": "a", "b": "lost-factor", "c": "b"})
BREAKS = (Evidence("certificate", "refuted", "it breaks", origin="pool"),)


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Result]:
    path = tmp_path / "lost.json"
    path.write_text(json.dumps(CERTIFICATE), encoding="utf-8")
    words = {"lost-factor": "refuted", "lost-factor/corrected": "proved", "a": "refuted", "b": "refuted", "c": "proved"}
    return {
        f"noise-ball/{label}": Result(
            f"noise-ball/{label}", word, None, BREAKS, str(path), severity="lost constant" if label == "b" else None
        )  # type: ignore[arg-type]
        for label, word in words.items()
    }


def test_what_it_means_is_read_off_what_rests_on_what(results: dict[str, Result]) -> None:
    printed, _, base, user, _ = PAPER.claims
    name = called(printed)
    assert sheet(base, PAPER, results).means == (
        "The error enters here: nothing encoded that it rests on is false.",
        f"With it fall {name}, {called(user)}, false too.",
        f"Not refuted, though the printed proof uses a false line: {called(SPARED)} (proved).",
    )
    assert sheet(printed, PAPER, results).means[0] == f"Its printed proof uses {called(base)}, which is false."
    assert sheet(user, PAPER, results).means[0].startswith("Severity: lost constant, the same order holds")


def test_a_severity_that_is_kept_is_said(results: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    found = Kept(BASE.id, "", "misprint", "+ for -", "proved", 60.0)
    monkeypatch.setattr(of_sheets, "severity_of", lambda claim: found)
    assert sheet(BASE, PAPER, results).means[0] == (
        "Severity: misprint: one slip: what is meant stands; instead: + for - (proved)."
    )
    assert "lost constant" in sheet(USER, PAPER, results).means[0]  # what this check searched comes first


def test_both_forms_have_every_step(results: dict[str, Result]) -> None:
    made = sheet(PAPER.claims[0], PAPER, results)
    written, set_in_latex = markdown(made), latex(made)
    assert made.worked is not None
    assert set_in_latex.count(r"\item ") == len(made.worked.steps) == len(re.findall(r"^1\. ", written, re.MULTILINE))
    for text in (written, set_in_latex):
        assert "1545265/8503056" in text
        assert "985/5832" in text
    for opening, closing in (("{", "}"), (r"\[", r"\]"), (r"\begin{", r"\end{")):
        assert set_in_latex.count(opening) - set_in_latex.count("\\" + opening) * (opening == "{") == (
            set_in_latex.count(closing) - set_in_latex.count("\\" + closing) * (closing == "}")
        )
    assert set_in_latex.isascii()
    assert json.loads(written.split("```json\n")[1].split("\n```")[0]) == CERTIFICATE


def test_words_for_latex() -> None:
    assert escaped("50% of λ_1 ≥ 10⁻³ & {x}") == r"50\% of $\lambda$\_1 $\geq$ 10$^-$$^3$ \& \{x\}"


def test_nobody_follows_a_long_run_by_hand() -> None:
    found = worked(LOST, {**CERTIFICATE, "rounds": LONGEST_RUN + 1})
    assert not found.named
    assert len(found.steps) == 1
    assert "".join(p if isinstance(p, str) else p.text for p in found.steps[0]) == (
        "The left side is 1545265/8503056, the right side is 985/5832."
    )


def test_a_name_with_a_value_a_client_has_all_of_them() -> None:
    found = worked(replace(LOST, where={**LOST.where, "own_n": "norm2(grad(f_n, x0))"}), CERTIFICATE)
    steps = ["".join(p if isinstance(p, str) else p.text for p in step) for step in found.steps]
    # at -1: the mean of 2 and 0; -4/9 - 4/9
    assert "own_n = norm2(grad(f_n, x0)) = (1, 64/81) for n = 1, 2." in steps


def test_a_constant_with_a_value_a_round_has_all_of_them(tmp_path: Path) -> None:
    later = Claim("later", "sum_k(g_k) <= G", assuming=("max_k(abs(g_k)) <= G", "K >= 2"), parameters={"g_k": REAL})
    found = check_one(later, quick=True, out=tmp_path)
    assert found.certificate is not None
    [first, *_] = worked(later, json.loads(Path(found.certificate).read_text(encoding="utf-8"))).steps
    assert re.search(r"g_k = \(.+, .+\) for k = 0, 1", "".join(p if isinstance(p, str) else p.text for p in first))


def test_of_what_is_drawn_both_sides_are_of_one_outcome(tmp_path: Path) -> None:
    """Each name by itself would be shown in the outcome in which it is largest."""
    still = ("norm2(x0) <= 0", "norm2(grad(f, x0)) <= 0")  # so that x[1] is on either side of x0
    drawn = Claim("drawn", "up <= -up", of=batched, vectors=("v",), where={"up": "dot(v, x[1])"}, assuming=still)
    result = check_one(drawn, quick=True, out=tmp_path)
    assert result.certificate is not None
    certificate = json.loads(Path(result.certificate).read_text(encoding="utf-8"))
    *_, last = ["".join(p if isinstance(p, str) else p.text for p in s) for s in worked(drawn, certificate).steps]
    left, right = re.fullmatch(r"The left side is (.*), the right side is (.*)\.", last).groups()  # type: ignore[union-attr]
    assert Fraction(left) == Fraction(certificate["left"]) > 0
    assert Fraction(right.replace("−", "-")) == -Fraction(left)
