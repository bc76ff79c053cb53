"""What the claims about shuffling are held against: random instances, reproducible, and the extreme ones.

Epochs in one dimension are made of small rationals and exist in floats and, from the same numbers, in Fractions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from validate.papers.perm.shuffling_epochs import Epoch
from validate.papers.perm.shuffling_runs import Personal, Run, single_loop, two_stage
from validate.papers.perm.shuffling_tools import Products, Vectors

SEED = 20_241
EPOCHS = {False: 240, True: 60}
OTHERS = {False: 120, True: 30}


def scenarios(quick: bool = False) -> Iterator[Any]:
    """Epochs, runs, vectors and products, all in floats."""
    yield from (in_floats(epoch) for epoch in scalar_epochs(EPOCHS[quick]))
    yield from plane_epochs(OTHERS[quick])
    yield from vectors(OTHERS[quick])
    yield from products(OTHERS[quick])
    yield from runs(OTHERS[quick])


def scalar_epochs(count: int) -> Iterator[Epoch]:
    """Exact epochs in one dimension: some are extreme (opposite gradients, equal clients, sparse weights)."""
    rng = random.Random(SEED)
    for i in range(count):
        N, K = rng.choice((1, 2, 2, 3, 3, 4, 4, 5)), rng.choice((1, 1, 2, 3))
        steep = rng.choice((Fraction(1, 1000), Fraction(1), Fraction(1), Fraction(50)))
        h = [steep * Fraction(rng.randint(1, 8), 4) for _ in range(N)]
        if i % 3 == 0:
            h = [h[0]] * N
        b = [Fraction(rng.randint(-8, 8), 4) for _ in range(N)]
        if i % 4 == 1:
            b = [Fraction((-1) ** j) for j in range(N)]
        shares = [rng.choice((0, 1, 1, 2, 5)) for _ in range(N)]
        shares[rng.randrange(N)] += 1
        alpha = [Fraction(share, sum(shares)) for share in shares]
        if i % 5 == 0:
            alpha = [Fraction(1, N)] * N
        R = rng.choice((1, 1, 2, 10))
        step = rng.choice((Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 10))) / (4 * N * K * R * max(h))
        if i % 6 == 5:
            step, R = step * 4 * R, 1  # up to eta N K L = 1
        weighted = sum(a * x for a, x in zip(alpha, b, strict=True)), sum(a * x for a, x in zip(alpha, h, strict=True))
        start = weighted[0] / weighted[1] if i % 2 else Fraction(rng.randint(-8, 8), 2)
        noise = rng.choice((Fraction(0), Fraction(0), Fraction(1, 2), Fraction(3))) if N * K <= 6 else Fraction(0)
        width = rng.choice((Fraction(1, 100), Fraction(1), Fraction(10)))
        yield epoch(f"epoch {i}", h, b, alpha, step, K, R, start, width, noise)


def epoch(
    name: str, h: Any, b: Any, alpha: Any, step: Any, K: int, R: int, start: Any, width: Any, spread: Any = 0
) -> Epoch:
    """A scalar epoch in Fractions.

    Args:
        name: for the reader.
        h, b, alpha: one number a client, f = h/2 v^2 - b v.
        step: eta.
        K: local steps.
        R: epochs, of which this is one.
        start: v^r.
        width: W is [start - width, start + width].
        spread: of the noise.
    """
    rational = np.vectorize(Fraction, otypes=[object])
    return Epoch(
        name, rational(np.array(h, dtype=object)).reshape(-1, 1, 1), rational(np.array(b, dtype=object)).reshape(-1, 1),
        rational(np.array(alpha, dtype=object)), Fraction(step), K, R, rational(np.array([start], dtype=object)),
        Fraction(width), Fraction(spread),
    )  # fmt: skip


def in_floats(exact: Epoch) -> Epoch:
    """The same epoch in float64."""

    def floats(values: Any) -> Any:
        return np.asarray(values, dtype=np.float64)

    return replace(
        exact,
        hessian=floats(exact.hessian),
        linear=floats(exact.linear),
        alpha=floats(exact.alpha),
        step=float(exact.step),
        start=floats(exact.start),
        width=float(exact.width),
        spread=float(exact.spread),
    )


def plane_epochs(count: int) -> Iterator[Epoch]:
    """Epochs in the plane, Hessians that do not commute."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        N, K = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        mu, L = 10.0 ** rng.uniform(-2, 0), 1.0
        turns = rng.uniform(0, math.pi, N)
        frames = np.array([[[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]] for t in turns])
        spectra = rng.choice([mu, L], size=(N, 2)) if i % 2 else rng.uniform(mu, L, (N, 2))
        spectra[0, 0] = L
        hessian = np.einsum("nij,nj,nkj->nik", frames, spectra, frames)
        hessian = (hessian + hessian.transpose(0, 2, 1)) / 2
        alpha = rng.dirichlet(np.full(N, float(rng.choice([0.3, 1.0, 10.0]))))
        R = int(rng.choice([1, 2, 8]))
        step = float(rng.choice([1.0, 0.3])) / (4 * N * K * R * L) * (1 - 1e-9)
        spread = float(rng.choice([0.0, 0.5]))
        linear, start = rng.normal(size=(N, 2)) * rng.choice([0.1, 1.0, 10.0]), rng.normal(size=2)
        width = 100.0 * (1 + float(abs(linear).max()) / mu)
        yield Epoch(f"plane epoch {i}", hessian, linear, alpha, step, K, R, start, width, spread)


