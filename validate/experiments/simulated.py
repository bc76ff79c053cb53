"""A program on quadratics: simulated, and expected exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.experiment import Array

# A fall from a peak far above the start to less than this fraction of it is within reach of float64's 1e-16, once the
# dozen digits' worth of operations in between are counted. A plain decay from the start is not: it keeps its digits.
FALL = 1e-11
RISE = 1e6


class CancellationError(ValueError):
    """The moments grew so far before they came back that rounding at their peak hides what they came back to."""


def simulated(
    program: Any, parameters: Mapping[str, Any], problem: Any, *, start: Array, rounds: int, runs: int, seed: int
) -> dict[str, Array]:
    """Runs of a program on a `sim.problems.Quadratic`: "suboptimality" f(x^k) - f*, (R, K+1), and "final", (R, d).

    Args:
        program: an algorithm of the language with one vector x as its state.
        parameters: by name.
        problem: whose mean is minimised.
        start: (d,).
        rounds: K >= 1.
        runs: R >= 2.
        seed: of the streams.

    Raises:
        ValueError: when rounds or runs is too small.
    """
    from sim.simulate import simulate

    if runs < 2:
        raise ValueError(f"runs={runs} is outside the integers in [2, inf)")
    if rounds < 1:
        raise ValueError(f"rounds={rounds} is outside the integers in [1, inf)")
    options: dict[str, Any] = {"rounds": rounds, "runs": runs, "seed": seed, "start": start}
    found = simulate(program, problem, parameters, metrics=("suboptimality",), record=(), **options)
    return {"suboptimality": found.values["suboptimality"], "final": found.final[program.program.state[0].name]}


def expected(program: Any, parameters: Mapping[str, Any], problem: Any, start: Array, rounds: int) -> Array:
    """The exact E f(x^k) - f*, (K+1,), of a program with the state x on a quadratic.

    Raises:
        DivergenceError: where it leaves the range of float64.
        CancellationError: where it comes back from so far that rounding there hides what it comes back to.
    """
    from sim.moments import Point, moments_of

    found = moments_of(program.program, problem, parameters, start=start, rounds=rounds)
    name = program.program.state[0].name
    H, best = problem.mean_hessian, problem.minimiser
    curve = []
    for k in range(rounds + 1):
        away = {Point(name, k): 1, None: -best}
        curve.append(found.dot(away, {Point(name, k): H, None: -H @ best}) / 2)
    _check_cancellation(np.array(curve))
    return np.array(curve, dtype=float)


def _check_cancellation(curve: Array) -> None:
    size = np.abs(curve)
    peak = np.maximum.accumulate(size)
    lost = (size < FALL * peak) & (peak > RISE * size[0])
    if lost.any():
        k = int(np.argmax(lost))
        raise CancellationError(f"it rises to {peak[k]:.3g} and is back at {size[k]:.3g} in round {k}")


def expected_at(
    program: Any, parameters: Mapping[str, Any], problem: Any, start: Array, rounds: Sequence[int]
) -> list[float]:
    """The exact E f(x^k) - f* at increasing rounds; inf beyond float64's range, nan where rounding hides it."""
    from sim.moments.runs import DivergenceError

    *before, last = rounds
    try:
        curve = expected(program, parameters, problem, start, last)
    except (DivergenceError, CancellationError) as error:
        value = math.inf if isinstance(error, DivergenceError) else math.nan
        return [*(expected_at(program, parameters, problem, start, before) if before else ()), value]
    return [float(curve[k]) for k in rounds]
