"""How badly each instance of one structure breaks a claim, as a function on the unit cube, and the way up it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sim.exact_moments import CancellationError, DivergenceError
from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import Cases, right_sides
from validate.falsify import CasesOf, fixed_point
from validate.scenario import Scenario, Spec, read_scenario
from validate.search.scoring import INFEASIBLE, gaps, scores
from validate.search.space import Shape, Structure, wants_convex
from validate.verifier import MAX_EXPONENT, MAX_WORK

Stop = Callable[[], bool]

KEPT = 4096
"""Structures whose first points are kept, with their moments: all claims of a paper are tried at the same ones."""


class Landscape:
    """A claim over one structure: `score` of points in the unit cube.

    Made by `survey`. The score is the largest (left - right)/(|left| + |right|) over the claim's cases, positive iff
    it is broken; below -1 where a hypothesis is not met.
    """

    def __init__(self, claim: Claim, structure: Shape, cases_of: CasesOf) -> None:
        self.claim, self.structure, self.cases_of = claim, structure, cases_of
        self.convex = wants_convex(claim)
        self.rounds = most_rounds(structure) if isinstance(structure, Structure) and structure.stationary else None
        self.evaluations = 0

    def within(self, curvature: float, length: float) -> Landscape:
        """The same over the structure in other units."""
        return Landscape(self.claim, self.structure.in_units(curvature, length), self.cases_of)

    def spec(self, unit: np.ndarray) -> Spec:
        """The instance at one point, (D,), in the floats as they are."""
        return self.structure.specification(self.decode(unit[None]), 0)

    def decode(self, unit: np.ndarray) -> dict[str, Any]:
        """The instances at points (B, D), by the names of their numbers."""
        return self.structure.decode(unit, self.convex)

    def score(self, unit: np.ndarray) -> np.ndarray:
        """(B, D) -> (B,)."""
        self.evaluations += len(unit)
        if self.rounds is not None:
            return np.array([self.oracle(u) for u in unit])
        return self._together(self.found(unit))

    def found(self, unit: np.ndarray) -> list[tuple[Any, Cases] | None]:
        """The scenarios at points (B, D) with their cases, in floats; None as in `measured`."""
        if self.rounds is not None:
            return [measured(self.claim, self.spec(u), self.cases_of, self.rounds) for u in unit]
        return self._cases(self.structure.scenarios(self.decode(unit)))

    def probed(self, unit: np.ndarray) -> list[tuple[Any, Cases] | None]:
        """`found`, at points to which other claims come too."""
        if self.rounds is not None:
            return self.found(unit)
        return self._cases(_kept(self.structure, self.convex, np.ascontiguousarray(unit).tobytes()))

    def _cases(self, scenarios: Sequence[Any]) -> list[tuple[Any, Cases] | None]:
        return [cases_on(self.claim, scenario, self.cases_of) for scenario in scenarios]

    def _together(self, found: Sequence[tuple[Any, Cases] | None]) -> np.ndarray:
        """Scores of instances; as the constants are measured, assumptions are checked only of what breaks the claim."""
        flat = self.structure.least_curvature
        keep = [i for i, entry in enumerate(found) if entry is not None and entry[0].problem.smoothness >= flat]
        result = np.full(len(found), 2 * INFEASIBLE)
        kept = [entry for i in keep if (entry := found[i]) is not None]
        result[keep] = scores(self.claim, [cases for _, cases in kept])
        for i, (scenario, cases) in zip(keep, kept, strict=True):
            if result[i] > 0 and unmet(self.claim, scenario, cases.parameters_at(0)):
                result[i] = INFEASIBLE
        return result

    def oracle(self, unit: np.ndarray) -> float:
        """The score of one point, (D,), by the oracle and the paper's own measures."""
        return self._value(measured(self.claim, self.spec(unit), self.cases_of, self.rounds))

    def _value(self, found: tuple[Any, Cases] | None) -> float:
        if found is None:
            return 2 * INFEASIBLE
        scenario, cases = found
        if scenario.problem.smoothness < self.structure.least_curvature:
            return 2 * INFEASIBLE
        try:
            missing = unmet(self.claim, scenario, cases.parameters_at(0))
            return INFEASIBLE - len(missing) / 10 if missing else excess(self.claim, cases)
        except ValueError:  # a parameter is outside its domain, or the right side is undefined
            return 2 * INFEASIBLE

    def evolve(
        self, rng: np.random.Generator, start: np.ndarray, generations: int, stop: Stop
    ) -> tuple[np.ndarray, np.ndarray]:
        """Differential evolution from a population (P, D); the last population and its scores, best first."""
        from scipy.optimize import differential_evolution

        def halt(intermediate_result: Any) -> bool:
            return stop()

        result = differential_evolution(
            lambda columns: -self.score(columns.T),
            [(0.0, 1.0)] * self.structure.dimension,
            init=start,
            maxiter=generations,
            tol=0,
            seed=rng,
            polish=False,
            updating="deferred",
            vectorized=True,
            callback=halt,
        )
        order = np.argsort(result.population_energies, kind="stable")
        return np.clip(result.population[order], 0.0, 1.0), -result.population_energies[order]


