"""Every derivation of the catalog, put to Rocq's compiler and to its independent checker: ``make kernels``."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theory.claim import Claim
from theory.derivation.export import NotExportedError, rocq

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


def derived() -> list[tuple[Claim, Sequence[Mapping[str, Any]]]]:
    """The claims of the catalog with a derivation."""
    from theory import catalog
    from theory.derivation import lines

    found: list[tuple[Claim, Sequence[Mapping[str, Any]]]] = []
    for claim in catalog.claims():
        proof = claim.proof
        if isinstance(proof, Sequence) and not isinstance(proof, str) and proof:
            found.append((claim, lines(claim, proof)))
    return found


def main(arguments: Sequence[str]) -> int:
    """Export, compile and check; a table on stdout. Status 1 where something that was exported is not accepted."""
    folder = Path(arguments[0] if arguments else "build/kernels")
    compile_prelude(folder)
    modules, rejected, seconds = [], 0, []
    for claim, lines in derived():
        try:
            text = rocq.theorem(claim, lines)
        except NotExportedError as error:
            print(f"{claim.id:44} not exported: {str(error)[:160]}", flush=True)
            continue
        module = rocq.identifier(claim)
        (folder / f"{module}.v").write_text(text, encoding="utf-8")
        found = compiled(folder, f"{module}.v")
        unknown = [axiom for axiom in found.axioms if axiom not in KNOWN_AXIOMS]
        word = "accepted" if found.accepted and not unknown else "REJECTED"
        print(f"{claim.id:44} {word}  {found.seconds:5.1f} s  {len(found.axioms)} axioms", flush=True)
        if word == "REJECTED":
            rejected += 1
            print(found.errors or f"axioms: {', '.join(unknown)}", flush=True)
        else:
            modules.append(module)
            seconds.append(found.seconds)
    fine, told = checked(folder, ["Fedproof", *modules])
    print(told.strip())
    mean = sum(seconds) / len(seconds) if seconds else 0.0
    print(
        f"coqc accepts {len(modules)} of {len(modules) + rejected} files, {mean:.1f} s on average; "
        f"coqchk: {'yes' if fine else 'NO'}"
    )
    return 0 if fine and not rejected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
