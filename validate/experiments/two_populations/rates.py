"""The orders of theorems 1 and 2 in R, measured: the error of the weights, and the gap of Phi, on convex problems."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from validate.drawing import Axes, Curve, Panel, draw_curves
from validate.experiment import Drawing, Progress, Table
from validate.experiments import former as ex
from validate.experiments.two_populations.setting import CONFIDENCE, Size, band
from validate.rates import Slope, slope

CLIENTS, DIM, SAMPLES, LOCAL_STEPS = 4, 4, 8, 2
SHARE = 2.0  # lam/n: every client keeps a positive weight, so that alpha* is smooth in z
RUN_SEED = 70


class Case(NamedTuple):
    """A problem, and how the global model's step is set: gamma = factor log(RK)/(mu R K)."""

    key: str
    title: str
    problem: Any
    mu: float
    L: float
    noisy: bool
    factor: float = 1.0


class Rate(NamedTuple):
    """A measured order beside the printed one.

    Attributes:
        claim: whose order.
        quantity: what was measured.
        case: on what.
        printed: q of the printed bound, O~(R^-q).
        raw: slope of the quantity against R.
        reduced: slope after the logarithms of the printed step sizes are divided out, log(RK)^q.
    """

    claim: str
    quantity: str
    case: str
    printed: int
    raw: Slope
    reduced: Slope

    @property
    def verdict(self) -> str:
        """Whether the quantity falls at least as fast as printed; settled only when half an order less is excluded."""
        if self.reduced.lower > -self.printed:
            return "slower"
        return "yes" if self.reduced.upper < 0.5 - self.printed else "not settled"


def cases() -> list[Case]:
    """Quadratics with and without gradient noise, and ridge logistic regression."""
    from sim.problems import quadratic, two_population_logistic

    def of(samples: int, spread: float) -> Any:
        return quadratic(CLIENTS, DIM, 0.5, 1.0, 1.0, seed=5, samples=samples, sample_spread=spread)

    logistic = two_population_logistic(CLIENTS, SAMPLES, DIM, 0.3, 5)
    return [
        Case("noisy", "quadratics, noisy gradients", of(SAMPLES, 1.0), 0.5, 1.0, True),
        Case("exact", "quadratics, exact gradients", of(1, 0.0), 0.5, 1.0, False),
        Case("drift", "quadratics, exact gradients, γ doubled", of(1, 0.0), 0.5, 1.0, False, 2.0),
        Case("logistic", "logistic regression, noisy gradients", logistic, 0.3, logistic.smoothness, True),
    ]


