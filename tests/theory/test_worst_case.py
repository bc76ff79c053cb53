"""The conditions of performance estimation problems, against the formula of the paper."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from theory.worst_case.program import Point, interpolation

Exact = Fraction


@pytest.mark.parametrize(("mu", "L"), [(Exact(0), Exact(1)), (Exact(1, 10), Exact(3))])
def test_interpolation_conditions_are_those_of_the_paper(mu: Fraction, L: Fraction) -> None:
    """Taylor, Hendrickx, Glineur (2017), Theorem 4, at random integer points, in its own arrangement."""
    draw = np.random.default_rng(0).integers(-9, 10, (5, 2))
    a, g, h = ([Exact(int(c)) for c in row] for row in draw[:3])
    values = [Exact(int(c)) for c in draw[3:].ravel()[:3]]
    zero = [Exact(0)] * 2
    xs, gs = [a, [p - q / 2 for p, q in zip(a, g, strict=True)], zero], [g, h, zero]

    def dot(u: list[Fraction], v: list[Fraction]) -> Fraction:
        return sum((p * q for p, q in zip(u, v, strict=True)), Exact(0))

    def less(u: list[Fraction], v: list[Fraction]) -> list[Fraction]:
        return [p - q for p, q in zip(u, v, strict=True)]

    theirs = set()
    for i, j in itertools.permutations(range(3), 2):
        x, s = less(xs[i], xs[j]), less(gs[i], gs[j])
        bracket = dot(s, s) / L + mu * dot(x, x) - 2 * mu / L * dot(s, x)
        theirs.add(values[j] - values[i] + dot(gs[j], x) + bracket / (2 * (1 - mu / L)))
    assert len(theirs) == 6
    vectors = [*xs, *gs]
    family = interpolation("f", [Point(0, 3, 0), Point(1, 4, 1)], Point(2, 5, 2), mu, L)
    ours = set()
    for support, places in zip(family.supports.tolist(), family.values.tolist(), strict=True):
        level = sum((slope * values[v] for slope, v in zip(family.slopes, places, strict=True) if v >= 0), Exact(0))
        for (i, p), (j, q) in itertools.product(enumerate(support), repeat=2):
            level += family.form[i][j] * dot(vectors[p], vectors[q])
        ours.add(level)
    assert ours == theirs
