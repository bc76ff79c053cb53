"""The report on papers that have families: what is false in a list, one table, what rests on what."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.validate.report.test_browser import Seen, opened, shown
from tests.validate.test_report import claim, results
from theory import catalog
from theory.claim import Paper
from theory.claim import claim as written
from validate.compare.numbers import Numbers
from validate.compare.tightest import tightest
from validate.report import render
from validate.report.claim import claim_view
from validate.report.formula import Typesetter
from validate.report.resting import Edge, edges
from validate.verdict import Evidence, Result

ONE = Paper(
    "toy",
    "A toy paper",
    "Nobody",
    (
        claim("one", sure="read"),
        claim("one/corrected", sure="read", amends="one"),
        claim("two", sure="transcribed", rests_on=("one", "far/lemma-3")),
        written("three", title="said in words", remarks=("of order O(1/K)",), sure="read", source="Theorem 3"),
    ),
    family="adaptive",
)
FAR = Paper("far", "A far paper", "Somebody", (claim("lemma-3", sure="memory", paper="far"),), family="momentum")
TIGHTEST = {"tightest": {"left": "1/3", "right": {"lower": "3/5", "upper": "3/5"}}}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first page of a report on both papers; one refutation is of a text from memory."""
    folder = tmp_path_factory.mktemp("report")
    refuted, corrected = results(folder)[:2]
    held = Evidence("exact", "holds", "It holds.", 0.25, data=TIGHTEST)
    found = [refuted, replace(corrected, evidence=(held,)), Result("toy/two", "proved", None, ())]
    found.append(replace(refuted, id="far/lemma-3", sure="memory"))
    return render(found, [], folder, papers=[ONE, FAR], quick=True)


def test_what_is_false_as_printed_stands_apart_from_what_is_from_memory(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    printed, _, memory = text.partition("False as transcribed from memory")
    assert 'href="#row-toy-one"' in printed.partition("False as printed")[2]
    assert 'href="#row-far-lemma-3"' not in printed.partition("False as printed")[2]
    assert 'href="#row-far-lemma-3"' in memory
    assert "1 is false as printed" in text
    assert "of 1 from memory 1 is false as transcribed" in text
    assert "as printed" not in (page.parent / "far.html").read_text(encoding="utf-8").replace("as printed or tran", "")


def test_the_table_is_folded(page: Path) -> None:
    folded = page.read_text(encoding="utf-8").partition('<details class="part" id="verdicts">')[2]
    assert "<h2>All 5 results by family</h2>" in folded
    assert folded.partition("</details>")[0].count("<tr id=") == 5


def test_a_row_has_what_was_measured_its_files_and_its_words(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    row = text.partition('id="row-toy-one-corrected"')[2].partition("</tr>")[0]
    assert "measured 0.333" in row
    assert "predicted 0.600" in row
    assert "of order O(1/K)" in text.partition('id="row-toy-three"')[2].partition("</tr>")[0]
    assert ">certificate</a>" in text.partition('id="row-toy-one"')[2].partition("</tr>")[0]


def test_a_claim_rests_on_what_it_declares_and_what_its_derivation_takes() -> None:
    young = claim("young", paper="far", proof=())
    taken = claim("taken", proof=({"by": "claim", "derivation": young}, {"by": "domain"}))
    found = edges([*ONE, taken])
    assert found == [
        Edge("toy/one", "toy/two"),
        Edge("far/lemma-3", "toy/two"),
        Edge("far/young", "toy/taken"),
    ]


@pytest.mark.parametrize(
    ("label", "said"),
    [("lemma-10-3/corrected", "Lemma 10.3 corrected"), ("a-3-line-16", "A.3 line 16"), ("epoch", "Epoch")],
)
def test_a_label_in_words(label: str, said: str, tmp_path: Path) -> None:
    assert claim_view(claim(label), None, (), Typesetter(), tmp_path).place == said


def test_the_page_in_a_browser(browser: Any, page: Path) -> None:
    seen = Seen()
    for width in (1400, 390):
        with opened(browser, seen, viewport={"width": width, "height": 900}) as sheet:
            sheet.goto(f"{page.as_uri()}#row-toy-two")
            assert sheet.evaluate("document.documentElement.scrollWidth") <= width
            assert len(shown(sheet)) == 5
            sheet.locator("form.filters [name=family]").select_option("momentum")
            assert shown(sheet) == ["far/lemma-3"]
            sheet.locator("form.filters [name=family]").select_option("")
            sheet.locator("form.filters [name=sure]").select_option("read")
            assert shown(sheet) == ["toy/one", "toy/one/corrected", "toy/three"]
            links = sheet.eval_on_selector_all(
                ".map a, #findings .false a", "all => all.map((a) => a.getAttribute('href'))"
            )
            assert len(links) == 8
            for link in links:
                assert sheet.locator(f"[id='{link[1:]}']").count() == 1
    assert seen.complaints == []


def test_the_least_bounds_stand_beside_what_is_measured_and_lead_to_their_rows(tmp_path: Path) -> None:
    paper = replace(catalog.paper("textbook"), family="adaptive")
    points = [Numbers(L=1.0, mu=0.1, N=1, rounds=5, H=1, n=2, d=2)]
    bounds = tightest(paper, points, {"textbook/gradient-descent-linear": "refuted"})
    assert bounds
    assert all(one.row.promise.claim.id != "textbook/gradient-descent-linear" for one in bounds)
    page = render((), [], tmp_path, papers=[paper], bounds=bounds).read_text(encoding="utf-8")
    section = page.partition('id="bounds"')[2].partition("</section>")[0]
    for one in bounds:
        row = section.partition(f">{one.row.promise.claim.id}</a>")
        anchor = row[0].rpartition('href="#')[2].partition('"')[0]
        assert f'<tr id="{anchor}"' in page
    assert section.count("<tr>") == len(bounds) + 1
