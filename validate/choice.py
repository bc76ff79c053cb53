"""Which scenario shows best what a claim predicts and what is measured.

`validate.survey` has compared both sides on every scenario; here one of them is chosen for the reader:

1. where the simulator sampled the claim, and nothing breaks it, the sampled scenario, with the sampled mean;
2. else the scenario on which the claim is broken by most or, when none is, comes nearest to it, over an index of the
   claim (round, local step, ...), over a parameter that varies there, or over the number of rounds;
3. else, where the claim has one number a scenario, the ratio of the sides over all scenarios.

Only the chosen scenario is run for other numbers of rounds than the survey's; everything else is there already.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import Cases, defined, right_sides
from validate.description import in_words
from validate.experiment import Band, mean_band
from validate.per_run import PerRun, per_run
from validate.predicted import (
    CONFIDENCE,
    LEAST,
    Over,
    Predicted,
    along,
    can_vary,
    cases_of,
    made,
    over_rounds,
    worst_case,
)
from validate.survey import Seen, Survey
from validate.verdict import Result

log = logging.getLogger(__name__)

Array = np.ndarray
Nearest = tuple[int, float, float]
"""A case, its left side and its right side."""

LONGER = 12
"""Rounds that the chosen scenario is given where its own are too few for a curve over an index."""
MOST = {True: 12, False: 32}
"""The most rounds of a curve over them where the scenario breaks the claim (it may diverge), and elsewhere."""


def choose(
    claim: Claim, module: ModuleType, looked: Survey, samples: Sequence[tuple[Any, Any]], result: Result
) -> Predicted:
    """What to show of a claim that was compared on some scenario.

    Args:
        claim: the claim.
        module: its paper's module, from `validate.papers.module`.
        looked: what the survey saw of the claim; it has seen a scenario.
        samples: scenarios with the simulator's trace of each.
        result: the claim's verdict. Breaks are looked for where it is "refuted" or "undecided"; elsewhere a break in
            floats was cleared by exact arithmetic.

    Raises:
        ValueError: when the survey has seen no scenario.
    """
    if not looked.each:
        raise ValueError(f"looked has no scenario that satisfies the hypotheses of {claim.id}")
    suspected = result.verdict in ("refuted", "undecided") and any(one.comparison.broken for one in looked.each)
    found = None if suspected else _of_samples(claim, module, samples, result)
    if found is None:
        ranked = _ranked(claim, looked.each, suspected)
        shown = [one for one, _ in ranked if one.comparison.broken] if suspected else [one for one, _ in ranked]
        found = _of_scenario(claim, module, shown[0]) or next(_own(claim, shown[1:]), None)
        found = found or _over_scenarios(claim, ranked)
    if found.broken.any() and not suspected and result.verdict in ("proved", "supported"):
        log.warning("%s is broken in floats on %s, where nothing else broke it", claim.id, found.scenario)
    return replace(found, scenarios=looked.seen)


# --- which scenario --------------------------------------------------------------------------------------------------


def _nearest(claim: Claim, one: Seen) -> Nearest:
    """The case that breaks the claim by most or comes nearest to it, and its sides.

    Of several that break it, one whose right side is positive, if there is one: it says by which factor.
    """
    found = one.comparison
    below = claim.relation in ("<=", "<")
    if len(one.cases) == 1 or (below and found.right > 0) or (below and found.tightness is None):
        return found.worst, found.left, found.right
    left, right = np.asarray(one.cases.left, dtype=np.float64), right_sides(claim, one.cases)
    worst = worst_case(claim, left, right)
    return worst, float(left[worst]), float(right[worst])


def _ranked(claim: Claim, each: Sequence[Seen], suspected: bool) -> list[tuple[Seen, Nearest]]:
    """Scenarios with their nearest cases: the broken first where breaks are suspected, else last; then by tightness.

    Under an equation all are as tight; the longest is first.
    """
    found = [(one, _nearest(claim, one)) for one in each]

    def key(pair: tuple[Seen, Nearest]) -> tuple[bool, float]:
        one, (_, left, right) = pair
        if claim.relation == "=":
            tight = float(len(one.cases))
        else:
            tight = left / right if right > 0 else -np.inf
            tight = tight if claim.relation in ("<=", "<") or tight == -np.inf else -tight
        return one.comparison.broken == suspected, tight

    return sorted(found, key=key, reverse=True)


def _of_scenario(claim: Claim, module: ModuleType, one: Seen) -> Predicted | None:
    """A curve on this very scenario: over its own cases, over those of a longer run, or over the number of rounds."""
    broken = one.comparison.broken
    own = next(_own(claim, [one]), None)
    if own is not None or not can_vary(one.scenario):
        return own
    if one.cases.index:
        longer = max(LONGER, one.scenario.rounds)
        cases = cases_of(claim, module, one.scenario, longer)
        if cases is not None:
            curve = along(claim, cases, _words(one, longer), _spec(one, longer))
            if curve is not None and bool(curve.broken.any()) >= broken:
                return curve
    curve = over_rounds(claim, module, one.scenario, _words(one, None), _spec(one, None), most=MOST[broken])
    return curve if curve is not None and bool(curve.broken.any()) >= broken else None


def _own(claim: Claim, shown: Sequence[Seen]) -> Iterator[Predicted]:
    """Curves over the cases that the survey compared, for those scenarios that have enough of them."""
    for one in shown:
        if len(one.cases) >= LEAST:
            curve = along(claim, one.cases, _words(one), one.spec, _nearest(claim, one)[0])
            if curve is not None:
                yield curve


def _words(one: Seen, rounds: int | None = 0) -> str:
    """The scenario in words; with another number of rounds, or without it where that is None."""
    spec = _spec(one, rounds)
    if spec is not None or rounds == 0:
        return in_words(one.scenario, spec)
    return _varied(one.scenario) if rounds is None else in_words(replace(one.scenario, rounds=rounds))


def _varied(scenario: Any) -> str:
    """A scenario in words without its number of rounds, which varies."""
    return f"{scenario.name} ({scenario.description(rounds=False)})"


def _spec(one: Seen, rounds: int | None) -> Mapping[str, Any] | None:
    if one.spec is None or rounds == 0:
        return one.spec
    spec = {key: value for key, value in one.spec.items() if key != "K"}
    return spec if rounds is None else spec | {"K": rounds}


# --- what is shown of it ---------------------------------------------------------------------------------------------


def _over_scenarios(claim: Claim, ranked: Sequence[tuple[Seen, Nearest]]) -> Predicted:
    """All scenarios with a positive right side, the nearest to breaking last; a single point where they are few."""
    best = ranked[0][0]
    kept = [pair for pair in ranked if pair[1][2] > 0 and np.isfinite(pair[1][1:]).all()]
    over: Over = "scenarios"
    if len(kept) < LEAST:
        kept, over = [ranked[0]], "point"
    if claim.relation != "=":
        sign = 1 if claim.relation in ("<=", "<") else -1
        kept = sorted(kept, key=lambda pair: sign * pair[1][1] / pair[1][2] if pair[1][2] > 0 else -np.inf)
    return made(
        claim,
        _words(kept[-1][0]) if over == "scenarios" else _words(best),
        over,
        "scenario" if over == "scenarios" else "",
        np.arange(1.0, len(kept) + 1),
        np.array([left for _, (_, left, _) in kept]),
        np.array([right for _, (_, _, right) in kept]),
        [(one.cases, i) for one, (i, _, _) in kept],
        broken=np.array([one.comparison.broken for one, _ in kept]),
        spec=kept[-1][0].spec,
    )


def _of_samples(
    claim: Claim, module: ModuleType, samples: Sequence[tuple[Any, Any]], result: Result
) -> Predicted | None:
    """The first sampled scenario on which there is a curve, with the mean of its runs."""
    quantity = per_run(claim, module)
    if quantity is None:
        return None
    for scenario, trace in samples:
        cases: Cases | None = module.cases(claim, scenario)
        if cases is None or unmet(claim, scenario, cases.parameters_at(0)) or defined(claim, cases) is not cases:
            continue
        if quantity.at == "mean":
            curve = None
            if can_vary(scenario):
                curve = over_rounds(claim, module, scenario, _varied(scenario), None)
        else:
            curve = along(claim, cases, in_words(scenario), None)
        if curve is not None and not curve.envelope:
            values = _values(quantity, trace, curve)
            band = mean_band(values, CONFIDENCE)
            if quantity.root:
                band = Band(*(np.sqrt(np.maximum(each, 0.0)) for each in band))
            tests = [e.error_probability for e in result.evidence if e.kind == "sampled"]
            tested = len(cases) == 1 and any(p is not None for p in tests)
            return replace(
                curve,
                band=band,
                runs=len(values),
                error_probability=max(p for p in tests if p is not None) if tested else None,
                tested=curve.at[-1] if tested else None,
            )
    return None


def _values(quantity: PerRun, trace: Any, curve: Predicted) -> Array:
    """(R, C): the number of each run at each point. The first K rounds of a run are a run of K rounds."""
    rounds = curve.at.astype(int)
    if quantity.at == "mean":
        series = np.asarray(trace[quantity.metric])[:, : int(rounds.max())]
        return np.maximum(np.cumsum(series, axis=1)[:, rounds - 1] / rounds, 0.0)
    return quantity.values(trace, Cases(curve.left, {}, {"k": rounds}))
