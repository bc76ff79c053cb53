"""Section V of Liu et al.: FedMIM and six baselines on a strongly convex problem with label skew.

Tables I to III and figures 2a and 2b of the paper, and what it says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from theory.program import algorithm
from validate.drawing import Axes, Panel
from validate.experiment import Array, Band, Table
from validate.experiments.declared import chosen, shown, sized, stated
from validate.experiments.example import Example
from validate.experiments.figures import Curves, Figure, curve
from validate.experiments.kept import Job, Work
from validate.experiments.methods import Choice, Method, Tuned, tuned, tuning_table
from validate.experiments.outcomes import Outcome, best, rank_text
from validate.experiments.sentences import Held, Sentence, judged, sentence_table
from validate.ranking import Ranks, student_band

DIVERGED = 1e6  # the excess of a run that has none, and the most that any run is given
TARGET = 0.05  # an excess, for the rounds until it is reached


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


@dataclass(frozen=True)
class Setting:
    """Section V-A, and what stands in place of images and networks."""

    clients: int = stated(100, "N = {} clients, class proportions i.i.d., Dirichlet 0.3 or 0.1")
    selected: tuple[int, ...] = stated((2, 5, 10, 20), "participation {} percent")
    epochs: tuple[int, ...] = stated((1, 5, 10), "E = {} local epochs")
    batch: int = stated(20, "batches of {}")
    ridge: float = stated(1e-3, "weight decay {} (the ridge of the objective)")
    decay: float = stated(0.998, "steps times {} a round, the global step 1 but for FedAdam")
    step: float = stated(0.1, "step {} throughout")
    lags: Lags = stated(LAGS[6], "(α, β) = {}, the best row of table III")  # noqa: RUF009
    weight: float = stated(0.1, "FedAdam's server step, FedDyn's weight and 1 - α of FedCM {}")
    classes: int = chosen(10, "softmax regression on {} normal classes, with an intercept")
    inputs: int = chosen(10, "in {} dimensions")
    separation: float = chosen(3.0, "root mean square distance of the class means {} standard deviations")
    variances: float = chosen(1.0, "variances k^-{} along coordinate k")
    samples: int = chosen(40, "{} samples a client")
    test: int = chosen(50, "a balanced test set of {} samples a class")
    data_seed: int = 1_000
    tuning_seed: int = 900_000


GIVEN = Setting()


class Cell(NamedTuple):
    """One setting of the data and of the rounds.

    Attributes:
        concentration: of the Dirichlet distribution of a client's class proportions; None for i.i.d. clients.
        selected: S of the N clients.
        epochs: E; K = E n / batch local steps.
    """

    concentration: float | None = 0.1
    selected: int = 10
    epochs: int = 5

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
        return self.epochs * GIVEN.samples // GIVEN.batch


BASE = Cell()
FAMILIES = {
    "heterogeneity": (Cell(None), Cell(0.3), BASE),
    "participation": tuple(Cell(selected=S) for S in GIVEN.selected),
    "local epochs": tuple(Cell(epochs=E) for E in GIVEN.epochs),
}


@dataclass(frozen=True)
class Size:
    """How much is simulated."""

    sets: int = sized(7, "data sets of the comparison {}")
    runs: int = sized(16, "runs on each of them {}")
    rounds: int = sized(100, "T = {} rounds from 0 (the paper: 500 and 1,000, and one number without an interval)")
    every: int = 5  # rounds from one recorded model to the next
    tuned: int = sized(1, "other data sets, for tuning, {}")
    trial: int = sized(16, "runs on each of these {}")
    steps: int = sized(4, "steps that are tried of every method {}")
    values: int = sized(3, "values of its own parameter {}")
    cells: tuple[Cell, ...] = tuple(dict.fromkeys(cell for family in FAMILIES.values() for cell in family))
    lags: tuple[Lags, ...] = LAGS
    processes: int | None = None  # at most as many at the same time; None for one a core

    @property
    def families(self) -> dict[str, list[Cell]]:
        """The paper's comparisons of which at least two cells are run."""
        found = {name: [cell for cell in cells if cell in self.cells] for name, cells in FAMILIES.items()}
        return {name: cells for name, cells in found.items() if len(cells) > 1}


# --- methods ---------------------------------------------------------------------------------------------------------

STEPS, SMALL_STEPS = (0.1, 0.3, 1.0, 3.0), (0.003, 0.01, 0.03, 0.1)  # the small ones are FedAdam's
Make = Callable[..., "Rounds"]


class Rounds(NamedTuple):
    """A round's program and its parameters, but for S."""

    program: Any
    parameters: dict[str, Any]


def apart(w: Any, x: Any, y: Any, new: Any, active: Any) -> Any:
    """Whose coordinates sum to (1/S) sum ||y_n - new||^2 over those who take part, by how all of them moved from x."""
    moved, step = y - x, new - x
    return w.average(w.times(moved, moved), active) + w.times(step, step - 2 * w.average(moved, active))


@algorithm(x="x0", spread="0")
def fedavg_round(w: Any, x: Any, spread: Any, *, eta: Any, b: Any, H: Any, S: Any) -> Any:
    """McMahan et al. (2017)."""
    active, y = w.choose(S), w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample(b))
    new = w.average(y, active)
    return new, apart(w, x, y, new, active)


