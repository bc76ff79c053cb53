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
        return one.pass_over(v, lambda u, i: u - eta * one.gradient(u, i)) - eta * one.coin(p) * one.gradient(v)

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


# --- programs at random ----------------------------------------------------------------------------------------------


class Writer:
    """Writes a round with the primitives, as `rng` says: what it has is lists of server's and clients' vectors."""

    def __init__(self, w: Any, rng: random.Random, scalars: dict[str, Any], d: int, depth: int = 0) -> None:
        self.w, self.rng, self.p, self.d, self.depth = w, rng, scalars, d, depth
        self.masks: list[Any] = []
        self.samples: list[Any] = []
        self.budget = 3 if depth == 0 else 1

    def draws(self) -> bool:
        self.budget -= 1
        return self.budget >= 0

    def vector(self, *pools: list[Any]) -> Any:
        return self.rng.choice([v for pool in pools for v in pool])

    def factor(self) -> Any:
        rng = self.rng
        plain = [self.p["eta"], 1, F(1, 2), -1, self.p["q"], 1 / (self.w.k + 2)]
        return rng.choice(plain + [m * F(1, 2) for m in self.masks] + [1 - m for m in self.masks])

    def mask(self) -> Any:
        w, rng = self.w, self.rng
        if self.masks and rng.random() < 0.7 or not self.draws():
            return rng.choice(self.masks) if self.masks else w.before(1, self.p["tau"])
        made = rng.choice(
            [lambda: w.choose(self.p["S"]), lambda: w.coins(self.p["p"]), lambda: w.coin(self.p["c"]),
             lambda: w.choose(2, replace=True), lambda: w.coins(self.p["c"])]
        )()  # fmt: skip
        self.masks.append(made)
        return made

    def sample(self) -> Any:
        w, rng = self.w, self.rng
        if self.samples and rng.random() < 0.6 or not self.draws():
            return rng.choice(self.samples) if self.samples else None
        made = rng.choice([lambda: w.sample(), lambda: w.sample(), lambda: w.sample(2), lambda: w.sample(1, replace=False)])()
        self.samples.append(made)
        return made

    def client(self, S: list[Any], C: list[Any]) -> Any:
        w, rng = self.w, self.rng
        kind = rng.choice(["gradient", "sampled", "sampled", "sampled", "sum", "sum", "where", "prox", "keep", "noise", "mix", "times"])
        if kind == "gradient":
            return w.gradient(self.vector(S, C))
        if kind == "sampled":
            i = self.sample()
            return w.gradient(self.vector(S, C)) if i is None else w.gradient(self.vector(S, C), i)
        if kind == "where":
            return w.where(self.mask(), w.each(self.vector(S, C)), self.vector(S, C))
        if kind == "prox":
            return w.prox(self.vector(S, C), self.p["eta"])
        if kind == "keep" and self.d > 1 and self.draws():
            return w.keep(w.each(self.vector(S, C)), 1)
        if kind == "noise" and self.draws():
            return w.noise(self.p["sigma2"])
        if kind == "mix" and C and self.depth == 0:
            return w.mix(self.vector(C), self.p["W"])
        if kind == "times":
            self.mask()
            return self.factor() * w.each(self.vector(S, C))
        return w.each(self.factor() * self.vector(S, C) - self.factor() * w.each(self.vector(S, C)))

    def server(self, S: list[Any], C: list[Any]) -> Any:
        w, rng = self.w, self.rng
        kind = rng.choice(["mean", "average", "average", "full", "sum", "keep", "ones"])
        if kind == "average" and C:
            return w.average(self.vector(C, C, S), self.mask())
        if kind == "full":
            return w.full_gradient(self.vector(S))
        if kind == "ones":
            return self.vector(S) - self.p["eta"] * w.ones()
        if kind == "keep" and self.d > 1 and self.draws():
            return w.keep(self.vector(S), 1)
        if C:
            return w.mean(self.vector(C))
        return self.vector(S) - self.p["eta"] * self.vector(S)

    def some(self, S: list[Any], C: list[Any], count: int) -> None:
        for _ in range(count):
            if self.rng.random() < 0.7:
                C.append(self.client(S, C))
            else:
                S.append(self.server(S, C))

    def loop(self, S: list[Any], C: list[Any]) -> Any:
        w, seed = self.w, self.rng.random()
        y = w.each(self.vector(S, C))
        for h in w.repeat(2):
            inner = Writer(w, random.Random(seed), self.p, self.d, 1)  # the same in every turn
            inner.masks, inner.samples = list(self.masks), []
            S2, C2 = list(S), [*C, y, y]
            inner.some(S2, C2, 2)
            y = y - self.p["eta"] / (h + 1) * w.each(C2[-1])
        return y

    def order(self, S: list[Any], C: list[Any]) -> None:
        w, seed = self.w, self.rng.random()
        if self.rng.random() < 0.5:
            def turn(v: Any, i: Any) -> Any:
                rng = random.Random(seed)
                g = w.gradient(rng.choice([v, v, *S, *C]), i) + w.gradient(v) * rng.choice([0, F(1, 2)])
                return rng.choice([v, v, v * F(1, 2)]) - self.p["eta"] * g

            C.append(w.pass_over(w.each(self.vector(S, C)), turn))
            return

        def visit(v: Any, one: Any) -> Any:
            rng = random.Random(seed)
            i = one.sample()
            g = one.gradient(v, i) - one.gradient(rng.choice([v, *S]), i) * rng.choice([0, F(1, 2)])
            return v - self.p["eta"] * g

        S.append(w.visit(self.vector(S), visit))


