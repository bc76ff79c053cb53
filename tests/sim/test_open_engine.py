"""The open simulator against a plain re-implementation, the same runs in every batch, and its limiting cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from sim.algorithms import LocalAdam, LocalSGD
from sim.kernels import open_native, open_numba
from sim.kernels.open_models import open_model
from sim.kernels.open_task import OpenTask
from sim.kernels.open_torch import TorchWorker
from sim.open_engine import run_open
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic, RidgeSoftmax, ridge_logistic
from sim.streams import Workspace
from tests.sim import _plain_open as plain

SEED = 2**40 + 17
EVERYTHING = ["squared_iterate_norm", "global_loss", "present", "eligible", "iterate"]
COMPILED = {"numba": open_numba.installed(), "native": open_native.usable()}
BACKENDS = ["torch", *(name for name, there in COMPILED.items() if there)]
STATIC = OpenPopulation(7, 3, 0, 0)
LIVELY = OpenPopulation(7, 3, 0.7, 0.6)


def logistic(clients=7, samples=6, dim=5, seed=0):
    return ridge_logistic(clients, samples, dim, 0.7, 0.1, seed)


def softmax(clients=7, samples=6, inputs=4, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((clients, samples, inputs))
    return RidgeSoftmax(features, rng.integers(0, classes, (clients, samples)), classes, 0.1)


def agree(algorithm, problem, population, backend="torch", rounds=9, start=None, runs=(0, 1, 2, 17)):
    common = {"rounds": rounds, "seed": SEED, "start": start, "backend": backend, "metrics": EVERYTHING}
    trace = run_open(algorithm, problem, population, runs=max(runs) + 1, **common)
    for r in runs:
        expected = plain.simulate(algorithm, problem, population, rounds, r, SEED, start)
        for name in ("iterate", "global_loss"):
            np.testing.assert_allclose(trace[name][r], expected[name], rtol=1e-10, atol=1e-12)
        for name in ("present", "eligible"):
            assert trace[name][r].tolist() == expected[name]
        norms = np.sum(np.square(expected["iterate"]), axis=1)
        np.testing.assert_allclose(trace["squared_iterate_norm"][r], norms, rtol=1e-10, atol=1e-12)
        assert np.array_equal(trace["iterate"][r, -1], trace.final[r])
    return trace


ALGORITHMS = [
    LocalSGD(0.3, 3),
    LocalSGD(0.3, 3, 2),
    LocalSGD((0.3, 0.1, Fraction(1, 2)) * 3, 1, 7),
    LocalAdam(0.1, 3, None, 0.9, 0.99, 1e-3),
    LocalAdam(0.1, 2, 3, 0.5, 0.6, 1e-3),
    LocalAdam(0.1, 2, 3, 0.5, 0.6, 1e-3, reset=True),
    LocalAdam(0.1, 2, 1, 0, 0, 1e-2),
]
POPULATIONS = [
    STATIC,
    LIVELY,
    OpenPopulation(7, 3, 1, 1),
    OpenPopulation(7, 2, 0.1, 0.9, select=2),
    OpenPopulation(7, 4, 0.5, 0.5, select=1),
    OpenPopulation(7, 2, 0.9, 0.2, last="leaves"),
    OpenPopulation(7, 7, 0.5, 1),
    OpenPopulation(7, 1, 1, 1, last="leaves", select=3),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("population", [LIVELY, OpenPopulation(7, 4, 0.5, 0.5, select=2)])
def test_algorithms_equal_the_plain_ones(algorithm, population, backend):
    agree(algorithm, logistic(), population, backend, start=np.arange(5) - 2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("algorithm", [ALGORITHMS[1], ALGORITHMS[4]])
def test_populations_equal_the_plain_ones(algorithm, population, backend):
    agree(algorithm, logistic(), population, backend)


@pytest.mark.parametrize("algorithm", [ALGORITHMS[0], ALGORITHMS[2], ALGORITHMS[4]])
def test_softmax_equals_the_plain_one(algorithm):
    agree(algorithm, softmax(), LIVELY)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dim", [1, 2, 67])
@pytest.mark.parametrize("samples", [2, 20])
def test_sizes(backend, dim, samples):
    agree(LocalSGD(0.1, 2, 3), logistic(7, samples, dim), LIVELY, backend, runs=(0, 3))
    # with a smaller eps a coordinate whose gradient is near 0 magnifies the rounding of that gradient
    agree(LocalAdam(0.1, 2, eps=1e-3), logistic(7, samples, dim), LIVELY, backend, runs=(0, 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [logistic, softmax])
@pytest.mark.parametrize(
    ("algorithm", "inputs", "threads"),
    [
        (LocalSGD(0.1, 2, 10), 3, 1),
        (LocalSGD(0.1, 2), 50, 1),
        (LocalAdam(0.1, 2, 5), 50, 2),
        (LocalAdam(0.1, 1), 3, 1),
    ],
)
def test_a_run_is_the_same_in_every_batch(backend, make, algorithm, inputs, threads):
    problem = make(40, 24, inputs)
    population = OpenPopulation(40, 5, 0.5, 0.9, select=4)
    if backend != "torch" and not open_numba.supports(problem, algorithm):
        pytest.skip("numba does not know this problem")
    common = {"rounds": 12, "seed": 3, "metrics": EVERYTHING, "backend": backend}
    whole = run_open(algorithm, problem, population, runs=30, threads=1, **common)
    others = [
        (0, run_open(algorithm, problem, population, runs=30, chunk=7, threads=threads, **common)),
        (0, run_open(algorithm, problem, population, runs=3, threads=1, **common)),
        (13, run_open(algorithm, problem, population, runs=2, first_run=13, chunk=1, threads=1, **common)),
        (29, run_open(algorithm, problem, population, runs=1, first_run=29, threads=threads, **common)),
    ]
    for first, part in others:
        for name in EVERYTHING:
            assert np.array_equal(part[name], whole[name][first : first + part.runs]), (first, name)


@pytest.mark.parametrize("words", ["numpy", "torch"])
def test_samples_follow_the_contract(words):
    problem, algorithm = logistic(7, 6), LocalSGD(0.1, 3, 5)
    schedule = LIVELY.presence(4, 3, SEED, first_run=11)
    task = OpenTask(problem, algorithm, np.full(4, 0.1), schedule, np.zeros(5), SEED, 11)
    worker = TorchWorker(task, open_model(problem, torch.device("cpu")))
    worker.words = Workspace(backend=words)  # on a GPU the words are drawn by torch
    runs, clients = np.array([0, 2, 2]), np.array([4, 0, 6])
    found = worker._samples(3, runs, clients)
    for j in range(15):
        for i in range(3):
            x = plain.word(SEED, 11 + int(runs[i]), int(clients[i]), 3, 1, j)
            assert int(found[j, i]) == (x * 6) >> 32


def test_short_stretches_change_nothing(monkeypatch):
    problem, algorithm = logistic(), LocalAdam(0.1, 2, 2)
    common = {"rounds": 11, "runs": 5, "metrics": EVERYTHING, "backend": "torch"}
    whole = run_open(algorithm, problem, LIVELY, **common)
    for path, stride, gather in [(1, 1, 1), (90, 10, 3000), (1 << 20, 20, 10000)]:
        monkeypatch.setattr("sim.open_engine._PATH", path)
        monkeypatch.setattr("sim.open_engine._STRIDE", stride)
        monkeypatch.setattr("sim.kernels.open_torch._GATHER_BYTES", gather)
        monkeypatch.setattr("sim.open_engine._CHUNK_BYTES", gather)
        part = run_open(algorithm, problem, LIVELY, **common)
        for name in EVERYTHING:
            assert np.array_equal(part[name], whole[name])


@pytest.mark.skipif(not open_numba.installed(), reason="numba is not installed")
@pytest.mark.parametrize(
    "algorithm",
    [LocalSGD(0.05, 5, 10), LocalSGD(0.05, 5), LocalAdam(0.01, 5, 10, eps=1e-3), LocalAdam(0.01, 2, eps=1e-3)],
)
def test_back_ends_agree(algorithm):
    problem = ridge_logistic(40, 30, 20, 1, 0.05, 1)
    population = OpenPopulation(40, 8, 0.8, 1)
    common = {"rounds": 25, "runs": 6, "metrics": EVERYTHING}
    one, other = (run_open(algorithm, problem, population, backend=name, **common) for name in ("torch", "numba"))
    for name in EVERYTHING:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-11, atol=1e-13)
    assert np.allclose(one["squared_iterate_norm"], other["squared_iterate_norm"], rtol=1e-12, atol=0)


def test_a_static_population_is_local_sgd():
    # everybody of the pool is present for ever, full batches: FedAvg with gradients of the clients, written by hand
    problem = logistic()
    trace = run_open(
        LocalSGD(0.4, 3), problem, OpenPopulation(7, 7, 0, 0), rounds=20, runs=3, metrics=EVERYTHING, backend="torch"
    )
    theta = np.zeros(problem.dim)
    for k in range(20):
        assert np.allclose(trace["iterate"][:, k], theta, rtol=1e-12, atol=1e-13)
        assert np.allclose(trace["global_loss"][:, k], problem.loss(theta).mean(), rtol=1e-12)
        w = np.tile(theta, (7, 1))
        for _ in range(3):
            w = w - 0.4 * problem.gradient(w)
        theta = w.mean(axis=0)
    assert np.all(trace["present"] == 7)
    assert np.all(trace["eligible"] == 7)


def test_a_full_batch_is_deterministic_given_presence():
    # all clients hold the same data: who is present does not matter, and nothing else is random
    one = logistic(1)
    problem = RidgeLogistic(np.tile(one.features, (7, 1, 1)), np.tile(one.labels, (7, 1)), one.ridge)
    trace = run_open(LocalSGD(0.3, 4), problem, LIVELY, rounds=15, runs=8, backend="torch", metrics=["iterate"])
    assert np.allclose(trace["iterate"], trace["iterate"][:1], rtol=1e-12, atol=1e-14)
    noisy = run_open(LocalSGD(0.3, 4, 2), problem, LIVELY, rounds=15, runs=8, backend="torch", metrics=["iterate"])
    assert not np.allclose(noisy["iterate"][1], noisy["iterate"][0], rtol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nobody_eligible_keeps_the_model(backend):
    # one client, which leaves in the first round; the next ones come and go one by one, and never upload
    population = OpenPopulation(3, 1, 1, 1, last="leaves")
    common = {"rounds": 6, "runs": 4, "start": np.ones(5), "metrics": EVERYTHING, "backend": backend}
    trace = run_open(LocalSGD(0.3, 2), logistic(3), population, **common)
    assert np.all(trace["iterate"] == 1)
    assert trace["eligible"].tolist() == [[1, 0, 0, 0, 0, 0, 0]] * 4
    assert trace["present"].tolist() == [[1, 1, 1, 0, 0, 0, 0]] * 4
    assert np.array_equal(np.isnan(trace["global_loss"]), trace["present"] == 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_single_client_is_its_own_descent(backend):
    problem = logistic(1)
    population = OpenPopulation(1, 1, 1, 1)
    trace = run_open(LocalSGD(0.3, 2), problem, population, rounds=400, runs=2, metrics=EVERYTHING, backend=backend)
    assert np.allclose(trace.final, problem.minimisers(), rtol=1e-8)
    assert np.all(trace["present"] == 1)


def test_adam_is_not_torchs():
    # one client, full batch, constant beta: the paper's recursion is that of `_plain_open`, and AMSGrad's is another
    problem, algorithm = logistic(1), LocalAdam(0.1, 1, None, 0.9, 0.99, 1e-8)
    trace = agree(algorithm, problem, OpenPopulation(1, 1, 0, 0), rounds=20, runs=(0,))
    w = torch.zeros(problem.dim, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([w], lr=0.1, betas=(0.9, 0.99), eps=1e-8, amsgrad=True)
    for _ in range(20):
        w.grad = torch.from_numpy(problem.gradient(w.detach().numpy())[0])
        optimiser.step()
    assert np.linalg.norm(w.detach().numpy() - trace.final[0]) > 0.01


def test_adams_memory_outlasts_the_rounds():
    problem, population = logistic(1), OpenPopulation(1, 1, 0, 0)
    paths = [
        run_open(algorithm, problem, population, rounds=rounds, runs=1, metrics=["iterate"], backend="torch").final
        for algorithm, rounds in [
            (LocalAdam(0.1, 6), 1),
            (LocalAdam(0.1, 2), 3),
            (LocalAdam(0.1, 2, reset=True), 3),
        ]
    ]
    assert np.allclose(paths[0], paths[1], rtol=1e-12)
    assert not np.allclose(paths[0], paths[2], rtol=1e-3)


def test_progress_and_defaults():
    told = []
    trace = run_open(
        LocalSGD(0.1, 1), logistic(), LIVELY, rounds=5, runs=4, chunk=3, progress=lambda *seen: told.append(seen)
    )
    assert trace.metrics == ("squared_iterate_norm", "global_loss")
    assert trace["mean_global_loss"].shape == (4,)
    assert told[-1] == (20, 20)
    assert all(a[0] < b[0] for a, b in pairwise(told))


def test_an_interrupt_puts_the_threads_back():
    before = torch.get_num_threads()

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_open(LocalSGD(0.1, 1), logistic(), LIVELY, rounds=5, runs=4, threads=before + 1, progress=stop)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("batch", [None, 3])
def test_the_stable_norm_is_below_the_samples_bound(batch):
    # w <- (1 - step ridge) w - step (convex combinations of vectors of norm <= max ||x||) for step ridge <= 1,
    # so ||theta|| <= max ||x|| / ridge, whatever the population does
    problem = logistic()
    trace = run_open(LocalSGD(2.0, 5, batch), problem, LIVELY, rounds=50, runs=20, backend="torch")
    bound = np.max(np.linalg.norm(problem.features, axis=2)) / problem.ridge
    assert np.all(trace["squared_iterate_norm"] <= bound**2)


def call(**changes):
    arguments = {
        "algorithm": LocalSGD(0.1, 1),
        "problem": logistic(),
        "population": LIVELY,
        "rounds": 2,
        "runs": 2,
        **changes,
    }
    return run_open(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "sgd"}, "algorithm='sgd' is not one of"),
        ({"algorithm": LocalSGD([0.1], 1)}, r"round=1 is outside \[0, 0\]"),
        ({"problem": "data"}, "problem='data' is not one of"),
        ({"population": 7}, "population=7 is not an OpenPopulation"),
        ({"population": OpenPopulation(8, 3, 0, 0)}, "population.pool=8 is not the problem's number of clients, 7"),
        ({"rounds": 0}, "rounds=0 is outside"),
        ({"runs": 0}, "runs=0 is outside"),
        ({"chunk": 0}, "chunk=0 is outside"),
        ({"threads": 0}, "threads=0 is outside"),
        ({"seed": -1}, "seed=-1 is outside"),
        ({"first_run": 2**32 - 1}, "first_run=4294967295 is not"),
        ({"start": [1.0]}, r"start has shape \(1,\), not \(5,\)"),
        ({"start": [np.nan] * 5}, "start="),
        ({"metrics": "present"}, "metrics='present' is not a sequence"),
        ({"metrics": ["cost"]}, "metrics has 'cost'"),
        ({"device": "tpu"}, "device='tpu'"),
        ({"backend": "jax"}, "backend='jax' is not one of"),
        ({"backend": "numba", "problem": softmax()}, "backend='numba' does not know"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ValueError, match=message):
        call(**changes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LocalSGD(0, 1), r"step=0 is outside \(0, inf\)"),
        (lambda: LocalSGD(0.1, 0), "local_steps=0"),
        (lambda: LocalSGD(0.1, 1, 0), "batch=0"),
        (lambda: LocalSGD(0.1, 2**20, 2**10), r"local_steps\*batch=1073741824 is outside \[0, 2\^26\]"),
        (lambda: LocalAdam(0.1, 1, beta1=1), r"beta1=1.0 is outside \[0, 1\)"),
        (lambda: LocalAdam(0.1, 1, beta2=-0.1), "beta2=-0.1"),
        (lambda: LocalAdam(0.1, 1, eps=0), r"eps=0.0 is outside \(0, inf\)"),
        (lambda: LocalAdam(0.1, 1, reset=1), "reset=1 is not one of"),
    ],
)
def test_bad_algorithms(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("algorithm", [LocalSGD(0.1, 3, 4), LocalSGD(0.1, 3), LocalAdam(0.1, 3, 4)])
@pytest.mark.parametrize("make", [logistic, softmax])
def test_a_gpu_agrees(make, algorithm):
    common = {"rounds": 10, "runs": 9, "metrics": EVERYTHING, "backend": "torch"}
    one, other = (run_open(algorithm, make(), LIVELY, device=device, **common) for device in ("cpu", "cuda"))
    for name in EVERYTHING:
        assert np.allclose(one[name], other[name], rtol=1e-11, atol=1e-12)
