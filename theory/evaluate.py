"""A claim's right side as numbers: vectorised float64, rigorous enclosures, or exact fractions.

All functions take the claim and a mapping from parameter names to values, which may be numbers or text as in
`theory.values`. Every bad value is one `ValueError`. A violated hypothesis does not stop an evaluation; `violated`
and `hypotheses` report it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.arithmetic import (
    PRECISIONS,
    Elements,
    Reals,
    UndecidedError,
    Value,
    balls,
    decimals,
    from_elements,
    is_tight,
    to_float,
)
from theory.bound import Bound
from theory.comparison import chain_holds, is_zero
from theory.expression import to_sympy
from theory.floats import Floats
from theory.formula import Formula, Number, UndefinedError, names_in, parse
from theory.operations import Element, to_fraction
from theory.programs import exact_arithmetic
from theory.values import Entry, parse_assignments, read, resolve, unknown_parameter

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

__all__ = [
    "Enclosure",
    "UndefinedError",
    "bound",
    "enclose",
    "exact",
    "exact_terms",
    "hypotheses",
    "inside",
    "parse_assignments",
    "terms",
    "unknown_parameter",
    "violated",
]

TIGHT = 84  # bits: a relative radius of 2**-84 < 1e-25


@dataclass(frozen=True)
class Enclosure:
    """Decimals around the exact value: lower <= value <= upper, also after the conversion to decimal.

    Attributes:
        lower: decimal text; `Fraction(lower)` is at most the exact value.
        upper: decimal text; `Fraction(upper)` is at least the exact value.
        midpoint: a float64 near the value (+-inf where the value is too large for one), between the float64 nearest to
            lower and that nearest to upper; often these are one.
        terms: the same pair for each definition; the entries of a vector are named ``name[0]``, ``name[1]``, ...
    """

    lower: str
    upper: str
    midpoint: float
    terms: dict[str, tuple[str, str]]

    def term(self, name: str, value: float) -> float:
        """A float64 evaluation of a definition, brought to the nearest end of its bounds where it is outside.

        Args:
            name: of the definition, or of an entry of a vector.
            value: its float64 evaluation.
        """
        lower, upper = self.terms[name]
        return inside(value, lower, upper)


def inside(value: float, lower: str, upper: str) -> float:
    """A float64 evaluation, brought between the float64 numbers nearest to the ends of an enclosure in decimals.

    The enclosure is most often narrower than the distance of two float64 numbers, so none need lie in it; the one that
    is returned is the nearest one to some number in it, unless `value` already is such a one.
    """
    low, high = float(lower), float(upper)
    return low if math.isnan(value) else min(max(value, low), high)


def bound(claim: Bound, parameters: Mapping[str, Any]) -> float | Array:
    """The claim's right side in float64.

    Args:
        claim: a claim with a right side.
        parameters: by name; scalar parameters may be arrays, which broadcast; vector parameters have their entries
            along the last axis. Text may use other parameters (``"1/sqrt(K)"``).

    Returns:
        A float, or, when a parameter is an array, an array of the broadcast shape. Entries of an array in which the
        right side is undefined are NaN or infinite.

    Raises:
        ValueError: for a bad parameter (see `theory.values.read`), a claim without right side, or a number that is
            undefined or does not fit float64.
    """
    right = claim.formulas.right
    floats = Floats(claim, parameters)
    if floats.length(right) is not None:
        raise _vector(claim)
    value = floats.right()
    if not floats.shape and not math.isfinite(value):
        terms(claim, parameters)  # raises for the first one that is at fault
    return floats.result(value, "the right side")


def terms(claim: Bound, parameters: Mapping[str, Any]) -> dict[str, float | Array]:
    """Each named definition of the claim in float64; a vector is an array along the last axis. See `bound`."""
    floats = Floats(claim, parameters)
    return {
        name: floats.result(found, f"the term {name}", floats.length(formula))
        for (name, formula), found in zip(claim.formulas.definitions.items(), floats.definitions(), strict=True)
    }


def enclose(claim: Bound, parameters: Mapping[str, Any]) -> Enclosure:
    """Guaranteed decimal bounds on the exact right side and on each definition.

    The values are exact: ``"1/10"`` and ``"0.1"`` are one tenth, and the float ``0.1`` is the binary number that it
    stands for, 3602879701896397/36028797018963968. Values that are rational (of up to 4096 bits) are computed as
    fractions, others by Arb balls with a precision that doubles until the relative radius is below 1e-25 (or, for a
    value that is zero without being recognised as zero, until 8192 bits).

    Args:
        claim: a claim with a right side.
        parameters: by name; no arrays but for vector parameters.

    Raises:
        ValueError: for a bad parameter, a claim without right side, or a right side or term without real value.
    """
    program = claim.formulas.program("all", exact_arithmetic(balls=True))
    entries = read(claim, parameters)
    found: list[Elements] | None = None
    for precision in PRECISIONS:
        with balls(precision) as reals:
            try:
                values = program.run(resolve(claim, entries, parameters, reals))
            except UndecidedError:
                continue
            if isinstance(values[-1], tuple):
                raise _vector(claim)
            found = values
            if all(is_tight(v, TIGHT) for value in values for v in (value if isinstance(value, tuple) else (value,))):
                break
    if found is None:
        raise UndefinedError(f"{claim.id} has no real value here, or none that {PRECISIONS[-1]} bits can tell")
    *definitions, value = found
    terms = _flat(dict(zip(claim.definitions, definitions, strict=True)))
    lower, upper = decimals(value)
    middle = inside(to_float(value), lower, upper)
    return Enclosure(lower, upper, middle, {name: decimals(v) for name, v in terms.items()})


def exact(claim: Bound, parameters: Mapping[str, Any]) -> Fraction:
    """The exact right side, where it is rational (square roots of squares of fractions are).

    Args:
        claim: a claim with a right side.
        parameters: by name; rational values (a float counts as its binary value).

    Raises:
        ValueError: for a bad parameter, a claim without right side, a right side that is undefined or irrational, or a
            fraction of more than four million bits.
    """
    program = claim.formulas.program("right", exact_arithmetic(balls=False))
    environment = resolve(claim, read(claim, parameters), parameters, Reals(None))
    value = program.run(environment)[-1]
    if isinstance(value, tuple):
        raise _vector(claim)
    found: Fraction = to_fraction(value)
    return found


def exact_terms(claim: Bound, parameters: Mapping[str, Any]) -> dict[str, Value]:
    """Each named definition as a Fraction (a tuple of these for a vector). Arguments and errors as for `exact`."""
    environment = resolve(claim, read(claim, parameters), parameters, Reals(None))
    values = claim.formulas.program("definitions", exact_arithmetic(balls=False)).run(environment)
    return {name: from_elements(value) for name, value in zip(claim.definitions, values, strict=True)}


def violated(claim: Bound, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the hypotheses whose relation is false at these values. Arguments and errors as for `hypotheses`."""
    return tuple(h["name"] for h in hypotheses(claim, parameters) if h["holds"] is False)


