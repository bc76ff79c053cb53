"""A paper of one's own in one file: `fedproof new`, and what the other commands make of ``paper.py:LABEL``.

What such a file prints while it is read goes to stderr: stdout is for what the command was asked for.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from validate.commands.options import AsJson
from validate.commands.output import print_json


def known(targets: Sequence[str]) -> list[str]:
    """Targets as names and ids of the catalogue; see `validate.files.targets`. Other targets cost no import."""
    if not any(_is_file(target) for target in targets):
        return list(targets)
    from validate import files

    with redirect_stdout(sys.stderr):
        return files.targets(targets)


@contextmanager
def speaking_aside(targets: Sequence[str]) -> Iterator[None]:
    """What is printed goes to stderr while files are among the targets; for functions that load them themselves."""
    with redirect_stdout(sys.stderr) if any(_is_file(target) for target in targets) else nullcontext():
        yield


def one(target: str) -> str:
    """The id of one claim; see `validate.files.one`."""
    if not _is_file(target):
        return target
    from validate import files

    with redirect_stdout(sys.stderr):
        return files.one(target)


def _is_file(target: str) -> bool:
    return target.endswith(".py") or ".py:" in target


def new(
    path: Annotated[Path, typer.Argument(metavar="PAPER.py", help="The file to be written.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a paper of your own: one commented file, to be changed.

    It has an algorithm and four claims, and can be checked as it is. The other commands take the file in
    place of a paper (`check`, `report`, `claims --paper`), or `paper.py:LABEL` in place of a claim. They run it, as
    Python runs any program; so read a stranger's file first.

    Example: fedproof new my_paper.py
    """
    from validate.template import written

    name = written(path, force)
    if as_json:
        print_json({"paper": name, "file": str(path)})
        return
    typer.echo(f"{path} has the paper {name!r}; next: fedproof check {shlex.quote(str(path))} --quick")
