"""The report on a paper in an author's own file: its page, the commands on it, its processes, and bad files."""

import html
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import validate.checking
from tests.validate.command_line import call, complaint, printed
from theory import catalog
from validate import files, template
from validate.parallel import over_processes, tell
from validate.repairs import several
from validate.report import write, writing
from validate.verdict import Evidence, Result

FILE = '''"""Three claims, and a class of the author's own."""

from __future__ import annotations

from dataclasses import dataclass

from theory import Paper, algorithm, claim

print("read")

@dataclass(frozen=True)
class Remark:
    text: str = "of mine"

@algorithm
def descent(w, x, *, delta):
    return x - delta * w.full_gradient(x)

ASSUMED = ("smooth(f, L)", "convex(f)", "delta <= 1/L")
CLOSER = "norm2(x[k] - xstar) <= norm2(x0 - xstar)"
ONE = claim("one", CLOSER, of=descent, assuming=ASSUMED, remarks=(Remark().text,))
TWO = claim("two", "f(x[k+1]) <= f(x[k])", of=descent, assuming=ASSUMED)
THREE = claim("three", "t <= t + s")
PAPER = Paper("NAME", "A paper of mine", "Me", (ONE, TWO, THREE))
'''


@pytest.fixture(autouse=True)
def alone(folder: Path) -> None:
    """In an empty folder."""


def paper_in(path: str, name: str = "mine") -> str:
    Path(path).write_text(FILE.replace("NAME", name), encoding="utf-8")
    return path


def state() -> tuple[Any, ...]:
    """What this process knows of papers in files."""
    modules = {name for name in sys.modules if re.search(r"-[0-9a-f]{12}$", name)}
    return dict(catalog._added), dict(files._sources), modules


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts that cost nothing, in place of those of the check."""

    def check_by_id(id: str, quick: bool, out: Path, seed: int) -> Result:
        tell(f"{id}: at work")
        return Result(id, "supported", 0.5, (Evidence("exact", "holds", "It holds.", 0.5),))

    monkeypatch.setattr(validate.checking, "check_by_id", check_by_id)


def commands(page: Path) -> list[list[str]]:
    """The commands on a page, as a shell reads them."""
    found = re.findall(r"<code>(fedproof [^<]*)</code>", page.read_text(encoding="utf-8"))
    return [shlex.split(html.unescape(text)) for text in found]


@pytest.mark.usefixtures("unmeasured")
def test_the_page_names_the_file_and_this_process_forgets_it() -> None:
    before = state()
    said: list[str] = []
    path = write([paper_in("my papers.py")], quick=True, out="r", progress=said.append)
    assert state() == before
    assert path == Path("r", "index.html")
    assert {"mine/one: at work", "textbook/young: at work"} <= set(said)
    assert {p.name for p in Path("r").glob("*.html") if not p.name.startswith("sheet-")} == {"index.html", "mine.html"}
    page = Path("r", "mine.html")
    own = [words for words in commands(page) if words[1] in ("check", "replay", "bound")]
    assert {(words[1], words[2]) for words in own} == {
        *((command, f"my papers.py:{label}") for command in ("check", "bound") for label in ("one", "two", "three"))
    }
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert "from the file <code>'my papers.py'</code>" in text
    assert "fedproof replay mine/" not in text
    assert ["fedproof", "check", "my papers.py", "--quick"] in commands(Path("r", "index.html"))
    assert '"target":"\\u0027my papers.py:two\\u0027"' in text  # what the sliders' command names
    assert 'class="formula ascii"' not in text  # all claims are set, though the file has no LaTeX


@pytest.mark.usefixtures("unmeasured")
def test_the_commands_on_a_page_do_what_they_say() -> None:
    write([paper_in("my papers.py")], quick=True, out="r")
    for words in commands(Path("r", "mine.html")):
        with files.forgetting():
            if words[1] == "bound":  # the reader puts in the values
                shown = printed("show", words[2])["parameters"]
                values = [word for name in shown for word in ("--set", f"{name['name']}=1")]
                assert call(*words[1:3], *values).exit_code == 0, words
            elif words[1] in ("replay", "check"):
                alone = ("--jobs", 1) if words[1] == "check" else ()
                assert call(*words[1:], *alone).exit_code == 0, words


@pytest.mark.usefixtures("unmeasured")
def test_a_paper_that_was_loaded_before_is_known_afterwards() -> None:
    paper_in("mine.py")
    with files.forgetting():
        loaded = files.load("mine.py")
        write(["mine.py"], quick=True, out="r")
        assert catalog.paper("mine") is loaded
        assert files.target_of("mine/one") == "mine.py:one"
    assert files.target_of("mine/one") == "mine/one"


@pytest.mark.usefixtures("unmeasured")
def test_the_command_prints_what_it_was_asked_for() -> None:
    paper_in("mine.py")
    paper_in("yours.py", "yours")
    found = printed("report", "mine.py", "yours.py", "mine.py", "--quick", "--processes", 1)
    assert found["page"] == str(Path("report", "index.html"))
    assert found["verdicts"] == {"supported": 6}
    result = call("report", "mine.py", "--quick", "--processes", 1, "--out", "alone")
    assert result.stdout == f"{Path('alone', 'index.html')}\n"
    assert "read\n" in result.stderr
    assert {p.name for p in Path("report").glob("*.html")} == {"index.html", "mine.html", "yours.html"}
    assert {p.name for p in Path("alone").glob("*.html")} == {"index.html", "mine.html"}
    refused = call("report", "mine.py", "--quick", "--processes", 1)  # it would replace the report on both
    assert refused.exit_code == 2
    assert "error: --out=report holds the report on mine, yours; one on mine would replace it" in refused.stderr


@pytest.mark.parametrize(
    ("targets", "text", "said"),
    [
        ("missing.py", None, "missing.py: No such file or directory; `fedproof new missing.py` writes one"),
        ("bad.py", "1 +", "bad.py, line 1: invalid syntax"),
        ("bad.py", "x = 1\nraise RuntimeError('no luck')", "bad.py, line 2: RuntimeError: no luck"),
        ("bad.py", "x = 1", "bad.py has no papers, and no claims"),
        ("bad.py", FILE.replace("NAME", "perm"), "bad.py: there is a paper 'perm' already"),
        ("mine.py bad.py", FILE.replace("NAME", "mine"), "bad.py and mine.py both have the paper 'mine'"),
        ("mine.py:one", None, "mine.py:one is one claim; a report is on a whole paper, mine.py"),
        ("mine.py nonsense", None, "unknown paper 'nonsense'"),
    ],
)
def test_a_bad_file_is_told_before_any_work(
    targets: str, text: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_parts", lambda *any: pytest.fail("work began"))
    paper_in("mine.py")
    if text is not None:
        Path("bad.py").write_text(text, encoding="utf-8")
    before = state()
    result = call("report", *targets.split(), "--out", "r")
    lines = result.stderr.splitlines()
    assert lines[-1].startswith(f"error: {said}")
    assert set(lines[:-1]) <= {"read"}  # what the file prints
    assert (result.exit_code, result.stdout) == (2, "")
    assert state() == before
    assert not Path("r").exists()


def test_what_is_said_elsewhere_names_the_file_too() -> None:
    assert "a whole paper, mine.py" in complaint(call("report", "mine.py:one"))
    assert call("new", "my other paper.py").stdout.endswith("fedproof check 'my other paper.py' --quick\n")


def sentence(id: str) -> tuple[str, tuple[str, ...]]:
    claim = catalog.claim(id)
    return claim.statement, claim.remarks


def test_other_processes_read_the_file_themselves(capfd: pytest.CaptureFixture[str]) -> None:
    """What they send back may hold the author's own classes."""
    with files.known([paper_in("mine.py")]) as names:
        assert names == ["mine"]
        source = files.source_of("mine")
        assert source is not None
        assert (source.paper, source.path) == ("mine", "mine.py")
        capfd.readouterr()
        found = over_processes(
            files.knowing, [((source,), sentence, (f"mine/{label}",)) for label in ("one", "two")], processes=2
        )
        assert found == [sentence("mine/one"), sentence("mine/two")]
        assert capfd.readouterr().out == ""
        assert found[0][1] == ("of mine",)
    assert files.source_of("mine") is None


