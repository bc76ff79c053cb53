"""Re-checks a certificate against a claim, in exact fractions, with nothing but Python's standard library.

    python verifier.py CERTIFICATE.json ...    exit status 0: valid, 1: not valid, 2: unreadable or malformed

A certificate says that a printed claim about federated optimisation is false, and gives an instance that shows it.
This program trusts nothing in the file but the text of the claim: it plays the algorithm on the instance, computes
the first two moments of its iterates as fractions, and checks the hypotheses, the parameters and both sides.

The instances are in one dimension: client n has the cost f_n(t) = average over i of h_i/2 (t - a_i)^2, and takes part
in a round with probability p. f is the average of the f_n. Costs being quadratic, a step is a random linear map of
(1, theta, snapshot, w), so the second moments of these four numbers, a 4x4 table, are all that one needs to track.
What remains for a reader: compare the statement, the formula and the hypotheses in the file with the printed paper.
"""

from __future__ import annotations

import ast
import json
import operator
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

FORMAT = "fedproof-certificate-1"
MAX_WORK = 200_000  # N*K*S*M
MAX_EXPONENT = 50_000
MAX_BITS = 400_000  # of a numerator or denominator in a formula
MAX_ALL_BITS = 20_000_000  # of all of them in one formula
MAX_MOMENT_BITS = 20_000  # the same, in the moments
MAX_DEGREE = 2_000  # of a polynomial in j
MAX_TEXT = 4_000  # characters of a number or a formula
MAX_BYTES = 10_000_000  # of a certificate
ONE, THETA, SNAPSHOT, W = range(4)  # rows of the table of second moments

Table = list[list[Fraction]]
Row = tuple[Fraction, Fraction, Fraction, Fraction]


class FormatError(ValueError):
    """The certificate is malformed, or too large to be checked."""


class Uncheckable(Exception):
    """Something in the certificate cannot be computed from its instance."""


@dataclass(frozen=True)
class Report:
    """Whether a certificate is valid, and every check that was made, one a line."""

    valid: bool
    lines: tuple[str, ...]


# ------------------------------------------------------------------------------------------------ reading the data


def number(value: Any, name: str, low: Fraction | int | None = None, open_low: bool = False) -> Fraction:
    """An integer, or text such as "-3/8" or "0.25", as a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise FormatError(f"{name} is not an integer or a fraction in quotes: {shown(value)}")
    text = str(value) if isinstance(value, str) or abs(value) < 10**MAX_TEXT else ""
    if len(text) > 2 * MAX_TEXT or not re.fullmatch(r"-?[0-9]{1,4000}(\.[0-9]{1,40}|/[0-9]{1,4000})?", text):
        raise FormatError(f"{name} is not an integer or a fraction such as -3/8: {shown(value)}")
    try:
        result = Fraction(text)
    except ZeroDivisionError:
        raise FormatError(f"{name}={shown(value)} divides by zero") from None
    if low is not None and (result < low or (open_low and result == low)):
        raise FormatError(f"{name}={shown(value)} must be {'more than' if open_low else 'at least'} {low}")
    return result


def integer(value: Any, name: str, low: int, high: int) -> int:
    """An integer in [low, high]; text is accepted as for `number`."""
    result = number(value, name)
    if result.denominator != 1 or not low <= result <= high:
        raise FormatError(f"{name}={shown(value)} is not an integer in [{low}, {high}]")
    return int(result)


def text_of(value: Any, name: str) -> str:
    """A text, of any length that the whole file may have."""
    if not isinstance(value, str):
        raise FormatError(f"{name} is not text: {shown(value)}")
    return value


def list_of(value: Any, name: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise FormatError(f"{name} is not a list: {shown(value)}")
    return value


def fields(value: Any, name: str, required: str, optional: str = "") -> dict[str, Any]:
    """A JSON object with these fields and no others."""
    if not isinstance(value, dict):
        raise FormatError(f"{name} is not an object: {shown(value)}")
    missing = [key for key in required.split() if key not in value]
    unknown = [key for key in value if key not in (required + " " + optional).split()]
    if missing or unknown:
        what = f"lacks {missing}" if missing else f"has unknown fields {shown(unknown)}"
        raise FormatError(f"{name} {what}")
    return value


def shown(value: Any, length: int = 300) -> str:
    """A value for a message: printable ASCII, and short."""
    if isinstance(value, Fraction):
        if max(abs(value.numerator), value.denominator) < 10**40:
            return str(value)
        try:
            return f"a fraction of {value.denominator.bit_length()} bits near {float(value):.12g}"
        except OverflowError:
            return f"a fraction of {value.denominator.bit_length()} bits, too large to print"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a huge integer"
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    text = "".join(c if 32 <= ord(c) < 127 else f"\\u{ord(c):04x}" for c in text[: length + 1])
    return text if len(text) <= length else text[:length] + "..."


# ------------------------------------------------------------------------------------------------ the instance


@dataclass(frozen=True)
class Client:
    """f_n(t) = average over i of h_i/2 (t - a_i)^2, which is curvature/2 t^2 - linear t + offset."""

    h: tuple[Fraction, ...]
    a: tuple[Fraction, ...]
    p: tuple[Fraction, ...]  # one a round
    curvature: Fraction
    linear: Fraction
    offset: Fraction

    def cost(self, mean: Fraction, second: Fraction) -> Fraction:
        """E f_n(t), when E t = mean and E t^2 = second."""
        return self.curvature / 2 * second - self.linear * mean + self.offset


@dataclass(frozen=True)
class Instance:
    """A problem and an algorithm with its settings. `step` and each client's `p` have one entry a round."""

    algorithm: str
    clients: tuple[Client, ...]
    step: tuple[Fraction, ...]
    S: int
    M: int
    K: int
    theta0: Fraction
    aggregation: str
    empty: str
    curvature: Fraction  # of f, and so on
    linear: Fraction
    offset: Fraction

    def cost(self, mean: Fraction, second: Fraction) -> Fraction:
        """E f(t), when E t = mean and E t^2 = second."""
        return self.curvature / 2 * second - self.linear * mean + self.offset

    def squared_gradient(self, mean: Fraction, second: Fraction) -> Fraction:
        """E||grad f(t)||^2, when E t = mean and E t^2 = second."""
        return self.curvature**2 * second - 2 * self.curvature * self.linear * mean + self.linear**2


