"""The view of a claim that says what it means: its formulas set, its algorithm, its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup

from theory.calculator import ROUNDS, Calculator, calculator
from theory.claim import Claim as Numbers
from theory.claim import Parameter
from theory.predicates import Predicate
from theory.program import pseudo_code
from theory.typeset import latex_of_assumption, latex_of_claim, latex_of_definitions
from theory.written import Claim
from validate.replay.derivation import Piece, pieces
from validate.report.formula import Typesetter
from validate.report.play import play
from validate.report.refutations import refutation
from validate.report.views import ClaimView, headline
from validate.verdict import Result

SHORT = 4
"""Words of a meaning, such as "f_n is convex", that the formula says as well."""


class Said(NamedTuple):
    """A definition or an assumption: set, and in words where a formula does not say it."""

    formula: Markup
    meaning: str = ""


@dataclass(frozen=True)
class WrittenView(ClaimView):
    """A claim that says what it means, with all that its page shows of it.

    Attributes:
        definitions, assumptions, standing: set, with their meaning.
        program: its algorithm as pseudo-code; empty without one.
        proof: what its proof consists of, where it is proved.
    """

    definitions: tuple[Said, ...] = ()
    assumptions: tuple[Said, ...] = ()
    standing: tuple[Said, ...] = ()
    program: str = ""
    proof: tuple[Piece, ...] = ()

    written: ClassVar[bool] = True

    @cached_property
    def calculator(self) -> Calculator:
        """The claim in numbers."""
        return calculator(self.claim)

    @property
    def numbers(self) -> Numbers:
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


def written_view(
    claim: Claim, result: Result | None, repairs: tuple[ClaimView, ...], setter: Typesetter, out: Path
) -> WrittenView:
    """All that a page shows of a claim that says what it means.

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
    return WrittenView(
        claim=claim,
        result=result,
        formula=setter.display(latex_of_claim(claim), claim.statement),
        headline=headline(result),
        steps=(),
        refutation=refutation(result, out, claim.sentence.relation) if result and claim.has_sentence else None,
        repairs=repairs,
        definitions=tuple(
            Said(setter.display(definitions[name], f"{name} = {text}")) for name, text in claim.where.items()
        ),
        assumptions=tuple(assumed[: len(claim.assuming)]),
        standing=tuple(assumed[len(claim.assuming) :]),
        program="" if claim.program is None else pseudo_code(claim.program),
        proof=_proof(claim, result),
    )


def _proof(claim: Claim, result: Result | None) -> tuple[Piece, ...]:
    """The pieces of the proof that was accepted: the author's, or what the prover has found."""
    proved = [e for e in result.evidence if e.outcome == "proved"] if result is not None else []
    if not proved:
        return ()
    return tuple(pieces(claim.proof if claim.proof is not None else (proved[0].data or {}).get("proof")))