@algorithm(x="x0", m="0", u="0", spread="0")
def fedadam_round(w: Any, x: Any, m: Any, u: Any, spread: Any, *, eta: Any, eta_g: Any, b: Any, H: Any, S: Any) -> Any:
    """Reddi et al. (2021), Algorithm 2, beta1 = 0.9, beta2 = 0.99, tau = 0.001; v = u + beta2**k*tau**2."""
    active, y, beta, tau = w.choose(S), w.each(x), Fraction(99, 100), Fraction(1, 1000)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample(b))
    move = w.average(y - x, active)
    m, u = Fraction(9, 10) * m + Fraction(1, 10) * move, beta * u + (1 - beta) * w.times(move, move)
    v = u + beta ** (w.k + 1) * tau**2 * w.ones()
    new = x + eta_g * w.over(m, w.sqrt(v) + tau * w.ones())
    return new, m, u, apart(w, x, y, new, active)


@algorithm(x="x0", c="each 0", spread="0")
def scaffold_round(w: Any, x: Any, c: Any, spread: Any, *, eta: Any, eta_g: Any, b: Any, H: Any, S: Any) -> Any:
    """Karimireddy et al. (2020), Algorithm 1, option II; the server's control is the mean of the c."""
    active, y, common = w.choose(S), w.each(x), w.mean(c)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y, w.sample(b)) - c + common)
    new = x + eta_g * w.average(y - x, active)
    return new, w.where(active, c - common + (x - y) / (H * eta), c), apart(w, x, y, new, active)


@algorithm(x="x0", g="each 0", h="0", spread="0")
def feddyn_round(w: Any, x: Any, g: Any, h: Any, spread: Any, *, eta: Any, a: Any, b: Any, H: Any, S: Any) -> Any:
    """Acar et al. (2021), Algorithm 1, with local steps in place of the local minimisers; a is its alpha."""
    active, y = w.choose(S), w.each(x)
    for _ in w.repeat(H):
        y = y - eta * (w.gradient(y, w.sample(b)) - g + a * (y - x))
    h = h - a * w.mean(active * (y - x))
    new = w.average(y, active) - h / a
    return new, w.where(active, g - a * (y - x), g), h, apart(w, x, y, new, active)


@algorithm(x="x0", spread="0")
def fedsam_round(w: Any, x: Any, spread: Any, *, eta: Any, radius: Any, b: Any, H: Any, S: Any) -> Any:
    """Qu et al. (2022), Algorithm 1: the gradient is taken where the same batch's loss rises most, at this distance."""
    active, y = w.choose(S), w.each(x)
    for _ in w.repeat(H):
        i = w.sample(b)
        slope = w.gradient(y, i)
        y = y - eta * w.gradient(y + radius / w.norm(slope) * slope, i)
    new = w.average(y, active)
    return new, apart(w, x, y, new, active)


@algorithm(x="x0", past="J times 0", spread="0")
def inertial_round(
    w: Any, x: Any, past: Any, spread: Any, *, eta: Any, alpha: Any, beta: Any, A: Any, b: Any, H: Any, S: Any
) -> Any:
    """Liu et al., Algorithm 1; A is 1 - sum_j alpha_j, past the increments. One lag and beta = 0: Xu et al. (2021)."""
    active, y, shift, ahead = w.choose(S), w.each(x), w.combine(alpha, past), w.combine(beta, past)
    for _ in w.repeat(H):
        y = y - shift - A * eta * w.gradient(y - ahead, w.sample(b))
    new = w.average(y, active)
    return new, w.shift(past, (x - new) / H), apart(w, x, y, new, active)


def numbers(steps: tuple[float, ...], K: int) -> dict[str, Any]:
    """What all of them take."""
    return {"eta": {"k": steps}, "b": GIVEN.batch, "H": K}


def fedavg(steps: tuple[float, ...], _: float, K: int) -> Rounds:
    """FedAvg."""
    return Rounds(fedavg_round, numbers(steps, K))


def named(program: Any, parameter: str) -> Make:
    """A program with a parameter of its own."""

    def make(steps: tuple[float, ...], value: float, K: int) -> Rounds:
        return Rounds(program, numbers(steps, K) | {parameter: value})

    return make


def inertial(alpha: Sequence[float], beta: Sequence[float]) -> Make:
    """FedMIM with these lags; an own parameter is the sum of alpha in place of theirs."""
    J = max(len(alpha), len(beta))

    def make(steps: tuple[float, ...], total: float, K: int) -> Rounds:
        share = total / sum(alpha) if total else 1.0
        weights = np.zeros((2, J))
        weights[0, : len(alpha)], weights[1, : len(beta)] = share * np.array(alpha), beta
        lags = {"alpha": weights[0].tolist(), "beta": weights[1].tolist(), "A": 1 - float(weights[0].sum())}
        return Rounds(inertial_round, numbers(steps, K) | lags)

    return make


def fedcm(steps: tuple[float, ...], weight: float, K: int) -> Rounds:
    """FedCM: FedMIM with one lag of 1 - weight."""
    return inertial((1 - weight,), ())(steps, 0.0, K)


