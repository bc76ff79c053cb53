"""Claims in which constants are numbers: searched with names in their place, of every value.

``smooth(f, 1)`` and ``eta <= 1``, ``norm2(x0 - xstar) <= 1`` and a right side without that distance: whoever writes so
measures in units in which they are 1. With a curvature L and a length R beside every number that has a unit, the claim
is one of all units, and with L = R = 1 it is what was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.predicates import Predicate
from theory.sentence import Expression, Sentence, applied, everything, index_of, parts, replaced, text_of
from validate.instances.any_units import AnyUnits, number_of, power_of, powers_in
from validate.instances.units import (
    CONSTANTS,
    CURVATURE,
    ONE,
    POINT,
    Reader,
    Unit,
    Units,
    units_of,
)

F = Fraction
CURVATURES, LENGTHS = ("L", "ell", "curvature"), ("R", "radius", "span")
"""Names, of which the first is taken that a claim does not have."""
ALIKE = frozenset({"+", "-", "min", "max", "larger"})
"""Operations all of whose parts have one unit."""


@dataclass
class _Naming:
    """Puts names beside numbers, so that units fit.

    Attributes:
        units: as far as they are known.
        reader: of units of formulas.
        curvature, length: the names.
        number: what the curvature is in the claim.
        used: those of the names that were needed.
    """

    units: Units
    reader: Reader
    curvature: str
    length: str
    number: Fraction
    used: set[str] = field(default_factory=set)

    def of_sentence(self, sentence: Sentence) -> Sentence:
        """A sentence whose sides have one unit."""
        left, unit = self.of(sentence.left)
        right, other = self.of(sentence.right)
        return Sentence(left, sentence.relation, self._fitted(right, other, unit))

    def of(self, e: Expression) -> tuple[Expression, Unit]:
        """A formula whose parts have units that fit, and its unit."""
        if not isinstance(e, Apply):
            return e, self.reader.unit(e)
        inner = [self.of(part) for part in parts(e)]
        trees = [tree for tree, _ in inner]
        if e.operation in ALIKE:
            first = self.units.reduced(inner[0][1])
            trees[1:] = [self._fitted(tree, unit, first) for tree, unit in inner[1:]]
            return applied(e.operation, tuple(trees)), self.units.reduced(first)
        new = applied(e.operation, tuple(trees))
        return new, self.reader.of_operation(new, [self.units.reduced(unit) for _, unit in inner])

    def _fitted(self, e: Expression, unit: Unit, to: Unit) -> Expression:
        """The formula, of a unit, times powers of the names, so that it has another unit."""
        rest = self.units.reduced(to).over(self.units.reduced(unit))
        if rest.unknown:
            self.units.same(unit, to, text_of(e))
            return e
        length, curvature = power_of(rest)
        for name, power, worth in ((self.curvature, curvature, self.number), (self.length, length, F(1))):
            if power:
                self.used.add(name)
                e = times(e, name, power, worth)
        return e


def with_named_units(claim: Claim) -> AnyUnits | None:
    """The claim with names for the units of its numbers; None where these have none, or no text says it."""
    try:
        return _with_named_units(claim)
    except ValueError:
        return None


def _with_named_units(claim: Claim) -> AnyUnits | None:
    predicates = [one for one in claim.predicates if not isinstance(one, ForEvery)]
    said = any(any(_numbers(one)) for one in predicates) or any(_bounds_a_quantity(r, claim) for r in claim.relations)
    if len(predicates) < len(claim.predicates) or not said or not units_of(claim).conflicts:
        return None
    taken = {*claim.symbols, *claim.where, *claim.vectors, *(() if claim.of is None else claim.of.parameters)}
    curvature, length = (next((n for n in some if n not in taken), "") for some in (CURVATURES, LENGTHS))
    if not curvature or not length:
        return None
    plain = [_inlined(one, claim) for one in predicates]
    number = next((v for one in plain for unit, v in _numbers(one) if unit == CURVATURE), F(1))
    named = [_with_names(one, curvature, length, number) for one in plain]
    texts = tuple(one.text for one in named)
    bare: dict[str, Any] = {"standing": (), "where": {}, "parameters": {}, "printed": {}, "given": (), "proof": None}
    known = replace(claim, statement="norm2(x0 - x0) >= 0", assuming=texts, **bare)
    units = units_of(known)
    if units.conflicts or units.unknown:
        return None
    units.same(units.of(curvature), CURVATURE, curvature)
    units.same(units.of(length), POINT, length)
    naming = _Naming(units, Reader(known, units), curvature, length, number)
    naming.used |= {
        part.name for one in named for c in one.constants for part in everything(c) if isinstance(part, Name)
    }
    relations = tuple(str(naming.of_sentence(_put_in(one, claim))) for one in claim.relations)
    new = {name: value for name, value in ((curvature, number), (length, F(1))) if name in naming.used}
    sentence = naming.of_sentence(_put_in(claim.sentence, claim))
    if not new or units.conflicts or not naming.used <= {*new, *taken}:
        return None
    free = replace(known, statement=str(sentence), assuming=(*texts, *relations))
    names = {*free.symbols, *(index_of(symbol)[0] for symbol in free.symbols)}
    free = replace(free, parameters={name: domain for name, domain in claim.parameters.items() if name in names})
    chosen = tuple((Name(n), v, power_of(CURVATURE if n == curvature else POINT)) for n, v in new.items())
    told = f"the same with {' and '.join(f'{name} for {value}' for name, value in new.items())}: {free.statement}"
    return AnyUnits(claim, free, told, chosen, powers_in(free, units_of(free)), frozenset(new))


def _bounds_a_quantity(relation: Sentence, claim: Claim) -> bool:
    """Whether it compares a number with something of a problem; with parameters alone, a name was forgotten."""
    parameters = {index_of(symbol)[0] for symbol in claim.symbols}
    for one, other in (relation.sides, relation.sides[::-1]):
        names = {index_of(part.name)[0] for part in everything(other) if isinstance(part, Name)}
        if number_of(one) and not names <= parameters:
            return True
    return False


def _put_in(sentence: Sentence, claim: Claim) -> Sentence:
    """A sentence without names that are defined."""
    left, right = (replaced(side, claim.definitions) for side in sentence.sides)
    return Sentence(left, sentence.relation, right)


def _inlined(one: Predicate, claim: Claim) -> Predicate:
    return replace(one, constants=tuple(replaced(c, claim.definitions) for c in one.constants))


def _numbers(one: Predicate) -> Iterator[tuple[Unit, Fraction]]:
    """The units and the values of its constants that are numbers."""
    for constant, unit in zip(one.constants, CONSTANTS.get(type(one), ()), strict=False):
        value = number_of(constant)
        if value and unit != ONE:
            yield unit, value


def _with_names(one: Predicate, curvature: str, length: str, number: Fraction) -> Predicate:
    """An assumption whose numbers are multiples of powers of the names."""
    constants = list(one.constants)
    for i, (constant, unit) in enumerate(zip(constants, CONSTANTS.get(type(one), ()), strict=False)):
        value, (of_length, of_curvature) = number_of(constant), power_of(unit)
        if value and unit != ONE:
            names = ((curvature, of_curvature, number), (length, of_length, F(1)))
            constants[i] = Number(value)
            for name, power, worth in names:
                constants[i] = times(constants[i], name, power, worth)
    return replace(one, constants=tuple(constants))


def times(e: Expression, name: str, power: Fraction, worth: Fraction) -> Expression:
    """A formula times a power of a name that stands for a number, in units of that; a bare name where it can be."""
    if not power:
        return e
    value = number_of(e) if power.denominator == 1 else None
    if value == worth**power and power > 0:
        return Name(name) if power == 1 else applied("**", (Name(name), Number(power)))
    if value == worth**power:
        e, worth = Number(F(1)), F(1)
    whole = Name(name) if worth == 1 else applied("/", (Name(name), Number(worth)))
    scaled = whole if abs(power) == 1 else applied("**", (whole, Number(abs(power))))
    return applied("*" if power > 0 else "/", (e, scaled))
