"""Parameters, free vectors and the start of a certificate: read, and held against what the claim says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .quadratics import Problem, read_vector
from .reading import FormatError, fields, limit_length, list_of, number, shown
from .scalars import Vector
from .sentences import INDICES, WORDS

MOST_LIST = 1024
MOST_ROUNDS = 5_000
MOST_TERMS = 10**12  # K of a claim without an algorithm


@dataclass(frozen=True)
class Schedule:
    """A parameter with a value for each round."""

    values: tuple[Fraction, ...]


Given = Fraction | Schedule | tuple[Any, ...]
"""A parameter: a number, a schedule, a number for each client, weights, or the rows of a matrix."""


def read_start(data: Any, problem: Problem | None) -> Vector:
    if problem is None:
        if data:
            raise FormatError("there is a start, and no problem")
        return ()
    return point_of(read_vector(data, "start"), problem)


def point_of(v: tuple[Fraction, ...], problem: Problem | None) -> Vector:
    if problem is None or len(v) != problem.d:
        raise FormatError("a point has not as many coordinates as the problem")
    return v


def read_vectors(data: Any, problem: Problem | None) -> dict[str, Any]:
    """The free vectors; of ``a_n`` one for each client."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        many = name.endswith("_n")
        found[name] = tuple(read_vector(v, name) for v in list_of(value, name)) if many else read_vector(value, name)
        if many and not found[name]:
            raise FormatError(f"{name} has no vectors")
    counts = {len(v) for name, v in found.items() if name.endswith("_n")} | ({problem.N} if problem else set())
    rows = [v for name, value in found.items() for v in (value if name.endswith("_n") else (value,))]
    sizes = {len(row) for row in rows} | ({problem.d} if problem else set())
    if len(counts) > 1 or len(sizes) > 1:
        raise FormatError("the free vectors have different sizes, or another one than the problem")
    limit_length(x for row in rows for x in row)
    return found


def read_parameters(data: Any) -> dict[str, Given]:
    """Numbers by name: one, a list, the rows of a matrix, or ``{"k": [...]}`` for one a round."""
    if not isinstance(data, dict) or len(data) > MOST_LIST:
        raise FormatError("parameters is not an object of numbers")
    found: dict[str, Given] = {}
    for name, value in data.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", name) or name in WORDS - {"h"} or name in (*INDICES, "K"):
            raise FormatError(f"{shown(name)} is no name of a parameter")
        if isinstance(value, dict):
            found[name] = Schedule(_numbers(fields(value, name, "k")["k"], name, MOST_ROUNDS))
        elif isinstance(value, list) and value and isinstance(value[0], list):
            if len(value) > MOST_LIST:
                raise FormatError(f"{name} has more than {MOST_LIST} rows")
            found[name] = tuple(_numbers(row, name, MOST_LIST) for row in value)
        else:
            found[name] = _numbers(value, name, 10_000) if isinstance(value, list) else number(value, name)
    return found


def _numbers(data: Any, name: str, most: int) -> tuple[Fraction, ...]:
    if not 1 <= len(list_of(data, name)) <= most:
        raise FormatError(f"{name} has not between 1 and {most} entries")
    found = tuple(number(x, name) for x in data)
    limit_length(found)
    return found
