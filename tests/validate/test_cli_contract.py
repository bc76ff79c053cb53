"""docs/command-line.md holds for every command: each status in its table is reached, each document has its keys."""

import json
import re
import shlex
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typer.core import TyperCommand
from typer.testing import Result

from tests.validate.command_line import EQ7, EQ8, SETTINGS, SPEC, assigned, call
from theory import catalog
from validate import certify, cli, experiment
from validate.certificate import read, write
from validate.commands import doctor
from validate.mutate import Finding, MutationReport
from validate.mutate.neighbours import Neighbour

VECTORS = Path(__file__).parents[1] / "language" / "vectors.py"
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
LANGUAGE = Path(__file__).parents[1] / "language"
STATUSES = (0, 1, 2, 3)
EQ14 = "fedavg-svrg/lemma-v1-eq14"
VIOLATING = assigned("mu=3", "L=2", "delta=1/8", "M=100", "K=10", "D=1", "f0_gap=1", "sum_inv_p=2", "N=2")
SGD = assigned("mu=1/10", "L=1", "r=1", "sigma=1/2")
SHUFFLING = {"algorithm": "shuffling-local-sgd", "clients": [{"h": "1", "b": "1"}], "alpha": ["1"], "step": "1/8",
             "local_steps": 2, "epochs": 1, "v0": "3"}  # fmt: skip
FEDMIM = {"algorithm": "fedmim", "clients": [{"h": "1", "b": "1"}], "S": 1, "local_steps": 1, "step": "1/8",
          "alpha": ["1/2"], "beta": ["1/2"], "x0": "3", "K": 1}  # fmt: skip
INSTANCE = {"algorithm": "~noise_ball.py:parallel_sgd", "start": 0, "rounds": 3,
            "problem": {"clients": [[{"h": "1/4", "b": 1}, {"h": "1/4", "b": -1}]]}}  # fmt: skip
SWEEP = """
claims = ["CLAIM"]
rounds = 1
problem = [{ kind = "quadratic", clients = 1, dim = 1, mu = 1, L = 1, seed = 0 }]
algorithm = [{ kind = "fedavg-svrg", step = "1/2", S = 8, M = 1 }]
"""
UNPROVED = """
from theory import Paper, claim

TRIANGLE = claim("triangle", "norm2(a + b) <= norm2(a) + norm2(b)", vectors=("a", "b"),
                 proof={"squares": ["a - b"], "multipliers": {}})
PAPER = Paper("unproved", "A false sentence with a proof", "a reader", (TRIANGLE,))
"""

DERIVED = """
from theory import Paper, claim
from theory.derivation import citation, combined

YOUNG = claim("young", "2*dot(a, b) <= norm2(a) + norm2(b)", vectors=("a", "b"),
              proof=(combined("end", squares={"a - b": "1"}),))
CITED = claim("cited", "2*dot(a, b) <= norm2(a) + norm2(b)", vectors=("a", "b"),
              proof=(citation("end", None, "a book"),))
PAPER = Paper("derived", "Two derivations", "a reader", (YOUNG, CITED))
"""

CODE = """
import numpy as np

def right(x, problem, rng, eta):
    each = [problem.gradient(n, x, rng.integers(problem.samples[n])) for n in range(problem.clients)]
    return x - eta * np.mean(each, axis=0)

def wrong(x):
    return x
"""

DISPLAY = r"\begin{equation} \|x^{k}-x^\star\|^2 \le a \label{main} \end{equation}"

