"""Scenarios in several dimensions that the claims about rounds of FedMIM are held against, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from sim.algorithms import FedMIM
from sim.participation import UniformChoice
from sim.problems import Quadratic, quadratic
from validate import families
from validate.families import Levels
from validate.inertial_scenario import InertialScenario

# of 1/(K L): the longest steps of the theorems, and some that (33) allows
SHARES = (1 / 4, 3 / 16, 1 / 20, 1 / 100, 1 / 200)
LAGS = (((), ()), ((0.5,), (0.25,)), ((0.3, 0.1), ()), ((), (0.4,)), ((0.1,), (0.6,)))
# rounds in which a short step covers more than 1/mu, as eta_l >= 1/(mu lambda K T) asks for
LONG = (1000, 1800)


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
    yield from (_extreme(of) for of in islice(families.levels(4, spiky=(False,)), 24 if quick else 100))
    slow = families.levels(5, spiky=(False,), kappa=(1, 2), clients=(1, 3, 5), local_steps=(1, 2, 5), rounds=LONG)
    yield from (_extreme(of, share=1 / 200) for of in islice(slow, 16 if quick else 60))


def _extreme(of: Levels, share: float | None = None) -> InertialScenario:
    """A scenario of a family; its step is that share of 1/(K L), one of `SHARES` if None."""
    size, part = 1 + of.turn % of.clients, SHARES[of.turn % len(SHARES)] if share is None else share
    if of.start == "at" and of.noise == 0 and size == of.clients and (of.alike or of.local_steps == 1):
        of = replace(of, apart=0.0)  # clients that disagree would cancel up to rounding
    problem, (alpha, beta) = families.problem(of), LAGS[of.turn % len(LAGS)]
    step = part / (of.local_steps * of.L)
    algorithm = FedMIM(step=step, local_steps=of.local_steps, alpha=alpha, beta=beta)
    rounds = of.rounds if share is None else LONG[of.turn % len(LONG)]
    start = families.start(of, problem)
    return InertialScenario(f"extremes {of.turn % 100000}", algorithm, problem, UniformChoice(size), rounds, start)


def _constant_noise(problem: Quadratic, one: bool, rng: np.random.Generator) -> Quadratic:
    """The problem with one Hessian for all samples of a client (of everybody, if `one`) and other linear terms."""
    first = problem.hessian[:1, :1] if one else problem.hessian[:, :1]
    hessian = np.broadcast_to(first, problem.hessian.shape).copy()
    linear = problem.linear + rng.normal(size=problem.linear.shape)
    return Quadratic(hessian, linear, np.zeros(problem.offset.shape), problem.counts)
