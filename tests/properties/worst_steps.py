"""Problems for the claims about SGD: the worst single step, and federated systems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.moments import Point, moments_of
from sim.problems import Quadratic
from theory.papers.algorithms import fedavg, fedavg_coins
from theory.stability import uniform_radius, worst_cosine

Array = NDArray[np.float64]
# Starts lie inside their ball in exact arithmetic, and so they should in floats.
INSIDE = 1 - 1e-12


class Run(NamedTuple):
    """What is run."""

    step: float
    local_steps: int
    problem: Quadratic
    participation: Any
    rounds: int
    start: Array

    def squared_norms(self) -> Array:
        """(K+1,), E||x_k||^2."""
        return squared_norms(self.step, self.local_steps, self.problem, self.participation, self.rounds, self.start)


def squared_norms(step: float, local_steps: int, problem: Quadratic, present: Any, rounds: int, start: Any) -> Array:
    """(K+1,), E||x_k||^2 of local steps and the plain mean over those who take part: each with its chance, or S."""
    given: dict[str, Any] = {"eta": step, "H": local_steps}
    if isinstance(present, int):
        one, given = fedavg, {**given, "S": present}
    else:
        one, given = fedavg_coins, {**given, "p": list(np.broadcast_to(present, problem.clients))}
    found = moments_of(one.program, problem, given, start=start, rounds=rounds)
    return np.array([found.norm2({Point("x", k): 1}) for k in range(rounds + 1)])


def equally_curved(hessians: Any, minimisers: Any, noise: Any) -> Quadratic:
    """N clients whose samples have the same Hessian and different centres, so that the variance is the same everywhere.

    Args:
        hessians: (N, d, d).
        minimisers: (N, d), of the clients' functions.
        noise: (N, n, d), what the gradient of each sample adds to the client's; the mean over n is removed.
    """
    h, points, v = (np.asarray(value, dtype=np.float64) for value in (hessians, minimisers, noise))
    v = v - v.mean(axis=1, keepdims=True)
    samples = v.shape[1]
    linear = np.einsum("nde,ne->nd", h, points)[:, None] - v
    return Quadratic(
        hessian=np.repeat(h[:, None], samples, axis=1),
        linear=linear,
        offset=np.zeros(v.shape[:2]),
        counts=np.full(len(h), samples),
    )


def worst_hessian(x: Array, star: Array, mu: float, L: float, eta: float) -> Array:
    """The symmetric matrix between mu and L at which ||x - eta H (x - x*)|| is largest; x and x* have shape (d,).

    H = (L+mu)/2 + (L-mu)/2 S with a reflection S that turns u = x - x* against p = c x + (1-c) x*, d >= 2 (d = 1: mu or
    L, whichever is worse).
    """
    c = 1 - eta * (L + mu) / 2
    u, p = x - star, c * x + (1 - c) * star
    middle, half = (L + mu) / 2 * np.eye(len(x)), (L - mu) / 2
    if len(x) == 1:
        return middle - half * (np.sign(u[0] * p[0]) or 1.0) * np.eye(1)
    sizes = np.linalg.norm(u), np.linalg.norm(p)
    axis = u / sizes[0] - p / sizes[1] if min(sizes) > 0 else np.zeros(len(x))
    if np.linalg.norm(axis) < 1e-9:  # u and p are parallel: S = -1 on them, and 1 across
        along = u / sizes[0] if sizes[0] > 0 else np.eye(len(x))[0]
        return middle + half * (np.eye(len(x)) - 2 * np.outer(along, along))
    axis = axis / np.linalg.norm(axis)
    return middle + half * (2 * np.outer(axis, axis) - np.eye(len(x)))


def worst_instance(
    mu: float, L: float, r: float, sigma: float, eta: float | None = None, R: float | None = None, dim: int = 2
) -> Run:
    """One step of SGD on the function of the class that leads farthest out of the ball of radius R.

    Two samples with the Hessian `worst_hessian` and opposite noise of norm sigma; x on the sphere of radius R and x* on
    that of radius r, at the worst angle.

    Args:
        mu: strong convexity, in (0, L].
        L: smoothness, > 0.
        r: norm of the minimiser, >= 0.
        sigma: standard deviation of the sampled gradient, >= 0.
        eta: step, in (0, 1/L]; None means 1/L.
        R: norm of the start, >= 0; None means the uniform radius.
        dim: d >= 1.

    Raises:
        ValueError: as `theory.stability.worst_next_norm`.
    """
    step = 1 / L if eta is None else eta
    out = float(uniform_radius(mu, L, r, sigma, step)) if R is None else R
    t = float(worst_cosine(out, r, mu, L, step, dim))
    x, star, noise = np.zeros(dim), np.zeros(dim), np.zeros(dim)
    x[0], star[0], noise[-1] = out, r * t, sigma
    if dim > 1:
        star[1] = r * np.sqrt(1 - t * t)
    h = worst_hessian(x, star, mu, L, step)
    problem = equally_curved(h[None], star[None], np.stack([noise, -noise])[None])
    return Run(step, 1, problem, 1.0, 1, x)


def federated(seed: int, rounds: int) -> Run:
    """A random federated system with noise of equal curvature, started on the sphere of the uniform radius.

    Clients have worst or random Hessians between mu and L, minimisers on the sphere of radius r, several local steps;
    they take part by independent draws or by a choice of S of N. When nobody does, the model is kept.
    """
    rng = np.random.default_rng(seed)
    clients, d, samples = int(rng.integers(2, 7)), int(rng.integers(2, 5)), int(rng.integers(2, 4))
    L, r = float(rng.choice([1.0, 4.0])), 1.0
    mu = L / float(rng.choice([1.5, 3.0, 10.0, 100.0]))
    sigma, step = L * float(rng.choice([0.0, 0.1, 1.0, 3.0])), float(rng.choice([1.0, 1.0, 0.5])) / L
    minimisers = _on_sphere(rng, clients, d) * r
    start = _on_sphere(rng, 1, d)[0] * float(uniform_radius(mu, L, r, sigma, step)) * INSIDE
    hessians = [worst_hessian(start, star, mu, L, step) for star in minimisers]
    if seed % 2:
        hessians = [_random_hessian(rng, d, mu, L) for _ in range(clients)]
    noise = rng.normal(size=(clients, samples, d))
    noise -= noise.mean(axis=1, keepdims=True)
    variances = (noise**2).sum(axis=2).mean(axis=1)
    noise *= sigma / np.sqrt(variances)[:, None, None]
    participation: Any = rng.uniform(0.2, 1, clients) if seed % 3 else 1 + clients // 2
    local_steps = int(rng.integers(1, 6))
    problem = equally_curved(np.stack(hessians), minimisers, noise)
    return Run(step, local_steps, problem, participation, rounds, start)


def _on_sphere(rng: np.random.Generator, count: int, d: int) -> Array:
    points = rng.normal(size=(count, d))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _random_hessian(rng: np.random.Generator, d: int, mu: float, L: float) -> Array:
    """Eigenvalues mu, L and others between, in random directions."""
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    values = np.concatenate([[mu, L], rng.uniform(mu, L, d - 2)])
    h = basis @ np.diag(values) @ basis.T
    return np.asarray((h + h.T) / 2)
