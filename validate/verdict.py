"""Evidence and verdicts.

A verdict says what all the evidence says, no more: statistical evidence never refutes by itself, and a check that
could not be made is `undecided`, not passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Origin = Literal["search", "pool", "worst case", "given"]
EvidenceKind = Literal["algebra", "hypotheses", "exact", "search", "certificate"]
Outcome = Literal["proved", "holds", "fails", "refuted", "vacuous", "undecided"]
VerdictName = Literal["proved", "supported", "refuted", "vacuous", "undecided"]

MEANING: dict[str, str] = {
    "proved": "derived for all values, checked by two programs",
    "supported": "never broken where it could have been",
    "refuted": "false on an exact instance of its hypotheses",
    "vacuous": "nothing satisfies its hypotheses",
    "undecided": "none of these",
}
"""What the word says, for a reader."""

ORIGINS: dict[Origin, str] = {
    "search": "found by an unguided search, which knows the claim only",
    "pool": "made from the claim's own sentence, assumptions and relations",
    "worst case": "the worst of its class, computed",
    "given": "written by hand for this claim",
}
"""Where instances come from, for a reader."""

KNOWN: Mapping[str, str] = {
    "read": "as printed: the paper was read",
    "transcribed": "as transcribed by a third party, with page and equation",
    "secondary": "as another author has it",
    "memory": "from memory, to be looked up before it is called printed",
}
"""How a claim's text is known, in words."""

BEYOND = 1e6
"""A ratio left / right above this is shown as such: the left side then grows without end as the run gets longer, or the
right side vanishes, and its size says how long the scenario is. The evidence has the number and both sides."""


