"""Parameters that satisfy a claim's relations: found where they turn, tied ones solved for."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.claim import claim
from theory.domain import NONNEGATIVE, OPEN_UNIT
from theory.for_every import assumption
from theory.papers import algorithms
from theory.program import algorithm
from theory.sentence import evaluate
from validate import satisfied
from validate.instances import hunt as hunt_module
from validate.instances.candidates import candidate_of, realised
from validate.instances.constants import between
from validate.instances.occasion import occasion
from validate.instances.offered import network
from validate.instances.parameters import choose
from validate.instances.pool import drawn
from validate.instances.relations import holds
from validate.instances.roles import roles_of
from validate.instances.setting import number
from validate.instances.shapes import DISTANCES, SIZES, Size, made, shape_of

F = Fraction


@algorithm
def local_sgd(w, x, *, eta, p, H, S, b, W):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample(b))
    return w.average(w.mix(y, W), w.choose(S)) + 0 * w.average(y, w.coins(p))


@algorithm
def gd(w, x, *, eta, beta):
    return x - eta * w.full_gradient(x) + beta * x


def chosen(one, seed, size=None):
    rng = random.Random(seed)
    problem = made(shape_of(one.predicates, True), size or rng.choice(SIZES), rng)
    start = np.array([rng.choice(DISTANCES) for _ in range(problem.dim)], dtype=object)
    return problem, choose(one, problem, start, 3, rng)


def test_roles_are_read_off_the_program():
    roles = roles_of(local_sgd.program)
    assert (roles.turns, roles.clients, roles.batch, roles.chances, roles.matrices) == (
        {"H"}, {"S"}, {"b"}, {"p"}, {"W"},
    )  # fmt: skip


RELATIONS = (
    ("eta <= 1/(2*L)",),
    ("eta == 1/L",),
    ("eta*L == 1/3",),
    ("eta < 2/(L + mu)", "beta <= eta*mu/4"),
    ("2*eta*L*(1 + beta) <= 1", "beta < 1"),
    ("eta == 2/(mu + L)", "beta == (L - mu)/(L + mu) + 1/10"),
    ("1/eta >= 4*L", "beta*eta <= 1/8"),
    ("eta**2 <= 1/L**2", "sqrt(beta) <= 1/2"),
    ("norm2(x0 - xstar) <= R2", "eta <= 1/(L*R2)"),
    ("eta*L + eta**2*L**2 <= 1/2",),
)


@pytest.mark.parametrize("relations", RELATIONS)
def test_relations_are_satisfied_exactly(relations):
    one = claim(
        "c", "norm2(x[k] - xstar) <= norm2(x0 - xstar)", of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", *relations),
    )  # fmt: skip
    found, equalities = 0, 0
    for seed in range(40):
        _, got = chosen(one, seed)
        if got is None:
            continue
        found += 1
        values, world = got
        assert all(value > 0 for value in values.values())
        for relation in one.relations:
            left, right = (
                evaluate(s, world, {"n": 0, "i": 0, "k": 0}, one.vocabulary) for s in (relation.left, relation.right)
            )
            assert holds(left, relation.relation, right)
            equalities += relation.relation in ("<=", ">=") and left == right
    assert found >= 30
    if any("<=" in r or ">=" in r for r in relations) and "eta**2*L**2" not in relations[0]:
        assert equalities >= 3  # steps at the end of what is allowed are tried


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_parameters_of_an_algorithm_are_such_that_there_is_an_instance(seed):
    one = claim(
        "c", "E(norm2(x[k] - xstar)) <= norm2(x0 - xstar)/p_n", of=local_sgd,
        assuming=("smooth(f_ni, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "p <= 1", "connected(W)"),
    )  # fmt: skip
    _, got = chosen(one, seed, Size(4, 3, 2))
    assert got is not None
    values = got[0]
    assert len(values["p"]) == 4
    assert all(0 < p <= 1 for p in values["p"])
    assert values["S"] in range(1, 5)
    assert values["b"] in range(1, 4)
    assert values["H"] >= 1
    rows = values["W"]
    assert all(sum(row) == 1 for row in rows)
    assert all(rows[i][j] == rows[j][i] for i in range(4) for j in range(4))


def test_weights_that_sum_to_one_are_scaled():
    one = claim(
        "c", "norm2(x[k] - xstar) <= sum_n(q_n*norm2(x0 - xstar_n))", of=gd,
        assuming=("smooth(f, L)", "strongly_convex(f_n, mu)", "sum_n(q_n) == 1"),
    )  # fmt: skip
    shares = [got[0]["q"] for seed in range(20) if (got := chosen(one, seed, Size(3, 1, 1))[1]) is not None]
    assert len(shares) >= 15
    assert all(sum(q) == 1 and min(q) > 0 for q in shares)
    assert len({tuple(q) for q in shares}) > 3


def test_nothing_is_chosen_where_relations_contradict_each_other():
    one = claim("c", "norm2(x[k]) <= 1", of=gd, assuming=("smooth(f, L)", "eta <= 1/L", "eta >= 2/L"))
    assert all(chosen(one, seed)[1] is None for seed in range(10))


def test_numbers_stay_exact_where_they_can():
    assert number("sqrt", (F(9, 4),)) == F(3, 2)
    assert isinstance(number("sqrt", (F(2),)), float)
    assert number("max", (F(1), F(2))) == 2
    with pytest.raises(ValueError, match="log of a number that is not positive"):
        number("log", (F(-1),))
    with pytest.raises(ValueError, match="sqrt has no real value"):
        number("sqrt", (F(10**401, 3),))  # no float is that large


# --- one name in two assumptions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("above", "below"), [("f", "f"), ("f_n", "f_n"), ("f_ni", "f"), ("f_n", "f"), ("f", "f_n"), ("f_ni", "f_ni")]
)
def test_a_constant_of_two_assumptions_that_point_different_ways_is_one_number(above: str, below: str) -> None:
    """Between smooth and strongly convex there is room for one curvature; below that level functions differ still."""
    one = claim(
        "step", "norm2(x[1] - xstar) <= (1 - eta*L)**2*norm2(x0 - xstar)", of=gd, parameters={"beta": NONNEGATIVE},
        assuming=(f"smooth({above}, L)", f"strongly_convex({below}, L)", "beta == 0"),
    )  # fmt: skip
    assert one.constants == {"L": "exact"}
    found = [made_ for seed in range(40) if (made_ := drawn(one, seed)) is not None]
    assert len(found) == 40
    for here in found:
        at = occasion(one, here.instance)
        assert at.unmet == ()
        assert at.setting.values["L"] == here.values["L"] > 0
        for predicate in one.predicates:
            assert satisfied.true(predicate, at.setting.problem, [here.values["L"]])
        assert realised(one, candidate_of(here)) is not None
    assert {here.instance.problem.dim for here in found} == {1, 2, 3}
    alike = [(h == h[0, 0]).all() for h in (here.instance.problem.quadratic.hessian for here in found)]
    assert all(alike) == ("f_ni" in (above, below))


def test_where_no_number_is_a_constant_of_both_an_assumption_is_violated() -> None:
    one = claim("both", "norm2(x) >= 0*L", vectors=("x",), assuming=("smooth(f, L)", "strongly_convex(f, L)"))
    bent = {"vectors": {"x": [1, 1]}, "problem": {"clients": [[{"H": [[1, 0], [0, 2]], "b": [0, 0]}]]}, "start": [0, 0]}
    at = occasion(one, bent)
    assert (at.unmet, at.setting.values["L"]) == (("strongly_convex(f, L)",), 2)
    least, most = F(1), F(3)
    assert between([("up", least), ("down", most)]) == (1, 3)
    assert between([("up", most), ("down", least)]) == ()
    assert between([("up", F(0)), ("down", F(2)), ("down", least)]) == (1,)


def test_of_two_assumptions_that_point_the_same_way_the_larger_constant_is_one_of_both() -> None:
    one = claim("same", "norm2(x) >= 0*L", vectors=("x",), assuming=("smooth(f_n, L)", "smooth(f, L)"))
    problem = {"clients": [[{"h": 1, "b": 0}], [{"h": 3, "b": 0}]]}
    at = occasion(one, {"vectors": {"x": [1]}, "problem": problem, "start": [0]})
    assert (at.unmet, at.setting.values["L"]) == ((), 3)
    again = realised(one, candidate_of(at.drawn))
    assert again is not None
    assert again.values["L"] == 3


def test_a_constant_that_may_be_0_is_0_where_that_is_the_best() -> None:
    """One sample a client: there is no noise. A claim whose constant may be 0 is asked about such instances too."""
    step = claim(
        "no-noise",
        "norm2(x[1] - x0) <= eta**2*norm2(grad(f, x0)) + eta*sigma2",
        of=algorithms.sgd,
        assuming=("smooth(f_ni, L)", "bounded_variance(sigma2)", "eta <= 1/L"),
        parameters={"sigma2": NONNEGATIVE},
    )
    found = [one for seed in range(60) if (one := drawn(step, seed, sizes=[Size(1, 1, 1)])) is not None]
    assert {one.values["sigma2"] == 0 for one in found} == {True, False}
    positive = replace(step, parameters={})
    found = [one for seed in range(60) if (one := drawn(positive, seed, sizes=[Size(1, 1, 1)])) is not None]
    assert all(one.values["sigma2"] > 0 for one in found)


def test_a_chance_is_not_put_in_units_of_curvature() -> None:
    """Only numbers without a largest value are, such as steps: others would seldom come near their end."""
    tail = claim("tail", "norm2(x[1]) <= p + norm2(x0)", of=gd, assuming=("smooth(f, L)",), parameters={"p": OPEN_UNIT})
    found = [one.values["p"] for seed in range(80) if (one := drawn(tail, seed)) is not None]
    assert sum(p > F(99, 100) for p in found) > 8


def test_a_square_too_many_shows_in_small_units() -> None:
    squared = claim(
        "squared", "norm2(x[1] - x0) <= 10**20*norm2(x[1] - x0)**2", of=algorithms.gradient_descent,
        assuming=("smooth(f, L)", "eta <= 1/L"),
    )  # fmt: skip
    assert hunt_module.hunt(squared, pool=30, evaluations=100, smallest=False).broken is not None
    assert hunt_module.hunt(squared, pool=30, evaluations=0, smallest=False).broken is None


@pytest.mark.parametrize("clients", [1, 2, 3, 4, 7])
def test_networks_that_are_drawn_connect_and_some_weigh_others_more(clients: int) -> None:
    """Their second eigenvalue is a fraction; the least eigenvalue of some is negative."""
    drawn_ones = [network(clients, random.Random(seed)) for seed in range(60)]
    for W in drawn_ones:
        rho = satisfied.second_eigenvalue(W)
        assert isinstance(rho, Fraction)
        assert satisfied.true(assumption("connected(W)"), None, [rho], W) is True
    least = min(np.linalg.eigvalsh(np.array(W, float))[0] for W in drawn_ones)
    assert (least < 0) == (clients > 1)
    assert len({repr(W) for W in drawn_ones}) >= (7 if clients > 1 else 1)


@algorithm(x="x0", past="J times x0")
def stale(w, x, past, *, eta, alpha):
    new = x - eta * w.full_gradient(w.combine(alpha, past))
    return new, w.shift(past, new)


@pytest.mark.parametrize(
    ("relations", "fits"),
    [
        (("sum_j(alpha_j) == 1",), lambda alpha: sum(alpha) == 1),
        (("alpha_j <= 1/2", "sum_j(alpha_j) <= 2"), lambda alpha: max(alpha) <= F(1, 2)),
        (("alpha_j <= 1/9",), lambda alpha: max(alpha) <= F(1, 9)),
    ],
)
def test_weights_of_what_is_remembered_satisfy_their_relations(relations, fits) -> None:
    one = claim("one", "f(x[k]) <= f(x0)", of=stale, assuming=("smooth(f, L)", "convex(f)", *relations))
    found = [made for seed in range(40) if (made := drawn(one, seed)) is not None]
    assert len(found) >= 30
    assert all(fits(made.instance.parameters["alpha"]) for made in found)
    assert {len(made.instance.parameters["alpha"]) for made in found} == {1, 2, 3}
