"""Assumptions on a ball: decided exactly, against points of its edge; and the same by the stand-alone verifier."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from theory import algorithm, claim
from theory.predicates import BoundedGradients, Stable
from theory.sentence import parse_expression
from validate import verifier
from validate.breaks import certificate_of_break
from validate.instances import read_instance, read_problem
from validate.instances.occasion import occasion
from validate.instances.pool import Drawn
from validate.satisfied import true
from validate.satisfied.on_ball import squares_at_most


def fractions(rows):
    return np.array([[F(x) for x in row] for row in rows], dtype=object)


def vector(*entries):
    return np.array([F(x) for x in entries], dtype=object)


def constants(*texts):
    return tuple(map(parse_expression, texts))


@pytest.mark.parametrize("seed", range(6))
def test_the_maximum_on_the_ball_is_found_from_both_sides(seed):
    rng = np.random.default_rng(seed)
    maps = [
        (fractions(rng.integers(-3, 4, (2, 2)).tolist()), vector(*rng.integers(-3, 4, 2).tolist())) for _ in range(3)
    ]
    angles = np.linspace(0, 2 * np.pi, 20_001)
    edge = 2 * np.stack([np.cos(angles), np.sin(angles)])
    values = sum(((a.astype(float) @ edge + c.astype(float)[:, None]) ** 2).sum(axis=0) for a, c in maps) / 3
    most = float(values.max())
    assert squares_at_most(maps, F(most * (1 + 1e-4) + 1e-4), F(2))
    assert not squares_at_most(maps, F(most * (1 - 1e-6)), F(2))


def test_where_curvatures_are_the_same_it_is_decided_to_the_last_digit():
    maps = [(fractions([[2, 0], [0, 2]]), vector(3, 4))]  # |2x + (3, 4)| is at most 2R + 5
    assert squares_at_most(maps, F(49), F(1))
    assert not squares_at_most(maps, F(49) - F(1, 10**12), F(1))


def test_gradients_on_a_ball_grow_with_its_radius():
    problem = read_problem({"clients": [[{"h": 2, "b": 1}]]})  # |2x - 1| on [-R, R]
    one = BoundedGradients("f_ni", constants("G", "R"))
    assert one.on_ball
    assert true(one, problem.quadratic, (F(3), F(1))) is True
    assert true(one, problem.quadratic, (F(3), F(11, 10))) is False
    assert true(replace(one, constants=constants("G")), problem.quadratic, (F(10**6),)) is False


def test_a_stable_step_of_pieces_is_looked_at_on_knots_too():
    # x - f'(x) is x at the ends and 2 at the knot 0
    bump = {"knots": [-1, 0, 1], "slopes": [0, -2, 2, 0], "b": 2}
    problem = read_problem({"clients": [[bump]]})
    one = Stable("f_ni", constants("eta", "R"))
    assert true(one, problem, (F(1), F(2))) is True
    assert true(one, problem, (F(1), F(3, 2))) is False


def test_of_samples_it_is_the_mean_of_squares():
    # from x = 0 a step of 1 goes to 1 or to -1, from 1 to 1 +- 1: (4 + 0)/2 = 2 > 1
    problem = read_problem({"clients": [[{"h": 0, "b": 1}, {"h": 0, "b": -1}]]})
    samples, own = (Stable(name, constants("eta", "R")) for name in ("f_ni", "f_n"))
    assert true(samples, problem.quadratic, (F(1), F(1))) is False
    assert true(own, problem.quadratic, (F(1), F(1))) is True


@algorithm(x="each x0")
def step(w, x, *, eta):
    return x - eta * w.gradient(x, w.sample())


KEPT = claim("kept", "E(norm2(x[1])) <= R**2/2", of=step, assuming=("stable(f_ni, eta, R)", "norm(x0) <= R"))


def put_to(curvature):
    """The claim on x - eta*curvature*x from 1, with eta = 1/2 and R = 1."""
    data = {"algorithm": "step", "parameters": {"eta": "1/2"}, "start": 1, "rounds": 1}
    instance = read_instance({**data, "problem": {"clients": [[{"h": curvature, "b": 0}]]}}, step)
    return occasion(KEPT, Drawn(instance, {"R": F(1)}, {"eta": F(1, 2), "R": F(1)}))


def test_the_verifier_decides_stable_steps_by_itself():
    made = certificate_of_break(put_to("1/2"))
    assert verifier.verify(made).valid
    wide = {**made, "problem": {"clients": [[{"H": [["-1"]], "b": ["0"]}]]}}
    report = verifier.verify(wide)
    assert not report.valid
    assert any("stable" in text and text.startswith(verifier_says_no()) for text in report.lines)


def verifier_says_no():
    """How the verifier begins a line of a check that fails."""
    from validate.verifier.checks import Checks

    checks = Checks()
    checks.check(False, "")
    return checks.lines[0].rstrip()


def test_an_instance_off_the_assumption_is_told():
    assert put_to("1/2").unmet == ()
    assert put_to(-1).unmet == ("stable(f_ni, eta, R)",)
