"""Every derivation of the catalogue's claims, put to Rocq's compiler and to its independent checker: ``make kernels``.

    python -m validate.kernels FOLDER [PAPER, CLAIM or FILE.py ...]

A claim's derivation is the one that its author wrote, or one that the search finds as in a check; it is exported where
kernel and verifier accept it. What is found is kept in the folder by the claim's digest, and what coqc accepts by the
file's: what was interrupted goes on where it was. Printed is for each claim what the compiler says, its seconds of CPU,
and its axioms, then what the checker says of all files at once, and a summary. The exit status is 1 where something
that was exported is not accepted, and 130 after an interruption.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any

import theory.derivation
from theory import catalog
from theory.claim import Claim
from theory.derivation.export import NotExportedError, kernels, rocq
from validate import verifier
from validate.certificate.files import write_whole
from validate.files import knowing, sources
from validate.parallel import over_processes, tell

INTERRUPTED = 130
Lines = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Verdict:
    """What becomes of a claim that has a derivation.

    Attributes:
        id: of the claim.
        module: of Rocq; empty where it is not exported.
        said: why it is not exported, what the compiler does not accept, or empty.
        seconds: of the compiler.
        axioms: on which the theorem rests.
        before: whether the compiler accepted the same file before.
    """

    id: str
    module: str
    said: str
    seconds: float = 0.0
    axioms: tuple[str, ...] = ()
    before: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the compiler accepts it, on known axioms alone."""
        return bool(self.module) and not self.said

    def __str__(self) -> str:
        if self.accepted:
            known = ", before" if self.before else ""
            return f"accepted  {self.seconds:5.1f} s  {len(self.axioms)} axioms{known}"
        return f"REJECTED  {self.said[:400]}" if self.module else f"-  not exported: {self.said[:200]}"


# --- derivations, kept -----------------------------------------------------------------------------------------------


@cache
def programs() -> str:
    """Digest of the kernel, the search and the verifier: what they said before they were changed is asked again."""
    digest = hashlib.sha256()
    for package in (Path(theory.derivation.__file__).parent, Path(verifier.__file__).parent):
        for path in sorted(package.rglob("*.py")):
            if "export" not in path.relative_to(package).parts:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def derivation(claim: Claim, folder: Path) -> Lines | None:
    """Lines that kernel and verifier accept, those that were kept where there are any; None where there are none.

    What instances say of the claim is not asked: what is exported is decided by Rocq.
    """
    from theory.derivation import lines
    from validate import kept, proving
    from validate.certificate.derivation import plain
    from validate.contradiction import contradictions
    from validate.proved_files import agreed

    path = folder / "derivations" / f"{kept.digest(claim)}.json"
    known = _read(path)
    if known.get("programs") != programs():
        tried = _tried(claim, known)
        vacuous = any(item.outcome == "vacuous" for item in contradictions(claim, quick=True))
        said = [] if vacuous else [agreed(item) for item in proving.evidence(tried)]
        data = [(item.data or {})["derivation"]["lines"] for item in said if item.outcome == "proved"]
        known = {"id": claim.id, "programs": programs(), "lines": plain(data[0]) if data else None}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(known).encode())
    return None if known["lines"] is None else lines(claim, known["lines"])


def _tried(claim: Claim, known: Mapping[str, Any]) -> Claim:
    """The claim with the lines that were found before its derivation's programs were changed."""
    return claim if claim.proof is not None or not known.get("lines") else replace(claim, proof=tuple(known["lines"]))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, or half of one
        return {}
    return found if isinstance(found, dict) else {}


# --- Rocq ------------------------------------------------------------------------------------------------------------


