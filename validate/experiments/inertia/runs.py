"""How the methods are tuned and run in the cells of FedMIM's experiments, and what is kept of the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Progress
from validate.experiments import former as ex
from validate.experiments.inertia import setting
from validate.experiments.inertia.setting import DATA_SEED, DIVERGED, TUNING_SEED, Cell, Lags, Method, Size
from validate.parallel import over_processes


class Job(NamedTuple):
    """A method in a cell.

    Attributes:
        cell: the data and the rounds.
        key: of the method, in `setting.methods`.
        lags: in place of the method, FedMIM with the lags of a row of table III.
        step: with this step and the paper's parameter in place of tuned ones; None for tuned ones.
    """

    cell: Cell
    key: str = "fedmim"
    lags: Lags | None = None
    step: float | None = None

    @property
    def method(self) -> Method:
        """What is run."""
        return setting.methods()[self.key] if self.lags is None else setting.lag_method(self.lags)

    @property
    def label(self) -> str:
        """In words."""
        return f"{self.method.label}, {self.cell.label}{'' if self.step is None else f', step {self.step:g}'}"


class Tuned(NamedTuple):
    """What tuning gave: the pairs tried (G, 2), and their geometric mean excess after all rounds (G,)."""

    tried: np.ndarray
    excess: np.ndarray

    @property
    def best(self) -> tuple[float, float]:
        """The pair with the least excess."""
        step, own = self.tried[int(np.argmin(self.excess))].tolist()
        return step, own


class Result(NamedTuple):
    """A method in a cell: R runs, data set by data set, at P recorded rounds; the consistency at all of 0..T.

    Attributes:
        choice: the step of round 0, and the own parameter.
        tuned: how they were chosen; None where they are the paper's.
        rounds: (P,).
        excess: (R, P), f(x_t) - f*, at most `DIVERGED`.
        accuracy: (R, P), share of the balanced test set.
        consistency: (R, T+1), at most `DIVERGED`.
    """

    choice: tuple[float, float]
    tuned: Tuned | None
    rounds: np.ndarray
    excess: np.ndarray
    accuracy: np.ndarray
    consistency: np.ndarray


Found = Mapping[Job, Result]


# FedAvg with a step as short as FedMIM's is, with the paper's step and lags
SHORT = Job(setting.BASE, "fedavg", step=round((1 - sum(setting.STATED_LAGS[0])) * setting.STATED_STEP, 12))


def jobs(size: Size) -> list[Job]:
    """All that is run: every method in every cell, the rows of table III, and what has the paper's step."""
    found = [Job(cell, key) for cell in size.cells for key in setting.methods()]
    found += [lag_job(lags) for lags in size.lags]
    found += [Job(setting.BASE, key, step=setting.STATED_STEP) for key in setting.methods()]
    found.append(SHORT)
    return list(dict.fromkeys(found))


def lag_job(lags: Lags) -> Job:
    """A row of table III; the row without lags is FedAvg."""
    return Job(setting.BASE, "fedavg") if not lags.alpha else Job(setting.BASE, lags=lags)


def run_all(size: Size, folder: Path, seed: int, progress: Progress | None = None) -> dict[Job, Result]:
    """Run every job, or read what is finished."""
    found = jobs(size)

    def said(what: Sequence[str]) -> Any:
        count = iter(range(1, len(what) + 1))
        return lambda at: progress(f"{what[at]}: finished, {next(count)} of {len(what)}") if progress else None

    data = list(dict.fromkeys(job.cell.concentration for job in found))
    sets = _seeds(DATA_SEED, size.sets), _seeds(TUNING_SEED, size.tuned)
    least = [(concentration, seeds, folder) for concentration in data for seeds in sets]
    over_processes(
        optimum,
        least,
        processes=size.processes,
        done=said([f"least objective, {Cell(a).data}, {len(seeds)} data sets" for a, seeds, _ in least]),
    )
    # the longest first, so that no process is left with one at the end
    order = sorted(found, key=lambda job: -job.cell.selected * job.cell.epochs * (1 + (job.key == "fedsam")))
    results = over_processes(
        run_job,
        [(job, size, folder, seed) for job in order],
        processes=size.processes,
        done=said([job.label for job in order]),
    )
    both = dict(zip(order, results, strict=True))
    return {job: both[job] for job in found}


def run_job(job: Job, size: Size, folder: Path, seed: int) -> Result:
    """Tune, and run the comparison."""
    method, cell = job.method, job.cell
    tuned = tune(method, cell, size, folder, seed) if job.step is None else None
    choice = (job.step or 0.0, method.values[0]) if tuned is None else tuned.best
    seeds, every = _seeds(DATA_SEED, size.sets), size.every
    found = ex.stored(
        folder / f"{cell.key}-{method.key}{'' if job.step is None else f'-step{job.step:g}'}.npz",
        _settings(method, [choice], cell, size, size.runs, seeds, every, seed),
        lambda: simulate(method, choice, cell, size, size.runs, seeds, every, folder, seed),
        what=job.label,
    )
    rounds = np.arange(0, size.rounds + 1, every)
    return Result(choice, tuned, rounds, found["excess"], found["accuracy"], found["consistency"])


