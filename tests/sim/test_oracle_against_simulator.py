"""Two ways to know the same numbers: the exact oracle and the simulator, on 20 random scenarios.

Each scenario compares sample means over R = 4,000 runs with the oracle's expectations: E theta^K by coordinate, and at
every round E||grad f(theta^k)||^2, E f(theta^k) - f* and E||theta^k||^2. A comparison fails when the two are more than
4.5 standard errors apart, and are again on 16,000 other runs of the same seed. Under the normal approximation one
comparison fails with probability (6.8e-6)^2 < 5e-11, so all the (at most 33 a scenario) 660 of them together fail with
probability below 1e-7 if oracle and simulator agree. Seeds are fixed, so a result never changes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.engine import run
from sim.moments import Point, Schedule, moments_of
from sim.participation import Bernoulli, UniformChoice
from sim.problems.generators import quadratic
from sim.problems.quadratic import Quadratic
from theory.papers.specs import reduced, stepped
from theory.program import Algorithm, algorithm
from validate.instances import engine_rounds as rounds

ROUNDS = 10
RUNS = 4_000
LIMIT = 4.5
METRICS = ("squared_gradient_norm", "suboptimality", "squared_iterate_norm")


@dataclass(frozen=True)
class Case:
    algorithm: Any
    problem: Quadratic
    participation: Any
    start: np.ndarray


def case(seed: int) -> Case:
    """A random scenario; participation is frequent and steps are short, so that tails are light."""
    rng = np.random.default_rng(seed)
    count, dim, samples = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    problem = quadratic(count, dim, 0.1, 1.0, 1.0, seed=seed, samples=samples, sample_spread=0.5)
    step: Any = rng.uniform(0.05, 0.3)
    if seed % 5 == 4:
        step = tuple(step / np.sqrt(1 + np.arange(ROUNDS)))
    rules: Any = {"aggregation": ("unbiased", "normalised")[seed // 2 % 2], "empty": ("keep", "zero")[seed % 2]}
    inner = int(rng.integers(1, 4))
    algorithm = (
        FedAvg(step, inner, **rules) if seed % 2 else FedAvgSVRG(step, int(rng.integers(1, 4)), inner + 1, **rules)
    )
    if seed % 4 == 3:
        participation: Any = UniformChoice(int(rng.integers(1, count + 1)))
    else:
        shape = (ROUNDS, count) if seed % 4 == 2 else (count,)
        participation = Bernoulli(rng.uniform(0.4, 1.0, size=shape))
    return Case(algorithm, problem, participation, rng.normal(size=dim))


def expectations(tried: Case) -> np.ndarray:
    """E theta^K by coordinate, and each metric's expectation in rounds 1..K, by the moments of the round's program."""
    method, present, problem = tried.algorithm, tried.participation, tried.problem
    step: Any = Schedule(method.step) if isinstance(method.step, tuple) else method.step
    rule = rounds.RULES[method.aggregation, method.empty]
    if isinstance(method, FedAvg):
        one, parameters = rounds.local_round(rule), {"eta": step, "H": method.local_steps}
    else:
        one, parameters = rounds.svrg_round(rule), {"delta": step, "S": method.snapshots, "M": method.inner}
    if isinstance(present, UniformChoice):  # it is never empty, and as many always: both rules are the mean
        one, parameters = of_some(one, method), {**parameters, "many": present.size}
    else:
        p = np.asarray(present.p)
        parameters["p"] = Schedule(tuple(map(list, p))) if p.ndim == 2 else list(p)
    found = moments_of(one.program, problem, parameters, start=tried.start, rounds=ROUNDS)
    H, b, best = problem.mean_hessian, problem.mean_linear, problem.minimiser
    values: dict[str, list[float]] = {name: [] for name in METRICS}
    for k in range(1, ROUNDS + 1):
        x = Point("x", k)
        values["squared_gradient_norm"].append(found.norm2({x: H, None: -b}))
        values["suboptimality"].append(found.dot({x: 1, None: -best}, {x: H, None: -H @ best}) / 2)
        values["squared_iterate_norm"].append(found.norm2({x: 1}))
    return np.concatenate([found.expected({Point("x", ROUNDS): 1}), *values.values()])


def of_some(one: Algorithm, method: Any) -> Algorithm:
    """The round with `many` clients that are chosen."""
    if isinstance(method, FedAvg):
        return algorithm(lambda w, x, *, eta, H, many: x + w.average(stepped(w, x, eta, H) - x, w.choose(many)))
    return algorithm(lambda w, x, *, delta, S, M, many: x + w.average(reduced(w, x, delta, S, M) - x, w.choose(many)))


def deviations(tried: Case, predicted: Case, seed: int, first_run: int, runs: int) -> np.ndarray:
    """(33,) or fewer: |sample mean - expectation| in standard errors, those of `tried` against those of `predicted`."""
    expected = expectations(predicted)
    trace = run(
        tried.algorithm,
        tried.problem,
        tried.participation,
        rounds=ROUNDS,
        runs=runs,
        seed=seed,
        start=tried.start,
        first_run=first_run,
        metrics=METRICS,
    )
    samples = np.concatenate([trace.final, *(trace[name][:, 1:] for name in METRICS)], axis=1)
    error = samples.std(axis=0, ddof=1) / np.sqrt(runs)
    rounding = 1e-9 * (1 + np.abs(expected))  # what does not vary must agree too
    return np.abs(samples.mean(axis=0) - expected) / np.maximum(error, rounding / LIMIT)


@pytest.mark.parametrize("seed", range(20))
def test_simulator_and_oracle_agree(seed: int) -> None:
    scenario = case(seed)
    apart = deviations(scenario, scenario, seed, 0, RUNS) > LIMIT
    if apart.any():
        apart &= deviations(scenario, scenario, seed, RUNS, 4 * RUNS) > LIMIT
    assert not apart.any()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_comparison_sees_a_small_difference(seed: int) -> None:
    """A step that is 10% longer than the simulator's is noticed."""
    scenario = case(seed)
    algorithm = scenario.algorithm
    longer: dict[str, Any] = {"aggregation": algorithm.aggregation, "empty": algorithm.empty}
    other: Any = (
        FedAvg(1.1 * algorithm.step, algorithm.local_steps, **longer)
        if isinstance(algorithm, FedAvg)
        else FedAvgSVRG(1.1 * algorithm.step, algorithm.snapshots, algorithm.inner, **longer)
    )
    changed = Case(other, scenario.problem, scenario.participation, scenario.start)
    assert deviations(scenario, changed, seed, 0, RUNS).max() > 2 * LIMIT