W = GIVEN.weight
METHODS = {
    method.key: method
    for method in (
        Method("fedavg", "FedAvg", fedavg, STEPS, filled=True),
        Method("fedadam", "FedAdam", named(fedadam_round, "eta_g"), SMALL_STEPS, "server step", (W, 0.03, 0.3)),
        Method("scaffold", "SCAFFOLD", named(scaffold_round, "eta_g"), STEPS, "server step", (1.0, 0.5, 0.25)),
        Method("fedcm", "FedCM", fedcm, STEPS, "weight", (W, 0.4, 0.7)),
        Method("feddyn", "FedDyn", named(feddyn_round, "a"), STEPS, "weight", (W, 0.03, 0.3)),
        Method("fedsam", "FedSAM", named(fedsam_round, "radius"), STEPS, "radius", (0.05, 0.01, 0.2)),
        Method("fedmim", "FedMIM", inertial(*GIVEN.lags), STEPS, "Σα", (sum(GIVEN.lags.alpha), 0.6, 0.3)),
    )
}
OURS = "fedmim"


class Entry(NamedTuple):
    """A method in a cell.

    Attributes:
        cell: the data and the rounds.
        method: its key.
        lags: in place of the method, FedMIM with the lags of a row of table III, which has a step alone to tune.
        step: with this step and the paper's parameter in place of tuned ones; None for tuned ones.
    """

    cell: Cell
    method: str = OURS
    lags: Lags | None = None
    step: float | None = None

    @property
    def made(self) -> Method:
        """What is run."""
        if self.lags is None:
            return METHODS[self.method]
        key = "-".join(["lags", *(f"{w:g}" for w in self.lags.alpha), *(f"b{w:g}" for w in self.lags.beta)])
        return Method(key, self.lags.label, inertial(*self.lags), STEPS, filled=True)

    @property
    def label(self) -> str:
        """In words."""
        return f"{self.made.label}, {self.cell.label}{'' if self.step is None else f', step {self.step:g}'}"


# FedAvg with a step as short as FedMIM's is, with the paper's step and lags
SHORT = Entry(BASE, "fedavg", step=round((1 - sum(GIVEN.lags.alpha)) * GIVEN.step, 12))


def row(lags: Lags) -> Entry:
    """A row of table III; the row without lags is FedAvg."""
    return Entry(BASE, lags=lags) if lags.alpha else Entry(BASE, "fedavg")


def in_cell(cell: Cell, step: float | None = None) -> list[Entry]:
    """All methods in a cell, FedMIM last."""
    return [Entry(cell, key, step=step) for key in METHODS]


def entries(size: Size) -> list[Entry]:
    """All that is run: every method in every cell, the rows of table III, and what has the paper's step."""
    found = [entry for cell in size.cells for entry in in_cell(cell)]
    return list(dict.fromkeys([*found, *map(row, size.lags), *in_cell(BASE, GIVEN.step), SHORT]))


# --- runs ------------------------------------------------------------------------------------------------------------


def problem(concentration: float | None, seed: int) -> Any:
    """The clients' data of a seed. Those of all concentrations share class means and noise."""
    from sim.problems import dirichlet_label_skew

    G = GIVEN
    shape = G.clients, G.samples, G.classes, G.inputs, concentration, G.ridge, seed
    return dirichlet_label_skew(*shape, separation=G.separation, decay=G.variances)


def balanced(seed: int) -> Any:
    """Balanced test samples of the data of a seed."""
    from sim.problems import balanced_test_set

    G = GIVEN
    return balanced_test_set(G.test, G.classes, G.inputs, G.ridge, seed, separation=G.separation, decay=G.variances)


@dataclass(frozen=True)
class Least(Job):
    """f* of data sets: "least" (D,)."""

    concentration: float | None
    first: int
    sets: int

    @property
    def key(self) -> str:
        """See `Job`."""
        return f"least-{Cell(self.concentration).data.replace(' ', '-')}-{self.first}-{self.sets}"

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        seeds = range(self.first, self.first + self.sets)
        return {"least": np.array([problem(self.concentration, seed).optimal_value for seed in seeds])}


