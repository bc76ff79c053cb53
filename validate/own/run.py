"""Both sides of a claim of one's own on a scenario, by the exact oracle."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM, ShufflingSGD
from sim.participation import Bernoulli, UniformChoice
from theory.claim import Claim
from validate import reachable
from validate.bounds import Cases
from validate.inertial_scenario import InertialScenario
from validate.own.claims import MeasuredClaim, MeasuredParameter
from validate.own.tables import AFTER_ROUNDS, MEASURES, ONE_ROUND, QUANTITIES
from validate.scenario import Scenario
from validate.shuffling_scenario import ShufflingScenario

# A curvature that is smaller than this share of the largest one is rounding.
FLAT = 1e-9
_CLASSES: dict[str, tuple[Any, Any]] = {
    "local-sgd": (Scenario, FedAvg),
    "fedavg-svrg": (Scenario, FedAvgSVRG),
    "shuffling": (ShufflingScenario, ShufflingSGD),
    "fedmim": (InertialScenario, FedMIM),
}


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: made by `validate.own.claim`.
        scenario: any; exact numbers give exact cases. Of one with an attribute ``at_the_end`` that is true, a claim
            about every round is read after the last one only, as a simulation of it is.

    Returns:
        None when the claim does not speak of such a scenario: another algorithm or participation, a quantity that does
        not exist there (no minimiser), or a parameter outside its domain.
    """
    if not isinstance(claim, MeasuredClaim) or not speaks_of(claim, scenario):
        return None
    run, of = Run(scenario), QUANTITIES[claim.quantity.name].of
    left = run.value(claim.quantity.name)
    if left is None:
        return None
    first = scenario.rounds - 1 if getattr(scenario, "at_the_end", False) else 0
    k = np.arange(first, scenario.rounds) + (of == AFTER_ROUNDS)
    index = {"k": k} if of in (AFTER_ROUNDS, ONE_ROUND) else {}
    values: dict[str, Any] = {}
    for parameter in claim.parameters:
        assert isinstance(parameter, MeasuredParameter)
        value = k if parameter.measure == "round" else run.value(parameter.measure)
        if value is not None and MEASURES[parameter.measure].of == (ONE_ROUND,):
            value = value[k]
        if value is None or not parameter.domain.contains(value):
            return None
        values[parameter.name] = value
    sides = left[k + (of == ONE_ROUND)] if index else np.atleast_1d(np.asarray(left, dtype=run.dtype))
    size = 0.0 if run.dtype is object or not index else float(np.max(left))
    return Cases(np.asarray(sides, dtype=run.dtype), values, index, size=size)


def speaks_of(claim: MeasuredClaim, scenario: Any) -> bool:
    """Whether the scenario has the claim's algorithm, with a constant step and the usual rules, and participation."""
    kind, method = _CLASSES[claim.algorithm]
    algorithm = getattr(scenario, "algorithm", None)
    if not (isinstance(scenario, kind) and isinstance(algorithm, method)):
        return False
    if scenario.rounds < 1 or isinstance(algorithm.step, tuple):
        return False
    if isinstance(scenario, ShufflingScenario):  # whose f is the mean over the clients
        return scenario.factor == 1 and bool(np.allclose(np.array(algorithm.weights, float) * algorithm.clients, 1))
    rule = "normalised" if claim.participation == "independent-mean" else "unbiased"
    if isinstance(scenario, Scenario) and algorithm.empty != "keep":
        return False
    if isinstance(scenario, Scenario) and algorithm.aggregation != rule and not everybody(scenario):
        return False  # with everybody there the two rules are one
    kinds: dict[str, type] = {"independent": Bernoulli, "independent-mean": Bernoulli, "uniform": UniformChoice}
    return everybody(scenario) or isinstance(scenario.participation, kinds.get(claim.participation, ()))


def everybody(scenario: Any) -> bool:
    """Whether all clients take part in every round."""
    if isinstance(scenario, ShufflingScenario):
        return True
    who = scenario.participation
    return bool(np.all(who.p == 1)) if isinstance(who, Bernoulli) else who.size == scenario.problem.clients


