"""How the claims about rounds of FedMIM are measured by the exact oracle (`sim.inertial_moments`).

The index t is a round from 0, n a client from 0, and k that of x_{n,k}: 1 to K for a distance from x_t, 0 to K-1 for a
gradient at y_{n,k,2}, which stands at x_{n,k}. K is the paper's number of local steps, T the rounds of the scenario.

The constants of (6) and lambda are not determined by a run. Each case has a pair (G, B) of `constants.pairs`, and each
theorem a few lambda below its own limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sim.exact_inertial_moments import InertialMoments
from theory.claim import Claim
from validate import reachable
from validate.bounds import Cases
from validate.dissimilarity import gradient_domination
from validate.inertial_scenario import InertialScenario
from validate.once import once
from validate.papers.fedmim.constants import above, lambdas, pairs

Array = np.ndarray


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: a claim of this paper.
        scenario: FedMIM with a constant step on a quadratic problem; exact numbers give exact cases.

    Returns:
        None when the claim does not speak of such a scenario, when a constant that it names does not exist there (such
        as f_*), or when it is not one that is measured. Remarks are not: they speak of orders.
    """
    measure = _MEASURES.get(claim.quantity.name)
    if measure is None or not claim.has_bound or claim.kind == "remark" or not isinstance(scenario, InertialScenario):
        return None
    if scenario.rounds < 1 or isinstance(scenario.algorithm.step, tuple) or not scenario.algorithm.step > 0:
        return None
    asked = _Asked(claim, _run(scenario))
    tables = [table for given in asked.choices() if (table := measure(asked, given)) is not None and table.left.size]
    found = [asked.cases(table) for table in tables]
    if not found or any(each is None for each in found):
        return None
    return _joined([each for each in found if each is not None])


@dataclass(frozen=True)
class _Table:
    """A left side over some of the axes t, k, n, in that order.

    Attributes:
        left: the left sides.
        index: by axis name, in the order of the axes, its index values.
        given: G, B, lam, as far as the claim has them.
        own: parameters that depend on the axes, broadcastable to `left`; vectors have an axis more.
    """

    left: Array
    index: Mapping[str, Array]
    given: Mapping[str, Any]
    own: Mapping[str, Array] = field(default_factory=dict)


class _Run:
    """One scenario's moments and constants, under the names that the claims use, whatever the claim."""

    def __init__(self, scenario: InertialScenario) -> None:
        self.scenario, self.problem = scenario, scenario.problem
        self.exact = scenario.exact
        self.algorithm = scenario.algorithm
        self.eta_l: Any = scenario.algorithm.step
        self.K, self.T, self.N = scenario.algorithm.local_steps, scenario.rounds, scenario.problem.clients
        self.S = scenario.participation.size
        self.J = max(scenario.algorithm.lags, 1)

    @property
    def m(self) -> InertialMoments:
        return self.scenario.moments()

    @cached_property
    def alpha(self) -> Array:
        return self.lags(self.algorithm.alpha)

    @cached_property
    def beta(self) -> Array:
        return self.lags(self.algorithm.beta)

    @cached_property
    def A(self) -> Any:
        return 1 - sum(self.algorithm.alpha)

    @cached_property
    def rho(self) -> Any:
        return sum(self.algorithm.beta)

    @cached_property
    def L(self) -> Any:
        """The least Lipschitz constant; 1 for linear functions, for which every positive one will do."""
        return self.problem.smoothness or 1

    @cached_property
    def mu(self) -> Any:
        largest = gradient_domination(self.problem)
        return None if largest == float("inf") else largest

    @cached_property
    def sigma2(self) -> Any:
        return reachable.largest_variance(self.scenario)

    @cached_property
    def C(self) -> Any:
        """The least constant of the run, rounded up where it is a long fraction."""
        return above(self.m.squared_average_step.max() / self.eta_l**2)

    @cached_property
    def f0_gap(self) -> Any:
        return None if self.gaps is None else self.gaps[0]

    @cached_property
    def gaps(self) -> Array | None:
        """(T+1,), E f(u_t) - f_*."""
        found = self.m.auxiliary_suboptimality
        return None if found is None else np.maximum(found, 0)

    @cached_property
    def gradients(self) -> Array:
        """(T+1,), E||grad f(u_t)||^2."""
        return np.maximum(self.m.auxiliary_squared_gradient_norm, 0)

    @cached_property
    def displacement(self) -> Array:
        """(T, K+1, N), E||x_{n,k} - x_t||^2."""
        return self.m.displacement.swapaxes(1, 2)

    @cached_property
    def drift(self) -> Array:
        """(T, K+1), its mean over the clients."""
        return self.mean(self.m.displacement)

    def mean(self, values: Array) -> Array:
        """The mean over the clients: (T, N, ...) -> (T, ...)."""
        return np.asarray(values.sum(axis=1) / self.N)

    def lags(self, weights: Any) -> Array:
        """(J,), filled up with zeros."""
        padded = [*weights, *[0 * self.eta_l] * (self.J - len(weights))]
        return np.array(padded, dtype=object if self.exact else np.float64)

    @cached_property
    def delta_sq(self) -> Array:
        """(T, J), E||delta_{t-j}||^2."""
        squares = self.m.squared_increment
        rows = [[squares[t - j] if t > j else 0 * squares[0] for j in range(self.J)] for t in range(self.T)]
        return np.array(rows, dtype=squares.dtype)

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """See `constants.pairs`."""
        return pairs(self.problem)

    def column(self, value: Any, count: int) -> Array:
        """(count,), copies of a number."""
        return np.full(count, value, dtype=object if self.exact else np.float64)


