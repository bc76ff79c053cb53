"""Law: with --json, standard output holds the JSON and nothing else, whatever the exit status."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import EQ7, call
from validate.verdict import Evidence, Result, decide


@pytest.mark.parametrize(("outcome", "status"), [("proved", 0), ("fails", 1), ("refuted", 1), ("vacuous", 1)])
def test_what_is_printed_meanwhile_goes_to_stderr(
    outcome: Any, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_all(targets: list[str], **options: Any) -> list[Result]:
        print("a library speaks")
        options["progress"]("at work")
        return [decide(EQ7, [Evidence("exact", outcome, "found")])]

    monkeypatch.setattr(import_module("validate.checking"), "check_all", check_all)
    result = call("check", EQ7, "--out", tmp_path, "--json")
    assert result.exit_code == status
    assert [found["id"] for found in json.loads(result.stdout)] == [EQ7]
    assert result.stderr.splitlines() == ["a library speaks", "at work"]
    assert "a library speaks" in call("check", EQ7, "--out", tmp_path).stdout


@pytest.mark.parametrize(
    "words",
    [["check"], ["check", "nonsense"], ["check", "missing.py"], ["check", EQ7, "--seed", "x"], ["bound", EQ7],
     ["falsify", "nonsense"], ["verify", "missing.json"], ["feasible", EQ7, "--set", "x"], ["nonsense"]],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_leaves_stdout_empty(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*words, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")


def test_a_defect_leaves_stdout_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(targets: list[str], **options: Any) -> list[Result]:
        print("half a result")
        raise ZeroDivisionError

    monkeypatch.setattr(import_module("validate.checking"), "check_all", broken)
    result = call("check", EQ7, "--out", tmp_path, "--json")
    assert isinstance(result.exception, ZeroDivisionError)
    assert result.stdout == ""
