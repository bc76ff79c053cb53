"""The settings of section IV of the open-fl paper and of its supplement: what is stated, and what is chosen here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from validate.experiment import Progress
from validate.experiments import former as ex

# stated in section IV-A
DIM, SAMPLES, INITIAL = 100, 100, 10
RIDGE, SPREAD = 0.01, 2.0
CHANGES = (0.0, 0.2, 0.5, 1.0)  # "different p": p = 0 and p near 1 are named
BETA1, BETA2, EPS = 0.9, 0.999, 1e-3
STEPS = {"sgd": 1.0, "adam": 0.1}
# chosen: "different lambda", "different sigma", and the rest of the algorithm
RIDGES = (0.001, 0.01, 0.1, 1.0)
SPREADS = (0.5, 1.0, 2.0, 4.0)
LOCAL_STEPS, BATCH = 5, 10
DATA_SEED = 2022

LABELS = {"sgd": "local SGD", "adam": "local Adam"}
DIGIT_STEPS, DIGIT_EPS = {"sgd": 0.05, "adam": 0.005}, 1e-8
DIGIT_RIDGES, DIGIT_CHANGES = (0.001, 0.01, 0.1), (0.0, 0.5, 1.0)
CONFIDENCE = 0.99
# figure -> what is varied, and what is fixed
FIGURES = {
    "2": ("λ", "p = 1, σ = 2."),
    "3": ("p", "λ = 0.01, σ = 2."),
    "4": ("σ", "p = 1, λ = 0.01."),
    "5": ("λ", "p = 1."),
    "6": ("p", "λ = 0.01 (not stated)."),
}


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Attributes:
        pool: N, clients of the synthetic data.
        rounds: K.
        runs: R of each setting.
        replayed: runs of Adam whose every sampled gradient is measured.
        digit_pool, digit_rounds, digit_runs: the same of the digits.
        sweep: other choices of local steps and minibatches.
    """

    pool: int = 1000
    rounds: int = 300
    runs: int = 100
    replayed: int = 3
    digit_pool: int = 600
    digit_rounds: int = 120
    digit_runs: int = 10
    sweep: tuple[tuple[int, int | None], ...] = ((1, 10), (10, 10), (5, None))


FULL = Size()
QUICK = Size(100, rounds=80, runs=12, replayed=1, digit_pool=60, digit_rounds=30, digit_runs=2, sweep=((10, 10),))


@dataclass(frozen=True)
class Case:
    """One setting. `change` is the paper's p; `step` None is the paper's, which is also the default of the others.

    Attributes:
        kind: "sgd" or "adam".
        ridge: lambda.
        change: p, of leaving and of joining.
        spread: the standard deviation of the data within a class; None for the digits.
        local_steps: between communications.
        batch: samples a gradient; None for all of them.
        step: eta; None for the paper's.
        radius: the norm of theta^0, which has equal entries.
    """

    kind: str
    ridge: float = RIDGE
    change: float = 1.0
    spread: float | None = SPREAD
    local_steps: int = LOCAL_STEPS
    batch: int | None = BATCH
    step: float | None = None
    radius: float = 0.0

    @property
    def key(self) -> str:
        """Name of the file."""
        data = "digits" if self.spread is None else f"spread{self.spread:g}"
        parts = [self.kind, data, f"ridge{self.ridge:g}", f"p{self.change:g}", f"m{self.local_steps}"]
        parts += [f"b{self.batch or 'all'}", *([f"step{self.step:.4g}"] if self.step else [])]
        return "-".join([*parts, *([f"from{self.radius:.4g}"] if self.radius else [])])

    @property
    def algorithm(self) -> Any:
        """The `sim` algorithm."""
        from sim.algorithms import LocalAdam, LocalSGD

        steps, eps = (DIGIT_STEPS, DIGIT_EPS) if self.spread is None else (STEPS, EPS)
        step = self.step or steps[self.kind]
        if self.kind == "sgd":
            return LocalSGD(step, self.local_steps, self.batch)
        return LocalAdam(step, self.local_steps, self.batch, BETA1, BETA2, eps)

    def population(self, pool: int) -> Any:
        """Ten clients at first; one leaves with probability p, one joins with probability p, in each round."""
        from sim.population import OpenPopulation

        return OpenPopulation(pool, INITIAL, leave=self.change, join=self.change)

    def start(self, dim: int) -> np.ndarray:
        """theta^0, shape (d,)."""
        return np.full(dim, self.radius / math.sqrt(dim))


@lru_cache(maxsize=1)
def problem(spread: float | None, ridge: float, pool: int) -> Any:
    """The pool's data. Those of different spreads and ridges have the same class means and the same noise."""
    from sim.problems import digits, ridge_logistic

    if spread is None:
        return digits(pool, SAMPLES, ridge, DATA_SEED)
    return ridge_logistic(pool, SAMPLES, DIM, spread, ridge, DATA_SEED)


