"""The conditions of performance estimation problems, against others that were written apart."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from theory.inequality.interpolation import smooth_strongly_convex
from theory.inequality.vectors import Form, Space, inner, square
from theory.worst_case.program import Point, interpolation

Exact = Fraction


@pytest.mark.parametrize(("mu", "L"), [(Exact(0), Exact(1)), (Exact(1, 10), Exact(3))])
def test_interpolation_conditions_are_those_of_the_prover(mu: Fraction, L: Fraction) -> None:
    """The families of the program and `theory.inequality.interpolation` were written apart."""
    space = Space(("a", "g", "h"), ("f1", "f2", "f3"))
    a, g, h = (space.vector(name) for name in ("a", "g", "h"))
    zero = 0 * a
    xs, gs = [a, a - g / 2, zero], [g, h, zero]
    points = [(x, s, space.value(f)) for x, s, f in zip(xs, gs, ("f1", "f2", "f3"), strict=True)]
    theirs = {form_key(condition.form) for condition in smooth_strongly_convex(space, points, mu, L)}
    vectors = [*xs, *gs]
    family = interpolation("f", [Point(0, 3, 0), Point(1, 4, 1)], Point(2, 5, 2), mu, L)
    ours = set()
    for support, values in zip(family.supports.tolist(), family.values.tolist(), strict=True):
        form = 0 * square(a)
        for (i, p), (j, q) in itertools.product(enumerate(support), repeat=2):
            form = form + family.form[i][j] * inner(vectors[p], vectors[q])
        for slope, value in zip(family.slopes, values, strict=True):
            form = form + slope * space.value(f"f{value + 1}")
        ours.add(form_key(form))
    assert len(ours) == 6
    assert ours == theirs


def form_key(form: Form) -> str:
    """A form as text, the same for equal forms."""
    return str(form)
