"""Exported derivations put to Rocq's compiler, and to its independent checker."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from theory.derivation.export import rocq

KNOWN_AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
"""Of the Reals of the standard library, and what they come with."""
_AXIOM = re.compile(r"^(\S+)\s*(?::|$)", re.MULTILINE)


@dataclass(frozen=True)
class Compiled:
    """What Rocq says of one file.

    Attributes:
        accepted: whether it is.
        seconds: of CPU, of coqc.
        axioms: those on which the theorem rests.
        errors: what coqc printed.
    """

    accepted: bool
    seconds: float
    axioms: tuple[str, ...]
    errors: str


def compile_prelude(folder: Path) -> None:
    """Write and compile what all files stand on.

    Raises:
        RuntimeError: where coqc does not accept it, or is not there.
    """
    if shutil.which("coqc") is None:
        raise RuntimeError("there is no coqc; Debian's package is coq")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / rocq.PRELUDE).write_text(rocq.prelude(), encoding="utf-8")
    found = compiled(folder, rocq.PRELUDE)
    if not found.accepted:
        raise RuntimeError(f"coqc does not accept {rocq.PRELUDE}: {found.errors}")


def compiled(folder: Path, file: str) -> Compiled:
    """A file put to coqc."""
    before = _of_children()
    command = ["coqc", "-q", "-noglob", "-Q", ".", "", file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    seconds = _of_children() - before
    axioms = tuple(_AXIOM.findall(done.stdout.partition("Axioms:\n")[2]))
    return Compiled(done.returncode == 0, seconds, axioms, done.stderr)


def _of_children() -> float:
    """Seconds of CPU of what this process has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def checked(folder: Path, modules: Sequence[str]) -> tuple[bool, str]:
    """Modules put to coqchk, which reads what coqc wrote with code of its own; what it says."""
    done = subprocess.run(
        ["coqchk", "-silent", "-o", "-Q", ".", "", *modules], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode == 0, done.stdout + done.stderr
