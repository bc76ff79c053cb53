"""False neighbours of a claim: its texts, or its algorithm as data, with one thing moved.

A neighbour differs from the claim in one place of its sentence, of a definition, of an assumption or of its algorithm's
program. Which neighbours are false is found out in `validate.mutate.judged`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from theory.for_every import ForEvery, assumption, for_every
from theory.formula import Apply, Name, Number
from theory.predicates import Predicate
from theory.program import Algorithm
from theory.program.altering import algorithm_of, altered
from theory.sentence import (
    FUNCTION_NAMES,
    NUMBERS_OF_VECTORS,
    OVER,
    At,
    Expression,
    Relation,
    Sentence,
    SentenceError,
    applied,
    parse_call,
    parse_expression,
    parts,
    text_of,
)

Kind = Literal[
    "scaled below what is attained",
    "coefficient scaled",
    "term dropped",
    "exponent moved",
    "index moved",
    "function exchanged",
    "relation turned round",
    "hypothesis dropped",
    "hypothesis weakened",
    "algorithm changed",
]
Path = tuple[int, ...]

FACTORS = (Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(2))
TERMS = (Fraction(0), Fraction(1, 2), Fraction(2))
"""By which the terms of an algorithm are scaled; 0 leaves them out."""
WEAKER = (Fraction(2), Fraction(10))
"""By which the bounds in relations between parameters are moved."""
SUMS = ("+", "-", "neg")
ONE, TWO = Number(Fraction(1)), Number(Fraction(2))
TURNED: dict[Relation, Relation] = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
EXCHANGED = {"min": "max", "max": "min", "xstar": "x0", "x0": "xstar"}
FEWER = {"f_ni": "f_n", "f_n": "f"}
"""Of whom less is asked: an assumption on the mean is weaker than one on each."""


@dataclass(frozen=True)
class Neighbour:
    """A claim with one thing changed.

    Attributes:
        name: the id of the claim and a number, ``noise-ball/one-step/mutant-003``.
        claim: the changed claim, of this id.
        kind: what was done.
        description: what was done, and where.
        same_instances: whether the assumptions and the algorithm are the claim's, so that it speaks of what that does.
    """

    name: str
    claim: Claim
    kind: Kind
    description: str
    same_instances: bool = True

    def to_json(self) -> dict[str, Any]:
        claim = self.claim
        return {
            "name": self.name,
            "kind": self.kind,
            "description": self.description,
            "statement": claim.statement,
            "right": text_of(claim.sentence.right),
            "definitions": dict(claim.where),
            "hypotheses": [*claim.assuming, *claim.standing],
        }


def neighbours(claim: Claim, attained: tuple[tuple[Expression, Fraction], ...] = ()) -> list[Neighbour]:
    """The neighbours of a claim, in a fixed order, no two of the same text.

    Args:
        claim: as its author wrote it.
        attained: terms of the right side with the factor by which each is to be scaled, below what instances attain.
    """
    found: list[Neighbour] = []
    seen = {_said(claim)}
    bound = _in_assumptions(claim)
    for kind, description, changed in _changes(claim, attained):
        if _said(changed) in seen:
            continue
        seen.add(_said(changed))
        number = f"mutant-{len(found) + 1:03d}"
        moved = changed.of is not claim.of or (changed.assuming, changed.standing) != (claim.assuming, claim.standing)
        moved = moved or any(changed.where[name] != text for name, text in claim.where.items() if name in bound)
        changed = replace(changed, label=f"{claim.label}/{number}", proof=None, given=(), title="", remarks=())
        found.append(Neighbour(f"{claim.id}/{number}", changed, kind, description, not moved))
    return found


def _said(claim: Claim) -> Any:
    program = None if claim.of is None else id(claim.of)
    return (claim.statement, tuple(claim.where.items()), claim.assuming, claim.standing, program)


def _in_assumptions(claim: Claim) -> set[str]:
    """The definitions on which its assumptions depend."""
    sides = [side for relation in claim.relations for side in relation.sides]
    sides += [constant for one in claim.predicates for constant in one.constants]
    return claim.definitions_in(sides)


Change = tuple[Kind, str, Claim]


def _changes(claim: Claim, attained: tuple[tuple[Expression, Fraction], ...]) -> Iterator[Change]:
    for made in (
        _below(claim, attained),
        _sentence(claim),
        _definitions(claim),
        on_assumptions(claim),
        _algorithm(claim),
    ):
        for kind, description, fields in made:
            try:
                changed = replace(claim, **fields)
                # what another text has made of a name may say nothing any more
                _ = changed.symbols, changed.constants
            except SentenceError:
                continue
            yield kind, description, changed


Fields = tuple[Kind, str, dict[str, Any]]


def _below(claim: Claim, attained: tuple[tuple[Expression, Fraction], ...]) -> Iterator[Fields]:
    right = claim.sentence.right
    for term, factor in attained:
        path = next((place.path for place in places(right) if place.node is term), None)
        if path is None or not factor > 0:
            raise ValueError(
                f"attained: {text_of(term)} times {factor} is no term of the right side times a positive one"
            )
        changed = put(right, path, _times(factor, term))
        words = f"{text_of(term)} times {factor}, below what is attained"
        yield "scaled below what is attained", words, stated(claim, right=changed)


def stated(claim: Claim, **sides: Any) -> dict[str, Any]:
    """The fields of a claim with another sentence."""
    return {"statement": str(replace(claim.sentence, **sides))}


def _sentence(claim: Claim) -> Iterator[Fields]:
    sentence = claim.sentence
    for side, tree in (("right", sentence.right), ("left", sentence.left)):
        for kind, words, changed in moves(tree):
            if side == "left" and kind == "coefficient scaled" and words.startswith(f"{text_of(tree)} times"):
                continue  # the whole left side scaled is the right side scaled
            yield kind, f"{words}, on the {side}", stated(claim, **{side: changed})
    if sentence.relation in TURNED:
        turned = TURNED[sentence.relation]
        yield "relation turned round", f"{sentence.relation} is {turned}", stated(claim, relation=turned)


def _definitions(claim: Claim) -> Iterator[Fields]:
    for name, text in claim.where.items():
        for kind, words, changed in moves(parse_expression(text)):
            yield kind, f"{words}, in {name}", {"where": {**claim.where, name: text_of(changed)}}


def on_assumptions(claim: Claim) -> Iterator[Fields]:
    """What can be done to one of a claim's assumptions, in words, with the fields of the changed claim."""
    for where in ("assuming", "standing"):
        texts: tuple[str, ...] = getattr(claim, where)
        for i, text in enumerate(texts):
            less, rest = texts[:i], texts[i + 1 :]
            yield "hypothesis dropped", f"without {text}", {where: (*less, *rest)}
            for weaker in _weaker(text):
                yield "hypothesis weakened", f"{weaker} for {text}", {where: (*less, weaker, *rest)}


