"""The terms in which a right side is linear, those of its definitions among them."""

from __future__ import annotations

from dataclasses import dataclass

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import OVER, Expression, everything, parse_expression, parts, signed_terms
from validate.mutate.neighbours import Path, put
from validate.repairs.candidates import changed_to, put_in, subject

TERMS = 10
"""Terms of a right side, beyond which the rest are left as they are."""


@dataclass(frozen=True)
class Term:
    """A part in which the right side is linear.

    Attributes:
        where: ``right``, or the name of a definition.
        path: the way to it there.
        node: the part.
    """

    where: str
    path: Path
    node: Expression


def terms_of(claim: Claim) -> list[Term]:
    """The terms of the right side, those of definitions that it speaks of once among them."""
    counts: dict[str, int] = {}
    kept = subject(claim)
    for tree in (*claim.sentence.sides, *map(parse_expression, claim.where.values())):
        for part in everything(tree):
            if isinstance(part, Name):
                counts[part.name] = counts.get(part.name, 0) + 1
    found: list[Term] = []

    def go(where: str, whole: Expression, path: Path) -> None:
        for _, way, tree in signed_terms(whole, path=path):
            added = way != path or (where, path) == ("right", ())
            if added and not (isinstance(tree, Number) and tree.value == 0):
                found.append(Term(where, way, tree))
            inside(where, tree, way)

    def inside(where: str, tree: Expression, path: Path) -> None:
        if isinstance(tree, Name) and tree.name in claim.where and tree.name not in kept and counts[tree.name] == 1:
            inner = parse_expression(claim.where[tree.name])
            if _has_sum(inner):
                go(tree.name, inner, ())
            return
        if not isinstance(tree, Apply) or (tree.operation not in ("*", "/", "E") and not _adds(tree.operation)):
            return
        for i in range(2) if tree.operation == "*" else range(1):
            part = parts(tree)[i]
            if _has_sum(part) or (isinstance(part, Name) and part.name in claim.where):
                go(where, part, (*path, i))

    go("right", claim.sentence.right, ())
    return found[:TERMS]


def _adds(operation: str) -> bool:
    return operation in OVER and OVER[operation][0] in ("sum", "mean")


def _has_sum(tree: Expression) -> bool:
    if not isinstance(tree, Apply):
        return False
    inner = parts(tree)[: 1 if tree.operation == "/" else 2]
    return tree.operation in ("+", "-") or (tree.operation in ("*", "/", "neg") and any(map(_has_sum, inner)))


def with_term(claim: Claim, term: Term, new: Expression) -> Claim | None:
    tree = claim.sentence.right if term.where == "right" else parse_expression(claim.where[term.where])
    return changed_to(claim, put_in(claim, term.where, put(tree, term.path, new)))
