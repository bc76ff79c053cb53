"""The store of a sweep: whole results only, one writer, any readers, and nothing believed of a file."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validate.sweep.functions import forge, holds
from validate.sweep.cell import canonical, key
from validate.sweep.database import Busy
from validate.sweep.records import Work
from validate.sweep.store import Store

WORK = Work(0.5, 1, "host:1", "fedproof 0", "2026-01-01T00:00:00+00:00")
DOCUMENTS = [{"at": at, "problem": {"L": "1/3"}} for at in range(6)]
KEYS = [key(document) for document in DOCUMENTS]


def made(path: Path, *results: int) -> Path:
    """A store of DOCUMENTS with some results."""
    with Store.create(path, "text", DOCUMENTS, name="six") as store:
        store.keep([(KEYS[at], holds(at), WORK) for at in results])
    return path


def outcomes(path: Path) -> dict[str, int]:
    """What a store says when it is read."""
    with Store.read(path) as store:
        return dict(store.counts().outcomes)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = made(tmp_path / "a store #1?.sqlite", 4, 1)
    with Store.read(path) as store:
        assert {**store.meta, "made_by": ""} == {
            "format": "2", "specification": "text", "name": "six", "made_by": "",
        }  # fmt: skip
        rows = list(store.rows())
        assert [row.document for row in rows] == DOCUMENTS
        assert [row.position for row in rows] == list(range(6))
        assert [row.result and row.result["right"] for row in rows] == [None, 1.0, None, None, 4.0, None]
        assert (rows[1].work, rows[0].work) == (WORK, None)
        counts = store.counts()
        assert (counts.cells, counts.finished, counts.failures, counts.outcomes) == (6, 2, 0, {"holds": 2})
        assert [document["at"] for _, document in store.pending()] == [0, 2, 3, 5]


def test_a_finished_store_is_one_file(tmp_path: Path) -> None:
    path = made(tmp_path / "s", 0)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["s", "s.lock"]
    outcomes(path)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["s", "s.lock"]


def test_equal_cells_are_one(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s", "", [{"b": 1, "a": 2}, {"a": 1}, {"a": 2, "b": 1}]) as store:
        assert [document for _, document in store.pending()] == [{"b": 1, "a": 2}, {"a": 1}]


def test_a_store_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    def documents() -> Iterator[dict[str, Any]]:
        yield DOCUMENTS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store.create(tmp_path / "s", "", documents())
    assert [found.name for found in tmp_path.iterdir()] == ["s.lock"]
    # what a killed program left is no obstacle
    (tmp_path / "s.half").write_bytes(b"half a file")
    made(tmp_path / "s", 0)
    with pytest.raises(ValueError, match="exists; go on with it"):
        Store.create(tmp_path / "s", "", DOCUMENTS)
    assert outcomes(tmp_path / "s") == {"holds": 1}


@settings(max_examples=25)
@given(st.permutations(range(6)), st.lists(st.integers(1, 3), min_size=6, max_size=6))
def test_the_digest_depends_on_the_results_alone(order: list[int], sizes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryFolder() as folder:
        patch.chdir(folder)
        whole = Store.create("whole", "one", DOCUMENTS)
        whole.keep([(KEYS[at], holds(at), WORK) for at in range(6)])
        parts = Store.create("parts", "another", DOCUMENTS[::-1])
        todo = list(order)
        for size in sizes:
            batch, todo = todo[:size], todo[size:]
            if batch:
                assert parts.digest() != whole.digest()
            parts.keep([(KEYS[at], holds(at), Work(at, 2, "", "", "")) for at in batch])
            parts.keep([(KEYS[at], holds(at), WORK) for at in batch])  # twice is once
            assert parts.counts().finished == 6 - len(todo)
        parts.keep([(KEYS[at], holds(at), WORK) for at in todo])
        assert parts.digest() == whole.digest()
        whole.close()
        parts.close()


class TemporaryFolder:
    """A folder for one example of hypothesis, for which a fixture's would be one for all."""

    def __enter__(self) -> Path:
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        return Path(self._folder.name)

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()