def simulate(
    case: Case, size: Size, folder: Path, seed: int, progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """The "norm" of the global iterate, how many are "present", and for the digits the "loss", each (R, K+1).

    What is finished is kept in `folder`. All settings share the seed, so that run r meets the same clients in the same
    order in all of them: differences between settings are paired by run.
    """
    pool, rounds, runs = size.pool, size.rounds, size.runs
    if case.spread is None:
        pool, rounds, runs = size.digit_pool, size.digit_rounds, size.digit_runs
    settings = {"case": case, "algorithm": case.algorithm, "population": case.population(pool), "data": DATA_SEED}
    settings |= {"rounds": rounds, "runs": runs, "seed": seed, "dim": DIM, "samples": SAMPLES}

    def compute() -> Mapping[str, np.ndarray]:
        from sim import run_open

        data = problem(case.spread, case.ridge, pool)
        trace = run_open(
            case.algorithm,
            data,
            case.population(pool),
            rounds=rounds,
            runs=runs,
            seed=seed,
            start=case.start(data.dim),
            metrics=("squared_iterate_norm", "present", *(("global_loss",) if case.spread is None else ())),
        )
        found = {"norm": np.sqrt(trace["squared_iterate_norm"]), "present": trace["present"]}
        return found | ({"loss": trace["global_loss"]} if case.spread is None else {})

    return ex.stored(
        folder / f"{case.key}-{runs}.npz",
        json.dumps(ex.plain(settings), sort_keys=True),
        compute,
        what=f"{case.key}: {runs} runs of {rounds} rounds",
        progress=progress,
    )


def families() -> dict[str, dict[str, dict[str, Case]]]:
    """The cases of figures 2, 3 and 4: figure -> algorithm -> label -> case."""
    return {
        "2": {kind: {f"λ = {ridge:g}": Case(kind, ridge=ridge) for ridge in RIDGES} for kind in STEPS},
        "3": {kind: {f"p = {change:g}": Case(kind, change=change) for change in CHANGES} for kind in STEPS},
        "4": {kind: {f"σ = {spread:g}": Case(kind, spread=spread) for spread in SPREADS} for kind in STEPS},
    }


def digit_families() -> dict[str, dict[str, dict[str, Case]]]:
    """The cases of figures 5 and 6, on digits."""
    bare = {kind: Case(kind, spread=None) for kind in STEPS}
    return {
        "5": {k: {f"λ = {ridge:g}": replace(c, ridge=ridge) for ridge in DIGIT_RIDGES} for k, c in bare.items()},
        "6": {k: {f"p = {change:g}": replace(c, change=change) for change in DIGIT_CHANGES} for k, c in bare.items()},
    }


def sweep(size: Size) -> dict[tuple[str, int, int | None], tuple[Case, Case]]:
    """Other choices of what the paper leaves open, each at p = 0 and p = 1; the choice of the figures first."""
    choices = ((LOCAL_STEPS, BATCH), *size.sweep)
    return {
        (kind, steps, batch): (
            Case(kind, change=0.0, local_steps=steps, batch=batch),
            Case(kind, local_steps=steps, batch=batch),
        )
        for kind in STEPS
        for steps, batch in choices
    }


def missing_digits() -> bool:
    """Whether scikit-learn, which brings the digits, is not installed."""
    return find_spec("sklearn") is None


def sentences(size: Size, smoothness: float) -> tuple[str, ...]:
    """What was run: what the paper states, and what had to be chosen. smoothness: L at lambda = 0.01 and spread 2."""
    return (
        f"As the paper states: d = 100, 100 samples a client, N₀ = 10 clients at first, λ = {RIDGE}, σ = {SPREAD:g} "
        f"and p = 1 where they are not varied, local SGD with η = 1, local Adam with β₁ = 0.9, β₂ = 0.999, ε = 0.001, "
        "η = 0.1; at most one client leaves and at most one joins in a round, each with probability p; who joins waits "
        "for the next broadcast.",
        f"Size: a pool of {size.pool:,} clients (the paper: 1,000), {size.runs} runs (the paper: 100), {size.rounds} "
        "rounds (not stated; at p = 1 a pool of 1,000 lasts 990).",
        f"Not stated and chosen: {LOCAL_STEPS} local steps between communications, minibatches of {BATCH} with "
        "replacement, θ⁰ = 0, half of a client's samples in each class, class means common to all clients, the last "
        "client never leaves. Local steps and minibatches are swept in a table.",
        f"'Different λ' are here {_list(RIDGES)}; 'different p' {_list(CHANGES)}; 'different σ' {_list(SPREADS)}.",
        "The text says that figure 4 shows different p at σ = 2; its caption and its discussion say σ. It is read as "
        "different σ at p = 1.",
        f"All settings share their random numbers and, but for σ, their data: run r meets the same clients in the same "
        f"order in each of them. At λ = {RIDGE} and σ = {SPREAD:g}: L = {smoothness:.3g}, 1/L = {1 / smoothness:.2g}.",
        f"Digits: scikit-learn's 1,797 images of 8 × 8 pixels in place of MNIST (d = 64 in place of 784), drawn with "
        f"replacement to {size.digit_pool} clients of 100 (the paper: 600); multinomial logistic regression with ten "
        f"classes; η = 0.05 for SGD, η = 0.005 and ε = 10⁻⁸ for Adam, as stated; {size.digit_runs} runs of "
        f"{size.digit_rounds} rounds, {LOCAL_STEPS} local steps, minibatches of {BATCH} (not stated). The "
        "convolutional networks of figures 7 and 8 are not run.",
    )


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)
