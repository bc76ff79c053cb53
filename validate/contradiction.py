"""Assumptions of a claim that contradict each other: then it speaks of nothing, and is vacuous.

Relations become relations between numbers: what stands for something else than a number that a parameter is (a squared
norm, a value of a function, a mean over clients of such) becomes a number of its own, the same for the same text, which
is not negative where the text cannot be. If these cannot hold together, neither can the relations. Assumptions imply
relations between their constants, or exclude each other.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from theory.domain import COUNT, NONNEGATIVE, REAL, Domain
from theory.formula import Apply, Name, Number
from theory.predicates import Smooth, StronglyConvex
from theory.program import limits, names_in
from theory.sentence import Expression, applied, index_of, parts, replaced, text_of
from theory.written import Claim
from validate.verdict import Evidence, Outcome

log = logging.getLogger(__name__)

PLAIN = ("+", "-", "*", "/", "**", "neg", "sqrt", "log", "exp", "abs", "min", "max")
"""Operations on numbers."""
NEVER_NEGATIVE = ("norm2", "norm", "abs", "sqrt", "exp")


def contradictions(claim: Claim) -> list[Evidence]:
    """Whether what a claim assumes can hold together, as evidence; nothing where that is not known."""
    from theory.feasible import feasible_relations, function_conflicts

    for found in function_conflicts(claim):
        excluded = f"{found.first} and {found.second} exclude each other: {found.proof}"
        return [Evidence("hypotheses", "vacuous", excluded, origin="search")]

    numbers = _Numbers(claim)
    texts = []
    for relation in claim.relations:
        left, right = (numbers.of(replaced(side, claim.definitions)) for side in (relation.left, relation.right))
        texts.append(f"{text_of(left)} {relation.relation} {text_of(right)}")
    if not texts:
        return []
    texts += _asked_by_the_program(claim)
    for one in () if claim.over else claim.predicates:  # asked at some x only, they imply nothing here
        for other in claim.predicates:
            if isinstance(one, StronglyConvex) and isinstance(other, Smooth):  # of some f_n or f_ni, and so of f
                sides = (numbers.of(replaced(c, claim.definitions)) for c in (one.constants[0], other.constants[0]))
                texts.append(" <= ".join(map(text_of, sides)))
    try:
        answer = feasible_relations(texts, numbers.domains)
    except ValueError as error:
        log.debug("%s: %s", claim.id, error)
        return []
    outcome: Outcome = {"feasible": "holds", "empty": "vacuous", "undecided": "undecided"}[answer.outcome]  # type: ignore[assignment]
    detail = answer.detail + "".join(f"; {name} = {text}" for name, text in numbers.meanings.items())
    if outcome == "holds" and numbers.meanings:  # of numbers that are bound to functions this says little
        return []
    return [Evidence("hypotheses", outcome, detail, data=answer.to_json(), origin="search")]


def _asked_by_the_program(claim: Claim) -> list[str]:
    """What draws and compressions ask of their arguments, where these are formulas in parameters."""
    if claim.program is None:
        return []
    numbers = {*claim.domains, "N", "d"} - {base for base, index in map(index_of, claim.symbols) if index}
    asked = [(number, most) for _, number, most in limits(claim.program) if names_in(number) <= numbers]
    return [f"{text_of(number)} <= {text_of(most)}" for number, most in asked]


class _Numbers:
    """The numbers that stand for what is no parameter, as they are met."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.domains: dict[str, Domain] = {**claim.domains, "N": COUNT, "d": COUNT, "K": COUNT}
        self.meanings: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def of(self, e: Expression) -> Expression:
        """A tree of numbers alone."""
        if isinstance(e, Number) or (isinstance(e, Name) and self._is_number(e.name)):
            return e
        if isinstance(e, Apply) and e.operation in PLAIN and all(map(self._is_scalar, parts(e))):
            return applied(e.operation, tuple(self.of(part) for part in parts(e)))
        if isinstance(e, Apply) and e.operation == "norm":
            return applied("sqrt", (self.of(applied("norm2", parts(e))),))
        text = text_of(e)
        if text not in self.names:
            self.names[text] = name = self._fresh()
            self.domains[name] = NONNEGATIVE if self._never_negative(e) else REAL
            self.meanings[name] = text
        return Name(self.names[text])

    def _fresh(self) -> str:
        count = len(self.names) + 1
        while f"s{count}" in self.domains:
            count += 1
        return f"s{count}"

    def _is_number(self, name: str) -> bool:
        return name in self.domains

    def _is_scalar(self, e: Expression) -> bool:
        from theory.sentence import read

        return read(e, self.claim.vocabulary).shape == "scalar"

    def _never_negative(self, e: Expression) -> bool:
        if isinstance(e, Number):
            return e.value >= 0
        if isinstance(e, Name):
            base = index_of(e.name)[0]
            return base in self.claim.domains and _least(self.claim.domains, base)
        if not isinstance(e, Apply):
            return False
        if e.operation in NEVER_NEGATIVE:
            return True
        how = e.operation.partition("_")[0]
        if how in ("mean", "sum", "max", "min", "E") or e.operation in ("+", "*", "/", "max", "min"):
            return all(map(self._never_negative, parts(e)))
        return e.operation == "**" and self._never_negative(parts(e)[0])


def _least(domains: Mapping[str, Any], name: str) -> bool:
    lower = domains[name].lower
    return lower is not None and lower >= 0
