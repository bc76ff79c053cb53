"""Evidence about fedmim that does not come from rounds: proofs by algebra, certificates about numbers and rates."""

from __future__ import annotations

from pathlib import Path

from theory.claim import Claim
from validate.algebra import checked_lines
from validate.papers.fedmim.orders import RATES, influence_of_b, orders
from validate.papers.fedmim.proofs import PROOFS
from validate.papers.fedmim.refutations import REFUTED, refutation
from validate.verdict import Evidence

Found = tuple[list[Evidence], Path | None]


def special(claim: Claim, out: Path) -> Found:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    evidence: list[Evidence] = []
    path = None
    if claim.label in REFUTED:
        evidence, path = refutation(claim, out)
    for proofs in (PROOFS, RATES):
        if claim.label in proofs:
            lines, how = proofs[claim.label]
            evidence.append(checked_lines(lines(), how))
    if claim.label == "remark-iv3":
        evidence += influence_of_b(claim)
    of_the_bound = orders(claim)
    return [*evidence, *([of_the_bound] if of_the_bound is not None else [])], path
