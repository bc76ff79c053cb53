"""From the document of a cell to its scenario, its views by the papers' modules, and the SPEC of a certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from validate.sweep.tables import local_steps_of

if TYPE_CHECKING:
    from sim.problems import Quadratic
    from validate.inertial_scenario import InertialScenario
    from validate.scenario import Scenario
    from validate.shuffling_scenario import ShufflingScenario
    from validate.sweep.cell import Cell

# A break is recomputed in fractions up to this many samples times local steps times rounds; their digits grow with it.
MOST_EXACT = 256
# Orders of the clients that the views of shuffling list: 6! = 720.
MOST_LISTED = 6


@lru_cache(maxsize=32)
def _problem(text: str) -> Quadratic:
    """The problem of a canonical text, in float64."""
    from sim.problems import quadratic, rand_hie, scalar

    given = json.loads(text)
    if given["kind"] == "scalar":
        h, a = ([_floats(client[name]) for client in given["clients"]] for name in ("h", "a"))
        return scalar(h, a)
    if given["kind"] == "insurance":
        from validate.experiments.insurance.setting import scaled_to_unit

        problem = rand_hie()
        return scaled_to_unit(problem) if given["columns"] == "unit" else problem
    reals: dict[str, Any] = {name: _float(given[name]) for name in ("mu", "L", "heterogeneity", "sample_spread")}
    sizes = {name: given[name] for name in ("clients", "dim", "samples", "seed")}
    return quadratic(**sizes, **reals)


@lru_cache(maxsize=2)
def scenario_of(text: str) -> Scenario | ShufflingScenario | InertialScenario:
    """The scenario of `validate.sweep.cell.Cell.scenario`, in float64.

    The last two are kept, so that the claims about one scenario, which are neighbours in a sweep, share its moments.
    """
    import numpy as np

    from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM, ShufflingSGD
    from sim.participation import Bernoulli, UniformChoice
    from validate.inertial_scenario import InertialScenario
    from validate.scenario import Scenario
    from validate.shuffling_scenario import ShufflingScenario

    given = json.loads(text)
    algorithm, part = given["algorithm"], given["participation"]
    kind, step = algorithm["kind"], _float_or_floats(algorithm["step"])
    problem = _problem(json.dumps(given["problem"], sort_keys=True))
    shared: dict[str, Any] = {
        "name": kind,
        "problem": problem,
        "rounds": given["rounds"],
        "start": np.full(problem.dim, _float(given["start"])),
    }
    if kind == "shuffling":
        method = ShufflingSGD(step, algorithm["local_steps"], tuple(_floats(algorithm["alpha"])))
        return ShufflingScenario(algorithm=method, **shared)
    if kind == "fedmim":
        lags: dict[str, Any] = {name: tuple(_floats(algorithm[name])) for name in ("alpha", "beta")}
        inertial = FedMIM(step, algorithm["local_steps"], **lags)
        return InertialScenario(algorithm=inertial, participation=UniformChoice(part["clients"]), **shared)
    present = UniformChoice(part["clients"]) if "clients" in part else Bernoulli(_float_or_floats(part["p"]))
    rules = {name: algorithm[name] for name in ("aggregation", "empty")}
    if kind == "fedavg-svrg":
        reduced = FedAvgSVRG(step, algorithm["S"], algorithm["M"], **rules)
        return Scenario(algorithm=reduced, participation=present, **shared)
    local = FedAvg(step, algorithm["local_steps"], **rules)
    return Scenario(algorithm=local, participation=present, **shared)


def views(scenario: Any, paper: str) -> tuple[Any, ...]:
    """The scenario, and what else a paper's module may measure in its place.

    PERM's claims about shuffling are measured on runs and epochs in one dimension, which list all orders
    (`validate.papers.perm.shuffling_runs`, `shuffling_epochs`). They stand for a scenario of shuffling on scalar
    clients with one sample each, h > 0, weights that sum to 1, a constant step with step alpha_c N h_c <= 1, so that
    nothing leaves the interval W of the start and the clients' minimisers, and at most `MOST_LISTED` clients.
    """
    from validate.shuffling_scenario import ShufflingScenario

    if paper != "perm" or not isinstance(scenario, ShufflingScenario):
        return (scenario,)
    import numpy as np

    from validate.papers.perm.shuffling_epochs import Epoch
    from validate.papers.perm.shuffling_runs import Run

    problem, algorithm = scenario.problem, scenario.algorithm
    step: Any = algorithm.step
    weights = np.array(algorithm.weights, dtype=np.float64)
    if problem.dim > 1 or problem.samples > 1 or problem.clients > MOST_LISTED or isinstance(step, tuple):
        return (scenario,)
    h, b = problem.hessian[:, 0, 0, 0], problem.linear[:, 0, 0]
    if not (h > 0).all() or abs(weights.sum() - 1) > 1e-12 or (step * problem.clients * weights * h > 1).any():
        return (scenario,)
    shared: dict[str, Any] = {"name": scenario.name, "step": float(step), "local_steps": algorithm.local_steps}
    run = Run(h=h, b=b, weights=np.tile(weights, (scenario.rounds + 1, 1)), start=float(scenario.start[0]), **shared)
    epoch = Epoch(
        hessian=h.reshape(-1, 1, 1),
        linear=b.reshape(-1, 1),
        alpha=weights,
        epochs=scenario.rounds,
        start=scenario.start,
        width=float(abs(run.domain - run.start).max()),
        **shared,
    )
    return scenario, run, epoch


def certificate_spec(cell: Cell) -> dict[str, Any] | None:
    """The SPEC (`validate.scenario`) of a cell on scalar clients, as a certificate carries it.

    Returns:
        None for another problem, for what no SPEC of rounds says (shuffling; S of N clients, except in FedMIM), and
        for a run so long that its fractions would have too many digits.
    """
    problem, algorithm, part = cell.problem, cell.algorithm, cell.participation
    kind = algorithm["kind"]
    if problem["kind"] != "scalar" or kind == "shuffling" or (kind != "fedmim" and "clients" in part):
        return None
    clients = problem["clients"]
    if cell.rounds * local_steps_of(algorithm) * sum(len(client["h"]) for client in clients) > MOST_EXACT:
        return None
    spec: dict[str, Any] = {"algorithm": kind, "step": algorithm["step"], "K": cell.rounds}
    if kind == "fedmim":
        spec |= {name: algorithm[name] for name in ("local_steps", "alpha", "beta")}
        linear = [{"h": client["h"], "b": _products(client)} for client in clients]
        return {**spec, "clients": linear, "S": part["clients"], "x0": cell.start}
    names = ("S", "M") if kind == "fedavg-svrg" else ("local_steps",)
    spec |= {name: algorithm[name] for name in (*names, "aggregation", "empty")}
    chances = part["p"] if isinstance(part["p"], list) else [part["p"]] * len(clients)
    present = [{**client, "p": p} for client, p in zip(clients, chances, strict=True)]
    return {**spec, "clients": present, "theta0": cell.start}


def _products(client: Mapping[str, list[str]]) -> list[str]:
    """b = h a of each sample."""
    return [str(Fraction(h) * Fraction(a)) for h, a in zip(client["h"], client["a"], strict=True)]


def _float(text: str) -> float:
    return float(Fraction(text))


def _floats(texts: list[str]) -> list[float]:
    return [_float(text) for text in texts]


def _float_or_floats(value: str | list[str]) -> Any:
    return _floats(value) if isinstance(value, list) else _float(value)
