"""Lost conditions between parameters, with their best constants: read off the instances that break a claim.

A quantity without a unit (a step times a curvature, one number over another, both sides of a relation that is assumed)
is small on all instances that break a claim, or large on all: then a condition with the simplest constant that leaves
these out makes a candidate. It has to leave room: a condition that holds nearly nowhere repairs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Name
from theory.sentence import INTEGERS, Expression, Sentence, applied, replaced, text_of
from validate.instances.pool import Drawn
from validate.instances.units import ONE, units_of
from validate.repairs.candidates import Candidate, Edit, changed_to, numbers_alone
from validate.repairs.hypotheses import assuming, collapses
from validate.repairs.known import Known, numbers
from validate.repairs.monomials import SIMPLE, Monomial, scaled

ROOM = 0.1
"""Of the instances that do not break the claim, the share at which a condition has to hold."""
ENOUGH = 5
"""Instances that break the claim, before a condition is read off them that nothing printed has the form of."""
SMALLEST = Fraction(1, 4)
"""Constant of a condition that nothing printed has the form of: with a smaller one hardly anything is left."""
FARTHER = 0.4
"""By how much farther a condition is that nothing printed has the form of."""
COUNTS = 0.75
"""By how much farther a condition between two counts is."""
ALONE, CHANCE = 0.75, 1e-3
"""By how much farther it is that a count is 1, where that it is so at no break had a larger chance than this."""
EQUAL = 1 - 1e-12
"""Of two sides the ratio, from which on they are the same."""


@dataclass(frozen=True)
class Quantity:
    """What may have to be small: ``left <= c*right``.

    Attributes:
        left, right: of parameters alone.
        replaces: the assumption whose constant it would be; empty for a new one.
        counts: whether both are counts.
    """

    left: Expression
    right: Expression
    replaces: str = ""
    counts: bool = False


def quantities(claim: Claim) -> list[Quantity]:
    """The quantities without a unit that are tried."""
    found = [*_assumed(claim)]
    units = units_of(claim)
    names = [s for s in (*claim.symbols, "N") if s == "N" or ("_" not in s or s in claim.domains)]
    names = [n for n in dict.fromkeys(names) if n not in ("K", "k")]
    counts = {n for n in names if n in INTEGERS or (n in claim.domains and claim.domains[n].integer)}
    chances = {n for n in names if n in claim.domains and claim.domains[n].upper is not None}
    for a in names:
        if a not in counts and units.reduced(units.of(a)) == ONE:
            found += [Quantity(Name(a), Monomial().tree), Quantity(Monomial().tree, Name(a))]
    for a, b in combinations(names, 2):
        if counts & {a, b} and chances & {a, b}:  # how many there are does not depend on a chance
            continue
        of_a, of_b = (ONE if name == "N" else units.of(name) for name in (a, b))
        if units.reduced(of_a.over(of_b)) == ONE:
            both = counts >= {a, b}
            found += [Quantity(Name(a), Name(b), counts=both), Quantity(Name(b), Name(a), counts=both)]
        if units.reduced(of_a * of_b) == ONE and units.reduced(of_a) != ONE:
            one = applied("/", (Monomial().tree, Name(b)))
            found.append(Quantity(Name(a), one))
    return [one for one in found if one.replaces or not collapses(one.left, one.right, claim)]


def _assumed(claim: Claim) -> Iterator[Quantity]:
    """What the claim's relations between parameters say to be small."""
    texts = (*claim.assuming, *claim.standing)
    for text, one in zip(texts, claim.assumptions, strict=True):
        if not isinstance(one, Sentence) or one.relation not in ("<=", "<", ">=", ">"):
            continue
        if all(numbers_alone(replaced(side, claim.definitions), claim) for side in one.sides):
            left, right = one.sides if one.relation in ("<=", "<") else one.sides[::-1]
            yield Quantity(left, right, text)