@lru_cache(KEPT)
def _kept(structure: Shape, convex: bool, points: bytes) -> Sequence[Any]:
    """The scenarios at points (B, D) of a structure, which keep their moments."""
    unit = np.frombuffer(points).reshape(-1, structure.dimension)
    return structure.scenarios(structure.decode(unit, convex))


def survey(claim: Claim, structure: Shape, cases_of: CasesOf, rng: np.random.Generator) -> Landscape | None:
    """The landscape of a claim over a structure, or over the first of its variants of which the claim speaks.

    None where it speaks of none of them, or they are nothing new: a claim of one round says nothing more of several,
    and at a fixed point only K may depend on the number of rounds.
    """
    for one in structure.variants():
        land = _surveyed(claim, one, cases_of, rng)
        if land is not None:
            return land
    return None


def _surveyed(claim: Claim, structure: Shape, cases_of: CasesOf, rng: np.random.Generator) -> Landscape | None:
    land = Landscape(claim, structure, cases_of)
    probes = rng.random((structure.probes, structure.dimension))
    curved = structure.curvatures
    probes[:, :curved] = 0.6 + 0.4 * probes[:, :curved]  # convex, so that minima exist
    seen = [entry[1] for entry in land.probed(probes) if entry is not None]
    if not seen:
        return None
    if structure.rounds > 1 and all("k" in c.index and not c.index["k"].any() for c in seen):
        return None
    if structure.stationary:
        simple = (structure.specification(land.decode(u[None]), 0, 0.1) for u in probes)
        if all(at_fixed_point(claim, spec, cases_of, exact=True) is None for spec in simple):
            return None
    return land


def most_rounds(structure: Structure) -> int:
    """The largest K of a fixed-point certificate that the verifier takes."""
    return max(1, min(MAX_EXPONENT, 25 * MAX_WORK // (structure.clients * structure.snapshots * structure.inner)))


def measured(claim: Claim, spec: Spec, cases_of: CasesOf, rounds: int | None = None) -> tuple[Any, Cases] | None:
    """A claim's cases on an instance, in floats; at its fixed point with K = `rounds` when that is given.

    None where the claim does not speak of it, or its moments leave the range of floats.
    """
    if rounds is None:
        return cases_on(claim, in_floats(spec), cases_of)
    try:
        found = at_fixed_point(claim, spec, cases_of, exact=False)
        return None if found is None else (found[0], with_rounds(found[1], rounds))
    except (DivergenceError, CancellationError):
        return None


def in_floats(spec: Spec) -> Any:
    """The scenario of a SPEC in floats, by the fastest way to its moments."""
    return read_scenario(spec, exact=False)


def cases_on(claim: Claim, scenario: Any, cases_of: CasesOf) -> tuple[Any, Cases] | None:
    """A claim's cases on a scenario in floats.

    None where the claim does not speak of it, or its moments leave the range of floats.
    """
    try:
        cases = cases_of(claim, scenario)
    except (DivergenceError, CancellationError):
        return None
    return None if cases is None else (scenario, cases)


def at_fixed_point(claim: Claim, spec: Spec, cases_of: CasesOf, *, exact: bool) -> tuple[Scenario, Cases] | None:
    """The instance started at its fixed point, for one round, with its single case.

    In exact numbers only if nothing but K depends on the number of rounds. (In floats an unstable fixed point does not
    stay one, so that is not looked at.)
    """
    point = fixed_point(spec)
    if point is None:
        return None
    start: Any = point if exact else float(point)
    found: list[tuple[Scenario, Cases]] = []
    for rounds in (1, 2) if exact else (1,):
        scenario = Scenario.from_spec({**spec, "theta0": start, "K": rounds}, exact=exact)
        cases = cases_of(claim, scenario)
        if cases is None or len(cases) != 1 or "K" not in cases.parameters:
            return None
        found.append((scenario, cases))
    first, last = ({**cases.parameters_at(0), "": cases.left[0]} for _, cases in (found[0], found[-1]))
    return found[0] if all(first[name] == last[name] for name in first if name != "K") else None


def with_rounds(cases: Cases, rounds: int) -> Cases:
    """The same with another K."""
    return replace(cases, parameters={**cases.parameters, "K": rounds})


def excess(claim: Claim, cases: Cases) -> float:
    """The largest (left - right)/(|left| + |right|) in floats, the sides exchanged where the claim is a lower bound.

    `INFEASIBLE`, twice, where a side is undefined at every case.
    """
    left, right = np.asarray(cases.left, dtype=np.float64), right_sides(claim, cases)
    sizes = np.abs(left) + np.abs(right)
    return float(np.max(gaps(claim, left, right, np.max(sizes, where=np.isfinite(sizes), initial=0.0))))
