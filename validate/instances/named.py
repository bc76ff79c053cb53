"""Algorithms by their names: ``paper/name`` of the catalogue, ``file.py:name`` of a file, which is run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from theory import catalog
from theory.landmarks import LANDMARKS
from theory.papers import BUILT_IN
from theory.program import Algorithm
from validate.files import run

COLLECTIONS: Mapping[str, str] = {"algorithms": "theory.papers.algorithms", "specs": "theory.papers.specs"}
"""Modules of algorithms that are no papers, by the first part of the names of what they hold."""


def algorithm_named(name: str) -> Algorithm:
    """The algorithm of a name.

    Raises:
        ValueError: where there is none; it says which come close.
        OSError: for a file that cannot be read.
    """
    path, colon, own = name.rpartition(".py:")
    if colon:
        return _chosen(own, _algorithms_in(module_of(f"{path}.py")), f"{path}.py", f"{path}.py:")
    paper, slash, own = name.partition("/")
    if not slash:
        raise ValueError(f"algorithm={name!r} is outside the names paper/name and file.py:name")
    return _chosen(own, _algorithms_of(paper), paper, f"{paper}/")


def _chosen(own: str, known: Mapping[str, Algorithm], where: str, head: str) -> Algorithm:
    if own in known:
        return known[own]
    close = get_close_matches(own, known, n=1, cutoff=0.5)
    hint = f"; did you mean {head + close[0]!r}?" if close else f"; there are {', '.join(known)}" if known else ""
    raise ValueError(f"algorithm={head + own!r}: {where} has no algorithm {own!r}{hint}")


def _algorithms_of(paper: str) -> dict[str, Algorithm]:
    if paper in COLLECTIONS:
        return _algorithms_in(import_module(COLLECTIONS[paper]))
    names = catalog.names()
    if paper not in names:
        close = get_close_matches(paper, [*COLLECTIONS, *names], n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"algorithm: there is no paper {paper!r}{hint} (of a file of your own it is file.py:name)")
    module = {**LANDMARKS, **BUILT_IN}.get(paper)
    found = {} if module is None else _algorithms_in(import_module(module))
    for claim in catalog.claims(paper):
        of = getattr(claim, "of", None)
        if isinstance(of, Algorithm):
            found.setdefault(of.name, of)
    return found


def _algorithms_in(module: ModuleType) -> dict[str, Algorithm]:
    return dict(_entries(module))


def _entries(module: ModuleType) -> Iterator[tuple[str, Algorithm]]:
    for value in vars(module).values():
        if isinstance(value, Algorithm):
            yield value.name, value


def module_of(path: str | Path) -> ModuleType:
    """A Python file, run; what it prints goes to stderr.

    Raises:
        OSError: when it cannot be read.
        ValueError: when it is not Python, or fails; the message names the file.
    """
    return _module_of(str(path), Path(path).read_bytes())


@lru_cache(maxsize=32)
def _module_of(path: str, content: bytes) -> ModuleType:
    with redirect_stdout(sys.stderr):
        return run(path, content)
