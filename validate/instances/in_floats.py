"""Claims about numbers alone in floats, where a formula takes a microsecond: every pair of integers, and ridges.

A bound on ``K*p*(1 - p)**K`` is false only where p is near 1/K and K in the thousands; whoever makes one number larger
at a time leaves that ridge at once. Here an integer is doubled, and the other numbers climb to where left over right is
largest for it, before it is doubled again. What floats call broken counts only as an instance that fractions break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor, isfinite
from typing import TypeAlias

from theory.claim import Claim
from theory.derivation.search.settings import compiled
from theory.formula import Apply
from theory.program import work
from theory.sentence import OVER, Expression, everything, index_of, replaced
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.equations import equations
from validate.instances.ladder import ratio_of
from validate.instances.longer import ROUNDS, is_integer
from validate.instances.pool import has_functions
from validate.instances.seen import Hunt, Seen, measured

F = Fraction
Values: TypeAlias = dict[str, float]
Side: TypeAlias = Callable[[Mapping[str, float]], float]
PAIRS = 700
"""Of each of two integers, where a claim has no other number: every pair."""
DOUBLINGS, TIGHTEST, STILL = 20, 3, 4
"""Of each integer, of so many instances; doublings that bring nothing, after which it is left."""
FACTORS = (4.0, 2.0, 1.3, 1.1, 1.03, 1.01, 1.003, 1.001)
"""By which numbers are moved, the coarsest first."""
PASSES = 12
"""Of all numbers with one factor, at most."""
CLEARLY = 1e-11
"""Left minus right over their sum, from which on floats call a claim broken."""
LARGEST = 2.0**50
MIDDLING, BY_FAR, MOST_BETWEEN = 2.0**20, 1e-6, 6
"""Of integers between which a claim is looked at, the largest, a score that rounding does not make of them, and their
number, at most: all corners around them are asked."""
SHORT = (10, 1000, 10**6, 10**9, 10**15)
"""Denominators of the fractions that are tried in the place of a float."""
MOST_EXACT = 6
"""Breaks in floats that are looked at in fractions."""
EVALUATED = 5
"""A claim in floats, so many times, is an operation (`theory.program.work`)."""


@dataclass(frozen=True)
class _InFloats:
    """A claim about numbers alone.

    Attributes:
        claim: the claim.
        names: of its numbers, those that equations give left out.
        between: its integers that are any numbers here, as long as the integers around them are among those of which
            it speaks.
    """

    claim: Claim
    names: tuple[str, ...]
    between: tuple[str, ...] = ()

    @cached_property
    def integers(self) -> list[str]:
        """Those of its numbers that are integers."""
        return [name for name in self.names if is_integer(self.claim, name)]

    @cached_property
    def given(self) -> list[tuple[str, Side]]:
        """What equations say numbers to be."""
        return [(name, _function(self.claim, side)) for name, side in equations(self.claim)]

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """Both, the smaller first if the claim is true."""
        left, right = (_function(self.claim, side) for side in self.claim.sentence.sides)
        return (right, left) if self.claim.sentence.relation in (">=", ">") else (left, right)

    @cached_property
    def relations(self) -> list[tuple[Side, Side, bool]]:
        """The sides of what is assumed but for equations, the smaller first, and whether they may not be equal."""
        found = list[tuple[Side, Side, bool]]()
        for one in self.claim.relations:
            if one.relation != "==":
                left, right = (_function(self.claim, side) for side in one.sides)
                smaller_first = (right, left) if one.relation in (">=", ">") else (left, right)
                found.append((*smaller_first, one.relation in ("<", ">")))
        return found

    def score(self, at: Values) -> float | None:
        """(left - right)/(abs(left) + abs(right)); None where the claim does not speak of the numbers."""
        try:
            if not (self._related(at) and all(self._related(corner) for corner in self._around(at))):
                return None
            left, right = (side(at) for side in self.sides)
        except (ValueError, TypeError):  # undefined, or a power of a negative number
            return None
        size = abs(left) + abs(right)
        return (left - right) / size if 0 < size < LARGEST else None

    def _related(self, at: Values) -> bool:
        """Whether what is assumed is so; what equations give is put in."""
        for name, function in self.given:
            at[name] = function(at)
        for smaller, larger, strict in self.relations:
            small, large = smaller(at), larger(at)
            if small > large or (strict and small == large):
                return False
        return True

    def _around(self, at: Values) -> Iterator[Values]:
        """The numbers with the integers around those that are between."""
        if self.relations and self.between:
            for corner in product(*((floor(at[name]), ceil(at[name])) for name in self.between)):
                yield {**at, **dict(zip(self.between, map(float, corner), strict=True))}

    def climbed(self, at: Values, free: list[str]) -> tuple[float, Values] | None:
        """Numbers moved by factors for as long as the score grows; None where it has none."""
        best = self.score(at)
        if best is None:
            return None
        for factor in FACTORS:
            for _ in range(PASSES):
                before = best
                for name in free:
                    for moved in _moved(at[name], factor):
                        there = {**at, name: moved}
                        score = self.score(there)
                        if score is not None and score > best and self.allows(name, moved):
                            best, at = score, there
                if best <= before:
                    break
        return best, at

    def allows(self, name: str, value: float) -> bool:
        """Whether a value is in the domain of a name; of one that is between, whether the integers around it are."""
        if not isfinite(value) or (name in self.between and value > MIDDLING):
            return False
        domain, around = self.claim.domains.get(name), (floor, ceil) if name in self.between else (F,)
        return domain is None or all(domain.contains(F(how(value))) for how in around)

    def exact(self, base: Candidate, at: Values) -> Seen | None:
        """The instance with such numbers that breaks the claim in fractions, the shortest first; None without one."""
        for most in SHORT:
            near = {name: F(at[name]).limit_denominator(most) for name in self.names}
            score = self.score({**at, **{name: float(x) for name, x in near.items()}})
            if score is None or score <= CLEARLY:
                continue
            rounds = int(near.get(ROUNDS, base.rounds))
            one = realised(self.claim, replace(base, values={**base.values, **near}, rounds=rounds))
            seen = None if one is None else measured(self.claim, one)
            if seen is not None and seen.measured.broken:
                return seen
        return None


def in_floats(claim: Claim, found: Hunt, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances of a claim about numbers alone that break it: pairs of integers, and integers with what fits them."""
    here = _read(claim)
    if here is None or not found.seen:
        return
    integers = here.integers
    bases = _tightest(found)
    if len(here.names) == len(integers) == 2:
        yield from _pairs(here, bases[0], integers, stop)
    for base in bases:
        for name in integers:
            yield from _along(here, base, name, integers, found, stop)


