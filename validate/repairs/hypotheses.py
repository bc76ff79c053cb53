"""Edits of what a claim assumes: said otherwise, or something that it may have forgotten.

Conditions with a constant are read off instances (`validate.repairs.conditions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Name, Number
from theory.predicates import Predicate
from theory.sentence import (
    Expression,
    Relation,
    everything,
    parse_call,
    parse_sentence,
    parts,
    replaced,
    text_of,
)
from validate.mutate.neighbours import places as parts_in
from validate.repairs.candidates import Edit, applies, numbers_alone, texts

NEARER = -1.0
"""By how much nearer a condition is that the claim's definitions name, and nothing else does."""
STRICTER: dict[Relation, Relation] = {"<=": "<", ">=": ">"}
Made = Iterator[tuple[Edit, dict[str, Any]]]


def assuming(claim: Claim, text: str) -> dict[str, Any]:
    """The fields of a claim with one assumption more."""
    return {"assuming": (*claim.assuming, text)}


def hypotheses_said(claim: Claim) -> Made:
    """Assumptions of the claim, said otherwise."""
    for field in ("assuming", "standing"):
        some: tuple[str, ...] = getattr(claim, field)
        for i, text in enumerate(some):
            for edit, others in _said_otherwise(text):
                yield edit, {field: (*some[:i], *others, *some[i + 1 :])}


def _said_otherwise(text: str) -> Iterator[tuple[Edit, tuple[str, ...]]]:
    call = parse_call(text)
    if call is None:
        relation = parse_sentence(text)
        if relation.relation in STRICTER:
            new = str(replace(relation, relation=STRICTER[relation.relation]))
            yield Edit("strictness", f"{new} for {text}"), (new,)
        if relation.relation == "==":
            for right in _beside(relation.right):
                new = str(replace(relation, right=right))
                yield Edit("index", f"{new} for {text}"), (new,)
        return
    name, arguments = call
    first = getattr(arguments[0], "name", "") if arguments else ""
    rest = ", ".join(map(text_of, arguments[1:]))
    for of in {"f": ("f_n", "f_ni"), "f_n": ("f_ni",)}.get(first, ()):
        new = f"{name}({of}{', ' + rest if rest else ''})"
        yield Edit("on samples", f"{new} for {text}"), (new,)
        if name == "smooth":
            yield Edit("on samples", f"{new} and convex({of}) for {text}"), (new, f"convex({of})")


def _beside(tree: Expression) -> Iterator[Expression]:
    """A count that is one more, or one less, than another: that other alone."""
    if applies(tree, "+") or applies(tree, "-"):
        first, second = parts(tree)
        if isinstance(first, Name) and second == Number(Fraction(1)):
            yield first


def assumed(claim: Claim) -> Made:
    """Assumptions that a claim may have forgotten; conditions with a constant are `conditions`."""
    texts_ = {*claim.assuming, *claim.standing}
    for one in claim.predicates:
        if isinstance(one, Predicate) and not isinstance(one, ForEvery) and one.text.startswith("smooth("):
            of = getattr((parse_call(one.text) or ("", ()))[1][0], "name", "")
            for new in (f"convex({of})", f"same_minimiser({of})"):
                if new not in texts_ and of != "f" * ("same" in new):
                    yield Edit("hypothesis", f"assuming {new}"), assuming(claim, new)
    unused = dict.fromkeys(_where_a_range_is_meant(claim))
    for text in dict.fromkeys((*unused, *_where_it_says_something(claim))):
        if text not in texts_:
            yield Edit("hypothesis", f"assuming {text}", NEARER * (text in unused)), assuming(claim, text)


def _where_it_says_something(claim: Claim) -> Iterator[str]:
    """Where differences are positive, and a minimiser is within its ball."""
    trees = [tree for _, tree in texts(claim)]
    for tree in trees:
        for one in parts_in(tree):
            if applies(one.node, "-") and numbers_alone(replaced(one.node, claim.definitions), claim):
                left, right = parts(one.node)
                if not (isinstance(right, Number) and isinstance(left, Name)) and not collapses(right, left, claim):
                    yield f"{text_of(right)} <= {text_of(left)}"
    for tree in trees:
        for part in everything(tree):
            if applies(part, "argmin_n") and len(parts(part)) == 2 and isinstance(parts(part)[1], Name):
                yield f"norm2(xstar) <= {text_of(parts(part)[1])}**2"


def _where_a_range_is_meant(claim: Claim) -> Iterator[str]:
    """What is defined as the most that a number may be, and used by nothing, is so."""
    asked = (side for relation in claim.relations for side in relation.sides)
    trees = (tree for _, tree in texts(claim))
    used = {part.name for tree in (*trees, *asked) for part in everything(tree) if isinstance(part, Name)}
    for name in claim.where:
        head = name.partition("_")[0]
        if name not in used and head in claim.symbols:
            yield f"{head} <= {name}"


def collapses(small: Expression, large: Expression, claim: Claim) -> bool:
    """Whether one of two constants may be too large and the other too small, so that their order leaves equality."""
    of = [claim.constants.get(getattr(tree, "name", "")) for tree in (small, large)]
    return of == ["up", "down"]
