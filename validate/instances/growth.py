"""Does what comes nearest to a break come nearer still where an integer is largest? Then nothing is supported.

A rate with a wrong power of the rounds, or a sum that has no bound, is broken only where constants are outgrown, and
that may be beyond all sizes that anybody tries. But it shows: left over right, on instances that are made longer and
longer, grows, and where that goes is seen from the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

Rungs: TypeAlias = "tuple[tuple[int, float], ...]"
"""Values of an integer, growing, and left over right on an instance with each."""

RUNGS, APART, FAR = 4, 1.5, 64
"""How many are compared, how many times as large as the one before each is at least, and what the last is at least."""
LEAST = 0.01
"""Part of itself by which left over right grows over them, at least."""
BEYOND = 1.01
"""Where left over right is to go, beyond 1, as that is not known so well."""
CLOSE = 1e-6
"""Of 1, and of the growth over the rungs: a hyperbola through three that meets the fourth so closely goes where it
says, if that is farther beyond 1."""
STEADY = 0.97
"""What is left of the growth by a doubling at the next is steady if it shrinks to no less than this part of itself."""
SURE = 4
"""Times as far beyond 1 as one rung more moves the limit of a hyperbola: then it is taken for the limit."""
FEW, NEAR, LEAST_OF_FEW = 3, 1.2, 8
"""Of rungs after which no more could be played: how many are compared, how many times as large as the one before each
is at least, and what the last is at least."""
SLOW = 0.85
"""Beyond this it is taken for a power of how often an integer was doubled: logarithms need not be bounded."""


def still_growing(
    all_rungs: Iterable[tuple[str, Rungs]], rounds: str, cut: Iterable[tuple[str, Rungs]] = ()
) -> Iterator[str]:
    """In words, along which integers left over right grows beyond 1, as far as its last rungs tell; each once.

    Args:
        all_rungs: by integer.
        rounds: which of them counts rounds: along it even growth that slows down counts, while it is that of a power.
        cut: those after which no more could be played.
    """
    told = set[str]()
    every = [(name, rungs, grows_beyond(rungs, powers=name == rounds)) for name, rungs in all_rungs]
    for name, rungs, grows in [*every, *((name, rungs, grows_to_the_end(rungs)) for name, rungs in cut)]:
        if grows and name not in told:
            told.add(name)
            value, ratio = rungs[-1]
            yield f"left over right grows with {name}, to {ratio:.3g} at {value:,}, and need not stay below 1"


def grows_to_the_end(rungs: Rungs) -> bool:
    """Whether left over right grows as long as it can be played, and no hyperbola through the last rungs stays below 1.

    Args:
        rungs: values with left over right; few, as nothing larger could be played.

    Example:
        >>> grows_to_the_end(((6, 0.3), (8, 0.4), (12, 0.6), (16, 0.8)))
        True
        >>> grows_to_the_end(((8, 7 / 8), (12, 11 / 12), (16, 15 / 16)))
        False
    """
    last = _apart(rungs, NEAR)[FEW - 1 :: -1]
    ratios = [ratio for _, ratio in last]
    if len(last) < FEW or last[-1][0] < LEAST_OF_FEW or ratios[-1] < max(ratio for _, ratio in rungs):
        return False
    if any(high <= low for low, high in pairwise(ratios)) or ratios[-1] - ratios[0] <= LEAST * ratios[-1]:
        return False
    return _limit_of_hyperbola(last) > BEYOND


def _apart(rungs: Rungs, apart: float) -> list[tuple[int, float]]:
    """From the last on, rungs of which each value is so many times the next."""
    found: list[tuple[int, float]] = []
    for value, ratio in reversed(rungs):
        if not found or value * apart <= found[-1][0]:
            found.append((value, ratio))
    return found


def grows_beyond(rungs: Rungs, powers: bool = False) -> bool:
    """Whether left over right grows, to more than anywhere before, and to beyond 1 if it goes on like that.

    Args:
        rungs: values with left over right.
        powers: whether growth that slows down has no limit for as long as each doubling brings more than the last.
    """
    last = _apart(rungs, APART)[RUNGS - 1 :: -1]
    ratios = [ratio for _, ratio in last]
    if len(last) < RUNGS or last[-1][0] < FAR or ratios[-1] < max(ratio for _, ratio in rungs):
        return False
    if any(high <= low for low, high in pairwise(ratios)):
        return False
    if ratios[-1] - ratios[0] <= LEAST * ratios[-1]:
        return _surely_beyond(last)
    c = _hyperbola(last[1:])
    if c is not None and abs(_at(last[1:], c, last[0][0]) - ratios[0]) <= CLOSE * (ratios[-1] - ratios[0]):
        return _at(last[1:], c, math.inf) > 1 + CLOSE
    before, now = _left_by_a_doubling(last[:3]), _left_by_a_doubling(last[1:])
    if now >= STEADY * before:
        return limit(last[1:]) > BEYOND
    return (powers and now >= 1) or _limit_of_hyperbola(last[1:]) > BEYOND


def _surely_beyond(rungs: Sequence[tuple[int, float]]) -> bool:
    """Whether hyperbolas through the first and the last three of four rungs agree that it goes beyond 1."""
    before, now = _limit_of_hyperbola(rungs[:3]), _limit_of_hyperbola(rungs[1:])
    return math.isfinite(before + now) and now - 1 > max(CLOSE, SURE * abs(now - before))


def limit(rungs: Sequence[tuple[int, float]]) -> float:
    """Where left over right goes as an integer does to infinity, if it goes on as steadily; inf where it has no limit.

    Args:
        rungs: three values of the integer, at least 1 and growing, with left over right there, which grows.

    Example:
        >>> round(limit([(2**j, 1 - 2.0**-j) for j in (6, 7, 8)]), 3)
        1.0
        >>> limit([(2**j, j / 100) for j in (6, 7, 8)])  # a logarithm
        inf
    """
    left = _left_by_a_doubling(rungs)
    if left >= 1:
        return math.inf
    (_, middle), (three, high) = ((math.log2(value), ratio) for value, ratio in rungs[1:])
    apart = math.log2(rungs[2][0] / rungs[1][0])
    here = (high - middle) / apart * left ** (apart / 2)
    if left <= SLOW:
        return high - here / math.log(left)
    power = -three * math.log(left)
    return math.inf if power <= 1 else high + here * three / (power - 1)


def end_of(values: Sequence[Any]) -> float | None:
    """Where a sequence goes that is known at an integer as it is doubled; None where that does not show.

    By Wynn's epsilon algorithm (Mathematical Tables and Other Aids to Computation 10 (1956), 91): powers of the integer
    that go to 0, with any exponents, are taken off one after another. What it comes to with one value less, and with
    two, and a power earlier, has to be the same but for a hundredth.

    Args:
        values: as exact as floats of their kind are; of fewer than `DOUBLINGS` nothing is told.

    Example:
        >>> round(end_of([1 - 3*2.0**(-j/2) + 5*2.0**-j for j in range(20)]), 9)
        1.0
        >>> end_of([math.log(2.0**j) for j in range(20)])
        >>> end_of([2.0 ** (j / 2) - 1 for j in range(20)])
    """
    if len(values) < DOUBLINGS or not _settles(values):
        return None
    columns = [_even_columns(values[: len(values) - less]) for less in range(3)]
    told = [column for own in columns for column in own[-AGREEING:]]
    found = columns[0][-1]
    if len(columns[2]) <= AGREEING or not all(math.isfinite(one) for one in told):
        return None
    return float(found) if max(abs(one - found) for one in told) <= abs(found) / 100 else None


def _settles(values: Sequence[Any]) -> bool:
    """Whether it moves less with each of the last doublings: what grows by a power goes nowhere, though that is taken
    off, too."""
    steps = [abs(high - low) for low, high in pairwise(values[-SETTLING - 1 :])]
    rounding = abs(values[-1]) * ROUNDING
    return all(later < max(step, rounding) for step, later in pairwise(steps))


SETTLING, ROUNDING = 4, 1e-12
"""Doublings over which a sequence that has a limit comes nearer to it; the part of a value that says nothing."""
DOUBLINGS, AGREEING = 8, 2
"""How many values there are at least; the last columns of a table that have to come to the same."""
EVEN = 6
"""Columns of it: beyond that there is rounding."""


def _even_columns(values: Sequence[Any]) -> list[Any]:
    """The last entry of each column of Wynn's table that estimates the limit, the first of which is the sequence."""
    before, now, found = [0.0] * (len(values) + 1), [*values], [values[-1]]
    while len(now) > 1 and len(found) < EVEN:
        for estimates in (False, True):
            apart = [high - low for low, high in pairwise(now)]
            if not all(apart):  # it stays where it is
                return found
            before, now = now, [old + 1 / step for old, step in zip(before[1:], apart, strict=False)]
            if estimates and now:
                found.append(now[-1])
    return found


