"""What a run meets, and a form to be maximised, as a performance estimation problem.

What is free is taken out: all points may be moved together, and each function may be raised by a number, as long as
neither the forms nor the points' places relative to each other change. Where everything is homogeneous the length of
what the run begins with is bounded by a number, so that the problem is bounded: gradients that are Lipschitz keep the
rest of the run within a multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from theory.arithmetic import to_element
from theory.worst_case.classes import Class
from theory.worst_case.forms import Extreme, Form, Linear, NotLinearError
from theory.worst_case.program import Family, Point, Program, Row, interpolation, single

Vector = tuple[Any, ...]
ORIGIN = 0
"""The place among the basis vectors of the one that all points have once: the minimiser, or the start."""


@dataclass(frozen=True)
class Known:
    """A function at a point: combinations of the basis vectors, flint rationals, and the index of its value."""

    x: Vector
    g: Vector
    value: int


@dataclass(frozen=True)
class Meeting:
    """All that a run and a sentence about it meet.

    Attributes:
        basis: names of the basis vectors.
        functions: by client and sample, where it is known. The first is the minimiser, where there is one.
        values: how many values of functions there are.
        conditions: forms that are not positive, by name.
        roots: the basis vectors that bound the whole run, with what their squares are multiplied by.
        gradients: the basis vectors that are gradients, and not differences of points.
        classes: by client and sample.
        minimiser: whether each function's first point is a minimiser of f.
        orthogonal: pairs of basis vectors whose inner product is 0.
    """

    basis: tuple[str, ...]
    functions: Mapping[tuple[int, int], tuple[Known, ...]]
    values: int
    conditions: tuple[tuple[str, Form], ...]
    roots: Mapping[int, Fraction]
    gradients: frozenset[int]
    classes: Mapping[tuple[int, int], Class]
    minimiser: bool
    orthogonal: tuple[tuple[int, int], ...] = ()

    @property
    def scale(self) -> tuple[Fraction, ...]:
        """What each basis vector is a multiple of: gradients and values have a unit of their own."""
        return tuple(self.unit if j in self.gradients else Fraction(1) for j in range(len(self.basis)))

    @cached_property
    def unit(self) -> Fraction:
        """The largest L, or where steps are longer than 1/L the inverse of the longest; also the unit of values."""
        known = (point.x for points in self.functions.values() for point in points)
        longest = fraction(
            max((abs(c) for x in known for j, c in enumerate(x) if c and j in self.gradients), default=0)
        )
        L = max(own.L for own in self.classes.values())
        return L if longest * L <= 1 else 1 / longest

    @property
    def homogeneous(self) -> bool:
        """Whether an instance may be scaled: no condition has a constant."""
        return not any(form.constant for _, form in self.conditions) and all(
            c.steepest is None for c in self.classes.values()
        )


@dataclass(frozen=True)
class Estimation:
    """A performance estimation problem with what its parts stand for.

    Attributes:
        program: to be maximised.
        kept: the places of its basis vectors in the meeting's basis.
        places: of each value of a function, its place in the program; -1 is the number 0.
        merged: whether clients were merged (`theory.worst_case.symmetry`); then the two above say nothing.
        scaled: the place of the value of which what is constant is a multiple; None where there is none.
    """

    program: Program
    kept: tuple[int, ...]
    places: tuple[int, ...]
    merged: bool = False
    scaled: int | None = None


def fraction(number: Any) -> Fraction:
    """A flint rational, or a number of Python, as a Fraction."""
    return Fraction(number) if isinstance(number, int | Fraction) else Fraction(int(number.p), int(number.q))


def estimation(
    met: Meeting,
    objective: Linear,
    reach: Fraction | None = Fraction(1),
    extra: Sequence[tuple[str, Form]] = (),
    alike: bool = False,
    bounded: Form | None = None,
) -> Estimation:
    """The problem of maximising a form, or the least of several.

    With `bounded` all that is constant is a multiple of one more number, which is not negative: an instance may then be
    scaled, and the greatest value is the greatest ratio to that form. A ratio that is only approached as what is
    constant vanishes beside the rest counts as well.

    Args:
        met: what the run meets.
        objective: to be maximised.
        reach: bound on the squares of `Meeting.roots`; None for no bound.
        extra: further forms that are not positive.
        alike: whether it is solved with less: clients that cannot be told apart are merged, and what exchanges of
            clients and samples leave as it is is noted; where `reach` is None.
        bounded: a form that is at most 1; `reach` is to be None then.

    Raises:
        NotLinearError: for a greatest, or a form that hangs on what is free.
    """
    if isinstance(objective, Extreme) and objective.how == "max":
        raise NotLinearError("the greatest of several is maximised one after another")
    conditions = [*met.conditions, *extra]
    unit_value: int | None = None
    if bounded is not None:
        if isinstance(objective, Extreme):
            raise NotLinearError("a ratio of a least, where something is constant")
        unit_value = met.values
        conditions = [(name, _scaled(form, unit_value)) for name, form in conditions]
        least = Form({}, {unit_value: -1})
        above = _scaled(bounded, unit_value).plus(Form(constant=1), -1)
        conditions += [("the unit", least), ("the right side", above)]
        objective = _scaled(objective, unit_value)
    goals = objective.forms if isinstance(objective, Extreme) else (objective,)
    places, count = _values(met, [*goals, *(form for _, form in conditions)])
    kept = _kept(met, [*goals, *(form for _, form in conditions)])
    alike = alike and reach is None and isinstance(objective, Form) and not met.orthogonal
    if alike and isinstance(objective, Form) and bounded is None:
        from theory.worst_case import symmetry

        one = symmetry.merged(met, kept, [objective, *(form for _, form in conditions)])
        program = None if one is None else symmetry.program_of(one, objective, conditions)
        if program is not None:
            return Estimation(program, (), (), True)
    where = {j: place for place, j in enumerate(kept)}
    units = tuple([to_element(of) for of in met.scale]), met.unit
    rows: list[Row] = [{place: Fraction(1)} for place in range(len(kept))]

    def row(vector: Vector, of: Fraction) -> int:
        share = 1 / to_element(of)
        rows.append({where[j]: fraction(c * units[0][j] * share) for j, c in enumerate(vector) if c and j in where})
        return len(rows) - 1

    found: list[Family] = []
    owners: list[tuple[int, int] | None] = []
    for (n, i), known in met.functions.items():
        if known:
            of_unit = None if unit_value is None else places[unit_value]
            found += families(f"f_{n + 1},{i + 1}", known, met.classes[n, i], met, places, row, of_unit)
            owners += [(n, i)] * (len(found) - len(owners))
    if reach is not None:
        length = Form({(j, j): to_element(c) for j, c in met.roots.items() if j in where}, constant=-reach)
        conditions.append(("length of the start", length))
    for name, form in conditions:
        found.append(single(name, *_parts(form, where, places, *units)))
    zero = [(where[i], where[j]) for i, j in met.orthogonal if i in where and j in where]
    if zero:
        product = ((Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(0)))
        none = np.zeros((len(zero), 0), dtype=int)
        every = np.ones(len(zero), dtype=bool)
        found.append(Family("independent", product, np.array(zero), (), none, Fraction(0), every, equal=True))
    if isinstance(objective, Extreme):
        for goal in goals:  # count is the least of them
            gram, values, constant = _parts(goal.times(-1), where, places, *units)
            found.append(single("least", gram, {**values, count: Fraction(1)}, constant))
        final = single("objective", {}, {count: Fraction(1)})
        count += 1
    else:
        final = single("objective", *_parts(objective, where, places, *units))
    names = tuple(met.basis[j] for j in kept)
    program = Program((names,), tuple(rows), count, tuple(found), final)
    if alike and isinstance(objective, Form):
        from theory.worst_case.exchanges import with_alike

        owners += [None] * (len(found) - len(owners))
        program = with_alike(program, met, kept, places, owners, [objective, *(form for _, form in conditions)])
    return Estimation(
        program, kept, tuple(places[: met.values]), scaled=None if bounded is None else places[met.values]
    )


def _scaled(form: Form, unit: int) -> Form:
    """A form whose constant is a multiple of a value."""
    return Form(form.gram, {**form.values, unit: form.constant} if form.constant else form.values)


def _values(met: Meeting, forms: Sequence[Form]) -> tuple[list[int], int]:
    """The places of the values, that of each function's first point being the number 0."""
    owner = {}
    for key, points in met.functions.items():
        for point in points:
            owner[point.value] = key
    for form in forms:
        totals: dict[tuple[int, int], Any] = {}
        for value, c in form.values.items():
            if value not in owner:  # the unit of what is constant
                continue
            totals[owner[value]] = totals.get(owner[value], 0) + c
        if any(totals.values()):
            raise NotLinearError("values of functions that are not taken relative to each other")
    places, count = [-1] * (met.values + 1), 0
    for points in met.functions.values():
        for point in points[1:]:
            places[point.value] = count
            count += 1
    if any(met.values in form.values for form in forms):
        places[met.values] = count
        count += 1
    return places, count


