"""What a claim says of numbers, as functions of floats and of arrays: what has to be positive, and its right side."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import (
    Expression,
    applied,
    everything,
    index_of,
    parse_expression,
    parts,
    read,
    replaced,
)
from validate.instances import along

Code = Callable[[Mapping[str, Any]], Any]
"""Of numbers by name, or of arrays of them."""
OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": np.divide,
    "**": np.power,
    "neg": operator.neg,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "abs": abs,
    "min": np.minimum,
    "max": np.maximum,
}


@dataclass(frozen=True)
class Formulas:
    """What a claim says of numbers, in floats.

    Attributes:
        definitions: their names and what they are, each after those that it speaks of; states count as 0.
        ends: what has to be positive, as the terms of which it is the sum.
        bound: the right side.
        names: the numbers in it all.
    """

    definitions: tuple[tuple[str, Code], ...]
    ends: tuple[tuple[Code, ...], ...]
    bound: Code
    names: frozenset[str]

    def at(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """The right side, and the least share that is left at an end."""
        there = dict(values)
        for name, code in self.definitions:
            there[name] = code(there)
        least = math.inf
        for terms in self.ends:
            each = [term(there) for term in terms]
            least = np.minimum(least, sum(each) / sum(map(abs, each)))
        return self.bound(there), least


def formulas_of(claim: Claim) -> Formulas | None:
    """What a claim says of numbers; None where nothing has to be positive, or its right side is no formula."""

    def found() -> Formulas | None:
        ends = tuple(terms for gap in dict.fromkeys(_positive(claim)) if (terms := _terms(claim, gap)) is not None)
        definitions = [(name, in_floats(tree)) for name, tree in _in_order(claim)]
        right = claim.sentence.right
        bound = in_floats(right if claim.sentence.relation not in (">=", ">") else applied("neg", (right,)))
        if not ends or bound is None or any(code is None for _, code in definitions):
            return None
        trees = [*claim.definitions.values(), claim.sentence.right, *_positive(claim)]
        names = {part.name for tree in trees for part in everything(tree) if isinstance(part, Name)}
        return Formulas(tuple(definitions), ends, bound, frozenset(names))  # type: ignore[arg-type]

    made: Formulas | None = claim.vocabulary.kept.once("formulas inside", found)
    return made


def _in_order(claim: Claim) -> Iterator[tuple[str, Expression]]:
    """The definitions as they are written, each after those that it speaks of."""
    trees = {name: parse_expression(text) for name, text in claim.where.items()}
    done: set[str] = set()
    while left := [name for name in trees if name not in done]:
        for name in left:
            own = {part.name for part in everything(trees[name]) if isinstance(part, Name)}
            if not own & set(trees) - done:
                yield name, trees[name]
                done.add(name)


def _positive(claim: Claim) -> Iterator[Expression]:
    """What strict relations say is positive, and what stands under roots on the right and may be negative."""
    for relation in claim.relations:
        if relation.relation in ("<", ">") and not along.speaks_of_run(relation, claim.vocabulary):
            sides = (relation.left, relation.right) if relation.relation == ">" else (relation.right, relation.left)
            yield applied("-", sides)
    for e in everything(replaced(claim.sentence.right, claim.definitions)):
        less = (isinstance(p, Apply) and p.operation in ("-", "neg") for p in everything(e))
        if isinstance(e, Apply) and e.operation == "sqrt" and any(less):
            yield parts(e)[0]


def _terms(claim: Claim, e: Expression) -> tuple[Code, ...] | None:
    """What is added up in a formula of numbers, and in definitions that are among it; None for what is none."""
    if read(e, claim.vocabulary).free or any(not _of_numbers(p) for p in everything(replaced(e, claim.definitions))):
        return None
    found = [in_floats(term) for term in _added(claim, e, 1)]
    return None if None in found else tuple(found)  # type: ignore[arg-type]


def _of_numbers(e: Expression) -> bool:
    return isinstance(e, Name | Number) or (isinstance(e, Apply) and e.operation in OPERATIONS)


def _added(claim: Claim, e: Expression, sign: int) -> Iterator[Expression]:
    if isinstance(e, Name) and e.name in claim.definitions:
        yield from _added(claim, claim.definitions[e.name], sign)
    elif isinstance(e, Apply) and e.operation in ("+", "-"):
        one, two = parts(e)
        yield from _added(claim, one, sign)
        yield from _added(claim, two, sign if e.operation == "+" else -sign)
    else:
        yield e if sign > 0 else applied("neg", (e,))


def in_floats(e: Expression) -> Code | None:
    """A formula as a function of numbers by name; states, functions and draws count as 0. None where it has indices."""
    if isinstance(e, Number):
        value = float(e.value)
        return lambda _: value
    if isinstance(e, Name):
        name = e.name
        return None if index_of(name)[1] else lambda values: values[name]
    if not isinstance(e, Apply) or e.operation not in OPERATIONS:
        return lambda _: 0.0
    codes = [code for part in parts(e) if (code := in_floats(part)) is not None]
    if len(codes) < len(parts(e)) or len(codes) > 2:
        return None
    operation, one, two = OPERATIONS[e.operation], codes[0], codes[-1]
    if len(codes) == 1:
        return lambda values: operation(one(values))
    return lambda values: operation(one(values), two(values))
