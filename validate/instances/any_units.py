"""Claims that choose their units: searched in all of them, and what breaks them is put into those that they chose.

``norm2(x0 - xstar) == 1``, or ``L == 1``, "without loss of generality", says nothing where both sides scale alike. No
search that moves functions and starts meets such an equation but by chance. With f, the functions c*f(x/s) satisfy the
same assumptions with other constants; s and c are those for which the equation holds, and the instance counts for what
it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any, TypeAlias

import numpy as np

from theory.claim import Claim
from theory.for_every import assumption
from theory.formula import Name, Number
from theory.sentence import Expression, Sentence, everything, factors_of, index_of
from validate.instances.anywhere import without
from validate.instances.candidates import (
    Candidate,
    candidate_of,
    minimiser_of,
    of_units,
    realised,
    setting_of,
    worth,
)
from validate.instances.outcomes import measured_at_length
from validate.instances.pool import Drawn
from validate.instances.seen import Seen
from validate.instances.units import ONE, Unit, Units, unit_in, units_of

F = Fraction
PARTS = 1000
"""Of 1, to which a direction is rounded whose length has to be a fraction."""
Power: TypeAlias = "tuple[Fraction, Fraction]"
"""By which powers of the unit of length, at the same curvatures, and of that of curvature something is multiplied."""


@dataclass(frozen=True)
class AnyUnits:
    """A claim without what chooses its units.

    Attributes:
        claim: the claim with it.
        free: without it.
        told: in words, how it is searched.
        chosen: what is to be which number, and by which powers it is multiplied.
        powers: those of every name.
        new: names of the general form that the claim does not have.
    """

    claim: Claim
    free: Claim
    told: str
    chosen: tuple[tuple[Expression, Fraction, Power], ...]
    powers: Mapping[str, Power]
    new: frozenset[str] = frozenset()

    def moved(self, seen: Seen) -> Seen | None:
        """An instance in the units of the claim, where there are such."""
        c = candidate_of(seen.drawn)
        for near in (c, *_of_rational_distance(c)):
            there = self._in_its_units(near, seen.drawn if near is c else None)
            found = None if there is None else measured_at_length(self.claim, there)
            if found is not None:
                return found
        return None

    def _in_its_units(self, c: Candidate, of: Drawn | None) -> Drawn | None:
        """The candidate in the claim's units; with the constants of its instance, where it is of one."""
        known = dict(c.values)
        world = setting_of(self.free, c, known)
        if of is not None:
            known.update({name: of.values[name] for name in self.free.constants if name in of.values})
        ratios = []
        for tree, number, _ in self.chosen:
            now = None if world is None else worth(tree, world, self.free)
            if not isinstance(now, Fraction) or now <= 0:
                return None
            ratios.append(number / now)
        scales = solved([power for _, _, power in self.chosen], ratios)
        if scales is None:
            return None
        factors = {name: _scaled(scales, power) for name, power in self.powers.items()}
        if None in factors.values():
            return None
        values = {
            name: multiplied(value, factors.get(name)) for name, value in c.values.items() if name not in self.new
        }
        vectors = {name: multiplied(v, factors.get(name)) for name, v in c.vectors.items()}
        constants = {
            name: multiplied(of.values[name], factors.get(name))
            for name in self.claim.constants
            if of is not None and name in of.values
        }
        try:
            return realised(self.claim, replace(of_units(c, *scales), values=values, vectors=vectors), constants)
        except (ValueError, KeyError, ZeroDivisionError, ArithmeticError):
            return None


def in_any_units(claim: Claim) -> AnyUnits | None:
    """The claim without the equations that choose its units; None where there are none, or its sides scale unlike."""
    equations = {text: found for text in (*claim.assuming, *claim.standing) if (found := _number_given(text))}
    if not equations:
        return None
    free = without(claim, equations)
    units = units_of(free)
    if units.conflicts or units.unknown:
        return None
    chosen = {}
    for text, (tree, number) in equations.items():
        unit = unit_in(free, units, tree)
        if unit != ONE and not unit.unknown:
            chosen[text] = (tree, number, power_of(unit))
    powers_of = [power for _, _, power in chosen.values()]
    if len(chosen) not in (1, 2) or (len(chosen) == 2 and not determinant(*powers_of)):  # a ratio is given, too
        return None
    told = f"the same without {' and '.join(chosen)}, put into those units"
    return AnyUnits(claim, without(claim, chosen), told, tuple(chosen.values()), powers_in(free, units))