def minimum(function: Client | Instance) -> Fraction:
    """The least value of f_n or f."""
    if function.curvature < 0 or (function.curvature == 0 and function.linear != 0):
        raise Uncheckable("a function of the instance has no minimum")
    return function.offset - (function.linear**2 / (2 * function.curvature) if function.curvature else 0)


def average(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def read_instance(data: Any, rounds: int | None = None, step: str | None = None) -> Instance:
    """The instance in a certificate; `rounds` and `step`, when given, stand for its own K and step."""
    svrg = isinstance(data, dict) and data.get("algorithm") == "fedavg-svrg"
    required = "algorithm clients theta0" + (" S M" if svrg else " local_steps")
    required += ("" if rounds is not None else " K") + ("" if step is not None else " step")
    fields(data, "instance", required, "name aggregation empty K" if step is None else "name aggregation empty")
    algorithm = text_of(data["algorithm"], "algorithm")
    aggregation, empty = data.get("aggregation", "unbiased"), data.get("empty", "keep")
    if algorithm not in ("fedavg-svrg", "local-sgd"):
        raise FormatError(f"algorithm={shown(algorithm)} is neither fedavg-svrg nor local-sgd")
    if aggregation not in ("unbiased", "normalised"):
        raise FormatError(f"aggregation={shown(aggregation)} is neither unbiased nor normalised")
    if empty not in ("keep", "zero", "condition"):
        raise FormatError(f"empty={shown(empty)} is none of keep, zero, condition")
    K = rounds if rounds is not None else integer(data["K"], "K", 1, MAX_WORK)
    S = integer(data["S"], "S", 1, MAX_WORK) if svrg else 1
    M = integer(data["M" if svrg else "local_steps"], "M" if svrg else "local_steps", 1, MAX_WORK)
    given = list_of(data["clients"], "clients")
    if not given or len(given) * K * S * M > MAX_WORK:
        raise FormatError(f"N*K*S*M = {len(given)}*{K}*{S}*{M} is not in [1, {MAX_WORK}]")

    def per_round(value: Any, name: str) -> tuple[Fraction, ...]:
        values = value if isinstance(value, list) else [value] * K
        if len(values) != K:
            raise FormatError(f"{name} has {len(values)} entries for {K} rounds")
        return tuple(number(v, name, 0, open_low=True) for v in values)

    clients = []
    for n, item in enumerate(given):
        fields(item, f"client {n}", "h a p")
        h = tuple(number(v, f"h of client {n}") for v in list_of(item["h"], f"h of client {n}"))
        a = tuple(number(v, f"a of client {n}") for v in list_of(item["a"], f"a of client {n}"))
        p = per_round(item["p"], f"p of client {n}")
        if not h or len(h) != len(a):
            raise FormatError(f"client {n} has {len(h)} values of h and {len(a)} of a")
        if max(p) > 1:
            raise FormatError(f"p of client {n} is outside (0, 1]")
        pairs = list(zip(h, a, strict=True))
        parts = (average(h), average([x * y for x, y in pairs]), average([x * y * y / 2 for x, y in pairs]))
        clients.append(Client(h, a, p, *parts))
    whole = [average([getattr(c, part) for c in clients]) for part in ("curvature", "linear", "offset")]
    steps = per_round(data["step"] if step is None else step, "step")
    theta0 = number(data["theta0"], "theta0")
    return Instance(algorithm, tuple(clients), steps, S, M, K, theta0, aggregation, empty, *whole)


# ------------------------------------------------------------------------------------------------ playing it


@dataclass(frozen=True)
class Round:
    """Exact moments of one round. Lists are indexed [n][s][m]; `start` and `end` are (E theta, E theta^2)."""

    start: tuple[Fraction, Fraction]
    end: tuple[Fraction, Fraction]
    estimator: list[list[list[Fraction]]]  # E||v||^2
    inner: list[list[list[Fraction]]]  # E<grad f(theta), grad f_n(w)>
    local_cost: list[list[list[Fraction]]]  # E f_n(w)
    snapshot_cost: list[list[Fraction]]  # E f_n(snapshot), [n][s]
    spread: Fraction  # E (sum_n c_n (w_n - theta))^2, with c_n the weights of the aggregation


def form(X: Table, u: Row, v: Row) -> Fraction:
    """E (u.z)(v.z) for z = (1, theta, snapshot, w)."""
    return sum((u[i] * X[i][j] * v[j] for i in range(4) for j in range(4) if u[i] and v[j]), Fraction(0))


def weights(p: Sequence[Fraction], aggregation: str, empty: str) -> tuple[list[Fraction], Table, Fraction]:
    """E c_n, E c_n c_m and the probability that nobody takes part.

    c_n are the weights of the server's step theta + sum_n c_n (w_n - theta), zero for a client who is absent.
    """
    N = len(p)

    def harmonic(left_out: set[int], power: int) -> Fraction:
        """E (|left out| + number of the others who take part)^-power."""
        counts = [Fraction(1)]
        for n in range(N):
            if n not in left_out:
                longer = zip([*counts, Fraction(0)], [Fraction(0), *counts], strict=True)
                counts = [(1 - p[n]) * stay + p[n] * join for stay, join in longer]
        return sum((c / (len(left_out) + i) ** power for i, c in enumerate(counts)), Fraction(0))

    if aggregation == "unbiased":  # c_n = 1_n / (N p_n)
        mean = [Fraction(1, N)] * N
        second = [[1 / (N * N * p[n]) if n == m else Fraction(1, N * N) for m in range(N)] for n in range(N)]
    else:  # c_n = 1_n / (number who take part)
        mean = [p[n] * harmonic({n}, 1) for n in range(N)]
        second = [
            [p[n] * harmonic({n}, 2) if n == m else p[n] * p[m] * harmonic({n, m}, 2) for m in range(N)]
            for n in range(N)
        ]
    nobody = prod((1 - q for q in p), start=Fraction(1))
    if empty == "condition":
        mean = [c / (1 - nobody) for c in mean]
        second = [[c / (1 - nobody) for c in row] for row in second]
        nobody = Fraction(0)
    return mean, second, nobody


def play_round(instance: Instance, k: int, start: tuple[Fraction, Fraction]) -> Round:
    """One round of Algorithm 1 (or of local SGD) from a theta with these two moments."""
    zero, one, svrg = Fraction(0), Fraction(1), instance.algorithm == "fedavg-svrg"
    m1, m2 = start
    delta = instance.step[k]
    gradient: Row = (-instance.linear, instance.curvature, zero, zero)  # grad f(theta)
    round_ = Round(start, (zero, zero), [], [], [], [], zero)
    moved, squared, with_theta = [], [], []  # of w_n - theta: E[.|theta] = u + v theta; E(.)^2; E(.)theta
    for client in instance.clients:
        H, b = client.curvature, client.linear
        local: Row = (-b, zero, zero, H)  # grad f_n(w)
        if svrg:  # v = grad f_i(w) - grad f_i(snapshot) + grad f_n(snapshot)
            samples: list[Row] = [(-b, zero, H - h, h) for h in client.h]
        else:  # v = grad f_i(w)
            samples = [(-h * a, zero, zero, h) for h, a in zip(client.h, client.a, strict=True)]
        drift: Row = tuple(average([r[i] for r in samples]) for i in range(4))  # type: ignore[assignment]
        X = [[one if i == j == 0 else m1 if 0 in (i, j) else m2 for j in range(4)] for i in range(4)]
        mean = [(one, zero), (zero, one), (zero, one), (zero, one)]  # E[z|theta] = u + v theta
        estimator: list[list[Fraction]] = []
        inner: list[list[Fraction]] = []
        cost: list[list[Fraction]] = []
        snapshots: list[Fraction] = []
        for _ in range(instance.S):
            move = (ONE, THETA, W, W)  # the snapshot is put where w is
            X, mean = [[X[i][j] for j in move] for i in move], [mean[i] for i in move]
            snapshots.append(client.cost(X[ONE][W], X[W][W]))
            estimator.append([])
            inner.append([])
            cost.append([])
            for _ in range(instance.M):
                square = average([form(X, r, r) for r in samples])
                estimator[-1].append(square)
                inner[-1].append(form(X, gradient, local))
                cost[-1].append(client.cost(X[ONE][W], X[W][W]))
                moves = [sum((drift[i] * X[i][j] for i in range(4)), zero) for j in range(4)]  # E v z
                for j in (ONE, THETA, SNAPSHOT):
                    X[W][j] -= delta * moves[j]
                    X[j][W] = X[W][j]
                X[W][W] += delta**2 * square - 2 * delta * moves[W]
                step = [sum((drift[i] * mean[i][j] for i in range(4)), zero) for j in (0, 1)]  # E[v|theta]
                mean[W] = (mean[W][0] - delta * step[0], mean[W][1] - delta * step[1])
                if bits(X[W][W]) > MAX_MOMENT_BITS:
                    raise FormatError("the instance's fractions grow too long to be checked")
        for store, value in ((round_.estimator, estimator), (round_.inner, inner), (round_.local_cost, cost)):
            store.append(value)
        round_.snapshot_cost.append(snapshots)
        moved.append((mean[W][0], mean[W][1] - 1))
        squared.append(X[W][W] - 2 * X[W][THETA] + m2)
        with_theta.append(X[W][THETA] - m2)
    c, cc, nobody = weights([client.p[k] for client in instance.clients], instance.aggregation, instance.empty)
    stays = 1 - nobody if instance.empty == "zero" else one  # otherwise an empty round leaves theta as it is
    indices = range(len(moved))
    end1, end2, spread = stays * m1, stays * m2, zero
    for n in indices:
        end1 += c[n] * (moved[n][0] + moved[n][1] * m1)
        end2 += 2 * c[n] * with_theta[n]
        for m in indices:  # given theta, the clients are independent
            (u, v), (x, y) = moved[n], moved[m]
            spread += cc[n][m] * (squared[n] if n == m else u * x + (u * y + v * x) * m1 + v * y * m2)
    lists = (round_.estimator, round_.inner, round_.local_cost, round_.snapshot_cost)
    return Round(start, (end1, end2 + spread), *lists, spread)


@dataclass(frozen=True)
class Context:
    """What a quantity or a parameter is computed from."""

    instance: Instance
    rounds: Sequence[Round]
    index: Mapping[str, int]
    given: Mapping[str, Fraction]  # the certificate's parameters
    known: Sequence[str]  # the parameters that can be computed here
    by_sample: bool  # whether L is a constant of every sample's function, not only of every client's

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


# ------------------------------------------------------------------- what it can compute: add names to these tables


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
}

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


