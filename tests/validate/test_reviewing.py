"""A review: what it works out by hand is so, and nobody's file is replaced."""

import json
import os
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import flint
import pytest

from tests.validate.command_line import call, command, complaint, printed
from theory.sentence import parse_expression, signed_terms, text_of
from validate import files
from validate.reviewing import MARK
from validate.worked import _compared, equals, shown

pytestmark = pytest.mark.usefixtures("folder")

FILE = """
from theory import Paper, algorithm, claim


@algorithm
def halves(w, x, *, eta):
    return w.where(w.coin(1 / 2), x - eta * w.mean(w.gradient(x)), x)


GIVEN = {
    "algorithm": "mine.py:halves", "parameters": {"eta": "1/2"},
    "problem": {"clients": [[{"h": 1, "b": 0}]]}, "start": ["2"], "rounds": 1,
}
FALSE = claim(
    "false", "E(norm2(x[1])) <= (1 - eta)*start + bonus - eta**2", of=halves, kind="theorem", equation="(1)",
    assuming=("smooth(f_n, L)", "eta <= 1/L"), where={"start": "norm2(x0)", "bonus": "eta/4"}, given=(GIVEN,),
)
REPAIR = claim("false/corrected", "norm2(x0) >= 0", of=halves, amends="false", equation="(1), corrected")
PAPER = Paper("mine", "My paper", "Me", (FALSE, REPAIR))
"""


def reviewed() -> str:
    Path("mine.py").write_text(FILE, encoding="utf-8")
    with files.forgetting():
        found = printed("review", "mine.py", "--quick", "--jobs", 1)
    assert found["verdicts"]["refuted"] == 1
    return Path(found["review"]).read_text(encoding="utf-8")


def test_a_refutation_is_worked_out_by_hand() -> None:
    """The steps are re-computed from the certificate that is embedded, by formulas written here."""
    text = reviewed().replace("−", "-")
    assert text.startswith(MARK)
    assert "# My paper" in text
    assert "of 1 result 1 is false as printed" in text
    assert "## Theorem (1) is false" in text
    certificate = json.loads(text.split("```json\n")[1].split("\n```")[0])
    assert certificate["claim"] == "mine/false"
    eta = Fraction(certificate["parameters"]["eta"])
    steps = dict(re.findall(r"^1\. `(\w+) = [^`]*` = (\S+)\.$", text, re.MULTILINE))
    start = Fraction(steps["start"])
    assert Fraction(steps["bonus"]) == eta / 4
    (right,) = re.findall(r"^1\. The right side: .* = (\S+)\.$", text, re.MULTILINE)
    assert Fraction(right) == (1 - eta) * start + eta / 4 - eta**2 == Fraction(certificate["right"])
    last = re.findall(r"^1\. (\S+) > (\S+)(?:; in decimals (\S+) > (\S+))?\.$", text, re.MULTILINE)[0]
    assert last[:2] == (certificate["left"], right)
    assert not last[2] or [float(one) for one in last[2:]] == pytest.approx([float(Fraction(one)) for one in last[:2]])
    assert "**It stands as** (Theorem (1), corrected, proved)" in text


def test_a_file_that_is_no_review_is_not_replaced() -> None:
    Path("review.md").write_text("mine", encoding="utf-8")
    assert "--out=review.md is no review" in complaint(call("review", "textbook/young", "--quick"))
    os.mkfifo("pipe")  # from which nothing comes
    arguments = [command(), "review", "textbook/young", "--quick", "--out", "pipe"]
    ended = subprocess.run(arguments, capture_output=True, timeout=120)
    assert b"--out=pipe is no review" in ended.stderr
    assert Path("review.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a", ["+a"]),
        ("a - (b - c) + 2*d", ["+a", "-b", "+c", "+2*d"]),
        ("-(a - b)", ["-a", "+b"]),
        ("(a + b)*c", ["+(a + b)*c"]),
    ],
)
def test_terms_keep_their_signs(text: str, terms: list[str]) -> None:
    assert [sign + text_of(term) for sign, _, term in signed_terms(parse_expression(text))] == terms


def test_long_numbers_are_rounded() -> None:
    assert shown(Fraction(1, 3)) == "1/3"
    assert shown(Fraction(10**60, 3)) == "≈ 3.33333×10⁵⁹"
    assert shown(Fraction(10**5000 + 1, 3)) == "≈ 3.33333×10⁴⁹⁹⁹"
    assert shown((Fraction(1), Fraction(1, 2))) == "(1, 1/2)"


def test_sides_that_hardly_differ_are_compared_in_decimals() -> None:
    (step,) = _compared(Fraction(1, 4), ">", Fraction(6143, 24576))
    assert "".join(p if isinstance(p, str) else p.text for p in step) == (
        "1/4 > 6143/24576; in decimals 0.25 > 0.249959."
    )
    (step,) = _compared(Fraction(3), ">", Fraction(2))
    assert "".join(p if isinstance(p, str) else p.text for p in step) == "3 > 2."


def test_a_root_that_is_a_number_is_exact() -> None:
    assert shown(flint.arb(4).sqrt()) == "2"
    assert shown(flint.arb(0)) == "0"
    assert shown(flint.arb(2).sqrt()) == "≈ 1.41421"
    assert [p if isinstance(p, str) else p.text for p in equals(flint.arb(-1) / 300000)] == [" ≈ ", "−3.33333×10⁻⁶"]


def test_irrational_sides_are_shown_as_what_they_are_about() -> None:
    text = FILE.replace(
        "norm2(x[1])) <= (1 - eta)*start + bonus - eta**2", "norm(x[1])) <= sqrt(2*eta)*0 - sqrt(eta/3)"
    )
    Path("mine.py").write_text(text, encoding="utf-8")
    with files.forgetting():
        found = printed("review", "mine.py", "--quick", "--jobs", 1)
    assert found["verdicts"]["refuted"] == 1
    review = Path(found["review"]).read_text(encoding="utf-8")
    assert re.search(r"^1\. (\S+) > −0\.\d+(; in decimals .*)?\.$", review, re.MULTILINE)


def test_domains_of_names_that_a_term_does_not_use_are_no_obstacle() -> None:
    text = FILE.replace('equation="(1)",', 'equation="(1)", parameters={"b": Domain(lower=0)},')
    text = text.replace("+ bonus -", "+ bonus + 0*b -").replace(
        "algorithm, claim", "algorithm, claim\nfrom theory.domain import Domain"
    )
    Path("mine.py").write_text(text, encoding="utf-8")
    with files.forgetting():
        found = printed("review", "mine.py", "--quick", "--jobs", 1)
    assert "`start = norm2(x0)` = " in Path(found["review"]).read_text(encoding="utf-8")
