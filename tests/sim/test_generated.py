"""Generated C++ gives what torch gives, with the same draws; and the same bits in any batch and on any threads."""

import numpy as np
import pytest

from sim.native import build
from sim.simulate import simulate
from tests.sim.test_simulate_programs import MANY, quadratics, squares
from theory.papers import algorithms
from theory.papers.perm import shuffling_local_sgd
from theory.program import algorithm

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="there is no C++ compiler")

W = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
CHANCES = [0.5, 0.7, 1.0]
METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")
SCHEDULE = {"k": [0.1, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03]}


@algorithm(x="x0", z="x0")
def ones_own_draws(w, x, z, *, eta, b, q, m, sigma2, radius, tau, p):
    """Batches with and without replacement, noise, compression, a coin, numbers of vectors, a loop in a loop."""
    y = w.each(x)
    for h in w.repeat(3):
        g = w.gradient(y, w.sample(b)) + w.gradient(y, w.sample(2, replace=False)) + w.noise(sigma2)
        for _ in w.repeat(2):
            y = y - w.before(h, tau) * eta / tau * w.keep(g, m) + w.noise(sigma2 / 9)
        y = y - eta * w.clip(w.top(w.gradient(y), m), radius)
    heads = w.coin(q)
    size = 1 / (1 + w.norm(x))
    new = w.where(heads, w.mean(y), x - eta * size * w.full_gradient(x))
    return new, w.keep(x, m) - w.sum(w.coins(p) * (y - x)) / 9


@algorithm
def steps_of_the_server(w, x, *, eta, H, S):
    """A loop whose turns meet at the server, with draws in every turn."""
    y, last = x, x
    for _ in w.repeat(H):
        active = w.choose(S)
        g = w.average(w.gradient(y, w.sample()) - w.gradient(x, w.sample()), active)
        y, last = y - eta * (g + w.full_gradient(last)), y
    return y


@algorithm
def shorter_steps(w, x, *, eta, H):
    """Steps whose lengths depend on the turn of a loop whose turns meet at the server."""
    for h in w.repeat(H):
        x = x - eta / (1 + h) * w.mean(w.gradient(x, w.sample()) + h * w.gradient(x))
    return x


@algorithm(x="x0", c="each grad(f_n, x0) - grad(f, x0)", y="0")
def one_after_another(w, x, c, y, *, eta, H, b, p, sigma2, m):
    """Clients in random order, twice a round, with their own numbers, batches, noise and what they remember."""
    for _ in w.repeat(2):

        def turn(v, one):
            for _ in one.repeat(H):
                v = v - eta * p * (one.gradient(v, one.sample(b)) - c) + one.noise(sigma2)
            return v - eta * (one.gradient(v) - one.gradient(v, one.sample()) + one.full_gradient(y)) / 9

        x = w.keep(w.visit(x, turn), m)
    return x, c + eta * (w.gradient(x) - w.gradient(y)) / 9, x


