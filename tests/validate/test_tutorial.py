"""docs/tutorial.md does what it says: the file on the page is checked, and the verdicts on the page are those."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import call
from theory import catalog
from validate import papers, verifier
from validate.checking import Checked
from validate.verdict import Result

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
CERTIFICATE = "fedproof-out/certificates/my-paper.lost-factor.quick.json"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the page in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's file in the current folder; what it adds is forgotten afterwards."""
    monkeypatch.setattr(catalog, "_added", {})
    monkeypatch.setattr(papers, "_added", {})
    (folder / "my_paper.py").write_text(blocks("python")[0], encoding="utf-8")
    return folder


def columns(text: str) -> list[list[str]]:
    """The cells of a printed table; two spaces or more stand between them."""
    return [re.split(r" {2,}", line.rstrip()) for line in text.splitlines()]


def test_the_file_is_short() -> None:
    file, _ = blocks("python")
    assert len(file.splitlines()) < 60


def test_the_verdicts_are_those_on_the_page(written: Path) -> None:
    result = call("check", "my_paper.py", "--quick")
    assert result.exit_code == 1, result.output  # one is refuted
    printed, shown = columns(result.stdout), columns(blocks("text")[0])
    assert [row[:2] for row in printed] == [row[:2] for row in shown]
    assert [row[:2] for row in printed[1:4]] == [
        ["my-paper/one-step", "supported (quick search)"],
        ["my-paper/noise-ball", "supported (quick search)"],
        ["my-paper/lost-factor", "refuted"],
    ]
    for there, here in zip(printed[1:4], shown[1:4], strict=True):
        assert there[2] == here[2]  # what was covered; of the refuted one, the origin
        assert float(there[-2]) == pytest.approx(float(here[-2]), rel=1e-4)
    assert printed[3][-1] == shown[3][-1]  # the instance, in fractions
    certificate = json.loads((written / CERTIFICATE).read_text(encoding="utf-8"))
    assert verifier.verify(certificate).valid
    assert certificate["right"] == "(1-delta*mu)**k*R2 + 2*delta**2*noise/N"
    # by hand: m <- ((3/4)^2 + (7/8)^2)/2 m + (1/12)^2 from 0, three times
    moment = Fraction(0)
    for _ in range(3):
        moment = Fraction(85, 128) * moment + Fraction(1, 144)
    assert Fraction(certificate["left_value"]) == moment == Fraction(34489, 2359296)
    assert Fraction(certificate["right_value"]) == Fraction(1, 72)


def test_the_functions_take_the_file_too(written: Path) -> None:
    found: dict[str, Any] = {}
    exec(compile(blocks("python")[1], "docs/tutorial.md", "exec"), found)
    both = found["both"]
    assert f"# {', '.join(map(str, both.index['k'][both.broken]))}: from" in PAGE
    assert both.left[5] == (1 - Fraction(7, 8) ** 12) / 15  # m <- (7/8)^2 m + 1/64, six times
    assert set(both.right) == {Fraction(1, 32)}
    assert verifier.verify(verifier.load(str(found["path"]))).valid
    assert found["verdict"] == "supported"


def test_the_page_of_it_is_where_the_tutorial_says(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the verdicts, which are checked above."""

    def check_paper(paper: str, ids: list[str], *rest: Any) -> Checked:
        return Checked([Result(id, "supported", None, ()) for id in ids], {}, {})

    monkeypatch.setattr(import_module("validate.checking"), "check_paper", check_paper)
    (line,) = re.findall(r"^    (fedproof report my_paper\.py .*)$", PAGE, flags=re.MULTILINE)
    result = call(*line.split()[1:], "--processes", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == "report/index.html"
    page = (written / "report" / "my-paper.html").read_text(encoding="utf-8")
    assert "fedproof check my_paper.py:lost-factor --quick" in page
    found: dict[str, Any] = {}
    (code,) = re.findall(r"`(validate\.report\.write\(.*?\))`", " ".join(PAGE.split()))
    exec(f"import validate.report\npath = {code}", found)
    assert found["path"] == Path("report", "index.html")


@pytest.mark.slow  # 16 s
def test_a_search_that_knows_only_the_claim_refutes_it(written: Path) -> None:
    result = call("falsify", "my_paper.py:lost-factor", "--seconds", "600")
    assert result.exit_code == 1, result.output
    found = (written / CERTIFICATE).with_name("my-paper.lost-factor.falsify.json")
    certificate = json.loads(found.read_text(encoding="utf-8"))
    assert verifier.verify(certificate).valid
    assert (certificate["instance"]["K"], certificate["instance"]["step"]) == (3, "1/4")  # as the page says, the same


def test_the_proof_breaks_where_the_page_says(written: Path) -> None:
    result = call("replay", "my_paper.py:lost-factor")
    assert result.exit_code == 1, result.output
    printed, shown = columns(result.stdout), columns(blocks("text")[1])
    assert [row[:3] for row in printed] == [row[:3] for row in shown]
    assert "the proof breaks at: k to k+1" in result.stdout
    assert "(its own proof: fedproof replay my_paper.py:one-step)" in result.stdout


def test_the_bound_is_the_formula_on_the_page(written: Path) -> None:
    settings = re.findall(r"--set (\w+)=([0-9/]+)", PAGE)
    assert [name for name, _ in settings] == ["delta", "mu", "L", "N", "H", "k", "R2", "noise"]
    options = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    result = call("bound", "my_paper.py:noise-ball", *options)
    assert result.exit_code == 0, result.output
    exact = (1 - Fraction(1, 8)) ** 10 + 2 * Fraction(1, 4) / (Fraction(1, 2) * 4)
    assert float(result.stdout.split()[2]) == pytest.approx(float(exact), rel=1e-15)


def test_the_lemma_is_algebra_and_two_citations(written: Path) -> None:
    result = call("replay", "my_paper.py:one-step", "--json")
    assert result.exit_code == 0, result.output
    assert [line["outcome"] for line in json.loads(result.stdout)["lines"]] == ["cited", "cited", "proved"]
