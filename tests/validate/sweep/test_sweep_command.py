"""The contract of `fedproof sweep`."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import EQ7, EQ8, call, command, complaint, printed
from tests.validate.sweep.functions import grid, plain
from validate.commands.sweeping import duration, line
from validate.sweep import export
from validate.sweep.coordinator import Snapshot, sweep
from validate.sweep.executors import versions
from validate.sweep.records import Work
from validate.sweep.store import Store

SPECIFICATION = f"""
name = "a few cells"
claims = ["{EQ7}", "{EQ8}"]
rounds = [1, 2]

[[problem]]
kind = "quadratic"
clients = 2
dim = 1
mu = "1/10"
L = [1, 2]
seed = {{ from = 0, to = 1 }}

[[algorithm]]
kind = "fedavg-svrg"
step = "1/20"
S = 1
M = 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with a specification."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")
    return tmp_path


def test_a_dry_run_shows_the_cells_and_computes_nothing(folder: Path) -> None:
    found = printed("sweep", "spec.toml", "--dry-run")
    assert found["cells"] == 16
    assert found["axes"]["rounds"] == [1, 2]
    assert set(found["axes"]) == {"claim", "rounds", "problem.L", "problem.seed"}
    assert [document["claim"] for document in found["first"]] == [EQ7, EQ8, EQ7]
    lines = call("sweep", "spec.toml", "--dry-run").stdout.splitlines()
    assert lines[0] == "16 cells"
    assert json.loads(lines[-1]) == found["first"][-1]
    assert [path.name for path in folder.iterdir()] == ["spec.toml"]


