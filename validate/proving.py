"""Proofs of claims as they stand: what is decided here is the sentence that the claim has, and no other.

This is the only module whose evidence has the outcome ``proved``. It is given a claim and looks nothing up: relation,
sides, definitions and hypotheses are those of the claim, so that a claim with another right side, or with a hypothesis
less, is another question.
"""

from __future__ import annotations

from theory.claim import Claim
from validate.verdict import Evidence


def evidence(claim: Claim) -> list[Evidence]:
    """What the claim's own sentence says by algebra or by the prover of vector inequalities; often nothing."""
    from validate.algebra import vector_evidence

    return vector_evidence(claim)
