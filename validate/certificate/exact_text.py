"""What certificates are made of: exact numbers as text; and what was wrong with one."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import Any

from validate import verifier
from validate.verifier import Report

Number = Fraction | int | str
Certificate = dict[str, Any]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

MOST_DIGITS = verifier.MAX_TEXT


def as_text(value: Number, name: str) -> str:
    """An exact number as ``"p/q"``.

    Args:
        value: a Fraction, an integer, or text such as ``"-3/8"`` or ``"0.25"``.
        name: what it is, for the message.

    Raises:
        ValueError: for a float (not exact), for other text, or for a number of more than 4,000 digits.
    """
    if isinstance(value, bool) or not isinstance(value, Fraction | int | str):
        raise ValueError(f"{name}={value!r} is not exact: give a Fraction, an integer or text such as '1/8'")
    try:
        exact = Fraction(value)
        if is_long(exact):
            raise ValueError(f"{name} has more than {MOST_DIGITS} digits: take a smaller instance")
    except ZeroDivisionError:
        raise ValueError(f"{name}={value!r} divides by zero") from None
    return str(exact)


def is_long(value: Fraction) -> bool:
    """Whether a numerator or denominator has more digits than certificates hold, and Python prints."""
    return max(abs(value.numerator), value.denominator) >= 10**MOST_DIGITS


def failures(report: Report) -> str:
    """The checks that failed, in one line."""
    return "; ".join(line.removeprefix("FAIL").strip() for line in report.lines if line.startswith("FAIL"))


def in_digits(value: Fraction | float, digits: int = 10) -> str:
    """A number in decimals, to some significant digits; also one that float64 does not have."""
    try:
        return f"{float(value):.{digits}g}"
    except OverflowError:
        exact = Fraction(value)
        with localcontext(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN):
            return str(Decimal(exact.numerator) / Decimal(exact.denominator))


def typeset(decimal: str) -> str:
    """Decimals as a reader writes them.

    Example:
        >>> typeset("-1.2e-05")
        '−1.2×10⁻⁵'
    """
    mantissa, _, exponent = decimal.lower().partition("e")
    power = f"×10{str(int(exponent)).translate(SUPERSCRIPTS)}" if exponent else ""
    return f"{mantissa.replace('-', '−')}{power}"
