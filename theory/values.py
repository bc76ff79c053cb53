"""The values that a user gives to a claim's parameters: read, checked, and put in the order of their dependence.

A value is a number (int, Fraction, Decimal, float or a NumPy scalar; a float counts as its exact binary value), or
text: a decimal or fraction, read exactly, or an expression in other parameters (``"1/sqrt(K)"``). A vector is a
sequence of these, or text with commas.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from theory.arithmetic import Elements, NotRationalError, Reals, UndecidedError, to_element
from theory.bound import Bound, Parameter
from theory.domain import Domain
from theory.formula import (
    Apply,
    Formula,
    Name,
    Number,
    UndefinedError,
    length,
    names_in,
    parse,
)
from theory.operations import Element, to_fraction

Scalar: TypeAlias = Fraction | Formula
# an ndarray (float64) only where `read` was told to take arrays
Entry: TypeAlias = "Scalar | tuple[Scalar, ...] | Any"

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:/[1-9][0-9]*|\.[0-9]+)?", re.ASCII)
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


def unknown_parameter(claim: Bound, name: str) -> ValueError:
    """The error for a name that the claim does not have, with the names that come close."""
    known = [p.name for p in claim.parameters]
    return ValueError(f"{claim.id} has no parameter {name!r}{suggestion(name, known)}")


def suggestion(name: str, known: Sequence[str]) -> str:
    """``"; did you mean 'mu'?"``, or the list of all where none comes close."""
    lowered = {k.lower(): k for k in known}
    close = [lowered[k] for k in get_close_matches(str(name).lower(), lowered, n=3, cutoff=0.6)]
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {', '.join(known)}" if known else "; it has none"


def parse_assignments(assignments: Iterable[str], claim: Bound) -> dict[str, str | tuple[str, ...]]:
    """Read ``name=value`` texts, as on the command line.

    Args:
        assignments: such as ``["mu=1/8", "delta=1/sqrt(K)", "z=0,0.5,2"]``. A value is a decimal, a fraction, or an
            expression in other scalar parameters (or in reductions of vectors); a vector's entries are separated by
            commas. Nothing is executed.
        claim: the claim whose parameters they are.

    Returns:
        By name, the text of each value (a tuple of texts for a vector), in the order given. `bound`, `enclose`,
        `exact`, `violated` and `hypotheses` take it as it is; irrational values keep their meaning exactly.

    Raises:
        ValueError: for a text without ``=``, a name that is unknown or given twice, a value that cannot be read or is
            no finite number, one that uses a name without value, or values that refer to each other in a circle.
    """
    result: dict[str, str | tuple[str, ...]] = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals or not name or not text:
            raise ValueError(f"{assignment!r} is not of the form name=value")
        if name in result:
            raise ValueError(f"{name} is given twice: {shown(result[name])} and {text}")
        parameter = claim.parameter(name)
        result[name] = tuple(split(text)) if parameter.shape == "vector" else text
    read(claim, result, partial=True)
    return result


def read(
    claim: Bound, parameters: Mapping[str, Any], *, arrays: bool = False, partial: bool = False
) -> dict[str, Entry]:
    """Check the values of a claim's parameters.

    Args:
        claim: the claim.
        parameters: by name.
        arrays: whether NumPy arrays of numbers are taken (and kept, as float64) in place of one number.
        partial: whether parameters may be missing, unless a value uses them.

    Returns:
        By name, each after those that it uses: a Fraction in the parameter's domain, a formula, a tuple of these for
        a vector, or a float64 array (of shape (..., length) for a vector).

    Raises:
        ValueError: for a parameter that is missing or unknown, outside its domain, of the wrong shape, not a finite
            number, part of a circle of references, or of another length than a vector that it meets.
    """
    for name in parameters:
        if name not in claim.formulas.parameters:
            raise unknown_parameter(claim, name)
    missing = [p.name for p in claim.parameters if p.name not in parameters]
    if missing and not partial:
        given = f"; given are {', '.join(parameters)}" if parameters else ""
        raise ValueError(f"{claim.id}: no value for {', '.join(missing)}{given}")
    entries = {p.name: _entry(p, parameters[p.name], claim, arrays) for p in claim.parameters if p.name in parameters}
    formulas = {name: found for name, entry in entries.items() if (found := formulas_in(entry))}
    if formulas:
        entries = _ordered(entries, formulas, parameters)
    lengths = lengths_of(entries, claim)
    for name in [name for name in entries if name in formulas]:
        try:
            for formula in formulas[name]:
                length(formula, lengths)
        except ValueError as error:
            raise ValueError(f"{name}={shown(parameters[name])}: {error}") from None
    claim.formulas.check_lengths(lengths)
    return entries


def _ordered(
    entries: Mapping[str, Entry], formulas: Mapping[str, Sequence[Formula]], parameters: Mapping[str, Any]
) -> dict[str, Entry]:
    """Each value after those that it uses."""
    uses = {name: frozenset[str]().union(*map(names_in, formulas.get(name, ()))) for name in entries}
    for name, used in uses.items():
        without = sorted(used - set(entries))
        if without:
            raise ValueError(f"{name}={shown(parameters[name])} uses {without[0]}, which has no value")
    try:
        order = list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise ValueError(f"the values of the parameters refer to each other in a circle: {circle}") from None
    return {name: entries[name] for name in order}


def resolve(claim: Bound, entries: Mapping[str, Entry], given: Mapping[str, Any], reals: Reals) -> dict[str, Elements]:
    """The values that `read` found (without arrays) as FLINT's rationals and balls.

    Args:
        claim: the claim.
        entries: from `read`.
        given: what the user gave, for messages.
        reals: the arithmetic.

    Raises:
        ValueError: for an expression without real value, or whose value is outside its parameter's domain.
        UndecidedError: the precision does not suffice.
    """
    result: dict[str, Elements] = {}
    for name, entry in entries.items():
        if type(entry) is Fraction:
            result[name] = to_element(entry)
            continue
        found: list[Element] = []
        for part in entry if isinstance(entry, tuple) else (entry,):
            if isinstance(part, Fraction):
                found.append(to_element(part))
                continue
            try:
                value = reals.element(part, result)
            except (UndefinedError, NotRationalError) as error:
                raise ValueError(f"{name}={shown(given[name])} cannot be used: {error}") from None
            assert not isinstance(value, tuple)  # `read` refuses it
            if not _possible(claim.parameter(name).domain, to_fraction(value)):
                raise outside(claim.parameter(name), given[name])
            found.append(value)
        result[name] = tuple(found) if isinstance(entry, tuple) else found[0]
    return result


def formulas_in(entry: Entry) -> Sequence[Formula]:
    """What a value has of formulas, rather than Fractions and arrays."""
    if type(entry) is Fraction:
        return ()
    parts: Sequence[Any] = entry if isinstance(entry, tuple) else (entry,)
    return [part for part in parts if type(part) is not Fraction and not hasattr(part, "dtype")]


def lengths_of(entries: Mapping[str, Entry], claim: Bound) -> dict[str, int | None]:
    """Length of each vector parameter, None for the others."""
    result: dict[str, int | None] = dict.fromkeys(entries)
    for name in claim.formulas.vectors & entries.keys():
        entry: Any = entries[name]
        result[name] = len(entry) if isinstance(entry, tuple) else entry.shape[-1]
    return result


def outside(parameter: Parameter, given: Any) -> ValueError:
    """The error for a value outside the domain."""
    return ValueError(f"{parameter.name}={shown(given)} is outside {parameter.domain}")


def split(text: str) -> list[str]:
    """Split at the commas that stand in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _possible(domain: Domain, value: Any) -> bool:
    """Whether a Fraction, or some number of a ball, is in the domain."""
    if isinstance(value, Fraction):
        return domain.contains(value)
    below = domain.lower is not None and (value <= domain.lower if domain.lower_open else value < domain.lower)
    above = domain.upper is not None and (value >= domain.upper if domain.upper_open else value > domain.upper)
    return not (below or above or (domain.integer and not value.contains_integer()))