def test_a_sweep_is_computed_shown_exported_and_gone_on_with(folder: Path) -> None:
    result = call("sweep", "spec.toml", "--out", "deep/store", "--workers", 2)
    assert result.exit_code in (0, 1), result.stderr
    assert "16/16 cells" in result.stderr.splitlines()[-1]
    again = call("sweep", "spec.toml", "--out", "deep/store", "--workers", 1, "--resume", "--json")
    summary = json.loads(again.stdout)
    assert (summary["computed"], summary["cells"], summary["name"]) == (0, 16, "a few cells")
    assert (again.exit_code == 1) == ("fails" in summary["outcomes"])
    assert not {"error", "timeout", "crashed"} & set(summary["outcomes"])
    assert f"digest: {summary['digest']}" in result.stdout
    found = printed("sweep", "--status", "deep/store", "--export", "table.csv")
    assert (found["finished"], found["failures"], found["writer"]) == (16, 0, None)
    assert (found["outcomes"], found["digest"]) == (summary["outcomes"], summary["digest"])
    with Path("table.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == found["exported"]["rows"] == 16
    assert {row["problem.L"] for row in rows} == {"1", "2"}
    assert {row["claim"] for row in rows} == {EQ7, EQ8}
    for name in ("algorithm.step", "rounds", "outcome", "left", "right", "ratio", "guarantee", "detail", "seconds"):
        assert name in rows[0]
    assert all(row["outcome"] for row in rows)
    assert complaint(call("sweep", "spec.toml", "--out", "deep/store")).endswith("or another --out")


def filled(path: Path) -> Path:
    """A store with numbers, failures and cells without a result."""
    documents = [{"format": 1, "at": at, "rounds": at, "problem": {"L": "1/3", "h": ["1", "2"]}} for at in range(5)]
    documents[4]["problem"] = {"L": 7}
    results: list[dict[str, Any]] = [
        {"outcome": "holds", "left": 1 / 3, "right": 2, "runs": 64, "index": {"k": 3}, "detail": 'a, "quoted"\nline'},
        {"outcome": "error", "detail": "ValueError: é"},
        {"outcome": "holds", "left": "=1+1", "runs": 1.5, "detail": {"not": "text"}},
    ]
    with Store.create(path, "", documents) as store:
        names = [name for name, _ in store.pending()]
        work = Work(0.25, 2, "host:1", "v", "t")
        store.keep([(name, result, work) for name, result in zip(names, results, strict=False)])
    return path


def test_tables_have_the_store_s_values(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with Store.read(filled(tmp_path / "s")) as store:
        assert export.export(store, tmp_path / "t.csv") == export.export(store, tmp_path / "t.parquet") == 5
        keys = [row.key for row in store.rows()]
    rows = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert list(rows[0])[:4] == ["problem.L", "problem.h", "rounds", "at"]
    assert [row["key"] for row in rows] == keys
    assert [row["problem.L"] for row in rows] == ["1/3", "1/3", "1/3", "1/3", "7"]
    assert [row["rounds"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["left"] for row in rows] == [1 / 3, None, None, None, None]
    assert [row["runs"] for row in rows] == [64, None, None, None, None]
    assert [row["outcome"] for row in rows] == ["holds", "error", "holds", None, None]
    assert (rows[0]["index"], rows[0]["problem.h"], rows[4]["problem.h"]) == ('{"k": 3}', '["1", "2"]', None)
    assert rows[2]["detail"] == '{"not": "text"}'
    assert [row["attempts"] for row in rows] == [2, 2, 2, None, None]
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as stream:
        texts = list(csv.DictReader(stream))
    assert [[text or None for text in row.values()] for row in texts] == [
        [None if value is None else str(value) for value in row.values()] for row in rows
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "s.lock", "t.csv", "t.parquet"]


def test_parquet_needs_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "s")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = complaint(call("sweep", "--status", tmp_path / "s", "--export", tmp_path / "t.parquet"))
    assert "pip install 'fedproof[tables]'" in said
    assert complaint(call("sweep", "--status", tmp_path / "s", "--export", "t.xls")).endswith(".csv nor in .parquet")


def test_the_status_of_a_store_that_is_being_written(tmp_path: Path) -> None:
    with Store.open(filled(tmp_path / "s")):
        found = printed("sweep", "--status", tmp_path / "s")
        assert found["writer"].startswith(f"process {os.getpid()} on ")
        assert (found["cells"], found["finished"], found["failures"]) == (5, 3, 1)
        said = complaint(call("sweep", "--status", tmp_path / "s", "--limit", "3"))
        assert "--limit" in said
    text = call("sweep", "--status", tmp_path / "s").stdout
    assert "3 of 5 cells are finished, 1 of them failures" in text
    assert "being written" not in text


def test_other_versions_are_told_once(tmp_path: Path) -> None:
    cells = grid(9)
    with Store.create(tmp_path / "s", cells.text, cells.documents(), name=cells.name) as store:
        names = [name for name, _ in store.pending()]
        store.keep([(names[0], plain({"at": 0}), Work(0.1, 1, "host:1", "fedproof 0.0.0", "t"))])
        store.keep([(names[1], {"outcome": "crashed"}, Work(None, 3, "", "", "t"))])
    said: list[str] = []
    options: dict[str, Any] = {"function": plain, "workers": 1, "resume": True}
    sweep(cells, tmp_path / "s", progress=lambda now: said.append(now.message), **options)
    told = [message for message in said if message]
    assert told == [
        f"{tmp_path / 's'} has cells computed by fedproof 0.0.0; now others are by {versions()}, and may differ"
    ]
    found = printed("sweep", "--status", tmp_path / "s")
    assert found["versions"] == {"": 1, "fedproof 0.0.0": 1, versions(): 7}
    lines = call("sweep", "--status", tmp_path / "s").stdout.splitlines()
    assert {"1 by no worker that returned", "1 by fedproof 0.0.0", f"7 by {versions()}"} <= set(lines)
    said.clear()
    sweep(grid(3), tmp_path / "new", progress=lambda now: said.append(now.message), **options)
    assert not any(said)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ([], "SPEC.toml is missing"),
        (["missing.toml"], "missing.toml: No such file"),
        (["spec.toml"], "--out is missing"),
        (["spec.toml", "--out", "s", "--workers", "0"], "--workers"),
        (["spec.toml", "--out", "s", "--limit", "0"], "limit=0"),
        (["spec.toml", "--out", "s", "--limit", "nan"], "limit=nan"),
        (["spec.toml", "--out", "s", "--engine", "abacus"], "abacus"),
        (["spec.toml", "--out", "s", "--address", "tcp://127.0.0.1:1"], "engine='local'"),
        (["spec.toml", "--export", "t.csv"], "--status"),
        (["spec.toml", "--status", "s"], "SPEC.toml cannot be given"),
        (["--status", "missing"], "missing does not exist"),
        (["--status", "spec.toml"], "not the store of a sweep"),
        (["empty.toml", "--dry-run"], "lacks claims"),
        (["binary.toml", "--dry-run"], "not UTF-8"),
    ],
)
def test_bad_input_is_refused_in_one_line(folder: Path, arguments: list[str], fragment: str) -> None:
    Path("empty.toml").write_text("", encoding="utf-8")
    Path("binary.toml").write_bytes(b"\xff\xfe")
    assert fragment in complaint(call("sweep", *arguments))
    assert not Path("s").exists()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_an_interrupt_says_what_is_kept(folder: Path) -> None:
    text = SPECIFICATION.replace("to = 1 }", "to = 2000 }")
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    arguments = [command(), "sweep", "spec.toml", "--out", "store", "--workers", "1"]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               start_new_session=True)  # fmt: skip
    assert process.stderr is not None
    for said in process.stderr:
        if "cells/s" in said:
            break
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), said
    assert "of 16008 cells are kept; go on with --resume" in said.splitlines()[-2]
    assert said.splitlines()[-1] == "interrupted"
    found = printed("sweep", "--status", "store")
    assert 0 < found["finished"] < 16008


def test_progress_is_a_line_that_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = Snapshot(120, 1000, {"holds": 100, "error": 20}, 12.5, 4000.0)
    assert line(now) == "120/1000 cells; 100 holds, 20 error; 12.5 cells/s; 1 h 6 min left; 20 failed"
    assert line(Snapshot(0, 5, {}, None, None)) == "0/5 cells"
    assert [duration(seconds) for seconds in (0.2, 59.6, 61, 3599, 86_400)] == [
        "0 s", "1 min 0 s", "1 min 1 s", "59 min 59 s", "24 h 0 min",
    ]  # fmt: skip


def test_progress_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from validate.commands.sweeping import shown

    clock = iter([0.0, 0.0, 1.0, 1.9, 2.1, 2.1, 3.0, 3.5, 3.5])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 99.0))
    with shown() as tell:
        for finished in (1, 2, 3, 4, 5):
            tell(Snapshot(finished, 6, {"holds": finished}, None, None, "locked" if finished == 2 else ""))
        tell(Snapshot(6, 6, {"holds": 6}, None, None))
    assert capsys.readouterr().err.splitlines() == [
        "1/6 cells; 1 holds", "locked", "4/6 cells; 4 holds", "6/6 cells; 6 holds",
    ]  # fmt: skip
