"""The personalised baselines of the simulator, against the algorithms written out in plain Python, and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg, LocalisedFedAvg, LocalTraining, PerFedAvg, PFedMe
from sim.engine import run
from sim.kernels.curvature import curvature
from sim.kernels.pointwise import pointwise
from sim.personalised import run_personalised
from sim.problems.generators import quadratic
from sim.problems.logistic import RidgeLogistic
from sim.streams import PERSONALISED, SAMPLING
from tests.sim._plain import word

SEED = 2**40 + 9
START = np.array([1.0, -0.5])


def problem(clients: int = 3, dim: int = 2, samples: int = 3, seed: int = 0) -> Any:
    return quadratic(clients, dim, 0.2, 1.0, 1.0, seed=seed, samples=samples, sample_spread=0.5 if samples > 1 else 0.0)


def logistic(clients: int = 3, samples: int = 5, dim: int = 2, seed: int = 1) -> RidgeLogistic:
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((clients, samples)) < 0.5, -1.0, 1.0)
    return RidgeLogistic(rng.normal(size=(clients, samples, dim)), labels, 0.1)


# the algorithms, one client and one run at a time


class Plain:
    """One client's stochastic gradients and Hessians, from the functions' definitions."""

    def __init__(self, p: Any, c: int, batch: int | None, number: int) -> None:
        self.p, self.c, self.batch, self.number = p, c, batch, number
        self.count = p.samples if isinstance(p, RidgeLogistic) else int(p.counts[c])

    def minibatch(self, purpose: int, r: int, m: int) -> list[int]:
        if self.batch is None:
            return list(range(self.count))
        draws = range(m * self.batch, (m + 1) * self.batch)
        return [(word(SEED, self.number, self.c, r, purpose, j) * self.count) >> 32 for j in draws]

    def gradient(self, picked: list[int], x: np.ndarray) -> np.ndarray:
        return np.mean([self._one(i, x)[0] for i in picked], axis=0)

    def hessian(self, picked: list[int], x: np.ndarray) -> np.ndarray:
        return np.mean([self._one(i, x)[1] for i in picked], axis=0)

    def _one(self, i: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, c = self.p, self.c
        if isinstance(p, RidgeLogistic):
            a, y = p.features[c, i], p.labels[c, i]
            s = 1 / (1 + np.exp(-y * (a @ x)))
            return p.ridge * x - y * (1 - s) * a, p.ridge * np.eye(p.dim) + s * (1 - s) * np.outer(a, a)
        return p.hessian[c, i] @ x - p.linear[c, i], p.hessian[c, i]


def plain_local(a: Any, client: Plain, r: int, w: np.ndarray) -> np.ndarray:
    K, u = a.local_steps, w
    step = a.step[r] if isinstance(a.step, tuple) else a.step
    for m in range(K):
        picked = client.minibatch(SAMPLING, r, m)
        if isinstance(a, PFedMe):
            t = u
            for _ in range(a.inner_steps):
                t = t - a.inner_step * (client.gradient(picked, t) + a.penalty * (t - u))
            u = u - step * a.penalty * (u - t)
        elif isinstance(a, PerFedAvg):
            inner = u - a.inner_step * client.gradient(client.minibatch(SAMPLING, r, K + m), u)
            g = client.gradient(picked, inner)
            if a.order == 2:
                H = client.hessian(client.minibatch(SAMPLING, r, 2 * K + m), u)
                g = (np.eye(len(u)) - a.inner_step * H) @ g
            u = u - step * g
        else:
            u = u - step * client.gradient(picked, u)
    return u


def plain_personal(a: Any, client: Plain, r: int, w: np.ndarray) -> np.ndarray:
    v = w
    for m in range(getattr(a, "tuning_steps", 0)):
        g = client.gradient(client.minibatch(PERSONALISED, r, m), v)
        if isinstance(a, PFedMe):
            v = v - a.inner_step * (g + a.penalty * (v - w))
        else:
            v = v - (a.inner_step if isinstance(a, PerFedAvg) else a.tuning_step) * g
    return v


def algorithms(batch: int | None, step: Any = 0.2) -> dict[str, Any]:
    return {
        "local": LocalTraining(step, 3, batch),
        "fedavg": LocalisedFedAvg(step, 3, 0.1, 2, batch),
        "first-order": PerFedAvg(step, 2, 0.3, 1, 2, batch),
        "second-order": PerFedAvg(step, 2, 0.3, 2, 1, batch),
        "pfedme": PFedMe(step, 2, 2.0, 0.15, 3, 2, 0.8, batch),
    }


@pytest.mark.parametrize("kind", list(algorithms(1)))
@pytest.mark.parametrize("batch", [1, 2, None])
@pytest.mark.parametrize("make", [problem, logistic])
def test_against_plain_code(kind: str, batch: int | None, make: Any) -> None:
    p, rounds, a = make(), 3, algorithms(batch, (0.3, 0.2, 0.1))[kind]
    names = ("iterate", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")
    aim = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    trace = run_personalised(a, p, rounds=rounds, runs=2, seed=SEED, start=START, metrics=names, reference=aim)
    assert trace.final.shape == (2, 3, 2)
    assert np.array_equal(trace.final, trace["iterate"][:, -1])
    for number in range(2):
        clients = [Plain(p, c, batch, number) for c in range(3)]
        everything = list(range(clients[0].count))
        at = [START] * 3
        for r in range(rounds + 1):
            for c, client in enumerate(clients):
                v = plain_personal(a, client, r, at[c])
                np.testing.assert_allclose(trace["iterate"][number, r, c], v, rtol=1e-10, atol=1e-12)
                g = client.gradient(everything, v)
                expected = (_value(p, c, v), g @ g, np.sum((v - aim[c]) ** 2), v @ v)
                for name, value in zip(names[1:], expected, strict=True):
                    np.testing.assert_allclose(trace[name][number, r, c], value, rtol=1e-9, atol=1e-12)
            if r < rounds:
                moved = [plain_local(a, client, r, at[c]) for c, client in enumerate(clients)]
                mean = np.mean(moved, axis=0)
                if kind == "pfedme":
                    mean = 0.2 * at[0] + 0.8 * mean
                at = moved if kind == "local" else [mean] * 3


def _value(p: Any, c: int, v: np.ndarray) -> float:
    if isinstance(p, RidgeLogistic):
        return p.ridge / 2 * (v @ v) + float(np.mean(np.log1p(np.exp(-p.labels[c] * (p.features[c] @ v)))))
    return float(p.client_cost(v)[c])


# reductions


def fedavg(p: Any, **changes: Any) -> np.ndarray:
    """(R, T+1, d): the server's models of plain FedAvg."""
    a = LocalisedFedAvg(0.2, 3, 0.1, 0, **changes)
    return run_personalised(a, p, rounds=4, runs=3, seed=SEED, start=START, metrics=("global_iterate",))[
        "global_iterate"
    ]


