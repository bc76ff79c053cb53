"""How each claim's two sides are measured by the exact oracle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from sim.algorithms import FedAvgSVRG
from sim.exact_moments import Moments
from theory.assumptions import Smooth
from theory.claim import Claim
from validate.bounds import Cases
from validate.scenario import Scenario


def cases(claim: Claim, scenario: Scenario) -> Cases | None:
    """The claim's left side and parameters on a scenario, over every index that it speaks of.

    Args:
        claim: a claim of this paper.
        scenario: FedAvg-SVRG on a quadratic problem; exact numbers give exact cases.

    Returns:
        None when the claim does not speak of such a scenario (another algorithm, S > 1 where the claim has S = 1, a
        function without a minimum where it needs one), or is not one that is measured at all.
    """
    measure = _MEASURES.get(claim.label.removesuffix("/with-samples"))
    algorithm = scenario.algorithm
    if measure is None or scenario.rounds < 1 or not isinstance(algorithm, FedAvgSVRG):
        return None
    if isinstance(algorithm.step, tuple) or algorithm.aggregation != "unbiased" or algorithm.empty != "keep":
        return None
    run = _Run(claim, scenario, algorithm)
    return measure(run)


class _Run:
    """One scenario's moments and constants, under the names that the claims use."""

    def __init__(self, claim: Claim, scenario: Scenario, algorithm: FedAvgSVRG) -> None:
        self.claim = claim
        self.problem = scenario.problem
        self.delta: Any = algorithm.step
        self.S, self.M = algorithm.snapshots, algorithm.inner
        self.K, self.N = scenario.rounds, scenario.problem.clients
        self.exact = scenario.exact
        self.m: Moments = scenario.moments()

    @property
    def L(self) -> Any:
        """The smallest constant that the claim's smoothness hypotheses allow."""
        kinds = {h.assumption.of for h in self.claim.conditions if isinstance(h.assumption, Smooth)}
        return self.problem.sample_smoothness if "sample" in kinds else self.problem.smoothness

    @property
    def inverse_p(self) -> np.ndarray:
        """(K, N), 1/p_n^k."""
        return (Fraction(1) if self.exact else 1.0) / self.m.participation

    @property
    def mu(self) -> Any:
        return self.problem.strong_convexity

    @property
    def f0_gap(self) -> Any:
        return _clip(self.m.cost[0] - self.problem.optimal_value)

    @property
    def f_drop(self) -> Any:
        return self.m.cost[0] - self.m.cost[-1]

    @property
    def drift_sum(self) -> Any:
        return self.m.drift_sum()

    @property
    def lexicographic_drift_sum(self) -> Any:
        return self.m.lexicographic_drift_sum()

    @property
    def weighted_sum(self) -> Any:
        return self.m.weighted_sum()

    @property
    def mean_inv_p(self) -> Any:
        return self.inverse_p.sum() / (self.K * self.N)

    @property
    def sum_inv_p(self) -> Any:
        return self.inverse_p[0].sum()

    @property
    def G2(self) -> Any:
        return self.m.estimator.max()

    @property
    def D(self) -> Any:
        return _clip(self.start_gap).max()

    @property
    def start_gap(self) -> np.ndarray:
        """(K, N), E f_n(theta^k) - f_n*."""
        assert self.m.local_suboptimality is not None
        return _clip(self.m.local_suboptimality[:, :, 0, 0])

    # of each round, (K,)

    @property
    def cost(self) -> np.ndarray:
        return self.m.cost[:-1]

    @property
    def squared_gradient_norm(self) -> np.ndarray:
        return _clip(self.m.squared_gradient_norm[:-1])

    @property
    def aggregate_second_moment(self) -> np.ndarray:
        assert self.m.aggregate is not None
        return _clip(self.m.aggregate)

    @property
    def weighted_round(self) -> np.ndarray:
        return (self.m.estimator.sum(axis=(2, 3)) * self.inverse_p).sum(axis=1)

    @property
    def inner_product_sum(self) -> np.ndarray:
        return self.m.inner_product.sum(axis=(1, 2, 3)) / self.N

    @property
    def full_drift_round(self) -> np.ndarray:
        return self.m.estimator.sum(axis=(1, 2, 3)) * self.M

    def before(self, within_snapshot: bool) -> np.ndarray:
        """(K, N, S, M), sum of E||v||^2 over the earlier steps of the snapshot, or of the round."""
        v = self.m.estimator if within_snapshot else self.m.estimator.reshape(self.K, self.N, 1, self.S * self.M)
        earlier = np.cumsum(v, axis=-1) - v
        return earlier if within_snapshot else earlier.reshape(self.m.estimator.shape)

    @property
    def weighted_drift_round(self) -> np.ndarray:
        """(K,), sum over n,s,m of (sM+m) times the steps before, since the round began."""
        steps = np.arange(self.S * self.M).reshape(self.S, self.M)
        return (self.before(False) * (steps.astype(object) if self.exact else steps)).sum(axis=(1, 2, 3))


