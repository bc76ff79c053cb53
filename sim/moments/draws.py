"""The laws of draws: outcomes of one client, of two clients together, of all; and averages over a random number.

A client's outcomes are numbered 0..O-1. What clients draw is either independent between them, or exchangeable: then
the law of two clients together is the same for every pair.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers, times, to_fraction

MOST_OUTCOMES = 4096
"""Largest number of outcomes of one draw that are gone through one by one."""
MOST_PAIRS = {False: 1 << 20, True: 1 << 14}
"""Largest number of pairs of how often two clients are chosen, in floats, and in fractions, which have many digits."""


ONE_BY_ONE = 128
"""Counts up to which chances of a pair, in floats, are worked out from integers one by one; beyond, by recurrence."""


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
        TooManyError: for very many with replacement.
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
        if counts**2 > MOST_PAIRS[numbers.exact]:
            raise TooManyError(f"{size} clients chosen with replacement: two of them have {counts**2} pairs of counts")
        probability = numbers.zeros(1, counts)
        pair = numbers.zeros(counts, counts)
        for a in range(counts):
            probability[0, a] = numbers.ratio(math.comb(size, a) * (clients - 1) ** (size - a), clients**size)
        if numbers.exact or counts <= ONE_BY_ONE:
            for a, b in ((a, total - a) for total in range(counts) for a in range(total + 1)):
                ways = math.comb(size, a) * math.comb(size - a, b) * max(clients - 2, 0) ** (size - a - b)
                pair[a, b] = numbers.ratio(ways, clients**size)
        else:
            other = np.ones(1)  # the law of how often another client is among those that the first one leaves
            for left in range(counts):
                pair[size - left, : left + 1] = probability[0, size - left] * other
                other = np.convolve(other, [max(clients - 2, 0), 1]) / max(clients - 1, 1)
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
    sets = list(_batches(most, size, replace))
    shares = numbers.zeros(len(sets), 1, samples)
    ways = [math.factorial(size)] * len(sets)
    for o, batch in enumerate(sets):
        for j in set(batch):
            shares[o, 0, j] = numbers.ratio(batch.count(j), size)
            ways[o] //= math.factorial(batch.count(j))
    probability = numbers.zeros(len(counts), len(sets))
    for n, count in enumerate(int(c) for c in counts):
        total = count**size if replace else math.comb(count, size) * math.factorial(size)
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
    total = math.comb(clients + size - 1, size) if replace else math.comb(clients, size)
    if total > MOST_OUTCOMES:
        raise TooManyError(f"{total} choices of {size} of {clients} clients{' with replacement' if replace else ''}")
    chosen = [tuple(batch.count(n) for n in range(clients)) for batch in _batches(clients, size, replace)]
    ways = [math.factorial(size) // math.prod(map(math.factorial, counts)) for counts in chosen]
    return [(numbers.ratio(w, sum(ways)), counts) for w, counts in zip(ways, chosen, strict=True)]


def _batches(count: int, size: int, replace: bool) -> Iterator[tuple[int, ...]]:
    return (itertools.combinations_with_replacement if replace else itertools.combinations)(range(count), size)


@dataclass(frozen=True)
class Chances:
    """Expectations of the outcomes of one client and of two, times factors t_0 = 1, t_1, ... that all clients share.

    Attributes:
        mean: (T, 1 or N, O), E[t_s; o].
        same: (T, T, 1 or N, O), E[t_s t_u; o].
        pair: (T, T, K, O, K, O), E[t_s t_u; o of one, q of another] - E[t_s; o] E[t_u; q] for clients of two kinds, or
            two clients of one; None where it is 0.
        kind: (N,), in 0..K-1.
    """

    mean: Array
    same: Array
    pair: Array | None
    kind: Array

    @classmethod
    def of(cls, probability: Array, pair: Array | None, clients: int) -> Chances:
        """Without factors: of outcomes of probability (1 or N, O), and for two clients (O, O) or independent."""
        if pair is not None:
            pair = (pair - np.outer(probability[0], probability[0]))[None, None, None, :, None]
        return cls(probability[None], probability[None, None], pair, np.zeros(clients, dtype=int))


def divided(probability: Array, terms: Array, many: Sequence[int], numbers: Numbers) -> Chances:
    """Of independent outcomes of the clients; a factor is 1 over a sum of a function of all clients' outcomes, or 0.

    Args:
        probability: (N, O), > 0 for some outcome of each client.
        terms: (T - 1, N, O), the functions that are summed.
        many: how many clients each of the N stands for.
        numbers: the arithmetic.

    Raises:
        TooManyError: where the sums have too many values.
    """
    N, outcomes = probability.shape
    keys = [[tuple(to_fraction(terms[t, n, o]) for t in range(len(terms))) for o in range(outcomes)] for n in range(N)]
    # clients of the same kind are interchangeable: the law of all but two depends on their kinds alone
    kinds: dict[Any, int] = {}
    kind = [kinds.setdefault((tuple(keys[n]), tuple(map(_same, probability[n]))), len(kinds)) for n in range(N)]
    K, T = len(kinds), len(terms) + 1
    counts = [sum(m for m, c in zip(many, kind, strict=True) if c == a) for a in range(K)]
    chance = [probability[kind.index(a)] for a in range(K)]
    key = [keys[kind.index(a)] for a in range(K)]
    small = T == 2 and all(v.denominator == 1 and 0 <= v < 1000 for row in key for (v,) in row)
    zero = _law([(0,) * (T - 1)], [numbers.ratio(1, 1)], small, numbers)
    one = [_law(row, p, small, numbers) for row, p in zip(key, chance, strict=True)]
    all_but = [_power(law, count - 1, zero) for law, count in zip(one, counts, strict=True)]
    every = [_times(law, rest) for law, rest in zip(one, all_but, strict=True)]
    before, after = [zero], [zero]
    for a in range(K):
        before.append(_times(before[-1], every[a]))
        after.append(_times(after[-1], every[-1 - a]))

    def expected(law: Any, *by: Array) -> Array:
        """(T, T), E of products of the factors, some clients adding `by` to what the others' sums are."""
        sums, p = _support(law)
        factors = np.concatenate([numbers.zeros(1, len(p)) + numbers.ratio(1, 1), _inverse(sum(by, sums), numbers)])
        return times(factors * p, factors.T)

    single, same = numbers.zeros(T, K, outcomes), numbers.zeros(T, T, K, outcomes)
    pair = numbers.zeros(T, T, K, outcomes, K, outcomes)
    places = [[np.array(v, dtype=object)[:, None] for v in row] for row in key]
    for a in range(K):
        law = _times(_times(before[a], after[K - 1 - a]), all_but[a])
        for o in range(outcomes):
            same[:, :, a, o] = expected(law, places[a][o]) * chance[a][o]
        single[:, a] = same[0, :, a]
    for a in range(K):
        between = zero
        for b in range(a, K):
            if b > a + 1:
                between = _times(between, every[b - 1])
            if a == b and counts[a] == 1:
                continue
            rest = _power(one[a], counts[a] - 2, zero) if a == b else _times(all_but[a], _times(between, all_but[b]))
            law = _times(_times(before[a], after[K - 1 - b]), rest)
            for o, q in itertools.product(range(outcomes), repeat=2):
                both = expected(law, places[a][o], places[b][q]) * (chance[a][o] * chance[b][q])
                excess = both - np.outer(single[:, a, o], single[:, b, q])
                excess[0, 0] *= 0  # they are independent
                pair[:, :, a, o, b, q], pair[:, :, b, q, a, o] = excess, excess.T
    return Chances(single[:, kind], same[:, :, kind], pair, np.array(kind))


