"""The command line as a whole: one clear error for every bad input, help, and what each command loads."""

import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.validate.command_line import EQ8, SETTINGS, assigned, call, changed, client, command, complaint
from validate.commands import doctor
from validate.commands.output import plain

pytestmark = pytest.mark.usefixtures("folder")

HEAVY = {"torch", "cvxpy", "matplotlib", "scipy", "numba", "sklearn"}
FEDMIM_EQ7 = "fedmim/theorem-iv1-eq7"
FEDMIM_SETTINGS = [
    *("alpha=1/4,1/8", "beta=1/4,1/8", "K=5", "L=1", "eta_l=1/1000", "S=10", "G=1", "B=3/2", "sigma2=1/10"),
    *("C=100", "T=1000", "f0_gap=2", "lam=1/10"),
]

OTHERS = {  # a claim of each other paper
    "open-fl/theorem-2": ["mu=1/10", "L=1", "r=1", "sigma=1/2"],
    "perm/proposition-4-eq16": ["mu=1", "L=2", "gamma=1/4", "delta2=1/2", "M=4", "T=30", "F_gap=5/4"],
    "textbook/local-sgd-strongly-convex": [
        *("eta=1/8", "mu=1", "L=2", "H=3", "N=4", "K=10", "norm2(x0 - xstar)=2", "G2=9")
    ],
}

BAD_ARGUMENTS: list[tuple[list[str], str]] = [
    (["--nonsense"], "--nonsense"),
    (["claims", "surplus"], "surplus"),
    (["show"], "ID"),
    (["bound"], "ID"),
    (["bound", "open-fl/definition-1"], "needs values for R in [0, inf)"),
    (["bound", EQ8], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:])], "L"),
    (["bound", EQ8, *assigned(*SETTINGS, "M=2")], "twice"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L")], "name=value"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=")], "name=value"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=nan")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=1e999999")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=1,2")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=__import__('os')")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=sqrt(L)")], "L"),
    (["bound", EQ8, *assigned(*(s for s in SETTINGS if s[0] != "K"), "K=-3")], "K=-3"),
    (["bound", EQ8, *assigned(*(s for s in SETTINGS if s[0] != "d"), "delta=-1/8")], "delta=-1/8"),
    (["moments"], "INSTANCE.json"),
    (["moments", "."], ".: Is a directory"),
    (["check"], "TARGET"),
    (["check", EQ8, "fedavg-svrg/nonsense"], "unknown claim"),
    (["check", EQ8, "--seed", "-1"], "--seed"),
    (["verify"], "CERTIFICATE"),
    (["reproduce"], "PAPER"),
    (["reproduce", "fedavg-svrg", "--seed", "one"], "--seed"),
    (["simulate"], "INSTANCE.json"),
    (["simulate", "spec.json", "--seed", "-1"], "--seed"),
    (["simulate", "spec.json", "--seed", str(2**64)], "seed"),
    (["simulate", "spec.json", "--block", "0"], "--block"),
    (["simulate", "spec.json", "--metric", "nonsense"], "nonsense"),
    (["simulate", "spec.json", "--resume"], "--out"),
    (["doctor", "surplus"], "surplus"),
]


@pytest.mark.parametrize(
    ("arguments", "fragment"), BAD_ARGUMENTS, ids=[" ".join(words)[:60] for words, _ in BAD_ARGUMENTS]
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str], fragment: str) -> None:
    assert fragment in complaint(call(*arguments))


BAD_SPECS: list[tuple[str, str]] = [  # what is JSON and no specification: test_scenario.py
    ("", "not JSON"),
    ('{"algorithm": ', "line 1, column"),
    ("[" * 100_000, "nested too deeply"),
    ("[1]", "object"),
    (changed(surplus=1), "surplus"),
    (changed(clients=client(p=float("nan"))), "clients[0].p"),
]


