"""Classes of functions as conditions: true of every function of the class that we can write down, false of others."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory.inequality.interpolation import (
    Interpolated,
    bounded_gradients,
    cocoercive,
    convex,
    lipschitz_map,
    monotone,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
)
from theory.inequality.vectors import Space, inner, square

F = Fraction
NUMBER = rationals(-4, 4, 6)


def scene(size):
    names = range(size)
    space = Space((*[f"x{i}" for i in names], *[f"g{i}" for i in names]), tuple(f"f{i}" for i in names))
    points = [(space.vector(f"x{i}"), space.vector(f"g{i}"), space.value(f"f{i}")) for i in names]
    return space, points


def gram_of(positions, gradients):
    vectors = [*positions, *gradients]
    return [[sum(a * b for a, b in zip(u, v, strict=True)) for v in vectors] for u in vectors]


def holds(conditions, positions, gradients, values):
    gram = gram_of(positions, gradients)
    return all(c.holds(gram, values) for c in conditions)


def quadratic(curvatures, centre, x):
    offset = [a - c for a, c in zip(x, centre, strict=True)]
    gradient = [h * o for h, o in zip(curvatures, offset, strict=True)]
    return gradient, sum(h * o * o for h, o in zip(curvatures, offset, strict=True)) / 2


@settings(max_examples=80, deadline=None)
@given(
    st.lists(rationals(-3, 3, 4), min_size=2, max_size=2),
    st.lists(NUMBER, min_size=2, max_size=2),
    st.lists(st.lists(NUMBER, min_size=2, max_size=2), min_size=2, max_size=4),
)
def test_quadratics_satisfy_exactly_the_conditions_of_their_classes(curvatures, centre, positions):
    space, points = scene(len(positions))
    pairs = [quadratic(curvatures, centre, x) for x in positions]
    gradients, values = [g for g, _ in pairs], [v for _, v in pairs]
    low, high = min(curvatures), max(curvatures)
    largest = max(abs(low), abs(high), F(1, 10))
    assert holds(smooth(space, points, largest), positions, gradients, values)
    operators = [(x, g) for x, g, _ in points]
    assert holds(lipschitz_map(operators, largest), positions, gradients, values)
    if low >= 0:
        assert holds(convex(space, points, low), positions, gradients, values)
        assert holds(smooth_strongly_convex(space, points, low, largest), positions, gradients, values)
        assert holds(smooth_convex(space, points, largest + 1), positions, gradients, values)
        assert holds(cocoercive(operators, 1 / largest), positions, gradients, values)
        assert holds(monotone(operators, low), positions, gradients, values)


@settings(max_examples=60, deadline=None)
@given(rationals(-3, 3, 4), NUMBER, NUMBER)
def test_a_quadratic_outside_the_class_is_seen_at_any_two_points(curvature, one, other):
    if one == other:
        return
    space, points = scene(2)
    positions = [[one], [other]]
    gradients, values = [[curvature * one], [curvature * other]], [curvature * x * x / 2 for x in (one, other)]
    below, above = curvature - F(1, 10), curvature + F(1, 10)
    if curvature < 0:
        assert not holds(convex(space, points), positions, gradients, values)
    assert not holds(Interpolated("f", tuple(points), above, None).conditions(), positions, gradients, values)
    assert not holds(Interpolated("f", tuple(points), above, above + 1).conditions(), positions, gradients, values)
    assert not holds(Interpolated("f", tuple(points), below - 1, below).conditions(), positions, gradients, values)
    assert not holds(Interpolated("f", tuple(points), above, above).conditions(), positions, gradients, values)
    for low, high in ((curvature, curvature), (curvature, above), (below, curvature), (below, None)):
        assert holds(Interpolated("f", tuple(points), low, high).conditions(), positions, gradients, values)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBER, min_size=2, max_size=4, unique=True), st.booleans())
def test_the_huber_function_is_convex_smooth_and_has_bounded_gradients(positions, upside_down):
    space, points = scene(len(positions))
    sign = -1 if upside_down else 1
    gradients = [[sign * max(F(-1), min(F(1), x))] for x in positions]
    values = [sign * (x * x / 2 if abs(x) <= 1 else abs(x) - F(1, 2)) for x in positions]
    places = [[x] for x in positions]
    assert holds(smooth(space, points, 1), places, gradients, values)
    assert holds(bounded_gradients([g for _, g, _ in points], 1), places, gradients, values)
    if not upside_down:
        assert holds(smooth_convex(space, points, 1), places, gradients, values)
        assert holds(convex(space, points, lipschitz=1), places, gradients, values)


@pytest.mark.parametrize(("mu", "L"), [(F(0), F(2)), (F(1, 3), F(5, 2)), (F(-2), F(2))])
def test_the_condition_is_the_one_of_the_paper(mu, L):
    """Taylor, Hendrickx, Glineur (2017), Theorem 4, in its own arrangement."""
    _, points = scene(2)
    (x, g, f), (y, h, e) = points
    bracket = square(g - h) / L + mu * square(x - y) - 2 * (mu / L) * inner(h - g, y - x)
    paper = e - f + inner(h, x - y) + bracket / (2 * (1 - mu / L))
    ours = Interpolated("f", tuple(points), mu, L).conditions()
    assert paper in [c.form for c in ours]
    assert len(ours) == 2


def test_a_smaller_class_implies_the_larger_one():
    from theory.inequality.prover import Proof, prove

    space, points = scene(2)
    narrow = smooth_strongly_convex(space, points, F(1, 2), 2)
    for condition in (
        *smooth_strongly_convex(space, points, F(1, 4), 2),
        *smooth_convex(space, points, 3),
        *smooth(space, points, 2),
        *convex(space, points, F(1, 2)),
    ):
        assert isinstance(prove(condition, narrow, space), Proof)


def test_bad_classes_are_refused():
    space, points = scene(2)
    other, _ = scene(3)
    with pytest.raises(ValueError, match=r"L=0 is outside \(0, inf\)"):
        smooth_convex(space, points, 0)
    with pytest.raises(ValueError, match=r"mu=-1 is outside \[0, inf\)"):
        smooth_strongly_convex(space, points, -1, 1)
    with pytest.raises(ValueError, match=r"mu=2 is outside \[0, 1\]"):
        smooth_strongly_convex(space, points, 2, 1)
    with pytest.raises(ValueError, match="are outside space="):
        smooth(other, points, 1)
    with pytest.raises(ValueError, match=r"lower=2 is outside"):
        Interpolated("f", tuple(points), F(2), F(1))
    with pytest.raises(ValueError, match=r"points=\(\) is outside"):
        Interpolated("f", (), F(0), F(1))
    with pytest.raises(ValueError, match=r"lipschitz=-1 is outside \[0, inf\)"):
        convex(space, points, lipschitz=-1)
    with pytest.raises(ValueError, match=r"lipschitz=-1 is outside \[0, inf\)"):
        Interpolated("f", tuple(points), F(0), None, F(-1))
    with pytest.raises(ValueError, match=r"beta=0 is outside \(0, inf\)"):
        cocoercive([], 0)
    with pytest.raises(ValueError, match=r"bound=-1 is outside \[0, inf\)"):
        bounded_gradients([], -1)
    with pytest.raises(ValueError, match="exact rationals"):
        smooth(space, points, 0.1)
