"""The setting of section VI of Rostami and Kia: the problem, the algorithms, and what the paper leaves open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.moments import Point, Schedule, moments_of
from sim.moments.runs import DivergenceError
from validate.experiment import Contender

ROUNDS = 100
STEP = 1 / math.sqrt(100)
FEW = 20
MANY, MANY_QUICK = 2000, 200
CASES = ((5, 2), (10, 5))
PARTICIPATION_SEED = 2022
CONFIDENCE = 0.99
PAPER_CEP = {"svrg-5-2": 0.0029, "fedavg-5-2": 0.0059, "svrg-10-5": 0.0077, "fedavg-10-5": 0.0201}


def scaled_to_unit(problem: Any) -> Any:
    """The same least-squares problem with every feature and the target scaled to [0, 1] over all people.

    Args:
        problem: a `sim.problems.Quadratic` made from features and targets, with equal counts.

    Raises:
        ValueError: when the problem has no features, or agents of different size.
    """
    from sim.problems import least_squares

    if problem.features is None or problem.targets is None:
        raise ValueError("problem has no features and targets")
    if len(set(np.asarray(problem.counts).tolist())) != 1:
        raise ValueError(f"problem has agents of different size: counts={problem.counts}")

    def scaled(values: np.ndarray) -> np.ndarray:
        low, high = values.min(axis=(0, 1)), values.max(axis=(0, 1))
        return np.asarray((values - low) / (high - low))

    return least_squares(list(scaled(problem.features)), list(scaled(problem.targets)))


def probabilities(clients: int = 18) -> np.ndarray:
    """The participation probabilities p_n ~ U(0.3, 0.9), drawn once; the paper does not state its own. Shape (N,)."""
    return np.random.default_rng(PARTICIPATION_SEED).uniform(0.3, 0.9, clients)


def contenders() -> dict[str, Contender]:
    """The paper's algorithms in both cases, by key."""
    from sim.algorithms import FedAvg, FedAvgSVRG
    from sim.participation import Bernoulli, UniformChoice

    agents = Bernoulli(probabilities())
    found: list[Contender] = []
    for at, (snapshots, inner) in enumerate(CASES):
        case, steps, step = f"{snapshots}-{inner}", snapshots * inner, 1 / math.sqrt(ROUNDS)
        found += [
            Contender(f"svrg-{case}", "FedAvg-SVRG", FedAvgSVRG(STEP, snapshots, inner), agents, 10 * at),
            Contender(f"fedavg-{case}", "FedAvg, random participation [15]", FedAvg(step, steps), agents, 10 * at + 1),
            Contender(
                f"uniform-{case}",
                "FedAvg, 5 agents chosen uniformly [4]",
                FedAvg(step, steps, aggregation="normalised"),
                UniformChoice(5),
                10 * at + 2,
            ),
        ]
    return {c.key: c for c in found}


def expected(contender: Contender, problem: Any, start: np.ndarray, rounds: int = ROUNDS) -> np.ndarray:
    """The exact E f(theta^k) - f*, shape (K+1,).

    Raises:
        DivergenceError: where it leaves the range of float64.
        CancellationError: where it comes back from so far that rounding there hides what it comes back to.
    """
    program, parameters = _program(contender, problem.clients)
    found = moments_of(program, problem, parameters, start=start, rounds=rounds)
    H, best = problem.mean_hessian, problem.minimiser
    curve = []
    for k in range(rounds + 1):
        away = {Point("x", k): 1, None: -best}
        curve.append(found.dot(away, {Point("x", k): H, None: -H @ best}) / 2)
    _check_cancellation(np.array(curve))
    return np.array(curve, dtype=float)