# ------------------------------------------------------------------------------------------------ formulas


class Function:
    """A quotient of two polynomials in j, each the list of its coefficients, constant first."""

    def __init__(self, top: Sequence[Fraction], bottom: Sequence[Fraction] = (Fraction(1),)) -> None:
        common = 0  # powers of j that cancel
        while common < min(len(top), len(bottom)) - 1 and not top[common] and not bottom[common]:
            common += 1
        self.top, self.bottom = list(top[common:]), list(bottom[common:])

    @staticmethod
    def of(value: Function | Fraction | int) -> Function:
        return value if isinstance(value, Function) else Function([Fraction(value)])

    @staticmethod
    def times(x: Sequence[Fraction], y: Sequence[Fraction]) -> list[Fraction]:
        if len(x) + len(y) > MAX_DEGREE:
            raise FormatError("a polynomial of too high a degree")
        result = [Fraction(0)] * (len(x) + len(y) - 1)
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                if a and b:
                    result[i + j] += a * b
        return result

    def __add__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        x, y = Function.times(self.top, other.bottom), Function.times(other.top, self.bottom)
        size = max(len(x), len(y))
        zeros = [Fraction(0)] * size
        pairs = zip((x + zeros)[:size], (y + zeros)[:size], strict=True)
        return Function([a + b for a, b in pairs], Function.times(self.bottom, other.bottom))

    def __neg__(self) -> Function:
        return Function([-a for a in self.top], self.bottom)

    def __mul__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        return Function(Function.times(self.top, other.top), Function.times(self.bottom, other.bottom))

    def __truediv__(self, other: Function | Fraction | int) -> Function:
        other = Function.of(other)
        if not any(other.top):
            raise ZeroDivisionError
        return self * Function(other.bottom, other.top)

    def __sub__(self, other: Function | Fraction | int) -> Function:
        return self + -Function.of(other)

    def __rsub__(self, other: Fraction | int) -> Function:
        return -self + other

    def __rtruediv__(self, other: Fraction | int) -> Function:
        return Function.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> Function:
        result = Function([Fraction(1)])
        for _ in range(abs(exponent)):
            result = result * self
        return result if exponent >= 0 else 1 / result

    def at(self, j: int) -> Fraction:
        """The value at an integer where the denominator is not 0."""
        return shift(self.top, j)[0] / shift(self.bottom, j)[0]

    def never_negative(self, j0: int, strictly: bool = False) -> bool:
        """Proves that it is >= 0 (or > 0) for all j >= j0; False means only that this proof does not work.

        In x = j - j0 a polynomial without negative coefficients is never negative for x >= 0.
        """
        top, bottom = (shift(part, j0) for part in (self.top, self.bottom))
        if next((a for a in reversed(bottom) if a), Fraction(1)) < 0:
            top, bottom = [-a for a in top], [-a for a in bottom]
        known = min(bottom) >= 0 and bottom[0] > 0 and min(top) >= 0
        return known and (top[0] > 0 or not strictly)


