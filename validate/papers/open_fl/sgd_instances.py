"""Problems and scenarios for the claims about SGD: the worst single step, and federated systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms import FedAvg
from sim.participation import Bernoulli, UniformChoice, full
from sim.problems import Quadratic
from theory.stability import uniform_radius, worst_cosine
from validate.scenario import Scenario, Spec

Array = NDArray[np.float64]

KAPPAS = (1.0, 1.5, 3.0, 10.0, 100.0, 1000.0)
NOISES = (0.0, 0.1, 1.0)  # sigma/L, with r = 1
STEPS = (1.0, 0.5)  # eta L
SHARES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)  # of the radius, for starts inside
# Starts lie inside their ball in exact arithmetic, and so they should in floats.
INSIDE = 1 - 1e-12


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
) -> Scenario:
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
    name = f"worst step, sigma={sigma:g}, r={r:g}, from {out:.6g}"
    return Scenario(name, FedAvg(step=step, local_steps=1, aggregation="normalised"), problem, full(), 1, x)


def federated(seed: int, rounds: int) -> Scenario:
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
    participation: Any = Bernoulli(rng.uniform(0.2, 1, clients)) if seed % 3 else UniformChoice(1 + clients // 2)
    algorithm = FedAvg(step=step, local_steps=int(rng.integers(1, 6)), aggregation="normalised")
    problem = equally_curved(np.stack(hessians), minimisers, noise)
    return Scenario(f"federated system {seed}", algorithm, problem, participation, rounds, start)


def _on_sphere(rng: np.random.Generator, count: int, d: int) -> Array:
    points = rng.normal(size=(count, d))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _random_hessian(rng: np.random.Generator, d: int, mu: float, L: float) -> Array:
    """Eigenvalues mu, L and others between, in random directions."""
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    values = np.concatenate([[mu, L], rng.uniform(mu, L, d - 2)])
    h = basis @ np.diag(values) @ basis.T
    return np.asarray((h + h.T) / 2)


def scenarios(quick: bool = False) -> Iterator[Scenario]:
    """The worst steps at the corrected and at the printed radius, longer runs from there, and federated systems."""
    from theory.catalog import claim

    printed = claim("open-fl/theorem-2")
    kappas = KAPPAS[1::2] if quick else KAPPAS
    for kappa, noise, step in product(kappas, NOISES, STEPS):
        own: dict[str, Any] = {"mu": 1 / kappa, "L": 1.0, "r": 1.0, "sigma": noise}
        at_eta = float(uniform_radius(**own, eta=step)) * INSIDE
        at_full = float(uniform_radius(**own)) * INSIDE
        loose = float(printed.bound(**own)) * INSIDE
        # a smaller radius is found out only from a start inside its own ball
        inner = [share * at_eta for share in SHARES] if kappa <= 10 else []
        for out in dict.fromkeys((at_eta, at_full, loose, *inner)):
            yield worst_instance(**own, eta=step, R=out)
    yield worst_instance(0.1, 1.0, 0.0, 1.0)
    yield worst_instance(0.5, 4.0, 2.0, 1.0, dim=5)
    for kappa in kappas:
        one = worst_instance(1 / kappa, 1.0, 1.0, 1.0, R=float(uniform_radius(1 / kappa, 1.0, 1.0, 1.0)) * INSIDE)
        yield Scenario(one.name, one.algorithm, one.problem, one.participation, 30, one.start)
    for kappa, noise in product(kappas, NOISES):
        one = worst_instance(1 / kappa, 1.0, 1.0, noise, dim=3)
        yield Scenario(one.name, one.algorithm, one.problem, one.participation, 1, one.problem.minimiser)
    for seed in range(4 if quick else 24):
        yield federated(seed, rounds=10 if quick else 30)


# --- scalar instances, in exact rationals -----------------------------------------------------------------------------


def _client(h: str, centres: Sequence[str], p: str = "1") -> dict[str, Any]:
    return {"h": [h] * len(centres), "a": list(centres), "p": p}


POPULATIONS: dict[str, list[dict[str, Any]]] = {
    "one client": [_client("1", ["1"])],
    "one client, noise": [_client("1", ["2", "0"])],
    "one client, centred noise": [_client("1", ["1", "-1"])],
    "one client, large noise": [_client("1/2", ["5", "-3"])],
    "two clients, opposite": [_client("1", ["1"]), _client("1", ["-1"])],
    "two clients, two curvatures": [_client("1", ["1"]), _client("1/10", ["1"])],
    "two clients, two curvatures, apart": [_client("1", ["-1", "-1"]), _client("1/10", ["1", "1"])],
    "two clients, noise": [_client("1", ["2", "0"], "1/2"), _client("1/4", ["5", "-3"], "1/2")],
    "three clients, rarely there": [
        _client("1", ["1"], "1/10"),
        _client("1/2", ["-1"], "1/10"),
        _client("1/4", ["1"], "1/4"),
    ],
}
STEP_TEXTS = ("1", "1/2", "1/10")
STARTS = ("1", "-2", "0", "3")


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances of local SGD with averages over those who take part; steps of at most 1/L.

    They are made from a few populations and grids that know nothing of the claims.
    """
    starts = STARTS[:2] if quick else STARTS
    local = (1, 3)
    grid = product(POPULATIONS.values(), STEP_TEXTS[:2] if quick else STEP_TEXTS, local, (1, 5), starts)
    for clients, step, local_steps, rounds, start in grid:
        yield {
            "algorithm": "local-sgd",
            "clients": clients,
            "step": step,
            "local_steps": local_steps,
            "K": rounds,
            "theta0": start,
            "aggregation": "normalised",
        }


def sampled(quick: bool = False) -> Iterator[Scenario]:
    """Nothing: the exact oracle leaves nothing to sample here."""
    return iter(())
