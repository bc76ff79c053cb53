"""A claim about numbers alone at every number of terms up to a million, in long floats: sums are kept as they grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name, Number
from theory.sentence import Expression, everything, parts
from validate.instances.equations import equations
from validate.instances.growth import Rungs, end_of

FLOAT = np.longdouble
"""Of sums of a million terms it keeps some 13 digits, where it has more bits than a float."""
SLACK = 1e-12 if np.finfo(FLOAT).eps < 1e-18 else 1e-9
"""A break in floats is one by more than this, relative to the larger side."""
FIRST = 4
"""The first number of terms that tells where sides go, as a power of 2."""
_PLAIN: Mapping[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative,
    "sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
_KEPT: Mapping[str, Any] = {"max_k": np.maximum.accumulate, "min_k": np.minimum.accumulate}


@dataclass(frozen=True)
class Series:
    """Both sides at K = 1, 2, ..., floats.

    Attributes:
        left, right: (K,).
        relation: between them.
    """

    left: Any
    right: Any
    relation: str

    @property
    def breaks(self) -> list[int]:
        """The numbers of terms at which the relation does not hold, in floats."""
        with np.errstate(all="ignore"):
            gap = self.left - self.right if self.relation in ("<=", "<") else self.right - self.left
            scale = np.maximum(np.abs(self.left), np.abs(self.right))
            bad = (np.abs(gap) if self.relation == "==" else gap) > SLACK * scale
            told = np.isfinite(self.left) & np.isfinite(self.right)
        return [int(i) + 1 for i in np.flatnonzero(bad & told)]

    @property
    def rungs(self) -> Rungs:
        """Left over right, the side that is to be less over the other, where the number of terms is doubled."""
        less, more = (self.left, self.right) if self.relation in ("<=", "<", "==") else (self.right, self.left)
        values = [1 << j for j in range(len(less).bit_length())]
        rungs = ((K, float(less[K - 1]), float(more[K - 1])) for K in values if len(less) >= K)
        return tuple((K, one / other) for K, one, other in rungs if other > 0 and np.isfinite(one / other))

    @property
    def end(self) -> float | None:
        """By how much the side that is to be less comes to be larger than the other as K grows, which may be less than
        0; None where that does not show."""
        if self.relation == "==":
            return None
        less, more = (self.left, self.right) if self.relation in ("<=", "<") else (self.right, self.left)
        places = [(1 << j) - 1 for j in range(FIRST, len(less).bit_length()) if 1 << j <= len(less)]
        with np.errstate(all="ignore"):  # both may be beyond floats
            gap = (less - more)[places]
        end = end_of([*gap]) if np.isfinite(gap).all() else None
        return end if end is not None and abs(end) > SLACK * max(abs(less[-1]), abs(more[-1])) else None


def series(claim: Claim, values: Mapping[str, Any], most: int) -> Series | None:
    """Both sides of a claim about numbers alone for every K up to `most`; None where it is of another kind.

    Of that kind are sums, means, minima and maxima over k of terms in which K does not occur.

    Args:
        claim: without an algorithm, functions and vectors.
        values: of its parameters, without K; those are left out that an equation gives.
        most: the last K.
    """
    if claim.of is not None or claim.vectors or claim.predicates or "k" in claim.free:
        return None
    given = dict(equations(claim))
    values = {name: value for name, value in values.items() if name not in given and f"{name}_k" not in given}
    if any(not isinstance(value, Fraction) for value in values.values()):
        return None
    K = np.arange(1, most + 1, dtype=FLOAT)
    sides = claim.sentence.sides
    try:
        numbers = {name: _number(value) for name, value in values.items()}
        reader = _Reader({**claim.definitions, **given}, {**numbers, "K": K}, most)
        with np.errstate(all="ignore"):
            left, right = (np.broadcast_to(reader.of(side), K.shape) for side in sides)
    except (_OtherKindError, OverflowError, RecursionError):  # equations may give numbers by one another
        return None
    return Series(left, right, claim.sentence.relation)


def _number(value: Fraction) -> Any:
    return FLOAT(value.numerator) / FLOAT(value.denominator)


class _OtherKindError(ValueError):
    """A tree that is no arithmetic in K and sums over k."""


class _Reader:
    """Trees as arrays over K."""

    def __init__(self, definitions: Mapping[str, Expression], values: Mapping[str, Any], most: int) -> None:
        self.definitions, self.values, self.most = definitions, values, most

    def of(self, e: Expression) -> Any:
        if isinstance(e, Number):
            return _number(e.value)
        if isinstance(e, Name) and e.name in self.definitions:
            return self.of(self.definitions[e.name])
        if isinstance(e, Name) and e.name in self.values:
            return self.values[e.name]
        if not isinstance(e, Apply):
            raise _OtherKindError
        if e.operation in _PLAIN:
            values = [self.of(part) for part in parts(e)]
            found = values[0] if len(values) > 1 else _PLAIN[e.operation](values[0])
            for value in values[1:]:
                found = _PLAIN[e.operation](FLOAT(found) if np.ndim(found) == 0 else found, value)
            return found
        if e.operation in ("sum_k", "mean_k", *_KEPT) and "k" not in self.values:
            return self._over_rounds(e)
        raise _OtherKindError

    def _over_rounds(self, e: Apply) -> Any:
        inner = parts(e)[0]
        names = {part.name for part in everything(inner) if isinstance(part, Name)}
        for name in names & set(self.definitions):
            names |= {part.name for part in everything(self.definitions[name]) if isinstance(part, Name)}
        if "K" in names:
            raise _OtherKindError
        terms = np.arange(self.most, dtype=FLOAT)
        values = {**self.values, "k": terms}
        each = np.broadcast_to(_Reader(self.definitions, values, self.most).of(inner), terms.shape)
        if e.operation in _KEPT:
            return _KEPT[e.operation](each)
        total = np.cumsum(each)
        return total if e.operation == "sum_k" else total / np.arange(1, self.most + 1)
