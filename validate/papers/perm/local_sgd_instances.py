"""Instances and scenarios that the claims about local SGD and mini-batch SGD are held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from sim.algorithms import FedAvg
from sim.participation import full
from sim.problems import Quadratic, quadratic
from validate import families
from validate.families import minimiser
from validate.scenario import Scenario, Spec

Client = dict[str, Any]


def _client(h: list[str], a: list[str]) -> Client:
    return {"h": h, "a": a, "p": "1"}


PLAIN = _client(["1"], ["0"])
NOISY = _client(["1", "1"], ["1", "-1"])
STEEP = _client(["4", "4"], ["1/4", "-1/4"])
UNEVEN = _client(["1/2", "3/2", "1"], ["-1", "1", "2"])
SMALL_UNEVEN = _client(["1/8", "3/8"], ["1", "-1"])

POPULATIONS: tuple[list[Client], ...] = (
    [PLAIN],
    [NOISY],
    [STEEP],
    [UNEVEN],
    [NOISY, NOISY],
    [STEEP, STEEP, STEEP],
    [UNEVEN, UNEVEN],
    [SMALL_UNEVEN],
    [_client(["1"], ["1"]), _client(["1"], ["-1"])],
    [_client(["1"], ["1/10"]), _client(["1"], ["-1/10"])],
    [_client(["1"], ["1"]), _client(["1"], ["0"]), _client(["1", "1"], ["-1", "-3"])],
    [_client(["1"], ["1"]), _client(["1/4"], ["-1"])],
    [_client(["1/10"], ["3"]), _client(["2"], ["-1"]), _client(["1"], ["0"])],
    [UNEVEN, NOISY],
    [UNEVEN, _client(["2"], ["1"]), STEEP],
)
STEPS = ("1/16", "1/8", "1/4", "1/2", "1", "2", "4")
STARTS = ("0", "1", "-3")


# Clients that hardly differ, and have the minimiser 0 together: for a bound that has zeta^2 where zeta belongs.
NEARLY_ALIKE = [_client(["1"], ["-1/1000"]), _client(["2"], ["1/2000"])]


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances in exact rationals: one client and many, alike and not, with and without noise; copies.

    In other units of length they start at the minimiser: from afar, a run says there what it says here.
    """
    yield from _grid(POPULATIONS, quick)
    for unit in families.UNITS[1:]:
        for clients in POPULATIONS:
            small = families.in_units(clients, unit)
            yield from _grid((small,), quick, tuple(minimiser(small)))


def given() -> Iterator[Spec]:
    """Instances that were made by hand for a claim; they are tried last, and are no support."""
    return _grid((NEARLY_ALIKE,), quick=False)


def _grid(populations: Sequence[list[Client]], quick: bool, starts: Sequence[str] = ()) -> Iterator[Spec]:
    for clients in populations:
        for step in STEPS[:2] + STEPS[3:] if quick else STEPS:
            for local_steps in (1, 2, 5):
                for rounds in (1, 3) if quick else (1, 3, 8):
                    for start in starts or (STARTS[:2] if quick else STARTS):
                        yield {
                            "algorithm": "local-sgd",
                            "clients": clients,
                            "step": step,
                            "local_steps": local_steps,
                            "K": rounds,
                            "theta0": start,
                        }


def scenarios(quick: bool = False) -> Iterator[Scenario]:
    """Scenarios in several dimensions, in float64: generated clients without noise, clients of one Hessian, copies."""
    rng = np.random.default_rng(20260301)
    for seed in range(4 if quick else 16):
        for kind in ("without noise", "one Hessian", "copies"):
            clients = int(rng.integers(2, 6))
            samples = 1 if kind == "without noise" else int(rng.integers(2, 5))
            dim = int(rng.integers(2, 5))
            problem = quadratic(
                clients=clients,
                dim=dim,
                mu=float(rng.uniform(0.05, 0.9)),
                L=1.0,
                heterogeneity=float(10 ** rng.uniform(-2, 0.5)),
                seed=seed,
                samples=samples,
                sample_spread=0.0,
            )
            if kind != "without noise":
                problem = _same_hessian(problem, kind == "copies", rng)
            rounds = int(rng.choice([1, 1, 6]))
            algorithm = FedAvg(
                step=float(rng.uniform(0.05, 0.5)), local_steps=1 if kind == "copies" else int(rng.integers(1, 6))
            )
            start = problem.minimiser + rng.normal(size=dim) * float(rng.choice([0.0, 0.1, 2.0]))
            yield Scenario(f"{kind} {seed}", algorithm, problem, full(), rounds, start)
    for of in islice(families.levels(3, spiky=(False,)), 24 if quick else 100):
        if of.alike and of.noise == 0 and of.apart == 0:
            of = replace(of, noise=1.0, samples=2)  # clients that do the same would differ by rounding
        if of.start == "at" and of.noise == 0 and (of.alike or of.local_steps == 1):
            of = replace(of, apart=0.0)  # clients that disagree would cancel up to rounding
        problem, step = families.problem(of), families.usual_step(of) / 4
        algorithm = FedAvg(step=step, local_steps=of.local_steps)
        start = families.start(of, problem)
        yield Scenario(f"extremes {of.turn % 100000}", algorithm, problem, full(), of.rounds, start)


def _same_hessian(problem: Quadratic, copies: bool, rng: np.random.Generator) -> Quadratic:
    """The problem with the Hessian of its first sample everywhere and other linear terms; clients alike, for copies."""
    hessian = np.broadcast_to(problem.hessian[:1, :1], problem.hessian.shape).copy()
    linear = rng.normal(size=problem.linear.shape)
    if copies:
        linear = np.broadcast_to(linear[:1], linear.shape).copy()
    return Quadratic(hessian, linear, np.zeros(problem.offset.shape), problem.counts)