def tune(method: Method, cell: Cell, size: Size, folder: Path, seed: int) -> Tuned:
    """Every pair of the grid, on data and random numbers that the comparison does not use, or what is kept."""
    grid, seeds, every = method.grid(size), _seeds(TUNING_SEED, size.tuned), size.rounds

    def compute() -> Mapping[str, np.ndarray]:
        arguments = (size, size.trial, seeds, every, folder, seed)
        tried = [simulate(method, choice, cell, *arguments)["excess"] for choice in grid]
        return {"excess": np.exp([np.log(excess[:, -1]).mean() for excess in tried])}

    found = ex.stored(
        folder / f"{cell.key}-{method.key}-tuning.npz",
        _settings(method, grid, cell, size, size.trial, seeds, every, seed),
        compute,
        what=f"{method.label}, {cell.label}: tuning",
    )
    return Tuned(np.array(grid), found["excess"])


def optimum(concentration: float | None, seeds: Sequence[int], folder: Path) -> np.ndarray:
    """f* of the data of these seeds, or what is kept: (R,)."""
    data = Cell(concentration).key.split("-")[0]
    found = ex.stored(
        folder / f"optimum-{data}-{seeds[0]}-{len(seeds)}.npz",
        json.dumps(ex.plain({"concentration": concentration, "seeds": seeds, **setting.data_settings()})),
        lambda: {"least": np.array([setting.problem(concentration, seed).optimal_value for seed in seeds])},
        what=f"least objective, {data}",
    )
    return found["least"]


def simulate(
    method: Method,
    choice: tuple[float, float],
    cell: Cell,
    size: Size,
    count: int,
    seeds: Sequence[int],
    every: int,
    folder: Path,
    seed: int,
) -> dict[str, np.ndarray]:
    """The last three arrays of `Result`: `count` runs on the data of each of the seeds, one data set after the other.

    The simulator's runs have the same numbers for all methods: they are paired in data, in who takes part, and in the
    samples drawn.
    """
    from sim import run
    from sim.participation import UniformChoice

    least = optimum(cell.concentration, seeds, folder)
    made = setting.algorithm(method, choice, cell, size.rounds)
    rows: dict[str, list[np.ndarray]] = {"excess": [], "accuracy": [], "consistency": []}
    for number, best in zip(seeds, least, strict=True):
        data, test = setting.problem(cell.concentration, number), setting.test_set(number)
        trace = run(
            made,
            data,
            UniformChoice(cell.selected),
            rounds=size.rounds,
            runs=count,
            first_run=number * count,
            seed=seed,
            metrics=("iterate", "local_consistency"),
        )
        for models in trace["iterate"][:, ::every]:
            excess = objective(data, models) - best
            # rounding can take the excess of a very good model to 0 or below it
            rows["excess"].append(np.clip(np.nan_to_num(excess, nan=DIVERGED), 1e-16, DIVERGED))
            rows["accuracy"].append(accuracy(test, models))
        rows["consistency"] += list(np.minimum(np.nan_to_num(trace["local_consistency"], nan=DIVERGED), DIVERGED))
    return {name: np.array(values) for name, values in rows.items()}


def objective(data: Any, models: np.ndarray) -> np.ndarray:
    """(P,), the objective f of models (P, C d) on all samples of a `RidgeSoftmax`; inf where it or the model is not
    finite."""
    columns, labels = _samples(data)
    own = labels, np.arange(len(labels))
    cost = np.full(len(models), np.inf)
    for p in _measurable(models):  # one at a time: its logits stay in the second-level cache
        logits = models[p].reshape(data.classes, data.inputs) @ columns
        top = logits.max(axis=0)
        ahead = top - logits[own]
        logits -= top
        entropy = np.log(np.exp(logits, out=logits).sum(axis=0)) + ahead
        cost[p] = entropy.mean() + data.ridge / 2 * np.square(models[p]).sum()
    return cost


def accuracy(data: Any, models: np.ndarray) -> np.ndarray:
    """(P,), the share of all samples of a `RidgeSoftmax` that models (P, C d) classify right; 0 where a model is not
    finite. Of several classes with the largest logit the first is taken."""
    columns, labels = _samples(data)
    share = np.zeros(len(models))
    for p in _measurable(models):
        logits = models[p].reshape(data.classes, data.inputs) @ columns
        share[p] = (logits.argmax(axis=0) == labels).mean()
    return share


def _samples(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """All clients' features (d, N n), and labels (N n,)."""
    return np.ascontiguousarray(data.features.reshape(-1, data.inputs).T), data.labels.ravel()


def _measurable(models: np.ndarray) -> np.ndarray:
    """The numbers of the models whose squares are finite; not so of those that hold nan."""
    return np.flatnonzero(np.abs(models).max(axis=1) < 1e100)


def _seeds(first: int, count: int) -> tuple[int, ...]:
    return tuple(range(first, first + count))


def _settings(
    method: Method,
    choices: Sequence[tuple[float, float]],
    cell: Cell,
    size: Size,
    count: int,
    seeds: Sequence[int],
    every: int,
    seed: int,
) -> str:
    """Everything that decides the result, as text."""
    settings = {
        "algorithms": [setting.algorithm(method, choice, cell, 1) for choice in choices],
        "decay": setting.DECAY,
        "cell": cell,
        "rounds": size.rounds,
        "every": every,
        "runs": count,
        "seed": seed,
        "seeds": seeds,
        **setting.data_settings(),
    }
    return json.dumps(ex.plain(settings), sort_keys=True)
