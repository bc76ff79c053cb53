"""Reads the data of a certificate: JSON, numbers, fields; and what is too large to be checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

FORMAT = "fedproof-certificate-2"
MAX_TEXT = 4_000  # characters of a number or a formula
MAX_BYTES = 10_000_000  # of a certificate
MAX_ALL_DATA_BITS = 200_000  # of all numbers that are added up exactly


class FormatError(ValueError):
    """The certificate is malformed, or too large to be checked."""


class Uncheckable(Exception):
    """Something in the certificate cannot be computed from its instance."""


def load(path: str) -> Any:
    """Reads JSON, refusing what has no one meaning: repeated fields, NaN, infinities.

    Raises:
        FormatError: (a ValueError) when the file cannot be read or is not such JSON.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise FormatError("a field is given twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise FormatError(f"{constant} is not a number")

    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise FormatError(f"the file has more than {MAX_BYTES} bytes")
        return json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
    except FormatError:
        raise
    except (OSError, ValueError, RecursionError) as reason:
        raise FormatError(f"cannot read {shown(str(path))}: {shown(str(reason))}") from None


def number(value: Any, name: str, low: Fraction | int | None = None, open_low: bool = False) -> Fraction:
    """An integer, or text such as "-3/8" or "0.25", as a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise FormatError(f"{name} is not an integer or a fraction in quotes: {shown(value)}")
    text = str(value) if isinstance(value, str) or abs(value) < 10**MAX_TEXT else ""
    if len(text) > 2 * MAX_TEXT or not re.fullmatch(r"-?[0-9]{1,4000}(\.[0-9]{1,40}|/[0-9]{1,4000})?", text):
        raise FormatError(f"{name} is not an integer or a fraction such as -3/8: {shown(value)}")
    try:
        result = Fraction(text)
    except ZeroDivisionError:
        raise FormatError(f"{name}={shown(value)} divides by zero") from None
    if low is not None and (result < low or (open_low and result == low)):
        raise FormatError(f"{name}={shown(value)} must be {'more than' if open_low else 'at least'} {low}")
    return result


def integer(value: Any, name: str, low: int, high: int) -> int:
    """An integer in [low, high]; text is accepted as for `number`."""
    result = number(value, name)
    if result.denominator != 1 or not low <= result <= high:
        raise FormatError(f"{name}={shown(value)} is not an integer in [{low}, {high}]")
    return int(result)


def text_of(value: Any, name: str) -> str:
    """A text, of any length that the whole file may have."""
    if not isinstance(value, str):
        raise FormatError(f"{name} is not text: {shown(value)}")
    return value


def list_of(value: Any, name: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise FormatError(f"{name} is not a list: {shown(value)}")
    return value


def fields(value: Any, name: str, required: str, optional: str = "") -> dict[str, Any]:
    """A JSON object with these fields and no others."""
    if not isinstance(value, dict):
        raise FormatError(f"{name} is not an object: {shown(value)}")
    missing = [key for key in required.split() if key not in value]
    unknown = [key for key in value if key not in (required + " " + optional).split()]
    if missing or unknown:
        what = f"lacks {missing}" if missing else f"has unknown fields {shown(unknown)}"
        raise FormatError(f"{name} {what}")
    return value


def shown(value: Any, length: int = 300) -> str:
    """A value for a message: printable ASCII, and short."""
    if isinstance(value, Fraction):
        if max(abs(value.numerator), value.denominator) < 10**40:
            return str(value)
        try:
            return f"a fraction of {value.denominator.bit_length()} bits near {float(value):.12g}"
        except OverflowError:
            return f"a fraction of {value.denominator.bit_length()} bits, too large to print"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a huge integer"
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    text = "".join(c if 32 <= ord(c) < 127 else f"\\u{ord(c):04x}" for c in text[: length + 1])
    return text if len(text) <= length else text[:length] + "..."


def shown_vector(v: Sequence[Fraction]) -> str:
    """A vector for the reader, its first entries."""
    return f"({', '.join(shown(x, 60) for x in v[:10])}{', ...' if len(v) > 10 else ''})"


def bits(x: Fraction) -> int:
    """The length of a fraction's numerator or denominator, whichever is longer."""
    return max(abs(x.numerator), x.denominator).bit_length()


def limit_length(values: Iterable[Fraction]) -> None:
    """Refuses numbers that are too many, or too long, to be added up exactly."""
    if sum(map(bits, values)) > MAX_ALL_DATA_BITS:
        raise FormatError("the numbers are too many or too long to be checked")
