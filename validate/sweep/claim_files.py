"""Claims in an author's own file, ``my_paper.py:label``: named in a specification, made again where cells are computed.

A cell has the claim as ``my_paper.py:label``, the SHA-256 of the file's contents as ``file``, and the claim's
``relation``, for readers of a store. Where the file lies is no part of a cell and comes from the specification alone:
nothing that a store says is ever run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, get_args

from theory.sentence import Relation
from validate.sweep.entries import shown, suggestion

if TYPE_CHECKING:
    from theory.claim import Claim, Paper

# What cells of such a claim have besides.
ENTRIES = ("file", "relation")
RELATIONS: tuple[str, ...] = get_args(Relation)


def relation_of(claim: Claim) -> str:
    """``<=`` and so on."""
    return claim.sentence.relation


_NAME = re.compile(r"(?P<file>[^/\\:]+\.py):(?P<label>[^:]+)\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")

# What was run in this process, by absolute path and SHA-256.
_loaded: dict[tuple[str, str], Paper] = {}
_loading = Lock()


@dataclass(frozen=True)
class ClaimFile:
    """A file that a specification names.

    Attributes:
        path: absolute.
        sha256: of its contents, which were run.
    """

    path: str
    sha256: str


def file_of(name: str) -> str | None:
    """The file's name in the name of a claim such as ``my_paper.py:label``; None for the id of another claim."""
    found = _NAME.match(name)
    return None if found is None else found["file"]


def read(target: str, folder: Path | str) -> tuple[str, ClaimFile, Claim]:
    """What an entry of ``claims`` names: the file is run.

    Args:
        target: ``path.py:label``, of which `validate.files.is_file` is true.
        folder: that a relative path begins at.

    Returns:
        The claim's name in cells, its file, and the claim.

    Raises:
        ValueError: for a file that is not there or cannot be read, one that `validate.files.load` refuses, and a label
            that is missing or that the paper does not have.
    """
    stem, colon, label = ("", "", "") if target.endswith(".py") else target.rpartition(".py:")
    path = Path(folder, f"{stem}.py" if colon else target)
    try:
        sha256, paper = _run(path)
    except OSError as error:
        raise ValueError(f"{shown(str(path))} cannot be read: {error.strerror or error}") from None
    found = next((claim for claim in paper if label in (claim.label, claim.id)), None)
    labels = [claim.label for claim in paper]
    if found is None:
        some = ", ".join(labels[:12]) + (", ..." if len(labels) > 12 else "")
        if not label:
            raise ValueError(
                f"{shown(target)} lacks the label of a claim, as in {path.name}:{labels[0]}; it has {some}"
            )
        raise ValueError(f"{path} has no claim {shown(label)}; it has {some}{suggestion(label, labels)}")
    return f"{path.name}:{found.label}", ClaimFile(str(path.absolute()), sha256), found


def entries(file: ClaimFile, claim: Claim) -> dict[str, str]:
    """`ENTRIES` of the cells of a claim."""
    return dict(zip(ENTRIES, (file.sha256, relation_of(claim)), strict=True))


def check(given: Mapping[str, Any]) -> None:
    """Refuse `ENTRIES` that no specification gives.

    Raises:
        ValueError: naming the entry, its value and what it may be.
    """
    if type(given["file"]) is not str or not _SHA256.match(given["file"]):
        raise ValueError(f"file={shown(given['file'])} is not the SHA-256 of a file, 64 hexadecimal digits")
    if type(given["relation"]) is not str or given["relation"] not in RELATIONS:
        raise ValueError(f"relation={shown(given['relation'])} is not one of {', '.join(RELATIONS)}")


def find(name: str, sha256: str, relation: str, paths: Mapping[str, str]) -> Claim:
    """The claim of a cell, where the cell is computed: the file there is run, once a process.

    Args:
        name: ``my_paper.py:label``.
        sha256: of the file's contents.
        relation: of the claim.
        paths: absolute paths by files' names.

    Raises:
        ValueError: when no path is known, nothing that can be read is there, or something else than what was
            specified.
    """
    file, _, label = name.partition(":")
    if file not in paths:
        raise ValueError(f"where {file} lies is not known: paths={dict(paths)} does not have it")
    path = Path(paths[file])
    try:
        _, paper = _run(path, sha256)
    except OSError as error:
        raise ValueError(f"{file} cannot be read on this machine ({error.strerror or error}): {path}") from None
    claim: Claim | None = next((claim for claim in paper if claim.label == label), None)
    if claim is None or relation_of(claim) != relation:
        raise ValueError(f"{file} has no claim {label!r} with relation {relation}: {path}")
    return claim


def _run(path: Path, sha256: str | None = None) -> tuple[str, Paper]:
    """The SHA-256 of a file, and its paper.

    Contents that were run in this process are not run again, and not read again if they are asked for by `sha256`.

    Raises:
        ValueError: for contents that are not `sha256`, which are not run; as `validate.files.load`.
        OSError: when the file cannot be read.
    """
    from validate.files import load

    where = str(path.absolute())
    with _loading:
        if sha256 is None or (where, sha256) not in _loaded:
            content = path.read_bytes()
            found = hashlib.sha256(content).hexdigest()
            if sha256 not in (None, found):
                raise ValueError(
                    f"{path.name} is not what it was when the sweep was specified (SHA-256 {found[:12]}... in place "
                    f"of {str(sha256)[:12]}...): {path}"
                )
            sha256 = found
            if (where, found) not in _loaded:
                _loaded[where, found] = load(path, content)
        return sha256, _loaded[where, sha256]
