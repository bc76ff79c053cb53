"""The view of a claim: its formulas set, its verdict, its algorithm, its proof, its numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from theory.bound import Bound, Parameter
from theory.calculator import ROUNDS, Calculator, calculator
from theory.claim import Claim
from theory.predicates import Predicate
from theory.program import pseudo_code
from theory.sentence import SentenceError, Vocabulary, parse_expression, parse_sentence
from theory.typeset import (
    latex_of,
    latex_of_assumption,
    latex_of_claim,
    latex_of_definitions,
    latex_of_sentence,
)  # fmt: skip
from validate.files import target_of
from validate.replay import Piece, pieces
from validate.report.differences import Difference, differences
from validate.report.figures import reachable
from validate.report.formula import Typesetter
from validate.report.play import play
from validate.report.readable import called, number, slug
from validate.report.refutations import Refutation, refutation
from validate.severity import severity_of
from validate.verdict import Result

SHORT = 4
"""Words of a meaning, such as "f_n is convex", that the formula says as well."""


class Said(NamedTuple):
    """A definition or an assumption: set, and in words where a formula does not say it."""

    formula: Markup
    meaning: str = ""


class Step(NamedTuple):
    """A piece of a proof: what it is about, the part of the proof that it belongs to, and what is written there."""

    label: str
    rule: str
    formula: Markup


@dataclass(frozen=True)
class ClaimView:
    """A claim with all that its page shows of it.

    Attributes:
        claim: as in the catalogue.
        result: its verdict, or None where it was not checked.
        formula: typeset.
        headline: the sentence of evidence that says most.
        refutation: what its certificate says, or None.
        repairs: the claims that amend it.
        differences: between it and each of them.
        definitions, assumptions, standing: set, with their meaning.
        program: its algorithm as pseudo-code; empty without one.
        proof: what its proof consists of, where it is proved, set.
        proof_file: the derivation that was accepted, as a link from the page; empty where there is none.
    """

    claim: Claim
    result: Result | None
    formula: Markup
    headline: str
    refutation: Refutation | None
    repairs: tuple[ClaimView, ...]
    differences: tuple[Difference, ...] = ()
    definitions: tuple[Said, ...] = ()
    assumptions: tuple[Said, ...] = ()
    standing: tuple[Said, ...] = ()
    program: str = ""
    proof: tuple[Step, ...] = ()
    proof_file: str = ""

    @cached_property
    def calculator(self) -> Calculator:
        """The claim in numbers."""
        return calculator(self.claim)

    @property
    def numbers(self) -> Bound:
        """Its bound, as `fedproof bound` evaluates it."""
        return self.calculator.bound

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that a reader gives."""
        return tuple(p for p in self.numbers.parameters if p.name != ROUNDS)

    @property
    def for_all(self) -> str:
        """The indices for all of whose values it is claimed."""
        return ", ".join(sorted(self.claim.free))

    @cached_property
    def play(self) -> dict[str, Any] | None:
        """What the sliders compute; None where it sums over rounds, whose number a slider would change."""
        if not self.claim.has_sentence:
            return None
        return play(self.numbers) if len(self.parameters) == len(self.numbers.parameters) else None

    @property
    def title(self) -> str:
        """Its title, or its label."""
        return self.claim.title or self.claim.label

    @property
    def amends(self) -> str | None:
        """The id of the claim that it repairs."""
        found: str | None = self.claim.amended
        return found

    @property
    def version(self) -> str:
        """Whether the claim is as printed, a repair, or a reading."""
        return "repair" if self.claim.amends is not None else "reading" if "/" in self.claim.label else "printed"

    @property
    def equation(self) -> str:
        """The paper's number for it; may be empty."""
        return str(self.claim.equation)

    @property
    def name(self) -> str:
        """Number and title."""
        return ", ".join(part for part in (self.equation, self.title) if part)

    @property
    def severity(self) -> str:
        """How much it matters that it is false, where a repair was searched for, now or once; else empty."""
        if self.verdict != "refuted" or self.result is None:
            return ""
        kept = severity_of(self.claim)
        return self.result.severity or (kept.severity if kept else None) or ""

    @property
    def called(self) -> str:
        """What it is, and its number: "Theorem V.1 (7)"; its title where it has no number."""
        return called(self.claim)

    @property
    def sheet(self) -> str:
        """The file of its sheet for a reviewer; empty for a claim that is not refuted."""
        return sheet_file(self.claim.id) if self.verdict == "refuted" else ""

    @property
    def standing_repair(self) -> ClaimView | None:
        """The claim that stands in its place, a proved one before others; None where none does."""
        return next((r for word in ("proved", "supported") for r in self.repairs if r.verdict == word), None)

    @property
    def short(self) -> str:
        """Its number, or its title where it has none."""
        return self.equation or self.title

    @property
    def verdict(self) -> str:
        """The verdict's name, "undecided" for a claim that was not checked."""
        return self.result.verdict if self.result else "undecided"

    @property
    def place(self) -> str:
        """Where in its paper it is: its label in words.

        Example: ``lemma-10-3/corrected`` is Lemma 10.3 corrected, ``a-3-line-16`` is A.3 line 16.
        """
        parts = self.claim.label.replace("/", "-").split("-")
        numbered = [len(part) == 1 or part.isdigit() for part in parts]
        joints = ["." if one and two else " " for one, two in pairwise(numbered)]
        text = "".join(part + joint for part, joint in zip(parts, [*joints, ""], strict=True))
        return text[:1].upper() + text[1:]

    @property
    def brief(self) -> str:
        """Its number, or where it is."""
        return self.equation or self.place

    @property
    def from_memory(self) -> bool:
        """Whether its text is: it is then not what is printed that is found false."""
        return self.claim.sure == "memory"

    @property
    def said(self) -> str:
        """The verdict in words."""
        return self.result.said if self.result else self.verdict

    @property
    def measured(self) -> tuple[str, str] | None:
        """Both sides on the instance that breaks it, or on which they are nearest; None where neither is known."""
        evidence = self.result.evidence if self.result else ()
        for e in sorted(evidence, key=lambda e: (e.outcome != "refuted", e.tightness != self.tightness)):
            data = e.data or {}
            pair = data if "left" in data else data.get("tightest") or {}
            if {"left", "right"} <= set(pair):
                return _short(pair["left"]), _short(pair["right"])
        return None

    @property
    def row(self) -> str:
        """Id of the claim's row in the table of many papers."""
        return f"row-{self.anchor}"

    @property
    def target(self) -> str:
        """What a command takes for the claim."""
        return target_of(self.claim.id)

    @property
    def anchor(self) -> str:
        """Id of the claim's section in its page."""
        return slug(self.claim.id)

    @property
    def origin(self) -> str:
        """Where what breaks it comes from; empty for a claim that nothing broke."""
        found = self.result.break_found if self.result else None
        return found.origin if found else ""

    @property
    def broken(self) -> bool:
        """Whether something broke it without refuting it."""
        return self.result is not None and self.result.broken and self.verdict == "undecided"

    @property
    def budget(self) -> str:
        """Of a supported claim, the search that did not break it."""
        return self.result.budget if self.result and self.verdict == "supported" else ""

    @property
    def refused(self) -> str:
        """Where the derivation that its author wrote is refused, and why; empty where it is not."""
        return self.result.refused if self.result else ""

    @property
    def covered(self) -> str:
        """What was varied; or what was not, where that is why the claim is not supported."""
        return self.result.covered if self.result else ""

    @property
    def tightness(self) -> float | None:
        """The largest left / right side found, or None."""
        return self.result.tightness if self.result else None


