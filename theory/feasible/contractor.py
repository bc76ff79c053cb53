"""Boxes of intervals, cut down to what may satisfy a system: the inner step of `theory.feasible.boxes`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

from theory.domain import Domain
from theory.feasible.constraints import Graph, System
from theory.feasible.interval_rules import backward, slopes
from theory.feasible.intervals import EVERYTHING, INF, Interval, add, enclose, forward, meet, multiply, negative
from theory.feasible.points import middle, simple_numbers, width
from theory.feasible.signs import with_signs

Box: TypeAlias = dict[str, Interval]
Arguments: TypeAlias = tuple[Interval, ...]
Result = TypeVar("Result")

SWEEPS = 8  # of the contractor on one box
ENOUGH = 0.9  # a sweep that leaves more of every width than this is the last one
NARROW = 2.0**-44  # of t = x/(1+|x|), below which a box is not split
FAR = 2.0**40
KEPT = 4096  # results of an operation that are kept: neighbouring boxes ask for the same ones again and again


class Contractor:
    """Cuts boxes down to what may satisfy a system."""

    def __init__(self, system: System) -> None:
        self.exact = system
        self.system = with_signs(system)
        self.graph: Graph = self.system.graph
        self.fixed = {i: enclose(n.value) for i, n in enumerate(self.graph.nodes) if n.operation == "number"}
        self.exponents = [
            self.graph.nodes[n.arguments[1]].value
            if n.operation == "**" and self.graph.nodes[n.arguments[1]].operation == "number"
            else None
            for n in self.graph.nodes
        ]
        nodes, every = self.graph.nodes, range(len(self.graph.nodes))
        self._all = [i for i in every if nodes[i].arguments]
        self._leaves = [i for i in every if not nodes[i].arguments]
        self._values: list[dict[Arguments, Interval | None]] = [{} for _ in every]  # by node, what `forward` found
        self._causes: list[dict[Arguments, list[Interval | None]]] = [{} for _ in every]  # the same of `backward`
        self._derivatives: list[dict[Arguments, list[Interval]]] = [{} for _ in every]  # and of `slopes`
        self._parts: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        self.work = 0  # operations so far, forwards, backwards and differentiated

    def start(self) -> Box:
        """The box of all values in the domains."""
        return {name: _hull(domain) for name, domain in self.system.domains.items()}

    def contract(self, box: Box | None) -> Box | None:
        """A smaller box with the same solutions; None when there are none in it."""
        for _ in range(SWEEPS):
            if box is None:
                return None
            after = self._sweep(box)
            if after is None:
                return None
            progress = any(width(after[name]) < ENOUGH * width(box[name]) for name in box)
            box = after
            if not progress:
                break
        return box

    def _sweep(self, box: Box) -> Box | None:
        nodes = self.graph.nodes
        values = self._forward(box)
        if values is None:
            return None
        for constraint, sides in zip(self.system.constraints, self.graph.sides, strict=True):
            for operator, left, right in zip(constraint.operators, sides, sides[1:], strict=False):
                pair = _compare(operator, values[left], values[right])
                if pair is None:
                    return None
                values[left], values[right] = pair
        self.work += len(self._all)
        for i in reversed(self._all):
            for a, value in zip(nodes[i].arguments, self._cause(i, values), strict=True):
                narrowed = meet(values[a], value)  # an argument may occur twice
                if narrowed is None:
                    return None
                values[a] = narrowed
        after: Box = {}
        for name, i in self.graph.variables.items():
            inside = _in_domain(values[i], self.system.domains[name])
            if inside is None:
                return None
            after[name] = _not_too_far(inside, box[name])
        return after

    def ruled_out(self, box: Box) -> bool:
        """Whether a relation fails in the whole box, seen from the ends of the variables in which it is monotone.

        It decides what `contract` cannot: ``exp(x) < x`` for all x > 1, say, where both sides are unbounded.
        """
        values = self._forward(box)
        if values is None:
            return True
        for constraint, sides in zip(self.system.constraints, self.graph.sides, strict=True):
            for operator, left, right in zip(constraint.operators, sides, sides[1:], strict=False):
                found = self._slopes(values, left, right)
                # left <= right fails if the least left - right is positive; left == right if either way fails
                if operator in ("<", "<=", "==") and self._fails(operator, box, found, left, right):
                    return True
                turned = {name: negative(slope) for name, slope in found.items()}
                if operator in (">", ">=", "==") and self._fails(operator, box, turned, right, left):
                    return True
        return False

    def _fails(self, operator: str, box: Box, found: Mapping[str, Interval], small: int, large: int) -> bool:
        """Whether ``small <= large`` (``<`` where the operator is strict) fails; `found`: slopes of small - large."""
        corner = dict(box)
        for name, (low, high) in found.items():
            end = box[name][0] if low >= 0 else box[name][1] if high <= 0 else INF
            if math.isfinite(end):
                corner[name] = (end, end)
        if corner == box:
            return False
        both, others = self._parted(small, large)
        values = self._bare(corner)
        if not self._fill(values, both):
            return False
        if not (values[small][0] > values[large][1] or (operator in "<>" and values[small][0] >= values[large][1])):
            return False
        return self._fill(values, others)  # a corner in which something is undefined tells nothing

    def _undecided(self, box: Box) -> set[str]:
        """The variables of the relations that do not hold in the whole box; all of them if there are none."""
        values = self._forward(box) or []
        open_: list[int] = []
        for constraint, sides in zip(self.system.constraints, self.graph.sides, strict=True):
            for operator, left, right in zip(constraint.operators, sides, sides[1:], strict=False):
                if not values or not _certain(operator, values[left], values[right]):
                    open_ += [left, right]
        return {self.graph.nodes[i].name for i in self.graph.below(open_)} & set(box) or set(box)

    def _forward(self, box: Box) -> list[Interval] | None:
        """Every node's values over a box; None where one is nowhere defined."""
        values = self._bare(box)
        return values if self._fill(values, self._all) else None

    def _bare(self, box: Box) -> list[Interval]:
        """The values of numbers and names over a box; the others are to be filled in."""
        values = [EVERYTHING] * len(self.graph.nodes)
        for i in self._leaves:
            values[i] = self.fixed[i] if i in self.fixed else box[self.graph.nodes[i].name]
        return values

    def _fill(self, values: list[Interval], wanted: Sequence[int]) -> bool:
        """Put in the values of the operations `wanted`, which are in order; False where one is nowhere defined."""
        nodes = self.graph.nodes
        self.work += len(wanted)
        for i in wanted:
            node, known = nodes[i], self._values[i]
            arguments = tuple([values[a] for a in node.arguments])
            if arguments in known:
                value = known[arguments]
            else:
                value = forward(node.operation, arguments, self.exponents[i])
                _keep(known, arguments, value)
            if value is None:
                return False
            values[i] = value
        return True

    def _cause(self, i: int, values: list[Interval]) -> list[Interval | None]:
        """What a node's value leaves of its arguments' values."""
        node, known = self.graph.nodes[i], self._causes[i]
        arguments = tuple([values[a] for a in node.arguments])
        key = (values[i], *arguments)
        if key not in known:
            _keep(known, key, backward(node.operation, values[i], arguments, self.exponents[i]))
        return known[key]

    def _slope(self, i: int, values: list[Interval]) -> list[Interval]:
        """The partial derivatives of an operation with respect to its arguments."""
        node, known = self.graph.nodes[i], self._derivatives[i]
        arguments = tuple([values[a] for a in node.arguments])
        key = (values[i], *arguments)
        if key not in known:
            _keep(known, key, slopes(node.operation, values[i], arguments, self.exponents[i]))
        return known[key]

    def _parted(self, first: int, second: int) -> tuple[list[int], list[int]]:
        """The operations that two nodes need, and the rest."""
        if (first, second) not in self._parts:
            needed = set(self.graph.below([first, second]))
            self._parts[first, second] = (
                [i for i in self._all if i in needed],
                [i for i in self._all if i not in needed],
            )
        return self._parts[first, second]

    def _slopes(self, values: list[Interval], left: int, right: int) -> dict[str, Interval]:
        """The partial derivatives of left - right with respect to each variable, over a box (backward accumulation)."""
        total: dict[int, Interval] = {}
        total[left] = (1.0, 1.0)
        total[right] = add(total.get(right, (0.0, 0.0)), (-1.0, -1.0))
        for i in range(max(left, right), -1, -1):
            node = self.graph.nodes[i]
            if i not in total or not node.arguments:
                continue
            self.work += 1
            for a, slope in zip(node.arguments, self._slope(i, values), strict=True):
                total[a] = add(total.get(a, (0.0, 0.0)), multiply(total[i], slope))
        return {name: total[i] for name, i in self.graph.variables.items() if i in total}

    def split(self, box: Box) -> Iterator[Box]:
        """The box in two, through its widest side; nothing when it is too small."""
        widest = max(self._undecided(box), key=lambda name: (width(box[name]), name), default=None)
        if widest is None:
            return
        low, high = box[widest]
        if self.system.domains[widest].integer:
            if low == high:
                return
            whole = max(low, min(float(math.floor(middle(low, high))), high - 1))
            yield box | {widest: (low, whole)}
            yield box | {widest: (whole + 1, high)}
            return
        cut = middle(low, high)
        if width((low, high)) < NARROW or not low < cut < high:
            return
        yield box | {widest: (low, cut)}
        yield box | {widest: (cut, high)}

    def dive(self, box: Box) -> dict[str, Fraction] | None:
        """A solution in the box, by fixing one variable after the other to a simple number; None if that fails."""
        values: dict[str, Fraction] = {}
        start = self.contract(box)
        if start is None:
            return None
        inner = start
        while len(values) < len(box):
            # what the relations leave least room for comes first, so that equations are solved and not guessed
            rest = [name for name in inner if name not in values]
            name = min(rest, key=lambda n: width(inner[n]) if width(inner[n]) < 2.0**-30 else 1.0)
            for value in simple_numbers(inner[name], self.system.domains[name]):
                after = self.contract(inner | {name: enclose(value)})
                if after is not None:
                    values[name], inner = value, after
                    break
            else:
                return None
        return values if self.exact.holds(values) is True else None


