"""Forms against numeric vectors; the hand-made dual against cvxpy; bounds that are proved, and tampering."""

from __future__ import annotations

import dataclasses
import itertools
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory.inequality.conic import Program, solved_by
from theory.inequality.gram import Certificate, certify, expectation, inner, mean, recentre, residual, solve, square
from theory.inequality.interpolation import smooth_convex, smooth_strongly_convex
from theory.inequality.vectors import Condition, Form, Space, Vector, combination, exact, vanishes

NUMBER = rationals(-4, 4, 6)


@st.composite
def scenes(draw):
    """A space, three vectors in it, and coordinates of its basis in R^2."""
    n = draw(st.integers(1, 4))
    space = Space(tuple(f"e{i}" for i in range(n)), ("f", "g"))
    basis = [[draw(NUMBER) for _ in range(2)] for _ in range(n)]
    vectors = [combination([draw(NUMBER) for _ in range(n)], space.vectors_of()) for _ in range(3)]
    return space, basis, vectors, [draw(NUMBER), draw(NUMBER)]


def located(vector, basis):
    return [sum(c * x[k] for c, x in zip(vector.column(), basis, strict=True)) for k in range(2)]


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))


@settings(max_examples=60, deadline=None)
@given(scenes(), NUMBER, NUMBER)
def test_forms_are_what_the_vectors_say(scene, a, b):
    space, basis, (u, v, w), values = scene
    gram = [[dot(x, y) for y in basis] for x in basis]
    form = a * inner(u - v, w) - square(u + b * w) / 3 + b * space.value("g") - a + 2
    p, q, r = (located(x, basis) for x in (u, v, w))
    difference = [x - y for x, y in zip(p, q, strict=True)]
    total = [x + b * y for x, y in zip(p, r, strict=True)]
    expected = a * dot(difference, r) - dot(total, total) / 3 + b * values[1] - a + 2
    assert form.at(gram, values) == expected
    assert sum(form.matrix()[i][j] * gram[i][j] for i in range(len(gram)) for j in range(len(gram))) == (
        expected - b * values[1] + a - 2
    )
    assert float(form.at(np.array(gram, dtype=float), [float(x) for x in values])) == pytest.approx(float(expected))


@settings(max_examples=40, deadline=None)
@given(scenes(), NUMBER)
def test_forms_are_a_vector_space(scene, a):
    space, _, (u, v, w), _ = scene
    one, other = inner(u, v) + space.value("f"), square(w) - a
    assert (one + other) - other == one
    assert hash(one + other) == hash(other + one)
    assert (one - one).is_zero()
    assert inner(u, v) == inner(v, u)
    assert square(u - v) == square(u) - 2 * inner(u, v) + square(v)


def test_text_of_forms_and_conditions():
    space = Space(("a", "b"), ("f",))
    a, b = space.vectors_of()
    assert str(2 * inner(a, b) - square(a) / 3 - space.value("f") + 1) == "-1/3*|a|^2 + 2*<a,b> - f + 1"
    assert str(a - b / 2) == "a - 1/2*b"
    assert str(space.zero()) == "0"
    assert str(square(a) >= 1) == "-|a|^2 + 1 <= 0"
    assert str(square(a).equals(square(b))) == "|a|^2 - |b|^2 == 0"


def test_expectation_and_mean():
    space = Space(("a", "b"))
    a, b = space.vectors_of()
    p = ["1/4", "3/4"]
    centre = mean(p, [a, b])
    assert centre == a / 4 + b * "0.75"
    variance = expectation(p, [square(a - centre), square(b - centre)])
    assert variance == expectation(p, [square(a), square(b)]) - square(centre)
    for wrong in (["1/2", "1/3"], ["3/2", "-1/2"], ["1"]):
        with pytest.raises(ValueError, match=r"probabilities=.* is outside"):
            expectation(wrong, [square(a), square(b)])


def test_vanishing_is_said_by_one_equation_a_basis_vector():
    space = Space(("a", "b"))
    a, b = space.vectors_of()
    assert [c.form for c in vanishes(a - b)] == [inner(a - b, a), inner(a - b, b)]
    assert vanishes(a - a) == []


@pytest.mark.parametrize("number", [0.1, float("nan"), float("inf"), "x", True, Decimal("inf"), "1/0", None])
def test_inexact_numbers_are_refused(number):
    with pytest.raises(ValueError, match=r"is outside the exact rationals"):
        exact(number)


def test_numbers_are_read_exactly():
    assert exact("0.1") == exact(Decimal("0.1")) == exact("1/10") == Fraction(1, 10)


