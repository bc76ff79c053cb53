"""Reading arguments: numbers and arrays in fractions or float64; what is not a finite number is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def integer(name: str, value: Any, least: int) -> int:
    """The argument as an int.

    Raises:
        ValueError: when it is not an integer, or below `least`.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}={value!r} is outside the integers in [{least}, inf)")
    return int(value)


def real(name: str, value: Any, domain: str) -> float:
    """The argument as a finite float; `domain` is for the error only.

    Raises:
        ValueError: when it is not a finite number.
    """
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={value!r} is outside {domain}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name}={value} is outside {domain}")
    return number


def rational(name: str, value: Any, domain: str = "the rational numbers") -> Fraction:
    """The number as a fraction; floats are converted without rounding.

    Args:
        name: what to call the argument in an error.
        value: an integer, a Fraction, a finite float, or text such as ``"1/8"`` or ``"0.25"``.
        domain: what to call the admissible numbers in an error.

    Raises:
        ValueError: when `value` is not a finite number.
    """
    if isinstance(value, Fraction):
        return value
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{name}={value!r} is outside {domain}") from None


def rational_array(name: str, values: Any, domain: str = "the rational numbers") -> Array:
    """Array of dtype object, of the same shape, whose entries are fractions.

    Raises:
        ValueError: when an entry is not a finite number, or the nesting is ragged.
    """
    source = _entries(name, values)
    if set(map(type, source.reshape(-1).tolist())) == {Fraction}:
        return source.copy()
    result = np.empty(source.shape, dtype=object)
    result_flat = result.reshape(-1)
    for position, entry in enumerate(source.reshape(-1).tolist()):
        if type(entry) is Fraction:
            result_flat[position] = entry
            continue
        index = f"[{', '.join(map(str, np.unravel_index(position, source.shape)))}]" if source.ndim else ""
        result_flat[position] = rational(f"{name}{index}", entry, domain)
    return result


def float_array(name: str, values: Any, domain: str = "(-inf, inf)") -> Array:
    """Fresh float64 array of finite numbers; fractions and text such as ``"1/8"`` are rounded.

    Raises:
        ValueError: when an entry is not a finite number, or the nesting is ragged.
    """
    source = np.asarray(values) if isinstance(values, np.ndarray | float) else None
    if source is not None and source.dtype.kind in "fiu":
        result = source.astype(np.float64)
    else:
        entries = _entries(name, values)
        result = np.empty(entries.shape)
        flat = result.reshape(-1)
        for position, entry in enumerate(entries.reshape(-1)):
            flat[position] = _number(name, entry, domain)
    if not np.all(np.isfinite(result)):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        where = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"{name}{where}={float(result[index])} is outside {domain}")
    return result


def _entries(name: str, values: Any) -> Array:
    ragged = f"{name} is not an array: its rows have different lengths"
    try:
        entries = np.asarray(values, dtype=object)
    except ValueError:
        raise ValueError(ragged) from None
    # numpy keeps the rows of a ragged nesting as objects
    kinds = set(map(type, entries.reshape(-1).tolist()))
    if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds):
        raise ValueError(ragged)
    return entries


def _number(name: str, entry: Any, domain: str) -> float:
    try:
        if isinstance(entry, (bool, np.bool_)):
            raise TypeError
        return float(Fraction(entry) if isinstance(entry, str) else entry)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{name}={entry!r} is outside {domain}") from None


def array(name: str, values: Any, exact: bool) -> Array:
    """`rational_array` when `exact`, else `float_array`."""
    return rational_array(name, values) if exact else float_array(name, values)


def to_float(values: Array) -> Array:
    """The same numbers in float64, shape kept."""
    return np.asarray(values, dtype=np.float64)


def checked_metrics(metrics: Any, known: Iterable[str]) -> tuple[str, ...]:
    """The names of metrics, all of them among those known.

    Raises:
        ValueError: when `metrics` is a text, or has a name that is not known.
    """
    if isinstance(metrics, str):
        raise ValueError(f"metrics={metrics!r} is not a sequence of names")
    names = sorted(known)
    for name in metrics:
        if name not in names:
            raise ValueError(f"metrics has {name!r}, which is not one of {names}")
    return tuple(metrics)
