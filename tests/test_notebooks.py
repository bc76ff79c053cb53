"""Every notebook is run from top to bottom, and prints what it has printed when it was committed.

Each runs in a kernel and an empty folder of its own, by notebooks/execute.py in a process of its own: that is what
`make notebooks` does, and the event loop of the kernel's client stays out of this one. Those that take long are run in
slow tests only.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 120_000  # bytes of a notebook; and of one of its pictures:
LARGEST_PICTURE = 40_000
MACHINE = re.compile(r"/home/|/root/|/tmp/|/Users/|/work/|site-packages|0x[0-9a-f]{6,}")
PICTURE = "image/png"

LONG = ("fedavg_svrg", "fedmim", "open_fl", "own_theorem", "perm")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def outputs(notebook: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """By the cell's id: each output's type and text; of a picture, that there is one."""
    return {cell["id"]: [shown(output) for output in cell["outputs"]] for cell in code(notebook)}


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(output: dict[str, Any]) -> tuple[str, str]:
    data = output.get("data", {})
    kind = PICTURE if PICTURE in data else output["output_type"]
    return kind, "".join(output.get("text") or data["text/plain"])


def test_every_paper_has_a_notebook():
    from theory import papers

    wanted = {paper.name.replace("-", "_") for paper in papers()} - {"textbook"}
    assert wanted | {"quickstart", "own_theorem"} == {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in LONG else []) for p in NOTEBOOKS]
)
def test_a_run_prints_what_is_committed(path, tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    command = [sys.executable, str(FOLDER / "execute.py"), path.stem, "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert outputs(read(tmp_path / path.name)) == outputs(read(path)), "if that is right: make notebooks"


@each
def test_what_is_committed_is_small_clean_and_complete(path):
    text, notebook = path.read_text(encoding="utf-8"), read(path)
    assert len(text.encode()) < LARGEST
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert 8 <= len(notebook["cells"]) <= 16
    assert [cell["execution_count"] for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert all(re.fullmatch("[a-z-]+", cell["id"]) for cell in notebook["cells"])  # names, not numbers that change
    pictures = 0
    for cell in code(notebook):
        for output in cell["outputs"]:
            assert output["output_type"] in ("stream", "display_data", "execute_result")
            assert output.get("name", "stdout") == "stdout"
            assert not MACHINE.search(shown(output)[1])
            picture = output.get("data", {}).get(PICTURE, "")
            assert len(picture) * 3 / 4 < LARGEST_PICTURE
            pictures += bool(picture)
    assert pictures


def test_the_own_theorem_is_that_of_the_tutorial():
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (cell,) = (cell for cell in read(FOLDER / "own_theorem.ipynb")["cells"] if cell["id"] == "file")
    magic, _, source = "".join(cell["source"]).partition("\n")
    assert magic == "%%writefile my_paper.py"
    assert f"```python\n{source}\n```" in page


def test_a_cell_that_fails_is_an_error_and_nothing_is_written(tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "execute.py").write_bytes((FOLDER / "execute.py").read_bytes())
    for name, source in (("raises", "1 / 0"), ("complains", "import sys\nprint('no', file=sys.stderr)")):
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": source}
        cell |= {"execution_count": None, "outputs": []}
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        command = [sys.executable, str(folder / "execute.py"), name, "--out", str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1
        assert ("ZeroDivisionError" if name == "raises" else "writes to stderr") in done.stderr
    assert list((tmp_path / "out").iterdir()) == []