def test_bad_spaces_and_mixtures_are_refused():
    with pytest.raises(ValueError, match="distinct names"):
        Space(("a", "a"))
    space, other = Space(("a",)), Space(("b",))
    with pytest.raises(ValueError, match="vector='b' is outside"):
        space.vector("b")
    with pytest.raises(ValueError, match="value='f' is outside"):
        space.value("f")
    with pytest.raises(ValueError, match="outside the space of the other operand"):
        inner(space.vector("a"), other.vector("b"))
    with pytest.raises(ValueError, match="outside the space of the other operand"):
        space.vector("a") + other.vector("b")
    with pytest.raises(ValueError, match="relation='<' is outside"):
        Condition("c", square(space.vector("a")), "<")
    with pytest.raises(ValueError, match="outside the space of a form"):
        solve(space, square(space.vector("a")), [Condition("c", square(other.vector("b")), "<=")])
    with pytest.raises(ValueError, match="conditions="):
        solve(space, square(space.vector("a")), [])
    with pytest.raises(ValueError, match="weights="):
        combination([1, 2], [space.vector("a")])


def descent(steps, step=Fraction(1), mu=Fraction(0)):
    """Gradient descent with L = 1 from |x0 - x*| <= 1: objective f(x_n) - f*, conditions."""
    names = [str(i) for i in range(steps + 1)]
    space = Space(("x0", *[f"g{i}" for i in names]), tuple(f"f{i}" for i in names))
    x = space.vector("x0")
    points = [(space.zero(), space.zero(), space.constant(0))]
    for i in names:
        g = space.vector(f"g{i}")
        points.append((x, g, space.value(f"f{i}")))
        x = x - step * g
    start = Condition("start", square(space.vector("x0")) - 1, "<=")
    conditions = smooth_strongly_convex(space, points, mu, 1) if mu else smooth_convex(space, points, 1)
    return space, space.value(f"f{steps}"), [start, *conditions]


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_gradient_descent_attains_the_known_worst_case(steps):
    """L |x0 - x*|^2 / (4 n + 2) for steps 1/L: Drori and Teboulle (2014), Theorem 3.1."""
    space, objective, conditions = descent(steps)
    solution = solve(space, objective, conditions)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(1 / (4 * steps + 2), abs=1e-7)
    found = certify(space, objective, conditions, solution)
    assert found is not None
    assert found.check()
    assert Fraction(1, 4 * steps + 2) <= found.bound <= Fraction(1, 4 * steps + 2) + Fraction(1, 10**6)


@pytest.mark.slow
def test_a_large_residual_is_proved_by_balls():
    space, objective, conditions = descent(32)
    found = certify(space, objective, conditions, solve(space, objective, conditions))
    assert found is not None
    assert found.method == "balls"
    assert found.check()
    assert Fraction(1, 130) <= found.bound <= Fraction(1, 130) + Fraction(1, 10**6)


