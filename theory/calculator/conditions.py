"""The conditions of a claim in numbers: its assumptions, and what these and its program say about the numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from theory.bound import Hypothesis
from theory.calculator.formulas import Formulas
from theory.calculator.terms import ONE
from theory.claim import Claim
from theory.formula import Name, names_in
from theory.predicates import Connected, Predicate, Smooth, StronglyConvex
from theory.program import limits
from theory.sentence import FUNCTION_NAMES, Sentence, index_of, text_of


def conditions(formulas: Formulas, given: Collection[str] | None, all_relations: bool) -> list[Hypothesis]:
    """The claim's assumptions, then what they and the program say about its numbers."""
    found: list[Hypothesis] = []
    written = (*formulas.claim.assuming, *formulas.claim.standing)
    for at, (text, one) in enumerate(zip(written, formulas.claim.assumptions, strict=True)):
        where = "elsewhere in the paper" if at >= len(formulas.claim.assuming) else ""
        if isinstance(one, Predicate):
            meaning = str(one).partition(": ")[2]
            found.append(Hypothesis(one.text, meaning, where=where))
        else:
            found.append(Hypothesis(text, text, _relation(formulas, one, given, all_relations), where=where))
    for why, relation in _implied(formulas.claim):
        implied = _relation(formulas, relation, given, False, new=False)
        if implied is not None and implied not in {h.relation for h in found}:
            found.append(Hypothesis(str(relation), why, implied))
    return found


def _relation(
    formulas: Formulas, relation: Sentence, given: Collection[str] | None, all_relations: bool, new: bool = True
) -> str | None:
    """A relation as the calculator has it, or None where it needs numbers that are not given."""
    before = formulas.noted()
    sides = formulas.formula(relation.left), formulas.formula(relation.right)
    added = set(formulas.parameters) - set(before[0])
    own = {name for name in added if name not in formulas.texts and "n" not in index_of(name)[1]}
    wanted = added <= set(given) if given is not None else (all_relations or added == own)
    if (wanted and new) or not added:
        return f"{text_of(sides[0])} {relation.relation} {text_of(sides[1])}"
    formulas.forget(before)
    return None


def _implied(claim: Claim) -> Iterator[tuple[str, Sentence]]:
    """What holds between the numbers wherever the assumptions do and the program has a meaning."""
    predicates = () if claim.over else claim.predicates  # asked at some x only, they imply nothing
    for one in predicates:
        for other in predicates:
            if isinstance(one, StronglyConvex) and isinstance(other, Smooth) and _bounds(other, one):
                why = f"implied by {one.text} and {other.text}"
                yield why, Sentence(one.constants[0], "<=", other.constants[0])
        if isinstance(one, Connected):
            yield f"implied by {one.text}", Sentence(Name("rho"), "<", ONE)
    program = claim.program
    numbers = set(claim.symbols) - {index_of(s)[0] for s in claim.symbols if index_of(s)[1]}
    for op, number, most in () if program is None else limits(program):
        if names_in(number) <= numbers:
            yield f"needed by {op} in {program.name}", Sentence(number, "<=", most)  # type: ignore[union-attr]


def _bounds(smooth: Smooth, strongly: StronglyConvex) -> bool:
    """Whether a constant of smoothness of these functions bounds that of strong convexity of those."""
    return FUNCTION_NAMES.index(smooth.function) >= FUNCTION_NAMES.index(strongly.function)
