"""What PERM's experiment comes to: the ranking, run times, sweeps, and the paper's statements put to the test."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from validate.experiment import Band, Table
from validate.experiments.two_populations.setting import (
    BATCH,
    DATA_SEED,
    DEVIATION,
    INNER_STEPS,
    LOCAL_STEPS,
    RIDGE,
    STEPS,
    Data,
    Method,
    Result,
    Size,
    band,
    problems,
)
from validate.experiments.two_populations.weights import SHARES, Federation, sparsity

Runs = Mapping[str, list[Result]]
Tuned = Mapping[str, Mapping[tuple[float, float], float]]


class Reference(NamedTuple):
    """Exact minimisers instead of a method, (S,) data sets: of a client's own data, its population's, and all."""

    own_accuracy: np.ndarray
    own_loss: np.ndarray
    pooled_accuracy: np.ndarray
    pooled_loss: np.ndarray
    global_accuracy: np.ndarray


class Times(NamedTuple):
    """Seconds a round of communication, by method, and of PERM without the global model and the weights."""

    seconds: dict[str, float]
    shuffling: float


def last(runs: list[Result], what: str) -> np.ndarray:
    """A quantity after all rounds, (S,)."""
    return np.array([getattr(run, what)[-1] for run in runs])


def curves(runs: list[Result], what: str) -> np.ndarray:
    """A quantity at the recorded rounds, (S, P)."""
    return np.array([getattr(run, what) for run in runs])


def leads(runs: Runs, what: str, rival: str) -> tuple[np.ndarray, np.ndarray]:
    """The ends of PERM's epochs (P,), and by how much it is better there than the rival when last recorded, (S, P)."""
    sign = 1 if what == "accuracy" else -1
    ours, theirs = runs["perm"], runs[rival]
    at = np.searchsorted(theirs[0].rounds, ours[0].rounds, side="right") - 1
    return ours[0].rounds, sign * (curves(ours, what) - curves(theirs, what)[:, at])


def ranking_table(runs: Runs, field: Mapping[str, Method], choices: Mapping[str, Any], reference: Reference) -> Table:
    """Accuracy and loss after all rounds, and the paired differences from PERM."""
    accuracy = {key: last(runs[key], "accuracy") for key in field}
    ranks = np.argsort(np.argsort([-accuracy[key] for key in field], axis=0), axis=0) + 1
    rows = []
    for at, (key, method) in enumerate(field.items()):
        loss = last(runs[key], "loss")
        gap = accuracy["perm"] - accuracy[key], loss - last(runs["perm"], "loss")
        ours = key == "perm"
        rows.append(
            (
                method.label,
                _chosen(method, choices[key]),
                interval(band(accuracy[key])),
                interval(band(loss)),
                "" if ours else interval(band(gap[0])),
                "" if ours else interval(band(gap[1])),
                "" if ours else f"{int((gap[0] > 0).sum())} of {len(loss)}",
                f"{ranks[at].mean():.1f}",
            )
        )
    for label, a, b in (
        ("(reference) minimiser on the client's own data", reference.own_accuracy, reference.own_loss),
        ("(reference) minimiser on its population's data", reference.pooled_accuracy, reference.pooled_loss),
    ):
        gap = accuracy["perm"] - a, b - last(runs["perm"], "loss")
        won = f"{int((gap[0] > 0).sum())} of {len(a)}"
        cells = (interval(band(a)), interval(band(b)), interval(band(gap[0])), interval(band(gap[1])), won, "")
        rows.append((label, "", *cells))
    return Table(
        "Personalised accuracy and loss on test samples, after all rounds",
        (
            "method",
            "tuned to",
            "accuracy",
            "loss",
            "accuracy of PERM above it",
            "loss of PERM below it",
            "PERM better",
            "mean rank",
        ),
        tuple(rows),
        f"Means over {len(accuracy['perm'])} data sets with 99% Student intervals; the differences are paired by data "
        "set. Mean rank by accuracy, 1 the best, references left out. The data sets differ in w, so the intervals of "
        "the means are wider than those of the differences.",
    )


def tuning_table(tuned: Tuned, field: Mapping[str, Method], size: Size) -> Table:
    """What the grid gave."""
    rows = []
    for key, found in tuned.items():
        choice = min(found, key=lambda c: found[c])
        steps, values = ({c[i] for c in found} for i in (0, 1))
        edges = [
            name
            for name, value, tried in (("step", choice[0], steps), (field[key].second, choice[1], values))
            if len(tried) > 1 and value in (min(tried), max(tried))
        ]
        rows.append(
            (
                field[key].label,
                str(len(found)),
                _chosen(field[key], choice),
                f"{found[choice]:.4f}",
                f"{max(found.values()):.4f}",
                ", ".join(edges) or "no",
            )
        )
    return Table(
        "Tuning on validation samples",
        ("method", "settings tried", "best", "its loss", "loss of the worst", "at an edge of the grid"),
        tuple(rows),
        f"Validation loss after all rounds, {size.tuned} data set{'s' * (size.tuned > 1)} that the comparison does not "
        f"use. Steps {', '.join(f'{s:g}' for s in STEPS[-size.grid :])}.",
    )


