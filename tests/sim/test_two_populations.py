"""The synthetic data of two populations: their moments, their symmetry, and how samples are split and dealt."""

from typing import Any

import numpy as np
import pytest

from sim.problems import one_class_each, split_samples, two_population_logistic


def test_the_two_populations_are_mirror_images() -> None:
    one = two_population_logistic(4, 50, 6, 0.01, 3, second=0)
    two = two_population_logistic(4, 50, 6, 0.01, 3, second=4, mean=0.2)
    half = two_population_logistic(4, 50, 6, 0.01, 3)
    assert np.array_equal(half.features[:2], one.features[:2])
    assert np.array_equal(half.features[2:], two.features[2:])
    assert np.array_equal(half.labels, np.concatenate([one.labels[:2], two.labels[2:]]))
    np.testing.assert_allclose(one.features - 0.2, two.features + 0.2, atol=1e-12)
    # some w labels all of the first population correctly, and -w all of the second
    w = 0.1 + np.random.Generator(np.random.PCG64(3)).standard_normal(6)
    assert np.array_equal(np.sign(one.features @ w), one.labels)
    assert np.array_equal(np.sign(-(two.features @ w)), two.labels)


def test_the_features_have_the_paper_s_moments() -> None:
    """24,000 draws: standardised means beyond 6 have probability 2e-9 each (60 coordinates); so for the variances."""
    p = two_population_logistic(6, 4000, 60, 0.01, 5, second=0)
    x, variance = p.features.reshape(-1, 60), np.arange(1.0, 61) ** -1.2
    z = (x.mean(axis=0) - 0.2) / np.sqrt(variance / len(x))
    assert np.abs(z).max() < 6
    spread = (x.var(axis=0) / variance - 1) / np.sqrt(2 / len(x))
    assert np.abs(spread).max() < 6


def test_samples_are_split_and_dealt_again() -> None:
    p = two_population_logistic(5, 12, 4, 0.05, 1, second=0)
    first, second = split_samples(p, (7, 4))
    assert np.array_equal(np.concatenate([first.features, second.features], axis=1), p.features[:, :11])
    assert np.array_equal(np.concatenate([first.labels, second.labels], axis=1), p.labels[:, :11])
    assert first.ridge == second.ridge == 0.05
    dealt = one_class_each(p)
    assert sum(abs(row.sum()) != 12 for row in dealt.labels) <= 1
    together = [np.column_stack([q.features.reshape(-1, 4), q.labels.ravel()]) for q in (p, dealt)]
    assert np.array_equal(*(t[np.lexsort(t.T)] for t in together))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: two_population_logistic(2, 2, 2, 0.1, 0, second=3), "second=3"),
        (lambda: two_population_logistic(2, 2, 2, 0.1, 0, model_deviation=-1), "model_deviation"),
        (lambda: two_population_logistic(2, 2, 2, 0, 0), "ridge"),
        (lambda: two_population_logistic(0, 2, 2, 0.1, 0), "clients=0"),
        (lambda: split_samples(two_population_logistic(2, 5, 2, 0.1, 0), (3, 3)), "sizes"),
        (lambda: split_samples(two_population_logistic(2, 5, 2, 0.1, 0), (0,)), "sizes"),
    ],
)
def test_arguments_outside_their_domain(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
