"""Moments of programs are what exact play of all outcomes says."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.moments import Point, Schedule, means_after_a_round, moments_of, runs, turns
from sim.problems import Quadratic
from tests.shares import share
from theory.operations import to_fraction
from theory.papers.algorithms import (
    dgd,
    diana,
    fedavg,
    fedavg_coins,
    fedavg_svrg,
    fedavg_with_replacement,
    fedmim,
    fedprox,
    lsvrg,
    proxskip,
    random_reshuffling,
    saga,
    sgd,
)
from theory.papers.specs import local_sgd_unbiased
from theory.program import Program, algorithm
from validate.instances.instance import instance_of, uses_of
from validate.instances.scalars import Schedule as Played
from validate.play import Play
from validate.rounds import TooManyOutcomesError

F = Fraction


def vector(values: Any) -> Any:
    return np.array([F(v) for v in values], dtype=object)


def play_of(program: Program, problem: Quadratic, parameters: dict[str, Any], x0: Any, rounds: int, most: int) -> Play:
    values = {name: Played(v.values) if isinstance(v, Schedule) else v for name, v in parameters.items()}
    idle = {name for name in ("W", "alpha") if name in values} - uses_of(program).keys()
    values |= dict.fromkeys(idle, 1)  # the round has a matrix or weights that do nothing
    return Play(instance_of(program, problem, list(x0), values, rounds), most)


def flat(program: Program, state: Any, problem: Quadratic) -> Any:
    """1, the server's values, then those of client 0, of client 1, ...; samples that a client lacks are 0."""
    out: list[Any] = [1]

    def rows(value: Any, least: int = 0) -> None:
        vectors = value if isinstance(value[0], tuple) else (value,)
        out.extend(x for v in vectors for x in v)
        out.extend([0] * (problem.dim * (least - len(vectors))))

    of_server = ("server", "past")
    for kind, value in zip((s.kind for s in program.state), state, strict=True):
        if kind in of_server:
            rows(value)
    for n in range(problem.clients):
        for kind, value in zip((s.kind for s in program.state), state, strict=True):
            if kind not in of_server:
                rows(value[n], problem.samples if kind == "table" else 0)
    return vector([x if isinstance(x, int) else to_fraction(x) for x in out])


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


def assert_equal(
    program: Program, problem: Quadratic, parameters: dict[str, Any], x0: Any, rounds: int = 2, most: int = 3000
) -> None:
    play = play_of(program, problem, parameters, x0, rounds, most)
    laws = [play.law(k) for k in range(rounds + 1)]
    found = moments_of(program, problem, parameters, start=x0, rounds=rounds)
    for k, law in enumerate(laws):
        states = [(to_fraction(p), flat(program, state, problem)) for p, state in law]
        assert np.array_equal(found.second(k), sum(p * np.outer(y, y) for p, y in states)), (program, k)


# --- algorithms that are known ---------------------------------------------------------------------------------------


