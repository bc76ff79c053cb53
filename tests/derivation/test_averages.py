"""Averages of clients by convexity, and what assumptions say inside of a ball."""

import pytest

from tests.derivation.both import check
from theory import algorithm, claim
from theory.derivation import NotProvedError, assumed, averaged, combined

AVERAGE = "E(norm2(x[k+1])) <= {factor}*mean_n(E(norm2(x[k])))"
ANY = "(1 - (1 - p)**N)"


@algorithm(x="each grad(f_n, x0)")
def by_coins(w, x, *, p):
    return w.each(w.average(x, w.coins(p)))


@algorithm(x="each grad(f_n, x0)")
def chosen(w, x, *, S):
    return w.each(w.average(x, w.choose(S)))


@algorithm(x="each grad(f_n, x0)")
def chosen_again(w, x, *, S):
    return w.each(w.average(x, w.choose(S, replace=True)))


@algorithm(x="each grad(f_n, x0)")
def part_way(w, x, *, S, t):
    """Halfway to the average of those chosen, and only with chance t."""
    return w.where(w.coin(t), x, (x + w.each(w.average(x, w.choose(S)))) / 2)


@algorithm(x="each grad(f_n, x0)")
def twice(w, x, *, S):
    active = w.choose(S)
    return w.where(active, x, w.each(w.average(x, active)))


@algorithm(x="each grad(f_n, x0)")
def of_two(w, x, *, S):
    return w.each(w.average(x, w.choose(S)) + w.average(x, w.choose(S)))


@algorithm(x="each grad(f_n, x0)")
def by_weights(w, x, *, q):
    return w.each(w.average(x, q))


def ends(statement, of, *lines, assuming=(), **fields):
    return check(claim("one", statement, of=of, assuming=assuming, **fields), lines or [averaged("all")])


@pytest.mark.parametrize(("of", "factor"), [(by_coins, ANY), (chosen, "1"), (chosen_again, "1")])
def test_accepted(of, factor):
    ends(AVERAGE.format(factor=factor), of)


def test_with_what_is_beside_it():
    half = "(norm2(x[k]) + 2*dot(x[k], mean_n(x[k])) + mean_n(norm2(x[k])))/4"
    ends(f"E(norm2(x[k+1])) <= t*E(norm2(x[k])) + (1 - t)*E({half})", part_way)


@pytest.mark.parametrize(
    ("of", "statement"),
    [
        (by_coins, AVERAGE.format(factor="1")),
        (by_coins, AVERAGE.format(factor="(1 - (1 - p)**2)")),
        (chosen, AVERAGE.format(factor="S/N")),
        (chosen, "E(norm2(x[k+1])) <= E(norm2(x[k]))"),
        (chosen, "E(norm2(x[k+1])) == mean_n(E(norm2(x[k])))"),
        (chosen, "E(norm2(x[k+1])) >= mean_n(E(norm2(x[k])))"),
        (chosen, "norm2(x[k+1]) <= mean_n(norm2(x[k]))"),
        (chosen, "E(norm(x[k+1])) <= mean_n(E(norm(x[k])))"),
        (twice, AVERAGE.format(factor="1")),
        (of_two, AVERAGE.format(factor="4")),
        (by_weights, AVERAGE.format(factor="1")),
    ],
)
def test_rejected(of, statement):
    with pytest.raises(NotProvedError):
        ends(statement, of)


def test_not_with_a_chance_for_each_client():
    with pytest.raises(NotProvedError):
        ends("E(norm2(x[k+1])) <= mean_n((1 - (1 - p_n)**N)*E(norm2(x[k])))", by_coins)


STABLE = "mean_i(norm2(v - eta*grad(f_ni, v))) <= R**2"


def inside(statement, schema, of, *assuming):
    one = claim("one", statement, assuming=(of, *assuming), vectors=("v",))
    return check(one, [assumed("all", None, [of], schema, v="v")])


def test_inside_of_a_ball():
    inside(STABLE, "stable", "stable(f_ni, eta, R)", "norm(v) <= R")
    inside("norm2(v - eta*grad(f_n, v)) <= R**2", "stable", "stable(f_n, eta, R)", "R >= norm(v)")
    found = inside("norm2(grad(f_ni, v)) <= G**2", "bounded on ball", "bounded_gradients(f_ni, G, R)", "norm(v) <= R")
    assert found.unused == ()


@pytest.mark.parametrize(
    ("statement", "schema", "of", "assuming"),
    [
        (STABLE, "stable", "stable(f_ni, eta, R)", ()),
        (STABLE, "stable", "stable(f_ni, eta, R)", ("norm2(v) <= R",)),
        (STABLE, "stable", "stable(f_n, eta, R)", ("norm(v) <= R",)),
        ("norm2(v - eta*grad(f_n, v)) <= R**2", "stable", "stable(f_ni, eta, R)", ("norm(v) <= R",)),
        ("norm2(v - eta*grad(f_ni, v)) <= R**2", "stable", "stable(f_ni, eta, R)", ("norm(v) <= R",)),
        ("norm2(grad(f_n, v)) <= G**2", "bounded on ball", "bounded_gradients(f_n, G, R)", ()),
        ("norm2(grad(f_n, v)) <= G**2", "bounded", "bounded_gradients(f_n, G, R)", ("norm(v) <= R",)),
    ],
)
def test_not_outside_of_a_ball(statement, schema, of, assuming):
    with pytest.raises(NotProvedError):
        inside(statement, schema, of, *assuming)


def test_a_state_is_inside_by_a_line():
    one = claim("one", "norm2(grad(f, x[k])) <= G**2", of=chosen, assuming=("bounded_gradients(f_n, G, R)",))
    lines = (
        combined("near", "norm(x[k]) <= R", {"norm(x[k]) <= R": "1"}),
        assumed("all", None, ["bounded_gradients(f_n, G, R)"], "bounded on ball", on="f", v="x[k]"),
    )
    with pytest.raises(NotProvedError):
        check(one, lines[1:])
    from dataclasses import replace

    check(replace(one, assuming=(*one.assuming, "norm(x[k]) <= R")), lines)
