"""The contract of `fedproof check`, `verify`, `report`, `reproduce` and `doctor`."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate.command_line import EQ7, EQ8, SPEC, call, complaint, printed
from validate import certify, verdict
from validate.commands import doctor

pytestmark = pytest.mark.usefixtures("folder")


def fake_results() -> list[verdict.Result]:
    """One refuted and one supported."""
    data = {"left": np.float64(2)}
    broken = verdict.Evidence("certificate", "refuted", "broken by an instance", data=data, origin="pool")
    fine = verdict.Evidence("exact", "holds", "never broken", tightness=float("inf"))
    earned = verdict.Coverage(True, "12 scenarios")
    return [
        verdict.decide(EQ7, [broken], "out/certificates/7.json"),
        verdict.decide(
            EQ8, [verdict.Evidence("hypotheses", "holds", "they hold together"), fine], None, earned, quick=True
        ),
    ]


def test_check_prints_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def check_all(targets: list[str], **options: Any) -> list[verdict.Result]:
        options.pop("progress")("at work")
        options.pop("finished")
        asked.update(options, targets=targets)
        return fake_results()

    monkeypatch.setattr(import_module("validate.checking"), "check_all", check_all)
    found = printed("check", "all", EQ7, "--quick", "--out", "there", "--seed", 7, "--jobs", 3, status=1)
    assert asked == {"targets": ["all", EQ7], "quick": True, "out": Path("there"), "seed": 7, "processes": 3}
    assert found[0]["verdict"] == "refuted"
    assert found[0]["certificate"] == "out/certificates/7.json"
    keys = ("id", "verdict", "covered", "tightness", "severity", "evidence", "certificate", "proof", "quick", "sure")
    assert tuple(found[0]) == keys
    assert {"kind", "outcome", "detail", "origin"} <= set(found[0]["evidence"][0])
    assert found[1]["tightness"] is None, "JSON has no infinity"
    result = call("check", "all")
    assert (result.exit_code, result.stderr) == (1, "at work\n")
    lines = [re.split(r"\s{2,}", line) for line in result.stdout.splitlines()]
    assert lines[0] == ["id", "verdict", "origin", "covered", "tightness", "evidence"]
    assert lines[1] == [EQ7, "refuted", "pool", "broken by an instance"]
    assert lines[2] == [EQ8, "supported (no search)", "12 scenarios", "inf", "never broken"]
    assert "certificate: out/certificates/7.json" in result.stdout


@pytest.mark.parametrize(
    ("outcome", "status"), [("holds", 0), ("proved", 0), ("fails", 1), ("undecided", 0), ("refuted", 1), ("vacuous", 1)]
)
def test_check_fails_like_a_test_runner(outcome: Any, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 also for a break without a certificate, which comes first in its row."""
    path = "7.json" if outcome == "refuted" else None
    result = verdict.decide(EQ7, [verdict.Evidence("exact", outcome, "found")], path)
    monkeypatch.setattr(import_module("validate.checking"), "check_all", lambda targets, **options: [result])
    shown = call("check", EQ7)
    assert shown.exit_code == call("check", EQ7, "--json").exit_code == status
    assert ("undecided: broken" in shown.stdout) == (outcome == "fails")
    assert ("broken, no certificate: found" in shown.stdout) == (outcome == "fails")


def test_an_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_all(targets: list[str], **options: Any) -> list[verdict.Result]:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("validate.checking"), "check_all", check_all)
    result = call("check", EQ7)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("ids", [[], [EQ8], [EQ8, EQ7]])
