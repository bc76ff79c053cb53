"""fedproof."""

from __future__ import annotations

from validate.assertion import ClaimBroken, Held, HypothesisViolated, assert_claim

__all__ = ["ClaimBroken", "Held", "HypothesisViolated", "assert_claim"]