# By command and status, calls that end so. "~" stands for what `folder` has made.
CALLS: dict[tuple[str, int], str] = {
    ("claims", 0): "claims --paper perm",
    ("claims", 2): "claims --paper prem",
    ("show", 0): "show perm/lemma-7",
    ("show", 2): "show nonsense",
    ("bound", 0): shlex.join(["bound", EQ8, *assigned(*SETTINGS)]),
    ("bound", 2): f"bound {EQ8}",
    ("bound", 3): shlex.join(["bound", EQ14, *VIOLATING]),
    ("prove", 0): "prove textbook/young",
    ("prove", 1): "prove fedavg-svrg/remark-rate",
    ("prove", 2): "prove nonsense",
    ("replay", 0): "replay textbook/young",
    ("replay", 1): "replay ~unproved.py:triangle",
    ("replay", 2): "replay fedavg-svrg/remark-rate",
    ("export", 0): "export --to rocq ~derived.py:young",
    ("export", 1): "export --to rocq ~derived.py:cited",
    ("export", 2): "export --to rocq fedavg-svrg/remark-rate",
    ("compare", 0): "compare --mu 1 --L 10 --N 1 --rounds 10",
    ("compare", 2): "compare --mu 11 --L 10 --N 1 --rounds 10",
    ("diff", 0): "diff ~noise_ball.py:one-step --implementation ~code.py:right",
    ("diff", 1): "diff ~noise_ball.py:one-step --implementation ~code.py:wrong",
    ("diff", 2): "diff ~noise_ball.py:one-step --implementation ~code.py:nothing",
    ("feasible", 0): f"feasible {EQ14}",
    ("feasible", 1): f"feasible {EQ14} --set M=1 --set delta=1",
    ("feasible", 2): f"feasible {EQ14} --suppose 'M <'",
    ("weights", 0): "weights --z 0,0.5,2 --n 500,100,1000 --lam 200",
    ("weights", 2): "weights --z 0 --n 1,2 --lam 1",
    ("radius", 0): shlex.join(["radius", "sgd", *SGD]),
    ("radius", 2): "radius sgd",
    ("radius", 3): shlex.join(["radius", "sgd", *SGD, "--set", "eta=2"]),
    ("falsify", 0): "falsify textbook/young --seconds 1",
    ("falsify", 1): "falsify fedavg-svrg/eq-a25 --seconds 20",
    ("falsify", 2): "falsify fedmim/remark-iv3",
    ("repair", 0): "repair textbook/young --seconds 60",
    ("repair", 1): "repair fedmim/lemma-9 --seconds 1",
    ("repair", 2): "repair nonsense",
    ("mutate", 0): f"mutate {EQ7} --quick",
    ("mutate", 1): f"mutate {EQ8} --quick",
    ("mutate", 2): "mutate nonsense/nonsense",
    ("sharpen", 0): "sharpen textbook/young --seconds 5",
    ("sharpen", 2): "sharpen fedmim/remark-iv3",
    ("new", 0): "new my_paper.py --force",
    ("new", 2): "new spec.json",
    ("read", 0): f"read ~answered.tex:main --against {LANGUAGE / 'noise_ball.py'}:parallel_sgd",
    ("read", 1): "read ~answered.tex:main",
    ("read", 2): "read missing.tex:main",
    ("moments", 0): "moments ~instance.json",
    ("moments", 2): "moments missing.json",
    ("measure", 0): f"measure {EQ8} spec.json",
    ("measure", 1): "measure ~noise_ball.py:lost-factor ~breaking.json",
    ("measure", 2): f"measure {EQ8} missing.json",
    ("measure", 3): "measure ~noise_ball.py:lost-factor ~violating.json",
    ("audit", 0): "audit spec.json",
    ("audit", 2): "audit spec.json --ball=-1",
    ("check", 0): "check textbook/young --quick",
    ("check", 1): "check fedmim/eq2 --quick",
    ("check", 2): "check nonsense",
    ("verify", 0): "verify good.json",
    ("verify", 1): "verify good.json altered.json",
    ("verify", 2): "verify good.json altered.json spec.json",
    ("report", 0): "report --store ~empty.sqlite",
    ("report", 2): "report nonsense",
    ("review", 0): "review textbook/young --quick",
    ("review", 2): "review nonsense",
    ("reproduce", 0): "reproduce open-fl --quick",
    ("reproduce", 2): "reproduce textbook",
    ("simulate", 0): "simulate spec.json --runs 2",
    ("simulate", 2): "simulate spec.json --runs 0",
    ("sweep", 0): "sweep eq8.toml --out new.sqlite --workers 1",
    ("sweep", 1): "sweep eq7.toml --out new.sqlite --workers 1",
    ("sweep", 2): "sweep spec.json",
    ("doctor", 0): "doctor --no-self-test",
    ("doctor", 1): "doctor --no-self-test",
    ("doctor", 2): "doctor surplus",
}
# By row of the page's table of keys, a call with such a document, where it is not that of the command itself.
OTHERS: dict[str, str] = {
    "audit ID": f"audit {shlex.quote(str(VECTORS))}:young --quick",
    "radius adam": shlex.join(["radius", "adam", *SGD, *assigned("eta=1/9", "beta1=0", "beta2=1/2", "eps=1", "d=2")]),
    "bound (numbers alone)": f"bound {LANGUAGE / 'vectors.py'}:geometric --set q=1/2 --set K=3",
    "mutate PAPER": "mutate perm --quick",
    "moments (fedavg-svrg)": "moments spec.json",
    "moments (shuffling-local-sgd)": "moments shuffling.json",
    "moments (fedmim)": "moments fedmim.json",
    "sweep --dry-run": "sweep eq7.toml --dry-run",
    "sweep --status": "sweep --status ~empty.sqlite",
}


