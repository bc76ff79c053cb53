"""What a scenario really satisfies, held against a claim's hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.participation import Bernoulli
from theory.assumptions import (
    Assumption,
    BoundedEstimatorSecondMoment,
    Convex,
    IndependentParticipation,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Claim
from validate.scenario import Scenario

# Constants computed in float64 may differ from the true ones by rounding.
ROUNDING = 1e-9


def unmet(claim: Claim, scenario: Scenario, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the claim's hypotheses that the scenario does not satisfy, printed or silently used.

    Args:
        claim: the claim.
        scenario: problem, algorithm and participation.
        parameters: the claim's parameters there, scalars.

    Raises:
        ValueError: for an assumption that has no check here.
    """
    failed: list[str] = []
    if claim.has_bound and any(h.relation is not None for h in claim.hypotheses):
        named = {p.name for p in claim.parameters}
        failed += claim.violated(**{name: value for name, value in parameters.items() if name in named})
    for hypothesis in claim.hypotheses:
        if hypothesis.assumption is not None and not satisfied(hypothesis.assumption, scenario, parameters):
            failed.append(hypothesis.name)
    return tuple(dict.fromkeys(failed))


def satisfied(assumption: Assumption, scenario: Scenario, parameters: Mapping[str, Any]) -> bool:
    """Whether a scenario satisfies an assumption with the constants that `parameters` give (a missing one: with some).

    Raises:
        ValueError: for an assumption that has no check here.
    """
    problem = scenario.problem
    if isinstance(assumption, Smooth):
        measured = problem.sample_smoothness if assumption.of == "sample" else problem.smoothness
        constant = parameters.get(assumption.constant)
        return constant is None or measured <= constant * (1 + _slack(scenario))
    if isinstance(assumption, StronglyConvex):
        measured = problem.sample_strong_convexity if assumption.of == "sample" else problem.strong_convexity
        constant = parameters.get(assumption.constant)
        return measured > 0 if constant is None else 0 < constant <= measured * (1 + _slack(scenario))
    if isinstance(assumption, Convex):
        measured = problem.sample_strong_convexity if assumption.of == "sample" else problem.strong_convexity
        return measured >= -_slack(scenario) * problem.smoothness
    if isinstance(assumption, IndependentParticipation):
        return isinstance(scenario.participation, Bernoulli)
    # Samples are drawn uniformly by construction; a bound on the estimator is taken from the run itself.
    if isinstance(assumption, UnbiasedSampling | BoundedEstimatorSecondMoment):
        return True
    raise ValueError(f"assumption {type(assumption).__name__} has no check on a scenario")


def _slack(scenario: Scenario) -> Any:
    return 0 if scenario.exact else ROUNDING
