"""Does a claim with a constant that was read off short runs stand in long ones, too?

Where a logarithm of the rounds is lost, a constant does for every run that is played: the root of log(K) is 3 after
8,000 rounds. But the tightest run comes nearer to a break with each doubling of K, by steps that hardly get smaller.
So the tightest runs of 4, 8, 16 and 32 rounds are compared. That proves nothing: what is left out here was not broken.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from theory.claim import Claim
from validate.instances.altered import with_altered_numbers
from validate.instances.candidates import candidate_of
from validate.instances.hunt import hunt
from validate.instances.ladder import ratio_of
from validate.instances.longer import ROUNDS, has_rounds, longer, ways
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.stages import Budget

RUNS = (4, 8, 16, 32)
"""Rounds."""
SLOW, LARGE, MORE = 0.8, 0.04, 10
"""Of a step the next one, from which on they do not end soon: those of a rest like 1/K halve, of one like 1/sqrt(K) are
0.7, of a logarithm nearly 1. Of a ratio its step, which is smaller where it tends to a limit as slowly as a logarithm
grows. Doublings that may follow."""
OPERATIONS = 300_000
"""Budget of the runs of one length."""


def in_long_runs(claim: Claim, each: float) -> tuple[bool, Seen | None]:
    """Whether a claim is likely to break in runs that are longer than what is played, and a run that breaks it already.

    Args:
        claim: the claim.
        each: process seconds for the runs of one length, at most.
    """
    nearest: list[float] = []
    best: Seen | None = None
    for rounds in RUNS if has_rounds(claim) else ():
        long = replace(claim, assuming=(*claim.assuming, f"{ROUNDS} == {rounds}"))
        stop = partial(_late, time.process_time() + each)
        found = hunt(long, pool=80, evaluations=60, operations=OPERATIONS, smallest=False, stop=stop)
        if found.broken is not None:
            return True, found.broken
        some = sorted(found.seen, key=lambda seen: -seen.score)[:1]
        some += [] if best is None else _longer(long, best, rounds)  # what was the tightest of the shorter runs
        most = -1.0
        for first in some:
            stop, score = partial(_late, time.process_time() + each / 2), -1.0
            for seen in (first, *with_altered_numbers(long, Hunt(seen=[first]), stop, Budget(OPERATIONS))):
                if seen.measured.broken:
                    return True, seen
                score = max(score, seen.score)
            if score > most:
                most, best = score, first
        nearest.append(ratio_of(most))
    return beyond(nearest), None


def _longer(claim: Claim, seen: Seen, rounds: int) -> list[Seen]:
    """A run with more rounds."""
    one = candidate_of(seen.drawn)
    drawn = next((longer(claim, one, way, rounds) for way in ways(claim, one) if way.name == ROUNDS), None)
    found = None if drawn is None else measured(claim, drawn)
    return [] if found is None else [found]


def _late(end: float) -> bool:
    return time.process_time() > end


def beyond(ratios: Sequence[float]) -> bool:
    """Whether numbers grow by large steps that hardly get smaller, and by these would soon come to more than 1.

    Args:
        ratios: of a left to a right side, at doublings of something; from 0 to 1.
    """
    steps = [b - a for a, b in pairwise(ratios)]
    large = len(steps) > 1 and all(step > LARGE * b for step, b in zip(steps, ratios[1:], strict=True))
    return large and all(b >= SLOW * a for a, b in pairwise(steps)) and ratios[-1] + MORE * steps[-1] > 1
