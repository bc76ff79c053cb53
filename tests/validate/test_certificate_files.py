"""Certificates on disk, and the verifier beside them in a bare interpreter."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.validate.known_certificates import CERTIFICATES
from tests.validate.test_verifier_adam import CONTRACTED, CONTRACTION, SHORT
from tests.validate.test_verifier_chain import CHAINS
from tests.validate.test_verifier_chain import CLAIM as CHAIN_CLAIM
from tests.validate.test_verifier_finite import FINITE
from validate import certificate as certificates
from validate import verifier

PACKAGE = Path(verifier.__file__).parent
NEW = {"lemma-5": CONTRACTED, "eq22": SHORT, **CHAINS, **FINITE}
ALL = {**{name.replace(" ", "-"): made for name, made in CERTIFICATES.items()}, **NEW}


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
    path = certificates.write(CERTIFICATES["known"], tmp_path / "new")
    assert path.name == "fedavg-svrg.theorem-v1-eq7.json"
    assert certificates.read(path) == CERTIFICATES["known"]
    assert certificates.verify(path).valid
    program, elsewhere = path.parent / "verify.py", tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = bare(program, path, folder=elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 <= 30037/32768 is false" in done.stdout
    others = [certificates.write(made, path.parent, name) for name, made in ALL.items()]
    done = bare("verify.py", *(other.name for other in others), folder=path.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\nVALID for the claim as printed above: compare it with your paper") == len(others)

    false = tmp_path / "false.json"
    false.write_text(json.dumps({**CERTIFICATES["known"], "left_value": "2"}), encoding="utf-8")
    done = bare(program, false)
    assert done.returncode == 1
    assert "FAIL  left_value is 1, not 2 as printed" in done.stdout
    assert bare(program, false, path).returncode == 1
    assert bare(program).returncode == 2
    assert not list(path.parent.rglob("__pycache__"))


def test_a_claim_may_have_any_label(tmp_path: Path) -> None:
    """A break is certified whatever its claim is called, and no two claims share a file."""
    known = CERTIFICATES["known"]
    labels = ("a lost factor", "a_lost_factor", "a-lost factor", "é/(7)", "../up", "long" * 100)
    paths = [certificates.write({**known, "claim": f"paper/{label}"}, tmp_path) for label in labels]
    assert len(set(paths)) == len(labels)
    assert {path.parent for path in paths} == {tmp_path}
    assert all(verifier.verify(verifier.load(str(path))).valid for path in paths)


def test_the_folder_can_be_moved_and_holds_nothing_else(tmp_path: Path) -> None:
    certificates.write(CHAINS["rational"], tmp_path / "one")
    shutil.move(tmp_path / "one", tmp_path / "moved")
    folder = tmp_path / "moved"
    assert {path.name for path in folder.iterdir()} == {
        "open-fl.definition-1.for-all-time.json",
        "verify.py",
        "verifier",
    }
    copied = {path.name: path.read_bytes() for path in (folder / "verifier").iterdir()}
    assert copied == {p.name: p.read_bytes() for p in PACKAGE.glob("*.py") if p.name != "launcher.py"}
    assert bare(folder / "verify.py", folder / "open-fl.definition-1.for-all-time.json").returncode == 0


def test_no_other_file_takes_the_place_of_a_module(tmp_path: Path) -> None:
    """Not one of the standard library's names beside the launcher, nor a module `verifier` in the current folder."""
    path = certificates.write(FINITE["larger"], tmp_path)
    for name in ("json.py", "fractions.py", "verifier.py", "reading.py", "chain.py"):
        (tmp_path / name).write_text("raise SystemExit(7)\n", encoding="utf-8")
    assert bare("verify.py", path, folder=tmp_path).returncode == 0


def test_an_older_copy_is_replaced(tmp_path: Path) -> None:
    certificates.write(FINITE["larger"], tmp_path)
    package = tmp_path / "verifier"
    (package / "chain.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    (package / "gone.py").write_text("", encoding="utf-8")
    (package / "notes.txt").write_text("a reader's own", encoding="utf-8")
    (tmp_path / "verify.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    unchanged = package / "finite.py"
    os.utime(unchanged, (1, 1))
    path = certificates.write(CHAINS["rational"], tmp_path)
    assert bare(tmp_path / "verify.py", path).returncode == 0
    assert not (package / "gone.py").exists()
    assert (package / "notes.txt").exists()  # only modules are cleared away
    assert unchanged.stat().st_mtime == 1
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: certificates.chain_certificate(CHAIN_CLAIM, {}, 1, 1, 1, 1, {}, 1, 1), "exactly one"),
        (
            lambda: certificates.chain_certificate(CHAIN_CLAIM, {}, 1, 1, 1, 1, {}, 1, 1, R=1, R2=1),
            "exactly one",
        ),
        (lambda: certificates.finite_certificate(CHAIN_CLAIM, [{"p": 0.5, "x": [], "weights": []}], 1, 1), "p=0.5"),
        (
            lambda: certificates.open_adam_certificate(
                CONTRACTION, dict.fromkeys(("eta", "beta1", "beta2", "eps"), 1), [], 0, 1, [0], 0, {"lyapunov": 1}, 1, 1
            ),
            "lyapunov",
        ),
        (lambda: certificates.open_adam_certificate(CHAIN_CLAIM, {}, [], 0, 1, [0], 0, {}, 1, 1), "no right side"),
        (lambda: certificates.as_decimal(float("nan"), "x"), "x=nan is not a finite number"),
        (lambda: certificates.as_decimal("1/0", "x"), "x='1/0'"),
        (lambda: certificates.as_decimal(1e-38, "x"), "more than 40 decimals"),
    ],
)
def test_bad_arguments_of_the_new_builders(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[" * 100_000,
        b'{"format": "fedproof-certificate-1", "format": "fedproof-certificate-1"}',
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
