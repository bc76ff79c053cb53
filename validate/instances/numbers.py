"""Numbers as instances write them: JSON numbers, decimals and fractions in text, all read exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

LONGEST = 2000  # digits of a number
LARGEST_EXPONENT = 400  # of ten
LARGEST_DIMENSION = 1000
MOST_ENTRIES = 1_000_000  # of a list

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:/[0-9]+)?|(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)


def number(name: str, value: Any) -> Fraction:
    """The number, exactly; a float counts as the shortest decimal that is read as it (0.1 is 1/10).

    Raises:
        ValueError: for anything but a finite number or its text, or one too long.
    """
    refused = (
        f'{name}={_shown(value)} is outside the rational numbers (a number, a decimal, or a fraction such as "1/3")'
    )
    if isinstance(value, Fraction):
        if max(abs(value.numerator), value.denominator).bit_length() > 4 * LONGEST:
            raise ValueError(f"{name} has more than {LONGEST} digits")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(refused)
    if isinstance(value, int):
        if value.bit_length() > 4 * LONGEST:
            raise ValueError(f"{name} has more than {LONGEST} digits")
        return Fraction(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(refused)
        value = repr(value)
    text = value.strip()
    if len(text) > LONGEST:
        raise ValueError(f"{name} has more than {LONGEST} digits")
    if not _NUMBER.fullmatch(text):
        raise ValueError(refused)
    exponent = re.search(r"[eE]([+-]?[0-9]+)", text)
    if exponent and abs(int(exponent[1])) > LARGEST_EXPONENT:
        raise ValueError(f"{name}={_shown(value)} has an exponent outside [-{LARGEST_EXPONENT}, {LARGEST_EXPONENT}]")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(refused) from None


def entries(name: str, values: Any) -> list[Fraction]:
    """The numbers of a list.

    Raises:
        ValueError: for anything but a list of numbers, at least one.
    """
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise ValueError(f"{name}={_shown(values)} is outside the lists of at least one number")
    if len(values) > MOST_ENTRIES:
        raise ValueError(f"{name} has {len(values)} entries; the limit is {MOST_ENTRIES}")
    return [number(f"{name}[{i}]", value) for i, value in enumerate(values)]


def number_json(value: Fraction) -> int | str:
    """As `number` reads it: an integer, or a fraction in text."""
    return value.numerator if value.denominator == 1 else str(value)


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or value.bit_length() < 1000 else "an integer"
    return text if len(text) <= 60 else f"{text[:57]}..."
