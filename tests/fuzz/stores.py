"""Stores of sweeps: files of SQLite with bytes or rows changed."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.fuzz import seeds
from tests.fuzz.mutation import rubbish
from tests.fuzz.target import ACCEPTED, clear, folder


@cache
def valid_store() -> bytes:
    """A store with six cells and four results."""
    from validate.sweep.records import Work
    from validate.sweep.specification import read_specification
    from validate.sweep.store import Store

    sweep = {**seeds.SWEEPS[3], "rounds": [1]}
    text = seeds.toml(sweep)
    path = folder() / "valid.sqlite"
    with Store.create(path, text, read_specification(text).documents(), name="small") as store:
        keys = [key for key, _ in store.pending()]
        work = Work(0.5, 1, "host 1", "fedproof", "2020-01-01T00:00:00+00:00")
        outcomes = ("holds", "fails", "error", "diverged")
        store.keep(
            [
                (key, {"outcome": outcome, "left": 0.5, "detail": "a"}, work)
                for key, outcome in zip(keys[:4], outcomes, strict=True)
            ]
        )
    return path.read_bytes()


Change = tuple[str, tuple[Any, ...]]
_cell = (
    rubbish.filter(lambda v: v is None or isinstance(v, str | float | bytes) or (type(v) is int and abs(v) < 2**63))
    | st.binary(max_size=8)
    | st.sampled_from(
        ['{"outcome": "holds"}', '{"outcome": 3}', "[" * 10_000, '{"outcome": NaN}', "{}", '{"left": 1e400}']
    )
)
_SCRIPTS = (
    "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM cells; END",
    "CREATE VIEW v AS SELECT load_extension('x')",
    "DROP TABLE work; CREATE VIEW work AS SELECT 1 AS key",
    "DELETE FROM results",
    "DELETE FROM cells",
    "DELETE FROM meta",
    "PRAGMA application_id=0",
    "PRAGMA user_version=7",
    "UPDATE meta SET value = '2' WHERE name = 'format'",
    "UPDATE cells SET position = -position",
    "PRAGMA journal_mode=WAL",
    "PRAGMA encoding='UTF-16'",
)
_columns = st.sampled_from(
    [*(f"cells.{n}" for n in ("key", "document")), "results.key", "results.result", "meta.value", "meta.name",
     *(f"work.{n}" for n in ("seconds", "attempts", "worker", "versions", "finished"))]
)  # fmt: skip
changes = st.tuples(_columns, st.tuples(st.integers(0, 5), _cell)) | st.tuples(
    st.just("script"), st.tuples(st.sampled_from(_SCRIPTS))
)


def with_changes(content: bytes, listed: Sequence[Change]) -> bytes:
    """A store after changes that another program of SQLite might make, its checksums made anew."""
    from validate.sweep.integrity import checksum

    path = folder() / "changed.sqlite"
    path.write_bytes(content)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name, given in listed:
            try:
                if name == "script":
                    connection.executescript(given[0])
                    continue
                table, column = name.split(".")
                row, value = given
                where = f"rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET ?)"
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value, row))
            except (sqlite3.Error, UnicodeEncodeError):
                continue
        connection.create_function("checksum_of", 2, checksum)
        with suppress(sqlite3.Error):  # there may be no such table any more
            connection.execute("UPDATE results SET checksum = checksum_of(key, result)")
        connection.execute("PRAGMA journal_mode=DELETE")
    return path.read_bytes()


def store_files() -> st.SearchStrategy[bytes]:
    """Files of SQLite: bytes changed, rows changed, both."""
    content = valid_store()
    places = st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), min_size=1, max_size=8)

    def flipped(at: list[tuple[int, int]]) -> bytes:
        data = bytearray(content)
        for place, value in at:
            data[place] = value
        return bytes(data)

    rows = st.lists(changes, min_size=1, max_size=3).map(lambda listed: with_changes(content, listed))
    head = st.tuples(st.integers(0, 99), st.integers(0, 255)).map(lambda one: flipped([one]))
    cut = st.integers(0, len(content)).map(lambda end: content[:end])
    return st.one_of(rows, rows, places.map(flipped), places.map(flipped), head, cut, st.binary(max_size=200))


def read_store(content: bytes) -> str:
    """A store, read and gone on with."""
    from validate.sweep import export
    from validate.sweep.cell import canonical, key
    from validate.sweep.records import Work
    from validate.sweep.store import Store

    path = folder() / "store.sqlite"
    for ending in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(content)
    try:
        with Store.read(path) as store:
            found = export.status(store)
            rows = list(store.rows())
            for row in rows:
                assert row.key == key(row.document)
                canonical(row.document)
            results = [row.result for row in rows if row.result is not None]
            if len(rows) == found["cells"] and len(results) == found["finished"]:
                failed = sum(result.get("outcome") in ("error", "timeout", "crashed") for result in results)
                assert failed == found["failures"]
            json.dumps(found)
            export.export(store, folder() / "table.csv")
        with Store.open(path) as store:
            pending = list(store.pending(retry=True))
            for name, document in pending:
                assert name == key(document)
            work = Work(1.0, 1, "", "", "")
            store.keep([(name, {"outcome": "holds", "left": 1.0}, work) for name, _ in pending[:1]])
            again = {name for name, _ in store.pending(retry=True)}
            assert again == {name for name, _ in pending[1:]}
    except (ValueError, OSError) as error:
        return clear(error)
    return ACCEPTED