CASES = [
    *MANY,
    (algorithms.gradient_descent, {"eta": 0.1}),
    (algorithms.reshuffled_clients, {"eta": 0.1}),
    (algorithms.heavy_ball, {"alpha": 0.1, "beta": 0.5}),
    (algorithms.nesterov, {"eta": 0.1, "beta": SCHEDULE}),
    (algorithms.sgd, {"eta": SCHEDULE, "b": 3}),
    (algorithms.clipped_sgd, {"eta": 0.1, "radius": 0.3}),
    (algorithms.svrg, {"eta": 0.1, "H": 4}),
    (algorithms.lsvrg, {"eta": 0.1, "p": 0.4}),
    (algorithms.local_sgd, {"eta": 0.1, "H": 3}),
    (algorithms.fedavg, {"eta": 0.1, "H": 3, "S": 2}),
    (algorithms.fedavg_with_replacement, {"eta": 0.1, "H": 3, "S": 2}),
    (algorithms.fedavg_coins, {"eta": 0.1, "H": 3, "p": [0.2, 0.3, 0.4]}),
    (algorithms.fedprox, {"mu": 0.7, "S": 2}),
    (algorithms.fedlin, {"eta": 0.1, "H": 4, "tau": [1, 2, 4]}),
    (algorithms.fedadam, {"eta": 0.1, "eta_g": 0.1, "beta1": 0.5, "beta2": 0.9, "tau": 0.1, "H": 3, "S": 2}),
    (algorithms.proxskip, {"gamma": 0.1, "p": 0.4}),
    (algorithms.ef21, {"eta": 0.1, "m": 1}),
    (algorithms.dgd, {"eta": 0.1, "W": W}),
    (algorithms.gradient_tracking, {"eta": 0.05, "W": W}),
    (algorithms.fedavg_svrg, {"delta": SCHEDULE, "p": {"k": [CHANCES] * 7}, "S": 1, "M": 1}),
    (ones_own_draws, {"eta": 0.1, "b": 3, "q": 0.5, "m": 2, "sigma2": 0.1, "radius": 0.5, "tau": [1, 2, 3], "p": 0.6}),
    (steps_of_the_server, {"eta": 0.1, "H": 3, "S": 2}),
    (shorter_steps, {"eta": 0.1, "H": 3}),
    (one_after_another, {"eta": 0.1, "H": 2, "b": 3, "p": CHANCES, "sigma2": 0.01, "m": 2}),
    (shuffling_local_sgd, {"eta": SCHEDULE, "H": 3}),
]
IDS = [f"{one.name}-{j}" for j, (one, _) in enumerate(CASES)]
PROBLEMS = {"quadratic": quadratics(3, 3, 3, 1, np.array([3, 2, 2])), "least squares": squares(3, 4, 3, 1)}
TORCH_ALONE = {"all_draws"}


@pytest.mark.parametrize(("one", "parameters"), CASES, ids=IDS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_as_in_torch_and_the_same_in_any_batch(one, parameters, kind):
    shared = (one, PROBLEMS[kind], parameters, [1.0, -1.0, 0.5], 6, 60, 5)
    options = {"metrics": METRICS, "record": (6, 0, 3)}
    if one.name in TORCH_ALONE:
        with pytest.raises(ValueError, match="backend='native'"):
            simulate(*shared, backend="native")
        return
    slow, fast = simulate(*shared, backend="torch", **options), simulate(*shared, backend="native", **options)
    for mine, theirs in ((fast.final, slow.final), (fast.states, slow.states), (fast.values, slow.values)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert mine[name].shape == theirs[name].shape
            np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, atol=1e-9)
    narrow = simulate(*shared, backend="native", chunk=17, threads=2, **options)
    part = simulate(*shared[:5], 9, 5, first_run=40, backend="native", **options)
    first = simulate(*shared[:4], 2, 60, 5, backend="native")
    resumed = simulate(*shared[:3], rounds=4, resume=first, backend="native", metrics=METRICS)
    for name, value in fast.final.items():
        assert np.array_equal(value, narrow.final[name])
        assert np.array_equal(value[40:49], part.final[name])
        assert np.array_equal(value, resumed.final[name])
    for name, value in fast.values.items():
        assert np.array_equal(value, narrow.values[name])
        assert np.array_equal(value[40:49], part.values[name])
        assert np.array_equal(value[:, 2:], resumed.values[name])


@pytest.mark.parametrize("backend", ["torch", "native"])
@pytest.mark.parametrize("bad", ["cost", ("cost", "costs")])
def test_metrics_that_are_none_are_named(backend, bad):
    with pytest.raises(ValueError, match="metrics"):
        simulate(algorithms.gradient_descent, PROBLEMS["quadratic"], {"eta": 0.1}, metrics=bad, backend=backend)


@algorithm
def batches(w, x, *, eta, b):
    """Batches without replacement."""
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


def test_batches_without_replacement_of_every_size():
    problem = squares(2, 21, 2, 3)
    for b in range(1, 22):
        shared = (batches, problem, {"eta": 0.1, "b": b}, [1.0, -1.0], 3, 20, 5)
        slow, fast = (simulate(*shared, backend=name).final["x"] for name in ("torch", "native"))
        np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)
