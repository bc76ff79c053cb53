"""What can be computed from rounds that were played: add names to the tables QUANTITIES and PARAMETERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .formulas import Uncheckable
from .local_measures import LOCAL_PARAMETERS, LOCAL_QUANTITIES
from .quadratic_rounds import Instance, Round, average, minimum
from .round_measures import ROUND_PARAMETERS, ROUND_QUANTITIES


@dataclass(frozen=True)
class Context:
    """What a quantity or a parameter is computed from."""

    instance: Instance
    rounds: Sequence[Round]
    index: Mapping[str, int]
    given: Mapping[str, Fraction]  # the certificate's parameters
    known: Sequence[str]  # the parameters that can be computed here
    by_sample: bool  # whether L is a constant of every sample's function, not only of every client's
    names: Mapping[str, str] = field(default_factory=dict)  # what names of the claim mean, as names in PARAMETERS

    def at(self, name: str, size: int) -> int:
        """The certificate's index of that name, in 0..size-1."""
        if name not in self.index:
            raise Uncheckable(f"needs the index {name}")
        if not 0 <= self.index[name] < size:
            raise Uncheckable(f"the index {name}={self.index[name]} is outside 0..{size - 1}")
        return self.index[name]

    @property
    def smoothness(self) -> Fraction:
        """The least L that the hypotheses allow."""
        samples = [abs(h) for client in self.instance.clients for h in client.h] if self.by_sample else []
        return max([abs(client.curvature) for client in self.instance.clients] + samples)

    def meant(self, name: str) -> str:
        """The name in PARAMETERS that a name of the claim stands for."""
        return self.names.get(name, name)

    @property
    def step(self) -> Fraction:
        return constant(self.instance.step)

    @property
    def k(self) -> int:
        return self.at("k", len(self.rounds))

    @property
    def n(self) -> int:
        return self.at("n", len(self.instance.clients))

    @property
    def s(self) -> int:
        return self.at("s", self.instance.S)

    @property
    def m(self) -> int:
        return self.at("m", self.instance.M)

    @property
    def theta(self) -> tuple[Fraction, Fraction]:
        """E theta^k and E (theta^k)^2, for k = 0..K."""
        k = self.at("k", len(self.rounds) + 1)
        return self.rounds[k].start if k < len(self.rounds) else self.rounds[-1].end


def total(values: Any) -> Fraction:
    """The sum of nested lists."""
    return sum((total(v) for v in values), Fraction(0)) if isinstance(values, list) else values


def distinct(rounds: Sequence[Round]) -> list[Round]:
    """The rounds without repetitions of the same one."""
    return list({id(r): r for r in rounds}.values())


def constant(values: Sequence[Fraction]) -> Fraction:
    if any(v != values[0] for v in values):
        raise Uncheckable("it is not one number in this instance")
    return values[0]


def drift(c: Context) -> Fraction:
    if c.instance.S != 1:
        raise Uncheckable("drift is for S = 1")
    return total(c.rounds[c.k].estimator[c.n][0][: c.m])


def scaled_aggregate(c: Context) -> Fraction:
    """delta^2 L/(2N^2) E||sum_n (1_n/p_n) sum_{s,m} v||^2, which is L/2 E(sum_n c_n (w_n - theta))^2.

    Because c_n = 1_n/(N p_n), and delta times the sum of client n's v is theta - w_n.
    """
    return c.given.get("L", c.smoothness) / 2 * aggregate(c)


def aggregate(c: Context) -> Fraction:
    """E(sum_n c_n (w_n - theta))^2 with c_n = 1_n/(N p_n)."""
    if (c.instance.aggregation, c.instance.empty) != ("unbiased", "keep"):
        raise Uncheckable("it is defined for the unbiased aggregation")
    return c.rounds[c.k].spread


def weighted_drift(estimator: list[list[list[Fraction]]]) -> Fraction:
    """sum_{n,s,m} (sM+m) sum_{(s',m') < (s,m)} E||v_{n,s',m'}||^2, in lexicographic order."""
    result = Fraction(0)
    for client in estimator:
        before = Fraction(0)
        for position, value in enumerate(v for snapshot in client for v in snapshot):
            result += position * before
            before += value
    return result


