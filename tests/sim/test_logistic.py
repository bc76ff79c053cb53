"""Logistic and softmax regression: gradients, constants, minimisers and data, against brute force and autograd."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.kernels.open_models import open_model
from sim.problems import RidgeLogistic, RidgeSoftmax, digits, ridge_logistic
from sim.problems.newton import minimise


def random_logistic(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    clients, samples, dim = rng.integers(1, [4, 7, 5])
    features = scale * rng.standard_normal((clients, samples, dim)) + rng.standard_normal(dim)
    return RidgeLogistic(features, rng.choice([-1, 1], (clients, samples)), float(rng.uniform(0.01, 1)))


def random_softmax(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    clients, samples, inputs = rng.integers(1, [4, 7, 5])
    classes = int(rng.integers(2, 5))
    features = scale * rng.standard_normal((clients, samples, inputs)) + rng.standard_normal(inputs)
    return RidgeSoftmax(features, rng.integers(0, classes, (clients, samples)), classes, float(rng.uniform(0.01, 1)))


MAKE = st.sampled_from([random_logistic, random_softmax])
SEEDS = st.integers(0, 2**32 - 1)
SCALES = st.sampled_from([0.1, 1.0, 30.0])


def autograd_loss(problem, n, w):
    """f_n as torch writes it."""
    x = torch.from_numpy(problem.features[n].copy())
    y = torch.from_numpy(problem.labels[n].copy())
    if isinstance(problem, RidgeSoftmax):
        data = torch.nn.functional.cross_entropy(x @ w.view(problem.classes, -1).T, y)
    else:
        data = torch.logaddexp(torch.zeros(()).double(), -y * (x @ w)).mean()
    return data + problem.ridge / 2 * (w @ w)


def hessian(problem, n, w):
    """(d, d), by automatic differentiation."""
    point = torch.from_numpy(w)
    return torch.autograd.functional.hessian(lambda v: autograd_loss(problem, n, v), point).numpy()


@settings(max_examples=60)
@given(MAKE, SEEDS, SCALES)
def test_losses_and_gradients_equal_autograds(make, seed, scale):
    problem = make(seed)
    points = scale * np.random.default_rng(seed + 1).standard_normal((problem.clients, problem.dim))
    loss, gradient = problem.loss(points), problem.gradient(points)
    for n in range(problem.clients):
        w = torch.from_numpy(points[n].copy()).requires_grad_()
        value = autograd_loss(problem, n, w)
        value.backward()
        np.testing.assert_allclose(loss[n], value.item(), rtol=1e-12)
        np.testing.assert_allclose(gradient[n], w.grad.numpy(), rtol=1e-10, atol=1e-12)
    one = points[0]
    np.testing.assert_allclose(problem.loss(one)[0], loss[0], rtol=1e-13)
    np.testing.assert_allclose(problem.gradient(one)[0], gradient[0], rtol=1e-11, atol=1e-13)


@settings(max_examples=30)
@given(MAKE, SEEDS, SCALES)
def test_the_tensors_compute_the_same(make, seed, scale):
    problem = make(seed)
    model = open_model(problem, torch.device("cpu"))
    rng = np.random.default_rng(seed + 1)
    points = scale * rng.standard_normal((problem.clients, problem.dim))
    found = model.gradient(model.features, model.labels, torch.from_numpy(points))
    np.testing.assert_allclose(found.numpy(), problem.gradient(points), rtol=1e-10, atol=1e-12)
    theta = torch.from_numpy(np.stack([points, 2 * points], axis=1))
    losses = model.losses(torch.arange(problem.clients), theta).numpy()
    np.testing.assert_allclose(losses.T, [problem.loss(points), problem.loss(2 * points)], rtol=1e-12)


@settings(max_examples=60)
@given(MAKE, SEEDS, SCALES)
def test_hessians_lie_between_the_constants(make, seed, scale):
    problem = make(seed)
    w = scale * np.random.default_rng(seed + 1).standard_normal(problem.dim)
    for n in range(problem.clients):
        values = np.linalg.eigvalsh(hessian(problem, n, w))
        assert values[0] >= problem.strong_convexity - 1e-12
        assert values[-1] <= problem.smoothness * (1 + 1e-12)
        if isinstance(problem, RidgeLogistic):
            np.testing.assert_allclose(problem.hessian(w, [n])[0], hessian(problem, n, w), rtol=1e-9, atol=1e-12)
            least = problem.strong_convexity_on(np.linalg.norm(w))
            assert problem.ridge <= least <= values[0] + 1e-12
    assert problem.smoothness <= problem.sample_smoothness * (1 + 1e-12)


@settings(max_examples=30)
@given(SEEDS)
def test_the_logistic_smoothness_is_attained_at_zero(seed):
    problem = random_logistic(seed)
    largest = max(np.linalg.eigvalsh(h)[-1] for h in problem.hessian(np.zeros(problem.dim)))
    assert problem.smoothness == pytest.approx(largest, rel=1e-12)
    one = RidgeLogistic(problem.features.reshape(-1, 1, problem.dim), problem.labels.reshape(-1, 1), problem.ridge)
    assert problem.sample_smoothness == pytest.approx(one.smoothness, rel=1e-12)


def test_the_softmax_smoothness_is_approached():
    # two of many classes share all the probability: diag(p) - pp' has the eigenvalue 1/2
    problem = RidgeSoftmax(np.ones((1, 1, 1)), [[0]], 4, 0.25)
    top = np.linalg.eigvalsh(hessian(problem, 0, np.array([50.0, 50.0, 0.0, 0.0])))[-1]
    assert problem.smoothness == pytest.approx(top, rel=1e-12) == 0.75


@settings(max_examples=30)
@given(SEEDS)
def test_the_modulus_on_a_ball_of_radius_zero_is_the_hessians(seed):
    problem = random_logistic(seed)
    least = min(np.linalg.eigvalsh(h)[0] for h in problem.hessian(np.zeros(problem.dim)))
    assert problem.strong_convexity_on(0) == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert problem.strong_convexity_on(1e4) == pytest.approx(problem.ridge, rel=1e-6)


def brute_variance(problem, n, w, batch):
    """The variance of a minibatch's gradient, over all minibatches."""
    count = problem.samples
    single = []
    for j in range(count):
        part = (problem.features[:, j : j + 1], problem.labels[:, j : j + 1])
        one = (
            RidgeSoftmax(*part, problem.classes, problem.ridge)
            if isinstance(problem, RidgeSoftmax)
            else RidgeLogistic(*part, problem.ridge)
        )
        single.append(one.gradient(w)[n])
    means = [np.mean([single[j] for j in chosen], axis=0) for chosen in itertools.product(range(count), repeat=batch)]
    centre = np.mean(means, axis=0)
    return np.mean([np.sum((m - centre) ** 2) for m in means])


