"""A claim's right side as numbers: vectorised float64, rigorous enclosures, or exact fractions.

All functions take the claim and a mapping from parameter names to values, which may be numbers or text as in
`theory.values`. Every bad value is one `ValueError`. A violated hypothesis does not stop an evaluation; `violated`
and `hypotheses` report it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.arithmetic import (
    PRECISIONS,
    NotRationalError,
    Real,
    Reals,
    UndecidedError,
    Value,
    balls,
    decimals,
    is_tight,
    to_float,
)
from theory.claim import Claim
from theory.comparison import chain_holds, is_zero
from theory.expression import to_sympy
from theory.floats import Floats
from theory.formula import Formula, Number, UndefinedError, length, names_in, parse, parse_relation
from theory.values import Entry, known_names, parse_assignments, read, resolve, unknown_parameter

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
        midpoint: a float64 near the value (+-inf where the value is too large for one).
        terms: the same pair for each definition; the entries of a vector are named ``name[0]``, ``name[1]``, ...
    """

    lower: str
    upper: str
    midpoint: float
    terms: dict[str, tuple[str, str]]


def bound(claim: Claim, parameters: Mapping[str, Any]) -> float | Array:
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
    text = _right(claim)
    floats = Floats(claim, parameters)
    if length(parse(text, known_names(claim)), floats.lengths) is not None:
        raise _vector(claim)
    value = floats.evaluate(text)
    if not floats.shape and not math.isfinite(value):
        for name in claim.definitions:  # raises for the first one that is at fault
            floats.result(floats.environment[name], f"the term {name}", floats.lengths[name])
    return floats.result(value, "the right side")


def terms(claim: Claim, parameters: Mapping[str, Any]) -> dict[str, float | Array]:
    """Each named definition of the claim in float64; a vector is an array along the last axis. See `bound`."""
    floats = Floats(claim, parameters)
    return {
        name: floats.result(floats.environment[name], f"the term {name}", floats.lengths[name])
        for name in claim.definitions
    }


def enclose(claim: Claim, parameters: Mapping[str, Any]) -> Enclosure:
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
    right = parse(_right(claim), known_names(claim))
    entries = read(claim, parameters)
    found: tuple[Real, dict[str, Real]] | None = None
    for precision in PRECISIONS:
        with balls(precision) as reals:
            try:
                environment = _environment(claim, entries, parameters, reals)
                value = _number(claim, reals, right, environment)
            except UndecidedError:
                continue
            found = value, _flat({name: environment[name] for name in claim.definitions})
            if all(is_tight(v, TIGHT) for v in (value, *found[1].values())):
                break
    if found is None:
        raise UndefinedError(f"{claim.id} has no real value here, or none that {PRECISIONS[-1]} bits can tell")
    value, definitions = found
    return Enclosure(*decimals(value), to_float(value), {name: decimals(v) for name, v in definitions.items()})


def exact(claim: Claim, parameters: Mapping[str, Any]) -> Fraction:
    """The exact right side, where it is rational (square roots of squares of fractions are).

    Args:
        claim: a claim with a right side.
        parameters: by name; rational values (a float counts as its binary value).

    Raises:
        ValueError: for a bad parameter, a claim without right side, a right side that is undefined or irrational, or a
            fraction of more than four million bits.
    """
    right = parse(_right(claim), known_names(claim))
    reals = Reals(None)
    environment = _environment(claim, read(claim, parameters), parameters, reals, names_in(right))
    value = _number(claim, reals, right, environment)
    assert isinstance(value, Fraction)  # these reals raise otherwise
    return value


def exact_terms(claim: Claim, parameters: Mapping[str, Any]) -> dict[str, Value]:
    """Each named definition as a Fraction (a tuple of these for a vector). Arguments and errors as for `exact`."""
    environment = _environment(claim, read(claim, parameters), parameters, Reals(None))
    return {name: environment[name] for name in claim.definitions}


