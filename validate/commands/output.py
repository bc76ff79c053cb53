"""How the commands print: JSON and tables on stdout, progress on stderr."""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer


def plain(value: Any) -> Any:
    """`value` in JSON's own types: fractions as "p/q", arrays as lists, NaN and the infinities as None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return plain(value.tolist())
    if isinstance(value, Iterable):
        return [plain(entry) for entry in value]
    return str(value)


def print_json(value: Any) -> None:
    """Print `value` as JSON, and nothing else, on stdout."""
    typer.echo(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: with rules and folded cells on a terminal, as aligned columns elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        pretty = Table()
        for header in headers:
            pretty.add_column(header, overflow="fold")
        for row in rows:
            pretty.add_row(*(Text(cell) for cell in row))
        Console().print(pretty)
        return
    lines = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    for line in lines:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def number(value: Any) -> str:
    """A number, or a list of numbers, for a table; nothing for None."""
    if isinstance(value, list):
        return ", ".join(map(number, value))
    return "" if value is None else f"{value:.6g}"


def progress(message: str) -> None:
    """Tell the user, on stderr, what is being done now."""
    typer.echo(message, err=True)


@contextmanager
def bar(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, to be told how much of `total` is done; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=total)
        yield lambda done: shown.update(task, completed=done)


@contextmanager
def noticing_interrupts() -> Iterator[Callable[[], None]]:
    """A function that raises KeyboardInterrupt once an interrupt has come, also one that was lost.

    Python drops what a signal raises while a destructor, or a callback from C, is running.
    """
    came = False

    def note(number: int, frame: Any) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield check
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


def read_object(path: str) -> dict[str, Any]:
    """The JSON object in the file at `path`, or on stdin for ``"-"``.

    Raises:
        ValueError: when the text is not JSON, or not an object.
        OSError: when the file cannot be read.
    """
    name = "stdin" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"{name} is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"{name} holds a JSON {type(value).__name__}; an object is needed")
    return value
