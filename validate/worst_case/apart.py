"""How far functions may be apart, asked at the points where all of them are known: inequalities in their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theory import predicates as p
from theory.arithmetic import to_element
from theory.for_every import ForEvery
from theory.worst_case.classes import Classes
from theory.worst_case.forms import Form, dot
from validate.instances.problems import Vector
from validate.worst_case.unknown import Unknown, place_of
from validate.worst_case.world import Constants


def across(unknown: Unknown, classes: Classes, numbers: Constants) -> list[tuple[str, Form]]:
    """Forms that are not positive, by name: what `Classes.across` says at the points that are known by now."""
    found: list[tuple[str, Form]] = []
    points = unknown.points
    for one in classes.across:
        if isinstance(one, ForEvery):
            continue
        constants = [to_element(numbers.constant(one, 0, 0, place)) for place in range(len(one.constants))]
        parts = [list(points)]
        if isinstance(one, p.BoundedVariance):
            parts = [[key for key in points if key[0] == n] for n in range(unknown.clients)]
        for own in parts:
            for place, point in points[own[0]].items():
                if all(place in points[key] for key in own):
                    found.append((f"{one.text} at a point", _apart(unknown, one, point.x, own, constants)))
    return found


def _apart(unknown: Unknown, one: p.Predicate, v: Vector, own: list[tuple[int, int]], constants: Sequence[Any]) -> Form:
    """What it says at one point of the functions in `own`."""
    clients = sorted({n for n, _ in own})
    if isinstance(one, p.Dissimilar):
        mean, gradients = unknown.gradient(v), [unknown.gradient(v, n) for n in clients]
        spread, bound = one.spread, Form(constant=constants[0] * constants[0])
        if not spread:
            bound = bound.plus(dot(mean, mean), constants[1] * constants[1])
    else:
        mean, gradients = unknown.gradient(v, *clients), [unknown.points[key][place_of(v)].g for key in own]
        spread, bound = True, Form(constant=constants[0])
    total = Form()
    for g in gradients:
        difference = unknown.plus(g, mean, -1) if spread else g
        total = total.plus(dot(difference, difference), unknown.one / len(gradients))
    return total.plus(bound, -1)
