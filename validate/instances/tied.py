"""Free vectors moved so that lengths which relations bound by 0 are 0: ``norm2(u - v) <= c*a**2`` where c is 0.

No vectors that are drawn at random satisfy such a relation, and no other number makes it true.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name
from theory.sentence import Expression, Sentence, everything_meant, parts
from validate.instances.candidates import Candidate, setting_of, worth
from validate.instances.setting import Setting

LENGTHS = ("norm2", "norm")


def with_tied_vectors(claim: Claim, c: Candidate) -> Candidate | None:
    """The candidate with one vector moved for each length that has to be 0, and is not; None where none is.

    Args:
        claim: the claim.
        c: what is free in an instance of it.
    """
    world = setting_of(claim, c, dict(c.values)) if c.vectors else None
    if world is None:
        return None
    moved = dict(c.vectors)
    for relation in claim.relations:
        vector = _nothing(relation, world, claim)
        if vector is not None:
            _tie(vector, replace(world, free=moved), claim, moved)
    return replace(c, vectors=moved) if any(moved[name] is not c.vectors[name] for name in moved) else None


def _nothing(relation: Sentence, world: Setting, claim: Claim) -> Expression | None:
    """The vector whose length a relation bounds by 0."""
    low, high = relation.left, relation.right
    if relation.relation not in ("<=", "=="):
        low, high = high, low
    if relation.relation in ("<", ">"):
        return None
    while isinstance(low, Name) and low.name in claim.definitions:
        low = claim.definitions[low.name]
    if not isinstance(low, Apply) or low.operation not in LENGTHS:
        return None
    bound = worth(high, world, claim)
    return parts(low)[0] if bound is not None and bound == 0 else None


def _tie(e: Expression, world: Setting, claim: Claim, moved: dict[str, Any]) -> None:
    """Moves the last of the free vectors of a tree, one that it is a multiple of plus others, so that it is 0."""
    there = worth(e, world, claim)
    if there is None or not any(there):
        return
    written = dict.fromkeys(part.name for part in everything_meant(e, claim.vocabulary) if isinstance(part, Name))
    for name in [name for name in written if name in moved and not isinstance(moved[name], list)][::-1]:
        before = moved[name]
        moved[name] = before + 1
        farther = worth(e, world, claim)
        factors = set() if farther is None else set(farther - there)
        if len(factors) == 1 and 0 not in factors:
            moved[name] = before - there / factors.pop()
            now = worth(e, world, claim)
            if now is not None and not np.any(now):
                return
        moved[name] = before
