"""Proofs of claims as they stand: what is decided here is the sentence that the claim has, and no other.

This is the only module whose evidence has the outcome ``proved``. The derivation that a claim has is put to the kernel
(`theory.derivation`), and names the hypotheses that its lines use; where there is none, or it is refused (which is
told), one that a short search finds. It is given a claim and looks nothing up: a claim with another right side, or with
an assumption less, is another question. Where no instance is met on which the claim says anything, nothing is called
proved.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from theory.claim import Claim
from theory.sentence import text_of
from validate.verdict import Evidence, Origin, refused

UNITS = 500
"""Of work for the search, where a claim has no derivation; `theory.derivation.search.searching` says of what."""
FIRST_UNITS = 150
"""Of them, those with which a check begins, without other claims; most of what is found is found with these."""
LAST_UNITS = 3000
"""Of them, where nothing breaks a claim: the same one in other words may take six times as many."""
UNITS_OF_NUMBERS = 1000
"""The same for claims about numbers alone, whose programs are small."""
INSTANCES = 200
"""Of the pool, among which one is looked for on which a claim that the kernel accepts says something."""
log = logging.getLogger(__name__)


def work_of(claim: Claim) -> int:
    """Of work for the search for a derivation of a claim, in a check."""
    alone = claim.of is None and not claim.vectors and not claim.predicates
    return UNITS_OF_NUMBERS if alone else UNITS


def evidence(claim: Claim, units: int = UNITS, until: float = inf) -> list[Evidence]:
    """What the kernel says of a claim's derivation, and, without one that it accepts, of one that a search finds.

    Args:
        claim: whose sentence is in question.
        units: of work for the search, which does not read the claim's own derivation; with 0 nothing is searched.
        until: a time of this process (`time.process_time`), at which the search ends.
    """
    if not claim.has_sentence:
        return []
    own = [] if claim.proof is None else _derived(claim, claim.proof, "given")
    if units <= 0 or any(item.refusal is None for item in own):
        return _of_something(claim, own)
    derived, _ = searched(claim, units, until)
    return [*own, *derived]


def searched(claim: Claim, units: int = UNITS, until: float = inf, lemmas: bool = True) -> tuple[list[Evidence], bool]:
    """Of a derivation that a search finds, the evidence; without one, whether there may be one for more work.

    Args:
        claim: whose own derivation is not read.
        units: of work.
        until: a time of this process (`time.process_time`), at which it ends.
        lemmas: whether other claims of its paper are used.
    """
    found, limited = _found(claim, units, until, lemmas)
    derived = [] if found is None else _derived(claim, found, "search")
    return _of_something(claim, [item for item in derived if item.outcome == "proved"]), limited


def _of_something(claim: Claim, evidence: list[Evidence]) -> list[Evidence]:
    """Where a side has no value, an instance says nothing; a claim that never says anything is not called proved."""
    if not any(item.outcome == "proved" for item in evidence) or _says_something(claim):
        return evidence
    text = "; but no instance was met on which it says anything"
    return [
        replace(item, outcome="undecided", detail=item.detail + text) if item.outcome == "proved" else item
        for item in evidence
    ]


def _says_something(claim: Claim) -> bool:
    """Whether an instance is met on which both sides have a value: of the pool, or else of all that follows it."""
    from validate.instances.hunt import hunt
    from validate.instances.pool import drawn, fitting_sizes
    from validate.instances.seen import Hunt, measured

    sizes, met = fitting_sizes(claim), Hunt()
    for seed in range(INSTANCES):
        one = drawn(claim, seed, sizes=sizes)
        if one is not None and (measured(claim, one, met) is not None or met.close):
            return True
    return bool(hunt(claim, pool=INSTANCES, evaluations=0).seen)


def _found(claim: Claim, units: int, until: float, lemmas: bool) -> tuple[Sequence[Mapping[str, Any]] | None, bool]:
    """The lines of a derivation that a search finds, and whether more work may find some."""
    from theory.derivation.search.searching import search

    try:
        found = search(claim, units, until, lemmas)
    except (ValueError, ArithmeticError, RecursionError) as error:  # beyond what is read
        log.debug("%s: no search: %s", claim.id, error)
        return None, False
    return found.lines, found.limited


def _derived(claim: Claim, proof: Any, origin: Origin) -> list[Evidence]:
    """What the kernel says of a derivation, written for the claim or found; the data has it line by line."""
    from theory.derivation import NotProvedError, check, lines
    from validate.certificate.derivation import derivation_certificate

    try:
        checked = check(claim, proof)
        every = lines(claim, proof)
    except NotProvedError as error:
        told = f" at {error.told}" if error.where else f": {error.why}"
        return [refused(origin, told, "kernel", error.line, error.where, error.sentence, error.why)]
    except (ValueError, TypeError, AttributeError) as error:  # what is written is no derivation
        return [refused(origin, f": it cannot be read: {error}", "kernel", why=str(error))]
    number = len(checked.lines)
    text = f"a derivation of {number} line{'s' * (number != 1)} ends at it, for all values that its hypotheses allow"
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
        "derivation": derivation_certificate(claim, every),
    }
    return [Evidence("algebra", "proved", text, data=data, origin=origin)]


def without(claim: Claim, text: str) -> Claim:
    """The claim without one of its assumptions, or standing conditions.

    Raises:
        ValueError: where that is no claim any more.
    """
    printed, standing = (tuple(t for t in some if t != text) for some in (claim.assuming, claim.standing))
    return replace(claim, assuming=printed, standing=standing)
