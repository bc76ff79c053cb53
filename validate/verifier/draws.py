"""What is drawn: the choices of every draw, with their probabilities; and ways through all of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb, factorial
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
    return batches_of_kinds(tuple(range(samples)), size, replace)


@lru_cache(maxsize=256)
def batches_of_kinds(kinds: tuple[int, ...], size: int, replace: bool) -> Choices:
    """Batches of samples of which those of one kind are the same: places of the first of each kind, with chances.

    Args:
        kinds: for each sample the first of its kind.
        size: of a batch.
        replace: whether a sample is put back.
    """
    many = {i: kinds.count(i) for i in sorted(set(kinds))}
    if replace or len(many) == len(kinds):
        _limited(comb(len(many) + size - 1, size) if replace else comb(len(kinds), size))
    if not replace and len(many) == len(kinds):
        return [(Fraction(1, comb(len(kinds), size)), batch) for batch in combinations(many, size)]
    found = []
    for batch in combinations_with_replacement(many, size) if replace else _bounded([*many.items()], size):
        p = Fraction(factorial(size)) if replace else Fraction(1, comb(len(kinds), size))
        for i in set(batch):
            c = batch.count(i)
            p *= Fraction(Fraction(many[i], len(kinds)) ** c, factorial(c)) if replace else comb(many[i], c)
        found.append((p, batch))
    return found


def _bounded(many: Sequence[tuple[int, int]], size: int) -> list[tuple[int, ...]]:
    """Batches of this size with each kind no more often than there are samples of it."""
    begun: list[tuple[int, ...]] = [()]
    for at, (kind, most) in enumerate(many):
        later = sum(count for _, count in many[at + 1 :])
        longer = []
        for batch in begun:
            wanted = size - len(batch)
            longer += [batch + (kind,) * count for count in range(most, -1, -1) if count <= wanted <= count + later]
        _limited(len(longer))
        begun = longer
    return begun


@lru_cache(maxsize=256)
def orders(kinds: tuple[int, ...]) -> Choices:
    """All orders of a client's samples, of which those of one kind are the same."""
    count = factorial(len(kinds))
    for i in set(kinds):
        count //= factorial(kinds.count(i))
    _limited(count)
    found: list[tuple[int, ...]] = [()]
    for length in range(len(kinds)):
        found = [(*o, i) for o in found for i in sorted(set(kinds)) if o.count(i) < kinds.count(i) and len(o) == length]
    return [(Fraction(1, count), order) for order in found]


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