def vectors(count: int) -> Iterator[Vectors]:
    """Up to seven vectors: of one length, of any, on a line and in space; sums that vanish, and signs."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        g = rng.normal(size=(n, d))
        if i % 3 == 0:
            g = g / np.linalg.norm(g, axis=1, keepdims=True)
        if i % 3 == 1:
            g = rng.choice([-1.0, 1.0], size=(n, 1)) * np.eye(1, d)
        if i % 2:
            g = g - g.mean(axis=0)
        if abs(g).max() > 0:
            yield Vectors(f"vectors {i}", g)


def products(count: int) -> Iterator[Products]:
    """Up to nine symmetric factors; every other time all are -L I or L I, where the repaired bound is attained."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        size, d, L = int(rng.integers(1, 10)), int(rng.integers(1, 3)), float(rng.choice([0.1, 1.0, 3.0]))
        a, b = rng.uniform(0, 1, 2) * [1.0, rng.choice([0.0, 1.0])]
        matrices = []
        for _ in range(2):
            m = rng.normal(size=(size, d, d))
            m = m + m.transpose(0, 2, 1)
            m = m / np.linalg.norm(m, 2, axis=(1, 2)).max() * L
            matrices.append(-L * np.tile(np.eye(d), (size, 1, 1)) if i % 2 else m)
        matrices[1] = matrices[1] * (-1) ** i
        yield Products(f"products {i}", matrices[0], matrices[1], float(a), float(b), L, int(rng.integers(0, 3)))


def runs(count: int) -> Iterator[Run]:
    """Several epochs with the same weights, or with weights that move."""
    rng = np.random.default_rng(SEED)
    for i in range(count):
        N, K, R = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.choice([1, 2, 6, 25]))
        h, b = clients(rng, N)
        count_of_weights = 1 if i % 2 else R + 1
        weights = rng.dirichlet(np.full(N, float(rng.choice([0.3, 1.0, 10.0]))), size=count_of_weights)
        if not i % 2 and i % 4:
            weights = weights[:1] + 0.01 * (weights - weights[:1])  # they move little
        weights = np.tile(weights, (R + 1, 1)) if i % 2 else weights
        step = float(rng.choice([1.0, 0.3, 0.03])) / (4 * N * K * h.max()) * (1 - 1e-9)
        start, spread = float(rng.normal() * rng.choice([0, 1, 5])), float(rng.choice([0.0, 0.5, 3.0]))
        yield Run(name=f"run {i}", h=h, b=b, weights=weights, step=step, local_steps=K, start=start, spread=spread)


def clients(rng: np.random.Generator, N: int) -> tuple[np.ndarray, np.ndarray]:
    """h and b of N scalar clients; of equal curvature in a third of the cases."""
    h, b = rng.uniform(0.2, 1, N) * rng.choice([0.1, 1.0, 10.0]), rng.normal(size=N) * rng.choice([0.1, 1.0, 10.0])
    return (np.full(N, h[0]) if rng.random() < 1 / 3 else h), b


def personal(count: int, *, single: bool, logarithmic: bool) -> Iterator[Personal]:
    """Runs of Algorithms 3 and 1 (or of Algorithm 2) on two to four clients.

    Args:
        count: how many.
        single: Algorithm 2.
        logarithmic: with the step 2 log(sqrt(NK) R)/(mu N K R), and as many epochs as it needs.
    """
    rng = np.random.default_rng(SEED + single + 2 * logarithmic)
    for i in range(count):
        N, K = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        h, b = clients(rng, N)
        if logarithmic:
            R = 2
            while 8 * h.max() / h.min() * math.log(math.sqrt(N * K) * R) > R:
                R *= 2
            step = 2 * math.log(math.sqrt(N * K) * R) / (h.min() * N * K * R)
        else:
            R = int(rng.choice([1, 3, 10] if single else [1, 3, 10, 40]))  # other weights in every epoch take long
            step = float(rng.choice([1.0, 0.2])) / (4 * N * K * h.max())
        make = single_loop if single else two_stage
        yield make(
            h, b, rng.choice([1.0, 3.0, 10.0], N), float(rng.choice([0.1, 1.0, 10.0])),
            float(rng.choice([1.0, 0.3])) / ((1 if single else 2) * h.max()) * (1 - 1e-9), int(rng.choice([1, 2, 20])),
            float(rng.normal()), R, name=f"personal run {i}", step=step * (1 - 1e-12),
            local_steps=K, start=float(rng.normal()), spread=float(rng.choice([0.0, 1.0])),
        )  # fmt: skip
