"""What is drawn: the choices of every draw, with their probabilities; and ways through all of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations
from math import comb, factorial, prod
from typing import Any

from .reading import FormatError
from .scalars import ONE, ZERO, Number, is_zero, two_points

MOST_CHOICES = 20_000  # of one draw
Choices = Sequence[tuple[Number, Any]]


class Draws:
    """One way through all draws: the first ones as told, the first choice of every further one."""

    def __init__(self, told: Sequence[int]) -> None:
        self.told = told
        self.taken: list[list[int]] = []
        self.probability: Number = ONE

    def draw(self, choices: Choices) -> Any:
        """A value."""
        if len(choices) == 1:
            return choices[0][1]
        at = len(self.taken)
        which = self.told[at] if at < len(self.told) else 0
        self.taken.append([which, len(choices)])
        p, value = choices[which]
        self.probability = self.probability * p
        return value

    def next(self) -> list[int] | None:
        """What is to be told the next time; None when all ways have been gone."""
        left = list(self.taken)
        while left and left[-1][0] + 1 == left[-1][1]:
            left.pop()
        return [*(which for which, _ in left[:-1]), left[-1][0] + 1] if left else None


def _limited(count: int) -> None:
    if count > MOST_CHOICES:
        raise FormatError(f"a draw has more than {MOST_CHOICES} outcomes")


@lru_cache(maxsize=256)
def batches(samples: int, size: int, replace: bool) -> Choices:
    """Batches of this size, sorted, with their probabilities."""
    _limited(comb(samples + size - 1, size) if replace else comb(samples, size))
    if not replace:
        return [(Fraction(1, comb(samples, size)), batch) for batch in combinations(range(samples), size)]
    found = []
    for batch in combinations_with_replacement(range(samples), size):
        ways = factorial(size) // prod(factorial(batch.count(i)) for i in set(batch))
        found.append((Fraction(ways, samples**size), batch))
    return found


@lru_cache(maxsize=256)
def orders(samples: int) -> Choices:
    """All orders of a client's samples."""
    if samples > 7:
        raise FormatError("the orders of a client's samples are too many")
    return [(Fraction(1, factorial(samples)), order) for order in permutations(range(samples))]


@lru_cache(maxsize=256)
def coordinates(d: int, m: int) -> Choices:
    """m of d coordinates."""
    _limited(comb(d, m))
    return [(Fraction(1, comb(d, m)), frozenset(kept)) for kept in combinations(range(d), m)]


def coin(p: Number) -> Choices:
    """1 with probability p, else 0."""
    return [(ONE, ONE)] if p == 1 else [(p, ONE), (ONE - p, ZERO)]


def noises(sigma2: Number, d: int) -> Choices:
    """The law that stands for all laws of a noise."""
    if is_zero(sigma2):
        return [(ONE, (ZERO,) * d)]
    return [
        (p / d, tuple([value if j == at else ZERO for j in range(d)]))
        for at in range(d)
        for p, value in two_points(sigma2)
    ]


def share(N: int, S: int, replace: bool) -> Choices:
    """How often one client is among S of N."""
    if not replace:
        return coin(Fraction(S, N))
    _limited(S)
    found = [(Fraction(comb(S, s) * (N - 1) ** (S - s), N**S), Fraction(s)) for s in range(S + 1)]
    return [(p, s) for p, s in found if p]
