"""How both sides of the claims about SGD are measured by the exact oracle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sim.algorithms import FedAvg
from sim.exact import moments
from sim.exact_moments import Moments
from sim.participation import Bernoulli, full
from sim.problems import Quadratic
from theory.claim import Claim
from validate.assumptions import equal_curvatures
from validate.bounds import Cases
from validate.papers.open_fl.sgd_instances import instances, sampled, scenarios, worst_instance
from validate.scenario import Scenario
from validate.verdict import Evidence

__all__ = ["cases", "instances", "sampled", "scenarios", "special", "worst_instance"]

# eta L and norms in floats; a start this far outside the ball is on its sphere.
ROUNDING = 1e-12


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: a claim of this paper.
        scenario: local SGD on a quadratic problem; exact numbers give exact cases, where roots are rational.

    Returns:
        None when the claim does not speak of such a scenario (weights that do not sum to 1, a start outside the claim's
        ball, noise that has no bound), or is not one that is measured.
    """
    measure = _MEASURES.get(claim.label)
    if measure is None or not isinstance(scenario, Scenario) or not isinstance(scenario.algorithm, FedAvg):
        return None
    run = _Run(claim, scenario, scenario.algorithm)
    if scenario.rounds < 1 or isinstance(scenario.algorithm.step, tuple) or not run.shares:
        return None
    if not run.mu > 0 or run.sigma is None or run.r is None:
        return None
    return measure(run)


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Proofs by algebra, refutations and comparisons that are particular to a claim."""
    from validate.papers.open_fl.sgd_special import special as find

    return find(claim, out)


class _Run:
    """One scenario's moments and constants, under the names that the claims use."""

    def __init__(self, claim: Claim, scenario: Scenario, algorithm: FedAvg) -> None:
        self.claim, self.scenario, self.algorithm = claim, scenario, algorithm
        self.problem, self.start, self.exact = scenario.problem, scenario.start, scenario.exact
        self.eta: Any = algorithm.step

    @property
    def m(self) -> Moments:
        return self.scenario.moments()

    # what it is

    @property
    def everybody(self) -> bool:
        """Whether everybody takes part, always."""
        return isinstance(self.scenario.participation, Bernoulli) and bool((self.m.participation == 1).all())

    @property
    def shares(self) -> bool:
        """Whether the server's weights are non-negative and sum to 1, or the model stays (or becomes 0)."""
        return self.algorithm.aggregation == "normalised" or self.everybody

    @property
    def one_step(self) -> bool:
        """Whether a round is one local step."""
        return self.algorithm.local_steps == 1

    @property
    def alone(self) -> bool:
        """One step a round of one client that is always there."""
        return self.one_step and self.problem.clients == 1 and self.everybody

    @property
    def full_step(self) -> bool:
        """eta = 1/L."""
        return bool(abs(self.eta * self.L - 1) <= (0 if self.exact else ROUNDING))

    # parameters

    @property
    def mu(self) -> Any:
        return self.problem.strong_convexity

    @property
    def L(self) -> Any:
        return self.problem.smoothness

    @property
    def r(self) -> Any:
        points = self.problem.client_minimisers
        return None if points is None else _root((points * points).sum(axis=1).max())

    @property
    def sigma(self) -> Any:
        """Smallest bound on the standard deviation at every point that is reached; None if there is none."""
        if not equal_curvatures(self.problem) and not (self.one_step and self.scenario.rounds == 1):
            return None
        return _root(max(self.problem.sampling_noise(self.start).max(), 0))

    @property
    def iterate_norm(self) -> Any:
        return _root(self.start @ self.start)

    @property
    def minimiser_norm(self) -> Any:
        return _root(self.problem.minimiser @ self.problem.minimiser)

    @property
    def gradient(self) -> Any:
        return self.problem.client_gradient(self.start)[0]

    @property
    def gradient_norm(self) -> Any:
        return _root(self.gradient @ self.gradient)

    @property
    def distance2(self) -> Any:
        away = self.start - self.problem.minimiser
        return away @ away

    @property
    def iterate_product(self) -> Any:
        return self.start @ self.gradient

    @property
    def sampled_gradient2(self) -> Any:
        return self.m.estimator[0, 0, 0, 0]

    def named(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def cases(self, left: Any, index: dict[str, np.ndarray] | None = None, **parameters: Any) -> Cases | None:
        """Cases from left sides; None when a root that they need is not rational."""
        sides = np.atleast_1d(np.asarray(left, dtype=object))
        if any(value is None for value in (*sides, *parameters.values())):
            return None
        return Cases(sides if self.exact else sides.astype(np.float64), parameters, index or {})

    def inside(self, parameters: dict[str, Any]) -> bool:
        """Whether the start lies in the ball of the claim's radius."""
        if any(value is None for value in parameters.values()):
            return False
        bound = self.claim.bound(**{name: float(value) for name, value in parameters.items()})
        return bool(np.sqrt(float(self.start @ self.start)) <= bound * (1 + ROUNDING))


def _root(value: Any) -> Any:
    """The square root; of a Fraction that is no square, None."""
    if not isinstance(value, Fraction | int) or isinstance(value, bool):
        return float(np.sqrt(value))
    from math import isqrt

    exact = Fraction(value)
    above, below = isqrt(exact.numerator), isqrt(exact.denominator)
    root = Fraction(above, below)
    return root if root * root == exact else None


Measure = Callable[[_Run], "Cases | None"]


def _next_root(run: _Run) -> Cases | None:
    """The root of E||x^1||^2, for a start in the ball."""
    parameters = run.named("mu", "L", "r", "sigma")
    if not run.one_step or not run.inside(parameters):
        return None
    return run.cases(_root(run.m.squared_iterate_norm[1]), **parameters)


def _every_root(*names: str) -> Measure:
    """The roots of E||x^k||^2 for k = 1..K, for a start in the ball."""

    def measure(run: _Run) -> Cases | None:
        parameters = run.named(*names)
        if run.eta * run.L > 1 + ROUNDING or (run.exact and run.eta * run.L > 1):
            return None
        if "eta" in names and not run.eta * (run.mu + run.L) < 2:
            return None
        if not run.inside(parameters):
            return None
        k = np.arange(1, run.scenario.rounds + 1)
        return run.cases([_root(value) for value in run.m.squared_iterate_norm[1:]], {"k": k}, **parameters)

    return measure


def _averaged(run: _Run) -> tuple[Any, Any]:
    """E||theta^1||^2, and the largest E||x_n||^2 over what is averaged: clients' models, or the model that is kept."""
    problem, options = run.problem, {"rounds": 1, "start": run.start}
    models = []
    for n in range(problem.clients):
        samples = slice(0, int(problem.counts[n]))
        own = Quadratic(
            problem.hessian[n : n + 1, samples],
            problem.linear[n : n + 1, samples],
            problem.offset[n : n + 1, samples],
            problem.counts[n : n + 1],
        )
        models.append(moments(run.algorithm, own, full(), **options).squared_iterate_norm[1])
    if not run.everybody:
        models.append(run.start @ run.start)
    return run.m.squared_iterate_norm[1], max(models)


def _second_moments(run: _Run) -> Cases | None:
    if run.problem.clients == 1:
        return None
    left, R2 = _averaged(run)
    return run.cases(left, R2=R2)


def _sure_ball(run: _Run) -> Cases | None:
    """Clients without noise: their models are known, and R is the largest of their norms."""
    if run.problem.clients == 1 or run.sigma != 0:
        return None
    left, R2 = _averaged(run)
    return run.cases(left, R=_root(R2))


def _line(left: Callable[[_Run], Any], *names: str, full_step: bool = False, flat: bool = False) -> Measure:
    """A line of the proof, at the start of a client that is alone; `flat` lowers mu to L/3 where it is larger."""

    def measure(run: _Run) -> Cases | None:
        if not run.alone or (full_step and not run.full_step):
            return None
        parameters = run.named(*names)
        if flat:
            parameters["mu"] = min(run.mu, run.L / 3)
        return run.cases(left(run), **parameters)

    return measure


def _gradient_product(run: _Run) -> Any:
    return (run.start - run.problem.minimiser) @ run.gradient


def _next_square(run: _Run) -> Any:
    return run.m.squared_iterate_norm[1]


_MEASURES: dict[str, Measure] = {
    "proposition-1": _sure_ball,
    "proposition-1/second-moments": _second_moments,
    "eq6": _line(_gradient_product, "mu", "L", "gradient_norm", "distance2"),
    "eq7": _line(lambda run: run.iterate_product, "mu", "L", "r", "gradient_norm", "distance2"),
    "eq8": _line(_next_square, "L", "iterate_norm", "iterate_product", "sampled_gradient2", full_step=True),
    "eq9": _line(lambda run: run.sampled_gradient2, "sigma", "gradient_norm"),
    "eq10": _line(_next_square, "mu", "L", "r", "sigma", "iterate_norm", "gradient_norm", "distance2", full_step=True),
    "eq11": _line(_next_square, "mu", "L", "r", "sigma", "iterate_norm", "minimiser_norm", full_step=True, flat=True),
    "theorem-2": _next_root,
    "theorem-2/corrected": _next_root,
    "theorem-2/corrected-2": _every_root("mu", "L", "r", "sigma"),
    "theorem-2/corrected-3": _every_root("mu", "L", "r", "sigma", "eta"),
}
