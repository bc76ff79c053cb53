"""The falsifier that nobody guides: given a claim, look for an instance that breaks it, and reduce what is found.

Structures (clients, samples, snapshots, inner steps, rounds; `validate.search.space`) are tried small first, again and
again with more effort and in other units. Over the numbers of each structure, differential evolution maximises
(left - right)/(|left| + |right|), hypotheses respected. A break is then confirmed by the oracle in fractions, as it was
found, and made simpler and smaller as long as it stays one. What was found and could not be confirmed stays found: only
exact arithmetic shows that a break in floats was rounding. Claims for every K are also tried at the fixed points of
deterministic instances, where nothing but K changes.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import chosen, compare, defined, exact_sides, nearest_float
from validate.description import describe
from validate.falsify import CasesOf, Counterexample, recomputed, size
from validate.files import target_of
from validate.scenario import Spec, read_scenario
from validate.search.landscape import Landscape, excess, measured, survey
from validate.search.reduce import (
    ENOUGH_ROUNDS,
    FixedPoint,
    certificate_of,
    check_exactly,
    check_fixed_point,
    check_instance,
    reduced,
    settle_fixed_point,
)
from validate.search.space import UNITS, Shape, Structure
from validate.search.spaces import usual_structures
from validate.verdict import Evidence, Outcome
from validate.verifier import MAX_EXPONENT

__all__ = ["FixedPoint", "SearchResult", "Structure", "Suspect", "certificate_of", "search", "search_evidence"]

Progress = Callable[[str], None]
log = logging.getLogger(__name__)

BREAK = 1e-8
"""A score above this is a break unless fractions say otherwise; below it, it may be rounding."""
CANDIDATES = 6
"""How many of the best points of a structure are rounded; what they are themselves is confirmed of all."""
FIRST_WORK, WORK_GROWTH = 6, 8
GENERATIONS, MOST_EFFORT = 12, 16
STARTS = 24
GLANCE = 16, 3
"""Points and generations of the first visit to a structure: a break that is plain is seen in the right structure."""
PATIENCE = 3
"""Sweeps after which a structure in which nothing satisfied the hypotheses is tried once more."""


@dataclass(frozen=True)
class Suspect:
    """A break in floats that fractions neither confirmed nor showed to be rounding.

    Attributes:
        score: (left - right)/(|left| + |right|) there, by which it breaks the claim.
        spec: the instance, in the floats as they came.
        fixed_point: whether it is started at its fixed point, with as many rounds as a certificate may have.
        reason: why there is no answer in fractions.
    """

    score: float
    spec: Spec
    fixed_point: bool
    reason: str


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        claim: its id.
        counterexample: an exact instance that breaks the claim, reduced; None when none was found.
        fixed_point: a fixed point that breaks the claim at a large K, reduced; None when none was found.
        evaluations: instances at which both sides were computed.
        ratio: largest left / right at the best instance, by the oracle: a lower bound on the worst-case tightness;
            None when the right side is not positive there, or nothing was found.
        excess: (left - right)/(|left| + |right|) there; positive iff it breaks the claim.
        spec: that instance, in the floats as they came; for a refuted claim, the reduced one, where both may be less.
        structures: those that were tried and that the claim speaks of.
        detail: a sentence for the reader.
        suspect: the worst break in floats that could not be confirmed, where nothing was; a break was found then too.
        stopped: whether the time, and not the budget of evaluations, ended it.
    """

    claim: str
    counterexample: Counterexample | None
    fixed_point: FixedPoint | None
    evaluations: int
    ratio: float | None
    excess: float | None
    spec: Spec | None
    structures: tuple[Shape, ...]
    detail: str
    suspect: Suspect | None = None
    stopped: bool = False

    @property
    def found(self) -> Counterexample | FixedPoint | None:
        """What refutes the claim, if anything does."""
        return self.counterexample or self.fixed_point


