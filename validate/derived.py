"""Derivations found, as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theory.claim import Claim


@dataclass(frozen=True)
class Derived:
    """What the search has come to for a claim.

    Attributes:
        claim: which.
        path: of the derivation's file; None where none was found.
        lines: the derivation's.
        way: how it was found.
        tried: what was tried.
        seconds: how long it took.
    """

    claim: Claim
    path: Path | None
    lines: tuple[Mapping[str, Any], ...] | None
    way: str
    tried: tuple[str, ...]
    seconds: float


def derivation_file(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A derivation as the stand-alone verifier reads it: the claim, as it says of itself, and the lines."""
    from validate import verifier
    from validate.certificate.play import said

    found = {"format": verifier.FORMAT, "kind": "derivation", **said(claim)}
    found.setdefault("standing", [])
    found.setdefault("domains", {})
    return {**found, "vectors": list(claim.vectors), "lines": [dict(line) for line in lines]}


def derivations(
    targets: Sequence[str], *, out: Path, units: int, progress: Callable[..., Any] | None = None
) -> Iterator[Derived]:
    """Search for derivations of claims, and write those that are found to ``out/derivations``.

    A file is there whole or not at all, and one that is there is replaced only by another derivation.

    Args:
        targets: ids of claims, names of papers.
        out: the folder.
        units: work for each.
        progress: is told of each claim.
    """
    from theory import catalog
    from theory.derivation.search.searching import search

    claims = [c for target in targets for c in _of(target, catalog)]
    for claim in claims:
        if not claim.has_sentence:
            continue
        found = search(claim, units)
        path = None
        if found.lines is not None:
            path = written(out, claim, found.lines)
        yield Derived(claim, path, found.lines, found.way, found.tried, found.seconds)


def _of(target: str, catalog: Any) -> list[Claim]:
    if "/" in target:
        return [catalog.claim(target)]
    return [c for c in catalog.claims() if c.paper == target]


def written(out: Path, claim: Claim, lines: Sequence[Mapping[str, Any]]) -> Path:
    """The path of the file with a derivation, made in one step."""
    import json

    path = out / "derivations" / f"{claim.id.replace('/', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    other = path.with_suffix(".part")
    other.write_text(json.dumps(derivation_file(claim, lines), indent=1) + "\n")
    other.replace(path)
    return path
