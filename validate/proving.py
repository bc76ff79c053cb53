"""Proofs of claims as they stand: what is decided here is the sentence that the claim has, and no other.

This is the only module whose evidence has the outcome ``proved``. It is given a claim and looks nothing up: a claim
with another right side, or with an assumption less, is another question. Numbers, and sums over k, are decided by the
signs of coefficients (`validate.by_signs`); vectors, functions and one round of an algorithm by multiples of what the
assumptions say (`validate.by_multipliers`); both for all values that the hypotheses allow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from theory.claim import Claim
from theory.sentence import text_of
from validate.shown import Shown
from validate.verdict import Evidence

log = logging.getLogger(__name__)


def evidence(claim: Claim) -> list[Evidence]:
    """A proof of the claim's sentence, with no hypothesis among those named that it can do without; often nothing."""
    if not claim.has_sentence:
        return []
    from validate.by_multipliers import by_multipliers
    from validate.by_signs import about_numbers, by_signs

    numbers = about_numbers(claim)
    shown = _needing_all(claim, by_signs if numbers else by_multipliers)
    if shown is None:
        return []
    if "induction" in shown.more["proof"]:
        how = "both sides are numbers, by induction over K"
    else:
        how = "both sides are numbers" if numbers else "multiples of what its hypotheses say and a sum of squares"
    text = f"{how}, for all values that its hypotheses allow"
    text += f"; it rests on: {', '.join(shown.hypotheses)}" if shown.hypotheses else ""
    said = {
        "left": shown.left,
        "relation": claim.sentence.relation,
        "right": text_of(claim.sentence.right),
        "definitions": dict(claim.where),
        "hypotheses": list(shown.hypotheses),
    }
    return [Evidence("algebra", "proved", text, data={"sentence": said, **shown.more}, origin="search")]


def _needing_all(claim: Claim, decide: Callable[[Claim], Shown | None]) -> Shown | None:
    """A proof that rests on hypotheses each of which it needs; None without one, and for what has no such form."""
    try:
        shown = decide(claim)
    except ValueError as error:
        log.debug("%s is not decided by algebra: %s", claim.id, error)
        return None
    if shown is None:
        return None
    for text in shown.hypotheses:
        try:
            less = without(claim, text)
        except ValueError:  # it says nothing without
            continue
        found = _needing_all(less, decide)
        if found is not None:
            return found
    return shown


def without(claim: Claim, text: str) -> Claim:
    """The claim without one of its assumptions, or standing conditions.

    Raises:
        ValueError: where that is no claim any more.
    """
    printed, standing = (tuple(t for t in some if t != text) for some in (claim.assuming, claim.standing))
    return replace(claim, assuming=printed, standing=standing)
