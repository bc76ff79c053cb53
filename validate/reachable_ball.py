"""A ball around the minimiser that no run leaves, round by round, and the largest value of a metric in it.

`validate.reachable` has the exact hull where it is known; this is cruder and general: local SGD and FedAvg-SVRG on
quadratics in any dimension, whatever is drawn and whoever takes part. With e = w - x*, a local step of sample i is
e' = (I - step H_i) e - step g_i, g_i the gradient of the sample at x*, so that norms are enough. The radius grows by a
factor a round where absent clients are made up for by weights 1/p; it then says nothing after a few rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.algorithms.schedule import step_at
from sim.arguments import to_float
from sim.participation import Bernoulli, UniformChoice, round_probabilities
from validate.bounds import Cases
from validate.per_run import PerRun
from validate.scenario import Scenario

Array = NDArray[np.float64]

# The radii are computed in float64, rounded up by this much a round; a few thousand roundings are far less.
ROUNDING = 1e-9


def largest(scenario: Any, per_run: PerRun, cases: Cases) -> Array:
    """(C,): what no run exceeds, one a case; infinite where no bound is known.

    Args:
        scenario: any; a bound is known for local SGD and FedAvg-SVRG on quadratics with one minimiser.
        per_run: the number that each run has.
        cases: of the claim, for their index.
    """
    unknown = np.full(len(cases), np.inf)
    radii = distances(scenario)
    if radii is None:
        return unknown
    best = to_float(scenario.problem.minimiser)
    smoothness = float(np.linalg.norm(to_float(scenario.problem.mean_hessian), 2))
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = {
            "squared_gradient_norm": (smoothness * radii) ** 2,
            "suboptimality": smoothness * radii**2 / 2,
            "squared_distance": radii**2,
            "squared_iterate_norm": (radii + np.linalg.norm(best)) ** 2,
        }.get(per_run.metric)
    if bounds is None:
        return unknown
    bounds = np.where(np.isfinite(bounds), bounds, np.inf)
    if per_run.at == "mean":
        return np.full(len(cases), bounds[:-1].mean() * (1 + ROUNDING))
    k = np.asarray(cases.index.get("k", np.zeros(len(cases), dtype=int)), dtype=int)
    return np.asarray(bounds[k + (per_run.at == "next")] * (1 + ROUNDING))


def distances(scenario: Any) -> Array | None:
    """(K+1,): ||theta^k - x*|| is at most this in every run; None where no bound is known.

    None unless the algorithm is local SGD or FedAvg-SVRG, the problem quadratic and its minimiser unique. Radii that
    leave the range of floats are infinite.
    """
    if not isinstance(scenario, Scenario) or not isinstance(scenario.algorithm, FedAvg | FedAvgSVRG):
        return None
    if not isinstance(scenario.participation, Bernoulli | UniformChoice):
        return None
    try:
        best = to_float(scenario.problem.minimiser)
    except ValueError:  # none, or more than one
        return None
    local = _Local(scenario.problem, best)
    radius = float(np.linalg.norm(to_float(scenario.start) - best))
    radii = [radius]
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(scenario.rounds):
            ends = local.ends(scenario.algorithm, radius, float(step_at(scenario.algorithm.step, k)))
            radius = _averaged(scenario, k, radius, ends, float(np.linalg.norm(best))) * (1 + ROUNDING)
            radius = radius if np.isfinite(radius) else np.inf
            radii.append(radius)
    return np.array(radii)


class _Local:
    """The clients' Hessians, and their gradients at the minimiser of f, in float64."""

    def __init__(self, problem: Any, best: Array) -> None:
        self.counts = problem.counts
        self.hessian, linear = to_float(problem.hessian), to_float(problem.linear)
        self.noise = np.linalg.norm(self.hessian @ best - linear, axis=-1)
        self.client_hessian = to_float(problem.client_hessian)
        self.pull = np.linalg.norm(self.client_hessian @ best - to_float(problem.client_linear), axis=-1)
        self.eye = np.eye(len(best))

    def ends(self, algorithm: FedAvg | FedAvgSVRG, radius: float, step: float) -> Array:
        """(N,): how far from x* a client's model may be when it has worked from a model at `radius`."""
        return np.array([self._end(n, algorithm, radius, step) for n in range(len(self.counts))])

    def _end(self, n: int, algorithm: FedAvg | FedAvgSVRG, radius: float, step: float) -> float:
        own = self.hessian[n, : int(self.counts[n])]
        factors = np.linalg.norm(self.eye - step * own, 2, axis=(1, 2))
        if isinstance(algorithm, FedAvg):
            noise = step * self.noise[n, : int(self.counts[n])]
            for _ in range(algorithm.local_steps):
                radius = float(np.max(factors * radius + noise))
            return radius
        # at a snapshot the estimator is the client's gradient; then it is off by (H_i - H_n) times the way from there
        first = float(np.linalg.norm(self.eye - step * self.client_hessian[n], 2))
        off = step * np.linalg.norm(own - self.client_hessian[n], 2, axis=(1, 2))
        for _ in range(algorithm.snapshots):
            snapshot = radius
            radius = first * snapshot + step * float(self.pull[n])
            for _ in range(algorithm.inner - 1):
                radius = float(np.max(factors * radius + off * snapshot)) + step * float(self.pull[n])
        return radius


def _averaged(scenario: Scenario, k: int, radius: float, ends: Array, zero: float) -> float:
    """The largest distance from x* after the server's step, from models at `ends`; `zero` is that of the model 0."""
    algorithm, clients = scenario.algorithm, len(ends)
    p = to_float(round_probabilities(scenario.participation, clients, k))
    if isinstance(scenario.participation, UniformChoice) or algorithm.aggregation == "normalised":
        found = float(ends.max())  # weights that sum to 1, when somebody is there
    else:
        # |1 - s| radius + sum_n c_n end_n with s = sum_n c_n and c_n = 0 or 1/(N p_n), largest for each sign of 1 - s;
        # those with p_n = 1 are always there
        weights, always = 1 / (clients * p), p == 1
        changes = [weights * (ends - radius), weights * (ends + radius)]
        changes = [np.where(always, change, np.maximum(change, 0)).sum() for change in changes]
        found = float(max(radius + changes[0], -radius + changes[1]))
    if isinstance(scenario.participation, Bernoulli) and not (p == 1).any():
        if algorithm.empty == "keep":
            found = max(found, radius)
        elif algorithm.empty == "zero":
            found = max(found, zero)
    return found