def shift(polynomial: Sequence[Fraction], by: int) -> list[Fraction]:
    """Coefficients of polynomial(x + by)."""
    result = [Fraction(0)]
    for a in reversed(polynomial):
        result = Function.times(result, [Fraction(by), Fraction(1)])
        result[0] += a
    return result


def parse(formula: Any, name: str) -> ast.expr:
    """A formula as a syntax tree, which `evaluate` walks; nothing in it is ever executed."""
    text = text_of(formula, name)
    if len(text) > MAX_TEXT or not re.fullmatch(r"[A-Za-z0-9_+\-*/(), <>=]+", text):
        raise FormatError(f"{name} is not a formula: {shown(text)}")
    text = re.sub(r"(?<![<>=])=(?!=)", "==", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormatError(f"{name} is not a formula: {shown(text)}") from None


def evaluate(tree: ast.expr, names: Callable[[str], Any]) -> Any:
    """The value of a formula of + - * / ** min max, integers and names, in fractions (or functions of j)."""

    spent = 0

    def value(node: ast.expr) -> Any:
        nonlocal spent
        result: Any
        match node:
            case ast.Constant(value=int() as i) if not isinstance(i, bool):
                result = Fraction(i)
            case ast.Name(id=name):
                result = names(name)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                result = -value(x)
            case ast.BinOp(left=x, op=ast.Add(), right=y):
                result = value(x) + value(y)
            case ast.BinOp(left=x, op=ast.Sub(), right=y):
                result = value(x) - value(y)
            case ast.BinOp(left=x, op=ast.Mult(), right=y):
                result = value(x) * value(y)
            case ast.BinOp(left=x, op=ast.Div(), right=y):
                result = value(x) / value(y)
            case ast.BinOp(left=x, op=ast.Pow(), right=y):
                result = power(value(x), value(y))
            case ast.Call(func=ast.Name(id="min" | "max" as f), args=[_, *_] as args, keywords=[]):
                values = [value(x) for x in args]
                if any(isinstance(v, Function) for v in values):
                    raise Uncheckable("min and max of functions of j")
                result = min(values) if f == "min" else max(values)
            case _:
                raise FormatError(f"not one of + - * / ** min max in a formula: {shown(ast.unparse(node))}")
        spent += bits(result) if isinstance(result, Fraction) else len(result.top) + len(result.bottom)
        if (isinstance(result, Fraction) and bits(result) > MAX_BITS) or spent > MAX_ALL_BITS:
            raise FormatError("the numbers in a formula grow too long")
        return result

    try:
        return value(tree)
    except ZeroDivisionError:
        raise Uncheckable("a formula divides by zero") from None
    except RecursionError:
        raise FormatError("a formula is nested too deeply") from None


def bits(x: Fraction) -> int:
    return max(abs(x.numerator), x.denominator).bit_length()


def power(base: Any, exponent: Any) -> Any:
    """base**exponent, for an integer exponent that leaves the result short."""
    if not isinstance(exponent, Fraction) or exponent.denominator != 1:
        raise Uncheckable("an exponent that is not an integer")
    size = abs(int(exponent))
    if size > MAX_EXPONENT or (isinstance(base, Fraction) and size * bits(base) > MAX_BITS):
        raise FormatError(f"an exponent that is too large: {shown(exponent)}")
    if isinstance(base, Function) and size > 100:
        raise FormatError(f"an exponent of a function that is too large: {shown(exponent)}")
    return base ** int(exponent)


# ------------------------------------------------------------------------------------------------ checks


class Checks:
    """Collects the checks, one a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.valid = True

    def note(self, text: str) -> None:
        self.lines.append(f"      {text}")

    def check(self, holds: bool, text: str) -> None:
        self.lines.append(f"{'ok  ' if holds else 'FAIL'}  {text}")
        self.valid = self.valid and holds

    def equal(self, name: str, printed: Any, computed: Fraction) -> None:
        """That a printed number is the computed one."""
        value = number(printed, name)
        same = value == computed
        self.check(same, f"{name} is {shown(computed)}{'' if same else f', not {shown(value)} as printed'}")

    def attempt(self, name: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a computation, or None (and a failure) when it cannot be made."""
        try:
            return compute(*arguments)
        except Uncheckable as reason:
            self.check(False, f"{name} cannot be checked: {reason}")
            return None


def read_numbers(data: Any, name: str) -> dict[str, Fraction]:
    if (
        not isinstance(data, dict)
        or len(data) > 100
        or not all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", key) for key in data)
    ):
        raise FormatError(f"{name} is not an object of named numbers")
    return {key: number(value, f"{name}.{key}") for key, value in data.items()}


def check_parameters(checks: Checks, context: Context, done: Sequence[str] = ()) -> None:
    """That every parameter has the value that the instance gives it."""
    for name, value in context.given.items():
        if name in done:
            continue
        if name not in context.known:
            checks.check(False, f"parameter {shown(name)} cannot be checked: the verifier does not know it")
            continue
        relation, compute = PARAMETERS[name]
        computed = checks.attempt(f"parameter {name}", compute, context)
        if computed is not None:
            holds = COMPARE[relation](value, computed) and (name != "mu" or value > 0)
            checks.check(holds, f"parameter {name} = {shown(value)} {relation} {shown(computed)}, from the instance")


def named(context: Context, formulas: Any = None, extra: Mapping[str, Any] | None = None) -> Callable[[str], Any]:
    """Looks names up in `extra`, the parameters, the definitions, and what the instance fixes, in this order."""
    formulas = {} if formulas is None else formulas
    if not isinstance(formulas, dict) or len(formulas) > 100:
        raise FormatError("definitions is not an object of formulas")
    twice = [name for name in formulas if name in context.given]
    if twice:
        raise FormatError(f"names that are both parameters and definitions: {shown(twice)}")
    trees = {name: parse(formula, f"definition of {shown(name)}") for name, formula in formulas.items()}
    values: dict[str, Any] = {**context.given, **(extra or {})}
    started = []

    def look(name: str) -> Any:
        if name not in values:
            if name in trees and name not in started:
                started.append(name)
                values[name] = evaluate(trees[name], look)
            elif name in context.known and PARAMETERS[name][0] == "=":
                values[name] = PARAMETERS[name][1](context)
            else:
                raise Uncheckable(f"the name {shown(name)} has no value")
        return values[name]

    return look


def relation_holds(relation: str, look: Callable[[str], Any], j0: int = 1) -> bool:
    """Whether a relation such as "0 < delta < 1/(2*L)" holds (for all j >= j0, where its sides depend on j)."""
    tree = parse(relation, "a hypothesis")
    if not isinstance(tree, ast.Compare):
        raise FormatError(f"a hypothesis is not a relation: {shown(relation)}")
    sides = [evaluate(side, look) for side in (tree.left, *tree.comparators)]
    signs = {ast.LtE: "<=", ast.Lt: "<", ast.Eq: "=", ast.GtE: ">=", ast.Gt: ">"}
    for left, op, right in zip(sides, tree.ops, sides[1:], strict=False):
        if type(op) not in signs:
            raise FormatError(f"a hypothesis holds an unknown relation: {shown(relation)}")
        sign = signs[type(op)]
        if isinstance(left, Function) or isinstance(right, Function):
            gap = Function.of(left - right if sign in (">=", ">") else right - left)
            holds = not any(gap.top) if sign == "=" else gap.never_negative(j0, strictly=sign in ("<", ">"))
        else:
            holds = COMPARE[sign](left, right)
        if not holds:
            return False
    return True


def check_hypotheses(
    checks: Checks,
    data: Any,
    context: Context,
    look: Callable[[str], Any],
    bounded: Callable[[Fraction | None], bool],
    j0: int = 1,
) -> None:
    """That every hypothesis holds; `bounded` says whether E||v||^2 stays below a number (None: any number)."""
    clients, given = context.instance.clients, context.given
    for item in list_of(data, "hypotheses"):
        fields(item, "a hypothesis", "name assumption relation", "constant of")
        name = f"hypothesis {shown(text_of(item['name'], 'a name'))}"
        assumption, relation, of = item["assumption"], item["relation"], item.get("of")
        if of not in (None, "client", "sample", "average"):
            raise FormatError(f"of={shown(of)} is none of client, sample, average")
        if assumption is None and relation is None:
            checks.check(False, f"{name} cannot be checked: it has neither a relation nor an assumption")
        if relation is not None:
            text_of(relation, "a relation")
            holds = checks.attempt(name, relation_holds, relation, look, j0)
            if holds is not None:
                checks.check(holds, f"{name}: {shown(relation)}")
        if assumption is None:
            continue
        of = of or ("sample" if assumption == "Convex" else "client")
        by = {
            "client": [c.curvature for c in clients],
            "sample": [h for c in clients for h in c.h],
            "average": [context.instance.curvature],
        }[of]
        default = {"Smooth": "L", "StronglyConvex": "mu", "BoundedEstimatorSecondMoment": "G2"}
        symbol = item.get("constant") or default.get(str(assumption), "")
        bound = given.get(text_of(symbol, "constant"))
        if assumption == "Smooth":  # a constant that is no parameter is one that exists, as it does for every quadratic
            holds, says = bound is None or bound >= max(map(abs, by)), f"every |h| of a {of} is at most {symbol}"
        elif assumption == "StronglyConvex":
            holds, says = (
                0 < (min(by) if bound is None else bound) <= min(by),
                f"every h of a {of} is at least {symbol}",
            )
        elif assumption == "Convex":
            holds, says = min(by) >= 0, f"every h of a {of} is at least 0"
        elif assumption == "UnbiasedSampling":
            holds, says = True, "a sample is drawn uniformly among the client's own"
        elif assumption == "IndependentParticipation":
            holds = context.instance.empty != "condition"
            says = "clients take part independently, each with its own probability p > 0"
        elif assumption == "BoundedEstimatorSecondMoment":
            holds, says = bounded(bound), f"E||v||^2 is at most {symbol} all along the run"
        else:
            holds, says = False, f"the assumption {shown(assumption)} is unknown, so it cannot be checked"
        checks.check(holds, f"{name}: {says}")


HEAD = "format kind claim statement instance parameters hypotheses"


def head(checks: Checks, data: Mapping[str, Any]) -> dict[str, Fraction]:
    checks.note(
        f"claim {shown(text_of(data['claim'], 'claim'))}: {shown(text_of(data['statement'], 'statement'), 4000)}"
    )
    text_of(data.get("note", ""), "note")
    return read_numbers(data["parameters"], "parameters")


def verify_instance(data: dict[str, Any]) -> Report:
    """One instance, on which the left side does not stand in the claimed relation to the right side."""
    fields(data, "the certificate", HEAD + " relation left right left_value right_value", "definitions note")
    checks = Checks()
    given = head(checks, data)
    left = fields(data["left"], "left", "quantity", "index")
    quantity, relation = text_of(left["quantity"], "quantity"), data["relation"]
    if not isinstance(relation, str) or relation not in COMPARE:
        raise FormatError(f"relation={shown(relation)} is none of {list(COMPARE)}")
    index = fields(left.get("index", {}), "index", "", "k n s m")
    numbers = {key: integer(value, f"index {key}", 0, MAX_WORK) for key, value in index.items()}
    instance = read_instance(data["instance"])
    rounds: list[Round] = []
    for k in range(instance.K):
        start = rounds[-1].end if rounds else (instance.theta0, instance.theta0**2)
        rounds.append(play_round(instance, k, start))
    by_sample = smooth_samples(data["hypotheses"])
    context = Context(instance, rounds, numbers, given, tuple(PARAMETERS), by_sample)
    look = named(context, data.get("definitions"))
    check_parameters(checks, context)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded_along(context))
    if quantity not in QUANTITIES:
        checks.check(False, f"quantity {shown(quantity)} cannot be checked: the verifier does not know it")
        return Report(False, tuple(checks.lines))
    value = checks.attempt(f"the left side {quantity}", QUANTITIES[quantity], context)
    bound = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look)
    if value is not None and bound is not None:
        where = "".join(f" {key}={i}" for key, i in numbers.items())
        checks.equal("left_value", data["left_value"], value)
        checks.equal("right_value", data["right_value"], bound)
        checks.note(f"left side: {quantity}{where}; claimed: {relation} {shown(data['right'])}")
        broken = not COMPARE[relation](value, bound)
        checks.check(broken, f"{shown(value)} {relation} {shown(bound)} is {'false' if broken else 'true'}")
    return Report(checks.valid, tuple(checks.lines))


