"""A form that is to be a sum of multiples and squares, and what may be done to find it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from time import process_time
from typing import Any

from theory.derivation.search.field import Element, Field

Key = Hashable
Terms = Mapping[Key, Element]


class Limit(Exception):
    """The work that a search may do is done."""


@dataclass
class Work:
    """How much may be done, and how much was.

    Attributes:
        left: solutions of programs in floats, about a hundredth of a second each.
        until: a time of this process (`time.process_time`).
        tried: what was tried, in words.
    """

    left: int = 3000
    until: float = inf
    tried: list[str] = field(default_factory=list)

    def spend(self, units: int = 1) -> None:
        """Count.

        Raises:
            Limit: when nothing is left, or the time is over.
        """
        self.left -= units
        if self.left < 0 or (self.until < inf and process_time() > self.until):
            raise Limit("the limit of work is reached")


@dataclass(frozen=True)
class Multiple:
    """Something that may be multiplied and added.

    Attributes:
        name: for people, and to know it by.
        line: what a derivation needs for it.
        terms: right - left as a form; not negative, or 0 where `free`.
        free: whether it is an equation.
        cost: how little it is liked.
    """

    name: str
    line: Any
    terms: Terms
    free: bool = False
    cost: float = 1.0


@dataclass(frozen=True)
class Block:
    """Squares: sums of entries M[a, b] of semidefinite matrices times `entries[a, b]`, a <= b (both orders in one).

    Attributes:
        vectors: texts of the vectors (a single ``1`` for what is a number).
        over: the binders around, from the outside.
        weight: text of what each square is multiplied by inside the binders.
        entries: the forms of the products, for a <= b.
    """

    vectors: tuple[str, ...]
    over: tuple[str, ...]
    entries: Mapping[tuple[int, int], Terms]
    weight: str = "1"


@dataclass(frozen=True)
class Problem:
    """goal = sum of multiples and squares?

    Attributes:
        field: of the coefficients.
        goal: right - left of what is to be shown.
        multiples: what may be used.
        blocks: the squares.
        settings: values of the field's atoms that satisfy the hypotheses, several.
        choices: the places of atoms that are the largest or the least of some numbers: they stay out of multipliers,
            as one of their signs only is known.
        numbers: by which a multiplier may be multiplied, beside small ones.
    """

    field: Field
    goal: Terms
    multiples: tuple[Multiple, ...]
    blocks: tuple[Block, ...]
    settings: tuple[tuple[float, ...], ...]
    choices: frozenset[int] = frozenset()
    numbers: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Answer:
    """Multipliers by the place of their multiple; squares: block, factor, coefficients of its vectors."""

    multipliers: Mapping[int, Element]
    squares: tuple[tuple[int, Element, Mapping[int, Element]], ...]
