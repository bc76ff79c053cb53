"""Section 4 of Deng et al.: PERM and its rivals on two populations of logistic regression.

Figures 1, 3 and 6 of the paper, and the orders of theorems 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from theory.papers.algorithms import local_sgd, sgd
from theory.program import algorithm
from validate.drawing import Axes, Curve, HeatMap, Level, Panel
from validate.experiment import Array, Table
from validate.experiments.declared import chosen, sized, stated
from validate.experiments.example import Example
from validate.experiments.figures import Curves, Figure, Maps, curve
from validate.experiments.kept import Job, Work
from validate.experiments.methods import Choice, Method, Tuned, tuned, tuning_table
from validate.experiments.outcomes import Outcome
from validate.experiments.sentences import BORNE_OUT, NOT_BORNE_OUT, Held, Sentence, above, judged, sentence_table
from validate.ranking import student_band
from validate.rates import Slope, slope


@dataclass(frozen=True)
class Setting:
    """Section 4, and what is chosen for the rates."""

    dim: int = stated(60, "d = {}")
    samples: int = stated(
        500,
        "{} samples a client, two classes, logistic regression; x ~ N(0.2, Σ) in the first half of the clients, "
        "N(-0.2, Σ) in the second, Σ_kk = k^-1.2; w has entries of mean 0.1; y = sign(w'x), and sign(-w'x) in the "
        "second half",
    )
    local_steps: int = stated(20, "K = {} local steps, one sample each (stated for the run times; used throughout)")
    split: tuple[int, ...] = chosen((300, 100, 100), "of a client's samples {} train, validate and test")
    ridge: float = chosen(1e-3, "ridge {}, no intercept, no projection, start at 0")
    deviation: float = chosen(1.0, "Σ_w = {} I")
    batch: int = chosen(20, "M = {}, γ = η as in theorem 3, mixing weights solved exactly (T_α = ∞; with equal nⱼ one "
                            "gradient step is exact)")  # fmt: skip
    inner_steps: int = chosen(3, "{} inner steps of pFedMe for each local one")
    proximal_steps: int = chosen(3000, "{} for its clients' models")
    shares: tuple[float, ...] = chosen((0.001, 0.01, 0.1, 1.0, 10.0, 100.0), "λ/n of the learned weights {}")
    drawn: float = chosen(1.0, "{} in the figure of them")
    data_seed: int = 100
    tuning_seed: int = 900


@dataclass(frozen=True)
class Size:
    """How much is simulated."""

    clients: int = sized(50, "N = {} clients (the paper: 50)")
    epochs: int = sized(8, "{} epochs of PERM, and as many rounds of communication for all")
    seeds: int = sized(8, "{} data sets, one run on each")
    grid: int = sized(3, "{} steps, and as many values of one parameter more, tried for every method alike")
    tuned: int = sized(1, "by the validation loss after all rounds on other data sets, {}")
    swept: int = 3  # data sets of the sweeps
    points: int = 4  # how often the baselines are recorded after the start: each time all clients tune
    rounds: tuple[int, ...] = (64, 128, 256, 512)  # R of the rates
    runs: int = sized(60, "{} runs for the rates")
    digits: bool = True  # the weights on handwritten digits need scikit-learn


GIVEN = Setting()
ACCURACY = Outcome("accuracy", ".4f")
RIVALS = ("fedavg", "per-fedavg", "pfedme")  # of the paper's figure 1
STEPS = (0.03, 0.1, 0.3)


# --- methods ---------------------------------------------------------------------------------------------------------


@algorithm(x="each x0")
def local_training(w: Any, x: Any, *, eta: Any, H: Any) -> Any:
    """No communication: every client goes on from its own model."""
    for _ in w.repeat(H):
        x = x - eta * w.gradient(x, w.sample())
    return x


@algorithm
def per_fedavg(w: Any, x: Any, *, eta: Any, a: Any, H: Any) -> Any:
    """Fallah, Mokhtari, Ozdaglar: Personalized federated learning (2020), Algorithm 1 of first order."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y - a * w.gradient(y, w.sample()), w.sample())
    return w.mean(y)


@algorithm
def pfedme(w: Any, x: Any, *, eta: Any, penalty: Any, a: Any, H: Any, J: Any) -> Any:
    """Dinh, Tran, Nguyen: Personalized federated learning with Moreau envelopes (2020), Algorithm 1, beta = 1."""
    u = w.each(x)
    for _ in w.repeat(H):
        i, t = w.sample(), u
        for _ in w.repeat(J):
            t = t - a * (w.gradient(t, i) + penalty * (t - u))
        u = u - eta * penalty * (u - t)
    return w.mean(u)


@algorithm(x="each x0", c="each x0")
def near_server(w: Any, x: Any, c: Any, *, penalty: Any, a: Any, H: Any) -> Any:
    """A client's model by pFedMe: the minimiser of f_i(t) + (penalty/2)||t - c||^2, by steps with a sample each."""
    for _ in w.repeat(H):
        x = x - a * (w.gradient(x, w.sample()) + penalty * (x - c))
    return x, c


@algorithm(x="x0", share="each 0")
def weighted_epoch(w: Any, x: Any, share: Any, *, eta: Any, H: Any) -> Any:
    """An epoch of Algorithm 1, as one model sees it; a share has N alpha(n) in all its coordinates.

    A model is a run, with an order of its own: one by one they are the paper's, whose models go round in one order, so
    that no two are at one client.
    """

    def turn(v: Any, one: Any) -> Any:
        for _ in one.repeat(H):
            v = v - eta * one.times(share, one.gradient(v, one.sample()))
        return v

    return w.visit(x, turn), share


class Rounds(NamedTuple):
    """A baseline: a round's program, and the program by which clients make their models of the server's, or None."""

    program: Any
    parameters: dict[str, Any]
    tuning: tuple[Any, dict[str, Any]] | None = None


class SingleLoop(NamedTuple):
    """PERM, Algorithm 2: the step of all models, the global one's too, and lam/n of the weights."""

    step: float
    share: float


