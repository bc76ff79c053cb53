"""Does what comes nearest to a break come nearer still where an integer is largest? Then nothing is supported.

A rate with a wrong power of the rounds, or a sum that has no bound, is broken only where constants are outgrown, and
that may be beyond all sizes that anybody tries. But it shows: left over right, on instances that are made longer and
longer, grows, and where that goes is seen from the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Rungs: TypeAlias = "tuple[tuple[int, float], ...]"
"""Values of an integer, growing, and left over right on an instance with each."""

SLOW = 0.85
"""Beyond this part of the growth by one doubling that is left at the next, it is taken for a power of how often it was
doubled: what grows as that logarithm does need not be bounded."""
BEYOND = 1.01
"""Where left over right is to go, beyond 1, as it is not known so well."""
APART, LEAST = 1.5, 0.01
"""How many times as large an integer is as the one before, of those that are compared; part of itself by which left
over right grows over three of them, at least."""


def still_growing(all_rungs: Iterable[tuple[str, Rungs]]) -> Iterator[str]:
    """In words, along which integers left over right grows beyond 1, as far as its last rungs tell; each once."""
    told = set[str]()
    for name, rungs in all_rungs:
        if name not in told and grows_beyond(rungs):
            told.add(name)
            value, ratio = rungs[-1]
            yield f"left over right grows with {name}, to {ratio:.3g} at {value:,}, and need not stay below 1"


def grows_beyond(rungs: Rungs) -> bool:
    """Whether left over right grows, to more than anywhere before, and to beyond 1 if it goes on like that."""
    apart: list[tuple[int, float]] = []
    for value, ratio in reversed(rungs):
        if not apart or value * APART <= apart[-1][0]:
            apart.append((value, ratio))
    if len(apart) < 3:
        return False
    high, middle, low = (ratio for _, ratio in apart[:3])
    grows = high == max(ratio for _, ratio in rungs) and low < middle < high and high - low > LEAST * high
    return grows and limit(apart[2::-1]) > BEYOND


def limit(rungs: Sequence[tuple[int, float]]) -> float:
    """Where left over right goes as an integer does to infinity, from its last three values; inf where it has no limit.

    Args:
        rungs: at least three values of the integer, at least 1 and growing, with left over right there.

    Example:
        >>> round(limit([(2**j, 1 - 2.0**-j) for j in range(1, 9)]), 3)
        1.0
        >>> limit([(2**j, j / 100) for j in range(1, 9)])  # a logarithm
        inf
    """
    (one, low), (two, middle), (three, high) = ((math.log2(value), ratio) for value, ratio in rungs[-3:])
    before, last = (middle - low) / (two - one), (high - middle) / (three - two)
    if last <= 0:
        return high
    if before <= 0:
        return math.inf
    left = (last / before) ** (2 / (three - one))  # of the growth by a doubling, at the next
    if left >= 1:
        return math.inf
    here = last * left ** ((three - two) / 2)
    if left <= SLOW:
        return high - here / math.log(left)
    power = -three * math.log(left)
    return math.inf if power <= 1 else high + here * three / (power - 1)


__all__ = ["Rungs", "grows_beyond", "limit", "still_growing"]
