"""How the claims about mixing weights are measured: on clients that are quadratics, with every outcome enumerated.

A scenario runs local SGD (one local step: mini-batch SGD with one sample of every client) and, at each iterate, the
projected gradient descent of T_a steps on client i's program (2). The QP is solved by `theory.mixing`, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.assumptions import (
    Assumption,
    BoundedDissimilarity,
    BoundedDomain,
    BoundedGradient,
    InteriorMinimiser,
    VarianceAtMost,
)
from theory.claim import Claim
from theory.mixing import mixing_weights, projected_gradient
from validate.bounds import Cases
from validate.description import number, of_problem, of_step

Array = np.ndarray

RESOLVED = 1e-20  # squared distances of weights below this are rounding


@dataclass(frozen=True, eq=False)
class MixingScenario:
    """Mixing weights of one client along every outcome of a run of local SGD.

    Attributes:
        name: a few words.
        problem: N clients in d dimensions, all with as many samples.
        counts: n_j of program (2), shape (N,); not the number of samples that the gradients are drawn from.
        lam: lambda.
        client: i.
        weight_steps: T_a.
        start: w^0, shape (d,).
        step: gamma.
        local_steps: K.
        rounds: R.
        radius: W = [-radius, radius], in one dimension; None for the smallest box that holds all points that occur.
    """

    name: str
    problem: Quadratic
    counts: Array
    lam: float
    client: int
    weight_steps: int
    start: Array
    step: float
    local_steps: int
    rounds: int
    radius: float | None = None

    exact = False
    participation = None

    def description(self) -> str:
        """What it is, for a reader."""
        run = f"local_steps={self.local_steps}, R={self.rounds}, {of_step(self.step)}" if self.rounds else "no run"
        weights = f"weights of client {self.client}, lambda={number(self.lam)}, T_a={self.weight_steps}"
        return f"{of_problem(self.problem)}, {weights}, {run}"

    def stays_finite(self) -> bool:
        """Whether the iterates are finite."""
        return bool(np.isfinite(self.path[-1]).all())

    @cached_property
    def minimiser(self) -> Array:
        """w*, over W; shape (d,)."""
        return self.project(self.problem.minimiser)

    def project(self, points: Array) -> Array:
        return points if self.radius is None else np.clip(points, -self.radius, self.radius)

    @cached_property
    def path(self) -> list[Array]:
        """w^0..w^R; entry r has every outcome of r rounds, all equally likely, shape (B_r, d)."""
        return [points for points, _ in self._played]

    @cached_property
    def visited(self) -> Array:
        """All points that occur, local iterates and w* included, shape (P, d)."""
        return np.concatenate([self.minimiser[None], self.start[None], *(points for _, points in self._played)])

    @cached_property
    def _played(self) -> list[tuple[Array, Array]]:
        """By round: the outcomes of its end, and all points that occur in it."""
        hessian, linear = self.problem.hessian, self.problem.linear
        clients, samples = hessian.shape[:2]
        draws = np.array(list(product(range(samples), repeat=clients)))  # (S, N), one sample of each client
        own = np.arange(clients)
        played = [(self.start[None], self.start[None])]
        for _ in range(self.rounds):
            local = np.repeat(played[-1][0][:, None], clients, axis=1)  # (B, N, d)
            seen = []
            for _ in range(self.local_steps):
                gradient = np.einsum("snij,bnj->bsni", hessian[own, draws], local) - linear[own, draws]
                local = (local[:, None] - self.step * gradient).reshape(-1, *local.shape[1:])
                seen.append(local.reshape(-1, local.shape[-1]))
            ends = self.project(local.mean(axis=1))
            played.append((ends, np.concatenate([*seen, ends])))
        return played

    def distances(self, points: Array) -> Array:
        """z_j = ||grad f_i - grad f_j||^2 at points (B, d), shape (B, N)."""
        gradients = self.gradients(points)
        return _squares(gradients[:, self.client, None] - gradients)

    def best_weights(self, points: Array) -> Array:
        """The minimisers of (2) at points (B, d), shape (B, N)."""
        return mixing_weights(self.distances(points), self.counts, self.lam).weights

    def descended(self, points: Array, start: Array | None = None) -> Array:
        """The weights after T_a steps at points (B, d), from `start` (B, N), or the uniform weights; shape (B, N)."""
        return projected_gradient(self.distances(points), self.counts, self.lam, self.weight_steps, start=start)

    @cached_property
    def zeta(self) -> Array:
        """zeta_ij(w*), shape (N,)."""
        return self.distances(self.minimiser[None])[0]

    # the smallest constants of the problem on all points that occur

    @cached_property
    def diameter(self) -> float:
        """Of W."""
        if self.radius is not None:
            return 2 * self.radius
        return float(np.sqrt(_squares(self.visited.max(axis=0) - self.visited.min(axis=0))))

    @cached_property
    def largest(self) -> dict[str, float]:
        """The largest variance, dissimilarity (both squares) and gradient norm; samples have one Hessian a client."""
        ends = np.zeros((0, 1)) if self.radius is None else np.array([[self.radius], [-self.radius]])
        gradients = self.gradients(np.concatenate([self.visited, ends]) if len(ends) else self.visited)
        return {
            "variance": float(self.problem.sampling_noise(self.start).max()),
            "dissimilarity": float(_squares(gradients - gradients.mean(axis=1, keepdims=True)).max()),
            "gradient": float(np.sqrt(_squares(gradients).max())),
        }

    def gradients(self, points: Array) -> Array:
        """grad f_n at points (B, d), shape (B, N, d)."""
        return np.einsum("nij,bj->bni", self.problem.client_hessian, points) - self.problem.client_linear

    def least_constant(self, assumption: Assumption) -> float | None:
        """See `validate.assumptions`."""
        if isinstance(assumption, InteriorMinimiser):
            return 0.0 if np.array_equal(self.minimiser, self.problem.minimiser) else None
        names: dict[type[Assumption], str] = {
            VarianceAtMost: "variance",
            BoundedDissimilarity: "dissimilarity",
            BoundedGradient: "gradient",
        }
        return self.diameter if isinstance(assumption, BoundedDomain) else self.largest[names[type(assumption)]]


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario, or None when it does not speak of it."""
    measure = _MEASURES.get(claim.label)
    return measure(claim, scenario) if measure is not None and isinstance(scenario, MixingScenario) else None