class _Budget:
    def __init__(self, seconds: float, evaluations: int) -> None:
        self.end = time.monotonic() + seconds
        self.most = evaluations
        self.used = 0

    @property
    def stopped(self) -> bool:
        """Whether time has run out before the evaluations were used."""
        return self.used < self.most and time.monotonic() >= self.end

    def spent(self, now: int = 0) -> bool:
        return self.used + now >= self.most or time.monotonic() >= self.end


@dataclass
class _Best:
    score: float = -math.inf
    spec: Spec | None = None
    land: Landscape | None = None


def search(
    claim: Claim,
    cases_of: CasesOf,
    *,
    seconds: float = 60.0,
    evaluations: int = 1_000_000,
    seed: int = 0,
    structures: Sequence[Shape] | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Search for an exact instance that breaks a claim.

    Args:
        claim: a claim with a right side; its parameters are computed from each instance (L the smallest, and so on).
        cases_of: measures the claim's two sides on a scenario, as `cases` of a paper's module does.
        seconds: stop looking after this time (a reduction that has begun is finished).
        evaluations: stop looking after this many instances; the result is a function of the arguments if this, and
            not the time, ends the search.
        seed: of the starts.
        structures: which to try; by default those of `validate.search.spaces.usual_structures`, small first.
        progress: called with one line of text.

    Raises:
        ValueError: for a claim without a right side, or a budget or seed outside its domain.
    """
    if claim.right is None:
        raise ValueError(f"claim={claim.id!r} has no right side to search for a break of")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ValueError(f"seconds={seconds!r} is outside (0, inf)")
    for name, value in (("evaluations", evaluations), ("seed", seed)):
        least = 1 if name == "evaluations" else 0
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name}={value!r} is outside the integers in [{least}, inf)")
    if structures is not None and not structures:
        raise ValueError("structures is empty: give at least one, or None for the usual ones")
    todo = list(structures) if structures is not None else usual_structures(claim)
    tell = progress or (lambda text: None)
    budget, best = _Budget(seconds, evaluations), _Best()
    suspect: Suspect | None = None
    lands: dict[int, Landscape | None] = {}
    barren: dict[int, int] = {}
    visits: dict[int, int] = {}
    several = len(todo) > 1
    sweep, work = 0, FIRST_WORK if structures is None else max(s.work for s in todo)
    while todo and not budget.spent():
        for i, structure in enumerate(todo):
            if structure.work > work or budget.spent():
                continue
            rng = np.random.default_rng([seed, i, sweep])
            if i not in lands:
                lands[i] = survey(claim, structure, cases_of, rng)
            land = lands[i]
            if land is None:
                continue
            if i in barren and sweep < barren[i] + PATIENCE:
                continue
            land = land.within(*UNITS[(i + sweep) % len(UNITS)])
            effort = min(2 ** max(visits.get(i, 0) - several, 0), MOST_EFFORT)
            visits[i] = visits.get(i, 0) + 1
            if visits[i] == 1 and several:
                points, scores = _glance(land, rng, budget)
            else:
                points, scores = _explore(land, rng, effort, budget)
            budget.used += land.evaluations
            if scores[0] < -1:  # nothing satisfies the hypotheses, as far as one can see
                lands[i] = None if i in barren else lands[i]
                barren[i] = sweep
                continue
            settled = _settled(claim, cases_of, land, points[scores > BREAK], scores[scores > BREAK])
            if settled.found is not None:
                if scores[0] > best.score:
                    best = _Best(float(scores[0]), land.spec(points[0]), land)
                found = _shrunk(claim, cases_of, settled.found, land.structure, budget, seed)
                return _refuted(claim, cases_of, found, best, budget, _tried(lands))
            if settled.suspect is not None and (suspect is None or settled.suspect.score > suspect.score):
                suspect = settled.suspect
            at = settled.cleared
            if at < len(points) and scores[at] > best.score:
                best = _Best(float(scores[at]), land.spec(points[at]), land)
                tell(f"{claim.id}: {land.structure}: score {best.score:.6g} after {budget.used} evaluations")
        if all(land is None for land in lands.values()) and work >= max(s.work for s in todo):
            break
        sweep, work = sweep + 1, work * WORK_GROWTH
    if suspect is None and best.land is not None and best.spec is not None and best.score >= -BREAK:
        # a break that is smaller than the rounding of floats is one, too
        tiny = _tiny(claim, cases_of, best.land, best.spec)
        if tiny is not None:
            return _refuted(claim, cases_of, tiny, best, budget, _tried(lands))
    return _survived(claim, cases_of, best, suspect, budget, _tried(lands))


def _glance(land: Landscape, rng: np.random.Generator, budget: _Budget) -> tuple[np.ndarray, np.ndarray]:
    """Points of one structure after a short look, and their scores, the best first."""
    many, generations = GLANCE
    start = rng.random((max(many, 3 * land.structure.dimension), land.structure.dimension))
    return land.evolve(rng, start, generations, lambda: budget.spent(land.evaluations))


def _explore(land: Landscape, rng: np.random.Generator, effort: int, budget: _Budget) -> tuple[np.ndarray, np.ndarray]:
    """Points of one structure, and their scores, the best first."""

    def stop() -> bool:
        return budget.spent(land.evaluations)

    start = rng.random((max(STARTS, 3 * land.structure.dimension), land.structure.dimension))
    points, scores = land.evolve(rng, start, GENERATIONS * max(1, effort // 4), stop)
    order = np.argsort(-scores, kind="stable")
    return points[order], scores[order]


@dataclass(frozen=True)
class _Settled:
    """What fractions say of points that break a claim in floats, the worst first.

    Attributes:
        found: a break, reduced.
        suspect: the worst of which they say nothing.
        cleared: how many, from the first on, they show to be rounding.
    """

    found: Counterexample | FixedPoint | None
    suspect: Suspect | None
    cleared: int


def _settled(claim: Claim, cases_of: CasesOf, land: Landscape, points: np.ndarray, scores: np.ndarray) -> _Settled:
    """Each point as it is, in fractions, and in simple numbers near it."""
    decoded = land.decode(points)
    suspect: Suspect | None = None
    cleared = 0
    for i in range(len(points)):
        found, reason = _exactly(claim, cases_of, land, decoded, i, simple=i < CANDIDATES)
        if found is not None:
            return _Settled(found, None, cleared)
        if reason is None:
            cleared += suspect is None
        elif suspect is None:
            spec = land.structure.specification(decoded, i, None)
            suspect = Suspect(float(scores[i]), spec, land.structure.stationary, reason)
    return _Settled(None, suspect, cleared)


def _exactly(
    claim: Claim, cases_of: CasesOf, land: Landscape, decoded: Any, i: int, simple: bool
) -> tuple[Counterexample | FixedPoint | None, str | None]:
    """A break in fractions at a point or near it, reduced; else why nothing is known, or None where it is none."""
    original = land.structure.specification(decoded, i, None)
    near = list(land.structure.roundings(decoded, i)) if simple else []
    if land.structure.stationary:
        for spec in near:
            still = check_fixed_point(claim, cases_of, MAX_EXPONENT)(spec)
            if still is not None:
                return _still(claim, cases_of, still), None
        try:
            known, still = settle_fixed_point(claim, original, cases_of)
        except ValueError as error:
            return None, str(error)
        if still is not None:
            return _still(claim, cases_of, still), None
        return None, None if known else f"no certificate is of a fixed point and a relation {claim.relation}"
    check = check_instance(claim, cases_of)
    first: Counterexample | None = None
    reason = None
    if land.structure.short:  # of a long run the floats have many digits, which simple numbers may spare
        first, reason = _as_found(claim, cases_of, original)
    for spec in near:
        found = check(spec)
        if found is not None:
            return reduced(found, check), None
    if not land.structure.short:
        first, reason = _as_found(claim, cases_of, original)
    return (None, reason) if first is None else (reduced(first, check), None)


def _still(claim: Claim, cases_of: CasesOf, still: FixedPoint) -> FixedPoint:
    return reduced(still, check_fixed_point(claim, cases_of, max(ENOUGH_ROUNDS, still.rounds)))


def _as_found(claim: Claim, cases_of: CasesOf, spec: Spec) -> tuple[Counterexample | None, str | None]:
    """An instance in fractions: the break, or else why it is not known to be none."""
    try:
        known, found = recomputed(claim, spec, cases_of)
    except ValueError as error:
        return None, str(error)
    return found, None if known or found is not None else "a number in it is not rational"


def _tiny(claim: Claim, cases_of: CasesOf, land: Landscape, spec: Spec) -> Counterexample | None:
    """The best point, where it breaks the claim in fractions by less than floats can tell."""
    if land.structure.stationary:
        return None
    found, _ = _as_found(claim, cases_of, spec)
    return None if found is None else reduced(found, check_exactly(claim, cases_of))


def _shrunk(
    claim: Claim,
    cases_of: CasesOf,
    found: Counterexample | FixedPoint,
    origin: Shape,
    budget: _Budget,
    seed: int,
) -> Counterexample | FixedPoint:
    """The same from structures that are one smaller, as long as a short search of one of them breaks the claim too.

    Single moves leave the other numbers as they are, so they may stop at an instance that is larger than need be.
    """
    smaller = True
    while smaller and not budget.spent():
        smaller = False
        for structure in origin.smaller(found.spec):
            rng = np.random.default_rng([seed, structure.work])
            land = survey(claim, structure, cases_of, rng)
            if land is None or budget.spent():
                continue
            points, scores = _explore(land, rng, 1, budget)
            budget.used += land.evaluations
            again = _settled(claim, cases_of, land, *_best_of(points, scores)).found
            if again is not None and size(again.spec) < size(found.spec):
                found, smaller = again, True
                break
    return found


def _best_of(points: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    broken = scores > BREAK
    return points[broken][:CANDIDATES], scores[broken][:CANDIDATES]


def _tried(lands: dict[int, Landscape | None]) -> tuple[Shape, ...]:
    return tuple(land.structure for land in lands.values() if land is not None)


def _refuted(
    claim: Claim,
    cases_of: CasesOf,
    found: Counterexample | FixedPoint,
    best: _Best,
    budget: _Budget,
    tried: tuple[Shape, ...],
) -> SearchResult:
    upper = claim.relation in ("<=", "<")
    gap, ratio = _sides_at(claim, cases_of, best)
    if found.right > 0 and upper:
        ratio = max(nearest_float(found.left / found.right), ratio or 0.0)
    size = abs(found.left) + abs(found.right)  # 0 where a strict relation has 0 on both sides
    gap = max(float(abs(found.left - found.right) / size) if size else 0.0, gap or 0.0)
    where = "an instance" if isinstance(found, Counterexample) else f"a fixed point, at K={found.rounds},"
    detail = (
        f"an unguided search over {_counted(tried)} found, after {budget.used} evaluations, {where} that breaks "
        f"it in exact arithmetic: left side {nearest_float(found.left):.6g}, "
        f"right side {nearest_float(found.right):.6g}"
    )
    if isinstance(found, Counterexample):
        detail += f" ({describe(found.spec)})"
    return SearchResult(
        claim.id,
        found if isinstance(found, Counterexample) else None,
        found if isinstance(found, FixedPoint) else None,
        budget.used,
        ratio,
        gap,
        found.spec,
        tried,
        detail,
    )


def _survived(
    claim: Claim,
    cases_of: CasesOf,
    best: _Best,
    suspect: Suspect | None,
    budget: _Budget,
    tried: tuple[Shape, ...],
) -> SearchResult:
    if suspect is not None:
        where = "a fixed point breaks it" if suspect.fixed_point else "an instance breaks it"
        detail = (
            f"an unguided search over {_counted(tried)} and {budget.used} evaluations: in floats {where} by "
            f"{suspect.score:.3g} of |left| + |right| ({describe(suspect.spec)}), which fractions neither confirm nor "
            f"show to be rounding: {suspect.reason}"
        )
        return SearchResult(
            claim.id, None, None, budget.used, None, suspect.score, suspect.spec, tried, detail, suspect, budget.stopped
        )
    gap, ratio = _sides_at(claim, cases_of, best)
    if gap is None:
        detail = f"no instance that satisfies the hypotheses was found in {budget.used} evaluations"
        if not budget.used:
            detail = (
                "the search, over rounds of scalar quadratics, found none that this claim speaks of; "
                f"`fedproof check {target_of(claim.id)}` gathers other evidence"
            )
    else:
        detail = f"an unguided search over {_counted(tried)} and {budget.used} evaluations did not break it"
        detail += f"; left side at most {ratio:.6g} times the right side" if ratio is not None else ""
    return SearchResult(claim.id, None, None, budget.used, ratio, gap, best.spec, tried, detail, None, budget.stopped)


def _sides_at(claim: Claim, cases_of: CasesOf, best: _Best) -> tuple[float | None, float | None]:
    """Excess and largest ratio at the best instance: in fractions, so that a tie is a tie, where that is cheap.

    Of the cases at which the hypotheses hold and both sides are defined.
    """
    if best.spec is None or best.land is None:
        return None, None
    if best.land.structure.short and claim.relation in ("<=", "<"):
        try:
            scenario = read_scenario(best.spec, exact=True)
            cases = cases_of(claim, scenario)
            if cases is not None:
                pairs = [
                    exact_sides(claim, cases, i)
                    for i in range(len(cases))
                    if not unmet(claim, scenario, cases.parameters_at(i))
                ]
                gaps = [(left - right) / (abs(left) + abs(right)) for left, right in pairs if left or right]
                ratios = [left / right for left, right in pairs if right > 0]
                most = max(ratios, default=Fraction(0))
                return float(max(gaps, default=Fraction(-1))), nearest_float(most) if most > 0 else None
        except ValueError:
            log.debug("%s is not rational at %s", claim.id, best.spec)
    found = measured(claim, best.spec, cases_of, best.land.rounds)
    if found is None:
        return None, None
    scenario, cases = found
    known = [i for i in range(len(cases)) if not unmet(claim, scenario, cases.parameters_at(i))]
    if not known:
        return None, None
    kept = defined(claim, chosen(claim, cases, known))
    return (None, None) if kept is None else (excess(claim, kept), compare(claim, kept).tightness)


def _counted(tried: Sequence[Shape]) -> str:
    return "1 structure" if len(tried) == 1 else f"{len(tried)} structures"


def search_evidence(
    claim: Claim, cases_of: CasesOf, seconds: float = 20.0, seed: int = 0, evaluations: int = 1_000_000
) -> tuple[Evidence, Counterexample | FixedPoint | None]:
    """A search as evidence, with what it found; `certificate_of` makes a certificate of that.

    The evidence says "fails" for a break, since it takes a verified certificate to refute.
    """
    result = search(claim, cases_of, seconds=seconds, seed=seed, evaluations=evaluations)
    data: dict[str, Any] = {
        "evaluations": result.evaluations,
        "budget": evaluations,
        "structures": len(result.structures),
        "excess": result.excess,
    }
    if result.spec is not None:
        data["spec"] = dict(result.spec)
    detail = result.detail
    if result.stopped:
        data["stopped_after_seconds"] = seconds
        detail += f"; its limit of {seconds:g} seconds stopped it before its {evaluations} evaluations were used"
    outcome: Outcome = "holds" if result.excess is not None else "undecided"
    if result.found is not None or result.suspect is not None:
        outcome = "fails"
    return Evidence("search", outcome, detail, tightness=result.ratio, data=data, origin="search"), result.found