def mixing(z: Array, share: float, samples: int = GIVEN.split[0]) -> Array:
    """The exact solution of (2) for discrepancies z (..., N, N) and lam = share n: weights of the same shape.

    With equal n_j one projected gradient step of the length n/(2 lam) is exact, so T_alpha plays no part here.
    """
    from theory.mixing import mixing_weights

    return np.asarray(mixing_weights(z, np.full(z.shape[-1], samples), share * samples).weights)


def single_loop(step: float, share: float, clients: int) -> SingleLoop:
    """PERM."""
    return SingleLoop(step, share)


def localised(step: float, steps: float, clients: int) -> Rounds:
    """FedAvg (McMahan et al., 2017); each client then tunes the model for itself (Yu, Bagdasaryan, Shmatikov, 2020)."""
    given = {"eta": step, "H": GIVEN.local_steps}
    return Rounds(local_sgd, given, (local_training, given | {"H": int(steps)}))


def meta(step: float, steps: float, clients: int) -> Rounds:
    """perFedAvg."""
    given = {"eta": step, "H": GIVEN.local_steps}
    return Rounds(per_fedavg, given | {"a": step}, (local_training, given | {"H": int(steps)}))


def moreau(step: float, penalty: float, clients: int) -> Rounds:
    """pFedMe."""
    given = {"penalty": penalty, "a": step}
    return Rounds(
        pfedme,
        given | {"eta": step, "H": GIVEN.local_steps, "J": GIVEN.inner_steps},
        (near_server, given | {"H": GIVEN.proximal_steps}),
    )


def alone(step: float, _: float, clients: int) -> Rounds:
    """Local training."""
    return Rounds(local_training, {"eta": step, "H": GIVEN.local_steps})


TUNING = ("tuning steps", (1000, 300, 3000))
METHODS = {
    method.key: method
    for method in (
        Method("perm", "PERM, single loop", single_loop, STEPS, "λ/n", (1.0, 10.0, 0.1)),
        Method("fedavg", "localised FedAvg", localised, STEPS, *TUNING),
        Method("per-fedavg", "perFedAvg (first order)", meta, STEPS, *TUNING),
        Method("pfedme", "pFedMe", moreau, STEPS, "penalty", (0.001, 0.01, 0.1)),
        Method("local", "local training", alone, STEPS),
    )
}


# --- runs ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def problems(seed: int, ridge: float, deviation: float, clients: int) -> tuple[Any, ...]:
    """Training, validation and test samples of the two populations."""
    from sim.problems import split_samples, two_population_logistic

    whole = two_population_logistic(clients, GIVEN.samples, GIVEN.dim, ridge, seed, model_deviation=deviation)
    return split_samples(whole, GIVEN.split)


def measure(problem: Any, models: Array) -> tuple[Array, Array]:
    """Accuracy and logistic loss (without the ridge) of models (P, N, d), means over all samples: (P,) twice."""
    margins = problem.labels * np.einsum("nsd,pnd->pns", problem.features, models)
    right = np.where(margins == 0, 0.5, margins > 0)  # a model that cannot decide is right half of the time
    return right.mean(axis=(1, 2)), np.logaddexp(0.0, -margins).mean(axis=(1, 2))


