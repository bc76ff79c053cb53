"""What claims of one's own are held against; nothing here is made for a particular claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM, ShufflingSGD
from sim.participation import Bernoulli, UniformChoice, full
from sim.problems import quadratic
from sim.trace import Trace
from validate.families import minimiser
from validate.inertial_scenario import InertialScenario
from validate.own.tables import CERTIFIED
from validate.scenario import Scenario, Spec
from validate.shuffling_scenario import ShufflingScenario

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
SHAPES = {
    "local-sgd": tuple({"local_steps": steps} for steps in (1, 2, 5)),
    "fedavg-svrg": tuple({"S": S, "M": M} for S, M in ((1, 1), (1, 4), (2, 3))),
}
METRICS = ("suboptimality", "squared_gradient_norm", "squared_distance")


def instances(algorithms: Sequence[str], quick: bool = False) -> Iterator[Spec]:
    """Scalar instances in exact rationals, from a start far away, and from the minimiser, where only noise moves it.

    Only of algorithms for which there are certificates. Other units are for `validate.own.units`.
    """
    for algorithm in (name for name in algorithms if name in CERTIFIED):
        for clients in POPULATIONS:
            for start in ("3", *minimiser(clients)):
                for step in STEPS[1::2] if quick else STEPS:
                    for shape in SHAPES[algorithm]:
                        for rounds in (1, 6) if quick else (1, 3, 20):
                            yield {
                                "algorithm": algorithm,
                                "clients": clients,
                                "step": step,
                                **shape,
                                "K": rounds,
                                "theta0": start,
                            }


def scenarios(algorithms: Sequence[str], quick: bool = False) -> Iterator[Any]:
    """Scenarios in several dimensions, in float64, on generated quadratics."""
    for seed in range(4 if quick else 18):
        for algorithm in algorithms:
            yield _scenario(algorithm, seed, simulated=False)


def drawn(algorithms: Sequence[str], quick: bool = False) -> Iterator[Any]:
    """Scenarios in which some of the clients, never all, are drawn uniformly, for claims that speak of that.

    Half of them start at the minimiser, where only the drawing and the noise move the run.
    """
    for seed in range(2 if quick else 8):
        for step, local_steps, away in product((1 / 4, 1 / 32), (1, 3), (False, True)):
            for algorithm in (name for name in algorithms if name != "shuffling"):
                yield _drawn(algorithm, seed, step, local_steps, away)


def undivided(algorithms: Sequence[str], quick: bool = False) -> Iterator[Spec]:
    """The instances with absent clients once more, the server taking the mean over those that are there."""
    for spec in instances(algorithms, quick):
        if any(client["p"] != "1" for client in spec["clients"]):
            yield {**spec, "aggregation": "normalised"}


def undivided_scenarios(algorithms: Sequence[str], quick: bool = False) -> Iterator[Any]:
    """The same of scenarios in several dimensions."""
    for scenario in scenarios(algorithms, quick):
        if isinstance(scenario, Scenario) and isinstance(scenario.participation, Bernoulli):
            yield replace(scenario, algorithm=replace(scenario.algorithm, aggregation="normalised"))


def sampled(algorithms: Sequence[str], quick: bool = False) -> Iterator[Any]:
    """Some of the same, to be simulated."""
    for seed in (1, 2) if quick else (1, 2, 4, 5, 6):
        for algorithm in algorithms:
            yield _scenario(algorithm, seed, simulated=True)


class _Simulated:
    """A scenario that is simulated with all that `validate.own.tables` has, and read at the end."""

    at_the_end = True

    def simulate(self, runs: int, seed: int = 0, **options: Any) -> Trace:
        """See `Scenario.simulate`."""
        found: Trace = super().simulate(runs, seed, **{"metrics": METRICS, **options})  # type: ignore[misc]
        return found


class _SimulatedRounds(_Simulated, Scenario):
    pass


class _SimulatedShuffling(_Simulated, ShufflingScenario):
    pass


class _SimulatedInertial(_Simulated, InertialScenario):
    pass


def _scenario(algorithm: str, seed: int, simulated: bool) -> Any:
    """By the seed: one client, one sample each, no heterogeneity, several local steps, absent clients, a short step."""
    rng = np.random.default_rng([20250303, seed])
    clients, samples = int(rng.integers(2, 6)) if seed % 4 else 1, int(rng.integers(2, 5)) if seed % 3 else 1
    problem = quadratic(
        clients=clients,
        dim=int(rng.integers(2, 5)),
        mu=float(rng.uniform(0.05, 0.9)),
        L=1.0,
        heterogeneity=float(rng.uniform(0.1, 2)) if clients > 1 and seed % 2 else 0.0,
        seed=seed,
        samples=samples,
        sample_spread=0.5 if samples > 1 else 0.0,
    )
    step, local_steps = float(rng.uniform(0.05, 0.4)) / (10 if seed % 3 == 2 else 1), 1 + 2 * (seed // 2 % 2)
    start, name = rng.normal(size=problem.dim), f"{algorithm} {seed}"
    chosen = UniformChoice(int(rng.integers(1, clients + 1)) if seed % 6 == 5 else clients)
    if algorithm == "shuffling":
        order = ShufflingSGD(step=step / clients, local_steps=local_steps, weights=(1 / clients,) * clients)
        return (_SimulatedShuffling if simulated else ShufflingScenario)(name, order, problem, 6, start)
    if algorithm == "fedmim":
        lags = tuple(float(a) for a in rng.uniform(0, 0.4, seed % 3))
        inertia = FedMIM(step=step / local_steps, local_steps=local_steps, alpha=lags, beta=lags[::-1])
        return (_SimulatedInertial if simulated else InertialScenario)(name, inertia, problem, chosen, 6, start)
    who: Any = full() if clients == chosen.size else chosen
    if clients > 1 and seed % 6 == 0:
        who = Bernoulli(rng.uniform(0.2, 1, clients))
    method: Any = FedAvg(step=step, local_steps=local_steps)
    if algorithm == "fedavg-svrg":
        method = FedAvgSVRG(step=step, snapshots=1 + seed % 2, inner=3)
    rounds = 10 if algorithm == "local-sgd" else 3
    return (_SimulatedRounds if simulated else Scenario)(name, method, problem, who, rounds, start)


def _drawn(algorithm: str, seed: int, step: float, local_steps: int, away: bool) -> Any:
    rng = np.random.default_rng([20250304, seed])
    clients, samples = int(rng.integers(2, 6)), 1 + 2 * (seed % 2)
    problem = quadratic(
        clients=clients,
        dim=int(rng.integers(2, 5)),
        mu=float(rng.uniform(0.05, 0.9)),
        L=1.0,
        heterogeneity=float(rng.uniform(0.1, 2)),
        seed=seed,
        samples=samples,
        sample_spread=0.5 if samples > 1 else 0.0,
    )
    elsewhere, some = rng.normal(size=problem.dim), UniformChoice(int(rng.integers(1, clients)))
    name = f"{algorithm} drawn {seed}, {'from elsewhere' if away else 'from the minimiser'}"
    start = elsewhere if away else problem.minimiser
    if algorithm == "fedmim":
        inertia = FedMIM(step=step / local_steps, local_steps=local_steps, alpha=(0.3,), beta=(0.3,))
        return InertialScenario(name, inertia, problem, some, 6, start)
    if algorithm == "fedavg-svrg":
        return Scenario(name, FedAvgSVRG(step=step, snapshots=local_steps, inner=3), problem, some, 3, start)
    return Scenario(name, FedAvg(step=step, local_steps=local_steps), problem, some, 10, start)
