"""Numbers of a claim that its equations give, as formulas of the others."""

from __future__ import annotations

from collections.abc import Iterator

from theory.claim import Claim
from theory.formula import Name
from theory.sentence import Expression, everything, replaced


def equations(claim: Claim) -> Iterator[tuple[str, Expression]]:
    """Names that an equation gives, which stand alone on one side and not on the other."""
    for relation in claim.relations:
        for one, other in (relation.sides, relation.sides[::-1]):
            alone = isinstance(one, Name) and one.name not in claim.definitions
            if relation.relation == "==" and alone and one not in everything(replaced(other, claim.definitions)):
                yield one.name, other  # type: ignore[union-attr]
                break