@dataclass(frozen=True)
class Train(Job):
    """One run of a method on one data set.

    "rounds" (P,) at which it was recorded, and there the means over clients: "accuracy" and "loss" on the test samples,
    "validation" loss.

    Attributes:
        method, choice: which, and its two parameters.
        data: its seed.
        clients, epochs: N, and of PERM; every method gets N epochs rounds.
        points: how often a baseline is recorded after the start; 0 for once, after all rounds. PERM is recorded after
            every epoch.
    """

    method: str
    choice: Choice
    data: int
    clients: int
    epochs: int
    points: int
    ridge: float = GIVEN.ridge
    deviation: float = GIVEN.deviation

    @property
    def key(self) -> str:
        """See `Job`."""
        numbers = (*self.choice, self.data, self.ridge, self.deviation, self.clients, self.epochs, self.points)
        return "-".join([self.method, *(f"{v:g}" for v in numbers)])

    @property
    def label(self) -> str:
        """See `Job`."""
        return f"{METHODS[self.method].label}, {self.choice[0]:g}, {self.choice[1]:g}, data set {self.data}"

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        training, validation, test = problems(self.data, self.ridge, self.deviation, self.clients)
        seed = work.seed + 1000 * list(METHODS).index(self.method) + self.data
        made, total = METHODS[self.method].make(*self.choice, self.clients), self.clients * self.epochs
        if self.method == "perm":
            at, models = np.arange(0, total + 1, self.clients), in_a_single_loop(made, training, self.epochs, seed)
        else:
            at = np.arange(0, total + 1, max(1, total // self.points)) if self.points else np.array([total])
            models = personalised(made, training, at, seed)
        accuracy, loss = measure(test, models)
        return {"rounds": at, "accuracy": accuracy, "loss": loss, "validation": measure(validation, models)[1]}


def personalised(made: Rounds, training: Any, at: Array, seed: int) -> Array:
    """The clients' models after so many rounds, (P, N, d)."""
    from sim.simulate import simulate

    record = [int(k) for k in at]
    states = simulate(made.program, training, made.parameters, rounds=record[-1], seed=seed, record=record).states["x"]
    if made.tuning is None:
        return np.asarray(states[0])
    program, parameters = made.tuning  # each recorded model is the start of a run of its own
    tuned = simulate(program, training, parameters, states[0], runs=len(at), seed=seed + 1)
    return np.asarray(tuned.final["x"])


def in_a_single_loop(made: SingleLoop, training: Any, epochs: int, seed: int) -> Array:
    """The clients' models before the first epoch and after each, (E+1, N, d), by Algorithm 2."""
    from sim.simulate import simulate
    from theory.mixing import discrepancies

    N, step = training.clients, {"eta": made.step}
    options: Any = {"rounds": epochs, "seed": seed, "first_run": N, "record": range(epochs)}  # runs 0..N-1 are models
    shared = simulate(sgd, training, step | {"b": GIVEN.batch}, **options).states["x"][0]
    alpha, found = np.full((N, N), 1 / N), [np.zeros((N, training.dim))]
    last = None
    for r in range(epochs):
        if r:
            alpha = mixing(discrepancies(training.gradient(shared[r])), made.share)
        last = epochs_of(training, step | {"H": GIVEN.local_steps}, alpha, 1, seed, last)
        found.append(np.array(last.final["x"]))
    return np.stack(found)


def epochs_of(problem: Any, parameters: dict[str, Any], alpha: Array, epochs: int, seed: int, last: Any = None) -> Any:
    """So many epochs of models (M) with weights alpha (M, N), each a run, from 0 or from where `last` ended."""
    from sim.simulate import Simulated, simulate

    M, N = alpha.shape
    x = np.zeros((M, problem.dim)) if last is None else last.final["x"]
    share = np.broadcast_to(N * alpha[..., None], (M, N, problem.dim))
    done = 0 if last is None else last.rounds
    begin = Simulated(weighted_epoch.program, seed, 0, (), {}, {}, {}, {"x": x, "share": share}, done)
    return simulate(weighted_epoch, problem, parameters, rounds=epochs, resume=begin)


@dataclass(frozen=True)
class References(Job):
    """Exact minimisers instead of a method, (S,) data sets: of a client's own data, its population's, and all."""

    clients: int
    seeds: int

    @property
    def key(self) -> str:
        """See `Job`."""
        return f"references-{self.clients}-{self.seeds}"

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        from sim.problems import RidgeLogistic

        found = []
        for seed in range(GIVEN.data_seed, GIVEN.data_seed + self.seeds):
            training, _, test = problems(seed, GIVEN.ridge, GIVEN.deviation, self.clients)

            def pooled(members: slice, training: Any = training) -> Array:
                x, y = training.features[members], training.labels[members]
                one = RidgeLogistic(x.reshape(1, -1, training.dim), y.reshape(1, -1), training.ridge)
                return np.repeat(one.minimisers(), len(x), axis=0)

            half = self.clients // 2
            populations = np.concatenate([pooled(slice(0, half)), pooled(slice(half, None))])
            found.append(measure(test, np.stack([training.minimisers(), populations, pooled(slice(None))])))
        values = np.array(found)  # (S, 2, 3)
        return {f"{w}-{v}": values[:, i, j] for i, v in enumerate(("accuracy", "loss")) for j, w in enumerate(POOLS)}


POOLS = ("own", "population", "all")


# --- mixing weights --------------------------------------------------------------------------------------------------


class Federation(NamedTuple):
    """Clients' data: a title, the problem, and which clients are alike."""

    title: str
    problem: Any
    group: Array


@lru_cache(maxsize=2)
def federations(clients: int, digits: bool) -> dict[str, Federation]:
    """Two populations, homogeneous clients, clients of one class; those of digits where scikit-learn is installed."""
    from sim.problems import RidgeSoftmax, one_class_each, two_population_logistic
    from sim.problems import digits as handwriting

    n = GIVEN.split[0]
    options: Any = {"model_deviation": GIVEN.deviation}
    two, same = (
        two_population_logistic(clients, n, GIVEN.dim, GIVEN.ridge, GIVEN.data_seed, **options, second=second)
        for second in (None, 0)
    )
    one = one_class_each(same)
    found = {
        "two-populations": Federation("two populations", two, np.arange(clients) >= clients // 2),
        "homogeneous": Federation("homogeneous", same, np.zeros(clients)),
        "one-class": Federation("one class a client", one, np.sign(one.labels.sum(axis=1))),
    }
    try:
        images = handwriting(clients, 30, 0.01, GIVEN.data_seed) if digits else None
    except ImportError:
        images = None
    if images is not None:
        order = np.argsort(images.labels.ravel(), kind="stable")
        x, y = images.features.reshape(len(order), -1)[order], images.labels.ravel()[order]
        x, y = x.reshape(images.features.shape), y.reshape(images.labels.shape)
        dealt = RidgeSoftmax(x, y, images.classes, images.ridge)
        found["digits-homogeneous"] = Federation("digits, homogeneous", images, np.zeros(clients))
        found["digits-one-class"] = Federation("digits, one class a client", dealt, np.median(dealt.labels, axis=1))
    return found


def global_model(problem: Any, rounds: int, step: float, local_steps: int) -> Array:
    """w^R of Algorithm 3 with full gradients, (d,): each round K steps of step/K of every client, then the mean."""
    w = np.zeros(problem.dim)
    for _ in range(rounds):
        local = np.tile(w, (problem.clients, 1))
        for _ in range(local_steps):
            local = local - step / local_steps * problem.gradient(local)
        w = local.mean(axis=0)
    return w


@dataclass(frozen=True)
class Weights(Job):
    """Of a federation: "z" (N, N) at its global model, and the "weights" (lam, N, N) for lam = n times the shares."""

    federation: str
    clients: int
    digits: bool

    @property
    def key(self) -> str:
        """See `Job`."""
        return f"weights-{self.federation}-{self.clients}"

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        from theory.mixing import discrepancies, mixing_weights

        problem = federations(self.clients, self.digits)[self.federation].problem
        z = discrepancies(problem.gradient(global_model(problem, 100, 1.0, 2)))
        n = np.full(problem.clients, problem.samples)
        return {"z": z, "weights": mixing_weights(z, n, np.array(GIVEN.shares) * problem.samples).weights}


def sparsity(weights: Array) -> tuple[float, float]:
    """The mean number of positive weights of a client, and the mean weight of its own data. weights: (N, N)."""
    return float((weights > 0).sum(axis=1).mean()), float(np.diag(weights).mean())


# --- rates of theorems 1 and 2 ---------------------------------------------------------------------------------------

FEW, SMALL_DIM, SMALL_SAMPLES, SMALL_STEPS = 4, 4, 8, 2  # N, d, n and K
SHARE = 2.0  # lam/n: every client keeps a positive weight, so that alpha* is smooth in z
QUANTITIES = {"weights": ("perm/theorem-1", "‖α̂ − α*‖²"), "gap": ("perm/theorem-2", "Φ gap")}


class Case(NamedTuple):
    """A problem, how the global model's step is set (gamma = factor log(RK)/(mu R K)), and q of the printed bounds
    O~(R^-q) of the two quantities: theorem 1 prints D^2/(RK) for the way from the start, theorem 2 no such term."""

    title: str
    kind: str
    factor: float
    printed: tuple[int, int]


CASES = {
    "noisy": Case("quadratics, noisy gradients", "noisy", 1.0, (1, 1)),
    "exact": Case("quadratics, exact gradients", "exact", 1.0, (1, 2)),
    "drift": Case("quadratics, exact gradients, γ doubled", "exact", 2.0, (2, 2)),
    "logistic": Case("logistic regression, noisy gradients", "logistic", 1.0, (1, 1)),
}


def convex(kind: str) -> tuple[Any, float, float]:
    """A problem, mu and L."""
    from sim.problems import quadratic, two_population_logistic

    if kind == "logistic":
        logistic = two_population_logistic(FEW, SMALL_SAMPLES, SMALL_DIM, 0.3, 5)
        return logistic, 0.3, logistic.smoothness
    samples, spread = (SMALL_SAMPLES, 1.0) if kind == "noisy" else (1, 0.0)
    return quadratic(FEW, SMALL_DIM, 0.5, 1.0, 1.0, seed=5, samples=samples, sample_spread=spread), 0.5, 1.0


@dataclass(frozen=True)
class Rate(Job):
    """Means over clients (runs,): "weights" ||alpha_hat - alpha*||^2 and "gap" Phi(alpha*, vhat) - Phi(alpha*, v*).

    Phi = sum_j alpha(j) f_j, as in the paper's proofs. Algorithm 3 with R rounds and the exact solution of (2), then
    Algorithm 1 with R epochs, at the step sizes of the proofs; start at 0, no projection.
    """

    case: str
    R: int
    runs: int

    @property
    def key(self) -> str:
        """See `Job`."""
        return f"rates-{self.case}-{self.R}-{self.runs}"

    def compute(self, work: Work) -> Mapping[str, Array]:
        """See `Job`."""
        from sim.simulate import simulate

        (p, mu, L), N, K, R = convex(CASES[self.case].kind), FEW, SMALL_STEPS, self.R
        gamma = CASES[self.case].factor * math.log(R * K) / (mu * R * K)
        eta = 4 * math.log(math.sqrt(N * K) * R) / (mu * N * K * R)
        target = weights_at(p, minimiser(p, np.full(N, 1 / N)))
        options: Any = {"rounds": R, "runs": self.runs, "seed": work.seed + 70, "first_run": N * self.runs}
        shared = simulate(local_sgd, p, {"eta": gamma, "H": K}, **options).final["x"]
        alpha = np.stack([weights_at(p, w) for w in shared])  # (runs, N, N)
        made = epochs_of(p, {"eta": eta, "H": K}, alpha.reshape(-1, N), R, work.seed + 70).final["x"]
        models = made.reshape(self.runs, N, -1)  # and then a step of the length 1/L
        slopes = np.array([[of_clients(p, "gradient", v) for v in own] for own in models])
        models = models - np.einsum("rmn,rmnd->rmd", alpha, slopes) / L
        errors, gaps = np.square(alpha - target).sum(axis=-1).mean(axis=-1), np.zeros(self.runs)
        for i, weights in enumerate(target):
            least = of_clients(p, "cost", minimiser(p, weights)) @ weights
            gaps += [float(of_clients(p, "cost", v) @ weights - least) / N for v in models[:, i]]
        return {"weights": errors, "gap": gaps}


def weights_at(problem: Any, w: Array) -> Array:
    """(N, N), the exact weights at a global model (d,)."""
    from theory.mixing import discrepancies

    return mixing(discrepancies(of_clients(problem, "gradient", w)), SHARE, 1)


def of_clients(problem: Any, what: str, v: Array) -> Array:
    """Every client's "cost", "gradient" or "hessian" at v; problems have two ways to say it."""
    if hasattr(problem, f"client_{what}"):
        found = getattr(problem, f"client_{what}")
        return np.asarray(found if what == "hessian" else found(v))
    return np.asarray(getattr(problem, {"cost": "loss"}.get(what, what))(v))


def minimiser(problem: Any, alpha: Array) -> Array:
    """The minimiser (d,) of sum_j alpha_j f_j, by Newton's method.

    Raises:
        ValueError: when 50 steps do not reach a gradient norm of 1e-12.
    """
    v = np.zeros(problem.dim)
    for _ in range(50):
        g = alpha @ of_clients(problem, "gradient", v)
        if np.linalg.norm(g) < 1e-12:
            return v
        v = v - np.linalg.solve(np.tensordot(alpha, of_clients(problem, "hessian", v), axes=1), g)
    raise ValueError(f"alpha={alpha} gives a function that Newton's method does not minimise in 50 steps")


class Fit(NamedTuple):
    """A measured order beside the printed q: slopes against R, as it is, and log(RK)^q divided out."""

    case: str
    quantity: str
    printed: int
    raw: Slope
    reduced: Slope

    @property
    def verdict(self) -> str:
        """Whether it falls at least as fast as printed; settled only when half an order less is excluded."""
        return judged(self.reduced.upper < 0.5 - self.printed, self.reduced.lower > -self.printed)


def fitted(R: Array, values: Array) -> Slope:
    """With an interval over runs; for an error without spread over them, from the residuals."""
    constant = np.ptp(values, axis=0) <= 1e-9 * values.mean(axis=0)
    return slope(R, values.mean(axis=0) if constant.all() else values, 0.99)


# --- all of it -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What was run."""

    work: Work
    size: Size
    tuned: Mapping[str, Tuned]

    def runs(self, key: str, count: int | None = None, choice: Choice | None = None, **data: Any) -> list[Any]:
        """A method on the first data sets."""
        s = self.size
        points = 0 if key == "perm" or data else s.epochs if key == "local" else s.points
        best = choice or self.tuned[key].best
        seeds = range(GIVEN.data_seed, GIVEN.data_seed + (s.seeds if count is None else count))
        return [self.work[Train(key, best, seed, s.clients, s.epochs, points, **data)] for seed in seeds]

    def curves(self, key: str, what: str) -> Array:
        """At the recorded rounds, (S, P)."""
        return np.array([run[what] for run in self.runs(key)])

    def last(self, key: str, what: str = "accuracy", **options: Any) -> Array:
        """After all rounds, (S,)."""
        return np.array([run[what][-1] for run in self.runs(key, **options)])

    def leads(self, what: str, rival: str) -> tuple[Array, Array]:
        """The ends of PERM's epochs (P,), and by how much it is better there than the rival when last recorded."""
        sign, ours, theirs = 1 if what == "accuracy" else -1, self.runs("perm")[0], self.runs(rival)[0]
        at = np.searchsorted(theirs["rounds"], ours["rounds"], side="right") - 1
        return ours["rounds"], sign * (self.curves("perm", what) - self.curves(rival, what)[:, at])

    def gap(self, key: str, what: str = "accuracy") -> Array:
        """By how much PERM is better in the end, (S,)."""
        return self.leads(what, key)[1][:, -1]

    @property
    def reference(self) -> Mapping[str, Array]:
        """See `References`."""
        return self.work[References(self.size.clients, self.size.seeds)]

    @property
    def federations(self) -> dict[str, Federation]:
        """See `federations`."""
        return federations(self.size.clients, self.size.digits)

    def weights(self, key: str) -> Mapping[str, Array]:
        """See `Weights`."""
        return self.work[Weights(key, self.size.clients, self.size.digits)]

    def rate(self, case: str, quantity: str) -> Array:
        """(runs, P)."""
        return np.stack([self.work[Rate(case, R, self.size.runs)][quantity] for R in self.size.rounds], axis=1)

    @property
    def fits(self) -> list[Fit]:
        """Every case and quantity."""
        R, found = np.array(self.size.rounds, dtype=float), []
        for key, case in CASES.items():
            for quantity, q in zip(QUANTITIES, case.printed, strict=True):
                values = self.rate(key, quantity)
                reduced = fitted(R, values / np.log(R * SMALL_STEPS) ** q)
                found.append(Fit(key, quantity, q, fitted(R, values), reduced))
        return found


SWEPT: tuple[dict[str, Any], ...] = ({"ridge": 1e-2}, {"ridge": 1e-4}, {"deviation": 0.1})


def tune(method: Method, work: Work, size: Size) -> Tuned:
    """By the validation loss after all rounds, mean over data sets that the comparison does not use."""

    def score(choice: Choice) -> float:
        seeds = range(GIVEN.tuning_seed, GIVEN.tuning_seed + size.tuned)
        runs = [work[Train(method.key, choice, seed, size.clients, size.epochs, 0)] for seed in seeds]
        return float(np.mean([run["validation"][-1] for run in runs]))

    return tuned(method.grid(size.grid, size.grid), score)


def gather(work: Work, size: Size) -> Found:
    """Tune, and run the comparison; the tables ask for the rest."""
    found = Found(work, size, {key: tune(method, work, size) for key, method in METHODS.items()})
    for key in METHODS:
        found.runs(key)
    return found


# --- figures ---------------------------------------------------------------------------------------------------------


def figures(found: Found) -> Iterator[Figure]:
    """Figure 1, the same paired, figure 6, and the rates."""
    size, reference = found.size, found.reference
    error, loss, leads = [], [], ([], [])  # type: ignore[var-annotated]
    for series, (key, method) in enumerate(METHODS.items()):
        at = found.runs(key)[0]["rounds"]
        error.append(curve(method.label, student_band(1 - found.curves(key, "accuracy")).within(0, 1), series, at=at))
        loss.append(curve(method.label, student_band(found.curves(key, "loss")).within(0), series, at=at))
        for what, kept in zip(("accuracy", "loss"), leads, strict=True) if key != "perm" else ():
            at, gaps = found.leads(what, key)
            kept.append(curve(method.label, student_band(gaps), series, at=at))
    least = float(1 - reference["population-accuracy"].mean()), float(reference["population-loss"].mean())
    yield Curves(
        "figure-1",
        "Figure 1: personalised accuracy and loss",
        f"Figure 1 redrawn, on test samples: means over {size.seeds} data sets with pointwise 99% Student bands, "
        "which are wide because the data sets differ (see the next figure). PERM is recorded after every epoch, "
        f"which is {size.clients} rounds of communication; its first has equal weights. The baselines tune locally "
        f"(up to {GIVEN.proximal_steps} steps) each time they are recorded, at round 0 from the start. Differs from "
        "the paper: the error rate on a logarithmic axis in place of the accuracy, bands, local training added, all "
        "steps tuned, and what the paper does not state was chosen.",
        (
            Panel("personalised error rate, 1 − accuracy", tuple(error),
                  levels=(Level("minimiser on the population's data", least[0], below=True),)),
            Panel("personalised loss", tuple(loss), levels=(Level("", least[1]),)),
        ),
        ("error rate", "logistic loss"),
        Axes(xlabel="round of communication", columns=1),
    )  # fmt: skip
    titles = ("accuracy of PERM above that of", "loss of PERM below that of")
    yield Curves(
        "figure-1-paired",
        "Figure 1, paired: PERM's lead over each method",
        f"The differences behind figure 1, paired by data set: means over {size.seeds} data sets, pointwise 99% "
        "Student bands, at the ends of PERM's epochs from the second on, against what the other method had when it "
        "was last recorded. Not a figure of the paper.",
        [Panel(t, tuple(k), skip=2, levels=(Level("as good", 0.0),)) for t, k in zip(titles, leads, strict=True)],
        ("lead in accuracy", "lead in loss"),
        Axes(xlabel="round of communication", log_y=False, columns=1),
    )
    yield weights_figure(found)
    yield rates_figure(found)


def weights_figure(found: Found) -> Figure:
    """Figure 6, and the same of the two populations."""
    at = GIVEN.shares.index(GIVEN.drawn)
    maps = [HeatMap(one.title, found.weights(key)["weights"][at]) for key, one in found.federations.items()]
    digits = "the second row on scikit-learn's 8 × 8 digits with softmax regression " if len(maps) > 3 else ""
    missing = "" if digits else " The maps of digits are left out: they need scikit-learn, and a full run."
    return Maps(
        "figure-6",
        "Figure 6: learned mixing weights",
        f"Figure 6 redrawn: the weights that solve (2) at Algorithm 3's global model, λ/n = {GIVEN.drawn:g}; "
        "blank where a weight is 0. Homogeneous: the same samples dealt at random; one class a client: dealt out "
        f"sorted by label. First row on the synthetic data, {digits}(the paper: MNIST and a 2-layer network). "
        f"Clients are in the order of their labels or populations.{missing}",
        maps, "client j", "client i", "weight α_i(j), of client j for client i", across=3,
    )  # fmt: skip


def rates_figure(found: Found) -> Figure:
    """The errors against R."""
    R, titles = np.array(found.size.rounds), ("error of the weights, ‖α̂ − α*‖²", "gap of Φ at the personalised models")
    panels = []
    for quantity, title in zip(QUANTITIES, titles, strict=True):
        values = [(case.title, found.rate(key, quantity)) for key, case in CASES.items()]
        drawn = (Curve(t, v.mean(axis=0), i, band=student_band(v), at=R) for i, (t, v) in enumerate(values))
        panels.append(Panel(title, tuple(drawn)))
    return Curves(
        "figure-rates",
        "Rates of theorems 1 and 2",
        f"N = {FEW}, d = {SMALL_DIM}, K = {SMALL_STEPS}: Algorithm 3 with R rounds, the exact solution of (2), then "
        f"Algorithm 1 with R epochs, at the step sizes of the proofs. Means of {found.size.runs} runs with 99% bands; "
        "both axes logarithmic. Not a figure of the paper.",
        panels,
        "mean over clients and runs",
        Axes(xlabel="R", log_x=True),
    )


# --- tables and sentences --------------------------------------------------------------------------------------------


def interval(values: Array, least: float = -math.inf, most: float = math.inf) -> str:
    """The mean over data sets with its Student interval; of values that are in [least, most]."""
    return ACCURACY.text(student_band(values).within(least, most))


def each(values: Array) -> str:
    """One by one."""
    return ", ".join(f"{v:.4f}" for v in values)


def tables(found: Found) -> Iterator[Table]:
    """The ranking, what the paper says, and the rest."""
    yield ranking_table(found)
    yield sentence_table(
        "What the paper says of its experiments",
        sentences(found),
        "Paired differences with 99% Student intervals over the data sets. The paper's figures have no error bars and "
        "state neither λ nor the steps: this tests its words, not its numbers. Figure 6 is on MNIST with a 2-layer "
        "network there.",
    )
    yield work_table(found.size)
    yield tuning_table(
        (("two populations", METHODS[key], one) for key, one in found.tuned.items()),
        "its loss",
        f"Validation loss after all rounds, {found.size.tuned} data set that the comparison does not use.",
    )
    yield sweep_table(found)
    yield share_table(found)
    yield sparsity_table(found)
    yield rates_table(found)


def ranking_table(found: Found) -> Table:
    """Accuracy and loss after all rounds, and the paired differences from PERM."""
    accuracy = {key: found.last(key) for key in METHODS}
    ranks = np.argsort(np.argsort([-values for values in accuracy.values()], axis=0), axis=0) + 1
    rows = []
    for rank, (key, method) in zip(ranks, METHODS.items(), strict=True):
        gaps = [] if key == "perm" else [found.gap(key, what) for what in ("accuracy", "loss")]
        won = f"{int((gaps[0] > 0).sum())} of {len(gaps[0])}" if gaps else ""
        cells = (
            method.chosen(found.tuned[key].best),
            interval(accuracy[key], 0, 1),
            interval(found.last(key, "loss"), 0),
        )
        rows.append((method.label, *cells, *(map(interval, gaps) if gaps else ("", "")), won, f"{rank.mean():.1f}"))
    for label, pool in (("the client's own data", "own"), ("its population's data", "population")):
        a, b = (found.reference[f"{pool}-{what}"] for what in ("accuracy", "loss"))
        gap = accuracy["perm"] - a, b - found.last("perm", "loss")
        won = f"{int((gap[0] > 0).sum())} of {len(a)}"
        rows.append(
            (f"(reference) minimiser on {label}", "", interval(a, 0, 1), interval(b, 0), *map(interval, gap), won, "")
        )
    return Table(
        "Personalised accuracy and loss on test samples, after all rounds",
        ("method", "tuned to", "accuracy", "loss", "accuracy of PERM above it", "loss of PERM below it", "PERM better",
         "mean rank"),
        tuple(rows),
        f"Means over {found.size.seeds} data sets with 99% Student intervals; the differences are paired by data "
        "set. Mean rank by accuracy, 1 the best, references left out. The data sets differ in w, so the intervals of "
        "the means are wider than those of the differences.",
    )  # fmt: skip


def sentences(found: Found) -> Iterator[Sentence]:
    """What the paper says in words, and whether it was borne out here."""
    size = found.size
    for what, figure in (("accuracy", "figure 1a"), ("loss", "figure 1b")):
        for key in RIVALS:
            gap, ahead = student_band(found.gap(key, what)), ahead_from(found, what, key)
            first = f"; ahead from round {ahead} on, the end of epoch {ahead // size.clients}" if ahead else ""
            words = f"PERM has the better personalised {what} than {METHODS[key].label} ({figure})"
            yield Sentence(words, (Held(f"by {ACCURACY.text(gap)} after all rounds{first}", above(gap)),))
    for key in RIVALS:
        gap = student_band(found.last("local") - found.last(key))
        yield Sentence(
            "methods relying on globally trained models struggle in highly heterogeneous scenarios (figure 1): "
            f"{METHODS[key].label}",
            (Held(f"local training, which uses no global model, has {ACCURACY.text(gap)} more accuracy", above(gap)),),
        )
    yield Sentence(
        "PERM has a minimal overhead over FedAvg in run time a round, and is comparable to the others (figure 3)",
        (Held(f"{work(size)['perm'] / GIVEN.local_steps:.1f} times FedAvg's sample gradients, 1.0 without global model "
              "and weights (per round of communication, not per epoch)", "not judged: work is counted, not time"),),
    )  # fmt: skip
    at = GIVEN.shares.index(GIVEN.drawn)
    for pair, name in (("", "synthetic data"), ("digits-", "handwritten digits")):
        if f"{pair}homogeneous" in found.federations:
            kinds = (f"{pair}homogeneous", f"{pair}one-class")
            same, apart = (sparsity(found.weights(key)["weights"][at])[0] for key in kinds)
            N = size.clients
            verdict = f"{BORNE_OUT} at this λ" if same > N / 2 > apart else f"{BORNE_OUT} in order only"
            told = f"at λ/n = {GIVEN.drawn:g} clients with a positive weight: {same:.1f} of {N} and {apart:.1f} of {N}"
            words = "learned weights are diffuse on homogeneous clients, sparse with one class a client (figure 6): "
            yield Sentence(words + name, (Held(told, verdict if same > apart else NOT_BORNE_OUT),))


def ahead_from(found: Found, what: str, rival: str) -> int | None:
    """From which round on PERM is better than the rival, with the whole paired interval; None if it never is."""
    at, gaps = found.leads(what, rival)
    behind = np.flatnonzero(student_band(gaps).lower <= 0)
    first = behind[-1] + 1 if len(behind) else 0
    return int(at[first]) if first < len(at) else None


def work(size: Size) -> dict[str, float]:
    """Sample gradients of a client in a round of communication, without the clients' tuning."""
    K = GIVEN.local_steps
    beside = (GIVEN.batch + GIVEN.split[0]) / size.clients  # the step of the global model, and a full gradient
    return {"perm": K + beside, "fedavg": K, "per-fedavg": 2 * K, "pfedme": GIVEN.inner_steps * K, "local": K}


def work_table(size: Size) -> Table:
    """In place of run times: work is the same on every machine."""
    counted = work(size)
    rows = [(METHODS[k].label, f"{v:.1f}", f"{v / counted['fedavg']:.2f}") for k, v in counted.items()]
    return Table(
        "Work in a round of communication (the paper: run times, figure 3)",
        ("method", "sample gradients a client", "over FedAvg"),
        tuple(rows),
        f"K = {GIVEN.local_steps} local steps with one sample each, no local tuning. An epoch of PERM is N = "
        f"{size.clients} rounds; once in it every client has {GIVEN.batch} sample gradients for the global model and "
        f"its full gradient ({GIVEN.split[0]}) for the weights. perFedAvg of second order has K Hessian-vector "
        "products more.",
    )


def sweep_table(found: Found) -> Table:
    """What becomes of PERM's lead under other choices of what the paper does not state."""
    rows = []
    for data in ({}, *SWEPT):
        ours, theirs = (found.last(key, count=found.size.swept, **data) for key in ("perm", "local"))
        numbers = {"ridge": GIVEN.ridge, "deviation": GIVEN.deviation} | data
        cells = f"{ours.mean():.4f}", f"{theirs.mean():.4f}", each(ours - theirs)
        rows.append((*(f"{v:g}" for v in numbers.values()), *cells))
    return Table(
        "PERM and local training with another ridge and another Σ_w",
        ("ridge", "deviation of w", "accuracy of PERM", "of local training", "PERM above it, each data set"),
        tuple(rows),
        f"Accuracy after all rounds on {found.size.swept} data sets, too few for intervals. Steps and λ/n as tuned at "
        f"ridge {GIVEN.ridge:g} and deviation {GIVEN.deviation:g}.",
    )


def share_table(found: Found) -> Table:
    """PERM under other lam, which the paper does not state."""
    rows, step = [], found.tuned["perm"].best[0]
    for share, weights in zip(GIVEN.shares, found.weights("two-populations")["weights"], strict=True):
        count, own = sparsity(weights)
        options: Any = {"count": found.size.swept, "choice": (step, share)}
        accuracy, loss = (found.last("perm", what, **options) for what in ("accuracy", "loss"))
        cells = f"{accuracy.mean():.4f}", each(accuracy), f"{loss.mean():.4f}"
        rows.append((f"{share:g}", *cells, f"{count:.1f}", f"{own:.2f}"))
    return Table(
        "PERM with other λ",
        ("λ/n", "accuracy", "each data set", "loss", "clients with a positive weight", "weight of a client's own data"),
        tuple(rows),
        f"{found.size.swept} data sets, the tuned step. The last two columns: at the global model of one of them.",
    )


def sparsity_table(found: Found) -> Table:
    """How the weights' sparsity depends on lam."""
    rows = []
    for key, one in found.federations.items():
        z, other = found.weights(key)["z"], one.group[:, None] != one.group
        alike = ~other & ~np.eye(len(other), dtype=bool)
        ratio = f"{z[other].mean() / z[alike].mean():.3g}" if other.any() and alike.any() else "none"
        cells = (f"{count:.1f} ({own:.2f})" for count, own in map(sparsity, found.weights(key)["weights"]))
        rows.append((one.title, ratio, *cells))
    return Table(
        "How many clients a client learns from, and the weight of its own data (in brackets)",
        ("data", "z unlike : z alike", *(f"λ/n = {share:g}" for share in GIVEN.shares)),
        tuple(rows),
        f"Means over the N = {found.size.clients} clients, of the weights that solve (2) at the global model. The "
        "first column compares ||∇fᵢ − ∇fⱼ||² of unlike clients (other population, other class) with that of like "
        "ones, where there are both. λ is not stated in the paper.",
    )


def rates_table(found: Found) -> Table:
    """The fitted orders beside the printed ones."""

    def told(s: Slope) -> str:
        return f"{s.value:.2f} [{s.lower:.2f}, {s.upper:.2f}]"

    rows = [
        (*QUANTITIES[f.quantity], CASES[f.case].title, f"R^-{f.printed}", told(f.raw), told(f.reduced), f.verdict)
        for f in found.fits
    ]
    return Table(
        "Orders in R of theorems 1 and 2",
        ("claim", "quantity", "problem", "printed, up to logarithms", "slope", "logarithms divided out", "as printed"),
        tuple(rows),
        f"Slopes of log against log R, R = {found.size.rounds[0]} to {found.size.rounds[-1]}, with 99% intervals "
        f"(jackknife over {found.size.runs} runs; from the residuals where the runs do not differ). Divided out: "
        "log(RK)^q for the printed R^-q. As printed: the interval reaches R^-q or faster, and excludes R^(1/2-q). A "
        "fitted slope supports an order; it proves nothing about constants.",
    )


# --- in words --------------------------------------------------------------------------------------------------------


def notes(found: Found) -> Iterator[str]:
    """Rounds, and the grid."""
    N, total, count = found.size.clients, found.size.clients * found.size.epochs, found.size.grid
    yield (
        "Rounds of communication: in each, every client works on one model and all models are exchanged once. An epoch "
        f"of Algorithm 1 is N = {N} of them; the step of the global model travels with the last. {found.size.epochs} "
        f"epochs are {total} rounds. All clients take part in every round."
    )
    own = "; ".join(filter(None, (method.tried(count) for method in METHODS.values())))
    yield f"Tuned: steps {', '.join(f'{step:g}' for step in STEPS[-count:])}, of local tuning too; {own}."


def findings(found: Found) -> Iterator[str]:
    """What a reader must know beside the tables."""
    size, reference = found.size, found.reference
    yield (
        "By the symmetry of the data, f of the second population is f(-w) of the first's in expectation, so the global "
        "model's minimiser is near 0 and carries no information (its accuracy, computed exactly: "
        f"{reference['all-accuracy'].mean():.3f}). On this data a method that starts from a global model is local "
        "training under another name, with as many steps as its tuning has; local training, which the paper leaves "
        "out, is the rival."
    )
    yield (
        "What there is to gain by learning from others is "
        f"{interval(reference['population-accuracy'] - reference['own-accuracy'])} in accuracy (exact minimisers on "
        f"the population's data against own data); PERM's lead over local training is {interval(found.gap('local'))} "
        f"after {size.clients * size.epochs} rounds."
    )
    yield (
        f"PERM's first epoch has equal weights (as Algorithm 2 is printed), and costs N = {size.clients} rounds: after "
        f"it the accuracy is {found.curves('perm', 'accuracy')[:, 1].mean():.3f}, while tuning the start locally, with "
        f"no communication at all, gives {found.curves('fedavg', 'accuracy')[:, 0].mean():.3f}. The paper does not say "
        "whether its axis counts epochs or rounds of communication."
    )
    yield "With equal nⱼ one projected gradient step solves (2) exactly, so T_α is no parameter of this experiment."
    (z, by_share), half = (found.weights("two-populations")[name] for name in ("z", "weights")), size.clients // 2
    apart = [share for share, w in zip(GIVEN.shares, by_share, strict=True) if not w[:half, half:].any()]
    alike = z[:half, :half].sum() / (half * (half - 1))
    yield (
        f"On the two populations ||∇fᵢ − ∇fⱼ||² between them is {z[:half, half:].mean() / alike:.0f} times "
        f"that within: at the global model every λ/n from {min(apart):g} to {max(apart):g} that was tried keeps them "
        "apart, so the experiment asks little of the weights. A larger λ mixes the populations, on some data sets "
        "sooner than on others (table of λ)."
        if apart
        else "No λ/n that was tried keeps the two populations apart."
    )
    yield (
        "Whether learned weights look sparse or diffuse is decided by λ as much as by the data: the number of clients "
        "learned from grows with λ on every data set (table of λ/n), and the paper does not state λ."
    )
    usual = found.gap("local")[: size.swept]
    for data in SWEPT:
        gap = np.subtract(*(found.last(key, count=size.swept, **data) for key in ("perm", "local")))
        if usual.mean() > 0 and gap.mean() < usual.mean() / 2:
            numbers = {"ridge": GIVEN.ridge, "deviation": GIVEN.deviation} | data
            yield (
                f"With ridge {numbers['ridge']:g} and entries of w of deviation {numbers['deviation']:g} PERM's lead "
                f"over local training is {gap.mean():.4f} in place of {usual.mean():.4f} with the same seeds "
                f"({size.swept}): the ranking depends on what is not stated."
            )
    slower = [f for f in found.fits if f.verdict == NOT_BORNE_OUT]
    for f in slower:
        claim, quantity = QUANTITIES[f.quantity]
        yield (
            f"{claim}: {quantity} on {CASES[f.case].title} falls as R^{f.reduced.value:.2f} (99% interval "
            f"{f.reduced.lower:.2f} to {f.reduced.upper:.2f}, logarithms divided out), slower than the printed "
            f"R^-{f.printed}."
        )
    if not slower:
        settled = sum(f.verdict == BORNE_OUT for f in found.fits)
        yield (
            "No printed order of theorems 1 and 2 in R is contradicted on small convex problems; "
            f"{settled} of {len(found.fits)} fits are precise enough to say that it is reached, constants aside."
        )


EXAMPLE = Example(
    paper="perm",
    title="Section 4 on synthetic data of two populations",
    setting=GIVEN,
    full=Size(),
    quick=Size(16, 4, 3, grid=2, swept=1, points=1, rounds=(24, 48, 72), runs=20, digits=False),
    gather=gather,
    figures=figures,
    tables=tables,
    findings=findings,
    notes=notes,
)
reproduce = EXAMPLE.reproduce
