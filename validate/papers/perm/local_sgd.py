"""How the claims about local SGD (Lemmas 4 to 6) and mini-batch SGD (Proposition 4) are measured by the exact oracle.

W is the smallest convex set in which the run takes place (`validate.reachable`), so nothing is ever projected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sim.algorithms import FedAvg
from sim.exact import moments
from sim.exact_moments import Moments
from theory.claim import Claim
from validate.bounds import Cases
from validate.once import once
from validate.papers.perm.local_sgd_instances import given, instances, scenarios
from validate.reachable import everybody, largest_dissimilarity, largest_variance
from validate.scenario import Scenario

__all__ = ["cases", "given", "instances", "scenarios"]


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: a claim of this paper.
        scenario: local SGD in which everybody takes part, on a quadratic problem; exact numbers give exact cases.

    Returns:
        None when the claim does not speak of such a scenario, or is not one that is measured.
    """
    measure = _MEASURES.get(claim.label.removesuffix("/corrected"))
    if measure is None or not isinstance(scenario, Scenario) or not isinstance(scenario.algorithm, FedAvg):
        return None
    if scenario.rounds < 1 or isinstance(scenario.algorithm.step, tuple) or not everybody(scenario):
        return None
    run = _Run(claim, scenario, scenario.algorithm)
    if not run.mu > 0:
        return None
    return measure(run)


class _Run:
    """One scenario's moments and constants, under the names that the claims use."""

    def __init__(self, claim: Claim, scenario: Scenario, algorithm: FedAvg) -> None:
        self.scenario, self.algorithm, self.problem = scenario, algorithm, scenario.problem
        self.exact, self.start = scenario.exact, scenario.start
        self.wanted = {p.name for p in claim.parameters}
        self.gamma: Any = algorithm.step
        self.K, self.N, self.rounds = algorithm.local_steps, scenario.problem.clients, scenario.rounds

    @property
    def m(self) -> Moments:
        return self.scenario.moments()

    @property
    def batches(self) -> bool:
        """One step a round of clients that are copies of one another: mini-batch SGD with M = N."""
        p = self.problem
        copies = (p.counts == p.counts[0]).all() and (p.hessian == p.hessian[:1]).all()
        return self.K == 1 and bool(copies and (p.linear == p.linear[:1]).all())

    @property
    def mu(self) -> Any:
        return self.problem.strong_convexity

    @property
    def L(self) -> Any:
        return self.problem.smoothness

    @property
    def delta2(self) -> Any:
        return largest_variance(self.scenario)

    @property
    def zeta(self) -> Any:
        return largest_dissimilarity(self.scenario)

    @property
    def F_gap(self) -> Any:
        return self.at_least_zero(self.m.suboptimality)[0]

    @property
    def dist0(self) -> Any:
        return self.distances(self.m)[0]

    def distances(self, m: Moments) -> np.ndarray:
        """(K+1,), E||theta^k - w*||^2."""
        best = self.problem.minimiser
        return self.at_least_zero(m.squared_iterate_norm - 2 * (m.mean @ best) + best @ best)

    def at_least_zero(self, values: Any) -> np.ndarray:
        """Squares and gaps, which in floats may come out as a negative rounding error."""
        return np.maximum(values, 0)

    def drift(self, before: Moments) -> Any:
        """(1/N) sum_i E||w_i - w||^2 before the last local step of the only round."""
        moved = self.m.displacement[0, :, 0, self.K - 1].sum() / self.N
        mean = before.squared_iterate_norm[-1] - 2 * (before.mean[-1] @ self.start) + self.start @ self.start
        return self.at_least_zero(moved - mean)

    def cases(self, left: Any, index: dict[str, Any], **parameters: Any) -> Cases | None:
        """Cases from left sides (a number or an array); None when a parameter is not known."""
        if any(value is None for value in parameters.values()):
            return None
        sides = np.atleast_1d(np.asarray(left, dtype=object if self.exact else np.float64))
        return Cases(sides, parameters, {name: np.atleast_1d(value) for name, value in index.items()})

    def named(self, *names: str) -> dict[str, Any]:
        """Those of the names that are parameters of the claim."""
        return {name: getattr(self, name) for name in names if name in self.wanted}


@once
def _before(scenario: Scenario) -> Moments:
    """The moments of one round of local SGD without its last local step."""
    step, local_steps = scenario.algorithm.step, getattr(scenario.algorithm, "local_steps", 1)
    shorter = FedAvg(step=step, local_steps=max(local_steps - 1, 1))
    rounds = 1 if local_steps > 1 else 0
    return moments(shorter, scenario.problem, scenario.participation, rounds=rounds, start=scenario.start)


Measure = Callable[[_Run], "Cases | None"]


def _one_step(run: _Run) -> Cases | None:
    """The last local step of a scenario of one round."""
    if run.rounds != 1:
        return None
    before = _before(run.scenario)
    assert before.suboptimality is not None  # mu > 0
    return run.cases(
        run.distances(run.m)[1],
        {"k": 0, "m": run.K - 1},
        dist=run.distances(before)[-1],
        gap=run.at_least_zero(before.suboptimality)[-1],
        drift=run.drift(before),
        **run.named("mu", "L", "N", "gamma", "delta2"),
    )


def _drift(run: _Run) -> Cases | None:
    if run.rounds != 1:
        return None
    left = run.drift(_before(run.scenario))
    return run.cases(left, {"k": 0, "m": run.K - 1}, **run.named("K", "L", "gamma", "delta2", "zeta"))


def _last_iterate(run: _Run) -> Cases | None:
    k = np.arange(1, run.rounds + 1)
    names = ("mu", "L", "N", "K", "gamma", "delta2", "zeta", "dist0")
    return run.cases(run.distances(run.m)[1:], {"k": k}, R=k, **run.named(*names))


def _minibatch(left: Callable[[_Run], Any]) -> Measure:
    def measure(run: _Run) -> Cases | None:
        if not run.batches:
            return None
        sides = left(run)
        if sides is None:
            return None
        k = np.arange(len(sides))
        return run.cases(sides, {"k": k}, T=k, M=run.N, **run.named("mu", "L", "gamma", "delta2", "F_gap"))

    return measure


def _moves(run: _Run) -> Any:
    aggregate = run.m.aggregate  # known under the unbiased aggregation of a FedAvg
    return None if aggregate is None else aggregate * (run.gamma / run.N) ** 2


_MEASURES: dict[str, Measure] = {
    "lemma-4": _one_step,
    "lemma-5": _drift,
    "lemma-6": _last_iterate,
    "proposition-4-eq15": _minibatch(lambda run: run.at_least_zero(run.m.squared_gradient_norm)),
    "proposition-4-eq16": _minibatch(_moves),
    "proposition-4-eq17": _minibatch(lambda run: run.distances(run.m)),
}