def _entry(parameter: Parameter, given: Any, claim: Bound, arrays: bool) -> Entry:
    if parameter.shape == "scalar" and type(given) in (int, float, str, Fraction):
        return _scalar(parameter, given, claim)
    import numpy as np

    name = parameter.name
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    is_sequence = isinstance(given, list | tuple | np.ndarray)
    if parameter.shape == "vector":
        if isinstance(given, str):
            given = split(given)
        elif not is_sequence:
            raise ValueError(f"{name}={shown(given)} is one number; {name} takes a vector")
        if len(given) == 0:
            raise ValueError(f"{name}={shown(given)} is an empty vector")
        if isinstance(given, np.ndarray) and arrays:
            return _array(parameter, given)
        return tuple([_scalar(parameter, item, claim) for item in given])
    if is_sequence:
        if not arrays:
            raise ValueError(f"{name}={shown(given)} is not one number; arrays are for the float64 bound only")
        return _array(parameter, given)
    return _scalar(parameter, given, claim)


def _array(parameter: Parameter, given: Any) -> Any:
    import numpy as np

    try:
        values = np.asarray(given)
    except ValueError:
        raise ValueError(f"{parameter.name}={shown(given)} is ragged; it takes an array") from None
    if values.dtype.kind not in "iuf":
        items = [number(parameter, item) for item in values.ravel()]
        for item, value in zip(values.ravel(), items, strict=True):
            if not isinstance(value, Fraction):
                raise ValueError(f"{parameter.name}={shown(item)} stands in an array and is not a rational number")
        values = np.array([*items, None], dtype=object)[:-1].reshape(values.shape)
    if values.size == 0:
        raise ValueError(f"{parameter.name} is an empty array; it takes numbers in {parameter.domain}")
    if not parameter.domain.contains(values):
        items = [v for v in values.ravel() if not parameter.domain.contains(v)]
        raise outside(parameter, items[0])
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{parameter.name}={shown(given)} does not fit float64") from None


