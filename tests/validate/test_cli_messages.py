"""What the command line says to somebody who has mistyped something: the value, what it may be, and what to do next."""

import errno
import json
import shlex
from pathlib import Path

import pytest

from tests.validate.command_line import EQ8, call, complaint
from theory import claims
from validate.commands import messages

pytestmark = pytest.mark.usefixtures("folder")

TYPOS: list[tuple[str, list[str]]] = [
    ("chekc perm", ["'chekc'", "Did you mean 'check'", "fedproof --help"]),
    ("show lemma-a2", ["unknown claim 'lemma-a2'", "did you mean 'fedavg-svrg/lemma-a2'?"]),
    ("show Fedavg-SVRG/Lemma-A2", ["did you mean 'fedavg-svrg/lemma-a2'"]),
    ("bound theorm-v1-eq8", ["did you mean 'fedavg-svrg/theorem-v1-eq8'"]),
    ("show perm", ["'perm' is a paper", "fedproof claims --paper perm"]),
    ("claims --paper prem", ["unknown paper 'prem'", "did you mean 'perm'"]),
    ("check fedavg", ["target='fedavg'", "did you mean 'fedavg-svrg'"]),
    ("check lemma-a9", ["target='lemma-a9'", "'fedavg-svrg/lemma-a2'"]),
    (f"bound {EQ8} --set dleta=0.01", [EQ8, "'dleta'", "did you mean 'delta'?"]),
    (f"bound {EQ8} --set L=two", ["L=two", "(0, inf)", "'two'", "there are delta, S, M, L"]),
    (f"bound {EQ8} --set L=-2", ["L=-2", "(0, inf)"]),
    (
        f"bound {EQ8} --set L=2 --set K=2",
        ["delta in (0, inf)", "S among the integers in [1, inf)", "--set mean_inv_p="],
    ),
    (f"bound {EQ8} --set", ["--set", "fedproof bound --help"]),
    (f"bound {EQ8} --rigourous", ["--rigourous", "--rigorous"]),
    ("bound fedmim/remark-iv3", ["no right side", "others of its paper have, such as"]),
    ("replay textbook/reshuffling", ["no proof", "others of its paper have, such as textbook/recursion"]),
    ("falsify fedmim/remark-iv3", ["nothing to search for", "others of its paper have, such as"]),
    ("feasible fedavg-svrg/lemma-v1-eq14 --suppose 'M <'", ["--suppose 'M <'", "'M <= 8'"]),
    ("feasible fedavg-svrg/lemma-v1-eq14 --set m=8", ["'m'", "did you mean 'M'"]),
    ("radius sdg", ["'sdg'", "'sgd', 'adam'"]),
    ("radius sgd --set mu=1", ["L in (0, inf)", "sigma in [0, inf)", "fedproof radius sgd --set mu=1"]),
    ("radius adam", ["beta1 in [0, 1)", "fedproof radius adam --set eta=1"]),
    ("weights --z 0,1", ["--n", "try: fedproof weights --z 0,0.5,2"]),
    ("moments spek.json", ["spek.json: No such file", "did you mean 'spec.json'?"]),
    ("moments none/spec.json", ["no folder none"]),
    ("check nothing.py", ["nothing.py: No such file", "`fedproof new nothing.py`"]),
    ("simulate spec.json --runs 0", ["--runs=0 is below 1"]),
    ("simulate spec.json --runs many", ["--runs=many is not a whole number"]),
    ("simulate spec.json --device abacus", ["device='abacus'", "use 'cpu' or 'cuda'"]),
    ("verify spec.json", ["spec.json is not a certificate", "`fedproof check`", "fedproof-certificate-2"]),
    ("verify missing.json", ["missing.json: No such file or directory"]),
    ("reproduce textbook", ["PAPER=textbook", "these have: fedavg-svrg, fedmim, open-fl, perm"]),
    ("sweep", ["SPEC.toml is missing", "docs/sweeps.md"]),
    ("sweep spec.json", ["spec.json: the specification is not TOML"]),
    ("sweep --status none.sqlite", ["none.sqlite does not exist", "`fedproof sweep SPEC.toml --out none.sqlite`"]),
    ("new spec.json", ["spec.json", "my_paper.py"]),
]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (["report", "textbook", "--out", ""], "--out"),
        (["check", "textbook/young", "--out="], "--out"),
        (["show", ""], "an argument"),
    ],
)
def test_an_empty_argument_is_not_the_working_folder(typed: list[str], name: str) -> None:
    assert complaint(call(*typed)) == f"error: {name} is empty; give a value, or leave it out"