def _cases(claim: Claim, s: MixingScenario, left: Array, index: dict[str, Array], **more: Any) -> Cases:
    """Cases with the claim's parameters; vectors are repeated for each case."""
    given = {
        "L": s.problem.smoothness,
        "mu": s.problem.strong_convexity,
        "N": s.problem.clients,
        "K": s.local_steps,
        "R": s.rounds,
        "M": s.problem.clients,
        "T": s.rounds,
        "T_a": s.weight_steps,
        "gamma": s.step,
        "lam": s.lam,
        "n": s.counts,
        "zbar": s.zeta.mean(),
        "D": s.diameter,
        "delta2": s.largest["variance"],
        "dist0": _squares(s.start - s.minimiser),
        **more,
    }
    parameters = {}
    for p in claim.parameters:
        value = s.largest["dissimilarity"] if p.name == "zeta" and p.shape != "vector" else given.get(p.name, s.zeta)
        parameters[p.name] = np.broadcast_to(value, (len(left), len(s.counts))) if p.shape == "vector" else value
    return Cases(left, parameters, index)


def _moved(root: bool) -> Measure:
    """||a*(w) - a*(w*)||^2, or its root, for every outcome w of the run."""

    def measure(claim: Claim, s: MixingScenario) -> Cases:
        points = s.path[-1]
        left = _squares(s.best_weights(points) - s.best_weights(s.minimiser[None]))
        index = {"outcome": np.arange(len(points))}
        return _cases(claim, s, np.sqrt(left) if root else left, index, dist2=_squares(points - s.minimiser))

    return measure


def _descent(claim: Claim, s: MixingScenario) -> Cases | None:
    """Numbers of steps up to T_a, at w^0."""
    z = s.distances(s.start[None])[0]
    iterates = projected_gradient(z, s.counts, s.lam, s.weight_steps, trajectory=True)
    errors = _squares(iterates - mixing_weights(z, s.counts, s.lam).weights)
    # An error of the size of rounding is none; beside exp(-30) it would be large.
    errors[errors < RESOLVED] = 0
    steps = np.arange(1, s.weight_steps + 1)
    if claim.label == "theorem-1-alpha-rate":
        steps = steps[steps * s.lam * s.counts.min() < 30]
    return _cases(claim, s, errors[steps], {"T_a": steps}, T_a=steps, start2=errors[0]) if len(steps) else None


def _error(claim: Claim, s: MixingScenario) -> Cases | None:
    """E||ahat - a*||^2; the claims on mini-batch SGD are about one local step, that on local SGD not about projections.

    lemma-15 has no condition on the minimiser, theorem-1 has: `unmet` sees to it.
    """
    if s.rounds < 1 or (claim.label.startswith("lemma-15") and s.local_steps > 1):
        return None
    left = _squares(s.descended(s.path[-1]) - s.best_weights(s.minimiser[None])).mean()
    return _cases(claim, s, left[None], {})


def _step(claim: Claim, s: MixingScenario) -> Cases | None:
    """E||a^r - a^{r-1}||^2 at the last r; each epoch's descent goes on from the weights of the one before."""
    if s.local_steps > 1 or s.rounds < 2:
        return None
    now = np.full((1, len(s.counts)), 1 / len(s.counts))
    before = now
    for points in s.path[1:]:
        before = np.repeat(now, len(points) // len(now), axis=0)
        now = s.descended(points, before)
    return _cases(claim, s, _squares(now - before).mean()[None], {})


def _squares(vectors: Array) -> Array:
    return np.asarray((vectors * vectors).sum(axis=-1))


Measure = Callable[[Claim, MixingScenario], "Cases | None"]

_MEASURES: dict[str, Measure] = {
    "lipschitz-observation": _moved(root=False),
    "lemma-3": _moved(root=True),
    "lemma-3/corrected": _moved(root=True),
    "theorem-1-alpha-rate": _descent,
    "theorem-1-alpha-rate/corrected": _descent,
    "lemma-14-alpha-rate": _descent,
    "theorem-1/corrected": _error,
    "lemma-15/corrected": _error,
    "lemma-14/corrected": _step,
}
