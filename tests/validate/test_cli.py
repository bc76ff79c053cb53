"""The command line: its contract in JSON, its exit statuses, and one clear error for every bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import validate.check
import validate.papers
import validate.report
from theory import claims
from validate import verdict
from validate.cli import app
from validate.commands import doctor
from validate.commands.output import plain

EQ7 = "fedavg-svrg/theorem-v1-eq7"
EQ8 = "fedavg-svrg/theorem-v1-eq8"
EQ14 = "fedavg-svrg/lemma-v1-eq14"
SETTINGS = ["L=2", "delta=0.01", "S=5", "M=2", "K=100", "G2=3", "f0_gap=7", "mean_inv_p=13/3"]
SPEC: dict[str, Any] = {
    "algorithm": "fedavg-svrg",
    "clients": [{"h": ["1"], "a": ["0"], "p": "1/2"}],
    "step": "1/2",
    "S": 1,
    "M": 1,
    "K": 2,
    "theta0": "4",
}


def call(*arguments: object, given: str | None = None) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


def printed(*arguments: object, given: str | None = None, status: int = 0) -> Any:
    """The JSON on stdout of a command that ends with `status`."""
    result = call(*arguments, "--json", given=given)
    assert result.exit_code == status, result.stderr

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(result.stdout, parse_constant=refuse)


def assigned(*assignments: str) -> list[str]:
    """As options of `bound`."""
    return [word for assignment in assignments for word in ("--set", assignment)]


def changed(**entries: object) -> str:
    """SPEC as text, with other entries; None leaves one out."""
    spec = {**SPEC, **entries}
    return json.dumps({name: value for name, value in spec.items() if value is not None})


def client(**entries: object) -> list[dict[str, object]]:
    """The one client of SPEC, with other entries."""
    return [{**SPEC["clients"][0], **entries}]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with SPEC in spec.json."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.json").write_text(changed(), encoding="utf-8")
    return tmp_path


def complaint(result: Result) -> str:
    """The one line on stderr of a command that refused its input."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


BAD_ARGUMENTS: list[tuple[list[str], str]] = [
    (["bond"], "Did you mean 'bound'"),
    (["--nonsense"], "--nonsense"),
    (["claims", "--paper", "fedavg"], "did you mean 'fedavg-svrg'"),
    (["claims", "surplus"], "surplus"),
    (["show"], "ID"),
    (["show", "fedavg-svrg/theorem-v1-eq9"], "did you mean 'fedavg-svrg/theorem-v1-eq"),
    (["bound"], "ID"),
    (["bound", "nonsense"], "unknown claim 'nonsense'"),
    (["bound", "fedavg-svrg/lemma-v1"], "no right side"),
    (["bound", "fedavg-svrg/eq-a19"], EQ8),
    (["bound", EQ8], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:])], "L"),
    (["bound", EQ8, *assigned(*SETTINGS, "M=2")], "twice"),
    (["bound", EQ8, *assigned(*SETTINGS, "mu=1")], "mu"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L")], "name=value"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=")], "name=value"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=0")], "(0, inf)"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=nan")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=1e999999")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=1,2")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=__import__('os')")], "L"),
    (["bound", EQ8, *assigned(*SETTINGS[1:], "L=sqrt(L)")], "L"),
    (["bound", EQ8, *assigned(*(s for s in SETTINGS if s[0] != "K"), "K=-3")], "K=-3"),
    (["bound", EQ8, *assigned(*(s for s in SETTINGS if s[0] != "d"), "delta=-1/8")], "delta=-1/8"),
    (["moments"], "SPEC.json"),
    (["moments", "missing.json"], "missing.json: No such file"),
    (["moments", "."], ".: Is a directory"),
    (["check"], "TARGET"),
    (["check", "nonsense"], "nonsense"),
    (["check", EQ8, "fedavg-svrg/nonsense"], "unknown claim"),
    (["check", EQ8, "--seed", "-1"], "--seed"),
    (["verify"], "CERTIFICATE"),
    (["verify", "missing.json"], "missing.json"),
    (["verify", "spec.json"], "format"),
    (["report", "nonsense"], "unknown paper"),
    (["reproduce"], "PAPER"),
    (["reproduce", "nonsense"], "unknown paper"),
    (["reproduce", "fedavg-svrg", "--seed", "one"], "--seed"),
    (["simulate"], "SPEC.json"),
    (["simulate", "missing.json"], "missing.json: No such file"),
    (["simulate", "spec.json", "--runs", "0"], "--runs"),
    (["simulate", "spec.json", "--seed", "-1"], "--seed"),
    (["simulate", "spec.json", "--seed", str(2**64)], "seed"),
    (["simulate", "spec.json", "--block", "0"], "--block"),
    (["simulate", "spec.json", "--device", "abacus"], "abacus"),
    (["simulate", "spec.json", "--metric", "nonsense"], "nonsense"),
    (["simulate", "spec.json", "--resume"], "--out"),
    (["doctor", "surplus"], "surplus"),
]