class Run:
    """One scenario's quantities and constants, under the names of `validate.own.tables`.

    Quantities by round are (K+1,) arrays, entry k after k rounds; what does not exist is None.
    """

    def __init__(self, scenario: Any) -> None:
        self.scenario, self.problem, self.algorithm = scenario, scenario.problem, scenario.algorithm
        self.dtype: Any = object if scenario.exact else np.float64

    def value(self, name: str) -> Any:
        """The quantity or constant of that name; None where it does not exist."""
        return getattr(self, name)

    @cached_property
    def moments(self) -> Any:
        return self.scenario.moments()

    @cached_property
    def minimiser(self) -> Any:
        """(d,), or None."""
        least = np.linalg.eigvalsh(self.problem.mean_hessian.astype(np.float64))[0]
        return self.problem.minimiser if least > FLAT * float(self.problem.smoothness) else None

    # quantities

    @cached_property
    def squared_distance(self) -> Any:
        best, m = self.minimiser, self.moments
        if best is None:
            return None
        return np.maximum(m.squared_iterate_norm - 2 * (m.mean @ best) + best @ best, 0)

    @property
    def next_distance(self) -> Any:
        return self.squared_distance

    @cached_property
    def suboptimality(self) -> Any:
        gaps = self.moments.suboptimality
        return None if gaps is None else np.maximum(gaps, 0)

    @property
    def squared_gradient_norm(self) -> Any:
        return self.moments.squared_gradient_norm

    @property
    def mean_suboptimality(self) -> Any:
        return None if self.suboptimality is None else self.suboptimality[:-1].sum() / self.rounds

    @property
    def mean_squared_gradient_norm(self) -> Any:
        return self.squared_gradient_norm[:-1].sum() / self.rounds

    # constants

    @property
    def step(self) -> Any:
        return self.algorithm.step

    @property
    def local_steps(self) -> int:
        return int(self.algorithm.local_steps)

    @property
    def snapshots(self) -> int:
        return int(self.algorithm.snapshots)

    @property
    def inner_steps(self) -> int:
        return int(self.algorithm.inner)

    @property
    def clients(self) -> int:
        return int(self.problem.clients)

    @property
    def chosen_clients(self) -> int:
        who = self.scenario.participation
        return int(who.size) if isinstance(who, UniformChoice) else self.clients

    @property
    def rounds(self) -> int:
        return int(self.scenario.rounds)

    @property
    def strong_convexity(self) -> Any:
        least = self.problem.strong_convexity
        return least if least > FLAT * self.problem.smoothness or self.scenario.exact else 0 * least

    @property
    def smoothness(self) -> Any:
        return self.problem.smoothness

    @property
    def sample_smoothness(self) -> Any:
        return self.problem.sample_smoothness

    @property
    def start_distance(self) -> Any:
        return None if self.squared_distance is None else self.squared_distance[0]

    @property
    def start_gap(self) -> Any:
        return None if self.suboptimality is None else self.suboptimality[0]

    @property
    def distance(self) -> Any:
        return self.squared_distance

    @property
    def gap(self) -> Any:
        return self.suboptimality

    @property
    def squared_gradient(self) -> Any:
        return self.squared_gradient_norm

    @cached_property
    def noise_at_minimiser(self) -> Any:
        return None if self.minimiser is None else self.problem.sampling_noise(self.minimiser).sum() / self.clients

    @property
    def largest_noise(self) -> Any:
        return reachable.largest_variance(self.scenario) if self._bounded else None

    @cached_property
    def heterogeneity(self) -> Any:
        return None if self.minimiser is None else self.problem.heterogeneity

    @property
    def largest_dissimilarity(self) -> Any:
        return reachable.largest_dissimilarity(self.scenario) if self._bounded else None

    @property
    def largest_second_moment(self) -> Any:
        return self.moments.estimator.max()

    @property
    def mean_inverse_participation(self) -> Any:
        return (1 / self.moments.participation).sum() / self.moments.participation.size

    @property
    def alpha_sum(self) -> Any:
        return sum(self.algorithm.alpha)

    @property
    def beta_sum(self) -> Any:
        return sum(self.algorithm.beta)

    @property
    def _bounded(self) -> bool:
        """Whether the set that holds the run is known."""
        return self.minimiser is not None and reachable.everybody(self.scenario)
