"""Rounds of FedAvg-SVRG and local SGD on quadratic functions in one dimension: exact second moments.

Client n has the cost f_n(t) = average over i of h_i/2 (t - a_i)^2, and takes part in a round with probability p. f is
the average of the f_n. Costs being quadratic, a step is a random linear map of (1, theta, snapshot, w), so the second
moments of these four numbers, a 4x4 table, are all that one needs to track.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from .formulas import Uncheckable
from .reading import MAX_WORK, FormatError, bits, fields, integer, list_of, number, shown, text_of

MAX_MOMENT_BITS = 20_000  # of a numerator or denominator in the moments
ONE, THETA, SNAPSHOT, W = range(4)  # rows of the table of second moments

Table = list[list[Fraction]]
Row = tuple[Fraction, Fraction, Fraction, Fraction]


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


@dataclass(frozen=True)
class Local:
    """A client's local iterate w: E[w | theta] = constant + slope theta, and E w^2."""

    constant: Fraction
    slope: Fraction
    square: Fraction


@dataclass(frozen=True)
class Round:
    """Exact moments of one round. Lists are indexed [n][s][m]; `start` and `end` are (E theta, E theta^2)."""

    start: tuple[Fraction, Fraction]
    end: tuple[Fraction, Fraction]
    estimator: list[list[list[Fraction]]]  # E||v||^2
    inner: list[list[list[Fraction]]]  # E<grad f(theta), grad f_n(w)>
    local_cost: list[list[list[Fraction]]]  # E f_n(w)
    snapshot_cost: list[list[Fraction]]  # E f_n(snapshot), [n][s]
    path: list[list[Local]]  # [n][step], before every step and after the last
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
    round_ = Round(start, (zero, zero), [], [], [], [], [], zero)
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
        path = [Local(*mean[W], X[W][W])]
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
                path.append(Local(*mean[W], X[W][W]))
                if bits(X[W][W]) > MAX_MOMENT_BITS:
                    raise FormatError("the instance's fractions grow too long to be checked")
        for store, value in ((round_.estimator, estimator), (round_.inner, inner), (round_.local_cost, cost)):
            store.append(value)
        round_.snapshot_cost.append(snapshots)
        round_.path.append(path)
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
    lists = (round_.estimator, round_.inner, round_.local_cost, round_.snapshot_cost, round_.path)
    return Round(start, (end1, end2 + spread), *lists, spread)
