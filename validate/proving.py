"""Proofs of claims as they stand: what is decided here is the sentence that the claim has, and no other.

This is the only module whose evidence has the outcome ``proved``. A derivation that the claim has is put to the kernel
(`theory.derivation`), and names the hypotheses that its lines use. It is given a claim and looks nothing up: a claim
with another right side, or with an assumption less, is another question. Numbers, and sums over k, are decided by the
signs of coefficients (`validate.by_signs`); vectors, functions and one round of an algorithm by multiples of what the
assumptions say (`validate.by_multipliers`); both for all values that the hypotheses allow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
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
    derived = _derived(claim) if isinstance(claim.proof, Sequence) else []
    if any(item.outcome == "proved" for item in derived):
        return derived
    return derived + _by_algebra(claim)


def _derived(claim: Claim) -> list[Evidence]:
    """What the kernel says of the claim's own derivation; the data has it line by line."""
    from theory.derivation import NotProvedError, check, lines
    from validate.certificate.derivation import derivation_certificate

    try:
        written = lines(claim, claim.proof)
        checked = check(claim, written)
    except NotProvedError as error:
        return [Evidence("algebra", "undecided", f"its derivation is not accepted: {error}", origin="search")]
    except (ValueError, TypeError) as error:  # what is written is no derivation
        return [Evidence("algebra", "undecided", f"its derivation cannot be read: {error}", origin="search")]
    text = f"a derivation of {len(checked.lines)} lines ends at it, for all values that its hypotheses allow"
    text += f"; it rests on: {', '.join(checked.hypotheses)}" if checked.hypotheses else ""
    text += f"; never needed: {', '.join(checked.unused)}" if checked.unused else ""
    text += f"; citing: {'; '.join(checked.citations)}" if checked.citations else ""
    said = {
        "left": text_of(claim.sentence.left),
        "relation": claim.sentence.relation,
        "right": text_of(claim.sentence.right),
        "definitions": dict(claim.where),
        "hypotheses": list(checked.hypotheses),
    }
    steps = [
        {"name": name, "sentence": sentence, "rule": rule, "parts": list(parts)}
        for name, sentence, rule, parts in checked.lines
    ]
    data = {
        "sentence": said,
        "proof": {"lines": steps, "citations": list(checked.citations), "unused": list(checked.unused)},
        "derivation": derivation_certificate(claim, written),
    }
    return [Evidence("algebra", "proved", text, data=data, origin="search")]


def _by_algebra(claim: Claim) -> list[Evidence]:
    """Whether the sentence follows by what is read off the claim, and by multipliers that it writes."""
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
