"""Scenarios in several dimensions that the claims about rounds of FedMIM are held against, in float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sim.algorithms import FedMIM
from sim.participation import UniformChoice
from sim.problems import Quadratic, quadratic
from validate.inertial_scenario import InertialScenario

# of 1/(K L): the longest steps of the theorems, and some that (33) allows
SHARES = (1 / 4, 3 / 16, 1 / 20, 1 / 100, 1 / 200)


def scenarios(quick: bool = False) -> Iterator[InertialScenario]:
    """Generated clients in 2 to 4 dimensions: without noise, with noise that is the same everywhere, of one Hessian."""
    rng = np.random.default_rng(20260401)
    for seed in range(5 if quick else 20):
        for kind in ("without noise", "noise", "one Hessian"):
            count, dim = int(rng.integers(2, 6)), int(rng.integers(2, 5))
            problem = quadratic(
                clients=count,
                dim=dim,
                mu=float(rng.uniform(0.05, 0.9)),
                L=1.0,
                heterogeneity=float(10 ** rng.uniform(-2, 0.5)),
                seed=seed,
                samples=1 if kind == "without noise" else int(rng.integers(2, 4)),
                sample_spread=0.0,
            )
            if kind != "without noise":
                problem = _constant_noise(problem, kind == "one Hessian", rng)
            local_steps, lags = int(rng.integers(1, 6)), int(rng.integers(0, 4))
            alpha = float(rng.uniform(0.05, 0.9)) * rng.dirichlet(np.ones(lags)) if lags else np.zeros(0)
            share = SHARES[seed % len(SHARES)]
            algorithm = FedMIM(
                step=share / (local_steps * float(problem.smoothness)),
                local_steps=local_steps,
                alpha=tuple(map(float, alpha)),
                beta=tuple(map(float, rng.uniform(0, 0.8, lags))),
            )
            size = int(rng.integers(1, count + 1))
            start = problem.minimiser + rng.normal(size=dim) * float(rng.choice([0.1, 2.0]))
            rounds = int(rng.choice([4, 40]))
            yield InertialScenario(f"{kind} {seed}", algorithm, problem, UniformChoice(size), rounds, start)


def _constant_noise(problem: Quadratic, one: bool, rng: np.random.Generator) -> Quadratic:
    """The problem with one Hessian for all samples of a client (of everybody, if `one`) and other linear terms."""
    first = problem.hessian[:1, :1] if one else problem.hessian[:, :1]
    hessian = np.broadcast_to(first, problem.hessian.shape).copy()
    linear = problem.linear + rng.normal(size=problem.linear.shape)
    return Quadratic(hessian, linear, np.zeros(problem.offset.shape), problem.counts)
