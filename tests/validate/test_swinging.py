"""Runs with momentum on functions of one variable with many stretches."""

from fractions import Fraction as F

import numpy as np
import pytest

from theory import algorithm, claim
from theory.arithmetic import to_element
from validate.batch import swung
from validate.batch.many import Many, values_of
from validate.batch.stretches import KNOTS, _Stretches
from validate.batch.swinging import _bases
from validate.examine import examine
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.seen import Hunt


@algorithm(x="x0", z="x0")
def momentum(w, x, z, *, eta, beta):
    y = x + beta * (x - z)
    return y - eta * w.full_gradient(y), x


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


CLASS = ("smooth(f, L)", "strongly_convex(f, mu)")
FOURFOLD = (*CLASS, "L == 4*mu", "eta == 1/L", "beta == 1/3")
TUNED = (*CLASS, "eta == 1/L", "beta == (sqrt(L)-sqrt(mu))/(sqrt(L)+sqrt(mu))")
FALSE = {
    # true of quadratics, whose worst is a double root; false on a function of two curvatures that alternate
    "a fourth": claim("a", "norm2(x[k]-xstar) <= (1+k)**2/4**k*norm2(x0-xstar)", of=momentum, assuming=FOURFOLD),
    "any": claim(
        "b", "norm2(x[k]-xstar) <= (1+k)**2*(1-sqrt(mu/L))**(2*k)*norm2(x0-xstar)", of=momentum, assuming=TUNED
    ),
}
TRUE = {
    # Nesterov 2018, theorem 2.2.3
    "estimated": claim(
        "c", "f(x[k]) - fstar <= (1-sqrt(mu/L))**k*(f(x0) - fstar + mu/2*norm2(x0-xstar))", of=momentum, assuming=TUNED
    ),
    "no memory": claim("d", "norm2(x[k]-xstar) <= norm2(x0-xstar)", of=descent, assuming=(*CLASS, "eta <= 1/L")),
}


def test_gradients_and_values_are_those_of_exact_functions() -> None:
    rng = np.random.default_rng(0)
    B = 30
    distances = np.sort(rng.integers(1, 64, (2, KNOTS, B)), axis=1) / 16 + np.arange(1, KNOTS + 1)[None, :, None] / 64
    curvatures = rng.integers(0, 9, (2, KNOTS + 1, B)) / 4
    x = rng.integers(-160, 160, B) / 32
    many = _Stretches(distances, curvatures, 2)
    for i in range(B):
        # the first side is right of 0
        knots = [*(-distances[1, ::-1, i]), 0.0, *distances[0, :, i]]
        slopes = [*curvatures[1, ::-1, i], *curvatures[0, :, i]]
        exact = Pieces(((Piecewise(tuple(map(F, knots)), tuple(map(F, slopes))),),))
        at = (to_element(F(x[i])),)
        assert np.isclose(values_of(many.gradient((Many(x),))[0])[i], float(exact.gradient(at)[0]))
        assert np.isclose(values_of(many.value((Many(x),)))[i], float(exact.value(at)))


def test_a_candidate_is_the_function_that_floats_have_on_either_side() -> None:
    runs = next(_bases(FALSE["a fourth"]))
    numbers = runs.drawn(8)
    many = runs.problem(numbers, 1.0)
    for i in range(8):
        candidate = runs.candidate(numbers[:, i], 12, 10**6)
        exact = Pieces(candidate.functions)
        for x in (-2.0, -0.125, 0.03125, 1.5):
            ours = values_of(many.gradient((Many(np.full(8, x)),))[0])[i]
            assert np.isclose(ours, float(exact.gradient((to_element(F(x)),))[0]), rtol=1e-3)


@pytest.mark.parametrize("name", FALSE)
def test_what_is_true_of_quadratics_alone_is_broken(name: str) -> None:
    seen = next(swung(FALSE[name], Hunt(), lambda: False))
    assert seen.measured.broken
    assert isinstance(seen.drawn.instance.problem, Pieces)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not(name: str) -> None:
    assert [*swung(TRUE[name], Hunt(), lambda: False)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FALSE)
def test_a_check_refutes_it(name: str, tmp_path) -> None:
    assert examine(FALSE[name], quick=True, out=tmp_path).verdict == "refuted"
