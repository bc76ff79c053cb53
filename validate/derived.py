"""Derivations of claims: what the claim itself has, or what a search finds, as files that the verifier has accepted.

Whether a claim is proved by it is what a check of the claim says (`validate.examine`), and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.verdict import Evidence, Result, VerdictName


@dataclass(frozen=True)
class Derived:
    """What there is for a claim.

    Attributes:
        claim: which.
        verdict: ``proved`` where that is the verdict of a quick check with this derivation; else ``vacuous`` where no
            instance satisfies the hypotheses, or ``undecided``.
        detail: why, for a reader; empty where there is nothing to say.
        path: of the derivation's file; None where there is none.
        lines: the derivation's, as plain data; None where there is none.
        way: how it came about: ``written`` by the claim's author, the name of a strategy, or empty.
        tried: what the search tried.
        seconds: how long the search took.
        result: the check's, where it says that the claim is proved.
        refused: at which line the derivation that the claim's author wrote is refused, and why; empty where it is not.
    """

    claim: Claim
    verdict: VerdictName
    detail: str
    path: str | None
    lines: tuple[Mapping[str, Any], ...] | None
    way: str
    tried: tuple[str, ...]
    seconds: float
    result: Result | None = None
    refused: str = ""

    @property
    def proved(self) -> bool:
        """Whether the sentence is proved."""
        return self.verdict == "proved"

    @property
    def evidence(self) -> Evidence | None:
        """That it is proved, with the sentence and its lines as data; None where it is not."""
        found = () if self.result is None or not self.proved else self.result.evidence
        return next((item for item in found if item.outcome == "proved"), None)


def derived(claim: Claim, out: Path, units: int) -> Derived:
    """A derivation of a claim, written to ``out/derivations`` once the kernel and the verifier have accepted it.

    Args:
        claim: with a sentence.
        out: the folder.
        units: of work that the search may do, see `theory.derivation.search.searching`.
    """
    from theory.derivation.search.searching import search
    from validate.contradiction import contradictions
    from validate.denied import denied, met
    from validate.examine import examine

    for item in contradictions(claim, quick=True) or ([] if met(claim) else denied(claim)):
        if item.outcome == "vacuous":
            return Derived(claim, "vacuous", item.detail, None, None, "", (), 0.0)
    refused = _refused(claim)
    own = ""
    if claim.proof is not None and not refused:
        result = examine(claim, quick=True, out=out)
        if result.verdict == "proved":
            return _proved(claim, result, "written")
        own = _of_the_derivation(result)
    found = search(claim, units)
    if found.lines is None:
        return Derived(claim, "undecided", own, None, None, "", found.tried, found.seconds, refused=refused)
    result = examine(replace(claim, proof=tuple(found.lines)), quick=True, out=out)
    if result.verdict == "proved":
        return replace(_proved(claim, result, found.way, found.tried, found.seconds), refused=refused)
    detail = _of_the_derivation(result)
    tried = (*found.tried, f"{found.way}: {detail}")
    return Derived(claim, "undecided", own or detail, None, None, "", tried, found.seconds, refused=refused)


def _refused(claim: Claim) -> str:
    """What kernel or verifier say against the derivation that the claim's author wrote; empty where both accept it."""
    from validate import proving
    from validate.proved_files import agreed

    if claim.proof is None:
        return ""
    said = [agreed(item) for item in proving.evidence(claim, 0)]
    return next((item.detail for item in said if item.refusal is not None), "")


def _proved(claim: Claim, result: Result, way: str, tried: tuple[str, ...] = (), seconds: float = 0.0) -> Derived:
    lines = _lines(result.evidence)
    return Derived(claim, "proved", result.telling, result.proof, lines, way, tried, seconds, result)


def _of_the_derivation(result: Result) -> str:
    """What a check that does not call a claim proved says of its derivation; else what it says most for its verdict."""
    found = [item.detail for item in result.evidence if item.kind == "algebra" and item.outcome == "undecided"]
    return found[0] if found else result.telling


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