def _clip(values: Any) -> Any:
    """Suboptimalities are non-negative; in floats they may come out at -1e-17."""
    return np.maximum(values, 0) if np.ndim(values) else max(values, 0 * values)


def _whole(*names: str) -> Callable[[_Run], Cases | None]:
    """A claim about the average squared gradient norm of the whole run."""

    def measure(run: _Run) -> Cases | None:
        if _lacks_minimum(run):
            return None
        left = run.m.mean_squared_gradient_norm()
        parameters = {name: getattr(run, name) for name in names}
        return Cases(np.array([left], dtype=object if run.exact else np.float64), parameters, {})

    return measure


def _lacks_minimum(run: _Run) -> bool:
    return run.m.suboptimality is None


def _lemma(measure: Callable[[_Run], Cases | None]) -> Callable[[_Run], Cases | None]:
    """Lemma V.1 and its lines are for S = 1, strongly convex clients and p constant in k."""

    def restricted(run: _Run) -> Cases | None:
        if run.S != 1 or run.m.local_suboptimality is None or not run.mu > 0:
            return None
        if not (run.m.participation == run.m.participation[:1]).all():
            return None
        return measure(run)

    return restricted


def _grid(**sizes: int) -> dict[str, np.ndarray]:
    """Index arrays over the product of ranges, flattened in C order."""
    axes = np.meshgrid(*(np.arange(n) for n in sizes.values()), indexing="ij")
    return {name: axis.ravel() for name, axis in zip(sizes, axes, strict=True)}


def _by_round(left: Callable[[_Run], np.ndarray], *names: str) -> Callable[[_Run], Cases | None]:
    """A claim about each round k; parameters of shape (K,) or scalars."""

    def measure(run: _Run) -> Cases | None:
        parameters = {name: getattr(run, name) for name in names}
        return Cases(left(run), parameters, _grid(k=run.K))

    return measure


def _first_round(measure: Callable[[_Run], Cases | None]) -> Callable[[_Run], Cases | None]:
    """A claim given theta^k: only round 0 has a theta^k that is known."""

    def restricted(run: _Run) -> Cases | None:
        found = measure(run)
        if found is None:
            return None
        parameters = {name: value[:1] if np.ndim(value) else value for name, value in found.parameters.items()}
        return Cases(found.left[:1], parameters, {name: value[:1] for name, value in found.index.items()})

    return restricted


def _of_aggregates(measure: Callable[[_Run], Cases | None]) -> Callable[[_Run], Cases | None]:
    """A claim about the aggregate, whose moments are known under Bernoulli participation."""
    return lambda run: None if run.m.aggregate is None else measure(run)


def _scaled_aggregate(run: _Run) -> np.ndarray:
    return run.aggregate_second_moment * (run.delta**2 * run.L / (2 * run.N**2))


def _inner_products(lexicographic: bool) -> Callable[[_Run], Cases | None]:
    """Lemma A.2: a case for each k, s, m."""

    def measure(run: _Run) -> Cases:
        index = _grid(k=run.K, s=run.S, m=run.M)
        left = -run.delta * run.m.inner_product.sum(axis=1) / run.N
        drift = run.before(within_snapshot=not lexicographic).sum(axis=1)
        parameters: dict[str, Any] = {name: getattr(run, name) for name in ("delta", "L", "M", "N")}
        parameters["squared_gradient_norm"] = run.squared_gradient_norm[index["k"]]
        if lexicographic:
            parameters |= {"s": index["s"], "m": index["m"], "lexicographic_drift_round": _clip(drift.ravel())}
        else:
            parameters["drift_round"] = _clip(drift.ravel())
        return Cases(left.ravel(), parameters, index)

    return measure


def _inner_iterates(run: _Run) -> dict[str, np.ndarray]:
    index = _grid(k=run.K, n=run.N, m=run.M)
    return index | {"s": np.zeros_like(index["k"])}


def _estimators(run: _Run) -> Cases:
    """(9): a case for each k, n, m."""
    index = _inner_iterates(run)
    assert run.m.local_suboptimality is not None
    local = _clip(run.m.local_suboptimality[:, :, 0, :])
    snapshot = np.broadcast_to(local[:, :, :1], local.shape)
    parameters = {"L": run.L, "local_gap": local.ravel(), "snapshot_gap": snapshot.ravel()}
    return Cases(run.m.estimator[:, :, 0, :].ravel(), parameters, index)


