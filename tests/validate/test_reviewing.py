"""A review: what it works out by hand is so, and nobody's file is replaced."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.validate.command_line import call, complaint, printed
from theory.sentence import parse_expression, signed_terms, text_of
from validate import files
from validate.reviewing import MARK
from validate.worked import shown

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
    text = reviewed()
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
    (left, said) = re.findall(r"^1\. (\S+) > (\S+)\.$", text, re.MULTILINE)[0]
    assert (left, said) == (certificate["left"], right)
    assert "**It stands as** (Theorem (1), corrected, proved)" in text


def test_a_file_that_is_no_review_is_not_replaced() -> None:
    Path("review.md").write_text("mine", encoding="utf-8")
    assert "--out=review.md is no review" in complaint(call("review", "textbook/young", "--quick"))
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


def test_long_numbers_are_shown_to_ten_digits() -> None:
    assert shown(Fraction(1, 3)) == "1/3"
    assert shown(Fraction(10**60, 3)).startswith("about 3.333333333e+59")
    assert shown(Fraction(10**5000 + 1, 3)).startswith("about 3.33333333")
    assert shown((Fraction(1), Fraction(1, 2))) == "(1, 1/2)"


def test_irrational_sides_are_shown_as_what_they_are_about() -> None:
    text = FILE.replace(
        "norm2(x[1])) <= (1 - eta)*start + bonus - eta**2", "norm(x[1])) <= sqrt(2*eta)*0 - sqrt(eta/3)"
    )
    Path("mine.py").write_text(text, encoding="utf-8")
    with files.forgetting():
        found = printed("review", "mine.py", "--quick", "--jobs", 1)
    assert found["verdicts"]["refuted"] == 1
    review = Path(found["review"]).read_text(encoding="utf-8")
    assert re.search(r"^1\. \S+( \S+)? > about -0\.\d+\.$", review, re.MULTILINE)


def test_domains_of_names_that_a_term_does_not_use_are_no_obstacle() -> None:
    text = FILE.replace('equation="(1)",', 'equation="(1)", parameters={"b": Domain(lower=0)},')
    text = text.replace("+ bonus -", "+ bonus + 0*b -").replace(
        "algorithm, claim", "algorithm, claim\nfrom theory.domain import Domain"
    )
    Path("mine.py").write_text(text, encoding="utf-8")
    with files.forgetting():
        found = printed("review", "mine.py", "--quick", "--jobs", 1)
    assert "`start = norm2(x0)` = " in Path(found["review"]).read_text(encoding="utf-8")