def between_integers(claim: Claim, found: Hunt) -> Values | None:
    """Numbers at which a claim about numbers alone is false in floats, those that are to be integers between two that
    it allows; None where it was not seen to be.

    What is true of integers and not between them, such as that ``m**2 - 61*b**2`` is never 1, may be false at few and
    large ones only: that others were tried tells nothing of these.
    """
    here = _read(claim)
    if here is None or not 0 < len(here.integers) <= MOST_BETWEEN:
        return None
    here = replace(here, between=tuple(here.integers))
    for base in _tightest(found):
        start = _values(base)
        for by in (0.5, -0.5) if all(name in start for name in here.names) else ():
            at = {name: value + by if name in here.between else value for name, value in start.items()}
            allowed = all(here.allows(name, at[name]) for name in here.between)
            told = here.climbed(at, [*here.names]) if allowed else None
            if told is not None and told[0] > BY_FAR:
                return {name: told[1][name] for name in here.names}
    return None


def _read(claim: Claim) -> _InFloats | None:
    """A claim about numbers alone that floats can measure; None for others."""
    if claim.of is not None or claim.vectors or has_functions(claim) or claim.free or claim.sentence.relation == "==":
        return None
    names = [*dict.fromkeys(index_of(symbol)[0] for symbol in claim.symbols)]
    given = {name for name, _ in equations(claim)}
    try:
        here = _InFloats(claim, tuple(name for name in names if name not in given))
        _ = here.sides, here.relations, here.given
    except ValueError:  # something in it is no number
        return None
    tied = any(symbol != index_of(symbol)[0] for symbol in claim.symbols) or _other_equations(claim)
    return None if tied else here