def written(seed: int, d: int) -> Any:
    """A program."""
    rng = random.Random(seed)

    def body(w: Any, S: list[Any], C: list[Any], rng: random.Random, p: dict[str, Any]) -> Writer:
        writer = Writer(w, rng, p, d)
        writer.some(S, C, rng.randint(1, 3))
        if rng.random() < 0.4:
            C.append(writer.loop(S, C))
        if rng.random() < 0.25:
            writer.order(S, C)
        writer.some(S, C, rng.randint(0, 3))
        return writer

    def after(writer: Writer, x: Any, C: list[Any]) -> Any:
        return x - writer.p["eta"] * writer.w.mean(C[-1]) if C else x - writer.p["eta"] * writer.w.full_gradient(x)

    shape = rng.choice(["x", "x", "xc", "xc", "xs", "xt", "xj", "xm"])
    start = rng.choice(["each 0", "each x0", "each grad(f_n, x0)"])
    if shape == "x":

        @algorithm
        def one(w, x, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x], []
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            return rng.choice([after(writer, x, cs), after(writer, s[-1], cs), s[-1]])

    elif shape == "xc":

        @algorithm(x="x0", v=start)
        def one(w, x, v, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x], [v]
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            new = w.where(writer.mask(), cs[-1], v) if random.Random(seed).random() < 0.5 else w.each(cs[-1])
            return after(writer, s[-1], cs), new

    elif shape == "xs":

        @algorithm(x="x0", v="grad(f, x0)")
        def one(w, x, v, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x, v], []
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            return after(writer, x, cs), w.where(w.coin(c), s[-1], v)

    elif shape == "xt":

        @algorithm(x="x0", t="table grad(f_ni, x0)")
        def one(w, x, t, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x], [w.get(t)]
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            i = writer.samples[0] if writer.samples else w.sample()
            put = w.put(t, i, w.each(cs[-1]))
            return after(writer, x, [w.get(t, i) - cs[-1]]), w.where(writer.mask(), put, t)

    elif shape == "xj":

        @algorithm(x="x0", past="J times x0")
        def one(w, x, past, *, eta, q, p, c, S, sigma2, tau, W, J, alpha):
            s, cs = [x, w.combine(alpha, past)], []
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            return after(writer, x, cs), w.shift(past, s[-1])

    else:

        @algorithm(x="x0", past="each J times x0")
        def one(w, x, past, *, eta, q, p, c, S, sigma2, tau, W, J, alpha):
            s, cs = [x], [w.combine(alpha, past)]
            writer = body(w, s, cs, random.Random(seed), dict(eta=eta, q=q, p=p, c=c, S=S, sigma2=sigma2, tau=tau, W=W))
            return after(writer, s[-1], cs), w.shift(past, cs[-1])

    return one


def at_random(seed: int) -> tuple[Program, Quadratic, dict[str, Any], Any]:
    """A program on an instance."""
    rng = random.Random(1000 + seed)
    d = rng.choice([1, 1, 2])
    N, n = rng.choice([(2, 2), (2, 2), (3, 2), (1, 3), (2, 1)])
    problem = drawn_problem(rng, N, n, d, ragged=rng.random() < 0.3)
    W = [[F(1, N + 1) + F(int(a == b), N + 1) for b in range(N)] for a in range(N)]
    parameters = {
        "eta": rng.choice([F(1, 3), Schedule((F(1, 3), F(1, 2), F(1, 4)))]),
        "q": [F(rng.randint(1, 4), 3) for _ in range(N)],
        "p": [rng.choice([F(1, 3), F(1, 2), F(1)]) for _ in range(N)],
        "c": F(1, 3),
        "S": rng.randint(1, N),
        "sigma2": F(4, 9) * d,
        "tau": [rng.randint(0, 3) for _ in range(N)],
        "W": W,
        "J": 2,
        "alpha": [F(1, 3), F(1, 2)],
    }
    program = written(seed, d).program
    return program, problem, {k: v for k, v in parameters.items() if k in program.parameters}, fractions(rng, d)


WANTED, PARTS = 240, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_at_random(part: int) -> None:
    """Of each program the first two rounds, or the first where the second has too many outcomes."""
    done, seed, operations = 0, 100_000 * part, set()
    while done < WANTED // PARTS:
        seed += 1
        program, problem, parameters, x0 = at_random(seed)
        for rounds in (2, 1):
            try:
                assert_equal(program, problem, parameters, x0, rounds, 700)
            except TooMany:
                continue
            done += program.random
            operations |= program.operations
            break
    assert len(operations) > 12
