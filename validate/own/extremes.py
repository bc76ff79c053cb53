"""Scenarios made for the hypotheses of a claim of one's own: sizes from end to end, and the longest steps allowed.

Nothing of the claim's sides is looked at. Where hypotheses bound the step, or tie it to other constants
(``delta == 1/L``), they are solved for it on every problem, and the step is set to that and to a tenth of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG, FedMIM, ShufflingSGD
from sim.participation import Bernoulli, UniformChoice, full
from theory.formula import Comparison
from validate import families
from validate.assumptions import LAST_DIGITS, relation_holds, side_of, unmet, used_in, where_met
from validate.families import Levels
from validate.inertial_scenario import InertialScenario
from validate.own import run
from validate.own.claims import MeasuredClaim, MeasuredParameter
from validate.own.tables import CERTIFIED
from validate.scenario import Scenario, Spec, fraction_text, read_scenario
from validate.shuffling_scenario import ShufflingScenario

WANTED = {True: 80, False: 240}
"""Scenarios for a claim, quick and full."""
DRAWN = 60
"""So many choices are made for each scenario that is wanted; hypotheses exclude the others."""
HOPELESS = 600
"""After so many choices none of which the relations allow, no more are made."""
ALSO = 4
"""So many times as many are made where a run is needed to know whether the hypotheses hold."""
STATIC = frozenset(
    {
        "step", "local_steps", "snapshots", "inner_steps", "clients", "chosen_clients", "rounds", "strong_convexity",
        "smoothness", "sample_smoothness", "start_distance", "start_gap", "noise_at_minimiser", "heterogeneity",
        "mean_inverse_participation", "alpha_sum", "beta_sum",
    }
)  # fmt: skip
"""The measured constants that are known without a run."""
LENGTHS = np.geomspace(1e-7, 1e3, 41)
"""Between these steps a relation in which the step does not enter linearly is solved by bisection."""
LAGS = (((), ()), ((0.5,), (0.25,)), ((0.3, 0.1), ()), ((), (0.4,)), ((0.6,), (0.6,)))
UNITS = (1.0, 1.0, 4.0, 0.25, 64.0, 1 / 64)
"""Largest curvatures: a claim whose two sides are not of the same units breaks in some of them only."""
MANY = 200
"""Rounds, or local steps: a factor hides a wrong power of a number that is always small."""
ORDERED = 8  # clients, in an order that is drawn, of which there are as many as states


def for_claim(claim: MeasuredClaim, quick: bool) -> tuple[list[Spec], list[Any]]:
    """Scalar instances, where there are certificates, and other scenarios that satisfy the relations of the hypotheses.

    As far as these speak of constants that are known without a run. Where others occur (``largest_noise <= 0``), more
    are made, and those are left out that violate them; whoever uses them checks all.
    """
    specs: list[Spec] = []
    scenarios: list[Any] = []
    drawn = families.levels(0, **_levels(claim))
    measures = {p.name: _measure(p) for p in claim.parameters}
    relations = [used_in(claim, relation) for relation in claim.formulas.relations if relation is not None]
    by_run = any(measures.get(name) not in STATIC for used in relations for name in used)
    made = 0
    for i, of in enumerate(islice(drawn, WANTED[quick] * DRAWN)):
        so_far = len(specs) + len(scenarios)
        if so_far >= WANTED[quick] or made >= ALSO * WANTED[quick] or (i >= HOPELESS and not so_far):
            break
        try:
            found = _made(claim, of)
            made += found is not None
            if found is None or (by_run and not _met(claim, found)):
                continue
        except (ValueError, ZeroDivisionError, OverflowError):  # a relation that is undefined there
            continue
        if isinstance(found, Mapping):
            specs.append(found)
        else:
            scenarios.append(found)
    return specs, scenarios


def _met(claim: MeasuredClaim, found: Any) -> bool:
    """Whether all relations of the hypotheses hold on a scenario, or a specification, somewhere in its run."""
    scenario = read_scenario(found, exact=False) if isinstance(found, Mapping) else found
    cases = run.cases(claim, scenario) if scenario.stays_finite() else None
    if cases is None or where_met(claim, cases) is None:
        return False
    return not unmet(claim, scenario, cases.parameters_at(0))


def _levels(claim: MeasuredClaim) -> dict[str, tuple[Any, ...]]:
    """What is drawn from for the claim's algorithm."""
    if claim.algorithm == "shuffling":
        return {"L": UNITS, "clients": (1, 2, 3, 5, ORDERED), "local_steps": (1, 2, 5, 20), "rounds": (1, 3, 10)}
    return {"L": UNITS, "local_steps": (*families.LOCAL_STEPS, MANY), "rounds": (*families.ROUNDS, MANY)}


