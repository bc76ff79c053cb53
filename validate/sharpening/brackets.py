"""How far a number in a claim can be moved: from one side by instances, from the other by derivations."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction

from theory.claim import Claim
from theory.for_every import predicate_of
from theory.sentence import parse_sentence
from validate.both_sides import Row, sides
from validate.instances.seen import Seen, measured
from validate.mutate.oracle import pairs
from validate.sharpening.findings import Bracket, Word
from validate.sharpening.judging import Judge
from validate.sharpening.stronger import Family

CLOSE = Fraction(1, 100)
"""Relative distance of both sides at which they are not brought nearer."""
BELOW = Fraction(1, 1000)
"""How far from what an instance attains a factor is that it breaks, relative to that."""
GUESS = Fraction(1, 20)
"""Of the way from what instances attain to what is proved: a simple number that near to it is tried first."""
LARGEST = Fraction(64)
"""Beyond this a bound is moved no further."""
TRIES, SIMPLE = 10, 100
"""How many factors are tried; the largest denominator of one that is tried although it is near."""
HALF = Fraction(1, 2)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction in [low, high] with the least denominator, and of these the least.

    Raises:
        ValueError: where low > high.

    Example:
        >>> simplest(Fraction(147, 1000), Fraction(149, 1000))
        Fraction(4, 27)
    """
    if low > high:
        raise ValueError(f"low={low} is above high={high}")
    whole = -((-low) // 1)
    if whole <= high:
        return Fraction(whole)
    base = low // 1
    return base + 1 / simplest(1 / (high - base), 1 / (low - base))


class Moving:
    """The bracket of one family, made narrower.

    Args:
        judge: who is asked.
        family: of claims.
        word: on the claim as it is written, which is the family's at 1.
    """

    def __init__(self, judge: Judge, family: Family, word: Word) -> None:
        self.judge, self.family = judge, family
        self.stands: Fraction | None = Fraction(1) if word.verdict == "proved" else None
        self.proof = word if word.verdict == "proved" else None
        self.broken: Fraction | None = None
        self.limit: Fraction | None = None
        self.refutation: Word | None = None
        self.open: list[Fraction] = []
        """Factors that are neither proved nor broken."""

    @property
    def found(self) -> Bracket:
        """What is known so far."""
        one = self.family
        return Bracket(
            one.kind, one.what, one.smaller, self.stands, self.broken, self.limit, self.proof, self.refutation
        )

    def narrow(self, until: float) -> Bracket:
        """Bring both sides nearer until a time of this process (`time.process_time`)."""
        self.attained()
        self._near_what_stands(until)
        for _ in range(TRIES):
            c = None if time.process_time() > until else self._next()
            if c is None:
                break
            claim = self.family.at(c)
            seconds = max(0.0, until - time.process_time()) / 4
            word = self.judge.word(claim, seconds, self.family.kind == "constant")
            if word is None:
                self.open.append(c)
            elif word.verdict == "proved":
                self.stands, self.proof = c, word
            else:
                self._breaks(c, word)
                self.attained()
        if self.stands != 1:
            self._near_what_stands(until)
        return self.found

    # --- by instances ---

    def _near_what_stands(self, until: float) -> None:
        """Whether a factor close to what is proved is broken already, the closer the better."""
        for part in (CLOSE, BELOW):
            far = Fraction(1) if self.stands is None else self.stands
            c = far * (1 - part if self.family.smaller else 1 + part)
            if self.limit is not None and not self._stronger(self.limit, c):
                continue
            claim, now = self.family.at(c), time.process_time()
            word = self.judge.by_instances(claim)
            if word is None and now < until:
                word = self.judge.hunted(claim, now + (until - now) / 3, self.family.kind == "constant")
            if word is None:
                return
            self._breaks(c, word)
            self.attained()

    def attained(self) -> None:
        """What the instances at hand attain, with a certificate that the next factor is broken."""
        found = sorted(self._attained(), key=lambda pair: pair[0], reverse=self.family.smaller)
        for limit, seen in found[:3]:
            if self.limit is not None and not self._stronger(self.limit, limit):
                return
            c = self._beyond(limit)
            again = measured(self.family.at(c), seen.drawn)
            if again is None or not again.measured.broken:
                continue
            word = self.judge.refuted(self.family.at(c), again, "pool")
            if word is not None:
                self._breaks(c, word)
                self.limit = limit if self.family.kind == "step" or self._touches(limit, seen) else c
                return

    def _breaks(self, c: Fraction, word: Word) -> None:
        self.broken, self.refutation = c, word
        if self.limit is None or self._stronger(self.limit, c):
            self.limit = c

    def _stronger(self, one: Fraction, other: Fraction) -> bool:
        """Whether the claim says more at one factor than at another."""
        return one < other if self.family.smaller else one > other

    def _beyond(self, limit: Fraction) -> Fraction:
        """A simple factor that an instance breaks, near to its limit."""
        if self.family.kind == "step":  # broken there itself
            return limit
        some, near = limit - BELOW * abs(limit), limit - BELOW * abs(limit) / 10
        if not self.family.smaller:
            some, near = 2 * limit - near, 2 * limit - some
        return simplest(some, near)

    def _touches(self, limit: Fraction, seen: Seen) -> bool:
        """Whether both sides are the same there, so that every stronger factor is broken."""
        again = measured(self.family.at(limit), seen.drawn) if self.family.affine else None
        rows_ = () if again is None or again.measured.broken else again.measured.rows
        return any(row.left is not None and row.left == row.right for row in rows_)

    def _attained(self) -> Iterator[tuple[Fraction, Seen]]:
        if self.family.kind == "step":
            for seen in self.judge.beyond:
                yield from ((ratio, seen) for ratio in _ratio(self.judge.claim, self.family.what, seen))
            return
        factor = HALF if self.family.smaller else Fraction(2)
        sign = 1 if (self.judge.claim.sentence.relation in ("<=", "<")) == self.family.smaller else -1
        for seen in self.judge.there:
            other = measured(self.family.at(factor), seen.drawn)
            needed = [] if other is None else [n for pair in pairs(seen, other) for n in _needed(*pair, factor, sign)]
            if needed:
                yield (max if self.family.smaller else min)(needed), seen

    # --- what to try ---

    def _next(self) -> Fraction | None:
        """The next factor to try; None where both sides are near, or nothing simple is left between them."""
        far, near = Fraction(1) if self.stands is None else self.stands, self.limit
        if near is None:
            if not self.family.smaller and far > LARGEST:
                return None
            near = Fraction(0) if self.family.smaller else 4 * far
        open_ = near
        for c in self.open:  # towards what is proved
            open_ = c if self._stronger(open_, c) else open_
        if not self._stronger(open_, far):
            return None
        if abs(far - open_) <= CLOSE * abs(far):
            whole = near if self.family.kind == "constant" and near.denominator <= SIMPLE else None
            return None if self.open or whole == far else whole
        first = open_ == near and self.limit is not None and self.family.kind == "constant"  # instances are tight there
        least = 0 if first else Fraction(1, 3)
        ends = sorted(open_ + (far - open_) * share for share in (least, GUESS if first else Fraction(2, 3)))
        c = simplest(*ends)
        return None if c in self.open or c == far else c


def _needed(one: Row, other: Row, factor: Fraction, sign: int) -> Iterator[Fraction]:
    """The factor at which both sides are the same, as if the right side were affine, with a slope of this sign."""
    left, right, there = one.left, one.right, other.right
    if not all(isinstance(side, Fraction) for side in (left, right, there)):
        left, right, there = (Fraction(float(side)) for side in (left, right, there))
    slope = (right - there) / (1 - factor)
    if sign * slope > 0:
        found = 1 + (left - right) / slope
        yield found if one.left is left else found.limit_denominator(10**4)


def _ratio(claim: Claim, text: str, seen: Seen) -> Sequence[Fraction]:
    """By which factor the bound of a relation has to be moved so that it holds on an instance."""
    relation = parse_sentence(text)
    if predicate_of(text) is not None:
        return []
    try:
        both = sides(relation, claim.vocabulary, seen.drawn.instance, seen.drawn.constants)
    except (ValueError, ZeroDivisionError):
        return []
    found = [
        row.left / row.right
        for row in both.rows
        if isinstance(row.left, Fraction) and isinstance(row.right, Fraction) and row.right > 0
    ]
    return [max(found)] if found and relation.relation in ("<=", "<") else [min(found)] if found else []
