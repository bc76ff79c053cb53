"""What a left side bounds: summands that are not negative fall away, factors and weights go to the other side."""

import pytest

from theory import algorithm, claim
from theory.quantity import bounded
from theory.sentence import text_of


@algorithm
def descent(w, x, *, eta):
    w.tap("g", w.full_gradient(x))
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", h="each 0")
def local(w, x, h, *, eta, p):
    v = w.each(x)
    v = v - eta * w.gradient(v)
    return w.mean(v), h


def said(statement, of=descent, **more):
    return claim("one", statement, of=of, **more)


def seen(statement, **more):
    return [
        (one.quantity.measure, one.quantity.where, text_of(one.quantity.tree), text_of(one.quantity.factor), one.last)
        for one in bounded(said(statement, **more))
    ]


LAST = "E(norm2(x[K] - xstar))"


@pytest.mark.parametrize(
    ("statement", "more", "wanted"),
    [
        ("E(norm2(x[k] - xstar)) <= R", {}, [("distance", "last", LAST, "1", 0)]),
        ("E(norm2(xstar - x[k])) <= R", {}, [("distance", "last", "E(norm2(xstar - x[K]))", "1", 0)]),
        ("E(norm2(x[k+1] - xstar)) <= R", {}, [("distance", "last", LAST, "1", 1)]),
        ("c*E(norm2(x[K] - xstar)) <= R", {}, [("distance", "last", LAST, "c", 0)]),
        ("E(norm2(x[K] - xstar))/c <= R", {}, [("distance", "last", LAST, "1/c", 0)]),
        ("f(x[k]) - fstar <= R", {}, [("gap", "last", "f(x[K]) - fstar", "1", 0)]),
        ("E(f(x[k])) - f(xstar) <= R", {}, [("gap", "last", "E(f(x[K])) - f(xstar)", "1", 0)]),
        ("f(mean_k(x[k])) - fstar <= R", {}, [("gap", "average", "f(mean_k(x[k])) - fstar", "1", 0)]),
        ("mean_k(f(x[k]) - fstar) <= R", {}, [("gap", "mean", "mean_k(f(x[k]) - fstar)", "1", 0)]),
        ("mean_k(f(x[k])) - fstar <= R", {}, [("gap", "mean", "mean_k(f(x[k])) - fstar", "1", 0)]),
        ("sum_k(f(x[k]) - fstar) <= R", {}, [("gap", "mean", "mean_k(f(x[k]) - fstar)", "K", 0)]),
        ("mean_k(norm2(grad(f, x[k]))) <= R", {}, [("gradient", "mean", "mean_k(norm2(grad(f, x[k])))", "1", 0)]),
        (
            "sum_k(q**k*(f(x[k]) - fstar))/S <= R",
            {"where": {"S": "sum_k(q**k)"}},
            [("gap", "mean", "sum_k(q**k*(f(x[k]) - fstar))/sum_k(q**k)", "sum_k(q**k)/sum_k(q**k)", 0)],
        ),
        # a Lyapunov function bounds each of its summands
        (
            "E(norm2(x[k] - xstar)) + c*mean_n(E(norm2(h[k] - grad(f_n, xstar)))) <= R",
            {"of": local},
            [("distance", "last", LAST, "1", 0)],
        ),
        (
            "E(f(x[k])) - fstar + c*E(norm2(x[k] - xstar)) <= R",
            {},
            [("gap", "last", "E(f(x[K])) - fstar", "1", 0), ("distance", "last", LAST, "c", 0)],
        ),
        ("E(f(x[k]) - fstar + norm2(x[k] - xstar)) <= R", {}, "both"),
        # and not one of which something is taken
        ("E(norm2(x[k] - xstar)) - c*E(f(x[k]) - fstar) <= R", {}, []),
        ("E(norm2(x[k] - xstar)) + dot(x[k], xstar) <= R", {}, []),
        ("E(norm2(x[k] - xstar)) + E(f(x[k])) <= R", {}, []),
        # other quantities, and bounds from below
        ("E(norm2(x[k] - xstar)) >= R", {}, []),
        ("E(norm2(x[k])) <= R", {}, []),
        ("norm2(x0 - xstar) <= R", {}, []),
        ("E(norm2(x[k] - xstar_n)) <= R", {}, []),
        ("f(x[k]) <= R", {}, []),
        ("norm2(grad(f_n, x[k])) <= R", {}, []),
    ],
)
def test_what_a_left_side_bounds(statement, more, wanted):
    found = seen(statement, **more)
    assert [one[0] for one in found] == ["gap", "distance"] if wanted == "both" else found == wanted


def test_the_last_value_of_a_tap_is_that_of_the_round_before_the_end():
    (one,) = bounded(said("mean_n(norm2(g[k])) + norm2(x[k] - xstar) <= R"))
    assert one.last == 1
    assert text_of(one.quantity.tree) == "norm2(x[K - 1] - xstar)"


def test_a_claim_about_one_round_is_carried():
    (one,) = bounded(
        said("E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + c", assuming=("convex(f)",))
    )
    assert one.step is not None
    assert one.start is not None
    assert text_of(one.start) == "E(norm2(x[0] - xstar))"
    assert one.step.bound(eta=0.5, mu=0.5, c=2, **{one.carried: 8}) == 0.75 * 8 + 2
    assert one.claim.bound(**{one.carried: 8}) == 8


def test_the_name_that_is_carried_is_none_of_the_claims():
    (one,) = bounded(said("norm2(x[k+1] - xstar) <= before*norm2(x[k] - xstar)"))
    assert one.carried != "before"
    assert one.step is not None
    assert one.step.bound(before=0.5, **{one.carried: 8}) == 4


def test_one_number_a_client_or_a_round_is_one_for_all():
    (one,) = bounded(said("E(norm2(x[K] - xstar)) <= mean_n(1/p_n) + sum_n(p_n) + max_n(p_n) + sum_k(a_k)", of=local))
    assert one.claim.bound(p=0.5, a=3, N=4, K=10) == 2 + 2 + 0.5 + 30


def test_what_words_alone_define_promises_nothing():
    assert not bounded(said("E(norm2(x[k] - xstar)) <= C", in_words={"C": "a constant that O(.) hides"}))
