"""fedproof."""

from __future__ import annotations

from validate.assertion import ClaimBroken, Held, HypothesisViolated, assert_claim
from validate.measurement import certify, measure

__all__ = ["ClaimBroken", "Held", "HypothesisViolated", "assert_claim", "certify", "measure"]