def smooth_samples(hypotheses: Any) -> bool:
    """Whether a hypothesis makes L a constant of every sample's function."""
    listed = [h for h in list_of(hypotheses, "hypotheses") if isinstance(h, dict)]
    return any(h.get("assumption") == "Smooth" and h.get("of") == "sample" for h in listed)


def bounded_along(context: Context) -> Callable[[Fraction | None], bool]:
    return lambda bound: bound is None or PARAMETERS["G2"][1](context) <= bound


def verify_fixed_point(data: dict[str, Any]) -> Report:
    """An instance without chance that a round maps to itself away from the optimum: nothing changes, for every K."""
    required = HEAD + " fixed_point squared_gradient_norm minimiser"
    fields(data, "the certificate", required, "definitions right right_value note")
    checks = Checks()
    given = head(checks, data)
    instance = read_instance(data["instance"], rounds=1)
    chance = [n for n, c in enumerate(instance.clients) if len(c.h) != 1 or c.p != (1,)]
    checks.check(not chance, "every client has one sample and takes part in every round, so nothing is random")
    theta = instance.theta0
    played = play_round(instance, 0, (theta, theta**2))
    checks.check(played.end == (theta, theta**2), f"one round maps theta0 = {shown(theta)} to itself")
    gradient = instance.curvature * theta - instance.linear
    checks.equal("fixed_point", data["fixed_point"], theta)
    checks.equal("squared_gradient_norm", data["squared_gradient_norm"], gradient**2)
    checks.check(gradient != 0, "it is more than 0 and the same at every round, so it does not tend to 0")
    if instance.curvature > 0:
        checks.equal("minimiser", data["minimiser"], instance.linear / instance.curvature)
    else:
        checks.check(False, "f has no single minimiser")
    K = integer(data["parameters"].get("K", 1), "K", 1, MAX_EXPONENT)
    if K * len(instance.clients) * instance.S * instance.M > 25 * MAX_WORK:
        raise FormatError(f"K={K} is too large to be checked here")
    clients = tuple(Client(c.h, c.a, c.p * K, c.curvature, c.linear, c.offset) for c in instance.clients)
    settings = (instance.S, instance.M, K, theta, instance.aggregation, instance.empty)
    whole = (instance.curvature, instance.linear, instance.offset)
    repeated = Instance(instance.algorithm, clients, instance.step * K, *settings, *whole)
    by_sample = smooth_samples(data["hypotheses"])
    # every round is the first one again
    context = Context(repeated, [played] * K, {}, given, tuple(PARAMETERS), by_sample)
    look = named(context, data.get("definitions"))
    check_parameters(checks, context)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded_along(context))
    if "right" in data:
        bound = checks.attempt("the right side", evaluate, parse(data["right"], "right"), look)
        if bound is not None:
            if "right_value" in data:
                checks.equal("right_value", data["right_value"], bound)
            broken = gradient**2 > bound
            checks.note(f"claimed at K = {K}: <= {shown(data['right'])}")
            checks.check(broken, f"{shown(gradient**2)} <= {shown(bound)} is {'false' if broken else 'true'}")
    return Report(checks.valid, tuple(checks.lines))