def _scalar(parameter: Parameter, given: Any, claim: Bound) -> Scalar:
    value = number(parameter, given)
    if isinstance(value, Fraction):
        if not parameter.domain.contains(value):
            raise outside(parameter, given)
        return value
    unknown = sorted(names_in(value) - {p.name for p in claim.parameters})
    if unknown:
        raise ValueError(
            f"{parameter.name}={shown(given)} is no number in {parameter.domain}, and "
            f"{unknown_parameter(claim, unknown[0])}"
        )
    shapes = {p.name: 1 if p.shape == "vector" else None for p in claim.parameters}
    if length(value, shapes) is not None:
        raise ValueError(f"{parameter.name}={shown(given)} is a vector where one number is needed")
    return value


def number(parameter: Parameter, given: Any) -> Scalar:
    """A value as an exact Fraction, or as a formula where it is irrational or uses other parameters.

    Raises:
        ValueError: it is no finite real number. Only constants that are no numbers at all are held against the domain.
    """
    if type(given) is Fraction:
        return given
    if type(given) is int:
        return Fraction(given)
    plain = _plain(given) if isinstance(given, str) else None
    if plain is not None:
        return plain
    import numpy as np

    name, domain = parameter.name, parameter.domain
    if isinstance(given, Number | Name | Apply):
        formula = given
    elif isinstance(given, str):
        if given.strip().lstrip("+-").lower() in _NOT_FINITE:
            raise outside(parameter, given)
        try:
            formula = parse(given)
        except ValueError as error:
            raise ValueError(f"{name}={shown(given)}: {error}") from None
    elif isinstance(given, bool | np.bool_):
        raise ValueError(f"{name}={given} is a truth value, not a number in {domain}")
    elif isinstance(given, numbers.Rational):
        return Fraction(int(given.numerator), int(given.denominator))
    elif isinstance(given, float | np.floating | Decimal):
        try:
            return Fraction(given if isinstance(given, Decimal) else float(given))
        except (OverflowError, ValueError):
            raise outside(parameter, given) from None
    else:
        raise ValueError(f"{name}={shown(given)} has the type {type(given).__name__}; it is to be a number in {domain}")
    if names_in(formula):
        return formula
    try:
        value = Reals(None).evaluate(formula, {})
        assert isinstance(value, Fraction)
        return value
    except (NotRationalError, UndecidedError):
        return formula
    except ValueError as error:
        raise ValueError(f"{name}={shown(given)} is not a number in {domain}: {error}") from None


@lru_cache(maxsize=4096)
def _plain(text: str) -> Fraction | None:
    """A fraction or decimal without more; None for all other texts, which `theory.formula` reads."""
    return Fraction(text) if len(text) <= 100 and _PLAIN.fullmatch(text) else None


def shown(given: Any) -> str:
    """A value as a message shows it: short, and on one line."""
    try:
        text = ",".join(map(str, given)) if isinstance(given, list | tuple) else " ".join(str(given).split())
    except ValueError:  # Python does not print integers of more than some thousand digits
        return "(a number too long to print)"
    return text if len(text) <= 80 else f"{text[:60]}...{text[-10:]}"
