"""The experiments of section V of the FedMIM paper: what is stated, and what is chosen here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

# stated in section V-A
CLIENTS, BATCH, DECAY, RIDGE = 100, 20, 0.998, 1e-3
STATED_STEP, STATED_SERVER, STATED_WEIGHT = 0.1, 0.1, 0.1
STATED_LAGS = ((0.6, 0.3), (0.9, 0.1))  # the best row of table III
# chosen; FedSAM's radius is not stated either
CLASSES, INPUTS, SAMPLES, TEST = 10, 10, 40, 50  # samples of a client; test samples of a class
SEPARATION, VARIANCES = 3.0, 1.0
STEPS, SMALL_STEPS = (0.1, 0.3, 1.0, 3.0), (0.003, 0.01, 0.03, 0.1)  # the small ones are FedAdam's
DATA_SEED, TUNING_SEED = 1_000, 900_000
CONFIDENCE = 0.99
DIVERGED = 1e6  # the excess of a run that has none, and the most that any run is given


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Attributes:
        sets: D, data sets of the comparison.
        runs: of each of them.
        rounds: T, a multiple of `every`.
        every: rounds from one recorded model to the next.
        tuned: other data sets, on which settings are tried.
        trial: runs of each of these for one setting.
        steps: how many steps are tried, the largest ones.
        values: how many values of a method's own parameter are tried.
        cells: which cells are run.
        lags: which rows of table III are run.
        processes: at most as many at the same time; None for one a core.
    """

    sets: int
    runs: int
    rounds: int
    every: int
    tuned: int
    trial: int
    steps: int
    values: int
    cells: tuple[Cell, ...]
    lags: tuple[Lags, ...]
    processes: int | None = None


@dataclass(frozen=True)
class Cell:
    """One setting of the data and of the rounds.

    Attributes:
        concentration: of the Dirichlet distribution of a client's class proportions; None for i.i.d. clients.
        selected: S of the N = 100 clients.
        epochs: E; K = E n / batch local steps.
    """

    concentration: float | None = 0.1
    selected: int = 10
    epochs: int = 5

    @property
    def key(self) -> str:
        """For files and columns."""
        return (
            f"{'iid' if self.concentration is None else f'dir{self.concentration:g}'}-s{self.selected}-e{self.epochs}"
        )

    @property
    def data(self) -> str:
        """The data in words."""
        return "i.i.d." if self.concentration is None else f"Dirichlet {self.concentration:g}"

    @property
    def label(self) -> str:
        """All of it in words."""
        return f"{self.data}, S = {self.selected}, E = {self.epochs}"

    @property
    def local_steps(self) -> int:
        """K."""
        return self.epochs * SAMPLES // BATCH


class Lags(NamedTuple):
    """A row of table III."""

    alpha: tuple[float, ...]
    beta: tuple[float, ...]

    @property
    def label(self) -> str:
        """As the paper's table has it."""
        if not self.alpha:
            return "none (FedAvg)"
        weights = " | ".join(" ".join(f"{w:g}" for w in part) or "-" for part in self)
        return f"{weights} (FedCM)" if len(self.alpha) == 1 else weights

    @property
    def key(self) -> str:
        """For files."""
        return "-".join(
            ["lags", *(f"{w:g}" for w in self.alpha), "b" * bool(self.beta), *(f"{w:g}" for w in self.beta)]
        )


BASE = Cell()
HETEROGENEITY = (Cell(None), Cell(0.3), BASE)
PARTICIPATION = tuple(Cell(selected=S) for S in (2, 5, 10, 20))
EPOCHS = tuple(Cell(epochs=E) for E in (1, 5, 10))
# table III: the lags, and the accuracy in percent that the paper reports for them on CIFAR-10
PRINTED = {
    Lags((), ()): 81.61,
    Lags((0.9,), ()): 84.14,
    Lags((0.5,), ()): 83.53,
    Lags((0.8, 0.1), ()): 84.29,
    Lags((0.6, 0.3), ()): 84.67,
    Lags((0.3, 0.6), ()): 83.86,
    Lags((0.6, 0.3), (0.9, 0.1)): 84.98,
    Lags((0.6, 0.3), (0.5, 0.5)): 84.42,
    Lags((0.6, 0.3), (0.1, 0.9)): 84.04,
}
LAGS = tuple(PRINTED)
FULL = Size(
    sets=7,
    runs=16,
    rounds=100,
    every=5,
    tuned=1,
    trial=16,
    steps=4,
    values=3,
    cells=tuple(dict.fromkeys((*HETEROGENEITY, *PARTICIPATION, *EPOCHS))),
    lags=LAGS,
)
QUICK = Size(
    sets=1,
    runs=16,
    rounds=30,
    every=5,
    tuned=1,
    trial=4,
    steps=3,
    values=1,
    cells=(HETEROGENEITY[0], BASE),
    lags=(LAGS[0], LAGS[1], LAGS[4], LAGS[6]),
    processes=1,
)