def _program(contender: Contender, clients: int) -> tuple[Any, dict[str, Any]]:
    """The contender's round in the language, and its parameters."""
    from sim.algorithms import FedAvgSVRG
    from sim.participation import UniformChoice
    from theory.papers.algorithms import fedavg, fedavg_svrg
    from theory.papers.specs import local_sgd_unbiased

    method, present = contender.algorithm, contender.participation
    step = Schedule(method.step) if isinstance(method.step, tuple) else method.step
    if isinstance(present, UniformChoice):
        return fedavg.program, {"eta": step, "H": method.local_steps, "S": present.size}
    chances = list(np.broadcast_to(np.asarray(present.p, dtype=float), clients))
    if isinstance(method, FedAvgSVRG):
        return fedavg_svrg.program, {"delta": step, "p": chances, "S": method.snapshots, "M": method.inner}
    return local_sgd_unbiased.program, {"eta": step, "p": chances, "H": method.local_steps}


class CancellationError(ValueError):
    """The moments grew so far before they came back that rounding at their peak hides what they came back to."""


# A fall from a peak far above the start to less than this fraction of it is within reach of float64's 1e-16, once the
# dozen digits' worth of operations in between are counted. A plain decay from the start is not: it keeps its digits.
FALL = 1e-11
RISE = 1e6


def _check_cancellation(curve: np.ndarray) -> None:
    size = np.abs(curve)
    peak = np.maximum.accumulate(size)
    lost = (size < FALL * peak) & (peak > RISE * size[0])
    if lost.any():
        k = int(np.argmax(lost))
        raise CancellationError(f"it rises to {peak[k]:.3g} and is back at {size[k]:.3g} in round {k}")


def expected_or_infinite(contender: Contender, problem: Any, start: np.ndarray, rounds: Sequence[int]) -> list[float]:
    """The exact E f(theta^k) - f* at some rounds.

    inf where it has left the range of float64; nan where it has come back from a value so large that rounding there
    hides it.
    """
    found = []
    for k in rounds:
        try:
            curve = expected(contender, problem, start, k)
        except DivergenceError:
            found.append(math.inf)
        except CancellationError:
            found.append(math.nan)
        else:
            found.append(float(curve[-1]))
    return found


def settings(problem: Any, many: int) -> tuple[str, ...]:
    """What was run: what the paper states, and what had to be chosen."""
    p = probabilities()
    return (
        "As the paper states: 900 people, 18 agents of 50, 5 features, f_{n,i}(θ) = (qθ − y)², θ⁰ = 0.5 in every "
        "entry, K = 100 rounds, δ = 1/√100 = 0.1, (S, M) = (5, 2) and (10, 5), 20 runs.",
        "Data: the paper's medical-insurance data are not published. Ours are 900 people of the RAND Health Insurance "
        "Experiment (6 sites, 3 agents a site). Every column is scaled to [0, 1]: with standardised columns the "
        "paper's step is too large (see the table of scales).",
        f"Optimal cost: {problem.optimal_value:.4f} here; the paper states 0.01 for its data. "
        f"L = {problem.smoothness:.3g}, μ = {problem.strong_convexity:.2g}, f(θ⁰) − f* = "
        f"{float(problem.cost(np.full(problem.dim, 0.5)) - problem.optimal_value):.3g}.",
        f"Participation: the paper does not state p_n. Here p_n ~ U(0.3, 0.9), drawn once (seed {PARTICIPATION_SEED}): "
        f"from {p.min():.2f} to {p.max():.2f}, mean of 1/p_n {np.mean(1 / p):.2f}.",
        "FedAvg of [15]: one-sample SGD with S·M local steps, so that it moves as often as FedAvg-SVRG (which also "
        "pays for S full gradients), unbiased aggregation, and the step 1/√K read as constant in k. "
        "With K = 100 that is 0.1, the very step of FedAvg-SVRG.",
        "FedAvg of [4]: 5 of the 18 agents uniformly, plain average of their models, the same step and local steps.",
        f"The truth is {many:,} runs a curve with pointwise 99% bands; the first 20 of them are the paper's 20. "
        "Algorithms use independent random numbers.",
    )