@algorithm
def batches_without(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def some_with(w, x, *, eta, S):
    return w.average(x - eta * w.full_gradient(x), w.choose(S, replace=True))


@algorithm
def local_sgd(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta / (h + 1) * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm
def visiting(w, x, *, eta):
    return w.visit(x, lambda v, one: v - eta * one.gradient(v, one.sample()))


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
    for _h in w.repeat(H):
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
    (sgd, {"eta": F(1, 3), "b": 1}, 2),
    (sgd, {"eta": Schedule((F(1, 3), F(1, 5))), "b": 1}, 2),
    (sgd, {"eta": F(1, 3), "b": 2}, 2),
    (batches_without, {"eta": F(1, 3), "b": 2}, 2),
    (local_sgd, {"eta": F(1, 3), "H": 2}, 2),
    (fedavg, {"eta": F(1, 4), "H": 2, "S": 1}, 2),
    (fedavg_with_replacement, {"eta": F(1, 4), "H": 1, "S": 3}, 2),
    (fedavg_coins, {"eta": F(1, 4), "H": 1, "p": [F(1, 3), F(1, 2)]}, 2),
    (fedavg_coins, {"eta": F(1, 4), "H": 1, "p": F(1, 3)}, 2),
    (local_sgd_unbiased, {"eta": F(1, 4), "H": 1, "p": [F(1, 3), F(1, 2)]}, 2),
    (scaffold, {"eta": F(1, 4), "eta_g": F(1, 2), "H": 2, "S": 1}, 2),
    (proxskip, {"gamma": F(1, 4), "p": F(1, 3)}, 3),
    (lsvrg, {"eta": F(1, 4), "p": F(1, 3)}, 2),
    (diana, {"eta": F(1, 4), "alpha": F(1, 2), "m": 1}, 2),
    (fedmim, {"eta_l": F(1, 4), "H": 2, "S": 1, "A": F(1, 2), "alpha": [F(1, 4), F(1, 4)], "beta": [F(1, 3), 0]}, 2),
    (saga, {"eta": F(1, 4)}, 2),
    (visiting, {"eta": F(1, 4)}, 2),
    (random_reshuffling, {"eta": F(1, 4)}, 2),
    (dgd, {"eta": F(1, 4), "W": THIRD}, 2),
    (tracking, {"eta": F(1, 4), "W": THIRD}, 2),
    (remembering, {"eta": F(1, 4), "J": 2, "alpha": [F(1, 4), F(3, 4)]}, 2),
    (fedavg_svrg, {"delta": F(1, 4), "p": [F(1, 3), F(1, 2)], "S": 2, "M": 2}, 1),
    (fedprox, {"mu": F(4), "S": 1}, 2),
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


@pytest.mark.parametrize("program", [visiting.program, in_a_row.program], ids=lambda v: v.name)
def test_a_visit_is_the_same_map_whether_it_is_found_on_a_basis_or_not(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(3)
    problem, start = drawn_problem(rng, 3, 2, 2), fractions(rng, 2)
    given = {name: F(1, 4) for name in program.parameters}
    found = moments_of(program, problem, given, start=start, rounds=1).second(1)
    monkeypatch.setattr(turns, "FEW", 0)
    assert (moments_of(program, problem, given, start=start, rounds=1).second(1) == found).all()


def test_taps_of_rounds_that_are_gone_through_together_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    exact, start = drawn_problem(rng, 3, 2, 1), fractions(rng, 1)
    problem = Quadratic(*(np.asarray(x, float) for x in (exact.hessian, exact.linear, exact.offset)), exact.counts)
    given = {"eta": 0.25, "eta_g": 0.5, "H": 2, "S": 1}

    def products() -> list[float]:
        found = moments_of(scaffold.program, problem, given, start=start.astype(float), rounds=40)
        taps = [{Point("y", k, (1,), n): 1} for k in range(40) for n in range(3)]
        return [found.dot(u, v) for u in taps for v in (u, taps[0])]

    together = products()
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    assert together == pytest.approx(products(), rel=1e-12)


@pytest.mark.parametrize(
    ("program", "parameters"),
    [(scaffold.program, {"eta": F(1, 4), "eta_g": F(1, 2), "H": 2, "S": 1}), (visiting.program, {"eta": F(1, 4)})],
    ids=lambda v: getattr(v, "name", ""),
)
def test_means_after_a_round_are_those_of_each_start(program: Program, parameters: dict[str, Any]) -> None:
    rng = random.Random(5)
    problem, starts = drawn_problem(rng, 3, 2, 2), [fractions(rng, 2) for _ in range(3)]
    found = means_after_a_round(program, problem, parameters, "x", starts)
    for start, mean in zip(starts, found, strict=True):
        one = moments_of(program, problem, parameters, start=start, rounds=1)
        assert (one.mean(1)[one.layout.place("x")] == mean).all()


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
        if (self.masks and rng.random() < 0.7) or not self.draws():
            return rng.choice(self.masks) if self.masks else w.before(1, self.p["tau"])
        made = rng.choice(
            [lambda: w.choose(self.p["S"]), lambda: w.coins(self.p["p"]), lambda: w.coin(self.p["c"]),
             lambda: w.choose(2, replace=True), lambda: w.coins(self.p["c"])]
        )()  # fmt: skip
        self.masks.append(made)
        return made

    def sample(self) -> Any:
        w, rng = self.w, self.rng
        if (self.samples and rng.random() < 0.6) or not self.draws():
            return rng.choice(self.samples) if self.samples else None
        made = rng.choice(
            [lambda: w.sample(), lambda: w.sample(), lambda: w.sample(2), lambda: w.sample(1, replace=False)]
        )()
        self.samples.append(made)
        return made

    def client(self, S: list[Any], C: list[Any]) -> Any:
        w, rng = self.w, self.rng
        kind = rng.choice(
            [
                "gradient",
                "sampled",
                "sampled",
                "sampled",
                "sum",
                "sum",
                "where",
                "prox",
                "keep",
                "noise",
                "mix",
                "times",
            ]
        )
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


def named(*values: Any) -> dict[str, Any]:
    return dict(zip(("eta", "q", "p", "c", "S", "sigma2", "tau", "W"), values, strict=True))


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
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
            return random.Random(seed).choice([after(writer, x, cs), after(writer, s[-1], cs), s[-1]])

    elif shape == "xc":

        @algorithm(x="x0", v=start)
        def one(w, x, v, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x], [v]
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
            new = w.where(writer.mask(), cs[-1], v) if random.Random(seed).random() < 0.5 else w.each(cs[-1])
            return after(writer, s[-1], cs), new

    elif shape == "xs":

        @algorithm(x="x0", v="grad(f, x0)")
        def one(w, x, v, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x, v], []
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
            return after(writer, x, cs), w.where(w.coin(c), s[-1], v)

    elif shape == "xt":

        @algorithm(x="x0", t="table grad(f_ni, x0)")
        def one(w, x, t, *, eta, q, p, c, S, sigma2, tau, W):
            s, cs = [x], [w.get(t)]
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
            i = writer.samples[0] if writer.samples else w.sample()
            put = w.put(t, i, w.each(cs[-1]))
            return after(writer, x, [w.get(t, i) - cs[-1]]), w.where(writer.mask(), put, t)

    elif shape == "xj":

        @algorithm(x="x0", past="J times x0")
        def one(w, x, past, *, eta, q, p, c, S, sigma2, tau, W, J, alpha):
            s, cs = [x, w.combine(alpha, past)], []
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
            return after(writer, x, cs), w.shift(past, s[-1])

    else:

        @algorithm(x="x0", past="each J times x0")
        def one(w, x, past, *, eta, q, p, c, S, sigma2, tau, W, J, alpha):
            s, cs = [x], [w.combine(alpha, past)]
            writer = body(w, s, cs, random.Random(seed), named(eta, q, p, c, S, sigma2, tau, W))
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


@pytest.mark.parametrize("part", share(range(PARTS), 4))
def test_programs_at_random(part: int) -> None:
    """Of each program the first two rounds, or the first where the second has too many outcomes."""
    done, seed, operations = 0, 100_000 * part, set()
    while done < WANTED // PARTS:
        seed += 1
        program, problem, parameters, x0 = at_random(seed)
        for rounds in (2, 1):
            try:
                assert_equal(program, problem, parameters, x0, rounds, 700)
            except TooManyOutcomesError:
                continue
            done += program.random
            operations |= program.operations
            break
    assert len(operations) > 12


# --- clients that are the same -------------------------------------------------------------------------------------


def copied(problem: Quadratic, parameters: dict[str, Any], of: list[int]) -> tuple[Quadratic, dict[str, Any]]:
    """An instance whose clients are copies of these."""
    N = len(of)
    W = [[F(1, N + 1) + F(int(a == b), N + 1) for b in range(N)] for a in range(N)]
    given = {name: [v[n] for n in of] if name in ("q", "p", "tau") else v for name, v in parameters.items()}
    given |= {"S": min(given["S"], N)} if "S" in given else {}
    arrays = (problem.hessian[of], problem.linear[of], problem.offset[of], problem.counts[of])
    return Quadratic(*arrays), given | ({"W": W} if "W" in parameters else {})


@pytest.mark.parametrize("of", [[0, 0], [0, 0, 0], [0, 1, 0]], ids=str)
def test_programs_at_random_on_clients_that_are_the_same(of: list[int]) -> None:
    """Of a class there is one in the moments; what it stands for is played one by one."""
    done, seed = 0, 2_000_000 + 1000 * len(of)
    while done < 25:
        seed += 1
        program, problem, parameters, x0 = at_random(seed)
        if problem.clients <= max(of):
            continue
        problem, parameters = copied(problem, parameters, of)
        for rounds in (2, 1):
            try:
                assert_equal(program, problem, parameters, x0, rounds, 700)
            except TooManyOutcomesError:
                continue
            done += program.random
            break


@algorithm
def told_in_a_tap(w, x, *, eta, S):
    """What clients make of what came of their meeting is a tap: only where it is asked for are they told apart."""
    active = w.choose(S)
    after = x - eta * w.average(w.gradient(x, w.sample()), active)
    w.tap("z", w.where(active, w.each(after), w.each(x)))
    return after


def test_clients_that_are_the_same_are_told_apart_where_a_tap_asks_for_it() -> None:
    problem, _ = copied(drawn_problem(random.Random(8), 1, 2, 2), {}, [0, 0, 0])
    parameters, x0 = {"eta": F(1, 4), "S": 2}, vector([1, -2])
    found = moments_of(told_in_a_tap.program, problem, parameters, start=x0, rounds=2)
    assert np.array_equal(found.second(0)[0], vector([1, 1, -2]))
    played = play_of(told_in_a_tap.program, problem, parameters, x0, 2, 10**5)
    outcomes = played.joint(frozenset({("z", (1,)), ("x", (1,))}))
    wanted = F(0)
    for p, outcome in outcomes:
        z, x = (vector(map(to_fraction, v)) for v in (outcome["z", (1,)][2], outcome["x", (1,)]))
        wanted += to_fraction(p) * (z @ z + z @ x)
    z, x = {Point("z", 1, n=2): 1}, {Point("x", 1): 1}
    assert found.norm2(z) + found.dot(z, x) == wanted


@algorithm(x="x0", c="each 0")
def keeping(w, x, c, *, eta):
    return x - eta * w.mean(c), w.gradient(x, w.sample())


def test_a_million_clients_that_are_the_same() -> None:
    """What they keep is independent: their mean has one's variance over their number."""
    one = random_floats(6, 1, 4, 2)
    N, x0 = 10**6, np.array([1.0, -2.0])
    of = np.zeros(N, dtype=int)
    many = Quadratic(one.hessian[of], one.linear[of], one.offset[of], one.counts[of])
    found = moments_of(keeping.program, many, {"eta": 0.5}, start=x0, rounds=2)
    gradients = one.hessian[0] @ x0 - one.linear[0]
    mean, spread = gradients.mean(axis=0), ((gradients - gradients.mean(axis=0)) ** 2).sum() / 4
    at = {n: {Point("c", 1, n=n): 1} for n in (0, 999_999)}
    assert found.norm2(at[0]) == pytest.approx(mean @ mean + spread, rel=1e-12)
    assert found.dot(at[0], at[999_999]) == pytest.approx(mean @ mean, rel=1e-12)
    moved: dict[Any, Any] = {Point("x", 2): 1, None: 0.5 * mean - x0}
    assert found.norm2(moved) == pytest.approx(0.25 * spread / N, rel=1e-9)
    assert found.dot({Point("x", 2): 1}, at[0]) == pytest.approx((x0 - 0.5 * mean) @ mean - 0.5 * spread / N, rel=1e-12)
    with pytest.raises(ValueError, match="ask for single ones"):
        found.second(1)


# --- taps, and several rounds together -------------------------------------------------------------------------------


@algorithm(x="x0", c="each grad(f_n, x0)")
def tapped(w, x, c, *, eta, S):
    active = w.choose(S)
    y = w.each(x)
    for _h in w.repeat(2):
        w.tap("y", y)
        y = y - eta * (w.gradient(y, w.sample()) - c + w.mean(c))
    move = w.average(y - x, active)
    w.tap("move", move)
    return x + move, w.where(active, w.gradient(y), c)


@pytest.mark.parametrize("of", [[0, 1], [0, 0]], ids=["different", "same"])
def test_products_of_states_and_taps_of_any_rounds(of: list[int]) -> None:
    rng = random.Random(5)
    problem, _ = copied(drawn_problem(rng, 2, 2, 2), {}, of)
    parameters = {"eta": F(1, 4), "S": 1}
    x0 = fractions(rng, 2)
    program = tapped.program
    found = moments_of(program, problem, parameters, start=x0, rounds=2)

    def value(point: Point, outcome: Any) -> Any:
        found = outcome[point.name, (point.k, *point.turns)]
        own = found if point.n is None or not isinstance(found[0], tuple) else found[point.n]
        return vector(map(to_fraction, own))

    points = [Point("x", k) for k in range(3)] + [Point("c", k, n=n) for k in range(3) for n in range(2)]
    points += [Point("move", k) for k in range(2)]
    points += [Point("y", k, (h,), n=n) for k in range(2) for h in range(2) for n in range(2)]

    def affine() -> dict[Any, Any]:
        chosen: dict[Any, Any] = {None: fractions(rng, 2)}
        for point in rng.sample(points, 2):
            chosen[point] = rng.choice([F(rng.randint(-2, 2)), fractions(rng, 4).reshape(2, 2)])
        return chosen

    items = frozenset((point.name, (point.k, *point.turns)) for point in points)
    joint = play_of(program, problem, parameters, x0, 2, 10**6).joint(items)
    outcomes = [(to_fraction(p), outcome) for p, outcome in joint]

    def at(u: dict[Any, Any], outcome: Any) -> Any:
        total = u[None]
        for point, factor in u.items():
            if point is not None:
                v = value(point, outcome)
                total = total + (factor @ v if isinstance(factor, np.ndarray) else factor * v)
        return total

    for _ in range(60):
        u, v = affine(), affine()
        wanted = sum(p * (at(u, outcome) @ at(v, outcome)) for p, outcome in outcomes)
        assert found.dot(u, v) == wanted
        mean = sum(p * at(u, outcome) for p, outcome in outcomes)
        assert np.array_equal(found.expected(u), mean)
    assert found.norm2({Point("x", 0): 1, None: -x0}) == 0


# --- floats ----------------------------------------------------------------------------------------------------------


def in_floats(problem: Quadratic) -> Quadratic:
    return Quadratic(
        problem.hessian.astype(float), problem.linear.astype(float), problem.offset.astype(float), problem.counts
    )


def plain(value: Any) -> Any:
    if isinstance(value, Schedule):
        return Schedule(tuple(map(plain, value.values)))
    return [plain(v) for v in value] if isinstance(value, list) else value if isinstance(value, int) else float(value)


@pytest.mark.parametrize("rounds", [2, 40])
@pytest.mark.parametrize(("one", "parameters", "_"), KNOWN, ids=lambda v: getattr(v, "name", ""))
def test_floats_are_the_fractions(one: Any, parameters: dict[str, Any], _: int, rounds: int) -> None:
    """Few rounds are carried one by one, many as one linear map."""
    if any(isinstance(v, Schedule) for v in parameters.values()):
        rounds = 2
    rng = random.Random(one.name)
    problem, x0 = drawn_problem(rng, 2, 2, 1 if one is saga else 2), fractions(rng, 2)
    x0 = x0[: problem.dim]
    parameters = {**parameters, **({"m": 1} if "m" in parameters else {})}
    exact = moments_of(one.program, problem, parameters, start=x0, rounds=rounds if rounds == 2 else 12)
    floats = {name: plain(v) for name, v in parameters.items()}
    found = moments_of(one.program, in_floats(problem), floats, start=x0.astype(float), rounds=rounds)
    for k in range(exact.rounds + 1):
        wanted = exact.second(k).astype(float)
        assert np.allclose(found.second(k), wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max())), k


@pytest.mark.parametrize("as_one_map", [True, False])
def test_what_converges_keeps_its_digits(as_one_map: bool) -> None:
    """ProxSkip goes to the minimiser and the gradients there: the contraction is seen until nothing is left."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((4, 1, 3, 3))
    hessian = A @ A.swapaxes(-1, -2) + np.eye(3)
    problem = Quadratic(hessian, 100 * rng.standard_normal((4, 1, 3)), np.zeros((4, 1)), np.ones(4, dtype=int))
    values = np.linalg.eigvalsh(problem.client_hessian)
    gamma, p, star = 1 / values.max(), 0.5, problem.minimiser
    given: Any = gamma if as_one_map else Schedule((gamma,) * 400)
    found = moments_of(proxskip.program, problem, {"gamma": given, "p": p}, start=np.ones(3), rounds=400)

    def psi(k: int) -> float:
        distance = sum(found.norm2({Point("x", k, n=n): 1, None: -star}) for n in range(4))
        memory = [found.norm2({Point("h", k, n=n): 1, None: -problem.client_gradient(star)[n]}) for n in range(4)]
        return float(distance + gamma**2 / p**2 * sum(memory))

    rate = 1 - min(gamma * values.min(), p**2)
    for k in range(150):
        assert psi(k + 1) <= rate * psi(k) * (1 + 1e-9)
    assert psi(150) < 1e-15 * psi(0)
    assert psi(400) < 1e-29 * psi(0)


def test_a_far_minimiser_costs_no_digits() -> None:
    """Clients whose curvatures all but cancel: the minimiser is 1e9 away, and ten steps from 0 stay near 0."""
    hessian = np.array([[[[1.0]]], [[[-1.0 + 1e-9]]]])
    problem = Quadratic(hessian, np.array([[[1.0]], [[1.0]]]), np.zeros((2, 1)), np.ones(2, dtype=int))
    exact = Quadratic(
        np.array([[[[F(1)]]], [[[F(-1.0 + 1e-9)]]]], dtype=object), np.full((2, 1, 1), F(1), dtype=object),
        np.full((2, 1), F(0), dtype=object), np.ones(2, dtype=int),
    )  # fmt: skip
    for rounds in (3, 10):  # one by one, and as one map
        wanted = moments_of(fedavg.program, exact, {"eta": F(1, 8), "H": 2, "S": 1}, start=[0], rounds=rounds)
        found = moments_of(fedavg.program, problem, {"eta": 0.125, "H": 2, "S": 1}, start=[0.0], rounds=rounds)
        assert found.second(rounds)[1, 1] == pytest.approx(float(wanted.second(rounds)[1, 1]), rel=1e-12)


def random_floats(seed: int, N: int, n: int, d: int) -> Quadratic:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, n, d, d))
    hessian = A @ A.swapaxes(-1, -2) / d + 0.1 * np.eye(d)
    return Quadratic(hessian, rng.standard_normal((N, n, d)), np.zeros((N, n)), np.full(N, n))


def test_many_clients_by_symmetry() -> None:
    """40 clients that are copies of two: averages over some of them have a closed form."""
    two = random_floats(1, 2, 1, 2)
    copies = [n % 2 for n in range(40)]
    many = Quadratic(two.hessian[copies], two.linear[copies], two.offset[copies], two.counts[copies])
    x0, eta, S = np.ones(2), 0.1, 7
    found = moments_of(fedavg.program, many, {"eta": eta, "H": 1, "S": S}, start=x0, rounds=1)
    a, b = (x0 - eta * two.client_gradient(x0)[n] for n in range(2))
    # the mean over S of 40 has the variance of one, divided by S, times 33/39
    mean = (a + b) / 2
    wanted = np.outer(mean, mean) + np.outer(a - b, a - b) / 4 / S * 33 / 39
    assert np.allclose(found.second(1)[1:, 1:], wanted, rtol=1e-12)
    found = moments_of(fedavg_coins.program, many, {"eta": eta, "H": 1, "p": 0.25}, start=x0, rounds=1)
    from math import comb

    spread = np.zeros((2, 2))
    centre = np.zeros((2, 2))
    for count in range(1, 41):
        chance = comb(40, count) * 0.25**count * 0.75 ** (40 - count)
        spread += chance * (np.outer(a - b, a - b) / 4 / count * (40 - count) / 39 + np.outer(mean, mean))
    centre = 0.75**40 * np.outer(x0, x0)
    assert np.allclose(found.second(1)[1:, 1:], spread + centre, rtol=1e-12)


def test_many_clients_with_memory_are_no_different() -> None:
    """SCAFFOLD with 30 clients, against averages over runs: 20000 runs, ten standard errors (chance below 1e-20)."""
    problem = random_floats(2, 30, 1, 2)
    parameters = {"eta": 0.1, "eta_g": 0.7, "H": 2, "S": 4}
    found = moments_of(scaffold.program, problem, parameters, start=np.ones(2), rounds=3)
    rng = np.random.default_rng(0)
    runs = 20000
    H, b = problem.client_hessian, problem.client_linear
    x = np.ones((runs, 2))
    c = np.broadcast_to(problem.client_gradient(np.ones(2)), (runs, 30, 2)).copy()
    for _ in range(3):
        active = rng.permuted(np.broadcast_to(np.arange(30) < 4, (runs, 30)), axis=1)[..., None]
        cbar = c.mean(axis=1, keepdims=True)
        y = np.broadcast_to(x[:, None], c.shape)
        for _ in range(2):
            y = y - 0.1 * (np.einsum("nde,rne->rnd", H, y) - b - c + cbar)
        plus = c - cbar + (x[:, None] - y) / (2 * 0.1)
        x = x + 0.7 * ((y - x[:, None]) * active).sum(axis=1) / 4
        c = np.where(active, plus, c)
    for sample, point in [(x, Point("x", 3)), (c[:, 5], Point("c", 3, n=5))]:
        square = (sample**2).sum(axis=1)
        error = square.std() / np.sqrt(runs)
        assert abs(square.mean() - found.norm2({point: 1})) <= 10 * error
    product = (c[:, 5] * c[:, 6]).sum(axis=1)
    wanted = found.dot({Point("c", 3, n=5): 1}, {Point("c", 3, n=6): 1})
    assert abs(product.mean() - wanted) <= 10 * product.std() / np.sqrt(runs)


# --- what is refused -------------------------------------------------------------------------------------------------


def test_what_cannot_be_followed_is_refused() -> None:
    problem = random_floats(0, 9, 6, 2)

    @algorithm
    def clipped(w, x, *, eta):
        return x - eta * w.clip(w.full_gradient(x), 1)

    with pytest.raises(ValueError, match=r"clip .*is not linear in the state"):
        moments_of(clipped.program, problem, {"eta": 0.1}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match=r"too many: .* outcomes of all"):
        moments_of(same_sample_again.program, problem, {"eta": 0.1}, start=np.ones(2), rounds=1)
    exact = drawn_problem(random.Random(0), 3, 1, 1)
    for size, one, start in (
        (2000, problem, np.ones(2)),
        (200, exact, vector([F(1)])),
    ):  # two of them have size**2 pairs
        with pytest.raises(ValueError, match=f"{size} clients chosen with replacement"):
            moments_of(some_with.program, one, {"S": size, "eta": F(1, 4)}, start=start, rounds=1)
    with pytest.raises(ValueError, match="eta"):
        moments_of(sgd.program, problem, {}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="eta has shape"):
        moments_of(sgd.program, problem, {"eta": [0.1, 0.2], "b": 1}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="schedule of 1 entries"):
        moments_of(sgd.program, problem, {"eta": Schedule((0.1,)), "b": 1}, start=np.ones(2), rounds=2)
    with pytest.raises(ValueError, match="S=10 is outside"):
        moments_of(fedavg.program, problem, {"eta": 0.1, "H": 1, "S": 10}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match=r"outside \(0, 1\]"):
        moments_of(fedavg_coins.program, problem, {"eta": 0.1, "H": 1, "p": 1.5}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="b=7"):
        moments_of(batches_without.program, problem, {"eta": 0.1, "b": 7}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="m=3 is outside"):
        moments_of(diana.program, problem, {"eta": 0.1, "alpha": 0.5, "m": 3}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="diverge"):
        moments_of(sgd.program, problem, {"eta": 1e10, "b": 1}, start=np.ones(2), rounds=60)
    with pytest.raises(ValueError, match="not rational"):
        moments_of(sgd.program, drawn_problem(random.Random(0), 1, 1, 1), {"eta": 0.5, "b": 1}, start=[F(1)], rounds=1)
    indefinite = Quadratic(-np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1)), np.ones(1, dtype=int))
    with pytest.raises(ValueError, match="no unique minimiser"):
        moments_of(fedprox.program, indefinite, {"mu": 0.5, "S": 1}, start=[1.0], rounds=1)
    found = moments_of(sgd.program, problem, {"eta": 0.1, "b": 1}, start=np.ones(2), rounds=1)
    with pytest.raises(ValueError, match="there is no z"):
        found.norm2({Point("z", 0): 1})
    with pytest.raises(ValueError, match="k=2 is outside"):
        found.second(2)
