"""Shuffling local SGD in the simulator, against the algorithm written out in plain Python."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sim.algorithms import FedAvg, ShufflingSGD
from sim.kernels.pointwise import PointwiseQuadratic, pointwise
from sim.problems.generators import quadratic
from sim.projections import Ball
from sim.shuffling import run_shuffling
from sim.streams import PERMUTATION, Streams
from tests.sim._plain import pick, word

SEED = 2**40 + 7


def problem(clients: int = 3, dim: int = 2, samples: int = 3, seed: int = 0) -> Any:
    spread = 0.5 if samples > 1 else 0.0
    return quadratic(clients, dim, 0.2, 1.0, 1.0, seed=seed, samples=samples, sample_spread=spread)


# the algorithms, one run at a time


def order_of(seed: int, number: int, epoch: int, clients: int) -> list[int]:
    words = [word(seed, number, 0, epoch, PERMUTATION, c) for c in range(clients)]
    return sorted(range(clients), key=lambda c: (words[c], c))


def into(ball: Ball | None, x: np.ndarray) -> np.ndarray:
    if ball is None:
        return x
    away = x - ball.centre
    norm = float(np.linalg.norm(away))
    return x if norm <= ball.radius else ball.centre + away * ball.radius / norm


def sampled(p: Any, c: int, i: int, x: np.ndarray) -> np.ndarray:
    return p.hessian[c, i] @ x - p.linear[c, i]


def plain_epoch(p: Any, number: int, epoch: int, step: float, k: int, models: Any, weights: Any, ball: Any) -> Any:
    """Algorithm 1, one epoch, model after model."""
    order = order_of(SEED, number, epoch, p.clients)
    out = []
    for i, v in enumerate(models):
        for j in range(p.clients):
            c = order[(i + j) % p.clients]
            for m in range(k):
                sample = pick(SEED, number, c, epoch, j * k + m, int(p.counts[c]))
                v = v - step * weights[i][c] * p.clients * sampled(p, c, sample, v)
        out.append(into(ball, v))
    return out


BALLS = [None, Ball(0.7, [0.1, -0.2])]


@pytest.mark.parametrize("ball", BALLS)
@pytest.mark.parametrize("samples", [1, 3])
def test_shuffling_is_algorithm_1_and_4(samples: int, ball: Ball | None) -> None:
    p, start, step = problem(samples=samples), np.array([1.0, -0.5]), (0.3, 0.2, 0.1)
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.9, 0.0]])
    algorithm = ShufflingSGD(step, 2, weights)
    names = ("iterate", "squared_gradient_norm", "cost", "squared_distance", "squared_iterate_norm")
    trace = run_shuffling(
        algorithm, p, epochs=3, runs=4, seed=SEED, start=start, ball=ball, metrics=names, reference=[0.3, 0.4]
    )
    one = run_shuffling(
        ShufflingSGD(step, 2, weights[0]), p, epochs=3, runs=4, seed=SEED, start=start, ball=ball, metrics=names[:1]
    )
    assert np.array_equal(one["iterate"], trace["iterate"][:, :, 0])
    assert np.array_equal(one.final, trace.final[:, 0])
    assert trace.final.shape == (4, 2, 2)
    for number in range(4):
        models = [start, start]
        for r in range(4):
            for i, v in enumerate(models):
                np.testing.assert_allclose(trace["iterate"][number, r, i], v, rtol=1e-12, atol=1e-13)
                slope = weights[i] @ p.client_gradient(v)
                expected = (slope @ slope, weights[i] @ p.client_cost(v), np.sum((v - [0.3, 0.4]) ** 2), v @ v)
                for name, value in zip(names[1:5], expected, strict=True):
                    np.testing.assert_allclose(trace[name][number, r, i], value, rtol=1e-11, atol=1e-13)
            if r < 3:
                models = plain_epoch(p, number, r, step[r], 2, models, weights, ball)
        np.testing.assert_allclose(trace.final[number], models, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["one", "several"])
@pytest.mark.parametrize("make", [lambda: problem(4, 9, 3), lambda: problem(4, 1, 1)])
def test_a_run_is_the_same_in_every_batch(kind: str, make: Any) -> None:
    p = make()
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=3)
    algorithm: Any = {
        "one": ShufflingSGD(0.2, 2, weights[0]),
        "several": ShufflingSGD(0.2, 2, weights),
    }[kind]
    names = ("iterate", "squared_gradient_norm", "cost")
    options: dict[str, Any] = {"epochs": 3, "seed": 5, "metrics": names, "ball": Ball(1.0)}
    together = run_shuffling(algorithm, p, runs=9, **options)
    told: list[tuple[int, int]] = []
    for chunk in (1, 4):
        apart = run_shuffling(
            algorithm, p, runs=6, first_run=3, chunk=chunk, progress=lambda *a: told.append(a), **options
        )
        assert apart.first_run == 3
        assert np.array_equal(apart.final, together.final[3:])
        for name in names:
            assert np.array_equal(apart[name], together[name][3:]), name
    assert told[:6] == [(3 * i, 18) for i in range(1, 7)]
    assert told[6:] == [(12, 18), (18, 18)]


# orders


def test_every_order_comes_equally_often() -> None:
    """24 orders, 24,000 draws: chi^2 of 23 degrees of freedom; above 85 it has probability 5e-9."""
    orders = Streams(11, np.arange(2000)).permutations(4, range(12)).numpy()
    assert orders.shape == (12, 4, 2000)
    assert np.all(np.sort(orders, axis=1) == np.arange(4)[None, :, None])
    codes = np.tensordot(4 ** np.arange(4), orders, axes=(0, 1)).ravel()
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == 24
    assert np.sum((counts - 1000) ** 2) / 1000 < 85


def test_orders_are_the_arguments_that_sort_the_draws() -> None:
    found = Streams(SEED, np.array([3, 8])).permutations(6, range(2, 4)).numpy()
    for (t, epoch), (r, number) in itertools.product(enumerate((2, 3)), enumerate((3, 8))):
        assert found[t, :, r].tolist() == order_of(SEED, number, epoch, 6)


# projections


@settings(deadline=None, max_examples=60)
@given(arrays(np.float64, (4, 2), elements=st.floats(-3, 3)), st.floats(0.1, 2))
def test_the_projection_onto_a_ball(x: np.ndarray, radius: float) -> None:
    ball = Ball(radius, [0.5, -1.0])
    found = ball.project(x)
    away, norms = x - ball.centre, np.linalg.norm(x - ball.centre, axis=-1)
    assert np.all(np.linalg.norm(found - ball.centre, axis=-1) <= radius * (1 + 1e-12))
    inside = norms <= radius * (1 - 1e-12)
    assert np.array_equal(found[inside], x[inside])
    gap = np.linalg.norm(x - found, axis=-1)
    np.testing.assert_allclose(gap, np.maximum(norms - radius, 0), atol=1e-12)
    # on the segment to the centre
    np.testing.assert_allclose(
        (found - ball.centre) * norms[:, None], away * np.minimum(norms, radius)[:, None], atol=1e-9
    )


# problems


def test_gradients_at_points_of_ones_own() -> None:
    p = problem()
    there = pointwise(p)
    assert isinstance(there, PointwiseQuadratic)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 2, p.dim))
    client = rng.integers(0, 3, size=(4, 2))
    full, cost = there.gradient(client, x), there.cost(client, x)
    for index in np.ndindex(4, 2):
        c, point = client[index], x[index]
        np.testing.assert_allclose(full[index], p.client_gradient(point)[c], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(cost[index], p.client_cost(point)[c], rtol=1e-10)
    every = [there.sample_gradient(client, np.full((4, 2), i), x) for i in range(int(there.counts[0]))]
    np.testing.assert_allclose(np.mean(every, axis=0), full, rtol=1e-10, atol=1e-12)
    # one client for all points, and all clients for one point
    assert np.array_equal(there.gradient(np.array(1), x)[2, 1], there.gradient(np.array([1]), x[2, 1][None])[0])
    assert there.gradient(np.arange(3), x[:, :1]).shape == (4, 3, p.dim)


def test_a_problem_may_bring_its_own_gradients() -> None:
    class Wrapped:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def pointwise(self) -> Any:
            return PointwiseQuadratic(self.inner)

    algorithm = ShufflingSGD(0.2, 2, (0.5, 0.25, 0.25))
    own = run_shuffling(algorithm, Wrapped(problem()), epochs=2, runs=3)
    assert np.array_equal(own.final, run_shuffling(algorithm, problem(), epochs=2, runs=3).final)


# arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"runs": 0}, "runs=0"),
        ({"seed": -1}, "seed"),
        ({"first_run": 2**32}, "first_run"),
        ({"start": [1.0]}, "start has shape"),
        ({"metrics": "cost"}, "not a sequence"),
        ({"metrics": ("suboptimality",)}, "suboptimality"),
        ({"metrics": ("squared_distance",)}, "reference"),
        ({"reference": [1.0], "metrics": ("squared_distance",)}, "reference has shape"),
        ({"chunk": 0}, "chunk"),
        ({"algorithm": FedAvg(0.1, 1)}, "ShufflingSGD"),
        ({"algorithm": ShufflingSGD(0.1, 1, (1.0, 0.0))}, "not N=3"),
        ({"algorithm": ShufflingSGD((0.1,), 1, (1.0, 0.0, 0.0))}, "schedule"),
        ({"problem": 3}, "pointwise"),
    ],
)
def test_arguments_outside_their_domain(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "algorithm": ShufflingSGD(0.1, 1, (1.0, 0.0, 0.0)),
        "problem": problem(),
        "epochs": 2,
        "runs": 2,
        **changes,
    }
    with pytest.raises(ValueError, match=message):
        run_shuffling(arguments.pop("algorithm"), arguments.pop("problem"), **arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball(0.0), "radius"),
        (lambda: Ball(1.0, [[1.0]]), "centre"),
        (lambda: ShufflingSGD(-0.1, 1, (1.0,)), "step"),
        (lambda: ShufflingSGD(0.1, 0, (1.0,)), "local_steps"),
        (lambda: ShufflingSGD(0.1, 1, (-1.0,)), "weights"),
    ],
)
def test_parts_that_are_none(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
