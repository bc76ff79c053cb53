"""The best constants of a sentence for every point on many problems at once, in floats.

The sentence is read as `validate.satisfied.forms` reads it, on spaces of arrays: of quadratics, and of piecewise
quadratics of one variable, stretch by stretch. What a form comes to, and which constant makes it nowhere negative, is
asked of all of them at once; of what breaks a claim fractions are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theory.for_every import ForEvery
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.sentence import text_of
from validate import satisfied
from validate.batch.hinges import Hinges
from validate.batch.recorded import Array
from validate.instances.pieces import Pieces, Piecewise
from validate.satisfied.conditions import Terms
from validate.satisfied.forms import gaps
from validate.satisfied.spaces import Space, which_of

if TYPE_CHECKING:
    from validate.batch.bests import Problems

Best: TypeAlias = "tuple[tuple[Array, ...], Array]"
Where: TypeAlias = "tuple[Array, Array] | None"
"""Between which numbers the only unknown lies, of each form; None for anywhere."""
EQUAL = 1e-14
"""Part of two numbers by which they differ that are the same."""
ROUNDED = 1e-12
"""Part of its numbers by which a form may be negative."""
RANGE, HALVINGS = 40.0, 44
"""Powers of 2 between which, and between whose inverses, constants are; how often that is halved."""
ROOM, MORE = 1.25, 4.0
"""As of `validate.satisfied.every`."""


# --- spaces -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sizes:
    """What a sentence asks of a problem besides its functions."""

    clients: int
    counts: tuple[int, ...]
    dim: int


class _Arrays(Space):
    """Vectors of many problems, (..., d, size + 1); numbers are floats, or arrays (..., 1, 1)."""

    exact = False
    weight = 1.0
    many: tuple[int, ...]

    def zeros(self, *shape: int) -> Any:
        return np.zeros((*self.many, *shape))

    def element(self, value: Any) -> Any:
        return value if isinstance(value, np.ndarray) else float(value)

    def difference(self, one: Any, two: Any) -> Any:
        found = one - two
        return np.where(np.abs(found) <= EQUAL * np.maximum(np.abs(one), np.abs(two)), 0.0, found)

    def unknown(self, place: int) -> Any:
        found = self.zeros(self.dim, self.size + 1)
        for j in range(self.dim):
            found[..., j, place + j] = 1.0
        return found


class _Quadratics(_Arrays):
    """Around the minimiser of f where there is one and the sentence does not hang on the origin: so little cancels."""

    def __init__(self, one: ForEvery, of: Problems) -> None:
        count, N, n, self.dim = of.linear.shape
        self.many, self.of, self.problem = (count,), of, _Sizes(N, (n,) * N, self.dim)
        self.size = len(one.points) * self.dim
        self.places = {name: j * self.dim for j, name in enumerate(one.points)}
        self.curved = of.spectra("f")[:, 0].min(axis=1) > 0
        safe = np.where(self.curved[:, None, None], of.hessian.mean(axis=(1, 2)), np.eye(self.dim))
        found = np.linalg.solve(safe, of.linear.mean(axis=(1, 2))[..., None])[..., 0]
        self.minimiser = np.where(self.curved[:, None], found, 0.0)
        self.centred = _is_the_same_elsewhere(one)

    def point(self, name: str, n: int) -> Any:
        if name in self.places:
            return self.unknown(self.places[name])
        if name != "xstar":
            raise UndecidedError("a client's minimiser")
        found = self.zeros(self.dim, self.size + 1)
        if not self.centred:
            found[..., -1] = self.minimiser
        found[~self.curved] = np.nan
        return found

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        own = (slice(None), *which_of(name, at))
        over = tuple(range(1, 1 + 3 - len(own)))
        hessian, linear = self.of.hessian[own].mean(axis=over), self.of.linear[own].mean(axis=over)
        if not self.centred:
            return hessian, linear, 0.0
        still = (hessian @ self.minimiser[..., None])[..., 0]
        constant = ((still / 2 - linear) * self.minimiser).sum(axis=1)
        if name == "f":
            return hessian, np.where(self.curved[:, None], 0.0, linear), self._lowest
        return hessian, linear - still, constant

    @cached_property
    def _lowest(self) -> Array:
        return -(self.of.linear.mean(axis=(1, 2)) * self.minimiser).sum(axis=1) / 2

    @property
    def infimum(self) -> Any:
        return np.where(self.curved, self._lowest, np.nan)[:, None, None]


class _Stretches(_Arrays):
    """One point of piecewise quadratics, in each stretch between knots: (B, M + 1) of them."""

    dim = size = 1

    def __init__(self, of: Hinges) -> None:
        self.many, self.of = (len(of), of.at.shape[1] + 1), of
        N, n = of.which.shape
        self.problem = _Sizes(N, (n,) * N, 1)

    def point(self, name: str, n: int) -> Any:
        if name == "xstar_n" or (name == "xstar" and not self.of.least):
            raise UndecidedError("a minimiser that is not known")
        return self.zeros(1, 2) if name == "xstar" else self.unknown(0)

    def function(self, name: str, at: Mapping[str, int], v: Any) -> tuple[Any, Any, Any]:
        own = self.of.which[which_of(name, at)]
        share = np.bincount(np.ravel(own), minlength=self.of.which.max() + 1) / np.size(own)
        if not v[..., 0, 0].any():  # at the centre
            return self.zeros(1, 1), self.zeros(1) + (self.of.linear @ share)[:, None, None], 0.0
        curved, steep, value = (one[:, 0] for one in self.of.combined(share[None]))
        knot = self.of.at
        knot, steep, value = (np.concatenate([one[:, :1], one], axis=1) for one in (knot, steep, value))
        linear = curved * knot - steep
        constant = value + linear * knot - curved * knot**2 / 2
        return curved[..., None, None], linear[..., None], constant

    @property
    def infimum(self) -> Any:
        return self.of.lowest("f")[0][:, :1, None, None]

    @property
    def where(self) -> Where:
        """The ends of each stretch, (B, M + 1)."""
        far = np.full((len(self.of), 1), np.inf)
        return np.concatenate([-far, self.of.at], axis=1), np.concatenate([self.of.at, far], axis=1)


# --- what forms come to -----------------------------------------------------------------------------------------------


def _least(form: Array, where: Where) -> tuple[Array, Array]:
    """The infimum of each form, minus infinity being NaN, and the size of its numbers."""
    if where is None:
        return _least_anywhere(form)
    a, b, c = form[..., 0, 0], form[..., 0, 1], form[..., 1, 1]
    low, high = where
    still = np.clip(np.where(a > 0, -b / a, np.where((a < 0) | (b > 0), low, high)), low, high)
    still = np.where((a == 0) & (b == 0), np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0)), still)
    both = np.where(a < 0, np.where(np.isfinite(high), high, np.inf), still)  # of concave ones both ends
    length = np.max([np.where(np.isfinite(x), np.abs(x), 0).max(axis=1) for x in where], axis=0)
    found: Any = np.inf
    size = np.abs(c) + (np.abs(a).max(axis=1) * length**2)[:, None]
    for x in (still, both):
        value = np.where(np.isfinite(x), (a * x + 2 * b) * x + c, np.nan)
        found = np.minimum(found, value)
        size = np.maximum(size, np.where(np.isfinite(x), np.abs(a) * x**2 + np.abs(2 * b * x), 0))
    worst = np.where(np.isnan(found).any(axis=1), 0, np.argmin(found - ROUNDED * size, axis=1))[:, None]
    none = np.isnan(found).any(axis=1)
    return np.where(none, np.nan, np.take_along_axis(found, worst, 1)[:, 0]), np.take_along_axis(size, worst, 1)[:, 0]


def _least_anywhere(form: Array) -> tuple[Array, Array]:
    rows, last = form.copy(), form.shape[-1] - 1
    block = np.abs(form[:, :last, :last]).max(axis=(1, 2))
    slopes, size = np.abs(form[:, :last, last]).max(axis=1), np.abs(form[:, last, last])
    none = np.zeros(len(form), bool)
    for k in range(last):
        pivot, rest = rows[:, k, k], rows[:, k, k + 1 :]
        flat = np.abs(pivot) <= ROUNDED * block
        beside = np.abs(rest[:, : last - k - 1]).max(axis=1, initial=0)
        none |= (pivot < -ROUNDED * block) | (flat & (beside > 1e-6 * block))
        none |= flat & (np.abs(rest[:, -1]) > 1e-9 * np.maximum(slopes, np.sqrt(block * np.abs(form[:, last, last]))))
        ratio = np.where(flat[:, None], 0.0, rest / np.where(flat, 1.0, pivot)[:, None])
        size = size + np.abs(ratio[:, -1] * rest[:, -1])
        rows[:, k + 1 :, k + 1 :] -= ratio[:, :, None] * rest[:, None, :]
    return np.where(none, np.nan, rows[:, last, last]), size


@dataclass(frozen=True)
class _Condition:
    """That forms, whose coefficients are polynomials in constants, are nowhere negative."""

    terms: Terms
    where: Where

    def form(self, values: Mapping[str, Any]) -> Array:
        total: Any = 0.0
        for monomial, coefficient in self.terms.items():
            factor: Any = 1.0
            for name, power in monomial:
                value = values[name]
                factor = factor * (value.reshape(-1, *[1] * (coefficient.ndim - 1)) if np.ndim(value) else value) ** power
            total = total + coefficient * factor
        return np.asarray(total)

    def holds(self, values: Mapping[str, Any]) -> Array:
        least, size = _least(self.form(values), self.where)
        return np.asarray(least >= -ROUNDED * size)

    def exponents(self, name: str) -> frozenset[int]:
        return frozenset(power for monomial in self.terms for other, power in monomial if other == name)

    def lifted(self, name: str, values: Mapping[str, Any]) -> Array | None:
        """By how much c**power moves its constant term, (B,), where it moves nothing else."""
        own = _Condition({m: v for m, v in self.terms.items() if name in dict(m)}, None)
        if not own.terms:
            return np.zeros(())
        form = own.form({**values, name: 1.0})
        if form[..., :-1, :].any():
            return None
        corner = form[..., -1, -1]
        return corner if corner.ndim == 1 else corner[:, 0]


# --- constants --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sentence:
    one: ForEvery
    conditions: Sequence[_Condition]
    count: int

    def filled(self, values: dict[str, Any], open_: Sequence[str]) -> dict[str, Any]:
        """As `validate.satisfied.every.best` does it; NaN where there are none."""
        if not open_:
            return values
        name, *later = open_
        up = self.one.binds[name] == "up"
        end = self.end({**values, **{other: self.large(other) for other in later}}, name, up)
        if not later:
            return {**values, name: end}
        first, second = (
            self.filled({**values, name: value}, later) for value in (end, end * ROOM if up else end / ROOM)
        )
        worse = np.isnan(first[later[0]])
        for other in later:
            less, more = (first, second) if self.one.binds[other] == "up" else (second, first)
            worse = worse | (less[other] > MORE * more[other])
        return {key: np.where(worse, second[key], first[key]) for key in first}

    def large(self, name: str) -> float:
        down = self.one.binds[name] == "down"
        return -(2.0**RANGE) if down and name in self.one.signed else 2.0 ** (-RANGE if down else RANGE)

    def end(self, values: Mapping[str, Any], name: str, up: bool) -> Array:
        """The least (up) or largest constant, (B,)."""
        signed = name in self.one.signed
        powers = frozenset[int]().union(*(c.exponents(name) for c in self.conditions))
        lifts = [c.lifted(name, values) for c in self.conditions]
        if (up or signed) and powers in ({1}, {2}) and not any(lift is None for lift in lifts):
            return self._quotient([np.asarray(lift) for lift in lifts], {**values, name: 0.0}, max(powers), up, signed)
        if not signed:
            return self._bisected(lambda c: self.hold({**values, name: c}), up)
        there = self.hold({**values, name: np.zeros(self.count)})
        above = self._bisected(lambda c: self.hold({**values, name: c}), up)
        below = -self._bisected(lambda c: self.hold({**values, name: -c}), not up)
        found = np.where(there == up, below, above)
        return np.where(np.isnan(found) & there, 0.0, found)

    def hold(self, values: Mapping[str, Any]) -> Array:
        return np.logical_and.reduce([c.holds(values) for c in self.conditions])

    def _quotient(
        self, lifts: Sequence[Array], without: Mapping[str, Any], power: int, up: bool, signed: bool
    ) -> Array:
        needed = np.full(self.count, (-np.inf if up else np.inf) if signed else 0.0)
        for condition, lift in zip(self.conditions, lifts, strict=True):
            least, size = _least(condition.form(without), condition.where)
            moves = np.broadcast_to(lift != 0, least.shape)
            asked = np.where(moves, -least / np.where(moves, lift, 1.0), needed)
            if not signed:
                asked = np.where(least >= -ROUNDED * size, np.minimum(asked, 0.0), asked)
            needed = (np.maximum if up else np.minimum)(needed, asked)  # NaN stays
            needed = np.where(np.isnan(least) | (~moves & (least < -ROUNDED * size)), np.nan, needed)
        needed = np.where(np.isinf(needed), 0.0, needed)
        return np.asarray(needed if power == 1 else np.sqrt(needed))

    def _bisected(self, holds: Callable[[Array], Array], up: bool) -> Array:
        good, bad = (np.full(self.count, RANGE if up == larger else -RANGE) for larger in (True, False))
        possible, always = holds(2.0**good), holds(2.0**bad)
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            there = holds(2.0**middle)
            good, bad = np.where(there, middle, good), np.where(there, bad, middle)
        found = np.where(always, 0.0 if up else 1.0, 2.0**good)
        return np.where(possible, found, np.nan)


def best(one: ForEvery, of: Problems | Hinges) -> Best:
    """The best value of each constant, (B,), and where there are any. Errors as of `validate.satisfied.forms`."""
    space: _Arrays = _Stretches(of) if isinstance(of, Hinges) else _Quadratics(one, of)
    where = space.where if isinstance(space, _Stretches) else None
    with np.errstate(all="ignore"):
        conditions = []
        for gap in gaps(one, space.problem, {}):
            terms = {m: np.asarray(form) for m, form in gap(space).items()}
            conditions.append(_Condition(terms, where))
        said = _Sentence(one, conditions, len(of))
        names = [text_of(c) for c in one.constants]
        if not names:
            return (), said.hold({})
        ones = dict.fromkeys(names, 1.0)
        order = sorted(names, key=lambda name: all(c.lifted(name, ones) is not None for c in conditions))
        found = said.filled({}, order)
    numbers = tuple(found[name] for name in names)
    true = np.logical_and.reduce([np.isfinite(number) for number in numbers])
    return tuple(np.where(true, number, 1.0) for number in numbers), true


@lru_cache(maxsize=256)
def _is_the_same_elsewhere(one: ForEvery) -> bool:
    """Whether a sentence says the same of a function that is moved: seen on one."""
    there, moved = (Piecewise((t - 1, t), (F(1), F(2), F(1))).still_at(t) for t in (F(0), F(7)))
    found = satisfied.best(one, Pieces(((there,),)))
    return found is not None and found == satisfied.best(one, Pieces(((moved,),)))


@lru_cache(maxsize=256)
def knows(one: ForEvery, pieces: bool) -> bool:
    """Whether the best constants of a sentence can be told so: tried on one small problem."""
    from validate.batch.bests import Problems

    if len(one.binds) < len(one.constants) or (pieces and len(one.points) > 1):
        return False
    try:
        if pieces:
            best(one, Hinges(np.ones((1, 1, 1)), np.ones((1, 1, 2)), np.zeros((1, 1)), np.zeros((1, 1), int), True))
            return _is_the_same_elsewhere(one)  # knots are counted from the minimiser
        else:
            best(one, Problems(np.ones((1, 1, 1, 1, 1)), np.ones((1, 1, 1, 1))))
    except (UndecidedError, UndefinedError, ValueError, ZeroDivisionError):
        return False
    return True


__all__ = ["best", "knows"]
