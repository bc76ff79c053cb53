"""Instances and scenarios that the results about methods are held against; none is made for a particular result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.participation import Bernoulli, UniformChoice, full
from sim.problems import quadratic
from validate.scenario import Scenario, Spec

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
    """Scalar instances in exact rationals: plain, minibatch, local and absent clients, and epochs of SVRG."""
    for clients in POPULATIONS:
        for step in STEPS[1::2] if quick else STEPS:
            for local_steps in (1, 2, 5) if len(clients) > 1 else (1,):
                for rounds in (1, 6) if quick else (1, 3, 20):
                    yield {
                        "algorithm": "local-sgd",
                        "clients": clients,
                        "step": step,
                        "local_steps": local_steps,
                        "K": rounds,
                        "theta0": "3",
                    }
    for client in (PLAIN, NOISY, UNEVEN, ONE_FLAT, SPIKY):
        for step, inner in EPOCHS[:3] if quick else EPOCHS:
            yield {
                "algorithm": "fedavg-svrg",
                "clients": [client],
                "step": step,
                "S": 1,
                "M": inner,
                "K": 2,
                "theta0": "3",
            }


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


def sampled(quick: bool = False) -> Iterator[Scenario]:
    """Nothing: the exact oracle leaves nothing to sample here."""
    return iter(())
