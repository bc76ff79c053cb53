"""Instances and scenarios that the results about methods are held against; none is made for a particular result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.participation import Bernoulli, UniformChoice, full
from sim.problems import quadratic
from validate import families
from validate.scenario import Scenario, Spec, fraction_text

Client = dict[str, Any]


def _client(h: list[str], a: list[str], p: str = "1") -> Client:
    return {"h": h, "a": a, "p": p}


PLAIN = _client(["1"], ["0"])
FLAT = _client(["1/4"], ["1"])
NOISY = _client(["1", "1"], ["1", "-1"])
UNEVEN = _client(["1/2", "3/2", "1"], ["-1", "1", "2"])
ONE_FLAT = _client(["2", "0"], ["0", "0"])
SPIKY = _client(["4", "0", "0", "0"], ["1", "0", "0", "0"])
CONCAVE = _client(["2", "-1"], ["1", "0"])

POPULATIONS: tuple[list[Client], ...] = (
    [PLAIN],
    [FLAT],
    [NOISY],
    [UNEVEN],
    [ONE_FLAT],
    [SPIKY],
    [CONCAVE],
    [NOISY, NOISY],
    [UNEVEN, UNEVEN, UNEVEN],
    [_client(["1"], ["1"]), _client(["1"], ["-1"])],
    [_client(["1"], ["1"]), _client(["1/2"], ["-1"])],
    [UNEVEN, NOISY],
    [_client(["1"], ["1"], "1/2"), _client(["1"], ["-1"], "1/4")],
    [_client(["1"], ["1"], "1/10"), _client(["1/2"], ["0"]), _client(["2"], ["-1"], "2/3")],
)
STEPS = ("1/16", "1/8", "1/4", "1/2", "1", "3/2", "4")
EPOCHS = (("1/10", 40), ("1/10", 100), ("1/5", 60), ("1/20", 200), ("1/4", 2), ("1", 3))


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances in exact rationals: plain, minibatch, local and absent clients, and epochs of SVRG.

    From a start far away, and from the minimiser, where only noise, absence and disagreement move the run.
    """
    for clients in POPULATIONS:
        for start in ("3", *minimiser(clients)):
            for step in STEPS[1::2] if quick else STEPS:
                for local_steps in (1, 2, 5) if len(clients) > 1 else (1,):
                    for rounds in (1, 6) if quick else (1, 3, 20):
                        yield {
                            "algorithm": "local-sgd",
                            "clients": clients,
                            "step": step,
                            "local_steps": local_steps,
                            "K": rounds,
                            "theta0": start,
                        }
    for clients in ([PLAIN], [NOISY], [UNEVEN], [ONE_FLAT], [SPIKY], [UNEVEN, NOISY, PLAIN]):
        for start in ("3", *minimiser(clients)):
            for step, inner in EPOCHS[:3] if quick else EPOCHS:
                yield {
                    "algorithm": "fedavg-svrg",
                    "clients": clients,
                    "step": step,
                    "S": 1,
                    "M": inner,
                    "K": 2,
                    "theta0": start,
                }


def minimiser(clients: Sequence[Client]) -> Iterator[str]:
    """That of f, where there is one."""
    curvature = slope = Fraction(0)
    for client in clients:
        h, a = (list(map(Fraction, client[key])) for key in ("h", "a"))
        curvature += sum(h, Fraction(0)) / len(h)
        slope += sum((x * y for x, y in zip(h, a, strict=True)), Fraction(0)) / len(h)
    if curvature > 0:
        yield fraction_text(slope / curvature)


def scenarios(quick: bool = False) -> Iterator[Scenario]:
    """Scenarios in several dimensions, in float64: every kind of method on generated quadratics."""
    rng = np.random.default_rng(20250301)
    for seed in range(2 if quick else 6):
        for kind in ("descent", "sgd", "local", "chosen", "absent", "svrg"):
            clients = 1 if kind in ("descent", "sgd", "svrg") else int(rng.integers(2, 7))
            samples = 1 if kind in ("descent", "chosen", "absent") else int(rng.integers(2, 6))
            problem = quadratic(
                clients=clients,
                dim=int(rng.integers(2, 5)),
                mu=float(rng.uniform(0.05, 0.9)),
                L=1.0,
                heterogeneity=float(rng.uniform(0.1, 2)) if clients > 1 else 0.0,
                seed=seed,
                samples=samples,
                sample_spread=0.3 if samples > 1 else 0.0,
            )
            participation: Any = full()
            if kind == "chosen":
                participation = UniformChoice(int(rng.integers(1, clients + 1)))
            if kind == "absent":
                participation = Bernoulli(rng.uniform(0.2, 1, clients))
            step = float(rng.uniform(0.05, 0.3))
            algorithm: FedAvg | FedAvgSVRG = FedAvg(step=step, local_steps=4 if kind == "local" else 1)
            if kind == "svrg":
                algorithm = FedAvgSVRG(step=0.05, snapshots=1, inner=150)
            rounds = 2 if kind == "svrg" else 12
            start = rng.normal(size=problem.dim)
            yield Scenario(f"{kind} {seed}", algorithm, problem, participation, rounds, start)
    yield from _extremes(60 if quick else 240)


def _extremes(count: int) -> Iterator[Scenario]:
    """Up to 100 clients, 50 local steps and a condition number of 1000: every kind of method and of participation."""
    once: dict[str, Any] = {"local_steps": 1, "samples": 1, "noise": 0.0, "spiky": False}
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("one", {"clients": 1, "local_steps": 1, "apart": 0.0}),
        ("alike", {"alike": True, "apart": 0.0, "local_steps": 1}),
        ("any", {}),
        ("absent", {}),
        ("chosen", {}),
        ("chosen once", once),
    )
    for i, of in enumerate(islice(families.levels(2), count)):
        kind, sizes = kinds[i % len(kinds)]
        of = replace(of, **sizes)
        chosen: Any = full()
        if kind in ("chosen", "chosen once"):
            of = replace(of, apart=1.0 if of.clients > 1 else 0.0)
            chosen = UniformChoice(1 + of.turn % of.clients)
        elif kind == "absent":
            chosen = Bernoulli(np.where((np.arange(of.clients) + of.turn) % 3 == 0, 0.5, 1.0))
        elif of.start == "at" and of.noise == 0:
            of = replace(of, apart=0.0)  # where nobody is absent, clients that disagree would cancel up to rounding
        problem = families.problem(of)
        algorithm = FedAvg(step=families.usual_step(of) / 2, local_steps=of.local_steps)
        start = families.start(of, problem)
        yield Scenario(f"extremes {of.turn % 100000}", algorithm, problem, chosen, of.rounds, start)


def sampled(quick: bool = False) -> Iterator[Scenario]:
    """Nothing: the exact oracle leaves nothing to sample here."""
    return iter(())