@settings(max_examples=25)
@given(MAKE, SEEDS, SCALES, st.integers(1, 3))
def test_variances_are_those_of_all_minibatches(make, seed, scale, batch):
    problem = make(seed)
    w = scale * np.random.default_rng(seed + 1).standard_normal(problem.dim)
    found = problem.variance_at(w, batch)
    for n in range(problem.clients):
        np.testing.assert_allclose(found[n], brute_variance(problem, n, w, batch), rtol=1e-8, atol=1e-11)
    assert np.all(problem.variance_at(w, None) == 0)


@settings(max_examples=60)
@given(MAKE, SEEDS, SCALES, st.integers(1, 5))
def test_the_variance_bound_holds(make, seed, scale, batch):
    problem = make(seed, scale)
    bound = problem.variance_bound(batch)
    rng = np.random.default_rng(seed + 1)
    for size in (0.0, 0.1, 1.0, 100.0):
        w = size * rng.standard_normal(problem.dim)
        assert np.all(problem.variance_at(w, batch) <= bound * (1 + 1e-9))
    assert problem.variance_bound(None) == 0


@settings(max_examples=30)
@given(SEEDS)
def test_the_logistic_variance_bound_covers_all_slopes(seed):
    # the proof's claim itself: for every slope s in {0, 1}^n, whether or not some w has it
    problem = random_logistic(seed)
    for x, y in zip(problem.features, problem.labels, strict=True):
        vectors = y[:, None] * x
        for slopes in itertools.product([0, 1], repeat=len(x)):
            g = np.array(slopes)[:, None] * vectors
            assert np.mean(np.sum((g - g.mean(axis=0)) ** 2, axis=1)) <= problem.variance_bound(1) * (1 + 1e-12)