# The law of a sum: of small integers, the usual case, an array of chances; else a dictionary.


def _law(values: Sequence[tuple[Any, ...]], chances: Sequence[Any], small: bool, numbers: Numbers) -> Any:
    law: dict[Any, Any] = {}
    for value, p in zip(values, chances, strict=True):
        if p != 0:
            law[value] = law.get(value, 0) + p
    if not small:
        return law
    out = numbers.zeros(1 + int(max(v for (v,) in law)))
    for (v,), p in law.items():
        out[int(v)] = p
    return out


def _times(one: Any, two: Any) -> Any:
    """The law of the sum of two that are independent."""
    if isinstance(one, np.ndarray):
        return np.convolve(one, two)
    law: dict[Any, Any] = {}
    for (value, p), (other, q) in itertools.product(one.items(), two.items()):
        total = tuple(a + b for a, b in zip(value, other, strict=True))
        law[total] = law.get(total, 0) + p * q
    if len(law) > MOST_OUTCOMES:
        raise TooManyError("values of the sums that an average divides by")
    return law


def _power(law: Any, count: int, zero: Any) -> Any:
    """The law of the sum of so many."""
    if count < 2:
        return law if count else zero
    half = _power(_times(law, law), count // 2, zero)
    return _times(half, law) if count % 2 else half


def _support(law: Any) -> tuple[Array, Array]:
    """(T, S) and (S,), the values of sums and their chances."""
    if isinstance(law, np.ndarray):
        at = np.flatnonzero(law != 0)
        return np.array([at.tolist()], dtype=object), law[at]
    return np.array(list(law), dtype=object).T, np.array(list(law.values()))


def _inverse(values: Array, numbers: Numbers) -> Array:
    """1 over each, or 0."""
    if numbers.exact:
        return numbers.array(np.frompyfunc(lambda v: 1 / to_fraction(v) if v else Fraction(0), 1, 1)(values))
    found = values.astype(float)
    return np.divide(1, found, out=np.zeros_like(found), where=found != 0)


def _same(value: Any) -> Any:
    """What is equal for numbers that are; one that records is equal to itself alone."""
    return to_fraction(value) if isinstance(value, int | float | Fraction) or hasattr(value, "p") else id(value)
