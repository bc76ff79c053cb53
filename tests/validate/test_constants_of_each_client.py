"""Constants that each client has for itself: what is best of a problem, in floats too, and what is said with them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import Paper, algorithm, claim
from theory.predicates import BoundedGradients, Dissimilar, Smooth, StronglyConvex
from theory.sentence import SentenceError, parse_expression
from validate import satisfied, verifier
from validate.batch.bests import Problems, best_of_all, knows
from validate.examine import examine
from validate.instances.occasion import occasion
from validate.instances.pool import drawn
from validate.instances.problems import Quadratics
from validate.on_instance import functions_of

ALONG = "norm2(grad(f, x) - grad(f, y)) <= {0}**2*norm2(x - y)"
SETTINGS = {"vectors": ("x", "y"), "assuming": ("smooth(f_n, L_n)",)}


@algorithm(x="x0")
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


@algorithm(x="x0")
def own_steps(w, x, *, eta):
    return w.mean(x - eta * w.gradient(x))


RATE = claim(
    "rate",
    "norm2(x[k] - xstar) <= (1 - eta*max_n(mu_n))**k*norm2(x0 - xstar)",
    of=descent,
    assuming=("smooth(f_n, L_n)", "strongly_convex(f_n, mu_n)", "eta <= 1/max_n(L_n)"),
)
curvatures = st.lists(st.lists(st.fractions(-5, 5, max_denominator=12), min_size=1, max_size=3), min_size=1, max_size=4)


def of_curvatures(given):
    """Clients of one variable with samples of these curvatures."""
    clients = [[{"h": str(h), "b": "1"} for h in own] for own in given]
    return Quadratics.read(clients)


@given(curvatures)
def test_best_constants_are_those_of_each_client_alone(given):
    problem = of_curvatures(given).quadratic
    one = Smooth("f_n", (parse_expression("L_n"),))
    alone = [satisfied.best(Smooth("f_n", (parse_expression("L"),)), of_curvatures([own]).quadratic) for own in given]
    (best,) = satisfied.best(one, problem)
    assert best == [numbers[0] for numbers in alone] == [abs(sum(own, F(0)) / len(own)) for own in given]
    assert satisfied.true(one, problem, [best])
    for n, value in enumerate(best):
        if value > 0:
            assert satisfied.true(one, problem, [[*best[:n], value * F(99, 100), *best[n + 1 :]]]) is False


@given(curvatures)
def test_strong_convexity_is_there_where_each_client_has_it(given):
    one = StronglyConvex("f_ni", (parse_expression("mu_n"),))
    found = satisfied.best(one, of_curvatures(given).quadratic)
    least = [min(own) for own in given]
    assert found == (([*least],) if min(least) > 0 else None)


def test_what_is_about_all_clients_has_no_constant_of_each():
    problem = of_curvatures([[F(1)], [F(2)]]).quadratic
    one = Dissimilar("", (parse_expression("G_n"),))
    assert satisfied.best(one, problem) is None
    assert satisfied.true(one, problem, [[F(1), F(1)]]) is None
    mixed = BoundedGradients("f_n", (parse_expression("G_n"), parse_expression("R")))
    assert satisfied.true(mixed, problem, [[F(9), F(9)], F(1)]) is True
    assert satisfied.true(mixed, problem, [[F(9), F(1)], F(1)]) is False


def test_floats_say_what_fractions_say():
    """The search in batches has the same constants as what an instance is measured with."""
    assert knows(RATE, 1)
    rng = np.random.default_rng(7)
    hessian = rng.uniform(0.5, 5, (20, 3, 2, 1, 1))
    many = Problems(hessian, rng.uniform(-1, 1, (20, 3, 2, 1)))
    found, true = best_of_all(RATE, many)
    assert true.all()
    assert set(found) == {(name, n) for name in ("L", "mu") for n in range(3)}
    for b in range(20):
        one = of_curvatures([[F(float(h)) for h in own[:, 0, 0]] for own in hessian[b]]).quadratic
        (best,) = satisfied.best(Smooth("f_n", (parse_expression("L_n"),)), one)
        assert np.allclose([found["L", n][b] for n in range(3)], [float(v) for v in best], rtol=1e-12)


def test_an_instance_has_numbers_with_which_its_assumptions_are_true():
    shown = 0
    for seed in range(60):
        one = drawn(RATE, seed)
        if one is None:
            continue
        shown += 1
        L, mu = one.values["L"], one.values["mu"]
        assert len(L) == len(mu) == one.instance.problem.clients
        for kind, numbers in ((Smooth, L), (StronglyConvex, mu)):
            written = kind("f_n", (parse_expression("c_n"),))
            assert satisfied.true(written, functions_of(one.instance), [list(numbers)])
    assert shown > 20


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [pytest.param("mean_n(L_n)", "supported", marks=pytest.mark.slow), ("min_n(L_n)", "refuted")],
)
def test_lipschitz_gradients_of_the_mean(bound, verdict, tmp_path):
    """f is smooth with the mean of the clients' constants: f_1 = x^2/2 and f_2 = 0 are broken by the least one."""
    one = replace(claim("along", ALONG.format(bound), **SETTINGS), paper="each")
    found = examine(one, quick=True, out=tmp_path)
    assert found.verdict in (verdict, "proved" if verdict == "supported" else verdict)
    assert (found.certificate is not None) == (verdict == "refuted")


def test_a_rate_with_the_largest_of_them_is_refuted_and_its_certificate_is_valid(tmp_path):
    (one,) = Paper("each", "Each", "a test", (RATE,)).claims
    found = examine(one, quick=True, out=tmp_path)
    assert found.verdict == "refuted"
    assert verifier.verify(verifier.load(found.certificate)).valid


def test_numbers_that_nobody_gives_are_the_best():
    one = occasion(RATE, {
        "algorithm": "descent", "parameters": {"eta": "1/4"}, "rounds": 1, "start": ["1"],
        "problem": {"clients": [[{"h": "1", "b": "0"}], [{"h": "3", "b": "0"}]]},
    })  # fmt: skip
    assert one.drawn.values["L"] == [F(1), F(3)] == one.drawn.values["mu"]


@pytest.mark.parametrize(
    ("assumed", "said"),
    [
        (("smooth(f, L)", "smooth(f_n, L_n)"), "L and L_n stand for the same numbers"),
        (("smooth(f_n, L_k)",), "a constant is one number, or one a client as L_n, not L_k"),
    ],
)
def test_names_that_mean_two_things(assumed, said):
    with pytest.raises(SentenceError, match=said):
        claim("both", "f(x[k+1]) <= f(x[k])", of=descent, assuming=assumed)