def test_an_interruption_leaves_what_was_checked(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the claims, as a whole document."""

    def check_all(targets: list[str], *, finished: Any, **options: Any) -> list[verdict.Result]:
        for id in ids:
            finished(verdict.decide(id, [verdict.Evidence("exact", "holds", "not broken")]))
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("validate.checking"), "check_all", check_all)
    result = call("check", EQ7, EQ8, "--json")
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")
    assert [one["id"] for one in json.loads(result.stdout)] == [id for id in (EQ7, EQ8) if id in ids]


def test_report_and_reproduce_pass_their_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def write(papers: list[str] | None, **options: Any) -> Path:
        asked.append({"papers": papers, **options})
        return Path(options["out"]) / "index.html"

    def reproduce(**options: Any) -> None:
        asked.append(options)

    monkeypatch.setattr(import_module("validate.report"), "write", write)
    experiments = import_module("validate.experiments")
    monkeypatch.setattr(experiments, "reproduction", lambda name: reproduce)
    assert call("report", "--out", "there").stdout.strip() == str(Path("there") / "index.html")
    assert call("report", "perm", "--quick", "--processes", 3).exit_code == 0
    assert call("reproduce", "open-fl", "--quick", "--seed", 3).exit_code == 0
    assert [call.pop("progress") is not None for call in asked] == [True] * 3
    assert asked == [
        {"papers": None, "stores": (), "quick": False, "out": Path("there"), "processes": None, "repair": None},
        {"papers": ["perm"], "stores": (), "quick": True, "out": Path("report"), "processes": 3, "repair": None},
        {"out": Path("fedproof-out"), "quick": True, "seed": 3},
    ]
    monkeypatch.setattr(experiments, "reproduction", lambda name: None)
    assert "no experiments" in complaint(call("reproduce", "open-fl"))


def test_verify_says_which_certificates_hold(folder: Path) -> None:
    one = {**SPEC, "clients": [{"h": ["1"], "a": ["0"], "p": "1"}], "S": 8, "K": 1, "theta0": "1"}
    good = json.loads(certify(EQ7, one, folder).read_text(encoding="utf-8"))
    assert (good["left"], good["right"]) == ("1", "30037/32768")
    (folder / "good.json").write_text(json.dumps(good), encoding="utf-8")
    (folder / "bad.json").write_text(json.dumps({**good, "right": "1/2"}), encoding="utf-8")
    held = call("verify", "good.json")
    assert held.exit_code == 0, held.output
    assert held.stdout.splitlines()[-1].startswith("VALID")
    assert held.stdout.splitlines()[0].startswith("good.json: compared with the catalogue: statement, definitions,")
    failed = call("verify", "good.json", "bad.json")
    assert failed.exit_code == 1
    assert failed.stdout.splitlines()[-1] == "INVALID"
    unreadable = call("verify", "missing.json", "bad.json", "good.json")
    assert unreadable.exit_code == 2
    assert unreadable.stdout.splitlines()[-1].startswith("VALID")


def test_what_the_absence_of_z3_costs_is_said_before_all(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = "claims that are vacuous may be called undecided"
    monkeypatch.setattr(import_module("validate.checking"), "check_all", lambda targets, **options: fake_results())
    monkeypatch.setattr(import_module("validate.report"), "write", lambda papers, **options: Path("index.html"))
    calls = (["check", EQ7], ["check", EQ7, "--json"], ["report", "--quick"], ["feasible", "textbook/young"])
    for words in calls:
        assert cost not in call(*words).stderr
    assert printed("doctor", "--no-self-test")["notes"] == []
    monkeypatch.setitem(sys.modules, "z3", None)
    for words in calls:
        result = call(*words)
        assert cost in result.stderr.splitlines()[0]
        assert cost not in result.stdout
    (note,) = printed("doctor", "--no-self-test")["notes"]
    assert cost in note
    assert f"note: {note}" in call("doctor", "--no-self-test").stdout


def test_doctor_sees_a_package_of_the_same_name(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(doctor, "HOME", folder)
    monkeypatch.setattr(
        doctor.importlib.metadata, "packages_distributions", lambda: {"sim": ["fedproof", "simulators"]}
    )
    found = printed("doctor", "--no-self-test", status=1)["clashes"]
    assert len([clash for clash in found if "`import theory` finds" in clash]) == 1
    assert any("simulators" in clash for clash in found)
    assert "environment of its own" in call("doctor", "--no-self-test").stdout


def test_a_paper_names_the_module_of_its_experiments() -> None:
    from theory import Paper, catalog
    from validate.experiments import reproduction

    assert reproduction("textbook") is None
    run = reproduction("open-fl")
    assert run is not None
    assert run.__self__.paper == "open-fl"
    for module, words in (("nowhere.at_all", "cannot be imported"), ("json", "no function reproduce")):
        with catalog.forgetting():
            catalog.add(Paper("ours", "", "", (), experiments=module))
            with pytest.raises(ValueError, match=words):
                reproduction("ours")
