"""Results that are not what was kept: told by their checksums, named, computed again; and stores without checksums."""

import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.validate.command_line import call, complaint
from tests.validate.sweep.functions import grid, holds, plain
from validate.sweep import export, integrity
from validate.sweep.cell import canonical, key
from validate.sweep.coordinator import Snapshot, Summary, sweep
from validate.sweep.records import Work
from validate.sweep.store import Store
from validate.sweep.summary import experiment_of

WORK = Work(0.5, 1, "host:1", "fedproof 0", "2026-01-01T00:00:00+00:00")
KEYS = [key({"at": at}) for at in range(8)]
# What format 1 was: the tables of stores that were written before there were checksums.
FIRST = """
PRAGMA application_id = 1717920880;
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells(key TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, document TEXT NOT NULL);
CREATE TABLE results(key TEXT PRIMARY KEY REFERENCES cells, result TEXT NOT NULL);
CREATE TABLE work(key TEXT PRIMARY KEY REFERENCES cells, seconds REAL, attempts INTEGER, worker TEXT, versions TEXT, \
finished TEXT);
INSERT INTO meta VALUES ('format', '1'), ('specification', 'a grid'), ('name', 'grid'), ('made_by', 'fedproof 0');
"""


def swept(path: Path, **options: Any) -> Summary:
    """Eight cells, in this process."""
    with ThreadPoolExecutor(2) as executor:
        return sweep(grid(8), path, executor=executor, function=plain, **options)


def changed(path: Path, statement: str, *values: Any) -> None:
    """Do something to the file that no store does."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount > 0


def first_format(path: Path, results: Mapping[int, dict[str, Any]]) -> Path:
    """A store of eight cells as it was written before there were checksums."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(FIRST)
        for at in range(8):
            connection.execute("INSERT INTO cells VALUES (?, ?, ?)", (KEYS[at], at, canonical({"at": at})))
        for at, result in results.items():
            connection.execute("INSERT INTO results VALUES (?, ?)", (KEYS[at], canonical(result)))
            connection.execute("INSERT INTO work VALUES (?, 0.5, 1, 'host:1', 'fedproof 0', 't')", (KEYS[at],))
    return path


