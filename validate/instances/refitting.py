"""Parameters of a candidate moved to where the relations of a claim want them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.formula import Name
from theory.sentence import Sentence, everything, index_of, read
from validate.instances.candidates import Candidate, realised, setting_of, worth
from validate.instances.pool import Drawn
from validate.instances.relations import holds, holds_surely, relation_satisfied
from validate.instances.roles import roles_in
from validate.instances.setting import Setting, Values, schedules_of
from validate.instances.turning_points import fractions_near


def fitting(claim: Claim, c: Candidate, bound: Mapping[str, Any] | None = None) -> Drawn | None:
    """The instance that a candidate is, or else that it is with its parameters refitted; None where it is none.

    Args:
        claim: the claim.
        c: the candidate.
        bound: as of `realised`.
    """
    return realised(claim, c, bound) or realised(claim, refitted(claim, c), bound)


def refitted(claim: Claim, c: Candidate, kept: Collection[str] = ()) -> Candidate:
    """The candidate with free parameters moved to the bounds that relations have for them, and that they miss.

    Of one number a client, or a round, those are moved that miss theirs, or all are scaled where a relation wants the
    sum or the mean. Parameters that are `kept` stay.
    """
    values: Values = dict(c.values)
    world = setting_of(claim, c, values)
    if world is None:
        return c
    open_ = {name: v for name, v in values.items() if name not in kept}
    free = {name for name, v in open_.items() if isinstance(v, Fraction) and name not in claim.constants}
    for relation in claim.relations:
        if relation_satisfied(relation, world, claim, holds_surely):
            continue
        for side, beside in (relation.sides, (relation.right, relation.left)):
            value = worth(beside, world, claim)
            if value is None:
                continue
            if isinstance(side, Name) and side.name in free:
                for near in (value,) if isinstance(value, Fraction) else fractions_near(value):
                    values[side.name] = near
                    if relation_satisfied(relation, world, claim, holds_surely):
                        break
                break
            if isinstance(side, Name) and isinstance(open_.get(index_of(side.name)[0]), list):
                values.update(_within(side, relation, world, claim))
                break
            lists = {index_of(p.name)[0] for p in everything(side) if isinstance(p, Name)} & {
                name for name, v in open_.items() if isinstance(v, list) and name not in schedules_of(claim)
            }
            total = worth(side, world, claim)
            exact = isinstance(value, Fraction) and isinstance(total, Fraction) and total != 0
            if relation.relation == "==" and len(lists) == 1 and exact:
                name = lists.pop()
                values[name] = [v * value / total for v in values[name]]
                break
        else:
            _scaled(relation, world, claim, values, free)
    return replace(c, values=values)


def _scaled(relation: Sentence, world: Setting, claim: Claim, values: Values, free: set[str]) -> None:
    """Moves a number by what its sides are apart, one way or the other, where a relation holds then: eta*L*H <= 1."""
    sides: list[Any] = [worth(side, world, claim) for side in relation.sides]
    if not all(isinstance(side, Fraction) and side > 0 for side in sides):
        return
    names = {index_of(p)[0] for side in relation.sides for p in read(side, claim.vocabulary).parameters}
    real = {name for name in free & names if name in claim.domains and not claim.domains[name].integer}
    for name in sorted(real - roles_in(claim).counts):
        before = values[name]
        for factor in (sides[1] / sides[0], sides[0] / sides[1]):
            values[name] = before * factor
            if relation_satisfied(relation, world, claim, holds_surely):
                return
        values[name] = before


def _within(side: Name, relation: Sentence, world: Setting, claim: Claim) -> Values:
    """Numbers of a list moved to what the other side of a relation is worth at their index, where they miss it."""
    name, index = index_of(side.name)
    index, first = index or ("k" if name in schedules_of(claim) else "n"), side is relation.left
    beside, numbers = relation.right if first else relation.left, world.values[name]
    ends = [worth(beside, world, claim, {index: at}) for at in range(len(numbers))]
    if not all(isinstance(end, Fraction) for end in ends):
        return {}
    pairs = [(v, end) if first else (end, v) for v, end in zip(numbers, ends, strict=True)]
    kept = [holds(low, relation.relation, high) for low, high in pairs]
    return {name: [v if stays else end for v, end, stays in zip(numbers, ends, kept, strict=True)]}