def violated(claim: Claim, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the hypotheses whose relation is false at these values. Arguments and errors as for `hypotheses`."""
    return tuple(h["name"] for h in hypotheses(claim, parameters) if h["holds"] is False)


def hypotheses(claim: Claim, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Whether each hypothesis holds at these values, decided exactly.

    Args:
        claim: the claim.
        parameters: by name, exact as in `enclose`.

    Returns:
        ``{"name": ..., "holds": True, False or None}`` in the claim's order. None stands for a hypothesis without
        relation, a relation that is undefined at these values or uses names that the claim has no values for, and the
        rare equality of irrational numbers that is not decided. A relation between vectors holds if it does for all
        entries.

    Raises:
        ValueError: for a bad parameter.
    """
    entries = read(claim, parameters)
    for precision in PRECISIONS:  # values that are expressions lie in their domains
        with balls(precision) as reals:
            try:
                resolve(claim, entries, parameters, reals)
                break
            except UndecidedError:
                continue
    else:
        raise UndefinedError(f"a value given to {claim.id} is undefined, or {PRECISIONS[-1]} bits cannot tell")
    return [
        {"name": h.name, "holds": None if h.relation is None else _holds(claim, h.relation, entries, parameters)}
        for h in claim.hypotheses
    ]


def _holds(claim: Claim, text: str, entries: Mapping[str, Entry], parameters: Mapping[str, Any]) -> bool | None:
    relation = parse_relation(text)
    if not names_in(relation) <= set(known_names(claim)):
        return None

    def equal(index: int) -> bool:
        try:
            left, right = (_symbolic(claim, entries, side) for side in relation.sides[index : index + 2])
            return is_zero(left - right)
        except ValueError:
            return False

    for precision in PRECISIONS:
        last = precision == PRECISIONS[-1]
        with balls(precision) as reals:
            try:
                environment = _environment(claim, entries, parameters, reals, names_in(relation))
                sides = [reals.evaluate(side, environment) for side in relation.sides]
            except UndecidedError:
                continue
            except UndefinedError:
                return None
            # algebra is slow, so it comes last
            answer = chain_holds(sides, relation.operators, equal) if last else chain_holds(sides, relation.operators)
        if answer is not None:
            return answer
    return None


def _right(claim: Claim) -> str:
    if claim.right is None:
        raise ValueError(f"{claim.id} has no right side to evaluate; read its statement")
    return claim.right


def _flat(values: Mapping[str, Value]) -> dict[str, Real]:
    """Vectors taken apart."""
    result: dict[str, Real] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            result |= {f"{name}[{i}]": v for i, v in enumerate(value)}
        else:
            result[name] = value
    return result


def _number(claim: Claim, reals: Reals, right: Formula, environment: Mapping[str, Value]) -> Real:
    value = _named(claim, "the right side", reals, right, environment)
    if isinstance(value, tuple):
        raise _vector(claim)
    return value


def _vector(claim: Claim) -> ValueError:
    return ValueError(f"the right side of {claim.id} is a vector, not a number")


def _named(claim: Claim, what: str, reals: Reals, formula: Formula, environment: Mapping[str, Value]) -> Value:
    """Evaluate; an error says what of which claim it is about."""
    try:
        return reals.evaluate(formula, environment)
    except UndefinedError as error:
        raise UndefinedError(f"{what} of {claim.id} has no value here: {error}") from None
    except NotRationalError as error:
        raise NotRationalError(f"{what} of {claim.id} is not rational here: {error}") from None


def _environment(
    claim: Claim,
    entries: Mapping[str, Entry],
    parameters: Mapping[str, Any],
    reals: Reals,
    needed: Iterable[str] | None = None,
) -> dict[str, Value]:
    """Parameters and definitions by name; of the definitions only those that are needed, by default all."""
    environment = resolve(claim, entries, parameters, reals)
    wanted = set(claim.definitions if needed is None else needed)
    formulas = {name: parse(text, known_names(claim)) for name, text in claim.definitions.items()}
    for name in reversed(formulas):
        if name in wanted:
            wanted |= names_in(formulas[name])
    for name, formula in formulas.items():
        if name in wanted:
            environment[name] = _named(claim, f"the term {name}", reals, formula, environment)
    return environment


def _symbolic(claim: Claim, entries: Mapping[str, Entry], formula: Formula) -> Any:
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
