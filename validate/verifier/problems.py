"""The kinds of problems: quadratics, points, ridges; each is read, and put in words, by its own module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .points import Points, read_points
from .points import described as described_points
from .quadratics import Problem, read_problem
from .reading import fields, list_of
from .ridges import Ridges, read_ridges
from .ridges import described as described_ridges
from .scalars import Work


def read_any_problem(data: Any, work: Work) -> Problem:
    """A problem of points where a sample has some, of ridges where one has, or knots in one dimension."""
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    samples = [sample for own in clients if isinstance(own, list) for sample in own if isinstance(sample, dict)]
    if any("points" in sample for sample in samples):
        return read_points(data, work)
    if any("ridges" in sample for sample in samples):
        return read_ridges(data, work)
    alone = any("knots" in sample for sample in samples)
    return read_ridges(data, work, alone) if alone else read_problem(data, work)


def described(problem: Problem) -> Iterator[str]:
    """The functions, for the reader; nothing of quadratics."""
    if isinstance(problem, Points):
        yield from described_points(problem)
    if isinstance(problem, Ridges):
        yield from described_ridges(problem)
