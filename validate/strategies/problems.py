"""Quadratic problems of a class."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from sim.problems import Quadratic, from_samples
from theory.domain import Domain
from validate.strategies.numbers import numbers

Size = int | tuple[int, int]


def quadratics(
    *,
    mu: Any = "1/10",
    L: Any = 1,
    clients: Size = (1, 4),
    dim: Size = (1, 3),
    samples: Size = 1,
    exact: bool = True,
) -> st.SearchStrategy[Quadratic]:
    """Quadratic problems whose samples are mu-strongly convex and L-smooth.

    f_{n,i}(x) = (x-a)'H(x-a)/2 + c with rational a and c, and H = Q diag(lambda) Q' for a rational orthogonal Q (a
    product of reflections) and rational lambda in [mu, L]. The least eigenvalue of all samples' Hessians is mu and the
    largest |eigenvalue| is L, exactly, as soon as there are two eigenvalues in all; a single one is mu or L or between.
    With one sample a client these are the constants of the clients too; with more, theirs are within [mu, L]. So are
    those of f.

    Args:
        mu: a number in (-inf, L], or text such as "1/10"; negative for functions that are not convex.
        L: a number in (0, inf), at least |mu|, or text. Floats count as their binary value.
        clients: N, or its least and largest.
        dim: d, likewise.
        samples: of each client, likewise; clients may differ.
        exact: keep the numbers as fractions; else float64, and the constants hold up to rounding.

    Raises:
        ValueError: an argument outside its domain.
    """
    least, most = Fraction(mu), Fraction(L)
    if most <= 0:
        raise ValueError(f"L={L} is outside (0, inf)")
    if not -most <= least <= most:
        raise ValueError(f"mu={mu} is outside [-L, L] = [{-most}, {most}]")
    sizes = _size("clients", clients), _size("dim", dim), _size("samples", samples)
    return _problems(least, most, *sizes, exact)


@st.composite
def _problems(
    draw: st.DrawFn,
    least: Fraction,
    most: Fraction,
    clients: st.SearchStrategy[int],
    dim: st.SearchStrategy[int],
    samples: st.SearchStrategy[int],
    exact: bool,
) -> Quadratic:
    number = draw(clients)
    d = draw(dim)
    counts = [draw(samples) for _ in range(number)]
    inside = numbers(Domain(0, 1)).map(lambda part: least + (most - least) * part)
    values = [[[draw(inside) for _ in range(d)] for _ in range(count)] for count in counts]
    if d * sum(counts) > 1:
        values[0][0][0], values[-1][-1][-1] = least, most
    centre = st.lists(st.fractions(-4, 4, max_denominator=8), min_size=d, max_size=d)
    together = draw(st.booleans())  # everybody has the same minimiser
    shared = draw(centre)
    hessians, linears, offsets = [], [], []
    for own in values:
        turned = [_turned(draw, row) for row in own]
        centres = [shared if together else draw(centre) for _ in own]
        slopes = [_product(h, a) for h, a in zip(turned, centres, strict=True)]
        hessians.append(turned)
        linears.append(slopes)
        offsets.append([_inner(b, a) / 2 for b, a in zip(slopes, centres, strict=True)])
    return from_samples(hessians, linears, offsets, exact=True) if exact else _in_floats(hessians, linears, offsets)


def _in_floats(hessians: Any, linears: Any, offsets: Any) -> Quadratic:
    def floats(value: Any) -> Any:
        return [floats(entry) for entry in value] if isinstance(value, list) else float(value)

    return from_samples(floats(hessians), floats(linears), floats(offsets))


def _turned(draw: st.DrawFn, values: list[Fraction]) -> list[list[Fraction]]:
    """diag(values), reflected at up to two rational hyperplanes."""
    d = len(values)
    matrix = [[values[i] if i == j else Fraction(0) for j in range(d)] for i in range(d)]
    for _ in range(draw(st.integers(0, 2)) if d > 1 else 0):
        normal = draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any))
        square = sum(x * x for x in normal)
        mirror = [
            [Fraction(int(i == j)) - Fraction(2 * normal[i] * normal[j], square) for j in range(d)] for i in range(d)
        ]
        image = [_product(matrix, column) for column in mirror]  # the rows of (matrix mirror)', as both are symmetric
        matrix = [[_inner(mirror[i], image[j]) for j in range(d)] for i in range(d)]
    return matrix


def _product(matrix: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
    return [_inner(row, vector) for row in matrix]


def _inner(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} is outside the integers in [1, inf)")


def _size(name: str, size: Size) -> st.SearchStrategy[int]:
    least, most = size if isinstance(size, tuple) else (size, size)
    _check_count(name, least)
    _check_count(name, most)
    if least > most:
        raise ValueError(f"{name}={size} has its least size above its largest")
    return st.integers(least, most)