def test_a_result_stays_and_a_failure_may_be_replaced(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s", "", DOCUMENTS) as store:
        store.keep([(KEYS[0], holds(0), WORK), (KEYS[1], {"outcome": "timeout", "detail": ""}, WORK)])
        with pytest.raises(ValueError, match="has a result already"):
            store.keep([(KEYS[2], holds(2), WORK), (KEYS[0], holds(5), WORK)])
        with pytest.raises(ValueError, match="has no cell"):
            store.keep([(KEYS[2], holds(2), WORK), ("0" * 40, holds(5), WORK)])
        assert store.counts().outcomes == {"holds": 1, "timeout": 1}, "all or nothing"
        assert [document["at"] for _, document in store.pending(retry=True)] == [1, 2, 3, 4, 5]
        store.keep([(KEYS[1], holds(1), WORK)])
        assert store.counts().outcomes == {"holds": 2}


def test_pending_cells_come_once_while_results_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.sweep.store.PAGE", 2)
    with Store.create(tmp_path / "s", "", DOCUMENTS) as store:
        seen = []
        for name, document in store.pending(retry=True):
            seen.append(document["at"])
            store.keep([(name, {"outcome": "error", "detail": ""}, WORK)])
        assert seen == list(range(6))


@pytest.mark.parametrize(
    "result",
    [None, [], {}, {"outcome": "refuted"}, {"outcome": "holds", "left": float("inf")}, {"outcome": "holds", "x": {1}}],
)
def test_what_is_no_result_is_refused(tmp_path: Path, result: Any) -> None:
    with Store.create(tmp_path / "s", "", DOCUMENTS) as store:
        with pytest.raises(ValueError, match=r"result|outcome"):
            store.keep([(KEYS[0], result, WORK)])
        assert store.counts().finished == 0


def test_a_larger_specification_adds_cells_and_another_one_changes_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "s", 0)
    more = [{"at": "new"}, *DOCUMENTS]
    with Store.open(path) as store:
        assert store.extend("more", more) == 1
        assert store.meta["specification"] == "more"
        assert [document["at"] for _, document in store.pending()] == [1, 2, 3, 4, 5, "new"]
        with pytest.raises(ValueError, match="2 of its 7 cells are not of this specification"):
            store.extend("less", DOCUMENTS[:5])
        assert store.extend("more", more) == 0
        assert (store.counts().cells, store.meta["specification"]) == (7, "more")


def _hold(path: Path, ready: Any, done: Any) -> None:
    with Store.open(path):
        ready.set()
        done.wait(30)


def test_one_process_writes_and_others_read(tmp_path: Path) -> None:
    path = made(tmp_path / "s", 0)
    with Store.open(path) as store:
        with pytest.raises(ValueError, match=f"is being written by process {os.getpid()} on .* \\(since 20"):
            Store.open(path)
        store.keep([(KEYS[1], holds(1), WORK)])
        assert outcomes(path) == {"holds": 2}
        with Store.read(path) as reader, pytest.raises(OSError, match="cannot be written"):
            reader.keep([(KEYS[2], holds(2), WORK)])
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(path, ready, done))
    other.start()
    try:
        assert ready.wait(30)
        with pytest.raises(ValueError, match=f"is being written by process {other.pid} on "):
            Store.open(path)
        assert outcomes(path) == {"holds": 2}
    finally:
        other.kill()
        other.join()
    # nothing has to be cleared away after a kill
    with Store.open(path) as store:
        assert store.counts().finished == 2


def test_a_foreign_lock_is_waited_for(tmp_path: Path) -> None:
    path = made(tmp_path / "s", 0)
    foreign = sqlite3.connect(path, isolation_level=None)
    with Store.open(path) as store:
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="locked by another program"):
            store.keep([(KEYS[1], holds(1), WORK)])
        assert outcomes(path) == {"holds": 1}
        foreign.execute("ROLLBACK")
        store.keep([(KEYS[1], holds(1), WORK)])
        foreign.close()
    assert outcomes(path) == {"holds": 2}


def test_a_full_disk_costs_nothing_that_was_kept(tmp_path: Path) -> None:
    documents = [{"at": at} for at in range(400)]
    long = {"outcome": "holds", "detail": "x" * 2000}
    with Store.create(tmp_path / "s", "", documents) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count={pages + 40}")

        def fill() -> None:
            for kept, document in enumerate(documents):
                assert store.counts().finished == kept
                store.keep([(key(document), long, WORK)])

        with pytest.raises(OSError, match="full") as caught:
            fill()
        assert caught.value.errno == 28
        assert 5 < store.counts().finished < 400
        store._connection.execute("PRAGMA max_page_count=100000")
        store.keep([(key(document), long, WORK) for document in documents])
        assert store.counts().finished == 400


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from tests.validate.sweep.test_store import DOCUMENTS, KEYS, WORK\n"
        "from validate.sweep.store import Store\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
        "    for name in KEYS[1:]:\n"
        "        store.keep([(name, {'outcome': 'holds', 'detail': 'x' * 20_000}, WORK)])\n"
    )
    path = made(tmp_path / "s", 0)
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True)
    assert "cannot be written" in done.stderr.splitlines()[-1]
    with Store.open(path) as store:
        assert 1 < store.counts().finished < 6
        assert next(row.result for row in store.rows()) == holds(0)
        store.keep([(name, holds(1), WORK) for name, _ in list(store.pending())])
        assert store.counts().finished == 6