@dataclass(frozen=True)
class Train(Job):
    """Runs of a method with a step and a parameter of its own, data set by data set, R in all.

    At the recorded rounds f(x_t) - f*, "excess" (R, P), at most `DIVERGED`, and the share of the test samples that is
    classified right, "accuracy" (R, P); in all rounds "consistency" (R, T+1), at most `DIVERGED`. Runs have the same
    numbers for all methods: they are paired in data, in who takes part, and in the samples drawn.
    """

    entry: Entry
    choice: Choice
    first: int
    sets: int
    runs: int
    rounds: int
    every: int

    @property
    def key(self) -> str:
        """See `Job`."""
        e, numbers = self.entry, (*self.choice, self.first, self.sets, self.runs, self.rounds, self.every)
        cell = Cell(e.cell.concentration).data.replace(" ", "-"), f"s{e.cell.selected}", f"e{e.cell.epochs}"
        return "-".join([*cell, e.made.key, *(f"{v:g}" for v in numbers)])

    @property
    def label(self) -> str:
        """See `Job`."""
        return f"{self.entry.label}, {self.entry.made.chosen(self.choice)}"

    @property
    def settings(self) -> Any:
        """See `Job`."""
        program, parameters = self.made(1)
        return {"job": self, "round": str(program.program), "parameters": parameters}

    def made(self, rounds: int) -> Rounds:
        """The method, whose step falls from round to round."""
        steps = tuple(float(step) for step in self.choice[0] * GIVEN.decay ** np.arange(rounds))
        program, parameters = self.entry.made.make(steps, self.choice[1], self.entry.cell.local_steps)
        return Rounds(program, parameters | {"S": self.entry.cell.selected})

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        from sim.simulate import simulate

        cell, (program, parameters) = self.entry.cell, self.made(self.rounds)
        least = work[Least(cell.concentration, self.first, self.sets)]["least"]
        rows: dict[str, list[Array]] = {"excess": [], "accuracy": [], "consistency": []}
        for seed, lowest in zip(range(self.first, self.first + self.sets), least, strict=True):
            data, test = problem(cell.concentration, seed), balanced(seed)
            options: Any = {"rounds": self.rounds, "runs": self.runs, "first_run": seed * self.runs, "seed": work.seed}
            options |= {"record": range(self.rounds + 1), "keep": ("x", "spread")}
            trace = simulate(program, data, parameters, **options).states
            for models in trace["x"][:, :: self.every]:
                excess = objective(data, models) - lowest
                # rounding can take the excess of a very good model to 0 or below it
                rows["excess"].append(np.clip(np.nan_to_num(excess, nan=DIVERGED), 1e-16, DIVERGED))
                rows["accuracy"].append(accuracy(test, models))
            rows["consistency"] += list(np.minimum(np.nan_to_num(trace["spread"].sum(axis=2), nan=DIVERGED), DIVERGED))
        return {name: np.array(values) for name, values in rows.items()}


def objective(data: Any, models: Array) -> Array:
    """(P,), the objective f of models (P, C d) on all samples of a `RidgeSoftmax`; inf where it or the model is not
    finite."""
    columns, labels = samples_of(data)
    own = labels, np.arange(len(labels))
    cost = np.full(len(models), np.inf)
    for p in measurable(models):  # one at a time: its logits stay in the second-level cache
        logits = models[p].reshape(data.classes, data.inputs) @ columns
        top = logits.max(axis=0)
        ahead = top - logits[own]
        logits -= top
        entropy = np.log(np.exp(logits, out=logits).sum(axis=0)) + ahead
        cost[p] = entropy.mean() + data.ridge / 2 * np.square(models[p]).sum()
    return cost


def accuracy(data: Any, models: Array) -> Array:
    """(P,), the share of all samples of a `RidgeSoftmax` that models (P, C d) classify right; 0 where a model is not
    finite. Of several classes with the largest logit the first is taken."""
    columns, labels = samples_of(data)
    share = np.zeros(len(models))
    for p in measurable(models):
        logits = models[p].reshape(data.classes, data.inputs) @ columns
        share[p] = (logits.argmax(axis=0) == labels).mean()
    return share


def samples_of(data: Any) -> tuple[Array, Array]:
    """All clients' features (d, N n), and labels (N n,)."""
    return np.ascontiguousarray(data.features.reshape(-1, data.inputs).T), data.labels.ravel()


def measurable(models: Array) -> Array:
    """The numbers of the models whose squares are finite; not so of those that hold nan."""
    return np.flatnonzero(np.abs(models).max(axis=1) < 1e100)


# --- all of it -------------------------------------------------------------------------------------------------------


def power(values: Array) -> Array:
    """Back from decimal logarithms."""
    return np.asarray(10.0**values)


def percent(values: Array) -> Array:
    """Shares that were negated, so that less is better."""
    return -100 * np.asarray(values)


