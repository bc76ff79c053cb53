"""The synthetic experiment of the PERM paper (section 4): what is stated, what is chosen, and how a method is run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Band, Progress
from validate.experiments import former as ex

# stated in section 4
DIM, SAMPLES = 60, 500
LOCAL_STEPS = 20  # stated for the run times; used throughout
# chosen
SPLIT = (300, 100, 100)  # of a client's 500 samples: training, validation, test
RIDGE, DEVIATION = 1e-3, 1.0  # of the logistic loss; of the entries of w (Sigma_w = I)
BATCH = 20  # M, samples of each client for the step of PERM's global model
INNER_STEPS = 3  # of pFedMe
STEPS = (0.03, 0.1, 0.3)
TUNING_STEPS = (3000, 300, 1000)
PROXIMAL_STEPS = 3000  # of pFedMe's clients for their models
PENALTIES = (0.1, 0.01, 0.001)
LAMS = (0.1, 10.0, 1.0)  # lam/n; in these three the values that are tried in a quick run come last
TUNING_SEED, DATA_SEED = 900, 100
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Attributes:
        clients: N.
        epochs: of PERM; every method gets N epochs rounds of communication.
        seeds: data sets of the comparison.
        tuned: data sets on which the steps are tuned, others than those.
        grid: how many values of each parameter are tried.
        swept: data sets of the sweeps.
        points: how often a curve is recorded.
        rounds: R of the rates.
        runs: of the rates.
        digits: whether the weights on handwritten digits are computed (they need scikit-learn).
    """

    clients: int = 50
    epochs: int = 8
    seeds: int = 8
    tuned: int = 1
    grid: int = 3
    swept: int = 3
    points: int = 4
    rounds: tuple[int, ...] = (64, 128, 256, 512)
    runs: int = 60
    digits: bool = True


FULL = Size()
QUICK = Size(clients=16, epochs=4, seeds=3, grid=2, swept=1, points=1, rounds=(24, 48, 72), runs=20, digits=False)


class Data(NamedTuple):
    """Where a run's data come from."""

    seed: int
    ridge: float = RIDGE
    deviation: float = DEVIATION


@dataclass(frozen=True)
class Method:
    """One of the methods compared.

    Attributes:
        key: short ASCII name.
        label: for legends and tables.
        make: (first, second, N) -> the algorithm of `sim`.
        second: what the second parameter is.
        values: what is tried for it; the first is the step, from `STEPS`.
        gradients: sample gradients of a client in a round of communication.
        seed: added to the data's.
    """

    key: str
    label: str
    make: Callable[[float, float, int], Any]
    second: str
    values: tuple[float, ...]
    gradients: int
    seed: int

    def grid(self, size: int) -> list[tuple[float, float]]:
        """The pairs of parameters that are tried: the last `size` steps with the last `size` values of the second."""
        return list(itertools.product(STEPS[-size:], self.values[-size:]))


class Result(NamedTuple):
    """Mean over clients at the recorded rounds (P,): on the test samples, and on the validation samples."""

    rounds: np.ndarray
    accuracy: np.ndarray
    loss: np.ndarray
    validation: np.ndarray


def mixing(clients: int, share: float, samples: int = SPLIT[0]) -> Callable[[Any, Any], Any]:
    """The exact solution of (2) as the step of `sim.algorithms.SingleLoopPERM`, for lam = share n.

    With equal n_j one projected gradient step of the length n/(2 lam) is exact, so T_alpha plays no part here.
    """
    from theory.mixing import mixing_weights

    return lambda z, alpha: mixing_weights(z, np.full(clients, samples), share * samples).weights