def measure_times(size: Size, field: Mapping[str, Method], choices: Mapping[str, Any], repeats: int = 5) -> Times:
    """Seconds a round of communication of one run, the least of some repetitions; without the clients' local tuning."""
    from sim import run_personalised, run_shuffling
    from sim.algorithms import LocalisedFedAvg, PerFedAvg, ShufflingSGD

    training = problems(Data(DATA_SEED), size.clients)[0]
    N, rounds = size.clients, 10
    step = choices["fedavg"][0]
    tested: dict[str, Any] = {"FedAvg": LocalisedFedAvg(step, LOCAL_STEPS, step, 0)}
    for method in field.values():
        if method.key != "fedavg":
            first, other = choices[method.key]
            tested[method.label] = method.make(first, other, N)
    tested["perFedAvg (second order)"] = PerFedAvg(step, LOCAL_STEPS, step, 2, 0)
    second = np.arange(N) >= N // 2
    alike = (second[:, None] == second).astype(float)
    weights: Any = alike / alike.sum(axis=1, keepdims=True)
    tested["shuffling"] = ShufflingSGD(0.1, LOCAL_STEPS, weights)
    best = dict.fromkeys(tested, float("inf"))
    for _ in range(repeats):  # in turn, so that a busy spell of the machine does not fall on one method
        for label, algorithm in tested.items():
            shuffled = label in (field["perm"].label, "shuffling")
            if hasattr(algorithm, "tuning_steps"):
                algorithm = replace(algorithm, tuning_steps=0)
            start = time.perf_counter()
            if shuffled:
                run_shuffling(algorithm, training, epochs=1, runs=1, metrics=())
            else:
                run_personalised(algorithm, training, rounds=rounds, runs=1, metrics=(), every=rounds)
            taken = (time.perf_counter() - start) / (N if shuffled else rounds)
            best[label] = min(best[label], taken)
    return Times({k: v for k, v in best.items() if k != "shuffling"}, best["shuffling"])


def time_table(times: Times, field: Mapping[str, Method], size: Size) -> Table:
    """Run time a round, beside the work that explains it."""
    K, N = LOCAL_STEPS, size.clients
    gradients = {m.label: str(m.gradients) for m in field.values()} | {"FedAvg": str(K)}
    gradients["perFedAvg (second order)"] = f"{2 * K}, and {K} Hessian-vector products"
    gradients[field["perm"].label] = f"{K}, and {BATCH} and a full gradient every {N} rounds"
    base = times.seconds["FedAvg"]
    rows = [(k, gradients[k], f"{1e3 * s:.2f}", f"{s / base:.2f}") for k, s in times.seconds.items()]
    rows.append(
        (
            "(part) PERM without global model and weights",
            str(K),
            f"{1e3 * times.shuffling:.2f}",
            f"{times.shuffling / base:.2f}",
        )
    )
    return Table(
        "Run time of a round of communication, measured in this run",
        ("method", "sample gradients a client", "ms a round", "over FedAvg"),
        tuple(rows),
        f"All N = {N} clients in one process of our simulator, K = {K}, one sample a gradient, no local tuning; the "
        f"least of five repetitions. An epoch of PERM is N rounds; pFedMe makes {INNER_STEPS} inner steps for each "
        "local one. Clock times differ from run to run and machine to machine.",
    )


def sweep_table(swept: Mapping[Data, Runs], size: Size) -> Table:
    """What becomes of PERM's lead under other choices of what the paper does not state. The Data have seed 0."""
    rows = []
    for data, runs in swept.items():
        ours, theirs = (last(runs[key][: size.swept], "accuracy") for key in ("perm", "local"))
        cells = f"{ours.mean():.4f}", f"{theirs.mean():.4f}", _each(ours - theirs)
        rows.append((f"{data.ridge:g}", f"{data.deviation:g}", *cells))
    return Table(
        "PERM and local training with another ridge and another Σ_w",
        ("ridge", "deviation of w", "accuracy of PERM", "of local training", "PERM above it, each data set"),
        tuple(rows),
        f"Accuracy after all rounds on {size.swept} data sets, too few for intervals. Steps and λ/n as tuned at ridge "
        f"{RIDGE:g} and deviation {DEVIATION:g}.",
    )


def lam_table(found: Mapping[float, list[Result]], weights: Mapping[str, tuple[Federation, np.ndarray, Any]]) -> Table:
    """PERM under other lam, which the paper does not state."""
    rows = []
    for share, runs in found.items():
        count, own = sparsity(weights["two-populations"][2][SHARES.index(share)])
        accuracy = last(runs, "accuracy")
        cells = f"{accuracy.mean():.4f}", _each(accuracy), f"{last(runs, 'loss').mean():.4f}"
        rows.append((f"{share:g}", *cells, f"{count:.1f}", f"{own:.2f}"))
    number = len(next(iter(found.values())))
    return Table(
        "PERM with other λ",
        ("λ/n", "accuracy", "each data set", "loss", "clients with a positive weight", "weight of a client's own data"),
        tuple(rows),
        f"{number} data sets, the tuned step. The last two columns: at the global model of one of the data sets.",
    )


def _chosen(method: Method, choice: tuple[float, float]) -> str:
    second = "" if method.second == "none" else f", {method.second} {choice[1]:g}"
    return f"step {choice[0]:g}{second}"


def _each(values: np.ndarray) -> str:
    return ", ".join(f"{v:.4f}" for v in values)


def interval(b: Band) -> str:
    return f"{float(b.value):.4f} [{float(b.lower):.4f}, {float(b.upper):.4f}]"
