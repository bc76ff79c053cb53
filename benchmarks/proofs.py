"""What is proved, and how: each derivation with its length, the programs that accept it, and the time that they take.

    python -m benchmarks.proofs [--rocq] [--units N] [--json FILE] [PAPER, CLAIM or FILE.py ...]

A claim's derivation is the one that its author wrote, or one that the search finds. Lines and multipliers are those of
all its lists. Seconds are of CPU: of the search, of the kernel, of the stand-alone verifier. With ``--rocq`` what is
exported is put to Rocq's compiler, ``coqc``: its seconds, or what is not exported.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from theory.claim import Claim
from theory.derivation import check, lines
from theory.derivation.search.searching import UNITS
from validate import derived, verifier
from validate.commands import own

LISTS = ("base", "step", "first", "second")


@dataclass(frozen=True)
class Proof:
    """A derivation that was accepted.

    Attributes:
        id: of the claim.
        way: ``written``, or how it was found.
        lines: of all its lists.
        multipliers: of lines and squares in its combinations.
        unused: hypotheses that it does not need.
        search, kernel, verifier: seconds of CPU; no search where it is written.
        rocq: seconds of the compiler, ``rejected``, what is not exported, or empty where it was not asked.
    """

    id: str
    way: str
    lines: int
    multipliers: int
    unused: tuple[str, ...]
    search: float
    kernel: float
    verifier: float
    rocq: str


def counted(written: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Lines, and multipliers in their combinations, those of inner lists included."""
    total, multipliers = len(written), 0
    for line in written:
        multipliers += len(line.get("parts", ())) if line["by"] == "combination" else 0
        multipliers += len(line.get("squares", ()))
        for key in LISTS:
            inner = counted(line.get(key, ()))
            total, multipliers = total + inner[0], multipliers + inner[1]
    return total, multipliers


def proof_of(claim: Claim, units: int, folder: Path, rocq: bool) -> Proof | None:
    """What is proved of a claim; None where no derivation is accepted."""
    found = derived.derived(claim, folder, units)
    if not found.proved or found.path is None or found.lines is None:
        return None
    written = lines(claim, found.lines)
    begun = time.process_time()
    checked = check(claim, written)
    kernel = time.process_time() - begun
    begun = time.process_time()
    report = verifier.verify(json.loads(Path(found.path).read_text()))
    seconds = time.process_time() - begun
    assert report.valid, claim.id
    total, multipliers = counted(written)
    said = exported(claim, written, folder / "rocq") if rocq else ""
    return Proof(
        claim.id,
        found.way,
        total,
        multipliers,
        checked.unused,
        round(found.seconds, 2),
        round(kernel, 3),
        round(seconds, 3),
        said,
    )


def exported(claim: Claim, written: Sequence[Mapping[str, Any]], folder: Path) -> str:
    """What Rocq's compiler says of the exported derivation."""
    from theory.derivation.export import NotExportedError, kernels, rocq

    if not (folder / "Fedproof.vo").exists():
        kernels.compile_prelude(folder)
    try:
        text = rocq.theorem(claim, written)
    except NotExportedError as error:
        return f"not exported: {error}"
    name = f"{rocq.identifier(claim)}.v"
    (folder / name).write_text(text, encoding="utf-8")
    done = kernels.compiled(folder, name)
    if not done.accepted:
        return "rejected"
    return f"{done.seconds:.1f}"


def claims_of(names: Sequence[str]) -> Iterator[Claim]:
    """The claims of papers and files that have a sentence, or these claims."""
    for name in own.known(names):
        yield from derived.claims_of(name)


def table(proofs: Sequence[Proof]) -> str:
    """As Markdown."""
    head = "| claim | how | lines | multipliers | search s | kernel s | verifier s | Rocq s | never needed |"
    rows = [head, "|" + "---|" * 9]
    for one in proofs:
        search = "" if one.way == "written" else f"{one.search:.1f}"
        unused = ", ".join(f"`{text}`" for text in one.unused)
        rows.append(
            f"| {one.id} | {one.way} | {one.lines} | {one.multipliers} | {search} | {one.kernel:.2f} | "
            f"{one.verifier:.2f} | {one.rocq} | {unused} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Print the table of what is proved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["textbook"], help="papers, claims, or files of one's own")
    parser.add_argument("--rocq", action="store_true", help="put what is exported to coqc")
    parser.add_argument("--units", type=int, default=UNITS, help="of work for each search")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    proofs: list[Proof] = []
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        for claim in claims_of(options.names):
            tried += 1
            one = proof_of(claim, options.units, Path(folder), options.rocq)
            print(
                claim.id, "proved" if one is not None else "no derivation", "" if one is None else one.way, flush=True
            )
            if one is not None:
                proofs.append(one)
    print(table(proofs))
    print(f"{len(proofs)} of {tried} proved")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(one) for one in proofs], indent=1))


if __name__ == "__main__":
    main()
