"""The kinds of problems: quadratics, pieces, points, ridges; each is read, and put in words, by its own module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .pieces import Pieces, read_pieces
from .pieces import described as described_pieces
from .points import Points, is_of_points, read_points
from .points import described as described_points
from .quadratics import Problem
from .reading import fields, list_of
from .ridges import Ridges, is_of_ridges, read_ridges
from .ridges import described as described_ridges
from .scalars import Work


def read_any_problem(data: Any, work: Work) -> Problem:
    """A problem of points where a sample has some, of ridges where one has; else of pieces, or of quadratics."""
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    if any(is_of_points(sample) for own in clients if isinstance(own, list) for sample in own):
        return read_points(data, work)
    if any(is_of_ridges(sample) for own in clients if isinstance(own, list) for sample in own):
        return read_ridges(data, work)
    return read_pieces(data, work)


def described(problem: Problem) -> Iterator[str]:
    """The functions, for the reader; nothing of quadratics."""
    if isinstance(problem, Points):
        yield from described_points(problem)
    if isinstance(problem, Pieces):
        yield from described_pieces(problem)
    if isinstance(problem, Ridges):
        yield from described_ridges(problem)