def powers_in(claim: Claim, units: Units) -> dict[str, Power]:
    """By which powers every name of a claim is multiplied, as far as its unit is known."""
    names = {*claim.vectors, *(index_of(symbol)[0] for symbol in claim.symbols)}
    of_names = {name: units.of(name) for name in sorted(names)}
    return {name: power_of(unit) for name, unit in of_names.items() if not unit.unknown}


def _number_given(text: str) -> tuple[Expression, Fraction] | None:
    """What an equation says to be which positive number."""
    sentence = assumption(text)
    if not isinstance(sentence, Sentence) or sentence.relation != "==":
        return None
    for one, other in (sentence.sides, sentence.sides[::-1]):
        names = any(isinstance(part, Name) for part in everything(one))
        number = number_of(other)
        if names and number is not None and number > 0:
            return one, number
    return None


def number_of(e: Expression) -> Fraction | None:
    """A number, or a fraction of numbers."""
    above, below = factors_of(e)
    found = F(1)
    for factor, power in (*((one, 1) for one in above), *((one, -1) for one in below)):
        if not isinstance(factor, Number) or not factor.value:
            return None
        found *= factor.value**power
    return found


def power_of(unit: Unit) -> Power:
    """x^a f^b, where f is a curvature times a squared length."""
    return unit.x + 2 * unit.f, unit.f


def multiplied(value: Any, by: Fraction | None) -> Any:
    """A number or a vector times a number, or each of a list; as it is where there is none to multiply it by."""
    if by is None or by == 1 or value is None:
        return value
    return [one * by for one in value] if isinstance(value, list | tuple) else value * by


def _scaled(scales: tuple[Fraction, Fraction], power: Power) -> Fraction | None:
    """The product of the powers of both; None where it is no fraction."""
    found = [root_of(scale, one) for scale, one in zip(scales, power, strict=True)]
    return None if None in found else found[0] * found[1]  # type: ignore[operator]


def root_of(value: Fraction, power: Fraction) -> Fraction | None:
    """A positive number to a power; None where that is no fraction."""
    roots = [_integer_root(part, power.denominator) for part in (value.numerator, value.denominator)]
    return None if None in roots else Fraction(roots[0], roots[1]) ** power.numerator  # type: ignore[arg-type]


def _integer_root(value: int, order: int) -> int | None:
    if order == 1:
        return value
    near = isqrt(value) if order == 2 else round(value ** (1 / order))
    return near if near**order == value else None


def solved(powers: Sequence[Power], ratios: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """By what lengths and curvatures are multiplied for each to grow by its ratio; None where no fractions do that.

    Of one equation it is one of the two, and the other stays.
    """
    if len(powers) == 1:
        (of_length, of_curvature), ratio = powers[0], ratios[0]
        scale = root_of(ratio, 1 / of_curvature) if of_curvature else None
        if scale is not None:
            return F(1), scale
        scale = root_of(ratio, 1 / of_length) if of_length else None
        return None if scale is None else (scale, F(1))
    (a, b), (c, d) = powers
    by = determinant(*powers)
    if not by:
        return None
    both = (ratios[0], ratios[1])
    length = _scaled(both, (d / by, -b / by))
    curvature = _scaled(both, (-c / by, a / by))
    return None if length is None or curvature is None else (length, curvature)


def determinant(one: Power, other: Power) -> Fraction:
    """It is 0 where they are powers of one another."""
    return one[0] * other[1] - one[1] * other[0]


def _of_rational_distance(c: Candidate) -> Iterator[Candidate]:
    """The candidate with a start close to its own, whose distance from the minimiser is a fraction, and not 0."""
    there = minimiser_of(c) if c.has_functions else None
    if there is None or len(there) != len(c.start):
        return
    away = [float(x) for x in c.start - there]
    length = float(np.linalg.norm(away))
    if length == 0:
        for close in (F(1, PARTS), F(-1, PARTS)):
            yield replace(c, start=np.array([there[0] + close, *there[1:]], dtype=object))
    elif length < float("inf"):
        direction = np.array(of_length_one([x / length for x in away]), dtype=object)
        yield replace(c, start=there + F(length).limit_denominator(PARTS) * direction)


def of_length_one(direction: Sequence[float]) -> list[Fraction]:
    """A vector of fractions of length exactly 1 close to one of floats, by the projection from a pole.

    Args:
        direction: of length 1 up to rounding.
    """
    last = max(range(len(direction)), key=lambda i: abs(direction[i]))
    pole = -1 if direction[last] > 0 else 1  # the one farther away
    rest = [F(x / (1 - pole * direction[last])).limit_denominator(PARTS) for x in direction]
    rest[last] = F(0)
    squares = sum((x * x for x in rest), F(0))
    found = [2 * x / (squares + 1) for x in rest]
    found[last] = pole * (squares - 1) / (squares + 1)
    return found