def methods() -> dict[str, Method]:
    """PERM and what it is compared with, by key."""
    from sim.algorithms import LocalisedFedAvg, LocalTraining, PerFedAvg, PFedMe, SingleLoopPERM

    K = LOCAL_STEPS
    found = (
        Method(
            "perm",
            "PERM, single loop",
            lambda step, share, N: SingleLoopPERM(step, BATCH, step, K, mixing(N, share)),
            "λ/n",
            LAMS,
            K,
            0,
        ),
        Method(
            "fedavg",
            "localised FedAvg",
            lambda step, tuning, N: LocalisedFedAvg(step, K, step, int(tuning)),
            "tuning steps",
            TUNING_STEPS,
            K,
            1,
        ),
        Method(
            "per-fedavg",
            "perFedAvg (first order)",
            lambda step, tuning, N: PerFedAvg(step, K, step, 1, int(tuning)),
            "tuning steps",
            TUNING_STEPS,
            2 * K,
            2,
        ),
        Method(
            "pfedme",
            "pFedMe",
            lambda step, penalty, N: PFedMe(step, K, penalty, step, INNER_STEPS, PROXIMAL_STEPS),
            "penalty",
            PENALTIES,
            INNER_STEPS * K,
            3,
        ),
        Method("local", "local training", lambda step, _, N: LocalTraining(step, K), "none", (0.0,), K, 4),
    )
    return {method.key: method for method in found}


@lru_cache(maxsize=2)
def problems(data: Data, clients: int) -> tuple[Any, Any, Any]:
    """Training, validation and test samples of the two populations."""
    from sim.problems import split_samples, two_population_logistic

    whole = two_population_logistic(clients, SAMPLES, DIM, data.ridge, data.seed, model_deviation=data.deviation)
    return split_samples(whole, SPLIT)  # type: ignore[return-value]


