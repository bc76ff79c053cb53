"""Numbers that a claim's relations leave one value: ``H == 1``, ``N <= 1``, ``sigma2 <= 0`` at the end of a domain."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from theory.arithmetic import rational
from theory.claim import Claim
from theory.domain import COUNT
from theory.formula import Apply, Name, Number
from theory.sentence import Expression, index_of, parts
from validate.instances.roles import roles_in

LONGEST = 64
"""Digits of a power that is worked out."""


def fixed_numbers(claim: Claim) -> dict[str, Fraction]:
    """The names that can have one value only, with it; where one has, others may (``S == 1``, ``s <= S - 1``)."""
    found: dict[str, Fraction] = {}
    for name, domain in claim.domains.items():
        if domain.lower is not None and domain.lower == domain.upper:
            found[name] = Fraction(domain.lower)
    chances = roles_in(claim).chances
    while True:
        before = len(found)
        for relation in claim.relations:
            for side, beside, least, most in (
                (*relation.sides, "<=", ">="),
                (relation.right, relation.left, ">=", "<="),
            ):
                name, value = index_of(getattr(side, "name", ""))[0], _value(beside, found)
                if not name or name in found or value is None:
                    continue
                domain = claim.domains.get(name, COUNT)
                lower = None if domain.lower_open else domain.lower
                upper = 1 if name in chances else None if domain.upper_open else domain.upper
                ends = {"==": value, least: lower, most: upper}
                if relation.relation in ends and ends[relation.relation] == value:
                    found[name] = value
        if len(found) == before:
            return found


def _value(tree: Expression, known: Mapping[str, Fraction]) -> Fraction | None:
    """What numbers, and names whose value is known, amount to."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return known.get(tree.name)
    if not isinstance(tree, Apply):
        return None
    inner = [_value(part, known) for part in parts(tree)]
    values = [value for value in inner if value is not None]
    if len(values) < len(inner):
        return None
    try:
        return rational(tree.operation, values, LONGEST)
    except (KeyError, ArithmeticError, ValueError):
        return None
