"""A repair: the claim as it can be pasted, what was changed, what the check says of it; how much the error matters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from theory.claim import Claim
from validate.repairs.candidates import Candidate, Kind
from validate.severity import ORDER, Severity
from validate.verdict import Result

SEVERITY: dict[Kind, Severity] = {
    **dict.fromkeys(
        (
            "strictness", "sign", "index", "name", "bracket", "expectation", "mean", "function",
            "part exchanged", "units", "algorithm",
        ),
        "misprint",
    ),
    "constant": "lost constant",
    "condition": "lost hypothesis",
    "hypothesis": "lost hypothesis",
    "on samples": "lost hypothesis",
    "part replaced": "false",
    "factor": "false",
    "term": "false",
}  # fmt: skip
"""What an edit says of the error; of several edits, the last of these words that one of them has."""


@dataclass(frozen=True)
class Repaired:
    """A claim that stands, near one that does not.

    Attributes:
        candidate: the claim and its edits.
        result: of `validate.check`, quick.
        ended: process seconds after which the longer hunt for what breaks it was ended; None where it was not.
    """

    candidate: Candidate
    result: Result
    ended: float | None = None

    @property
    def claim(self) -> Claim:
        """The claim that stands."""
        return self.candidate.claim

    @property
    def words(self) -> str:
        """What was changed."""
        return self.candidate.words

    @property
    def distance(self) -> float:
        """How far it is from the printed claim: the sum of `validate.repairs.edits.COST` over its edits."""
        return self.candidate.distance

    @property
    def verdict(self) -> str:
        """``proved`` or ``supported``, by the check."""
        return self.result.verdict

    @property
    def said(self) -> str:
        """The verdict, with what it rests on."""
        return self.result.said if self.ended is None else f"{self.result.said}, and {self.ended:.0f} s of a longer one"

    @property
    def tightness(self) -> float | None:
        """The largest left / right that the check met."""
        return self.result.tightness

    @property
    def severity(self) -> Severity:
        """What it says of the error."""
        return max((SEVERITY[edit.kind] for edit in self.candidate.edits), key=ORDER.index)

    @property
    def text(self) -> str:
        """The claim as Python of the language."""
        return text_of_claim(self.claim)

    def to_json(self) -> dict[str, Any]:
        c = self.claim
        return {
            "edits": [{"kind": edit.kind, "words": edit.words} for edit in self.candidate.edits],
            "distance": round(self.distance, 2),
            "severity": self.severity,
            "verdict": self.verdict,
            "tightness": self.tightness,
            "longer hunt ended after": self.ended,
            "covered": self.result.covered,
            "statement": c.statement,
            "assuming": list(c.assuming),
            "standing": list(c.standing),
            "where": dict(c.where),
            "text": self.text,
        }


@dataclass(frozen=True)
class Repair:
    """What came of the search.

    Attributes:
        claim: the printed one.
        repairs: claims that stand, the nearest first.
        stands: whether nothing broke the printed claim, so that there is nothing to repair.
        tried: candidates that were held against known instances.
        killed: of these, that one of them breaks.
        units: candidates whose units contradict each other.
        hunts: candidates for which a hunt was made.
        checks: candidates that were checked.
        seconds: of the process's time.
        cut: whether the time was over before all candidates were tried.
        interrupted: whether somebody ended it.
        nearest: of what does not stand the claim that came farthest, and what ended it, in words; empty for none.
    """

    claim: Claim
    repairs: tuple[Repaired, ...]
    stands: bool
    tried: int
    killed: int
    units: int
    hunts: int
    checks: int
    seconds: float
    cut: bool
    interrupted: bool = False
    nearest: str = ""

    @property
    def best(self) -> Repaired | None:
        """The nearest; None where none stands."""
        return next(iter(self.repairs), None)

    @property
    def severity(self) -> Severity | None:
        """How much the error matters; None where no repair says it."""
        return None if self.best is None else self.best.severity

    @property
    def line(self) -> str:
        """What came of it, in a line."""
        if self.best is None:
            return "nothing breaks it" if self.stands else f"severity not determined: no repair; {self.said}"
        return f"{self.best.severity}: {self.best.words} ({self.best.said})"

    @property
    def said(self) -> str:
        """What was tried, in a line."""
        text = f"{self.tried} claims near it were tried in {self.seconds:.0f} s, and {self.checks} of them checked"
        if self.interrupted:
            return f"{text}; interrupted"
        if self.best is not None:
            return text
        text += "; the time was over before all were" if self.cut else ""
        return f"{text}; the nearest: {self.nearest}" if self.nearest else text

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            "stands": self.stands,
            "severity": self.severity,
            "repairs": [one.to_json() for one in self.repairs],
            "tried": {
                "candidates": self.tried,
                "broken by known instances": self.killed,
                "units": self.units,
                "hunts": self.hunts,
                "checks": self.checks,
            },
            "seconds": round(self.seconds, 1),
            "cut": self.cut,
            "interrupted": self.interrupted,
            "nearest": self.nearest,
        }


PASTED = ("assuming", "standing", "where", "vectors", "over")


def text_of_claim(claim: Claim) -> str:
    """A claim as Python of the language, ready to be pasted behind its algorithm.

    A changed algorithm has no function of which there is text: its pseudo-code stands in a comment before it.
    """
    lines = [f"    {claim.label!r},".replace("'", '"'), f'    "{claim.statement}",']
    before = ""
    if claim.of is not None:
        lines.append(f"    of={claim.of.name},")
    for field in PASTED:
        value = getattr(claim, field)
        if not value:
            continue
        if field == "where":
            inner = "".join(f'        "{name}": "{text}",\n' for name, text in value.items())
            lines.append(f"    where={{\n{inner}    }},")
        elif isinstance(value, str):
            lines.append(f'    {field}="{value}",')
        else:
            inner = ", ".join(f'"{text}"' for text in value) + "," * (len(value) == 1)
            lines.append(f"    {field}=({inner}),")
    if claim.parameters:
        inner = ", ".join(f'"{name}": {_domain(domain)}' for name, domain in claim.parameters.items())
        lines.append(f"    parameters={{{inner}}},")
    return before + "claim(\n" + "\n".join(lines) + "\n)"


def _domain(domain: Any) -> str:
    own = [f for f in fields(domain) if getattr(domain, f.name) != f.default]
    given = ", ".join(f"{f.name}={getattr(domain, f.name)!r}" for f in own)
    return f"Domain({given})"
