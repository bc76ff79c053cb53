"""So many clients of one kind and so many of another: 3 of 14 may break what 1 of 5 does not, nor any multiple of it.

What hangs on two numbers, and on the share of the clients that have the first, is worst at one share, which fractions
come near to: those of the Stern-Brocot tree on the way there, up to 64 clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.program import work
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.longer import different_clients, of_these
from validate.instances.pool import has_functions
from validate.instances.refitting import fitting
from validate.instances.seen import Hunt, Seen, measured

F = Fraction
TIGHTEST, PAIRS = 3, 3
"""Instances whose kinds are taken, and pairs of kinds of each."""
FEW, MOST = 9, 64
"""Clients of which every share is tried first; clients."""
STEPS = tuple(F(1, 10**i) for i in range(1, 7))
"""Parts of themselves by which numbers are moved."""
GROWS = 1e-4
"""By how much a score is to grow for numbers and shares to be changed once more."""
OPERATIONS = 800_000
"""Of `theory.program.work`."""
LINEAR = "linear terms"


def of_two_kinds(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances of a claim without an algorithm that break it, of two kinds of clients."""
    of_clients = has_functions(claim) or any(name.endswith("_n") for name in (*claim.symbols, *claim.vectors))
    if claim.of is not None or not of_clients:
        return
    end = work.operations() + OPERATIONS

    def over() -> bool:
        return stop() or work.operations() > end

    known = set[str]()
    for seen in sorted(found.seen, key=lambda one: -one.score):
        if len(known) == TIGHTEST or over():
            return
        base = candidate_of(seen.drawn)
        kinds = different_clients(base, claim)
        if not 2 <= len(kinds) <= 1 + PAIRS:
            continue
        one_of_each = of_these(base, claim, kinds)
        place = repr([one_of_each.values, one_of_each.vectors])
        if place in known:
            continue
        known.add(place)
        for pair in list(combinations(kinds, 2))[:PAIRS]:
            shares = _Shares(claim, base, pair, over)
            broken = shares.broken()
            if broken is not None:
                yield broken
                return
            found.seen += [] if shares.tightest is None else [shares.tightest]


class _Shares:
    """Two kinds of clients of one instance.

    Args:
        claim: the claim.
        base: the instance.
        pair: the places of a client of each kind.
        over: whether to end.

    Attributes:
        scores: of each share that was tried.
        tightest: the instance that came nearest to a break.
    """

    def __init__(self, claim: Claim, base: Candidate, pair: tuple[int, int], over: Callable[[], bool]) -> None:
        self.claim, self.base, self.pair, self.over = claim, base, pair, over
        self.scores: dict[Fraction, float] = {}
        self.tightest: Seen | None = None

    def broken(self) -> Seen | None:
        """An instance that breaks the claim; None where none does."""
        for share in dict.fromkeys(F(a, N) for N in range(2, FEW + 1) for a in range(1, N)):
            seen = self._at(share)
            if seen is not None:
                return seen
        before = -2.0
        while self.scores and not self.over():
            seen = self._nearer() or self._moved()
            if seen is not None or self.scores[self.best] <= before + GROWS:
                return seen
            before = self.scores[self.best]
        return None

    def _at(self, share: Fraction) -> Seen | None:
        """The instance with so many of the first kind, if it breaks the claim; else its score is known."""
        if share in self.scores or self.over():
            return None
        seen = self._measured(self.base, share)
        self.scores[share] = -2.0 if seen is None else seen.score
        return seen if seen is not None and seen.measured.broken else None

    def _measured(self, base: Candidate, share: Fraction) -> Seen | None:
        first, second = self.pair
        of = [first] * share.numerator + [second] * (share.denominator - share.numerator)
        one = fitting(self.claim, of_these(base, self.claim, of))
        seen = None if one is None else measured(self.claim, one)
        if seen is not None and (self.tightest is None or seen.score > self.tightest.score):
            self.tightest = seen
        return seen

    @property
    def best(self) -> Fraction:
        """The share that comes nearest to a break, with the fewest clients."""
        return max(self.scores, key=lambda share: (self.scores[share], -share.denominator))

    def _nearer(self) -> Seen | None:
        """Between the best share and its neighbours there is one with fewer clients than any other: that is tried."""
        while not self.over():
            ordered = [F(0), *sorted(self.scores), F(1)]
            at = ordered.index(self.best)
            low, here, high = ordered[at - 1 : at + 2]
            between = [_simplest(one, two) for one, two in ((low, here), (here, high))]
            new = [share for share in between if share.denominator <= MOST]
            if not new:
                return None
            for share in new:
                seen = self._at(share)
                if seen is not None:
                    return seen
        return None

    def _moved(self) -> Seen | None:
        """Each number of either kind moved as long as that brings a break nearer, at the best share; its instance then
        is what others are made of."""
        share = self.best
        score = self.scores[share]
        for step in STEPS:
            for place, kind in ((place, kind) for place in self._places() for kind in self.pair):
                for factor in (1 + step, 1 - step):
                    while not self.over():
                        base = _scaled(self.base, place, kind, factor)
                        seen = self._measured(base, share)
                        if seen is not None and seen.measured.broken:
                            return seen
                        if seen is None or seen.score <= score:
                            break
                        self.base, score = base, seen.score
        self.scores = {share: score}
        return None

    def _places(self) -> list[str]:
        """What clients have as numbers or vectors, by name, and the linear terms of quadratics."""
        of_each = {**self.base.values, **self.base.vectors}
        names = [name for name, v in of_each.items() if isinstance(v, list) and not isinstance(v[0], list)]
        return [*names, *([LINEAR] if self.base.linear is not None else [])]


def _scaled(c: Candidate, place: str, kind: int, factor: Fraction) -> Candidate:
    """With what one client has there times a factor."""

    def times(of_each: Sequence[Any]) -> list[Any]:
        return [v * factor if n == kind else v for n, v in enumerate(of_each)]

    if place == LINEAR:
        return replace(c, linear=np.array(times(c.linear)))
    if place in c.vectors:
        return replace(c, vectors={**c.vectors, place: times(c.vectors[place])})
    return replace(c, values={**c.values, place: times(c.values[place])})


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator between two."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return F(whole + 1)
    if low == whole:
        return whole + F(1, int(1 / (high - whole)) + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


__all__ = ["of_two_kinds"]
