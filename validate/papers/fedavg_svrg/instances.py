"""The instances and scenarios that the claims are held against; none is made for a particular claim."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np

from sim.algorithms import FedAvgSVRG
from sim.participation import Bernoulli
from sim.problems import quadratic, rand_hie
from validate import families
from validate.scenario import Scenario, Spec


def _clients(h: list[list[str]], a: list[list[str]], p: list[str]) -> list[dict[str, Any]]:
    return [{"h": hn, "a": an, "p": pn} for hn, an, pn in zip(h, a, p, strict=True)]


def _spiky(samples: int) -> list[str]:
    """Curvatures of mean 1 with all the curvature in one sample."""
    return [str(samples)] + ["0"] * (samples - 1)


POPULATIONS: dict[str, list[dict[str, Any]]] = {
    "one client": _clients([["1"]], [["0"]], ["1"]),
    "one client, absent half of the time": _clients([["1"]], [["0"]], ["1/2"]),
    "one client, two samples": _clients([["1/2", "3/2"]], [["-1", "1"]], ["1"]),
    "one client, one flat sample of two": _clients([_spiky(2)], [["0", "0"]], ["1"]),
    "one client, spiky samples": _clients([_spiky(16)], [["0"] * 16], ["1"]),
    "one client, one concave sample of two": _clients([["2", "-1"]], [["1", "0"]], ["1/2"]),
    "two clients, one concave": _clients([["1"], ["-1/2"]], [["1"], ["-1"]], ["1", "1/2"]),
    "two clients, two minimisers": _clients([["1"], ["1"]], [["1"], ["-1"]], ["1", "1"]),
    "two clients, absent half of the time": _clients([["1"], ["1"]], [["1"], ["-1"]], ["1/2", "1/2"]),
    "two clients, two curvatures": _clients([["1"], ["1/2"]], [["1"], ["-1"]], ["1", "1"]),
    "two clients, unequal chances": _clients([["1"], ["1/2"]], [["1"], ["-1"]], ["1/4", "1"]),
    "two clients, four samples": _clients([["1/2", "1"], ["1", "3/2"]], [["1", "0"], ["-1", "2"]], ["1/2", "1"]),
}
STEPS = ("1/16", "1/8", "1/4", "1/2", "3/4", "1", "3/2", "2")
LOCAL = ((1, 1), (2, 1), (3, 1), (4, 1), (8, 1), (1, 2), (1, 5), (2, 2), (3, 4), (3, 16), (5, 2), (10, 5))
ROUNDS = (1, 2, 4)
SETTLED_LOCAL = ((1, 1), (1, 5), (3, 4))
# Families that the grid above leaves out: clients that are rarely there, one sample or one client unlike the others.
RARER: dict[str, list[dict[str, Any]]] = {
    "one client, rarely there": _clients([["1"]], [["0"]], ["1/10"]),
    "one client, two samples, rarely there": _clients([["1/2", "3/2"]], [["-1", "1"]], ["1/10"]),
    "two alike clients, rarely there": _clients([["1"], ["1"]], [["1"], ["1"]], ["1/10", "1/10"]),
    "one client, one very curved sample": _clients([["1/4", "1/4", "1/4", "13/4"]], [["0"] * 4], ["3/4"]),
    "two clients, one hardly curved": _clients([["1"], ["1/32"]], [["1"], ["-1"]], ["3/4", "3/4"]),
}
# A bound whose two sides have not the same unit is found out in other units only: the curvatures times the first factor
# and the steps divided by it, the lengths times the second.
UNITS = (("8", "1"), ("1/8", "1"), ("1", "8"), ("1", "1/8"))
UNIT_STEPS = ("1/64", "1", "15/32", "5/4", "1/4", "1/16", "7/4")
UNIT_LOCAL = ((1, 1), (2, 1), (1, 2), (1, 3), (2, 2), (3, 4), (2, 16), (1, 20), (1, 80))
UNIT_ROUNDS = ((1, "-2"), (8, "1"))  # with the start
LEMMA_STEPS = ("1/16", "1/8", "1/6")
LEMMA_INNER = (40, 100)
LEMMA_ROUNDS = (2, 6)


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances in exact rationals: the families that every claim of the paper is held against.

    They are made from a few populations of clients, and grids of steps, local steps, rounds and starts that know
    nothing of the claims, except that Lemma V.1 needs many inner steps and small steps to apply at all. What was made
    for a claim is `given`.
    """
    for population in POPULATIONS.values():
        for step in STEPS[::2] if quick else STEPS:
            for snapshots, inner in LOCAL:
                for rounds in ROUNDS[:2] if quick else ROUNDS:
                    yield spec(population, step, snapshots, inner, rounds, "1")
        for step in LEMMA_STEPS:
            for inner in LEMMA_INNER[:1] if quick else LEMMA_INNER:
                for rounds in LEMMA_ROUNDS:
                    yield spec(population, step, 1, inner, rounds, "1")
        yield from _from_the_minimiser(population, quick)
    yield from _in_other_units(quick)


def given() -> Iterator[Spec]:
    """Instances that were made by hand for a claim; they are tried last, and are no support."""
    yield papers_own_settings()
    yield order_instance()


def _from_the_minimiser(population: list[dict[str, Any]], quick: bool) -> Iterator[Spec]:
    """Where only noise, absence and disagreement move the run; nothing where f has no minimiser."""
    curvature = slope = Fraction(0)
    for client in population:
        h, a = (list(map(Fraction, client[key])) for key in ("h", "a"))
        curvature += sum(h, Fraction(0)) / len(h)
        slope += sum((x * y for x, y in zip(h, a, strict=True)), Fraction(0)) / len(h)
    if curvature > 0:
        for step, (snapshots, inner) in product(STEPS[1::3] if quick else STEPS[1::2], SETTLED_LOCAL):
            yield spec(population, step, snapshots, inner, 2, str(slope / curvature))


