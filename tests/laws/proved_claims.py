"""The claims that are proved, each with its derivation: written in its paper's file, or found by a search.

A search takes seconds. What it finds is kept in `found.json`, so that the laws of derivations are tested without one;
``python -m tests.laws.proved_claims [PAPER ...]`` makes the file again, for these papers, and slow tests search again.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from theory import catalog
from theory.claim import Claim
from theory.derivation import lines
from validate import proving
from validate.certificate.derivation import plain

FILE = Path(__file__).with_name("found.json")
Lines = Sequence[dict[str, Any]]


@cache
def found() -> dict[str, Lines]:
    """By id of the claim, what a search has found."""
    kept: dict[str, Lines] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


@cache
def proved() -> dict[str, tuple[Claim, Lines]]:
    """By id, the claims of the papers that have a derivation, in the papers' order."""
    every = {c.id: c for c in catalog.claims()}
    unknown = sorted(set(found()) - set(every))
    assert not unknown, f"there are no claims {unknown}"
    written = {name: plain(lines(c, c.proof)) for name, c in every.items() if c.proof is not None}
    derivations = {**found(), **written}
    return {name: (c, derivations[name]) for name, c in every.items() if name in derivations}


def searched(claim: Claim) -> Lines | None:
    """What a check finds; None where it finds nothing."""
    for item in proving.evidence(claim):
        if item.outcome == "proved" and item.data is not None:
            made: Lines = item.data["derivation"]["lines"]
            return made
    return None


def made_again(papers: Sequence[str]) -> Iterator[tuple[str, Lines]]:
    """What is kept, in the papers' order, searched for again in these papers."""
    for c in catalog.claims():
        if not c.has_sentence or c.proof is not None:
            continue
        lines_ = searched(c) if c.paper in papers else found().get(c.id)
        if lines_ is not None:
            yield c.id, lines_


if __name__ == "__main__":
    FILE.exists() or FILE.write_text("{}\n", encoding="utf-8")
    again = dict(made_again(sys.argv[1:] or sorted({c.paper for c in catalog.claims()})))
    rows = (f"{json.dumps(name)}: {json.dumps(written)}" for name, written in again.items())
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{FILE}: {len(again)} derivations")
