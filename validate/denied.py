"""A relation that a claim assumes and its other assumptions deny: the opposite has a derivation from them.

Such as f(x[k+1]) > f(x[k]) where the step is short. What `validate.contradiction` reads are relations between numbers;
here functions, runs and vectors are spoken of, and only what the kernel and the stand-alone verifier accept is said.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from theory.claim import Claim
from theory.comparison import OPPOSITE
from theory.predicates import Predicate
from theory.sentence import text_of
from validate.contradiction import of_the_first
from validate.counted import counted
from validate.instances.pool import drawn, fitting_sizes
from validate.instances.seen import measured
from validate.shown import shown
from validate.verdict import Evidence

log = logging.getLogger(__name__)
UNITS = 1000
"""Of work for each derivation."""
SEEDS = 24
"""Instances of the pool that are asked for."""
WAYS = {**{one: (other,) for one, other in OPPOSITE.items()}, "==": ("<", ">")}
"""What is not so where a relation is."""


def met(claim: Claim) -> bool:
    """Whether the first instances of a claim's pool have one that satisfies what it assumes."""
    sizes = fitting_sizes(claim)
    some = (drawn(claim, seed, sizes=sizes) for seed in range(SEEDS))
    return any(one is not None and measured(claim, one) is not None for one in some)


def denied(claim: Claim) -> list[Evidence]:
    """That one of a claim's relations cannot hold beside the others, where a derivation shows it; else nothing.

    Args:
        claim: one of whose assumptions no instance was met.
    """
    for text, opposite in () if claim.over else _opposites(claim):
        found = shown(opposite, UNITS)
        if found is not None:
            why = f"is excluded by {'; '.join(found.hypotheses)}" if found.hypotheses else "never holds"
            ends = f"a derivation of {counted(found.lines, 'line')} ends at {opposite.statement}"
            detail = f"{text} {why}: {ends}"
            return [Evidence("hypotheses", "vacuous", detail, data={"derivation": found.certificate}, origin="search")]
    return []


def _opposites(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """Each relation that a claim assumes, and its opposites as claims under the other assumptions.

    An opposite is a claim for every index, and so of the first round, turn and sample; a relation that these need not
    have, as of x[k+2], is left out.
    """
    texts = (*claim.assuming, *claim.standing)
    for i, (text, one) in enumerate(zip(texts, claim.assumptions, strict=True)):
        if isinstance(one, Predicate) or of_the_first(one) is None:
            continue
        left, right = map(text_of, one.sides)
        rest = [(other, j < len(claim.assuming)) for j, other in enumerate(texts) if j != i]
        for relation in WAYS[one.relation]:
            try:
                opposite = replace(
                    claim, statement=f"{left} {relation} {right}",
                    assuming=tuple(other for other, first in rest if first),
                    standing=tuple(other for other, first in rest if not first),
                    proof=None, given=(), beside=(), amends=None,
                )  # fmt: skip
                assert opposite.sentence
            except (ValueError, TypeError) as error:
                log.debug("%s: %s", text, error)
                continue
            yield text, opposite
