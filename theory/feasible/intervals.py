"""Intervals of reals with float64 ends, rounded outwards, possibly unbounded.

Sums, products, quotients and square roots are those of IEEE arithmetic, moved one float outwards unless they are seen
to be exact; logarithms, exponentials and powers are Arb balls, whose ends are moved outwards. An infinite end means
that the interval has no end, never that it contains infinity. None stands for the empty interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Interval: TypeAlias = tuple[float, float]

INF = math.inf
EVERYTHING: Interval = (-INF, INF)
EXACT = 2.0**53


def enclose(value: Fraction) -> Interval:
    """The smallest interval around a rational."""
    try:
        near = float(value)
    except OverflowError:
        return (math.nextafter(INF, 0), INF) if value > 0 else (-INF, math.nextafter(-INF, 0))
    exact = Fraction(near)
    return (near if exact <= value else _down(near), near if exact >= value else _up(near))


def meet(a: Interval | None, b: Interval | None) -> Interval | None:
    """The intersection."""
    if a is None or b is None:
        return None
    low, high = a
    if b[0] > low:
        low = b[0]
    if b[1] < high:
        high = b[1]
    return (low, high) if low <= high else None


def forward(operation: str, arguments: Sequence[Interval], exponent: Fraction | None = None) -> Interval | None:
    """An interval that contains every value of the operation on the arguments where it is defined; None: nowhere.

    Args:
        operation: as in `theory.formula.Apply`, but for the reductions of vectors.
        arguments: non-empty intervals.
        exponent: of ``**``, where it is a known number.
    """
    if operation == "**":
        return _power(*arguments) if exponent is None else constant_power(arguments[0], exponent)
    return _FORWARD[operation](*arguments)


def _down(x: float) -> float:
    return math.nextafter(x, -INF)


def _up(x: float) -> float:
    return math.nextafter(x, INF)


def _outwards(low: float, high: float) -> Interval:
    return _down(low), _up(high)


def _exact_sum(a: float, b: float, s: float) -> bool:
    back = s - a
    return (a - (s - back)) + (b - back) == 0  # Knuth's error term; NaN where something is infinite


def add(a: Interval, b: Interval) -> Interval:
    """The sum."""
    low, high = a[0] + b[0], a[1] + b[1]
    return (
        low if _exact_sum(a[0], b[0], low) else _down(low),
        high if _exact_sum(a[1], b[1], high) else _up(high),
    )


def negative(a: Interval) -> Interval:
    """The interval of -x."""
    return -a[1], -a[0]


def subtract(a: Interval, b: Interval) -> Interval:
    """The difference."""
    return add(a, negative(b))


def _halves(x: float) -> tuple[float, float]:
    """x as a sum of two numbers of 26 bits (Veltkamp)."""
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _exact_product(x: float, y: float, p: float) -> bool:
    """Whether p is x y and not only near it (Dekker's error term); False where it might overflow or underflow."""
    if not (1e-140 < abs(x) < 1e140 and 1e-140 < abs(y) < 1e140):
        return False
    (a, b), (c, d) = _halves(x), _halves(y)
    return ((a * c - p) + a * d + b * c) + b * d == 0


def _product(x: float, y: float) -> float:
    """x y, with 0 inf = 0."""
    return 0.0 if x == 0 or y == 0 else x * y


def _is_product(x: float, y: float, p: float) -> bool:
    """Whether p, which is `_product` of x and y, is seen to be exact."""
    return x == 0 or y == 0 or _exact_product(x, y, p)


def multiply(a: Interval, b: Interval) -> Interval:
    """The product."""
    (a0, a1), (b0, b1) = a, b
    if a0 >= 0 and b0 >= 0:
        bottom, top = _product(a0, b0), _product(a1, b1)
        if not _is_product(a0, b0, bottom):
            bottom = max(_down(bottom), 0.0)  # an underflow does not change the sign
        return bottom, top if _is_product(a1, b1, top) else _up(top)
    pairs = ((a0, b0), (a0, b1), (a1, b0), (a1, b1))
    products = [_product(x, y) for x, y in pairs]
    bottom, top = min(products), max(products)
    known = list(zip(products, pairs, strict=True))
    if not all(_is_product(x, y, p) for p, (x, y) in known if p == bottom):
        bottom = _down(bottom)
    if not all(_is_product(x, y, p) for p, (x, y) in known if p == top):
        top = _up(top)
    if a1 <= 0 and b1 <= 0:
        bottom = max(bottom, 0.0)
    if (a0 >= 0 and b1 <= 0) or (a1 <= 0 and b0 >= 0):
        top = min(top, 0.0)
    return bottom, top


def _inverse(b: Interval) -> Interval | None:
    """1/b over the values other than 0."""
    low, high = b
    if low == 0 == high:
        return None
    if low < 0 < high:
        return EVERYTHING
    if low >= 0:
        return max(0.0, _down(1 / high)) if high < INF else 0.0, _up(1 / low) if low > 0 else INF
    return _down(1 / high) if high < 0 else -INF, min(0.0, _up(1 / low)) if low > -INF else 0.0


def _quotient_ends(x: float, y: float) -> Interval:
    """x/y between floats, with x/inf = 0 for the limit."""
    if x == 0 or math.isinf(y):
        return 0.0, 0.0
    q = x / y
    return (q, q) if q * y == x and _exact_product(q, y, x) else (_down(q), _up(q))


def divide(a: Interval, b: Interval) -> Interval | None:
    """The quotient over the values of b other than 0."""
    infinite = (math.isinf(a[0]) or math.isinf(a[1])) and (math.isinf(b[0]) or math.isinf(b[1]))
    if b[0] <= 0 <= b[1] or infinite:
        inverse = _inverse(b)
        return None if inverse is None else multiply(a, inverse)
    if b[1] < 0:
        a, b = negative(a), negative(b)
    if a[0] >= 0:
        return max(_quotient_ends(a[0], b[1])[0], 0.0), _quotient_ends(a[1], b[0])[1]
    if a[1] <= 0:
        return _quotient_ends(a[0], b[0])[0], min(_quotient_ends(a[1], b[1])[1], 0.0)
    return _quotient_ends(a[0], b[0])[0], _quotient_ends(a[1], b[0])[1]


def _sqrt(a: Interval) -> Interval | None:
    if a[1] < 0:
        return None
    low = math.sqrt(max(a[0], 0.0))
    high = math.sqrt(a[1])
    return (
        low if low.is_integer() and low * low == a[0] < EXACT else max(0.0, _down(low)),
        high if high.is_integer() and high * high == a[1] < EXACT else _up(high),
    )


def _enclosed(compute: Callable[..., Any], *numbers: float | Fraction) -> Interval:
    """The ends of an Arb function at exact numbers; `compute` takes balls."""
    import flint

    with flint.ctx.workprec(96):
        balls = [flint.arb(flint.fmpq(x.numerator, x.denominator) if isinstance(x, Fraction) else x) for x in numbers]
        value = compute(*balls)
        if not value.is_finite():
            return EVERYTHING
        if value.is_exact() and abs(value) < EXACT:
            exact = float(value.mid())
            if value == flint.arb(exact):
                return exact, exact
        return _outwards(_float(value.lower()), _float(value.upper()))


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return INF if value > 0 else -INF


def exp(a: Interval) -> Interval:
    """The exponential."""
    low = 0.0
    if a[0] > 1000:
        low = math.nextafter(INF, 0)
    elif a[0] > -1000:
        low = max(0.0, _enclosed(lambda x: x.exp(), a[0])[0])
    high = INF if a[1] > 1000 else _enclosed(lambda x: x.exp(), max(a[1], -1000.0))[1]
    return low, high


def log(a: Interval) -> Interval | None:
    """The natural logarithm over positive values."""
    if a[1] <= 0:
        return None
    low = -INF if a[0] <= 0 else _enclosed(lambda x: x.log(), a[0])[0]
    return low, INF if a[1] == INF else _enclosed(lambda x: x.log(), a[1])[1]


def _abs(a: Interval) -> Interval:
    if a[0] >= 0:
        return a
    return negative(a) if a[1] <= 0 else (0.0, max(-a[0], a[1]))


def _min(*a: Interval) -> Interval:
    return min(x[0] for x in a), min(x[1] for x in a)


def _max(*a: Interval) -> Interval:
    return max(x[0] for x in a), max(x[1] for x in a)


def _point_power(x: float, y: float | Fraction) -> Interval:
    """x**y for x > 0, one of them possibly infinite (then the limit)."""
    if y == 0 or x == 1:
        return 1.0, 1.0
    if x == INF or y == INF or y == -INF:
        large = (x > 1) == (y > 0)
        return (INF, INF) if large else (0.0, 0.0)
    bits = abs(math.log2(x) * float(y)) if -1e300 < y < 1e300 else INF
    if bits > 1100:
        large = (x > 1) == (y > 0)
        return (math.nextafter(INF, 0), INF) if large else (0.0, math.nextafter(0.0, 1.0))
    low, high = _enclosed(lambda b, e: b**e, x, y)
    return max(0.0, low), high


def positive_power(low: float, high: float, y: Fraction) -> Interval:
    """The powers of [low, high], 0 <= low <= high, with y != 0; at 0 the limit, which is inf for y < 0."""
    ends = [(0.0, 0.0) if x == 0 and y > 0 else (INF, INF) if x == 0 else _point_power(x, y) for x in (low, high)]
    first, last = ends if y > 0 else ends[::-1]
    # an infinite limit is no lower end
    return (math.nextafter(INF, 0) if first[0] == INF else first[0]), last[1]


def _power(x: Interval, y: Interval) -> Interval | None:
    """x**y for intervals, with 0**0 = 1."""
    if x[0] < 0:  # only integer exponents are defined below zero; their values have the size of |x|**y
        size = _power(_abs(x), y)
        return None if size is None else (-size[1], size[1])
    if x == (0.0, 0.0) and y[1] < 0:
        return None
    candidates: list[Interval] = []
    for b in x:
        for e in y:
            if b == 0:
                candidates.append((0.0, 0.0) if e > 0 else (0.0, 1.0) if e == 0 else (0.0, INF))
            else:
                candidates.append(_point_power(b, e))
    if x[0] <= 1 <= x[1] or y[0] <= 0 <= y[1]:
        candidates.append((1.0, 1.0))
    low = min(c[0] for c in candidates)
    return (math.nextafter(INF, 0) if low == INF else low), max(c[1] for c in candidates)


def constant_power(x: Interval, exponent: Fraction) -> Interval | None:
    """x**exponent for a rational exponent, with 0**0 = 1."""
    if exponent == 0:
        return 1.0, 1.0
    if exponent == 1:
        return x
    if exponent.denominator != 1 or x[0] >= 0:
        positive = meet(x, (0.0, INF))
        if positive is None or (exponent < 0 and positive[1] == 0):
            return None
        return positive_power(*positive, exponent)
    if x == (0.0, 0.0) and exponent < 0:
        return None
    odd = exponent.numerator % 2 == 1
    if x[1] <= 0:
        low, high = positive_power(-x[1] + 0.0, -x[0], exponent)
        return (-high, -low) if odd else (low, high)
    if exponent < 0:
        return EVERYTHING if odd else (positive_power(0.0, max(-x[0], x[1]), exponent)[0], INF)
    below, above = positive_power(0.0, -x[0], exponent)[1], positive_power(0.0, x[1], exponent)[1]
    return (-below, above) if odd else (0.0, max(below, above))


_FORWARD: dict[str, Callable[..., Interval | None]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "neg": negative,
    "sqrt": _sqrt,
    "log": log,
    "exp": exp,
    "abs": _abs,
    "min": _min,
    "max": _max,
}
