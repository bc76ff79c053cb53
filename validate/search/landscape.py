"""How badly each instance of one structure breaks a claim, as a function on the unit cube, and the ways up it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sim.exact_moments import CancellationError, DivergenceError
from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import Cases
from validate.falsify import CasesOf, fixed_point
from validate.scenario import Scenario, Spec
from validate.search.recursion import INFEASIBLE, UnsupportedError, supports
from validate.search.space import LEAST_CURVATURE, Structure, decode, specification, wants_convex
from validate.verifier import MAX_EXPONENT, MAX_WORK

Stop = Callable[[], bool]

AGREEMENT = 1e-8
"""The torch recursion is used where it agrees with the oracle this well on a few instances."""
_PROBES = 3


class Landscape:
    """A claim over one structure: `score` of points in the unit cube.

    Made by `survey`. The score is the largest (left - right)/(|left| + |right|) over the claim's cases, positive iff
    it is broken; below -1 where a hypothesis is not met.
    """

    def __init__(self, claim: Claim, structure: Structure, cases_of: CasesOf) -> None:
        self.claim, self.structure, self.cases_of = claim, structure, cases_of
        self.convex = wants_convex(claim)
        self.rounds = most_rounds(structure) if structure.stationary else None
        self.differentiable = False
        self.evaluations = 0

    def spec(self, unit: np.ndarray) -> Spec:
        """The instance at one point, (D,), in the floats as they are."""
        return specification(self.structure, decode(self.structure, unit[None], self.convex), 0)

    def score(self, unit: np.ndarray) -> np.ndarray:
        """(B, D) -> (B,)."""
        self.evaluations += len(unit)
        if self.differentiable:
            import torch

            with torch.no_grad():
                return self._torch(torch.from_numpy(np.ascontiguousarray(unit))).numpy()
        return np.array([self.oracle(u) for u in unit])

    def _torch(self, unit: Any) -> Any:
        import torch

        from validate.search.recursion import score

        return score(self.claim, self.structure, decode(self.structure, unit, self.convex, torch.exp), self.rounds)

    def oracle(self, unit: np.ndarray) -> float:
        """The score of one point, (D,), by the oracle and the paper's own measures."""
        found = measured(self.claim, self.spec(unit), self.cases_of, self.rounds)
        if found is None:
            return 2 * INFEASIBLE
        scenario, cases = found
        if scenario.problem.smoothness < LEAST_CURVATURE:
            return 2 * INFEASIBLE
        try:
            missing = unmet(self.claim, scenario, cases.parameters_at(0))
            return INFEASIBLE - len(missing) / 10 if missing else excess(self.claim, cases)
        except ValueError:  # a parameter is outside its domain, or the right side is undefined
            return 2 * INFEASIBLE

    def evolve(self, rng: np.random.Generator, start: np.ndarray, generations: int, stop: Stop) -> np.ndarray:
        """Differential evolution from a population (P, D); the last population, best first."""
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
        return np.clip(result.population[np.argsort(result.population_energies, kind="stable")], 0.0, 1.0)

    def climb(self, start: np.ndarray, iterations: int, stop: Stop, rate: float = 0.03) -> np.ndarray:
        """Gradient ascent (Adam, projected on the cube) from each of (B, D); the best point that each start met."""
        import torch

        unit = torch.from_numpy(start.copy()).requires_grad_(True)
        best, best_score = start.copy(), np.full(len(start), -np.inf)
        optimiser = torch.optim.Adam([unit], lr=rate)
        for i in range(iterations):
            optimiser.param_groups[0]["lr"] = rate * (1 - i / iterations)
            optimiser.zero_grad()
            value = self._torch(unit)
            self.evaluations += len(start)
            now = value.detach().numpy()
            better = now > best_score
            best[better], best_score[better] = unit.detach().numpy()[better], now[better]
            if stop():
                break
            (-value.sum()).backward()
            assert unit.grad is not None
            slope = torch.nan_to_num(unit.grad, 0.0, 0.0, 0.0)
            # Each start climbs by itself, whatever the scale of its slope.
            unit.grad = slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12)
            optimiser.step()
            with torch.no_grad():
                unit.clamp_(0.0, 1.0)
        return best[np.argsort(-best_score, kind="stable")]


def survey(claim: Claim, structure: Structure, cases_of: CasesOf, rng: np.random.Generator) -> Landscape | None:
    """The landscape of a claim over a structure; None where the claim does not speak of such instances, or nothing new.

    A claim of one round says nothing more of several, and at a fixed point only K may depend on the number of rounds.
    """
    land = Landscape(claim, structure, cases_of)
    probes = rng.random((_PROBES, structure.dimension))
    many = structure.clients * structure.samples
    probes[:, :many] = 0.6 + 0.4 * probes[:, :many]  # convex, so that minima exist
    found = [measured(claim, land.spec(u), cases_of, land.rounds) for u in probes]
    seen = [cases for entry in found if entry is not None for cases in [entry[1]]]
    if not seen:
        return None
    if structure.rounds > 1 and all("k" in c.index and not c.index["k"].any() for c in seen):
        return None
    if structure.stationary:
        simple = (specification(structure, decode(structure, u[None], land.convex), 0, 0.1) for u in probes)
        if all(at_fixed_point(claim, spec, cases_of, exact=True) is None for spec in simple):
            return None
    if supports(claim, structure):
        land.differentiable = True
        try:
            there = land.score(probes)
        except UnsupportedError:
            land.differentiable = False
        else:
            here = np.array([land.oracle(u) for u in probes])
            feasible = (here >= -1) | (there >= -1)
            land.differentiable = bool(np.all(np.abs(there - here)[feasible] <= AGREEMENT))
        land.evaluations = 0
    return land


def most_rounds(structure: Structure) -> int:
    """The largest K of a fixed-point certificate that the verifier takes."""
    return max(1, min(MAX_EXPONENT, 25 * MAX_WORK // (structure.clients * structure.snapshots * structure.inner)))


def measured(claim: Claim, spec: Spec, cases_of: CasesOf, rounds: int | None = None) -> tuple[Scenario, Cases] | None:
    """A claim's cases on an instance, in floats; at its fixed point with K = `rounds` when that is given.

    None where the claim does not speak of it, or its moments leave the range of floats.
    """
    try:
        if rounds is None:
            scenario = Scenario.from_spec(spec, exact=False)
            cases = cases_of(claim, scenario)
            return None if cases is None else (scenario, cases)
        found = at_fixed_point(claim, spec, cases_of, exact=False)
        return None if found is None else (found[0], with_rounds(found[1], rounds))
    except (DivergenceError, CancellationError):
        return None


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
    """The largest (left - right)/(|left| + |right|) in floats, the sides exchanged where the claim is a lower bound."""
    left = np.asarray(cases.left, dtype=np.float64)
    right = np.broadcast_to(np.asarray(claim.bound(**cases.parameters), dtype=np.float64), left.shape)
    gap = np.abs(left - right) if claim.relation == "=" else left - right
    gap = -gap if claim.relation in (">=", ">") else gap
    size = np.abs(left) + np.abs(right)
    # 0 against 0, or all but 0 beside the rest, says nothing.
    small = ~(size > 1e-9 * np.nanmax(size, initial=0.0))
    value = np.where(small, -1.0, gap / np.where(small, 1.0, size))
    return float(np.max(np.nan_to_num(value, nan=-1.0, posinf=-1.0, neginf=-1.0)))
