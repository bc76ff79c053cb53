"""Clients with Dirichlet label skew: proportions, class means, streams, and arguments outside their domain."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sim.problems import RidgeSoftmax, balanced_test_set, dirichlet_label_skew


def counts(problem: RidgeSoftmax) -> np.ndarray:
    """(N, C), how many samples of each class a client has."""
    return np.array([np.bincount(labels, minlength=problem.classes) for labels in problem.labels])


@given(
    clients=st.integers(1, 5),
    samples=st.integers(1, 6),
    classes=st.integers(2, 5),
    inputs=st.integers(1, 4),
    concentration=st.none() | st.floats(1e-300, 1e300),
    seed=st.integers(0, 2**64),
    separation=st.floats(0.1, 10),
    decay=st.floats(-3, 3),
)
def test_shapes_intercept_and_the_same_again(
    clients: int,
    samples: int,
    classes: int,
    inputs: int,
    concentration: float | None,
    seed: int,
    separation: float,
    decay: float,
) -> None:
    made = [
        dirichlet_label_skew(
            clients, samples, classes, inputs, concentration, 0.1, seed, separation=separation, decay=decay
        )
        for _ in range(2)
    ]
    p = made[0]
    assert p.features.shape == (clients, samples, inputs + 1)
    assert (p.clients, p.samples, p.classes, p.inputs, p.ridge) == (clients, samples, classes, inputs + 1, 0.1)
    assert np.all(p.features[:, :, -1] == 1)
    assert np.array_equal(p.features, made[1].features)
    assert np.array_equal(p.labels, made[1].labels)
    test = balanced_test_set(samples, classes, inputs, 0.1, seed, separation=separation, decay=decay)
    assert counts(test).tolist() == [[samples] * classes]


def test_iid_clients_have_equal_proportions() -> None:
    """Counts are multinomial: the sum of all clients' chi-square statistics is chi-square with N (C-1) degrees.

    With n = 400 and C = 5 the law is close enough; the error probability of each side is 5e-7.
    """
    p = dirichlet_label_skew(200, 400, 5, 2, None, 0.1, 1)
    expected = 400 / 5
    statistic = float(np.sum((counts(p) - expected) ** 2 / expected))
    law = stats.chi2(200 * 4)
    assert law.isf(1 - 5e-7) < statistic < law.isf(5e-7)


@pytest.mark.parametrize("concentration", [0.1, 0.3, 3.0])
def test_proportions_are_dirichlet(concentration: float) -> None:
    """Of two samples of a client, the labels agree with probability sum_c E q_c^2 = (a + 1)/(C a + 1).

    The clients are independent; 20,000 of them with two samples each; two-sided binomial test at 1e-6.
    """
    N, C = 20_000, 4
    p = dirichlet_label_skew(N, 2, C, 1, concentration, 0.1, 2)
    same = int(np.sum(p.labels[:, 0] == p.labels[:, 1]))
    law = stats.binom(N, (concentration + 1) / (C * concentration + 1))
    assert law.ppf(5e-7) <= same <= law.isf(5e-7)
    # the classes are alike: each has N of the 4N first labels on average
    first = np.bincount(p.labels[:, 0], minlength=C)
    quarter = stats.binom(N, 1 / C)
    assert np.all((first >= quarter.ppf(1e-7)) & (first <= quarter.isf(1e-7)))


def test_a_tiny_concentration_leaves_one_class_a_client() -> None:
    p = dirichlet_label_skew(300, 20, 4, 1, 1e-6, 0.1, 3)
    assert np.all(counts(p).max(axis=1) == 20)  # a second class has probability of about 300 * 3 * 1e-6 * log(20)
    assert len(set(p.labels[:, 0].tolist())) == 4


def test_a_smaller_concentration_is_a_stronger_skew() -> None:
    """The mean of the largest share of a class in a client: 0.84, 0.68, 0.48 and 0.32 by simulation, far apart."""
    shares = [
        counts(dirichlet_label_skew(300, 100, 5, 1, a, 0.1, 4)).max(axis=1).mean() / 100 for a in (0.1, 0.3, 1.0, None)
    ]
    assert all(x - y > 0.08 for x, y in itertools.pairwise(shares))


@pytest.mark.parametrize("decay", [0.0, 1.5])
def test_classes_are_normal_around_means_of_the_stated_distance(decay: float) -> None:
    """80,000 test samples: standard errors of the means are 1/sqrt(20,000); 1e-6 is 4.9 of them, with 12 means 5.4."""
    p = balanced_test_set(20_000, 4, 3, 0.1, 5, separation=2.5, decay=decay)
    x = p.features[0, :, :-1] / np.arange(1.0, 4) ** (-decay / 2)
    means = np.array([x[p.labels[0] == c].mean(axis=0) for c in range(4)])
    pairs = [(c, e) for c in range(4) for e in range(c)]
    squares = np.mean([np.sum((means[c] - means[e]) ** 2) for c, e in pairs])
    assert squares == pytest.approx(2.5**2, rel=0.05)
    within = x - means[p.labels[0]]
    np.testing.assert_allclose(np.cov(within.T), np.eye(3), atol=0.03)
    np.testing.assert_allclose(means.mean(axis=0), 0, atol=5.4 / np.sqrt(80_000))
    # the clients' samples are of the same classes
    q = dirichlet_label_skew(10, 4000, 4, 3, None, 0.1, 5, separation=2.5, decay=decay)
    y = q.features[:, :, :-1] / np.arange(1.0, 4) ** (-decay / 2)
    theirs = np.array([y[q.labels == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(theirs, means, atol=5.4 * np.sqrt(1 / 9500 + 1 / 20_000))


def test_only_what_is_asked_for_changes() -> None:
    base = dirichlet_label_skew(6, 30, 3, 2, 0.3, 0.1, 7)
    ridge = dirichlet_label_skew(6, 30, 3, 2, 0.3, 0.2, 7)
    assert np.array_equal(base.features, ridge.features)
    other = dirichlet_label_skew(6, 30, 3, 2, None, 0.1, 7)
    alike = base.labels == other.labels
    assert 0.1 < alike.mean() < 0.9
    np.testing.assert_array_equal(base.features[alike], other.features[alike])
    assert not np.array_equal(base.features, dirichlet_label_skew(6, 30, 3, 2, 0.3, 0.1, 8).features)
    test = balanced_test_set(60, 3, 2, 0.1, 7)
    assert not np.isin(test.features[0, :, 0], base.features[:, :, 0]).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clients": 0}, "clients=0"),
        ({"samples": 0}, "samples=0"),
        ({"classes": 1}, "classes=1"),
        ({"inputs": 0}, "inputs=0"),
        ({"concentration": 0}, "concentration=0"),
        ({"concentration": float("inf")}, "concentration=inf"),
        ({"ridge": 0}, "ridge"),
        ({"seed": -1}, "seed=-1"),
        ({"separation": 0.0}, "separation=0"),
        ({"decay": float("nan")}, "decay=nan"),
    ],
)
def test_arguments_outside_their_domain(change: dict[str, Any], message: str) -> None:
    given = {"clients": 2, "samples": 3, "classes": 2, "inputs": 2, "concentration": 0.1, "ridge": 0.1, "seed": 0}
    given |= change
    with pytest.raises(ValueError, match=message):
        dirichlet_label_skew(**given)
    if not {"clients", "concentration"} & set(change):
        with pytest.raises(ValueError, match=message):
            balanced_test_set(**{k: v for k, v in given.items() if k not in ("clients", "concentration")})
