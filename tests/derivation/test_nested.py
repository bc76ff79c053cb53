"""Loops inside loops, unfolded: what taps show, and which draws they may hang on."""

import pytest

from tests.derivation.both import accepted as by_kernel
from theory import algorithm, claim
from theory.derivation import step
from theory.domain import COUNT, PROBABILITY


@algorithm
def nested(w, x, *, eta, p, S, M):
    active, snapshot = w.coins(p), w.each(x)
    for _ in w.repeat(S):
        full, y = w.gradient(snapshot), snapshot
        for _ in w.repeat(M):
            i = w.sample()
            w.tap("y", y)
            v = w.gradient(y, i) - w.gradient(snapshot, i) + full
            w.tap("v", v)
            w.tap("u", active * v)
            y = y - eta * v
        snapshot = y
    return x + w.mean(active / p * (snapshot - x))


@algorithm
def hung(w, x, *, eta, p, S, M):
    active = w.coin(p)
    snapshot = w.each(x)
    for _ in w.repeat(S):
        y = active * snapshot
        for _ in w.repeat(M):
            w.tap("y", y)
            y = y - eta * w.gradient(y, w.sample())
        snapshot = y
    return w.mean(active * snapshot)


@algorithm
def single(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        g = w.gradient(y, w.sample())
        w.tap("g", g)
        w.tap("y", y)
        y = y - eta * g
    return w.mean(y)


def accepted(statement: str, of: object = nested) -> bool:
    fields = {"M": COUNT, "p": PROBABILITY} if of is not single else {}
    one = claim("round", statement, of=of, parameters=fields)
    return by_kernel(one, [step("all")])


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("norm2(y[k, h, j + 1] - y[k, h, j] + eta*v[k, h, j]) <= 0", True),
        ("norm2(y[k, h, j + 1] - y[k, h, j] + eta*v[k, h, j + 1]) <= 0", False),
        ("norm2(y[k, h + 1, 0] - y[k, h, M]) <= 0", True),
        ("norm2(y[k, h + 1, 0] - y[k, h, S]) <= 0", False),
        ("norm2(y[k, h + 1, 1] - y[k, h, M + 1]) <= 0", False),
        ("norm2(y[k, h, 0] - y[k, h, M]) <= 0", False),
        ("norm2(y[k, 0, 0] - x[k]) <= 0", True),
        ("norm2(y[k, h, 0] - x[k]) <= 0", False),
        ("norm2(y[k, 1, 0] - y[k, 0, M]) <= 0", True),
        ("norm2(v[k, 0, 0] - grad(f_n, x[k])) <= 0", True),
        ("norm2(v[k, h, 0] - grad(f_n, y[k, h, 0])) <= 0", True),
        ("norm2(v[k, h, 1] - grad(f_n, y[k, h, 1])) <= 0", False),
        ("norm2(y[k + 1, 0, 0] - y[k, S, 0]) <= 0", False),
        ("norm2(x[k + 1] - x[k]) <= 0", False),
    ],
)
def test_what_taps_show(statement: str, expected: bool) -> None:
    assert accepted(statement) is expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("E(norm2(u[k, h, j])) == p_n*E(norm2(v[k, h, j]))", True),
        ("E(norm2(u[k, h, j])) == E(norm2(v[k, h, j]))", False),
        ("E(dot(y[k, h, j], v[k, h, j])) == E(dot(y[k, h, j], grad(f_n, y[k, h, j])))", True),
        ("E(dot(y[k, h, 0], v[k, h, j])) == E(dot(y[k, h, 0], grad(f_n, y[k, h, j])))", True),
        ("E(dot(y[k, h, j + 2], v[k, h, j])) == E(dot(y[k, h, j + 2], grad(f_n, y[k, h, j])))", False),
        ("E(dot(y[k, h + 1, 0], v[k, h, j])) == E(dot(y[k, h + 1, 0], grad(f_n, y[k, h, j])))", False),
        ("E(dot(y[k, h, M], v[k, h, j])) == E(dot(y[k, h, M], grad(f_n, y[k, h, j])))", False),
        ("E(dot(y[k, S, 0], v[k, h, j])) == E(dot(y[k, S, 0], grad(f_n, y[k, h, j])))", False),
        ("E(dot(y[k, h, M], v[k, h + 1, j])) == E(dot(y[k, h, M], grad(f_n, y[k, h + 1, j])))", True),
        ("E(dot(x[k], v[k, h, j])) == E(dot(x[k], grad(f_n, y[k, h, j])))", True),
        ("E(dot(x[k + 1], v[k, h, j])) == E(dot(x[k + 1], grad(f_n, y[k, h, j])))", False),
        ("E(f_n(v[k, h, j])*dot(x0, v[k, h, j])) == E(f_n(v[k, h, j])*dot(x0, grad(f_n, y[k, h, j])))", False),
        ("E(f_n(v[k, h, j])*dot(x0, u[k, h, j])) == p_n*E(f_n(v[k, h, j])*dot(x0, v[k, h, j]))", True),
        ("E(f_n(y[k, h, j])*dot(x0, u[k, h, j])) == p_n*E(f_n(y[k, h, j])*dot(x0, grad(f_n, y[k, h, j])))", True),
    ],
)
def test_what_hangs_on_draws_of_turns(statement: str, expected: bool) -> None:
    assert accepted(statement) is expected


def test_what_is_made_of_a_coin_hangs_on_it_in_all_turns() -> None:
    moved = "E(dot(x[k + 1], y[k, h, j]))"
    assert not accepted(f"{moved} == p*E(dot(mean_n(y[k, S, 0]), y[k, h, j]))", hung)


def test_what_is_made_in_a_turn_hangs_on_its_draws() -> None:
    assert not accepted("E(f_n(g[k, h])*dot(x0, g[k, h])) == E(f_n(g[k, h])*dot(x0, grad(f_n, y[k, h])))", single)
    assert accepted("E(f_n(y[k, h])*dot(x0, g[k, h])) == E(f_n(y[k, h])*dot(x0, grad(f_n, y[k, h])))", single)
