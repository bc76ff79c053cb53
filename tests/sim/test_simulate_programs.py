"""Simulated runs of programs: draws as the contract numbers them, states as in a plain loop, means as computed exactly.

Statistical tests use fixed seeds; each has a chance below 1e-6 to fail by chance.
"""

import subprocess
import sys
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from sim.problems import Quadratic, RidgeLogistic, RidgeSoftmax, least_squares, ridge_logistic
from sim.problems.torch_loss import TorchLoss
from sim.simulate import Sample, functions_of, simulate
from sim.streams import PASSES, PROGRAM, VISITS
from tests.outcomes import expectation, recorded
from tests.rounds import noisy
from tests.shares import share
from tests.sim import _plain as plain
from tests.theory import by_hand
from theory.papers import algorithms
from theory.program import algorithm

CHI2_LEVEL = 1e-6
# of a normal mean in standard errors: with three comparisons, missed by chance with probability 6e-7
ERRORS = 5.2
RAGGED = np.array([3, 1, 2])


def quadratics(clients: int, samples: int, dim: int, seed: int, counts=None) -> Quadratic:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((clients, samples, dim, dim)) / 2
    hessian = root @ np.swapaxes(root, -1, -2) + 0.3 * np.eye(dim)
    linear, offset = rng.standard_normal((clients, samples, dim)), rng.standard_normal((clients, samples))
    counts = np.full(clients, samples) if counts is None else counts
    for array in (hessian, linear, offset):
        array[np.arange(samples)[None, :] >= counts[:, None]] = 0
    return Quadratic(hessian, linear, offset, counts)


def squares(clients: int, samples: int, dim: int, seed: int) -> Quadratic:
    rng = np.random.default_rng(seed)
    return least_squares(
        list(rng.standard_normal((clients, samples, dim)) / 2), list(rng.standard_normal((clients, samples)))
    )


def softmax(clients: int, samples: int, seed: int) -> RidgeSoftmax:
    rng = np.random.default_rng(seed)
    return RidgeSoftmax(rng.standard_normal((clients, samples, 2)), rng.integers(0, 3, (clients, samples)), 3, 0.2)


def logistic_loss(problem: RidgeLogistic) -> TorchLoss:
    """The same functions by torch's differentiation."""

    def loss(x, data):
        features, label = data
        return torch.nn.functional.softplus(-label * (features @ x)) + problem.ridge / 2 * (x @ x)

    return TorchLoss(loss, list(zip(problem.features, problem.labels, strict=True)), problem.dim)


# --- the contract of the streams --------------------------------------------------------------------------------------


@algorithm
def all_draws(w, x, *, S, b, m, p, q, sigma2):
    v = w.each(x)
    for _ in w.repeat(2):
        v = v - w.gradient(v, w.sample(b)) - w.gradient(v, w.sample(2, replace=False))
        v = v + w.noise(sigma2) + w.choose(S) * v + w.choose(S, replace=True) * v
        v = w.where(w.coins(p), v, 2 * v) + w.coin(q) * v + w.keep(v, m)
    x = w.visit(x + w.keep(x, m), lambda y, one: y - one.gradient(y, one.sample(b)) + one.coins(p) * y)
    return x + w.mean(w.pass_over(v, lambda y, i: y - w.gradient(y, i)))


def test_every_draw_is_numbered_as_the_contract_says():
    problem, seed, run, k = quadratics(3, 3, 3, 0, np.array([3, 2, 2])), 2**40 + 17, 6, 2
    p, q, S, b, m, sigma2 = [0.3, 0.6, 0.9], 0.4, 2, 3, 2, 1.5
    parameters = {"S": S, "b": b, "m": m, "p": p, "q": q, "sigma2": sigma2}
    found: dict[tuple[int, str], list[np.ndarray]] = {}

    def watch(k, op, value):
        value = (value.index if isinstance(value, Sample) else value).numpy()
        found.setdefault((k, op), []).append(value[..., 0])

    simulate(all_draws, problem, parameters, [1.0, 2.0, -1.0], 3, 1, seed, first_run=run, watch=watch)
    counts = [3, 2, 2]

    def words(position, client, first, count):
        return [plain.word(seed, run, client, k, PROGRAM + position, first + j) for j in range(count)]

    def order(words):
        return sorted(range(len(words)), key=lambda j: (words[j], j))

    for turn in range(2):
        with_, without = found[k, "sample"][2 * turn], found[k, "sample"][2 * turn + 1]
        for n in range(3):
            assert list(with_[:, n]) == [(x * counts[n]) >> 32 for x in words(0, n, turn * b, b)]
            assert list(without[:, n]) == order(words(1, n, turn * 3, 3)[: counts[n]])[:2]
            u = [(x + 0.5) * 2.0**-32 for x in words(2, n, turn * 4, 4)]
            r, t = np.sqrt(-2 * np.log(u[0::2])), 2 * np.pi * np.array(u[1::2])
            normal = np.array([r[0] * np.cos(t[0]), r[0] * np.sin(t[0]), r[1] * np.cos(t[1])])
            np.testing.assert_allclose(found[k, "noise"][turn][n], normal * np.sqrt(sigma2 / 3), rtol=1e-13)
            kept = np.flatnonzero(found[k, "keep"][turn][n])
            assert list(kept) == sorted(order(words(7, n, turn * 3, 3))[:m])
        chosen = order(words(3, 0, turn * 3, 3))[:S]
        assert list(found[k, "choose"][2 * turn][:, 0]) == [float(n in chosen) for n in range(3)]
        often = [(x * 3) >> 32 for x in words(4, 0, turn * S, S)]
        assert list(found[k, "choose"][2 * turn + 1][:, 0]) == [often.count(n) for n in range(3)]
        coins = [x < round(c * 2**32) for x, c in zip(words(5, 0, turn * 3, 3), p, strict=True)]
        assert list(found[k, "coins"][turn][:, 0]) == coins
        assert found[k, "coin"][turn][0, 0] == (words(6, 0, turn, 1)[0] < round(q * 2**32))
    assert list(np.flatnonzero(found[k, "keep"][2][0])) == sorted(order(words(8, 0, 0, 3))[:m])
    visited = order([plain.word(seed, run, 0, k, VISITS, j) for j in range(3)])
    assert list(found[k, "visit"][0]) == visited
    for turn, n in enumerate(visited):
        samples = [(x * counts[n]) >> 32 for x in words(9, 0, turn * b, b)]
        assert list(found[k, "sample"][4 + turn][:, 0]) == samples
        assert found[k, "coins"][2 + turn][0, 0] == (words(10, 0, turn * 3, 3)[n] < round(p[n] * 2**32))
    for n in range(3):
        passed = order([plain.word(seed, run, n, k, PASSES, j) for j in range(counts[n])])
        assert list(found[k, "pass"][0][: counts[n], n]) == passed


