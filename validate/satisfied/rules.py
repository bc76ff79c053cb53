"""How it is decided what is true of a type of problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from theory.predicates import Predicate

ROUNDING = 1e-9
"""Relative slack of comparisons on float64 problems."""
Numbers: TypeAlias = "tuple[Any, ...]"
IsTrue: TypeAlias = "Callable[[Any, Any, Numbers], bool | None]"
Best: TypeAlias = "Callable[[Any, Any], Numbers | None]"


@dataclass(frozen=True)
class Rules:
    """Of a type of problem, by the type of the assumption.

    Attributes:
        true: whether it is true with these constants, ``(predicate, problem, constants) -> bool or None``.
        best: its best constants, ``(predicate, problem) -> numbers or None``.
    """

    true: Mapping[type[Predicate], IsTrue]
    best: Mapping[type[Predicate], Best]
