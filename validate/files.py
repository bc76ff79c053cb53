"""A paper in one Python file: found, run and made known.

Unlike the JSON and TOML that other commands read, such a file is a program, and reading it runs it. A paper that it
holds is known to the process that ran it: another process is told of the file (`Source`), and runs it itself (`again`).
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from theory import catalog
from theory.claim import LABEL, Claim, Paper, written


class Source(NamedTuple):
    """The file from which a paper was loaded.

    Attributes:
        paper: its name.
        path: as it was given.
        digest: of what was in the file.
    """

    paper: str
    path: str
    digest: str


_sources: dict[str, Source] = {}  # by the paper's name, for as long as this process knows it
_TARGET = re.compile(r"(?P<path>.+\.py)(:(?P<label>[^:]*))?\Z")


def is_file(target: str) -> bool:
    """Whether a target names a Python file, ``paper.py`` or ``paper.py:label``, rather than a known paper or claim."""
    return _TARGET.match(target) is not None


def load(path: str | Path, content: bytes | None = None) -> Paper:
    """The paper in a Python file, which is run for that.

    It is made known to the catalogue for as long as this process runs.

    Args:
        path: of a file with one `Paper` (under any name, or several with one under the name ``PAPER``); without
            any, the claims that it writes are a paper with the file's name.
        content: of the file, where it has been read already.

    Raises:
        OSError: when the file cannot be read.
        ValueError: when it is not Python, fails, has neither paper nor claims, or a paper with the name of one that is
            known anyway; the message names the file, and the line where there is one.
    """
    given, path = str(path), Path(path)
    content = path.read_bytes() if content is None else content
    name = _module_name(path)
    before = sys.modules.get(name)
    with written() as claims:
        module = run(path, content)
    try:
        paper = _paper_in(module, path, claims)
        try:
            catalog.add(paper)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    except BaseException:
        _put_back(name, before)
        raise
    _sources[paper.name] = Source(paper.name, given, hashlib.sha256(content).hexdigest())
    return paper


def run(path: str | Path, content: bytes) -> ModuleType:
    """The module that a Python file is, run.

    Args:
        path: of the file.
        content: what is in it.

    Raises:
        ValueError: when it is not Python, or fails; the message names the file, and the line where there is one.
    """
    path = Path(path)
    try:
        code = compile(content, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""  # null bytes are in none
        raise ValueError(f"{path}{line}: {error.msg}") from error
    except ValueError as error:  # null bytes, to Python 3.11.3
        raise ValueError(f"{path} is not Python: {error}") from error
    module = ModuleType(_module_name(path))
    module.__file__ = str(path)
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # where dataclasses and pickle look for the classes that it defines
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        _put_back(module.__name__, before)
        told = _told(error)
        if told.startswith(f"{path.name}, line "):  # as an algorithm says where it is
            told = f"{path}{told.removeprefix(path.name)}"
        where = "" if told.startswith(f"{path}, line ") else f"{path}{_line(error, str(path))}: "
        raise ValueError(where + told) from error
    except BaseException:
        _put_back(module.__name__, before)
        raise
    return module


def _told(error: BaseException) -> str:
    """What went wrong in a file."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def source_of(paper: str) -> Source | None:
    """The file from which this process has a paper; None where it is from none."""
    return _sources.get(paper)


def sources(papers: Iterable[str]) -> tuple[Source, ...]:
    """The files of those papers that this process has from files; for `again`."""
    return tuple(_sources[paper] for paper in papers if paper in _sources)


def target_of(id: str) -> str:
    """What a reader gives a command for a claim of this id, or for a paper of this name.

    That is the id itself, or ``my_paper.py:label``, quoted for a shell, where this process has it from a file: the id
    means nothing to another.
    """
    paper, _, label = id.partition("/")
    found = source_of(paper)
    if found is None:
        return id
    return shlex.quote(f"{found.path}:{label}" if label else found.path)


@contextmanager
def known(given: Sequence[str]) -> Iterator[list[str]]:
    """`targets`, for a while: afterwards the process knows the papers that it knew before.

    Raises:
        ValueError, OSError: as `targets`.
    """
    names = {_module_name(Path(match["path"])) for target in given if (match := _TARGET.match(target))}
    with ExitStack() as after:
        for name in names:
            after.callback(_put_back, name, sys.modules.get(name))
        after.enter_context(forgetting())
        yield targets(given)


@contextmanager
def forgetting() -> Iterator[None]:
    """What is loaded within is forgotten afterwards, and what was known before is known again."""
    before = dict(_sources)
    with catalog.forgetting():
        try:
            yield
        finally:
            _sources.clear()
            _sources.update(before)


def again(sources: Iterable[Source]) -> None:
    """Load the papers in files that another process has loaded, where this one has not; what they print is dropped.

    Raises:
        ValueError: as `load`; for a file that is no longer what it was.
        OSError: as `load`.
    """
    for there in sources:
        if there.paper in _sources:
            continue
        with redirect_stdout(io.StringIO()):
            load(there.path)
        if source_of(there.paper) != there:
            raise ValueError(f"{there.path} was changed while it was being checked; begin again")


def knowing(sources: Sequence[Source], function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """``function(*arguments)`` in any process: papers in files are loaded there first, as `again` does."""
    again(sources)
    return function(*arguments)


def _module_name(path: Path) -> str:
    """A name of its own for each file, the same in every process; it has no dot, and is no importable module's."""
    return f"{path.stem}-{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:12]}".replace(".", "-")


def _put_back(name: str, before: ModuleType | None) -> None:
    if before is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = before


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


def _paper_in(module: ModuleType, path: Path, claims: Sequence[Claim]) -> Paper:
    found = {id(value): value for value in vars(module).values() if isinstance(value, Paper)}
    named = vars(module).get("PAPER")
    if isinstance(named, Paper):
        paper = named
    elif len(found) == 1:
        paper = next(iter(found.values()))
    elif found:
        raise ValueError(f"{path} has {len(found)} papers; it needs a theory.Paper under the name PAPER")
    else:
        paper = _of_its_claims(path, [claim for claim in claims if not claim.paper])
    if not LABEL.match(paper.name):
        raise ValueError(f"{path}: the paper's name {paper.name!r} is not of lower-case letters, digits, '.' and '-'")
    if not paper.claims:
        raise ValueError(f"{path}: the paper {paper.name!r} has no claims")
    return paper


def _of_its_claims(path: Path, claims: Sequence[Claim]) -> Paper:
    """A paper with the file's name, of the claims that the file writes."""
    if not claims:
        raise ValueError(f"{path} has no papers, and no claims")
    name = re.sub(r"[^a-z0-9.-]+", "-", path.stem.lower()).strip(".-") or "paper"
    try:
        return Paper(name, path.stem, "", tuple(claims))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _line(error: BaseException, path: str) -> str:
    """The last line of that file that led to the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f", line {lines[-1]}" if lines else ""