QUANTITIES: dict[str, Callable[[Context], Fraction]] = {
    "mean_squared_gradient_norm": lambda c: average([c.instance.squared_gradient(*r.start) for r in c.rounds]),
    "squared_gradient_norm": lambda c: c.instance.squared_gradient(*c.theta),
    "suboptimality": lambda c: c.instance.cost(*c.theta) - minimum(c.instance),
    "expected_next_cost": lambda c: c.instance.cost(*c.rounds[c.k].end),
    "estimator_second_moment": lambda c: c.rounds[c.k].estimator[c.n][c.s][c.m],
    "local_suboptimality": lambda c: c.rounds[c.k].local_cost[c.n][c.s][c.m] - minimum(c.instance.clients[c.n]),
    "mean_local_suboptimality": lambda c: (
        average([v for vs in c.rounds[c.k].local_cost[c.n] for v in vs]) - minimum(c.instance.clients[c.n])
    ),
    "scaled_aggregate": scaled_aggregate,
    "negative_inner_product": lambda c: -c.instance.step[c.k] * average([x[c.s][c.m] for x in c.rounds[c.k].inner]),
    "drift": drift,
    **LOCAL_QUANTITIES,
    **ROUND_QUANTITIES,
}

# name -> (how the printed value must stand to the computed one, the computation)
PARAMETERS: dict[str, tuple[str, Callable[[Context], Fraction]]] = {
    "delta": ("=", lambda c: constant(c.instance.step)),
    "L": (">=", lambda c: c.smoothness),
    "mu": ("<=", lambda c: min(client.curvature for client in c.instance.clients)),
    "N": ("=", lambda c: Fraction(len(c.instance.clients))),
    "K": ("=", lambda c: Fraction(len(c.rounds))),
    "S": ("=", lambda c: Fraction(c.instance.S)),
    "M": ("=", lambda c: Fraction(c.instance.M)),
    "k": ("=", lambda c: Fraction(c.at("k", len(c.rounds) + 1))),
    "n": ("=", lambda c: Fraction(c.n)),
    "s": ("=", lambda c: Fraction(c.s)),
    "m": ("=", lambda c: Fraction(c.m)),
    "p": ("=", lambda c: constant([p for client in c.instance.clients for p in client.p])),
    "f0_gap": ("=", lambda c: c.instance.cost(c.instance.theta0, c.instance.theta0**2) - minimum(c.instance)),
    "f_drop": ("=", lambda c: c.instance.cost(*c.rounds[0].start) - c.instance.cost(*c.rounds[-1].end)),
    "drift_sum": (
        "=",
        lambda c: total([[[total(vs[:m]) for m in range(len(vs))] for vs in e] for r in c.rounds for e in r.estimator]),
    ),
    "weighted_sum": (
        "=",
        lambda c: total(
            [total(r.estimator[n]) / x.p[k] for k, r in enumerate(c.rounds) for n, x in enumerate(c.instance.clients)]
        ),
    ),
    "lexicographic_drift_sum": ("=", lambda c: total([weighted_drift(r.estimator) for r in c.rounds])),
    "mean_inv_p": ("=", lambda c: average([1 / p for client in c.instance.clients for p in client.p])),
    "sum_inv_p": ("=", lambda c: total([1 / constant(client.p) for client in c.instance.clients])),
    "G2": (">=", lambda c: max(v for r in distinct(c.rounds) for e in r.estimator for vs in e for v in vs)),
    "D": (">=", lambda c: max(x.cost(*r.start) - minimum(x) for r in distinct(c.rounds) for x in c.instance.clients)),
    "cost": ("=", lambda c: c.instance.cost(*c.theta)),
    "squared_gradient_norm": ("=", lambda c: c.instance.squared_gradient(*c.theta)),
    "inner_product_sum": ("=", lambda c: total(c.rounds[c.k].inner) / len(c.instance.clients)),
    "weighted_round": (
        "=",
        lambda c: total([total(c.rounds[c.k].estimator[n]) / x.p[c.k] for n, x in enumerate(c.instance.clients)]),
    ),
    "full_drift_round": ("=", lambda c: c.instance.M * total(c.rounds[c.k].estimator)),
    "aggregate_second_moment": (
        "=",
        lambda c: (len(c.instance.clients) / c.instance.step[c.k]) ** 2 * aggregate(c),
    ),
    "lexicographic_drift_round": (
        "=",
        lambda c: total([[*e[: c.s], e[c.s][: c.m]] for e in c.rounds[c.k].estimator]),
    ),
    "weighted_drift_round": ("=", lambda c: weighted_drift(c.rounds[c.k].estimator)),
    "drift_round": ("=", lambda c: total([e[c.s][: c.m] for e in c.rounds[c.k].estimator])),
    "local_gap": ("=", QUANTITIES["local_suboptimality"]),
    "snapshot_gap": ("=", lambda c: c.rounds[c.k].snapshot_cost[c.n][c.s] - minimum(c.instance.clients[c.n])),
    "start_gap": (
        "=",
        lambda c: c.instance.clients[c.n].cost(*c.theta) - minimum(c.instance.clients[c.n]),
    ),
    **LOCAL_PARAMETERS,
    **ROUND_PARAMETERS,
}