def _made(claim: MeasuredClaim, of: Levels) -> Any:
    """The scenario or the specification of a choice; None where the relations exclude it."""
    of = _without_rounding(claim, of)
    scenario = _scenario(claim, of, 1.0)
    values = _static(claim, scenario)
    steps = steps_allowed(claim, values, of)
    if not steps:
        return None
    step = steps[of.turn % len(steps)]
    if of.dim > 1 or claim.algorithm not in CERTIFIED or claim.participation == "uniform" or of.clients > 20:
        return _scenario(claim, of, float(step))
    return _spec(claim, of, step)


def _without_rounding(claim: MeasuredClaim, of: Levels) -> Levels:
    """The choice, with clients that agree where those that do not would leave the minimiser by rounding alone."""
    everybody = claim.participation == "everybody" or (claim.participation == "independent" and not _absent(of))
    still = of.noise == 0 or (claim.algorithm == "fedavg-svrg" and not of.spiky)
    symmetric = everybody and claim.algorithm != "shuffling" and (of.alike or of.local_steps == 1) and still
    return replace(of, apart=0.0) if symmetric and of.start == "at" else of


def steps_allowed(claim: MeasuredClaim, values: Mapping[str, Any], of: Levels) -> list[Any]:
    """Steps at which all relations of the hypotheses hold, as far as `values` has what they speak of.

    Args:
        claim: the claim.
        values: constants of a scenario by the claim's names, all but the step.
        of: where nothing bounds the step, its local steps and share say how long it is beside 1/L.

    Returns:
        The longest step allowed, a tenth of it, and the shortest one where there is one; Fractions where the relations
        are linear in the step. Without a step in the hypotheses, one step. Nothing where none is allowed.
    """
    name = next((p.name for p in claim.parameters if _measure(p) == "step"), None)
    known = {*values, *([name] if name is not None else [])}
    relations = [r for r in claim.formulas.relations if r is not None and used_in(claim, r) <= known]
    usual = Fraction(families.usual_step(of)).limit_denominator(1 << 20)
    usual = usual if usual > 0 else Fraction(1, 1 << 20)

    def allowed(step: Any) -> bool:
        given = {**values, name: step} if name is not None else values
        return step > 0 and all(relation_holds(claim, relation, given, LAST_DIGITS) for relation in relations)

    before = [r for r in relations if name is None or name not in used_in(claim, r)]
    if not all(relation_holds(claim, relation, values, LAST_DIGITS) for relation in before):
        return []
    if name is None:
        return [usual]
    relations = [r for r in relations if r not in before]
    ends: list[Any] = []
    for relation in relations:
        ends += _ends(claim, relation, values, name)
    close = [end * (1 - Fraction(1, 1 << 20)) for end in ends] + [end * (1 + Fraction(1, 1 << 20)) for end in ends]
    found = sorted({step for step in (*ends, *close, usual) if allowed(step)})
    if not found:
        return []
    if not ends:
        return found[-1:]
    tenth = found[-1] / 10
    return list(dict.fromkeys([found[-1], *([tenth] if allowed(tenth) else []), found[0]]))


