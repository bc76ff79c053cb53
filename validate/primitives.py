"""The primitives of a program, exactly: what each makes of one client's operands, and what a draw can give.

Numbers are FLINT's rationals (fmpq), and Arb balls after a root that is irrational. A vector is a tuple of d numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, isqrt, prod
from typing import Any, TypeAlias

from theory.arithmetic import to_element
from theory.operations import Element, UndecidedError, operations, rational_type
from theory.program import Instruction
from validate.instances.problems import Problem, Vector
from validate.instances.scalars import LONGEST_RATIONAL

Choices: TypeAlias = "list[tuple[Any, Any]]"
"""The values of a draw with their probabilities."""
One: TypeAlias = Callable[[int, "list[Any]", "list[Any]"], Any]
"""Client, its operands, its numbers -> its value."""
LONGEST, LONG = 2**20, 2**15
"""Bits of numerator or denominator above which a state is refused; in a hunt, where another run says more sooner."""


# --- one client's part of an instruction ------------------------------------------------------------------------------


def nonzero(value: Element) -> bool:
    if type(value) is rational_type():
        return bool(value)
    if value != 0:
        return True
    if value == 0:
        return False
    raise UndecidedError("whether a number is 0")


def _less(a: Element, b: Element) -> bool:
    if a < b:
        return True
    if a >= b:
        return False
    raise UndecidedError("which of two numbers is larger")


def short_enough(value: Element, longest: int = LONGEST) -> Element:
    """The number, if it is not too long."""
    if type(value) is rational_type() and value.height_bits() > longest:
        raise ValueError(
            f"a number of the run has more than {longest} bits: take fewer rounds or turns, or shorter parameters"
        )
    return value


def combined(coefficients: Sequence[Any], vectors: Sequence[Any], zero: Vector) -> Vector:
    """sum c v; a vector whose factor is 0 is not looked at."""
    return summed(terms_of(coefficients), vectors, zero)


Terms: TypeAlias = "list[tuple[int, int, Any]]"
"""Of a sum c v, for each factor that is not 0: its place, its sign where it is 1 or -1 and else 0, and the factor."""


def terms_of(coefficients: Sequence[Any]) -> Terms:
    """The terms of a sum with these factors."""
    return [(i, 1 if c == 1 else -1 if c == -1 else 0, c) for i, c in enumerate(coefficients) if nonzero(c)]


def summed(terms: Terms, vectors: Sequence[Any], zero: Vector) -> Vector:
    """sum c v; a vector whose factor is 0 is not looked at, and zeros are not added (symbols are mostly zeros)."""
    total: list[Any] | None = None
    for place, sign, c in terms:
        v = vectors[place]
        if total is None:
            total = list(v) if sign > 0 else [-x if x else x for x in v] if sign else [c * x if x else x for x in v]
        elif len(v) == 1:  # the most frequent case
            total[0] = total[0] + v[0] if sign > 0 else total[0] - v[0] if sign else total[0] + c * v[0]
        elif sign > 0:
            total = [a + x if x else a for a, x in zip(total, v, strict=True)]
        elif sign:
            total = [a - x if x else a for a, x in zip(total, v, strict=True)]
        else:
            total = [a + c * x if x else a for a, x in zip(total, v, strict=True)]
    return zero if total is None else tuple(total)


def mean_of(vectors: Sequence[Vector]) -> Vector:
    """The mean of one or more vectors."""
    if len(vectors) == 1:
        return vectors[0]
    return tuple([x / len(vectors) if x else x for x in added(vectors)])


def added(vectors: Sequence[Vector]) -> list[Element]:
    """The sum of one or more vectors."""
    total = list(vectors[0])
    for v in vectors[1:]:
        total = [a + x if x else a for a, x in zip(total, v, strict=True)]
    return total


def _top(v: Vector, m: int) -> Vector:
    """The m coordinates largest in absolute value, the first on ties."""
    sizes = [abs(x) for x in v]
    order: list[int] = []
    for j in range(len(v)):  # each behind all that are not smaller
        place = next((p for p, other in enumerate(order) if _less(sizes[other], sizes[j])), len(order))
        order.insert(place, j)
    kept = set(order[:m])
    zero = to_element(Fraction(0))
    return tuple([x if j in kept else zero for j, x in enumerate(v)])


def _norm2(v: Vector) -> Element:
    return short_enough(sum([x * x for x in v[1:]], v[0] * v[0]))


def _sign(x: Element) -> Element:
    zero = to_element(Fraction(0))
    return to_element(Fraction(0 if not nonzero(x) else 1 if _less(zero, x) else -1))


def elementwise(step: Instruction, problem: Problem, tables: Sequence[bool], weights: Vector | None) -> One:
    """What an instruction makes of one client's (or the server's) operands.

    Args:
        step: the instruction.
        problem: whose gradients it takes.
        tables: of each operand, whether it has a vector for each sample.
        weights: of ``combine``.
    """
    from flint import arb, fmpq

    apply = operations(LONGEST_RATIONAL, False)
    root, over = apply["sqrt"], apply["/"]
    zero, one = fmpq(0), fmpq(1)
    zeros, ones = (zero,) * problem.dim, (one,) * problem.dim

    def spread(n: int, of: list[Any], combine: Callable[[list[Any]], Any]) -> Any:
        if not any(tables):
            return combine(of)
        entries = range(problem.samples(n))
        return tuple(
            [combine([v[i] if t and v is not None else v for v, t in zip(of, tables, strict=True)]) for i in entries]
        )

    def linear(n: int, of: list[Any], numbers: list[Any]) -> Any:
        return spread(n, of, lambda vs: combined(numbers, vs, zeros))

    def where(n: int, of: list[Any], numbers: list[Any]) -> Any:
        place = 0 if nonzero(numbers[0]) else 1
        if any(tables) and not tables[place]:
            return (of[place],) * problem.samples(n)
        return of[place]

    def gradient(n: int, of: list[Any], numbers: list[Any]) -> Vector:
        if len(of) == 1:
            return problem.gradient(of[0], n)
        return mean_of([problem.gradient(of[0], n, i) for i in of[1]])

    def ball(n: int, of: list[Any], numbers: list[Any]) -> Vector:
        (v,), (radius,) = of, numbers
        square = _norm2(v)
        if square <= radius * radius:
            return v
        factor = over(radius, root(square))
        if not square > radius * radius:  # balls do not tell, and at the border both are the same
            factor = arb.min(arb(factor), arb(1))
        return tuple([x * factor for x in v])

    def larger(n: int, of: list[Any], numbers: list[Any]) -> Vector:
        return tuple([apply["max"](a, b) for a, b in zip(*of, strict=True)])

    def get(n: int, of: list[Any], numbers: list[Any]) -> Vector:
        return mean_of(of[0] if len(of) == 1 else [of[0][i] for i in of[1]])

    def put(n: int, of: list[Any], numbers: list[Any]) -> Any:
        table, i, v = of
        return tuple([v if j in i else entry for j, entry in enumerate(table)])

    def combine(n: int, of: list[Any], numbers: list[Any]) -> Vector:
        assert weights is not None
        if len(weights) != len(of[0]):
            raise ValueError(f"{step.label} has {len(weights)} weights, and there are {len(of[0])} remembered vectors")
        return combined(weights, of[0], zeros)

    found: dict[str, One] = {
        "linear": linear,
        "gradient": gradient,
        "full gradient": lambda n, of, numbers: problem.gradient(of[0]),
        "prox": lambda n, of, numbers: problem.prox(of[0], numbers[0], n),
        "each": lambda n, of, numbers: of[0],
        "where": where,
        "before": lambda n, of, numbers: one if _less(*numbers) else zero,
        "top": lambda n, of, numbers: _top(of[0], int(numbers[0])),
        "project": ball,
        "clip": ball,
        "times": lambda n, of, numbers: tuple([short_enough(a * b) for a, b in zip(*of, strict=True)]),
        "over": lambda n, of, numbers: tuple([short_enough(over(a, b)) for a, b in zip(*of, strict=True)]),
        "larger": larger,
        "sqrt": lambda n, of, numbers: tuple([root(x) for x in of[0]]),
        "sign": lambda n, of, numbers: tuple([_sign(x) for x in of[0]]),
        "norm": lambda n, of, numbers: root(_norm2(of[0])),
        "ones": lambda n, of, numbers: ones,
        "shift": lambda n, of, numbers: (of[1], *of[0][:-1]),
        "combine": combine,
        "get": get,
        "put": put,
    }
    return found[step.op]


# --- draws ------------------------------------------------------------------------------------------------------------


@cache
def batches(times: tuple[int, ...], size: int, replace: bool) -> tuple[tuple[Any, tuple[int, ...]], ...]:
    """The batches of a client, as sorted places among its different samples, with their probabilities.

    Args:
        times: how often the client has each of its different samples.
        size: of a batch.
        replace: whether a sample is put back.
    """
    from flint import fmpq

    total, found = sum(times), []
    if not replace and total == len(times):
        return tuple((fmpq(1, comb(total, size)), batch) for batch in combinations(range(total), size))
    for batch in combinations_with_replacement(range(len(times)), size) if replace else _taken(times, size):
        often = {i: batch.count(i) for i in set(batch)}
        if replace:
            ways = (
                factorial(size) // prod(map(factorial, often.values())) * prod(times[i] ** c for i, c in often.items())
            )
        else:
            ways = prod(comb(times[i], c) for i, c in often.items())
        found.append((fmpq(ways, total**size if replace else comb(total, size)), batch))
    return tuple(found)


def _taken(times: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """The sorted batches of this size in which no place is more often than `times` says."""
    found: list[tuple[int, ...]] = [()]
    left = sum(times)
    for place, most in enumerate(times):
        left -= most
        found = [
            (*batch, *[place] * often)
            for batch in found
            for often in range(min(most, size - len(batch)), max(-1, size - len(batch) - left - 1), -1)
        ]
    return found


def count_batches(times: Sequence[int], size: int, replace: bool) -> int:
    """How many `batches` there are."""
    if replace:
        return comb(len(times) + size - 1, size)
    ways = [1]  # of taking 0, 1, ... of the samples so far
    for most in times:
        ways = [sum(ways[max(0, taken - most) : taken + 1]) for taken in range(min(len(ways) + most, size + 1))]
    return ways[size] if size < len(ways) else 0


@cache
def chosen(clients: int, size: int, replace: bool) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """How often each client is among the chosen, with the probabilities."""
    from flint import fmpq

    return tuple(
        (p, tuple([fmpq(batch.count(n)) for n in range(clients)]))
        for p, batch in batches((1,) * clients, size, replace)
    )


def two_points(variance: Element) -> tuple[tuple[Any, Any], ...]:
    """Two values of opposite sign with mean 0 and this variance, rational where it is, with their probabilities."""
    from flint import fmpq

    if not nonzero(variance):
        return ((fmpq(1), fmpq(0)),)
    if type(variance) is not fmpq:
        root = operations(LONGEST_RATIONAL, False)["sqrt"](variance)
        return ((fmpq(1, 2), root), (fmpq(1, 2), -root))
    top, bottom = int(variance.numerator), int(variance.denominator)
    scale = 1 if isqrt(top * bottom) ** 2 == top * bottom else 16
    a = fmpq(max(1, isqrt(top * bottom * scale * scale)), bottom * scale)  # a*a <= variance, and near it
    b = variance / a
    return ((b / (a + b), a), (a / (a + b), -b))


def noises(sigma2: Element, dim: int) -> Choices:
    """The law that play takes for ``w.noise``: along one coordinate, uniform, one of two values."""
    from flint import fmpq

    zero = fmpq(0)
    if not nonzero(sigma2):
        return [(fmpq(1), (zero,) * dim)]
    return [
        (p / dim, tuple([value if j == at else zero for j in range(dim)]))
        for at in range(dim)
        for p, value in two_points(sigma2)
    ]


def kept_coordinates(v: Vector, m: int) -> Choices:
    """m of the coordinates, scaled; results that are equal once."""
    from flint import fmpq

    d = len(v)
    if m == d:
        return [(fmpq(1), v)]
    zero, scale = fmpq(0), fmpq(d, m)
    there = [j for j, x in enumerate(v) if type(x) is not fmpq or x]
    scaled = [x * scale for x in v]
    found: Choices = []
    for size in range(max(0, m - (d - len(there))), min(m, len(there)) + 1):
        # the other m - size are among the coordinates that are 0 anyway
        p = fmpq(comb(d - len(there), m - size), comb(d, m))
        for subset in combinations(there, size):
            found.append((p, tuple([scaled[j] if j in subset else zero for j in range(d)])))
    return found


def coin(p: Element) -> Choices:
    from flint import fmpq

    return [(fmpq(1), fmpq(1))] if p == 1 else [(p, fmpq(1)), (1 - p, fmpq(0))]