@cache
def certificate() -> dict[str, Any]:
    """One that holds."""
    spec = {**SPEC, "clients": [{"h": ["1"], "a": ["0"], "p": "1"}], "S": 8, "K": 1, "theta0": "1"}
    with TemporaryDirectory() as folder:
        return read(certify(EQ7, spec, folder))


@pytest.fixture
def prepared(folder: Path) -> Path:
    """The current folder, with what the calls read."""
    write(certificate(), folder, "good")
    (folder / "altered.json").write_text(json.dumps({**certificate(), "statement": "0 <= 0 - 1"}), encoding="utf-8")
    source = Path(__file__).parents[1] / "language" / "noise_ball.py"
    (folder / "~noise_ball.py").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "~unproved.py").write_text(UNPROVED, encoding="utf-8")
    (folder / "~derived.py").write_text(DERIVED, encoding="utf-8")
    (folder / "~code.py").write_text(CODE, encoding="utf-8")
    for name, step in (("instance", "1/8"), ("breaking", "1/2"), ("violating", "9/4")):
        text = json.dumps({**INSTANCE, "parameters": {"eta": step}})
        (folder / f"~{name}.json").write_text(text, encoding="utf-8")
    (folder / "~answered.tex").write_text(DISPLAY, encoding="utf-8")
    (folder / "~answered.questions.toml").write_text("['a']\nanswer = 'positive'\n", encoding="utf-8")
    (folder / "shuffling.json").write_text(json.dumps(SHUFFLING), encoding="utf-8")
    (folder / "fedmim.json").write_text(json.dumps(FEDMIM), encoding="utf-8")
    for name, id in (("eq7", EQ7), ("eq8", EQ8)):
        (folder / f"{name}.toml").write_text(SWEEP.replace("CLAIM", id), encoding="utf-8")
    from validate.sweep.store import Store

    with Store.create(folder / "~empty.sqlite", "", [{"format": 1, "claim": EQ7}]):
        pass
    return folder


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Puts something small in place of the work of commands that take minutes, or need a broken installation."""

    def report(id: str, *outcomes: Any) -> MutationReport:
        from theory import claim

        mutant = Neighbour("open-fl/theorem-2/mutant-1", claim("open-fl/theorem-2"), "term dropped", "moved")
        return MutationReport(id, True, tuple(Finding(mutant, o, o == "survived") for o in outcomes))

    class Experiments:
        @staticmethod
        def reproduce(*, out: Path, **options: Any) -> experiment.Experiment:
            options["progress"]("at work")
            drawing = experiment.Drawing(out / "figure.svg", "a title", "a caption")
            return experiment.Experiment("open-fl", "a title", (), (drawing,), (), (out / "figure.csv",), ("found",))

    def prepare(name: str, status: int) -> None:
        if name == "mutate" and status < 2:
            outcomes = {EQ7: ("killed",), EQ8: ("survived",)}
            monkeypatch.setattr("validate.mutate.mutate", lambda id, **options: report(id, *outcomes[id]))
            monkeypatch.setattr("validate.mutate.mutate_all", lambda paper, **options: [report("a/b", "killed")])
        if name == "reproduce" and status == 0:
            redrawn = import_module("validate.experiments")
            monkeypatch.setattr(redrawn, "reproduction", lambda paper: Experiments.reproduce)
        if (name, status) == ("doctor", 1):
            monkeypatch.setattr(doctor, "clashes", lambda: ["another package"])

    return prepare


def tabulated(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_s_table_has_every_command_with_the_statuses_that_are_tested() -> None:
    rows = tabulated("Exit status")
    assert [row[0].strip("`") for row in rows] == list(cli.MODULES)
    stated = {(row[0].strip("`"), status) for row in rows for status in STATUSES if row[1 + status]}
    assert stated == set(CALLS)


@pytest.mark.usefixtures("prepared", "without_search")
@pytest.mark.parametrize(("name", "status"), CALLS, ids=[f"{name}-{status}" for name, status in CALLS])
def test_a_status_of_the_table_is_reached_and_json_does_not_change_it(
    name: str, status: int, cheap: Callable[[str, int], None]
) -> None:
    cheap(name, status)
    result = call(*shlex.split(CALLS[name, status]), "--json")
    assert result.exit_code == status, result.output
    if status == 2:
        assert_error(result)
    else:
        document = json.loads(result.stdout)
        assert_keys(document, name)
    if name not in ("check", "falsify", "repair", "sweep"):  # take seconds, write what a second finds
        again = call(*shlex.split(CALLS[name, status]))
        assert again.exit_code == status
        assert again.stderr == result.stderr


def assert_error(result: Result) -> None:
    """Nothing on stdout, one line on stderr."""
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")


def assert_keys(document: Any, row: str) -> None:
    """The keys are those of a row of the page's table."""
    stated = {cells[0].strip("`"): cells[1] for cells in tabulated("Documents")}
    assert set(stated) == {*cli.MODULES, *OTHERS}
    assert isinstance(document, list) == stated[row].startswith("of each: ")
    for entry in document if isinstance(document, list) else [document]:
        assert list(entry) == re.findall(r"`(\w+)`", stated[row])


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("row", OTHERS)
def test_a_document_has_the_keys_of_the_table(row: str, cheap: Callable[[str, int], None]) -> None:
    cheap(row.split()[0], 0)
    assert_keys(json.loads(call(*shlex.split(OTHERS[row]), "--json").stdout), row)


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("name", cli.MODULES)
def test_every_command_can_be_interrupted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Any, context: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TyperCommand, "invoke", interrupted)
    result = call(*shlex.split(CALLS[name, 0]), "--json")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_a_defect_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(SystemExit) as left:
        cli.main()
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (cli.DEFECT, "")
    assert "ZeroDivisionError: a defect" in said.err
    assert said.err.splitlines()[-1].startswith("error: this is a defect of fedproof")


def test_what_a_paper_in_a_file_prints_goes_to_stderr(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_added", {})  # what is read here stays unknown to other tests
    assert call("new", "talking.py").exit_code == 0
    with (folder / "talking.py").open("a", encoding="utf-8") as file:
        file.write("\nprint('hello')\n")
    result = call("claims", "--paper", "talking.py", "--json")
    assert {row["id"].split("/")[0] for row in json.loads(result.stdout)} == {"talking"}
    assert result.stderr == "hello\n"


def test_the_help_says_the_statuses() -> None:
    said = " ".join(call("--help").stdout.split())
    for status in ("0 done", "1 a claim is refuted", "2 bad usage", "3 the values violate", "70 a defect", "130 inter"):
        assert status in said