def test_a_hand_made_program_agrees_with_cvxpy_in_value_primal_dual_and_complementarity():
    import cvxpy as cp

    space, objective, conditions = descent(2, Fraction(3, 2), Fraction(1, 10))
    extra = Condition("mixed", inner(space.vector("x0"), space.vector("g0")) - space.value("f0") * "3/2", "==")
    conditions = [*conditions, extra]
    ours = solve(space, objective, conditions)
    n, m = len(space.vectors), len(space.values)
    gram, values = cp.Variable((n, n), PSD=True), cp.Variable(m)

    def expression(form):
        matrix = np.array(form.matrix(), dtype=float)
        row = np.array([float(form.values.get(j, 0)) for j in range(m)])
        return cp.trace(matrix @ gram) + row @ values + float(form.constant)

    constraints = [expression(c.form) == 0 if c.relation == "==" else expression(c.form) <= 0 for c in conditions]
    problem = cp.Problem(cp.Maximize(expression(objective)), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert ours.status == "optimal"
    assert ours.value == pytest.approx(problem.value, abs=1e-6)
    # primal feasibility and value of our own primal point
    assert np.linalg.eigvalsh(ours.gram)[0] > -1e-7
    left = np.array([float(c.form.at(ours.gram, ours.values)) for c in conditions])
    equality = np.array([c.relation == "==" for c in conditions])
    assert np.all(left[~equality] < 1e-6)
    assert np.all(np.abs(left[equality]) < 1e-6)
    assert float(objective.at(ours.gram, ours.values)) == pytest.approx(problem.value, abs=1e-6)
    # dual feasibility: signs, residual, values
    assert np.all(ours.multipliers[~equality] > -1e-7)
    assert np.linalg.eigvalsh(ours.residual)[0] > -1e-6
    program = Program.of(space, objective, conditions)
    assert np.allclose(program.values.T @ ours.multipliers, program.objective_values, atol=1e-6)
    # complementarity
    assert abs(float(np.sum(ours.residual * ours.gram))) < 1e-6
    assert np.all(np.abs(ours.multipliers * left) < 1e-6)
    # at most the sign convention of the solver's own multipliers differs
    theirs = np.array([float(np.squeeze(c.dual_value)) for c in constraints])
    bound = -sum(y * float(c.form.constant) for y, c in zip(theirs, conditions, strict=True))
    assert bound == pytest.approx(problem.value, abs=1e-5)


def test_residual_is_the_exact_difference():
    space, objective, conditions = descent(1)
    multipliers = [Fraction(i, 7) for i in range(len(conditions))]
    matrix, values, constant = residual(objective, conditions, multipliers)
    total = -objective
    for y, c in zip(multipliers, conditions, strict=True):
        total = total + y * c.form
    assert matrix == total.matrix()
    assert values == [total.values.get(j, Fraction(0)) for j in range(len(space.values))]
    assert constant == total.constant


def test_a_changed_certificate_is_no_longer_one():
    space, objective, conditions = descent(2)
    found = certify(space, objective, conditions, solve(space, objective, conditions))
    assert found is not None
    assert found.check()
    tiny = Fraction(1, 10**12)
    for i, sign in itertools.product(range(1, len(conditions)), (1, -1)):  # not the start, which has no value part
        changed = list(found.multipliers)
        changed[i] += sign * tiny
        assert not dataclasses.replace(found, multipliers=tuple(changed)).check()
    assert not dataclasses.replace(found, multipliers=found.multipliers[:-1]).check()
    assert not dataclasses.replace(found, bound=found.bound - tiny).check()
    assert dataclasses.replace(found, bound=found.bound + tiny).check()
    assert not dataclasses.replace(found, objective=objective * Fraction(101, 100)).check()


def test_a_wanted_margin_is_kept_and_checked():
    space, objective, conditions = descent(2)
    solution = solve(space, objective, conditions)
    found = certify(space, objective, conditions, solution, margin="1/1000")
    assert found is not None
    assert found.check()
    assert Fraction(1, 10) <= found.bound <= Fraction(1, 10) + Fraction(2, 1000)
    with pytest.raises(ValueError, match=r"margin=0 is outside \(0, inf\)"):
        certify(space, objective, conditions, solution, margin=0)
    with pytest.raises(ValueError, match=r"bits=0 is outside \[1, inf\)"):
        certify(space, objective, conditions, solution, bits=0)


def test_a_bound_is_certified_where_the_residual_must_be_singular():
    """|a - b| <= 1 bounds <a - b, a - b> only; the Gram matrix of a + b may grow for ever."""
    space = Space(("a", "b"))
    a, b = space.vectors_of()
    conditions = [square(a - b) <= 1]
    found = certify(space, square(a - b), conditions, solve(space, square(a - b), conditions))
    assert found is not None
    assert found.check()
    assert 1 <= found.bound <= Fraction(1001, 1000)


def test_unbounded_and_contradictory_programs_are_said_so_and_not_certified():
    space = Space(("a",), ("f",))
    a, f = space.vector("a"), space.value("f")
    unbounded = solve(space, square(a), [f <= 1])
    assert unbounded.status == "unbounded"
    assert np.isnan(unbounded.value)
    assert certify(space, square(a), [f <= 1], unbounded) is None
    contradiction = [f <= 0, f >= 1, square(a) <= 1]
    assert solve(space, square(a), contradiction).status == "infeasible"


def test_a_solver_that_is_stopped_early_does_not_call_itself_optimal():
    space, objective, conditions = descent(2)
    stopped = solve(space, objective, conditions, iterations=2)
    assert stopped.status == "MaxIterations"
    assert certify(space, objective, conditions, stopped) is None


def test_recentring_finds_room_and_says_when_there_is_none():
    space, objective, conditions = descent(1)
    program = Program.of(space, objective, conditions)
    assert recentre(program, 0.5)[1] > 1e-3
    assert recentre(program, 0.1)[1] < 0


def test_metamorphic_the_same_program_with_needless_vectors_and_doubled_conditions():
    space, objective, conditions = descent(2)
    larger = Space((*space.vectors, "idle"), (*space.values, "spare"))

    def lifted(form):
        return Form(larger, form.gram, form.values, form.constant)

    doubled = [Condition(c.name, lifted(c.form) * k, c.relation) for c in conditions for k in (1, 3)]
    doubled.append(Condition("idle", square(Vector(larger, {len(space.vectors): Fraction(1)})) - 5, "<="))
    value = solve(larger, lifted(objective), doubled).value
    assert value == pytest.approx(solve(space, objective, conditions).value, abs=1e-7)


def test_certificates_are_plain_and_frozen():
    space, objective, conditions = descent(1)
    found = certify(space, objective, conditions, solve(space, objective, conditions))
    assert isinstance(found, Certificate)
    assert all(isinstance(y, Fraction) for y in (*found.multipliers, found.bound))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.bound = Fraction(0)


class PanicException(BaseException):
    """Named as the panics of Rust are."""


class Solver:
    """One that says something on the standard error stream, and then gives an answer or an error."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def solve(self) -> object:
        os.write(2, b"thread panicked")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def test_a_panic_of_the_solver_is_no_solution_and_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert solved_by(Solver(PanicException("Eigval error"))) is None
    assert capfd.readouterr().err == ""


def test_what_the_solver_prints_otherwise_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert solved_by(Solver(3)) == 3
    assert capfd.readouterr().err == "thread panicked"
    with pytest.raises(KeyboardInterrupt):
        solved_by(Solver(KeyboardInterrupt()))
    assert capfd.readouterr().err == "thread panicked"
