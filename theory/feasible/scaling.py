"""Scalings that leave a system unchanged, and the variables that may be set to 1 because of them.

If every relation keeps its truth when x is replaced by c^w x for each variable x with its weight w, then so does the
whole system, and a positive variable of weight 1 may be set to 1 without loss of generality. The weights are found as
physical dimensions are: both sides of a sum or a relation have the same one. Lipschitz and strong convexity constants
against step sizes are the usual case, and setting L = 1 makes the rest bounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from theory.feasible.constraints import System
from theory.feasible.contractor import Contractor

Degree = dict[str, Fraction]  # weight of a node as a linear form in the variables' weights


def normalised(system: System) -> dict[str, Fraction]:
    """Variables that may be set to 1, each with the value 1.

    Every solution can be scaled to one in which all of them are 1. Only variables with the domain (0, inf) are chosen;
    among several choices, one that leaves the fewest of the others unbounded.
    """
    equations = _equations(system)
    positive = [n for n, d in system.domains.items() if d.lower == 0 and d.lower_open and d.upper is None]
    rest = [name for name in system.domains if name not in positive]
    best: tuple[int, dict[str, Fraction]] | None = None
    for last in positive:
        # Gauss leaves the last columns free, so the variables that can be set to 1 come last
        order = [*rest, *(name for name in positive[::-1] if name != last), last]
        chosen = {name: Fraction(1) for name in equations.free(order) if name in positive}
        contractor = Contractor(system.fixed(chosen))
        box = contractor.contract(contractor.start())
        unbounded = 0 if box is None else sum(math.isinf(end) for interval in box.values() for end in interval)
        if best is None or unbounded < best[0]:
            best = unbounded, chosen
    return best[1] if best else {}


def _equations(system: System) -> _Equations:
    """What the weights of a scaling have to satisfy."""
    equations = _Equations()
    for name, domain in system.domains.items():
        if domain.integer or any(end not in (None, 0) for end in (domain.lower, domain.upper)):
            equations.equate({name: Fraction(1)}, {})
    graph = system.graph
    degrees: list[Degree | None] = []  # None: the number 0, which has every degree
    for node in graph.nodes:
        arguments = [degrees[a] for a in node.arguments]
        if node.operation == "number":
            degrees.append(None if node.value == 0 else {})
        elif node.operation == "name":
            degrees.append({node.name: Fraction(1)})
        elif node.operation == "**":
            exponent = graph.nodes[node.arguments[1]]
            if exponent.operation == "number":
                degrees.append(_scaled(arguments[0], exponent.value))
            else:
                degrees.append(equations.same([*arguments, {}]))
        else:
            degrees.append(_degree(node.operation, arguments, equations))
    for constraint, sides in zip(system.constraints, graph.sides, strict=True):
        if constraint.operators:
            equations.same([degrees[i] for i in sides])
    return equations


def _degree(operation: str, arguments: list[Degree | None], equations: _Equations) -> Degree | None:
    if operation in ("*", "/"):
        first, second = arguments
        if first is None or second is None:
            return None
        return _sum(first, second if operation == "*" else _scaled(second, Fraction(-1)) or {})
    if operation == "sqrt":
        return _scaled(arguments[0], Fraction(1, 2))
    if operation in ("log", "exp"):
        return equations.same([arguments[0], {}])
    return equations.same(arguments)  # + - neg abs min max


def _sum(first: Degree, second: Degree) -> Degree:
    names = dict.fromkeys([*first, *second])
    return {n: first.get(n, Fraction(0)) + second.get(n, Fraction(0)) for n in names}


def _scaled(degree: Degree | None, factor: Fraction) -> Degree | None:
    return None if degree is None else {name: weight * factor for name, weight in degree.items()}


@dataclass
class _Equations:
    """Linear equations for the weights."""

    rows: list[Degree] = field(default_factory=list)

    def equate(self, first: Degree, second: Degree) -> None:
        self.rows.append(_sum(first, _scaled(second, Fraction(-1)) or {}))

    def same(self, degrees: list[Degree | None]) -> Degree | None:
        """Make all degrees equal; the common one."""
        known = [d for d in degrees if d is not None]
        for other in known[1:]:
            self.equate(known[0], other)
        return known[0] if known else None

    def free(self, order: list[str]) -> list[str]:
        """The columns without pivot, after elimination in that order of columns."""
        rows = [dict(row) for row in self.rows]
        free = []
        for name in order:
            pivot = next((row for row in rows if row.get(name)), None)
            if pivot is None:
                free.append(name)
                continue
            rows.remove(pivot)
            rows = [_eliminated(row, pivot, name) for row in rows]
        return free


def _eliminated(row: Degree, pivot: Degree, name: str) -> Degree:
    if not row.get(name):
        return row
    return _sum(row, _scaled(pivot, -row[name] / pivot[name]) or {})


def without_loss(values: Mapping[str, Fraction]) -> str:
    """The normalisation in words."""
    if not values:
        return ""
    return f"with {', '.join(f'{name} = {value}' for name, value in values.items())} without loss of generality"
