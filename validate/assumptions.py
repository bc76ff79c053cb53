"""What a scenario really satisfies, held against a claim's hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from theory.assumptions import (
    Assumption,
    BoundedAverageStep,
    BoundedBelow,
    BoundedDissimilarity,
    BoundedDomain,
    BoundedEstimatorSecondMoment,
    BoundedGradient,
    BoundedStochasticGradient,
    BoundedVariance,
    Convex,
    HalfStep,
    IndependentParticipation,
    InteriorMinimiser,
    MinimisersInBall,
    PolyakLojasiewicz,
    RelativeDissimilarity,
    ShortStep,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
    UniformParticipation,
    VarianceAtMost,
)

from sim.participation import Bernoulli, UniformChoice
from sim.problems import Quadratic
from theory import evaluate
from theory.claim import Claim, Parameter, Quantity
from theory.evaluate import hypotheses
from theory.formula import Comparison, Formula, UndefinedError, names_in, parse, text_of
from validate import dissimilarity, reachable
from validate.bounds import Cases
from validate.inertial_scenario import InertialScenario
from validate.once import once
from validate.scenario import Scenario

# Constants computed in float64 may differ from the true ones by rounding.
ROUNDING = 1e-9
# The sides of a relation between them differ by less: 1/50 as a float64 is more than 1/50.
LAST_DIGITS = 1e-12


def unmet(claim: Claim, scenario: Any, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the claim's hypotheses that the scenario does not satisfy, printed or silently used.

    Args:
        claim: the claim.
        scenario: a `Scenario`, or one of another algorithm that has what the claim's assumptions ask for.
        parameters: the claim's parameters there, scalars.

    Raises:
        ValueError: for an assumption that has no check here.
    """
    failed: list[str] = []
    if claim.has_bound and any(h.relation is not None for h in claim.conditions):
        named = {p.name for p in claim.parameters}
        given = {name: value for name, value in parameters.items() if name in named}
        failed += _not_known_to_hold(claim, given, 0 if scenario.exact else LAST_DIGITS)
    for hypothesis in claim.conditions:
        if hypothesis.assumption is not None and not satisfied(hypothesis.assumption, scenario, parameters):
            failed.append(hypothesis.name)
    return tuple(dict.fromkeys(failed))


