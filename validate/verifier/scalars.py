"""Exact arithmetic on numbers and vectors: fractions, and intervals that are rounded outwards after a root.

What is undefined (a division by zero, the root of a negative number) is `Uncheckable`, as is what an interval does not
tell. `Work` bounds how much is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt

from .intervals import Interval, OutsideDomain, certainly, exponential, greatest, least
from .intervals import logarithm as log_of
from .intervals import root as root_of
from .reading import FormatError, Uncheckable, bits

Number = Fraction | Interval
Vector = tuple[Number, ...]
ZERO, ONE = Fraction(0), Fraction(1)
MOST_BITS = 50_000  # of numerator or denominator
MOST_POWER = 10**15  # an exponent
MOST_DEGREE = 64  # of a root that is looked for among the fractions
MOST_WORK = 20_000_000  # about this many microseconds


class Work:
    """How much may still be computed, in units of about a microsecond.

    Args:
        left: how much.
        longest: bits above which a fraction goes on as an interval around it; None where fractions are kept.
    """

    __slots__ = ("left", "longest")

    def __init__(self, left: int = MOST_WORK, longest: int | None = None) -> None:
        self.left, self.longest = left, longest

    def spend(self, units: int) -> None:
        """Counts so much work.

        Raises:
            FormatError: when it is too much.
        """
        self.left -= units
        if self.left < 0:
            raise FormatError("there are too many outcomes, rounds, turns or terms to be checked")

    def kept(self, values: Sequence[Number]) -> Vector:
        """The numbers, long ones enclosed in intervals where that is wanted; counts the work of having made them."""
        if self.longest is not None:
            long = [v for v in values if isinstance(v, Fraction) and _bits(v) > self.longest]
            self.spend(sum(_bits(v) ** 2 >> 18 for v in long))
            values = [Interval.of(v) if isinstance(v, Fraction) and _bits(v) > self.longest else v for v in values]
        self.numbers(values)
        return tuple(values)

    def numbers(self, values: Sequence[Number]) -> None:
        """Counts the work of having made these numbers, and refuses long ones."""
        spent = 0
        for value in values:
            if type(value) is Fraction:
                size = _bits(value)
                if size > 2 * MOST_BITS:
                    raise FormatError("the numbers of the run grow too long to be checked")
                spent += 2 + (size * size >> 18)
            else:
                spent += 5
        self.spend(spent)


def _bits(value: Fraction) -> int:
    return int(value._numerator.bit_length() + value._denominator.bit_length())  # type: ignore[attr-defined]


def is_zero(value: Number) -> bool:
    """Whether a number is 0.

    Raises:
        Uncheckable: where an interval does not tell.
    """
    if isinstance(value, Fraction):
        return value == 0
    if value.low <= 0 <= value.high:
        if value.low == value.high:
            return True
        raise Uncheckable("an interval does not tell whether a number is 0")
    return False


def below(one: Number, two: Number) -> bool:
    """Whether one < two.

    Raises:
        Uncheckable: where intervals do not tell.
    """
    if certainly(one, "<", two):
        return True
    if certainly(two, "<=", one):
        return False
    raise Uncheckable("intervals do not tell which of two numbers is larger")


def sure(one: Number, relation: str, two: Number) -> bool:
    """Whether the relation holds for all numbers of the intervals."""
    return certainly(one, "=" if relation == "==" else relation, two)


def surely_not(one: Number, relation: str, two: Number) -> bool:
    """Whether the relation fails for all numbers of the intervals."""
    if relation == "==":
        return certainly(one, "<", two) or certainly(two, "<", one)
    return certainly(one, {"<=": ">", "<": ">=", ">=": "<", ">": "<="}[relation], two)


def divided(one: Number, two: Number) -> Number:
    """The quotient."""
    if is_zero(two):
        raise Uncheckable("a division by 0")
    return one / two


def power(base: Number, exponent: Number) -> Number:
    """base**exponent; 0**0 is 1."""
    if isinstance(exponent, Interval) and exponent.low == exponent.high:
        exponent = exponent.ends[0]
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = abs(int(exponent))
        if size == 0:
            return ONE
        if size > MOST_POWER:
            raise FormatError("a power is too large to be checked")
        if isinstance(base, Fraction):
            if exponent < 0 and base == 0:
                raise Uncheckable("a division by 0")
            if size * bits(base) <= MOST_BITS * 8:
                return base ** int(exponent)
            base = Interval.of(base)
        if exponent < 0:
            is_zero(base)
        return _interval_power(base, int(exponent))
    if isinstance(base, Fraction) and base == 0:
        if below(ZERO, exponent):
            return ZERO
        raise Uncheckable("a division by 0")
    if isinstance(exponent, Fraction) and exponent.denominator == 2:
        return power(root(base), Fraction(exponent.numerator))
    if not below(ZERO, base):
        raise Uncheckable("a fractional power of a number that is not positive")
    if isinstance(exponent, Fraction) and isinstance(base, Fraction) and exponent.denominator <= MOST_DEGREE:
        roots = [_whole_root(n, exponent.denominator) for n in (base.numerator, base.denominator)]
        if all(roots):
            return power(Fraction(*roots), Fraction(exponent.numerator))
    return exponential(exponent * logarithm(base))


def _whole_root(n: int, degree: int) -> int:
    """The root of a positive integer, where it is one; else 0. By Newton's method, from above."""
    x = 1 << -(-n.bit_length() // degree)
    while (y := ((degree - 1) * x + n // x ** (degree - 1)) // degree) < x:
        x = y
    return x if x**degree == n else 0


def _interval_power(base: Interval, exponent: int) -> Number:
    """By squaring; of an even power the absolute value is taken, which is tighter."""
    factor, size = (abs(base) if exponent % 2 == 0 else base), abs(exponent)
    result: Interval = Interval.of(1)
    while size:
        if size & 1:
            result = result * factor
        factor = factor * factor
        size >>= 1
    return result if exponent > 0 else divided(ONE, result)


def root(value: Number) -> Number:
    """The square root: a fraction where it is one, else an interval."""
    try:
        return root_of(value)
    except OutsideDomain as reason:
        raise Uncheckable(str(reason)) from None


def logarithm(value: Number) -> Number:
    """The natural logarithm."""
    if isinstance(value, Fraction) and value == 1:
        return ZERO
    try:
        return log_of(value)
    except OutsideDomain as reason:
        raise Uncheckable(str(reason)) from None


def _exp(value: Number) -> Number:
    return ONE if value == 0 else exponential(value)


def smallest(*values: Number) -> Number:
    """The least."""
    return min(values) if all(isinstance(v, Fraction) for v in values) else least(list(values))  # type: ignore[type-var]


def largest(*values: Number) -> Number:
    """The greatest."""
    if all(isinstance(v, Fraction) for v in values):
        return max(values)  # type: ignore[type-var]
    return greatest(list(values))


def product(one: Number, two: Number) -> Number:
    """one * two; 0 times an interval is 0."""
    zero = any(isinstance(factor, Fraction) and factor == 0 for factor in (one, two))
    return ZERO if zero else one * two


OPERATIONS: Mapping[str, Callable[..., Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": product,
    "/": divided,
    "**": power,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": root,
    "exp": _exp,
    "log": logarithm,
    "min": smallest,
    "max": largest,
}


# --- vectors ----------------------------------------------------------------------------------------------------------


def combined(factors: Sequence[Number], vectors: Sequence[Vector], d: int) -> Vector:
    """sum c v, of no vector 0."""
    total: list[Number] | None = None
    for c, v in zip(factors, vectors, strict=True):
        if total is None:
            total = list(v) if c == 1 else [c * x for x in v]
        elif c == 1:
            total = [a + x for a, x in zip(total, v, strict=True)]
        else:
            total = [a + c * x for a, x in zip(total, v, strict=True)]
    return (ZERO,) * d if total is None else tuple(total)


def dot(u: Vector, v: Vector) -> Number:
    """The inner product."""
    total: Number = ZERO
    for x, y in zip(u, v, strict=True):
        total = total + x * y
    return total


def square(v: Sequence[Fraction]) -> Fraction:
    """The squared norm of a vector of fractions."""
    return sum((x * x for x in v), ZERO)


def norm2(v: Vector) -> Number:
    """The squared norm."""
    total: Number = ZERO
    for x in v:
        total = total + power(x, Fraction(2))
    return total


def sign(x: Number) -> Number:
    """-1, 0 or 1."""
    return ZERO if is_zero(x) else ONE if below(ZERO, x) else -ONE


def into_ball(v: Vector, radius: Number) -> Vector:
    """The vector, scaled into the ball around 0 where it is outside."""
    square = norm2(v)
    if certainly(square, "<=", radius * radius):
        return v
    factor = divided(radius, root(square))
    if not certainly(square, ">", radius * radius):  # at the border both are the same
        factor = smallest(factor, ONE)
    return tuple([factor * x for x in v])


def _absolute(x: Number) -> Number:
    return -x if isinstance(x, Fraction) and x < 0 else abs(x) if isinstance(x, Interval) else x


def top(v: Vector, m: int) -> Vector:
    """The m coordinates that are largest in absolute value, the first on ties."""
    sizes: list[Number] = [_absolute(x) for x in v]
    order: list[int] = []
    for j in range(len(v)):
        place = 0
        while place < len(order) and not below(sizes[order[place]], sizes[j]):
            place += 1
        order.insert(place, j)
    kept = set(order[:m])
    return tuple([x if j in kept else ZERO for j, x in enumerate(v)])


def two_points(variance: Number) -> list[tuple[Number, Number]]:
    """Two values of opposite signs with mean 0 and this variance, each after its probability; exact where that is."""
    if is_zero(variance):
        return [(ONE, ZERO)]
    if isinstance(variance, Interval):
        value = root(variance)
        return [(Fraction(1, 2), value), (Fraction(1, 2), -value)]
    product = variance.numerator * variance.denominator
    scale = 1 if isqrt(product) ** 2 == product else 16
    a = Fraction(max(1, isqrt(product * scale * scale)), variance.denominator * scale)
    b = variance / a
    return [(b / (a + b), a), (a / (a + b), -b)]