@dataclass(frozen=True)
class Method:
    """One of the methods compared.

    Attributes:
        key: short ASCII name.
        label: for legends and tables.
        make: (steps (T,), K, own parameter) -> the algorithm of `sim`.
        own: what the own parameter is, or "none".
        values: what is tried for it; the one that the paper states, or the nearest to it, comes first.
        series: colour and dash.
        steps: what is tried for the step.
    """

    key: str
    label: str
    make: Callable[[tuple[float, ...], int, float], Any]
    own: str
    values: tuple[float, ...]
    series: int
    steps: tuple[float, ...] = STEPS

    def grid(self, size: Size) -> list[tuple[float, float]]:
        """The pairs (step, own parameter) that are tried: as many for every method.

        A method without a parameter of its own tries more steps instead, in the same range.
        """
        steps = self.steps[-size.steps :]
        if self.own != "none":
            return [(step, value) for step in steps for value in self.values[: size.values]]
        return [(float(step), 0.0) for step in np.geomspace(steps[0], steps[-1], size.steps * size.values)]


def methods() -> dict[str, Method]:
    """FedMIM and what it is compared with, by key, in the paper's order."""
    from sim.algorithms import FedAdam, FedAvg, FedDyn, FedMIM, FedSAM, Scaffold, fedcm

    def inertial(steps: tuple[float, ...], K: int, total: float) -> Any:
        (first, second), beta = STATED_LAGS
        share = total / (first + second)
        return FedMIM(steps, K, alpha=(share * first, share * second), beta=beta, batch=BATCH)

    found = (
        Method(
            "fedavg",
            "FedAvg",
            lambda s, K, _: FedAvg(s, K, aggregation="normalised", empty="condition", batch=BATCH),
            "none",
            (0.0,),
            0,
        ),
        Method(
            "fedadam",
            "FedAdam",
            lambda s, K, v: FedAdam(s, K, server_step=v, batch=BATCH),
            "server step",
            (STATED_SERVER, 0.03, 0.3),
            1,
            SMALL_STEPS,
        ),
        Method(
            "scaffold",
            "SCAFFOLD",
            lambda s, K, v: Scaffold(s, K, server_step=v, batch=BATCH),
            "server step",
            (1.0, 0.5, 0.25),
            2,
        ),
        Method(
            "fedcm",
            "FedCM",
            lambda s, K, v: fedcm(s, K, v, batch=BATCH),
            "weight",
            (STATED_WEIGHT, 0.4, 0.7),
            3,
        ),
        Method(
            "feddyn",
            "FedDyn",
            lambda s, K, v: FedDyn(s, K, weight=v, batch=BATCH),
            "weight",
            (STATED_WEIGHT, 0.03, 0.3),
            4,
        ),
        Method(
            "fedsam",
            "FedSAM",
            lambda s, K, v: FedSAM(s, K, radius=v, batch=BATCH),
            "radius",
            (0.05, 0.01, 0.2),
            5,
        ),
        Method("fedmim", "FedMIM", inertial, "Σα", (sum(STATED_LAGS[0]), 0.6, 0.3), 6),
    )
    return {method.key: method for method in found}


def lag_method(lags: Lags) -> Method:
    """FedMIM with the lags of a row of table III, which has a step alone to tune."""
    from sim.algorithms import FedMIM

    def make(steps: tuple[float, ...], K: int, _: float) -> Any:
        return FedMIM(steps, K, alpha=lags.alpha, beta=lags.beta, batch=BATCH)

    return Method(lags.key, lags.label, make, "none", (0.0,), 0)


def algorithm(method: Method, choice: tuple[float, float], cell: Cell, rounds: int) -> Any:
    """The method with the step choice[0] x 0.998^t in round t and the own parameter choice[1]."""
    steps = tuple(float(step) for step in choice[0] * DECAY ** np.arange(rounds))
    return method.make(steps, cell.local_steps, choice[1])


def problem(concentration: float | None, seed: int) -> Any:
    """The clients' data of a seed. Those of all concentrations share class means and noise."""
    from sim.problems import dirichlet_label_skew

    return dirichlet_label_skew(
        CLIENTS, SAMPLES, CLASSES, INPUTS, concentration, RIDGE, seed, separation=SEPARATION, decay=VARIANCES
    )


def test_set(seed: int) -> Any:
    """Balanced test samples of the data of a seed."""
    from sim.problems import balanced_test_set

    return balanced_test_set(TEST, CLASSES, INPUTS, RIDGE, seed, separation=SEPARATION, decay=VARIANCES)


def data_settings() -> dict[str, Any]:
    """What decides the data, beside their seed and concentration."""
    return {
        "clients": CLIENTS,
        "samples": SAMPLES,
        "test": TEST,
        "classes": CLASSES,
        "inputs": INPUTS,
        "ridge": RIDGE,
        "separation": SEPARATION,
        "variances": VARIANCES,
    }