EXCESS, ACCURACY, CONSISTENCY = "excess", "accuracy", "local consistency"
RESULT = Mapping[str, Array]
MEASURES: dict[str, tuple[str, Callable[[Array], Array], Callable[[RESULT], Array]]] = {
    EXCESS: ("#.3g", power, lambda r: np.log10(r["excess"][:, -1])),
    ACCURACY: ("z.2f", percent, lambda r: -r["accuracy"][:, -1]),
    CONSISTENCY: (
        "#.3g",
        power,
        lambda r: np.log10(r["consistency"][:, r["consistency"].shape[1] // 2 :].mean(axis=1)),
    ),
}


@dataclass(frozen=True)
class Found:
    """What was run: the arrays of every entry (see `Train`), and how it was tuned where it was."""

    size: Size
    results: Mapping[Entry, RESULT]
    tuned: Mapping[Entry, Tuned]

    def outcome(self, what: str) -> Outcome:
        """How a measure is compared and told."""
        digits, scale, _ = MEASURES[what]
        return Outcome(what, digits, scale, self.size.sets)

    def values(self, of: Sequence[Entry], what: str) -> Array:
        """A number a run, the less the better, (R, M)."""
        return np.stack([MEASURES[what][2](self.results[entry]) for entry in of], axis=1)

    def mean(self, entry: Entry, what: str) -> str:
        """With its 99% interval; geometric where logarithms are compared."""
        outcome = self.outcome(what)
        band = outcome.mean(self.values([entry], what)[:, 0])
        return outcome.text(band.within(0, 100) if what == ACCURACY else band)

    def against(self, of: Sequence[Entry], what: str, reference: int = -1) -> Band:
        """Every entry against one of them (M,), paired by run, with simultaneous 99% intervals."""
        return self.outcome(what).against(self.values(of, what), reference)

    def gaps(self, of: Sequence[Entry], what: str, reference: int = -1) -> list[str]:
        """The same in words, empty for the reference itself."""
        band, reference = self.against(of, what, reference), reference % len(of)
        return ["" if at == reference else self.outcome(what).text(band, at) for at in range(len(of))]

    def ranks(self, of: Sequence[Entry], what: str) -> Ranks:
        """With a 99% confidence set for all of them together."""
        return self.outcome(what).ranks(self.values(of, what))

    @property
    def rounds(self) -> Array:
        """(P,), the recorded ones."""
        return np.arange(0, self.size.rounds + 1, self.size.every)

    def rounds_to(self, entry: Entry, excess: float) -> Array:
        """(R,), the first recorded round at which the excess is at most that; inf for a run that never gets there."""
        reached = self.results[entry]["excess"] <= excess
        return np.where(reached.any(axis=1), self.rounds[reached.argmax(axis=1)], np.inf)

    def on_sets(self, entry: Entry, rival: Entry) -> int:
        """On how many data sets the mean excess of an entry is less than a rival's."""
        ours, theirs = self.values([entry, rival], EXCESS).T
        return int(((theirs - ours).reshape(self.size.sets, -1).mean(axis=1) > 0).sum())


def gather(work: Work, size: Size) -> Found:
    """Tune every method in every cell alike, and run the comparison."""
    found = entries(size)

    def trials(entry: Entry) -> list[Train]:
        grid = entry.made.grid(size.steps, size.values)
        return [Train(entry, c, GIVEN.tuning_seed, size.tuned, size.trial, size.rounds, size.rounds) for c in grid]

    def score(trial: Train) -> float:
        return float(np.exp(np.log(work[trial]["excess"][:, -1]).mean()))

    sets = (GIVEN.data_seed, size.sets), (GIVEN.tuning_seed, size.tuned)
    work.all_of(
        [Least(c, *s) for c in dict.fromkeys(e.cell.concentration for e in found) for s in sets], size.processes
    )
    free = [entry for entry in found if entry.step is None]
    run_all(work, [trial for entry in free for trial in trials(entry)], size)
    ways = {e: tuned((t.choice for t in trials(e)), {t.choice: score(t) for t in trials(e)}.__getitem__) for e in free}
    final = {}
    for entry in found:
        choice = ways[entry].best if entry.step is None else (entry.step, entry.made.values[0])
        final[entry] = Train(
            entry._replace(step=None), choice, GIVEN.data_seed, size.sets, size.runs, size.rounds, size.every
        )
    run_all(work, list(final.values()), size)
    return Found(size, {entry: work[job] for entry, job in final.items()}, ways)


def run_all(work: Work, jobs: list[Train], size: Size) -> None:
    """The longest first, so that no process is left with one at the end."""
    longest = sorted(
        jobs, key=lambda j: -j.entry.cell.selected * j.entry.cell.epochs * (1 + (j.entry.method == "fedsam"))
    )
    work.all_of(longest, size.processes)


# --- figures ---------------------------------------------------------------------------------------------------------

TITLES = {
    "heterogeneity": ("figure-heterogeneity", "Convergence by heterogeneity (the paper: table I)"),
    "participation": ("figure-2a", "Figure 2a: convergence by participation"),
    "local epochs": ("figure-epochs", "Convergence by local epochs (the paper: table II)"),
}


def geometric(values: Array, size: Size) -> Band:
    """The geometric mean over runs with its pointwise 99% band. values: (R, P), positive."""
    return Band(*(10**part for part in student_band(np.log10(values), blocks=size.sets)))


def figures(found: Found) -> Iterator[Figure]:
    """Convergence in the paper's comparisons, and local consistency."""
    size, runs = found.size, found.size.sets * found.size.runs
    for name, cells in size.families.items():
        panels: list[Panel] = []
        beside: list[Panel] = []
        for cell in cells:
            results = [(entry.made.label, found.results[entry]) for entry in in_cell(cell)]
            excess = [(label, geometric(r["excess"], size)) for label, r in results]
            share = [(label, student_band(r["accuracy"], blocks=size.sets).within(0, 1)) for label, r in results]
            for title, bands, kept in ((cell.label, excess, panels), (f"{cell.label}: accuracy", share, beside)):
                kept.append(Panel(title, tuple(curve(*band, i, at=found.rounds) for i, band in enumerate(bands))))
        stem, title = TITLES[name]
        yield Curves(
            stem,
            title,
            f"Geometric mean of the training objective's excess over {runs} runs, with its pointwise 99% band. Every "
            "method has the step and the own parameter that were the best for it in that setting on other data. "
            "Differs from the paper: a strongly convex problem on synthetic data, the training objective in place of "
            "the test accuracy (which is in the tables), all steps tuned.",
            panels,
            "excess  f(x) - f*",
            Axes(xlabel="round t", columns=2 if len(panels) in (2, 4) else 3),
            beside,
        )
    at, panels = np.arange(1, size.rounds + 1), []
    for title, step in (("tuned steps", None), (f"step {GIVEN.step:g} for all", GIVEN.step)):
        both = [(e.made.label, geometric(found.results[e]["consistency"][:, 1:], size)) for e in in_cell(BASE, step)]
        panels.append(Panel(f"{BASE.label}: {title}", tuple(curve(*band, i, at=at) for i, band in enumerate(both))))
    yield Curves(
        "figure-2b",
        "Figure 2b: local consistency",
        f"Geometric mean over {runs} runs with its pointwise 99% band; the smaller, the closer the clients of a round "
        "are to the server's next model. Left with the steps that were tuned for the objective, right with the paper's "
        "step and parameters for all, as in its figure. Differs from the paper: synthetic data.",
        panels,
        "(1/S) Σ ||x_iK - x||²",
        Axes(xlabel="round t", columns=2),
    )


# --- tables ----------------------------------------------------------------------------------------------------------

# better by the paper, worse by the paper, and what it says
PAIRS: tuple[tuple[Lags, Lags, str], ...] = (
    (LAGS[1], LAGS[0], "an inertial step is better than none"),
    (LAGS[4], LAGS[1], "two lags are better than one"),
    (LAGS[1], LAGS[2], "a large α is better"),
    (LAGS[4], LAGS[5], "the adjacent increment is the most important, in α"),
    (LAGS[6], LAGS[4], "a proper β is better than none"),
    (LAGS[6], LAGS[7], "β on long history is not a good selection"),
    (LAGS[7], LAGS[8], "β on long history is not a good selection"),
)


def tables(found: Found) -> Iterator[Table]:
    """What the paper says, ranks, comparisons, the lags of table III, local consistency, and the tuning."""
    yield sentence_table(
        "What the paper says of its experiments",
        sentences(found),
        "The paper's statements are on images and neural networks and by accuracy; here they are put to a strongly "
        "convex problem, which can neither confirm nor refute them there. A rank comes with its 99% confidence set; "
        "'borne out' and 'not borne out' only where that set, or the interval, leaves no other possibility. Losses "
        "from one data set to another: accuracy in points, excess as a ratio. The intervals of the comparisons of lags "
        f"are simultaneous. The last two rows are by local consistency itself. {paired(found)}",
        measures=("by accuracy", "by excess"),
    )
    yield from (ranking_table(what, found) for what in (EXCESS, ACCURACY))
    yield from (comparison_table(f"Comparison: {name}", cells, found) for name, cells in found.size.families.items())
    yield lag_table(found)
    yield consistency_table(found)
    yield tuning_table(
        ((entry.cell.label, entry.made, way) for entry, way in found.tuned.items()),
        EXCESS,
        "Geometric mean excess after all rounds, on data and with random numbers that the comparison does not use. The "
        f"step is that of round 0, times {GIVEN.decay:g} in each round.",
    )


def paired(found: Found) -> str:
    """How many runs there are."""
    return f"{found.size.sets * found.size.runs} paired runs, 99% intervals."


def sentences(found: Found) -> Iterator[Sentence]:
    """What the paper says, each by accuracy and by the training objective."""
    size, both = found.size, (ACCURACY, EXCESS)
    for cell in size.cells:
        held = [of_rank(found.ranks(in_cell(cell), what)) for what in both]
        yield Sentence(f"FedMIM is the best of the seven: {cell.label}", tuple(held))
    first, *_, last = FAMILIES["heterogeneity"]
    if {first, last} <= set(size.cells):
        # runs have the same numbers in both cells
        lost = [found.values(in_cell(last), what) - found.values(in_cell(first), what) for what in both]
        held = [of_rank(found.outcome(what).ranks(values)) for what, values in zip(both, lost, strict=True)]
        yield Sentence(f"FedMIM loses least from {first.data} to {last.data} clients", tuple(held))
    pairs = [pair for pair in PAIRS if {pair[0], pair[1]} <= set(size.lags)]
    for better, worse, words in pairs:
        held = [of_pair(found, better, worse, what, len(pairs)) for what in both]
        yield Sentence(f"{words}: {better.label} before {worse.label}", tuple(held))
    for name, step in (("tuned steps", None), (f"step {GIVEN.step:g} for all", GIVEN.step)):
        held = [of_rank(found.ranks(in_cell(BASE, step), CONSISTENCY)), Held()]
        yield Sentence(f"FedMIM has the best local consistency: {BASE.label}, {name}", tuple(held))


def of_rank(held: Ranks) -> Held:
    """FedMIM's rank, and whether it is the best."""
    at = list(METHODS).index(OURS)
    first = list(METHODS.values())[int(np.argmin(held.rank))].label
    return Held(f"rank {rank_text(held, at)}{'' if held.rank[at] == 1 else f'; first: {first}'}", best(held, at))


def of_pair(found: Found, better: Lags, worse: Lags, what: str, pairs: int) -> Held:
    """The paired difference, with intervals that are simultaneous over all pairs."""
    ours, theirs = found.values([row(better), row(worse)], what).T
    band = student_band(ours - theirs, 1 - 0.01 / pairs, found.size.sets)
    outcome, unit = found.outcome(what), "points" if what == ACCURACY else "times the excess"
    return Held(f"{outcome.text(outcome.on_scale(band))} {unit}", judged(band.upper < 0, band.lower > 0))


def ranking_table(what: str, found: Found) -> Table:
    """The rank of every method in every cell, with the confidence set."""
    held = [found.ranks(in_cell(cell), what) for cell in found.size.cells]
    rows = [(m.label, *(rank_text(h, at) for h in held)) for at, m in enumerate(METHODS.values())]
    return Table(
        f"Ranks by {what}",
        ("method", *(cell.label for cell in found.size.cells)),
        tuple(rows),
        "1 is the best. In brackets the ranks that cannot be excluded: all true ranks of a cell lie in their sets with "
        f"probability 99%, from simultaneous intervals for all pairs of methods. {paired(found)}",
    )


def comparison_table(title: str, cells: Sequence[Cell], found: Found) -> Table:
    """Every method in some cells, and its paired difference from FedMIM."""
    size, rows = found.size, []
    for cell in cells:
        of = in_cell(cell)
        for entry, excess, share in zip(of, found.gaps(of, EXCESS), found.gaps(of, ACCURACY), strict=True):
            better = "" if entry == of[-1] else f"{found.on_sets(of[-1], entry)} of {size.sets}"
            median = float(np.median(found.rounds_to(entry, TARGET)))
            reached = f"{median:g}" if np.isfinite(median) else "never"
            cells_of = found.mean(entry, EXCESS), excess, better, reached, found.mean(entry, ACCURACY), share
            rows.append((cell.label, entry.made.label, *cells_of))
    return Table(
        title,
        ("setting", "method", "excess", "over FedMIM's", "FedMIM less on", f"rounds to {TARGET:g}", "accuracy, %",
         "above FedMIM's, points"),
        tuple(rows),
        f"After {size.rounds} rounds: excess f(x) - f* of the training objective, its geometric mean, and the ratio of "
        "geometric means; accuracy on the balanced test set, and differences in percentage points. FedMIM less on: "
        "data sets on which its geometric mean excess is the smaller. Rounds: the median until the excess is "
        f"{TARGET:g}, measured every {size.every} rounds. {paired(found)}",
    )  # fmt: skip


def lag_table(found: Found) -> Table:
    """Table III: FedMIM with the paper's lags."""
    lags, of = found.size.lags, [row(lags) for lags in found.size.lags]
    reference = lags.index(GIVEN.lags)
    columns: list[Sequence[str]] = []
    for what in (EXCESS, ACCURACY):
        held = found.ranks(of, what)
        columns += [[found.mean(entry, what) for entry in of], found.gaps(of, what, reference)]
        columns.append([rank_text(held, at) for at in range(len(of))])
    steps = [f"{found.tuned[entry].best[0]:.3g}" for entry in of]
    rows = zip((one.label for one in lags), steps, *columns, (f"{PRINTED[one]:.2f}" for one in lags), strict=True)
    over = lags[reference].label
    return Table(
        f"Table III: the lags, {BASE.label}",
        ("α₁ α₂ | β₁ β₂", "step", "excess", f"over that of {over}", "rank", "accuracy, %",
         f"above that of {over}, points", "rank", "accuracy in the paper, %"),
        tuple(rows),
        "The step is tuned for every row, with as many trials as the methods have. The paper's accuracies are on "
        f"CIFAR-10. {paired(found)}",
    )  # fmt: skip


def consistency_table(found: Found) -> Table:
    """Local consistency with tuned steps, and with the paper's step for all."""
    *others, ours = in_cell(BASE, GIVEN.step)
    fixed, free = [*others, SHORT, ours], in_cell(BASE)
    ratios = dict(zip(METHODS, found.gaps(free, CONSISTENCY), strict=True))
    columns = zip(*(found.gaps(fixed, what) for what in (CONSISTENCY, EXCESS, ACCURACY)), strict=True)
    rows = []
    for entry, (ratio, excess, share) in zip(fixed, columns, strict=True):
        extra, label = entry == SHORT, entry.made.label
        mine = ("", "") if extra else (found.mean(Entry(BASE, entry.method), CONSISTENCY), ratios[entry.method])
        there = found.mean(entry, CONSISTENCY), ratio, found.mean(entry, EXCESS), excess, share
        rows.append((f"{label}, step {entry.step:g}" if extra else label, *mine, *there))
    return Table(
        f"Local consistency, {BASE.label}",
        ("method", "tuned", "over FedMIM's", f"step {GIVEN.step:g} for all", "over FedMIM's", "excess there",
         "over FedMIM's", "accuracy there above FedMIM's, points"),
        tuple(rows),
        "(1/S) Σ ||x_iK - x||² over the clients of a round, x the server's next model; mean over the second half of "
        "the rounds, geometric mean over runs. On the right every method has the paper's step and parameters (FedSAM's "
        f"radius is not stated), and FedAvg once more the step {SHORT.step:g}, which is A times the paper's. "
        f"{paired(found)}",
    )  # fmt: skip


# --- in words --------------------------------------------------------------------------------------------------------


def notes(found: Found) -> Iterator[str]:
    """The problem, the intervals, and the grid."""
    size = found.size
    yield (
        "The problem stands in place of images and networks. Its objective is strongly convex with modulus "
        f"{GIVEN.ridge:g}, so f* is known (Newton's method, gradient norm below 1e-12). An epoch is "
        f"{GIVEN.samples // GIVEN.batch} steps. No augmentation, no colour perturbation. Batches are drawn with "
        "replacement, and clients uniformly without, as in the theorems. The settings that were run are in the tables."
    )
    yield (
        "Runs are paired: the same data, participants and samples for all methods. All intervals are Student's of 99%, "
        "those of differences are simultaneous within a setting (Bonferroni). They are for the mean over these data "
        "sets; on how many of them FedMIM is the better is in the tables."
    )
    trials, own = size.steps * size.values, "; ".join(filter(None, (m.tried(size.values) for m in METHODS.values())))
    yield (
        f"Tuning, alike for all: {trials} pairs of a step and one own parameter in every setting, by the geometric "
        f"mean excess after all rounds. Steps {shown(STEPS[-size.steps :])}; of FedAdam, whose server rescales them, "
        f"{shown(SMALL_STEPS[-size.steps :])}; FedAvg has {trials} steps in the same range, and so has every row of "
        f"table III. {own}."
    )
    yield (
        "FedMIM's own parameter is Σα, with α₁ : α₂ = 2 : 1 and β as in the best row of the paper's table III; FedCM's "
        "weight is 1 - α of its single lag, and takes the same values of α. FedSAM's radius is not stated. FedCM here "
        "is FedMIM with one lag (its momentum keeps the length of the step with which it was made). FedSAM has no "
        "server momentum, which the paper's description of it mentions."
    )


def findings(found: Found) -> Iterator[str]:
    """What a reader must know beside the tables."""
    cells, at = found.size.cells, list(METHODS).index(OURS)
    held = {cell: found.ranks(in_cell(cell), EXCESS) for cell in cells}
    behind = [list(METHODS.values())[int(np.argmin(h.rank))].label for h in held.values() if h.lowest[at] > 1]
    if behind:
        leaders = ", ".join(f"{name} ({behind.count(name)})" for name in sorted(set(behind)))
        yield (
            f"{span(found.size)} FedMIM is for certain not the best by the training objective in {len(behind)} of "
            f"{len(cells)} settings; the least excess there has, by number of settings: {leaders}. SCAFFOLD and "
            "FedDyn keep a correction for each client, FedMIM keeps none."
        )
    yield beside(found, "fedcm", "FedCM, which is FedMIM with one lag and no β, both tuned")
    yield beside(found, "fedavg", "FedAvg, both tuned")
    *others, ours = in_cell(BASE, GIVEN.step)
    ratio, outcome = found.against([*others, SHORT, ours], CONSISTENCY), found.outcome(CONSISTENCY)
    yield (
        "Local consistency measures the length of the local steps before all else. What the clients of a round do not "
        "have in common is A η times their gradients. With the paper's step FedAvg's is "
        f"{outcome.text(ratio, list(METHODS).index('fedavg'))} times FedMIM's, and FedAvg's with the step A η = "
        f"{SHORT.step:g} is {outcome.text(ratio, len(others))} times FedMIM's."
    )
    edges = [entry for entry, way in found.tuned.items() if entry.lags is None and way.at_edge(0)]
    if edges:
        yield (
            f"The tuned step is at an edge of its grid in {len(edges)} of {len(cells) * len(METHODS)} cases, which "
            f"a wider grid might improve: {'; '.join(entry.label for entry in edges)}."
        )
    for entry, result in found.results.items():
        lost = int((result["excess"][:, -1] >= DIVERGED).sum())
        if lost:
            yield f"{lost} runs of {entry.label} diverged; they count with an excess of {DIVERGED:g}."


def span(size: Size) -> str:
    """How long the runs are, and of how many steps the best is taken: methods rank otherwise after other rounds."""
    return f"After {size.rounds} rounds with the best of {size.steps} steps"


def beside(found: Found, key: str, words: str) -> str:
    """FedMIM against another method, cell by cell."""
    cells, at, outcome = found.size.cells, list(METHODS).index(key), found.outcome(EXCESS)
    bands = [found.against(in_cell(cell), EXCESS) for cell in cells]
    lower, higher = sum(b.lower[at] > 1 for b in bands), sum(b.upper[at] < 1 for b in bands)
    parts = "; ".join(f"{outcome.text(band, at)} ({cell.label})" for band, cell in zip(bands, cells, strict=True))
    return (
        f"Beside {words}: {span(found.size).lower()} FedMIM's excess is for certain the smaller in {lower} of "
        f"{len(cells)} settings, and the larger in {higher}. The other's excess over FedMIM's: {parts}."
    )


EXAMPLE = Example(
    paper="fedmim",
    title="Section V on a strongly convex problem with label skew",
    setting=GIVEN,
    full=Size(),
    quick=Size(1, 16, 30, 5, 1, 4, 3, 1, (Cell(None), BASE), (LAGS[0], LAGS[1], LAGS[4], LAGS[6]), 1),
    gather=gather,
    figures=figures,
    tables=tables,
    findings=findings,
    notes=notes,
)
reproduce = EXAMPLE.reproduce
