"""The worst instance of a claim at numbers, as exact points: what search and pool do not see beyond quadratics."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from theory.worst_case.assembly import Estimation, Known, estimation, fraction
from theory.worst_case.certificate import Instance as Attained
from theory.worst_case.forms import Extreme, NotLinearError, plus
from theory.worst_case.rounded import breaking
from validate.instances.instance import Instance
from validate.instances.points import Point, PointFunction, Points
from validate.instances.pool import Drawn, listed
from validate.worst_case.reading import Case, NoReadingError, Reading, last_first

REACHES = (Fraction(1), Fraction(1000))
"""Bounds on the squared length of what the run begins with, where a claim is not the same in all units."""
CASES = 3
"""Of one reading that are tried, those of the last rounds."""


def attacks(reading: Reading) -> Iterator[tuple[Estimation, Iterator[Drawn]]]:
    """The problems of maximising left - right, each with the instances that break what was read, the shortest first.

    The solver is asked as instances are taken. There are none where more is read than the claim allows.
    """
    if reading.larger:
        return
    rank = None if reading.unknown.line is None else 1
    for case in list(last_first(reading.cases))[:CASES]:
        for problem in problems(reading, case):
            yield problem, (instance_of(reading, problem, found) for found in breaking(problem.program, rank))


def problems(reading: Reading, case: Case) -> Iterator[Estimation]:
    """The problems of maximising left - right."""
    met, left = reading.met, case.left
    try:
        for one in left.forms if isinstance(left, Extreme) and left.how == "max" else (left,):
            gap = plus(one, case.right, -1)
            for goal in gap.forms if isinstance(gap, Extreme) and gap.how == "max" else (gap,):
                forms = goal.forms if isinstance(goal, Extreme) else (goal,)
                same = met.homogeneous and not any(form.constant for form in forms)
                for reach in REACHES[:1] if same else REACHES:
                    yield estimation(met, goal, reach)
    except NotLinearError as error:
        raise NoReadingError(str(error)) from None


def instance_of(reading: Reading, problem: Estimation, found: Attained) -> Drawn:
    """A solution as an instance of the claim."""
    met = reading.met
    block = found.vectors[0]
    dim = max(1, len(block[0]) if block else 0)
    d = reading.unknown.coordinates
    if d is not None:
        if dim > d:
            raise ValueError(f"the instance has {dim} coordinates, and d={d}")
        dim = d
    vectors = [(Fraction(0),) * dim for _ in met.basis]
    for place, j in enumerate(problem.kept):
        vectors[j] = tuple(met.scale[j] * c for c in (*block[place], *[Fraction(0)] * (dim - len(block[place]))))

    def at(combination: Any) -> tuple[Fraction, ...]:
        total = [Fraction(0)] * dim
        for c, v in zip(combination, vectors, strict=False):
            if c:
                total = [t + fraction(c) * x for t, x in zip(total, v, strict=True)]
        return tuple(total)

    def point(known: Known) -> Point:
        place = problem.places[known.value]
        return Point(at(known.x), at(known.g), Fraction(0) if place < 0 else found.values[place] * met.unit)

    def function(n: int, i: int) -> PointFunction:
        own = met.classes[n, i]
        return PointFunction(tuple(map(point, met.functions[n, i])), own.L, own.mu, own.steepest)

    functions = tuple(tuple(function(n, i) for i in range(count)) for n, count in enumerate(reading.unknown.counts))
    free = {name: tuple(map(at, v)) if name.endswith("_n") else at(v) for name, v in reading.instance.vectors.items()}
    was = reading.instance
    instance = Instance(
        was.program,
        {name: v for name, v in was.parameters.items() if name not in ("N", "d")},
        Points(functions),
        at(reading.unknown.start),
        was.rounds,
        free,
        was.algorithm,
    )
    named = {name: value for name, value in reading.values.constants.items() if name != "d"}
    constants = {**named, **({"K": Fraction(was.rounds)} if "K" in reading.values.constants else {})}
    return Drawn(instance, constants, listed({**instance.parameters, **constants}))
