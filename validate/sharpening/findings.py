"""What is known of the stronger forms of a claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from validate.verdict import Result, VerdictName

Kind = Literal["term", "factor", "function", "assumption", "constant", "step"]
NEED: dict[str, str] = {"refuted": "needed", "proved": "not needed"}
"""What a verdict on the claim without something says of it; any other leaves it open."""


@dataclass(frozen=True)
class Word:
    """What a check says of one form of a claim.

    Attributes:
        claim: that form.
        verdict: of a check, ``proved`` and ``refuted`` with what they take; else ``undecided``.
        detail: the derivation or the instance in a sentence; else what was tried.
        file: of the derivation or the certificate, as far as one was written.
        derivation: the lines of the one that proves it, as plain data; None where it is not proved.
        instance: that breaks it, in JSON's form; None where it is not refuted.
    """

    claim: Claim
    verdict: VerdictName
    detail: str
    file: str | None = None
    derivation: tuple[Any, ...] | None = None
    instance: dict[str, Any] | None = None

    @classmethod
    def of(cls, claim: Claim, result: Result, derivation: tuple[Any, ...] | None = None) -> Word:
        """The word of a check."""
        if result.verdict not in NEED:
            return cls(claim, "undecided", result.telling)
        broken = result.break_found
        instance = None if broken is None else (broken.data or {}).get("instance")
        proved = result.verdict == "proved"
        file = result.proof if proved else result.certificate
        return cls(claim, result.verdict, result.telling, file, derivation if proved else None, instance)

    def to_json(self) -> dict[str, Any]:
        return {
            "statement": self.claim.statement,
            "assuming": [*self.claim.assuming, *self.claim.standing],
            "definitions": dict(self.claim.where),
            "verdict": self.verdict,
            "detail": self.detail,
            "file": self.file,
            "instance": self.instance,
        }


@dataclass(frozen=True)
class Without:
    """The claim with one thing less.

    Attributes:
        kind: of what.
        what: is left out, or put for what, in words.
        word: on the claim without it.
    """

    kind: Kind
    what: str
    word: Word

    @property
    def need(self) -> str:
        """``needed``, ``not needed`` or ``undecided``."""
        return NEED.get(self.word.verdict, "undecided")

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "what": self.what, "need": self.need, **self.word.to_json()}


@dataclass(frozen=True)
class Bracket:
    """How far a number in a claim can be moved, told from both sides.

    Attributes:
        kind: ``constant`` of a term, or ``step`` of a relation that the claim assumes.
        what: the term, or the relation, in words.
        smaller: whether a smaller factor says more; else a larger one does.
        stands: the strongest factor at which the claim is proved; None where not even the printed form, factor 1, is.
        broken: the factor nearest to it at which an exact instance breaks the claim; None where none does.
        limit: the instance breaks it at every factor beyond this one, which may be further on than `broken`.
        proof: the word at `stands`.
        refutation: the word at `broken`.
    """

    kind: Kind
    what: str
    smaller: bool
    stands: Fraction | None
    broken: Fraction | None
    limit: Fraction | None
    proof: Word | None
    refutation: Word | None

    @property
    def met(self) -> bool:
        """Whether both sides meet: every stronger factor is broken by the instance."""
        return self.stands is not None and self.stands == self.limit

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "what": self.what,
            "smaller_is_stronger": self.smaller,
            "stands": self.stands,
            "broken": self.broken,
            "limit": self.limit,
            "met": self.met,
            "proof": None if self.proof is None else self.proof.to_json(),
            "refutation": None if self.refutation is None else self.refutation.to_json(),
        }


@dataclass(frozen=True)
class Least:
    """The least factor of a term at numbers, by the worst functions of the claim's class.

    Attributes:
        what: the term.
        printed: its factor, a formula in numbers.
        at: at how many numbers it was asked, and is known from both sides.
        exact: whether the printed factor is the least at all of them.
        formula: one that is the least at all of them; None where the printed one is, or none was recognised.
        word: on the claim with that formula; None where there is none.
    """

    what: str
    printed: str
    at: int
    exact: bool
    formula: str | None = None
    word: Word | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "printed": self.printed,
            "at": self.at,
            "exact": self.exact,
            "formula": self.formula,
            "with_formula": None if self.word is None else self.word.to_json(),
        }


@dataclass(frozen=True)
class Sharpened:
    """What is known of the stronger forms of a claim.

    Attributes:
        claim: which.
        word: on the claim itself.
        strongest: it without all that was proved not to be needed: of this form is what is said of the rest.
        parts: its terms, factors, functions and assumptions.
        brackets: the constants and steps of that form.
        least: the least factors of its terms at numbers, as far as worst cases say them.
        cut: why it ends before all was tried; empty where it does not.
        seconds: of this process's time that it took.
    """

    claim: Claim
    word: Word
    strongest: Claim
    parts: tuple[Without, ...] = field(default=())
    brackets: tuple[Bracket, ...] = field(default=())
    least: tuple[Least, ...] = field(default=())
    cut: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            **self.word.to_json(),
            "strongest": self.strongest.statement,
            "parts": [one.to_json() for one in self.parts],
            "brackets": [one.to_json() for one in self.brackets],
            "least": [one.to_json() for one in self.least],
            "cut": self.cut,
            "seconds": round(self.seconds, 1),
        }
