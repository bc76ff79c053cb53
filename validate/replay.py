"""The proof of a claim that says what it means: what is written of it, and whether the claim's sentence follows.

Such a proof has no lines that could be false one by one: it names what the sentence is a combination of, and the
prover (`validate.proving`) accepts the combination or does not. What it accepts is the claim's own sentence, symbol for
symbol. A proof that the prover has found by itself is shown the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from theory.claim import Claim
from validate import proving
from validate.contradiction import contradictions
from validate.proved_files import agreed

Outcome = Literal["proved", "undecided"]


@dataclass(frozen=True)
class Piece:
    """A piece of a proof, such as a condition and its multiplier.

    Attributes:
        label: what it is about.
        rule: the part of the proof that it belongs to, such as ``multipliers``.
        text: what is written there.
    """

    label: str
    rule: str
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"label": self.label, "rule": self.rule, "text": self.text}


@dataclass(frozen=True)
class Derivation:
    """A proof as data, put to the prover.

    Attributes:
        id: of the claim.
        sentence: the claim's.
        pieces: of the proof, in the order in which they are written.
        written: whether its author wrote it; else the prover has found it.
        outcome: ``proved`` where the prover accepts it.
        detail: what the prover says.
        hypotheses: of the claim, on which the proof rests.
    """

    id: str
    sentence: str
    pieces: tuple[Piece, ...]
    written: bool
    outcome: Outcome
    detail: str
    hypotheses: tuple[str, ...] = ()

    @property
    def reaches(self) -> bool:
        """Whether its end is the claim."""
        return self.outcome == "proved"

    def to_json(self) -> dict[str, Any]:
        """Plain data; the last line is the claim."""
        last = {"label": self.id, "rule": "the claim", "text": self.sentence, "outcome": self.outcome}
        lines = [{**piece.to_json(), "outcome": "given"} for piece in self.pieces]
        return {
            "id": self.id,
            "reaches": self.reaches,
            "lines": [*lines, {**last, "detail": self.detail}],
        }


def derivation(claim: Claim) -> Derivation | None:
    """A claim's proof, put to the prover; None where nothing is written and the prover finds nothing.

    Args:
        claim: as its author wrote it.
    """
    said = [agreed(item) for item in proving.evidence(claim, proving.UNITS if claim.proof is None else 0)]
    found = [item for item in said if item.outcome == "proved"]
    if not found:
        if claim.proof is None:
            return None
        detail = said[0].detail if said else "nothing is proved of a claim without a sentence"
        return Derivation(claim.id, claim.statement, tuple(pieces(claim.proof)), True, "undecided", detail)
    best = found[0]
    data = best.data or {}
    written = claim.proof is not None
    parts = tuple(pieces(claim.proof if written else data.get("proof", {})))
    empty = [item.detail for item in contradictions(claim, quick=True) if item.outcome == "vacuous"]
    if empty:
        return Derivation(claim.id, claim.statement, parts, written, "undecided", f"the claim is vacuous: {empty[0]}")
    rests_on = tuple(map(str, data.get("sentence", {}).get("hypotheses", ())))
    return Derivation(claim.id, claim.statement, parts, written, "proved", best.detail, rests_on)


def pieces(data: Any, rule: str = "") -> Iterator[Piece]:
    """The entries of plain data, however nested; of another claim its id."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            if isinstance(value, Mapping | list | tuple):
                yield from pieces(value, f"{rule}, {name}" if rule else str(name))
            else:
                yield Piece(str(name), rule, value.id if isinstance(value, Claim) else str(value))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        for i, value in enumerate(data):
            yield from pieces(value if isinstance(value, Mapping | list | tuple) else {str(i + 1): value}, rule)
    elif data is not None:
        yield Piece("", rule, str(data))
