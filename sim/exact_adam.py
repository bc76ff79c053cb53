"""One client's Adam with the running maximum, on a problem with finitely many samples, without Monte Carlo.

The update is (3) of "On the Stability Analysis of Open Federated Learning Systems" (Sun, Fernando, Chen, Shahrampour):

    h+ = beta1 h + (1-beta1) g,   v+ = beta2 vhat + (1-beta2) g^2,   vhat+ = max(v+, vhat),
    x+ = x - eta (eps + vhat+)^(-1/2) h+,

coordinate by coordinate, g the gradient of a sample drawn uniformly, and no bias correction. From a given state there
are as many next states as samples, so that the conditional expectation of any function of the next state is a mean of
n numbers: it is computed, not estimated. Everything is vectorised over states: arrays have the shape (..., d).

A *communication* moves x and leaves h and vhat as they are (Algorithm 1 initialises the optimiser only when a client
enters); x^{k-1} is then the client's own iterate before the communication.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, real
from sim.problems.quadratic import Quadratic

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AdamRule:
    """The numbers of (3).

    Attributes:
        step: eta, in (0, inf).
        beta1: in [0, 1).
        beta2: in [0, 1).
        eps: in (0, inf), inside the square root.

    Raises:
        ValueError: a number outside its domain.
    """

    step: float
    beta1: float
    beta2: float
    eps: float

    def __post_init__(self) -> None:
        for name in ("step", "eps"):
            if not real(name, getattr(self, name), "(0, inf)") > 0:
                raise ValueError(f"{name}={getattr(self, name)} is outside (0, inf)")
        for name in ("beta1", "beta2"):
            if not 0 <= real(name, getattr(self, name), "[0, 1)") < 1:
                raise ValueError(f"{name}={getattr(self, name)} is outside [0, 1)")


@dataclass(frozen=True, eq=False)
class AdamState:
    """A client's state at iteration k; each array has the shape (..., d).

    Attributes:
        x: x^k.
        h: h^k, the first moment.
        vhat: vhat^k, the running maximum of the second moment.
        previous: x^{k-1}; at the start, x^0.
    """

    x: Array
    h: Array
    vhat: Array
    previous: Array

    def moved_to(self, x: Any) -> AdamState:
        """The state after a communication that puts the client at x, shape (..., d)."""
        return replace(self, x=np.broadcast_to(float_array("x", x), self.x.shape).copy(), previous=self.x)

    def at(self, *index: Any) -> AdamState:
        """The states of an index into the leading axes."""
        return AdamState(self.x[index], self.h[index], self.vhat[index], self.previous[index])


@dataclass(frozen=True, eq=False)
class AdamClient:
    """A client that runs Adam on its own samples f_i(x) = x'H_i x/2 - b_i'x; f is their mean.

    Attributes:
        problem: of which one client is taken; its f has a positive definite Hessian.
        rule: the numbers of (3).
        client: which client.

    Raises:
        ValueError: no such client, or f without a unique minimiser.
    """

    problem: Quadratic
    rule: AdamRule
    client: int = 0

    def __post_init__(self) -> None:
        if integer("client", self.client, 0) >= self.problem.clients:
            raise ValueError(f"client={self.client} is outside the integers in [0, {self.problem.clients - 1}]")
        if not self.strong_convexity > 0:
            raise ValueError(f"problem has the strong convexity {self.strong_convexity:.6g}, outside (0, inf)")

    # the function

    @cached_property
    def hessian(self) -> Array:
        """(d, d), of f."""
        return np.asarray(self._hessians.mean(axis=0))

    @cached_property
    def minimiser(self) -> Array:
        """(d,), x*."""
        return np.linalg.solve(self.hessian, self._linears.mean(axis=0))

    @property
    def strong_convexity(self) -> float:
        """mu of f."""
        return float(self._curvatures[0])

    @property
    def smoothness(self) -> float:
        """L of f."""
        return float(self._curvatures[-1])

    def sampled_gradients(self, x: Array) -> Array:
        """Every sample's gradient: (..., d) -> (..., n, d)."""
        return np.einsum("...e,nde->...nd", x, self._hessians) - self._linears

    def gradient(self, x: Array) -> Array:
        """grad f: (..., d) -> (..., d)."""
        return (x - self.minimiser) @ self.hessian

    def suboptimality(self, x: Array) -> Array:
        """f(x) - f*: (..., d) -> (...)."""
        away = x - self.minimiser
        return ((away @ self.hessian) * away).sum(axis=-1) / 2

    def largest_gradient(self, x: Array) -> float:
        """The largest norm of a sampled gradient at any of the points (..., d): the least sigma of Assumption 4."""
        return float(np.linalg.norm(self.sampled_gradients(x), axis=-1).max())

    # the algorithm

    def start(self, x: Any) -> AdamState:
        """The state of a client that has just entered at x, shape (..., d): h = vhat = 0."""
        x = self._points(x)
        return AdamState(x, np.zeros_like(x), np.zeros_like(x), x)

    def step(self, state: AdamState, gradient: Array) -> AdamState:
        """The next state, from a gradient of the shape of x."""
        rule = self.rule
        h = rule.beta1 * state.h + (1 - rule.beta1) * gradient
        vhat = np.maximum(rule.beta2 * state.vhat + (1 - rule.beta2) * gradient**2, state.vhat)
        x = state.x - rule.step * h / np.sqrt(rule.eps + vhat)
        return AdamState(x, h, vhat, np.broadcast_to(state.x, x.shape))

    def next_states(self, state: AdamState) -> AdamState:
        """The n equally likely next states: arrays (..., n, d)."""
        apart = state.at(Ellipsis, None, slice(None))
        return self.step(apart, self.sampled_gradients(state.x))

    def play(self, x: Any, steps: int, seed: int = 0, *, state: AdamState | None = None) -> AdamState:
        """States along one run each.

        Args:
            x: where the runs begin, shape (R, d) or (d,); h = vhat = 0 there.
            steps: K >= 0.
            seed: of the samples, which are drawn independently for every run and step.
            state: begin here, from states with arrays (R, d), in place of a fresh start at x, which is not used then.

        Returns:
            Arrays of the shape (R, K+1, d): the states k = 0..K of each run.
        """
        integer("steps", steps, 0)
        now = state if state is not None else self.start(np.atleast_2d(self._points(x)))
        rng = np.random.default_rng(seed)
        states = [now]
        runs = np.arange(len(now.x))
        for _ in range(steps):
            chosen = rng.integers(len(self._hessians), size=len(runs))
            now = self.step(now, self.sampled_gradients(now.x)[runs, chosen])
            states.append(now)
        fields = ("x", "h", "vhat", "previous")
        return AdamState(*(np.stack([getattr(s, name) for s in states], axis=1) for name in fields))

    # what the proofs of Theorem 3 and Lemma 5 speak of

    def descent(self, state: AdamState) -> Array:
        """A^{k-1} = -<grad f(x^{k-1}), (eps I + Vhat^k)^(-1/2) h^k>: (..., d) -> (...)."""
        return -(self.gradient(state.previous) * self._scaled(state.h, state)).sum(axis=-1)

    def inverse_roots(self, state: AdamState) -> Array:
        """sum_i (eps + vhat_i^k)^(-1/2): (..., d) -> (...)."""
        return ((self.rule.eps + state.vhat) ** -0.5).sum(axis=-1)

    def lyapunov(self, state: AdamState, b: float, c: float) -> Array:
        """(13) at step k: f(x^k) - f* + b sum_i (eps + vhat_i^k)^(-1/2) + c A^{k-1}: (..., d) -> (...)."""
        return self.suboptimality(state.x) + b * self.inverse_roots(state) + c * self.descent(state)

    def weighted_gradient(self, state: AdamState) -> Array:
        """The squared norm of grad f(x^k) in (eps I + Vhat^k)^(-1/2): (..., d) -> (...)."""
        gradient = self.gradient(state.x)
        return (gradient * self._scaled(gradient, state)).sum(axis=-1)

    def parts(self, state: AdamState) -> tuple[Array, Array, Array]:
        """I1, I2 and I3 of (21), from the sampled gradients themselves, each (..., d) -> (...)."""
        gradient, after = self.gradient(state.x), self.next_states(state)
        beta1 = self.rule.beta1
        one = -beta1 * (gradient * self._scaled(state.h, state)).sum(axis=-1)
        sampled = self._scaled(self.sampled_gradients(state.x).mean(axis=-2), state)
        two = -(1 - beta1) * (gradient * sampled).sum(axis=-1)
        before = (self.rule.eps + state.vhat[..., None, :]) ** -0.5
        change = ((self.rule.eps + after.vhat) ** -0.5 - before) * after.h
        three = -(gradient * change.mean(axis=-2)).sum(axis=-1)
        return one, two, three

    # internal

    def _points(self, x: Any) -> Array:
        points = float_array("x", x)
        if points.ndim == 0 or points.shape[-1] != self.problem.dim:
            raise ValueError(f"x has shape {points.shape}, not (..., {self.problem.dim})")
        return points

    def _scaled(self, vector: Array, state: AdamState) -> Array:
        return vector / np.sqrt(self.rule.eps + state.vhat)

    @cached_property
    def _hessians(self) -> Array:
        count = int(self.problem.counts[self.client])
        return np.asarray(self.problem.hessian[self.client, :count], dtype=np.float64)

    @cached_property
    def _linears(self) -> Array:
        count = int(self.problem.counts[self.client])
        return np.asarray(self.problem.linear[self.client, :count], dtype=np.float64)

    @cached_property
    def _curvatures(self) -> Array:
        return np.asarray(np.linalg.eigvalsh(self.hessian), dtype=np.float64)


def mean_over_samples(values: Array) -> Array:
    """E[. | state] of a function of the next state: (..., n) -> (...), the samples being equally likely."""
    return np.asarray(values.mean(axis=-1))
