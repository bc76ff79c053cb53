"""The other party: instances that the check is not told of, made from the claim, and where they leave no room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.sentence import Expression, signed_terms
from validate.both_sides import Row
from validate.instances.candidates import candidate_of, realised
from validate.instances.pool import Drawn, drawn
from validate.instances.seen import Seen, measured
from validate.mutate.neighbours import Neighbour

ORACLE = 10**7
"""The oracle's seeds begin here: the check's own begin at its seed."""
BELOW = Fraction(49, 50)
"""How far below what is attained a term is scaled."""
MORE, ENOUGH = 5, 8
"""So many times more are drawn where fewer instances than this can be measured."""
ROUNDING = 1e-12
"""Within which sides with roots count as the same, relative to the larger."""
PARTS = 1000
"""Denominator of such a factor."""


class Oracle:
    """Instances of its own: the claim's for neighbours that speak of them, and their own for the others.

    Args:
        claim: the claim.
        instances: how many are drawn; more where few of them can be measured.
        seed: of these.
        stop: asked between the claim's instances; where it says so, no more are measured.
    """

    def __init__(self, claim: Claim, instances: int, seed: int = 0, stop: Callable[[], bool] = lambda: False) -> None:
        self.claim, self.instances, self.seed = claim, instances, seed
        self._sides: dict[str, list[tuple[Seen, Seen]]] = {}
        self.there = sorted(self._measured(claim, stop), key=lambda seen: -seen.score)
        """The claim on the instances of its own, the tightest first."""

    def _measured(self, claim: Claim, stop: Callable[[], bool] = lambda: False) -> Iterator[Seen]:
        told = 0
        for i in range(MORE * self.instances):
            if stop() or (i >= self.instances and told >= ENOUGH):
                return
            one = drawn(claim, ORACLE + self.seed + i)
            seen = None if one is None else measured(claim, one)
            if seen is not None:
                told += 1
                yield seen

    def sides(self, one: Neighbour) -> list[tuple[Seen, Seen]]:
        """The claim and a neighbour of the same assumptions on the oracle's instances, up to the first break."""
        if one.name not in self._sides:
            found: list[tuple[Seen, Seen]] = []
            for seen in self.there:
                other = _on(one.claim, seen.drawn)
                if other is None:
                    continue
                found.append((seen, other))
                if other.measured.broken:
                    break
            self._sides[one.name] = found
        return self._sides[one.name]

    def is_the_claim(self, one: Neighbour) -> bool:
        """Whether a neighbour is the same function as the claim, on all the instances."""
        if not one.same_instances or one.claim.sentence.relation != self.claim.sentence.relation:
            return False
        both = self.sides(one)
        return bool(both) and all(_alike(a, b) for a, b in both)

    def broken(self, one: Neighbour) -> Seen | None:
        """An instance that breaks a neighbour."""
        if one.same_instances:
            return next((other for _, other in self.sides(one) if other.measured.broken), None)
        return next((seen for seen in self._measured(one.claim) if seen.measured.broken), None)

    def follows(self, one: Neighbour) -> bool:
        """Whether the claim gives a neighbour on every instance: it bounds less by more."""
        relation = self.claim.sentence.relation
        if not one.same_instances or one.claim.sentence.relation != relation or relation == "==":
            return False
        sign = 1 if relation in ("<=", "<") else -1
        both = [pair for a, b in self.sides(one) for pair in pairs(a, b)]
        return bool(both) and all(
            sign * difference(b.left, a.left) <= 0 <= sign * difference(b.right, a.right) for a, b in both
        )


def difference(one: Any, two: Any) -> Any:
    """Of two sides; 0 where balls and floats do not tell them apart."""
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one - two
    first, second = float(one), float(two)
    return 0.0 if abs(first - second) <= ROUNDING * max(abs(first), abs(second)) else first - second


def _alike(one: Seen, two: Seen) -> bool:
    """Whether both sides are the same in every row."""
    rows, others = one.measured.rows, two.measured.rows
    if [(dict(r.at), r.minimiser, r.status) for r in rows] != [(dict(r.at), r.minimiser, r.status) for r in others]:
        return False
    return all(
        (a.left is None and b.left is None) or (difference(a.left, b.left) == 0 and difference(a.right, b.right) == 0)
        for a, b in zip(rows, others, strict=True)
    )


def pairs(one: Seen, two: Seen) -> Iterator[tuple[Row, Row]]:
    """The rows of both where both have sides."""
    by_index = {(tuple(row.at.items()), row.minimiser): row for row in two.measured.rows if row.left is not None}
    for row in one.measured.rows:
        other = by_index.get((tuple(row.at.items()), row.minimiser))
        if row.left is not None and other is not None:
            yield row, other


def _on(claim: Claim, one: Drawn) -> Seen | None:
    """A claim on an instance that was made for another, with its own constants there."""
    constants = {name: one.values[name] for name in claim.constants if name in one.values}
    again = realised(claim, candidate_of(one), constants)
    return None if again is None else measured(claim, again)


def attained(claim: Claim, there: list[Seen]) -> Iterator[tuple[Expression, Fraction]]:
    """The right side and its terms, each with a factor by which it is too small (too large) on an instance."""
    relation = claim.sentence.relation
    if relation == "==":
        return
    whole = claim.sentence.right
    for term in dict.fromkeys((whole, *(term for *_, term in signed_terms(whole)))):
        alone = replace(claim, statement=str(replace(claim.sentence, right=term)))
        needed: list[Fraction] = []
        for seen in there:
            other = seen if term is whole else measured(alone, seen.drawn)
            if other is None:
                continue
            needed += _needed(seen.measured.rows, other.measured.rows)
        # a term counts that can be scaled down to nothing only by going below 0 not at all
        if relation in ("<=", "<"):
            factor = Fraction(int(max(needed, default=Fraction(0)) * BELOW * PARTS), PARTS)
        else:
            least = min((n for n in needed if n > 0), default=None)
            factor = Fraction(0) if least is None else Fraction(int(least / BELOW * PARTS) + 1, PARTS)
        if 0 < factor < 10**6:
            yield term, factor


def _needed(rows: tuple[Row, ...], alone: tuple[Row, ...]) -> Iterator[Fraction]:
    """The factors of a term at which both sides would be the same, where it is positive."""
    by_index = {(tuple(row.at.items()), row.minimiser): row.right for row in alone}
    for row in rows:
        term = by_index.get((tuple(row.at.items()), row.minimiser))
        if row.at.get("k") == 0:  # both sides are often the same by definition
            continue
        left, right = row.left, row.right
        if isinstance(left, Fraction) and isinstance(right, Fraction) and isinstance(term, Fraction) and term > 0:
            yield 1 + (left - right) / term
