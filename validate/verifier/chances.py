"""What is drawn, by its moments: counts whose products have known expectations.

A coin is one count, 0 or 1. What is chosen, a batch of samples and the coordinates that are kept are counts of how
often each one is among those that were taken uniformly, with or without replacement. A *product* of counts is the
sorted tuple of their places, a place as often as it is a factor; *centred*, it is the product less its expectation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial
from typing import Any, NamedTuple

from .draws import batches
from .reading import FormatError
from .scalars import ONE, ZERO

Product = tuple[int, ...]
MOST_FACTORS = 24


class Drawn(NamedTuple):
    """Where something is drawn: the step and, where it draws for each, the client; the turns around it, the round."""

    step: int
    client: int | None
    turns: tuple[int, ...]
    k: int
    how: str = ""


class Fork(Exception):
    """Outcomes of a draw that have to be told apart: each with its probability, and what is planned for it."""

    def __init__(self, key: Drawn, options: Sequence[tuple[Fraction, Any]]) -> None:
        super().__init__(key)
        self.key, self.options = key, options


@dataclass(frozen=True, eq=False)
class Chance:
    """Counts that are drawn together.

    Attributes:
        size: how many counts there are.
        taken: how many are taken among them; of a coin 1.
        replace: whether with replacement.
        p: of a coin, the probability of 1; else None.
        key: where it is drawn.
    """

    size: int
    taken: int
    replace: bool
    p: Fraction | None
    key: Drawn

    @property
    def repeats(self) -> bool:
        """Whether a count may be more than 1."""
        return self.p is None and self.replace and self.taken > 1

    def reduced(self, places: Product) -> Product | None:
        """The product as it is kept: of counts 0 and 1 without powers; None where it is always 0."""
        if self.repeats:
            if len(places) > MOST_FACTORS:
                raise FormatError(f"a product of more than {MOST_FACTORS} counts")
            return places if len(set(places)) <= self.taken else None
        distinct = tuple(sorted(set(places)))
        return distinct if len(distinct) <= self.taken else None

    def mean(self, places: Product) -> Fraction:
        """The expectation of a product."""
        if self.p is not None:
            return self.p
        powers = tuple(sorted(places.count(i) for i in set(places)))
        return _moment(self.size, self.taken, self.repeats, powers)

    def times(self, one: Product, two: Product) -> list[tuple[Product, Fraction]]:
        """Two centred products multiplied: centred products with their factors; the empty one is the number 1."""
        a, b = self.mean(one), self.mean(two)
        both = self.reduced(tuple(sorted(one + two)))
        found = [(one, -b), (two, -a), ((), -a * b)]
        if both is not None:
            found += [(both, ONE), ((), self.mean(both))]
        return found

    def covariance(self, one: Product, two: Product) -> Fraction:
        """Of two products."""
        both = self.reduced(tuple(sorted(one + two)))
        return (ZERO if both is None else self.mean(both)) - self.mean(one) * self.mean(two)

    def outcomes(self) -> Sequence[tuple[Fraction, tuple[int, ...]]]:
        """All counts with their probabilities.

        Raises:
            FormatError: where they are too many.
        """
        if self.p is not None:
            return [(self.p, (1,)), (1 - self.p, (0,))]
        ways = batches(self.size, self.taken, self.replace)
        return [(Fraction(p), tuple(map(batch.count, range(self.size)))) for p, batch in ways]  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _moment(size: int, taken: int, repeats: bool, powers: tuple[int, ...]) -> Fraction:
    """E of a product of different counts to these powers."""
    if not repeats:
        return Fraction(comb(taken, len(powers)), comb(size, len(powers)))
    total = ZERO  # a power is a sum of falling factorials, of which products have simple expectations
    for parts in product(*(range(1, power + 1) for power in powers)):
        ways = 1
        for power, part in zip(powers, parts, strict=True):
            ways *= _partitions(power, part)
        many = sum(parts)
        total += Fraction(ways * comb(taken, many) * factorial(many), size**many)
    return total


@lru_cache(maxsize=1024)
def _partitions(count: int, parts: int) -> int:
    """Ways to part so many things into so many sets."""
    if count == parts:
        return 1
    if not 0 < parts < count:
        return 0
    return parts * _partitions(count - 1, parts) + _partitions(count - 1, parts - 1)


def heads(coins: int, p: Fraction) -> list[tuple[Fraction, int]]:
    """How many of these coins show 1, with the probabilities."""
    return [(comb(coins, s) * p**s * (1 - p) ** (coins - s), s) for s in range(coins + 1) if p < 1 or s == coins]
