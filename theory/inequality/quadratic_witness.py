"""Counterexamples among quadratics ``e + lambda/2 |x - c|^2``, one curvature a function.

With the curvatures fixed, every gradient is linear in the positions and the centres, so the basis vectors are
restricted to a subspace, and what is left is a smaller inequality of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from theory.inequality.configuration import Configuration, Substitution, null_space
from theory.inequality.counterexample import exact_counterexample, worst
from theory.inequality.interpolation import Interpolated
from theory.inequality.vectors import Condition, Form, Space, Vector, inner, square

MOST_CURVATURES = 81  # combinations that are tried
CLEAR = 1e-7  # a violation worth rounding

Coordinates = tuple[Fraction, ...]


@dataclass(frozen=True)
class QuadraticWitness:
    """f(x) = value + curvature/2 |x - centre|^2 + <slope, x>, which passes through the points of a function.

    Attributes:
        name: of the function.
        curvature: lambda, between `lower` and `upper`.
        centre: (d,) coordinates, in the units of the configuration's.
        slope: (d,); zero unless the curvature is.
        value: e.
        lower, upper: the class; upper None where it need not be smooth.
        points: (x, g, f) each.
    """

    name: str
    curvature: Fraction
    centre: Coordinates
    slope: Coordinates
    value: Fraction
    lower: Fraction
    upper: Fraction | None
    points: tuple[tuple[Vector, Vector, Form], ...]

    def check(self, point: Configuration) -> bool:
        """Whether it is in the class and has the gradients and values that the configuration says, exactly."""
        if self.curvature < self.lower or (self.upper is not None and self.curvature > self.upper):
            return False
        gram = point.gram()
        for x, g, f in self.points:
            offset = [a - c for a, c in zip(point.at(x), self.centre, strict=True)]
            gradient = tuple([self.curvature * o + s for o, s in zip(offset, self.slope, strict=True)])
            length = sum((w * o * o for w, o in zip(point.weights, offset, strict=True)), Fraction(0))
            rise = sum((w * s * a for w, s, a in zip(point.weights, self.slope, point.at(x), strict=True)), Fraction(0))
            if gradient != point.at(g) or f.at(gram, point.values) != self.value + self.curvature / 2 * length + rise:
                return False
        return True


def quadratic_counterexample(
    claim: Form, given: Sequence[Condition], functions: Sequence[Interpolated]
) -> tuple[Configuration, tuple[QuadraticWitness, ...]] | None:
    """Vectors that break ``claim <= 0`` and come from quadratics, or None.

    Args:
        claim: the form.
        given: all hypotheses, the functions' interpolation conditions among them.
        functions: at least one, or there is nothing to do.
    """
    if not functions:
        return None
    own = {c for f in functions for c in f.conditions()}  # true of the quadratics, and tight at the ends of the class
    others = [c for c in given if c not in own]
    for curvatures in islice(product(*[candidates(f) for f in functions]), MOST_CURVATURES):
        substitution, parameters, made = substituted(claim.space, functions, curvatures)
        small, hypotheses = substitution.form(claim), [*substitution.conditions(others), *made]
        if any(not (c.form.gram or c.form.values) for c in hypotheses):
            continue  # some hypothesis has become false
        solution = worst(small, hypotheses)
        if not (solution.status.startswith("optimal") and solution.value > CLEAR):
            continue
        point = exact_counterexample(small, hypotheses, solution.value)
        if point is None:
            continue
        old = substitution.back(point)
        least = point.values[len(claim.space.values) :]
        witnesses = tuple(
            [
                witness(f, c, point.at(parameter), value)
                for f, c, parameter, value in zip(functions, curvatures, parameters, least, strict=True)
            ]
        )
        if old.breaks(claim, given) and all(w.check(old) for w in witnesses):
            return old, witnesses
    return None


def candidates(function: Interpolated) -> Iterator[Fraction]:
    """Curvatures of the class that are worth a try: its ends, zero, the middle."""
    lower, upper = function.lower, function.upper
    if upper is None:
        seen = [lower, lower + 1, lower + 10]
    else:
        seen = [upper, lower, *([Fraction(0)] if lower < 0 < upper else []), (lower + upper) / 2]
    return iter(dict.fromkeys(seen))


def substituted(
    space: Space, functions: Sequence[Interpolated], curvatures: Sequence[Fraction]
) -> tuple[Substitution, list[Vector], list[Condition]]:
    """The subspace where gradients are those of the quadratics, their centres (or slopes), the equations of values.

    The new space has one basis vector a free parameter, the old values, and the least value of each function.
    """
    n = space.dimension
    rows = []
    for k, (function, curvature) in enumerate(zip(functions, curvatures, strict=True)):
        for x, g, _ in function.points:
            # g - curvature x + (curvature c, or the constant gradient of a linear function) = 0
            row = dict((g - x * curvature).coefficients)
            row[n + k] = curvature if curvature else Fraction(-1)
            rows.append(row)
    basis = null_space(rows, n + len(functions))
    floors = [_fresh(f"least {k}", space.values) for k in range(len(functions))]
    new = Space(tuple([f"u{i}" for i in range(len(basis))]), (*space.values, *floors))
    images = [Vector(new, {i: v[row] for i, v in enumerate(basis) if v[row]}) for row in range(n + len(functions))]
    substitution = Substitution(new, tuple(images[:n]), tuple([new.value(name) for name in space.values]))
    made = []
    for k, (function, curvature) in enumerate(zip(functions, curvatures, strict=True)):
        for i, (x, _, f) in enumerate(function.points):
            least = new.value(floors[k])
            if curvature:
                rise = square(substitution.vector(x) - images[n + k]) * (curvature / 2)
            else:
                rise = inner(images[n + k], substitution.vector(x))
            condition = Condition(f"{function.name} value({i})", substitution.form(f) - least - rise, "==")
            if condition.form.gram or condition.form.values:
                made.append(condition)
    return substitution, images[n:], made


def witness(function: Interpolated, curvature: Fraction, parameter: Coordinates, least: Fraction) -> QuadraticWitness:
    """The quadratic of a curvature, with its centre (its slope if it is linear) and its least value."""
    zero = tuple([Fraction(0)] * len(parameter))
    centre, slope = (parameter, zero) if curvature else (zero, parameter)
    return QuadraticWitness(
        function.name, curvature, centre, slope, least, function.lower, function.upper, function.points
    )


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "'"
    return name