@pytest.mark.parametrize(("typed", "said"), TYPOS, ids=[typed for typed, _ in TYPOS])
def test_a_typing_error_is_named_with_what_to_do_next(typed: str, said: list[str]) -> None:
    message = complaint(call(*shlex.split(typed)))
    for words in said:
        assert words in message


@pytest.mark.parametrize(
    "typed",
    [
        "check textbook/young",
        f"falsify {EQ8}",
        f"mutate {EQ8}",
        "report perm",
        "reproduce perm",
        "simulate spec.json",
        "sweep spec.toml",
    ],
)
def test_a_folder_that_cannot_be_written_to_is_refused_before_any_work(typed: str, folder: Path) -> None:
    from tests.validate.test_cli_contract import SWEEP

    (folder / "spec.toml").write_text(SWEEP.replace("CLAIM", EQ8), encoding="utf-8")
    before = sorted(folder.iterdir())
    message = complaint(call(*typed.split(), "--out", "spec.json/deep/file"))
    assert "--out=spec.json/deep" in message
    assert "give another --out" in message
    if not typed.endswith((".json", ".toml")):  # those write a file
        (folder / "link").symlink_to("nowhere")
        assert "leads nowhere; give another --out" in complaint(call(*typed.split(), "--out", "link"))
        (folder / "link").unlink()
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("id", [c.id for c in claims() if c.has_bound][::6])
def test_the_example_of_a_message_about_missing_parameters_runs(id: str) -> None:
    """Its values are in their domains, though they may violate a hypothesis, or make the right side undefined."""
    result = call("bound", id)
    if result.exit_code != 2:
        return  # a claim without parameters
    example = complaint(result).split("for example: ")[1]
    again = call(*shlex.split(example)[1:])
    assert again.exit_code in (0, 2, 3), again.stderr
    if again.exit_code == 2:
        assert "undefined" in again.stderr or "no real value" in again.stderr or "divi" in again.stderr, again.stderr


def test_a_message_is_one_line_that_a_terminal_may_show() -> None:
    assert messages.one_line("a\n\tb\x1b[31m") == "a b\\u001b[31m"
    assert messages.bad_input(OSError("no more")) == "no more"
    full = messages.bad_input(OSError(errno.ENOSPC, "No space left on device"))
    assert full == "what was to be kept cannot be written: No space left on device"
    gone = messages.bad_input(FileNotFoundError(errno.ENOENT, "No such file or directory"))  # of os.getcwd
    assert gone == "the working folder is gone: No such file or directory"
    assert messages.bad_input(ValueError()) == "ValueError"
    assert messages.misuse(ValueError("other"), "fedproof") is None


@pytest.mark.parametrize(("written", "name"), [("eta <= 1", "eta"), ("eat <= 1", "eat"), ("c <= 1", "c")])
def test_a_slip_of_the_pen_in_a_relation_is_asked_about(written: str, name: str) -> None:
    """It is a parameter like any other, so the verdict is on what is written; and stdout has nothing else."""
    text = f"""from theory import Paper, claim
PAPER = Paper("slip", "A slip", "a reader", (claim("one", "eta**2 <= eta", assuming=({written!r},)),))
"""
    Path("slip.py").write_text(text, encoding="utf-8")
    result = call("check", "slip.py", "--quick", "--json")
    verdict = json.loads(result.stdout)[0]["verdict"]
    assert (verdict == "refuted") == (name != "eta")
    asked = f"warning: slip/one: {name} stands in {written} and nowhere else, so it is a parameter of its own"
    assert (f"{asked}; did you mean eta?" in result.stderr.splitlines()) == (name == "eat")
    assert result.stderr.count("warning:") == (name == "eat")


def test_a_parameter_with_a_domain_is_meant() -> None:
    text = """from theory import Paper, claim
from theory.domain import POSITIVE
PAPER = Paper("meant", "No slip", "a reader", (
    claim("one", "eta**2 >= 0*eta", assuming=("eat <= 1",)),
    claim("two", "eta**2 >= 0*eta", assuming=("eat <= 1",), parameters={"eat": POSITIVE}),
))
"""
    Path("meant.py").write_text(text, encoding="utf-8")
    said = [line for line in call("check", "meant.py", "--quick", "--json").stderr.splitlines() if "warning:" in line]
    assert [line.split(":")[1].strip() for line in said] == ["meant/one"]