# --- the same in any batch --------------------------------------------------------------------------------------------

MANY = [
    (algorithms.fedavg_svrg, {"delta": 0.1, "p": [0.5, 0.7, 1.0], "S": 2, "M": 3}),
    (algorithms.scaffold, {"eta": 0.1, "eta_g": 1.0, "H": 5, "S": 2}),
    (algorithms.saga, {"eta": 0.1}),
    (algorithms.random_reshuffling, {"eta": 0.1}),
    (algorithms.diana, {"eta": 0.1, "alpha": 0.3, "m": 2}),
    (algorithms.fedmim, {"eta_l": 0.1, "alpha": [0.2, 0.1], "beta": [0.5, 0.1], "A": 0.7, "H": 3, "S": 2}),
    (algorithms.extra, {"eta": 0.1, "W": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]}),
    (all_draws, {"S": 2, "b": 2, "m": 1, "p": [0.5, 0.7, 1.0], "q": 0.5, "sigma2": 0.1}),
    (algorithms.feddyn, {"alpha": 0.5, "S": 2}),
]


@pytest.mark.parametrize(("one", "parameters"), MANY, ids=[one.name for one, _ in MANY])
@pytest.mark.parametrize("kind", ["quadratic", "least squares"])
def test_a_run_is_the_same_to_the_last_bit_in_any_batch(one, parameters, kind):
    problem = quadratics(3, 3, 3, 1, np.array([3, 2, 2])) if kind == "quadratic" else squares(3, 4, 3, 1)
    shared = (one, problem, parameters, [1.0, -1.0, 0.5], 4)
    whole = simulate(*shared, 130, 5)
    assert np.all(np.isfinite(whole.final["x"]))
    narrow = simulate(*shared, 130, 5, chunk=17)
    little = simulate(*shared, 130, 5, memory=1)
    part = simulate(*shared, 9, 5, first_run=100)
    first = simulate(*shared[:4], 1, 130, 5)
    resumed = simulate(*shared[:3], rounds=3, resume=first, chunk=50)
    assert resumed.rounds == 4
    for name, value in whole.final.items():
        assert np.array_equal(value, narrow.final[name])
        assert np.array_equal(value, little.final[name])
        assert np.array_equal(value[100:109], part.final[name])
        assert np.array_equal(value, resumed.final[name])
    assert (len({row.tobytes() for row in whole.final["x"]}) > 30) == one.program.random
    assert one.program.random == (not np.array_equal(whole.final["x"], simulate(*shared, 130, 6).final["x"]))


