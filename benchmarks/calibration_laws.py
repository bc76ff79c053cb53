"""Where the values of `benchmarks.calibration` come from: the simulator on small quadratics, and hard laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

SEED = 20260301


@dataclass(frozen=True)
class Law:
    """Where the values come from.

    Attributes:
        name: for the table.
        mean: the exact expectation.
        largest: a bound that no value exceeds; infinite where none is known.
        draw: (first, count) -> (count,), values number first, first + 1, ..., the same however they are cut.
    """

    name: str
    mean: float
    largest: float
    draw: Callable[[int, int], Array]

    def checks(self, first: int, count: int, runs: int) -> Array:
        """(count, runs): each row a check of its own."""
        return self.draw(first * runs, count * runs).reshape(count, runs)


def drawn(transform: Callable[[Array], Array]) -> Callable[[int, int], Array]:
    """Values as a function of uniform numbers in (0, 1), from counters."""

    def draw(first: int, count: int) -> Array:
        generator = np.random.Generator(np.random.Philox(SEED))
        generator.bit_generator.advance(-(-first // 4))  # four words of 64 bits a counter
        assert first % 4 == 0
        return transform(generator.random(count) * (1 - 2.0**-53) + 2.0**-54)

    return draw


def laws() -> list[Law]:
    """Scenarios of the simulator, and laws that are hard for a mean."""
    from scipy.special import ndtri

    absent = [{"h": ["1", "2"], "a": ["0", "1"], "p": "1/2"}, {"h": ["1"], "a": ["-1"], "p": "1/2"}]
    rare = [{"h": ["1"], "a": ["1"], "p": "1/20"}, {"h": ["1"], "a": ["-1"], "p": "1/20"}]
    svrg = {"algorithm": "fedavg-svrg", "step": "1/5", "S": 1, "M": 2, "K": 2, "theta0": "3"}
    local = {"algorithm": "local-sgd", "step": "1/5", "local_steps": 1, "K": 3, "theta0": "3"}
    noisy = [{"h": ["1", "1"], "a": ["1", "-1"]}]
    chance, spread = 1e-3, 2.0
    return [
        scenario("FedAvg-SVRG, half absent", {**svrg, "clients": absent}, "mean_squared_gradient_norm"),
        scenario("FedAvg-SVRG, 19 of 20 absent", {**svrg, "clients": rare}, "mean_squared_gradient_norm"),
        scenario("SGD", {**local, "clients": noisy}, "squared_distance"),
        Law("constant", 1.0, 2.0, drawn(np.ones_like)),
        Law("0, or 1000 with chance 1/1000", 1.0, 1 / chance, drawn(lambda u: np.where(u < chance, 1 / chance, 0.0))),
        Law("lognormal, sigma 2", math.exp(spread**2 / 2), math.inf, drawn(lambda u: np.exp(spread * ndtri(u)))),
        Law("Pareto, index 1.5", 3.0, math.inf, drawn(lambda u: u ** (-1 / 1.5))),
        Law("exponential", 1.0, math.inf, drawn(lambda u: -np.log(u))),
    ]


def scenario(name: str, spec: dict[str, Any], quantity: str) -> Law:
    """What a run has of a quantity, its exact expectation, and what no run exceeds: all outcomes are played."""
    from theory.operations import to_fraction
    from validate.instances.specs import instance_from
    from validate.play import Play
    from validate.scenario import read_scenario

    made = read_scenario(spec, exact=False)
    metric, after = ("squared_distance", True) if quantity == "squared_distance" else ("squared_gradient_norm", False)
    rounds = [made.rounds] if after else list(range(made.rounds))
    best, curvature = float(made.problem.minimiser[0]), float(made.problem.mean_hessian[0, 0])
    outcomes = Play(instance_from(spec), 10_000).joint(frozenset(("x", (k,)) for k in rounds))
    law = []
    for chance, outcome in outcomes:
        away = np.array([float(to_fraction(outcome["x", (k,)][0])) - best for k in rounds])
        law.append((float(to_fraction(chance)), float(((away if after else curvature * away) ** 2).mean())))
    options: dict[str, Any] = {"metrics": (metric,), "backend": "native"}

    def draw(first: int, count: int) -> Array:
        try:
            trace = made.simulate(count, SEED, first_run=first, **options)
        except ImportError:  # no compiler
            options["backend"] = "auto"
            return draw(first, count)
        return np.asarray(trace[metric][:, rounds].mean(axis=1))

    largest = max(value for _, value in law) * (1 + 1e-9)  # of the simulator, which rounds
    return Law(name, sum(chance * value for chance, value in law), largest, draw)
