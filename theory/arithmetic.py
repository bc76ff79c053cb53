"""Exact arithmetic: Fractions while a value stays rational, Arb balls where it does not.

A ball is an interval that is guaranteed to contain the value. Staying rational as long as possible makes equality
decidable where it matters (``1 - 2*L*delta`` that is zero, ``sqrt`` of a square), and gives short answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.formula import REDUCTIONS, Formula, UndefinedError, fold

if TYPE_CHECKING:
    from flint import arb

Real: TypeAlias = "Fraction | arb"
Value: TypeAlias = "Real | tuple[Real, ...]"

LARGEST_RATIONAL = 4096  # bits of numerator or denominator, above which balls take over
LARGEST_EXACT = 2**22  # the same where only rationals will do
PRECISIONS = tuple(128 * 2**i for i in range(7))  # bits, up to 8192
DIGITS = 36  # of a decimal that is rounded


class UndecidedError(ArithmeticError):
    """The balls are too wide to tell; a higher precision may help."""


class NotRationalError(ValueError):
    """The value is not a rational number, or too long a one."""


class Reals:
    """The meaning of the operations of a formula on Fractions, balls and tuples of these.

    Args:
        precision: bits of the balls, for which `flint.ctx` is to be set by the caller; None for Fractions only.
    """

    def __init__(self, precision: int | None) -> None:
        self.precision = precision
        self.limit = LARGEST_EXACT if precision is None else LARGEST_RATIONAL

    def evaluate(self, formula: Formula, environment: Mapping[str, Value]) -> Value:
        """The value of a tree.

        Raises:
            UndefinedError: it has no real value.
            UndecidedError: it may have none, or one, at this precision.
            NotRationalError: without a precision, when it is not rational.
        """
        return fold(formula, lambda v: v, environment.__getitem__, self.apply)

    def apply(self, operation: str, arguments: tuple[Value, ...]) -> Value:
        """One operation; elementwise where an argument is a tuple."""
        size = next((len(a) for a in arguments if isinstance(a, tuple)), None)
        if size is None:
            return self.scalar(operation, arguments)
        if operation in REDUCTIONS:
            return self.reduction(operation, arguments[0])  # type: ignore[arg-type]
        rows = [tuple([a[i] if isinstance(a, tuple) else a for a in arguments]) for i in range(size)]
        return tuple([self.scalar(operation, row) for row in rows])

    def reduction(self, operation: str, vector: tuple[Real, ...]) -> Real:
        """`sum`, `mean`, `amax` or `amin` of a tuple of at least one number."""
        if operation in ("amax", "amin"):
            return reduce(lambda a, b: self.scalar(operation[1:], (a, b)), vector)
        total = reduce(lambda a, b: self.scalar("+", (a, b)), vector)
        return total if operation == "sum" else self.scalar("/", (total, Fraction(len(vector))))

    def scalar(self, operation: str, arguments: tuple[Real, ...]) -> Real:
        """One operation on numbers."""
        rationals = [a for a in arguments if isinstance(a, Fraction)]
        if len(rationals) == len(arguments):
            exact = rational(operation, rationals, self.limit)
            if exact is not None:
                return exact
            if self.precision is None:
                shown = ", ".join(map(_brief, rationals))
                raise NotRationalError(f"{operation} of {shown} is not rational, or too long for exact arithmetic")
        result = self._power(*arguments) if operation == "**" else self._ball_operation(operation, arguments)
        if not result.is_finite():
            raise UndecidedError(operation)
        return result

    def _ball_operation(self, operation: str, arguments: tuple[Real, ...]) -> arb:
        balls = [ball(a) for a in arguments]
        if operation in ("sqrt", "log") and balls[0] < 0:
            raise UndefinedError(f"{operation} of a negative number")
        operations: Mapping[str, Callable[..., Any]] = {
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
            "/": lambda a, b: a / b,
            "neg": lambda a: -a,
            "sqrt": lambda a: a.sqrt(),
            "log": lambda a: a.log(),
            "exp": lambda a: a.exp(),
            "abs": abs,
            "min": lambda *a: reduce(lambda x, y: x.min(y), a),
            "max": lambda *a: reduce(lambda x, y: x.max(y), a),
        }
        return operations[operation](*balls)

    def _power(self, base: Real, exponent: Real) -> arb:
        from flint import fmpz

        b = ball(base)
        if isinstance(exponent, Fraction):
            if exponent.denominator == 1:
                return b ** fmpz(exponent.numerator)
            if b < 0:
                raise UndefinedError("a fractional power of a negative number")
            if exponent.denominator == 2:  # tighter than the general power near zero
                return self._ball_operation("sqrt", (b,)) ** fmpz(exponent.numerator)
        e = ball(exponent)
        if isinstance(base, Fraction) and base == 0:
            if e > 0:
                return b
            if e < 0:
                raise UndefinedError("division by zero")
        return b**e


@contextmanager
def balls(precision: int) -> Iterator[Reals]:
    """`Reals` of that precision, with `flint.ctx` set to it for the time being."""
    import flint

    with flint.ctx.workprec(precision):
        yield Reals(precision)


def ball(value: Real) -> arb:
    """A ball that contains the value."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value


