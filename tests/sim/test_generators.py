"""Generated constants against numpy's eigenvalues and direct evaluation; ragged and exact input; bad inputs."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import from_samples, least_squares, quadratic, scalar


@settings(max_examples=30, deadline=None)
@given(
    clients=st.integers(2, 5),
    dim=st.integers(1, 4),
    mu=st.floats(0.01, 1),
    ratio=st.floats(1, 100),
    heterogeneity=st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),
    samples=st.integers(2, 4),
    spread=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_prescribed_constants_hold(clients, dim, mu, ratio, heterogeneity, samples, spread, seed):
    big = mu * ratio
    problem = quadratic(clients, dim, mu, big, heterogeneity, seed, samples=samples, sample_spread=spread)
    hessians = problem.hessian.mean(axis=1)
    eigenvalues = np.linalg.eigvalsh(hessians)
    assert eigenvalues.min() == pytest.approx(mu, abs=1e-12 * big)
    assert eigenvalues.max() == pytest.approx(big, rel=1e-12)
    assert problem.strong_convexity == pytest.approx(mu, abs=1e-12 * big)
    assert problem.smoothness == pytest.approx(big, rel=1e-12)
    linears = problem.linear.mean(axis=1)
    optimum = np.linalg.solve(hessians.mean(axis=0), linears.mean(axis=0))
    np.testing.assert_allclose(problem.minimiser, optimum, rtol=1e-8, atol=1e-8)
    gradients = hessians @ optimum - linears
    scale = np.max(np.abs(linears)) ** 2
    assert np.mean(np.sum(gradients**2, axis=1)) == pytest.approx(heterogeneity, rel=1e-9, abs=1e-12 * scale)
    assert problem.heterogeneity == pytest.approx(heterogeneity, rel=1e-9, abs=1e-12 * scale)
    deviations = problem.hessian @ optimum - problem.linear - gradients[:, None]
    noise = np.mean(np.sum(deviations**2, axis=2), axis=1)
    np.testing.assert_allclose(noise, spread**2, rtol=1e-8, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(problem.hessian).min() >= -1e-12 * big
    assert problem.optimal_value == pytest.approx(0, abs=1e-11 * (1 + np.max(np.abs(linears * optimum))))


def test_quadratic_depends_on_the_seed_alone():
    first, again, other = (quadratic(3, 2, 0.1, 1, 1.0, seed, samples=2, sample_spread=0.5) for seed in (7, 7, 8))
    assert np.array_equal(first.hessian, again.hessian)
    assert np.array_equal(first.linear, again.linear)
    assert not np.array_equal(first.hessian, other.hessian)


def test_quadratic_at_its_edges():
    assert quadratic(1, 1, 2.0, 2.0, 0, 0).client_hessian.ravel().tolist() == [2.0]
    assert quadratic(1, 3, 0.5, 2.0, 0, 0).strong_convexity == pytest.approx(0.5)
    spread = quadratic(2, 3, 0.01, 1.0, 1.0, 0, samples=3, sample_spread=5.0)
    assert np.linalg.eigvalsh(spread.hessian).min() < 0
    singular = quadratic(1, 2, 0.0, 1.0, 0, 0)
    with pytest.raises(ValueError, match="no unique minimiser"):
        _ = singular.minimiser
    assert singular.optimal_value == pytest.approx(0, abs=1e-12)


def test_scalar_is_what_it_says():
    h, a = [[1.0, 3.0], [2.0]], [[0.5, -1.0], [4.0]]
    problem = scalar(h, a)
    assert problem.counts.tolist() == [2, 1]
    for t in (-1.5, 0.0, 2.25):
        expected = [
            np.mean([c / 2 * (t - x) ** 2 for c, x in zip(*pair, strict=True)]) for pair in zip(h, a, strict=True)
        ]
        np.testing.assert_allclose(problem.client_cost([t]), expected, rtol=1e-14)


def test_scalar_in_fractions():
    problem = scalar([["1/8", 1], [Fraction(3, 7)]], [[2, "-1/3"], [0.5]], exact=True)
    t = Fraction(5, 11)
    first = (Fraction(1, 16) * (t - 2) ** 2 + Fraction(1, 2) * (t + Fraction(1, 3)) ** 2) / 2
    second = Fraction(3, 14) * (t - Fraction(1, 2)) ** 2
    assert problem.client_cost([t]).tolist() == [first, second]
    assert problem.cost([t]) == (first + second) / 2
    rounded = scalar([["1/8", 1], [Fraction(3, 7)]], [[2, "-1/3"], [0.5]])
    assert rounded.hessian.dtype == np.float64
    np.testing.assert_allclose(rounded.minimiser, problem.minimiser.astype(float), rtol=1e-14)


def test_least_squares_of_ragged_clients():
    random = np.random.default_rng(0)
    q, y = [random.normal(size=(n, 3)) for n in (4, 1, 6)], [random.normal(size=n) for n in (4, 1, 6)]
    problem = least_squares(q, y)
    x = random.normal(size=3)
    np.testing.assert_allclose(
        problem.client_cost(x), [np.mean((qn @ x - yn) ** 2) for qn, yn in zip(q, y, strict=True)], rtol=1e-12
    )
    # f is a least-squares problem in which each row has the weight 1/sqrt(N L_n)
    rows = np.concatenate([qn / np.sqrt(3 * len(qn)) for qn in q])
    values = np.concatenate([yn / np.sqrt(3 * len(yn)) for yn in y])
    expected = np.linalg.lstsq(rows, values)[0]
    np.testing.assert_allclose(problem.minimiser, expected, rtol=1e-10)
    assert problem.optimal_value == pytest.approx(np.sum((rows @ expected - values) ** 2), rel=1e-10)
    assert not problem.features[1, 1:].any()


def test_least_squares_in_fractions_is_solved_exactly():
    problem = least_squares([[[1, 2], [0, 1]], [["1/3", -1]]], [[1, 2], ["1/2"]], exact=True)
    assert problem.exact
    assert problem.gradient(problem.minimiser).tolist() == [0, 0]
    assert problem.features[0, 0].tolist() == [1, 2]


def test_from_samples_agrees_with_least_squares():
    q, y = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([1.0, 3.0])
    made = least_squares([q, q[:1]], [y, y[:1]])
    hessians = [2 * q[:, :, None] * q[:, None, :], 2 * q[:1, :, None] * q[:1, None, :]]
    same = from_samples(hessians, [2 * q * y[:, None], 2 * q[:1] * y[:1, None]], [y**2, y[:1] ** 2])
    for name in ("hessian", "linear", "offset", "counts"):
        np.testing.assert_array_equal(getattr(made, name), getattr(same, name))
    no_offset = from_samples([[[["1/2"]]]], [[[3]]], exact=True)
    assert no_offset.cost([2]) == -5


def test_importing_sim_needs_no_torch():
    code = (
        "import sys, sim; from sim import problems; problems.rand_hie();"
        "heavy = {'torch', 'scipy', 'sympy', 'flint', 'cvxpy', 'matplotlib', 'theory', 'validate'} & set(sys.modules);"
        "assert not heavy, heavy; assert {'run_open', 'moments', 'algorithms'} <= set(dir(sim))"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


VALID = {"clients": 2, "dim": 2, "mu": 0.1, "L": 1.0, "heterogeneity": 1.0, "seed": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mu": 2.0}, r"mu=2.0 is outside \[0, 1.0\]"),
        ({"mu": -0.5}, r"mu=-0.5 is outside \[0, 1.0\]"),
        ({"mu": math.nan}, r"mu=nan is outside \[0, 1.0\]"),
        ({"mu": "1"}, "mu='1' is outside"),
        ({"L": 0.0}, r"L=0.0 is outside \(0, inf\)"),
        ({"L": math.inf}, r"L=inf is outside \(0, inf\)"),
        ({"heterogeneity": -1.0}, r"heterogeneity=-1.0 is outside \[0, inf\)"),
        ({"heterogeneity": math.nan}, r"heterogeneity=nan is outside \[0, inf\)"),
        ({"clients": 1}, r"clients=1 is outside the integers in \[2, inf\), as heterogeneity=1.0 > 0"),
        ({"clients": 0}, r"clients=0 is outside the integers in \[1, inf\)"),
        ({"clients": 1, "dim": 1, "heterogeneity": 0}, r"clients\*dim=1 is outside the integers in \[2, inf\)"),
        ({"dim": 0}, r"dim=0 is outside the integers in \[1, inf\)"),
        ({"dim": 1.5}, "dim=1.5 is outside the integers"),
        ({"seed": -1}, "seed=-1 is outside the integers"),
        ({"samples": 0}, "samples=0 is outside the integers"),
        ({"sample_spread": 0.5}, r"samples=1 is outside the integers in \[2, inf\), as sample_spread=0.5 > 0"),
        ({"sample_spread": -0.5}, r"sample_spread=-0.5 is outside \[0, inf\)"),
    ],
)
def test_quadratic_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        quadratic(**{**VALID, **change})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: scalar([], []), "h is empty"),
        (lambda: scalar([[]], [[]]), r"h\[0\] has shape \(0,\)"),
        (lambda: scalar(1, 2), "h=1 is not a sequence"),
        (lambda: scalar([[1]], [[1], [2]]), "a has 2 clients, h has 1"),
        (lambda: scalar([[1], [1, 2]], [[1], [2]]), r"a\[1\] has 1 samples, h\[1\] has 2"),
        (lambda: scalar([[1]], [[math.nan]]), r"a\[0\]\[0\]=nan is outside \(-inf, inf\)"),
        (lambda: scalar([[1]], [[math.inf]], exact=True), r"a\[0\]\[0\]=inf is outside the rational numbers"),
        (lambda: scalar([["x"]], [[1]]), r"h\[0\]='x' is outside \(-inf, inf\)"),
        (lambda: scalar([["1/0"]], [[1]], exact=True), r"h\[0\]\[0\]='1/0' is outside the rational numbers"),
        (lambda: scalar([[[1]]], [[1]]), r"h\[0\] has shape \(1, 1\)"),
        (lambda: least_squares([[[1, 2]], [[1]]], [[1], [2]]), r"features\[1\] has shape \(1, 1\)"),
        (lambda: least_squares([[[1, 2], [3]]], [[1, 2]]), r"features\[0\] is not an array"),
        (lambda: least_squares([[[1, 2]]], [[1, 2]]), r"targets\[0\] has 2 samples, features\[0\] has 1"),
        (lambda: from_samples([[[[1, 2], [3, 4]]]], [[[1, 2]]]), "hessian is not symmetric"),
        (lambda: from_samples([[[[1, 2]]]], [[[1, 2]]]), r"hessians\[0\] has shape \(1, 1, 2\)"),
        (lambda: from_samples([[[[1]]]], [[[1, 2]]]), r"linears\[0\] has shape \(1, 2\)"),
        (lambda: from_samples([[[[1]]]], [[[1]]], [[1, 2]]), r"offsets\[0\] has 2 samples"),
    ],
)
def test_constructors_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()
