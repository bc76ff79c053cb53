"""Quadratic against direct evaluation, finite differences, numpy and scipy; exact mode against float mode."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import Quadratic, from_samples, least_squares, scalar
from tests.rationals import rationals

small = rationals(-4, 4, 6)


def ragged(seed=0, convex=True, dim=3):
    random = np.random.default_rng(seed)
    hessians, linears, offsets = [], [], []
    for samples in (3, 1, 2):
        h = random.normal(size=(samples, dim, dim))
        hessians.append(h @ np.swapaxes(h, 1, 2) + np.eye(dim) if convex else h + np.swapaxes(h, 1, 2))
        linears.append(random.normal(size=(samples, dim)))
        offsets.append(random.normal(size=samples))
    return from_samples(hessians, linears, offsets), hessians, linears, offsets


def test_gradients_match_finite_differences():
    problem = ragged(convex=False)[0]
    x, step = np.array([0.3, -1.0, 2.0]), 1e-4
    shifted = np.array([x + s * step * e for s in (1, -1) for e in np.eye(3)])
    # central differences are exact on quadratics but for rounding, eps |f| / step ~ 1e-11
    costs, client_costs = problem.cost(shifted), problem.client_cost(shifted)
    np.testing.assert_allclose(problem.gradient(x), (costs[:3] - costs[3:]) / (2 * step), atol=1e-9)
    np.testing.assert_allclose(
        problem.client_gradient(x), ((client_costs[:3] - client_costs[3:]) / (2 * step)).T, atol=1e-9
    )
    assert problem.client_gradient(np.stack([x, x])).shape == (2, 3, 3)


def test_constants_match_eigenvalues():
    problem, hessians, _, _ = ragged(convex=False)
    eigenvalues = [np.linalg.eigvals(h.mean(axis=0)).real for h in hessians]
    assert problem.smoothness == pytest.approx(np.max(np.abs(eigenvalues)), rel=1e-12)
    assert problem.strong_convexity == pytest.approx(np.min(eigenvalues), rel=1e-12)
    of_samples = np.linalg.eigvals(np.concatenate(hessians)).real
    assert problem.sample_smoothness == pytest.approx(np.max(np.abs(of_samples)), rel=1e-12)
    assert problem.sample_strong_convexity == pytest.approx(np.min(of_samples), rel=1e-12)
    # padding is no sample: its zero Hessian must not count
    assert ragged()[0].sample_strong_convexity > 0.9


def estimator_second_moment(problem, w, snapshot):
    """max_n E||v||^2, sample by sample."""
    best = 0
    for n in range(problem.clients):
        own = range(problem.counts[n])
        sampled = [problem.hessian[n, i] @ (w - snapshot) for i in own]
        v = [s + problem.client_gradient(snapshot)[n] for s in sampled]
        best = max(best, sum((u**2).sum() for u in v) / len(v))
    return best


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.tuples(small, small), min_size=1, max_size=3), min_size=1, max_size=3),
    rationals(0, 5, 4),
    small,
)
def test_gradient_bound_is_attained_in_one_dimension(clients, radius, centre):
    problem = scalar([[s[0] for s in c] for c in clients], [[s[1] for s in c] for c in clients], exact=True)
    bound = problem.gradient_bound(radius, [centre])
    # E||v||^2 is convex in (w, snapshot), so its maximum over the square is at a corner
    ends = [np.array([centre - radius], dtype=object), np.array([centre + radius], dtype=object)]
    assert bound == max(estimator_second_moment(problem, w, s) for w in ends for s in ends)
    assert isinstance(bound, Fraction)


def positive_definite(draw, dim):
    factor = [[draw(small) for _ in range(dim)] for _ in range(dim)]
    return [[sum(r[i] * r[j] for r in factor) + (i == j) for j in range(dim)] for i in range(dim)]


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(1, 3))
def test_exact_mode_agrees_with_floats(data, dim):
    hessians = [[positive_definite(data.draw, dim) for _ in range(n)] for n in (2, 1)]
    linears = [[[data.draw(small) for _ in range(dim)] for _ in range(n)] for n in (2, 1)]
    exact, rounded = (from_samples(hessians, linears, exact=e) for e in (True, False))
    assert exact.exact
    assert not rounded.exact
    assert exact.gradient(exact.minimiser).tolist() == [0] * dim
    assert exact.cost(exact.minimiser) == exact.optimal_value
    for n in range(2):
        assert exact.client_gradient(exact.client_minimisers[n])[n].tolist() == [0] * dim
        assert exact.client_cost(exact.client_minimisers[n])[n] == exact.client_minima[n]
    point = [Fraction(1, 3)] * dim
    for of in (
        lambda p: p.minimiser,
        lambda p: p.optimal_value,
        lambda p: p.heterogeneity,
        lambda p: p.smoothness,
        lambda p: p.strong_convexity,
        lambda p: p.sample_smoothness,
        lambda p: p.client_minima,
        lambda p: p.sampling_noise(point),
        lambda p: p.suboptimality(point),
        lambda p: p.client_gradient([point, point]),
        lambda p: p.gradient_bound(2),
    ):
        np.testing.assert_allclose(np.asarray(of(exact), dtype=float), of(rounded), rtol=1e-7, atol=1e-7)


def test_clients_without_minimum():
    problem = scalar([[1], [-1, "1/2"], [0]], [[0], [2, 1], [5]], exact=True)
    assert problem.client_minimisers is None
    assert problem.client_minima.tolist() == [0, -math.inf, 0]
    # in floats, a singular client that is bounded below still has its minimum
    flat = least_squares([[[1.0, 2.0]], np.eye(2)], [[3.0], [1.0, 1.0]])
    assert flat.client_minimisers is None
    np.testing.assert_allclose(flat.client_minima, [0, 0], atol=1e-14)


@pytest.mark.parametrize("exact", [True, False])
def test_no_minimum_is_said_clearly(exact):
    flat = from_samples([[np.diag([1, 0])]], [[[1, 0]]], exact=exact)
    assert flat.optimal_value == Fraction(-1, 2)
    assert flat.suboptimality([3, 7]) == 2
    falling = from_samples([[np.diag([1, 0])]], [[[1, 1]]], exact=exact)
    saddle = from_samples([[np.diag([1, -1])]], [[[0, 0]]], exact=exact)
    hidden = from_samples([[np.array([[0, 1], [1, 0]])]], [[[0, 0]]], exact=exact)
    for problem in (flat, falling, saddle, hidden):
        with pytest.raises(ValueError, match="f has no unique minimiser: the smallest eigenvalue"):
            _ = problem.minimiser
        with pytest.raises(ValueError, match="no unique minimiser"):
            _ = problem.heterogeneity
    for problem in (falling, saddle, hidden):
        with pytest.raises(ValueError, match="f is unbounded below"):
            _ = problem.optimal_value
        with pytest.raises(ValueError, match="f is unbounded below"):
            problem.suboptimality([0, 0])


GOOD = {
    "hessian": np.ones((2, 2, 1, 1)) * [[[[1]], [[1]]], [[[1]], [[0]]]],
    "linear": np.zeros((2, 2, 1)),
    "offset": np.zeros((2, 2)),
    "counts": np.array([2, 1]),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hessian": np.ones((2, 2, 1))}, r"hessian has shape \(2, 2, 1\), not"),
        ({"hessian": np.ones((2, 2, 1, 2))}, r"hessian has shape \(2, 2, 1, 2\), not"),
        ({"hessian": np.ones((2, 2, 1, 1))}, "hessian is not zero in the padding"),
        ({"hessian": np.full((2, 2, 1, 1), np.nan)}, r"hessian\[0, 0, 0, 0\]=nan is outside \(-inf, inf\)"),
        ({"linear": np.zeros((2, 1, 1))}, r"linear has shape \(2, 1, 1\), not \(2, 2, 1\)"),
        ({"linear": np.ones((2, 2, 1))}, "linear is not zero in the padding"),
        ({"offset": np.array([[0, np.inf], [0, 0]])}, r"offset\[0, 1\]=inf is outside \(-inf, inf\)"),
        ({"offset": np.zeros(2)}, r"offset has shape \(2,\), not \(2, 2\)"),
        ({"counts": np.array([2, 3])}, r"counts\[1\]=3 is outside the integers in \[1, 2\]"),
        ({"counts": np.array([0, 1])}, r"counts\[0\]=0 is outside the integers in \[1, 2\]"),
        ({"counts": np.array([1.5, 1])}, "counts=.* is outside the integers"),
        ({"counts": np.array([1])}, r"counts has shape \(1,\), not \(2,\)"),
        ({"features": np.zeros((2, 2, 1))}, "features and targets go together"),
        ({"features": np.zeros((2, 2, 1)), "targets": np.zeros((2, 2))}, "hessian differs from what features"),
        ({"features": np.zeros((2, 2)), "targets": np.zeros((2, 2))}, r"features has shape \(2, 2\)"),
    ],
)
def test_bad_arrays_are_refused(change, message):
    Quadratic(**GOOD)
    with pytest.raises(ValueError, match=message):
        Quadratic(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda p: p.cost([1.0, 2.0]), r"x has shape \(2,\), not \(..., 3\)"),
        (lambda p: p.gradient(1.0), r"x has shape \(\), not \(..., 3\)"),
        (lambda p: p.client_gradient([1.0, math.nan, 0.0]), r"x\[1\]=nan is outside \(-inf, inf\)"),
        (lambda p: p.gradient_bound(-1), r"radius=-1 is outside \[0, inf\)"),
        (lambda p: p.gradient_bound(math.nan), r"radius=nan is outside \[0, inf\)"),
        (lambda p: p.gradient_bound([1, 2]), r"radius=\[1, 2\] is outside \[0, inf\)"),
        (lambda p: p.gradient_bound(1, [0.0]), r"centre has shape \(1,\)"),
        (lambda p: p.gradient_bound(1, np.zeros((2, 3))), r"centre has shape \(2, 3\), not \(3,\)"),
    ],
)
def test_bad_points_are_refused(use, message):
    with pytest.raises(ValueError, match=message):
        use(ragged()[0])


@given(st.data())
def test_copies_are_told_by_what_their_numbers_are(data: st.DataObject) -> None:
    """100 functions and more, copies of a few: means and constants are those of all of them."""
    d, clients, samples = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 20)), 100
    kinds = data.draw(st.lists(st.lists(small, min_size=d * 2, max_size=d * 2), min_size=1, max_size=4))
    exact = data.draw(st.booleans())
    of = np.array([[data.draw(st.integers(0, len(kinds) - 1)) for _ in range(4)] * (samples // 4)] * clients)
    of[-1] = of[0, 0]
    counts = np.array([data.draw(st.integers(1, samples)) for _ in range(clients)])
    hessian, linear, offset = np.zeros((clients, samples, d, d), object), np.zeros((clients, samples, d), object), None
    hessian[:], linear[:], offset = Fraction(0), Fraction(0), np.full((clients, samples), Fraction(0), dtype=object)
    for n in range(clients):
        for i in range(counts[n]):
            kind = kinds[of[n, i]]
            hessian[n, i, range(d), range(d)], linear[n, i] = kind[:d], kind[d:]
    arrays = [hessian, linear, offset] if exact else [a.astype(float) for a in (hessian, linear, offset)]
    problem = Quadratic(*arrays, counts)
    own = [(n, i) for n in range(clients) for i in range(counts[n])]
    different = [tuple(one) for one in problem.different_samples.tolist()]
    assert set(different) <= set(own)
    numbers = {(*problem.hessian[one].ravel(), *problem.linear[one]) for one in own}
    assert {(*problem.hessian[one].ravel(), *problem.linear[one]) for one in different} == numbers
    assert len(different) <= len(kinds) or len(own) < 64
    first, count = problem.different_clients
    assert sum(count) == clients
    for n in range(clients):
        mean = sum(problem.hessian[n, i] for i in range(counts[n])) / int(counts[n])
        assert np.all(problem.client_hessian[n] == mean) if exact else np.allclose(problem.client_hessian[n], mean)
    total = sum(int(c) * problem.client_linear[n] for n, c in zip(first, count, strict=True)) / clients
    assert np.all(total == problem.mean_linear) if exact else np.allclose(total, problem.mean_linear)
