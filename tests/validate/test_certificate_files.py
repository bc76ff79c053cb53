"""Certificates on disk, and the verifier beside them in a bare interpreter."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from tests.validate import known_plays as known
from tests.validate.tampering import json_values, verdict
from validate import certificate as certificates
from validate import verifier

PACKAGE = Path(verifier.__file__).parent
MADE = {label: known.certificate(label) for label in ("lost-factor", "fedavg-stays", "wrong-way", "unit-steps")}
ONE, OTHER = MADE["lost-factor"], MADE["wrong-way"]


def bare(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program in a Python without site-packages and environment, run from another folder than its own."""
    command = [sys.executable, "-I", "-S", "-W", "error", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


def test_the_verifier_needs_the_standard_library_only() -> None:
    modules = sorted(PACKAGE.glob("*.py"))
    assert len(modules) > 10
    names = {path.stem for path in modules}
    for path in modules:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                if node.level == 1:
                    assert node.module in names, path
                else:
                    imported.add(str(node.module))
        assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names, path
        called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not called & {"eval", "exec", "compile", "__import__"}, path
        assert len(path.read_text(encoding="utf-8").splitlines()) < 350, path


def test_written_certificates_are_checked_by_a_bare_python(tmp_path: Path) -> None:
    path = certificates.write(ONE, tmp_path / "new")
    assert path.name == "known.lost-factor.json"
    assert certificates.read(path) == ONE
    assert certificates.verify(path).valid
    program, elsewhere = path.parent / "verify.py", tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = bare(program, path, folder=elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the left side is 9633/262144" in done.stdout
    others = [certificates.write(made, path.parent, name) for name, made in MADE.items()]
    done = bare("verify.py", *(other.name for other in others), folder=path.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\nVALID for the claim as it stands above: compare it with your paper") == len(others)

    false = tmp_path / "false.json"
    false.write_text(json.dumps({**ONE, "left": "2"}), encoding="utf-8")
    done = bare(program, false)
    assert done.returncode == 1
    assert "FAIL  the left side is 9633/262144, not as printed" in done.stdout
    assert bare(program, false, path).returncode == 1
    assert bare(program).returncode == 2
    assert not list(path.parent.rglob("__pycache__"))


def test_the_claim_is_printed_first_and_the_checks_after_it() -> None:
    report = verifier.verify(ONE)
    assert "E(norm2(x[k] - xstar)) <=" in report.claimed[0]
    assert not any(line.startswith(("ok", "FAIL")) for line in report.claimed)
    assert all(line.startswith("ok") for line in report.lines)
    assert str(report).splitlines() == [*report.claimed, *report.lines, report.verdict]


def test_a_claim_may_have_any_label(tmp_path: Path) -> None:
    """A break is certified whatever its claim is called, and no two claims share a file."""
    labels = ("a lost factor", "a_lost_factor", "a-lost factor", "é/(7)", "../up", "long" * 100)
    paths = [certificates.write({**OTHER, "claim": f"paper/{label}"}, tmp_path) for label in labels]
    assert len(set(paths)) == len(labels)
    assert {path.parent for path in paths} == {tmp_path}
    assert all(verifier.verify(verifier.load(str(path))).valid for path in paths)


def test_the_folder_can_be_moved_and_holds_nothing_else(tmp_path: Path) -> None:
    certificates.write(OTHER, tmp_path / "one")
    shutil.move(tmp_path / "one", tmp_path / "moved")
    folder = tmp_path / "moved"
    assert {path.name for path in folder.iterdir()} == {"known.wrong-way.json", "verify.py", "verifier"}
    copied = {path.name: path.read_bytes() for path in (folder / "verifier").iterdir()}
    assert copied == {p.name: p.read_bytes() for p in PACKAGE.glob("*.py") if p.name != "launcher.py"}
    assert bare(folder / "verify.py", folder / "known.wrong-way.json").returncode == 0


def test_no_other_file_takes_the_place_of_a_module(tmp_path: Path) -> None:
    """Not one of the standard library's names beside the launcher, nor a module `verifier` in the current folder."""
    path = certificates.write(OTHER, tmp_path)
    for name in ("json.py", "fractions.py", "verifier.py", "reading.py", "playing.py"):
        (tmp_path / name).write_text("raise SystemExit(7)\n", encoding="utf-8")
    assert bare("verify.py", path, folder=tmp_path).returncode == 0


def test_an_older_copy_is_replaced(tmp_path: Path) -> None:
    certificates.write(OTHER, tmp_path)
    package = tmp_path / "verifier"
    (package / "playing.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    (package / "gone.py").write_text("", encoding="utf-8")
    (package / "notes.txt").write_text("a reader's own", encoding="utf-8")
    (tmp_path / "verify.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    unchanged = package / "still.py"
    os.utime(unchanged, (1, 1))
    path = certificates.write(ONE, tmp_path)
    assert bare(tmp_path / "verify.py", path).returncode == 0
    assert not (package / "gone.py").exists()
    assert (package / "notes.txt").exists()  # only modules are cleared away
    assert unchanged.stat().st_mtime == 1
    assert not list(tmp_path.rglob(".*"))


def test_only_valid_certificates_are_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the left side is 9633/262144"):
        certificates.write({**ONE, "left": "2"}, tmp_path)
    for name in ("", "../x", "a/b", ".hidden", "a b"):
        with pytest.raises(ValueError, match="file name"):
            certificates.write(ONE, tmp_path, name)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="not a certificate"):
        certificates.read(tmp_path / "list.json")


@pytest.mark.parametrize(
    ("value", "message"),
    [("1/0", "x='1/0' divides by zero"), (True, "x=True is not exact"), (0.5, "x=0.5"), (10**4000, "4000 digits")],
)
def test_numbers_are_exact_and_not_endless(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certificates.as_text(value, "x")


@given(json_values)
@settings(max_examples=60, deadline=None)
@example({"format": verifier.FORMAT, "kind": "play"})
@example({"format": verifier.FORMAT, "kind": ["play"]})
@example({"format": verifier.FORMAT, "kind": "instance"})
@example({"format": "fedproof-certificate-1", "kind": "play"})
def test_random_json_is_malformed(value: Any) -> None:
    assert verdict(value) == "malformed"


@pytest.mark.parametrize("name", MADE)
def test_every_field_is_needed_and_no_other_is_read(name: str) -> None:
    made = MADE[name]
    optional = {"origin", "quick", "domains", "standing", "over", "xstar", "xstar_n", "by", "note"}
    for field in set(made) - optional:
        assert verdict({key: value for key, value in made.items() if key != field}) == "malformed", field
    assert verdict({**made, "proof": "trust me"}) == "malformed"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[" * 100_000,
        b'{"format": "fedproof-certificate-2", "format": "fedproof-certificate-2"}',
        b'{"format": NaN}',
        b"9" * 5000,
        b'"\\ud800"',
        b" " * (verifier.MAX_BYTES + 1),
    ],
    ids=["empty", "not utf-8", "cut", "deep", "twice", "nan", "long", "surrogate", "large"],
)
def test_unreadable_files_are_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert verifier.main([str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("malformed: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.out + printed.err


def test_missing_files_and_directories_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verifier.main([str(tmp_path)]) == 2
    assert verifier.main([str(tmp_path / "no.json")]) == 2
    assert verifier.main(["--help"]) == 2
    assert capsys.readouterr().out == ""
