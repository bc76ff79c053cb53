"""Synthetic data (Deng et al., experiments): clients of two populations, alike points labelled with opposite signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import integer, real
from sim.problems.logistic import RidgeLogistic

Array = NDArray[Any]


def two_population_logistic(
    clients: int,
    samples: int,
    dim: int,
    ridge: float,
    seed: int,
    *,
    second: int | None = None,
    mean: float = 0.2,
    model_mean: float = 0.1,
    model_deviation: float = 1.0,
    decay: float = 1.2,
) -> RidgeLogistic:
    """Ridge logistic regression on clients of two populations.

    x has independent normal entries of variance k^-decay, k = 1..d, and the mean `mean` in every entry for the first
    clients, -`mean` for the last `second`. One labelling model w with entries N(model_mean, model_deviation^2) serves
    all: y = sign(w.x) for the first clients, sign(-w.x) for the last (y = 1 where w.x = 0). A client of the second
    population is thus distributed as -x, y of the first: its f is f(-w) of the first's, in expectation.

    Source: Deng, Kamani, Mahdavinia, Mahdavi, "Distributed Personalized Empirical Risk Minimization", section 4 (N =
    50, n = 500, d = 60; the deviation of w and the ridge are not stated there).

    Args:
        clients: N >= 1.
        samples: n >= 1, of each client.
        dim: d >= 1.
        ridge: in (0, inf).
        seed: non-negative integer; the data are a function of the arguments (PCG64). The draws do not depend on
            `second`, `ridge` and the means.
        second: clients of the second population, in [0, N]; N - N // 2 by default, 0 for homogeneous data.
        mean: of the first population's features.
        model_mean: of the entries of w.
        model_deviation: of the entries of w, in [0, inf).
        decay: of the variances.

    Raises:
        ValueError: an argument outside its domain.
    """
    clients, samples, dim = integer("clients", clients, 1), integer("samples", samples, 1), integer("dim", dim, 1)
    last = clients - clients // 2 if second is None else integer("second", second, 0)
    if last > clients:
        raise ValueError(f"second={last} is outside the integers in [0, {clients}]")
    deviation = real("model_deviation", model_deviation, "[0, inf)")
    if deviation < 0:
        raise ValueError(f"model_deviation={deviation} is outside [0, inf)")
    random = np.random.Generator(np.random.PCG64(integer("seed", seed, 0)))
    w = real("model_mean", model_mean, "(-inf, inf)") + deviation * random.standard_normal(dim)
    sides = np.where(np.arange(clients) < clients - last, 1.0, -1.0)
    spread = np.arange(1.0, dim + 1) ** (-real("decay", decay, "(-inf, inf)") / 2)
    features = spread * random.standard_normal((clients, samples, dim))
    features += real("mean", mean, "(-inf, inf)") * sides[:, None, None]
    labels = np.where(sides[:, None] * (features @ w) >= 0, 1.0, -1.0)
    return RidgeLogistic(features, labels, ridge)


def split_samples(problem: RidgeLogistic, sizes: Sequence[int]) -> tuple[RidgeLogistic, ...]:
    """The same clients with the first sizes[0] samples each, with the next sizes[1], and so on.

    Args:
        problem: of n samples a client.
        sizes: each at least 1, together at most n.

    Raises:
        ValueError: for other sizes.
    """
    counts = [integer(f"sizes[{i}]", size, 1) for i, size in enumerate(sizes)]
    if sum(counts) > problem.samples:
        raise ValueError(f"sizes={tuple(counts)} add up to more than the {problem.samples} samples of a client")
    ends = np.cumsum(counts)
    return tuple(
        RidgeLogistic(problem.features[:, end - count : end], problem.labels[:, end - count : end], problem.ridge)
        for count, end in zip(counts, ends, strict=True)
    )


def one_class_each(problem: RidgeLogistic) -> RidgeLogistic:
    """All samples dealt out again, sorted by label: every client has one class, but for at most one that has both."""
    dim = problem.dim
    order = np.argsort(-problem.labels.ravel(), kind="stable")
    features, labels = problem.features.reshape(-1, dim)[order], problem.labels.ravel()[order]
    return RidgeLogistic(features.reshape(problem.features.shape), labels.reshape(problem.labels.shape), problem.ridge)
