"""The operations of formulas on FLINT's rationals (fmpq), where the result is rational, and on Arb balls elsewhere.

A value stays rational as long as it can. The balls have the precision that `flint.ctx` is set to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.formula import UndefinedError

if TYPE_CHECKING:
    from flint import arb, fmpq, fmpz

Element: TypeAlias = "fmpq | arb"
Operation: TypeAlias = Callable[..., Any]

LARGEST_RATIONAL = 4096  # bits of numerator or denominator, above which balls take over
LARGEST_EXACT = 2**22  # the same where only rationals will do
LARGEST_ROOT = 64  # degree up to which roots are looked for


class UndecidedError(ArithmeticError):
    """The balls are too wide to tell; a higher precision may help."""


class NotRationalError(ValueError):
    """The value is not a rational number, or too long a one."""


class Operand(ABC):
    """A number of another kind, which says itself what becomes of it: it may record what is done with it."""

    @abstractmethod
    def operate(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """The result of an operation of `theory.formula` on arguments of which it is one, the others being elements."""


def integer_power(exponent: int, limit: int, general: Operation) -> Operation:
    """``**`` with that exponent, which is frequent; `general` is the operation for all exponents."""
    from flint import fmpq

    whole = fmpq(exponent)

    def apply(base: Element) -> Element:
        if type(base) is fmpq and base and base.height_bits() * abs(exponent) <= limit:
            result: Element = base**exponent
        else:
            result = general(base, whole)
        return result

    return apply


@cache
def operations(limit: int, exact: bool) -> Mapping[str, Operation]:
    """By name, the operations of `theory.formula` on numbers, and its reductions on tuples of numbers.

    Args:
        limit: bits of numerator or denominator up to which a result is kept as a rational.
        exact: whether a result that is not rational, or longer, is an error rather than a ball.

    The operations raise `UndefinedError` where there is no real value, `UndecidedError` where a ball may have none, and
    `NotRationalError` (only if `exact`).
    """
    from flint import arb, fmpq

    def lift(name: str, on_rationals: Operation, on_balls: Operation) -> Operation:
        """The operation on both kinds; `on_rationals` gives None where the result is no rational."""

        def apply(*arguments: Element) -> Element:
            for argument in arguments:
                if type(argument) is not fmpq:
                    break
            else:
                result: Element | None = on_rationals(*arguments)
                if result is not None:
                    return result
                if exact:
                    shown = ", ".join(map(_brief, arguments))
                    raise NotRationalError(f"{name} of {shown} is not rational, or too long for exact arithmetic")
            for argument in arguments:
                if isinstance(argument, Operand):
                    own: Element = argument.operate(name, arguments)
                    return own
            result = on_balls(*arguments)
            if not result.is_finite():
                raise UndecidedError(name)
            return result

        return apply

    def lift_field(name: str, operation: Operation) -> Operation:
        """The same for + - *, which are the same on both kinds, and the most frequent."""
        general = lift(name, lambda a, b: None, lambda a, b: operation(to_ball(a), to_ball(b)))

        def apply(a: Element, b: Element) -> Element:
            if type(a) is fmpq and type(b) is fmpq:
                result: Element = operation(a, b)
                if result.height_bits() <= limit:
                    return result
            return general(a, b)

        return apply

    def quotient(a: fmpq, b: fmpq) -> fmpq | None:
        if not b:
            raise UndefinedError("division by zero")
        result = a / b
        return result if result.height_bits() <= limit else None

    def power(base: fmpq, exponent: fmpq) -> fmpq | None:
        return _rational_power(base, exponent, limit)

    def logarithm(a: fmpq) -> fmpq | None:
        if a <= 0:
            raise UndefinedError("log of a number that is not positive")
        return fmpq(0) if a == 1 else None

    half = fmpq(1, 2)
    numbers: dict[str, Operation] = {
        "+": lift_field("+", lambda a, b: a + b),
        "-": lift_field("-", lambda a, b: a - b),
        "*": lift_field("*", lambda a, b: a * b),
        "/": lift("/", quotient, lambda a, b: to_ball(a) / to_ball(b)),
        "**": lift("**", power, _ball_power),
        "neg": lift("neg", lambda a: -a, lambda a: -a),
        "abs": lift("abs", abs, abs),
        "sqrt": lift("sqrt", lambda a: power(a, half), lambda a: _ball_root(to_ball(a))),
        "exp": lift("exp", lambda a: None if a else fmpq(1), lambda a: to_ball(a).exp()),
        "log": lift("log", logarithm, lambda a: _ball_logarithm(to_ball(a))),
        "min": lift("min", lambda *a: min(a), lambda *a: reduce(arb.min, map(to_ball, a))),
        "max": lift("max", lambda *a: max(a), lambda *a: reduce(arb.max, map(to_ball, a))),
    }
    plus, over, least, greatest = (numbers[name] for name in ("+", "/", "min", "max"))
    reductions: dict[str, Operation] = {
        "sum": lambda vector: reduce(plus, vector),
        "mean": lambda vector: over(reduce(plus, vector), fmpq(len(vector))),
        "amin": lambda vector: reduce(least, vector),
        "amax": lambda vector: reduce(greatest, vector),
    }
    return numbers | reductions


def to_ball(value: Element) -> arb:
    """A ball that contains the value."""
    import flint

    return value if type(value) is flint.arb else flint.arb(value)


@cache
def rational_type() -> Any:
    """FLINT's rationals: a call is several times faster than an import inside a function that is called often."""
    from flint import fmpq

    return fmpq