@once
def _run(scenario: InertialScenario) -> _Run:
    return _Run(scenario)


class _Asked:
    """What one claim asks of a run."""

    def __init__(self, claim: Claim, run: _Run) -> None:
        self.claim, self.run = claim, run
        self.wanted = {p.name for p in claim.parameters}

    def choices(self) -> list[dict[str, Any]]:
        """Values of G, B and lam, as far as the claim has them."""
        found: list[dict[str, Any]] = [{}]
        if "B" in self.wanted or "G" in self.wanted:
            found = [{k: v for k, v in pair.items() if k in self.wanted} for pair in self.run.pairs]
        if "lam" in self.wanted:
            mu = self.run.mu if "mu" in self.wanted else None
            constants = self.constants({"lam"} | set(found[0] if found else ()))
            if constants is None:
                return []
            found = [
                {**given, "lam": lam}
                for given in found
                for lam in lambdas(self.claim, {**constants, **given}, self.run.T, mu)
            ]
        return found

    def constants(self, leave_out: set[str]) -> dict[str, Any] | None:
        """The parameters of the claim that do not change in the run, but for some; None when one does not exist."""
        names = [p.name for p in self.claim.parameters if p.name in _CONSTANTS and p.name not in leave_out]
        values = {name: getattr(self.run, name) for name in names}
        return None if any(value is None for value in values.values()) else values

    def cases(self, table: _Table) -> Cases | None:
        """The table as a list; None when a parameter of the claim is not known."""
        shape, own = table.left.shape, {name: v for name, v in table.own.items() if name in self.wanted}
        constants = self.constants(set(table.given) | set(own))
        if constants is None or self.wanted - set(constants) - set(own) - set(table.given):
            return None
        if self.run.N == 1 and "N" in self.wanted:
            return None  # the claims that have N choose among clients; their factor 1/(N-1) needs two
        count = table.left.size
        values: dict[str, Any] = {}
        for name, value in {**constants, **table.given}.items():
            vector = name in _VECTORS
            values[name] = np.tile(value, (count, 1)) if vector else self.run.column(value, count)
        for name, array in own.items():
            array = np.maximum(array, 0)  # squares and gaps, which in floats may come out as a negative rounding error
            if name in _VECTORS:
                values[name] = np.broadcast_to(array, (*shape, self.run.J)).reshape(count, self.run.J)
            else:
                values[name] = np.broadcast_to(array, shape).reshape(count)
        grid = np.meshgrid(*table.index.values(), indexing="ij")
        index = {name: axis.reshape(count) for name, axis in zip(table.index, grid, strict=True)}
        ordered = {p.name: values[p.name] for p in self.claim.parameters}
        return Cases(table.left.reshape(count), ordered, index)


_VECTORS = ("alpha", "beta", "delta_sq")
_CONSTANTS = {"alpha", "beta", "A", "rho", "J", "K", "L", "eta_l", "S", "N", "sigma2", "C", "T", "f0_gap", "mu"}
Measure = Callable[[_Asked, Mapping[str, Any]], "_Table | None"]


def _joined(parts: list[Cases]) -> Cases:
    """The cases of several choices of the constants, one after another."""
    if len(parts) == 1:
        return parts[0]
    parameters = {name: np.concatenate([p.parameters[name] for p in parts]) for name in parts[0].parameters}
    index = {name: np.concatenate([p.index[name] for p in parts]) for name in parts[0].index}
    return Cases(np.concatenate([p.left for p in parts]), parameters, index)


def _whole_run(left: Callable[[_Run, Mapping[str, Any]], Any]) -> Measure:
    def measure(asked: _Asked, given: Mapping[str, Any]) -> _Table:
        return _Table(asked.run.column(left(asked.run, given), 1), {}, given)

    return measure


def _output(run: _Run, given: Mapping[str, Any]) -> Any:
    """The mean of E||grad f(u_t)||^2 with weights in proportion to p^-t, p = 1 - mu eta lam, which is in (0, 1)."""
    p = 1 - run.mu * run.K * run.eta_l * given["lam"]
    weights = np.array([p ** (run.T - 1 - t) for t in range(run.T)])
    return weights @ run.gradients[: run.T] / weights.sum()


