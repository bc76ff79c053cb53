"""Values that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .reading import Uncheckable

DEEPEST = 30  # computations that wait for one another


class Later:
    """Something that is computed when it is asked for."""

    __slots__ = ("depth", "make", "value")

    def __init__(self, make: Callable[[], Any], depth: int) -> None:
        self.make: Callable[[], Any] | None = make
        self.value: Any = None
        self.depth = depth


def now(cell: Any) -> Any:
    """What it is."""
    if type(cell) is Later:
        if cell.make is not None:
            cell.value = now(cell.make())
            cell.make = None
        return cell.value
    return cell


class _Idle:
    """The part of a client that has gone through all its samples."""


IDLE = _Idle()


def when_asked(make: Callable[[], Any], parts: Sequence[Any]) -> Any:
    """What is made of these parts: at once if they are all there, else when it is asked for."""
    depth = 0
    for part in parts:
        if type(part) is Later and part.make is not None and part.depth >= depth:
            depth = part.depth + 1
        elif part is IDLE:
            return IDLE
    if not depth or depth > DEEPEST:
        try:
            return make()
        except Uncheckable:  # it may be that nobody asks for it
            return Later(make, 1)
    return Later(make, depth)
