"""A paper in one Python file: found, run and made known.

Unlike the JSON and TOML that other commands read, such a file is a program, and reading it runs it.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from theory import catalog
from theory.claim import LABEL, Claim, Paper
from validate import papers

_TARGET = re.compile(r"(?P<path>.+\.py)(:(?P<label>[^:]*))?\Z")


def is_file(target: str) -> bool:
    """Whether a target names a Python file, ``paper.py`` or ``paper.py:label``, rather than a known paper or claim."""
    return _TARGET.match(target) is not None


def load(path: str | Path) -> Paper:
    """The paper in a Python file, which is run for that.

    It is made known to the catalogue and to `validate.papers` for as long as this process runs.

    Args:
        path: of a file with one `Paper` (under any name, or several with one under the name ``PAPER``).

    Raises:
        OSError: when the file cannot be read.
        ValueError: when it is not Python, fails, has no paper, or one with the name of a paper that is known anyway;
            the message names the file, and the line where there is one.
    """
    from validate.own.module import OwnModule

    path = Path(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from error
    except ValueError as error:  # null bytes
        raise ValueError(f"{path} is not Python: {error}") from error
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{path}{_line(error, str(path))}: {kind}{error}") from error
    paper = _paper_in(module, path)
    try:
        catalog.add(paper)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    papers.add(paper.name, OwnModule(paper))
    return paper


def targets(given: Sequence[str]) -> list[str]:
    """The same targets as names and ids that the catalogue knows: papers in files are loaded.

    Raises:
        ValueError: as `load`; for a label that the paper does not have; for two files with one paper's name.
        OSError: as `load`.
    """
    loaded: dict[str, Paper] = {}
    found: list[str] = []
    for target in given:
        match = _TARGET.match(target)
        if match is None:
            found.append(target)
            continue
        path = match["path"]
        if path not in loaded:
            paper = load(path)
            same = [other for other, earlier in loaded.items() if earlier.name == paper.name]
            if same:
                raise ValueError(f"{path} and {same[0]} both have the paper {paper.name!r}")
            loaded[path] = paper
        label = match["label"]
        found.append(loaded[path].name if label is None else _labelled(loaded[path], path, label).id)
    return found


def one(target: str) -> str:
    """The id of the one claim that a target stands for: an id as it is, or ``paper.py:label``.

    The label may be left out where the paper has one claim only.

    Raises:
        ValueError, OSError: as `targets`; and for a paper of several claims without a label.
    """
    match = _TARGET.match(target)
    if match is None:
        return target
    paper = load(match["path"])
    if match["label"] is None and len(paper.claims) == 1:
        return paper.claims[0].id
    return _labelled(paper, match["path"], match["label"]).id


def find(target: str) -> Claim:
    """The claim of an id, or of ``paper.py:label``, a file that is run.

    Raises:
        ValueError, OSError: as `one`; for an id that is not known.
    """
    return catalog.claim(one(target))


def _labelled(paper: Paper, path: str, label: str | None) -> Claim:
    for claim in paper:
        if label in (claim.label, claim.id):
            return claim
    choice = ", ".join(f"{path}:{claim.label}" for claim in paper)
    if label is None:
        raise ValueError(f"{path} has {len(paper.claims)} claims; say which: {choice}")
    raise ValueError(f"{path} has no claim {label!r}; there are {choice}")


def _paper_in(module: ModuleType, path: Path) -> Paper:
    found = {id(value): value for value in vars(module).values() if isinstance(value, Paper)}
    named = vars(module).get("PAPER")
    if isinstance(named, Paper):
        paper = named
    elif len(found) == 1:
        paper = next(iter(found.values()))
    else:
        raise ValueError(f"{path} has {len(found) or 'no'} papers; it needs a theory.Paper under the name PAPER")
    if not LABEL.match(paper.name):
        raise ValueError(f"{path}: the paper's name {paper.name!r} is not of lower-case letters, digits, '.' and '-'")
    if not paper.claims:
        raise ValueError(f"{path}: the paper {paper.name!r} has no claims")
    return paper


def _line(error: BaseException, path: str) -> str:
    """The last line of that file that led to the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f", line {lines[-1]}" if lines else ""
