"""Is support earned? What the pool varied of a claim that nothing broke, and what it left as it was."""

from __future__ import annotations

from theory.claim import Claim
from validate.survey import Survey
from validate.verdict import NOTHING_COVERED, Coverage


def coverage(claim: Claim, looked: Survey | None, quick: bool) -> Coverage:
    """Whether the comparisons of a survey could have broken the claim.

    Args:
        claim: the claim.
        looked: what the exact oracle saw of it, or None.
        quick: whether the search's budget was the quick one.
    """
    if looked is None or not looked.seen:
        return NOTHING_COVERED
    return Coverage(True, f"{looked.seen} scenarios, {'quick' if quick else 'full'} search")
