"""Claims that put their start, or their minimiser, at 0: searched without that too, and what breaks them is moved.

``norm2(xstar) <= 0``, "without loss of generality", says nothing where a claim speaks of differences, gradients and
gaps alone; but no search that moves functions and starts in floats stays at such a point. Whether it says nothing is
tried on a few instances; what is moved counts for what it is there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle, islice
from typing import Any

import numpy as np

from theory.claim import Claim, unread
from theory.for_every import assumption
from theory.formula import Name
from theory.sentence import Sentence, everything, index_of
from validate.instances import point_moves, ridge_moves
from validate.instances.candidates import Candidate, candidate_of, minimiser_of, realised
from validate.instances.outcomes import measured_at_length
from validate.instances.piece_moves import moved_alone
from validate.instances.pool import Drawn, drawn, fitting_sizes, starts_at
from validate.instances.seen import Seen, measured

TRIED, AGREE = 40, 4
"""Instances of the pool, of which so many have to be worth the same elsewhere, and none may not."""
BY = (Fraction(2, 3), Fraction(-1), Fraction(1, 2))
"""Coordinates by which these are moved, one after another."""
CLOSE = 1e-12
"""Of each other, within which two sides are the same."""


@dataclass(frozen=True)
class Anywhere:
    """A claim without what puts a point at 0.

    Attributes:
        claim: the claim with it.
        free: without it.
        point: ``x0`` or ``xstar``.
        vectors: whether free vectors are moved, too: points are, directions are not.
    """

    claim: Claim
    free: Claim
    point: str
    vectors: bool

    @property
    def told(self) -> str:
        """In words, where it is searched."""
        return f"the same with {self.point} anywhere, moved to 0"

    def moved(self, seen: Seen) -> Seen | None:
        """An instance with the point at 0, where the claim speaks of it there."""
        c = candidate_of(seen.drawn)
        to = c.start if self.point == "x0" else minimiser_of(c)
        if to is None:
            return None
        there = _realised(self.claim, c, -np.array(to, dtype=object), self.vectors, seen.drawn)
        return None if there is None else measured_at_length(self.claim, there)


def anywhere(claim: Claim) -> Anywhere | None:
    """The claim without the point at 0; None where it puts none there, or is not the same elsewhere."""
    point = next((name for name in ("xstar", "x0") if starts_at(claim, frozenset({name}))), None)
    if point is None:
        return None
    texts = [text for text in (*claim.assuming, *claim.standing) if _speaks_only_of(text, point)]
    free = without(claim, texts)
    for vectors in (True, False) if claim.vectors else (False,):
        if _is_the_same(free, vectors):
            return Anywhere(claim, free, point, vectors)
    return None


def without(claim: Claim, texts: Collection[str]) -> Claim:
    """The claim without some of what it assumes, and without domains of numbers of which nothing speaks then."""
    assuming, standing = (tuple(t for t in some if t not in texts) for some in (claim.assuming, claim.standing))
    with unread():
        left = replace(claim, assuming=assuming, standing=standing)
        names = {name for symbol in (*left.symbols, *left.where) for name in (symbol, index_of(symbol)[0])}
        left = replace(left, parameters={name: one for name, one in left.parameters.items() if name in names})
    left.read()
    return left


def _speaks_only_of(text: str, point: str) -> bool:
    sentence = assumption(text)
    if not isinstance(sentence, Sentence):
        return False
    return {part.name for side in sentence.sides for part in everything(side) if isinstance(part, Name)} == {point}


def _is_the_same(claim: Claim, vectors: bool) -> bool:
    """Whether both sides are worth the same where everything is moved."""
    agreed, sizes = 0, fitting_sizes(claim)
    for seed in range(TRIED):
        one = drawn(claim, seed, sizes=sizes)
        here = None if one is None else measured(claim, one)
        if one is None or here is None:
            continue
        c = candidate_of(one)
        by = np.array(list(islice(cycle(BY), len(c.start))), dtype=object)
        other = _realised(claim, c, by, vectors, one)
        there = None if other is None else measured(claim, other)
        if there is None or not _alike(here, there):
            return False
        agreed += 1
        if agreed == AGREE:
            return True
    return False


def _alike(here: Seen, there: Seen) -> bool:
    """Whether both sides are as far apart, roots up to rounding: what is moved has its values but for a constant."""
    rows, others = ([(row.at, row.left, row.right) for row in seen.measured.rows] for seen in (here, there))
    return len(rows) == len(others) and all(
        a[0] == b[0] and _close(a[1:], b[1:]) for a, b in zip(rows, others, strict=True)
    )


def _close(sides: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    if any(side is None for side in (*sides, *others)):
        return False
    try:
        left, right, other_left, other_right = map(float, (*sides, *others))
    except OverflowError:
        return False
    size = max(map(abs, (left, right, other_left, other_right)))
    return abs((left - right) - (other_left - other_right)) <= CLOSE * size


def _realised(claim: Claim, c: Candidate, by: Any, vectors: bool, one: Drawn) -> Drawn | None:
    """The instance with everything moved, and its constants as they are."""
    constants = {name: one.values[name] for name in claim.constants if name in one.values}
    try:
        return realised(claim, moved(c, by, vectors), constants)
    except (ValueError, KeyError, ZeroDivisionError, ArithmeticError):
        return None


def moved(c: Candidate, by: Any, vectors: bool) -> Candidate:
    """The functions and the start moved, their values but for a constant.

    Args:
        c: what is moved.
        by: (d,) fractions.
        vectors: whether its free vectors are points that are moved, too.
    """
    linear, functions = c.linear, c.functions
    if c.hessian is not None:
        linear = c.linear + c.hessian @ by
    elif c.pieces is not None:
        functions = tuple(tuple(moved_alone(f, by[0]) for f in own) for own in c.pieces)
    elif c.ridges is not None:
        functions = ridge_moves.moved_by(c.ridges, tuple(by))
    elif c.points is not None:
        functions = point_moves.moved_by(c.points, tuple(by))
    some = {
        name: [row + by for row in v] if isinstance(v, list) else v + by for name, v in c.vectors.items() if vectors
    }
    return replace(c, linear=linear, functions=functions, start=c.start + by, vectors={**c.vectors, **some})
