"""Clients on which the claims about mixing weights are tried: quadratics in one and more dimensions, with noise or not.

What the claims bound is small unless a point lies near the minimiser and the penalty lam is of the size of n z; the
scenarios are drawn there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from sim.problems import Quadratic, from_samples, scalar
from validate import families
from validate.families import Levels
from validate.papers.perm.mixing import MixingScenario

SEED = 20260302


def scenarios(quick: bool = False) -> Iterator[MixingScenario]:
    """Points near and far from w*; runs with noise, all outcomes; runs that W stops; equal clients; steep penalties."""
    rng = np.random.default_rng(SEED)
    for i in range(60 if quick else 400):
        yield point(rng, f"point {i}")
    for i in range(6 if quick else 20):
        yield steep(rng, f"steep point {i}")
    for i in range(30 if quick else 150):
        yield run(rng, f"local run {i}", noise=i % 2 == 1)
    sizes: dict[str, tuple[Any, ...]] = {"clients": (2, 3), "noise": (0.0, 1.0), "samples": (2,), "local_steps": (1,)}
    there = families.levels(6, **sizes, apart=(1.0, 8.0), alike=(False,), spiky=(False,), start=("at",))
    for i, of in enumerate(islice(there, 16 if quick else 60)):
        yield settled(of, np.random.default_rng([SEED, i]))
    for i in range(6 if quick else 30):
        yield bounded(rng, f"on an interval {i}")


def quadratic_clients(rng: np.random.Generator, clients: int, dim: int, samples: int = 1) -> Quadratic:
    """Clients with eigenvalues in [mu, 1] and axes of their own; samples differ in the linear term."""
    least = float(rng.choice([0.01, 0.3, 0.9]))
    spread = float(10 ** rng.uniform(-3, 0.5))
    noise = float(10 ** rng.uniform(-2, 0))
    hessians, linears = [], []
    for _ in range(clients):
        axes, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
        values = rng.uniform(least, 1, size=dim)
        values[0] = float(rng.choice([least, 1.0, values[0]]))
        hessian = (axes * values) @ axes.T
        linear = spread * rng.normal(size=dim)
        hessians.append([(hessian + hessian.T) / 2] * samples)
        linears.append([linear + (noise * rng.normal(size=dim) if samples > 1 else 0) for _ in range(samples)])
    return from_samples(hessians, linears)


def _counts(rng: np.random.Generator, clients: int) -> np.ndarray:
    return rng.integers(1, int(rng.choice([2, 10, 100])), size=clients, endpoint=True).astype(np.float64)


def _penalty(rng: np.random.Generator, clients: Quadratic, counts: np.ndarray, w: np.ndarray, client: int) -> float:
    """lam such that several clients take part: of the size of n_j z_j."""
    gradients = clients.client_gradient(w)
    z = ((gradients - gradients[client]) ** 2).sum(axis=-1)
    return float(counts.max() * z.max() * 10 ** rng.uniform(-0.5, 1.5)) + 1e-9


def point(rng: np.random.Generator, name: str) -> MixingScenario:
    """No run: w^0 near w*."""
    clients, dim = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    quadratics = quadratic_clients(rng, clients, dim)
    w = quadratics.minimiser + rng.normal(size=dim) * 10 ** rng.uniform(-4, 0.5)
    counts, i = _counts(rng, clients), int(rng.integers(clients))
    lam = _penalty(rng, quadratics, counts, w, i)
    return MixingScenario(name, quadratics, counts, lam, i, 8, w, 0.1, 1, 0)


def steep(rng: np.random.Generator, name: str) -> MixingScenario:
    """One flat client, one dimension, and w where the observation of section 3.1 is tightest: 4 L d = |f_i' - f_j'|."""
    clients = int(rng.integers(2, 7))
    least, slope = 0.001, 1.0
    slopes = [slope] * (clients - 1) + [-(clients - 1) * slope]  # so that w* = 0
    quadratics = scalar([[1.0]] * (clients - 1) + [[least]], [[b] for b in (*slopes[:-1], slopes[-1] / least)])
    w = quadratics.minimiser - np.array([clients * slope * float(rng.uniform(0.2, 0.3))])
    counts = np.full(clients, 5.0)
    lam = 50 * float(((quadratics.client_gradient(w)[0] - quadratics.client_gradient(w)) ** 2).max())
    return MixingScenario(name, quadratics, counts, lam, int(rng.choice([0, clients - 1])), 8, w, 0.1, 1, 0)


def run(rng: np.random.Generator, name: str, *, noise: bool) -> MixingScenario:
    """A few rounds, gamma <= 1/(2L)."""
    clients, dim = int(rng.integers(2, 4 if noise else 6)), int(rng.integers(1, 4))
    quadratics = quadratic_clients(rng, clients, dim, 2 if noise else 1)
    local_steps = int(rng.choice([1, 1, 2])) if clients < 3 or not noise else 1
    rounds = int(rng.integers(1, 4)) if noise else int(rng.choice([1, 2, 5, 20]))
    w = quadratics.minimiser + rng.normal(size=dim) * 10 ** rng.uniform(-2, 0.5)
    counts, i = _counts(rng, clients), int(rng.integers(clients))
    lam = _penalty(rng, quadratics, counts, w, i)
    steps = int(rng.choice([1, 3, 30]))
    step = float(rng.uniform(0.02, 0.5)) / quadratics.smoothness
    return MixingScenario(name, quadratics, counts, lam, i, steps, w, step, local_steps, rounds)


def settled(of: Levels, rng: np.random.Generator) -> MixingScenario:
    """From w* itself, which is 0 exactly; no round, or a few."""
    quadratics, w = families.problem(of), np.zeros(of.dim)
    counts, i = _counts(rng, of.clients), int(rng.integers(of.clients))
    lam = _penalty(rng, quadratics, counts, w, i)
    rounds = of.turn % 3
    step = of.share / (2 * float(quadratics.smoothness))
    return MixingScenario(f"at w*, {of.turn}", quadratics, counts, lam, i, 8, w, step, 1, rounds)


def bounded(rng: np.random.Generator, name: str) -> MixingScenario:
    """One dimension, one local step, W an interval that stops the run before the minimiser of the whole line."""
    quadratics = quadratic_clients(rng, 2, 1, 2)
    shifted = from_samples(
        list(quadratics.hessian),
        [list(own + 3 * own_h[:, 0]) for own, own_h in zip(quadratics.linear, quadratics.hessian, strict=True)],
    )
    counts = _counts(rng, 2)
    w = np.array([float(rng.uniform(-1, 1))])
    lam = _penalty(rng, shifted, counts, w, 0)
    step = float(rng.uniform(0.1, 0.9)) / shifted.smoothness
    return MixingScenario(name, shifted, counts, lam, 0, 5, w, step, 1, int(rng.integers(2, 5)), radius=1.0)