def _ends(claim: MeasuredClaim, relation: Comparison, values: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Steps at which two sides of a relation are equal."""
    for left, right in zip(relation.sides, relation.sides[1:], strict=False):

        def gap(step: Any, exact: bool, sides: tuple[Any, Any] = (left, right)) -> Any:
            one, other = (side_of(claim, side, {**values, name: step}, exact=exact) for side in sides)
            return one - other

        try:
            first, second, third = (gap(Fraction(at), True) for at in (1, 2, 3))
        except (ValueError, ZeroDivisionError):
            yield from _bisected(lambda step, of=gap: float(of(step, False)))
            continue
        if second - first == third - second:
            if second != first and (step := 1 - first / (second - first)) > 0:
                yield step
        else:
            yield from _bisected(lambda step, of=gap: float(of(step, False)))


def _bisected(gap: Any) -> Iterator[float]:
    """Where a function of the step changes its sign."""
    gaps = [gap(float(step)) for step in LENGTHS]
    for low, high, at_low, at_high in zip(LENGTHS, LENGTHS[1:], gaps, gaps[1:], strict=False):
        if not (math.isfinite(at_low) and math.isfinite(at_high)) or at_low == 0 or at_low * at_high > 0:
            continue
        one, other = float(low), float(high)
        for _ in range(60):
            middle = (one + other) / 2
            one, other = (middle, other) if gap(middle) * at_low > 0 else (one, middle)
        yield from (one, other)


def _measure(parameter: Any) -> str:
    return parameter.measure if isinstance(parameter, MeasuredParameter) else ""


def _static(claim: MeasuredClaim, scenario: Any) -> dict[str, Any]:
    """The constants known without a run, by the claim's names, but for the step, as Fractions.

    Raises:
        ValueError: where one does not exist there, or is outside its domain.
    """
    measured, problem = run.Run(scenario), scenario.problem
    away = scenario.start - problem.minimiser
    known = {
        "start_distance": lambda: away @ away,
        "start_gap": lambda: away @ problem.mean_hessian @ away / 2,
        "mean_inverse_participation": lambda: (
            np.mean(1 / scenario.participation.p) if isinstance(scenario.participation, Bernoulli) else 1.0
        ),
    }
    found = {}
    for parameter in claim.parameters:
        name = _measure(parameter)
        if name in STATIC - {"step"}:
            value = known[name]() if name in known else measured.value(name)
            if value is None or not parameter.domain.contains(value):
                raise ValueError(f"{parameter.name}={value} is outside its domain here")
            found[parameter.name] = Fraction(value).limit_denominator(10**9) if value > 1e-6 else Fraction(float(value))
    return found


def _scenario(claim: MeasuredClaim, of: Levels, step: float) -> Any:
    quadratic = families.problem(of)
    start, name = families.start(of, quadratic), f"extremes {of.turn % 100000}"
    if claim.algorithm == "shuffling":
        order = ShufflingSGD(step=step, local_steps=of.local_steps, weights=(1 / of.clients,) * of.clients)
        return ShufflingScenario(name, order, quadratic, of.rounds, start)
    if claim.algorithm == "fedmim":
        alpha, beta = LAGS[of.turn % len(LAGS)]
        inertia = FedMIM(step=step, local_steps=of.local_steps, alpha=alpha, beta=beta)
        some = UniformChoice(_chosen(of) if claim.participation == "uniform" else of.clients)
        return InertialScenario(name, inertia, quadratic, some, of.rounds, start)
    who: Any = full()
    if claim.participation == "uniform":
        who = UniformChoice(_chosen(of))
    if claim.participation == "independent" and _absent(of):
        who = Bernoulli(np.array(_chances(of)))
    method: Any = FedAvg(step=step, local_steps=of.local_steps)
    if claim.algorithm == "fedavg-svrg":
        method = FedAvgSVRG(step=step, snapshots=1 + of.turn % 3, inner=of.local_steps)
    return Scenario(name, method, quadratic, who, of.rounds, start)


def _chosen(of: Levels) -> int:
    """Of N clients one, half of them, or all but one; never more than there are."""
    return max(1, (1, of.clients // 2, of.clients - 1)[of.turn % 3])


def _absent(of: Levels) -> bool:
    """Whether clients are absent at times, where the claim allows that."""
    return of.turn % 3 > 0


def _chances(of: Levels) -> list[float]:
    return [(0.5, 1.0, 0.125)[(of.turn + n) % 3] for n in range(of.clients)]


def _spec(claim: MeasuredClaim, of: Levels, step: Any) -> Spec:
    """The same in one dimension, in fractions, for certificates."""
    curvature, slope = families.curvatures(of)[:, 0], families.slopes(of)[:, :, 0]
    spread = [of.samples if i == 0 else 0 for i in range(of.samples)] if of.spiky else [1] * of.samples
    clients = []
    for n in range(of.clients):
        h = [Fraction(float(curvature[n])).limit_denominator(10**6) * share for share in spread]
        if of.spiky:  # without curvature there is no centre, and the noise is that of the curvatures
            a = [Fraction(float(slope[n].mean())) / (h[0] / of.samples)] * of.samples
        else:
            a = [Fraction(float(b)) / x for b, x in zip(slope[n], h, strict=True)]
        chance = _chances(of)[n] if claim.participation == "independent" and _absent(of) else 1.0
        texts = {"h": list(map(fraction_text, h)), "a": list(map(fraction_text, a))}
        clients.append({**texts, "p": fraction_text(Fraction(chance))})
    if isinstance(step, float):
        step = Fraction(step)
    shape = {"S": 1 + of.turn % 3, "M": of.local_steps} if claim.algorithm == "fedavg-svrg" else {}
    shape = shape or {"local_steps": of.local_steps}
    made = {"algorithm": claim.algorithm, "clients": clients, "step": fraction_text(step), **shape, "K": of.rounds}
    best = read_scenario({**made, "theta0": "0"}, exact=True).problem.minimiser[0]
    away = Fraction(families.away(of)) * (-1 if of.turn // 64 % 2 else 1)  # noise is skew: the sides are not alike
    return {**made, "theta0": fraction_text(best + away)}
