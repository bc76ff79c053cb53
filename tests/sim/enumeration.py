"""Brute force: the expectations of `sim.exact`, by walking through everything that can happen, in fractions.

Written from the algorithms' pseudo-code (Algorithm 1 of Rostami and Kia; McMahan et al.) and from nothing else: every
sequence of sample indices of every client, every set of clients that may take part, every round. No linear algebra
beyond evaluating gradients, no moments, nothing from the package; only for tiny instances. Vectors are tuples.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

Vector = tuple[Fraction, ...]
Law = dict[Any, Fraction]


@dataclass(frozen=True)
class Sample:
    """f_{n,i}(x) = x'Hx/2 - b'x + c."""

    hessian: tuple[Vector, ...]
    linear: Vector
    offset: Fraction

    def value(self, x: Vector) -> Fraction:
        quadratic = sum(x[i] * self.hessian[i][j] * x[j] for i in range(len(x)) for j in range(len(x)))
        return quadratic / 2 - dot(self.linear, x) + self.offset

    def gradient(self, x: Vector) -> Vector:
        return tuple(dot(row, x) - b for row, b in zip(self.hessian, self.linear, strict=True))


@dataclass(frozen=True)
class Instance:
    """What is run. `size` (uniform choice of that many clients) takes the place of `p` (a row of N a round).

    `snapshots` is None for local SGD.
    """

    clients: tuple[tuple[Sample, ...], ...]
    steps: tuple[Fraction, ...]
    snapshots: int | None
    inner: int
    start: Vector
    p: tuple[Vector, ...] | None = None
    size: int | None = None
    aggregation: str = "unbiased"
    empty: str = "keep"


@dataclass(frozen=True)
class Enumerated:
    """Expectations; the tables are indexed [k][n][s][m]."""

    mean: list[Vector]
    second_moment: list[tuple[Vector, ...]]
    squared_gradient_norm: list[Fraction]
    cost: list[Fraction]
    squared_iterate_norm: list[Fraction]
    estimator: list[Any]
    inner_product: list[Any]
    displacement: list[Any]
    client_cost: list[Any]
    aggregate: list[Fraction]
    drift_sum: Fraction
    weighted_sum: Fraction
    lexicographic_drift_sum: Fraction


def enumerate_moments(instance: Instance) -> Enumerated:
    """All expectations of `instance`, by enumeration."""
    rounds, count = len(instance.steps), len(instance.clients)
    names = ("estimator", "inner_product", "displacement", "client_cost")
    tables: dict[str, list[Any]] = {name: [] for name in names}
    laws: list[Law] = [{instance.start: Fraction(1)}]
    aggregate = []
    for k in range(rounds):
        sums = {name: [_blank(instance) for _ in range(count)] for name in names}
        following: Law = defaultdict(Fraction)
        norm = Fraction(0)
        for theta, chance in laws[-1].items():
            outcomes = []
            for n in range(count):
                law: Law = defaultdict(Fraction)
                for weight, trace, end, total in every_local_run(instance, n, k, theta):
                    law[end, total] += weight
                    record(instance, n, theta, trace, chance * weight, sums)
                outcomes.append(law)
            for active, pattern in participation_law(instance, k).items():
                for ends in itertools.product(*(outcomes[n].items() for n in active)):
                    probability = chance * pattern
                    for _, weight in ends:
                        probability *= weight
                    new = server(instance, k, theta, active, [end for (end, _), _ in ends])
                    following[new] += probability
                    if instance.p is not None:
                        summed = zero(theta)
                        for n, ((_, total), _) in zip(active, ends, strict=True):
                            summed = add(summed, scale(1 / instance.p[k][n], total))
                        norm += probability * dot(summed, summed)
        for name in names:
            tables[name].append(sums[name])
        laws.append(dict(following))
        aggregate.append(norm)
    v = tables["estimator"]
    drift = weighted = lexicographic = Fraction(0)
    for k, n in itertools.product(range(rounds), range(count)):
        snapshots, inner = len(v[k][n]), len(v[k][n][0])
        for s, m in itertools.product(range(snapshots), range(inner)):
            drift += sum(v[k][n][s][i] for i in range(m))
            if instance.p is not None:
                weighted += v[k][n][s][m] / instance.p[k][n]
            else:
                weighted += v[k][n][s][m] * count / instance.size
            earlier = [(a, b) for a in range(snapshots) for b in range(inner) if (a, b) < (s, m)]
            lexicographic += (s * inner + m) * sum(v[k][n][a][b] for a, b in earlier)
    dim = len(instance.start)
    return Enumerated(
        mean=[tuple(expect(law, lambda x, i=i: x[i]) for i in range(dim)) for law in laws],
        second_moment=[
            tuple(tuple(expect(law, lambda x, i=i, j=j: x[i] * x[j]) for j in range(dim)) for i in range(dim))
            for law in laws
        ],
        squared_gradient_norm=[
            expect(law, lambda x: dot(gradient(instance, x), gradient(instance, x))) for law in laws
        ],
        cost=[expect(law, lambda x: cost(instance, x)) for law in laws],
        squared_iterate_norm=[expect(law, lambda x: dot(x, x)) for law in laws],
        **tables,
        aggregate=aggregate,
        drift_sum=drift,
        weighted_sum=weighted,
        lexicographic_drift_sum=lexicographic,
    )


def every_local_run(instance: Instance, n: int, k: int, theta: Vector) -> Any:
    """(probability, [(s, m, w, v)], w at the end, sum of v) of every sequence of sample indices."""
    samples, step = instance.clients[n], instance.steps[k]
    snapshots = 1 if instance.snapshots is None else instance.snapshots
    total_steps = snapshots * instance.inner
    for indices in itertools.product(range(len(samples)), repeat=total_steps):
        pick = iter(indices)
        trace, summed = [], zero(theta)
        w = theta
        for s in range(snapshots):
            snapshot = w
            mu = client_gradient(samples, snapshot)
            for m in range(instance.inner):
                sample = samples[next(pick)]
                if instance.snapshots is None:
                    v = sample.gradient(w)
                else:
                    v = add(subtract(sample.gradient(w), sample.gradient(snapshot)), mu)
                trace.append((s, m, w, v))
                summed = add(summed, v)
                w = subtract(w, scale(step, v))
        yield Fraction(1, len(samples) ** total_steps), trace, w, summed


def record(instance: Instance, n: int, theta: Vector, trace: Any, weight: Fraction, sums: Any) -> None:
    """Add one local run of client n to the tables."""
    samples = instance.clients[n]
    for s, m, w, v in trace:
        away = subtract(w, theta)
        sums["estimator"][n][s][m] += weight * dot(v, v)
        sums["inner_product"][n][s][m] += weight * dot(gradient(instance, theta), client_gradient(samples, w))
        sums["displacement"][n][s][m] += weight * dot(away, away)
        sums["client_cost"][n][s][m] += weight * sum(f.value(w) for f in samples) / len(samples)


def participation_law(instance: Instance, k: int) -> Law:
    """Probability of every set of clients that may take part in round k."""
    everybody = range(len(instance.clients))
    if instance.size is not None:
        sets = itertools.combinations(everybody, instance.size)
        return dict.fromkeys(sets, Fraction(1, comb(len(everybody), instance.size)))
    assert instance.p is not None
    law: Law = {}
    for present in itertools.product((True, False), repeat=len(everybody)):
        probability = Fraction(1)
        for here, p in zip(present, instance.p[k], strict=True):
            probability *= p if here else 1 - p
        if probability:
            law[tuple(n for n in everybody if present[n])] = probability
    if instance.empty == "condition":
        nobody = law.pop((), Fraction(0))
        law = {active: probability / (1 - nobody) for active, probability in law.items()}
    return law


def server(instance: Instance, k: int, theta: Vector, active: tuple[int, ...], ends: list[Vector]) -> Vector:
    """The server's new model."""
    if not active:
        return zero(theta) if instance.empty == "zero" else theta
    count = len(instance.clients)
    new = theta
    for n, end in zip(active, ends, strict=True):
        if instance.aggregation == "normalised":
            weight = Fraction(1, len(active))
        elif instance.p is not None:
            weight = 1 / (count * instance.p[k][n])
        else:
            weight = Fraction(1, len(active))
        new = add(new, scale(weight, subtract(end, theta)))
    return new


def cost(instance: Instance, x: Vector) -> Fraction:
    """f(x)."""
    return sum(sum(f.value(x) for f in samples) / len(samples) for samples in instance.clients) / len(instance.clients)


def gradient(instance: Instance, x: Vector) -> Vector:
    """grad f(x)."""
    total = zero(x)
    for samples in instance.clients:
        total = add(total, client_gradient(samples, x))
    return scale(Fraction(1, len(instance.clients)), total)


def client_gradient(samples: tuple[Sample, ...], x: Vector) -> Vector:
    """grad f_n(x)."""
    total = zero(x)
    for sample in samples:
        total = add(total, sample.gradient(x))
    return scale(Fraction(1, len(samples)), total)


def expect(law: Law, function: Any) -> Fraction:
    """E function(theta)."""
    return sum((probability * function(x) for x, probability in law.items()), Fraction(0))


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def add(a: Vector, b: Vector) -> Vector:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def subtract(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scale(c: Fraction, a: Vector) -> Vector:
    return tuple(c * x for x in a)


def zero(a: Vector) -> Vector:
    return (Fraction(0),) * len(a)


def _blank(instance: Instance) -> list[list[Fraction]]:
    return [[Fraction(0)] * instance.inner for _ in range(instance.snapshots or 1)]
