"""A break made smaller, as long as single moves lead to one that breaks the claim too."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from theory.claim import Claim
from theory.program import LINEAR_GIVEN_DRAWS
from validate.instances.affordable import MANY
from validate.instances.by_moments import breaks_in_floats
from validate.instances.candidates import (
    Candidate,
    candidate_of,
    of_rounds,
    realised,
    size,
    smaller,
)
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.refitting import refitted
from validate.instances.roles import roles_of
from validate.instances.seen import Seen, measured
from validate.instances.together import starts_at_minimiser, together, with_its_start

CHECKS = 1500
"""Candidates that a reduction measures."""


def shrunk(claim: Claim, seen: Seen, checks: int = CHECKS) -> Seen:
    """The smallest instance that breaks the claim too, among those that single moves lead to.

    Args:
        claim: the claim.
        seen: an instance that breaks it.
        checks: how many candidates are measured.
    """
    here = candidate_of(seen.drawn)
    bound = {name: seen.drawn.values[name] for name in claim.constants if name in seen.drawn.values}
    kept: dict[str, Fraction] | None = None
    again = realised(claim, here)
    current = None if again is None else measured(claim, again)
    if current is None or not current.measured.broken:  # it breaks with worse constants than the best ones only
        kept, again = bound, realised(claim, here, bound)
        current = None if again is None else measured(claim, again)
        if current is None or not current.measured.broken:
            return _fewer_rounds(claim, seen, here, bound)
    best = current
    left = checks
    moves = _moves(claim, here)
    while left > 0:
        step = next(moves, None)
        if step is None:
            break
        if size(step) >= size(here):
            continue
        left -= 1
        one = realised(claim, step, kept)
        tried = None if one is None or not _may_break(claim, one) else measured(claim, one)
        if tried is not None and tried.measured.broken:
            best, here = tried, step
            moves = _moves(claim, here)
    return best


def _may_break(claim: Claim, one: Drawn) -> bool:
    """False where floats tell that an instance with many outcomes does not break a claim."""
    problem, program = one.instance.problem, one.instance.program
    if program is None or not isinstance(problem, Quadratics) or not program.operations <= LINEAR_GIVEN_DRAWS:
        return True
    turns = max((int(one.values[name]) for name in roles_of(program).turns), default=1)
    if max(problem.clients * max(map(problem.samples, range(problem.clients))), turns) < MANY:
        return True
    return breaks_in_floats(claim, one) is not False


def _moves(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    """Simpler candidates; a start at the minimiser follows it, and steps their bounds, where they cannot stay."""
    anchored = starts_at_minimiser(c)
    for step in together(c, claim.program):
        yield step
        moved_start = with_its_start(step) if anchored else None
        if moved_start is not None:
            yield moved_start
        yield refitted(claim, moved_start or step)
    for step in smaller(c, claim):
        yield step
        if anchored and step.hessian is not None:
            moved_start = with_its_start(step)
            if moved_start is not None:
                yield moved_start


def _fewer_rounds(claim: Claim, seen: Seen, c: Candidate, bound: dict[str, Fraction]) -> Seen:
    for rounds in range(1, c.rounds):
        one = realised(claim, of_rounds(c, claim, rounds), bound)
        tried = None if one is None else measured(claim, one)
        if tried is not None and tried.measured.broken:
            return tried
    return seen
