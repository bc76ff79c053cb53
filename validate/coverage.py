"""Is support earned? What the pool varied of a claim that nothing broke, and what it left as it was.

A claim is supported by comparisons that could have broken it. The following is asked of the scenarios of the paper's
pool that satisfy all hypotheses, each as far as hypotheses and sentence leave it free:

- Sides that are not 0: a comparison of 0 with 0 counts for nothing, and so does a scenario with such only. Where the
  left side is 0 everywhere, by the text or by the hypotheses, the claim counts if the pool could have broken it: if the
  same left side is not 0 in a scenario that only the hypotheses exclude.
- More than a few scenarios (`SCENARIOS`).
- Every parameter of the right side and of the definitions varied, and no two of them were equal throughout. A point as
  domain is free of this; so is a value, or an equality, that `theory.feasible` proves to follow from the hypotheses. A
  relation such as ``delta == 1/L`` that the pool meets only where mu = L is no such proof.
- Two dimensions or more, three clients or more, two local steps or more, inertia, a start off and a start at the
  minimiser (`validate.traits`), each where scenarios of that kind have it at all. One that was not seen is excused

  * by the hypotheses: a parameter equals the trait wherever the claim is measured, and `theory.feasible` proves that
    the hypotheses exclude the values asked for (``H <= 1``);
  * by the sentence: the pool has scenarios with it that are otherwise like one that the claim is measured on, and the
    claim is not about them (one client's gradient descent, where there are three).

  What the pool does not have at all, or has only where some hypothesis happens to fail, is not excused.

What comes from instances written for a claim (origin ``given``), from a fitted slope or from a proof's lines is not
asked at all: it earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import names_in
from validate.bounds import right_sides
from validate.survey import Seen, Survey
from validate.traits import LEAST, PHRASES, traits
from validate.verdict import NOTHING_COVERED, Coverage

SCENARIOS = 5
"""Fewer scenarios whose sides are not 0 are no support."""
SPREAD = 1e-6
"""A parameter whose values differ by less than this, relative to the largest, did not vary."""
EQUAL = 1e-9
"""Two parameters that differ by less than this, relative to the larger, are equal."""
EFFORT = 0.2
"""Of each question to `theory.feasible`; see `theory.feasible.Limits`."""


def coverage(claim: Claim, looked: Survey | None, quick: bool) -> Coverage:
    """Whether the comparisons of a survey could have broken the claim; the module's text says what is asked.

    Args:
        claim: the claim.
        looked: what the exact oracle saw of it on its paper's pool, or None.
        quick: whether the search's budget was the quick one.
    """
    if looked is None:
        return NOTHING_COVERED
    if not looked.seen:
        return Coverage(False, "not called supported: no scenario of the pool was compared")
    counted, missing = _counted(claim, looked)
    if not missing and len(counted) < SCENARIOS:
        scenarios = "one scenario" if len(counted) == 1 else f"{len(counted)} scenarios"
        missing.append(f"sides that are not 0 were compared on {scenarios} only")
    if counted:
        values = _values(claim, counted)
        missing += _not_varied(claim, values)
        missing += _equal_throughout(claim, values)
        missing += _not_seen(claim, looked, [one.seen.scenario for one in counted])
    if missing:
        return Coverage(False, "not called supported: " + "; ".join(missing))
    return Coverage(True, _said(claim, counted, values, quick))


@dataclass(frozen=True, eq=False)
class _Counted:
    """A scenario that counts, and which of its cases do, (C,) bool."""

    seen: Seen
    cases: np.ndarray


def _counted(claim: Claim, looked: Survey) -> tuple[list[_Counted], list[str]]:
    """The scenarios with sides that are not 0, or, where the left side never is but could be, all; what is missing."""
    found, moved = [], False
    for one in looked.each:
        left = np.asarray(one.cases.left, dtype=np.float64)
        cases = left != 0
        moved = moved or bool(cases.any())
        if not cases.all():  # the right side costs more
            cases |= right_sides(claim, one.cases) != 0
        if cases.any():
            found.append(_Counted(one, cases))
    if moved:
        return found, []
    elsewhere = any(bool((np.asarray(one.left, dtype=np.float64) != 0).any()) for _, one in looked.excluded)
    if elsewhere:
        return [_Counted(one, np.ones(len(one.cases), dtype=bool)) for one in looked.each], []
    return found, ["the left side was 0 throughout, also where hypotheses fail"]


# --- parameters -------------------------------------------------------------------------------------------------------


def _used(claim: Claim) -> list[str]:
    """The parameters of the right side and of the definitions, in the claim's order; all where there is no formula."""
    if claim.right is None:
        return [p.name for p in claim.parameters]
    formulas = claim.formulas
    used = names_in(formulas.right).union(*(names_in(one) for one in formulas.definitions.values()))
    return [p.name for p in claim.parameters if p.name in used]


