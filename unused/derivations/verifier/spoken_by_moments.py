"""What sentences come to whose expectations are known by moments: E of squares and products of what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .moments import Frame, Moments
from .quantities import Form, certain
from .reading import Uncheckable
from .scalars import OPERATIONS, ZERO, Number
from .sentences import ALL_CLIENTS, FUNCTIONS, OVER, Node
from .spoken import World
from .still import At, Item

Affine = list[Form]
"""A vector that is drawn."""


@dataclass(frozen=True)
class Mean:
    """A number that is drawn, of which only the expectation is known."""

    value: Number


@dataclass
class WorldByMoments(World):
    """An instance, as sentences see it, with expectations by moments."""

    def law(self, items: set[Item]) -> list[tuple[Number, dict[Item, Any]]]:
        """There is none.

        Raises:
            Uncheckable: always.
        """
        raise Uncheckable("something random stands outside of E, and moments do not tell what it is")

    def averaged(self, tree: Node, at: At) -> Any:
        """E of a tree that speaks of what is drawn."""
        assert isinstance(self.game, Moments)
        items = self.items(tree, at)
        if not items:  # of the start alone
            return self.value(tree, at, {})
        frame = self.game.together(frozenset(items))
        found = self.drawn(tree, at, frame)
        if isinstance(found, Mean):
            return found.value
        return tuple(frame.room.mean(form) for form in found) if isinstance(found, list) else found

    def drawn(self, tree: Node, at: At, frame: Frame) -> Any:
        """A number or a vector that is not drawn, or `Mean`, or `Affine`."""
        if not self.words.read(tree).random:
            return self.value(tree, at, None)
        op = tree.op
        if op == "at":
            return self.place(tree, at, frame)
        if op == "name":
            return self.drawn(self.words.definitions[tree.name], at, frame)
        if op in OVER:
            how, index = OVER[op]
            if how == "first":
                return self.drawn(tree.args[0], {**at, index: 0}, frame)
            if how in ("max", "min"):
                raise Uncheckable(f"moments do not tell E of {op}")
            values = [
                self.drawn(tree.args[0], {**at, index: i}, frame) for i in self.range_of(index, (tree.args[0],), at)
            ]
            total = values[0]
            for value in values[1:]:
                total = self.combine("+", [total, value], frame)
            return total if how == "sum" else self.combine("/", [total, Fraction(len(values))], frame)
        if op in ALL_CLIENTS:
            raise Uncheckable(f"moments do not tell E of {op}")
        parts = [self.drawn(a, at, frame) for a in tree.args]
        if op in ("norm2", "dot"):
            one, two = _affine(parts[0]), _affine(parts[-1])
            return self.inner(one, two, frame)
        if op == "grad" or op in FUNCTIONS:
            return self.function(tree, at, _affine(parts[0]), frame)
        return self.combine(op, parts, frame)

    def place(self, tree: Node, at: At, frame: Frame) -> Any:
        """A state or a tap."""
        item = self.item(tree, at)
        if self.certain(item):
            return self.state(tree, at, None)
        found = frame.values.get(item)
        if found is None:
            raise Uncheckable(f"{tree.name} has no such turn")
        return self.one_of(found, tree, at)

    def inner(self, one: Affine, two: Affine, frame: Frame) -> Mean:
        """E of an inner product."""
        if len(one) != len(two):
            raise Uncheckable("vectors of different lengths meet")
        return Mean(sum((frame.room.inner(a, b) for a, b in zip(one, two, strict=True)), ZERO))

    def function(self, tree: Node, at: At, v: Affine, frame: Frame) -> Any:
        """A function's gradient, or E of its value."""
        function = self.functions(tree.name if tree.op == "grad" else tree.op, at)
        one = certain(Fraction(1))
        slopes = [
            frame.room.combined([(-y, one), *((h, v[j]) for j, h in row)])
            for row, y in zip(function.rows, function.b, strict=True)
        ]
        if tree.op == "grad":
            return slopes
        # x'Hx/2 - b'x + c is half the inner product of x and the gradient, less b'x/2
        whole = self.inner(v, slopes, frame).value
        line = sum((y * frame.room.mean(x) for y, x in zip(function.b, v, strict=True)), ZERO)
        return Mean((whole - line) / 2 + function.c)

    def combine(self, op: str, parts: Sequence[Any], frame: Frame) -> Any:
        """Sums, and products by what is not drawn."""
        if op not in ("+", "-", "neg", "*", "/"):
            raise Uncheckable(f"moments do not tell E of {op}")
        drawn = [isinstance(part, Mean | list) for part in parts]
        if op in ("+", "-", "neg"):
            signs = [Fraction(-1)] if op == "neg" else [Fraction(1), Fraction(1 if op == "+" else -1)]
            if any(isinstance(part, list | tuple) for part in parts):
                sides = [_affine(part) for part in parts]
                if len({len(side) for side in sides}) > 1:
                    raise Uncheckable("vectors of different lengths meet")
                return [frame.room.combined(zip(signs, row, strict=True)) for row in zip(*sides, strict=True)]
            return Mean(OPERATIONS[op](*[part.value if isinstance(part, Mean) else part for part in parts]))
        if all(drawn) or (op == "/" and drawn[1]):
            raise Uncheckable("moments do not tell E of a product of numbers that are drawn")
        one, two = parts if drawn[0] else parts[::-1]
        if isinstance(one, Mean) and not isinstance(two, tuple):
            return Mean(OPERATIONS[op](one.value, two))
        if isinstance(one, Mean) or not isinstance(two, Fraction):
            raise Uncheckable("moments with a vector times a number that is drawn, or no fraction")
        return [frame.room.combined([(OPERATIONS[op](Fraction(1), two), form)]) for form in one]  # type: ignore[list-item]


def _affine(value: Any) -> Affine:
    """A vector as one that is drawn."""
    if isinstance(value, list):
        return value
    if not isinstance(value, tuple) or not all(isinstance(x, Fraction) for x in value):
        raise Uncheckable("moments with a number that is no fraction")
    return [certain(x) for x in value]