def claim_view(
    claim: Claim, result: Result | None, repairs: tuple[ClaimView, ...], setter: Typesetter, out: Path
) -> ClaimView:
    """All that a page shows of a claim.

    Args:
        claim: the claim.
        result: its verdict, or None.
        repairs: the views of the claims that amend it.
        setter: sets the formulas.
        out: folder of the page, for links.
    """
    definitions: Mapping[str, str] = latex_of_definitions(claim)
    assumed = []
    for text, one in zip((*claim.assuming, *claim.standing), claim.assumptions, strict=True):
        words = str(one).partition(": ")[2] if isinstance(one, Predicate) else ""
        meaning = words if len(words.split()) > SHORT else ""
        assumed.append(Said(setter.display(latex_of_assumption(one, claim.vocabulary), text), meaning))
    return ClaimView(
        claim=claim,
        result=result,
        formula=setter.display(latex_of_claim(claim), claim.statement),
        headline=headline(result),
        refutation=refutation(result, out, claim, setter) if result and claim.has_sentence else None,
        repairs=repairs,
        differences=tuple(differences(claim, repair.claim, setter) for repair in repairs),
        definitions=tuple(
            Said(setter.display(definitions[name], f"{name} = {text}")) for name, text in claim.where.items()
        ),
        assumptions=tuple(assumed[: len(claim.assuming)]),
        standing=tuple(assumed[len(claim.assuming) :]),
        program="" if claim.program is None else pseudo_code(claim.program),
        proof=tuple(
            Step(one.label, one.rule, setter.display(_latex(one.text, claim.vocabulary), one.text))
            for one in _proof(claim, result)
        ),
        proof_file=_proof_file(result, out),
    )


def sheet_file(id: str) -> str:
    """The file of a claim's sheet."""
    return f"sheet-{slug(id)}.html"


def _proof_file(result: Result | None, out: Path) -> str:
    path = Path(result.proof) if result is not None and result.proof is not None else None
    return reachable(path, out, "derivations") if path is not None and path.is_file() else ""


def _short(side: Any) -> str:
    """A side of a sentence, exact or between two ends, as a short decimal."""
    if isinstance(side, Mapping):
        return number((float(Fraction(side["lower"])) + float(Fraction(side["upper"]))) / 2)
    try:
        return number(float(Fraction(side)))
    except (ValueError, OverflowError):
        return str(side)


def _proof(claim: Claim, result: Result | None) -> tuple[Piece, ...]:
    """The proof that was accepted, the author's or what the prover has found: a piece a line; of other proofs all."""
    proved = [e for e in result.evidence if e.outcome == "proved"] if result is not None else []
    if not proved:
        return ()
    found = (proved[0].data or {}).get("proof")
    lines = found.get("lines") if isinstance(found, Mapping) else None
    if lines:
        return tuple(Piece(line["name"], line["rule"], line["sentence"]) for line in lines)
    return tuple(pieces(claim.proof if claim.proof is not None and proved[0].origin == "given" else found))


def _latex(text: str, words: Vocabulary) -> str:
    """A sentence or an expression in LaTeX; nothing for what is neither."""
    try:
        return latex_of_sentence(parse_sentence(text), words)
    except SentenceError:
        pass
    try:
        return latex_of(parse_expression(text), words)
    except SentenceError:
        return ""


def headline(result: Result | None) -> str:
    """The one sentence of evidence that says most for the verdict."""
    if result is None:
        return "Not checked."
    if not result.evidence:
        return "No evidence."
    text = result.telling
    first = re.match(r".{25,}?\.(?=\s|$)", text, re.DOTALL)
    sentence = first.group() if first else text
    return sentence if len(sentence) <= 260 else f"{sentence[:257].rsplit(' ', 1)[0]} …"
