"""What the tests of the engines have computed instead of cells: functions of a module, as workers need them."""

import contextlib
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Grid:
    """A specification for the coordinator: its documents as they are."""

    cells: tuple[Mapping[str, Any], ...]
    text: str = "a grid"
    name: str = "grid"

    def documents(self) -> Iterable[Mapping[str, Any]]:
        """The documents."""
        return iter(self.cells)


def grid(number: int, **entries: Any) -> Grid:
    """Cells 0, 1, ..., each with the same other entries."""
    return Grid(tuple({"at": at, **entries} for at in range(number)))


def forge(path: Path, statement: str, *values: Any) -> None:
    """Change a store, and give its results the checksums that they then need, as whoever means harm can."""
    from validate.sweep.integrity import checksum

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
        connection.create_function("checksum_of", 2, checksum)
        connection.execute("UPDATE results SET checksum = checksum_of(key, result)")


def holds(at: int) -> dict[str, Any]:
    """A result that depends on the cell."""
    return {"outcome": "holds", "left": at / 7, "right": float(at), "detail": "as it should be"}


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """Nothing but an answer."""
    return holds(document["at"])


def slow(document: dict[str, Any]) -> dict[str, Any]:
    """An answer after `seconds`, with a trace of the beginning in `folder`."""
    began(document)
    time.sleep(document["seconds"])
    return holds(document["at"])


def began(document: dict[str, Any]) -> None:
    """Leave the process's number where a test finds it."""
    folder = document.get("folder")
    if folder is not None:
        half = Path(folder, f".{document['at']}-{os.getpid()}")
        half.write_text(str(os.getpid()), encoding="utf-8")
        half.rename(Path(folder, f"{document['at']}"))


def first_time(document: dict[str, Any]) -> bool:
    """Whether nobody has asked this for this cell before."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(Path(document["folder"], f"seen-{document['at']}"), os.O_CREAT | os.O_EXCL))
        return True
    return False


def tells(document: dict[str, Any]) -> dict[str, Any]:
    """Which process it was, after a moment."""
    time.sleep(0.005)
    return {"outcome": "holds", "detail": str(os.getpid())}


def dies_once(document: dict[str, Any]) -> dict[str, Any]:
    """Every fifth cell kills its worker the first time."""
    if document["at"] % 5 == 2 and first_time(document):
        os.kill(os.getpid(), signal.SIGKILL)
    return holds(document["at"])


def dies(document: dict[str, Any]) -> dict[str, Any]:
    """Cell 3 kills its worker every time."""
    if document["at"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return holds(document["at"])


def stays(document: dict[str, Any]) -> dict[str, Any]:
    """Cell 1 never ends."""
    if document["at"] == 1:
        began(document)
        while True:
            time.sleep(60)
    return holds(document["at"])


class Awkward(Exception):
    """An error that cannot be brought back from its pickle."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"awkward {one}\nsecond line {two}")


def misbehaves(document: dict[str, Any]) -> Any:
    """One way for each cell."""
    print("what a cell prints is not the command's output")
    ways = {
        0: lambda: holds(0),
        1: lambda: 1 / 0,
        2: lambda: {"outcome": "holds", "left": float("nan")},
        3: lambda: {"outcome": "holds", "left": object()},
        4: lambda: "holds",
        5: lambda: {"outcome": "wonderful"},
        6: lambda: sys.exit(3),
        7: lambda: _raise(Awkward(1, 2)),
        8: lambda: {"outcome": "holds", "detail": "x" * 2_000_000},
        9: lambda: _raise(KeyboardInterrupt()),
        10: lambda: _raise(ValueError("x" * 5000)),
        11: lambda: _raise(LookupError(f"\ud800 {object()!r}")),
        12: lambda: _nested(100_000),
        13: lambda: _raise(MemoryError()),
    }
    return ways[document["at"]]()


def _raise(error: BaseException) -> None:
    raise error


def _nested(depth: int) -> dict[str, Any]:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return {"outcome": "holds", "detail": value}
