"""A sampled cell of a sweep: as many runs of the simulator as its decision needs.

Runs come in batches of first, 2 first, 4 first, ... until `validate.confidence_sequence.decide` has decided or the
budget `most` is spent. The decision depends on the sequence of runs and on the budget, not on the batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from theory.claim import Claim
from validate import reachable_ball
from validate.assumptions import unmet
from validate.bounds import ROUNDING, right_sides
from validate.confidence_sequence import LEAST, Decision, asymptotic_upper, decide, lower_limit, upper_limit
from validate.per_run import per_run
from validate.sweep.cell import outside, result

Array = NDArray[np.float64]

# Squares of differences that are zero come out at about the square of float64's precision, relative to the squares of
# what was subtracted; an excess below this is not told from them.
RESOLUTION = 1e-26


class Sampling(Protocol):
    """What a cell says about sampling.

    Attributes:
        seed: of the simulator.
        level: the cell's error probability, in (0, 1): a fraction, or text that is one.
        first: runs of the first batch, >= 1.
        most: runs at most, >= first.
    """

    @property
    def seed(self) -> Any: ...
    @property
    def level(self) -> Any: ...
    @property
    def first(self) -> Any: ...
    @property
    def most(self) -> Any: ...


def sampled(cell: Sampling, claim: Claim, module: ModuleType | None, scenario: Any) -> dict[str, Any]:
    """A claim against runs of the simulator on a scenario; see `validate.confidence_sequence` for what is promised.

    Args:
        cell: seed, level, first, most.
        claim: with a bound.
        module: of its paper, from `validate.papers.module`.
        scenario: with `simulate`, in floats.

    Returns:
        Plain data, the same for the same arguments: outcome ("holds", "unbroken", "fails", "undecided",
        "inapplicable", "violated", "diverged"), left (mean of the runs used), right, ratio, lower and upper (limits of
        the left side; upper None when there is none; each wrong with probability at most the level, `upper` in the
        limit of many runs only unless the detail says for every law), runs (those used), guarantee, index (of the case
        that is shown), detail.

        Of a claim with several cases (rounds), the one shown is the one that fails, or else has the largest ratio of
        mean to right side; `upper` is then a limit for that case as if no other had been looked at.

    Raises:
        ValueError: for a level, first or most outside its domain.
    """
    from sim.exact_moments import CancellationError, DivergenceError

    level, first, most = _settings(cell)
    quantity = per_run(claim, module)
    if quantity is None or module is None:
        return result("inapplicable", f"no sampled measure for quantity {claim.quantity.name}")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                scenario.moments()  # a pool drops those without digits too; here it is said which they are
            except DivergenceError:
                return result("diverged", "the moments, on which the right side depends, leave the range of float64")
            cases = module.cases(claim, scenario)
            if cases is None:
                return result("inapplicable", "the claim does not speak of this scenario, or is not measured there")
            beyond = outside(claim, cases)
            if beyond is not None:
                return beyond
            missing = unmet(claim, scenario, cases.parameters_at(0))
            if missing:
                return result("violated", f"hypotheses that do not hold: {', '.join(missing)}")
            sides = right_sides(claim, cases)
    except DivergenceError as error:
        return result("diverged", str(error))
    except CancellationError as error:
        return result("undecided", str(error))
    if not np.isfinite(sides).all():
        return result("undecided", "the right side leaves the range of float64, or is undefined")

    def draw(start: int, size: int) -> Array:
        trace = scenario.simulate(size, int(cell.seed), first_run=start, metrics=(quantity.metric,))
        return quantity.values(trace, cases)

    largest = reachable_ball.largest(scenario, quantity, cases)
    test = _Test(draw, sides, largest, scenario, cases.index_at, quantity.root)
    return test.run(level, first, most)


def sampled_sides(
    cell: Sampling,
    draw: Callable[[int, int], Array],
    sides: Array,
    scenario: Any,
    index_at: Callable[[int], dict[str, Any]],
) -> dict[str, Any]:
    """The same of C expectations that are drawn, where nothing is known of what a run can give.

    Args:
        cell: level, first, most.
        draw: called with the number of the first run and how many; gives (R, C), never negative.
        sides: (C,), the right sides, finite.
        scenario: with problem and start, of which it is read what rounding does.
        index_at: the indices of a case.
    """
    level, first, most = _settings(cell)
    return _Test(draw, sides, np.full(len(sides), np.inf), scenario, index_at).run(level, first, most)


def batches(first: int, most: int) -> Iterator[tuple[int, int]]:
    """(number of the first run, number of runs) of batches of first, 2 first, 4 first, ..., `most` runs in all."""
    start, size = 0, first
    while start < most:
        yield start, min(size, most - start)
        start, size = start + size, 2 * size


class _Test:
    """A claim's bounds on the expectations of what is sampled, and what may be said of the runs."""

    def __init__(
        self,
        draw: Callable[[int, int], Array],
        sides: Array,
        largest: Array,
        scenario: Any,
        index_at: Callable[[int], dict[str, Any]],
        root: bool = False,
    ) -> None:
        self.draw, self.sides, self.largest, self.index_at, self.root = draw, sides, largest, index_at, root
        self.bounds = np.where(sides >= 0, sides**2, sides) if root else sides
        self.resolution = RESOLUTION * _scale(scenario)

    def run(self, level: float, first: int, most: int) -> dict[str, Any]:
        """Batch after batch until something is decided."""
        values = np.empty((0, len(self.sides)))
        decision = Decision(None, 0, None, None)
        for start, size in batches(first, most):
            values = np.concatenate([values, self.draw(start, size)])
            bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
            finite = int(bad[0]) if len(bad) else len(values)
            if finite:
                decision = self.decision(values[:finite], level, most)
            if decision.outcome is not None:
                break
            if len(bad):
                return result("diverged", f"run {finite} leaves the range of float64", runs=finite + 1)
        return self.report(values[: decision.runs], level, decision)

    def decision(self, values: Array, level: float, most: int) -> Decision:
        """See `decide`."""
        slack = ROUNDING * np.abs(self.bounds)
        above = self.bounds + slack + self.resolution
        return decide(values, above, self.bounds + slack, level, largest=self.largest, budget=most)

    def report(self, values: Array, level: float, decision: Decision) -> dict[str, Any]:
        """The decision with its limits, at the case that matters."""
        means = values.mean(axis=0)
        if decision.case is not None:
            case = decision.case
        else:
            positive = self.bounds > 0
            case = int(np.argmax(np.where(positive, means / np.where(positive, self.bounds, 1), -np.inf)))
        own, bound = values[:, case], float(self.largest[case])
        lower = lower_limit(own, level / values.shape[1])
        upper, sure = self._upper(own, bound, level, decision)
        root = math.sqrt if self.root else float
        left, right = root(float(means[case])), float(self.sides[case])
        words = {"fails": "the expectation is above the right side", "holds": "at most the right side"}
        said = words.get(decision.outcome or "", "not decided within the budget")
        limits = f"lower limit {root(lower):.6g}"
        if upper is not None:
            limits += f", upper limit {root(upper):.6g} ({'for every law' if sure else 'asymptotic'})"
        detail = f"{len(values)} runs give {left:.6g} against {right:.6g}: {said}; {limits}; level {level:g}"
        # what holds by a limit theorem alone is not held to any error probability
        believed = decision.outcome == "holds" and decision.guarantee == "asymptotic"
        return result(
            "unbroken" if believed else decision.outcome or "undecided",
            detail,
            left=left,
            right=right,
            ratio=left / right if right > 0 and math.isfinite(left / right) else None,
            lower=root(lower),
            upper=None if upper is None else root(upper),
            runs=len(values),
            guarantee=decision.guarantee,
            index=self.index_at(case),
        )

    def _upper(self, own: Array, bound: float, level: float, decision: Decision) -> tuple[float | None, bool]:
        """An upper limit, and whether it is one for every law: where it is not, the smallest so far is taken."""
        known = math.isfinite(bound)
        share = level / 2 if known else level
        sure = upper_limit(own, share, bound) if known else math.inf
        likely = float(asymptotic_upper(own, share).min()) if len(own) >= LEAST else math.inf
        if decision.guarantee == "anytime" and decision.outcome == "holds" and known:
            return sure, True
        best = min(sure, likely)
        return (best, sure <= likely) if math.isfinite(best) else (None, False)


def _scale(scenario: Any) -> float:
    """The size of the squares that metrics are differences of: points, and gradients at them."""
    start = np.asarray(scenario.start, dtype=float)
    try:
        best = np.asarray(scenario.problem.minimiser, dtype=float)
    except ValueError:
        best = np.zeros_like(start)
    smoothness = float(scenario.problem.smoothness)
    return max(1.0, smoothness**2) * max(1.0, float(start @ start), float(best @ best))


def _settings(cell: Sampling) -> tuple[float, int, int]:
    level = float(Fraction(cell.level))
    if not 0 < level < 1:
        raise ValueError(f"level={cell.level!r} is outside (0, 1)")
    for name in ("first", "most"):
        value = getattr(cell, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} is not an integer in [1, inf)")
    if cell.most < cell.first:
        raise ValueError(f"most={cell.most} is outside [first={cell.first}, inf)")
    return level, cell.first, cell.most