def _left_by_a_doubling(rungs: Sequence[tuple[int, float]]) -> float:
    """What part of the growth by one doubling is left at the next, of three rungs that grow."""
    (one, low), (two, middle), (three, high) = ((math.log2(value), ratio) for value, ratio in rungs)
    before, last = (middle - low) / (two - one), (high - middle) / (three - two)
    return float((last / before) ** (2 / (three - one)))


def _limit_of_hyperbola(rungs: Sequence[tuple[int, float]]) -> float:
    """The limit of a - b/(value + c) through three rungs that grow; inf where no such grows to the end."""
    c = _hyperbola(rungs)
    return math.inf if c is None else _at(rungs, c, math.inf)


def _hyperbola(rungs: Sequence[tuple[int, float]]) -> float | None:
    """The c of a - b/(value + c) through three rungs that grow; None where no such grows to the end."""
    (one, low), (two, middle), (three, high) = rungs
    part = (high - middle) / (middle - low) * (two - one) / (three - two)  # (one + c)/(three + c)
    if not 0 < part < 1:
        return None
    c = (part * three - one) / (1 - part)
    return c if one + c > 0 else None


def _at(rungs: Sequence[tuple[int, float]], c: float, value: float) -> float:
    """A hyperbola with this c through the last two of three rungs, at a value."""
    _, (two, middle), (three, high) = rungs
    beyond = 1.0 if value == math.inf else (value - two) / (value + c)
    return middle + (high - middle) * (three + c) / (three - two) * beyond


__all__ = ["Rungs", "end_of", "grows_beyond", "grows_to_the_end", "limit", "still_growing"]
