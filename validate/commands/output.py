"""How the commands print: JSON and tables on stdout, progress on stderr."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any, TextIO

import typer


def plain(value: Any) -> Any:
    """`value` in JSON's own types: fractions as "p/q", functions by name, NaN and the infinities as None."""
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
    if callable(value):  # its address would be another one each time
        function = getattr(value, "func", value)
        return f"{function.__module__}.{function.__qualname__}"
    return str(value)


_stdout: TextIO | None = None  # the real one, while all that is not JSON goes to stderr


@contextmanager
def json_alone() -> Iterator[None]:
    """While this lasts, stdout takes what `print_json` prints; what anything else prints there goes to stderr."""
    global _stdout
    before, _stdout = _stdout, sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _stdout = before


def print_json(value: Any) -> None:
    """Print `value` as JSON, and nothing else, on stdout."""
    typer.echo(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False), file=_stdout)


COLOURS = {
    **dict.fromkeys(("refuted", "vacuous", "survived", "false", "FAILED"), "red"),
    **dict.fromkeys(("proved", "supported", "killed", "true", "ok"), "green"),
    **dict.fromkeys(("undecided", "skipped"), "yellow"),
}
"""Of cells that are one of these words, where there are colours at all; no meaning is in a colour alone."""
PATIENCE = 5.0
"""Seconds between two lines."""
LEAST, LONG = 28, 36
"""Columns of text below which a table is no longer readable; characters of a cell that has a line of its own."""


def coloured() -> bool:
    """Whether stdout shows colours: a terminal that is not dumb, unless NO_COLOR is set. FORCE_COLOR changes nothing:
    what is no terminal is read by a program."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def animated() -> bool:
    """Whether a progress bar can be drawn on stderr."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in (None, "", "dumb", "unknown")


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as aligned columns; one that is wider than the terminal is folded, never within a word.

    The column with most text is folded where enough of the width is left for it; else each row becomes a few lines.
    Where stdout is no terminal each row is one line, whatever its width.
    """
    lines = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if room is not None and sum(widths) + 2 * (len(widths) - 1) > room:
        widest = max(range(len(widths)), key=lambda i: (any(" " in line[i] for line in lines[1:]), widths[i]))
        left = room - sum(widths) + widths[widest] - 2 * (len(widths) - 1)
        if left < LEAST or len(widths) == 1:
            _print_records(lines, room)
            return
        widths[widest] = left
    for place, line in enumerate(lines):
        folded = [
            textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) if len(cell) > width else [cell]
            for cell, width in zip(line, widths, strict=True)
        ]
        for parts in zip_longest(*folded, fillvalue=""):
            padded = [part + " " * (width - len(part)) for part, width in zip(parts, widths, strict=True)]
            padded[-1] = parts[-1]
            text = "  ".join(_styled(part, header=place == 0) for part in padded)
            typer.echo(text.rstrip())


def _print_records(lines: Sequence[Sequence[str]], room: int) -> None:
    """Each row as its first cell, and the others below it with their headers."""
    headers, *rows = lines
    for first, *rest in rows:
        named = [(f"{header}: ", cell) for header, cell in zip(headers[1:], rest, strict=True) if cell]
        short = ["".join(pair) for pair in named if len(pair[1]) <= LONG]
        typer.echo(first)
        text = [*textwrap.wrap("; ".join(short), room - 2, break_long_words=False, break_on_hyphens=False)]
        for header, cell in named:
            if len(cell) > LONG:
                text += textwrap.wrap(header + cell, room - 2, break_long_words=False, break_on_hyphens=False)
        for line in text:
            typer.echo(f"  {line}")


def _styled(part: str, *, header: bool) -> str:
    """A cell with its colour, if it has one."""
    if not coloured():
        return part
    if header:
        return typer.style(part, bold=True)
    colour = COLOURS.get(part.strip())
    return typer.style(part, fg=colour) if colour else part


def number(value: Any) -> str:
    """A number, or a list of numbers, for a table; nothing for None."""
    if isinstance(value, list):
        return ", ".join(map(number, value))
    return "" if value is None else f"{value:.6g}"


def ratio(value: float | None) -> str:
    """left / right for a table; beyond `validate.verdict.BEYOND` only that."""
    from validate.verdict import BEYOND

    return f"> {BEYOND:g}" if value is not None and BEYOND < value < math.inf else number(value)


def progress(message: str) -> None:
    """Tell the user, on stderr, what is being done now.

    Raises:
        KeyboardInterrupt: where an interrupt has come (`noticing_interrupts`).
    """
    noting = signal.getsignal(signal.SIGINT)
    if isinstance(noting, _Noting):
        noting.check()
    say(message)


def say(message: str) -> None:
    """A line on stderr."""
    try:
        typer.echo(message, err=True)
    except BrokenPipeError:
        raise
    except OSError:  # a full disk; what is found, and the exit status, matter more
        pass


@contextmanager
def bar(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, to be told how much of `total` is done; nothing where stderr is no terminal."""
    if not animated():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=total)
        yield lambda done: shown.update(task, completed=done)


@contextmanager
def telling_time(what: str) -> Iterator[None]:
    """While this lasts, a line on stderr every `PATIENCE` seconds, for work that cannot say how far it is."""
    over, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(PATIENCE):
            with suppress(OSError, ValueError):  # nobody reads it any more
                typer.echo(f"{what}: {time.monotonic() - began:.0f} s so far", err=True)

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        over.set()


class _Noting:
    """A handler of interrupts that remembers them: Python drops what a signal raises while a destructor, or a callback
    from C, is running."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: Any) -> None:
        self.came = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt once an interrupt has come, also one that was lost."""
        if self.came:
            raise KeyboardInterrupt


@contextmanager
def noticing_interrupts() -> Iterator[Callable[[], None]]:
    """While this lasts no interrupt is lost: what it gives, and `progress`, raise KeyboardInterrupt once one came."""
    before = signal.getsignal(signal.SIGINT)
    if isinstance(before, _Noting):
        yield before.check
        return
    noting = _Noting()
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield noting.check
        return
    signal.signal(signal.SIGINT, noting)
    shown, sys.unraisablehook = sys.unraisablehook, _without_interrupts(sys.unraisablehook)
    try:
        yield noting.check
    finally:
        sys.unraisablehook = shown
        signal.signal(signal.SIGINT, before)


def _without_interrupts(shown: Callable[[Any], None]) -> Callable[[Any], None]:
    """What is told of errors that nobody can catch, but for interrupts: these are remembered, and no defect."""

    def told(error: Any) -> None:
        if not isinstance(error.exc_value, KeyboardInterrupt):
            shown(error)

    return told


def writable(option: str, folder: Path) -> None:
    """Make sure, before any work is done, that a folder is there or can be made, and takes files.

    Raises:
        ValueError: naming the option.
    """
    if folder.is_symlink() and not folder.exists():
        raise ValueError(f"{option}={folder} is a link that leads nowhere; give another {option}")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        if not there.is_dir():
            raise NotADirectoryError(None, f"{there} is a file")
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        where = f"{option}={folder}" if there == folder else f"{option}={folder}, in {there},"
        raise ValueError(f"{where} cannot be written to: {error.strerror}; give another {option}") from error


def read_text(path: Path) -> str:
    """The text in a file.

    Raises:
        ValueError: when it is not UTF-8.
        OSError: when it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def read_object(path: str) -> dict[str, Any]:
    """The JSON object in the file at `path`, or on stdin for ``"-"``.

    Raises:
        ValueError: when the text is not JSON, or not an object.
        OSError: when the file cannot be read.
    """
    name = "stdin" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else read_text(Path(path))
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
