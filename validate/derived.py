"""Derivations of claims: what the claim itself has, or what a search finds, as files that the verifier has accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.verdict import Evidence


@dataclass(frozen=True)
class Derived:
    """What there is for a claim.

    Attributes:
        claim: which.
        evidence: what `validate.proving` says, best first; empty where it says nothing.
        path: of the derivation's file; None where there is none.
        lines: the derivation's, as plain data; None where there is none.
        way: how it came about: ``written`` by the claim's author, the name of a strategy, or empty.
        tried: what the search tried.
        seconds: how long the search took.
    """

    claim: Claim
    evidence: tuple[Evidence, ...]
    path: str | None
    lines: tuple[Mapping[str, Any], ...] | None
    way: str
    tried: tuple[str, ...]
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether the sentence is proved."""
        return any(item.outcome == "proved" for item in self.evidence)


def derived(claim: Claim, out: Path, units: int) -> Derived:
    """A derivation of a claim, written to ``out/derivations`` once the kernel and the verifier have accepted it.

    Args:
        claim: with a sentence.
        out: the folder.
        units: of work that the search may do, see `theory.derivation.search.searching`.
    """
    from theory.derivation.search.searching import search
    from validate import proving
    from validate.proved_files import with_file

    own: list[Evidence] = []
    if claim.proof is not None:
        own, path = with_file(proving.evidence(claim), out)
        evidence = own
        if any(item.outcome == "proved" for item in evidence):
            return Derived(claim, tuple(evidence), path, _lines(evidence), "written", (), 0.0)
    found = search(claim, units)
    tried = found.tried
    if found.lines is not None:
        evidence, path = with_file(proving.evidence(replace(claim, proof=tuple(found.lines))), out)
        if path is not None:
            return Derived(claim, tuple(evidence), path, _lines(evidence), found.way, tried, found.seconds)
        tried = (*tried, *(f"{found.way}: {item.detail}" for item in evidence))
    return Derived(claim, tuple(own), None, None, "", tried, found.seconds)


def _lines(evidence: Sequence[Evidence]) -> tuple[Mapping[str, Any], ...] | None:
    for item in evidence:
        made = (item.data or {}).get("derivation")
        if made is not None:
            return tuple(made["lines"])
    return None


def claims_of(target: str) -> list[Claim]:
    """The claim of an id, or the claims of a paper that have a sentence.

    Raises:
        ValueError: for an unknown one.
    """
    from theory import catalog

    if "/" in target:
        return [catalog.claim(target)]
    return [claim for claim in catalog.claims(target) if claim.has_sentence]