def hypotheses(claim: Bound, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Whether each hypothesis holds at these values, decided exactly.

    Args:
        claim: the claim.
        parameters: by name, exact as in `enclose`.

    Returns:
        ``{"name": ..., "holds": True, False or None}`` in the claim's order, the standing conditions after the
        hypotheses. A relation that is undefined at these values does not hold. None stands for a hypothesis without
        relation, one that uses names that the claim has no values for, and the rare equality of irrational numbers that
        is not decided. A relation between vectors holds if it does for all entries.

    Raises:
        ValueError: for a bad parameter.
    """
    entries = read(claim, parameters)
    values = _Values(claim, entries, parameters)
    if values.first() is None:
        raise UndefinedError(f"a value given to {claim.id} is undefined, or {PRECISIONS[-1]} bits cannot tell")
    return [
        {"name": h.name, "holds": None if claim.formulas.relations[i] is None else _holds(claim, i, values)}
        for i, h in enumerate(claim.conditions)
    ]


class _Values:
    """The values of the parameters at each precision, found when they are asked for."""

    def __init__(self, claim: Bound, entries: Mapping[str, Entry], parameters: Mapping[str, Any]) -> None:
        self.claim, self.entries, self.parameters = claim, entries, parameters
        self.known: dict[int, dict[str, Elements] | None] = {}

    def at(self, precision: int, reals: Reals) -> dict[str, Elements] | None:
        """None where the precision does not suffice. `flint.ctx` is set to it."""
        if precision not in self.known:
            try:
                self.known[precision] = resolve(self.claim, self.entries, self.parameters, reals)
            except UndecidedError:
                self.known[precision] = None
        return self.known[precision]

    def first(self) -> dict[str, Elements] | None:
        """Those at the least precision that suffices; None where none does."""
        for precision in PRECISIONS:
            with balls(precision) as reals:
                found = self.at(precision, reals)
            if found is not None:  # expressions lie in their domains
                return found
        return None


def _holds(claim: Bound, index: int, values: _Values) -> bool | None:
    relation = claim.formulas.relations[index]
    assert relation is not None
    program = claim.formulas.program(f"hypothesis {index}", exact_arithmetic(balls=True))

    def equal(place: int) -> bool:
        try:
            left, right = (_symbolic(claim, values.entries, side) for side in relation.sides[place : place + 2])
            return is_zero(left - right)
        except ValueError:
            return False

    for precision in PRECISIONS:
        last = precision == PRECISIONS[-1]
        with balls(precision) as reals:
            environment = values.at(precision, reals)
            if environment is None:
                continue
            try:
                sides = program.run(environment)[-len(relation.sides) :]
            except UndecidedError:
                continue
            except UndefinedError:
                return False
            # algebra is slow, so it comes last
            answer = chain_holds(sides, relation.operators, equal) if last else chain_holds(sides, relation.operators)
        if answer is not None:
            return answer
    return None


def _flat(values: Mapping[str, Elements]) -> dict[str, Element]:
    """Vectors taken apart."""
    result: dict[str, Element] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            result |= {f"{name}[{i}]": v for i, v in enumerate(value)}
        else:
            result[name] = value
    return result


def _vector(claim: Bound) -> ValueError:
    return ValueError(f"the right side of {claim.id} is a vector, not a number")


def _symbolic(claim: Bound, entries: Mapping[str, Entry], formula: Formula) -> Any:
    """The formula at these values as a sympy number.

    Raises:
        ValueError: for formulas over vectors.
    """
    symbols: dict[str, Any] = {}
    for name, entry in entries.items():
        if not isinstance(entry, tuple):
            symbols[name] = to_sympy(Number(entry) if isinstance(entry, Fraction) else entry, symbols)
    for name, text in claim.definitions.items():
        definition = parse(text)
        if names_in(definition) <= set(symbols):
            symbols[name] = to_sympy(definition, symbols)
    return to_sympy(formula, symbols)