def changed(path: Path, *statements: str) -> None:
    """Do something to the file that no store does."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s"
    for content in (b"", b"not a database" * 1000, b"\x00" * 8192):
        path.write_bytes(content)
        for way in (Store.open, Store.read):
            with pytest.raises(ValueError, match="not the store of a sweep"):
                way(path)
        assert path.read_bytes() == content
    path.unlink()
    changed(path, "CREATE TABLE notes(text)")
    with pytest.raises(ValueError, match="not the store of a sweep"):
        Store.open(path)
    for way in (Store.open, Store.read):
        with pytest.raises(ValueError, match="does not exist"):
            way(tmp_path / "missing")
    with pytest.raises(ValueError, match="does not exist"):
        Store.open(tmp_path)


@pytest.mark.parametrize("size", [1, 100, 4096, 9000, 20_000])
def test_a_truncated_store_is_refused(tmp_path: Path, size: int) -> None:
    path = made(tmp_path / "s", *range(6))
    content = path.read_bytes()
    assert len(content) > 20_000
    path.write_bytes(content[:size])
    with pytest.raises(ValueError, match=r"damaged|not the store of a sweep"):
        Store.open(path)


HOSTILE = [
    "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END",
    "CREATE VIEW v AS SELECT 1",
    "ALTER TABLE work ADD COLUMN more TEXT",
    "DROP TABLE work",
    "UPDATE meta SET value = '1' WHERE name = 'format'",
    "UPDATE meta SET value = '3' WHERE name = 'format'",
    "ALTER TABLE results DROP COLUMN checksum",
    "PRAGMA application_id = 7",
]


@pytest.mark.parametrize("statement", HOSTILE)
def test_tables_that_are_not_the_store_s_are_refused(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "s", 0)
    changed(path, statement)
    for way in (Store.open, Store.read):
        with pytest.raises(ValueError, match=r"not the store of a sweep|is of format"):
            way(path)


@pytest.mark.parametrize(
    "value", ["'{}'", "'{'", "NULL", "x'00ff'", "3", "'[1]'", f"'{'[' * 20_000}'", '\'{"at": 2, "problem": {}}\'']
)
def test_documents_are_checked_against_their_keys(tmp_path: Path, value: str) -> None:
    path = made(tmp_path / "s", 0)
    if value == "NULL":
        with pytest.raises(sqlite3.IntegrityError):
            changed(path, f"UPDATE cells SET document = {value} WHERE key = '{KEYS[2]}'")
        return
    changed(path, f"UPDATE cells SET document = {value} WHERE key = '{KEYS[2]}'")
    with Store.open(path) as store:
        with pytest.raises(ValueError, match=f"damaged.*{KEYS[2]}"):
            list(store.pending())
        with pytest.raises(ValueError, match=f"damaged.*{KEYS[2]}"):
            list(store.rows())


@pytest.mark.parametrize("value", ["{", "[]", "3", "null"])
def test_a_result_that_is_no_object_is_named(tmp_path: Path, value: str) -> None:
    path = made(tmp_path / "s", 0)
    forge(path, f"UPDATE results SET result = '{value}'")
    with Store.open(path) as store:
        with pytest.raises(ValueError, match=f"damaged.*{KEYS[0]}"):
            list(store.rows())
        assert len(list(store.pending())) == 5


@pytest.mark.parametrize("value", ["{", '{"outcome":"\\ud800"}'])
def test_outcomes_that_cannot_be_read_are_an_error(tmp_path: Path, value: str) -> None:
    path = made(tmp_path / "s", 0)
    forge(path, f"UPDATE results SET result = '{value}'")
    with Store.open(path) as store, pytest.raises(ValueError, match="damaged"):
        store.counts()


def test_the_text_in_a_store_is_canonical(tmp_path: Path) -> None:
    path = made(tmp_path / "s", 3)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT result FROM results").fetchall() == [(canonical(holds(3)),)]
    texts = [text for (text,) in connection.execute("SELECT document FROM cells ORDER BY position")]
    connection.close()
    assert list(map(json.loads, texts)) == DOCUMENTS
