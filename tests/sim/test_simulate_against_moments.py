"""Simulated runs of programs written at random have the moments that are computed exactly for them."""

from typing import Any

import numpy as np
import pytest

from sim.moments import Point, Schedule, moments_of
from sim.problems import Quadratic
from sim.simulate import simulate
from tests.sim.test_moments_of_programs import at_random
from theory.program import Program

RUNS, ROUNDS, PROGRAMS, PARTS = 4000, 2, 50, 5
ERRORS = 6.2  # of a normal mean in standard errors: two comparisons of each of 50 programs miss by chance with p = 6e-8


def in_floats(value: Any) -> Any:
    if isinstance(value, Schedule):
        return {"k": [float(v) for v in value.values]}
    if isinstance(value, list):
        return [in_floats(v) for v in value]
    return value if isinstance(value, int) else float(value)


def standard_errors(
    program: Program, problem: Quadratic, parameters: dict[str, Any], x0: Any, seed: int
) -> list[float]:
    """How far the means over runs of 1'x and of norm2(x) are from their expectations, after the rounds."""
    exact = moments_of(program, problem, parameters, start=x0, rounds=ROUNDS)
    name = program.state[0].name
    x = Point(name, ROUNDS)
    wanted = [float(sum(exact.expected({x: 1}))), float(exact.norm2({x: 1}))]
    numbers = {key: in_floats(value) for key, value in parameters.items()}
    final = simulate(program, problem, numbers, [float(v) for v in x0], ROUNDS, RUNS, seed).final[name]
    found = []
    for values, mean in zip((final.sum(axis=1), (final**2).sum(axis=1)), wanted, strict=True):
        rounding = 1e-9 * (1 + abs(mean))
        apart = max(0.0, abs(float(values.mean()) - mean) - rounding)
        found.append(apart / (values.std(ddof=1) / np.sqrt(RUNS) + rounding))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_at_random(part: int) -> None:
    done, seed, worst = 0, 500_000 + 1000 * part, 0.0
    while done < PROGRAMS // PARTS:
        seed += 1
        program, problem, parameters, x0 = at_random(seed)
        if program.random and len(problem.counts) > 1:  # a matrix W that no step mixes with is no number with N = 1
            worst = max(worst, *standard_errors(program, problem, parameters, x0, seed))
            done += 1
    assert worst < ERRORS