def test_without_tuning_localised_fedavg_is_fedavg() -> None:
    p = problem()
    from sim.participation import Bernoulli

    engine = run(
        FedAvg(0.2, 3), p, Bernoulli(np.ones(3)), rounds=4, runs=3, seed=SEED, start=START, metrics=("iterate",)
    )
    np.testing.assert_allclose(fedavg(p), engine["iterate"], rtol=1e-11, atol=1e-13)
    trace = run_personalised(
        LocalisedFedAvg(0.2, 3, 0.1, 0), p, rounds=4, runs=3, seed=SEED, start=START, metrics=("iterate",)
    )
    assert np.array_equal(trace["iterate"], np.repeat(fedavg(p)[:, :, None], 3, axis=2))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("make", [problem, logistic])
def test_per_fedavg_with_inner_step_0_is_fedavg(order: int, make: Any) -> None:
    p = make()
    trace = run_personalised(
        PerFedAvg(0.2, 3, 0, order, 5),
        p,
        rounds=4,
        runs=3,
        seed=SEED,
        start=START,
        metrics=("global_iterate", "iterate"),
    )
    assert np.array_equal(trace["global_iterate"], fedavg(p))
    assert np.array_equal(trace["iterate"][:, :, 1], fedavg(p))


@pytest.mark.parametrize("make", [problem, logistic])
def test_pfedme_with_a_large_penalty_is_fedavg(make: Any) -> None:
    """One inner step of 1/penalty gives t = u - g/penalty: the local step is FedAvg's. The clients' models are near."""
    p, penalty = make(), 2.0**20
    a = PFedMe(0.2, 3, penalty, 1 / penalty, 1, 3)
    trace = run_personalised(
        a, p, rounds=4, runs=3, seed=SEED, start=START, metrics=("global_iterate", "squared_distance"), reference=[0, 0]
    )
    np.testing.assert_allclose(trace["global_iterate"], fedavg(p), rtol=1e-8, atol=1e-9)
    exact = PFedMe(0.2, 3, penalty, 0.5 / penalty, 40, 40)  # the inner problem solved: the envelope's gradient
    close = run_personalised(exact, p, rounds=4, runs=3, seed=SEED, start=START, metrics=("global_iterate", "iterate"))
    np.testing.assert_allclose(close["global_iterate"], fedavg(p), atol=1e-4)
    np.testing.assert_allclose(close["iterate"], np.repeat(close["global_iterate"][:, :, None], 3, axis=2), atol=1e-4)


