"""One client's number or vector far larger than all others': what sets a maximum apart from a mean of many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from theory.claim import Claim
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.refitting import fitting
from validate.instances.roles import roles_in
from validate.instances.seen import Seen, measured
from validate.instances.setting import schedules_of

FAR = Fraction(10**6)
"""How many times as large."""


def uneven(claim: Claim, seen: list[Seen]) -> Iterator[Seen]:
    """Instances on which one client has far more of one number or vector, and all others have the same.

    Args:
        claim: the claim; there are none for one with an algorithm or functions, where clients differ anyway.
        seen: instances of it.
    """
    if claim.of is not None or claim.predicates:
        return
    for one in seen:
        for candidate in _uneven(claim, candidate_of(one.drawn)):
            made = fitting(claim, candidate)
            told = None if made is None else measured(claim, made)
            if told is not None:
                yield told


def _uneven(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    kept = roles_in(claim).weights | roles_in(claim).matrices | schedules_of(claim)
    for name, value in c.values.items():
        if isinstance(value, list) and len(value) > 1 and name not in kept:
            yield replace(c, values={**c.values, name: [value[-1] * FAR, *[value[-1]] * (len(value) - 1)]})
    for name, vectors in c.vectors.items():
        if isinstance(vectors, list) and len(vectors) > 1:
            yield replace(c, vectors={**c.vectors, name: [vectors[-1] * FAR, *[vectors[-1]] * (len(vectors) - 1)]})


__all__ = ["uneven"]