def _keep(known: dict[Arguments, Result], key: Arguments, value: Result) -> None:
    """Keep a result; a store that is full is emptied."""
    if len(known) >= KEPT:
        known.clear()
    known[key] = value


def _compare(operator: str, left: Interval, right: Interval) -> tuple[Interval, Interval] | None:
    """The parts of two sides that the relation leaves possible."""
    if operator in (">", ">="):
        swapped = _compare("<" + operator[1:], right, left)
        return None if swapped is None else (swapped[1], swapped[0])
    if operator == "==":
        both = meet(left, right)
        return None if both is None else (both, both)
    if operator == "<" and left[0] >= right[1]:
        return None
    a, b = meet(left, (-INF, right[1])), meet(right, (left[0], INF))
    return None if a is None or b is None else (a, b)


def _certain(operator: str, left: Interval, right: Interval) -> bool:
    """Whether a relation holds wherever both sides are defined."""
    if operator == "==":
        return left[0] == left[1] == right[0] == right[1]
    if operator in (">", ">="):
        left, right, operator = right, left, "<" + operator[1:]
    return left[1] < right[0] or (operator == "<=" and left[1] == right[0])


def _not_too_far(after: Interval, before: Interval) -> Interval:
    """An unbounded interval whose finite end stays where numbers can still be told apart."""
    low, high = after
    if high == INF and low > FAR:
        low = max(min(low, before[0]), FAR)
    if low == -INF and high < -FAR:
        high = min(max(high, before[1]), -FAR)
    return low, high


def _hull(domain: Domain) -> Interval:
    low, high = EVERYTHING
    if domain.lower is not None:
        low = enclose(Fraction(domain.lower))[0]
    if domain.upper is not None:
        high = enclose(Fraction(domain.upper))[1]
    return _in_domain((low, high), domain) or (low, high)


def _in_domain(interval: Interval, domain: Domain) -> Interval | None:
    """What integrality and open ends leave."""
    low, high = interval
    if domain.integer:
        low = float(math.ceil(low)) if math.isfinite(low) else low
        high = float(math.floor(high)) if math.isfinite(high) else high
        if domain.lower_open and low == domain.lower:
            low += 1
        if domain.upper_open and high == domain.upper:
            high -= 1
    if low > high:
        return None
    if low == high and ((domain.lower_open and high == domain.lower) or (domain.upper_open and low == domain.upper)):
        return None
    return low, high
