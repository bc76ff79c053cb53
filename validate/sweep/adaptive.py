"""A sampled cell of a sweep: as many runs of the simulator as its decision needs.

Runs come in batches of first, 2 first, 4 first, ... until `validate.confidence_sequence.decide` has decided or the
budget `most` is spent. The decision depends on the sequence of runs and on the budget, not on the batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from validate.confidence_sequence import LEAST, Decision, asymptotic_upper, decide, lower_limit
from validate.sides import ROUNDING
from validate.sweep.cell import result

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


def sampled_sides(
    cell: Sampling,
    draw: Callable[[int, int], Array],
    sides: Array,
    scenario: Any,
    index_at: Callable[[int], dict[str, Any]],
) -> dict[str, Any]:
    """C expectations that are drawn, against their right sides; `validate.confidence_sequence` has what is promised.

    Nothing is known of what a run can give, so that only the central limit theorem says that a claim holds.

    Args:
        cell: level, first, most.
        draw: called with the number of the first run and how many; gives (R, C), never negative.
        sides: (C,), the right sides, finite.
        scenario: with problem and start, of which it is read what rounding does.
        index_at: the indices of a case.

    Returns:
        Plain data, the same for the same arguments: outcome ("unbroken", "fails", "undecided", "diverged"), left (mean
        of the runs used), right, ratio, lower and upper (limits of the left side; upper None when there is none; each
        wrong with probability at most the level, `upper` in the limit of many runs only), runs (those used), guarantee,
        index (of the case that is shown), detail.

        Of several cases (rounds), the one shown is the one that fails, or else has the largest ratio of mean to right
        side; `upper` is then a limit for that case as if no other had been looked at.

    Raises:
        ValueError: for a level, first or most outside its domain.
    """
    level, first, most = _settings(cell)
    return _Test(draw, sides, scenario, index_at).run(level, first, most)


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
        scenario: Any,
        index_at: Callable[[int], dict[str, Any]],
    ) -> None:
        self.draw, self.sides, self.index_at = draw, sides, index_at
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
        slack = ROUNDING * np.abs(self.sides)
        return decide(values, self.sides + slack + self.resolution, self.sides + slack, level, budget=most)

    def report(self, values: Array, level: float, decision: Decision) -> dict[str, Any]:
        """The decision with its limits, at the case that matters."""
        means = values.mean(axis=0)
        if decision.case is not None:
            case = decision.case
        else:
            positive = self.sides > 0
            case = int(np.argmax(np.where(positive, means / np.where(positive, self.sides, 1), -np.inf)))
        own = values[:, case]
        lower = lower_limit(own, level / values.shape[1])
        upper = float(asymptotic_upper(own, level).min()) if len(own) >= LEAST else math.inf
        left, right = float(means[case]), float(self.sides[case])
        words = {"fails": "the expectation is above the right side", "holds": "at most the right side"}
        said = words.get(decision.outcome or "", "not decided within the budget")
        limits = f"lower limit {lower:.6g}"
        if math.isfinite(upper):
            limits += f", upper limit {upper:.6g} (asymptotic)"
        detail = f"{len(values)} runs give {left:.6g} against {right:.6g}: {said}; {limits}; level {level:g}"
        # what holds by a limit theorem alone is not held to any error probability
        outcome = "unbroken" if decision.outcome == "holds" else decision.outcome or "undecided"
        return result(
            outcome,
            detail,
            left=left,
            right=right,
            ratio=left / right if right > 0 and math.isfinite(left / right) else None,
            lower=lower,
            upper=upper if math.isfinite(upper) else None,
            runs=len(values),
            guarantee=decision.guarantee,
            index=self.index_at(case),
        )


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