def conditions(candidate: Candidate, known: Known) -> Iterator[Candidate]:
    """Conditions that leave out every instance that breaks the claim."""
    claim, against = candidate.claim, known.against
    if candidate.edits:  # which repair some of them
        against = [one for one in against if (seen := known.on(claim, one)) is not None and seen.measured.broken]
    for one in quantities(claim):
        broken = _ratios(one, claim, against)
        others = _ratios(one, claim, known.rest)
        if len(broken) < (1 if one.replaces else ENOUGH) or not len(others):
            continue
        bound = float(np.min(broken))
        fitting = [c for c in SIMPLE if float(c) < bound * (1 - 1e-9) and c <= 8]
        if not fitting or (fitting[-1] >= 1 if one.replaces else fitting[-1] < SMALLEST):
            continue
        c = fitting[-1]
        if np.mean(others <= float(c)) < ROOM:
            continue
        relation = f"{text_of(one.left)} <= {text_of(scaled(one.right, Monomial(), c))}"
        fields = assuming(claim, relation)
        words = f"assuming {relation}"
        if one.replaces:
            fields = {
                field: tuple(relation if text == one.replaces else text for text in getattr(claim, field))
                for field in ("assuming", "standing")
            }
            words = f"{relation} for {one.replaces}"
        made = changed_to(claim, fields)
        if made is not None:
            farther = (0 if one.replaces else FARTHER) + 0.02 * abs(float(np.log2(float(c)))) + COUNTS * one.counts
            edit = Edit("condition", words, farther, f"{text_of(one.left)} {text_of(one.right)}")
            yield Candidate(made, (*candidate.edits, edit))
    yield from _of_one(candidate, against, known.rest)


def _of_one(candidate: Candidate, against: list[Drawn], rest: list[Drawn]) -> Iterator[Candidate]:
    """A count that is 1 (steps, passes, participants; neither clients nor rounds) where only larger ones break it."""
    claim = candidate.claim
    for name in claim.symbols:
        domain = claim.domains.get(name)
        if name in ("K", "k", "N", "d") or domain is None or not domain.integer or domain.lower != 1:
            continue
        broken, others = (
            [values[name] for one in some if name in (values := numbers(one, [name]))] for some in (against, rest)
        )
        share = float(np.mean([v == 1 for v in others])) if others else 0.0
        if len(broken) < ENOUGH or min(broken) < 2 or share < ROOM:
            continue
        made = changed_to(claim, assuming(claim, f"{name} == 1"))
        if made is not None:
            farther = ALONE * ((1 - share) ** len(broken) > CHANCE)
            edit = Edit("condition", f"assuming {name} == 1", farther, f"{name} 1")
            yield Candidate(made, (*candidate.edits, edit))


def only_at_equality(candidate: Claim, known: Known) -> bool:
    """Whether a claim is broken only where a relation that it assumes is an equation, and a candidate has it strict.

    Told where that is so at all instances that break it, and that has no chance to be one.
    """
    asked = {*candidate.assuming, *candidate.standing}
    for one in _assumed(known.claim):
        if one.replaces in asked:
            continue
        broken, others = (_ratios(one, known.claim, some) for some in (known.first, known.rest))
        if not len(broken) or not len(others) or np.min(broken) < EQUAL:
            return False
        return float(np.mean(others >= EQUAL) ** len(broken)) <= CHANCE
    return False


def _ratios(one: Quantity, claim: Claim, instances: list[Drawn]) -> Any:
    found = []
    for drawn in instances:
        values = numbers(drawn, [*claim.symbols, "N", "d", "K"])
        try:
            left, right = (_value(replaced(side, claim.definitions), values) for side in (one.left, one.right))
        except (ValueError, KeyError, ZeroDivisionError, OverflowError):
            continue
        if right > 0:
            found.append(left / right)
    return np.array(found)


def _value(tree: Any, values: dict[str, Fraction]) -> float:
    from theory.arithmetic import Reals

    found: Any = Reals(None).evaluate(tree, values)
    return float(found)
