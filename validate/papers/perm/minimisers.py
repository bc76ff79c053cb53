"""How Lemma 2 is measured: one projected step on Phi with given weights, on quadratic clients, in both readings of Phi.

W is the convex hull of the four points that the lemma speaks of, so nothing is projected, and the gradients are
largest at one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.assumptions import Assumption, BoundedGradient
from theory.claim import Claim
from validate.bounds import Cases
from validate.description import number, of_problem
from validate.papers.perm.mixing_scenarios import quadratic_clients

Array = np.ndarray

SEED = 20260304


@dataclass(frozen=True, eq=False)
class TwoWeights:
    """Two points of the simplex, and a model.

    Attributes:
        name: a few words.
        problem: N clients in d dimensions.
        weights: ahat, shape (N,).
        best: a*, shape (N,).
        model: vt, shape (d,).
        share: Phi = sum_j a_j f_j / share; N by (3), 1 in the lemma's proof.
    """

    name: str
    problem: Quadratic
    weights: Array
    best: Array
    model: Array
    share: int

    exact = False
    participation = None

    def description(self) -> str:
        """What it is, for a reader."""
        average = "with 1/N" if self.share > 1 else "without 1/N"
        apart = np.linalg.norm(self.weights - self.best)
        return f"{of_problem(self.problem)}, Phi {average}, weights apart by {number(apart)}, one step of 1/L"

    def stays_finite(self) -> bool:
        """It always does."""
        return True

    def minimiser(self, weights: Array) -> Array:
        """v*(a)."""
        hessian = np.tensordot(weights, self.problem.client_hessian, axes=1)
        return np.linalg.solve(hessian, weights @ self.problem.client_linear)

    @cached_property
    def step(self) -> Array:
        """vhat = vt - (1/L) grad Phi(ahat, vt)."""
        gradients = self.problem.client_gradient(self.model)
        return self.model - self.weights @ gradients / self.share / self.problem.smoothness

    @cached_property
    def gap(self) -> float:
        """Phi(a*, vhat) - Phi(a*, v*(a*)), as a square."""
        away = self.step - self.minimiser(self.best)
        return float(away @ np.tensordot(self.best, self.problem.client_hessian, axes=1) @ away) / 2 / self.share

    @cached_property
    def largest_gradient(self) -> float:
        """G."""
        points = (self.model, self.step, self.minimiser(self.weights), self.minimiser(self.best))
        return max(float(np.linalg.norm(self.problem.client_gradient(v), axis=1).max()) for v in points)

    def least_constant(self, assumption: Assumption) -> float | None:
        """See `validate.assumptions`."""
        return self.largest_gradient if isinstance(assumption, BoundedGradient) else None


def scenarios(quick: bool = False) -> Iterator[TwoWeights]:
    """Random clients, with weights near each other or not, and models near the minimiser or not."""
    rng = np.random.default_rng(SEED)
    for i in range(40 if quick else 400):
        clients, dim = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        problem = quadratic_clients(rng, clients, dim)
        best = rng.dirichlet(np.full(clients, float(rng.choice([0.1, 1.0]))))
        weights = best + 10 ** rng.uniform(-4, 0) * (rng.dirichlet(np.ones(clients)) - best)
        start = np.linalg.solve(np.tensordot(weights, problem.client_hessian, axes=1), weights @ problem.client_linear)
        model = start + rng.normal(size=dim) * float(rng.choice([1e-4, 1e-2, 1.0]))
        for share in (1, clients):
            yield TwoWeights(f"two weights {i}", problem, weights, best, model, share)


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario, or None when it does not speak of it."""
    if claim.label not in ("lemma-2", "lemma-2/unnormalised") or not isinstance(scenario, TwoWeights):
        return None
    if scenario.share != (1 if claim.label.endswith("unnormalised") else scenario.problem.clients):
        return None
    away = scenario.model - scenario.minimiser(scenario.weights)
    apart = scenario.weights - scenario.best
    parameters = {
        "L": scenario.problem.smoothness,
        "mu": scenario.problem.strong_convexity,
        "N": scenario.problem.clients,
        "G": scenario.largest_gradient,
        "dv2": float(away @ away),
        "da2": float(apart @ apart),
    }
    return Cases(np.array([scenario.gap]), parameters, {})
