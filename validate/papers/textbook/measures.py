"""How both sides of the results about methods are measured by the exact oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.exact_moments import Moments
from sim.participation import Bernoulli, UniformChoice
from theory.assumptions import Smooth
from theory.claim import Claim
from validate.bounds import Cases
from validate.scenario import Scenario

# A variance is a difference of two moments; in floats, one that is smaller than this share of them is left out.
RESOLVED = 1e-5


def cases(claim: Claim, scenario: Scenario) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: a claim of this paper.
        scenario: local SGD or FedAvg-SVRG on a quadratic problem; exact numbers give exact cases.

    Returns:
        None when the claim does not speak of such a scenario, or is not one that is measured.
    """
    measure = _MEASURES.get(claim.label)
    if measure is None or not isinstance(scenario, Scenario):
        return None
    algorithm = scenario.algorithm
    if scenario.rounds < 1 or isinstance(algorithm.step, tuple):
        return None
    if algorithm.aggregation != "unbiased" or algorithm.empty != "keep":
        return None
    run = _Run(claim, scenario)
    if any(p.name == "L" for p in claim.parameters) and not run.L > 0:  # linear functions: L > 0 is not sharp
        return None
    return measure(run)


class _Run:
    """One scenario's moments and constants, under the names that the claims use."""

    def __init__(self, claim: Claim, scenario: Scenario) -> None:
        self.scenario, self.problem, self.algorithm = scenario, scenario.problem, scenario.algorithm
        self.samplewise = any(
            isinstance(h.assumption, Smooth) and h.assumption.of == "sample" for h in claim.conditions
        )
        self.delta: Any = self.algorithm.step
        self.K, self.N = scenario.rounds, scenario.problem.clients
        self.M = self.algorithm.inner if isinstance(self.algorithm, FedAvgSVRG) else self.algorithm.local_steps
        self.exact = scenario.exact
        self.m: Moments = scenario.moments()

    # which method it is

    @property
    def full(self) -> bool:
        """Whether everybody takes part, always."""
        return isinstance(self.scenario.participation, Bernoulli) and bool((self.m.participation == 1).all())

    @property
    def local(self) -> bool:
        """Local SGD in which everybody takes part."""
        return isinstance(self.algorithm, FedAvg) and self.full

    @property
    def batches(self) -> bool:
        """Minibatch SGD: clients that are copies of one another, one step a round."""
        p = self.problem
        copies = (p.counts == p.counts[0]).all() and (p.hessian == p.hessian[:1]).all()
        return self.local and self.M == 1 and bool(copies and (p.linear == p.linear[:1]).all())

    @property
    def sgd(self) -> bool:
        """Plain SGD."""
        return self.local and self.N == 1 and self.M == 1

    @property
    def descent(self) -> bool:
        """Gradient descent."""
        return self.sgd and self.deterministic

    @property
    def deterministic(self) -> bool:
        """Whether each client has one sample."""
        return bool((self.problem.counts == 1).all())

    @property
    def svrg(self) -> bool:
        """SVRG: one client, one snapshot a round."""
        return isinstance(self.algorithm, FedAvgSVRG) and self.algorithm.snapshots == 1 and self.N == 1 and self.full

    @property
    def bounded(self) -> bool:
        """Whether f has a minimum."""
        return self.m.suboptimality is not None

    @property
    def curved(self) -> bool:
        """Whether f has one minimiser."""
        return self.bounded and bool(self.mu > 0)

    # parameters

    @property
    def L(self) -> Any:
        return self.problem.sample_smoothness if self.samplewise else self.problem.smoothness

    @property
    def mu(self) -> Any:
        return self.problem.strong_convexity

    @property
    def f0_gap(self) -> Any:
        return self.suboptimality[0]

    @property
    def R2(self) -> Any:
        return self.squared_distance[0]

    @property
    def sigma_star2(self) -> Any:
        return self.problem.sampling_noise(self.problem.minimiser)[0]

    @property
    def G2(self) -> Any:
        return self.m.estimator.max()

    # by round

    @property
    def suboptimality(self) -> np.ndarray:
        """(K+1,)"""
        assert self.m.suboptimality is not None
        return np.maximum(self.m.suboptimality, 0)

    @property
    def squared_distance(self) -> np.ndarray:
        """(K+1,), E||theta^k - x*||^2."""
        best = self.problem.minimiser
        return np.maximum(self.m.squared_iterate_norm - 2 * (self.m.mean @ best) + best @ best, 0)

    @property
    def noise(self) -> np.ndarray:
        """(K,), (1/N^2) sum over n, m of E||v||^2."""
        return self.m.estimator.sum(axis=(1, 2, 3)) / self.N**2

    @property
    def drift(self) -> np.ndarray:
        """(K,), (1/N) sum over n, m of E||w_{n,m} - theta^k||^2."""
        return self.m.displacement.sum(axis=(1, 2, 3)) / self.N

    @property
    def one_step(self) -> bool:
        """One step a round of local SGD, after which the variance stands out from the rounding of the moments."""
        if not isinstance(self.algorithm, FedAvg) or self.M > 1:
            return False
        return self.exact or bool(self.next_variance > RESOLVED * self.m.squared_iterate_norm[1])

    @property
    def next_variance(self) -> Any:
        """E||theta^1 - E theta^1||^2."""
        return self.m.squared_iterate_norm[1] - self.m.mean[1] @ self.m.mean[1]

    def cases(self, left: Any, index: dict[str, np.ndarray] | None = None, **parameters: Any) -> Cases:
        """Cases from left sides (a number or an array)."""
        sides = np.atleast_1d(np.asarray(left, dtype=object if self.exact else np.float64))
        return Cases(sides, parameters, index or {})

    def named(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


Measure = Callable[[_Run], "Cases | None"]


def _later(left: str, *names: str) -> Measure:
    """A claim about x_k, for k = 1..K."""

    def measure(run: _Run) -> Cases:
        k = np.arange(1, run.K + 1)
        return run.cases(getattr(run, left)[1:], {"k": k}, k=k, **run.named(*names))

    return measure


def _next(*names: str, **rounds: str) -> Measure:
    """A claim about E||x_{k+1} - x*||^2 given what is known at k, for k = 0..K-1."""

    def measure(run: _Run) -> Cases:
        k = np.arange(run.K)
        parameters = {name: getattr(run, of)[: run.K] for name, of in rounds.items()}
        return run.cases(run.squared_distance[1:], {"k": k}, **parameters, **run.named(*names))

    return measure


def _mean_gradient(*names: str) -> Measure:
    return lambda run: run.cases(run.m.mean_squared_gradient_norm(), **run.named(*names))


def _mean_suboptimality(run: _Run) -> Cases:
    left = run.suboptimality[:-1].sum() / run.K
    return run.cases(left, **run.named("delta", "L", "K", "R2", "sigma_star2"))


def _sgd_nonconvex(run: _Run) -> Cases:
    variances = run.m.estimator[:, 0, 0, 0] - run.m.squared_gradient_norm[:-1]
    return run.cases(
        run.m.mean_squared_gradient_norm(),
        sigma2=np.maximum(variances, 0).max(),
        **run.named("delta", "L", "K", "f0_gap"),
    )


def _variance_transfer(run: _Run) -> Cases:
    """At the start, where E_i||grad f_i(x) - grad f_i(x*)||^2 = E_i||H_i (x-x*)||^2."""
    away = run.scenario.start - run.problem.minimiser
    moved = run.problem.hessian[0, : run.problem.counts[0]] @ away
    return run.cases((moved * moved).sum() / int(run.problem.counts[0]), L=run.L, gap=run.f0_gap)


def _batch_variance(run: _Run) -> Cases:
    sigma2 = run.problem.sampling_noise(run.scenario.start)[0]
    return run.cases(run.next_variance, delta=run.delta, N=run.N, sigma2=sigma2)


def _participation_variance(run: _Run) -> Cases:
    gradients = run.problem.client_gradient(run.scenario.start)
    weights = 1 / run.m.participation[0] - 1
    squares = (weights * (gradients * gradients).sum(axis=1)).sum()
    return run.cases(run.next_variance, delta=run.delta, N=run.N, weighted_squares=squares)


def _choice_variance(run: _Run) -> Cases:
    away = run.problem.client_gradient(run.scenario.start) - run.problem.gradient(run.scenario.start)
    spread = (away * away).sum() / run.N
    return run.cases(
        run.next_variance, delta=run.delta, count=run.N, size=run.scenario.participation.size, spread=spread
    )


def _gaps(run: _Run) -> np.ndarray:
    """(K, M), E f(w_m) - f* of the only client."""
    assert run.m.local_suboptimality is not None
    return np.maximum(run.m.local_suboptimality[:, 0, 0, :], 0)


def _estimators(run: _Run) -> Cases:
    gaps = _gaps(run)
    k, m = (axis.ravel() for axis in np.indices(gaps.shape))
    zero = np.zeros_like(k)
    return run.cases(
        run.m.estimator[:, 0, 0, :].ravel(),
        {"k": k, "n": zero, "s": zero, "m": m},
        L=run.L,
        local_gap=gaps.ravel(),
        snapshot_gap=np.repeat(gaps[:, 0], run.M),
    )


def _epochs(run: _Run) -> Cases:
    gaps, k = _gaps(run), np.arange(run.K)
    return run.cases(
        gaps.sum(axis=1) / run.M,
        {"k": k, "n": np.zeros_like(k)},
        start_gap=gaps[:, 0],
        **run.named("mu", "L", "delta", "M"),
    )


def _when(condition: Callable[[_Run], bool], measure: Measure) -> Measure:
    return lambda run: measure(run) if condition(run) else None


_STEP = ("delta", "mu", "L")

_MEASURES: dict[str, Measure] = {
    "minibatch-variance": _when(lambda r: r.one_step and r.batches, _batch_variance),
    "participation-variance": _when(
        lambda r: r.one_step and r.deterministic and isinstance(r.scenario.participation, Bernoulli),
        _participation_variance,
    ),
    "client-sampling-variance": _when(
        lambda r: r.one_step and r.deterministic and isinstance(r.scenario.participation, UniformChoice),
        _choice_variance,
    ),
    "variance-transfer": _when(lambda r: r.sgd and r.curved, _variance_transfer),
    "average-gradient": _when(lambda r: r.descent and r.bounded, _mean_gradient("delta", "L", "K", "f0_gap")),
    "gradient-descent-linear": _when(lambda r: r.descent and r.curved, _later("suboptimality", *_STEP, "f0_gap")),
    "gradient-descent-tight": _when(lambda r: r.descent and r.curved, _later("suboptimality", "delta", "L", "R2")),
    "sgd-step": _when(lambda r: r.sgd and r.curved, _next(*_STEP, "sigma_star2", distance2="squared_distance")),
    "sgd-strongly-convex": _when(lambda r: r.sgd and r.curved, _later("squared_distance", *_STEP, "R2", "sigma_star2")),
    "minibatch-sgd": _when(
        lambda r: r.batches and r.curved, _later("squared_distance", *_STEP, "N", "R2", "sigma_star2")
    ),
    "sgd-convex": _when(lambda r: r.sgd and r.curved, _mean_suboptimality),
    "sgd-nonconvex": _when(lambda r: r.sgd and r.bounded, _sgd_nonconvex),
    "svrg-estimator": _when(lambda r: r.svrg and r.curved, _estimators),
    "svrg-contraction": _when(lambda r: r.svrg and r.curved, _epochs),
    "local-sgd-round": _when(
        lambda r: r.local and r.curved, _next(*_STEP, "M", distance2="squared_distance", drift="drift", noise="noise")
    ),
    "local-sgd-strongly-convex": _when(
        lambda r: r.local and r.curved, _later("squared_distance", *_STEP, "M", "N", "R2", "G2")
    ),
}