@pytest.mark.parametrize("arguments", [["moments", "-", "--exact"], ["moments", "-", "--json"], ["simulate", "-"]])
@pytest.mark.parametrize(("spec", "fragment"), BAD_SPECS, ids=[fragment for _, fragment in BAD_SPECS])
def test_bad_specifications_are_refused_in_one_line(arguments: list[str], spec: str, fragment: str) -> None:
    assert fragment in complaint(call(*arguments, given=spec))


def test_a_specification_that_is_not_text_is_refused(folder: Path) -> None:
    (folder / "binary.json").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in complaint(call("moments", "binary.json"))


def test_without_a_command_the_help_is_printed() -> None:
    result = call()
    assert result.exit_code == 0
    assert "Commands:" in result.stdout


def test_every_command_has_help_with_an_example() -> None:
    listing = call("--help").stdout.split("Commands:")[1]
    assert "..." not in listing, "a summary is too long to be listed"
    commands = [line.split()[0] for line in listing.splitlines() if line.strip()]
    what_is_claimed = ["claims", "show", "bound", "prove", "replay", "export", "feasible", "weights", "radius"]
    what_is_claimed += ["falsify", "repair", "mutate", "sharpen", "new", "read"]
    what_happens = ["moments", "measure", "compare", "diff", "audit", "check", "verify", "report", "review"]
    what_happens += ["reproduce", "simulate"]
    assert commands == [*what_is_claimed, *what_happens, "sweep", "doctor"]
    for name in commands:
        assert f"Example: fedproof {name}" in " ".join(call(name, "--help").stdout.split())


def test_an_unexpected_error_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> dict[str, str]:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(doctor, "versions", broken)
    result = call("doctor")
    assert isinstance(result.exception, ZeroDivisionError)


# What commands must not load, together with those before them: they run one after another in one process.
LIGHT: tuple[tuple[str, list[str], set[str]], ...] = (
    ("version", ["--version"], HEAVY | {"sympy", "flint", "numpy", "rich"}),
    ("claims-json", ["claims", "--json"], HEAVY | {"sympy", "flint", "rich"}),
    ("help", ["--help"], HEAVY | {"sympy", "flint", "rich"}),
    ("claims", ["claims"], HEAVY | {"sympy", "flint"}),
    ("bound", ["bound", EQ8, *assigned(*SETTINGS), "--rigorous"], HEAVY | {"sympy"}),
    ("bound-vectors", ["bound", FEDMIM_EQ7, *assigned(*FEDMIM_SETTINGS), "--rigorous"], HEAVY | {"sympy"}),
    *((id, ["bound", id, *assigned(*values)], HEAVY | {"sympy"}) for id, values in OTHERS.items()),
    ("show", ["show", EQ8], {"torch", "cvxpy", "matplotlib", "sympy"}),
)


@pytest.fixture(scope="module")
def loaded() -> dict[str, tuple[int, set[str]]]:
    """Of each light command its status, and the packages that it and those before it have loaded."""
    code = (
        "import sys\nfrom validate.cli import app\n"
        f"for name, arguments in {[(name, arguments) for name, arguments, _ in LIGHT]!r}:\n"
        "    status = app(arguments, standalone_mode=False)\n"
        "    print('LOADED', name, status, *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stderr.splitlines() if line.startswith("LOADED ")]
    return {name: (int(status), set(names)) for _, name, status, *names in lines}


@pytest.mark.parametrize(("name", "absent"), [(name, absent) for name, _, absent in LIGHT], ids=[n for n, *_ in LIGHT])
def test_light_commands_load_no_heavy_packages(
    name: str, absent: set[str], loaded: dict[str, tuple[int, set[str]]]
) -> None:
    status, packages = loaded[name]
    assert status == 0
    assert not absent & packages


def test_a_reader_that_stops_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([command(), "claims"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_json_has_no_types_of_its_own() -> None:
    value = {"a": np.array([1.0, np.nan]), "b": (Fraction(1, 3), Fraction(2)), "c": np.int64(3), "d": [True, None, 1.5]}
    assert plain(value) == {"a": [1.0, None], "b": ["1/3", "2"], "c": 3, "d": [True, None, 1.5]}


def test_an_interrupt_while_modules_are_loaded_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "validate.cli", "claims"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
