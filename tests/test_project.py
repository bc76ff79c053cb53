"""The project's own papers: version, changelog, entry points, typing markers, and nothing of one machine."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Assembled, so that this file does not match itself.
MACHINE_PATH = re.compile("/" + "(?:w" + "ork|r" + "oot|t" + "mp|h" + "ome|farm|opt|Users)/[a-z]")


def tracked() -> list[Path]:
    """The files that belong to the project: those that git knows or would add, or, without git, all but the ignored."""
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        found = [ROOT / name for name in names if name]
    else:
        made = {".git", ".venv", ".hypothesis", ".coverage", "build", "dist", "report", "fedproof-out"}
        parts = {path: path.relative_to(ROOT).parts for path in ROOT.rglob("*")}
        found = [
            path
            for path, names in parts.items()
            if names[0] not in made
            and not any(n == "__pycache__" or n.endswith(("_cache", ".egg-info")) for n in names)
        ]
    return [path for path in found if path.is_file()]


def test_the_version_is_one() -> None:
    command = shutil.which("fedproof", path=str(Path(sys.executable).parent))
    assert command is not None, "the console script is not installed"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fedproof {PROJECT['version']}\n"


def test_the_changelog_names_the_version() -> None:
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_console_script_is_the_command_line() -> None:
    scripts = {entry.name: entry.value for entry in importlib.metadata.entry_points(group="console_scripts")}
    assert scripts["fedproof"] == PROJECT["scripts"]["fedproof"] == "validate.cli:main"


@pytest.mark.parametrize("package", ["theory", "sim", "validate"])
def test_the_packages_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_no_file_names_a_path_of_one_machine() -> None:
    files = tracked()
    assert ROOT / "pyproject.toml" in files
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path}: {line}" for line in text.splitlines() if MACHINE_PATH.search(line) and "#!/" not in line]
    assert found == []


def test_no_file_holds_both_sides_of_a_merge() -> None:
    marks = tuple(sign * 7 for sign in "<>")
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in tracked()}
    assert [path for path, text in texts.items() if any(line.startswith(marks) for line in text.splitlines())] == []


def test_the_folders_are_those_of_the_project() -> None:
    """A test that writes into the working tree leaves another."""
    known = {".ci", "benchmarks", "docs", "examples", "notebooks", "sim", "tests", "theory", "validate"}
    assert {path.relative_to(ROOT).parts[0] for path in tracked() if path.parent != ROOT} == known


@pytest.mark.slow
def test_a_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    """The sources that are compiled at run time, the report's templates and the data too."""
    source, names = tmp_path / "source", [path.relative_to(ROOT) for path in tracked()]
    for name in names:  # a copy, because setuptools writes beside what it builds
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("fedproof-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    wanted = {name.as_posix() for name in names if name.parts[0] in ("theory", "sim", "validate")}
    endings = {".h", ".html", ".csv", ".typed"}
    assert endings <= {Path(name).suffix for name in wanted}
    assert held >= wanted


def test_the_constraints_pin_every_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    pinned = {normal(line.split("==")[0]) for line in pins}
    wanted = PROJECT["dependencies"] + [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    assert {normal(re.split(r"[\[<>=!~; ]", line)[0]) for line in wanted} - {"fedproof"} <= pinned  # `all` is of others


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_continuous_check_calls_make_test() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith("\nmake test")
