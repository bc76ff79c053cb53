"""The kinds of problems: quadratics, pieces, points; each is read, and told to the reader, by its own module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .pieces import Pieces, read_pieces
from .pieces import described as described_pieces
from .points import Points, is_of_points, read_points
from .points import described as described_points
from .quadratics import Problem
from .reading import fields, list_of
from .scalars import Work


def read_any_problem(data: Any, work: Work) -> Problem:
    """A problem of points where a sample has some; else of pieces, or of quadratics."""
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    if any(is_of_points(sample) for own in clients if isinstance(own, list) for sample in own):
        return read_points(data, work)
    return read_pieces(data, work)


def described(problem: Problem) -> Iterator[str]:
    """The functions, for the reader; nothing of quadratics."""
    if isinstance(problem, Points):
        yield from described_points(problem)
    if isinstance(problem, Pieces):
        yield from described_pieces(problem)