def to_fraction(value: Element) -> Any:
    """A rational as Python's Fraction; a ball as it is."""
    if type(value) is not rational_type():
        return value
    made: Any = object.__new__(Fraction)  # in lowest terms already: no common divisor needs to be looked for
    made._numerator, made._denominator = int(value.p), int(value.q)
    return made


def _ball_root(a: arb) -> arb:
    if a < 0:
        raise UndefinedError("sqrt of a negative number")
    return a.sqrt()


def _ball_logarithm(a: arb) -> arb:
    if a < 0:
        raise UndefinedError("log of a negative number")
    return a.log()


def _ball_power(base: Element, exponent: Element) -> arb:
    import flint

    b = to_ball(base)
    if type(exponent) is flint.fmpq:
        if exponent.denominator == 1:
            return b**exponent.numerator
        if b < 0:
            raise UndefinedError("a fractional power of a negative number")
        if exponent.denominator == 2:  # tighter than the general power near zero
            return _ball_root(b) ** exponent.numerator
    e = to_ball(exponent)
    if type(base) is flint.fmpq and base == 0:
        if e > 0:
            return b
        if e < 0:
            raise UndefinedError("division by zero")
    return b**e


def _rational_power(base: fmpq, exponent: fmpq, limit: int) -> fmpq | None:
    import flint

    if not base:
        if exponent < 0:
            raise UndefinedError("division by zero")
        return flint.fmpq(0 if exponent else 1)
    numerator, degree = exponent.numerator, exponent.denominator
    if degree != 1:
        if base < 0:
            raise UndefinedError("a square root or another fractional power of a negative number")
        if degree > LARGEST_ROOT:
            return base if base == 1 else None
        above, below = _root(base.numerator, int(degree)), _root(base.denominator, int(degree))
        if above is None or below is None:
            return None
        base = flint.fmpq(above, below)
    bits = base.height_bits()
    if bits == 1:  # 1 or -1
        return base if numerator % 2 else -base if base < 0 else base
    return base ** int(numerator) if bits * abs(numerator) <= limit else None


def _root(number: fmpz, degree: int) -> fmpz | None:
    """The degree-th root of a positive integer, where it is an integer."""
    root = number.isqrt() if degree == 2 else number.root(degree)
    return root if root**degree == number else None


def _brief(value: fmpq) -> str:
    return str(value) if value.height_bits() <= 200 else f"a fraction of {value.height_bits()} bits"