@pytest.mark.parametrize("kind", ["logistic", "softmax", "torch loss"])
def test_regressions_agree_to_rounding_in_any_batch(kind):
    data = ridge_logistic(4, 20, 3, 0.7, 0.1, seed=1)
    problem = {"logistic": data, "softmax": softmax(4, 20, 2), "torch loss": logistic_loss(data)}[kind]
    shared = (algorithms.scaffold, problem, {"eta": 0.2, "eta_g": 1.0, "H": 3, "S": 2}, None, 5)
    whole, narrow = simulate(*shared, 100, 3), simulate(*shared, 100, 3, chunk=13, threads=2)
    np.testing.assert_allclose(whole.final["x"], narrow.final["x"], rtol=0, atol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize(("one", "parameters"), MANY, ids=[one.name for one, _ in MANY])
def test_a_gpu_gives_the_same_to_rounding(one, parameters):
    problem = quadratics(3, 3, 3, 1, np.array([3, 2, 2]))
    shared = (one, problem, parameters, [1.0, -1.0, 0.5], 4, 130, 5)
    here, there = simulate(*shared), simulate(*shared, device="cuda")
    for name, value in here.final.items():
        np.testing.assert_allclose(there.final[name], value, rtol=1e-9, atol=1e-9)


# --- the same as a plain loop on the same draws -----------------------------------------------------------------------


@algorithm(x="x0", c="each grad(f_n, x0) - grad(f, x0)", t="table grad(f_ni, x0)")
def visiting(w, x, c, t, *, eta, p, b):
    """Values of all clients, parameters, tables and samples from outside, read inside a visit."""
    i = w.sample(b)

    def turn(v, one):
        v = v - eta / 2 * w.full_gradient(v)
        v = v - eta * p * (one.gradient(v, i) - c + one.get(t, i))
        v = v - eta * one.gradient(v, one.sample())
        return v + eta * one.get(t)

    after = w.visit(x, turn)
    return after, c + w.gradient(after) / 10, w.put(t, i, w.gradient(after, i))


@pytest.mark.parametrize("problem", [quadratics(3, 3, 2, 4, RAGGED), squares(3, 3, 2, 1)])
def test_a_visit_reads_what_is_its_clients(problem):
    parameters = {"eta": 0.1, "p": [0.2, 0.5, 1.0], "b": 2}
    states, draws = recorded(visiting, problem, parameters, [1.0, -2.0], 4, seed=3)
    f = by_hand.Plain(problem)
    x = np.array([1.0, -2.0])
    c = [f.client(n, x) - f.full(x) for n in range(3)]
    t = [[f.sample(n, x, i) for i in range(f.counts[n])] for n in range(3)]
    for k in range(4):
        outside = [draws.sample(k, n, 0, None) for n in range(3)]
        for turn, n in enumerate(draws.visit(k, 3)):
            (own,) = draws.sample(k, 0, 1 + turn, None)
            entry = np.mean([t[n][i] for i in outside[n]], axis=0)
            v = x - 0.05 * f.full(x)
            v = v - 0.1 * parameters["p"][n] * (f.batch(n, v, outside[n]) - c[n] + entry)
            v = v - 0.1 * f.sample(n, v, own)
            x = v + 0.1 * np.mean(t[n], axis=0)
        for n in range(3):
            c[n] = c[n] + f.client(n, x) / 10
            new = f.batch(n, x, outside[n])
            for i in outside[n]:
                t[n][i] = new
        np.testing.assert_allclose(states["x"][k + 1], x, rtol=0, atol=1e-10)
        np.testing.assert_allclose(states["c"][k + 1], c, rtol=0, atol=1e-10)
        for n in range(3):
            np.testing.assert_allclose(states["t"][k + 1][n, : f.counts[n]], t[n], rtol=0, atol=1e-10)


@algorithm(x="x0", z="each x0", past="J times x0", own="each J times 0")
def coordinates(w, x, z, past, own, *, alpha, r, m, eta, W, a_n):
    g = w.gradient(z)
    top = w.top(g, m)
    ball = w.clip(g, r) + w.project(z, 2 * r)
    ratio = w.over(w.times(g, g), w.ones() + w.sqrt(w.times(z, z)))
    z = w.mix(z, W) - eta * (top + ball + ratio) + w.norm(x) * w.sign(w.larger(g, 0 * g)) / 50
    x = x - eta * a_n * w.sum(w.where(w.before(w.k, 2), g, top)) + w.combine(alpha, past) / 10
    x = x + min_norm(w, x) * w.mean(w.combine(alpha, own))
    return x, z, w.shift(past, x), w.shift(own, z - x)


def min_norm(w, x):
    return 1 / (1 + w.norm(x)) ** 2


def test_coordinates_and_memory_are_what_they_are_called():
    problem = quadratics(3, 2, 4, 7)
    W = np.array([[0.5, 0.5, 0], [0.5, 0.2, 0.3], [0, 0.3, 0.7]])
    alpha = np.array([0.5, -0.25, 0.125])
    parameters = {"alpha": alpha, "r": 0.6, "m": 2, "eta": 0.05, "W": W, "a_n": 0.5}
    found = simulate(coordinates, problem, parameters, [1.0, -2.0, 0.5, 0.0], 5, 3, record=range(6))
    f = by_hand.Plain(problem)
    x = np.array([1.0, -2.0, 0.5, 0.0])
    z, past, own = np.array([x] * 3), [x] * 3, [np.zeros((3, 4))] * 3
    into = lambda v, r: v * min(1, r / np.linalg.norm(v))  # noqa: E731
    for k in range(5):
        g = np.array([f.client(n, z[n]) for n in range(3)])
        top = np.array([np.where(np.argsort(np.argsort(-np.abs(v), kind="stable")) < 2, v, 0) for v in g])
        ball = np.array([into(g[n], 0.6) + into(z[n], 1.2) for n in range(3)])
        new_z = W @ z - 0.05 * (top + ball + g**2 / (1 + np.abs(z)))
        new_z += np.linalg.norm(x) * np.sign(np.maximum(g, 0)) / 50
        x = x - 0.05 * 0.5 * (g if k < 2 else top).sum(0) + sum(a * v for a, v in zip(alpha, past, strict=True)) / 10
        x = x + sum(a * v for a, v in zip(alpha, own, strict=True)).mean(0) / (1 + np.linalg.norm(x)) ** 2
        z = new_z
        past, own = [x, *past[:-1]], [z - x, *own[:-1]]
        for name, value in (("x", x), ("z", z), ("past", past), ("own", own)):
            np.testing.assert_allclose(found.states[name][1, k + 1], value, rtol=0, atol=1e-10)
    assert found.states["own"].shape == (3, 6, 3, 3, 4)


def test_ties_go_to_the_first_coordinate_and_a_zero_average_is_zero():
    @algorithm(x="x0", y="0")
    def ties(w, x, y, *, m):
        return w.top(x, m), w.average(x, w.before(0, 0)) + w.clip(0 * x, 1)

    problem = quadratics(2, 1, 4, 0)
    found = simulate(ties, problem, {"m": 2}, [1.0, -3.0, 3.0, -3.0], 1, 1)
    assert found.final["x"][0].tolist() == [0, -3, 3, 0]
    assert found.final["y"][0].tolist() == [0] * 4


@pytest.mark.parametrize("counts", [None, RAGGED])
@pytest.mark.parametrize("how", ["eta_k", "eta"])
def test_batches_without_replacement_and_of_a_schedule(counts, how):
    @algorithm
    def batches(w, x, *, eta, b):
        return x - eta * w.mean(w.gradient(x, w.sample(1 + w.k)) + w.gradient(x, w.sample(b, replace=False)))

    problem = quadratics(3, 3, 2, 1, counts)  # as many clients as rounds
    eta, b = [0.1, 0.2, 0.05], 1 if counts is not None else 2
    given = eta if how == "eta_k" else {"k": eta}
    states, draws = recorded(batches, problem, {how: given, "b": b}, [1.0, 1.0], 3)
    f, x = by_hand.Plain(problem), np.array([1.0, 1.0])
    for k in range(3):
        step = np.zeros(2)
        for n in range(3):
            one, two = draws.sample(k, n, 0, None), draws.sample(k, n, 1, None)
            assert (len(one), len(set(two))) == (k + 1, b)
            step += (f.batch(n, x, one) + f.batch(n, x, two)) / 3
        x = x - eta[k] * step
        np.testing.assert_allclose(states["x"][k + 1], x, rtol=0, atol=1e-10)


def test_taps_of_nested_loops_and_what_is_measured():
    @algorithm
    def tapped(w, x, *, eta, H):
        y = w.each(x)
        for h in w.repeat(H):
            for j in w.repeat(h + 1):
                y = y - eta * (j + 1) * w.gradient(y)
                w.tap("y", y)
            w.tap("mean", w.mean(y))
        w.tap("end", y)
        return w.visit(w.mean(y), lambda v, one: seen(w, v - eta * one.gradient(v)))

    def seen(w, v):
        w.tap("turn", v)
        return v

    problem = quadratics(2, 1, 2, 3)
    moments = []

    def measure(moment):
        moments.append((moment.k, moment.first_run, sorted(moment.taps)))
        assert moment.functions.dim == 2
        return {"norm": moment.states["x"].square().sum(1), **({"end": moment.taps["end"]} if moment.taps else {})}

    shared = (tapped, problem, {"eta": 0.1, "H": 3}, [1.0, -1.0], 2, 60)
    found = simulate(*shared, taps=("y", "mean", "turn"), measure=measure, record=(0, 1, 2), chunk=40)
    assert found.taps["y"].shape == (60, 2, 3, 3, 2, 2)
    assert found.taps["mean"].shape == (60, 2, 3, 2)
    assert found.taps["turn"].shape == (60, 2, 2, 2)
    f, x = by_hand.Plain(problem), np.array([1.0, -1.0])
    y = np.array([x, x])
    for h in range(3):
        for j in range(3):
            if j <= h:
                y = np.array([y[n] - 0.1 * (j + 1) * f.client(n, y[n]) for n in range(2)])
                np.testing.assert_allclose(found.taps["y"][50, 0, h, j], y, rtol=0, atol=1e-12)
            else:
                assert np.all(np.isnan(found.taps["y"][:, :, h, j]))
        np.testing.assert_allclose(found.taps["mean"][7, 0, h], y.mean(0), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.taps["turn"][:, :, -1], found.states["x"][:, 1:])
    np.testing.assert_allclose(found.values["norm"], np.sum(found.states["x"] ** 2, axis=2), rtol=1e-12)
    assert found.values["end"].shape == (60, 3, 2, 2)
    assert np.isnan(found.values["end"]).any(axis=(0, 2, 3)).tolist() == [False, False, True]
    ends = ["end", "mean", "turn", "y"]
    assert moments == [(k, first, ends if k < 2 else []) for first in (0, 40) for k in range(3)]


def test_an_interrupt_goes_through_and_leaves_torch_as_it_was():
    threads = torch.get_num_threads()

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(algorithms.sgd, quadratics(2, 2, 2, 0), {"eta": 0.1}, None, 5, 5, threads=threads + 1, progress=stop)
    assert torch.get_num_threads() == threads


# --- problems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["quadratic", "least squares", "logistic", "softmax", "torch loss"])
def test_functions_of_a_problem(kind):
    """Gradients of clients and samples, values, Hessians and prox, for all clients and for one of each run."""
    data = ridge_logistic(3, 4, 2, 0.7, 0.1, seed=4)
    problem = {
        "quadratic": quadratics(3, 3, 2, 5, RAGGED),
        "least squares": squares(3, 4, 2, 5),
        "logistic": data,
        "softmax": softmax(3, 4, 6),
        "torch loss": logistic_loss(data),
    }[kind]
    f, rng = functions_of(problem), np.random.default_rng(1)
    d, R = f.dim, 5
    v = torch.from_numpy(rng.standard_normal((3, d, R)))
    reference = data if kind == "torch loss" else problem
    value, gradient = f.value(v), f.gradient(v)
    for r in range(R):
        at = v[:, :, r].numpy()
        if isinstance(reference, Quadratic):
            values = [reference.client_cost(at[n])[n] for n in range(3)]
            slopes = [reference.client_gradient(at[n])[n] for n in range(3)]
        else:
            values, slopes = reference.loss(at), reference.gradient(at)
        np.testing.assert_allclose(value[:, r], values, rtol=1e-12)
        np.testing.assert_allclose(gradient[:, :, r], slopes, rtol=1e-10, atol=1e-12)
    server = v[:1]
    np.testing.assert_allclose(f.full_gradient(server), f.gradient(server).mean(0, keepdim=True), atol=1e-12)
    # the samples' gradients have the client's as their mean
    everything = [
        f.sample_gradient(v, Sample(torch.full((1, 3, R), i).clamp(max=torch.from_numpy(f.counts - 1)[:, None])))
        for i in range(int(f.counts.max()))
    ]
    for n in range(3):
        mean = sum(everything[i][n] for i in range(int(f.counts[n]))) / int(f.counts[n])
        np.testing.assert_allclose(mean, gradient[n], atol=1e-12)
    # one client in each run
    who = torch.tensor([2, 0, 1, 1, 2])
    mine = torch.stack([v[who[r], :, r] for r in range(R)], 1)[None]
    index = torch.tensor([[[0, 2, 0, 0, 1]], [[1, 1, 0, 0, 0]]])
    whole = torch.zeros(2, 3, R, dtype=torch.int64)
    for r in range(R):
        whole[:, who[r], r] = index[:, 0, r]
    of_all = f.sample_gradient(v, Sample(whole))
    of_one = f.sample_gradient(mine, Sample(index), who)
    hessian, one_hessian = f.hessian(v), f.hessian(mine, who)
    for r in range(R):
        n = int(who[r])
        np.testing.assert_allclose(f.gradient(mine, who)[0, :, r], gradient[n, :, r], atol=1e-12)
        np.testing.assert_allclose(f.value(mine, who)[0, r], value[n, r], rtol=1e-12)
        np.testing.assert_allclose(of_one[0, :, r], of_all[n, :, r], atol=1e-12)
        np.testing.assert_allclose(one_hessian[0, :, :, r], hessian[n, :, :, r], atol=1e-12)
    # Hessians by differences, prox by its equation
    for j in range(d):
        step = torch.zeros_like(v)
        step[:, j] = 1e-5
        slope = (f.gradient(v + step) - f.gradient(v - step)) / 2e-5
        np.testing.assert_allclose(hessian[:, :, j], slope, rtol=1e-6, atol=1e-8)
    for t in (0.3, torch.tensor([0.1, 1.0, 50.0], dtype=torch.float64).reshape(3, 1, 1)):
        u = f.prox(v, t)
        np.testing.assert_allclose(f.gradient(u) + (u - v) / t, torch.zeros_like(u), atol=1e-9)
    u = f.prox(mine, 0.7, who)
    np.testing.assert_allclose(f.gradient(u, who) + (u - mine) / 0.7, torch.zeros_like(u), atol=1e-9)
    alone = f.prox(v[:, :, 1:2], 0.3)
    np.testing.assert_allclose(alone[:, :, 0], f.prox(v, 0.3)[:, :, 1], atol=1e-12)


def test_a_loss_of_ones_own_without_a_prox_says_so():
    loss = TorchLoss(lambda x, a: a * (x * x).sum().cos(), [torch.ones(2, dtype=torch.float64)], 2)
    f = functions_of(loss)
    with pytest.raises(ValueError, match="prox: no minimiser"):
        f.prox(torch.ones(1, 2, 3, dtype=torch.float64), 10.0)
    u = f.prox(torch.ones(1, 2, 3, dtype=torch.float64), 0.05)
    np.testing.assert_allclose(f.gradient(u) + (u - 1) / 0.05, torch.zeros_like(u), atol=1e-9)


def test_a_loss_with_clients_of_different_sizes():
    rng = np.random.default_rng(0)
    data = [rng.standard_normal((n, 2)) for n in RAGGED]
    loss = TorchLoss(lambda x, a: ((x - a) ** 4).sum(), data, 2)
    x = torch.from_numpy(rng.standard_normal((1, 2, 4)))
    found = functions_of(loss).gradient(x)
    for n in range(3):
        expected = np.mean([4 * (x[0].numpy() - a[:, None]) ** 3 for a in data[n]], axis=0)
        np.testing.assert_allclose(found[n], expected, rtol=1e-12)
    states, draws = recorded(algorithms.sgd, loss, {"eta": 0.01}, [1.0, 2.0], 1, seed=2)
    at = np.array([1.0, 2.0])
    step = np.mean([4 * (at - data[n][draws.sample(0, n, 0, None)[0]]) ** 3 for n in range(3)], axis=0)
    np.testing.assert_allclose(states["x"][1], at - 0.01 * step, rtol=1e-12)


# --- means are exact expectations -------------------------------------------------------------------------------------


def noisy_by_hand(p, q, x0, K, draw):
    x = x0
    for k in range(K):
        x = x - q["eta"] * np.mean([p.client(n, x) + draw.noise(k, n, p.d, q["sigma2"]) for n in range(p.N)], axis=0)
    return x


TINY = {  # N clients, samples each, d coordinates
    "pair": quadratics(2, 2, 2, 1),
    "ragged": quadratics(3, 3, 2, 2, RAGGED),
    "three": quadratics(3, 2, 2, 3),
    "one": quadratics(1, 3, 2, 4),
    "squares": squares(2, 2, 2, 5),
    "logistic": ridge_logistic(2, 2, 2, 0.8, 0.2, seed=6),
}
LAWS = [
    ("sgd", {"eta": 0.3, "b": 1}, "pair", 3), ("sgd", {"eta": 0.3, "b": 2}, "one", 2),
    ("sgd", {"eta": 0.5, "b": 1}, "logistic", 3),
    ("clipped_sgd", {"eta": 0.3, "radius": 0.8}, "pair", 3), ("svrg", {"eta": 0.3, "H": 2}, "pair", 2),
    ("lsvrg", {"eta": 0.3, "p": 0.4}, "ragged", 2), ("lsvrg", {"eta": 0.3, "p": 0.7}, "one", 3),
    ("saga", {"eta": 0.3}, "pair", 3), ("saga", {"eta": 0.3}, "one", 4), ("saga", {"eta": 0.3}, "ragged", 2),
    ("random_reshuffling", {"eta": 0.3}, "one", 3), ("random_reshuffling", {"eta": 0.3}, "ragged", 2),
    ("reshuffled_clients", {"eta": 0.3}, "three", 3), ("local_sgd", {"eta": 0.3, "H": 2}, "pair", 2),
    ("local_sgd", {"eta": 0.3, "H": 3}, "squares", 1), ("fedavg", {"eta": 0.3, "H": 2, "S": 1}, "pair", 2),
    ("fedavg", {"eta": 0.3, "H": 1, "S": 2}, "ragged", 2),
    ("fedavg_with_replacement", {"eta": 0.3, "H": 1, "S": 2}, "pair", 2),
    ("fedavg_coins", {"eta": 0.3, "H": 2, "p": [0.4, 0.8]}, "pair", 2),
    ("fedavg_coins", {"eta": 0.5, "H": 1, "p": [0.9, 0.3]}, "logistic", 2),
    ("fedavg_svrg", {"delta": 0.2, "p": [0.4, 0.8], "S": 2, "M": 1}, "pair", 2),
    ("fedavg_svrg", {"delta": 0.2, "p": [0.6, 1.0], "S": 1, "M": 2}, "squares", 2),
    ("scaffold", {"eta": 0.2, "eta_g": 1.0, "H": 1, "S": 1}, "pair", 2),
    ("scaffold", {"eta": 0.2, "eta_g": 0.7, "H": 2, "S": 1}, "squares", 2),
    ("fedprox", {"mu": 0.7, "S": 2}, "three", 2), ("feddyn", {"alpha": 0.6, "S": 2}, "three", 4),
    ("fedmim", {"eta_l": 0.2, "alpha": [0.3, 0.1], "beta": [0.2, 0.4], "A": 0.6, "H": 1, "S": 1}, "pair", 3),
    ("fedadam", {"eta": 0.2, "eta_g": 0.3, "beta1": 0.5, "beta2": 0.8, "tau": 0.1, "H": 1, "S": 1}, "pair", 3),
    ("proxskip", {"gamma": 0.3, "p": 0.4}, "three", 6), ("diana", {"eta": 0.3, "alpha": 0.4, "m": 1}, "pair", 2),
    ("noisy", {"eta": 0.3, "sigma2": 0.5}, "pair", 2), ("noisy", {"eta": 0.3, "sigma2": 0.5}, "three", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "which", "rounds"), share(LAWS, 2))
def test_means_are_exact_expectations(name, parameters, which, rounds):
    """E of each coordinate and of norm2 of the model, within 5.2 standard errors."""
    problem, start, runs = TINY[which], np.array([1.0, -1.5]), 20_000
    hand = noisy_by_hand if name == "noisy" else getattr(by_hand, name)
    f = by_hand.Plain(problem)

    def statistics(x):
        x = x.reshape(-1, x.shape[-1])
        return np.array([*x[0], np.mean(np.sum(x**2, axis=-1))])

    exact, outcomes = expectation(lambda draw: statistics(hand(f, parameters, start, rounds, draw)))
    assert outcomes > 1
    one = noisy if name == "noisy" else getattr(algorithms, name)
    final = simulate(one, problem, parameters, start, rounds, runs, seed=20).final["x"]
    values = np.array([statistics(x) for x in final])
    error = values.std(axis=0, ddof=1) / np.sqrt(runs)
    assert np.all(np.abs(values.mean(axis=0) - exact) <= ERRORS * error + 1e-12), (values.mean(axis=0), exact, error)
    assert np.max(error) > 1e-5


# --- the law of every draw --------------------------------------------------------------------------------------------


def drawn(function, problem, parameters, runs=40_000, seed=9):
    """What a one-round program draws: by operation, the values of all runs, the runs first."""
    found: dict[str, np.ndarray] = {}

    def watch(k, op, value):
        value = (value.index if isinstance(value, Sample) else value).numpy()
        assert op not in found
        found[op] = np.moveaxis(value, -1, 0)[:runs]

    simulate(function, problem, parameters, np.ones(problem.dim), 1, runs, seed, chunk=runs, watch=watch)
    return found


def uniform(outcomes, possible):
    """Whether outcomes are uniform on what is possible, by chi-square at 1e-6."""
    index = {one: i for i, one in enumerate(possible)}
    count = np.bincount([index[one] for one in outcomes], minlength=len(index))
    expected = len(outcomes) / len(index)
    assert np.sum((count - expected) ** 2) / expected <= chi2.isf(CHI2_LEVEL, len(index) - 1)


def test_the_clients_chosen_are_uniform():
    @algorithm
    def without(w, x, *, S):
        return x + w.average(w.gradient(x), w.choose(S))

    @algorithm
    def with_(w, x, *, S):
        return x + w.average(w.gradient(x), w.choose(S, replace=True))

    problem = quadratics(5, 1, 2, 0)
    found = drawn(without, problem, {"S": 2})["choose"][:, :, 0]
    uniform([tuple(np.flatnonzero(row)) for row in found], list(combinations(range(5), 2)))
    found = drawn(with_, problem, {"S": 3})["choose"][:, :, 0]
    assert np.all(found.sum(axis=1) == 3)
    counts, chances = np.unique(found, axis=0, return_counts=True)
    ways = np.array([6 / np.prod([max(1, c) * max(1, c - 1) for c in row]) for row in counts]) / 125
    expected = ways * len(found)
    assert len(counts) == 35
    assert np.sum((chances - expected) ** 2 / expected) <= chi2.isf(CHI2_LEVEL, 34)


def test_coins_have_their_chances_and_are_independent():
    @algorithm
    def tossed(w, x, *, p, q):
        return w.where(w.coin(q), x, x + w.average(w.gradient(x), w.coins(p)))

    p, q = np.array([0.2, 0.5, 1.0]), 0.3
    found = drawn(tossed, quadratics(3, 1, 2, 0), {"p": p, "q": q})
    rows = np.concatenate([found["coins"][:, :, 0], found["coin"][:, :, 0]], axis=1)
    values, counts = np.unique(rows, axis=0, return_counts=True)
    chances = np.array([*p, q])
    expected = np.prod(np.where(values == 1, chances, 1 - chances), axis=1) * len(rows)
    assert len(values) == 8  # the third always falls on 1
    assert np.sum((counts - expected) ** 2 / expected) <= chi2.isf(CHI2_LEVEL, 7)


def test_samples_are_uniform():
    @algorithm
    def with_(w, x, *, b):
        return x - w.mean(w.gradient(x, w.sample(b)))

    @algorithm
    def without(w, x, *, b):
        return x - w.mean(w.gradient(x, w.sample(b, replace=False)))

    problem = quadratics(2, 5, 2, 0, np.array([5, 3]))
    found = drawn(with_, problem, {"b": 2})["sample"]  # (runs, b, N)
    pairs = [(i, j) for i in range(5) for j in range(5)]
    uniform(list(map(tuple, found[:, :, 0])), pairs)
    uniform(list(map(tuple, found[:, 0])), [(i, j) for i in range(5) for j in range(3)])
    found = drawn(without, problem, {"b": 2})["sample"]
    uniform([tuple(sorted(row)) for row in found[:, :, 0]], list(combinations(range(5), 2)))
    uniform([tuple(sorted(row)) for row in found[:, :, 1]], list(combinations(range(3), 2)))


def test_orders_are_uniform():
    problem = quadratics(4, 4, 2, 0, np.array([4, 3, 4, 2]))
    found = drawn(algorithms.reshuffled_clients, problem, {"eta": 0.1})["visit"]
    uniform(list(map(tuple, found)), list(permutations(range(4))))
    found = drawn(algorithms.random_reshuffling, problem, {"eta": 0.1})["pass"]  # (runs, n, N)
    for n, count in enumerate([4, 3, 4, 2]):
        uniform([tuple(row) for row in found[:, :count, n]], list(permutations(range(count))))
    uniform(list(zip(map(tuple, found[:, :3, 1]), map(tuple, found[:, :2, 3]), strict=True)),
            [(a, b) for a in permutations(range(3)) for b in permutations(range(2))])  # fmt: skip


def test_what_is_kept_is_uniform_and_unbiased():
    @algorithm(x="x0", y="each 0")
    def kept(w, x, y, *, m):
        return x, w.keep(w.gradient(x), m)

    problem = quadratics(2, 1, 4, 0)
    found = drawn(kept, problem, {"m": 2})["keep"]  # (runs, N, d)
    gradient = problem.client_gradient(np.ones(4))
    masks = found != 0
    assert np.array_equal(found, np.where(masks, 2 * gradient, 0))
    subsets = list(combinations(range(4), 2))
    both = [(tuple(np.flatnonzero(a)), tuple(np.flatnonzero(b))) for a, b in masks]
    uniform(both, [(a, b) for a in subsets for b in subsets])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - gradient) <= 5.7 * error)  # eight means, 1e-7 together


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_noise_has_its_mean_and_variance(dim):
    @algorithm(x="x0", y="each 0")
    def shaken(w, x, y, *, s):
        return x, w.noise(s)

    s, runs = np.array([0.5, 2.0]), 40_000
    found = drawn(shaken, quadratics(2, 1, dim, 0), {"s": s}, runs)["noise"]  # (runs, N, d)
    flat = (found / np.sqrt(s / dim)[:, None]).reshape(runs, -1)
    entries = flat.shape[1]
    level = 6.5  # at most 65 moments, each missed with chance 8e-11
    assert np.all(np.abs(flat.mean(axis=0)) <= level / np.sqrt(runs))
    covariance = flat.T @ flat / runs
    error = np.sqrt(1 + np.eye(entries)) / np.sqrt(runs)
    assert np.all(np.abs(covariance - np.eye(entries)) <= level * error)
    assert np.all(np.abs((flat**4).mean(axis=0) - 3) <= level * np.sqrt(96 / runs))
    norm2 = (found**2).sum(axis=2)
    assert np.all(np.abs(norm2.mean(axis=0) - s) <= level * norm2.std(axis=0) / np.sqrt(runs))


