"""How much a refutation matters, and what is kept of the catalogue's: the nearest repair that a search found once.

`severities.json` is written by ``python -m benchmarks.severities``, and says nothing of a claim that has another text
since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from theory.claim import Claim

if TYPE_CHECKING:
    from validate.repairs import Repair

Severity = Literal["misprint", "lost constant", "lost hypothesis", "false"]
MEANING: dict[Severity, str] = {
    "misprint": "one slip: what is meant stands",
    "lost constant": "the same order holds, with another constant",
    "lost hypothesis": "it holds under a condition that is not stated",
    "false": "the order itself is another",
}
ORDER: tuple[Severity, ...] = ("misprint", "lost constant", "lost hypothesis", "false")
KEPT = Path(__file__).with_name("severities.json")
NOT_DETERMINED = "not determined"


@dataclass(frozen=True)
class Kept:
    """What a search said of a false claim.

    Attributes:
        id: of the claim.
        text: its statement, and what it assumes: of them it was said.
        severity: None where no repair was found: not determined.
        instead: what the nearest claim that stands has for what is printed, the charitable reading; empty without one.
        word: of the check on that claim, ``proved`` or ``supported``; empty without one.
        seconds: of CPU that the search was given.
    """

    id: str
    text: str
    severity: Severity | None
    instead: str
    word: str
    seconds: float

    @classmethod
    def of(cls, found: Repair, seconds: float) -> Kept:
        """What came of a search."""
        best, text = found.best, text_of(found.claim)
        if best is None:
            return cls(found.claim.id, text, None, "", "", seconds)
        return cls(found.claim.id, text, best.severity, best.words, best.verdict, seconds)

    @property
    def line(self) -> str:
        """The severity, and the charitable reading."""
        if self.severity is None:
            return f"{NOT_DETERMINED}: no repair was found in {self.seconds:g} s"
        return f"{self.severity}: {MEANING[self.severity]}; instead: {self.instead} ({self.word})"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def text_of(claim: Claim) -> str:
    """All that a claim says, in one text."""
    return "; ".join(
        [claim.statement, *claim.assuming, *claim.standing, *(f"{n} = {t}" for n, t in claim.where.items())]
    )


@lru_cache
def kept() -> Mapping[str, Kept]:
    """All that is kept, by the ids of claims."""
    rows = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    return MappingProxyType({row["id"]: Kept(**row) for row in rows})


def severity_of(claim: Claim) -> Kept | None:
    """What is kept of a claim; None where there is nothing, or the claim had another text then."""
    found = kept().get(claim.id)
    return found if found is not None and found.text == text_of(claim) else None