def measured(
    case: Case, size: Size, folder: Path, seed: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Means over clients of ||alpha_hat - alpha*||^2 and of Phi(alpha*, vhat) - Phi(alpha*, v*), each (runs, P).

    Phi = sum_j alpha(j) f_j, as in the paper's proofs. Algorithm 3 with R rounds and the exact solution of (2), then
    Algorithm 1 with R epochs; gamma = factor log(RK)/(mu RK), eta = 4 log(sqrt(NK) R)/(mu N K R), start at 0, no
    projection.
    """
    runs = size.runs
    settings = {"case": case.key, "mu": case.mu, "L": case.L, "factor": case.factor, "rounds": size.rounds}
    settings |= {"runs": runs, "seed": seed, "share": SHARE, "steps": LOCAL_STEPS, "size": (CLIENTS, DIM, SAMPLES)}

    def compute() -> Mapping[str, np.ndarray]:
        parts = [_simulated(case, R, runs, seed) for R in size.rounds]
        return {"weights": np.stack([p[0] for p in parts], axis=1), "gap": np.stack([p[1] for p in parts], axis=1)}

    found = ex.stored(
        folder / f"rates-{case.key}-{runs}.npz",
        json.dumps(settings, sort_keys=True),
        compute,
        what=f"rates, {case.title}: {runs} runs for each of {len(size.rounds)} R",
        progress=progress,
    )
    return found["weights"], found["gap"]


def _simulated(case: Case, R: int, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The two errors of each run, (runs,) twice."""
    from sim import run_shuffling
    from sim.algorithms import TwoStagePERM
    from theory.mixing import discrepancies, mixing_weights

    p, N, K, mu = case.problem, CLIENTS, LOCAL_STEPS, case.mu
    n = np.ones(N)
    target = mixing_weights(discrepancies(_gradients(p, minimiser(p, np.full(N, 1 / N)))), n, SHARE).weights
    algorithm = TwoStagePERM(
        global_step=case.factor * math.log(R * K) / (mu * R * K),
        rounds=R,
        step=4 * math.log(math.sqrt(N * K) * R) / (mu * N * K * R),
        local_steps=K,
        mixing=lambda z, alpha: mixing_weights(z, n, SHARE).weights,
        smoothness=case.L,
    )
    trace = run_shuffling(algorithm, p, epochs=R, runs=runs, seed=seed + RUN_SEED, metrics=("weights",))
    errors = np.square(trace["weights"][:, -1] - target).sum(axis=-1).mean(axis=-1)
    gaps = np.zeros(runs)
    for i, alpha in enumerate(target):
        best = _costs(p, minimiser(p, alpha)) @ alpha
        gaps += [float(_costs(p, v) @ alpha - best) / N for v in trace.final[:, i]]
    return errors, gaps


def minimiser(problem: Any, alpha: np.ndarray) -> np.ndarray:
    """The minimiser (d,) of sum_j alpha_j f_j, by Newton's method.

    Raises:
        ValueError: when 50 steps do not reach a gradient norm of 1e-12.
    """
    v = np.zeros(problem.dim)
    for _ in range(50):
        g = alpha @ _gradients(problem, v)
        if np.linalg.norm(g) < 1e-12:
            return v
        v = v - np.linalg.solve(np.tensordot(alpha, _hessians(problem, v), axes=1), g)
    raise ValueError(f"alpha={alpha} gives a function that Newton's method does not minimise in 50 steps")


def _gradients(problem: Any, v: np.ndarray) -> np.ndarray:
    return problem.client_gradient(v) if hasattr(problem, "client_gradient") else problem.gradient(v)


def _hessians(problem: Any, v: np.ndarray) -> np.ndarray:
    return problem.client_hessian if hasattr(problem, "client_hessian") else problem.hessian(v)


def _costs(problem: Any, v: np.ndarray) -> np.ndarray:
    return problem.client_cost(v) if hasattr(problem, "client_cost") else problem.loss(v)


def rates(
    size: Size, folder: Path, figure: Path, seed: int = 0, progress: Progress | None = None
) -> tuple[list[Rate], Drawing, Table, Path]:
    """The fitted orders, the figure behind them, their table, and the figure's numbers."""
    R = np.array(size.rounds, dtype=float)
    logs = np.log(R * LOCAL_STEPS)
    found, curves, columns = [], ([], []), {"R": R}  # type: ignore[var-annotated]
    for series, case in enumerate(cases()):
        errors = measured(case, size, folder, seed, progress)
        slow = case.noisy, case.noisy or case.factor == 1
        # theorem 1 prints D^2/(RK) for the way from the start, and theorem 2 has no such term of its own
        printed = (1 if slow[1] else 2), (1 if slow[0] else 2)
        for part, (values, quantity, claim) in enumerate(
            zip(errors, ("‖α̂ − α*‖²", "Φ gap"), ("perm/theorem-1", "perm/theorem-2"), strict=True)
        ):
            q = printed[part]
            found.append(Rate(claim, quantity, case.title, q, _fit(R, values), _fit(R, values / logs**q)))
            curves[part].append(Curve(case.title, values.mean(axis=0), series, band=band(values), at=R))
            columns[f"{case.key}-{('weights', 'gap')[part]}"] = values.mean(axis=0)
    panels = (
        Panel("error of the weights, ‖α̂ − α*‖²", tuple(curves[0])),
        Panel("gap of Φ at the personalised models", tuple(curves[1])),
    )
    path = draw_curves(figure, panels, "mean over clients and runs", Axes(xlabel="R", log_x=True))
    data = ex.write_csv(path.with_suffix(".csv"), columns)
    drawing = Drawing(
        path,
        "Rates of theorems 1 and 2",
        f"N = {CLIENTS}, d = {DIM}, K = {LOCAL_STEPS}: Algorithm 3 with R rounds, the exact solution of (2), then "
        f"Algorithm 1 with R epochs, at the step sizes of the proofs. Means of {size.runs} runs with 99% bands; both "
        "axes logarithmic. Not a figure of the paper.",
    )
    return found, drawing, table(found, size), data


def _fit(R: np.ndarray, values: np.ndarray) -> Slope:
    """With an interval over runs; for an error without spread over them, from the residuals."""
    constant = np.ptp(values, axis=0) <= 1e-9 * values.mean(axis=0)
    return slope(R, values.mean(axis=0) if constant.all() else values, CONFIDENCE)


def table(found: list[Rate], size: Size) -> Table:
    """The fitted orders beside the printed ones."""
    rows = [
        (r.claim, r.quantity, r.case, f"R^-{r.printed}", _slope(r.raw), _slope(r.reduced), r.verdict) for r in found
    ]
    return Table(
        "Orders in R of theorems 1 and 2",
        ("claim", "quantity", "problem", "printed, up to logarithms", "slope", "logarithms divided out", "as printed"),
        tuple(rows),
        f"Slopes of log against log R, R = {size.rounds[0]} to {size.rounds[-1]}, with 99% intervals (jackknife over "
        f"{size.runs} runs; from the residuals where the runs do not differ). Divided out: log(RK)^q for the printed "
        "R^-q. As printed: the interval reaches R^-q or faster, and excludes R^(1/2-q). A fitted slope supports an "
        "order; it proves nothing about constants.",
    )


def _slope(s: Slope) -> str:
    return f"{s.value:.2f} [{s.lower:.2f}, {s.upper:.2f}]"


def findings(found: list[Rate]) -> tuple[str, ...]:
    """What the slopes say, in a sentence or two."""
    slower = [r for r in found if r.verdict == "slower"]
    if slower:
        return tuple(
            f"{r.claim}: {r.quantity} on {r.case} falls as R^{r.reduced.value:.2f} (99% interval {r.reduced.lower:.2f} "
            f"to {r.reduced.upper:.2f}, logarithms divided out), slower than the printed R^-{r.printed}."
            for r in slower
        )
    settled = sum(r.verdict == "yes" for r in found)
    return (
        "No printed order of theorems 1 and 2 in R is contradicted on small convex problems; "
        f"{settled} of {len(found)} fits are precise enough to say that it is reached. This tests no constants.",
    )