@dataclass(frozen=True)
class Evidence:
    """What one check found.

    Attributes:
        kind: the way of knowing.
        outcome: ``"proved"`` (the whole claim, exactly; `validate.proving` alone says so), ``"holds"`` (nothing broke
            it here), ``"fails"`` (something broke it, without a certificate), ``"refuted"`` (with a verified
            certificate), ``"vacuous"``, ``"undecided"`` (the check could not be made).
        detail: one or two sentences for a reader, with the numbers.
        tightness: largest left / right found by this check, where there is one.
        error_probability: of a statistical check; None for one that cannot err.
        data: numbers behind the detail, JSON-ready.
        origin: where the instances, or the lines of a proof, come from: an unguided ``"search"`` that knows the claim
            only; the ``"pool"``, made from the claim; a ``"worst case"`` over the class; or
            ``"given"``, written by hand for this claim.
    """

    kind: EvidenceKind
    outcome: Outcome
    detail: str
    tightness: float | None = None
    error_probability: float | None = None
    data: dict[str, Any] | None = None
    origin: Origin = "given"

    @property
    def refusal(self) -> Mapping[str, str] | None:
        """Of a derivation that is refused: by whom, at which line, and why, as `refused` has it; else None."""
        return (self.data or {}).get("refused")

    @property
    def citations(self) -> tuple[str, ...]:
        """Of a proof, what it takes from elsewhere without one."""
        proof = (self.data or {}).get("proof") if self.outcome == "proved" else None
        return tuple(proof.get("citations", ())) if isinstance(proof, Mapping) else ()

    def to_json(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        return {
            "kind": self.kind,
            "outcome": self.outcome,
            "detail": self.detail,
            "origin": self.origin,
            "tightness": self.tightness,
            "error_probability": self.error_probability,
            **({"data": self.data} if self.data else {}),
        }


def refused(
    origin: Origin, told: str, by: str, line: str = "", where: str = "", sentence: str = "", why: str = ""
) -> Evidence:
    """That a derivation is refused.

    Args:
        origin: ``"given"`` for what the claim's author wrote.
        told: where and why, for a reader, as it goes on after "is refused".
        by: ``"kernel"`` or ``"verifier"``.
        line: the name of the line at which it fails.
        where: which of the author's lines that is.
        sentence: what it says; empty for what the claim says.
        why: what is wrong.
    """
    which = "the derivation written for it" if by == "kernel" else "its derivation"
    detail = f"{which} is refused{told}"
    data = {"refused": {"by": by, "line": line, "where": where, "sentence": sentence, "why": why}}
    return Evidence("algebra", "undecided", detail, data=data, origin=origin)


@dataclass(frozen=True)
class Result:
    """A claim's verdict, with all the evidence for it.

    Attributes:
        id: the claim's id.
        verdict: see `MEANING`.
        tightness: largest left / right over the evidence that knows both sides (`known_ratio`), or None.
        evidence: all of it.
        certificate: path of the certificate, when refuted.
        covered: of a claim that nothing broke, what was varied and at which budget, for a reader; or what was not, and
            why the claim is not called supported. Empty where neither matters.
        quick: whether it is the verdict of a quick check.
        proof: path of the derivation, when proved by one.
        sure: how the claim's text is known (`theory.claim.Claim.sure`).
        severity: of a refutation, where a repair was searched for (`validate.repairs`): ``misprint``, ``lost
            constant``, ``lost hypothesis`` or ``false``; None where none was, or none was found.
    """

    id: str
    verdict: VerdictName
    tightness: float | None
    evidence: tuple[Evidence, ...]
    certificate: str | None = None
    covered: str = ""
    quick: bool = False
    proof: str | None = None
    sure: str = ""
    severity: str | None = None

    @property
    def origin(self) -> Origin | None:
        """Of the instance that refutes the claim; None for other verdicts."""
        return next((e.origin for e in self.evidence if e.outcome == "refuted"), None)

    @property
    def broken(self) -> bool:
        """Whether something broke the claim, with a certificate or without."""
        return any(e.outcome in ("refuted", "fails") for e in self.evidence)

    @property
    def break_found(self) -> Evidence | None:
        """The evidence that broke the claim, one with a certificate before others; None where nothing did."""
        return next((e for outcome in ("refuted", "fails") for e in self.evidence if e.outcome == outcome), None)

    @property
    def refused(self) -> str:
        """At which line the derivation that the claim's author wrote is refused, and why; empty where it is not."""
        own = next((e for e in self.evidence if e.refusal is not None and e.origin == "given"), None)
        if own is None:
            return ""
        return own.detail + ("; the search found another, which proves it" if self.verdict == "proved" else "")

    @property
    def said(self) -> str:
        """The verdict, with what may not be missing beside the word: a break, the budget of the search, citations.

        Example:
            >>> Result("a/b", "supported", None, (Evidence("search", "holds", "not broken"),), quick=True).said
            'supported (quick search)'
        """
        if self.verdict == "undecided":
            return "undecided: broken" if self.broken else "undecided"
        if self.verdict == "refuted":
            return refuted_as(self.sure)
        if self.verdict == "proved" and self.citations:
            return f"proved, citing {'; '.join(self.citations)}"
        return f"supported ({self.budget})" if self.verdict == "supported" else self.verdict

    @property
    def citations(self) -> tuple[str, ...]:
        """What its derivation takes from elsewhere without a proof."""
        return next((cited for e in self.evidence if (cited := e.citations)), ())

    @property
    def budget(self) -> str:
        """Which unguided search was made: "quick search", "full search" or "no search"."""
        searched = any(e.kind == "search" for e in self.evidence)
        return f"{('quick' if self.quick else 'full') if searched else 'no'} search"

    @property
    def telling(self) -> str:
        """The detail of the evidence that says most for the verdict; a break without a certificate before all."""
        found = self.break_found
        if self.verdict == "undecided" and found is not None:
            proved = any(e.outcome == "proved" for e in self.evidence)
            return f"{_broken_how(found, proved)}: {found.detail}"
        outcome = "holds" if self.verdict == "supported" else self.verdict
        aside = ("hypotheses", "algebra") if self.verdict == "supported" else ()
        fitting = [e for e in self.evidence if e.outcome == outcome and e.kind not in aside] or list(self.evidence)
        best = next((e for e in fitting if e.tightness is not None and e.tightness == self.tightness), None)
        return (best or fitting[0]).detail if fitting else ""

    def to_json(self) -> dict[str, Any]:
        """As in the command line's contract."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "covered": self.covered,
            "tightness": self.tightness,
            "severity": self.severity,
            "evidence": [e.to_json() for e in self.evidence],
            "certificate": self.certificate,
            "proof": self.proof,
            "quick": self.quick,
            "sure": self.sure or None,
        }


def refuted_as(sure: str) -> str:
    """The word for a refuted claim: what a text from memory says need not be what is printed."""
    return "refuted as transcribed" if sure == "memory" else "refuted"


def _broken_how(found: Evidence, proved: bool) -> str:
    """What is said first of a claim that something broke and whose verdict is not `refuted`."""
    if found.outcome == "refuted" and proved:
        return "broken, with a certificate, and proved: a contradiction"
    return "broken, no certificate"


def known_ratio(evidence: Evidence) -> float | None:
    """left / right of a check that could tell; None for others."""
    return None if evidence.outcome == "undecided" else evidence.tightness


@dataclass(frozen=True)
class Coverage:
    """Whether what did not break a claim could have broken it.

    Attributes:
        earned: whether it counts as support.
        detail: what was varied; or what was not.
    """

    earned: bool
    detail: str


NOTHING_COVERED = Coverage(False, "")


def decide(
    claim_id: str,
    evidence: Sequence[Evidence],
    certificate: str | None = None,
    coverage: Coverage = NOTHING_COVERED,
    quick: bool = False,
) -> Result:
    """Join the evidence into a verdict.

    `refuted` needs evidence of outcome "refuted" (a verified certificate) and the certificate; a break without one, or
    a contradiction between a proof and a break, is `undecided` and says so in the evidence itself. `supported` needs
    a coverage that is earned.

    Args:
        claim_id: of the claim that the evidence is about.
        evidence: in any order; none at all is `undecided`. In the result, breaks come first.
        certificate: path of the certificate, for the result.
        coverage: of the comparisons that held.
        quick: whether the evidence is that of a quick check.
    """
    outcomes = {e.outcome for e in evidence}
    ratios = [ratio for ratio in map(known_ratio, evidence) if ratio is not None]
    held = any(e.outcome == "holds" and e.kind in ("exact", "search") for e in evidence)
    covered = ""
    verdict: VerdictName
    if "refuted" in outcomes:
        verdict = "undecided" if "proved" in outcomes or certificate is None else "refuted"
    elif "fails" in outcomes:
        verdict = "undecided"
    elif "vacuous" in outcomes:
        verdict = "vacuous"
    elif "proved" in outcomes:
        verdict = "proved"
    else:
        verdict = "supported" if held and coverage.earned else "undecided"
        covered = coverage.detail if held else ""
    first = sorted(evidence, key=lambda e: e.outcome not in ("refuted", "fails"))
    best = max(ratios) if ratios else None
    return Result(claim_id, verdict, best, tuple(first), certificate, covered, quick)
