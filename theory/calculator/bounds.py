"""A claim read into bounds: its right side, and its left side where that is in numbers alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from theory.bound import Bound, Hypothesis
from theory.calculator.conditions import conditions
from theory.calculator.formulas import ROUNDS, Formulas
from theory.claim import Claim
from theory.formula import Apply, Name
from theory.sentence import FUNCTION_NAMES, POINTS, TURNS, At, Expression, everything, index_of, text_of


def read_bounds(
    claim: Claim, given: Collection[str] | None, all_relations: bool
) -> tuple[Bound, Bound | None, dict[str, str]]:
    """A claim's right side in numbers, its left side where numbers say it, and the texts of parameters.

    Arguments and what comes back are as of `theory.calculator.calculator` and its `Calculator`.
    """
    formulas = Formulas(claim)
    own = claim.of.parameters if claim.of is not None else ()
    for one in claim.relations:  # what is fixed by others is worked out
        name = one.left.name if one.relation == "==" and isinstance(one.left, Name) else ""
        if name in own and name not in {*formulas.raw, *(given or ())} and formulas.is_number(one.right):
            formulas.raw[name] = one.right
    right = text_of(formulas.formula(claim.sentence.right))
    found = conditions(formulas, given, all_relations)
    weights = {index_of(symbol)[0]: symbol for symbol in claim.symbols if index_of(symbol)[1] in TURNS}
    for name in given or ():  # on which the bound does not depend
        name = claim.printed.get(name, name)
        name = weights.get(name, name)
        if name in claim.symbols or name in ("N", "d", "K") or name in claim.free:
            formulas.scalar(name)
        elif name in formulas.raw and not formulas.is_number(formulas.raw[name]):
            formulas.name(name)
    _note_terms(formulas, given)
    bound = _bound(formulas, right, found)
    left: Bound | None = None
    if _numbers_alone(claim):
        before = set(formulas.parameters)
        text = text_of(formulas.formula(claim.sentence.left))
        if given is None or set(formulas.parameters) - before <= {*given, ROUNDS}:
            left = _bound(formulas, text, found)
            if given is not None:  # what is given is given for both
                bound = _bound(formulas, right, found)
    return bound, left, dict(formulas.texts)


def _note_terms(formulas: Formulas, given: Collection[str] | None) -> None:
    """Definitions by numbers that the right side does not use: terms, where all that they need is there."""
    allowed = set(map(formulas.shown, formulas.claim.symbols)) if given is None else set(given)
    for name, tree in formulas.raw.items():
        if name in formulas.claim.printed.values() or formulas.shown(name) in {
            *formulas.definitions,
            *formulas.parameters,
        }:
            continue
        if not formulas.is_number(tree):
            continue
        before = formulas.noted()
        formulas.name(name)
        if not set(formulas.parameters) - set(before[0]) <= allowed:
            formulas.forget(before)


def _numbers_alone(claim: Claim) -> bool:
    if claim.of is not None or claim.vectors:
        return False
    sides = (*claim.sentence.sides, *claim.definitions.values())
    return not any(_functional(part) for side in sides for part in everything(side))


def _bound(formulas: Formulas, right: str, conditions: Sequence[Hypothesis]) -> Bound:
    """What has been read so far with this right side."""
    sentence = formulas.claim.sentence
    order = {name: at for at, name in enumerate(map(formulas.shown, formulas.claim.symbols))}
    return Bound(
        formulas.claim.id,
        right,
        tuple(sorted(formulas.parameters.values(), key=lambda p: order.get(p.name, len(order)))),
        tuple(h for h in conditions if not h.where),
        formulas.definitions,
        tuple(h for h in conditions if h.where),
        text_of(sentence.left),
        "=" if sentence.relation == "==" else sentence.relation,
    )


def _functional(part: Expression) -> bool:
    """Whether a part of a tree speaks of functions, states or points."""
    if isinstance(part, At):
        return True
    if isinstance(part, Name):
        return part.name in POINTS or part.name == "fstar"
    return isinstance(part, Apply) and part.operation.removeprefix("grad ") in FUNCTION_NAMES