def test_pfedme_reaches_the_minimum_of_the_envelopes() -> None:
    """Quadratics with full gradients, one local step: the server's model solves a linear system."""
    p, penalty = problem(samples=1), 0.7
    a = PFedMe(0.5, 1, penalty, 0.5, 200, 200, batch=None)
    trace = run_personalised(a, p, rounds=400, runs=1, metrics=("global_iterate",), every=400)
    H, b = p.client_hessian, p.client_linear
    inverse = np.linalg.inv(H + penalty * np.eye(2))
    # t_i = (H_i + penalty)^-1 (b_i + penalty w); sum_i (w - t_i) = 0
    w = np.linalg.solve(np.sum(np.eye(2) - penalty * inverse, axis=0), np.sum(inverse @ b[:, :, None], axis=0)[:, 0])
    np.testing.assert_allclose(trace["global_iterate"][0, -1], w, atol=1e-9)
    near = np.array([inverse[c] @ (b[c] + penalty * w) for c in range(3)])
    np.testing.assert_allclose(trace.final[0], near, atol=1e-9)


def test_second_order_per_fedavg_reaches_a_stationary_point_of_its_objective() -> None:
    """sum_i (I - a H_i) grad f_i(w - a grad f_i(w)) = 0, linear in w on quadratics."""
    p, a = problem(samples=1), 0.4
    trace = run_personalised(
        PerFedAvg(0.5, 1, a, 2, 1, None), p, rounds=2000, runs=1, metrics=("global_iterate",), every=2000
    )
    H, b = p.client_hessian, p.client_linear
    shrink = np.eye(2) - a * H
    left = np.sum(shrink @ H @ shrink, axis=0)
    right = np.sum(shrink @ shrink @ b[:, :, None], axis=0)[:, 0]
    np.testing.assert_allclose(trace["global_iterate"][0, -1], np.linalg.solve(left, right), atol=1e-8)


def test_local_training_reaches_the_clients_own_minimisers() -> None:
    p = logistic()
    trace = run_personalised(LocalTraining(0.5, 10, None), p, rounds=200, runs=1, every=100)
    np.testing.assert_allclose(trace.final[0], p.minimisers(), atol=1e-8)


# batching


@pytest.mark.parametrize("kind", list(algorithms(1)))
@pytest.mark.parametrize("batch", [1, 3, None])
@pytest.mark.parametrize("make", [lambda: problem(4, 9, 3), lambda: problem(2, 1, 1), lambda: logistic(4, 7, 6)])
def test_a_run_is_the_same_in_every_batch(kind: str, batch: int | None, make: Any) -> None:
    p, a = make(), algorithms(batch)[kind]
    names = ("iterate", "squared_gradient_norm", "cost")
    options: dict[str, Any] = {"rounds": 4, "seed": 5}
    together = run_personalised(a, p, runs=7, metrics=names, **options)
    told: list[tuple[int, int]] = []
    for chunk in (1, 3):
        apart = run_personalised(
            a, p, runs=4, first_run=3, chunk=chunk, metrics=names, progress=lambda *x: told.append(x), **options
        )
        assert apart.first_run == 3
        assert np.array_equal(apart.final, together.final[3:])
        for name in names:
            assert np.array_equal(apart[name], together[name][3:]), name
    assert told == [(4, 16), (8, 16), (12, 16), (16, 16), (12, 16), (16, 16)]
    seldom = run_personalised(a, p, runs=7, every=2, metrics=names[:1], **options)
    assert np.array_equal(seldom["iterate"], together["iterate"][:, ::2])
    assert np.array_equal(seldom.final, together.final)


