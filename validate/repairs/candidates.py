"""Claims near a claim: what was changed, what that costs, and a changed claim that still says something.

Each edit has its kind, its words and its cost: what is nearer costs less. Nothing here knows whether a claim is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import (
    Expression,
    SentenceError,
    applied,
    everything,
    parse_call,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)
from validate.instances.units import units_of
from validate.mutate.neighbours import stated

Kind = Literal[
    "strictness",
    "sign",
    "index",
    "name",
    "bracket",
    "expectation",
    "mean",
    "function",
    "part exchanged",
    "part replaced",
    "units",
    "algorithm",
    "constant",
    "condition",
    "hypothesis",
    "on samples",
    "factor",
    "term",
]
COST: dict[Kind, float] = {
    "strictness": 0.5,
    "sign": 1,
    "index": 1,
    "expectation": 1,
    "mean": 1,
    "units": 1,
    "bracket": 1,
    "name": 1.25,
    "function": 1.25,
    "algorithm": 1.25,
    "constant": 1.5,
    "part exchanged": 1.5,
    "part replaced": 2,
    "condition": 1.75,
    "on samples": 1.75,
    "hypothesis": 2,
    "factor": 2,
    "term": 2.25,
}
"""How far an edit goes; of several, the sum."""
SCALARS = ("+", "-", "*", "/", "**", "neg", "sqrt", "log", "exp", "min", "max", "abs")
OF_ALGORITHM = " of the algorithm: "
"""In words about units of a line of a program: these are told wrongly where they contradict each other."""


@dataclass(frozen=True)
class Edit:
    """One thing changed.

    Attributes:
        kind: what was done.
        words: and where.
        farther: than others of its kind.
        about: what else is the same edit, with another constant; empty for none.
    """

    kind: Kind
    words: str
    farther: float = 0.0
    about: str = ""

    @property
    def cost(self) -> float:
        """How far it goes."""
        return COST[self.kind] + self.farther


@dataclass(frozen=True)
class Candidate:
    """A claim that edits made.

    Attributes:
        claim: as changed, with nothing of the printed claim's proof, instances and paper.
        edits: what was done, in order.
        extreme: with a far larger constant in the place of one that was read off instances: where that is broken, no
            constant will do; None for no constant.
    """

    claim: Claim
    edits: tuple[Edit, ...]
    extreme: Claim | None = None

    @property
    def distance(self) -> float:
        """How far it is from the printed claim."""
        return sum(edit.cost for edit in self.edits)

    @property
    def words(self) -> str:
        """What was done."""
        return "; ".join(edit.words for edit in self.edits)


def alone(claim: Claim) -> Claim:
    """The claim as printed, with nothing beside it: no proof, no instances, no claims of its paper."""
    label = f"{claim.label}/repaired"
    return replace(claim, label=label, proof=None, given=(), beside=(), amends=None, rests_on=(), remarks=(), title="")


def conflicts(claim: Claim) -> int:
    """How many places of a claim have units that contradict each other; 0 where its algorithm's do so, too.

    Raises:
        ValueError, KeyError, AssertionError: where that cannot be told.
    """
    found = units_of(claim).conflicts
    return 0 if any(OF_ALGORITHM in one for one in found) else len(found)


def said(claim: Claim) -> tuple[Any, ...]:
    """What two claims have in common that say the same."""
    program = None if claim.of is None else claim.of.program
    return (claim.statement, tuple(claim.where.items()), claim.assuming, claim.standing, program)


def changed_to(claim: Claim, fields: dict[str, Any]) -> Claim | None:
    """The claim with other texts; None where these say nothing, or both sides, or what one compares, are the same."""
    try:
        changed = without_idle(claim, replace(claim, **fields))
        _ = changed.symbols, changed.constants, changed.domains
    except (SentenceError, ValueError):
        return None
    left, right = _spelled_out(changed)
    empty = _compares_the_same(left, right) and not _compares_the_same(*_spelled_out(claim))
    return None if left == right or empty else changed


def _spelled_out(claim: Claim) -> tuple[Expression, Expression]:
    """Both sides with definitions in the place of names."""
    left, right = (without_ones(replaced(side, claim.definitions)) for side in claim.sentence.sides)
    return left, right


def _compares_the_same(*sides: Expression) -> bool:
    """Whether a difference in them is of two that are the same."""
    differences = (part for side in sides for part in everything(side) if isinstance(part, Apply))
    return any(part.operation == "-" and part.arguments[0] == part.arguments[-1] for part in differences)


def without_idle(claim: Claim, changed: Claim) -> Claim:
    """Without conditions on a number that only had a part in what was changed: some number satisfies them always.

    A condition is left out where it bounds the number, alone on its side, from one side, and nothing else speaks of it.
    """
    gone = [name for name in claim.symbols if name not in _spoken_of(changed) and name in _spoken_of(claim)]
    if not gone or changed.program is not None:
        return changed
    assumed, standing = (
        tuple(text for text in some if not any(_bounds_alone(text, name, changed) for name in gone))
        for some in (changed.assuming, changed.standing)
    )
    return replace(changed, assuming=assumed, standing=standing)


def _spoken_of(claim: Claim) -> set[str]:
    """The names on both sides, and in the definitions."""
    return {part.name for _, tree in texts(claim) for part in everything(tree) if isinstance(part, Name)}


def _bounds_alone(text: str, name: str, changed: Claim) -> bool:
    if parse_call(text) is not None or name in changed.parameters:
        return False
    relation = parse_sentence(text)
    others = [other for other in (*changed.assuming, *changed.standing) if other != text]
    alone_ = [side == Name(name) for side in relation.sides]
    within = [any(part == Name(name) for part in everything(side)) for side in relation.sides]
    above = alone_ == within == ([False, True] if relation.relation in ("<=", "<") else [True, False])
    return above and relation.relation in ("<=", "<", ">=", ">") and not any(name in other for other in others)


def without_ones(tree: Expression) -> Expression:
    """A tree without factors, divisors and powers of 1."""
    if not isinstance(tree, Apply):
        return tree
    inner = tuple(map(without_ones, parts(tree)))
    one = Number(Fraction(1))
    if tree.operation in ("*", "/", "**") and inner[1] == one:
        return inner[0]
    if tree.operation == "*" and inner[0] == one:
        return inner[1]
    return applied(tree.operation, inner)


def texts(claim: Claim) -> Iterator[tuple[str, Expression]]:
    """Every tree that a claim is made of, with where it stands: ``left``, ``right``, or the name of a definition."""
    yield "right", claim.sentence.right
    yield "left", claim.sentence.left
    for name, text in claim.where.items():
        yield name, parse_expression(text)


def put_in(claim: Claim, where: str, tree: Expression) -> dict[str, Any]:
    """The fields of a claim with another tree at a place of `texts`."""
    if where in ("left", "right") and where not in claim.where:
        return stated(claim, **{where: tree})
    return {"where": {**claim.where, where: text_of(tree)}}


def place(where: str) -> str:
    """For a reader."""
    return f", on the {where}" if where in ("left", "right") else f", in {where}"


def subject(claim: Claim) -> set[str]:
    """Where it stands what is bounded: the left side, and the definitions that it speaks of."""
    return {"left"} | claim.definitions_in([claim.sentence.left])


def numbers_alone(tree: Expression, claim: Claim) -> bool:
    """Whether a tree is made of parameters and numbers only."""
    return all(
        isinstance(part, Number)
        or (isinstance(part, Name) and (part.name in claim.symbols or part.name in ("N", "d", "K")))
        or (isinstance(part, Apply) and part.operation in SCALARS)
        for part in everything(tree)
    )


def applies(tree: Expression, operation: str) -> bool:
    """Whether a tree is an operation of this name."""
    return isinstance(tree, Apply) and tree.operation == operation
