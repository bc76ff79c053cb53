"""What mixing weights Algorithm 3 finds: on two populations, on homogeneous clients, on clients of one class each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Progress, Table
from validate.experiments import former as ex
from validate.experiments.two_populations.setting import DATA_SEED, DEVIATION, DIM, RIDGE, SPLIT, Size

ROUNDS, STEP = 100, 1.0  # of Algorithm 3, with full gradients; the step is divided by K
SHARES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # lam/n
DRAWN = 1.0
IMAGES = 30  # of each client of the digits
DIGIT_RIDGE = 0.01


class Federation(NamedTuple):
    """Clients' data: a problem, its title, how many of the clients are alike to the first, and the key."""

    key: str
    title: str
    problem: Any
    group: np.ndarray


def federations(size: Size) -> list[Federation]:
    """The data sets; those of digits only where they are wanted and scikit-learn is installed."""
    from sim.problems import RidgeSoftmax, digits, one_class_each, two_population_logistic

    N, n = size.clients, SPLIT[0]
    options: Any = {"model_deviation": DEVIATION}
    same = two_population_logistic(N, n, DIM, RIDGE, DATA_SEED, second=0, **options)
    two = two_population_logistic(N, n, DIM, RIDGE, DATA_SEED, **options)
    one = one_class_each(same)
    found = [
        Federation("two-populations", "two populations", two, np.arange(N) >= N // 2),
        Federation("homogeneous", "homogeneous", same, np.zeros(N)),
        Federation("one-class", "one class a client", one, np.sign(one.labels.sum(axis=1))),
    ]
    if not size.digits:
        return found
    try:
        images = digits(N, IMAGES, DIGIT_RIDGE, DATA_SEED)
    except ImportError:
        return found
    order = np.argsort(images.labels.ravel(), kind="stable")
    features, labels = images.features.reshape(N * IMAGES, -1)[order], images.labels.ravel()[order]
    sorted_images = RidgeSoftmax(
        features.reshape(images.features.shape), labels.reshape(images.labels.shape), images.classes, images.ridge
    )
    typical = np.median(sorted_images.labels, axis=1)
    return [
        *found,
        Federation("digits-homogeneous", "digits, homogeneous", images, np.zeros(N)),
        Federation("digits-one-class", "digits, one class a client", sorted_images, typical),
    ]


def global_model(problem: Any, rounds: int, step: float, local_steps: int) -> np.ndarray:
    """w^R of Algorithm 3 with full gradients, (d,): each round K steps of step/K of every client, then the mean."""
    w = np.zeros(problem.dim)
    for _ in range(rounds):
        local = np.tile(w, (problem.clients, 1))
        for _ in range(local_steps):
            local = local - step / local_steps * problem.gradient(local)
        w = local.mean(axis=0)
    return w


def learned(
    size: Size, folder: Path, progress: Progress | None = None
) -> dict[str, tuple[Federation, np.ndarray, np.ndarray]]:
    """By key: the federation, z (N, N) at its global model, and the weights (lam, N, N) for lam = n times `SHARES`."""
    from theory.mixing import discrepancies, mixing_weights

    found = {}
    for federation in federations(size):
        problem = federation.problem
        settings = {"key": federation.key, "clients": size.clients, "samples": problem.samples, "dim": problem.dim}
        settings |= {"rounds": ROUNDS, "step": STEP, "ridge": problem.ridge, "seed": DATA_SEED, "shares": SHARES}

        def compute(problem: Any = problem) -> Mapping[str, np.ndarray]:
            w = global_model(problem, ROUNDS, STEP, 2)
            z = discrepancies(problem.gradient(w))
            n = np.full(problem.clients, problem.samples)
            return {"z": z, "weights": mixing_weights(z, n, np.array(SHARES) * problem.samples).weights}

        kept = ex.stored(
            folder / f"weights-{federation.key}-{size.clients}.npz",
            json.dumps(settings, sort_keys=True),
            compute,
            what=f"mixing weights, {federation.title}",
            progress=progress,
        )
        found[federation.key] = (federation, kept["z"], kept["weights"])
    return found


def sparsity(weights: np.ndarray) -> tuple[float, float]:
    """The mean number of positive weights of a client, and the mean weight of its own data. weights: (N, N)."""
    return float((weights > 0).sum(axis=1).mean()), float(np.diag(weights).mean())


def sparsity_table(found: Mapping[str, tuple[Federation, np.ndarray, np.ndarray]]) -> Table:
    """How the weights' sparsity depends on lam."""
    rows = []
    for federation, z, weights in found.values():
        alike = federation.group[:, None] == federation.group
        alike &= ~np.eye(len(alike), dtype=bool)
        other = federation.group[:, None] != federation.group
        ratio = f"{z[other].mean() / z[alike].mean():.3g}" if other.any() and alike.any() else "none"
        cells = (f"{count:.1f} ({own:.2f})" for count, own in map(sparsity, weights))
        rows.append((federation.title, ratio, *cells))
    N = len(next(iter(found.values()))[1])
    return Table(
        "How many clients a client learns from, and the weight of its own data (in brackets)",
        ("data", "z unlike : z alike", *(f"λ/n = {share:g}" for share in SHARES)),
        tuple(rows),
        f"Means over the N = {N} clients, of the weights that solve (2) at the global model. The first column compares "
        "||∇f_i - ∇f_j||² of unlike clients (other population, other class) with that of like ones, where there are "
        "both. λ is not stated in the paper.",
    )
