"""The documentation without its site: links, commands, claims and names that the pages mention are there."""

import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.validate.command_line import call
from theory import catalog
from theory.calculator import ROUNDS, calculator
from theory.program import pseudo_code
from theory.typeset import latex_of_claim, latex_of_definitions
from validate import files

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_ext" not in path.parts)
TEXTS = [ROOT / "README.md", *PAGES]
FENCE = re.compile(r"^(```+|:::+)([^\n]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[(?:[^][]|\[[^][]*\])*\]\(([^)\s]+)\)")


def named(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def prose(path: Path) -> str:
    """The page without fenced blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors that a code host makes of a page's headings."""
    titles = re.findall(r"^#+ +(.+?) *$", prose(path), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", title.replace("`", "")).strip().lower() for title in titles)
    return frozenset(title.replace(" ", "-") for title in kept)


def shown_commands(path: Path) -> list[str]:
    """The calls of `fedproof` in a page: in code blocks, and in backquotes where something follows the name."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    fedproof ")]
    lines += [
        line
        for _, info, block in FENCE.findall(text)
        if info.strip() in ("sh", "shell", "console", "bash")
        for line in block.splitlines()
        if line.startswith("fedproof ")
    ]
    lines += re.findall(r"`(fedproof [^`\n]+)`", FENCE.sub("", text))
    return [re.sub(r"\s+#.*", "", line) for line in lines]


@cache
def options() -> dict[str, frozenset[str]]:
    """The options of each command; those of `fedproof` itself under the empty name."""
    import typer

    from validate.cli import app

    group: Any = typer.main.get_command(app)

    def of(command: Any) -> frozenset[str]:
        found = (o for p in command.params if p.param_type_name == "option" for o in (*p.opts, *p.secondary_opts))
        return frozenset((*found, "-h", "--help"))

    return {"": of(group), **{name: of(command) for name, command in group.commands.items()}}


def problems_of(line: str) -> list[str]:
    """What is wrong with a call of `fedproof` that a page shows."""
    words = shlex.split(line)[1:]
    found = []
    while words and words[0].startswith("-"):
        if words[0] not in options()[""]:
            found.append(f"fedproof has no option {words[0]}")
        words = words[1:]
    if not words or words[0] == "COMMAND":
        return found
    if words[0] not in options():
        return [*found, f"there is no command {words[0]}"]
    known = options()[words[0]]
    flags = [w.partition("=")[0] for w in words[1:] if re.match(r"--?[a-z]", w)]
    return found + [f"{words[0]} has no option {flag}" for flag in flags if flag not in known]


@pytest.mark.parametrize("path", TEXTS, ids=named(TEXTS))
def test_links_lead_somewhere(path: Path) -> None:
    dead = []
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        there = target.exists() and target.is_relative_to(ROOT)
        if not there or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert not dead


@pytest.mark.parametrize("path", TEXTS, ids=named(TEXTS))
def test_commands_exist_with_the_options_they_are_given(path: Path) -> None:
    assert not {line: found for line in shown_commands(path) if (found := problems_of(line))}


def test_a_wrong_command_is_noticed() -> None:
    assert len(shown_commands(ROOT / "README.md")) > 20  # they are found at all
    assert problems_of("fedproof check fedavg-svrg --quick") == []
    assert problems_of("fedproof chekc fedavg-svrg") == ["there is no command chekc"]
    assert problems_of("fedproof bound perm/gen --fast") == ["bound has no option --fast"]
    assert problems_of("fedproof --noisy claims") == ["fedproof has no option --noisy"]


@pytest.mark.parametrize("path", TEXTS, ids=named(TEXTS))
def test_claims_exist(path: Path) -> None:
    papers = "|".join(map(re.escape, catalog.BUILT_IN))
    text = path.read_text(encoding="utf-8")
    ids = re.findall(rf"(?<![\w/.-])(?:{papers})/[a-z0-9][a-z0-9./-]*[a-z0-9](?![\w/]|\.json)", text)
    known = {claim.id for claim in catalog.claims()}
    assert not [id for id in dict.fromkeys(ids) if id not in known]


def test_every_page_is_in_one_table_of_contents() -> None:
    listed: list[Path] = []
    for page in PAGES:
        for _, info, block in FENCE.findall(page.read_text(encoding="utf-8")):
            if info.strip() == "{toctree}":
                entries = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
                listed += [page.parent / f"{entry}.md" for entry in entries if not entry.startswith("notebooks/")]
    assert sorted(listed) == [page for page in PAGES if page != DOCS / "index.md"]


def test_every_built_in_paper_has_a_page() -> None:
    shown = {
        name
        for page in (DOCS / "catalogue").glob("*.md")
        for name in re.findall(r"^```\{claims\} (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert shown == set(catalog.BUILT_IN)


PUBLIC = (
    "theory",
    "theory.feasible",
    "theory.mixing",
    "theory.stability",
    "sim",
    "sim.problems",
    "validate",
    "validate.mutate",
    "validate.report",
    "validate.sweep",
    "validate.worst_case",
)


@pytest.mark.parametrize("package", PUBLIC)
def test_the_reference_has_every_public_name(package: str) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    shown = set(re.findall(r"^\.\. auto(?:class|function|data):: (\S+)$", text, re.MULTILINE))
    exported = importlib.import_module(package).__all__
    modules = {name for name in exported if importlib.util.find_spec(f"{package}.{name}") is not None}
    missing = {f"{package}.{name}" for name in exported} - shown
    # a name that is a module of its package as well may be the module: its own names are then in the reference
    assert not {name for name in missing if name.rpartition(".")[2] not in modules}


def test_what_the_reference_names_exists() -> None:
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for kind, name in re.findall(r"^\.\. auto(\w+):: (\S+?)(?:\(\))?$", text, re.MULTILINE):
            if kind == "module":
                assert importlib.import_module(name).__doc__, name
            else:
                module, _, last = name.rpartition(".")
                thing = getattr(importlib.import_module(module), last)
                assert kind == "data" or thing.__doc__, f"{name} has no docstring"


def test_the_page_of_words_is_what_the_code_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    words = importlib.import_module("words")
    assert {word.partition("[")[0] for word in words.MEANING} - {"x", "y", "past"} == words.WORDS
    assert (DOCS / "words.md").read_text(encoding="utf-8") == words.page(), "python docs/words.py makes it anew"


# --- the local extensions --------------------------------------------------------------------------------------------


def extension(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of docs/_ext, which needs Sphinx."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed (pip install 'fedproof[docs]')")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    for other in ("catalogue", "commands", "docstrings", "mathematics", "repository"):
        monkeypatch.delitem(sys.modules, other, raising=False)
    return importlib.import_module(name)


def test_a_formula_becomes_svg_with_its_outlines(monkeypatch: pytest.MonkeyPatch) -> None:
    mathematics = extension("mathematics", monkeypatch)
    from docutils import nodes

    builder = SimpleNamespace(current_docname="page")
    translator = SimpleNamespace(builder=builder, body=[])
    with pytest.raises(nodes.SkipNode):
        mathematics.display(translator, nodes.math_block(r"\frac{1}{N}", r"\frac{1}{N}", spoken="1/N"))
    html = "".join(translator.body)
    context: dict[str, Any] = {"body": html}
    mathematics.add_definitions(SimpleNamespace(builder=builder), "page", "page.html", context, None)
    assert "<svg" in html
    assert 'aria-label="1/N"' in html
    used = set(re.findall(r'href="#([^"]+)"', context["body"]))
    made = set(re.findall(r'id="([^"]+)"', context["body"]))
    assert used
    assert used <= made


def test_every_command_is_in_the_generated_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = extension("commands", monkeypatch)
    assert list(commands.commands()) == [name for name in options() if name]
    for name, command in commands.commands().items():
        text = commands._section(name, command).astext()
        for option in options()[name] - {"-h", "--help"}:
            assert option in text, (name, option)


def test_defaults_are_taken_from_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    row = extension("commands", monkeypatch)._row
    assert row(("--seed <int>", "Seed.  [default: 0; x>=0]")) == ("--seed <int>", "0", "Seed. (x>=0)")
    assert row(("ID", "A claim.  [required]")) == ("ID", "", "A claim. (required)")
    assert row(("--json", "Print JSON [of all].")) == ("--json", "", "Print JSON [of all].")


@pytest.mark.parametrize("name", ["open-fl", "compression.py", "noise_ball.py", "vectors.py"])
def test_a_claim_is_shown_with_all_that_it_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.validate.report.playing import LANGUAGE, in_file

    catalogue = extension("catalogue", monkeypatch)
    paper = in_file(LANGUAGE / name) if name.endswith(".py") else catalog.paper(name)
    for claim in paper:
        section = catalogue._section(claim, {c.id: c for c in paper})
        text = section.astext()
        wanted = [claim.id, claim.label, claim.statement, claim.source]
        wanted += [*claim.assuming, *claim.standing, *claim.remarks]
        wanted += [pseudo_code(claim.program)] if claim.program is not None else []
        wanted += [p.meaning for p in calculator(claim).bound.parameters if p.name != ROUNDS]
        wanted += [latex_of_claim(claim), *latex_of_definitions(claim).values()]
        wanted += [catalogue.verdicts().get(claim.id, "")]
        assert all(part in text for part in wanted), claim.id
        spoken = [node["spoken"] for node in section.findall(lambda n: "spoken" in getattr(n, "attributes", {}))]
        assert spoken[:1] == [claim.statement]


def test_the_catalogue_s_verdicts_are_what_is_said_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = extension("catalogue", monkeypatch)
    assert set(catalogue.verdicts()) == {claim.id for claim in catalog.claims()}
    found = catalogue.Verdicts.run(None)[0].astext().split()
    row = re.search(r"^\| together \| (.*) \|$", (DOCS / "papers.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert found[-5:] == [cell.split(":")[0] for cell in row[1].split(" | ")]
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    words = ("proved", "refuted", "supported", "undecided", "vacuous")
    assert ", ".join(f"{count} {word}" for count, word in zip(found[-5:], words, strict=True)) in said


def test_formulas_in_docstrings_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    converted = extension("docstrings", monkeypatch).converted
    assert converted(["||x - x*|| and `x*`"]) == [r"\|\|x - x\*\|\| and `x*`"]
    assert converted(["As in", "", "    a * b", "", "so."]) == ["As in", "", "::", "", "    a * b", "", "so."]
    assert converted(["Checked:", "  0 < a;", "  |b| < 1.", "Then"]) == [
        "Checked:",
        "",
        "| 0 < a;",
        r"| \|b\| < 1.",
        "",
        "Then",
    ]
    args = ["Args:", "    x: a number:", "        see below."]
    assert converted(args) == args


# --- the pages' commands, as they stand -------------------------------------------------------------------------------

MINUTES = ("check", "diff", "falsify", "mutate", "prove", "repair", "report", "reproduce", "review", "sharpen")
NEWS = ("check", "falsify", "feasible", "measure", "read", "report")
SAYS = {**dict.fromkeys(NEWS, (0, 1)), "diff": (1,)}
"""1: something about a claim or a code, or an open question."""
COMMANDS = {
    "README.md": 20,
    "docs/papers.md": 3,
    "docs/getting-started.md": 4,
    "docs/tutorial.md": 10,
    "docs/gallery.md": 6,
}
"""The pages, and how many commands they have at least."""
SPEC = """claims = ["my_paper.py:noise-ball"]
rounds = 2
[[problem]]
kind = "scalar"
clients = [{ h = 1, a = -1 }]
[[algorithm]]
kind = "program"
delta = "1/4"
"""
"""What the tutorial's sweep names, and the page on sweeps describes."""


@pytest.mark.parametrize("page", COMMANDS)
@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_commands_of_a_page_run_as_they_stand(
    page: str, long: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, in one folder that has the repository's examples, the page's own files, and nothing else."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    if page == "docs/tutorial.md":
        for name, language in (("my_paper.py", "python"), ("instance.json", "json")):
            Path(name).write_text(next(b for _, info, b in FENCE.findall(text) if info.strip() == language))
        Path("SPEC.toml").write_text(SPEC)
    whole = text.replace("\\\n", " ")
    lines = [
        re.sub(r"\s+#.*", "", line).strip() for line in whole.splitlines() if re.match("    (fedproof|python) ", line)
    ]
    assert len(lines) >= COMMANDS[page]
    for line in lines:
        first, name, *rest = shlex.split(line)
        if first == "python":
            if "-I" in (name, *rest) and long:
                subprocess.run([sys.executable, name, *rest], check=True)
        elif long or name not in MINUTES or "--store" in rest:
            if not long and name == "verify":
                continue  # of a certificate that `check` has written
            with files.forgetting():
                found = call(name, *rest)
            assert found.exit_code in SAYS.get(name, (0,)), f"{line}: {found.stderr}"


def cells(text: str) -> list[list[str]]:
    """Of a printed table; two spaces or more stand between them."""
    return [re.split(r" {2,}", line.rstrip()) for line in text.splitlines()]


@pytest.mark.slow
def test_the_gallery_shows_what_its_commands_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts, instances and derivations; what a search has covered may change with it."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"^    (fedproof check [^\n]*)\n\n```text\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    assert len(shown) == 6
    verdicts = []
    for line, output in shown:
        _, name, *rest = shlex.split(line)
        printed, page = cells(call(name, *rest).stdout), cells(output)
        assert printed[1][0] == page[1][0]
        verdicts.append(page[1][1].split()[0])
        assert printed[1][1].split()[0] == verdicts[-1], line
        if verdicts[-1] in ("refuted", "proved"):
            assert printed == page
    assert sorted(verdicts) == ["proved", "refuted", "refuted", "refuted", "supported", "vacuous"]
