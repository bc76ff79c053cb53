"""All epochs: runs of Algorithms 1 and 2 on scalar quadratics, in floats, with exact expectations over the orders.

The step conditions keep c_j h_j at most 1, so every iterate stays between the start and the points (b_j -+ e)/h_j. W is
the smallest interval that holds these: the projection does nothing, and G and D are those of this interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.assumptions import Assumption, BoundedDissimilarity, BoundedDomain, BoundedGradient, VarianceAtMost
from theory.claim import Claim
from theory.mixing import mixing_weights, projected_gradient
from validate.bounds import Cases
from validate.description import number, of_problem, of_step
from validate.papers.perm.shuffling_epochs import Epoch

Array = np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Run:
    """R epochs of one model, from a known start.

    Attributes:
        name: for the reader.
        h, b: (N,), f_j(v) = h_j/2 v^2 - b_j v.
        weights: (R+1, N), a^0 .. a^R; epoch r has a^r.
        step: eta.
        local_steps: K.
        start: v^0.
        spread: e, a sampled gradient is off by +e or -e.
        reaches: further points that W has to hold.
    """

    name: str
    h: Array
    b: Array
    weights: Array
    step: float
    local_steps: int
    start: float
    spread: float = 0.0
    reaches: tuple[float, ...] = ()

    exact = False

    def description(self) -> str:
        """What it is, for a reader."""
        weights = "fixed weights" if bool((self.weights == self.weights[0]).all()) else "moving weights"
        noise = f", noise {number(self.spread)}" if self.spread else ""
        method = f"local_steps={self.local_steps}, epochs={self.epochs}, {of_step(self.step)}"
        return f"shuffling SGD, {of_problem(self.problem)}{noise}, {weights}, {method}"

    def stays_finite(self) -> bool:
        """All iterates stay in W."""
        return True

    def least_constant(self, assumption: Assumption) -> Any:
        """The smallest constant with which an assumption about W holds."""
        known = {VarianceAtMost: self.spread**2, BoundedGradient: self.G, BoundedDomain: self.diameter}
        known[BoundedDissimilarity] = self.dissimilarity
        return known.get(type(assumption), 0.0)  # the minimiser of F is a mean of the b_j/h_j, inside W

    @cached_property
    def problem(self) -> Quadratic:
        """The clients, with two samples each."""
        return self._epoch(self.weights[0]).problem

    @property
    def epochs(self) -> int:
        """R."""
        return len(self.weights) - 1

    @property
    def mu(self) -> float:
        return float(self.h.min())

    @property
    def L(self) -> float:
        return float(self.h.max())

    @cached_property
    def domain(self) -> Array:
        """The ends of W."""
        points = [self.start, *self.reaches, *((self.b - self.spread) / self.h), *((self.b + self.spread) / self.h)]
        return np.array([min(points), max(points)])

    @property
    def diameter(self) -> float:
        return float(self.domain[1] - self.domain[0])

    @property
    def G(self) -> float:
        return float(abs(np.outer(self.domain, self.h) - self.b).max())

    @property
    def dissimilarity(self) -> float:
        """zeta."""
        gradients = np.outer(self.domain, self.h) - self.b
        return float(((gradients - gradients.mean(axis=1, keepdims=True)) ** 2).max())

    def best(self, alpha: Array) -> float:
        """v*(alpha)."""
        return float(alpha @ self.b / (alpha @ self.h))

    def _epoch(self, alpha: Array) -> Epoch:
        hessian, linear = self.h.reshape(-1, 1, 1), self.b.reshape(-1, 1)
        zero = np.zeros(1)
        return Epoch("", hessian, linear, alpha, self.step, self.local_steps, 1, zero, 0.0, self.spread)

    @cached_property
    def moments(self) -> list[tuple[float, float]]:
        """(E v^r, E (v^r)^2) for r = 0..R: in every order v' = A v + B + noise, with one A, and B of that order."""
        found = [(self.start, self.start**2)]
        maps: dict[bytes, tuple[float, float, float, float]] = {}
        for alpha in self.weights[:-1]:
            if alpha.tobytes() not in maps:
                epoch = self._epoch(alpha)
                ends = np.array([epoch.end(order)[0] for order in epoch.orders])
                noise = np.mean([epoch.noise_squared(order) for order in epoch.orders])
                factor = np.prod([powers[-1][0, 0] for powers in epoch.powers])
                maps[alpha.tobytes()] = (factor, ends.mean(), (ends**2).mean(), noise)
            A, B, square, noise = maps[alpha.tobytes()]
            mean, second = found[-1]
            found.append((A * mean + B, A**2 * second + 2 * A * B * mean + square + noise))
        return found

    def distance(self, r: int, point: float) -> float:
        """E (v^r - point)^2."""
        mean, second = self.moments[r]
        return max(second - 2 * mean * point + point**2, 0.0)

    def final_gap(self, wanted: Array) -> float:
        """E[Phi(a*, vhat) - Phi(a*, v*(a*))], vhat = v^R - (1/L) grad Phi(a^R, v^R), Phi = sum_j a_j f_j, a* = wanted.

        vhat is a mean of v^R and of a point between the b_j/h_j, so W does not bind.
        """
        last = self.weights[-1]
        shrink, shift = 1 - last @ self.h / self.L, last @ self.b / self.L
        mean, second = self.moments[-1]
        best = self.best(wanted)
        away = shrink**2 * second + 2 * shrink * (shift - best) * mean + (shift - best) ** 2
        return float(wanted @ self.h / 2 * max(away, 0.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Personal(Run):
    """A run whose weights come from Algorithm 3 (`two_stage`) or, epoch by epoch, from Algorithm 2 (`single_loop`).

    Attributes:
        n: (N,), samples of each client.
        lam: of the mixing-weight program.
        gamma: step of the global model, whose gradients are exact.
        descents: T_a.
        first: w^0.
    """

    n: Array
    lam: float
    gamma: float
    descents: int
    first: float

    @property
    def optimum(self) -> float:
        """w*."""
        return float(self.b.sum() / self.h.sum())

    def dissimilarities(self, w: float) -> Array:
        """||grad f_1 - grad f_j||^2 at w: the weights are those of client 1."""
        gradients = self.h * w - self.b
        return (gradients[0] - gradients) ** 2

    @property
    def wanted(self) -> Array:
        """a*."""
        return np.asarray(mixing_weights(self.dissimilarities(self.optimum), self.n, self.lam).weights)


def two_stage(
    h: Array, b: Array, n: Array, lam: float, gamma: float, descents: int, first: float, rounds: int, **rest: Any
) -> Personal:
    """Algorithm 3 without noise, and Algorithm 1 on its weights for as many epochs; `rest` as for `Run`."""
    w, reached = first, [first]
    for _ in range(rounds):
        ends = np.full(len(h), w)
        for _ in range(rest["local_steps"]):
            ends = ends - gamma * (h * ends - b)
        w = float(ends.mean())
        reached.append(w)
    gradients = h * w - b
    alpha = projected_gradient((gradients[0] - gradients) ** 2, n, lam, descents)
    weights = np.tile(alpha, (rounds + 1, 1))
    return Personal(
        h=h, b=b, weights=weights, reaches=tuple(reached), n=n, lam=lam, gamma=gamma, descents=descents, first=first,
        **rest,
    )  # fmt: skip


def single_loop(
    h: Array, b: Array, n: Array, lam: float, gamma: float, descents: int, first: float, rounds: int, **rest: Any
) -> Personal:
    """Algorithm 2 with exact gradients of the global model; a^0 is uniform, a^r descends from a^{r-1} at w^r."""
    w, alpha = first, np.full(len(h), 1 / len(h))
    weights = [alpha]
    for _ in range(rounds):
        w = w - gamma * float((h * w - b).mean())
        gradients = h * w - b
        alpha = projected_gradient((gradients[0] - gradients) ** 2, n, lam, descents, start=alpha)
        weights.append(alpha)
    return Personal(
        h=h, b=b, weights=np.array(weights), reaches=(first,), n=n, lam=lam, gamma=gamma, descents=descents,
        first=first, **rest,
    )  # fmt: skip


def run_cases(claim: Claim, run: Any) -> Cases | None:
    """Both sides of a claim about all epochs with scalar parameters, or None."""
    if not isinstance(run, Run):
        return None
    known = {"mu": run.mu, "L": run.L, "N": len(run.h), "K": run.local_steps, "eta": run.step, "G": run.G}
    known |= {"delta2": run.spread**2}
    r = np.arange(1, run.epochs + 1)
    if claim.label == "theorem-2-unrolled/corrected" and bool((run.weights == run.weights[0]).all()):
        best = run.best(run.weights[0])
        left = np.array([run.distance(k, best) for k in range(1, run.epochs + 1)])
        return Cases(left, {**known, "R": r, "V0": (run.start - best) ** 2}, {"k": r})
    if claim.label == "theorem-3-explicit/corrected":
        left = np.array([run.distance(k, run.best(run.weights[k])) for k in range(1, run.epochs + 1)])
        drifts = np.maximum.accumulate((np.diff(run.weights, axis=0) ** 2).sum(axis=1))
        parameters = {**known, "R": r, "V0": (run.start - run.best(run.weights[0])) ** 2, "weight_drift2": drifts}
        return Cases(left, parameters, {"k": r})
    return None


def personal_sides(claim: Claim, runs: Sequence[Personal]) -> list[tuple[float, float]]:
    """E of the gap at the best weights, and its bound, for the runs that satisfy the claim's relations.

    Raises:
        ValueError: for a claim without a right side.
    """
    names = {p.name for p in claim.parameters}
    found = []
    for run in runs:
        known: dict[str, Any] = {
            "mu": run.mu, "L": run.L, "N": len(run.h), "K": run.local_steps, "R": run.epochs, "eta": run.step,
            "gamma": run.gamma, "G": run.G, "D": run.diameter, "delta2": run.spread**2, "zeta": run.dissimilarity,
            "dist0": (run.first - run.optimum) ** 2, "M": 1, "lam": run.lam, "n": run.n, "T_a": run.descents,
            "zbar": float(run.dissimilarities(run.optimum).mean()),
        }  # fmt: skip
        given = {name: value for name, value in known.items() if name in names}
        if not claim.violated(**given):
            found.append((run.final_gap(run.wanted), float(claim.bound(**given))))
    return found