def verdict(claim: Claim, folder: Path) -> Verdict | None:
    """A claim's derivation, exported and compiled; None where it has none."""
    lines = derivation(claim, folder)
    if lines is None:
        return None
    try:
        text = rocq.theorem(claim, lines)
    except NotExportedError as error:
        return Verdict(claim.id, "", str(error))
    module = rocq.identifier(claim)
    done, before = kernels.Compiler(folder).put(module, text)
    unknown = sorted(set(done.axioms) - kernels.KNOWN_AXIOMS)
    said = f"axioms: {', '.join(unknown)}" if unknown else ""
    if not done.accepted:
        said = " ".join(done.errors.split()) or "coqc gives no reason"
    return Verdict(claim.id, module, said, done.seconds, done.axioms, before)


def verdict_by_id(claim: str, folder: Path) -> Verdict | None:
    """As `verdict`, told to whoever listens."""
    found = verdict(catalog.claim(claim), folder)
    tell((claim, found))
    return found


def summary(verdicts: Sequence[Verdict], seconds: float, fine: bool) -> str:
    """Counts, seconds, axioms, and reasons for which claims are not exported."""
    exported = [one for one in verdicts if one.module]
    accepted = [one for one in exported if one.accepted]
    times = [one.seconds for one in accepted] or [0.0]
    axioms = Counter(axiom for one in accepted for axiom in one.axioms)
    lines = [f"axiom {axiom}: {count} theorems" for axiom, count in sorted(axioms.items())]
    why = Counter(reason(one.said) for one in verdicts if not one.module)
    lines += [f"not exported, {count}: {text}" for text, count in why.most_common()]
    lines += [f"REJECTED: {one.id}: {one.said[:200]}" for one in exported if not one.accepted]
    lines.append(
        f"{len(verdicts)} claims have derivations, {len(exported)} of them exported; coqc accepts {len(accepted)}, in "
        f"{mean(times):.1f} s of CPU on average ({median(times):.1f} s the median, {max(times):.1f} s the longest, "
        f"{sum(times):.0f} s all); coqchk accepts all of these: {'yes' if fine else 'NO'} ({seconds:.0f} s)"
    )
    return "\n".join(lines)


def reason(said: str) -> str:
    """Why a claim is not exported, without what is of this claim alone."""
    return re.sub(r" \(line .*\)$", "", said).partition(" is left")[0][:160]


def run(names: Sequence[str], folder: Path, processes: int | None = None) -> int:
    """Export, compile and check, claims shared out over processes, one a core; the exit status."""
    from validate.commands import own
    from validate.derived import claims_of

    compiler = kernels.Compiler(folder)
    done = compiler.prelude()
    print(f"{rocq.PRELUDE}: {done.seconds:.1f} s of {compiler.version.splitlines()[0]}", flush=True)
    claims = [claim for name in own.known(names) for claim in claims_of(name)]
    at = count(1)

    def heard(said: tuple[str, Verdict | None]) -> None:
        claim, one = said
        print(f"[{next(at)}/{len(claims)}] {claim:44} {one or '-  no derivation'}", flush=True)

    tasks = [(sources([claim.paper]), verdict_by_id, (claim.id, folder)) for claim in claims]
    asked = over_processes(knowing, tasks, processes=processes, heard=heard)
    found = [one for one in asked if one is not None]
    accepted = [one.module for one in found if one.accepted]
    checked, _ = compiler.check(["Fedproof", *accepted])
    print(checked.told)
    if not checked.accepted:
        for module in accepted:
            if not kernels.checked_alone(folder, module):
                print(f"coqchk does not accept {module}", flush=True)
    print(summary(found, checked.seconds, checked.accepted))
    return 0 if checked.accepted and all(one.accepted for one in found if one.module) else 1


def main(arguments: Sequence[str]) -> int:
    """Export, compile and check what the arguments name, or all of the catalogue."""
    folder = Path(arguments[0] if arguments else "build/kernels")
    try:
        return run(arguments[1:] or [paper.name for paper in catalog.papers()], folder)
    except KeyboardInterrupt:
        print("interrupted; what was accepted is kept: the same command goes on", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    from validate import kernels as command  # as the processes know it

    sys.exit(command.main(sys.argv[1:]))
