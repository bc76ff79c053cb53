"""What an operation on intervals says about its arguments: backwards from its result, and by its slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from theory.feasible.intervals import (
    EVERYTHING,
    INF,
    Interval,
    add,
    constant_power,
    divide,
    enclose,
    exp,
    log,
    meet,
    multiply,
    negative,
    positive_power,
    subtract,
)


def backward(
    operation: str, result: Interval, arguments: Sequence[Interval], exponent: Fraction | None = None
) -> list[Interval | None]:
    """Each argument without values that cannot give a result in `result`, whatever the others are. See `forward`."""
    if operation == "**":
        base = arguments[0]
        return [base if exponent is None else _power_base(result, base, exponent), arguments[1]]
    return _BACKWARD[operation](result, *arguments)


def slopes(
    operation: str, result: Interval, arguments: Sequence[Interval], exponent: Fraction | None = None
) -> list[Interval]:
    """Each argument's partial derivative, over the arguments; everything where it is not known to be continuous.

    At a kink (``abs``, ``min``, ``max``) it holds both one-sided slopes, so that a definite sign means monotone.

    Args:
        operation: as for `forward`.
        result: of `forward` on the arguments.
        arguments: non-empty intervals.
        exponent: of ``**``, where it is a known number.
    """
    a = arguments[0]
    if operation == "**":
        return _power_slopes(result, a, arguments[1], exponent)
    if operation == "/":
        b = arguments[1]
        if b[0] <= 0 <= b[1]:
            return [EVERYTHING, EVERYTHING]
        return [divide((1.0, 1.0), b) or EVERYTHING, divide(negative(result), b) or EVERYTHING]
    if operation in ("sqrt", "log"):
        if a[0] < 0 or (operation == "log" and a[0] == 0):
            return [EVERYTHING]
        return [
            divide((0.5, 0.5), result) or EVERYTHING if operation == "sqrt" else divide((1.0, 1.0), a) or EVERYTHING
        ]
    if operation == "abs":
        return [(1.0 if a[0] >= 0 else -1.0, -1.0 if a[1] <= 0 < -a[0] else 1.0)]
    if operation in ("min", "max"):
        return [(0.0, 1.0)] * len(arguments)
    simple: dict[str, list[Interval]] = {
        "+": [(1.0, 1.0), (1.0, 1.0)],
        "-": [(1.0, 1.0), (-1.0, -1.0)],
        "*": [arguments[-1], a],
        "neg": [(-1.0, -1.0)],
        "exp": [result],
    }
    return simple[operation]


def _power_slopes(z: Interval, x: Interval, y: Interval, exponent: Fraction | None) -> list[Interval]:
    if exponent is None:
        if x[0] <= 0:
            return [EVERYTHING, EVERYTHING]
        quotient, logarithm = divide(z, x), log(x)
        assert quotient is not None
        assert logarithm is not None
        return [multiply(y, quotient), multiply(z, logarithm)]
    whole = exponent.denominator == 1
    if (x[0] < 0 and not whole) or (exponent < 0 and x[0] <= 0 <= x[1]):
        return [EVERYTHING, (0.0, 0.0)]
    lower = constant_power(x, exponent - 1)
    return [EVERYTHING if lower is None else multiply(enclose(exponent), lower), (0.0, 0.0)]


def _power_base(z: Interval, x: Interval, exponent: Fraction) -> Interval | None:
    """The base of a power, given the result."""
    if exponent == 0:
        return x
    root = 1 / exponent
    if exponent.denominator != 1:
        positive = meet(z, (0.0, INF))
        return None if positive is None else meet(x, meet((0.0, INF), positive_power(*positive, root)))
    if exponent.numerator % 2 == 0:
        positive = meet(z, (0.0, INF))
        if positive is None:
            return None
        low, high = positive_power(*positive, root)
        if x[0] >= 0:
            return meet(x, (low, high))
        return meet(x, (-high, -low)) if x[1] <= 0 else meet(x, (-high, high))
    if x[0] >= 0:
        positive = meet(z, (0.0, INF))
        return None if positive is None else meet(x, positive_power(*positive, root))
    return x


def _back_add(z: Interval, a: Interval, b: Interval) -> list[Interval | None]:
    return [meet(a, subtract(z, b)), meet(b, subtract(z, a))]


def _back_subtract(z: Interval, a: Interval, b: Interval) -> list[Interval | None]:
    return [meet(a, add(z, b)), meet(b, subtract(a, z))]


def _factor(z: Interval, a: Interval, b: Interval) -> Interval | None:
    """a with a b = z: anything where b may be 0 and z too."""
    if b[0] <= 0 <= b[1] and z[0] <= 0 <= z[1]:
        return a
    return meet(a, divide(z, b))


def _back_multiply(z: Interval, a: Interval, b: Interval) -> list[Interval | None]:
    return [_factor(z, a, b), _factor(z, b, a)]


def _back_divide(z: Interval, a: Interval, b: Interval) -> list[Interval | None]:
    return [meet(a, multiply(z, b)), _factor(a, b, z)]


def _back_sqrt(z: Interval, a: Interval) -> list[Interval | None]:
    root = meet(z, (0.0, INF))
    return [None if root is None else meet(a, multiply(root, root))]


def _back_min(z: Interval, *a: Interval) -> list[Interval | None]:
    return [meet(x, (z[0], INF)) for x in a]


def _back_max(z: Interval, *a: Interval) -> list[Interval | None]:
    return [meet(x, (-INF, z[1])) for x in a]


def _back_abs(z: Interval, a: Interval) -> list[Interval | None]:
    size = meet(z, (0.0, INF))
    if size is None:
        return [None]
    if a[0] >= 0:
        return [meet(a, size)]
    return [meet(a, negative(size)) if a[1] <= 0 else meet(a, (-size[1], size[1]))]


_BACKWARD: dict[str, Callable[..., list[Interval | None]]] = {
    "+": _back_add,
    "-": _back_subtract,
    "*": _back_multiply,
    "/": _back_divide,
    "neg": lambda z, a: [meet(a, negative(z))],
    "sqrt": _back_sqrt,
    "log": lambda z, a: [meet(meet(a, (0.0, INF)), exp(z))],
    "exp": lambda z, a: [meet(a, log(z))],
    "abs": _back_abs,
    "min": _back_min,
    "max": _back_max,
}
