"""What a store is held against: the keys of its documents, the checksums of its results, the authors' files."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from validate.sweep.cell import canonical, key


def document(path: Path, name: object, text: object) -> dict[str, Any]:
    """The document of a cell of the store at `path`.

    Raises:
        ValueError: when it is not what its key, `name`, says.
    """
    found = found_object(path, name, text)
    try:
        same = name == key(found) and text == canonical(found)
    except RecursionError:  # it was read, but is too deep to be written
        same = False
    if not same:
        raise ValueError(f"{path} is damaged: the document of cell {str(name)[:40]} is not what its key says")
    return found


def found_object(path: Path, name: object, text: object) -> dict[str, Any]:
    """What a text of the store at `path` says.

    Raises:
        ValueError: when it is no object of JSON, naming the cell.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged: cell {str(name)[:40]} has text that is no object of JSON")
    return found


def checksum(name: object, result: object) -> str:
    """Of a result with the key of its cell: the first 16 hexadecimal digits of a SHA-256.

    It tells of damage, not of somebody who changes a store on purpose.
    """
    return hashlib.sha256(f"{name} {result}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check(path: Path, name: object, result: object, found: object) -> None:
    """Refuse a result of the store at `path` that is not what `found`, its checksum, says.

    Raises:
        ValueError: naming the cell.
    """
    if found != checksum(name, result):
        raise ValueError(
            f"{path} is damaged: the result of cell {str(name)[:40]} is not what its checksum says; "
            f"`fedproof sweep SPEC.toml --out {path} --resume` computes it again"
        )


def drop_damaged(connection: sqlite3.Connection) -> list[str]:
    """Delete the results that are not what their checksums say; returns the keys of their cells."""
    rows = connection.execute("SELECT rowid, key, result, checksum FROM results")
    found = [(row, name) for row, name, result, its in rows if its != checksum(name, result)]
    connection.executemany("DELETE FROM results WHERE rowid = ?", [(row,) for row, _ in found])
    connection.executemany("DELETE FROM work WHERE key = ?", [(name,) for _, name in found])
    return [str(name)[:40] for _, name in found]


def refuse_changed_files(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse wanted cells of an author's file, of which the store at `path` has cells with other contents.

    Args:
        path: of the store.
        connection: to it, with a table `wanted` of keys.

    Raises:
        ValueError: naming the file, and the SHA-256 of both.
    """
    claim, file = "json_extract(document, '$.claim')", "json_extract(document, '$.file')"
    files = (
        f"SELECT DISTINCT substr({claim}, 1, instr({claim}, ':') - 1) AS name, {file} AS file FROM cells "
        f"WHERE {file} IS NOT NULL AND key"
    )
    wanted = "IN (SELECT key FROM wanted)"
    found = connection.execute(
        f"SELECT old.name, old.file, new.file FROM ({files} NOT {wanted}) old JOIN ({files} {wanted}) new "
        "ON old.name = new.name AND old.file <> new.file"
    ).fetchone()
    if found is None:
        return
    name, then, now = (str(entry) for entry in found)
    raise ValueError(
        f"{name} has changed since {path} was begun: its SHA-256 was {then[:12]}... and is now {now[:12]}... "
        "Nothing is lost: the cells of the earlier file stay. Give the changed file another store (--out), or put the "
        "earlier one back"
    )