def _values(claim: Claim, counted: Sequence[_Counted]) -> dict[str, np.ndarray]:
    """Every parameter that the formulas use, at each case that counts, (cases,); of a vector a number that tells it."""
    shapes = {p.name: p.shape for p in claim.parameters}
    found: dict[str, np.ndarray] = {}
    for name in _used(claim):
        columns = []
        for one in counted:
            value = np.asarray(one.seen.cases.parameters[name], dtype=np.float64)
            if shapes[name] == "vector":  # weights: their sum and their largest tell most of them apart
                value = np.abs(value).max(axis=-1, initial=0.0) + value.sum(axis=-1) + value.shape[-1]
            columns.append(np.broadcast_to(value, one.cases.shape)[one.cases])
        found[name] = np.concatenate(columns)
    return found


def _not_varied(claim: Claim, values: Mapping[str, np.ndarray]) -> Iterator[str]:
    domains = {p.name: p.domain for p in claim.parameters}
    vectors = {p.name for p in claim.parameters if p.shape == "vector"}
    for name, value in values.items():
        low, high = float(value.min()), float(value.max())
        point = domains[name].lower is not None and domains[name].lower == domains[name].upper
        if high - low > SPREAD * max(abs(low), abs(high)) or point:
            continue
        if name in vectors:
            yield f"{name} was the same throughout"
        elif not (_excluded(claim, f"{name} < {low!r}") and _excluded(claim, f"{name} > {high!r}")):
            yield f"{name} was {low:g} throughout"


def _equal_throughout(claim: Claim, values: Mapping[str, np.ndarray]) -> Iterator[str]:
    scalars = {p.name for p in claim.parameters if p.shape == "scalar"}
    varied = {name: value for name, value in values.items() if name in scalars and np.ptp(value) > 0}
    for (one, left), (other, right) in combinations(varied.items(), 2):
        if (np.abs(left - right) <= EQUAL * np.maximum(np.abs(left), np.abs(right))).all() and not (
            _excluded(claim, f"{one} < {other}") and _excluded(claim, f"{one} > {other}")
        ):
            yield f"{one} and {other} were equal throughout, which the hypotheses do not say"


def _excluded(claim: Claim, relation: str) -> bool:
    """Whether it is proved that the hypotheses exclude this, as far as they compare numbers."""
    from theory.feasible import Limits, feasible

    try:
        return feasible(claim, [relation], limits=Limits(effort=EFFORT)).outcome == "empty"
    except ValueError:  # numbers that its reader does not take
        return False


# --- traits -----------------------------------------------------------------------------------------------------------


