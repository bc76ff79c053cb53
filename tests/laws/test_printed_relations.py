"""What is printed is true arithmetic: every relation between two numbers on the report's pages, in the evidence and in
the certificates holds, and a broken claim's sides are printed with the negation of the claim's own relation.
"""

import html
import operator
import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.laws.all_papers import PAPERS, SIZES, certificates, checked
from theory.catalog import claim as find
from theory.catalog import paper
from validate.report.formula import Piece, Typesetter
from validate.report.page import render
from validate.report.refutations import BREAKS

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, "≤": operator.le, "<": operator.lt, ">=": operator.ge, "≥": operator.ge, ">": operator.gt,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "≠": operator.ne,
}  # fmt: skip
SIGN = r"(<=|>=|==|!=|<|>|=|≤|≥|≠)"
NUMBER = r"[-−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:/\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
SIDES = re.compile(rf"left side(?:, at least)? (≈ )?({NUMBER})(?: ≈ {NUMBER})? {SIGN} right side (≈ )?({NUMBER})")
# two numbers with a relation between them, neither of which is part of a longer formula
_BEFORE = r"(?<![\w.^/*·+|)(=<>≤≥−-])(?<![+*/^=<>|)≤≥−-] )"
_AFTER = r"(?![\w./^*(×])(?! ?[*(+^/×≤<=-])(?! [A-Za-z]\b)"
PAIR = re.compile(rf"{_BEFORE}({NUMBER}) ?{SIGN} ?({NUMBER}){_AFTER}")
NORMAL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def exact(text: str) -> Fraction:
    """A printed number."""
    mantissa, _, power = text.translate(NORMAL).partition("×10")
    return Fraction(mantissa) * Fraction(10) ** int(power or 0)


def false_ones(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What a text says of two numbers and is not so."""
    for found in pattern.finditer(text):
        left, sign, right = [g for g in found.groups() if g is not None and g != "≈ "]
        if not COMPARE[sign](exact(left), exact(right)):
            yield text[max(0, found.start() - 60) : found.end() + 30]


def words(page: str) -> str:
    """A page's text."""
    kept = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", kept)))


LEAST = {"few": (9, 16, 5), "all": (60, 200, 28)}
"""Sides of breaks on the pages, lines of evidence, certificates with two exact sides."""


@pytest.fixture(scope="module", params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def pages(size: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report's pages, as text, by file name; experiments and mutants take long and are left out, and so are
    drawings of formulas, which are not read here."""
    found, folder = checked(size)
    out = tmp_path_factory.mktemp("report")
    shutil.copytree(folder / "certificates", out / "certificates")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Typesetter, "_set", lambda self, latex, marked: Piece("", "", ""))
        index = render(found, (), out, papers=[paper(p) for p in PAPERS])
    return {path.name: words(path.read_text(encoding="utf-8")) for path in Path(index).parent.glob("*.html")}


def test_the_reader_here_sees_what_is_false() -> None:
    assert list(false_ones(SIDES, "left side −1/4 ≈ −0.2500 > right side 0 and more"))
    assert list(false_ones(SIDES, "left side ≈ 1.2×10⁻⁷ > right side ≈ 1.3×10⁻⁷"))
    assert not list(false_ones(SIDES, "left side −1/4 ≈ −0.2500 ≠ right side 0"))
    assert list(false_ones(PAIR, "so that -1/2 > 1/2, which"))
    assert list(false_ones(PAIR, "2.5 <= 2.4"))
    assert not list(false_ones(PAIR, "1 - 2 > 0, x_0 = 1, 64 <= 32 B^2, 3/2 > 1"))


def test_every_relation_on_the_pages_is_true(size: str, pages: dict[str, str]) -> None:
    assert {p for p in pages if not p.startswith("sheet-")} == {"index.html", *(f"{p}.html" for p in PAPERS)}
    for name, text in pages.items():
        assert not list(false_ones(SIDES, text)), name
        assert not list(false_ones(PAIR, text)), name
    shown = {sign for text in pages.values() for sign in (m[3] for m in SIDES.finditer(text))}
    assert {">", ">="} <= shown
    assert sum(len(SIDES.findall(text)) for text in pages.values()) >= LEAST[size][0]


def test_every_relation_in_the_evidence_is_true(size: str) -> None:
    texts = [e.detail for r in checked(size)[0] for e in r.evidence]
    assert len(texts) >= LEAST[size][1]
    for text in texts:
        assert not list(false_ones(SIDES, text)), text
        assert not list(false_ones(PAIR, text)), text


def test_the_two_sides_of_a_certificate_stand_as_the_claim_is_broken(size: str) -> None:
    compared = 0
    for id, certificate in certificates(size).items():
        left, right, relation = certificate["left"], certificate["right"], find(id).sentence.relation
        if not isinstance(left, str) or not isinstance(right, str):  # enclosed
            continue
        assert not COMPARE[relation](Fraction(left), Fraction(right)), (id, left, relation, right)
        assert COMPARE[BREAKS[relation]](Fraction(left), Fraction(right)), id
        compared += 1
    assert compared >= LEAST[size][2]