def test_the_pairs_improve_on_the_second_moment():
    # a client with equal a_j: the samples agree, and the variance is at most that of a fair coin, a quarter of ||a||^2
    problem = RidgeLogistic(np.ones((1, 10, 3)), np.ones((1, 10)), 1)
    assert problem.variance_bound(1) == pytest.approx(3 * 90 / 200)
    assert problem.variance_bound(5) == pytest.approx(3 * 90 / 1000)


@settings(max_examples=40)
@given(MAKE, SEEDS, SCALES)
def test_minimisers_are_stationary(make, seed, scale):
    problem = make(seed, scale)
    points = problem.minimisers()
    tolerance = max(1e-12, 64 * 2.3e-16 * np.max(np.linalg.norm(problem.features, axis=2)))
    assert np.max(np.linalg.norm(problem.gradient(points), axis=1)) <= tolerance
    assert problem.radius() == np.max(np.linalg.norm(points, axis=1))
    shifted = points + 0.1 * np.random.default_rng(seed).standard_normal(points.shape)
    assert np.all(problem.loss(shifted) >= problem.loss(points))
    # f_n(0) - f_n(x_n*) >= mu/2 ||x_n*||^2
    gap = problem.loss(np.zeros(problem.dim)) - problem.loss(points)
    assert np.all(problem.ridge / 2 * np.sum(points**2, axis=1) <= gap + 1e-12)


def test_newton_finds_the_minimum_or_says_that_it_fails():
    targets = np.array([[0.3], [-5.0], [0.0]])

    def loss(w):
        return (np.cosh(w) - targets * w).sum(axis=1)

    def gradient(w):
        return np.sinh(w) - targets

    def newton(points, slopes, clients):
        return (slopes / np.cosh(points))[clients]

    far = np.array([[8.0], [-0.1], [0.0]])
    assert np.allclose(minimise(loss, gradient, newton, far, 1e-12), np.arcsinh(targets), rtol=1e-12)
    with pytest.raises(ValueError, match="tolerance=1e-12 is not reached: the largest gradient norm is"):
        minimise(loss, gradient, lambda *at: 1e-6 * newton(*at), far, 1e-12)
    with pytest.raises(ValueError, match="tolerance=1e-12 is not reached"):
        minimise(loss, gradient, lambda *at: -newton(*at), far, 1e-12)


@settings(max_examples=40)
@given(SEEDS, SCALES)
def test_two_classes_are_logistic(seed, scale):
    # rows -w/2 and w/2: the same entropy, and half of w's squared norm
    logistic = random_logistic(seed)
    softmax = RidgeSoftmax(logistic.features, (logistic.labels > 0).astype(int), 2, 2 * logistic.ridge)
    w = scale * np.random.default_rng(seed + 1).standard_normal((logistic.clients, logistic.dim))
    theta = np.concatenate([-w / 2, w / 2], axis=1)
    np.testing.assert_allclose(softmax.loss(theta), logistic.loss(w), rtol=1e-12)
    g = softmax.gradient(theta)
    np.testing.assert_allclose(g[:, logistic.dim :], -g[:, : logistic.dim], rtol=1e-9, atol=1e-12)
    # d/dw = (1/2) (d/dw_1 - d/dw_0)
    np.testing.assert_allclose(g[:, logistic.dim :], logistic.gradient(w), rtol=1e-9, atol=1e-12)
    best, rows = logistic.minimisers(), softmax.minimisers()
    np.testing.assert_allclose(rows, np.concatenate([-best / 2, best / 2], axis=1), rtol=1e-7, atol=1e-9)


def test_synthetic_data():
    problem = ridge_logistic(200, 50, 30, 0.5, 0.01, 3)
    assert problem.features.shape == (200, 50, 30)
    assert np.all(problem.labels.sum(axis=1) == 0)
    for sign in (-1, 1):
        rows = problem.features[problem.labels == sign]
        mean = np.round(rows.mean(axis=0))
        assert set(mean.tolist()) <= {-1.0, 1.0}
        # 5000 rows: a mean's standard deviation is 0.5/5000^0.5; 6 of them in 30 coordinates fail with 6e-8
        assert np.max(np.abs(rows.mean(axis=0) - mean)) < 6 * 0.5 / 5000**0.5
        assert np.std(rows - mean) == pytest.approx(0.5, rel=0.02)  # 10 standard deviations
    again = ridge_logistic(200, 50, 30, 0.5, 0.01, 3)
    assert np.array_equal(problem.features, again.features)
    assert not np.array_equal(problem.features, ridge_logistic(200, 50, 30, 0.5, 0.01, 4).features)
    assert np.all(np.abs(ridge_logistic(2, 4, 3, 0, 1, 0).features) == 1)