def _not_seen(claim: Claim, looked: Survey, counted: Sequence[Any]) -> Iterator[str]:
    """What of `traits` was not seen though nothing excuses it, in words.

    From the minimiser a run without noise does not move; that it was tried is enough, whatever its sides are.
    """
    every = [one.scenario for one in looked.each]
    spoken = [*(one.scenario for one in looked.each), *(scenario for scenario, _ in looked.excluded)]
    for trait, phrase in PHRASES.items():
        least = LEAST[trait]
        mine = [traits(s)[trait] for s in (every if trait == "settled" else counted) if trait in traits(s)]
        if not mine or max(mine) >= least:
            continue
        had = [s for s in spoken if traits(s).get(trait, 0) >= least]
        if _by_hypotheses(claim, looked, trait):
            continue
        if had:
            yield f"{phrase} was seen only where hypotheses fail"
        elif not _by_sentence(looked.silent, spoken, trait):
            yield f"{phrase} was not in the pool"


def _by_sentence(silent: Iterable[Any], spoken: Iterable[Any], trait: str) -> bool:
    """Whether the claim is not about scenarios with the trait that are otherwise like one that it is measured on."""
    about = {_rest(scenario, trait) for scenario in spoken}
    return any(traits(s).get(trait, 0) >= LEAST[trait] and _rest(s, trait) in about for s in silent)


def _rest(scenario: Any, trait: str) -> tuple[Any, ...]:
    """What kind of scenario it is but for one trait."""
    kind = [type(scenario), *(type(getattr(scenario, name, None)) for name in ("algorithm", "participation"))]
    opposite = {"away": "settled", "settled": "away"}.get(trait)
    found = traits(scenario)
    return (*kind, *(found.get(name, 0) >= LEAST[name] for name in PHRASES if name not in (trait, opposite)))


def _by_hypotheses(claim: Claim, looked: Survey, trait: str) -> bool:
    """Whether a parameter is the trait, wherever the claim is measured, and its relations exclude what is asked for."""
    if all(h.relation is None for h in claim.conditions):
        return False
    least = LEAST[trait]
    measured = [*((one.scenario, one.cases) for one in looked.each), *looked.excluded]
    told = [(traits(scenario)[trait], cases.parameters) for scenario, cases in measured if trait in traits(scenario)]
    for parameter in claim.parameters:
        if parameter.shape == "vector":
            continue
        pairs = [(size, float(np.ravel(of[parameter.name])[0])) for size, of in told if parameter.name in of]
        if len({size for size, _ in pairs}) < 2:
            continue  # the pool does not tell whether it is the trait
        if trait in ("dimensions", "clients", "steps"):
            is_trait, asked = all(size == value for size, value in pairs), f"{parameter.name} >= {least}"
        elif trait == "settled":
            is_trait, asked = all((size == 0) == (value > 0) for size, value in pairs), f"{parameter.name} <= 0"
        else:
            is_trait, asked = all((size > 0) == (value > 0) for size, value in pairs), f"{parameter.name} > 0"
        if is_trait and _excluded(claim, asked):
            return True
    return False


# --- what was covered -------------------------------------------------------------------------------------------------


def _said(claim: Claim, counted: Sequence[_Counted], values: Mapping[str, np.ndarray], quick: bool) -> str:
    """A sentence for the reader: how many, what sizes, from where to where each parameter went, at which budget."""
    cases = sum(int(one.cases.sum()) for one in counted)
    found = [traits(one.seen.scenario) for one in counted]
    parts = [f"{len(counted)} scenarios ({cases} cases)"]
    for trait, phrase in (("dimensions", "d up to {}"), ("clients", "N up to {}"), ("steps", "{} local steps")):
        most = max((one[trait] for one in found if trait in one), default=0)
        if most >= LEAST[trait]:
            parts.append(phrase.format(int(most)))
    starts = [name for name, trait in (("at", "settled"), ("off", "away")) if any(one.get(trait) for one in found)]
    if starts:
        parts.append(f"starts {' and '.join(starts)} the minimiser")
    scalars = {p.name for p in claim.parameters if p.shape == "scalar"}
    ranges = [
        f"{name} {value.min():.3g} to {value.max():.3g}"
        for name, value in values.items()
        if name in scalars and value.min() < value.max()
    ]
    text = ", ".join(parts) + (f"; {', '.join(ranges)}" if ranges else "")
    return f"{text}; {'quick' if quick else 'full'} budget"
