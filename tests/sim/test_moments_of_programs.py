"""Moments of programs are what all outcomes, gone through one by one, say."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.moments import Point, Schedule, moments_of
from sim.problems import Quadratic
from tests.sim.outcomes import TooMany, brute_moments, flat, played, starting, vector
from theory.program import Program, algorithm

F = Fraction


def fractions(rng: random.Random, size: int, most: int = 3) -> Any:
    return vector([F(rng.randint(-most, most), rng.choice([1, 2, 3])) for _ in range(size)])


def drawn_problem(rng: random.Random, N: int, n: int, d: int, ragged: bool = False) -> Quadratic:
    """Small curvatures of either sign; every client has samples of its own."""
    hessian = np.full((N, n, d, d), F(0), dtype=object)
    linear = np.full((N, n, d), F(0), dtype=object)
    counts = np.array([rng.randint(1, n) if ragged else n for _ in range(N)])
    for m in range(N):
        for i in range(counts[m]):
            A = fractions(rng, d * d, 2).reshape(d, d)
            hessian[m, i] = A @ A.T + np.array([[F(int(a == b), 2) for b in range(d)] for a in range(d)], dtype=object)
            linear[m, i] = fractions(rng, d)
    return Quadratic(hessian, linear, np.full((N, n), F(0), dtype=object), counts)


def assert_equal(program: Program, problem: Quadratic, parameters: dict[str, Any], x0: Any, rounds: int = 2, most: int = 3000) -> None:
    plain = {name: (lambda k, v=v: v.values[k]) if isinstance(v, Schedule) else v for name, v in parameters.items()}
    wanted = brute_moments(program, problem, plain, x0, rounds, most)
    found = moments_of(program, problem, parameters, start=x0, rounds=rounds)
    for k in range(rounds + 1):
        assert np.array_equal(found.second(k), wanted[k]), (program, k)


# --- algorithms that are known ---------------------------------------------------------------------------------------


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def batches(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def batches_without(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def local_sgd(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta / (h + 1) * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm
def fedavg_choose(w, x, *, eta, H, S):
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return x + w.average(y - x, w.choose(S))


@algorithm
def fedavg_replace(w, x, *, eta, S):
    y = x - eta * w.gradient(x, w.sample())
    return w.average(y, w.choose(S, replace=True))


@algorithm
def fedavg_coins(w, x, *, eta, p):
    y = x - eta * w.gradient(x, w.sample())
    return x + w.average(y - x, w.coins(p))


@algorithm
def fedavg_unbiased(w, x, *, eta, p):
    y = x - eta * w.gradient(x, w.sample())
    return x + w.mean(w.coins(p) / p * (y - x))


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm(x="each x0", h="each 0")
def proxskip(w, x, h, *, gamma, p):
    moved = x - gamma * (w.gradient(x) - h)
    coin = w.coin(p)
    after = w.where(coin, w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


@algorithm(x="x0", s="x0")
def lsvrg(w, x, s, *, eta, p):
    i = w.sample()
    estimate = w.mean(w.gradient(x, i) - w.gradient(s, i)) + w.full_gradient(s)
    return x - eta * estimate, w.where(w.coin(p), x, s)


@algorithm(x="x0", h="each 0")
def diana(w, x, h, *, eta, alpha, m):
    moved = w.keep(w.gradient(x) - h, m)
    return x - eta * w.mean(h + moved), h + alpha * moved


@algorithm(x="x0", past="J times 0")
def fedmim(w, x, past, *, eta, H, S, J, A, alpha, beta):
    y = w.each(x)
    for h in w.repeat(H):
        y = y - w.combine(alpha, past) - A * eta * w.gradient(y - w.combine(beta, past), w.sample())
    after = w.average(y, w.choose(S))
    return after, w.shift(past, (x - after) / H)


@algorithm(x="x0", t="table grad(f_ni, x0)")
def saga(w, x, t, *, eta):
    i = w.sample()
    g = w.gradient(x, i)
    return x - eta * w.mean(g - w.get(t, i) + w.get(t)), w.put(t, i, g)


@algorithm
def visiting(w, x, *, eta):
    return w.visit(x, lambda v, one: v - eta * one.gradient(v, one.sample()))


@algorithm
def reshuffling(w, x, *, eta):
    return w.mean(w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(v, i)))


@algorithm(x="each x0")
def dgd(w, x, *, eta, W):
    return w.mix(x, W) - eta * w.gradient(x, w.sample())


@algorithm(x="each x0", y="each grad(f_n, x0)", g="each grad(f_n, x0)")
def tracking(w, x, y, g, *, eta, W):
    after = w.mix(x - eta * y, W)
    new = w.gradient(after, w.sample())
    return after, w.mix(y, W) + new - g, new


@algorithm(x="x0", past="each J times x0")
def remembering(w, x, past, *, eta, J, alpha):
    v = w.combine(alpha, past)
    y = v - eta * w.gradient(x, w.sample())
    return w.mean(y), w.shift(past, y)


@algorithm
def fedavg_svrg(w, x, *, eta, p, S, M):
    active = w.coins(p)
    y = w.each(x)
    for s in w.repeat(S):
        snapshot = y
        full = w.gradient(snapshot)
        for m in w.repeat(M):
            i = w.sample()
            y = y - eta * (w.gradient(y, i) - w.gradient(snapshot, i) + full)
    return x + w.mean(active / p * (y - x))


@algorithm
def fedprox(w, x, *, t, S):
    return w.average(w.prox(x, t), w.choose(S))


@algorithm
def noisy(w, x, *, eta, sigma2, m):
    return w.keep(x - eta * w.mean(w.gradient(x) + w.noise(sigma2)), m)


@algorithm(x="x0", v="each x0")
def told_again(w, x, v, *, eta, S):
    """The clients that took part learn of what came of it: the choice is read after they met."""
    active = w.choose(S)
    after = x - eta * w.average(w.gradient(v, w.sample()), active)
    return after, w.where(active, w.each(after), v)


@algorithm
def same_sample_again(w, x, *, eta):
    i = w.sample()
    ahead = x - eta * w.mean(w.gradient(x, i))
    return x - eta * w.mean(w.gradient(ahead, i))


@algorithm
def local_extragradient(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        i = w.sample()
        y = y - eta * w.gradient(y - eta * w.gradient(y, i), i)
    return w.mean(y)


@algorithm
def uneven(w, x, *, eta, tau, H, S):
    y = w.each(x)
    for h in w.repeat(H):
        y = w.where(w.before(h, tau), y - eta * w.gradient(y, w.sample()), y)
    return w.average(y, w.choose(S))


@algorithm
def in_a_row(w, x, *, eta, p):
    def turn(v, one):
        return one.pass_over(v, lambda u, i: u - eta * one.gradient(u, i)) - eta * one.coins(p) * one.gradient(v)

    return w.visit(x, turn)


THIRD = [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]]
KNOWN: list[tuple[Any, dict[str, Any], int]] = [
    (sgd, {"eta": F(1, 3)}, 2),
    (sgd, {"eta": Schedule((F(1, 3), F(1, 5)))}, 2),
    (batches, {"eta": F(1, 3), "b": 2}, 2),
    (batches_without, {"eta": F(1, 3), "b": 2}, 2),
    (local_sgd, {"eta": F(1, 3), "H": 2}, 2),
    (fedavg_choose, {"eta": F(1, 4), "H": 2, "S": 1}, 2),
    (fedavg_replace, {"eta": F(1, 4), "S": 3}, 2),
    (fedavg_coins, {"eta": F(1, 4), "p": [F(1, 3), F(1, 2)]}, 2),
    (fedavg_coins, {"eta": F(1, 4), "p": F(1, 3)}, 2),
    (fedavg_unbiased, {"eta": F(1, 4), "p": [F(1, 3), F(1, 2)]}, 2),
    (scaffold, {"eta": F(1, 4), "eta_g": F(1, 2), "H": 2, "S": 1}, 2),
    (proxskip, {"gamma": F(1, 4), "p": F(1, 3)}, 3),
    (lsvrg, {"eta": F(1, 4), "p": F(1, 3)}, 2),
    (diana, {"eta": F(1, 4), "alpha": F(1, 2), "m": 1}, 2),
    (fedmim, {"eta": F(1, 4), "H": 2, "S": 1, "J": 2, "A": F(1, 2), "alpha": [F(1, 4), F(1, 4)], "beta": [F(1, 3), 0]}, 2),
    (saga, {"eta": F(1, 4)}, 2),
    (visiting, {"eta": F(1, 4)}, 2),
    (reshuffling, {"eta": F(1, 4)}, 2),
    (dgd, {"eta": F(1, 4), "W": THIRD}, 2),
    (tracking, {"eta": F(1, 4), "W": THIRD}, 2),
    (remembering, {"eta": F(1, 4), "J": 2, "alpha": [F(1, 4), F(3, 4)]}, 2),
    (fedavg_svrg, {"eta": F(1, 4), "p": [F(1, 3), F(1, 2)], "S": 2, "M": 2}, 1),
    (fedprox, {"t": F(1, 4), "S": 1}, 2),
    (noisy, {"eta": F(1, 4), "sigma2": F(2, 9), "m": 1}, 2),
    (told_again, {"eta": F(1, 4), "S": 1}, 2),
    (same_sample_again, {"eta": F(1, 4)}, 2),
    (local_extragradient, {"eta": F(1, 4), "H": 2}, 1),
    (uneven, {"eta": F(1, 4), "tau": [1, 2], "H": 2, "S": 1}, 2),
    (in_a_row, {"eta": F(1, 4), "p": F(1, 3)}, 1),
]


@pytest.mark.parametrize(("one", "parameters", "rounds"), KNOWN, ids=lambda v: getattr(v, "name", ""))
def test_algorithms_that_are_known(one: Any, parameters: dict[str, Any], rounds: int) -> None:
    rng = random.Random(one.name)
    problem = drawn_problem(rng, 2, 2, 2)
    assert_equal(one.program, problem, parameters, fractions(rng, 2), rounds, 20000)
