"""docs/tutorial.md does what it says: the file on the page is checked, and the verdicts on the page are those."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import call
from validate import files, verifier

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
CERTIFICATE = "fedproof-out/certificates/my-paper.lost-factor.quick.json"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the page in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def written(folder: Path) -> Iterator[Path]:
    """The page's files in the current folder; what they add is forgotten afterwards."""
    (folder / "my_paper.py").write_text(blocks("python")[0], encoding="utf-8")
    (folder / "instance.json").write_text(blocks("json")[0], encoding="utf-8")
    with files.forgetting():
        yield folder


def columns(text: str) -> list[list[str]]:
    """The cells of a printed table; two spaces or more stand between them."""
    return [re.split(r" {2,}", line.rstrip()) for line in text.splitlines()]


def test_the_file_is_short() -> None:
    assert len(blocks("python")[0].splitlines()) < 45


@pytest.mark.slow
def test_the_verdicts_are_those_on_the_page(written: Path) -> None:
    result = call("check", "my_paper.py", "--quick")
    assert result.exit_code == 1, result.output  # one is refuted
    printed, shown = columns(result.stdout), columns(blocks("text")[0])
    assert [row[:2] for row in printed[:4]] == [row[:2] for row in shown[:4]]
    assert [row[1].split()[0] for row in printed[1:4]] == ["proved", "proved", "refuted"]
    assert printed[3] == shown[3]  # the instance, in fractions
    assert verifier.verify(verifier.load(str(written / CERTIFICATE))).valid
    assert call("verify", CERTIFICATE, "--claims", "my_paper.py").exit_code == 0


def test_both_sides_are_those_on_the_page(written: Path) -> None:
    """By hand: m <- (7/8)^2 m + 1/64 from 0, against 2 (1/8)^2."""
    result = call("measure", "my_paper.py:lost-factor", "instance.json")
    assert result.exit_code == 1
    assert result.stdout == blocks("text")[1]
    moment = Fraction(0)
    for row in columns(result.stdout)[1:8]:
        assert Fraction(row[1]) == moment
        assert Fraction(row[2]) == Fraction(1, 32)
        moment = Fraction(49, 64) * moment + Fraction(1, 64)


def test_the_functions_take_the_file_too(written: Path) -> None:
    found: dict[str, Any] = {}
    exec(compile(blocks("python")[1], "docs/tutorial.md", "exec"), found)
    assert found["both"].broken.tolist() == [False] * 3 + [True] * 4
    assert found["verdict"] == "refuted"


def test_the_bound_is_the_formula_on_the_page(written: Path) -> None:
    settings = re.findall(r"--set \"?([\w()-]+)=([0-9/]+)", PAGE)
    assert [name for name, _ in settings] == ["delta", "mu", "L", "N", "k", "norm2(x0-xstar)", "sigma2"]
    options = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    result = call("bound", "my_paper.py:noise-ball", *options)
    assert result.exit_code == 0, result.output
    exact = (1 - Fraction(1, 8)) ** 10 + 2 * Fraction(1, 4) / (Fraction(1, 2) * 4)
    assert float(result.stdout.split()[2]) == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("command", ["claims --paper my_paper.py", "show my_paper.py:noise-ball"])
def test_what_else_takes_the_file(command: str, written: Path) -> None:
    assert f"    fedproof {command}" in PAGE
    assert call(*command.split()).exit_code == 0


def test_falsify_finds_it_too(written: Path) -> None:
    result = call("falsify", "my_paper.py:lost-factor")
    assert result.exit_code == 1, result.output
