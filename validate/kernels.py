"""Every proved claim of the catalog, put to Rocq's compiler and to its independent checker: ``make kernels``.

    python -m validate.kernels FOLDER [PAPER, CLAIM or FILE.py ...]

A claim's derivation is the one that its author wrote, or one that the search finds as in a check; it is exported where
kernel and verifier accept it. Printed is for each what the compiler says, its seconds of CPU, and its axioms, then what
the checker says of all files at once. The exit status is 1 where something that was exported is not accepted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from theory.derivation.export import NotExportedError, kernels, rocq


@dataclass(frozen=True)
class Verdict:
    """What becomes of a proved claim.

    Attributes:
        id: of the claim.
        module: of Rocq; empty where it is not exported.
        said: why it is not exported, what the compiler does not accept, or empty.
        seconds: of the compiler.
        axioms: on which the theorem rests.
    """

    id: str
    module: str
    said: str
    seconds: float
    axioms: tuple[str, ...]


def verdicts(names: Sequence[str], folder: Path) -> Iterator[Verdict]:
    """Each proved claim of papers and files: exported to the folder, and compiled there."""
    from theory.derivation import lines
    from validate import derived, proving
    from validate.commands import own

    for name in own.known(names):
        for claim in derived.claims_of(name):
            found = derived.derived(claim, folder, proving.UNITS)
            if not found.proved or found.lines is None:
                continue
            try:
                text = rocq.theorem(claim, lines(claim, [dict(line) for line in found.lines]))
            except NotExportedError as error:
                yield Verdict(claim.id, "", f"not exported: {error}", 0.0, ())
                continue
            module = rocq.identifier(claim)
            (folder / f"{module}.v").write_text(text, encoding="utf-8")
            done = kernels.compiled(folder, f"{module}.v")
            unknown = sorted(set(done.axioms) - kernels.KNOWN_AXIOMS)
            said = (
                done.errors or "REJECTED" if not done.accepted else f"axioms: {', '.join(unknown)}" if unknown else ""
            )
            yield Verdict(claim.id, module, said, done.seconds, done.axioms)


def main(arguments: Sequence[str]) -> int:
    """Export, compile and check."""
    from theory.catalog import papers

    folder = Path(arguments[0] if arguments else "build/kernels")
    kernels.compile_prelude(folder)
    found: list[Verdict] = []
    for one in verdicts(arguments[1:] or [paper.name for paper in papers()], folder):
        found.append(one)
        word = "accepted" if one.module and not one.said else "REJECTED" if one.module else "-"
        more = f"{one.seconds:5.1f} s  {len(one.axioms)} axioms" if word == "accepted" else one.said[:200]
        print(f"{one.id:44} {word}  {more}", flush=True)
    exported = [one for one in found if one.module]
    accepted = [one for one in exported if not one.said]
    fine, told = kernels.checked(folder, ["Fedproof", *(one.module for one in accepted)])
    print(told.strip())
    print(f"axioms: {', '.join(sorted({axiom for one in accepted for axiom in one.axioms}))}")
    seconds = [one.seconds for one in accepted] or [0.0]
    print(
        f"{len(found)} claims are proved, {len(exported)} of them exported; coqc accepts {len(accepted)}, in "
        f"{mean(seconds):.1f} s on average ({median(seconds):.1f} s the median); coqchk: {'yes' if fine else 'NO'}"
    )
    return 0 if fine and len(accepted) == len(exported) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