def test_rounds_turns_and_instructions_draw_anew():
    @algorithm
    def twice(w, x, *, H):
        for _ in w.repeat(H):
            x = x + w.mean(w.noise(1)) + w.mean(w.noise(1))
        return x

    found = []
    simulate(
        twice, quadratics(2, 1, 2, 0), {"H": 3}, None, 4, 50, watch=lambda k, op, v: found.append(v[..., :50].numpy())
    )
    assert len(found) == 24
    assert len(np.unique(np.concatenate([v.ravel() for v in found]))) == 24 * 2 * 2 * 50


def test_importing_loads_no_torch():
    code = "import sys; import sim.simulate, sim.problems.torch_loss; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# --- what is refused --------------------------------------------------------------------------------------------------


@algorithm
def asked(w, x, *, H=1, S=1, b=1, m=1, p=0.5, t=1.0):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - w.gradient(y, w.sample(b, replace=False)) + w.keep(y, m) + w.top(y, m)
    y = w.where(w.coin(p), y, w.prox(y, t))
    return w.average(y, w.choose(S)) + w.average(y, w.coins(p))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"H": 1.5}, "H=1.5 is outside the integers"), ({"H": 0}, "H=0.0 is outside the integers"),
        ({"S": 4}, r"S=4 is outside \[1, N=3\]"), ({"S": 0}, "S=0.0 is outside the integers"),
        ({"b": 2}, "b=2 samples without replacement"), ({"m": 3}, r"m=3 is outside \[1, d=2\]"),
        ({"p": 0}, r"p=0 is outside \(0, 1\]"), ({"p": 1.01}, r"p=1.01 is outside \(0, 1\]"),
        ({"t": 0}, r"prox: t=0 is outside"), ({"q": 1}, "'q', which the program does not use"),
        ({"H": float("nan")}, "H=nan is outside"), ({"S": [1, 2]}, "S has shape"),
        ({"p_n": [0.1, 0.2]}, "p_n has shape"), ({"p": 0.1, "p_n": [0.1, 0.2, 0.3]}, "p is given twice"),
        ({"t": {"n": [1]}}, "nor a schedule"), ({"t": {"k": [1, 2]}}, "t has shape"),
        ({"H_n": [1, 2, 3]}, "H=a draw, or one number a client is outside the integers"),
    ],
)  # fmt: skip
def test_parameters_without_an_instance_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        simulate(asked, quadratics(3, 3, 2, 0, RAGGED), parameters, rounds=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 0}, "rounds=0"), ({"runs": 0}, "runs=0"), ({"seed": -1}, "seed=-1"), ({"chunk": 0}, "chunk=0"),
        ({"first_run": 2**32}, "first_run"), ({"start": [1.0]}, "start has shape"),
        ({"start": [[1.0, 2.0]] * 2}, "start has shape"),
        ({"record": (4,)}, "record"), ({"taps": ("z",)}, "taps has 'z'"), ({"threads": 0}, "threads=0"),
        ({"problem": 3}, "problem=3"), ({"program": 3}, "program=3"), ({"device": "tpu"}, "device"),
        ({"parameters": {}}, "parameters has no 'eta'"), ({"memory": 0}, "memory=0"),
        ({"measure": lambda moment: {"x": torch.ones(2)}}, "its first axis is not 3 runs"),
        ({"watch": lambda *_: None, "chunk": 1}, "watch sees one chunk"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(changes, message):
    arguments = {
        "program": algorithms.gradient_descent, "problem": quadratics(2, 1, 2, 0), "parameters": {"eta": 0.1},
        "rounds": 3, "runs": 3, **changes,
    }  # fmt: skip
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)


def test_other_refusals():
    problem = quadratics(2, 1, 2, 0)
    done = simulate(algorithms.gradient_descent, problem, {"eta": 0.1})
    with pytest.raises(ValueError, match="another program"):
        simulate(algorithms.sgd, problem, {"eta": 0.1}, resume=done)
    indefinite = Quadratic(-np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1)), np.zeros((1, 1)), np.ones(1, dtype=int))
    with pytest.raises(ValueError, match="too large"):
        simulate(algorithms.fedprox, indefinite, {"mu": 0.5, "S": 1})

    @algorithm(x="norm(x0)*x0")
    def odd(w, x):
        return x

    with pytest.raises(ValueError, match="which is no vector formula"):
        simulate(odd, problem, {})
    with pytest.raises(ValueError, match="data is empty"):
        TorchLoss(lambda x, a: x.sum(), [], 2)
    with pytest.raises(ValueError, match="other shapes"):
        TorchLoss(lambda x, a: x.sum(), [np.ones((1, 2)), np.ones((1, 3))], 2)