def rational(operation: str, arguments: list[Fraction], limit: int) -> Fraction | None:
    """One operation on Fractions; None when the result is irrational or has more than `limit` bits.

    Raises:
        UndefinedError: it has no real value.
    """
    a = arguments[0]
    if operation in ("min", "max"):
        return min(arguments) if operation == "min" else max(arguments)
    if operation == "neg":
        return -a
    if operation == "abs":
        return abs(a)
    if operation == "exp":
        return Fraction(1) if a == 0 else None
    if operation == "log":
        if a <= 0:
            raise UndefinedError("log of a number that is not positive")
        return Fraction(0) if a == 1 else None
    if operation == "sqrt":
        return _rational_power(a, Fraction(1, 2), limit)
    b = arguments[1]
    if operation == "**":
        return _rational_power(a, b, limit)
    if operation == "/":
        if b == 0:
            raise UndefinedError("division by zero")
        result = a / b
    else:
        result = a + b if operation == "+" else a - b if operation == "-" else a * b
    return result if max(abs(result.numerator), result.denominator).bit_length() <= limit else None


def _rational_power(base: Fraction, exponent: Fraction, limit: int) -> Fraction | None:
    if base == 0:
        if exponent < 0:
            raise UndefinedError("division by zero")
        return Fraction(int(exponent == 0))
    if exponent.denominator != 1:
        if base < 0:
            raise UndefinedError("a square root or another fractional power of a negative number")
        if exponent.denominator > 64:
            return Fraction(1) if base == 1 else None
        above, below = _root(base.numerator, exponent.denominator), _root(base.denominator, exponent.denominator)
        if above is None or below is None:
            return None
        base = Fraction(above, below)
    if base in (1, -1):
        return base ** (exponent.numerator % 2)
    bits = max(abs(base.numerator), base.denominator).bit_length()
    return Fraction(base**exponent.numerator) if bits * abs(exponent.numerator) <= limit else None


def _root(number: int, degree: int) -> int | None:
    """The degree-th root of a positive integer, where it is an integer."""
    if degree == 2:
        guess = math.isqrt(number)
    else:  # Newton's method on integers, from above
        guess = 1 << -(-number.bit_length() // degree)
        while True:
            better = ((degree - 1) * guess + number // guess ** (degree - 1)) // degree
            if better >= guess:
                break
            guess = better
    return guess if guess**degree == number else None


def is_tight(value: Real, bits: int) -> bool:
    """Whether the radius is at most 2**-bits of the value."""
    return isinstance(value, Fraction) or value.rad() == 0 or value.rel_accuracy_bits() >= bits


def decimals(value: Real) -> tuple[str, str]:
    """Decimal strings (lower, upper) with lower <= value <= upper; equal where a short decimal is exact."""
    if isinstance(value, Fraction):
        size = math.floor(math.log10(2) * (abs(value.numerator).bit_length() - value.denominator.bit_length()))
        exponent = size - DIGITS
        scaled = value / Fraction(10) ** exponent
        return _decimal(math.floor(scaled), exponent), _decimal(math.ceil(scaled), exponent)
    middle, radius, exponent = (int(part) for part in value.mid_rad_10exp(DIGITS))
    return _decimal(middle - radius, exponent), _decimal(middle + radius, exponent)


def to_float(value: Real) -> float:
    """The nearest float64, or close to it for a ball; +-inf where it is too large for one."""
    if isinstance(value, Fraction):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return float(value.mid())


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


def _brief(value: Fraction) -> str:
    bits = max(abs(value.numerator), value.denominator).bit_length()
    return str(value) if bits <= 200 else f"a fraction of {bits} bits"