def _by_round(left: Callable[[_Run], Any]) -> Measure:
    """One case a round, with what a claim may take from the round."""

    def measure(asked: _Asked, given: Mapping[str, Any]) -> _Table | None:
        run = asked.run
        sides = left(run)
        if sides is None:
            return None
        own: dict[str, Array] = {
            "delta_sq": run.delta_sq,
            "grad_u2": run.gradients[:-1],
            "dtilde_sq": run.m.squared_average_step,
            "selected_sq": run.m.selected_gradient.sum(axis=1) / run.K,
        }
        gaps = run.gaps
        if gaps is not None:
            own |= {"gap": gaps[:-1], "next_gap": gaps[1:]}
        return _Table(sides, {"t": np.arange(run.T)}, given, own)

    return measure


def _by_step(left: Callable[[_Run], Array], first: int = 0) -> Measure:
    """One case a round and a gradient's k, from `first` on, with the means over the clients there.

    A left side of shape (T, K) is of all clients together, one of shape (T, K, N) of each.
    """

    def measure(asked: _Asked, given: Mapping[str, Any]) -> _Table:
        run = asked.run
        sides, k = left(run)[:, first:], np.arange(first, run.K)
        one_client = sides.ndim == 3
        index = {"t": np.arange(run.T), "k": k} | ({"n": np.arange(run.N)} if one_client else {})
        own = {
            "drift": run.drift[:, k],
            "gradients_sq": run.mean(run.m.local_gradient)[:, k],
            "mean_sq": run.m.mean_gradient[:, k],
            "grad_u2": run.gradients[:-1, None],
        }
        own = {name: value[..., None] if one_client else value for name, value in own.items()}
        own["delta_sq"] = run.delta_sq.reshape(run.T, *[1] * (sides.ndim - 1), run.J)
        if one_client:
            own["x_sq"] = run.displacement[:, np.maximum(k - 1, 0)]
        return _Table(sides, index, given, own)

    return measure


def _distance(one_client: bool) -> Measure:
    """One case a round and x_{n,k}, k = 1, ..., K; of a recursion from k = 2 on, as the printed ones divide by k-1."""

    def measure(asked: _Asked, given: Mapping[str, Any]) -> _Table:
        run = asked.run
        k = np.arange(2 if asked.wanted & {"x_sq", "drift"} else 1, run.K + 1)
        distance = run.displacement if one_client else run.drift
        number = k.astype(object) if run.exact else k.astype(float)
        more = [1] * (distance.ndim - 2)
        index = {"t": np.arange(run.T), "k": k} | ({"n": np.arange(run.N)} if one_client else {})
        own = {
            "k": number.reshape(-1, *more),
            "grad_u2": run.gradients[:-1].reshape(-1, 1, *more),
            "delta_sq": run.delta_sq.reshape(run.T, 1, *more, run.J),
            "x_sq" if one_client else "drift": distance[:, k - 1],
        }
        return _Table(distance[:, k], index, given, own)

    return measure


def _descent(run: _Run) -> Array | None:
    gaps = run.m.auxiliary_suboptimality
    return None if gaps is None else gaps[1:] - gaps[:-1]


def _lag_sum(run: _Run, given: Mapping[str, Any]) -> Any:
    """sum_j (6K^2 M_j + P_j), from its definition."""
    A, K, squared = run.A, run.K, run.L**2 * run.eta_l**2
    P = [run.rho * b + K**2 * run.J * (1 - A) ** 2 / A**2 for b in run.beta]
    return sum(6 * K**2 * (a + 4 * A * squared * p) + p for a, p in zip(run.alpha, P, strict=True))


_MEASURES: dict[str, Measure] = {
    "min_squared_gradient": _whole_run(lambda run, given: run.gradients[: run.T].min()),
    "output_squared_gradient": _whole_run(_output),
    "lag_sum": _whole_run(_lag_sum),
    "squared_gradient": _by_round(lambda run: run.gradients[:-1]),
    "next_delta_squared": _by_round(lambda run: run.m.squared_increment[1:]),
    "average_gradient_squared": _by_round(lambda run: run.m.squared_average_step / run.eta_l**2),
    "client_drift": _by_round(lambda run: run.drift[:, 1:].sum(axis=1) / run.K),
    "descent": _by_round(_descent),
    "client_squared_gradient": _by_step(lambda run: run.m.local_gradient.swapaxes(1, 2), first=1),
    "mean_client_squared_gradient": _by_step(lambda run: run.mean(run.m.local_gradient)),
    "selected_gradient_squared": _by_step(lambda run: run.m.selected_gradient),
    "one_client_drift": _distance(one_client=True),
    "mean_drift": _distance(one_client=False),
}