def verify_order(data: dict[str, Any]) -> Report:
    """A family of instances, one for each K = j^q, on which the claimed order K^-a fails along delta = K^-eps.

    One round with S = M = 1 and one sample a client maps the error e = theta - x* to
    e - (delta/N) sum_n (1_n/p_n) h_n (e + x* - a_n). Started at x*, it has mean 0 for ever, and its second moment m_k
    obeys m_{k+1} = A m_k + B, so m_k = m_inf (1 - A^k) with m_inf = B/(1-A), and for 0 < A < 1 the average of m_k over
    k < K is at least m_inf (1 - 1/(K (1-A))). The squared gradient norm is the squared curvature times e^2.
    """
    extra = " claimed_exponent epsilon base contraction noise constant growth from"
    fields(data, "the certificate", HEAD + extra, "definitions note")
    checks = Checks()
    given = head(checks, data)
    claimed, eps = number(data["claimed_exponent"], "claimed_exponent", 0), number(data["epsilon"], "epsilon", 0)
    q = integer(data["base"], "base", 1, 24)
    growth, j0 = integer(data["growth"], "growth", 1, 24), integer(data["from"], "from", 1, 10**6)
    c = number(data["constant"], "constant", 0, open_low=True)
    if (q * eps).denominator != 1 or (q * claimed).denominator != 1 or max(q * eps, q * claimed) > 24:
        raise FormatError("base times epsilon and base times claimed_exponent must be integers up to 24")
    instance = read_instance(data["instance"], rounds=1, step="1")
    N, hbar = len(instance.clients), instance.curvature
    simple = instance.S == instance.M == 1 and all(len(x.h) == 1 for x in instance.clients)
    plain = (instance.aggregation, instance.empty) == ("unbiased", "keep")
    checks.check(simple and plain, "S = M = 1, every client has one sample, and the aggregation is unbiased")
    checks.check(hbar > 0, f"f has the curvature {shown(hbar)} > 0")
    checks.check(eps > 0, f"the step is delta = K^-{eps} = j^-{q * eps} at K = j^{q}")
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    optimum = instance.linear / hbar
    checks.check(instance.theta0 == optimum, f"the start is the minimiser {shown(optimum)}")
    # E (1_n/p_n)^2 = 1/p_n, so the participation adds to the mean step the variance below
    noise = [(1 / x.p[0] - 1) / N**2 * x.curvature**2 for x in instance.clients]
    A = [Fraction(1), -2 * hbar, hbar**2 + total(noise)]  # in powers of delta
    gaps = [(optimum - x.a[0]) ** 2 for x in instance.clients]
    B = [Fraction(0), Fraction(0), total([v * gap for v, gap in zip(noise, gaps, strict=True)])]
    for name, coefficients in (("contraction", A), ("noise", B)):
        printed = [number(v, name) for v in list_of(data[name], name)]
        text = " + ".join(f"({shown(v)}) delta^{i}" for i, v in enumerate(coefficients) if v)
        checks.check(printed == coefficients, f"{name} {'A' if name == 'contraction' else 'B'} = {text or 0}")
    j = Function([Fraction(0), Fraction(1)])
    delta, K = 1 / j ** int(q * eps), j**q
    a, b = (sum((v * delta**i for i, v in enumerate(part)), Function([Fraction(0)])) for part in (A, B))
    proved = a.never_negative(j0, True) and (1 - a).never_negative(j0, True)
    checks.check(proved, f"0 < A < 1 for every j >= {j0}")
    limit = b / (1 - a)
    below = hbar**2 * limit * (1 - 1 / (K * (1 - a)))
    proved = (below * j ** int(q * claimed) - c * j**growth).never_negative(j0)
    says = f"the mean squared gradient norm over k < K, times K^{claimed}, is at least {c} j^{growth}"
    checks.check(proved, f"{says} for every j >= {j0}, K = j^{q}: it is not O(K^-{claimed})")

    def bounded(bound: Fraction | None) -> bool:
        """E||v||^2 = h_n^2 (m_k + (x* - a_n)^2), and m_k <= m_inf; without a number, any number will do."""
        top = [x.curvature**2 * (limit + gap) for x, gap in zip(instance.clients, gaps, strict=True)]
        ceiling = 1 + max(value.at(j0) for value in top) if bound is None else bound
        return all((ceiling - value).never_negative(j0) for value in top)

    schedule = {"delta": delta, "K": K, "eps": eps, "j": j}
    by_hand = ("eps", "epsilon", "G2")  # the parameters that mean something else along a schedule
    for name in by_hand[:2]:
        if name in given:
            checks.equal(f"parameter {name}", data["parameters"][name], eps)
    if "G2" in given:
        checks.check(bounded(given["G2"]), f"parameter G2 = {shown(given['G2'])} >= E||v||^2 for every j >= {j0}")
    computable = ("L", "mu", "N", "S", "M", "p", "sum_inv_p", "mean_inv_p", "f0_gap")
    context = Context(instance, (), {}, given, computable, smooth_samples(data["hypotheses"]))
    look = named(context, data.get("definitions"), schedule)
    check_parameters(checks, context, by_hand)
    check_hypotheses(checks, data["hypotheses"], context, look, bounded, j0)
    return Report(checks.valid, tuple(checks.lines))


