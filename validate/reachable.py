"""Where a run of local SGD may go, and what is largest there: the set W of claims on a bounded domain.

W is the convex hull of the start, the minimiser of f, and every point that a local iterate can reach; then nothing is
ever projected, and W does not bind at the minimiser. Its extreme points are known for runs without chance, and in one
dimension, where each step is an affine map of an interval for every sample. A convex function, such as the square of
an affine one, is largest at one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.algorithms import FedAvg
from sim.participation import Bernoulli
from sim.problems import Quadratic
from validate.once import once
from validate.scenario import Scenario

Array = np.ndarray


@once
def everybody(scenario: Scenario) -> bool:
    """Whether the algorithm is local SGD and everybody takes part in every round."""
    chances = scenario.participation
    return isinstance(scenario.algorithm, FedAvg) and isinstance(chances, Bernoulli) and bool(np.all(chances.p == 1))


@once
def extreme_points(scenario: Scenario) -> Array | None:
    """Points (P, d) whose convex hull is W; None where they are not known."""
    if not isinstance(scenario, Scenario) or not everybody(scenario):
        return None
    problem = scenario.problem
    step: Any = scenario.algorithm.step
    steps = step if isinstance(step, tuple) else (step,) * scenario.rounds
    local_steps = getattr(scenario.algorithm, "local_steps", 1)
    if bool((problem.counts == 1).all()):
        reached = _path(problem, scenario.start, steps, local_steps)
    elif problem.dim == 1:
        reached = _interval(problem, scenario.start, steps, local_steps)
    else:
        return None
    return np.concatenate([scenario.start[None], problem.minimiser[None], *reached])


def _path(problem: Quadratic, start: Array, steps: tuple[Any, ...], local_steps: int) -> list[Array]:
    """Every local iterate, (N, d) arrays, of clients without noise; and the averages, (1, d)."""
    hessian, linear = problem.client_hessian, problem.client_linear
    x, reached = start, []
    for step in steps:
        w = np.broadcast_to(x, linear.shape)
        for _ in range(local_steps):
            w = w - step * ((hessian @ w[..., None])[..., 0] - linear)
            reached.append(w)
        x = w.sum(axis=0) / len(w)
        reached.append(x[None])
    return reached


def _interval(problem: Quadratic, start: Array, steps: tuple[Any, ...], local_steps: int) -> list[Array]:
    """The ends (2, 1) of what is reached, for each client and local step; and those of the averages."""
    low = high = start[0]
    reached = []
    for step in steps:
        ends = []
        for n, count in enumerate(problem.counts):
            h, b = problem.hessian[n, :count, 0, 0], problem.linear[n, :count, 0]
            least, most = low, high
            for _ in range(local_steps):
                points = np.concatenate([w - step * (h * w - b) for w in (least, most)])
                least, most = points.min(), points.max()
                reached.append(np.array([[least], [most]]))
            ends.append((least, most))
        low, high = (sum(end[i] for end in ends) / len(ends) for i in (0, 1))
        reached.append(np.array([[low], [high]]))
    return reached


@once
def largest_variance(scenario: Scenario) -> Any:
    """The largest variance of a sampled gradient over the clients and over W; None where it is not known."""
    problem = scenario.problem
    if bool((problem.counts == 1).all()):
        return 0 * problem.smoothness
    if _equal(problem.hessian, problem.counts):
        return problem.sampling_noise(scenario.start).max()
    points = extreme_points(scenario)
    return None if points is None else max(problem.sampling_noise(point).max() for point in points)


@once
def largest_dissimilarity(scenario: Scenario) -> Any:
    """The supremum over W of max_n ||grad f_n - grad f||^2; None where it is not known."""
    problem = scenario.problem
    points = scenario.start[None]
    if not bool((problem.client_hessian == problem.client_hessian[:1]).all()):
        found = extreme_points(scenario)
        if found is None:
            return None
        points = found
    return max(_squares(problem.client_gradient(w) - problem.gradient(w)).max() for w in points)


@once
def largest_gradient(scenario: Scenario) -> Any:
    """The supremum over W of max_n ||grad f_n||^2; None where it is not known."""
    points = extreme_points(scenario)
    return None if points is None else max(_squares(scenario.problem.client_gradient(w)).max() for w in points)


@once
def squared_diameter(scenario: Scenario) -> Any:
    """The largest squared distance of two points of W; None where it is not known."""
    points = extreme_points(scenario)
    return None if points is None else max(_squares(points - point).max() for point in points)


def _squares(vectors: Array) -> Array:
    return np.asarray((vectors * vectors).sum(axis=-1))


def _equal(hessians: Array, counts: Array) -> bool:
    return all(bool((own[: int(count)] == own[0]).all()) for own, count in zip(hessians, counts, strict=True))