def _kept(met: Meeting, forms: Sequence[Form]) -> tuple[int, ...]:
    """The basis vectors without the origin, where everything may be moved."""
    moves = all(point.x[ORIGIN] == 1 for points in met.functions.values() for point in points)
    moves = moves and not any(ORIGIN in key for form in forms for key in form.gram)
    return tuple(range(int(moves), len(met.basis)))


def families(
    name: str,
    known: Sequence[Known],
    own: Class,
    met: Meeting,
    places: Sequence[int],
    row: Any,
    constant: int | None = None,
) -> Iterator[Family]:
    """The conditions on the points of one function.

    Args:
        name: of the function.
        known: where it is known; the first is the minimiser, where there is one.
        own: its class.
        met: for the units.
        places: of each value, its place in the program.
        row: makes a row of a combination of basis vectors, divided by a number.
        constant: the place of the value of which what is constant is a multiple; None where that is 1.
    """
    unit = met.unit
    points = [Point(row(p.x, Fraction(1)), row(p.g, unit), places[p.value]) for p in known]
    every = np.ones(len(points), dtype=bool)
    if len(points) > 1:
        yield interpolation(name, points[1:], points[0], own.mu / unit, own.L / unit)
    if own.mu < 0 and met.minimiser:
        # the infimum of the largest such function is min_i (f_i - |g_i|^2/(2 L)) (Drori and Shamir 2020, Theorem 7)
        yield Family(
            f"infimum of {name}",
            ((unit / (2 * own.L),),),
            np.array([[p.g] for p in points[1:]], dtype=int).reshape(-1, 1),
            (Fraction(-1), Fraction(1)),
            np.array([[p.value, points[0].value] for p in points[1:]], dtype=int).reshape(-1, 2),
            Fraction(0),
            every[1:],
        )
    if own.steepest is not None:
        supports, none = np.array([[p.g] for p in points]), np.zeros((len(points), 0), dtype=int)
        bound, one = (own.steepest / unit) ** 2, ((Fraction(1),),)
        if constant is None:
            yield Family(f"steepness of {name}", one, supports, (), none, -bound, every)
        else:
            at = np.full((len(points), 1), constant)
            yield Family(f"steepness of {name}", one, supports, (-bound * unit,), at, Fraction(0), every)


def _parts(
    form: Form, where: Mapping[int, int], places: Sequence[int], scale: Sequence[Any], unit: Fraction
) -> tuple[dict[tuple[int, int], Fraction], dict[int, Fraction], Fraction]:
    """A form in the program's rows and values. A basis vector's row has its place."""
    values: dict[int, Fraction] = {}
    for value, c in form.values.items():
        if places[value] >= 0:
            values[places[value]] = values.get(places[value], Fraction(0)) + fraction(c) * unit
    gram = {(where[i], where[j]): fraction(c * scale[i] * scale[j]) for (i, j), c in form.gram.items()}
    return gram, values, fraction(form.constant)