def test_a_file_that_changes_meanwhile_is_noticed() -> None:
    with files.known([paper_in("mine.py")]):
        source = files.source_of("mine")
    assert source is not None
    with Path("mine.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    with files.forgetting(), pytest.raises(ValueError, match=r"mine\.py was changed while"):
        files.again([source])
    Path("mine.py").unlink()
    with pytest.raises(FileNotFoundError):
        files.again([source])


@pytest.mark.slow  # all of textbook, twice
def test_one_and_two_processes_write_the_same_report() -> None:
    """The file that `fedproof new` writes, checked, beside another paper; every slider is there."""
    template.written("my_paper.py")
    pages = []
    for processes in (1, 2):
        out = Path(str(processes))
        result = call("report", "my_paper.py", "textbook", "--quick", "--out", out, "--processes", processes)
        assert result.exit_code == 0, result.stderr
        pages.append({p.name: p.read_text(encoding="utf-8") for p in out.rglob("*") if p.suffix in (".html", ".csv")})
    assert pages[0] == pages[1]
    assert set(pages[0]) >= {"index.html", "my-paper.html", "textbook.html"}
    assert "noise-ball" in pages[0]["my-paper.html"]


@pytest.mark.usefixtures("unmeasured")
def test_how_much_a_refutation_matters_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, float]] = []

    def instead_of(results: list[Result], seconds: float, *_: object) -> dict[str, several.Instead]:
        asked.extend((result.id, seconds) for result in results)
        return {"mine/one": several.Instead("misprint", "")}

    def check_by_id(id: str, quick: bool, out: Path, seed: int) -> Result:
        return Result(id, "refuted", 2.0, (Evidence("certificate", "refuted", "It breaks.", origin="pool"),))

    monkeypatch.setattr(validate.checking, "check_by_id", check_by_id)
    monkeypatch.setattr(several, "instead_of", instead_of)
    paper_in("mine.py")
    result = call("report", "mine.py", "--quick", "--processes", 1, "--repair", 7)
    assert result.exit_code == 0, result.stderr
    assert ("mine/one", 7.0) in asked
    page = Path("report", "mine.html").read_text(encoding="utf-8")
    assert 'is false</b> <b class="severity">(misprint)</b>' in " ".join(page.split())
    assert page.count('<b class="severity">misprint</b>') >= 1
    stored = {entry["id"]: entry["severity"] for entry in json.loads(Path("report", "report.json").read_text())}
    assert stored["mine/one"] == "misprint"
    assert set(stored.values()) <= {"misprint", None}
