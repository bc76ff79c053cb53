"""A claim's formulas as plain data: one straight-line program that any language can run in a few lines.

``{"inputs": ["K", "L"], "numbers": [1, 0.5], "steps": [["*", 0, 3], ["power", 4, 2], ["/", 2, 5]]}`` works on a list of
values. First come those of the inputs (numbers, or lists of numbers for vectors), then the numbers; each step appends
one value. A step is an operation followed by the places (from 0) of its arguments:

    + - * / **                  of two values
    neg sqrt log exp abs        of one
    min max                     of two or more
    sum mean amax amin          of the entries of a vector, which give a number
    power                       of one value, followed by an integer, which is the exponent itself

All but the reductions go over the entries of vectors; a number goes with every entry. The meaning is float64's (IEEE
754, NaN and infinities where there is no real value), as in `theory.floats`, which computes powers with small integer
exponents by products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from theory.bound import Bound
from theory.formula import FUNCTIONS
from theory.programs import Arithmetic


@dataclass(frozen=True)
class Listing:
    """A program as plain data, and where in its list of values the results are.

    Attributes:
        program: ``inputs``, ``numbers`` and ``steps``, JSON-ready.
        definitions: the place of each, by name.
        right: the place of the right side.
        sides: for each hypothesis the places of its relation's sides; None without a relation.
    """

    program: dict[str, Any]
    definitions: dict[str, int]
    right: int
    sides: tuple[tuple[int, ...] | None, ...]


def listing(claim: Bound) -> Listing:
    """The program of a claim's definitions, right side and hypotheses' relations.

    Args:
        claim: a claim with a right side.

    Raises:
        ValueError: the claim has no right side, or a number in its formulas does not fit float64.
    """
    formulas = claim.formulas
    try:
        program = formulas.program("everything", _names())
    except OverflowError:
        raise ValueError(f"{claim.id}: a number in its formulas does not fit float64") from None
    inputs = len(program.inputs)
    numbers = [i for i, constant in enumerate(program.constants, inputs) if constant is not None]
    steps = [step for _, part, _ in program.parts for step in part]
    order = [*range(inputs), *numbers, *(place for place, *_ in steps)]
    at = {old: new for new, old in enumerate(order)}
    written: list[list[Any]] = []
    for _, operation, first, second, every in steps:
        name, exponent = operation if isinstance(operation, tuple) else (operation, None)
        places = [at[i] for i in ((first, second) if every is None else every)]
        written.append([name, *places] if exponent is None else [name, *places, exponent])
    results = iter(at[place] for _, _, place in program.parts)
    return Listing(
        program={
            "inputs": list(program.inputs),
            "numbers": [program.constants[i - inputs] for i in numbers],
            "steps": written,
        },
        definitions={name: next(results) for name in formulas.definitions},
        right=next(results),
        sides=tuple([None if r is None else tuple([next(results) for _ in r.sides]) for r in formulas.relations]),
    )


@cache
def _names() -> Arithmetic:
    """Operations that are only named."""
    names: Mapping[str, Any] = {name: name for name in ("+", "-", "*", "/", "**", "neg", *FUNCTIONS)}
    power: Any = lambda exponent: ("power", exponent)  # noqa: E731
    return Arithmetic("names", names, number=float, integer_power=power, over_entries=lambda operation, _: operation)
