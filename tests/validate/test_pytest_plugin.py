"""`assert_claim`, its fixture, and the example of docs/properties.md in a suite of its own."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from validate import ClaimBroken, assert_claim

ROOT = Path(__file__).resolve().parents[2]
DESCENT = "textbook/gradient-descent-linear"
FALSE = "fedavg-svrg/theorem-v1-eq7"
INSTANCE: dict[str, Any] = {
    "parameters": {"eta": "1/4"},
    "problem": {"clients": [[{"h": 1, "a": 0}]]},
    "start": 3,
    "rounds": 3,
}
TOO_LONG = INSTANCE | {"parameters": {"eta": "3/2"}}
BROKEN: dict[str, Any] = {
    "parameters": {"delta": "1/2", "p": 1, "S": 8, "M": 1},
    "problem": {"clients": [[{"h": 1, "a": 0}]]},
    "start": 1,
    "rounds": 1,
}


def test_a_claim_in_a_file_of_ones_own(tmp_path: Path) -> None:
    """Two samples of curvature 1, the step 1/4, from the minimiser: m <- (9/16) m + 1/16."""
    from validate.template import written

    written(tmp_path / "my_paper.py")
    sample = [{"h": "1", "a": "1"}, {"h": "1", "a": "-1"}]
    instance = {"parameters": {"eta": "1/4", "H": 1}, "problem": {"clients": [sample]}, "start": ["0"], "rounds": 3}
    assert assert_claim(f"{tmp_path / 'my_paper.py'}:noise-ball", instance).exact


def test_the_numbers_of_a_long_run_are_shown_short() -> None:
    """Fractions of thousands of digits do not get into the message."""
    far = BROKEN | {"start": "1000/999", "rounds": 9} | {"parameters": BROKEN["parameters"] | {"delta": "249/500"}}
    with pytest.raises(ClaimBroken) as caught:
        assert_claim(FALSE, far)
    assert max(map(len, str(caught.value).splitlines())) < 600


def suite(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a test file in a fresh interpreter, with this plugin and no other."""
    (folder / "test_mine.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "validate.pytest_plugin", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_fixture_passes_fails_and_skips(tmp_path: Path) -> None:
    text = f"""
INSTANCE, BROKEN, TOO_LONG = {INSTANCE!r}, {BROKEN!r}, {TOO_LONG!r}

def test_holds(assert_claim):
    assert assert_claim({DESCENT!r}, INSTANCE).exact

def test_is_broken(assert_claim):
    assert_claim({FALSE!r}, BROKEN)

def test_is_violated(assert_claim):
    assert_claim({DESCENT!r}, TOO_LONG)

def test_is_skipped(assert_claim):
    assert_claim({DESCENT!r}, TOO_LONG, on_violation="skip")
"""
    done = suite(tmp_path, text, "-rs")
    assert done.returncode == 1, done.stderr
    assert "2 failed, 1 passed, 1 skipped" in done.stdout
    assert f"ClaimBroken: {FALSE} " in done.stdout
    assert "right side: 30037/32768" in done.stdout
    assert re.search(r"SKIPPED.*violates 'eta <= 1/L'", done.stdout)


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
    (example,) = re.findall(r'```python title="test_my_assumptions.py"\n(.*?)```', page, re.S)
    done = suite(tmp_path, example)
    assert done.returncode == 0, done.stdout
    assert f"{len(re.findall('^def test_', example, re.M))} passed" in done.stdout


def test_the_other_code_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, "docs/properties.md", "exec"), found)
    assert found["found"]["L_client"].shown.endswith("(seen)")
    assert (found["both"].left[0], str(found["both"].right[0])) == (1, "30037/32768")
    assert (found["both"].broken[0], found["both"].parameters["S"]) == (True, 8)
    assert str(found["both"].tightness) in page
    assert found["certificate"].verify(found["path"]).verdict in page


def test_the_plugin_starts_with_the_standard_library_alone() -> None:
    code = "import pytest, sys; before = set(sys.modules); import validate.pytest_plugin\n"
    code += "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"validate"} | set(sys.stdlib_module_names)


def test_the_entry_point_is_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"fedproof": "validate.pytest_plugin"}
    installed = {
        e.name: e.value for e in importlib.metadata.distribution("fedproof").entry_points if e.group == "pytest11"
    }
    assert installed == {"fedproof": "validate.pytest_plugin"}
