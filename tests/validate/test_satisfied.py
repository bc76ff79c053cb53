"""What problems satisfy: best constants against what gradients do at many points, and truth on both sides of them."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import Quadratic
from tests.validate.assumptions import assumed
from theory import predicates as p
from theory.formula import Name
from theory.sentence import SentenceError
from validate.instances.shapes import SIZES, made, shape_of
from validate.satisfied import best, connected, second_eigenvalue, true

F = Fraction


def problem(clients, linear) -> Quadratic:
    hessian = np.array([[[[F(h)]] for h in samples] for samples in clients], dtype=object)
    b = np.array([[[F(x)] for x in samples] for samples in linear], dtype=object)
    return Quadratic(hessian, b, np.full(hessian.shape[:2], F(0), dtype=object), np.full(len(clients), len(clients[0])))


TWO = problem([["1", "3"], ["-1/2", "5/2"]], [["1", "0"], ["2", "-1"]])  # f_n of curvature 2 and 1


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("smooth(f, L)", (F(3, 2),)),
        ("smooth(f_n, L)", (F(2),)),
        ("smooth(f_ni, L)", (F(3),)),
        ("strongly_convex(f, mu)", (F(3, 2),)),
        ("strongly_convex(f_n, mu)", (F(1),)),
        ("strongly_convex(f_ni, mu)", None),
        ("convex(f_n)", ()),
        ("convex(f_ni)", None),
        ("pl(f, mu)", (F(3, 2),)),
        ("quadratic(f_ni)", ()),
        ("bounded_below(f)", ()),
        ("bounded_below(f_ni)", None),
        ("bounded_variance(sigma2)", None),
        ("dissimilar(zeta)", None),
        ("lipschitz(f, G)", None),
        ("same_minimiser(f_n)", None),
    ],
)
def test_best_constants(text, values):
    assert best(assumed(text), TWO) == values


def test_flat_and_alike_functions():
    flat = problem([["0", "0"]], [["3", "-4"]])
    assert best(assumed("lipschitz(f_ni, G)"), flat) == (F(4),)
    assert best(assumed("bounded_gradients(f_n, G)"), flat) == (F(1, 2),)
    alike = problem([["2", "2"], ["2", "2"]], [["1", "3"], ["0", "0"]])
    assert best(assumed("bounded_variance(s2)"), alike) == (F(1),)
    assert best(assumed("dissimilar(zeta)"), alike) == (F(1),)
    centred = problem([["1", "3"], ["2", "0"]], [["1", "3"], ["2", "0"]])
    assert true(assumed("same_minimiser(f_ni)"), centred, ())


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(
        [
            "smooth(f_ni, L)",
            "strongly_convex(f, mu)",
            "strongly_convex(f_n, mu)",
            "pl(f, mu)",
            "bounded_variance(s2)",
            "dissimilar(z)",
        ]
    ),
)
def test_best_constants_are_true_and_better_ones_are_not(seed, text):
    rng = random.Random(seed)
    predicate = assumed(text)
    made_ = made(shape_of([predicate], True), rng.choice(SIZES), rng)
    found = best(predicate, made_)
    if found is None or not found[0]:
        return
    (value,), (direction,) = found, predicate.directions
    looser, tighter = F(10**6 + 1, 10**6), F(10**6 - 1, 10**6)
    exact = F(value).limit_denominator(10**9) if isinstance(value, float) else value
    up = direction == "up"
    assert true(predicate, made_, (exact * (looser if up else tighter),)) is True
    if value and np.any(made_.mean_hessian != 0):
        assert true(predicate, made_, (exact * (tighter if up else looser),)) is False


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_dissimilarity_bounds_the_gradients_everywhere(seed):
    rng = random.Random(seed)
    predicate = assumed("dissimilar(G, B)")
    made_ = made(shape_of([predicate, assumed("strongly_convex(f, mu)")], True), rng.choice(SIZES), rng)
    found = best(predicate, made_)
    assert found is not None
    G, B = found
    assert true(predicate, made_, (F(G * 1.0001 + 1e-6), F(B * 1.0001)))
    points = np.random.default_rng(seed).normal(size=(50, made_.dim)) * 10
    clients = np.einsum("pd,nde->pne", points, made_.client_hessian.astype(float)) - made_.client_linear.astype(float)
    left = (clients**2).sum(-1).mean(-1)
    right = G**2 + B**2 * (clients.mean(1) ** 2).sum(-1)
    assert np.all(left <= right * (1 + 1e-7) + 1e-7)


def test_networks():
    ring = [[F(1, 2) if i == j else F(1, 4) if (i - j) % 4 in (1, 3) else F(0) for j in range(4)] for i in range(4)]
    assert second_eigenvalue(ring) == pytest.approx(0.5)
    mixed = [[F(1, 3) + (F(1, 4) if i == j else -F(1, 8)) for j in range(3)] for i in range(3)]
    assert second_eigenvalue(mixed) == F(3, 8)
    assert true(p.Connected("", (), "W"), TWO, (), mixed) is True
    assert true(p.Connected("", (), "W"), TWO, (), [[F(1), F(0)], [F(0), F(1)]]) is False
    assert true(p.Connected("", (), "W"), TWO, (), [[F(1), F(1)], [F(0), F(0)]]) is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("smoth(f, L)", "did you mean smooth"),
        ("smooth(L)", "the first argument of smooth is f, f_n or f_ni"),
        ("smooth(f)", "smooth takes 1 constants, not 0"),
        ("convex(f, 2)", "convex takes 0 constants, not 1"),
        ("dissimilar(a, b, c)", "dissimilar takes 1 or 2 constants"),
        ("connected(2)", "connected takes the name of the matrix"),
        ("smooth(f, 0)", "the constant 0 is not positive"),
    ],
)
def test_assumptions_that_are_none(text, message):
    with pytest.raises(SentenceError, match=message):
        assumed(text)


def test_an_assumption_tells_what_it_binds_and_gives_itself_as_data():
    one = assumed("smooth(f_ni, L)")
    assert one.binds == {"L": "up"}
    assert one.to_json() == {"predicate": "smooth", "function": "f_ni", "constants": ["L"]}
    assert str(one) == "smooth(f_ni, L): the gradient of f_ni is L-Lipschitz, convex or not"
    assert assumed("strongly_convex(f, mu)").binds == {"mu": "down"}
    assert assumed("connected(W)").binds == {"rho": "exact"}
    assert p.Smooth("f", (Name("L"),)) == assumed("smooth(f, L)")


@given(part=st.fractions(min_value=Fraction(1, 10**15), max_value=Fraction(1, 10**9)))
def test_a_small_eigenvalue_is_not_0(part: Fraction) -> None:
    network = [[(1 + part) / 2, (1 - part) / 2], [(1 - part) / 2, (1 + part) / 2]]
    assert connected(network, part)
    assert not connected(network, Fraction(0))
    assert not connected(network, part / 2)


def test_of_copies_is_true_what_is_true_of_what_they_copy() -> None:
    """Each client 40 times, with each sample 5 times: the same constants, of clients in any order."""
    for small in (
        TWO,
        problem([["2", "2"], ["2", "2"]], [["1", "3"], ["0", "0"]]),
        problem([["0", "0"]], [["3", "-4"]]),
    ):
        clients, samples = np.arange(small.clients).repeat(40), np.arange(small.samples).repeat(5)
        arrays = [a[clients][:, samples] for a in (small.hessian, small.linear, small.offset)]
        large = Quadratic(*arrays, np.full(len(clients), len(samples)))
        assert len(large.different_samples) == small.clients * small.samples
        assert len(large.different_clients[0]) == small.clients
        for text in OF_QUADRATICS:
            predicate = assumed(text)
            assert best(predicate, large) == best(predicate, small), text
            constants = [F(3, 2)] * len(predicate.constants)
            assert true(predicate, large, constants) == true(predicate, small, constants), text


OF_QUADRATICS = (
    "smooth(f, L)", "smooth(f_n, L)", "smooth(f_ni, L)", "strongly_convex(f_n, mu)", "strongly_convex(f_ni, mu)",
    "convex(f_n)", "convex(f_ni)", "pl(f_n, mu)", "bounded_below(f_ni)", "bounded_variance(sigma2)", "dissimilar(zeta)",
    "dissimilar(G, B)", "lipschitz(f_n, G)", "bounded_gradients(f_ni, G)", "same_minimiser(f_n)", "stable(f_n, eta, R)",
    "stable(f_ni, eta, R)",
)  # fmt: skip