def _tightest(found: Hunt) -> list[Candidate]:
    """The instances at which left is nearest to right."""
    return [candidate_of(seen.drawn) for seen in sorted(found.seen, key=lambda seen: -seen.score)[:TIGHTEST]]


def _pairs(here: _InFloats, base: Candidate, names: list[str], stop: Callable[[], bool]) -> Iterator[Seen]:
    """Every pair of values of two integers."""
    one, two = names
    tried, start = 0, _values(base)
    allowed = {name: [v for v in range(1, PAIRS + 1) if here.allows(name, v)] for name in names}
    for v in allowed[one]:
        if stop() or tried == MOST_EXACT:
            return
        work.count(len(allowed[two]) // EVALUATED)
        for w in allowed[two]:
            at = {**start, one: float(v), two: float(w)}
            score = here.score(at)
            if score is not None and score > CLEARLY and tried < MOST_EXACT:
                tried += 1
                seen = here.exact(base, at)
                if seen is not None:
                    yield seen


def _along(
    here: _InFloats, base: Candidate, name: str, integers: list[str], found: Hunt, stop: Callable[[], bool]
) -> Iterator[Seen]:
    """One integer doubled, the numbers that are none climbing with it; how left over right grows is kept."""
    free = [other for other in here.names if other not in integers]
    start = _values(base)
    if not free or name not in start or any(other not in start for other in here.names):
        return
    at, best, still, rungs = start, -1.0, 0, list[tuple[int, float]]()
    for doubling in range(DOUBLINGS):
        if stop() or still == STILL:
            break
        value = start[name] * 2.0**doubling
        if not here.allows(name, value):
            break
        work.count(len(free) * PASSES * len(FACTORS) // EVALUATED)
        some = [here.climbed(one, free) for one in _starts(at, name, value, free)]
        told = max((one for one in some if one is not None), key=lambda one: one[0], default=None)
        if told is None:
            break
        score, at = told
        rungs.append((int(value), ratio_of(min(score, 0.999))))
        still = still + 1 if score <= best else 0
        best = max(best, score)
        if score > CLEARLY:
            seen = here.exact(base, at)
            if seen is not None:
                yield seen
            return
    if rungs:
        found.reached.rungs.append((name, tuple(rungs)))


def _starts(at: Values, name: str, value: float, free: list[str]) -> Iterator[Values]:
    """Numbers for a larger integer: as they were, or one of them as much smaller, or larger."""
    by = value / at[name]
    yield {**at, name: value}
    for other in free if by != 1 else ():
        yield {**at, name: value, other: at[other] / by}
        yield {**at, name: value, other: at[other] * by}


def _values(base: Candidate) -> Values:
    numbers = {name: x for name, x in base.values.items() if isinstance(x, F) and abs(x) < LARGEST**2}
    return {ROUNDS: float(base.rounds)} | {name: float(x) for name, x in numbers.items()}


def _moved(value: float, factor: float) -> Iterator[float]:
    """A number times a factor, over it, and as much closer to 1."""
    yield value * factor
    yield value / factor
    if 0 < value < 1:
        yield 1 - (1 - value) / factor
        yield 1 - (1 - value) * factor


def _function(claim: Claim, e: Expression) -> Side:
    """A side in floats.

    Raises:
        ValueError: where it is no formula of numbers.
    """
    whole = replaced(e, claim.definitions)
    if any(isinstance(part, Apply) and part.operation in OVER for part in everything(whole)):
        raise ValueError("it goes over an index")
    return compiled(whole)


def _other_equations(claim: Claim) -> bool:
    """Whether it assumes equations that give no name."""
    return sum(relation.relation == "==" for relation in claim.relations) > len([*equations(claim)])