@pytest.mark.parametrize(
    ("arguments", "fragment"), BAD_ARGUMENTS, ids=[" ".join(words)[:60] for words, _ in BAD_ARGUMENTS]
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str], fragment: str) -> None:
    assert fragment in complaint(call(*arguments))


BAD_SPECS: list[tuple[str, str]] = [
    ("", "not JSON"),
    ('{"algorithm": ', "line 1, column"),
    ("[" * 100_000, "nested too deeply"),
    ("[1]", "object"),
    ("{}", "algorithm"),
    (changed(algorithm="nonsense"), "local-sgd"),
    (changed(surplus=1), "surplus"),
    (changed(step=None), "step"),
    (changed(step="0"), "step"),
    (changed(step="-1/5"), "step"),
    (changed(step=float("nan")), "step"),
    (changed(step=["1/5"]), "K=2"),
    (changed(S=0), "S=0"),
    (changed(M=1.5), "M=1.5"),
    (changed(K=-1), "K=-1"),
    (changed(theta0="1/0"), "theta0"),
    (changed(theta0=True), "theta0"),
    (changed(empty="perhaps"), "perhaps"),
    (changed(aggregation="perhaps"), "perhaps"),
    (changed(clients=[]), "clients"),
    (changed(clients=[3]), "clients[0]"),
    (changed(clients=client(h=["1", "2"])), "clients[0]"),
    (changed(clients=client(h=[], a=[])), "clients[0]"),
    (changed(clients=client(surplus=1)), "surplus"),
    (changed(clients=client(h=["inf"])), "clients[0].h"),
    (changed(clients=client(p="0")), "(0, 1]"),
    (changed(clients=client(p="3/2")), "(0, 1]"),
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
    science = ["claims", "show", "bound", "moments", "check", "verify", "report", "reproduce", "simulate"]
    assert commands == [*science, "doctor"]
    for command in commands:
        assert f"Example: fedproof {command}" in " ".join(call(command, "--help").stdout.split())


def test_an_unexpected_error_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> dict[str, str]:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(doctor, "versions", broken)
    result = call("doctor")
    assert isinstance(result.exception, ZeroDivisionError)


def test_verbose_shows_where_an_error_came_from() -> None:
    done = subprocess.run([command(), "-v", "moments", "missing.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1] == "error: missing.json: No such file or directory"


def command() -> str:
    """The installed console script."""
    found = shutil.which("fedproof", path=str(Path(sys.executable).parent))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["claims", "--json"], {"torch", "cvxpy", "matplotlib", "sympy", "flint", "rich", "scipy"}),
        (["show", EQ8], {"torch", "cvxpy", "matplotlib", "sympy"}),
        (["bound", EQ8, *assigned(*SETTINGS), "--rigorous"], {"torch", "cvxpy", "matplotlib"}),
        (["--version"], {"torch", "cvxpy", "matplotlib", "sympy", "numpy", "rich"}),
        (["--help"], {"torch", "cvxpy", "matplotlib", "sympy", "rich"}),
    ],
    ids=["claims", "show", "bound", "version", "help"],
)
def test_light_commands_load_no_heavy_packages(arguments: list[str], absent: set[str]) -> None:
    code = (
        "import sys\nfrom validate.cli import app\n"
        f"status = app({arguments!r}, standalone_mode=False)\n"
        "print(status, *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, *names = done.stderr.splitlines()[-1].split()
    assert status == "0"
    assert not absent & set(names)


def test_a_reader_that_stops_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([command(), "claims"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_claims_lists_all_with_what_the_contract_names(folder: Path) -> None:
    rows = printed("claims")
    assert [row["id"] for row in rows] == [claim.id for claim in claims()]
    row = next(row for row in rows if row["id"] == EQ8)
    assert row == {
        "id": EQ8,
        "kind": "theorem",
        "equation": "(8)",
        "quantity": "mean_squared_gradient_norm",
        "has_bound": True,
        "amends": None,
        "verdict": None,
    }
    assert printed("claims", "--paper", "fedavg-svrg") == [row for row in rows if row["id"].startswith("fedavg-svrg/")]
    lines = call("claims").stdout.splitlines()
    assert len(lines) == 1 + len(rows)
    assert lines[0].split() == ["id", "kind", "equation", "quantity", "bound", "amends", "verdict"]


def test_claims_shows_the_verdicts_that_check_left(folder: Path) -> None:
    (folder / "fedproof-out").mkdir()
    left = folder / "fedproof-out" / "verdicts.json"
    left.write_text(json.dumps([{"id": EQ7, "verdict": "refuted"}]), encoding="utf-8")
    verdicts = {row["id"]: row["verdict"] for row in printed("claims")}
    assert (verdicts[EQ7], verdicts[EQ8]) == ("refuted", None)
    assert {row["verdict"] for row in printed("claims", "--out", "elsewhere")} == {None}
    left.write_text("{}}", encoding="utf-8")
    assert "verdicts.json" in complaint(call("claims"))


@pytest.mark.parametrize("claim_id", [claim.id for claim in claims()])
def test_show_prints_every_claim(claim_id: str) -> None:
    shown = printed("show", claim_id)
    assert shown["id"] == claim_id
    assert {"statement", "hypotheses", "parameters", "steps", "source", "latex"} <= set(shown)
    text = call("show", claim_id)
    assert text.exit_code == 0
    assert text.stdout.startswith(f"{claim_id}: ")
    for parameter in shown["parameters"]:
        assert f"\n  {parameter['name']} in {parameter['domain']}" in text.stdout
    formulas = call("show", claim_id, "--latex")
    assert formulas.stdout.splitlines()[0] == shown["latex"].splitlines()[0]


def test_bound_in_json() -> None:
    found = printed("bound", EQ8, *assigned(*SETTINGS))
    assert set(found) == {"id", "value", "lower", "upper", "parameters", "hypotheses", "terms"}
    exact = Fraction(14, 10) + Fraction(12, 10_000) + Fraction(26, 10)
    assert found["value"] == pytest.approx(float(exact), rel=1e-14)
    assert (found["lower"], found["upper"]) == (None, None)
    assert found["parameters"]["mean_inv_p"] == "13/3"
    assert sum(found["terms"].values()) == pytest.approx(float(exact), rel=1e-14)
    assert all(set(entry) == {"name", "holds"} for entry in found["hypotheses"])


def test_a_rigorous_bound_encloses_the_exact_value() -> None:
    settings = [s for s in SETTINGS if not s.startswith("delta")] + ["delta=1/sqrt(K*2)"]
    found = printed("bound", EQ8, *assigned(*settings), "--rigorous")
    # with delta^2 = 1/200: (value - 4*3/200)^2 = (14/1000 sqrt(200) + 260/sqrt(200))^2, which is rational
    lower, upper = (Fraction(found[end]) - Fraction(12, 200) for end in ("lower", "upper"))
    square = Fraction(14, 1000) ** 2 * 200 + 2 * Fraction(14, 1000) * 260 + Fraction(260**2, 200)
    assert lower**2 <= square <= upper**2
    assert upper - lower < Fraction(1, 10**15)


def test_bound_for_a_reader() -> None:
    result = call("bound", EQ8, *assigned(*SETTINGS), "--rigorous")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{EQ8} = 4.00")
    assert "enclosed in [4.0" in result.stdout
    assert "noise_term = 2.6\n" in result.stdout


@pytest.mark.parametrize("as_json", [True, False])
def test_a_violated_hypothesis_is_status_3_with_the_value(as_json: bool) -> None:
    settings = ["mu=3", "L=2", "delta=1/8", "M=100", "K=10", "D=1", "f0_gap=1", "sum_inv_p=2", "N=2"]
    result = call("bound", EQ14, *assigned(*settings), *["--json"] * as_json)
    assert result.exit_code == 3
    assert "smoothness over strong convexity" in result.stderr
    if as_json:
        found = json.loads(result.stdout)
        assert isinstance(found["value"], float)
        holds = {entry["name"]: entry["holds"] for entry in found["hypotheses"]}
        assert holds["smoothness over strong convexity"] is False
        assert holds["step size"] is True
    else:
        assert "hypothesis smoothness over strong convexity: VIOLATED" in result.stdout


def test_exact_moments_of_an_instance_done_by_hand() -> None:
    # f = t^2/2, one step of 1/2, p = 1/2: theta' = theta (1 - 1_n), so theta^k = 4 with probability 2^-k and else 0
    found = printed("moments", "spec.json", "--exact")
    assert found == {
        "algorithm": "fedavg-svrg",
        "K": 2,
        "mean": ["4", "2", "1"],
        "second_moment": ["16", "8", "4"],
        "squared_gradient_norm": ["16", "8", "4"],
        "suboptimality": ["8", "4", "2"],
        "drift_sum": "0",
        "weighted_sum": "48",
        "lexicographic_drift_sum": "0",
    }
    floats = printed("moments", "-", given=changed())
    assert floats["second_moment"] == pytest.approx([16, 8, 4])
    assert all(isinstance(value, float) for value in floats["mean"])
    assert floats["weighted_sum"] == pytest.approx(48)
    table = call("moments", "spec.json", "--exact").stdout.splitlines()
    assert table[1].split() == ["0", "4", "16", "16", "8"]
    assert table[-2] == "weighted_sum = 48"


def test_moments_of_local_sgd_and_of_no_rounds() -> None:
    spec = changed(algorithm="local-sgd", S=None, M=None, local_steps=2, step="1/4", aggregation="normalised")
    assert printed("moments", "-", "--exact", given=spec)["mean"][1] == str(4 * (1 + Fraction(9, 16)) / 2)
    none = printed("moments", "-", "--exact", given=changed(K=0))
    assert (none["mean"], none["weighted_sum"]) == (["4"], "0")


def test_fractions_of_any_length_are_printed() -> None:
    before = sys.get_int_max_str_digits()
    clients = client(h=["1/3", f"1/{10**40 + 1}"], a=["1/7", "0"])
    found = printed("moments", "-", "--exact", given=changed(clients=clients, K=40))
    assert len(found["second_moment"][-1]) > before
    assert sys.get_int_max_str_digits() == before


def fake_results() -> list[verdict.Result]:
    """One refuted and one supported."""
    broken = verdict.Evidence("certificate", "refuted", "broken by an instance", data={"left": np.float64(2)})
    fine = verdict.Evidence("exact", "holds", "never broken", tightness=float("inf"))
    return [
        verdict.decide(EQ7, [broken], "out/certificates/7.json"),
        verdict.decide(EQ8, [verdict.Evidence("hypotheses", "holds", "they hold together"), fine]),
    ]


def test_check_prints_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def check_all(targets: list[str], **options: Any) -> list[verdict.Result]:
        options.pop("progress")("at work")
        asked.update(options, targets=targets)
        return fake_results()

    monkeypatch.setattr(sys.modules["validate.check"], "check_all", check_all)
    found = printed("check", "all", EQ7, "--quick", "--out", "there", "--seed", 7, status=1)
    assert asked == {"targets": ["all", EQ7], "quick": True, "out": Path("there"), "seed": 7}
    assert found[0]["verdict"] == "refuted"
    assert found[0]["certificate"] == "out/certificates/7.json"
    assert set(found[0]) == {"id", "verdict", "tightness", "evidence", "certificate"}
    assert found[1]["tightness"] is None, "JSON has no infinity"
    result = call("check", "all")
    assert (result.exit_code, result.stderr) == (1, "at work\n")
    assert f"{EQ8}  supported  inf        never broken" in result.stdout
    assert "certificate: out/certificates/7.json" in result.stdout


@pytest.mark.parametrize(
    ("outcome", "status"), [("holds", 0), ("proved", 0), ("fails", 0), ("undecided", 0), ("refuted", 1), ("vacuous", 1)]
)
def test_check_fails_like_a_test_runner(outcome: Any, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = verdict.decide(EQ7, [verdict.Evidence("exact", outcome, "found")])
    monkeypatch.setattr(sys.modules["validate.check"], "check_all", lambda targets, **options: [result])
    assert call("check", EQ7).exit_code == status


def test_an_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_all(targets: list[str], **options: Any) -> list[verdict.Result]:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["validate.check"], "check_all", check_all)
    result = call("check", EQ7)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_report_and_reproduce_pass_their_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def write(papers: list[str] | None, **options: Any) -> Path:
        asked.append({"papers": papers, **options})
        return Path(options["out"]) / "index.html"

    class Experiments:
        @staticmethod
        def reproduce(**options: Any) -> None:
            asked.append(options)

    monkeypatch.setattr(validate.report, "write", write)
    monkeypatch.setattr(validate.papers, "module", lambda name: Experiments)
    assert call("report", "--out", "there").stdout.strip() == str(Path("there") / "index.html")
    assert call("report", "fedavg-svrg", "--quick").exit_code == 0
    assert call("reproduce", "fedavg-svrg", "--quick", "--seed", 3).exit_code == 0
    assert [call.pop("progress") is not None for call in asked] == [True] * 3
    assert asked == [
        {"papers": None, "quick": False, "out": Path("there")},
        {"papers": ["fedavg-svrg"], "quick": True, "out": Path("report")},
        {"out": Path("fedproof-out"), "quick": True, "seed": 3},
    ]
    monkeypatch.setattr(validate.papers, "module", lambda name: None)
    assert "no experiments" in complaint(call("reproduce", "fedavg-svrg"))


def certificate() -> dict[str, Any]:
    """Equation (7) at f = t^2/2, one client, S=8, M=1, delta=1/2, K=1: 1 <= 30037/32768."""
    instance = {**SPEC, "clients": [{"h": ["1"], "a": ["0"], "p": "1"}], "S": 8, "K": 1, "theta0": "1"}
    squares = [Fraction(1, 4**s) for s in range(8)]
    parameters = {
        "delta": "1/2",
        "L": "1",
        "K": "1",
        "S": "8",
        "M": "1",
        "N": "1",
        "f0_gap": "1/2",
        "drift_sum": "0",
        "weighted_sum": str(sum(squares)),
    }
    claim = next(claim for claim in claims() if claim.id == EQ7)
    return {
        "format": "fedproof-certificate-1",
        "kind": "instance",
        "claim": EQ7,
        "statement": claim.statement,
        "relation": claim.relation,
        "left": {"quantity": claim.quantity.name, "index": {}},
        "right": claim.right,
        "definitions": dict(claim.definitions),
        "parameters": parameters,
        "instance": instance,
        "left_value": "1",
        "right_value": "30037/32768",
        "hypotheses": [
            {
                "name": h.name,
                "assumption": type(h.assumption).__name__ if h.assumption else None,
                "relation": h.relation,
            }
            for h in claim.hypotheses
        ],
    }


def test_verify_says_which_certificates_hold(folder: Path) -> None:
    good = certificate()
    (folder / "good.json").write_text(json.dumps(good), encoding="utf-8")
    (folder / "bad.json").write_text(json.dumps({**good, "right_value": "1/2"}), encoding="utf-8")
    held = call("verify", "good.json")
    assert held.exit_code == 0, held.output
    assert held.stdout.splitlines()[-1].startswith("VALID")
    failed = call("verify", "good.json", "bad.json")
    assert failed.exit_code == 1
    assert failed.stdout.splitlines()[-1] == "NOT VALID"
    unreadable = call("verify", "missing.json", "bad.json", "good.json")
    assert unreadable.exit_code == 2
    assert unreadable.stdout.splitlines()[-1].startswith("VALID")


def test_simulate_agrees_with_itself_in_any_blocks(folder: Path) -> None:
    # With p = 1/2 the model is 4 or 0: the mean over 300 runs is a multiple of 4/300 and the draws are the seed's.
    options = ["--runs", 300, "--seed", 5, "--metric", "squared_iterate_norm"]
    whole = printed("simulate", "spec.json", *options)
    blocks = printed("simulate", "spec.json", *options, "--block", 7, "--out", "deep/runs.npz")
    assert blocks["metrics"] == whole["metrics"]
    assert blocks["out"] == str(Path("deep") / "runs.npz")
    assert sorted(path.name for path in (folder / "deep").iterdir()) == ["runs.npz"]
    with np.load(folder / "deep" / "runs.npz") as stored:
        values, settings = stored["squared_iterate_norm"], json.loads(str(stored["settings"]))
        assert stored["final"].shape == (300, 1)
    assert settings["spec"] == SPEC
    assert values.shape == (300, 3)
    metric = whole["metrics"]["squared_iterate_norm"]
    assert metric["mean"] == pytest.approx(values[:, -1].mean())
    assert metric["standard_error"] == pytest.approx(values[:, -1].std(ddof=1) / 300**0.5)
    assert "is finished" in complaint(call("simulate", "spec.json", *options, "--out", "deep/runs.npz"))
    text = call("simulate", "spec.json", "--runs", 1, "--metric", "iterate")
    assert text.stdout.splitlines()[0].split() == ["metric", "mean", "standard", "error"]


def test_a_single_run_has_no_standard_error() -> None:
    found = printed("simulate", "-", "--runs", 1, "--metric", "iterate", given=changed())
    assert found["metrics"]["iterate"]["standard_error"] is None


def test_an_interrupted_simulation_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sim
    from sim.engine import run

    options = ["--runs", 50, "--block", 10, "--out", "runs.npz"]
    asked: list[int] = []

    def stops_at_thirty(*arguments: Any, first_run: int, **more: Any) -> Any:
        if first_run == 30:
            raise KeyboardInterrupt
        return run(*arguments, first_run=first_run, **more)

    def watched(*arguments: Any, first_run: int, **more: Any) -> Any:
        asked.append(first_run)
        return run(*arguments, first_run=first_run, **more)

    monkeypatch.setattr(sim, "run", stops_at_thirty, raising=False)
    stopped = call("simulate", "spec.json", *options)
    assert stopped.exit_code == 130
    assert stopped.stderr.splitlines() == ["30 of 50 runs are kept; go on with --resume", "interrupted"]

    monkeypatch.setattr(sim, "run", watched, raising=False)
    assert "--resume" in complaint(call("simulate", "spec.json", *options))
    (folder / "other.json").write_text(changed(theta0="5"), encoding="utf-8")
    assert "another simulation" in complaint(call("simulate", "other.json", *options, "--resume"))
    assert "another simulation" in complaint(call("simulate", "spec.json", *options, "--seed", 1, "--resume"))
    half = folder / "runs.npz.parts" / "runs-000000010.npz"
    whole = half.read_bytes()
    half.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in complaint(call("simulate", "spec.json", *options, "--resume"))
    half.write_bytes(whole)
    assert asked == []
    resumed = printed("simulate", "spec.json", *options, "--resume")
    assert asked == [30, 40]
    assert resumed["metrics"] == printed("simulate", "spec.json", "--runs", 50)["metrics"]
    assert not (folder / "runs.npz.parts").exists()


def test_a_refused_simulation_leaves_nothing_behind(folder: Path) -> None:
    assert "nonsense" in complaint(call("simulate", "spec.json", "--metric", "nonsense", "--out", "runs.npz"))
    assert [path.name for path in folder.iterdir()] == ["spec.json"]


def test_an_interrupt_signal_keeps_the_finished_blocks(folder: Path) -> None:
    arguments = [command(), "simulate", "spec.json", "--runs", str(10**8), "--block", "20", "--out", "runs.npz"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        parts = folder / "runs.npz.parts"
        while process.poll() is None and len(list(parts.glob("runs-*.npz"))) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (130, "")
    assert "are kept; go on with --resume" in err
    assert "Traceback" not in err


def test_doctor_finds_nothing_wrong_here() -> None:
    found = printed("doctor")
    assert found["clashes"] == []
    assert found["devices"][0].startswith("cpu")
    assert {"numpy", "torch", "z3-solver"} <= set(found["packages"])
    assert found["fedproof"] in call("doctor").stdout.splitlines()[0]


def test_doctor_sees_a_package_of_the_same_name(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(doctor, "HOME", folder)
    monkeypatch.setattr(
        doctor.importlib.metadata, "packages_distributions", lambda: {"sim": ["fedproof", "simulators"]}
    )
    found = printed("doctor", status=1)["clashes"]
    assert len([clash for clash in found if "`import theory` finds" in clash]) == 1
    assert any("simulators" in clash for clash in found)
    assert "environment of its own" in call("doctor").stdout


def test_json_has_no_types_of_its_own() -> None:
    value = {"a": np.array([1.0, np.nan]), "b": (Fraction(1, 3), Fraction(2)), "c": np.int64(3), "d": [True, None, 1.5]}
    assert plain(value) == {"a": [1.0, None], "b": ["1/3", "2"], "c": 3, "d": [True, None, 1.5]}