# curvature


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["quadratic", "logistic"]))
def test_hessian_vector_products_are_derivatives_of_gradients(seed: int, kind: str) -> None:
    """Central differences: their error is h^2/6 times a third derivative (0 on quadratics), plus rounding over h."""
    p = problem(seed=seed) if kind == "quadratic" else logistic(seed=seed)
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(2, 2, 3, 2))
    there, bend, h = pointwise(p), curvature(p), 1e-5
    everybody = np.arange(3)
    slope = (there.gradient(everybody, x + h * u) - there.gradient(everybody, x - h * u)) / (2 * h)
    np.testing.assert_allclose(bend.product(x, u), slope, atol=1e-6)
    picked = rng.integers(0, 3, size=(2, 3, 4))
    sample = [
        (there.sample_gradient(everybody, s, x + h * u) - there.sample_gradient(everybody, s, x - h * u)) / (2 * h)
        for s in np.moveaxis(picked, -1, 0)
    ]
    np.testing.assert_allclose(bend.sample_product(picked, x, u), np.mean(sample, axis=0), atol=1e-6)


def test_a_problem_may_bring_its_own_curvature() -> None:
    class Wrapped:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def pointwise(self) -> Any:
            return pointwise(self.inner)

    class Bent(Wrapped):
        def curvature(self) -> Any:
            return curvature(self.inner)

    a = PerFedAvg(0.2, 2, 0.3, 2)
    own = run_personalised(a, Bent(problem()), rounds=2, runs=2)
    assert np.array_equal(own.final, run_personalised(a, problem(), rounds=2, runs=2).final)
    with pytest.raises(ValueError, match=r"no method curvature\(\)"):
        run_personalised(a, Wrapped(problem()), rounds=2, runs=2)


# arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 0}, "rounds=0"),
        ({"runs": 0}, "runs=0"),
        ({"every": 0}, "every=0"),
        ({"every": 3}, "every=3 does not divide rounds=4"),
        ({"seed": -1}, "seed"),
        ({"first_run": 2**32}, "first_run"),
        ({"start": [1.0]}, "start has shape"),
        ({"metrics": "cost"}, "not a sequence"),
        ({"metrics": ("weights",)}, "weights"),
        ({"metrics": ("squared_distance",)}, "reference"),
        ({"metrics": ("global_iterate",)}, "LocalTraining"),
        ({"reference": [[1.0, 2.0]], "metrics": ("squared_distance",)}, "reference has shape"),
        ({"chunk": 0}, "chunk"),
        ({"algorithm": FedAvg(0.1, 1)}, "LocalTraining"),
        ({"algorithm": LocalTraining((0.1,), 1)}, "schedule"),
        ({"problem": 3}, "pointwise"),
    ],
)
def test_arguments_outside_their_domain(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "algorithm": LocalTraining(0.1, 1),
        "problem": problem(),
        "rounds": 4,
        "runs": 2,
        **changes,
    }
    with pytest.raises(ValueError, match=message):
        run_personalised(arguments.pop("algorithm"), arguments.pop("problem"), **arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LocalTraining(0, 1), "step"),
        (lambda: LocalTraining(0.1, 0), "local_steps"),
        (lambda: LocalTraining(0.1, 1, 0), "batch"),
        (lambda: LocalisedFedAvg(0.1, 1, 0.0, 1), "tuning_step"),
        (lambda: LocalisedFedAvg(0.1, 1, 0.1, -1), "tuning_steps"),
        (lambda: PerFedAvg(0.1, 1, -0.1), "inner_step"),
        (lambda: PerFedAvg(0.1, 1, 0.1, 3), "order"),
        (lambda: PerFedAvg(0.1, 1, float("nan")), "inner_step"),
        (lambda: PFedMe(0.1, 1, 0, 0.1, 1, 1), "penalty"),
        (lambda: PFedMe(0.1, 1, 1, 0.1, 0, 1), "inner_steps"),
        (lambda: PFedMe(0.1, 1, 1, "0.1", 1, 1), "inner_step"),  # type: ignore[arg-type]
        (lambda: PFedMe(0.1, 1, 1, 0.1, 1, 1, 0), "server_step"),
    ],
)
def test_parts_that_are_none(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
