"""The folder of a report: pages that are there whole or not at all, and no pages left over from an earlier report.

What a report writes for some papers or sweeps is listed in OUT/report-files.json, with the SHA-256 of each file. The
next report in that folder removes what is listed there, has not been changed since, and is no longer written; never
anything else. Certificates, verdicts and finished simulations are not listed: they are kept for other commands and
reports.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

log = logging.getLogger(__name__)

MANIFEST = "report-files.json"
ALWAYS = ("index.html", "report.json", MANIFEST)  # every report writes them: they cannot be left over
ABOUT = "what fedproof report wrote here: a later report removes those that it does not write and nobody has changed"


class Folder:
    """The folder of one report, from its first page on to `settle`.

    Args:
        path: made when missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: dict[str, str] = {}
        self._used: set[str] = set()
        path.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the report; no reader ever sees half of it."""
        path = self.path / name
        _replace(path, text)
        self.wrote([path])
        return path

    def wrote(self, paths: Iterable[Path]) -> None:
        """Files in the folder that were written for this report, and for nothing else."""
        for path in paths:
            name = self._name(path)
            if name is not None and name not in ALWAYS and path.is_file():
                self._written[name] = _digest(path)

    def uses(self, links: Iterable[str]) -> None:
        """Files that the report's pages link to, whoever wrote them: they stay."""
        self._used.update(links)

    def settle(self) -> None:
        """Remove what an earlier report wrote and this one did not. To be called when everything is written.

        Until then nothing of the earlier report is lost but what has been written anew. What cannot be removed is
        logged, and stays listed.
        """
        earlier = self._earlier()
        self._keep(earlier | self._written)  # whatever happens from here on, nothing is forgotten
        staying = {}
        for name, digest in earlier.items():
            if name in self._written:
                continue
            if name in self._used:
                staying[name] = digest
                continue
            path = self.path / name
            try:
                if self._is_unchanged(path, digest):
                    path.unlink()
                    self._remove_empty(path.parent)
            except OSError as error:
                log.warning("%s is left over from an earlier report and cannot be removed: %s", path, error.strerror)
                staying[name] = digest
        self._keep(staying | self._written)

    def _name(self, path: Path) -> str | None:
        """The name of a file in the folder, or None for one that lies elsewhere."""
        found = Path(os.path.relpath(path.resolve(), self.path.resolve()))
        return None if found.is_absolute() or ".." in found.parts else found.as_posix()

    def _earlier(self) -> dict[str, str]:
        """What the manifest lists; nothing where there is none, or it cannot be read."""
        path = self.path / MANIFEST
        try:
            listed = json.loads(path.read_text(encoding="utf-8"))["files"].items()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            log.warning("%s cannot be read: what an earlier report left in its folder stays", path)
            return {}
        return {name: digest for name, digest in listed if isinstance(digest, str) and self._is_inside(name)}

    def _is_inside(self, name: str) -> bool:
        """Whether a listed name is of a file in the folder that a report may have written there."""
        pure = PurePosixPath(name)
        if not pure.parts or pure.is_absolute() or ".." in pure.parts:
            return False
        return name not in ALWAYS and "\0" not in name

    def _is_unchanged(self, path: Path, digest: str) -> bool:
        """Whether a file is there, itself and not by a link, and is what was written."""
        plain = path.parent.resolve() == self.path.resolve().joinpath(*path.parent.relative_to(self.path).parts)
        return plain and path.is_file() and not path.is_symlink() and _digest(path) == digest

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.path and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def _keep(self, files: dict[str, str]) -> None:
        content = {"about": ABOUT, "files": dict(sorted(files.items()))}
        _replace(self.path / MANIFEST, json.dumps(content, indent=1) + "\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