def relations_unmet(claim: Claim, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the hypotheses whose relations do not hold at these values, in floats; assumptions are not asked."""
    named = {p.name for p in claim.parameters}
    given = {name: value for name, value in parameters.items() if name in named}
    return tuple(_not_known_to_hold(claim, given, LAST_DIGITS)) if claim.has_bound else ()


def _not_known_to_hold(claim: Claim, parameters: Mapping[str, Any], slack: float) -> list[str]:
    """Names of the hypotheses whose relation is false there, or undefined: ``delta <= R2/noise`` without noise.

    A relation that is not strict may fail by `slack`, relative to the larger side.
    """
    found = zip(hypotheses(claim, parameters), claim.formulas.relations, strict=True)
    return [
        entry["name"]
        for entry, relation in found
        if relation is not None
        and not entry["holds"]
        and not (slack and entry["holds"] is False and relation_holds(claim, relation, parameters, slack))
    ]


def _in_floats(claim: Claim, relation: Comparison, parameters: Mapping[str, Any], slack: float) -> np.ndarray:
    """Whether a relation holds in float64, up to a relative `slack` where it is not strict; arrays broadcast.

    Where a side is undefined, or beyond float64, it is not known to hold.
    """
    try:
        sides = [np.asarray(side_of(claim, side, parameters)) for side in relation.sides]
    except UndefinedError:
        return np.zeros((), dtype=bool)
    holds = np.ones(np.broadcast_shapes(*(side.shape for side in sides)), dtype=bool)
    for operator, left, right in zip(relation.operators, sides, sides[1:], strict=False):
        room = slack * np.maximum(np.abs(left), np.abs(right))
        answer = {
            "<": left < right,
            "<=": left <= right + room,
            ">": left > right,
            ">=": left >= right - room,
            "==": np.abs(left - right) <= room,
        }[operator]
        holds &= answer & np.isfinite(left) & np.isfinite(right)
    return holds


def relation_holds(claim: Claim, relation: Comparison, parameters: Mapping[str, Any], slack: float) -> bool:
    """Whether a relation holds in float64, up to a relative `slack` where it is not strict; not where it is undefined.

    Raises:
        ValueError: for a bad parameter.
    """
    return bool(np.all(_in_floats(claim, relation, parameters, slack)))


def side_of(claim: Claim, side: Formula, parameters: Mapping[str, Any], exact: bool = False) -> Any:
    """A formula in a claim's parameters and definitions at values of them, in float64, or as a Fraction if `exact`.

    Raises:
        ValueError: as `theory.evaluate.bound` and `theory.evaluate.exact`; undefined entries of an array are NaN.
    """
    bare = _bare(claim.id, claim.parameters, tuple(claim.definitions.items()), text_of(side))
    known = {name: value for name, value in parameters.items() if name in bare.formulas.parameters}
    return evaluate.exact(bare, known) if exact else bare.bound(**known)


@lru_cache(maxsize=512)
def _bare(id: str, parameters: tuple[Parameter, ...], definitions: tuple[tuple[str, str], ...], right: str) -> Claim:
    """A claim that says nothing, for its formula: with the parameters and definitions that the formula uses."""
    used, kept = names_in(parse(right)), dict[str, str]()
    for name, text in reversed(definitions):
        if name in used:
            kept[name] = text
            used |= names_in(parse(text))
    return Claim(
        id=id,
        kind="equation",
        title="",
        equation="",
        statement="",
        latex="",
        quantity=Quantity("side", "", ""),
        source="",
        parameters=tuple(p for p in parameters if p.name in used),
        definitions=dict(reversed(kept.items())),
        relation="<=",
        right=right,
    )


def used_in(claim: Claim, relation: Comparison | None) -> frozenset[str]:
    """The parameters in a relation, also through definitions; none of no relation."""
    names = names_in(relation) if relation is not None else frozenset[str]()
    for name in reversed(list(claim.definitions)):
        if name in names:
            names |= names_in(claim.formulas.definitions[name])
    return names - set(claim.definitions)


def where_met(claim: Claim, cases: Cases) -> Cases | None:
    """The cases, in floats, at which the hypotheses' relations hold that differ from case to case; None for none.

    What does not differ, and relations between vectors, are left to `unmet`: ``k >= 2`` picks rounds out of a run.
    """
    vectors = {p.name for p in claim.parameters if p.shape == "vector"}
    varying = {name for name, value in cases.parameters.items() if np.ndim(value) > (name in vectors)}
    keep = np.ones(len(cases), dtype=bool)
    for relation in claim.formulas.relations if claim.has_bound and varying else ():
        used = used_in(claim, relation)
        if relation is not None and used & varying and not used & vectors:
            values = {name: np.asarray(cases.parameters[name], dtype=np.float64) for name in used}
            keep &= np.broadcast_to(_in_floats(claim, relation, values, LAST_DIGITS), keep.shape)
    if keep.all():
        return cases
    if not keep.any():
        return None
    kept = {name: value[keep] if name in varying else value for name, value in cases.parameters.items()}
    return Cases(cases.left[keep], kept, {name: value[keep] for name, value in cases.index.items()}, size=cases.size)


def satisfied(assumption: Assumption, scenario: Any, parameters: Mapping[str, Any]) -> bool:
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
        return isinstance(getattr(scenario, "participation", None), Bernoulli)
    if isinstance(assumption, UniformParticipation):
        return isinstance(getattr(scenario, "participation", None), UniformChoice)
    if isinstance(assumption, BoundedBelow):
        return dissimilarity.bounded_below(problem)
    if isinstance(assumption, PolyakLojasiewicz):
        largest, constant = dissimilarity.gradient_domination(problem), parameters.get(assumption.constant)
        return largest is not None and (constant is None or 0 < constant <= largest * (1 + _slack(scenario)))
    if isinstance(assumption, RelativeDissimilarity):
        return _relative_dissimilarity(assumption, problem, parameters)
    if isinstance(assumption, BoundedAverageStep):
        return _bounded_average_step(assumption, scenario, parameters)
    # Samples are drawn uniformly by construction; a bound on the estimator is taken from the run itself.
    if isinstance(assumption, UnbiasedSampling | BoundedEstimatorSecondMoment):
        return True
    if isinstance(assumption, BoundedVariance):
        return _at_most(_variance(scenario), parameters.get(assumption.constant), scenario)
    if isinstance(assumption, BoundedStochasticGradient):
        bound = _largest_sample_gradient(scenario, assumption.at, parameters.get("R"))
        return _at_most(bound, parameters.get(assumption.constant), scenario)
    if isinstance(assumption, MinimisersInBall):
        points = problem.client_minimisers
        largest = None if points is None else (points * points).sum(axis=1).max()
        return _at_most(largest, parameters.get(assumption.constant), scenario)
    if isinstance(assumption, ShortStep | HalfStep):
        steps = scenario.algorithm.step if isinstance(scenario.algorithm.step, tuple) else (scenario.algorithm.step,)
        smoothness = parameters.get(assumption.smoothness, problem.smoothness)
        parts = 2 if isinstance(assumption, HalfStep) else 1
        return all(step > 0 and parts * step * smoothness <= 1 + _slack(scenario) for step in steps)
    if isinstance(assumption, _ON_DOMAIN):
        return _on_domain(assumption, scenario, parameters)
    raise ValueError(f"assumption {type(assumption).__name__} has no check on a scenario")


def _relative_dissimilarity(assumption: RelativeDissimilarity, problem: Quadratic, given: Mapping[str, Any]) -> bool:
    constant, relative = given.get(assumption.constant), given.get(assumption.relative)
    if relative is None:
        raise ValueError(
            f"{assumption.relative} is missing: the dissimilarity of clients is checked for one that is given"
        )
    if constant is None:
        return dissimilarity.least_constant(problem, relative**2) is not None
    return constant >= 0 and relative >= 0 and dissimilarity.holds(problem, constant, relative)


def _bounded_average_step(assumption: BoundedAverageStep, scenario: Any, given: Mapping[str, Any]) -> bool:
    if not isinstance(scenario, InertialScenario):
        raise ValueError(f"assumption {type(assumption).__name__} has no check on a scenario without inertia")
    constant = given.get(assumption.constant)
    step = given.get(assumption.step, scenario.algorithm.step)
    if constant is None or scenario.rounds == 0:
        return True  # a run of finitely many rounds has some
    squares = scenario.moments().squared_average_step
    steps = step if isinstance(step, tuple) else (step,) * len(squares)
    bound = constant * (1 + _slack(scenario))
    return all(bool(square <= bound * s * s) for square, s in zip(squares, steps, strict=True))


_ON_DOMAIN = (VarianceAtMost, BoundedDissimilarity, BoundedDomain, BoundedGradient, InteriorMinimiser)


def _on_domain(assumption: Any, scenario: Any, parameters: Mapping[str, Any]) -> bool:
    """Assumptions on a bounded set W: the scenario's own, or else the one of `reachable`, which holds all iterates.

    A scenario has a W of its own when it has a method ``least_constant(assumption)``: the smallest constant with which
    the assumption holds (0 for one without a constant), or None when there is none, or none that is known.
    """
    own = getattr(scenario, "least_constant", None)
    if own is not None:
        least = own(assumption)
    elif isinstance(assumption, InteriorMinimiser):  # W holds f's minimiser in its interior, or nothing but it
        least = 0 if scenario.problem.strong_convexity > 0 else None
    elif isinstance(assumption, VarianceAtMost):
        least = reachable.largest_variance(scenario)
    elif isinstance(assumption, BoundedDissimilarity):
        least = reachable.largest_dissimilarity(scenario)
    else:
        measure = reachable.squared_diameter if isinstance(assumption, BoundedDomain) else reachable.largest_gradient
        if parameters.get(assumption.constant) is None:
            return True  # W is bounded, and so are the gradients of quadratics on it
        return _at_most(measure(scenario), parameters[assumption.constant], scenario)
    constant = parameters.get(getattr(assumption, "constant", ""))
    return least is not None and (constant is None or bool(least <= constant * (1 + _slack(scenario))))


def _at_most(square: Any, constant: Any, scenario: Scenario) -> bool:
    """Whether a square, None where it has no bound, is at most the constant's square (any constant, where None)."""
    if square is None or constant is None:
        return square is not None
    return bool(constant >= 0 and square <= constant * constant * (1 + _slack(scenario)))


def _known_point(scenario: Scenario) -> Any:
    """The only point at which gradients are drawn, where there is only one: the start of a single step; else None."""
    steps = scenario.algorithm.draws
    return scenario.start if scenario.rounds == 1 and steps == 1 else None


def _variance(scenario: Scenario) -> Any:
    """The largest variance of a sampled gradient over the clients, and over every x that is reached; None if unknown.

    Samples of equal curvature have the same variance everywhere; otherwise it grows without bound with x, and is known
    at the start only.
    """
    problem = scenario.problem
    if equal_curvatures(problem):
        return problem.sampling_noise(scenario.start).max()
    point = _known_point(scenario)
    return None if point is None else problem.sampling_noise(point).max()


@once
def equal_curvatures(problem: Quadratic) -> bool:
    """Whether the samples of each client have the same Hessian."""
    clients = zip(problem.hessian, problem.counts, strict=True)
    return all(bool((samples[: int(count)] == samples[0]).all()) for samples, count in clients)


def _largest_sample_gradient(scenario: Scenario, at: str, radius: Any) -> Any:
    """An upper bound on ||g||^2 over the samples, at the points that the assumption names; None if there is none."""
    reached = getattr(scenario, "largest_squared_gradient", None)
    if reached is not None:  # states of one client, which know the points that they come from
        return reached(at)
    problem = scenario.problem
    if at == "everywhere":  # a quadratic with any curvature has gradients without bound
        return None if (problem.hessian != 0).any() else (problem.linear * problem.linear).sum(axis=-1).max()
    if at == "ball":
        if radius is None:
            return None
        away = (problem.linear * problem.linear).sum(axis=-1).max()
        # ||H x - b||^2 <= (L R + ||b||)^2 <= 2 (L R)^2 + 2 ||b||^2, which needs no root
        return 2 * (problem.sample_smoothness * radius) ** 2 + 2 * away
    point = _known_point(scenario)
    if point is None:
        return None
    gradients = problem.hessian @ point - problem.linear
    return (gradients * gradients).sum(axis=-1).max()


def _slack(scenario: Any) -> Any:
    return 0 if scenario.exact else ROUNDING