def measure(problem: Any, models: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy and logistic loss (without the ridge) of models (P, N, d), means over all samples: (P,) twice."""
    margins = problem.labels * np.einsum("nsd,pnd->pns", problem.features, models)
    right = np.where(margins == 0, 0.5, margins > 0)  # a model that cannot decide is right half of the time
    return right.mean(axis=(1, 2)), np.logaddexp(0.0, -margins).mean(axis=(1, 2))


def run_method(
    method: Method,
    choice: tuple[float, float],
    data: Data,
    size: Size,
    folder: Path,
    seed: int,
    *,
    points: int | None = None,
    rounds: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """One run of a method on one data set, or the one kept in `folder`.

    Args:
        method: which.
        choice: its two parameters.
        data: which data set.
        size: of the experiment.
        folder: of finished runs.
        seed: of the experiment.
        points: how often the baselines are recorded after the start (they pay for it: each time all clients tune);
            PERM is recorded after every epoch.
        rounds: of the baselines; N epochs by default.
    """
    total, times = rounds or size.clients * size.epochs, points or size.points
    every = max(1, total // times)
    total -= total % every
    algorithm = method.make(*choice, size.clients)
    settings = {"method": method.key, "choice": choice, "data": data._asdict(), "clients": size.clients, "seed": seed}
    settings |= {"dim": DIM, "split": SPLIT, "steps": LOCAL_STEPS, "batch": BATCH, "inner": INNER_STEPS}
    settings |= {"epochs": size.epochs} if method.key == "perm" else {"rounds": total, "every": every}

    def compute() -> Mapping[str, np.ndarray]:
        from sim import run_personalised, run_shuffling

        training, validation, test = problems(data, size.clients)
        options: Any = {"runs": 1, "seed": seed + 1000 * method.seed + data.seed, "metrics": ("iterate",)}
        if method.key == "perm":
            trace: Any = run_shuffling(algorithm, training, epochs=size.epochs, **options)
            at = size.clients * np.arange(size.epochs + 1)
        else:
            trace = run_personalised(algorithm, training, rounds=total, every=every, **options)
            at = np.arange(0, total + 1, every)
        accuracy, loss = measure(test, trace["iterate"][0])
        chosen = measure(validation, trace["iterate"][0])[1]
        return {"rounds": at, "accuracy": accuracy, "loss": loss, "validation": chosen}

    name = f"{method.key}-{choice[0]:g}-{choice[1]:g}-data{data.seed}-{data.ridge:g}-{data.deviation:g}-{total}-{every}"
    found = ex.stored(
        folder / f"{name}.npz",
        json.dumps(ex.plain(settings), sort_keys=True),
        compute,
        what=f"{method.label}, {choice[0]:g}, {choice[1]:g}, data set {data.seed}",
        progress=progress,
    )
    return Result(found["rounds"], found["accuracy"], found["loss"], found["validation"])


def tune(
    method: Method, size: Size, folder: Path, seed: int, progress: Progress | None = None
) -> dict[tuple[float, float], float]:
    """Validation loss after all rounds of every pair of the grid, mean over the data sets for tuning."""
    found = {}
    for choice in method.grid(size.grid):
        runs = [
            run_method(method, choice, Data(TUNING_SEED + s), size, folder, seed, points=1, progress=progress)
            for s in range(size.tuned)
        ]
        values = [float(run.validation[-1]) for run in runs]
        found[choice] = float(np.mean(values)) if np.isfinite(values).all() else float("inf")
    return found


def best(tuned: Mapping[tuple[float, float], float]) -> tuple[float, float]:
    """The pair with the smallest validation loss."""
    return min(tuned, key=lambda choice: tuned[choice])


def band(values: np.ndarray) -> Band:
    """The mean over data sets with its pointwise Student band. values: (S, ...), S >= 2."""
    from scipy.stats import t

    count = len(values)
    mean = values.mean(axis=0)
    half = float(t.isf((1 - CONFIDENCE) / 2, count - 1)) * values.std(axis=0, ddof=1) / np.sqrt(count)
    return Band(mean, mean - half, mean + half)


def settings(size: Size, quick: bool) -> tuple[str, ...]:
    """What was run: what the paper states, and what had to be chosen."""
    N, total = size.clients, size.clients * size.epochs
    return (
        f"As the paper states: d = {DIM}, {SAMPLES} samples a client, two classes, logistic regression; x ~ N(0.2, Σ) "
        "in the first half of the clients, N(-0.2, Σ) in the second, Σ_kk = k^-1.2; w has entries of mean 0.1; "
        f"y = sign(w'x), and sign(-w'x) in the second half. N = {N} clients"
        + (" (the paper: 50; this is the quick run)." if N != 50 else "."),
        f"Chosen: Σ_w = I, ridge {RIDGE:g}, no intercept, no projection, start at 0; of a client's samples the first "
        f"{SPLIT[0]} train, {SPLIT[1]} validate, {SPLIT[2]} test. {size.seeds} data sets, one run on each.",
        f"Chosen: K = {LOCAL_STEPS} local steps with one sample each (K is stated for the run times); M = {BATCH}, "
        "γ = η as in theorem 3; mixing weights solved exactly (T_α = ∞; with equal n_j one gradient step is exact).",
        "Rounds of communication: in each, every client works on one model and all models are exchanged once. An epoch "
        f"of Algorithm 1 is N = {N} of them; the step of the global model travels with the last. {size.epochs} epochs "
        f"are {total} rounds. All clients take part in every round.",
        "Tuning, alike for all: the step from "
        f"{_list(STEPS[-size.grid :])} with one parameter more, {size.grid} values each (tuning steps "
        f"{_list(TUNING_STEPS[-size.grid :])} of localised FedAvg and perFedAvg, whose local tuning has the same step; "
        f"penalty {_list(PENALTIES[-size.grid :])} of pFedMe, {INNER_STEPS} inner steps, {PROXIMAL_STEPS} for the "
        f"clients' models; λ/n {_list(LAMS[-size.grid :])} of PERM; local training has none), by the validation loss "
        f"after all rounds on {size.tuned} data set{'s' * (size.tuned > 1)} outside the comparison.",
        *(("Quick run: fewer clients, epochs, data sets and values of the grid.",) if quick else ()),
    )


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{v:g}" for v in sorted(values))
