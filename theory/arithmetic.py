"""Exact arithmetic: Fractions while a value stays rational, Arb balls where it does not.

A ball is an interval that is guaranteed to contain the value. Staying rational as long as possible makes equality
decidable where it matters (``1 - 2*L*delta`` that is zero, ``sqrt`` of a square), and gives short answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.formula import REDUCTIONS, Formula, fold, names_in
from theory.operations import (
    LARGEST_EXACT,
    LARGEST_RATIONAL,
    Element,
    NotRationalError,
    Operand,
    Operation,
    UndecidedError,
    operations,
    rational_type,
    to_ball,
    to_fraction,
)

if TYPE_CHECKING:
    from flint import arb

__all__ = [
    "PRECISIONS",
    "NotRationalError",
    "Real",
    "Reals",
    "UndecidedError",
    "Value",
    "ball",
    "balls",
    "decimals",
    "is_tight",
    "rational",
    "to_float",
]

Real: TypeAlias = "Fraction | arb"
Value: TypeAlias = "Real | tuple[Real, ...]"
Elements: TypeAlias = "Element | tuple[Element, ...]"

PRECISIONS = tuple(128 * 2**i for i in range(7))  # bits, up to 8192
DIGITS = 36  # of a decimal that is rounded


class Reals:
    """The meaning of the operations of a formula on Fractions, balls and tuples of these.

    Args:
        precision: bits of the balls, for which `flint.ctx` is to be set by the caller; None for Fractions only.
    """

    def __init__(self, precision: int | None) -> None:
        self.precision = precision
        self.operations = operations(LARGEST_EXACT if precision is None else LARGEST_RATIONAL, exact=precision is None)

    def evaluate(self, formula: Formula, environment: Mapping[str, Value]) -> Value:
        """The value of a tree.

        Raises:
            UndefinedError: it has no real value.
            UndecidedError: it may have none, or one, at this precision.
            NotRationalError: without a precision, when it is not rational.
        """
        return from_elements(
            self.element(formula, {name: to_elements(environment[name]) for name in names_in(formula)})
        )

    def element(self, formula: Formula, environment: Mapping[str, Elements]) -> Elements:
        """The same, from and to FLINT's rationals in the place of Fractions."""
        return fold(formula, to_element, environment.__getitem__, self.apply)

    def apply(self, operation: str, arguments: tuple[Elements, ...]) -> Elements:
        """One operation; elementwise where an argument is a tuple."""
        function = self.operations[operation]
        if operation not in REDUCTIONS and any(isinstance(a, tuple) for a in arguments):
            return elementwise(function, arguments)
        result: Elements = function(*arguments)
        return result

    def scalar(self, operation: str, arguments: tuple[Real, ...]) -> Real:
        """One operation on numbers."""
        result: Real = to_fraction(self.operations[operation](*map(to_element, arguments)))
        return result


def elementwise(function: Operation, arguments: tuple[Elements, ...]) -> tuple[Element, ...]:
    """A function of numbers for each entry of the tuples among the arguments."""
    size = next(len(a) for a in arguments if isinstance(a, tuple))
    return tuple([function(*[a[i] if isinstance(a, tuple) else a for a in arguments]) for i in range(size)])


def to_element(value: Real | Element) -> Element:
    """A Fraction as FLINT's rational; that and a ball as they are."""
    rational = rational_type()
    kind = type(value)
    if kind is Fraction:
        found: Element = rational(*value.as_integer_ratio())
        return found
    if kind is rational:
        return value
    import flint

    if kind is flint.arb or isinstance(value, Operand):
        return value
    return rational(value.numerator, value.denominator)


def to_elements(value: Value) -> Elements:
    """`to_element` for a number, or all entries of a tuple."""
    return tuple([to_element(v) for v in value]) if isinstance(value, tuple) else to_element(value)


def from_elements(value: Elements) -> Value:
    """Rationals as Fractions, balls as they are, in tuples or not."""
    return tuple([to_fraction(v) for v in value]) if isinstance(value, tuple) else to_fraction(value)


@contextmanager
def balls(precision: int) -> Iterator[Reals]:
    """`Reals` of that precision, with `flint.ctx` set to it for the time being."""
    import flint

    with flint.ctx.workprec(precision):
        yield Reals(precision)


def ball(value: Real) -> arb:
    """A ball that contains the value."""
    return to_ball(to_element(value))


def rational(operation: str, arguments: list[Fraction], limit: int) -> Fraction | None:
    """One operation on Fractions; None when the result is irrational or has more than `limit` bits.

    Raises:
        UndefinedError: it has no real value.
    """
    try:
        value: Fraction = to_fraction(operations(limit, exact=True)[operation](*map(to_element, arguments)))
    except NotRationalError:
        return None
    return value


def is_tight(value: Any, bits: int) -> bool:
    """Whether the radius of a ball is at most 2**-bits of the value; a rational has none."""
    import flint

    return type(value) is not flint.arb or value.rel_accuracy_bits() >= bits or value.rad() == 0


def decimals(value: Any) -> tuple[str, str]:
    """Decimal strings (lower, upper) with lower <= value <= upper; equal where a short decimal is exact.

    Args:
        value: a rational or a ball.
    """
    import flint

    if type(value) is flint.arb:
        middle, radius, exponent = (int(part) for part in value.mid_rad_10exp(DIGITS))
        lower, upper = middle - radius, middle + radius
    else:
        numerator, denominator = int(value.numerator), int(value.denominator)
        size = math.floor(math.log10(2) * (numerator.bit_length() - denominator.bit_length()))
        exponent = size - DIGITS
        if exponent < 0:
            numerator *= 10**-exponent
        else:
            denominator *= 10**exponent
        lower, rest = divmod(numerator, denominator)
        upper = lower + (rest != 0)
    text = _decimal(lower, exponent)
    return text, text if lower == upper else _decimal(upper, exponent)


def to_float(value: Any) -> float:
    """The float64 nearest to a rational, or close to it for a ball; +-inf where it is too large for one."""
    import flint

    if type(value) is flint.arb:
        return float(value.mid())
    try:
        return int(value.numerator) / int(value.denominator)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _decimal(integer: int, exponent: int) -> str:
    """integer * 10**exponent as text, exactly."""
    if integer == 0:
        return "0"
    sign, digits = "-" if integer < 0 else "", str(abs(integer))
    exponent += len(digits) - len(digits.rstrip("0"))
    digits = digits.rstrip("0")
    point = len(digits) + exponent
    if 0 < point <= 21:
        whole, rest = digits[:point].ljust(point, "0"), digits[point:]
        return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"
    if -5 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{point - 1:+d}"