def _weaker(text: str) -> Iterator[str]:
    """A condition that asks for less, or for something else."""
    one = assumption(text)
    if isinstance(one, Predicate) and not isinstance(one, ForEvery):
        name, arguments = parse_call(text) or ("", ())
        first = getattr(arguments[0], "name", "") if arguments else ""
        if first in FEWER:
            yield f"{name}({', '.join([FEWER[first], *map(text_of, arguments[1:])])})"
        if name == "strongly_convex":
            yield f"convex({first})"
            if first == "f":
                yield f"pl({', '.join(map(text_of, arguments))})"
        return
    relation = one.sentence if isinstance(one, ForEvery) else one
    right = relation.right
    if right == Number(Fraction(0)):
        return
    for factor in WEAKER:
        up = relation.relation in ("<=", "<", "==")
        weaker = Sentence(relation.left, relation.relation, _times(factor if up else 1 / factor, right))
        yield str(for_every(one.points, weaker) if isinstance(one, ForEvery) else weaker)


def _algorithm(claim: Claim) -> Iterator[Fields]:
    of = claim.of
    if of is None:
        return
    for words, program in altered(of.program, TERMS):
        changed: Algorithm = algorithm_of(program, of.defaults)
        yield "algorithm changed", words, {"of": changed}


# --- trees -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A part of a tree.

    Attributes:
        path: the way to it.
        node: the part.
        above: the operation that it is an argument of; empty for the tree itself.
        vectors: whether it is, or belongs to, an argument of a function of vectors.
    """

    path: Path
    node: Expression
    above: str = ""
    vectors: bool = False


def places(e: Expression, path: Path = (), above: str = "", vectors: bool = False) -> Iterator[Place]:
    """Every part of a tree but the indices of states."""
    yield Place(path, e, above, vectors)
    if isinstance(e, Apply):
        inside = vectors or e.operation in NUMBERS_OF_VECTORS or e.operation.removeprefix("grad ") in FUNCTION_NAMES
        for i, part in enumerate(parts(e)):
            yield from places(part, (*path, i), e.operation, inside)


def put(e: Expression, path: Path, new: Expression) -> Expression:
    """The tree with one part replaced."""
    if not path:
        return new
    inner = tuple(put(part, path[1:], new) if i == path[0] else part for i, part in enumerate(parts(e)))
    return At(e.name, inner) if isinstance(e, At) else applied(e.operation, inner)  # type: ignore[union-attr]


def moves(tree: Expression) -> Iterator[tuple[Kind, str, Expression]]:
    """What can be done to one part of a tree, in words, with the changed tree."""
    for place in places(tree):
        for kind, words, changed in _local(place):
            yield kind, words, put(tree, place.path, changed)


Moved = Iterator[tuple[Kind, str, Expression]]


def _local(place: Place) -> Moved:
    node = place.node
    where = text_of(node)
    summed = isinstance(node, Apply) and node.operation in SUMS
    if place.above in ("", *SUMS) and not (isinstance(node, Number) or summed or place.vectors):
        for factor in FACTORS:
            yield "coefficient scaled", f"{where} times {factor}", _times(factor, node)
    if isinstance(node, Number):
        exponent = place.above == "**" and place.path[-1] == 1
        for factor in () if exponent or not node.value else (Fraction(1, 2), Fraction(2)):
            yield "coefficient scaled", f"{where} is {node.value * factor}", Number(node.value * factor)
    elif isinstance(node, Name):
        yield from _name(node, place.above)
    elif isinstance(node, At):
        first = node.indices[0]
        moved = parts(first)[0] if first == applied("+", (Name("k"), ONE)) else applied("+", (first, ONE))
        yield "index moved", f"{where} at {text_of(moved)}", At(node.name, (moved, *node.indices[1:]))
    else:
        yield from _operation(node, where)


def _operation(node: Apply, where: str) -> Moved:
    op, inner = node.operation, parts(node)
    if op in ("+", "-"):
        left, right = inner
        yield "term dropped", f"{where} without {text_of(right)}", left
        yield "term dropped", f"{where} without {text_of(left)}", right if op == "+" else applied("neg", (right,))
    if op == "**":
        base, exponent = inner
        for step in (-1, 1):
            up = applied("+" if step > 0 else "-", (exponent, ONE))
            moved = Number(exponent.value + step) if isinstance(exponent, Number) else up
            yield "exponent moved", f"{where} to the power {text_of(moved)}", applied("**", (base, moved))
    if op in EXCHANGED:
        yield "function exchanged", f"{EXCHANGED[op]} for {where}", applied(EXCHANGED[op], inner)
    if op in OVER:
        how, index = OVER[op]
        for other in ("sum", "mean", "max", "min"):
            if other != how and how != "first":
                yield "function exchanged", f"{other}_{index} for {op}", applied(f"{other}_{index}", inner)
    function = op.removeprefix("grad ")
    if function in FEWER:
        changed = applied(op.replace(function, FEWER[function]), inner)
        yield "function exchanged", f"{text_of(changed)} for {where}", changed


def _name(node: Name, above: str) -> Moved:
    name = node.name
    if name in EXCHANGED:
        yield "function exchanged", f"{EXCHANGED[name]} for {name}", Name(EXCHANGED[name])
    elif name in ("k", "K", "h"):
        yield "index moved", f"{name} + 1 for {name}", applied("+", (node, ONE))
    elif above in ("*", "/"):
        yield "term dropped", f"without the factor {name}", ONE
        yield "exponent moved", f"{name} to the power 2", applied("**", (node, TWO))


def _times(factor: Fraction, e: Expression) -> Expression:
    return applied("*", (Number(factor), e))
