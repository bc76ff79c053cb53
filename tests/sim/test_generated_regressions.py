"""Generated C++ on regressions: as torch, whoever takes part, and the same bits in any batch."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from sim.native import build
from sim.problems import RidgeLogistic, RidgeSoftmax
from sim.simulate import simulate
from theory.program import algorithm

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="there is no C++ compiler")


def problem(kind: str) -> Any:
    """Seven clients; more features than a vector has lanes, or fewer; more classes than are computed at once."""
    rng = np.random.default_rng(3)
    if kind == "logistic":
        return RidgeLogistic(rng.normal(size=(7, 9, 11)), rng.choice([-1.0, 1.0], (7, 9)), 0.1)
    if kind == "few features":
        return RidgeSoftmax(rng.normal(size=(7, 40, 2)), rng.integers(0, 2, (7, 40)), 2, 0.01)
    return RidgeSoftmax(rng.normal(size=(7, 9, 9)), rng.integers(0, 7, (7, 9)), 7, 0.1)


KINDS = ("logistic", "few features", "softmax")


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimiser_of_the_average(kind: str) -> None:
    p = problem(kind)
    assert np.linalg.norm(p.gradient(p.minimiser).mean(0)) < 1e-12
    found = minimize(lambda t: p.loss(t).mean(), np.zeros(p.dim), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(found.x, p.minimiser, atol=1e-5)
    assert found.fun >= p.optimal_value - 1e-15


@algorithm(x="x0", c="each 0", z="0")
def some_with_memory(w, x, c, z, *, eta, b, H, S, q):
    """A choice of clients that remember; batches with and without replacement, and a difference of gradients."""
    active, y = w.choose(S), w.each(x)
    for _ in w.repeat(H):
        i = w.sample(b)
        y = y - eta * (w.gradient(y, i) - w.gradient(x, i) + w.gradient(x, w.sample(3, replace=False)) - c)
    new = x + w.average(y - x, active)
    z = z + w.full_gradient(x) + w.mean(w.coins(q) * (y - w.gradient(x)))
    return new, w.where(active, c + (x - y) / H, c), z


@algorithm
def those_of_unequal_chances(w, x, *, eta, p, H, beta):
    """Coins whose chances, and steps, are one number a client."""
    y = w.each(x)
    for _ in w.repeat(H):
        slope = w.gradient(y, w.sample(2))
        y = y - eta * slope - beta / w.norm(slope) * slope
    return x + w.average(y - x, w.coins(p))


@algorithm
def often_or_never(w, x, *, eta, S):
    """A choice with replacement, and the full gradients of those chosen."""
    return w.average(x - eta * w.gradient(x), w.choose(S, replace=True))


CASES: tuple[tuple[Any, dict[str, Any]], ...] = (
    (some_with_memory, {"eta": {"k": [0.3, 0.2, 0.1, 0.1]}, "b": 20, "H": 3, "S": 2, "q": 0.4}),
    (those_of_unequal_chances, {"eta": [0.1 * n for n in range(1, 8)], "p": [0.1] * 6 + [1.0], "H": 2, "beta": 0.1}),
    (often_or_never, {"eta": 0.5, "S": 4}),
)
METRICS = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "squared_iterate_norm")


@pytest.mark.parametrize(("one", "parameters"), CASES, ids=[one.name for one, _ in CASES])
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_torch_and_the_same_in_any_batch(one: Any, parameters: Any, kind: str) -> None:
    p = problem(kind)
    shared = (one, p, parameters, np.linspace(-1, 1, p.dim), 4)
    options: Any = {"seed": 5, "record": range(5), "metrics": METRICS}
    found = simulate(*shared, 21, backend="native", **options)
    expected = simulate(*shared, 21, backend="torch", **options)
    for name, values in expected.states.items():
        assert np.ptp(values) > 1e-3
        np.testing.assert_allclose(found.states[name], values, rtol=1e-9, atol=1e-12)
    for name in METRICS:
        np.testing.assert_allclose(found.values[name], expected.values[name], rtol=1e-9, atol=1e-12)
    part = simulate(*shared, 6, backend="native", first_run=11, chunk=2, threads=2, **options)
    for name, values in part.states.items():
        np.testing.assert_array_equal(values, found.states[name][11:17])
    for name, values in part.values.items():
        np.testing.assert_array_equal(values, found.values[name][11:17])


def test_losses_far_from_the_labels_do_not_overflow() -> None:
    for kind in KINDS:
        p = problem(kind)
        start = 1e4 * np.linspace(-1, 1, p.dim)
        options: Any = {"metrics": ("cost", "squared_gradient_norm")}
        found, expected = (
            simulate(often_or_never, p, {"eta": 0.5, "S": 4}, start, backend=name, **options).values
            for name in ("native", "torch")
        )
        for name in found:
            assert np.isfinite(expected[name]).all()
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_only_what_is_to_be_kept_is_kept(backend: str) -> None:
    one, parameters = CASES[0]
    given = one, problem("softmax"), parameters, None, 3, 2
    options: Any = {"record": [1, 3], "backend": backend}
    found, all_ = simulate(*given, keep=("z",), **options), simulate(*given, **options)
    assert set(found.states) == {"z"}
    np.testing.assert_array_equal(found.states["z"], all_.states["z"])
    assert set(found.final) == {"x", "c", "z"}
    with pytest.raises(ValueError, match="keep has 'y'"):
        simulate(*given, keep=("y",), **options)