DAMAGE = {
    "a number": ("UPDATE results SET result = replace(result, '0.428', '0.429') WHERE key = ?", KEYS[3]),
    "the outcome": ("UPDATE results SET result = replace(result, 'holds', 'fails') WHERE key = ?", KEYS[3]),
    "no JSON": ("UPDATE results SET result = substr(result, 2) WHERE key = ?", KEYS[3]),
    "no text": ("UPDATE results SET result = x'00ff' WHERE key = ?", KEYS[3]),
    "the checksum": ("UPDATE results SET checksum = 'a' || substr(checksum, 1, 15) WHERE key = ?", KEYS[3]),
    "another's result": (
        "UPDATE results SET (result, checksum) = (SELECT result, checksum FROM results WHERE key = ?1) WHERE key = ?2",
        KEYS[4],
        KEYS[3],
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_named_and_computed_again(tmp_path: Path, damage: tuple[str, ...]) -> None:
    whole, path = swept(tmp_path / "s"), tmp_path / "s"
    changed(path, *damage)
    with Store.read(path) as store:
        for way in (lambda: list(store.rows()), store.digest, lambda: export.status(store)):
            with pytest.raises(
                ValueError, match=f"damaged: the result of cell {KEYS[3]} is not what its checksum says"
            ):
                way()
    said: list[str] = []
    again = swept(path, resume=True, progress=lambda now: said.append(now.message))
    assert (again.damaged, again.computed, again.digest) == ((KEYS[3],), 1, whole.digest)
    assert [m for m in said if m] == [f"{path} was damaged: 1 result is computed again (cells {KEYS[3]})"]
    with Store.read(path) as store:
        rows = list(store.rows())
    assert [row.result for row in rows] == [holds(at) for at in range(8)]
    assert all(row.work is not None for row in rows)
    once_more = swept(path, resume=True)
    assert (once_more.damaged, once_more.computed) == ((), 0)


def test_a_flipped_bit_in_the_file_is_told(tmp_path: Path) -> None:
    """SQLite itself does not notice: the file is well formed, and the result is one."""
    path = tmp_path / "s"
    whole, content = swept(path), bytearray((tmp_path / "s").read_bytes())
    at = content.index(b'"left":0.7142857142857143') + len(b'"left":0.7')
    content[at] ^= 1
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Store.read(path) as store, pytest.raises(ValueError, match=KEYS[5]):
        list(store.rows())
    again = swept(path, resume=True)
    assert (again.damaged, again.digest) == ((KEYS[5],), whole.digest)


def test_the_commands_name_the_cell_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    swept(Path("s"))
    changed(Path("s"), *DAMAGE["a number"])
    for command in (("sweep", "--status", "s"), ("sweep", "--status", "s", "--export", "t.csv")):
        said = complaint(call(*command))
        assert KEYS[3] in said
        assert "`fedproof sweep SPEC.toml --out s --resume` computes it again" in said
    with pytest.raises(ValueError, match=KEYS[3]):
        experiment_of("s", tmp_path / "figures")
    assert not Path("t.csv").exists()


def test_results_of_no_cell_and_of_many_cells(tmp_path: Path) -> None:
    path = tmp_path / "s"
    whole = swept(path)
    changed(path, "UPDATE results SET key = 'nobody' WHERE key = ?", KEYS[0])
    changed(path, "UPDATE results SET result = replace(result, 'as it should be', 'as it is')")
    messages: list[Snapshot] = []
    again = swept(path, resume=True, progress=messages.append)
    assert (len(again.damaged), again.computed, again.cells, again.digest) == (8, 8, 8, whole.digest)
    assert "nobody" in again.damaged
    assert next(now.message for now in messages if now.message).endswith(", ...)")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_checksums_differ(name: str, result: str, other: str, another: str) -> None:
    """Keys have no blanks, so that no two pairs are one text."""
    name, other = (text.replace(" ", "") for text in (name, other))
    same = integrity.checksum(name, result) == integrity.checksum(other, another)
    assert same == ((name, result) == (other, another))


# --- format 1 --------------------------------------------------------------------------------------------------------


def test_a_store_without_checksums_is_read_and_gone_on_with(tmp_path: Path) -> None:
    whole = swept(tmp_path / "whole")
    path = first_format(tmp_path / "s", {at: holds(at) for at in (1, 4)})
    with Store.read(path) as store:
        assert store.meta["format"] == "1"
        assert [row.result and row.result["right"] for row in store.rows()] == [None, 1.0, None, None, 4.0, *[None] * 3]
        assert export.status(store)["finished"] == 2
    assert (
        experiment_of(path, tmp_path / "figures").settings[0].startswith("s, made by fedproof 0: 8 cells, 2 finished")
    )
    done = swept(path, resume=True)
    assert (done.computed, done.damaged, done.digest) == (6, (), whole.digest)
    with Store.read(path) as store:
        assert store.meta["format"] == "1", "a store keeps its format"
        assert export.export(store, tmp_path / "t.csv") == 8


def test_failures_in_it_are_computed_again(tmp_path: Path) -> None:
    path = first_format(tmp_path / "s", {at: {"outcome": "error", "detail": "x"} for at in range(8)})
    assert swept(path, resume=True).outcomes == {"error": 8}
    assert swept(path, retry=True).digest == swept(tmp_path / "t").digest


def test_a_format_that_does_not_fit_the_tables_is_refused(tmp_path: Path) -> None:
    path = first_format(tmp_path / "s", {})
    changed(path, "UPDATE meta SET value = '2' WHERE name = 'format'")
    with pytest.raises(
        ValueError, match=r"says that it is of format 2, and is not; this program reads formats 1 and 2"
    ):
        Store.read(path)


def test_a_damaged_result_is_kept_by_nobody(tmp_path: Path) -> None:
    """Writing another result over a damaged one is refused as over any other: it is taken away first."""
    path = tmp_path / "s"
    with Store.create(path, "a grid", grid(8).documents()) as store:
        store.keep([(KEYS[0], holds(0), WORK)])
    changed(path, "UPDATE results SET result = replace(result, '0.0', '9.0')")
    with Store.open(path) as store:
        with pytest.raises(ValueError, match="has a result already"):
            store.keep([(KEYS[0], holds(0), WORK)])
        assert store.drop_damaged() == [KEYS[0]]
        store.keep([(KEYS[0], holds(0), WORK)])
        assert store.drop_damaged() == []
        assert [row.result for row in store.rows()][:2] == [holds(0), None]