KINDS = {"instance": verify_instance, "fixed-point": verify_fixed_point, "order": verify_order}


def verify(certificate: Any) -> Report:
    """Checks a certificate that was read from JSON.

    Raises:
        FormatError: (a ValueError) when it is malformed or too large to be checked.
    """
    if not isinstance(certificate, dict):
        raise FormatError(f"the certificate is not an object: {shown(certificate)}")
    if certificate.get("format") != FORMAT:
        raise FormatError(f"format={shown(certificate.get('format'))} is not {FORMAT}")
    kind = certificate.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"kind={shown(kind)} is none of {list(KINDS)}")
    return KINDS[kind](certificate)


def load(path: str) -> Any:
    """Reads JSON, refusing what has no one meaning: repeated fields, NaN, infinities.

    Raises:
        FormatError: (a ValueError) when the file cannot be read or is not such JSON.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise FormatError("a field is given twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise FormatError(f"{constant} is not a number")

    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise FormatError(f"the file has more than {MAX_BYTES} bytes")
        return json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
    except FormatError:
        raise
    except (OSError, ValueError, RecursionError) as reason:
        raise FormatError(f"cannot read {shown(str(path))}: {shown(str(reason))}") from None


def main(arguments: Sequence[str]) -> int:
    """Checks files and prints what it found; returns the worst exit status."""
    if not arguments or any(path.startswith("-") for path in arguments):
        print("usage: python verifier.py CERTIFICATE.json ...", file=sys.stderr)
        return 2
    worst = 0
    for path in arguments:
        if len(arguments) > 1:
            print(f"{shown(path)}:")
        try:
            report = verify(load(path))
        except FormatError as reason:
            print(f"malformed: {reason}", file=sys.stderr)
            worst = 2
            continue
        print("\n".join(report.lines))
        print("VALID: the claim is false as stated" if report.valid else "NOT VALID")
        worst = max(worst, 0 if report.valid else 1)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