def _in_other_units(quick: bool) -> Iterator[Spec]:
    """A coarser grid, each instance in two of the `UNITS` in turn."""
    populations = (*POPULATIONS.values(), *RARER.values())
    steps, local = (UNIT_STEPS[:4], UNIT_LOCAL[::2]) if quick else (UNIT_STEPS, UNIT_LOCAL)
    grid = product(populations, steps, local, UNIT_ROUNDS)
    for i, (population, step, (snapshots, inner), (rounds, start)) in enumerate(grid):
        made = spec(population, step, snapshots, inner, rounds, start)
        for unit in range(1 if quick else 2):
            yield in_units(made, *UNITS[(i + unit) % len(UNITS)])


def in_units(spec: Spec, curvature: str, length: str) -> Spec:
    """The same instance with its curvatures and its lengths multiplied; the step is divided by the former."""
    c, r = Fraction(curvature), Fraction(length)
    clients = [
        {**client, "h": [str(Fraction(h) * c) for h in client["h"]], "a": [str(Fraction(a) * r) for a in client["a"]]}
        for client in spec["clients"]
    ]
    step, start = str(Fraction(spec["step"]) / c), str(Fraction(spec["theta0"]) * r)
    return {**spec, "clients": clients, "step": step, "theta0": start}


def spec(clients: list[dict[str, Any]], step: str, snapshots: int, inner: int, rounds: int, start: str) -> Spec:
    """A specification of FedAvg-SVRG on scalar quadratics."""
    return {
        "algorithm": "fedavg-svrg",
        "clients": clients,
        "step": step,
        "S": snapshots,
        "M": inner,
        "K": rounds,
        "theta0": start,
    }


def scenarios(quick: bool = False) -> Iterator[Scenario]:
    """Scenarios in several dimensions, in float64: generated quadratics, and the insurance data."""
    rng = np.random.default_rng(20240607)
    for seed in range(4 if quick else 16):
        clients, dim, samples = (int(rng.integers(1, 8)), int(rng.integers(1, 6)), int(rng.integers(1, 5)))
        mu, L = float(rng.uniform(0.05, 0.9)), 1.0
        problem = quadratic(
            clients=clients,
            dim=max(dim, 2) if clients == 1 else dim,
            mu=mu,
            L=L,
            heterogeneity=float(rng.uniform(0, 2)) if clients > 1 else 0.0,
            seed=seed,
            samples=samples,
            sample_spread=0.5 if samples > 1 else 0.0,
        )
        lemma = seed % 4 == 3
        algorithm = FedAvgSVRG(
            step=float(rng.uniform(0.02, 0.15) if lemma else rng.uniform(0.02, 0.8)),
            snapshots=1 if lemma else int(rng.integers(1, 7)),
            inner=120 if lemma else int(rng.integers(1, 6)),
        )
        chances = rng.uniform(0.2, 1, clients)
        start = rng.normal(size=problem.dim)
        yield Scenario(f"random quadratic {seed}", algorithm, problem, Bernoulli(chances), 12, start)
    yield from _extremes(16 if quick else 60)
    yield insurance(rounds=10 if quick else 40)


def _extremes(count: int) -> Iterator[Scenario]:
    """Up to 100 clients, 150 local steps and a condition number of 1000; absent at times, or all there."""
    for of in islice(families.levels(1), count):
        problem, settled = families.problem(of), of.start == "at"
        snapshots, share = 1 + of.turn % 3, 1 if settled else 3
        step = families.usual_step(of) / share
        algorithm = FedAvgSVRG(step=step, snapshots=snapshots, inner=of.local_steps)
        # from the minimiser absence moves the run, also where clients and samples agree otherwise
        chances = np.where((np.arange(of.clients) + of.turn) % 3 == 0, 0.5, 1.0)
        who = Bernoulli(chances if of.turn % 2 or settled else np.ones(of.clients))
        start = families.start(of, problem)
        yield Scenario(f"extremes {of.turn % 100000}", algorithm, problem, who, min(of.rounds, 10), start)


def insurance(rounds: int) -> Scenario:
    """The paper's experiment, case 1, on the RAND data, with a step of 1/100; p_n between 0.3 and 0.9.

    At the paper's step of 1/10 the expectations diverge on this data (samples have curvatures up to 211).
    """
    problem = rand_hie()
    chances = np.random.default_rng(0).uniform(0.3, 0.9, problem.clients)
    algorithm = FedAvgSVRG(step=0.01, snapshots=5, inner=2)
    return Scenario("insurance data", algorithm, problem, Bernoulli(chances), rounds, np.full(problem.dim, 0.5))


def sampled(quick: bool = False) -> Iterator[Scenario]:
    """Scenarios that the simulator repeats, as a check that does not go through the oracle's left side."""
    yield insurance(rounds=40)
    if not quick:
        yield next(s for i, s in enumerate(scenarios()) if i == 1)


def disagreeing_clients() -> Iterator[Spec]:
    """Two deterministic clients that disagree, with steps for which the lemma's contraction holds."""
    for step in LEMMA_STEPS:
        for inner in LEMMA_INNER:
            yield spec(POPULATIONS["two clients, two curvatures"], step, 1, inner, 1, "0")


def order_instance() -> Spec:
    """Two clients with minimisers +1 and -1, absent half of the time: participation noise and nothing else."""
    return spec(POPULATIONS["two clients, absent half of the time"], "1/10", 1, 1, 1, "0")


def papers_own_settings() -> Spec:
    """One client, f = theta^2/2, with the S, M and step of the paper's second case."""
    return spec(POPULATIONS["one client"], "1/10", 10, 5, 1, "1")
