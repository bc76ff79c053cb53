"""`fedproof read`: the session of docs/read.md, and what else stands in a paper."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.validate.command_line import call, complaint
from theory.latex import answers_in
from validate import check

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "reading" / "paper.tex", tmp_path)
    assert call("new", "my_paper.py").exit_code == 0
    return tmp_path / "paper.questions.toml"


def answer(file: Path, **answers: str) -> None:
    text = file.read_text(encoding="utf-8")
    for about, chosen in answers.items():
        block = rf"(\['{re.escape(about)}'\]\n(?:#.*\n)*answer = )''"
        text, count = re.subn(block, lambda m, chosen=chosen: f"{m[1]}'{chosen}'", text)
        assert count == 1, about
    file.write_text(text, encoding="utf-8")


def test_the_session_of_the_page(paper: Path) -> None:
    command = ["read", "paper.tex:thm:main", "--against", "my_paper.py:local_sgd"]
    first = call(*command)
    assert first.exit_code == 1
    assert first.stdout == ""
    assert "3 open: index T, \\mu, \\sigma" in first.stderr
    answer(paper, **{"index T": "as K", "\\mu": "positive", "\\sigma": "nonnegative"})
    again = call(*command)
    assert again.exit_code == 0
    page = (ROOT / "docs" / "read.md").read_text(encoding="utf-8")
    printed = "".join(f"    {line}\n" for line in again.stdout.splitlines())
    assert printed in page
    assert answers_in(paper.read_text(encoding="utf-8"))["index T"] == "as K"  # the answers are kept
    document = json.loads(call(*command, "--json").stdout)
    assert document["sentences"] == [
        "E(norm2(x[K] - xstar)) <= (1 - eta*mu)**K*norm2(x0 - xstar) + 2*eta*sigma**2/(mu*N)"
    ]
    assert {one["about"]: one["answer"] for one in document["questions"]} == {
        "index T": "as K", "\\mu": "positive", "\\sigma": "nonnegative",
    }  # fmt: skip


def test_what_is_read_can_be_checked(paper: Path) -> None:
    """Pasted into a file, the claim is one like any other: its verdict comes from the check alone."""
    paper.write_text(
        "['\\sigma']\nanswer = 'nonnegative'\n['index T']\nanswer = 'as K'\n['\\mu']\nanswer = 'positive'\n"
    )
    said = call("read", "paper.tex:thm:main", "--against", "my_paper.py:local_sgd").stdout
    source = Path("my_paper.py").read_text(encoding="utf-8").split("# What the claims assume")[0]
    text = f"from theory import NONNEGATIVE\n{source}\nPAPER = Paper('read', 'Read', 'a reader', ({said.strip()},))\n"
    Path("read_paper.py").write_text(text, encoding="utf-8")
    assert check("read_paper.py:thm-main", quick=True).verdict == "refuted"  # nothing is assumed yet


def test_against_a_claim_and_several_displays(paper: Path) -> None:
    command = ["read", "paper.tex:lem:steps", "--against", "my_paper.py:noise-ball", "--json"]
    document = json.loads(call(*command).stdout)
    (question,) = document["questions"]
    assert question["about"] == "display of lem:steps"
    assert set(question["readings"]) == {"1", "2"}
    paper.write_text("['display of lem:steps']\nanswer = '2'\n['T']\nanswer = 'as K'\n", encoding="utf-8")
    document = json.loads(call(*command).stdout)
    assert document["sentences"] == ["mean_k(E(f(x[k]) - fstar)) <= norm2(x0 - xstar)/(eta*K) + 2*eta*sigma2/N"]
    paper.write_text("['display of lem:steps']\nanswer = '3'\n", encoding="utf-8")
    assert "is none of: 1, 2" in call(*command).stderr


def test_bad_input(paper: Path) -> None:
    Path("bad.tex").write_text("\\begin{equation}\\label{a}\n  1 \\le \\prod_n 2\n\\end{equation}", encoding="utf-8")
    result = call("read", "bad.tex:a")
    assert result.exit_code == 2
    *picture, error = result.stderr.splitlines()
    assert error.startswith("error: bad.tex, line 2, column 9: \\prod cannot be read here")
    assert picture == ["    1 \\le \\prod_n 2", "          ^"]
    for target, why in (
        ("paper.tex", "say which label"),
        ("paper.tex:nix", "the labels are"),
        ("a.txt:b", "is not PAPER"),
    ):
        result = call("read", target)
        assert (result.exit_code, why in result.stderr) == (2, True), result.stderr
    result = call("read", "paper.tex:thm:main", "--against", "my_paper.py:nix")
    assert "no such claim" in result.stderr
    for mine in ("[build]\nrequires = 'a'\n", "# my notes\n", "x = 1\n"):
        paper.write_text(mine, encoding="utf-8")
        assert "a file of questions" in complaint(call("read", "paper.tex:thm:main"))
        assert paper.read_text(encoding="utf-8") == mine
    paper.write_bytes(b"\xff")
    assert "is not UTF-8" in complaint(call("read", "paper.tex:thm:main"))
    paper.write_text("[a", encoding="utf-8")
    assert "a file of questions cannot be read" in call("read", "paper.tex:thm:main").stderr
    paper.unlink()
    os.mkfifo(paper)  # which never begins
    assert "is not a file of questions" in complaint(call("read", "paper.tex:thm:main"))


def test_files_that_are_taken_in_and_none_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper").mkdir()
    Path("secret.tex").write_text("\\newcommand{\\a}{2}", encoding="utf-8")
    Path("paper/macros.tex").write_text("\\newcommand{\\b}{3}", encoding="utf-8")
    body = (
        "\\begin{equation}\\label{a} 1 \\le \\b \\end{equation}\\begin{equation}\\label{c} 1 \\le \\a \\end{equation}"
    )
    Path("paper/main.tex").write_text(f"\\input{{macros}}\\input{{../secret}}{body}", encoding="utf-8")
    assert '"1 <= 3"' in call("read", "paper/main.tex:a").stdout
    assert "\\a cannot be read" in call("read", "paper/main.tex:c").stderr