def test_digits():
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    problem = digits(17, 100, 0.01, 5)
    assert (problem.clients, problem.samples, problem.inputs, problem.classes, problem.dim) == (17, 100, 64, 10, 640)
    assert problem.features.min() == 0
    assert problem.features.max() == 1
    images, labels = sklearn_datasets.load_digits(return_X_y=True)
    known: dict[bytes, list[int]] = {}
    for image, label in zip(images, labels, strict=True):
        known.setdefault((image / 16).tobytes(), []).append(int(label))
    for image, label in zip(problem.features.reshape(-1, 64), problem.labels.ravel(), strict=True):
        known[image.tobytes()].remove(label)  # fails when an image comes more often than the data have it
    again = digits(17, 100, 0.01, 5)
    assert np.array_equal(problem.features, again.features)
    assert np.array_equal(problem.labels, again.labels)
    assert not np.array_equal(problem.labels, digits(17, 100, 0.01, 6).labels)


def test_more_digits_than_there_are_come_with_replacement():
    pytest.importorskip("sklearn.datasets")
    problem = digits(30, 100, 0.01, 0)
    different = len(np.unique(problem.features.reshape(-1, 64), axis=0))
    # 3000 draws of 1797 meet 1797 (1 - (1 - 1/1797)^3000) = 1459 on average, with a standard deviation of 14
    assert 1360 < different < 1560


def test_arrays_are_copies_and_read_only():
    features = np.ones((2, 2, 1))
    problem = RidgeLogistic(features, [[1, -1], [1, 1]], 1)
    features[:] = 7
    assert np.all(problem.features == 1)
    for array in (problem.features, problem.labels, problem.minimisers()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


ONES = np.ones((2, 3, 4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RidgeLogistic(np.ones((2, 3)), np.ones(2), 1), r"features has shape \(2, 3\), not \(N, n, d\)"),
        (lambda: RidgeLogistic(ONES * np.nan, np.ones((2, 3)), 1), "features.*=nan is outside"),
        (lambda: RidgeLogistic(ONES, np.ones((2, 4)), 1), r"labels has shape \(2, 4\), not \(2, 3\)"),
        (lambda: RidgeLogistic(ONES, np.zeros((2, 3)), 1), r"labels has entries outside \{-1, 1\}"),
        (lambda: RidgeLogistic(ONES, np.ones((2, 3)), 0), r"ridge=0.0 is outside \(0, inf\)"),
        (lambda: RidgeLogistic(ONES, np.ones((2, 3)), 1).loss(np.zeros(3)), r"theta has shape \(3,\)"),
        (lambda: RidgeLogistic(ONES, np.ones((2, 3)), 1).strong_convexity_on(-1), r"radius=-1.0 is outside \[0, inf\)"),
        (lambda: RidgeLogistic(ONES, np.ones((2, 3)), 1).variance_bound(0), "batch=0"),
        (lambda: RidgeSoftmax(ONES, np.zeros((2, 2), int), 2, 1), r"labels has shape \(2, 2\)"),
        (lambda: RidgeSoftmax(ONES, np.full((2, 3), 2), 2, 1), r"labels has entries outside the integers in \[0, 1\]"),
        (lambda: RidgeSoftmax(ONES, np.zeros((2, 3)), 2, 1), "labels has entries outside"),
        (lambda: RidgeSoftmax(ONES, np.zeros((2, 3), int), 1, 1), "classes=1"),
        (lambda: ridge_logistic(1, 3, 1, 1, 1, 0), "samples=3 is outside the even integers"),
        (lambda: ridge_logistic(1, 2, 1, -1, 1, 0), "spread=-1.0"),
        (lambda: ridge_logistic(0, 2, 1, 1, 1, 0), "clients=0"),
        (lambda: digits(0, 2, 1, 0), "clients=0"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
