"""The kinds of problems: quadratics, pieces, points; each is read, and told to the reader, by its own module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import pieces, points
from .quadratics import Problem
from .reading import fields, list_of
from .scalars import Work


def read_any_problem(data: Any, work: Work) -> Problem:
    """A problem of points where a sample has some; else of pieces, or of quadratics."""
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    if any(points.is_of_points(sample) for own in clients if isinstance(own, list) for sample in own):
        return points.read_points(data, work)
    return pieces.read_pieces(data, work)


def described(problem: Problem) -> Iterator[str]:
    """The functions, for the reader; nothing of quadratics."""
    if isinstance(problem, points.Points):
        yield from points.described(problem)
    if isinstance(problem, pieces.Pieces):
        yield from pieces.described(problem)
