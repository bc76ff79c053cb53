"""The laws of draws: outcomes of one client, of two clients together, of all; and of a sum over the clients.

A client's outcomes are numbered 0..O-1. What clients draw is either independent between them, or exchangeable: then
the law of two clients together is the same for every pair.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers

MOST_OUTCOMES = 4096
"""Largest number of outcomes of one draw that are gone through one by one."""


class TooManyError(ValueError):
    """A draw has too many outcomes to go through."""


@dataclass(frozen=True, eq=False)
class Axis:
    """A draw of every client that is alive: its outcomes, their probabilities, their values.

    Attributes:
        draw: the number of the draw's value.
        probability: (1 or N, O).
        values: (O, 1 or N), what it is as a number; None for samples.
        pair: (O, O), the law of two clients together; None when they are independent.
        shares: (O, 1 or N, n), of a sample, the part of the batch that each sample is.
    """

    draw: int
    probability: Array
    values: Array | None = None
    pair: Array | None = None
    shares: Array | None = None

    @property
    def size(self) -> int:
        """O."""
        return int(self.probability.shape[1])


def coins(draw: int, p: Array, numbers: Numbers) -> Axis:
    """Independent coins; p (1, 1 or N)."""
    values = numbers.zeros(2, 1)
    values[1] = numbers.ratio(1, 1)
    q = p.reshape(-1, 1)
    return Axis(draw, np.concatenate([1 - q, q], axis=1), values)


def choose(draw: int, size: int, clients: int, replace: bool, numbers: Numbers) -> Axis:
    """How often each client is among `size` that are chosen.

    Raises:
        ValueError: for more than there are, without replacement.
    """
    if not replace:
        if size > clients:
            raise ValueError(f"S={size} is outside [1, N={clients}]: choose is without replacement")
        one = numbers.ratio(size, clients)
        both = numbers.ratio(size * (size - 1), clients * (clients - 1)) if clients > 1 else one
        pair = np.array([[1 - 2 * one + both, one - both], [one - both, both]], dtype=numbers.dtype)
        probability = np.array([[1 - one, one]], dtype=numbers.dtype)
        counts = 2
    else:
        counts = size + 1
        probability = numbers.zeros(1, counts)
        pair = numbers.zeros(counts, counts)
        for a in range(counts):
            probability[0, a] = numbers.ratio(math.comb(size, a) * (clients - 1) ** (size - a), clients**size)
            for b in range(counts - a):
                ways = math.comb(size, a) * math.comb(size - a, b) * max(clients - 2, 0) ** (size - a - b)
                pair[a, b] = numbers.ratio(ways, clients**size)
    values = numbers.zeros(counts, 1)
    values[:, 0] = [numbers.ratio(a, 1) for a in range(counts)]
    return Axis(draw, probability, values, pair)


def batches(draw: int, size: int, counts: Array, replace: bool, samples: int, numbers: Numbers) -> Axis:
    """Batches of `size` of each client's own samples.

    Raises:
        TooManyError: for too many batches.
    """
    most = max(int(c) for c in counts)
    found = math.comb(most + size - 1, size) if replace else math.comb(most, size)
    if found > MOST_OUTCOMES:
        raise TooManyError(f"{found} batches of {size} of {most} samples")
    sets = list((itertools.combinations_with_replacement if replace else itertools.combinations)(range(most), size))
    shares = numbers.zeros(len(sets), 1, samples)
    ways = []
    for o, batch in enumerate(sets):
        way = math.factorial(size)
        for j in set(batch):
            shares[o, 0, j] = numbers.ratio(batch.count(j), size)
            way //= math.factorial(batch.count(j))
        ways.append(way if replace else 1)
    probability = numbers.zeros(len(counts), len(sets))
    for n, count in enumerate(int(c) for c in counts):
        total = count**size if replace else math.comb(count, size)
        for o, batch in enumerate(sets):
            if batch[-1] < count:
                probability[n, o] = numbers.ratio(ways[o], total)
    return Axis(draw, probability, None, None, shares)


def joint_outcomes(
    axis: Axis, clients: int, size: int | None, replace: bool, numbers: Numbers
) -> list[tuple[Any, tuple[int, ...]]]:
    """All outcomes of all clients together with their probabilities.

    Args:
        axis: the draw.
        clients: N.
        size: how many are chosen, for an exchangeable draw; None for an independent one.
        replace: whether these are chosen with replacement.
        numbers: the arithmetic.

    Raises:
        TooManyError: when there are too many.
    """
    if axis.pair is None:
        if axis.size**clients > MOST_OUTCOMES:
            raise TooManyError(f"{axis.size}**{clients} outcomes of all clients together")
        chance = np.broadcast_to(axis.probability, (clients, axis.size))
        found = []
        for outcome in itertools.product(range(axis.size), repeat=clients):
            p = numbers.ratio(1, 1)
            for n, o in enumerate(outcome):
                p = p * chance[n, o]
            if p != 0:
                found.append((p, outcome))
        return found
    assert size is not None
    if not replace:
        total = math.comb(clients, size)
        if total > MOST_OUTCOMES:
            raise TooManyError(f"{total} choices of {size} of {clients} clients")
        chosen = [
            tuple(int(n in s) for n in range(clients)) for s in map(set, itertools.combinations(range(clients), size))
        ]
        return [(numbers.ratio(1, total), outcome) for outcome in chosen]
    total = math.comb(clients + size - 1, size)
    if total > MOST_OUTCOMES:
        raise TooManyError(f"{total} choices of {size} of {clients} clients with replacement")
    found = []
    for batch in itertools.combinations_with_replacement(range(clients), size):
        outcome = tuple(batch.count(n) for n in range(clients))
        ways = math.factorial(size)
        for count in outcome:
            ways //= math.factorial(count)
        found.append((numbers.ratio(ways, clients**size), outcome))
    return found


@dataclass(frozen=True)
class Given:
    """The law of independent outcomes of the clients, given the values of some sums over them.

    Attributes:
        chance: of these values.
        sums: the values.
        probability: (N, O), of each client's outcomes.
        excess: (N, O, N, O), P(o of n and o' of m) - P(o of n) P(o' of m); 0 for n = m.
    """

    chance: Any
    sums: tuple[Any, ...]
    probability: Array
    excess: Array


def given_sums(probability: Array, terms: Array, numbers: Numbers) -> Iterator[Given]:
    """The laws of independent outcomes given sums over the clients of functions of them, one at a time.

    Args:
        probability: (N, O), > 0 for some outcome of each client.
        terms: (T, N, O), the T functions.
        numbers: the arithmetic.
    """
    N, outcomes = probability.shape
    keys = [[tuple(_key(terms[t, n, o]) for t in range(len(terms))) for o in range(outcomes)] for n in range(N)]
    # clients of the same kind are interchangeable: the law of all but two depends on their kinds alone
    kinds: dict[Any, int] = {}
    kind = [kinds.setdefault((tuple(keys[n]), tuple(map(_key, probability[n]))), len(kinds)) for n in range(N)]
    numbers_of = [kind.count(c) for c in range(len(kinds))]
    example = [kind.index(c) for c in range(len(kinds))]

    # sums of small integers, the usual case, are places in an array
    whole = len(terms) == 1 and all(key.denominator == 1 and 0 <= key < 1000 for row in keys for (key,) in row)
    largest = [max(int(key) for (key,) in row) for row in keys] if whole else []

    def sums_without(left_out: tuple[int, ...]) -> dict[Any, Any]:
        remaining = list(numbers_of)
        for c in left_out:
            remaining[c] -= 1
        if whole:
            chances = numbers.zeros(1 + sum(count * largest[n] for n, count in zip(example, remaining, strict=True)))
            chances[0] = numbers.ratio(1, 1)
            for n, count in zip(example, remaining, strict=True):
                for _ in range(count):
                    after = chances * 0
                    for o in range(outcomes):
                        by = int(keys[n][o][0])
                        after[by:] += chances[: len(chances) - by] * probability[n, o]
                    chances = after
            return {(Fraction(total),): p for total, p in enumerate(chances) if p != 0}
        law = {tuple(0 * key for key in keys[0][0]): numbers.ratio(1, 1)}
        for c, count in enumerate(remaining):
            n = example[c]
            for _ in range(count):
                following: dict[Any, Any] = {}
                for total, p in law.items():
                    for o in range(outcomes):
                        if probability[n, o] != 0:
                            to = tuple(a + b for a, b in zip(total, keys[n][o], strict=True))
                            following[to] = following.get(to, 0) + p * probability[n, o]
                law = following
                if len(law) > MOST_OUTCOMES:
                    raise TooManyError("values of the sums that an average divides by")
        return law

    all_sums = sums_without(())
    one = {c: sums_without((c,)) for c in range(len(kinds))}
    two = {
        (a, b): sums_without((a, b))
        for a in range(len(kinds))
        for b in range(a, len(kinds))
        if a != b or numbers_of[a] > 1
    }
    of_kind = np.array(kind)
    each = np.arange(N)
    for total, chance in all_sums.items():
        kind_single = numbers.zeros(len(kinds), outcomes)
        kind_pair = numbers.zeros(len(kinds), outcomes, len(kinds), outcomes)
        for c in range(len(kinds)):
            n = example[c]
            for o in range(outcomes):
                rest = tuple(a - b for a, b in zip(total, keys[n][o], strict=True))
                kind_single[c, o] = probability[n, o] * one[c].get(rest, 0) / chance
        for (a, b), law in two.items():
            for o in range(outcomes):
                for q in range(outcomes):
                    pair = zip(total, keys[example[a]][o], keys[example[b]][q], strict=True)
                    rest = tuple(x - y - z for x, y, z in pair)
                    both = probability[example[a], o] * probability[example[b], q] * law.get(rest, 0) / chance
                    excess_of_two = both - kind_single[a, o] * kind_single[b, q]
                    kind_pair[a, o, b, q] = kind_pair[b, q, a, o] = excess_of_two
        excess = kind_pair[of_kind][:, :, of_kind]
        excess[each, :, each, :] *= 0
        sums = tuple(numbers.load(Fraction(value)) for value in total)
        yield Given(chance, sums, kind_single[of_kind], excess)


def _key(value: Any) -> Fraction:
    """A number that hashes, and adds up without rounding."""
    return Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else Fraction(value)
