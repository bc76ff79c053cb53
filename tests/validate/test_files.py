"""A paper in one file: how it is read, what the commands take, and what is said of a bad file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.validate.command_line import call, complaint, printed
from theory import catalog
from validate import files
from validate.checking import check, check_all, resolve
from validate.template import text
from validate.verifier import launcher

pytestmark = pytest.mark.usefixtures("folder")


HEAD = "from theory import Paper, algorithm, claim\n"
BODY = (
    "@algorithm\ndef descent(w, x, *, eta):\n    return x - eta * w.full_gradient(x)\n"
    "CLOSER = 'norm2(x[k] - xstar) <= norm2(x0 - xstar)'\n"
    "A = claim('a', CLOSER, of=descent, assuming=('smooth(f, L)', 'convex(f)', 'eta <= 1/L'))\n"
)
TINY = HEAD + BODY + "PAPER = Paper('tiny', 'Tiny', 'me', (A,))\n"
TWO = TINY.replace("(A,)", "(A, claim('b', 't <= t + s'))")


def test_a_file_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"b\xff") / os.fsdecode(b"own\xff.py")
    path.parent.mkdir()
    path.write_text(TINY)
    assert files.load(path).name == "tiny"


def test_claims_alone_are_a_paper_with_the_name_of_their_file(folder: Path) -> None:
    """In their order, those without a name too, and none that the file takes from elsewhere."""
    told = "from theory.papers.textbook import PAPER as BOOK\nBOOKS = [BOOK.claims[0]]\ndel BOOK\n"
    (folder / "My own.v2.py").write_text(HEAD + told + BODY + "claim('b', 't <= t + s')\n")
    paper = files.load("My own.v2.py")
    assert paper.name == "my-own.v2"
    assert [c.id for c in paper] == ["my-own.v2/a", "my-own.v2/b"]
    (folder / "twice.py").write_text(HEAD + "claim('b', 't <= t + s')\nclaim('b', 't <= 2*t')\n")
    with pytest.raises(ValueError, match=r"twice\.py: paper 'twice': the ids \['twice/b'\] are used twice"):
        files.load("twice.py")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x = 1\0", r"own.py(: | is not Python: )source code string cannot contain null bytes"),
        ("x = (", r"own.py, line 1: '\(' was never closed"),
        ("x = 1", "own.py has no papers, and no claims"),
        ("import sys\nsys.exit()", "own.py, line 2: SystemExit"),
        ("\n\n1/0", "own.py, line 3: ZeroDivisionError: division by zero"),
        (TINY.replace("'smooth(f, L)'", "'smoth(f, L)'"), "own.py, line 6: claim 'a': "),
        (TINY.replace("- xstar)", "- xstr)"), "own.py, line 6: claim 'a': "),
        (TINY.replace("x0 - xstar)", "x0 - xstar"), "own.py, line 6: claim 'a': "),
        (TINY.replace("assuming=", "assumes="), "own.py, line 6: TypeError: claim 'a': assumes= is no field"),
        (TINY.replace("of=descent", "of=len"), "own.py, line 6: claim 'a': of=.* is no algorithm"),
        (TINY.replace("assuming=('smooth(f, L)', 'convex(f)', 'eta <= 1/L')", "assuming='eta <= 1'"), "write a tuple"),
        (TINY.replace("w.full_gradient(x)", "w.ful_gradient(x)"), "own.py, line 4: "),
        (TINY.replace("eta", "n"), "^own.py, line [0-9]: algorithm 'descent': the name 'n' means something"),
        (TINY.replace("(A,)", "(A, A)"), r"own.py, line 7: paper 'tiny': the ids \['tiny/a'\] are used twice"),
        (TINY.replace("'tiny'", "'perm'"), "own.py: there is a paper 'perm' already"),
        (TINY.replace("'tiny'", "'Tiny'"), "own.py: the paper's name 'Tiny' is not of lower-case letters"),
        (TINY.replace("(A,)", "()"), "own.py: the paper 'tiny' has no claims"),
        (TINY + "other = Paper('b', '', '', ())\nPAPER = None\nthird = Paper('c', '', '', ())", "own.py has 2 papers"),
        ("x = '\0'", "own.py"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(folder: Path, content: str, said: str) -> None:
    (folder / "own.py").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said) as caught:
        files.load("own.py")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"own\.py") as with_its_folder:
        files.load(folder / "own.py")
    assert str(with_its_folder.value).count("own.py") == str(caught.value).count("own.py")
    assert complaint(call("claims", "--paper", "own.py")) == "error: " + " ".join(str(caught.value).split())
    assert catalog._added == {}
    assert files.source_of("tiny") is None


def test_the_commands_take_a_file_in_place_of_a_paper(folder: Path) -> None:
    assert "`fedproof new own.py` writes one" in complaint(call("check", "own.py"))
    (folder / "own.py").write_text(TINY, encoding="utf-8")
    (folder / "other.py").write_text(TINY, encoding="utf-8")
    assert [row["id"] for row in printed("claims", "--paper", "own.py")] == ["tiny/a"]
    assert printed("show", "own.py")["statement"] == "norm2(x[k] - xstar) <= norm2(x0 - xstar)"
    assert printed("show", "own.py:a") == printed("show", "own.py")
    assert "own.py has no claim 'b'; there are own.py:a" in complaint(call("show", "own.py:b"))
    assert "both have the paper 'tiny'" in complaint(call("check", "own.py", "other.py"))
    (folder / "own.py").write_text(TWO, encoding="utf-8")
    assert "own.py has 2 claims; say which: own.py:a, own.py:b" in complaint(call("show", "own.py"))
    assert files.targets(["own.py:b", "own.py", "perm"]) == ["tiny/b", "tiny", "perm"]


def test_a_paper_of_ones_own_does_not_hide_the_others(folder: Path) -> None:
    before = [paper.name for paper in catalog.papers()]
    (folder / "own.py").write_text(TINY, encoding="utf-8")
    with files.known(["own.py"]) as names:
        assert names == ["tiny"]
        assert [paper.name for paper in catalog.papers()] == [*before, "tiny"]
        assert files.target_of("tiny/a") == "own.py:a"
        assert catalog.paper("tiny") is not files.load("own.py")
    assert [paper.name for paper in catalog.papers()] == before
    assert files.target_of("tiny/a") == "tiny/a"


def test_the_python_functions_take_a_file_as_the_commands_do(folder: Path) -> None:
    (folder / "own.py").write_text(TWO, encoding="utf-8")
    assert [c.id for c in resolve(["own.py:b", "perm/eq2", "own.py"])] == ["tiny/b", "perm/eq2", "tiny/a"]
    assert files.find("own.py:b") is catalog.claim("tiny/b")
    assert files.find("perm/eq2") is catalog.claim("perm/eq2")
    with pytest.raises(ValueError, match=r"own\.py has no claim 'c'"):
        check_all(["own.py:c"])
    with pytest.raises(FileNotFoundError):
        check_all(["missing.py"])
    assert not (folder / "fedproof-out").exists()


def test_of_a_file_a_list_and_of_one_claim_a_verdict(folder: Path) -> None:
    (folder / "own.py").write_text(TWO, encoding="utf-8")
    several, one = check("own.py", quick=True, out="out"), check("own.py:b", quick=True, out="out")
    assert isinstance(several, list)
    assert [found.id for found in several] == ["tiny/a", "tiny/b"]
    assert several[1].verdict == one.verdict  # type: ignore[union-attr]
    assert one.id == "tiny/b"  # type: ignore[union-attr]


def test_new_writes_a_file_that_runs(folder: Path) -> None:
    assert "my-paper" in call("new", "my_paper.py").stdout
    assert (folder / "my_paper.py").read_text(encoding="utf-8") == text("my-paper", "my_paper.py")
    assert "--force overwrites it" in complaint(call("new", "my_paper.py"))
    (folder / "my_paper.py").write_text("", encoding="utf-8")
    assert call("new", "my_paper.py", "--force").exit_code == 0
    rows = printed("claims", "--paper", "my_paper.py")
    assert [row["id"] for row in rows] == [
        f"my-paper/{label}" for label in ("noise-ball", "local-steps", "jensen", "young")
    ]
    for bad in ("my_paper.txt", "my paper?.py", "textbook.py", ".py"):
        assert complaint(call("new", bad))
    assert "would hide fedproof's own package 'theory'" in complaint(call("new", "theory.py"))
    assert not (folder / "theory.py").exists()
    assert call("new", "my other paper.py").stdout.endswith("fedproof check 'my other paper.py' --quick\n")


def test_the_verifier_without_its_folder_says_what_is_missing(tmp_path: Path) -> None:
    copied = tmp_path / "verify.py"
    copied.write_text(Path(launcher.__file__).read_text())
    said = subprocess.run(
        [sys.executable, "-I", "-S", str(copied), "x.json"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert said.stderr == f"error: {tmp_path / 'verifier'} is missing; the folder 'verifier' belongs beside verify.py\n"