def _local_suboptimality(run: _Run) -> Cases:
    """(10): a case for each k, n, m."""
    index = _inner_iterates(run)
    assert run.m.local_suboptimality is not None
    parameters = {name: getattr(run, name) for name in ("mu", "L", "delta", "M")}
    parameters |= {"k": index["k"], "start_gap": run.start_gap[index["k"], index["n"]]}
    return Cases(run.m.local_suboptimality[:, :, 0, :].ravel(), parameters, index)


def _mean_local_suboptimality(run: _Run) -> Cases:
    """(10), corrected: a case for each k, n."""
    assert run.m.local_suboptimality is not None
    left = run.m.local_suboptimality[:, :, 0, :].sum(axis=-1) / run.M
    parameters = {name: getattr(run, name) for name in ("mu", "L", "delta", "M")}
    return Cases(left.ravel(), parameters | {"start_gap": run.start_gap.ravel()}, _grid(k=run.K, n=run.N))


def _drift(*names: str) -> Callable[[_Run], Cases | None]:
    """(12): a case for each k, n and m >= 1."""

    def measure(run: _Run) -> Cases | None:
        if run.M < 2:
            return None
        index = _inner_iterates(run)
        keep = index["m"] >= 1
        index = {name: value[keep] for name, value in index.items()}
        parameters = {name: getattr(run, name) for name in names} | {"m": index["m"]}
        if "k" in {p.name for p in run.claim.parameters}:
            parameters["k"] = index["k"]
        return Cases(run.before(True)[:, :, 0, :].ravel()[keep], parameters, index)

    return measure


_COMMON = ("delta", "L", "N", "S", "M")
_EQ7 = ("delta", "L", "K", "S", "M", "N")
_EQ8 = ("delta", "L", "K", "S", "M", "G2", "f0_gap", "mean_inv_p")
_EQ14 = ("mu", "L", "delta", "M", "K", "D", "f0_gap", "sum_inv_p", "N")


def _next_cost(run: _Run) -> np.ndarray:
    return run.m.cost[1:]


_A21 = _by_round(_next_cost, *_COMMON, "cost", "inner_product_sum", "weighted_round")

_MEASURES: dict[str, Callable[[_Run], Cases | None]] = {
    "theorem-v1-eq7": _whole(*_EQ7, "f0_gap", "drift_sum", "weighted_sum"),
    "theorem-v1-eq7/corrected": _whole(*_EQ7, "f0_gap", "lexicographic_drift_sum", "weighted_sum"),
    "theorem-v1-eq8": _whole(*_EQ8),
    "theorem-v1-eq8/corrected": _whole(*_EQ8),
    "theorem-v1-eq8/corrected-2": _whole(*_EQ8),
    "lemma-v1-eq9": _lemma(_estimators),
    "lemma-v1-eq9/corrected": _lemma(_estimators),
    "lemma-v1-eq10": _lemma(_local_suboptimality),
    "lemma-v1-eq10/corrected": _lemma(_mean_local_suboptimality),
    "lemma-v1-eq12": _lemma(_drift("mu", "L", "delta", "M", "D")),
    "lemma-v1-eq12/corrected": _lemma(_drift("mu", "L", "delta", "D")),
    "lemma-v1-eq14": _lemma(_whole(*_EQ14)),
    "lemma-v1-eq14/corrected": _lemma(_whole(*_EQ14)),
    "lemma-a1": _of_aggregates(_first_round(_by_round(_scaled_aggregate, "N", "S", "M", "weighted_round"))),
    "lemma-a1/corrected": _of_aggregates(_first_round(_by_round(_scaled_aggregate, *_COMMON, "weighted_round"))),
    "lemma-a2": _inner_products(lexicographic=False),
    "lemma-a2/corrected": _inner_products(lexicographic=True),
    "eq-a20": _of_aggregates(
        _first_round(_by_round(_next_cost, "delta", "L", "N", "cost", "inner_product_sum", "aggregate_second_moment"))
    ),
    "eq-a21": _first_round(_A21),
    "eq-a22": _A21,
    "eq-a23": _by_round(_next_cost, *_COMMON, "cost", "squared_gradient_norm", "full_drift_round", "weighted_round"),
    "eq-a23/corrected": _by_round(
        _next_cost, *_COMMON, "cost", "squared_gradient_norm", "weighted_drift_round", "weighted_round"
    ),
    "eq-a24": _whole(*_EQ7, "f_drop", "drift_sum", "weighted_sum"),
    "eq-a24/corrected": _whole(*_EQ7, "f_drop", "lexicographic_drift_sum", "weighted_sum"),
    "eq-a25": _whole(*_EQ7, "f0_gap", "drift_sum", "weighted_sum"),
}
